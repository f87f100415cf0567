/* What a scene says is what is built: bodies, masses, places, selections, forces and motions. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <twang/twang.h>

#include "mesh/bodies.h"
#include "support/run_suite.h"

static tw_simulation *built(const char *rest)
{
    char text[2000];
    tw_scene *scene = NULL;
    tw_simulation *simulation = NULL;
    tw_error error = {0};
    snprintf(text, sizeof text, "name: x\nduration: 1\nintegrator: {step: 0.1}\n%s", rest);
    ck_assert_msg(tw_scene_parse("test.yaml", text, strlen(text), 0, NULL, &scene, &error) == TW_OK,
                  "%s", error.text);
    ck_assert_msg(tw_scene_build(scene, &simulation, &error) == TW_OK, "%s", error.text);
    tw_scene_free(scene);
    return simulation;
}

static tw_simulation_summary summary_of(const char *rest)
{
    tw_simulation *simulation = built(rest);
    tw_simulation_summary summary = tw_simulation_summarise(simulation);
    tw_simulation_free(simulation);
    return summary;
}

/* x, y, z, vx, vy, vz of every particle at t, where only moved particles differ from the start. Freed by free(). */
static double *rows_at(tw_simulation *simulation, double t)
{
    size_t size = (size_t)tw_simulation_row_count(simulation) * 6;
    double *rows = malloc(size * sizeof *rows);
    ck_assert_ptr_nonnull(rows);
    ck_assert_int_eq(tw_simulation_rows(simulation, t, tw_simulation_start(simulation), rows),
                     TW_OK);
    return rows;
}

#define BOX "bodies:\n  - {kind: box, size: [2, 1, 0.5], cells: [4, 2, 1], stiffness: 1e4, "

/* ---- bodies ---- */

START_TEST(bodies_have_the_sizes_asked_for)
{
    tw_simulation_summary box = summary_of(BOX "mass: 2}\n");
    ck_assert_int_eq(box.particles, 5 * 3 * 2);
    ck_assert_double_eq_tol(box.mass, 60, 1e-12);
    ck_assert_double_eq(box.upper[0], 2);
    ck_assert_double_eq(box.upper[2], 0.5);
    tw_simulation_summary bar = summary_of("bodies:\n  - {kind: bar, density: 10, material: "
                                           "linear, youngs_modulus: 1, cells: [3, 1]}\n");
    ck_assert_int_eq(bar.particles, 16);
    tw_simulation_summary fine =
        summary_of("bodies:\n  - {kind: bar, density: 10, material: linear, youngs_modulus: 1, "
                   "cells: [3, 1], order: 2}\n");
    ck_assert_int_eq(fine.particles, 7 * 3 * 3); /* twice as many points along each edge */
    /* threads, diagonals, second neighbours of 3 x 4 */
    tw_simulation_summary cloth =
        summary_of("bodies:\n  - {kind: cloth, columns: 3, rows: 4, density: 2, width: 1, "
                   "height: 3, stiffness: 1, shear: 1, bending: 1}\n");
    ck_assert_int_eq(cloth.particles, 12);
    ck_assert_int_eq(cloth.springs, (2 * 4 + 3 * 3) + 2 * 2 * 3 + (1 * 4 + 3 * 2));
    ck_assert_double_eq_tol(cloth.mass, 6, 1e-12);
}
END_TEST

START_TEST(densities_give_the_mass_of_the_volume)
{
    ck_assert_double_eq_tol(summary_of(BOX "density: 1000}\n").mass, 1000, 1e-9);
    double second = summary_of("bodies:\n  - {kind: bar, length: 2, thickness: 0.5, density: 8, "
                               "material: corotational, "
                               "youngs_modulus: 1, order: 2}\n")
                        .mass;
    ck_assert_double_eq_tol(second, 4, 1e-12);
}
END_TEST

