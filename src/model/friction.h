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
#include "model/point_slabs.h"

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

typedef struct tw_friction {
    tw_contact *contact;
    double coefficient; /* mu */
    double length;      /* l [m] */
    const tw_particles *particles;

    int64_t vertex_count; /* of contact vertices */
    /* The internal variables, in the array of the model: an anchor and a limit of each vertex (limit
     * 0: none), then the work on each particle of an obstacle [J], and the work lost so far [J]. */
    double *state;

    int64_t grip_count;
    int64_t grip_capacity;
    tw_grip *grips;
    int32_t *grip_of;       /* of each vertex: index in grips, or -1; scratch of a search */
    int32_t *obstacle;      /* of each particle; -1: it belongs to none */
    double *area;           /* of the obstacle around each particle [m^2] */
    tw_point_slabs slabs;   /* the particles of one obstacle at the end of a step */
    int32_t slabs_obstacle; /* that obstacle; -1: none */
    double taken;           /* work lost before the present grips, which their energy lacks [J] */
} tw_friction;

/* y = P (x - a) of a grip at these positions, and its length. (force_friction.c) */
double tw_grip_stretch(const tw_friction *friction, const tw_grip *grip, const double *x,
                       double stretch[3]);
/* U of a limit F and a stretch s. (force_friction.c) */
double tw_friction_energy(double limit, double length, double s);
/* The tables of obstacles. (friction_grips.c) */
tw_status tw_friction_prepare(tw_friction *friction);
/* See tw_force_table. (friction_grips.c) */
tw_status tw_friction_begin_step(void *data, double h, const tw_force_view *at, bool *changed);
tw_status tw_friction_finish_step(void *data, double h, const tw_force_view *from, double t,
                                  double *x, double *v, bool *changed);
int64_t tw_friction_internal_count(const void *data);
void tw_friction_set_internal(void *data, double *state, unsigned char *changed);

/* The work per area that friction did on each particle [J/m^2]. (friction_grips.c) */
double tw_friction_wear(const tw_friction *friction, int64_t particle);

/* Makes the force beside the contact force whose pairs it reads. It must stand behind that in the
 * list of forces. (force_friction.c) */
tw_status tw_force_friction_create(tw_contact *contact, tw_force *out);

#endif
