/* Let t be the unit vector of the edge e, l its length, n_s twice the area vectors of the two
 * triangles (s = 0: corners 0, 1, 2; s = 1: corners 1, 0, 3), and q_s = n_s/|n_s|^2. Then
 *     angle = atan2((n_0 x n_1) . t, n_0 . n_1),
 * and its gradient is
 *     -l q_s          at vertex 2 + s,
 *     sum_s a_s q_s   at corner 0,   a_s = (x_1 - x_{2+s}) . t,
 *     sum_s b_s q_s   at corner 1,   b_s = (x_{2+s} - x_0) . t.
 * The second derivative follows term by term with
 *     dq = (dn - 2 (n . dn) q)/|n|^2,   dt = (de - (t . de) t)/l. */
#include "model/hinge_law.h"

#include <math.h>
#include <string.h>

#include "base/vector3.h"

static void difference(const double a[3], const double b[3], double out[3])
{
    for (int k = 0; k < 3; k++) out[k] = a[k] - b[k];
}

static double dot_difference(const double a[3], const double b[3], const double t[3])
{
    return (a[0] - b[0]) * t[0] + (a[1] - b[1]) * t[1] + (a[2] - b[2]) * t[2];
}

/* The sides of triangle s from its vertex 2 + s to the corners 0 and 1, in the order that makes
 * both normals point to the same side of a flat hinge. */
static void sides(const double x[4][3], int s, double first[3], double second[3])
{
    difference(x[s], x[2 + s], first);
    difference(x[1 - s], x[2 + s], second);
}

static void find_gradient(tw_hinge_state *h)
{
    for (int k = 0; k < 3; k++) {
        h->gradient[0][k] = h->a[0] * h->q[0][k] + h->a[1] * h->q[1][k];
        h->gradient[1][k] = h->b[0] * h->q[0][k] + h->b[1] * h->q[1][k];
        h->gradient[2][k] = -h->length * h->q[0][k];
        h->gradient[3][k] = -h->length * h->q[1][k];
    }
}

bool tw_hinge_evaluate(const double *const x[4], tw_hinge_state *h)
{
    for (int c = 0; c < 4; c++) memcpy(h->x[c], x[c], sizeof h->x[c]);

    /* The edge: l and t. */
    difference(x[1], x[0], h->edge);
    h->length = sqrt(tw_dot3(h->edge, h->edge));
    if (!(h->length > 0.0)) return false;
    for (int k = 0; k < 3; k++) h->edge[k] /= h->length;

    /* Each triangle: n, q, a and b. */
    for (int s = 0; s < 2; s++) {
        double first[3];
        double second[3];
        sides(h->x, s, first, second);
        tw_cross3(first, second, h->normal[s]);
        h->square[s] = tw_dot3(h->normal[s], h->normal[s]);
        if (!(h->square[s] > 0.0)) return false;

        for (int k = 0; k < 3; k++) h->q[s][k] = h->normal[s][k] / h->square[s];
        h->a[s] = dot_difference(x[1], x[2 + s], h->edge);
        h->b[s] = dot_difference(x[2 + s], x[0], h->edge);
    }

    /* angle = atan2((n_0 x n_1) . t, n_0 . n_1). */
    double turn[3];
    tw_cross3(h->normal[0], h->normal[1], turn);
    h->angle = atan2(tw_dot3(turn, h->edge), tw_dot3(h->normal[0], h->normal[1]));
    find_gradient(h);
    return true;
}

/* dq of triangle s, for the changes d of the corners. */
static void change_of_q(const tw_hinge_state *h, int s, const double d[4][3], double dq[3])
{
    double first[3];
    double second[3];
    double dfirst[3];
    double dsecond[3];

    sides(h->x, s, first, second);
    sides(d, s, dfirst, dsecond);

    /* dn = one + two, by the product rule. */
    double one[3];
    double two[3];
    tw_cross3(dfirst, second, one);
    tw_cross3(first, dsecond, two);

    /* dq = (dn - 2 (n . dn) q)/|n|^2. */
    double on_normal = tw_dot3(h->normal[s], one) + tw_dot3(h->normal[s], two);
    for (int k = 0; k < 3; k++)
        dq[k] = (one[k] + two[k] - 2.0 * on_normal * h->q[s][k]) / h->square[s];
}

void tw_hinge_second(const tw_hinge_state *h, const double d[4][3], double out[4][3])
{
    /* dl = t . de and dt = (de - dl t)/l. */
    double dl = dot_difference(d[1], d[0], h->edge);
    double dt[3];
    for (int k = 0; k < 3; k++) dt[k] = (d[1][k] - d[0][k] - dl * h->edge[k]) / h->length;

    memset(out, 0, 12 * sizeof(double));
    for (int s = 0; s < 2; s++) {
        /* The changes of q_s, a_s and b_s. */
        double dq[3];
        change_of_q(h, s, d, dq);
        double da =
            dot_difference(d[1], d[2 + s], h->edge) + dot_difference(h->x[1], h->x[2 + s], dt);
        double db =
            dot_difference(d[2 + s], d[0], h->edge) + dot_difference(h->x[2 + s], h->x[0], dt);

        /* The change of the gradient. */
        for (int k = 0; k < 3; k++) {
            out[0][k] += da * h->q[s][k] + h->a[s] * dq[k];
            out[1][k] += db * h->q[s][k] + h->b[s] * dq[k];
            out[2 + s][k] -= dl * h->q[s][k] + h->length * dq[k];
        }
    }
}
