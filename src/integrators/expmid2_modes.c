#include "integrators/expmid2_modes.h"

#include <math.h>
#include <stdbool.h>

#include "phi/scalar_functions.h"

/* A compressed stiff element has modes that grow in the linear model. In truth they buckle within a
 * fraction of the step: their growth rate is bounded by sqrt(fastest_growth) / h. */
static const double fastest_growth = 4;

/* Where the filter's exponent changes from q^2 / filter_bend to q. The resolved part turns in the
 * phase plane, the unresolved part is reflected in it: a mixture of both contracts areas by 2 chi -
 * 1 in every step, and takes energy from the mode. With 1/16, chi = 1 - 2e-9 where a period has 20
 * steps; with the plain exponent q it is 1 - 1e-5, and a Duffing oscillator loses 72 % of its
 * energy in 1e5 periods. */
static const double filter_bend = 1.0 / 16;

/* q^2 / (q + bend) with q = (z / cutoff^2)^4, z = h^2 lambda, bounded where exp(-r) has
 * underflowed. */
static double filter_exponent(double z, double cutoff)
{
    if (!(z > 0)) return 0;
    double ratio = fmin(z / (cutoff * cutoff), 6);
    double q = ratio * ratio * ratio * ratio;
    return q * q / (q + filter_bend);
}

double tw_mode_accumulating(const void *context, double lambda)
{
    const tw_mode_estimate *f = context;
    double chi = exp(-filter_exponent(f->h * f->h * lambda, f->cutoff));
    return chi / (1 + fabs(lambda) * f->slow * f->slow);
}

/* h^2 lambda that is as good as infinite. */
static const double infinite_stiffness = 1e14;

/* A mode at the start of the step, in the frame of its support. */
typedef struct mode_state {
    double lambda, delta;
    double g, b; /* speed of the support, rate of the load */
    double y, w; /* displacement from the stage, velocity */
    double B;    /* acceleration */
    double turn; /* second derivative of the load */
} mode_state;

/* h^2 lambda up to which a mode counts as soft: a body that turns by 0.5 rad in a step has the
 * geometric stiffness h^2 lambda = 0.25. */
static const double soft_stiffness = 0.5;

/* psi, the share of the stiffness damping that the flow of a resolved mode has. Weak damping, beta <
 * h, is all in the flow, which is exact for linear problems. Measured on free boxes that spin at 6
 * rad/s (E = 1e5 ... 1e9, h = 0.01, 2 s): with psi = 1 the angular momentum changes by 2 % where beta
 * = 100 h and by 36 % where beta = 1000 h, with this psi by 0.03 %. */
static double flow_share(const tw_mode_function *f, double lambda)
{
    if (!(f->beta > 0)) return 1;
    double softness = soft_stiffness / (f->h * f->h);
    double long_damping = f->beta * f->beta / (f->beta * f->beta + f->h * f->h);
    return 1 - long_damping / (1 + lambda * lambda / (softness * softness));
}

/* The share of r that is a load on a resolved mode. A load -delta a_p (s - t) of dashpots that are
 * faster than the step would be unstable; the constant force at the stage is stable for any delta. In
 * stiff modes that beta carries, r is what turns, and has to stay. */
static double load_share(const tw_mode_function *f, double lambda)
{
    double fast = 0.5 * f->h * f->rest_rate;
    double slow = 1 / (1 + fast * fast);
    if (!(f->beta > 0) || !(lambda > 0)) return slow;

    double stiff = f->h * f->h * lambda / soft_stiffness;
    return slow + (1 - slow) * stiff * stiff / (1 + stiff * stiff);
}

/* The turning load per unit of r: lambda / delta where damping carries the mode, h delta > 1. The
 * mass-proportional part of delta does not tell what turns. */
static double turning_load(const tw_mode_function *f, double lambda)
{
    double damping = f->h * f->beta * lambda;
    if (!(damping > 0)) return 0;
    return f->h * lambda * damping / (1 + damping * damping);
}

