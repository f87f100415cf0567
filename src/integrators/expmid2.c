/* expmid2: exponential where the step resolves the motion, time-symmetric where it does not (docs/schemes.md derives
 * it).
 *
 * One step of size h from (x_n, v_n), t = h/2:
 *   1. the implicit-midpoint stage x_m = x_n + t v_n + t^2 a(x_m); then a_m = (x_m - x_n - t v_n)/t^2, and A is the
 * tangent of Newton's last factorisation. Nothing is ever evaluated at x_n: off the slow manifold stiff forces mislead.
 *   2. functions of A, a filter among them, of v_n and a_m alone (expmid2_modes.h): x_n - x_m = -(t v_n + t^2 a_m)
 * needs no start vector of its own. Both are smoothed once by (I + t^2 A)^-1 before shift-invert Lanczos, whose pole is
 * Newton's own matrix M + t^2 K. Estimate: the remainder of this step's model at the last step's midpoint, both on the
 * slow manifold, filtered like the step; the remainder grows with the square of the distance from the midpoint. */
#include <math.h>

#include "base/allocate.h"
#include "base/fail.h"
#include "integrators/expmid2_modes.h"
#include "integrators/implicit_stage.h"
#include "integrators/integrator_internal.h"
#include "linalg/vector.h"

enum { VECTORS = 10, SMALL = 64, CHEAP = 3000 };

typedef struct expmid2_memory {
    tw_implicit *implicit;
    tw_phi_workspace *workspace;
    tw_phi_options phi;
    double *x_star, *x_m, *a_m; /* of this step */
    double *last; /* x_m and a_m of the last accepted step (2 N), then three numbers: the history */
    double *remainder;          /* of this step's model at the last midpoint */
    double *change;             /* filtered changes of x and v (size entries) */
    double *work;               /* size entries */
    double *start_v;            /* v_n of the step the basis belongs to */
    double h;                   /* of this step */
    double slow;                /* |v_n| / |a_m|: the time in which the motion changes */
    double speed, acceleration; /* |v_n| + h/2 |a_m|, |a_m| */
    int start_count;            /* vectors of the basis at hand */
    double *storage;
} expmid2_memory;

/* The numbers behind the two vectors in `last`. */
typedef struct expmid2_history {
    double h;        /* of the last accepted step; 0: none */
    double shift;    /* g of the factor at hand; 0: none */
    double linear_t; /* time of its linearisation; its point follows in the array (size entries) */
} expmid2_history;

static expmid2_history *numbers_of(const expmid2_memory *memory, int64_t n)
{
    return (expmid2_history *)(memory->last + 2 * n);
}

enum { HISTORY_NUMBERS = sizeof(expmid2_history) / sizeof(double) };

static size_t history_size(const tw_integrator *integrator)
{
    return (size_t)(2 * integrator->system.n + HISTORY_NUMBERS + integrator->system.size);
}

static tw_phi_engine choose_engine(const tw_integrator *integrator)
{
    tw_phi_engine engine = integrator->options.phi.engine;
    if (engine != TW_PHI_AUTO) return engine;
    if (integrator->system.n <= SMALL) return TW_PHI_DENSE;
    return integrator->options.newton.linear_solver == TW_LINEAR_PCG ? TW_PHI_LANCZOS
                                                                     : TW_PHI_SHIFT_INVERT;
}

/* While the last step's linear model is wrong by less, of the step, its tangent and factor serve this step as well. */
static const double nearly_linear = 1e-4;

/* More than this of shift-invert is beyond a scheme of order two, and costs it: its error falls slowly. Who wants it
 * names the engine. */
static const double enough_digits = 1e-5;

