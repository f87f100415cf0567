/* Sparse Cholesky: solutions, statuses, silence, memory. */
#define _POSIX_C_SOURCE 200809L
#include <float.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <twang/twang.h>
#include <unistd.h>

#include "linalg/cholesky_internal.h"
#include "support/failing_allocator.h"
#include "support/run_suite.h"
#include "support/sparse_cases.h"

#ifdef TWANG_GPL
enum { SUPERNODAL_IS_ALLOWED = 1 };
#else
enum { SUPERNODAL_IS_ALLOWED = 0 };
#endif

/* A solid, which is factorised supernodally, and a chain, which is not worth it. */
static const test_lattice solid3 = {8, 8, 9, 3, 0.01}, solid1 = {10, 10, 11, 1, 0.01};
static const test_lattice chain3 = {40, 1, 1, 3, 0.5}, chain1 = {100, 1, 1, 1, 0.01},
                          point = {1, 1, 1, 3, 2};
static const test_lattice *const lattices[] = {&solid3, &solid1, &chain3, &chain1, &point};
enum { LATTICES = sizeof lattices / sizeof *lattices };

static tw_cholesky *create_factor(const tw_sparse *K, const tw_sparse *M)
{
    tw_cholesky *factor = NULL;
    tw_error error = {0};
    ck_assert_msg(tw_cholesky_create(K, M, &factor, &error) == TW_OK, "%s", error.text);
    return factor;
}

static double largest(int64_t n, const double *x)
{
    double most = 0;
    for (int64_t i = 0; i < n; i++) most = fmax(most, fabs(x[i]));
    return most;
}

/* max |b - (a M + b K) x| / max |b|, with M the matrix, the lumped masses or the identity */
static double residual(const tw_cholesky *factor, double a, const double *lumped, double b,
                       const double *x, const double *rhs)
{
    const int64_t n = factor->n;
    double *Kx = test_allocate((size_t)n, sizeof *Kx), *Mx = test_allocate((size_t)n, sizeof *Mx);
    ck_assert_int_eq(tw_sparse_apply(factor->pair.stiffness, 1, x, Kx), TW_OK);
    for (int64_t i = 0; i < n; i++) Mx[i] = (lumped ? lumped[i] : 1) * x[i];
    if (factor->pair.mass) ck_assert_int_eq(tw_sparse_apply(factor->pair.mass, 1, x, Mx), TW_OK);
    for (int64_t i = 0; i < n; i++) Kx[i] = rhs[i] - a * Mx[i] - b * Kx[i];
    double result = largest(n, Kx) / largest(n, rhs);
    free(Kx), free(Mx);
    return result;
}

static void check_solves(tw_cholesky *factor, double a, const double *lumped, double b)
{
    test_random random = {5};
    const int64_t n = factor->n;
    for (int count = 1; count <= TW_MAX_BLOCK; count++) {
        double *rhs = test_random_vector(&random, n * count),
               *x = test_random_vector(&random, n * count + 1);
        x[n * count] = 777;
        ck_assert_int_eq(tw_cholesky_solve(factor, count, rhs, x), TW_OK);
        ck_assert(x[n * count] == 777);
        for (int v = 0; v < count; v++)
            ck_assert_double_lt(residual(factor, a, lumped, b, x + v * n, rhs + v * n), 1e-11);
        ck_assert_int_eq(tw_cholesky_solve(factor, count, rhs, rhs), TW_OK);
        ck_assert_mem_eq(x, rhs, (size_t)(n * count) * sizeof(double));
        free(rhs), free(x);
    }
}

