#include "integrators/system.h"

#include <float.h>
#include <math.h>

#include "base/allocate.h"
#include "base/fail.h"
#include "base/log_line.h"
#include "linalg/vector.h"

tw_second_order_problem tw_second_order_problem_default(void)
{
    return (tw_second_order_problem){0};
}

tw_first_order_problem tw_first_order_problem_default(void)
{
    return (tw_first_order_problem){0};
}

static const tw_space *space_of(const tw_system *system)
{
    return system->second_order ? &system->second.space : &system->first.space;
}

static tw_sparse *matrix_of(const tw_system *system)
{
    return system->second_order ? system->second.stiffness_matrix : system->first.jacobian_matrix;
}

tw_status tw_system_acceleration(tw_system *system, double t, const double *x, const double *v,
                                 double *a)
{
    system->counts->force_evaluations++;
    tw_status status = system->second.acceleration(system->second.context, t, x, v, a);
    if (status == TW_OK && !tw_vector_is_finite(system->n, a)) status = TW_NOT_FINITE;
    return status;
}

tw_status tw_system_rhs(tw_system *system, double t, const double *u, double *F)
{
    if (system->second_order) {
        tw_vector_copy(system->n, u + system->n, F);
        return tw_system_acceleration(system, t, u, u + system->n, F + system->n);
    }
    system->counts->force_evaluations++;
    tw_status status = system->first.rhs(system->first.context, t, u, F);
    if (status == TW_OK && !tw_vector_is_finite(system->n, F)) status = TW_NOT_FINITE;
    return status;
}

tw_status tw_system_mass(tw_system *system, const double *in, double *out)
{
    if (system->second.mass)
        return system->second.mass->apply(system->second.mass->context, 1, in, out);
    if (system->second.lumped_mass)
        tw_vector_multiply(system->n, system->second.lumped_mass, in, out);
    else
        tw_vector_copy(system->n, in, out);
    return TW_OK;
}

tw_status tw_system_mass_solve(tw_system *system, const double *in, double *out)
{
    if (system->second.mass)
        return system->second.mass->solve(system->second.mass->context, 1, in, out);
    if (system->second.lumped_mass)
        tw_vector_divide(system->n, system->second.lumped_mass, in, out);
    else
        tw_vector_copy(system->n, in, out);
    return TW_OK;
}

/* F at the point of linearisation, for differences. */
static tw_status need_linear_f(tw_system *system)
{
    if (system->linear_f_known) return TW_OK;
    tw_status status = tw_system_rhs(system, system->linear_t, system->linear_u, system->linear_f);
    system->linear_f_known = status == TW_OK;
    return status;
}

/* A step along d that perturbs u by about sqrt(eps) of its size. */
static tw_status difference_step(const tw_system *system, int64_t n, const double *u,
                                 const double *d, double *step)
{
    tw_space space = *space_of(system);
    space.local_size = n;
    double u_norm = 0, d_norm = 0;
    tw_status status = tw_vector_norm(&space, u, &u_norm);
    if (status == TW_OK) status = tw_vector_norm(&space, d, &d_norm);
    *step = d_norm > 0 ? sqrt(DBL_EPSILON) * (1.0 + u_norm) / d_norm : 0;
    return status;
}

/* out = (F(u + s d) - F(u)) / s, with d perturbing the block of n entries at `offset` of u. */
static tw_status difference_along(tw_system *system, int64_t offset, int64_t n, const double *d,
                                  double *out)
{
    double *moved = system->scratch, step = 0;
    tw_status status = need_linear_f(system);
    if (status == TW_OK) status = difference_step(system, n, system->linear_u + offset, d, &step);
    if (status) return status;
    if (step == 0) {
        tw_vector_fill(system->size, 0.0, out);
        return TW_OK;
    }
    tw_vector_copy(system->size, system->linear_u, moved);
    tw_vector_axpy(n, step, d, moved + offset);
    system->counts->difference_evaluations++;
    system->counts->force_evaluations--; /* counted apart */
    status = tw_system_rhs(system, system->linear_t, moved, out);
    tw_vector_axpby(system->size, -1.0 / step, system->linear_f, 1.0 / step, out);
    return status;
}

