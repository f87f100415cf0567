/* labels: threads */
/* Regularised Stokeslets: against sums in long double, against mpmath, against differences, and
 * against what is known of a sphere in a viscous fluid. */
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <twang/parallel.h>

#include "fluid/stokeslets.h"
#include "linalg/dense.h"
#include "support/random.h"
#include "support/reference_state.h"
#include "support/run_suite.h"

static const double PI = 3.14159265358979323846;

enum { MOST = 700 };

/* A cloud of points with forces. */
typedef struct cloud {
    int64_t count;
    double viscosity;
    double x[3 * MOST];
    double f[3 * MOST];
    double e[3 * MOST];
    double radius[MOST];
    double u[3 * MOST];
    double other[3 * MOST];
} cloud;

static cloud c;

static void fill_cloud(int64_t count, double smallest, double largest)
{
    test_random random = {(uint64_t)count};
    c = (cloud){.count = count, .viscosity = 0.3};
    for (int64_t i = 0; i < 3 * count; i++) {
        c.x[i] = test_random_between(&random, -1, 1);
        c.f[i] = test_random_normal(&random);
        c.e[i] = test_random_normal(&random);
    }
    for (int64_t i = 0; i < count; i++)
        c.radius[i] = test_random_between(&random, smallest, largest);
}

static tw_stokeslets *points_of_cloud(void)
{
    tw_stokeslets *s = tw_stokeslets_create(c.count, c.radius, c.viscosity);
    ck_assert_ptr_nonnull(s);
    tw_stokeslets_place(s, c.x);
    return s;
}

static double norm(int64_t n, const double *a)
{
    double sum = 0;
    for (int64_t i = 0; i < n; i++) sum += a[i] * a[i];
    return sqrt(sum);
}

/* |a - b| / |b| */
static double distance(int64_t n, const double *a, const double *b)
{
    double sum = 0;
    for (int64_t i = 0; i < n; i++) sum += (a[i] - b[i]) * (a[i] - b[i]);
    return sqrt(sum) / norm(n, b);
}

/* ---- values ---- */

/* The kernel as Cortez, Fauci and Medovikov (2005) print it, for one radius:
 * [(r^2 + 2 eps^2) f + (f . r) r] / (8 pi mu (r^2 + eps^2)^(3/2)). */
static void published_sum(double *u)
{
    for (int64_t i = 0; i < c.count; i++) {
        long double sum[3] = {0, 0, 0};
        for (int64_t j = 0; j < c.count; j++) {
            long double r[3], square = 0, dot = 0;
            for (int k = 0; k < 3; k++) {
                r[k] = (long double)c.x[3 * i + k] - c.x[3 * j + k];
                square += r[k] * r[k];
                dot += r[k] * c.f[3 * j + k];
            }
            long double eps = c.radius[j];
            long double power = powl(square + eps * eps, 1.5L);
            for (int k = 0; k < 3; k++)
                sum[k] += ((square + 2 * eps * eps) * c.f[3 * j + k] + dot * r[k]) / power;
        }
        for (int k = 0; k < 3; k++)
            u[3 * i + k] = (double)(sum[k] / (8 * acosl(-1.0L) * (long double)c.viscosity));
    }
}

START_TEST(sums_are_those_in_long_double)
{
    static const int64_t counts[] = {1, 2, 3, 7, 8, 9, 15, 31, 33, 257, 600};
    for (size_t t = 0; t < sizeof counts / sizeof *counts; t++) {
        fill_cloud(counts[t], 0.07, 0.07);
        tw_stokeslets *s = points_of_cloud();
        tw_stokeslets_velocity(s, c.f, c.u);
        published_sum(c.other);
        double error = distance(3 * c.count, c.u, c.other);
        ck_assert_msg(error < 2e-15, "%lld points: error %g", (long long)c.count, error);
        tw_stokeslets_free(s);
    }
}
END_TEST

START_TEST(different_radii_are_those_of_mpmath)
{
    c = (cloud){.count = 8, .viscosity = 0.7};
    for (int i = 0; i < 8; i++) {
        c.radius[i] = 0.05 * (1 + i);
        for (int k = 0; k < 3; k++) {
            static const double x_rate[] = {7, 11, 13};
            static const double f_rate[] = {5, 3, 17};
            static const double f_phase[] = {1, 2, 4};
            c.x[3 * i + k] = sin(1 + k + x_rate[k] * i);
            c.f[3 * i + k] = cos(f_phase[k] + f_rate[k] * i);
        }
    }
    tw_stokeslets *s = points_of_cloud();
    tw_stokeslets_velocity(s, c.f, c.u);
    ck_assert(reference_read("stokeslets.txt", 8, 3, c.other));
    ck_assert_double_lt(distance(24, c.u, c.other), 2e-15);
    tw_stokeslets_free(s);
}
END_TEST

