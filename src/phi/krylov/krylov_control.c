#include "phi/krylov/krylov_control.h"

#include <math.h>

void tw_krylov_control_begin(tw_krylov_control *c, double tau)
{
    c->tau = tau;
    c->m = c->method->start_dimension;
    if (c->m < c->min_dimension) c->m = c->min_dimension;
    if (c->m > c->max_dimension) c->m = c->max_dimension;
    c->rejections = 0;
    c->old_tau = c->old_omega = NAN;
    c->old_m = -1;
    c->order = 1;
    c->rate = 2;
    c->order_is_default = c->rate_is_default = true;
    c->stretches = 0;
    c->certain = 0;
}

/* The error behaves like tau^order and like rate^-m: both are measured when a rejection changed just one of them. */
static void measure(tw_krylov_control *c, const tw_krylov_trial *trial, double omega)
{
    if (c->m == c->old_m && c->tau != c->old_tau && c->rejections >= 1) {
        c->order = fmax(1, log(omega / c->old_omega) / log(c->tau / c->old_tau));
        c->order_is_default = false;
    } else {
        if (c->order_is_default || c->rejections == 0)
            c->order = fmax(trial->dimension / 4.0, 0.25);
        c->order_is_default = true;
    }
    if (c->m != c->old_m && c->tau == c->old_tau && c->rejections >= 1) {
        c->rate = fmax(1.1, pow(omega / c->old_omega, 1.0 / (c->old_m - c->m)));
        c->rate_is_default = false;
    } else {
        if (c->rate_is_default || c->rejections == 0) c->rate = 2;
        c->rate_is_default = true;
    }
}

/* Flops of finishing with m and tau, up to a factor 2 (Niesen and Wright, with the cheaper orthogonalisation of a
 * window). `products` of order m + p - 1 make up the exponential. */
static double cost(const tw_krylov_control *c, double m, double tau, const tw_krylov_trial *trial)
{
    double p = c->columns, n = c->vector_size, products = 5 + fmax(log2(trial->norm), 0);
    double vectors = c->method->window > 0 ? 3 * (m + p) : m * m + 3 * p + 2;
    return ((m + p) * c->entries + vectors * n + products * pow(m + p - 1, 3)) *
           ceil(trial->remaining / tau);
}

static int clamp_dimension(const tw_krylov_control *c, double wanted)
{
    double m = fmax(floor(0.75 * c->m), fmin(wanted, ceil(4.0 / 3.0 * c->m)));
    return (int)fmax(c->min_dimension, fmin(c->max_dimension, m));
}

enum { MOST_STRETCHES = 3 };

/* Whether to try a longer substep with the same basis although this one is good. */
static bool stretch(tw_krylov_control *c, const tw_krylov_trial *trial, double omega)
{
    if (c->rejections == 0 || c->stretches >= MOST_STRETCHES || c->tau == c->certain ||
        !(c->old_tau > c->tau))
        return false;
    double order = log(c->old_omega / omega) / log(c->old_tau / c->tau);
    double longer =
        fmin(trial->remaining, c->tau * pow(c->method->aim_at_limit / omega, 1 / order));
    longer = fmin(longer, 0.5 * (c->tau + c->old_tau));
    if (!(longer > 1.1 * c->tau)) return false;
    c->certain = c->tau;
    c->tau = longer;
    c->stretches++;
    c->rejections++;
    return true;
}

bool tw_krylov_control_judge(tw_krylov_control *c, const tw_krylov_trial *trial)
{
    const tw_krylov_method *method = c->method;
    double omega = fmin(fmax(trial->omega, 1e-100), 1e100), tau = c->tau, tau_new = tau;
    bool accepted = omega <= method->accept,
         at_limit = trial->exhausted || trial->dimension >= c->max_dimension;
    int m_new = c->m;
    if (accepted && at_limit && stretch(c, trial, omega)) return false;
    if (!accepted && c->certain > 0) {
        c->old_tau = c->tau;
        c->old_omega = omega;
        c->tau = c->certain;
        c->rejections++;
        return false;
    }
    measure(c, trial, omega);
    double tau_best = tau * pow(method->aim / omega, 1 / c->order);
    double m_best = fmax(1, ceil(trial->dimension + log(omega / method->aim) / log(c->rate)));
    if (at_limit && !accepted) {
        tau_new = tau * pow(method->aim_at_limit / omega, 1 / c->order);
    } else if (method->dimension_first) {
        if (at_limit)
            tau_new = tau_best;
        else
            m_new = clamp_dimension(c, m_best);
    } else if (cost(c, trial->dimension, tau_best, trial) < cost(c, m_best, tau, trial)) {
        tau_new = tau_best;
    } else {
        m_new = clamp_dimension(c, m_best);
    }
    c->old_tau = tau;
    c->old_m = c->m;
    c->old_omega = omega;
    c->tau = fmax(tau / 5, fmin(method->most_growth * tau, tau_new));
    c->m = m_new;
    c->rejections = accepted ? 0 : c->rejections + 1;
    if (accepted) {
        c->stretches = 0;
        c->certain = 0;
    }
    return accepted;
}

void tw_krylov_control_shrink(tw_krylov_control *c, double factor)
{
    c->old_m = -1;
    c->old_tau = NAN;
    c->certain = 0;
    c->stretches = MOST_STRETCHES;
    c->tau *= factor;
    c->rejections++;
}
