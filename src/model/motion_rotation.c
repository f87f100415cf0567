/* Rotation of particles about a fixed axis: at a constant rate, or through keyframes of the angle. */
#include <math.h>
#include <string.h>

#include "base/allocate.h"
#include "base/fail.h"
#include "base/vector3.h"
#include "linalg/vector.h"
#include "model/model_internal.h"
#include "model/motion_keyframes.h"
#include "model/motion_rotation.h"

/* A turn about the axis n through a point. */
typedef struct rotation {
    double point[3];
    double axis[3];      /* |axis| = 1 */
    double rate;         /* w [rad/s] of a constant rate */
    tw_keyframes *angle; /* in its first component; NULL: the rate is constant */
} rotation;

static void rotation_release(void *context)
{
    rotation *r = context;
    if (!r) return;
    tw_keyframes_release(r->angle);
    tw_release(r);
}

/* The angle and its first and second derivative by t. */
static void angle_at(const rotation *r, double t, double angle[3])
{
    if (!r->angle) {
        angle[0] = r->rate * t;
        angle[1] = r->rate;
        angle[2] = 0.0;
        return;
    }

    static const double zero[3] = {0.0, 0.0, 0.0};
    double value[3];
    double rate[3];
    double acceleration[3];
    tw_keyframes_at(r->angle, t, zero, value, rate, acceleration);
    angle[0] = value[0];
    angle[1] = rate[0];
    angle[2] = acceleration[0];
}

tw_turn tw_turn_of(const double point[3], const double axis[3], const double angle[3])
{
    return (tw_turn){.point = point,
                     .axis = axis,
                     .cosine = cos(angle[0]),
                     .sine = sin(angle[0]),
                     .rate = angle[1],
                     .acceleration = angle[2]};
}

void tw_rotate(const tw_turn *turn, const double start[3], tw_moved *out)
{
    double c = turn->cosine;
    double s = turn->sine;

    /* arm = along n + across, and beside = n x across. */
    double arm[3];
    double across[3];
    double beside[3];
    for (int k = 0; k < 3; k++) arm[k] = start[k] - turn->point[k];
    double along = tw_dot3(arm, turn->axis);
    for (int k = 0; k < 3; k++) across[k] = arm[k] - along * turn->axis[k];
    tw_cross3(turn->axis, across, beside);

    /* Written as a change of start, the position is exactly start at the angle 0. */
    for (int k = 0; k < 3; k++) {
        double e = c * beside[k] - s * across[k];
        out->position[k] = start[k] + (c - 1.0) * across[k] + s * beside[k];
        out->velocity[k] = turn->rate * e;
        out->acceleration[k] =
            turn->acceleration * e - turn->rate * turn->rate * (c * across[k] + s * beside[k]);
    }
}

static void rotation_all_at(void *context, double t, int64_t count, const double *start,
                            double *position, double *velocity, double *acceleration)
{
    const rotation *r = context;
    double angle[3];
    angle_at(r, t, angle);
    tw_turn turn = tw_turn_of(r->point, r->axis, angle);

    for (int64_t i = 0; i < 3 * count; i += 3) {
        tw_moved moved;
        tw_rotate(&turn, start + i, &moved);
        memcpy(position + i, moved.position, sizeof moved.position);
        memcpy(velocity + i, moved.velocity, sizeof moved.velocity);
        memcpy(acceleration + i, moved.acceleration, sizeof moved.acceleration);
    }
}

static void rotation_at(void *context, double t, const double start[3], double position[3],
                        double velocity[3], double acceleration[3])
{
    rotation_all_at(context, t, 1, start, position, velocity, acceleration);
}

static tw_status check_axis(const double point[3], const double axis[3], tw_error *error)
{
    if (!point || !axis || !tw_vector_is_finite(3, point) || !tw_vector_is_finite(3, axis))
        return tw_fail(error, TW_NOT_FINITE, "a prescribed rotation is not finite");
    if (!(tw_dot3(axis, axis) > 0.0))
        return tw_fail(error, TW_INVALID_ARGUMENT, "the axis of a rotation has no length");
    return TW_OK;
}

/* The axis is kept with length 1. NULL when memory is out. */
static rotation *create(const double point[3], const double axis[3])
{
    rotation *r = TW_NEW(rotation);
    double length = sqrt(tw_dot3(axis, axis));
    for (int k = 0; r && k < 3; k++) {
        r->point[k] = point[k];
        r->axis[k] = axis[k] / length;
    }
    return r;
}

/* Hands the rotation over to the model, or frees it on failure. */
static tw_status prescribe(tw_model *model, int64_t first, int64_t last, rotation *r,
                           tw_error *error)
{
    tw_motion motion = {
        .context = r, .at = rotation_at, .all_at = rotation_all_at, .release = rotation_release};
    tw_status status = tw_model_prescribe(model, first, last, &motion, error);
    if (status != TW_OK) rotation_release(r);
    return status;
}

tw_status tw_model_prescribe_rotation(tw_model *model, int64_t first, int64_t last,
                                      const double point[3], const double axis[3], double rate,
                                      tw_error *error)
{
    if (!isfinite(rate))
        return tw_fail(error, TW_NOT_FINITE, "a prescribed rotation is not finite");
    TW_TRY(check_axis(point, axis, error));
    rotation *r = create(point, axis);
    if (!r) return tw_fail_plain(error, TW_OUT_OF_MEMORY);
    r->rate = rate;
    return prescribe(model, first, last, r, error);
}

/* The spline of the angle, which is the first of three components. */
static tw_status spline_of(int64_t count, const double *times, const double *angles,
                           tw_keyframes **out, tw_error *error)
{
    if (count < 2 || !times || !angles)
        return tw_fail(error, TW_INVALID_ARGUMENT, "a motion needs at least two keyframes");
    double *values = tw_allocate_zeroed((size_t)count, 3 * sizeof(double));
    if (!values) return tw_fail_plain(error, TW_OUT_OF_MEMORY);

    for (int64_t i = 0; i < count; i++) values[3 * i] = angles[i];
    tw_status status = tw_keyframes_create(count, times, values, out, error);
    tw_release(values);
    return status;
}

tw_status tw_model_prescribe_turning(tw_model *model, int64_t first, int64_t last,
                                     const double point[3], const double axis[3], int64_t count,
                                     const double *times, const double *angles, tw_error *error)
{
    TW_TRY(check_axis(point, axis, error));
    rotation *r = create(point, axis);
    if (!r) return tw_fail_plain(error, TW_OUT_OF_MEMORY);

    tw_status status = spline_of(count, times, angles, &r->angle, error);
    if (status == TW_OK) return prescribe(model, first, last, r, error);
    rotation_release(r);
    return status;
}
