#include "linalg/batch_cholesky.h"

#include <stdatomic.h>
#include <string.h>

#include "base/allocate.h"
#include "base/fail.h"
#include "base/parallel_for.h"
#include "linalg/batch_internal.h"
#include "linalg/sparse_internal.h"
#include "linalg/vector.h"

enum {
    FEWEST_PARTS = 8, /* with fewer parts the lanes stay empty, and CHOLMOD's order is better */
    MOST_BATCHES = 16 /* different patterns; a matrix with more is not made of equal parts */
};

/* Parts of one pattern. */
typedef struct batch {
    tw_batch_pattern pattern;
    int64_t part_count;
    int64_t group_count;   /* of four parts; the last group repeats its last part */
    int32_t *rows;         /* pattern.rows block rows of the matrix per part */
    double *L;             /* of all groups */
    unsigned char *status; /* of each group: the tw_status of its factorisation */
} batch;

struct tw_batch_cholesky {
    const tw_sparse *matrix;
    int64_t n;
    int batch_count;
    batch batches[MOST_BATCHES];
    double *solution;            /* n * TW_MAX_BLOCK */
    const unsigned char *active; /* of each block row; NULL: all */
};

static int64_t group_size(const batch *b)
{
    return (int64_t)TW_BATCH_BLOCK * TW_BATCH_LANES * b->pattern.entries;
}

void tw_batch_cholesky_free(tw_batch_cholesky *batches)
{
    if (!batches) return;
    for (int i = 0; i < batches->batch_count; i++) {
        batch *b = &batches->batches[i];
        tw_batch_pattern_free(&b->pattern);
        tw_release(b->rows);
        tw_release(b->L);
        tw_release(b->status);
    }
    tw_release(batches->solution);
    tw_release(batches);
}

/* ---- batches ---- */

/* The batch that a component belongs to; a new one if none fits. NULL: *status says why. */
static batch *batch_of(tw_batch_cholesky *batches, const tw_components *components,
                       int64_t component, tw_status *status)
{
    for (int i = 0; i < batches->batch_count; i++) {
        batch *b = &batches->batches[i];
        if (tw_batch_pattern_fits(&b->pattern, batches->matrix, components, component)) return b;
    }

    *status = TW_UNSUPPORTED;
    if (batches->batch_count == MOST_BATCHES) return NULL;
    batch *b = &batches->batches[batches->batch_count];
    batches->batch_count++;
    *status = tw_batch_pattern_create(batches->matrix, components, component, &b->pattern);
    return *status == TW_OK ? b : NULL;
}

/* Sorts the components into batches: counts the parts first, then lists their rows. */
static tw_status sort_parts(tw_batch_cholesky *batches, const tw_components *components,
                            unsigned char *batch_index)
{
    tw_status status = TW_OK;
    for (int64_t c = 0; c < components->count; c++) {
        batch *b = batch_of(batches, components, c, &status);
        if (!b) return status;
        batch_index[c] = (unsigned char)(b - batches->batches);
        b->part_count++;
    }

    for (int i = 0; i < batches->batch_count; i++) {
        batch *b = &batches->batches[i];
        b->rows = TW_NEW_ARRAY(b->part_count * b->pattern.rows, int32_t);
        if (!b->rows) return TW_OUT_OF_MEMORY;
        b->part_count = 0;
    }

    for (int64_t c = 0; c < components->count; c++) {
        batch *b = &batches->batches[batch_index[c]];
        memcpy(b->rows + b->part_count * b->pattern.rows, components->row + components->start[c],
               (size_t)b->pattern.rows * sizeof *b->rows);
        b->part_count++;
    }
    return TW_OK;
}

static tw_status allocate_values(tw_batch_cholesky *batches)
{
    for (int i = 0; i < batches->batch_count; i++) {
        batch *b = &batches->batches[i];
        b->group_count = tw_parallel_blocks(b->part_count, TW_BATCH_LANES);
        b->L = TW_NEW_ARRAY(b->group_count * group_size(b), double);
        b->status = tw_allocate_zeroed((size_t)b->group_count, sizeof *b->status);
        if (!b->L || !b->status) return TW_OUT_OF_MEMORY;
    }
    batches->solution = TW_NEW_ARRAY(batches->n * TW_MAX_BLOCK, double);
    return batches->solution ? TW_OK : TW_OUT_OF_MEMORY;
}

/* Whether there are many parts, and none of them is large. */
static bool is_suitable(const tw_components *components)
{
    if (components->count < FEWEST_PARTS) return false;
    for (int64_t c = 0; c < components->count; c++)
        if (components->start[c + 1] - components->start[c] > TW_BATCH_MOST_ROWS) return false;
    return true;
}

