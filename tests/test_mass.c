/* labels: threads */
/* Consistent mass: kinetic energy of polynomial velocities, free fall, solutions, what is refused. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <twang/twang.h>

#include "support/box_solid.h"
#include "support/derivatives.h"
#include "support/failing_allocator.h"
#include "support/random.h"
#include "support/run_suite.h"
#include "support/sparse_cases.h"

static const double size[3] = {1.3, 0.9, 0.8}, gravity[3] = {0.3, -0.2, -9.81};
static const int node_counts[2] = {4, 10};

static box_solid irregular_box(int nodes)
{
    return box_solid_make(
        &(box_shape){.cells = {4, 3, 3}, .size = {1.3, 0.9, 0.8}, .nodes = nodes, .jitter = 0.25});
}

/* The box with consistent mass, `more` kg added to every particle, in a field of gravity. */
static tw_status make(const box_solid *box, double more, int held, tw_simulation **simulation,
                      tw_error *error)
{
    tw_model *model = NULL;
    tw_solid_material material = tw_solid_material_default();
    material.youngs_modulus =
        1.0; /* so that the rounding of elastic forces does not hide the rest */
    double *masses = test_allocate((size_t)box->vertices, sizeof(double));
    double *element_mass = test_allocate((size_t)box->count, sizeof(double));
    for (int64_t i = 0; i < box->vertices; i++) masses[i] = box->masses[i] + more;
    tw_status status = tw_solid_element_mass(box->nodes, box->count, box->elements, box->vertices,
                                             box->positions, 1.0, element_mass, error);
    if (status == TW_OK) status = tw_model_create(&model, NULL);
    if (status == TW_OK)
        status =
            tw_model_add_particles(model, box->vertices, box->positions, NULL, masses, NULL, error);
    if (status == TW_OK && held) status = tw_model_pin(model, 0, held - 1, error);
    if (status == TW_OK)
        status = tw_model_add_tetrahedra(model, box->nodes, box->count, box->elements, NULL,
                                         &material, error);
    if (status == TW_OK)
        status = tw_model_add_consistent_mass(model, box->nodes, box->count, box->elements,
                                              element_mass, error);
    if (status == TW_OK) status = tw_model_add_gravity(model, gravity, error);
    free(masses);
    free(element_mass);
    if (status == TW_OK) status = tw_simulation_of_model(model, simulation, error);
    if (status != TW_OK) tw_model_free(model);
    return status;
}

static tw_simulation *simulate(const box_solid *box, double more, int held)
{
    tw_simulation *simulation = NULL;
    tw_error error = {0};
    ck_assert_msg(make(box, more, held, &simulation, &error) == TW_OK, "%s", error.text);
    return simulation;
}

/* v = (1 + x, 0, 0), and (x z, 0, 0) for ten nodes: 1/2 int |v|^2 */
START_TEST(kinetic_energy_of_polynomial_velocities_is_exact)
{
    box_solid box = irregular_box(node_counts[_i]);
    tw_simulation *simulation = simulate(&box, 0, 0);
    int64_t n = 3 * box.vertices;
    double *u = test_allocate(2 * (size_t)n, sizeof(double)), section = size[1] * size[2];
    memset(u, 0, 2 * (size_t)n * sizeof(double));
    memcpy(u, box.positions, (size_t)n * sizeof(double));
    tw_measurement m;
    for (int64_t i = 0; i < n; i += 3) u[n + i] = 1 + u[i];
    ck_assert_int_eq(tw_simulation_measure(simulation, 0, u, &m), TW_OK);
    double cubes = (pow(1 + size[0], 3) - 1) / 3, squares = (pow(1 + size[0], 2) - 1) / 2;
    ck_assert_double_eq_tol(m.kinetic, 0.5 * section * cubes, 1e-13);
    ck_assert_double_eq_tol(m.momentum[0], section * squares, 1e-13);
    ck_assert_double_eq_tol(m.momentum[1], 0, 1e-13);
    /* x cross v = (0, z v, -y v) */
    ck_assert_double_eq_tol(m.angular_momentum[1], squares * size[1] * size[2] * size[2] / 2,
                            1e-13);
    if (_i == 1) {
        for (int64_t i = 0; i < n; i += 3) u[n + i] = u[i] * u[i + 2];
        ck_assert_int_eq(tw_simulation_measure(simulation, 0, u, &m), TW_OK);
        ck_assert_double_eq_tol(m.kinetic,
                                0.5 * pow(size[0], 3) / 3 * size[1] * pow(size[2], 3) / 3, 1e-13);
    }
    free(u);
    tw_simulation_free(simulation);
    box_solid_free(&box);
}
END_TEST

