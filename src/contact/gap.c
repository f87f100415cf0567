/* Closest points of points, edges and triangles. */
#include "contact/gap.h"

#include <math.h>
#include <string.h>

#include "base/vector3.h"

/* Edges whose directions differ by less than this angle [rad] squared count as parallel when their
 * closest points are looked for: beyond it the two interior coordinates lose half their digits. */
static const double parallel_angle_squared = 1e-14;

static void difference(const double a[3], const double b[3], double out[3])
{
    for (int k = 0; k < 3; k++) out[k] = a[k] - b[k];
}

static double clamp(double value)
{
    return fmin(fmax(value, 0.0), 1.0);
}

static bool is_inside(double value)
{
    return value > 0.0 && value < 1.0;
}

/* Adds a free coordinate: a vertex moves from vertex `from` to vertex `to`, on the side of the
 * pair with this sign. */
static void add_free(tw_gap *gap, double sign, int from, int to)
{
    int j = gap->free_count++;
    gap->change[from][j] -= sign;
    gap->change[to][j] += sign;
}

/* Puts the closest point of an edge at a + c (b - a). */
static void set_edge(tw_gap *gap, double sign, int a, int b, double c)
{
    gap->weight[a] = sign * (1.0 - c);
    gap->weight[b] = sign * c;
    if (is_inside(c)) add_free(gap, sign, a, b);
}

/* The coordinate of the point of the edge a b that is closest to p. An edge without length is
 * its first vertex. */
static double edge_coordinate(const double p[3], const double a[3], const double b[3])
{
    double along[3];
    double to[3];
    difference(b, a, along);
    difference(p, a, to);

    double square = tw_dot3(along, along);
    if (!(square > 0.0)) return 0.0;
    return clamp(tw_dot3(to, along) / square);
}

/* ---- point and triangle ---- */

/* The barycentric coordinates of the foot of p in the plane of the triangle. False where the
 * triangle has no area. */
static bool plane_coordinates(const double x[4][3], double c[2])
{
    double u[3];
    double v[3];
    double to[3];
    difference(x[2], x[1], u);
    difference(x[3], x[1], v);
    difference(x[0], x[1], to);

    /* The normal equations of to = c_0 u + c_1 v. */
    double uu = tw_dot3(u, u);
    double uv = tw_dot3(u, v);
    double vv = tw_dot3(v, v);
    double determinant = uu * vv - uv * uv;
    if (!(determinant > 1e-30 * uu * vv)) return false;

    c[0] = (vv * tw_dot3(to, u) - uv * tw_dot3(to, v)) / determinant;
    c[1] = (uu * tw_dot3(to, v) - uv * tw_dot3(to, u)) / determinant;
    return true;
}

static void set_triangle_inside(tw_gap *gap, const double c[2])
{
    gap->weight[1] = -(1.0 - c[0] - c[1]);
    gap->weight[2] = -c[0];
    gap->weight[3] = -c[1];
    add_free(gap, -1.0, 1, 2);
    add_free(gap, -1.0, 1, 3);
}

static double squared_distance_to_edge(const double x[4][3], int a, int b, double c)
{
    double square = 0.0;
    for (int k = 0; k < 3; k++) {
        double d = x[0][k] - (1.0 - c) * x[a][k] - c * x[b][k];
        square += d * d;
    }
    return square;
}

static void find_point_triangle(const double x[4][3], tw_gap *gap)
{
    gap->weight[0] = 1.0;

    /* The foot of the point may lie inside. */
    double c[2];
    if (plane_coordinates(x, c) && c[0] > 0.0 && c[1] > 0.0 && c[0] + c[1] < 1.0) {
        set_triangle_inside(gap, c);
        return;
    }

    /* Otherwise the closest of the three edges counts. */
    static const int ends[3][2] = {{1, 2}, {2, 3}, {3, 1}};
    double closest = INFINITY;
    double coordinate = 0.0;
    int edge = 0;
    for (int e = 0; e < 3; e++) {
        double along = edge_coordinate(x[0], x[ends[e][0]], x[ends[e][1]]);
        double square = squared_distance_to_edge(x, ends[e][0], ends[e][1], along);
        if (!(square < closest)) continue;
        closest = square;
        coordinate = along;
        edge = e;
    }
    set_edge(gap, -1.0, ends[edge][0], ends[edge][1], coordinate);
}

