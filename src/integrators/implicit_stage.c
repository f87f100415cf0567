#include "integrators/implicit_stage.h"

#include <float.h>
#include <math.h>

#include "base/allocate.h"
#include "base/fail.h"
#include "integrators/conjugate_gradients.h"
#include "linalg/dense.h"
#include "linalg/vector.h"

enum { VECTORS = 10, MAX_RAISES = 40 };

struct tw_implicit {
    tw_system *system;
    tw_linear_solver solver;
    tw_conjugate_gradients *gradients; /* of TW_LINEAR_PCG */
    double *dense;                     /* I - gamma J and its pivots, of first-order problems */
    int *pivots;
    double factor_g; /* shift g of the factor (or preconditioner) at hand; 0: none */
    double raised;   /* M was replaced by (1 + raised) M in it */
    double *a, *v, *residual, *force, *correction, *trial;
    double *way,
        *trial_way; /* x - x_star, of the iterate and of a trial: never a difference of the two */
    double *last_correction, *last_step; /* of the iteration before */
    bool secant;                         /* ... which had the same factor */
    int uses;                            /* corrections made with it */
    double *storage;
};

static tw_status create_solver(tw_implicit *implicit, tw_error *error)
{
    tw_system *system = implicit->system;
    if (system->second_order && system->second.stiffness_is_general && !system->symmetric)
        return tw_fail(error, TW_UNSUPPORTED, "implicit schemes need a symmetric tangent");
    if (system->second_order)
        return implicit->solver == TW_LINEAR_PCG
                   ? tw_conjugate_gradients_create(system, &implicit->gradients, error)
                   : tw_system_need_shifted(system, error);
    if (system->n > TW_DENSE_NEWTON_MAX)
        return tw_fail(error, TW_UNSUPPORTED,
                       "implicit schemes take first-order problems of at most %d unknowns",
                       TW_DENSE_NEWTON_MAX);
    implicit->dense = TW_NEW_ARRAY(system->n * system->n, double);
    implicit->pivots = TW_NEW_ARRAY(system->n, int);
    return implicit->dense && implicit->pivots ? TW_OK : tw_fail_plain(error, TW_OUT_OF_MEMORY);
}

tw_status tw_implicit_create(tw_system *system, tw_linear_solver solver, tw_implicit **out,
                             tw_error *error)
{
    *out = NULL;
    tw_implicit *implicit = TW_NEW(tw_implicit);
    if (!implicit) return tw_fail_plain(error, TW_OUT_OF_MEMORY);
    implicit->system = system;
    implicit->solver = solver;
    tw_system_use_symmetric_part(system);
    implicit->storage = TW_NEW_ARRAY(VECTORS * system->n, double);
    tw_status status = implicit->storage ? TW_OK : tw_fail_plain(error, TW_OUT_OF_MEMORY);
    double **vectors[VECTORS] = {&implicit->a,
                                 &implicit->v,
                                 &implicit->residual,
                                 &implicit->force,
                                 &implicit->correction,
                                 &implicit->trial,
                                 &implicit->last_correction,
                                 &implicit->last_step,
                                 &implicit->way,
                                 &implicit->trial_way};
    for (int i = 0; i < VECTORS && status == TW_OK; i++)
        *vectors[i] = implicit->storage + i * system->n;
    if (status == TW_OK) status = create_solver(implicit, error);
    if (status) {
        tw_implicit_free(implicit);
        return status;
    }
    *out = implicit;
    return TW_OK;
}

void tw_implicit_free(tw_implicit *implicit)
{
    if (!implicit) return;
    tw_conjugate_gradients_free(implicit->gradients);
    tw_release(implicit->storage);
    tw_release(implicit->dense);
    tw_release(implicit->pivots);
    tw_release(implicit);
}

void tw_implicit_reset(tw_implicit *implicit)
{
    implicit->factor_g = 0;
}

const double *tw_implicit_way(const tw_implicit *implicit)
{
    return implicit->way;
}

