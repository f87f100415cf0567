/* labels: threads */
/* Girder networks by stiffness warping: derivatives, momentum, rigid motion, the truss it is at rest. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <twang/twang.h>

#include "support/box_solid.h"
#include "support/deformed_state.h"
#include "support/derivatives.h"
#include "support/failing_allocator.h"
#include "support/random.h"
#include "support/run_suite.h"
#include "support/sparse_cases.h"

/* The edges of an irregular box, and a line of three more particles hanging on its last vertex, whose nodes have no
 * frame of their own. */
typedef struct network {
    int64_t particles, count;
    double *positions, *masses, *axial, *transverse;
    int64_t *ends;
} network;

enum { TAIL = 3 };

static void *room(int64_t count, size_t size)
{
    return test_allocate((size_t)count, size);
}

static network make_network(const int cells[3], bool stiff_joints, double ratio)
{
    box_shape shape = {.size = {1.3, 0.9, 0.8}, .nodes = 4, .jitter = 0.2};
    memcpy(shape.cells, cells, sizeof shape.cells);
    box_solid box = box_solid_make(&shape);
    network w = {.particles = box.vertices + TAIL};
    int64_t *ten = room(10 * box.count, sizeof *ten);
    w.ends = room(12 * box.count + 2 * TAIL, sizeof *w.ends);
    ck_assert_int_eq(
        tw_solid_quadratic(box.vertices, box.count, box.elements, ten, w.ends, &w.count, NULL),
        TW_OK);
    w.positions = room(3 * w.particles, sizeof(double));
    memcpy(w.positions, box.positions, 3 * (size_t)box.vertices * sizeof(double));
    for (int i = 0; i < TAIL; i++, w.count++) {
        int64_t p = box.vertices + i;
        for (int k = 0; k < 3; k++)
            w.positions[3 * p + k] = w.positions[3 * p - 3 + k] + (k == 0 ? 0.25 : 0.125);
        w.ends[2 * w.count] = p;
        w.ends[2 * w.count + 1] = p - 1;
    }
    test_random random = {.state = 31};
    w.masses = room(w.particles, sizeof(double));
    w.axial = room(w.count, sizeof(double));
    w.transverse = room(w.count, sizeof(double));
    for (int64_t i = 0; i < w.particles; i++) w.masses[i] = test_random_between(&random, 0.5, 2);
    for (int64_t e = 0; e < w.count; e++) {
        w.axial[e] = test_random_between(&random, 100, 1000) * (e % 2 ? 1 : ratio);
        w.transverse[e] = stiff_joints ? w.axial[e] * test_random_between(&random, 0, 0.5) : 0;
    }
    free(ten);
    box_solid_free(&box);
    return w;
}

static void free_network(network *w)
{
    free(w->positions);
    free(w->masses);
    free(w->axial);
    free(w->transverse);
    free(w->ends);
}

static const int small[3] = {3, 2, 2};

static tw_status add(const network *w, tw_model **model, int held)
{
    tw_status status = tw_model_create(model, NULL);
    if (status == TW_OK)
        status =
            tw_model_add_particles(*model, w->particles, w->positions, NULL, w->masses, NULL, NULL);
    if (status == TW_OK && held) status = tw_model_pin(*model, 0, held - 1, NULL);
    if (status == TW_OK)
        status = tw_model_add_warped_network(*model, w->count, w->ends, w->axial, w->transverse,
                                             NULL, NULL);
    return status;
}

static tw_simulation *simulate(const network *w, int held)
{
    tw_model *model = NULL;
    tw_simulation *simulation = NULL;
    ck_assert_int_eq(add(w, &model, held), TW_OK);
    ck_assert_int_eq(tw_simulation_of_model(model, &simulation, NULL), TW_OK);
    return simulation;
}

static const deformed_state states[] = {
    {"slightly deformed", {1, 0.1, 0, 0, 1, 0, 0.05, 0, 1}, 0.02, 1e-6},
    {"turned and strained", {0.1, -1.2, 0, 0.8, 0.2, 0.1, 0.1, 0.2, 1.1}, 0.05, 1e-6},
    {"wild", {1, 0, 0, 0, 1, 0, 0, 0, 1}, 0.2, 1e-6},
    {"inverted", {-0.6, 0, 0.1, 0, 1.2, 0, 0.1, 0.1, 1}, 0.02, 1e-6},
    {"flattened", {1, 0.2, 0, 0, 1.2, 0, 0, 0, 1e-3}, 1e-5, 1e-7},
};
enum { STATES = sizeof states / sizeof *states };

