/* The classical explicit schemes: Euler, midpoint, Runge-Kutta of order 4, and velocity Verlet.
 * Each attempt reads (t, u, F) and writes u_new. */
#include "base/allocate.h"
#include "base/fail.h"
#include "integrators/integrator_internal.h"
#include "linalg/vector.h"

/* u_new = u + h F. */
static tw_status euler_attempt(tw_integrator *integrator, double h, tw_error *error)
{
    (void)error;
    tw_vector_add_scaled(integrator->system.size, integrator->u, h, integrator->F,
                         integrator->u_new);
    tw_tally_add(integrator, h, integrator->F_tally);
    return TW_OK;
}

const tw_scheme_table tw_scheme_explicit_euler = {
    .attempt = euler_attempt, .uses_rhs = true, .is_explicit = true};

static tw_status reserve_vectors(tw_integrator *integrator, size_t count, tw_error *error)
{
    integrator->memory = TW_NEW_ARRAY(count * (size_t)integrator->system.size, double);
    return integrator->memory ? TW_OK : tw_fail_plain(error, TW_OUT_OF_MEMORY);
}

static void release_vectors(tw_integrator *integrator)
{
    tw_release(integrator->memory);
    integrator->memory = NULL;
}

static tw_status midpoint_reserve(tw_integrator *integrator, tw_error *error)
{
    return reserve_vectors(integrator, 2, error);
}

/* u_new = u + h F(t + h/2, u + h/2 F). */
static tw_status midpoint_attempt(tw_integrator *integrator, double h, tw_error *error)
{
    (void)error;
    int64_t size = integrator->system.size;
    double *stage = integrator->memory;
    double *slope = stage + size;

    /* slope = F(t + h/2, u + h/2 F) */
    tw_vector_add_scaled(size, integrator->u, 0.5 * h, integrator->F, stage);
    TW_TRY(tw_system_rhs(&integrator->system, integrator->t + 0.5 * h, stage, slope));
    TW_TRY(tw_tally_add_last(integrator, h));

    /* u_new = u + h slope */
    tw_vector_add_scaled(size, integrator->u, h, slope, integrator->u_new);
    return TW_OK;
}

const tw_scheme_table tw_scheme_explicit_midpoint = {.reserve = midpoint_reserve,
                                                     .release = release_vectors,
                                                     .attempt = midpoint_attempt,
                                                     .uses_rhs = true,
                                                     .is_explicit = true};

static tw_status rk4_reserve(tw_integrator *integrator, tw_error *error)
{
    return reserve_vectors(integrator, 2, error);
}

/* Kutta 1901: nodes 0, 1/2, 1/2, 1; weights 1/6, 1/3, 1/3, 1/6. */
static tw_status rk4_attempt(tw_integrator *integrator, double h, tw_error *error)
{
    static const double node[4] = {0, 0.5, 0.5, 1};
    static const double weight[4] = {1.0 / 6, 1.0 / 3, 1.0 / 3, 1.0 / 6};
    (void)error;
    int64_t size = integrator->system.size;
    double *stage = integrator->memory;
    double *slope = stage + size;

    /* The first slope is F(t, u). */
    const double *last = integrator->F;
    bool is_finite = true;
    tw_vector_add_scaled(size, integrator->u, h * weight[0], last, integrator->u_new);
    tw_tally_add(integrator, h * weight[0], integrator->F_tally);

    /* Each further slope is taken at u + h node (last slope). */
    for (int i = 1; i < 4; i++) {
        tw_vector_add_scaled(size, integrator->u, h * node[i], last, stage);
        TW_TRY(tw_system_rhs(&integrator->system, integrator->t + node[i] * h, stage, slope));
        TW_TRY(tw_tally_add_last(integrator, h * weight[i]));
        is_finite =
            tw_vector_add_scaled(size, integrator->u_new, h * weight[i], slope, integrator->u_new);
        last = slope;
    }
    return is_finite ? TW_OK : TW_NOT_FINITE;
}

const tw_scheme_table tw_scheme_rk4 = {.reserve = rk4_reserve,
                                       .release = release_vectors,
                                       .attempt = rk4_attempt,
                                       .uses_rhs = true,
                                       .is_explicit = true,
                                       .checks_result = true,
                                       .stability = 2.828427124746190};

