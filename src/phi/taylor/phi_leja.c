/* leja: Newton interpolation of exp at Leja points of the focal segment of an ellipse around the
 * spectrum (Caliari, Vianello & Bergamaschi 2004; conjugate pairs: Caliari, Kandolf, Ostermann &
 * Rainer 2016).
 *
 * The segment is real for symmetric and parabolic operators, and imaginary (in real arithmetic) for
 * skew operators and oscillators. When neither direction prevails it is a disc: all points lie in
 * its centre, which is a shifted Taylor series. No basis is stored and terms stay of the size of
 * the solution, so degrees of several hundred are sound, and long substeps are cheap: about R
 * products for a segment of half-length R on the imaginary axis, sqrt(R) on the real one. */
#include <float.h>
#include <math.h>

#include "phi/taylor/taylor.h"

enum { DEFAULT_DEGREE = 480, SMALLEST_DEGREE = 24 };

/* Thickness (minor semi-axis times h) that a thin segment bears: its terms grow by exp of it. */
static const double BEARABLE_THICKNESS = 3;

/* Longest h |center| + h radius of a thick ellipse, below 708 = log(DBL_MAX): coefficients must not
 * underflow. */
static const double LARGEST_EXPONENT = 500;

/* The points of a spectrum that is (almost) one point crowd in a disc of this capacity. */
static const double SMALLEST_CAPACITY = 0.3;

/* How far 0 lies inside a real segment, in units of X, when there are sources. */
static const double ZERO_DEPTH = 2;

/* Share of the margin by which an ellipse is widened along its minor axis. */
static const double MINOR_MARGIN = 0.25;

/* A hump with a smaller exponent is not worth a shorter substep. */
static const double SMALLEST_HUMP = 1;

/* Below this half-axis every coefficient is computed precisely, since it costs little. */
static const double CHEAP_PRECISION = 20;

static int highest_degree(const tw_taylor_call *call)
{
    int asked = call->workspace->options.max_dimension;
    if (asked == 0) return DEFAULT_DEGREE;

    int degree = asked < SMALLEST_DEGREE ? SMALLEST_DEGREE : asked;
    return degree > TW_NEWTON_MAX_DEGREE - 1 ? TW_NEWTON_MAX_DEGREE - 1 : degree;
}

/* ---- the ellipse ---- */

/* An ellipse with real centre, per unit of theta. */
typedef struct ellipse {
    double center;
    double horizontal;
    double vertical;
} ellipse;

/* Scales the semi-axes so that the point lies inside. */
static void include(ellipse *e, double real, double imaginary)
{
    /* (x/horizontal)^2 + (y/vertical)^2 is above 1 outside. */
    double x = real - e->center;
    double scale = 0;
    if (e->horizontal > 0) scale += x * x / (e->horizontal * e->horizontal);
    if (e->vertical > 0) scale += imaginary * imaginary / (e->vertical * e->vertical);

    if (scale > 1) {
        e->horizontal *= sqrt(scale);
        e->vertical *= sqrt(scale);
    }
}

/* Products grow with the sum of the semi-axes. A part to the right of the spectrum makes terms that
 * cancel. */
static double price(const ellipse *e, double right)
{
    return e->horizontal + e->vertical + 3 * fmax(e->center + e->horizontal - right, 0);
}

/* The cheapest of some ellipses around the Ritz values of t A, and 0 if there are sources. */
static ellipse enclose(const tw_ritz_bounds *bounds, double time, double low, double high,
                       bool with_zero)
{
    enum { CENTERS = 9, SHAPES = 13 };
    double tall = fmax(fabs(time) * bounds->imag_max, 1e-6 * (high - low));
    double wide = fmax((high - low) / 2, 1e-6 * tall);
    ellipse best = {0};
    double lowest = INFINITY;

    for (int i = 0; i < CENTERS; i++)
        for (int j = 0; j < SHAPES; j++) {
            /* The shape runs from upright to flat, 1/8 to 8. */
            double shape = exp2(0.5 * (j - (SHAPES - 1) * 0.5));
            double center = low + (high - low) * (i + 2) / (CENTERS + 3);

            /* A tiny ellipse of that shape grows until it holds everything. */
            ellipse e = {center, 1e-9 * wide * shape, 1e-9 * tall / shape};
            for (int k = 0; k < bounds->ritz_count; k++)
                include(&e, time * bounds->ritz_real[k], time * bounds->ritz_imaginary[k]);
            if (with_zero) include(&e, 0, 0);

            if (price(&e, high) < lowest) {
                lowest = price(&e, high);
                best = e;
            }
        }
    return best;
}

