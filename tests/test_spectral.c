/* The engines for symmetric second-order operators against exact modal results. */
/* labels: threads */
#define _POSIX_C_SOURCE 200809L /* pthread_barrier_t */
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <twang/cholesky.h>
#include <twang/memory.h>
#include <twang/parallel.h>
#include <twang/phi.h>
#include <twang/stumpff.h>

#include "problems/coil_case.h"
#include "problems/exprb42_step.h"
#include "problems/link_chain.h"
#include "problems/verlet_driver.h"
#include "support/failing_allocator.h"
#include "support/run_suite.h"
#include "support/spectral_trials.h"

/* The engines under test, with the trials each can afford and the share of them it must succeed in. */
static const struct {
    tw_phi_engine engine;
    int trials;
    double tau_high, successes;
} spectral_engines[] = {{TW_PHI_LANCZOS, 1000, 1e5, 0.8},
                        {TW_PHI_SHIFT_INVERT, 600, 1e5, 0.8},
                        {TW_PHI_CHEBYSHEV, 1000, 1e3, 0.9}};

static tw_phi_workspace *workspace_of(int64_t n, tw_phi_engine engine, double tolerance)
{
    tw_phi_limits limits = tw_phi_limits_default();
    tw_phi_workspace *workspace = NULL;
    limits.size = n;
    limits.slots = 2;
    limits.options.engine = engine;
    limits.options.tolerance = tolerance;
    ck_assert_int_eq(tw_phi_workspace_create(&limits, &workspace, NULL), TW_OK);
    return workspace;
}

/* f = c_k(t^2 lambda), or chi c_k with the filter chi = exp(-(t^2 lambda / 4)^4). */
typedef struct scalar {
    double t;
    int k;
    bool filtered;
} scalar;

static double scalar_value(const void *context, double lambda)
{
    const scalar *f = context;
    double c[8], z = f->t * f->t * lambda;
    tw_stumpff(z, f->k + 1, c);
    return f->filtered ? c[f->k] * exp(-pow(z / 4, 4)) : c[f->k];
}

/* sum_j f_j(A) b_j exactly. */
static void exact_sum(const test_spectral *s, int count, const scalar *f, const double *const *b,
                      double *out)
{
    double *modes = calloc((size_t)(2 * s->n), sizeof *modes), *sum = modes + s->n;
    for (int j = 0; j < count; j++) {
        test_spectral_to_modes(s, b[j], modes);
        for (int64_t i = 0; i < s->n; i++) sum[i] += scalar_value(&f[j], s->lambda[i]) * modes[i];
    }
    test_spectral_from_modes(s, sum, out);
    free(modes);
}

static double *random_vectors(int64_t n, int count, uint64_t seed)
{
    test_random random = {seed};
    double *v = malloc((size_t)n * (size_t)count * sizeof *v);
    for (int64_t i = 0; i < n * count; i++) v[i] = test_random_normal(&random);
    return v;
}

START_TEST(true_errors_stay_within_the_promise)
{
    const int engine = _i;
    int successes = 0, above_ten = 0;
    for (int i = 0; i < spectral_engines[engine].trials; i++) {
        test_random random = {(uint64_t)i * 7919u + 17u};
        test_trial t = test_trial_draw(&random, 400, 1e-5, spectral_engines[engine].tau_high);
        test_outcome o = test_trial_run(spectral_engines[engine].engine, &t, &random);
        ck_assert_msg(o.finite, "trial %d gave a value that is not finite", i);
        bool said = o.status == TW_ILL_CONDITIONED || o.status == TW_NOT_FINITE ||
                    o.status == TW_NOT_CONVERGED || o.status == TW_BUDGET_EXHAUSTED ||
                    o.status == TW_NOT_POSITIVE_DEFINITE;
        ck_assert_msg(o.status == TW_OK || said, "trial %d: %s", i, tw_status_name(o.status));
        if (o.status != TW_OK) continue;
        successes++;
        above_ten += o.excess > 10;
        ck_assert_msg(
            o.excess <= 1000,
            "trial %d (n %lld, spectrum %d, mass %d, tau %g, tol %g): %g times the tolerance", i,
            (long long)t.n, (int)t.spectrum, (int)t.mass, t.tau, t.tolerance, o.excess);
    }
    ck_assert_double_ge(successes,
                        spectral_engines[engine].successes * spectral_engines[engine].trials);
    ck_assert_msg(above_ten <= 0.005 * successes, "%d of %d above ten times the tolerance",
                  above_ten, successes);
}
END_TEST

