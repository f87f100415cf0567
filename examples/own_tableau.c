/* Your own exponential Rosenbrock method: written as data, checked against the stiff order conditions, and run. A slip
 * in one coefficient is refused with the condition it violates. usage: own_tableau */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <twang/twang.h>

/* Two stages at 1/2 and 1:  u+ = u + h phi_1 F + h (16 phi_3 - 48 phi_4) D_2 + h (-2 phi_3 + 12 phi_4) D_3 */
static const tw_tableau mine = {.name = "mine",
                                .order = 4,
                                .error_order = 3,
                                .stages = 2,
                                .c = {0.5, 1},
                                .term_count = 6,
                                .terms = {{TW_ROW_STEP, 0, 3, 1, 16},
                                          {TW_ROW_STEP, 1, 3, 1, -2},
                                          {TW_ROW_STEP, 0, 4, 1, -48},
                                          {TW_ROW_STEP, 1, 4, 1, 12},
                                          {TW_ROW_ERROR, 0, 4, 1, -48},
                                          {TW_ROW_ERROR, 1, 4, 1, 12}}};

static tw_status acceleration(void *context, double t, const double *x, const double *v, double *a)
{
    (void)context, (void)t, (void)v;
    a[0] = -x[0] - x[0] * x[0] * x[0];
    return TW_OK;
}

/* x at t = 10 from (1, 0), with n steps; NAN if it failed. */
static double run(const tw_tableau *tableau, int n)
{
    tw_second_order_problem problem = tw_second_order_problem_default();
    problem.space.local_size = 1;
    problem.acceleration = acceleration;
    tw_integrator_options options = tw_integrator_options_default();
    options.tableau = tableau;
    options.step = 10.0 / n;
    options.phi.tolerance = 1e-13;
    tw_integrator *integrator = NULL;
    tw_error error = {0};
    double u[2] = {1, 0};
    tw_status status = tw_integrator_create_second_order(&problem, &options, &integrator, &error);
    if (!status) status = tw_integrator_start(integrator, 0, u, &error);
    if (!status) status = tw_integrator_advance(integrator, 10, &error);
    if (!status) tw_integrator_state(integrator, NULL, u);
    if (status) printf("not run: %s\n", error.text);
    tw_integrator_free(integrator);
    return status ? NAN : u[0];
}

int main(void)
{
    tw_tableau_report report;
    tw_error error = {0};
    if (tw_tableau_check(&mine, &report, &error))
        return fprintf(stderr, "own_tableau: %s\n", error.text), 1;
    printf("%s: order %d (strong form up to %d)\n", mine.name, report.order, report.strong_order);
    double reference = run(&mine, 6400), coarse = run(&mine, 100) - reference,
           fine = run(&mine, 200) - reference;
    printf("errors at t = 10 with 100 and 200 steps: %.2e, %.2e: order %.2f\n", fabs(coarse),
           fabs(fine), log2(fabs(coarse / fine)));
    tw_tableau slip = mine;
    slip.terms[0].coefficient = 15;
    return isnan(run(&slip, 100)) && fabs(fine) < fabs(coarse) ? 0 : 1;
}
