/* The matrix of an operator of which only products are known. Columns of one colour have no row in
 * common, so that one product gives all of them (linalg/colouring.h). */
#ifndef TW_MODEL_PROBING_H
#define TW_MODEL_PROBING_H

#include "linalg/colouring.h"
#include "model/particles.h"
#include "model/pattern.h"

/* out = A in over the unknowns. */
typedef tw_status tw_probe_function(void *context, const double *in, double *out);

typedef struct tw_probing {
    const tw_particles *particles;
    tw_sparse *matrix;  /* the symmetric part of A, upper triangle */
    int64_t *target;    /* index of each stored block in the model's matrix */
    tw_colouring graph; /* neighbours and colours of the free particles */
    double *in;         /* one vector */
    double *out;        /* TW_MAX_BLOCK vectors */
} tw_probing;

/* `pairs` names the particles that act on each other. Free with
 * tw_probing_free, also on failure. */
tw_status tw_probing_create(tw_probing *probing, const tw_particles *particles, int64_t pair_count,
                            const int32_t *pairs);
void tw_probing_free(tw_probing *probing);

void tw_probing_add_pattern(const tw_probing *probing, tw_pattern *pattern);
void tw_probing_locate(tw_probing *probing, const tw_sparse *matrix);

/* Finds the matrix by three products per colour. The two functions below then use it. */
tw_status tw_probing_fill(tw_probing *probing, tw_probe_function *product, void *context);
void tw_probing_add_product(tw_probing *probing, int count, const double *in, double *out);
void tw_probing_add_tangent(const tw_probing *probing, tw_sparse *matrix);

#endif
