/* labels: threads */
/* Particles, springs and gravity, FPUT and the stiff line: force against energy, tangent against force, and both
 * against the independent ones of tests/problems. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <twang/twang.h>

#include "problems/spring_network.h"
#include "support/failing_allocator.h"
#include "support/random.h"
#include "support/run_suite.h"

enum { PARTICLES = 4000, SPRINGS = 12000, HELD = 5 };

static double positions[3 * PARTICLES], velocities[3 * PARTICLES], masses[PARTICLES];
static double stiffness[SPRINGS], rest_length[SPRINGS];
static int64_t ends[2 * SPRINGS];
static const double gravity[3] = {0.3, -0.2, -9.81};

/* A random cloud: a chain so that it hangs together, random springs besides, some of rest length zero if wanted. */
static void make_cloud(bool some_slack)
{
    test_random random = {.state = 7};
    for (int i = 0; i < 3 * PARTICLES; i++) {
        positions[i] = test_random_between(&random, -1, 1);
        velocities[i] = test_random_between(&random, -1, 1);
    }
    for (int i = 0; i < PARTICLES; i++) masses[i] = test_random_between(&random, 0.5, 2);
    for (int e = 0; e < SPRINGS; e++) {
        int64_t a = e < PARTICLES - 1 ? e : (int64_t)(test_random_bits(&random) % PARTICLES);
        int64_t b = e < PARTICLES - 1 ? e + 1 : (int64_t)(test_random_bits(&random) % PARTICLES);
        ends[2 * e] = a;
        ends[2 * e + 1] = b != a ? b : (a + 1) % PARTICLES;
        stiffness[e] = test_random_between(&random, 1, 1000);
        rest_length[e] = some_slack && e % 10 == 3 ? 0.0 : test_random_between(&random, 0.1, 1);
    }
}

static tw_simulation *cloud(bool some_slack)
{
    tw_model *model = NULL;
    tw_simulation *simulation = NULL;
    tw_error error = {0};
    make_cloud(some_slack);
    ck_assert_int_eq(tw_model_create(&model, NULL), TW_OK);
    ck_assert_int_eq(
        tw_model_add_particles(model, PARTICLES, positions, velocities, masses, NULL, &error),
        TW_OK);
    ck_assert_int_eq(tw_model_pin(model, 10, 10 + HELD - 1, &error), TW_OK);
    ck_assert_int_eq(tw_model_add_springs(model, SPRINGS, ends, stiffness, rest_length, &error),
                     TW_OK);
    ck_assert_int_eq(tw_model_add_gravity(model, gravity, &error), TW_OK);
    ck_assert_msg(tw_simulation_of_model(model, &simulation, &error) == TW_OK, "%s", error.text);
    return simulation;
}

static double *vector(int64_t n)
{
    double *v = calloc((size_t)n, sizeof *v);
    ck_assert_ptr_nonnull(v);
    return v;
}

static double *random_vector(int64_t n, uint64_t seed)
{
    test_random random = {.state = seed};
    double *v = vector(n);
    for (int64_t i = 0; i < n; i++) v[i] = test_random_between(&random, -1, 1);
    return v;
}

static double norm(int64_t n, const double *x)
{
    double sum = 0;
    for (int64_t i = 0; i < n; i++) sum += x[i] * x[i];
    return sqrt(sum);
}

/* ---- derivatives of any second-order simulation, at a disturbed state ---- */

/* d/ds V(x + s e) = -m a . e */
static void check_force(const tw_second_order_problem *p, const double *x, const double *v,
                        const double *e)
{
    int64_t n = p->space.local_size;
    double s = 1e-6, kinetic, low, high, slope = 0;
    double *moved = vector(n), *a = vector(n);
    for (int64_t i = 0; i < n; i++) moved[i] = x[i] + s * e[i];
    ck_assert_int_eq(p->energy(p->context, 0, moved, v, &kinetic, &high), TW_OK);
    for (int64_t i = 0; i < n; i++) moved[i] = x[i] - s * e[i];
    ck_assert_int_eq(p->energy(p->context, 0, moved, v, &kinetic, &low), TW_OK);
    ck_assert_int_eq(p->acceleration(p->context, 0, x, v, a), TW_OK);
    for (int64_t i = 0; i < n; i++)
        slope -= (p->lumped_mass ? p->lumped_mass[i] : 1.0) * a[i] * e[i];
    double difference = (high - low) / (2 * s);
    ck_assert_msg(fabs(difference - slope) <= 1e-6 * (fabs(slope) + fabs(high) / n), "%g %g",
                  difference, slope);
    free(moved);
    free(a);
}

