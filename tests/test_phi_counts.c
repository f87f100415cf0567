/* What the engines cost on the problems they are meant for: products and solves, never seconds. */
/* labels: slow */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <twang/twang.h>

#include "problems/coil_case.h"
#include "problems/exprb42_step.h"
#include "problems/link_chain.h"
#include "support/run_suite.h"

enum { CHAIN = 1000 };
static const double pi = 3.14159265358979323846;

static double *vector(int64_t n)
{
    double *x = calloc((size_t)n, sizeof *x);
    ck_assert_ptr_nonnull(x);
    return x;
}

static tw_phi_workspace *workspace_for(int64_t size, tw_phi_engine engine, double tolerance)
{
    tw_error error = {0};
    tw_phi_limits limits = tw_phi_limits_default();
    limits.size = size;
    limits.options.engine = engine;
    limits.options.tolerance = tolerance;
    tw_phi_workspace *workspace = NULL;
    ck_assert_msg(tw_phi_workspace_create(&limits, &workspace, &error) == TW_OK, "%s", error.text);
    return workspace;
}

/* ---- FPU-beta: at x = 0 the tangent is the linear chain, whose eigenvectors are sines: an exact oracle. ---- */

/* out = S in, the orthogonal symmetric sine transform. */
static void sine_transform(const double *in, double *out)
{
    for (int j = 0; j < CHAIN; j++) {
        out[j] = 0;
        for (int i = 0; i < CHAIN; i++)
            out[j] += sin(pi * (j + 1.0) * (i + 1.0) / (CHAIN + 1.0)) * in[i];
        out[j] *= sqrt(2.0 / (CHAIN + 1.0));
    }
}

/* The step's data in the eigenvectors' coordinates. */
typedef struct chain_modes {
    double lambda[CHAIN], v[CHAIN], d2[CHAIN];
} chain_modes;

/* x + h c_1 v + h^2 weight c_4 d2 and v - h^2 A c_2 v + h weight c_3 d2 with all c_k at h^2 A; a(0) = 0. */
static void combine_modes(const chain_modes *modes, double h, double weight, double *x, double *v)
{
    double *xs = vector(CHAIN), *vs = vector(CHAIN), c[5];
    for (int j = 0; j < CHAIN; j++) {
        double z = h * h * modes->lambda[j];
        tw_stumpff(z, 5, c);
        xs[j] = h * c[1] * modes->v[j] + h * h * weight * c[4] * modes->d2[j];
        vs[j] = c[0] * modes->v[j] + h * weight * c[3] * modes->d2[j];
    }
    sine_transform(xs, x);
    sine_transform(vs, v);
    free(xs), free(vs);
}

/* The exprb42 step from x = 0 with exact functions. */
static void exact_exprb42_step(const problem *p, const double *v0, double h, double *x, double *v)
{
    chain_modes *modes = calloc(1, sizeof *modes);
    double *x2 = vector(CHAIN), *a2 = vector(CHAIN), *product = vector(CHAIN);
    ck_assert_ptr_nonnull(modes);
    for (int j = 0; j < CHAIN; j++)
        modes->lambda[j] = 4 * pow(sin(pi * (j + 1) / (2 * (CHAIN + 1.0))), 2);
    sine_transform(v0, modes->v);
    combine_modes(modes, 0.75 * h, 0, x2, v);
    p->acceleration(p->context, x2, a2);
    p->apply_stiffness(p->context, 1, x2, product);
    for (int i = 0; i < CHAIN; i++) a2[i] += product[i]; /* d2 = a(x2) - a(0) + A x2, a(0) = 0 */
    sine_transform(a2, modes->d2);
    combine_modes(modes, h, 32.0 / 9, x, v);
    free(modes), free(x2), free(a2), free(product);
}

