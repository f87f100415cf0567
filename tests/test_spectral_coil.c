/* The coil of 24,000 unknowns at three stiffnesses, each in the state it has one second after release, h = 0.05: the
 * position update h c_1 v + h^2 c_2 a by shift-invert, lanczos and chebyshev. */
/* labels: slow */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <twang/cholesky.h>
#include <twang/parallel.h>
#include <twang/phi.h>

#include "problems/coil_state.h"
#include "problems/position_update.h"
#include "support/run_suite.h"

static const double h = 0.05;

typedef struct coil {
    spring_network *network;
    problem p;
    tw_sparse *K;
    tw_shifted_cholesky *solver;
    tw_second_order op;
    double *x, *v, *a, *out, *exact;
} coil;

static void coil_open(coil *c, double factor)
{
    coil_parameters parameters = coil_default();
    parameters.stiffness *= factor;
    ck_assert_int_eq(coil_create(parameters, &c->network), TW_OK);
    c->p = spring_network_problem(c->network);
    size_t n = (size_t)c->p.size;
    c->x = calloc(5 * n, sizeof *c->x);
    c->v = c->x + n, c->a = c->v + n, c->out = c->a + n, c->exact = c->out + n;
    ck_assert_int_eq(coil_state(parameters, 1.0, c->x, c->v, NULL), TW_OK);
    c->p.acceleration(c->p.context, c->x, c->a);
    c->p.linearise(c->p.context, c->x);
    ck_assert_int_eq(problem_create_stiffness(&c->p, TW_STORE_UPPER, &c->K, NULL), TW_OK);
    problem_fill_stiffness(&c->p, c->K);
    c->op = problem_second_order_assembled(&c->p, c->K);
    ck_assert_int_eq(tw_shifted_cholesky_create(c->K, NULL, c->p.lumped_mass, &c->solver, NULL), TW_OK);
    c->op.shifted = tw_shifted_cholesky_view(c->solver);
}

static void coil_close(coil *c)
{
    tw_shifted_cholesky_free(c->solver);
    tw_sparse_free(c->K);
    spring_network_free(c->network);
    free(c->x);
}

static tw_phi_statistics update(coil *c, tw_phi_engine engine, double tolerance, double *out)
{
    tw_spectral_function functions[2] = {{position_from_v, &h}, {position_from_a, &h}};
    tw_spectral_request request = {.start_count = 2,
                                   .starts = (const double *const[]){c->v, c->a},
                                   .output_count = 1,
                                   .outputs = &out,
                                   .functions = functions,
                                   .time = h};
    tw_phi_limits limits = tw_phi_limits_default();
    limits.size = c->p.size;
    limits.options.engine = engine;
    limits.options.tolerance = tolerance;
    tw_phi_workspace *workspace = NULL;
    tw_phi_statistics statistics;
    tw_error error = {0};
    ck_assert_int_eq(tw_phi_workspace_create(&limits, &workspace, NULL), TW_OK);
    tw_status status = tw_spectral_apply(workspace, &c->op, &request, &statistics, &error);
    ck_assert_msg(status == TW_OK, "%s", error.text);
    tw_phi_workspace_free(workspace);
    return statistics;
}

static double distance(const coil *c)
{
    double difference = 0, size = 0;
    for (int64_t i = 0; i < c->p.size; i++) {
        difference += (c->out[i] - c->exact[i]) * (c->out[i] - c->exact[i]);
        size += c->exact[i] * c->exact[i];
    }
    return sqrt(difference / size);
}

START_TEST(stiffness_costs_few_solves)
{
    const double factors[] = {1, 100, 10000};
    coil c = {0};
    coil_open(&c, factors[_i]);
    tw_phi_statistics s = update(&c, TW_PHI_CHEBYSHEV, 1e-8, c.exact);
    printf("coil x%-5g chebyshev 1e-8: %lld products\n", factors[_i], (long long)s.products);
    const double tolerances[] = {1e-2, 1e-3, 1e-4};
    const int most[] = {12, 20, 40}; /* solves per start vector */
    for (int k = 0; k < 3; k++) {
        s = update(&c, TW_PHI_SHIFT_INVERT, tolerances[k], c.out);
        double error = distance(&c);
        printf(
            "coil x%-5g shift-invert %.0e: %lld solves for 2 vectors, gamma = (%.3f h)^2, error %.1e, estimated %.1e\n",
            factors[_i], tolerances[k], (long long)s.solves, sqrt(s.pole) / h, error, s.estimated_error);
        ck_assert_double_le(error, tolerances[k]);
        ck_assert_int_le(s.solves, 2 * most[k]);
        ck_assert_int_eq(s.factorizations, 1);
    }
    coil_close(&c);
}
END_TEST

/* Both polynomials pay for h omega_max = 166; chebyshev, which keeps no basis, not much more than lanczos. */
START_TEST(polynomials_pay_for_reach)
{
    coil c = {0};
    coil_open(&c, 1);
    tw_phi_statistics lanczos = update(&c, TW_PHI_LANCZOS, 1e-8, c.exact);
    tw_phi_statistics chebyshev = update(&c, TW_PHI_CHEBYSHEV, 1e-8, c.out);
    printf("coil x1 at 1e-8: lanczos %lld products, chebyshev %lld, difference %.1e\n", (long long)lanczos.products,
           (long long)chebyshev.products, distance(&c));
    ck_assert_double_le(distance(&c), 1e-8);
    ck_assert_int_ge(lanczos.products, 150);
    ck_assert_double_le((double)chebyshev.products, 1.2 * (double)lanczos.products);
    coil_close(&c);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("spectral coil");
    TCase *cases = tcase_create("coil");
    tcase_set_timeout(cases, 600); /* the state of the stiffest coil takes 175,000 steps where it is not cached */
    tcase_add_loop_test(cases, stiffness_costs_few_solves, 0, 3);
    tcase_add_test(cases, polynomials_pay_for_reach);
    suite_add_tcase(suite, cases);
    return run_suite(suite);
}
