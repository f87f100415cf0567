/* The shared problems are what they claim to be. */
/* labels: threads */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <twang/twang.h>

#include "problems/coil_state.h"
#include "problems/exprb42_step.h"
#include "problems/link_chain.h"
#include "problems/spring_network.h"
#include "problems/verlet_driver.h"
#include "support/random.h"
#include "support/reference_state.h"
#include "support/run_suite.h"

static double *vector(int64_t n)
{
    double *x = calloc((size_t)n, sizeof *x);
    ck_assert_ptr_nonnull(x);
    return x;
}

static double distance(int64_t n, const double *x, const double *y)
{
    double sum = 0;
    for (int64_t i = 0; i < n; i++) sum += (x[i] - (y ? y[i] : 0)) * (x[i] - (y ? y[i] : 0));
    return sqrt(sum);
}

static double mass_of(const problem *p, int64_t i)
{
    return p->lumped_mass ? p->lumped_mass[i] : 1.0;
}

/* f . d = -dV/ds along a random direction, by Richardson-extrapolated central differences. */
static void check_force_is_energy_gradient(const problem *p, const double *x, double step,
                                           double tolerance)
{
    int64_t n = p->size;
    double *a = vector(n), *d = vector(n), *y = vector(n), energy[4];
    test_random random = {.state = 5};
    for (int64_t i = 0; i < n; i++) d[i] = test_random_normal(&random);
    p->acceleration(p->context, x, a);
    double power = 0, scale = 0;
    for (int64_t i = 0; i < n; i++) {
        power += mass_of(p, i) * a[i] * d[i];
        scale += fabs(mass_of(p, i) * a[i] * d[i]);
    }
    const double offsets[4] = {step, -step, 2 * step, -2 * step};
    for (int k = 0; k < 4; k++) {
        for (int64_t i = 0; i < n; i++) y[i] = x[i] + offsets[k] * d[i];
        energy[k] = p->potential(p->context, y);
    }
    double slope = (8 * (energy[0] - energy[1]) - (energy[2] - energy[3])) / (12 * step);
    ck_assert_double_gt(scale, 0);
    ck_assert_double_le(fabs(power + slope), tolerance * scale);
    free(a), free(d), free(y);
}

/* K d = -M da/ds along a random direction, likewise. */
static void check_tangent_is_force_gradient(const problem *p, const double *x, double step,
                                            double tolerance)
{
    int64_t n = p->size;
    double *d = vector(n), *y = vector(n), *a = vector(n), *slope = vector(n), *product = vector(n);
    test_random random = {.state = 6};
    for (int64_t i = 0; i < n; i++) d[i] = test_random_normal(&random);
    const double offsets[4] = {step, -step, 2 * step, -2 * step}, weights[4] = {8, -8, -1, 1};
    for (int k = 0; k < 4; k++) {
        for (int64_t i = 0; i < n; i++) y[i] = x[i] + offsets[k] * d[i];
        p->acceleration(p->context, y, a);
        for (int64_t i = 0; i < n; i++) slope[i] -= mass_of(p, i) * weights[k] * a[i] / (12 * step);
    }
    p->linearise(p->context, x);
    ck_assert_int_eq(p->apply_stiffness(p->context, 1, d, product), TW_OK);
    ck_assert_double_le(distance(n, slope, product), tolerance * distance(n, product, NULL));
    free(d), free(y), free(a), free(slope), free(product);
}

/* Multiplies by the assembled values straight from the pattern, upper or full. */
static void assembled_product(const problem *p, tw_sparse_storage storage, const double *in,
                              double *out)
{
    int64_t *row_start, *column, rows = p->size / p->block;
    int b = p->block;
    ck_assert_int_eq(p->pattern(p->context, storage, &row_start, &column), TW_OK);
    int64_t count = row_start[rows];
    int32_t *narrow = malloc((size_t)count * sizeof *narrow);
    double *values = malloc((size_t)(count * b * b) * sizeof *values);
    ck_assert(narrow && values);
    for (int64_t q = 0; q < count; q++) narrow[q] = (int32_t)column[q];
    for (int64_t q = 0; q < count * b * b; q++) values[q] = NAN;
    p->fill(p->context, storage, row_start, narrow, values);
    memset(out, 0, (size_t)p->size * sizeof *out);
    bool ordered = true;
    for (int64_t i = 0; i < rows; i++)
        for (int64_t q = row_start[i]; q < row_start[i + 1]; q++) {
            int64_t j = column[q];
            ordered = ordered && (q == row_start[i] || column[q - 1] < j) &&
                      (storage == TW_STORE_FULL || j >= i);
            for (int c = 0; c < b; c++)
                for (int r = 0; r < b; r++) {
                    double value = values[q * b * b + c * b + r];
                    out[b * i + r] += value * in[b * j + c];
                    if (storage == TW_STORE_UPPER && j != i)
                        out[b * j + c] += value * in[b * i + r];
                }
        }
    ck_assert(ordered);
    free(row_start), free(column), free(narrow), free(values);
}

