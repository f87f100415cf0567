/* Springs that yield: their state, and the end of a step, at which they flow (docs/plasticity.md).
 *
 * Within a step the rest lengths are frozen, and a spring that is stretched or pressed beyond its limit
 * follows its own loading curve: the law of the return map from the start of the step, which is that of
 * an elastic spring that becomes softer (spring_law.h). At the end of the step the return map is made,
 *     f = |l - L_n| - (limit + hardening a),   dL = sign(l - L_n) max(f, 0) / (1 + hardening).
 * It changes neither pull nor energy: what the loading curve stores beyond the elastic energy is the
 * plastic work. */
#ifndef TW_MODEL_SPRING_PLASTICITY_H
#define TW_MODEL_SPRING_PLASTICITY_H

#include <twang/plasticity.h>

#include "model/springs.h"

/* What the springs are at one moment. A broken spring has no stiffness. */
typedef struct tw_spring_values {
    double *rest_length;
    double *stiffness;
    double *cubic; /* NULL: the springs are linear */
    double *limit; /* the largest elastic deflection */
    double *room;  /* so much shorter the rest length may become */
} tw_spring_values;

/* Sums over springs, of one step. The error of the flow is judged as an energy: a step is rejected if
 *     sum k (error of the flow / tolerance)^2 > sum k (l - L)^2. */
typedef struct tw_plastic_sums {
    double work;   /* what the flow took [J] */
    double error;  /* the left side */
    double stored; /* and the right side */
} tw_plastic_sums;

typedef struct tw_spring_plasticity {
    tw_plasticity law;
    tw_spring_values first;  /* as they were made */
    tw_spring_values during; /* inside the step */
    tw_spring_values after;  /* at its end */
    double t;                /* where the step begins [s] */
    double h;                /* and its length; 0: no step was made */
    double work;             /* the plastic work before it [J] */

    /* The internal variables, in the array of the model: see TW_PLASTIC_... */
    double *state;
    unsigned char *changed;   /* the marks of their blocks */
    tw_plastic_sums *partial; /* per block of springs */

    /* omega^2 of each spring alone [1/s^2]: see tw_springs_find_frequencies */
    double *square_frequency;
} tw_spring_plasticity;

/* The internal variables: of each block of springs two arrays with an entry per spring, and after all of
 * them a sum. A block has TW_INTERNAL_BLOCK springs, or all if there are fewer. Its variables then have
 * blocks of their own, and so has the sum, or there is one block of springs. */
enum {
    TW_PLASTIC_ELONGATION, /* p = L - L_0 [m] */
    TW_PLASTIC_SUM,        /* the sum of all |dp| [m]; -1: the spring is broken */
    TW_PLASTIC_ARRAYS,
    TW_PLASTIC_SUMS = 1 /* the plastic work [J] */
};

/* Makes springs yield by a law. TW_OUT_OF_MEMORY leaves them elastic. */
tw_status tw_springs_make_plastic(tw_springs *s, const tw_plasticity *law);
/* Finds how fast each spring swings alone. Their particles must be known. */
void tw_springs_find_frequencies(tw_springs *s);
/* T' of spring e for the linear model of the step from here: of a spring at its limit that of its flow, if it is fast
 * enough to flow until the end of the step, or else that of springing back. A spring that seemed to flow on while it
 * turns round would have nothing that stops it. */
double tw_springs_slope_ahead(const tw_springs *s, const tw_force_view *at, int64_t e);
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
