#include "phi_bench_case.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "problems/coil_state.h"
#include "support/random.h"

static tw_status take_vectors(phi_bench_case *c)
{
    c->length = c->second_order ? 2 * c->size : c->size;
    c->vector = calloc((size_t)c->length, sizeof(double));
    c->x = calloc((size_t)c->size, sizeof(double));
    c->v = calloc((size_t)c->size, sizeof(double));
    return c->vector && c->x && c->v ? TW_OK : TW_OUT_OF_MEMORY;
}

/* The system linearised at (x, v), with K assembled and factors of M + gamma K, and F = (v, a). */
static tw_status linearise(phi_bench_case *c, tw_error *error)
{
    const problem *p = &c->problem;
    p->linearise(p->context, c->x);
    tw_status status = problem_create_stiffness(p, TW_STORE_UPPER, &c->matrix, error);
    if (status) return status;
    problem_fill_stiffness(p, c->matrix);
    c->second = problem_second_order_assembled(p, c->matrix);
    c->omega = problem_frequency_max(p, 80);
    c->second.eigenvalue_max =
        1.02 * c->omega * c->omega; /* 80 Lanczos steps are below it by far less */
    memcpy(c->vector, c->v, (size_t)c->size * sizeof(double));
    p->acceleration(p->context, c->x, c->vector + c->size);
    status = tw_shifted_cholesky_create(c->matrix, NULL, p->lumped_mass, &c->shifted, error);
    if (!status) c->second.shifted = tw_shifted_cholesky_view(c->shifted);
    return status;
}

static tw_status make_fpu(phi_bench_case *c, double angle, bool quick, tw_error *error)
{
    c->second_order = true;
    c->chain = fpu_beta_create(quick ? 200 : 1000, 1);
    if (!c->chain) return TW_OUT_OF_MEMORY;
    c->problem = link_chain_problem(c->chain);
    c->size = c->problem.size;
    tw_status status = take_vectors(c);
    if (status) return status;
    memcpy(c->x, c->chain->initial_x, (size_t)c->size * sizeof(double));
    memcpy(c->v, c->chain->initial_v, (size_t)c->size * sizeof(double));
    status = linearise(c, error);
    c->time = angle / c->omega;
    return status;
}

static tw_status make_coil(phi_bench_case *c, double factor, bool quick, tw_error *error)
{
    c->second_order = true;
    coil_parameters parameters = coil_default();
    parameters.stiffness *= factor;
    if (quick) parameters.sections = 30;
    tw_status status = coil_create(parameters, &c->network);
    if (status) return status;
    c->problem = spring_network_problem(c->network);
    c->size = c->problem.size;
    status = take_vectors(c);
    if (!status) status = coil_state(parameters, quick ? 0.1 : 1, c->x, c->v, NULL);
    if (!status) status = linearise(c, error);
    c->time = 0.05;
    return status;
}

/* u_t = diffusion (u_xx + u_yy) - velocity . grad u on the unit square, zero around, upwind differences. */
static void fill_advection(phi_bench_case *c, int64_t n)
{
    const double diffusion = 0.02, velocity[2] = {4, 2}, h = 1.0 / (double)(n + 1),
                 second = diffusion / (h * h);
    const int64_t *start = tw_sparse_row_start(c->matrix);
    const int32_t *column = tw_sparse_column(c->matrix);
    double *values = tw_sparse_values(c->matrix);
    for (int64_t row = 0; row < n * n; row++) {
        for (int64_t k = start[row]; k < start[row + 1]; k++) {
            int64_t offset = column[k] - row;
            values[k] = second;
            if (offset == -1) values[k] += velocity[0] / h;
            if (offset == -n) values[k] += velocity[1] / h;
            if (offset == 0) values[k] = -4 * second - (velocity[0] + velocity[1]) / h;
        }
        int64_t i = row % n + 1, j = row / n + 1;
        double x = (double)i * h - 0.3, y = (double)j * h - 0.3;
        c->vector[row] = exp(-50 * (x * x + y * y));
    }
}

