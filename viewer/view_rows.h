/* The table of a state (tw_simulation_rows) as positions and scalar fields. */
#ifndef VIEWER_VIEW_ROWS_H
#define VIEWER_VIEW_ROWS_H

#include <twang/twang.h>

#include "view_frame.h"

/* Rows of a table with `columns` columns as positions and fields of a frame. */
void view_rows_write(const double *rows, int columns, int index, const view_shape *shape,
                     view_frame *frame);
/* The names of the scalar fields of such a table; returns how many there are. */
int view_rows_fields(const tw_simulation *simulation, const char *names[VIEW_FIELDS]);
/* Writes the rows of the state at t = 0, and the index of each particle among the free ones; -1: it
 * is pinned. */
tw_status view_rows_free(tw_simulation *simulation, double *rows, int64_t *free_at);

#endif
