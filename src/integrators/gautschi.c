/* Gautschi-type trigonometric integrator, two steps, for x'' = -A y + g(x), y = x - r, A fixed (r: x at the start):
 *
 *   y_{n+1} = 2 cos(h O) y_n - y_{n-1} + h^2 psi(h O) g(phi(h O) y_n),     O = sqrt(A), psi(s) = sinc^2(s/2) = 2
 * c_2(s^2) v_{n+1} = v_{n-1} + 2h sinc(h O) (g - A y_n) start: y_1 = cos y_0 + h sinc v_0 + h^2/2 psi g_0, and v_1 of
 * the flow with constant g. phi = 1 (Gautschi) or the Hochbruck-Lubich filter sinc(s) (1 + sin^2(s/2)/3). Only
 * functions of A are needed, never O itself. */
#include <math.h>
#include <twang/stumpff.h>

#include "base/allocate.h"
#include "base/fail.h"
#include "integrators/integrator_internal.h"
#include "linalg/vector.h"

enum { VECTORS = 4 };

typedef struct gautschi_memory {
    tw_phi_workspace *workspace;
    double *y, *g, *change, *work; /* n, n, size, size entries */
    double *history; /* r and v at the linearisation, u_{n-1}, then {t of it, known, h} */
    double *storage;
} gautschi_memory;

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

