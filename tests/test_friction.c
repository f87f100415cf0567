/* Friction on obstacles as a force (friction_length): against small steps, Coulomb's law, differences,
 * its own account, and across a checkpoint. test_contact.c has friction by impulses. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <twang/twang.h>

#include "model/point_slabs.h"
#include "support/random.h"
#include "support/run_suite.h"

/* ---- runs ---- */

typedef struct trial {
    tw_simulation *simulation;
    tw_integrator *integrator;
    double friction_work; /* since the start [J] */
} trial;

static tw_simulation *build(const char *text)
{
    tw_scene *scene = NULL;
    tw_simulation *simulation = NULL;
    tw_error error = {0};
    tw_status status = tw_scene_parse("x.yaml", text, strlen(text), 0, NULL, &scene, &error);
    if (status == TW_OK) status = tw_scene_build(scene, &simulation, &error);
    ck_assert_msg(status == TW_OK, "%s", error.text);
    tw_scene_free(scene);
    return simulation;
}

static trial begin(const char *text, tw_scheme scheme, double step)
{
    trial t = {.simulation = build(text)};
    tw_error error = {0};
    tw_integrator_options options = tw_integrator_options_default();
    options.scheme = scheme;
    options.step = step;
    options.newton.max_iterations = 100;
    options.expmid2.dissipation = 1;
    options.phi.tolerance = 1e-3;
    tw_status status = tw_simulation_integrator(t.simulation, &options, &t.integrator, &error);
    if (status == TW_OK)
        status = tw_integrator_start(t.integrator, 0, tw_simulation_start(t.simulation), &error);
    ck_assert_msg(status == TW_OK, "%s", error.text);
    return t;
}

/* The present state; the caller frees it. */
static double *state_of(const trial *t, double *time)
{
    double *u = malloc((size_t)tw_simulation_state_size(t->simulation) * sizeof(double));
    ck_assert_ptr_nonnull(u);
    tw_integrator_state(t->integrator, time, u);
    return u;
}

static void advance(trial *t, double to)
{
    tw_error error = {0};
    tw_status status = tw_integrator_advance(t->integrator, to, &error);
    ck_assert_msg(status == TW_OK, "t = %g: %s", to, error.text);
    tw_measurement m;
    double time = 0;
    double *u = state_of(t, &time);
    ck_assert_int_eq(tw_simulation_measure(t->simulation, time, u, &m), TW_OK);
    free(u);
    t->friction_work = m.sliding_work;
}

static void end(trial *t)
{
    tw_integrator_free(t->integrator);
    tw_simulation_free(t->simulation);
}

/* The present rows, seven columns each. */
static double *rows_of(const trial *t)
{
    int64_t count = tw_simulation_row_count(t->simulation);
    ck_assert_int_eq(tw_simulation_column_count(t->simulation), 7);
    double *rows = malloc(7 * (size_t)count * sizeof(double));
    ck_assert_ptr_nonnull(rows);
    double time = 0;
    double *u = state_of(t, &time);
    ck_assert_int_eq(tw_simulation_rows(t->simulation, time, u, rows), TW_OK);
    free(u);
    return rows;
}

/* ---- a bristle ---- */

/* One bristle of 3.2e10 Pa is pressed on a ball and rubs it. Its slowest mode has 4,600 rad/s: no
 * step here resolves it. */
static const char bristle[] =
    "name: x\nduration: 1\nintegrator: {name: bdf1, step: 0.01}\ngravity: [0, 0, -9.81]\n"
    "bodies:\n  - {kind: fibres, origin: [0.004, 0, 0.0325], direction: [0, 0, -1], length: 0.011, "
    "segments: 4, thickness: 1.2e-4, youngs_modulus: 3.2e10, shear_modulus: 1e9, density: 1140}\n"
    "motions:\n  - {kind: formula, part: roots, x: 0.006*sin(4*pi*t)*ramp(4*t - 1), "
    "z: -0.002*ramp(4*t)}\n"
    "obstacles:\n  - {kind: sphere, radius: 0.02}\n"
    "contact: {distance: 1e-3, stiffness: 2, friction: 0.3, friction_length: 2e-5, "
    "restitution: 1}\n"
    "forces:\n  - {kind: rayleigh, alpha: 50}\n";

enum { SECTIONS = 5 };

