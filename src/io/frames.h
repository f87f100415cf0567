/* Frames: the state at regular times, a file per frame in DIR/frames. A format is one function. */
#ifndef TW_IO_FRAMES_H
#define TW_IO_FRAMES_H

#include <stdint.h>
#include <twang/status.h>

#include "io/text.h"

/* A state as a table, row after row. */
typedef struct tw_table {
    int64_t row_count;
    int column_count;
    const char *columns[16];
    const double *values;
} tw_table;

/* A header line and a line per row, 17 digits. */
void tw_table_to_csv(const tw_table *table, tw_text *text);

typedef struct tw_frame {
    int64_t index; /* from 0 */
    double t;      /* [s] */
    const tw_table *table;
} tw_frame;

typedef struct tw_frame_format {
    const char *name;   /* as in the scene file */
    const char *suffix; /* of its files: frame_000000.SUFFIX */
    void (*write)(const tw_frame *frame, tw_text *out);
} tw_frame_format;

/* NULL if there is none of that name. */
const tw_frame_format *tw_frame_format_of(const char *name);

/* Writes one frame, making the folder if it is missing; `scratch` is reused from frame to frame. */
tw_status tw_frame_write(const tw_frame_format *format, const char *folder, const tw_frame *frame, tw_text *scratch,
                         tw_error *error);
/* Brings the frames `from` to `to` - 1 to the disk. */
tw_status tw_frames_flush(const tw_frame_format *format, const char *folder, int64_t from, int64_t to, tw_error *error);
/* Removes every frame from index `keep` on; 0 also removes the folder if nothing else is in it. */
tw_status tw_frames_cut(const char *folder, int64_t keep, tw_error *error);

#endif
