/* A body whose global motion is that of a rigid body. */
#include "model/rigid_motion.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "base/allocate.h"
#include "base/fail.h"
#include "base/parallel_for.h"
#include "base/vector3.h"
#include "model/rigid_faces.h"

/* What changes with every step. */
typedef struct inner {
    tw_rigid_state state;
    tw_rigid_account account;
} inner;
enum { INNER = TW_RIGID_STATE_SIZE + TW_RIGID_ACCOUNT_SIZE };
static_assert(sizeof(inner) == INNER * sizeof(double), "internal variables are numbers in a row");

/* How the frame moves at a time, in its own axes. */
typedef struct frame {
    double t;
    inner at;
    double acceleration[3]; /* a */
    double spin[3];         /* w */
    double spin_rate[3];    /* w' */
    tw_rigid_forces forces;
} frame;

struct tw_rigid_motion {
    const tw_particles *particles;
    tw_rigid_box box; /* over the step that was begun last */
    tw_rigid_box end; /* where that step ended, or at the start of the run */
    tw_rigid_faces faces;
    double *inner; /* internal variables of the model, INNER of them */
    inner start;   /* at the start of the run */

    /* The step that was begun last: it goes from `begin` at t to t + h. */
    bool has_step;
    bool is_finished; /* `inner` is its end */
    double t;
    double h;
    int substeps;
    inner begin;

    frame now;                          /* at the last evaluation */
    frame fixed;                        /* at the last linearisation */
    double told[TW_RIGID_ACCOUNT_SIZE]; /* of the account, by measurements */
    int64_t *diagonal;                  /* the diagonal matrix block of each free particle */
};

static void rigid_release(void *data)
{
    tw_rigid_motion *r = data;

    if (!r) return;
    tw_rigid_faces_free(&r->faces);
    tw_release(r->box.planes);
    tw_release(r->box.pressed);
    tw_release(r->box.share);
    tw_release(r->diagonal);
    tw_release(r);
}

static unsigned rigid_traits(const void *data)
{
    (void)data;
    return TW_FORCE_VELOCITY | TW_FORCE_GENERAL;
}

/* ---- how the frame moves ---- */

/* a = R^T F / M and w' = I^-1 (T - w x I w), T the moment of the pushes on the particles. */
static void find_rates(const tw_rigid_motion *r, const tw_rigid_box *box, frame *f)
{
    const tw_rigid_state *state = &f->at.state;

    tw_rigid_forces forces = {0};
    tw_rigid_box_push(box, state, &forces);
    f->forces = forces;
    tw_rigid_spin(&box->body, state, f->spin);
    for (int k = 0; k < 3; k++)
        f->acceleration[k] = (forces.face[k][0] + forces.face[k][1]) / box->body.mass;

    double own[3];
    double gyroscopic[3];
    double moment[3];

    tw_rigid_to_body(state, state->angular_momentum, own);
    tw_cross3(f->spin, own, gyroscopic);
    tw_rigid_faces_moment(&r->faces, f->forces.face, moment);
    for (int k = 0; k < 3; k++) moment[k] -= gyroscopic[k];
    tw_rigid_divide(&box->body, moment, f->spin_rate);
}

/* The frame at time t: on the way of the step that was begun last, or where the state is. */
static void find_frame(tw_rigid_motion *r, double t, frame *f)
{
    *f = (frame){.t = t};
    double way = t - r->t;
    bool at_end = !r->has_step || (r->is_finished && !(way < r->h * (1.0 - 1e-12)));

    if (at_end) {
        memcpy(&f->at, r->inner, sizeof f->at);
        find_rates(r, &r->end, f);
        return;
    }

    /* Substeps about as long as those of the whole step. */
    int count = (int)ceil(r->substeps * fmin(fabs(way) / r->h, 1.0));
    f->at = r->begin;

    if (count > 0) tw_rigid_box_advance(&r->box, way, count, &f->at.state, &f->at.account);
    find_rates(r, &r->box, f);
}

static const frame *frame_at(tw_rigid_motion *r, double t)
{
    if (r->now.t != t) find_frame(r, t, &r->now);
    return &r->now;
}

