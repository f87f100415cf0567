#include "integrators/implicit_internal.h"

#include <float.h>
#include <math.h>

#include "base/allocate.h"
#include "base/fail.h"
#include "linalg/vector.h"

/* A correction larger than this, relative to the displacement of the step, changes the tangent too
 * much: the factor that made it does not serve again, and one of an earlier solution is not trusted
 * at all. */
static const double far_correction = 1e-2;

/* A change that turns no element by more than this [rad] leaves the tangent as it is, however large it is beside the
 * displacement of the step. */
static const double negligible_turn = 1e-4;

/* Conjugate gradients leave this relative residual where a solution is final. */
static const double final_residual = 1e-12;

/* In Newton's iteration they leave the tolerance of the iteration times this: the next correction
 * mends the rest. It is at most `largest_residual`. Measured on the flag: 0.1 takes a sixth fewer
 * products and half as many iterations again, each of which costs as much as 40 products. */
static const double residual_per_tolerance = 10;
static const double largest_residual = 0.03;

/* The state of one iteration. */
typedef struct newton_state {
    double g, divisor;   /* Newton's matrix is divisor (M + g K) */
    double displacement; /* scale + |x - x_star| */
    double rounding;     /* |dx| that is as good as none */
    double enough;       /* |dx| at which the iteration ends */
    double size;         /* |dx| of this iteration */
    double contraction;  /* that over the one before */
    double residual;     /* |gamma a - way| */
    int uses;            /* corrections made with the factor at hand, in this solution */
    bool factor_is_old;  /* the factor was made for an earlier solution */
    bool has_secant;     /* the correction before this one was made with the same factor */
    bool far; /* the last correction changes the tangent too much for its factor to serve again */
    bool line_search;
    bool buckles; /* the exact matrix is of no use this close to the solution */
} newton_state;

static int64_t tensions_of(const tw_system *system)
{
    return system->second_order ? system->second.tension.count : 0;
}

size_t tw_implicit_past_size(const tw_system *system)
{
    return (size_t)(2 * tensions_of(system) + system->size + TW_LINEAR_RECORD_SIZE);
}

static tw_status allocate(tw_implicit *implicit)
{
    int64_t n = implicit->system->n;
    double **vectors[] = {&implicit->a,          &implicit->v,
                          &implicit->residual,   &implicit->force,
                          &implicit->way,        &implicit->trial_way,
                          &implicit->last_step,  &implicit->last_correction,
                          &implicit->correction, &implicit->first_guess};
    enum { COUNT = sizeof vectors / sizeof *vectors };
    implicit->storage = TW_NEW_ARRAY(COUNT * n + 3 * implicit->tension_count, double);
    if (!implicit->storage) return TW_OUT_OF_MEMORY;

    for (int i = 0; i < COUNT; i++) *vectors[i] = implicit->storage + i * n;
    implicit->iterate = implicit->storage + COUNT * n;
    implicit->predicted = implicit->iterate + implicit->tension_count;
    implicit->turn = implicit->predicted + implicit->tension_count;
    return TW_OK;
}

tw_status tw_implicit_create(tw_system *system, tw_linear_solver solver, double *past,
                             tw_implicit **out, tw_error *error)
{
    *out = NULL;
    tw_implicit *implicit = TW_NEW(tw_implicit);
    if (!implicit) return tw_fail_plain(error, TW_OUT_OF_MEMORY);

    implicit->system = system;
    implicit->solver = solver;
    implicit->parts_pattern = -1;
    implicit->tension_count = tensions_of(system);
    implicit->tension = past;
    implicit->linear_tension = past + implicit->tension_count;
    implicit->linear_u = implicit->linear_tension + implicit->tension_count;
    implicit->linear = (tw_linear_record *)(implicit->linear_u + system->size);
    tw_system_use_symmetric_part(system);
    tw_status status = allocate(implicit);
    if (status != TW_OK) tw_fail_plain(error, status);
    if (status == TW_OK) status = tw_stage_matrix_create(system, solver, &implicit->matrix, error);
    if (status != TW_OK) {
        tw_implicit_free(implicit);
        return status;
    }
    *out = implicit;
    return TW_OK;
}

