/* The coil of 24,000 unknowns at three stiffnesses, each in the state it has one second after release, h = 0.05: the
 * position update h c_1 v + h^2 c_2 a by shift-invert, lanczos and chebyshev. */
/* labels: slow */
#include <math.h>
#include <stdio.h>

#include "problems/coil_case.h"
#include "support/run_suite.h"

static const double h = 0.05;

static void open_coil(coil_case *c, double factor)
{
    coil_parameters parameters = coil_default();
    parameters.stiffness *= factor;
    ck_assert_int_eq(coil_case_create(parameters, 1.0, c, NULL), TW_OK);
}

static tw_phi_statistics update(const coil_case *c, tw_phi_engine engine, double tolerance,
                                double *out)
{
    tw_phi_statistics statistics;
    tw_error error = {0};
    tw_status status = coil_case_update(c, engine, tolerance, h, out, &statistics, &error);
    ck_assert_msg(status == TW_OK, "%s", error.text);
    return statistics;
}

static double distance(const coil_case *c)
{
    return relative_difference(c->p.size, c->out, c->exact);
}

START_TEST(stiffness_costs_few_solves)
{
    const double factors[] = {1, 100, 10000};
    coil_case c;
    open_coil(&c, factors[_i]);
    tw_phi_statistics s = update(&c, TW_PHI_CHEBYSHEV, 1e-8, c.exact);
    printf("coil x%-5g chebyshev 1e-8: %lld products\n", factors[_i], (long long)s.products);
    const double tolerances[] = {1e-2, 1e-3, 1e-4};
    const int most[] = {12, 20, 40}; /* solves per start vector */
    for (int k = 0; k < 3; k++) {
        s = update(&c, TW_PHI_SHIFT_INVERT, tolerances[k], c.out);
        double error = distance(&c);
        printf("coil x%-5g shift-invert %.0e: %lld solves for 2 vectors, gamma = (%.3f h)^2, error "
               "%.1e, estimated %.1e\n",
               factors[_i], tolerances[k], (long long)s.solves, sqrt(s.pole) / h, error,
               s.estimated_error);
        ck_assert_double_le(error, tolerances[k]);
        ck_assert_int_le(s.solves, 2 * most[k]);
        ck_assert_int_eq(s.factorisations, 1);
    }
    coil_case_free(&c);
}
END_TEST

/* Both polynomials pay for h omega_max = 166; chebyshev, which keeps no basis, not much more than lanczos. */
START_TEST(polynomials_pay_for_reach)
{
    coil_case c;
    open_coil(&c, 1);
    tw_phi_statistics lanczos = update(&c, TW_PHI_LANCZOS, 1e-8, c.exact);
    tw_phi_statistics chebyshev = update(&c, TW_PHI_CHEBYSHEV, 1e-8, c.out);
    printf("coil x1 at 1e-8: lanczos %lld products, chebyshev %lld, difference %.1e\n",
           (long long)lanczos.products, (long long)chebyshev.products, distance(&c));
    ck_assert_double_le(distance(&c), 1e-8);
    ck_assert_int_ge(lanczos.products, 150);
    ck_assert_double_le((double)chebyshev.products, 1.2 * (double)lanczos.products);
    coil_case_free(&c);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("spectral coil");
    TCase *cases = tcase_create("coil");
    tcase_set_timeout(
        cases, 600); /* the state of the stiffest coil takes 175,000 steps where it is not cached */
    tcase_add_loop_test(cases, stiffness_costs_few_solves, 0, 3);
    tcase_add_test(cases, polynomials_pay_for_reach);
    suite_add_tcase(suite, cases);
    return run_suite(suite);
}
