/* Variational implicit-explicit integration (Stern & Grinspun 2009): the slow forces by kicks as in
 * velocity Verlet, the fast linear part by the implicit midpoint rule.
 *
 *   f(x) = -K (x - r) + f_slow(x)
 *
 * K is constant: the problem's linear part, or the tangent at the start, and r = x at the start.
 * With options.v_imex.renew_tangent, K is the tangent at the start of each step and r = x_n.
 *
 *   v+ = v_n + h/2 M^-1 f_slow(x_n)
 *   (M + t^2 K) d = t M v+ - t^2 K (x_n - r),  t = h/2         midpoint rule for M x'' = -K (x - r)
 *   x_{n+1} = x_n + 2 d,  v* = 2 d/t - v+
 *   v_{n+1} = v* + h/2 M^-1 f_slow(x_{n+1})
 *
 * Sums beside the state, p' = w(x), are split like f: w(x) = w' (x - r) + slow part. The midpoint rule takes h w' (x_n
 * + d - r), the kicks take h/2 w' (2 x_n + 2 d - 2 r) less than w: the linear parts cancel, and
 *   p_{n+1} = p_n + h/2 [w(x_n) + w(x_{n+1})]. */
#include "base/fail.h"
#include "integrators/implicit_scheme.h"
#include "linalg/vector.h"

/* History: (r, v) at the linearisation (2N entries), its time, and whether there is one. */
enum { NUMBER_T, NUMBER_KNOWN, NUMBERS };

static tw_status imex_reserve(tw_integrator *integrator, tw_error *error)
{
    if (!integrator->system.second_order)
        return tw_fail(error, TW_UNSUPPORTED, "v-imex needs a second-order problem");
    if (integrator->system.second.velocity_dependent)
        return tw_fail(error, TW_UNSUPPORTED,
                       "v-imex does not apply to forces that depend on velocity");
    return tw_implicit_memory_reserve(integrator, (size_t)integrator->system.size + NUMBERS, error);
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
    if (numbers[NUMBER_KNOWN] != 0 && !renew) return TW_OK;

    /* The point belongs to the history: a restored run linearises there. */
    tw_vector_copy(integrator->system.size, integrator->u, memory->history);
    numbers[NUMBER_T] = integrator->t;
    numbers[NUMBER_KNOWN] = 1;
    tw_implicit_reset(memory->implicit);
    return tw_system_linearise(&integrator->system, integrator->t, integrator->u, NULL);
}

/* fast = K (x - r), slow = f_slow(x) = M a(x) + K (x - r). */
static tw_status find_forces(tw_integrator *integrator, double t, const double *x, double *slow,
                             double *fast)
{
    const tw_implicit_memory *memory = integrator->memory;
    tw_system *system = &integrator->system;
    int64_t n = system->n;
    double *a = memory->work;
    double *y = memory->work + n;

    /* slow = M a(x) */
    TW_TRY(tw_system_acceleration(system, t, x, integrator->u + n, a));
    TW_TRY(tw_system_mass(system, a, slow));

    /* fast = K y with y = x - r, and slow += fast */
    tw_vector_copy(n, x, y);
    tw_vector_axpy(n, -1.0, memory->history, y);
    TW_TRY(tw_system_stiffness(system, 1, y, fast));
    tw_vector_axpy(n, 1.0, fast, slow);
    return TW_OK;
}

/* v += h/2 M^-1 force. */
static tw_status kick(tw_integrator *integrator, double h, const double *force, double *v)
{
    const tw_implicit_memory *memory = integrator->memory;
    TW_TRY(tw_system_mass_solve(&integrator->system, force, memory->work));
    tw_vector_axpy(integrator->system.n, 0.5 * h, memory->work, v);
    return TW_OK;
}

static tw_status imex_attempt(tw_integrator *integrator, double h, tw_error *error)
{
    (void)error;
    tw_implicit_memory *memory = integrator->memory;
    int64_t n = integrator->system.n;
    double t = 0.5 * h;
    double *x_new = integrator->u_new;
    double *v_new = x_new + n;
    double *slow = memory->x_star;
    double *fast = memory->v_star;
    double *right = memory->x;
    double *d = memory->x + n;

    TW_TRY(fix_fast_part(integrator, memory));

    /* v+ = v_n + h/2 M^-1 f_slow(x_n) */
    TW_TRY(find_forces(integrator, integrator->t, integrator->u, slow, fast));
    TW_TRY(tw_tally_add_last(integrator, t));
    tw_vector_copy(n, integrator->u + n, v_new);
    TW_TRY(kick(integrator, h, slow, v_new));

    /* (M + t^2 K) d = t M v+ - t^2 K (x_n - r) */
    TW_TRY(tw_system_mass(&integrator->system, v_new, right));
    tw_vector_axpby(n, -t * t, fast, t, right);
    TW_TRY(tw_implicit_linear_solve(memory->implicit, t * t, right, d));

    /* x_{n+1} = x_n + 2 d,  v* = 2 d/t - v+ */
    tw_vector_copy(n, integrator->u, x_new);
    tw_vector_axpy(n, 2.0, d, x_new);
    tw_vector_axpby(n, 2 / t, d, -1.0, v_new);

    /* v_{n+1} = v* + h/2 M^-1 f_slow(x_{n+1}) */
    TW_TRY(find_forces(integrator, integrator->t + h, x_new, slow, fast));
    TW_TRY(tw_tally_add_last(integrator, t));
    return kick(integrator, h, slow, v_new);
}

static tw_status imex_restored(tw_integrator *integrator)
{
    const tw_implicit_memory *memory = integrator->memory;
    const double *numbers = numbers_of(integrator);
    if (numbers[NUMBER_KNOWN] == 0) return TW_OK;
    return tw_system_linearise(&integrator->system, numbers[NUMBER_T], memory->history, NULL);
}

const tw_scheme_table tw_scheme_v_imex = {.reserve = imex_reserve,
                                          .release = tw_implicit_memory_release,
                                          .reset = tw_implicit_memory_reset,
                                          .attempt = imex_attempt,
                                          .history = tw_implicit_memory_history,
                                          .restored = imex_restored};
