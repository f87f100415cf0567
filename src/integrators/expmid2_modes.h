/* What one mode of the linear model does during a step of expmid2: scalar functions of its
 * eigenvalue lambda.
 *
 * Let t = h/2, s the time since the start of the step, and x_n + s v_n + a_p s^2/2 the parabola that
 * passes the stage x_m in the middle of the step. Its velocity there is v_m = v_n + t a_p. The linear
 * model about (x_m, v_m, a_m) is, with delta = alpha + beta lambda,
 *     x'' = a_m - lambda (x - x_m) - delta (x' - v_m) + (a_t + r) (s - t),
 * a_t the rate of forces in time, and r the rate, along the parabola, of all that a symmetric
 * operator cannot have: wind, follower forces, and damping that turns with its element.
 *
 * The filter chi = exp(-q^2 / (q + 1/16)), q = (z / cutoff^2)^4, mixes two paths, each of which
 * follows a slow motion by itself:
 *     x = chi (resolved path) + (1 - chi) (unresolved path), and v alike,
 * with z = h^2 lambda / sqrt(1 + (h delta/2)^2): a mode that damping makes slow is resolved, too.
 * The rate of forces is a load b = a_t + r on the resolved path, where g = 0. On the unresolved path
 * it is the speed g = a_t / lambda at which the support carries the mode along, and b = 0; damping
 * does not act on a slow motion there, so r has no part in it. Displacement, velocity and
 * acceleration at the start, in the frame of the support, are
 *     y = x_n - x_m + t g,   w = v_n - g,   B = a_m - t b - lambda y + t delta a_p.
 * (Splitting a_t itself by chi, b = chi a_t and g = (1 - chi) a_t / lambda, lets a mode between the
 * two lag behind its support by chi (1 - chi) h g in every step.)
 *
 * The resolved path is the exact flow: x = x_n + Y and v = v_n + Y', where (Y, Y') is the solution
 * that starts at (0, w) with the acceleration B + b s. Two things are different where damping is
 * strong:
 *   - A stiff mode that is here because its damping carries it belongs to an element that may turn.
 *     An element that turns keeps its length, but the linear model sees a stretch a_turn (s - t)^2 / 2.
 *     The damping tells which part of a_p turns: r = delta a_turn, because damping leaves a turning
 *     element alone. The load lambda a_turn (s - t)^2 / 2 = (lambda / delta) r (s - t)^2 / 2 takes the
 *     stretch back.
 *   - Soft modes hold geometric stiffness, which damping does not feel: a body that rotates at Omega
 *     has a mode with lambda = Omega^2, and delta = beta lambda would brake it. So the flow of a soft
 *     mode has the share psi of beta lambda only (flow_share in expmid2_modes.c). The rest of the damping acts
 *     through a_m, as a constant force, as in the midpoint rule.
 * Damping beyond alpha + beta lambda (dashpots on some springs) acts through a_m, too. Its rate is a
 * part of r, which is explicit: where dashpots are faster than the step, r has the share load_share.
 *
 * On the unresolved path a mode keeps its displacement and reverses its velocity, and the path is
 * even about the middle of the step, theta = s/h:
 *     x = x_n + s g + theta (1 - theta) h w,   v = g + (1 - 2 theta) w.
 * An element that rides on a slow rotation has w + (2/t) y = 0. What differs from that, u = w +
 * (2/t) y, is a vibration.
 *
 * Where the step may change, the mode settles on the slow motion instead, in the second half of the
 * step. It ends at
 *     x = x_n + h g - (t/4) u,   v = g - w + u/2,   that is on the parabola y = (t/2) w.
 * A vibration (e, nu) of displacement and velocity, u = nu + 2 e/t, becomes (e - (t/4) u, -nu +
 * u/2), and after two steps it is gone. Kept, it would be a false acceleration -(e + t nu)/t^2 of
 * the next stage, which a smaller step makes larger: the estimate would ask for ever smaller steps.
 * Damping lets the share 1 - E, E = exp(-delta h), of the mode settle: two steps multiply the
 * vibration by E, as two steps of a damped oscillation do, and a rotation is left alone. The option
 * `dissipation` lets the share mu settle besides.
 *
 * Every output is linear in five start vectors: v_n, a_m, the shift c, a_t and r, where
 *     x_n - x_m = -(t v_n + kappa t^2 a_m + c),   a_p = 2 (kappa a_m + c / t^2),
 * kappa belongs to the stage (tw_expmid2_kappa), and c is the distance by which the symmetric stage
 * has moved its target (expmid2.c). What a mode
 * with lambda = infinity does needs no function of the operator: tw_mode_by_hand gives it, and
 * tw_mode_value gives the rest, which decays. */
