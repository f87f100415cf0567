/* Gautschi-type trigonometric integrator, two steps, for x'' = -A y + g(x), y = x - r, with A fixed
 * and r = x at the start. With O = sqrt(A):
 *
 *   y_{n+1} = 2 cos(h O) y_n - y_{n-1} + h^2 psi(h O) g(phi(h O) y_n),  psi(s) = sinc^2(s/2)
 *   v_{n+1} = v_{n-1} + 2h sinc(h O) (g - A y_n)
 *
 * The first step is y_1 = cos(h O) y_0 + h sinc(h O) v_0 + h^2/2 psi(h O) g_0, with v_1 of the flow
 * with constant g. The filter phi is 1 (Gautschi) or sinc(s) (1 + sin^2(s/2)/3) (Hochbruck and
 * Lubich). All of these are functions of A = O^2: with the Stumpff functions c_k(h^2 A),
 * cos = c_0, sinc = c_1, psi = 2 c_2. O itself is never needed. */
#include <math.h>
#include <twang/stumpff.h>

#include "base/allocate.h"
#include "base/fail.h"
#include "integrators/integrator_internal.h"
#include "integrators/propagator.h"
#include "linalg/vector.h"

enum { VECTORS = 4 };

typedef struct gautschi_memory {
    tw_phi_workspace *workspace;
    double *y;       /* n entries */
    double *g;       /* n entries */
    double *change;  /* size entries */
    double *work;    /* size entries */
    double *history; /* (r, v) at the linearisation, u_{n-1}, then the numbers below */
    double *storage;
} gautschi_memory;

/* t of the linearisation, whether there is one, and the last h. */
enum { NUMBER_T, NUMBER_KNOWN, NUMBER_H, NUMBERS };

static size_t history_count(const tw_integrator *integrator)
{
    return (size_t)(2 * integrator->system.size) + NUMBERS;
}

static double *numbers_of(const tw_integrator *integrator)
{
    const gautschi_memory *memory = integrator->memory;
    return memory->history + 2 * integrator->system.size;
}

/* ---- memory ---- */

static tw_status allocate(tw_integrator *integrator, gautschi_memory *memory)
{
    int64_t n = integrator->system.n;
    int64_t size = integrator->system.size;
    memory->storage = tw_allocate_zeroed((size_t)(VECTORS * size), sizeof(double));
    memory->history = tw_allocate_zeroed(history_count(integrator), sizeof(double));
    if (!memory->storage || !memory->history) return TW_OUT_OF_MEMORY;

    /* y and g share one vector of `size` entries. */
    memory->y = memory->storage;
    memory->g = memory->storage + n;
    memory->change = memory->storage + size;
    memory->work = memory->storage + 2 * size;
    return TW_OK;
}

static tw_status gautschi_reserve(tw_integrator *integrator, tw_error *error)
{
    tw_system *system = &integrator->system;
    if (!system->second_order || system->second.velocity_dependent ||
        system->second.stiffness_is_general)
        return tw_fail(error, TW_UNSUPPORTED,
                       "gautschi needs an undamped second-order problem with a symmetric tangent");
    system->assumes_symmetry = true;

    tw_phi_engine engine = integrator->options.phi.engine;
    if (engine != TW_PHI_AUTO && engine != TW_PHI_DENSE && !tw_phi_engine_is_spectral(engine))
        return tw_fail(error, TW_UNSUPPORTED,
                       "gautschi needs functions of a symmetric operator: phi engine auto, dense, "
                       "lanczos, chebyshev or shift-invert, not %s",
                       tw_phi_engine_name(engine));

    gautschi_memory *memory = TW_NEW(gautschi_memory);
    integrator->memory = memory;
    if (!memory) return tw_fail_plain(error, TW_OUT_OF_MEMORY);
    if (allocate(integrator, memory) != TW_OK) return tw_fail_plain(error, TW_OUT_OF_MEMORY);

    /* A is the constant linear part, if the problem gives one. */
    tw_system_use_linear_part(system);
    if (integrator->options.phi.engine == TW_PHI_SHIFT_INVERT)
        TW_TRY(tw_system_need_shifted(system, error));

    /* Create the workspace for functions of A. */
    tw_phi_limits limits = tw_phi_limits_default();
    limits.size = system->n;
    limits.options = integrator->options.phi;
    return tw_phi_workspace_create(&limits, &memory->workspace, error);
}

