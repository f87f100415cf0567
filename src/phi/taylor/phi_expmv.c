/* expmv: truncated Taylor series of the augmented matrix with scaling (Al-Mohy & Higham 2011).
 *
 * s substeps of degree m satisfy |t (A - mu)| <= s theta_m(tol). The pair (m, s) with the fewest
 * products is taken. Within a substep the series stops as soon as its remainder is small. */
#include <float.h>
#include <math.h>

#include "phi/taylor/taylor.h"

enum {
    ROWS = 12,           /* degrees 5, 10, ..., 60 of the table */
    COLUMNS = 5,         /* tolerances of the table */
    DEGREE_STEP = 5,     /* between two rows */
    DEFAULT_DEGREE = 55, /* the highest that Al-Mohy & Higham use */
    SLACK = 6            /* terms allowed beyond the planned degree before a substep is given up */
};

/* theta_m: the largest x with sum_{k>m} |h_k| x^(k-1) <= tol, where log(exp(-x) T_m(x)) = sum_k h_k
 * x^k (their eq. 3.6), for m = 5, 10, ..., 60 and the tolerances below; the last column is table
 * 3.1 of the paper. Made with mpmath. */
static const double table_tolerance[COLUMNS] = {1e-3, 1e-6, 1e-9, 1e-12, DBL_EPSILON / 2};
static const double theta[ROWS][COLUMNS] = {
    {8.136e-01, 2.262e-01, 5.849e-02, 1.480e-02, 2.401e-03},
    {2.327e+00, 1.285e+00, 6.807e-01, 3.516e-01, 1.442e-01},
    {3.829e+00, 2.610e+00, 1.740e+00, 1.140e+00, 6.411e-01},
    {5.307e+00, 4.001e+00, 2.976e+00, 2.188e+00, 1.438e+00},
    {6.769e+00, 5.412e+00, 4.288e+00, 3.371e+00, 2.429e+00},
    {8.219e+00, 6.830e+00, 5.639e+00, 4.629e+00, 3.540e+00},
    {9.660e+00, 8.250e+00, 7.011e+00, 5.931e+00, 4.728e+00},
    {1.110e+01, 9.669e+00, 8.394e+00, 7.261e+00, 5.969e+00},
    {1.253e+01, 1.109e+01, 9.784e+00, 8.610e+00, 7.245e+00},
    {1.395e+01, 1.250e+01, 1.118e+01, 9.971e+00, 8.547e+00},
    {1.538e+01, 1.392e+01, 1.258e+01, 1.134e+01, 9.867e+00},
    {1.680e+01, 1.534e+01, 1.398e+01, 1.272e+01, 1.120e+01},
};

/* A shift must reduce the radius at least to this share: with sources it costs a combination of
 * vectors per term. */
static const double WORTHWHILE_SHIFT = 0.8;

/* theta is kept in this range: no table entry is above the largest, and ln 2 is about the smallest
 * useful one. */
static const double LARGEST_THETA = 20;
static const double SMALLEST_THETA = 0.7;

/* By how much larger than estimated the growth of powers may be. */
static const double RADIUS_MARGIN = 1.2;

/* Share of the tolerance at which theta_m is looked up. */
static const double TABLE_SHARE = 0.1;

/* theta_m at any tolerance: its logarithm is interpolated in that of the tolerance, and constant
 * outside the table. */
static double theta_at(int row, double tolerance)
{
    double tol = fmin(fmax(tolerance, table_tolerance[COLUMNS - 1]), table_tolerance[0]);

    /* Columns c and c + 1 enclose the tolerance. */
    int c = 0;
    while (c + 2 < COLUMNS && tol < table_tolerance[c + 1]) c++;

    double weight =
        log(tol / table_tolerance[c]) / log(table_tolerance[c + 1] / table_tolerance[c]);
    return exp((1 - weight) * log(theta[row][c]) + weight * log(theta[row][c + 1]));
}

/* The highest degree that is planned with. */
static int highest_degree(const tw_taylor_call *call)
{
    int asked = call->workspace->options.max_dimension;
    if (asked == 0) return DEFAULT_DEGREE;

    int planned = asked - SLACK;
    if (planned < DEGREE_STEP) return DEGREE_STEP;
    return planned > DEGREE_STEP * ROWS ? DEGREE_STEP * ROWS : planned;
}

/* The shift mu halves the radius of a one-sided spectrum and avoids its hump: terms of size
 * exp(theta) that cancel. */
static void begin(tw_taylor_call *call)
{
    const tw_ritz_bounds *bounds = &call->bounds;
    double time = call->trajectory->time;
    bool sources = call->substep.sources.count > 0;

    /* Sources add the eigenvalue 0 of the augmented matrix. */
    double low = bounds->real_min;
    double high = bounds->real_max;
    if (sources) {
        low = fmin(low, 0);
        high = fmax(high, 0);
    }

    /* The radius without a shift, and with the shift to the middle. */
    double middle = (low + high) / 2;
    double plain = tw_ritz_bounds_radius(bounds, 0, sources);
    double shifted = bounds->coarse ? plain : tw_ritz_bounds_radius(bounds, middle, sources);
    bool shift = shifted < WORTHWHILE_SHIFT * plain;
    call->fit = (tw_taylor_fit){.center = 0, .radius = fabs(time) * plain, .longest = 1};
    if (shift) {
        call->fit.center = time * middle;
        call->fit.radius = fabs(time) * shifted;
    }
}