START_TEST(energy_force_and_tangent_belong_together)
{
    network w = make_network(small, _i % 2, _i < 2 ? 1 : 1e4);
    tw_simulation *simulation = simulate(&w, 4);
    for (int s = 0; s < STATES; s++) deformed_check_derivatives(&states[s], simulation, 17);
    tw_simulation_free(simulation);
    free_network(&w);
}
END_TEST

START_TEST(inner_forces_change_no_momentum)
{
    network w = make_network(small, _i, 1);
    tw_simulation *simulation = simulate(&w, 0);
    int64_t n = 3 * w.particles;
    double *f = room(n, sizeof(double));
    for (int s = 0; s < STATES; s++) {
        double *x = deformed_positions(&states[s], n, w.positions, 17);
        derivative_force(tw_simulation_second_order(simulation), x, f);
        ck_assert_msg(derivative_unbalanced(n, x, f) <= 1e-13, "%s: %g", states[s].name,
                      derivative_unbalanced(n, x, f));
        free(x);
    }
    free(f);
    tw_simulation_free(simulation);
    free_network(&w);
}
END_TEST

START_TEST(rigid_motion_gives_no_force)
{
    network w = make_network(small, true, 1e4);
    tw_simulation *simulation = simulate(&w, 0);
    const tw_second_order_problem *p = tw_simulation_second_order(simulation);
    int64_t n = 3 * w.particles;
    deformed_state rigid = {.A = {0.36, 0.48, -0.8, -0.8, 0.6, 0.0, 0.48, 0.64, 0.6}},
                   strained = {.A = {1.01, 0, 0, 0, 1, 0, 0, 0, 1}};
    double *f = room(n, sizeof(double)), *x = deformed_positions(&strained, n, w.positions, 17);
    derivative_force(p, x, f);
    double scale = derivative_norm(n, f);
    free(x);
    x = deformed_positions(&rigid, n, w.positions, 17);
    for (int64_t i = 0; i < n; i++) x[i] += 0.5;
    derivative_force(p, x, f);
    ck_assert_double_le(derivative_norm(n, f), 1e-12 * scale);
    free(f);
    free(x);
    tw_simulation_free(simulation);
    free_network(&w);
}
END_TEST

/* Without transverse stiffness the tangent at rest is that of springs; with it, a bent joint resists. */
START_TEST(at_rest_it_is_a_truss)
{
    network w = make_network(small, _i, 1e3);
    tw_simulation *warped = simulate(&w, 4), *truss = NULL;
    tw_model *model = NULL;
    ck_assert_int_eq(tw_model_create(&model, NULL), TW_OK);
    ck_assert_int_eq(
        tw_model_add_particles(model, w.particles, w.positions, NULL, w.masses, NULL, NULL), TW_OK);
    ck_assert_int_eq(tw_model_pin(model, 0, 3, NULL), TW_OK);
    ck_assert_int_eq(tw_model_add_springs(model, w.count, w.ends, w.axial, NULL, NULL), TW_OK);
    ck_assert_int_eq(tw_simulation_of_model(model, &truss, NULL), TW_OK);
    const tw_second_order_problem *p = tw_simulation_second_order(warped),
                                  *q = tw_simulation_second_order(truss);
    int64_t n = p->space.local_size;
    test_random random = {.state = 1};
    double *e = test_random_vector(&random, n), *a = room(n, sizeof(double)),
           *b = room(n, sizeof(double));
    ck_assert_int_eq(p->linearise(p->context, 0, tw_simulation_start(warped), NULL), TW_OK);
    ck_assert_int_eq(q->linearise(q->context, 0, tw_simulation_start(truss), NULL), TW_OK);
    ck_assert_int_eq(p->apply_stiffness(p->context, 1, e, a), TW_OK);
    ck_assert_int_eq(q->apply_stiffness(q->context, 1, e, b), TW_OK);
    for (int64_t i = 0; i < n; i++) a[i] -= b[i];
    double difference = derivative_norm(n, a) / derivative_norm(n, b);
    if (_i)
        ck_assert_double_ge(difference, 1e-2);
    else
        ck_assert_double_le(difference, 1e-13);
    free(e);
    free(a);
    free(b);
    tw_simulation_free(warped);
    tw_simulation_free(truss);
    free_network(&w);
}
END_TEST