/* The energy of a spinning bar: exact with consistent mass, since its velocity is linear in space. */
START_TEST(inertia_is_lumped_or_consistent)
{
    double energies[2];
    for (int i = 0; i < 2; i++) {
        char text[400];
        snprintf(text, sizeof text,
                 "bodies:\n  - {kind: bar, density: 8, material: linear, youngs_modulus: 1, cells: "
                 "[2, 1], inertia: %s, "
                 "spin: [0, 3, 0]}\n",
                 i ? "consistent" : "lumped");
        tw_simulation *simulation = built(text);
        tw_measurement m;
        ck_assert_int_eq(tw_simulation_measure(simulation, 0, tw_simulation_start(simulation), &m),
                         TW_OK);
        energies[i] = m.kinetic;
        tw_simulation_free(simulation);
    }
    /* spinning about its middle across: 1/2 m (l^2 + w^2)/12 w^2; lumping puts mass further out */
    double exact = 0.5 * (8 * 0.01) * (1 + 0.01) / 12 * 9;
    ck_assert_double_eq_tol(energies[1], exact, 1e-12);
    ck_assert_double_gt(energies[0], 1.05 * exact);
}
END_TEST

START_TEST(bodies_stand_where_they_are_put)
{
    /* x to y by a quarter turn about z, then moved */
    tw_simulation_summary s =
        summary_of(BOX "mass: 1, rotation: [0, 0, 90], origin: [10, 20, 30]}\n");
    ck_assert_double_eq_tol(s.lower[0], 9, 1e-12);
    ck_assert_double_eq_tol(s.upper[0], 10, 1e-12);
    ck_assert_double_eq_tol(s.upper[1], 22, 1e-12);
    ck_assert_double_eq_tol(s.upper[2], 30.5, 1e-12);
    /* y to z about x: for files with y up */
    ck_assert_double_eq_tol(summary_of(BOX "mass: 1, rotation: [90, 0, 0]}\n").upper[2], 1, 1e-12);
    /* z to x about y */
    ck_assert_double_eq_tol(summary_of(BOX "mass: 1, rotation: [0, 90, 0]}\n").upper[0], 0.5,
                            1e-12);
}
END_TEST

START_TEST(spin_and_velocity_are_the_momenta)
{
    tw_simulation *simulation =
        built(BOX "mass: 1, origin: [-1, -0.5, -0.25], velocity: [1, 2, 3], spin: [0, 0, 4]}\n");
    tw_measurement m;
    ck_assert_int_eq(tw_simulation_measure(simulation, 0, tw_simulation_start(simulation), &m),
                     TW_OK);
    ck_assert_double_eq_tol(m.momentum[1], 60, 1e-10);
    double *rows = rows_at(simulation, 0), inertia = 0;
    for (int i = 0; i < 30; i++)
        inertia += rows[6 * i] * rows[6 * i] + rows[6 * i + 1] * rows[6 * i + 1];
    ck_assert_double_eq_tol(m.angular_momentum[2], 4 * inertia,
                            1e-9); /* its centre is the origin */
    free(rows);
    tw_simulation_free(simulation);
}
END_TEST

START_TEST(a_tower_is_one_piece_without_double_girders)
{
    tw_tower tower = {.height = 3, .width = 1.2, .detail = 1};
    tw_mesh mesh = {0};
    tw_error error = {0};
    ck_assert_int_eq(tw_body_tower(&tower, &mesh, &error), TW_OK);
    ck_assert_int_eq(mesh.vertex_count, 4936);
    double lower[3], upper[3];
    tw_mesh_bounds(&mesh, lower, upper);
    ck_assert_double_eq_tol(upper[2], 3, 1e-12);
    ck_assert_double_eq_tol(upper[0] - lower[0], 1.2, 1e-12);
    /* union of what girders join, by smallest index */
    int64_t *root = malloc((size_t)mesh.vertex_count * sizeof *root), pieces = 0;
    for (int64_t i = 0; i < mesh.vertex_count; i++) root[i] = i;
    for (int64_t e = 0; e < mesh.edge_count; e++) {
        int64_t a = mesh.edges[2 * e], b = mesh.edges[2 * e + 1];
        ck_assert_int_ne(a, b);
        while (root[a] != a) a = root[a];
        while (root[b] != b) b = root[b];
        root[a < b ? b : a] = a < b ? a : b;
    }
    for (int64_t i = 0; i < mesh.vertex_count; i++) pieces += root[i] == i;
    ck_assert_int_eq(pieces, 1);
    free(root);
    tw_mesh_free(&mesh);
    /* the network itself refuses two girders between the same nodes */
    ck_assert_int_eq(
        summary_of("bodies:\n  - {kind: tower, mass: 1, stiffness: 1, stiffness_below: 2}\n")
            .particles,
        4936);
}
END_TEST

/* ---- which particles ---- */

