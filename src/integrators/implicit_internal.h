/* What the two iterations of the implicit stage share: implicit_stage.c takes all unknowns at once,
 * part_newton.c each part of them that acts on no other by itself. */
#ifndef TW_INTEGRATORS_IMPLICIT_INTERNAL_H
#define TW_INTEGRATORS_IMPLICIT_INTERNAL_H

#include "integrators/implicit_stage.h"
#include "integrators/part_newton.h"
#include "integrators/stage_matrix.h"

/* The iteration ends where the corrections to come are about this share of what is enough. */
static const double tw_newton_left_share = 0.05;

/* No element turns by more than this [rad] in one iteration: beyond it the linearisation
 * means nothing. */
static const double tw_newton_largest_turn = 1.0;

/* The line search lets a correction pass the lowest point of its line until the energy rises by this
 * share of the slope that it fell with at first. */
static const double tw_newton_largest_rise = 0.5;

/* A factorisation that costs less than so many solves is made anew in every iteration: it saves
 * more iterations than it costs. The ratio is 3 on a hair, 13 on the coil, 50 on the flag. */
static const double tw_newton_cheap_factor = 8;

/* A factor must shrink the corrections by this in every iteration. A slower one hardly arrives. */
static const double tw_newton_slowest_contraction = 0.3;

/* Where and how the matrix at hand was made. Doubles alone, because it is a part of `past`. */
typedef struct tw_linear_record {
    double t;
    double g;       /* 0: there is no matrix */
    double clipped; /* 1: compressed elements count as slack in it */
    double raised;  /* 1: it may have a raised diagonal */
    double damping; /* factor of R in it */
} tw_linear_record;

enum { TW_LINEAR_RECORD_SIZE = sizeof(tw_linear_record) / sizeof(double) };

struct tw_implicit {
    tw_system *system;
    tw_linear_solver solver;
    tw_stage_matrix *matrix;

    double *a, *v, *residual, *force;    /* of the iterate; residual = gamma a - way */
    double *correction;                  /* dx */
    double *way;                         /* x - x_star, never computed as a difference */
    double *trial_way;                   /* the same of a trial of the line search */
    double *last_correction, *last_step; /* of the iteration before, for the secant */
    double *first_guess;
    double *storage;

    int64_t tension_count;
    double *iterate;   /* tensions of the iterate */
    double *predicted; /* tensions that the linearisation predicts */
    double *turn;      /* angles by which the correction turns elements */

    tw_part_newton *parts; /* parts that do not act on each other; NULL: there are none */
    int64_t parts_pattern; /* number of the matrix that they were found in; -1: none */

    /* In the scheme's `past`: */
    double *tension;        /* of the last solution */
    double *linear_tension; /* of the matrix at hand */
    double *linear_u;       /* its point: (x, v), or u */
    tw_linear_record *linear;
};

/* residual = gamma a(x) - way with way = x - x_star, at the velocity that belongs to x. */
tw_status tw_implicit_evaluate(tw_implicit *implicit, const tw_stage *stage, const double *x,
                               const double *way);
/* g = gamma (1 + sigma beta) / (1 + gamma sigma alpha), and the divisor 1 + gamma sigma alpha. */
double tw_implicit_shift_of(const tw_implicit *implicit, const tw_stage *stage, double *divisor);
/* The factor of R in the matrix, sigma / (1 + sigma beta); 0 where R is not in it. */
double tw_implicit_damping_of(const tw_implicit *implicit, const tw_stage *stage);
/* Linearises where the record says, and prepares M + g K there. */
tw_status tw_implicit_prepare_record(tw_implicit *implicit);

#endif
