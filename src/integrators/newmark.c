/* Newmark's method and the generalized-alpha method (Chung & Hulbert 1993), one formula:
 *
 *   (1 - am) A_{n+1} + am A_n = a(t_{n+1-af}, X, V),  X = (1 - af) x_{n+1} + af x_n,  V likewise
 *   x_{n+1} = x_n + h v_n + h^2 [(1/2 - b) A_n + b A_{n+1}]
 *   v_{n+1} = v_n + h [(1 - c) A_n + c A_{n+1}]
 *
 * Newmark, average acceleration: am = af = 0, b = 1/4, c = 1/2.
 * generalized-alpha with the spectral radius r at infinity:
 *   am = (2r - 1)/(r + 1),  af = r/(r + 1),  c = 1/2 - am + af,  b = (1 - am + af)^2 / 4.
 *
 * Eliminating A_{n+1} gives the stage X = X* + G a, V = V* + S a with a = a(t, X, V),
 *   G = (1 - af) h^2 b / (1 - am),  S = (1 - af) h c / (1 - am). */
#include <string.h>

#include "base/fail.h"
#include "integrators/implicit_scheme.h"
#include "linalg/vector.h"

typedef struct alpha_parameters {
    double am;
    double af;
    double b;
    double c;
} alpha_parameters;

/* The numbers at the end of the history. */
enum { LAST_STEP, KNOWN, SUMS, EARLIER_SUMS = SUMS + 3, NUMBERS = EARLIER_SUMS + 3 };

/* History: A_n and A_{n-1} (N entries each), then the step h_n that led to A_n (0 at the start) and
 * whether A_n is known. After them the same two accelerations of sums beside the state (tally.c): with p' = w as
 * one unknown more, they follow from w as A does from a. */
static double *earlier_of(const tw_integrator *integrator)
{
    const tw_implicit_memory *memory = integrator->memory;
    return memory->history + integrator->system.n;
}

static double *numbers_of(const tw_integrator *integrator)
{
    const tw_implicit_memory *memory = integrator->memory;
    return memory->history + 2 * integrator->system.n;
}

static tw_status alpha_reserve(tw_integrator *integrator, tw_error *error)
{
    if (!integrator->system.second_order)
        return tw_fail(error, TW_UNSUPPORTED, "%s needs a second-order problem",
                       tw_scheme_name(integrator->options.scheme));
    return tw_implicit_memory_reserve(integrator, 2 * (size_t)integrator->system.n + NUMBERS,
                                      error);
}

/* A_0 = a(t_0, x_0, v_0). */
static tw_status need_acceleration(tw_integrator *integrator, tw_implicit_memory *memory)
{
    double *numbers = numbers_of(integrator);
    if (numbers[KNOWN] != 0) return TW_OK;
    int64_t n = integrator->system.n;
    tw_status status = tw_system_acceleration(&integrator->system, integrator->t, integrator->u,
                                              integrator->u + n, memory->history);
    if (status == TW_OK) status = tw_tally_rates(integrator, integrator->t, NULL, numbers + SUMS);
    numbers[KNOWN] = status == TW_OK;
    numbers[LAST_STEP] = 0;
    return status;
}

/* A_n belongs to the time t_n - (af - am) h_n: it lags behind. The formulas are of second order
 * only if the lag is that of the present step. A step h of another length therefore moves A_n along
 * the line through A_{n-1}:
 *   A = A_n + (af - am) (1 - h/h_n) (A_n - A_{n-1}).
 * At the start A_0 = a(t_0) has no lag and there is no line; that costs O(h^2) once. */
static const double *present_acceleration(tw_integrator *integrator, double h, alpha_parameters p,
                                          double sums[3])
{
    tw_implicit_memory *memory = integrator->memory;
    const double *numbers = numbers_of(integrator);
    double last = numbers[LAST_STEP];
    double lag = p.af - p.am;
    memcpy(sums, numbers + SUMS, 3 * sizeof *sums);
    if (last == 0 || last == h || lag == 0) return memory->history;

    /* The stage uses the first N entries of x_star only. */
    int64_t n = integrator->system.n;
    double share = lag * (1 - h / last);
    double *moved = memory->x_star + n;
    tw_vector_copy(n, memory->history, moved);
    tw_vector_axpby(n, -share, earlier_of(integrator), 1 + share, moved);
    for (int k = 0; k < 3; k++)
        sums[k] = (1 + share) * numbers[SUMS + k] - share * numbers[EARLIER_SUMS + k];
    return moved;
}

/* Solves for the stage X into memory->x and for A_{n+1} into memory->work; A is A_n. */
static tw_status solve_stage(tw_integrator *integrator, double h, alpha_parameters p,
                             const double *A, tw_error *error)
{
    tw_implicit_memory *memory = integrator->memory;
    int64_t n = integrator->system.n;
    const double *x = integrator->u;
    const double *v = x + n;
    double carry = p.am / (1 - p.am);
    double share = 1 - p.af;
    double G = share * h * h * p.b / (1 - p.am);
    double S = share * h * p.c / (1 - p.am);

    /* X* */
    tw_vector_copy(n, x, memory->x_star);
    tw_vector_axpy(n, share * h, v, memory->x_star);
    tw_vector_axpy(n, share * h * h * (0.5 - p.b - p.b * carry), A, memory->x_star);

    /* V* */
    tw_vector_copy(n, v, memory->v_star);
    tw_vector_axpy(n, share * h * (1 - p.c - p.c * carry), A, memory->v_star);

    /* The first guess of a is A_n. */
    tw_vector_copy(n, memory->x_star, memory->x);
    tw_vector_axpy(n, G, A, memory->x);
    TW_TRY(tw_implicit_memory_solve(integrator, integrator->t + share * h, G, S / G, error));

    /* a = (X - X*) / G, then A_{n+1} = a / (1 - am) - carry A_n */
    double *A_new = memory->work;
    tw_vector_copy(n, tw_implicit_way(memory->implicit), A_new);
    tw_vector_axpby(n, -carry, A, 1 / (G * (1 - p.am)), A_new);
    return TW_OK;
}

