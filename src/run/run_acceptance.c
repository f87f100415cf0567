/* The scene's own `tests`: values that a finished run must reproduce. The rows of the table are
 * those of the final state. */
#include <math.h>
#include <stdio.h>

#include "base/allocate.h"
#include "base/number.h"
#include "io/json.h"
#include "run/run_internal.h"

/* An energy at the start is equal to the expected one if they agree in 12 digits. */
static const double ENERGY_TOLERANCE = 1e-12;

enum {
    SYSTEM_COLUMNS = 2, /* of a row of a system: q and its rate */
    BODY_COLUMNS = 6    /* of a row of bodies: position and velocity */
};

typedef struct acceptance {
    tw_run *run;
    tw_json *json;
} acceptance;

/* Counts one value and writes it into the record. */
static void judge(acceptance *a, const char *name, double value, double expected, bool passed)
{
    a->run->tests++;
    if (!passed) a->run->tests_failed++;

    tw_json_open(a->json, NULL, '{');
    tw_json_string(a->json, "name", name);
    tw_json_number(a->json, "value", value);
    tw_json_number(a->json, "expected", expected);
    tw_json_bool(a->json, "passed", passed);
    tw_json_close(a->json, '}');
}

static void judge_at_most(acceptance *a, const char *key, double value)
{
    char path[64];
    snprintf(path, sizeof path, "tests.%s", key);
    double limit = tw_scene_number(a->run->scene, path, NAN);
    if (!isnan(limit)) judge(a, key, value, limit, value <= limit);
}

static void judge_energy_start(acceptance *a)
{
    double expected = tw_scene_number(a->run->scene, "tests.energy_start", NAN);
    if (isnan(expected)) return;

    double value = a->run->memory.balance.energy_start;
    bool passed = fabs(value - expected) <= ENERGY_TOLERANCE * fabs(expected);
    judge(a, "energy_start", value, expected, passed);
}

/* The number at "tests.final.INDEX.KEY"; NAN if it is not there. */
static double expected_number(const acceptance *a, int index, const char *key)
{
    char path[80];
    snprintf(path, sizeof path, "tests.final.%d.%s", index, key);
    return tw_scene_number(a->run->scene, path, NAN);
}

/* Compares column `column` of the row with the expected value. */
static void judge_value(acceptance *a, double row, int column, double expected, double tolerance)
{
    /* A row that does not exist is NAN, which passes no test. */
    const tw_table *table = &a->run->table;
    double value = NAN;
    if (row < (double)table->row_count)
        value = a->run->rows[(int64_t)row * table->column_count + column];

    char name[80];
    tw_print(name, sizeof name, "final row %.0f %s", row, table->columns[column]);
    judge(a, name, value, expected, fabs(value - expected) <= tolerance);
}

/* Entry `index` of tests.final; false past the last. */
static bool judge_row(acceptance *a, int index)
{
    static const char *const keys[] = {"position.0", "position.1", "position.2"};
    double row = expected_number(a, index, "row");
    if (isnan(row)) return false;

    double tolerance = expected_number(a, index, "tolerance");
    if (a->run->table.column_count == SYSTEM_COLUMNS) {
        judge_value(a, row, 0, expected_number(a, index, "value"), tolerance);
        return true;
    }
    for (int k = 0; k < 3; k++)
        judge_value(a, row, k, expected_number(a, index, keys[k]), tolerance);
    return true;
}

/* The largest distance of a particle from where it began. */
static void judge_displacement(acceptance *a)
{
    const tw_run *run = a->run;
    double least = tw_scene_number(run->scene, "tests.displacement_min", NAN);
    int columns = run->table.column_count;
    if (isnan(least) || columns < BODY_COLUMNS) return;

    /* The rows of the start. */
    size_t size = (size_t)run->table.row_count * (size_t)columns;
    double *start = tw_allocate(size, sizeof *start);
    tw_status status = start ? TW_OK : TW_OUT_OF_MEMORY;
    if (start)
        status =
            tw_simulation_rows(run->simulation, 0.0, tw_simulation_start(run->simulation), start);

    double most = 0.0;
    for (int64_t i = 0; status == TW_OK && i < run->table.row_count; i++) {
        const double *x = run->rows + columns * i;
        const double *o = start + columns * i;
        most = fmax(most, hypot(hypot(x[0] - o[0], x[1] - o[1]), x[2] - o[2]));
    }
    tw_release(start);
    judge(a, "displacement_min", most, least, status == TW_OK && most >= least);
}

void tw_run_check_acceptance(tw_run *run, tw_json *json)
{
    acceptance a = {run, json};
    run->tests = 0;
    run->tests_failed = 0;

    tw_json_open(a.json, "tests", '[');
    judge_energy_start(&a);
    judge_at_most(&a, "energy_drift_max", tw_run_energy_drift(run));
    judge_at_most(&a, "steps_max", (double)tw_integrator_statistics_now(run->integrator).steps);

    /* The final values are those at tests.duration, if that is given: a run of another length
     * has others. */
    double end = tw_scene_number(run->scene, "tests.duration", run->duration);
    if (end == run->duration) {
        judge_displacement(&a);
        for (int i = 0; judge_row(&a, i); i++) {}
    }
    tw_json_close(a.json, ']');
}
