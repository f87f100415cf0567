/* The mesh itself: memory, unique edges, surface, volumes, repairs, embedding. */
#include <math.h>
#include <string.h>
#include <twang/twang.h>

#include "support/failing_allocator.h"
#include "support/run_suite.h"

/* n^3 cubes of six Kuhn tetrahedra each, along the diagonal from the lower to the upper corner. */
static void kuhn_box(int n, tw_mesh *mesh)
{
    static const int paths[6][2] = {{1, 3}, {1, 5}, {2, 3}, {2, 6}, {4, 5}, {4, 6}};
    int64_t m = n + 1;
    ck_assert_int_eq(tw_mesh_allocate(mesh, m * m * m, 0, 0, 6 * n * n * n, NULL), TW_OK);
    for (int64_t i = 0; i < m * m * m; i++) {
        mesh->vertices[3 * i] = (double)(i % m);
        mesh->vertices[3 * i + 1] = (double)(i / m % m);
        mesh->vertices[3 * i + 2] = (double)(i / m / m);
    }
    int64_t *t = mesh->tetrahedra;
    for (int64_t c = 0; c < n * n * n; c++)
        for (int p = 0; p < 6; p++) {
            int64_t corner = c % n + m * (c / n % n + m * (c / n / n));
            int ways[4] = {0, paths[p][0], paths[p][1], 7};
            for (int k = 0; k < 4; k++) t[k] = corner + (ways[k] & 1) + m * (ways[k] >> 1 & 1) + m * m * (ways[k] >> 2);
            if (p == 1 || p == 2 || p == 5) { /* odd permutations */
                int64_t swap = t[2];
                t[2] = t[3];
                t[3] = swap;
            }
            t += 4;
        }
}

START_TEST(a_box_has_its_volume_edges_and_surface)
{
    tw_mesh mesh;
    kuhn_box(3, &mesh);
    ck_assert_double_eq_tol(tw_mesh_volume(&mesh), 27.0, 1e-12);
    double volumes[162];
    tw_mesh_volumes(&mesh, volumes);
    for (int i = 0; i < 162; i++) ck_assert_double_eq_tol(volumes[i], 1.0 / 6.0, 1e-15);

    int64_t *edges = NULL, count = 0;
    ck_assert_int_eq(tw_mesh_unique_edges(&mesh, &edges, &count, NULL), TW_OK);
    /* Edges along (da, db, dc) in {0,1}^3: prod (4 - d) of each. */
    ck_assert_int_eq(count, 3 * 48 + 3 * 36 + 27);
    for (int64_t i = 0; i < count; i++) {
        ck_assert(edges[2 * i] < edges[2 * i + 1]);
        if (i > 0)
            ck_assert(edges[2 * i] > edges[2 * i - 2] ||
                      (edges[2 * i] == edges[2 * i - 2] && edges[2 * i + 1] > edges[2 * i - 1]));
    }
    tw_mesh_free_indices(edges);

    tw_mesh surface = mesh;
    surface.tetrahedron_count = 0;
    ck_assert_int_eq(tw_mesh_surface(&mesh, &surface.triangles, &surface.triangle_count, NULL), TW_OK);
    ck_assert_int_eq(surface.triangle_count, 6 * 9 * 2);
    ck_assert_double_eq_tol(tw_mesh_volume(&surface), 27.0, 1e-12); /* outward, or it would be negative */
    tw_mesh_free_indices(surface.triangles);

    double lower[3], upper[3];
    tw_mesh_bounds(&mesh, lower, upper);
    for (int k = 0; k < 3; k++) ck_assert(lower[k] == 0.0 && upper[k] == 3.0);
    tw_mesh_free(&mesh);
}
END_TEST

START_TEST(the_surface_is_outward_whatever_the_orientation)
{
    tw_mesh mesh;
    kuhn_box(2, &mesh);
    for (int64_t i = 0; i < mesh.tetrahedron_count; i += 3) {
        int64_t *t = mesh.tetrahedra + 4 * i, swap = t[0];
        t[0] = t[1];
        t[1] = swap;
    }
    tw_mesh surface = mesh;
    surface.tetrahedron_count = 0;
    ck_assert_int_eq(tw_mesh_surface(&mesh, &surface.triangles, &surface.triangle_count, NULL), TW_OK);
    ck_assert_double_eq_tol(tw_mesh_volume(&surface), 8.0, 1e-12);
    tw_mesh_free_indices(surface.triangles);
    tw_mesh_free(&mesh);
}
END_TEST