void tw_implicit_free(tw_implicit *implicit)
{
    if (!implicit) return;
    tw_stage_matrix_free(implicit->matrix);
    tw_part_newton_free(implicit->parts);
    tw_release(implicit->storage);
    tw_release(implicit);
}

void tw_implicit_forget_matrix(tw_implicit *implicit)
{
    tw_stage_matrix_forget(implicit->matrix);
    *implicit->linear = (tw_linear_record){0};
}

void tw_implicit_reset(tw_implicit *implicit)
{
    tw_implicit_forget_matrix(implicit);
    tw_vector_fill(implicit->tension_count, 0.0, implicit->tension);
}

const double *tw_implicit_linear_point(const tw_implicit *implicit)
{
    return implicit->linear_u;
}

const double *tw_implicit_way(const tw_implicit *implicit)
{
    return implicit->way;
}

double tw_implicit_factor_shift(const tw_implicit *implicit)
{
    return tw_stage_matrix_shift(implicit->matrix);
}

/* Whether conjugate gradients work with a matrix in which compressed elements count as slack. */
static bool is_clipped_for_gradients(const tw_implicit *implicit)
{
    return implicit->solver == TW_LINEAR_PCG && implicit->linear->clipped != 0;
}

bool tw_implicit_is_exact(const tw_implicit *implicit)
{
    return tw_stage_matrix_is_exact(implicit->matrix) && !is_clipped_for_gradients(implicit) &&
           tw_part_newton_is_exact(implicit->parts);
}

/* <x, y>_M. */
static tw_status mass_dot(tw_implicit *implicit, const double *x, const double *y, double *dot)
{
    tw_system *system = implicit->system;
    if (!system->second_order) return tw_vector_dot(&system->first.space, x, y, dot);

    const tw_space *space = &system->second.space;
    if (!system->second.mass)
        return tw_vector_weighted_dot(space, system->second.lumped_mass, x, y, dot);
    tw_status status = tw_system_mass(system, x, implicit->force);
    if (status != TW_OK) return status;
    return tw_vector_dot(space, implicit->force, y, dot);
}

tw_status tw_implicit_norm(tw_implicit *implicit, const double *x, double *norm)
{
    double square = 0;
    tw_status status = mass_dot(implicit, x, x, &square);
    *norm = sqrt(square);
    return status;
}

tw_status tw_implicit_linear_solve(tw_implicit *implicit, double g, const double *in, double *out)
{
    if (tw_stage_matrix_shift(implicit->matrix) != g) {
        *implicit->linear = (tw_linear_record){0};
        tw_status status = tw_stage_matrix_prepare_raised(implicit->matrix, g);
        if (status != TW_OK) return status;
    }
    return tw_stage_matrix_solve(implicit->matrix, final_residual, in, out);
}

/* implicit->v = v_star + sigma (x - x_star), the velocity that belongs to x. */
static void set_velocity(tw_implicit *implicit, const tw_stage *stage, const double *way)
{
    int64_t n = implicit->system->n;
    if (!stage->v_star) {
        tw_vector_fill(n, 0.0, implicit->v);
        return;
    }
    tw_vector_copy(n, stage->v_star, implicit->v);
    tw_vector_axpy(n, stage->sigma, way, implicit->v);
}

tw_status tw_implicit_evaluate(tw_implicit *implicit, const tw_stage *stage, const double *x,
                               const double *way)
{
    tw_system *system = implicit->system;
    set_velocity(implicit, stage, way);
    tw_status status = system->second_order
                           ? tw_system_acceleration(system, stage->t, x, implicit->v, implicit->a)
                           : tw_system_rhs(system, stage->t, x, implicit->a);
    if (status != TW_OK) return status;

    tw_vector_copy(system->n, way, implicit->residual);
    tw_vector_axpby(system->n, stage->gamma, implicit->a, -1.0, implicit->residual);
    return TW_OK;
}

/* The same, and the mass norm of the residual. */
static tw_status find_residual(tw_implicit *implicit, const tw_stage *stage, const double *x,
                               const double *way, double *size)
{
    TW_TRY(tw_implicit_evaluate(implicit, stage, x, way));
    return tw_implicit_norm(implicit, implicit->residual, size);
}

/* x = x_star + way. */
static void point_at(int64_t n, const double *x_star, const double *way, double *x)
{
    tw_vector_copy(n, x_star, x);
    tw_vector_axpy(n, 1.0, way, x);
}