static int64_t exprb42_products(tw_phi_engine engine, double h_omega)
{
    link_chain *chain = fpu_beta_create(1000, 7);
    problem p = link_chain_problem(chain);
    p.linearise(p.context, chain->initial_x);
    tw_second_order op = problem_second_order(&p);
    tw_phi_workspace *workspace = workspace_of(1000, engine, 1e-6);
    tw_phi_statistics statistics;
    exprb42 stepper;
    ck_assert_int_eq(exprb42_create(&p, workspace, &stepper), TW_OK);
    double h = h_omega / problem_frequency_max(&p, 200);
    ck_assert_int_eq(
        exprb42_step(&stepper, &op, h, chain->initial_x, chain->initial_v, &statistics, NULL),
        TW_OK);
    exprb42_free(&stepper);
    tw_phi_workspace_free(workspace);
    link_chain_free(chain);
    return statistics.products;
}

START_TEST(fpu_chain_takes_few_products)
{
    ck_assert_int_le(exprb42_products(TW_PHI_LANCZOS, 100), 150);
    ck_assert_int_le(exprb42_products(TW_PHI_LANCZOS, 20), 46);
}
END_TEST

START_TEST(one_basis_serves_other_functions_and_smaller_times)
{
    enum { N = 300 };
    test_random random = {5};
    test_spectral *s = test_spectral_create(N, TEST_SPECTRUM_CHAIN, TEST_MASS_LUMPED, 1, &random);
    double *b = random_vectors(N, 4, 9), *out = b + 2 * N, *exact = b + 3 * N;
    const double *starts[2] = {b, b + N};
    tw_phi_workspace *workspace = workspace_of(N, TW_PHI_LANCZOS, 1e-8);
    scalar f[2] = {{40, 1, false}, {40, 2, false}};
    tw_spectral_function functions[2] = {{scalar_value, &f[0]}, {scalar_value, &f[1]}};
    tw_spectral_request request = {.start_count = 2,
                                   .starts = starts,
                                   .output_count = 1,
                                   .outputs = &out,
                                   .functions = functions,
                                   .time = 40,
                                   .slot = 1};
    tw_phi_statistics statistics;
    ck_assert_int_eq(tw_spectral_apply(workspace, &s->op, &request, &statistics, NULL), TW_OK);
    exact_sum(s, 2, f, starts, exact);
    ck_assert_double_le(relative_difference(N, out, exact), 1e-8);
    ck_assert_int_eq(statistics.products, s->products);

    f[0] = (scalar){25, 0, false}, f[1] = (scalar){2, 1, true};
    ck_assert_int_eq(tw_spectral_reuse(workspace, &request, &statistics, NULL), TW_OK);
    exact_sum(s, 2, f, starts, exact);
    ck_assert_double_le(relative_difference(N, out, exact), 1e-8);
    ck_assert_int_eq(statistics.products, 0);

    f[0].t = f[1].t = 60;
    ck_assert_int_eq(tw_spectral_reuse(workspace, &request, &statistics, NULL), TW_NOT_CONVERGED);
    for (int i = 0; i < N; i++) ck_assert_double_eq(out[i], 0);

    /* A slot that was never filled, and one that phi-evaluations must not disturb. */
    request.slot = 0;
    ck_assert_int_eq(tw_spectral_reuse(workspace, &request, &statistics, NULL), TW_UNSUPPORTED);
    tw_phi_workspace_free(workspace);
    test_spectral_free(s);
    free(b);
}
END_TEST

/* A similar request before this one says how large the spaces become. Wrong expectations cost
 * products, not accuracy. */
