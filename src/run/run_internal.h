/* A run in progress: what the files of this room share. */
#ifndef TW_RUN_INTERNAL_H
#define TW_RUN_INTERNAL_H

#include <twang/parents.h>
#include <twang/playback.h>

#include "io/file.h"
#include "io/frames.h"
#include "io/json.h"
#include "run/frame_writer.h"

/* What a resumed run must know besides the integrator's own state. The checkpoint holds
 * its bytes. */
typedef struct tw_run_memory {
    uint64_t scene_hash;       /* of scene.yaml's bytes */
    uint64_t former_hash;      /* of scene.yaml before the run was extended; 0: it never was */
    uint64_t files_hash;       /* of the bytes of all files that the scene names */
    int64_t telemetry_bytes;   /* of telemetry.csv */
    int64_t frame_count;       /* frames written */
    double wall_seconds;       /* spent up to the checkpoint */
    tw_energy_balance balance; /* of the energy */
    int64_t products_told;     /* products counted in the telemetry rows so far */
    int64_t solves_told;       /* solves counted in them */
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
    bool made_directory; /* it was not there before */
    tw_parents parents;  /* those above it that were not there either */
    int lock;            /* descriptor of the locked directory; -1 if not locked */

    tw_simulation *simulation;
    tw_integrator_options integrator_options;
    tw_integrator *integrator;
    double duration; /* simulated time [s] */
    double fps;      /* frames per simulated second */

    tw_run_memory memory;
    bool outputs_lag;       /* the integrator has taken a step that is not written in full yet */
    int threads_before;     /* of the calling thread, put back at the end */
    double session_begin;   /* of the clock [s] */
    double earlier_seconds; /* wall time of the sessions before this one [s] */
    double session_start;   /* simulated time at which this session began [s] */
    double resumed_at;      /* simulated time [s]; -1: a new run */

    tw_table table;  /* of the last state written; its values are `rows` */
    double *rows;    /* row_count * column_count */
    double *u;       /* a state between steps */
    tw_text scratch; /* text under construction */
    tw_appender telemetry;
    int64_t telemetry_every; /* steps per row; 0: no rows */
    int64_t measure_every;   /* steps from one measurement of the energy to the next */
    tw_frames *frames;
    tw_frame_writer *writer;   /* of the frames; NULL without frames */
    double checkpoint_every;   /* [s] of wall time; negative: not given */
    double last_checkpoint;    /* of the clock [s] */
    double checkpoint_seconds; /* that writing the last one took */
    void *snapshot;            /* the integrator's bytes */
    size_t snapshot_capacity;
    bool has_last_good; /* the run has failed, and its last good state is in a file */
    int tests;          /* acceptance values that were checked */
    int tests_failed;   /* those that were wrong */
} tw_run;

/* The frames of a run, read back. */
struct tw_playback {
    tw_scene *scene;
    tw_simulation *simulation;
    tw_table table; /* without values: what a frame must look like */
    double fps;
    double duration;
    unsigned format; /* in which frames are stored: TW_FRAMES_CSV or TW_FRAMES_VTU */
    int64_t frame_count;
    char folder[TW_FILE_PATH_SIZE];
};

/* run.c */
/* Loads the scene in the directory of a run, with settings; TW_BAD_INPUT if it holds none. */
tw_status tw_run_load_scene(const char *directory, int count, const tw_scene_setting *settings,
                            tw_scene **scene, tw_error *error);

/* run_directory.c */
#define TW_RUN_LAST_GOOD "last_good.csv"
/* Makes the directory of a new run, with scene.yaml inside, and locks it. */
tw_status tw_run_make_directory(tw_run *run, tw_error *error);
/* Removes what a run that could not begin has written, and the directories that it made. */
void tw_run_remove_directory(tw_run *run);
/* TW_BAD_INPUT if one of the run's files is a link, or no file at all but a pipe, say. */
tw_status tw_run_check_files(const tw_run *run, tw_error *error);
/* Refuses to replace somebody else's files by frames that the run did not have before. */
tw_status tw_run_check_room(tw_run *run, tw_error *error);
/* Writes the manifest of a run that lost it. */
tw_status tw_run_restore_manifest(const tw_run *run, tw_error *error);
/* Fails with this status if somebody removed a frame that the last checkpoint counts. */
tw_status tw_run_check_frames(const tw_run *run, tw_status status, tw_error *error);
/* TW_INPUT_OUTPUT if somebody removed one of them, or the manifest, while the run went on. */
tw_status tw_run_check_outputs(const tw_run *run, tw_error *error);
/* Whether the scene and the frames that the last checkpoint counts are there. */
bool tw_run_can_be_resumed(const tw_run *run);
/* Enters the file of the last good state in the manifest; TW_BAD_INPUT if somebody else's is there. */
tw_status tw_run_claim_last_good(const tw_run *run, tw_error *error);
/* Removes it, and its name, if an earlier session wrote it. */
tw_status tw_run_drop_last_good(const tw_run *run, tw_error *error);
/* Writes scene.yaml and the manifest of a run whose scene ends later than before. The outputs are open.
 * After a kill in between, the directory holds the run with its former end. */
