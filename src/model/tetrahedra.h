/* Elastic tetrahedra with four or ten nodes: what the files of the force share.
 *
 * At each integration point F = sum_c y_c (grad L_c)^T with the corners y_c of tetrahedron.h. With
 * the weight w of the point,
 *     energy                       w Psi(F),
 *     force on y_c                 -w P grad L_c,
 *     tangent between y_c and y_d  w times the second derivative of Psi for the changes
 *                                  u (grad L_c)^T and u' (grad L_d)^T of F (solid_law.h).
 * TW_LANES elements are computed at once; they are a group. */
#ifndef TW_MODEL_TETRAHEDRA_H
#define TW_MODEL_TETRAHEDRA_H

#include <stdatomic.h>

#include "model/assembly.h"
#include "model/force.h"
#include "model/incidence.h"
#include "model/solid_law.h"
#include "model/tetrahedron.h"

enum { TW_GROUP_BLOCK = TW_PARTICLE_BLOCK / TW_LANES /* groups per block of a parallel loop */ };

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
    double *element_tangent; /* in the order of assembly.h */
    double *partial;         /* energy per block of groups */

    /* With damping only, else NULL: of all particles. */
    double *x;      /* at the last linearisation */
    double *v;      /* at the last linearisation */
    double *change; /* a change of the unknowns; 0 for pinned particles */
    double *force;  /* the change of the viscous force that follows */
} tw_tetrahedra;

/* What the functions of the parallel loops share. */
typedef struct tw_tetrahedra_loop {
    tw_tetrahedra *t;
    const double *x;
    const double *v;
    const double *dx; /* change of x */
    const double *dv; /* change of v */
    double *out;
    bool damping;          /* the matrix of damping is wanted, not of stiffness */
    atomic_bool undefined; /* some element has no tangent */
} tw_tetrahedra_loop;

static inline int64_t tw_tetrahedra_groups(const tw_tetrahedra *t)
{
    return (t->count + TW_LANES - 1) / TW_LANES;
}

/* The tangents of the linear law are constant. */
static inline bool tw_tetrahedra_are_linear(const tw_tetrahedra *t)
{
    return t->material.law == TW_SOLID_LINEAR;
}

/* F = sum_c y_c (grad L_c)^T at a point of a group. A change or rate of x gives that of F. x = NULL
 * stands for zeros. (force_tetrahedra.c) */
void tw_tetrahedra_deformation(const tw_tetrahedra *t, int64_t group, int point, const double *x,
                               tw_lanes F[9]);

/* out += the forces of the elements, for all particles. `stress` says what the stress is at a
 * point. (force_tetrahedra.c) */
typedef void tw_stress_function(tw_tetrahedra_loop *loop, int64_t group, int point, tw_lanes P[9]);
void tw_tetrahedra_add_stress(tw_tetrahedra_loop *loop, tw_stress_function *stress);

/* force_tetrahedra_tangent.c */
tw_status tw_tetrahedra_linearise(void *data, const tw_force_view *at);
void tw_tetrahedra_add_product(void *data, int count, const double *in, double *out);
void tw_tetrahedra_add_symmetric_product(void *data, int count, const double *in, double *out);
void tw_tetrahedra_add_rest_product(void *data, int count, const double *in, double *out);
void tw_tetrahedra_add_tangent(void *data, tw_sparse *matrix);
/* Finds the constant tangents of the linear law. */
tw_status tw_tetrahedra_linearise_once(tw_tetrahedra *t);

/* force_tetrahedra_damping.c */
void tw_tetrahedra_viscous_stress(tw_tetrahedra_loop *loop, int64_t group, int point,
                                  tw_lanes P[9]);
/* The change of the viscous force with x has two parts: the stress turns with its element, which is
 * a part of S, and it changes with the rate of strain. This is the second part, F C : sym(dF^T F')
 * beta. The linear law has neither. */
void tw_tetrahedra_viscous_slide(tw_tetrahedra_loop *loop, int64_t group, int point, tw_lanes P[9]);
/* S = beta C : E', the symmetric stress that turns. */
void tw_tetrahedra_viscous_block(tw_tetrahedra_loop *loop, int64_t group, int point, tw_lanes S[9]);
/* The block of the damping matrix between two corners whose gradients are a and b. */
void tw_tetrahedra_damping_block(const tw_tetrahedra *t, tw_lanes *F, const tw_lanes *a,
                                 const tw_lanes *b, tw_lanes K[9]);
void tw_tetrahedra_add_damping_product(void *data, int count, const double *in, double *out);
void tw_tetrahedra_add_damping(void *data, double factor, tw_sparse *matrix);
tw_status tw_tetrahedra_add_rate(void *data, const tw_force_view *at, const double *x_rate,
                                 const double *v_rate, double *out);

#endif
