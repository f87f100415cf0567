/* The model behind twang/model.h, and the functions that its files share. */
#ifndef TW_MODEL_INTERNAL_H
#define TW_MODEL_INTERNAL_H

#include <stddef.h>
#include <twang/model.h>
#include <twang/motion.h>
#include <twang/plasticity.h>

#include "model/contact_force.h"
#include "model/display_list.h"
#include "model/fibre_parts.h"
#include "model/force.h"
#include "model/friction.h"
#include "model/mass_consistent.h"

typedef struct tw_model_fluid tw_model_fluid;   /* model/fluid_model.h */
typedef struct tw_rigid_motion tw_rigid_motion; /* model/rigid_motion.h */

enum {
    TW_MODEL_SUMS = 7 /* kinetic energy, momentum and angular momentum (model_measure.c) */
};

/* The arrays in model->rates, each of all particles. */
enum {
    TW_X_RATE, /* velocities of moved particles, 0 of all others */
    TW_V_RATE, /* their accelerations, likewise */
    TW_MOVED_X,
    TW_MOVED_V,
    TW_SIDE_FORCE,
    TW_MODEL_RATES
};

/* The particles `first` to `last`, and the motion that they follow. */
typedef struct tw_prescribed {
    int64_t first;
    int64_t last;
    tw_motion motion;
} tw_prescribed;

typedef struct tw_motions {
    tw_prescribed *list;
    int count;
    int capacity;
} tw_motions;

/* What the values of model->stiffness are. */
typedef enum tw_matrix_content {
    TW_MATRIX_STALE,  /* values of no use */
    TW_MATRIX_TANGENT /* S at the last linearisation */
} tw_matrix_content;

struct tw_model {
    tw_particles particles;
    int64_t capacity; /* of the particle arrays */
    tw_force *forces;
    int force_count;
    int force_capacity;
    int64_t spring_count;
    tw_display_list displays;
    tw_fibre_list fibres;
    tw_motions motions;
    tw_obstacle_list obstacles;
    tw_contact *contact;       /* data of the contact force; NULL: there is none */
    tw_model_fluid *fluid;     /* around the particles; NULL: there is none */
    tw_friction *grips;        /* data of the force of friction; NULL: there is none */
    bool moves_rigidly;        /* asked for by tw_model_set_rigid_motion */
    double gravity[3];         /* sum of all uniform accelerations [m/s^2] */
    tw_consistent_mass mass;   /* without element groups, the mass is lumped */
    double rayleigh_mass;      /* alpha [1/s] */
    double rayleigh_stiffness; /* beta [s] */
    tw_plasticity plasticity;  /* of springs that are added; yield_strain 0: they are elastic */

    /* The rest is set by tw_model_complete. */
    bool completion_begun;       /* a model is completed once only */
    tw_rigid_motion *rigid;      /* data of the force of the frame; NULL: there is none */
    unsigned traits;             /* TW_FORCE_... of all forces together */
    bool free_bodies_are_damped; /* some body has no pinned particle, and alpha > 0 */
    double *x;                   /* positions of all particles, three entries each */
    double *v;                   /* velocities, likewise */
    double *force;               /* forces, likewise */
    double *rates;               /* TW_MODEL_RATES such arrays; NULL if no particle is moved */
    double moved_at;             /* time of the moved particles in x and v; NAN: none */
    double *friction;            /* two such arrays; NULL if nothing gives or takes energy */
    double *before;              /* two such arrays: the state before a step; NULL if not needed */
    int64_t internal_count;      /* internal variables of all forces, each from a new block on */
    unsigned char *internal_changed; /* marks of their blocks */
    const void *internal_holder;     /* the integrator whose values they are */
    double *internal;                /* their values; NULL: there are none */
    double *internal_start;          /* the same at the start */
    double *lumped_mass;             /* of each unknown */
    double *inverse_mass;            /* 1/m of each free particle */
    double *momentum;     /* M v and then v of the unknowns; NULL if the mass is lumped */
    double *partial;      /* TW_MODEL_SUMS sums per block of free particles */
    int32_t *tension_row; /* a free particle of each element with a tension, or -1 */
    tw_sparse *stiffness; /* S */
    tw_sparse *first;     /* of the first pattern, which new integrators begin with */
    tw_sparse *former;    /* the one before, of another pattern; may be NULL */
    tw_matrix_content content;
    bool multiplies_by_matrix; /* products with S use the matrix, filled at the first product */
    double eigenvalue_bound;   /* of M^-1 K at any state; 0 if some force has no bound */
    double eigenvalue_at_rest; /* the same at rest, as an estimate; 0 if some force has none */
};

