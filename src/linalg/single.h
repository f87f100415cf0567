/* A copy of a symmetric matrix in single precision, for products of which few digits are asked.
 *
 * Such a product moves half the bytes and computes sixteen rows at once. It is for matrices of 3x3
 * blocks in upper storage whose rows stand in runs: neighbours of consecutive rows are consecutive,
 * as on sheets, rods and lattices that are numbered line by line.
 *
 * Vectors are in single precision, too, in a form of their own (tw_single_load, tw_single_store):
 * `tw_single_size` floats, of which some belong to no unknown and are zero. Entry by entry they may be
 * added and multiplied like any vector. */
#ifndef TW_LINALG_SINGLE_H
#define TW_LINALG_SINGLE_H

#include <stdbool.h>
#include <twang/sparse.h>

typedef struct tw_single tw_single;

/* The relative error of a product, in units of |A| |x|: some roundings of a float. */
#define TW_SINGLE_ERROR 1e-6

/* Room for a copy of matrices of this pattern. TW_OK with *out = NULL where the pattern does not fit,
 * or where filling it with zeros would cost too much. */
tw_status tw_single_create(const tw_sparse *matrix, tw_single **out);
void tw_single_free(tw_single *single);

/* Takes the values of a matrix of that pattern. */
void tw_single_fill(tw_single *single, const tw_sparse *matrix);
/* The matrix is `unit` times what is stored, a power of two: 1 unless its entries would leave the range
 * of floats. */
double tw_single_unit(const tw_single *single);

/* Floats of a vector, a multiple of 16; at most twice the rows of the matrix. */
int64_t tw_single_size(const tw_single *single);
/* Room for `size` doubles, used for as many floats or more. What was in it is lost. */
static inline float *tw_single_room(double *doubles)
{
    void *room = doubles;
    return room;
}
static inline const float *tw_single_in(const double *doubles)
{
    const void *room = doubles;
    return room;
}
/* x = factor in; out = factor x. */
void tw_single_load(const tw_single *single, const double *in, double factor, float *x);
void tw_single_store(const tw_single *single, const float *x, double factor, double *out);

/* unit y = A x for `count` vectors, 1..TW_MAX_BLOCK, which are `stride` floats apart. Bitwise the same
 * for any number of threads. */
void tw_single_multiply(const tw_single *single, int count, int64_t stride, const float *x,
                        float *y);

/* Products of an operator in single precision (tw_operator.single). */
struct tw_single_product {
    tw_single *matrix;
    /* Brings the matrix up to date, and counts so many products. */
    tw_status (*prepare)(void *context, int count);
    void *context;
};

#endif