START_TEST(expected_dimensions_spare_estimates)
{
    enum { N = 300 };
    test_random random = {5};
    test_spectral *s = test_spectral_create(N, TEST_SPECTRUM_CHAIN, TEST_MASS_LUMPED, 1, &random);
    double *b = random_vectors(N, 4, 9), *out = b + 2 * N, *exact = b + 3 * N;
    const double *starts[2] = {b, b + N};
    tw_phi_workspace *workspace = workspace_of(N, TW_PHI_LANCZOS, 1e-8);
    scalar f[2] = {{40, 1, false}, {3, 2, false}};
    tw_spectral_function functions[2] = {{scalar_value, &f[0]}, {scalar_value, &f[1]}};
    int dimensions[2] = {0, 0};
    tw_spectral_request request = {.start_count = 2,
                                   .starts = starts,
                                   .output_count = 1,
                                   .outputs = &out,
                                   .functions = functions,
                                   .time = 40,
                                   .dimensions = dimensions};
    exact_sum(s, 2, f, starts, exact);

    /* Without any expectation. */
    tw_phi_statistics first;
    ck_assert_int_eq(tw_spectral_apply(workspace, &s->op, &request, &first, NULL), TW_OK);
    ck_assert_double_le(relative_difference(N, out, exact), 1e-8);
    ck_assert_int_gt(dimensions[0], 2 * dimensions[1]);
    ck_assert_int_gt(dimensions[1], 0);

    /* The same again, with fewer estimates and hardly more products. */
    tw_phi_statistics second;
    ck_assert_int_eq(tw_spectral_apply(workspace, &s->op, &request, &second, NULL), TW_OK);
    ck_assert_double_le(relative_difference(N, out, exact), 1e-8);
    ck_assert_int_le(2 * second.rejected, first.rejected);
    ck_assert_double_le((double)second.products, 1.1 * (double)first.products);

    /* Nonsense. */
    const int wrong[][2] = {{1, 1}, {-7, 1000000}, {2147483647, -2147483647}};
    for (int i = 0; i < 3; i++) {
        memcpy(dimensions, wrong[i], sizeof dimensions);
        ck_assert_int_eq(tw_spectral_apply(workspace, &s->op, &request, &second, NULL), TW_OK);
        ck_assert_double_le(relative_difference(N, out, exact), 1e-8);
    }
    tw_phi_workspace_free(workspace);
    test_spectral_free(s);
    free(b);
}
END_TEST

START_TEST(contributions_that_cancel_are_not_trusted_too_early)
{
    enum { N = 400 };
    test_random random = {6};
    test_spectral *s = test_spectral_create(N, TEST_SPECTRUM_UNIFORM, TEST_MASS_UNIT, 1, &random);
    double *b = random_vectors(N, 4, 10), *out = b + 2 * N, *exact = b + 3 * N;
    for (int i = 0; i < N; i++) b[N + i] = -b[i] * (1 + 1e-6 * cos(i));
    const double *starts[2] = {b, b + N};
    tw_phi_workspace *workspace = workspace_of(N, TW_PHI_LANCZOS, 1e-4);
    scalar f[2] = {{30, 0, false}, {30, 0, false}};
    tw_spectral_function functions[2] = {{scalar_value, &f[0]}, {scalar_value, &f[1]}};
    tw_spectral_request request = {.start_count = 2,
                                   .starts = starts,
                                   .output_count = 1,
                                   .outputs = &out,
                                   .functions = functions,
                                   .time = 30};
    ck_assert_int_eq(tw_spectral_apply(workspace, &s->op, &request, NULL, NULL), TW_OK);
    exact_sum(s, 2, f, starts, exact);
    ck_assert_double_le(relative_difference(N, out, exact), 1e-3);
    tw_phi_workspace_free(workspace);
    test_spectral_free(s);
    free(b);
}
END_TEST

START_TEST(a_small_pool_costs_a_second_pass_and_no_accuracy)
{
    enum { N = 1500 };
    for (int mass = 0; mass < TEST_MASS_COUNT; mass++) {
        test_random random = {8};
        test_spectral *s =
            test_spectral_create(N, TEST_SPECTRUM_CHAIN, (test_mass)mass, 1, &random);
        double *b = random_vectors(N, 4, 11), *out = b + 2 * N, *exact = b + 3 * N;
        const double *starts[2] = {b, b + N};
        scalar f[2] = {{100, 0, false}, {60, 1, false}};
        tw_spectral_function functions[2] = {{scalar_value, &f[0]}, {scalar_value, &f[1]}};
        tw_spectral_request request = {.start_count = 2,
                                       .starts = starts,
                                       .output_count = 1,
                                       .outputs = &out,
                                       .functions = functions,
                                       .time = 100};
        tw_phi_limits limits = tw_phi_limits_default();
        limits.size = N;
        limits.options.engine = TW_PHI_LANCZOS;
        limits.basis_bytes = 40.0 * N * sizeof(double);
        tw_phi_workspace *workspace = NULL;
        ck_assert_int_eq(tw_phi_workspace_create(&limits, &workspace, NULL), TW_OK);
        tw_phi_statistics statistics;
        ck_assert_int_eq(tw_spectral_apply(workspace, &s->op, &request, &statistics, NULL), TW_OK);
        exact_sum(s, 2, f, starts, exact);
        ck_assert_double_le(relative_difference(N, out, exact), 1e-8);
        ck_assert_int_gt(statistics.products, 120);
        ck_assert_int_eq(statistics.products, s->products);
        tw_phi_workspace_free(workspace);
        test_spectral_free(s);
        free(b);
    }
}
END_TEST