/* One of the arrays in model->rates. */
static inline double *tw_model_rates(const tw_model *model, int which)
{
    return model->rates ? model->rates + which * 3 * model->particles.count : NULL;
}

/* Takes the force over, also on failure: then it is released. (model.c) */
tw_status tw_model_add_force(tw_model *model, const tw_force *force, tw_error *error);

/* Whether a motion moves one of the particles first ... last. (motion.c) */
bool tw_motions_touch(const tw_motions *motions, int64_t first, int64_t last);
void tw_motions_free(tw_motions *motions);
/* Puts the moved particles where they are at time t: model->x and model->v, and the rates TW_X_RATE
 * and TW_V_RATE. It does nothing if they are there already. (motion.c) */
void tw_model_move(tw_model *model, double t);

/* Numbers the unknowns, completes the forces, allocates. (model_complete.c) */
tw_status tw_model_complete(tw_model *model, tw_error *error);
/* Whether distance and thickness of contact fit the size of the scene. (obstacle.c) */
tw_status tw_model_check_contact_lengths(const tw_model *model, tw_error *error);

/* Moves the particles into the frame of a rigid body, if that was asked for. (rigid_model.c) */
tw_status tw_model_take_rigid_motion(tw_model *model, tw_error *error);

/* Makes a matrix of another pattern if the present one lacks a block. (model_complete.c) */
tw_status tw_model_renew_pattern(tw_model *model);

/* Makes a matrix of the pattern that the forces name now. (model_complete.c) */
tw_status tw_model_make_pattern(tw_model *model);

/* Writes positions and velocities of all particles at time t into model->x and model->v. v may be
 * NULL. (model_problem.c) */
void tw_model_unpack(tw_model *model, double t, const double *x, const double *v);
/* What a simulation of the model says of itself. (model_problem.c) */
extern const char *const tw_model_columns[];
void tw_model_summarise(const void *context, tw_simulation_summary *out);
/* a = M^-1 force for the unknowns. (model_problem.c) */
tw_status tw_model_divide_by_mass(tw_model *model, const double *force, double *a);

/* Callbacks of the simulation and the problem that measure a state. (model_measure.c) */
tw_status tw_model_energy(void *context, double t, const double *x, const double *v,
                          double *kinetic, double *potential);
tw_status tw_model_outside_power(void *context, double t, const double *x, const double *v,
                                 double *power);
tw_status tw_model_measure(void *context, double t, const double *u, tw_measurement *out);
/* Whether anything gives energy to the model or takes energy from it. */
bool tw_model_exchanges_energy(const tw_model *model);
/* Whether energy can come from outside: damping and impacts at obstacles at rest only take it. */
bool tw_model_gains_energy(const tw_model *model);

/* Callback of the simulation: where surfaces touch. (contact_places.c) */
int64_t tw_model_contacts(void *context, double t, const double *u, int64_t most, double *places);

/* Callback of the simulation: pulls a particle. (force_pull.c) */
tw_status tw_model_pull(void *context, int64_t particle, const double target[3]);

/* Callbacks of the problem: products with K, S and D, and their matrices. (model_tangent.c) */
tw_status tw_model_linearise(void *context, double t, const double *x, const double *v);
int64_t tw_model_tension_count(const tw_model *model);
tw_status tw_model_linearise_tension(void *context, double t, const double *x, const double *v,
                                     const double *tension, bool definite);
/* beta for which D >= beta K holds at rest because of dashpots along all springs; 0: none. */
double tw_model_dashpot_time(const tw_model *model);
/* The fastest rate [1/s] of a single dashpot, less what beta K counts of it. */
double tw_model_dashpot_rate(const tw_model *model, double beta);
/* model->tension_row, once the unknowns are numbered. */
tw_status tw_model_list_tension_rows(tw_model *model);
/* As tw_second_order_problem.focus. */
void tw_model_focus(void *context, const unsigned char *active);
tw_status tw_model_predict_tension(void *context, double t, const double *x, const double *v,
                                   const double *dx, double rate, double *predicted, double *turn);
tw_status tw_model_apply_stiffness(void *context, int count, const double *in, double *out);
tw_status tw_model_apply_symmetric(void *context, int count, const double *in, double *out);
tw_status tw_model_apply_damping(void *context, int count, const double *in, double *out);
tw_status tw_model_assemble(void *context, tw_sparse *matrix);
tw_status tw_model_add_damping(void *context, double factor, tw_sparse *matrix);
/* Callback of the problem: da/dt. (model_rates.c) */
tw_status tw_model_time_derivative(void *context, double t, const double *x, const double *v,
                                   double *out);

#endif
