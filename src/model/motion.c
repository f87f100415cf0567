/* Prescribed motion: the list of moved particles, and the ready-made motions. */
#include <math.h>
#include <string.h>

#include "base/allocate.h"
#include "base/fail.h"
#include "base/parallel_for.h"
#include "linalg/vector.h"
#include "model/model_internal.h"

void tw_motions_free(tw_motions *motions)
{
    for (int i = 0; i < motions->count; i++)
        if (motions->list[i].motion.release)
            motions->list[i].motion.release(motions->list[i].motion.context);
    tw_release(motions->list);
    *motions = (tw_motions){0};
}

bool tw_motions_touch(const tw_motions *motions, int64_t first, int64_t last)
{
    for (int i = 0; i < motions->count; i++)
        if (motions->list[i].first <= last && motions->list[i].last >= first) return true;
    return false;
}

/* What the blocks of the loop over the particles of one motion share. */
typedef struct moves {
    const tw_prescribed *prescribed;
    double t;
    const double *start; /* of all particles */
    double *x, *v, *a;   /* of all particles */
} moves;

static void move_block(void *context, int64_t begin, int64_t end, int64_t block)
{
    (void)block;
    const moves *m = context;
    const tw_motion *motion = &m->prescribed->motion;
    int64_t i = 3 * (m->prescribed->first + begin);
    int64_t last = 3 * (m->prescribed->first + end);
    if (motion->all_at) {
        motion->all_at(motion->context, m->t, end - begin, m->start + i, m->x + i, m->v + i,
                       m->a + i);
        return;
    }

    for (; i < last; i += 3)
        motion->at(motion->context, m->t, m->start + i, m->x + i, m->v + i, m->a + i);
}

void tw_model_move(tw_model *model, double t)
{
    if (t == model->moved_at) return;
    model->moved_at = t;
    double *rate = tw_model_rates(model, TW_X_RATE);

    /* A later motion of a particle overwrites an earlier one. */
    for (int i = 0; i < model->motions.count; i++) {
        const tw_prescribed *p = &model->motions.list[i];
        moves m = {.prescribed = p,
                   .t = t,
                   .start = model->particles.position,
                   .x = model->x,
                   .v = rate,
                   .a = tw_model_rates(model, TW_V_RATE)};
        tw_parallel_for(p->last - p->first + 1, TW_PARTICLE_BLOCK, move_block, &m);
        memcpy(model->v + 3 * p->first, rate + 3 * p->first,
               3 * (size_t)(p->last - p->first + 1) * sizeof *rate);
    }
}

/* Makes room for one more motion. Returns false when memory is out. */
static bool reserve(tw_motions *motions)
{
    if (motions->count < motions->capacity) return true;
    int capacity = motions->capacity ? 2 * motions->capacity : 8;

    /* Growing by a factor of two keeps the copies few. */
    tw_prescribed *larger = TW_NEW_ARRAY(capacity, tw_prescribed);
    if (!larger) return false;
    if (motions->count) memcpy(larger, motions->list, (size_t)motions->count * sizeof *larger);

    tw_release(motions->list);
    motions->list = larger;
    motions->capacity = capacity;
    return true;
}

tw_status tw_model_prescribe(tw_model *model, int64_t first, int64_t last, const tw_motion *motion,
                             tw_error *error)
{
    if (!model || !motion || !motion->at)
        return tw_fail(error, TW_INVALID_ARGUMENT, "a motion needs its function");

    /* Room comes first, so that a failure leaves the model as it was. */
    if (!reserve(&model->motions)) return tw_fail_plain(error, TW_OUT_OF_MEMORY);
    tw_status status = tw_model_pin(model, first, last, error);
    if (status == TW_OK)
        model->motions.list[model->motions.count++] = (tw_prescribed){first, last, *motion};
    return status;
}

/* ---- ready-made ---- */

/* Hands the context over to the model, or frees it on failure. */
static tw_status prescribe(tw_model *model, int64_t first, int64_t last, tw_motion motion,
                           tw_error *error)
{
    motion.release = tw_release;
    tw_status status = tw_model_prescribe(model, first, last, &motion, error);
    if (status != TW_OK) tw_release(motion.context);
    return status;
}

/* x = start + velocity t. */
typedef struct drift {
    double velocity[3];
} drift;

static void drift_at(void *context, double t, const double start[3], double position[3],
                     double velocity[3], double acceleration[3])
{
    const drift *d = context;
    for (int k = 0; k < 3; k++) {
        position[k] = start[k] + d->velocity[k] * t;
        velocity[k] = d->velocity[k];
        acceleration[k] = 0.0;
    }
}

tw_status tw_model_prescribe_velocity(tw_model *model, int64_t first, int64_t last,
                                      const double velocity[3], tw_error *error)
{
    if (!velocity || !tw_vector_is_finite(3, velocity))
        return tw_fail(error, TW_NOT_FINITE, "a prescribed velocity is not finite");
    drift *d = TW_NEW(drift);
    if (!d) return tw_fail_plain(error, TW_OUT_OF_MEMORY);
    memcpy(d->velocity, velocity, sizeof d->velocity);
    return prescribe(model, first, last, (tw_motion){.context = d, .at = drift_at}, error);
}

/* x = start + amplitude (sin(omega t + phase) - sin(phase)). */
typedef struct oscillation {
    double amplitude[3];
    double omega;
    double phase;
} oscillation;

static void oscillation_at(void *context, double t, const double start[3], double position[3],
                           double velocity[3], double acceleration[3])
{
    const oscillation *o = context;

    /* x, and its first and second derivative by t. */
    double angle = o->omega * t + o->phase;

    for (int k = 0; k < 3; k++) {
        position[k] = start[k] + o->amplitude[k] * (sin(angle) - sin(o->phase));
        velocity[k] = o->amplitude[k] * o->omega * cos(angle);
        acceleration[k] = -o->amplitude[k] * o->omega * o->omega * sin(angle);
    }
}

tw_status tw_model_prescribe_oscillation(tw_model *model, int64_t first, int64_t last,
                                         const double amplitude[3], double frequency, double phase,
                                         tw_error *error)
{
    if (!amplitude || !tw_vector_is_finite(3, amplitude) || !isfinite(frequency) ||
        !isfinite(phase))
        return tw_fail(error, TW_NOT_FINITE, "a prescribed oscillation is not finite");

    oscillation *o = TW_NEW(oscillation);
    if (!o) return tw_fail_plain(error, TW_OUT_OF_MEMORY);
    *o = (oscillation){.omega = 2.0 * 3.14159265358979323846 * frequency, .phase = phase};
    memcpy(o->amplitude, amplitude, sizeof o->amplitude);
    return prescribe(model, first, last, (tw_motion){.context = o, .at = oscillation_at}, error);
}