/* out = K in = -M da/dx in by differences, or -M da/dv in (offset n) for damping. */
static tw_status second_order_differences(tw_system *system, int64_t offset, int count,
                                          const double *in, double *out)
{
    double *F = system->scratch + system->size;
    for (int j = 0; j < count; j++) {
        tw_status status = difference_along(system, offset, system->n, in + j * system->n, F);
        if (status == TW_OK) status = tw_system_mass(system, F + system->n, out + j * system->n);
        if (status) return status;
        tw_vector_scale(system->n, -1.0, out + j * system->n);
    }
    return TW_OK;
}

static tw_status stiffness_callback(void *context, int count, const double *in, double *out)
{
    return tw_system_stiffness(context, count, in, out);
}

tw_status tw_system_stiffness(tw_system *system, int count, const double *in, double *out)
{
    system->counts->stiffness_products += count;
    if (system->linear_part)
        return system->second.apply_linear_part(system->second.context, count, in, out);
    if (system->symmetric)
        return system->second.symmetric_part.apply(system->second.context, count, in, out);
    if (system->second.apply_stiffness)
        return system->second.apply_stiffness(system->second.context, count, in, out);
    if (system->second.stiffness_matrix) {
        tw_status status = tw_system_assemble(system);
        return status ? status : tw_sparse_apply(system->second.stiffness_matrix, count, in, out);
    }
    return second_order_differences(system, 0, count, in, out);
}

static tw_status damping_callback(void *context, int count, const double *in, double *out)
{
    tw_system *system = context;
    return system->second.apply_damping(system->second.context, count, in, out);
}

static bool has_rayleigh(const tw_system *system)
{
    return system->second.rayleigh_mass != 0 || system->second.rayleigh_stiffness != 0;
}

/* out_v = -M^-1 (K (x + beta v) + D v) - alpha v: the lower half of J (x, v). */
static tw_status second_order_jacobian(tw_system *system, const double *in, double *out)
{
    int64_t n = system->n;
    double *moved = system->scratch + 2 * system->size, *force = moved + n, *damped = force + n;
    tw_vector_copy(n, in + n, out);
    tw_vector_copy(n, in, moved);
    double alpha = system->pair.rayleigh_mass, beta = system->pair.rayleigh_stiffness;
    if (beta != 0) tw_vector_axpy(n, beta, in + n, moved);
    tw_status status = tw_system_stiffness(system, 1, moved, force);
    if (status == TW_OK && system->pair.damping) {
        status = system->pair.damping->apply(system->pair.damping->context, 1, in + n, damped);
        tw_vector_axpy(n, 1.0, damped, force);
    }
    if (status == TW_OK) status = tw_system_mass_solve(system, force, out + n);
    tw_vector_scale(n, -1.0, out + n);
    if (alpha != 0) tw_vector_axpy(n, -alpha, in + n, out + n);
    return status;
}

tw_status tw_system_jacobian(tw_system *system, const double *in, double *out)
{
    if (system->second_order) return second_order_jacobian(system, in, out);
    system->counts->stiffness_products++;
    if (system->first.jacobian_product)
        return system->first.jacobian_product(system->first.context, 1, in, out);
    if (system->first.jacobian_matrix) {
        tw_status status = tw_system_assemble(system);
        return status ? status : tw_sparse_apply(system->first.jacobian_matrix, 1, in, out);
    }
    return difference_along(system, 0, system->size, in, out);
}

static tw_status jacobian_callback(void *context, int count, const double *in, double *out)
{
    tw_system *system = context;
    for (int j = 0; j < count; j++) {
        tw_status status =
            tw_system_jacobian(system, in + j * system->size, out + j * system->size);
        if (status) return status;
    }
    return TW_OK;
}

