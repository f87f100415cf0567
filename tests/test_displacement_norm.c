/* The displacement norm: engines keep its promise; and a stiff body whose velocity is in unresolved modes follows its
 * linear modes by few solves, whatever its stiffness, and keeps its energy. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <twang/twang.h>

#include "linalg/dense.h"
#include "support/run_suite.h"
#include "support/spectral_operator.h"

/* ---- engines, on an operator with a known spectrum ---- */

enum { SIZE = 400, OUTPUTS = 2, STARTS = 2 };

typedef struct entry {
    double h;
    int row, column; /* of phi_0(h J) - I applied to (F_x, F_v)/J: the step of a linear problem */
} entry;

/* h phi_1(hJ) (v, a) = (h c_1 v + h^2 c_2 a, -h^2 lambda c_2 v + h c_1 a) */
static double step_entry(const void *context, double lambda)
{
    const entry *f = context;
    double c[3];
    tw_stumpff(f->h * f->h * lambda, 3, c);
    if (f->row == f->column) return f->h * c[1];
    return f->h * f->h * c[2] * (f->row == 0 ? 1 : -lambda);
}

/* In modal coordinates: v and a of a body that was released from rest a while ago. */
static void released_body(const test_spectral *s, test_random *random, double *v, double *a)
{
    double mode_v[SIZE], mode_a[SIZE];
    for (int k = 0; k < SIZE; k++) {
        double load = test_random_normal(random), omega = sqrt(s->lambda[k]);
        mode_v[k] = load / omega * sin(17 * omega);
        mode_a[k] = load * cos(17 * omega);
    }
    test_spectral_from_modes(s, mode_v, v);
    test_spectral_from_modes(s, mode_a, a);
}

typedef struct promise {
    double error; /* largest, of the displacement norm, over the largest output */
    double
        v_error; /* of the velocity in the plain norm, over the velocity: nothing is promised for it */
    int64_t products, solves;
} promise;

static promise step_error(test_spectral *s, tw_phi_engine engine, double tolerance, double h,
                          const double *v, const double *a)
{
    entry entries[OUTPUTS * STARTS];
    tw_spectral_function functions[OUTPUTS * STARTS];
    double out[OUTPUTS][SIZE];
    for (int i = 0; i < OUTPUTS * STARTS; i++) {
        entries[i] = (entry){h, i / STARTS, i % STARTS};
        functions[i] = (tw_spectral_function){step_entry, &entries[i]};
    }
    tw_phi_limits limits = tw_phi_limits_default();
    limits.size = SIZE;
    limits.options.engine = engine;
    limits.options.tolerance = tolerance;
    tw_phi_workspace *workspace = NULL;
    ck_assert_int_eq(tw_phi_workspace_create(&limits, &workspace, NULL), TW_OK);
    tw_spectral_request request = {.start_count = STARTS,
                                   .starts = (const double *const[]){v, a},
                                   .output_count = OUTPUTS,
                                   .outputs = (double *const[]){out[0], out[1]},
                                   .functions = functions,
                                   .velocity = (const bool[]){false, true},
                                   .time = h};
    tw_phi_statistics statistics;
    tw_error error = {0};
    tw_status status = tw_spectral_apply(workspace, &s->op, &request, &statistics, &error);
    ck_assert_msg(status == TW_OK, "%s: %s", tw_phi_engine_name(engine), error.text);
    tw_phi_workspace_free(workspace);
    double y[STARTS][SIZE], found[OUTPUTS][SIZE], square[OUTPUTS][2] = {{0}}, plain[2] = {0};
    test_spectral_to_modes(s, v, y[0]);
    test_spectral_to_modes(s, a, y[1]);
    for (int i = 0; i < OUTPUTS; i++) test_spectral_to_modes(s, out[i], found[i]);
    for (int k = 0; k < SIZE; k++)
        for (int i = 0; i < OUTPUTS; i++) {
            double lambda = s->lambda[k], weight = i == 1 ? h / sqrt(1 + h * h * lambda) : 1;
            double exact = step_entry(&entries[i * STARTS], lambda) * y[0][k] +
                           step_entry(&entries[i * STARTS + 1], lambda) * y[1][k];
            square[i][0] += pow(weight * (found[i][k] - exact), 2);
            square[i][1] += pow(weight * exact, 2);
            if (i == 1) plain[0] += pow(found[i][k] - exact, 2), plain[1] += exact * exact;
        }
    double largest = fmax(square[0][1], square[1][1]);
    return (promise){.error = sqrt(fmax(square[0][0], square[1][0]) / largest),
                     .v_error = sqrt(plain[0] / plain[1]),
                     .products = statistics.products,
                     .solves = statistics.solves};
}

