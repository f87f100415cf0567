/* labels: threads */
/* The mesh itself: memory, unique edges, surface, volumes, repairs, embedding. */
#include <math.h>
#include <stdbool.h>
#include <string.h>
#include <twang/twang.h>

#include "support/failing_allocator.h"
#include "support/random.h"
#include "support/run_suite.h"

/* n^3 cubes of six Kuhn tetrahedra each, along the diagonal from the lower to the upper corner. */
static void kuhn_box(int n, tw_mesh *mesh)
{
    static const int paths[6][2] = {{1, 3}, {1, 5}, {2, 3}, {2, 6}, {4, 5}, {4, 6}};
    int64_t m = n + 1;
    ck_assert_int_eq(tw_mesh_allocate(mesh, m * m * m, 0, 0, 6 * n * n * n, NULL), TW_OK);
    for (int64_t i = 0; i < m * m * m; i++) {
        mesh->vertices[3 * i] = (double)(i % m);
        const int64_t y = i / m % m, z = i / (m * m);
        mesh->vertices[3 * i + 1] = (double)y;
        mesh->vertices[3 * i + 2] = (double)z;
    }
    int64_t *t = mesh->tetrahedra;
    for (int64_t c = 0; c < n * n * n; c++)
        for (int p = 0; p < 6; p++) {
            int64_t corner = c % n + m * (c / n % n + m * (c / n / n));
            int ways[4] = {0, paths[p][0], paths[p][1], 7};
            for (int k = 0; k < 4; k++)
                t[k] = corner + (ways[k] & 1) + m * (ways[k] >> 1 & 1) + m * m * (ways[k] >> 2);
            if (p == 1 || p == 2 || p == 5) { /* odd permutations */
                int64_t swap = t[2];
                t[2] = t[3];
                t[3] = swap;
            }
            t += 4;
        }
}

START_TEST(a_box_has_its_volume_everything)
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
    ck_assert_int_eq(tw_mesh_surface(&mesh, &surface.triangles, &surface.triangle_count, NULL),
                     TW_OK);
    ck_assert_int_eq(surface.triangle_count, 6 * 9 * 2);
    ck_assert_double_eq_tol(tw_mesh_volume(&surface), 27.0,
                            1e-12); /* outward, or it would be negative */
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
    ck_assert_int_eq(tw_mesh_surface(&mesh, &surface.triangles, &surface.triangle_count, NULL),
                     TW_OK);
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

/* A tetrahedron and its companions: each fault once. */
START_TEST(every_fault_of_a_solid_is_repaired_and_counted)
{
    static const double vertices[8][3] = {{9, 9, 9}, {0, 0, 0}, {1, 0, 0}, {0, 1, 0},
                                          {0, 0, 1}, {0, 0, 1}, {1, 1, 0}, {-0.0, 1, 0}};
    static const int64_t tetrahedra[5][4] = {
        {1, 3, 2, 4},  /* inside out */
        {1, 2, 3, 6},  /* flat */
        {2, 6, 3, 5},  /* vertex 5 is vertex 4 again; right otherwise */
        {1, 2, 7, 5},  /* the first one again */
        {1, 1, 2, 3}}; /* a corner twice */
    tw_mesh mesh;
    tw_mesh_repairs r;
    ck_assert_int_eq(tw_mesh_allocate(&mesh, 8, 1, 2, 5, NULL), TW_OK);
    memcpy(mesh.vertices, vertices, sizeof vertices);
    memcpy(mesh.tetrahedra, tetrahedra, sizeof tetrahedra);
    mesh.edges[1] = 1;
    mesh.triangles[1] = mesh.triangles[3] = 1;
    mesh.triangles[2] = mesh.triangles[4] = 2;
    mesh.triangles[5] = 3;
    ck_assert_int_eq(tw_mesh_repair(&mesh, &r, NULL), TW_OK);
    ck_assert_int_eq(r.merged_vertices, 2);
    ck_assert_int_eq(r.dropped_vertices, 1);
    ck_assert_int_eq(r.degenerate_cells, 3);
    ck_assert_int_eq(r.lower_cells, 3);
    ck_assert_int_eq(r.flipped_cells, 1);
    ck_assert_int_eq(mesh.vertex_count, 5);
    ck_assert_int_eq(mesh.tetrahedron_count, 2);
    double volumes[2];
    tw_mesh_volumes(&mesh, volumes);
    ck_assert_double_eq_tol(volumes[0], 1.0 / 6.0, 1e-15);
    ck_assert_double_eq_tol(volumes[1], 1.0 / 6.0, 1e-15);
    ck_assert(mesh.vertices[0] == 0.0 && mesh.vertices[3] == 1.0); /* the old order */
    char text[200];
    ck_assert_str_eq(
        tw_mesh_repairs_text(&r, text, sizeof text),
        "2 duplicate vertices merged, 1 isolated vertex dropped, 3 degenerate cells dropped, "
        "3 lower-dimensional cells dropped, 1 cell turned");
    ck_assert_int_eq(tw_mesh_repair(&mesh, &r, NULL), TW_OK);
    ck_assert_str_eq(tw_mesh_repairs_text(&r, text, sizeof text), "none");
    tw_mesh_free(&mesh);
}
END_TEST

