/* The dense engine. It has two halves: functions of a symmetric matrix by its eigendecomposition
 * (phi_dense_symmetric.c, phi_dense_modal.c), and of any other matrix by the exponential of an
 * augmented one (phi_dense_general.c). Both measure what rounding did to the result.
 *
 *   phi_dense.c            the engine: memory, and which half serves a call
 *   phi_dense_operator.c   writes operators out as matrices; mass coordinates; norms
 *   phi_dense_symmetric.c  symmetric problems
 *   phi_dense_modal.c      functions in the coordinates of eigenvectors, and their error
 *   phi_dense_general.c    all other problems */
#ifndef TW_PHI_DENSE_H
#define TW_PHI_DENSE_H

#include <stddef.h>

#include "phi/phi_internal.h"

enum {
    TW_DENSE_MAX_INPUTS = 2 * (TW_PHI_MAX_ORDER + 1), /* vectors that a modal job combines */
    TW_DENSE_MAX_PARTS = 2,                           /* x-part and v-part */
    TW_DENSE_BASES = TW_PHI_MAX_SLOTS + 1 /* the last one in use serves calls without a slot */
};

/* Eigenvectors X of A = M^-1 K in the mass inner product: A X = X diag(lambda), X^T M X = I. */
typedef struct tw_dense_basis {
    int n;
    double *X;          /* n x n */
    double *lambda;     /* n, ascending */
    double uncertainty; /* size of the rounding errors in lambda, of the order of eps |A| */
    double *starts;     /* X^T M b_j of the starts kept for reuse, TW_MAX_BLOCK columns */
    int start_count;    /* 0 if none are kept */
} tw_dense_basis;

/* What a workspace keeps for the engine. */
typedef struct tw_dense_memory {
    int n;             /* order of the operator (of K) */
    int general_order; /* order of the general half's matrix; 0 if it is too large for it */
    int basis_count;   /* slots, and one more */
    double *factor;    /* L, n x n lower triangle; for a lumped mass its diagonal, n entries */
    double *eigen;     /* scratch of the eigendecomposition; also holds the damping matrix */
    double *vectors;   /* the request's vectors in the coordinates used, TW_PHI_MAX_ORDER + 1 */
    double *columns;   /* TW_MAX_BLOCK columns of n entries */
    double *modal;     /* scratch of tw_dense_modal */
    double *general;   /* Z, then tw_dense_general_scratch */
    tw_dense_basis bases[TW_DENSE_BASES];
} tw_dense_memory;

/* Order of the largest matrix that this workspace may hold. */
int tw_dense_largest(const tw_phi_workspace *workspace);

/* ---- phi_dense_modal.c ---- */

/* out_r = sum_q f_rq(A) in_q in the coordinates of a basis. */
typedef struct tw_dense_modal_job {
    int inputs;
    int outputs;
    const double *in[TW_DENSE_MAX_INPUTS]; /* n entries each; NULL means zero */
    double *out[TW_DENSE_MAX_PARTS];
    double error[TW_DENSE_MAX_PARTS]; /* result: estimate of |error of out_r| */
    /* table[r * inputs + q] = f_rq(lambda) */
    void (*functions)(const void *context, double lambda, double *table);
    const void *context;
} tw_dense_modal_job;

/* Doubles of scratch for tw_dense_modal at order n. */
size_t tw_dense_modal_scratch(int n);
void tw_dense_modal(const tw_dense_basis *basis, tw_dense_modal_job *job, double *scratch);

/* ---- phi_dense_operator.c ---- */

/* matrix = an operator of the workspace's order, column by column. */
tw_status tw_dense_write_out(const tw_dense_memory *memory, tw_apply_function *apply, void *context,
                             double *matrix);

/* The same for K or A: it is counted against the budget, and in the statistics. */
tw_status tw_dense_materialise(const tw_phi_workspace *workspace, const tw_operator *op,
                               double *matrix, tw_phi_statistics *statistics, tw_error *error);

/* memory->factor = L, M = L L^T; for lumped or unit mass its diagonal. */
tw_status tw_dense_factor_mass(const tw_dense_memory *memory, const tw_second_order *op,
                               tw_error *error);

/* A = L^-1 A L^-T. */
void tw_dense_scale_by_mass(const tw_dense_memory *memory, const tw_second_order *op, double *A);

/* y = L^T x: the mass norm of x is the Euclidean norm of y. */
void tw_dense_to_mass(const tw_dense_memory *memory, const tw_second_order *op, const double *x,
                      double *y);

/* x = L^-T y in place. */
void tw_dense_from_mass(const tw_dense_memory *memory, const tw_second_order *op, double *y);

/* |x|, safe from overflow. */
double tw_dense_norm(int n, const double *x);

/* A power of two near the largest entry, by which vectors are divided on the way; 1 for zero. */
double tw_dense_unit(int64_t count, const double *x);

/* One unit for all vectors of the request. */
double tw_dense_request_unit(const tw_phi_request *request, int64_t size);

/* Notes the relative error of one part of one output. */
void tw_dense_note_error(tw_phi_statistics *statistics, double error, double size);

/* TW_OK, or TW_ILL_CONDITIONED if the largest error noted exceeds the tolerance. */
tw_status tw_dense_judge(const tw_phi_workspace *workspace, const tw_phi_statistics *statistics,
                         tw_error *error);

/* ---- phi_dense_symmetric.c ---- */

tw_status tw_dense_symmetric_first_order(tw_phi_workspace *workspace, const tw_operator *op,
                                         const tw_phi_request *request,
                                         tw_phi_statistics *statistics, tw_error *error);
tw_status tw_dense_symmetric_second_order(tw_phi_workspace *workspace, const tw_second_order *op,
                                          const tw_phi_request *request,
                                          tw_phi_statistics *statistics, tw_error *error);
tw_status tw_dense_spectral(tw_phi_workspace *workspace, const tw_second_order *op,
                            const tw_spectral_request *request, tw_phi_statistics *statistics,
                            tw_error *error);
tw_status tw_dense_reuse(tw_phi_workspace *workspace, const tw_spectral_request *request,
                         tw_phi_statistics *statistics, tw_error *error);

/* ---- phi_dense_general.c ---- */

/* Doubles of scratch at order d, beyond the matrix itself. */
size_t tw_dense_general_scratch(int d);
tw_status tw_dense_general_first_order(tw_phi_workspace *workspace, const tw_operator *op,
                                       const tw_phi_request *request, tw_phi_statistics *statistics,
                                       tw_error *error);
tw_status tw_dense_general_second_order(tw_phi_workspace *workspace, const tw_second_order *op,
                                        const tw_phi_request *request,
                                        tw_phi_statistics *statistics, tw_error *error);

#endif
