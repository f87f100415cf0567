/* Dense output of the exponential Rosenbrock schemes: exact for linear problems, a polynomial model of the remainder
 * otherwise. Points that were announced (tw_integrator_expect_output) are made together with the step. */
#include <math.h>

#include "base/allocate.h"
#include "integrators/exponential_rosenbrock.h"
#include "linalg/vector.h"

/* ---- the model of the remainder ---- */

/* A scheme of order p has an end good to h^(p+1); a point inside is as good if the model of the remainder is good to
 * h^p: r(s) = sum of p - 2 powers s^2 .. s^(p-1). The step's own weights may do with fewer (exprb42 chose its node so
 * that the next power cancels, but only at the end). Then the remainder at the end joins those of the stages. */
static bool needs_end(const tw_rosenbrock *memory)
{
    const tw_tableau *tableau = &memory->tableau;
    bool distinct = true;
    for (int i = 0; i < tableau->stages; i++)
        for (int j = 0; j <= i; j++)
            distinct =
                distinct && tableau->c[i] != (j < i ? tableau->c[j] : 1.0) && tableau->c[i] > 0;
    return distinct && !memory->fixed && tableau->stages > 0 &&
           tableau->stages < tableau->order - 2;
}

/* weight[q][i]: r(s) = sum_q (s/h)^(q+2) sum_i weight[q][i] D_i passes through D_i at c_i, the last at 1: column i is
 * (x/c_i)^2 prod_{j != i} (x - c_j)/(c_i - c_j), its coefficients of x^2, x^3, ... */
static void remainder_weights(const tw_tableau *tableau,
                              double weight[TW_MAX_REMAINDERS][TW_MAX_REMAINDERS])
{
    int count = tableau->stages + 1;
    double c[TW_MAX_REMAINDERS];
    for (int i = 0; i < count; i++) c[i] = i < tableau->stages ? tableau->c[i] : 1.0;
    for (int i = 0; i < count; i++) {
        double poly[TW_MAX_REMAINDERS + 1] = {1 / (c[i] * c[i])};
        int degree = 0;
        for (int j = 0; j < count; j++) {
            if (j == i) continue;
            for (int q = ++degree; q >= 0; q--)
                poly[q] =
                    ((q > 0 ? poly[q - 1] : 0) - c[j] * (q < degree ? poly[q] : 0)) / (c[i] - c[j]);
        }
        for (int q = 0; q < count; q++) weight[q][i] = poly[q];
    }
}

/* What remainders [first, last) of the model give up to theta: (s/h)^q gives h q! theta^(q+1) phi_(q+1)(theta hJ). */
static void add_model_row(const tw_integrator *integrator, const tw_rosenbrock *memory,
                          tw_phi_sum *sum, int row, double theta, int first, int last)
{
    double weight[TW_MAX_REMAINDERS][TW_MAX_REMAINDERS] = {{0}};
    remainder_weights(&memory->tableau, weight);
    for (int i = first; i < last; i++) {
        int source = tw_rosenbrock_source(integrator, memory, sum, i);
        for (int q = 0; q <= memory->tableau.stages; q++)
            tw_phi_sum_add(sum, row, source, q + 3, theta,
                           sum->h * tgamma(q + 3.0) * pow(theta, q + 3) * weight[q][i]);
    }
}

static tw_phi_sum model_sum(const tw_integrator *integrator, double h)
{
    return (tw_phi_sum){
        .h = h, .tolerance = integrator->options.phi.tolerance, .slot = TW_SLOT_REMAINDER};
}

static void add_row(const tw_rosenbrock *memory, tw_phi_sum *sum, double *out)
{
    sum->reference[sum->row_count][0] = memory->step_size[0];
    sum->reference[sum->row_count][1] = memory->step_size[1];
    sum->row[sum->row_count++] = out;
}

/* The remainder at the end; its F is the next step's. */
static tw_status find_end(tw_integrator *integrator, tw_rosenbrock *memory, double h)
{
    tw_status status = tw_integrator_need_rhs(integrator);
    return status ? status
                  : tw_rosenbrock_subtract_model(
                        integrator, memory, h, integrator->u_old, integrator->F_old, integrator->u,
                        integrator->F, memory->F_stage, memory->remainder[memory->tableau.stages]);
}

/* What the step's end has and the model's end, linear[last] + `model`, has not. */
static void find_gap(const tw_integrator *integrator, tw_rosenbrock *memory, const double *model)
{
    int64_t size = integrator->system.size;
    tw_vector_copy(size, integrator->u, memory->gap);
    tw_vector_axpy(size, -1.0, integrator->u_old, memory->gap);
    tw_vector_axpy(size, -1.0, memory->linear[memory->rows - 1], memory->gap);
    tw_vector_axpy(size, -1.0, model, memory->gap);
}

