/* BDF1 (implicit Euler) and BDF2 with variable steps, on u = (x, v) or on u alone:
 *
 *   u_{n+1} = s + g F(t_{n+1}, u_{n+1});   BDF1: s = u_n, g = h;
 *   BDF2, w = h / h_old: s = [(1 + w)^2 u_n - w^2 u_{n-1}] / (1 + 2w),  g = h (1 + w) / (1 + 2w).
 * Second order: x = s_x + g s_v + g^2 a, v = (x - s_x) / g. BDF2's first step is BDF1's. Its error is estimated from
 * the difference to the quadratic through u_n, u_{n-1}, u_{n-2}. */
#include "integrators/implicit_scheme.h"
#include "linalg/vector.h"

/* History of BDF2: u_{n-1}, u_{n-2}, then h_{n-1}, h_{n-2} (0: not there). */
enum { HISTORY_STEPS = 2 };

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
    return tw_implicit_memory_reserve(integrator,
                                      (size_t)(2 * integrator->system.size + HISTORY_STEPS), error);
}

/* u_new from s (in memory->v_star, size entries) and g. */
static tw_status solve(tw_integrator *integrator, double h, double g, tw_error *error)
{
    tw_implicit_memory *memory = integrator->memory;
    int64_t n = integrator->system.n;
    double *s = memory->v_star;
    if (!integrator->system.second_order) {
        tw_vector_copy(n, s, memory->x_star);
        tw_vector_copy(n, integrator->u, memory->x);
        tw_status made = tw_implicit_memory_solve(integrator, integrator->t + h, g, 0, error);
        tw_vector_copy(n, memory->x, integrator->u_new);
        return made;
    }
    tw_vector_copy(n, s, memory->x_star);
    tw_vector_copy(n, s + n, memory->v_star); /* s_v, where the solver looks for it */
    tw_vector_axpy(n, g, memory->v_star, memory->x_star);
    tw_vector_copy(n, memory->x_star, memory->x);
    tw_status status = tw_implicit_memory_solve(integrator, integrator->t + h, g * g, 1 / g, error);
    if (status) return status;
    double *v_new = integrator->u_new + n; /* (x - s_x) / g = s_v + (x - x_star) / g */
    tw_vector_copy(n, memory->v_star, v_new);
    tw_vector_axpy(n, 1 / g, tw_implicit_way(memory->implicit), v_new);
    tw_vector_copy(n, memory->x, integrator->u_new);
    return TW_OK;
}

static tw_status bdf1_attempt(tw_integrator *integrator, double h, tw_error *error)
{
    tw_implicit_memory *memory = integrator->memory;
    tw_vector_copy(integrator->system.size, integrator->u, memory->v_star);
    return solve(integrator, h, h, error);
}

/* error = 2/11 (u_new - quadratic extrapolation): BDF2's 2/9 h^3 u''' against the extrapolation's h^3 u'''. */
static void estimate(tw_integrator *integrator, double h)
{
    const tw_implicit_memory *memory = integrator->memory;
    int64_t size = integrator->system.size;
    const double *steps = steps_of(integrator), *u1 = memory->history, *u2 = memory->history + size;
    double a = steps[0], b = steps[0] + steps[1]; /* u at t_n, t_n - a, t_n - b */
    double c0 = (h + a) * (h + b) / (a * b), c1 = -h * (h + b) / (a * (b - a)),
           c2 = h * (h + a) / (b * (b - a));
    double *e = integrator->error_vector;
    tw_vector_copy(size, integrator->u_new, e);
    tw_vector_axpy(size, -c0, integrator->u, e);
    tw_vector_axpy(size, -c1, u1, e);
    tw_vector_axpy(size, -c2, u2, e);
    tw_vector_scale(size, 2.0 / 11, e);
}

/* Before there are three states: the distance to a straight line, an overestimate that keeps the first steps small. */
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
    tw_vector_copy(size, integrator->u, memory->v_star);
    double g = h;
    if (steps[0] > 0) {
        double w = h / steps[0], scale = 1 / (1 + 2 * w);
        g = h * (1 + w) * scale;
        tw_vector_scale(size, (1 + w) * (1 + w) * scale, memory->v_star);
        tw_vector_axpy(size, -w * w * scale, memory->history, memory->v_star);
    }
    tw_status status = solve(integrator, h, g, error);
    if (status || integrator->options.relative_tolerance == 0) return status;
    integrator->has_error = true;
    if (steps[1] > 0) {
        estimate(integrator, h);
        return TW_OK;
    }
    status = tw_integrator_need_rhs(integrator);
    if (status == TW_OK) estimate_start(integrator, h);
    return status;
}

static void bdf2_accepted(tw_integrator *integrator, double h)
{
    tw_implicit_memory *memory = integrator->memory;
    int64_t size = integrator->system.size;
    double *steps = steps_of(integrator);
    tw_vector_copy(size, memory->history, memory->history + size);
    tw_vector_copy(size, integrator->u, memory->history);
    steps[1] = steps[0];
    steps[0] = h;
}

const tw_scheme_table tw_scheme_bdf1 = {.reserve = bdf1_reserve,
                                        .release = tw_implicit_memory_release,
                                        .reset = tw_implicit_memory_reset,
                                        .attempt = bdf1_attempt};

const tw_scheme_table tw_scheme_bdf2 = {.reserve = bdf2_reserve,
                                        .release = tw_implicit_memory_release,
                                        .reset = tw_implicit_memory_reset,
                                        .attempt = bdf2_attempt,
                                        .accepted = bdf2_accepted,
                                        .history = tw_implicit_memory_history,
                                        .error_order = 2};
