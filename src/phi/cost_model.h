/* The cost model: bytes moved, and flops counted as bytes, of what an engine did or is expected to do. Deterministic:
 * sizes and counts only, never time, so that repeated and resumed runs choose alike. docs/phi.md says how it was set.
 */
#ifndef TW_PHI_COST_MODEL_H
#define TW_PHI_COST_MODEL_H

#include <stdbool.h>
#include <twang/phi.h>

/* What a call is about. */
typedef struct tw_phi_setting {
    double
        n; /* entries of one vector the engine orthogonalises: N, or 2N for first-order engines on pairs */
    double product_bytes; /* of one product with one vector */
    double solve_bytes;   /* of one solve with one vector; 0 without a solver */
    double factor_flops;
    double starts; /* start vectors */
    double outputs;
    bool bounded; /* a bound of the spectrum was given: chebyshev need not look for one */
    bool
        pair; /* J of a second-order system: its spectrum is imaginary, twice as long for a polynomial */
    /* For predictions only: */
    double reach;     /* |t| |A| (first order) or |t| omega_max (second) */
    double roughness; /* |t| omega of the roughest start vector, omega^2 = b^T K b / b^T M b */
} tw_phi_setting;

tw_phi_setting tw_phi_setting_first(const tw_operator *op, int outputs);
tw_phi_setting tw_phi_setting_second(const tw_second_order *op, tw_phi_engine engine, int starts,
                                     int outputs);

/* Cost of the counted work of statistics->engine: products, solves, factorisations, dimension. */
double tw_phi_cost(const tw_phi_statistics *statistics, const tw_phi_setting *setting);

/* Fills the counts that the engine is expected to need. */
void tw_phi_predict(tw_phi_engine engine, const tw_phi_setting *setting, double tolerance,
                    tw_phi_statistics *expected);

#endif
