/* phi-functions of a general matrix: sum_k phi_k(tau Z) v_k is exp(tau Z) v_0 plus the last column of
 *     exp [[tau Z, W], [0, J]],  W = (v_p, ..., v_1),  J the p x p shift
 * (Sidje 1998; Al-Mohy and Higham 2011). The computation is repeated with every entry of Z off by about one unit in the
 * last place: what differs is what double precision cannot know. */
#include <float.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "linalg/dense.h"
#include "phi/dense/phi_dense.h"
#include "phi/scalar_functions.h"

/* Measured (tests/test_phi_dense.c, tests/test_phi_engines.c): the true error is seldom more than four times the
 * difference. */
static const double safety = 4;

typedef struct general_work {
    double *augmented, *exponential, *expm_scratch;
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

static general_work carve(int d, double *scratch)
{
    size_t m = (size_t)augmented_order(d);
    general_work work = {
        .augmented = scratch, .exponential = scratch + m * m, .expm_scratch = scratch + 2 * m * m};
    work.second = work.expm_scratch + tw_dense_expm_scratch((int)m);
    return work;
}

/* A repeatable factor 1 + eps * (something in [-1.5, -0.5] or [0.5, 1.5]) (SplitMix64's mixing of the index). */
static double perturbation(uint64_t index)
{
    uint64_t z = (index + 1) * 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    z ^= z >> 31;
    double size = 0.5 + (double)(z >> 12) * 0x1p-52;
    return 1 + DBL_EPSILON * (z & 1 ? size : -size);
}

static void fill_augmented(const tw_dense_general_job *job, bool perturbed, double *augmented)
{
    size_t d = (size_t)job->d, p = (size_t)job->order, m = d + p;
    memset(augmented, 0, m * m * sizeof *augmented);
    for (size_t j = 0; j < d; j++)
        for (size_t i = 0; i < d; i++)
            augmented[j * m + i] =
                job->tau * job->Z[j * d + i] * (perturbed ? perturbation(j * d + i) : 1);
    for (size_t k = 1; k <= p; k++) {
        double *column =
            augmented + (m - k) * m; /* v_1 in the last column, v_p in the first of W */
        memcpy(column, job->vectors + k * d, d * sizeof *column);
        if (k < p) column[m - k - 1] = 1;
    }
}

static tw_status evaluate(const tw_dense_general_job *job, bool perturbed, const general_work *work,
                          double *out)
{
    int d = job->d, m = d + job->order;
    fill_augmented(job, perturbed, work->augmented);
    tw_status status = tw_expm(m, work->augmented, work->exponential, work->expm_scratch);
    if (status) return status;
    const double *last = work->exponential + (size_t)(m - 1) * (size_t)m;
    for (int i = 0; i < d; i++) out[i] = job->order > 0 ? last[i] : 0;
    for (int j = 0; j < d; j++) { /* exp(tau Z) v_0 */
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
    double largest = 0, sum = 0;
    for (int i = begin; i < end; i++) largest = fmax(largest, fabs(a[i] - (b ? b[i] : 0)));
    for (int i = begin; i < end && largest > 0; i++) {
        double difference = (a[i] - (b ? b[i] : 0)) / largest;
        sum += difference * difference;
    }
    return largest * sqrt(sum);
}

/* tau Z = 0: phi_k(0) = 1/k!. */
static void evaluate_at_zero(tw_dense_general_job *job)
{
    for (int i = 0; i < job->d; i++) {
        job->out[i] = 0;
        for (int k = job->order; k >= 0; k--)
            job->out[i] +=
                tw_inverse_factorial[k] * job->vectors[(size_t)k * (size_t)job->d + (size_t)i];
    }
    job->error[0] = job->error[1] = 0;
}

tw_status tw_dense_general(tw_dense_general_job *job, double *scratch)
{
    if (job->tau == 0) {
        evaluate_at_zero(job);
        return TW_OK;
    }
    general_work work = carve(job->d, scratch);
    tw_status status = evaluate(job, false, &work, job->out);
    if (status) return status;
    status = evaluate(job, true, &work, work.second);
    if (status) return status;
    for (int r = 0; r < TW_DENSE_MAX_PARTS; r++) {
        int begin = r == 0 ? 0 : job->split, end = r == 0 ? job->split : job->d;
        job->error[r] = safety * distance(job->out, work.second, begin, end) +
                        2 * DBL_EPSILON * distance(job->out, NULL, begin, end);
    }
    return TW_OK;
}
