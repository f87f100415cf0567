/* The scene's own `tests`: values that a finished run must reproduce. The rows of the table are the final ones. */
#include <math.h>
#include <stdio.h>

#include "base/allocate.h"
#include "base/number.h"
#include "io/json.h"
#include "run/run_internal.h"

typedef struct acceptance {
    tw_run *run;
    tw_json *json;
} acceptance;

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
    double value = a->run->memory.energy_start;
    if (!isnan(expected))
        judge(a, "energy_start", value, expected, fabs(value - expected) <= 1e-12 * fabs(expected));
}

/* Entry `index` of tests.final; false past the last. */
static bool judge_row(acceptance *a, int index)
{
    const tw_run *run = a->run;
    char path[80], name[80];
    snprintf(path, sizeof path, "tests.final.%d.row", index);
    double row = tw_scene_number(run->scene, path, NAN);
    if (isnan(row)) return false;
    snprintf(path, sizeof path, "tests.final.%d.tolerance", index);
    double tolerance = tw_scene_number(run->scene, path, 0.0);
    bool there = row < (double)run->table.row_count;
    for (int k = 0; k < 3; k++) {
        snprintf(path, sizeof path, "tests.final.%d.position.%d", index, k);
        if (run->table.column_count == 2)
            snprintf(path, sizeof path, "tests.final.%d.value", index);
        double expected = tw_scene_number(run->scene, path, NAN);
        double value = there ? run->rows[(int64_t)row * run->table.column_count + k] : NAN;
        tw_print(name, sizeof name, "final row %.0f %s", row, run->table.columns[k]);
        judge(a, name, value, expected, fabs(value - expected) <= tolerance);
        if (run->table.column_count == 2) break;
    }
    return true;
}

/* How far a particle is from where it began, at most. */
static void judge_displacement(acceptance *a)
{
    const tw_run *run = a->run;
    double least = tw_scene_number(run->scene, "tests.displacement_min", NAN), most = 0.0;
    int columns = run->table.column_count;
    if (isnan(least) || columns != 6) return;
    size_t size = (size_t)run->table.row_count * (size_t)columns;
    double *start = tw_allocate(size, sizeof *start);
    tw_status status = start ? TW_OK : TW_OUT_OF_MEMORY;
    if (start)
        status =
            tw_simulation_rows(run->simulation, 0.0, tw_simulation_start(run->simulation), start);
    for (int64_t i = 0; status == TW_OK && i < run->table.row_count; i++) {
        const double *x = run->rows + columns * i, *o = start + columns * i;
        most = fmax(most, hypot(hypot(x[0] - o[0], x[1] - o[1]), x[2] - o[2]));
    }
    tw_release(start);
    judge(a, "displacement_min", most, least, status == TW_OK && most >= least);
}

void tw_run_check_acceptance(tw_run *run, tw_json *json)
{
    acceptance a = {run, json};
    run->tests = run->tests_failed = 0;
    tw_json_open(a.json, "tests", '[');
    judge_energy_start(&a);
    judge_at_most(&a, "energy_drift_max", tw_run_energy_drift(run));
    judge_at_most(&a, "steps_max", (double)tw_integrator_statistics_now(run->integrator).steps);
    /* rows hold at the end of the short form, if there is one */
    double end = tw_scene_number(run->scene, "tests.duration", run->duration);
    if (end == run->duration) judge_displacement(&a);
    for (int i = 0; end == run->duration && judge_row(&a, i); i++) {}
    tw_json_close(a.json, ']');
}
