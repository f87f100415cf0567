/* A woven sheet. */
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

/* Seen from -y, where x is to the right and z up. Neighbouring cells are cut the other way, so that the sheet folds
 * alike in both directions. */
static int64_t *add_cell(int64_t *corners, const tw_cloth *cloth, int64_t c, int64_t r)
{
    int64_t a = c + cloth->columns * r, b = a + 1, d = a + cloth->columns, e = d + 1;
    bool rising = (c + r) % 2 == 0;
    corners = rising ? add_triangle(corners, a, b, e) : add_triangle(corners, a, b, d);
    return rising ? add_triangle(corners, a, e, d) : add_triangle(corners, b, e, d);
}

tw_status tw_body_cloth(const tw_cloth *cloth, tw_mesh *out, tw_error *error)
{
    *out = (tw_mesh){0};
    if ((double)cloth->columns * (double)cloth->rows > (double)INT32_MAX)
        return tw_fail(error, TW_UNSUPPORTED, "more than 2^31 - 1 vertices");
    int64_t columns = cloth->columns, rows = cloth->rows;
    tw_status status =
        tw_mesh_allocate(out, columns * rows, 0, 2 * (columns - 1) * (rows - 1), 0, error);
    if (status != TW_OK) return status;
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

/* From a vertex to the one `right` and `up` of it, wherever both are there. */
static int64_t add_edges(const tw_cloth *cloth, int64_t right, int64_t up, int64_t *edges)
{
    int64_t count = 0;
    for (int64_t r = 0; r + up < cloth->rows; r++)
        for (int64_t c = right < 0 ? -right : 0; c < cloth->columns && c + right < cloth->columns;
             c++) {
            edges[2 * count] = c + cloth->columns * r;
            edges[2 * count + 1] = c + right + cloth->columns * (r + up);
            count++;
        }
    return count;
}

tw_status tw_cloth_edges(const tw_cloth *cloth, tw_cloth_group group, int64_t **edges,
                         int64_t *count, tw_error *error)
{
    static const int64_t directions[TW_CLOTH_GROUPS][2][2] = {
        {{1, 0}, {0, 1}}, {{1, 1}, {-1, 1}}, {{2, 0}, {0, 2}}};
    *count = 0;
    *edges = TW_NEW_ARRAY(4 * cloth->columns * cloth->rows, int64_t);
    if (!*edges) return tw_fail_plain(error, TW_OUT_OF_MEMORY);
    for (int d = 0; d < 2; d++)
        *count +=
            add_edges(cloth, directions[group][d][0], directions[group][d][1], *edges + 2 * *count);
    return TW_OK;
}
