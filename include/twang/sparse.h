/** @file sparse.h
 *  Sparse matrices: CSR (1x1) and BSR (3x3 blocks), general or symmetric (upper triangle stored).
 */
#ifndef TWANG_SPARSE_H
#define TWANG_SPARSE_H

#include <stdint.h>
#include <twang/operator.h>

#ifdef __cplusplus
extern "C" {
#endif

/** A square sparse matrix. The pattern is fixed at creation; the values are the caller's to
 *  overwrite. */
typedef struct tw_sparse tw_sparse;

typedef enum tw_sparse_storage {
    TW_STORE_FULL, /**< every entry */
    /** The upper triangle (with diagonal) of a symmetric matrix: half the memory, and nearly half
     *  the time. Its products use threads as far as rows lie near their columns, so number the
     *  unknowns along the body. */
    TW_STORE_UPPER
} tw_sparse_storage;

/** Creates a matrix of `block_rows` block rows. `row_start` (block_rows + 1 entries) and `column`
 *  (ascending in each row) are copied; values start at zero. `block` is 1 (CSR) or 3 (BSR). Free
 *  with tw_sparse_free. */
TW_API tw_status tw_sparse_create(int block, int64_t block_rows, const int64_t *row_start,
                                  const int64_t *column, tw_sparse_storage storage, tw_sparse **out,
                                  tw_error *error);

/** Frees; accepts NULL. */
TW_API void tw_sparse_free(tw_sparse *matrix);

/** Scalar rows (= block * block_rows). */
TW_API int64_t tw_sparse_size(const tw_sparse *matrix);
TW_API int tw_sparse_block(const tw_sparse *matrix);
TW_API tw_sparse_storage tw_sparse_storage_of(const tw_sparse *matrix);
/** The pattern: block_rows + 1 offsets, and block column indices. Owned by the matrix. */
TW_API const int64_t *tw_sparse_row_start(const tw_sparse *matrix);
TW_API const int32_t *tw_sparse_column(const tw_sparse *matrix);

/** The values: `block * block` per stored block, **column-major inside a block**, blocks in pattern
 *  order. Owned by the matrix, writable. Symmetric 3x3 diagonal blocks are stored whole. */
TW_API double *tw_sparse_values(tw_sparse *matrix);
TW_API const double *tw_sparse_values_const(const tw_sparse *matrix);

/** Index of the stored block (i, j), or -1. O(log row length). */
TW_API int64_t tw_sparse_find(const tw_sparse *matrix, int64_t block_row, int64_t block_column);

/** out = A in for `count` (1..TW_MAX_BLOCK) columns; threaded, bitwise the same for any number of
 *  threads. Not for the same matrix from two threads at once when stored TW_STORE_UPPER (it has
 *  scratch). */
TW_API tw_status tw_sparse_apply(const tw_sparse *matrix, int count, const double *in, double *out);

/** The matrix as an operator, valid while the matrix lives. Full storage is declared TW_GENERAL:
 *  set symmetry yourself. */
TW_API tw_operator tw_sparse_operator(const tw_sparse *matrix);

/** Largest absolute row sum: an upper bound of every eigenvalue's modulus. `scale` (NULL for ones)
 *  multiplies rows and columns: the bound is for diag(scale) A diag(scale). Infinite if an entry is
 *  not finite. With TW_STORE_UPPER not from two threads at once. */
TW_API double tw_sparse_norm_bound(const tw_sparse *matrix, const double *scale);

/** Bytes one product with one vector must move. */
TW_API double tw_sparse_bytes_per_product(const tw_sparse *matrix);

#ifdef __cplusplus
}
#endif
#endif