/* ---- points made with the step ---- */

/* So many rows fit beside the stages and the step, the model's end among them. */
static int most_points(const tw_rosenbrock *memory)
{
    int stages = memory->tableau.stages, terms = stages * (stages + 1), own = 0;
    for (int i = 0; i < memory->tableau.term_count; i++)
        own += memory->tableau.terms[i].row == TW_ROW_STEP;
    if (own > terms) terms = own;
    int rows = TW_SUM_MAX_ROWS - memory->rows - 1,
        sums = terms > 0 ? TW_SUM_MAX_TERMS / terms - 2 : rows;
    int most = rows < sums ? rows : sums;
    return most < TW_MAX_POINTS ? most : TW_MAX_POINTS;
}

tw_status tw_rosenbrock_expect(tw_integrator *integrator, double interval)
{
    tw_rosenbrock *memory = integrator->memory;
    tw_rosenbrock_points *points = &memory->points;
    points->count = 0;
    if (!(interval > 0) || isinf(interval) || points->storage) return TW_OK;
    size_t size = (size_t)integrator->system.size;
    points->storage = tw_allocate_zeroed((3 * TW_MAX_POINTS + 2) * size, sizeof(double));
    if (!points->storage) return TW_OUT_OF_MEMORY;
    double *cursor = points->storage;
    for (int i = 0; i < TW_MAX_POINTS; i++, cursor += size) points->linear[i] = cursor;
    for (int i = 0; i <= TW_MAX_POINTS; i++, cursor += size) points->remainder[i] = cursor;
    for (int i = 0; i <= TW_MAX_POINTS; i++, cursor += size) points->share[i] = cursor;
    return TW_OK;
}

void tw_rosenbrock_choose_points(tw_integrator *integrator, double h)
{
    tw_rosenbrock *memory = integrator->memory;
    tw_rosenbrock_points *points = &memory->points;
    points->count = 0;
    points->complete = false;
    if (!points->storage || !tw_propagator_is_spectral(memory->propagator) || integrator->doubles)
        return;
    double start = integrator->expected_start, interval = integrator->expected_interval,
           t = integrator->t;
    if (!(interval > 0) || isinf(interval)) return;
    double slack = tw_time_slack(t, h) / h;
    int most = most_points(memory);
    for (double k = fmax(0, floor((t - start) / interval)); points->count < most; k++) {
        double theta = (start + k * interval - t) / h;
        if (theta >= 1 - slack) return;
        if (theta > slack) points->theta[points->count++] = theta;
    }
}

void tw_rosenbrock_add_linear_points(const tw_integrator *integrator, const tw_rosenbrock *memory,
                                     tw_phi_sum *sum)
{
    for (int i = 0; i < memory->points.count; i++) {
        sum->incidental[sum->row_count] = true;
        sum->row[sum->row_count] = memory->points.linear[i];
        tw_rosenbrock_add_linear_row(integrator, sum, sum->row_count++, memory->points.theta[i]);
    }
}

void tw_rosenbrock_add_remainder_points(const tw_integrator *integrator,
                                        const tw_rosenbrock *memory, tw_phi_sum *sum)
{
    const tw_rosenbrock_points *points = &memory->points;
    bool own = !needs_end(memory);
    int stages = memory->tableau.stages;
    for (int i = 0; points->count > 0 && i < points->count + !own; i++) {
        double theta = i < points->count ? points->theta[i] : 1.0;
        sum->incidental[sum->row_count] = true;
        sum->row[sum->row_count] = points->remainder[i];
        if (own)
            tw_rosenbrock_add_tableau_row(integrator, memory, sum, sum->row_count++, TW_ROW_STEP,
                                          theta);
        else
            add_model_row(integrator, memory, sum, sum->row_count++, theta, 0, stages);
    }
}

/* Adds what the remainder at the end gives, to the points and to the model's end. */
static tw_status complete_points(tw_integrator *integrator, tw_rosenbrock *memory, double h)
{
    tw_rosenbrock_points *points = &memory->points;
    int stages = memory->tableau.stages;
    tw_status status = find_end(integrator, memory, h);
    if (status) return status;
    tw_phi_sum sum = model_sum(integrator, h);
    sum.slot = TW_SLOT_ESTIMATE; /* the bases of the stages' remainders stay */
    sum.single_use = true;
    for (int i = 0; i <= points->count; i++) {
        add_row(memory, &sum, points->share[i]);
        add_model_row(integrator, memory, &sum, i, i < points->count ? points->theta[i] : 1.0,
                      stages, stages + 1);
    }
    status = tw_propagator_apply(memory->propagator, &integrator->system, &sum, NULL);
    if (status) return status;
    for (int i = 0; i <= points->count; i++)
        tw_vector_axpy(integrator->system.size, 1.0, points->share[i], points->remainder[i]);
    find_gap(integrator, memory, points->remainder[points->count]);
    points->complete = true;
    return TW_OK;
}

