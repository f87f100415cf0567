/* The experiment of the 2022 paper (section 5.1): orders, energy and cost on the FPUT chain, m = 3, omega = 100. */
/* labels: slow */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <twang/twang.h>

#include "problems/integrable.h"
#include "problems/link_chain.h"
#include "problems/whole_run.h"
#include "support/reference_state.h"
#include "support/run_suite.h"

enum { UNKNOWNS = 6 };

static link_chain *chain;
static problem plain;
static integrable fput;
static double start[2 * UNKNOWNS];

static void setup(void)
{
    chain = fput_create(UNKNOWNS / 2, 100);
    ck_assert_ptr_nonnull(chain);
    plain = link_chain_problem(chain);
    ck_assert_int_eq(integrable_create(&plain, true, &fput), TW_OK);
    memcpy(start, chain->initial_x, sizeof(double) * UNKNOWNS);
    memcpy(start + UNKNOWNS, chain->initial_v, sizeof(double) * UNKNOWNS);
}

static void teardown(void)
{
    integrable_free(&fput);
    link_chain_free(chain);
}

static tw_integrator_options fixed(tw_scheme scheme, double h)
{
    tw_integrator_options options = tw_integrator_options_default();
    options.scheme = scheme;
    options.step = h;
    options.phi.engine = TW_PHI_DENSE;
    options.phi.tolerance = 1e-14;
    return options;
}

/* Error at T = 100 in the maximum norm over positions and velocities. */
static double error_of(const tw_integrator_options *options, int64_t *force_evaluations)
{
    double u[2 * UNKNOWNS], expected[2 * UNKNOWNS];
    memcpy(u, start, sizeof u);
    whole_run run = run_whole(&fput.table, options, 100, false, u);
    ck_assert_msg(run.status == TW_OK, "%s at h = %g: %s", tw_scheme_name(options->scheme),
                  options->step, run.error.text);
    ck_assert(reference_state("fput_T100.txt", UNKNOWNS, expected));
    if (force_evaluations) *force_evaluations = run.counts.force_evaluations;
    return reference_error(u, expected, 2 * UNKNOWNS);
}

START_TEST(energy_at_the_start)
{
    ck_assert_double_eq_tol(problem_energy(&plain, start, start + UNKNOWNS), 2.500300005, 2.5e-12);
}
END_TEST

/* Each scheme from its coarsest step, halved; orders count while errors are above what rounding leaves. */
static const struct order_case {
    tw_scheme scheme;
    double coarsest;
    int steps;
} order_cases[] = {
    {TW_SCHEME_EXPRB2, 0.02, 5},   {TW_SCHEME_EXPRB42, 0.02, 5}, {TW_SCHEME_PEXPRB43, 0.02, 5},
    {TW_SCHEME_EPIRK4S3, 0.02, 4}, {TW_SCHEME_EXPMID4, 0.02, 4}, {TW_SCHEME_EXPRB53, 0.01, 3},
};

START_TEST(order_at_T_100)
{
    const struct order_case *c = &order_cases[_i];
    const double rounding = 1e-10;
    double previous = 0;
    int judged = 0;
    for (int i = 0; i < c->steps; i++) {
        tw_integrator_options options = fixed(c->scheme, ldexp(c->coarsest, -i));
        double error = error_of(&options, NULL), order = i ? log2(previous / error) : NAN;
        printf("%-10s h = %-8g error %.3e  order %.2f\n", tw_scheme_name(c->scheme), options.step,
               error, order);
        if (i && error > rounding) {
            judged++;
            ck_assert_msg(order > tw_scheme_order(c->scheme) - 0.2, "%s at h = %g: order %.2f",
                          tw_scheme_name(c->scheme), options.step, order);
        }
        previous = error;
    }
    ck_assert_int_ge(judged, 2);
}
END_TEST

/* Steps 30 times smaller do not give rk4 the error of exprb42 and pexprb43: at equal error it needs more than 30 times
 * the steps, and far more than 10 times the force evaluations. */
