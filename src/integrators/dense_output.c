/* The state inside the last accepted step: the scheme's own interpolation, or a polynomial.
 *
 * Schemes whose steps resolve every period use Hermite's polynomial through the states and F at
 * both ends: quintic in x for second-order problems, cubic in u for first-order ones.
 *
 * Implicit schemes take steps that are long compared with the stiff periods. Their states at step
 * ends lie off the balance of the stiff forces by some d (a link that turned by an angle theta in
 * the step is stretched by theta^2/8), and F there contains k d, which says nothing about the
 * motion: h^2 k d is 1e4 times d for the rope of 1e8 N/m at h = 0.02 s. Their interpolation does
 * not use F at points where the scheme does not.
 *
 * Second order: the cubic through (x, v) at both ends. For the midpoint rule it is the parabola x_n
 * + s h v_n + (s h)^2/2 a_m. An unresolved mode with the velocities w and -w at the ends moves by
 * at most h w/4, and a link that turns keeps its length.
 *
 * First order: the straight line, which is the collocation polynomial of the midpoint rule and
 * of implicit Euler; for bdf2 the parabola through both ends with the slope F(u_{n+1}), which is
 * in balance. */
#include <math.h>

#include "base/fail.h"
#include "integrators/integrator_internal.h"
#include "linalg/vector.h"

/* The data that Hermite interpolation reads: the states and F at both ends of a step of h. */
typedef struct step_ends {
    double h;
    const double *u0, *u1;
    const double *F0, *F1;
} step_ends;

/* F at both ends of the last step. Both are kept: F at the end is what the next step
 * begins with. */
static tw_status end_slopes(tw_integrator *integrator, const double *u_end, const double **F0,
                            const double **F1)
{
    if (!integrator->F_old_known)
        TW_TRY(tw_system_rhs(&integrator->system, integrator->t_old, integrator->u_old,
                             integrator->F_old));
    integrator->F_old_known = true;
    *F0 = integrator->F_old;

    /* Where an event has cut the step short, F(t, u) is not that of its full end. */
    if (integrator->truncated) {
        double t_end = integrator->t_old + integrator->step_taken;
        *F1 = integrator->scratch;
        return tw_system_rhs(&integrator->system, t_end, u_end, integrator->scratch);
    }
    *F1 = integrator->F;
    return tw_integrator_need_rhs(integrator);
}

/* Second-order problems: the quintic through (x, v, a) at both ends, and its derivative, at t_old +
 * s h. */
static void quintic(int64_t n, double s, const step_ends *ends, double *u)
{
    double h = ends->h;
    double s2 = s * s;
    double s3 = s2 * s;
    double s4 = s3 * s;
    double s5 = s4 * s;

    /* Weights of x_0, x_1, v_0, v_1, a_0, a_1 in the position. */
    double w[6] = {1 - 10 * s3 + 15 * s4 - 6 * s5,
                   10 * s3 - 15 * s4 + 6 * s5,
                   h * (s - 6 * s3 + 8 * s4 - 3 * s5),
                   h * (-4 * s3 + 7 * s4 - 3 * s5),
                   h * h * 0.5 * (s2 - 3 * s3 + 3 * s4 - s5),
                   h * h * 0.5 * (s3 - 2 * s4 + s5)};

    /* Their derivatives by time: the weights in the velocity. */
    double d[6] = {(-30 * s2 + 60 * s3 - 30 * s4) / h,
                   (30 * s2 - 60 * s3 + 30 * s4) / h,
                   1 - 18 * s2 + 32 * s3 - 15 * s4,
                   -12 * s2 + 28 * s3 - 15 * s4,
                   h * 0.5 * (2 * s - 9 * s2 + 12 * s3 - 5 * s4),
                   h * 0.5 * (3 * s2 - 8 * s3 + 5 * s4)};

    for (int64_t i = 0; i < n; i++) {
        double x0 = ends->u0[i];
        double x1 = ends->u1[i];
        double v0 = ends->u0[n + i];
        double v1 = ends->u1[n + i];
        double a0 = ends->F0[n + i];
        double a1 = ends->F1[n + i];
        u[i] = w[0] * x0 + w[1] * x1 + w[2] * v0 + w[3] * v1 + w[4] * a0 + w[5] * a1;
        u[n + i] = d[0] * x0 + d[1] * x1 + d[2] * v0 + d[3] * v1 + d[4] * a0 + d[5] * a1;
    }
}

/* First-order problems: the cubic through (u, F) at both ends, at t_old + s h. */
static void cubic(int64_t n, double s, const step_ends *ends, double *u)
{
    const double *u0 = ends->u0;
    const double *u1 = ends->u1;
    const double *F0 = ends->F0;
    const double *F1 = ends->F1;
    double h = ends->h;
    double s2 = s * s;
    double s3 = s2 * s;
    for (int64_t i = 0; i < n; i++)
        u[i] = (1 - 3 * s2 + 2 * s3) * u0[i] + (3 * s2 - 2 * s3) * u1[i] +
               h * (s - 2 * s2 + s3) * F0[i] + h * (s3 - s2) * F1[i];
}

/* Second-order problems: the cubic through (x, v) at both ends, and its derivative, at t_old +
 * s h. */