double tw_implicit_factor_shift(const tw_implicit *implicit)
{
    return implicit->factor_g;
}

/* <x, y>_M. */
static tw_status mass_dot(tw_implicit *implicit, const double *x, const double *y, double *dot)
{
    tw_system *system = implicit->system;
    if (!system->second_order) return tw_vector_dot(&system->first.space, x, y, dot);
    if (!system->second.mass)
        return tw_vector_weighted_dot(&system->second.space, system->second.lumped_mass, x, y, dot);
    tw_status status = tw_system_mass(system, x, implicit->force);
    return status ? status : tw_vector_dot(&system->second.space, implicit->force, y, dot);
}

/* |x|_M. */
static tw_status mass_norm(tw_implicit *implicit, const double *x, double *norm)
{
    double square = 0;
    tw_status status = mass_dot(implicit, x, x, &square);
    *norm = sqrt(square);
    return status;
}

/* Factorises (1 + raised) M + g K = (1 + raised) (M + g/(1 + raised) K), raising the diagonal until it is definite. */
static tw_status factorise(tw_implicit *implicit, double g)
{
    tw_system *system = implicit->system;
    tw_status status = tw_system_assemble(system);
    const tw_shifted_solver *shifted = system->pair.shifted;
    implicit->raised = 0;
    implicit->factor_g = 0;
    for (int raise = 0; status == TW_OK && raise < MAX_RAISES; raise++) {
        int64_t before = *shifted->factorisations;
        status = shifted->factor(shifted->context, g / (1 + implicit->raised));
        system->counts->factorisations += *shifted->factorisations - before;
        if (status != TW_NOT_POSITIVE_DEFINITE) break;
        implicit->raised = implicit->raised == 0 ? 1.0 : 16 * implicit->raised;
        if (raise + 1 < MAX_RAISES) status = TW_OK;
    }
    if (status == TW_OK) implicit->factor_g = g;
    return status;
}

/* I - g J, column by column, and its LU factors. */
static tw_status factorise_dense(tw_implicit *implicit, double g)
{
    tw_system *system = implicit->system;
    int64_t n = system->n;
    double *unit = implicit->trial;
    tw_vector_fill(n, 0.0, unit);
    for (int64_t j = 0; j < n; j++) {
        double *column = implicit->dense + j * n;
        unit[j] = 1;
        tw_status status = tw_system_jacobian(system, unit, column);
        unit[j] = 0;
        if (status) return status;
        tw_vector_scale(n, -g, column);
        column[j] += 1;
    }
    system->counts->factorisations++;
    return tw_dense_lu((int)n, implicit->dense, implicit->pivots);
}

/* Prepares M + g K, or I - g J, at the present linearisation. */
static tw_status prepare(tw_implicit *implicit, double g)
{
    if (!implicit->system->second_order) {
        tw_status made = factorise_dense(implicit, g);
        implicit->factor_g = made == TW_OK ? g : 0;
        return made;
    }
    if (implicit->solver == TW_LINEAR_CHOLESKY) return factorise(implicit, g);
    tw_status status = tw_conjugate_gradients_prepare(implicit->gradients, g);
    implicit->factor_g = status == TW_OK ? g : 0;
    return status;
}

/* correction = (M + g K)^-1 force with what was prepared. */
static tw_status solve_prepared(tw_implicit *implicit, const double *force, double *correction)
{
    tw_system *system = implicit->system;
    if (!system->second_order) {
        system->counts->solves++;
        tw_vector_copy(system->n, force, correction);
        return tw_dense_lu_solve((int)system->n, implicit->dense, implicit->pivots, correction);
    }
    if (implicit->solver == TW_LINEAR_PCG)
        return tw_conjugate_gradients_solve(implicit->gradients, force, correction);
    const tw_shifted_solver *shifted = system->pair.shifted;
    system->counts->solves++;
    tw_status status = shifted->solve(shifted->context, 1, force, correction);
    tw_vector_scale(system->n, 1 / (1 + implicit->raised), correction);
    return status;
}

