/* Writes the frames of a run beside the simulation, in a thread of its own.
 *
 * To format and to store a frame of 8,000 particles takes as long as some steps of the integrator.
 * The simulation hands over rows of numbers and goes on; frames are written one after the other in
 * the order in which they were handed over. A checkpoint waits for them (tw_frame_writer_drain). */
#ifndef TW_RUN_FRAME_WRITER_H
#define TW_RUN_FRAME_WRITER_H

#include <stdbool.h>

#include "io/frames.h"

typedef struct tw_frame_writer tw_frame_writer;

/* `frames` and what `table` points to must outlive the writer. Without `beside`, or where no thread
 * can be had, frames are written by the caller. */
tw_status tw_frame_writer_create(tw_frames *frames, const tw_table *table, bool beside,
                                 tw_frame_writer **out, tw_error *error);
/* Waits until all frames that were handed over are written. Accepts NULL. */
void tw_frame_writer_free(tw_frame_writer *writer);

/* Rows for the next frame, to be filled by the caller. Waits until there is room. */
double *tw_frame_writer_rows(tw_frame_writer *writer);
/* Hands over the rows as frame `index` at the time t [s]. A failure of this frame or of an earlier one
 * is told here or by a later call, and stays: nothing is written after it. */
tw_status tw_frame_writer_post(tw_frame_writer *writer, int64_t index, double t, tw_error *error);
/* Waits until all frames that were handed over are written. */
tw_status tw_frame_writer_drain(tw_frame_writer *writer, tw_error *error);

#endif
