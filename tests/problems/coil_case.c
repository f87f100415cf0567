#include "problems/coil_case.h"

#include <stdlib.h>
#include <string.h>

static tw_status take_state(coil_case *c, coil_parameters parameters, double seconds)
{
    size_t n = (size_t)c->p.size;
    c->x = calloc(5 * n, sizeof *c->x);
    if (!c->x) return TW_OUT_OF_MEMORY;
    c->v = c->x + n, c->a = c->v + n, c->out = c->a + n, c->exact = c->out + n;
    if (seconds > 0) return coil_state(parameters, seconds, c->x, c->v, NULL);
    memcpy(c->x, c->network->initial, n * sizeof *c->x);
    return TW_OK;
}

tw_status coil_case_create(coil_parameters parameters, double seconds, coil_case *c,
                           tw_error *error)
{
    *c = (coil_case){0};
    tw_status status = coil_create(parameters, &c->network);
    if (status) return status;
    c->p = spring_network_problem(c->network);
    status = take_state(c, parameters, seconds);
    if (status == TW_OK) status = problem_create_stiffness(&c->p, TW_STORE_UPPER, &c->K, error);
    if (status == TW_OK)
        status = tw_shifted_cholesky_create(c->K, NULL, c->p.lumped_mass, &c->solver, error);
    if (status == TW_OK) coil_case_linearise(c);
    return status;
}

void coil_case_linearise(coil_case *c)
{
    c->p.acceleration(c->p.context, c->x, c->a);
    c->p.linearise(c->p.context, c->x);
    problem_fill_stiffness(&c->p, c->K);
    tw_shifted_cholesky_invalidate(c->solver);
    c->op = problem_second_order_assembled(&c->p, c->K);
    c->op.shifted = tw_shifted_cholesky_view(c->solver);
}

void coil_case_free(coil_case *c)
{
    tw_shifted_cholesky_free(c->solver);
    tw_sparse_free(c->K);
    spring_network_free(c->network);
    free(c->x);
}

tw_status coil_case_update(const coil_case *c, tw_phi_engine engine, double tolerance, double h,
                           double *out, tw_phi_statistics *statistics, tw_error *error)
{
    tw_phi_options options = tw_phi_options_default();
    options.engine = engine;
    options.tolerance = tolerance;
    return position_update(&c->op, &options, h, c->v, c->a, out, statistics, error);
}