/* The surface of a box as a mesh of its own. */
static void box_surface(int n, tw_mesh *surface)
{
    tw_mesh box;
    int64_t *triangles = NULL, count = 0;
    kuhn_box(n, &box);
    ck_assert_int_eq(tw_mesh_surface(&box, &triangles, &count, NULL), TW_OK);
    ck_assert_int_eq(tw_mesh_allocate(surface, box.vertex_count, 0, count, 0, NULL), TW_OK);
    memcpy(surface->vertices, box.vertices, (size_t)box.vertex_count * 24);
    memcpy(surface->triangles, triangles, (size_t)count * 24);
    tw_mesh_free_indices(triangles);
    tw_mesh_free(&box);
}

static void turn(tw_mesh *mesh, int64_t i)
{
    int64_t *t = mesh->triangles + 3 * i, swap = t[0];
    t[0] = t[1];
    t[1] = swap;
}

START_TEST(triangles_are_turned_to_agree)
{
    tw_mesh surface;
    tw_mesh_repairs r;
    box_surface(2, &surface);
    for (int64_t i = 0; i < surface.triangle_count; i += 5) turn(&surface, i);
    ck_assert_int_eq(tw_mesh_repair(&surface, &r, NULL), TW_OK);
    ck_assert_int_eq(r.flipped_cells, 10);   /* of 48 */
    ck_assert_int_eq(r.dropped_vertices, 1); /* the one inside */
    ck_assert_double_eq_tol(tw_mesh_volume(&surface), 8.0, 1e-12);
    for (int64_t i = 0; i < surface.triangle_count; i++) turn(&surface, i);
    ck_assert_int_eq(tw_mesh_repair(&surface, &r, NULL), TW_OK); /* all inside out */
    ck_assert_int_eq(r.flipped_cells, 48);
    ck_assert_double_eq_tol(tw_mesh_volume(&surface), 8.0, 1e-12);
    surface.triangle_count -= 1; /* open: nobody knows what is outside */
    for (int64_t i = 0; i < surface.triangle_count; i++) turn(&surface, i);
    ck_assert_int_eq(tw_mesh_repair(&surface, &r, NULL), TW_OK);
    ck_assert_int_eq(r.flipped_cells, 0);
    tw_mesh_free(&surface);
}
END_TEST

