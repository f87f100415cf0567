/* Sparse Cholesky factorisation of a M + b K: analysis once, then factors and solves. */
#define _POSIX_C_SOURCE 200809L
#include <pthread.h>
#include <signal.h>

#include "base/allocate.h"
#include "base/available_memory.h"
#include "base/fail.h"
#include "base/parallel_for.h"
#include "linalg/blas_session.h"
#include "linalg/cholesky_internal.h"
#include "linalg/vector.h"

/* Nodes of a graph that is worth cutting in two. */
enum { LEAST_CUT = 1000 };

/* Entries per block of a permutation: some tens of microseconds of work. */
enum { PERMUTE_BLOCK = 4096 };

/* METIS draws its random numbers from rand(), which all threads share, seeds it for each graph, and
 * catches signals. Two analyses at once would change each other's ordering, and with it the last
 * bits of every solution. */
static pthread_mutex_t ordering_lock = PTHREAD_MUTEX_INITIALIZER;

static cholmod_sparse triangle_view(const tw_triangle *triangle)
{
    return (cholmod_sparse){.nrow = (size_t)triangle->n,
                            .ncol = (size_t)triangle->n,
                            .nzmax = (size_t)triangle->entries,
                            .p = triangle->start,
                            .i = triangle->row,
                            .stype = -1,
                            .itype = CHOLMOD_INT,
                            .xtype = CHOLMOD_PATTERN,
                            .dtype = CHOLMOD_DOUBLE,
                            .sorted = 1,
                            .packed = 1};
}

/* CHOLMOD's analysis, one at a time. METIS catches SIGTERM and SIGABRT meanwhile, would take SIGTERM for
 * an error of its own, and gives the program's handlers back without their flags. So SIGTERM waits in
 * this thread, and the program's handlers are put back as they were. */
static cholmod_factor *analyse_alone(cholmod_sparse *A, cholmod_common *common)
{
    sigset_t termination;
    sigset_t mask;
    struct sigaction on_termination;
    struct sigaction on_abort;
    sigemptyset(&termination);
    sigaddset(&termination, SIGTERM);

    pthread_mutex_lock(&ordering_lock);
    pthread_sigmask(SIG_BLOCK, &termination, &mask);
    sigaction(SIGTERM, NULL, &on_termination);
    sigaction(SIGABRT, NULL, &on_abort);

    cholmod_factor *symbolic = cholmod_analyze(A, common);

    sigaction(SIGTERM, &on_termination, NULL);
    sigaction(SIGABRT, &on_abort, NULL);
    pthread_sigmask(SIG_SETMASK, &mask, NULL);
    pthread_mutex_unlock(&ordering_lock);
    return symbolic;
}

/* Fill that a graph cut in two may have beyond the best ordering. Both halves are then worked on at
 * the same time (cholesky_tree.c). Minimum degree eliminates a long body from one end to the other:
 * on the coil it leaves nothing to do at the same time, and the cut costs 1 % more entries. */
static const double FILL_OF_A_CUT = 1.05;

/* Analyses the graph with up to two ways of ordering; NULL after a failure. */
static cholmod_factor *analyse_graph(tw_cholesky *factor, const tw_triangle *graph, int ways,
                                     const int *ordering)
{
    cholmod_sparse A = triangle_view(graph);
    cholmod_common *common = &factor->common;
    common->supernodal = CHOLMOD_SIMPLICIAL;
    common->nmethods = ways;
    for (int i = 0; i < ways; i++) common->method[i].ordering = ordering[i];

    /* A part of at most half of the nodes is not cut again (CHOLMOD_NESDIS). */
    common->method[0].nd_small = (size_t)(graph->n / 2);
    cholmod_factor *symbolic = analyse_alone(&A, common);

    /* A failed analysis leaves no factor, or one that is not to be used. */
    if (tw_cholesky_status(factor) != TW_OK) cholmod_free_factor(&symbolic, common);
    return symbolic;
}

/* Orders the graph by minimum degree and by nested dissection and takes the better of the two, or a
 * graph that is cut in two if this is nearly as good; writes the order granule by granule. */
