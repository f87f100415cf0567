/* What bodies look like, as one message for the page: a JSON head and arrays of 32-bit numbers. */
#ifndef VIEWER_VIEW_GEOMETRY_H
#define VIEWER_VIEW_GEOMETRY_H

#include <twang/twang.h>

#include "view_series.h"
#include "view_text.h"

/* Writes the message. `free_at` has an entry per particle, negative for pinned ones; NULL: all are
 * free. `rest` are the rows of the state at t = 0. `series` are the numbers of a finished run; NULL:
 * it is not finished. False when memory is out. */
bool view_geometry_write(const tw_simulation *simulation, const int64_t *free_at,
                         const double *rest, const view_series *series, view_text *out);

#endif
