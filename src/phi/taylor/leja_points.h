/* Leja points and Newton coefficients of exp on them. */
#ifndef TW_PHI_LEJA_POINTS_H
#define TW_PHI_LEJA_POINTS_H

#include "phi/taylor/newton_substep.h"

/* Fast Leja points on [-2, 2] (Baglama, Calvetti & Reichel 1998): 2, -2, 0, then always the midpoint between two
 * neighbours at which the product of distances to the earlier points is largest. */
void tw_leja_points(int count, double *points);

/* The ellipse that holds the spectrum of X = h t A, by its focal segment. */
typedef struct tw_leja_segment {
    bool vertical; /* foci at center +- i half_length, else center +- half_length */
    double center; /* real */
    double half_length;
    bool precise; /* every coefficient to a small relative error, not only to one of the largest */
    double capacity; /* (sum of the semi-axes) / 2, >= half_length / 2 */
} tw_leja_segment;

/* Fills newton for exp on the segment's Leja points: everything but degree, window, outputs and fraction, which are
 * given. `scratch` has room for 3 (degree + 1) doubles. */
void tw_leja_build(const double *points, const tw_leja_segment *segment, tw_newton *newton,
                   double *scratch);

#endif
