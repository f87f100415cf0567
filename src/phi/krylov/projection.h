/* The small exponential behind a Krylov step: phi-functions of H_m applied to e_1, and the error they leave.
 *
 * y(s) = s^k phi_k(s H) e_1 gives the approximation beta V_m y(tau). Its residual at s is beta h_{m+1,m} (e_m^T y(s))
 * v_{m+1}, and the integral of e_m^T y is e_m^T s^{k+1} phi_{k+1}(s H) e_1, the `correction` of Niesen and Wright. Its
 * modulus is the usual error estimate, but it can vanish by cancellation although the residual is large, and it knows
 * nothing of what happens to the residual until tau. So [0, tau] is cut into SAMPLES parts, and the estimate is
 *     variation = sum over the parts of |change of the integral| * max(1, |exp((tau - s) H) e_m|),
 * which equals |correction| once the method converges and the problem is not one that grows. */
#ifndef TW_PHI_PROJECTION_H
#define TW_PHI_PROJECTION_H

#include <stddef.h>
#include <twang/status.h>

enum { TW_PROJECTION_SAMPLES = 16, TW_PROJECTION_REACH = 128 };

typedef struct tw_projection {
    int capacity;   /* largest m + k + 1 */
    double *matrix; /* capacity^2 each */
    double *exponential;
    double *scratch; /* of tw_expm */
    double *vectors; /* 8 capacity */

    double *y;         /* y(tau), m entries; points into vectors */
    double *spare;     /* the part of vectors that is free */
    double correction; /* e_m^T tau^{k+1} phi_{k+1}(tau H) e_1 */
    double variation;
    double growth; /* largest |y(s)|_2 sampled */
    double
        perturbation; /* largest |exp((tau - s) H) d| |y(s)|, |d| = 1: what a disturbance on the way becomes,
                             in units of |tau H| roundings */
    double norm; /* |tau H|_1 */
    double step; /* tau / SAMPLES */
    double forward[TW_PROJECTION_REACH +
                   1]; /* [i]: largest |exp(s H) e_m|_2 for s <= i step, at least 1 */
    int foreseen;      /* last entry of forward that is there */
    int m, order;      /* of the last evaluation */
} tw_projection;

/* Allocates for m + k + 1 <= capacity; free accepts what a failed create left. */
tw_status tw_projection_create(tw_projection *projection, int capacity);
void tw_projection_free(tw_projection *projection);

/* H is m x m with leading dimension `stride`; k >= 0. TW_NOT_FINITE if the exponential overflows. */
tw_status tw_projection_evaluate(tw_projection *projection, int m, const double *H, int stride,
                                 int k, double tau);

/* What becomes of a disturbance of size 1 at the end of the substep after a further time s >= 0: the growth that H
 * shows, computed over some substeps and extrapolated as a power of s beyond. */
double tw_projection_amplification(tw_projection *projection, double s);

#endif