static void check_assembled_is_matrix_free(const problem *p, const double *x)
{
    int64_t n = p->size;
    double *d = vector(2 * n), *product = vector(2 * n), *other = vector(n);
    test_random random = {.state = 7};
    for (int64_t i = 0; i < 2 * n; i++) d[i] = test_random_normal(&random);
    p->linearise(p->context, x);
    ck_assert_int_eq(p->apply_stiffness(p->context, 2, d, product), TW_OK);
    for (int column = 0; column < 2; column++) {
        double bound = 1e-13 * distance(n, product + column * n, NULL);
        assembled_product(p, TW_STORE_FULL, d + column * n, other);
        ck_assert_double_le(distance(n, product + column * n, other), bound);
        assembled_product(p, TW_STORE_UPPER, d + column * n, other);
        ck_assert_double_le(distance(n, product + column * n, other), bound);
    }
    free(d), free(product), free(other);
}

/* A state off equilibrium: the initial one, disturbed. */
static double *disturbed(int64_t n, const double *x, double size)
{
    double *y = vector(n);
    test_random random = {.state = 11};
    for (int64_t i = 0; i < n; i++) y[i] = x[i] + size * test_random_normal(&random);
    return y;
}

static void check_derivatives(const problem *p, const double *initial, double disturbance,
                              double step)
{
    double *x = disturbed(p->size, initial, disturbance);
    check_force_is_energy_gradient(p, x, step, 1e-8);
    check_tangent_is_force_gradient(p, x, step, 1e-8);
    check_assembled_is_matrix_free(p, x);
    free(x);
}

START_TEST(chains_are_consistent)
{
    link_chain *chains[] = {fput_create(3, 100), fput_create(500, 100), fput_create(1, 50),
                            fpu_beta_create(1000, 1), fpu_beta_create(1, 1)};
    for (size_t i = 0; i < sizeof chains / sizeof *chains; i++) {
        ck_assert_ptr_nonnull(chains[i]);
        problem p = link_chain_problem(chains[i]);
        check_derivatives(&p, chains[i]->initial_x, 0.5, 1e-3);
        link_chain_free(chains[i]);
    }
}
END_TEST

START_TEST(networks_are_consistent)
{
    coil_parameters small = coil_default();
    small.sections = 12;
    spring_network *networks[3];
    ck_assert_int_eq(coil_create(small, &networks[0]), TW_OK);
    ck_assert_int_eq(rope_create(1e4, &networks[1]), TW_OK);
    ck_assert_int_eq(coil_create(coil_hard(), &networks[2]), TW_OK);
    for (int i = 0; i < 3; i++) {
        problem p = spring_network_problem(networks[i]);
        check_derivatives(&p, networks[i]->initial, 1e-3, 1e-5);
        spring_network_free(networks[i]);
    }
}
END_TEST

START_TEST(fput_starts_with_the_published_energy)
{
    link_chain *chain = fput_create(3, 100);
    ck_assert_ptr_nonnull(chain);
    problem p = link_chain_problem(chain);
    double H = problem_energy(&p, chain->initial_x, chain->initial_v), energies[3];
    ck_assert_double_eq_tol(H, 2.500300005, 1e-12);
    ck_assert_double_eq_tol(
        fput_oscillatory_energies(chain, chain->initial_x, chain->initial_v, energies), 1, 1e-15);
    ck_assert_double_eq_tol(energies[0], 1, 1e-15);
    link_chain_free(chain);
}
END_TEST

START_TEST(fpu_beta_has_the_frequencies_of_the_linear_chain)
{
    link_chain *chain = fpu_beta_create(100, 1);
    ck_assert_ptr_nonnull(chain);
    problem p = link_chain_problem(chain);
    p.linearise(p.context, chain->initial_x);
    double exact = 2 * sin(0.5 * 3.14159265358979323846 * 100 / 101);
    ck_assert_double_eq_tol(problem_frequency_max(&p, 100), exact, 1e-12);
    link_chain_free(chain);
}
END_TEST

