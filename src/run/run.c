/* The run itself: a scene comes in, the integrator is driven, a directory goes out. */
#include <twang/run.h>

#include <math.h>
#include <string.h>
#include <twang/parallel.h>

#include "base/allocate.h"
#include "base/fail.h"
#include "base/number.h"
#include "base/read_file.h"
#include "base/timer.h"
#include "integrators/integrator_internal.h"
#include "io/checkpoint.h"
#include "run/run_internal.h"

/* Steps from one measurement to the next where each would cost as much as a step: then all of them
 * together cost a few hundredths of the run. Small problems are measured in every step. */
enum { SELDOM = 32, MANY_UNKNOWNS = 1000 };

/* Seconds between checkpoints, at least, and in units of the seconds that the last one took. */
static const double LEAST_INTERVAL = 2.0;
static const double WRITING_COSTS = 50.0;

/* An estimate of the highest frequency takes this many steps of the Lanczos process. */
enum { FREQUENCY_ITERATIONS = 60 };

tw_run_options tw_run_options_default(void)
{
    return (tw_run_options){0};
}

static bool are_possible(const tw_run_options *options)
{
    return options->threads >= 0 && options->duration >= 0.0 && isfinite(options->duration);
}

/* ---- setting up ---- */

static tw_status allocate(tw_run *run, tw_error *error)
{
    int64_t entries =
        tw_simulation_row_count(run->simulation) * tw_simulation_column_count(run->simulation);
    run->rows = tw_allocate_zeroed((size_t)entries, sizeof(double));
    run->u = TW_NEW_ARRAY(tw_simulation_state_size(run->simulation), double);
    if (!run->rows || !run->u) return tw_fail_plain(error, TW_OUT_OF_MEMORY);

    tw_run_prepare_table(run);
    return TW_OK;
}

static void read_settings(tw_run *run)
{
    run->integrator_options = tw_scene_integrator_options(run->scene);
    run->duration = tw_scene_duration(run->scene);
    run->fps = tw_scene_fps(run->scene);
    run->telemetry_every = (int64_t)tw_scene_number(run->scene, "output.telemetry_every", -1.0);
    run->checkpoint_every = tw_scene_number(run->scene, "output.checkpoint_every", -1.0);
}

/* Steps of explicit schemes cost little more than an energy. Where no power comes from outside or is lost to damping,
 * nothing is integrated from step to step, and it is enough to measure now and then: what impulses and flow
 * take is added up between. */
static void plan_measurements(tw_run *run)
{
    bool is_cheap =
        !tw_energy_balance_has_power(run->simulation) && run->integrator->scheme->is_explicit;
    bool is_large = tw_simulation_state_size(run->simulation) > 2 * MANY_UNKNOWNS;

    if (run->telemetry_every < 0) run->telemetry_every = is_cheap && is_large ? SELDOM : 1;
    run->measure_every = 1;
    if (is_cheap) run->measure_every = run->telemetry_every > 0 ? run->telemetry_every : SELDOM;
}

/* Refuses everything that can be refused, before anything is written. */
static tw_status prepare(tw_run *run, const tw_scene *scene, const tw_run_options *options,
                         tw_error *error)
{
    *run = (tw_run){.scene = scene,
                    .options = options,
                    .lock = -1,
                    .resumed_at = -1.0,
                    .telemetry.descriptor = -1};
    run->session_begin = tw_clock();
    run->threads_before = tw_threads();
    if (options->threads > 0) tw_set_threads(options->threads);
    read_settings(run);

    /* What does not fit together is found here. */
    TW_TRY(tw_scene_build(scene, &run->simulation, error));
    TW_TRY(tw_scene_create_integrator(scene, run->simulation, &run->integrator, error));

    /* A scheme with steps of its own has a tolerance where the scene gives none. */
    run->integrator_options.relative_tolerance = run->integrator->options.relative_tolerance;
    tw_integrator_on_interrupt(run->integrator, options->stop_now, options->context);
    plan_measurements(run);
    TW_TRY(allocate(run, error));
    return tw_run_create_frames(run, error);
}

