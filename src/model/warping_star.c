/* Energy, gradient and second derivative of a node and its girders: the formulas
 * are in warping_star.h. */
#include "model/warping_star.h"

#include <math.h>
#include <string.h>

#include "base/vector3.h"

/* Below this (s_1 + s_2) / s_0 the girders at rest lie on one line. It is small, because a girder
 * that is much softer than the others may be the one that fixes the rotation. */
static const double on_a_line = 1e-9;

/* Below this (s_1 + s_2) / s_0 the rotation of a deformed node is ambiguous. */
static const double ambiguous = 1e-12;

/* ---- 3x3, row by row ---- */

/* [a]_x, the matrix with [a]_x b = a x b. */
static inline void cross_matrix(const double a[3], double out[9])
{
    memcpy(out, (double[9]){0, -a[2], a[1], a[2], 0, -a[0], -a[1], a[0], 0}, 9 * sizeof(double));
}

/* out = A B. */
static inline void multiply(const double A[9], const double B[9], double out[9])
{
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < 3; c++)
            out[3 * r + c] = A[3 * r] * B[c] + A[3 * r + 1] * B[3 + c] + A[3 * r + 2] * B[6 + c];
}

/* out = A B^T. */
static inline void multiply_transposed(const double A[9], const double B[9], double out[9])
{
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < 3; c++)
            out[3 * r + c] =
                A[3 * r] * B[3 * c] + A[3 * r + 1] * B[3 * c + 1] + A[3 * r + 2] * B[3 * c + 2];
}

/* out += factor A. */
static inline void add(double factor, const double A[9], double out[9])
{
    for (int k = 0; k < 9; k++) out[k] += factor * A[k];
}

/* out = A v. */
static inline void times(const double A[9], const double v[3], double out[3])
{
    for (int r = 0; r < 3; r++)
        out[r] = A[3 * r] * v[0] + A[3 * r + 1] * v[1] + A[3 * r + 2] * v[2];
}

/* out = A^T v. */
static inline void transposed_times(const double A[9], const double v[3], double out[3])
{
    for (int c = 0; c < 3; c++) out[c] = A[c] * v[0] + A[3 + c] * v[1] + A[6 + c] * v[2];
}

/* ---- the star ---- */

/* A = sum_j k_j y_j d_j^T, now or at rest. */
static void fit(int count, const tw_girder *girders, bool at_rest, double A[9])
{
    memset(A, 0, 9 * sizeof *A);
    for (int j = 0; j < count; j++) {
        const tw_girder *g = &girders[j];
        const double *y = at_rest ? g->d : g->y;
        for (int k = 0; k < 9; k++) A[k] += g->axial * y[k / 3] * g->d[k % 3];
    }
}

bool tw_star_is_framed(int count, const tw_girder *girders)
{
    double A[9];
    tw_polar polar;

    fit(count, girders, true, A);
    tw_polar_decompose(A, &polar);
    return tw_polar_distinctness(polar.s[0], polar.s[1], polar.s[2]) > on_a_line;
}

tw_girder tw_girder_make(const double d[3], double k, double t)
{
    tw_girder g = {.d = {d[0], d[1], d[2]}, .axial = k};

    /* C / 2 = (t I + (k - t) n n^T) / 2. */
    double length2 = d[0] * d[0] + d[1] * d[1] + d[2] * d[2];
    for (int i = 0; i < 9; i++)
        g.C[i] = 0.5 * ((i % 4 == 0 ? t : 0.0) + (k - t) * d[i / 3] * d[i % 3] / length2);
    return g;
}

static void find_local_force(const tw_star *star, tw_girder *g)
{
    double e[3];
    transposed_times(star->polar.R, g->y, g->z);

    /* z_j = R^T y_j and s_j = C_j (z_j - d_j) / 2. */
    for (int k = 0; k < 3; k++) e[k] = g->z[k] - g->d[k];
    times(g->C, e, g->s);
}

void tw_star_fit(int count, const tw_girder *girders, double A[9])
{
    fit(count, girders, false, A);
}

