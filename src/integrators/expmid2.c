/* expmid2: exponential where the step resolves the motion, time-symmetric where it does
 * not (docs/schemes.md).
 *
 * One step of size h from (x_n, v_n), t = h/2. Nothing is ever evaluated at x_n: off the slow
 * manifold stiff forces mislead.
 *   1. The stage x_m = x_star + kappa t^2 a(x_m), x_star = x_n + t v_n + c with c = 0 at first, is
 *      solved by mixed Newton (implicit_stage.h). Then a_m = (x_m - x_star) / (kappa t^2), and A is
 *      the tangent there. kappa is 1, or down to 1/2 with damping (expmid2.h).
 *   2. The symmetric stage, `corrections` times: x_m should lie where the half step of the same
 *      linear model ends, or else the step is not its own inverse. With q the resolved part of the
 *      distance between the two, c += (I + t^2 A) q, and the stage is solved again.
 *   3. The step: functions of A, a filter among them, of v_n, a_m, c and the rate a_t of forces in
 *      time (expmid2_modes.h has the formulas). The pole of shift-invert Lanczos is Newton's own
 *      matrix M + t^2 K.
 *
 * The error estimate is the remainder of this step's linear model at the midpoint of the last step.
 * Both midpoints are on the slow manifold, and the remainder grows with the square of the distance
 * between them. */
#include "integrators/expmid2.h"

#include <limits.h>
#include <math.h>

#include "base/allocate.h"
#include "base/fail.h"
#include "linalg/vector.h"
#include "phi/phi_internal.h"

/* Up to this many unknowns the eigenvectors of A cost less than a Krylov space of it: the engine
 * is `dense`. */
enum { LARGEST_DENSE = 64 };

/* Tolerance of shift-invert and lanczos where the engine is chosen here. Errors fall slowly, and more
 * digits than these are beyond a scheme of order two. Measured: 1e-4 costs a cube that is driven,
 * damped and blown at its second order (test_forces_in_time). A user who names the engine gets the
 * tolerance that he asks for. */
static const double enough_digits = 1e-5;

/* The error of the correction q may be so many times larger than that of the step: it enters the
 * step through the remainder of the linear model alone. */
static const double correction_slack = 10;

/* Newton's iteration needs this share of the tolerance of shift-invert, which decides how accurate
 * the step is. */
static const double stage_share = 0.3;

static size_t past_size(const tw_integrator *integrator)
{
    const tw_system *system = &integrator->system;
    size_t vectors = TW_EXPMID2_PAST_VECTORS * (size_t)system->n;
    return TW_EXPMID2_HISTORY_SIZE + vectors + tw_implicit_past_size(system);
}

/* ---- creation ---- */

static tw_phi_engine choose_engine(const tw_integrator *integrator)
{
    tw_phi_engine engine = integrator->options.phi.engine;
    if (engine != TW_PHI_AUTO) return engine;
    if (integrator->system.n <= LARGEST_DENSE) return TW_PHI_DENSE;
    if (integrator->options.newton.linear_solver == TW_LINEAR_PCG) return TW_PHI_LANCZOS;
    return TW_PHI_SHIFT_INVERT;
}

/* Chooses the engine and says no to those that do not evaluate functions of a symmetric
 * operator. */
static tw_status set_engine(const tw_integrator *integrator, tw_expmid2_memory *memory,
                            tw_error *error)
{
    /* What the user asked for, with an engine for auto. */
    memory->phi = integrator->options.phi;
    memory->phi.engine = choose_engine(integrator);
    memory->stage_tolerance = integrator->options.newton.tolerance;
    bool chosen_here = integrator->options.phi.engine == TW_PHI_AUTO;

    switch (memory->phi.engine) {
    case TW_PHI_SHIFT_INVERT:
    case TW_PHI_LANCZOS:
        if (chosen_here) memory->phi.tolerance = fmax(memory->phi.tolerance, enough_digits);
        if (chosen_here || memory->phi.engine == TW_PHI_SHIFT_INVERT)
            memory->stage_tolerance =
                fmax(memory->stage_tolerance, stage_share * memory->phi.tolerance);
        return TW_OK;
    case TW_PHI_DENSE:
    case TW_PHI_CHEBYSHEV:
        return TW_OK;
    default:
        return tw_fail(error, TW_UNSUPPORTED,
                       "expmid2 needs functions of a symmetric operator: phi engine auto, dense, "
                       "lanczos, chebyshev or shift-invert, not %s",
                       tw_phi_engine_name(memory->phi.engine));
    }
}