static tw_status order_graph(tw_cholesky *factor, const tw_triangle *graph, int granule, int *order)
{
    static const int whole[] = {CHOLMOD_AMD, CHOLMOD_METIS};
    static const int cut[] = {CHOLMOD_NESDIS};
    cholmod_factor *best = analyse_graph(factor, graph, 2, whole);
    double fill = factor->common.lnz;
    if (!best) return tw_cholesky_status(factor) ? tw_cholesky_status(factor) : TW_INTERNAL;

    /* A CHOLMOD without this way of ordering goes on with the best of the others. */
    tw_status status = TW_OK;
    if (graph->n >= LEAST_CUT) {
        cholmod_factor *halves = analyse_graph(factor, graph, 1, cut);
        if (tw_cholesky_status(factor) == TW_OUT_OF_MEMORY) status = TW_OUT_OF_MEMORY;

        bool serves = halves && factor->common.lnz <= FILL_OF_A_CUT * fill;
        cholmod_free_factor(serves ? &best : &halves, &factor->common);
        if (serves) best = halves;
    }

    /* The unknowns of a node of the graph stay together and in their order. */
    const int *nodes = best->Perm;
    for (int k = 0; k < graph->n; k++)
        for (int c = 0; c < granule; c++) order[k * granule + c] = nodes[k] * granule + c;
    cholmod_free_factor(&best, &factor->common);
    return status;
}

/* The symbolic factor of the matrix in this order (or a postordering of it). */
static tw_status analyse_matrix(tw_cholesky *factor, int *order)
{
    tw_triangle triangle;
    tw_status status = tw_triangle_create(&factor->pair, 1, &triangle);
    if (!status) {
        cholmod_sparse A = triangle_view(&triangle);
#ifdef TWANG_GPL
        /* CHOLMOD takes the simplicial code where supernodes would be narrow, as in a chain. */
        factor->common.supernodal = CHOLMOD_AUTO;
#endif
        factor->common.nmethods = 1;
        factor->common.method[0].ordering = CHOLMOD_GIVEN;
        factor->L = cholmod_analyze_p(&A, order, NULL, 0, &factor->common);
        status = tw_cholesky_status(factor);
    }
    tw_triangle_free(&triangle);
    return status;
}

/* The symbolic factor: the graph is ordered first, then the matrix is analysed in that order. */
static tw_status analyse(tw_cholesky *factor)
{
    const int granule = tw_matrix_pair_granule(&factor->pair);
    tw_triangle graph;
    int *order = NULL;
    tw_status status = tw_triangle_create(&factor->pair, granule, &graph);
    if (!status) {
        order = TW_NEW_ARRAY(factor->n, int);
        status = order ? order_graph(factor, &graph, granule, order) : TW_OUT_OF_MEMORY;
    }
    tw_triangle_free(&graph);

    if (!status) status = analyse_matrix(factor, order);
    tw_release(order);
    return status;
}

/* Makes CHOLMOD allocate all the memory it will ever need, so that later factorisations allocate
 * nothing. It factorises -I with the pattern of the matrix, which fails at the first pivot; from
 * here on, the blocks that it gives back are kept for the next factorisation. */
static tw_status rehearse(tw_cholesky *factor)
{
    tw_permuted *permuted = &factor->permuted;
    factor->memory.keep = true;

    for (int e = 0; e < permuted->triangle.entries; e++) permuted->values[e] = 0;
    for (int row = 0; row < permuted->triangle.n; row++)
        permuted->values[permuted->diagonal[row]] = -1;

    tw_status status = tw_cholesky_compute(factor);
    if (status == TW_NOT_POSITIVE_DEFINITE) return TW_OK;
    return status == TW_OK ? TW_INTERNAL : status;
}

/* What a factorisation and a solve cost, for the cost model of the phi-engines. */
static void describe(tw_cholesky *factor)
{
    const cholmod_factor *L = factor->L;
    factor->counts.factor_flops = factor->common.fl;
    factor->counts.factor_nonzeros = (int64_t)factor->common.lnz;

    /* A supernodal factor stores values alone, a simplicial one a row index with each. */
    double stored = factor->common.lnz;
    double per_entry = sizeof(double) + sizeof(int);
    if (L->is_super) {
        stored = (double)L->xsize;
        per_entry = sizeof(double);
    }

    /* L is read twice; the vector is permuted in and out and passed over by both substitutions. */
    factor->counts.solve_bytes = 2 * stored * per_entry + 8.0 * (double)factor->n * sizeof(double);
}

