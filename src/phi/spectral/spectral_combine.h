/* Outputs from a basis in one pass over it. */
#ifndef TW_PHI_SPECTRAL_COMBINE_H
#define TW_PHI_SPECTRAL_COMBINE_H

#include <stdbool.h>
#include <stdint.h>

/* outputs[i] = sum_k coefficients[i * row + k] vectors[k], k < count, for all i, or added to what they hold: every
 * vector is read once. */
void tw_spectral_combine(int64_t n, int count, double *const *vectors, int output_count,
                         int64_t row, const double *coefficients, bool add, double *const *outputs);

#endif
