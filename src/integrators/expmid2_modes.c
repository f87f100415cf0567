#include "integrators/expmid2_modes.h"

#include <math.h>
#include <twang/stumpff.h>

/* A compressed stiff element has modes that grow, in the linear model; in truth they buckle within a fraction of the
 * step. */
static const double fastest_growth = 4;

double tw_mode_filter(const tw_mode_function *f, double lambda)
{
    double ratio = lambda > 0 ? f->h * f->h * lambda / (f->cutoff * f->cutoff) : 0;
    return ratio > 6 ? 0 : exp(-ratio * ratio * ratio * ratio); /* exp(-6^4) underflows */
}

double tw_mode_accumulating(const tw_mode_function *f, double lambda)
{
    return tw_mode_filter(f, lambda) / (1 + fabs(lambda) * f->slow * f->slow);
}

double tw_mode_by_hand(const tw_mode_function *f)
{
    double t = 0.5 * f->h, let_go = f->theta * f->mu;
    if (f->velocity) return f->from_a ? 0 : 1 - 2 * f->theta;
    return f->from_a ? let_go * t * t : f->theta * (1 - f->theta) * f->h + 0.5 * let_go * t;
}

/* s phi_1 of the mode, the output's row: coefficients of x' and of x'' at the start. */
static void flow(const tw_mode_function *f, double lambda, double delta, double row[2])
{
    double s = f->theta * f->h, entries[4], c[3];
    if (delta != 0) {
        tw_phi_oscillator(s, lambda, delta, 1, entries);
    } else {
        tw_stumpff(s * s * lambda, 3, c);
        entries[0] = entries[3] = c[1];
        entries[1] = s * c[2];
        entries[2] = -s * lambda * c[2];
    }
    row[0] = s * entries[f->velocity ? 2 : 0];
    row[1] = s * entries[f->velocity ? 3 : 1];
}

double tw_mode_value(const void *context, double lambda)
{
    const tw_mode_function *f = context;
    lambda = fmax(lambda, -fastest_growth / (f->h * f->h));
    double chi = tw_mode_filter(f, lambda), delta = f->alpha + f->beta * lambda, t = 0.5 * f->h,
           row[2];
    bool own_velocity = f->velocity && !f->from_a;
    double unresolved = 0;
    if (own_velocity && delta != 0)
        unresolved = (1 - 2 * f->theta) * expm1(-fmin(f->theta * f->h * delta, 700));
    if (chi == 0) return unresolved;
    flow(f, lambda, delta, row);
    double resolved =
        f->from_a ? row[1] * (1 + t * delta + t * t * lambda) : row[0] + row[1] * t * lambda;
    if (own_velocity) resolved += 1;
    return chi * (resolved - tw_mode_by_hand(f)) + (1 - chi) * unresolved;
}
