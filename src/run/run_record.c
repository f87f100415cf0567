/* run.json: what was simulated, what it cost, how it ended. */
#define _GNU_SOURCE
#include <math.h>
#include <string.h>
#include <sys/resource.h>
#include <twang/parallel.h>

#include "base/allocate.h"
#include "base/fail.h"
#include "base/read_file.h"
#include "base/timer.h"
#include "io/json.h"
#include "run/run_internal.h"

double tw_run_wall_seconds(const tw_run *run)
{
    return run->earlier_seconds + tw_clock() - run->session_begin;
}

double tw_run_energy_drift(const tw_run *run)
{
    return tw_energy_balance_drift(&run->memory.balance, run->simulation, run->integrator);
}

/* In bytes; 0 if the system does not say. */
static int64_t peak_memory(void)
{
    enum { BYTES_PER_KILOBYTE = 1024 }; /* the unit of ru_maxrss on Linux */
    struct rusage usage;
    if (getrusage(RUSAGE_SELF, &usage) != 0) return 0;
    return (int64_t)usage.ru_maxrss * BYTES_PER_KILOBYTE;
}

static void add_outcome(const tw_run *run, tw_json *json, tw_run_state state, const tw_error *why)
{
    static const char *const words[] = {"running", "done", "failed", "interrupted"};
    tw_json_string(json, "name", tw_scene_name(run->scene));
    tw_json_string(json, "status", words[state]);

    /* NULL is written as null: nothing went wrong. */
    tw_json_string(json, "status_code", why ? tw_status_name(why->status) : NULL);
    tw_json_string(json, "reason", why ? why->text : NULL);

    tw_json_string(json, "integrator", tw_scene_word(run->scene, "integrator.name"));
    tw_json_string(json, "integrator_chosen", tw_scene_word(run->scene, "integrator.chosen"));
    tw_json_string(json, "phi", tw_scene_word(run->scene, "phi.name"));
}

static void add_times(const tw_run *run, tw_json *json)
{
    double t = 0.0;
    tw_integrator_state(run->integrator, &t, NULL);
    double wall = tw_run_wall_seconds(run);

    tw_json_number(json, "wall_seconds", wall);
    tw_json_number(json, "simulated_seconds", t);
    tw_json_number(json, "duration", run->duration);
    tw_json_number(json, "real_time_factor", wall > 0.0 ? t / wall : 0.0);
}

/* A fixed step has a size, adaptive steps have a tolerance: the other of the two is null. */
static void add_step_control(const tw_run *run, tw_json *json)
{
    const tw_integrator_options *options = &run->integrator_options;
    if (options->relative_tolerance == 0.0) {
        tw_json_number(json, "step", tw_run_fixed_step(run));
        tw_json_null(json, "rtol");
    } else {
        tw_json_null(json, "step");
        tw_json_number(json, "rtol", options->relative_tolerance);
    }
}

static void add_counts(const tw_run *run, tw_json *json, const tw_integrator_statistics *s)
{
    tw_json_integer(json, "steps", s->steps);
    tw_json_integer(json, "rejected_steps", s->rejected_steps);
    tw_json_integer(json, "force_evaluations", s->force_evaluations);
    tw_json_integer(json, "difference_evaluations", s->difference_evaluations);
    tw_json_integer(json, "stiffness_products", s->stiffness_products);
    tw_json_integer(json, "linearizations", s->linearisations);
    tw_json_integer(json, "newton_iterations", s->newton_iterations);
    tw_json_integer(json, "stalled_stages", s->stalled_stages);
    tw_json_integer(json, "buckled_stages", s->buckled_stages);
    tw_json_integer(json, "solves", s->solves);
    tw_json_integer(json, "factorizations", s->factorisations);
    tw_json_integer(json, "frames", run->memory.frame_count);
    tw_json_integer(json, "peak_memory_bytes", peak_memory());
}

/* An energy error above this share of the energy converted is no small error any more. */
static const double MUCH_ENERGY = 0.1;

/* The share of the error that must have vibrated unresolved since the first step for it to be said. */
static const double MUCH_OF_ERROR = 0.1;

tw_energy_verdict tw_run_energy_verdict(const tw_run *run)
{
    const tw_energy_balance *m = &run->memory.balance;
    if (!m->has_energy) return TW_ENERGY_UNKNOWN;
    if (tw_run_energy_drift(run) <= MUCH_ENERGY) return TW_ENERGY_KEPT;
    if (m->unresolved > MUCH_OF_ERROR * m->energy_error_max) return TW_ENERGY_UNRESOLVED;
    return TW_ENERGY_LOST;
}

