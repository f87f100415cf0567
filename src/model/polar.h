/* The rotation nearest to a 3x3 matrix. */
#ifndef TW_MODEL_POLAR_H
#define TW_MODEL_POLAR_H

#include "model/lanes.h"

/* F = U diag(s) V^T with rotations U, V and s_0 >= s_1 >= |s_2|: R = U V^T is the rotation that maximises tr(R^T F),
 * S = R^T F = V diag(s) V^T. s_2 < 0 where F is inverted. Matrices row by row. */
typedef struct tw_polar {
    double R[9], U[9], V[9], s[3];
} tw_polar;

typedef struct tw_polar_lanes {
    tw_lanes R[9], U[9], V[9], s[3];
} tw_polar_lanes;

/* Any F, also singular ones (where R is one of several). Not finite in, not finite out. */
void tw_polar_decompose(const double F[9], tw_polar *polar);

/* The same for several at once. The last digits of a lane can depend on its neighbours'. */
void tw_polar_decompose_lanes(tw_lanes *F, tw_polar_lanes *polar);

/* One lane of several. */
void tw_polar_take(const tw_polar_lanes *lanes, int lane, tw_polar *polar);

/* How far R is from being ambiguous: (s_1 + s_2) / s_0, 0 for F = 0. Its derivative grows like the inverse. */
double tw_polar_distinctness(double s0, double s1, double s2);

#endif
