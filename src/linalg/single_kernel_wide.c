#include "linalg/single_kernels.h"

void tw_single_kernel_wide(const tw_single *single, int part, int count, int64_t stride,
                           const float *x)
{
    multiply(single, part, count, stride, x);
}
