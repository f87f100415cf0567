/* labels: threads */
/* Rayleigh damping and moved particles with solids and girder networks: derivatives, momentum, threads, rigid motion.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <twang/twang.h>

#include "support/box_solid.h"
#include "support/derivatives.h"
#include "support/failing_allocator.h"
#include "support/force_checks.h"
#include "support/random.h"
#include "support/run_suite.h"
#include "support/sparse_cases.h"

enum { LINEAR, COROTATIONAL, NEO_HOOKEAN, NETWORK, KINDS };
static const char *const names[KINDS] = {"linear", "co-rotational", "neo-Hookean", "network"};
static const double beta = 0.02;

/* The edges of the elements as girders of stiffness 100. */
static tw_status add_network(tw_model *model, const box_solid *box)
{
    int64_t *ten = test_allocate(10 * (size_t)box->count, sizeof *ten), count = 0;
    int64_t *ends = test_allocate(12 * (size_t)box->count, sizeof *ends);
    tw_status status =
        tw_solid_quadratic(box->vertices, box->count, box->elements, ten, ends, &count, NULL);
    double *axial = test_allocate((size_t)count, sizeof *axial),
           *transverse = test_allocate((size_t)count, sizeof *axial);
    for (int64_t e = 0; e < count; e++) {
        axial[e] = 100;
        transverse[e] = 10;
    }
    if (status == TW_OK)
        status = tw_model_add_warped_network(model, count, ends, axial, transverse, NULL, NULL);
    free(ten);
    free(ends);
    free(axial);
    free(transverse);
    return status;
}

/* `held`: the first three particles are pinned, the last three oscillate. */
static tw_status make(const box_solid *box, int kind, bool held, double alpha,
                      tw_simulation **simulation)
{
    tw_model *model = NULL;
    tw_solid_material material = {
        .law = (tw_solid_law)kind, .youngs_modulus = 1000, .poisson_ratio = 0.3};
    tw_status status = tw_model_create(&model, NULL);
    if (status == TW_OK)
        status = tw_model_add_particles(model, box->vertices, box->positions, NULL, box->masses,
                                        NULL, NULL);
    if (status == TW_OK && held) status = tw_model_pin(model, 0, 2, NULL);
    if (status == TW_OK && held)
        status = tw_model_prescribe_oscillation(model, box->vertices - 3, box->vertices - 1,
                                                (double[3]){0.01, 0.02, 0.03}, 2, 0.5, NULL);
    if (status == TW_OK)
        status = kind == NETWORK ? add_network(model, box)
                                 : tw_model_add_tetrahedra(model, box->nodes, box->count,
                                                           box->elements, NULL, &material, NULL);
    if (status == TW_OK) status = tw_model_set_rayleigh(model, alpha, beta, NULL);
    if (status == TW_OK) status = tw_simulation_of_model(model, simulation, NULL);
    if (status != TW_OK) tw_model_free(model);
    return status;
}

/* Numbers 0..6: the laws with four and with ten nodes, and the network. */
enum { CASES = 7 };

static int kind_of(int number)
{
    return number == 6 ? NETWORK : number / 2;
}

static box_solid box_of(int number, int cells)
{
    int nodes = number < 6 && number % 2 ? 10 : 4;
    return box_solid_make(&(box_shape){
        .cells = {cells, 2, 2}, .size = {1.2, 0.8, 0.9}, .nodes = nodes, .jitter = 0.2});
}

static tw_simulation *simulate(const box_solid *box, int number, bool held)
{
    tw_simulation *simulation = NULL;
    ck_assert_int_eq(make(box, kind_of(number), held, 0, &simulation), TW_OK);
    return simulation;
}

START_TEST(derivatives_agree_with_differences)
{
    box_solid box = box_of(_i, 3);
    tw_simulation *simulation = simulate(&box, _i, true);
    static const double disturbances[3] = {1e-3, 0.03, 0.1};
    for (int d = 0; d < 3; d++)
        force_check_derivatives(&(force_check){.name = names[kind_of(_i)],
                                               .disturbance = disturbances[d],
                                               .seed = 5,
                                               .step = 1e-5,
                                               .matrix_tolerance = 1e-13},
                                simulation);
    tw_simulation_free(simulation);
    box_solid_free(&box);
}
END_TEST

START_TEST(damping_conserves_momentum)
{
    if (kind_of(_i) == LINEAR) return; /* it knows no rotation */
    box_solid box = box_of(_i, 3);
    tw_simulation *simulation = simulate(&box, _i, false);
    force_check_momentum(names[kind_of(_i)], simulation);
    tw_simulation_free(simulation);
    box_solid_free(&box);
}
END_TEST

START_TEST(threads_change_no_bit)
{
    box_solid box =
        box_of(_i, _i < 6 && _i % 2 ? 60 : 160); /* a few blocks of elements and of particles */
    tw_simulation *simulation = simulate(&box, _i, true);
    force_check_threads(&(force_check){.name = names[kind_of(_i)], .disturbance = 0.05, .seed = 5},
                        simulation);
    tw_simulation_free(simulation);
    box_solid_free(&box);
}
END_TEST

