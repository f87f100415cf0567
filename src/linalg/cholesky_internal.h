/* The object behind cholesky.h, and the numerical work CHOLMOD does for it. */
#ifndef TW_LINALG_CHOLESKY_INTERNAL_H
#define TW_LINALG_CHOLESKY_INTERNAL_H

#include <cholmod.h>
#include <stdbool.h>
#include <twang/cholesky.h>

#include "linalg/cholesky_pattern.h"
#include "linalg/solver_memory.h"

struct tw_cholesky {
    tw_matrix_pair pair;
    int64_t n;
    tw_solver_memory memory; /* everything CHOLMOD allocates */
    cholmod_common common;
    bool started; /* common is in use */
    cholmod_factor *L;
    tw_permuted permuted; /* the triangle that is factorised, permuted by L->Perm */
    double *solution;     /* n * TW_MAX_BLOCK, permuted */
    double *panel; /* supernodal solves: the rows of the tallest supernode, TW_MAX_BLOCK columns */
    int64_t panel_rows;
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