static void add_energies(const tw_run *run, tw_json *json, tw_run_state state)
{
    const tw_energy_balance *m = &run->memory.balance;
    const struct {
        const char *key;
        double value;
    } rows[] = {
        {"energy_start", m->energy_start},
        {"energy_end", m->energy_end},
        {"damping_work", m->damping.sum},
        {"outside_work", m->outside.sum + m->driven.sum},
        {"contact_work", m->contact.sum},
        {"friction_work", m->friction.sum + m->sliding_work},
        {"plastic_work", m->plastic_work},
        {"energy_error_max", m->energy_error_max},
        {"energy_unresolved", m->unresolved},
        {"energy_drift_max", tw_run_energy_drift(run)},
        {"kinetic_resolved", tw_integrator_statistics_now(run->integrator).resolved_kinetic}};

    /* Where in a step the energies are taken. */
    bool at_stage = tw_integrator_energy_at_stage(run->integrator);
    tw_json_string(json, "energy_at", at_stage ? "stage" : "step end");

    /* A problem without energy has null in place of each. */
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (m->has_energy)
            tw_json_number(json, rows[i].key, rows[i].value);
        else
            tw_json_null(json, rows[i].key);
    }

    /* What the error means, for programs; null before the end. */
    static const char *const verdicts[] = {NULL, "kept", "unresolved", "lost"};
    tw_energy_verdict verdict = state == TW_RUN_DONE ? tw_run_energy_verdict(run) : 0;
    tw_json_string(json, "energy_verdict", verdicts[verdict]);
}

tw_status tw_run_write_record(tw_run *run, tw_run_state state, const tw_error *why, tw_error *error)
{
    char path[TW_FILE_PATH_SIZE];
    TW_TRY(tw_file_path(path, run->directory, "run.json", error));

    tw_integrator_statistics s = tw_integrator_statistics_now(run->integrator);
    bool has_engine = s.engine != TW_PHI_ENGINE_COUNT;
    bool is_resumed = run->resumed_at >= 0.0;

    tw_text_clear(&run->scratch);
    tw_json json = {.text = &run->scratch};
    tw_json_open(&json, NULL, '{');
    add_outcome(run, &json, state, why);
    tw_json_string(&json, "phi_engine", has_engine ? tw_phi_engine_name(s.engine) : NULL);
    add_times(run, &json);
    add_step_control(run, &json);
    add_counts(run, &json, &s);
    add_energies(run, &json, state);

    /* INFINITY is written as null. */
    tw_json_number(&json, "resumed_at", is_resumed ? run->resumed_at : INFINITY);
    tw_json_integer(&json, "threads", tw_threads());
    tw_json_string(&json, "version", tw_version());
    if (state == TW_RUN_DONE) tw_run_check_acceptance(run, &json);
    tw_json_close(&json, '}');

    if (run->scratch.failed) return tw_fail_plain(error, TW_OUT_OF_MEMORY);
    tw_status status = tw_file_replace(path, run->scratch.bytes, run->scratch.size, error);

    /* On a full disk there is no room for a new file, but the old one has its place. */
    if (status == TW_INPUT_OUTPUT && state == TW_RUN_FAILED)
        status = tw_file_overwrite(path, run->scratch.bytes, run->scratch.size, error);
    return status;
}

tw_status tw_run_abandon(const char *directory, tw_error *error)
{
    /* As add_outcome writes it. Quotation marks inside a name are escaped, so that it cannot occur
     * there. */
    static const char running[] = "\"status\": \"running\",\n  \"status_code\": null,\n  "
                                  "\"reason\": null";
    static const char interrupted[] = "\"status\": \"interrupted\",\n  \"status_code\": "
                                      "\"TW_INTERRUPTED\",\n  \"reason\": \"interrupted inside a "
                                      "step\"";
    if (!directory) return tw_fail_plain(error, TW_INVALID_ARGUMENT);

    char path[TW_FILE_PATH_SIZE];
    char *record = NULL;
    size_t size = 0;
    TW_TRY(tw_file_path(path, directory, "run.json", error));
    TW_TRY(tw_read_own_file(path, TW_READ_ALL, &record, &size, error));

    /* The new record is the old one with another outcome. */
    const char *outcome = strstr(record, running);
    tw_status status = TW_OK;
    if (outcome) {
        tw_text text = {0};
        tw_text_add_bytes(&text, record, (size_t)(outcome - record));
        tw_text_add(&text, "%s%s", interrupted, outcome + sizeof running - 1);
        status = text.failed ? tw_fail_plain(error, TW_OUT_OF_MEMORY)
                             : tw_file_replace(path, text.bytes, text.size, error);
        tw_text_free(&text);
    }
    tw_release(record);
    return status;
}
