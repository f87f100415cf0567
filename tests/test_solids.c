/* labels: threads */
/* Elastic tetrahedra: derivatives, momentum, patch test, rigid motion, bitwise repeatability, bad input. */
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

static const tw_solid_law laws[3] = {TW_SOLID_LINEAR, TW_SOLID_COROTATIONAL, TW_SOLID_NEO_HOOKEAN};
static const int node_counts[2] = {4, 10};
static const double E = 2e5, nu = 0.35;

static tw_solid_material material_of(int law)
{
    return (tw_solid_material){
        .law = laws[law], .youngs_modulus = E, .poisson_ratio = nu, .density = 1};
}

static box_solid irregular_box(int nodes)
{
    return box_solid_make(
        &(box_shape){.cells = {4, 3, 3}, .size = {1.3, 0.9, 0.8}, .nodes = nodes, .jitter = 0.25});
}

static double *doubles(int64_t n)
{
    return test_allocate((size_t)n, sizeof(double));
}

/* a cell measures about 0.3 m */
static const deformed_state states[] = {
    {"slightly deformed", {1, 0.1, 0, 0, 1, 0, 0.05, 0, 1}, 0.02, 1e-6},
    {"turned and strained", {0.1, -1.2, 0, 0.8, 0.2, 0.1, 0.1, 0.2, 1.1}, 0.05, 1e-6},
    {"some inverted", {1, 0, 0, 0, 1, 0, 0, 0, 1}, 0.2, 1e-6},
    {"all inverted", {-0.6, 0, 0.1, 0, 1.2, 0, 0.1, 0.1, 1}, 0.03, 1e-6},
    {"flattened", {1, 0.2, 0, 0, 1.2, 0, 0, 0, 1e-4}, 1e-6, 1e-8},
    {"needles", {1.5, 0.2, 0, 0, 0.02, 0, 0, 0, 0.01}, 1e-4, 1e-7},
    {"crushed", {0.05, 0, 0, 0, 0.04, 0, 0, 0, 0.03}, 1e-3, 1e-7},
};
enum { STATES = sizeof states / sizeof *states };

START_TEST(energy_force_and_tangent_belong_together)
{
    tw_solid_material material = material_of(_i / 2);
    box_solid box = irregular_box(node_counts[_i % 2]);
    tw_simulation *simulation = box_solid_simulation(&box, 9, &material);
    for (int s = 0; s < STATES; s++) deformed_check_derivatives(&states[s], simulation, 3);
    tw_simulation_free(simulation);
    box_solid_free(&box);
}
END_TEST

/* All laws have the linear one's tangent at rest, whatever Poisson's ratio. */
START_TEST(all_laws_agree_at_rest)
{
    static const double ratios[] = {-0.9, -0.2, 0, 0.3, 0.49};
    box_solid box = irregular_box(node_counts[_i]);
    for (int r = 0; r < 5; r++) {
        int64_t n = 3 * box.vertices;
        test_random random = {.state = 5};
        double *e = test_random_vector(&random, n), *out[3];
        for (int law = 0; law < 3; law++) {
            tw_solid_material material = material_of(law);
            material.poisson_ratio = ratios[r];
            tw_simulation *simulation = box_solid_simulation(&box, 0, &material);
            const tw_second_order_problem *p = tw_simulation_second_order(simulation);
            if (p->linearise)
                ck_assert_int_eq(p->linearise(p->context, 0, box.positions, NULL), TW_OK);
            out[law] = doubles(n);
            ck_assert_int_eq(p->apply_stiffness(p->context, 1, e, out[law]), TW_OK);
            tw_simulation_free(simulation);
        }
        for (int law = 1; law < 3; law++) {
            for (int64_t i = 0; i < n; i++) out[law][i] -= out[0][i];
            ck_assert_double_le(derivative_norm(n, out[law]), 1e-12 * derivative_norm(n, out[0]));
            free(out[law]);
        }
        free(out[0]);
        free(e);
    }
    box_solid_free(&box);
}
END_TEST

/* ---- what physics promises ---- */

