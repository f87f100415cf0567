/* Functions of a symmetric matrix in the coordinates of its eigenvectors, and what rounding did to
 * them. */
#include <float.h>
#include <math.h>

#include "phi/dense/phi_dense.h"

enum { TABLE = TW_DENSE_MAX_INPUTS * TW_DENSE_MAX_PARTS };

/* Rounding in the change to modal coordinates, in units of eps: two products with X of a few
 * roundings each. */
static const double MODAL_ROUNDING = 4;

typedef struct modal_tables {
    double *value;  /* n x (outputs * inputs): f_rq(lambda_i) */
    double *change; /* outputs x n: change of out_r[j] if lambda_j grows by the uncertainty */
} modal_tables;

size_t tw_dense_modal_scratch(int n)
{
    return (size_t)n * (TABLE + TW_DENSE_MAX_PARTS);
}

/* Values of f_r1, f_r2, ... at lambda_i. */
static const double *row_of(const tw_dense_modal_job *job, const modal_tables *tables, int i, int r)
{
    size_t row = (size_t)job->inputs * (size_t)job->outputs;
    return tables->value + (size_t)i * row + (size_t)r * (size_t)job->inputs;
}

/* sum_q table[q] in_q[j]. An entry that is zero contributes nothing even where its function
 * overflows. */
static double combine(const tw_dense_modal_job *job, const double *table, int j)
{
    double sum = 0;
    for (int q = 0; q < job->inputs; q++)
        if (job->in[q] && job->in[q][j] != 0) sum += table[q] * job->in[q][j];
    return sum;
}

/* The outputs, and how they change if an eigenvalue is off by the uncertainty. */
static void evaluate(const tw_dense_basis *basis, tw_dense_modal_job *job,
                     const modal_tables *tables)
{
    double shifted[TABLE];
    size_t row = (size_t)job->inputs * (size_t)job->outputs;

    for (int j = 0; j < basis->n; j++) {
        /* All functions at lambda_j, and at lambda_j + uncertainty. */
        double *table = tables->value + (size_t)j * row;
        job->functions(job->context, basis->lambda[j], table);
        job->functions(job->context, basis->lambda[j] + basis->uncertainty, shifted);

        for (int r = 0; r < job->outputs; r++) {
            size_t first = (size_t)r * (size_t)job->inputs;
            job->out[r][j] = combine(job, table + first, j);
            double moved = combine(job, shifted + first, j);
            tables->change[r * basis->n + j] = moved - job->out[r][j];
        }
    }
}

/* The largest magnitude that occurs: squares of numbers in this unit neither overflow nor
 * vanish. */
static double unit_of(const tw_dense_modal_job *job, int n, int r)
{
    double unit = 0;

    for (int j = 0; j < n; j++) {
        unit = fmax(unit, fabs(job->out[r][j]));
        for (int q = 0; q < job->inputs; q++)
            if (job->in[q]) unit = fmax(unit, fabs(job->in[q][j]));
    }
    return unit;
}

/* Rounding turns A into A + E, where E is in the eigenbasis a matrix of random entries of size
 * sigma. To first order (Daleckii and Krein) out_i changes by sum_j E_ij f[lambda_i, lambda_j]
 * in_j, which gives the square sum
 *     sigma^2 sum_ij ((h_ij - h_jj) / (lambda_i - lambda_j))^2,
 * where h_ij = sum_q f_q(lambda_i) in_q[j]. */
static double sensitivity(const tw_dense_basis *basis, const tw_dense_modal_job *job,
                          const modal_tables *tables, int r, double unit)
{
    int n = basis->n;
    double sigma = basis->uncertainty;
    double sum = 0;

    for (int j = 0; j < n; j++) {
        double here = job->out[r][j];
        double change = tables->change[r * n + j] / unit;

        for (int i = 0; i < n; i++) {
            /* Eigenvalues that coincide within sigma have the derivative instead of the difference
             * quotient. */
            double gap = basis->lambda[i] - basis->lambda[j];
            double difference = change;
            if (fabs(gap) > sigma)
                difference =
                    (combine(job, row_of(job, tables, i, r), j) - here) / gap * (sigma / unit);
            sum += difference * difference;
        }
    }
    return unit * sqrt(sum / n);
}

/* Rounding in the change to modal coordinates: a random error of size eps |in_q| in each,
 * multiplied by f_q. */
static double noise(const tw_dense_basis *basis, const tw_dense_modal_job *job,
                    const modal_tables *tables, int r, double unit)
{
    int n = basis->n;
    double sum = 0;
    for (int q = 0; q < job->inputs; q++) {
        if (!job->in[q]) continue;

        /* |in_q|^2, and the sum of f_q^2 over the spectrum. */
        double square = 0;
        double gain = 0;
        for (int j = 0; j < n; j++) {
            double entry = job->in[q][j] / unit;
            double function = row_of(job, tables, j, r)[q];
            square += entry * entry;
            gain += function * function;
        }

        if (square > 0) sum += square * gain / n;
    }
    return MODAL_ROUNDING * DBL_EPSILON * unit * sqrt(sum);
}

void tw_dense_modal(const tw_dense_basis *basis, tw_dense_modal_job *job, double *scratch)
{
    modal_tables tables = {.value = scratch, .change = scratch + (size_t)basis->n * TABLE};
    evaluate(basis, job, &tables);

    for (int r = 0; r < job->outputs; r++) {
        double unit = unit_of(job, basis->n, r);
        job->error[r] = 0;

        if (unit > 0)
            job->error[r] =
                sensitivity(basis, job, &tables, r, unit) + noise(basis, job, &tables, r, unit);
    }
}
