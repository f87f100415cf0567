/* Cholesky factorisation of a matrix that falls into many small equal parts, such as fibres that do
 * not touch. Four parts at a time are factorised and solved, one in each lane of a vector register,
 * and threads share the groups of four. Results do not depend on the number of threads. */
#ifndef TW_LINALG_BATCH_CHOLESKY_H
#define TW_LINALG_BATCH_CHOLESKY_H

#include <stdbool.h>
#include <twang/cholesky.h>

typedef struct tw_batch_cholesky tw_batch_cholesky;

/* *out stays NULL where the matrix is not of this form, or would be cheaper otherwise. The matrix is
 * kept by reference. */
tw_status tw_batch_cholesky_create(const tw_sparse *matrix, tw_batch_cholesky **out);
void tw_batch_cholesky_free(tw_batch_cholesky *batches);

/* As tw_cholesky_factor and tw_cholesky_solve. */
tw_status tw_batch_cholesky_factor(tw_batch_cholesky *batches, double mass_factor,
                                   const double *lumped_mass, double stiffness_factor);
tw_status tw_batch_cholesky_solve(tw_batch_cholesky *batches, int count, const double *in,
                                  double *out);

/* From now on parts without an active row keep the factor that they have, and their entries of a
 * solution are left as they are.
 * `active` has an entry per block row; NULL: all are active. It must live until the next call. */
void tw_batch_cholesky_focus(tw_batch_cholesky *batches, const unsigned char *active);

/* After a factorisation that found the matrix not definite: failed[r] = 1 for the block rows of the
 * groups of parts where it did, 0 for all others. */
void tw_batch_cholesky_mark_failed(const tw_batch_cholesky *batches, unsigned char *failed);

/* The batches by which M + gamma K is factorised; NULL if there are none. */
tw_batch_cholesky *tw_shifted_cholesky_batches(const tw_shifted_cholesky *solver);

/* Fills in what a factorisation and a solve cost. */
void tw_batch_cholesky_describe(const tw_batch_cholesky *batches, tw_cholesky_counts *counts);

#endif
