/* A set of springs of one kind (spring_law.h). A spring acts on the vector d = sum_c weight_c x_c
 * of its corners, whose weights sum to zero: -1, 1 between two ends; -1, 1/3, 1/3, 1/3 from a
 * vertex to the centre of a face. */
#ifndef TW_MODEL_SPRINGS_H
#define TW_MODEL_SPRINGS_H

#include <twang/plasticity.h>

#include "model/force.h"
#include "model/incidence.h"
#include "model/spring_law.h"
#include "model/spring_parts.h"

/* Numbers that are kept per spring at the last linearisation. */
enum {
    TW_SPRING_TANGENT = 5, /* n, across, along */
    TW_SPRING_SLIDE = 6,   /* n, c' l' n + g */
    TW_SPRING_ROOT = 3     /* sqrt(c) n */
};

/* The data from which springs are made. An array has one value per spring or is NULL. NULL means 0;
 * for rest_length it means the length at `positions`. */
typedef struct tw_springs_input {
    int64_t count;
    int corners;           /* 2, 4 or 8 */
    const int64_t *corner; /* `corners` particles per spring */
    const double *stiffness;
    const double *cubic;
    const double *rest_length;
    const double *damping;
    const double *positions;
    const tw_plasticity *plasticity; /* NULL: the springs are elastic */
} tw_springs_input;

tw_status tw_force_springs_create(const tw_springs_input *input, tw_force *out);

typedef struct tw_springs {
    int64_t count;
    int corners;
    int shift;            /* corners = 2^shift */
    const double *weight; /* of each corner */
    int32_t *corner;
    double *stiffness;   /* k */
    double *rest_length; /* L */
    double *cubic;       /* q; NULL: the springs are linear */
    double *damping;     /* c_0; NULL: there is none */
    double beta;         /* of Rayleigh damping */

    /* Of springs that yield (spring_law.h); NULL: they are elastic. */
    double *limit;
    double *room;
    double hardening;

    /* NULL: the springs are elastic. Else stiffness, rest_length and cubic change between steps. */
    struct tw_spring_plasticity *plasticity;

    const tw_particles *particles;
    tw_incidence incidence;
    tw_spring_parts parts; /* of plain springs */
    double *pull;          /* a vector per spring and column, which the particles gather */
    double *tangent;       /* TW_SPRING_TANGENT numbers per spring */
    double *slide;         /* TW_SPRING_SLIDE numbers per spring; NULL without damping */
    double *root;          /* TW_SPRING_ROOT numbers per spring; NULL without damping */
    double *partial;       /* energy per block of springs */
    int32_t *span;     /* the particles of each block of springs: first, and one after the last */
    int64_t *diagonal; /* index of the diagonal matrix block of each free particle */
    int64_t *block;    /* matrix block of each pair of corners; -1 if one of them is pinned */
} tw_springs;

static inline bool tw_springs_are_damped(const tw_springs *s)
{
    return s->damping || s->beta > 0.0;
}

static inline tw_spring_law tw_springs_law(const tw_springs *s, int64_t e)
{
    tw_spring_law law = {
        .stiffness = s->stiffness[e], .rest_length = s->rest_length[e], .beta = s->beta};
    if (s->cubic) law.cubic = s->cubic[e];
    if (s->damping) law.damping = s->damping[e];
    if (s->limit) {
        law.limit = s->limit[e];
        law.room = s->room[e];
        law.hardening = s->hardening;
    }
    return law;
}

/* Plain springs have two ends and no damping. The kernels of spring_batch.h are made for them. */
static inline bool tw_springs_are_plain(const tw_springs *s)
{
    return s->corners == 2 && !tw_springs_are_damped(s);
}

/* Whether what spring e does is wanted: it acts on an active particle. The free particles of a
 * spring are all active, or none is. */
static inline bool tw_springs_wants(const tw_springs *s, int64_t e)
{
    if (!s->particles->active) return true;
    for (int c = 0; c < s->corners; c++) {
        int32_t i = s->particles->unknown[s->corner[s->corners * e + c]];
        if (i >= 0) return tw_particles_want(s->particles, i);
    }
    return false;
}

/* Whether a spring may be wanted of the block that begins with spring `begin`, TW_PARTICLE_BLOCK
 * springs long. */
static inline bool tw_springs_want_block(const tw_springs *s, int64_t begin)
{
    const int32_t *span = s->span + 2 * (begin / TW_PARTICLE_BLOCK);
    return tw_particles_want_some(s->particles, span[0], span[1]);
}

/* Whether one of the springs first ... first + count - 1 is wanted. */
static inline bool tw_springs_want(const tw_springs *s, int64_t first, int count)
{
    if (!s->particles->active) return true;
    for (int j = 0; j < count; j++)
        if (tw_springs_wants(s, first + j)) return true;
    return false;
}

/* d = sum_c weight_c x_c over the corners of spring e. */
static inline void tw_springs_sum(const tw_springs *s, const double *x, int64_t e, double d[3])
{
    const int32_t *corner = s->corner + s->corners * e;

    /* Two ends: d is the difference of their positions. */
    if (s->corners == 2) {
        const double *a = x + 3 * (int64_t)corner[0];
        const double *b = x + 3 * (int64_t)corner[1];
        for (int k = 0; k < 3; k++) d[k] = b[k] - a[k];
        return;
    }

    for (int k = 0; k < 3; k++) d[k] = 0.0;
    for (int c = 0; c < s->corners; c++)
        for (int k = 0; k < 3; k++) d[k] += s->weight[c] * x[3 * (int64_t)corner[c] + k];
}

/* out_p -= sum over its springs of weight * pull, for all particles. (force_spring.c) */
void tw_springs_gather(tw_springs *s, double *out);

/* The entries of the force table that deal with tangents. (force_spring_tangent.c) */
void tw_springs_add_pattern(const void *data, tw_pattern *pattern);
void tw_springs_locate(void *data, const tw_sparse *matrix);
tw_status tw_springs_linearise(void *data, const tw_force_view *at);
void tw_springs_add_product(void *data, int count, const double *in, double *out);
void tw_springs_add_symmetric_product(void *data, int count, const double *in, double *out);
void tw_springs_add_rest_product(void *data, int count, const double *in, double *out);
void tw_springs_add_damping_product(void *data, int count, const double *in, double *out);
void tw_springs_add_tangent(void *data, tw_sparse *matrix);
void tw_springs_add_damping(void *data, double factor, tw_sparse *matrix);

/* force_spring_tension.c */
int64_t tw_springs_tension_count(const void *data);
tw_status tw_springs_linearise_tension(void *data, const tw_force_view *at, const double *tension,
                                       bool definite);
void tw_springs_predict_tension(void *data, const tw_force_view *at, const double *dx, double rate,
                                double *predicted, double *turn);

#endif