/* At rest D = beta K (a network: of its axial part alone). */
START_TEST(damping_is_proportional_at_rest)
{
    box_solid box = box_of(_i, 3);
    tw_simulation *simulation = simulate(&box, _i, false);
    const tw_second_order_problem *p = tw_simulation_second_order(simulation);
    int64_t n = p->space.local_size;
    test_random random = {.state = 3};
    double *e = test_random_vector(&random, n), *Ke = test_random_vector(&random, n),
           *De = test_random_vector(&random, n);
    const double *start = tw_simulation_start(simulation);
    ck_assert_int_eq(p->linearise(p->context, 0, start, start + n), TW_OK);
    ck_assert_int_eq(p->apply_stiffness(p->context, 1, e, Ke), TW_OK);
    ck_assert_int_eq(p->apply_damping(p->context, 1, e, De), TW_OK);
    for (int64_t i = 0; i < n; i++) De[i] -= beta * Ke[i];
    ck_assert_double_le(derivative_norm(n, De), 1e-12 * beta * derivative_norm(n, Ke));
    free(e);
    free(Ke);
    free(De);
    tw_simulation_free(simulation);
    box_solid_free(&box);
}
END_TEST

/* Turning and moving without deformation: damping adds nothing to the elastic force, however the body is strained. */
START_TEST(rigid_motion_is_not_damped)
{
    box_solid box = box_of(_i, 3);
    tw_simulation *simulation = NULL;
    ck_assert_int_eq(make(&box, kind_of(_i), false, 1.5, &simulation), TW_OK);
    const tw_second_order_problem *p = tw_simulation_second_order(simulation);
    int64_t n = p->space.local_size;
    test_random random = {.state = 3};
    double *x = test_random_vector(&random, n), *v = test_random_vector(&random, n),
           *a = test_random_vector(&random, n);
    double *still = test_random_vector(&random, n), *zero = test_random_vector(&random, n);
    double strain = kind_of(_i) == LINEAR ? 0 : 0.1;
    const double spin[3] = {1, -2, 3};
    for (int64_t i = 0; i < n; i++) {
        x[i] = tw_simulation_start(simulation)[i] + strain * x[i];
        zero[i] = 0;
    }
    for (int64_t i = 0; i < n; i++) {
        int64_t at = i - i % 3, k = i % 3;
        v[i] =
            0.7 + spin[(k + 1) % 3] * x[at + (k + 2) % 3] - spin[(k + 2) % 3] * x[at + (k + 1) % 3];
    }
    ck_assert_int_eq(p->acceleration(p->context, 0, x, v, a), TW_OK);
    ck_assert_int_eq(p->acceleration(p->context, 0, x, zero, still), TW_OK);
    double scale =
        1000 * beta / box.masses[0] * 3; /* what a deformation at this rate would bring */
    for (int64_t i = 0; i < n; i++) ck_assert_double_eq_tol(a[i], still[i], 1e-12 * scale);
    free(x);
    free(v);
    free(a);
    free(still);
    free(zero);
    tw_simulation_free(simulation);
    box_solid_free(&box);
}
END_TEST

/* Everything an integrator calls, after the model is complete. */
START_TEST(nothing_is_allocated_while_it_runs)
{
    box_solid box = box_of(_i, 3);
    tw_simulation *simulation = simulate(&box, _i, true);
    const tw_second_order_problem *p = tw_simulation_second_order(simulation);
    int64_t n = p->space.local_size;
    test_random random = {.state = 2};
    double *in = test_random_vector(&random, n), *out = test_random_vector(&random, n), kinetic,
           potential;
    const double *x = tw_simulation_start(simulation);
    int64_t before = (int64_t)tw_memory_counts_now().allocations;
    for (int run = 0; run < 2; run++) {
        ck_assert_int_eq(p->acceleration(p->context, 0, x, in, out), TW_OK);
        ck_assert_int_eq(p->energy(p->context, 0, x, in, &kinetic, &potential), TW_OK);
        ck_assert_int_eq(p->linearise(p->context, 0, x, in), TW_OK);
        ck_assert_int_eq(p->apply_stiffness(p->context, 1, in, out), TW_OK);
        ck_assert_int_eq(p->assemble(p->context, p->stiffness_matrix), TW_OK);
        ck_assert_int_eq(p->apply_damping(p->context, 1, in, out), TW_OK);
        ck_assert_int_eq(p->add_damping(p->context, 0.5, p->stiffness_matrix), TW_OK);
    }
    ck_assert_int_eq((int64_t)tw_memory_counts_now().allocations, before);
    free(in);
    free(out);
    tw_simulation_free(simulation);
    box_solid_free(&box);
}
END_TEST

static int attempted;

static tw_status attempt(void *context)
{
    tw_simulation *simulation = NULL;
    tw_status status = make(context, kind_of(attempted), true, 0, &simulation);
    tw_simulation_free(simulation);
    return status;
}

START_TEST(memory_may_run_out_anywhere)
{
    box_solid box = box_of(_i, 1);
    attempted = _i;
    ck_assert_int_gt(test_fail_each_allocation(attempt, &box), 30);
    box_solid_free(&box);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("solid damping");
    TCase *cases = tcase_create("solid damping");
    tcase_set_timeout(cases, 120);
    tcase_add_loop_test(cases, derivatives_agree_with_differences, 0, CASES);
    tcase_add_loop_test(cases, damping_conserves_momentum, 0, CASES);
    tcase_add_loop_test(cases, threads_change_no_bit, 0, CASES);
    tcase_add_loop_test(cases, damping_is_proportional_at_rest, 0, CASES - 1);
    tcase_add_loop_test(cases, rigid_motion_is_not_damped, 0, CASES);
    tcase_add_loop_test(cases, nothing_is_allocated_while_it_runs, 0, CASES);
    tcase_add_loop_test(cases, memory_may_run_out_anywhere, 5, CASES);
    suite_add_tcase(suite, cases);
    return run_suite(suite);
}
