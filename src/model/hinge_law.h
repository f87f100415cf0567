/* The angle of a hinge and its derivatives. Corners 0, 1 are the edge, 2 and 3 the vertices opposite to it. */
#ifndef TW_MODEL_HINGE_LAW_H
#define TW_MODEL_HINGE_LAW_H

#include <stdbool.h>

typedef struct tw_hinge_state {
    double x[4][3];
    double edge[3], length;       /* unit vector from 0 to 1, and the distance */
    double normal[2][3], q[2][3]; /* n = twice the area vector of each triangle; q = n/|n|^2 */
    double square[2];             /* |n|^2 */
    double a[2],
        b[2]; /* where vertex 2 + s projects onto the edge: distances from corner 1 and from 0 */
    double angle;
    double gradient[4][3];
} tw_hinge_state;

/* False where a triangle has no area: the angle is not defined. */
bool tw_hinge_evaluate(const double *const x[4], tw_hinge_state *h);
/* out = (d^2 angle / dx^2) d. */
void tw_hinge_second(const tw_hinge_state *h, const double d[4][3], double out[4][3]);

#endif
