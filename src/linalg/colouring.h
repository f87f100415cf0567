/* Colours for the columns of a sparse matrix: two columns of one colour have no row in common.
 *
 * One product with (or one difference along) the sum of all unit vectors of a colour therefore
 * gives all columns of that colour at once (Curtis, Powell, Reid 1974). The number of colours does
 * not grow with the size of the matrix. */
#ifndef TW_LINALG_COLOURING_H
#define TW_LINALG_COLOURING_H

#include <twang/sparse.h>

/* Rows and columns are counted in blocks. */
typedef struct tw_colouring {
    int64_t size;    /* rows, and columns */
    int colours;     /* colours in use */
    int32_t *colour; /* of each column, in 0 .. colours - 1 */

    /* The columns of row i, both triangles: neighbour[start[i]] .. neighbour[start[i + 1] - 1],
     * not sorted. */
    int64_t *start;
    int32_t *neighbour;
} tw_colouring;

/* Colours the columns greedily, in their order: each gets the smallest colour that no earlier
 * column with a row in common has. Upper storage stands for both triangles. Free with
 * tw_colouring_free, also after failure. */
tw_status tw_colouring_create(tw_colouring *colouring, const tw_sparse *pattern);

/* Accepts a zeroed one. */
void tw_colouring_free(tw_colouring *colouring);

#endif
