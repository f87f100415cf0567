/* The angle of a hinge and its derivatives. Corners 0 and 1 are the ends of the edge, 2 and 3 the
 * vertices opposite to it. */
#ifndef TW_MODEL_HINGE_LAW_H
#define TW_MODEL_HINGE_LAW_H

#include <stdbool.h>

typedef struct tw_hinge_state {
    double x[4][3];
    double edge[3];      /* t, the unit vector from corner 0 to 1 */
    double length;       /* l, of the edge */
    double normal[2][3]; /* n, twice the area vector of each triangle */
    double square[2];    /* |n|^2 */
    double q[2][3];      /* n/|n|^2 */
    double a[2];         /* along the edge, from the foot of vertex 2 + s to corner 1 */
    double b[2];         /* along the edge, from corner 0 to the foot of vertex 2 + s */
    double angle;
    double gradient[4][3];
} tw_hinge_state;

/* Returns false where a triangle has no area: there the angle is not defined. */
bool tw_hinge_evaluate(const double *const x[4], tw_hinge_state *h);
/* out = H d with the second derivative H = d^2 angle / dx^2. */
void tw_hinge_second(const tw_hinge_state *h, const double d[4][3], double out[4][3]);

#endif