START_TEST(pins_mean_what_they_say)
{
    ck_assert_int_eq(summary_of(BOX "mass: 1}\npins:\n  - {from: 3}\n").pinned, 1);
    ck_assert_int_eq(summary_of(BOX "mass: 1}\npins:\n  - {from: 3, to: 7}\n").pinned, 5);
    ck_assert_int_eq(summary_of(BOX "mass: 1}\npins:\n  - {lowest: 0}\n").pinned, 15);
    ck_assert_int_eq(summary_of(BOX "mass: 1}\npins:\n  - {highest: 0.1}\n").pinned, 15);
    ck_assert_int_eq(
        summary_of(BOX "mass: 1}\npins:\n  - {lower: [-1, -1, -1], upper: [0.6, 9, 9]}\n").pinned,
        2 * 6);
    ck_assert_int_eq(
        summary_of("bodies:\n  - {kind: rope}\n  - {kind: rope, origin: [0, 1, 0]}\npins:\n"
                   "  - {body: 1, from: 0, to: 1}\n  - {body: 0, from: 0}\n")
            .pinned,
        3);
}
END_TEST

/* ---- what acts ---- */

/* Acceleration of every free particle at t = 0, three each; freed by free(). */
static double *acceleration_of(tw_simulation *simulation, double t)
{
    const tw_second_order_problem *p = tw_simulation_second_order(simulation);
    const double *x = tw_simulation_start(simulation);
    double *a = malloc((size_t)p->space.local_size * sizeof *a);
    ck_assert_int_eq(p->acceleration(p->context, t, x, x + p->space.local_size, a), TW_OK);
    return a;
}

START_TEST(a_load_is_shared_by_its_particles)
{
    tw_simulation *simulation =
        built(BOX "mass: 2}\nforces:\n  - {kind: load, highest: 0, force: [0, 0, 90]}\n");
    double *a = acceleration_of(simulation, 0), sum = 0;
    for (int i = 0; i < 30; i++) sum += 2 * a[3 * i + 2];
    ck_assert_double_eq_tol(sum, 90, 1e-9);
    ck_assert_double_eq_tol(a[3 * 29 + 2], 3, 1e-9); /* 90 N / 15 particles / 2 kg */
    ck_assert_double_eq_tol(a[2], 0, 1e-9);
    free(a);
    tw_simulation_free(simulation);
}
END_TEST

START_TEST(wind_shaking_and_gravity_add_up)
{
    static const char cloth[] =
        "gravity: [0, 0, -1]\nbodies:\n  - {kind: cloth, columns: 3, rows: 3, mass: 0.5, "
        "stiffness: 1, shear: 1, bending: 1}\nforces:\n"
        "  - {kind: wind, velocity: [0, 3, 0], density: 2}\n"
        "  - {kind: shaking, acceleration: [7, 0, 0], frequency: 0.25}\n";
    tw_simulation *simulation = built(cloth);
    double *a = acceleration_of(simulation, 1), sum[3] = {0}; /* sin(2 pi 0.25 1) = 1 */
    for (int i = 0; i < 27; i++) sum[i % 3] += 0.5 * a[i];
    ck_assert_double_eq_tol(sum[0], 4.5 * 7, 1e-9);
    ck_assert_double_eq_tol(sum[1], 0.5 * 2 * 1 * 9, 1e-9); /* density / 2, area, speed squared */
    ck_assert_double_eq_tol(sum[2], -4.5, 1e-9);
    free(a);
    tw_simulation_free(simulation);
}
END_TEST

START_TEST(dashpots_and_rayleigh_brake_a_stretching_rope)
{
    static const char *const dampers[] = {"{kind: dashpots, damping: 3}",
                                          "{kind: rayleigh, beta: 3e-4}"};
    for (int i = 0; i < 2; i++) { /* beta k = 3e-4 * 1e4 = 3 as well */
        char text[400];
        snprintf(text, sizeof text,
                 "bodies:\n  - {kind: rope, count: 1, mass: 1, velocity: [2, 5, 0]}\npins:\n  - "
                 "{from: 0}\nforces:\n  "
                 "- %s\n",
                 dampers[i]);
        tw_simulation *simulation = built(text);
        double *a = acceleration_of(simulation, 0);
        ck_assert_double_eq_tol(a[0], -6, 1e-9); /* -c v along the link */
        ck_assert_double_eq_tol(a[1], 0, 1e-9);  /* and nothing across */
        free(a);
        tw_simulation_free(simulation);
    }
}
END_TEST

