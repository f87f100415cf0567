/* The dense engine on problems that are not symmetric. sum_k phi_k(tau Z) v_k is exp(tau Z) v_0
 * plus the last column of
 *     exp [[tau Z, W], [0, J]],  W = (v_p, ..., v_1),  J the p x p shift
 * (Sidje 1998; Al-Mohy and Higham 2011), for each node by itself. The computation is repeated with
 * every entry of Z off by about one unit in the last place: the difference shows what double
 * precision cannot know. */
#include <float.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "base/fail.h"
#include "base/start_vector.h"
#include "linalg/dense.h"
#include "linalg/vector.h"
#include "phi/dense/phi_dense.h"
#include "phi/scalar_functions.h"

/* The true error is seldom more than four times the difference, as measured in
 * tests/test_phi_dense.c and tests/test_phi_engines.c. */
static const double SAFETY = 4;

/* out = sum_k phi_k(tau Z) v_k for a general d x d matrix Z in one or two blocks of entries. */
typedef struct general_job {
    int d;
    int order;
    int split; /* entries of the first block; the second has d - split, maybe none */
    const double *Z;
    const double *vectors; /* order + 1 columns of d entries, none larger than about 1 */
    double tau;
    double *out;
    double error[TW_DENSE_MAX_PARTS]; /* result: estimate of each block's error */
} general_job;

typedef struct general_work {
    double *augmented;
    double *exponential;
    double *expm_scratch;
    double *second; /* result with the perturbed matrix */
} general_work;

static int augmented_order(int d)
{
    return d + TW_PHI_MAX_ORDER;
}

size_t tw_dense_general_scratch(int d)
{
    size_t m = (size_t)augmented_order(d);
    return 2 * m * m + tw_dense_expm_scratch((int)m) + (size_t)d;
}

static general_work divide_scratch(int d, double *scratch)
{
    size_t m = (size_t)augmented_order(d);
    general_work work = {
        .augmented = scratch, .exponential = scratch + m * m, .expm_scratch = scratch + 2 * m * m};
    work.second = work.expm_scratch + tw_dense_expm_scratch((int)m);
    return work;
}

/* ---- one node ---- */

/* A repeatable factor 1 + eps s, where s is in [-1.5, -0.5] or [0.5, 1.5]. */
static double perturbation(uint64_t index)
{
    uint64_t bits = tw_random_bits(index);
    double size = 0.5 + (double)(bits >> 12) * 0x1p-52;
    return 1 + DBL_EPSILON * (bits & 1 ? size : -size);
}

static void fill_augmented(const general_job *job, bool perturbed, double *augmented)
{
    size_t d = (size_t)job->d;
    size_t p = (size_t)job->order;
    size_t m = d + p;
    memset(augmented, 0, m * m * sizeof *augmented);

    /* tau Z, exact or perturbed. */
    for (size_t j = 0; j < d; j++)
        for (size_t i = 0; i < d; i++) {
            double factor = perturbed ? perturbation(j * d + i) : 1;
            augmented[j * m + i] = job->tau * job->Z[j * d + i] * factor;
        }

    /* v_1 is in the last column, v_p in the first of W. */
    for (size_t k = 1; k <= p; k++) {
        double *column = augmented + (m - k) * m;
        memcpy(column, job->vectors + k * d, d * sizeof *column);
        if (k < p) column[m - k - 1] = 1;
    }
}

static tw_status evaluate(const general_job *job, bool perturbed, const general_work *work,
                          double *out)
{
    int d = job->d;
    int m = d + job->order;
    fill_augmented(job, perturbed, work->augmented);
    TW_TRY(tw_expm(m, work->augmented, work->exponential, work->expm_scratch));

    /* The last column, if there are sources. */
    const double *last = work->exponential + (size_t)(m - 1) * (size_t)m;
    for (int i = 0; i < d; i++) out[i] = job->order > 0 ? last[i] : 0;

    /* Plus exp(tau Z) v_0. */
    for (int j = 0; j < d; j++) {
        double factor = job->vectors[j];
        const double *column = work->exponential + (size_t)j * (size_t)m;
        if (factor != 0)
            for (int i = 0; i < d; i++) out[i] += factor * column[i];
    }
    return TW_OK;
}

/* |a - b| over entries [begin, end), safe from overflow; b == NULL means zero. */
static double distance(const double *a, const double *b, int begin, int end)
{
    /* The largest entry is the unit in which squares are safe. */
    double largest = 0;
    for (int i = begin; i < end; i++) largest = fmax(largest, fabs(a[i] - (b ? b[i] : 0)));

    double sum = 0;
    for (int i = begin; i < end && largest > 0; i++) {
        double difference = (a[i] - (b ? b[i] : 0)) / largest;
        sum += difference * difference;
    }
    return largest * sqrt(sum);
}

