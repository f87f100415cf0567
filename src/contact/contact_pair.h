/* The energy of one contact pair and its derivatives.
 *
 * The energy of most pairs is psi(gap) (contact_law.h), gap = distance - radius, with the radii of
 * both primitives in `radius`. The closest points of two edges jump when the edges pass through
 * parallel, so that their pair is a blend:
 *     E = m psi(edge, edge) + (1 - m)/2 sum of psi(point, edge) over the four ends,
 *     m = 1 - (1 - c/c_0)^3,   c = |e_1 x e_2|^2,   m = 1 for c >= c_0,
 * which is C2 in c, and whose first part vanishes where it would jump. */
#ifndef TW_CONTACT_PAIR_H
#define TW_CONTACT_PAIR_H

#include <stdint.h>

#include "contact/contact_law.h"
#include "contact/gap.h"

typedef struct tw_contact_pair {
    tw_pair_kind kind;
    int32_t vertex[TW_PAIR_VERTICES]; /* contact vertices */
    int32_t row;                      /* index of its first free particle among the free ones */
    double radius;                    /* of both primitives together [m] */
    double first_radius;              /* of the first one [m] */
    tw_contact_law law;
    double parallel; /* c_0 of two edges [m^4] */
    double limit;    /* the distance below which the closest points must not come [m] */
} tw_contact_pair;

/* What is wanted of a pair. */
typedef enum tw_pair_order {
    TW_PAIR_ENERGY,   /* the energy */
    TW_PAIR_GRADIENT, /* and the gradient */
    TW_PAIR_HESSIAN,  /* and the Hessian */
    TW_PAIR_DEFINITE  /* and the part psi'' grad gap grad gap^T of the Hessian, never negative */
} tw_pair_order;

typedef struct tw_pair_state {
    bool active;   /* false: the pair is out of reach, and nothing else is set */
    bool defined;  /* false: the primitives meet, and there is no normal */
    double gap;    /* distance - radius [m] */
    double energy; /* E [J] */
    double press;  /* N = -dE/dgap [N] */
    tw_gap frame;  /* closest points and normal */
    double gradient[TW_PAIR_SIZE];
    double hessian[TW_PAIR_SIZE * TW_PAIR_SIZE];
} tw_pair_state;

void tw_pair_evaluate(const tw_contact_pair *pair, const double x[TW_PAIR_VERTICES][3],
                      tw_pair_order order, tw_pair_state *state);

#endif