/* K e = -(f(x + s e) - f(x - s e)) / 2s, by the product and by the assembled matrix. */
static void check_tangent(const tw_second_order_problem *p, const double *x, const double *v,
                          const double *e)
{
    int64_t n = p->space.local_size;
    double s = 1e-6;
    double *moved = vector(n), *low = vector(n), *high = vector(n), *product = vector(n),
           *matrix = vector(n);
    for (int64_t i = 0; i < n; i++) moved[i] = x[i] + s * e[i];
    ck_assert_int_eq(p->acceleration(p->context, 0, moved, v, high), TW_OK);
    for (int64_t i = 0; i < n; i++) moved[i] = x[i] - s * e[i];
    ck_assert_int_eq(p->acceleration(p->context, 0, moved, v, low), TW_OK);
    ck_assert_int_eq(p->linearise(p->context, 0, x, v), TW_OK);
    ck_assert_int_eq(p->apply_stiffness(p->context, 1, e, product), TW_OK);
    ck_assert_int_eq(p->assemble(p->context, p->stiffness_matrix), TW_OK);
    ck_assert_int_eq(tw_sparse_apply(p->stiffness_matrix, 1, e, matrix), TW_OK);
    for (int64_t i = 0; i < n; i++) {
        double m = p->lumped_mass ? p->lumped_mass[i] : 1.0;
        low[i] = -m * (high[i] - low[i]) / (2 * s) - product[i];
        matrix[i] -= product[i];
    }
    double size = norm(n, product);
    ck_assert_msg(norm(n, low) <= 1e-6 * size, "difference %g of %g", norm(n, low), size);
    ck_assert_msg(norm(n, matrix) <= 1e-13 * size, "matrix %g of %g", norm(n, matrix), size);
    free(moved);
    free(low);
    free(high);
    free(product);
    free(matrix);
}

static void check_block_product(const tw_second_order_problem *p)
{
    int64_t n = p->space.local_size;
    double *in = random_vector(3 * n, 5), *out = vector(3 * n), *one = vector(n);
    ck_assert_int_eq(p->apply_stiffness(p->context, 3, in, out), TW_OK);
    for (int c = 0; c < 3; c++) {
        ck_assert_int_eq(p->apply_stiffness(p->context, 1, in + c * n, one), TW_OK);
        for (int64_t i = 0; i < n; i++) out[c * n + i] -= one[i];
        ck_assert_double_le(norm(n, out + c * n), 1e-14 * norm(n, one));
    }
    free(in);
    free(out);
    free(one);
}

static void check_derivatives(tw_simulation *simulation, double disturbance)
{
    const tw_second_order_problem *p = tw_simulation_second_order(simulation);
    int64_t n = p->space.local_size;
    for (uint64_t seed = 1; seed <= 5; seed++) {
        double *x = random_vector(n, seed), *e = random_vector(n, seed + 100);
        for (int64_t i = 0; i < n; i++)
            x[i] = tw_simulation_start(simulation)[i] + disturbance * x[i];
        check_force(p, x, tw_simulation_start(simulation) + n, e);
        check_tangent(p, x, tw_simulation_start(simulation) + n, e);
        free(x);
        free(e);
    }
    check_block_product(p);
}

START_TEST(springs_have_consistent_derivatives)
{
    tw_simulation *simulation = cloud(true);
    check_derivatives(simulation, 0.1);
    tw_simulation_free(simulation);
}
END_TEST

START_TEST(fput_has_consistent_derivatives)
{
    static const int64_t sizes[] = {1, 2, 3, 40};
    for (int i = 0; i < 4; i++) {
        tw_simulation *simulation = NULL;
        tw_error error = {0};
        ck_assert_int_eq(tw_simulation_fput(sizes[i], 10.0, &simulation, &error), TW_OK);
        check_derivatives(simulation, 0.5);
        tw_simulation_free(simulation);
    }
}
END_TEST