/* The linear law knows only the moment about the positions at rest. */
START_TEST(inner_forces_change_no_momentum)
{
    tw_solid_material material = material_of(_i / 2);
    box_solid box = irregular_box(node_counts[_i % 2]);
    tw_simulation *simulation = box_solid_simulation(&box, 0, &material);
    int64_t n = 3 * box.vertices;
    double *f = doubles(n);
    for (int s = 0; s < STATES; s++) {
        double *x = deformed_positions(&states[s], n, box.positions, 8);
        derivative_force(tw_simulation_second_order(simulation), x, f);
        double wrong =
            derivative_unbalanced(n, material.law == TW_SOLID_LINEAR ? box.positions : x, f);
        ck_assert_msg(wrong <= 1e-14, "%s: %g", states[s].name, wrong);
        free(x);
    }
    free(f);
    tw_simulation_free(simulation);
    box_solid_free(&box);
}
END_TEST

static const double rotation[9] = {0.36, 0.48, -0.8, -0.8, 0.6, 0.0, 0.48, 0.64, 0.6};

START_TEST(rigid_motion_gives_no_force)
{
    tw_solid_material material = material_of(1 + _i / 2);
    box_solid box = irregular_box(node_counts[_i % 2]);
    tw_simulation *simulation = box_solid_simulation(&box, 0, &material);
    const tw_second_order_problem *p = tw_simulation_second_order(simulation);
    int64_t n = 3 * box.vertices;
    deformed_state rigid = {.name = "rigid"}, strained = {.A = {1.01, 0, 0, 0, 1, 0, 0, 0, 1}};
    memcpy(rigid.A, rotation, sizeof rotation);
    double *f = doubles(n), *x = deformed_positions(&strained, n, box.positions, 1), kinetic,
           energy;
    derivative_force(p, x, f);
    double scale = derivative_norm(n, f); /* of one percent of strain */
    free(x);
    x = deformed_positions(&rigid, n, box.positions, 1);
    for (int64_t i = 0; i < n; i++) x[i] += 0.5;
    derivative_force(p, x, f);
    ck_assert_double_le(derivative_norm(n, f), 1e-12 * scale);
    ck_assert_int_eq(p->energy(p->context, 0, x, x, &kinetic, &energy), TW_OK);
    ck_assert_double_le(fabs(energy), 1e-13 * E);
    free(f);
    free(x);
    tw_simulation_free(simulation);
    box_solid_free(&box);
}
END_TEST

/* ---- patch test ---- */

static const double stretch[9] = {1.02, 0.01, -0.02, 0.015, 0.97, 0.005, 0.01, -0.01, 1.03};

static bool on_boundary(const double *X)
{
    static const double size[3] = {1.3, 0.9, 0.8};
    bool is = false;
    for (int k = 0; k < 3; k++) is = is || X[k] < 1e-9 || X[k] > size[k] - 1e-9;
    return is;
}

/* A box whose boundary is held where x = A X puts it, its inside elsewhere. */
static tw_simulation *patch(const box_solid *box, const tw_solid_material *material,
                            const double *x)
{
    tw_model *model = NULL;
    tw_simulation *simulation = NULL;
    ck_assert_int_eq(tw_model_create(&model, NULL), TW_OK);
    ck_assert_int_eq(tw_model_add_particles(model, box->vertices, x, NULL, box->masses, NULL, NULL),
                     TW_OK);
    for (int64_t i = 0; i < box->vertices; i++)
        if (on_boundary(box->positions + 3 * i))
            ck_assert_int_eq(tw_model_pin(model, i, i, NULL), TW_OK);
    ck_assert_int_eq(tw_model_add_tetrahedra(model, box->nodes, box->count, box->elements,
                                             box->positions, material, NULL),
                     TW_OK);
    ck_assert_int_eq(tw_simulation_of_model(model, &simulation, NULL), TW_OK);
    return simulation;
}

/* Newton's method to rest; the linear law needs one step. */
static void settle(const tw_second_order_problem *p, double *x, int steps)
{
    int64_t n = p->space.local_size;
    tw_cholesky *factor = NULL;
    double *f = doubles(n);
    ck_assert_int_eq(tw_cholesky_create(p->stiffness_matrix, NULL, &factor, NULL), TW_OK);
    for (int s = 0; s < steps; s++) {
        derivative_force(p, x, f);
        ck_assert_int_eq(p->linearise(p->context, 0, x, NULL), TW_OK);
        ck_assert_int_eq(p->assemble(p->context, p->stiffness_matrix), TW_OK);
        ck_assert_int_eq(tw_cholesky_factor(factor, 0, NULL, 1), TW_OK);
        ck_assert_int_eq(tw_cholesky_solve(factor, 1, f, f), TW_OK);
        for (int64_t i = 0; i < n; i++) x[i] += f[i];
    }
    tw_cholesky_free(factor);
    free(f);
}

