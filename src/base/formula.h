/* Formulas of the time t, such as "0.1 sin(2 pi t)" written as "0.1*sin(2*pi*t)".
 *
 *   sum     = product { (+|-) product }       product = factor { (*|/) factor }
 *   factor  = - factor | atom [ ^ factor ]    atom    = number | t | pi | name(sum) | (sum)
 *
 * Names are sin, cos, tan, exp, log, sqrt, tanh and ramp: ramp(x) is 0 for x < 0, 1 for x > 1, and
 * x^3 (10 - 15 x + 6 x^2) between, which is twice differentiable. */
#ifndef TW_BASE_FORMULA_H
#define TW_BASE_FORMULA_H

#include <stdint.h>

enum { TW_FORMULA_STEPS = 128 }; /* numbers, names and signs of a formula */

/* A formula as a list of steps on a stack. It holds no pointers and may be copied. */
typedef struct tw_formula {
    int count;
    int16_t step[TW_FORMULA_STEPS];
    double number[TW_FORMULA_STEPS]; /* of the steps that push one */
} tw_formula;

/* A value and its first and second derivative by t. */
typedef struct tw_jet {
    double value;
    double rate;
    double acceleration;
} tw_jet;

/* Reads a formula. Returns NULL, or what is wrong with it; *place becomes where, counted from 0. */
const char *tw_formula_parse(const char *text, tw_formula *out, int *place);

tw_jet tw_formula_at(const tw_formula *formula, double t);

#endif
