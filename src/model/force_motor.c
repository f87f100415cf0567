/* A motor: a couple on the rotor about an axis, and the opposite couple on the stator.
 *
 * A couple of torque T on particles with centre c and r_i = x_i - c is
 *     f_i = w x r_i,   I w = T,   I = sum (r_i . r_i) 1 - r_i r_i^T.
 * The forces add up to w x sum r_i = 0, and their torque is I w = T. With T = tau(t) n, n the unit
 * vector of the axis, on the rotor and -T on the stator, the whole feels neither force nor torque.
 *
 * The forces have no potential and follow the particles, so K is not symmetric. With d the changes of
 * the particles, dr_i = d_i - dc:
 *     dI w = sum 2 (r_i . dr_i) w - (r_i . w) dr_i - (dr_i . w) r_i,
 *     dw = I^-1 (dT - dI w),   df_i = dw x r_i + w x dr_i,
 *     dn = (1 - n n^T) (d_b - d_a) / |x_b - x_a|. */
#include <math.h>
#include <twang/fluid.h>

#include "base/allocate.h"
#include "base/fail.h"
#include "base/vector3.h"
#include "model/model_internal.h"

static const double PI = 3.14159265358979323846;

/* The particles of the rotor or the stator, and their couple at the last linearisation. */
typedef struct couple {
    int64_t first;
    int64_t last;
    double sign;     /* of the torque */
    vec3 centre;     /* c */
    vec3 inertia[3]; /* columns of I [m^2] */
    vec3 w;          /* [N/m] */
} couple;

typedef struct motor {
    tw_motor given;
    const tw_particles *particles;
    couple side[2];  /* rotor and stator */
    vec3 axis;       /* n at the last linearisation */
    double distance; /* of the two particles of the axis there */
    double torque;   /* tau there */
    const double *x; /* positions there, a copy */
    double *storage; /* of the copy */
} motor;

/* ---- couples ---- */

/* Solves I w = T by Cramer's rule. False if the particles are on a line. */
static bool solve(const couple *c, vec3 torque, vec3 *w)
{
    const vec3 *inertia = c->inertia;
    vec3 yz = vec3_cross(inertia[1], inertia[2]);
    vec3 zx = vec3_cross(inertia[2], inertia[0]);
    vec3 xy = vec3_cross(inertia[0], inertia[1]);
    double determinant = vec3_dot(inertia[0], yz);
    double size = inertia[0].x + inertia[1].y + inertia[2].z;

    /* Of three equal moments it is size^3/27, of a rod it is 0. */
    const double smallest = 1e-9;
    if (!(determinant > smallest * size * size * size)) return false;
    *w = vec3_scale(1.0 / determinant,
                    (vec3){vec3_dot(yz, torque), vec3_dot(zx, torque), vec3_dot(xy, torque)});
    return true;
}

static vec3 arm(const couple *c, const double *x, int64_t particle)
{
    return vec3_subtract(vec3_at(x, particle), c->centre);
}

/* Centre, moments and w of a couple of the torque T. */
static tw_status find_couple(couple *c, const double *x, vec3 torque)
{
    c->centre = (vec3){0.0, 0.0, 0.0};
    for (int64_t i = c->first; i <= c->last; i++) c->centre = vec3_add(c->centre, vec3_at(x, i));
    c->centre = vec3_scale(1.0 / (double)(c->last - c->first + 1), c->centre);

    /* I = sum (r . r) 1 - r r^T. */
    for (int k = 0; k < 3; k++) c->inertia[k] = (vec3){0.0, 0.0, 0.0};
    for (int64_t i = c->first; i <= c->last; i++) {
        vec3 r = arm(c, x, i);
        double square = vec3_dot(r, r);
        c->inertia[0] = vec3_add_scaled(c->inertia[0], -r.x, r);
        c->inertia[1] = vec3_add_scaled(c->inertia[1], -r.y, r);
        c->inertia[2] = vec3_add_scaled(c->inertia[2], -r.z, r);
        c->inertia[0].x += square;
        c->inertia[1].y += square;
        c->inertia[2].z += square;
    }
    return solve(c, vec3_scale(c->sign, torque), &c->w) ? TW_OK : TW_RECOVERABLE;
}

/* The unit vector of the axis and its length; TW_RECOVERABLE if its two particles meet. */
static tw_status find_axis(const motor *m, const double *x, vec3 *axis, double *distance)
{
    vec3 line = vec3_subtract(vec3_at(x, m->given.axis[1]), vec3_at(x, m->given.axis[0]));
    *distance = vec3_length(line);
    if (!(*distance > 0.0)) return TW_RECOVERABLE;
    *axis = vec3_scale(1.0 / *distance, line);
    return TW_OK;
}

/* tau(t), or its derivative. */
static double torque_at(const tw_motor *given, double t)
{
    return given->torque * cos(2.0 * PI * given->frequency * t + given->phase);
}