/* The state that one unit of the start vector makes. The rate a_t is a load `b` on a resolved mode,
 * and the speed g = a_t / lambda of the support of an unresolved one. */
static mode_state begin(const tw_mode_function *f, const tw_mode_point *point, bool resolved)
{
    double lambda = point->lambda;
    double t = 0.5 * f->h;
    double v = f->start == TW_MODE_FROM_V;
    double a = f->start == TW_MODE_FROM_A;
    double c = f->start == TW_MODE_FROM_C;
    double a_t = f->start == TW_MODE_FROM_T;
    double r = f->start == TW_MODE_FROM_R;

    double bend = f->bend * (f->kappa * a + c / (t * t)); /* a_p */

    mode_state m = {.lambda = lambda, .delta = f->alpha + f->beta * lambda};
    if (resolved) {
        m.delta = point->delta;
        r *= flow_share(f, lambda) * load_share(f, lambda);
        m.b = a_t + r;
    } else {
        m.g = a_t / lambda;
    }

    m.y = -(t * v + f->kappa * t * t * a + c) + t * m.g;
    m.w = v - m.g;
    m.B = a - t * m.b - lambda * m.y + t * m.delta * bend;
    if (!resolved) return m;

    /* The load (lambda / delta) r (s - t)^2 / 2. */
    m.turn = turning_load(f, lambda) * r;
    m.B += 0.5 * t * t * m.turn;
    m.b -= t * m.turn;
    return m;
}

/* The time of the flow: the half step, or that of the output. */
static double flow_time(const tw_mode_function *f)
{
    bool is_half = f->output == TW_MODE_HALF || f->output == TW_MODE_TARGET;
    return is_half ? 0.5 * f->h : f->theta * f->h;
}

/* The exact flow after the time s: the changes of displacement and velocity,
 *     (Y, Y') = s phi_1 (w, B) + s^2 phi_2 (0, b) + s^3 phi_3 (0, turn),
 * phi_k at s [[0, 1], [-lambda, -delta]]. */
static void flow(const mode_state *m, double s, const double phi[4][4], double *Y, double *rate)
{
    *Y = s *
         (phi[1][0] * m->w + phi[1][1] * m->B + s * (phi[2][1] * m->b + s * phi[3][1] * m->turn));
    *rate = s * (phi[1][2] * m->w + phi[1][3] * m->B +
                 s * (phi[2][3] * m->b + s * phi[3][3] * m->turn));
}

/* Whether the output is a velocity. */
static bool wants_v(const tw_mode_function *f)
{
    return f->output == TW_MODE_V || f->output == TW_MODE_FILTER_V || f->output == TW_MODE_IMPULSE;
}

/* x - x_n, or v, of a resolved mode at theta. */
static double resolved_path(const tw_mode_function *f, const tw_mode_point *point)
{
    mode_state m = begin(f, point, true);
    double Y = 0;
    double rate = 0;
    flow(&m, flow_time(f), point->phi, &Y, &rate);
    return wants_v(f) ? m.w + rate : Y;
}

/* The share of an unresolved mode that settles on the slow motion until theta: by damping, by the
 * option `dissipation`, or all of it. */
static double settled_share(const tw_mode_function *f, double delta)
{
    if (f->settles) return 1;
    double left = exp(-f->theta * f->h * fmax(delta, 0));
    return 1 - left * (1 - f->theta * f->mu);
}

/* x - x_n, or v, of an unresolved mode in the state m at theta, of which a share settles. */
static double unresolved(const tw_mode_function *f, const mode_state *m, double share)
{
    double t = 0.5 * f->h;
    double theta = f->theta;
    double vibration = m->w + 2 / t * m->y; /* u */

    /* It settles in the second half of the step: the middle is on the slow motion. */
    double settled = share * theta * (2 * theta - 1) * vibration;
    if (wants_v(f)) return m->g + (1 - 2 * theta) * m->w + 0.5 * settled;
    return theta * f->h * (m->g + (1 - theta) * m->w) - 0.25 * t * settled;
}