/* Whether R of the damping is in the matrix. */
static bool has_damping_matrix(const tw_implicit *implicit, const tw_stage *stage)
{
    const tw_system *system = implicit->system;
    return stage->damping_in_matrix && system->second_order && system->second.add_damping &&
           system->second.assemble && implicit->solver == TW_LINEAR_CHOLESKY;
}

double tw_implicit_damping_of(const tw_implicit *implicit, const tw_stage *stage)
{
    if (!has_damping_matrix(implicit, stage)) return 0;
    return stage->sigma / (1 + stage->sigma * implicit->system->second.rayleigh_stiffness);
}

double tw_implicit_shift_of(const tw_implicit *implicit, const tw_stage *stage, double *divisor)
{
    /* Where R is in the matrix, alpha and beta are what is left; otherwise they stand for all
     * damping that is known. */
    const tw_system *system = implicit->system;
    bool all = has_damping_matrix(implicit, stage);
    double alpha = all ? system->second.rayleigh_mass : system->pair.rayleigh_mass;
    double beta = all ? system->second.rayleigh_stiffness : system->pair.rayleigh_stiffness;

    *divisor = 1 + stage->gamma * stage->sigma * alpha;
    return stage->gamma * (1 + stage->sigma * beta) / *divisor;
}

tw_status tw_implicit_prepare_record(tw_implicit *implicit)
{
    tw_system *system = implicit->system;
    const tw_linear_record *linear = implicit->linear;
    system->matrix_damping = linear->damping;

    tw_status status =
        implicit->tension_count == 0
            ? tw_system_linearise(system, linear->t, implicit->linear_u, NULL)
            : tw_system_linearise_tension(system, linear->t, implicit->linear_u,
                                          implicit->linear_tension, linear->clipped != 0);
    if (status != TW_OK) return status;
    if (linear->raised != 0) return tw_stage_matrix_prepare_raised(implicit->matrix, linear->g);
    return tw_stage_matrix_prepare(implicit->matrix, linear->g);
}

/* Prepares M + g K at stage->x, with these tensions and the velocity of the last residual. */
static tw_status prepare_at(tw_implicit *implicit, const tw_stage *stage, const double *tension,
                            double g, bool clipped)
{
    const tw_system *system = implicit->system;
    *implicit->linear = (tw_linear_record){.t = stage->t,
                                           .g = g,
                                           .clipped = clipped,
                                           .damping = tw_implicit_damping_of(implicit, stage)};

    tw_vector_copy(implicit->tension_count, tension, implicit->linear_tension);
    tw_vector_copy(system->n, stage->x, implicit->linear_u);
    if (system->second_order)
        tw_vector_copy(system->n, implicit->v, implicit->linear_u + system->n);
    return tw_implicit_prepare_record(implicit);
}

/* Whether prepare() could have made such a record: bytes that are restored may come from
 * anywhere. */
static bool record_makes_sense(const tw_implicit *implicit)
{
    const tw_linear_record *linear = implicit->linear;
    const tw_system *system = implicit->system;
    bool can_damp = system->second_order && system->second.add_damping && system->second.assemble;
    bool damping_fits = linear->damping == 0 || (can_damp && linear->damping > 0);
    return linear->g > 0 && damping_fits;
}

tw_status tw_implicit_restore(tw_implicit *implicit)
{
    if (implicit->linear->g == 0) return TW_OK;
    if (!record_makes_sense(implicit)) return TW_BAD_INPUT;

    /* A matrix that cannot be made was not at hand when the bytes were written, either. */
    tw_status status = tw_implicit_prepare_record(implicit);
    return status == TW_NOT_POSITIVE_DEFINITE ? TW_OK : status;
}

/* Makes the matrix at stage->x with these tensions. Where it is not definite, compressed elements
 * count as slack across their line. That matrix is definite, and near convergence it is close to
 * the exact one: a sheet that folds is hardly compressed. It is kept in later iterations and
 * solutions, too, because an exact matrix next to a singular one throws the iterate far off.
 * `wants_exact`: it has contracted badly, so the exact one is tried first. Conjugate gradients
 * notice an indefinite matrix only in the midst of a solution, so they get the definite one. */
