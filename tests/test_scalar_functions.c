/* Stumpff functions, phi-functions and the damped oscillator against values of mpmath
 * (tools/make_phi_fixtures.py). */
#include <float.h>
#include <math.h>
#include <twang/stumpff.h>

#include "support/fixture.h"
#include "support/run_suite.h"

/* Error in units of eps * size; equal infinities agree. */
static double ulps(double value, double exact, double size)
{
    if (isinf(exact)) return value == exact ? 0 : INFINITY;
    double error = fabs(value - exact);
    return error == 0 ? 0 : error / (DBL_EPSILON * fmax(size, DBL_MIN));
}

START_TEST(phi_of_a_real_number)
{
    FILE *file = fixture_open("phi_scalar.txt");
    double row[17], phi[16];
    int rows = 0;
    for (; fixture_read(file, 17, row); rows++)
        for (int count = 1; count <= 16; count++) {
            tw_phi_scalar(row[0], count, phi);
            for (int k = 0; k < count; k++) {
                double error = ulps(phi[k], row[1 + k], fabs(row[1 + k]));
                ck_assert_msg(error <= 8, "phi_%d(%.17g) = %.17g (count %d), off by %g ulp", k,
                              row[0], phi[k], count, error);
            }
        }
    ck_assert_int_gt(rows, 60);
    fclose(file);
}
END_TEST

START_TEST(stumpff_functions)
{
    FILE *file = fixture_open("stumpff.txt");
    double row[17], c[16];
    int rows = 0;
    for (; fixture_read(file, 17, row); rows++)
        for (int count = 1; count <= 16; count++) {
            tw_stumpff(row[0], count, c);
            for (int k = 0; k < count; k++) {
                double envelope = row[0] > 1 ? fmin(1, 2 * pow(row[0], -0.5 * k)) : 0;
                double error = ulps(c[k], row[1 + k], fmax(envelope, fabs(row[1 + k])));
                ck_assert_msg(error <= 8, "c_%d(%.17g) = %.17g (count %d), off by %g ulp", k,
                              row[0], c[k], count, error);
            }
        }
    ck_assert_int_gt(rows, 50);
    fclose(file);
}
END_TEST

START_TEST(damped_oscillator)
{
    FILE *file = fixture_open("phi_oscillator.txt");
    double row[12], entries[4];
    int rows = 0;
    for (; fixture_read(file, 12, row); rows++) {
        tw_phi_oscillator(row[0], row[1], row[2], (int)row[3], entries);
        for (int i = 0; i < 4; i++) {
            double error = ulps(entries[i], row[4 + i], row[8 + i]);
            ck_assert_msg(error <= 64,
                          "phi_%g(t %g, lambda %.17g, delta %.17g)[%d] = %.17g, not %.17g: %g ulp",
                          row[3], row[0], row[1], row[2], i, entries[i], row[4 + i], error);
        }
    }
    ck_assert_int_ge(rows, 700);
    fclose(file);
}
END_TEST

/* Undamped, the oscillator is the Stumpff functions. */
START_TEST(oscillator_without_damping_is_stumpff)
{
    static const double lambdas[] = {0, 1, -1, 30.25, -64, 1e4, 1e6};
    for (int i = 0; i < 7; i++)
        for (int k = 0; k < 15; k++) {
            double c[16], entries[4], lambda = lambdas[i], t = 0.5;
            tw_stumpff(t * t * lambda, 16, c);
            tw_phi_oscillator(t, lambda, 0, k, entries);
            double size = fmax(fabs(c[k]),
                               fabs(t * t * lambda) > 1 ? pow(t * t * fabs(lambda), -0.5 * k) : 0);
            ck_assert_double_le(ulps(entries[0], c[k], size), 32);
            ck_assert_double_le(ulps(entries[3], c[k], size), 32);
            ck_assert_double_le(ulps(entries[1], t * c[k + 1], t * size), 32);
        }
}
END_TEST

START_TEST(extreme_arguments_give_no_nan)
{
    static const double values[] = {0, 1e-320, 1e-160, 1, 1e100, 1e160, 1e308, INFINITY};
    double f[16];
    for (int i = 0; i < 16; i++) {
        double z = i % 2 ? -values[i / 2] : values[i / 2];
        tw_phi_scalar(z, 16, f);
        for (int k = 0; k < 16; k++) ck_assert(!isnan(f[k]));
        tw_stumpff(z, 16, f);
        for (int k = 0; k < 16; k++) ck_assert(!isnan(f[k]));
        for (int j = 0; j < 14; j++)
            for (int l = 0; l < 14; l++) {
                double lambda = j % 2 ? -values[j / 2] : values[j / 2],
                       delta = l % 2 ? -values[l / 2] : values[l / 2];
                if (!isfinite(z)) continue;
                tw_phi_oscillator(z, lambda, delta, l, f);
                for (int e = 0; e < 4; e++) ck_assert(!isnan(f[e]));
            }
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("scalar functions");
    TCase *cases = tcase_create("scalar functions");
    tcase_add_test(cases, phi_of_a_real_number);
    tcase_add_test(cases, stumpff_functions);
    tcase_add_test(cases, damped_oscillator);
    tcase_add_test(cases, oscillator_without_damping_is_stumpff);
    tcase_add_test(cases, extreme_arguments_give_no_nan);
    suite_add_tcase(suite, cases);
    return run_suite(suite);
}
