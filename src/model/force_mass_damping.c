/* The mass-proportional part of Rayleigh damping, which does not damp rigid motion
 * (tw_model_set_rayleigh):
 *     f_i = -alpha m_i (v_i - c' - w x r_i),   r_i = x_i - c.
 * For a free body c is the centre of mass, c' its velocity, and w = I^-1 L the spin, with the
 * inertia I = sum m (r.r - r r^T) and the angular momentum L = sum m r x v. The damped part of v is
 * orthogonal to all rigid motions in the inner product of the mass, so that momentum and angular
 * momentum stay. For a held body the same sums run over its pinned particles, each with weight 1.
 *
 * The tangents of a free body, for a change u of v or x with mean u_c and s = u - u_c, are
 *     D u = alpha m (s - w_u x r),       w_u = I^-1 sum m r x s,
 *     K u = -alpha m (w' x r + w x s),   w' = I^-1 sum m q,
 *     q = s x (v - c') - 2 (r.s) w + s (r.w) + r (s.w).
 * For a held body D u = alpha m u and K u = -alpha m w x u. */
#include <string.h>

#include "base/allocate.h"
#include "base/parallel_for.h"
#include "base/vector3.h"
#include "model/joined_bodies.h"
#include "model/symmetric3.h"

enum {
    SUMS = 10,        /* the most numbers that are summed over a body at once */
    CHUNK_BLOCK = 16, /* chunks per block of a parallel loop */
    BODY_BLOCK = 64   /* bodies per block of a parallel loop */
};

/* An inertia about an axis below this share of the largest counts as none: the body has no extent
 * across that axis, and no spin about it. */
static const double singular = 1e-10;

/* The rigid motion of a body, and of a vector on it. */
typedef struct body_motion {
    /* A particle of the body. Sums are taken relative to it, so that translations are exact. */
    int32_t reference;
    double weight;      /* sum of the weights */
    double centre[3];   /* c */
    double velocity[3]; /* c' */
    double spin[3];     /* w */
    double inverse[9];  /* I^-1 */
    double mean[3];     /* u_c of the vector u of a product */
    double turn[3];     /* w_u or w' of that vector */
} body_motion;

typedef struct mass_damping {
    double alpha;
    const tw_particles *particles;
    tw_bodies bodies;
    body_motion *motion; /* of each body at the last evaluation of the force */
    body_motion *fixed;  /* of each body at the last linearisation */
    double *x;           /* of all particles at the last linearisation */
    double *v;           /* likewise */
    double *partial;     /* SUMS numbers per chunk */
    int64_t *diagonal;   /* index of the diagonal matrix block of each free particle */
    int32_t *unknown;    /* of each body: one of its free particles; -1: it has none */
} mass_damping;

static void mass_damping_release(void *data)
{
    mass_damping *d = data;
    if (!d) return;
    tw_bodies_free(&d->bodies);
    void *blocks[] = {d->motion, d->fixed, d->x, d->v, d->partial, d->diagonal, d->unknown};
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) tw_release(blocks[i]);
    tw_release(d);
}

static unsigned mass_damping_traits(const void *data)
{
    (void)data;
    return TW_FORCE_VELOCITY | TW_FORCE_GENERAL;
}

/* ---- sums over bodies ---- */

/* What the functions of the parallel loops share, and what they do per particle and per body. */
typedef struct loop loop;
struct loop {
    mass_damping *d;
    body_motion *motion;
    const double *x;  /* of all particles */
    const double *v;  /* likewise */
    const double *in; /* of the unknowns */
    double *out;
    /* Adds the term of a particle to the sums of its body. */
    void (*term)(const loop *p, int64_t particle, const body_motion *m, double sum[SUMS]);
    /* Makes of the sums of a body what is wanted. */
    void (*finish)(const loop *p, body_motion *m, const double sum[SUMS]);
    /* Writes the result of the unknown particle i. */
    void (*write)(const loop *p, int64_t i, const body_motion *m, bool held);
};

/* Whether the motion of a body is wanted: it has free particles, and they are active. The points of
 * obstacles are bodies without. */
static bool is_wanted(const mass_damping *d, int64_t body)
{
    return d->unknown[body] >= 0 && tw_particles_want(d->particles, d->unknown[body]);
}

