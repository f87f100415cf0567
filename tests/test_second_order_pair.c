/* Second-order systems in the first-order engines: coordinates, inner products, fallbacks, and the linear chain whose
 * solution is known in closed form. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <twang/twang.h>

#include "phi/krylov/krylov.h"
#include "phi/phi_internal.h"
#include "support/random.h"
#include "support/run_suite.h"
#include "support/test_matrix.h"

static const double PI = 3.141592653589793;
static const tw_phi_engine engines[] = {TW_PHI_PHIPM, TW_PHI_PHIPM_IOM2, TW_PHI_PHIPM_SIMUL_IOM2,
                                        TW_PHI_KIOPS};
enum { ENGINES = sizeof engines / sizeof engines[0] };

/* K of a chain of n unit masses and springs, matrix-free; free ends make it singular. */
typedef struct chain {
    int n;
    bool free_ends;
    double shift; /* K + shift I */
    int64_t applied;
} chain;

static tw_status apply_chain(void *context, int count, const double *in, double *out)
{
    chain *c = context;
    for (int k = 0; k < count; k++, in += c->n, out += c->n) {
        for (int i = 0; i < c->n; i++) {
            bool first = i == 0, last = i == c->n - 1;
            double left = first ? 0 : in[i - 1], right = last ? 0 : in[i + 1];
            double springs = 2 - (c->free_ends ? first + last : 0);
            out[i] = (springs + c->shift) * in[i] - left - right;
        }
    }
    c->applied += count;
    return TW_OK;
}

static tw_second_order chain_system(chain *c)
{
    tw_operator K = {.space = {.local_size = c->n},
                     .apply = apply_chain,
                     .context = c,
                     .symmetry = TW_SYMMETRIC};
    return (tw_second_order){.stiffness = K};
}

static tw_phi_workspace *new_workspace(int n, tw_phi_engine engine, double tolerance,
                                       tw_phi_inner_product inner)
{
    tw_phi_limits limits = tw_phi_limits_default();
    tw_phi_workspace *workspace = NULL;
    limits.size = n;
    limits.options.engine = engine;
    limits.options.tolerance = tolerance;
    limits.options.inner_product = inner;
    ck_assert_int_eq(tw_phi_workspace_create(&limits, &workspace, NULL), TW_OK);
    return workspace;
}

/* w = sum_k phi_k(t J) vectors[k] by one engine, in a workspace of its own. */
static tw_status evaluate(const tw_second_order *op, tw_phi_engine engine,
                          tw_phi_inner_product inner, double tolerance, double t, int order,
                          const double *const *vectors, double *w, tw_phi_statistics *statistics)
{
    static const double one = 1;
    tw_phi_workspace *workspace =
        new_workspace((int)op->stiffness.space.local_size, engine, tolerance, inner);
    tw_phi_request request = {.time = t,
                              .node_count = 1,
                              .nodes = &one,
                              .order = order,
                              .vectors = vectors,
                              .outputs = &w};
    tw_status status = tw_phi_evaluate_second_order(workspace, op, &request, statistics, NULL);
    tw_phi_workspace_free(workspace);
    return status;
}

static void fill_random(test_random *random, int n, double *x)
{
    for (int i = 0; i < n; i++) x[i] = test_random_normal(random);
}

static double length(int n, const double *x)
{
    double sum = 0;
    for (int i = 0; i < n; i++) sum = hypot(sum, x[i]);
    return sum;
}

/* Error of one part relative to max(|exact|, |v_k|/k! summed), as phi.h promises it; unit mass. */
static double part_error(int n, int order, const double *const *vectors, const double *w,
                         const double *exact)
{
    double error = 0, base = 0, factorial = 1;
    for (int i = 0; i < n; i++) error = hypot(error, w[i] - exact[i]);
    for (int k = 0; k <= order; k++) {
        factorial *= k > 0 ? k : 1;
        if (vectors[k]) base += length(n, vectors[k]) / factorial;
    }
    return error == 0 ? 0 : error / fmax(base, length(n, exact));
}

static double pair_error(int n, int order, const double *const *vectors, const double *w,
                         const double *exact)
{
    const double *lower[TW_PHI_MAX_ORDER + 1];
    for (int k = 0; k <= order; k++) lower[k] = vectors[k] ? vectors[k] + n : NULL;
    return fmax(part_error(n, order, vectors, w, exact),
                part_error(n, order, lower, w + n, exact + n));
}

/* The Krylov basis of a chain's J in one inner product, orthogonalised against two vectors only. */
typedef struct basis_setup {
    chain c;
    tw_second_order op;
    tw_operator J;
    tw_phi_pair pair;
    tw_arnoldi arnoldi;
    double *memory;
} basis_setup;

