/* The force of wind on a triangle, and its derivatives: four triangles at a time, one per lane.
 *
 * Let a = (x_1 - x_0) x (x_2 - x_0) / 2 be the area vector of a triangle, A = |a|, n = a/A,
 * u the velocity of the air relative to the mean of the corners, U = |u| and p = u . a.
 * Each corner feels a third of
 *     F = k1 p^2 u / (A U) + k2 p U n,     k1 = rho (drag - lift) / 2,  k2 = rho lift / 2.
 * The derivatives of F by a and by u are
 *     F_a = k1 [2 p u u^T - (p^2/A) u n^T] / (A U) + k2 U [n u^T + (p/A) (I - n n^T)]
 *     F_u = k1 [2 p u a^T + p^2 I - (p^2/U^2) u u^T] / (A U) + k2 [U n a^T + (p/U) n u^T].
 * A displacement d_c of corner c changes a by -o_c x d_c / 2 with o_c = x_{c+1} - x_{c+2}.
 *
 * All quotients follow from s = 1 / (A U), which takes one root and one division:
 *     U/A = U^2 s,  1/A^2 = U^2 s^2,  1/U^2 = A^2 s^2. */
#ifndef TW_MODEL_WIND_LAW_H
#define TW_MODEL_WIND_LAW_H

#include "base/simd.h"

/* A vector, or a matrix row by row, of four triangles. */
typedef struct tw_wide3 {
    tw_wide at[3];
} tw_wide3;
typedef struct tw_wide33 {
    tw_wide at[9];
} tw_wide33;

/* Where four triangles are in the air, and what all formulas share. */
typedef struct tw_wind_state {
    tw_wide3 a;
    tw_wide3 u;
    tw_wide A2; /* A^2 */
    tw_wide U2; /* U^2 */
    tw_wide p;  /* u . a */
    tw_wide s;  /* 1 / (A U); 0 where there is no area or no wind, hence no force */
} tw_wind_state;

typedef struct tw_wind_law {
    double k1;
    double k2;
} tw_wind_law;

/* Below this A^2 U^2 counts as 0 [m^6/s^2]: s^2 would overflow, and the force is below 1e-145 N
 * per kg/m^3. */
#define TW_WIND_CALM 1e-290

/* ---- vectors in lanes ---- */

TW_ALWAYS_INLINE tw_wide tw_wide3_dot(const tw_wide3 *a, const tw_wide3 *b)
{
    tw_wide sum = tw_wide_multiply(a->at[0], b->at[0]);
    sum = tw_wide_fma(a->at[1], b->at[1], sum);
    return tw_wide_fma(a->at[2], b->at[2], sum);
}

TW_ALWAYS_INLINE tw_wide3 tw_wide3_cross(const tw_wide3 *a, const tw_wide3 *b)
{
    tw_wide3 product;
    for (int k = 0; k < 3; k++) {
        int i = (k + 1) % 3;
        int j = (k + 2) % 3;
        product.at[k] = tw_wide_subtract(tw_wide_multiply(a->at[i], b->at[j]),
                                         tw_wide_multiply(a->at[j], b->at[i]));
    }
    return product;
}

TW_ALWAYS_INLINE tw_wide3 tw_wide3_scale(tw_wide factor, const tw_wide3 *a)
{
    tw_wide3 product;
    for (int k = 0; k < 3; k++) product.at[k] = tw_wide_multiply(factor, a->at[k]);
    return product;
}

/* factor M b */
TW_ALWAYS_INLINE tw_wide3 tw_wide33_product(double factor, const tw_wide33 *M, const tw_wide3 *b)
{
    tw_wide3 product;
    for (int k = 0; k < 3; k++) {
        tw_wide3 row = {{M->at[3 * k], M->at[3 * k + 1], M->at[3 * k + 2]}};
        product.at[k] = tw_wide_multiply(tw_wide_splat(factor), tw_wide3_dot(&row, b));
    }
    return product;
}

/* ---- the law ---- */

/* 1 / sqrt(square), and 0 in lanes where the square is too small for it. */
TW_ALWAYS_INLINE tw_wide tw_wind_inverse_root(tw_wide square)
{
    tw_wide s = tw_wide_inverse_sqrt(square);
    tw_wide excess = tw_wide_subtract(square, tw_wide_splat(TW_WIND_CALM));

    /* Calm lanes are rare, so one test serves all. */
    if (tw_wide_all_positive(excess)) return s;

    double root[TW_WIDE_LANES];
    double above[TW_WIDE_LANES];
    tw_wide_store(root, s);
    tw_wide_store(above, excess);
    for (int lane = 0; lane < TW_WIDE_LANES; lane++)
        if (!(above[lane] > 0.0)) root[lane] = 0.0;
    return tw_wide_load(root);
}

/* From two edges x_1 - x_0 and x_2 - x_0, and u. */
TW_ALWAYS_INLINE tw_wind_state tw_wind_state_of(const tw_wide3 *edge1, const tw_wide3 *edge2,
                                                const tw_wide3 *u)
{
    tw_wide3 twice = tw_wide3_cross(edge1, edge2);
    tw_wind_state state = {.a = tw_wide3_scale(tw_wide_splat(0.5), &twice), .u = *u};

    state.A2 = tw_wide3_dot(&state.a, &state.a);
    state.U2 = tw_wide3_dot(&state.u, &state.u);
    state.p = tw_wide3_dot(&state.u, &state.a);
    state.s = tw_wind_inverse_root(tw_wide_multiply(state.A2, state.U2));
    return state;
}