START_TEST(coil_is_the_coil_of_the_scene)
{
    spring_network *coil;
    ck_assert_int_eq(coil_create(coil_default(), &coil), TW_OK);
    ck_assert_int_eq(coil->particle_count, 8000);
    ck_assert_int_eq(coil->spring_count, 40951);
    ck_assert_int_eq(coil->free_count, 8000 - 4 * 16);
    problem p = spring_network_problem(coil);
    double *a = vector(p.size);
    p.acceleration(p.context, coil->initial, a);
    double worst = 0; /* at rest: nothing but the field, up to the rounding of k (1 - L/l) */
    for (int64_t i = 0; i < p.size; i++)
        worst = fmax(worst, fabs(a[i] - (i % 3 == 2 ? -0.05 : 0.0)));
    ck_assert_double_le(worst, 1e-8);
    p.linearise(p.context, coil->initial);
    double omega = problem_frequency_max(&p, 80);
    ck_assert_double_eq_tol(omega, 3329, 0.5);
    spring_network_free(coil);

    ck_assert_int_eq(coil_create(coil_hard(), &coil), TW_OK);
    p = spring_network_problem(coil);
    p.linearise(p.context, coil->initial);
    ck_assert_double_eq_tol(problem_frequency_max(&p, 80), 10 * omega, 1e-6 * omega);
    spring_network_free(coil);
    free(a);
}
END_TEST

START_TEST(rope_is_the_rope_of_the_scene)
{
    spring_network *rope;
    ck_assert_int_eq(rope_create(1e6, &rope), TW_OK);
    ck_assert_int_eq(rope->particle_count, 11);
    ck_assert_int_eq(rope->free_count, 10);
    problem p = spring_network_problem(rope);
    ck_assert_double_eq(p.lumped_mass[0], 0.1);
    ck_assert_double_eq_tol(rope->initial[27], 1.0, 1e-15);
    /* Longitudinal modes of a fixed-free chain of ten: omega = 2 sqrt(k/m) sin((2j - 1) pi/42). */
    p.linearise(p.context, rope->initial);
    double exact = 2 * sqrt(1e6 / 0.1) * sin(19 * 3.14159265358979323846 / 42);
    ck_assert_double_eq_tol(problem_frequency_max(&p, 30), exact, 1e-8 * exact);
    spring_network_free(rope);
}
END_TEST

START_TEST(networks_refuse_what_is_not_a_spring)
{
    const double positions[6] = {0, 0, 0, 1, 0, 0}, masses[2] = {1, 1};
    const bool pinned[2] = {true, false};
    spring bad = {0, 1, 1, 0};
    network_input input = {2, positions, masses, pinned, 1, &bad, {0}};
    spring_network *network;
    ck_assert_int_eq(spring_network_create(&input, &network), TW_INVALID_ARGUMENT);
    bad = (spring){0, 2, 1, 1};
    ck_assert_int_eq(spring_network_create(&input, &network), TW_INVALID_ARGUMENT);
    ck_assert_ptr_null(network);
    coil_parameters parameters = coil_default();
    parameters.sections = 4;
    ck_assert_int_eq(coil_create(parameters, &network), TW_INVALID_ARGUMENT);
}
END_TEST

/* Bits of force, tangent product and assembled values do not depend on the number of threads. */
START_TEST(threads_do_not_change_bits)
{
    spring_network *coil;
    ck_assert_int_eq(coil_create(coil_default(), &coil), TW_OK);
    problem p = spring_network_problem(coil);
    double *x = disturbed(p.size, coil->initial, 1e-3);
    double *a[2] = {vector(p.size), vector(p.size)}, *y[2] = {vector(p.size), vector(p.size)};
    const int threads[] = {1, 2, 3, 8};
    for (int t = 0; t < 4; t++) {
        int to = t > 0;
        tw_set_threads(threads[t]);
        p.acceleration(p.context, x, a[to]);
        p.linearise(p.context, x);
        p.apply_stiffness(p.context, 1, x, y[to]);
        if (t == 0) continue;
        ck_assert_mem_eq(a[0], a[1], (size_t)p.size * sizeof(double));
        ck_assert_mem_eq(y[0], y[1], (size_t)p.size * sizeof(double));
    }
    tw_set_threads(0);
    free(x), free(a[0]), free(a[1]), free(y[0]), free(y[1]);
    spring_network_free(coil);
}
END_TEST

/* Largest deviation of the energy from its start, relative to the largest kinetic energy seen. */
static double verlet_energy_error(const problem *p, const double *x0, const double *v0, double h,
                                  int64_t steps)
{
    int64_t n = p->size;
    double *x = vector(n), *v = vector(n), *a = vector(n);
    memcpy(x, x0, (size_t)n * sizeof *x);
    if (v0) memcpy(v, v0, (size_t)n * sizeof *v);
    double start = problem_energy(p, x, v), worst = 0, kinetic = 0;
    for (int64_t s = 0; s < steps; s += 10) {
        verlet_run(p, h, 10, x, v, a);
        double energy = problem_energy(p, x, v);
        worst = fmax(worst, fabs(energy - start));
        kinetic = fmax(kinetic, energy - p->potential(p->context, x));
    }
    free(x), free(v), free(a);
    return worst / kinetic;
}