START_TEST(motions_go_where_they_are_told)
{
    static const struct {
        const char *motion;
        double t, x, y;
    } cases[] = {
        {"{kind: velocity, from: 10, velocity: [2, 0, 0]}", 0.5, 2, 0},
        {"{kind: oscillation, from: 10, amplitude: [0, 3, 0], frequency: 0.25}", 1, 1, 3},
        {"{kind: rotation, from: 10, rate: 1.5707963267948966}", 1, 0, 1},
        {"{kind: keyframes, from: 10, frames: [{t: 0, displacement: [0, 0, 0]}, {t: 2, "
         "displacement: [4, 2, 0]}]}",
         2, 5, 2},
    };
    for (int i = 0; i < 4; i++) {
        char text[400];
        snprintf(text, sizeof text, "bodies:\n  - {kind: rope}\nmotions:\n  - %s\n",
                 cases[i].motion);
        tw_simulation *simulation = built(text);
        ck_assert_int_eq(tw_simulation_summarise(simulation).unknowns, 30);
        double *rows = rows_at(simulation, cases[i].t);
        ck_assert_double_eq_tol(rows[60], cases[i].x, 1e-9);
        ck_assert_double_eq_tol(rows[61], cases[i].y, 1e-9);
        free(rows);
        tw_simulation_free(simulation);
    }
}
END_TEST

START_TEST(hardening_is_a_cubic_pull)
{
    /* a link of 0.1 pulled to 0.2: k L (e + c e^3) at e = 1 */
    tw_simulation *simulation =
        built("bodies:\n  - {kind: rope, count: 1, mass: 1, stiffness: 10, hardening: 2}\npins:\n"
              "  - {from: 0}\n");
    const tw_second_order_problem *p = tw_simulation_second_order(simulation);
    double x[3] = {0.2, 0, 0}, v[3] = {0}, a[3];
    ck_assert_int_eq(p->acceleration(p->context, 0, x, v, a), TW_OK);
    ck_assert_double_eq_tol(a[0], -10 * 0.1 * 3, 1e-9);
    tw_simulation_free(simulation);
}
END_TEST

/* ---- frequencies ---- */

START_TEST(the_highest_frequency_is_found)
{
    double omega = 0;
    tw_simulation *rope = built("bodies:\n  - {kind: rope}\npins:\n  - {from: 0}\n");
    ck_assert_int_eq(tw_simulation_frequency(rope, 50, &omega, NULL), TW_OK);
    /* ten masses, fixed and free: 2 sqrt(k/m) sin((2 n - 1) pi / (4 n + 2)), n = 10 */
    ck_assert_double_eq_tol(omega, 2 * sqrt(1e5) * sin(19 * 3.14159265358979323846 / 42), 1e-6);
    tw_simulation_free(rope);
    tw_simulation *line = NULL;
    tw_error error = {0};
    ck_assert_int_eq(tw_simulation_stiff_line(1, (double[2]){1, 1}, &line, &error), TW_OK);
    ck_assert_int_eq(tw_simulation_frequency(line, 50, &omega, NULL), TW_UNSUPPORTED);
    ck_assert_int_eq(tw_simulation_frequency(NULL, 50, &omega, NULL), TW_INVALID_ARGUMENT);
    tw_simulation_free(line);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("scene build");
    TCase *cases = tcase_create("scene build");
    tcase_set_timeout(cases, 120);
    tcase_add_test(cases, bodies_have_the_sizes_asked_for);
    tcase_add_test(cases, densities_give_the_mass_of_the_volume);
    tcase_add_test(cases, inertia_is_lumped_or_consistent);
    tcase_add_test(cases, bodies_stand_where_they_are_put);
    tcase_add_test(cases, spin_and_velocity_are_the_momenta);
    tcase_add_test(cases, a_tower_is_one_piece_without_double_girders);
    tcase_add_test(cases, pins_mean_what_they_say);
    tcase_add_test(cases, a_load_is_shared_by_its_particles);
    tcase_add_test(cases, wind_shaking_and_gravity_add_up);
    tcase_add_test(cases, dashpots_and_rayleigh_brake_a_stretching_rope);
    tcase_add_test(cases, motions_go_where_they_are_told);
    tcase_add_test(cases, hardening_is_a_cubic_pull);
    tcase_add_test(cases, the_highest_frequency_is_found);
    suite_add_tcase(suite, cases);
    return run_suite(suite);
}
