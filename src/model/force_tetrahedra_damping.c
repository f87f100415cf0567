/* Stiffness-proportional damping of elastic tetrahedra, which does not damp rigid motion.
 *
 * The rate of Green's strain, E' = sym(F^T F'), vanishes for every rigid
 * motion. The viscous stress is
 *     P = beta F (C : E'),   C : E = 2 mu E + lambda tr(E) I.
 * At rest its damping is beta K. It changes by
 *     dP = beta [dF (C : E') + F C : sym(dF^T F') + F C : sym(F^T dF')].
 * For the linear law F = I, and only the term with dF' remains. */
#include "model/tetrahedra.h"

/* out = beta C : sym(A^T B). */
static void viscous(const tw_tetrahedra *t, tw_lanes *A, tw_lanes *B, tw_lanes out[9])
{
    double mu = t->beta * t->material.lame_mu;
    double lambda = t->beta * t->material.lame_lambda;

    /* product = A^T B. */
    tw_lanes product[9];
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < 3; c++)
            for (int l = 0; l < TW_LANES; l++)
                product[3 * r + c][l] =
                    A[r][l] * B[c][l] + A[3 + r][l] * B[3 + c][l] + A[6 + r][l] * B[6 + c][l];

    /* out = mu (product + product^T) + lambda tr(product) I. */
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < 3; c++)
            for (int l = 0; l < TW_LANES; l++)
                out[3 * r + c][l] = mu * (product[3 * r + c][l] + product[3 * c + r][l]);
    for (int l = 0; l < TW_LANES; l++) {
        double trace = lambda * (product[0][l] + product[4][l] + product[8][l]);
        for (int k = 0; k < 9; k += 4) out[k][l] += trace;
    }
}

/* out += A B. */
static void add_product(tw_lanes *A, tw_lanes *B, tw_lanes out[9])
{
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < 3; c++)
            for (int l = 0; l < TW_LANES; l++)
                out[3 * r + c][l] += A[3 * r][l] * B[c][l] + A[3 * r + 1][l] * B[3 + c][l] +
                                     A[3 * r + 2][l] * B[6 + c][l];
}

static void clear(tw_lanes P[9])
{
    for (int k = 0; k < 9; k++)
        for (int l = 0; l < TW_LANES; l++) P[k][l] = 0.0;
}

/* out += P. */
static void add(tw_lanes P[9], tw_lanes out[9])
{
    for (int k = 0; k < 9; k++)
        for (int l = 0; l < TW_LANES; l++) out[k][l] += P[k][l];
}

/* F, or I for the linear law. */
static void current(const tw_tetrahedra_loop *p, int64_t group, int point, tw_lanes F[9])
{
    if (!tw_tetrahedra_are_linear(p->t)) {
        tw_tetrahedra_deformation(p->t, group, point, p->x, F);
        return;
    }

    clear(F);
    for (int k = 0; k < 9; k += 4)
        for (int l = 0; l < TW_LANES; l++) F[k][l] = 1.0;
}

static void stress_of(const tw_tetrahedra_loop *p, const double *v, int64_t group, int point,
                      tw_lanes P[9])
{
    tw_lanes F[9];
    tw_lanes rate[9];
    tw_lanes second[9];

    /* P = beta F C : sym(F^T rate) for the rate of these velocities. */
    current(p, group, point, F);
    tw_tetrahedra_deformation(p->t, group, point, v, rate);

    viscous(p->t, F, rate, second);
    clear(P);
    add_product(F, second, P);
}

void tw_tetrahedra_viscous_stress(tw_tetrahedra_loop *p, int64_t group, int point, tw_lanes P[9])
{
    stress_of(p, p->v, group, point, P);
}

/* F, its rate and second = beta C : E'. */
static void viscous_state(tw_tetrahedra_loop *p, int64_t group, int point, tw_lanes F[9],
                          tw_lanes rate[9], tw_lanes second[9])
{
    tw_tetrahedra_deformation(p->t, group, point, p->x, F);
    tw_tetrahedra_deformation(p->t, group, point, p->v, rate);
    viscous(p->t, F, rate, second);
}

static void viscous_turn(tw_tetrahedra_loop *p, int64_t group, int point, tw_lanes P[9])
{
    tw_lanes F[9];
    tw_lanes rate[9];
    tw_lanes dF[9];
    tw_lanes second[9];

    /* beta dF (C : E'). */
    viscous_state(p, group, point, F, rate, second);
    tw_tetrahedra_deformation(p->t, group, point, p->dx, dF);
    clear(P);
    add_product(dF, second, P);
}

