/* leja: Newton interpolation of exp at Leja points of the focal segment of an ellipse around the spectrum (Caliari,
 * Vianello & Bergamaschi 2004; conjugate pairs: Caliari, Kandolf, Ostermann & Rainer 2016).
 *
 * A real segment for symmetric operators and parabolic ones, an imaginary one, in real arithmetic, for skew operators
 * and oscillators; a disc (all points in its centre: a shifted Taylor series) when neither direction prevails. No basis
 * is stored and terms stay of the size of the solution, so degrees of several hundred are sound, and long substeps are
 * cheap: about R products for a segment of half-length R on the imaginary axis, sqrt(R) on the real one. */
#include <float.h>
#include <math.h>

#include "phi/taylor/exp_sweep.h"

enum { DEFAULT_DEGREE = 480, SMALLEST_DEGREE = 24 };

/* Thickness (minor semi-axis times h) that a thin segment bears: its terms grow by exp of it. */
static const double BEARABLE_THICKNESS = 3;
/* Longest h |center| and h radius of a thick ellipse: coefficients must not underflow. */
static const double LARGEST_EXPONENT = 500;

/* Of a spectrum that is (almost) one point: the points then crowd in a disc of this capacity. */
static const double SMALLEST_CAPACITY = 0.3;
/* How far 0 lies inside a real segment, in units of X, when there are sources. */
static const double ZERO_DEPTH = 2;

/* Share of the margin by which an ellipse is widened along its minor axis. */
static const double MINOR_MARGIN = 0.25;
/* Exponent of a hump that is never worth a shorter substep. */
static const double SMALLEST_HUMP = 1;

static int highest_degree(const tw_exp_call *call)
{
    int asked = call->workspace->options.max_dimension;
    if (asked == 0) return DEFAULT_DEGREE;
    int degree = asked < SMALLEST_DEGREE ? SMALLEST_DEGREE : asked;
    return degree > TW_NEWTON_MAX_DEGREE - 1 ? TW_NEWTON_MAX_DEGREE - 1 : degree;
}

/* An ellipse with real centre, per unit of theta. */
typedef struct ellipse {
    double center, horizontal, vertical;
} ellipse;

/* Scales the semi-axes so that the point lies inside. */
static void include(ellipse *e, double real, double imaginary)
{
    double x = real - e->center, scale = 0;
    if (e->horizontal > 0) scale += x * x / (e->horizontal * e->horizontal);
    if (e->vertical > 0) scale += imaginary * imaginary / (e->vertical * e->vertical);
    if (scale > 1) {
        e->horizontal *= sqrt(scale);
        e->vertical *= sqrt(scale);
    }
}

/* Products go with the sum of the semi-axes; what sticks out to the right of the spectrum makes terms that cancel. */
static double price(const ellipse *e, double right)
{
    return e->horizontal + e->vertical + 3 * fmax(e->center + e->horizontal - right, 0);
}