static tw_status prepare_definite(tw_implicit *implicit, const tw_stage *stage,
                                  const double *tension, double g, bool wants_exact)
{
    bool blind = implicit->solver == TW_LINEAR_PCG && implicit->tension_count > 0;
    bool clipped = blind || (implicit->linear->clipped != 0 && !wants_exact);
    if (!clipped) {
        tw_status status = prepare_at(implicit, stage, tension, g, false);
        if (status != TW_NOT_POSITIVE_DEFINITE || implicit->tension_count == 0) return status;
    }
    return prepare_at(implicit, stage, tension, g, true);
}

/* Whether the last correction was as small as that of a stage that buckles has to be. Conjugate
 * gradients do not know whether their matrix is definite. */
static bool is_near(const tw_implicit *implicit, const tw_stage *stage, const newton_state *state)
{
    if (implicit->solver == TW_LINEAR_PCG || implicit->tension_count == 0) return false;
    return state->size <= stage->buckled_tolerance * state->displacement;
}

/* Makes the matrix of the next correction. Where slack elements are not enough (solids, hinges),
 * the mass is raised: the correction is a direction of descent always. Close to the solution the
 * exact matrix is tried once: if it is not definite there, the stage buckles. */
static tw_status prepare(tw_implicit *implicit, const tw_stage *stage, newton_state *state)
{
    bool near = is_near(implicit, stage, state);
    bool contracts_badly = isfinite(state->contraction) &&
                           state->contraction > tw_newton_slowest_contraction &&
                           !state->line_search;
    bool wants_exact = !state->buckles && (near || contracts_badly);
    if (state->buckles) implicit->linear->clipped = 1;
    tw_status status = prepare_definite(implicit, stage, implicit->iterate, state->g, wants_exact);
    if (near && implicit->linear->clipped != 0) state->buckles = true;
    if (status != TW_NOT_POSITIVE_DEFINITE) return status;

    implicit->linear->raised = 1;
    return tw_implicit_prepare_record(implicit);
}

tw_status tw_implicit_renew(tw_implicit *implicit, const tw_stage *stage)
{
    double divisor = 0;
    double g = tw_implicit_shift_of(implicit, stage, &divisor);
    set_velocity(implicit, stage, implicit->way);
    if (implicit->parts) return tw_part_newton_renew(implicit, stage);

    /* Without a factor the tangent need not be definite. */
    if (implicit->solver == TW_LINEAR_PCG)
        return prepare_at(implicit, stage, implicit->tension, g, false);
    tw_status status = prepare_definite(implicit, stage, implicit->tension, g, false);

    /* A smaller g makes M + g K definite in the end: every trial divides it by four. */
    enum { MAX_TRIALS = 20 };
    for (int i = 0; i < MAX_TRIALS && status == TW_NOT_POSITIVE_DEFINITE; i++) {
        implicit->linear->g /= 4;
        status = tw_stage_matrix_prepare(implicit->matrix, implicit->linear->g);
    }
    return status;
}

/* way += share * correction, x with it, and the residual there. */
static tw_status advance(tw_implicit *implicit, const tw_stage *stage, double share,
                         newton_state *state)
{
    int64_t n = implicit->system->n;
    tw_vector_axpy(n, share, implicit->correction, implicit->way);
    point_at(n, stage->x_star, implicit->way, stage->x);
    return find_residual(implicit, stage, stage->x, implicit->way, &state->residual);
}

/* Halves the correction until it does not overshoot: <residual, dx>_M, the descent of the energy
 * along dx, may turn into a rise of a share of it at most. This needs no energy, and holds for
 * forces that have none, such as wind. */
static tw_status search_line(tw_implicit *implicit, const tw_stage *stage, newton_state *state)
{
    int64_t n = implicit->system->n;
    double before = 0;
    tw_vector_copy(n, implicit->way, implicit->trial_way);
    tw_status status = mass_dot(implicit, implicit->residual, implicit->correction, &before);
    if (status != TW_OK) return status;

    enum { MAX_HALVINGS = 30 };
    double share = 1;
    for (int halving = 0; halving <= MAX_HALVINGS; halving++, share *= 0.5) {
        double after = -INFINITY;
        tw_vector_copy(n, implicit->trial_way, implicit->way);
        status = advance(implicit, stage, share, state);
        if (status == TW_OK)
            status = mass_dot(implicit, implicit->residual, implicit->correction, &after);

        if (status == TW_OK && after >= -tw_newton_largest_rise * before) break;
        if (status != TW_OK && status != TW_NOT_FINITE && status != TW_RECOVERABLE) break;
    }
    return status;
}