/* The point at theta, or -1. */
static int find_point(const tw_integrator *integrator, const tw_rosenbrock_points *points,
                      double theta)
{
    double slack = tw_time_slack(integrator->t, integrator->step_taken) / integrator->step_taken;
    for (int i = 0; i < points->count; i++)
        if (fabs(theta - points->theta[i]) <= slack) return i;
    return -1;
}

static tw_status point_state(tw_integrator *integrator, tw_rosenbrock *memory, int point, double *u)
{
    tw_rosenbrock_points *points = &memory->points;
    int64_t size = integrator->system.size;
    bool own = !needs_end(memory);
    tw_vector_copy(size, integrator->u_old, u);
    tw_vector_axpy(size, 1.0, points->linear[point], u);
    if (!tw_rosenbrock_has_terms(&memory->tableau, TW_ROW_STEP)) return TW_OK;
    tw_status status = own || points->complete
                           ? TW_OK
                           : complete_points(integrator, memory, integrator->step_taken);
    if (status) return status;
    tw_vector_axpy(size, 1.0, points->remainder[point], u);
    if (!own)
        tw_vector_axpy(size, pow(points->theta[point], memory->tableau.order), memory->gap, u);
    return TW_OK;
}

/* ---- any other point ---- */

static tw_phi_sum dense_sum(const tw_integrator *integrator, const tw_rosenbrock *memory, double h,
                            double theta)
{
    tw_phi_sum sum = model_sum(integrator, h);
    sum.same_sources = memory->dense_ready && tw_propagator_keeps_bases(memory->propagator);
    add_row(memory, &sum, memory->work);
    add_model_row(integrator, memory, &sum, 0, theta, 0, memory->tableau.stages + 1);
    return sum;
}

/* u = u_n + what F_n and F_t give up to theta. */
static tw_status dense_linear(tw_integrator *integrator, tw_rosenbrock *memory, double h,
                              double theta, double *u)
{
    tw_phi_sum sum = tw_rosenbrock_linear_sum(integrator, memory, h, integrator->F_old);
    sum.row_count = 1;
    sum.row[0] = memory->work;
    tw_rosenbrock_add_linear_row(integrator, &sum, 0, theta);
    tw_status status = tw_propagator_apply(memory->propagator, &integrator->system, &sum, NULL);
    tw_vector_copy(integrator->system.size, integrator->u_old, u);
    tw_vector_axpy(integrator->system.size, 1.0, memory->work, u);
    return status;
}

/* The remainder at the end, and the gap between the model's end and the step's. */
static tw_status prepare_dense(tw_integrator *integrator, tw_rosenbrock *memory, double h)
{
    tw_status status = find_end(integrator, memory, h);
    if (status) return status;
    tw_phi_sum sum = dense_sum(integrator, memory, h, 1.0);
    status = tw_propagator_apply(memory->propagator, &integrator->system, &sum, NULL);
    find_gap(integrator, memory, memory->work);
    memory->dense_ready = status == TW_OK;
    return status;
}

tw_status tw_rosenbrock_interpolate(tw_integrator *integrator, double theta, double *u)
{
    tw_rosenbrock *memory = integrator->memory;
    double h = integrator->step_taken;
    int64_t size = integrator->system.size;
    int point = find_point(integrator, &memory->points, theta);
    if (point >= 0) return point_state(integrator, memory, point, u);
    bool own = !needs_end(memory);
    tw_status status = own || memory->dense_ready ? TW_OK : prepare_dense(integrator, memory, h);
    if (status == TW_OK) status = dense_linear(integrator, memory, h, theta, u);
    if (status || !tw_rosenbrock_has_terms(&memory->tableau, TW_ROW_STEP)) return status;
    tw_phi_sum sum =
        own ? tw_rosenbrock_remainder_sum(integrator, memory, h, TW_ROW_STEP, theta, memory->work)
            : dense_sum(integrator, memory, h, theta);
    if (own) sum.same_sources = tw_propagator_keeps_bases(memory->propagator);
    status = tw_propagator_apply(memory->propagator, &integrator->system, &sum, NULL);
    tw_vector_axpy(size, 1.0, memory->work, u);
    if (!own) tw_vector_axpy(size, pow(theta, memory->tableau.order), memory->gap, u);
    return status;
}