static tw_status create_parts(tw_integrator *integrator, tw_expmid2_memory *memory, tw_error *error)
{
    tw_system *system = &integrator->system;
    TW_TRY(set_engine(integrator, memory, error));

    /* Where all is done by products, and of few digits, single precision may serve. */
    tw_system_use_symmetric_part(system);
    bool by_products = memory->phi.engine == TW_PHI_LANCZOS &&
                       integrator->options.newton.linear_solver == TW_LINEAR_PCG;
    if (by_products && tw_single_products_may_serve(memory->phi.tolerance))
        if (tw_system_offer_single_products(system) != TW_OK)
            return tw_fail_plain(error, TW_OUT_OF_MEMORY);

    double *stage_past = tw_expmid2_last(integrator, TW_EXPMID2_PAST_VECTORS);
    TW_TRY(tw_implicit_create(system, integrator->options.newton.linear_solver, stage_past,
                              &memory->implicit, error));
    if (memory->phi.engine == TW_PHI_SHIFT_INVERT) TW_TRY(tw_system_need_shifted(system, error));

    tw_phi_limits limits = tw_phi_limits_default();
    limits.size = system->n;
    limits.options = memory->phi;
    limits.slots = TW_EXPMID2_SLOTS;
    return tw_phi_workspace_create(&limits, &memory->workspace, error);
}

static tw_status allocate(tw_integrator *integrator, tw_expmid2_memory *memory)
{
    int64_t n = integrator->system.n;
    double **single[] = {
        &memory->x_star,  &memory->x_m,       &memory->a_m,      &memory->v_m,
        &memory->shift,   &memory->rate,      &memory->half,     &memory->target,
        &memory->start_v, &memory->remainder, &memory->bend,     &memory->v_star,
        &memory->rest,    &memory->end_v,     &memory->averaged, &memory->tally_way};
    enum { SINGLE = sizeof single / sizeof *single, DOUBLE = 4 };
    memory->storage = tw_allocate_zeroed((size_t)((SINGLE + 2 * DOUBLE) * n), sizeof(double));
    memory->past = tw_allocate_zeroed(past_size(integrator), sizeof(double));
    if (!memory->storage || !memory->past) return TW_OUT_OF_MEMORY;

    for (int i = 0; i < SINGLE; i++) *single[i] = memory->storage + i * n;
    memory->change = memory->storage + SINGLE * n;
    memory->work = memory->change + 2 * n;
    memory->judged = memory->work + 2 * n;
    memory->part = memory->judged + 2 * n;
    return TW_OK;
}

static tw_status expmid2_reserve(tw_integrator *integrator, tw_error *error)
{
    const tw_system *system = &integrator->system;
    if (!system->second_order)
        return tw_fail(error, TW_UNSUPPORTED, "expmid2 needs a second-order problem x'' = a(x)");

    tw_expmid2_memory *memory = integrator->memory = TW_NEW(tw_expmid2_memory);
    if (!memory || allocate(integrator, memory) != TW_OK)
        return tw_fail_plain(error, TW_OUT_OF_MEMORY);
    TW_TRY(create_parts(integrator, memory, error));
    memory->has_rate = !tw_system_is_autonomous(system);
    memory->has_rest = system->symmetric;
    return TW_OK;
}

static void expmid2_release(tw_integrator *integrator)
{
    tw_expmid2_memory *memory = integrator->memory;
    if (!memory) return;
    tw_implicit_free(memory->implicit);
    tw_phi_workspace_free(memory->workspace);
    tw_release(memory->storage);
    tw_release(memory->past);
    tw_release(memory);
    integrator->memory = NULL;
}

static void expmid2_reset(tw_integrator *integrator)
{
    tw_expmid2_memory *memory = integrator->memory;
    tw_implicit_reset(memory->implicit);
    tw_vector_fill((int64_t)past_size(integrator), 0.0, memory->past);
}

static void expmid2_forget_tangent(tw_integrator *integrator)
{
    const tw_expmid2_memory *memory = integrator->memory;
    tw_implicit_forget_matrix(memory->implicit);
}

/* ---- the symmetric stage ---- */

/* Moves the target so that the resolved part of x_m comes to lie on the half step of the linear
 * model: q, c and x_star, and x_m + q as the next guess. */
static tw_status correct_target(tw_integrator *integrator, tw_expmid2_memory *memory,
                                tw_error *error)
{
    int64_t n = integrator->system.n;
    double size = correction_slack * memory->h * memory->speed;
    tw_expmid2_outputs outputs = {.count = 2,
                                  .kind = {TW_MODE_HALF, TW_MODE_TARGET},
                                  .vector = {memory->half, memory->target},
                                  .reference = {size, size}};
    TW_TRY(tw_expmid2_apply_modes(integrator, memory, 1.0, &outputs, false, error));

    if (!memory->has_shift) tw_vector_fill(n, 0.0, memory->shift);
    memory->has_shift = true;
    tw_vector_axpy(n, 1.0, memory->target, memory->shift);
    tw_expmid2_set_target(integrator, memory);
    tw_vector_axpy(n, 1.0, memory->half, memory->x_m);
    return TW_OK;
}

