/* A first-order problem in 50 lines: u' = D u_xx + u - u^3 on [0, 1], no flux through the ends. Two phases separate, and
 * the front between them becomes tanh((x - 1/2) / sqrt(2 D)). J comes from finite differences of F. */
#include <math.h>
#include <stdio.h>
#include <twang/twang.h>

enum { N = 200 };
static const double D = 1e-3;

/* F(u) on a grid of N cells, whose middles are at (i + 1/2) / N. */
static tw_status rhs(void *context, double t, const double *u, double *F)
{
    (void)context, (void)t;
    for (int i = 0; i < N; i++) {
        double left = i > 0 ? u[i - 1] : u[i];
        double right = i + 1 < N ? u[i + 1] : u[i];
        F[i] = D * N * N * (left - 2 * u[i] + right) + u[i] - u[i] * u[i] * u[i];
    }
    return TW_OK;
}

int main(void)
{
    tw_first_order_problem problem = tw_first_order_problem_default();
    problem.space.local_size = N;
    problem.rhs = rhs;
    tw_integrator_options options = tw_integrator_options_default();
    options.relative_tolerance = 1e-6; /* adaptive steps of exprb42 */

    double u[N];
    for (int i = 0; i < N; i++) u[i] = -0.1 * cos(3.14159265358979 * (i + 0.5) / N);

    tw_error error = {0};
    tw_integrator *integrator = NULL;
    tw_status status = tw_integrator_create_first_order(&problem, &options, &integrator, &error);
    if (!status) status = tw_integrator_start(integrator, 0, u, &error);
    if (!status) status = tw_integrator_advance(integrator, 20, &error);
    if (status) fprintf(stderr, "allen_cahn_in_50_lines: %s\n", error.text);
    tw_integrator_state(integrator, NULL, u);
    long long steps = (long long)tw_integrator_statistics_now(integrator).steps;
    tw_integrator_free(integrator);

    double distance = 0;
    for (int i = 0; i < N; i++)
        distance = fmax(distance, fabs(u[i] - tanh(((i + 0.5) / N - 0.5) / sqrt(2 * D))));
    printf("%lld steps, at most %.2g from the exact front\n", steps, distance);
    return status ? 1 : 0;
}
