/* Springs whose tension is an unknown of Newton's iteration (docs/schemes.md, "Mixed Newton").
 *
 * At an iterate that is off by an angle theta the law's tension T(l) is wrong by k theta^2 L / 2,
 * the pull of its damping c l' by c theta |y|, and so is the geometric stiffness F/l (I - n n^T)
 * made of both. Newton therefore carries a pull lam of its own per spring:
 *     tangent     E = T'(l) n n^T + (lam / l) (I - n n^T)
 *     prediction  lam + d_lam = F + (T' n + c' l' n + g) . dd + c n . dy,
 * with dd the change of the spring's vector and dy that of its rate (spring_law.h has the rest). */
#include <math.h>
#include <stdatomic.h>

#include "base/parallel_for.h"
#include "model/spring_batch.h"

/* What the bodies of the parallel loops see. */
typedef struct loop {
    tw_springs *s;
    const double *x, *v;   /* of all particles */
    const double *tension; /* lam, one value per spring */
    bool definite;         /* a compressed spring counts as slack across its line */
    const double *dx;      /* change of the unknowns */
    double rate;           /* their velocity changes by rate * dx */
    double *predicted;     /* lam + d_lam, one value per spring */
    double *turn;          /* angle by which the change can turn it, likewise */
    atomic_bool undefined; /* a spring has no length, hence no direction, and should have one */
} loop;

int64_t tw_springs_tension_count(const void *data)
{
    return ((const tw_springs *)data)->count;
}

/* Four plain springs at a time: n, lam/l and T' - lam/l. */
static void plain_body(void *context, int64_t begin, int64_t end, int64_t block)
{
    (void)block;
    loop *p = context;
    const tw_springs *s = p->s;
    tw_spring_batch batch;
    if (!tw_springs_want_block(p->s, begin)) return;

    for (int64_t first = begin; first < end; first += 4) {
        int count = end - first < 4 ? (int)(end - first) : 4;
        if (!tw_springs_want(s, first, count)) continue;
        tw_spring_batch_evaluate(s, p->x, first, count, &batch);
        if (batch.undefined) atomic_store(&p->undefined, true);

        for (int j = 0; j < count; j++) {
            int64_t e = first + j;
            double *tangent = s->tangent + TW_SPRING_TANGENT * e;
            double lam = p->definite ? fmax(p->tension[e], 0.0) : p->tension[e];
            bool turns = s->rest_length[e] != 0.0;
            tw_wide_store3(tangent, tw_wide_divide(batch.d[j], tw_wide_splat(batch.length[j])));
            tangent[3] = turns ? lam / batch.length[j] : batch.across[j];
            tangent[4] = batch.slope[j] - tangent[3];
        }
    }
}

/* Replaces F/l by lam/l in the tangents that tw_springs_linearise left. */
static void replace_body(void *context, int64_t begin, int64_t end, int64_t block)
{
    (void)block;
    const loop *p = context;
    const tw_springs *s = p->s;
    if (!tw_springs_want_block(p->s, begin)) return;

    for (int64_t e = begin; e < end; e++) {
        if (!tw_springs_wants(s, e)) continue;
        double d[3];
        tw_springs_sum(s, p->x, e, d);
        double length = sqrt(tw_dot3(d, d));
        double *tangent = s->tangent + 5 * e;
        double slope = tangent[3] + tangent[4];

        /* A spring without rest length pulls like k d, whatever its direction: its tangent is right
         * as it is. */
        if (!(length > 0.0) || s->rest_length[e] == 0.0) continue;

        double lam = p->tension[e];
        if (p->definite) lam = fmax(lam, 0.0);
        tangent[3] = lam / length;
        tangent[4] = slope - tangent[3];
    }
}

tw_status tw_springs_linearise_tension(void *data, const tw_force_view *at, const double *tension,
                                       bool definite)
{
    loop p = {.s = data, .x = at->x, .tension = tension, .definite = definite};
    if (tw_springs_are_plain(p.s)) {
        tw_parallel_for(p.s->count, TW_PARTICLE_BLOCK, plain_body, &p);
        return atomic_load(&p.undefined) ? TW_RECOVERABLE : TW_OK;
    }

    tw_status status = tw_springs_linearise(data, at);
    if (status != TW_OK) return status;
    tw_parallel_for(p.s->count, TW_PARTICLE_BLOCK, replace_body, &p);
    return TW_OK;
}