START_TEST(engines_keep_the_promise)
{
    const tw_phi_engine engines[] = {TW_PHI_LANCZOS, TW_PHI_CHEBYSHEV, TW_PHI_SHIFT_INVERT,
                                     TW_PHI_DENSE, TW_PHI_AUTO};
    test_random random = {41 + (uint64_t)_i};
    test_spectral *s = test_spectral_create(SIZE, TEST_SPECTRUM_GRADED,
                                            (test_mass)(_i % TEST_MASS_COUNT), 1e8, &random);
    ck_assert_ptr_nonnull(s);
    double v[SIZE], a[SIZE];
    released_body(s, &random, v, a);
    for (int e = 0; e < 5; e++)
        for (int k = 0; k < 2; k++) {
            double tolerance = k == 0 ? 0.1 : 1e-3;
            promise p = step_error(s, engines[e], tolerance, 0.05, v, a);
            printf("%-12s %.0e: error %.1e (velocity %.1e), %lld products, %lld solves\n",
                   tw_phi_engine_name(engines[e]), tolerance, p.error, p.v_error,
                   (long long)p.products, (long long)p.solves);
            ck_assert_double_le(p.error, tolerance);
        }
    test_spectral_free(s);
}
END_TEST

/* ---- a body ---- */

static const char body_text[] = "name: block\n"
                                "duration: 1.026\n"
                                "gravity: [0, 3, -9.81]\n"
                                "integrator: {name: exprb2, step: 0.057}\n"
                                "phi: {name: shift-invert, tolerance: 0.05, norm: displacement}\n"
                                "bodies:\n"
                                "  - kind: box\n"
                                "    size: [0.4, 0.3, 1.5]\n"
                                "    cells: [3, 2, 9]\n"
                                "    mass: 1\n"
                                "    stiffness: 1e2\n"
                                "    diagonal: 1e8\n"
                                "pins:\n"
                                "  - {body: 0, lowest: 0.05}\n";

typedef struct body {
    tw_scene *scene;
    tw_simulation *simulation;
    tw_integrator *integrator;
    int64_t n;
    double *omega, *shape, *load; /* modes of the body at rest, and its load in them */
} body;

static void find_modes(body *b)
{
    const tw_second_order_problem *p = tw_simulation_second_order(b->simulation);
    const double *u = tw_simulation_start(b->simulation);
    size_t n = (size_t)(b->n = p->space.local_size);
    double *unit = calloc(n, sizeof *unit), *a = malloc(n * sizeof *a);
    b->omega = malloc((n * n + 2 * n) * sizeof(double));
    b->load = b->omega + n;
    b->shape = b->load + n;
    ck_assert_int_eq(p->acceleration(p->context, 0, u, u + n, a), TW_OK);
    ck_assert_int_eq(p->linearise(p->context, 0, u, u + n), TW_OK);
    for (size_t j = 0; j < n; j++) {
        unit[j] = 1;
        ck_assert_int_eq(p->apply_stiffness(p->context, 1, unit, b->shape + j * n),
                         TW_OK); /* masses are 1 */
        unit[j] = 0;
    }
    double *scratch = malloc(tw_dense_eigen_scratch((int)n) * sizeof *scratch);
    ck_assert_int_eq(tw_symmetric_eigen((int)n, b->shape, b->omega, scratch), TW_OK);
    tw_dense_apply(true, (int)n, (int)n, b->shape, a, b->load);
    for (size_t k = 0; k < n; k++) b->omega[k] = sqrt(b->omega[k]);
    free(scratch);
    free(unit);
    free(a);
}

static void open_body(body *b, const char *diagonal, const char *scheme)
{
    const tw_scene_setting settings[] = {{"diagonal", "bodies.0.diagonal", diagonal},
                                         {"scheme", "integrator.name", scheme}};
    tw_error error = {0};
    ck_assert_msg(tw_scene_parse("block", body_text, strlen(body_text), 2, settings, &b->scene,
                                 &error) == TW_OK,
                  "%s", error.text);
    ck_assert_int_eq(tw_scene_build(b->scene, &b->simulation, &error), TW_OK);
    ck_assert_msg(tw_scene_create_integrator(b->scene, b->simulation, &b->integrator, &error) ==
                      TW_OK,
                  "%s", error.text);
    ck_assert_int_eq(
        tw_integrator_start(b->integrator, 0, tw_simulation_start(b->simulation), &error), TW_OK);
    find_modes(b);
}

static void close_body(body *b)
{
    tw_integrator_free(b->integrator);
    tw_simulation_free(b->simulation);
    tw_scene_free(b->scene);
    free(b->omega);
}

