#include "linalg/components.h"

#include "base/allocate.h"
#include "linalg/sparse_internal.h"

void tw_components_free(tw_components *components)
{
    tw_release(components->start);
    tw_release(components->row);
    tw_release(components->place);
    *components = (tw_components){0};
}

/* The representative of a row in the forest of parents; paths are halved on the way. */
static int32_t root_of(int32_t *parent, int32_t row)
{
    while (parent[row] != row) {
        parent[row] = parent[parent[row]];
        row = parent[row];
    }
    return row;
}

/* Joins the rows of every entry. The smallest row of a set is its representative. */
static void join_rows(const tw_sparse *matrix, int32_t *parent)
{
    int64_t rows = matrix->block_rows;
    for (int64_t row = 0; row < rows; row++) parent[row] = (int32_t)row;
    for (int64_t row = 0; row < rows; row++)
        for (int64_t p = matrix->row_start[row]; p < matrix->row_start[row + 1]; p++) {
            int32_t a = root_of(parent, (int32_t)row);
            int32_t b = root_of(parent, matrix->column[p]);
            if (a < b)
                parent[b] = a;
            else
                parent[a] = b;
        }
}

/* Numbers the components. parent[row] becomes the component of the row. A representative stands
 * before all other rows of its set, so its number is known when they ask for it. */
static int64_t number_components(int64_t rows, int32_t *parent)
{
    for (int64_t row = 0; row < rows; row++) parent[row] = root_of(parent, (int32_t)row);

    int64_t count = 0;
    for (int64_t row = 0; row < rows; row++) {
        bool is_first = parent[row] == row;
        parent[row] = is_first ? (int32_t)count : parent[parent[row]];
        if (is_first) count++;
    }
    return count;
}

/* Sorts the rows by component, in their order, and says where each stands. */
static void sort_rows(int64_t rows, const int32_t *component, tw_components *out)
{
    for (int64_t row = 0; row < rows; row++) out->start[component[row] + 1]++;
    for (int64_t c = 0; c < out->count; c++) out->start[c + 1] += out->start[c];

    /* start[c] runs to the end of component c, which is where the next one begins. */
    for (int64_t row = 0; row < rows; row++) out->row[out->start[component[row]]++] = (int32_t)row;
    for (int64_t c = out->count; c > 0; c--) out->start[c] = out->start[c - 1];
    out->start[0] = 0;

    for (int64_t row = 0; row < rows; row++)
        out->place[out->row[row]] = (int32_t)(row - out->start[component[out->row[row]]]);
}

tw_status tw_components_find(const tw_sparse *matrix, tw_components *out)
{
    *out = (tw_components){0};
    int64_t rows = matrix->block_rows;
    int32_t *component = TW_NEW_ARRAY(rows, int32_t);
    if (!component) return TW_OUT_OF_MEMORY;

    join_rows(matrix, component);
    out->count = number_components(rows, component);
    out->start = tw_allocate_zeroed((size_t)out->count + 1, sizeof *out->start);
    out->row = TW_NEW_ARRAY(rows, int32_t);
    out->place = TW_NEW_ARRAY(rows, int32_t);
    bool good = out->start && out->row && out->place;
    if (good) sort_rows(rows, component, out);

    tw_release(component);
    return good ? TW_OK : TW_OUT_OF_MEMORY;
}
