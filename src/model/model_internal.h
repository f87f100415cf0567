#ifndef TW_MODEL_INTERNAL_H
#define TW_MODEL_INTERNAL_H

#include <twang/model.h>

#include "model/display_list.h"
#include "model/force.h"

enum { TW_MODEL_MAX_FORCES = 64 };

struct tw_model {
    tw_particles particles;
    int64_t capacity; /* of the particle arrays */
    tw_force forces[TW_MODEL_MAX_FORCES];
    int force_count;
    int64_t spring_count;
    tw_display_list displays;

    /* once complete: */
    double *x, *v, *force; /* of all particles, three each */
    double *lumped_mass;   /* of the unknowns */
    double *partial;       /* sums per block of free particles, MODEL_SUMS each */
    tw_sparse *stiffness;
    double eigenvalue_bound; /* of M^-1 K at any state; 0 if some force does not know */
};

/* Takes the force over, also when it fails. (model.c) */
tw_status tw_model_add_force(tw_model *model, const tw_force *force, tw_error *error);

/* Numbers the unknowns, completes the forces, allocates. (model_complete.c) */
tw_status tw_model_complete(tw_model *model, tw_error *error);

/* Positions and velocities of all particles from the unknowns into model->x, model->v. (model_problem.c) */
void tw_model_unpack(tw_model *model, const double *x, const double *v);

#endif
