/* One solution of the stage of expmid2. */
#include "integrators/expmid2.h"

#include <math.h>

#include "base/fail.h"
#include "linalg/vector.h"

/* The tangent is made anew at the stage where the strain energy between the two points exceeds
 * this share of the kinetic energy. Measured on the coil: 1e-9 gives the same errors at twice the
 * factorisations, and 1e-3 the same at a twentieth more of them than 1e-2. */
static const double frame_tolerance = 1e-2;

/* Where sigma beta, the damping of an element beside its stiffness in Newton's matrix, exceeds this,
 * or dashpots beyond beta K do so beside the mass, the matrix has the damping as it is. Below, beta K stands for it, geometric stiffness included:
 * then one factor serves the functions of A as well. Measured on a free box with beta = 500 h: 11
 * iterations per step instead of 250; on four links of which one has a dashpot of h c/m = 0.2: 5
 * instead of 16. */
static const double strong_damping = 0.5;
static const double strong_dashpots = 0.05;

/* Newton's iteration may stall this close to a solution, beside the way of a step, where steps are
 * fixed. Adaptive steps become smaller instead. Measured on sheets of 20 x 20 to 80 x 80 particles:
 * steps that would fail end within 0.1 % to 1 %. */
static const double stalled_tolerance = 2e-2;

/* The last correction of a stage that buckles, beside the way of a step, where steps are fixed. Measured on
 * a sheet of 20 x 20 particles that hangs by two corners, at 16 ms: it is 1.3 cm (rms) from rk4 after
 * 1 s and 3.2 to 3.9 cm after 1.5 s, whether this is 1e-5, 1e-4, 1e-3, 3e-3 or 1e-2. */
static const double buckled_tolerance = 3e-3;

/* |x| in the mass norm. */
tw_status tw_expmid2_norm(tw_integrator *integrator, const double *x, double *norm)
{
    const tw_second_order_problem *problem = &integrator->system.second;
    double square = 0;
    tw_status status = tw_vector_weighted_dot(&problem->space, problem->lumped_mass, x, x, &square);
    *norm = sqrt(square);
    return status;
}

/* Where beta is this share of the step, kappa is 3/4, the mean of its two values. Measured on a free
 * box of E = 1e5, beta = h/20, h = 0.02: the angular momentum changes by 0.6 % in 2 s with a share of
 * 0.1, by 0.09 % with 0.02. */
static const double settling_share = 0.02;

double tw_expmid2_kappa(const tw_integrator *integrator, double h)
{
    if (integrator->options.expmid2.corrections == 0) return 1;
    double ratio = integrator->system.pair.rayleigh_stiffness / (settling_share * h);
    return 1 - 0.5 * ratio * ratio / (1 + ratio * ratio);
}

/* x_star = x_n + t v_n + c, and v_star = v_n + (2/t) c. */
void tw_expmid2_set_target(const tw_integrator *integrator, tw_expmid2_memory *memory)
{
    int64_t n = integrator->system.n;
    tw_vector_copy(n, integrator->u + n, memory->v_star);
    if (memory->has_shift) tw_vector_axpy(n, 4 / memory->h, memory->shift, memory->v_star);

    tw_vector_copy(n, integrator->u, memory->x_star);
    tw_vector_axpy(n, 0.5 * memory->h, integrator->u + n, memory->x_star);
    if (memory->has_shift) tw_vector_axpy(n, 1.0, memory->shift, memory->x_star);
}

/* The first guess of x_m: x_star + t^2 (2 a_l - a_b), the accelerations of the last step and of the
 * one before it extrapolated. Where they differ much, elements turn, and the target x_star itself
 * is the better guess. */
tw_status tw_expmid2_guess_stage(tw_integrator *integrator, tw_expmid2_memory *memory)
{
    int64_t n = integrator->system.n;
    double t = 0.5 * memory->h;
    const tw_expmid2_history *history = tw_expmid2_history_of(memory);
    const double *last = tw_expmid2_last(integrator, 1);
    double *change = memory->work;
    tw_vector_copy(n, memory->x_star, memory->x_m);
    bool equal_steps = fabs(history->h - memory->h) <= 1e-9 * memory->h &&
                       fabs(history->h_before - memory->h) <= 1e-9 * memory->h;
    if (!equal_steps) return TW_OK;

    double size = 0;
    double change_size = 0;
    tw_vector_copy(n, last, change);
    tw_vector_axpy(n, -1.0, tw_expmid2_last(integrator, 3), change);
    TW_TRY(tw_expmid2_norm(integrator, last, &size));
    TW_TRY(tw_expmid2_norm(integrator, change, &change_size));
    if (change_size > size) return TW_OK;
    tw_vector_axpy(n, memory->kappa * t * t, last, memory->x_m);
    tw_vector_axpy(n, memory->kappa * t * t, change, memory->x_m);
    return TW_OK;
}

/* The stage equation of this step. */
static tw_stage stage_of(const tw_integrator *integrator, const tw_expmid2_memory *memory)
{
    const tw_system *system = &integrator->system;
    double t = 0.5 * memory->h;
    bool has_error = integrator->options.relative_tolerance > 0;
    return (tw_stage){.t = integrator->t + t,
                      .gamma = memory->kappa * t * t,
                      .sigma = tw_expmid2_bend(integrator) / t,
                      .x_star = memory->x_star,
                      .v_star = system->second.velocity_dependent ? memory->v_star : NULL,
                      .x = memory->x_m,
                      .scale = memory->h * memory->start_speed,
                      .tolerance = memory->stage_tolerance,
                      .max_iterations = integrator->options.newton.max_iterations,
                      .stalled_tolerance = has_error ? 0 : stalled_tolerance,
                      .buckled_tolerance = has_error ? 0 : buckled_tolerance,
                      .keeps_dear_factor = true};
}

