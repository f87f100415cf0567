/* What a batch of equal parts is made of (batch_cholesky.c), its pattern (batch_pattern.c) and the
 * numerical work on four parts at once (batch_kernels.c). */
#ifndef TW_LINALG_BATCH_INTERNAL_H
#define TW_LINALG_BATCH_INTERNAL_H

#include <stdbool.h>
#include <stdint.h>
#include <twang/sparse.h>

#include "base/simd.h"
#include "linalg/components.h"

enum {
    TW_BATCH_LANES = TW_WIDE_LANES,
    TW_BATCH_BLOCK = 9,         /* numbers of a 3x3 block */
    TW_BATCH_MOST_ROWS = 256,   /* block rows of a part: the right-hand sides of four parts fit
                                      * on the stack of a thread, 24 KB */
    TW_BATCH_GROUPS_PER_JOB = 4 /* groups of four parts that a thread takes at a time */
};

/* The pattern that the parts of a batch share, in block rows of a part. L is stored by columns, the
 * diagonal block first. */
typedef struct tw_batch_pattern {
    int rows;
    int entries;
    int *start; /* rows + 1: where each column of L begins */
    int *row;   /* of each entry */

    /* The entries of L that block k right of (or on) the diagonal of row r of the matrix goes to:
     * target[target_start[r] + k]. The row has `skip[r]` blocks before its diagonal. */
    int *target_start; /* rows + 1 */
    int *target;
    int *skip;

    /* For every column the entries that its pairs of blocks below the diagonal are subtracted
     * from, in the order in which the factorisation goes through them. */
    int64_t update_count;
    int *update;
} tw_batch_pattern;

/* The pattern of one component, with the blocks that the factorisation fills in. TW_OK,
 * TW_OUT_OF_MEMORY, or TW_UNSUPPORTED if a row has no diagonal block or too many are filled in. Free
 * with tw_batch_pattern_free, also after failure. */
tw_status tw_batch_pattern_create(const tw_sparse *matrix, const tw_components *components,
                                  int64_t component, tw_batch_pattern *out);
void tw_batch_pattern_free(tw_batch_pattern *pattern);

/* Whether a component has this pattern. */
bool tw_batch_pattern_fits(const tw_batch_pattern *pattern, const tw_sparse *matrix,
                           const tw_components *components, int64_t component);

/* a M + b K of the parts in four lanes. */
typedef struct tw_batch_source {
    const tw_sparse *matrix;
    double mass_factor;
    const double *lumped_mass; /* NULL: ones */
    double stiffness_factor;
} tw_batch_source;

/* L = the lower triangle of the source, for the parts whose block rows are rows[0] to rows[3]. Entry
 * i of block b of lane k is at L[(9 b + i) 4 + k]. */
void tw_batch_gather(const tw_batch_pattern *pattern, const tw_batch_source *source,
                     const int32_t *const rows[TW_BATCH_LANES], double *L);
/* Factorises in place. The diagonal of L holds reciprocals. */
tw_status tw_batch_factor(const tw_batch_pattern *pattern, double *L);
/* y = (L L^T)^-1 y; entry i of lane k is at y[4 i + k]. */
void tw_batch_solve(const tw_batch_pattern *pattern, const double *L, double *y);

#endif