/* ---- against others ---- */

START_TEST(fput_starts_with_the_papers_energy)
{
    tw_simulation *simulation = NULL;
    tw_measurement m;
    ck_assert_int_eq(tw_simulation_fput(3, 100.0, &simulation, NULL), TW_OK);
    ck_assert_int_eq(tw_simulation_measure(simulation, 0, tw_simulation_start(simulation), &m),
                     TW_OK);
    ck_assert_double_eq_tol(m.kinetic + m.potential, 2.500300005, 2.5e-12);
    tw_simulation_free(simulation);
}
END_TEST

START_TEST(springs_agree_with_the_independent_network)
{
    tw_simulation *simulation = cloud(false);
    const tw_second_order_problem *p = tw_simulation_second_order(simulation);
    static spring list[SPRINGS];
    static bool pinned[PARTICLES];
    for (int e = 0; e < SPRINGS; e++)
        list[e] = (spring){ends[2 * e], ends[2 * e + 1], stiffness[e], rest_length[e]};
    for (int i = 0; i < PARTICLES; i++) pinned[i] = i >= 10 && i < 10 + HELD;
    network_input input = {PARTICLES, positions, masses, pinned, SPRINGS, list, {0}};
    memcpy(input.field, gravity, sizeof gravity);
    spring_network *network = NULL;
    ck_assert_int_eq(spring_network_create(&input, &network), TW_OK);
    problem other = spring_network_problem(network);
    int64_t n = p->space.local_size;
    ck_assert_int_eq(other.size, n);
    double *a = vector(n), *b = vector(n);
    ck_assert_int_eq(p->acceleration(p->context, 0, tw_simulation_start(simulation), NULL, a),
                     TW_OK);
    other.acceleration(other.context, tw_simulation_start(simulation), b);
    for (int64_t i = 0; i < n; i++) b[i] -= a[i];
    ck_assert_double_le(norm(n, b), 1e-13 * norm(n, a));
    free(a);
    free(b);
    spring_network_free(network);
    tw_simulation_free(simulation);
}
END_TEST

START_TEST(the_stiff_line_is_what_it_says)
{
    tw_simulation *simulation = NULL;
    const double start[2] = {2, 3};
    ck_assert_int_eq(tw_simulation_stiff_line(50, start, &simulation, NULL), TW_OK);
    const tw_first_order_problem *p = tw_simulation_first_order(simulation);
    ck_assert_ptr_null(tw_simulation_second_order(simulation));
    double F[2], out[2], rows[4], in[2] = {1, 1};
    ck_assert_int_eq(p->rhs(p->context, 0, tw_simulation_start(simulation), F), TW_OK);
    ck_assert_double_eq(F[0], -2);
    ck_assert_double_eq(F[1], -150);
    ck_assert_int_eq(p->jacobian_product(p->context, 1, in, out), TW_OK);
    ck_assert_double_eq(out[1], -50);
    ck_assert_int_eq(p->assemble(p->context, p->jacobian_matrix), TW_OK);
    ck_assert_int_eq(tw_sparse_apply(p->jacobian_matrix, 1, in, F), TW_OK);
    ck_assert_int_eq(memcmp(F, out, sizeof F), 0);
    ck_assert_int_eq(tw_simulation_rows(simulation, 0, start, rows), TW_OK);
    ck_assert_double_eq(rows[3], -150);
    tw_simulation_free(simulation);
}
END_TEST

/* ---- what physics promises ---- */