/* The centre line. */
static void centre_line(const trial *t, double x[SECTIONS][3])
{
    double *rows = rows_of(t);
    for (int s = 0; s < SECTIONS; s++)
        for (int k = 0; k < 3; k++) {
            x[s][k] = 0;
            for (int c = 0; c < 4; c++) x[s][k] += 0.25 * rows[7 * (4 * s + c) + k];
        }
    free(rows);
}

static double distance(const double a[3], const double b[3])
{
    return sqrt((a[0] - b[0]) * (a[0] - b[0]) + (a[1] - b[1]) * (a[1] - b[1]) +
                (a[2] - b[2]) * (a[2] - b[2]));
}

START_TEST(a_bristle_rubs_as_with_small_steps)
{
    static const struct {
        tw_scheme scheme;
        double step;
        double
            work; /* its error: the limit is that at the start of a step, an error of order one */
    } runs[] = {{TW_SCHEME_EXPMID2, 5e-3, 0.06},
                {TW_SCHEME_EXPMID2, 2.5e-3, 0.03},
                {TW_SCHEME_BDF1, 5e-3, 0.06}};
    trial fine = begin(bristle, TW_SCHEME_BDF1, 1e-4);
    trial coarse = begin(bristle, runs[_i].scheme, runs[_i].step);

    /* At the end the root turns back: the work of the last step, which is counted later, is small. */
    for (int i = 1; i <= 5; i++) {
        double x[SECTIONS][3];
        double y[SECTIONS][3];
        advance(&fine, 0.125 * i);
        advance(&coarse, 0.125 * i);
        centre_line(&fine, x);
        centre_line(&coarse, y);

        /* The tip is up to 3 mm off its place at rest. */
        ck_assert_double_le(distance(x[SECTIONS - 1], y[SECTIONS - 1]), 6e-5);
        for (int s = 1; s < SECTIONS; s++)
            ck_assert_double_eq_tol(distance(y[s - 1], y[s]), 0.00275, 1e-3 * 0.00275);
    }
    ck_assert_double_gt(fine.friction_work, 1e-7);
    ck_assert_double_eq_tol(coarse.friction_work / fine.friction_work, 1.0, runs[_i].work);
    end(&fine);
    end(&coarse);
}
END_TEST

/* ---- a rod on a slope ---- */

static const double rod_mass = 1000 * 0.1 * 3.14159265358979 * 0.01 * 0.01 / 4; /* [kg] */

/* A rod lies on a plane, with gravity at an angle of tangent `slope`. */
static trial rod_on_slope(double slope, tw_scheme scheme, double step)
{
    double g = 9.81 / sqrt(1 + slope * slope);

    /* It starts where five sections carry its weight: 5 (2 kappa / d) (d - gap)^2 = m g. */
    double gap = 1e-3 - sqrt(rod_mass * g * 1e-3 / (10 * 100));
    char text[1000];
    snprintf(text, sizeof text,
             "name: x\nduration: 1\nintegrator: {name: bdf1, step: 0.01}\n"
             "gravity: [%.17g, 0, %.17g]\n"
             "bodies:\n  - {kind: fibres, rooted: false, origin: [0, 0, %.17g], "
             "direction: [0, 1, 0], length: 0.1, segments: 4, thickness: 0.01, "
             "youngs_modulus: 1e7, shear_modulus: 1e6, density: 1000}\n"
             "obstacles:\n  - {kind: plane, normal: [0, 0, 1], size: 4}\n"
             "contact: {distance: 1e-3, stiffness: 100, friction: 0.3, friction_length: 1e-4, "
             "restitution: 1}\nforces:\n  - {kind: rayleigh, alpha: 100}\n",
             slope * g, -g, 0.005 + gap);
    return begin(text, scheme, step);
}

/* Place and velocity of the rod along the slope. */
static void follow(const trial *t, double *x, double *v)
{
    double *rows = rows_of(t);
    *x = *v = 0;
    for (int i = 0; i < 4 * SECTIONS; i++) {
        /* The sections at the ends have half the mass of the others. */
        double share = (i < 4 || i >= 4 * SECTIONS - 4 ? 0.5 : 1.0) / (4 * (SECTIONS - 1));
        *x += share * rows[7 * i];
        *v += share * rows[7 * i + 3];
    }
    free(rows);
}

