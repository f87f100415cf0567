/* Cholesky factorisation of four equal parts at once, a part in each lane, by 3x3 blocks:
 *     L_jj L_jj^T = A_jj,  L_ij = A_ij L_jj^-T,  A_ab -= L_aj L_bj^T  for a >= b > j,
 * column by column; and the substitutions with L. */
#include <math.h>

#include "linalg/batch_internal.h"
#include "linalg/sparse_internal.h"

/* Numbers of a block in all lanes. */
enum { BLOCK_SIZE = TW_BATCH_BLOCK * TW_BATCH_LANES, ROW_SIZE = 3 * TW_BATCH_LANES };

/* ---- values ---- */

/* Copies the blocks of one part. Blocks of the matrix are stored by columns, those of L by rows;
 * the transpose of a block by columns is the block by rows. */
static void gather_lane(const tw_batch_pattern *pattern, const tw_batch_source *source,
                        const int32_t *rows, double *L)
{
    const tw_sparse *matrix = source->matrix;
    for (int r = 0; r < pattern->rows; r++) {
        const double *value =
            matrix->values + TW_BATCH_BLOCK * (matrix->row_start[rows[r]] + pattern->skip[r]);
        for (int k = pattern->target_start[r]; k < pattern->target_start[r + 1]; k++) {
            double *to = L + (int64_t)BLOCK_SIZE * pattern->target[k];
            for (int i = 0; i < TW_BATCH_BLOCK; i++)
                to[i * TW_BATCH_LANES] = source->stiffness_factor * value[i];
            value += TW_BATCH_BLOCK;
        }

        /* The mass is on the diagonal, which is the first block of its column. */
        double *diagonal = L + (int64_t)BLOCK_SIZE * pattern->start[r];
        for (int c = 0; c < 3; c++) {
            double mass = 1.0;
            if (source->lumped_mass) mass = source->lumped_mass[3 * (int64_t)rows[r] + c];
            diagonal[4 * c * TW_BATCH_LANES] += source->mass_factor * mass;
        }
    }
}

void tw_batch_gather(const tw_batch_pattern *pattern, const tw_batch_source *source,
                     const int32_t *const rows[TW_BATCH_LANES], double *L)
{
    for (int64_t i = 0; i < (int64_t)BLOCK_SIZE * pattern->entries; i++) L[i] = 0.0;
    for (int lane = 0; lane < TW_BATCH_LANES; lane++)
        gather_lane(pattern, source, rows[lane], L + lane);
}

/* ---- factorisation ---- */

TW_ALWAYS_INLINE tw_wide at(const double *block, int row, int column)
{
    return tw_wide_load(block + (3 * row + column) * TW_BATCH_LANES);
}

TW_ALWAYS_INLINE void put(double *block, int row, int column, tw_wide value)
{
    tw_wide_store(block + (3 * row + column) * TW_BATCH_LANES, value);
}

TW_ALWAYS_INLINE tw_wide negative(tw_wide a)
{
    return tw_wide_subtract(tw_wide_zero(), a);
}

/* Whether the pivots of all lanes are positive and finite. */
static tw_status check_pivot(tw_wide pivot)
{
    double lanes[TW_BATCH_LANES];
    tw_wide_store(lanes, pivot);
    for (int lane = 0; lane < TW_BATCH_LANES; lane++) {
        if (!isfinite(lanes[lane])) return TW_NOT_FINITE;
        if (!(lanes[lane] > 0.0)) return TW_NOT_POSITIVE_DEFINITE;
    }
    return TW_OK;
}

/* L L^T = D for a diagonal block, with reciprocals on the diagonal of L. */
static tw_status factor_diagonal(double *block)
{
    const tw_wide one = tw_wide_splat(1.0);
    for (int c = 0; c < 3; c++) {
        tw_wide pivot = at(block, c, c);
        for (int k = 0; k < c; k++)
            pivot = tw_wide_fma(negative(at(block, c, k)), at(block, c, k), pivot);
        tw_status status = check_pivot(pivot);
        if (status != TW_OK) return status;

        /* The rest of column c. */
        tw_wide reciprocal = tw_wide_divide(one, tw_wide_sqrt(pivot));
        put(block, c, c, reciprocal);
        for (int r = c + 1; r < 3; r++) {
            tw_wide sum = at(block, r, c);
            for (int k = 0; k < c; k++)
                sum = tw_wide_fma(negative(at(block, r, k)), at(block, c, k), sum);
            put(block, r, c, tw_wide_multiply(sum, reciprocal));
        }
    }
    return TW_OK;
}

/* X = X L^-T for a block below the diagonal block L. */
static void divide_block(const double *diagonal, double *block)
{
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < 3; c++) {
            tw_wide sum = at(block, r, c);
            for (int k = 0; k < c; k++)
                sum = tw_wide_fma(negative(at(block, r, k)), at(diagonal, c, k), sum);
            put(block, r, c, tw_wide_multiply(sum, at(diagonal, c, c)));
        }
}