START_TEST(verlet_keeps_energy_to_second_order)
{
    link_chain *chain = fput_create(3, 100);
    ck_assert_ptr_nonnull(chain);
    problem p = link_chain_problem(chain);
    double coarse = verlet_energy_error(&p, chain->initial_x, chain->initial_v, 1e-3, 10000);
    double fine = verlet_energy_error(&p, chain->initial_x, chain->initial_v, 5e-4, 20000);
    ck_assert_double_le(coarse, 5e-3);
    ck_assert_double_ge(coarse / fine, 3.7);
    ck_assert_double_le(coarse / fine, 4.3);
    link_chain_free(chain);

    coil_parameters parameters = coil_default();
    parameters.sections = 40;
    spring_network *coil;
    ck_assert_int_eq(coil_create(parameters, &coil), TW_OK);
    p = spring_network_problem(coil);
    ck_assert_double_le(verlet_energy_error(&p, coil->initial, NULL, 0.5 * 2 / 3329.0, 2000), 1e-2);
    spring_network_free(coil);
}
END_TEST

START_TEST(coil_state_is_the_same_from_the_cache)
{
    coil_parameters parameters = coil_default();
    parameters.sections = 30;
    int64_t n = 3 * 16 * (parameters.sections - 4);
    double *x[2] = {vector(n), vector(n)}, *v[2] = {vector(n), vector(n)};
    bool cached = false;
    for (int i = 0; i < 2; i++)
        ck_assert_int_eq(coil_state(parameters, 0.1, x[i], v[i], &cached), TW_OK);
    ck_assert(cached);
    ck_assert_mem_eq(x[0], x[1], (size_t)n * sizeof(double));
    ck_assert_mem_eq(v[0], v[1], (size_t)n * sizeof(double));
    /* It fell (the tip of a hinged bar falls at up to 3/2 g), and the energy that Verlet keeps is the initial one. */
    spring_network *coil;
    ck_assert_int_eq(coil_create(parameters, &coil), TW_OK);
    problem p = spring_network_problem(coil);
    double fall = coil->initial[n - 1] - x[0][n - 1];
    ck_assert_double_ge(fall, 0.5 * 0.05 * 0.01);
    ck_assert_double_le(fall, 1.5 * 0.5 * 0.05 * 0.01);
    double energy = problem_energy(&p, x[0], v[0]), *rest = vector(n);
    double kinetic = energy - p.potential(p.context, x[0]);
    ck_assert_double_eq_tol(energy, problem_energy(&p, coil->initial, rest), 0.02 * kinetic);
    spring_network_free(coil);
    free(x[0]), free(x[1]), free(v[0]), free(v[1]), free(rest);
}
END_TEST

/* Verlet with three steps extrapolated (its error is even in h): an order-six method nobody doubts. */
static void extrapolated_verlet(const problem *p, const double *x0, const double *v0, double t,
                                int64_t steps, double *state)
{
    int64_t n = p->size;
    double *x = vector(n), *v = vector(n), *a = vector(n);
    const double weights[3] = {1.0 / 45, -20.0 / 45, 64.0 / 45}; /* h, h/2, h/4 */
    memset(state, 0, 2 * (size_t)n * sizeof *state);
    for (int level = 0; level < 3; level++) {
        memcpy(x, x0, (size_t)n * sizeof *x);
        if (v0)
            memcpy(v, v0, (size_t)n * sizeof *v);
        else
            memset(v, 0, (size_t)n * sizeof *v);
        verlet_run(p, t / (double)(steps << level), steps << level, x, v, a);
        for (int64_t i = 0; i < n; i++) {
            state[i] += weights[level] * x[i];
            state[n + i] += weights[level] * v[i];
        }
    }
    free(x), free(v), free(a);
}