static void build_basis(basis_setup *s, tw_phi_inner_product inner, int n, int m)
{
    int64_t size = 2 * n, side = m + 1;
    s->c = (chain){.n = n};
    s->op = chain_system(&s->c);
    s->memory = test_doubles(2 * side * size + size + n + side * (side + 1 + TW_PHI_MAX_ORDER) +
                             (int64_t)tw_phi_pair_scratch(n));
    double *next = s->memory, *start = next + 2 * side * size, *root = start + size;
    tw_phi_pair_bind(&s->pair, &s->op, inner, root, root + n);
    s->pair.omega = 2;
    s->J = tw_phi_pair_operator(&s->pair);
    s->arnoldi = (tw_arnoldi){
        .op = &s->J, .metric = s->pair.frame.metric, .scale = 1, .window = 2, .capacity = m};
    s->arnoldi.max_products = 1000;
    s->arnoldi.basis = next;
    s->arnoldi.duals = next + side * size;
    s->arnoldi.H = root + n + tw_phi_pair_scratch(n);
    s->arnoldi.tails = s->arnoldi.H + side * side;
    s->arnoldi.window_products = s->arnoldi.tails + side * TW_PHI_MAX_ORDER;
    test_random random = {77};
    double beta = 0;
    fill_random(&random, 2 * n, start);
    ck_assert_int_eq(tw_arnoldi_start(&s->arnoldi, start, NULL, &beta), TW_OK);
    ck_assert_int_eq(tw_arnoldi_extend(&s->arnoldi, m), TW_OK);
    ck_assert_int_eq(s->arnoldi.dimension, m);
}

/* Largest |<v_i, v_j> - delta_ij| in the basis's own inner product. */
static double orthogonality(const basis_setup *s)
{
    const tw_arnoldi *a = &s->arnoldi;
    const double *right = a->metric ? a->duals : a->basis;
    int size = 2 * s->c.n;
    double worst = 0;
    for (int i = 0; i <= a->dimension; i++)
        for (int j = 0; j <= a->dimension; j++) {
            double product = 0;
            for (int l = 0; l < size; l++) product += a->basis[i * size + l] * right[j * size + l];
            worst = fmax(worst, fabs(product - (i == j)));
        }
    return worst;
}

START_TEST(energy_inner_product_gives_the_two_term_recurrence)
{
    enum { N = 200, M = 60 };
    basis_setup s;
    build_basis(&s, TW_INNER_ENERGY, N, M);
    ck_assert_double_lt(orthogonality(&s), 1e-10);
    const double *H = s.arnoldi.H;
    for (int j = 0; j < M; j++) ck_assert_double_lt(fabs(H[j * (M + 1) + j]), 1e-12);
    for (int j = 0; j + 1 < M; j++)
        ck_assert_double_lt(fabs(H[(j + 1) * (M + 1) + j] + H[j * (M + 1) + j + 1]), 1e-12);
    /* One product per vector, and one for the energy of the first. */
    ck_assert_int_eq(s.pair.products, M + 1);
    /* The duals are K x / omega^2 and v still, although only carried along. */
    double Kx[N], worst = 0;
    apply_chain(&s.c, 1, s.arnoldi.basis + (int64_t)2 * N * M, Kx);
    for (int i = 0; i < N; i++)
        worst = fmax(worst, fabs(Kx[i] / 4 - s.arnoldi.duals[2 * N * M + i]));
    ck_assert_double_lt(worst, 1e-12);
    free(s.memory);
    build_basis(&s, TW_INNER_SCALED, N, M);
    ck_assert_double_gt(orthogonality(&s), 1e-2);
    free(s.memory);
}
END_TEST

/* The exact answer for the chain between fixed ends: the sine transform and Stumpff functions per mode. */
static void chain_exact(const chain *c, double t, int order, const double *const *vectors,
                        double *w)
{
    int n = c->n;
    double *mode = test_doubles(n);
    memset(w, 0, 2 * (size_t)n * sizeof *w);
    for (int m = 1; m <= n; m++) {
        double lambda = c->shift + 4 * pow(sin(m * PI / (2 * (n + 1.0))), 2), x = 0, v = 0;
        for (int i = 0; i < n; i++)
            mode[i] = sqrt(2 / (n + 1.0)) * sin(m * (i + 1.0) * PI / (n + 1.0));
        double stumpff[TW_PHI_MAX_ORDER + 2];
        tw_stumpff(t * t * lambda, order + 2, stumpff);
        for (int k = 0; k <= order; k++) {
            double p = 0, q = 0, c0 = stumpff[k], c1 = stumpff[k + 1];
            for (int i = 0; vectors[k] && i < n; i++) {
                p += mode[i] * vectors[k][i];
                q += mode[i] * vectors[k][n + i];
            }
            x += c0 * p + t * c1 * q;
            v += c0 * q - t * lambda * c1 * p;
        }
        for (int i = 0; i < n; i++) {
            w[i] += mode[i] * x;
            w[n + i] += mode[i] * v;
        }
    }
    free(mode);
}