/* A factor below this size is made without asking whether the memory has room for it [bytes]. */
static const double SMALL_FACTOR = 1e8;

/* Whether the numbers of the factor fit into the memory. Asked before they are allocated: a system
 * that overcommits grants any memory, and ends the process when it is used. */
static tw_status check_room(tw_cholesky *factor)
{
    const cholmod_factor *L = factor->L;
    double entries = L->is_super ? (double)L->xsize : factor->common.lnz;
    factor->bytes = entries * sizeof(double);
    if (factor->bytes < SMALL_FACTOR) return TW_OK;
    return factor->bytes <= tw_available_memory() ? TW_OK : TW_OUT_OF_MEMORY;
}

/* Everything that depends on the pattern alone: order, symbolic factor and all memory. */
static tw_status prepare(tw_cholesky *factor)
{
    cholmod_start(&factor->common);
    factor->started = true;
    factor->common.print = 0;
    factor->common.try_catch = 1; /* an error is a status, not a call of a handler */
    factor->common.quick_return_if_not_posdef = 1;

    TW_TRY(analyse(factor));
    describe(factor);
    TW_TRY(check_room(factor));

    /* The supernodal code reads the lower triangle, the simplicial code the upper one. */
    const cholmod_factor *L = factor->L;
    TW_TRY(tw_permuted_create(&factor->pair, L->Perm, L->is_super, &factor->permuted));

    factor->solution = TW_NEW_ARRAY(factor->n * TW_MAX_BLOCK, double);
    factor->panel_rows = tw_cholesky_panel_rows(factor->L);
    factor->panel = TW_NEW_ARRAY(factor->panel_rows * TW_MAX_BLOCK * (TW_TREE_PARTS + 1), double);
    if (!factor->solution || !factor->panel) return TW_OUT_OF_MEMORY;
    TW_TRY(tw_cholesky_tree_create(factor->L, &factor->tree));
    return rehearse(factor);
}

static tw_status explain(const tw_cholesky *factor, tw_status status, tw_error *error)
{
    if (status == TW_UNSUPPORTED)
        return tw_fail(error, status,
                       "Cholesky: a matrix of %lld rows needs more than 2^31 - 1 entries",
                       (long long)factor->n);
    if (status == TW_OUT_OF_MEMORY && factor->bytes >= SMALL_FACTOR)
        return tw_fail(error, status,
                       "out of memory: the factor of a matrix of %lld rows takes %.3g GB and %.2g "
                       "operations, but %.3g GB are free, try linear_solver: pcg or an explicit "
                       "scheme",
                       (long long)factor->n, factor->bytes / 1e9, factor->counts.factor_flops,
                       tw_available_memory() / 1e9);
    return tw_fail_plain(error, status);
}

tw_status tw_cholesky_create(const tw_sparse *stiffness, const tw_sparse *mass_matrix,
                             tw_cholesky **out, tw_error *error)
{
    if (!out || !stiffness)
        return tw_fail(error, TW_INVALID_ARGUMENT, "Cholesky: the matrix is NULL");
    *out = NULL;
    if (mass_matrix && tw_sparse_size(mass_matrix) != tw_sparse_size(stiffness))
        return tw_fail(
            error, TW_INVALID_ARGUMENT, "Cholesky: the mass has %lld rows, the stiffness %lld",
            (long long)tw_sparse_size(mass_matrix), (long long)tw_sparse_size(stiffness));

    TW_TRY(tw_blas_reserve(error));
    tw_cholesky *factor = TW_NEW(tw_cholesky);
    if (!factor) return tw_fail_plain(error, TW_OUT_OF_MEMORY);
    factor->pair = (tw_matrix_pair){stiffness, mass_matrix};
    factor->n = tw_sparse_size(stiffness);

    /* Many small equal parts are solved together. */
    tw_status status = TW_OK;
    if (!mass_matrix) status = tw_batch_cholesky_create(stiffness, &factor->batches);
    if (factor->batches) tw_batch_cholesky_describe(factor->batches, &factor->counts);

    /* CHOLMOD has nothing to do for a matrix without rows. */
    if (!status && !factor->batches && factor->n > 0) {
        tw_solver_memory *previous = tw_solver_memory_enter(&factor->memory);
        status = prepare(factor);
        tw_solver_memory_leave(previous);
    }
    if (status) {
        explain(factor, status, error);
        tw_cholesky_free(factor);
        return status;
    }
    *out = factor;
    return TW_OK;
}

