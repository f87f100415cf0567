/* Whether a problem depends on the velocity or on time, or has a tangent that is not symmetric, though
 * it does not say so.
 *
 * Schemes trust velocity_dependent, time_dependent and stiffness_is_general. Forgotten, they cost
 * accuracy, and nothing in the result tells, or Newton's iteration hardly converges. Evaluations at a
 * few other velocities, times and positions notice most of it; they are not counted and change
 * nothing. */
#include <math.h>

#include "base/fail.h"
#include "base/start_vector.h"
#include "integrators/integrator_internal.h"
#include "linalg/vector.h"

/* A change below this share of the larger value is rounding. */
static const double PROBE_NOISE = 1e-12;

/* Where in the time that a call goes through the force is evaluated, as shares of it. They have no
 * simple ratio: a force that repeats itself in a half or a third of the time does not look constant. */
static const double probe_shares[] = {0.0173, 0.0831, 0.2179, 0.3917, 0.5623, 0.7411, 0.8867, 1.0};
enum { PROBE_COUNT = sizeof probe_shares / sizeof *probe_shares };

/* A longer time than that of the last probes by this factor is probed again. The number of probes of
 * a run in many calls grows with the logarithm of their number. */
static const double probe_growth = 2;

/* a(t, x, v), or F(t, u) of a first-order problem, without counting it. */
static tw_status evaluate(const tw_system *system, double t, const double *u, const double *v,
                          double *out)
{
    if (!system->second_order) return system->first.rhs(system->first.context, t, u, out);
    return system->second.acceleration(system->second.context, t, u, v, out);
}

/* Whether |b - a| is more than rounding. Overwrites b. */
static tw_status differs(const tw_system *system, const double *a, double *b, bool *answer)
{
    tw_space space = system->second_order ? system->second.space : system->first.space;
    double size_a = 0;
    double size_b = 0;
    double difference = 0;
    TW_TRY(tw_vector_norm(&space, a, &size_a));
    TW_TRY(tw_vector_norm(&space, b, &size_b));

    tw_vector_axpy(system->n, -1.0, a, b);
    TW_TRY(tw_vector_norm(&space, b, &difference));
    *answer = difference > PROBE_NOISE * fmax(size_a, size_b);
    return TW_OK;
}

/* ---- the velocity ---- */

/* The acceleration at velocities other than those of the problem. TW_RECOVERABLE says nothing about
 * the problem: the callback is not defined there. Then *is_known is false. */
static tw_status probe_acceleration(tw_integrator *integrator, double t, const double *x,
                                    const double *v, double *a, bool *is_known)
{
    tw_status status = evaluate(&integrator->system, t, x, v, a);
    if (status != TW_OK && status != TW_RECOVERABLE) return status;
    *is_known = status == TW_OK && tw_vector_is_finite(integrator->system.n, a);
    return TW_OK;
}

tw_status tw_probe_velocity(tw_integrator *integrator, double t, const double *u, bool *depends)
{
    const tw_second_order_problem *problem = &integrator->system.second;
    int64_t n = integrator->system.n;
    double *moved = integrator->scratch;
    double *a = integrator->scratch + n;
    double *a_moved = integrator->scratch + 2 * n;
    *depends = false;
    if (!integrator->system.second_order || problem->velocity_dependent) return TW_OK;

    /* The change has the size of v, or 1 in its unit if v = 0, and alternates in sign. */
    double size = 0;
    TW_TRY(tw_vector_norm(&problem->space, u + n, &size));
    size = size > 0 ? size / sqrt((double)n) : 1;
    for (int64_t i = 0; i < n; i++) {
        double change = size * (1 + 0.125 * (double)(i % 7));
        moved[i] = u[n + i] + (i % 2 ? -change : change);
    }

    bool is_known = false;
    bool is_known_moved = false;
    TW_TRY(probe_acceleration(integrator, t, u, u + n, a, &is_known));
    TW_TRY(probe_acceleration(integrator, t, u, moved, a_moved, &is_known_moved));
    if (!is_known || !is_known_moved) return TW_OK;
    return differs(&integrator->system, a, a_moved, depends);
}

/* ---- the symmetry of the tangent ---- */

/* Positions are moved by about this share of their size, and by an eighth of that. */
static const double symmetry_move = 1e-6;

/* An asymmetry above this share of what it could be at most is more than rounding. */
static const double least_asymmetry = 1e-5;

/* Found with two moves, it may differ by this share. An error of a difference changes by a factor of
 * eight or more. */
static const double repeated_within = 0.05;

/* out = M (a(x + s d) - a(x - s d)), at rest: there dashpots do not act, whose derivatives in x need not be
 * symmetric. `work` has 3 N entries. *is_known: as for the velocity. */