tw_status tw_implicit_linear_solve(tw_implicit *implicit, double g, const double *in, double *out)
{
    tw_status status = implicit->factor_g == g ? TW_OK : prepare(implicit, g);
    return status ? status : solve_prepared(implicit, in, out);
}

bool tw_implicit_at_hand(const tw_implicit *implicit, double g)
{
    return implicit->system->second_order && implicit->solver == TW_LINEAR_CHOLESKY &&
           implicit->factor_g == g && implicit->raised == 0;
}

/* implicit->v = v_star + sigma (x - x_star), the velocity that belongs to x. */
static void set_velocity(tw_implicit *implicit, const tw_stage *stage, const double *way)
{
    int64_t n = implicit->system->n;
    if (stage->v_star) {
        tw_vector_copy(n, stage->v_star, implicit->v);
        tw_vector_axpy(n, stage->sigma, way, implicit->v);
    } else {
        tw_vector_fill(n, 0.0, implicit->v);
    }
}

/* residual = gamma a(x) - way, way = x - x_star; its mass norm. */
static tw_status find_residual(tw_implicit *implicit, const tw_stage *stage, const double *x,
                               const double *way, double *size)
{
    tw_system *system = implicit->system;
    int64_t n = system->n;
    set_velocity(implicit, stage, way);
    tw_status status = system->second_order
                           ? tw_system_acceleration(system, stage->t, x, implicit->v, implicit->a)
                           : tw_system_rhs(system, stage->t, x, implicit->a);
    if (status) return status;
    tw_vector_copy(n, way, implicit->residual);
    tw_vector_axpby(n, stage->gamma, implicit->a, -1.0, implicit->residual);
    return mass_norm(implicit, implicit->residual, size);
}

static void way_between(int64_t n, const double *x_star, const double *x, double *way)
{
    tw_vector_copy(n, x, way);
    tw_vector_axpy(n, -1.0, x_star, way);
}

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

/* alpha and beta of the damping that is left when R is in the matrix; else of all the damping that is known. */
static void rayleigh_of(const tw_implicit *implicit, const tw_stage *stage, double *alpha,
                        double *beta)
{
    const tw_system *system = implicit->system;
    bool all = has_damping_matrix(implicit, stage);
    *alpha = all ? system->second.rayleigh_mass : system->pair.rayleigh_mass;
    *beta = all ? system->second.rayleigh_stiffness : system->pair.rayleigh_stiffness;
}

tw_status tw_implicit_residual(tw_implicit *implicit, const tw_stage *stage, const double *x,
                               double *residual, double *size)
{
    way_between(implicit->system->n, stage->x_star, x, implicit->trial_way);
    tw_status status = find_residual(implicit, stage, x, implicit->trial_way, size);
    if (status == TW_OK) tw_vector_copy(implicit->system->n, implicit->residual, residual);
    return status;
}

/* The residual of the guess. */
static tw_status first_residual(tw_implicit *implicit, const tw_stage *stage, double *size)
{
    way_between(implicit->system->n, stage->x_star, stage->x, implicit->way);
    if (!stage->residual) return find_residual(implicit, stage, stage->x, implicit->way, size);
    set_velocity(implicit, stage, implicit->way);
    tw_vector_copy(implicit->system->n, stage->residual, implicit->residual);
    return mass_norm(implicit, implicit->residual, size);
}

/* Linearises at x (with the v that belongs to it: implicit->v of the last residual). */
static tw_status relinearise(tw_implicit *implicit, const tw_stage *stage, double g)
{
    tw_system *system = implicit->system;
    double *u =
        system->scratch; /* (x, v), copied by linearise before anything else uses the scratch */
    tw_vector_copy(system->n, stage->x, u);
    if (system->second_order) tw_vector_copy(system->n, implicit->v, u + system->n);
    implicit->factor_g = 0;
    if (has_damping_matrix(implicit, stage))
        system->matrix_damping =
            stage->sigma / (1 + stage->sigma * system->second.rayleigh_stiffness);
    implicit->secant = false;
    tw_status status = tw_system_linearise(system, stage->t, u, NULL);
    return status ? status : prepare(implicit, g);
}

