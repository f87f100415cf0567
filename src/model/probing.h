/* The matrix of an operator known by products only, from few of them: columns of one colour have no row in common. */
#ifndef TW_MODEL_PROBING_H
#define TW_MODEL_PROBING_H

#include "model/particles.h"
#include "model/pattern.h"

/* out = A in over the unknowns. */
typedef tw_status tw_probe_function(void *context, const double *in, double *out);

typedef struct tw_probing {
    const tw_particles *particles;
    tw_sparse *matrix;  /* the symmetric part, upper triangle */
    int64_t *target;    /* index of each stored block in the model's matrix */
    int32_t *neighbour; /* of each free particle, itself included; ascending */
    int64_t *start;     /* free_count + 1 offsets into neighbour */
    int32_t *colour;
    int colours;
    double *in, *out; /* room for TW_MAX_BLOCK vectors in out */
} tw_probing;

/* `pairs` names particles that act on each other. */
tw_status tw_probing_create(tw_probing *probing, const tw_particles *particles, int64_t pair_count,
                            const int32_t *pairs);
void tw_probing_free(tw_probing *probing);

void tw_probing_add_pattern(const tw_probing *probing, tw_pattern *pattern);
void tw_probing_locate(tw_probing *probing, const tw_sparse *matrix);

/* Finds the matrix by 3 products per colour; those below then use it. */
tw_status tw_probing_fill(tw_probing *probing, tw_probe_function *product, void *context);
void tw_probing_add_product(tw_probing *probing, int count, const double *in, double *out);
void tw_probing_add_tangent(const tw_probing *probing, tw_sparse *matrix);

#endif