static tw_status create_parts(tw_integrator *integrator, expmid2_memory *memory, tw_error *error)
{
    memory->phi = integrator->options.phi;
    memory->phi.engine = choose_engine(integrator);
    if (integrator->options.phi.engine == TW_PHI_AUTO && memory->phi.engine == TW_PHI_SHIFT_INVERT)
        memory->phi.tolerance = fmax(memory->phi.tolerance, enough_digits);
    if (memory->phi.engine != TW_PHI_DENSE && memory->phi.engine != TW_PHI_LANCZOS &&
        memory->phi.engine != TW_PHI_CHEBYSHEV && memory->phi.engine != TW_PHI_SHIFT_INVERT)
        return tw_fail(error, TW_UNSUPPORTED,
                       "expmid2 needs functions of a symmetric operator: phi engine auto, dense, "
                       "lanczos, chebyshev or shift-invert, not %s",
                       tw_phi_engine_name(memory->phi.engine));
    tw_phi_limits limits = tw_phi_limits_default();
    limits.size = integrator->system.n;
    limits.options = memory->phi;
    tw_status status = tw_implicit_create(
        &integrator->system, integrator->options.newton.linear_solver, &memory->implicit, error);
    if (status == TW_OK && memory->phi.engine == TW_PHI_SHIFT_INVERT)
        status = tw_system_need_shifted(&integrator->system, error);
    return status ? status : tw_phi_workspace_create(&limits, &memory->workspace, error);
}

static tw_status expmid2_reserve(tw_integrator *integrator, tw_error *error)
{
    expmid2_memory *memory = integrator->memory = TW_NEW(expmid2_memory);
    if (!memory) return tw_fail_plain(error, TW_OUT_OF_MEMORY);
    int64_t n = integrator->system.n;
    memory->storage = tw_allocate_zeroed((size_t)(VECTORS * n), sizeof(double));
    memory->last = tw_allocate_zeroed(history_size(integrator), sizeof(double));
    if (!memory->storage || !memory->last) return tw_fail_plain(error, TW_OUT_OF_MEMORY);
    double **single[] = {&memory->x_star, &memory->x_m, &memory->a_m, &memory->remainder,
                         &memory->start_v};
    for (int i = 0; i < 5; i++) *single[i] = memory->storage + i * n;
    memory->change = memory->storage + 5 * n;
    memory->work = memory->storage + 7 * n;
    return create_parts(integrator, memory, error);
}

static void expmid2_release(tw_integrator *integrator)
{
    expmid2_memory *memory = integrator->memory;
    if (!memory) return;
    tw_implicit_free(memory->implicit);
    tw_phi_workspace_free(memory->workspace);
    tw_release(memory->storage);
    tw_release(memory->last);
    tw_release(memory);
    integrator->memory = NULL;
}

static void expmid2_reset(tw_integrator *integrator)
{
    expmid2_memory *memory = integrator->memory;
    *numbers_of(memory, integrator->system.n) = (expmid2_history){0};
    tw_implicit_reset(memory->implicit);
}

/* |v_n| and |a| in the mass norm. */
static tw_status speeds(tw_integrator *integrator, const double *a, double *speed,
                        double *acceleration)
{
    const tw_space *space = &integrator->system.second.space;
    const double *mass = integrator->system.second.lumped_mass,
                 *v = integrator->u + integrator->system.n;
    double vv = 0, aa = 0;
    tw_status status = tw_vector_weighted_dot(space, mass, v, v, &vv);
    if (status == TW_OK) status = tw_vector_weighted_dot(space, mass, a, a, &aa);
    *speed = sqrt(vv);
    *acceleration = sqrt(aa);
    return status;
}

/* |h v_n| + |t^2 a|: the displacement Newton's corrections are measured by. */
static tw_status displacement(tw_integrator *integrator, const double *a, double h, double *size)
{
    double speed = 0, acceleration = 0;
    tw_status status = speeds(integrator, a, &speed, &acceleration);
    *size = h * speed + 0.25 * h * h * acceleration;
    return status;
}

/* Whether the tangent, made at an iterate before x_m, is too far from x_m: unresolved modes are reflected in its frame,
 * so the way between the two, w, appears in them as a strain of energy w^T K w, to be compared with the kinetic energy.
 */
static tw_status frame_is_off(tw_integrator *integrator, expmid2_memory *memory, double speed,
                              bool *off)
{
    tw_system *system = &integrator->system;
    int64_t n = system->n;
    *off = false;
    if (n > CHEAP) return TW_OK; /* measured on the coil: not worth a factorisation */
    double strain = 0, *way = memory->work, *force = memory->work + n;
    tw_vector_copy(n, memory->x_m, way);
    tw_vector_axpy(n, -1.0, system->linear_u, way);
    tw_status status = tw_system_stiffness(system, 1, way, force);
    if (status == TW_OK) status = tw_vector_dot(&system->second.space, way, force, &strain);
    *off = strain > 1e-9 * speed * speed;
    return status;
}

