/* The pattern of the stiffness matrix, from pairs of particles in any order. */
#include "model/pattern.h"

#include <stdlib.h>
#include <string.h>

#include "base/allocate.h"
#include "base/fail.h"

/* Doubles the room for pairs. Returns false when memory is out. */
static bool grow(tw_pattern *pattern)
{
    /* A first room of 1024 pairs saves small meshes from growing. */
    int64_t capacity = 2 * pattern->capacity;
    if (capacity == 0) capacity = 1024;
    int32_t *larger = TW_NEW_ARRAY(2 * capacity, int32_t);
    if (!larger) return false;

    if (pattern->count) memcpy(larger, pattern->pairs, 2 * (size_t)pattern->count * sizeof *larger);
    tw_release(pattern->pairs);
    pattern->pairs = larger;
    pattern->capacity = capacity;
    return true;
}

void tw_pattern_add(tw_pattern *pattern, int32_t i, int32_t j)
{
    if (i == j || pattern->out_of_memory) return;
    if (pattern->count == pattern->capacity && !grow(pattern)) {
        pattern->out_of_memory = true;
        return;
    }

    /* The upper triangle: row before column. */
    int32_t *pair = pattern->pairs + 2 * pattern->count++;
    pair[0] = i;
    pair[1] = j;
    if (i < j) return;
    pair[0] = j;
    pair[1] = i;
}

static int compare_columns(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a;
    int64_t y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* Sorts the pairs by row (counting sort): the columns of row r are start[r] .. start[r + 1] - 1,
 * the diagonal first. */
static void distribute(const tw_pattern *pattern, int64_t *start, int64_t *column)
{
    /* Count the pairs of each row; each row has one more for its diagonal. */
    for (int64_t p = 0; p < pattern->count; p++) start[pattern->pairs[2 * p]]++;
    int64_t sum = 0;
    for (int64_t r = 0; r <= pattern->rows; r++) {
        int64_t here = start[r];
        start[r] = sum;
        sum += here + 1;
    }

    /* Filling moves start[r] up to start[r + 1], so that the offsets are shifted back by one. */
    for (int64_t r = 0; r < pattern->rows; r++) column[start[r]++] = r;
    for (int64_t p = 0; p < pattern->count; p++)
        column[start[pattern->pairs[2 * p]]++] = pattern->pairs[2 * p + 1];
    for (int64_t r = pattern->rows; r > 0; r--) start[r] = start[r - 1];
    start[0] = 0;
}

/* Sorts the columns of each row and keeps each once, packed to the front. */
static void sort_and_unite(int64_t rows, int64_t *start, int64_t *column)
{
    int64_t kept = 0;
    int64_t begin = 0;

    for (int64_t r = 0; r < rows; r++) {
        /* start[r + 1] is still the old offset: only those up to start[r] have been rewritten. */
        int64_t end = start[r + 1];
        qsort(column + begin, (size_t)(end - begin), sizeof *column, compare_columns);

        start[r] = kept;
        for (int64_t c = begin; c < end; c++)
            if (kept == start[r] || column[kept - 1] != column[c]) column[kept++] = column[c];
        begin = end;
    }
    start[rows] = kept;
}

bool tw_pattern_is_in(const tw_pattern *pattern, const tw_sparse *matrix)
{
    for (int64_t p = 0; p < pattern->count; p++)
        if (tw_sparse_find(matrix, pattern->pairs[2 * p], pattern->pairs[2 * p + 1]) < 0)
            return false;
    return true;
}

void tw_pattern_free(tw_pattern *pattern)
{
    tw_release(pattern->pairs);
    *pattern = (tw_pattern){0};
}

tw_status tw_pattern_finish(tw_pattern *pattern, tw_sparse **matrix, tw_error *error)
{
    int64_t *start = tw_allocate_zeroed((size_t)pattern->rows + 1, sizeof(int64_t));
    int64_t *column = TW_NEW_ARRAY(pattern->count + pattern->rows, int64_t);

    tw_status status = TW_OUT_OF_MEMORY;
    if (start && column && !pattern->out_of_memory) {
        distribute(pattern, start, column);
        sort_and_unite(pattern->rows, start, column);
        status = tw_sparse_create(3, pattern->rows, start, column, TW_STORE_UPPER, matrix, error);
    } else {
        tw_fail_plain(error, status);
    }

    tw_release(start);
    tw_release(column);
    tw_release(pattern->pairs);
    *pattern = (tw_pattern){0};
    return status;
}
