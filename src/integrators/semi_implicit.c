/* Linearised implicit Euler (Baraff 2001, eq. 4-5; eq. 4-6 with the time derivative, and with the
 * factor h that it lacks in print):
 *
 *   (M + h D + h^2 K) dv = h (M a_n - h K v_n + h M a_t)
 *   v_{n+1} = v_n + dv,  x_{n+1} = x_n + h v_{n+1}
 *
 * One solve per step, no iteration. Rayleigh damping is in the matrix; any other D stays on the
 * right-hand side, explicit. First order: (I - h J) du = h (F_n + h F_t). */
#include "base/fail.h"
#include "integrators/implicit_scheme.h"
#include "linalg/vector.h"

static tw_status semi_reserve(tw_integrator *integrator, tw_error *error)
{
    return tw_implicit_memory_reserve(integrator, 0, error);
}

static tw_status first_order(tw_integrator *integrator, double h)
{
    tw_implicit_memory *memory = integrator->memory;
    int64_t n = integrator->system.n;
    double *right = memory->work;

    /* right = h F_n + h^2 F_t */
    TW_TRY(tw_system_time_derivative(&integrator->system, integrator->t, integrator->u, right));
    tw_vector_axpby(n, h, integrator->F, h * h, right);

    TW_TRY(tw_implicit_linear_solve(memory->implicit, h, right, integrator->u_new));
    tw_vector_axpy(n, 1.0, integrator->u, integrator->u_new);
    return TW_OK;
}

static tw_status second_order(tw_integrator *integrator, double h)
{
    tw_implicit_memory *memory = integrator->memory;
    tw_system *system = &integrator->system;
    int64_t n = system->n;
    const double *x = integrator->u;
    const double *v = x + n;
    const double *a = integrator->F + n;
    double *x_new = integrator->u_new;
    double *v_new = x_new + n;
    double *a_t = memory->work + n;
    double *force = memory->v_star;
    double *right = memory->x_star;

    /* right = M (h a_n + h^2 a_t) - h^2 K v_n */
    TW_TRY(tw_system_time_derivative(system, integrator->t, integrator->u, memory->work));
    tw_vector_axpby(n, h, a, h * h, a_t);
    TW_TRY(tw_system_mass(system, a_t, right));
    TW_TRY(tw_system_stiffness(system, 1, v, force));
    tw_vector_axpy(n, -h * h, force, right);

    /* With D = alpha M + beta K the matrix is (1 + h alpha) M + (h^2 + h beta) K
     * = divisor (M + g K). */
    double alpha = system->pair.rayleigh_mass;
    double beta = system->pair.rayleigh_stiffness;
    double divisor = 1 + h * alpha;
    double g = (h * h + h * beta) / divisor;
    TW_TRY(tw_implicit_linear_solve(memory->implicit, g, right, v_new));

    tw_vector_axpby(n, 1.0, v, 1 / divisor, v_new);
    tw_vector_copy(n, x, x_new);
    tw_vector_axpy(n, h, v_new, x_new);
    if (!tw_system_is_autonomous(system)) return TW_OK;

    /* Sums beside the state: p += h (w_n + w' h v_new). */
    tw_vector_copy(n, v_new, right);
    tw_vector_scale(n, h * h, right);
    tw_tally_add(integrator, h, integrator->F_tally);
    tw_tally_add_tangent(integrator, right);
    return TW_OK;
}

static tw_status semi_attempt(tw_integrator *integrator, double h, tw_error *error)
{
    (void)error;
    tw_implicit_memory *memory = integrator->memory;
    tw_system *system = &integrator->system;
    tw_implicit_reset(memory->implicit);
    TW_TRY(tw_system_linearise(system, integrator->t, integrator->u, integrator->F));
    return system->second_order ? second_order(integrator, h) : first_order(integrator, h);
}

const tw_scheme_table tw_scheme_semi_implicit = {.reserve = semi_reserve,
                                                 .release = tw_implicit_memory_release,
                                                 .reset = tw_implicit_memory_reset,
                                                 .forget_tangent = tw_implicit_memory_forget,
                                                 .allows_impulses = true,
                                                 .attempt = semi_attempt,
                                                 .uses_rhs = true};