#ifndef TW_INTEGRATORS_EXPMID2_MODES_H
#define TW_INTEGRATORS_EXPMID2_MODES_H

#include <stdbool.h>

typedef enum tw_mode_start {
    TW_MODE_FROM_V, /* v_n */
    TW_MODE_FROM_A, /* a_m */
    TW_MODE_FROM_C, /* the shift c */
    TW_MODE_FROM_T, /* a_t */
    TW_MODE_FROM_R, /* r */
    TW_MODE_STARTS
} tw_mode_start;

typedef enum tw_mode_output {
    TW_MODE_X,       /* x(theta h) - x_n */
    TW_MODE_V,       /* v(theta h) */
    TW_MODE_HALF,    /* q: the move of x_m that puts it where the half step ends */
    TW_MODE_TARGET,  /* (1 + kappa t^2 (lambda + 2 delta / t)) q: the move of the target for that */
    TW_MODE_CARRIED, /* (1 - chi) g: the velocity at which the support carries the mode along */
    TW_MODE_FILTER_X,  /* what the filter changes in x of a slow mode: an error */
    TW_MODE_FILTER_V,  /* the same in v */
    TW_MODE_VIBRATION, /* u of vibrations that are lost, see lost_share in expmid2_modes.c */
    TW_MODE_SLOW_V,    /* v_m of modes that do not swing within rest_time */
    TW_MODE_SLOW_A,    /* a_m of the same */
    TW_MODE_IMPULSE    /* -(v at lambda - v at 0) / lambda: see expmid2_tally.c */
} tw_mode_output;

/* What all functions of one request share at one lambda. */
typedef struct tw_mode_point {
    double lambda;    /* NAN: nothing is known yet */
    double chi;       /* of the filter */
    double not_chi;   /* 1 - chi with all its digits */
    double delta;     /* damping in the flow of a resolved mode */
    double phi[4][4]; /* of that flow: entries xx, xv, vx, vv of phi_1, phi_2 and phi_3 */
} tw_mode_point;

typedef struct tw_mode_function {
    double h, theta;    /* the state at t_n + theta h of a step h */
    double cutoff;      /* of the filter */
    double kappa;       /* of the stage, x_m = x_n + t v_n + kappa t^2 a_m + c */
    double bend;        /* a_p = bend (kappa a_m + c / t^2): 2, or 1 without the symmetric stage */
    double mu;          /* share of unresolved modes that settles in any case */
    double alpha, beta; /* Rayleigh damping */
    double rest_rate;   /* of damping beyond that [1/s]: tw_symmetric_part */
    bool settles;       /* all unresolved vibrations end within two steps */
    double slow;        /* of tw_mode_estimate, for FILTER_X, FILTER_V, VIBRATION */
    double rest_time;   /* for SLOW_V and SLOW_A [s] */
    tw_mode_start start;
    tw_mode_output output;
    double by_hand;       /* tw_mode_by_hand of this function */
    tw_mode_point *point; /* of the functions that differ in start and output alone */
} tw_mode_function;

/* The coefficient of a mode with lambda = infinity. It reads neither by_hand nor point. */
double tw_mode_by_hand(const tw_mode_function *f);

/* The rest, as tw_spectral_function.value wants it (context is a tw_mode_function). */
double tw_mode_value(const void *context, double lambda);

/* What of a remainder the error estimate counts: chi / (1 + lambda slow^2). Remainders in slow
 * modes add up from step to step. In a fast mode a remainder is a smooth load that the mode carries
 * at rest, and the mode has at most the share 1/(omega slow) of the speed, because omega |v_fast|
 * <= |a| = |v|/slow. */
typedef struct tw_mode_estimate {
    double h, cutoff;
    double slow; /* |v|/|a| [s]: the time in which the motion changes */
} tw_mode_estimate;
double tw_mode_accumulating(const void *context, double lambda);

#endif
