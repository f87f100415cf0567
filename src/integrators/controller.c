/* Step-size control: the error norm, the PI controller, its cost-aware variant and the first step. */
#include <float.h>
#include <math.h>

#include "integrators/integrator_internal.h"
#include "linalg/vector.h"

static const double safety = 0.9, shrink_most = 0.2, grow_most = 5.0;

bool tw_status_is_rejection(tw_status status)
{
    switch (status) {
    case TW_RECOVERABLE:
    case TW_NOT_FINITE:
    case TW_NOT_CONVERGED:
    case TW_NOT_POSITIVE_DEFINITE:
    case TW_SINGULAR:
    case TW_ILL_CONDITIONED:
    case TW_BUDGET_EXHAUSTED:
        return true;
    default:
        return false;
    }
}

/* rms over all ranks of one block of n entries. */
static tw_status rms(const tw_integrator *integrator, int64_t n, const double *x, double *result)
{
    tw_space space = integrator->system.jacobian.space;
    space.local_size = n;
    double values[2] = {0, (double)n};
    tw_status status = tw_vector_norm(&space, x, &values[0]);
    if (status == TW_OK && space.reduce) status = space.reduce(space.context, &values[1], 1);
    *result = values[0] / sqrt(values[1]);
    return status;
}

/* rms(e) / (reference + atol / rtol) of one block: its relative local error. */
static tw_status relative_error(const tw_integrator *integrator, int block, const double *e,
                                double *result)
{
    const tw_integrator_options *options = &integrator->options;
    int64_t n = integrator->system.n, offset = block * n;
    double size = 0, scale = options->reference[block], other = 0;
    tw_status status = rms(integrator, n, e + offset, &size);
    if (status == TW_OK && scale == 0) {
        status = rms(integrator, n, integrator->u + offset, &scale);
        if (status == TW_OK) status = rms(integrator, n, integrator->u_new + offset, &other);
        scale = fmax(scale, other);
    }
    *result = size / (scale + options->absolute_tolerance / options->relative_tolerance + DBL_MIN);
    return status;
}

/* The larger of the two blocks' relative errors. */
static tw_status relative_size(const tw_integrator *integrator, const double *e, double *size)
{
    double v = 0;
    tw_status status = relative_error(integrator, 0, e, size);
    if (status == TW_OK && integrator->system.second_order) {
        status = relative_error(integrator, 1, e, &v);
        if (isnan(v) || v > *size) *size = v;
    }
    return status;
}

/* A local error of h^(q+1) in a method of order p is raised to the power p/(q+1) before it is compared with rtol: the
 * global error, of order h^p, is then proportional to rtol for every scheme (tolerance proportionality). On stiff
 * problems the Rosenbrock schemes gain half an order to one: 1.07 p keeps both kinds near proportional (measured:
 * slopes 0.85 to 1.18 of log error against log rtol, tests/test_adaptive.c). */
static double effective_order(const tw_integrator *integrator)
{
    return 1.07 * integrator->order;
}

double tw_error_rejected(const tw_integrator *integrator)
{
    return pow(integrator->options.relative_tolerance,
               (integrator->error_order + 1) / effective_order(integrator));
}

tw_status tw_error_norm(const tw_integrator *integrator, const double *e, double *norm)
{
    double size = 0;
    tw_status status = relative_size(integrator, e, &size);
    *norm = pow(size, effective_order(integrator) / (integrator->error_order + 1)) /
            integrator->options.relative_tolerance;
    return status;
}

static double clamp(double x, double low, double high)
{
    return x < low ? low : x > high ? high : x;
}

static double bounded(const tw_integrator *integrator, double h)
{
    double largest = integrator->options.largest_step;
    return largest > 0 && h > largest ? largest : h;
}

/* Extremum seeking on cost per unit time: go on in the direction that made it fall, turn where it rose. */
static double cost_aware(tw_integrator *integrator, double h, double h_error, double work)
{
    double cost = work / h;
    if (integrator->cost_old > 0) {
        bool grew = h > integrator->h_old, dearer = cost > 1.02 * integrator->cost_old;
        if (h != integrator->h_old && dearer) integrator->cost_direction = grew ? -1 : 1;
    }
    integrator->cost_old = cost;
    double wish = integrator->cost_direction > 0 ? 1.5 * h : 0.8 * h;
    return fmin(h_error, wish);
}