START_TEST(fput_reaches_the_independent_reference)
{
    link_chain *chain = fput_create(3, 100);
    ck_assert_ptr_nonnull(chain);
    problem p = link_chain_problem(chain);
    double state[12], reference[12];
    ck_assert(reference_read("fput_T1.txt", 6, 2, reference));
    extrapolated_verlet(&p, chain->initial_x, chain->initial_v, 1, 20000, state);
    for (int i = 0; i < 6; i++) {
        ck_assert_double_eq_tol(state[i], reference[2 * i], 1e-12);
        ck_assert_double_eq_tol(state[6 + i], reference[2 * i + 1], 1e-10);
    }
    link_chain_free(chain);
    /* The committed T = 100 has the initial energy to rounding. */
    chain = fput_create(3, 100);
    p = link_chain_problem(chain);
    ck_assert(reference_read("fput_T100.txt", 6, 2, reference));
    for (int i = 0; i < 6; i++) state[i] = reference[2 * i], state[6 + i] = reference[2 * i + 1];
    ck_assert_double_eq_tol(problem_energy(&p, state, state + 6), 2.500300005, 1e-13);
    link_chain_free(chain);
}
END_TEST

START_TEST(rope_reaches_the_independent_reference)
{
    spring_network *rope;
    ck_assert_int_eq(rope_create(1e4, &rope), TW_OK);
    problem p = spring_network_problem(rope);
    double state[60], reference[60];
    ck_assert(reference_read("rope_k4_T0.4.txt", 10, 6, reference));
    extrapolated_verlet(&p, rope->initial, NULL, 0.4, 20000, state);
    for (int i = 0; i < 30; i++) {
        ck_assert_double_eq_tol(state[i], reference[i / 3 * 6 + i % 3], 1e-11);
        ck_assert_double_eq_tol(state[30 + i], reference[i / 3 * 6 + 3 + i % 3], 1e-8);
    }
    spring_network_free(rope);
}
END_TEST

/* Largest error of exprb42 with exact functions at T = 1. */
static double fput_error_of_exprb42(int64_t steps, const double reference[12])
{
    link_chain *chain = fput_create(3, 100);
    ck_assert_ptr_nonnull(chain);
    problem p = link_chain_problem(chain);
    tw_phi_limits limits = tw_phi_limits_default();
    limits.size = p.size;
    limits.options.engine = TW_PHI_DENSE;
    limits.options.tolerance = 1e-12;
    tw_phi_workspace *workspace;
    exprb42 stepper;
    ck_assert_int_eq(tw_phi_workspace_create(&limits, &workspace, NULL), TW_OK);
    ck_assert_int_eq(exprb42_create(&p, workspace, &stepper), TW_OK);
    double worst = 0, *x = chain->initial_x, *v = chain->initial_v;
    tw_second_order op = problem_second_order(&p);
    tw_phi_statistics statistics;
    for (int64_t s = 0; s < steps; s++) {
        p.linearise(p.context, x);
        ck_assert_int_eq(exprb42_step(&stepper, &op, 1.0 / (double)steps, x, v, &statistics, NULL),
                         TW_OK);
    }
    for (int i = 0; i < 6; i++)
        worst = fmax(worst, fmax(fabs(x[i] - reference[2 * i]), fabs(v[i] - reference[2 * i + 1])));
    exprb42_free(&stepper);
    tw_phi_workspace_free(workspace);
    link_chain_free(chain);
    return worst;
}

START_TEST(exprb42_has_order_four)
{
    double reference[12];
    ck_assert(reference_read("fput_T1.txt", 6, 2, reference));
    double coarse = fput_error_of_exprb42(100, reference),
           fine = fput_error_of_exprb42(200, reference);
    double finest = fput_error_of_exprb42(400, reference);
    ck_assert_double_ge(log2(coarse / fine), 3.8);
    ck_assert_double_ge(log2(fine / finest), 3.8);
    ck_assert_double_le(finest, 1e-6);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("problems");
    TCase *cases = tcase_create("problems");
    tcase_set_timeout(cases, 60);
    tcase_add_test(cases, chains_are_consistent);
    tcase_add_test(cases, networks_are_consistent);
    tcase_add_test(cases, fput_starts_with_the_published_energy);
    tcase_add_test(cases, fpu_beta_has_the_frequencies_of_the_linear_chain);
    tcase_add_test(cases, coil_is_the_coil_of_the_scene);
    tcase_add_test(cases, rope_is_the_rope_of_the_scene);
    tcase_add_test(cases, networks_refuse_what_is_not_a_spring);
    tcase_add_test(cases, threads_do_not_change_bits);
    tcase_add_test(cases, verlet_keeps_energy_to_second_order);
    tcase_add_test(cases, coil_state_is_the_same_from_the_cache);
    tcase_add_test(cases, fput_reaches_the_independent_reference);
    tcase_add_test(cases, rope_reaches_the_independent_reference);
    tcase_add_test(cases, exprb42_has_order_four);
    suite_add_tcase(suite, cases);
    return run_suite(suite);
}
