/* The energy of one contact pair and its derivatives. */
#include "contact/contact_pair.h"

#include <math.h>
#include <string.h>

#include "base/vector3.h"

enum { N = TW_PAIR_SIZE };

/* matrix += factor a b^T. */
static void add_outer(double factor, const double a[N], const double b[N], double matrix[N * N])
{
    for (int r = 0; r < N; r++)
        for (int c = 0; c < N; c++) matrix[N * r + c] += factor * a[r] * b[c];
}

/* state += share * psi(gap of `kind` at x), with x_i vertex place[i] of the pair. */
static void add_repulsion(const tw_contact_pair *pair, double share, const tw_gap *gap,
                          const double x[4][3], const int place[4], tw_pair_order order,
                          tw_pair_state *state)
{
    tw_repulsion psi = tw_contact_repulsion(&pair->law, gap->distance - pair->radius);
    if (psi.energy == 0.0) return;

    state->active = true;
    state->energy += share * psi.energy;
    if (order == TW_PAIR_ENERGY) return;

    /* The gradient of the distance in the order of the pair's vertices. */
    double own[N];
    double gradient[N] = {0.0};
    tw_gap_gradient(gap, own);
    for (int i = 0; i < N; i++)
        if (gap->weight[i / 3] != 0.0) gradient[3 * place[i / 3] + i % 3] = own[i];

    state->press -= share * psi.slope;
    for (int i = 0; i < N; i++) state->gradient[i] += share * psi.slope * gradient[i];
    if (order == TW_PAIR_GRADIENT) return;

    /* Hess psi = psi'' grad grad^T + psi' Hess(distance). */
    add_outer(share * psi.curvature, gradient, gradient, state->hessian);
    if (order == TW_PAIR_DEFINITE) return;
    tw_gap_rates rates;
    double hessian[N * N] = {0.0};
    tw_gap_find_rates(gap, x, &rates);
    tw_gap_add_hessian(gap, &rates, share * psi.slope, hessian);
    for (int r = 0; r < N; r++)
        for (int c = 0; c < N; c++)
            if (hessian[N * r + c] != 0.0)
                state->hessian[N * (3 * place[r / 3] + r % 3) + 3 * place[c / 3] + c % 3] +=
                    hessian[N * r + c];
}

/* ---- two edges ---- */

/* c = |e_1 x e_2|^2 = |e_1|^2 |e_2|^2 - (e_1 . e_2)^2 and its derivatives with respect to the four
 * vertices: e_1 = x_1 - x_0 and e_2 = x_3 - x_2. */
typedef struct crossing {
    double value;
    double gradient[N];
    double hessian[N * N];
} crossing;

static void find_crossing(const double x[4][3], crossing *c)
{
    /* The sign of each vertex in its edge. */
    static const double sign[4] = {-1.0, 1.0, -1.0, 1.0};
    double e[2][3];
    double normal[3];
    for (int k = 0; k < 3; k++) {
        e[0][k] = x[1][k] - x[0][k];
        e[1][k] = x[3][k] - x[2][k];
    }
    tw_cross3(e[0], e[1], normal);
    c->value = tw_dot3(normal, normal);
    double square[2] = {tw_dot3(e[0], e[0]), tw_dot3(e[1], e[1])};
    double product = tw_dot3(e[0], e[1]);

    for (int r = 0; r < N; r++) {
        int a = r / 6;
        int k = r % 3;
        double slope = 2.0 * (square[1 - a] * e[a][k] - product * e[1 - a][k]);
        c->gradient[r] = sign[r / 3] * slope;

        /* The second derivatives by e_a and e_b. */
        for (int s = 0; s < N; s++) {
            int b = s / 6;
            int l = s % 3;
            double same = k == l ? 1.0 : 0.0;
            double second = 2.0 * (square[1 - a] * same - e[1 - a][k] * e[1 - a][l]);
            if (a != b)
                second = 4.0 * e[a][k] * e[b][l] - 2.0 * product * same - 2.0 * e[b][k] * e[a][l];
            c->hessian[N * r + s] = sign[r / 3] * sign[s / 3] * second;
        }
    }
}