/* An old factor P gets the same modes wrong in every correction f = P^-1 r: they shrink slowly, or
 * swing. One secant takes the worst of them out (Anderson's acceleration of depth one):
 *   step = f - theta (dx + df),  theta = <df, f>_M / <df, df>_M,  df = f - f_before,
 * with dx the last step. */
static tw_status accelerate(tw_implicit *implicit, newton_state *state)
{
    int64_t n = implicit->system->n;
    double *f = implicit->correction;
    double *df = implicit->trial_way;
    tw_vector_copy(n, f, df);
    tw_vector_axpy(n, -1.0, implicit->last_correction, df);
    tw_vector_copy(n, f, implicit->last_correction);
    bool first = !state->has_secant;
    state->has_secant = true;
    if (first) return TW_OK;

    double along = 0;
    double square = 0;
    tw_status status = mass_dot(implicit, df, f, &along);
    if (status == TW_OK) status = mass_dot(implicit, df, df, &square);
    double theta = along / square;

    /* A secant that asks for a thousand times the correction is noise. */
    if (status != TW_OK || !(fabs(theta) < 1e3)) return status;
    tw_vector_axpy(n, -theta, implicit->last_step, f);
    tw_vector_axpy(n, -theta, df, f);
    return TW_OK;
}

/* The largest angle by which a correction turns an element. */
static double largest_angle(const tw_implicit *implicit)
{
    double largest = 0;
    for (int64_t e = 0; e < implicit->tension_count; e++)
        largest = implicit->turn[e] > largest ? implicit->turn[e] : largest;
    return largest;
}

tw_status tw_implicit_keeps_tangent(tw_implicit *implicit, const double *x, const double *change,
                                    bool *keeps)
{
    *keeps = false;
    if (implicit->tension_count == 0) return TW_OK;
    const tw_second_order_problem *problem = &implicit->system->second;
    tw_status status =
        problem->tension.predict(problem->context, implicit->linear->t, x, implicit->v, change, 0,
                                 implicit->predicted, implicit->turn);
    *keeps = largest_angle(implicit) <= negligible_turn;
    return status;
}

/* Whether the next iteration needs a new factor. */
static bool needs_factor(const tw_implicit *implicit, const tw_stage *stage,
                         const newton_state *state)
{
    if (tw_stage_matrix_shift(implicit->matrix) != state->g || state->line_search) return true;
    bool cheap = tw_stage_matrix_cost(implicit->matrix) < tw_newton_cheap_factor;

    /* The factor of an earlier solution serves where the user or the scheme lets it. */
    double bound = tw_newton_slowest_contraction;
    if (state->factor_is_old && stage->reuse > 0)
        bound = stage->reuse;
    else if (cheap || (state->factor_is_old && !stage->keeps_dear_factor))
        return true;
    if (!tw_implicit_is_exact(implicit)) return true;

    /* A matrix with slack elements does not know how they pull when they are turned: a second
     * correction with it is up to sixty times as large as the first. */
    if (implicit->linear->clipped != 0) return true;

    /* Only a second correction with the same factor tells how good it is. */
    if (state->uses == 0) return false;
    if (state->far) return true;
    if (state->uses == 1) return false;
    if (!(state->contraction < bound)) return true;
    double iterations_left = log(state->enough / state->size) / log(state->contraction);
    return iterations_left > tw_stage_matrix_cost(implicit->matrix);
}

/* dx = (M + g K)^-1 M residual / divisor, and its norm. */
static tw_status find_correction(tw_implicit *implicit, const tw_stage *stage, newton_state *state)
{
    tw_system *system = implicit->system;
    if (system->second_order) {
        tw_status status = tw_system_mass(system, implicit->residual, implicit->force);
        if (status != TW_OK) return status;
    } else {
        tw_vector_copy(system->n, implicit->residual, implicit->force);
    }
    double residual = fmin(residual_per_tolerance * stage->tolerance, largest_residual);
    tw_status status = tw_stage_matrix_solve(implicit->matrix, fmax(residual, final_residual),
                                             implicit->force, implicit->correction);
    if (status != TW_OK) return status;

    /* Its norm, and how much smaller it is than the one before. */
    double before = state->size;
    tw_vector_scale(system->n, 1 / state->divisor, implicit->correction);
    status = tw_implicit_norm(implicit, implicit->correction, &state->size);
    state->contraction = state->size / before;
    state->uses++;
    system->counts->newton_iterations++;
    return status;
}

