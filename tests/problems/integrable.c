#include "problems/integrable.h"

#include <string.h>

static tw_status acceleration(void *context, double t, const double *x, const double *v, double *a)
{
    (void)t, (void)v;
    const problem *p = ((integrable *)context)->plain;
    p->acceleration(p->context, x, a);
    return TW_OK;
}

static tw_status linearise(void *context, double t, const double *x, const double *v)
{
    (void)t, (void)v;
    const problem *p = ((integrable *)context)->plain;
    p->linearise(p->context, x);
    return TW_OK;
}

static tw_status linearise_tension(void *context, double t, const double *x, const double *v,
                                   const double *tension, bool definite)
{
    (void)t, (void)v;
    const problem *p = ((integrable *)context)->plain;
    p->linearise_tension(p->context, x, tension, definite);
    return TW_OK;
}

static tw_status predict_tension(void *context, double t, const double *x, const double *v,
                                 const double *dx, double rate, double *tension, double *turn)
{
    (void)t;
    const problem *p = ((integrable *)context)->plain;
    (void)v;
    (void)rate;
    p->predict_tension(p->context, x, dx, tension, turn);
    return TW_OK;
}

static tw_status apply_stiffness(void *context, int count, const double *in, double *out)
{
    const problem *p = ((integrable *)context)->plain;
    return p->apply_stiffness(p->context, count, in, out);
}

static tw_status assemble(void *context, tw_sparse *matrix)
{
    problem_fill_stiffness(((integrable *)context)->plain, matrix);
    return TW_OK;
}

static tw_status energy(void *context, double t, const double *x, const double *v, double *kinetic,
                        double *potential)
{
    (void)t;
    const problem *p = ((integrable *)context)->plain;
    *potential = p->potential(p->context, x);
    *kinetic = 0;
    for (int64_t i = 0; i < p->size; i++)
        *kinetic += 0.5 * (p->lumped_mass ? p->lumped_mass[i] : 1.0) * v[i] * v[i];
    return TW_OK;
}

tw_status integrable_create(const problem *plain, bool assembled, integrable *out)
{
    memset(out, 0, sizeof *out);
    out->plain = plain;
    out->table = tw_second_order_problem_default();
    out->table.space.local_size = plain->size;
    out->table.context = out;
    out->table.acceleration = acceleration;
    out->table.linearise = linearise;
    out->table.tension = (tw_tension_elements){
        .count = plain->tension_count, .linearise = linearise_tension, .predict = predict_tension};
    out->table.apply_stiffness = assembled ? NULL : apply_stiffness;
    out->table.lumped_mass = plain->lumped_mass;
    out->table.energy = energy;
    if (!assembled) return TW_OK;
    tw_status status = problem_create_stiffness(plain, TW_STORE_FULL, &out->matrix, NULL);
    out->table.stiffness_matrix = out->matrix;
    out->table.assemble = assemble;
    return status;
}

void integrable_free(integrable *p)
{
    tw_sparse_free(p->matrix);
    memset(p, 0, sizeof *p);
}
