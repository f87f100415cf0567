/* leja: its points, its polynomials, and its own promises. What it shares with expmv is in
 * support/exp_engine_checks.c, and both are tried with all other engines in test_phi_engines.c. */
#include <complex.h>
#include <math.h>
#include <stdlib.h>
#include <twang/twang.h>

#include "phi/taylor/taylor.h"
#include "support/exp_engine_checks.h"
#include "support/exp_trial.h"
#include "support/run_suite.h"

enum { POINTS = TW_NEWTON_MAX_DEGREE + 1 };

static double points[POINTS], scratch[3 * POINTS];

static void make_points(void)
{
    tw_leja_points(POINTS, points);
}

/* Capacity 1: the products of distances neither grow nor shrink geometrically. */
START_TEST(points_are_spread_like_leja_points)
{
    ck_assert_double_eq(points[0], 2);
    ck_assert_double_eq(points[1], -2);
    ck_assert_double_eq(points[2], 0);
    enum { SAMPLES = 4001 };
    double product[SAMPLES];
    for (int s = 0; s < SAMPLES; s++) product[s] = 1;
    for (int j = 0; j < POINTS; j++) {
        double largest = 0, own = 1;
        for (int i = 0; i < j; i++) {
            ck_assert_double_ne(points[i], points[j]);
            own *= fabs(points[i] - points[j]);
        }
        for (int s = 0; s < SAMPLES; s++) {
            product[s] *= fabs(-2 + 4.0 * s / (SAMPLES - 1) - points[j]);
            largest = fmax(largest, product[s]);
        }
        ck_assert_double_le(fabs(points[j]), 2);
        ck_assert_double_ge(own, j > 0 ? 0.25 : 0);
        ck_assert_double_le(largest, 40 + 0.5 * j);
    }
}
END_TEST

/* The polynomial at x, by the recurrence of tw_newton. */
static double complex value_at(const tw_newton *newton, int o, double complex x, double *hump)
{
    double complex y = 1, previous = 0, sum = newton->coefficient[o][0];
    for (int j = 0; j < newton->degree; j++) {
        double complex shifted = (x - newton->center - newton->shift[j]) * y;
        double complex next = (shifted + newton->pair[j] * previous) / newton->divisor[j];
        previous = y;
        y = next;
        sum += newton->coefficient[o][j + 1] * y;
        *hump = fmax(*hump, cabs(newton->coefficient[o][j + 1] * y));
    }
    return sum;
}

/* exp(g x) on the whole ellipse, from needles to discs, to a few ulp of the largest term. */
START_TEST(polynomials_are_exp_on_their_ellipse)
{
    static const double axes[] = {0, 0.3, 1, 4, 15, 60, 200};
    enum { AXES = sizeof axes / sizeof axes[0] };
    tw_newton *newton = malloc(sizeof *newton);
    for (int i = 0; i < AXES * AXES; i++) {
        double p = axes[i / AXES], q = axes[i % AXES];
        tw_leja_segment segment = {
            .vertical = q > p, .center = -p, .capacity = fmax((p + q) / 2, 0.3)};
        segment.half_length = sqrt(fabs(p * p - q * q));
        newton->degree = (int)(1.2 * fmax(p, q) + 8 * sqrt(fmin(p, q)) + 70) | 1;
        newton->outputs = 2;
        newton->fraction[0] = 1;
        newton->fraction[1] = 0.4;
        tw_leja_build(points, &segment, newton, scratch);
        for (int k = 0; k < 50; k++) {
            double angle = 2 * acos(-1.0) * k / 50;
            double complex x = -p + p * cos(angle) + q * sin(angle) * I;
            for (int o = 0; o < 2; o++) {
                double hump = 1,
                       error = cabs(value_at(newton, o, x, &hump) - cexp(newton->fraction[o] * x));
                ck_assert_msg(error <= 1e-14 * hump * (1 + 0.02 * q),
                              "p %g q %g output %d: error %g, hump %g", p, q, o, error, hump);
            }
        }
    }
    free(newton);
}
END_TEST

/* On a real segment of half-length R some sqrt(2 R ln(1/tol)) products do, in one substep. */
START_TEST(products_go_with_the_root_of_a_real_spectrum)
{
    for (double time = 100; time < 3000; time *= 5) {
        exp_trial t = exp_trial_new(TW_PHI_LEJA, EXP_TRIAL_SYMMETRIC, 60, time);
        ck_assert_int_eq(exp_trial_run(&t), TW_OK);
        ck_assert_double_le(exp_trial_error(&t), 1e-8);
        ck_assert_int_eq(t.statistics.substeps, 1);
        ck_assert_double_le((double)t.statistics.products, 1.2 * sqrt(2 * time * log(1e9)) + 40);
        exp_trial_free(&t);
    }
}
END_TEST

/* On an imaginary segment of half-length R about R products do, in real arithmetic. */
START_TEST(products_go_with_an_imaginary_spectrum)
{
    for (double time = 50; time < 400; time *= 2) {
        exp_trial t = exp_trial_new(TW_PHI_LEJA, EXP_TRIAL_SKEW, 60, time);
        ck_assert_int_eq(exp_trial_run(&t), TW_OK);
        ck_assert_double_le(exp_trial_error(&t), 1e-8);
        ck_assert_int_eq(t.statistics.substeps, 1);
        ck_assert_double_le((double)t.statistics.products, 1.15 * time + 65);
        exp_trial_free(&t);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("leja");
    suite_add_tcase(suite, exp_engine_checks(TW_PHI_LEJA));
    TCase *cases = tcase_create("leja");
    tcase_add_unchecked_fixture(cases, make_points, NULL);
    tcase_add_test(cases, points_are_spread_like_leja_points);
    tcase_add_test(cases, polynomials_are_exp_on_their_ellipse);
    tcase_add_test(cases, products_go_with_the_root_of_a_real_spectrum);
    tcase_add_test(cases, products_go_with_an_imaginary_spectrum);
    suite_add_tcase(suite, cases);
    return run_suite(suite);
}