/* Velocity dependence without a given D: finite differences in v. */
static tw_status damping_by_differences(void *context, int count, const double *in, double *out)
{
    tw_system *system = context;
    return second_order_differences(system, system->n, count, in, out);
}

tw_status tw_system_linearise(tw_system *system, double t, const double *u, const double *F)
{
    system->counts->linearisations++;
    system->linearisation++;
    system->linear_t = t;
    tw_vector_copy(system->size, u, system->linear_u);
    system->linear_f_known = F != NULL;
    if (F) tw_vector_copy(system->size, F, system->linear_f);
    system->matrix_filled = false;
    if (system->second_order)
        return system->second.linearise
                   ? system->second.linearise(system->second.context, t, u, u + system->n)
                   : TW_OK;
    return system->first.linearise ? system->first.linearise(system->first.context, t, u) : TW_OK;
}

/* The force M a(x) at the linearised time and velocity, as tw_coloured_differences wants it. */
static tw_status force_at(void *context, const double *x, double *f)
{
    tw_system *system = context;
    double *a = system->scratch;
    system->counts->difference_evaluations++;
    tw_status status = system->second.acceleration(system->second.context, system->linear_t, x,
                                                   system->linear_u + system->n, a);
    return status ? status : tw_system_mass(system, a, f);
}

static tw_status rhs_at(void *context, const double *u, double *f)
{
    tw_system *system = context;
    system->counts->difference_evaluations++;
    return system->first.rhs(system->first.context, system->linear_t, u, f);
}

static tw_status assemble_by_differences(tw_system *system)
{
    tw_status status = need_linear_f(system);
    if (status) return status;
    if (!system->second_order)
        return tw_coloured_differences_fill(system->colours, rhs_at, system, system->linear_u,
                                            system->linear_f, 1.0, 1.0,
                                            system->first.jacobian_matrix);
    double *f = system->scratch + system->size;
    status = tw_system_mass(system, system->linear_f + system->n, f);
    if (status) return status;
    return tw_coloured_differences_fill(system->colours, force_at, system, system->linear_u, f, 1.0,
                                        -1.0, system->second.stiffness_matrix);
}

static tw_status assemble_second(tw_system *system, tw_sparse *matrix)
{
    const tw_second_order_problem *p = &system->second;
    tw_status status = p->assemble(p->context, matrix);
    if (status == TW_OK && system->matrix_damping != 0)
        status = p->add_damping(p->context, system->matrix_damping, matrix);
    return status;
}

tw_status tw_system_assemble(tw_system *system)
{
    tw_sparse *matrix = matrix_of(system);
    if (!matrix) return TW_UNSUPPORTED;
    if (system->matrix_filled) return TW_OK;
    tw_status status = TW_OK;
    if (system->colours)
        status = assemble_by_differences(system);
    else if (system->second_order)
        status = assemble_second(system, matrix);
    else
        status = system->first.assemble(system->first.context, matrix);
    if (system->shifted) tw_shifted_cholesky_invalidate(system->shifted);
    system->matrix_filled = status == TW_OK;
    return status;
}

void tw_system_use_linear_part(tw_system *system)
{
    system->linear_part = system->second_order && system->second.apply_linear_part != NULL;
}

void tw_system_use_symmetric_part(tw_system *system)
{
    const tw_symmetric_part *part = &system->second.symmetric_part;
    if (!system->second_order || !part->apply) return;
    system->symmetric = true;
    system->pair.stiffness.symmetry = TW_SYMMETRIC;
    system->pair.damping = NULL;
    system->pair.rayleigh_mass = part->rayleigh_mass;
    system->pair.rayleigh_stiffness = part->rayleigh_stiffness;
}