START_TEST(rk4_needs_30_times_smaller_steps)
{
    static const tw_scheme schemes[] = {TW_SCHEME_EXPRB42, TW_SCHEME_PEXPRB43};
    for (int h = 0; h < 2; h++) {
        double step = h == 0 ? 0.01 : 0.005;
        tw_integrator_options small = fixed(TW_SCHEME_RK4, step / 30);
        int64_t rk4_forces = 0, forces = 0;
        double rk4 = error_of(&small, &rk4_forces);
        for (int s = 0; s < 2; s++) {
            tw_integrator_options options = fixed(schemes[s], step);
            double error = error_of(&options, &forces);
            printf("%-9s h = %g: error %.3e with %ld forces; rk4 at h/30: %.3e with %ld (%.0f "
                   "times)\n",
                   tw_scheme_name(schemes[s]), step, error, (long)forces, rk4, (long)rk4_forces,
                   (double)rk4_forces / (double)forces);
            if (schemes[s] == TW_SCHEME_EXPRB42) ck_assert_double_lt(error, rk4);
            /* rk4 with exactly ten times the force evaluations of the scheme is still worse */
            tw_integrator_options ten = fixed(TW_SCHEME_RK4, 100.0 / ((double)forces * 10 / 4));
            double rk4_ten = error_of(&ten, NULL);
            printf("          rk4 with ten times the forces: %.3e\n", rk4_ten);
            ck_assert_double_lt(error, rk4_ten);
        }
    }
}
END_TEST

START_TEST(rk4_loses_the_energy)
{
    tw_integrator_options rk4 = fixed(TW_SCHEME_RK4, 0.01),
                          exprb42 = fixed(TW_SCHEME_EXPRB42, 0.01);
    double u[2 * UNKNOWNS];
    rk4.energy_gain_bound = 0;
    memcpy(u, start, sizeof u);
    whole_run lost = run_whole(&fput.table, &rk4, 100, true, u);
    memcpy(u, start, sizeof u);
    whole_run kept = run_whole(&fput.table, &exprb42, 100, true, u);
    printf(
        "relative change of H at h = 0.01: rk4 %.2e (largest %.2e), exprb42 %.2e (largest %.2e)\n",
        lost.energy_change, lost.energy_worst, kept.energy_change, kept.energy_worst);
    ck_assert_int_eq(lost.status, TW_OK);
    ck_assert_int_eq(kept.status, TW_OK);
    ck_assert_double_gt(lost.energy_worst, 0.3);
    ck_assert_double_lt(kept.energy_worst, 1e-5);
}
END_TEST

START_TEST(engines_agree)
{
    static const tw_phi_engine engines[] = {TW_PHI_DENSE, TW_PHI_LANCZOS, TW_PHI_PHIPM_SIMUL_IOM2,
                                            TW_PHI_SHIFT_INVERT};
    static const tw_scheme schemes[] = {TW_SCHEME_EXPRB42, TW_SCHEME_PEXPRB43};
    tw_scheme scheme = schemes[_i];
    double dense[2 * UNKNOWNS];
    for (int e = 0; e < 4; e++) {
        tw_integrator_options options = fixed(scheme, 0.01);
        options.phi.engine = engines[e];
        options.phi.tolerance = 1e-12;
        double u[2 * UNKNOWNS];
        memcpy(u, start, sizeof u);
        whole_run run = run_whole(&fput.table, &options, 10, false, u);
        ck_assert_msg(run.status == TW_OK, "%s: %s", tw_phi_engine_name(engines[e]),
                      run.error.text);
        ck_assert_int_eq(run.counts.engine, engines[e]);
        if (e == 0) memcpy(dense, u, sizeof u);
        double difference = reference_error(u, dense, 2 * UNKNOWNS);
        printf("%s, %-16s differs by %.1e from dense\n", tw_scheme_name(scheme),
               tw_phi_engine_name(engines[e]), difference);
        ck_assert_double_lt(difference, 1e-8);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("fput");
    TCase *cases = tcase_create("fput");
    tcase_set_timeout(cases, 200);
    tcase_add_checked_fixture(cases, setup, teardown);
    tcase_add_test(cases, energy_at_the_start);
    tcase_add_loop_test(cases, order_at_T_100, 0, (int)(sizeof order_cases / sizeof *order_cases));
    tcase_add_test(cases, rk4_needs_30_times_smaller_steps);
    tcase_add_test(cases, rk4_loses_the_energy);
    tcase_add_loop_test(cases, engines_agree, 0, 2);
    suite_add_tcase(suite, cases);
    return run_suite(suite);
}