/* x_m's first guess by its past: x_n + t v_n + t^2 a_m with the last step's a_m is off by -h t^2 x''', that step's x_m
 * carried on by v_n by two thirds of it where the steps are equal. Three times the second minus twice the first is off
 * by t^4; and since the two agree in unresolved modes, whose v_n alternates, that does not amplify them. */
static void extrapolate_stage(const tw_integrator *integrator, const expmid2_memory *memory,
                              double h, double *x)
{
    int64_t n = integrator->system.n;
    double t = 0.5 * h;
    bool equal = fabs(numbers_of(memory, n)->h - h) <= 1e-9 * h;
    tw_vector_axpy(n, t * t, memory->last + n, x);
    if (!equal) return;
    tw_vector_scale(n, -2.0, x);
    tw_vector_axpy(n, 3.0, memory->last, x);
    tw_vector_axpy(n, 3 * h, integrator->u + n, x);
}

/* x_m's guess by the last step's linear model, whose a_m and factor are known: x = x_m + (M + t^2 K)^-1 M (x_star + t^2
 * a_m - x_m), a solve and no force. */
static tw_status linear_guess(tw_integrator *integrator, expmid2_memory *memory,
                              const tw_stage *stage, double *x)
{
    int64_t n = integrator->system.n;
    double *r = memory->change, *force = memory->change + n;
    tw_vector_copy(n, stage->x_star, r);
    tw_vector_axpy(n, stage->gamma, memory->last + n, r);
    tw_vector_axpy(n, -1.0, memory->last, r);
    tw_status status = tw_system_mass(&integrator->system, r, force);
    if (status == TW_OK)
        status = tw_implicit_linear_solve(memory->implicit, stage->gamma, force, x);
    tw_vector_axpy(n, 1.0, memory->last, x);
    return status;
}

/* The better guess: extrapolation where bodies rotate, the linear model where they hardly deform or where the step
 * resolves nothing. There the factor may serve on. */
static tw_status guess_stage(tw_integrator *integrator, expmid2_memory *memory, double h,
                             tw_stage *stage)
{
    int64_t n = integrator->system.n;
    double far = INFINITY, near = INFINITY, *other = memory->work, *residual = memory->work + n;
    extrapolate_stage(integrator, memory, h, stage->x);
    bool own_pole = memory->phi.engine == TW_PHI_SHIFT_INVERT && memory->phi.pole != 0;
    if (own_pole || !tw_implicit_at_hand(memory->implicit, stage->gamma)) return TW_OK;
    tw_status status = linear_guess(integrator, memory, stage, other);
    if (status == TW_OK)
        status = tw_implicit_residual(memory->implicit, stage, other, residual, &near);
    if (status == TW_OK)
        status = tw_implicit_residual(memory->implicit, stage, stage->x, memory->remainder, &far);
    if (status != TW_OK && !tw_status_is_rejection(status)) return status;
    if (near < far) {
        tw_vector_copy(n, other, stage->x);
        tw_vector_copy(n, residual, memory->remainder);
        stage->near = nearly_linear;
    }
    if (isfinite(near) || isfinite(far)) stage->residual = memory->remainder;
    return TW_OK;
}

/* One point of the path below, from the one before (at s_before) and the one at hand (at s), both in memory->change. */
static tw_status path_point(tw_integrator *integrator, expmid2_memory *memory, tw_stage *stage,
                            double s_before, double s, double target)
{
    int64_t n = integrator->system.n;
    const double *x = integrator->u, *v = x + n, *here = memory->change, *before = here + n;
    tw_vector_copy(n, x, memory->x_star);
    tw_vector_axpy(n, target, v, memory->x_star);
    tw_vector_copy(n, s > 0 ? here : memory->x_star, stage->x);
    if (s > 0) { /* the straight line through both */
        double ahead = (target - s) / (s - s_before);
        tw_vector_axpy(n, ahead, here, stage->x);
        tw_vector_axpy(n, -ahead, before, stage->x);
    }
    stage->t = integrator->t + target;
    stage->gamma = target * target;
    stage->sigma = 1 / target;
    stage->residual = NULL;
    tw_stage_result result;
    return tw_implicit_solve(memory->implicit, stage, &result);
}