static void cubic_of_motion(int64_t n, double s, const step_ends *ends, double *u)
{
    double h = ends->h;
    double s2 = s * s;
    double s3 = s2 * s;

    /* Weights of x_0, x_1, v_0, v_1 in the position, and their derivatives by time. */
    double w[4] = {1 - 3 * s2 + 2 * s3, 3 * s2 - 2 * s3, h * (s - 2 * s2 + s3), h * (s3 - s2)};
    double d[4] = {(6 * s2 - 6 * s) / h, (6 * s - 6 * s2) / h, 1 - 4 * s + 3 * s2, 3 * s2 - 2 * s};

    for (int64_t i = 0; i < n; i++) {
        double x0 = ends->u0[i];
        double x1 = ends->u1[i];
        double v0 = ends->u0[n + i];
        double v1 = ends->u1[n + i];
        u[i] = w[0] * x0 + w[1] * x1 + w[2] * v0 + w[3] * v1;
        u[n + i] = d[0] * x0 + d[1] * x1 + d[2] * v0 + d[3] * v1;
    }
}

/* First-order problems: the parabola through both ends with the slope F1 at the second one, or with
 * F1 = NULL the straight line. */
static void parabola(int64_t n, double s, const step_ends *ends, double *u)
{
    for (int64_t i = 0; i < n; i++) {
        double change = ends->u1[i] - ends->u0[i];
        double bend = ends->F1 ? change - ends->h * ends->F1[i] : 0;
        u[i] = ends->u0[i] + s * change + s * (1 - s) * bend;
    }
}

/* Whether the steps of the scheme may be long compared with the stiff periods (see above). */
static bool takes_stiff_steps(tw_scheme scheme)
{
    switch (scheme) {
    case TW_SCHEME_MIDPOINT:
    case TW_SCHEME_NEWMARK:
    case TW_SCHEME_GENERALIZED_ALPHA:
    case TW_SCHEME_BDF1:
    case TW_SCHEME_BDF2:
    case TW_SCHEME_SEMI_IMPLICIT:
    case TW_SCHEME_V_IMEX:
    case TW_SCHEME_GAUTSCHI:
        return true;
    default:
        return false;
    }
}

/* The interpolation of implicit schemes. */
static tw_status stiff_interpolation(tw_integrator *integrator, double theta, step_ends ends,
                                     double *u)
{
    if (integrator->system.second_order) {
        cubic_of_motion(integrator->system.n, theta, &ends, u);
        return TW_OK;
    }
    if (integrator->options.scheme == TW_SCHEME_BDF2) {
        double t_end = integrator->t_old + ends.h;
        TW_TRY(tw_system_rhs(&integrator->system, t_end, ends.u1, integrator->scratch));
        ends.F1 = integrator->scratch;
    }
    parabola(integrator->system.n, theta, &ends, u);
    return TW_OK;
}

/* The interpolation of schemes that have none of their own. It spans the whole step, also where an
 * event has cut it short. */
static tw_status interpolate_ends(tw_integrator *integrator, double theta, double *u)
{
    const double *u_end = integrator->truncated ? integrator->u_new : integrator->u;
    step_ends ends = {.h = integrator->step_taken, .u0 = integrator->u_old, .u1 = u_end};
    if (takes_stiff_steps(integrator->options.scheme))
        return stiff_interpolation(integrator, theta, ends, u);

    /* Hermite's polynomial needs F at both ends. */
    TW_TRY(end_slopes(integrator, u_end, &ends.F0, &ends.F1));
    if (integrator->system.second_order)
        quintic(integrator->system.n, theta, &ends, u);
    else
        cubic(integrator->system.size, theta, &ends, u);
    return TW_OK;
}

tw_status tw_integrator_interpolate(tw_integrator *integrator, double t, double *u, tw_error *error)
{
    if (!integrator || !u) return tw_fail_plain(error, TW_INVALID_ARGUMENT);
    if (!integrator->started)
        return tw_fail(error, TW_INVALID_ARGUMENT, "tw_integrator_start was not called");

    /* t must lie in the step, up to rounding. */
    double slack = 1e-12 * fmax(fabs(integrator->t), integrator->step_taken);
    if (!(t >= integrator->t_old - slack && t <= integrator->t + slack))
        return tw_fail(error, TW_INVALID_ARGUMENT, "t = %g is outside the last step [%g, %g]", t,
                       integrator->t_old, integrator->t);

    /* The ends of the step are known. */
    double same = tw_time_slack(integrator->t, integrator->step_taken);
    if (t >= integrator->t - same || integrator->step_taken == 0) {
        tw_vector_copy(integrator->system.size, integrator->u, u);
        return TW_OK;
    }
    if (t <= integrator->t_old + same) {
        tw_vector_copy(integrator->system.size, integrator->u_old, u);
        return TW_OK;
    }

    /* Inside: theta counts from the step's start in units of the whole step. */
    double theta = (t - integrator->t_old) / integrator->step_taken;
    tw_status status = TW_OK;
    bool jumps = integrator->impulses && !integrator->scheme->interpolates_from_start;
    bool own = integrator->scheme->interpolate && !jumps;
    if (own && integrator->doubles)
        status = tw_doubling_interpolate(integrator, theta, u);
    else if (own)
        status = integrator->scheme->interpolate(integrator, theta, u);
    else
        status = interpolate_ends(integrator, theta, u);
    if (status == TW_OK && !tw_vector_is_finite(integrator->system.size, u)) status = TW_NOT_FINITE;
    if (status)
        return tw_fail(error, status, "dense output at t = %g: %s", t, tw_status_text(status));
    return TW_OK;
}

tw_status tw_integrator_expect_output(tw_integrator *integrator, double t0, double interval)
{
    if (!integrator || !isfinite(t0) || !(interval >= 0)) return TW_INVALID_ARGUMENT;

    /* The scheme allocates what it needs to make these points along with the step. */
    tw_status status = TW_OK;
    if (integrator->scheme->expect) status = integrator->scheme->expect(integrator, interval);
    integrator->expected_start = t0;
    integrator->expected_interval = status == TW_OK ? interval : 0;
    return status;
}
