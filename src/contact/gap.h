/* The distance of two primitives and its derivatives.
 *
 * The primitives of a pair have four vertices together. Their closest points are a and b, and
 *     d = a - b = sum_i w_i x_i,   distance = |d|,   n = d / |d|,
 * where the weights w depend on the barycentric coordinates c of the closest points: w_i = const +
 * sum_j G_ij c_j. At the minimum the coordinates that are free (not at a corner or an edge of their
 * primitive) satisfy e_j . d = 0 with e_j = sum_i G_ij x_i. Hence, exactly while the same
 * coordinates are free,
 *     grad_i |d| = w_i n,
 *     dc_j / dx_k = -sum_l (E^-1)_jl (G_kl d + w_k e_l),   E_jl = e_j . e_l,
 *     Hess_ik (|d|^2 / 2) = w_i w_k I + sum_j (G_ij d + w_i e_j) (dc_j / dx_k)^T. */
#ifndef TW_CONTACT_GAP_H
#define TW_CONTACT_GAP_H

#include <stdbool.h>

/* The vertices of a pair, in this order. */
typedef enum tw_pair_kind {
    TW_PAIR_POINT_TRIANGLE, /* the point, then the triangle */
    TW_PAIR_EDGE_EDGE,      /* two of each edge */
    TW_PAIR_POINT_EDGE,     /* the point, then the edge; the fourth vertex is not used */
    TW_PAIR_POINT_PLANE     /* the point, then three points of a plane that extends beyond them */
} tw_pair_kind;

enum { TW_PAIR_VERTICES = 4, TW_PAIR_SIZE = 12 };

/* How many of the four vertices belong to the first primitive, and how many are used. */
static inline int tw_pair_first_count(tw_pair_kind kind)
{
    return kind == TW_PAIR_EDGE_EDGE ? 2 : 1;
}

static inline int tw_pair_vertex_count(tw_pair_kind kind)
{
    return kind == TW_PAIR_POINT_EDGE ? 3 : 4;
}

typedef struct tw_gap {
    double distance;     /* |d|; of a plane: signed, positive on the side of its normal */
    double normal[3];    /* n, from the second primitive to the first */
    double weight[4];    /* w: positive for the first primitive, negative for the second */
    int free_count;      /* of coordinates */
    double change[4][2]; /* G */
} tw_gap;

/* The rates of the closest points with the vertices. */
typedef struct tw_gap_rates {
    double coordinate[2][TW_PAIR_SIZE]; /* dc_j / dx */
    double normal[3][TW_PAIR_SIZE];     /* dn / dx */
} tw_gap_rates;

/* Finds the closest points. False where the primitives meet: then there is no normal. */
bool tw_gap_find(tw_pair_kind kind, const double x[TW_PAIR_VERTICES][3], tw_gap *gap);

/* dc / dx and dn / dx. */
void tw_gap_find_rates(const tw_gap *gap, const double x[TW_PAIR_VERTICES][3], tw_gap_rates *rates);

/* The gradient of the distance. */
void tw_gap_gradient(const tw_gap *gap, double gradient[TW_PAIR_SIZE]);

/* hessian += factor * Hess(distance), rows after each other. */
void tw_gap_add_hessian(const tw_gap *gap, const tw_gap_rates *rates, double factor,
                        double hessian[TW_PAIR_SIZE * TW_PAIR_SIZE]);

#endif