/* The same of an unresolved mode of finite lambda > 0. */
static double unresolved_path(const tw_mode_function *f, const tw_mode_point *point)
{
    mode_state m = begin(f, point, false);
    return unresolved(f, &m, settled_share(f, m.delta));
}

/* q, the move of x_m that puts it where the half step ends. Seen from x_m, the half step ends at y +
 * Y(t). If x_m moves by q, this changes by -G q: by -q, because y does, and by what the damping
 * outside the flow, delta - m.delta, does to a_m, since v_m moves by 2 q / t. */
static double half_step(const tw_mode_function *f, const tw_mode_point *point)
{
    double t = 0.5 * f->h;
    double lambda = point->lambda;
    if (point->chi == 0) return 0;

    mode_state m = begin(f, point, true);
    double Y = 0;
    double rate = 0;
    flow(&m, t, point->phi, &Y, &rate);

    /* What a constant acceleration of 1 makes of Y(t). */
    double Y_unit = t * point->phi[1][1];
    double outside = f->alpha + f->beta * lambda - m.delta;
    double G = 1 + 2 / t * outside * Y_unit;
    return point->chi * (m.y + Y) / G;
}

/* The argument of the filter: h^2 lambda where damping is weak, 2 h / beta where it is strong. A mode
 * whose damping carries more than its stiffness creeps, at the rate 1/beta, and the exact flow
 * creeps alike. Measured: with h/beta a pendulum on a link of k = 1e6, beta = 1e-3 loses its order
 * at h = 5 beta, and with 4 h/beta a stretched link of h = 2 beta creeps at an eighth of its rate.
 * Strong damping does not open the filter of the half step, because the move of the target would
 * grow without bound. */
static double filtered_stiffness(const tw_mode_function *f, double lambda)
{
    double z = f->h * f->h * lambda;
    if (f->output == TW_MODE_HALF || f->output == TW_MODE_TARGET) return z;

    double damping = 0.5 * f->h * fmax(f->alpha + f->beta * lambda, 0);
    return z / sqrt(1 + damping * damping);
}

/* What depends on lambda, but not on the start vector. */
static tw_mode_point point_at(const tw_mode_function *f, double lambda)
{
    double exponent = filter_exponent(filtered_stiffness(f, lambda), f->cutoff);
    tw_mode_point point = {.lambda = lambda,
                           .chi = exp(-exponent),
                           .not_chi = -expm1(-exponent),
                           .delta = f->alpha + flow_share(f, lambda) * f->beta * lambda};

    /* An error of the filter needs the flow of modes that are not resolved, too. */
    bool compares = f->output == TW_MODE_FILTER_X || f->output == TW_MODE_FILTER_V;
    if (point.chi > 0 || compares)
        tw_mode_phi(flow_time(f), lambda, point.delta, 1u << 1 | 1u << 2 | 1u << 3, point.phi);
    return point;
}

/* x - x_n, or v: the two paths in their shares. */
static double mixed_path(const tw_mode_function *f, const tw_mode_point *point)
{
    double value = 0;
    if (point->chi > 0) value += point->chi * resolved_path(f, point);
    if (point->not_chi > 0) value += point->not_chi * unresolved_path(f, point);
    return value;
}

/* (1 - chi) times the difference between the exact flow and what an unresolved mode does. It is an
 * error where the mode takes part in the motion, lambda slow^2 <= 1; a mode that is much faster
 * rides on the motion. */
static double filter_error(const tw_mode_function *f, const tw_mode_point *point)
{
    if (point->not_chi == 0) return 0;
    double difference = resolved_path(f, point) - unresolved_path(f, point);

    /* The fourth power leaves out modes that hardly take part. Measured: the second power makes a
     * rope of k = 1e10 take twenty times as many steps. */
    double fast = 1 + fabs(point->lambda) * f->slow * f->slow;
    return point->not_chi * difference / (fast * fast * fast * fast);
}

/* The share of a vibration's velocity that is lost within the time in which the motion changes: the
 * filter takes the share 1 - chi of its energy in every step. What damping ends sooner than that is
 * no loss. */