/* h_new = h * safety * err^(-0.7/q) * err_old^(0.4/q), q the effective order: size ~ h^q (Gustafsson). */
double tw_controller_after_accept(tw_integrator *integrator, double h, double error, double work)
{
    double q = effective_order(integrator), floor_error = 1e-10;
    double now = fmax(error, floor_error);
    double old = integrator->error_old > 0 ? integrator->error_old : now;
    double factor = safety * pow(now, -0.7 / q) * pow(old, 0.4 / q);
    factor = clamp(factor, shrink_most, integrator->last_rejected ? 1.0 : grow_most);
    if (integrator->scheme->equal_steps && factor > 0.85 && factor < 1.5) factor = 1;
    double next = h * factor;
    if (integrator->options.controller == TW_CONTROLLER_COST)
        next = cost_aware(integrator, h, next, work);
    integrator->error_old = now;
    integrator->h_old = h;
    integrator->last_rejected = false;
    return bounded(integrator, next);
}

double tw_controller_after_reject(tw_integrator *integrator, double h, double error)
{
    integrator->last_rejected = true;
    if (!(error > 1) || !isfinite(error)) return 0.25 * h; /* failed outright: no size to go by */
    return h * clamp(safety * pow(error, -1.0 / effective_order(integrator)), shrink_most, 0.9);
}

/* The speed that a body at rest is judged by: a thousandth of what it has when it has moved by its own size. Its own,
 * 0, would ask for steps so small that nothing moves. */
static tw_status speed_from_rest(const tw_integrator *integrator, double *speed)
{
    int64_t n = integrator->system.n;
    double x = 0, a = 0, v = 0;
    tw_status status = rms(integrator, n, integrator->u, &x);
    if (status == TW_OK) status = rms(integrator, n, integrator->u + n, &v);
    if (status == TW_OK) status = rms(integrator, n, integrator->F + n, &a);
    *speed = fmax(v, 1e-3 * sqrt(x * a));
    return status;
}

/* Hairer, Norsett, Wanner I, II.4: h such that an explicit Euler step moves u by about 1 % of its weight, then by the
 * second difference. Stiff forces make it small; the controller grows it in a few steps. */
static tw_status first_step(tw_integrator *integrator, double t_limit, double *h)
{
    tw_status status = TW_OK;
    int64_t size = integrator->system.size;
    double *moved = integrator->scratch, *F = integrator->scratch + size, d0 = 0, d1 = 0, d2 = 0;
    tw_vector_copy(size, integrator->u, integrator->u_new);
    status = relative_size(integrator, integrator->u, &d0);
    if (status == TW_OK) status = relative_size(integrator, integrator->F, &d1);
    double h0 = d0 < 1e-10 || d1 < 1e-10 ? 1e-6 : 0.01 * d0 / d1;
    h0 = fmin(h0, t_limit - integrator->t);
    tw_vector_copy(size, integrator->u, moved);
    tw_vector_axpy(size, h0, integrator->F, moved);
    if (status == TW_OK) status = tw_system_rhs(&integrator->system, integrator->t + h0, moved, F);
    if (status) {
        *h = h0 * 1e-2;
        return tw_status_is_rejection(status) ? TW_OK : status;
    }
    tw_vector_axpy(size, -1.0, integrator->F, F);
    status = relative_size(integrator, F, &d2);
    d2 /= h0;
    double largest = fmax(d1, d2), target = 0.01 * integrator->options.relative_tolerance;
    double h1 = largest <= 1e-15 ? fmax(1e-6, 1e-3 * h0)
                                 : pow(target / largest, 1.0 / (integrator->order + 1));
    *h = bounded(integrator, fmin(fmin(100 * h0, h1), t_limit - integrator->t));
    return status;
}

tw_status tw_controller_first_step(tw_integrator *integrator, double t_limit, double *h)
{
    double *reference = &integrator->options.reference[1], given = *reference;
    tw_status status = tw_integrator_need_rhs(integrator);
    if (status == TW_OK && integrator->system.second_order && given == 0)
        status = speed_from_rest(integrator, reference);
    if (status == TW_OK) status = first_step(integrator, t_limit, h);
    *reference = given;
    return status;
}