tw_status tw_run_extend_directory(tw_run *run, tw_error *error);
/* Sets run->directory, for a run that is there already. */
tw_status tw_run_set_directory(tw_run *run, const char *directory, tw_error *error);
/* Locks a directory against other commands; close `*lock` (-1: not opened) to unlock it. */
tw_status tw_run_lock(const char *directory, int *lock, tw_error *error);
tw_status tw_run_lock_directory(tw_run *run, tw_error *error);
void tw_run_unlock_directory(tw_run *run);

/* run_telemetry.c */
tw_status tw_run_open_telemetry(tw_run *run, tw_error *error);
/* Measures the state after a step, and writes its row in telemetry.csv. */
tw_status tw_run_tell_step(tw_run *run, tw_error *error);

/* run_frames.c */
#define TW_RUN_FRAME_FOLDER "frames"
/* The formats a scene asks for, as a set; 0 if it has no frames. */
unsigned tw_run_frame_formats(const tw_scene *scene);
/* Whether the scene asks for frames with y up. */
bool tw_run_y_is_up(const tw_scene *scene);
tw_status tw_run_create_frames(tw_run *run, tw_error *error);
/* The simulated time of frame `index` [s]. */
double tw_run_frame_time(int64_t index, double fps, double duration);
/* How many frames a whole run has. */
int64_t tw_run_frame_total(double fps, double duration);
void tw_run_prepare_table(tw_run *run);
/* Whether the state now can be written: TW_NOT_FINITE if a value is too large. */
tw_status tw_run_check_table(tw_run *run, tw_error *error);
/* Writes the state now as a table, to final.csv or last_good.csv. */
tw_status tw_run_write_table(tw_run *run, const char *name, tw_error *error);
/* Hands over every frame that the last step has passed; before the first step the frame at t = 0. */
tw_status tw_run_write_frames(tw_run *run, tw_error *error);
/* Brings all of them to the disk. */
tw_status tw_run_flush_frames(tw_run *run, tw_error *error);

/* run_checkpoint.c */
tw_status tw_run_write_checkpoint(tw_run *run, tw_error *error);
/* Restores memory and integrator; TW_INPUT_OUTPUT if there is no checkpoint. */
tw_status tw_run_read_checkpoint(tw_run *run, tw_error *error);
/* The hashes of scene.yaml and of the files that the scene names, as they are now. */
tw_status tw_run_hash_scene(const tw_run *run, uint64_t *hash, tw_error *error);
tw_status tw_run_hash_files(const tw_run *run, uint64_t *hash, tw_error *error);

/* run_record.c: run.json. `why` is NULL unless the run failed. */
tw_status tw_run_write_record(tw_run *run, tw_run_state state, const tw_error *why,
                              tw_error *error);
double tw_run_wall_seconds(const tw_run *run);
double tw_run_energy_drift(const tw_run *run);
tw_energy_verdict tw_run_energy_verdict(const tw_run *run);
/* The size of the fixed steps [s]; 0 if they are adaptive. (run.c) */
double tw_run_fixed_step(const tw_run *run);

/* energy_balance.c */
/* What energy errors are relative to: the energy converted, unless that is so small that an error is
 * mostly rounding. */
double tw_energy_balance_scale(const tw_energy_balance *balance, const tw_simulation *simulation,
                               const tw_integrator *integrator);

/* run_diagnosis.c: adds to the error of a run that failed which body is deformed most. */
void tw_run_name_body(const tw_run *run, tw_error *error);

/* run_acceptance.c: the scene's `tests` against the final rows, into the record. */
void tw_run_check_acceptance(tw_run *run, tw_json *json);

#endif
