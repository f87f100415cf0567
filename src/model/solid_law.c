/* The three laws: linear, co-rotational, stable neo-Hookean. */
#include "model/solid_law.h"

#include <math.h>
#include <string.h>

/* Below this (s_1 + s_2) / s_0 the rotation of an element counts as ambiguous. */
static const double ambiguous = 1e-10;

tw_solid_constants tw_solid_constants_of(const tw_solid_material *material)
{
    double E = material->youngs_modulus;
    double nu = material->poisson_ratio;

    /* The constants of Lame. */
    tw_solid_constants m = {.law = material->law};
    m.mu = E / (2.0 * (1.0 + nu));
    m.lambda = E * nu / ((1.0 + nu) * (1.0 - 2.0 * nu));
    m.lame_mu = m.mu;
    m.lame_lambda = m.lambda;

    /* Smith, de Goes, Kim (2018), section 3.4: these constants give the same
     * linearisation at rest. */
    if (m.law == TW_SOLID_NEO_HOOKEAN) {
        m.lambda += 5.0 / 6.0 * m.mu;
        m.mu *= 4.0 / 3.0;
        m.alpha = 1.0 + 0.75 * m.mu / m.lambda;
        m.rest = 0.5 * m.lambda * (1.0 - m.alpha) * (1.0 - m.alpha) - 0.5 * m.mu * log(4.0);
    }

    return m;
}

/* ---- linear: Psi = mu |e|^2 + lambda/2 tr(e)^2, e = (F + F^T)/2 - I ---- */

/* mu |e|^2 + lambda/2 tr(e)^2. */
static void linear_energy(const tw_solid_constants *m, tw_lanes *F, tw_lanes psi)
{
    for (int l = 0; l < TW_LANES; l++) {
        double xx = F[0][l] - 1.0;
        double yy = F[4][l] - 1.0;
        double zz = F[8][l] - 1.0;
        double trace = xx + yy + zz;

        /* Twice the entries of e off the diagonal. */
        double xy = F[1][l] + F[3][l];
        double xz = F[2][l] + F[6][l];
        double yz = F[5][l] + F[7][l];

        psi[l] = m->mu * (xx * xx + yy * yy + zz * zz + 0.5 * (xy * xy + xz * xz + yz * yz)) +
                 0.5 * m->lambda * trace * trace;
    }
}

/* P = 2 mu e + lambda tr(e) I. */
static void linear_stress(const tw_solid_constants *m, tw_lanes *F, tw_lanes *P)
{
    /* 2 mu e = mu (F + F^T - 2 I). */
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < 3; c++)
            for (int l = 0; l < TW_LANES; l++)
                P[3 * r + c][l] =
                    m->mu * (F[3 * r + c][l] + F[3 * c + r][l] - (r == c ? 2.0 : 0.0));

    /* lambda tr(e) I. */
    for (int l = 0; l < TW_LANES; l++) {
        double pressure = m->lambda * (F[0][l] + F[4][l] + F[8][l] - 3.0);
        for (int k = 0; k < 9; k += 4) P[k][l] += pressure;
    }
}

/* dP = mu (dF + dF^T) + lambda tr(dF) I.
 * The isotropic and the transposed part are mu, and T_0 = I has the coefficient lambda. */
static void linear_curvature(const tw_solid_constants *m, tw_solid_curvature *out)
{
    out->terms = 1;
    for (int l = 0; l < TW_LANES; l++) {
        out->isotropic[l] = m->mu;
        out->transposed[l] = m->mu;
        out->c[0][l] = m->lambda;
        for (int k = 0; k < 9; k++) out->T[0][k][l] = k % 4 == 0 ? 1.0 : 0.0;
    }
}

/* ---- co-rotational: F = R S, Psi = mu |S - I|^2 + lambda/2 tr(S - I)^2 ---- */

/* mu sum (s_i - 1)^2 + lambda/2 (sum (s_i - 1))^2. */
static void corotational_energy(const tw_solid_constants *m, tw_lanes *F, tw_lanes psi)
{
    tw_polar_lanes polar;
    tw_polar_decompose_lanes(F, &polar);
    for (int l = 0; l < TW_LANES; l++) {
        /* The eigenvalues of S - I. */
        double a = polar.s[0][l] - 1.0;
        double b = polar.s[1][l] - 1.0;
        double c = polar.s[2][l] - 1.0;
        psi[l] = m->mu * (a * a + b * b + c * c) + 0.5 * m->lambda * (a + b + c) * (a + b + c);
    }
}