/* The laws have changed: nothing that was found before is right. */
static void forget_frame(tw_rigid_motion *r)
{
    r->now.t = NAN;
}

/* ---- force ---- */

typedef struct loop {
    const tw_rigid_motion *r;
    const frame *f;
    const double *x;
    const double *v;
    double *out;
    double factor;
} loop;

/* out -= factor m (a + w' x y + w x (w x y) + 2 w x y'). */
static void inertia_block(void *context, int64_t begin, int64_t end, int64_t block)
{
    (void)block;
    const loop *l = context;
    const frame *f = l->f;
    const tw_particles *p = l->r->particles;

    for (int64_t i = begin; i < end; i++) {
        int64_t particle = p->particle[i];
        const double *y = l->x + 3 * particle;
        double inward[3];
        double turning[3];
        double faster[3];

        /* w x (w x y + 2 y') is the centrifugal part and that of Coriolis. */
        tw_cross3(f->spin, y, turning);
        for (int k = 0; k < 3; k++) turning[k] += 2.0 * l->v[3 * particle + k];
        tw_cross3(f->spin, turning, inward);
        tw_cross3(f->spin_rate, y, faster);
        double m = l->factor * p->mass[particle];
        for (int k = 0; k < 3; k++)
            l->out[3 * particle + k] -= m * (f->acceleration[k] + faster[k] + inward[k]);
    }
}

static void add_scaled(const tw_rigid_motion *r, const frame *f, double factor,
                       const tw_force_view *at, double *force)
{
    loop l = {.r = r, .f = f, .x = at->x, .v = at->v, .out = force, .factor = factor};
    tw_parallel_for(r->particles->free_count, TW_PARTICLE_BLOCK, inertia_block, &l);
    tw_rigid_faces_add(&r->faces, factor, f->forces.face, force);
}

static tw_status rigid_add_force(void *data, const tw_force_view *at, double *force)
{
    tw_rigid_motion *r = data;
    add_scaled(r, frame_at(r, at->t), 1.0, at, force);
    return TW_OK;
}

/* df/dt by a central difference over a thousandth of the step. */
static tw_status rigid_add_time_derivative(void *data, const tw_force_view *at, double *out)
{
    tw_rigid_motion *r = data;

    if (!r->has_step) return TW_OK;
    double s = 1e-3 * r->h;
    frame later;
    frame earlier;

    find_frame(r, at->t + s, &later);
    find_frame(r, at->t - s, &earlier);
    add_scaled(r, &later, 0.5 / s, at, out);
    add_scaled(r, &earlier, -0.5 / s, at, out);

    return TW_OK;
}

/* Energy of the box against the walls, where its faces are now, and of the weight. */
static tw_status rigid_add_energy(void *data, const tw_force_view *at, double *energy)
{
    tw_rigid_motion *r = data;
    const frame *f = frame_at(r, at->t);

    tw_rigid_box box = r->box;

    tw_rigid_forces forces;

    tw_rigid_faces_find(&r->faces, at->x, box.face);
    tw_rigid_box_push(&box, &f->at.state, &forces);
    *energy += forces.energy;
    return TW_OK;
}

/* ---- tangents ---- */

static void rigid_add_pattern(const void *data, tw_pattern *pattern)
{
    const tw_rigid_motion *r = data;
    for (int64_t i = 0; i < r->particles->free_count; i++)
        tw_pattern_add(pattern, (int32_t)i, (int32_t)i);
}

static void rigid_locate(void *data, const tw_sparse *matrix)
{
    tw_rigid_motion *r = data;
    for (int64_t i = 0; i < r->particles->free_count; i++)
        r->diagonal[i] = tw_sparse_find(matrix, i, i);
}

static tw_status rigid_linearise(void *data, const tw_force_view *at)
{
    tw_rigid_motion *r = data;
    r->fixed = *frame_at(r, at->t);
    return TW_OK;
}

static tw_status rigid_linearise_tension(void *data, const tw_force_view *at, const double *tension,
                                         bool definite)
{
    (void)tension;
    (void)definite;
    return rigid_linearise(data, at);
}

