/* Your own second-order problem: a pendulum on a stiff spring, integrated with expmid2 and with a hundredth of the
 * step. usage: own_problem */
#include <math.h>
#include <stdio.h>
#include <twang/twang.h>

typedef struct pendulum {
    double stiffness, length, gravity; /* mass 1 */
    double K[2][2];                    /* the tangent at the last linearisation */
} pendulum;

/* a = -k (|x| - L) x/|x| - g e_2 */
static tw_status acceleration(void *context, double t, const double *x, const double *v, double *a)
{
    (void)t, (void)v;
    const pendulum *p = context;
    double r = hypot(x[0], x[1]), pull = p->stiffness * (1 - p->length / r);
    a[0] = -pull * x[0];
    a[1] = -pull * x[1] - p->gravity;
    return r > 0 ? TW_OK : TW_RECOVERABLE; /* "not here: try a smaller step" */
}

/* K = -da/dx = k (1 - L/r) I + k L/r n n^T,  n = x/r */
static tw_status linearise(void *context, double t, const double *x, const double *v)
{
    (void)t, (void)v;
    pendulum *p = context;
    double r = hypot(x[0], x[1]), k = p->stiffness, ratio = p->length / r;
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 2; j++)
            p->K[i][j] = k * ((i == j ? 1 - ratio : 0) + ratio * x[i] * x[j] / (r * r));
    return TW_OK;
}

static tw_status assemble(void *context, tw_sparse *matrix)
{
    const pendulum *p = context;
    double *values = tw_sparse_values(matrix);
    for (int i = 0; i < 4; i++) values[i] = p->K[i / 2][i % 2];
    return TW_OK;
}

/* From hanging aside, at rest, to t = 3 with n steps. */
static tw_status swing(const tw_second_order_problem *problem, int n, double u[4], tw_error *error)
{
    tw_integrator_options options = tw_integrator_options_default();
    options.scheme = TW_SCHEME_EXPMID2;
    options.step = 3.0 / n;
    u[0] = 1, u[1] = u[2] = u[3] = 0;
    tw_integrator *integrator = NULL;
    tw_status status = tw_integrator_create_second_order(problem, &options, &integrator, error);
    if (!status) status = tw_integrator_start(integrator, 0, u, error);
    if (!status) status = tw_integrator_advance(integrator, 3, error);
    if (!status) tw_integrator_state(integrator, NULL, u);
    tw_integrator_free(integrator);
    return status;
}

int main(void)
{
    pendulum p = {.stiffness = 1e6, .length = 1, .gravity = 9.81};
    tw_error error = {0};
    tw_second_order_problem problem = tw_second_order_problem_default();
    problem.space.local_size = 2;
    problem.context = &p;
    problem.acceleration = acceleration;
    problem.linearise = linearise;
    problem.assemble = assemble;
    double coarse[4], fine[4];
    tw_status status =
        tw_sparse_create(1, 2, (const int64_t[]){0, 2, 4}, (const int64_t[]){0, 1, 0, 1},
                         TW_STORE_FULL, &problem.stiffness_matrix, &error);
    if (!status) status = swing(&problem, 150, coarse, &error);
    if (!status) status = swing(&problem, 15000, fine, &error);
    if (status) fprintf(stderr, "own_problem: %s\n", error.text);
    if (!status)
        printf("h = 0.02: (%.6f, %.6f)   h = 0.0002: (%.6f, %.6f)\n", coarse[0], coarse[1], fine[0],
               fine[1]);
    tw_sparse_free(problem.stiffness_matrix);
    return status ? 1 : 0;
}