START_TEST(bodies_fall_freely)
{
    box_solid box = irregular_box(node_counts[_i]);
    tw_simulation *simulation = simulate(&box, 0.01, 0);
    const tw_second_order_problem *p = tw_simulation_second_order(simulation);
    double *a = test_allocate(3 * (size_t)box.vertices, sizeof(double));
    ck_assert_int_eq(p->acceleration(p->context, 0, box.positions, box.positions, a), TW_OK);
    for (int64_t i = 0; i < 3 * box.vertices; i++)
        ck_assert_double_eq_tol(a[i], gravity[i % 3], 1e-12);
    free(a);
    tw_simulation_free(simulation);
    box_solid_free(&box);
}
END_TEST

START_TEST(operator_matrix_and_solution_agree)
{
    box_solid box = irregular_box(node_counts[_i]);
    tw_simulation *simulation = simulate(&box, 0, 7);
    const tw_second_order_problem *p = tw_simulation_second_order(simulation);
    ck_assert_ptr_null(p->lumped_mass);
    ck_assert_ptr_nonnull(p->mass);
    int64_t n = p->space.local_size;
    test_random random = {.state = 2};
    double *in = test_random_vector(&random, 2 * n), *out = test_random_vector(&random, 2 * n);
    double *other = test_random_vector(&random, 2 * n);
    ck_assert_int_eq(p->mass->apply(p->mass->context, 2, in, out), TW_OK);
    ck_assert_int_eq(tw_sparse_apply(p->mass_matrix, 2, in, other), TW_OK);
    for (int64_t i = 0; i < 2 * n; i++) ck_assert_double_eq_tol(other[i], out[i], 1e-16);
    ck_assert_int_eq(p->mass->solve(p->mass->context, 2, out, other), TW_OK);
    for (int64_t i = 0; i < 2 * n; i++) ck_assert_double_eq_tol(other[i], in[i], 1e-12);
    free(in);
    free(out);
    free(other);
    tw_simulation_free(simulation);
    box_solid_free(&box);
}
END_TEST

/* Two bars in a line, v = x along them, and 2 kg besides on the last particle. */
START_TEST(bars_are_consistent_too)
{
    const double x[9] = {0, 0, 0, 1, 0, 0, 3, 0, 0}, v[9] = {0, 0, 0, 1, 0, 0, 3, 0, 0},
                 masses[3] = {0.5, 1.5, 3};
    const double bars[2] = {1, 2}, k[2] = {1, 1};
    const int64_t ends[4] = {0, 1, 1, 2};
    tw_model *model = NULL;
    tw_simulation *simulation = NULL;
    tw_measurement m;
    ck_assert_int_eq(tw_model_create(&model, NULL), TW_OK);
    ck_assert_int_eq(tw_model_add_particles(model, 3, x, v, masses, NULL, NULL), TW_OK);
    ck_assert_int_eq(tw_model_add_springs(model, 2, ends, k, NULL, NULL), TW_OK);
    ck_assert_int_eq(tw_model_add_consistent_mass(model, 2, 2, ends, bars, NULL), TW_OK);
    ck_assert_int_eq(tw_simulation_of_model(model, &simulation, NULL), TW_OK);
    ck_assert_int_eq(tw_simulation_measure(simulation, 0, tw_simulation_start(simulation), &m),
                     TW_OK);
    ck_assert_double_eq_tol(m.kinetic, 0.5 * 27.0 / 3 + 0.5 * 2 * 9,
                            1e-13); /* 1 kg per metre: 1/2 int x^2 */
    tw_simulation_free(simulation);
}
END_TEST

