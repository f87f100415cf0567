/* Forward and back substitution with the factor CHOLMOD left, for a block of right-hand sides.
 *
 * A solve waits for L to come from memory, so a block should take little longer than one column.
 * CHOLMOD's own solver goes through BLAS, whose kernels are not made for two or three columns; here
 * a piece of L that is in the first-level cache serves all columns before the next is fetched. For
 * 1, 2, 3, 4 columns of a solid with 24,000 unknowns we measured 14, 29, 31, 34 ms there and 12,
 * 15, 17, 20 ms here. Independent parts of L (cholesky_tree.c) are substituted at the same time. */
#include <string.h>

#include "base/parallel_for.h"
#include "linalg/cholesky_internal.h"
#include "linalg/vector_kernels.h"

/* Rows of L that are used for all right-hand sides before the next are read. Four columns of 512
 * rows take 16 KB, half of the first-level cache. */
enum { PIECE = 512 };

/* A supernode: columns [first, first + columns) of L with one row pattern, stored as a dense `rows`
 * x `columns` matrix whose upper triangle is not used. Its first rows are its own columns. */
typedef struct supernode {
    int64_t first;
    int64_t rows;
    int64_t columns;
    const int *row;  /* the rows of L that it has, `rows` of them */
    const double *L; /* its values */
} supernode;

static supernode supernode_at(const cholmod_factor *L, int64_t s)
{
    const int *super = L->super;
    const int *row_start = L->pi;
    const int *value_start = L->px;
    return (supernode){.first = super[s],
                       .rows = row_start[s + 1] - row_start[s],
                       .columns = super[s + 1] - super[s],
                       .row = (const int *)L->s + row_start[s],
                       .L = (const double *)L->x + value_start[s]};
}

int64_t tw_cholesky_panel_rows(const cholmod_factor *L)
{
    /* The factor may not have values yet. */
    const int *row_start = L->pi;
    int64_t most = 0;
    for (int64_t s = 0; L->is_super && s < (int64_t)L->nsuper; s++) {
        const int64_t rows = row_start[s + 1] - row_start[s];
        if (rows > most) most = rows;
    }
    return most;
}

/* The right-hand sides restricted to a supernode's rows. */
typedef struct panel {
    int count;
    int64_t stride; /* from one column to the next */
    double *values;
} panel;

/* E_r -= sum_k L_{r, c+k} E_{c+k} for the rows r below columns [c, c + group) */
TW_ALWAYS_INLINE void eliminate(const int group, const supernode *node, int64_t c, const panel *E)
{
    for (int64_t r = c + group; r < node->rows; r += PIECE) {
        const int64_t length = node->rows - r < PIECE ? node->rows - r : PIECE;
        for (int v = 0; v < E->count; v++) {
            double *y = E->values + v * E->stride;
            double *below = y + r;
            double minus[TW_GROUP];
            const double *coefficients = minus;

            for (int k = 0; k < group; k++) minus[k] = -y[c + k];
            tw_add_combinations(group, 1, length, node->L + c * node->rows + r, node->rows,
                                &coefficients, &below);
        }
    }
}

/* E_{c+k} -= sum_r L_{r, c+k} E_r for the rows r below columns [c, c + group) */
TW_ALWAYS_INLINE void collect(const int group, const supernode *node, int64_t c, const panel *E)
{
    for (int64_t r = c + group; r < node->rows; r += PIECE) {
        const int64_t length = node->rows - r < PIECE ? node->rows - r : PIECE;
        for (int v = 0; v < E->count; v++) {
            double *y = E->values + v * E->stride;
            double sums[TW_GROUP] = {0};

            tw_add_dots(group, length, node->L + c * node->rows + r, node->rows, y + r, sums);
            for (int k = 0; k < group; k++) y[c + k] -= sums[k];
        }
    }
}

/* The triangle of columns [c, c + group): T y = y */
TW_ALWAYS_INLINE void solve_triangle(const int group, const supernode *node, int64_t c,
                                     const panel *E)
{
    const double *T = node->L + c * (node->rows + 1);
    for (int v = 0; v < E->count; v++) {
        double *y = E->values + v * E->stride + c;
        for (int k = 0; k < group; k++) {
            y[k] /= T[k * node->rows + k];
            for (int i = k + 1; i < group; i++) y[i] -= T[k * node->rows + i] * y[k];
        }
    }
}

