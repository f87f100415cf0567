/** @file run.h
 *  A scene run into a directory: frames, telemetry, checkpoints, and a record of what happened.
 *
 *  What is in the directory: `scene.yaml` (the scene with its settings and defaults), `run.json`
 *  (the record), `telemetry.csv` (a row per step), `frames/`, `checkpoint.bin`, and at the end
 *  `final.csv`. `manifest.txt` lists what the run writes; nothing else is ever removed or replaced,
 *  and no link inside the directory is followed. A kill at any moment leaves the last checkpoint whole; tw_run_resume goes on from
 *  it and gives bitwise the run that was not interrupted.
 */
#ifndef TWANG_RUN_H
#define TWANG_RUN_H

#include <stdbool.h>
#include <twang/scene.h>

#ifdef __cplusplus
extern "C" {
#endif

/** The integral of a power over time. */
typedef struct tw_work_sum {
    double sum;    /**< [J] */
    double now;    /**< power when it was last measured [W] */
    double before; /**< power when it was measured before that [W] */
} tw_work_sum;

/** Energy that impulses took between steps. Where energy is measured inside a step, what was taken at
 *  its end belongs to the next measurement. */
typedef struct tw_loss_sum {
    double sum;  /**< [J] */
    double next; /**< of the next measurement [J] */
} tw_loss_sum;

/** The energy balance of an integration. The energy, with all that was taken and without what came from
 *  outside, is constant but for errors of the integrator: energy_error is how much it has changed. */
typedef struct tw_energy_balance {
    int64_t has_energy;      /**< 0: the problem has none, and all below are 0 */
    double energy_start;     /**< [J] */
    double potential_start;  /**< its potential part [J] */
    double energy_end;       /**< now [J] */
    double energy_error;     /**< now [J] */
    double energy_error_max; /**< largest so far [J] */
    double unresolved;       /**< what the first stage does not show of the energy [J] */
    double converted_max;    /**< largest of kinetic and |potential - potential_start| so far [J] */
    double energy_size_max;  /**< largest kinetic + |potential| so far [J] */
    double measured_t;       /**< time of the last measurement [s] */
    double measured_step;    /**< from the measurement before to the last one [s] */
    tw_work_sum damping;     /**< energy that damping took */
    tw_work_sum outside;     /**< energy that came from outside */
    tw_loss_sum contact;     /**< energy that impacts took */
    tw_loss_sum friction;    /**< energy that friction of contacts took */
    double sliding_work;     /**< energy that friction over a length took */
    double plastic_work;     /**< energy that plastic flow took */
    tw_loss_sum driven;      /**< work of whoever moves obstacles, in impacts and friction */
    double contact_impulse[3]; /**< on all obstacles [N s] */
} tw_energy_balance;

/** Begins the balance at the state of an integrator that was started and has made no step. */
TW_API tw_status tw_energy_balance_begin(tw_energy_balance *balance, tw_simulation *simulation,
                                         tw_integrator *integrator, tw_error *error);
/** Adds what happened since the last time, after a step; `last` is what was measured. Where
 *  tw_energy_balance_has_power() it is called after every step, elsewhere after the first and any later
 *  ones, unless energies are taken at stages. TW_NOT_FINITE if energy or momentum are too large. */
TW_API tw_status tw_energy_balance_add(tw_energy_balance *balance, tw_simulation *simulation,
                                       tw_integrator *integrator, tw_measurement *last,
                                       tw_error *error);
/** The energy now, with all that was taken and without what came from outside [J]; 0 if it is not finite. */
TW_API double tw_energy_balance_accounted(const tw_energy_balance *balance);
/** Whether power comes from outside or is lost to damping, and is integrated from step to step. What
 *  impulses and flow take is added up between measurements. */
TW_API bool tw_energy_balance_has_power(const tw_simulation *simulation);
/** energy_error_max relative to the energy converted; 0 without an energy. */
TW_API double tw_energy_balance_drift(const tw_energy_balance *balance,
                                      const tw_simulation *simulation,
                                      const tw_integrator *integrator);

/** How far a run is. */
typedef struct tw_run_progress {
    double t, duration;     /**< simulated time [s], and where it ends */
    double wall_seconds;    /**< spent so far, by the runs before a resume too */
    double session_seconds; /**< spent since this call began */
    double session_start;   /**< t when this call began: 0, or where the checkpoint was */
    int64_t steps;          /**< accepted so far */
    bool has_energy;
    double energy_error; /**< |E - E(0)| relative to the energy converted so far */
} tw_run_progress;

/** How to run. Start from tw_run_options_default(). */
typedef struct tw_run_options {
    /** NULL (default): runs/NAME-N with the first N from 1 that is free. Not for resume. */
    const char *directory;
    /** Replace a run that is in `directory` already, as far as its manifest goes; a directory that is
     *  no run is refused. Default false: refuse every directory that exists. */
    bool force;
    int threads; /**< 0 (default): as many as tw_threads() says */
    /** For tw_run_resume: simulate up to this time [s], beyond the end that the scene of the run has,
     *  or before it. 0 (default): the end of the scene. */
    double duration;
    /** Called after every step; NULL (default). */
    void (*progress)(void *context, const tw_run_progress *progress);
    /** Asked after every step: true ends the run with a checkpoint and TW_INTERRUPTED; NULL
     *  (default). May look at something that a signal handler sets. */
    bool (*stop)(void *context);
    /** Asked often inside a step: true ends the run with the checkpoint of the step before and
     *  TW_INTERRUPTED; NULL (default). It must be quick: reading what a signal handler sets is. */
    bool (*stop_now)(void *context);
    /** Called once the directory is known and before the first step; NULL (default). */
    void (*started)(void *context, const char *directory);
    void *context; /**< handed to all */
} tw_run_options;
TW_API tw_run_options tw_run_options_default(void);

enum { TW_RUN_DIRECTORY_SIZE = 4096, TW_RUN_NAME_SIZE = 256 };

/** What the energy error of a run means. */
typedef enum tw_energy_verdict {
    TW_ENERGY_UNKNOWN, /**< the run has no energy, or did not come to its end */
    TW_ENERGY_KEPT,    /**< the error is at most a tenth of the energy converted */
    /** It is more, but a tenth of it or more has vibrated since the first step in modes that the
     *  step does not resolve. */
    TW_ENERGY_UNRESOLVED,
    TW_ENERGY_LOST /**< it is more: the run is not to be trusted */
} tw_energy_verdict;

/** The result of a run. */
typedef struct tw_run_report {
    char directory[TW_RUN_DIRECTORY_SIZE]; /**< empty if the run has none */
    char scene[TW_RUN_NAME_SIZE];          /**< name of the scene, cut to that length */
    tw_scheme scheme;                      /**< that integrated it */
    bool was_finished;                     /**< resume: there was nothing left to do */
    bool has_last_good;                    /**< it failed, and last_good.csv was written */
    bool can_be_resumed;                   /**< what tw_run_resume needs is there */
    double resumed_at;   /**< simulated time from which it went on; -1 for a new run */
    double t;            /**< simulated time reached [s] */
    double wall_seconds; /**< of this call and of those before a resume */
    int64_t steps, rejected_steps, frames; /**< in total */
    int64_t stalled_stages; /**< of tw_integrator_statistics: stages with few digits */
    /** Size of the fixed steps, T/ceil(T/step) [s]; 0 if they were adaptive. Over contacts a step
     *  may be divided, and `steps` counts its parts. */
    double step;
    /** Of an explicit scheme that failed: its largest stable step, from the highest frequency [s].
     *  0: not known, or there is none. */
    double stable_step;
    bool has_energy;
    double energy_error_max; /**< largest |E - E(0)|, E the energy less the work done [J] */
    double energy_drift_max; /**< the same relative to the energy converted */
    /** What the stage of the first step does not show of the energy: vibrations that the step does
     *  not resolve [J]. 0 where energies are taken at step ends. */
    double energy_unresolved;
    double kinetic_resolved;          /**< largest kinetic energy of the stages [J]; 0 as above */
    tw_energy_verdict energy_verdict; /**< of the three above */
    /** Number of acceptance values of the scene, and of those that were not reproduced. */
    int tests, tests_failed;
} tw_run_report;

/** Runs the scene. TW_OK: done. TW_BAD_INPUT: refused before it began (also for an existing
 *  directory). TW_INTERRUPTED: stopped, with a checkpoint. TW_INPUT_OUTPUT: the directory could not
 *  be written. Anything else: the integration failed; run.json says why, last_good.csv has the last
 *  good state, and the checkpoint is that state. `report` may be NULL. */
TW_API tw_status tw_run_scene(const tw_scene *scene, const tw_run_options *options,
                              tw_run_report *report, tw_error *error);

/** Goes on with a run from its last checkpoint; at once TW_OK if it is finished. With
 *  options->duration a finished run is extended: scene.yaml in the directory gets the new end, without
 *  the values that the scene expects at the old one. TW_BAD_INPUT if there is nothing to resume, or the scene in the directory, a file that it reads or the version of
 *  the library has changed. cvode starts anew there and says so; all other schemes go on bitwise. */
TW_API tw_status tw_run_resume(const char *directory, const tw_run_options *options,
                               tw_run_report *report, tw_error *error);

/** Says in run.json that the run in `directory` was interrupted, for a program that has to end while a
 *  step goes on and cannot be stopped: it calls this, on any thread, and ends itself. The checkpoint
 *  before the step is whole, and tw_run_resume goes on from it. TW_OK, too, if run.json does not say
 *  "running". */
TW_API tw_status tw_run_abandon(const char *directory, tw_error *error);

#ifdef __cplusplus
}
#endif
#endif