/* Moves the tensions to what their laws predict for x + dx. Returns the share of dx that may
 * be taken. */
static tw_status move_tensions(tw_implicit *implicit, const tw_stage *stage, double *share)
{
    *share = 1;
    if (implicit->tension_count == 0) return TW_OK;
    const tw_second_order_problem *problem = &implicit->system->second;
    tw_status status = problem->tension.predict(problem->context, stage->t, stage->x, implicit->v,
                                                implicit->correction, stage->sigma,
                                                implicit->predicted, implicit->turn);
    if (status != TW_OK) return status;
    double turn = largest_angle(implicit);
    if (turn > tw_newton_largest_turn) *share = tw_newton_largest_turn / turn;

    /* tension += share (predicted - tension) */
    tw_vector_axpby(implicit->tension_count, *share, implicit->predicted, 1 - *share,
                    implicit->iterate);
    return TW_OK;
}

/* enough = tolerance * (scale + |x - x_star|), or the rounding of x. */
static tw_status set_goal(tw_implicit *implicit, const tw_stage *stage, newton_state *state)
{
    double way = 0;
    tw_status status = tw_implicit_norm(implicit, implicit->way, &way);
    state->displacement = stage->scale + way;
    state->enough = fmax(stage->tolerance * state->displacement, state->rounding);
    return status;
}

/* Whether the correction changes the tangent: it is large, and it turns elements (where there are any). */
static tw_status judge_distance(tw_implicit *implicit, const tw_stage *stage, newton_state *state)
{
    /* A cheap matrix is made anew in any case. */
    bool cheap = tw_stage_matrix_cost(implicit->matrix) < tw_newton_cheap_factor;
    state->far = !cheap && state->size > far_correction * state->displacement;
    if (!state->far) return TW_OK;
    bool keeps = false;
    tw_status status = tw_implicit_keeps_tangent(implicit, stage->x, implicit->correction, &keeps);
    state->far = !keeps;
    return status;
}

/* Makes a factor at x, and the correction that it gives. */
static tw_status correct_anew(tw_implicit *implicit, const tw_stage *stage, newton_state *state)
{
    tw_status status = prepare(implicit, stage, state);
    if (status != TW_OK) return status;
    state->uses = 0;
    state->factor_is_old = false;
    state->has_secant = false;
    status = find_correction(implicit, stage, state);
    if (status != TW_OK) return status;
    return judge_distance(implicit, stage, state);
}

/* The same where the exact matrix has to prove itself. If it throws the iterate off this close to a
 * solution, it is nearly singular there: the stage buckles, and slack elements take its place. */
static tw_status correct_with_care(tw_implicit *implicit, const tw_stage *stage,
                                   newton_state *state)
{
    bool near = is_near(implicit, stage, state);
    double before = state->size;
    TW_TRY(correct_anew(implicit, stage, state));
    if (!near || state->buckles || !(state->size > before)) return TW_OK;

    state->buckles = true;
    state->size = before;
    return correct_anew(implicit, stage, state);
}

