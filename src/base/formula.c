#include "base/formula.h"

#include <ctype.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "base/number.h"

/* Formulas are nested at most so deep, which bounds the recursion and the stack of values. */
enum { DEEPEST = 32, NAME_SIZE = 8, NUMBER_SIZE = 64 };

/* What a step does to the stack. The functions come last, in the order of `names`. */
enum { PUSH_NUMBER, PUSH_TIME, ADD, SUBTRACT, MULTIPLY, DIVIDE, POWER, NEGATE, FIRST_FUNCTION };

static const char *const names[] = {"sin", "cos", "tan", "exp", "log", "sqrt", "tanh", "ramp"};
enum { SIN, COS, TAN, EXP, LOG, SQRT, TANH, RAMP, FUNCTIONS };

static const double PI = 3.14159265358979323846;

/* ---- reading ---- */

typedef struct reader {
    const char *text;
    const char *at;
    tw_formula *out;
    const char *wrong; /* NULL as long as nothing is */
    int depth;
} reader;

static void read_sum(reader *r);

static void fail(reader *r, const char *what)
{
    if (!r->wrong) r->wrong = what;
}

static void skip_blanks(reader *r)
{
    while (*r->at == ' ' || *r->at == '\t') r->at++;
}

/* Takes a sign if it comes next. */
static bool take(reader *r, char sign)
{
    skip_blanks(r);
    if (*r->at != sign) return false;
    r->at++;
    return true;
}

static void add_step(reader *r, int step, double number)
{
    tw_formula *f = r->out;
    if (f->count == TW_FORMULA_STEPS) {
        fail(r, "is too long");
        return;
    }

    f->step[f->count] = (int16_t)step;
    f->number[f->count] = number;
    f->count++;
}

/* Digits, a point, and an exponent with its sign. */
static void read_number(reader *r)
{
    char digits[NUMBER_SIZE];
    int length = 0;
    const char *at = r->at;
    while (length < NUMBER_SIZE - 1) {
        bool after_e = length > 0 && (at[-1] == 'e' || at[-1] == 'E');
        bool belongs = isdigit((unsigned char)*at) || *at == '.' || *at == 'e' || *at == 'E' ||
                       (after_e && (*at == '+' || *at == '-'));
        if (!belongs) break;
        digits[length++] = *at++;
    }
    digits[length] = '\0';

    double value = 0.0;
    if (!tw_number_parse(digits, &value)) {
        fail(r, "has something that is not a number");
        return;
    }

    r->at = at;
    add_step(r, PUSH_NUMBER, value);
}

static void read_parentheses(reader *r)
{
    read_sum(r);
    if (!r->wrong && !take(r, ')')) fail(r, "lacks a closing parenthesis");
}

/* t, pi, or a function and its argument. */
static void read_name(reader *r)
{
    char name[NAME_SIZE] = {0};
    const char *begin = r->at;
    for (int i = 0; isalpha((unsigned char)*r->at); r->at++)
        if (i < NAME_SIZE - 1) name[i++] = *r->at;

    if (strcmp(name, "t") == 0) {
        add_step(r, PUSH_TIME, 0.0);
        return;
    }

    if (strcmp(name, "pi") == 0) {
        add_step(r, PUSH_NUMBER, PI);
        return;
    }

    for (int i = 0; i < FUNCTIONS; i++) {
        if (strcmp(name, names[i]) != 0) continue;
        if (take(r, '('))
            read_parentheses(r);
        else
            fail(r, "lacks a parenthesis after the name of a function");
        add_step(r, FIRST_FUNCTION + i, 0.0);
        return;
    }

    r->at = begin;
    fail(r, "has an unknown name, known are t, pi, sin, cos, tan, exp, log, sqrt, tanh, ramp");
}

static void read_atom(reader *r)
{
    skip_blanks(r);
    if (isdigit((unsigned char)*r->at) || *r->at == '.')
        read_number(r);
    else if (isalpha((unsigned char)*r->at))
        read_name(r);
    else if (take(r, '('))
        read_parentheses(r);
    else
        fail(r, "lacks a number, a name or a parenthesis");
}

static void read_factor(reader *r)
{
    if (++r->depth > DEEPEST) fail(r, "is nested too deep");
    if (r->wrong) return;

    if (take(r, '-')) {
        read_factor(r);
        add_step(r, NEGATE, 0.0);
    } else {
        read_atom(r);
        if (!r->wrong && take(r, '^')) {
            read_factor(r);
            add_step(r, POWER, 0.0);
        }
    }
    r->depth--;
}

static void read_product(reader *r)
{
    read_factor(r);
    while (!r->wrong) {
        int step = MULTIPLY;
        if (take(r, '/'))
            step = DIVIDE;
        else if (!take(r, '*'))
            return;
        read_factor(r);
        add_step(r, step, 0.0);
    }
}