static void chunk_block(void *context, int64_t begin, int64_t end, int64_t block)
{
    (void)block;
    const loop *p = context;
    const tw_bodies *b = &p->d->bodies;

    /* The sums of each chunk of particles. */
    for (int64_t c = begin; c < end; c++) {
        if (!is_wanted(p->d, b->body[b->particle[b->chunk_begin[c]]])) continue;

        /* The terms of the particles of this chunk. */
        double *sum = p->d->partial + SUMS * c;
        memset(sum, 0, SUMS * sizeof *sum);
        for (int64_t n = b->chunk_begin[c]; n < b->chunk_begin[c + 1]; n++)
            p->term(p, b->particle[n], &p->motion[b->body[b->particle[n]]], sum);
    }
}

static void finish_block(void *context, int64_t begin, int64_t end, int64_t block)
{
    (void)block;
    const loop *p = context;
    const tw_bodies *b = &p->d->bodies;

    /* Adds the chunks of each body in their order, and finishes the sums. */
    for (int64_t i = begin; i < end; i++) {
        if (!is_wanted(p->d, i)) continue;
        double sum[SUMS] = {0.0};
        for (int64_t c = b->first_chunk[i]; c < b->first_chunk[i + 1]; c++)
            for (int k = 0; k < SUMS; k++) sum[k] += p->d->partial[SUMS * c + k];

        p->finish(p, &p->motion[i], sum);
    }
}

/* Sums over all bodies by term and finish. */
static void sum_bodies(loop *p)
{
    /* Sums over chunks, and then over the chunks of each body. */
    tw_parallel_for(p->d->bodies.chunk_count, CHUNK_BLOCK, chunk_block, p);
    tw_parallel_for(p->d->bodies.count, BODY_BLOCK, finish_block, p);
}

static void write_block(void *context, int64_t begin, int64_t end, int64_t block)
{
    (void)block;
    const loop *p = context;
    const mass_damping *d = p->d;

    for (int64_t i = begin; i < end; i++) {
        int64_t stop = tw_particles_run(d->particles, &i, end);
        for (; i < stop; i++) {
            int32_t body = d->bodies.body[d->particles->particle[i]];
            p->write(p, i, &p->motion[body], d->bodies.held[body]);
        }
    }
}

static void write_all(loop *p)
{
    tw_parallel_for(p->d->particles->free_count, TW_PARTICLE_BLOCK, write_block, p);
}

/* The weight of a particle in the sums of its body. */
static double weight_of(const mass_damping *d, int64_t particle)
{
    return d->particles->pinned[particle] ? 1.0 : d->particles->mass[particle];
}

static void difference(const double *a, const double *b, double out[3])
{
    for (int k = 0; k < 3; k++) out[k] = a[k] - b[k];
}

static void multiply(const double A[9], const double b[3], double out[3])
{
    for (int k = 0; k < 3; k++) out[k] = tw_dot3(A + 3 * k, b);
}

/* ---- the rigid motion of each body ---- */

/* sum w, sum w r, sum w v, relative to the reference. */
static void centre_term(const loop *p, int64_t particle, const body_motion *m, double sum[SUMS])
{
    double w = weight_of(p->d, particle);
    double r[3];
    double v[3];

    /* r and v relative to the reference. */
    difference(p->x + 3 * particle, p->x + 3 * (int64_t)m->reference, r);
    difference(p->v + 3 * particle, p->v + 3 * (int64_t)m->reference, v);

    sum[0] += w;
    for (int k = 0; k < 3; k++) sum[1 + k] += w * r[k];
    for (int k = 0; k < 3; k++) sum[4 + k] += w * v[k];
}

/* c and c' are the weighted means. */
static void centre_finish(const loop *p, body_motion *m, const double sum[SUMS])
{
    /* Means relative to the reference, plus those of the reference. */
    m->weight = sum[0];
    for (int k = 0; k < 3; k++)
        m->centre[k] = p->x[3 * (int64_t)m->reference + k] + sum[1 + k] / sum[0];
    for (int k = 0; k < 3; k++)
        m->velocity[k] = p->v[3 * (int64_t)m->reference + k] + sum[4 + k] / sum[0];
}

static void inertia_term(const loop *p, int64_t particle, const body_motion *m, double sum[SUMS])
{
    double w = weight_of(p->d, particle);
    double r[3];
    double v[3];
    double L[3];

    /* sum w r x v, and the second moments of r, about the centre. */
    difference(p->x + 3 * particle, m->centre, r);
    difference(p->v + 3 * particle, m->velocity, v);

    /* L = r x v. */
    tw_cross3(r, v, L);
    for (int k = 0; k < 3; k++) sum[k] += w * L[k];
    for (int k = 0; k < 3; k++) sum[3 + k] += w * r[k] * r[k];
    for (int k = 0; k < 3; k++) sum[6 + k] += w * r[(k + 1) % 3] * r[(k + 2) % 3];
}