/* ---- edge and edge ---- */

/* The closest points of two edges (Ericson, Real-Time Collision Detection, 5.1.9): c_0 on the
 * first, c_1 on the second. */
static void find_edge_edge(const double x[4][3], tw_gap *gap)
{
    double u[3];
    double v[3];
    double to[3];
    difference(x[1], x[0], u);
    difference(x[3], x[2], v);
    difference(x[0], x[2], to);
    double uu = tw_dot3(u, u);
    double uv = tw_dot3(u, v);
    double vv = tw_dot3(v, v);
    double uw = tw_dot3(u, to);
    double vw = tw_dot3(v, to);

    /* Start with the closest points of the lines, cut to the first edge. Parallel lines start at
     * the middle of the first edge. */
    double determinant = uu * vv - uv * uv;
    double first = 0.5;
    if (determinant > parallel_angle_squared * uu * vv)
        first = clamp((uv * vw - vv * uw) / determinant);

    /* The best point on the second edge, cut, and then the best on the first for it. */
    double second = 0.0;
    if (vv > 0.0) second = clamp((uv * first + vw) / vv);
    if (uu > 0.0) first = clamp((uv * second - uw) / uu);

    set_edge(gap, 1.0, 0, 1, first);
    set_edge(gap, -1.0, 2, 3, second);
}

/* ---- all ---- */

/* The side of a plane: the sign of (x_0 - x_1) . (x_2 - x_1) x (x_3 - x_1). */
static bool find_point_plane(const double x[4][3], tw_gap *gap)
{
    double u[3];
    double v[3];
    double to[3];
    double normal[3];
    difference(x[2], x[1], u);
    difference(x[3], x[1], v);
    difference(x[0], x[1], to);
    tw_cross3(u, v, normal);

    /* Three points on a line make no plane. */
    double length = sqrt(tw_dot3(normal, normal));
    double c[2];
    if (!(length > 0.0) || !plane_coordinates(x, c)) return false;

    gap->weight[0] = 1.0;
    set_triangle_inside(gap, c);
    for (int k = 0; k < 3; k++) gap->normal[k] = normal[k] / length;
    gap->distance = tw_dot3(to, gap->normal);
    return true;
}

bool tw_gap_find(tw_pair_kind kind, const double x[TW_PAIR_VERTICES][3], tw_gap *gap)
{
    *gap = (tw_gap){0};
    switch (kind) {
    case TW_PAIR_POINT_TRIANGLE:
        find_point_triangle(x, gap);
        break;
    case TW_PAIR_EDGE_EDGE:
        find_edge_edge(x, gap);
        break;
    case TW_PAIR_POINT_EDGE:
        gap->weight[0] = 1.0;
        set_edge(gap, -1.0, 1, 2, edge_coordinate(x[0], x[1], x[2]));
        break;
    case TW_PAIR_POINT_PLANE:
        return find_point_plane(x, gap);
    }

    /* d = sum_i w_i x_i. */
    double d[3] = {0.0, 0.0, 0.0};
    for (int i = 0; i < TW_PAIR_VERTICES; i++)
        for (int k = 0; k < 3; k++)
            if (gap->weight[i] != 0.0) d[k] += gap->weight[i] * x[i][k];
    gap->distance = sqrt(tw_dot3(d, d));
    if (!(gap->distance > 0.0)) return false;
    for (int k = 0; k < 3; k++) gap->normal[k] = d[k] / gap->distance;
    return true;
}

/* ---- derivatives ---- */

/* e_j = sum_i G_ij x_i. */
static void free_directions(const tw_gap *gap, const double x[4][3], double e[2][3])
{
    for (int j = 0; j < 2; j++)
        for (int k = 0; k < 3; k++) {
            e[j][k] = 0.0;
            for (int i = 0; i < TW_PAIR_VERTICES; i++)
                if (gap->change[i][j] != 0.0) e[j][k] += gap->change[i][j] * x[i][k];
        }
}

/* The inverse of E, of one or two free coordinates. Where two edges are parallel to rounding, E has
 * no inverse: then the second coordinate counts as fixed. Returns how many are free in this
 * sense. */