/* h omega_max = 400: on raw (x, v), KIOPS with incomplete orthogonalisation once reported success here with an error of
 * 5e27. A polynomial of degree 400 / 2 per unit is the least that any of them can do. */
START_TEST(long_chain_is_solved_in_scaled_and_energy_coordinates)
{
    enum { N = 1000 };
    static const int most[ENGINES][2] = {{800, 850}, {850, 850}, {900, 850}, {700, 700}};
    chain c = {.n = N};
    tw_second_order op = chain_system(&c);
    op.eigenvalue_max = 4;
    test_random random = {5};
    double *v = test_doubles(2 * N), *w = test_doubles(2 * N), *exact = test_doubles(2 * N);
    const double *vectors[1] = {v};
    fill_random(&random, 2 * N, v);
    chain_exact(&c, 200, 0, vectors, exact);
    for (int e = 0; e < ENGINES; e++)
        for (int inner = TW_INNER_SCALED; inner <= TW_INNER_ENERGY; inner++) {
            tw_phi_statistics statistics;
            c.applied = 0;
            tw_status status = evaluate(&op, engines[e], (tw_phi_inner_product)inner, 1e-5, 200, 0,
                                        vectors, w, &statistics);
            ck_assert_int_eq(status, TW_OK);
            ck_assert(!statistics.fell_back);
            ck_assert_int_eq(statistics.products, c.applied);
            ck_assert_double_le(pair_error(N, 0, vectors, w, exact), 1e-5);
            ck_assert_msg(statistics.products <= most[e][inner],
                          "%s, inner product %d: %d products", tw_phi_engine_name(engines[e]),
                          inner, (int)statistics.products);
        }
    free(v);
    free(w);
    free(exact);
}
END_TEST

START_TEST(raw_coordinates_are_refused_to_incomplete_orthogonalisation)
{
    chain c = {.n = 30};
    tw_second_order op = chain_system(&c);
    test_random random = {6};
    double v[60], w[60], exact[60];
    const double *vectors[1] = {v};
    fill_random(&random, 60, v);
    chain_exact(&c, 20, 0, vectors, exact);
    tw_phi_statistics statistics;
    for (int e = 1; e < ENGINES; e++)
        ck_assert_int_eq(
            evaluate(&op, engines[e], TW_INNER_EUCLIDEAN, 1e-8, 20, 0, vectors, w, &statistics),
            TW_UNSUPPORTED);
    ck_assert_int_eq(
        evaluate(&op, TW_PHI_PHIPM, TW_INNER_EUCLIDEAN, 1e-8, 20, 0, vectors, w, &statistics),
        TW_OK);
    ck_assert_double_le(pair_error(30, 0, vectors, w, exact), 1e-8);
}
END_TEST

/* A K without an energy inner product: the engine notices, falls back, and is right all the same. */
static void check_fallback(chain c, const double *v, bool falls_back)
{
    enum { N = 40 };
    tw_second_order op = chain_system(&c);
    double w[2 * N], exact[2 * N];
    const double *vectors[2] = {NULL, v};
    tw_phi_statistics statistics;
    ck_assert_int_eq(
        evaluate(&op, TW_PHI_DENSE, TW_INNER_SCALED, 1e-12, 9, 1, vectors, exact, &statistics),
        TW_OK);
    for (int e = 0; e < ENGINES; e++) {
        c.applied = 0;
        tw_status status =
            evaluate(&op, engines[e], TW_INNER_ENERGY, 1e-8, 9, 1, vectors, w, &statistics);
        ck_assert_int_eq(status, TW_OK);
        ck_assert_msg(statistics.fell_back == falls_back, "%s", tw_phi_engine_name(engines[e]));
        ck_assert_int_eq(statistics.products, c.applied);
        ck_assert_double_le(pair_error(N, 1, vectors, w, exact), 1e-8);
    }
}