static void release(tw_run *run)
{
    if (run->options->threads > 0) tw_set_threads(run->threads_before);

    tw_run_unlock_directory(run);
    tw_appender_close(&run->telemetry);
    tw_frame_writer_free(run->writer);
    tw_frames_free(run->frames);
    tw_integrator_free(run->integrator);
    tw_simulation_free(run->simulation);
    tw_text_free(&run->scratch);
    tw_release(run->snapshot);
    tw_release(run->rows);
    tw_release(run->u);
}

/* Brings the integrator to t = 0. What is wrong with a start is found here, before there is a
 * directory. */
static tw_status go_to_start(tw_run *run, tw_error *error)
{
    const double *start = tw_simulation_start(run->simulation);
    tw_status status = tw_integrator_start(run->integrator, 0.0, start, error);
    if (status == TW_OK)
        status =
            tw_energy_balance_begin(&run->memory.balance, run->simulation, run->integrator, error);
    if (status == TW_OK) status = tw_run_check_table(run, error);

    if (status == TW_OK || status == TW_OUT_OF_MEMORY || status == TW_INTERRUPTED) return status;

    /* A start from which nothing can be computed is the fault of the scene. */
    bool has_system = tw_scene_word(run->scene, "system.kind") != NULL;
    return tw_scene_blame(run->scene, has_system ? "system" : "bodies", error);
}

/* Writes the outputs at t = 0, and a checkpoint to resume from, into a directory that holds the
 * scene alone. */
static tw_status write_start(tw_run *run, tw_error *error)
{
    TW_TRY(tw_run_open_telemetry(run, error));
    TW_TRY(tw_frames_begin(run->frames, run->directory, TW_RUN_FRAME_FOLDER, 0, error));
    TW_TRY(tw_run_write_frames(run, error));
    return tw_run_write_checkpoint(run, error);
}

/* Brings the integrator to the checkpoint. */
static tw_status go_to_checkpoint(tw_run *run, tw_error *error)
{
    TW_TRY(tw_run_read_checkpoint(run, error));
    run->earlier_seconds = run->memory.wall_seconds;
    tw_integrator_state(run->integrator, &run->session_start, NULL);
    return TW_OK;
}

/* Opens the outputs where the checkpoint was. What was written after it is cut away and written
 * again, bit for bit. */
static tw_status open_outputs_again(tw_run *run, tw_error *error)
{
    TW_TRY(tw_frames_begin(run->frames, run->directory, TW_RUN_FRAME_FOLDER,
                           run->memory.frame_count, error));
    TW_TRY(tw_run_check_frames(run, TW_BAD_INPUT, error));
    return tw_run_open_telemetry(run, error);
}

/* ---- stepping ---- */

static void tell_progress(tw_run *run, double t)
{
    if (!run->options->progress) return;

    /* The energy error is relative to the energy scale. */
    const tw_energy_balance *m = &run->memory.balance;
    double wall = tw_run_wall_seconds(run);
    double scale = tw_energy_balance_scale(m, run->simulation, run->integrator);
    tw_run_progress progress = {.t = t,
                                .duration = run->duration,
                                .wall_seconds = wall,
                                .session_seconds = wall - run->earlier_seconds,
                                .session_start = run->session_start,
                                .steps = tw_integrator_statistics_now(run->integrator).steps,
                                .has_energy = m->has_energy != 0,
                                .energy_error = scale > 0.0 ? m->energy_error / scale : 0.0};

    run->options->progress(run->options->context, &progress);
}

static bool is_asked_to_stop(const tw_run *run)
{
    return run->options->stop && run->options->stop(run->options->context);
}

/* Seconds from one checkpoint to the next: as the user says, or so many that writing them takes a small share of the
 * run. */
static double checkpoint_interval(const tw_run *run)
{
    if (run->checkpoint_every >= 0.0) return run->checkpoint_every;
    return fmax(LEAST_INTERVAL, WRITING_COSTS * run->checkpoint_seconds);
}