START_TEST(zero_vectors_cost_nothing)
{
    enum { N = 50 };
    test_random random = {8};
    test_spectral *s = test_spectral_create(N, TEST_SPECTRUM_CHAIN, TEST_MASS_LUMPED, 1, &random);
    double u[2 * N] = {0}, w[2 * N];
    tw_phi_workspace *workspace = workspace_of(N, TW_PHI_LANCZOS, 1e-8);
    tw_phi_request request = {.time = 3,
                              .node_count = 1,
                              .nodes = (double[]){1},
                              .order = 1,
                              .vectors = (const double *const[]){NULL, u},
                              .outputs = (double *const[]){w}};
    ck_assert_int_eq(tw_phi_evaluate_second_order(workspace, &s->op, &request, NULL, NULL), TW_OK);
    ck_assert_int_eq(s->products, 0);
    u[3] = 1; /* the v-part is still zero: one start vector */
    tw_phi_statistics statistics;
    ck_assert_int_eq(tw_phi_evaluate_second_order(workspace, &s->op, &request, &statistics, NULL),
                     TW_OK);
    ck_assert_int_eq(s->products, statistics.dimension);
    request.time = 0;
    s->products = 0;
    ck_assert_int_eq(tw_phi_evaluate_second_order(workspace, &s->op, &request, &statistics, NULL),
                     TW_OK);
    ck_assert_int_eq(s->products, 0);
    ck_assert_double_eq(w[3], 1);
    tw_phi_workspace_free(workspace);
    test_spectral_free(s);
}
END_TEST

START_TEST(what_does_not_apply_or_overflows_is_said)
{
    enum { N = 40 };
    test_random random = {12};
    test_spectral *s = test_spectral_create(N, TEST_SPECTRUM_NEGATIVE, TEST_MASS_UNIT, 1, &random);
    double *u = random_vectors(N, 2, 13), w[2 * N];
    tw_phi_workspace *workspace = workspace_of(N, TW_PHI_LANCZOS, 1e-8);
    tw_phi_request request = {.time = 1e4,
                              .node_count = 1,
                              .nodes = (double[]){1},
                              .vectors = (const double *const[]){u},
                              .outputs = (double *const[]){w}};
    tw_error error;
    ck_assert_int_eq(tw_phi_evaluate_second_order(workspace, &s->op, &request, NULL, &error),
                     TW_NOT_FINITE);
    for (int i = 0; i < 2 * N; i++) ck_assert_double_eq(w[i], 0);
    request.time = 1;
    tw_second_order other = s->op;
    other.damping = &s->op.stiffness;
    ck_assert_int_eq(tw_phi_evaluate_second_order(workspace, &other, &request, NULL, &error),
                     TW_UNSUPPORTED);
    other = s->op;
    other.stiffness.symmetry = TW_GENERAL;
    ck_assert_int_eq(tw_phi_evaluate_second_order(workspace, &other, &request, NULL, &error),
                     TW_UNSUPPORTED);
    u[5] = NAN;
    ck_assert_int_eq(tw_phi_evaluate_second_order(workspace, &s->op, &request, NULL, &error),
                     TW_NOT_FINITE);

    /* The text of a wrong value says which it is. */
    tw_spectral_function one = {scalar_value, NULL};
    tw_spectral_request functions = {.start_count = 1,
                                     .starts = (const double *const[]){u},
                                     .output_count = 1,
                                     .outputs = (double *const[]){w},
                                     .functions = &one,
                                     .time = NAN};
    ck_assert_int_eq(tw_spectral_apply(workspace, &s->op, &functions, NULL, &error), TW_NOT_FINITE);
    ck_assert_ptr_nonnull(strstr(error.text, "time is not finite"));
    tw_phi_workspace_free(workspace);
    test_spectral_free(s);
    free(u);
}
END_TEST