/* The ellipse around the spectrum of t A. */
static void begin(tw_taylor_call *call)
{
    const tw_ritz_bounds *bounds = &call->bounds;
    double time = call->trajectory->time;
    double a = time * bounds->real_min;
    double b = time * bounds->real_max;
    double low = fmin(a, b);
    double high = fmax(a, b);

    /* Sources add the eigenvalue 0 of the augmented matrix. */
    bool sources = call->substep.sources.count > 0;
    if (sources) {
        low = fmin(low, 0);
        high = fmax(high, 0);
    }

    /* The bounding box serves where the spectrum is thin. */
    call->fit = (tw_taylor_fit){.center = (low + high) / 2,
                                .horizontal = (high - low) / 2,
                                .vertical = fabs(time) * bounds->imag_max,
                                .rightmost = high,
                                .longest = 1};
    double thickness = fmin(call->fit.horizontal, call->fit.vertical);
    if (bounds->ritz_count == 0 || thickness <= 0.1 * BEARABLE_THICKNESS) return;

    /* Ritz values are short of the spectrum at its tips, and hardly across it. */
    ellipse e = enclose(bounds, time, low, high, sources);
    double margin = fabs(time) * bounds->margin;
    bool flat = e.horizontal > e.vertical;
    call->fit.center = e.center;
    call->fit.horizontal = e.horizontal + (flat ? margin : MINOR_MARGIN * margin);
    call->fit.vertical = e.vertical + (flat ? MINOR_MARGIN * margin : margin);
}

/* ---- the length of a substep ---- */

/* Smallest m with (e capacity / m)^m below the tolerance: c_m ~ capacity^m / m!. */
static double factorial_degree(double capacity, double digits)
{
    double m = 2;
    while (m * (log(m / fmax(capacity, SMALLEST_CAPACITY)) - 1) < digits) m = 1.05 * m + 1;
    return m;
}

/* Degree at which the coefficients of a substep h reach the tolerance. On a long imaginary segment
 * they behave like Bessel functions J_m(R), small beyond m = R + O(R^(1/3)); on a long real one
 * like exp(-m^2 / 2R). */
static double expected_degree(const tw_taylor_call *call, double h)
{
    double p = call->fit.horizontal * h;
    double q = call->fit.vertical * h;
    double digits = -log(0.01 * call->tolerance);
    double small = fmin(p, q);
    double large = fmax(p, q);

    /* The smaller of a disc's degree and that of an imaginary segment with some thickness. */
    double degree = fmin(factorial_degree((p + q) / 2, digits),
                         1.05 * large + 1.2 * digits * cbrt(fmax(large, 1) / 10) + 5 * sqrt(small));

    /* A thin real segment needs fewer. */
    if (p > q && small <= BEARABLE_THICKNESS) degree = fmin(degree, 1.25 * sqrt(2 * p * digits));
    return degree + 6;
}

/* How much faster than the solution the terms may grow per unit of theta: as far as the ellipse
 * reaches to the right of the spectrum, or to the right of 0 once rounding has been seen to
 * matter. */
static double hump_rate(const tw_taylor_call *call)
{
    const tw_taylor_fit *fit = &call->fit;
    double right = call->caution > 1 ? 0 : fmax(fit->rightmost, 0);
    return fmax(fit->center + fit->horizontal - right, 0);
}

/* Whether a substep of length h has coefficients in range, a tolerable hump, and a degree that is
 * allowed. */
static bool suits(const tw_taylor_call *call, double h)
{
    const tw_taylor_fit *fit = &call->fit;
    double large = fmax(fit->horizontal, fit->vertical) * h;
    double small = fmin(fit->horizontal, fit->vertical) * h;
    bool representable =
        small <= BEARABLE_THICKNESS || fabs(fit->center) * h + large <= LARGEST_EXPONENT;

    /* The hump may use up what the tolerance leaves above rounding. */
    double room = call->workspace->options.tolerance / (8 * DBL_EPSILON * call->caution);
    bool bearable = hump_rate(call) * h <= fmax(log(room), SMALLEST_HUMP);
    return representable && bearable && expected_degree(call, h) <= 0.9 * highest_degree(call);
}

