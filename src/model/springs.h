/* Springs of every kind (spring_law.h) between weighted sums of particles: d = sum_c weight_c x_c, weights that sum to
 * zero. Two ends: -1, 1. Vertex to the centre of a face: -1, 1/3, 1/3, 1/3. */
#ifndef TW_MODEL_SPRINGS_H
#define TW_MODEL_SPRINGS_H

#include "model/force.h"
#include "model/incidence.h"
#include "model/spring_law.h"

enum { TW_SPRING_CORNERS = 4 /* the most there are */, TW_SPRING_PAIRS = 6 };

/* What a set of springs is made of. Arrays have one value per spring, or are NULL: 0, and for rest_length the length at
 * `positions`. */
typedef struct tw_springs_input {
    int64_t count;
    int corners;           /* 2 or 4 */
    const int64_t *corner; /* particles */
    const double *stiffness, *cubic, *rest_length, *damping;
    const double *positions;
} tw_springs_input;

tw_status tw_force_springs_create(const tw_springs_input *input, tw_force *out);

typedef struct tw_springs {
    int64_t count;
    int corners, shift;   /* corners = 2^shift */
    const double *weight; /* of each corner */
    int32_t *corner;
    double *stiffness, *rest_length; /* always there */
    double *cubic, *damping;         /* NULL: none */
    double beta;                     /* of Rayleigh damping */

    const tw_particles *particles;
    tw_incidence incidence;
    double *pull;    /* a vector per spring and column: what particles gather from */
    double *tangent; /* at the last linearisation, five per spring: n, across, along */
    double
        *slide;   /* likewise, eight: n, slide_across, slide_along n + g, 0; NULL without damping */
    double *root; /* likewise, three: sqrt(c) n; NULL without damping */
    double *partial;   /* energy per block of springs */
    int64_t *diagonal; /* index of the matrix block of each free particle with itself */
    int64_t *block;    /* of each pair of corners; -1 if one of them is pinned */
} tw_springs;

static inline bool tw_springs_are_damped(const tw_springs *s)
{
    return s->damping || s->beta > 0.0;
}

static inline tw_spring_law tw_springs_law(const tw_springs *s, int64_t e)
{
    return (tw_spring_law){.stiffness = s->stiffness[e],
                           .cubic = s->cubic ? s->cubic[e] : 0.0,
                           .rest_length = s->rest_length[e],
                           .damping = s->damping ? s->damping[e] : 0.0,
                           .beta = s->beta};
}

/* Springs that are no more than that: two ends, no friction. They have kernels of their own (spring_batch.h). */
static inline bool tw_springs_are_plain(const tw_springs *s)
{
    return s->corners == 2 && !tw_springs_are_damped(s);
}

/* d = sum_c weight_c x_c over the corners of spring e. */
static inline void tw_springs_sum(const tw_springs *s, const double *x, int64_t e, double d[3])
{
    const int32_t *corner = s->corner + s->corners * e;
    if (s->corners == 2) {
        const double *a = x + 3 * (int64_t)corner[0], *b = x + 3 * (int64_t)corner[1];
        for (int k = 0; k < 3; k++) d[k] = b[k] - a[k];
        return;
    }
    for (int k = 0; k < 3; k++) d[k] = 0.0;
    for (int c = 0; c < s->corners; c++)
        for (int k = 0; k < 3; k++) d[k] += s->weight[c] * x[3 * (int64_t)corner[c] + k];
}

/* out_p -= sum over its springs of weight * pull, for all particles. (force_spring.c) */
void tw_springs_gather(tw_springs *s, double *out);

/* force_spring_tangent.c */
void tw_springs_add_pattern(const void *data, tw_pattern *pattern);
void tw_springs_locate(void *data, const tw_sparse *matrix);
tw_status tw_springs_linearise(void *data, const tw_force_view *at);
void tw_springs_add_product(void *data, int count, const double *in, double *out);
void tw_springs_add_symmetric_product(void *data, int count, const double *in, double *out);
void tw_springs_add_rest_product(void *data, int count, const double *in, double *out);
void tw_springs_add_damping_product(void *data, int count, const double *in, double *out);
void tw_springs_add_tangent(void *data, tw_sparse *matrix);
void tw_springs_add_damping(void *data, double factor, tw_sparse *matrix);

#endif
