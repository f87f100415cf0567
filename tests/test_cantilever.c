/* labels: slow */
/* Slender beams of tetrahedra against the theory of Euler and Bernoulli, large bending against the elastica, and the
 * axial wave in a bar against the sum of its modes. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <twang/twang.h>

#include "linalg/dense.h"
#include "support/box_solid.h"
#include "support/derivatives.h"
#include "support/random.h"
#include "support/run_suite.h"
#include "support/sparse_cases.h"

/* A beam along x: length 1, height 1/40, width 1/20; E = 1e7, density 1. Weak bending is in z. */
static const double height = 1.0 / 40, width = 1.0 / 20, E = 1e7;
enum { LEVELS = 3, MODES = 3 };

static double *doubles(int64_t n)
{
    return test_allocate((size_t)n, sizeof(double));
}

static box_solid beam(int nodes, int along, int across, int high)
{
    return box_solid_make(&(box_shape){
        .cells = {along, across, high}, .size = {1, 1.0 / 20, 1.0 / 40}, .nodes = nodes});
}

/* Vertices at x = 0, which box_solid numbers first. */
static int64_t clamped(const box_solid *box)
{
    int64_t count = 0;
    while (box->positions[3 * count] < 1e-9) count++;
    return count;
}

/* The beam with consistent mass, in the field `gravity` along z. */
static tw_simulation *cantilever(const box_solid *box, tw_solid_law law, double gravity)
{
    tw_solid_material material = {.law = law, .youngs_modulus = E, .poisson_ratio = 0.3};
    tw_model *model = box_solid_model(box, clamped(box), &material);
    tw_simulation *simulation = NULL;
    double *mass = doubles(box->count);
    ck_assert_int_eq(tw_solid_element_mass(box->nodes, box->count, box->elements, box->vertices,
                                           box->positions, 1.0, mass, NULL),
                     TW_OK);
    ck_assert_int_eq(
        tw_model_add_consistent_mass(model, box->nodes, box->count, box->elements, mass, NULL),
        TW_OK);
    ck_assert_int_eq(tw_model_add_gravity(model, (double[3]){0, 0, gravity}, NULL), TW_OK);
    ck_assert_int_eq(tw_simulation_of_model(model, &simulation, NULL), TW_OK);
    free(mass);
    return simulation;
}

static tw_cholesky *stiffness_factor(const tw_second_order_problem *p, const double *x)
{
    tw_cholesky *factor = NULL;
    ck_assert_int_eq(p->linearise(p->context, 0, x, NULL), TW_OK);
    ck_assert_int_eq(p->assemble(p->context, p->stiffness_matrix), TW_OK);
    ck_assert_int_eq(tw_cholesky_create(p->stiffness_matrix, NULL, &factor, NULL), TW_OK);
    ck_assert_int_eq(tw_cholesky_factor(factor, 0, NULL, 1), TW_OK);
    return factor;
}

/* ---- deflection under its own weight and frequencies, of the linear law ---- */

/* Mean of z over the end. */
static double end_height(const tw_simulation *simulation, const double *x)
{
    const double *start = tw_simulation_start(simulation);
    int64_t n = tw_simulation_state_size(simulation) / 2;
    double sum = 0;
    int count = 0;
    for (int64_t i = 0; i < n; i += 3)
        if (start[i] > 1 - 1e-9) {
            sum += x[i + 2];
            count++;
        }
    return sum / count;
}

enum { SUBSPACE = 10, ROUNDS = 12 };

static double dot(int64_t n, const double *x, const double *y)
{
    double sum = 0;
    for (int64_t i = 0; i < n; i++) sum += x[i] * y[i];
    return sum;
}

