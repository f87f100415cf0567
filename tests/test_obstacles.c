/* Obstacles of triangles: boxes and meshes in scenes and in C, the lines about open and crossing surfaces, and fibres
 * that grow on a mesh. test_contact.c has what happens when bodies touch obstacles. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <twang/twang.h>

#include "support/run_suite.h"
#include "support/temporary_folder.h"

/* ---- scenes ---- */

/* What the library said, and how often. */
static char said[512];
static int lines;

static void listen(void *context, tw_log_level level, const char *line)
{
    (void)context;
    (void)level;
    snprintf(said, sizeof said, "%s", line);
    lines++;
}

/* A rope, far away, beside one obstacle. */
static tw_status build(const char *obstacle, const char *body, tw_simulation **out, tw_error *error)
{
    static const char head[] = "name: x\nduration: 1\nintegrator: {name: midpoint, step: 0.01}\n"
                               "contact: {distance: 0.01}\n";
    char text[2000];
    snprintf(text, sizeof text, "%sbodies:\n  - %s\nobstacles:\n  - %s\n", head, body, obstacle);
    tw_scene *scene = NULL;
    lines = 0;
    said[0] = '\0';
    tw_log_set(listen, NULL, TW_LOG_INFO);
    tw_status status = tw_scene_parse("x.yaml", text, strlen(text), 0, NULL, &scene, error);
    if (status == TW_OK) status = tw_scene_build(scene, out, error);
    tw_scene_free(scene);
    tw_log_set(NULL, NULL, TW_LOG_INFO);
    return status;
}

static const char rope[] = "{kind: rope, origin: [50, 0, 0]}";

static double *rows_at(tw_simulation *simulation, double t, int64_t *count)
{
    *count = tw_simulation_row_count(simulation);
    double *rows = malloc((size_t)*count * 6 * sizeof(double));
    ck_assert_ptr_nonnull(rows);
    ck_assert_int_eq(tw_simulation_rows(simulation, t, tw_simulation_start(simulation), rows),
                     TW_OK);
    return rows;
}

static void write_file(const char *name, const char *text)
{
    FILE *file = fopen(name, "w");
    ck_assert_ptr_nonnull(file);
    fputs(text, file);
    fclose(file);
}

/* A tetrahedron with a right angle at the origin, in millimetres. */
static const char tetrahedron[] = "v 0 0 0\nv 1000 0 0\nv 0 1000 0\nv 0 0 1000\n"
                                  "f 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n";

/* ---- boxes ---- */

START_TEST(a_box_stands_where_the_scene_says)
{
    tw_simulation *simulation = NULL;
    tw_error error = {0};
    ck_assert_msg(build("{kind: box, centre: [1, 2, 3], sides: [2, 4, 6], rotation: [0, 0, 90], "
                        "motion: {kind: rotation, point: [1, 2, 3], axis: [1, 0, 0], keyframes: "
                        "[[0, 0], [1, 90]]}}",
                        rope, &simulation, &error) == TW_OK,
                  "%s", error.text);
    int64_t count = 0;
    double *rows = rows_at(simulation, 0, &count), *later = rows_at(simulation, 1, &count);

    /* Turned by 90 degrees about z, the sides are 4, 2, 6; about x in addition, 4, 6, 2. */
    for (int i = 0; i < 8; i++) {
        const double *x = rows + 6 * (count - 8 + i), *y = later + 6 * (count - 8 + i);
        ck_assert_double_eq_tol(fabs(x[0] - 1), 2, 1e-14);
        ck_assert_double_eq_tol(fabs(x[1] - 2), 1, 1e-14);
        ck_assert_double_eq_tol(fabs(x[2] - 3), 3, 1e-14);
        ck_assert_double_eq_tol(fabs(y[0] - 1), 2, 1e-14);
        ck_assert_double_eq_tol(fabs(y[1] - 2), 3, 1e-14);
        ck_assert_double_eq_tol(fabs(y[2] - 3), 1, 1e-14);
    }
    ck_assert_int_eq(lines, 0);
    free(rows);
    free(later);
    tw_simulation_free(simulation);
}
END_TEST