/* One exprb42 step of a long chain, as bits. */
static void step_bits(tw_phi_engine engine, int threads, double *state)
{
    enum { N = 20000 };
    tw_set_threads(threads);
    link_chain *chain = fpu_beta_create(N, 3);
    problem p = link_chain_problem(chain);
    p.linearise(p.context, chain->initial_x);
    tw_sparse *K = NULL;
    tw_shifted_cholesky *solver = NULL;
    ck_assert_int_eq(problem_create_stiffness(&p, TW_STORE_UPPER, &K, NULL), TW_OK);
    problem_fill_stiffness(&p, K);
    tw_second_order op = problem_second_order_assembled(&p, K);
    ck_assert_int_eq(tw_shifted_cholesky_create(K, NULL, NULL, &solver, NULL), TW_OK);
    op.shifted = tw_shifted_cholesky_view(solver);
    tw_phi_workspace *workspace =
        workspace_of(N, engine, engine == TW_PHI_SHIFT_INVERT ? 1e-2 : 1e-6);
    tw_phi_statistics statistics;
    exprb42 stepper;
    ck_assert_int_eq(exprb42_create(&p, workspace, &stepper), TW_OK);
    ck_assert_int_eq(
        exprb42_step(&stepper, &op, 5, chain->initial_x, chain->initial_v, &statistics, NULL),
        TW_OK);
    memcpy(state, chain->initial_x, N * sizeof *state);
    memcpy(state + N, chain->initial_v, N * sizeof *state);
    exprb42_free(&stepper);
    tw_phi_workspace_free(workspace);
    tw_shifted_cholesky_free(solver);
    tw_sparse_free(K);
    link_chain_free(chain);
    tw_set_threads(0);
}

START_TEST(any_number_of_threads_gives_the_same_bits)
{
    enum { BYTES = 40000 * sizeof(double) };
    const int threads[] = {2, 3, 8};
    double *one = malloc(BYTES), *more = malloc(BYTES);
    step_bits(spectral_engines[_i].engine, 1, one);
    for (int k = 0; k < 3; k++) {
        step_bits(spectral_engines[_i].engine, threads[k], more);
        ck_assert_mem_eq(one, more, BYTES);
    }
    free(one);
    free(more);
}
END_TEST

START_TEST(chebyshev_survives_a_wrong_bound)
{
    enum { N = 300 };
    const double given[] = {0.2, 0.9, 1.3}; /* of the true largest eigenvalue */
    const test_spectrum spectra[] = {TEST_SPECTRUM_CHAIN, TEST_SPECTRUM_INDEFINITE};
    for (int k = 0; k < 6; k++) {
        test_random random = {17};
        test_spectral *s = test_spectral_create(N, spectra[k % 2], TEST_MASS_LUMPED, 1, &random);
        double *b = random_vectors(N, 3, 15), *out = b + N, *exact = b + 2 * N;
        const double *start = b;
        scalar f = {30, 1, false};
        tw_spectral_function function = {scalar_value, &f};
        tw_spectral_request request = {.start_count = 1,
                                       .starts = &start,
                                       .output_count = 1,
                                       .outputs = &out,
                                       .functions = &function,
                                       .time = f.t};
        tw_phi_statistics statistics;
        s->op.eigenvalue_max = given[k / 2];
        tw_phi_workspace *workspace = workspace_of(N, TW_PHI_CHEBYSHEV, 1e-9);
        ck_assert_int_eq(tw_spectral_apply(workspace, &s->op, &request, &statistics, NULL), TW_OK);
        exact_sum(s, 1, &f, &start, exact);
        ck_assert_double_le(relative_difference(N, out, exact), 1e-8);
        ck_assert_int_eq(statistics.products, s->products);
        ck_assert_int_eq(tw_spectral_reuse(workspace, &request, NULL, NULL), TW_UNSUPPORTED);
        tw_phi_workspace_free(workspace);
        test_spectral_free(s);
        free(b);
    }
}
END_TEST

/* ---- shift-invert on the coil ---- */

static tw_phi_statistics coil_update(const coil_case *c, tw_phi_engine engine, double h,
                                     double tolerance, double *out)
{
    tw_phi_statistics statistics;
    ck_assert_int_eq(coil_case_update(c, engine, tolerance, h, out, &statistics, NULL), TW_OK);
    return statistics;
}