START_TEST(solutions_satisfy_the_equations)
{
    test_random random = {9};
    for (int k = 0; k < LATTICES; k++)
        for (tw_sparse_storage storage = TW_STORE_FULL; storage <= TW_STORE_UPPER; storage++) {
            tw_sparse *K = test_lattice_matrix(lattices[k], storage);
            double *lumped = test_random_vector(&random, tw_sparse_size(K));
            for (int64_t i = 0; i < tw_sparse_size(K); i++) lumped[i] = fabs(lumped[i]) + 0.1;
            tw_cholesky *factor = create_factor(K, NULL);
            ck_assert_int_eq(tw_cholesky_factor(factor, 0, NULL, 1), TW_OK);
            check_solves(factor, 0, NULL, 1);
            ck_assert_int_eq(tw_cholesky_factor(factor, 2, NULL, 0.5), TW_OK);
            check_solves(factor, 2, NULL, 0.5);
            tw_sparse_values(K)[0] += 1; /* new values, old pattern */
            ck_assert_int_eq(tw_cholesky_factor(factor, 3, lumped, 10), TW_OK);
            check_solves(factor, 3, lumped, 10);
            ck_assert_int_eq(tw_cholesky_counts_now(factor).factorisations, 3);
            ck_assert_int_eq(tw_cholesky_counts_now(factor).solves, 3 * 2 * (1 + 2 + 3 + 4));
            free(lumped);
            tw_cholesky_free(factor);
            tw_sparse_free(K);
        }
}
END_TEST

START_TEST(solids_are_supernodal_and_chains_are_not)
{
    for (int k = 0; k < LATTICES; k++) {
        tw_sparse *K = test_lattice_matrix(lattices[k], TW_STORE_UPPER);
        tw_cholesky *factor = create_factor(K, NULL);
        if (lattices[k]->ny == 1) ck_assert(!factor->L->is_super);
        if (lattices[k] == &solid3) ck_assert_int_eq(factor->L->is_super, SUPERNODAL_IS_ALLOWED);
        tw_cholesky_free(factor);
        tw_sparse_free(K);
    }
}
END_TEST

/* Entries of L in one part of the tree, or in the top. */
static double part_work(const tw_cholesky *factor, int part)
{
    const int *super = factor->L->super;
    const int *row_start = factor->L->pi;
    double work = 0;
    for (int i = factor->tree.start[part]; i < factor->tree.start[part + 1]; i++) {
        int s = factor->tree.order[i];
        work += (double)(super[s + 1] - super[s]) * (row_start[s + 1] - row_start[s]);
    }
    return work;
}

/* A bar falls into two halves of nearly equal work, and they lead to the same bits on any number of
 * threads. */
START_TEST(a_long_solid_is_substituted_in_parts)
{
    static const test_lattice bar = {5, 5, 120, 3, 0.01};
    tw_sparse *K = test_lattice_matrix(&bar, TW_STORE_UPPER);
    tw_cholesky *factor = create_factor(K, NULL);
    ck_assert_int_eq(tw_cholesky_factor(factor, 1, NULL, 1), TW_OK);
    check_solves(factor, 1, NULL, 1);

    /* The top is small, and the first and the second half of the parts have about the same work. */
    double top = part_work(factor, TW_TREE_PARTS);
    double halves[2] = {0, 0};
    for (int part = 0; part < TW_TREE_PARTS; part++)
        halves[2 * part / TW_TREE_PARTS] += part_work(factor, part);
    double all = top + halves[0] + halves[1];
    ck_assert_double_eq(all, (double)factor->L->xsize);
    ck_assert_double_lt(top, 0.1 * all);
    ck_assert_double_lt(halves[0], 0.55 * all);
    ck_assert_double_lt(halves[1], 0.55 * all);

    /* One thread, two, three and more than there are parts. */
    test_random random = {11};
    size_t bytes = (size_t)(factor->n * TW_MAX_BLOCK) * sizeof(double);
    double *b = test_random_vector(&random, factor->n * TW_MAX_BLOCK);
    double *alone = test_allocate(1, bytes);
    double *together = test_allocate(1, bytes);
    tw_set_threads(1);
    ck_assert_int_eq(tw_cholesky_solve(factor, TW_MAX_BLOCK, b, alone), TW_OK);
    static const int threads[] = {2, 3, TW_TREE_PARTS + 3};
    for (size_t i = 0; i < sizeof threads / sizeof *threads; i++) {
        tw_set_threads(threads[i]);
        ck_assert_int_eq(tw_cholesky_solve(factor, TW_MAX_BLOCK, b, together), TW_OK);
        ck_assert_mem_eq(alone, together, bytes);
    }
    tw_set_threads(0);

    free(b);
    free(alone);
    free(together);
    tw_cholesky_free(factor);
    tw_sparse_free(K);
}
END_TEST