/* T^T y = y */
TW_ALWAYS_INLINE void solve_transposed_triangle(const int group, const supernode *node, int64_t c,
                                                const panel *E)
{
    const double *T = node->L + c * (node->rows + 1);
    for (int v = 0; v < E->count; v++) {
        double *y = E->values + v * E->stride + c;
        for (int k = group - 1; k >= 0; k--) {
            for (int i = k + 1; i < group; i++) y[k] -= T[k * node->rows + i] * y[i];
            y[k] /= T[k * node->rows + k];
        }
    }
}

/* Where the rows below a supernode add to: `sums` in rows of the top, Y in all others. */
typedef struct destination {
    int64_t n;
    double *Y;
    const int *place; /* of tw_cholesky_tree */
    int64_t top_rows;
    double *sums; /* NULL: Y in rows of the top, too */
} destination;

/* Adds a column of the panel below the own rows of the supernode. */
static void add_below(const supernode *node, const double *y, int v, const destination *to)
{
    double *Y = to->Y + v * to->n;
    if (!to->sums) {
        for (int64_t r = node->columns; r < node->rows; r++) Y[node->row[r]] += y[r];
        return;
    }

    /* Rows ascend, and those of the top come last. */
    double *sums = to->sums + v * to->top_rows;
    for (int64_t r = node->columns; r < node->rows; r++) {
        int place = to->place[node->row[r]];
        if (place < 0)
            Y[node->row[r]] += y[r];
        else
            sums[place] += y[r];
    }
}

/* One supernode of L y = b: solves for its own rows and subtracts what these contribute to the rows
 * below. Y holds b on entry, and y in the rows of all supernodes that are done. */
static void forward_supernode(const supernode *node, const panel *E, const destination *to)
{
    int64_t n = to->n;
    double *Y = to->Y;

    /* The panel begins with the own rows of b, and with zeros for what goes below. */
    for (int v = 0; v < E->count; v++) {
        double *y = E->values + v * E->stride;
        memcpy(y, Y + v * n + node->first, (size_t)node->columns * sizeof *y);
        memset(y + node->columns, 0, (size_t)(node->rows - node->columns) * sizeof *y);
    }

    /* Four columns at a time, then those that are left one by one. */
    int64_t c = 0;
    for (; c + TW_GROUP <= node->columns; c += TW_GROUP) {
        solve_triangle(TW_GROUP, node, c, E);
        eliminate(TW_GROUP, node, c, E);
    }
    for (; c < node->columns; c++) {
        solve_triangle(1, node, c, E);
        eliminate(1, node, c, E);
    }

    /* Own rows are solved; the others add to their places in Y. */
    for (int v = 0; v < E->count; v++) {
        const double *y = E->values + v * E->stride;
        memcpy(Y + v * n + node->first, y, (size_t)node->columns * sizeof *y);
        add_below(node, y, v, to);
    }
}

/* One supernode of L^T x = y, from the last supernode to the first: subtracts what the rows below
 * contribute, which are known by then, and solves for its own rows. */
static void backward_supernode(const supernode *node, const panel *E, int64_t n, double *Y)
{
    /* The panel gathers the own rows and those below. */
    for (int v = 0; v < E->count; v++) {
        double *y = E->values + v * E->stride;
        memcpy(y, Y + v * n + node->first, (size_t)node->columns * sizeof *y);
        for (int64_t r = node->columns; r < node->rows; r++) y[r] = Y[v * n + node->row[r]];
    }

    /* The columns in the reverse of the order of the forward substitution. */
    int64_t c = node->columns;
    for (; c % TW_GROUP != 0; c--) {
        collect(1, node, c - 1, E);
        solve_transposed_triangle(1, node, c - 1, E);
    }
    for (; c > 0; c -= TW_GROUP) {
        collect(TW_GROUP, node, c - TW_GROUP, E);
        solve_transposed_triangle(TW_GROUP, node, c - TW_GROUP, E);
    }

    for (int v = 0; v < E->count; v++)
        memcpy(Y + v * n + node->first, E->values + v * E->stride,
               (size_t)node->columns * sizeof *Y);
}

/* L by columns, the diagonal entry first. Each column serves all right-hand sides while it is in
 * the cache. */