/* out += m (first x (second x in)), or m first x in where second is NULL, times factor. */
static void add_turned(const tw_rigid_motion *r, int count, const double first[3],
                       const double *second, double factor, const double *in, double *out)
{
    const tw_particles *p = r->particles;

    for (int64_t i = 0; i < count * p->free_count; i++) {
        double m = factor * p->mass[p->particle[i % p->free_count]];
        double inner_turn[3] = {in[3 * i], in[3 * i + 1], in[3 * i + 2]};
        double turned[3];
        if (second) tw_cross3(second, in + 3 * i, inner_turn);
        tw_cross3(first, inner_turn, turned);
        for (int k = 0; k < 3; k++) out[3 * i + k] += m * turned[k];
    }
}

/* S = m w x (w x .). */
static void rigid_add_symmetric_product(void *data, int count, const double *in, double *out)
{
    const tw_rigid_motion *r = data;
    add_turned(r, count, r->fixed.spin, r->fixed.spin, 1.0, in, out);
}

/* K - S = m w' x . */
static void rigid_add_rest_product(void *data, int count, const double *in, double *out)
{
    const tw_rigid_motion *r = data;
    add_turned(r, count, r->fixed.spin_rate, NULL, 1.0, in, out);
}

static void rigid_add_product(void *data, int count, const double *in, double *out)
{
    rigid_add_symmetric_product(data, count, in, out);
    rigid_add_rest_product(data, count, in, out);
}

/* D = 2 m w x . */
static void rigid_add_damping_product(void *data, int count, const double *in, double *out)
{
    const tw_rigid_motion *r = data;
    add_turned(r, count, r->fixed.spin, NULL, 2.0, in, out);
}

/* The symmetric part of D is zero. */
static void rigid_add_damping(void *data, double factor, tw_sparse *matrix)
{
    (void)data;
    (void)factor;
    (void)matrix;
}

/* w x (w x u) = (w w^T - w^2) u. */
static void rigid_add_tangent(void *data, tw_sparse *matrix)
{
    const tw_rigid_motion *r = data;
    const double *w = r->fixed.spin;
    double square = tw_dot3(w, w);

    for (int64_t i = 0; i < r->particles->free_count; i++) {
        double *block = tw_sparse_values(matrix) + 9 * r->diagonal[i];
        double m = r->particles->mass[r->particles->particle[i]];
        for (int k = 0; k < 9; k++)
            block[k] += m * (w[k % 3] * w[k / 3] - (k % 4 == 0 ? square : 0.0));
    }
}

/* The spin at the start has no bound for later, but it is small beside the elasticity. */
static void rigid_add_stiffness_at_rest(const void *data, double *bound)
{
    (void)data;
    (void)bound;
}

/* ---- steps ---- */

/* Sets inertia and box as the particles are now; the box is where its faces are expected after
 * `ahead`. */
static void measure_body(tw_rigid_motion *r, const tw_force_view *at, double ahead,
                         tw_rigid_box *box)
{
    double inertia[9];

    tw_rigid_inertia(r->particles, at->x, inertia);
    tw_rigid_body_set(&box->body, box->body.mass, inertia);

    tw_rigid_faces_find(&r->faces, at->x, box->face);
    tw_rigid_faces_rates(&r->faces, at->v, box->rate);
    for (int k = 0; k < 3; k++)
        for (int side = 0; side < 2; side++) box->face[k][side] += ahead * box->rate[k][side];
}

static tw_status rigid_begin_step(void *data, double h, const tw_force_view *at, bool *changed)
{
    (void)changed;
    tw_rigid_motion *r = data;

    memcpy(&r->begin, r->inner, sizeof r->begin);
    measure_body(r, at, 0.5 * h, &r->box);
    tw_rigid_faces_centre(&r->faces, at->x);
    r->has_step = h > 0.0;
    r->is_finished = false;
    r->t = at->t;
    r->h = h;
    tw_rigid_box_decide(&r->box, &r->begin.state);
    r->substeps = tw_rigid_box_substeps(&r->box, h, &r->begin.state);
    forget_frame(r);

    return TW_OK;
}

