/* Step-size control: the error norm, the PI controller, its cost-aware variant and the first
 * step. */
#include <float.h>
#include <math.h>

#include "integrators/integrator_internal.h"
#include "linalg/vector.h"

/* Next steps aim at SAFETY^q of the tolerance (q is the effective order), so that few of them are
 * rejected. One step changes the step size at most by these factors (Hairer, Norsett, Wanner I,
 * II.4). */
static const double SAFETY = 0.9;
static const double SHRINK_MOST = 0.2;
static const double GROW_MOST = 5.0;

/* A rejected step shrinks at least to this share. An attempt that failed without an error size
 * shrinks to a quarter. */
static const double SHRINK_LEAST = 0.9;
static const double SHRINK_BLIND = 0.25;

/* Exponents of the PI controller, over q (Gustafsson). */
static const double EXPONENT_NOW = 0.7;
static const double EXPONENT_OLD = 0.4;

/* Errors below this share of the tolerance all count as this share: 0 has no logarithm. */
static const double ERROR_FLOOR = 1e-10;

/* Schemes with equal_steps aim at EQUAL_SAFETY^q of the tolerance, a quarter, and keep their step
 * while the wanted change lies between these factors: equal steps share factors and have better
 * guesses. Measured on ropes of k = 1e4 ... 1e10 and on Duffing oscillators (tests/test_adaptive.c):
 * with 0.5 the rope at rest ends within 0.9 rtol and the oscillators within 5 rtol at t = 50; with
 * 0.55 it is 1.1 and 6.2 rtol. */
static const double EQUAL_SAFETY = 0.5;
static const double KEEP_ABOVE = 0.6;
static const double KEEP_BELOW = 1.5;

/* Cost-aware control: steps are tried that are longer or shorter by these factors. A cost per unit
 * time that is higher by less than COST_NOISE counts as equal. */
static const double COST_LONGER = 1.5;
static const double COST_SHORTER = 0.8;
static const double COST_NOISE = 1.02;

/* First step (Hairer, Norsett, Wanner I, II.4): an explicit Euler step moves u by FIRST_SHARE of
 * its size, and the error it leaves is FIRST_SHARE of the tolerance. Where u or F is (nearly) 0 the
 * step is FIRST_BLIND seconds, where F and its change are 0 it is FIRST_AT_REST times the first
 * guess. */
static const double FIRST_SHARE = 0.01;
static const double FIRST_BLIND = 1e-6;
static const double FIRST_AT_REST = 1e-3;

/* Share of its size by which a body has moved when its own speed begins to count. */
static const double SHARE_FROM_REST = 0.01;

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

/* sqrt(sum x_i^2 / n) of one block of n local entries, over all ranks. */
static tw_status rms(const tw_integrator *integrator, int64_t n, const double *x, double *result)
{
    tw_space space = integrator->system.jacobian.space;
    space.local_size = n;
    double norm = 0;
    double count = (double)n;
    tw_status status = tw_vector_norm(&space, x, &norm);
    if (status == TW_OK && space.reduce) status = space.reduce(space.context, &count, 1);
    *result = norm / sqrt(count);
    return status;
}

/* The user's reference of x, or the rms of x at the start of the step. */
static tw_status body_size(const tw_integrator *integrator, double *size)
{
    *size = integrator->options.reference[0];
    return *size > 0 ? TW_OK : rms(integrator, integrator->system.n, integrator->u, size);
}

tw_status tw_controller_time_from_rest(const tw_integrator *integrator, const double *a,
                                       double *time, double *speed)
{
    double size = 0;
    double acceleration = 0;
    tw_status status = body_size(integrator, &size);
    if (status == TW_OK) status = rms(integrator, integrator->system.n, a, &acceleration);

    /* share x = a t^2 / 2 */
    *time = acceleration > 0 ? sqrt(2 * SHARE_FROM_REST * size / acceleration) : 0;
    *speed = acceleration * *time;
    return status;
}

/* rms(e) / (scale + atol/rtol) of one block, its relative local error. The scale is the user's
 * reference, or the rms of the state at the larger end of the step. A body that has just left rest
 * is too slow to measure errors by: they count beside its least speed. */
static tw_status relative_error_of_block(const tw_integrator *integrator, int block,
                                         const double *e, double *result)
{
    const tw_integrator_options *options = &integrator->options;
    int64_t n = integrator->system.n;
    int64_t offset = block * n;

    double size = 0;
    tw_status status = rms(integrator, n, e + offset, &size);

    double scale = options->reference[block];
    if (status == TW_OK && scale == 0) {
        double scale_new = 0;
        status = rms(integrator, n, integrator->u + offset, &scale);
        if (status == TW_OK) status = rms(integrator, n, integrator->u_new + offset, &scale_new);
        scale = fmax(scale, scale_new);
        if (block == 1) scale = fmax(scale, integrator->least_speed);
    }

    *result = size / (scale + options->absolute_tolerance / options->relative_tolerance + DBL_MIN);
    return status;
}

