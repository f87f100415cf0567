/* Motion along a cubic spline through keyframes. Each interval is the cubic of Hermite with the
 * slopes s_i at the keyframes. The second derivative is continuous if
 *     s_{i-1}/h_{i-1} + 2 (1/h_{i-1} + 1/h_i) s_i + s_{i+1}/h_i = 3 (D_{i-1}/h_{i-1} + D_i/h_i),
 * where h_i is the length and D_i the mean slope of interval i. At both ends s = 0. */
#include "model/motion_keyframes.h"

#include <math.h>
#include <string.h>

#include "base/allocate.h"
#include "base/fail.h"
#include "linalg/vector.h"
#include "model/model_internal.h"

struct tw_keyframes {
    int64_t count;
    double *time;     /* ascending */
    double *value;    /* displacement, three entries per keyframe */
    double *slope;    /* s, likewise */
    double *diagonal; /* of the tridiagonal system during its elimination */
    double *right;    /* right-hand side, likewise */
};

void tw_keyframes_release(void *context)
{
    tw_keyframes *k = context;
    if (!k) return;
    tw_release(k->time);
    tw_release(k->value);
    tw_release(k->slope);
    tw_release(k->diagonal);
    tw_release(k->right);
    tw_release(k);
}

/* Finds the slopes of component c by elimination without pivoting: the matrix
 * is diagonally dominant. */
static void find_slopes(tw_keyframes *f, int c)
{
    int64_t n = f->count;
    double *diagonal = f->diagonal;
    double *right = f->right;

    f->slope[c] = 0.0;
    f->slope[3 * (n - 1) + c] = 0.0;

    /* Forward: row i loses its entry left of the diagonal. The row before has the
     * pivot diagonal[i - 1]. */
    for (int64_t i = 1; i < n - 1; i++) {
        double before = f->time[i] - f->time[i - 1];
        double after = f->time[i + 1] - f->time[i];
        double mean_before = (f->value[3 * i + c] - f->value[3 * (i - 1) + c]) / before;
        double mean_after = (f->value[3 * (i + 1) + c] - f->value[3 * i + c]) / after;

        double share = i > 1 ? 1.0 / (before * diagonal[i - 1]) : 0.0;
        double carried = i > 1 ? share * right[i - 1] : 0.0;
        diagonal[i] = 2.0 * (1.0 / before + 1.0 / after) - share / before;
        right[i] = 3.0 * (mean_before / before + mean_after / after) - carried;
    }

    /* Back: s_i = (right_i - s_{i+1} / h_i) / diagonal_i. */
    for (int64_t i = n - 2; i > 0; i--)
        f->slope[3 * i + c] =
            (right[i] - f->slope[3 * (i + 1) + c] / (f->time[i + 1] - f->time[i])) / diagonal[i];
}

/* Finds the interval with time[i] <= t < time[i + 1] by bisection. */
static int64_t interval_of(const tw_keyframes *f, double t)
{
    /* time[low] <= t < time[high] all the way. */
    int64_t low = 0;
    int64_t high = f->count - 1;

    while (high - low > 1) {
        int64_t middle = (low + high) / 2;
        if (f->time[middle] <= t)
            low = middle;
        else
            high = middle;
    }

    return low;
}

/* Outside the table the motion stands still. */
static void stand(const double start[3], const double value[3], double position[3],
                  double velocity[3], double acceleration[3])
{
    for (int c = 0; c < 3; c++) {
        position[c] = start[c] + value[c];
        velocity[c] = 0.0;
        acceleration[c] = 0.0;
    }
}