static tw_status one_step(tw_run *run, double *t, tw_error *error)
{
    TW_TRY(tw_integrator_step(run->integrator, run->duration, error));

    /* After a failure in between, the state is ahead of the outputs, and no checkpoint may
     * be written. */
    run->outputs_lag = true;
    TW_TRY(tw_run_tell_step(run, error));
    TW_TRY(tw_run_write_frames(run, error));
    run->outputs_lag = false;

    tw_integrator_state(run->integrator, t, NULL);
    tell_progress(run, *t);

    /* The last step is followed by a checkpoint of its own, and cannot be interrupted. */
    if (*t >= run->duration) return TW_OK;
    if (tw_clock() - run->last_checkpoint >= checkpoint_interval(run))
        TW_TRY(tw_run_write_checkpoint(run, error));
    if (is_asked_to_stop(run)) return tw_fail(error, TW_INTERRUPTED, "interrupted at t = %g s", *t);
    return TW_OK;
}

static tw_status step_to_the_end(tw_run *run, tw_error *error)
{
    double t = 0.0;
    tw_integrator_state(run->integrator, &t, NULL);
    int64_t most = run->integrator_options.max_steps;

    while (t < run->duration) {
        /* Rejected steps count too, so that a run that makes no progress ends. */
        tw_integrator_statistics s = tw_integrator_statistics_now(run->integrator);
        if (s.steps + s.rejected_steps >= most)
            return tw_fail(error, TW_BUDGET_EXHAUSTED,
                           "integrator.max_steps %lld used up at t = %g s", (long long)most, t);
        TW_TRY(one_step(run, &t, error));
    }
    return TW_OK;
}

/* ---- the end ---- */

static tw_status finish_done(tw_run *run, tw_error *error)
{
    /* run.json says "done" only when everything else is on the disk. */
    TW_TRY(tw_run_write_checkpoint(run, error));
    TW_TRY(tw_run_check_outputs(run, error));
    TW_TRY(tw_run_write_table(run, "final.csv", error));
    TW_TRY(tw_run_write_record(run, TW_RUN_DONE, NULL, error));
    return tw_run_drop_last_good(run, error);
}

static tw_status finish_interrupted(tw_run *run, const tw_error *why, tw_error *error)
{
    TW_TRY(tw_run_write_checkpoint(run, error));
    return tw_run_write_record(run, TW_RUN_INTERRUPTED, why, error);
}

/* Writes what can be written. A full disk fails here too, and leaves the checkpoint before
 * it whole. */
static void finish_failed(tw_run *run, const tw_error *why)
{
    if (!run->outputs_lag) tw_run_write_checkpoint(run, NULL);
    run->has_last_good = tw_run_claim_last_good(run, NULL) == TW_OK &&
                         tw_run_write_table(run, TW_RUN_LAST_GOOD, NULL) == TW_OK;
    tw_run_write_record(run, TW_RUN_FAILED, why, NULL);
}

/* Ends a run whose stepping gave `status` and `error`. */
static tw_status finish(tw_run *run, tw_status status, tw_error *error)
{
    /* Where the trouble is: files and memory are no trouble of a body. */
    bool is_trouble = status != TW_OK && status != TW_INTERRUPTED && status != TW_INPUT_OUTPUT &&
                      status != TW_OUT_OF_MEMORY;
    if (is_trouble) tw_run_name_body(run, error);

    tw_error late = {0};
    tw_status ended = TW_INTERNAL;
    if (status == TW_OK) ended = finish_done(run, &late);
    if (status == TW_INTERRUPTED) ended = finish_interrupted(run, error, &late);
    if (ended == TW_OK) return status;

    /* The end itself has failed, which is then why the run failed. */
    if (late.status != TW_OK) {
        *error = late;
        status = ended;
    }
    finish_failed(run, error);
    return status;
}

/* The largest stable step of an explicit scheme, from the highest frequency of the forces. */
static double stable_step(const tw_run *run)
{
    double stability = run->integrator->scheme->stability;
    if (stability == 0.0) return 0.0;

    /* A bound that holds at any time, or else an estimate at the start. */
    double omega = tw_simulation_summarise(run->simulation).omega_bound;
    if (!(omega > 0.0) &&
        tw_simulation_frequency(run->simulation, FREQUENCY_ITERATIONS, &omega, NULL) != TW_OK)
        return 0.0;
    return omega > 0.0 ? stability / omega : 0.0;
}

