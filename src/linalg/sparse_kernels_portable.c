#define TW_SIMD_PORTABLE
#include "linalg/sparse_kernels.h"

const tw_sparse_kernels tw_sparse_kernels_portable = {full1, full3, upper1, upper3};