/* One exprb42 step of h = phase/omega_max from x = 0, tolerance 1e-6: its counts, and its errors in x and v. */
static void chain_step(tw_phi_engine engine, double phase, tw_phi_statistics *statistics,
                       double errors[2])
{
    link_chain *chain = fpu_beta_create(CHAIN, 1955);
    ck_assert_ptr_nonnull(chain);
    problem p = link_chain_problem(chain);
    p.linearise(p.context, chain->initial_x);
    double h = phase / 2, *x = vector(CHAIN), *v = vector(CHAIN),
           *exact = vector(2 * CHAIN); /* omega_max = 2 */
    exact_exprb42_step(&p, chain->initial_v, h, exact, exact + CHAIN);
    memcpy(v, chain->initial_v, CHAIN * sizeof *v);
    tw_phi_workspace *workspace = workspace_for(CHAIN, engine, 1e-6);
    exprb42 stepper;
    tw_error error = {0};
    ck_assert_int_eq(exprb42_create(&p, workspace, &stepper), TW_OK);
    tw_second_order op = problem_second_order(&p);
    tw_status status = exprb42_step(&stepper, &op, h, x, v, statistics, &error);
    ck_assert_msg(status == TW_OK, "%s: %s", tw_phi_engine_name(engine), error.text);
    errors[0] = relative_difference(CHAIN, x, exact);
    errors[1] = relative_difference(CHAIN, v, exact + CHAIN);
    printf("FPU-beta, h omega_max = %3g, %-16s %4lld products, error %.1e in x, %.1e in v\n", phase,
           tw_phi_engine_name(engine), (long long)statistics->products, errors[0], errors[1]);
    exprb42_free(&stepper);
    tw_phi_workspace_free(workspace);
    link_chain_free(chain);
    free(x), free(v), free(exact);
}

typedef struct chain_row {
    tw_phi_engine engine;
    double phase;
    int64_t least, most; /* products */
} chain_row;

/* Ten times the functions' tolerance. */
static const double chain_error_bound = 1e-5;

static const chain_row chain_rows[] = {
    {TW_PHI_LANCZOS, 100, 100, 150},
    {TW_PHI_LANCZOS, 20, 30, 55},
    {TW_PHI_KIOPS, 100, 150, 800},
    {TW_PHI_KIOPS, 20, 40, 250},
    {TW_PHI_PHIPM_SIMUL_IOM2, 100, 150, 800},
    {TW_PHI_PHIPM_SIMUL_IOM2, 20, 40, 250},
};

START_TEST(exprb42_step_of_the_chain_costs_few_products)
{
    const chain_row *row = &chain_rows[_i];
    tw_phi_statistics statistics;
    double errors[2];
    chain_step(row->engine, row->phase, &statistics, errors);
    ck_assert_int_ge(statistics.products, row->least);
    ck_assert_int_le(statistics.products, row->most);
    ck_assert_double_le(errors[0], chain_error_bound);
    ck_assert_double_le(errors[1], chain_error_bound);
}
END_TEST

/* ---- The coil one second after release: h c_1(h^2 A) v + h^2 c_2(h^2 A) a. ---- */

static const double h = 0.05;

static void open_coil(coil_case *c, double stiffness_factor)
{
    tw_error error = {0};
    coil_parameters parameters = coil_default();
    parameters.stiffness *= stiffness_factor;
    ck_assert_msg(coil_case_create(parameters, 1, c, &error) == TW_OK, "%s", error.text);
}

/* Chebyshev coefficients of f on [low, high], degree < count, by the discrete cosine sum. */
static void chebyshev_coefficients(double (*f)(const void *, double), const void *context,
                                   double low, double high, int count, double *coefficients)
{
    double *values = vector(count), *cosines = vector(4 * count);
    for (int i = 0; i < 4 * count; i++) cosines[i] = cos(pi * i / (2.0 * count));
    for (int i = 0; i < count; i++)
        values[i] = f(context, 0.5 * (low + high) + 0.5 * (high - low) * cosines[2 * i + 1]);
    for (int64_t k = 0; k < count; k++) {
        double sum = 0;
        for (int64_t i = 0; i < count; i++)
            sum += values[i] * cosines[k * (2 * i + 1) % (4 * (int64_t)count)];
        coefficients[k] = (k == 0 ? 1.0 : 2.0) / count * sum;
    }
    free(values), free(cosines);
}