static const struct {
    tw_scheme scheme;
    double step;
} slope_runs[] = {{TW_SCHEME_BDF1, 2e-3}, {TW_SCHEME_EXPMID2, 2e-3}, {TW_SCHEME_RK4, 2e-5}};

START_TEST(a_rod_holds_below_the_friction_angle)
{
    trial t = rod_on_slope(0.25, slope_runs[_i].scheme, slope_runs[_i].step);
    double x[2];
    double v;
    advance(&t, 0.3);
    follow(&t, &x[0], &v);
    advance(&t, 0.8);
    follow(&t, &x[1], &v);

    /* The spring of friction, which starts without tension, swings, and does not creep. */
    ck_assert_double_le(fabs(x[0]), 3e-4);
    ck_assert_double_le(fabs(x[1] - x[0]), 1e-4);
    end(&t);
}
END_TEST

START_TEST(a_rod_slides_above_it)
{
    trial t = rod_on_slope(0.5, slope_runs[_i].scheme, slope_runs[_i].step);
    double x[2];
    double v[2];
    advance(&t, 0.2);
    follow(&t, &x[0], &v[0]);
    double work = t.friction_work;
    advance(&t, 0.6);
    follow(&t, &x[1], &v[1]);
    work = t.friction_work - work;

    /* a = g (sin - mu cos), and friction takes mu m g cos per metre. */
    double g = 9.81 / sqrt(1.25);
    ck_assert_double_eq_tol((v[1] - v[0]) / 0.4, 0.2 * g, 0.02 * 0.2 * g);
    ck_assert_double_eq_tol(work, 0.3 * rod_mass * g * (x[1] - x[0]), 0.02 * work);
    end(&t);
}
END_TEST

START_TEST(the_wear_is_the_work)
{
    trial t = rod_on_slope(0.5, TW_SCHEME_BDF1, 2e-3);
    advance(&t, 0.5);
    double *rows = rows_of(&t);
    int64_t count = tw_simulation_row_count(t.simulation);

    /* The plane is two triangles of 8 m^2: corners 0 and 2 belong to both. */
    static const double area[4] = {16.0 / 3, 8.0 / 3, 16.0 / 3, 8.0 / 3};
    double sum = 0;
    for (int i = 0; i < 4; i++) sum += area[i] * rows[7 * (count - 4 + i) + 6];
    for (int64_t i = 0; i < count - 4; i++) ck_assert_double_eq(rows[7 * i + 6], 0);
    ck_assert_double_eq_tol(sum, t.friction_work, 0.01 * sum);
    free(rows);
    end(&t);
}
END_TEST

/* ---- derivatives ---- */

START_TEST(the_tangent_is_that_of_the_force)
{
    trial t = begin(bristle, TW_SCHEME_BDF1, 1e-3);
    advance(&t, 0.3);
    const tw_second_order_problem *p = tw_simulation_second_order(t.simulation);
    int64_t n = p->space.local_size;
    double *x = malloc(5 * (size_t)n * sizeof(double));
    double *direction = x + n;
    double *product = x + 2 * n;
    double *ahead = x + 3 * n;
    double *behind = x + 4 * n;
    double now = 0;
    double *state = state_of(&t, &now);

    /* States before and behind the place where friction reaches its limit. */
    for (int i = 0; i < 6; i++) {
        double s = 2e-6 * pow(3, i);
        double e = 1e-9;
        for (int64_t j = 0; j < n; j++) {
            int64_t axis = j % 3;
            int64_t section = j / 12;
            direction[j] = sin(1.0 + (double)axis + (double)section);
            x[j] = state[j] + (axis == 0 ? s : 0.0);
        }
        ck_assert_int_eq(p->linearise(p->context, now, x, state + n), TW_OK);
        ck_assert_int_eq(p->apply_stiffness(p->context, 1, direction, product), TW_OK);

        double difference = 0;
        double size = 0;
        for (int64_t j = 0; j < n; j++) x[j] += e * direction[j];
        ck_assert_int_eq(p->acceleration(p->context, now, x, state + n, ahead), TW_OK);
        for (int64_t j = 0; j < n; j++) x[j] -= 2 * e * direction[j];
        ck_assert_int_eq(p->acceleration(p->context, now, x, state + n, behind), TW_OK);
        for (int64_t j = 0; j < n; j++) {
            double expected = -p->lumped_mass[j] * (ahead[j] - behind[j]) / (2 * e);
            difference = fmax(difference, fabs(product[j] - expected));
            size = fmax(size, fabs(product[j]));
        }
        ck_assert_double_le(difference, 1e-5 * size);
    }
    free(x);
    free(state);
    end(&t);
}
END_TEST

