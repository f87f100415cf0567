/* expmid2: exponential where the step resolves the motion, time-symmetric where it does
 * not (docs/schemes.md).
 *
 * One step of size h from (x_n, v_n), t = h/2. Nothing is ever evaluated at x_n: off the slow
 * manifold stiff forces mislead.
 *   1. The stage x_m = x_star + t^2 a(x_m), x_star = x_n + t v_n + c with c = 0 at first, is solved
 *      by mixed Newton (implicit_stage.h). Then a_m = (x_m - x_star) / t^2, and A is the tangent
 *      there.
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
#include <math.h>

#include "base/allocate.h"
#include "base/fail.h"
#include "integrators/expmid2_modes.h"
#include "integrators/implicit_stage.h"
#include "integrators/integrator_internal.h"
#include "linalg/vector.h"

/* Up to this many unknowns the eigenvectors of A cost less than a Krylov space of it: the engine
 * is `dense`. */
enum { LARGEST_DENSE = 64 };

/* Tolerance of shift-invert where the engine is chosen here. Its error falls slowly, and more
 * digits than these are beyond a scheme of order two. A user who names the engine gets the
 * tolerance that he asks for. */
static const double enough_digits = 1e-5;

/* Where the space of shift-invert does not converge, because a crumpled sheet has a thousand modes
 * about the cutoff, the step is made with fewer digits, down to this tolerance. Its error is
 * beside the displacement of one step. */
static const double fewest_digits = 1e-2;

/* Newton's iteration needs this share of the tolerance of shift-invert, which decides how accurate
 * the step is. */
static const double stage_share = 1e-2;

/* The tangent is made anew at the stage where the strain energy between the two points exceeds
 * this share of the kinetic energy. Measured on the coil: 1e-9 gives the same errors at twice the
 * factorisations. */
static const double frame_tolerance = 1e-3;

typedef struct expmid2_memory {
    tw_implicit *implicit;
    tw_phi_workspace *workspace;
    tw_phi_options phi;
    double stage_tolerance; /* of Newton's iteration */

    double *x_star, *x_m, *a_m, *v_m; /* of this step's stage */
    double *shift;                    /* c: x_star = x_n + t v_n + c */
    double *rate;                     /* a_t, and what the linear model lacks of the damping */
    double *start_v;                  /* v_n of the step that the basis belongs to */
    double *half, *target;            /* q and (I + t^2 A) q */
    double *change;                   /* outputs of step 3: x, then v (2 N) */
    double *remainder;
    double *work;   /* 2 N */
    double *judged; /* the state whose energy is judged (2 N) */
    double *storage;

    double h;            /* of this step */
    double t_m;          /* time of its middle */
    double start_speed;  /* |v_n| in the mass norm */
    double speed;        /* |v_n| + t |a_m| in the mass norm: of a start from rest, too */
    double acceleration; /* |a_m| in the mass norm */
    bool has_rate;       /* forces depend on time, or the symmetric stand-in lacks something */
    bool has_shift;      /* c is not zero */

    /* Travels through serialise: the history, then x_m, a_m, v_m of the last step and the a_m of
     * the step before it (4 N), then the past of the stage solver. */
    double *past;
} expmid2_memory;

/* What the next step wants to know of the last accepted one. Doubles alone, because it is a part
 * of `past`. */
typedef struct expmid2_history {
    double h;            /* 0: there is no last step */
    double h_before;     /* of the step before it; 0: there is none */
    double t_m;          /* time of its midpoint */
    double acceleration; /* largest |a_m| of late */
} expmid2_history;

enum { HISTORY_SIZE = sizeof(expmid2_history) / sizeof(double) };

static expmid2_history *history_of(const expmid2_memory *memory)
{
    return (expmid2_history *)memory->past;
}

/* The last step's x_m, a_m, v_m, and the a_m of the step before it: which = 0, 1, 2, 3. */
static double *last_of(const tw_integrator *integrator, int which)
{
    const expmid2_memory *memory = integrator->memory;
    return memory->past + HISTORY_SIZE + which * integrator->system.n;
}

