/* The two halves of the dense engine: functions of a symmetric matrix by its eigendecomposition, and of any other by
 * the exponential of an augmented matrix. Both measure what rounding did to the result. */
#ifndef TW_PHI_DENSE_H
#define TW_PHI_DENSE_H

#include <stddef.h>

#include "phi/phi_internal.h"

enum {
    TW_DENSE_MAX_INPUTS = 2 * (TW_PHI_MAX_ORDER + 1), /* vectors a modal job combines */
    TW_DENSE_MAX_PARTS = 2                            /* x-part and v-part */
};

/* Eigenvectors X of A = M^-1 K in the mass inner product: A X = X diag(lambda), X^T M X = I. */
typedef struct tw_dense_basis {
    int n;
    double *X;          /* n x n */
    double *lambda;     /* n, ascending */
    double uncertainty; /* size of the errors rounding made in lambda, of the order of eps |A| */
    double *starts;     /* X^T M b_j of the starts kept for reuse, TW_MAX_BLOCK columns */
    int start_count;    /* 0 if none are kept */
} tw_dense_basis;

/* out_r = sum_q f_rq(A) in_q in the coordinates of a basis. */
typedef struct tw_dense_modal_job {
    int inputs, outputs;
    const double *in[TW_DENSE_MAX_INPUTS]; /* n entries each; NULL means zero */
    double *out[TW_DENSE_MAX_PARTS];
    double error[TW_DENSE_MAX_PARTS]; /* comes out: estimate of |error of out_r| */
    /* table[r * inputs + q] = f_rq(lambda) */
    void (*functions)(const void *context, double lambda, double *table);
    const void *context;
} tw_dense_modal_job;

/* Doubles of scratch for tw_dense_modal at order n. */
size_t tw_dense_modal_scratch(int n);
void tw_dense_modal(const tw_dense_basis *basis, tw_dense_modal_job *job, double *scratch);

/* out = sum_k phi_k(tau Z) v_k for a general d x d matrix Z in one or two blocks of entries. */
typedef struct tw_dense_general_job {
    int d, order;
    int split; /* entries of the first block; the second has d - split, maybe none */
    const double *Z;
    const double *vectors; /* order + 1 columns of d entries, none larger than about 1 */
    double tau;
    double *out;
    double error[TW_DENSE_MAX_PARTS]; /* comes out: estimate of each block's error */
} tw_dense_general_job;

size_t tw_dense_general_scratch(int d);
tw_status tw_dense_general(tw_dense_general_job *job, double *scratch);

#endif