static tw_status probe_tangent(tw_integrator *integrator, double t, const double *x,
                               const double *direction, double s, double *work, double *out,
                               bool *is_known)
{
    int64_t n = integrator->system.n;
    double *rest = work;
    double *moved = work + n;
    double *change = work + 2 * n;
    bool is_known_behind = false;
    tw_vector_fill(n, 0.0, rest);

    tw_vector_copy(n, x, moved);
    tw_vector_axpy(n, s, direction, moved);
    TW_TRY(probe_acceleration(integrator, t, moved, rest, change, is_known));

    tw_vector_axpy(n, -2 * s, direction, moved);
    TW_TRY(probe_acceleration(integrator, t, moved, rest, out, &is_known_behind));
    *is_known = *is_known && is_known_behind;
    if (!*is_known) return TW_OK;

    tw_vector_axpy(n, -1.0, out, change);
    return tw_system_mass(&integrator->system, change, out);
}

/* q^T K p - p^T K q beside what it could be, |p| |K q| + |q| |K p|, by moves of s along two
 * directions. NAN: not known. */
static tw_status probe_asymmetry(tw_integrator *integrator, double t, const double *x, double s,
                                 double *asymmetry)
{
    const tw_space *space = &integrator->system.second.space;
    int64_t n = integrator->system.n;
    double *directions = integrator->scratch;
    double *image = integrator->scratch + 2 * n;
    double *work = integrator->scratch + 3 * n;
    double product[2] = {0};
    double possible = 0;
    *asymmetry = NAN;
    tw_fill_start_vector(2 * n, directions);

    /* One direction is moved along, the other one is what its image is multiplied with. */
    for (int i = 0; i < 2; i++) {
        const double *p = directions + i * n;
        const double *q = directions + (1 - i) * n;
        bool is_known = false;
        TW_TRY(probe_tangent(integrator, t, x, p, s, work, image, &is_known));
        if (!is_known) return TW_OK;

        double image_size = 0;
        double q_size = 0;
        TW_TRY(tw_vector_dot(space, q, image, &product[i]));
        TW_TRY(tw_vector_norm(space, image, &image_size));
        TW_TRY(tw_vector_norm(space, q, &q_size));
        possible += q_size * image_size;
    }
    *asymmetry = possible > 0 ? (product[0] - product[1]) / possible : 0;
    return TW_OK;
}

tw_status tw_probe_symmetry(tw_integrator *integrator, double t, const double *u, bool *is_general)
{
    const tw_system *system = &integrator->system;
    *is_general = false;
    if (!system->assumes_symmetry || system->linear_part) return TW_OK;

    /* Contacts and flow have kinks, at which differences are no tangent. */
    if (system->second.begin_step) return TW_OK;

    /* Where the force is not defined, its neighbourhood tells nothing. */
    bool is_known = false;
    TW_TRY(probe_acceleration(integrator, t, u, u + system->n, integrator->scratch, &is_known));
    if (!is_known) return TW_OK;

    /* A move of 1e-6 in the unit of x, where all are 0. */
    double size = 0;
    TW_TRY(tw_vector_norm(&system->second.space, u, &size));
    double s = symmetry_move * (size > 0 ? size / sqrt((double)system->n) : 1);

    double asymmetry[2];
    TW_TRY(probe_asymmetry(integrator, t, u, s, &asymmetry[0]));
    TW_TRY(probe_asymmetry(integrator, t, u, s / 8, &asymmetry[1]));
    double change = fabs(asymmetry[1] - asymmetry[0]);
    *is_general =
        fabs(asymmetry[0]) > least_asymmetry && change < repeated_within * fabs(asymmetry[0]);
    return TW_OK;
}

/* ---- time ---- */

/* Whether the force at the present state is another one at a time between t and t_limit than at the
 * start of the run, and when. A time at which the callback fails says nothing. */
static tw_status find_time_dependence(tw_integrator *integrator, double t_limit, double *when,
                                      bool *depends)
{
    const tw_system *system = &integrator->system;
    const double *u = integrator->u;
    const double *v = system->second_order ? u + system->n : NULL;
    double *first = integrator->scratch;
    double *later = integrator->scratch + system->n;

    if (evaluate(system, integrator->t_start, u, v, first) != TW_OK) return TW_OK;
    if (!tw_vector_is_finite(system->n, first)) return TW_OK;

    for (int i = 0; i < PROBE_COUNT && !*depends; i++) {
        *when = integrator->t + probe_shares[i] * (t_limit - integrator->t);
        if (*when > t_limit) *when = t_limit;
        if (evaluate(system, *when, u, v, later) != TW_OK) continue;
        if (tw_vector_is_finite(system->n, later)) TW_TRY(differs(system, first, later, depends));
    }
    return TW_OK;
}

tw_status tw_check_time_dependence(tw_integrator *integrator, double t_limit, tw_error *error)
{
    if (!tw_system_is_autonomous(&integrator->system)) return TW_OK;
    if (t_limit <= integrator->probed_end) return TW_OK;

    /* The next probe is due when the run has grown by a factor. */
    double length = t_limit - integrator->t_start;
    integrator->probed_end = integrator->t_start + probe_growth * length;

    bool depends = false;
    double when = 0;
    TW_TRY(find_time_dependence(integrator, t_limit, &when, &depends));
    if (!depends) return TW_OK;
    return tw_fail(error, TW_INVALID_ARGUMENT,
                   "%s changes with time (between t = %g s and %g s, at the same state), but the "
                   "problem's time_dependent is false: set it",
                   integrator->system.second_order ? "the acceleration" : "the right side F",
                   integrator->t_start, when);
}