/* The update by a plain Chebyshev series in A (unit masses), independent of the library's engines; 1e-9 or better. */
static void exact_update(coil_case *c, double omega_max)
{
    int64_t n = c->p.size;
    /* A compressed coil may have slightly negative eigenvalues: the interval begins at -1/h^2. */
    double low = -1 / (h * h), high = 1.01 * omega_max * omega_max;
    int count = (int)(0.55 * h * omega_max) + 150;
    double *coefficients = vector(2 * count), *memory = vector(6 * n);
    chebyshev_coefficients(position_from_v, &h, low, high, count, coefficients);
    chebyshev_coefficients(position_from_a, &h, low, high, count, coefficients + count);
    double *before = memory, *now = memory + 2 * n, *next = memory + 4 * n;
    memcpy(now, c->v, (size_t)n * sizeof *now);
    memcpy(now + n, c->a, (size_t)n * sizeof *now);
    for (int k = 0; k < count; k++) {
        for (int64_t i = 0; i < n; i++)
            c->exact[i] += coefficients[k] * now[i] + coefficients[count + k] * now[n + i];
        /* T_{k+1} = 2 s T_k - T_{k-1}, s = (2 A - low - high)/(high - low); T_1 = s T_0. */
        ck_assert_int_eq(c->op.stiffness.apply(c->op.stiffness.context, 2, now, next), TW_OK);
        double factor = k == 0 ? 1 : 2;
        for (int64_t i = 0; i < 2 * n; i++)
            next[i] = factor * (2 * next[i] - (low + high) * now[i]) / (high - low) - before[i];
        double *oldest = before;
        before = now, now = next, next = oldest;
    }
    ck_assert_double_le(fabs(coefficients[count - 1]) + fabs(coefficients[2 * count - 1]), 1e-11);
    free(coefficients), free(memory);
}

static tw_phi_statistics coil_update(coil_case *c, tw_phi_engine engine, double tolerance)
{
    tw_error error = {0};
    tw_phi_statistics statistics = {0};
    tw_status status = coil_case_update(c, engine, tolerance, h, c->out, &statistics, &error);
    ck_assert_msg(status == TW_OK, "%s: %s", tw_phi_engine_name(engine), error.text);
    return statistics;
}

START_TEST(shift_invert_solves_do_not_grow_with_stiffness)
{
    const double factors[] = {1, 100, 10000};
    coil_case c;
    open_coil(&c, factors[_i]);
    double omega_max = problem_frequency_max(&c.p, 80);
    tw_set_threads(
        1); /* thousands of small products: threads that share a busy machine wait for one another */
    exact_update(&c, omega_max);
    tw_set_threads(0);
    tw_phi_statistics s = coil_update(&c, TW_PHI_SHIFT_INVERT, 1e-3);
    double error = relative_difference(c.p.size, c.out, c.exact);
    printf("coil x%-5g h omega_max = %5.0f, shift-invert: %lld solves of 2 vectors, %lld "
           "factorizations, pole %.3e "
           "(sigma %.3f), error %.1e, estimated %.1e\n",
           factors[_i], h * omega_max, (long long)s.solves, (long long)s.factorisations, s.pole,
           sqrt(s.pole) / h, error, s.estimated_error);
    ck_assert_int_le(s.solves, 2 * 20);
    ck_assert_double_gt(s.pole, 0);
    ck_assert_double_le(error, 1e-3);
    coil_case_free(&c);
}
END_TEST

/* A polynomial engine, once it must resolve the whole spectrum, pays about h omega_max / 2 products per vector. */
START_TEST(lanczos_products_follow_the_phase)
{
    const double factors[] = {1, 10};
    coil_case c;
    open_coil(&c, factors[_i]);
    double omega_max = problem_frequency_max(&c.p, 80);
    tw_set_threads(1);
    exact_update(&c, omega_max);
    tw_set_threads(0);
    tw_phi_statistics s = coil_update(&c, TW_PHI_LANCZOS, 1e-6);
    double error = relative_difference(c.p.size, c.out, c.exact), phase = h * omega_max;
    printf("coil x%-5g h omega_max = %5.0f, lanczos: %lld products of 2 vectors, error %.1e\n",
           factors[_i], phase, (long long)s.products, error);
    ck_assert_int_ge(s.products, (int64_t)(2 * 0.25 * phase));
    ck_assert_int_le(s.products, (int64_t)(2 * phase));
    ck_assert_double_le(error, 1e-5);
    coil_case_free(&c);
}
END_TEST

int main(void)
{
    setvbuf(stdout, NULL, _IOLBF, 0); /* rows are wanted from failing tests too */
    Suite *suite = suite_create("phi counts");
    TCase *chain = tcase_create("FPU-beta");
    tcase_set_timeout(chain, 60);
    tcase_add_loop_test(chain, exprb42_step_of_the_chain_costs_few_products, 0,
                        (int)(sizeof chain_rows / sizeof *chain_rows));
    suite_add_tcase(suite, chain);
    TCase *coil = tcase_create("coil");
    tcase_set_timeout(coil, 600);
    tcase_add_loop_test(coil, shift_invert_solves_do_not_grow_with_stiffness, 0, 3);
    tcase_add_loop_test(coil, lanczos_products_follow_the_phase, 0, 2);
    suite_add_tcase(suite, coil);
    return run_suite(suite);
}