/* tau Z = 0: phi_k(0) = 1/k!. */
static void evaluate_at_zero(general_job *job)
{
    for (int i = 0; i < job->d; i++) {
        job->out[i] = 0;
        for (int k = job->order; k >= 0; k--)
            job->out[i] +=
                tw_inverse_factorial[k] * job->vectors[(size_t)k * (size_t)job->d + (size_t)i];
    }
    job->error[0] = 0;
    job->error[1] = 0;
}

static tw_status evaluate_node(general_job *job, double *scratch)
{
    if (job->tau == 0) {
        evaluate_at_zero(job);
        return TW_OK;
    }

    general_work work = divide_scratch(job->d, scratch);
    TW_TRY(evaluate(job, false, &work, job->out));
    TW_TRY(evaluate(job, true, &work, work.second));

    /* The difference of both, in each part, and the rounding of the result itself. */
    const int bounds[] = {0, job->split, job->d};
    for (int r = 0; r < TW_DENSE_MAX_PARTS; r++) {
        int begin = bounds[r];
        int end = bounds[r + 1];
        job->error[r] = SAFETY * distance(job->out, work.second, begin, end) +
                        2 * DBL_EPSILON * distance(job->out, NULL, begin, end);
    }
    return TW_OK;
}

/* ---- all nodes ---- */

/* sum_k |part r of v_k| / k! for both parts. */
static void input_sizes(const general_job *job, double sizes[2])
{
    sizes[0] = 0;
    sizes[1] = 0;
    for (int k = 0; k <= job->order; k++) {
        const double *v = job->vectors + (size_t)k * (size_t)job->d;
        sizes[0] += tw_inverse_factorial[k] * tw_dense_norm(job->split, v);
        sizes[1] += tw_inverse_factorial[k] * tw_dense_norm(job->d - job->split, v + job->split);
    }
}

/* Evaluates every node. memory->vectors holds the request's vectors in the coordinates of Z, and
 * the outputs are left in these coordinates. `split` separates the parts, and `reference` are their
 * least sizes. */
static tw_status general_nodes(tw_phi_workspace *workspace, const tw_phi_request *request,
                               int split, const double reference[2], tw_phi_statistics *statistics,
                               tw_error *error)
{
    const tw_dense_memory *memory = workspace->memory[TW_PHI_DENSE];
    int d = memory->general_order;
    size_t square = (size_t)d * (size_t)d;
    general_job job = {.d = d,
                       .order = request->order,
                       .split = split,
                       .Z = memory->general,
                       .vectors = memory->vectors};
    double norm = tw_dense_norm1(d, job.Z);
    double sizes[2];
    input_sizes(&job, sizes);

    /* A zero matrix is evaluated at time zero. */
    for (int i = 0; i < request->node_count; i++) {
        job.tau = norm > 0 ? request->nodes[i] * request->time : 0;
        job.out = request->outputs[i];
        tw_status status = evaluate_node(&job, memory->general + square);
        if (status)
            return tw_fail(error, status, "phi engine dense: exponential at node %d: %s", i,
                           tw_status_text(status));

        /* The error relates to the size of the inputs or of the output. */
        double part[2] = {tw_dense_norm(split, job.out), tw_dense_norm(d - split, job.out + split)};
        for (int r = 0; r < 2; r++)
            tw_dense_note_error(statistics, job.error[r],
                                fmax(part[r], fmax(sizes[r], reference[r])));
    }
    statistics->dimension = d + request->order;
    statistics->substeps = request->node_count;
    return TW_OK;
}

/* ---- second order ---- */

/* A = A^ and B = B^, the stiffness and the damping in mass coordinates. */
static tw_status write_parts(tw_phi_workspace *workspace, const tw_second_order *op, double *A,
                             double *B, tw_phi_statistics *statistics, tw_error *error)
{
    const tw_dense_memory *memory = workspace->memory[TW_PHI_DENSE];
    size_t n = (size_t)memory->n;
    TW_TRY(tw_dense_factor_mass(memory, op, error));
    TW_TRY(tw_dense_materialise(workspace, &op->stiffness, A, statistics, error));

    /* D, if there is one. */
    memset(B, 0, n * n * sizeof *B);
    if (op->damping) {
        tw_status status = tw_dense_write_out(memory, op->damping->apply, op->damping->context, B);
        if (status)
            return tw_fail(error, status, "phi engine dense: damping operator: %s",
                           tw_status_text(status));
    }

    /* B^ = L^-1 D L^-T + alpha + beta A^. */
    tw_dense_scale_by_mass(memory, op, A);
    tw_dense_scale_by_mass(memory, op, B);
    for (size_t i = 0; i < n * n; i++) B[i] += op->rayleigh_stiffness * A[i];
    for (size_t i = 0; i < n; i++) B[i * n + i] += op->rayleigh_mass;
    return TW_OK;
}