/* X becomes M-orthonormal and diagonalises K in its span; values ascend. Y has room for as much. */
static void rayleigh_ritz(const tw_second_order_problem *p, double *X, double *Y,
                          double values[SUBSPACE])
{
    int64_t n = p->space.local_size;
    double *scratch = doubles((int64_t)tw_dense_eigen_scratch(SUBSPACE)), K[SUBSPACE * SUBSPACE];
    for (int i = 0; i < SUBSPACE; i++) {
        double *x = X + i * n;
        for (int pass = 0; pass < 2; pass++)
            for (int j = 0; j < i; j++) {
                double along = dot(n, x, Y + j * n); /* Y_j = M X_j */
                for (int64_t k = 0; k < n; k++) x[k] -= along * X[j * n + k];
            }
        ck_assert_int_eq(p->mass->apply(p->mass->context, 1, x, Y + i * n), TW_OK);
        double length = sqrt(dot(n, x, Y + i * n));
        for (int64_t k = 0; k < n; k++) {
            x[k] /= length;
            Y[i * n + k] /= length;
        }
    }
    for (int i = 0; i < SUBSPACE; i++) {
        ck_assert_int_eq(p->apply_stiffness(p->context, 1, X + i * n, Y), TW_OK);
        for (int j = 0; j < SUBSPACE; j++) K[i * SUBSPACE + j] = dot(n, Y, X + j * n);
    }
    ck_assert_int_eq(tw_symmetric_eigen(SUBSPACE, K, values, scratch), TW_OK);
    for (int64_t k = 0; k < n; k++) {
        double row[SUBSPACE] = {0};
        for (int i = 0; i < SUBSPACE; i++)
            for (int j = 0; j < SUBSPACE; j++) row[i] += K[i * SUBSPACE + j] * X[j * n + k];
        for (int i = 0; i < SUBSPACE; i++) X[i * n + k] = row[i];
    }
    free(scratch);
}

/* Whether a mode moves mostly in z. */
static bool bends_weakly(int64_t n, const double *x)
{
    double sum[3] = {0};
    for (int64_t i = 0; i < n; i++) sum[i % 3] += x[i] * x[i];
    return sum[2] > 0.5 * (sum[0] + sum[1] + sum[2]);
}

/* Lowest frequencies [rad/s] of bending in z, by subspace iteration with K^-1 M. */
static void bending_frequencies(const tw_second_order_problem *p, tw_cholesky *factor,
                                double omega[MODES])
{
    int64_t n = p->space.local_size;
    test_random random = {.state = 3};
    double *X = test_random_vector(&random, SUBSPACE * n), *Y = doubles(SUBSPACE * n),
           values[SUBSPACE];
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < SUBSPACE; i++) {
            ck_assert_int_eq(p->mass->apply(p->mass->context, 1, X + i * n, Y), TW_OK);
            ck_assert_int_eq(tw_cholesky_solve(factor, 1, Y, X + i * n), TW_OK);
        }
        rayleigh_ritz(p, X, Y, values);
    }
    int found = 0;
    for (int i = 0; i < SUBSPACE && found < MODES; i++)
        if (bends_weakly(n, X + i * n)) omega[found++] = sqrt(values[i]);
    ck_assert_int_eq(found, MODES);
    free(X);
    free(Y);
}

/* From three meshes, each twice as fine as the one before: the limit, with the order they show. */
static double richardson(const double f[LEVELS])
{
    double ratio = (f[1] - f[0]) / (f[2] - f[1]);
    return f[2] + (f[2] - f[1]) / (ratio - 1);
}

/* Deflection and frequencies over those of Euler and Bernoulli. */
static void measure(int nodes, const int cells[3], double result[1 + MODES])
{
    static const double roots[MODES] = {1.8751040687, 4.6940911330,
                                        7.8547574382}; /* cos b cosh b = -1 */
    double g = -1e-3, EI = E * width * pow(height, 3) / 12, line = width * height; /* kg/m */
    box_solid box = beam(nodes, cells[0], cells[1], cells[2]);
    tw_simulation *simulation = cantilever(&box, TW_SOLID_LINEAR, g);
    const tw_second_order_problem *p = tw_simulation_second_order(simulation);
    const double *start = tw_simulation_start(simulation);
    double *f = doubles(p->space.local_size), omega[MODES];
    tw_cholesky *factor = stiffness_factor(p, start);
    derivative_force(p, start, f);
    ck_assert_int_eq(tw_cholesky_solve(factor, 1, f, f), TW_OK);
    result[0] = end_height(simulation, f) / (line * g / (8 * EI));
    if (nodes == 10) bending_frequencies(p, factor, omega);
    for (int i = 0; i < MODES && nodes == 10; i++)
        result[1 + i] = omega[i] / (roots[i] * roots[i] * sqrt(EI / line));
    tw_cholesky_free(factor);
    free(f);
    tw_simulation_free(simulation);
    box_solid_free(&box);
}

