/* Files of a run that somebody crafted, with checksums that fit: frames whose blocks unpack to less than they claim, and
 * checkpoints whose numbers nobody should believe. */
#define _POSIX_C_SOURCE 200809L
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <twang/twang.h>
#include <zlib.h>

#include "io/checkpoint.h"
#include "io/frames_internal.h"
#include "run/run_internal.h"
#include "support/run_suite.h"
#include "support/temporary_folder.h"

/* ---- frames ---- */

enum { ROWS = 3, COLUMNS = 6, ARRAY_BYTES = 3 * ROWS * sizeof(double) };

/* What the head of an array claims, and how many bytes its only block really has. */
typedef struct claim {
    uint64_t blocks, block, last;
    uint64_t real;
    double first; /* value of the array; 0: 1 */
} claim;

/* Adds an array with this head to the appended data. */
static void add_array(tw_text *payload, const claim *c)
{
    double values[2 * 3 * ROWS];
    for (int i = 0; i < 2 * 3 * ROWS; i++) values[i] = 1.0 + i;
    if (c->first != 0) values[0] = c->first;
    Bytef packed[1024];
    uLongf packed_size = sizeof packed;
    ck_assert_int_eq(compress(packed, &packed_size, (const Bytef *)values, c->real), Z_OK);
    const uint64_t head[4] = {c->blocks, c->block, c->last, packed_size};
    tw_text_add_bytes(payload, (const char *)head, sizeof head);
    tw_text_add_bytes(payload, (const char *)packed, packed_size);
}

/* Reads a frame whose positions have this head. */
static tw_status read_crafted(const claim *points, double values[ROWS * COLUMNS])
{
    static const claim whole = {1, ARRAY_BYTES, 0, ARRAY_BYTES, 0};
    tw_text payload = {0};
    tw_text text = {0};
    add_array(&payload, points);
    size_t second = payload.size;
    add_array(&payload, &whole);
    tw_text_add(&text, "<DataArray type=\"Float64\" Name=\"Points\" offset=\"0\"/>\n");
    tw_text_add(&text, "<DataArray type=\"Float64\" Name=\"velocity\" offset=\"%zu\"/>\n", second);
    tw_text_add(&text, "<AppendedData encoding=\"raw\">\n_");
    tw_text_add_bytes(&text, payload.bytes, payload.size);

    tw_table table = {
        .row_count = ROWS, .column_count = COLUMNS, .columns = {"x", "y", "z", "vx", "vy", "vz"}};
    tw_status status = tw_vtu_read("crafted", text.bytes, text.size, &table, values, NULL);
    tw_text_free(&text);
    tw_text_free(&payload);
    return status;
}

START_TEST(a_crafted_vtu_exports_no_uninitialised_memory)
{
    /* The good one is read as it is. */
    double values[ROWS * COLUMNS] = {0};
    ck_assert_int_eq(read_crafted(&(claim){1, ARRAY_BYTES, 0, ARRAY_BYTES, 0}, values), TW_OK);
    for (int r = 0; r < ROWS; r++)
        for (int k = 0; k < 3; k++) ck_assert_double_eq(values[COLUMNS * r + k], 1.0 + 3 * r + k);

    /* Blocks that unpack to less or more than they claim, and heads that claim less or more. */
    const claim crafted[] = {
        {1, ARRAY_BYTES, 0, 8, 0},                  /* most of the block is missing */
        {1, ARRAY_BYTES, 0, 0, 0},                  /* all of it */
        {1, ARRAY_BYTES, 0, ARRAY_BYTES - 1, 0},    /* a byte of it */
        {1, ARRAY_BYTES, 0, 2 * ARRAY_BYTES, 0},    /* too long */
        {0, ARRAY_BYTES, 0, ARRAY_BYTES, 0},        /* no block */
        {1, 8, 0, 8, 0},                            /* a smaller block */
        {1, 2 * ARRAY_BYTES, ARRAY_BYTES, 8, 0},    /* a larger one of which the rest is meant */
        {1, 0, 0, ARRAY_BYTES, 0},                  /* blocks of nothing */
        {UINT64_MAX, 1, 0, ARRAY_BYTES, 0},         /* as many as there are numbers */
        {UINT64_MAX / 8 + 1, ARRAY_BYTES, 0, 8, 0}, /* whose sizes overflow */
        {1, UINT64_MAX, ARRAY_BYTES, ARRAY_BYTES - 8, 0},
    };
    for (size_t i = 0; i < sizeof crafted / sizeof *crafted; i++)
        ck_assert_msg(read_crafted(&crafted[i], values) == TW_BAD_INPUT, "crafted frame %zu", i);

    /* Blocks whose values no run writes. */
    const double wild[] = {NAN, -NAN, INFINITY, -INFINITY};
    for (int i = 0; i < 4; i++)
        ck_assert_int_eq(read_crafted(&(claim){1, ARRAY_BYTES, 0, ARRAY_BYTES, wild[i]}, values),
                         TW_BAD_INPUT);
}
END_TEST