static void corotational_stress(const tw_solid_constants *m, tw_lanes *F, tw_lanes *P)
{
    tw_polar_lanes polar;
    tw_lanes pressure;

    /* P = 2 mu (F - R) + lambda tr(S - I) R, because R minimises |F - R|, and d tr(S) = R : dF. */
    tw_polar_decompose_lanes(F, &polar);
    for (int l = 0; l < TW_LANES; l++)
        pressure[l] = m->lambda * (polar.s[0][l] + polar.s[1][l] + polar.s[2][l] - 3.0);

    for (int k = 0; k < 9; k++)
        for (int l = 0; l < TW_LANES; l++)
            P[k][l] = 2.0 * m->mu * (F[k][l] - polar.R[k][l]) + pressure[l] * polar.R[k][l];
}

static void turning_matrix(tw_polar_lanes *polar, int i, tw_lanes T[9])
{
    int j = (i + 1) % 3;
    int k = (i + 2) % 3;

    /* T_i = U [e_i]_x V^T = u_k v_j^T - u_j v_k^T, with (i, j, k) cyclic. */
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < 3; c++)
            for (int l = 0; l < TW_LANES; l++)
                T[3 * r + c][l] = polar->U[3 * r + k][l] * polar->V[3 * c + j][l] -
                                  polar->U[3 * r + j][l] * polar->V[3 * c + k][l];
}

/* dP = 2 mu dF + lambda (R : dF) R + (lambda tr(S - I) - 2 mu) dR,
 * where dR = sum_i T_i (T_i : dF) / (s_j + s_k). */
static bool corotational_curvature(const tw_solid_constants *m, tw_lanes *F,
                                   tw_solid_curvature *out)
{
    bool exists = true;
    tw_polar_lanes polar;

    tw_polar_decompose_lanes(F, &polar);

    /* T_0, T_1, T_2 turn the frame; T_3 = R. */
    out->terms = 4;
    memcpy(out->T[3], polar.R, sizeof polar.R);
    for (int i = 0; i < 3; i++) turning_matrix(&polar, i, out->T[i]);
    for (int l = 0; l < TW_LANES; l++) {
        double s0 = polar.s[0][l];
        double s1 = polar.s[1][l];
        double s2 = polar.s[2][l];
        double turning = m->lambda * (s0 + s1 + s2 - 3.0) - 2.0 * m->mu;

        exists = exists && tw_polar_distinctness(s0, s1, s2) > ambiguous;
        out->isotropic[l] = 2.0 * m->mu;
        out->c[0][l] = turning / (s1 + s2);
        out->c[1][l] = turning / (s2 + s0);
        out->c[2][l] = turning / (s0 + s1);
        out->c[3][l] = m->lambda;
    }

    return exists;
}

/* ---- stable neo-Hookean, with I = |F|^2 and J = det F:
 *      Psi = mu/2 (I - 3) + lambda/2 (J - alpha)^2 - mu/2 log(I + 1) ---- */

typedef struct invariants {
    tw_lanes C[9]; /* dJ/dF, the cofactors: its columns are f_1 x f_2, f_2 x f_0, f_0 x f_1 */
    tw_lanes I;
    tw_lanes J;
} invariants;

static void find_invariants(tw_lanes *F, invariants *out)
{
    /* C. */
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < 3; c++) {
            int r1 = (r + 1) % 3;
            int r2 = (r + 2) % 3;
            int c1 = (c + 1) % 3;
            int c2 = (c + 2) % 3;
            for (int l = 0; l < TW_LANES; l++)
                out->C[3 * r + c][l] =
                    F[3 * r1 + c1][l] * F[3 * r2 + c2][l] - F[3 * r2 + c1][l] * F[3 * r1 + c2][l];
        }

    /* J by the first row of C, and I. */
    for (int l = 0; l < TW_LANES; l++) {
        out->J[l] = F[0][l] * out->C[0][l] + F[1][l] * out->C[1][l] + F[2][l] * out->C[2][l];
        out->I[l] = 0.0;
    }
    for (int k = 0; k < 9; k++)
        for (int l = 0; l < TW_LANES; l++) out->I[l] += F[k][l] * F[k][l];
}

static void neo_hookean_energy(const tw_solid_constants *m, tw_lanes *F, tw_lanes psi)
{
    invariants at;
    find_invariants(F, &at);
    for (int l = 0; l < TW_LANES; l++) {
        double volume = at.J[l] - m->alpha;
        psi[l] = 0.5 * m->mu * (at.I[l] - 3.0 - log(at.I[l] + 1.0)) +
                 0.5 * m->lambda * volume * volume - m->rest;
    }
}