START_TEST(ten_node_beam_is_that_of_euler_and_bernoulli)
{
    static const int cells[LEVELS][3] = {{12, 1, 1}, {24, 2, 2}, {48, 4, 4}};
    double result[LEVELS][1 + MODES];
    for (int level = 0; level < LEVELS; level++) measure(10, cells[level], result[level]);
    for (int i = 0; i <= MODES; i++) {
        double limit = richardson((double[3]){result[0][i], result[1][i], result[2][i]});
        ck_assert_double_eq_tol(limit, 1, 0.02);
        ck_assert_double_eq_tol(result[2][i], limit, 0.005); /* so the meshes have converged */
    }
}
END_TEST

/* Four-node elements lock in bending: one layer of them is five times too stiff. They still converge. */
START_TEST(four_node_beam_locks_and_converges)
{
    static const int cells[LEVELS][3] = {{40, 2, 1}, {80, 4, 2}, {160, 8, 4}};
    double result[LEVELS][1 + MODES];
    for (int level = 0; level < LEVELS; level++) measure(4, cells[level], result[level]);
    double limit =
        1 / richardson((double[3]){1 / result[0][0], 1 / result[1][0], 1 / result[2][0]});
    ck_assert_double_le(result[0][0], 0.25);
    ck_assert_double_eq_tol(limit, 1, 0.02);
}
END_TEST

/* ---- large bending: the elastica ---- */

/* theta' at the end of EI theta'' = -P cos theta, theta(0) = 0, theta'(0) = start; *x and *z become the end. */
static double shoot(double load, double start, double *x, double *z)
{
    enum { STEPS = 2000 };
    double h = 1.0 / STEPS, theta = 0, slope = start;
    *x = *z = 0;
    for (int i = 0; i < STEPS; i++) { /* midpoint rule, error 1e-7 */
        double middle = theta + 0.5 * h * slope, middle_slope = slope - 0.5 * h * load * cos(theta);
        theta += h * middle_slope;
        slope -= h * load * cos(middle);
        *x += h * cos(middle);
        *z += h * sin(middle);
    }
    return slope;
}

/* The end of a rod of length 1 under the dead load P L^2 / EI across it. */
static void elastica(double load, double *x, double *z)
{
    double low = 0, high = load;
    for (int i = 0; i < 60; i++) {
        double middle = 0.5 * (low + high);
        if (shoot(load, middle, x, z) > 0)
            high = middle;
        else
            low = middle;
    }
}

/* Newton's method for f + load = 0; returns whether it came to rest. */
static bool settle(const tw_second_order_problem *p, const double *load, double *x)
{
    int64_t n = p->space.local_size;
    double *f = doubles(n), size = 1;
    for (int round = 0; round < 30 && size > 1e-10; round++) {
        derivative_force(p, x, f);
        for (int64_t i = 0; i < n; i++) f[i] += load[i];
        tw_cholesky *factor = stiffness_factor(p, x);
        ck_assert_int_eq(tw_cholesky_solve(factor, 1, f, f), TW_OK);
        tw_cholesky_free(factor);
        for (int64_t i = 0; i < n; i++) x[i] += f[i];
        size = derivative_norm(n, f) / sqrt((double)n);
    }
    free(f);
    return size <= 1e-10;
}

static double end_length(const tw_simulation *simulation, const double *x)
{
    const double *start = tw_simulation_start(simulation);
    double sum = 0;
    int count = 0;
    for (int64_t i = 0; i < tw_simulation_state_size(simulation) / 2; i += 3)
        if (start[i] > 1 - 1e-9) {
            sum += x[i];
            count++;
        }
    return sum / count;
}