START_TEST(a_band_of_moebius_is_left_alone)
{
    tw_mesh band;
    tw_mesh_repairs r;
    ck_assert_int_eq(tw_mesh_allocate(&band, 10, 0, 10, 0, NULL), TW_OK);
    for (int i = 0; i < 10; i++) {
        double angle = 6.283185307179586 * (i - i % 2) / 10.0, side = i % 2 ? 0.3 : -0.3;
        band.vertices[3 * i] = (1.0 + side * cos(angle / 2)) * cos(angle);
        band.vertices[3 * i + 1] = (1.0 + side * cos(angle / 2)) * sin(angle);
        band.vertices[3 * i + 2] = side * sin(angle / 2);
        int64_t a = i - i % 2, b = a + 1, c = (a + 2) % 10, d = (a + 3) % 10;
        if (a == 8) c = 1, d = 0;
        const int64_t triangle[2][3] = {{a, b, c}, {c, b, d}};
        memcpy(band.triangles + 3 * i, triangle[i % 2], sizeof triangle[0]);
    }
    ck_assert_int_eq(tw_mesh_repair(&band, &r, NULL), TW_OK);
    ck_assert_int_eq(r.flipped_cells, 0);
    ck_assert_int_eq(r.degenerate_cells, 0);
    tw_mesh_free(&band);
}
END_TEST

START_TEST(a_measure_knows_angles_components_and_holes)
{
    tw_mesh mesh;
    tw_mesh_quality q;
    kuhn_box(2, &mesh);
    ck_assert_int_eq(tw_mesh_measure(&mesh, &q, NULL), TW_OK);
    ck_assert_double_eq_tol(q.smallest_angle, 45.0, 1e-12);
    ck_assert_double_eq_tol(q.largest_angle, 90.0, 1e-12);
    ck_assert_double_eq_tol(q.shortest_edge, 1.0, 1e-15);
    ck_assert_double_eq_tol(q.longest_edge, sqrt(3.0), 1e-15);
    ck_assert_double_eq_tol(q.smallest_volume, 1.0 / 6.0, 1e-15);
    ck_assert_int_eq(q.components, 1);
    ck_assert_int_eq(q.open_edges + q.crowded_edges, 0);
    tw_mesh_free(&mesh);
    box_surface(1, &mesh);
    mesh.triangle_count = 11;
    ck_assert_int_eq(tw_mesh_measure(&mesh, &q, NULL), TW_OK);
    ck_assert_int_eq(q.open_edges, 3);
    mesh.triangle_count = 1;
    ck_assert_int_eq(tw_mesh_measure(&mesh, &q, NULL), TW_OK);
    ck_assert_int_eq(q.components, 1);
    ck_assert_int_eq(q.open_edges, 3);
    tw_mesh_free(&mesh);
}
END_TEST

/* ---- embedding ---- */

static void random_points(int64_t count, double low, double high, double *points)
{
    test_random random = {7};
    for (int64_t i = 0; i < 3 * count; i++) points[i] = test_random_between(&random, low, high);
}

START_TEST(embedded_points_are_where_they_were)
{
    enum { COUNT = 600 };
    double points[3 * COUNT], out[3 * COUNT];
    tw_mesh mesh;
    tw_embedding e;
    kuhn_box(3, &mesh);
    random_points(COUNT, -1.0, 4.0, points); /* inside and outside */
    ck_assert_int_eq(tw_embedding_create(&mesh, COUNT, points, &e, NULL), TW_OK);
    tw_embedding_apply(&e, mesh.vertices, out);
    for (int i = 0; i < 3 * COUNT; i++) ck_assert_double_eq_tol(out[i], points[i], 1e-12);
    for (int i = 0; i < COUNT; i++) {
        const double *p = points + 3 * i, *w = e.weights + 4 * i;
        double inside = fmin(fmin(w[0], w[1]), fmin(w[2], w[3]));
        bool in_box = fmin(fmin(p[0], p[1]), p[2]) > 0.0 && fmax(fmax(p[0], p[1]), p[2]) < 3.0;
        ck_assert(in_box == (inside >= -1e-14));
        ck_assert_double_eq_tol(w[0] + w[1] + w[2] + w[3], 1.0, 1e-14);
    }
    /* Affine motion of the mesh is affine motion of the points. */
    for (int64_t i = 0; i < mesh.vertex_count; i++) {
        double *v = mesh.vertices + 3 * i, x = v[0];
        v[0] = 2.0 * x - v[1] + 5.0;
        v[1] = v[1] + 0.5 * v[2];
        v[2] = x - v[2];
    }
    tw_embedding_apply(&e, mesh.vertices, out);
    for (int i = 0; i < COUNT; i++) {
        const double *p = points + 3 * i;
        ck_assert_double_eq_tol(out[3 * i], 2.0 * p[0] - p[1] + 5.0, 1e-11);
        ck_assert_double_eq_tol(out[3 * i + 1], p[1] + 0.5 * p[2], 1e-11);
        ck_assert_double_eq_tol(out[3 * i + 2], p[0] - p[2], 1e-11);
    }
    tw_embedding_free(&e);
    tw_embedding_free(NULL);
    tw_mesh_free(&mesh);
}
END_TEST

