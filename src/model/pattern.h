/* Collects pairs of free particles that act on each other, and makes the pattern of the
 * stiffness matrix of them. */
#ifndef TW_MODEL_PATTERN_H
#define TW_MODEL_PATTERN_H

#include <stdbool.h>
#include <stdint.h>
#include <twang/sparse.h>

typedef struct tw_pattern {
    int64_t rows;  /* free particles */
    int64_t count; /* of pairs */
    int64_t capacity;
    int32_t *pairs; /* row and column of an upper block, two per pair */
    bool out_of_memory;
} tw_pattern;

/* Adds the pair of the free indices i and j, in any order. Pairs may repeat, and the diagonal need
 * not be added. A failure is kept until tw_pattern_finish. */
void tw_pattern_add(tw_pattern *pattern, int32_t i, int32_t j);

/* The block of the rows i and j, in any order, in a matrix that stores the upper triangle. */
static inline int64_t tw_pattern_find(const tw_sparse *matrix, int64_t i, int64_t j)
{
    if (i < j) return tw_sparse_find(matrix, i, j);
    return tw_sparse_find(matrix, j, i);
}

/* Whether a matrix has all pairs of the pattern. */
bool tw_pattern_is_in(const tw_pattern *pattern, const tw_sparse *matrix);

/* Frees the pairs of a pattern that is not finished. */
void tw_pattern_free(tw_pattern *pattern);

/* Makes the matrix of 3x3 blocks, upper triangle. It frees the pairs, also on failure. */
tw_status tw_pattern_finish(tw_pattern *pattern, tw_sparse **matrix, tw_error *error);

#endif