/* One iteration: a correction of x and of the tensions. */
static tw_status iterate(tw_implicit *implicit, const tw_stage *stage, newton_state *state,
                         bool *arrived)
{
    int64_t n = implicit->system->n;
    double contraction_before = state->contraction;
    tw_status status = set_goal(implicit, stage, state);
    if (status != TW_OK) return status;
    if (needs_factor(implicit, stage, state)) {
        status = correct_with_care(implicit, stage, state);
    } else {
        status = find_correction(implicit, stage, state);
        if (status == TW_OK) status = judge_distance(implicit, stage, state);
        bool astray = state->factor_is_old && state->uses == 1 && state->far;
        if (status == TW_OK && astray) status = correct_anew(implicit, stage, state);
    }
    if (status != TW_OK) return status;

    /* The correction is small, or what it leaves behind is. That is about its size times
     * c / (1 - c), c the contraction. A kept factor is judged by the worse of two contractions,
     * because a single good one may be luck. */
    double c = state->contraction;
    if (state->uses > 1) c = fmax(c, contraction_before);
    bool small =
        state->size <= state->enough || (state->buckles && is_near(implicit, stage, state));
    if (c > 0 && c < 0.5)
        small = small || state->size * c / (1 - c) <= tw_newton_left_share * state->enough;
    if (!small && !state->line_search) status = accelerate(implicit, state);
    if (status != TW_OK) return status;

    double share = 1;
    status = move_tensions(implicit, stage, &share);
    if (status != TW_OK) return status;
    tw_vector_copy(n, implicit->correction, implicit->last_step);

    /* The last correction is small enough to spare the residual behind it. An old factor's first
     * one is not trusted. */
    *arrived = small && share == 1 && !(state->factor_is_old && state->uses == 1);
    if (*arrived) {
        tw_vector_axpy(n, 1.0, implicit->correction, implicit->way);
        point_at(n, stage->x_star, implicit->way, stage->x);
        return TW_OK;
    }
    if (state->line_search) return search_line(implicit, stage, state);
    if (share < 1) state->has_secant = false;
    return advance(implicit, stage, share, state);
}

/* Newton's iteration from stage->x. */
static tw_status run_newton(tw_implicit *implicit, const tw_stage *stage, bool line_search,
                            int max_iterations, tw_stage_result *result)
{
    int64_t n = implicit->system->n;
    newton_state state = {.size = INFINITY,
                          .contraction = INFINITY,
                          .factor_is_old = true,
                          .line_search = line_search};
    state.g = tw_implicit_shift_of(implicit, stage, &state.divisor);
    tw_vector_copy(implicit->tension_count, implicit->tension, implicit->iterate);

    /* The residual of the guess. */
    double position = 0;
    tw_vector_copy(n, stage->x, implicit->way);
    tw_vector_axpy(n, -1.0, stage->x_star, implicit->way);
    tw_status status = find_residual(implicit, stage, stage->x, implicit->way, &state.residual);
    if (status == TW_OK) status = tw_implicit_norm(implicit, stage->x, &position);
    if (status != TW_OK) return status;
    state.rounding = 8 * DBL_EPSILON * position;

    bool arrived = false;
    while (!arrived && result->iterations < max_iterations) {
        status = iterate(implicit, stage, &state, &arrived);
        if (status != TW_OK) return status;
        result->iterations++;
    }
    bool stalls_nearby = line_search && state.size <= stage->stalled_tolerance * state.displacement;
    if (!arrived && !stalls_nearby) return TW_NOT_CONVERGED;
    if (!arrived) implicit->system->counts->stalled_stages++;
    bool ended_early = arrived && state.buckles && state.size > state.enough;
    if (ended_early) implicit->system->counts->buckled_stages++;
    tw_vector_copy(implicit->tension_count, implicit->iterate, implicit->tension);
    return TW_OK;
}

tw_status tw_implicit_solve(tw_implicit *implicit, const tw_stage *stage, tw_stage_result *result)
{
    int64_t n = implicit->system->n;
    *result = (tw_stage_result){0};
    tw_vector_copy(n, stage->x, implicit->first_guess);

    /* Parts that do not act on each other, such as hairs, iterate each by itself. */
    TW_TRY(tw_part_newton_find(implicit));
    if (implicit->parts && stage->reuse == 0) return tw_part_newton_solve(implicit, stage, result);

    tw_status status = run_newton(implicit, stage, false, stage->max_iterations, result);
    bool gave_up = status == TW_NOT_CONVERGED || status == TW_NOT_FINITE ||
                   status == TW_RECOVERABLE || status == TW_NOT_POSITIVE_DEFINITE;
    if (!gave_up) return status;

    /* A second attempt searches along each correction, and has four times as many of them. */
    tw_vector_copy(n, implicit->first_guess, stage->x);
    tw_implicit_forget_matrix(implicit);
    implicit->linear->clipped = implicit->tension_count > 0;
    return run_newton(implicit, stage, true, result->iterations + 4 * stage->max_iterations,
                      result);
}