static void read_sum(reader *r)
{
    read_product(r);
    while (!r->wrong) {
        int step = ADD;
        if (take(r, '-'))
            step = SUBTRACT;
        else if (!take(r, '+'))
            return;
        read_product(r);
        add_step(r, step, 0.0);
    }
}

const char *tw_formula_parse(const char *text, tw_formula *out, int *place)
{
    out->count = 0;
    reader r = {.text = text, .at = text, .out = out};

    read_sum(&r);
    skip_blanks(&r);
    if (!r.wrong && *r.at) fail(&r, "goes on after its end");
    *place = (int)(r.at - text);
    return r.wrong;
}

/* ---- evaluating ---- */

static tw_jet constant(double value)
{
    return (tw_jet){value, 0.0, 0.0};
}

/* f(u) by the chain rule, from f, f' and f'' at u. */
static tw_jet chain(tw_jet u, double f, double slope, double curvature)
{
    return (tw_jet){f, slope * u.rate, curvature * u.rate * u.rate + slope * u.acceleration};
}

static tw_jet multiply(tw_jet u, tw_jet v)
{
    return (tw_jet){u.value * v.value, u.rate * v.value + u.value * v.rate,
                    u.acceleration * v.value + 2.0 * u.rate * v.rate + u.value * v.acceleration};
}

static tw_jet invert(tw_jet u)
{
    double inverse = 1.0 / u.value;
    return chain(u, inverse, -inverse * inverse, 2.0 * inverse * inverse * inverse);
}

static tw_jet ramp(tw_jet u)
{
    double x = u.value;

    if (x <= 0.0) return constant(0.0);
    if (x >= 1.0) return constant(1.0);
    return chain(u, x * x * x * (10.0 + x * (6.0 * x - 15.0)), 30.0 * x * x * (1.0 - x) * (1.0 - x),
                 60.0 * x * (1.0 - x) * (1.0 - 2.0 * x));
}

static tw_jet apply(int function, tw_jet u)
{
    double x = u.value;
    double f = 0.0;

    switch (function) {
    case SIN:
        return chain(u, sin(x), cos(x), -sin(x));
    case COS:
        return chain(u, cos(x), -sin(x), -cos(x));
    case TAN:
        f = tan(x);
        return chain(u, f, 1.0 + f * f, 2.0 * f * (1.0 + f * f));
    case EXP:
        return chain(u, exp(x), exp(x), exp(x));
    case LOG:
        return chain(u, log(x), 1.0 / x, -1.0 / (x * x));
    case SQRT:
        f = sqrt(x);
        return chain(u, f, 0.5 / f, -0.25 / (f * x));
    case TANH:
        f = tanh(x);
        return chain(u, f, 1.0 - f * f, -2.0 * f * (1.0 - f * f));
    default:
        return ramp(u);
    }
}

/* u^n with a constant exponent; any other power is exp(v log u). */
static tw_jet power(tw_jet u, tw_jet v)
{
    if (v.rate != 0.0 || v.acceleration != 0.0) return apply(EXP, multiply(v, apply(LOG, u)));

    double n = v.value;
    double slope = n == 0.0 ? 0.0 : n * pow(u.value, n - 1.0);
    double curvature = n == 0.0 || n == 1.0 ? 0.0 : n * (n - 1.0) * pow(u.value, n - 2.0);
    return chain(u, pow(u.value, n), slope, curvature);
}

static tw_jet combine(int step, tw_jet u, tw_jet v)
{
    switch (step) {
    case ADD:
        return (tw_jet){u.value + v.value, u.rate + v.rate, u.acceleration + v.acceleration};
    case SUBTRACT:
        return (tw_jet){u.value - v.value, u.rate - v.rate, u.acceleration - v.acceleration};
    case MULTIPLY:
        return multiply(u, v);
    case DIVIDE:
        return multiply(u, invert(v));
    default:
        return power(u, v);
    }
}

tw_jet tw_formula_at(const tw_formula *formula, double t)
{
    tw_jet stack[TW_FORMULA_STEPS] = {{0.0, 0.0, 0.0}};
    int height = 0;

    for (int i = 0; i < formula->count; i++) {
        int step = formula->step[i];
        if (step == PUSH_NUMBER) {
            stack[height++] = constant(formula->number[i]);
        } else if (step == PUSH_TIME) {
            stack[height++] = (tw_jet){t, 1.0, 0.0};
        } else if (step == NEGATE) {
            stack[height - 1] = multiply(constant(-1.0), stack[height - 1]);
        } else if (step >= FIRST_FUNCTION) {
            stack[height - 1] = apply(step - FIRST_FUNCTION, stack[height - 1]);
        } else {
            height--;
            stack[height - 1] = combine(step, stack[height - 1], stack[height]);
        }
    }
    return stack[0];
}