START_TEST(an_empty_mesh_is_harmless)
{
    tw_mesh mesh = {0}, copy;
    int64_t *indices = NULL, count = -1;
    double lower[3], upper[3];
    ck_assert_int_eq(tw_mesh_check(&mesh, NULL), TW_OK);
    ck_assert_int_eq(tw_mesh_copy(&mesh, &copy, NULL), TW_OK);
    ck_assert_int_eq(tw_mesh_unique_edges(&mesh, &indices, &count, NULL), TW_OK);
    ck_assert_int_eq(count, 0);
    tw_mesh_free_indices(indices);
    ck_assert_int_eq(tw_mesh_surface(&mesh, &indices, &count, NULL), TW_OK);
    ck_assert_int_eq(count, 0);
    tw_mesh_free_indices(indices);
    ck_assert(tw_mesh_volume(&mesh) == 0.0);
    tw_mesh_bounds(&mesh, lower, upper);
    ck_assert(lower[0] == 0.0 && upper[2] == 0.0);
    tw_mesh_free(&copy);
    tw_mesh_free(&mesh);
    tw_mesh_free(NULL);
}
END_TEST

START_TEST(a_check_finds_what_is_wrong)
{
    tw_mesh mesh;
    tw_error error = {0};
    kuhn_box(1, &mesh);
    ck_assert_int_eq(tw_mesh_check(&mesh, &error), TW_OK);
    mesh.vertices[4] = NAN;
    ck_assert_int_eq(tw_mesh_check(&mesh, &error), TW_NOT_FINITE);
    ck_assert_str_eq(error.text, "vertex 1 of the mesh is not finite");
    mesh.vertices[4] = 0.0;
    mesh.tetrahedra[5] = 8;
    ck_assert_int_eq(tw_mesh_check(&mesh, &error), TW_INVALID_ARGUMENT);
    ck_assert_str_eq(error.text, "tetrahedron 1 of the mesh has vertex 8, there are 8");
    tw_mesh_free(&mesh);
    ck_assert_int_eq(tw_mesh_allocate(&mesh, -1, 0, 0, 0, &error), TW_INVALID_ARGUMENT);
    ck_assert_int_eq(tw_mesh_allocate(&mesh, INT64_MAX / 2, 0, 0, 0, &error), TW_OUT_OF_MEMORY);
}
END_TEST

static tw_status edges_and_surface(void *context)
{
    const tw_mesh *mesh = context;
    tw_mesh copy = {0};
    int64_t *edges = NULL, *triangles = NULL, count = 0;
    tw_status status = tw_mesh_copy(mesh, &copy, NULL);
    if (status == TW_OK) status = tw_mesh_unique_edges(&copy, &edges, &count, NULL);
    if (status == TW_OK) status = tw_mesh_surface(&copy, &triangles, &count, NULL);
    tw_mesh_free_indices(edges);
    tw_mesh_free_indices(triangles);
    tw_mesh_free(&copy);
    return status;
}

START_TEST(every_allocation_may_fail)
{
    tw_mesh mesh;
    kuhn_box(1, &mesh);
    ck_assert_int_ge(test_fail_each_allocation(edges_and_surface, &mesh), 12);
    tw_mesh_free(&mesh);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("mesh");
    TCase *cases = tcase_create("mesh");
    tcase_add_test(cases, a_box_has_its_volume_edges_and_surface);
    tcase_add_test(cases, the_surface_is_outward_whatever_the_orientation);
    tcase_add_test(cases, an_empty_mesh_is_harmless);
    tcase_add_test(cases, a_check_finds_what_is_wrong);
    tcase_add_test(cases, every_allocation_may_fail);
    suite_add_tcase(suite, cases);
    return run_suite(suite);
}
