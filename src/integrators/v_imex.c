/* Variational implicit-explicit integration (Stern & Grinspun 2009): the slow forces by velocity-Verlet kicks, the fast
 * linear part by implicit midpoint.
 *
 *   f(x) = -K (x - r) + f_slow(x);   K constant (the linear part, or the tangent at the start; r = x at the start), or
 * with options.v_imex.renew_tangent the tangent at each step's start (r = x_n). v+ = v_n + h/2 M^-1 f_slow(x_n);   midpoint
 * rule for M x'' = -K (x - r): (M + t^2 K) d = t M v+ - t^2 K (x_n - r), t = h/2, x_{n+1} = x_n + 2 d, v* = 2 d/t - v+;
 * v_{n+1} = v* + h/2 M^-1 f_slow(x_{n+1}) */
#include "base/fail.h"
#include "integrators/implicit_scheme.h"
#include "linalg/vector.h"

/* History: r (N entries), the linearisation's v (N), its time, and whether there is one. */
static tw_status imex_reserve(tw_integrator *integrator, tw_error *error)
{
    if (!integrator->system.second_order)
        return tw_fail(error, TW_UNSUPPORTED, "v-imex needs a second-order problem");
    if (integrator->system.second.velocity_dependent)
        return tw_fail(error, TW_UNSUPPORTED,
                       "v-imex does not apply to forces that depend on velocity");
    return tw_implicit_memory_reserve(integrator, (size_t)integrator->system.size + 2, error);
}

static double *numbers_of(const tw_integrator *integrator)
{
    const tw_implicit_memory *memory = integrator->memory;
    return memory->history + integrator->system.size;
}

/* K and r of this step. */
static tw_status fix_fast_part(tw_integrator *integrator, tw_implicit_memory *memory)
{
    double *numbers = numbers_of(integrator);
    bool renew = integrator->options.v_imex.renew_tangent && !integrator->retry;
    if (numbers[1] != 0 && !renew) return TW_OK;
    tw_vector_copy(integrator->system.size, integrator->u, memory->history);
    numbers[0] = integrator->t;
    numbers[1] = 1;
    tw_implicit_reset(memory->implicit);
    return tw_system_linearise(&integrator->system, integrator->t, integrator->u, NULL);
}

/* force = M a(x) + K (x - r): the slow force; fast = K (x - r). */
static tw_status slow_force(tw_integrator *integrator, tw_implicit_memory *memory, double t,
                            const double *x, double *force, double *fast)
{
    tw_system *system = &integrator->system;
    int64_t n = system->n;
    double *a = memory->work, *y = memory->work + n;
    tw_status status = tw_system_acceleration(system, t, x, integrator->u + n, a);
    if (status == TW_OK) status = tw_system_mass(system, a, force);
    tw_vector_copy(n, x, y);
    tw_vector_axpy(n, -1.0, memory->history, y);
    if (status == TW_OK) status = tw_system_stiffness(system, 1, y, fast);
    tw_vector_axpy(n, 1.0, fast, force);
    return status;
}

/* v += h/2 M^-1 force. */
static tw_status kick(tw_integrator *integrator, tw_implicit_memory *memory, double h,
                      const double *force, double *v)
{
    tw_status status = tw_system_mass_solve(&integrator->system, force, memory->work);
    tw_vector_axpy(integrator->system.n, 0.5 * h, memory->work, v);
    return status;
}

static tw_status imex_attempt(tw_integrator *integrator, double h, tw_error *error)
{
    (void)error;
    tw_implicit_memory *memory = integrator->memory;
    int64_t n = integrator->system.n;
    double t = 0.5 * h, *x_new = integrator->u_new, *v_new = x_new + n;
    double *force = memory->x_star, *fast = memory->v_star, *right = memory->x, *d = memory->x + n;
    tw_status status = fix_fast_part(integrator, memory);
    if (status == TW_OK)
        status = slow_force(integrator, memory, integrator->t, integrator->u, force, fast);
    tw_vector_copy(n, integrator->u + n, v_new);
    if (status == TW_OK) status = kick(integrator, memory, h, force, v_new);
    if (status == TW_OK) status = tw_system_mass(&integrator->system, v_new, right);
    tw_vector_axpby(n, -t * t, fast, t, right);
    if (status == TW_OK) status = tw_implicit_linear_solve(memory->implicit, t * t, right, d);
    if (status) return status;
    tw_vector_copy(n, integrator->u, x_new);
    tw_vector_axpy(n, 2.0, d, x_new);
    tw_vector_axpby(n, 2 / t, d, -1.0, v_new);
    status = slow_force(integrator, memory, integrator->t + h, x_new, force, fast);
    return status ? status : kick(integrator, memory, h, force, v_new);
}

static tw_status imex_restored(tw_integrator *integrator)
{
    const tw_implicit_memory *memory = integrator->memory;
    const double *numbers = numbers_of(integrator);
    return numbers[1] != 0
               ? tw_system_linearise(&integrator->system, numbers[0], memory->history, NULL)
               : TW_OK;
}

const tw_scheme_table tw_scheme_v_imex = {.reserve = imex_reserve,
                                          .release = tw_implicit_memory_release,
                                          .reset = tw_implicit_memory_reset,
                                          .attempt = imex_attempt,
                                          .history = tw_implicit_memory_history,
                                          .restored = imex_restored};
