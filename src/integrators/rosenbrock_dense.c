/* Dense output of the exponential Rosenbrock schemes:
 *
 *   u(t_n + theta h) = u_n + theta h phi_1 F_n + (theta h)^2 phi_2 F_t + what the remainders give
 *
 * with phi_k of theta hJ. It is exact for linear problems; otherwise the remainder is modelled by a
 * polynomial in time. Points that were announced (tw_integrator_expect_output) are computed
 * together with the step. */
#include <math.h>

#include "base/allocate.h"
#include "base/fail.h"
#include "integrators/exponential_rosenbrock.h"
#include "linalg/vector.h"

/* ---- the model of the remainder ---- */

/* A scheme of order p has an end that is accurate to h^(p+1). A point inside is as accurate if the
 * model of the remainder is accurate to h^p: r(s) = sum of the p - 2 powers s^2 .. s^(p-1). The
 * step's own weights may use fewer powers, because the nodes are chosen so that the next power
 * cancels at the end (exprb42), but only there. In that case the remainder at the end of the step
 * joins those of the stages. */
static bool needs_end(const tw_rosenbrock *memory)
{
    const tw_tableau *tableau = &memory->tableau;

    /* Interpolation needs nodes that are positive, distinct and different from the end. */
    bool distinct = true;
    for (int i = 0; i < tableau->stages; i++) {
        distinct = distinct && tableau->c[i] > 0 && tableau->c[i] != 1.0;
        for (int j = 0; j < i; j++) distinct = distinct && tableau->c[i] != tableau->c[j];
    }

    /* The end joins if the stages alone give too few powers. */
    return distinct && !memory->fixed && tableau->stages > 0 &&
           tableau->stages < tableau->order - 2;
}

/* Coefficients of x^2, x^3, .. of (x/c_i)^2 prod_{j != i} (x - c_j)/(c_i - c_j), which is 1 at
 * x = c_i and 0 at the other nodes. */
static void nodal_polynomial(int count, const double *c, int i,
                             double coefficient[TW_MAX_REMAINDERS + 1])
{
    /* Begin with the constant 1/c_i^2. */
    int degree = 0;
    coefficient[0] = 1 / (c[i] * c[i]);
    for (int j = 0; j < count; j++) {
        if (j == i) continue;

        /* Multiply by (x - c_j)/(c_i - c_j). */
        degree++;
        for (int q = degree; q >= 0; q--) {
            double shifted = q > 0 ? coefficient[q - 1] : 0;
            double same = q < degree ? coefficient[q] : 0;
            coefficient[q] = (shifted - c[j] * same) / (c[i] - c[j]);
        }
    }
}

/* weight[q][i]: r(s) = sum_q (s/h)^(q+2) sum_i weight[q][i] D_i passes through D_i at c_i; the last
 * node is 1, the end of the step. */
static void remainder_weights(const tw_tableau *tableau,
                              double weight[TW_MAX_REMAINDERS][TW_MAX_REMAINDERS])
{
    /* The nodes are those of the stages, then the end of the step. */
    int count = tableau->stages + 1;
    double c[TW_MAX_REMAINDERS];
    for (int i = 0; i < tableau->stages; i++) c[i] = tableau->c[i];
    c[tableau->stages] = 1.0;

    for (int i = 0; i < count; i++) {
        double polynomial[TW_MAX_REMAINDERS + 1] = {0};
        nodal_polynomial(count, c, i, polynomial);
        for (int q = 0; q < count; q++) weight[q][i] = polynomial[q];
    }
}

/* Some remainders of the model: [first, last). */
typedef struct remainder_range {
    int first;
    int last;
} remainder_range;

/* Adds what these remainders contribute up to theta: (s/h)^(q+2), the power of weight[q],
 * contributes h (q+2)! theta^(q+3) phi_(q+3)(theta hJ). */
