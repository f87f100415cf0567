#include "problems/exprb42_step.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

tw_status exprb42_create(const problem *p, tw_phi_workspace *workspace, exprb42 *out)
{
    *out = (exprb42){.p = p, .workspace = workspace};
    out->memory = malloc(10 * (size_t)p->size * sizeof(double));
    return out->memory ? TW_OK : TW_OUT_OF_MEMORY;
}

void exprb42_free(exprb42 *stepper)
{
    free(stepper->memory);
    stepper->memory = NULL;
}

static void add_statistics(tw_phi_statistics *sum, const tw_phi_statistics *more)
{
    sum->engine = more->engine;
    sum->products += more->products;
    sum->solves += more->solves;
    sum->factorisations += more->factorisations;
    sum->substeps += more->substeps;
    sum->rejected += more->rejected;
    if (more->dimension > sum->dimension) sum->dimension = more->dimension;
    sum->estimated_error = fmax(sum->estimated_error, more->estimated_error);
    sum->pole = more->pole;
    sum->cost += more->cost;
    sum->fell_back = sum->fell_back || more->fell_back;
}

static double mass_norm(const problem *p, const double *x)
{
    double sum = 0;
    for (int64_t i = 0; i < p->size; i++)
        sum += (p->lumped_mass ? p->lumped_mass[i] : 1.0) * x[i] * x[i];
    return sqrt(sum);
}

/* D2 = F(U2) - F - J (U2 - u) = (0, a(x2) - a(x) + A (x2 - x)), U2 = u + 3/4 h w. The x-part is zero because
 * F's x-part is linear. `scratch` has N entries. */
static tw_status stage_remainder(const exprb42 *stepper, const tw_second_order *op, double h,
                                 const double *x, const double *w, const double *a, double *D2,
                                 double *scratch)
{
    const problem *p = stepper->p;
    int64_t n = p->size;
    double *d2 = D2 + n;
    for (int64_t i = 0; i < n; i++) scratch[i] = 0.75 * h * w[i];
    tw_status status = op->stiffness.apply(op->stiffness.context, 1, scratch, D2);
    if (status) return status;
    for (int64_t i = 0; i < n; i++) scratch[i] += x[i];
    p->acceleration(p->context, scratch, d2);
    for (int64_t i = 0; i < n; i++)
        d2[i] += D2[i] / (p->lumped_mass ? p->lumped_mass[i] : 1.0) - a[i];
    memset(D2, 0, (size_t)n * sizeof *D2);
    return TW_OK;
}

tw_status exprb42_step(exprb42 *stepper, const tw_second_order *op, double h, double *x, double *v,
                       tw_phi_statistics *statistics, tw_error *error)
{
    const problem *p = stepper->p;
    int64_t n = p->size;
    double *F = stepper->memory, *stage = F + 2 * n, *final = F + 4 * n, *D2 = F + 6 * n,
           *correction = F + 8 * n;
    tw_phi_statistics part = {0};
    *statistics = part;
    memcpy(F, v, (size_t)n * sizeof *F);
    p->acceleration(p->context, x, F + n);

    /* phi_1(3/4 h J) F and phi_1(h J) F from one call. */
    tw_phi_request first = {.time = h,
                            .node_count = 2,
                            .nodes = (double[]){0.75, 1.0},
                            .order = 1,
                            .vectors = (const double *const[]){NULL, F},
                            .outputs = (double *const[]){stage, final}};
    tw_status status = tw_phi_evaluate_second_order(stepper->workspace, op, &first, &part, error);
    add_statistics(statistics, &part);
    if (status == TW_OK) status = stage_remainder(stepper, op, h, x, stage, F + n, D2, correction);
    if (status) return status;
    statistics->products += 1;

    /* u + h phi_1 F + 32/9 h phi_3 D2: the error of the second term counts against the step's own size. */
    const double weight = 32.0 / 9.0;
    tw_phi_request second = {
        .time = h,
        .node_count = 1,
        .nodes = (double[]){1.0},
        .order = 3,
        .vectors = (const double *const[]){NULL, NULL, NULL, D2},
        .outputs = (double *const[]){correction},
        .reference = {mass_norm(p, final) / weight, mass_norm(p, final + n) / weight}};
    status = tw_phi_evaluate_second_order(stepper->workspace, op, &second, &part, error);
    add_statistics(statistics, &part);
    if (status) return status;
    for (int64_t i = 0; i < n; i++) x[i] += h * (final[i] + weight * correction[i]);
    for (int64_t i = 0; i < n; i++) v[i] += h * (final[n + i] + weight * correction[n + i]);
    return TW_OK;
}
