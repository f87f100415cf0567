#include "phi/phi_internal.h"

const tw_phi_engine_table tw_phi_phipm_simul_iom2 = {0};
