/* A simulation as its users see it (twang/model.h): most functions hand the call on to the table of
 * the model or system. */
#include "model/simulation.h"

#include <math.h>
#include <string.h>

#include "base/allocate.h"
#include "base/fail.h"
#include "linalg/largest_eigenvalue.h"
#include "linalg/vector.h"

const char *const tw_system_columns[] = {"q", "p", NULL};

tw_simulation *tw_simulation_create(const tw_simulation_table *table, void *context,
                                    int64_t state_size)
{
    /* The context is taken over only if there is memory for both. */
    tw_simulation *simulation = TW_NEW(tw_simulation);
    double *start = tw_allocate_zeroed((size_t)state_size, sizeof(double));

    if (!simulation || !start) {
        tw_release(simulation);
        tw_release(start);
        return NULL;
    }

    simulation->table = table;
    simulation->context = context;
    simulation->state_size = state_size;
    simulation->start = start;
    return simulation;
}

void tw_simulation_free(tw_simulation *simulation)
{
    if (!simulation) return;
    simulation->table->release(simulation->context);
    tw_release(simulation->start);
    tw_release(simulation);
}

const tw_second_order_problem *tw_simulation_second_order(const tw_simulation *simulation)
{
    if (!simulation || !simulation->second_order) return NULL;
    return &simulation->second;
}

const tw_first_order_problem *tw_simulation_first_order(const tw_simulation *simulation)
{
    if (!simulation || simulation->second_order) return NULL;
    return &simulation->first;
}

int64_t tw_simulation_state_size(const tw_simulation *simulation)
{
    if (!simulation) return 0;
    return simulation->state_size;
}

const double *tw_simulation_start(const tw_simulation *simulation)
{
    if (!simulation) return NULL;
    return simulation->start;
}

int64_t tw_simulation_row_count(const tw_simulation *simulation)
{
    if (!simulation) return 0;
    return simulation->row_count;
}

int tw_simulation_column_count(const tw_simulation *simulation)
{
    if (!simulation) return 0;
    int count = 0;
    while (simulation->table->columns[count]) count++;
    return count;
}

const char *tw_simulation_column(const tw_simulation *simulation, int column)
{
    if (column < 0 || column >= tw_simulation_column_count(simulation)) return NULL;
    return simulation->table->columns[column];
}

tw_status tw_simulation_rows(tw_simulation *simulation, double t, const double *u, double *rows)
{
    if (!simulation || !u || !rows || !isfinite(t)) return TW_INVALID_ARGUMENT;
    if (!tw_vector_is_finite(simulation->state_size, u)) return TW_NOT_FINITE;
    return simulation->table->rows(simulation->context, t, u, rows);
}

tw_status tw_simulation_measure(tw_simulation *simulation, double t, const double *u,
                                tw_measurement *out)
{
    if (!simulation || !u || !out || !isfinite(t)) return TW_INVALID_ARGUMENT;
    memset(out, 0, sizeof *out);
    if (!tw_vector_is_finite(simulation->state_size, u)) return TW_NOT_FINITE;
    return simulation->table->measure(simulation->context, t, u, out);
}

tw_status tw_simulation_contacts(tw_simulation *simulation, double t, const double *u, int64_t most,
                                 double *places, int64_t *count)
{
    /* No array has more places than these. */
    const int64_t many = INT64_MAX / (int64_t)(3 * sizeof *places);
    if (!simulation || !u || !count || !isfinite(t)) return TW_INVALID_ARGUMENT;
    if (most < 0 || most > many || (most > 0 && !places)) return TW_INVALID_ARGUMENT;
    *count = 0;
    if (!tw_vector_is_finite(simulation->state_size, u)) return TW_NOT_FINITE;
    if (simulation->table->contacts)
        *count = simulation->table->contacts(simulation->context, t, u, most, places);
    return TW_OK;
}

tw_status tw_simulation_pull(tw_simulation *simulation, int64_t particle, const double target[3])
{
    if (!simulation || particle < 0 || !target) return TW_INVALID_ARGUMENT;
    if (!tw_vector_is_finite(3, target)) return TW_NOT_FINITE;
    if (!simulation->table->pull) return TW_UNSUPPORTED;
    return simulation->table->pull(simulation->context, particle, target);
}