/* Six times the volume that the triangles of the last display enclose: 6 abc if all face outward. */
START_TEST(the_triangles_of_a_box_face_outward)
{
    tw_simulation *simulation = NULL;
    ck_assert_int_eq(
        build("{kind: box, sides: [1, 2, 3], rotation: [10, 20, 30]}", rope, &simulation, NULL),
        TW_OK);
    int64_t count = 0;
    double *rows = rows_at(simulation, 0, &count), volume = 0;
    const tw_display *box = tw_simulation_display(simulation, 1);
    ck_assert_ptr_nonnull(box);
    ck_assert_int_eq(box->triangle_count, 12);
    for (int64_t i = 0; i < box->triangle_count; i++) {
        const double *a = rows + 6 * box->triangles[3 * i];
        const double *b = rows + 6 * box->triangles[3 * i + 1];
        const double *c = rows + 6 * box->triangles[3 * i + 2];
        volume += a[0] * (b[1] * c[2] - b[2] * c[1]) + a[1] * (b[2] * c[0] - b[0] * c[2]) +
                  a[2] * (b[0] * c[1] - b[1] * c[0]);
    }
    ck_assert_double_eq_tol(volume, 36, 1e-12);
    free(rows);
    tw_simulation_free(simulation);
}
END_TEST

/* ---- meshes ---- */

START_TEST(a_mesh_is_scaled_and_placed)
{
    test_enter_temporary_folder();
    write_file("corner.obj", tetrahedron);
    tw_simulation *simulation = NULL;
    tw_error error = {0};
    ck_assert_msg(build("{kind: mesh, file: corner.obj, scale: 1e-3, rotation: [90, 0, 0], origin: "
                        "[5, 0, 0], motion: {kind: velocity, velocity: [0, 0, 2]}}",
                        rope, &simulation, &error) == TW_OK,
                  "%s", error.text);
    int64_t count = 0;
    double *rows = rows_at(simulation, 0.5, &count);
    static const double right[4][3] = {{5, 0, 1}, {6, 0, 1}, {5, 0, 2}, {5, -1, 1}};
    for (int i = 0; i < 4; i++)
        for (int k = 0; k < 3; k++)
            ck_assert_double_eq_tol(rows[6 * (count - 4 + i) + k], right[i][k], 1e-14);
    ck_assert_int_eq(lines, 0);
    free(rows);
    tw_simulation_free(simulation);
    test_leave_temporary_folder();
}
END_TEST

/* A surface that is not closed is used, and the user hears of it once. */
START_TEST(odd_surfaces_get_one_line)
{
    static const char *const odd[][2] = {
        {"v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n", "is open (3 edges have one triangle)"},
        {"v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0.2 0.2 -1\nv 0.2 0.2 1\nv 0.3 0.2 1\nf 1 2 3\nf 4 5 6\n",
         "crosses itself (triangles 0 and 1)"},
        {"v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nv 0 0 -1\nf 1 2 3\nf 1 2 4\nf 1 2 5\n",
         "1 edges have more than two triangles"}};
    test_enter_temporary_folder();
    for (size_t i = 0; i < sizeof odd / sizeof *odd; i++) {
        tw_simulation *simulation = NULL;
        tw_error error = {0};
        write_file("odd.obj", odd[i][0]);
        ck_assert_msg(build("{kind: mesh, name: bowl, file: odd.obj}", rope, &simulation, &error) ==
                          TW_OK,
                      "%s", error.text);
        ck_assert_int_eq(lines, 1);
        ck_assert_msg(strstr(said, "obstacles.0 (bowl), ") == said, "%s", said);
        ck_assert_msg(strstr(said, odd[i][1]) != NULL, "%s", said);
        tw_simulation_free(simulation);
    }
    test_leave_temporary_folder();
}
END_TEST

START_TEST(bad_meshes_are_refused)
{
    static const char *const bad[][2] = {
        {"{kind: mesh, file: absent.obj}", "obstacles.0.file is 'absent.obj', which is not there"},
        {"{kind: mesh, file: line.obj}", "line.obj"},
        {"{kind: mesh, file: corner.obj, scale: 2, extent: 3}",
         "obstacles.0 has both extent and scale"},
        {"{kind: box, sides: [1, 0, 1]}", "obstacles.0.sides must be three numbers > 0"}};
    test_enter_temporary_folder();
    write_file("line.obj", "v 0 0 0\nv 1 0 0\nl 1 2\n");
    write_file("corner.obj", tetrahedron);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        tw_simulation *simulation = NULL;
        tw_error error = {0};
        ck_assert_int_eq(build(bad[i][0], rope, &simulation, &error), TW_BAD_INPUT);
        ck_assert_msg(strstr(error.text, bad[i][1]) != NULL, "%s", error.text);
        ck_assert_ptr_null(simulation);
    }
    test_leave_temporary_folder();
}
END_TEST

/* ---- motions ---- */

