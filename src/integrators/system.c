#include "integrators/system.h"

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

/* ---- evaluations ---- */

tw_status tw_system_ask_to_go_on(tw_system *system)
{
    if (!system->is_interruptible || !system->interrupt) return TW_OK;
    if (!system->was_interrupted)
        system->was_interrupted = system->interrupt(system->interrupt_context);
    return system->was_interrupted ? TW_INTERRUPTED : TW_OK;
}

tw_status tw_system_acceleration(tw_system *system, double t, const double *x, const double *v,
                                 double *a)
{
    TW_TRY(tw_system_ask_to_go_on(system));
    system->counts->force_evaluations++;
    TW_TRY(system->second.acceleration(system->second.context, t, x, v, a));

    return tw_vector_is_finite(system->n, a) ? TW_OK : TW_NOT_FINITE;
}

tw_status tw_system_rhs(tw_system *system, double t, const double *u, double *F)
{
    /* F = (v, a) */
    if (system->second_order) {
        tw_vector_copy(system->n, u + system->n, F);
        return tw_system_acceleration(system, t, u, u + system->n, F + system->n);
    }

    TW_TRY(tw_system_ask_to_go_on(system));
    system->counts->force_evaluations++;
    TW_TRY(system->first.rhs(system->first.context, t, u, F));
    return tw_vector_is_finite(system->n, F) ? TW_OK : TW_NOT_FINITE;
}

tw_status tw_system_mass(const tw_system *system, const double *in, double *out)
{
    return tw_mass_multiply(&system->mass, 1, in, out);
}

tw_status tw_system_mass_solve(const tw_system *system, const double *in, double *out)
{
    return tw_mass_solve(&system->mass, 1, in, out);
}

bool tw_system_is_autonomous(const tw_system *system)
{
    return system->second_order ? !system->second.time_dependent : !system->first.time_dependent;
}

tw_status tw_system_time_derivative(tw_system *system, double t, const double *u, double *F_t)
{
    const tw_second_order_problem *second = &system->second;
    const tw_first_order_problem *first = &system->first;

    if (tw_system_is_autonomous(system)) {
        tw_vector_fill(system->size, 0.0, F_t);
        return TW_OK;
    }

    /* F_t comes from the problem, or else from differences. */
    if (!system->second_order && first->time_derivative)
        return first->time_derivative(first->context, t, u, F_t);
    if (!system->second_order || !second->time_derivative)
        return tw_system_time_difference(system, t, u, F_t);

    /* F_t = (0, a_t) */
    tw_vector_fill(system->n, 0.0, F_t);
    return second->time_derivative(second->context, t, u, u + system->n, F_t + system->n);
}

bool tw_system_has_energy(const tw_system *system)
{
    return system->second_order ? system->second.energy != NULL : system->first.energy != NULL;
}

tw_status tw_system_energy(tw_system *system, double t, const double *u, double *kinetic,
                           double *potential)
{
    const tw_second_order_problem *second = &system->second;
    if (!tw_system_has_energy(system)) return TW_UNSUPPORTED;

    if (system->second_order)
        return second->energy(second->context, t, u, u + system->n, kinetic, potential);

    /* First order: the one number counts as potential. */
    *kinetic = 0;
    return system->first.energy(system->first.context, t, u, potential);
}

/* ---- creating ---- */

static tw_status check_masses(const tw_second_order_problem *problem, tw_error *error)
{
    if (problem->mass && problem->lumped_mass)
        return tw_fail(error, TW_INVALID_ARGUMENT, "give either lumped_mass or mass, not both");

    /* Every mass must be positive and finite. */
    for (int64_t i = 0; problem->lumped_mass && i < problem->space.local_size; i++)
        if (!(problem->lumped_mass[i] > 0) || isinf(problem->lumped_mass[i]))
            return tw_fail(error, TW_INVALID_ARGUMENT, "lumped_mass[%lld] = %g is not positive",
                           (long long)i, problem->lumped_mass[i]);
    return TW_OK;
}

/* The number of unknowns is at least 1, and small enough for some hundred vectors to be counted
 * in 64 bits. */
static tw_status check_size(int64_t n, tw_error *error)
{
    const int64_t largest = INT64_C(1) << 48;
    if (n >= 1 && n <= largest) return TW_OK;
    return tw_fail(error, TW_INVALID_ARGUMENT, "space.local_size must be from 1 to 2^48, not %lld",
                   (long long)n);
}

