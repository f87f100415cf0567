/* Springs that yield: their state, and the end of a step, at which they flow (docs/plasticity.md).
 *
 * Within a step the rest lengths are frozen, so that every integrator sees elastic springs. They are
 * those that the flow will have reached in the middle of the step,
 *     L_during = L_n + h r / 2,   r = the rate of flow in the last step,
 * which makes the flow second-order accurate in h. At the end of the step a return map leads to the
 * rest length L_{n+1}, for which the elastic strain is within its limit:
 *     f = |l - L_n| - (limit + hardening a),   dL = sign(l - L_n) max(f, 0) / (1 + hardening).
 *
 * The plastic work is what the two changes of the rest length take from the elastic energy,
 *     W_stage = W_n + E(l_n, L_n) - E(l_n, L_during),
 *     W_{n+1} = W_stage + E(l_{n+1}, L_during) - E(l_{n+1}, L_{n+1}),
 * so that energy and work together are exactly what the integrator made of them. */
#ifndef TW_MODEL_SPRING_PLASTICITY_H
#define TW_MODEL_SPRING_PLASTICITY_H

#include <twang/plasticity.h>

#include "model/springs.h"

/* What the springs are at one moment. A broken spring has no stiffness. */
typedef struct tw_spring_values {
    double *rest_length;
    double *stiffness;
    double *cubic; /* NULL: the springs are linear */
} tw_spring_values;

/* Sums over springs, of one step. */
typedef struct tw_plastic_sums {
    double work;   /* what the flow took [J] */
    double error;  /* and the error of its guess, as an energy, */
    double stored; /* beside that which the springs have: k (l - L)^2 */
} tw_plastic_sums;

typedef struct tw_spring_plasticity {
    tw_plasticity law;
    tw_spring_values first;  /* as they were made */
    tw_spring_values during; /* inside the step */
    tw_spring_values after;  /* at its end */
    double t;                /* where the step begins [s] */
    double h;                /* and its length; 0: no step was made */

    /* The internal variables, in the array of the model: see TW_PLASTIC_... */
    double *state;
    unsigned char *changed;   /* the marks of their blocks */
    tw_plastic_sums *partial; /* per block of springs */

    /* omega^2 of each spring alone [1/s^2]: see tw_springs_find_frequencies */
    double *square_frequency;
} tw_spring_plasticity;

/* The internal variables: of each block of springs three arrays with an entry per spring, and after all of
 * them two sums. A block has TW_INTERNAL_BLOCK springs, or all if there are fewer. Its variables then have
 * blocks of their own, and so have the sums, or there is one block of springs. */
enum {
    TW_PLASTIC_ELONGATION, /* p = L - L_0 [m] */
    TW_PLASTIC_RATE,       /* r = dp/dt in the last step [m/s] */
    TW_PLASTIC_SUM,        /* the sum of all |dp| [m]; -1: the spring is broken */
    TW_PLASTIC_ARRAYS,
    TW_PLASTIC_WORK = 0,       /* of the two sums: W at the end of the last step [J], */
    TW_PLASTIC_WORK_STAGE = 1, /* and W at its stage */
    TW_PLASTIC_SUMS = 2
};

/* Makes springs yield by a law. TW_OUT_OF_MEMORY leaves them elastic. */
tw_status tw_springs_make_plastic(tw_springs *s, const tw_plasticity *law);
/* Finds how fast each spring swings alone. Their particles must be known. */
void tw_springs_find_frequencies(tw_springs *s);
/* Accepts elastic springs. */
void tw_springs_release_plasticity(tw_springs *s);

/* Entries of the force table. */
int64_t tw_springs_internal_count(const void *data);
void tw_springs_set_internal(void *data, double *state, unsigned char *changed);
tw_status tw_springs_begin_step(void *data, double h, const tw_force_view *at, bool *changed);
tw_status tw_springs_finish_step(void *data, double h, const tw_force_view *from, double t,
                                 double *x, double *v, bool *changed);
double tw_springs_plastic_work(const void *data, double t);
void tw_springs_add_strain(const void *data, const double *x, double *rows, int stride);

/* The springs as they were at time t: inside the last step, or at its end. (Energies of schemes with
 * a stage are measured at the stage.) Returns what tw_springs_take wants back. */
tw_spring_values tw_springs_at(tw_springs *s, double t);
void tw_springs_take(tw_springs *s, const tw_spring_values *values);

#endif
