/* The sum of a stiffness and a mass matrix as one triangle of a compressed-column matrix, the form
 * CHOLMOD takes, and where each of its entries comes from. Pure index work; no CHOLMOD here. */
#ifndef TW_LINALG_CHOLESKY_PATTERN_H
#define TW_LINALG_CHOLESKY_PATTERN_H

#include <stdbool.h>
#include <twang/sparse.h>

/* The symmetric matrix a M + b K: its upper triangles are read, its diagonal is always present. */
typedef struct tw_matrix_pair {
    const tw_sparse *stiffness;
    const tw_sparse *mass; /* NULL for a diagonal mass */
} tw_matrix_pair;

/* Rows per node of the graph that is ordered: 3 if all blocks are 3x3, else 1. Unknowns of a block
 * stay together in any good ordering, and the graph is nine times smaller for it. */
int tw_matrix_pair_granule(const tw_matrix_pair *pair);

/* Lower triangle by columns, no values: of the graph of granules, or (granule 1) of the matrix. */
typedef struct tw_triangle {
    int n, entries;
    int *start; /* n + 1 */
    int *row;
} tw_triangle;

/* TW_UNSUPPORTED above 2^31 - 1 entries. Free with tw_triangle_free, also after failure. */
tw_status tw_triangle_create(const tw_matrix_pair *pair, int granule, tw_triangle *triangle);
void tw_triangle_free(tw_triangle *triangle);

/* One triangle of P (a M + b K) P^T with its values' sources. */
typedef struct tw_permuted {
    tw_triangle triangle;
    double *values;
    uint32_t *from_stiffness; /* per entry: index into K's values, or TW_NOWHERE */
    uint32_t *from_mass;      /* into M's values; NULL without a mass matrix */
    int *diagonal;            /* per unpermuted row: its diagonal entry */
} tw_permuted;

#define TW_NOWHERE UINT32_MAX

/* Row k of the permuted matrix is row order[k] of the pair; `lower` says which triangle is stored.
 * Free with tw_permuted_free, also after failure. */
tw_status tw_permuted_create(const tw_matrix_pair *pair, const int *order, bool lower,
                             tw_permuted *permuted);
void tw_permuted_free(tw_permuted *permuted);

/* values = a M + b K, M the pair's or diag(lumped_mass) or (both NULL) the identity. */
void tw_permuted_gather(const tw_matrix_pair *pair, tw_permuted *permuted, double mass_factor,
                        const double *lumped_mass, double stiffness_factor);

#endif
