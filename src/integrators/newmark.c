#include "integrators/integrator_internal.h"

const tw_scheme_table tw_scheme_newmark = {0};

const tw_scheme_table tw_scheme_generalized_alpha = {0};
