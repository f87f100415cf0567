/* The law of everything that pulls along a line: springs, dashpots, springs to the centre of a face.
 *
 * With d the vector from one end to the other, l = |d|, n = d/l, y its rate, l' = n . y the rate of l:
 *     pull  F = T(l) + c(l) l',   T = k e + q e^3,  e = l - L,   c = c_0 + beta T'(l).
 * The force on the first end is F n. Its derivative along a displacement u of d and w of y, elastic and frictional
 * part: [T/l + (T' - T/l) n n^T] u  +  [c l'/l + (c' l' - c l'/l) n n^T + n g^T] u + c n n^T w,  g = (c/l) (I - n n^T)
 * y. */
#ifndef TW_MODEL_SPRING_LAW_H
#define TW_MODEL_SPRING_LAW_H

#include <math.h>
#include <stdbool.h>

typedef struct tw_spring_law {
    double stiffness, cubic, rest_length; /* k, q, L */
    double damping, beta;                 /* c_0, beta */
} tw_spring_law;

/* Everything at one state. */
typedef struct tw_spring_state {
    double n[3];
    double across, along;             /* T/l, T' - T/l */
    double slide_across, slide_along; /* c l'/l, c' l' - c l'/l */
    double g[3], c;
} tw_spring_state;

static inline double tw_dot3(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static inline double tw_spring_energy(const tw_spring_law *s, double l)
{
    double e = l - s->rest_length;
    return 0.5 * e * e * (s->stiffness + 0.5 * s->cubic * e * e);
}

/* T(l) and T'(l). */
static inline double tw_spring_tension(const tw_spring_law *s, double l, double *slope)
{
    double e = l - s->rest_length;
    *slope = s->stiffness + 3.0 * s->cubic * e * e;
    return e * (s->stiffness + s->cubic * e * e);
}

/* A spring of length zero has no direction, and pulls nowhere if that is its rest length. */
static inline bool tw_spring_is_defined(const tw_spring_law *s, double l)
{
    return l > 0.0 || (l == 0.0 && s->rest_length == 0.0 && s->damping == 0.0);
}

/* F/l: the force on the first end is F/l d. */
static inline double tw_spring_pull(const tw_spring_law *s, const double d[3], const double y[3])
{
    double l = sqrt(tw_dot3(d, d)), slope;
    if (!(l > 0.0)) return 0.0;
    double T = tw_spring_tension(s, l, &slope);
    return (T + (s->damping + s->beta * slope) * tw_dot3(d, y) / l) / l;
}

static inline tw_spring_state tw_spring_linearise(const tw_spring_law *s, const double d[3],
                                                  const double y[3])
{
    tw_spring_state state = {.across = 0.0};
    double l = sqrt(tw_dot3(d, d)), slope, T = tw_spring_tension(s, l, &slope);
    if (!(l > 0.0)) { /* L = 0: k I */
        state.across = slope;
        return state;
    }
    for (int k = 0; k < 3; k++) state.n[k] = d[k] / l;
    state.across = T / l;
    state.along = slope - state.across;
    double rate = tw_dot3(state.n, y);
    state.c = s->damping + s->beta * slope;
    state.slide_across = state.c * rate / l;
    /* c' = beta T'' = 6 beta q e */
    state.slide_along = 6.0 * s->beta * s->cubic * (l - s->rest_length) * rate - state.slide_across;
    for (int k = 0; k < 3; k++) state.g[k] = state.c / l * (y[k] - rate * state.n[k]);
    return state;
}

/* out += [across + along n n^T] u: the elastic part, symmetric. */
static inline void tw_spring_product(const tw_spring_state *s, const double u[3], double out[3])
{
    double along = s->along * tw_dot3(s->n, u);
    for (int k = 0; k < 3; k++) out[k] += s->across * u[k] + along * s->n[k];
}

/* out += the frictional part. */
static inline void tw_spring_slide_product(const tw_spring_state *s, const double u[3],
                                           double out[3])
{
    double along = s->slide_along * tw_dot3(s->n, u) + tw_dot3(s->g, u);
    for (int k = 0; k < 3; k++) out[k] += s->slide_across * u[k] + along * s->n[k];
}

/* out += c n n^T u. */
static inline void tw_spring_damping_product(const tw_spring_state *s, const double u[3],
                                             double out[3])
{
    double along = s->c * tw_dot3(s->n, u);
    for (int k = 0; k < 3; k++) out[k] += along * s->n[k];
}

#endif