START_TEST(large_bending_is_the_elastica)
{
    static const tw_solid_law laws[2] = {TW_SOLID_COROTATIONAL, TW_SOLID_NEO_HOOKEAN};
    const double strength = 4; /* P L^2 / EI: the end rises by two thirds of the length */
    box_solid box = beam(10, 32, 2, 2);
    tw_simulation *simulation = cantilever(&box, laws[_i], 0);
    const tw_second_order_problem *p = tw_simulation_second_order(simulation);
    int64_t n = p->space.local_size;
    double *x = doubles(n), *load = doubles(n), exact[2],
           P = strength * E * width * pow(height, 3) / 12;
    memcpy(x, tw_simulation_start(simulation), (size_t)n * sizeof(double));
    int ends = 0;
    for (int64_t i = 0; i < n; i += 3) ends += x[i] > 1 - 1e-9;
    for (int part = 1; part <= 5; part++) {
        for (int64_t i = 0; i < n; i++)
            load[i] = i % 3 == 2 && tw_simulation_start(simulation)[i - 2] > 1 - 1e-9
                          ? 0.2 * part * P / ends
                          : 0;
        ck_assert(settle(p, load, x));
    }
    elastica(strength, &exact[0], &exact[1]);
    double rise = end_height(simulation, x) - height / 2;
    ck_assert_msg(fabs(rise - exact[1]) <= 0.01, "rises by %g, not %g", rise, exact[1]);
    ck_assert_msg(fabs(end_length(simulation, x) - exact[0]) <= 0.01, "reaches %g, not %g",
                  end_length(simulation, x), exact[0]);
    free(x);
    free(load);
    tw_simulation_free(simulation);
    box_solid_free(&box);
}
END_TEST

/* ---- the axial wave ---- */

/* A clamped bar of length 1, wave speed 10, with a pulse of displacement; mass lumped or consistent. */
static tw_simulation *bar(const box_solid *box, bool consistent)
{
    tw_solid_material material = {
        .law = TW_SOLID_LINEAR, .youngs_modulus = 100, .poisson_ratio = 0, .density = 1};
    tw_model *model = NULL;
    tw_simulation *simulation = NULL;
    double *x = doubles(3 * box->vertices), *mass = doubles(box->count);
    for (int64_t i = 0; i < 3 * box->vertices; i++) {
        double from = (box->positions[i] - 0.6) / 0.12;
        x[i] = box->positions[i] +
               (i % 3 == 0 && box->positions[i] > 0 ? 0.01 * exp(-from * from) : 0);
    }
    ck_assert_int_eq(tw_model_create(&model, NULL), TW_OK);
    ck_assert_int_eq(tw_model_add_particles(model, box->vertices, x, NULL, box->masses, NULL, NULL),
                     TW_OK);
    ck_assert_int_eq(tw_model_pin(model, 0, clamped(box) - 1, NULL), TW_OK);
    ck_assert_int_eq(tw_model_add_tetrahedra(model, box->nodes, box->count, box->elements,
                                             box->positions, &material, NULL),
                     TW_OK);
    ck_assert_int_eq(tw_solid_element_mass(box->nodes, box->count, box->elements, box->vertices,
                                           box->positions, 1, mass, NULL),
                     TW_OK);
    if (consistent)
        ck_assert_int_eq(
            tw_model_add_consistent_mass(model, box->nodes, box->count, box->elements, mass, NULL),
            TW_OK);
    ck_assert_int_eq(tw_simulation_of_model(model, &simulation, NULL), TW_OK);
    free(x);
    free(mass);
    return simulation;
}

static void dense_matrices(const tw_second_order_problem *p, double *K, double *M)
{
    int64_t n = p->space.local_size;
    double *unit = doubles(n);
    for (int64_t j = 0; j < n; j++) {
        for (int64_t i = 0; i < n; i++) unit[i] = i == j;
        ck_assert_int_eq(p->apply_stiffness(p->context, 1, unit, K + j * n), TW_OK);
        if (p->mass)
            ck_assert_int_eq(p->mass->apply(p->mass->context, 1, unit, M + j * n), TW_OK);
        else
            for (int64_t i = 0; i < n; i++) M[j * n + i] = i == j ? p->lumped_mass[i] : 0;
    }
    free(unit);
}