static tw_status fill_batches(tw_batch_cholesky *batches, const tw_components *components)
{
    if (!is_suitable(components)) return TW_UNSUPPORTED;
    unsigned char *batch_index = TW_NEW_ARRAY(components->count, unsigned char);
    if (!batch_index) return TW_OUT_OF_MEMORY;

    tw_status status = sort_parts(batches, components, batch_index);
    if (status == TW_OK) status = allocate_values(batches);
    tw_release(batch_index);
    return status;
}

tw_status tw_batch_cholesky_create(const tw_sparse *matrix, tw_batch_cholesky **out)
{
    *out = NULL;
    if (matrix->block != 3) return TW_OK;
    tw_batch_cholesky *batches = TW_NEW(tw_batch_cholesky);
    if (!batches) return TW_OUT_OF_MEMORY;
    batches->matrix = matrix;
    batches->n = tw_sparse_size(matrix);

    tw_components components;
    tw_status status = tw_components_find(matrix, &components);
    if (status == TW_OK) status = fill_batches(batches, &components);
    tw_components_free(&components);

    /* A matrix of another form is no failure. */
    if (status != TW_OK) tw_batch_cholesky_free(batches);
    if (status == TW_OK) *out = batches;
    return status == TW_UNSUPPORTED ? TW_OK : status;
}

void tw_batch_cholesky_describe(const tw_batch_cholesky *batches, tw_cholesky_counts *counts)
{
    double flops = 0.0;
    double blocks = 0.0;
    for (int i = 0; i < batches->batch_count; i++) {
        const batch *b = &batches->batches[i];
        double parts = (double)b->part_count;
        blocks += parts * b->pattern.entries;

        /* A block product has 27 multiplications and as many additions. */
        flops += parts * 54.0 * (double)b->pattern.update_count;
    }
    counts->factor_flops = flops;
    counts->factor_nonzeros = (int64_t)(blocks * TW_BATCH_BLOCK);

    /* L is read once, because both substitutions follow each other while a group is in the cache. */
    double stored = blocks * TW_BATCH_BLOCK;
    counts->solve_bytes = (stored + 6.0 * (double)batches->n) * sizeof(double);
}

/* ---- factorisation ---- */

typedef struct factor_job {
    batch *b;
    const unsigned char *active;
    tw_batch_source source;
} factor_job;

/* The block rows of the part in a lane of a group. */
static const int32_t *part_rows(const batch *b, int64_t group, int lane)
{
    int64_t part = TW_BATCH_LANES * group + lane;
    if (part >= b->part_count) part = b->part_count - 1;
    return b->rows + part * b->pattern.rows;
}

/* Whether one of the parts of a group is active. All rows of a part are, or none. */
static bool is_active(const batch *b, int64_t group, const unsigned char *active)
{
    for (int lane = 0; lane < TW_BATCH_LANES; lane++)
        if (!active || active[part_rows(b, group, lane)[0]]) return true;
    return false;
}

static void factor_groups(void *context, int64_t begin, int64_t end, int64_t block)
{
    (void)block;
    const factor_job *job = context;
    batch *b = job->b;
    for (int64_t group = begin; group < end; group++) {
        const int32_t *rows[TW_BATCH_LANES];
        if (!is_active(b, group, job->active)) continue;
        for (int lane = 0; lane < TW_BATCH_LANES; lane++) rows[lane] = part_rows(b, group, lane);

        double *L = b->L + group * group_size(b);
        tw_batch_gather(&b->pattern, &job->source, rows, L);
        b->status[group] = (unsigned char)tw_batch_factor(&b->pattern, L);
    }
}

/* The first failure in the order of the groups, so that it does not depend on threads. */
static tw_status first_failure(const tw_batch_cholesky *batches)
{
    for (int i = 0; i < batches->batch_count; i++) {
        const batch *b = &batches->batches[i];
        for (int64_t group = 0; group < b->group_count; group++)
            if (b->status[group] != TW_OK) return (tw_status)b->status[group];
    }
    return TW_OK;
}

tw_status tw_batch_cholesky_factor(tw_batch_cholesky *batches, double mass_factor,
                                   const double *lumped_mass, double stiffness_factor)
{
    for (int i = 0; i < batches->batch_count; i++) {
        batch *b = &batches->batches[i];
        factor_job job = {
            b, batches->active, {batches->matrix, mass_factor, lumped_mass, stiffness_factor}};
        tw_parallel_for(b->group_count, TW_BATCH_GROUPS_PER_JOB, factor_groups, &job);
    }
    return first_failure(batches);
}

void tw_batch_cholesky_focus(tw_batch_cholesky *batches, const unsigned char *active)
{
    batches->active = active;
}