START_TEST(mass_matrix_of_another_pattern_and_block_is_added)
{
    tw_sparse *K = test_lattice_matrix(&solid3, TW_STORE_UPPER);
    const int64_t n = tw_sparse_size(K);
    test_random random = {2};
    for (int block = 1; block <= 3; block += 2)
        for (tw_sparse_storage storage = TW_STORE_FULL; storage <= TW_STORE_UPPER; storage++) {
            /* Few entries of modulus below 1, mostly where K has none, beside a dominant diagonal. */
            tw_sparse *sparse =
                test_random_sparse(&random, block, n / block, 2.0 / (double)n, TW_STORE_UPPER);
            tw_sparse *M = storage == TW_STORE_UPPER ? sparse : test_full_of_upper(sparse);
            tw_cholesky *factor = create_factor(K, M);
            ck_assert_int_eq(tw_cholesky_factor(factor, 1e-3, NULL, 1), TW_OK);
            check_solves(factor, 1e-3, NULL, 1);
            double one = 1;
            ck_assert_int_eq(tw_cholesky_factor(factor, 1, &one, 1), TW_INVALID_ARGUMENT);
            tw_cholesky_free(factor);
            if (M != sparse) tw_sparse_free(M);
            tw_sparse_free(sparse);
        }
    tw_sparse_free(K);
}
END_TEST

/* Runs with standard output and error in a file; returns how many bytes it wrote there. */
static long written_by(void (*action)(void *), void *context)
{
    FILE *file = tmpfile();
    fflush(stdout);
    fflush(stderr);
    int out = dup(1), err = dup(2);
    dup2(fileno(file), 1);
    dup2(fileno(file), 2);
    action(context);
    fflush(stdout);
    fflush(stderr);
    dup2(out, 1);
    dup2(err, 2);
    close(out);
    close(err);
    fseek(file, 0, SEEK_END);
    long bytes = ftell(file);
    fclose(file);
    return bytes;
}

static void factor_indefinite(void *context)
{
    tw_cholesky *factor = context;
    double *x = test_allocate((size_t)factor->n, sizeof *x);
    ck_assert_int_eq(tw_cholesky_factor(factor, 1, NULL, -1), TW_NOT_POSITIVE_DEFINITE);
    ck_assert_int_eq(tw_cholesky_solve(factor, 1, x, x), TW_INVALID_ARGUMENT);
    ck_assert_int_eq(tw_cholesky_factor(factor, 0, NULL, 0), TW_NOT_POSITIVE_DEFINITE);
    free(x);
}

START_TEST(indefinite_is_a_status_and_silent)
{
    for (int k = 0; k < LATTICES; k++) {
        tw_sparse *K = test_lattice_matrix(lattices[k], TW_STORE_UPPER);
        tw_cholesky *factor = create_factor(K, NULL);
        ck_assert_int_eq(written_by(factor_indefinite, factor), 0);
        ck_assert_int_eq(tw_cholesky_factor(factor, 0, NULL, 1), TW_OK); /* and it recovers */
        check_solves(factor, 0, NULL, 1);
        tw_cholesky_free(factor);
        tw_sparse_free(K);
    }
}
END_TEST

START_TEST(not_finite_is_a_status)
{
    for (int k = 0; k < LATTICES; k++) {
        tw_sparse *K = test_lattice_matrix(lattices[k], TW_STORE_UPPER);
        tw_cholesky *factor = create_factor(K, NULL);
        double *x = test_allocate((size_t)factor->n, sizeof *x);
        ck_assert_int_eq(tw_cholesky_factor(factor, NAN, NULL, 1), TW_NOT_FINITE);
        ck_assert_int_eq(tw_cholesky_factor(factor, 1, NULL, INFINITY), TW_NOT_FINITE);
        ck_assert_int_eq(tw_cholesky_factor(factor, 1, NULL, 1), TW_OK);
        x[0] = NAN;
        ck_assert_int_eq(tw_cholesky_solve(factor, 1, x, x), TW_NOT_FINITE);
        tw_sparse_values(K)[0] = -INFINITY;
        ck_assert_int_eq(tw_cholesky_factor(factor, 1, NULL, 1), TW_NOT_FINITE);
        free(x);
        tw_cholesky_free(factor);
        tw_sparse_free(K);
    }
}
END_TEST