/* Sums beside the state: their acceleration at the end of the step, into memory->sums, and their gain. The stage is in
 * memory->x; `sums` is their acceleration at the start. */
static tw_status add_sums(tw_integrator *integrator, double h, alpha_parameters p,
                          const double sums[3])
{
    tw_implicit_memory *memory = integrator->memory;
    double at_stage[3];
    double t = integrator->t + (1 - p.af) * h;
    TW_TRY(tw_tally_rates(integrator, t, memory->x, at_stage));

    for (int k = 0; k < 3; k++) memory->sums[k] = (at_stage[k] - p.am * sums[k]) / (1 - p.am);
    tw_tally_add(integrator, h * (1 - p.c), sums);
    tw_tally_add(integrator, h * p.c, memory->sums);
    return TW_OK;
}

static tw_status alpha_attempt(tw_integrator *integrator, double h, alpha_parameters p,
                               tw_error *error)
{
    tw_implicit_memory *memory = integrator->memory;
    int64_t n = integrator->system.n;
    const double *x = integrator->u;
    const double *v = x + n;
    const double *A_new = memory->work;
    double *x_new = integrator->u_new;
    double *v_new = x_new + n;

    /* A_n, then the stage and A_{n+1}. */
    TW_TRY(need_acceleration(integrator, memory));
    double sums[3];
    const double *A = present_acceleration(integrator, h, p, sums);
    TW_TRY(solve_stage(integrator, h, p, A, error));
    TW_TRY(add_sums(integrator, h, p, sums));

    /* x_{n+1} = x_n + h v_n + h^2 [(1/2 - b) A_n + b A_{n+1}] */
    tw_vector_copy(n, x, x_new);
    tw_vector_axpy(n, h, v, x_new);
    tw_vector_axpy(n, h * h * (0.5 - p.b), A, x_new);
    tw_vector_axpy(n, h * h * p.b, A_new, x_new);

    /* v_{n+1} = v_n + h [(1 - c) A_n + c A_{n+1}] */
    tw_vector_copy(n, v, v_new);
    tw_vector_axpy(n, h * (1 - p.c), A, v_new);
    tw_vector_axpy(n, h * p.c, A_new, v_new);

    /* V, for the energy guard */
    tw_vector_copy(n, v, memory->x + n);
    tw_vector_axpby(n, 1 - p.af, v_new, p.af, memory->x + n);
    return TW_OK;
}

static tw_status newmark_attempt(tw_integrator *integrator, double h, tw_error *error)
{
    alpha_parameters p = {.am = 0, .af = 0, .b = 0.25, .c = 0.5};
    return alpha_attempt(integrator, h, p, error);
}

static tw_status generalized_attempt(tw_integrator *integrator, double h, tw_error *error)
{
    double r = integrator->options.generalized_alpha.spectral_radius;
    double am = (2 * r - 1) / (r + 1);
    double af = r / (r + 1);
    alpha_parameters p = {
        .am = am, .af = af, .b = 0.25 * (1 - am + af) * (1 - am + af), .c = 0.5 - am + af};
    return alpha_attempt(integrator, h, p, error);
}

static void alpha_accepted(tw_integrator *integrator, double h)
{
    tw_implicit_memory *memory = integrator->memory;
    tw_vector_copy(integrator->system.n, memory->history, earlier_of(integrator));
    tw_vector_copy(integrator->system.n, memory->work, memory->history);
    double *numbers = numbers_of(integrator);
    for (int k = 0; k < 3; k++) {
        numbers[EARLIER_SUMS + k] = numbers[SUMS + k];
        numbers[SUMS + k] = memory->sums[k];
    }
    numbers[LAST_STEP] = h;
}

const tw_scheme_table tw_scheme_newmark = {.reserve = alpha_reserve,
                                           .release = tw_implicit_memory_release,
                                           .reset = tw_implicit_memory_reset,
                                           .attempt = newmark_attempt,
                                           .accepted = alpha_accepted,
                                           .history = tw_implicit_memory_history,
                                           .energy_state = tw_implicit_memory_energy_state,
                                           .equal_steps = true,
                                           .restored = tw_implicit_memory_restored};

const tw_scheme_table tw_scheme_generalized_alpha = {.reserve = alpha_reserve,
                                                     .release = tw_implicit_memory_release,
                                                     .reset = tw_implicit_memory_reset,
                                                     .attempt = generalized_attempt,
                                                     .accepted = alpha_accepted,
                                                     .history = tw_implicit_memory_history,
                                                     .energy_state =
                                                         tw_implicit_memory_energy_state,
                                                     .equal_steps = true,
                                                     .restored = tw_implicit_memory_restored};
