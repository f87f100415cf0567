/* The pattern that equal parts of a matrix share, and what the factorisation fills in. */
#include "base/allocate.h"
#include "base/fail.h"
#include "linalg/batch_internal.h"
#include "linalg/sparse_internal.h"

/* Parts whose factor in the given order of rows has more blocks than so many times those of the
 * matrix are left to CHOLMOD, which orders them. */
enum { MOST_FILL = 4 };

void tw_batch_pattern_free(tw_batch_pattern *pattern)
{
    void *arrays[] = {pattern->start,        pattern->row,  pattern->target,
                      pattern->target_start, pattern->skip, pattern->update};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) tw_release(arrays[i]);
    *pattern = (tw_batch_pattern){0};
}

/* The first block of a row on or right of the diagonal. */
static int64_t diagonal_of(const tw_sparse *matrix, int64_t row)
{
    int64_t p = matrix->row_start[row];
    while (p < matrix->row_start[row + 1] && matrix->column[p] < row) p++;
    return p;
}

/* full[c * rows + r] says whether L has a block in row r of column c. Eliminating column j joins all
 * rows below the diagonal of column j. */
static int fill_in(int rows, bool *full)
{
    int entries = 0;
    for (int j = 0; j < rows; j++)
        for (int b = j; b < rows; b++) {
            if (!full[j * rows + b]) continue;
            entries++;
            if (b == j) continue;

            for (int a = b; a < rows; a++)
                if (full[j * rows + a]) full[b * rows + a] = true;
        }
    return entries;
}

/* Marks the blocks of a component. Returns how many there are; 0 if a diagonal block is missing. */
static int mark_blocks(const tw_sparse *matrix, const tw_components *components, int64_t component,
                       int rows, bool *full)
{
    const int32_t *row = components->row + components->start[component];
    int blocks = 0;
    for (int r = 0; r < rows; r++) {
        int64_t p = diagonal_of(matrix, row[r]);
        int64_t end = matrix->row_start[row[r] + 1];

        if (p == end || matrix->column[p] != row[r]) return 0;
        for (; p < end; p++, blocks++) full[r * rows + components->place[matrix->column[p]]] = true;
    }
    return blocks;
}

/* Lists the columns of L. entry_of[c * rows + r] is where block (r, c) stands. */
static void list_columns(const bool *full, tw_batch_pattern *out, int *entry_of)
{
    int entry = 0;
    for (int c = 0; c < out->rows; c++) {
        out->start[c] = entry;
        for (int r = c; r < out->rows; r++) {
            if (!full[c * out->rows + r]) continue;
            entry_of[c * out->rows + r] = entry;
            out->row[entry] = r;
            entry++;
        }
    }
    out->start[out->rows] = entry;
}

/* By symmetry block (r, c) of the upper triangle is block (c, r) of L, transposed. */
static void list_targets(const tw_sparse *matrix, const tw_components *components,
                         int64_t component, const int *entry_of, tw_batch_pattern *out)
{
    const int32_t *row = components->row + components->start[component];
    int count = 0;
    for (int r = 0; r < out->rows; r++) {
        int64_t p = diagonal_of(matrix, row[r]);
        out->skip[r] = (int)(p - matrix->row_start[row[r]]);
        out->target_start[r] = count;
        for (; p < matrix->row_start[row[r] + 1]; p++)
            out->target[count++] = entry_of[r * out->rows + components->place[matrix->column[p]]];
    }
    out->target_start[out->rows] = count;
}

static int64_t count_updates(const tw_batch_pattern *pattern)
{
    int64_t count = 0;
    for (int c = 0; c < pattern->rows; c++) {
        int64_t below = pattern->start[c + 1] - pattern->start[c] - 1;
        count += below * (below + 1) / 2;
    }
    return count;
}

static void list_updates(const int *entry_of, tw_batch_pattern *out)
{
    int *update = out->update;
    for (int c = 0; c < out->rows; c++)
        for (int b = out->start[c] + 1; b < out->start[c + 1]; b++)
            for (int a = b; a < out->start[c + 1]; a++)
                *update++ = entry_of[out->row[b] * out->rows + out->row[a]];
}

static tw_status list_all(const tw_sparse *matrix, const tw_components *components,
                          int64_t component, int blocks, const bool *full, tw_batch_pattern *out)
{
    size_t rows = (size_t)out->rows;
    int *entry_of = TW_NEW_ARRAY(rows * rows, int);
    out->start = TW_NEW_ARRAY(rows + 1, int);
    out->row = TW_NEW_ARRAY(out->entries, int);
    out->target_start = TW_NEW_ARRAY(rows + 1, int);
    out->target = TW_NEW_ARRAY(blocks, int);
    out->skip = TW_NEW_ARRAY(rows, int);
    bool good = entry_of && out->start && out->row && out->target_start && out->target && out->skip;

    if (good) {
        list_columns(full, out, entry_of);
        list_targets(matrix, components, component, entry_of, out);
        out->update_count = count_updates(out);
        out->update = TW_NEW_ARRAY(out->update_count, int);
    }
    if (out->update) list_updates(entry_of, out);

    tw_release(entry_of);
    return out->update ? TW_OK : TW_OUT_OF_MEMORY;
}

tw_status tw_batch_pattern_create(const tw_sparse *matrix, const tw_components *components,
                                  int64_t component, tw_batch_pattern *out)
{
    int rows = (int)(components->start[component + 1] - components->start[component]);
    *out = (tw_batch_pattern){.rows = rows};
    bool *full = tw_allocate_zeroed((size_t)rows * (size_t)rows, sizeof(bool));
    if (!full) return TW_OUT_OF_MEMORY;

    int blocks = mark_blocks(matrix, components, component, rows, full);
    out->entries = fill_in(rows, full);
    tw_status status = TW_UNSUPPORTED;
    if (blocks > 0 && out->entries <= MOST_FILL * blocks)
        status = list_all(matrix, components, component, blocks, full, out);

    tw_release(full);
    return status;
}

bool tw_batch_pattern_fits(const tw_batch_pattern *pattern, const tw_sparse *matrix,
                           const tw_components *components, int64_t component)
{
    const int32_t *row = components->row + components->start[component];
    if (components->start[component + 1] - components->start[component] != pattern->rows)
        return false;

    for (int r = 0; r < pattern->rows; r++) {
        /* The same numbers of blocks left of the diagonal, and from it on. */
        int64_t p = diagonal_of(matrix, row[r]);
        int first = pattern->target_start[r];
        int blocks = pattern->target_start[r + 1] - first;
        if (p - matrix->row_start[row[r]] != pattern->skip[r]) return false;
        if (matrix->row_start[row[r] + 1] - p != blocks) return false;

        /* Each in the same row of L. */
        for (int k = 0; k < blocks; k++)
            if (components->place[matrix->column[p + k]] !=
                pattern->row[pattern->target[first + k]])
                return false;
    }
    return true;
}
