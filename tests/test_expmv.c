/* expmv: its own promises. What it shares with leja is in support/exp_engine_checks.c, and both are tried with all
 * other engines in test_phi_engines.c. */
#include <math.h>
#include <twang/twang.h>

#include "support/exp_engine_checks.h"
#include "support/exp_trial.h"
#include "support/run_suite.h"

/* Al-Mohy & Higham's count: about m/theta_m products per unit of |t A|, 3 to 5 at degree 55. */
START_TEST(products_go_with_the_norm)
{
    for (double time = 50; time < 500; time *= 3) {
        exp_trial t = exp_trial_new(TW_PHI_EXPMV, EXP_TRIAL_SKEW, 40, time);
        ck_assert_int_eq(exp_trial_run(&t), TW_OK);
        ck_assert_double_le(exp_trial_error(&t), 1e-8);
        ck_assert_double_le((double)t.statistics.products, 4.5 * time + 60);
        ck_assert_double_ge((double)t.statistics.products, 2.5 * time);
        exp_trial_free(&t);
    }
}
END_TEST

/* The shift to the middle of [-2, 0] halves the norm. */
START_TEST(a_shift_halves_the_products_of_one_sided_spectra)
{
    exp_trial t = exp_trial_new(TW_PHI_EXPMV, EXP_TRIAL_SYMMETRIC, 40, 100); /* |t A| = 200 */
    ck_assert_int_eq(exp_trial_run(&t), TW_OK);
    ck_assert_double_le(exp_trial_error(&t), 1e-8);
    ck_assert_int_le(t.statistics.products, 450);
    exp_trial_free(&t);
}
END_TEST

/* Looser tolerances cost less: theta_m depends on them. */
START_TEST(tolerance_buys_products)
{
    int64_t before = INT64_MAX;
    for (double tolerance = 1e-12; tolerance < 1e-1; tolerance *= 1e3) {
        exp_trial t = exp_trial_new(TW_PHI_EXPMV, EXP_TRIAL_SKEW, 40, 200);
        t.options.tolerance = tolerance;
        ck_assert_int_eq(exp_trial_run(&t), TW_OK);
        ck_assert_double_le(exp_trial_error(&t), tolerance);
        ck_assert_int_lt(t.statistics.products, before);
        before = t.statistics.products;
        exp_trial_free(&t);
    }
}
END_TEST

/* A zero operator needs no series: w = sum_k v_k / k!, and the few products that tell that it is zero. */
START_TEST(a_zero_operator_is_exact)
{
    exp_trial t = exp_trial_new(TW_PHI_EXPMV, EXP_TRIAL_GENERAL, 10, 3);
    for (int i = 0; i < 100; i++) t.A.A[i] = 0;
    for (int k = 1; k < EXP_TRIAL_VECTORS; k++) exp_trial_add_vector(&t, k);
    ck_assert_int_eq(exp_trial_run(&t), TW_OK);
    ck_assert_int_le(t.statistics.products, 6);
    for (int i = 0; i < 10; i++) {
        double sum = t.vectors[0][i] + t.vectors[1][i] + t.vectors[2][i] / 2 + t.vectors[3][i] / 6;
        ck_assert_double_eq_tol(t.outputs[0][i], sum, 1e-15);
    }
    exp_trial_free(&t);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("expmv");
    suite_add_tcase(suite, exp_engine_checks(TW_PHI_EXPMV));
    TCase *cases = tcase_create("expmv");
    tcase_add_test(cases, products_go_with_the_norm);
    tcase_add_test(cases, a_shift_halves_the_products_of_one_sided_spectra);
    tcase_add_test(cases, tolerance_buys_products);
    tcase_add_test(cases, a_zero_operator_is_exact);
    suite_add_tcase(suite, cases);
    return run_suite(suite);
}