static void simplicial_substitute(const cholmod_factor *L, int count, double *Y)
{
    const int *start = L->p;
    const int *entries = L->nz;
    const int *row = L->i;
    const double *x = L->x;
    const int64_t n = (int64_t)L->n;

    /* L y = b */
    for (int64_t k = 0; k < n; k++)
        for (int v = 0; v < count; v++) {
            double *y = Y + v * n;
            const double solved = y[k] /= x[start[k]];
            for (int p = start[k] + 1; p < start[k] + entries[k]; p++) y[row[p]] -= x[p] * solved;
        }

    /* L^T x = y */
    for (int64_t k = n - 1; k >= 0; k--)
        for (int v = 0; v < count; v++) {
            double *y = Y + v * n;
            double sum = y[k];
            for (int p = start[k] + 1; p < start[k] + entries[k]; p++) sum -= x[p] * y[row[p]];
            y[k] = sum / x[start[k]];
        }
}

/* The panel of a part, or of the top. */
static panel panel_of(const tw_cholesky *factor, int part, int count)
{
    int64_t size = factor->panel_rows * TW_MAX_BLOCK;
    return (panel){count, factor->panel_rows, factor->panel + part * size};
}

/* Forward substitution in one part; what it adds to the top goes to `sums`. */
static void forward_part(const tw_cholesky *factor, int part, int count, double *sums)
{
    const tw_cholesky_tree *tree = &factor->tree;
    const panel E = panel_of(factor, part, count);
    const destination to = {factor->n, factor->solution, tree->place, tree->top_rows, sums};
    for (int i = tree->start[part]; i < tree->start[part + 1]; i++) {
        const supernode node = supernode_at(factor->L, tree->order[i]);
        forward_supernode(&node, &E, &to);
    }
}

static void backward_part(const tw_cholesky *factor, int part, int count)
{
    const tw_cholesky_tree *tree = &factor->tree;
    const panel E = panel_of(factor, part, count);
    for (int i = tree->start[part + 1] - 1; i >= tree->start[part]; i--) {
        const supernode node = supernode_at(factor->L, tree->order[i]);
        backward_supernode(&node, &E, factor->n, factor->solution);
    }
}

typedef struct part_job {
    const tw_cholesky *factor;
    int count;
} part_job;

static double *sums_of(const tw_cholesky_tree *tree, int64_t part)
{
    return tree->sums + part * tree->top_rows * TW_MAX_BLOCK;
}

static void forward_block(void *context, int64_t begin, int64_t end, int64_t block)
{
    (void)block;
    const part_job *job = context;
    const tw_cholesky_tree *tree = &job->factor->tree;
    for (int64_t part = begin; part < end; part++) {
        double *sums = sums_of(tree, part);
        memset(sums, 0, (size_t)(job->count * tree->top_rows) * sizeof *sums);
        forward_part(job->factor, (int)part, job->count, sums);
    }
}

static void backward_block(void *context, int64_t begin, int64_t end, int64_t block)
{
    (void)block;
    const part_job *job = context;
    for (int64_t part = begin; part < end; part++)
        backward_part(job->factor, (int)part, job->count);
}

/* Adds to the rows of the top what all parts have for them. */
static void add_sums(const tw_cholesky *factor, int count)
{
    const tw_cholesky_tree *tree = &factor->tree;
    const int *super = factor->L->super;
    for (int i = tree->start[TW_TREE_PARTS]; i < tree->start[TW_TREE_PARTS + 1]; i++)
        for (int row = super[tree->order[i]]; row < super[tree->order[i] + 1]; row++)
            for (int v = 0; v < count; v++)
                for (int part = 0; part < TW_TREE_PARTS; part++)
                    factor->solution[v * factor->n + row] +=
                        sums_of(tree, part)[v * tree->top_rows + tree->place[row]];
}

void tw_cholesky_substitute(tw_cholesky *factor, int count)
{
    const cholmod_factor *L = factor->L;
    if (!L->is_super) {
        simplicial_substitute(L, count, factor->solution);
        return;
    }

    /* A small factor is all top. */
    const tw_cholesky_tree *tree = &factor->tree;
    bool has_parts = tree->start[TW_TREE_PARTS] > 0;
    part_job job = {factor, count};

    /* L y = b from the parts to the top. */
    if (has_parts) {
        tw_parallel_for(TW_TREE_PARTS, 1, forward_block, &job);
        add_sums(factor, count);
    }
    forward_part(factor, TW_TREE_PARTS, count, NULL);

    /* L^T x = y from the top to the parts. */
    backward_part(factor, TW_TREE_PARTS, count);
    if (has_parts) tw_parallel_for(TW_TREE_PARTS, 1, backward_block, &job);
}