/* Where Newton's iteration does not find x_m from the guess: along the path x(s) = x_n + s v_n + s^2 a(x(s)) from s =
 * 0, where it is known, to s = t. Each point is near the one before it; steps that fail are divided by four. */
static tw_status follow_stage(tw_integrator *integrator, expmid2_memory *memory, tw_stage *stage)
{
    int64_t n = integrator->system.n;
    double end = sqrt(stage->gamma), s = 0, s_before = 0, stride = 0.25 * end,
           *here = memory->change;
    tw_status status = TW_OK;
    stage->max_factorisations = stage->max_iterations = 12;
    stage->reuse = stage->good = stage->near = stage->farthest = 0;
    tw_vector_copy(n, integrator->u, here);
    while (s < end && stride > 1e-4 * end) {
        double target = s + stride < 0.99 * end ? s + stride : end;
        tw_implicit_reset(memory->implicit);
        status = path_point(integrator, memory, stage, s_before, s, target);
        if (status != TW_OK && !tw_status_is_rejection(status)) return status;
        stride *= status == TW_OK ? 2 : 0.25;
        if (status) continue;
        tw_vector_copy(n, here, here + n);
        tw_vector_copy(n, stage->x, here);
        s_before = s;
        s = target;
    }
    return s == end ? TW_OK : status;
}

/* Step 1: x_m and a_m. */
static tw_status find_stage(tw_integrator *integrator, expmid2_memory *memory, double h,
                            tw_error *error)
{
    tw_system *system = &integrator->system;
    int64_t n = system->n;
    double t = 0.5 * h, scale = 0;
    const double *x = integrator->u, *v = x + n;
    tw_vector_copy(n, x, memory->x_star);
    tw_vector_axpy(n, t, v, memory->x_star);
    tw_vector_copy(n, memory->x_star, memory->x_m);
    bool guess = numbers_of(memory, n)->h > 0;
    tw_status status = TW_OK;
    if (!guess)
        status = tw_system_acceleration(system, integrator->t + t, memory->x_star, v, memory->a_m);
    if (status == TW_OK)
        status = displacement(integrator, guess ? memory->last + n : memory->a_m, h, &scale);
    if (status) return status;
    tw_stage stage = {
        .t = integrator->t + t,
        .gamma = t * t,
        .sigma = 1 / t,
        .x_star = memory->x_star,
        .v_star = system->second.velocity_dependent ? v : NULL,
        .x = memory->x_m,
        .scale = scale > 0 ? scale : 1.0,
        .tolerance = n <= CHEAP ? integrator->options.newton.tolerance
                                : fmax(integrator->options.newton.tolerance, 1e-6),
        .max_iterations = integrator->options.newton.max_iterations,
        .max_factorisations = 2,
        .good = n <= CHEAP ? 0 : 1e-3, /* worse, and the frame of A is off: measured on the coil */
        .settled = 1e-4,
        .slowest = n <= CHEAP ? 0.3 : 3,
        .reuse = integrator->options.newton.reuse_factor,
        .farthest = n <= CHEAP ? 0 : 10,
        .line_search = false};
    tw_stage_result result;
    if (guess && n <= CHEAP) tw_vector_axpy(n, t * t, memory->last + n, memory->x_m);
    if (guess && n > CHEAP) status = guess_stage(integrator, memory, h, &stage);
    if (status == TW_OK) status = tw_implicit_solve(memory->implicit, &stage, &result);
    if (tw_status_is_rejection(status)) status = follow_stage(integrator, memory, &stage);
    bool off = false;
    if (status == TW_OK) status = frame_is_off(integrator, memory, scale / h, &off);
    if (status == TW_OK && off) status = tw_implicit_renew(memory->implicit, &stage);
    if (status) {
        integrator->newton_failed = true;
        return tw_fail(error, status, "the midpoint stage: %s", tw_status_text(status));
    }
    tw_vector_copy(n, tw_implicit_way(memory->implicit), memory->a_m);
    tw_vector_scale(n, 1 / (t * t), memory->a_m);
    return TW_OK;
}

