/* phipm_simul_iom2: phipm/IOM2 for all nodes in one sweep, without products with zero vectors.
 * V. T. Luan and D. L. Michels 2022, section 4.2; V. T. Luan, J. A. Pudykiewicz and D. R. Reynolds 2019. */
#include "phi/krylov/phi_krylov.h"

static const tw_krylov_method method = {
    .simultaneous = true,
    .skips_zero = true,
    .window = 3,
    .min_dimension = 1,
    .start_dimension = 10,
    .max_dimension = 100,
    .aim = 0.8,
    .aim_at_limit = 0.8,
    .accept = 1.4,
    .most_growth = 2,
};

TW_KRYLOV_ENGINE(tw_phi_phipm_simul_iom2, TW_PHI_PHIPM_SIMUL_IOM2, method);
