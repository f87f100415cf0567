/* Frames: the state at regular times, for other programs.
 *
 * The formats csv, vtu, ply and obj have a file per frame; vtu has an index of these too
 * (frames.pvd). The format pc2 has one file per body that grows (NAME.pc2), with the body at frame
 * 0 in NAME.obj.
 *
 * Every frame is a function of its state alone, so that a run that goes on from a checkpoint
 * writes the same bytes. Frames written after the checkpoint are cut away by tw_frames_begin. */
#ifndef TW_IO_FRAMES_H
#define TW_IO_FRAMES_H

#include <stdbool.h>
#include <stdint.h>
#include <twang/model.h>

#include "base/text.h"
#include "io/file.h"

/* A state as a table, row after row. */
typedef struct tw_table {
    int64_t row_count;
    int column_count;
    const char *columns[16]; /* their names */
    const double *values;
} tw_table;

/* The table of a simulation's rows. */
tw_table tw_table_of(const tw_simulation *simulation, const double *values);
/* Adds a line with the names of the columns, and a line per row with 17 digits
 * per number. (table_csv.c) */
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
/* The name of a file such as "frame_000012.csv", for a format with a file per frame. */
void tw_frame_name(char name[64], unsigned format, int64_t index);

/* ---- writing ---- */

typedef struct tw_frames tw_frames;

/* Creates a writer of `count` frames in these formats; nothing is written yet. The simulation must
 * outlive it. Files of a higher number belong to somebody else.
 * TW_UNSUPPORTED if a format shows bodies and there are none. */
tw_status tw_frames_create(unsigned formats, const tw_simulation *simulation, double fps,
                           int64_t count, tw_frames **out, tw_error *error);
/* Whether y points up in ply, obj and pc2, as importers of these formats expect; otherwise z. */
void tw_frames_set_y_up(tw_frames *frames, bool y_is_up);
/* Flushes nothing; accepts NULL. */
void tw_frames_free(tw_frames *frames);

/* Says where to write, and how many of the frames that exist there are kept. `folder` (such as
 * "frames") is made inside the directory and gets all files but the index. If it is NULL, all
 * files go into the directory itself. */
tw_status tw_frames_begin(tw_frames *frames, const char *directory, const char *folder,
                          int64_t keep, tw_error *error);
tw_status tw_frames_write(tw_frames *frames, const tw_frame *frame, tw_error *error);
/* Brings the first `count` frames to the disk, and enters them in the index and in the
 * headers of growing files. */
tw_status tw_frames_flush(tw_frames *frames, int64_t count, tw_error *error);

/* Finds a file of the frames flushed so far that somebody removed; false if all are there. */
bool tw_frames_find_missing(const tw_frames *frames, char path[TW_FILE_PATH_SIZE]);

/* Frames of some formats with a file each, from index `first` up to `end`, which is excluded. */
typedef struct tw_frame_range {
    unsigned formats;
    int64_t first, end;
} tw_frame_range;

/* Removes the frames of this range. The folder stays. */
tw_status tw_frames_cut(const char *folder, tw_frame_range range, tw_error *error);
/* Whether the folder holds a frame of this range. */
bool tw_frames_exist(const char *folder, tw_frame_range range);
/* TW_BAD_INPUT if a frame of this range is a link, or no file at all. */
tw_status tw_frames_expect_regular(const char *folder, tw_frame_range range, tw_error *error);
/* Adds the names of all files that this writer writes, a line each. Frames have one line and their
 * number: "frames/frame_*.csv 13" for 0 to 12. */
void tw_frames_list(const tw_frames *frames, const char *folder, tw_text *lines);

/* ---- reading back, bit for bit (read_frame.c) ---- */

/* Fills `values` (row_count * column_count numbers) from a file of the format TW_FRAMES_CSV or
 * TW_FRAMES_VTU, which hold a whole state. `table` says which columns and how many rows the file
 * must have. TW_BAD_INPUT with "path: ..." if it has others. */
tw_status tw_frame_read(const char *path, unsigned format, const tw_table *table, double *values,
                        tw_error *error);

/* The same for a vtu file in memory, with a zero behind its last byte. */
tw_status tw_vtu_read(const char *path, const char *bytes, size_t size, const tw_table *table,
                      double *values, tw_error *error);

#endif