/* The change of spring e's vector: dd = sum_c weight_c dx_c over its free corners. */
static void change_of(const tw_springs *s, const double *dx, int64_t e, double dd[3])
{
    for (int k = 0; k < 3; k++) dd[k] = 0.0;
    for (int c = 0; c < s->corners; c++) {
        int32_t i = s->particles->unknown[s->corner[s->corners * e + c]];
        if (i < 0) continue;
        for (int k = 0; k < 3; k++) dd[k] += s->weight[c] * dx[3 * (int64_t)i + k];
    }
}

/* lam + d_lam of spring e, whose vector changes by dd. */
static double predict(const loop *p, int64_t e, const double d[3], const double dd[3])
{
    const tw_springs *s = p->s;
    double y[3] = {0.0, 0.0, 0.0};
    if (s->slide) tw_springs_sum(s, p->v, e, y);

    tw_spring_law law = tw_springs_law(s, e);
    tw_spring_state state = tw_spring_linearise(&law, d, y);
    double F = state.across * sqrt(tw_dot3(d, d));
    double slope = state.across + state.along;
    return F + (slope + p->rate * state.c) * tw_dot3(state.n, dd) + tw_dot3(state.slide, dd);
}

/* Predicts the pull of spring e, and |dd| / L, the angle by which the change can turn it; 0 without
 * a rest length. */
static void predict_one(const loop *p, int64_t e)
{
    const tw_springs *s = p->s;
    double d[3];
    double dd[3];
    tw_springs_sum(s, p->x, e, d);
    change_of(s, p->dx, e, dd);
    p->predicted[e] = predict(p, e, d, dd);

    double L = s->rest_length[e];
    p->turn[e] = L > 0.0 ? sqrt(tw_dot3(dd, dd)) / L : 0.0;
}

static void predict_body(void *context, int64_t begin, int64_t end, int64_t block)
{
    (void)block;
    const loop *p = context;
    if (!tw_springs_want_block(p->s, begin)) return;
    for (int64_t e = begin; e < end; e++)
        if (tw_springs_wants(p->s, e)) predict_one(p, e);
}

/* The change of a free end of a spring; a pinned end does not move. */
TW_ALWAYS_INLINE tw_wide change_of_end(const loop *p, int32_t end)
{
    int32_t i = p->s->particles->unknown[end];
    return i >= 0 ? tw_wide_load3(p->dx + 3 * (int64_t)i) : tw_wide_zero();
}

/* The same for four plain springs: F + T' n . dd, and |dd| / L. */
TW_ALWAYS_INLINE void predict_batch(const loop *p, int64_t first, int count)
{
    const tw_springs *s = p->s;
    tw_spring_batch batch;
    tw_spring_batch_evaluate(s, p->x, first, count, &batch);

    /* d . dd and dd . dd of each spring. */
    tw_wide along[4];
    tw_wide square[4];
    for (int j = 0; j < 4; j++) {
        const int32_t *corner = s->corner + 2 * (first + (j < count ? j : count - 1));
        tw_wide dd = tw_wide_subtract(change_of_end(p, corner[1]), change_of_end(p, corner[0]));
        along[j] = tw_wide_multiply(batch.d[j], dd);
        square[j] = tw_wide_multiply(dd, dd);
    }
    double d_dd[4];
    double length[4];
    tw_wide_store(d_dd, tw_wide_sum4(along));
    tw_wide_store(length, tw_wide_sqrt(tw_wide_sum4(square)));

    for (int j = 0; j < count; j++) {
        double l = batch.length[j];
        double L = s->rest_length[first + j];
        p->predicted[first + j] = batch.across[j] * l + batch.slope[j] * d_dd[j] / l;
        p->turn[first + j] = length[j] / L;
        if (!(L > 0.0)) predict_one(p, first + j); /* it may have no length */
    }
}

static void plain_predict_body(void *context, int64_t begin, int64_t end, int64_t block)
{
    (void)block;
    const loop *p = context;
    if (!tw_springs_want_block(p->s, begin)) return;
    for (int64_t first = begin; first < end; first += 4) {
        int count = end - first < 4 ? (int)(end - first) : 4;
        if (tw_springs_want(p->s, first, count)) predict_batch(p, first, count);
    }
}

void tw_springs_predict_tension(void *data, const tw_force_view *at, const double *dx, double rate,
                                double *predicted, double *turn)
{
    loop p = {.s = data, .x = at->x, .v = at->v, .dx = dx, .rate = rate};
    p.predicted = predicted;
    p.turn = turn;
    tw_parallel_block *body = tw_springs_are_plain(p.s) ? plain_predict_body : predict_body;
    tw_parallel_for(p.s->count, TW_PARTICLE_BLOCK, body, &p);
}
