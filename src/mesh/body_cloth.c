/* A woven sheet: its triangles, and the edges that keep it in shape. */
#include "base/allocate.h"
#include "base/fail.h"
#include "mesh/bodies.h"

static int64_t *add_triangle(int64_t *corners, int64_t a, int64_t b, int64_t c)
{
    corners[0] = a;
    corners[1] = b;
    corners[2] = c;
    return corners + 3;
}

/* Adds the two triangles of a cell, counterclockwise seen from -y, where x points to the
 * right and z up. Neighbouring cells have different diagonals, so that the sheet folds
 * alike in both directions. */
static int64_t *add_cell(int64_t *corners, const tw_cloth *cloth, int64_t c, int64_t r)
{
    int64_t a = c + cloth->columns * r;
    int64_t b = a + 1;
    int64_t d = a + cloth->columns;
    int64_t e = d + 1;

    /* The diagonal goes from a to e in even cells, from b to d in odd ones. */
    if ((c + r) % 2 == 0) {
        corners = add_triangle(corners, a, b, e);
        return add_triangle(corners, a, e, d);
    }

    corners = add_triangle(corners, a, b, d);
    return add_triangle(corners, b, e, d);
}

tw_status tw_body_cloth(const tw_cloth *cloth, tw_mesh *out, tw_error *error)
{
    *out = (tw_mesh){0};
    int64_t columns = cloth->columns;
    int64_t rows = cloth->rows;

    if ((double)columns * (double)rows > (double)INT32_MAX)
        return tw_fail(error, TW_UNSUPPORTED, "more than 2^31 - 1 vertices");
    TW_TRY(tw_mesh_allocate(out, columns * rows, 0, 2 * (columns - 1) * (rows - 1), 0, error));

    /* Every vertex that is not in the last column or row is the lower left corner of a cell. */
    int64_t *corners = out->triangles;
    for (int64_t r = 0; r < rows; r++)
        for (int64_t c = 0; c < columns; c++) {
            double *vertex = out->vertices + 3 * (c + columns * r);
            vertex[0] = cloth->width * (double)c / (double)(columns - 1);
            vertex[2] = cloth->height * (double)r / (double)(rows - 1);
            if (c + 1 < columns && r + 1 < rows) corners = add_cell(corners, cloth, c, r);
        }

    return TW_OK;
}

/* Adds an edge from each vertex to the one `right` columns and `up` rows further, wherever both
 * exist. Returns the number of edges. */
static int64_t add_edges(const tw_cloth *cloth, int64_t right, int64_t up, int64_t *edges)
{
    /* A step to the left must not leave the sheet. */
    int64_t first_column = right < 0 ? -right : 0;
    int64_t count = 0;

    for (int64_t r = 0; r + up < cloth->rows; r++)
        for (int64_t c = first_column; c < cloth->columns && c + right < cloth->columns; c++) {
            edges[2 * count] = c + cloth->columns * r;
            edges[2 * count + 1] = c + right + cloth->columns * (r + up);
            count++;
        }

    return count;
}

tw_status tw_cloth_edges(const tw_cloth *cloth, tw_cloth_group group, int64_t **edges,
                         int64_t *count, tw_error *error)
{
    /* Per group: the two directions of its edges, as columns and rows. */
    static const int64_t directions[TW_CLOTH_GROUPS][2][2] = {
        {{1, 0}, {0, 1}}, {{1, 1}, {-1, 1}}, {{2, 0}, {0, 2}}};

    /* A vertex has at most one edge in each direction. */
    *count = 0;
    *edges = TW_NEW_ARRAY(4 * cloth->columns * cloth->rows, int64_t);
    if (!*edges) return tw_fail_plain(error, TW_OUT_OF_MEMORY);

    for (int d = 0; d < 2; d++) {
        const int64_t *step = directions[group][d];
        *count += add_edges(cloth, step[0], step[1], *edges + 2 * *count);
    }

    return TW_OK;
}