/* A hundredth of a second: h omega_max is 33 at the coil's own stiffness, 3,329 at ten thousand times that; short
 * enough for lanczos to be the oracle in the first two. The full reach is in test_spectral_coil.c. */
START_TEST(engines_agree_on_a_short_coil)
{
    const double factors[] = {1, 100};
    coil_parameters parameters = coil_default();
    parameters.sections = 60;
    parameters.stiffness *= factors[_i];
    coil_case c;
    ck_assert_int_eq(coil_case_create(parameters, 0, &c, NULL), TW_OK);
    verlet_run(&c.p, 1.5 / problem_frequency_max(&c.p, 50), 400, c.x, c.v, c.a);
    coil_case_linearise(&c);
    int64_t products = coil_update(&c, TW_PHI_LANCZOS, 0.02, 1e-9, c.exact).products;
    tw_phi_statistics s = coil_update(&c, TW_PHI_CHEBYSHEV, 0.02, 1e-9, c.out);
    ck_assert_double_le(relative_difference(c.p.size, c.out, c.exact), 1e-8);
    ck_assert_double_le((double)s.products, 1.25 * (double)products);
    const double tolerances[] = {1e-2, 1e-3, 1e-4};
    for (int k = 0; k < 3; k++) {
        s = coil_update(&c, TW_PHI_SHIFT_INVERT, 0.02, tolerances[k], c.out);
        double error = relative_difference(c.p.size, c.out, c.exact);
        ck_assert_msg(error <= tolerances[k], "error %g at tolerance %g", error, tolerances[k]);
        ck_assert_double_gt(s.pole, 0);
        ck_assert_int_eq(s.factorisations, 1);
    }
    coil_case_free(&c);
}
END_TEST

/* Compressed springs push sideways: K has negative eigenvalues, and M + gamma K is not positive definite at the gamma
 * first chosen. */
START_TEST(a_buckled_state_shrinks_gamma)
{
    coil_parameters parameters = coil_default();
    parameters.sections = 40;
    coil_case c;
    ck_assert_int_eq(coil_case_create(parameters, 0, &c, NULL), TW_OK);
    const double h = 0.02, asked = 0.04 * h * h; /* sigma 0.2 at 1e-3 */
    for (int64_t i = 0; i < c.p.size; i++) c.exact[i] = sin(0.003 * (double)i);
    for (int k = 0; k < 3; k++) { /* a velocity that the resting coil could have */
        ck_assert_int_eq(c.op.shifted->factor(c.op.shifted->context, h * h), TW_OK);
        ck_assert_int_eq(c.op.shifted->solve(c.op.shifted->context, 1, c.exact, c.v), TW_OK);
        memcpy(c.exact, c.v, (size_t)c.p.size * sizeof *c.v);
    }
    for (int64_t i = 0; i < c.p.size; i++) c.x[i] *= 0.9;
    coil_case_linearise(&c);
    memset(c.a, 0, (size_t)c.p.size * sizeof *c.a);
    coil_update(&c, TW_PHI_LANCZOS, h, 1e-9, c.exact);
    tw_phi_statistics s = coil_update(&c, TW_PHI_SHIFT_INVERT, h, 1e-3, c.out);
    ck_assert_double_lt(s.pole, 0.5 * asked);
    ck_assert_int_gt(s.factorisations, 1);
    ck_assert_double_le(relative_difference(c.p.size, c.out, c.exact), 1e-3);
    coil_case_free(&c);
}
END_TEST

static tw_status never_definite(void *context, double gamma)
{
    (void)context, (void)gamma;
    return TW_NOT_POSITIVE_DEFINITE;
}

START_TEST(what_cannot_be_factorised_is_reported)
{
    enum { N = 30 };
    test_random random = {12};
    test_spectral *s = test_spectral_create(N, TEST_SPECTRUM_CHAIN, TEST_MASS_UNIT, 1, &random);
    double *u = random_vectors(N, 2, 13), w[2 * N];
    tw_phi_workspace *workspace = workspace_of(N, TW_PHI_SHIFT_INVERT, 1e-4);
    tw_phi_request request = {.time = 3,
                              .node_count = 1,
                              .nodes = (double[]){1},
                              .vectors = (const double *const[]){u},
                              .outputs = (double *const[]){w}};
    s->shifted.factor = never_definite;
    ck_assert_int_eq(tw_phi_evaluate_second_order(workspace, &s->op, &request, NULL, NULL),
                     TW_NOT_POSITIVE_DEFINITE);
    s->op.shifted = NULL;
    ck_assert_int_eq(tw_phi_evaluate_second_order(workspace, &s->op, &request, NULL, NULL),
                     TW_UNSUPPORTED);
    for (int i = 0; i < 2 * N; i++) ck_assert_double_eq(w[i], 0);
    tw_phi_workspace_free(workspace);
    test_spectral_free(s);
    free(u);
}
END_TEST