static double torque_rate(const tw_motor *given, double t)
{
    double rate = 2.0 * PI * given->frequency;
    return -rate * given->torque * sin(rate * t + given->phase);
}

/* force += the two couples of torque tau. */
static tw_status add_couples(motor *m, double tau, const double *x, double *force)
{
    vec3 axis;
    double distance = 0.0;
    TW_TRY(find_axis(m, x, &axis, &distance));

    for (int s = 0; s < 2; s++) {
        couple c = m->side[s];
        TW_TRY(find_couple(&c, x, vec3_scale(tau, axis)));
        for (int64_t i = c.first; i <= c.last; i++) {
            vec3 sum = vec3_add(vec3_at(force, i), vec3_cross(c.w, arm(&c, x, i)));
            vec3_store(force, i, sum);
        }
    }
    return TW_OK;
}

/* ---- the table ---- */

static void motor_release(void *data)
{
    motor *m = data;
    if (!m) return;
    tw_release(m->storage);
    tw_release(m);
}

static unsigned motor_traits(const void *data)
{
    const motor *m = data;
    unsigned traits = TW_FORCE_GENERAL | TW_FORCE_FEEDS;
    if (m->given.frequency > 0.0) traits |= TW_FORCE_TIME;
    return traits;
}

static tw_status motor_complete(void *data, const tw_particles *particles)
{
    motor *m = data;
    m->particles = particles;
    m->storage = TW_NEW_ARRAY(3 * particles->count, double);
    m->x = m->storage;
    return m->storage ? TW_OK : TW_OUT_OF_MEMORY;
}

static tw_status motor_add_force(void *data, const tw_force_view *at, double *force)
{
    motor *m = data;
    return add_couples(m, torque_at(&m->given, at->t), at->x, force);
}

static tw_status motor_add_time_derivative(void *data, const tw_force_view *at, double *out)
{
    motor *m = data;
    return add_couples(m, torque_rate(&m->given, at->t), at->x, out);
}

static tw_status motor_linearise(void *data, const tw_force_view *at)
{
    motor *m = data;
    for (int64_t i = 0; i < 3 * m->particles->count; i++) m->storage[i] = at->x[i];
    m->torque = torque_at(&m->given, at->t);

    TW_TRY(find_axis(m, at->x, &m->axis, &m->distance));
    for (int s = 0; s < 2; s++)
        TW_TRY(find_couple(&m->side[s], at->x, vec3_scale(m->torque, m->axis)));
    return TW_OK;
}

/* The change of a particle; pinned ones have none. */
static vec3 change_of(const motor *m, const double *in, int64_t particle)
{
    int32_t unknown = m->particles->unknown[particle];
    return unknown < 0 ? (vec3){0.0, 0.0, 0.0} : vec3_at(in, unknown);
}

/* out -= df of one couple, whose torque changes by `change`. */
static void subtract_change(const motor *m, const couple *c, vec3 change, const double *in,
                            double *out)
{
    vec3 centre = {0.0, 0.0, 0.0};
    for (int64_t i = c->first; i <= c->last; i++) centre = vec3_add(centre, change_of(m, in, i));
    centre = vec3_scale(1.0 / (double)(c->last - c->first + 1), centre);

    /* right = dT - dI w. */
    vec3 right = vec3_scale(c->sign, change);
    for (int64_t i = c->first; i <= c->last; i++) {
        vec3 r = arm(c, m->x, i);
        vec3 dr = vec3_subtract(change_of(m, in, i), centre);

        right = vec3_add_scaled(right, -2.0 * vec3_dot(r, dr), c->w);
        right = vec3_add_scaled(right, vec3_dot(r, c->w), dr);
        right = vec3_add_scaled(right, vec3_dot(dr, c->w), r);
    }

    vec3 dw = {0.0, 0.0, 0.0};
    solve(c, right, &dw);

    /* df = dw x r + w x dr. */
    for (int64_t i = c->first; i <= c->last; i++) {
        int32_t unknown = m->particles->unknown[i];
        if (unknown < 0) continue;
        vec3 dr = vec3_subtract(change_of(m, in, i), centre);
        vec3 df = vec3_add(vec3_cross(dw, arm(c, m->x, i)), vec3_cross(c->w, dr));
        vec3_store(out, unknown, vec3_subtract(vec3_at(out, unknown), df));
    }
}

static void motor_add_product(void *data, int count, const double *in, double *out)
{
    const motor *m = data;
    int64_t n = 3 * m->particles->free_count;

    for (int j = 0; j < count; j++, in += n, out += n) {
        /* dT = tau dn. */
        vec3 line =
            vec3_subtract(change_of(m, in, m->given.axis[1]), change_of(m, in, m->given.axis[0]));
        vec3 across = vec3_add_scaled(line, -vec3_dot(line, m->axis), m->axis);
        vec3 change = vec3_scale(m->torque / m->distance, across);
        for (int s = 0; s < 2; s++) subtract_change(m, &m->side[s], change, in, out);
    }
}