/* Units must not matter: micrometres give the same digits as metres. */
START_TEST(micrometres_are_as_good_as_metres)
{
    fill_cloud(100, 0.05, 0.2);
    tw_stokeslets *s = points_of_cloud();
    tw_stokeslets_velocity(s, c.f, c.other);
    tw_stokeslets_free(s);

    /* u = f / (mu x): 1e-6 m and 1e-12 N give 1e-6 m/s. */
    for (int64_t i = 0; i < 300; i++) c.x[i] *= 1e-6;
    for (int64_t i = 0; i < 300; i++) c.f[i] *= 1e-12;
    for (int64_t i = 0; i < 100; i++) c.radius[i] *= 1e-6;
    s = points_of_cloud();
    tw_stokeslets_velocity(s, c.f, c.u);
    for (int64_t i = 0; i < 300; i++) c.u[i] *= 1e6;
    ck_assert_double_lt(distance(300, c.u, c.other), 1e-14);
    tw_stokeslets_free(s);
}
END_TEST

/* ---- derivatives ---- */

/* (M(x + h e) f - M(x - h e) f)/(2 h), improved by Richardson's extrapolation. */
static void difference(tw_stokeslets *s, double h, double *out)
{
    static double moved[3 * MOST];
    static double u[3 * MOST];
    int64_t n = 3 * c.count;
    memset(out, 0, (size_t)n * sizeof *out);
    static const double steps[] = {1, -1, 0.5, -0.5};
    static const double weights[] = {-1.0 / 6, 1.0 / 6, 4.0 / 3, -4.0 / 3};
    for (int k = 0; k < 4; k++) {
        for (int64_t i = 0; i < n; i++) moved[i] = c.x[i] + steps[k] * h * c.e[i];
        tw_stokeslets_place(s, moved);
        tw_stokeslets_velocity(s, c.f, u);
        for (int64_t i = 0; i < n; i++) out[i] += weights[k] * u[i] / h;
    }
    tw_stokeslets_place(s, c.x);
}

START_TEST(changes_are_differences)
{
    static double by_difference[3 * MOST];
    static double force[3 * MOST];
    static double forced[3 * MOST];
    fill_cloud(37, 0.1, 0.3);
    int64_t n = 3 * c.count;
    tw_stokeslets *s = points_of_cloud();
    difference(s, 1e-4, by_difference);

    /* Without a change of the force. */
    memset(force, 0, sizeof force);
    tw_stokeslets_change(s, c.f, force, c.e, c.u);
    ck_assert_double_lt(distance(n, c.u, by_difference), 1e-10);

    /* With one: M force is added. */
    for (int64_t i = 0; i < n; i++) force[i] = sin((double)i);
    tw_stokeslets_velocity(s, force, forced);
    for (int64_t i = 0; i < n; i++) forced[i] += c.u[i];
    tw_stokeslets_change(s, c.f, force, c.e, c.other);
    ck_assert_double_lt(distance(n, c.other, forced), 1e-14);
    tw_stokeslets_free(s);
}
END_TEST

START_TEST(matrices_are_the_products)
{
    static double none[3 * MOST];
    fill_cloud(29, 0.05, 0.4);
    int64_t n = 3 * c.count;
    tw_stokeslets *s = points_of_cloud();
    double *matrix = malloc((size_t)(n * n) * sizeof *matrix);
    ck_assert_ptr_nonnull(matrix);

    tw_stokeslets_mobility(s, matrix);
    tw_dense_apply(false, (int)n, (int)n, matrix, c.f, c.other);
    tw_stokeslets_velocity(s, c.f, c.u);
    ck_assert_double_lt(distance(n, c.other, c.u), 1e-14);

    tw_stokeslets_gradient(s, c.f, matrix);
    tw_dense_apply(false, (int)n, (int)n, matrix, c.e, c.other);
    tw_stokeslets_change(s, c.f, none, c.e, c.u);
    ck_assert_double_lt(distance(n, c.other, c.u), 1e-13);
    free(matrix);
    tw_stokeslets_free(s);
}
END_TEST

/* ---- properties ---- */

/* Blobs of very different radii that overlap: M stays symmetric and positive definite, so that the
 * fluid only takes energy. */
START_TEST(mobility_is_positive_definite)
{
    fill_cloud(120, 0.02, 0.6);
    for (int64_t i = 0; i < 3 * c.count; i++) c.x[i] *= 0.3;
    int n = (int)(3 * c.count);
    tw_stokeslets *s = points_of_cloud();
    double *M = malloc((size_t)(n * n) * sizeof *M);
    ck_assert_ptr_nonnull(M);
    tw_stokeslets_mobility(s, M);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < i; j++)
            ck_assert_double_eq_tol(M[i * n + j], M[j * n + i], 1e-15 * M[0]);
    ck_assert_int_eq(tw_dense_cholesky(n, M), TW_OK);
    free(M);
    tw_stokeslets_free(s);
}
END_TEST

