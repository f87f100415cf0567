/* A run in progress: what the files of this room share. */
#ifndef TW_RUN_INTERNAL_H
#define TW_RUN_INTERNAL_H

#include <twang/run.h>

#include "io/file.h"
#include "io/frames.h"
#include "io/json.h"

/* A power, added up. */
typedef struct tw_run_work {
    double sum;         /* [J] */
    double now, before; /* the power when last measured, and the time before [W] */
} tw_run_work;

/* What a resumed run must know besides the integrator's own state. Travels through the checkpoint as it is. */
typedef struct tw_run_memory {
    uint64_t scene_hash;     /* of scene.yaml's bytes */
    int64_t telemetry_bytes; /* of telemetry.csv */
    int64_t frame_count;     /* frames written */
    double wall_seconds;     /* spent up to the checkpoint */
    int64_t has_energy;
    double energy_start, energy_end;
    double energy_error, energy_error_max; /* now, and the largest */
    double kinetic_max, energy_size_max;   /* energy_size: kinetic + |potential| */
    double measured_t, measured_step;      /* when last, and how long after the time before */
    tw_run_work damping, outside;
    int64_t products_told, solves_told; /* counted in the telemetry rows so far */
} tw_run_memory;

typedef enum tw_run_state {
    TW_RUN_RUNNING,
    TW_RUN_DONE,
    TW_RUN_FAILED,
    TW_RUN_INTERRUPTED
} tw_run_state;

typedef struct tw_run {
    const tw_scene *scene;
    const tw_run_options *options;
    char directory[TW_RUN_DIRECTORY_SIZE];
    int lock; /* descriptor of the locked directory; -1 if not locked */

    tw_simulation *simulation;
    tw_integrator_options integrator_options;
    tw_integrator *integrator;
    double duration, fps;

    tw_run_memory memory;
    bool outputs_lag;       /* the integrator has taken a step that is not yet told in full */
    int threads_before;     /* of the calling thread, put back at the end */
    double session_begin;   /* clock */
    double earlier_seconds; /* wall time of the sessions before this one */
    double session_start;   /* t at which this session began */
    double resumed_at;      /* -1: a new run */

    tw_table table;  /* of the state last asked for; values are rows */
    double *rows;    /* row_count * column_count */
    double *u;       /* a state between steps */
    tw_text scratch; /* text under construction */
    tw_appender telemetry;
    int64_t telemetry_every;
    tw_frames *frames;
    double checkpoint_every, last_checkpoint; /* [s]; clock */
    void *snapshot;                           /* the integrator's bytes */
    size_t snapshot_capacity;
    int tests, tests_failed;
} tw_run;

/* run_directory.c */
/* Makes the directory of a new run, with scene.yaml inside, and locks it. */
tw_status tw_run_make_directory(tw_run *run, tw_error *error);
/* Says where the run is. */
tw_status tw_run_set_directory(tw_run *run, const char *directory, tw_error *error);
/* Locks a directory against other commands; close `*lock` (-1: not opened) to unlock it. */
tw_status tw_run_lock(const char *directory, int *lock, tw_error *error);
tw_status tw_run_lock_directory(tw_run *run, tw_error *error);
void tw_run_unlock_directory(tw_run *run);

/* run_telemetry.c */
tw_status tw_run_open_telemetry(tw_run *run, tw_error *error);
tw_status tw_run_measure_start(tw_run *run, tw_error *error);
/* Energies of the state now, and its row in telemetry.csv. */
tw_status tw_run_tell_step(tw_run *run, tw_error *error);

/* run_frames.c */
#define TW_RUN_FRAME_FOLDER "frames"
/* The formats a scene asks for, as a set; 0 if it has no frames. */
unsigned tw_run_frame_formats(const tw_scene *scene);
tw_status tw_run_create_frames(tw_run *run, tw_error *error);
/* When frame `index` is. */
double tw_run_frame_time(int64_t index, double fps, double duration);
void tw_run_prepare_table(tw_run *run);
tw_status tw_run_write_table(tw_run *run, const char *name, tw_error *error);
/* Every frame whose time the last step passed (or, before the first step, the one at t = 0). */
tw_status tw_run_write_frames(tw_run *run, tw_error *error);

/* run_checkpoint.c */
tw_status tw_run_write_checkpoint(tw_run *run, tw_error *error);
/* Restores memory and integrator; TW_INPUT_OUTPUT if there is no checkpoint. */
tw_status tw_run_read_checkpoint(tw_run *run, tw_error *error);
/* Of the bytes of scene.yaml as they are now. */
tw_status tw_run_hash_scene(const tw_run *run, uint64_t *hash, tw_error *error);

/* run_record.c: run.json. `why` is NULL unless the run failed. */
tw_status tw_run_write_record(tw_run *run, tw_run_state state, const tw_error *why,
                              tw_error *error);
double tw_run_wall_seconds(const tw_run *run);
double tw_run_energy_drift(const tw_run *run);
/* What energy errors are measured by: the largest kinetic energy, where rounding of the energies is small beside it. */
double tw_run_energy_scale(const tw_run *run);

/* run_acceptance.c: the scene's `tests` against the final rows, into the record. */
void tw_run_check_acceptance(tw_run *run, tw_json *json);

#endif
