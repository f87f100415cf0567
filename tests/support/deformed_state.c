#include "support/deformed_state.h"

#include <check.h>
#include <stdlib.h>

#include "support/derivatives.h"
#include "support/force_checks.h"
#include "support/random.h"
#include "support/sparse_cases.h"
#include "support/test_matrix.h"

double *deformed_positions(const deformed_state *state, int64_t n, const double *rest,
                           uint64_t seed)
{
    test_random random = {.state = seed};
    const double *A = state->A;
    double *x = test_doubles(n);
    for (int64_t i = 0; i < n; i += 3)
        for (int r = 0; r < 3; r++)
            x[i + r] = A[3 * r] * rest[i] + A[3 * r + 1] * rest[i + 1] +
                       A[3 * r + 2] * rest[i + 2] +
                       state->disturbance * test_random_between(&random, -1, 1);
    return x;
}

void deformed_check_derivatives(const deformed_state *state, tw_simulation *simulation,
                                uint64_t seed)
{
    const tw_second_order_problem *p = tw_simulation_second_order(simulation);
    int64_t n = p->space.local_size;
    test_random random = {.state = 99};
    double *x = deformed_positions(state, n, tw_simulation_start(simulation), seed);
    double *e = test_random_vector(&random, n);
    double force = derivative_error_of_force(p, x, e, state->step);
    double tangent = derivative_error_of_tangent(p, x, e, state->step);
    double matrix = derivative_error_of_matrix(p, x, e);
    ck_assert_msg(force <= 1e-6, "%s: force %g", state->name, force);
    ck_assert_msg(tangent <= 1e-6, "%s: tangent %g", state->name, tangent);
    ck_assert_msg(matrix <= 1e-14, "%s: matrix %g", state->name, matrix);
    free(x);
    free(e);
}

void deformed_check_threads(const deformed_state *state, tw_simulation *simulation, uint64_t seed)
{
    int64_t n = tw_simulation_second_order(simulation)->space.local_size;
    double *x = deformed_positions(state, n, tw_simulation_start(simulation), seed);
    force_check_threads(
        &(force_check){.name = state->name, .x = x, .disturbance = 1e-3, .seed = seed}, simulation);
    free(x);
}