/* Whether the tangent at hand, made at an iterate before x_m, is too far from x_m. Unresolved modes
 * are reflected in its frame, so the way between the two points appears in them as a strain, of
 * energy way^T K way, to be compared with the kinetic energy. */
static tw_status frame_is_off(tw_integrator *integrator, tw_expmid2_memory *memory, bool *off)
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

/* rate = a_t at (x_m, v_m). */
static tw_status find_rate(tw_integrator *integrator, tw_expmid2_memory *memory)
{
    int64_t n = integrator->system.n;
    double *u = memory->change;
    double *u_t = memory->work;
    tw_vector_copy(n, memory->x_m, u);
    tw_vector_copy(n, memory->v_m, u + n);
    TW_TRY(tw_system_time_derivative(&integrator->system, memory->t_m, u, u_t));
    tw_vector_copy(n, u_t + n, memory->rate);
    return TW_OK;
}

/* rest = r = the time derivative, along the parabola at the midpoint, of what the linear model
 * leaves out:
 *     -M^-1 (K v_m + D a_p) + M^-1 S (v_m + beta a_p) + alpha a_p,
 * with S the symmetric stand-in of K, and alpha M + beta S that of D. */
static tw_status find_rest(tw_integrator *integrator, tw_expmid2_memory *memory)
{
    tw_system *system = &integrator->system;
    int64_t n = system->n;
    /* force = S (v_m + beta a_p) - K v_m - D a_p. */
    double *force = memory->change;
    double *part = memory->change + n;
    double *moved = memory->work;
    tw_vector_copy(n, memory->v_m, moved);
    tw_vector_axpy(n, system->pair.rayleigh_stiffness, memory->bend, moved);
    TW_TRY(tw_system_stiffness(system, 1, moved, force));
    TW_TRY(system->second.apply_stiffness(system->second.context, 1, memory->v_m, part));
    tw_vector_axpy(n, -1.0, part, force);
    if (system->second.apply_damping) {
        TW_TRY(system->second.apply_damping(system->second.context, 1, memory->bend, part));
        tw_vector_axpy(n, -1.0, part, force);
    }

    /* r = M^-1 force + alpha a_p. */
    TW_TRY(tw_system_mass_solve(system, force, memory->rest));
    tw_vector_axpy(n, system->pair.rayleigh_mass, memory->bend, memory->rest);
    return TW_OK;
}

/* a_m = (x_m - x_star) / t^2 of the stage that was just solved, and the parabola that starts at x_n
 * with v_n and passes x_m in the middle of the step:
 *     a_p = 2 (x_m - x_n - t v_n) / t^2 = 2 (a_m + c / t^2),   v_m = v_n + t a_p.
 * Both belong to the slow motion, also in an unresolved mode: an element that turns by an angle
 * theta until x_m has no speed along itself there, while v_n + t a_m would stretch it by theta/2
 * times its speed, which the damping of a stiff element takes for a large force. (Without the
 * symmetric stage, c = 0, the parabola would be wrong for resolved modes: then a_p = a_m.) */
static void find_parabola(const tw_integrator *integrator, tw_expmid2_memory *memory)
{
    int64_t n = integrator->system.n;
    double t = 0.5 * memory->h;
    tw_vector_copy(n, tw_implicit_way(memory->implicit), memory->a_m);
    tw_vector_scale(n, 1 / (memory->kappa * t * t), memory->a_m);

    tw_vector_copy(n, memory->a_m, memory->bend);
    tw_vector_scale(n, memory->kappa, memory->bend);
    if (memory->has_shift) tw_vector_axpy(n, 1 / (t * t), memory->shift, memory->bend);
    tw_vector_scale(n, tw_expmid2_bend(integrator), memory->bend);
    tw_vector_copy(n, integrator->u + n, memory->v_m);
    tw_vector_axpy(n, t, memory->bend, memory->v_m);
}

/* Solves the stage from x_m's guess; then a_m, v_m, the tangent and the rate there. */
tw_status tw_expmid2_solve_stage(tw_integrator *integrator, tw_expmid2_memory *memory, bool final)
{
    double t = 0.5 * memory->h;
    tw_stage stage = stage_of(integrator, memory);
    const tw_system *system = &integrator->system;
    bool damped = stage.sigma * system->pair.rayleigh_stiffness > strong_damping ||
                  t * system->second.symmetric_part.rest_rate > strong_dashpots;

    /* Strong damping magnifies what Newton's iteration leaves. */
    stage.damping_in_matrix = damped;
    if (damped) {
        stage.tolerance = integrator->options.newton.tolerance;
        stage.buckled_tolerance = 0;
    }
    tw_stage_result result;
    TW_TRY(tw_implicit_solve(memory->implicit, &stage, &result));

    find_parabola(integrator, memory);

    /* Speeds beside which errors count. */
    TW_TRY(tw_expmid2_norm(integrator, memory->a_m, &memory->acceleration));
    memory->speed = memory->start_speed + t * memory->acceleration;

    /* Functions of A need M + g K at the stage: a matrix without damping, and not far from x_m. */
    stage.damping_in_matrix = false;
    bool off = damped;
    if (final && !damped) TW_TRY(frame_is_off(integrator, memory, &off));
    if (off) TW_TRY(tw_implicit_renew(memory->implicit, &stage));
    if (memory->has_rate) TW_TRY(find_rate(integrator, memory));
    if (memory->has_rest) TW_TRY(find_rest(integrator, memory));
    return TW_OK;
}