START_TEST(a_point_outside_belongs_to_the_nearest)
{
    tw_mesh mesh;
    tw_embedding e;
    kuhn_box(2, &mesh);
    const double points[9] = {1.7, 0.3, 2.5, -3.0, 1.2, 0.4, 2.1, 2.1, 2.1};
    ck_assert_int_eq(tw_embedding_create(&mesh, 3, points, &e, NULL), TW_OK);
    const double nearest[9] = {1.7, 0.3, 2.0, 0.0, 1.2, 0.4, 2.0, 2.0, 2.0};
    for (int i = 0; i < 3; i++) {
        double lower = 1.0;
        tw_embedding
            foot; /* the nearest point of the box lies in the tetrahedron that was chosen */
        tw_mesh one = mesh;
        one.tetrahedra += 4 * e.tetrahedra[i];
        one.tetrahedron_count = 1;
        ck_assert_int_eq(tw_embedding_create(&one, 1, nearest + 3 * i, &foot, NULL), TW_OK);
        for (int k = 0; k < 4; k++) lower = fmin(lower, foot.weights[k]);
        ck_assert(lower >= -1e-14);
        tw_embedding_free(&foot);
    }
    tw_embedding_free(&e);
    tw_mesh_free(&mesh);
}
END_TEST

START_TEST(an_embedding_is_the_same_for_any_number_of_threads)
{
    enum { COUNT = 5000 };
    static double points[3 * COUNT];
    tw_mesh mesh;
    tw_embedding one, four;
    kuhn_box(4, &mesh);
    random_points(COUNT, -1.0, 5.0, points);
    tw_set_threads(1);
    ck_assert_int_eq(tw_embedding_create(&mesh, COUNT, points, &one, NULL), TW_OK);
    tw_set_threads(4);
    ck_assert_int_eq(tw_embedding_create(&mesh, COUNT, points, &four, NULL), TW_OK);
    ck_assert_mem_eq(one.weights, four.weights, COUNT * 4 * sizeof(double));
    ck_assert_mem_eq(one.corners, four.corners, COUNT * 4 * sizeof(int64_t));
    tw_embedding_free(&one);
    tw_embedding_free(&four);
    tw_mesh_free(&mesh);
}
END_TEST

START_TEST(a_filled_box_is_the_same_for_any_number_of_threads)
{
    tw_mesh surface, one, four;
    tw_fill_options options = {.vertex_count = 60};
    box_surface(1, &surface);
    tw_set_threads(1);
    ck_assert_int_eq(tw_mesh_fill(&surface, &options, &one, NULL, NULL), TW_OK);
    tw_set_threads(4);
    ck_assert_int_eq(tw_mesh_fill(&surface, &options, &four, NULL, NULL), TW_OK);
    ck_assert_int_eq(one.vertex_count, four.vertex_count);
    ck_assert_int_eq(one.tetrahedron_count, four.tetrahedron_count);
    ck_assert_mem_eq(one.vertices, four.vertices, (size_t)one.vertex_count * 24);
    ck_assert_mem_eq(one.tetrahedra, four.tetrahedra, (size_t)one.tetrahedron_count * 32);
    tw_mesh_free(&one);
    tw_mesh_free(&four);
    tw_mesh_free(&surface);
}
END_TEST