/* The symmetric stand-in S is 0: a motor is soft beside what it turns. */
static void motor_add_nothing(void *data, int count, const double *in, double *out)
{
    (void)data;
    (void)count;
    (void)in;
    (void)out;
}

static const tw_force_table motor_table = {
    .name = "motor",
    .release = motor_release,
    .traits = motor_traits,
    .complete = motor_complete,
    .add_force = motor_add_force,
    .add_time_derivative = motor_add_time_derivative,
    .linearise = motor_linearise,
    .add_product = motor_add_product,
    .add_symmetric_product = motor_add_nothing,
    .add_rest_product = motor_add_product,
};

/* ---- adding one ---- */

tw_motor tw_motor_default(void)
{
    return (tw_motor){0};
}

static bool is_range(const tw_model *model, int64_t first, int64_t last)
{
    return first >= 0 && first + 1 < last && last < model->particles.count;
}

static bool is_inside(int64_t particle, int64_t first, int64_t last)
{
    return particle >= first && particle <= last;
}

static tw_status check_motor(const tw_model *model, const tw_motor *g, tw_error *error)
{
    if (!is_range(model, g->rotor_first, g->rotor_last) ||
        !is_range(model, g->stator_first, g->stator_last))
        return tw_fail(error, TW_INVALID_ARGUMENT,
                       "rotor and stator of a motor need three particles or more each");
    if (g->rotor_first <= g->stator_last && g->stator_first <= g->rotor_last)
        return tw_fail(error, TW_INVALID_ARGUMENT, "rotor and stator of a motor share particles");
    for (int k = 0; k < 2; k++)
        if (!is_inside(g->axis[k], 0, model->particles.count - 1))
            return tw_fail(error, TW_INVALID_ARGUMENT, "the axis of a motor needs two particles");
    if (!isfinite(g->torque) || !(g->frequency >= 0.0) || !isfinite(g->frequency) ||
        !isfinite(g->phase) || !(g->bearing >= 0.0) || !isfinite(g->bearing))
        return tw_fail(error, TW_INVALID_ARGUMENT,
                       "a motor needs a finite torque and phase, frequency and bearing >= 0");

    bool on_rotor = is_inside(g->axis[0], g->rotor_first, g->rotor_last) ||
                    is_inside(g->axis[1], g->rotor_first, g->rotor_last);
    if (g->bearing > 0.0 && on_rotor)
        return tw_fail(error, TW_INVALID_ARGUMENT,
                       "the axis of a motor with a bearing has no particle of the rotor");
    return TW_OK;
}

/* Springs from each particle of the rotor to both of the axis: distances from an axis do not change
 * where the rotor turns about it. */
static tw_status add_bearing(tw_model *model, const tw_motor *g, tw_error *error)
{
    int64_t count = 2 * (g->rotor_last - g->rotor_first + 1);
    int64_t *ends = TW_NEW_ARRAY(2 * count, int64_t);
    double *stiffness = TW_NEW_ARRAY(count, double);
    tw_status status = ends && stiffness ? TW_OK : tw_fail_plain(error, TW_OUT_OF_MEMORY);

    if (status == TW_OK) {
        for (int64_t s = 0; s < count; s++) {
            ends[2 * s] = g->rotor_first + s / 2;
            ends[2 * s + 1] = g->axis[s % 2];
            stiffness[s] = g->bearing;
        }
        status = tw_model_add_springs(model, count, ends, stiffness, NULL, error);
    }

    tw_release(ends);
    tw_release(stiffness);
    return status;
}

tw_status tw_model_add_motor(tw_model *model, const tw_motor *motor_given, tw_error *error)
{
    if (!model || !motor_given || model->completion_begun)
        return tw_fail_plain(error, TW_INVALID_ARGUMENT);
    TW_TRY(check_motor(model, motor_given, error));

    motor *m = TW_NEW(motor);
    if (!m) return tw_fail_plain(error, TW_OUT_OF_MEMORY);
    m->given = *motor_given;
    m->side[0] = (couple){.first = m->given.rotor_first, .last = m->given.rotor_last, .sign = 1.0};
    m->side[1] =
        (couple){.first = m->given.stator_first, .last = m->given.stator_last, .sign = -1.0};

    /* The particles must be able to take a couple. */
    vec3 axis;
    double distance = 0.0;
    const double *x = model->particles.position;
    tw_status status = find_axis(m, x, &axis, &distance);
    for (int s = 0; s < 2 && status == TW_OK; s++) status = find_couple(&m->side[s], x, axis);
    if (status == TW_OK && m->given.bearing > 0.0) status = add_bearing(model, &m->given, error);

    if (status != TW_OK) {
        motor_release(m);
        if (status == TW_RECOVERABLE)
            return tw_fail(error, TW_INVALID_ARGUMENT,
                           "rotor and stator of a motor must not lie on a line, and the two "
                           "particles of its axis not at one place");
        return status;
    }
    return tw_model_add_force(model, &(tw_force){&motor_table, m}, error);
}
