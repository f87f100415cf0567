/* The law of everything that pulls along a line: springs, dashpots,
 * springs to the centre of a face.
 *
 * Let d be the vector from one end to the other, y its rate of change, l = |d|, n = d/l, and
 * l' = n . y the rate of l:
 *     pull      F = T(l) + c(l) l',
 *     tension   T = k e + q e^3 with the deflection e = l - L - flow,
 *     damping   c = c_0 + beta T'(l).
 * A spring that yields flows where its deflection exceeds its limit (tw_spring_flow); all others never do.
 * The force on the first end is F n. Its derivative along a change u of d and a change w of y is
 *     elastic part    [F/l + (T' - F/l) n n^T] u
 *     sliding part    n (c' l' n + g)^T u    with g = (c/l) (I - n n^T) y
 *     damping part    c n n^T w.
 * The pull F of the elastic part turns with the spring, damping included. The sliding part is the
 * change of the damping force when the spring changes its length, or turns away from y. */
#ifndef TW_MODEL_SPRING_LAW_H
#define TW_MODEL_SPRING_LAW_H

#include <math.h>
#include <stdbool.h>

#include "base/vector3.h"

typedef struct tw_spring_law {
    double stiffness;   /* k [N/m] */
    double cubic;       /* q [N/m^3] */
    double rest_length; /* L [m] */
    double damping;     /* c_0 [N s/m] */
    double beta;        /* of Rayleigh damping [s] */

    /* Of a spring that yields (docs/plasticity.md). */
    double limit;     /* its largest elastic deflection [m]; 0: it is elastic always */
    double hardening; /* by how much the limit grows per flow */
    double room;      /* so much shorter its rest length may become [m] */
} tw_spring_law;

/* The coefficients of the derivative at one state. */
typedef struct tw_spring_state {
    double n[3];
    double across;   /* F/l */
    double along;    /* T' - F/l */
    double slide[3]; /* c' l' n + g */
    double c;
} tw_spring_state;

/* What a spring of the length l flows, by the return map from its rest length: the part of its
 * deflection that does not spring back. Positive where it is stretched. */
static inline double tw_spring_flow(const tw_spring_law *s, double l)
{
    double e = l - s->rest_length;
    double excess = fabs(e) - s->limit;
    if (!(excess > 0.0) || s->limit == 0.0) return 0.0;

    double flow = excess / (1.0 + s->hardening);
    if (e > 0.0) return flow;
    return flow < s->room ? -flow : -s->room;
}

/* The elastic energy k e^2/2 + q e^4/4, and what the flow took,
 *     int_0^|f| k y + q y^3 ds  with y = limit + hardening s. */
static inline double tw_spring_energy(const tw_spring_law *s, double l)
{
    double flow = tw_spring_flow(s, l);
    double e = l - s->rest_length - flow;
    double elastic = 0.5 * e * e * (s->stiffness + 0.5 * s->cubic * e * e);
    if (flow == 0.0) return elastic;

    double a = s->limit;
    double b = s->limit + s->hardening * fabs(flow);
    return elastic +
           0.25 * fabs(flow) * (a + b) * (2.0 * s->stiffness + s->cubic * (a * a + b * b));
}

/* What the law says at one length. */
typedef struct tw_spring_pull {
    double tension; /* T */
    double slope;   /* T': of a spring that flows, that of its way as it flows on */
    double
        elastic; /* T' as if it sprang back: damping is beta times this, so that it does not jump */
    double slope_rate; /* the change of `elastic` with l */
} tw_spring_pull;

static inline tw_spring_pull tw_spring_pull_at(const tw_spring_law *s, double l)
{
    double flow = tw_spring_flow(s, l);
    double e = l - s->rest_length - flow;
    double elastic = s->stiffness + 3.0 * s->cubic * e * e;

    /* How much of a change of the length is elastic. */
    bool flows = flow > 0.0 || (flow < 0.0 && flow > -s->room);
    double share = flows ? s->hardening / (1.0 + s->hardening) : 1.0;
    return (tw_spring_pull){.tension = e * (s->stiffness + s->cubic * e * e),
                            .slope = share * elastic,
                            .elastic = elastic,
                            .slope_rate = share * 6.0 * s->cubic * e};
}

/* A spring of length zero has no direction. Its force is defined only if its rest length is zero
 * too and c_0 = 0; then the force is zero. */
static inline bool tw_spring_is_defined(const tw_spring_law *s, double squared_length)
{
    return squared_length > 0.0 ||
           (squared_length == 0.0 && s->rest_length == 0.0 && s->damping == 0.0);
}

/* Returns F/l: the force on the first end is (F/l) d. */
static inline double tw_spring_pull_over_length(const tw_spring_law *s, const double d[3],
                                                const double y[3])
{
    double l = sqrt(tw_dot3(d, d));
    if (!(l > 0.0)) return 0.0;

    tw_spring_pull pull = tw_spring_pull_at(s, l);
    double c = s->damping + s->beta * pull.elastic;
    return (pull.tension + c * tw_dot3(d, y) / l) / l;
}

static inline tw_spring_state tw_spring_linearise(const tw_spring_law *s, const double d[3],
                                                  const double y[3])
{
    tw_spring_state state = {.across = 0.0};
    double l = sqrt(tw_dot3(d, d));
    tw_spring_pull pull = tw_spring_pull_at(s, l);

    /* A spring without length has the rest length 0, and its derivative is k I. */
    if (!(l > 0.0)) {
        state.across = pull.slope;
        return state;
    }

    /* Elastic part: F/l and T' - F/l. */
    for (int k = 0; k < 3; k++) state.n[k] = d[k] / l;
    double rate = tw_dot3(state.n, y);
    state.c = s->damping + s->beta * pull.elastic;
    state.across = (pull.tension + state.c * rate) / l;
    state.along = pull.slope - state.across;

    /* Sliding part: c' l' with c' = beta T'' = 6 beta q e, and g = (c/l) (y - l' n). */
    double slide_along = s->beta * pull.slope_rate * rate;
    for (int k = 0; k < 3; k++)
        state.slide[k] = slide_along * state.n[k] + state.c / l * (y[k] - rate * state.n[k]);
    return state;
}

/* out += [across + along n n^T] u: the elastic part, symmetric. */
static inline void tw_spring_product(const tw_spring_state *s, const double u[3], double out[3])
{
    double along = s->along * tw_dot3(s->n, u);
    for (int k = 0; k < 3; k++) out[k] += s->across * u[k] + along * s->n[k];
}

/* out += n (c' l' n + g)^T u: the sliding part. */
static inline void tw_spring_slide_product(const tw_spring_state *s, const double u[3],
                                           double out[3])
{
    double along = tw_dot3(s->slide, u);
    for (int k = 0; k < 3; k++) out[k] += along * s->n[k];
}

/* out += c n n^T u: the damping part. */
static inline void tw_spring_damping_product(const tw_spring_state *s, const double u[3],
                                             double out[3])
{
    double along = s->c * tw_dot3(s->n, u);
    for (int k = 0; k < 3; k++) out[k] += along * s->n[k];
}

#endif
