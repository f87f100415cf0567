/* run.json: what was run, what it cost, how it ended. */
#define _GNU_SOURCE
#include <math.h>
#include <sys/resource.h>
#include <twang/parallel.h>

#include "base/fail.h"
#include "base/timer.h"
#include "io/json.h"
#include "run/run_internal.h"

double tw_run_wall_seconds(const tw_run *run)
{
    return run->earlier_seconds + tw_clock() - run->session_begin;
}

double tw_run_energy_scale(const tw_run *run)
{
    return fmax(run->memory.kinetic_max, 1e-9 * run->memory.energy_size_max);
}

double tw_run_energy_drift(const tw_run *run)
{
    double error = run->memory.energy_error_max;
    return error == 0.0 ? 0.0 : error / tw_run_energy_scale(run);
}

static int64_t peak_memory(void)
{
    struct rusage usage;
    return getrusage(RUSAGE_SELF, &usage) == 0 ? (int64_t)usage.ru_maxrss * 1024 : 0;
}

static void add_outcome(tw_run *run, tw_json *json, tw_run_state state, const tw_error *why)
{
    static const char *const words[] = {"running", "done", "failed", "interrupted"};
    tw_json_string(json, "name", tw_scene_name(run->scene));
    tw_json_string(json, "status", words[state]);
    tw_json_string(json, "status_code", why ? tw_status_name(why->status) : NULL);
    tw_json_string(json, "reason", why ? why->text : NULL);
    tw_json_string(json, "integrator", tw_scene_word(run->scene, "integrator.name"));
    tw_json_string(json, "phi", tw_scene_word(run->scene, "phi.name"));
}

static void add_costs(const tw_run *run, tw_json *json, const tw_integrator_statistics *s)
{
    double t = 0.0, wall = tw_run_wall_seconds(run);
    tw_integrator_state(run->integrator, &t, NULL);
    tw_json_string(json, "phi_engine",
                   s->engine == TW_PHI_ENGINE_COUNT ? NULL : tw_phi_engine_name(s->engine));
    tw_json_number(json, "wall_seconds", wall);
    tw_json_number(json, "simulated_seconds", t);
    tw_json_number(json, "duration", run->duration);
    tw_json_number(json, "real_time_factor", wall > 0.0 ? t / wall : 0.0);
    bool fixed = run->integrator_options.relative_tolerance == 0.0;
    if (fixed)
        tw_json_number(json, "step", s->steps > 0 ? s->last_step : run->integrator_options.step);
    else
        tw_json_null(json, "step");
    tw_json_number(json, "rtol", fixed ? INFINITY : run->integrator_options.relative_tolerance);
    tw_json_integer(json, "steps", s->steps);
    tw_json_integer(json, "rejected_steps", s->rejected_steps);
    tw_json_integer(json, "force_evaluations", s->force_evaluations);
    tw_json_integer(json, "difference_evaluations", s->difference_evaluations);
    tw_json_integer(json, "stiffness_products", s->stiffness_products);
    tw_json_integer(json, "linearizations", s->linearisations);
    tw_json_integer(json, "newton_iterations", s->newton_iterations);
    tw_json_integer(json, "solves", s->solves);
    tw_json_integer(json, "factorizations", s->factorisations);
    tw_json_integer(json, "frames", run->memory.frame_count);
    tw_json_integer(json, "peak_memory_bytes", peak_memory());
}

static void add_energies(const tw_run *run, tw_json *json)
{
    const tw_run_memory *m = &run->memory;
    /* not finite is written as null: there is no energy */
    tw_json_number(json, "energy_start", m->has_energy ? m->energy_start : INFINITY);
    tw_json_number(json, "energy_end", m->has_energy ? m->energy_end : INFINITY);
    tw_json_number(json, "damping_work", m->has_energy ? m->damping.sum : INFINITY);
    tw_json_number(json, "outside_work", m->has_energy ? m->outside.sum : INFINITY);
    tw_json_number(json, "energy_drift_max", m->has_energy ? tw_run_energy_drift(run) : INFINITY);
}

tw_status tw_run_write_record(tw_run *run, tw_run_state state, const tw_error *why, tw_error *error)
{
    char path[TW_FILE_PATH_SIZE];
    tw_status status = tw_file_path(path, run->directory, "run.json", error);
    if (status != TW_OK) return status;
    tw_integrator_statistics s = tw_integrator_statistics_now(run->integrator);
    tw_text_clear(&run->scratch);
    tw_json json = {.text = &run->scratch};
    tw_json_open(&json, NULL, '{');
    add_outcome(run, &json, state, why);
    add_costs(run, &json, &s);
    add_energies(run, &json);
    tw_json_number(&json, "resumed_at", run->resumed_at >= 0.0 ? run->resumed_at : INFINITY);
    tw_json_integer(&json, "threads", tw_threads());
    tw_json_string(&json, "version", tw_version());
    if (state == TW_RUN_DONE) tw_run_check_acceptance(run, &json);
    tw_json_close(&json, '}');
    if (run->scratch.failed) return tw_fail_plain(error, TW_OUT_OF_MEMORY);
    return tw_file_replace(path, run->scratch.bytes, run->scratch.size, error);
}
