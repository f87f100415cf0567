/* Frames: the state at regular times, for other programs. csv, vtu, ply and obj are a file per frame; vtu has an index
 * of them besides (frames.pvd); pc2 is one file per body that grows (NAME.pc2, with the body at frame 0 in NAME.obj).
 *
 * Every frame is a function of its state alone, so a run that goes on from a checkpoint writes the same bytes: what was
 * written after it is cut away by tw_frames_begin. */
#ifndef TW_IO_FRAMES_H
#define TW_IO_FRAMES_H

#include <stdint.h>
#include <twang/model.h>

#include "base/text.h"

/* A state as a table, row after row. */
typedef struct tw_table {
    int64_t row_count;
    int column_count;
    const char *columns[16];
    const double *values;
} tw_table;

/* The table of a simulation's rows. */
tw_table tw_table_of(const tw_simulation *simulation, const double *values);
/* A header line and a line per row, 17 digits. */
void tw_table_to_csv(const tw_table *table, tw_text *text);

typedef struct tw_frame {
    int64_t index; /* from 0 */
    double t;      /* [s] */
    const tw_table *table;
} tw_frame;

/* Formats, as a set. */
enum {
    TW_FRAMES_CSV = 1,
    TW_FRAMES_VTU = 2,
    TW_FRAMES_PLY = 4,
    TW_FRAMES_OBJ = 8,
    TW_FRAMES_PC2 = 16,
    TW_FRAMES_ALL = 31
};

/* The format of that name as the scene file has it; 0 if there is none. */
unsigned tw_frame_format_of(const char *name);
/* "frame_000012.csv" and the like; for a format that has a file per frame. */
void tw_frame_name(char name[64], unsigned format, int64_t index);

typedef struct tw_frames tw_frames;

/* A writer of these formats. Nothing is written yet. The simulation must outlive it. TW_UNSUPPORTED for a format that
 * shows bodies where there are none. */
tw_status tw_frames_create(unsigned formats, const tw_simulation *simulation, double fps,
                           tw_frames **out, tw_error *error);
/* Flushes nothing; accepts NULL. */
void tw_frames_free(tw_frames *frames);

/* Where to write, and how many of the frames that are there are kept. `folder` ("frames") is made inside the directory
 * and gets all but the index; NULL: all goes into the directory itself. */
tw_status tw_frames_begin(tw_frames *frames, const char *directory, const char *folder,
                          int64_t keep, tw_error *error);
tw_status tw_frames_write(tw_frames *frames, const tw_frame *frame, tw_error *error);
/* Brings the first `count` frames to the disk, and tells the index and the growing files of them. */
tw_status tw_frames_flush(tw_frames *frames, int64_t count, tw_error *error);

/* Removes the frames of these formats from index `keep` on (0: and the growing files). The folder itself stays. */
tw_status tw_frames_cut(const char *folder, unsigned formats, int64_t keep, tw_error *error);

#endif