START_TEST(threads_change_no_bit)
{
    network w = make_network((int[3]){20, 12, 12}, true, 1);
    tw_simulation *simulation = simulate(&w, 9);
    const deformed_state slightly = {
        .name = "slightly deformed", .A = {1, 0.1, 0, 0, 1, 0, 0.05, 0, 1}, .disturbance = 1e-3};
    deformed_check_threads(&slightly, simulation, 17);
    tw_simulation_free(simulation);
    free_network(&w);
}
END_TEST

START_TEST(wrong_networks_are_refused)
{
    const double X[12] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 1, 0}, m[4] = {1, 1, 1, 1}, k[2] = {1, 1},
                 no[2] = {1, 0};
    const double negative[2] = {0, -1}, bad[12] = {NAN};
    const int64_t good[4] = {0, 1, 1, 2}, twice[4] = {0, 1, 1, 0}, beyond[4] = {0, 1, 1, 4},
                  short_one[4] = {0, 1, 2, 3};
    tw_model *model = NULL;
    tw_error error = {0};
    ck_assert_int_eq(tw_model_create(&model, NULL), TW_OK);
    ck_assert_int_eq(tw_model_add_particles(model, 4, X, NULL, m, NULL, NULL), TW_OK);
    ck_assert_int_eq(tw_model_add_warped_network(model, 2, good, NULL, NULL, NULL, &error),
                     TW_INVALID_ARGUMENT);
    ck_assert_int_eq(tw_model_add_warped_network(model, 2, twice, k, NULL, NULL, &error),
                     TW_INVALID_ARGUMENT);
    ck_assert_str_eq(error.text, "two girders join the particles 0 and 1");
    ck_assert_int_eq(tw_model_add_warped_network(model, 2, beyond, k, NULL, NULL, &error),
                     TW_INVALID_ARGUMENT);
    ck_assert_int_eq(tw_model_add_warped_network(model, 2, short_one, k, NULL, NULL, &error),
                     TW_INVALID_ARGUMENT);
    ck_assert_str_eq(error.text, "girder 1 has no length");
    ck_assert_int_eq(tw_model_add_warped_network(model, 2, good, no, NULL, NULL, &error),
                     TW_INVALID_ARGUMENT);
    ck_assert_int_eq(tw_model_add_warped_network(model, 2, good, k, negative, NULL, &error),
                     TW_INVALID_ARGUMENT);
    ck_assert_int_eq(tw_model_add_warped_network(model, 2, good, k, NULL, bad, &error),
                     TW_NOT_FINITE);
    ck_assert_int_eq(tw_model_add_warped_network(model, 0, NULL, NULL, NULL, NULL, &error), TW_OK);
    tw_model_free(model);
}
END_TEST

static tw_status make_small(void *context)
{
    tw_model *model = NULL;
    tw_simulation *simulation = NULL;
    tw_status status = add(context, &model, 1);
    if (status == TW_OK) status = tw_simulation_of_model(model, &simulation, NULL);
    if (status != TW_OK) tw_model_free(model);
    tw_simulation_free(simulation);
    return status;
}

START_TEST(memory_may_run_out_anywhere)
{
    network w = make_network((int[3]){1, 1, 1}, false, 1);
    ck_assert_int_gt(test_fail_each_allocation(make_small, &w), 30);
    free_network(&w);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("warping");
    TCase *cases = tcase_create("warping");
    tcase_set_timeout(cases, 120);
    tcase_add_loop_test(cases, energy_force_and_tangent_belong_together, 0, 4);
    tcase_add_loop_test(cases, inner_forces_change_no_momentum, 0, 2);
    tcase_add_test(cases, rigid_motion_gives_no_force);
    tcase_add_loop_test(cases, at_rest_it_is_a_truss, 0, 2);
    tcase_add_test(cases, threads_change_no_bit);
    tcase_add_test(cases, wrong_networks_are_refused);
    tcase_add_test(cases, memory_may_run_out_anywhere);
    suite_add_tcase(suite, cases);
    return run_suite(suite);
}
