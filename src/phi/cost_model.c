/* The cost model of `auto` (phi_internal.h). The constants are fitted to the grid of
 * tests/test_auto.c and to the coil (docs/phi.md). */
#include <math.h>

#include "phi/phi_internal.h"

/* Bytes that a flop of a small eigenproblem counts for: it waits for the one before. */
static const double small_flop_bytes = 2;

/* Bytes that a value of a scalar function (Stumpff, 2x2 phi) counts for: some fifty flops and
 * a call. */
static const double value_bytes = 300;

/* ---- what a call is about ---- */

/* The operator's own figure, or that many vectors. */
static double product_bytes_of(const tw_operator *op, double vectors)
{
    if (op->bytes_per_product > 0) return op->bytes_per_product;
    return vectors * 8.0 * (double)op->space.local_size;
}

tw_phi_setting tw_phi_setting_first(const tw_operator *op, int outputs)
{
    const double stencil = 12; /* a row of about seven entries, with their places */
    return (tw_phi_setting){.n = (double)op->space.local_size,
                            .product_bytes = product_bytes_of(op, stencil),
                            .starts = 1,
                            .outputs = outputs};
}

static bool is_spectral(tw_phi_engine engine)
{
    return engine == TW_PHI_LANCZOS || engine == TW_PHI_CHEBYSHEV || engine == TW_PHI_SHIFT_INVERT;
}

tw_phi_setting tw_phi_setting_second(const tw_second_order *op, tw_phi_engine engine, int starts,
                                     int outputs)
{
    const double diagonal = 3; /* it reads two vectors and writes one */

    /* The first-order engines work on pairs (x, v). */
    double n = (double)op->stiffness.space.local_size;
    if (!is_spectral(engine) && engine != TW_PHI_DENSE) n = 2 * n;

    return (tw_phi_setting){.n = n,
                            .product_bytes = product_bytes_of(&op->stiffness, diagonal),
                            .solve_bytes = op->shifted ? op->shifted->solve_bytes : 0,
                            .factor_flops = op->shifted ? op->shifted->factor_flops : 0,
                            .starts = starts,
                            .outputs = outputs,
                            .bounded = op->eigenvalue_max > 0,
                            .pair = true};
}

/* ---- the cost of counted work ---- */

/* Vectors moved per product (or solve) besides the product itself. */
static double vectors_moved(const tw_phi_statistics *s, const tw_phi_setting *w)
{
    double m = s->dimension;
    double outputs = w->outputs / fmin(w->starts, TW_MAX_BLOCK);

    switch (s->engine) {
    case TW_PHI_LANCZOS: /* two fused passes, a basis too large for the caches; outputs by fours */
        return 9 + 0.5 * outputs;
    case TW_PHI_CHEBYSHEV: /* a fused pass; outputs every second time */
        return 4 + outputs;
    case TW_PHI_SHIFT_INVERT: /* all vectors so far, twice to and fro */
        return 2 * m + 6;
    case TW_PHI_PHIPM:
        return 2 * m + 4;
    case TW_PHI_PHIPM_IOM2:
    case TW_PHI_PHIPM_SIMUL_IOM2:
    case TW_PHI_KIOPS:
        return 12;
    default:
        return 4;
    }
}

/* Flops of the small matrix functions, over all substeps. */
static double small_flops(const tw_phi_statistics *s, const tw_phi_setting *w)
{
    double m = s->dimension;
    double steps = (double)(s->substeps > 0 ? s->substeps : 1);

    switch (s->engine) {
    case TW_PHI_LANCZOS: /* checks at growing m, then the whole decomposition */
        return w->starts * (100 * m * m + 4 * m * m * m / 3);
    case TW_PHI_SHIFT_INVERT: /* a decomposition after every block of solves */
        return 4 * m * m * m * fmax(1, 0.3 * m / fmin(w->starts, TW_MAX_BLOCK));
    case TW_PHI_PHIPM:
    case TW_PHI_PHIPM_IOM2:
    case TW_PHI_PHIPM_SIMUL_IOM2:
    case TW_PHI_KIOPS:
        return 20 * m * m * m * steps;
    default:
        return 0;
    }
}