bool tw_star_set(tw_star *star, int count, tw_girder *girders)
{
    const double *V = star->polar.V;
    const double *s = star->polar.s;

    /* G^-1, from G = V diag(s_1 + s_2, s_2 + s_0, s_0 + s_1) V^T. */
    double inverse[3] = {1.0 / (s[1] + s[2]), 1.0 / (s[2] + s[0]), 1.0 / (s[0] + s[1])};
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < 3; c++)
            star->G_inverse[3 * r + c] = V[3 * r] * inverse[0] * V[3 * c] +
                                         V[3 * r + 1] * inverse[1] * V[3 * c + 1] +
                                         V[3 * r + 2] * inverse[2] * V[3 * c + 2];

    /* tau = sum_j z_j x s_j and eta = G^-1 tau. */
    double tau[3] = {0.0, 0.0, 0.0};
    for (int j = 0; j < count; j++) {
        double torque[3];
        find_local_force(star, &girders[j]);
        tw_cross3(girders[j].z, girders[j].s, torque);
        for (int k = 0; k < 3; k++) tau[k] += torque[k];
    }
    times(star->G_inverse, tau, star->eta);
    return tw_polar_distinctness(s[0], s[1], s[2]) > ambiguous;
}

/* sum_j s_j . (z_j - d_j) / 2. */
double tw_star_energy(int count, const tw_girder *girders)
{
    double sum = 0.0;
    for (int j = 0; j < count; j++)
        for (int k = 0; k < 3; k++)
            sum += 0.5 * girders[j].s[k] * (girders[j].z[k] - girders[j].d[k]);
    return sum;
}

/* g_j = s_j - k_j eta x d_j, in the frame of rest. */
static void local_gradient(const tw_star *star, const tw_girder *g, double out[3])
{
    double lever[3];
    tw_cross3(star->eta, g->d, lever);
    for (int k = 0; k < 3; k++) out[k] = g->s[k] - g->axial * lever[k];
}

void tw_star_gradient(const tw_star *star, const tw_girder *girder, double gradient[3])
{
    double g[3];
    local_gradient(star, girder, g);
    times(star->polar.R, g, gradient);
}

/* Finds Q_j = [z_j]_x C_j / 2 - [s_j]_x, with which d tau = sum_j Q_j dz_j, and [z_j]_x. */
static void torque_change(const tw_girder *g, double Q[9], double z_matrix[9])
{
    double s_matrix[9];
    cross_matrix(g->z, z_matrix);
    cross_matrix(g->s, s_matrix);
    multiply(z_matrix, g->C, Q);
    add(-1.0, s_matrix, Q);
}

static void turning_change(const tw_star *star, int count, const tw_girder *girders, double W[9])
{
    const tw_polar *p = &star->polar;
    /* S eta = V diag(s) V^T eta. */
    double turned[3];
    double scaled[3];
    double S_eta[3];
    transposed_times(p->V, star->eta, turned);
    for (int k = 0; k < 3; k++) scaled[k] = p->s[k] * turned[k];
    times(p->V, scaled, S_eta);
    cross_matrix(S_eta, W);

    /* W = sum_j Q_j [z_j]_x + [S eta]_x: the part W omega of d tau - dG eta. */
    for (int j = 0; j < count; j++) {
        double Q[9], z_matrix[9], both[9];

        torque_change(&girders[j], Q, z_matrix);
        multiply(Q, z_matrix, both);
        add(1.0, both, W);
    }
}

/* With delta_j = R^T dy_j:
 *     omega = sum_j Omega_j delta_j,           Omega_j = k_j G^-1 [d_j]_x
 *     dz_j = delta_j + [z_j]_x omega,          ds_j = C_j dz_j / 2
 *     dG eta = sum_j M_j delta_j - [S eta]_x omega,  M_j = k_j (eta d_j^T - (d_j . eta) I)
 *     d eta = G^-1 (d tau - dG eta) = sum_j N_j delta_j,  N_j = G^-1 (Q_j - M_j + W Omega_j)
 *     R^T d(R g_j) = C_j delta_j / 2 + U_j omega + k_j [d_j]_x d eta,
 *     U_j = C_j [z_j]_x / 2 - [g_j]_x. */