/* Largest theta whose hump, exp((radius + center) h), is tolerable: rounding in it grows with
 * sqrt(s) over s substeps. */
static double bearable(const tw_taylor_call *call, double remaining)
{
    const tw_taylor_fit *fit = &call->fit;
    double tolerance = call->workspace->options.tolerance;
    double steepness = fmax(fit->radius + fit->center, 0) / fit->radius;
    double largest = LARGEST_THETA;

    /* The number of substeps depends on theta: two fixed-point iterations. */
    for (int i = 0; i < 2 && steepness > 0; i++) {
        double steps = fmax(fit->radius * remaining / largest, 1);
        double room = tolerance / (8 * DBL_EPSILON * call->caution * sqrt(steps));
        largest = fmin(fmax(log(room) / steepness, SMALLEST_THETA), LARGEST_THETA);
    }
    return largest;
}

/* The substep with the fewest products over the remaining way. */
static double length(const tw_taylor_call *call, double remaining, int *degree)
{
    double total = call->fit.radius * remaining;
    *degree = DEGREE_STEP;
    if (!(total > 0)) return remaining;

    /* m s products for each degree m of the table. */
    double limit = bearable(call, remaining);
    double best = INFINITY;
    double steps = 1;
    for (int row = 0; row < ROWS; row++) {
        int m = DEGREE_STEP * (row + 1);
        if (m > highest_degree(call)) break;

        double largest = fmin(theta_at(row, TABLE_SHARE * call->tolerance), limit);
        double s = fmax(ceil(total / largest), 1);
        if (m * s < best) {
            best = m * s;
            steps = s;
            *degree = m;
        }
    }
    return remaining / steps;
}

/* The Newton form of the Taylor series: shift = pair = 0, divisor_j = j + 1. */
static void build(tw_taylor_call *call, double h)
{
    tw_newton *newton = call->newton;
    newton->degree = highest_degree(call) + SLACK;
    newton->window = 2;
    newton->divergence = 0;
    newton->center = call->fit.center * h;

    /* With a shift the polynomials of the sources stay in play, and J adds its norm to that of A -
     * mu. */
    bool moving_sources = call->fit.center != 0 && call->substep.sources.count > 0;
    double norm = RADIUS_MARGIN * call->fit.radius + (moving_sources ? 1 : 0);
    for (int j = 0; j <= newton->degree; j++) {
        newton->shift[j] = 0;
        newton->pair[j] = 0;
        newton->divisor[j] = j + 1;
        newton->growth[j] = norm * h / (j + 1);
    }

    /* exp(g X) = exp(g center) sum_j g^j (X - center)^j / j!. */
    for (int o = 0; o < newton->outputs; o++) {
        double g = newton->fraction[o];
        double value = exp(g * newton->center);
        for (int j = 0; j <= newton->degree; j++) {
            newton->coefficient[o][j] = value;
            value *= g;
        }
    }
    tw_newton_fill_tails(newton);
}

/* The terms show how much shorter the substep should have been: y_m scales with h^m. */
static void reject(tw_taylor_call *call, double h)
{
    const tw_substep *substep = &call->substep;
    (void)h;

    /* By how much the remainder exceeds what was allowed. */
    double excess = 1;
    for (int b = 0; b < 2; b++)
        if (substep->target[0][b] > 0)
            excess = fmax(excess, substep->truncation[0][b] / substep->target[0][b]);

    /* The radius grows by a factor between 1.2 and 8; terms that overflow do not show how much. */
    double factor = 8;
    if (!substep->diverged && isfinite(excess))
        factor = pow(excess, 1.0 / fmax(substep->degree, 1)) * 1.1;
    call->fit.radius = fmax(call->fit.radius, DBL_MIN) * fmin(fmax(factor, 1.2), 8);
}

/* ---- the engine ---- */

static const tw_taylor_method taylor = {
    .begin = begin, .length = length, .build = build, .reject = reject};

static tw_status reserve(tw_phi_workspace *workspace, tw_error *error)
{
    return tw_taylor_reserve(workspace, TW_PHI_EXPMV, error);
}

static tw_status first_order(tw_phi_workspace *workspace, const tw_operator *op,
                             const tw_phi_request *request, tw_phi_statistics *statistics,
                             tw_error *error)
{
    return tw_taylor_evaluate(&taylor, workspace, op, request, statistics, error);
}

static tw_status second_order(tw_phi_workspace *workspace, const tw_second_order *op,
                              const tw_phi_request *request, tw_phi_statistics *statistics,
                              tw_error *error)
{
    return tw_phi_pair_evaluate(workspace, &tw_phi_expmv, op, request, statistics, error);
}

const tw_phi_engine_table tw_phi_expmv = {.reserve = reserve,
                                          .release = tw_taylor_release,
                                          .first_order = first_order,
                                          .second_order = second_order};