/* w = I^-1 L. */
static void inertia_finish(const loop *p, body_motion *m, const double sum[SUMS])
{
    (void)p;

    /* The second moments sum w r r^T: xx, yy, zz and yz, zx, xy. */
    const double *square = sum + 3;
    const double *mixed = sum + 6;
    double I[9] = {square[1] + square[2], -mixed[2], -mixed[1], -mixed[2],
                   square[0] + square[2], -mixed[0], -mixed[1], -mixed[0],
                   square[0] + square[1]};

    /* Without extent across an axis the body has no spin about it: a pseudo-inverse. */
    tw_symmetric3_pseudo_inverse(I, singular, m->inverse);
    multiply(m->inverse, sum, m->spin);
}

/* Finds c, c', I^-1 and w of every body. */
static void find_motion(mass_damping *d, const double *x, const double *v, body_motion *motion)
{
    loop p = {
        .d = d, .motion = motion, .x = x, .v = v, .term = centre_term, .finish = centre_finish};

    sum_bodies(&p);

    /* The inertia is taken about the centre found before. */
    p.term = inertia_term;
    p.finish = inertia_finish;
    sum_bodies(&p);
}

/* ---- force ---- */

static void force_write(const loop *p, int64_t i, const body_motion *m, bool held)
{
    (void)held;
    int64_t particle = p->d->particles->particle[i];
    double r[3], turned[3];

    /* f_i = -alpha m_i (v_i - c' - w x r_i). */
    difference(p->x + 3 * particle, m->centre, r);
    tw_cross3(m->spin, r, turned);
    for (int k = 0; k < 3; k++)
        p->out[3 * particle + k] -= p->d->alpha * p->d->particles->mass[particle] *
                                    (p->v[3 * particle + k] - m->velocity[k] - turned[k]);
}

static tw_status mass_damping_add_force(void *data, const tw_force_view *at, double *force)
{
    mass_damping *d = data;
    loop p = {
        .d = d, .motion = d->motion, .x = at->x, .v = at->v, .out = force, .write = force_write};

    /* The rigid motion of every body, then the force on every free particle. */
    find_motion(d, at->x, at->v, d->motion);
    write_all(&p);
    return TW_OK;
}

/* Keeps x and v of the bodies that are wanted. */
static void keep_block(void *context, int64_t begin, int64_t end, int64_t block)
{
    (void)block;
    const loop *p = context;
    const tw_bodies *b = &p->d->bodies;
    for (int64_t i = begin; i < end; i++) {
        if (!is_wanted(p->d, i)) continue;
        for (int64_t n = b->start[i]; n < b->start[i + 1]; n++) {
            int64_t at = 3 * (int64_t)b->particle[n];
            memcpy(p->d->x + at, p->x + at, 3 * sizeof(double));
            memcpy(p->d->v + at, p->v + at, 3 * sizeof(double));
        }
    }
}

static tw_status mass_damping_linearise(void *data, const tw_force_view *at)
{
    mass_damping *d = data;

    /* Products need x and v of this point. */
    loop p = {.d = d, .x = at->x, .v = at->v};
    tw_parallel_for(d->bodies.count, BODY_BLOCK, keep_block, &p);
    find_motion(d, d->x, d->v, d->fixed);
    return TW_OK;
}

/* ---- products ---- */

/* The entries of `in` for a particle of a free body, all of whose particles are unknowns. */
static const double *entry_of(const loop *p, int64_t particle)
{
    return p->in + 3 * (int64_t)p->d->particles->unknown[particle];
}

/* sum m u, relative to the reference. */
static void mean_term(const loop *p, int64_t particle, const body_motion *m, double sum[SUMS])
{
    if (p->d->bodies.held[p->d->bodies.body[particle]]) return;
    const double *u = entry_of(p, particle);
    const double *first = entry_of(p, m->reference);
    for (int k = 0; k < 3; k++) sum[k] += p->d->particles->mass[particle] * (u[k] - first[k]);
}

/* u_c; 0 for a held body. */
static void mean_finish(const loop *p, body_motion *m, const double sum[SUMS])
{
    bool held = p->d->bodies.held[p->d->bodies.body[m->reference]];

    for (int k = 0; k < 3; k++)
        m->mean[k] = held ? 0.0 : entry_of(p, m->reference)[k] + sum[k] / m->weight;
}