/* Values of the scalar functions f_ij that were asked for. */
static double values_taken(const tw_phi_statistics *s, const tw_phi_setting *w)
{
    double m = s->dimension;
    double functions = w->outputs * w->starts;

    switch (s->engine) {
    case TW_PHI_LANCZOS: /* three per Ritz value and check, at growing m */
        return 8 * m * functions;
    case TW_PHI_CHEBYSHEV: /* samples, rounded up to a power of two */
        return 2 * m * functions;
    case TW_PHI_SHIFT_INVERT:
        return 2 * m * m / fmin(w->starts, TW_MAX_BLOCK) * functions;
    default:
        return 0;
    }
}

double tw_phi_cost(const tw_phi_statistics *s, const tw_phi_setting *w)
{
    double n = w->n;
    double vector = 8 * n;
    double moved = vectors_moved(s, w) * vector;

    /* Dense: the matrix is formed, then n^3 for a decomposition (or several exponentials of J). */
    if (s->engine == TW_PHI_DENSE)
        return (double)s->products * w->product_bytes + 9 * small_flop_bytes * n * n * n;

    /* Products and solves; the vectors moved with each of them; factorisations; small matrices. */
    double operators = (double)s->products * w->product_bytes + (double)s->solves * w->solve_bytes;
    double each = (double)(s->engine == TW_PHI_SHIFT_INVERT ? s->solves : s->products) * moved;
    double factors = (double)s->factorisations * w->factor_flops * TW_FACTOR_FLOP_BYTES;

    return operators + each + factors + small_flop_bytes * small_flops(s, w) +
           value_bytes * values_taken(s, w);
}

/* ---- predictions ---- */

/* The degree of a polynomial in x^2 that follows cos(reach x), |x| <= 1. Beyond the order `reach`
 * the Bessel functions fall like an Airy function, then faster than any exponential. */
static double polynomial_degree(double reach, double tolerance)
{
    double digits = log(1 / tolerance);
    return 0.5 * reach + 0.45 * cbrt(reach * digits * digits) + 0.25 * digits + 2;
}

/* Solves per start vector, measured on the coil at three stiffnesses and five tolerances
 * (docs/phi.md). A rational space resolves the slow modes of the start vectors at once and the
 * others slowly. It does not resolve rough vectors, whose energy lies in the stiff modes, unless
 * the space is used up. */
static double rational_solves(const tw_phi_setting *w, double tolerance)
{
    const double rough = 0.25; /* share of the reach above which a vector is rough */
    const double beyond = 200; /* solves that no call would make */

    double digits = log10(1 / tolerance);
    double solves = digits * (1 + 0.5 * log2(1 + w->roughness)) * (1 + fmax(digits - 5, 0));

    /* Modes of a few radians per step are resolved one by one. A longer spectrum has fewer
     * of them. */
    solves += 4 * pow(fmax(digits - 2, 0), 2) * fmin(1, 150 / fmax(w->reach, 1));

    if (w->roughness > fmax(rough * w->reach, 3)) solves = beyond;

    return fmin(fmax(solves, 2), w->n);
}

/* Products of leja for a spectrum of that decay and rotation, measured on diffusion and advection
 * (docs/phi.md). Up to a few hundred one series is enough. Beyond, its degree is limited, and the
 * number of substeps grows with the reach. */
static double leja_products(double decay, double rotation, double digits)
{
    const double long_rotation = 400;
    double series = 25 + 1.1 * sqrt(decay * digits);
    double turns = 1.15 * rotation;
    if (rotation > long_rotation) turns = 2.15 * rotation;

    return fmax(series, (0.29 + 0.0062 * digits) * decay) + turns;
}

/* The degree at which a Krylov space follows exp on [-decay, 0]: about sqrt(decay ln(1/tol)), less
 * for start vectors with some smoothness. Decay makes the solution smooth, so the later part of a
 * long time costs little. */