tw_status tw_simulation_release(tw_simulation *simulation)
{
    if (!simulation) return TW_INVALID_ARGUMENT;
    if (!simulation->table->pull) return TW_UNSUPPORTED;
    return simulation->table->pull(simulation->context, -1, NULL);
}

tw_simulation_summary tw_simulation_summarise(const tw_simulation *simulation)
{
    tw_simulation_summary summary = {0};
    if (!simulation) return summary;
    simulation->table->summarise(simulation->context, &summary);
    return summary;
}

int tw_simulation_display_count(const tw_simulation *simulation)
{
    if (!simulation || !simulation->displays) return 0;
    return simulation->displays->count;
}

const tw_display *tw_simulation_display(const tw_simulation *simulation, int index)
{
    if (index < 0 || index >= tw_simulation_display_count(simulation)) return NULL;
    return &simulation->displays->list[index];
}

bool tw_simulation_stain(const tw_simulation *simulation, double wear, double colour[3])
{
    if (!simulation || !colour || !(simulation->stain_work > 0.0) || !(wear >= 0.0)) return false;

    /* Blue, cyan, green, yellow, red, and what is between them. */
    static const double stops[5][3] = {{0, 0, 1}, {0, 1, 1}, {0, 1, 0}, {1, 1, 0}, {1, 0, 0}};
    double place = 4.0 * fmin(wear / simulation->stain_work, 1.0);
    int below = place < 3.0 ? (int)place : 3;
    double share = place - below;
    for (int k = 0; k < 3; k++)
        colour[k] = (1.0 - share) * stops[below][k] + share * stops[below + 1][k];
    return true;
}

/* ---- the highest frequency ---- */

/* Fills a start vector that has a share of every frequency, the same every time: a linear
 * congruential generator with the multiplier of Knuth's MMIX, uniform in [-1/2, 1/2). */
static void fill_start(int64_t n, double *q)
{
    uint64_t state = 1;
    for (int64_t i = 0; i < n; i++) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        q[i] = (double)(state >> 11) / 9007199254740992.0 - 0.5; /* 53 bits over 2^53 */
    }
}

/* The largest eigenvalue of M^-1 K at the start. memory: 4 N entries. */
static tw_status largest_eigenvalue(const tw_simulation *simulation, int iterations, double *memory,
                                    double *eigenvalue)
{
    const tw_second_order_problem *problem = &simulation->second;
    int64_t n = problem->space.local_size;

    /* K is the tangent at the start. */
    if (problem->linearise) {
        const double *x = simulation->start;
        TW_TRY(problem->linearise(problem->context, 0.0, x, x + n));
    }

    /* K x = lambda M x; symmetric in the inner product of M. */
    tw_matrix_pencil pencil = {.stiffness = problem->apply_stiffness,
                               .context = problem->context,
                               .mass = {problem->space, problem->lumped_mass, problem->mass}};
    fill_start(n, memory);
    return tw_lanczos_largest(&pencil, iterations, memory, eigenvalue);
}

tw_status tw_simulation_frequency(const tw_simulation *simulation, int iterations, double *omega,
                                  tw_error *error)
{
    if (!simulation || !omega || iterations < 1) return tw_fail_plain(error, TW_INVALID_ARGUMENT);
    *omega = 0.0;
    if (!simulation->second_order || !simulation->second.apply_stiffness)
        return tw_fail(error, TW_UNSUPPORTED,
                       "a frequency needs a second-order problem with products with K");

    double *memory = TW_NEW_ARRAY(4 * simulation->second.space.local_size, double);
    if (!memory) return tw_fail_plain(error, TW_OUT_OF_MEMORY);
    double eigenvalue = 0.0;
    tw_status status = largest_eigenvalue(simulation, iterations, memory, &eigenvalue);
    tw_release(memory);
    if (status != TW_OK) return tw_fail_plain(error, status);

    /* omega^2 is the largest eigenvalue. */
    *omega = sqrt(eigenvalue);
    return TW_OK;
}
