#include "integrators/integrator_internal.h"

const tw_scheme_table tw_scheme_etdrk4 = {0};