/* remainder = s^2 [last_a_m - a_m + A (last_x_m - x_m)], s = half the step over the distance of the midpoints. */
static tw_status find_remainder(tw_integrator *integrator, expmid2_memory *memory, double h)
{
    tw_system *system = &integrator->system;
    int64_t n = system->n;
    double *between = memory->work, *force = memory->work + n;
    double s = h / (h + numbers_of(memory, n)->h);
    tw_vector_copy(n, memory->last, between);
    tw_vector_axpy(n, -1.0, memory->x_m, between);
    tw_status status = tw_system_stiffness(system, 1, between, force);
    if (status == TW_OK) status = tw_system_mass_solve(system, force, memory->remainder);
    tw_vector_axpy(n, 1.0, memory->last + n, memory->remainder);
    tw_vector_axpy(n, -1.0, memory->a_m, memory->remainder);
    tw_vector_scale(n, s * s, memory->remainder);
    return status;
}

static tw_mode_function mode_of(const tw_integrator *integrator, double h, double theta)
{
    const expmid2_memory *memory = integrator->memory;
    return (tw_mode_function){.h = h,
                              .slow = memory->slow,
                              .theta = theta,
                              .cutoff = integrator->options.expmid2.filter_cutoff,
                              .mu = integrator->options.expmid2.dissipation,
                              .alpha = integrator->system.pair.rayleigh_mass,
                              .beta = integrator->system.pair.rayleigh_stiffness};
}

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

static double estimate_value(const void *context, double lambda)
{
    return tw_mode_accumulating(context, lambda);
}

/* What the engine's error in the filtered remainder r counts beside. A thousandth of |a| is safe, but the remainder's
 * filter has its pole far from Newton's where steps are short, and r has all frequencies: the basis for that would be
 * many times the step's own. h/3 r is compared with the speed, so a twentieth of what would reject the step will do. */
static double estimate_reference(const tw_integrator *integrator, const expmid2_memory *memory,
                                 double h)
{
    const double *given = integrator->options.reference;
    double safe = 1e-3 * memory->acceleration;
    if (given[0] > 0 || given[1] > 0) return safe; /* who knows beside what the caller compares */
    return fmax(safe, 0.05 * tw_error_rejected(integrator) * memory->speed / (h / 3) /
                          memory->phi.tolerance);
}

/* Step 2: memory->change = the filtered parts of x and v at theta; with `estimates`, error_vector's upper half = chi r.
 */
static tw_status apply_modes(tw_integrator *integrator, expmid2_memory *memory, double h,
                             double theta, bool reuse, bool estimates, tw_error *error)
{
    int64_t n = integrator->system.n;
    tw_mode_function modes[4];
    for (int i = 0; i < 4; i++) {
        modes[i] = mode_of(integrator, h, theta);
        modes[i].velocity = i / 2 == 1;
        modes[i].from_a = i % 2 == 1;
    }
    tw_spectral_function value[4], none = {NULL, NULL}, filter = {estimate_value, &modes[0]};
    for (int i = 0; i < 4; i++) value[i] = (tw_spectral_function){tw_mode_value, &modes[i]};
    const tw_spectral_function functions[9] = {value[0], value[1], none, value[2], value[3],
                                               none,     none,     none, filter};
    const tw_spectral_function plain[4] = {value[0], value[1], value[2], value[3]};
    if (!reuse) memory->start_count = estimates ? 3 : 2;
    const double *starts[3] = {memory->start_v, memory->a_m, memory->remainder};
    double *outputs[3] = {memory->change, memory->change + n, integrator->error_vector};
    /* errors count beside the step: where all modes are unresolved, the filtered parts themselves are nothing */
    double reference[3] = {h * memory->speed, memory->speed,
                           estimate_reference(integrator, memory, h)};
    tw_spectral_request request = {.start_count = memory->start_count,
                                   .starts = starts,
                                   .output_count = estimates ? 3 : 2,
                                   .outputs = outputs,
                                   .functions = memory->start_count == 3 ? functions : plain,
                                   .reference = reference,
                                   .time = h,
                                   .smooth = true};
    tw_phi_options options = memory->phi;
    double shift = tw_implicit_factor_shift(memory->implicit);
    if (options.engine == TW_PHI_SHIFT_INVERT && options.pole == 0 && shift > 0)
        options.pole = sqrt(shift) / h;
    tw_status status = tw_phi_workspace_set_options(memory->workspace, &options);
    tw_phi_statistics statistics = {0};
    if (status == TW_OK)
        status = reuse ? tw_spectral_reuse(memory->workspace, &request, &statistics, error)
                       : tw_spectral_apply(memory->workspace, &integrator->system.pair, &request,
                                           &statistics, error);
    count(integrator, &statistics);
    return status == TW_ILL_CONDITIONED && statistics.estimated_error < 1e-3 ? TW_OK : status;
}

