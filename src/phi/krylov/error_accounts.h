/* What becomes of the errors of substeps until the outputs are reached. Nobody knows exp((theta - t) A), by which an
 * error made at t grows; three views of it are kept.
 *   - Step by step: every substep multiplies what came before it by the most that its small matrix allows. Safe, but a
 *     product of many norms is far above the norm of the product.
 *   - Foreseen: the small matrix of the substep itself is followed to every node. A projected matrix may be less stable
 *     than the operator.
 *   - History: an error grows as the solution has grown since, and as the solution itself grew in as much time from the
 *     start: that one knows directions which the small matrices have lost sight of (Jordan blocks).
 * The first two err upwards, the third downwards: the estimate is max(third, min(first, second)). */
#ifndef TW_PHI_ERROR_ACCOUNTS_H
#define TW_PHI_ERROR_ACCOUNTS_H

#include "phi/phi_internal.h"

/* Errors per block, by truncation and by rounding. */
typedef struct tw_block_errors {
    double truncation[2], rounding[2];
} tw_block_errors;

enum { TW_ACCOUNT_RECORDS = 256 };

typedef struct tw_error_accounts {
    double initial_size; /* |u(0)|, or the size that the b_k alone give u, if that is larger */
    tw_block_errors step_by_step;
    tw_block_errors foreseen[TW_PHI_MAX_NODES];
    int count;
    struct {
        double time, size; /* at the end of a substep; size is the largest so far */
        tw_block_errors errors;
    } records[TW_ACCOUNT_RECORDS];
} tw_error_accounts;

void tw_accounts_begin(tw_error_accounts *accounts, double initial_size);

/* Books a substep that ended at `time` with |u| = size. `growth` is what it does to earlier errors at most,
 * amplified[i] what becomes of its own until node i, first <= i < end. */
void tw_accounts_add(tw_error_accounts *accounts, double time, double size,
                     const tw_block_errors *errors, double growth, const double *amplified,
                     int first, int end);

/* The errors at node i, reached at `time` with |u| = size, `last` being those of a substep that is not booked. */
tw_block_errors tw_accounts_settle(const tw_error_accounts *accounts, int i, double time,
                                   double size, const tw_block_errors *last, double growth);

#endif
