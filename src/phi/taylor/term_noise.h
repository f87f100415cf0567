/* Rounding in the terms of a Newton recurrence (newton_substep.h), block by block. */
#ifndef TW_PHI_TERM_NOISE_H
#define TW_PHI_TERM_NOISE_H

#include <stdbool.h>

typedef struct tw_term_noise {
    bool
        pair; /* two blocks of a second-order pair: the first is made of the second by scaling alone */
    double size[2][2];  /* |y_j| and |y_{j-1}| per block */
    double noise[2][2]; /* the rounding in them */
} tw_term_noise;

/* How much of y_{j+1} comes from where, per unit of size. */
typedef struct tw_term_weights {
    double applied[2]; /* by the operator, from y_j, into each block */
    double kept;       /* by center and shift, from y_j */
    double previous;   /* from y_{j-1} */
} tw_term_weights;

void tw_term_noise_start(tw_term_noise *noise, bool pair, const double size[2]);

/* From y_j to y_{j+1}, whose blocks have norms `size`. */
void tw_term_noise_next(tw_term_noise *noise, tw_term_weights weights, const double size[2]);

#endif
