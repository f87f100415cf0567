/* Small second-order problems with reference states in tests/reference (defined in make_oscillator_references.py). */
#ifndef PROBLEMS_OSCILLATORS_H
#define PROBLEMS_OSCILLATORS_H

#include <twang/problem.h>

enum { OSCILLATOR_MAX = 3 };

typedef struct oscillator {
    const char *name; /* of the reference files: NAME_T*.txt */
    int unknowns;
    double start[2 * OSCILLATOR_MAX];                /* u = (x, v) at t = 0 */
    double tangent[OSCILLATOR_MAX * OSCILLATOR_MAX]; /* K at the last linearisation, row by row */
    double damping[OSCILLATOR_MAX * OSCILLATOR_MAX]; /* D likewise */
    tw_sparse *matrix;                               /* full pattern */
    tw_second_order_problem table;
} oscillator;

typedef enum oscillator_kind {
    DUFFING,
    DAMPED,
    VANDERPOL,
    FORCED,
    SHAKEN,
    OSCILLATOR_KINDS
} oscillator_kind;

/* The result must not move in memory. Aborts when memory is out. */
void oscillator_create(oscillator_kind kind, oscillator *out);
void oscillator_free(oscillator *o);

#endif
