/* The procedural car: in one piece, of the size that was asked for, without flat or double triangles. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <twang/mesh.h>

#include "mesh/bodies.h"
#include "support/run_suite.h"

static const int64_t sizes[] = {2000, 2500, 3000, 5000, 12000, 30000, 120000};
enum { SIZES = sizeof sizes / sizeof *sizes };

static int64_t root_of(int64_t *parent, int64_t i)
{
    while (parent[i] != i) i = parent[i] = parent[parent[i]];
    return i;
}

static int64_t count_pieces(const tw_mesh *mesh)
{
    int64_t *parent = malloc((size_t)mesh->vertex_count * sizeof *parent);
    for (int64_t i = 0; i < mesh->vertex_count; i++) parent[i] = i;
    for (int64_t t = 0; t < 3 * mesh->triangle_count; t++) {
        int64_t a = root_of(parent, mesh->triangles[t]);
        parent[a] = root_of(parent, mesh->triangles[t - t % 3]);
    }
    for (int64_t e = 0; e < mesh->edge_count; e++) {
        int64_t a = root_of(parent, mesh->edges[2 * e]);
        parent[a] = root_of(parent, mesh->edges[2 * e + 1]);
    }

    int64_t pieces = 0;
    for (int64_t i = 0; i < mesh->vertex_count; i++) pieces += parent[i] == i;
    free(parent);
    return pieces;
}

static double area_of(const tw_mesh *mesh, int64_t t)
{
    const double *x[3];
    for (int c = 0; c < 3; c++) x[c] = mesh->vertices + 3 * mesh->triangles[3 * t + c];
    double n[3];
    for (int k = 0; k < 3; k++) {
        int p = (k + 1) % 3;
        int q = (k + 2) % 3;
        n[k] =
            (x[1][p] - x[0][p]) * (x[2][q] - x[0][q]) - (x[1][q] - x[0][q]) * (x[2][p] - x[0][p]);
    }
    return 0.5 * sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
}

static int compare(const void *a, const void *b)
{
    return memcmp(a, b, 3 * sizeof(int64_t));
}

/* The corners of each triangle in rising order; then the same one twice stands side by side. */
static bool has_double_triangle(const tw_mesh *mesh)
{
    size_t bytes = 3 * (size_t)mesh->triangle_count * sizeof(int64_t);
    int64_t *sorted = malloc(bytes);
    memcpy(sorted, mesh->triangles, bytes);
    for (int64_t t = 0; t < mesh->triangle_count; t++)
        for (int i = 0; i < 2; i++)
            for (int j = 0; j < 2 - i; j++) {
                int64_t *c = sorted + 3 * t + j;
                if (c[0] <= c[1]) continue;
                int64_t swap = c[0];
                c[0] = c[1];
                c[1] = swap;
            }
    qsort(sorted, (size_t)mesh->triangle_count, 3 * sizeof(int64_t), compare);
    bool found = false;
    for (int64_t t = 1; t < mesh->triangle_count; t++)
        found = found || compare(sorted + 3 * t, sorted + 3 * (t - 1)) == 0;
    free(sorted);
    return found;
}

START_TEST(the_car_is_one_sound_piece)
{
    tw_mesh mesh = {0};
    ck_assert_int_eq(tw_body_car(sizes[_i], &mesh, NULL), TW_OK);
    ck_assert_int_eq(tw_mesh_check(&mesh, NULL), TW_OK);
    ck_assert_int_eq(count_pieces(&mesh), 1);
    ck_assert(!has_double_triangle(&mesh));
    ck_assert_double_eq_tol((double)mesh.vertex_count, (double)sizes[_i], 0.1 * (double)sizes[_i]);

    /* No triangle is flat, and the whole area does not depend on the size. */
    double mean = 0;
    for (int64_t t = 0; t < mesh.triangle_count; t++)
        mean += area_of(&mesh, t) / (double)mesh.triangle_count;
    for (int64_t t = 0; t < mesh.triangle_count; t++)
        ck_assert_double_gt(area_of(&mesh, t), 0.02 * mean);
    ck_assert_double_eq_tol(mean * (double)mesh.triangle_count, 30.0, 4.0);

    /* It stands on the ground and is as long as a car. */
    double lower[3];
    double upper[3];
    tw_mesh_bounds(&mesh, lower, upper);
    ck_assert_double_eq_tol(lower[2], 0, 0.01);
    ck_assert_double_eq_tol(upper[0] - lower[0], 4.4, 0.05);
    tw_mesh_free(&mesh);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("car");
    TCase *test = tcase_create("car");
    tcase_set_timeout(test, 60);
    tcase_add_loop_test(test, the_car_is_one_sound_piece, 0, SIZES);
    suite_add_tcase(suite, test);
    return run_suite(suite);
}