tw_status tw_system_need_shifted(tw_system *system, tw_error *error)
{
    if (system->shifted) return TW_OK;
    if (system->linear_part)
        return tw_fail(error, TW_UNSUPPORTED,
                       "the linear part is given as a product only: it cannot be factorised");
    if (!system->second_order || !system->second.stiffness_matrix)
        return tw_fail(error, TW_UNSUPPORTED,
                       "the problem gives no stiffness_matrix, which a factorisation needs");
    if (system->second.mass && !system->second.mass_matrix)
        return tw_fail(error, TW_UNSUPPORTED,
                       "a factorisation with consistent mass needs the assembled mass_matrix");
    tw_status status =
        tw_shifted_cholesky_create(system->second.stiffness_matrix, system->second.mass_matrix,
                                   system->second.lumped_mass, &system->shifted, error);
    if (status == TW_OK) system->pair.shifted = tw_shifted_cholesky_view(system->shifted);
    return status;
}

bool tw_system_is_autonomous(const tw_system *system)
{
    return system->second_order ? !system->second.time_dependent : !system->first.time_dependent;
}

/* F_t by central differences in t alone. */
static tw_status time_difference(tw_system *system, double t, const double *u, double *F_t)
{
    double step = cbrt(DBL_EPSILON) * fmax(1.0, fabs(t)), *behind = system->scratch;
    tw_status status = tw_system_rhs(system, t + step, u, F_t);
    if (status == TW_OK) status = tw_system_rhs(system, t - step, u, behind);
    system->counts->force_evaluations -= 2;
    system->counts->difference_evaluations += 2;
    tw_vector_axpby(system->size, -0.5 / step, behind, 0.5 / step, F_t);
    return status;
}

tw_status tw_system_time_derivative(tw_system *system, double t, const double *u, double *F_t)
{
    if (tw_system_is_autonomous(system)) {
        tw_vector_fill(system->size, 0.0, F_t);
        return TW_OK;
    }
    if (!system->second_order)
        return system->first.time_derivative
                   ? system->first.time_derivative(system->first.context, t, u, F_t)
                   : time_difference(system, t, u, F_t);
    if (!system->second.time_derivative) return time_difference(system, t, u, F_t);
    tw_vector_fill(system->n, 0.0, F_t);
    return system->second.time_derivative(system->second.context, t, u, u + system->n,
                                          F_t + system->n);
}

bool tw_system_has_energy(const tw_system *system)
{
    return system->second_order ? system->second.energy != NULL : system->first.energy != NULL;
}

tw_status tw_system_energy(tw_system *system, double t, const double *u, double *kinetic,
                           double *potential)
{
    if (!tw_system_has_energy(system)) return TW_UNSUPPORTED;
    if (system->second_order)
        return system->second.energy(system->second.context, t, u, u + system->n, kinetic,
                                     potential);
    *kinetic = 0;
    return system->first.energy(system->first.context, t, u, potential);
}

static tw_status check_second(const tw_second_order_problem *problem, tw_error *error)
{
    if (!problem->acceleration)
        return tw_fail(error, TW_INVALID_ARGUMENT, "the problem has no acceleration function");
    if (problem->space.local_size < 1)
        return tw_fail(error, TW_INVALID_ARGUMENT, "space.local_size must be at least 1");
    if (problem->mass && problem->lumped_mass)
        return tw_fail(error, TW_INVALID_ARGUMENT, "give either lumped_mass or mass, not both");
    if (problem->stiffness_matrix &&
        tw_sparse_size(problem->stiffness_matrix) != problem->space.local_size)
        return tw_fail(error, TW_INVALID_ARGUMENT,
                       "stiffness_matrix has %lld rows, the problem %lld unknowns",
                       (long long)tw_sparse_size(problem->stiffness_matrix),
                       (long long)problem->space.local_size);
    if (!problem->velocity_dependent &&
        (problem->rayleigh_mass != 0 || problem->rayleigh_stiffness != 0 || problem->apply_damping))
        return tw_fail(error, TW_INVALID_ARGUMENT,
                       "damping is given but velocity_dependent is false");
    for (int64_t i = 0; problem->lumped_mass && i < problem->space.local_size; i++)
        if (!(problem->lumped_mass[i] > 0) || isinf(problem->lumped_mass[i]))
            return tw_fail(error, TW_INVALID_ARGUMENT, "lumped_mass[%lld] = %g is not positive",
                           (long long)i, problem->lumped_mass[i]);
    return TW_OK;
}

