/* Sets of fibres and where their roots come from. test_fibre_rods.c has their stiffness. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <twang/twang.h>

#include "support/run_suite.h"
#include "support/temporary_folder.h"

enum { CORNERS = 4 };

static const double origin[3] = {0.1, -0.2, 0.3};
static const double along_x[3] = {2, 0, 0};

/* ---- many fibres, errors ---- */

START_TEST(fibres_of_a_set_are_alike_and_found)
{
    static const double roots[9] = {0, 0, 0, 1, 0, 0, 0, 2, 0};
    static const double directions[9] = {0, 0, 1, 1, 1, 1, 0, -1, 0};
    tw_fibres shape = tw_fibres_default();
    shape.count = 3;
    shape.roots = roots;
    shape.directions = directions;
    shape.segments = 5;
    shape.tip_thickness = 3e-5;

    tw_model *model = NULL;
    int64_t first = -1;
    tw_error error = {0};
    ck_assert_int_eq(tw_model_create(&model, &error), TW_OK);
    ck_assert_int_eq(
        tw_model_add_particles(model, 1, (double[3]){9, 9, 9}, NULL, (double[1]){1}, NULL, &error),
        TW_OK);
    ck_assert_int_eq(tw_model_add_fibres(model, &shape, &first, &error), TW_OK);
    ck_assert_int_eq(first, 1);
    ck_assert_int_eq(tw_model_fibre_set_count(model), 1);
    ck_assert_ptr_null(tw_model_fibre_set(model, 1));
    tw_fibre_set set = *tw_model_fibre_set(model, 0);
    ck_assert_int_eq(set.count, 3);
    ck_assert_int_eq(set.segments, 5);
    ck_assert_double_eq(set.thickness, 9e-5);
    ck_assert_double_eq_tol(set.tip_thickness, 3e-5, 1e-19);
    ck_assert_int_eq(tw_model_free_count(model), 1 + 3 * 5 * CORNERS);

    /* The centre of section s is at root + s l direction / |direction|. */
    tw_simulation *simulation = NULL;
    ck_assert_int_eq(tw_simulation_of_model(model, &simulation, &error), TW_OK);
    int64_t count = tw_simulation_row_count(simulation);
    double *rows = malloc((size_t)count * 6 * sizeof(double));
    ck_assert_int_eq(tw_simulation_rows(simulation, 0, tw_simulation_start(simulation), rows),
                     TW_OK);
    for (int f = 0; f < 3; f++) {
        const double *d = directions + 3 * f;
        double norm = sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]);
        for (int s = 0; s <= 5; s++)
            for (int k = 0; k < 3; k++) {
                double centre = 0;
                for (int c = 0; c < CORNERS; c++)
                    centre += rows[6 * (tw_fibre_set_section(&set, f, s) + c) + k] / CORNERS;
                double right = roots[3 * f + k] + 0.06 * s * d[k] / norm;
                ck_assert_double_lt(fabs(centre - right), 1e-14);
            }
    }
    free(rows);
    tw_simulation_free(simulation);
}
END_TEST

START_TEST(bad_fibres_are_refused)
{
    static const double none[3] = {0, 0, 0};
    tw_fibres good = tw_fibres_default();
    good.count = 1;
    good.roots = origin;
    good.directions = along_x;
    tw_fibres bad[] = {good, good, good, good, good, good, good, good, good, good};
    bad[0].count = 0;
    bad[1].directions = none;
    bad[2].length = -1;
    bad[3].thickness = NAN;
    bad[4].shear_modulus = 2 * good.youngs_modulus;
    bad[5].density = 0;
    bad[6].curl_radius = 1e-3;
    bad[7].segments = 0;
    bad[8].sides = along_x;
    bad[9].curl_pitch = -1;

    tw_model *model = NULL;
    ck_assert_int_eq(tw_model_create(&model, NULL), TW_OK);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        tw_error error = {0};
        ck_assert_int_eq(tw_model_add_fibres(model, &bad[i], NULL, &error), TW_INVALID_ARGUMENT);
        ck_assert_int_gt((int)strlen(error.text), 10);
        ck_assert_int_eq(tw_model_particle_count(model), 0);
    }
    good.segments = INT64_MAX;
    ck_assert_int_eq(tw_model_add_fibres(model, &good, NULL, NULL), TW_UNSUPPORTED);
    ck_assert_int_eq(tw_model_add_fibres(NULL, &good, NULL, NULL), TW_INVALID_ARGUMENT);
    tw_model_free(model);
}
END_TEST

/* ---- fibres of scenes ---- */

static const char scene_head[] = "name: x\nduration: 1\nintegrator: {name: expmid2, step: 0.01}\n";
static const char material[] = "    length: 0.3\n    thickness: 9e-5\n    youngs_modulus: 3.6e9\n"
                               "    shear_modulus: 1e9\n    density: 1320\n";

static tw_status build_scene(const char *roots, const char *rest, tw_simulation **out,
                             tw_error *error)
{
    char text[2000];
    snprintf(text, sizeof text, "%sbodies:\n  - kind: fibres\n%s%s%s", scene_head, material, roots,
             rest);
    tw_scene *scene = NULL;
    tw_status status = tw_scene_parse("x.yaml", text, strlen(text), 0, NULL, &scene, error);
    if (status == TW_OK) status = tw_scene_build(scene, out, error);
    tw_scene_free(scene);
    return status;
}

/* The rows of all particles at time t, with the free ones where they start. */
static double *rows_at(tw_simulation *simulation, double t)
{
    double *rows = malloc((size_t)tw_simulation_row_count(simulation) * 6 * sizeof(double));
    ck_assert_ptr_nonnull(rows);
    ck_assert_int_eq(tw_simulation_rows(simulation, t, tw_simulation_start(simulation), rows),
                     TW_OK);
    return rows;
}