static int invert(int count, const double e[2][3], double inverse[2][2])
{
    double a = tw_dot3(e[0], e[0]);
    double b = tw_dot3(e[0], e[1]);
    double c = tw_dot3(e[1], e[1]);
    double determinant = a * c - b * b;
    memset(inverse, 0, 4 * sizeof inverse[0][0]);

    if (count == 2 && determinant > parallel_angle_squared * a * c) {
        inverse[0][0] = c / determinant;
        inverse[0][1] = inverse[1][0] = -b / determinant;
        inverse[1][1] = a / determinant;
        return 2;
    }
    if (count == 0 || !(a > 0.0)) return 0;
    inverse[0][0] = 1.0 / a;
    return 1;
}

/* dn / dx where n is orthogonal to both e_j: dn = -sum_jl e_j (E^-1)_jl (n . de_l). It has no
 * division by the distance. */
static void normal_of_two(const tw_gap *gap, const double e[2][3], const double inverse[2][2],
                          tw_gap_rates *rates)
{
    for (int i = 0; i < TW_PAIR_SIZE; i++)
        for (int j = 0; j < 2; j++) {
            double along = 0.0;
            for (int l = 0; l < 2; l++) along += inverse[j][l] * gap->change[i / 3][l];
            for (int k = 0; k < 3; k++) rates->normal[k][i] -= e[j][k] * along * gap->normal[i % 3];
        }
}

/* dd / dx = w I + sum_j e_j (dc_j / dx)^T, and dn = (I - n n^T) dd / |d|. */
static void normal_of_distance(const tw_gap *gap, const double e[2][3], tw_gap_rates *rates)
{
    for (int i = 0; i < TW_PAIR_SIZE; i++) {
        double rate[3] = {0.0, 0.0, 0.0};
        rate[i % 3] = gap->weight[i / 3];
        for (int j = 0; j < gap->free_count; j++)
            for (int k = 0; k < 3; k++) rate[k] += e[j][k] * rates->coordinate[j][i];
        double along = tw_dot3(rate, gap->normal);
        for (int k = 0; k < 3; k++)
            rates->normal[k][i] = (rate[k] - along * gap->normal[k]) / gap->distance;
    }
}

void tw_gap_find_rates(const tw_gap *gap, const double x[TW_PAIR_VERTICES][3], tw_gap_rates *rates)
{
    double e[2][3];
    double inverse[2][2];
    free_directions(gap, x, e);
    int free_count = invert(gap->free_count, e, inverse);
    memset(rates, 0, sizeof *rates);

    /* dc_j / dx_k = -sum_l (E^-1)_jl (G_kl d + w_k e_l). */
    for (int j = 0; j < free_count; j++)
        for (int i = 0; i < TW_PAIR_SIZE; i++)
            for (int l = 0; l < free_count; l++) {
                double d = gap->distance * gap->normal[i % 3];
                rates->coordinate[j][i] -=
                    inverse[j][l] * (gap->change[i / 3][l] * d + gap->weight[i / 3] * e[l][i % 3]);
            }

    if (free_count == 2)
        normal_of_two(gap, e, inverse, rates);
    else
        normal_of_distance(gap, e, rates);
}

void tw_gap_gradient(const tw_gap *gap, double gradient[TW_PAIR_SIZE])
{
    for (int i = 0; i < TW_PAIR_SIZE; i++) gradient[i] = gap->weight[i / 3] * gap->normal[i % 3];
}

/* grad_i = w_i n, so that Hess_ik = w_i dn / dx_k + n (dw_i / dx_k)^T, and dw_i = sum_j G_ij
 * dc_j. */
void tw_gap_add_hessian(const tw_gap *gap, const tw_gap_rates *rates, double factor,
                        double hessian[TW_PAIR_SIZE * TW_PAIR_SIZE])
{
    for (int r = 0; r < TW_PAIR_SIZE; r++)
        for (int c = 0; c < TW_PAIR_SIZE; c++) {
            double dw = 0.0;
            for (int j = 0; j < gap->free_count; j++)
                dw += gap->change[r / 3][j] * rates->coordinate[j][c];
            hessian[TW_PAIR_SIZE * r + c] +=
                factor * (gap->weight[r / 3] * rates->normal[r % 3][c] + gap->normal[r % 3] * dw);
        }
}