static void factorise_one(const tw_star *star, const tw_girder *girder, const double W[9],
                          tw_star_factor *out)
{
    const double *R = star->polar.R;
    double temporary[9];

    /* [d_j]_x, Q_j, [z_j]_x and [g_j]_x. */
    double d_matrix[9];
    double Q[9];
    double z_matrix[9];
    double g_matrix[9];
    double g[3];
    cross_matrix(girder->d, d_matrix);
    torque_change(girder, Q, z_matrix);
    local_gradient(star, girder, g);
    cross_matrix(g, g_matrix);

    /* Omega_j R^T. */
    double Omega[9];
    multiply(star->G_inverse, d_matrix, Omega);
    for (int k = 0; k < 9; k++) Omega[k] *= girder->axial;
    multiply_transposed(Omega, R, out->omega);

    /* N_j R^T. */
    double N[9];
    multiply(W, Omega, temporary);
    add(1.0, Q, temporary);
    double along =
        girder->d[0] * star->eta[0] + girder->d[1] * star->eta[1] + girder->d[2] * star->eta[2];
    for (int k = 0; k < 9; k++)
        temporary[k] -=
            girder->axial * (star->eta[k / 3] * girder->d[k % 3] - (k % 4 == 0 ? along : 0.0));
    multiply(star->G_inverse, temporary, N);
    multiply_transposed(N, R, out->eta);

    /* R U_j. */
    double U[9];
    multiply(girder->C, z_matrix, U);
    add(-1.0, g_matrix, U);
    multiply(R, U, out->turned);

    /* k_j R [d_j]_x and R C_j R^T / 2. */
    multiply(R, d_matrix, out->lever);
    for (int k = 0; k < 9; k++) out->lever[k] *= girder->axial;
    multiply(R, girder->C, temporary);
    multiply_transposed(temporary, R, out->C);
}

void tw_star_factorise(const tw_star *star, int count, const tw_girder *girders,
                       tw_star_factor *factors)
{
    double W[9];
    turning_change(star, count, girders, W);
    for (int j = 0; j < count; j++) factorise_one(star, &girders[j], W, &factors[j]);
}

void tw_star_block(const tw_star_factor *j, const tw_star_factor *k, double block[9])
{
    for (int r = 0; r < 9; r += 3) {
        /* turned_j omega_k + lever_j eta_k. */
        const double *turned = j->turned + r;
        const double *lever = j->lever + r;
        for (int c = 0; c < 3; c++)
            block[r + c] = turned[0] * k->omega[c] + turned[1] * k->omega[3 + c] +
                           turned[2] * k->omega[6 + c] + lever[0] * k->eta[c] +
                           lever[1] * k->eta[3 + c] + lever[2] * k->eta[6 + c];
    }
    if (j == k) add(1.0, j->C, block);
}

/* ---- half a spring ---- */

/* l = |y| and L = |d|. Returns false where the girder has no length. */
static bool lengths(const tw_girder *g, double *l, double *L)
{
    *l = sqrt(g->y[0] * g->y[0] + g->y[1] * g->y[1] + g->y[2] * g->y[2]);
    *L = sqrt(g->d[0] * g->d[0] + g->d[1] * g->d[1] + g->d[2] * g->d[2]);
    return *l > 0.0;
}

/* k/4 (l - L)^2. */
bool tw_spring_half_energy(const tw_girder *girder, double *energy)
{
    double l, L;
    bool defined = lengths(girder, &l, &L);
    *energy = 0.25 * girder->axial * (l - L) * (l - L);
    return defined;
}

/* k/2 (1 - L/l) y. */
bool tw_spring_half_gradient(const tw_girder *girder, double gradient[3])
{
    double l, L;
    bool defined = lengths(girder, &l, &L);
    for (int k = 0; k < 3; k++)
        gradient[k] = defined ? 0.5 * girder->axial * (1.0 - L / l) * girder->y[k] : 0.0;
    return defined;
}

/* k/2 [(1 - L/l) I + (L/l) n n^T]. */
bool tw_spring_half_block(const tw_girder *girder, double block[9])
{
    double l, L;
    bool defined = lengths(girder, &l, &L);

    if (!defined) l = 1.0;

    for (int k = 0; k < 9; k++) {
        double projection = girder->y[k / 3] * girder->y[k % 3] / (l * l);
        block[k] = 0.5 * girder->axial * ((k % 4 == 0 ? 1.0 - L / l : 0.0) + L / l * projection);
    }

    return defined;
}
