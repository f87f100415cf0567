/* BDF1 (implicit Euler) and BDF2 with variable steps, on u = (x, v) or on u alone:
 *
 *   u_{n+1} = s + g F(t_{n+1}, u_{n+1})
 *   BDF1: s = u_n,  g = h
 *   BDF2: s = [(1 + w)^2 u_n - w^2 u_{n-1}] / (1 + 2w),  g = h (1 + w) / (1 + 2w),  w = h / h_old
 *
 * Second order: x = s_x + g s_v + g^2 a, v = (x - s_x) / g. The first step of BDF2 is one of
 * BDF1. The error of BDF2 is estimated from the difference to the parabola through u_n,
 * u_{n-1}, u_{n-2}. */
#include "base/fail.h"
#include "integrators/implicit_scheme.h"
#include "linalg/vector.h"

/* History of BDF2: u_{n-1}, u_{n-2}, then the steps h_{n-1}, h_{n-2} that led from one to the next;
 * 0 if there is none yet. After them what the sums beside the state gained in the last step. */
enum { HISTORY_STEPS = 2, HISTORY_NUMBERS = HISTORY_STEPS + 3 };

/* BDF2 has the local error 2/9 h^3 u''', the extrapolating parabola h^3 u''' (equal steps): of
 * their difference 11/9 h^3 u''' this share is the error of BDF2. */
static const double estimate_share = 2.0 / 11;

static double *steps_of(const tw_integrator *integrator)
{
    const tw_implicit_memory *memory = integrator->memory;
    return memory->history + 2 * integrator->system.size;
}

static tw_status bdf1_reserve(tw_integrator *integrator, tw_error *error)
{
    return tw_implicit_memory_reserve(integrator, 0, error);
}

static tw_status bdf2_reserve(tw_integrator *integrator, tw_error *error)
{
    return tw_implicit_memory_reserve(
        integrator, (size_t)(2 * integrator->system.size + HISTORY_NUMBERS), error);
}

/* u = s + g F(u), with s in memory->v_star. */
static tw_status solve_first(tw_integrator *integrator, double h, double g, tw_error *error)
{
    tw_implicit_memory *memory = integrator->memory;
    int64_t n = integrator->system.n;

    /* The first guess is u_n. */
    tw_vector_copy(n, memory->v_star, memory->x_star);
    tw_vector_copy(n, integrator->u, memory->x);

    tw_status status = tw_implicit_memory_solve(integrator, integrator->t + h, g, 0, error);
    tw_vector_copy(n, memory->x, integrator->u_new);
    return status;
}

/* x = s_x + g s_v + g^2 a, with s = (s_x, s_v) in memory->v_star. */
static tw_status solve_second(tw_integrator *integrator, double h, double g, tw_error *error)
{
    tw_implicit_memory *memory = integrator->memory;
    int64_t n = integrator->system.n;
    double *s = memory->v_star;

    /* x_star = s_x + g s_v; s_v moves to where the solver looks for v_star. */
    tw_vector_copy(n, s, memory->x_star);
    tw_vector_copy(n, s + n, memory->v_star);
    tw_vector_axpy(n, g, memory->v_star, memory->x_star);
    tw_vector_copy(n, memory->x_star, memory->x);
    TW_TRY(tw_implicit_memory_solve(integrator, integrator->t + h, g * g, 1 / g, error));

    /* v = (x - s_x) / g = s_v + (x - x_star) / g */
    double *v_new = integrator->u_new + n;
    tw_vector_copy(n, memory->v_star, v_new);
    tw_vector_axpy(n, 1 / g, tw_implicit_way(memory->implicit), v_new);
    tw_vector_copy(n, memory->x, integrator->u_new);
    return TW_OK;
}

/* u_new from s (in memory->v_star, size entries) and g. */
static tw_status solve(tw_integrator *integrator, double h, double g, tw_error *error)
{
    return integrator->system.second_order ? solve_second(integrator, h, g, error)
                                           : solve_first(integrator, h, g, error);
}

static tw_status bdf1_attempt(tw_integrator *integrator, double h, tw_error *error)
{
    tw_implicit_memory *memory = integrator->memory;
    tw_vector_copy(integrator->system.size, integrator->u, memory->v_star);
    TW_TRY(solve(integrator, h, h, error));

    /* Sums beside the state: p += h w(x_new). */
    double rates[3];
    TW_TRY(tw_tally_rates(integrator, integrator->t + h, integrator->u_new, rates));
    tw_tally_add(integrator, h, rates);
    return TW_OK;
}