START_TEST(patch_test)
{
    tw_solid_material material = material_of(_i / 2);
    box_solid box = irregular_box(node_counts[_i % 2]);
    deformed_state affine = {0};
    memcpy(affine.A, stretch, sizeof stretch);
    double *x = deformed_positions(&affine, 3 * box.vertices, box.positions, 1);
    tw_simulation *simulation = patch(&box, &material, x);
    const tw_second_order_problem *p = tw_simulation_second_order(simulation);
    int64_t n = p->space.local_size;
    ck_assert_int_ge(n, 30);
    test_random random = {.state = 4};
    double *inside = doubles(n);
    for (int64_t i = 0; i < n; i++)
        inside[i] = tw_simulation_start(simulation)[i] + 0.003 * test_random_normal(&random);
    settle(p, inside, _i / 2 ? 8 : 1);
    for (int64_t i = 0; i < n; i++)
        ck_assert_double_le(fabs(inside[i] - tw_simulation_start(simulation)[i]), 1e-14);
    free(inside);
    free(x);
    tw_simulation_free(simulation);
    box_solid_free(&box);
}
END_TEST

/* Uniaxial strain e: stress (lambda + 2 mu) e across x, lambda e across y; the forces of a face sum up to it. */
START_TEST(constant_strain_gives_the_stress_of_hooke)
{
    tw_solid_material material = material_of(_i / 2);
    box_solid box = irregular_box(node_counts[_i % 2]);
    tw_simulation *simulation = box_solid_simulation(&box, 0, &material);
    double e = material.law == TW_SOLID_LINEAR ? 0.1 : 1e-6,
           lambda = E * nu / ((1 + nu) * (1 - 2 * nu));
    double mu = E / (2 * (1 + nu)), tolerance = material.law == TW_SOLID_LINEAR ? 1e-12 : 1e-5;
    deformed_state strained = {.A = {1 + e, 0, 0, 0, 1, 0, 0, 0, 1}};
    double *x = deformed_positions(&strained, 3 * box.vertices, box.positions, 1),
           *f = doubles(3 * box.vertices), sum[2] = {0};
    derivative_force(tw_simulation_second_order(simulation), x, f);
    for (int64_t i = 0; i < box.vertices; i++) {
        if (box.positions[3 * i] < 1e-9) sum[0] += f[3 * i];
        if (box.positions[3 * i + 1] < 1e-9) sum[1] += f[3 * i + 1];
    }
    double stress[2] = {sum[0] / (0.9 * 0.8), sum[1] / (1.3 * 0.8)};
    ck_assert_double_le(fabs(stress[0] / ((lambda + 2 * mu) * e) - 1), tolerance);
    ck_assert_double_le(fabs(stress[1] / (lambda * e) - 1), tolerance);
    free(x);
    free(f);
    tw_simulation_free(simulation);
    box_solid_free(&box);
}
END_TEST

/* u = (x z, 0, -x^2/2) has the one strain e_xx = z; ten-node elements hold its energy (lambda/2 + mu) int z^2. */
START_TEST(ten_nodes_bend_exactly)
{
    tw_solid_material material = material_of(0);
    box_solid box = irregular_box(10);
    tw_simulation *simulation = box_solid_simulation(&box, 0, &material);
    double *x = doubles(3 * box.vertices), kinetic, energy;
    for (int64_t i = 0; i < box.vertices; i++) {
        const double *X = box.positions + 3 * i;
        x[3 * i] = X[0] + X[0] * X[2];
        x[3 * i + 1] = X[1];
        x[3 * i + 2] = X[2] - 0.5 * X[0] * X[0];
    }
    const tw_second_order_problem *p = tw_simulation_second_order(simulation);
    ck_assert_int_eq(p->energy(p->context, 0, x, x, &kinetic, &energy), TW_OK);
    double lambda = E * nu / ((1 + nu) * (1 - 2 * nu)), mu = E / (2 * (1 + nu));
    double exact = (0.5 * lambda + mu) * 1.3 * 0.9 * 0.8 * 0.8 * 0.8 / 3;
    ck_assert_double_le(fabs(energy / exact - 1), 1e-12);
    free(x);
    tw_simulation_free(simulation);
    box_solid_free(&box);
}
END_TEST

