/* How the adaptive Krylov engines choose the next substep tau and dimension m (Niesen and Wright
 * 2012, section 3.4; Gaudreault, Rainwater and Tokman 2018, section 3). */
#include <math.h>

#include "phi/krylov/krylov.h"

/* Attempts to lengthen a substep that was shrunk: more would cost more than they gain. */
enum { MOST_STRETCHES = 3 };

/* Errors are kept in this range, so that logarithms of their quotients are finite. */
static const double SMALLEST_OMEGA = 1e-100;
static const double LARGEST_OMEGA = 1e100;

/* No trial is shorter than this share of the one before. */
static const double MOST_SHRINKING = 5;

void tw_krylov_control_begin(tw_krylov_control *c, double tau)
{
    /* The first trial. */
    c->tau = tau;
    c->m = c->variant->start_dimension;
    if (c->m < c->min_dimension) c->m = c->min_dimension;
    if (c->m > c->max_dimension) c->m = c->max_dimension;
    c->rejections = 0;

    /* Nothing was tried yet. */
    c->old_tau = NAN;
    c->old_omega = NAN;
    c->old_m = -1;
    c->order = 1;
    c->rate = 2;
    c->order_is_default = true;
    c->rate_is_default = true;
    c->stretches = 0;
    c->certain = 0;
}

/* The error behaves like tau^order and like rate^-m. Both are measured when a rejection changed
 * just one of them. */
static void measure(tw_krylov_control *c, const tw_krylov_trial *trial, double omega)
{
    /* Only tau changed: the order is measured. Else it is m/4 until something better is known. */
    if (c->m == c->old_m && c->tau != c->old_tau && c->rejections >= 1) {
        c->order = fmax(1, log(omega / c->old_omega) / log(c->tau / c->old_tau));
        c->order_is_default = false;
    } else {
        if (c->order_is_default || c->rejections == 0)
            c->order = fmax(trial->dimension / 4.0, 0.25);
        c->order_is_default = true;
    }

    /* Only m changed: the rate is measured, else it is 2. */
    if (c->m != c->old_m && c->tau == c->old_tau && c->rejections >= 1) {
        c->rate = fmax(1.1, pow(omega / c->old_omega, 1.0 / (c->old_m - c->m)));
        c->rate_is_default = false;
    } else {
        if (c->rate_is_default || c->rejections == 0) c->rate = 2;
        c->rate_is_default = true;
    }
}

/* Flops to finish with m and tau, up to a factor of 2 (Niesen and Wright, with the cheaper
 * orthogonalisation of a window). The exponential takes about 5 + log2 |tau H| products of matrices
 * of order m + p - 1. */
static double cost(const tw_krylov_control *c, double m, double tau, const tw_krylov_trial *trial)
{
    double p = c->columns;
    double n = c->vector_size;
    double products = 5 + fmax(log2(trial->norm), 0);
    double vectors = c->variant->window > 0 ? 3 * (m + p) : m * m + 3 * p + 2;

    /* Products with A, operations on vectors, and the small exponential, in every substep. */
    return ((m + p) * c->entries + vectors * n + products * pow(m + p - 1, 3)) *
           ceil(trial->remaining / tau);
}

/* The dimension changes by at most a factor 4/3, and stays within its limits. */
static int clamp_dimension(const tw_krylov_control *c, double wanted)
{
    double m = fmax(floor(0.75 * c->m), fmin(wanted, ceil(4.0 / 3.0 * c->m)));
    return (int)fmax(c->min_dimension, fmin(c->max_dimension, m));
}

/* Whether to try a longer substep with the same basis although this one is good enough. */
static bool stretch(tw_krylov_control *c, const tw_krylov_trial *trial, double omega)
{
    bool was_shrunk = c->rejections != 0 && c->old_tau > c->tau;
    if (!was_shrunk || c->stretches >= MOST_STRETCHES || c->tau == c->certain) return false;

    /* The two trials give the order of the error; the longer substep aims at the tolerance. */
    double order = log(c->old_omega / omega) / log(c->old_tau / c->tau);
    double longer =
        fmin(trial->remaining, c->tau * pow(c->variant->aim_at_limit / omega, 1 / order));
    longer = fmin(longer, 0.5 * (c->tau + c->old_tau));
    if (!(longer > 1.1 * c->tau)) return false;

    /* If the longer one fails, the present one is taken. */
    c->certain = c->tau;
    c->tau = longer;
    c->stretches++;
    c->rejections++;
    return true;
}

/* A stretched substep failed: returns to the length that is known to be good. */
static void return_to_certain(tw_krylov_control *c, double omega)
{
    c->old_tau = c->tau;
    c->old_omega = omega;
    c->tau = c->certain;
    c->rejections++;
}

/* The next tau and m from the measured behaviour of the error. */
static void propose(tw_krylov_control *c, const tw_krylov_trial *trial, double omega, bool accepted,
                    bool at_limit)
{
    const tw_krylov_variant *variant = c->variant;
    double tau = c->tau;
    double tau_new = tau;
    int m_new = c->m;

    /* Either tau or m alone would bring the error to the aim. */
    double tau_best = tau * pow(variant->aim / omega, 1 / c->order);
    double m_best = fmax(1, ceil(trial->dimension + log(omega / variant->aim) / log(c->rate)));

    /* At the limit only tau can change. KIOPS changes m below it, phipm what costs less. */
    if (at_limit && !accepted) {
        tau_new = tau * pow(variant->aim_at_limit / omega, 1 / c->order);
    } else if (variant->dimension_first) {
        if (at_limit || (accepted && m_best < c->min_dimension && c->m == c->min_dimension))
            tau_new = tau_best;
        else
            m_new = clamp_dimension(c, m_best);
    } else if (cost(c, trial->dimension, tau_best, trial) < cost(c, m_best, tau, trial)) {
        tau_new = tau_best;
    } else {
        m_new = clamp_dimension(c, m_best);
    }

    /* The present trial becomes the old one. */
    c->old_tau = tau;
    c->old_m = c->m;
    c->old_omega = omega;
    c->tau = fmax(tau / MOST_SHRINKING, fmin(variant->most_growth * tau, tau_new));
    c->m = m_new;
}

bool tw_krylov_control_judge(tw_krylov_control *c, const tw_krylov_trial *trial)
{
    double omega = fmin(fmax(trial->omega, SMALLEST_OMEGA), LARGEST_OMEGA);
    bool accepted = omega <= c->variant->accept;
    bool at_limit = trial->exhausted || trial->dimension >= c->max_dimension;

    /* At the largest dimension, tau alone is tried again with the same basis. */
    if (accepted && at_limit && stretch(c, trial, omega)) return false;
    if (!accepted && c->certain > 0) {
        return_to_certain(c, omega);
        return false;
    }

    measure(c, trial, omega);
    propose(c, trial, omega, accepted, at_limit);

    if (!accepted) {
        c->rejections++;
        return false;
    }

    c->rejections = 0;
    c->stretches = 0;
    c->certain = 0;
    return true;
}

void tw_krylov_control_shrink(tw_krylov_control *c, double factor)
{
    /* The next trial has nothing to compare itself with. */
    c->old_m = -1;
    c->old_tau = NAN;
    c->certain = 0;
    c->stretches = MOST_STRETCHES;

    c->tau *= factor;
    c->rejections++;
}
