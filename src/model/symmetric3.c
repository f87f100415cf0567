/* Eigenvalues of symmetric 3x3 matrices by the method of Jacobi. */
#include "model/symmetric3.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

enum { ROUNDS = 12 /* convergence is quadratic: about six rounds reach full precision */ };

/* One rotation G of Jacobi's method, which makes A_pq zero: A <- G^T A G, V <- V G. */
static void rotate(double A[9], double V[9], int p, int q)
{
    double apq = A[3 * p + q];
    if (apq == 0.0) return;

    /* t = tan of the smaller angle with cot(2 angle) = theta. */
    double theta = (A[4 * q] - A[4 * p]) / (2.0 * apq);
    double t = (theta >= 0.0 ? 1.0 : -1.0) / (fabs(theta) + sqrt(theta * theta + 1.0));
    double c = 1.0 / sqrt(t * t + 1.0);
    double s = t * c;

    /* Columns p and q of A and V. */
    for (int k = 0; k < 3; k++) {
        double akp = A[3 * k + p];
        double akq = A[3 * k + q];
        double vkp = V[3 * k + p];
        double vkq = V[3 * k + q];
        A[3 * k + p] = c * akp - s * akq;
        A[3 * k + q] = s * akp + c * akq;
        V[3 * k + p] = c * vkp - s * vkq;
        V[3 * k + q] = s * vkp + c * vkq;
    }

    /* Rows p and q of A. */
    for (int k = 0; k < 3; k++) {
        double apk = A[3 * p + k];
        double aqk = A[3 * q + k];
        A[3 * p + k] = c * apk - s * aqk;
        A[3 * q + k] = s * apk + c * aqk;
    }
}

/* D = V^T A V becomes diagonal. */
static void diagonalise(const double A[9], double D[9], double V[9])
{
    memcpy(D, A, 9 * sizeof *D);
    for (int i = 0; i < 9; i++) V[i] = i % 4 == 0 ? 1.0 : 0.0;
    for (int round = 0; round < ROUNDS; round++) {
        rotate(D, V, 0, 1);
        rotate(D, V, 0, 2);
        rotate(D, V, 1, 2);
    }
}

double tw_symmetric3_smallest(const double A[9])
{
    double D[9];
    double V[9];
    diagonalise(A, D, V);
    return fmin(D[0], fmin(D[4], D[8]));
}

/* The inverse by cofactors. Returns false, and leaves it alone, unless A is positive definite and well
 * conditioned: with m the mean eigenvalue, det A > 1e-3 m^3 means that no eigenvalue is below 1e-4 of
 * the largest one. */
static bool invert_well_conditioned(const double A[9], double inverse[9])
{
    static const double well_conditioned = 1e-3;
    double mean = (A[0] + A[4] + A[8]) / 3;
    double cofactor[9];
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < 3; c++) {
            int i = (r + 1) % 3;
            int j = (r + 2) % 3;
            int k = (c + 1) % 3;
            int l = (c + 2) % 3;
            cofactor[3 * r + c] = A[3 * i + k] * A[3 * j + l] - A[3 * i + l] * A[3 * j + k];
        }

    /* Sylvester: A_00, the minor of the first two rows, and det A are positive. */
    double det = A[0] * cofactor[0] + A[1] * cofactor[1] + A[2] * cofactor[2];
    bool definite = A[0] > 0.0 && cofactor[8] > 0.0;
    if (!definite || !(det > well_conditioned * mean * mean * mean)) return false;
    for (int k = 0; k < 9; k++) inverse[k] = cofactor[k] / det;
    return true;
}

void tw_symmetric3_pseudo_inverse(const double A[9], double smallest, double inverse[9])
{
    if (invert_well_conditioned(A, inverse)) return;
    double D[9];
    double V[9];
    diagonalise(A, D, V);

    /* The sum of v v^T / d over the eigenvalues d that count. */
    double largest = fmax(D[0], fmax(D[4], D[8]));
    memset(inverse, 0, 9 * sizeof *inverse);
    for (int e = 0; e < 3; e++) {
        if (!(D[4 * e] > smallest * largest)) continue;
        for (int r = 0; r < 3; r++)
            for (int c = 0; c < 3; c++)
                inverse[3 * r + c] += V[3 * r + e] * V[3 * c + e] / D[4 * e];
    }
}