START_TEST(an_obstacle_moves_by_formulas)
{
    tw_simulation *simulation = NULL;
    tw_error error = {0};
    ck_assert_msg(build("{kind: box, centre: [3, 0, 0], sides: [2, 2, 2], motion: {kind: formula, "
                        "x: 0.5*t^2 + 7, z: sin(pi*t), angle: 90*ramp(t) + 3, axis: [0, 0, 2], "
                        "point: [3, 0, 0]}}",
                        rope, &simulation, &error) == TW_OK,
                  "%s", error.text);
    int64_t count = 0;
    double *start = rows_at(simulation, 0, &count), *later = rows_at(simulation, 1.5, &count);
    for (int i = 0; i < 8; i++) {
        const double *x = start + 6 * (count - 8 + i), *y = later + 6 * (count - 8 + i);

        /* It begins where it stands, and has made a quarter turn: (x, y) becomes (-y, x). */
        ck_assert_double_eq_tol(fabs(x[0] - 3), 1, 1e-14);
        ck_assert_double_eq_tol(y[0] - 3, -x[1] + 0.5 * 1.5 * 1.5, 1e-13);
        ck_assert_double_eq_tol(y[1], x[0] - 3, 1e-13);
        ck_assert_double_eq_tol(y[2], x[2] - 1, 1e-13);
        ck_assert_double_eq_tol(y[3], 1.5, 1e-13);
        ck_assert_double_eq_tol(y[5], 0, 1e-13);
    }
    free(start);
    free(later);
    tw_simulation_free(simulation);
}
END_TEST

/* Three files: the corner, moved by 1 m along x, and twice as large. */
START_TEST(an_obstacle_follows_a_sequence_of_meshes)
{
    test_enter_temporary_folder();
    write_file("corner.obj", tetrahedron);
    write_file("c_07.obj", tetrahedron);
    write_file("c_08.obj", "v 1000 0 0\nv 2000 0 0\nv 1000 1000 0\nv 1000 0 1000\n"
                           "f 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n");
    write_file("c_09.obj", "v 0 0 0\nv 2000 0 0\nv 0 2000 0\nv 0 0 2000\n"
                           "f 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n");
    tw_simulation *simulation = NULL;
    tw_error error = {0};
    ck_assert_msg(build("{kind: mesh, file: corner.obj, scale: 1e-3, origin: [5, 0, 0], motion: "
                        "{kind: sequence, files: c_##.obj, first: 7, count: 3, fps: 2}}",
                        rope, &simulation, &error) == TW_OK,
                  "%s", error.text);
    static const double right[3][4][3] = {{{5, 0, 0}, {6, 0, 0}, {5, 1, 0}, {5, 0, 1}},
                                          {{6, 0, 0}, {7, 0, 0}, {6, 1, 0}, {6, 0, 1}},
                                          {{5, 0, 0}, {7, 0, 0}, {5, 2, 0}, {5, 0, 2}}};
    for (int f = 0; f < 3; f++) {
        int64_t count = 0;
        double *rows = rows_at(simulation, 0.5 * f, &count);
        for (int i = 0; i < 4; i++)
            for (int k = 0; k < 3; k++)
                ck_assert_double_eq_tol(rows[6 * (count - 4 + i) + k], right[f][i][k], 1e-13);
        free(rows);
    }
    tw_simulation_free(simulation);

    static const char *const bad[][2] = {
        {"{kind: sequence, files: c_.obj, count: 3}", "must have # in one place"},
        {"{kind: sequence, files: d_##.obj, count: 3}", "is 'd_01.obj', which is not there"},
        {"{kind: sequence, files: c_##.obj, first: 7, count: 4}", "c_10.obj"},
        {"{kind: sequence, files: c_##.obj, first: 6, count: 2}", "has 3 vertices, must have 4"}};
    write_file("c_06.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n");
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char obstacle[300];
        snprintf(obstacle, sizeof obstacle, "{kind: mesh, file: corner.obj, motion: %s}",
                 bad[i][0]);
        ck_assert_int_eq(build(obstacle, rope, &simulation, &error), TW_BAD_INPUT);
        ck_assert_msg(strstr(error.text, bad[i][1]) != NULL, "%s", error.text);
    }
    test_leave_temporary_folder();
}
END_TEST

