#include "problems/oscillators.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double damped_stiffness[2][2] = {{11, -10}, {-10, 11}},
                    damped_damping[2][2] = {{0.3, -0.1}, {-0.1, 0.5}};

static tw_status duffing(void *context, double t, const double *x, const double *v, double *a)
{
    (void)context, (void)t, (void)v;
    a[0] = -x[0] - x[0] * x[0] * x[0];
    return TW_OK;
}

static tw_status damped(void *context, double t, const double *x, const double *v, double *a)
{
    (void)context, (void)t;
    for (int i = 0; i < 2; i++) {
        a[i] = -x[i] * x[i] * x[i];
        for (int j = 0; j < 2; j++)
            a[i] -= damped_stiffness[i][j] * x[j] + damped_damping[i][j] * v[j];
    }
    return TW_OK;
}

static tw_status vanderpol(void *context, double t, const double *x, const double *v, double *a)
{
    (void)context, (void)t;
    a[0] = -x[0] + 2 * (1 - x[0] * x[0]) * v[0];
    return TW_OK;
}

static tw_status forced(void *context, double t, const double *x, const double *v, double *a)
{
    (void)context, (void)v;
    a[0] = -x[0] - x[0] * x[0] * x[0] + sin(1.3 * t);
    return TW_OK;
}

/* Link lengths r_1 = x_1 - s(t), r_i = x_i - x_{i-1}. */
static void shaken_links(double t, const double *x, double *r)
{
    r[0] = x[0] - 0.1 * sin(2 * t);
    for (int i = 1; i < 3; i++) r[i] = x[i] - x[i - 1];
}

static tw_status shaken(void *context, double t, const double *x, const double *v, double *a)
{
    (void)context, (void)v;
    double r[3];
    shaken_links(t, x, r);
    for (int i = 0; i < 3; i++) {
        a[i] = -(r[i] + r[i] * r[i] * r[i]);
        if (i < 2) a[i] += r[i + 1] + r[i + 1] * r[i + 1] * r[i + 1];
    }
    return TW_OK;
}

static tw_status linearise(void *context, double t, const double *x, const double *v)
{
    oscillator *o = context;
    double *K = o->tangent, *D = o->damping;
    memset(K, 0, sizeof o->tangent);
    memset(D, 0, sizeof o->damping);
    if (o->table.acceleration == duffing || o->table.acceleration == forced)
        K[0] = 1 + 3 * x[0] * x[0];
    if (o->table.acceleration == vanderpol) {
        K[0] = 1 + 4 * x[0] * v[0];
        D[0] = -2 * (1 - x[0] * x[0]);
    }
    if (o->table.acceleration == damped)
        for (int i = 0; i < 4; i++) {
            K[i] = damped_stiffness[i / 2][i % 2] + (i % 3 == 0 ? 3 * x[i / 2] * x[i / 2] : 0);
            D[i] = damped_damping[i / 2][i % 2];
        }
    if (o->table.acceleration == shaken) {
        double r[3];
        shaken_links(t, x, r);
        for (int i = 0; i < 3; i++) {
            double k = 1 + 3 * r[i] * r[i];
            K[4 * i] += k;
            if (i > 0) K[4 * (i - 1)] += k, K[3 * i + i - 1] -= k, K[3 * (i - 1) + i] -= k;
        }
    }
    return TW_OK;
}

static tw_status multiply(const double *A, int n, int count, const double *in, double *out)
{
    for (int c = 0; c < count; c++)
        for (int i = 0; i < n; i++) {
            out[c * n + i] = 0;
            for (int j = 0; j < n; j++) out[c * n + i] += A[i * n + j] * in[c * n + j];
        }
    return TW_OK;
}

static tw_status apply_stiffness(void *context, int count, const double *in, double *out)
{
    const oscillator *o = context;
    return multiply(o->tangent, o->unknowns, count, in, out);
}

static tw_status apply_damping(void *context, int count, const double *in, double *out)
{
    const oscillator *o = context;
    return multiply(o->damping, o->unknowns, count, in, out);
}

static tw_status assemble(void *context, tw_sparse *matrix)
{
    const oscillator *o = context;
    memcpy(tw_sparse_values(matrix), o->tangent,
           sizeof(double) * (size_t)(o->unknowns * o->unknowns));
    return TW_OK;
}

static tw_status time_derivative(void *context, double t, const double *x, const double *v,
                                 double *out)
{
    (void)v;
    const oscillator *o = context;
    if (o->table.acceleration == forced) {
        out[0] = 1.3 * cos(1.3 * t);
        return TW_OK;
    }
    double r[3];
    shaken_links(t, x, r);
    out[0] = (1 + 3 * r[0] * r[0]) * 0.2 * cos(2 * t);
    out[1] = out[2] = 0;
    return TW_OK;
}

static tw_sparse *full_matrix(int n)
{
    int64_t start[OSCILLATOR_MAX + 1], column[OSCILLATOR_MAX * OSCILLATOR_MAX];
    for (int i = 0; i <= n; i++) start[i] = (int64_t)i * n;
    for (int i = 0; i < n * n; i++) column[i] = i % n;
    tw_sparse *matrix = NULL;
    if (tw_sparse_create(1, n, start, column, TW_STORE_FULL, &matrix, NULL) != TW_OK) abort();
    return matrix;
}

void oscillator_create(oscillator_kind kind, oscillator *out)
{
    static const struct {
        const char *name;
        int unknowns;
        tw_status (*acceleration)(void *, double, const double *, const double *, double *);
        bool damped, timed;
        double start[2 * OSCILLATOR_MAX];
    } kinds[OSCILLATOR_KINDS] = {{"duffing", 1, duffing, false, false, {1, 0}},
                                 {"damped", 2, damped, true, false, {1, 0, 0, 1}},
                                 {"vanderpol", 1, vanderpol, true, false, {2, 0}},
                                 {"forced", 1, forced, false, true, {1, 0}},
                                 {"shaken", 3, shaken, false, true, {0}}};
    memset(out, 0, sizeof *out);
    out->name = kinds[kind].name;
    out->unknowns = kinds[kind].unknowns;
    memcpy(out->start, kinds[kind].start, sizeof out->start);
    out->matrix = full_matrix(out->unknowns);
    out->table = tw_second_order_problem_default();
    out->table.space.local_size = out->unknowns;
    out->table.context = out;
    out->table.acceleration = kinds[kind].acceleration;
    out->table.linearise = linearise;
    out->table.apply_stiffness = apply_stiffness;
    out->table.assemble = assemble;
    out->table.stiffness_matrix = out->matrix;
    out->table.velocity_dependent = kinds[kind].damped;
    if (kinds[kind].damped) out->table.apply_damping = apply_damping;
    out->table.time_dependent = kinds[kind].timed;
    if (kinds[kind].timed) out->table.time_derivative = time_derivative;
}

void oscillator_free(oscillator *o)
{
    tw_sparse_free(o->matrix);
    memset(o, 0, sizeof *o);
}
