/* The nonlinear Fermi-Pasta-Ulam-Tsingou chain of Luan and Michels (2022). The masses are 1, and
 * the unknowns are q = (x_{0,1..m}, x_{1,1..m}):
 *     q'' = -A q - grad U(q),   A = diag(I, omega^2 I),
 *     U = 1/4 [(x01 - x11)^4 + sum_{i=1}^{m-1} (x0,i+1 - x1,i+1 - x0,i - x1,i)^4 + (x0m + x1m)^4].
 * That is U = 1/4 sum_l s_l^4 with m + 1 links s_l = g_l . q, where each g_l has
 * at most four entries. Hence
 *     grad U = sum_l s_l^3 g_l,   Hessian = sum_l 3 s_l^2 g_l g_l^T. */
#include <math.h>

#include "base/allocate.h"
#include "base/fail.h"
#include "model/simulation.h"

/* The entries of g_l, each 1 or -1. */
typedef struct link {
    int count;
    int64_t index[4];
    double sign[4];
} link;

typedef struct fput {
    int64_t m;
    double omega;
    double *tangent; /* 3 s_l^2 of each link at the last linearisation */
    tw_sparse *matrix;
} fput;

/* Returns g_l, l = 0..m. In memory x_{0,i} is q[i - 1] and x_{1,i} is q[m + i - 1]. */
static link link_at(const fput *f, int64_t l)
{
    int64_t m = f->m;
    if (l == 0) return (link){2, {0, m}, {1.0, -1.0}};
    if (l == m) return (link){2, {m - 1, 2 * m - 1}, {1.0, 1.0}};
    return (link){4, {l, m + l, l - 1, m + l - 1}, {1.0, -1.0, -1.0, -1.0}};
}

/* s_l = g_l . q. */
static double link_value(const link *g, const double *q)
{
    double s = 0.0;
    for (int e = 0; e < g->count; e++) s += g->sign[e] * q[g->index[e]];
    return s;
}

/* The diagonal of A: 1 for the slow unknowns, omega^2 for the fast ones. */
static double linear_stiffness(const fput *f, int64_t i)
{
    return i < f->m ? 1.0 : f->omega * f->omega;
}

static tw_status fput_acceleration(void *context, double t, const double *x, const double *v,
                                   double *a)
{
    (void)t;
    (void)v;
    const fput *f = context;

    for (int64_t i = 0; i < 2 * f->m; i++) a[i] = -linear_stiffness(f, i) * x[i];

    /* a -= grad U = sum_l s_l^3 g_l. */
    for (int64_t l = 0; l <= f->m; l++) {
        link g = link_at(f, l);
        double s = link_value(&g, x);
        for (int e = 0; e < g.count; e++) a[g.index[e]] -= s * s * s * g.sign[e];
    }

    return TW_OK;
}

/* Keeps 3 s_l^2 of each link. */
static tw_status fput_linearise(void *context, double t, const double *x, const double *v)
{
    (void)t;
    (void)v;
    fput *f = context;

    /* The second derivative of s^4 / 4 is 3 s^2. */
    for (int64_t l = 0; l <= f->m; l++) {
        link g = link_at(f, l);
        double s = link_value(&g, x);
        f->tangent[l] = 3.0 * s * s;
    }

    return TW_OK;
}

static tw_status fput_apply_linear_part(void *context, int count, const double *in, double *out)
{
    const fput *f = context;

    /* out = A in. */
    for (int64_t j = 0; j < count * 2 * f->m; j++)
        out[j] = linear_stiffness(f, j % (2 * f->m)) * in[j];
    return TW_OK;
}

static tw_status fput_apply_stiffness(void *context, int count, const double *in, double *out)
{
    const fput *f = context;
    fput_apply_linear_part(context, count, in, out);

    /* out += sum_l 3 s_l^2 g_l (g_l . in). */
    for (int c = 0; c < count; c++)
        for (int64_t l = 0; l <= f->m; l++) {
            link g = link_at(f, l);
            double s = f->tangent[l] * link_value(&g, in + c * 2 * f->m);
            for (int e = 0; e < g.count; e++) out[c * 2 * f->m + g.index[e]] += s * g.sign[e];
        }

    return TW_OK;
}

static tw_status fput_assemble(void *context, tw_sparse *matrix)
{
    const fput *f = context;
    double *values = tw_sparse_values(matrix);

    /* The diagonal A. */
    for (int64_t b = 0; b < tw_sparse_row_start(matrix)[2 * f->m]; b++) values[b] = 0.0;
    for (int64_t i = 0; i < 2 * f->m; i++)
        values[tw_sparse_find(matrix, i, i)] = linear_stiffness(f, i);

    /* sum_l 3 s_l^2 g_l g_l^T, upper triangle. */
    for (int64_t l = 0; l <= f->m; l++) {
        link g = link_at(f, l);
        for (int a = 0; a < g.count; a++)
            for (int b = 0; b < g.count; b++)
                if (g.index[a] <= g.index[b])
                    values[tw_sparse_find(matrix, g.index[a], g.index[b])] +=
                        f->tangent[l] * g.sign[a] * g.sign[b];
    }

    return TW_OK;
}

static tw_status fput_energy(void *context, double t, const double *x, const double *v,
                             double *kinetic, double *potential)
{
    (void)t;
    const fput *f = context;

    *kinetic = 0.0;
    *potential = 0.0;

    /* |v|^2 / 2 and q . A q / 2. */
    for (int64_t i = 0; i < 2 * f->m; i++) {
        *kinetic += 0.5 * v[i] * v[i];
        *potential += 0.5 * linear_stiffness(f, i) * x[i] * x[i];
    }

    /* U = sum_l s_l^4 / 4. */
    for (int64_t l = 0; l <= f->m; l++) {
        link g = link_at(f, l);
        double s = link_value(&g, x);
        *potential += 0.25 * s * s * s * s;
    }

    return TW_OK;
}

