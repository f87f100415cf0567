/* Polar decomposition by the one-sided Jacobi method of Hestenes: rotations from the right
 * make the columns of F V orthogonal. Unlike an eigenvalue iteration with F^T F it does not
 * square F, so that flat and needle-like elements keep all their digits. No lane branches, so
 * that the loops over lanes vectorise: a divisor that could vanish gets a number added that
 * is too small to be seen. */
#include "model/polar.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum { MAX_ROUNDS = 12 /* four to six are usual */ };

/* A number far below the rounding of matrices scaled to 1, whose square is still above the smallest
 * normal number. */
static const double tiny = 1e-150;

/* The product of columns p and q in lane l. */
static double dot(tw_lanes *B, int p, int q, int l)
{
    return B[p][l] * B[q][l] + B[3 + p][l] * B[3 + q][l] + B[6 + p][l] * B[6 + q][l];
}

/* Turns the columns (p, q) into (c p - s q, s p + c q). */
static void rotate_columns(tw_lanes *B, int p, int q, const tw_lanes c, const tw_lanes s)
{
    for (int r = 0; r < 9; r += 3)
        for (int l = 0; l < TW_LANES; l++) {
            double a = B[r + p][l];
            double b = B[r + q][l];
            B[r + p][l] = c[l] * a - s[l] * b;
            B[r + q][l] = s[l] * a + c[l] * b;
        }
}

/* Makes columns p and q orthogonal. Returns whether they were not so already in some lane. */
static int orthogonalise(tw_lanes *B, tw_lanes *V, int p, int q)
{
    const double small = 0.25 * DBL_EPSILON;
    tw_lanes c, s, excess;

    for (int l = 0; l < TW_LANES; l++) {
        double alpha = dot(B, p, p, l);
        double beta = dot(B, q, q, l);
        double gamma = dot(B, p, q, l);
        double gap = beta - alpha;

        /* t = tan of the smaller angle with cot(2 angle) = gap / (2 gamma). */
        double t = copysign(2.0, gap) * gamma /
                   (fabs(gap) + sqrt(gap * gap + 4.0 * gamma * gamma) + DBL_MIN);
        c[l] = 1.0 / sqrt(1.0 + t * t);
        s[l] = c[l] * t;

        /* Columns count as orthogonal if |gamma| <= small sqrt(alpha beta). */
        excess[l] = gamma * gamma - small * small * alpha * beta;
    }

    /* All lanes turn if one of them must. */
    int turned = 0;
    for (int l = 0; l < TW_LANES; l++) turned |= excess[l] > 0.0;
    if (!turned) return 0;
    rotate_columns(B, p, q, c, s);
    rotate_columns(V, p, q, c, s);
    return 1;
}

/* Sorts the columns, the longest first. */
static void sort_columns(tw_lanes *B, tw_lanes *V)
{
    static const int pairs[3][2] = {{0, 1}, {1, 2}, {0, 1}};
    for (int k = 0; k < 3; k++) {
        int p = pairs[k][0];
        int q = pairs[k][1];
        tw_lanes c, s;
        for (int l = 0; l < TW_LANES; l++) {
            s[l] = dot(B, p, p, l) < dot(B, q, q, l) ? 1.0 : 0.0;
            c[l] = 1.0 - s[l];
        }

        /* A quarter turn keeps det V = 1. */
        rotate_columns(B, p, q, c, s);
        rotate_columns(V, p, q, c, s);
    }
}

/* Makes U from the two longest columns of B. The third column follows from det U = 1, and s_2 gets
 * the sign of det F. Where the first column of B vanishes, u_0 is the x-axis. Where the second one
 * vanishes, u_1 is perpendicular to u_0 (Duff et al. 2017). Then s_c = u_c . b_c. */
static void left_rotation(tw_lanes *B, tw_lanes *U, tw_lanes *s)
{
    for (int l = 0; l < TW_LANES; l++) {
        /* u_0 = (x, y, z). */
        double x = B[0][l] + tiny;
        double y = B[3][l];
        double z = B[6][l];
        double length = sqrt(x * x + y * y + z * z);
        x /= length;
        y /= length;
        z /= length;

        /* u_1: the second column without its part along u_0, plus a tiny
         * vector perpendicular to u_0. */
        double along = x * B[1][l] + y * B[4][l] + z * B[7][l];
        double sign = copysign(1.0, z);
        double a = -1.0 / (sign + z);
        double p = B[1][l] - along * x + tiny * (1.0 + sign * x * x * a);
        double q = B[4][l] - along * y + tiny * sign * x * y * a;
        double r = B[7][l] - along * z - tiny * sign * x;
        length = sqrt(p * p + q * q + r * r);
        p /= length;
        q /= length;
        r /= length;

        /* The columns of U, the third being u_0 x u_1. */
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
    /* B = F / scale with entries of at most 1: its squares neither overflow nor vanish. V = I. */
    tw_lanes scale;
    tw_lanes B[9];
    tw_lanes V[9];
    for (int l = 0; l < TW_LANES; l++) {
        double largest = 0.0;
        for (int k = 0; k < 9; k++) largest = fabs(F[k][l]) > largest ? fabs(F[k][l]) : largest;
        scale[l] = largest + DBL_MIN;
    }
    for (int k = 0; k < 9; k++)
        for (int l = 0; l < TW_LANES; l++) {
            B[k][l] = F[k][l] / scale[l];
            V[k][l] = k % 4 == 0 ? 1.0 : 0.0;
        }

    /* Rotate pairs of columns until all are orthogonal: then B = (F / scale) V. */
    for (int round = 0, turned = 1; round < MAX_ROUNDS && turned; round++) {
        turned = orthogonalise(B, V, 0, 1);
        turned |= orthogonalise(B, V, 0, 2);
        turned |= orthogonalise(B, V, 1, 2);
    }
    sort_columns(B, V);

    /* B = U diag(s), and the scale belongs to s. */
    tw_lanes U[9];
    tw_lanes s[3];
    left_rotation(B, U, s);
    for (int k = 0; k < 3; k++)
        for (int l = 0; l < TW_LANES; l++) s[k][l] *= scale[l];

    /* R = U V^T. */
    tw_lanes R[9];
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < 3; c++) {
            tw_lanes *u = U + 3 * r;
            tw_lanes *v = V + 3 * c;
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
    if (!(s0 > 0.0)) return 0.0;
    return (s1 + s2) / s0;
}