static size_t past_size(const tw_integrator *integrator)
{
    const tw_system *system = &integrator->system;
    return HISTORY_SIZE + 4 * (size_t)system->n + tw_implicit_past_size(system);
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

/* Chooses the engine and says no to those that do not evaluate functions of a
 * symmetric operator. */
static tw_status set_engine(const tw_integrator *integrator, expmid2_memory *memory,
                            tw_error *error)
{
    memory->phi = integrator->options.phi;
    memory->phi.engine = choose_engine(integrator);
    memory->stage_tolerance = integrator->options.newton.tolerance;
    bool chosen_here = integrator->options.phi.engine == TW_PHI_AUTO;

    switch (memory->phi.engine) {
    case TW_PHI_SHIFT_INVERT:
        if (chosen_here) memory->phi.tolerance = fmax(memory->phi.tolerance, enough_digits);
        memory->stage_tolerance =
            fmax(memory->stage_tolerance, stage_share * memory->phi.tolerance);
        return TW_OK;
    case TW_PHI_DENSE:
    case TW_PHI_LANCZOS:
    case TW_PHI_CHEBYSHEV:
        return TW_OK;
    default:
        return tw_fail(error, TW_UNSUPPORTED,
                       "expmid2 needs functions of a symmetric operator: phi engine auto, dense, "
                       "lanczos, chebyshev or shift-invert, not %s",
                       tw_phi_engine_name(memory->phi.engine));
    }
}

static tw_status create_parts(tw_integrator *integrator, expmid2_memory *memory, tw_error *error)
{
    tw_system *system = &integrator->system;
    TW_TRY(set_engine(integrator, memory, error));
    double *stage_past = last_of(integrator, 4);
    TW_TRY(tw_implicit_create(system, integrator->options.newton.linear_solver, stage_past,
                              &memory->implicit, error));
    if (memory->phi.engine == TW_PHI_SHIFT_INVERT) TW_TRY(tw_system_need_shifted(system, error));

    tw_phi_limits limits = tw_phi_limits_default();
    limits.size = system->n;
    limits.options = memory->phi;
    limits.slots = 2; /* the step, and its error estimate */
    return tw_phi_workspace_create(&limits, &memory->workspace, error);
}

static tw_status allocate(tw_integrator *integrator, expmid2_memory *memory)
{
    int64_t n = integrator->system.n;
    double **single[] = {&memory->x_star,  &memory->x_m,      &memory->a_m,  &memory->v_m,
                         &memory->shift,   &memory->rate,     &memory->half, &memory->target,
                         &memory->start_v, &memory->remainder};
    enum { SINGLE = sizeof single / sizeof *single, DOUBLE = 3 };
    memory->storage = tw_allocate_zeroed((size_t)((SINGLE + 2 * DOUBLE) * n), sizeof(double));
    memory->past = tw_allocate_zeroed(past_size(integrator), sizeof(double));
    if (!memory->storage || !memory->past) return TW_OUT_OF_MEMORY;

    for (int i = 0; i < SINGLE; i++) *single[i] = memory->storage + i * n;
    memory->change = memory->storage + SINGLE * n;
    memory->work = memory->change + 2 * n;
    memory->judged = memory->work + 2 * n;
    return TW_OK;
}

static tw_status expmid2_reserve(tw_integrator *integrator, tw_error *error)
{
    const tw_system *system = &integrator->system;
    if (!system->second_order)
        return tw_fail(error, TW_UNSUPPORTED, "expmid2 needs a second-order problem x'' = a(x)");

    expmid2_memory *memory = integrator->memory = TW_NEW(expmid2_memory);
    if (!memory || allocate(integrator, memory) != TW_OK)
        return tw_fail_plain(error, TW_OUT_OF_MEMORY);
    TW_TRY(create_parts(integrator, memory, error));
    memory->has_rate = !tw_system_is_autonomous(system) || system->symmetric;
    return TW_OK;
}

static void expmid2_release(tw_integrator *integrator)
{
    expmid2_memory *memory = integrator->memory;
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
    expmid2_memory *memory = integrator->memory;
    *history_of(memory) = (expmid2_history){0};
    tw_implicit_reset(memory->implicit);
}

/* ---- the stage ---- */

/* |x| in the mass norm. */
static tw_status mass_norm(tw_integrator *integrator, const double *x, double *norm)
{
    const tw_second_order_problem *problem = &integrator->system.second;
    double square = 0;
    tw_status status = tw_vector_weighted_dot(&problem->space, problem->lumped_mass, x, x, &square);
    *norm = sqrt(square);
    return status;
}

/* x_star = x_n + t v_n + c. */
static void set_target(const tw_integrator *integrator, expmid2_memory *memory)
{
    int64_t n = integrator->system.n;
    tw_vector_copy(n, integrator->u, memory->x_star);
    tw_vector_axpy(n, 0.5 * memory->h, integrator->u + n, memory->x_star);
    if (memory->has_shift) tw_vector_axpy(n, 1.0, memory->shift, memory->x_star);
}

/* The first guess of x_m: x_star + t^2 (2 a_l - a_b), the accelerations of the last step and of the
 * one before it extrapolated. Where they differ much, elements turn, and the target x_star itself
 * is the better guess. */
static tw_status guess_stage(tw_integrator *integrator, expmid2_memory *memory)
{
    int64_t n = integrator->system.n;
    double t = 0.5 * memory->h;
    const expmid2_history *history = history_of(memory);
    const double *last = last_of(integrator, 1);
    double *change = memory->work;
    tw_vector_copy(n, memory->x_star, memory->x_m);
    bool equal_steps = fabs(history->h - memory->h) <= 1e-9 * memory->h &&
                       fabs(history->h_before - memory->h) <= 1e-9 * memory->h;
    if (!equal_steps) return TW_OK;

    double size = 0;
    double change_size = 0;
    tw_vector_copy(n, last, change);
    tw_vector_axpy(n, -1.0, last_of(integrator, 3), change);
    TW_TRY(mass_norm(integrator, last, &size));
    TW_TRY(mass_norm(integrator, change, &change_size));
    if (change_size > size) return TW_OK;
    tw_vector_axpy(n, t * t, last, memory->x_m);
    tw_vector_axpy(n, t * t, change, memory->x_m);
    return TW_OK;
}

/* The stage equation of this step. */
static tw_stage stage_of(const tw_integrator *integrator, const expmid2_memory *memory)
{
    const tw_system *system = &integrator->system;
    double t = 0.5 * memory->h;
    return (tw_stage){.t = integrator->t + t,
                      .gamma = t * t,
                      .sigma = 1 / t,
                      .x_star = memory->x_star,
                      .v_star =
                          system->second.velocity_dependent ? integrator->u + system->n : NULL,
                      .x = memory->x_m,
                      .scale = memory->h * memory->start_speed,
                      .tolerance = memory->stage_tolerance,
                      .max_iterations = integrator->options.newton.max_iterations,
                      .keeps_dear_factor = true};
}

/* Whether the tangent at hand, made at an iterate before x_m, is too far from x_m. Unresolved modes
 * are reflected in its frame, so the way between the two points appears in them as a strain, of
 * energy way^T K way, to be compared with the kinetic energy. */
static tw_status frame_is_off(tw_integrator *integrator, expmid2_memory *memory, bool *off)
{
    tw_system *system = &integrator->system;
    int64_t n = system->n;
    double *way = memory->work;
    double *force = memory->work + n;
    *off = !tw_implicit_is_exact(memory->implicit);
    if (*off) return TW_OK;

    double strain = 0;
    tw_vector_copy(n, memory->x_m, way);
    tw_vector_axpy(n, -1.0, tw_implicit_linear_point(memory->implicit), way);
    bool keeps = false;
    const double *from = tw_implicit_linear_point(memory->implicit);
    TW_TRY(tw_implicit_keeps_tangent(memory->implicit, from, way, &keeps));
    if (keeps) return TW_OK;

    TW_TRY(tw_system_stiffness(system, 1, way, force));
    TW_TRY(tw_vector_dot(&system->second.space, way, force, &strain));
    *off = strain > frame_tolerance * memory->speed * memory->speed;
    return TW_OK;
}

/* rate = the time derivative, along the motion at the midpoint, of what the linear model
 * leaves out:
 *     a_t - M^-1 (K v_m + D a_m) + M^-1 S (v_m + beta a_m) + alpha a_m,
 * with S the symmetric stand-in of K, and alpha M + beta S that of D. Without a stand-in it is
 * a_t alone. */
static tw_status find_rate(tw_integrator *integrator, expmid2_memory *memory)
{
    tw_system *system = &integrator->system;
    int64_t n = system->n;
    if (!memory->has_rate) return TW_OK;

    /* a_t at (x_m, v_m). */
    double *u = memory->change;
    double *u_t = memory->work;
    tw_vector_copy(n, memory->x_m, u);
    tw_vector_copy(n, memory->v_m, u + n);
    TW_TRY(tw_system_time_derivative(system, integrator->t + 0.5 * memory->h, u, u_t));
    tw_vector_copy(n, u_t + n, memory->rate);
    if (!system->symmetric) return TW_OK;

    /* force = S (v_m + beta a_m) - K v_m - D a_m. */
    double *force = memory->change;
    double *part = memory->change + n;
    double *moved = memory->work;
    tw_vector_copy(n, memory->v_m, moved);
    tw_vector_axpy(n, system->pair.rayleigh_stiffness, memory->a_m, moved);
    TW_TRY(tw_system_stiffness(system, 1, moved, force));
    TW_TRY(system->second.apply_stiffness(system->second.context, 1, memory->v_m, part));
    tw_vector_axpy(n, -1.0, part, force);
    if (system->second.apply_damping) {
        TW_TRY(system->second.apply_damping(system->second.context, 1, memory->a_m, part));
        tw_vector_axpy(n, -1.0, part, force);
    }

    /* rate += M^-1 force + alpha a_m. */
    TW_TRY(tw_system_mass_solve(system, force, part));
    tw_vector_axpy(n, 1.0, part, memory->rate);
    tw_vector_axpy(n, system->pair.rayleigh_mass, memory->a_m, memory->rate);
    return TW_OK;
}

/* Solves the stage from x_m's guess; then a_m, v_m, the tangent and the rate there. */
static tw_status solve_stage(tw_integrator *integrator, expmid2_memory *memory, bool final)
{
    int64_t n = integrator->system.n;
    double t = 0.5 * memory->h;
    tw_stage stage = stage_of(integrator, memory);
    tw_stage_result result;
    TW_TRY(tw_implicit_solve(memory->implicit, &stage, &result));

    /* a_m = (x_m - x_star) / t^2,  v_m = v_n + t a_m. */
    tw_vector_copy(n, tw_implicit_way(memory->implicit), memory->a_m);
    tw_vector_scale(n, 1 / (t * t), memory->a_m);
    tw_vector_copy(n, integrator->u + n, memory->v_m);
    tw_vector_axpy(n, t, memory->a_m, memory->v_m);

    /* Speeds beside which errors count. */
    TW_TRY(mass_norm(integrator, memory->a_m, &memory->acceleration));
    memory->speed = memory->start_speed + t * memory->acceleration;

    bool off = false;
    if (final) TW_TRY(frame_is_off(integrator, memory, &off));
    if (off) TW_TRY(tw_implicit_renew(memory->implicit, &stage));
    return find_rate(integrator, memory);
}

/* ---- how fast the motion changes ---- */

/* The largest |a| of late: the present one, or the last one forgotten in ten times the time |v|/|a|
 * in which the motion changes. Where a body passes the point without force, |a| alone would say
 * that it moves on for ever. */
static double recent_acceleration(const expmid2_memory *memory)
{
    double before = history_of(memory)->acceleration;
    double forgotten = exp(-0.1 * memory->h * before / memory->speed);
    return fmax(memory->acceleration, memory->speed > 0 ? before * forgotten : 0);
}

/* The time |v|/|a| in which the motion changes; 0 where nothing accelerates. */
static double slow_time(const expmid2_memory *memory)
{
    double recent = recent_acceleration(memory);
    return recent > 0 ? memory->speed / recent : 0;
}

/* ---- functions of the operator ---- */

static void count(tw_integrator *integrator, const tw_phi_statistics *statistics)
{
    tw_integrator_statistics *counts = &integrator->counts;
    counts->solves += statistics->solves;
    counts->factorisations += statistics->factorisations;
    counts->engine = statistics->engine;
    counts->pole = statistics->pole;
    counts->krylov_dimension = statistics->dimension;
    counts->phi_error_estimate = statistics->estimated_error;
    counts->work += statistics->cost;
}

static tw_mode_function mode_of(const tw_integrator *integrator, double theta)
{
    const expmid2_memory *memory = integrator->memory;
    return (tw_mode_function){.h = memory->h,
                              .theta = theta,
                              .cutoff = integrator->options.expmid2.filter_cutoff,
                              .mu = integrator->options.expmid2.dissipation,
                              .alpha = integrator->system.pair.rayleigh_mass,
                              .beta = integrator->system.pair.rayleigh_stiffness};
}

/* Evaluates a request, with Newton's own matrix as the pole of shift-invert. */
static tw_status evaluate(tw_integrator *integrator, expmid2_memory *memory,
                          const tw_spectral_request *request, bool reuse, tw_error *error)
{
    tw_phi_options options = memory->phi;
    double shift = tw_implicit_factor_shift(memory->implicit);
    bool own_pole = options.engine == TW_PHI_SHIFT_INVERT && options.pole != 0;
    if (options.engine == TW_PHI_SHIFT_INVERT && !own_pole && shift > 0)
        options.pole = sqrt(shift) / memory->h;

    /* Ten times the tolerance serves where the space of an engine chosen here does not converge. */
    bool may_loosen = integrator->options.phi.engine == TW_PHI_AUTO && !reuse;
    tw_phi_statistics statistics;
    tw_status status;
    for (;; options.tolerance *= 10) {
        statistics = (tw_phi_statistics){0};
        TW_TRY(tw_phi_workspace_set_options(memory->workspace, &options));
        status = reuse ? tw_spectral_reuse(memory->workspace, request, &statistics, error)
                       : tw_spectral_apply(memory->workspace, &integrator->system.pair, request,
                                           &statistics, error);
        count(integrator, &statistics);
        bool loosen = may_loosen && 10 * options.tolerance <= fewest_digits;
        if (status != TW_NOT_CONVERGED || !loosen) break;
    }

    /* An answer that rounding limits will do: a thousandth is below the scheme's own error. */
    if (status == TW_ILL_CONDITIONED && statistics.estimated_error < 1e-3) return TW_OK;
    return status;
}

/* The outputs that two kinds of request want, and where they go. */
typedef struct mode_outputs {
    tw_mode_output kind[2];
    double *vector[2];
    double reference
        [2]; /* errors count beside this: where nothing is resolved the outputs are nothing */
} mode_outputs;

/* outputs = functions of A of the start vectors v_n, a_m, c, a_t, as far as there are any. */
static tw_status apply_modes(tw_integrator *integrator, expmid2_memory *memory, double theta,
                             const mode_outputs *outputs, bool reuse, tw_error *error)
{
    /* The start vectors. */
    const double *vectors[TW_MODE_STARTS] = {memory->start_v, memory->a_m, memory->shift,
                                             memory->rate};
    const double *starts[TW_MODE_STARTS];
    tw_mode_start kinds[TW_MODE_STARTS];
    int start_count = 0;
    for (int i = 0; i < TW_MODE_STARTS; i++) {
        if (i == TW_MODE_FROM_C && !memory->has_shift) continue;
        if (i == TW_MODE_FROM_T && !memory->has_rate) continue;
        kinds[start_count] = (tw_mode_start)i;
        starts[start_count++] = vectors[i];
    }

    /* One function for each output and start vector. */
    tw_mode_function modes[2 * TW_MODE_STARTS];
    tw_spectral_function functions[2 * TW_MODE_STARTS];
    for (int i = 0; i < 2 * start_count; i++) {
        modes[i] = mode_of(integrator, theta);
        modes[i].output = outputs->kind[i / start_count];
        modes[i].start = kinds[i % start_count];
        modes[i].slow = slow_time(memory);
        functions[i] = (tw_spectral_function){tw_mode_value, &modes[i]};
    }

    tw_spectral_request request = {.start_count = start_count,
                                   .starts = starts,
                                   .output_count = 2,
                                   .outputs = outputs->vector,
                                   .functions = functions,
                                   .reference = outputs->reference,
                                   .time = memory->h,
                                   .smooth = true};
    return evaluate(integrator, memory, &request, reuse, error);
}

/* memory->change = the parts of x and v at theta that need functions of A. */
static tw_status find_change(tw_integrator *integrator, expmid2_memory *memory, double theta,
                             bool reuse, tw_error *error)
{
    int64_t n = integrator->system.n;
    mode_outputs outputs = {.kind = {TW_MODE_X, TW_MODE_V},
                            .vector = {memory->change, memory->change + n},
                            .reference = {memory->h * memory->speed, memory->speed}};
    return apply_modes(integrator, memory, theta, &outputs, reuse, error);
}

/* u = u_start + the change + what modes of infinite lambda do. */
static void compose(const tw_integrator *integrator, const expmid2_memory *memory, double theta,
                    const double *u_start, double *u)
{
    int64_t n = integrator->system.n;
    const double *starts[] = {memory->start_v, memory->a_m, memory->shift};
    tw_vector_copy(n, u_start, u);
    tw_vector_axpy(n, 1.0, memory->change, u);
    tw_vector_copy(n, memory->change + n, u + n);

    for (int i = 0; i <= TW_MODE_FROM_C; i++) {
        if (i == TW_MODE_FROM_C && !memory->has_shift) continue;
        tw_mode_function f = mode_of(integrator, theta);
        f.start = (tw_mode_start)i;
        f.output = TW_MODE_X;
        tw_vector_axpy(n, tw_mode_by_hand(&f), starts[i], u);
        f.output = TW_MODE_V;
        tw_vector_axpy(n, tw_mode_by_hand(&f), starts[i], u + n);
    }
}

/* ---- the symmetric stage ---- */

/* Moves the target so that the resolved part of x_m comes to lie on the half step of the linear
 * model: q, c and x_star, and x_m + q as the next guess. */
static tw_status correct_target(tw_integrator *integrator, expmid2_memory *memory, tw_error *error)
{
    int64_t n = integrator->system.n;
    double size = memory->h * memory->speed;
    mode_outputs outputs = {.kind = {TW_MODE_HALF, TW_MODE_TARGET},
                            .vector = {memory->half, memory->target},
                            .reference = {size, size}};
    TW_TRY(apply_modes(integrator, memory, 1.0, &outputs, false, error));

    if (!memory->has_shift) tw_vector_fill(n, 0.0, memory->shift);
    memory->has_shift = true;
    tw_vector_axpy(n, 1.0, memory->target, memory->shift);
    set_target(integrator, memory);
    tw_vector_axpy(n, 1.0, memory->half, memory->x_m);
    return TW_OK;
}

/* Steps 1 and 2: x_m, a_m, v_m, the tangent and the rate. */
static tw_status find_stage(tw_integrator *integrator, expmid2_memory *memory, tw_error *error)
{
    int64_t n = integrator->system.n;
    memory->has_shift = false;
    tw_vector_copy(n, integrator->u + n, memory->start_v);
    TW_TRY(mass_norm(integrator, memory->start_v, &memory->start_speed));

    set_target(integrator, memory);
    TW_TRY(guess_stage(integrator, memory));
    int corrections = integrator->options.expmid2.corrections;
    TW_TRY(solve_stage(integrator, memory, corrections == 0));

    for (int i = 1; i <= corrections; i++) {
        TW_TRY(correct_target(integrator, memory, error));
        TW_TRY(solve_stage(integrator, memory, i == corrections));
    }
    return TW_OK;
}

/* ---- the error estimate ---- */

/* remainder = s^2 [a_l - a_m + A (x_l - x_m) + B (v_l - v_m) - rate (t_l - t_m)], l the last step's
 * midpoint, B = alpha + beta A, s = half the step over the distance of the midpoints. */
static tw_status find_remainder(tw_integrator *integrator, expmid2_memory *memory)
{
    tw_system *system = &integrator->system;
    int64_t n = system->n;
    const expmid2_history *history = history_of(memory);
    double *between = memory->work;
    double *force = memory->work + n;
    double *remainder = memory->remainder;

    /* A (x_l - x_m + beta (v_l - v_m)) */
    double beta = system->pair.rayleigh_stiffness;
    tw_vector_copy(n, last_of(integrator, 0), between);
    tw_vector_axpy(n, -1.0, memory->x_m, between);
    tw_vector_axpy(n, beta, last_of(integrator, 2), between);
    tw_vector_axpy(n, -beta, memory->v_m, between);
    TW_TRY(tw_system_stiffness(system, 1, between, force));
    TW_TRY(tw_system_mass_solve(system, force, remainder));

    /* + a_l - a_m + alpha (v_l - v_m) */
    double alpha = system->pair.rayleigh_mass;
    tw_vector_axpy(n, 1.0, last_of(integrator, 1), remainder);
    tw_vector_axpy(n, -1.0, memory->a_m, remainder);
    tw_vector_axpy(n, alpha, last_of(integrator, 2), remainder);
    tw_vector_axpy(n, -alpha, memory->v_m, remainder);

    /* - rate (t_l - t_m) */
    double t_m = integrator->t + 0.5 * memory->h;
    if (memory->has_rate) tw_vector_axpy(n, t_m - history->t_m, memory->rate, remainder);

    double s = memory->h / (memory->h + history->h);
    tw_vector_scale(n, s * s, remainder);
    return TW_OK;
}

/* What the engine's error in the filtered remainder counts beside. A thousandth of |a| is safe. But
 * the remainder has all frequencies, and its filter has its pole far from Newton's where steps are
 * short: the basis for that would be many times the step's own. h/3 of it is compared with the
 * speed, so a twentieth of what would reject the step will do. */
static double estimate_reference(const tw_integrator *integrator, const expmid2_memory *memory)
{
    const double *given = integrator->options.reference;
    double safe = 1e-3 * memory->acceleration;
    if (given[0] > 0 || given[1] > 0) return safe; /* the caller's own reference is unknown here */
    double rejecting = tw_error_rejected(integrator) * memory->speed / (memory->h / 3);
    return fmax(safe, 0.05 * rejecting / memory->phi.tolerance);
}

/* error += what the filter changes in slow modes. Without it the estimate is blind where a step has
 * become so long that it resolves nothing. The basis is that of the step. */
static tw_status add_filter_error(tw_integrator *integrator, expmid2_memory *memory,
                                  tw_error *error)
{
    int64_t n = integrator->system.n;
    mode_outputs outputs = {.kind = {TW_MODE_FILTER_X, TW_MODE_FILTER_V},
                            .vector = {memory->change, memory->change + n},
                            .reference = {memory->h * memory->speed, memory->speed}};
    tw_status status = apply_modes(integrator, memory, 1.0, &outputs, true, error);
    if (status == TW_UNSUPPORTED || status == TW_NOT_CONVERGED)
        status = apply_modes(integrator, memory, 1.0, &outputs, false, error);
    if (status == TW_OK) tw_vector_axpy(2 * n, 1.0, memory->change, integrator->error_vector);
    return status;
}

/* error = (h^2/6, h/3) times the filtered remainder: the parabola through r(-h/2) = r(h/2) = r,
 * r(0) = 0, integrated over the step. */
static tw_status estimate_from_remainder(tw_integrator *integrator, expmid2_memory *memory,
                                         tw_error *error)
{
    int64_t n = integrator->system.n;
    double h = memory->h;
    double *estimate = integrator->error_vector;
    TW_TRY(find_remainder(integrator, memory));

    tw_mode_estimate mode = {
        .h = h, .cutoff = integrator->options.expmid2.filter_cutoff, .slow = slow_time(memory)};
    const tw_spectral_function function = {tw_mode_accumulating, &mode};
    const double *starts[1] = {memory->remainder};
    double reference[1] = {estimate_reference(integrator, memory)};

    /* The basis of the step stays in slot 0, for points inside the step. */
    tw_spectral_request request = {.start_count = 1,
                                   .starts = starts,
                                   .output_count = 1,
                                   .outputs = &estimate,
                                   .functions = &function,
                                   .reference = reference,
                                   .time = h,
                                   .smooth = true,
                                   .slot = 1};
    TW_TRY(evaluate(integrator, memory, &request, false, error));
    tw_vector_copy(n, estimate, estimate + n);
    tw_vector_scale(n, h * h / 6, estimate);
    tw_vector_scale(n, h / 3, estimate + n);
    return add_filter_error(integrator, memory, error);
}

/* The first step has no earlier midpoint: its difference from the midpoint rule, an error of the
 * same order. */
static void estimate_from_midpoint(tw_integrator *integrator, const expmid2_memory *memory)
{
    int64_t n = integrator->system.n;
    double h = memory->h;
    double *estimate = integrator->error_vector;
    tw_vector_copy(2 * n, integrator->u_new, estimate);
    tw_vector_axpy(2 * n, -1.0, integrator->u, estimate);
    tw_vector_axpy(n, -h, integrator->u + n, estimate);
    tw_vector_axpy(n, -0.5 * h * h, memory->a_m, estimate);
    tw_vector_axpy(n, -h, memory->a_m, estimate + n);
}

/* How far the stage is from being the reversed step's too: |x_new - t v_new + t^2 a_m + c - x_m| /
 * |h v|, where the reversed step would need the same shift c. */
static tw_status measure_asymmetry(tw_integrator *integrator, expmid2_memory *memory)
{
    int64_t n = integrator->system.n;
    double t = 0.5 * memory->h;
    double *gap = memory->work;
    tw_vector_copy(n, integrator->u_new, gap);
    tw_vector_axpy(n, -t, integrator->u_new + n, gap);
    tw_vector_axpy(n, t * t, memory->a_m, gap);
    if (memory->has_shift) tw_vector_axpy(n, 1.0, memory->shift, gap);
    tw_vector_axpy(n, -1.0, memory->x_m, gap);

    double size = 0;
    TW_TRY(mass_norm(integrator, gap, &size));
    double scale = memory->h * memory->speed;
    integrator->counts.asymmetry = scale > 0 ? size / scale : 0;
    return TW_OK;
}

/* ---- the step ---- */

static tw_status expmid2_attempt(tw_integrator *integrator, double h, tw_error *error)
{
    expmid2_memory *memory = integrator->memory;
    memory->h = h;
    memory->t_m = integrator->t + 0.5 * h;
    tw_status status = find_stage(integrator, memory, error);
    if (status != TW_OK) {
        integrator->newton_failed = true;
        return tw_fail(error, status, "the midpoint stage: %s", tw_status_text(status));
    }
    TW_TRY(find_change(integrator, memory, 1.0, false, error));
    compose(integrator, memory, 1.0, integrator->u, integrator->u_new);

    integrator->has_error = integrator->options.relative_tolerance > 0;
    if (integrator->has_error && history_of(memory)->h > 0)
        TW_TRY(estimate_from_remainder(integrator, memory, error));
    else if (integrator->has_error)
        estimate_from_midpoint(integrator, memory);
    return measure_asymmetry(integrator, memory);
}

/* The midpoint is on the slow manifold. Its velocity is that of the half step: in resolved modes
 * v_m, the velocity of the midpoint rule, is off by the square of h omega. */
static const double *expmid2_energy_state(tw_integrator *integrator, double *t)
{
    expmid2_memory *memory = integrator->memory;
    int64_t n = integrator->system.n;
    double *x = memory->judged;
    double *v = memory->judged + n;

    tw_status status = find_change(integrator, memory, 0.5, true, NULL);
    if (status == TW_OK) compose(integrator, memory, 0.5, memory->x_m, memory->judged);
    if (status != TW_OK) tw_vector_copy(n, memory->v_m, v);
    tw_vector_copy(n, memory->x_m, x);
    *t = memory->t_m;
    return memory->judged;
}

static void expmid2_accepted(tw_integrator *integrator, double h)
{
    expmid2_memory *memory = integrator->memory;
    int64_t n = integrator->system.n;
    tw_vector_copy(n, memory->x_m, last_of(integrator, 0));
    tw_vector_copy(n, last_of(integrator, 1), last_of(integrator, 3));
    tw_vector_copy(n, memory->a_m, last_of(integrator, 1));
    tw_vector_copy(n, memory->v_m, last_of(integrator, 2));
    *history_of(memory) = (expmid2_history){.h = h,
                                            .h_before = history_of(memory)->h,
                                            .t_m = integrator->t + 0.5 * h,
                                            .acceleration = recent_acceleration(memory)};
}

static tw_status expmid2_interpolate(tw_integrator *integrator, double theta, double *u)
{
    expmid2_memory *memory = integrator->memory;
    tw_status status = find_change(integrator, memory, theta, true, NULL);
    if (status == TW_UNSUPPORTED || status == TW_NOT_CONVERGED)
        status = find_change(integrator, memory, theta, false, NULL);
    if (status == TW_OK) compose(integrator, memory, theta, integrator->u_old, u);
    return status;
}

static size_t expmid2_past(tw_integrator *integrator, double **values)
{
    *values = ((expmid2_memory *)integrator->memory)->past;
    return past_size(integrator);
}

/* The factor at hand is part of the future where it may be kept. It was counted when it
 * was made. */
static tw_status expmid2_restored(tw_integrator *integrator)
{
    expmid2_memory *memory = integrator->memory;
    tw_integrator_statistics before = integrator->counts;
    tw_status status = tw_implicit_restore(memory->implicit);
    integrator->counts = before;
    return status;
}

const tw_scheme_table tw_scheme_expmid2 = {.reserve = expmid2_reserve,
                                           .release = expmid2_release,
                                           .reset = expmid2_reset,
                                           .attempt = expmid2_attempt,
                                           .accepted = expmid2_accepted,
                                           .interpolate = expmid2_interpolate,
                                           .history = expmid2_past,
                                           .restored = expmid2_restored,
                                           .energy_state = expmid2_energy_state,
                                           .error_order = 2,
                                           .equal_steps = true};
