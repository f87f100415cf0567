/* Springs whose tension is an unknown of Newton's iteration (docs/schemes.md, "Mixed Newton").
 *
 * At an iterate that is off by an angle theta the law's tension T(l) is wrong by k theta^2 L / 2,
 * the pull of its damping c l' by c theta |y|, and so is the geometric stiffness F/l (I - n n^T)
 * made of both. Newton therefore carries a pull lam of its own per spring:
 *     tangent     E = T'(l) n n^T + (lam / l) (I - n n^T)
 *     prediction  lam + d_lam = F + (T' n + c' l' n + g) . dd + c n . dy,
 * with dd the change of the spring's vector and dy that of its rate (spring_law.h has the rest). */
#include <math.h>

#include "base/parallel_for.h"
#include "model/springs.h"

/* What the bodies of the parallel loops see. */
typedef struct loop {
    tw_springs *s;
    const double *x, *v;   /* of all particles */
    const double *tension; /* lam, one value per spring */
    bool definite;         /* a compressed spring counts as slack across its line */
    const double *dx;      /* change of the unknowns */
    double rate;           /* their velocity changes by rate * dx */
    double *predicted;     /* lam + d_lam, one value per spring */
} loop;

int64_t tw_springs_tension_count(const void *data)
{
    return ((const tw_springs *)data)->count;
}

/* Replaces F/l by lam/l in the tangents that tw_springs_linearise left. */
static void replace_body(void *context, int64_t begin, int64_t end, int64_t block)
{
    (void)block;
    const loop *p = context;
    const tw_springs *s = p->s;

    for (int64_t e = begin; e < end; e++) {
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
    tw_status status = tw_springs_linearise(data, at);
    if (status != TW_OK) return status;

    loop p = {.s = data, .x = at->x, .tension = tension, .definite = definite};
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

static void predict_body(void *context, int64_t begin, int64_t end, int64_t block)
{
    const loop *p = context;
    const tw_springs *s = p->s;
    double turn = 0.0;

    for (int64_t e = begin; e < end; e++) {
        double d[3];
        double dd[3];
        tw_springs_sum(s, p->x, e, d);
        change_of(s, p->dx, e, dd);
        p->predicted[e] = predict(p, e, d, dd);

        /* |dd| / L is the angle by which the change can turn the spring. */
        double L = s->rest_length[e];
        if (L > 0.0) turn = fmax(turn, sqrt(tw_dot3(dd, dd)) / L);
    }
    s->partial[block] = turn;
}

void tw_springs_predict_tension(void *data, const tw_force_view *at, const double *dx, double rate,
                                double *predicted, double *turn)
{
    loop p = {.s = data, .x = at->x, .v = at->v, .dx = dx, .rate = rate, .predicted = predicted};
    tw_parallel_for(p.s->count, TW_PARTICLE_BLOCK, predict_body, &p);
    for (int64_t b = 0; b < tw_parallel_blocks(p.s->count, TW_PARTICLE_BLOCK); b++)
        *turn = fmax(*turn, p.s->partial[b]);
}