/* A filtered function needs few solves, and a smoothed start gives the same. */
START_TEST(smoothed_starts_give_the_same_result)
{
    enum { N = 400 };
    test_random random = {14};
    test_spectral *s = test_spectral_create(N, TEST_SPECTRUM_UNIFORM, TEST_MASS_UNIT, 1e6, &random);
    double *b = random_vectors(N, 3, 15), *out = b + N, *exact = b + 2 * N;
    const double *start = b;
    scalar f = {0.05, 1, true};
    tw_spectral_function function = {scalar_value, &f};
    tw_spectral_request request = {.start_count = 1,
                                   .starts = &start,
                                   .output_count = 1,
                                   .outputs = &out,
                                   .functions = &function,
                                   .time = f.t};
    exact_sum(s, 1, &f, &start, exact);
    tw_phi_workspace *workspace = workspace_of(N, TW_PHI_SHIFT_INVERT, 1e-5);
    int64_t solves[2];
    for (int smooth = 0; smooth < 2; smooth++) {
        tw_phi_statistics statistics;
        request.smooth = smooth;
        ck_assert_int_eq(tw_spectral_apply(workspace, &s->op, &request, &statistics, NULL), TW_OK);
        ck_assert_double_le(relative_difference(N, out, exact), 1e-5);
        ck_assert_int_eq(tw_spectral_reuse(workspace, &request, NULL, NULL), TW_OK);
        ck_assert_double_le(relative_difference(N, out, exact), 1e-5);
        solves[smooth] = statistics.solves;
        ck_assert_int_le(statistics.solves, 40);
    }
    ck_assert_int_le(solves[1], solves[0] + 1);
    tw_phi_workspace_free(workspace);
    test_spectral_free(s);
    free(b);
}
END_TEST

static tw_status create_and_free(void *context)
{
    const tw_phi_limits *limits = context;
    tw_phi_workspace *workspace = NULL;
    tw_status status = tw_phi_workspace_create(limits, &workspace, NULL);
    tw_phi_workspace_free(workspace);
    return status;
}

START_TEST(every_allocation_may_fail)
{
    tw_phi_limits limits = tw_phi_limits_default();
    limits.size = 10;
    limits.options.engine = spectral_engines[_i].engine;
    ck_assert_int_gt(test_fail_each_allocation(create_and_free, &limits), 2);
}
END_TEST

START_TEST(calls_allocate_nothing)
{
    enum { N = 60 };
    test_random random = {12};
    test_spectral *s =
        test_spectral_create(N, TEST_SPECTRUM_CHAIN, TEST_MASS_CONSISTENT, 1, &random);
    double *u = random_vectors(N, 2, 13), w[2 * N];
    tw_phi_workspace *workspace = workspace_of(N, spectral_engines[_i].engine, 1e-8);
    tw_phi_request request = {.time = 7,
                              .node_count = 1,
                              .nodes = (double[]){1},
                              .vectors = (const double *const[]){u},
                              .outputs = (double *const[]){w}};
    int64_t before = tw_memory_counts_now().allocations;
    ck_assert_int_eq(tw_phi_evaluate_second_order(workspace, &s->op, &request, NULL, NULL), TW_OK);
    ck_assert_int_eq(tw_memory_counts_now().allocations, before);
    tw_phi_workspace_free(workspace);
    test_spectral_free(s);
    free(u);
}
END_TEST

/* ---- two ranks, played by two threads: the operator is two blocks that do not touch ---- */

typedef struct rank_meeting {
    pthread_barrier_t barrier;
    double values[2][TW_PHI_MAX_NODES * 64];
} rank_meeting;

typedef struct rank {
    rank_meeting *meeting;
    int number;
    tw_phi_engine engine;
    test_spectral *s;
    double *u, *w;
    tw_status status;
} rank;

