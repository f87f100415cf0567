/* States as tables: frames at regular times by dense output, final.csv, last_good.csv. */
#include "base/fail.h"
#include "run/run_internal.h"

void tw_run_prepare_table(tw_run *run)
{
    run->table = (tw_table){.row_count = tw_simulation_row_count(run->simulation),
                            .column_count = tw_simulation_column_count(run->simulation),
                            .values = run->rows};
    for (int c = 0; c < run->table.column_count; c++) run->table.columns[c] = tw_simulation_column(run->simulation, c);
}

static tw_status fill_table(tw_run *run, double t, const double *u, tw_error *error)
{
    tw_status status = tw_simulation_rows(run->simulation, t, u, run->rows);
    return status == TW_OK ? TW_OK : tw_fail_plain(error, status);
}

tw_status tw_run_write_table(tw_run *run, const char *name, tw_error *error)
{
    double t = 0.0;
    char path[TW_FILE_PATH_SIZE];
    tw_integrator_state(run->integrator, &t, NULL);
    tw_status status = tw_file_path(path, run->directory, name, error);
    if (status == TW_OK) status = fill_table(run, t, tw_integrator_state_view(run->integrator), error);
    if (status != TW_OK) return status;
    tw_text_clear(&run->scratch);
    tw_table_to_csv(&run->table, &run->scratch);
    if (run->scratch.failed) return tw_fail_plain(error, TW_OUT_OF_MEMORY);
    return tw_file_replace(path, run->scratch.bytes, run->scratch.size, error);
}

static tw_status write_frame(tw_run *run, int64_t index, double t, const double *u, tw_error *error)
{
    tw_status status = fill_table(run, t, u, error);
    tw_frame frame = {.index = index, .t = t, .table = &run->table};
    if (status == TW_OK) status = tw_frame_write(run->frame_format, run->frame_folder, &frame, &run->scratch, error);
    return status;
}

tw_status tw_run_write_frames(tw_run *run, tw_error *error)
{
    if (!run->frame_format) return TW_OK;
    double now = 0.0;
    tw_integrator_state(run->integrator, &now, NULL);
    for (;; run->memory.frame_count++) {
        /* the last frame belongs to the end even where index / fps rounds beyond it */
        double t = (double)run->memory.frame_count / run->fps;
        if (t > run->duration && t <= run->duration * (1.0 + 1e-12)) t = run->duration;
        if (t > now) return TW_OK;
        tw_status status = TW_OK;
        const double *u = tw_integrator_state_view(run->integrator);
        if (t < now) {
            status = tw_integrator_interpolate(run->integrator, t, run->u, error);
            u = run->u;
        }
        if (status == TW_OK) status = write_frame(run, run->memory.frame_count, t, u, error);
        if (status != TW_OK) return status;
    }
}