void tw_keyframes_at(void *context, double t, const double start[3], double position[3],
                     double velocity[3], double acceleration[3])
{
    const tw_keyframes *f = context;
    int64_t last = f->count - 1;

    /* Before the first and after the last keyframe. */
    if (t <= f->time[0]) {
        stand(start, f->value, position, velocity, acceleration);
        return;
    }
    if (t >= f->time[last]) {
        stand(start, f->value + 3 * last, position, velocity, acceleration);
        return;
    }

    /* The cubic in s = (t - t_i) / h, with m = h times the slope at each end of the interval: */
    int64_t i = interval_of(f, t);
    double h = f->time[i + 1] - f->time[i];
    double s = (t - f->time[i]) / h;
    for (int c = 0; c < 3; c++) {
        const double *value = f->value + 3 * i + c;
        const double *slope = f->slope + 3 * i + c;
        double rise = value[3] - value[0];
        double m0 = h * slope[0];
        double m1 = h * slope[3];
        double a = m0 + m1 - 2.0 * rise;
        double b = 3.0 * rise - 2.0 * m0 - m1;

        /* value + m0 s + b s^2 + a s^3, and its derivatives by t. */
        position[c] = start[c] + value[0] + s * (m0 + s * (b + s * a));
        velocity[c] = (m0 + s * (2.0 * b + 3.0 * s * a)) / h;
        acceleration[c] = (2.0 * b + 6.0 * s * a) / (h * h);
    }
}

static tw_keyframes *create(int64_t count, const double *times, const double *displacements)
{
    tw_keyframes *f = TW_NEW(tw_keyframes);
    if (!f) return NULL;
    f->count = count;

    f->time = TW_NEW_ARRAY(count, double);
    f->value = TW_NEW_ARRAY(3 * count, double);
    f->slope = TW_NEW_ARRAY(3 * count, double);
    f->diagonal = TW_NEW_ARRAY(count, double);
    f->right = TW_NEW_ARRAY(count, double);
    if (!f->time || !f->value || !f->slope || !f->diagonal || !f->right) {
        tw_keyframes_release(f);
        return NULL;
    }

    /* Each component has a spline of its own. */
    memcpy(f->time, times, (size_t)count * sizeof(double));
    memcpy(f->value, displacements, 3 * (size_t)count * sizeof(double));
    for (int c = 0; c < 3; c++) find_slopes(f, c);
    return f;
}

/* Shifts all values so that the one at t = 0 is zero. */
static void begin_at_zero(tw_keyframes *f)
{
    static const double zero[3] = {0.0, 0.0, 0.0};
    double value[3];
    double velocity[3];
    double acceleration[3];
    tw_keyframes_at(f, 0.0, zero, value, velocity, acceleration);
    for (int64_t i = 0; i < 3 * f->count; i++) f->value[i] -= value[i % 3];
}

tw_status tw_keyframes_create(int64_t count, const double *times, const double *values,
                              tw_keyframes **out, tw_error *error)
{
    *out = NULL;
    if (count < 2 || !tw_is_count(count) || !times || !values)
        return tw_fail(error, TW_INVALID_ARGUMENT, "a motion needs at least two keyframes");
    if (!tw_vector_is_finite(count, times) || !tw_vector_is_finite(3 * count, values))
        return tw_fail(error, TW_NOT_FINITE, "a keyframe is not finite");
    for (int64_t i = 1; i < count; i++)
        if (!(times[i] > times[i - 1]))
            return tw_fail(error, TW_INVALID_ARGUMENT,
                           "the times of keyframes must ascend: %g is not after %g", times[i],
                           times[i - 1]);

    *out = create(count, times, values);
    if (!*out) return tw_fail_plain(error, TW_OUT_OF_MEMORY);
    begin_at_zero(*out);
    return TW_OK;
}

tw_status tw_model_prescribe_keyframes(tw_model *model, int64_t first, int64_t last, int64_t count,
                                       const double *times, const double *displacements,
                                       tw_error *error)
{
    tw_keyframes *f = NULL;
    TW_TRY(tw_keyframes_create(count, times, displacements, &f, error));

    tw_motion motion = {.context = f, .at = tw_keyframes_at, .release = tw_keyframes_release};
    tw_status status = tw_model_prescribe(model, first, last, &motion, error);
    if (status != TW_OK) tw_keyframes_release(f);
    return status;
}
