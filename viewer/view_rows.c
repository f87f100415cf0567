/* The table of a state as positions and scalar fields. */
#include "view_rows.h"

#include <math.h>
#include <stdlib.h>

int view_rows_fields(const tw_simulation *simulation, const char *names[VIEW_FIELDS])
{
    int count = 0;
    names[count++] = "speed";
    for (int c = 6; count < VIEW_FIELDS; c++) {
        const char *name = tw_simulation_column(simulation, c);
        if (!name) break;
        names[count++] = name;
    }
    return count;
}

void view_rows_write(const double *rows, int columns, int index, const view_shape *shape,
                     view_frame *frame)
{
    int64_t n = shape->particles;
    float *x = frame->positions + 3 * index * n;
    float *speed = frame->fields + index * n;

    for (int64_t i = 0; i < n; i++) {
        const double *row = rows + i * columns;

        /* A system of equations has q and p: q is drawn over the index. */
        if (columns < 6) {
            x[3 * i] = n > 1 ? (float)((double)i / (double)(n - 1)) : 0.0f;
            x[3 * i + 1] = 0.0f;
            x[3 * i + 2] = (float)row[0];
            speed[i] = columns > 1 ? (float)fabs(row[1]) : 0.0f;
            continue;
        }

        for (int k = 0; k < 3; k++) x[3 * i + k] = (float)row[k];
        speed[i] = (float)sqrt(row[3] * row[3] + row[4] * row[4] + row[5] * row[5]);
        for (int f = 1; f < shape->fields; f++)
            frame->fields[(f * shape->lanes + index) * n + i] = (float)row[5 + f];
    }
}

tw_status view_rows_free(tw_simulation *simulation, double *rows, int64_t *free_at)
{
    int64_t particles = tw_simulation_row_count(simulation);
    int columns = tw_simulation_column_count(simulation);
    int64_t size = tw_simulation_state_size(simulation);
    const double *start = tw_simulation_start(simulation);
    double *state = calloc((size_t)size + 1, sizeof *state);
    double *moved = calloc((size_t)(particles * columns) + 1, sizeof *moved);
    tw_status status = state && moved ? TW_OK : TW_OUT_OF_MEMORY;

    /* Moving all unknowns by 1 moves the rows of free particles. */
    for (int64_t i = 0; i < size && status == TW_OK; i++) state[i] = start[i] + 1.0;
    if (status == TW_OK) status = tw_simulation_rows(simulation, 0.0, start, rows);
    if (status == TW_OK) status = tw_simulation_rows(simulation, 0.0, state, moved);

    int64_t next = 0;
    for (int64_t i = 0; i < particles && status == TW_OK; i++)
        free_at[i] = moved[i * columns] != rows[i * columns] ? next++ : -1;
    free(state);
    free(moved);
    return status;
}
