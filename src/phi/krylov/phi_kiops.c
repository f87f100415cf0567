/* KIOPS: the exponential of an augmented operator, incomplete orthogonalisation, m grows before tau shrinks.
 * S. Gaudreault, G. Rainwater and M. Tokman, J. Comput. Phys. 372 (2018). Time is scaled so that the last node is 1:
 * of the paper's two sets of constants the one for tau_end <= 1 holds. */
#include "phi/krylov/phi_krylov.h"

static const tw_krylov_method method = {
    .augmented = true,
    .simultaneous = true,
    .dimension_first = true,
    .window = 2,
    .min_dimension = 10,
    .start_dimension = 10,
    .max_dimension = 128,
    .aim = 0.9,
    .aim_at_limit = 0.6,
    .accept = 1.4,
    .most_growth = 5,
};

TW_KRYLOV_ENGINE(tw_phi_kiops, TW_PHI_KIOPS, method);
