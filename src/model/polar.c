/* One-sided Jacobi (Hestenes): rotations from the right make the columns of F V orthogonal. Unlike an eigenvalue
 * iteration with F^T F it does not square F, so that flat and needle-like elements keep all their digits. No lane
 * branches, so that the loops over lanes vectorise: where something could vanish, something invisibly small is added.
 */
#include "model/polar.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum { MAX_SWEEPS = 12 /* four to six are usual */ };
static const double tiny = 1e-150; /* its square is a number yet */

static double dot(tw_lanes *B, int p, int q, int l)
{
    return B[p][l] * B[q][l] + B[3 + p][l] * B[3 + q][l] + B[6 + p][l] * B[6 + q][l];
}

/* Columns (p, q) become (c p - s q, s p + c q). */
static void rotate_columns(tw_lanes *B, int p, int q, const tw_lanes c, const tw_lanes s)
{
    for (int r = 0; r < 9; r += 3)
        for (int l = 0; l < TW_LANES; l++) {
            double a = B[r + p][l], b = B[r + q][l];
            B[r + p][l] = c[l] * a - s[l] * b;
            B[r + q][l] = s[l] * a + c[l] * b;
        }
}

/* Makes columns p and q orthogonal; returns whether some were not so already. */
static int orthogonalise(tw_lanes *B, tw_lanes *V, int p, int q)
{
    const double small = 0.25 * DBL_EPSILON;
    tw_lanes c, s, excess;
    for (int l = 0; l < TW_LANES; l++) {
        double alpha = dot(B, p, p, l), beta = dot(B, q, q, l), gamma = dot(B, p, q, l),
               gap = beta - alpha;
        /* tan of the smaller angle with cot(2 angle) = gap / (2 gamma) */
        double t = copysign(2.0, gap) * gamma /
                   (fabs(gap) + sqrt(gap * gap + 4.0 * gamma * gamma) + DBL_MIN);
        c[l] = 1.0 / sqrt(1.0 + t * t);
        s[l] = c[l] * t;
        excess[l] = gamma * gamma - small * small * alpha * beta;
    }
    int turned = 0;
    for (int l = 0; l < TW_LANES; l++) turned |= excess[l] > 0.0;
    if (!turned) return 0;
    rotate_columns(B, p, q, c, s);
    rotate_columns(V, p, q, c, s);
    return 1;
}

/* Longest column first, by quarter turns, which keep det V = 1. */
static void sort_columns(tw_lanes *B, tw_lanes *V)
{
    static const int pairs[3][2] = {{0, 1}, {1, 2}, {0, 1}};
    for (int k = 0; k < 3; k++) {
        int p = pairs[k][0], q = pairs[k][1];
        tw_lanes c, s;
        for (int l = 0; l < TW_LANES; l++) {
            s[l] = dot(B, p, p, l) < dot(B, q, q, l) ? 1.0 : 0.0;
            c[l] = 1.0 - s[l];
        }
        rotate_columns(B, p, q, c, s);
        rotate_columns(V, p, q, c, s);
    }
}

/* U from the two longest columns of B; the third follows from det U = 1, and takes the sign of F along. Where the first
 * vanishes u_0 is the x-axis, where the second does u_1 is perpendicular to u_0 (Duff et al. 2017). */
static void left_rotation(tw_lanes *B, tw_lanes *U, tw_lanes *s)
{
    for (int l = 0; l < TW_LANES; l++) {
        double x = B[0][l] + tiny, y = B[3][l], z = B[6][l], length = sqrt(x * x + y * y + z * z);
        x /= length;
        y /= length;
        z /= length;
        double along = x * B[1][l] + y * B[4][l] + z * B[7][l], sign = copysign(1.0, z),
               a = -1.0 / (sign + z);
        double p = B[1][l] - along * x + tiny * (1.0 + sign * x * x * a);
        double q = B[4][l] - along * y + tiny * sign * x * y * a;
        double r = B[7][l] - along * z - tiny * sign * x;
        length = sqrt(p * p + q * q + r * r);
        p /= length;
        q /= length;
        r /= length;
        U[0][l] = x;
        U[3][l] = y;
        U[6][l] = z;
        U[1][l] = p;
        U[4][l] = q;
        U[7][l] = r;
        U[2][l] = y * r - z * q;
        U[5][l] = z * p - x * r;
        U[8][l] = x * q - y * p;
    }
    for (int c = 0; c < 3; c++)
        for (int l = 0; l < TW_LANES; l++)
            s[c][l] = U[c][l] * B[c][l] + U[3 + c][l] * B[3 + c][l] + U[6 + c][l] * B[6 + c][l];
}

void tw_polar_decompose_lanes(tw_lanes *F, tw_polar_lanes *polar)
{
    tw_lanes scale, B[9], R[9], U[9], V[9], s[3];
    for (int l = 0; l < TW_LANES; l++) {
        double largest = 0.0;
        for (int k = 0; k < 9; k++) largest = fabs(F[k][l]) > largest ? fabs(F[k][l]) : largest;
        scale[l] = largest + DBL_MIN;
    }
    for (int k = 0; k < 9; k++)
        for (int l = 0; l < TW_LANES; l++) {
            B[k][l] = F[k][l] / scale[l]; /* its squares neither overflow nor vanish */
            V[k][l] = k % 4 == 0 ? 1.0 : 0.0;
        }
    for (int sweep = 0, turned = 1; sweep < MAX_SWEEPS && turned; sweep++) {
        turned = orthogonalise(B, V, 0, 1);
        turned |= orthogonalise(B, V, 0, 2);
        turned |= orthogonalise(B, V, 1, 2);
    }
    sort_columns(B, V);
    left_rotation(B, U, s);
    for (int k = 0; k < 3; k++)
        for (int l = 0; l < TW_LANES; l++) s[k][l] *= scale[l];
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < 3; c++) {
            tw_lanes *u = U + 3 * r, *v = V + 3 * c;
            for (int l = 0; l < TW_LANES; l++)
                R[3 * r + c][l] = u[0][l] * v[0][l] + u[1][l] * v[1][l] + u[2][l] * v[2][l];
        }
    memcpy(polar->R, R, sizeof R);
    memcpy(polar->U, U, sizeof U);
    memcpy(polar->V, V, sizeof V);
    memcpy(polar->s, s, sizeof s);
}

void tw_polar_decompose(const double F[9], tw_polar *polar)
{
    tw_lanes matrix[9];
    tw_polar_lanes lanes;
    for (int k = 0; k < 9; k++)
        for (int l = 0; l < TW_LANES; l++) matrix[k][l] = F[k];
    tw_polar_decompose_lanes(matrix, &lanes);
    tw_polar_take(&lanes, 0, polar);
}

void tw_polar_take(const tw_polar_lanes *lanes, int lane, tw_polar *polar)
{
    for (int k = 0; k < 9; k++) {
        polar->R[k] = lanes->R[k][lane];
        polar->U[k] = lanes->U[k][lane];
        polar->V[k] = lanes->V[k][lane];
    }
    for (int k = 0; k < 3; k++) polar->s[k] = lanes->s[k][lane];
}

double tw_polar_distinctness(double s0, double s1, double s2)
{
    return s0 > 0.0 ? (s1 + s2) / s0 : 0.0;
}