/* u = the path added by hand + the filtered change. */
static void compose(const tw_integrator *integrator, const expmid2_memory *memory, double h,
                    double theta, const double *u_start, double *u)
{
    int64_t n = integrator->system.n;
    const double *v = u_start + n;
    tw_mode_function f = mode_of(integrator, h, theta);
    tw_vector_copy(n, u_start, u);
    tw_vector_copy(n, memory->change + n, u + n);
    tw_vector_axpy(n, 1.0, memory->change, u);
    tw_vector_axpy(n, tw_mode_by_hand(&f), v, u);
    f.from_a = true;
    tw_vector_axpy(n, tw_mode_by_hand(&f), memory->a_m, u);
    f.velocity = true;
    tw_vector_axpy(n, tw_mode_by_hand(&f), memory->a_m, u + n);
    f.from_a = false;
    tw_vector_axpy(n, tw_mode_by_hand(&f), v, u + n);
}

/* error = (h^2/6, h/3) chi r: the parabola through r(-h/2) = r(h/2) = r, r(0) = 0, integrated over the step. */
static void estimate_from_remainder(tw_integrator *integrator, double h)
{
    int64_t n = integrator->system.n;
    tw_vector_copy(n, integrator->error_vector, integrator->error_vector + n);
    tw_vector_scale(n, h * h / 6, integrator->error_vector);
    tw_vector_scale(n, h / 3, integrator->error_vector + n);
}

/* The first step has no earlier midpoint: its difference from the midpoint rule, an error of the same order. */
static void estimate_from_midpoint(tw_integrator *integrator, const expmid2_memory *memory,
                                   double h)
{
    int64_t n = integrator->system.n;
    double *e = integrator->error_vector;
    tw_vector_copy(2 * n, integrator->u_new, e);
    tw_vector_axpy(2 * n, -1.0, integrator->u, e);
    tw_vector_axpy(n, -h, integrator->u + n, e);
    tw_vector_axpy(n, -0.5 * h * h, memory->a_m, e);
    tw_vector_axpy(n, -h, memory->a_m, e + n);
}

/* How far the stage is from being the reversed step's too: |x_new - t v_new + t^2 a_m - x_m| / |h v|. */
static tw_status measure_asymmetry(tw_integrator *integrator, expmid2_memory *memory, double h)
{
    int64_t n = integrator->system.n;
    const tw_space *space = &integrator->system.second.space;
    double t = 0.5 * h, *gap = memory->work, size = 0, scale = 0;
    tw_vector_copy(n, integrator->u_new, gap);
    tw_vector_axpy(n, -t, integrator->u_new + n, gap);
    tw_vector_axpy(n, t * t, memory->a_m, gap);
    tw_vector_axpy(n, -1.0, memory->x_m, gap);
    tw_status status = tw_vector_norm(space, gap, &size);
    if (status == TW_OK) status = displacement(integrator, memory->a_m, h, &scale);
    integrator->counts.asymmetry = scale > 0 ? size / scale : 0;
    return status;
}

