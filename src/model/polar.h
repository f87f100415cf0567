/* The rotation nearest to a 3x3 matrix. */
#ifndef TW_MODEL_POLAR_H
#define TW_MODEL_POLAR_H

/* One quantity of several elements. The compiler vectorises loops over a tw_lanes. */
enum { TW_LANES = 8 };
typedef double tw_lanes[TW_LANES];

/* F = U diag(s) V^T with rotations U, V and s_0 >= s_1 >= |s_2|. R = U V^T is the rotation that
 * maximises tr(R^T F), and S = R^T F = V diag(s) V^T. Where F is inverted, s_2 < 0. Matrices are
 * stored row by row. */
typedef struct tw_polar {
    double R[9];
    double U[9];
    double V[9];
    double s[3];
} tw_polar;

typedef struct tw_polar_lanes {
    tw_lanes R[9];
    tw_lanes U[9];
    tw_lanes V[9];
    tw_lanes s[3];
} tw_polar_lanes;

/* Decomposes any F. Where F is singular, R is one of several. If F is not finite,
 * neither is the result. */
void tw_polar_decompose(const double F[9], tw_polar *polar);

/* The same for several matrices at once. The last digits of a lane can
 * depend on the other lanes. */
void tw_polar_decompose_lanes(tw_lanes *F, tw_polar_lanes *polar);

/* Copies one lane. */
void tw_polar_take(const tw_polar_lanes *lanes, int lane, tw_polar *polar);

/* How far R is from being ambiguous: (s_1 + s_2) / s_0, or 0 for F = 0. The derivative of R
 * grows like its inverse. */
double tw_polar_distinctness(double s0, double s1, double s2);

#endif