static void add_model_row(const tw_integrator *integrator, tw_phi_sum *sum, int row, double theta,
                          remainder_range range)
{
    const tw_rosenbrock *memory = integrator->memory;
    double weight[TW_MAX_REMAINDERS][TW_MAX_REMAINDERS] = {{0}};
    remainder_weights(&memory->tableau, weight);

    for (int i = range.first; i < range.last; i++) {
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

/* Adds an empty row; its tolerance refers to the norm of the step. */
static void add_row(const tw_rosenbrock *memory, tw_phi_sum *sum, double *out)
{
    sum->reference[sum->row_count][0] = memory->step_norm[0];
    sum->reference[sum->row_count][1] = memory->step_norm[1];
    sum->row[sum->row_count++] = out;
}

/* The remainder at the end of the step. F there is the first F of the next step. */
static tw_status find_end(tw_integrator *integrator, double h)
{
    const tw_rosenbrock *memory = integrator->memory;
    TW_TRY(tw_integrator_need_rhs(integrator));
    tw_linear_model model = tw_rosenbrock_model(integrator, integrator->u_old, integrator->F_old);
    tw_sloped_state end = {integrator->u, integrator->F};
    double *const scratch[2] = {memory->work, memory->F_stage};
    return tw_system_remainder(&integrator->system, &model, h, &end, scratch,
                               memory->remainder[memory->tableau.stages]);
}

/* gap = end of the step - end of the model, which is u_n + linear part + `model`. */
static void find_gap(const tw_integrator *integrator, tw_rosenbrock *memory, const double *model)
{
    int64_t size = integrator->system.size;
    tw_vector_copy(size, integrator->u, memory->gap);
    tw_vector_axpy(size, -1.0, integrator->u_old, memory->gap);
    tw_vector_axpy(size, -1.0, memory->linear[memory->rows - 1], memory->gap);
    tw_vector_axpy(size, -1.0, model, memory->gap);
}

/* ---- points computed with the step ---- */

/* How many points fit into a sum beside the stages, the step and the end of the model. */
static int most_points(const tw_rosenbrock *memory)
{
    /* Terms of one point: those of the model, or those of the step's own row. */
    int stages = memory->tableau.stages;
    int terms = stages * (stages + 1);
    int own = 0;
    for (int i = 0; i < memory->tableau.term_count; i++)
        own += memory->tableau.terms[i].row == TW_ROW_STEP;
    if (own > terms) terms = own;

    /* The step, the end of the model and sums beside the state take the terms of three points. */
    int most = TW_SUM_MAX_ROWS - memory->rows - 2;
    if (terms > 0 && TW_SUM_MAX_TERMS / terms - 3 < most) most = TW_SUM_MAX_TERMS / terms - 3;

    return most < TW_MAX_POINTS ? most : TW_MAX_POINTS;
}

tw_status tw_rosenbrock_expect(tw_integrator *integrator, double interval)
{
    tw_rosenbrock *memory = integrator->memory;
    tw_rosenbrock_points *points = &memory->points;
    points->count = 0;
    if (!(interval > 0) || isinf(interval) || points->storage) return TW_OK;

    /* Allocate at the first call. */
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

    double start = integrator->expected_start;
    double interval = integrator->expected_interval;
    double t = integrator->t;
    if (!(interval > 0) || isinf(interval)) return;

    /* Output times start + k interval strictly inside (t, t + h), as far as they fit. */
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
    if (points->count == 0) return;

    /* The model with the remainder at the end has one more row, at theta = 1. */
    bool own = !needs_end(memory);
    remainder_range stages = {0, memory->tableau.stages};
    int rows = own ? points->count : points->count + 1;
    for (int i = 0; i < rows; i++) {
        double theta = i < points->count ? points->theta[i] : 1.0;
        int row = sum->row_count++;
        sum->incidental[row] = true;
        sum->row[row] = points->remainder[i];
        if (own)
            tw_rosenbrock_add_tableau_row(integrator, memory, sum, row, TW_ROW_STEP, theta);
        else
            add_model_row(integrator, sum, row, theta, stages);
    }
}

/* Adds what the remainder at the end contributes, to the points and to the end of the model. */
static tw_status complete_points(tw_integrator *integrator, double h)
{
    tw_rosenbrock *memory = integrator->memory;
    tw_rosenbrock_points *points = &memory->points;
    int stages = memory->tableau.stages;
    remainder_range end_only = {stages, stages + 1};
    TW_TRY(find_end(integrator, h));

    /* The slot of the estimate is free; the bases of the stages' remainders stay where they are. */
    tw_phi_sum sum = model_sum(integrator, h);
    sum.slot = TW_SLOT_ESTIMATE;
    sum.single_use = true;
    for (int i = 0; i <= points->count; i++) {
        double theta = i < points->count ? points->theta[i] : 1.0;
        add_row(memory, &sum, points->share[i]);
        add_model_row(integrator, &sum, i, theta, end_only);
    }
    TW_TRY(tw_propagator_apply(memory->propagator, &integrator->system, &sum, NULL));

    /* Add these shares, and find the gap at theta = 1. */
    for (int i = 0; i <= points->count; i++)
        tw_vector_axpy(integrator->system.size, 1.0, points->share[i], points->remainder[i]);
    find_gap(integrator, memory, points->remainder[points->count]);
    points->complete = true;
    return TW_OK;
}

/* The number of the point at theta, or -1. */
static int find_point(const tw_integrator *integrator, const tw_rosenbrock_points *points,
                      double theta)
{
    double slack = tw_time_slack(integrator->t, integrator->step_taken) / integrator->step_taken;
    for (int i = 0; i < points->count; i++)
        if (fabs(theta - points->theta[i]) <= slack) return i;
    return -1;
}

static tw_status point_state(tw_integrator *integrator, int point, double *u)
{
    tw_rosenbrock *memory = integrator->memory;
    const tw_rosenbrock_points *points = &memory->points;
    int64_t size = integrator->system.size;
    bool own = !needs_end(memory);

    /* u_n + linear part */
    tw_vector_copy(size, integrator->u_old, u);
    tw_vector_axpy(size, 1.0, points->linear[point], u);
    if (!tw_rosenbrock_has_terms(&memory->tableau, TW_ROW_STEP)) return TW_OK;

    /* + what the remainders contribute. The gap at the end is an error of order p + 1: at theta
     * it is taken as theta^p of that. */
    if (!own && !points->complete) TW_TRY(complete_points(integrator, integrator->step_taken));
    tw_vector_axpy(size, 1.0, points->remainder[point], u);
    if (!own)
        tw_vector_axpy(size, pow(points->theta[point], memory->tableau.order), memory->gap, u);
    return TW_OK;
}

/* ---- any other point ---- */

/* The model at theta, of the stages' remainders and that at the end, into memory->work. */
static tw_phi_sum dense_sum(const tw_integrator *integrator, double h, double theta)
{
    const tw_rosenbrock *memory = integrator->memory;
    remainder_range all = {0, memory->tableau.stages + 1};
    tw_phi_sum sum = model_sum(integrator, h);
    sum.same_sources = memory->dense_ready && tw_propagator_keeps_bases(memory->propagator);

    add_row(memory, &sum, memory->work);
    add_model_row(integrator, &sum, 0, theta, all);
    return sum;
}

/* u = u_n + what F_n and F_t contribute up to theta. */
static tw_status dense_linear(tw_integrator *integrator, double h, double theta, double *u)
{
    tw_rosenbrock *memory = integrator->memory;

    /* The basis of F_n and F_t may still be there. */
    tw_phi_sum sum = tw_rosenbrock_linear_sum(integrator, memory, h, integrator->F_old);
    sum.row_count = 1;
    sum.row[0] = memory->work;
    tw_rosenbrock_add_linear_row(integrator, &sum, 0, theta);

    tw_status status = tw_propagator_apply(memory->propagator, &integrator->system, &sum, NULL);
    tw_vector_copy(integrator->system.size, integrator->u_old, u);
    tw_vector_axpy(integrator->system.size, 1.0, memory->work, u);
    return status;
}

/* The remainder at the end, and the gap between the end of the model and that of the step. */
static tw_status prepare_dense(tw_integrator *integrator, double h)
{
    tw_rosenbrock *memory = integrator->memory;
    TW_TRY(find_end(integrator, h));

    /* Evaluate the model at theta = 1. */
    tw_phi_sum sum = dense_sum(integrator, h, 1.0);
    tw_status status = tw_propagator_apply(memory->propagator, &integrator->system, &sum, NULL);
    find_gap(integrator, memory, memory->work);
    memory->dense_ready = status == TW_OK;
    return status;
}

tw_status tw_rosenbrock_interpolate(tw_integrator *integrator, double theta, double *u)
{
    tw_rosenbrock *memory = integrator->memory;
    tw_system *system = &integrator->system;
    double h = integrator->step_taken;
    int point = find_point(integrator, &memory->points, theta);
    if (point >= 0) return point_state(integrator, point, u);

    /* u_n + linear part */
    bool own = !needs_end(memory);
    if (!own && !memory->dense_ready) TW_TRY(prepare_dense(integrator, h));
    TW_TRY(dense_linear(integrator, h, theta, u));
    if (!tw_rosenbrock_has_terms(&memory->tableau, TW_ROW_STEP)) return TW_OK;

    /* + what the remainders contribute: by the step's own weights, */
    if (own) {
        tw_phi_sum sum =
            tw_rosenbrock_remainder_sum(integrator, memory, h, TW_ROW_STEP, theta, memory->work);
        sum.same_sources = tw_propagator_keeps_bases(memory->propagator);
        tw_status status = tw_propagator_apply(memory->propagator, system, &sum, NULL);
        tw_vector_axpy(system->size, 1.0, memory->work, u);
        return status;
    }

    /* or by the model, corrected by its gap at the end. */
    tw_phi_sum sum = dense_sum(integrator, h, theta);
    tw_status status = tw_propagator_apply(memory->propagator, system, &sum, NULL);
    tw_vector_axpy(system->size, 1.0, memory->work, u);
    tw_vector_axpy(system->size, pow(theta, memory->tableau.order), memory->gap, u);
    return status;
}
