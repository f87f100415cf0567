/* The bounding box of a body against walls and ground. */
#include "model/rigid_box.h"

#include <math.h>

#include "base/vector3.h"

enum { CORNERS = 8, MOST_SUBSTEPS = 10000 };

/* A substep turns the body, and swings it in a contact, by at most this angle [rad]: the error of the
 * fourth order is then about 1e-8 per swing. */
static const double RESOLVED_ANGLE = 0.02;

/* A corner and one plane. */
typedef struct meeting {
    double own[3]; /* how fast the corner moves in the frame, in the world's axes */
    double arm[3]; /* from the centre to the corner, in the world's axes */
    double gap;
} meeting;

/* Bit k of the corner's number: at the upper face of axis k. */
static int side_of(int corner, int k)
{
    return corner >> k & 1;
}

static meeting meet(const tw_rigid_box *box, const tw_rigid_state *state, int corner,
                    const tw_rigid_plane *plane)
{
    meeting m;
    double place[3];
    double rate[3];

    for (int k = 0; k < 3; k++) place[k] = box->face[k][side_of(corner, k)];
    for (int k = 0; k < 3; k++) rate[k] = box->rate[k][side_of(corner, k)];
    tw_rigid_to_world(state, place, m.arm);
    tw_rigid_to_world(state, rate, m.own);

    m.gap = 0.0;
    for (int k = 0; k < 3; k++)
        m.gap += plane->normal[k] * (state->centre[k] + m.arm[k] - plane->point[k]);

    return m;
}

/* ---- corners ---- */

/* The velocity of a corner, V + w x r in the world's axes. */
static void corner_velocity(const tw_rigid_box *box, const tw_rigid_state *state,
                            const double arm[3], double v[3])
{
    double own[3];
    double spin[3];
    double turning[3];

    tw_rigid_spin(&box->body, state, own);
    tw_rigid_to_world(state, own, spin);
    tw_cross3(spin, arm, turning);
    for (int k = 0; k < 3; k++) v[k] = state->momentum[k] / box->body.mass + turning[k];
}

/* The speed with which a corner leaves a plane, with the motion of its faces in the frame. */
static double leaving_speed(const tw_rigid_box *box, const tw_rigid_state *state, const meeting *m,
                            const tw_rigid_plane *plane)
{
    double v[3];
    corner_velocity(box, state, m->arm, v);
    return tw_dot3(v, plane->normal) + tw_dot3(m->own, plane->normal);
}

void tw_rigid_box_decide(const tw_rigid_box *box, const tw_rigid_state *state)
{
    double weaker = box->restitution * box->restitution;

    for (int i = 0; i < CORNERS * box->plane_count; i++) {
        const tw_rigid_plane *plane = &box->planes[i / CORNERS];
        meeting m = meet(box, state, i % CORNERS, plane);
        box->share[i] = leaving_speed(box, state, &m, plane) > 0.0 ? weaker : 1.0;
    }
}

void tw_rigid_box_push(const tw_rigid_box *box, const tw_rigid_state *state, tw_rigid_forces *out)
{
    *out = (tw_rigid_forces){0};
    out->energy = -box->body.mass * tw_dot3(box->gravity, state->centre);
    for (int p = 0; p < box->plane_count; p++)
        for (int corner = 0; corner < CORNERS; corner++) {
            const tw_rigid_plane *plane = &box->planes[p];
            meeting m = meet(box, state, corner, plane);
            tw_repulsion psi = tw_contact_repulsion(&box->law, m.gap);
            if (psi.energy == 0.0) continue;

            double own[3];
            double press = -psi.slope * box->share[CORNERS * p + corner];
            tw_rigid_to_body(state, plane->normal, own);
            for (int k = 0; k < 3; k++) {
                out->contact[k] += press * plane->normal[k];
                out->face[k][side_of(corner, k)] += press * own[k];
                out->kept[k][side_of(corner, k)] += (-psi.slope - press) * own[k];
            }
            out->energy += psi.energy;
            out->penetration = fmax(out->penetration, -m.gap);
            out->touching++;
        }
}

int tw_rigid_box_substeps(const tw_rigid_box *box, double h, const tw_rigid_state *state)
{
    const tw_rigid_body *body = &box->body;
    double spin[3];

    tw_rigid_spin(body, state, spin);
    double rate = sqrt(tw_dot3(spin, spin));
    double speed = sqrt(tw_dot3(state->momentum, state->momentum)) / body->mass;
    double size = 0.0;

    for (int k = 0; k < 3; k++) size += fmax(fabs(box->face[k][0]), fabs(box->face[k][1]));
    speed += rate * size + fabs(h) * sqrt(tw_dot3(box->gravity, box->gravity));

    /* The law is never stiffer than 4 kappa at a corner, whose mass is a quarter of that of the body
     * or more where the body can turn away. */
    bool near = false;

    for (int p = 0; p < box->plane_count && !near; p++)
        for (int corner = 0; corner < CORNERS; corner++)
            near = near ||
                   meet(box, state, corner, &box->planes[p]).gap < box->law.onset + speed * fabs(h);
    if (near) rate += sqrt(4.0 * CORNERS * 4.0 * box->law.stiffness / body->mass);

    double count = ceil(fabs(h) * rate / RESOLVED_ANGLE);

    return (int)fmin(fmax(count, 1.0), MOST_SUBSTEPS);
}