/* Sums beside the state: with p as one unknown more, p_{n+1} - p_n = share (p_n - p_{n-1}) + g w(x_new). */
static tw_status add_sums(tw_integrator *integrator, double h, double g, double share)
{
    double rates[3];
    TW_TRY(tw_tally_rates(integrator, integrator->t + h, integrator->u_new, rates));
    tw_tally_add(integrator, g, rates);
    tw_tally_add(integrator, share, steps_of(integrator) + HISTORY_STEPS);
    return TW_OK;
}

/* error = 2/11 (u_new - parabola through u_n, u_{n-1}, u_{n-2} at t_n + h). */
static void estimate(tw_integrator *integrator, double h)
{
    const tw_implicit_memory *memory = integrator->memory;
    int64_t size = integrator->system.size;
    const double *steps = steps_of(integrator);
    const double *u1 = memory->history;
    const double *u2 = memory->history + size;

    /* Lagrange weights of the states at t_n, t_n - a, t_n - b. */
    double a = steps[0];
    double b = steps[0] + steps[1];
    double c0 = (h + a) * (h + b) / (a * b);
    double c1 = -h * (h + b) / (a * (b - a));
    double c2 = h * (h + a) / (b * (b - a));

    /* e = u_new - parabola, scaled to the error of BDF2 */
    double *e = integrator->error_vector;
    tw_vector_copy(size, integrator->u_new, e);
    tw_vector_axpy(size, -c0, integrator->u, e);
    tw_vector_axpy(size, -c1, u1, e);
    tw_vector_axpy(size, -c2, u2, e);
    tw_vector_scale(size, estimate_share, e);
}

/* Before there are three states: error = u_new - u_n - h F_n, the distance to a straight line. It
 * overestimates and so keeps the first steps small. */
static void estimate_start(tw_integrator *integrator, double h)
{
    int64_t size = integrator->system.size;
    double *e = integrator->error_vector;
    tw_vector_copy(size, integrator->u_new, e);
    tw_vector_axpy(size, -1.0, integrator->u, e);
    tw_vector_axpy(size, -h, integrator->F, e);
}

static tw_status bdf2_attempt(tw_integrator *integrator, double h, tw_error *error)
{
    tw_implicit_memory *memory = integrator->memory;
    int64_t size = integrator->system.size;
    const double *steps = steps_of(integrator);

    /* s and g: of BDF1 in the first step, of BDF2 afterwards. */
    double g = h;
    double share = 0;
    tw_vector_copy(size, integrator->u, memory->v_star);
    if (steps[0] > 0) {
        double w = h / steps[0];
        double scale = 1 / (1 + 2 * w);
        g = h * (1 + w) * scale;
        share = w * w * scale;
        tw_vector_scale(size, (1 + w) * (1 + w) * scale, memory->v_star);
        tw_vector_axpy(size, -share, memory->history, memory->v_star);
    }
    TW_TRY(solve(integrator, h, g, error));
    TW_TRY(add_sums(integrator, h, g, share));
    if (integrator->options.relative_tolerance == 0) return TW_OK;

    /* Adaptive steps need an estimate of the error. */
    integrator->has_error = true;
    if (steps[1] > 0) {
        estimate(integrator, h);
        return TW_OK;
    }
    TW_TRY(tw_integrator_need_rhs(integrator));
    estimate_start(integrator, h);
    return TW_OK;
}

/* The past moves on by one state. */
static void bdf2_accepted(tw_integrator *integrator, double h)
{
    tw_implicit_memory *memory = integrator->memory;
    int64_t size = integrator->system.size;
    double *steps = steps_of(integrator);

    /* u_{n-1} becomes u_{n-2}, u_n becomes u_{n-1}, and so do their steps. */
    tw_vector_copy(size, memory->history, memory->history + size);
    tw_vector_copy(size, integrator->u, memory->history);

    steps[1] = steps[0];
    steps[0] = h;
    for (int k = 0; k < 3; k++) steps[HISTORY_STEPS + k] = integrator->tally[k];
}

const tw_scheme_table tw_scheme_bdf1 = {.reserve = bdf1_reserve,
                                        .release = tw_implicit_memory_release,
                                        .forget_tangent = tw_implicit_memory_forget,
                                        .allows_impulses = true,
                                        .reset = tw_implicit_memory_reset,
                                        .attempt = bdf1_attempt,
                                        .history = tw_implicit_memory_history,
                                        .restored = tw_implicit_memory_restored};

const tw_scheme_table tw_scheme_bdf2 = {.reserve = bdf2_reserve,
                                        .release = tw_implicit_memory_release,
                                        .forget_tangent = tw_implicit_memory_forget,
                                        .reset = tw_implicit_memory_reset,
                                        .attempt = bdf2_attempt,
                                        .accepted = bdf2_accepted,
                                        .history = tw_implicit_memory_history,
                                        .error_order = 2,
                                        .restored = tw_implicit_memory_restored};