START_TEST(wrong_use_is_refused)
{
    tw_sparse *K = test_lattice_matrix(&chain1, TW_STORE_FULL),
              *M = test_lattice_matrix(&chain3, TW_STORE_FULL);
    tw_cholesky *factor = NULL;
    tw_error error = {0};
    ck_assert_int_eq(tw_cholesky_create(NULL, NULL, &factor, NULL), TW_INVALID_ARGUMENT);
    ck_assert_int_eq(tw_cholesky_create(K, NULL, NULL, NULL), TW_INVALID_ARGUMENT);
    ck_assert_int_eq(tw_cholesky_create(K, M, &factor, &error), TW_INVALID_ARGUMENT);
    ck_assert_ptr_nonnull(strstr(error.text, "the mass has 120 rows, the stiffness 100"));
    factor = create_factor(K, NULL);
    double x[100] = {0};
    ck_assert_int_eq(tw_cholesky_solve(factor, 1, x, x), TW_INVALID_ARGUMENT);
    ck_assert_int_eq(tw_cholesky_factor(factor, 1, NULL, 1), TW_OK);
    ck_assert_int_eq(tw_cholesky_solve(factor, 0, x, x), TW_INVALID_ARGUMENT);
    ck_assert_int_eq(tw_cholesky_solve(factor, TW_MAX_BLOCK + 1, x, x), TW_INVALID_ARGUMENT);
    tw_cholesky_free(factor);
    tw_cholesky_free(NULL);
    tw_sparse_free(K);
    tw_sparse_free(M);
}
END_TEST

START_TEST(an_empty_matrix_is_factored)
{
    int64_t none = 0;
    tw_sparse *K = NULL;
    double x = 1;
    ck_assert_int_eq(tw_sparse_create(3, 0, &none, NULL, TW_STORE_UPPER, &K, NULL), TW_OK);
    tw_cholesky *factor = create_factor(K, NULL);
    ck_assert_int_eq(tw_cholesky_factor(factor, 1, NULL, 1), TW_OK);
    ck_assert_int_eq(tw_cholesky_solve(factor, 2, &x, &x), TW_OK);
    tw_cholesky_free(factor);
    tw_sparse_free(K);
}
END_TEST

static tw_status create_factor_solve(void *context)
{
    tw_sparse *const *matrix = context;
    const int64_t n = tw_sparse_size(matrix[0]);
    tw_cholesky *factor = NULL;
    tw_error error = {0};
    tw_status status = tw_cholesky_create(matrix[0], matrix[1], &factor, &error);
    ck_assert_int_eq(error.status, status);
    if (!status) {
        double *x = test_allocate((size_t)n * TW_MAX_BLOCK, sizeof *x);
        x[0] = 1;
        status = tw_cholesky_factor(factor, 1, NULL, 1);
        if (!status) status = tw_cholesky_solve(factor, TW_MAX_BLOCK, x, x);
        free(x);
    }
    tw_cholesky_free(factor);
    return status;
}

START_TEST(every_allocation_may_fail)
{
    for (int k = 0; k < LATTICES; k++) {
        tw_sparse *K = test_lattice_matrix(lattices[k], TW_STORE_UPPER);
        tw_sparse *matrices[] = {K, k & 1 ? K : NULL};
        int refused = test_fail_each_allocation(create_factor_solve, matrices);
        ck_assert_int_gt(refused, 30); /* CHOLMOD's own are among them */
        tw_sparse_free(K);
    }
}
END_TEST

START_TEST(factor_and_solve_allocate_nothing)
{
    test_random random = {8};
    for (int k = 0; k < LATTICES; k++) {
        tw_sparse *K = test_lattice_matrix(lattices[k], TW_STORE_UPPER);
        tw_cholesky *factor = create_factor(K, NULL);
        double *x = test_random_vector(&random, factor->n * TW_MAX_BLOCK);
        tw_memory_counts before = tw_memory_counts_now();
        for (int repeat = 0; repeat < 3; repeat++) {
            ck_assert_int_eq(tw_cholesky_factor(factor, 1, NULL, -1), TW_NOT_POSITIVE_DEFINITE);
            ck_assert_int_eq(tw_cholesky_factor(factor, 1, NULL, 1 + repeat), TW_OK);
            for (int count = TW_MAX_BLOCK; count >= 1; count--)
                ck_assert_int_eq(tw_cholesky_solve(factor, count, x, x), TW_OK);
        }
        tw_memory_counts after = tw_memory_counts_now();
        ck_assert_int_eq(after.allocations, before.allocations);
        ck_assert_int_eq(after.releases, before.releases);
        free(x);
        tw_cholesky_free(factor);
        tw_sparse_free(K);
    }
}
END_TEST

