/* Reaction and diffusion on the unit square, without flux through its edges: first-order problems
 * of parabolic type with a Jacobian by callback. */
#ifndef TEST_REACTION_DIFFUSION_H
#define TEST_REACTION_DIFFUSION_H

#include <stdint.h>
#include <twang/problem.h>

typedef enum reaction_kind {
    ALLEN_CAHN, /* u' = D lap u + u - u^3 */
    BRUSSELATOR /* u' = D lap u + 1 + u^2 v - 4.4 u,  v' = D lap v + 3.4 u - u^2 v */
} reaction_kind;

typedef struct reaction_diffusion {
    reaction_kind kind;
    int cells;        /* in each direction */
    double diffusion; /* D */
    int64_t size;     /* unknowns */
    double *state;    /* size values: the start */
    double *point;    /* size values: where J is taken */
    int64_t products; /* with J so far */
    tw_first_order_problem problem;
} reaction_diffusion;

/* The problem with its usual start. Free it afterwards. */
reaction_diffusion *reaction_diffusion_new(reaction_kind kind, int cells, double diffusion);
void reaction_diffusion_free(reaction_diffusion *r);

#endif