static tw_status expmid2_attempt(tw_integrator *integrator, double h, tw_error *error)
{
    expmid2_memory *memory = integrator->memory;
    int64_t n = integrator->system.n;
    bool adaptive = integrator->options.relative_tolerance > 0;
    bool estimates = adaptive && numbers_of(memory, n)->h > 0;
    memory->h = h;
    tw_status status = find_stage(integrator, memory, h, error);
    if (status == TW_OK && estimates) status = find_remainder(integrator, memory, h);
    if (status == TW_OK)
        status = speeds(integrator, memory->a_m, &memory->speed, &memory->acceleration);
    memory->slow = memory->acceleration > 0 ? memory->speed / memory->acceleration : 0;
    memory->speed += 0.5 * h * memory->acceleration; /* of a start from rest, too */
    tw_vector_copy(n, integrator->u + n, memory->start_v);
    if (status == TW_OK) status = apply_modes(integrator, memory, h, 1.0, false, estimates, error);
    if (status) return status;
    compose(integrator, memory, h, 1.0, integrator->u, integrator->u_new);
    if (estimates)
        estimate_from_remainder(integrator, h);
    else
        estimate_from_midpoint(integrator, memory, h);
    integrator->has_error = adaptive;
    return measure_asymmetry(integrator, memory, h);
}

/* The midpoint, v_m = v_n + t a_m: on the slow manifold. */
static const double *expmid2_energy_state(tw_integrator *integrator)
{
    expmid2_memory *memory = integrator->memory;
    int64_t n = integrator->system.n;
    tw_vector_copy(n, memory->x_m, memory->work);
    tw_vector_copy(n, memory->start_v, memory->work + n);
    tw_vector_axpy(n, 0.5 * memory->h, memory->a_m, memory->work + n);
    return memory->work;
}

static void expmid2_accepted(tw_integrator *integrator, double h)
{
    expmid2_memory *memory = integrator->memory;
    const tw_system *system = &integrator->system;
    int64_t n = system->n;
    tw_vector_copy(n, memory->x_m, memory->last);
    tw_vector_copy(n, memory->a_m, memory->last + n);
    expmid2_history *numbers = numbers_of(memory, n);
    *numbers = (expmid2_history){
        .h = h, .shift = tw_implicit_factor_shift(memory->implicit), .linear_t = system->linear_t};
    tw_vector_copy(system->size, system->linear_u, memory->last + 2 * n + HISTORY_NUMBERS);
}

static tw_status expmid2_interpolate(tw_integrator *integrator, double theta, double *u)
{
    expmid2_memory *memory = integrator->memory;
    double h = integrator->step_taken;
    tw_status status = apply_modes(integrator, memory, h, theta, true, false, NULL);
    if (status == TW_UNSUPPORTED || status == TW_NOT_CONVERGED)
        status = apply_modes(integrator, memory, h, theta, false, false, NULL);
    if (status == TW_OK) compose(integrator, memory, h, theta, integrator->u_old, u);
    return status;
}

static size_t expmid2_keep(tw_integrator *integrator, double **values)
{
    *values = ((expmid2_memory *)integrator->memory)->last;
    return history_size(integrator);
}

/* The factor at hand is part of the future where it may be kept, or helps to guess. */
static tw_status expmid2_restored(tw_integrator *integrator)
{
    expmid2_memory *memory = integrator->memory;
    int64_t n = integrator->system.n;
    const expmid2_history *numbers = numbers_of(memory, n);
    if ((integrator->options.newton.reuse_factor == 0 && n <= CHEAP) || numbers->shift == 0)
        return TW_OK;
    const double *point = memory->last + 2 * n + HISTORY_NUMBERS;
    tw_status status = tw_system_linearise(&integrator->system, numbers->linear_t, point, NULL);
    tw_vector_fill(n, 0.0, memory->work);
    return status ? status
                  : tw_implicit_linear_solve(memory->implicit, numbers->shift, memory->work,
                                             memory->work + n);
}

const tw_scheme_table tw_scheme_expmid2 = {.reserve = expmid2_reserve,
                                           .release = expmid2_release,
                                           .reset = expmid2_reset,
                                           .attempt = expmid2_attempt,
                                           .accepted = expmid2_accepted,
                                           .interpolate = expmid2_interpolate,
                                           .history = expmid2_keep,
                                           .restored = expmid2_restored,
                                           .energy_state = expmid2_energy_state,
                                           .error_order = 2,
                                           .equal_steps = true};