START_TEST(inner_forces_change_no_momentum)
{
    tw_model *model = NULL;
    tw_simulation *simulation = NULL;
    make_cloud(true);
    ck_assert_int_eq(tw_model_create(&model, NULL), TW_OK);
    ck_assert_int_eq(tw_model_add_particles(model, PARTICLES, positions, NULL, masses, NULL, NULL),
                     TW_OK);
    ck_assert_int_eq(tw_model_add_springs(model, SPRINGS, ends, stiffness, rest_length, NULL),
                     TW_OK);
    ck_assert_int_eq(tw_simulation_of_model(model, &simulation, NULL), TW_OK);
    const tw_second_order_problem *p = tw_simulation_second_order(simulation);
    double *u = vector(6 * PARTICLES);
    memcpy(u, positions, sizeof positions);
    ck_assert_int_eq(p->acceleration(p->context, 0, positions, NULL, u + 3 * PARTICLES), TW_OK);
    tw_measurement
        m; /* with accelerations for velocities, momentum is force and angular momentum is torque */
    ck_assert_int_eq(tw_simulation_measure(simulation, 0, u, &m), TW_OK);
    double scale = 0;
    for (int i = 0; i < 3 * PARTICLES; i++) scale += fabs(u[3 * PARTICLES + i]);
    for (int k = 0; k < 3; k++) {
        ck_assert_double_le(fabs(m.momentum[k]), 1e-13 * scale);
        ck_assert_double_le(fabs(m.angular_momentum[k]), 1e-13 * scale);
    }
    free(u);
    tw_simulation_free(simulation);
}
END_TEST

/* Rayleigh quotients never exceed the bound, and power iteration comes within a factor of two of it. */
START_TEST(the_frequency_bound_holds)
{
    tw_simulation *simulation = cloud(true);
    const tw_second_order_problem *p = tw_simulation_second_order(simulation);
    int64_t n = p->space.local_size;
    ck_assert_int_eq(p->linearise(p->context, 0, tw_simulation_start(simulation), NULL), TW_OK);
    double *x = random_vector(n, 3), *y = vector(n), quotient = 0;
    for (int k = 0; k < 50; k++) {
        double scale = 0;
        ck_assert_int_eq(p->apply_stiffness(p->context, 1, x, y), TW_OK);
        double above = 0, below = 0;
        for (int64_t i = 0; i < n; i++) {
            above += x[i] * y[i];
            below += p->lumped_mass[i] * x[i] * x[i];
        }
        quotient = above / below;
        for (int64_t i = 0; i < n; i++) y[i] /= p->lumped_mass[i];
        scale = norm(n, y);
        for (int64_t i = 0; i < n; i++) x[i] = y[i] / scale;
    }
    ck_assert_double_le(quotient, p->eigenvalue_max);
    ck_assert_double_ge(quotient, 0.3 * p->eigenvalue_max);
    free(x);
    free(y);
    tw_simulation_free(simulation);
}
END_TEST

START_TEST(held_particles_are_in_the_rows_and_not_in_the_unknowns)
{
    tw_simulation *simulation = cloud(true);
    tw_simulation_summary s = tw_simulation_summarise(simulation);
    ck_assert_int_eq(s.particles, PARTICLES);
    ck_assert_int_eq(s.pinned, HELD);
    ck_assert_int_eq(s.springs, SPRINGS);
    ck_assert_int_eq(s.unknowns, 3 * (PARTICLES - HELD));
    ck_assert_int_eq(tw_simulation_state_size(simulation), 2 * s.unknowns);
    ck_assert_int_eq(tw_simulation_row_count(simulation), PARTICLES);
    ck_assert_int_eq(tw_simulation_column_count(simulation), 6);
    ck_assert_str_eq(tw_simulation_column(simulation, 3), "vx");
    ck_assert_ptr_null(tw_simulation_column(simulation, 6));
    double *rows = vector(6 * PARTICLES);
    ck_assert_int_eq(tw_simulation_rows(simulation, 0, tw_simulation_start(simulation), rows),
                     TW_OK);
    for (int i = 0; i < PARTICLES; i++)
        for (int k = 0; k < 3; k++) {
            bool held = i >= 10 && i < 10 + HELD;
            ck_assert_double_eq(rows[6 * i + k], positions[3 * i + k]);
            ck_assert_double_eq(rows[6 * i + 3 + k], held ? 0.0 : velocities[3 * i + k]);
        }
    free(rows);
    tw_simulation_free(simulation);
}
END_TEST