static double lost_share(const tw_mode_function *f, double lambda)
{
    double steps = fmax(f->slow / f->h, 1);
    double lost = -expm1(-steps * filter_exponent(filtered_stiffness(f, lambda), f->cutoff));
    double delta = fmax(f->alpha + f->beta * lambda, 0);
    return sqrt(lost / (1 + delta * fmax(f->slow, f->h)));
}

/* u = w + (2/t) y of an unresolved mode. */
static double vibration(const tw_mode_function *f, const tw_mode_point *point)
{
    mode_state m = begin(f, point, false);
    return m.w + 4 / f->h * m.y;
}

/* The share of a mode that belongs to the slow motion. */
static double slow_share(const tw_mode_function *f, double lambda)
{
    return 1 / (1 + fmax(lambda, 0) * f->rest_time * f->rest_time);
}

/* v_m = v_n + t a_p. */
static double middle_velocity(const tw_mode_function *f)
{
    double t = 0.5 * f->h;
    double bend = f->kappa * (f->start == TW_MODE_FROM_A) + (f->start == TW_MODE_FROM_C) / (t * t);
    return (f->start == TW_MODE_FROM_V) + t * f->bend * bend;
}

/* -(v(lambda) - v(0)) / lambda of an undamped mode. Near 0 it hardly changes, and rounding would spoil it. */
static double impulse(const tw_mode_function *f, const tw_mode_point *point, double lambda)
{
    double nearest = 1e-8 / (f->h * f->h);
    double at_rest = (f->start == TW_MODE_FROM_V) + f->theta * f->h * (f->start == TW_MODE_FROM_A);
    if (fabs(lambda) >= nearest) return (at_rest - mixed_path(f, point)) / lambda;

    tw_mode_point near = point_at(f, nearest);
    return (at_rest - mixed_path(f, &near)) / nearest;
}

double tw_mode_by_hand(const tw_mode_function *f)
{
    if (f->start == TW_MODE_FROM_T || f->start == TW_MODE_FROM_R) return 0;
    tw_mode_point infinite = point_at(f, infinite_stiffness / (f->h * f->h));
    if (f->output == TW_MODE_VIBRATION)
        return lost_share(f, infinite.lambda) * vibration(f, &infinite);
    if (f->output != TW_MODE_X && f->output != TW_MODE_V) return 0;
    return mixed_path(f, &infinite);
}

double tw_mode_value(const void *context, double lambda)
{
    const tw_mode_function *f = context;
    double t = 0.5 * f->h;
    double eigenvalue = lambda;
    lambda = fmax(lambda, -fastest_growth / (f->h * f->h));

    /* The first function at this lambda finds what the others share. */
    tw_mode_point *point = f->point;
    if (point->lambda != lambda) *point = point_at(f, lambda);

    switch (f->output) {
    case TW_MODE_HALF:
        return half_step(f, point);
    case TW_MODE_TARGET:
        /* The move of the target that makes q. */
        return (1 + f->kappa * t * (t * lambda + 2 * (f->alpha + f->beta * lambda))) *
               half_step(f, point);
    case TW_MODE_CARRIED:
        if (f->start != TW_MODE_FROM_T || !(lambda > 0)) return 0;
        return point->not_chi / lambda;
    case TW_MODE_FILTER_X:
    case TW_MODE_FILTER_V:
        return filter_error(f, point);
    case TW_MODE_VIBRATION:
        if (!(lambda > 0)) return -f->by_hand;
        return lost_share(f, lambda) * vibration(f, point) - f->by_hand;
    case TW_MODE_SLOW_A:
        return (f->start == TW_MODE_FROM_A) * slow_share(f, lambda);
    case TW_MODE_SLOW_V:
        return middle_velocity(f) * slow_share(f, lambda);
    case TW_MODE_IMPULSE:
        return impulse(f, point, eigenvalue);
    default:
        return mixed_path(f, point) - f->by_hand;
    }
}
