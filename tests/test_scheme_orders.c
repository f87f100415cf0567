/* Every scheme has the order it claims: nonlinear, damped, with velocity- and time-dependent forces and prescribed
 * motion. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <twang/twang.h>

#include "problems/oscillators.h"
#include "support/reference_state.h"
#include "support/run_suite.h"

/* Error at t = 1 with `steps` fixed steps; NAN if the scheme does not take the problem. */
static double error_with(tw_scheme scheme, oscillator_kind kind, int steps)
{
    oscillator o;
    oscillator_create(kind, &o);
    tw_integrator_options options = tw_integrator_options_default();
    options.scheme = scheme;
    options.step = 1.0 / steps;
    options.phi.engine =
        o.table.apply_damping && scheme != TW_SCHEME_EXPMID2 ? TW_PHI_PHIPM : TW_PHI_DENSE;
    options.phi.tolerance = 1e-13;
    options.newton.tolerance = 1e-13;
    tw_integrator *integrator = NULL;
    tw_error error = {0};
    tw_status status = tw_integrator_create_second_order(&o.table, &options, &integrator, &error);
    double u[2 * OSCILLATOR_MAX], expected[2 * OSCILLATOR_MAX], result = NAN;
    if (status != TW_UNSUPPORTED) {
        ck_assert_msg(status == TW_OK, "%s: %s", tw_scheme_name(scheme), error.text);
        ck_assert_int_eq(tw_integrator_start(integrator, 0, o.start, &error), TW_OK);
        status = tw_integrator_advance(integrator, 1.0, &error);
        ck_assert_msg(status == TW_OK, "%s on %s: %s", tw_scheme_name(scheme), o.name, error.text);
        tw_integrator_state(integrator, NULL, u);
        char name[64];
        snprintf(name, sizeof name, "%s_T1.txt", o.name);
        ck_assert(reference_state(name, o.unknowns, expected));
        result = reference_error(u, expected, 2 * (int64_t)o.unknowns);
    }
    tw_integrator_free(integrator);
    oscillator_free(&o);
    return result;
}

/* Which (scheme, problem) pairs there must be; others answer "unsupported". */
static bool applies(tw_scheme scheme, oscillator_kind kind)
{
    bool damped = kind == DAMPED || kind == VANDERPOL;
    if (scheme == TW_SCHEME_VERLET || scheme == TW_SCHEME_V_IMEX || scheme == TW_SCHEME_GAUTSCHI)
        return !damped;
    return true;
}

START_TEST(scheme_has_its_order)
{
    tw_scheme scheme = (tw_scheme)_i;
    if (scheme == TW_SCHEME_CVODE) return; /* it has no fixed step: test_adaptive */
    for (int kind = 0; kind < OSCILLATOR_KINDS; kind++) {
        int steps = tw_scheme_order(scheme) < 4 ? 80 : scheme == TW_SCHEME_RK4 ? 60 : 20;
        double coarse = error_with(scheme, (oscillator_kind)kind, steps);
        if (!applies(scheme, (oscillator_kind)kind)) {
            ck_assert_msg(isnan(coarse), "%s takes problem %d", tw_scheme_name(scheme), kind);
            continue;
        }
        double fine = error_with(scheme, (oscillator_kind)kind, 2 * steps),
               order = log2(coarse / fine);
        printf("%-18s %d  %.2e %.2e  order %.2f\n", tw_scheme_name(scheme), kind, coarse, fine,
               order);
        ck_assert_msg(order > tw_scheme_order(scheme) - 0.25 || fine < 2e-12,
                      "%s on problem %d: order %.2f (%g, %g)", tw_scheme_name(scheme), kind, order,
                      coarse, fine);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("scheme orders");
    TCase *cases = tcase_create("orders");
    tcase_set_timeout(cases, 120);
    tcase_add_loop_test(cases, scheme_has_its_order, 0, TW_SCHEME_COUNT);
    suite_add_tcase(suite, cases);
    return run_suite(suite);
}