START_TEST(an_embedding_refuses_what_it_cannot)
{
    tw_mesh mesh;
    tw_embedding e;
    tw_error error = {0};
    const double nowhere[3] = {0.0, NAN, 0.0}, origin[3] = {0};
    box_surface(1, &mesh);
    ck_assert_int_eq(tw_embedding_create(&mesh, 1, origin, &e, &error), TW_INVALID_ARGUMENT);
    ck_assert_str_eq(error.text, "the mesh has no tetrahedra to embed in");
    tw_mesh_free(&mesh);
    kuhn_box(1, &mesh);
    ck_assert_int_eq(tw_embedding_create(&mesh, 1, nowhere, &e, &error), TW_NOT_FINITE);
    ck_assert_int_eq(tw_embedding_create(&mesh, 0, NULL, &e, &error), TW_OK);
    tw_embedding_free(&e);
    for (int64_t i = 0; i < mesh.vertex_count; i++) mesh.vertices[3 * i] = 0.0;
    ck_assert_int_eq(tw_embedding_create(&mesh, 1, origin, &e, &error), TW_INVALID_ARGUMENT);
    ck_assert_str_eq(error.text, "all tetrahedra of the mesh are flat");
    tw_mesh_free(&mesh);
}
END_TEST

static tw_status everything(void *context)
{
    const tw_mesh *mesh = context;
    tw_mesh copy = {0};
    int64_t *edges = NULL, *triangles = NULL, count = 0;
    tw_status status = tw_mesh_copy(mesh, &copy, NULL);
    if (status == TW_OK) status = tw_mesh_unique_edges(&copy, &edges, &count, NULL);
    if (status == TW_OK) status = tw_mesh_surface(&copy, &triangles, &count, NULL);
    tw_embedding embedding = {0};
    tw_mesh_quality quality;
    if (status == TW_OK) status = tw_mesh_measure(&copy, &quality, NULL);
    if (status == TW_OK) status = tw_embedding_create(&copy, 8, copy.vertices, &embedding, NULL);
    if (status == TW_OK) status = tw_mesh_repair(&copy, NULL, NULL);
    tw_embedding_free(&embedding);
    tw_mesh_free_indices(edges);
    tw_mesh_free_indices(triangles);
    tw_mesh_free(&copy);
    return status;
}

START_TEST(every_allocation_may_fail)
{
    tw_mesh mesh;
    kuhn_box(1, &mesh);
    ck_assert_int_ge(test_fail_each_allocation(everything, &mesh), 30);
    tw_mesh_free(&mesh);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("mesh");
    TCase *cases = tcase_create("mesh");
    tcase_add_test(cases, a_box_has_its_volume_everything);
    tcase_add_test(cases, the_surface_is_outward_whatever_the_orientation);
    tcase_add_test(cases, an_empty_mesh_is_harmless);
    tcase_add_test(cases, a_check_finds_what_is_wrong);
    tcase_add_test(cases, every_fault_of_a_solid_is_repaired_and_counted);
    tcase_add_test(cases, triangles_are_turned_to_agree);
    tcase_add_test(cases, a_band_of_moebius_is_left_alone);
    tcase_add_test(cases, a_measure_knows_angles_components_and_holes);
    tcase_add_test(cases, embedded_points_are_where_they_were);
    tcase_add_test(cases, a_point_outside_belongs_to_the_nearest);
    tcase_add_test(cases, an_embedding_is_the_same_for_any_number_of_threads);
    tcase_add_test(cases, a_filled_box_is_the_same_for_any_number_of_threads);
    tcase_add_test(cases, an_embedding_refuses_what_it_cannot);
    tcase_add_test(cases, every_allocation_may_fail);
    suite_add_tcase(suite, cases);
    return run_suite(suite);
}