/* What a sound correction lowers: the incremental potential |x - x_star|_M^2 / 2 + gamma V(x), whose stationary point
 * is the solution, for conservative problems; the residual's norm otherwise. */
static tw_status find_merit(tw_implicit *implicit, const tw_stage *stage, const double *x,
                            double residual, double *merit)
{
    tw_system *system = implicit->system;
    *merit = residual;
    if (!system->second_order || !tw_system_has_energy(system) || system->second.velocity_dependent)
        return TW_OK;
    double *u = system->scratch, distance = 0, kinetic = 0, potential = 0;
    tw_vector_copy(system->n, x, u);
    tw_vector_fill(system->n, 0.0, u + system->n);
    tw_status status = tw_system_energy(system, stage->t, u, &kinetic, &potential);
    if (status) return status;
    tw_vector_axpy(system->n, -1.0, stage->x_star, u);
    status = mass_norm(implicit, u, &distance);
    *merit = 0.5 * distance * distance + stage->gamma * potential;
    return status;
}

/* x += correction; under line search halved until the merit falls. */
static tw_status move(tw_implicit *implicit, const tw_stage *stage, double *size)
{
    int64_t n = implicit->system->n;
    double share = 1, before = 0, after = 0;
    tw_status status =
        stage->line_search ? find_merit(implicit, stage, stage->x, *size, &before) : TW_OK;
    for (int halving = 0; status == TW_OK; halving++, share *= 0.5) {
        tw_vector_copy(n, implicit->way, implicit->trial_way);
        tw_vector_axpy(n, share, implicit->correction, implicit->trial_way);
        point_at(n, stage->x_star, implicit->trial_way, implicit->trial);
        status = find_residual(implicit, stage, implicit->trial, implicit->trial_way, size);
        if (!stage->line_search || halving == 30) break;
        if (status == TW_OK) status = find_merit(implicit, stage, implicit->trial, *size, &after);
        if (status == TW_OK && after <= before + 1e-14 * fabs(before)) break;
        if (status == TW_NOT_FINITE || status == TW_RECOVERABLE) status = TW_OK;
    }
    tw_vector_copy(n, implicit->trial, stage->x);
    tw_vector_copy(n, implicit->trial_way, implicit->way);
    return status;
}

/* An old factor P gets the same modes wrong in every correction f = P^-1 r: they shrink slowly, or swing. One secant
 * takes the worst of them out (Anderson's acceleration of depth one):
 *   step = f - theta (dx + df),  theta = <df, f>_M / <df, df>_M,  df = f - f_before,  dx = the last step. */
static tw_status accelerate(tw_implicit *implicit)
{
    int64_t n = implicit->system->n;
    double *f = implicit->correction, *df = implicit->trial, along = 0, square = 0;
    tw_vector_copy(n, f, df);
    if (!implicit->secant) {
        tw_vector_copy(n, f, implicit->last_correction);
        return TW_OK;
    }
    tw_vector_axpy(n, -1.0, implicit->last_correction, df);
    tw_vector_copy(n, f, implicit->last_correction);
    tw_status status = mass_dot(implicit, df, f, &along);
    if (status == TW_OK) status = mass_dot(implicit, df, df, &square);
    double theta = along / square;
    if (status || !(fabs(theta) < 1e3)) return status;
    tw_vector_axpy(n, -theta, implicit->last_step, f);
    tw_vector_axpy(n, -theta, df, f);
    return TW_OK;
}

/* Whether the factor of an earlier solution serves this one, or goes on serving. */
static bool old_factor_serves(const tw_implicit *implicit, const tw_stage *stage,
                              const tw_stage_result *result, double correction, double contraction)
{
    if (implicit->raised != 0 || (stage->reuse == 0 && stage->near == 0)) return false;
    if (result->iterations == 0) return true;
    if (stage->near > 0 && result->iterations == 1) return correction <= stage->near * stage->scale;
    return contraction < (stage->reuse > 0 ? stage->reuse : 0.3);
}

