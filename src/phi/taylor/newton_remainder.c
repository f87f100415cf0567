/* When the terms of a polynomial in Newton form are small enough, and the rounding in them. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "phi/taylor/taylor.h"

enum {
    HISTORY = TW_NEWTON_HISTORY,
    SETTLING = 8 /* first terms, which may grow while the points still have gaps */
};

/* Largest ratio of the geometric series that stands for the terms beyond the highest degree. */
static const double LARGEST_RATIO = 0.9;

/* Largest logarithm of an excess growth: exp of it is far above any use, and finite. */
static const double LARGEST_EXCESS = 100;

/* ---- the tails ---- */

void tw_newton_fill_tails(tw_newton *newton)
{
    int m = newton->degree;
    for (int o = 0; o < newton->outputs; o++) {
        const double *c = newton->coefficient[o];
        double *tail = newton->tail[o];

        /* Beyond the highest degree: a geometric series with the ratio of the last two
         * coefficients. */
        double decay = 1;
        if (m > 0 && c[m - 1] != 0) decay = fabs(c[m] / c[m - 1]);
        double ratio = fmin(newton->growth[m] * decay, LARGEST_RATIO);
        tail[m] = fabs(c[m]) * ratio / (1 - ratio);

        for (int j = m - 1; j >= 0; j--)
            tail[j] = newton->growth[j] * (fabs(c[j + 1]) + tail[j + 1]);
    }
}

/* ---- the remainder after term j ---- */

static double whole(const double norms[2])
{
    return hypot(norms[0], norms[1]);
}

/* Largest |y_j| of the last `window` terms in part b: single terms may be small by chance. */
static double recent_norm(const tw_recurrence *r, int b)
{
    double largest = 0;
    for (int back = 0; back < r->newton->window && back <= r->j; back++)
        largest = fmax(largest, r->history[(r->j - back) % HISTORY][b]);
    return largest;
}

/* How much faster than newton->growth the terms of the last window grew, per term; at least 1. */
static double excess_growth(const tw_recurrence *r)
{
    int back = r->newton->window < r->j ? r->newton->window : r->j;
    if (back < 2) return 1;

    /* The growth that was expected over the window, and the growth that was seen. */
    double logarithm = 0;
    for (int i = 1; i <= back; i++) logarithm += log(r->newton->growth[r->j - i]);
    const double *then = r->history[(r->j - back + HISTORY) % HISTORY];
    double grown = whole(r->norm) / whole(then);

    double excess = (log(grown) - logarithm) / back;
    return excess > 0 ? exp(fmin(excess, LARGEST_EXCESS)) : 1;
}

/* The remainder of output o after y_j per unit of |y_j|, if terms go on growing by `excess` more
 * than expected. */
static double cautious_tail(const tw_recurrence *r, int o, double excess)
{
    const tw_newton *newton = r->newton;
    double size = 1;
    double sum = 0;
    for (int i = r->j; i < newton->degree; i++) {
        size *= excess * newton->growth[i];
        double term = size * fabs(newton->coefficient[o][i + 1]);
        sum += term;

        /* Stop at overflow, or when the rest of a geometric series is below a thousandth. */
        if (!(sum < DBL_MAX) || term <= 1e-3 * sum * fabs(1 - excess * newton->growth[i + 1]))
            break;
    }
    return sum;
}

/* The terms seem small enough: checks again with the growth that was really seen. */
static bool confirm(tw_recurrence *r)
{
    double excess = excess_growth(r);
    if (excess == 1) return true;

    bool confirmed = true;
    for (int o = 0; o < r->newton->outputs; o++) {
        double tail = cautious_tail(r, o, excess);
        for (int b = 0; b < 2; b++) {
            double remainder = r->norm[b] * tail;
            r->step->truncation[o][b] = fmax(r->step->truncation[o][b], remainder);
            if (!(remainder <= r->step->target[o][b])) confirmed = false;
        }
    }
    return confirmed;
}