static void neo_hookean_stress(const tw_solid_constants *m, tw_lanes *F, tw_lanes *P)
{
    invariants at;
    find_invariants(F, &at);

    /* P = mu (1 - 1/(I + 1)) F + lambda (J - alpha) C. */
    tw_lanes shear;
    tw_lanes pressure;
    for (int l = 0; l < TW_LANES; l++) {
        shear[l] = m->mu * (1.0 - 1.0 / (at.I[l] + 1.0));
        pressure[l] = m->lambda * (at.J[l] - m->alpha);
    }
    for (int k = 0; k < 9; k++)
        for (int l = 0; l < TW_LANES; l++) P[k][l] = shear[l] * F[k][l] + pressure[l] * at.C[k][l];
}

/* dP = mu (1 - 1/(I + 1)) dF + 2 mu/(I + 1)^2 (F : dF) F + lambda (C : dF) C + lambda (J - alpha)
 * dC, where the last term is (u x w) . F (a x b) = -u^T [F (a x b)]_x w for rank-one changes. */
static void neo_hookean_curvature(const tw_solid_constants *m, tw_lanes *F, tw_solid_curvature *out)
{
    invariants at;
    find_invariants(F, &at);

    /* T_0 = F and T_1 = C. */
    out->terms = 2;
    memcpy(out->T[0], F, sizeof out->T[0]);
    memcpy(out->T[1], at.C, sizeof out->T[1]);
    for (int l = 0; l < TW_LANES; l++) {
        double inverse = 1.0 / (at.I[l] + 1.0);

        out->isotropic[l] = m->mu * (1.0 - inverse);
        out->c[0][l] = 2.0 * m->mu * inverse * inverse;
        out->c[1][l] = m->lambda;
        out->bend[l] = m->lambda * (at.J[l] - m->alpha);
    }
}

/* ---- dispatch by law ---- */

void tw_solid_energy(const tw_solid_constants *m, tw_lanes *F, tw_lanes psi)
{
    if (m->law == TW_SOLID_LINEAR) linear_energy(m, F, psi);
    if (m->law == TW_SOLID_COROTATIONAL) corotational_energy(m, F, psi);
    if (m->law == TW_SOLID_NEO_HOOKEAN) neo_hookean_energy(m, F, psi);
}

void tw_solid_stress(const tw_solid_constants *m, tw_lanes *F, tw_lanes *P)
{
    if (m->law == TW_SOLID_LINEAR) linear_stress(m, F, P);
    if (m->law == TW_SOLID_COROTATIONAL) corotational_stress(m, F, P);
    if (m->law == TW_SOLID_NEO_HOOKEAN) neo_hookean_stress(m, F, P);
}

bool tw_solid_differentiate(const tw_solid_constants *m, tw_lanes *F, tw_solid_curvature *out)
{
    memset(out->transposed, 0, sizeof out->transposed);
    memset(out->bend, 0, sizeof out->bend);

    if (m->law == TW_SOLID_COROTATIONAL) return corotational_curvature(m, F, out);
    if (m->law == TW_SOLID_LINEAR)
        linear_curvature(m, out);
    else
        neo_hookean_curvature(m, F, out);
    return true;
}

/* Entry (r, c) of the derivative of the cofactor matrix along dF. */
static double cofactor_change(tw_lanes *F, tw_lanes *dF, int r, int c, int l)
{
    int r1 = (r + 1) % 3;
    int r2 = (r + 2) % 3;
    int c1 = (c + 1) % 3;
    int c2 = (c + 2) % 3;

    return dF[3 * r1 + c1][l] * F[3 * r2 + c2][l] + F[3 * r1 + c1][l] * dF[3 * r2 + c2][l] -
           dF[3 * r2 + c1][l] * F[3 * r1 + c2][l] - F[3 * r2 + c1][l] * dF[3 * r1 + c2][l];
}

bool tw_solid_change(const tw_solid_constants *m, tw_lanes *F, tw_lanes *dF, tw_lanes *dP)
{
    tw_solid_curvature H;
    bool exists = tw_solid_differentiate(m, F, &H);

    /* dP = isotropic dF + transposed dF^T + bend dC. */
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < 3; c++)
            for (int l = 0; l < TW_LANES; l++)
                dP[3 * r + c][l] = H.isotropic[l] * dF[3 * r + c][l] +
                                   H.transposed[l] * dF[3 * c + r][l] +
                                   H.bend[l] * cofactor_change(F, dF, r, c, l);

    /* dP += sum_r c_r (T_r : dF) T_r. */
    for (int i = 0; i < H.terms; i++)
        for (int l = 0; l < TW_LANES; l++) {
            double along = 0.0;
            for (int k = 0; k < 9; k++) along += H.T[i][k][l] * dF[k][l];
            for (int k = 0; k < 9; k++) dP[k][l] += H.c[i][l] * along * H.T[i][k][l];
        }

    return exists;
}