static void turn_term(const loop *p, int64_t particle, const body_motion *m, double sum[SUMS])
{
    if (p->d->bodies.held[p->d->bodies.body[particle]]) return;

    /* sum m r x s. */
    double r[3];
    double s[3];
    double turn[3];
    difference(p->x + 3 * particle, m->centre, r);
    difference(entry_of(p, particle), m->mean, s);
    tw_cross3(r, s, turn);
    for (int k = 0; k < 3; k++) sum[k] += p->d->particles->mass[particle] * turn[k];
}

static void spin_change_term(const loop *p, int64_t particle, const body_motion *m,
                             double sum[SUMS])
{
    if (p->d->bodies.held[p->d->bodies.body[particle]]) return;

    /* sum m [s x (v - c') - 2 (r.s) w + s (r.w) + r (s.w)]. */
    double r[3];
    double s[3];
    double v[3];
    double turn[3];
    difference(p->x + 3 * particle, m->centre, r);
    difference(p->v + 3 * particle, m->velocity, v);
    difference(entry_of(p, particle), m->mean, s);
    tw_cross3(s, v, turn);

    double rs = tw_dot3(r, s);
    double rw = tw_dot3(r, m->spin);
    double sw = tw_dot3(s, m->spin);
    for (int k = 0; k < 3; k++)
        sum[k] += p->d->particles->mass[particle] *
                  (turn[k] - 2.0 * rs * m->spin[k] + rw * s[k] + sw * r[k]);
}

/* w_u or w'. */
static void turn_finish(const loop *p, body_motion *m, const double sum[SUMS])
{
    (void)p;
    multiply(m->inverse, sum, m->turn);
}

/* D u = alpha m (u - u_c - w_u x r). */
static void damping_write(const loop *p, int64_t i, const body_motion *m, bool held)
{
    int64_t particle = p->d->particles->particle[i];

    /* scale = alpha m. */
    double scale = p->d->alpha * p->d->particles->mass[particle];
    double r[3];
    double turned[3] = {0.0, 0.0, 0.0};

    difference(p->x + 3 * particle, m->centre, r);

    /* turned = w_u x r. */
    if (!held) tw_cross3(m->turn, r, turned);
    for (int k = 0; k < 3; k++)
        p->out[3 * i + k] += scale * (p->in[3 * i + k] - m->mean[k] - turned[k]);
}

/* K u = -alpha m (w' x r + w x s). */
static void stiffness_write(const loop *p, int64_t i, const body_motion *m, bool held)
{
    int64_t particle = p->d->particles->particle[i];

    /* scale = alpha m. */
    double scale = p->d->alpha * p->d->particles->mass[particle];
    double r[3];
    double s[3];
    double carried[3];
    double turned[3] = {0.0, 0.0, 0.0};

    difference(p->x + 3 * particle, m->centre, r);
    difference(p->in + 3 * i, m->mean, s);
    tw_cross3(m->spin, s, carried);

    /* carried = w x s, turned = w' x r. */
    if (!held) tw_cross3(m->turn, r, turned);
    for (int k = 0; k < 3; k++) p->out[3 * i + k] -= scale * (turned[k] + carried[k]);
}

/* For every column: finds u_c and w_u or w' of every body, then writes the product. */
static void add_columns(loop p, int count, const double *in, double *out)
{
    int64_t stride = 3 * p.d->particles->free_count;
    void (*term)(const loop *, int64_t, const body_motion *, double[SUMS]) = p.term;

    /* The means and turns of held bodies stay 0. */
    bool some_free = p.d->bodies.held_count < p.d->bodies.count;
    for (int c = 0; c < count; c++) {
        p.in = in + c * stride;
        p.out = out + c * stride;

        /* u_c first, because w_u and w' depend on it. */
        if (some_free) {
            p.term = mean_term;
            p.finish = mean_finish;
            sum_bodies(&p);
            p.term = term;
            p.finish = turn_finish;
            sum_bodies(&p);
        }
        write_all(&p);
    }
}

static void mass_damping_add_damping_product(void *data, int count, const double *in, double *out)
{
    mass_damping *d = data;
    add_columns((loop){.d = d,
                       .motion = d->fixed,
                       .x = d->x,
                       .v = d->v,
                       .term = turn_term,
                       .write = damping_write},
                count, in, out);
}

static void mass_damping_add_product(void *data, int count, const double *in, double *out)
{
    mass_damping *d = data;
    add_columns((loop){.d = d,
                       .motion = d->fixed,
                       .x = d->x,
                       .v = d->v,
                       .term = spin_change_term,
                       .write = stiffness_write},
                count, in, out);
}