bool tw_recurrence_judge(tw_recurrence *r)
{
    const tw_newton *newton = r->newton;
    tw_substep *step = r->step;
    memcpy(r->history[r->j % HISTORY], r->norm, sizeof r->norm);

    /* A window must be full, and every source must have entered. */
    bool done = r->j + 1 >= newton->window && r->j > step->sources.top;
    for (int o = 0; o < newton->outputs; o++) {
        double c = fabs(newton->coefficient[o][r->j]);
        step->hump[o] = fmax(step->hump[o], c * whole(r->part));

        /* The remainder is |y_j| of the last window times the tail of the coefficients. */
        for (int b = 0; b < 2; b++) {
            if (r->j > 0 && r->part[b] > 0) step->moved[b] = true;
            step->noise[o][b] = hypot(step->noise[o][b], c * r->noise.noise[0][b]);
            step->truncation[o][b] = recent_norm(r, b) * newton->tail[o][r->j];
            if (!(step->truncation[o][b] <= step->target[o][b])) done = false;
        }
    }
    return done && confirm(r);
}

bool tw_recurrence_vanished(tw_recurrence *r)
{
    const double *before = r->history[(r->j + HISTORY - 1) % HISTORY];
    if (r->norm[0] != 0 || r->norm[1] != 0 || before[0] != 0 || before[1] != 0) return false;
    if (r->j <= r->step->sources.top) return false;

    memset(r->step->truncation, 0, sizeof r->step->truncation);
    return true;
}

/* Polynomials that are small on the spectrum keep |y_j| level. Growth means that the spectrum
 * reaches beyond the ellipse of the points. */
void tw_recurrence_watch_growth(tw_recurrence *r)
{
    double size = fmax(whole(r->norm), r->probing ? r->probe_norm : 0);
    int settling = SETTLING + r->step->sources.top;
    if (r->j <= settling) r->settled = fmax(r->settled, size);

    /* Growth since the first terms, per term. */
    double excess = size / r->settled;
    if (r->j > settling && excess > 0)
        r->step->growth_rate = pow(excess, 1.0 / (r->j - settling / 2.0));

    double limit = r->newton->divergence;
    r->step->diverged = isinf(size) || (limit > 0 && r->j > settling && excess > limit);
}

/* ---- rounding in the terms ---- */

void tw_term_noise_start(tw_term_noise *noise, bool pair, const double size[2])
{
    *noise = (tw_term_noise){.pair = pair};
    for (int b = 0; b < 2; b++) {
        noise->size[0][b] = size[b];
        noise->noise[0][b] = DBL_EPSILON * size[b];
    }
}

/* Rounding in part b of y_{j+1}. Every contribution to y_{j+1} inherits the relative rounding of
 * the term it is made of, and forming it adds an ulp of everything that enters. A term that should
 * vanish consists of rounding alone, and is counted as such. */
static double next_noise(const tw_term_noise *n, tw_term_weights weights, int b, double size)
{
    double inherited = 0;
    double made = size;
    for (int s = 0; s < 2; s++) {
        /* Of y_j: by the operator, and in the same part by the shift. In a pair, x does not enter
         * x' = omega v. */
        bool nothing = n->pair && b == 0 && s == 0;
        double applied = nothing ? 0 : weights.applied[b];
        double weight = applied + (s == b ? weights.kept : 0);
        double newer = weight * n->size[0][s];

        /* Of y_{j-1}: in the same part only. */
        double older = s == b ? weights.previous * n->size[1][s] : 0;
        made += newer + older;

        /* The larger relative rounding of both is inherited. */
        if (n->size[0][s] > 0)
            inherited = fmax(inherited, n->noise[0][s] / n->size[0][s] * fmin(newer, size));
        if (n->size[1][s] > 0)
            inherited = fmax(inherited, n->noise[1][s] / n->size[1][s] * fmin(older, size));
    }
    return fmin(hypot(inherited, DBL_EPSILON * made), size);
}

void tw_term_noise_next(tw_term_noise *noise, tw_term_weights weights, const double size[2])
{
    double next[2];
    for (int b = 0; b < 2; b++) next[b] = next_noise(noise, weights, b, size[b]);

    memcpy(noise->size[1], noise->size[0], sizeof noise->size[0]);
    memcpy(noise->noise[1], noise->noise[0], sizeof noise->noise[0]);
    memcpy(noise->size[0], size, sizeof noise->size[0]);
    memcpy(noise->noise[0], next, sizeof next);
}