/* Whether the faces are where they were expected, within a tenth of the contact distance. */
static bool faces_are_expected(const tw_rigid_motion *r, const double *from, const double *to)
{
    if (r->box.plane_count == 0) return true;
    double before[3][2];
    double after[3][2];

    tw_rigid_faces_find(&r->faces, from, before);
    tw_rigid_faces_find(&r->faces, to, after);
    for (int k = 0; k < 3; k++)
        for (int side = 0; side < 2; side++) {
            double middle = 0.5 * (before[k][side] + after[k][side]);
            if (fabs(middle - r->box.face[k][side]) > 0.1 * r->box.law.onset) return false;
        }

    return true;
}

/* What restitution kept of the work on the faces over the step: Simpson's rule for the force, times the
 * way. */
static double kept_work(tw_rigid_motion *r, const double *from, const double *to)
{
    static const double weights[3] = {1.0 / 6.0, 4.0 / 6.0, 1.0 / 6.0};
    double before[3][2];
    double after[3][2];
    double work = 0.0;

    if (!(r->box.restitution < 1.0)) return 0.0;
    tw_rigid_faces_find(&r->faces, from, before);
    tw_rigid_faces_find(&r->faces, to, after);
    for (int i = 0; i < 3; i++) {
        frame f;
        find_frame(r, r->t + 0.5 * i * r->h, &f);
        for (int k = 0; k < 3; k++)
            for (int side = 0; side < 2; side++)
                work += weights[i] * f.forces.kept[k][side] * (after[k][side] - before[k][side]);
    }
    return work;
}

static tw_status rigid_finish_step(void *data, double h, const tw_force_view *from, double t,
                                   double *x, double *v, bool *changed)
{
    (void)t;
    tw_rigid_motion *r = data;
    inner end = r->begin;

    tw_rigid_box_advance(&r->box, h, r->substeps, &end.state, &end.account);
    if (!faces_are_expected(r, from->x, x)) return TW_RECOVERABLE;
    end.account.contact_loss += kept_work(r, from->x, x);

    /* The frame takes over what the particles have of momentum and angular momentum. Both are those
     * of the rigid body, whose inertia is now that of the deformed one. */
    tw_rigid_take_motion(r->particles, x, v);
    memcpy(r->inner, &end, sizeof end);
    tw_force_view now = {t, x, v};
    measure_body(r, &now, 0.0, &r->end);
    r->is_finished = true;

    forget_frame(r);
    *changed = true;

    return TW_OK;
}

static int64_t rigid_internal_count(const void *data)
{
    (void)data;
    return INNER;
}

static void rigid_set_internal(void *data, double *state, unsigned char *changed)
{
    (void)changed;
    tw_rigid_motion *r = data;
    r->inner = state;
    memcpy(state, &r->start, sizeof r->start);
}

static tw_status rigid_complete(void *data, const tw_particles *particles)
{
    tw_rigid_motion *r = data;
    r->diagonal = TW_NEW_ARRAY(particles->free_count, int64_t);
    return r->diagonal ? TW_OK : TW_OUT_OF_MEMORY;
}

static const tw_force_table rigid_table = {
    .name = "rigid motion",
    .release = rigid_release,
    .traits = rigid_traits,
    .complete = rigid_complete,
    .add_pattern = rigid_add_pattern,
    .locate = rigid_locate,
    .add_energy = rigid_add_energy,
    .add_force = rigid_add_force,
    .add_time_derivative = rigid_add_time_derivative,
    .begin_step = rigid_begin_step,
    .finish_step = rigid_finish_step,
    .internal_count = rigid_internal_count,
    .set_internal = rigid_set_internal,
    .linearise = rigid_linearise,
    .linearise_tension = rigid_linearise_tension,
    .add_product = rigid_add_product,
    .add_symmetric_product = rigid_add_symmetric_product,
    .add_rest_product = rigid_add_rest_product,
    .add_tangent = rigid_add_tangent,
    .add_damping_product = rigid_add_damping_product,
    .add_damping = rigid_add_damping,
    .add_stiffness_at_rest = rigid_add_stiffness_at_rest,
};

/* ---- the start ---- */

