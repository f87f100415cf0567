/* Collects which free particles act on which, and makes the pattern of the stiffness matrix of it. */
#ifndef TW_MODEL_PATTERN_H
#define TW_MODEL_PATTERN_H

#include <stdbool.h>
#include <stdint.h>
#include <twang/sparse.h>

typedef struct tw_pattern {
    int64_t rows; /* free particles */
    int64_t count, capacity;
    int32_t *pairs; /* row and column of an upper block, two per pair */
    bool out_of_memory;
} tw_pattern;

/* Free indices i and j, in any order; pairs may repeat; the diagonal is there by itself. Failure is kept until
 * tw_pattern_finish. */
void tw_pattern_add(tw_pattern *pattern, int32_t i, int32_t j);

/* The matrix of 3x3 blocks, upper triangle; frees the pairs in any case. */
tw_status tw_pattern_finish(tw_pattern *pattern, tw_sparse **matrix, tw_error *error);

#endif
