/* Newton's iteration for parts that do not act on each other: hairs that do not touch. */
/* labels: threads slow */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <twang/twang.h>

#include "support/run_suite.h"
#include "support/simulation_runs.h"

enum { HAIRS = 28, THICK = 20, UNKNOWNS = 3 * 4 * 6, ROWS = UNKNOWNS / 3 };

/* Hairs of six segments that fall sideways: `thick` ones, and then `thin` ones that are a
 * ninth as stiff for their weight, 0.5 m beside them. */
static const char head[] = "name: hairs\nduration: 1\ngravity: [0, 0, -9.81]\n"
                           "integrator: {name: expmid2, step: 0.01}\nbodies:\n";
static const char body[] =
    "  - kind: fibres\n    columns: %d\n    rows: 1\n    spacing: 0.03\n"
    "    origin: [0, %g, 0]\n"
    "    direction: [0, 1, 0.2]\n    length: 0.3\n    segments: 6\n    thickness: %g\n"
    "    youngs_modulus: 3.6e9\n    shear_modulus: 1e9\n    density: 1320\n";
static const char tail[] = "forces: [{kind: rayleigh, alpha: 1}]\n%s";

static tw_simulation *hairs(int thick, int thin, const char *more)
{
    char text[4000];
    size_t used = (size_t)snprintf(text, sizeof text, "%s", head);
    if (thick > 0)
        used += (size_t)snprintf(text + used, sizeof text - used, body, thick, 0.0, 9e-5);
    if (thin > 0) used += (size_t)snprintf(text + used, sizeof text - used, body, thin, 0.5, 3e-5);
    snprintf(text + used, sizeof text - used, tail, more);

    tw_scene *parsed = NULL;
    tw_simulation *out = NULL;
    tw_error error = {0};
    tw_status status = tw_scene_parse("x.yaml", text, strlen(text), 0, NULL, &parsed, &error);
    ck_assert_msg(status == TW_OK, "%s", error.text);
    ck_assert_msg(tw_scene_build(parsed, &out, &error) == TW_OK, "%s", error.text);
    tw_scene_free(parsed);
    return out;
}

static tw_integrator_options options_of(tw_scheme scheme)
{
    tw_integrator_options options = tw_integrator_options_default();
    options.scheme = scheme;
    options.step = 0.01;
    options.newton.max_iterations = 100;
    options.newton.tolerance = 1e-8;
    return options;
}

/* The state at time t; u has 2 UNKNOWNS entries per hair, positions first. */
static void run(tw_simulation *simulation, tw_scheme scheme, double t, double *u)
{
    tw_integrator_options options = options_of(scheme);
    tw_integrator *integrator = start_simulation(simulation, &options);
    advance_to(integrator, t);
    double end = 0;
    tw_integrator_state(integrator, &end, u);
    tw_integrator_free(integrator);
    tw_simulation_free(simulation);
}

/* ---- a hair among others moves as it does alone ---- */

/* The largest difference between a hair whose root is `root` along the row, and one whose root is in
 * the middle. The row may go either way. */
static double off_alone(const double *x, const double *alone, double root)
{
    double least = INFINITY;
    for (int sign = -1; sign <= 1; sign += 2) {
        double largest = 0;
        for (int i = 0; i < UNKNOWNS; i++) {
            double moved = i % 3 == 0 ? sign * root : 0;
            largest = fmax(largest, fabs(x[i] - alone[i] - moved));
        }
        least = fmin(least, largest);
    }
    return least;
}

/* One hair alone iterates over all its unknowns at once, many of them part by part. The hairs of a
 * body differ by where they are, and so by their roots in x alone. */
START_TEST(a_hair_among_others_moves_as_alone)
{
    static const tw_scheme schemes[] = {TW_SCHEME_BDF1, TW_SCHEME_BDF2, TW_SCHEME_EXPMID2};
    static const double bounds[] = {1e-6, 1e-6,
                                    1e-4}; /* m; functions of expmid2 have five digits */
    static double all[2 * HAIRS * UNKNOWNS];
    double thick[2 * UNKNOWNS];
    double thin[2 * UNKNOWNS];
    run(hairs(THICK, HAIRS - THICK, ""), schemes[_i], 0.3, all);
    run(hairs(1, 0, ""), schemes[_i], 0.3, thick);
    run(hairs(0, 1, ""), schemes[_i], 0.3, thin);

    for (int i = 0; i < HAIRS; i++) {
        const double *alone = i < THICK ? thick : thin;
        double root =
            0.03 * (i < THICK ? i - 0.5 * (THICK - 1) : i - THICK - 0.5 * (HAIRS - THICK - 1));
        double off = off_alone(all + (int64_t)i * UNKNOWNS, alone, root);
        ck_assert_msg(off < bounds[_i], "hair %d is %g m off", i, off);
    }
}
END_TEST

