#include "linalg/sparse_kernels.h"

const tw_sparse_kernels tw_sparse_kernels_wide = {full1, full3, upper1, upper3};
