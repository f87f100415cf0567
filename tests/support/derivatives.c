#include "support/derivatives.h"

#include <math.h>
#include <stdlib.h>

#include "support/sparse_cases.h"

static void must(tw_status status)
{
    if (status != TW_OK) abort();
}

static double *vector(int64_t n)
{
    return test_allocate((size_t)n, sizeof(double));
}

double derivative_norm(int64_t n, const double *x)
{
    double sum = 0;
    for (int64_t i = 0; i < n; i++) sum += x[i] * x[i];
    return sqrt(sum);
}

void derivative_force(const tw_second_order_problem *p, const double *x, double *f)
{
    int64_t n = p->space.local_size;
    double *still = vector(n), *a = vector(n);
    for (int64_t i = 0; i < n; i++) still[i] = 0;
    must(p->acceleration(p->context, 0, x, still, a));
    if (p->mass)
        must(p->mass->apply(p->mass->context, 1, a, f));
    else
        for (int64_t i = 0; i < n; i++) f[i] = p->lumped_mass[i] * a[i];
    free(still);
    free(a);
}

static double *moved_by(int64_t n, const double *x, double s, const double *e)
{
    double *y = vector(n);
    for (int64_t i = 0; i < n; i++) y[i] = x[i] + s * e[i];
    return y;
}

static double potential(const tw_second_order_problem *p, double *x)
{
    double *still = vector(p->space.local_size), kinetic, energy;
    for (int64_t i = 0; i < p->space.local_size; i++) still[i] = 0;
    must(p->energy(p->context, 0, x, still, &kinetic, &energy));
    free(still);
    free(x);
    return energy;
}

double derivative_error_of_force(const tw_second_order_problem *p, const double *x, const double *e,
                                 double step)
{
    int64_t n = p->space.local_size;
    double high = potential(p, moved_by(n, x, step, e)),
           low = potential(p, moved_by(n, x, -step, e));
    double *f = vector(n), slope = 0;
    derivative_force(p, x, f);
    for (int64_t i = 0; i < n; i++) slope -= f[i] * e[i];
    double error =
        fabs((high - low) / (2 * step) - slope) / (derivative_norm(n, f) * derivative_norm(n, e));
    free(f);
    return error;
}

double derivative_error_of_tangent(const tw_second_order_problem *p, const double *x,
                                   const double *e, double step)
{
    int64_t n = p->space.local_size;
    double *above = moved_by(n, x, step, e), *below = moved_by(n, x, -step, e);
    double *high = vector(n), *low = vector(n), *product = vector(n);
    derivative_force(p, above, high);
    derivative_force(p, below, low);
    if (p->linearise) must(p->linearise(p->context, 0, x, NULL));
    must(p->apply_stiffness(p->context, 1, e, product));
    for (int64_t i = 0; i < n; i++) low[i] = -(high[i] - low[i]) / (2 * step) - product[i];
    double error = derivative_norm(n, low) / derivative_norm(n, product);
    free(above);
    free(below);
    free(high);
    free(low);
    free(product);
    return error;
}

double derivative_error_of_matrix(const tw_second_order_problem *p, const double *x,
                                  const double *e)
{
    int64_t n = p->space.local_size;
    double *product = vector(n), *matrix = vector(n);
    if (p->linearise) must(p->linearise(p->context, 0, x, NULL));
    must(p->apply_stiffness(p->context, 1, e, product));
    must(p->assemble(p->context, p->stiffness_matrix));
    must(tw_sparse_apply(p->stiffness_matrix, 1, e, matrix));
    for (int64_t i = 0; i < n; i++) matrix[i] -= product[i];
    double error = derivative_norm(n, matrix) / derivative_norm(n, product);
    free(product);
    free(matrix);
    return error;
}

double derivative_unbalanced(int64_t n, const double *x, const double *f)
{
    double sum[6] = {0}, size = 0, worst = 0;
    for (int64_t i = 0; i < n; i += 3)
        for (int k = 0; k < 3; k++) {
            int a = (k + 1) % 3, b = (k + 2) % 3;
            sum[k] += f[i + k];
            sum[3 + k] += x[i + a] * f[i + b] - x[i + b] * f[i + a];
            size += fabs(f[i + k]);
        }
    for (int k = 0; k < 6; k++) worst = fmax(worst, fabs(sum[k]));
    return worst / size;
}
