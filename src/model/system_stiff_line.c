/* The stiff line of Baraff, his equation (2-1): x' = -x, y' = -k y. */
#include <math.h>
#include <string.h>

#include "base/allocate.h"
#include "base/fail.h"
#include "model/simulation.h"

typedef struct stiff_line {
    double rate[2]; /* 1, k */
    tw_sparse *matrix;
} stiff_line;

static tw_status line_rhs(void *context, double t, const double *u, double *F)
{
    (void)t;
    const stiff_line *line = context;
    for (int i = 0; i < 2; i++) F[i] = -line->rate[i] * u[i];
    return TW_OK;
}

static tw_status line_product(void *context, int count, const double *in, double *out)
{
    const stiff_line *line = context;

    /* J = -diag(1, k). */
    for (int j = 0; j < 2 * count; j++) out[j] = -line->rate[j % 2] * in[j];
    return TW_OK;
}

static tw_status line_assemble(void *context, tw_sparse *matrix)
{
    const stiff_line *line = context;
    for (int i = 0; i < 2; i++)
        tw_sparse_values(matrix)[tw_sparse_find(matrix, i, i)] = -line->rate[i];
    return TW_OK;
}

/* |u|^2 / 2. It is no physical energy, but no solution raises it. The energy guard of the
 * integrator therefore notices an explicit method outside its region of stability. */
static tw_status line_size(void *context, double t, const double *u, double *size)
{
    (void)context;
    (void)t;
    *size = 0.5 * (u[0] * u[0] + u[1] * u[1]);
    return TW_OK;
}

/* A row per unknown: q is the unknown, p its rate of change. */
static tw_status line_rows(void *context, double t, const double *u, double *rows)
{
    /* The rate is the right-hand side. */
    double F[2];
    tw_status status = line_rhs(context, t, u, F);

    for (int i = 0; i < 2; i++) {
        rows[2 * i] = u[i];
        rows[2 * i + 1] = F[i];
    }

    return status;
}

static tw_status line_measure(void *context, double t, const double *u, tw_measurement *out)
{
    (void)context;
    (void)t;
    (void)u;
    (void)out; /* There is no energy. */
    return TW_OK;
}

static void line_summarise(const void *context, tw_simulation_summary *out)
{
    (void)context;
    out->unknowns = 2;
}

static void line_release(void *context)
{
    stiff_line *line = context;
    if (!line) return;
    tw_sparse_free(line->matrix);
    tw_release(line);
}

static const tw_simulation_table line_table = {.columns = tw_system_columns,
                                               .release = line_release,
                                               .rows = line_rows,
                                               .measure = line_measure,
                                               .summarise = line_summarise};

static tw_first_order_problem line_problem(stiff_line *line)
{
    return (tw_first_order_problem){.space = {.local_size = 2},
                                    .context = line,
                                    .rhs = line_rhs,
                                    .jacobian_product = line_product,
                                    .symmetry = TW_SYMMETRIC,
                                    .assemble = line_assemble,
                                    .jacobian_matrix = line->matrix,
                                    .energy = line_size,
                                    .energy_never_grows = true};
}

tw_status tw_simulation_stiff_line(double k, const double start[2], tw_simulation **out,
                                   tw_error *error)
{
    if (!out || !start || !(k >= 0.0) || !isfinite(k) || !isfinite(start[0]) || !isfinite(start[1]))
        return tw_fail(error, TW_INVALID_ARGUMENT, "stiff-line needs k >= 0 and a finite start");
    *out = NULL;

    stiff_line *line = TW_NEW(stiff_line);
    if (!line) return tw_fail_plain(error, TW_OUT_OF_MEMORY);
    line->rate[0] = 1.0;
    line->rate[1] = k;

    /* The Jacobian is diagonal. */
    static const int64_t row_start[] = {0, 1, 2};
    static const int64_t column[] = {0, 1};
    tw_status status =
        tw_sparse_create(1, 2, row_start, column, TW_STORE_FULL, &line->matrix, error);
    if (status != TW_OK) {
        line_release(line);
        return status;
    }

    tw_simulation *simulation = tw_simulation_create(&line_table, line, 2);
    if (!simulation) {
        line_release(line);
        return tw_fail_plain(error, TW_OUT_OF_MEMORY);
    }

    /* From here on the simulation owns the line. */
    simulation->first = line_problem(line);
    simulation->row_count = 2;
    memcpy(simulation->start, start, 2 * sizeof(double));
    *out = simulation;
    return TW_OK;
}