START_TEST(without_a_definite_stiffness_the_scaled_product_takes_over)
{
    enum { N = 40 };
    test_random random = {8};
    double rough[2 * N], rigid[2 * N] = {0};
    fill_random(&random, 2 * N, rough);
    for (int i = 0; i < N; i++) rigid[N + i] = 1;
    check_fallback((chain){.n = N}, rough, false);
    check_fallback((chain){.n = N, .shift = -1.5}, rough, true);
    check_fallback((chain){.n = N, .free_ends = true}, rigid, true);
}
END_TEST

/* A free chain whose start vectors do not show it: whether it falls back or not, it must be right. */
START_TEST(a_hidden_rigid_motion_does_no_harm)
{
    enum { N = 40 };
    chain c = {.n = N, .free_ends = true};
    tw_second_order op = chain_system(&c);
    test_random random = {9};
    double v[2 * N], w[2 * N], exact[2 * N];
    const double *vectors[1] = {v};
    tw_phi_statistics statistics;
    fill_random(&random, 2 * N, v);
    ck_assert_int_eq(
        evaluate(&op, TW_PHI_DENSE, TW_INNER_SCALED, 1e-12, 30, 0, vectors, exact, &statistics),
        TW_OK);
    for (int e = 0; e < ENGINES; e++) {
        tw_status status =
            evaluate(&op, engines[e], TW_INNER_ENERGY, 1e-9, 30, 0, vectors, w, &statistics);
        ck_assert_int_eq(status, TW_OK);
        ck_assert_double_le(pair_error(N, 0, vectors, w, exact), 1e-9);
    }
}
END_TEST

/* Each part keeps its own promise, however different their sizes: the x-part of phi_1(tJ)(0, a) is t/2 a. */
START_TEST(a_small_part_is_accurate_by_itself)
{
    enum { N = 50 };
    static const double times[] = {1e-14, 1e-8, 1e-4, 1e-1, 1, 3, 5, 9, 20};
    chain c = {.n = N};
    tw_second_order op = chain_system(&c);
    test_random random = {10};
    double v[2 * N] = {0}, w[2 * N], exact[2 * N];
    const double *vectors[2] = {NULL, v};
    tw_phi_statistics statistics;
    fill_random(&random, N, v + N);
    for (int i = 0; i < 9; i++) {
        chain_exact(&c, times[i], 1, vectors, exact);
        for (int e = 0; e < ENGINES; e++)
            for (int inner = TW_INNER_SCALED; inner <= TW_INNER_ENERGY; inner++)
                for (double tolerance = 1e-9; tolerance < 0.1; tolerance *= 10) {
                    tw_status status = evaluate(&op, engines[e], (tw_phi_inner_product)inner,
                                                tolerance, times[i], 1, vectors, w, &statistics);
                    ck_assert_int_eq(status, TW_OK);
                    ck_assert_double_le(pair_error(N, 1, vectors, w, exact), tolerance);
                }
    }
}
END_TEST

/* The velocity rises from zero and dies away below rounding: no digit of it can be right, and that must be said. */
START_TEST(a_part_below_rounding_is_reported)
{
    chain c = {.n = 1, .shift = -1};
    tw_second_order op = chain_system(&c);
    op.rayleigh_mass = 2.5;
    double v[2] = {1, 0}, w[2];
    const double *vectors[1] = {v};
    for (int e = 0; e < ENGINES; e++)
        for (double t = 1; t < 200; t *= 1.5) {
            double exact[4];
            tw_phi_statistics statistics;
            tw_phi_oscillator(t, 1, 2.5, 0, exact);
            tw_status status =
                evaluate(&op, engines[e], TW_INNER_SCALED, 1e-8, t, 0, vectors, w, &statistics);
            ck_assert(status == TW_OK || status == TW_ILL_CONDITIONED);
            if (status == TW_OK) ck_assert_double_le(fabs(w[1] - exact[2]), 1e-8 * fabs(exact[2]));
            if (t < 10) ck_assert_int_eq(status, TW_OK);
            if (t > 100) ck_assert_int_eq(status, TW_ILL_CONDITIONED);
        }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("second_order_pair");
    TCase *cases = tcase_create("second_order_pair");
    tcase_add_test(cases, energy_inner_product_gives_the_two_term_recurrence);
    tcase_add_test(cases, long_chain_is_solved_in_scaled_and_energy_coordinates);
    tcase_add_test(cases, raw_coordinates_are_refused_to_incomplete_orthogonalisation);
    tcase_add_test(cases, without_a_definite_stiffness_the_scaled_product_takes_over);
    tcase_add_test(cases, a_hidden_rigid_motion_does_no_harm);
    tcase_add_test(cases, a_small_part_is_accurate_by_itself);
    tcase_add_test(cases, a_part_below_rounding_is_reported);
    suite_add_tcase(suite, cases);
    return run_suite(suite);
}