/* T -= A B^T, with minus B in registers. */
TW_ALWAYS_INLINE void subtract_product(const double *A, const tw_wide minus_B[9], double *T)
{
    for (int r = 0; r < 3; r++) {
        tw_wide a0 = at(A, r, 0);
        tw_wide a1 = at(A, r, 1);
        tw_wide a2 = at(A, r, 2);
        for (int c = 0; c < 3; c++) {
            tw_wide sum = tw_wide_fma(a0, minus_B[3 * c], at(T, r, c));
            sum = tw_wide_fma(a1, minus_B[3 * c + 1], sum);
            put(T, r, c, tw_wide_fma(a2, minus_B[3 * c + 2], sum));
        }
    }
}

tw_status tw_batch_factor(const tw_batch_pattern *pattern, double *L)
{
    const int *update = pattern->update;
    for (int j = 0; j < pattern->rows; j++) {
        int begin = pattern->start[j];
        int end = pattern->start[j + 1];
        double *diagonal = L + (int64_t)BLOCK_SIZE * begin;
        tw_status status = factor_diagonal(diagonal);
        if (status != TW_OK) return status;

        for (int e = begin + 1; e < end; e++) divide_block(diagonal, L + (int64_t)BLOCK_SIZE * e);

        /* What the column takes from those behind it. */
        for (int b = begin + 1; b < end; b++) {
            const double *B = L + (int64_t)BLOCK_SIZE * b;
            tw_wide minus_B[9];

            for (int i = 0; i < 9; i++) minus_B[i] = negative(at(B, i / 3, i % 3));
            for (int a = b; a < end; a++)
                subtract_product(L + (int64_t)BLOCK_SIZE * a, minus_B,
                                 L + (int64_t)BLOCK_SIZE * *update++);
        }
    }
    return TW_OK;
}

/* ---- substitution ---- */

TW_ALWAYS_INLINE void load_row(const double *y, tw_wide v[3])
{
    for (int c = 0; c < 3; c++) v[c] = tw_wide_load(y + c * TW_BATCH_LANES);
}

TW_ALWAYS_INLINE void store_row(double *y, const tw_wide v[3])
{
    for (int c = 0; c < 3; c++) tw_wide_store(y + c * TW_BATCH_LANES, v[c]);
}

/* L y = y, column by column. */
static void forward(const tw_batch_pattern *pattern, const double *L, double *y)
{
    for (int j = 0; j < pattern->rows; j++) {
        const double *block = L + (int64_t)BLOCK_SIZE * pattern->start[j];
        tw_wide v[3];
        load_row(y + (int64_t)ROW_SIZE * j, v);

        /* The diagonal block. */
        v[0] = tw_wide_multiply(v[0], at(block, 0, 0));
        v[1] = tw_wide_fma(negative(at(block, 1, 0)), v[0], v[1]);
        v[1] = tw_wide_multiply(v[1], at(block, 1, 1));
        v[2] = tw_wide_fma(negative(at(block, 2, 0)), v[0], v[2]);
        v[2] = tw_wide_fma(negative(at(block, 2, 1)), v[1], v[2]);
        v[2] = tw_wide_multiply(v[2], at(block, 2, 2));
        store_row(y + (int64_t)ROW_SIZE * j, v);

        /* The rows below: y_i -= L_ij y_j. */
        tw_wide minus[3] = {negative(v[0]), negative(v[1]), negative(v[2])};
        for (int e = pattern->start[j] + 1; e < pattern->start[j + 1]; e++) {
            block = L + (int64_t)BLOCK_SIZE * e;
            double *below = y + (int64_t)ROW_SIZE * pattern->row[e];
            tw_wide w[3];

            load_row(below, w);
            for (int r = 0; r < 3; r++)
                for (int c = 0; c < 3; c++) w[r] = tw_wide_fma(at(block, r, c), minus[c], w[r]);
            store_row(below, w);
        }
    }
}

/* L^T y = y, from the last column to the first. */
static void backward(const tw_batch_pattern *pattern, const double *L, double *y)
{
    for (int j = pattern->rows - 1; j >= 0; j--) {
        tw_wide v[3];
        load_row(y + (int64_t)ROW_SIZE * j, v);

        /* The rows below are known: y_j -= L_ij^T y_i. */
        for (int e = pattern->start[j] + 1; e < pattern->start[j + 1]; e++) {
            const double *block = L + (int64_t)BLOCK_SIZE * e;
            tw_wide w[3];
            load_row(y + (int64_t)ROW_SIZE * pattern->row[e], w);
            for (int r = 0; r < 3; r++) {
                tw_wide minus = negative(w[r]);
                for (int c = 0; c < 3; c++) v[c] = tw_wide_fma(at(block, r, c), minus, v[c]);
            }
        }

        /* The diagonal block, transposed. */
        const double *block = L + (int64_t)BLOCK_SIZE * pattern->start[j];
        v[2] = tw_wide_multiply(v[2], at(block, 2, 2));
        v[1] = tw_wide_fma(negative(at(block, 2, 1)), v[2], v[1]);
        v[1] = tw_wide_multiply(v[1], at(block, 1, 1));
        v[0] = tw_wide_fma(negative(at(block, 2, 0)), v[2], v[0]);
        v[0] = tw_wide_fma(negative(at(block, 1, 0)), v[1], v[0]);
        v[0] = tw_wide_multiply(v[0], at(block, 0, 0));
        store_row(y + (int64_t)ROW_SIZE * j, v);
    }
}

void tw_batch_solve(const tw_batch_pattern *pattern, const double *L, double *y)
{
    forward(pattern, L, y);
    backward(pattern, L, y);
}