/* The longest substep that suits, as an equal part of the remaining way. */
static double length(const tw_taylor_call *call, double remaining, int *degree)
{
    double count = 1;
    while (count < 1e9 && !suits(call, fmin(remaining / count, call->fit.longest)))
        count = fmax(count + 1, floor(count * 1.1));

    double h = fmin(remaining / count, call->fit.longest);
    *degree = (int)fmin(expected_degree(call, h), highest_degree(call));
    return h;
}

/* ---- the polynomial ---- */

/* The focal segment for a substep h. The augmented matrix has a Jordan block at 0, in which
 * polynomials act by their derivatives there: at the end of a segment these grow like m^2k, inside
 * like m^k. So 0 is kept ZERO_DEPTH away from the ends. */
static tw_leja_segment segment_of(const tw_taylor_call *call, double h)
{
    const tw_taylor_fit *fit = &call->fit;
    double p = fit->horizontal * h;
    double q = fit->vertical * h;
    double center = fit->center * h;

    /* A thin ellipse is a segment. */
    if (p <= BEARABLE_THICKNESS && q > 2 * p) p = 0;
    if (q <= BEARABLE_THICKNESS && p > 2 * q) q = 0;

    /* Sources: 0 moves inside. */
    if (call->substep.sources.count > 0 && p >= q) {
        double low = fmin(center - p, -ZERO_DEPTH);
        double high = fmax(center + p, ZERO_DEPTH);
        center = (low + high) / 2;
        p = (high - low) / 2;
    }

    tw_leja_segment segment = {.vertical = q > p,
                               .center = center,
                               .precise = fit->precise || fmax(p, q) < CHEAP_PRECISION};
    segment.half_length = sqrt(fabs(p * p - q * q));
    segment.capacity = fmax((p + q) / 2, SMALLEST_CAPACITY);
    return segment;
}

static void build(tw_taylor_call *call, double h)
{
    tw_newton *newton = call->newton;
    tw_leja_segment segment = segment_of(call, h);

    /* The degree has some room above the expected one, and whole pairs. */
    int degree = (int)(1.3 * expected_degree(call, h)) + 30;
    if (call->fit.precise || degree > highest_degree(call)) degree = highest_degree(call);
    newton->degree = (degree - 1) | 1;
    newton->window = 6;

    /* Terms may grow as long as rounding in them stays below the tolerance. */
    double tolerance = call->workspace->options.tolerance;
    newton->divergence = fmin(fmax(0.01 * tolerance / DBL_EPSILON, 1e3), 1e6);
    tw_leja_build(call->memory->leja, &segment, newton, call->memory->scratch);
}

/* Growing terms mean that the spectrum reaches out of the ellipse, which is widened on all sides
 * until its capacity has grown as the terms did. Level terms that are not small yet: first every
 * coefficient is made precise, up to the highest degree; if that does not help, the substep is too
 * long. */
static void reject(tw_taylor_call *call, double h)
{
    tw_taylor_fit *fit = &call->fit;
    if (!call->substep.diverged) {
        if (fit->precise)
            fit->longest = 0.7 * h;
        else
            fit->precise = true;
        return;
    }

    /* The capacity grows by the factor by which the terms grew, within limits. */
    double capacity = (fit->horizontal + fit->vertical) / 2;
    double growth = call->substep.growth_rate;
    double excess = isfinite(growth) ? fmin(fmax(growth, 1.02), 3) - 1 : 2;
    double wider = excess * capacity + DBL_MIN;
    fit->horizontal += wider;
    fit->vertical += wider;

    /* Mostly to the left: a part that reaches to the right makes a hump. */
    fit->center -= 0.8 * wider;
}

/* ---- the engine ---- */

static const tw_taylor_method leja = {
    .begin = begin, .length = length, .build = build, .reject = reject};

static tw_status reserve(tw_phi_workspace *workspace, tw_error *error)
{
    return tw_taylor_reserve(workspace, TW_PHI_LEJA, error);
}

static tw_status first_order(tw_phi_workspace *workspace, const tw_operator *op,
                             const tw_phi_request *request, tw_phi_statistics *statistics,
                             tw_error *error)
{
    return tw_taylor_evaluate(&leja, workspace, op, request, statistics, error);
}

static tw_status second_order(tw_phi_workspace *workspace, const tw_second_order *op,
                              const tw_phi_request *request, tw_phi_statistics *statistics,
                              tw_error *error)
{
    return tw_phi_pair_evaluate(workspace, &tw_phi_leja, op, request, statistics, error);
}

const tw_phi_engine_table tw_phi_leja = {.reserve = reserve,
                                         .release = tw_taylor_release,
                                         .first_order = first_order,
                                         .second_order = second_order};