void tw_cholesky_free(tw_cholesky *factor)
{
    if (!factor) return;

    if (factor->started) {
        tw_solver_memory *previous = tw_solver_memory_enter(&factor->memory);
        cholmod_free_factor(&factor->L, &factor->common);
        cholmod_finish(&factor->common);
        tw_solver_memory_leave(previous);
        tw_solver_memory_drain(&factor->memory);
    }
    tw_batch_cholesky_free(factor->batches);
    tw_permuted_free(&factor->permuted);
    tw_release(factor->solution);
    tw_release(factor->panel);
    tw_cholesky_tree_free(&factor->tree);
    tw_release(factor);
}

tw_status tw_cholesky_factor(tw_cholesky *factor, double mass_factor, const double *lumped_mass,
                             double stiffness_factor)
{
    if (!factor || (lumped_mass && factor->pair.mass)) return TW_INVALID_ARGUMENT;
    factor->factored = false;
    factor->counts.factorisations++;

    /* A NaN would pass through CHOLMOD unnoticed. */
    tw_status status = TW_OK;
    if (factor->batches) {
        status =
            tw_batch_cholesky_factor(factor->batches, mass_factor, lumped_mass, stiffness_factor);
    } else if (factor->n > 0) {
        tw_permuted_gather(&factor->pair, &factor->permuted, mass_factor, lumped_mass,
                           stiffness_factor);
        if (!tw_vector_is_finite(factor->permuted.triangle.entries, factor->permuted.values))
            return TW_NOT_FINITE;
        status = tw_cholesky_compute(factor);
    }
    factor->factored = status == TW_OK;
    return status;
}

/* Brings `count` columns of n entries into the order of the factor, or back. */
typedef struct permute_job {
    const int *order;
    int64_t n;
    int count;
    const double *from;
    double *to;
} permute_job;

static void permute_in_block(void *context, int64_t begin, int64_t end, int64_t block)
{
    (void)block;
    const permute_job *job = context;
    for (int v = 0; v < job->count; v++)
        for (int64_t k = begin; k < end; k++)
            job->to[v * job->n + k] = job->from[v * job->n + job->order[k]];
}

static void permute_out_block(void *context, int64_t begin, int64_t end, int64_t block)
{
    (void)block;
    const permute_job *job = context;
    for (int v = 0; v < job->count; v++)
        for (int64_t k = begin; k < end; k++)
            job->to[v * job->n + job->order[k]] = job->from[v * job->n + k];
}

tw_status tw_cholesky_solve(tw_cholesky *factor, int count, const double *in, double *out)
{
    if (!factor || !factor->factored || count < 1 || count > TW_MAX_BLOCK || !in || !out)
        return TW_INVALID_ARGUMENT;
    factor->counts.solves += count;
    const int64_t n = factor->n;
    if (n == 0) return TW_OK;
    if (factor->batches) return tw_batch_cholesky_solve(factor->batches, count, in, out);

    /* A = P^T L L^T P: permute, substitute, permute back. */
    const int *order = factor->L->Perm;
    tw_parallel_for(n, PERMUTE_BLOCK, permute_in_block,
                    &(permute_job){order, n, count, in, factor->solution});
    tw_cholesky_substitute(factor, count);
    if (!tw_vector_is_finite(n * count, factor->solution)) return TW_NOT_FINITE;
    tw_parallel_for(n, PERMUTE_BLOCK, permute_out_block,
                    &(permute_job){order, n, count, factor->solution, out});
    return TW_OK;
}

tw_cholesky_counts tw_cholesky_counts_now(const tw_cholesky *factor)
{
    if (!factor) return (tw_cholesky_counts){0};
    return factor->counts;
}
