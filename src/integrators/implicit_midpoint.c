/* Implicit midpoint: x_m = x_n + t v_n + t^2 a(x_m), t = h/2; x_{n+1} = 2 x_m - x_n, v_{n+1} = v_n
 * + h a_m. Symplectic, time-symmetric, conserves quadratic invariants; reverses the displacement of
 * modes it does not resolve. */
#include "base/fail.h"
#include "integrators/implicit_scheme.h"
#include "linalg/vector.h"

static tw_status midpoint_reserve(tw_integrator *integrator, tw_error *error)
{
    return tw_implicit_memory_reserve(integrator, 0, error);
}

static tw_status second_order_attempt(tw_integrator *integrator, double h, tw_error *error)
{
    tw_implicit_memory *memory = integrator->memory;
    int64_t n = integrator->system.n;
    double t = 0.5 * h;
    const double *x = integrator->u, *v = x + n;
    double *x_new = integrator->u_new, *v_new = x_new + n;
    tw_vector_copy(n, x, memory->x_star);
    tw_vector_axpy(n, t, v, memory->x_star);
    tw_vector_copy(n, v, memory->v_star);
    tw_vector_copy(n, memory->x_star, memory->x);
    tw_status status = tw_implicit_memory_solve(integrator, integrator->t + t, t * t, 1 / t, error);
    if (status) return status;
    tw_vector_copy(n, memory->x, x_new);
    tw_vector_axpby(n, -1.0, x, 2.0, x_new);
    /* h a_m = 2 (x_m - x_star) / t */
    tw_vector_copy(n, v, v_new);
    tw_vector_axpy(n, 2 / t, tw_implicit_way(memory->implicit), v_new);
    tw_vector_copy(n, v, memory->x + n);
    tw_vector_axpby(n, 0.5, v_new, 0.5, memory->x + n);

    /* Sums beside the state: p += h w(x_m). */
    double rates[3];
    TW_TRY(tw_tally_rates(integrator, integrator->t + t, memory->x, rates));
    tw_tally_add(integrator, h, rates);
    return TW_OK;
}

/* u_m = u_n + h/2 F(t + h/2, u_m), u_{n+1} = 2 u_m - u_n. */
static tw_status first_order_attempt(tw_integrator *integrator, double h, tw_error *error)
{
    tw_implicit_memory *memory = integrator->memory;
    int64_t n = integrator->system.n;
    tw_vector_copy(n, integrator->u, memory->x_star);
    tw_vector_copy(n, integrator->u, memory->x);
    tw_status status =
        tw_implicit_memory_solve(integrator, integrator->t + 0.5 * h, 0.5 * h, 0, error);
    tw_vector_copy(n, memory->x, integrator->u_new);
    tw_vector_axpby(n, -1.0, integrator->u, 2.0, integrator->u_new);
    return status;
}

static tw_status midpoint_attempt(tw_integrator *integrator, double h, tw_error *error)
{
    return integrator->system.second_order ? second_order_attempt(integrator, h, error)
                                           : first_order_attempt(integrator, h, error);
}

const tw_scheme_table tw_scheme_implicit_midpoint = {.reserve = midpoint_reserve,
                                                     .release = tw_implicit_memory_release,
                                                     .reset = tw_implicit_memory_reset,
                                                     .forget_tangent = tw_implicit_memory_forget,
                                                     .allows_impulses = true,
                                                     .attempt = midpoint_attempt,
                                                     .energy_state =
                                                         tw_implicit_memory_energy_state,
                                                     .equal_steps = true,
                                                     .history = tw_implicit_memory_history,
                                                     .restored = tw_implicit_memory_restored};
