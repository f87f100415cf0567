/* Regular solids in the mesher: all their edges are equally long, and made surfaces often are like them. Scaled, turned,
 * far from the origin, tiny. Then meshes that no filling can succeed with, and what is said of them. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <twang/twang.h>

#include "support/run_suite.h"
#include "support/surfaces.h"
#include "support/temporary_folder.h"

static const int face_counts[5] = {4, 6, 8, 12, 20};

static tw_status fill(const tw_mesh *surface, int64_t vertices, tw_mesh *solid,
                      tw_fill_report *report, tw_error *error)
{
    tw_fill_options options = {.vertex_count = vertices};
    return tw_mesh_fill(surface, &options, solid, report, error);
}

static void move(tw_mesh *mesh, double scale, double distance)
{
    const double direction[3] = {1.0, 0.7, -0.3};
    for (int64_t i = 0; i < 3 * mesh->vertex_count; i++)
        mesh->vertices[i] = scale * mesh->vertices[i] + distance * direction[i % 3];
}

/* Formulas of the volume from the edge: an oracle for surface_regular too. */
START_TEST(the_solids_are_regular)
{
    const double root5 = sqrt(5.0), edge12 = root5 - 1.0;
    const double volumes[5] = {8.0 / 3.0, 8.0, 4.0 / 3.0,
                               (15.0 + 7.0 * root5) / 4.0 * edge12 * edge12 * edge12,
                               5.0 * (3.0 + root5) / 12.0 * 8.0};
    tw_mesh solid;
    ck_assert_double_eq_tol(surface_regular(face_counts[_i], &solid), volumes[_i], 1e-12);
    tw_mesh_free(&solid);
}
END_TEST

/* Before, the four- and the eight-sided one were never finished with cells smaller than their edges. */
START_TEST(regular_solids_are_filled)
{
    const double turns[2][9] = {{1, 0, 0, 0, 1, 0, 0, 0, 1},
                                {0.6, -0.8, 0, 0.48, 0.36, -0.8, 0.64, 0.48, 0.6}};
    const struct {
        double scale, distance;
    } places[6] = {{1, 0}, {1e-9, 0}, {1e9, 0}, {1e-29, 0}, {1e29, 0}, {1, 1e9}};
    for (int turn = 0; turn < 2; turn++)
        for (int place = 0; place < 6; place++)
            for (int64_t vertices = 8; vertices < 1000; vertices *= 7) {
                tw_mesh surface, solid;
                tw_fill_report r;
                tw_error error = {0};
                double volume = surface_regular(face_counts[_i], &surface);
                double scale = places[place].scale;
                surface_transform(&surface, turns[turn]);
                move(&surface, scale, places[place].distance);
                ck_assert_msg(fill(&surface, vertices, &solid, &r, &error) == TW_OK, "%s",
                              error.text);
                ck_assert_double_gt(r.quality.smallest_angle, 10.0);
                ck_assert(r.quality.smallest_volume > 0.0);
                ck_assert_double_gt(r.volume, 0.3 * volume * scale * scale * scale);
                ck_assert_double_lt(r.volume, 1.8 * volume * scale * scale * scale);
                /* Corners of a tetrahedron are thinner than a cell, and are thickened. */
                double tolerance = face_counts[_i] == 4 ? 0.35 : 0.15;
                if (vertices > 300)
                    ck_assert_double_eq_tol(r.volume / (scale * scale * scale), volume,
                                            tolerance * volume);
                tw_mesh_free(&solid);
                tw_mesh_free(&surface);
            }
}
END_TEST

/* ---- what cannot be ---- */

START_TEST(a_surface_too_far_or_too_small_is_refused)
{
    const struct {
        double scale, distance;
        const char *text;
    } cases[3] = {{1, 1e15,
                   "the surface is 2 m large and 1e+15 m from the origin, where numbers are 0.222 "
                   "m apart, expected a "
                   "surface nearer to the origin"},
                  {1, 1e14,
                   "the surface is 2 m large and 1e+14 m from the origin, where numbers are 0.0222 "
                   "m apart, expected a "
                   "surface nearer to the origin"},
                  {1e-150, 0, "the surface is 2e-150 m large, expected 1e-30 to 1e+30 m"}};
    for (int i = 0; i < 3; i++) {
        tw_mesh surface, solid;
        tw_error error = {0};
        surface_regular(8, &surface);
        move(&surface, cases[i].scale, cases[i].distance);
        ck_assert_int_eq(fill(&surface, 400, &solid, NULL, &error), TW_BAD_INPUT);
        ck_assert_str_eq(error.text, cases[i].text);
        tw_mesh_free(&surface);
    }
}
END_TEST

