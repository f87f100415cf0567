/* The stiffness matrix of a small problem that gives none.
 *
 * Implicit schemes and shift-invert factorise M + gamma K. A problem that consists of an acceleration
 * alone has no pattern, and its matrix stores every entry of the upper triangle. A column costs one
 * evaluation of the acceleration, or one product where the problem gives products with K. */
#include "base/allocate.h"
#include "base/fail.h"
#include "base/log_line.h"
#include "integrators/system.h"
#include "linalg/vector.h"

/* The pattern of a full upper triangle: row i has the columns i .. n - 1. */
static tw_status create_triangle(int64_t n, tw_sparse **matrix, tw_error *error)
{
    int64_t *start = TW_NEW_ARRAY(n + 1, int64_t);
    int64_t *column = TW_NEW_ARRAY(n * (n + 1) / 2, int64_t);
    tw_status status = TW_OUT_OF_MEMORY;

    if (start && column) {
        int64_t count = 0;
        for (int64_t i = 0; i < n; i++) {
            start[i] = count;
            for (int64_t j = i; j < n; j++) column[count++] = j;
        }
        start[n] = count;
        status = tw_sparse_create(1, n, start, column, TW_STORE_UPPER, matrix, error);
    } else {
        tw_fail_plain(error, status);
    }

    tw_release(start);
    tw_release(column);
    return status;
}

tw_status tw_system_make_matrix(tw_system *system, tw_error *error)
{
    if (system->n > TW_LARGEST_OWN_MATRIX)
        return tw_fail(
            error, TW_UNSUPPORTED,
            "a factorisation of more than %d unknowns needs a stiffness_matrix: give its "
            "pattern, and its values are made by differences",
            TW_LARGEST_OWN_MATRIX);

    TW_TRY(create_triangle(system->n, &system->own_matrix, error));
    if (tw_system_prepare_differences(system, NULL) != TW_OK)
        return tw_fail_plain(error, TW_OUT_OF_MEMORY);
    system->second.stiffness_matrix = system->own_matrix;
    system->pair.stiffness.bytes_per_product = tw_sparse_bytes_per_product(system->own_matrix);
    tw_log_line(TW_LOG_INFO, "no stiffness_matrix given: all %lld x %lld entries are computed",
                (long long)system->n, (long long)system->n);
    return TW_OK;
}

/* Column j of K: a product with a unit vector, or a difference. */
static tw_status find_column(tw_system *system, int64_t j, double *column)
{
    bool has_products = system->symmetric || system->second.apply_stiffness;
    if (!has_products) return tw_system_stiffness_column(system, j, column);

    tw_vector_fill(system->n, 0.0, system->moved);
    system->moved[j] = 1;
    return tw_system_stiffness(system, 1, system->moved, column);
}

tw_status tw_system_fill_own_matrix(tw_system *system)
{
    const int64_t *start = tw_sparse_row_start(system->own_matrix);
    double *values = tw_sparse_values(system->own_matrix);

    for (int64_t j = 0; j < system->n; j++) {
        TW_TRY(find_column(system, j, system->difference));

        /* Entry (i, j) is the one number j - i of row i. */
        for (int64_t i = 0; i <= j; i++) values[start[i] + j - i] = system->difference[i];
    }
    return TW_OK;
}