/* ---- a checkpoint ---- */

START_TEST(a_resumed_run_goes_on_with_the_same_bytes)
{
    trial whole = begin(bristle, TW_SCHEME_EXPMID2, 5e-3);
    trial resumed = begin(bristle, TW_SCHEME_EXPMID2, 5e-3);
    tw_error error = {0};
    size_t size = 0;
    advance(&whole, 0.3);
    ck_assert_int_eq(tw_integrator_serialise(whole.integrator, NULL, 0, &size), TW_OK);
    void *bytes = malloc(size);
    ck_assert_ptr_nonnull(bytes);
    ck_assert_int_eq(tw_integrator_serialise(whole.integrator, bytes, size, &size), TW_OK);
    ck_assert_int_eq(tw_integrator_restore(resumed.integrator, bytes, size, &error), TW_OK);

    advance(&whole, 0.4);
    advance(&resumed, 0.4);
    double *a = rows_of(&whole);
    double *b = rows_of(&resumed);
    size_t count = 7 * (size_t)tw_simulation_row_count(whole.simulation);
    ck_assert_mem_eq(a, b, count * sizeof(double));
    free(a);
    free(b);

    /* A memory that is not finite is refused. */
    double nan = NAN;
    memcpy((char *)bytes + size - sizeof nan, &nan, sizeof nan);
    ck_assert_int_eq(tw_integrator_restore(resumed.integrator, bytes, size, &error), TW_BAD_INPUT);
    free(bytes);
    end(&whole);
    end(&resumed);
}
END_TEST

START_TEST(wear_has_colours)
{
    char text[sizeof bristle + 100];
    const char *place = strstr(bristle, "friction_length");
    snprintf(text, sizeof text, "%.*sstain_work: 8, %s", (int)(place - bristle), bristle, place);
    tw_simulation *plain = build(bristle);
    tw_simulation *stained = build(text);

    /* Blue, cyan, green, yellow, red, red; one step between cyan and green. */
    static const double wear[] = {0, 2, 4, 6, 8, 100, 3};
    static const double right[][3] = {{0, 0, 1}, {0, 1, 1}, {0, 1, 0},  {1, 1, 0},
                                      {1, 0, 0}, {1, 0, 0}, {0, 1, 0.5}};
    for (int i = 0; i < 7; i++) {
        double colour[3];
        ck_assert(tw_simulation_stain(stained, wear[i], colour));
        for (int k = 0; k < 3; k++) ck_assert_double_eq(colour[k], right[i][k]);
        ck_assert(!tw_simulation_stain(plain, wear[i], colour));
    }

    /* Of the bristle and the ball, the ball is stained. */
    ck_assert(!tw_simulation_display(stained, 0)->stained);
    ck_assert(tw_simulation_display(stained, 1)->stained);
    double colour[3];
    ck_assert(!tw_simulation_stain(NULL, 1, colour));
    ck_assert(!tw_simulation_stain(stained, 1, NULL));
    ck_assert(!tw_simulation_stain(stained, NAN, colour));
    tw_simulation_free(plain);
    tw_simulation_free(stained);
}
END_TEST

/* A sphere has a centre, two poles, and 2 R points on each of R - 1 rings. */
START_TEST(spheres_have_rings)
{
    static const char *const values[] = {"4", "80", "3", "7", "402", "many"};
    char text[sizeof bristle + 100];
    const char *place = strstr(bristle, "radius: 0.02");
    snprintf(text, sizeof text, "%.*srings: %s, %s", (int)(place - bristle), bristle, values[_i],
             place);

    tw_scene *scene = NULL;
    tw_simulation *simulation = NULL;
    tw_error error = {0};
    tw_status status = tw_scene_parse("x.yaml", text, strlen(text), 0, NULL, &scene, &error);
    if (status == TW_OK) status = tw_scene_build(scene, &simulation, &error);
    if (_i < 2) {
        int64_t rings = _i == 0 ? 4 : 80;
        ck_assert_int_eq(status, TW_OK);
        ck_assert_int_eq(tw_simulation_row_count(simulation), 20 + 3 + 2 * rings * (rings - 1));
    } else {
        ck_assert_int_eq(status, TW_BAD_INPUT);
        ck_assert_msg(strncmp(error.text, "x.yaml:10:", 10) == 0, "%s", error.text);
    }
    tw_simulation_free(simulation);
    tw_scene_free(scene);
}
END_TEST