/* ---- the rest ---- */

START_TEST(threads_change_no_bit)
{
    tw_solid_material material = material_of(_i / 2);
    /* a few blocks of elements and of particles each */
    box_shape shapes[2] = {{.cells = {24, 8, 8}, .size = {3, 1, 1}, .nodes = 4, .jitter = 0.2},
                           {.cells = {12, 6, 6}, .size = {2, 1, 1}, .nodes = 10, .jitter = 0.2}};
    box_solid box = box_solid_make(&shapes[_i % 2]);
    tw_simulation *simulation = box_solid_simulation(&box, 81, &material);
    deformed_check_threads(&states[1], simulation, 6);
    tw_simulation_free(simulation);
    box_solid_free(&box);
}
END_TEST

/* Two elements apart from each other, one of them inverted so that its rotation is ambiguous. */
START_TEST(an_ambiguous_rotation_asks_for_a_smaller_step)
{
    const double X[12] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1}, m[4] = {1, 1, 1, 1};
    const int64_t corners[4] = {0, 1, 2, 3};
    tw_model *model = NULL;
    tw_simulation *simulation = NULL;
    tw_solid_material material = material_of(1);
    ck_assert_int_eq(tw_model_create(&model, NULL), TW_OK);
    ck_assert_int_eq(tw_model_add_particles(model, 4, X, NULL, m, NULL, NULL), TW_OK);
    ck_assert_int_eq(tw_model_add_tetrahedra(model, 4, 1, corners, NULL, &material, NULL), TW_OK);
    ck_assert_int_eq(tw_simulation_of_model(model, &simulation, NULL), TW_OK);
    const tw_second_order_problem *p = tw_simulation_second_order(simulation);
    double mirrored[12] = {0, 0, 0, -1, 0, 0, 0, 1, 0, 0, 0, 1}, nothing[12] = {0}, a[12];
    ck_assert_int_eq(p->linearise(p->context, 0, mirrored, mirrored), TW_RECOVERABLE);
    ck_assert_int_eq(p->linearise(p->context, 0, nothing, nothing), TW_RECOVERABLE);
    ck_assert_int_eq(p->acceleration(p->context, 0, nothing, nothing, a), TW_OK);
    for (int i = 0; i < 12; i++) ck_assert(isfinite(a[i]));
    tw_simulation_free(simulation);
}
END_TEST