static void gautschi_release(tw_integrator *integrator)
{
    gautschi_memory *memory = integrator->memory;
    if (!memory) return;
    tw_phi_workspace_free(memory->workspace);
    tw_release(memory->storage);
    tw_release(memory->history);
    tw_release(memory);
    integrator->memory = NULL;
}

static void gautschi_reset(tw_integrator *integrator)
{
    gautschi_memory *memory = integrator->memory;
    for (size_t i = 0; i < history_count(integrator); i++) memory->history[i] = 0;
}

/* ---- functions of A ---- */

typedef struct trigonometric {
    double h;
    int which; /* one of those below */
} trigonometric;

enum { COS, SINC, PSI, OMEGA_SIN, INNER_FILTER, FUNCTIONS };

static double value(const void *context, double lambda)
{
    const trigonometric *f = context;
    double c[3];
    double z = f->h * f->h * lambda;
    tw_stumpff(z, 3, c);

    switch (f->which) {
    case COS:
        return c[0];
    case SINC: /* h sinc */
        return f->h * c[1];
    case PSI: /* h^2/2 psi */
        return f->h * f->h * c[2];
    case OMEGA_SIN: /* -O sin(h O) */
        return -f->h * lambda * c[1];
    default: /* sinc s (1 + sin^2(s/2)/3), since sin^2(s/2) = (1 - cos s)/2 */
        return c[1] * (1 + (1 - c[0]) / 6);
    }
}

static tw_status apply(tw_integrator *integrator, const tw_spectral_request *request,
                       tw_error *error)
{
    gautschi_memory *memory = integrator->memory;

    tw_phi_statistics statistics = {0};
    tw_status status =
        tw_spectral_apply(memory->workspace, &integrator->system.pair, request, &statistics, error);

    tw_integrator_statistics *counts = &integrator->counts;
    counts->solves += statistics.solves;
    counts->factorisations += statistics.factorisations;
    counts->engine = statistics.engine;
    counts->krylov_dimension = statistics.dimension;
    counts->phi_error_estimate = statistics.estimated_error;
    counts->work += statistics.cost;

    return tw_accept_rounding(status, &statistics);
}

/* ---- the step ---- */

/* A and r: the linearisation at the first step, held fixed. */
static tw_status fix_linear_part(tw_integrator *integrator, gautschi_memory *memory)
{
    double *numbers = numbers_of(integrator);
    if (numbers[NUMBER_KNOWN] != 0) return TW_OK;

    /* The point belongs to the history: a restored run linearises there. */
    tw_vector_copy(integrator->system.size, integrator->u, memory->history);
    numbers[NUMBER_T] = integrator->t;
    numbers[NUMBER_KNOWN] = 1;
    numbers[NUMBER_H] = 0;
    return tw_system_linearise_for_phi(&integrator->system, integrator->t, integrator->u, NULL);
}

/* filtered = phi(h O) y, for the filter that is not 1. */
static tw_status filter(tw_integrator *integrator, const double *y, double h, double *filtered,
                        tw_error *error)
{
    trigonometric inner = {h, INNER_FILTER};
    tw_spectral_request request = {.start_count = 1,
                                   .starts = (const double *[]){y},
                                   .output_count = 1,
                                   .outputs = (double *[]){filtered},
                                   .functions = &(tw_spectral_function){value, &inner},
                                   .time = h};
    return apply(integrator, &request, error);
}

/* y = x_n - r, g = a(r + phi y) + A (phi y). */
static tw_status find_remainder(tw_integrator *integrator, gautschi_memory *memory, double h,
                                tw_error *error)
{
    tw_system *system = &integrator->system;
    int64_t n = system->n;
    const double *r = memory->history;
    double *filtered = memory->work;
    double *force = memory->work + n;

    /* y, and phi y */
    tw_vector_copy(n, integrator->u, memory->y);
    tw_vector_axpy(n, -1.0, r, memory->y);
    tw_vector_copy(n, memory->y, filtered);
    if (integrator->options.gautschi.filter == TW_FILTER_HOCHBRUCK_LUBICH)
        TW_TRY(filter(integrator, memory->y, h, filtered, error));

    /* g = A (phi y) */
    TW_TRY(tw_system_stiffness(system, 1, filtered, force));
    TW_TRY(tw_system_mass_solve(system, force, memory->g));

    /* g += a(r + phi y) */
    tw_vector_axpy(n, 1.0, r, filtered);
    TW_TRY(tw_system_acceleration(system, integrator->t, filtered, integrator->u + n, force));
    tw_vector_axpy(n, 1.0, force, memory->g);
    return TW_OK;
}