static tw_status check_first(const tw_first_order_problem *problem, tw_error *error)
{
    if (!problem->rhs)
        return tw_fail(error, TW_INVALID_ARGUMENT, "the problem has no rhs function");
    if (problem->space.local_size < 1)
        return tw_fail(error, TW_INVALID_ARGUMENT, "space.local_size must be at least 1");
    if (problem->jacobian_matrix &&
        tw_sparse_size(problem->jacobian_matrix) != problem->space.local_size)
        return tw_fail(error, TW_INVALID_ARGUMENT,
                       "jacobian_matrix does not have the problem's size");
    return TW_OK;
}

static void describe_second(tw_system *system)
{
    const tw_second_order_problem *p = &system->second;
    system->pair = (tw_second_order){
        .stiffness = {.space = p->space,
                      .apply = stiffness_callback,
                      .context = system,
                      .symmetry = p->stiffness_is_general ? TW_GENERAL : TW_SYMMETRIC,
                      .bytes_per_product = p->stiffness_matrix
                                               ? tw_sparse_bytes_per_product(p->stiffness_matrix)
                                               : 0},
        .lumped_mass = p->lumped_mass,
        .mass = p->mass,
        .rayleigh_mass = p->rayleigh_mass,
        .rayleigh_stiffness = p->rayleigh_stiffness,
        .eigenvalue_max = p->eigenvalue_max};
    if (p->apply_damping || (p->velocity_dependent && !has_rayleigh(system))) {
        system->damping =
            (tw_operator){.space = p->space,
                          .apply = p->apply_damping ? damping_callback : damping_by_differences,
                          .context = system};
        system->pair.damping = &system->damping;
    }
    if (!p->apply_stiffness && !p->stiffness_matrix)
        tw_log_line(
            TW_LOG_INFO,
            "no stiffness product given: products by finite differences of the acceleration");
}

static tw_status allocate(tw_system *system)
{
    system->linear_u = TW_NEW_ARRAY(system->size, double);
    system->linear_f = TW_NEW_ARRAY(system->size, double);
    system->scratch = TW_NEW_ARRAY(4 * system->size, double);
    if (!system->linear_u || !system->linear_f || !system->scratch) return TW_OUT_OF_MEMORY;
    bool assembles =
        system->second_order ? system->second.assemble != NULL : system->first.assemble != NULL;
    if (!matrix_of(system) || assembles) return TW_OK;
    tw_log_line(TW_LOG_INFO,
                "a matrix pattern without assemble: its values by coloured finite differences");
    return tw_coloured_differences_create(matrix_of(system), &system->colours);
}

tw_status tw_system_create(tw_system *system, const tw_second_order_problem *second,
                           const tw_first_order_problem *first, tw_integrator_statistics *counts,
                           tw_error *error)
{
    *system = (tw_system){.second_order = second != NULL, .counts = counts};
    tw_status status = second ? check_second(second, error) : check_first(first, error);
    if (status) return status;
    if (second)
        system->second = *second;
    else
        system->first = *first;
    system->n = space_of(system)->local_size;
    system->size = second ? 2 * system->n : system->n;
    if (second) describe_second(system);
    system->jacobian = (tw_operator){.space = *space_of(system),
                                     .apply = jacobian_callback,
                                     .context = system,
                                     .symmetry = second ? TW_GENERAL : first->symmetry};
    system->jacobian.space.local_size = system->size;
    status = allocate(system);
    if (status) {
        tw_system_free(system);
        return tw_fail_plain(error, status);
    }
    return TW_OK;
}

void tw_system_free(tw_system *system)
{
    tw_shifted_cholesky_free(system->shifted);
    tw_coloured_differences_free(system->colours);
    tw_release(system->linear_u);
    tw_release(system->linear_f);
    tw_release(system->scratch);
    *system = (tw_system){0};
}
