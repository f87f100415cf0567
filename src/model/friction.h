/* Friction of bodies on obstacles as a force: a vertex that touches is held by a spring to the place
 * where it touched, and the spring gives way at Coulomb's limit (docs/contact.md).
 *
 * During a step the grip of a vertex is fixed: the limit F = mu N and the normal n, both from the
 * contact at the start of the step, and the anchor a, which moves with the obstacle. With the
 * projection P across n, s = |P (x - a)|, the friction length l and y = s / l,
 *     U = F l (y^2 - y^3/3)   y < 1,      U = F l (y - 1/3)   y >= 1,
 * so that the force grows to its limit F = dU/ds over the length l, with a continuous slope. After
 * the step the anchor of a vertex that slid, s > l, follows up to the distance l. The energy
 * F (s - l) of this is the work of friction.
 *
 * In a step the force is conservative, and depends on positions alone. A fibre whose modes the step
 * does not resolve is therefore in equilibrium with friction at every stage, where an impulse at the
 * end of a step would have no mass to act on.
 *
 *   force_friction.c   the force
 *   friction_grips.c   grips, anchors and wear from step to step */
#ifndef TW_MODEL_FRICTION_H
#define TW_MODEL_FRICTION_H

#include "model/contact_force.h"

/* The grip of a vertex during a step. */
typedef struct tw_grip {
    int32_t vertex;       /* contact vertex */
    int32_t obstacle;     /* that it touches */
    double limit;         /* F [N] */
    double normal[3];     /* n */
    double anchor[3];     /* a at the start of the step */
    int32_t carrier[3];   /* particles of the obstacle that carry the anchor along */
    double weight[3];     /* their weights; the sum is 1 */
    double carried[3];    /* where the weighted sum of them is at the start of the step */
    double tangent[3][3]; /* d^2 U / dx^2 at the last linearisation */
} tw_grip;

/* What is remembered from step to step: an anchor and a limit of each vertex (limit 0: none), then
 * the work on each particle of an obstacle [J], and the work lost so far [J]. */
enum { TW_FRICTION_VERSIONS = 4 /* two halves of a doubled step, and two to spare */ };
typedef struct tw_friction_version {
    double begin;   /* time at which the step began that made it; -infinity: the first one */
    double *values; /* tw_friction.memory_size */
} tw_friction_version;

typedef struct tw_friction {
    tw_contact *contact;
    double coefficient; /* mu */
    double length;      /* l [m] */
    const tw_particles *particles;

    int64_t vertex_count; /* of contact vertices */
    int64_t memory_size;  /* 4 vertex_count + particles + 1 */
    int version_count;
    tw_friction_version version[TW_FRICTION_VERSIONS];
    double *storage;

    int64_t grip_count;
    int64_t grip_capacity;
    tw_grip *grips;
    int32_t *grip_of;  /* of each vertex: index in grips, or -1; scratch of a search */
    int32_t *obstacle; /* of each particle; -1: it belongs to none */
    double *area;      /* of the obstacle around each particle [m^2] */
    double taken;      /* lost work in the energy of the present grips [J] */
    double measured;   /* the part of it that was measured [J] */
} tw_friction;

/* The present version. */
static inline double *tw_friction_memory(const tw_friction *friction)
{
    return friction->version[friction->version_count - 1].values;
}

/* The work on each particle of an obstacle, behind the anchors. */
static inline double *tw_friction_work(const tw_friction *friction, double *memory)
{
    return memory + 4 * friction->vertex_count;
}

/* y = P (x - a) of a grip at these positions, and its length. (force_friction.c) */
double tw_grip_stretch(const tw_friction *friction, const tw_grip *grip, const double *x,
                       double stretch[3]);
/* U of a limit F and a stretch s. (force_friction.c) */
double tw_friction_energy(double limit, double length, double s);
/* The tables of obstacles, and the first version. (friction_grips.c) */
tw_status tw_friction_prepare(tw_friction *friction);
/* See tw_force_table. (friction_grips.c) */
tw_status tw_friction_begin_step(void *data, double h, const tw_force_view *at, bool *changed);
tw_status tw_friction_finish_step(void *data, double h, const tw_force_view *from, double t,
                                  double *x, double *v, bool *changed);

/* The work per area that friction did on each particle [J/m^2]. (friction_grips.c) */
double tw_friction_wear(const tw_friction *friction, int64_t particle);
/* The work of friction since the last call [J]. (friction_grips.c) */
double tw_friction_take_work(tw_friction *friction);
/* Reads and writes the present version. (friction_grips.c) */
void tw_friction_save(const tw_friction *friction, double *values);
tw_status tw_friction_load(tw_friction *friction, const double *values);

/* Makes the force beside the contact force whose pairs it reads. It must stand behind that in the
 * list of forces. (force_friction.c) */
tw_status tw_force_friction_create(tw_contact *contact, tw_force *out);

#endif