START_TEST(threads_change_no_bit)
{
    tw_simulation *simulation = cloud(true);
    const tw_second_order_problem *p = tw_simulation_second_order(simulation);
    int64_t n = p->space.local_size, blocks = tw_sparse_row_start(p->stiffness_matrix)[n / 3];
    const double *x = tw_simulation_start(simulation), *v = x + n;
    double *first = vector(3 * n + 9 * blocks), *second = vector(3 * n + 9 * blocks);
    tw_measurement m[2];
    for (int run = 0; run < 2; run++) {
        double *out = run ? second : first;
        tw_set_threads(run ? 4 : 1);
        ck_assert_int_eq(p->acceleration(p->context, 0, x, v, out), TW_OK);
        ck_assert_int_eq(p->linearise(p->context, 0, x, v), TW_OK);
        ck_assert_int_eq(p->apply_stiffness(p->context, 2, x, out + n), TW_OK);
        ck_assert_int_eq(p->assemble(p->context, p->stiffness_matrix), TW_OK);
        memcpy(out + 3 * n, tw_sparse_values(p->stiffness_matrix),
               9 * (size_t)blocks * sizeof(double));
        ck_assert_int_eq(tw_simulation_measure(simulation, 0, x, &m[run]), TW_OK);
    }
    tw_set_threads(0);
    ck_assert_int_eq(memcmp(first, second, (size_t)(3 * n + 9 * blocks) * sizeof(double)), 0);
    ck_assert_int_eq(memcmp(&m[0], &m[1], sizeof m[0]), 0);
    free(first);
    free(second);
    tw_simulation_free(simulation);
}
END_TEST

/* ---- edges ---- */

START_TEST(a_collapsed_spring_asks_for_a_smaller_step)
{
    tw_model *model = NULL;
    tw_simulation *simulation = NULL;
    const double x[6] = {0, 0, 0, 1, 0, 0}, m[2] = {1, 1}, k = 10, zero = 0;
    const int64_t pair[2] = {0, 1};
    for (int slack = 0; slack < 2; slack++) {
        ck_assert_int_eq(tw_model_create(&model, NULL), TW_OK);
        ck_assert_int_eq(tw_model_add_particles(model, 2, x, NULL, m, NULL, NULL), TW_OK);
        ck_assert_int_eq(tw_model_add_springs(model, 1, pair, &k, slack ? &zero : NULL, NULL),
                         TW_OK);
        ck_assert_int_eq(tw_simulation_of_model(model, &simulation, NULL), TW_OK);
        const tw_second_order_problem *p = tw_simulation_second_order(simulation);
        double together[6] = {0.5, 0, 0, 0.5, 0, 0}, a[6];
        tw_status expected =
            slack ? TW_OK : TW_RECOVERABLE; /* of rest length zero it simply pulls no more */
        ck_assert_int_eq(p->acceleration(p->context, 0, together, NULL, a), expected);
        ck_assert_int_eq(p->linearise(p->context, 0, together, NULL), expected);
        if (slack) ck_assert_double_eq(a[0], 0.0);
        tw_simulation_free(simulation);
    }
}
END_TEST

