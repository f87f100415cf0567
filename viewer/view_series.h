/* telemetry.csv of a finished run, as the numbers of the page. */
#ifndef VIEWER_VIEW_SERIES_H
#define VIEWER_VIEW_SERIES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include <twang/twang.h>

#include "view_frame.h"
#include "view_text.h"

typedef struct view_series_row {
    double t;
    double numbers[VIEW_TELEMETRY_COUNT];
} view_series_row;

typedef struct view_series {
    view_series_row *rows;
    size_t count;
} view_series;

/* Reads the file, after a row for the start of the simulation, which the file lacks; a run without
 * telemetry has no rows. TW_BAD_INPUT with the line of a file that is damaged. */
tw_status view_series_read(view_series *series, const char *directory, tw_simulation *simulation,
                           tw_error *error);
void view_series_free(view_series *series);
/* The last row that is not after t; NULL if there is none. */
const view_series_row *view_series_at(const view_series *series, double t);
/* Opens a file to read it, but no link and nothing that is no file: a pipe would be waited for. NULL if it cannot. */
FILE *view_open_file(const char *path);
/* Adds `,"series":` and the rows as JSON, evenly spaced and few enough for charts. */
void view_series_write(const view_series *series, view_text *out);
/* A whole file as text, NULL if it cannot be read. Free it. */
char *view_read_file(const char *directory, const char *name);

#endif
