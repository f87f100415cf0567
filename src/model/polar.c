/* One-sided Jacobi (Hestenes): rotations from the right make the columns of F V orthogonal. Unlike an eigenvalue
 * iteration with F^T F it does not square F, so that flat and needle-like elements keep all their digits. */
#include "model/polar.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum { MAX_SWEEPS = 12 /* four to six are usual */ };

static double column_dot(const double *B, int p, int q)
{
    return B[p] * B[q] + B[3 + p] * B[3 + q] + B[6 + p] * B[6 + q];
}

/* Columns (p, q) become (c p - s q, s p + c q). */
static void rotate_columns(double *B, int p, int q, double c, double s)
{
    for (int r = 0; r < 3; r++) {
        double a = B[3 * r + p], b = B[3 * r + q];
        B[3 * r + p] = c * a - s * b;
        B[3 * r + q] = s * a + c * b;
    }
}

/* Makes columns p and q orthogonal; returns 0 if they are so already. */
static int orthogonalise(double *B, double *V, int p, int q)
{
    double alpha = column_dot(B, p, p), beta = column_dot(B, q, q), gamma = column_dot(B, p, q);
    if (!(fabs(gamma) > 0.25 * DBL_EPSILON * sqrt(alpha) * sqrt(beta))) return 0;
    /* tan of the smaller angle with cot(2 angle) = zeta */
    double zeta = (beta - alpha) / (2.0 * gamma);
    double t = copysign(1.0, zeta) / (fabs(zeta) + sqrt(1.0 + zeta * zeta));
    double c = 1.0 / sqrt(1.0 + t * t), s = c * t;
    rotate_columns(B, p, q, c, s);
    rotate_columns(V, p, q, c, s);
    return 1;
}

/* Longest column first, by quarter turns, which keep det V = 1. */
static void sort_columns(double *B, double *V)
{
    static const int pairs[3][2] = {{0, 1}, {1, 2}, {0, 1}};
    for (int k = 0; k < 3; k++) {
        int p = pairs[k][0], q = pairs[k][1];
        if (column_dot(B, p, p) >= column_dot(B, q, q)) continue;
        rotate_columns(B, p, q, 0.0, 1.0);
        rotate_columns(V, p, q, 0.0, 1.0);
    }
}

static void cross(const double a[3], const double b[3], double out[3])
{
    for (int k = 0; k < 3; k++) out[k] = a[(k + 1) % 3] * b[(k + 2) % 3] - a[(k + 2) % 3] * b[(k + 1) % 3];
}

/* a / |a|, or a unit vector perpendicular to `other` (any, if that is NULL) where a = 0. */
static void direction(const double a[3], const double *other, double out[3])
{
    double length = sqrt(a[0] * a[0] + a[1] * a[1] + a[2] * a[2]);
    if (length > DBL_MIN) {
        for (int k = 0; k < 3; k++) out[k] = a[k] / length;
        return;
    }
    double axis[3] = {1.0, 0.0, 0.0}, turned[3];
    if (other && fabs(other[0]) > 0.7) {
        axis[0] = 0.0;
        axis[1] = 1.0;
    }
    if (other)
        cross(other, axis, turned);
    else
        memcpy(turned, axis, sizeof turned);
    length = sqrt(turned[0] * turned[0] + turned[1] * turned[1] + turned[2] * turned[2]);
    for (int k = 0; k < 3; k++) out[k] = turned[k] / length;
}

/* U from the two longest columns of B; the third follows from det U = 1, and takes the sign of F along. */
static void left_rotation(const double *B, tw_polar *polar)
{
    double u[3][3], b[3][3];
    for (int c = 0; c < 3; c++)
        for (int r = 0; r < 3; r++) b[c][r] = B[3 * r + c];
    direction(b[0], NULL, u[0]);
    double along = u[0][0] * b[1][0] + u[0][1] * b[1][1] + u[0][2] * b[1][2], rest[3];
    for (int k = 0; k < 3; k++) rest[k] = b[1][k] - along * u[0][k];
    direction(rest, u[0], u[1]);
    cross(u[0], u[1], u[2]);
    for (int c = 0; c < 3; c++) {
        polar->s[c] = u[c][0] * b[c][0] + u[c][1] * b[c][1] + u[c][2] * b[c][2];
        for (int r = 0; r < 3; r++) polar->U[3 * r + c] = u[c][r];
    }
}

void tw_polar_decompose(const double F[9], tw_polar *polar)
{
    double scale = 0.0, B[9];
    for (int k = 0; k < 9; k++) scale = fmax(scale, fabs(F[k]));
    if (scale == 0.0) scale = 1.0;
    for (int k = 0; k < 9; k++) B[k] = F[k] / scale; /* its squares neither overflow nor vanish */
    memcpy(polar->V, (double[9]){1, 0, 0, 0, 1, 0, 0, 0, 1}, sizeof polar->V);
    for (int sweep = 0, turned = 1; sweep < MAX_SWEEPS && turned; sweep++) {
        turned = orthogonalise(B, polar->V, 0, 1);
        turned |= orthogonalise(B, polar->V, 0, 2);
        turned |= orthogonalise(B, polar->V, 1, 2);
    }
    sort_columns(B, polar->V);
    left_rotation(B, polar);
    for (int k = 0; k < 3; k++) polar->s[k] *= scale;
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < 3; c++) {
            const double *u = polar->U + 3 * r, *v = polar->V + 3 * c;
            polar->R[3 * r + c] = u[0] * v[0] + u[1] * v[1] + u[2] * v[2];
        }
}

double tw_polar_distinctness(const tw_polar *polar)
{
    return polar->s[0] > 0.0 ? (polar->s[1] + polar->s[2]) / polar->s[0] : 0.0;
}