START_TEST(wrong_models_are_refused)
{
    tw_model *model = NULL;
    tw_simulation *simulation = NULL;
    tw_error error = {0};
    const double x[6] = {0}, bad[6] = {NAN}, m[2] = {1, 1}, no_mass[2] = {1, 0}, k = 10,
                 negative = -1;
    const int64_t self[2] = {1, 1}, beyond[2] = {0, 2}, pair[2] = {0, 1};
    ck_assert_int_eq(tw_model_create(NULL, NULL), TW_INVALID_ARGUMENT);
    ck_assert_int_eq(tw_model_create(&model, NULL), TW_OK);
    ck_assert_int_eq(tw_model_add_particles(model, 2, x, NULL, no_mass, NULL, &error),
                     TW_INVALID_ARGUMENT);
    ck_assert_int_eq(tw_model_add_particles(model, 2, bad, NULL, m, NULL, &error), TW_NOT_FINITE);
    ck_assert_int_eq(tw_model_add_particles(model, 2, x, NULL, m, NULL, &error), TW_OK);
    ck_assert_int_eq(tw_model_pin(model, 1, 2, &error), TW_INVALID_ARGUMENT);
    ck_assert_int_eq(tw_model_add_springs(model, 1, self, &k, NULL, &error), TW_INVALID_ARGUMENT);
    ck_assert_int_eq(tw_model_add_springs(model, 1, beyond, &k, NULL, &error), TW_INVALID_ARGUMENT);
    ck_assert_int_eq(tw_model_add_springs(model, 1, pair, &negative, NULL, &error),
                     TW_INVALID_ARGUMENT);
    ck_assert_int_eq(tw_model_add_springs(model, 1, pair, &k, &negative, &error),
                     TW_INVALID_ARGUMENT);
    ck_assert_int_eq(tw_model_add_gravity(model, bad, &error), TW_NOT_FINITE);
    ck_assert_int_eq(tw_model_pin(model, 0, 1, &error), TW_OK);
    ck_assert_int_eq(tw_simulation_of_model(model, &simulation, &error), TW_INVALID_ARGUMENT);
    ck_assert_ptr_null(simulation);

    /* The model is still ours: one more particle mends it. A completed model is refused. */
    ck_assert_int_eq(tw_model_add_particles(model, 1, x, NULL, m, NULL, &error), TW_OK);
    ck_assert_int_eq(tw_simulation_of_model(model, &simulation, &error), TW_OK);
    tw_simulation *second = NULL;
    ck_assert_int_eq(tw_simulation_of_model(model, &second, &error), TW_INVALID_ARGUMENT);
    ck_assert_ptr_null(second);
    tw_simulation_free(simulation);
    ck_assert_int_eq(tw_simulation_fput(0, 1, &simulation, &error), TW_INVALID_ARGUMENT);
    ck_assert_int_eq(tw_simulation_fput(1, NAN, &simulation, &error), TW_INVALID_ARGUMENT);
    ck_assert_int_eq(tw_simulation_stiff_line(1, bad, &simulation, &error), TW_INVALID_ARGUMENT);
    tw_simulation_free(NULL);
    tw_model_free(NULL);
}
END_TEST

static tw_status make_small(void *context)
{
    (void)context;
    tw_model *model = NULL;
    tw_simulation *simulation = NULL;
    const double x[9] = {0, 0, 0, 1, 0, 0, 2, 0, 0}, m[3] = {1, 1, 1}, k[2] = {10, 10};
    const int64_t pairs[4] = {0, 1, 1, 2};
    tw_status status = tw_model_create(&model, NULL);
    if (status == TW_OK) status = tw_model_add_particles(model, 2, x, NULL, m, NULL, NULL);
    if (status == TW_OK) status = tw_model_add_particles(model, 1, x + 6, NULL, m, NULL, NULL);
    if (status == TW_OK) status = tw_model_add_springs(model, 2, pairs, k, NULL, NULL);
    if (status == TW_OK) status = tw_model_add_gravity(model, gravity, NULL);
    if (status == TW_OK) status = tw_simulation_of_model(model, &simulation, NULL);
    if (status != TW_OK) tw_model_free(model);
    tw_simulation_free(simulation);
    if (status == TW_OK) status = tw_simulation_fput(3, 100, &simulation, NULL);
    if (status == TW_OK) tw_simulation_free(simulation);
    if (status == TW_OK) status = tw_simulation_stiff_line(3, x, &simulation, NULL);
    if (status == TW_OK) tw_simulation_free(simulation);
    return status;
}

START_TEST(memory_may_run_out_anywhere)
{
    ck_assert_int_gt(test_fail_each_allocation(make_small, NULL), 30);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("model");
    TCase *cases = tcase_create("model");
    tcase_add_test(cases, springs_have_consistent_derivatives);
    tcase_add_test(cases, fput_has_consistent_derivatives);
    tcase_add_test(cases, fput_starts_with_the_papers_energy);
    tcase_add_test(cases, springs_agree_with_the_independent_network);
    tcase_add_test(cases, the_stiff_line_is_what_it_says);
    tcase_add_test(cases, inner_forces_change_no_momentum);
    tcase_add_test(cases, the_frequency_bound_holds);
    tcase_add_test(cases, held_particles_are_in_the_rows_and_not_in_the_unknowns);
    tcase_add_test(cases, threads_change_no_bit);
    tcase_add_test(cases, a_collapsed_spring_asks_for_a_smaller_step);
    tcase_add_test(cases, wrong_models_are_refused);
    tcase_add_test(cases, memory_may_run_out_anywhere);
    suite_add_tcase(suite, cases);
    return run_suite(suite);
}