void tw_tetrahedra_viscous_slide(tw_tetrahedra_loop *p, int64_t group, int point, tw_lanes P[9])
{
    tw_lanes F[9];
    tw_lanes rate[9];
    tw_lanes dF[9];
    tw_lanes second[9];

    /* beta F C : sym(dF^T F'). */
    viscous_state(p, group, point, F, rate, second);
    tw_tetrahedra_deformation(p->t, group, point, p->dx, dF);
    viscous(p->t, dF, rate, second);
    clear(P);
    add_product(F, second, P);
}

void tw_tetrahedra_viscous_block(tw_tetrahedra_loop *p, int64_t group, int point, tw_lanes S[9])
{
    tw_lanes F[9];
    tw_lanes rate[9];
    viscous_state(p, group, point, F, rate, S);
}

/* K = beta [mu ((a . b) F F^T + (F b)(F a)^T) + lambda (F a)(F b)^T].
 * The linear law has F = I. */
void tw_tetrahedra_damping_block(const tw_tetrahedra *t, tw_lanes *F, const tw_lanes *a,
                                 const tw_lanes *b, tw_lanes K[9])
{
    double mu = t->beta * t->material.lame_mu;
    double lambda = t->beta * t->material.lame_lambda;
    bool linear = tw_tetrahedra_are_linear(t);

    for (int l = 0; l < TW_LANES; l++) {
        double G[9];
        double Fa[3];
        double Fb[3];
        double inner = a[0][l] * b[0][l] + a[1][l] * b[1][l] + a[2][l] * b[2][l];

        /* G is F or I. */
        for (int k = 0; k < 9; k++) G[k] = linear ? (k % 4 == 0 ? 1.0 : 0.0) : F[k][l];
        for (int r = 0; r < 3; r++) {
            Fa[r] = G[3 * r] * a[0][l] + G[3 * r + 1] * a[1][l] + G[3 * r + 2] * a[2][l];
            Fb[r] = G[3 * r] * b[0][l] + G[3 * r + 1] * b[1][l] + G[3 * r + 2] * b[2][l];
        }

        /* rows = entry (r, c) of F F^T. */
        for (int r = 0; r < 3; r++)
            for (int c = 0; c < 3; c++) {
                double rows =
                    G[3 * r] * G[3 * c] + G[3 * r + 1] * G[3 * c + 1] + G[3 * r + 2] * G[3 * c + 2];
                K[3 * r + c][l] = mu * (inner * rows + Fb[r] * Fa[c]) + lambda * Fa[r] * Fb[c];
            }
    }
}

void tw_tetrahedra_add_damping_product(void *data, int count, const double *in, double *out)
{
    tw_tetrahedra *t = data;
    if (t->assembly.damping) tw_assembly_add_damping_product(&t->assembly, count, in, out);
}

void tw_tetrahedra_add_damping(void *data, double factor, tw_sparse *matrix)
{
    tw_tetrahedra *t = data;
    if (t->assembly.damping) tw_assembly_add_damping(&t->assembly, factor, matrix);
}

/* ---- rate along a motion ---- */

/* P = the rate of the stress: the elastic part by dF, the viscous part by dF and dF'. */
static void rate_of_stress(tw_tetrahedra_loop *p, int64_t group, int point, tw_lanes P[9])
{
    /* Elastic part. */
    tw_lanes F[9];
    tw_lanes dF[9];
    tw_tetrahedra_deformation(p->t, group, point, p->x, F);
    tw_tetrahedra_deformation(p->t, group, point, p->dx, dF);
    if (!tw_solid_change(&p->t->material, F, dF, P)) atomic_store(&p->undefined, true);
    if (p->t->beta == 0.0) return;

    /* Viscous parts by dF' and, where F turns, by dF. */
    tw_lanes part[9];
    stress_of(p, p->dv, group, point, part);
    add(part, P);
    if (tw_tetrahedra_are_linear(p->t)) return;
    viscous_turn(p, group, point, part);
    add(part, P);
    tw_tetrahedra_viscous_slide(p, group, point, part);
    add(part, P);
}

tw_status tw_tetrahedra_add_rate(void *data, const tw_force_view *at, const double *x_rate,
                                 const double *v_rate, double *out)
{
    tw_tetrahedra_loop p = {
        .t = data, .x = at->x, .v = at->v, .dx = x_rate, .dv = v_rate, .out = out};
    tw_tetrahedra_add_stress(&p, rate_of_stress);
    if (atomic_load(&p.undefined)) return TW_RECOVERABLE;
    return TW_OK;
}
