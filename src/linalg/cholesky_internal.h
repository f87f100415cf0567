/* Sparse Cholesky: the object behind cholesky.h, the matrix that it factorises, the memory that
 * CHOLMOD uses, and the numerical work. */
#ifndef TW_LINALG_CHOLESKY_INTERNAL_H
#define TW_LINALG_CHOLESKY_INTERNAL_H

#include <cholmod.h>
#include <stdbool.h>
#include <twang/cholesky.h>

#include "linalg/batch_cholesky.h"

/* ---- the matrix (cholesky_pattern.c) ----
 *
 * The sum of a stiffness and a mass matrix as one triangle of a compressed-column matrix, which is
 * the form that CHOLMOD takes, and where each of its entries comes from. */

/* The symmetric matrix a M + b K: its upper triangles are read, its diagonal is always present. */
typedef struct tw_matrix_pair {
    const tw_sparse *stiffness;
    const tw_sparse *mass; /* NULL for a diagonal mass */
} tw_matrix_pair;

/* Rows per node of the graph that is ordered: 3 if all blocks are 3x3, else 1. Unknowns of a block
 * stay together in any good ordering, and the graph has nine times fewer edges. */
int tw_matrix_pair_granule(const tw_matrix_pair *pair);

/* Lower triangle by columns, no values: of the graph of granules, or (granule 1) of the matrix. */
typedef struct tw_triangle {
    int n;
    int entries;
    int *start; /* n + 1: where each column begins */
    int *row;   /* of each entry */
} tw_triangle;

/* TW_UNSUPPORTED above 2^31 - 1 entries. Free with tw_triangle_free, also after failure. */
tw_status tw_triangle_create(const tw_matrix_pair *pair, int granule, tw_triangle *triangle);
void tw_triangle_free(tw_triangle *triangle);

/* One triangle of P (a M + b K) P^T, and where its values come from. */
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

/* ---- the memory (solver_memory.c) ----
 *
 * SuiteSparse has one process-wide set of malloc, calloc, realloc and free (SuiteSparse_config).
 * The first use here replaces it, once and for good, by functions that look at a thread-local
 * pointer. Between tw_solver_memory_enter and tw_solver_memory_leave the calling thread's requests
 * are served from a tw_solver_memory; otherwise, as in an application's own use of SuiteSparse,
 * they pass to the functions that were there before. No block crosses that border, because our
 * CHOLMOD objects are private and only touched inside. What an application must not do is to
 * replace SuiteSparse_config's functions after its first factor was made. */

/* The memory of one solver object. All zero is a good start. */
typedef struct tw_solver_memory {
    /* Blocks that are given back are kept for the next request of the same size. */
    bool keep;
    /* A request could not be served. CHOLMOD may go on all the same, for example with another
     * ordering; its results are then not to be used. */
    bool failed;
    struct tw_solver_block *kept;
} tw_solver_memory;

/* Serves SuiteSparse's requests on this thread from `memory` until tw_solver_memory_leave is called
 * with the returned value. */
tw_solver_memory *tw_solver_memory_enter(tw_solver_memory *memory);
void tw_solver_memory_leave(tw_solver_memory *previous);

/* Releases what is kept, and keeps nothing from now on. */
void tw_solver_memory_drain(tw_solver_memory *memory);

/* ---- independent parts of the factor (cholesky_tree.c) ---- */

enum { TW_TREE_PARTS = 8 /* as many threads can work at once */ };

/* The supernodes of a factor, as parts that do not meet and the top that they all lead to. */
typedef struct tw_cholesky_tree {
    int *order; /* supernodes: those of part 0, of part 1, ..., of the top */
    int start[TW_TREE_PARTS + 2];
    int *place;       /* per row of L: its place among the rows of the top, or -1 */
    int64_t top_rows; /* rows of the top */
    double *sums;     /* per part: top_rows * TW_MAX_BLOCK */
} tw_cholesky_tree;

/* Free with tw_cholesky_tree_free, also after failure. A simplicial factor has no tree. */
tw_status tw_cholesky_tree_create(const cholmod_factor *L, tw_cholesky_tree *tree);
void tw_cholesky_tree_free(tw_cholesky_tree *tree);

/* ---- the object (cholesky.c), and the numerical work (cholesky_numeric.c,
 * cholesky_substitute.c) ---- */

struct tw_cholesky {
    tw_matrix_pair pair;
    int64_t n;
    /* A matrix of many equal parts is factorised by these alone, and CHOLMOD has nothing to do;
     * NULL: CHOLMOD does it. */
    tw_batch_cholesky *batches;
    tw_solver_memory memory; /* everything CHOLMOD allocates */
    cholmod_common common;
    bool started; /* common is in use */
    cholmod_factor *L;
    tw_permuted permuted; /* the triangle that is factorised, permuted by L->Perm */
    double *solution;     /* n * TW_MAX_BLOCK, permuted */
    tw_cholesky_tree tree;
    double *panel;      /* per part of the tree, and for the top: panel_rows * TW_MAX_BLOCK */
    int64_t panel_rows; /* rows of the tallest supernode */
    double bytes;       /* of the numbers of CHOLMOD's factor; 0 before the pattern is analysed */
    bool factored;
    tw_cholesky_counts counts;
};

/* Factorises the values in `permuted`. Allocates only the first time. */
tw_status tw_cholesky_compute(tw_cholesky *factor);

/* Solves L L^T Y = Y in place, `count` columns of factor->solution. */
void tw_cholesky_substitute(tw_cholesky *factor, int count);

/* Rows of the tallest supernode; 0 if L is simplicial. */
int64_t tw_cholesky_panel_rows(const cholmod_factor *L);

/* What CHOLMOD's last call on this object means in our terms. */
tw_status tw_cholesky_status(const tw_cholesky *factor);

#endif