static const char ball[] = "obstacles: [{kind: sphere, centre: [0.1, 0.15, -0.06], radius: 0.05}]\n"
                           "contact: {distance: 2e-3, friction: 0, restitution: 0}\n";

START_TEST(threads_do_not_change_a_byte)
{
    static double one[2 * HAIRS * UNKNOWNS];
    static double two[2 * HAIRS * UNKNOWNS];
    int threads = tw_threads();
    tw_set_threads(1);
    run(hairs(THICK, HAIRS - THICK, ball), TW_SCHEME_EXPMID2, 0.3, one);
    tw_set_threads(2);
    run(hairs(THICK, HAIRS - THICK, ball), TW_SCHEME_EXPMID2, 0.3, two);
    tw_set_threads(threads);
    ck_assert_mem_eq(one, two, sizeof one);
}
END_TEST

/* ---- focus ---- */

/* A state off rest: x + a bend, and some velocity. */
static void bent_state(const tw_simulation *simulation, double *x, double *v)
{
    memcpy(x, tw_simulation_start(simulation), HAIRS * UNKNOWNS * sizeof *x);
    for (int i = 0; i < HAIRS * UNKNOWNS; i++) {
        x[i] += 1e-4 * sin(1.3 * i * i);
        v[i] = 0.1 * cos(2.1 * i);
    }
}

/* Which hairs are active: every third, the first, or the last. */
static bool is_active(int choice, int hair)
{
    if (choice == 0) return hair % 3 == 0;
    return hair == (choice == 1 ? 0 : HAIRS - 1);
}

/* The acceleration at x, v, and the matrix there, with the damping in it. */
static void evaluate(const tw_second_order_problem *p, const double *x, const double *v, double *a)
{
    ck_assert_int_eq(p->acceleration(p->context, 0, x, v, a), TW_OK);
    ck_assert_int_eq(p->linearise(p->context, 0, x, v), TW_OK);
    ck_assert_int_eq(p->assemble(p->context, p->stiffness_matrix), TW_OK);
    ck_assert_int_eq(p->add_damping(p->context, 0.5, p->stiffness_matrix), TW_OK);
}

/* The acceleration and the matrix of active rows are those without focus; matrix rows of others keep
 * the values that they had. Before, everything is evaluated at another state. */
START_TEST(focus_leaves_active_rows_as_they_are)
{
    enum { N = HAIRS * UNKNOWNS };
    static double x[N], v[N], a[N], a_focused[N];
    tw_simulation *simulation = hairs(THICK, HAIRS - THICK, ball);
    const tw_second_order_problem *p = tw_simulation_second_order(simulation);
    const int64_t *row_start = tw_sparse_row_start(p->stiffness_matrix);
    double *values = tw_sparse_values(p->stiffness_matrix);
    ck_assert_ptr_nonnull(p->focus);
    memset(v, 0, sizeof v);
    evaluate(p, tw_simulation_start(simulation), v, a);
    bent_state(simulation, x, v);

    /* Some hairs, on a matrix of ones. */
    unsigned char active[N / 3];
    for (int row = 0; row < N / 3; row++) active[row] = is_active(_i, row / ROWS);
    for (int64_t i = 0; i < 9 * row_start[N / 3]; i++) values[i] = 1;
    p->focus(p->context, active);
    evaluate(p, x, v, a_focused);
    p->focus(p->context, NULL);
    size_t bytes = 9 * (size_t)row_start[N / 3] * sizeof(double);
    double *K = malloc(bytes);
    ck_assert_ptr_nonnull(K);
    memcpy(K, values, bytes);

    /* All of them. */
    evaluate(p, x, v, a);
    for (int row = 0; row < N / 3; row++) {
        for (int64_t i = 9 * row_start[row]; i < 9 * row_start[row + 1]; i++)
            ck_assert_double_eq(K[i], active[row] ? values[i] : 1);
        for (int k = 0; k < 3 && active[row]; k++)
            ck_assert_double_eq(a_focused[3 * row + k], a[3 * row + k]);
    }
    free(K);
    tw_simulation_free(simulation);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("part_newton");
    TCase *tcase = tcase_create("hairs");
    tcase_set_timeout(tcase, 300);
    tcase_add_loop_test(tcase, a_hair_among_others_moves_as_alone, 0, 3);
    tcase_add_test(tcase, threads_do_not_change_a_byte);
    tcase_add_loop_test(tcase, focus_leaves_active_rows_as_they_are, 0, 3);
    suite_add_tcase(suite, tcase);
    return run_suite(suite);
}