/* ---- checkpoints ---- */

static const char scene_text[] =
    "name: test\nduration: 0.2\nfps: 30\ngravity: [0, 0, -9.81]\n"
    "integrator: {name: verlet, step: 0.01}\noutput: {frames: csv, checkpoint_every: 0}\n"
    "bodies: [{kind: rope, count: 3, stiffness: 1e3}]\npins: [{from: 0}]\n";

static bool stop(void *steps_left)
{
    return --*(int *)steps_left <= 0;
}

static void make_stopped_run(void)
{
    tw_scene *scene = NULL;
    ck_assert_int_eq(
        tw_scene_parse("test", scene_text, sizeof scene_text - 1, 0, NULL, &scene, NULL), TW_OK);
    int steps = 5;
    tw_run_options options = tw_run_options_default();
    options.directory = "run";
    options.stop = stop;
    options.context = &steps;
    ck_assert_int_eq(tw_run_scene(scene, &options, NULL, NULL), TW_INTERRUPTED);
    tw_scene_free(scene);
}

static tw_status resume_with(const tw_checkpoint *checkpoint)
{
    int steps = 2;
    tw_run_options options = tw_run_options_default();
    options.stop = stop;
    options.context = &steps;
    ck_assert_int_eq(tw_checkpoint_write("run/checkpoint.bin", checkpoint, NULL), TW_OK);
    return tw_run_resume("run", &options, NULL, NULL);
}

/* Every number of the run's own memory in turn becomes a NaN, an infinity, and a huge negative count. */
START_TEST(no_number_of_a_run_is_believed)
{
    test_enter_temporary_folder();
    make_stopped_run();
    tw_checkpoint good = {0};
    ck_assert_int_eq(tw_checkpoint_read("run/checkpoint.bin", &good, NULL), TW_OK);
    ck_assert_int_eq(good.progress_size, sizeof(tw_run_memory));

    const double values[] = {NAN, INFINITY, -INFINITY};
    const size_t flag = offsetof(tw_run_memory, balance.has_energy); /* any value but 0 means yes */
    const size_t former = offsetof(tw_run_memory, former_hash); /* of a scene that is not there */
    for (size_t at = 0; at < sizeof(tw_run_memory); at += sizeof(double))
        for (int v = 0; v < 3 && at != flag && at != former; v++) {
            tw_run_memory memory;
            memcpy(&memory, good.progress, sizeof memory);
            memcpy((char *)&memory + at, &values[v], sizeof(double));
            tw_checkpoint crafted = good;
            crafted.progress = &memory;
            ck_assert_msg(resume_with(&crafted) == TW_BAD_INPUT, "byte %zu, value %d", at, v);
        }

    /* The good one still goes on. */
    ck_assert_int_eq(resume_with(&good), TW_INTERRUPTED);
    tw_checkpoint_free(&good);
    test_leave_temporary_folder();
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("hostile files");
    TCase *cases = tcase_create("files");
    tcase_set_timeout(cases, 120);
    tcase_add_test(cases, a_crafted_vtu_exports_no_uninitialised_memory);
    tcase_add_test(cases, no_number_of_a_run_is_believed);
    suite_add_tcase(suite, cases);
    return run_suite(suite);
}