void tw_batch_cholesky_mark_failed(const tw_batch_cholesky *batches, unsigned char *failed)
{
    memset(failed, 0, (size_t)batches->matrix->block_rows);

    for (int i = 0; i < batches->batch_count; i++) {
        const batch *b = &batches->batches[i];
        for (int64_t part = 0; part < b->part_count; part++) {
            if (b->status[part / TW_BATCH_LANES] == TW_OK) continue;

            const int32_t *rows = b->rows + part * b->pattern.rows;
            for (int r = 0; r < b->pattern.rows; r++) failed[rows[r]] = 1;
        }
    }
}

/* ---- solves ---- */

typedef struct solve_job {
    const batch *b;
    const unsigned char *active;
    int64_t n;
    int count;
    const double *in;
    double *out;
    atomic_bool bad; /* a solution is not finite */
} solve_job;

static void load_lanes(const batch *b, int64_t group, const double *in, double *y)
{
    for (int lane = 0; lane < TW_BATCH_LANES; lane++) {
        const int32_t *rows = part_rows(b, group, lane);
        for (int r = 0; r < b->pattern.rows; r++)
            for (int c = 0; c < 3; c++)
                y[(3 * r + c) * TW_BATCH_LANES + lane] = in[3 * (int64_t)rows[r] + c];
    }
}

/* A lane that repeats the part before it writes the same values once more. */
static void store_lanes(const batch *b, int64_t group, const double *y, double *out)
{
    for (int lane = 0; lane < TW_BATCH_LANES; lane++) {
        const int32_t *rows = part_rows(b, group, lane);
        for (int r = 0; r < b->pattern.rows; r++)
            for (int c = 0; c < 3; c++)
                out[3 * (int64_t)rows[r] + c] = y[(3 * r + c) * TW_BATCH_LANES + lane];
    }
}

/* 0 * y is NaN where y is not finite, and a sum with a NaN in it stays NaN. */
static bool are_finite(int64_t count, const double *y)
{
    double sum = 0.0;
    for (int64_t i = 0; i < count; i++) sum += 0.0 * y[i];
    return sum == 0.0;
}

static void solve_groups(void *context, int64_t begin, int64_t end, int64_t block)
{
    (void)block;
    solve_job *job = context;
    const batch *b = job->b;
    double y[3 * TW_BATCH_MOST_ROWS * TW_BATCH_LANES];
    int64_t numbers = 3 * (int64_t)TW_BATCH_LANES * b->pattern.rows;
    for (int64_t group = begin; group < end; group++) {
        if (!is_active(b, group, job->active)) continue;

        for (int v = 0; v < job->count; v++) {
            load_lanes(b, group, job->in + v * job->n, y);
            tw_batch_solve(&b->pattern, b->L + group * group_size(b), y);
            if (!are_finite(numbers, y)) atomic_store(&job->bad, true);
            store_lanes(b, group, y, job->out + v * job->n);
        }
    }
}

/* Copies the solutions of active parts. */
static void copy_groups(void *context, int64_t begin, int64_t end, int64_t block)
{
    (void)block;
    const solve_job *job = context;
    const batch *b = job->b;
    for (int64_t part = TW_BATCH_LANES * begin; part < TW_BATCH_LANES * end; part++) {
        const int32_t *rows = b->rows + part * b->pattern.rows;
        if (part >= b->part_count || (job->active && !job->active[rows[0]])) continue;
        for (int i = 0; i < job->count * b->pattern.rows; i++) {
            int64_t at = 3 * (int64_t)rows[i % b->pattern.rows] + i / b->pattern.rows * job->n;
            memcpy(job->out + at, job->in + at, 3 * sizeof *job->out);
        }
    }
}

tw_status tw_batch_cholesky_solve(tw_batch_cholesky *batches, int count, const double *in,
                                  double *out)
{
    bool bad = false;
    for (int i = 0; i < batches->batch_count; i++) {
        const batch *b = &batches->batches[i];
        solve_job job = {b, batches->active, batches->n, count, in, batches->solution, false};
        tw_parallel_for(b->group_count, TW_BATCH_GROUPS_PER_JOB, solve_groups, &job);
        bad = bad || atomic_load(&job.bad);
    }

    /* The result is handed out only if it is good. */
    if (bad) return TW_NOT_FINITE;
    for (int i = 0; i < batches->batch_count; i++) {
        const batch *b = &batches->batches[i];
        solve_job job = {b, batches->active, batches->n, count, batches->solution, out, false};
        tw_parallel_for(b->group_count, TW_BATCH_GROUPS_PER_JOB, copy_groups, &job);
    }
    return TW_OK;
}
