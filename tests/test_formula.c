/* Formulas of time: values, derivatives against differences, and what is wrong with wrong ones. */
#include <math.h>
#include <string.h>

#include "base/formula.h"
#include "support/run_suite.h"

static tw_jet at(const char *text, double t)
{
    tw_formula f;
    int place = 0;
    const char *wrong = tw_formula_parse(text, &f, &place);
    ck_assert_msg(!wrong, "%s: %s at %d", text, wrong, place);
    return tw_formula_at(&f, t);
}

START_TEST(formulas_have_their_values)
{
    static const struct {
        const char *text;
        double value;
    } cases[] = {{"1 + 2*3", 7},     {"2^3^2", 512},        {"-2^2", -4},
                 {"8/4/2", 1},       {"1-2-3", -4},         {"(1+2)*3", 9},
                 {"1e-1*t", 0.05},   {"2*-t", -1},          {"ramp(2*t - 0.5)", 0.5},
                 {"ramp(-1)", 0},    {"ramp(7)", 1},        {"sin(pi*t)", 1},
                 {"sqrt(t/2)", 0.5}, {"tan(pi/4)", 1},      {"log(exp(3))", 3},
                 {"tanh(0)", 0},     {"cos ( 2 * pi )", 1}, {"t^0", 1},
                 {"--3", 3}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double value = at(cases[i].text, 0.5).value;
        ck_assert_msg(fabs(value - cases[i].value) < 1e-14, "%s is %.17g", cases[i].text, value);
    }
}
END_TEST

/* Central differences of second order with s = 1e-4 leave about 1e-7. */
START_TEST(derivatives_agree_with_differences)
{
    static const char *const cases[] = {"t^3 - 2*t",   "sin(3*t)*cos(t)", "exp(-t)/(1+t)",
                                        "sqrt(1+t^2)", "log(2+t)",        "tanh(2*t)",
                                        "ramp(t)",     "tan(t/2)",        "t^t",
                                        "1/t",         "-(t^2)*sin(t)",   "2^t",
                                        "t^-2"};
    double s = 1e-4;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (double t = 0.3; t < 1; t += 0.17) {
            tw_jet here = at(cases[i], t), low = at(cases[i], t - s), high = at(cases[i], t + s);
            double rate = (high.value - low.value) / (2 * s);
            double acceleration = (high.rate - low.rate) / (2 * s);
            ck_assert_msg(fabs(here.rate - rate) < 1e-5 * (1 + fabs(rate)), "%s", cases[i]);
            ck_assert_msg(fabs(here.acceleration - acceleration) < 1e-5 * (1 + fabs(acceleration)),
                          "%s", cases[i]);
        }
}
END_TEST

START_TEST(wrong_formulas_are_refused)
{
    static const struct {
        const char *text, *wrong;
        int place;
    } cases[] = {{"", "lacks a number", 0},           {"1 +", "lacks a number", 3},
                 {"(1", "closing parenthesis", 2},    {"sinus(t)", "unknown name", 0},
                 {"sin t", "lacks a parenthesis", 4}, {"1 2", "goes on after", 2},
                 {"1..2", "not a number", 0},         {"x", "unknown name", 0},
                 {"sin()", "lacks a number", 4},      {"1e", "not a number", 0}};
    tw_formula f;
    int place = 0;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *wrong = tw_formula_parse(cases[i].text, &f, &place);
        ck_assert_msg(wrong && strstr(wrong, cases[i].wrong), "'%s': %s", cases[i].text,
                      wrong ? wrong : "nothing");
        ck_assert_msg(place == cases[i].place, "'%s' at %d", cases[i].text, place);
    }

    /* Too long, and too deep. */
    char text[2000] = {0};
    for (int i = 0; i < 600; i++) text[i] = i % 2 ? '+' : 't';
    ck_assert_str_eq(tw_formula_parse(text, &f, &place), "is too long");
    memset(text, '(', 1999);
    ck_assert_str_eq(tw_formula_parse(text, &f, &place), "is nested too deep");
    memset(text, '-', 1999);
    ck_assert_str_eq(tw_formula_parse(text, &f, &place), "is nested too deep");
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("formula");
    TCase *cases = tcase_create("formula");
    tcase_add_test(cases, formulas_have_their_values);
    tcase_add_test(cases, derivatives_agree_with_differences);
    tcase_add_test(cases, wrong_formulas_are_refused);
    suite_add_tcase(suite, cases);
    return run_suite(suite);
}