START_TEST(wrong_solids_are_refused)
{
    const double X[15] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 1, 1, 0}, m[5] = {1, 1, 1, 1, 1};
    const double bad[15] = {NAN};
    const int64_t good[4] = {0, 1, 2, 3}, twice[4] = {0, 1, 1, 3}, beyond[4] = {0, 1, 2, 5},
                  flat[4] = {0, 1, 2, 4};
    int64_t edges[12], edge_count, ten[10];
    double masses[5] = {0};
    tw_model *model = NULL;
    tw_error error = {0};
    tw_solid_material ok = tw_solid_material_default(), wrong[4] = {ok, ok, ok, ok};
    wrong[0].youngs_modulus = 0;
    wrong[1].poisson_ratio = 0.5;
    wrong[2].poisson_ratio = -1;
    wrong[3].law = (tw_solid_law)7;
    ck_assert_int_eq(tw_model_create(&model, NULL), TW_OK);
    ck_assert_int_eq(tw_model_add_particles(model, 5, X, NULL, m, NULL, NULL), TW_OK);
    ck_assert_int_eq(tw_model_add_tetrahedra(model, 4, 1, good, NULL, NULL, &error),
                     TW_INVALID_ARGUMENT);
    ck_assert_int_eq(tw_model_add_tetrahedra(model, 4, 1, NULL, NULL, &ok, &error),
                     TW_INVALID_ARGUMENT);
    ck_assert_int_eq(tw_model_add_tetrahedra(model, 5, 1, good, NULL, &ok, &error),
                     TW_INVALID_ARGUMENT);
    ck_assert_int_eq(tw_model_add_tetrahedra(model, 4, 1, twice, NULL, &ok, &error),
                     TW_INVALID_ARGUMENT);
    ck_assert_int_eq(tw_model_add_tetrahedra(model, 4, 1, beyond, NULL, &ok, &error),
                     TW_INVALID_ARGUMENT);
    ck_assert_int_eq(tw_model_add_tetrahedra(model, 4, 1, flat, NULL, &ok, &error),
                     TW_INVALID_ARGUMENT);
    ck_assert_str_eq(error.text, "element 0 has no volume");
    ck_assert_int_eq(tw_model_add_tetrahedra(model, 4, 1, good, bad, &ok, &error), TW_NOT_FINITE);
    for (int i = 0; i < 4; i++)
        ck_assert_int_eq(tw_model_add_tetrahedra(model, 4, 1, good, NULL, &wrong[i], &error),
                         TW_INVALID_ARGUMENT);
    ck_assert_int_eq(tw_solid_lumped_mass(4, 1, good, 5, X, 0, masses, &error),
                     TW_INVALID_ARGUMENT);
    ck_assert_int_eq(tw_solid_lumped_mass(4, 1, flat, 5, X, 1, masses, &error),
                     TW_INVALID_ARGUMENT);
    ck_assert_int_eq(tw_solid_lumped_mass(4, 1, good, 5, X, 6, masses, &error), TW_OK);
    ck_assert_double_eq_tol(masses[3], 0.25, 1e-15);
    ck_assert_int_eq(tw_solid_quadratic(5, 1, good, ten, edges, &edge_count, &error), TW_OK);
    ck_assert_int_eq(edge_count, 6);
    ck_assert_int_eq(tw_solid_quadratic(5, 1, twice, ten, edges, &edge_count, &error),
                     TW_INVALID_ARGUMENT);
    double crooked[33];
    for (int i = 0; i < 33; i++) crooked[i] = 0.1 * i * i;
    memcpy(crooked, X, sizeof X);
    ck_assert_int_eq(tw_solid_lumped_mass(10, 1, ten, 11, crooked, 1, masses, &error),
                     TW_INVALID_ARGUMENT);
    ck_assert_int_eq(tw_model_add_tetrahedra(model, 4, 0, NULL, NULL, &ok, &error), TW_OK);
    tw_model_free(model);
}
END_TEST

static tw_status make_small(void *context)
{
    const box_solid *box = context;
    tw_model *model = NULL;
    tw_simulation *simulation = NULL;
    tw_solid_material material = tw_solid_material_default();
    tw_status status = tw_model_create(&model, NULL);
    if (status == TW_OK)
        status = tw_model_add_particles(model, box->vertices, box->positions, NULL, box->masses,
                                        NULL, NULL);
    if (status == TW_OK)
        status = tw_model_add_tetrahedra(model, box->nodes, box->count, box->elements, NULL,
                                         &material, NULL);
    if (status == TW_OK) status = tw_simulation_of_model(model, &simulation, NULL);
    if (status != TW_OK) tw_model_free(model);
    tw_simulation_free(simulation);
    return status;
}

START_TEST(memory_may_run_out_anywhere)
{
    box_solid box =
        box_solid_make(&(box_shape){.cells = {2, 1, 1}, .size = {2, 1, 1}, .nodes = 10});
    ck_assert_int_gt(test_fail_each_allocation(make_small, &box), 30);
    box_solid_free(&box);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("solids");
    TCase *cases = tcase_create("solids");
    tcase_set_timeout(cases, 120);
    tcase_add_loop_test(cases, energy_force_and_tangent_belong_together, 0, 6);
    tcase_add_loop_test(cases, all_laws_agree_at_rest, 0, 2);
    tcase_add_loop_test(cases, inner_forces_change_no_momentum, 0, 6);
    tcase_add_loop_test(cases, rigid_motion_gives_no_force, 0, 4);
    tcase_add_loop_test(cases, patch_test, 0, 6);
    tcase_add_loop_test(cases, constant_strain_gives_the_stress_of_hooke, 0, 6);
    tcase_add_test(cases, ten_nodes_bend_exactly);
    tcase_add_loop_test(cases, threads_change_no_bit, 0, 6);
    tcase_add_test(cases, an_ambiguous_rotation_asks_for_a_smaller_step);
    tcase_add_test(cases, wrong_solids_are_refused);
    tcase_add_test(cases, memory_may_run_out_anywhere);
    suite_add_tcase(suite, cases);
    return run_suite(suite);
}
