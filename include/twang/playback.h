/** @file playback.h
 *  The frames that a run has stored: read back, or converted for other programs.
 *
 *      tw_playback *playback;
 *      tw_playback_open("runs/coil-1", &playback, &error);
 *      const tw_simulation *simulation = tw_playback_simulation(playback);
 *      for (int64_t i = 0; i < tw_playback_frame_count(playback); i++)
 *          tw_playback_read(playback, i, &t, rows, &error);
 *      tw_playback_free(playback);
 *
 *  The displays of the simulation say what its bodies look like; rows are those of
 *  tw_simulation_rows.
 */
#ifndef TWANG_PLAYBACK_H
#define TWANG_PLAYBACK_H

#include <twang/run.h>

#ifdef __cplusplus
extern "C" {
#endif

/** The stored frames of a run. One thread at a time. */
typedef struct tw_playback tw_playback;

/** Opens the directory of a run, finished or not, whose frames are csv or vtu (these hold all of a
 *  state; the others hold surfaces). TW_BAD_INPUT if there is no run, or it has none of these. */
TW_API tw_status tw_playback_open(const char *directory, tw_playback **out, tw_error *error);
/** Frees; accepts NULL. */
TW_API void tw_playback_free(tw_playback *playback);

/** The scene of the run; owned by the playback. */
TW_API const tw_scene *tw_playback_scene(const tw_playback *playback);
/** The simulation as at its start; owned by the playback. */
TW_API const tw_simulation *tw_playback_simulation(const tw_playback *playback);
/** Frames that are whole. The last one of a run that was killed may be half written: then it is not
 *  counted. */
TW_API int64_t tw_playback_frame_count(const tw_playback *playback);
/** Frame `index`: its time and its rows, row_count * column_count of the simulation. TW_BAD_INPUT
 *  if the file is damaged. `t` may be NULL. */
TW_API tw_status tw_playback_read(tw_playback *playback, int64_t index, double *t, double *rows,
                                  tw_error *error);

/** How to convert. Start from tw_export_options_default(). */
typedef struct tw_export_options {
    const char *format;    /**< "vtu" (default), "ply", "obj", "pc2" or "csv" */
    const char *directory; /**< where to; NULL (default): beside the frames of the run */
    /** Called after every frame; NULL (default). */
    void (*progress)(void *context, int64_t done, int64_t frames);
    void *context;
} tw_export_options;
TW_API tw_export_options tw_export_options_default(void);

/** What was written. */
typedef struct tw_export_report {
    int64_t frames;
    /** What to open: the index of a series, or the folder of the files. */
    char path[TW_RUN_DIRECTORY_SIZE + 128];
} tw_export_report;

/** Converts the stored frames of a run. Frames of that format which are there are replaced.
 *  TW_BAD_INPUT for an unknown format, for one that the frames have already, or where
 *  tw_playback_open refuses; TW_INPUT_OUTPUT if it cannot be written. `options` and `report` may be
 *  NULL. */
TW_API tw_status tw_run_export(const char *directory, const tw_export_options *options,
                               tw_export_report *report, tw_error *error);

#ifdef __cplusplus
}
#endif
#endif
