/* phipm/IOM2: phipm with incomplete orthogonalisation, "iom = 2" meaning the last three vectors.
 * S. Gaudreault and J. A. Pudykiewicz, J. Comput. Phys. 322 (2016). */
#include "phi/krylov/phi_krylov.h"

static const tw_krylov_method method = {
    .window = 3,
    .min_dimension = 1,
    .start_dimension = 10,
    .max_dimension = 100,
    .aim = 0.8,
    .aim_at_limit = 0.8,
    .accept = 1.2,
    .most_growth = 2,
};

TW_KRYLOV_ENGINE(tw_phi_phipm_iom2, TW_PHI_PHIPM_IOM2, method);
