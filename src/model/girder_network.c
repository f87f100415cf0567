/* Adding girder networks to a model: the checks before force_warping.c makes the force. */
#include <math.h>
#include <stdlib.h>

#include "base/allocate.h"
#include "base/fail.h"
#include "linalg/vector.h"
#include "model/model_internal.h"

/* Checks the ends of girder e and its stiffness. */
static tw_status check_girder(const int64_t *ends, int64_t e, double axial, double transverse,
                              int64_t particle_count, tw_error *error)
{
    int64_t a = ends[0];
    int64_t b = ends[1];
    if (a < 0 || b < 0 || a >= particle_count || b >= particle_count || a == b)
        return tw_fail(error, TW_INVALID_ARGUMENT,
                       "girder %lld must join two of the particles 0 to %lld", (long long)e,
                       (long long)(particle_count - 1));

    if (!(axial > 0.0) || !isfinite(axial) || !(transverse >= 0.0) || !isfinite(transverse))
        return tw_fail(error, TW_INVALID_ARGUMENT,
                       "girder %lld needs a positive axial and no negative transverse stiffness",
                       (long long)e);

    return TW_OK;
}

static tw_status check_length(const double *a, const double *b, int64_t e, tw_error *error)
{
    /* The longest component of the girder. */
    double longest = 0.0;
    for (int k = 0; k < 3; k++) longest = fmax(longest, fabs(b[k] - a[k]));
    if (!(longest > 0.0))
        return tw_fail(error, TW_INVALID_ARGUMENT, "girder %lld has no length", (long long)e);
    return TW_OK;
}

static int compare_pairs(const void *left, const void *right)
{
    const int64_t *x = left;
    const int64_t *y = right;
    if (x[0] != y[0]) return x[0] < y[0] ? -1 : 1;
    return (x[1] > y[1]) - (x[1] < y[1]);
}

/* Checks that no two girders join the same particles. */
static tw_status check_distinct(int64_t count, const int64_t *ends, tw_error *error)
{
    int64_t *pairs = TW_NEW_ARRAY(2 * count, int64_t);
    if (!pairs) return tw_fail_plain(error, TW_OUT_OF_MEMORY);
    for (int64_t e = 0; e < count; e++) {
        /* The smaller particle comes first. */
        int64_t a = ends[2 * e];
        int64_t b = ends[2 * e + 1];
        pairs[2 * e] = a;
        pairs[2 * e + 1] = b;
        if (a < b) continue;
        pairs[2 * e] = b;
        pairs[2 * e + 1] = a;
    }

    /* Equal pairs follow each other once they are sorted. */
    qsort(pairs, (size_t)count, 2 * sizeof *pairs, compare_pairs);
    tw_status status = TW_OK;
    for (int64_t e = 1; e < count && status == TW_OK; e++)
        if (compare_pairs(pairs + 2 * e - 2, pairs + 2 * e) == 0)
            status =
                tw_fail(error, TW_INVALID_ARGUMENT, "two girders join the particles %lld and %lld",
                        (long long)pairs[2 * e], (long long)pairs[2 * e + 1]);
    tw_release(pairs);
    return status;
}

tw_status tw_model_add_warped_network(tw_model *model, int64_t count, const int64_t *ends,
                                      const double *axial, const double *transverse,
                                      const double *rest, tw_error *error)
{
    if (!model || count < 0 || (count && (!ends || !axial)))
        return tw_fail_plain(error, TW_INVALID_ARGUMENT);
    if (count > INT32_MAX / 64) return tw_fail(error, TW_UNSUPPORTED, "more than 2^25 girders");
    if (count == 0) return TW_OK;

    /* Without given positions at rest, the network is at rest where its particles are. */
    const tw_particles *p = &model->particles;
    if (rest && !tw_vector_is_finite(3 * p->count, rest))
        return tw_fail(error, TW_NOT_FINITE, "a position at rest is not finite");
    if (!rest) rest = p->position;

    for (int64_t e = 0; e < count; e++) {
        const int64_t *pair = ends + 2 * e;
        double across = transverse ? transverse[e] : 0.0;
        TW_TRY(check_girder(pair, e, axial[e], across, p->count, error));
        TW_TRY(check_length(rest + 3 * pair[0], rest + 3 * pair[1], e, error));
    }
    TW_TRY(check_distinct(count, ends, error));

    /* Everything is checked: the force copies it. */
    tw_force force;
    if (tw_force_warping_create(count, ends, axial, transverse, rest, &force) != TW_OK)
        return tw_fail_plain(error, TW_OUT_OF_MEMORY);
    return tw_model_add_force(model, &force, error);
}