/* S = 0: K is dense and small. */
static void mass_damping_add_symmetric_product(void *data, int count, const double *in, double *out)
{
    (void)data;
    (void)count;
    (void)in;
    (void)out;
}

/* Adds alpha M. The part that exempts rigid motion is dense and left out; Newton's
 * method converges without it. */
/* matrix += factor alpha M. */
typedef struct diagonal_job {
    const mass_damping *d;
    double factor;
    double *values;
} diagonal_job;

static void diagonal_block(void *context, int64_t begin, int64_t end, int64_t block)
{
    (void)block;
    const diagonal_job *job = context;
    const tw_particles *particles = job->d->particles;
    double share = job->factor * job->d->alpha;

    for (int64_t i = begin; i < end; i++) {
        int64_t stop = tw_particles_run(particles, &i, end);
        for (; i < stop; i++)
            for (int k = 0; k < 3; k++)
                job->values[9 * job->d->diagonal[i] + 4 * k] +=
                    share * particles->mass[particles->particle[i]];
    }
}

static void mass_damping_add_damping(void *data, double factor, tw_sparse *matrix)
{
    mass_damping *d = data;
    diagonal_job job = {d, factor, tw_sparse_values(matrix)};
    tw_parallel_for(d->particles->free_count, TW_PARTICLE_BLOCK, diagonal_block, &job);
}

static void mass_damping_locate(void *data, const tw_sparse *matrix)
{
    mass_damping *d = data;
    for (int64_t i = 0; i < d->particles->free_count; i++)
        d->diagonal[i] = tw_sparse_find(matrix, i, i);
}

static void no_stiffness_bound(const void *data, double *bound)
{
    (void)data;
    (void)bound;
}

/* ---- making it ---- */

/* The reference of each body is its first particle; and one of its free particles. */
static void choose_references(mass_damping *d)
{
    const tw_bodies *b = &d->bodies;
    for (int64_t i = 0; i < b->count; i++) {
        d->motion[i].reference = b->particle[b->start[i]];
        d->fixed[i].reference = b->particle[b->start[i]];
        d->unknown[i] = -1;
    }
    for (int64_t i = 0; i < d->particles->free_count; i++)
        d->unknown[b->body[d->particles->particle[i]]] = (int32_t)i;
}

static tw_status mass_damping_complete(void *data, const tw_particles *particles)
{
    mass_damping *d = data;
    d->particles = particles;

    /* Means and turns of held bodies stay at these zeros. */
    d->motion = tw_allocate_zeroed((size_t)d->bodies.count, sizeof(body_motion));
    d->fixed = tw_allocate_zeroed((size_t)d->bodies.count, sizeof(body_motion));
    d->x = TW_NEW_ARRAY(3 * particles->count, double);
    d->v = TW_NEW_ARRAY(3 * particles->count, double);
    d->partial = TW_NEW_ARRAY(SUMS * d->bodies.chunk_count, double);
    d->diagonal = TW_NEW_ARRAY(particles->free_count, int64_t);
    d->unknown = TW_NEW_ARRAY(d->bodies.count, int32_t);
    if (!d->motion || !d->fixed || !d->x || !d->v || !d->partial || !d->diagonal || !d->unknown)
        return TW_OUT_OF_MEMORY;

    choose_references(d);
    return TW_OK;
}

static const tw_force_table mass_damping_table = {
    .name = "mass-proportional damping",
    .release = mass_damping_release,
    .traits = mass_damping_traits,
    .complete = mass_damping_complete,
    .locate = mass_damping_locate,
    .add_force = mass_damping_add_force,
    .linearise = mass_damping_linearise,
    .add_product = mass_damping_add_product,
    .add_symmetric_product = mass_damping_add_symmetric_product,
    .add_rest_product = mass_damping_add_product,
    .add_damping_product = mass_damping_add_damping_product,
    .add_damping = mass_damping_add_damping,
    .add_stiffness_bound = no_stiffness_bound,
};

tw_status tw_force_mass_damping_create(double alpha, const tw_particles *particles, int force_count,
                                       const tw_force *forces, bool *some_free, tw_force *out)
{
    mass_damping *d = TW_NEW(mass_damping);
    if (!d) return TW_OUT_OF_MEMORY;
    d->alpha = alpha;

    /* The elements of all forces join particles to bodies. */
    tw_status status = tw_bodies_find(particles, force_count, forces, &d->bodies);
    if (status != TW_OK) {
        mass_damping_release(d);
        return status;
    }

    *some_free = d->bodies.held_count < d->bodies.count;
    *out = (tw_force){&mass_damping_table, d};
    return TW_OK;
}
