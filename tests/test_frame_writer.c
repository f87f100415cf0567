/* Frames that are written beside the simulation: all of them, in order, and no failure is lost. */
/* labels: threads */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <string.h>
#include <twang/twang.h>
#include <unistd.h>

#include "run/frame_writer.h"
#include "support/run_suite.h"
#include "support/temporary_folder.h"

enum { PARTICLES = 50, COLUMNS = 6, FRAMES = 300 /* more than the writer has room for */ };

static tw_simulation *simulation;
static tw_frames *frames;
static tw_table table;

static void make_frames(void)
{
    double positions[3 * PARTICLES] = {0};
    double masses[PARTICLES];
    for (int i = 0; i < PARTICLES; i++) {
        positions[3 * i] = i;
        masses[i] = 1;
    }

    tw_model *model = NULL;
    ck_assert_int_eq(tw_model_create(&model, NULL), TW_OK);
    ck_assert_int_eq(tw_model_add_particles(model, PARTICLES, positions, NULL, masses, NULL, NULL),
                     TW_OK);
    ck_assert_int_eq(tw_simulation_of_model(model, &simulation, NULL), TW_OK);
    table = tw_table_of(simulation, NULL);
    ck_assert_int_eq(tw_frames_create(TW_FRAMES_CSV, simulation, 10.0, FRAMES, &frames, NULL),
                     TW_OK);
    ck_assert_int_eq(tw_frames_begin(frames, ".", "frames", 0, NULL), TW_OK);
}

static void release_frames(void)
{
    tw_frames_free(frames);
    tw_simulation_free(simulation);
}

/* Every number of a frame is its index. */
static tw_status post(tw_frame_writer *writer, int64_t index, tw_error *error)
{
    double *rows = tw_frame_writer_rows(writer);
    for (int i = 0; i < PARTICLES * COLUMNS; i++) rows[i] = (double)index;
    return tw_frame_writer_post(writer, index, 0.1 * (double)index, error);
}

static void check_frame(int64_t index)
{
    char path[64];
    double values[PARTICLES * COLUMNS];
    snprintf(path, sizeof path, "frames/frame_%06lld.csv", (long long)index);
    ck_assert_int_eq(tw_frame_read(path, TW_FRAMES_CSV, &table, values, NULL), TW_OK);
    for (int i = 0; i < PARTICLES * COLUMNS; i++) ck_assert(values[i] == (double)index);
}

START_TEST(all_frames_are_written_with_and_without_a_thread)
{
    bool beside = _i == 1;
    test_enter_temporary_folder();
    make_frames();

    tw_frame_writer *writer = NULL;
    ck_assert_int_eq(tw_frame_writer_create(frames, &table, beside, &writer, NULL), TW_OK);
    for (int64_t i = 0; i < FRAMES; i++) ck_assert_int_eq(post(writer, i, NULL), TW_OK);

    /* After a drain they can be read, and flushed. */
    ck_assert_int_eq(tw_frame_writer_drain(writer, NULL), TW_OK);
    for (int64_t i = 0; i < FRAMES; i++) check_frame(i);
    ck_assert_int_eq(tw_frames_flush(frames, FRAMES, NULL), TW_OK);

    tw_frame_writer_free(writer);
    release_frames();
    test_leave_temporary_folder();
}
END_TEST

/* Who frees the writer without a drain gets his frames, too: a run that fails keeps them. */
START_TEST(frames_handed_over_before_the_end_are_written)
{
    test_enter_temporary_folder();
    make_frames();
    tw_frame_writer *writer = NULL;
    ck_assert_int_eq(tw_frame_writer_create(frames, &table, true, &writer, NULL), TW_OK);
    for (int64_t i = 0; i < 20; i++) ck_assert_int_eq(post(writer, i, NULL), TW_OK);
    tw_frame_writer_free(writer);
    for (int64_t i = 0; i < 20; i++) check_frame(i);

    release_frames();
    test_leave_temporary_folder();
}
END_TEST

START_TEST(a_failure_is_told_and_stays)
{
    test_enter_temporary_folder();
    make_frames();
    tw_frame_writer *writer = NULL;
    ck_assert_int_eq(tw_frame_writer_create(frames, &table, true, &writer, NULL), TW_OK);
    ck_assert_int_eq(post(writer, 0, NULL), TW_OK);
    ck_assert_int_eq(tw_frame_writer_drain(writer, NULL), TW_OK);

    /* Frame 1 has no place. */
    ck_assert_int_eq(rename("frames", "elsewhere"), 0);
    tw_error error = {0};
    post(writer, 1, NULL);
    ck_assert_int_eq(tw_frame_writer_drain(writer, &error), TW_INPUT_OUTPUT);
    ck_assert_ptr_nonnull(strstr(error.text, "frame_000001.csv"));

    /* The next ones could be written, but a frame is missing before them. */
    ck_assert_int_eq(rename("elsewhere", "frames"), 0);
    error = (tw_error){0};
    ck_assert_int_eq(post(writer, 2, &error), TW_INPUT_OUTPUT);
    ck_assert_ptr_nonnull(strstr(error.text, "frame_000001.csv"));
    ck_assert_int_eq(tw_frame_writer_drain(writer, NULL), TW_INPUT_OUTPUT);
    ck_assert_int_ne(access("frames/frame_000002.csv", F_OK), 0);

    tw_frame_writer_free(writer);
    release_frames();
    test_leave_temporary_folder();
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("frame writer");
    TCase *cases = tcase_create("frame writer");
    tcase_add_loop_test(cases, all_frames_are_written_with_and_without_a_thread, 0, 2);
    tcase_add_test(cases, frames_handed_over_before_the_end_are_written);
    tcase_add_test(cases, a_failure_is_told_and_stays);
    suite_add_tcase(suite, cases);
    return run_suite(suite);
}