START_TEST(bad_lengths_are_refused)
{
    static const char *const values[] = {"0", "-1e-5", "soft", "[1]", ".inf", "true"};
    char text[sizeof bristle + 100];
    snprintf(text, sizeof text, "%s", bristle);
    char *place = strstr(text, "friction_length: 2e-5");
    ck_assert_ptr_nonnull(place);
    const char *rest = strstr(bristle, "friction_length: 2e-5") + strlen("friction_length: 2e-5");
    snprintf(place, sizeof text - (size_t)(place - text), "friction_length: %s%s", values[_i],
             rest);

    tw_scene *scene = NULL;
    tw_error error = {0};
    ck_assert_int_eq(tw_scene_parse("x.yaml", text, strlen(text), 0, NULL, &scene, &error),
                     TW_BAD_INPUT);
    ck_assert_msg(strncmp(error.text, "x.yaml:11:", 10) == 0, "%s", error.text);
    ck_assert_ptr_nonnull(strstr(error.text, "friction_length"));
    tw_scene_free(scene);
}
END_TEST

/* ---- the nearest particle of an obstacle ---- */

enum { POINTS = 3000 };

/* The nearest point of a positive weight, by trying all. */
static int64_t nearest_of_all(const double *x, const double *weight, const double place[3])
{
    int64_t nearest = -1;
    double least = INFINITY;
    for (int64_t p = 0; p < POINTS; p++) {
        double square = 0;
        for (int k = 0; k < 3; k++) square += (x[3 * p + k] - place[k]) * (x[3 * p + k] - place[k]);
        if (weight[p] == 0 || square >= least) continue;
        least = square;
        nearest = p;
    }
    return nearest;
}

/* A cloud, a rod along each axis, a lattice where many are equally near, and one place. */
START_TEST(slabs_find_the_nearest_point)
{
    static double x[3 * POINTS], weight[POINTS];
    test_random random = {.state = 7};
    for (int p = 0; p < POINTS; p++) {
        weight[p] = p % 7 == 0 ? 0 : 1;
        for (int k = 0; k < 3; k++) {
            double size = _i == 5 || (_i >= 1 && _i <= 3 && k != _i - 1) ? 0 : 1;
            x[3 * p + k] = size * test_random_between(&random, -1, 1);
            if (_i == 4) x[3 * p + k] = floor(4 * x[3 * p + k]);
        }
    }

    tw_point_slabs slabs;
    ck_assert_int_eq(tw_point_slabs_create(&slabs, POINTS), TW_OK);
    tw_point_slabs_sort(&slabs, 0, POINTS, weight, x);
    for (int i = 0; i < 300; i++) {
        double place[3];
        for (int k = 0; k < 3; k++) place[k] = test_random_between(&random, -5, 5);
        for (int k = 0; k < 3 && _i == 4; k++) place[k] = floor(place[k]);
        ck_assert_int_eq(tw_point_slabs_nearest(&slabs, x, place),
                         nearest_of_all(x, weight, place));
    }
    tw_point_slabs_free(&slabs);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("friction");
    TCase *cases = tcase_create("friction");
    tcase_set_timeout(cases, 120);
    tcase_add_loop_test(cases, a_bristle_rubs_as_with_small_steps, 0, cases_to_run(3, 1));
    tcase_add_loop_test(cases, a_rod_holds_below_the_friction_angle, 0, 3);
    tcase_add_loop_test(cases, a_rod_slides_above_it, 0, 3);
    tcase_add_test(cases, the_wear_is_the_work);
    tcase_add_test(cases, the_tangent_is_that_of_the_force);
    tcase_add_test(cases, a_resumed_run_goes_on_with_the_same_bytes);
    tcase_add_loop_test(cases, bad_lengths_are_refused, 0, 6);
    tcase_add_test(cases, wear_has_colours);
    tcase_add_loop_test(cases, spheres_have_rings, 0, 6);
    tcase_add_loop_test(cases, slabs_find_the_nearest_point, 0, 6);
    suite_add_tcase(suite, cases);
    return run_suite(suite);
}
