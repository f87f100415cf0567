/* Shape functions and gradients of tetrahedra with four or ten nodes. */
#include "model/tetrahedron.h"

#include <math.h>
#include <stddef.h>

const int tw_tetrahedron_edges[6][2] = {{0, 1}, {1, 2}, {0, 2}, {0, 3}, {1, 3}, {2, 3}};

static const tw_shape linear_shape = {
    .nodes = 4,
    .points = 1,
    .terms = 1,
    .corner = {{{{0, 1.0}}, {{1, 1.0}}, {{2, 1.0}}, {{3, 1.0}}}},
    .lumped = {0.25, 0.25, 0.25, 0.25},
};

/* The four integration points of degree 2, which are exact for a constant stiffness:
 * point q has L_q = NEAR and the other L_c = FAR, with weights 1/4. The shape functions
 * and their derivatives are
 *     N_c = L_c (2 L_c - 1),   dN_c/dL_c = 4 L_c - 1,
 *     N_cj = 4 L_c L_j,        dN_cj/dL_c = 4 L_j. */
#define NEAR    0.58541019662496845446 /* (5 + 3 sqrt 5) / 20 */
#define FAR     0.13819660112501051518 /* (5 - sqrt 5) / 20 */
#define L(c, q) ((c) == (q) ? NEAR : FAR)
#define MIDDLE(node, j, q)                                                                         \
    {                                                                                              \
        node, 4.0 * L(j, q)                                                                        \
    }
#define CORNER(c, q, m0, m1, m2)                                                                   \
    {                                                                                              \
        {c, 4.0 * L(c, q) - 1.0}, m0, m1, m2                                                       \
    }
#define POINT(q)                                                                                   \
    {                                                                                              \
        CORNER(0, q, MIDDLE(4, 1, q), MIDDLE(6, 2, q), MIDDLE(7, 3, q)),                           \
            CORNER(1, q, MIDDLE(4, 0, q), MIDDLE(5, 2, q), MIDDLE(8, 3, q)),                       \
            CORNER(2, q, MIDDLE(6, 0, q), MIDDLE(5, 1, q), MIDDLE(9, 3, q)),                       \
            CORNER(3, q, MIDDLE(7, 0, q), MIDDLE(8, 1, q), MIDDLE(9, 2, q)),                       \
    }

static const tw_shape quadratic_shape = {
    .nodes = 10,
    .points = 4,
    .terms = 4,
    .corner = {POINT(0), POINT(1), POINT(2), POINT(3)},
    /* Diagonal scaling (Hinton, Rock, Zienkiewicz 1976), because row sums are
     * negative at the corners. */
    .lumped = {1.0 / 36, 1.0 / 36, 1.0 / 36, 1.0 / 36, 4.0 / 27, 4.0 / 27, 4.0 / 27, 4.0 / 27,
               4.0 / 27, 4.0 / 27},
};

const tw_shape *tw_shape_of(int nodes)
{
    if (nodes == 4) return &linear_shape;
    if (nodes == 10) return &quadratic_shape;
    return NULL;
}

double tw_tetrahedron_gradients(const double *const corner[4], double gradient[3][3])
{
    /* The edges e_c = x_c - x_0, c = 1..3. */
    double e[3][3];
    double longest = 0.0;
    for (int c = 0; c < 3; c++)
        for (int k = 0; k < 3; k++) {
            e[c][k] = corner[c + 1][k] - corner[0][k];
            longest = fmax(longest, fabs(e[c][k]));
        }

    /* grad L_1 = e_2 x e_3 / det and so on: the rows of the inverse of (e_1 e_2 e_3). */
    for (int c = 0; c < 3; c++)
        for (int k = 0; k < 3; k++) {
            const double *a = e[(c + 1) % 3];
            const double *b = e[(c + 2) % 3];
            gradient[c][k] = a[(k + 1) % 3] * b[(k + 2) % 3] - a[(k + 2) % 3] * b[(k + 1) % 3];
        }

    /* A volume that rounding could have made counts as none. */
    double det = 0.0;
    for (int k = 0; k < 3; k++) det += e[0][k] * gradient[0][k];
    if (!(fabs(det) > 1e-12 * longest * longest * longest)) return 0.0;

    for (int c = 0; c < 3; c++)
        for (int k = 0; k < 3; k++) gradient[c][k] /= det;

    return fabs(det) / 6.0;
}