double tw_run_fixed_step(const tw_run *run)
{
    const tw_integrator *integrator = run->integrator;
    if (run->integrator_options.relative_tolerance > 0.0) return 0.0;
    if (integrator->plan_count == 0) return run->integrator_options.step;
    return (integrator->plan_end - integrator->plan_start) / (double)integrator->plan_count;
}

static void fill_report(const tw_run *run, tw_run_report *report)
{
    if (!report) return;

    memcpy(report->directory, run->directory, sizeof report->directory);
    report->can_be_resumed = tw_run_can_be_resumed(run);
    tw_print(report->scene, sizeof report->scene, "%s", tw_scene_name(run->scene));
    report->scheme = run->integrator_options.scheme;
    report->resumed_at = run->resumed_at;
    tw_integrator_state(run->integrator, &report->t, NULL);
    report->wall_seconds = tw_run_wall_seconds(run);
    report->has_last_good = run->has_last_good;

    tw_integrator_statistics s = tw_integrator_statistics_now(run->integrator);
    report->steps = s.steps;
    report->step = tw_run_fixed_step(run);
    report->rejected_steps = s.rejected_steps;
    report->stalled_stages = s.stalled_stages;
    report->frames = run->memory.frame_count;

    report->has_energy = run->memory.balance.has_energy != 0;
    report->energy_drift_max = tw_run_energy_drift(run);
    report->energy_error_max = run->memory.balance.energy_error_max;
    report->energy_unresolved = run->memory.balance.unresolved;
    report->kinetic_resolved = s.resolved_kinetic;
    if (report->t >= run->duration) report->energy_verdict = tw_run_energy_verdict(run);
    report->tests = run->tests;
    report->tests_failed = run->tests_failed;
}

/* Steps to the end. The directory is locked, and integrator and outputs are where the
 * run begins. */
static tw_status drive(tw_run *run, tw_run_report *report, tw_error *error)
{
    run->last_checkpoint = tw_clock();
    tw_status status = tw_run_write_record(run, TW_RUN_RUNNING, NULL, error);
    if (status == TW_OK && run->options->started)
        run->options->started(run->options->context, run->directory);
    if (status == TW_OK) status = step_to_the_end(run, error);

    status = finish(run, status, error);
    fill_report(run, report);
    if (report && status != TW_OK && status != TW_INTERRUPTED)
        report->stable_step = stable_step(run);
    return status;
}

/* ---- a new run ---- */

static tw_status run_in_new_directory(tw_run *run, tw_run_report *report, tw_error *error)
{
    TW_TRY(go_to_start(run, error));
    TW_TRY(tw_run_make_directory(run, error));
    tw_status status = write_start(run, error);
    if (status == TW_OK) return drive(run, report, error);

    /* Where there is no room for a word about it, nothing of the run stays. Else the scene is in the
     * directory, and the report names it, so that the run can be resumed. */
    if (tw_run_write_record(run, TW_RUN_FAILED, error, NULL) != TW_OK)
        tw_run_remove_directory(run);
    else if (status == TW_INPUT_OUTPUT)
        fill_report(run, report);
    return status;
}

tw_status tw_run_scene(const tw_scene *scene, const tw_run_options *options, tw_run_report *report,
                       tw_error *error)
{
    tw_error unseen = {0};
    tw_run_options defaults = tw_run_options_default();
    if (!error) error = &unseen;
    if (!options) options = &defaults;
    if (!scene || !are_possible(options)) return tw_fail_plain(error, TW_INVALID_ARGUMENT);
    if (report) *report = (tw_run_report){.resumed_at = -1.0};

    tw_run run;
    tw_status status = prepare(&run, scene, options, error);
    if (status == TW_OK) status = run_in_new_directory(&run, report, error);
    release(&run);
    return status;
}

/* ---- a resumed run ---- */