/* ---- momenta ---- */

typedef struct motion {
    const tw_rigid_box *box;
    tw_rigid_account *account;
} motion;

/* An impulse at a corner; the planes get the opposite one. */
static void push(const motion *m, const double arm[3], const double impulse[3],
                 tw_rigid_state *state)
{
    double moment[3];

    tw_cross3(arm, impulse, moment);
    for (int k = 0; k < 3; k++) {
        state->momentum[k] += impulse[k];
        state->angular_momentum[k] += moment[k];
        m->account->impulse[k] -= impulse[k];
    }
}

/* What weight and repulsion do within h. All corners have the velocities of the begin. */
static void kick(void *context, double h, tw_rigid_state *state)
{
    const motion *m = context;
    const tw_rigid_box *box = m->box;
    const tw_rigid_state before = *state;

    for (int k = 0; k < 3; k++) state->momentum[k] += h * box->body.mass * box->gravity[k];

    for (int i = 0; i < CORNERS * box->plane_count; i++) {
        const tw_rigid_plane *plane = &box->planes[i / CORNERS];
        meeting at = meet(box, &before, i % CORNERS, plane);
        tw_repulsion psi = tw_contact_repulsion(&box->law, at.gap);
        if (psi.energy == 0.0) continue;
        double v[3];
        corner_velocity(box, &before, at.arm, v);
        double speed = tw_dot3(v, plane->normal);
        double share = box->share[i];
        double impulse[3];
        for (int k = 0; k < 3; k++) impulse[k] = -h * share * psi.slope * plane->normal[k];
        push(m, at.arm, impulse, state);
        box->pressed[i] -= h * share * psi.slope;
        m->account->contact_loss -= h * (1.0 - share) * psi.slope * speed;
    }
}

/* ---- friction ---- */

/* 1/m of a corner along a direction n: 1/M + (r x n) . I^-1 (r x n). */
static double inverse_mass(const tw_rigid_box *box, const tw_rigid_state *state,
                           const double arm[3], const double n[3])
{
    double world[3];
    double own[3];
    double divided[3];

    tw_cross3(arm, n, world);
    tw_rigid_to_body(state, world, own);
    tw_rigid_divide(&box->body, own, divided);
    return 1.0 / box->body.mass + tw_dot3(own, divided);
}

/* Slows the sliding of one of `touching` corners down by an impulse of at most `largest`. All together
 * do not go beyond rest. */
static void rub(const motion *m, const meeting *at, const tw_rigid_plane *plane, double largest,
                int touching, const tw_rigid_state *before, tw_rigid_state *state)
{
    double u[3];
    corner_velocity(m->box, before, at->arm, u);
    double along = tw_dot3(u, plane->normal);

    for (int k = 0; k < 3; k++) u[k] -= along * plane->normal[k];
    double speed = sqrt(tw_dot3(u, u));

    if (!(speed > 0.0) || !(largest > 0.0)) return;

    for (int k = 0; k < 3; k++) u[k] /= speed;
    double inverse = inverse_mass(m->box, before, at->arm, u);
    double size = fmin(largest, speed / inverse / touching);
    double impulse[3];

    for (int k = 0; k < 3; k++) impulse[k] = -size * u[k];
    push(m, at->arm, impulse, state);
}

/* What friction takes in a substep: on each corner at most mu times the impulse that pressed it. Its
 * energy is what the body has less after it. */
static void rub_all(const motion *m, tw_rigid_state *state)
{
    const tw_rigid_box *box = m->box;
    const tw_rigid_state before = *state;
    int touching = 0;

    for (int i = 0; i < CORNERS * box->plane_count; i++) touching += box->pressed[i] > 0.0;
    if (touching == 0) return;

    for (int i = 0; i < CORNERS * box->plane_count; i++) {
        const tw_rigid_plane *plane = &box->planes[i / CORNERS];
        meeting at = meet(box, &before, i % CORNERS, plane);
        rub(m, &at, plane, box->friction * box->pressed[i], touching, &before, state);
    }
    m->account->friction_loss +=
        tw_rigid_kinetic(&box->body, &before) - tw_rigid_kinetic(&box->body, state);
}

void tw_rigid_box_advance(const tw_rigid_box *box, double h, int substeps, tw_rigid_state *state,
                          tw_rigid_account *account)
{
    motion m = {box, account};
    double part = h / substeps;

    for (int i = 0; i < substeps; i++) {
        for (int c = 0; c < CORNERS * box->plane_count; c++) box->pressed[c] = 0.0;
        tw_rigid_step(&box->body, part, kick, &m, state);
        if (part > 0.0 && box->friction > 0.0) rub_all(&m, state);
    }
}