/* The cheapest of some ellipses around the Ritz values of t A, and 0 if there are sources. */
static ellipse enclose(const tw_spectrum_bounds *bounds, double time, double low, double high,
                       bool with_zero)
{
    enum { CENTERS = 9, SHAPES = 13 };
    double tall = fmax(fabs(time) * bounds->imag_max, 1e-6 * (high - low)),
           wide = fmax((high - low) / 2, 1e-6 * tall);
    ellipse best = {0};
    double lowest = INFINITY;
    for (int i = 0; i < CENTERS; i++)
        for (int j = 0; j < SHAPES; j++) {
            double shape =
                exp2(0.5 * (j - (SHAPES - 1) * 0.5)); /* from upright to flat, 1/8 to 8 */
            double center = low + (high - low) * (i + 2) / (CENTERS + 3);
            ellipse e = {center, 1e-9 * wide * shape,
                         1e-9 * tall / shape}; /* a germ, grown by `include` */
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

static void begin(tw_exp_call *call)
{
    const tw_spectrum_bounds *bounds = &call->bounds;
    double time = call->trajectory->time, a = time * bounds->real_min, b = time * bounds->real_max;
    double low = fmin(a, b), high = fmax(a, b), margin = fabs(time) * bounds->margin;
    bool sources = call->substep.sources.count > 0;
    if (sources) {
        low = fmin(low, 0);
        high = fmax(high, 0);
    }
    call->fit = (tw_exp_fit){.center = (low + high) / 2,
                             .horizontal = (high - low) / 2,
                             .vertical = fabs(time) * bounds->imag_max,
                             .rightmost = high,
                             .longest = 1};
    double thickness = fmin(call->fit.horizontal, call->fit.vertical);
    if (bounds->ritz_count == 0 || thickness <= 0.1 * BEARABLE_THICKNESS) return;
    ellipse e = enclose(bounds, time, low, high, sources);
    call->fit.center = e.center;
    /* Ritz values lag behind at the tips of the spectrum, hardly across it. */
    call->fit.horizontal =
        e.horizontal + (e.horizontal > e.vertical ? margin : MINOR_MARGIN * margin);
    call->fit.vertical = e.vertical + (e.horizontal > e.vertical ? MINOR_MARGIN * margin : margin);
}

/* Smallest m with (e capacity / m)^m below the tolerance: c_m ~ capacity^m / m!. */
static double factorial_degree(double capacity, double digits)
{
    double m = 2;
    while (m * (log(m / fmax(capacity, SMALLEST_CAPACITY)) - 1) < digits) m = 1.05 * m + 1;
    return m;
}

/* Degree at which the coefficients of a substep h reach the tolerance. On a long imaginary segment they are like
 * Bessel functions J_m(R), small beyond m = R + O(R^(1/3)); on a long real one like exp(-m^2 / 2R). */
static double expected_degree(const tw_exp_call *call, double h)
{
    double p = call->fit.horizontal * h, q = call->fit.vertical * h,
           digits = -log(0.01 * call->tolerance);
    double small = fmin(p, q), large = fmax(p, q);
    double degree = fmin(factorial_degree((p + q) / 2, digits),
                         1.05 * large + 1.2 * digits * cbrt(fmax(large, 1) / 10) + 5 * sqrt(small));
    if (p > q && small <= BEARABLE_THICKNESS) degree = fmin(degree, 1.25 * sqrt(2 * p * digits));
    return degree + 6;
}

/* How much faster than the solution the terms may grow per unit of theta: by as much as the ellipse reaches beyond the
 * spectrum, or beyond 0 once rounding has been seen to matter. */
static double hump_rate(const tw_exp_call *call)
{
    const tw_exp_fit *fit = &call->fit;
    double right = call->caution > 1 ? 0 : fmax(fit->rightmost, 0);
    return fmax(fit->center + fit->horizontal - right, 0);
}

static bool suits(const tw_exp_call *call, double h)
{
    const tw_exp_fit *fit = &call->fit;
    double large = fmax(fit->horizontal, fit->vertical) * h,
           small = fmin(fit->horizontal, fit->vertical) * h;
    double room = call->workspace->options.tolerance / (8 * DBL_EPSILON * call->caution);
    bool representable =
        small <= BEARABLE_THICKNESS || fabs(fit->center) * h + large <= LARGEST_EXPONENT;
    bool bearable = hump_rate(call) * h <= fmax(log(room), SMALLEST_HUMP);
    return representable && bearable && expected_degree(call, h) <= 0.9 * highest_degree(call);
}

static double length(const tw_exp_call *call, double remaining, int *degree)
{
    double count = 1;
    while (count < 1e9 && !suits(call, fmin(remaining / count, call->fit.longest)))
        count = fmax(count + 1, floor(count * 1.1));
    double h = fmin(remaining / count, call->fit.longest);
    *degree = (int)fmin(expected_degree(call, h), highest_degree(call));
    return h;
}

/* The augmented matrix has a Jordan block at 0, in which polynomials act by their derivatives there: at the end of a
 * segment these grow like m^2k, inside like m^k. So 0 is kept ZERO_DEPTH away from the ends. */
static tw_leja_segment segment_of(const tw_exp_call *call, double h)
{
    const tw_exp_fit *fit = &call->fit;
    double p = fit->horizontal * h, q = fit->vertical * h, center = fit->center * h;
    if (p <= BEARABLE_THICKNESS && q > 2 * p) p = 0;
    if (q <= BEARABLE_THICKNESS && p > 2 * q) q = 0;
    if (call->substep.sources.count > 0 && p >= q) {
        double low = fmin(center - p, -ZERO_DEPTH), high = fmax(center + p, ZERO_DEPTH);
        center = (low + high) / 2;
        p = (high - low) / 2;
    }
    tw_leja_segment segment = {
        .vertical = q > p, .center = center, .precise = fit->precise || fmax(p, q) < 20};
    segment.half_length = sqrt(fabs(p * p - q * q));
    segment.capacity = fmax((p + q) / 2, SMALLEST_CAPACITY);
    return segment;
}

static void build(tw_exp_call *call, double h)
{
    tw_newton *newton = call->newton;
    tw_leja_segment segment = segment_of(call, h);
    int degree = (int)(1.3 * expected_degree(call, h)) + 30;
    if (call->fit.precise || degree > highest_degree(call)) degree = highest_degree(call);
    newton->degree = (degree - 1) | 1; /* whole pairs */
    newton->window = 6;
    newton->divergence =
        fmin(fmax(0.01 * call->workspace->options.tolerance / DBL_EPSILON, 1e3), 1e6);
    tw_leja_build(call->memory->leja, &segment, newton, call->memory->scratch);
}

/* Growing terms: the spectrum reaches out of the ellipse, which is widened on all sides until its capacity has grown as
 * the terms did. Level terms that are not small yet: first every coefficient is made precise, up to the highest degree;
 * if that does not do, the substep is too long. */
static void reject(tw_exp_call *call, double h)
{
    tw_exp_fit *fit = &call->fit;
    double capacity = (fit->horizontal + fit->vertical) / 2, growth = call->substep.growth_rate;
    if (call->substep.diverged) {
        double excess = isfinite(growth) ? fmin(fmax(growth, 1.02), 3) - 1 : 2;
        double wider = excess * capacity + DBL_MIN;
        fit->horizontal += wider;
        fit->vertical += wider;
        fit->center -= 0.8 * wider; /* mostly to the left: what reaches to the right makes a hump */
    } else if (!fit->precise) {
        fit->precise = true;
    } else {
        fit->longest = 0.7 * h;
    }
}

static const tw_exp_method leja = {
    .begin = begin, .length = length, .build = build, .reject = reject};

static tw_status reserve(tw_phi_workspace *workspace, tw_error *error)
{
    return tw_exp_reserve(workspace, TW_PHI_LEJA, error);
}

static tw_status first_order(tw_phi_workspace *workspace, const tw_operator *op,
                             const tw_phi_request *request, tw_phi_statistics *statistics,
                             tw_error *error)
{
    return tw_exp_sweep_evaluate(&leja, workspace->memory[TW_PHI_LEJA], workspace, op, request,
                                 statistics, error);
}

static tw_status second_order(tw_phi_workspace *workspace, const tw_second_order *op,
                              const tw_phi_request *request, tw_phi_statistics *statistics,
                              tw_error *error)
{
    return tw_phi_pair_evaluate(workspace, &tw_phi_leja, op, request, statistics, error);
}

const tw_phi_engine_table tw_phi_leja = {.reserve = reserve,
                                         .release = tw_exp_release,
                                         .first_order = first_order,
                                         .second_order = second_order};