static tw_status fput_rows(void *context, double t, const double *u, double *rows)
{
    (void)t;
    const fput *f = context;

    for (int64_t i = 0; i < 2 * f->m; i++) {
        /* q and p. */
        rows[2 * i] = u[i];
        rows[2 * i + 1] = u[2 * f->m + i];
    }

    return TW_OK;
}

static tw_status fput_measure(void *context, double t, const double *u, tw_measurement *out)
{
    const fput *f = context;
    out->has_energy = true;
    return fput_energy(context, t, u, u + 2 * f->m, &out->kinetic, &out->potential);
}

static void fput_summarise(const void *context, tw_simulation_summary *out)
{
    out->unknowns = 2 * ((const fput *)context)->m;
}

static void fput_release(void *context)
{
    fput *f = context;
    if (!f) return;
    tw_release(f->tangent);
    tw_sparse_free(f->matrix);
    tw_release(f);
}

static const tw_simulation_table fput_table = {.columns = tw_system_columns,
                                               .release = fput_release,
                                               .rows = fput_rows,
                                               .measure = fput_measure,
                                               .summarise = fput_summarise};

/* Writes the columns of row i of the upper triangle and returns how many there are. Row x_{0,i}
 * meets x_{0,i+1}, x_{1,i}, x_{1,i+1} and x_{1,i-1}; row x_{1,i} meets x_{1,i+1}. */
static int64_t list_columns(int64_t m, int64_t i, int64_t *column)
{
    int64_t count = 0;
    column[count++] = i;

    /* A fast unknown meets the next fast one. */
    if (i >= m) {
        if (i + 1 < 2 * m) column[count++] = i + 1;
        return count;
    }

    /* A slow unknown meets the next slow one and three fast ones. */
    if (i + 1 < m) column[count++] = i + 1;
    for (int64_t j = m + i - 1; j <= m + i + 1; j++)
        if (j >= m && j < 2 * m) column[count++] = j;

    return count;
}

static tw_status fput_pattern(fput *f, tw_error *error)
{
    int64_t m = f->m;
    int64_t filled = 0;
    int64_t *start = TW_NEW_ARRAY(2 * m + 1, int64_t);
    int64_t *column = TW_NEW_ARRAY(10 * m, int64_t);
    tw_status status = start && column ? TW_OK : tw_fail_plain(error, TW_OUT_OF_MEMORY);
    if (status == TW_OK) {
        for (int64_t i = 0; i < 2 * m; i++) {
            start[i] = filled;
            filled += list_columns(m, i, column + filled);
        }
        start[2 * m] = filled;
        status = tw_sparse_create(1, 2 * m, start, column, TW_STORE_UPPER, &f->matrix, error);
    }

    tw_release(start);
    tw_release(column);
    return status;
}

/* Returns NULL and fills the error on failure. */
static fput *fput_create(int64_t m, double omega, tw_error *error)
{
    fput *f = TW_NEW(fput);
    if (!f) {
        tw_fail_plain(error, TW_OUT_OF_MEMORY);
        return NULL;
    }

    /* Without a linearisation the tangent is that of q = 0: A alone. */
    f->m = m;
    f->omega = omega;
    f->tangent = tw_allocate_zeroed((size_t)m + 1, sizeof(double));
    if (!f->tangent) tw_fail_plain(error, TW_OUT_OF_MEMORY);

    if (f->tangent && fput_pattern(f, error) == TW_OK) return f;
    fput_release(f);
    return NULL;
}

static tw_second_order_problem fput_problem(fput *f)
{
    return (tw_second_order_problem){.space = {.local_size = 2 * f->m},
                                     .context = f,
                                     .acceleration = fput_acceleration,
                                     .linearise = fput_linearise,
                                     .apply_stiffness = fput_apply_stiffness,
                                     .assemble = fput_assemble,
                                     .stiffness_matrix = f->matrix,
                                     .energy = fput_energy,
                                     .apply_linear_part = fput_apply_linear_part};
}

tw_status tw_simulation_fput(int64_t m, double omega, tw_simulation **out, tw_error *error)
{
    if (!out || m < 1 || m > INT32_MAX / 16 || !(omega > 0.0) || !isfinite(omega))
        return tw_fail(error, TW_INVALID_ARGUMENT, "fput needs m >= 1 and omega > 0");
    *out = NULL;

    /* The pattern is right by construction, so that only memory can be missing. */
    fput *f = fput_create(m, omega, error);
    if (!f) return TW_OUT_OF_MEMORY;
    tw_simulation *simulation = tw_simulation_create(&fput_table, f, 4 * m);
    if (!simulation) {
        fput_release(f);
        return tw_fail_plain(error, TW_OUT_OF_MEMORY);
    }

    simulation->second_order = true;
    simulation->second = fput_problem(f);
    simulation->row_count = 2 * m;

    /* The start is x_{0,1} = x'_{0,1} = x'_{1,1} = 1 and x_{1,1} = 1/omega; all others are 0. */
    double *x = simulation->start;
    double *v = simulation->start + 2 * m;
    x[0] = 1.0;
    v[0] = 1.0;
    v[m] = 1.0;
    x[m] = 1.0 / omega;
    *out = simulation;
    return TW_OK;
}