/* The centre of the root section of fibre f: roots come first. */
static void root_of(const double *rows, int f, double root[3])
{
    for (int k = 0; k < 3; k++) {
        root[k] = 0;
        for (int c = 0; c < CORNERS; c++) root[k] += rows[6 * (CORNERS * f + c) + k] / CORNERS;
    }
}

START_TEST(roots_are_scattered_over_a_head_and_follow_it)
{
    enum { COUNT = 200 };
    tw_simulation *simulation = NULL;
    tw_error error = {0};
    ck_assert_msg(
        build_scene("    count: 200\n    roots: {obstacle: head, upper: 0.25, seed: 7}\n",
                    "obstacles:\n  - {name: head, kind: sphere, centre: [1, 2, 3], radius: 0.1, "
                    "motion: {kind: rotation, point: [1, 2, 3], keyframes: [[0, 0], [1, 90]]}}\n",
                    &simulation, &error) == TW_OK,
        "%s", error.text);
    double *at_start = rows_at(simulation, 0), *turned = rows_at(simulation, 1);
    int quarters[4] = {0};
    for (int f = 0; f < COUNT; f++) {
        double root[3], later[3];
        root_of(at_start, f, root);
        root_of(turned, f, later);
        double x = root[0] - 1, y = root[1] - 2, z = root[2] - 3;
        ck_assert_double_eq_tol(sqrt(x * x + y * y + z * z), 0.1, 1e-14);
        ck_assert_double_ge(z, 0.05 - 1e-12); /* the upper quarter of the height 0.2 */
        quarters[(x > 0) + 2 * (y > 0)]++;

        /* A quarter turn about z through the centre: (x, y) becomes (-y, x). */
        ck_assert_double_eq_tol(later[0] - 1, -y, 1e-14);
        ck_assert_double_eq_tol(later[1] - 2, x, 1e-14);
        ck_assert_double_eq_tol(later[2] - 3, z, 1e-14);
    }

    /* A quarter of the roots in each quarter, but for chance. */
    for (int i = 0; i < 4; i++) ck_assert_int_ge(quarters[i], COUNT / 5);
    free(at_start);
    free(turned);
    tw_simulation_free(simulation);
}
END_TEST

START_TEST(a_grid_has_its_middle_at_the_origin)
{
    tw_simulation *simulation = NULL;
    ck_assert_int_eq(build_scene("    columns: 3\n    rows: 2\n    spacing: 0.1\n"
                                 "    origin: [1, 1, 1]\n",
                                 "", &simulation, NULL),
                     TW_OK);
    double *rows = rows_at(simulation, 0);
    for (int f = 0; f < 6; f++) {
        double root[3];
        int column = f % 3;
        int row = f / 3;
        root_of(rows, f, root);
        ck_assert_double_eq_tol(root[0], 1 + 0.1 * (column - 1), 1e-14);
        ck_assert_double_eq_tol(root[1], 1 + 0.1 * (row - 0.5), 1e-14);
        ck_assert_double_eq_tol(root[2], 1, 1e-14);
    }
    free(rows);
    tw_simulation_free(simulation);
}
END_TEST

static tw_status build_of_file(const char *folder, const char *csv, tw_simulation **out,
                               tw_error *error)
{
    char path[600], roots[700];
    snprintf(path, sizeof path, "%s/roots.csv", folder);
    FILE *file = fopen(path, "w");
    ck_assert_ptr_nonnull(file);
    fputs(csv, file);
    fclose(file);
    snprintf(roots, sizeof roots, "    roots: {points: %s}\n", path);
    return build_scene(roots, "", out, error);
}

START_TEST(roots_come_from_a_file)
{
    static const char *const bad[][2] = {
        {"", "has no roots"},
        {"x,y,z,nx,ny,nz\n", "has no roots"},
        {"1,2,3\n", ":1:6: is not six numbers"},
        {"0,0,0,0,0,1\n1,2,3,4,5,six\n", ":2:11: is not six numbers"},
        {"0,0,0,0,0,0\n", ":1:1: the normal nx, ny, nz has length"},
        {"0,0,0,0,0,1,7\n", ":1:12: is not six numbers"}};
    const char *folder = test_enter_temporary_folder();
    tw_error error = {0};
    tw_simulation *simulation = NULL;
    const char *good = "x,y,z,nx,ny,nz\r\n1,2,3,0,0,1\r\n\n4,5,6,1,0,0";
    ck_assert_msg(build_of_file(folder, good, &simulation, &error) == TW_OK, "%s", error.text);
    double *rows = rows_at(simulation, 0), root[3];
    root_of(rows, 1, root);
    ck_assert_double_eq_tol(root[0] + 10 * root[1] + 100 * root[2], 654, 1e-12);
    free(rows);
    tw_simulation_free(simulation);

    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        ck_assert_int_eq(build_of_file(folder, bad[i][0], &simulation, &error), TW_BAD_INPUT);
        ck_assert_msg(strstr(error.text, bad[i][1]) != NULL, "%s", error.text);
    }
    test_leave_temporary_folder();
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("fibres");
    TCase *cases = tcase_create("fibres");
    tcase_set_timeout(cases, 120);
    tcase_add_test(cases, fibres_of_a_set_are_alike_and_found);
    tcase_add_test(cases, bad_fibres_are_refused);
    tcase_add_test(cases, roots_are_scattered_over_a_head_and_follow_it);
    tcase_add_test(cases, a_grid_has_its_middle_at_the_origin);
    tcase_add_test(cases, roots_come_from_a_file);
    suite_add_tcase(suite, cases);
    return run_suite(suite);
}
