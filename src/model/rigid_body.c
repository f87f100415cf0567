/* The motion of a rigid body. */
#include "model/rigid_body.h"

#include <math.h>
#include <string.h>

#include "base/vector3.h"
#include "linalg/dense.h"

/* A moment of inertia below this share of the largest counts as none. */
static const double singular = 1e-10;

enum { EIGEN_SCRATCH = 256 /* numbers, more than tw_dense_eigen_scratch(3) */ };

void tw_rigid_body_set(tw_rigid_body *body, double mass, const double inertia[9])
{
    double scratch[EIGEN_SCRATCH];
    double vectors[9];

    memcpy(vectors, inertia, sizeof vectors);
    body->mass = mass;

    /* Eigenvalues ascend, and the columns of `vectors` are the axes. Without a result the axes of the
     * frame have to do. */
    bool found = tw_dense_eigen_scratch(3) <= EIGEN_SCRATCH &&
                 tw_symmetric_eigen(3, vectors, body->moment, scratch) == TW_OK;

    for (int k = 0; k < 3; k++)
        for (int i = 0; i < 3; i++)
            body->axis[k][i] = found ? vectors[3 * k + i] : (double)(i == k);
    for (int k = 0; k < 3 && !found; k++) body->moment[k] = inertia[4 * k];

    double largest = fmax(body->moment[0], fmax(body->moment[1], body->moment[2]));

    for (int k = 0; k < 3; k++)
        if (!(body->moment[k] > singular * largest)) body->moment[k] = 0.0;
}

/* ---- rotations ---- */

/* out = a rotated by the quaternion (w, u), or by its inverse: a + 2 u x (u x a + w a). */
static void rotate(const double q[4], double sense, const double a[3], double out[3])
{
    double u[3] = {sense * q[1], sense * q[2], sense * q[3]};
    double inner[3];
    double outer[3];

    tw_cross3(u, a, inner);
    for (int k = 0; k < 3; k++) inner[k] += q[0] * a[k];
    tw_cross3(u, inner, outer);
    for (int k = 0; k < 3; k++) out[k] = a[k] + 2.0 * outer[k];
}

void tw_rigid_to_world(const tw_rigid_state *state, const double body[3], double world[3])
{
    rotate(state->orientation, 1.0, body, world);
}

void tw_rigid_to_body(const tw_rigid_state *state, const double world[3], double body[3])
{
    rotate(state->orientation, -1.0, world, body);
}

void tw_rigid_divide(const tw_rigid_body *body, const double in[3], double out[3])
{
    for (int i = 0; i < 3; i++) out[i] = 0.0;
    for (int k = 0; k < 3; k++) {
        if (body->moment[k] == 0.0) continue;
        double along = tw_dot3(body->axis[k], in) / body->moment[k];
        for (int i = 0; i < 3; i++) out[i] += along * body->axis[k][i];
    }
}

void tw_rigid_spin(const tw_rigid_body *body, const tw_rigid_state *state, double spin[3])
{
    double own[3];
    tw_rigid_to_body(state, state->angular_momentum, own);
    tw_rigid_divide(body, own, spin);
}

double tw_rigid_kinetic(const tw_rigid_body *body, const tw_rigid_state *state)
{
    double own[3];
    double spin[3];
    tw_rigid_to_body(state, state->angular_momentum, own);
    tw_rigid_divide(body, own, spin);
    return 0.5 * tw_dot3(state->momentum, state->momentum) / body->mass + 0.5 * tw_dot3(own, spin);
}

/* ---- a step ---- */

/* Turns the body about its k-th principal axis for a time h: by the angle h m_k / I_k. */
static void turn(const tw_rigid_body *body, int k, double h, tw_rigid_state *state)
{
    if (body->moment[k] == 0.0) return;
    double own[3];

    tw_rigid_to_body(state, state->angular_momentum, own);
    double half = 0.5 * h * tw_dot3(body->axis[k], own) / body->moment[k];

    /* q <- q (cos half, sin half a_k). */
    double *q = state->orientation;
    double c = cos(half);
    double s = sin(half);
    const double *a = body->axis[k];
    double u[3] = {s * a[0], s * a[1], s * a[2]};
    double cross[3];

    tw_cross3(q + 1, u, cross);
    double next[4];
    next[0] = q[0] * c - tw_dot3(q + 1, u);

    for (int i = 0; i < 3; i++) next[1 + i] = q[0] * u[i] + c * q[1 + i] + cross[i];

    /* Only rounding changes the length. */
    double length = sqrt(next[0] * next[0] + tw_dot3(next + 1, next + 1));

    for (int i = 0; i < 4; i++) q[i] = next[i] / length;
}

/* Half a kick, the free motion, half a kick. */
static void strang(const tw_rigid_body *body, double h, tw_rigid_kick *kick, void *context,
                   tw_rigid_state *state)
{
    if (kick) kick(context, 0.5 * h, state);
    for (int i = 0; i < 3; i++) state->centre[i] += h * state->momentum[i] / body->mass;
    turn(body, 0, 0.5 * h, state);
    turn(body, 1, 0.5 * h, state);
    turn(body, 2, h, state);
    turn(body, 1, 0.5 * h, state);
    turn(body, 0, 0.5 * h, state);
    if (kick) kick(context, 0.5 * h, state);
}

void tw_rigid_step(const tw_rigid_body *body, double h, tw_rigid_kick *kick, void *context,
                   tw_rigid_state *state)
{
    /* Suzuki: s, s, 1 - 4 s, s, s with s = 1 / (4 - 4^(1/3)). */
    static const double s = 0.41449077179437573714;
    for (int i = 0; i < 5; i++) {
        double share = i == 2 ? 1.0 - 4.0 * s : s;
        strang(body, share * h, kick, context, state);
    }
}