/* F / 3 = p s (k1 p u + k2 U^2 a) / 3: what each corner feels. */
TW_ALWAYS_INLINE tw_wide3 tw_wind_push(const tw_wind_law *law, const tw_wind_state *at)
{
    tw_wide scale = tw_wide_multiply(at->p, at->s);
    tw_wide along = tw_wide_multiply(tw_wide_splat(law->k1 / 3.0), tw_wide_multiply(scale, at->p));
    tw_wide across =
        tw_wide_multiply(tw_wide_splat(law->k2 / 3.0), tw_wide_multiply(scale, at->U2));

    tw_wide3 push = tw_wide3_scale(along, &at->u);
    for (int k = 0; k < 3; k++) push.at[k] = tw_wide_fma(across, at->a.at[k], push.at[k]);
    return push;
}

/* F_a = u (b1 u + b2 a)^T + a (b3 u + b4 a)^T + b5 I, where
 *     b1 = 2 k1 p s,  b2 = -k1 p^2 s / A^2,  b3 = k2 U^2 s,  b4 = -b3 p / A^2,  b5 = b3 p;
 * F_u = u (c1 u + c2 a)^T + a (c3 u + c4 a)^T + c5 I, where
 *     c1 = -k1 p^2 s / U^2,  c2 = b1,  c3 = k2 p s,  c4 = b3,  c5 = k1 p^2 s. */
TW_ALWAYS_INLINE tw_wide33 tw_wind_matrix(const tw_wind_state *at, const tw_wide factor[5])
{
    tw_wide33 matrix;

    /* Column c; entry c of the diagonal gets factor[4] as well. */
    for (int c = 0; c < 3; c++) {
        tw_wide with_u =
            tw_wide_fma(factor[0], at->u.at[c], tw_wide_multiply(factor[1], at->a.at[c]));
        tw_wide with_a =
            tw_wide_fma(factor[2], at->u.at[c], tw_wide_multiply(factor[3], at->a.at[c]));
        for (int r = 0; r < 3; r++)
            matrix.at[3 * r + c] =
                tw_wide_fma(at->u.at[r], with_u, tw_wide_multiply(at->a.at[r], with_a));
        matrix.at[4 * c] = tw_wide_add(matrix.at[4 * c], factor[4]);
    }
    return matrix;
}

TW_ALWAYS_INLINE void tw_wind_tangent(const tw_wind_law *law, const tw_wind_state *at,
                                      tw_wide33 *F_a, tw_wide33 *F_u)
{
    tw_wide ps = tw_wide_multiply(at->p, at->s);
    tw_wide s2 = tw_wide_multiply(at->s, at->s);
    tw_wide lift = tw_wide_multiply(tw_wide_splat(law->k2), tw_wide_multiply(at->U2, at->s));
    tw_wide drag = tw_wide_multiply(tw_wide_splat(law->k1), tw_wide_multiply(at->p, ps));
    tw_wide drag2 = tw_wide_multiply(tw_wide_splat(2.0 * law->k1), ps);
    tw_wide lift_p = tw_wide_multiply(lift, at->p);

    /* -1/A^2 and -1/U^2 */
    tw_wide minus_by_A2 = tw_wide_subtract(tw_wide_zero(), tw_wide_multiply(at->U2, s2));
    tw_wide minus_by_U2 = tw_wide_subtract(tw_wide_zero(), tw_wide_multiply(at->A2, s2));

    const tw_wide b[5] = {drag2, tw_wide_multiply(drag, minus_by_A2), lift,
                          tw_wide_multiply(lift_p, minus_by_A2), lift_p};
    const tw_wide c[5] = {tw_wide_multiply(drag, minus_by_U2), drag2,
                          tw_wide_multiply(tw_wide_splat(law->k2), ps), lift, drag};
    *F_a = tw_wind_matrix(at, b);
    *F_u = tw_wind_matrix(at, c);
}

/* The product with K, for one column: F_a (sum_c o_c x in_c / 2) / 3. Row c of o is o_c. */
TW_ALWAYS_INLINE tw_wide3 tw_wind_stiffness_push(const tw_wide33 *F_a, const tw_wide33 *o,
                                                 const tw_wide3 in[3])
{
    tw_wide3 sum = {{tw_wide_zero(), tw_wide_zero(), tw_wide_zero()}};
    for (int c = 0; c < 3; c++) {
        tw_wide3 row = {{o->at[3 * c], o->at[3 * c + 1], o->at[3 * c + 2]}};
        tw_wide3 part = tw_wide3_cross(&row, &in[c]);
        for (int k = 0; k < 3; k++) sum.at[k] = tw_wide_add(sum.at[k], part.at[k]);
    }
    return tw_wide33_product(1.0 / 6.0, F_a, &sum);
}

/* The product with D, for one column: F_u (sum_c in_c / 3) / 3. */
TW_ALWAYS_INLINE tw_wide3 tw_wind_damping_push(const tw_wide33 *F_u, const tw_wide3 in[3])
{
    tw_wide3 sum;
    for (int k = 0; k < 3; k++)
        sum.at[k] = tw_wide_add(tw_wide_add(in[0].at[k], in[1].at[k]), in[2].at[k]);
    return tw_wide33_product(1.0 / 9.0, F_u, &sum);
}

#endif
