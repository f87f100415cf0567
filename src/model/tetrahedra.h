/* Elastic tetrahedra with four or ten nodes: what the files of the force share.
 *
 * At each integration point F = sum_c y_c (grad L_c)^T (tetrahedron.h says what y_c is), with weight w:
 *     energy w Psi(F),  force on y_c: -w P grad L_c,  tangent between y_c and y_d: w times the curvature of Psi
 * for the changes u (grad L_c)^T and u' (grad L_d)^T of F (solid_law.h). TW_LANES elements are done at once. */
#ifndef TW_MODEL_TETRAHEDRA_H
#define TW_MODEL_TETRAHEDRA_H

#include <stdatomic.h>

#include "model/assembly.h"
#include "model/incidence.h"
#include "model/solid_forces.h"
#include "model/solid_law.h"
#include "model/tetrahedron.h"

enum { TW_GROUP_BLOCK = TW_PARTICLE_BLOCK / TW_LANES };

typedef struct tw_tetrahedra {
    int64_t count;
    const tw_shape *shape;
    tw_solid_constants material;
    double beta;        /* of Rayleigh damping */
    int32_t *node;      /* shape->nodes per element */
    tw_lanes *gradient; /* grad L_1, L_2, L_3 per group of TW_LANES elements: nine lanes */
    tw_lanes *weight;   /* of a point, per group; 0 where the last group is not full */

    const tw_particles *particles;
    tw_incidence incidence;
    tw_assembly assembly;
    double *element_force;   /* three per node of each element */
    double *element_tangent; /* as assembly.h wants it */
    double *partial;         /* energy per block of groups */
    double *x, *v;           /* at the last linearisation; NULL without damping */
    double *change,
        *force; /* of all particles: a vector of the unknowns, pinned ones 0, and what it does; likewise */
} tw_tetrahedra;

/* What the bodies of the parallel loops see. */
typedef struct tw_tetrahedra_loop {
    tw_tetrahedra *t;
    const double *x, *v;   /* where the elements are */
    const double *dx, *dv; /* changes of these */
    double *out;
    bool damping;          /* the matrix of damping is wanted, not of stiffness */
    atomic_bool undefined; /* an element has no tangent */
} tw_tetrahedra_loop;

static inline int64_t tw_tetrahedra_groups(const tw_tetrahedra *t)
{
    return (t->count + TW_LANES - 1) / TW_LANES;
}

/* The linear law is linear: its tangents do not change. */
static inline bool tw_tetrahedra_are_linear(const tw_tetrahedra *t)
{
    return t->material.law == TW_SOLID_LINEAR;
}

/* sum_c x_c (grad L_c)^T at a point of a group: F, or its change or rate. NULL stands for zeros. (force_tetrahedra.c)
 */
void tw_tetrahedra_deformation(const tw_tetrahedra *t, int64_t group, int point, const double *x,
                               tw_lanes F[9]);

/* out += the forces of elements whose stress at a point is what `stress` says, for all particles. */
typedef void tw_stress_function(tw_tetrahedra_loop *loop, int64_t group, int point, tw_lanes P[9]);
void tw_tetrahedra_add_stress(tw_tetrahedra_loop *loop, tw_stress_function *stress);

/* force_tetrahedra_tangent.c */
tw_status tw_tetrahedra_linearise(void *data, const tw_force_view *at);
void tw_tetrahedra_add_product(void *data, int count, const double *in, double *out);
void tw_tetrahedra_add_symmetric_product(void *data, int count, const double *in, double *out);
void tw_tetrahedra_add_rest_product(void *data, int count, const double *in, double *out);
void tw_tetrahedra_add_tangent(void *data, tw_sparse *matrix);
/* The constant tangents of the linear law. */
tw_status tw_tetrahedra_linearise_once(tw_tetrahedra *t);

/* force_tetrahedra_damping.c */
void tw_tetrahedra_viscous_stress(tw_tetrahedra_loop *loop, int64_t group, int point,
                                  tw_lanes P[9]);
/* What a change of x does to the viscous stress. */
void tw_tetrahedra_viscous_slide(tw_tetrahedra_loop *loop, int64_t group, int point, tw_lanes P[9]);
/* A block of the damping matrix, as corner blocks of stiffness are. */
void tw_tetrahedra_damping_block(const tw_tetrahedra *t, tw_lanes *F, const tw_lanes *a,
                                 const tw_lanes *b, tw_lanes K[9]);
void tw_tetrahedra_add_damping_product(void *data, int count, const double *in, double *out);
void tw_tetrahedra_add_damping(void *data, double factor, tw_sparse *matrix);
tw_status tw_tetrahedra_add_rate(void *data, const tw_force_view *at, const double *x_rate,
                                 const double *v_rate, double *out);

#endif