static tw_status reduce_over_ranks(void *context, double *values, int count)
{
    const rank *own = context;
    rank_meeting *meeting = own->meeting;
    memcpy(meeting->values[own->number], values, (size_t)count * sizeof *values);
    pthread_barrier_wait(&meeting->barrier);
    for (int i = 0; i < count; i++) values[i] = meeting->values[0][i] + meeting->values[1][i];
    pthread_barrier_wait(&meeting->barrier);
    return TW_OK;
}

static void *run_rank(void *context)
{
    rank *own = context;
    own->s->op.stiffness.space.reduce = reduce_over_ranks;
    own->s->op.stiffness.space.context = own;
    tw_set_threads(1);
    tw_phi_workspace *workspace = workspace_of(own->s->n, own->engine, 1e-9);
    tw_phi_request request = {.time = 30,
                              .node_count = 1,
                              .nodes = (double[]){1},
                              .vectors = (const double *const[]){own->u},
                              .outputs = (double *const[]){own->w}};
    own->status = tw_phi_evaluate_second_order(workspace, &own->s->op, &request, NULL, NULL);
    tw_phi_workspace_free(workspace);
    return NULL;
}

START_TEST(two_ranks_agree_with_the_exact_result)
{
    enum { N = 60 };
    rank_meeting meeting;
    rank ranks[2];
    pthread_t threads[2];
    double *u = random_vectors(N, 8, 21);
    pthread_barrier_init(&meeting.barrier, NULL, 2);
    for (int r = 0; r < 2; r++) {
        test_random random = {30 + (uint64_t)r};
        test_spectral *s =
            test_spectral_create(N, TEST_SPECTRUM_UNIFORM, TEST_MASS_LUMPED, r ? 1 : 0.3, &random);
        double *own = u + 4 * N * r;
        for (int i = N; i < 2 * N; i++) own[i] = 0;
        ranks[r] =
            (rank){&meeting, r, spectral_engines[_i].engine, s, own, own + 2 * N, TW_INTERNAL};
        pthread_create(&threads[r], NULL, run_rank, &ranks[r]);
    }
    for (int r = 0; r < 2; r++) pthread_join(threads[r], NULL);
    for (int r = 0; r < 2; r++) {
        scalar f = {30, 0, false};
        double exact[N];
        const double *start = ranks[r].u;
        ck_assert_int_eq(ranks[r].status, TW_OK);
        exact_sum(ranks[r].s, 1, &f, &start, exact);
        ck_assert_double_le(relative_difference(N, ranks[r].w, exact), 1e-8);
        test_spectral_free(ranks[r].s);
    }
    pthread_barrier_destroy(&meeting.barrier);
    free(u);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("spectral");
    TCase *cases = tcase_create("spectral");
    int engines = sizeof spectral_engines / sizeof *spectral_engines;
    tcase_set_timeout(cases, 120);
    tcase_add_loop_test(cases, true_errors_stay_within_the_promise, 0, engines);
    tcase_add_test(cases, fpu_chain_takes_few_products);
    tcase_add_test(cases, one_basis_serves_other_functions_and_smaller_times);
    tcase_add_test(cases, expected_dimensions_spare_estimates);
    tcase_add_test(cases, contributions_that_cancel_are_not_trusted_too_early);
    tcase_add_test(cases, a_small_pool_costs_a_second_pass_and_no_accuracy);
    tcase_add_test(cases, zero_vectors_cost_nothing);
    tcase_add_test(cases, what_does_not_apply_or_overflows_is_said);
    tcase_add_test(cases, chebyshev_survives_a_wrong_bound);
    tcase_add_loop_test(cases, engines_agree_on_a_short_coil, 0, 2);
    tcase_add_test(cases, a_buckled_state_shrinks_gamma);
    tcase_add_test(cases, what_cannot_be_factorised_is_reported);
    tcase_add_test(cases, smoothed_starts_give_the_same_result);
    tcase_add_loop_test(cases, any_number_of_threads_gives_the_same_bits, 0, engines);
    tcase_add_loop_test(cases, every_allocation_may_fail, 0, engines);
    tcase_add_loop_test(cases, calls_allocate_nothing, 0, engines);
    tcase_add_loop_test(cases, two_ranks_agree_with_the_exact_result, 0, engines);
    suite_add_tcase(suite, cases);
    return run_suite(suite);
}
