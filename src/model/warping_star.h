/* A star is a node and its girders. This header has the rotation of the node, and energy, gradient
 * and second derivative in the frame that it turns.
 *
 * For girder j of the node let y_j be the vector to the other end, d_j the same at rest, k_j and
 * t_j the axial and the transverse stiffness, and
 *     C_j = t_j I + (k_j - t_j) n_j n_j^T,   n_j = d_j / |d_j|.
 * The rotation R is the one nearest to
 *     A = sum_j k_j y_j d_j^T,
 * and S = R^T A. With z_j = R^T y_j the node contributes the energy
 *     E = sum_j 1/4 (z_j - d_j)^T C_j (z_j - d_j).
 * R changes by R [omega]_x, where G omega = sum_j k_j d_j x (R^T dy_j) and
 * G = tr(S) I - S. Therefore
 *     dE/dy_j = R g_j,   g_j = s_j - k_j eta x d_j,
 *     s_j = C_j (z_j - d_j) / 2,   G eta = tau = sum_j z_j x s_j.
 * The term with eta removes the torque that turning the frame would otherwise give. */
#ifndef TW_MODEL_WARPING_STAR_H
#define TW_MODEL_WARPING_STAR_H

#include <stdbool.h>

#include "model/polar.h"

typedef struct tw_girder {
    double d[3];  /* at rest */
    double axial; /* k */
    double C[9];  /* C_j / 2 */
    double y[3];  /* now */
    double z[3];  /* found by tw_star_set */
    double s[3];  /* found by tw_star_set */
} tw_girder;

/* A girder of axial stiffness k and transverse stiffness t, at rest. */
tw_girder tw_girder_make(const double d[3], double k, double t);

typedef struct tw_star {
    tw_polar polar;
    double G_inverse[9];
    double eta[3];
} tw_star;

/* The factors of the second derivative, one set per girder. Matrices are stored row by row. */
typedef struct tw_star_factor {
    double C[9];      /* R C_j R^T / 2 */
    double turned[9]; /* R U_j */
    double omega[9];  /* Omega_j R^T */
    double lever[9];  /* k_j R [d_j]_x */
    double eta[9];    /* N_j R^T */
} tw_star_factor;

/* Whether the girders at rest fix a rotation. They do not if they all lie on one line. */
bool tw_star_is_framed(int count, const tw_girder *girders);

/* Finds A. The caller decomposes it into star->polar before tw_star_set. */
void tw_star_fit(int count, const tw_girder *girders, double A[9]);
/* Finds z_j, s_j and eta. Returns false where R is ambiguous. */
bool tw_star_set(tw_star *star, int count, tw_girder *girders);
double tw_star_energy(int count, const tw_girder *girders);
/* gradient = R g_j. */
void tw_star_gradient(const tw_star *star, const tw_girder *girder, double gradient[3]);

/* d^2 E / dy_j dy_k = delta_jk C_j + turned_j omega_k + lever_j eta_k. */
void tw_star_factorise(const tw_star *star, int count, const tw_girder *girders,
                       tw_star_factor *factors);
void tw_star_block(const tw_star_factor *j, const tw_star_factor *k, double block[9]);

/* A girder as a plain spring, for nodes without a rotation. Half of its energy is
 * 1/4 k (|y| - |d|)^2. They return false where the girder has no length, hence no direction. */
bool tw_spring_half_energy(const tw_girder *girder, double *energy);
bool tw_spring_half_gradient(const tw_girder *girder, double gradient[3]);
bool tw_spring_half_block(const tw_girder *girder, double block[9]);

#endif
