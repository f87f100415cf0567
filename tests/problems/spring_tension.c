#include "problems/spring_tension.h"

#include <math.h>

#include "problems/spring_network.h"

/* The vector of a spring from its first to its second end, and its length. */
static double vector_of(const spring_network *network, const block_spring *s, double d[3])
{
    const double *from = network->padded + 4 * (int64_t)s->from;
    const double *to = network->padded + 4 * (int64_t)s->to;
    for (int c = 0; c < 3; c++) d[c] = to[c] - from[c];
    return sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]);
}

/* The change of that vector where the unknowns change by dx. Pinned ends do not move. */
static void change_of(const spring_network *network, const block_spring *s, const double *dx,
                      double change[3])
{
    for (int c = 0; c < 3; c++) {
        change[c] = 0;
        if (s->to < network->free_count) change[c] += dx[3 * (int64_t)s->to + c];
        if (s->from < network->free_count) change[c] -= dx[3 * (int64_t)s->from + c];
    }
}

void spring_tension_linearise(void *context, const double *x, const double *tension, bool definite)
{
    spring_network *network = context;
    spring_network_place(network, x);

    /* A spring's tangent is across I + (k - across) n n^T with across = tension / l. */
    for (int64_t s = 0; s < network->spring_count; s++) {
        const block_spring *own = &network->springs[s];
        double *tangent = network->tangents + 5 * s;
        double d[3];
        double length = vector_of(network, own, d);
        double across = tension[s] / length;
        if (definite && across < 0) across = 0;

        for (int c = 0; c < 3; c++) tangent[c] = d[c] / length;
        tangent[3] = across;
        tangent[4] = own->stiffness - across;
    }
}

void spring_tension_predict(void *context, const double *x, const double *dx, double *tension,
                            double *turn)
{
    spring_network *network = context;
    spring_network_place(network, x);

    /* tension = k (l + n . change - L) */
    for (int64_t s = 0; s < network->spring_count; s++) {
        const block_spring *own = &network->springs[s];
        double d[3];
        double change[3];
        double length = vector_of(network, own, d);
        change_of(network, own, dx, change);

        double along = 0;
        double square = 0;
        for (int c = 0; c < 3; c++) along += d[c] * change[c] / length;
        for (int c = 0; c < 3; c++) square += change[c] * change[c];
        tension[s] = own->stiffness * (length + along - own->rest_length);
        turn[s] = sqrt(square) / length;
    }
}