/* Whether the next iteration should make a new factor: there is none, or the old one contracts too slowly. */
static bool needs_factor(const tw_implicit *implicit, const tw_stage *stage,
                         const tw_stage_result *result, double g, double correction,
                         double contraction)
{
    if (implicit->factor_g != g) return true;
    if (result->factorisations == 0)
        return !old_factor_serves(implicit, stage, result, correction, contraction);
    bool last = result->factorisations >= stage->max_factorisations;
    if (!last && stage->good == 0) return true;
    if (implicit->uses < 2)
        return false; /* only a correction made with an old factor tells how good it is */
    if (last) return !(contraction < (stage->slowest > 0 ? stage->slowest : 0.3));
    return !(contraction < stage->good) &&
           (correction <= stage->settled * stage->scale || !(contraction < 0.3));
}

/* g = gamma (1 + sigma beta) / (1 + gamma sigma alpha), and the divisor. */
static double shift_of(const tw_implicit *implicit, const tw_stage *stage, double *divisor)
{
    double alpha = 0, beta = 0;
    rayleigh_of(implicit, stage, &alpha, &beta);
    *divisor = 1 + stage->gamma * stage->sigma * alpha;
    return stage->gamma * (1 + stage->sigma * beta) / *divisor;
}

tw_status tw_implicit_renew(tw_implicit *implicit, const tw_stage *stage)
{
    double divisor = 0, size = 0, g = shift_of(implicit, stage, &divisor);
    tw_status status = find_residual(implicit, stage, stage->x, implicit->way, &size);
    return status ? status : relinearise(implicit, stage, g);
}

tw_status tw_implicit_solve(tw_implicit *implicit, const tw_stage *stage, tw_stage_result *result)
{
    tw_system *system = implicit->system;
    double factor = 0, g = shift_of(implicit, stage, &factor), size = 0, correction = INFINITY,
           contraction = INFINITY;
    *result = (tw_stage_result){0};
    implicit->secant = false;
    double state = 0; /* |x|: corrections of its rounding are as good as none */
    tw_status status = first_residual(implicit, stage, &size);
    if (status == TW_OK) status = mass_norm(implicit, stage->x, &state);
    double enough = fmax(stage->tolerance * stage->scale, 8 * DBL_EPSILON * state);
    while (status == TW_OK && result->iterations < stage->max_iterations) {
        if (needs_factor(implicit, stage, result, g, correction, contraction)) {
            status = relinearise(implicit, stage, g);
            result->factorisations++;
            implicit->uses = 0;
            if (status) break;
        }
        if (system->second_order)
            status = tw_system_mass(system, implicit->residual, implicit->force);
        else
            tw_vector_copy(system->n, implicit->residual, implicit->force);
        if (status == TW_OK)
            status = solve_prepared(implicit, implicit->force, implicit->correction);
        if (status) break;
        tw_vector_scale(system->n, 1 / factor, implicit->correction);
        double before = correction;
        status = mass_norm(implicit, implicit->correction, &correction);
        contraction = correction / before;
        result->iterations++;
        implicit->uses++;
        system->counts->newton_iterations++;
        bool arrived = correction <= enough, old = result->factorisations == 0;
        if (stage->farthest > 0 && !(correction <= stage->farthest * stage->scale)) break;
        if (status == TW_OK && arrived && !(result->iterations == 1 && old)) {
            tw_vector_axpy(system->n, 1.0, implicit->correction, implicit->way);
            point_at(system->n, stage->x_star, implicit->way, stage->x);
            break;
        }
        if (status == TW_OK && !stage->line_search) status = accelerate(implicit);
        if (status == TW_OK) status = move(implicit, stage, &size);
        tw_vector_copy(system->n, implicit->correction, implicit->last_step);
        implicit->secant = !stage->line_search;
        if (arrived) break;
    }
    if (status == TW_OK && !(correction <= enough)) status = TW_NOT_CONVERGED;
    return status;
}
