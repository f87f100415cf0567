/* A model in a viscous fluid: what fluid_model.c and fluid_problem.c share. */
#ifndef TW_MODEL_FLUID_MODEL_H
#define TW_MODEL_FLUID_MODEL_H

#include <twang/fluid.h>

#include "fluid/stokeslets.h"
#include "model/model_internal.h"
#include "model/simulation.h"

/* Up to so many unknowns J is kept as a dense matrix, which costs less than many products: three
 * matrices of 12 MB. */
enum { TW_FLUID_DENSE_MAX = 1200 };

struct tw_model_fluid {
    tw_fluid given;

    /* The rest is set by tw_fluid_prepare. */
    int64_t unknowns; /* three per particle: all are free */
    tw_stokeslets *points;
    double *storage;  /* of the vectors below, one entry per unknown each */
    double *velocity; /* M f */
    double *rate;     /* K in, or df/dt */
    double *at;       /* positions of the last linearisation */
    double *load;     /* forces there */
    double *J;        /* the dense Jacobian there; NULL: products are made of their parts */
    double *M;        /* scratch: the dense mobility */
    double *K;        /* scratch: the dense stiffness */
};

/* Finds radii and allocates, for a completed model. TW_UNSUPPORTED if the model does not go with a
 * fluid. (fluid_model.c) */
tw_status tw_fluid_prepare(tw_model *model, tw_error *error);
/* The particles as points in the fluid; the caller frees them. (fluid_model.c) */
tw_status tw_fluid_create_points(const tw_model *model, tw_stokeslets **out, tw_error *error);
/* Adds the drag as a force, for particles with inertia. (force_fluid_drag.c) */
tw_status tw_fluid_drag_create(tw_model *model, tw_force *out, tw_error *error);
/* Accepts NULL. (fluid_model.c) */
void tw_fluid_free(tw_model_fluid *fluid);

/* Makes the simulation of the first order. (fluid_problem.c) */
tw_status tw_fluid_simulation(tw_model *model, tw_simulation **out, tw_error *error);

#endif