START_TEST(wrong_masses_are_refused)
{
    const double x[6] = {0, 0, 0, 1, 0, 0}, small[2] = {0.1, 0.1}, bar = 2, none = 0, k = 1;
    const int64_t ends[2] = {0, 1}, beyond[2] = {0, 2};
    tw_model *model = NULL;
    tw_simulation *simulation = NULL;
    tw_error error = {0};
    ck_assert_int_eq(tw_model_create(&model, NULL), TW_OK);
    ck_assert_int_eq(tw_model_add_particles(model, 2, x, NULL, small, NULL, NULL), TW_OK);
    ck_assert_int_eq(tw_model_add_springs(model, 1, ends, &k, NULL, NULL), TW_OK);
    ck_assert_int_eq(tw_model_add_consistent_mass(model, 3, 1, ends, &bar, &error),
                     TW_INVALID_ARGUMENT);
    ck_assert_int_eq(tw_model_add_consistent_mass(model, 2, 1, beyond, &bar, &error),
                     TW_INVALID_ARGUMENT);
    ck_assert_int_eq(tw_model_add_consistent_mass(model, 2, 1, ends, &none, &error),
                     TW_INVALID_ARGUMENT);
    ck_assert_int_eq(tw_model_add_consistent_mass(model, 2, 1, ends, NULL, &error),
                     TW_INVALID_ARGUMENT);
    ck_assert_int_eq(tw_model_add_consistent_mass(model, 2, 1, ends, &bar, &error), TW_OK);
    ck_assert_int_eq(tw_simulation_of_model(model, &simulation, &error), TW_INVALID_ARGUMENT);
    ck_assert_msg(strstr(error.text, "do not contain"), "%s", error.text);
    tw_model_free(model);
}
END_TEST

START_TEST(threads_change_no_bit)
{
    box_solid box = box_solid_make(
        &(box_shape){.cells = {24, 8, 8}, .size = {3, 1, 1}, .nodes = 4, .jitter = 0.2});
    tw_simulation *simulation = simulate(&box, 0, 81);
    const tw_second_order_problem *p = tw_simulation_second_order(simulation);
    int64_t n = p->space.local_size;
    test_random random = {.state = 2};
    double *in = test_random_vector(&random, n), *out[4];
    static const int threads[4] = {1, 2, 3, 8};
    for (int run = 0; run < 4; run++) {
        out[run] = test_allocate(2 * (size_t)n + 2, sizeof(double));
        tw_set_threads(threads[run]);
        ck_assert_int_eq(p->mass->apply(p->mass->context, 1, in, out[run]), TW_OK);
        ck_assert_int_eq(
            p->acceleration(p->context, 0, tw_simulation_start(simulation), in, out[run] + n),
            TW_OK);
        ck_assert_int_eq(p->energy(p->context, 0, tw_simulation_start(simulation), in,
                                   out[run] + 2 * n, out[run] + 2 * n + 1),
                         TW_OK);
        ck_assert_int_eq(memcmp(out[0], out[run], (2 * (size_t)n + 2) * sizeof(double)), 0);
    }
    tw_set_threads(0);
    for (int run = 0; run < 4; run++) free(out[run]);
    free(in);
    tw_simulation_free(simulation);
    box_solid_free(&box);
}
END_TEST

static tw_status attempt(void *context)
{
    tw_simulation *simulation = NULL;
    tw_status status = make(context, 0, 1, &simulation, NULL);
    tw_simulation_free(simulation);
    return status;
}

START_TEST(memory_may_run_out_anywhere)
{
    box_solid box = box_solid_make(&(box_shape){.cells = {2, 1, 1}, .size = {2, 1, 1}, .nodes = 4});
    ck_assert_int_gt(test_fail_each_allocation(attempt, &box), 50);
    box_solid_free(&box);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("mass");
    TCase *cases = tcase_create("mass");
    tcase_set_timeout(cases, 120);
    tcase_add_loop_test(cases, kinetic_energy_of_polynomial_velocities_is_exact, 0, 2);
    tcase_add_loop_test(cases, bodies_fall_freely, 0, 2);
    tcase_add_loop_test(cases, operator_matrix_and_solution_agree, 0, 2);
    tcase_add_test(cases, bars_are_consistent_too);
    tcase_add_test(cases, wrong_masses_are_refused);
    tcase_add_test(cases, threads_change_no_bit);
    tcase_add_test(cases, memory_may_run_out_anywhere);
    suite_add_tcase(suite, cases);
    return run_suite(suite);
}
