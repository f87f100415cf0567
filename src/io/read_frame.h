/* Frames read back, bit for bit: those that hold a whole state. */
#ifndef TW_IO_READ_FRAME_H
#define TW_IO_READ_FRAME_H

#include "io/frames.h"

/* Fills `values` (row_count * column_count numbers) from a file of that format, TW_FRAMES_CSV or TW_FRAMES_VTU. `table`
 * says which columns and how many rows it must have. TW_BAD_INPUT with "path: ..." if it is not that. */
tw_status tw_frame_read(const char *path, unsigned format, const tw_table *table, double *values,
                        tw_error *error);

/* read_vtu.c */
tw_status tw_vtu_read(const char *path, const char *bytes, size_t size, const tw_table *table,
                      double *values, tw_error *error);

#endif