static tw_status make_advection(phi_bench_case *c, bool quick, tw_error *error)
{
    int64_t n = quick ? 20 : 100, stored = 0;
    c->size = n * n;
    c->time = 0.05;
    tw_status status = take_vectors(c);
    if (status) return status;
    int64_t *start = malloc((size_t)(c->size + 1) * sizeof *start),
            *column = malloc((size_t)(5 * c->size) * sizeof *column);
    if (!start || !column) status = TW_OUT_OF_MEMORY;
    for (int64_t row = 0; row < c->size && !status; row++) {
        start[row] = stored;
        if (row >= n) column[stored++] = row - n;
        if (row % n > 0) column[stored++] = row - 1;
        column[stored++] = row;
        if (row % n < n - 1) column[stored++] = row + 1;
        if (row < c->size - n) column[stored++] = row + n;
    }
    if (!status) {
        start[c->size] = stored;
        status = tw_sparse_create(1, c->size, start, column, TW_STORE_FULL, &c->matrix, error);
    }
    free(start);
    free(column);
    if (status) return status;
    fill_advection(c, n);
    c->first = tw_sparse_operator(c->matrix);
    return TW_OK;
}

static tw_status apply_full(void *context, int count, const double *in, double *out)
{
    const phi_bench_case *c = context;
    int64_t n = c->size;
    memset(out, 0, (size_t)(count * n) * sizeof *out);
    for (int k = 0; k < count; k++)
        for (int64_t j = 0; j < n; j++)
            for (int64_t i = 0; i < n; i++) out[k * n + i] += c->full[i + j * n] * in[k * n + j];
    return TW_OK;
}

static tw_status make_dense(phi_bench_case *c, bool quick)
{
    test_random random = {11};
    c->size = quick ? 60 : 200;
    c->time = 30;
    tw_status status = take_vectors(c);
    c->full = malloc((size_t)(c->size * c->size) * sizeof(double));
    if (status || !c->full) return TW_OUT_OF_MEMORY;
    for (int64_t i = 0; i < c->size * c->size; i++)
        c->full[i] =
            test_random_normal(&random) / sqrt((double)c->size) - (i % (c->size + 1) == 0 ? 1 : 0);
    for (int64_t i = 0; i < c->size; i++) c->vector[i] = test_random_normal(&random);
    c->first = (tw_operator){.space = {.local_size = c->size}, .apply = apply_full, .context = c};
    c->first.bytes_per_product = 8.0 * (double)(c->size * c->size);
    return TW_OK;
}

tw_status phi_bench_case_create(const char *name, bool quick, phi_bench_case *c, tw_error *error)
{
    *c = (phi_bench_case){.name = name};
    tw_status status = TW_INVALID_ARGUMENT;
    if (strcmp(name, "fpu-20") == 0) status = make_fpu(c, 20, quick, error);
    if (strcmp(name, "fpu-100") == 0) status = make_fpu(c, 100, quick, error);
    if (strcmp(name, "coil") == 0) status = make_coil(c, 1, quick, error);
    if (strcmp(name, "coil-x100") == 0) status = make_coil(c, 100, quick, error);
    if (strcmp(name, "coil-x10000") == 0) status = make_coil(c, 1e4, quick, error);
    if (strcmp(name, "advection") == 0) status = make_advection(c, quick, error);
    if (strcmp(name, "dense") == 0) status = make_dense(c, quick);
    if (status) phi_bench_case_free(c);
    return status ? tw_fail(error, status, "case %s: %s", name, tw_status_text(status)) : TW_OK;
}

void phi_bench_case_free(phi_bench_case *c)
{
    tw_shifted_cholesky_free(c->shifted);
    tw_sparse_free(c->matrix);
    link_chain_free(c->chain);
    spring_network_free(c->network);
    free(c->full);
    free(c->vector);
    free(c->x);
    free(c->v);
    *c = (phi_bench_case){0};
}

double phi_bench_norm(const phi_bench_case *c, int part, const double *vector)
{
    const double *mass = c->second_order ? c->second.lumped_mass : NULL;
    double sum = 0;
    for (int64_t i = 0; i < c->size; i++) {
        double entry = vector[part * c->size + i];
        sum += (mass ? mass[i] : 1) * entry * entry;
    }
    return sqrt(sum);
}
