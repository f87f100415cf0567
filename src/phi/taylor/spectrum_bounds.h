/* Where the spectrum of an operator lies, from a few Arnoldi steps with one pseudo-random start vector.
 *
 * There is no product with the transpose, so the block 1-norm estimator of Higham & Tisseur is out of reach. Instead,
 * A V = V H + ..., and everything is asked of the small H: its eigenvalues (Ritz values) bound the spectrum from
 * inside, and |(H - mu)^p|^(1/p) stands for the alpha_p of Al-Mohy & Higham. Estimates from below: whoever uses them
 * must watch the terms of the series and enlarge what proves too small. */
#ifndef TW_PHI_SPECTRUM_BOUNDS_H
#define TW_PHI_SPECTRUM_BOUNDS_H

#include "phi/phi_internal.h"

enum { TW_SPECTRUM_STEPS = 20 };

typedef struct tw_spectrum_bounds {
    tw_symmetry symmetry;
    int dimension; /* of H */
    double
        H[TW_SPECTRUM_STEPS * TW_SPECTRUM_STEPS]; /* column-major, leading dimension `dimension` */
    int ritz_count;
    double ritz_real[TW_SPECTRUM_STEPS], ritz_imaginary[TW_SPECTRUM_STEPS];
    double margin;             /* by which the spectrum may reach beyond the Ritz values */
    double real_min, real_max; /* of the Ritz values, widened by what is not yet resolved */
    double imag_max;           /* largest |imaginary part|, widened likewise */
    double norm;               /* largest |A v| / |v| seen: a lower bound of |A|_2 */
    double block_norm[2];      /* the same of the rows of each block (tw_phi_block_norms) */
    bool coarse; /* stopped early: `longest_time` |A| is so small that nothing hangs on it */
} tw_spectrum_bounds;

/* `basis` has room for TW_SPECTRUM_STEPS + 1 vectors. Stops early when longest_time |A| is small or the Krylov space
 * is exhausted. Products are spent from the budget. TW_NOT_FINITE if the operator returned a NaN or infinity. */
tw_status tw_spectrum_bounds_find(tw_phi_workspace *workspace, const tw_operator *op,
                                  double longest_time, double *basis, tw_phi_statistics *statistics,
                                  tw_spectrum_bounds *bounds);

/* How fast powers of A - mu grow: about min over p of |(A - mu)^p|^(1/p) (Al-Mohy & Higham, eq. 3.12), with the
 * eigenvalue 0 of the augmented matrix beside A if `with_zero`. */
double tw_spectrum_bounds_radius(const tw_spectrum_bounds *bounds, double mu, bool with_zero);

/* Unit-norm entries in [-1, 1) that differ from one index to the next, the same on every machine. */
tw_status tw_phi_random_direction(const tw_space *space, double *x);

#endif
