/* The frequency that scales x against v. It need not be exact: it only has to make both parts weigh alike. */
#include <math.h>

#include "linalg/vector.h"
#include "phi/second_order_pair.h"

enum { POWER_STEPS = 6 };

/* Entries in [-1, 1) that differ from one index to the next: every mode has a share, the same on every machine. */
static void rough_vector(int64_t n, double *x)
{
    for (int64_t i = 0; i < n; i++) {
        uint64_t z = (uint64_t)i * 0x9E3779B97F4A7C15u + 0xD1B54A32D192ED03u;
        z = (z ^ (z >> 32)) * 0xBF58476D1CE4E5B9u;
        x[i] = (double)(z >> 11) * 0x1p-52 - 1.0;
    }
}

/* out = M^-1 K in. */
static tw_status apply_tangent(tw_phi_pair *pair, const double *in, double *force, double *out)
{
    const tw_second_order *op = pair->op;
    tw_status status = op->stiffness.apply(op->stiffness.context, 1, in, force);
    pair->products++;
    if (status) return status;
    if (op->mass) return op->mass->solve(op->mass->context, 1, force, out);
    if (op->lumped_mass)
        tw_vector_divide(pair->n, op->lumped_mass, force, out);
    else
        tw_vector_copy(pair->n, force, out);
    return TW_OK;
}

tw_status tw_phi_pair_frequency(tw_phi_pair *pair, double fallback, double *omega)
{
    double *x = pair->scratch[0], *force = pair->scratch[1], *y = pair->scratch[2], largest = 0,
           length = 0;
    *omega = sqrt(fmax(pair->op->eigenvalue_max, 0));
    if (*omega > 0) return TW_OK;
    rough_vector(pair->n, x);
    tw_status status = tw_vector_norm(&pair->half, x, &length);
    for (int step = 0; step < POWER_STEPS && status == TW_OK; step++) {
        if (!(length > 0 && isfinite(length))) break;
        tw_vector_scale(pair->n, 1.0 / length, x);
        status = apply_tangent(pair, x, force, y);
        if (status == TW_OK) status = tw_vector_norm(&pair->half, y, &length);
        largest = fmax(largest, length);
        double *swap = x;
        x = y;
        y = swap;
    }
    if (status) return status;
    if (!isfinite(length)) return TW_NOT_FINITE;
    *omega = largest > 0 ? sqrt(largest) : fallback;
    return TW_OK;
}