START_TEST(threads_do_not_change_a_bit)
{
    int before = tw_threads();
    fill_cloud(613, 0.05, 0.1);
    tw_stokeslets *s = points_of_cloud();
    size_t size = 3 * (size_t)c.count * sizeof(double);
    static double change[3 * MOST];
    tw_set_threads(1);
    tw_stokeslets_velocity(s, c.f, c.u);
    tw_stokeslets_change(s, c.f, c.f, c.e, change);
    for (int threads = 2; threads <= 5; threads++) {
        tw_set_threads(threads);
        tw_stokeslets_velocity(s, c.f, c.other);
        ck_assert_mem_eq(c.u, c.other, size);
        tw_stokeslets_change(s, c.f, c.f, c.e, c.other);
        ck_assert_mem_eq(change, c.other, size);
    }
    tw_set_threads(before);
    tw_stokeslets_free(s);
}
END_TEST

/* Two opposite forces: far away their flow falls like 1/r^2, that of one force like 1/r. */
START_TEST(no_net_force_decays_faster)
{
    double at[2][2];
    for (int pair = 0; pair < 2; pair++)
        for (int far = 0; far < 2; far++) {
            c = (cloud){.count = 3, .viscosity = 1, .radius = {0.1, 0.1, 0.1}};
            c.x[0] = 0.5;
            c.x[3] = -0.5;
            c.x[6] = (far ? 200 : 100) / sqrt(2);
            c.x[7] = (far ? 200 : 100) / sqrt(2);
            c.f[0] = 1;
            c.f[3] = pair ? -1 : 0;
            tw_stokeslets *s = points_of_cloud();
            tw_stokeslets_velocity(s, c.f, c.u);
            at[pair][far] = norm(3, c.u + 6);
            tw_stokeslets_free(s);
        }
    ck_assert_double_eq_tol(at[0][0] / at[0][1], 2, 0.02);
    ck_assert_double_eq_tol(at[1][0] / at[1][1], 4, 0.04);
}
END_TEST

/* ---- a sphere ---- */

/* Points spread evenly over the unit sphere, along a spiral (Fibonacci's). */
static void fill_sphere(int64_t count)
{
    c = (cloud){.count = count, .viscosity = 1};
    for (int64_t i = 0; i < count; i++) {
        double z = 1 - (2 * (double)i + 1) / (double)count;
        double angle = PI * (3 - sqrt(5)) * (double)i;
        c.x[3 * i] = sqrt(1 - z * z) * cos(angle);
        c.x[3 * i + 1] = sqrt(1 - z * z) * sin(angle);
        c.x[3 * i + 2] = z;

        /* Two thirds of the radius of a disc of its share 4 pi / count of the surface. */
        c.radius[i] = 2.0 / 3 * sqrt(4 / (double)count);
    }
}

/* Force along x that moves the sphere by 1, or torque about z that turns it by 1, from M f = u. */
static double resistance(bool turning)
{
    int n = (int)(3 * c.count);
    tw_stokeslets *s = points_of_cloud();
    double *M = malloc((size_t)(n * n) * sizeof *M);
    ck_assert_ptr_nonnull(M);
    tw_stokeslets_mobility(s, M);
    ck_assert_int_eq(tw_dense_cholesky(n, M), TW_OK);
    for (int i = 0; i < n; i += 3) {
        c.f[i] = turning ? -c.x[i + 1] : 1;
        c.f[i + 1] = turning ? c.x[i] : 0;
        c.f[i + 2] = 0;
    }
    tw_dense_lower_solve(false, n, M, 1, c.f);
    tw_dense_lower_solve(true, n, M, 1, c.f);
    double sum = 0;
    for (int i = 0; i < n; i += 3)
        sum += turning ? c.x[i] * c.f[i + 1] - c.x[i + 1] * c.f[i] : c.f[i];
    free(M);
    tw_stokeslets_free(s);
    return sum;
}

/* Stokes: 6 pi mu R for a sphere that moves, 8 pi mu R^3 for one that turns. */
START_TEST(a_sphere_has_the_drag_of_stokes)
{
    static const int64_t counts[] = {28, 80, 200, 600};
    static const double allowed[] = {0.05, 0.03, 0.02, 0.02};
    for (int t = 0; t < 4; t++) {
        fill_sphere(counts[t]);
        double drag = resistance(false) / (6 * PI);
        double spin = resistance(true) / (8 * PI);
        ck_assert_msg(fabs(drag - 1) < allowed[t], "%lld points: drag %g", (long long)counts[t],
                      drag);
        ck_assert_msg(fabs(spin - 1) < 2 * allowed[t], "%lld points: spin %g", (long long)counts[t],
                      spin);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("stokeslets");
    TCase *cases = tcase_create("stokeslets");
    tcase_set_timeout(cases, 120);
    tcase_add_test(cases, sums_are_those_in_long_double);
    tcase_add_test(cases, different_radii_are_those_of_mpmath);
    tcase_add_test(cases, micrometres_are_as_good_as_metres);
    tcase_add_test(cases, changes_are_differences);
    tcase_add_test(cases, matrices_are_the_products);
    tcase_add_test(cases, mobility_is_positive_definite);
    tcase_add_test(cases, threads_do_not_change_a_bit);
    tcase_add_test(cases, no_net_force_decays_faster);
    tcase_add_test(cases, a_sphere_has_the_drag_of_stokes);
    suite_add_tcase(suite, cases);
    return run_suite(suite);
}