tw_status tw_run_load_scene(const char *directory, int count, const tw_scene_setting *settings,
                            tw_scene **scene, tw_error *error)
{
    char path[TW_FILE_PATH_SIZE];
    TW_TRY(tw_file_path(path, directory, "scene.yaml", error));
    if (!tw_file_exists(path))
        return tw_fail(error, TW_BAD_INPUT,
                       "%s: holds no run (no scene.yaml in it), name the directory of one",
                       directory);
    TW_TRY(tw_file_expect_regular(path, error));
    return tw_scene_load(path, count, settings, scene, error);
}

/* Whether run.json says "done": it is the last file that a run writes. */
static bool is_finished(const tw_run *run)
{
    double t = 0.0;
    tw_integrator_state(run->integrator, &t, NULL);
    if (t < run->duration) return false;

    char path[TW_FILE_PATH_SIZE];
    char *text = NULL;
    size_t size = 0;
    if (tw_file_path(path, run->directory, "run.json", NULL) != TW_OK) return false;
    if (tw_read_own_file(path, TW_READ_ALL, &text, &size, NULL) != TW_OK) return false;
    bool done = strstr(text, "\"status\": \"done\"") != NULL;
    tw_release(text);
    return done;
}

/* A run that was killed before its first checkpoint begins again. */
static tw_status begin_again(tw_run *run, tw_error *error)
{
    TW_TRY(tw_run_hash_scene(run, &run->memory.scene_hash, error));
    TW_TRY(tw_run_hash_files(run, &run->memory.files_hash, error));
    TW_TRY(go_to_start(run, error));
    return write_start(run, error);
}

static tw_status resume_in_directory(tw_run *run, tw_run_report *report, tw_error *error)
{
    TW_TRY(tw_run_lock_directory(run, error));
    TW_TRY(tw_run_check_files(run, error));
    char path[TW_FILE_PATH_SIZE];
    TW_TRY(tw_file_path(path, run->directory, "checkpoint.bin", error));
    bool has_checkpoint = tw_file_exists(path);
    if (has_checkpoint)
        TW_TRY(go_to_checkpoint(run, error));
    else
        TW_TRY(begin_again(run, error));
    run->resumed_at = run->session_start;

    /* Of a finished run nothing is touched: its directory may be read-only. */
    if (has_checkpoint && is_finished(run)) {
        fill_report(run, report);
        if (report) report->was_finished = true;
        return TW_OK;
    }

    /* Where the run gets a new end, it needs room for more frames. */
    bool has_new_end = run->options->duration > 0.0;
    if (has_new_end) TW_TRY(tw_run_check_room(run, error));
    if (has_checkpoint) TW_TRY(open_outputs_again(run, error));
    if (has_new_end) TW_TRY(tw_run_extend_directory(run, error));
    TW_TRY(tw_run_restore_manifest(run, error));
    return drive(run, report, error);
}

/* The scene in the directory, with another end if the options ask for one. What the scene expects of
 * a run is for its own end. */
static tw_status load_scene_to_resume(const char *directory, double duration, tw_scene **scene,
                                      tw_error *error)
{
    char value[TW_NUMBER_SIZE];
    tw_number_print(value, duration);
    const tw_scene_setting settings[] = {{"--duration", "duration", value},
                                         {"--duration", "tests", NULL}};
    return tw_run_load_scene(directory, duration > 0.0 ? 2 : 0, settings, scene, error);
}

tw_status tw_run_resume(const char *directory, const tw_run_options *options, tw_run_report *report,
                        tw_error *error)
{
    tw_error unseen = {0};
    tw_run_options defaults = tw_run_options_default();
    if (!error) error = &unseen;
    if (!options) options = &defaults;
    if (!directory || !are_possible(options)) return tw_fail_plain(error, TW_INVALID_ARGUMENT);
    if (report) *report = (tw_run_report){.resumed_at = -1.0};

    tw_scene *scene = NULL;
    TW_TRY(load_scene_to_resume(directory, options->duration, &scene, error));
    tw_run run;
    tw_status status = prepare(&run, scene, options, error);
    if (status == TW_OK) status = tw_run_set_directory(&run, directory, error);
    if (status == TW_OK) status = resume_in_directory(&run, report, error);

    release(&run);
    tw_scene_free(scene);
    return status;
}