/* With an address space of 3 GB, a million and a half vertices do not fit, and this is said before any is made. */
START_TEST(too_many_vertices_get_a_verdict_before_it_begins)
{
    tw_mesh surface, solid;
    tw_error error = {0};
    surface_regular(6, &surface);
#ifndef __SANITIZE_ADDRESS__ /* it reserves terabytes of addresses */
    struct rlimit old, limit;
    ck_assert_int_eq(getrlimit(RLIMIT_AS, &old), 0);
    limit = old;
    limit.rlim_cur = (rlim_t)3 << 30;
    ck_assert_int_eq(setrlimit(RLIMIT_AS, &limit), 0);
    ck_assert_int_eq(fill(&surface, 2000000, &solid, NULL, &error), TW_OUT_OF_MEMORY);
    ck_assert_int_eq(setrlimit(RLIMIT_AS, &old), 0);
    ck_assert_ptr_nonnull(
        strstr(error.text, "2000000 vertices take about 3.64 GB of memory and 2 minutes, but "));
#endif
    int64_t peak = tw_memory_counts_now().peak_bytes;
    ck_assert_int_eq(fill(&surface, INT64_C(10000000000), &solid, NULL, &error), TW_OUT_OF_MEMORY);
    ck_assert_ptr_nonnull(strstr(
        error.text, "10000000000 vertices take about 1.82e+04 GB of memory and 1e+04 minutes"));
    ck_assert_int_lt(tw_memory_counts_now().peak_bytes - peak, 10000000);
    tw_mesh_free(&surface);
}
END_TEST

/* The boundary of a four-dimensional simplex: five tetrahedra, every face belongs to two of them. */
START_TEST(a_closed_complex_has_no_surface_to_write)
{
    static const int64_t all[20] = {1, 2, 3, 4, 0, 2, 3, 4, 0, 1, 3, 4, 0, 1, 2, 4, 0, 1, 2, 3};
    static const double points[15] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0.9, 0.8, 0.7};
    tw_mesh mesh;
    tw_error error = {0};
    ck_assert_int_eq(tw_mesh_allocate(&mesh, 5, 0, 0, 5, NULL), TW_OK);
    memcpy(mesh.vertices, points, sizeof points);
    memcpy(mesh.tetrahedra, all, sizeof all);

    char wanted[200];
    test_enter_temporary_folder();
    for (int i = 0; i < 2; i++) {
        const char *path = i == 0 ? "closed.obj" : "closed.ply";
        snprintf(wanted, sizeof wanted,
                 "%s: the tetrahedra have no outer face (each face belongs to two or more of "
                 "them), so there is no "
                 "surface to write",
                 path);
        ck_assert_int_eq(tw_mesh_save(path, &mesh, &error), TW_BAD_INPUT);
        ck_assert_str_eq(error.text, wanted);
        ck_assert_ptr_null(fopen(path, "r"));
    }
    tw_mesh solid;
    ck_assert_int_eq(fill(&mesh, 100, &solid, NULL, &error), TW_BAD_INPUT);
    test_leave_temporary_folder();
    tw_mesh_free(&mesh);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("regular solids");
    TCase *tests = tcase_create("regular solids");
    tcase_set_timeout(tests, 20);
    tcase_add_loop_test(tests, the_solids_are_regular, 0, 5);
    tcase_add_loop_test(tests, regular_solids_are_filled, 0, 5);
    tcase_add_test(tests, a_surface_too_far_or_too_small_is_refused);
    tcase_add_test(tests, too_many_vertices_get_a_verdict_before_it_begins);
    tcase_add_test(tests, a_closed_complex_has_no_surface_to_write);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
