/* What a contact pair loses: restitution below 1, and friction. */
#include <math.h>
#include <string.h>

#include "base/vector3.h"
#include "contact/contact_pair.h"

enum { N = TW_PAIR_SIZE };

/* The speed at which the pair opens, y = -grad E . v / N. */
static double opening_speed(const tw_pair_state *state, const double v[4][3])
{
    if (!(state->press > 0.0)) return 0.0;

    double rate = 0.0;
    for (int i = 0; i < N; i++) rate += state->gradient[i] * v[i / 3][i % 3];
    return -rate / state->press;
}

/* V = sum_i w_i v_i, and its part across the normal, u = V - (n . V) n. */
static void sliding(const tw_pair_state *state, const double v[4][3], double V[3], double u[3])
{
    const double *n = state->frame.normal;
    for (int k = 0; k < 3; k++) {
        V[k] = 0.0;
        for (int i = 0; i < TW_PAIR_VERTICES; i++) V[k] += state->frame.weight[i] * v[i][k];
    }

    double along = tw_dot3(n, V);
    for (int k = 0; k < 3; k++) u[k] = V[k] - along * n[k];
}

void tw_pair_friction(const tw_pair_state *state, const tw_contact_loss *loss,
                      const double v[TW_PAIR_VERTICES][3], double force[TW_PAIR_SIZE])
{
    double V[3];
    double u[3];
    memset(force, 0, N * sizeof *force);
    if (loss->friction == 0.0) return;
    sliding(state, v, V, u);

    /* -w_i mu N u / sqrt(u^2 + smooth^2) */
    double size = sqrt(tw_dot3(u, u) + loss->smooth * loss->smooth);
    double scale = loss->friction * state->press / size;
    for (int i = 0; i < N; i++) force[i] = -state->frame.weight[i / 3] * scale * u[i % 3];
}

void tw_pair_force(const tw_pair_state *state, const tw_contact_loss *loss,
                   const double v[TW_PAIR_VERTICES][3], double force[TW_PAIR_SIZE])
{
    tw_pair_friction(state, loss, v, force);
    double slope = 0.0;
    double share =
        tw_contact_share(loss->restitution, loss->smooth, opening_speed(state, v), &slope);
    for (int i = 0; i < N; i++) force[i] -= share * state->gradient[i];
}

/* The part of restitution: f = -s(y) grad E,  y = -grad E . v / N. */
static void add_restitution(const tw_pair_state *state, const tw_contact_loss *loss,
                            const double v[4][3], double *stiffness, double *damping)
{
    double y = opening_speed(state, v);
    double slope = 0.0;
    double share = tw_contact_share(loss->restitution, loss->smooth, y, &slope);
    for (int i = 0; i < N * N; i++) stiffness[i] += share * state->hessian[i];
    if (slope == 0.0) return;

    /* dy/dv = -grad E / N, and dy/dx = -(Hess E v + y dN/dx) / N. */
    for (int c = 0; c < N; c++) {
        double rate = y * state->press_gradient[c];
        for (int k = 0; k < N; k++) rate += state->hessian[N * c + k] * v[k / 3][k % 3];
        double by_position = -rate / state->press;
        double by_velocity = -state->gradient[c] / state->press;
        for (int r = 0; r < N; r++) {
            stiffness[N * r + c] += slope * state->gradient[r] * by_position;
            damping[N * r + c] += slope * state->gradient[r] * by_velocity;
        }
    }
}

/* du/dx: u = (I - n n^T) V, where n and the weights in V follow the vertices. */
static void sliding_rate(const tw_pair_state *state, const tw_gap_rates *rates,
                         const double v[4][3], const double V[3], double rate[3][N])
{
    const tw_gap *gap = &state->frame;
    const double *n = gap->normal;
    double along = tw_dot3(n, V);
    for (int c = 0; c < N; c++) {
        /* dV = sum_i dw_i v_i = sum_ij G_ij dc_j v_i. */
        double dV[3] = {0.0, 0.0, 0.0};
        for (int i = 0; i < TW_PAIR_VERTICES; i++)
            for (int j = 0; j < gap->free_count; j++)
                for (int k = 0; k < 3; k++)
                    dV[k] += gap->change[i][j] * rates->coordinate[j][c] * v[i][k];

        /* du = dV - n (n . dV + dn . V) - dn (n . V). */
        double change = tw_dot3(n, dV);
        for (int k = 0; k < 3; k++) change += rates->normal[k][c] * V[k];
        for (int k = 0; k < 3; k++)
            rate[k][c] = dV[k] - n[k] * change - rates->normal[k][c] * along;
    }
}

/* f_i = -w_i mu N q(u), q = u / sqrt(u^2 + smooth^2), and dq = (I - q q^T) du / sqrt(...). */
static void add_friction(const tw_pair_state *state, const tw_contact_loss *loss,
                         const double x[4][3], const double v[4][3], double *stiffness,
                         double *damping)
{
    const tw_gap *gap = &state->frame;
    tw_gap_rates rates;
    double V[3];
    double u[3];
    double rate[3][N];
    tw_gap_find_rates(gap, x, &rates);
    sliding(state, v, V, u);
    sliding_rate(state, &rates, v, V, rate);

    double size = sqrt(tw_dot3(u, u) + loss->smooth * loss->smooth);
    double q[3];
    for (int k = 0; k < 3; k++) q[k] = u[k] / size;
    for (int c = 0; c < N; c++) {
        /* The rates of u with the position and with the velocity of this column. */
        double by_x[3] = {rate[0][c], rate[1][c], rate[2][c]};
        double by_v[3];
        for (int k = 0; k < 3; k++) {
            double across = (k == c % 3 ? 1.0 : 0.0) - gap->normal[k] * gap->normal[c % 3];
            by_v[k] = gap->weight[c / 3] * across;
        }

        /* dq of both, and the column of both tangents. */
        double along_x = tw_dot3(q, by_x);
        double along_v = tw_dot3(q, by_v);
        for (int r = 0; r < N; r++) {
            int k = r % 3;
            double dw = 0.0;
            for (int j = 0; j < gap->free_count; j++)
                dw += gap->change[r / 3][j] * rates.coordinate[j][c];
            double w = gap->weight[r / 3];
            double dq_x = (by_x[k] - q[k] * along_x) / size;
            double dq_v = (by_v[k] - q[k] * along_v) / size;
            stiffness[N * r + c] +=
                loss->friction * (dw * state->press * q[k] + w * state->press_gradient[c] * q[k] +
                                  w * state->press * dq_x);
            damping[N * r + c] += loss->friction * w * state->press * dq_v;
        }
    }
}

void tw_pair_tangents(const tw_pair_state *state, const tw_contact_loss *loss,
                      const double x[TW_PAIR_VERTICES][3], const double v[TW_PAIR_VERTICES][3],
                      double stiffness[TW_PAIR_SIZE * TW_PAIR_SIZE],
                      double damping[TW_PAIR_SIZE * TW_PAIR_SIZE])
{
    memset(stiffness, 0, N * N * sizeof *stiffness);
    memset(damping, 0, N * N * sizeof *damping);
    add_restitution(state, loss, v, stiffness, damping);
    if (loss->friction > 0.0) add_friction(state, loss, x, v, stiffness, damping);
}
