#ifndef TW_MODEL_INTERNAL_H
#define TW_MODEL_INTERNAL_H

#include <twang/model.h>

#include "model/display_list.h"
#include "model/force.h"
#include "model/mass_consistent.h"
#include "model/motions.h"

enum { TW_MODEL_MAX_FORCES = 64, TW_MODEL_RATES = 5 };

/* What the values of model->stiffness are. */
typedef enum tw_matrix_content {
    TW_MATRIX_STALE,  /* nothing in particular */
    TW_MATRIX_TANGENT /* S at the last linearisation */
} tw_matrix_content;

struct tw_model {
    tw_particles particles;
    int64_t capacity; /* of the particle arrays */
    tw_force forces[TW_MODEL_MAX_FORCES];
    int force_count;
    int64_t spring_count;
    tw_display_list displays;
    tw_motions motions;
    tw_consistent_mass mass;                  /* without groups: lumped */
    double rayleigh_mass, rayleigh_stiffness; /* alpha, beta */

    /* From here on: set by tw_model_complete. */
    bool completion_begun;       /* a model is completed once only */
    unsigned traits;             /* TW_FORCE_... of all forces together */
    bool free_bodies_are_damped; /* by alpha: their rigid motion is exempt */
    double *x, *v, *force;       /* of all particles, three each */
    double *rates;    /* TW_MODEL_RATES such arrays, for moved particles; NULL if there are none */
    double *friction; /* two such arrays, for powers; NULL where nothing gives or takes energy */
    double *lumped_mass; /* of the unknowns */
    double *momentum;    /* M v, and then v, of the unknowns; NULL where the mass is lumped */
    double *partial;     /* sums per block of free particles, MODEL_SUMS each */
    tw_sparse *stiffness;
    tw_matrix_content content;
    bool
        multiplies_by_matrix; /* products with S by the matrix, filled at the first one after a linearisation */
    double eigenvalue_bound; /* of M^-1 K at any state; 0 if some force does not know */
};

/* Takes the force over, also when it fails. (model.c) */
tw_status tw_model_add_force(tw_model *model, const tw_force *force, tw_error *error);

/* Numbers the unknowns, completes the forces, allocates. (model_complete.c) */
tw_status tw_model_complete(tw_model *model, tw_error *error);

/* Positions and velocities of all particles at time t from the unknowns into model->x, model->v. v may be NULL.
 * (model_problem.c) */
void tw_model_unpack(tw_model *model, double t, const double *x, const double *v);
/* a = M^-1 force for the unknowns. (model_problem.c) */
tw_status tw_model_divide_by_mass(tw_model *model, const double *force, double *a);

/* Whether anything gives or takes energy; power that friction takes and that comes from outside, at model->x and
 * model->v. (model_power.c) */
bool tw_model_exchanges_energy(const tw_model *model);
tw_status tw_model_powers(tw_model *model, double t, double *damping, double *outside);

/* Callbacks of the problem: products with K, S, D and their matrices (model_tangent.c), da/dt (model_rates.c). */
tw_status tw_model_linearise(void *context, double t, const double *x, const double *v);
tw_status tw_model_apply_stiffness(void *context, int count, const double *in, double *out);
tw_status tw_model_apply_symmetric(void *context, int count, const double *in, double *out);
tw_status tw_model_apply_damping(void *context, int count, const double *in, double *out);
tw_status tw_model_assemble(void *context, tw_sparse *matrix);
tw_status tw_model_add_damping(void *context, double factor, tw_sparse *matrix);
tw_status tw_model_time_derivative(void *context, double t, const double *x, const double *v,
                                   double *out);

#endif
