/* Contact in a model: the surfaces of its bodies, its obstacles, and the pairs between them.
 *
 *   obstacle.c         obstacles as pinned particles
 *   obstacle_shape.c   their shapes
 *   contact_surface.c  vertices, edges and triangles of all surfaces, and the pairs
 *   force_contact.c    the force
 *   contact_impulses.c what contact loses */
#ifndef TW_MODEL_CONTACT_FORCE_H
#define TW_MODEL_CONTACT_FORCE_H

#include <twang/contact.h>

#include "contact/contact_pair.h"
#include "model/display_list.h"
#include "model/force.h"

/* An obstacle in the model. */
typedef struct tw_placed_obstacle {
    tw_obstacle_kind kind;
    double radius;
    int64_t point[3]; /* particles: three of the plane, the centre, the two ends */
    int64_t first;    /* of its particles */
    int64_t count;    /* of its particles */
    bool closed;      /* its triangles enclose a volume, counterclockwise seen from outside */
    int display;      /* index of its display */
} tw_placed_obstacle;

typedef struct tw_obstacle_list {
    tw_placed_obstacle *list;
    int count;
    int capacity;
} tw_obstacle_list;

/* What the contact force takes from its model. */
typedef struct tw_contact_source {
    const tw_display_list *displays;
    const tw_obstacle_list *obstacles;
    const double *gravity; /* three entries */
} tw_contact_source;

/* Tangents of one pair that is in contact at the last linearisation. */
typedef struct tw_pair_tangent {
    int64_t pair;
    double hessian[TW_PAIR_SIZE * TW_PAIR_SIZE];
} tw_pair_tangent;

/* What impulses took in one attempt of a step. */
typedef struct tw_contact_entry {
    double t;             /* at which the step began */
    double contact_loss;  /* energy taken by restitution below 1 [J] */
    double friction_loss; /* energy taken by friction [J] */
} tw_contact_entry;

/* What impulses took since the last measurement. An attempt that begins at or before an earlier one replaces it. */
enum { TW_CONTACT_ENTRIES = 4 /* two halves of a doubled step, and two to spare */ };
typedef struct tw_contact_account {
    double contact_loss; /* of entries that are not in the list any more */
    double friction_loss;
    tw_contact_entry entry[TW_CONTACT_ENTRIES];
    int count;
} tw_contact_account;

/* The particles that carry a contact vertex, and their weights. */
typedef struct tw_vertex_parts {
    int count;
    int32_t particle[4];
    double weight[4];
} tw_vertex_parts;

typedef struct tw_contact {
    tw_contact_options options;
    tw_contact_source source;
    const tw_particles *particles;
    double speed; /* that impacts are expected to have [m/s] */

    int64_t pair_count;
    int64_t pair_capacity;
    tw_contact_pair *pairs; /* their vertices are particles, or those after the last of them: */
    int64_t carried_count;
    tw_vertex_parts *carried; /* vertices that several particles carry: sections of fibres */
    double *pair_force;       /* TW_PAIR_SIZE entries per pair */
    double *pair_energy;      /* 0: the pair is out of reach */

    tw_contact_account account;

    int64_t tangent_count;
    int64_t tangent_capacity;
    tw_pair_tangent *tangents;
} tw_contact;

/* The particles of a vertex. (contact_surface.c) */
tw_vertex_parts tw_contact_parts(const tw_contact *contact, int32_t vertex);
/* The values of the four vertices of a pair, from values of all particles. (contact_surface.c) */
void tw_contact_take(const tw_contact *contact, const tw_contact_pair *pair, const double *values,
                     double out[TW_PAIR_VERTICES][3]);

/* Lists the pairs of all surfaces with all obstacles. (contact_surface.c) */
tw_status tw_contact_list_pairs(tw_contact *contact);

/* Restitution and friction as impulses after a step: see tw_force_table.finish_step.
 * (contact_impulses.c) */
tw_status tw_contact_finish_step(void *data, double h, const tw_force_view *from, double t,
                                 double *x, double *v, bool *changed);

/* Fills what contact has in a measurement, at the positions x of all particles, and begins a new
 * account. (contact_impulses.c) */
void tw_contact_measure(tw_contact *contact, const double *x, tw_measurement *out);

/* Makes the force; displays, obstacles and gravity are read when it is completed.
 * (force_contact.c) */
tw_status tw_force_contact_create(const tw_contact_options *options,
                                  const tw_contact_source *source, tw_force *out);

#endif