/* An application's own use of SuiteSparse keeps its memory, before and after ours. */
START_TEST(an_applications_own_suitesparse_is_left_alone)
{
    cholmod_common own;
    cholmod_start(&own);
    cholmod_dense *early = cholmod_zeros(1000, 1, CHOLMOD_REAL, &own);
    tw_sparse *K = test_lattice_matrix(&solid3, TW_STORE_UPPER);
    tw_cholesky *factor = create_factor(K, NULL);
    int64_t before = tw_memory_counts_now().allocations;
    cholmod_free_dense(&early, &own);
    cholmod_dense *late = cholmod_zeros(1000, 1, CHOLMOD_REAL, &own);
    ck_assert_int_eq(tw_memory_counts_now().allocations, before);
    tw_cholesky_free(factor);
    cholmod_free_dense(&late, &own);
    cholmod_finish(&own);
    tw_sparse_free(K);
}
END_TEST

static atomic_int terminations;
static atomic_bool is_analysed;

static void count_termination(int number)
{
    (void)number;
    atomic_fetch_add(&terminations, 1);
}

/* Sends SIGTERM to a thread all the time. */
static void *send_terminations(void *thread)
{
    const struct timespec pause = {.tv_nsec = 20000};
    while (!atomic_load(&is_analysed)) {
        /* NOLINTNEXTLINE(bugprone-bad-signal-to-kill-thread,cert-pos44-c) */
        pthread_kill(*(pthread_t *)thread, SIGTERM);
        nanosleep(&pause, NULL);
    }
    return NULL;
}

/* METIS catches SIGTERM: the program's own handler gets it all the same, and the order stays. */
START_TEST(a_signal_does_not_change_the_analysis)
{
    tw_sparse *K = test_lattice_matrix(&solid3, TW_STORE_UPPER);
    tw_cholesky *undisturbed = create_factor(K, NULL);
    const double nonzeros = (double)tw_cholesky_counts_now(undisturbed).factor_nonzeros;

    pthread_t self = pthread_self();
    pthread_t sender;
    struct sigaction action = {.sa_handler = count_termination};
    ck_assert_int_eq(sigaction(SIGTERM, &action, NULL), 0);
    ck_assert_int_eq(pthread_create(&sender, NULL, send_terminations, &self), 0);
    for (int k = 0; k < 100 || atomic_load(&terminations) < 100; k++) {
        tw_cholesky *factor = create_factor(K, NULL);
        ck_assert_double_eq((double)tw_cholesky_counts_now(factor).factor_nonzeros, nonzeros);
        ck_assert_mem_eq(factor->L->Perm, undisturbed->L->Perm, sizeof(int) * (size_t)factor->n);
        tw_cholesky_free(factor);
    }
    atomic_store(&is_analysed, true);
    pthread_join(sender, NULL);

    tw_cholesky_free(undisturbed);
    tw_sparse_free(K);
}
END_TEST

START_TEST(counts_are_plausible)
{
    tw_sparse *K = test_lattice_matrix(&solid3, TW_STORE_UPPER);
    tw_cholesky *factor = create_factor(K, NULL);
    tw_cholesky_counts counts = tw_cholesky_counts_now(factor);
    const double n = (double)factor->n, nonzeros = (double)counts.factor_nonzeros;
    ck_assert_double_gt(nonzeros, (double)factor->permuted.triangle.entries);
    ck_assert_double_lt(nonzeros, n * (n + 1) / 2);
    ck_assert_double_gt(counts.factor_flops, nonzeros);
    ck_assert_double_lt(counts.factor_flops, n * n * n / 3);
    ck_assert_double_gt(counts.solve_bytes, 16 * nonzeros);
    ck_assert_int_eq(counts.factorisations, 0);
    ck_assert_int_eq(counts.solves, 0);
    tw_cholesky_free(factor);
    tw_sparse_free(K);
}
END_TEST

