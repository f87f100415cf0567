/* A first-order problem with its Jacobian by callback: two phases that separate (Allen-Cahn) on the
 * unit square, no flux through the edges. usage: allen_cahn [engine]
 *
 *     u' = D lap u + u - u^3 */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <twang/twang.h>

enum { M = 200, N = M * M };
static const double D = 1e-3;
static double u[N], point[N]; /* the state; where J is taken */

/* out = D lap in + (1 - cube at^2) in, a mirror at every edge: F with cube = 1, J with cube = 3 */
static void apply(const double *in, const double *at, double cube, double *out)
{
    for (int j = 0; j < M; j++)
        for (int i = 0; i < M; i++) {
            int k = j * M + i;
            double sum = in[i > 0 ? k - 1 : k] - in[k] + in[i + 1 < M ? k + 1 : k] - in[k];
            sum += in[j > 0 ? k - M : k] - in[k] + in[j + 1 < M ? k + M : k] - in[k];
            out[k] = D * M * M * sum + (1 - cube * at[k] * at[k]) * in[k];
        }
}

static tw_status rhs(void *context, double t, const double *state, double *F)
{
    (void)context, (void)t;
    apply(state, state, 1, F);
    return TW_OK;
}

static tw_status linearise(void *context, double t, const double *state)
{
    (void)context, (void)t;
    memcpy(point, state, sizeof point);
    return TW_OK;
}

static tw_status multiply(void *context, int count, const double *in, double *out)
{
    (void)context;
    for (int c = 0; c < count; c++) apply(in + c * N, point, 3, out + c * N);
    return TW_OK;
}

int main(int argc, char **argv)
{
    tw_error error = {0};
    tw_integrator *integrator = NULL;
    tw_first_order_problem problem = tw_first_order_problem_default();
    problem.space.local_size = N;
    problem.rhs = rhs;
    problem.linearise = linearise;
    problem.jacobian_product = multiply;
    problem.symmetry = TW_SYMMETRIC;
    tw_integrator_options options = tw_integrator_options_default();
    options.scheme = TW_SCHEME_EXPRB42;
    options.relative_tolerance = 1e-6;
    if (argc > 1) options.phi.engine = tw_phi_engine_from_name(argv[1]);

    for (int k = 0; k < N; k++) u[k] = 0.1 * sin(0.05 * (k % M)) * sin(0.1 * k / M);
    tw_status status = tw_integrator_create_first_order(&problem, &options, &integrator, &error);
    if (!status) status = tw_integrator_start(integrator, 0, u, &error);
    for (int second = 1; second <= 9 && !status; second += 4) {
        status = tw_integrator_advance(integrator, second, &error);
        tw_integrator_state(integrator, NULL, u);
        printf("t = %d: u in the corner %.6f, in the middle %.6f\n", second, u[0],
               u[N / 2 + M / 2]);
    }
    if (status) fprintf(stderr, "allen_cahn: %s\n", error.text);
    tw_integrator_free(integrator);
    return status ? 1 : 0;
}