/* Copies the planes. */
static tw_status take_planes(tw_rigid_motion *r, const tw_rigid_source *source)
{
    int count = source->contact ? source->obstacles->count : 0;

    tw_rigid_box *box = &r->box;
    box->planes = TW_NEW_ARRAY(count + 1, tw_rigid_plane);
    box->pressed = TW_NEW_ARRAY(8 * (int64_t)count + 1, double);

    box->share = TW_NEW_ARRAY(8 * (int64_t)count + 1, double);
    if (!box->planes || !box->pressed || !box->share) return TW_OUT_OF_MEMORY;

    for (int o = 0; o < count; o++) {
        const double *corner[3];
        for (int k = 0; k < 3; k++)
            corner[k] = r->particles->position + 3 * source->obstacles->list[o].point[k];
        double side[2][3];
        for (int k = 0; k < 3; k++) {
            side[0][k] = corner[1][k] - corner[0][k];
            side[1][k] = corner[2][k] - corner[0][k];
        }
        tw_rigid_plane *plane = &box->planes[box->plane_count++];
        tw_cross3(side[0], side[1], plane->normal);
        double length = sqrt(tw_dot3(plane->normal, plane->normal));
        for (int k = 0; k < 3; k++) {
            plane->normal[k] /= length;
            plane->point[k] = corner[0][k];
        }
    }

    return TW_OK;
}

/* The law of contact: `auto` stops the whole body at the speed that it may have, and carries its
 * weight, at one corner, and leaves a fifth of the contact distance (contact_stiffness.c). */
static void set_law(tw_rigid_motion *r, const tw_contact_options *contact)
{
    tw_rigid_box *box = &r->box;
    const tw_rigid_state *state = &r->start.state;
    box->restitution = contact->restitution;
    box->friction = contact->friction;
    box->law = (tw_contact_law){contact->distance, contact->stiffness};

    if (contact->stiffness > 0.0) return;

    double size = 0.0;

    for (int k = 0; k < 3; k++) size += box->face[k][1] - box->face[k][0];
    double spin[3];

    tw_rigid_spin(&box->body, state, spin);
    double fall = size;

    for (int p = 0; p < box->plane_count; p++)
        for (int k = 0; k < 3; k++)
            fall += fabs(box->planes[p].normal[k] * (state->centre[k] - box->planes[p].point[k]));
    double gravity = sqrt(tw_dot3(box->gravity, box->gravity));
    double speed = sqrt(tw_dot3(state->momentum, state->momentum)) / box->body.mass +
                   0.5 * size * sqrt(tw_dot3(spin, spin));
    speed = fmax(speed, sqrt(2.0 * gravity * fall));

    if (!(speed > 0.0)) speed = 1.0;

    double d = contact->distance;
    double stop = 0.75 * box->body.mass * (speed / d) * (speed / d) / (0.8 * 0.8 * 0.8);
    double carry = box->body.mass * gravity / (2.0 * d) / (0.8 * 0.8);
    box->law.stiffness = fmax(stop, carry);
}

/* Where the frame is at the start: at the centre of mass, with the axes of the world. */
static void set_start(tw_rigid_motion *r)
{
    const tw_particles *p = r->particles;

    tw_rigid_state *state = &r->start.state;

    *state = (tw_rigid_state){.orientation = {1.0}};
    double mass = 0.0;

    for (int64_t i = 0; i < p->free_count; i++) {
        int64_t particle = p->particle[i];
        mass += p->mass[particle];
        for (int k = 0; k < 3; k++) {
            state->centre[k] += p->mass[particle] * p->position[3 * particle + k];
            state->momentum[k] += p->mass[particle] * p->velocity[3 * particle + k];
        }
    }
    for (int k = 0; k < 3; k++) state->centre[k] /= mass;
    r->box.body.mass = mass;

    for (int64_t i = 0; i < p->free_count; i++) {
        int64_t particle = p->particle[i];
        double arm[3];
        double own[3];
        double moment[3];
        for (int k = 0; k < 3; k++) {
            arm[k] = p->position[3 * particle + k] - state->centre[k];
            own[k] = p->velocity[3 * particle + k] - state->momentum[k] / mass;
        }
        tw_cross3(arm, own, moment);
        for (int k = 0; k < 3; k++) state->angular_momentum[k] += p->mass[particle] * moment[k];
    }
}