/* u(t) = L^-T Q cos(t sqrt(w)) Q^T L^T u(0), M = L L^T, L^-1 K L^-T = Q diag(w) Q^T; velocities zero at first. */
static void sum_of_modes(const tw_second_order_problem *p, double t, double *u)
{
    int n = (int)p->space.local_size;
    double *K = doubles((int64_t)n * n), *L = doubles((int64_t)n * n), *w = doubles(n),
           *y = doubles(n), *q = doubles(n);
    double *scratch = doubles((int64_t)tw_dense_eigen_scratch(n));
    dense_matrices(p, K, L);
    ck_assert_int_eq(tw_dense_cholesky(n, L), TW_OK);
    tw_dense_congruence(n, L, K);
    ck_assert_int_eq(tw_symmetric_eigen(n, K, w, scratch), TW_OK);
    for (int i = 0; i < n; i++) { /* L^T u */
        y[i] = 0;
        for (int j = i; j < n; j++) y[i] += L[i * n + j] * u[j];
    }
    tw_dense_apply(true, n, n, K, y, q);
    for (int i = 0; i < n; i++) q[i] *= cos(t * sqrt(fmax(w[i], 0)));
    tw_dense_apply(false, n, n, K, q, u);
    tw_dense_lower_solve(true, n, L, 1, u);
    free(K);
    free(L);
    free(w);
    free(y);
    free(q);
    free(scratch);
}

START_TEST(axial_wave_is_the_sum_of_its_modes)
{
    box_solid box = box_solid_make(&(box_shape){
        .cells = {_i < 2 ? 30 : 10, 1, 1}, .size = {1, 0.1, 0.1}, .nodes = _i < 2 ? 4 : 10});
    tw_simulation *simulation = bar(&box, _i % 2);
    const tw_second_order_problem *p = tw_simulation_second_order(simulation);
    int64_t n = p->space.local_size, held = 3 * clamped(&box);
    const double *rest = box.positions + held;
    double t = 0.17, *u = doubles(n), *end = doubles(2 * n), error = 0,
           amplitude = 0; /* reflected at the free end */
    for (int64_t i = 0; i < n; i++) u[i] = tw_simulation_start(simulation)[i] - rest[i];
    sum_of_modes(p, t, u);
    tw_integrator_options options = tw_integrator_options_default();
    options.step = t / 4;
    options.phi.tolerance = 1e-12;
    tw_integrator *integrator = NULL;
    tw_error failure = {0};
    ck_assert_int_eq(tw_simulation_integrator(simulation, &options, &integrator, NULL), TW_OK);
    ck_assert_msg(tw_integrator_advance(integrator, t, &failure) == TW_OK, "%s", failure.text);
    tw_integrator_state(integrator, NULL, end);
    for (int64_t i = 0; i < n; i++) {
        error = fmax(error, fabs(end[i] - rest[i] - u[i]));
        amplitude = fmax(amplitude, fabs(u[i]));
    }
    ck_assert_double_gt(amplitude, 1e-3);
    ck_assert_msg(error <= 1e-9 * amplitude, "%g of %g", error, amplitude);
    tw_integrator_free(integrator);
    free(u);
    free(end);
    tw_simulation_free(simulation);
    box_solid_free(&box);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("cantilever");
    TCase *cases = tcase_create("cantilever");
    tcase_set_timeout(cases, 300);
    tcase_add_test(cases, ten_node_beam_is_that_of_euler_and_bernoulli);
    tcase_add_test(cases, four_node_beam_locks_and_converges);
    tcase_add_loop_test(cases, large_bending_is_the_elastica, 0, 2);
    tcase_add_loop_test(cases, axial_wave_is_the_sum_of_its_modes, 0, 4);
    suite_add_tcase(suite, cases);
    return run_suite(suite);
}
