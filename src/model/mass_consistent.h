/* Consistent mass:
 *     M = diag(masses of the particles) + sum_e m_e (C_e - L_e),
 * where C_e holds the integrals of N_a N_b over an element of mass 1, and L_e is its lumped form,
 * which the masses of the particles contain. */
#ifndef TW_MODEL_MASS_CONSISTENT_H
#define TW_MODEL_MASS_CONSISTENT_H

#include <twang/cholesky.h>

#include "model/particles.h"

/* Elements of one kind, as they were added. */
typedef struct tw_mass_group {
    int nodes; /* 2, 4 or 10 */
    int64_t count;
    const int32_t *particle;
    const double *mass; /* of each element */
} tw_mass_group;

typedef struct tw_consistent_mass {
    tw_mass_group *groups;
    int group_count;

    /* The rest is set by tw_consistent_mass_complete. */
    int64_t free_count;
    tw_sparse *coupling; /* the same for x, y and z: one row per free particle */
    tw_sparse *matrix;   /* M itself, blocks of 3x3 */
    tw_cholesky *factor; /* of the coupling */
    double *load;        /* row sums of M with all particles: what a uniform acceleration acts on */
    double *columns;     /* scratch: two times all x, all y, all z */
    tw_mass_operator view;
} tw_consistent_mass;

/* Adds elements, copied. A mass without groups is lumped. */
tw_status tw_consistent_mass_add(tw_consistent_mass *mass, const tw_mass_group *group);
void tw_consistent_mass_free(tw_consistent_mass *mass);

/* Makes the matrices and the factor. TW_NOT_POSITIVE_DEFINITE if the masses of the particles do not
 * contain those of the elements. */
tw_status tw_consistent_mass_complete(tw_consistent_mass *mass, const tw_particles *particles,
                                      tw_error *error);

/* out = M in and out = M^-1 in for one vector of the unknowns. */
tw_status tw_consistent_mass_apply(void *mass, int count, const double *in, double *out);
tw_status tw_consistent_mass_solve(void *mass, int count, const double *in, double *out);

#endif