/* |x - exact| and |exact - rest| at t, in modes. */
static void compare(const body *b, double t, double *error, double *moved)
{
    const double *u = tw_integrator_state_view(b->integrator),
                 *rest = tw_simulation_start(b->simulation);
    double *x = malloc((size_t)(2 * b->n) * sizeof *x), *y = x + b->n, square[2] = {0};
    for (int64_t i = 0; i < b->n; i++) x[i] = u[i] - rest[i];
    tw_dense_apply(true, (int)b->n, (int)b->n, b->shape, x, y);
    for (int64_t k = 0; k < b->n; k++) {
        double exact = b->load[k] * (1 - cos(b->omega[k] * t)) / (b->omega[k] * b->omega[k]);
        square[0] += (y[k] - exact) * (y[k] - exact);
        square[1] += exact * exact;
    }
    *error = fmax(*error, sqrt(square[0]));
    *moved = fmax(*moved, sqrt(square[1]));
    free(x);
}

static double total_energy(body *b)
{
    double kinetic, potential;
    ck_assert_int_eq(tw_integrator_energy(b->integrator, &kinetic, &potential), TW_OK);
    return kinetic + potential;
}

static void follow(body *b, const char *diagonal, const char *scheme, int starts)
{
    enum { STEPS = 18 };
    double error = 0, moved = 0, kinetic = 0, potential = 0, largest = 0;
    open_body(b, diagonal, scheme);
    double energy = total_energy(b), drift = 0;
    int64_t before = 0, most = 0;
    for (int step = 1; step <= STEPS; step++) {
        tw_error failure = {0};
        ck_assert_msg(tw_integrator_step(b->integrator, STEPS * 0.057, &failure) == TW_OK, "%s",
                      failure.text);
        compare(b, step * 0.057, &error, &moved);
        ck_assert_int_eq(tw_integrator_energy(b->integrator, &kinetic, &potential), TW_OK);
        drift = fmax(drift, fabs(kinetic + potential - energy));
        largest = fmax(largest, kinetic);
        int64_t solves = tw_integrator_statistics_now(b->integrator).solves;
        if (solves - before > most) most = solves - before;
        before = solves;
    }
    printf("%s, diagonal %s: frequencies %.3g to %.3g 1/s, error %.3f, at most %lld solves per "
           "step, energy %.1e\n",
           scheme, diagonal, b->omega[0], b->omega[b->n - 1], error / moved, (long long)most,
           drift / largest);
    ck_assert_double_le(error, 0.1 * moved);
    ck_assert_int_le(most, 25 * starts);
    ck_assert_double_le(drift, 1e-3 * largest);
    close_body(b);
}

START_TEST(a_stiff_body_follows_its_modes)
{
    const char *diagonals[] = {"1e8", "1e10", "1e12"};
    follow(&(body){0}, diagonals[_i], "exprb2", 2);
    follow(&(body){0}, diagonals[_i], "exprb42", 3);
}
END_TEST

/* expmid2 filters all of the body's modes: nothing is left of the load that its functions' errors could be compared
 * with, but the load itself. */
START_TEST(expmid2_runs_where_nothing_is_resolved)
{
    const char *diagonals[] = {"1e8", "1e12"};
    body b = {0};
    tw_error error = {0};
    open_body(&b, diagonals[_i], "expmid2");
    ck_assert_msg(tw_integrator_advance(b.integrator, 1.026, &error) == TW_OK, "%s", error.text);
    tw_integrator_statistics counts = tw_integrator_statistics_now(b.integrator);

    /* Two of Newton, two start vectors for the correction of the stage, three for the step; and one more for
     * each of the two calls, because no space of the start vectors alone is judged. */
    ck_assert_int_le(counts.solves, 9 * counts.steps);
    close_body(&b);
}
END_TEST

/* In the state norm the same engine gives up. */
START_TEST(the_state_norm_does_not_do_it)
{
    body b = {0};
    const tw_scene_setting settings[] = {{"diagonal", "bodies.0.diagonal", "1e10"},
                                         {"norm", "phi.norm", "state"}};
    tw_error error = {0};
    ck_assert_int_eq(
        tw_scene_parse("block", body_text, strlen(body_text), 2, settings, &b.scene, &error),
        TW_OK);
    ck_assert_int_eq(tw_scene_build(b.scene, &b.simulation, &error), TW_OK);
    ck_assert_int_eq(tw_scene_create_integrator(b.scene, b.simulation, &b.integrator, &error),
                     TW_OK);
    ck_assert_int_eq(
        tw_integrator_start(b.integrator, 0, tw_simulation_start(b.simulation), &error), TW_OK);
    ck_assert_int_ne(tw_integrator_advance(b.integrator, 1.026, &error), TW_OK);
    close_body(&b);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("displacement norm");
    TCase *cases = tcase_create("cases");
    tcase_set_timeout(cases, 300);
    tcase_add_loop_test(cases, engines_keep_the_promise, 0, 3);
    tcase_add_loop_test(cases, a_stiff_body_follows_its_modes, 0, 3);
    tcase_add_loop_test(cases, expmid2_runs_where_nothing_is_resolved, 0, 2);
    tcase_add_test(cases, the_state_norm_does_not_do_it);
    suite_add_tcase(suite, cases);
    return run_suite(suite);
}
