/* phipm: adaptive substeps, adaptive dimension, full Arnoldi (Lanczos when the operator is symmetric or skew).
 * J. Niesen and W. M. Wright, "Algorithm 919", ACM Trans. Math. Softw. 38 (2012). */
#include "phi/krylov/phi_krylov.h"

static const tw_krylov_method method = {
    .window = 0,
    .min_dimension = 1,
    .start_dimension = 10,
    .max_dimension = 100,
    .aim = 0.8,
    .aim_at_limit = 0.8,
    .accept = 1.2,
    .most_growth = 2,
};

TW_KRYLOV_ENGINE(tw_phi_phipm, TW_PHI_PHIPM, method);