static double krylov_degree(double decay, double digits)
{
    const double whole = 110;  /* a space of that size spans the part until all is smooth */
    const double later = 0.05; /* what a degree beyond still costs */
    double degree = 2 + 0.75 * sqrt(decay * digits);
    if (degree > whole) degree = whole + later * (degree - whole);

    return degree;
}

/* The counts of a first-order engine where decay and rotation were measured. Rotation costs a
 * degree per radian. */
static void predict_measured(const tw_phi_setting *w, double tolerance, tw_phi_statistics *expected)
{
    double digits = log(1 / tolerance);
    double decay = w->decay;
    double rotation = w->rotation;
    double turns = rotation + 0.9 * cbrt(rotation * digits * digits);
    double degree = krylov_degree(decay, digits) + turns;
    double dimension = 60; /* largest of phipm in practice */
    double products = degree;

    switch (expected->engine) {
    case TW_PHI_LEJA:
        expected->products = (int64_t)leja_products(decay, rotation, digits);
        return;
    case TW_PHI_EXPMV:
        expected->products = (int64_t)(20 + 2.3 * decay + 5.3 * rotation);
        return;
    case TW_PHI_KIOPS: /* it grows its space first */
        dimension = 128;
        break;
    case TW_PHI_PHIPM:
        degree = sqrt(decay * digits) + turns;
        products = 10 + 2 * degree;
        break;
    default: /* small spaces profit less from what has become smooth */
        degree = sqrt(decay * digits) + turns;
        products = 12 + 1.2 * degree;
    }

    expected->products = (int64_t)products;
    expected->dimension = (int)fmin(fmin(degree, dimension), w->n);
    expected->substeps = (int64_t)(1 + degree / dimension);
}

void tw_phi_predict(tw_phi_engine engine, const tw_phi_setting *w, double tolerance,
                    tw_phi_statistics *expected)
{
    /* A dense matrix does not care where the spectrum lies. */
    if (w->decay + w->rotation > 0 && engine != TW_PHI_DENSE) {
        *expected = (tw_phi_statistics){.engine = engine, .substeps = 1};
        predict_measured(w, tolerance, expected);
        return;
    }

    double degree = polynomial_degree(w->reach, tolerance);
    double along = degree; /* products of an engine that works on J itself */
    if (w->pair) along = 2 * degree;

    /* Counts by the degree, by the size, or by the measurements on the coil. */
    *expected = (tw_phi_statistics){.engine = engine, .substeps = 1};
    switch (engine) {
    case TW_PHI_DENSE:
        expected->products = (int64_t)w->n;
        break;
    case TW_PHI_LANCZOS:
        expected->dimension = (int)fmin(fmin(degree + 1, w->n), 1e6);
        expected->products = (int64_t)(w->starts * expected->dimension);
        break;
    case TW_PHI_CHEBYSHEV:
        expected->dimension = (int)fmin(degree + 1, 1e9);
        expected->products = (int64_t)(w->starts * degree + (w->bounded ? 0 : 6));
        break;
    case TW_PHI_SHIFT_INVERT:
        expected->solves = (int64_t)(w->starts * rational_solves(w, tolerance));
        expected->factorisations = 1;
        expected->dimension = (int)fmin((double)expected->solves, w->n);
        break;
    case TW_PHI_EXPMV:
        expected->products = (int64_t)(1.8 * along + 2);
        break;
    case TW_PHI_LEJA:
        expected->products = (int64_t)(along + 12);
        break;
    default: /* Krylov: at least the ten dimensions they start with, substeps of at most about 60 */
        expected->products = (int64_t)fmax(0.9 * along + 1, fmin(10, w->n));
        expected->dimension = (int)fmin(fmin(fmax(along, 10), 60), w->n);
        expected->substeps = (int64_t)(1 + along / 60);
        if (engine == TW_PHI_PHIPM && expected->products > 4 * (int64_t)w->n)
            expected->products = 4 * (int64_t)w->n;
    }
}