/* The same in C: sizes, indices and numbers that make no obstacle. */
START_TEST(bad_obstacles_are_refused)
{
    static const double corners[9] = {0, 0, 0, 1, 0, 0, 0, 1, 0}, wild[9] = {NAN};
    static const int64_t one[3] = {0, 1, 2}, outside[3] = {0, 1, 3};
    tw_obstacle mesh = {.kind = TW_OBSTACLE_MESH, .vertex_count = 3, .triangle_count = 1};
    mesh.vertices = corners;
    mesh.triangles = one;
    tw_obstacle bad[] = {mesh, mesh, mesh, mesh, mesh, {.kind = TW_OBSTACLE_BOX}};
    bad[0].vertices = NULL;
    bad[1].triangles = outside;
    bad[2].triangle_count = 0;
    bad[3].vertex_count = INT64_MAX;
    bad[4].vertices = wild;

    tw_model *model = NULL;
    ck_assert_int_eq(tw_model_create(&model, NULL), TW_OK);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        tw_error error = {0};
        ck_assert_int_ne(tw_model_add_obstacle(model, &bad[i], NULL, NULL, &error), TW_OK);
        ck_assert_int_gt((int)strlen(error.text), 10);
        ck_assert_int_eq(tw_model_particle_count(model), 0);
    }
    int64_t first = -1, last = -1;
    ck_assert_int_eq(tw_model_add_obstacle(model, &mesh, &first, &last, NULL), TW_OK);
    ck_assert_int_eq(last - first, 2);
    tw_model_free(model);
}
END_TEST

/* ---- fibres on a mesh ---- */

enum { FIBRES = 400, CORNERS = 4 };

/* The centres of the root sections. */
static void roots_of(const char *roots, double root[FIBRES][3])
{
    char body[500];
    snprintf(body, sizeof body,
             "{kind: fibres, count: %d, roots: {%s}, length: 0.1, segments: 1, thickness: 1e-4, "
             "youngs_modulus: 1e9, shear_modulus: 1e8, density: 1000}",
             FIBRES, roots);
    tw_simulation *simulation = NULL;
    tw_error error = {0};
    ck_assert_msg(build("{kind: mesh, name: head, file: corner.obj, scale: 1e-3}", body,
                        &simulation, &error) == TW_OK,
                  "%s", error.text);
    int64_t count = 0;
    double *rows = rows_at(simulation, 0, &count);
    for (int f = 0; f < FIBRES; f++)
        for (int k = 0; k < 3; k++) {
            root[f][k] = 0;
            for (int c = 0; c < CORNERS; c++)
                root[f][k] += rows[6 * (CORNERS * f + c) + k] / CORNERS;
        }
    free(rows);
    tw_simulation_free(simulation);
}

/* The faces of the corner have the areas 1/2, 1/2, 1/2 and sqrt(3)/2. */
START_TEST(roots_are_scattered_over_a_mesh)
{
    static double root[FIBRES][3], again[FIBRES][3], other[FIBRES][3], high[FIBRES][3];
    test_enter_temporary_folder();
    write_file("corner.obj", tetrahedron);
    roots_of("obstacle: head, seed: 3", root);
    roots_of("obstacle: head, seed: 3", again);
    roots_of("obstacle: head, seed: 4", other);
    roots_of("obstacle: head, upper: 0.25", high);
    ck_assert(memcmp(root, again, sizeof root) == 0);
    ck_assert(memcmp(root, other, sizeof root) != 0);

    int on_face[4] = {0};
    double mean[3] = {0};
    for (int f = 0; f < FIBRES; f++) {
        const double *x = root[f];
        int found = -1;
        for (int k = 0; k < 3; k++)
            if (fabs(x[k]) < 1e-12) found = k;
        if (fabs(x[0] + x[1] + x[2] - 1) < 1e-12) found = 3;
        ck_assert_int_ge(found, 0);
        on_face[found]++;
        for (int k = 0; k < 3; k++) {
            ck_assert_double_ge(x[k], -1e-12);
            mean[k] += x[k] / FIBRES;
        }
        ck_assert_double_ge(high[f][2], 0.75 - 1e-12);
    }

    /* As many as the areas say, to one; and the centre of mass of the surface. */
    double all = 1.5 + sqrt(3) / 2;
    for (int i = 0; i < 3; i++) ck_assert_double_le(fabs(on_face[i] - 0.5 * FIBRES / all), 1.01);
    double centre = (2 * 0.5 / 3 + sqrt(3) / 2 / 3) / all;
    for (int k = 0; k < 3; k++) ck_assert_double_eq_tol(mean[k], centre, 0.03);
    test_leave_temporary_folder();
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("obstacles");
    TCase *cases = tcase_create("obstacles");
    tcase_add_test(cases, a_box_stands_where_the_scene_says);
    tcase_add_test(cases, the_triangles_of_a_box_face_outward);
    tcase_add_test(cases, a_mesh_is_scaled_and_placed);
    tcase_add_test(cases, odd_surfaces_get_one_line);
    tcase_add_test(cases, bad_meshes_are_refused);
    tcase_add_test(cases, bad_obstacles_are_refused);
    tcase_add_test(cases, an_obstacle_moves_by_formulas);
    tcase_add_test(cases, an_obstacle_follows_a_sequence_of_meshes);
    tcase_add_test(cases, roots_are_scattered_over_a_mesh);
    suite_add_tcase(suite, cases);
    return run_suite(suite);
}