/* change_x = cos y + h^2/2 psi g [+ h sinc v]
 * change_v = -O sin y + h sinc g [+ cos v]
 * with the terms of v in the first step only. */
static tw_status propagate(tw_integrator *integrator, gautschi_memory *memory, double h, bool first,
                           tw_error *error)
{
    trigonometric f[FUNCTIONS];
    for (int i = 0; i < FUNCTIONS; i++) f[i] = (trigonometric){h, i};
    tw_spectral_function cosine = {value, &f[COS]};
    tw_spectral_function sinc = {value, &f[SINC]};
    tw_spectral_function psi = {value, &f[PSI]};
    tw_spectral_function sine = {value, &f[OMEGA_SIN]};
    const tw_spectral_function three[6] = {cosine, psi, sinc, sine, sinc, cosine};
    const tw_spectral_function two[4] = {cosine, psi, sine, sinc};

    /* The starts are y, g and, in the first step, v; the outputs are change_x and change_v. */
    int64_t n = integrator->system.n;
    const double *starts[3] = {memory->y, memory->g, integrator->u + n};
    double *outputs[2] = {memory->change, memory->change + n};
    tw_spectral_request request = {.start_count = first ? 3 : 2,
                                   .starts = starts,
                                   .output_count = 2,
                                   .outputs = outputs,
                                   .functions = first ? three : two,
                                   .time = h};
    return apply(integrator, &request, error);
}

static tw_status gautschi_attempt(tw_integrator *integrator, double h, tw_error *error)
{
    gautschi_memory *memory = integrator->memory;
    const tw_system *system = &integrator->system;
    int64_t n = system->n;
    TW_TRY(fix_linear_part(integrator, memory));

    /* The recurrence of two steps begins anew at the start, and with another step size. */
    bool first = numbers_of(integrator)[NUMBER_H] != h;
    TW_TRY(find_remainder(integrator, memory, h, error));
    TW_TRY(propagate(integrator, memory, h, first, error));

    const double *r = memory->history;
    const double *before = memory->history + system->size;
    double *x_new = integrator->u_new;
    double *v_new = x_new + n;

    /* In a first step, change is already (y_1, v_1). */
    if (first) {
        tw_vector_copy(system->size, memory->change, integrator->u_new);
        tw_vector_axpy(n, 1.0, r, x_new);
        return TW_OK;
    }

    /* x_{n+1} = 2 change_x + 2 r - x_{n-1},  v_{n+1} = v_{n-1} + 2 change_v */
    tw_vector_copy(n, memory->change, x_new);
    tw_vector_axpby(n, 2.0, r, 2.0, x_new);
    tw_vector_axpy(n, -1.0, before, x_new);
    tw_vector_copy(n, before + n, v_new);
    tw_vector_axpy(n, 2.0, memory->change + n, v_new);
    return TW_OK;
}

static void gautschi_accepted(tw_integrator *integrator, double h)
{
    gautschi_memory *memory = integrator->memory;
    int64_t size = integrator->system.size;

    /* u_n becomes u_{n-1}. */
    tw_vector_copy(size, integrator->u, memory->history + size);
    numbers_of(integrator)[NUMBER_H] = h;
}

static size_t gautschi_history(tw_integrator *integrator, double **values)
{
    const gautschi_memory *memory = integrator->memory;
    *values = memory->history;
    return history_count(integrator);
}

static tw_status gautschi_restored(tw_integrator *integrator)
{
    const gautschi_memory *memory = integrator->memory;
    const double *numbers = numbers_of(integrator);
    if (numbers[NUMBER_KNOWN] == 0) return TW_OK;
    return tw_system_linearise_for_phi(&integrator->system, numbers[NUMBER_T], memory->history,
                                       NULL);
}

const tw_scheme_table tw_scheme_gautschi = {.reserve = gautschi_reserve,
                                            .release = gautschi_release,
                                            .reset = gautschi_reset,
                                            .attempt = gautschi_attempt,
                                            .accepted = gautschi_accepted,
                                            .history = gautschi_history,
                                            .restored = gautschi_restored,
                                            .fixed_only = true};