/* The rms of e_i / (scale_i + atol_i/rtol) over one block, where every entry has a tolerance of its
 * own. The scale is the user's reference, or |u_i| at the larger end of the step. */
static tw_status relative_error_of_entries(const tw_integrator *integrator, int block,
                                           const double *e, double *result)
{
    const tw_integrator_options *options = &integrator->options;
    int64_t n = integrator->system.n;
    int64_t offset = block * n;
    double reference = options->reference[block];
    double *scaled = integrator->scratch + 2 * integrator->system.size;
    for (int64_t i = offset; i < offset + n; i++) {
        double scale = reference;
        if (scale == 0) scale = fmax(fabs(integrator->u[i]), fabs(integrator->u_new[i]));
        double tolerance = integrator->tolerances[i] / options->relative_tolerance;
        scaled[i - offset] = e[i] / (scale + tolerance + DBL_MIN);
    }
    return rms(integrator, n, scaled, result);
}

static tw_status relative_error(const tw_integrator *integrator, int block, const double *e,
                                double *result)
{
    if (integrator->tolerances) return relative_error_of_entries(integrator, block, e, result);
    return relative_error_of_block(integrator, block, e, result);
}

/* The larger of the relative errors of the two blocks x and v, or that of u alone. NaN counts as
 * the largest. */
static tw_status relative_size(const tw_integrator *integrator, const double *e, double *size)
{
    tw_status status = relative_error(integrator, 0, e, size);
    if (status == TW_OK && integrator->system.second_order) {
        double v = 0;
        status = relative_error(integrator, 1, e, &v);
        if (isnan(v) || v > *size) *size = v;
    }
    return status;
}

/* A local error of order h^(r+1) (r is the order of the estimate) in a method of order p is raised
 * to the power p/(r+1) before it is compared with rtol. The global error, of order h^p, is then
 * proportional to rtol for every scheme (tolerance proportionality). On stiff problems the
 * Rosenbrock schemes gain half an order to one order: 1.07 p keeps both kinds of problem nearly
 * proportional (tests/test_adaptive.c measures slopes of log error against log rtol between 0.85
 * and 1.18). */
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
    if (x < low) return low;
    if (x > high) return high;
    return x;
}

/* h, but not above options.largest_step. */
static double bounded(const tw_integrator *integrator, double h)
{
    double largest = integrator->options.largest_step;
    return largest > 0 && h > largest ? largest : h;
}

/* Seeks the step of least cost per unit time: it goes on in the direction that made the cost fall
 * and turns where it rose. The step that the error allows, h_error, is the upper bound. */
static double cost_aware(tw_integrator *integrator, double h, double h_error, double work)
{
    /* A dearer step turns the direction: back to where the step was before. */
    double cost = work / h;
    if (integrator->cost_old > 0) {
        bool dearer = cost > COST_NOISE * integrator->cost_old;
        bool grew = h > integrator->h_old;
        if (h != integrator->h_old && dearer) integrator->cost_direction = grew ? -1 : 1;
    }
    integrator->cost_old = cost;

    double wish = COST_SHORTER * h;
    if (integrator->cost_direction > 0) wish = COST_LONGER * h;
    return fmin(h_error, wish);
}

/* The change of the step that the error asks for, q the effective order (err is proportional to
 * h^q): SAFETY err^(-0.7/q) err_old^(0.4/q) (Gustafsson). Schemes that want equal steps take
 * EQUAL_SAFETY err^(-1/q) and ignore small changes: that is steady without the PI formula, which
 * asks for little where a small error stays the same. */
static double wanted_change(const tw_integrator *integrator, double now, double old)
{
    double q = effective_order(integrator);
    if (!integrator->scheme->equal_steps)
        return SAFETY * pow(now, -EXPONENT_NOW / q) * pow(old, EXPONENT_OLD / q);

    double factor = EQUAL_SAFETY * pow(now, -1 / q);
    return factor > KEEP_ABOVE && factor < KEEP_BELOW ? 1 : factor;
}

double tw_controller_after_accept(tw_integrator *integrator, double h, double error, double work)
{
    /* The first step has no predecessor and takes its own error for both. */
    double now = fmax(error, ERROR_FLOOR);
    double old = integrator->error_old > 0 ? integrator->error_old : now;

    /* After a rejection the step does not grow at once. */
    double factor = wanted_change(integrator, now, old);
    factor = clamp(factor, SHRINK_MOST, integrator->last_rejected ? 1.0 : GROW_MOST);

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

    /* The attempt failed outright, or its error is not finite: there is no size to compute a step
     * from. */
    if (!(error > 1) || !isfinite(error)) return SHRINK_BLIND * h;

    double safety = integrator->scheme->equal_steps ? EQUAL_SAFETY : SAFETY;
    double factor = safety * pow(error, -1.0 / effective_order(integrator));
    return h * clamp(factor, SHRINK_MOST, SHRINK_LEAST);
}