static tw_status gautschi_reserve(tw_integrator *integrator, tw_error *error)
{
    tw_system *system = &integrator->system;
    if (!system->second_order || system->second.velocity_dependent ||
        system->second.stiffness_is_general)
        return tw_fail(error, TW_UNSUPPORTED,
                       "gautschi needs an undamped second-order problem with a symmetric tangent");
    gautschi_memory *memory = integrator->memory = TW_NEW(gautschi_memory);
    if (!memory) return tw_fail_plain(error, TW_OUT_OF_MEMORY);
    memory->storage = tw_allocate_zeroed((size_t)(VECTORS * system->size), sizeof(double));
    memory->history = tw_allocate_zeroed(history_count(integrator), sizeof(double));
    if (!memory->storage || !memory->history) return tw_fail_plain(error, TW_OUT_OF_MEMORY);
    memory->y = memory->storage;
    memory->g = memory->storage + system->n;
    memory->change = memory->storage + system->size;
    memory->work = memory->storage + 2 * system->size;
    tw_system_use_linear_part(system);
    tw_status status = TW_OK;
    if (integrator->options.phi.engine == TW_PHI_SHIFT_INVERT)
        status = tw_system_need_shifted(system, error);
    if (status) return status;
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

typedef struct trigonometric {
    double h;
    int which; /* see value */
} trigonometric;

enum { COS, SINC, PSI, OMEGA_SIN, INNER_FILTER };

static double value(const void *context, double lambda)
{
    const trigonometric *f = context;
    double c[3], z = f->h * f->h * lambda;
    tw_stumpff(z, 3, c);
    switch (f->which) {
    case COS:
        return c[0];
    case SINC:
        return f->h * c[1];
    case PSI:
        return f->h * f->h * c[2]; /* h^2/2 psi */
    case OMEGA_SIN:
        return -f->h * lambda * c[1];
    default:
        return c[1] * (1 + (1 - c[0]) / 6); /* sinc s (1 + sin^2(s/2)/3) */
    }
}

static tw_status apply(tw_integrator *integrator, const tw_spectral_request *request,
                       tw_error *error)
{
    gautschi_memory *memory = integrator->memory;
    tw_phi_statistics statistics = {0};
    tw_status status =
        tw_spectral_apply(memory->workspace, &integrator->system.pair, request, &statistics, error);
    integrator->counts.solves += statistics.solves;
    integrator->counts.factorisations += statistics.factorisations;
    integrator->counts.engine = statistics.engine;
    integrator->counts.krylov_dimension = statistics.dimension;
    integrator->counts.phi_error_estimate = statistics.estimated_error;
    integrator->counts.work += statistics.cost;
    return status == TW_ILL_CONDITIONED && statistics.estimated_error < 1e-6 ? TW_OK : status;
}

/* A and r: the linearisation at the first step, held fixed. */
static tw_status fix_linear_part(tw_integrator *integrator, gautschi_memory *memory)
{
    double *numbers = numbers_of(integrator);
    if (numbers[NUMBER_KNOWN] != 0) return TW_OK;
    tw_vector_copy(integrator->system.size, integrator->u, memory->history);
    numbers[NUMBER_T] = integrator->t;
    numbers[NUMBER_KNOWN] = 1;
    numbers[NUMBER_H] = 0;
    tw_status status = tw_system_linearise(&integrator->system, integrator->t, integrator->u, NULL);
    return status == TW_OK && integrator->system.pair.shifted
               ? tw_system_assemble(&integrator->system)
               : status;
}

/* g = a(r + phi y) + A (phi y), with y = x_n - r; memory->y = y. */
static tw_status find_remainder(tw_integrator *integrator, gautschi_memory *memory, double h,
                                tw_error *error)
{
    tw_system *system = &integrator->system;
    int64_t n = system->n;
    double *filtered = memory->work, *force = memory->work + n;
    tw_status status = TW_OK;
    tw_vector_copy(n, integrator->u, memory->y);
    tw_vector_axpy(n, -1.0, memory->history, memory->y);
    tw_vector_copy(n, memory->y, filtered);
    if (integrator->options.gautschi.filter == TW_FILTER_HOCHBRUCK_LUBICH) {
        trigonometric inner = {h, INNER_FILTER};
        tw_spectral_request request = {.start_count = 1,
                                       .starts = (const double *[]){memory->y},
                                       .output_count = 1,
                                       .outputs = (double *[]){filtered},
                                       .functions = &(tw_spectral_function){value, &inner},
                                       .time = h};
        status = apply(integrator, &request, error);
    }
    if (status == TW_OK) status = tw_system_stiffness(system, 1, filtered, force);
    if (status == TW_OK) status = tw_system_mass_solve(system, force, memory->g);
    tw_vector_axpy(n, 1.0, memory->history, filtered);
    if (status == TW_OK)
        status = tw_system_acceleration(system, integrator->t, filtered, integrator->u + n, force);
    tw_vector_axpy(n, 1.0, force, memory->g);
    return status;
}

/* change = (cos y + h^2/2 psi g [+ h sinc v],  -O sin y + h sinc g [+ cos v]); v only in the first step. */
static tw_status propagate(tw_integrator *integrator, gautschi_memory *memory, double h, bool first,
                           tw_error *error)
{
    int64_t n = integrator->system.n;
    trigonometric f[5];
    for (int i = 0; i < 5; i++) f[i] = (trigonometric){h, i};
    tw_spectral_function cosine = {value, &f[COS]}, sinc = {value, &f[SINC]},
                         psi = {value, &f[PSI]};
    tw_spectral_function sine = {value, &f[OMEGA_SIN]};
    const tw_spectral_function three[6] = {cosine, psi, sinc, sine, sinc, cosine};
    const tw_spectral_function two[4] = {cosine, psi, sine, sinc};
    tw_spectral_request request = {.start_count = first ? 3 : 2,
                                   .starts =
                                       (const double *[]){memory->y, memory->g, integrator->u + n},
                                   .output_count = 2,
                                   .outputs = (double *[]){memory->change, memory->change + n},
                                   .functions = first ? three : two,
                                   .time = h};
    return apply(integrator, &request, error);
}

static tw_status gautschi_attempt(tw_integrator *integrator, double h, tw_error *error)
{
    gautschi_memory *memory = integrator->memory;
    const tw_system *system = &integrator->system;
    int64_t n = system->n;
    tw_status status = fix_linear_part(integrator, memory);
    bool first = numbers_of(integrator)[NUMBER_H] !=
                 h; /* the start, or another step size: begin the recurrence anew */
    if (status == TW_OK) status = find_remainder(integrator, memory, h, error);
    if (status == TW_OK) status = propagate(integrator, memory, h, first, error);
    if (status) return status;
    const double *reference = memory->history, *before = memory->history + system->size;
    double *x_new = integrator->u_new, *v_new = x_new + n;
    if (first) {
        tw_vector_copy(system->size, memory->change, integrator->u_new);
        tw_vector_axpy(n, 1.0, reference, x_new);
        return TW_OK;
    }
    tw_vector_copy(n, memory->change, x_new); /* x = 2 change - x_{n-1} + 2 r */
    tw_vector_axpby(n, 2.0, reference, 2.0, x_new);
    tw_vector_axpy(n, -1.0, before, x_new);
    tw_vector_copy(n, before + n, v_new);
    tw_vector_axpy(n, 2.0, memory->change + n, v_new);
    return TW_OK;
}

static void gautschi_accepted(tw_integrator *integrator, double h)
{
    gautschi_memory *memory = integrator->memory;
    tw_vector_copy(integrator->system.size, integrator->u,
                   memory->history + integrator->system.size);
    numbers_of(integrator)[NUMBER_H] = h;
}

static size_t gautschi_history(tw_integrator *integrator, double **values)
{
    *values = ((gautschi_memory *)integrator->memory)->history;
    return history_count(integrator);
}

static tw_status gautschi_restored(tw_integrator *integrator)
{
    const gautschi_memory *memory = integrator->memory;
    const double *numbers = numbers_of(integrator);
    if (numbers[NUMBER_KNOWN] == 0) return TW_OK;
    tw_status status =
        tw_system_linearise(&integrator->system, numbers[NUMBER_T], memory->history, NULL);
    return status == TW_OK && integrator->system.pair.shifted
               ? tw_system_assemble(&integrator->system)
               : status;
}

const tw_scheme_table tw_scheme_gautschi = {.reserve = gautschi_reserve,
                                            .release = gautschi_release,
                                            .reset = gautschi_reset,
                                            .attempt = gautschi_attempt,
                                            .accepted = gautschi_accepted,
                                            .history = gautschi_history,
                                            .restored = gautschi_restored,
                                            .fixed_only = true};