tw_status tw_rigid_motion_create(const tw_particles *particles, const tw_rigid_source *source,
                                 tw_force *out)
{
    tw_rigid_motion *r = TW_NEW(tw_rigid_motion);
    double *x = TW_NEW_ARRAY(3 * particles->count, double);

    *out = (tw_force){&rigid_table, r};
    tw_status status = r && x ? TW_OK : TW_OUT_OF_MEMORY;

    if (status == TW_OK) {
        r->particles = particles;
        memcpy(r->box.gravity, source->gravity, sizeof r->box.gravity);
        forget_frame(r);
        set_start(r);
        for (int64_t i = 0; i < 3 * particles->count; i++)
            x[i] = particles->position[i] - r->start.state.centre[i % 3];
        status = tw_rigid_faces_create(particles, x, &r->faces);
    }
    if (status == TW_OK) status = take_planes(r, source);
    if (status == TW_OK) {
        tw_force_view at = {0.0, x, particles->velocity};
        measure_body(r, &at, 0.0, &r->box);
        if (source->contact) set_law(r, source->contact);
        tw_rigid_box_decide(&r->box, &r->start.state);
        r->end = r->box;
    }
    tw_release(x);
    if (status == TW_OK) return TW_OK;
    rigid_release(r);

    return status;
}

void tw_rigid_motion_start(const tw_rigid_motion *r, double *u)
{
    const tw_particles *p = r->particles;
    const tw_rigid_state *state = &r->start.state;
    double spin[3];

    tw_rigid_spin(&r->box.body, state, spin);
    for (int64_t i = 0; i < p->free_count; i++) {
        double *y = u + 3 * i;
        double *v = u + 3 * (p->free_count + i);
        double turning[3];
        for (int k = 0; k < 3; k++) y[k] -= state->centre[k];
        tw_cross3(spin, y, turning);
        for (int k = 0; k < 3; k++) v[k] -= state->momentum[k] / r->box.body.mass + turning[k];
    }
}

/* ---- what is told ---- */

typedef struct placing {
    const tw_rigid_motion *r;
    const frame *f;
    double *x;
    double *v;
} placing;

/* x = X + R y and v = V + R (w x y + y'). */
static void place_block(void *context, int64_t begin, int64_t end, int64_t block)
{
    (void)block;
    const placing *l = context;
    const tw_rigid_state *state = &l->f->at.state;

    for (int64_t i = begin; i < end; i++) {
        int64_t particle = l->r->particles->particle[i];
        double *y = l->x + 3 * particle;
        double *u = l->v + 3 * particle;
        double own[3];
        double world[3];
        tw_cross3(l->f->spin, y, own);
        for (int k = 0; k < 3; k++) own[k] += u[k];
        tw_rigid_to_world(state, own, world);
        for (int k = 0; k < 3; k++) u[k] = world[k] + state->momentum[k] / l->r->box.body.mass;
        tw_rigid_to_world(state, y, world);
        for (int k = 0; k < 3; k++) y[k] = world[k] + state->centre[k];
    }
}

void tw_rigid_motion_place(tw_rigid_motion *r, double t, double *x, double *v)
{
    placing l = {r, frame_at(r, t), x, v};
    tw_parallel_for(r->particles->free_count, TW_PARTICLE_BLOCK, place_block, &l);
}

void tw_rigid_motion_measure(tw_rigid_motion *r, double t, tw_measurement *out)
{
    const frame *f = frame_at(r, t);
    const tw_rigid_account *account = &f->at.account;
    out->contacts = f->forces.touching;
    out->penetration_max = f->forces.penetration;

    double now[TW_RIGID_ACCOUNT_SIZE];

    memcpy(now, account, sizeof now);
    out->contact_work = account->contact_loss - r->told[3];
    out->friction_work = account->friction_loss - r->told[4];
    for (int k = 0; k < 3; k++) out->contact_impulse[k] = account->impulse[k] - r->told[k];
    memcpy(r->told, now, sizeof now);
}

double *tw_rigid_motion_told(tw_rigid_motion *r)
{
    return r->told;
}