/* The acceleration at the end of a step is the first one of the next step. */
typedef struct verlet_memory {
    double *room; /* of both arrays */
    double
        *a; /* a(t, x), N entries, and then 1 if it belongs to the current u, else 0, and the three
                    * rates of the tally there. Its t is the last t + h, which may differ from the
                    * present t by rounding: it cannot be computed anew bit for bit, and travels through
                    * serialise. */
    double *a_new; /* the same at t + h and x_new */
} verlet_memory;

/* Entries of a beside those of the particles. */
enum { VERLET_EXTRA = 4 };

static tw_status verlet_reserve(tw_integrator *integrator, tw_error *error)
{
    if (!integrator->system.second_order)
        return tw_fail(error, TW_UNSUPPORTED, "verlet needs a second-order problem");
    if (integrator->system.second.velocity_dependent)
        return tw_fail(error, TW_UNSUPPORTED,
                       "verlet does not apply to forces that depend on velocity");

    verlet_memory *memory = TW_NEW(verlet_memory);
    integrator->memory = memory;
    if (!memory) return tw_fail_plain(error, TW_OUT_OF_MEMORY);

    size_t entries = (size_t)integrator->system.n + VERLET_EXTRA;
    memory->room = tw_allocate_zeroed(2 * entries, sizeof(double));
    if (!memory->room) return tw_fail_plain(error, TW_OUT_OF_MEMORY);
    memory->a = memory->room;
    memory->a_new = memory->room + entries;
    return TW_OK;
}

static void verlet_release(tw_integrator *integrator)
{
    verlet_memory *memory = integrator->memory;
    if (!memory) return;
    tw_release(memory->room);
    tw_release(memory);
    integrator->memory = NULL;
}

static void verlet_reset(tw_integrator *integrator)
{
    const verlet_memory *memory = integrator->memory;
    tw_vector_fill(integrator->system.n + VERLET_EXTRA, 0.0, memory->a);
}

/* v' = v + h/2 a(x),  x+ = x + h v',  v+ = v' + h/2 a(x+). */
static tw_status verlet_attempt(tw_integrator *integrator, double h, tw_error *error)
{
    (void)error;
    verlet_memory *memory = integrator->memory;
    tw_system *system = &integrator->system;
    int64_t n = system->n;
    const double *x = integrator->u;
    const double *v = x + n;
    double *x_new = integrator->u_new;
    double *v_new = x_new + n;

    /* Step doubling goes back in time, so that a does not stay known. */
    tw_status status = TW_OK;
    if (memory->a[n] == 0) {
        status = tw_system_acceleration(system, integrator->t, x, v, memory->a);
        if (status == TW_OK)
            status = tw_tally_rates(integrator, integrator->t, NULL, memory->a + n + 1);
    }
    memory->a[n] = status == TW_OK && !integrator->doubles;
    if (status) return status;

    /* Kick and drift. */
    if (!tw_vector_kick_and_drift(n, x, 0.5 * h, memory->a, h, x_new)) return TW_NOT_FINITE;

    /* Kick. */
    TW_TRY(tw_system_acceleration(system, integrator->t + h, x_new, v_new, memory->a_new));
    TW_TRY(tw_tally_rates(integrator, integrator->t + h, NULL, memory->a_new + n + 1));
    tw_tally_add(integrator, 0.5 * h, memory->a + n + 1);
    tw_tally_add(integrator, 0.5 * h, memory->a_new + n + 1);
    bool is_finite = tw_vector_add_scaled(n, v_new, 0.5 * h, memory->a_new, v_new);
    return is_finite ? TW_OK : TW_NOT_FINITE;
}

static void verlet_accepted(tw_integrator *integrator, double h)
{
    (void)h;
    verlet_memory *memory = integrator->memory;
    double *before = memory->a;
    memory->a = memory->a_new;
    memory->a_new = before;
    memory->a[integrator->system.n] = before[integrator->system.n];
}

static size_t verlet_history(tw_integrator *integrator, double **values)
{
    const verlet_memory *memory = integrator->memory;
    *values = memory->a;
    return (size_t)integrator->system.n + VERLET_EXTRA;
}

const tw_scheme_table tw_scheme_verlet = {.reserve = verlet_reserve,
                                          .release = verlet_release,
                                          .reset = verlet_reset,
                                          .attempt = verlet_attempt,
                                          .accepted = verlet_accepted,
                                          .history = verlet_history,
                                          .is_explicit = true,
                                          .checks_result = true,
                                          .stability = 2.0};