/* The ends of two edges against the other edge. */
static void find_ends(const tw_contact_pair *pair, const double x[4][3], tw_pair_order order,
                      tw_pair_state *state)
{
    static const int places[4][4] = {{0, 2, 3, 0}, {1, 2, 3, 0}, {2, 0, 1, 0}, {3, 0, 1, 0}};
    for (int p = 0; p < 4; p++) {
        double y[4][3] = {{0.0}};
        for (int i = 0; i < 3; i++) memcpy(y[i], x[places[p][i]], sizeof y[i]);
        tw_gap gap;
        if (!tw_gap_find(TW_PAIR_POINT_EDGE, y, &gap)) {
            state->active = true;
            state->defined = false;
            return;
        }
        add_repulsion(pair, 0.5, &gap, y, places[p], order, state);
    }
}

/* state = m state + (1 - m) ends, with the product rule. */
static void blend(double m, double slope, double curvature, const crossing *c,
                  const tw_pair_state *ends, tw_pair_order order, tw_pair_state *state)
{
    double difference = state->energy - ends->energy;
    double change[N];
    for (int i = 0; i < N; i++) change[i] = state->gradient[i] - ends->gradient[i];

    /* Hess E = m Hess_1 + (1 - m) Hess_2 + (E_1 - E_2) Hess m + grad m change^T + change grad
     * m^T. */
    for (int i = 0; i < N * N; i++)
        state->hessian[i] = m * state->hessian[i] + (1.0 - m) * ends->hessian[i];
    if (order == TW_PAIR_HESSIAN) {
        for (int i = 0; i < N * N; i++) state->hessian[i] += difference * slope * c->hessian[i];
        add_outer(difference * curvature, c->gradient, c->gradient, state->hessian);
        add_outer(slope, c->gradient, change, state->hessian);
        add_outer(slope, change, c->gradient, state->hessian);
    }

    for (int i = 0; i < N; i++) {
        double dm = slope * c->gradient[i];
        state->gradient[i] =
            m * state->gradient[i] + (1.0 - m) * ends->gradient[i] + difference * dm;
    }
    state->energy = m * state->energy + (1.0 - m) * ends->energy;
    state->press = m * state->press + (1.0 - m) * ends->press;
}

/* Two edges that are nearly parallel. */
static void blend_parallel(const tw_contact_pair *pair, const double x[4][3], tw_pair_order order,
                           tw_pair_state *state)
{
    crossing c;
    find_crossing(x, &c);
    double y = 1.0 - c.value / pair->parallel;
    if (!(y > 0.0)) return;

    /* m = 1 - y^3. */
    tw_pair_state ends = {.defined = true};
    find_ends(pair, x, order, &ends);
    state->active = state->active || ends.active;
    state->defined = state->defined && ends.defined;
    double slope = 3.0 * y * y / pair->parallel;
    double curvature = -6.0 * y / (pair->parallel * pair->parallel);
    blend(1.0 - y * y * y, slope, curvature, &c, &ends, order, state);
}

void tw_pair_evaluate(const tw_contact_pair *pair, const double x[TW_PAIR_VERTICES][3],
                      tw_pair_order order, tw_pair_state *state)
{
    static const int place[4] = {0, 1, 2, 3};
    tw_gap gap;
    state->active = false;
    state->defined = tw_gap_find(pair->kind, x, &gap);
    state->gap = gap.distance - pair->radius;
    state->energy = 0.0;
    if (state->gap >= pair->law.onset) return;

    /* Most pairs are out of reach: the arrays are cleared only here. */
    *state = (tw_pair_state){.active = true, .defined = state->defined, .gap = state->gap};
    state->frame = gap;
    if (!state->defined) return;
    add_repulsion(pair, 1.0, &gap, x, place, order, state);
    if (pair->kind == TW_PAIR_EDGE_EDGE) blend_parallel(pair, x, order, state);
}