static tw_status check_second(const tw_second_order_problem *problem, tw_error *error)
{
    int64_t n = problem->space.local_size;
    bool damped =
        problem->rayleigh_mass != 0 || problem->rayleigh_stiffness != 0 || problem->apply_damping;

    /* The function is required, and the size is sensible. */
    if (!problem->acceleration)
        return tw_fail(error, TW_INVALID_ARGUMENT, "the problem has no acceleration function");
    TW_TRY(check_size(n, error));

    /* The matrix must have the size of the problem. */
    if (problem->stiffness_matrix && tw_sparse_size(problem->stiffness_matrix) != n)
        return tw_fail(error, TW_INVALID_ARGUMENT,
                       "stiffness_matrix has %lld rows, the problem %lld unknowns",
                       (long long)tw_sparse_size(problem->stiffness_matrix), (long long)n);

    /* Numbers that schemes rely on. */
    const double values[] = {problem->rayleigh_mass, problem->rayleigh_stiffness,
                             problem->symmetric_part.rayleigh_mass,
                             problem->symmetric_part.rayleigh_stiffness};
    if (!tw_vector_is_finite(sizeof values / sizeof *values, values))
        return tw_fail(error, TW_INVALID_ARGUMENT, "a Rayleigh coefficient is not finite");
    double rest_rate = problem->symmetric_part.rest_rate;
    if (!(rest_rate >= 0) || isinf(rest_rate))
        return tw_fail(error, TW_INVALID_ARGUMENT, "rest_rate must be finite and >= 0");
    if (!(problem->eigenvalue_max >= 0) || isinf(problem->eigenvalue_max))
        return tw_fail(error, TW_INVALID_ARGUMENT, "eigenvalue_max must be finite and >= 0");
    if (!(problem->eigenvalue_estimate >= 0) || isinf(problem->eigenvalue_estimate))
        return tw_fail(error, TW_INVALID_ARGUMENT, "eigenvalue_estimate must be finite and >= 0");
    if (!tw_is_count(problem->tension.count))
        return tw_fail(error, TW_INVALID_ARGUMENT, "tension.count is out of range");

    /* Damping makes a depend on v, and the problem must say so. */
    if (damped && !problem->velocity_dependent)
        return tw_fail(error, TW_INVALID_ARGUMENT,
                       "damping is given but velocity_dependent is false");

    return check_masses(problem, error);
}

static tw_status check_first(const tw_first_order_problem *problem, tw_error *error)
{
    int64_t n = problem->space.local_size;

    if (!problem->rhs)
        return tw_fail(error, TW_INVALID_ARGUMENT, "the problem has no rhs function");
    TW_TRY(check_size(n, error));
    if ((unsigned)problem->symmetry > TW_SKEW)
        return tw_fail(error, TW_INVALID_ARGUMENT, "symmetry %d does not exist",
                       (int)problem->symmetry);

    if (problem->jacobian_matrix && tw_sparse_size(problem->jacobian_matrix) != n)
        return tw_fail(error, TW_INVALID_ARGUMENT,
                       "jacobian_matrix does not have the problem's size");
    return TW_OK;
}

static tw_status allocate(tw_system *system)
{
    /* These hold the point of linearisation, F there, and scratch. */
    system->linear_u = TW_NEW_ARRAY(system->size, double);
    system->linear_f = TW_NEW_ARRAY(system->size, double);
    system->scratch = TW_NEW_ARRAY(4 * system->size, double);
    if (!system->linear_u || !system->linear_f || !system->scratch) return TW_OUT_OF_MEMORY;

    /* A pattern without a function that fills it: we do. */
    const tw_sparse *matrix = system->first.jacobian_matrix;
    bool assembles = system->first.assemble != NULL;
    if (system->second_order) {
        matrix = system->second.stiffness_matrix;
        assembles = system->second.assemble != NULL;
    }

    if (!matrix || assembles) return TW_OK;
    tw_log_line(TW_LOG_INFO,
                "a matrix pattern without assemble: its values by coloured finite differences");
    return tw_system_prepare_differences(system, matrix);
}

tw_status tw_system_create(tw_system *system, const tw_second_order_problem *second,
                           const tw_first_order_problem *first, tw_integrator_statistics *counts,
                           tw_error *error)
{
    *system = (tw_system){.second_order = second != NULL, .counts = counts};

    /* The table is checked and copied. */
    if (second) {
        TW_TRY(check_second(second, error));
        system->second = *second;
        system->n = second->space.local_size;
        system->size = 2 * system->n;
    } else {
        TW_TRY(check_first(first, error));
        system->first = *first;
        system->n = first->space.local_size;
        system->size = system->n;
    }

    tw_system_describe_operators(system);

    tw_status status = allocate(system);
    if (status == TW_OK) return TW_OK;
    tw_system_free(system);
    return tw_fail_plain(error, status);
}

void tw_system_free(tw_system *system)
{
    tw_shifted_cholesky_free(system->shifted);
    tw_system_release_differences(system);
    tw_sparse_free(system->own_matrix);
    tw_single_free(system->single.matrix);
    tw_release(system->linear_u);
    tw_release(system->linear_f);
    tw_release(system->scratch);
    *system = (tw_system){0};
}
