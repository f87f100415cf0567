/* Where a run that failed was in trouble: the body whose cells are deformed most in the last good state. */
#include <math.h>
#include <string.h>

#include "base/allocate.h"
#include "base/number.h"
#include "base/vector3.h"
#include "run/run_internal.h"

/* A change of a length by less than this factor is nothing to speak of. */
static const double WORTH_TELLING = 1.001;

/* The tables of all particles at the start and now. A row begins with x, y, z; how long it is, the simulation says: wear
 * and plastic strain have columns of their own. */
typedef struct two_states {
    double *before, *now;
    int columns;
} two_states;

/* The pair of particles whose distance has changed by the largest factor. */
typedef struct worst_pair {
    double factor; /* the larger of now/before and before/now; 1: nothing has changed */
    double ratio;  /* now/before */
    int64_t ends[2];
    int body; /* index of its display */
} worst_pair;

static double length_between(const double *rows, int columns, int64_t i, int64_t j)
{
    double d[3];
    for (int k = 0; k < 3; k++) d[k] = rows[columns * i + k] - rows[columns * j + k];
    return sqrt(tw_dot3(d, d));
}

static void compare_pair(const two_states *states, int64_t i, int64_t j, int body,
                         worst_pair *worst)
{
    double ratio = length_between(states->now, states->columns, i, j) /
                   length_between(states->before, states->columns, i, j);
    double factor = fmax(ratio, 1.0 / ratio);

    /* A pair of particles at one place before has no ratio. */
    if (!(factor > worst->factor) || !isfinite(ratio)) return;
    *worst = (worst_pair){factor, ratio, {i, j}, body};
}

/* All pairs inside the cells of one kind, `corners` particles each. */
static void compare_cells(const two_states *states, int64_t count, int corners,
                          const int64_t *cells, int body, worst_pair *worst)
{
    for (int64_t c = 0; c < count; c++) {
        const int64_t *cell = cells + c * corners;
        for (int i = 0; i < corners; i++)
            for (int j = 0; j < i; j++) compare_pair(states, cell[i], cell[j], body, worst);
    }
}

static worst_pair find_worst_pair(const tw_simulation *simulation, const two_states *states)
{
    worst_pair worst = {.factor = 1.0};
    for (int i = 0; i < tw_simulation_display_count(simulation); i++) {
        const tw_display *d = tw_simulation_display(simulation, i);
        compare_cells(states, d->edge_count, 2, d->edges, i, &worst);
        compare_cells(states, d->triangle_count, 3, d->triangles, i, &worst);
        compare_cells(states, d->tetrahedron_count, 4, d->tetrahedra, i, &worst);
    }
    return worst;
}

void tw_run_name_body(const tw_run *run, tw_error *error)
{
    if (tw_simulation_display_count(run->simulation) == 0) return;

    /* The table at the start, and now. Without memory nothing is said. */
    int columns = tw_simulation_column_count(run->simulation);
    int64_t entries = columns * tw_simulation_row_count(run->simulation);
    two_states states = {TW_NEW_ARRAY(entries, double), TW_NEW_ARRAY(entries, double), columns};
    double t = 0.0;
    bool known = states.before && states.now;
    if (known) {
        tw_integrator_state(run->integrator, &t, run->u);
        const double *start = tw_simulation_start(run->simulation);
        known = tw_simulation_rows(run->simulation, 0.0, start, states.before) == TW_OK &&
                tw_simulation_rows(run->simulation, t, run->u, states.now) == TW_OK;
    }

    worst_pair worst = {.factor = 1.0};
    if (known) worst = find_worst_pair(run->simulation, &states);
    tw_release(states.before);
    tw_release(states.now);
    if (worst.factor < WORTH_TELLING) return;

    /* Small changes are told in per cent. */
    char change[80];
    double percent = 100.0 * fabs(worst.ratio - 1.0);
    if (worst.factor >= 2.0)
        tw_print(change, sizeof change, "are %.3g times as far apart as", worst.ratio);
    else
        tw_print(change, sizeof change, "are %.2g %% %s than", percent,
                 worst.ratio > 1.0 ? "farther apart" : "closer together");

    const char *name = tw_simulation_display(run->simulation, worst.body)->name;
    size_t used = strlen(error->text);
    tw_print(error->text + used, sizeof error->text - used,
             "; bodies.%d (%s) is deformed most: its particles %lld and %lld %s at the start",
             worst.body, name ? name : "body", (long long)worst.ends[1], (long long)worst.ends[0],
             change);
}