/* Z = J in the coordinates (theta L^T x, L^T v); returns theta in *scale. */
static tw_status write_pair(tw_phi_workspace *workspace, const tw_second_order *op, double *scale,
                            tw_phi_statistics *statistics, tw_error *error)
{
    const tw_dense_memory *memory = workspace->memory[TW_PHI_DENSE];
    size_t n = (size_t)memory->n;
    size_t d = 2 * n;
    double *A = memory->bases[memory->basis_count - 1].X;
    double *B = memory->eigen;
    double *Z = memory->general;
    TW_TRY(write_parts(workspace, op, A, B, statistics, error));

    /* theta is the power of two below sqrt |A^|, or below |B^| if there is no stiffness. */
    double theta = sqrt(tw_dense_norm1(memory->n, A));
    if (theta == 0) theta = tw_dense_norm1(memory->n, B);
    if (!isfinite(theta))
        return tw_fail(error, TW_NOT_FINITE, "phi engine dense: the operator overflows");
    theta = theta > 0 ? ldexp(1.0, ilogb(theta)) : 1;

    /* Z = [[0, theta], [-A^/theta, -B^]]. */
    memset(Z, 0, d * d * sizeof *Z);
    for (size_t j = 0; j < n; j++) {
        Z[(n + j) * d + j] = theta;
        for (size_t i = 0; i < n; i++) {
            Z[j * d + n + i] = -A[j * n + i] / theta;
            Z[(n + j) * d + n + i] = -B[j * n + i];
        }
    }
    *scale = theta;
    return TW_OK;
}

/* Brings the vectors to the coordinates of Z, divided by the unit. */
static void load_pair(const tw_dense_memory *memory, const tw_second_order *op,
                      const tw_phi_request *request, double theta, double unit)
{
    size_t n = (size_t)memory->n;
    for (int q = 0; q < 2 * (request->order + 1); q++) {
        const double *vector = request->vectors[q / 2];
        double *out = memory->vectors + (size_t)q * n;

        /* x-parts get theta, v-parts do not. */
        double scale = q % 2 == 0 ? theta / unit : 1 / unit;
        if (vector) tw_dense_to_mass(memory, op, vector + (size_t)(q % 2) * n, out);
        for (size_t i = 0; i < n; i++) out[i] = vector ? out[i] * scale : 0;
    }
}

tw_status tw_dense_general_second_order(tw_phi_workspace *workspace, const tw_second_order *op,
                                        const tw_phi_request *request,
                                        tw_phi_statistics *statistics, tw_error *error)
{
    const tw_dense_memory *memory = workspace->memory[TW_PHI_DENSE];
    int n = memory->n;
    if (!memory->general_order)
        return tw_fail(error, TW_UNSUPPORTED,
                       "phi engine dense: general damping stops at %d unknowns, here are %d",
                       tw_dense_largest(workspace) / 2, n);

    /* Z and the vectors, in units in which none is large. */
    double theta = 1;
    TW_TRY(write_pair(workspace, op, &theta, statistics, error));
    double unit = tw_dense_request_unit(request, workspace->vector_size) * theta;
    load_pair(memory, op, request, theta, unit);

    double reference[2] = {request->reference[0] * theta / unit, request->reference[1] / unit};
    TW_TRY(general_nodes(workspace, request, n, reference, statistics, error));

    /* Back to (x, v). */
    for (int i = 0; i < request->node_count; i++)
        for (int r = 0; r < 2; r++) {
            double *part = request->outputs[i] + (size_t)r * (size_t)n;
            tw_dense_from_mass(memory, op, part);
            tw_vector_scale(n, r == 0 ? unit / theta : unit, part);
        }
    return tw_dense_judge(workspace, statistics, error);
}

/* ---- first order ---- */

tw_status tw_dense_general_first_order(tw_phi_workspace *workspace, const tw_operator *op,
                                       const tw_phi_request *request, tw_phi_statistics *statistics,
                                       tw_error *error)
{
    const tw_dense_memory *memory = workspace->memory[TW_PHI_DENSE];
    int n = memory->n;
    TW_TRY(tw_dense_materialise(workspace, op, memory->general, statistics, error));

    /* The vectors, divided by their unit. */
    double unit = tw_dense_request_unit(request, n);
    for (int k = 0; k <= request->order; k++) {
        const double *vector = request->vectors[k];
        double *copy = memory->vectors + (size_t)k * (size_t)n;
        for (int i = 0; i < n; i++) copy[i] = vector ? vector[i] / unit : 0;
    }

    double reference[2] = {request->reference[0] / unit, 0};
    TW_TRY(general_nodes(workspace, request, n, reference, statistics, error));
    for (int i = 0; i < request->node_count; i++) tw_vector_scale(n, unit, request->outputs[i]);
    return tw_dense_judge(workspace, statistics, error);
}