START_TEST(shifted_solver_refactors_only_when_it_must)
{
    tw_sparse *K = test_lattice_matrix(&solid3, TW_STORE_UPPER);
    test_random random = {4};
    const int64_t n = tw_sparse_size(K);
    double *mass = test_random_vector(&random, n), *b = test_random_vector(&random, n),
           *x = test_random_vector(&random, n);
    for (int64_t i = 0; i < n; i++) mass[i] = 1 + fabs(mass[i]);
    tw_shifted_cholesky *solver = NULL;
    ck_assert_int_eq(tw_shifted_cholesky_create(K, K, mass, &solver, NULL), TW_INVALID_ARGUMENT);
    ck_assert_int_eq(tw_shifted_cholesky_create(K, NULL, mass, NULL, NULL), TW_INVALID_ARGUMENT);
    ck_assert_int_eq(tw_shifted_cholesky_create(K, NULL, mass, &solver, NULL), TW_OK);
    const tw_shifted_solver *view = tw_shifted_cholesky_view(solver);
    ck_assert_int_eq(view->solve(view->context, 1, b, x), TW_INVALID_ARGUMENT);
    const double gammas[] = {0.5, 0.5, 0.25, 0.25, 0.5};
    const int64_t expected[] = {1, 1, 2, 2, 3};
    for (int k = 0; k < 5; k++) {
        ck_assert_int_eq(view->factor(view->context, gammas[k]), TW_OK);
        ck_assert_int_eq(*view->factorisations, expected[k]);
    }
    tw_shifted_cholesky_invalidate(solver);
    ck_assert_int_eq(view->factor(view->context, 0.5), TW_OK);
    ck_assert_int_eq(*view->factorisations, 4);
    ck_assert_int_eq(view->solve(view->context, 1, b, x), TW_OK);
    double *Kx = test_allocate((size_t)n, sizeof *Kx);
    ck_assert_int_eq(tw_sparse_apply(K, 1, x, Kx), TW_OK);
    for (int64_t i = 0; i < n; i++)
        ck_assert_double_eq_tol(mass[i] * x[i] + 0.5 * Kx[i], b[i], 1e-13);
    ck_assert_int_eq(view->factor(view->context, 0), TW_INVALID_ARGUMENT);
    ck_assert_int_eq(view->factor(view->context, NAN), TW_INVALID_ARGUMENT);
    ck_assert_double_gt(view->factor_flops, 0);
    ck_assert_double_gt(view->solve_bytes, 0);
    /* A failed factorisation is not taken for the one asked for again. */
    tw_sparse_values(K)[0] = -1e6;
    tw_shifted_cholesky_invalidate(solver);
    for (int k = 0; k < 2; k++)
        ck_assert_int_eq(view->factor(view->context, 0.5), TW_NOT_POSITIVE_DEFINITE);
    ck_assert_int_eq(tw_shifted_cholesky_counts(solver).factorisations, 6);
    tw_shifted_cholesky_free(solver);
    tw_shifted_cholesky_free(NULL);
    tw_sparse_free(K);
    free(mass), free(b), free(x), free(Kx);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("cholesky");
    TCase *cases = tcase_create("cholesky");
    tcase_add_test(cases, solutions_satisfy_the_equations);
    tcase_add_test(cases, solids_are_supernodal_and_chains_are_not);
    if (SUPERNODAL_IS_ALLOWED) tcase_add_test(cases, a_long_solid_is_substituted_in_parts);
    tcase_add_test(cases, mass_matrix_of_another_pattern_and_block_is_added);
    tcase_add_test(cases, indefinite_is_a_status_and_silent);
    tcase_add_test(cases, not_finite_is_a_status);
    tcase_add_test(cases, wrong_use_is_refused);
    tcase_add_test(cases, an_empty_matrix_is_factored);
    tcase_add_test(cases, every_allocation_may_fail);
    tcase_add_test(cases, factor_and_solve_allocate_nothing);
    tcase_add_test(cases, an_applications_own_suitesparse_is_left_alone);
    tcase_add_test(cases, a_signal_does_not_change_the_analysis);
    tcase_add_test(cases, counts_are_plausible);
    tcase_add_test(cases, shifted_solver_refactors_only_when_it_must);
    suite_add_tcase(suite, cases);
    return run_suite(suite);
}