/* Steps 1 and 2: x_m, a_m, v_m, the tangent and the rate. */
static tw_status find_stage(tw_integrator *integrator, tw_expmid2_memory *memory, tw_error *error)
{
    int64_t n = integrator->system.n;
    memory->has_shift = false;
    tw_vector_copy(n, integrator->u + n, memory->start_v);
    TW_TRY(tw_expmid2_norm(integrator, memory->start_v, &memory->start_speed));

    tw_expmid2_set_target(integrator, memory);
    TW_TRY(tw_expmid2_guess_stage(integrator, memory));
    int corrections = integrator->options.expmid2.corrections;
    TW_TRY(tw_expmid2_solve_stage(integrator, memory, corrections == 0));

    for (int i = 1; i <= corrections; i++) {
        TW_TRY(correct_target(integrator, memory, error));
        TW_TRY(tw_expmid2_solve_stage(integrator, memory, i == corrections));
    }
    return TW_OK;
}

/* ---- the step ---- */

/* The functions of this step are expected to take what those of the last one took. The numbers may
 * come from a file. */
static void expect_dimensions(tw_expmid2_memory *memory)
{
    const double *last = tw_expmid2_history_of(memory)->dimensions;
    for (int j = 0; j < TW_MAX_BLOCK; j++)
        memory->dimensions[j] = (int)fmin(fmax(last[j], 0), INT_MAX);
}

static tw_status expmid2_attempt(tw_integrator *integrator, double h, tw_error *error)
{
    tw_expmid2_memory *memory = integrator->memory;
    expect_dimensions(memory);
    memory->h = h;
    memory->kappa = tw_expmid2_kappa(integrator, h);
    memory->t_m = integrator->t + 0.5 * h;
    tw_status status = find_stage(integrator, memory, error);
    if (status != TW_OK) {
        integrator->newton_failed = true;
        return tw_fail(error, status, "the midpoint stage: %s", tw_status_text(status));
    }
    TW_TRY(tw_expmid2_find_change(integrator, memory, error));
    TW_TRY(tw_expmid2_add_tally(integrator, memory));
    tw_expmid2_compose(integrator, memory, 1.0, integrator->u, integrator->u_new);
    int64_t n = integrator->system.n;
    tw_vector_copy(n, integrator->u_new + n, memory->end_v);

    integrator->has_error = integrator->options.relative_tolerance > 0;
    if (integrator->has_error) TW_TRY(tw_expmid2_estimate(integrator, memory, error));
    return tw_expmid2_measure_asymmetry(integrator, memory);
}

static void expmid2_accepted(tw_integrator *integrator, double h)
{
    tw_expmid2_memory *memory = integrator->memory;
    int64_t n = integrator->system.n;
    tw_vector_copy(n, memory->x_m, tw_expmid2_last(integrator, 0));
    tw_vector_copy(n, tw_expmid2_last(integrator, 1), tw_expmid2_last(integrator, 3));
    tw_vector_copy(n, memory->a_m, tw_expmid2_last(integrator, 1));
    tw_vector_copy(n, memory->v_m, tw_expmid2_last(integrator, 2));
    tw_vector_copy(n, memory->averaged, tw_expmid2_last(integrator, 4));

    if (integrator->has_error) tw_expmid2_follow_slow_motion(integrator, memory);
    tw_expmid2_history *history = tw_expmid2_history_of(memory);
    history->acceleration = tw_expmid2_recent_acceleration(memory);
    history->h_before = history->h;
    history->h = h;
    history->t_m = integrator->t + 0.5 * h;
    for (int j = 0; j < TW_MAX_BLOCK; j++) history->dimensions[j] = memory->dimensions[j];
}

static tw_status expmid2_interpolate(tw_integrator *integrator, double theta, double *u)
{
    tw_expmid2_memory *memory = integrator->memory;
    tw_status status = tw_expmid2_find_inside(integrator, memory, theta);
    if (status == TW_OK) tw_expmid2_compose(integrator, memory, theta, integrator->u_old, u);
    return status;
}

static size_t expmid2_past(tw_integrator *integrator, double **values)
{
    *values = ((tw_expmid2_memory *)integrator->memory)->past;
    return past_size(integrator);
}

/* The factor at hand is part of the future where it may be kept. */
static tw_status expmid2_restored(tw_integrator *integrator)
{
    const tw_expmid2_memory *memory = integrator->memory;
    return tw_implicit_restore(memory->implicit);
}

const tw_scheme_table tw_scheme_expmid2 = {.reserve = expmid2_reserve,
                                           .release = expmid2_release,
                                           .reset = expmid2_reset,
                                           .forget_tangent = expmid2_forget_tangent,
                                           .allows_impulses = true,
                                           .attempt = expmid2_attempt,
                                           .accepted = expmid2_accepted,
                                           .interpolate = expmid2_interpolate,
                                           .interpolates_from_start = true,
                                           .history = expmid2_past,
                                           .restored = expmid2_restored,
                                           .energy_state = tw_expmid2_energy_state,
                                           .hidden_power = tw_expmid2_hidden_power,
                                           .error_order = 2,
                                           .equal_steps = true};