/* The speed by which a body at rest is judged: a thousandth of the speed sqrt(|x| |a|) that it
 * reaches when it has moved by its own size. Its own speed, 0, would ask for steps so small that
 * nothing moves. */
static tw_status speed_from_rest(const tw_integrator *integrator, double *speed)
{
    int64_t n = integrator->system.n;
    double x = 0;
    double v = 0;
    double a = 0;
    tw_status status = rms(integrator, n, integrator->u, &x);
    if (status == TW_OK) status = rms(integrator, n, integrator->u + n, &v);
    if (status == TW_OK) status = rms(integrator, n, integrator->F + n, &a);
    *speed = fmax(v, 1e-3 * sqrt(x * a));
    return status;
}

/* Hairer, Norsett, Wanner I, II.4: a step h_0 by which explicit Euler moves u by 1 % of its size,
 * then a step h_1 from the second difference over h_0. Stiff forces make it small; the controller
 * grows it within a few steps. */
static tw_status first_step(tw_integrator *integrator, double t_limit, double *h)
{
    int64_t size = integrator->system.size;
    double *moved = integrator->scratch;
    double *F = integrator->scratch + size;

    /* d_0 = |u| and d_1 = |F| give h_0 = 0.01 d_0/d_1. The norm looks at u_new as well: it is made
     * equal to u. */
    double d0 = 0;
    double d1 = 0;
    tw_vector_copy(size, integrator->u, integrator->u_new);
    tw_status status = relative_size(integrator, integrator->u, &d0);
    if (status == TW_OK) status = relative_size(integrator, integrator->F, &d1);
    double h0 = FIRST_BLIND;
    if (!(d0 < 1e-10 || d1 < 1e-10)) h0 = FIRST_SHARE * d0 / d1;
    h0 = fmin(h0, t_limit - integrator->t);

    /* F after an Euler step of h_0. Where it cannot be evaluated a much smaller step must do. */
    tw_vector_copy(size, integrator->u, moved);
    tw_vector_axpy(size, h0, integrator->F, moved);
    if (status == TW_OK) status = tw_system_rhs(&integrator->system, integrator->t + h0, moved, F);
    if (status) {
        *h = h0 * 1e-2;
        return tw_status_is_rejection(status) ? TW_OK : status;
    }

    /* d_2 = |F(u + h_0 F) - F(u)| / h_0 stands for |u''|. */
    double d2 = 0;
    tw_vector_axpy(size, -1.0, integrator->F, F);
    status = relative_size(integrator, F, &d2);
    d2 /= h0;

    /* h_1^(p+1) max(d_1, d_2) = 0.01 rtol, and no more than a hundredfold of h_0. */
    double largest = fmax(d1, d2);
    double target = FIRST_SHARE * integrator->options.relative_tolerance;
    double h1 = fmax(FIRST_BLIND, FIRST_AT_REST * h0);
    if (!(largest <= 1e-15)) h1 = pow(target / largest, 1.0 / (integrator->order + 1));
    *h = bounded(integrator, fmin(fmin(100 * h0, h1), t_limit - integrator->t));
    return status;
}

/* The first step of a scheme whose error does not depend on the stiffness: sqrt(rtol) of the time in which the
 * body moves by its own size. *h is kept where it is longer. */
static tw_status lengthen_first_step(const tw_integrator *integrator, double t_limit, double *h)
{
    int64_t n = integrator->system.n;
    double size = 0;
    double speed = 0;
    double acceleration = 0;
    tw_status status = body_size(integrator, &size);
    if (status == TW_OK) status = rms(integrator, n, integrator->u + n, &speed);
    if (status == TW_OK) status = rms(integrator, n, integrator->F + n, &acceleration);

    double time = t_limit - integrator->t;
    if (speed > 0) time = fmin(time, size / speed);
    if (acceleration > 0) time = fmin(time, sqrt(size / acceleration));
    *h = bounded(integrator, fmax(*h, sqrt(integrator->options.relative_tolerance) * time));
    return status;
}

tw_status tw_controller_first_step(tw_integrator *integrator, double t_limit, double *h)
{
    tw_status status = tw_integrator_need_rhs(integrator);

    /* For this purpose a body at rest borrows a reference speed. */
    double *reference = &integrator->options.reference[1];
    double given = *reference;
    if (status == TW_OK && integrator->system.second_order && given == 0)
        status = speed_from_rest(integrator, reference);

    if (status == TW_OK) status = first_step(integrator, t_limit, h);
    *reference = given;

    bool ignores_stiffness = integrator->scheme->equal_steps && !integrator->doubles;
    if (status == TW_OK && ignores_stiffness) status = lengthen_first_step(integrator, t_limit, h);
    return status;
}
