/* States as tables: frames at regular times by dense output, final.csv, last_good.csv. */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <twang/parallel.h>

#include "base/fail.h"
#include "run/run_internal.h"

void tw_run_prepare_table(tw_run *run)
{
    run->table = tw_table_of(run->simulation, run->rows);
}

/* The largest value that a frame may have. All formats but csv are read as 32-bit numbers, whose
 * largest is 3.4e38; vertices of a surface may lie a little outside of the particles. */
static double largest_value(const tw_run *run)
{
    const double largest_in_32_bits = 1e38;
    bool has_doubles = (tw_run_frame_formats(run->scene) & ~(unsigned)TW_FRAMES_CSV) == 0;
    return has_doubles ? DBL_MAX : largest_in_32_bits;
}

/* Fills rows with the state u at the time t. */
static tw_status fill_rows(tw_run *run, double t, const double *u, double *rows, tw_error *error)
{
    tw_status status = tw_simulation_rows(run->simulation, t, u, rows);
    if (status != TW_OK) return tw_fail_plain(error, status);

    /* No NaN and no infinity is written, not even by moved particles or by a format's rounding. */
    const tw_table *table = &run->table;
    double largest = largest_value(run);
    for (int64_t i = 0; i < table->row_count * table->column_count; i++)
        if (!(fabs(rows[i]) <= largest))
            return tw_fail(
                error, TW_NOT_FINITE, "at t = %g s, %s of row %lld is too large to write", t,
                table->columns[i % table->column_count], (long long)(i / table->column_count));
    return TW_OK;
}

tw_status tw_run_check_table(tw_run *run, tw_error *error)
{
    double t = 0.0;
    tw_integrator_state(run->integrator, &t, NULL);
    return fill_rows(run, t, tw_integrator_state_view(run->integrator), run->rows, error);
}

tw_status tw_run_write_table(tw_run *run, const char *name, tw_error *error)
{
    char path[TW_FILE_PATH_SIZE];
    TW_TRY(tw_file_path(path, run->directory, name, error));

    /* The state now, as rows. */
    TW_TRY(tw_run_check_table(run, error));

    tw_text_clear(&run->scratch);
    tw_table_to_csv(&run->table, &run->scratch);
    if (run->scratch.failed) return tw_fail_plain(error, TW_OUT_OF_MEMORY);
    return tw_file_replace(path, run->scratch.bytes, run->scratch.size, error);
}

unsigned tw_run_frame_formats(const tw_scene *scene)
{
    if (!(tw_scene_fps(scene) > 0.0)) return 0;

    /* One word, or a list of words. */
    unsigned formats = tw_frame_format_of(tw_scene_word(scene, "output.frames"));
    for (int i = 0;; i++) {
        char path[48];
        snprintf(path, sizeof path, "output.frames.%d", i);
        const char *word = tw_scene_word(scene, path);
        if (!word) return formats;
        formats |= tw_frame_format_of(word);
    }
}

tw_status tw_run_create_frames(tw_run *run, tw_error *error)
{
    unsigned formats = tw_run_frame_formats(run->scene);

    /* The integrator knows the times of the frames before it starts. */
    double interval = formats ? 1 / run->fps : INFINITY;
    tw_status status = tw_integrator_expect_output(run->integrator, 0.0, interval);
    if (status != TW_OK) return tw_fail_plain(error, status);

    int64_t count = tw_run_frame_total(run->fps, run->duration);
    status = tw_frames_create(formats, run->simulation, run->fps, count, &run->frames, error);
    if (status == TW_UNSUPPORTED) return tw_scene_blame(run->scene, "output.frames", error);
    if (status != TW_OK) return status;
    tw_frames_set_y_up(run->frames, tw_run_y_is_up(run->scene));

    /* A run with one thread writes its frames itself. */
    if (!formats) return TW_OK;
    return tw_frame_writer_create(run->frames, &run->table, tw_threads() > 1, &run->writer, error);
}

bool tw_run_y_is_up(const tw_scene *scene)
{
    const char *up = tw_scene_word(scene, "output.up");
    return up && strcmp(up, "y") == 0;
}

double tw_run_frame_time(int64_t index, double fps, double duration)
{
    /* The last frame is at the end, even where index / fps is beyond it by rounding. */
    const double rounding = 1e-12;
    double t = (double)index / fps;
    bool is_last = t > duration && t <= duration * (1.0 + rounding);
    return is_last ? duration : t;
}

int64_t tw_run_frame_total(double fps, double duration)
{
    if (!(fps > 0.0)) return 0;

    /* Nobody stores more frames than this, and a double counts up to it without gaps. */
    const double most = 9007199254740992.0; /* 2^53 */
    double count = floor(fmin(fps * duration, most));

    /* The product may be wrong by rounding. */
    int64_t total = (int64_t)count;
    while (total > 0 && tw_run_frame_time(total - 1, fps, duration) > duration) total--;
    while (total < (int64_t)most && tw_run_frame_time(total, fps, duration) <= duration) total++;
    return total;
}

static tw_status write_frame(tw_run *run, int64_t index, double t, const double *u, tw_error *error)
{
    TW_TRY(fill_rows(run, t, u, tw_frame_writer_rows(run->writer), error));
    return tw_frame_writer_post(run->writer, index, t, error);
}

tw_status tw_run_write_frames(tw_run *run, tw_error *error)
{
    if (!run->writer) return TW_OK;

    double now = 0.0;
    tw_integrator_state(run->integrator, &now, NULL);
    for (;; run->memory.frame_count++) {
        double t = tw_run_frame_time(run->memory.frame_count, run->fps, run->duration);
        if (t > now) return TW_OK;

        /* Frames inside the last step come from its dense output. */
        const double *u = tw_integrator_state_view(run->integrator);
        if (t < now) {
            TW_TRY(tw_integrator_interpolate(run->integrator, t, run->u, error));
            u = run->u;
        }
        TW_TRY(write_frame(run, run->memory.frame_count, t, u, error));
    }
}

tw_status tw_run_flush_frames(tw_run *run, tw_error *error)
{
    if (run->writer) TW_TRY(tw_frame_writer_drain(run->writer, error));
    return tw_frames_flush(run->frames, run->memory.frame_count, error);
}
