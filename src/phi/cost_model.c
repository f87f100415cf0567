#include "phi/cost_model.h"

#include <math.h>

/* A flop in a factorisation runs beside others on data in cache; one in a small eigenproblem waits for the one before.
 */
static const double factor_flop_bytes = 0.5, small_flop_bytes = 2;

static double product_bytes_of(const tw_operator *op)
{
    return op->bytes_per_product > 0 ? op->bytes_per_product : 3 * 8.0 * (double)op->space.local_size;
}

tw_phi_setting tw_phi_setting_first(const tw_operator *op, int outputs)
{
    return (tw_phi_setting){
        .n = (double)op->space.local_size, .product_bytes = product_bytes_of(op), .starts = 1, .outputs = outputs};
}

static bool is_spectral(tw_phi_engine engine)
{
    return engine == TW_PHI_LANCZOS || engine == TW_PHI_CHEBYSHEV || engine == TW_PHI_SHIFT_INVERT;
}

tw_phi_setting tw_phi_setting_second(const tw_second_order *op, tw_phi_engine engine, int starts, int outputs)
{
    double n = (double)op->stiffness.space.local_size;
    return (tw_phi_setting){.n = is_spectral(engine) || engine == TW_PHI_DENSE ? n : 2 * n,
                            .product_bytes = product_bytes_of(&op->stiffness),
                            .solve_bytes = op->shifted ? op->shifted->solve_bytes : 0,
                            .factor_flops = op->shifted ? op->shifted->factor_flops : 0,
                            .starts = starts,
                            .outputs = outputs};
}

/* Vectors moved per product (or solve) besides the product itself. */
static double vectors_moved(const tw_phi_statistics *s, const tw_phi_setting *w)
{
    double m = s->dimension;
    switch (s->engine) {
    case TW_PHI_LANCZOS:
        return 8; /* two fused passes, one combination pass */
    case TW_PHI_CHEBYSHEV:
        return 4 + 2 * w->outputs / w->starts; /* one fused pass; every output read and written */
    case TW_PHI_SHIFT_INVERT:
        return 2 * m + 6; /* all vectors so far, twice to and fro */
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
    double m = s->dimension, steps = (double)(s->substeps > 0 ? s->substeps : 1);
    switch (s->engine) {
    case TW_PHI_LANCZOS:
        return w->starts * (40 * m * m + 4 * m * m * m / 3);
    case TW_PHI_SHIFT_INVERT:
        return 4 * m * m * m;
    case TW_PHI_PHIPM:
    case TW_PHI_PHIPM_IOM2:
    case TW_PHI_PHIPM_SIMUL_IOM2:
    case TW_PHI_KIOPS:
        return 20 * m * m * m * steps;
    default:
        return 0;
    }
}

double tw_phi_cost(const tw_phi_statistics *s, const tw_phi_setting *w)
{
    double n = w->n, vector = 8 * n, moved = vectors_moved(s, w) * vector;
    if (s->engine == TW_PHI_DENSE) /* materialised, then n^3 for a decomposition (or several exponentials of J) */
        return (double)s->products * w->product_bytes + 9 * small_flop_bytes * n * n * n;
    double sweeps = (double)s->products * w->product_bytes + (double)s->solves * w->solve_bytes;
    double each = (double)(s->engine == TW_PHI_SHIFT_INVERT ? s->solves : s->products) * moved;
    double factors = (double)s->factorizations * w->factor_flops * factor_flop_bytes;
    return sweeps + each + factors + small_flop_bytes * small_flops(s, w);
}

/* Degree of a polynomial that follows cos(reach x), |x| <= 1, in half-steps of its argument: the Bessel functions fall
 * beyond their order like an Airy function, then faster than any exponential. */
static double polynomial_degree(double reach, double tolerance)
{
    double digits = log(1 / tolerance);
    return 0.5 * reach + 0.45 * cbrt(reach * digits * digits) + 0.25 * digits + 2;
}

void tw_phi_predict(tw_phi_engine engine, const tw_phi_setting *w, double reach, double tolerance,
                    tw_phi_statistics *expected)
{
    double digits = log10(1 / tolerance), degree = polynomial_degree(reach, tolerance);
    double per_start = fmin(degree, w->n);
    *expected = (tw_phi_statistics){.engine = engine, .substeps = 1};
    switch (engine) {
    case TW_PHI_DENSE:
        expected->products = (int64_t)w->n;
        break;
    case TW_PHI_LANCZOS:
        expected->products = (int64_t)(w->starts * per_start);
        expected->dimension = (int)fmin(per_start, 1e6);
        break;
    case TW_PHI_CHEBYSHEV:
        expected->products = (int64_t)(w->starts * 1.1 * degree + 16);
        break;
    case TW_PHI_SHIFT_INVERT:
        expected->solves = (int64_t)(w->starts * fmin(6 + 4 * digits, w->n));
        expected->products = 4;
        expected->factorizations = 1;
        expected->dimension = (int)expected->solves;
        break;
    case TW_PHI_EXPMV:
    case TW_PHI_LEJA:
        expected->products = (int64_t)((engine == TW_PHI_EXPMV ? 1.6 : 1.3) * 2 * degree + 8);
        break;
    default: /* Krylov on J: as many products as twice the degree, in substeps of at most about 100 */
        expected->products = (int64_t)(fmin(2.2 * degree + 10, engine == TW_PHI_PHIPM ? 2 * w->n + 2 * degree : 1e18));
        expected->dimension = (int)fmin(fmin(2 * degree, 60), w->n);
        expected->substeps = (int64_t)(1 + degree / 40);
    }
}
