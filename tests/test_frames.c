/* Frames of bodies with a surface of their own: vertex order, polygons, texture coordinates, names; and what is cut. */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <twang/twang.h>
#include <unistd.h>

#include "io/frames.h"
#include "support/failing_allocator.h"
#include "support/run_suite.h"
#include "support/temporary_folder.h"

/* One tetrahedron, twice: once with an embedded quadrangle and triangle, once as it is; and a particle on its own. */
static const double positions[] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 5, 0,
                                   0, 6, 0, 0, 5, 1, 0, 5, 0, 1, 9, 9, 9};
static const double masses[] = {1, 1, 1, 1, 1, 1, 1, 1, 1};
static const int64_t first_tetrahedron[] = {0, 1, 2, 3},
                     second_tetrahedron[] = {4, 6, 5, 7}; /* inside out */
static const int64_t carriers[] = {0, 1, 2, 3, 0, 1, 2, 3, 3, 2, 1, 0, 0, 0, 0, 0};
static const double weights[] = {0.25, 0.25, 0.25, 0.25, 0.5, 0.5, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0};
static const int64_t face_start[] = {0, 4, 7}, corners[] = {0, 1, 2, 3, 2, 1, 0};
static const double texture[] = {0, 0, 1, 0, 1, 1, 0, 1};
static const int64_t corner_texture[] = {0, 1, 2, 3, -1, 0, 1};
static const int64_t line[] = {3, 1};
static const char statements[] = "mtllib a.mtlg one twousemtl furs off";
static const int64_t statement_face[] = {-1, 0, 1, 2}, statement_end[] = {12, 21, 31, 36};

static const tw_display embedded = {.name = "a body/1",
                                    .count = 4,
                                    .tetrahedron_count = 1,
                                    .tetrahedra = first_tetrahedron,
                                    .surface = {.vertex_count = 4,
                                                .carriers = carriers,
                                                .weights = weights,
                                                .face_count = 2,
                                                .face_start = face_start,
                                                .corners = corners,
                                                .texture_count = 4,
                                                .texture = texture,
                                                .corner_texture = corner_texture,
                                                .edge_count = 1,
                                                .edges = line,
                                                .statement_count = 4,
                                                .statement_face = statement_face,
                                                .statement_end = statement_end,
                                                .statements = statements}};
static const tw_display plain = {.name = "a body/1",
                                 .first = 4,
                                 .count = 4,
                                 .tetrahedron_count = 1,
                                 .tetrahedra = second_tetrahedron};

static tw_status make_simulation(tw_simulation **simulation)
{
    tw_model *model = NULL;
    tw_status status = tw_model_create(&model, NULL);
    if (status == TW_OK)
        status = tw_model_add_particles(model, 9, positions, NULL, masses, NULL, NULL);
    if (status == TW_OK) status = tw_model_add_display(model, &embedded, NULL);
    if (status == TW_OK) status = tw_model_add_display(model, &plain, NULL);
    if (status == TW_OK) status = tw_simulation_of_model(model, simulation, NULL);
    if (status != TW_OK) tw_model_free(model);
    return status;
}

/* Writes `count` frames from `keep` on, each moved by its index along x. */
static tw_status write_frames(unsigned formats, int64_t keep, int64_t count)
{
    tw_simulation *simulation = NULL;
    tw_frames *frames = NULL;
    double rows[9 * 6];
    tw_status status = make_simulation(&simulation);
    if (status == TW_OK) status = tw_frames_create(formats, simulation, 10.0, 10, &frames, NULL);
    if (status == TW_OK) status = tw_frames_begin(frames, ".", "frames", keep, NULL);
    for (int64_t i = keep; i < count && status == TW_OK; i++) {
        tw_table table = tw_table_of(simulation, rows);
        tw_simulation_rows(simulation, 0.0, tw_simulation_start(simulation), rows);
        for (int p = 0; p < 9; p++) rows[6 * p] += (double)i;
        tw_frame frame = {.index = i, .t = 0.1 * (double)i, .table = &table};
        status = tw_frames_write(frames, &frame, NULL);
    }
    if (status == TW_OK) status = tw_frames_flush(frames, count, NULL);
    tw_frames_free(frames);
    tw_simulation_free(simulation);
    return status;
}

static char *contents(const char *path, size_t *size)
{
    FILE *file = fopen(path, "rb");
    ck_assert_msg(file != NULL, "%s is missing", path);
    char *bytes = calloc(1, 100000);
    *size = fread(bytes, 1, 99999, file);
    fclose(file);
    return bytes;
}

START_TEST(an_embedded_surface_keeps_its_order_faces_and_textures)
{
    test_enter_temporary_folder();
    ck_assert_int_eq(write_frames(TW_FRAMES_OBJ | TW_FRAMES_PC2, 0, 2), TW_OK);
    size_t size = 0;
    char *text = contents("frames/frame_000001.obj", &size);
    ck_assert_str_eq(text, "# twang, frame 1, t = 0.10000000000000001 s\n"
                           "o a_body_1\nmtllib a.mtl\n"
                           "v 1.25 0.25 0.25\nv 1.5 0 0\nv 1 0 1\nv 1 0 0\n"
                           "vt 0 0\nvt 1 0\nvt 1 1\nvt 0 1\n"
                           "g one two\nf 1/1 2/2 3/3 4/4\nusemtl fur\nf 3 2 1\ns off\nl 4 2\n"
                           "o a_body_1_2\ng a_body_1_2\nusemtl a_body_1_2\ns off\n"
                           "v 6 0 0\nv 7 0 0\nv 6 1 0\nv 6 0 1\n"
                           "f 7 8 6\nf 5 6 8\nf 5 8 7\nf 5 7 6\n"
                           "o particles\ng particles\nusemtl particles\ns off\nv 10 9 9\np 9\n");
    free(text);
    /* the cache of the body has its vertices alone */
    text = contents("frames/a_body_1.pc2", &size);
    ck_assert_int_eq(size, 32 + 2 * 4 * 12);
    float x[3];
    memcpy(x, text + 32 + 4 * 12 + 12, sizeof x);
    ck_assert(x[0] == 1.5F && x[1] == 0.0F && x[2] == 0.0F);
    free(text);
    free(contents("frames/a_body_1.obj", &size));
    free(contents("frames/particles.pc2", &size));
    test_leave_temporary_folder();
}
END_TEST

/* A file that names its object keeps that name; a body called like a frame gets no file of that name; and the shape of
 * a point cache is one object that keeps the vertices that nothing uses, by a line from each to itself. */
START_TEST(objects_and_files_have_their_names)
{
    tw_model *model = NULL;
    tw_simulation *simulation = NULL;
    tw_frames *frames = NULL;
    tw_display named = embedded;
    named.name = "frame_000000";
    named.surface.face_start = named.surface.corner_texture = NULL;
    named.surface.texture_count = named.surface.edge_count = 0;
    named.surface.face_count = 1;
    named.surface.statement_count = 3;
    named.surface.statement_face = (int64_t[]){0, 1, 1};
    named.surface.statement_end = (int64_t[]){7, 14, 19};
    named.surface.statements = "o Thingo Otherg two";
    ck_assert_int_eq(tw_model_create(&model, NULL), TW_OK);
    ck_assert_int_eq(tw_model_add_particles(model, 4, positions, NULL, masses, NULL, NULL), TW_OK);
    ck_assert_int_eq(tw_model_add_display(model, &named, NULL), TW_OK);
    ck_assert_int_eq(tw_simulation_of_model(model, &simulation, NULL), TW_OK);
    double rows[4 * 6];
    tw_simulation_rows(simulation, 0.0, tw_simulation_start(simulation), rows);
    tw_table table = tw_table_of(simulation, rows);
    test_enter_temporary_folder();
    ck_assert_int_eq(
        tw_frames_create(TW_FRAMES_PC2 | TW_FRAMES_OBJ, simulation, 10.0, 10, &frames, NULL),
        TW_OK);
    ck_assert_int_eq(tw_frames_begin(frames, ".", "frames", 0, NULL), TW_OK);
    ck_assert_int_eq(tw_frames_write(frames, &(tw_frame){.table = &table}, NULL), TW_OK);
    size_t size = 0;
    char *text = contents("frames/body_frame_000000.obj", &size);
    ck_assert_str_eq(
        text, "# twang, frame 0; body_frame_000000.pc2 moves it\n"
              "v 0.25 0.25 0.25\nv 0.5 0 0\nv 0 0 1\nv 0 0 0\no Thing\nf 1 2 3\ng two\nl 4 4\n");
    free(text);
    text = contents("frames/frame_000000.obj", &size);
    ck_assert_ptr_nonnull(strstr(text, "\no Thing\nf 1 2 3\no Other\ng two\n"));
    free(text);
    tw_frames_free(frames);
    tw_simulation_free(simulation);
    test_leave_temporary_folder();
}
END_TEST

START_TEST(what_was_cut_is_written_again_in_the_same_bytes)
{
    static const char *const files[] = {"frame_000003.vtu", "frame_000003.ply", "frame_000003.csv",
                                        "a_body_1.pc2", "a_body_1_2.pc2"};
    test_enter_temporary_folder();
    ck_assert_int_eq(write_frames(TW_FRAMES_ALL, 0, 4), TW_OK);
    char *before[5], path[64];
    size_t size[5], again = 0;
    for (int i = 0; i < 5; i++) {
        snprintf(path, sizeof path, "frames/%s", files[i]);
        before[i] = contents(path, &size[i]);
    }
    fclose(fopen("frames/frame_mine.csv", "w")); /* somebody else's */
    ck_assert_int_eq(write_frames(TW_FRAMES_ALL, 2, 2), TW_OK);
    ck_assert_int_ne(access("frames/frame_000002.vtu", F_OK), 0);
    ck_assert_int_eq(access("frames/frame_000001.vtu", F_OK), 0);
    ck_assert_int_eq(access("frames/frame_mine.csv", F_OK), 0);
    ck_assert_int_eq(write_frames(TW_FRAMES_ALL, 2, 4), TW_OK);
    for (int i = 0; i < 5; i++) {
        snprintf(path, sizeof path, "frames/%s", files[i]);
        char *after = contents(path, &again);
        ck_assert_msg(again == size[i] && memcmp(after, before[i], again) == 0, "%s", path);
        free(after);
        free(before[i]);
    }
    test_leave_temporary_folder();
}
END_TEST

START_TEST(csv_and_vtu_read_back_bit_for_bit_and_nothing_else_does)
{
    test_enter_temporary_folder();
    ck_assert_int_eq(write_frames(TW_FRAMES_VTU | TW_FRAMES_CSV, 0, 1), TW_OK);
    tw_simulation *simulation = NULL;
    double expected[54], values[54];
    ck_assert_int_eq(make_simulation(&simulation), TW_OK);
    tw_simulation_rows(simulation, 0.0, tw_simulation_start(simulation), expected);
    tw_table table = tw_table_of(simulation, NULL);
    for (int i = 0; i < 2; i++) {
        memset(values, 0, sizeof values);
        const char *path = i ? "frames/frame_000000.csv" : "frames/frame_000000.vtu";
        ck_assert_int_eq(
            tw_frame_read(path, i ? TW_FRAMES_CSV : TW_FRAMES_VTU, &table, values, NULL), TW_OK);
        ck_assert_mem_eq(values, expected, sizeof values);
    }
    /* a file that ends before its arrays do is noticed; a byte turned over anywhere does no harm */
    size_t size = 0;
    char *bytes = contents("frames/frame_000000.vtu", &size);
    for (size_t i = 0; i < size; i++) {
        char *changed = calloc(1, size + 1);
        memcpy(changed, bytes, i);
        tw_status status = tw_vtu_read("cut", changed, i, &table, values, NULL);
        ck_assert(status == TW_BAD_INPUT || (status == TW_OK && i > size / 2));
        memcpy(changed, bytes, size);
        changed[i] = (char)~changed[i];
        tw_vtu_read("changed", changed, size, &table, values, NULL);
        free(changed);
    }
    free(bytes);
    tw_simulation_free(simulation);
    test_leave_temporary_folder();
}
END_TEST

static tw_status write_all(void *context)
{
    (void)context;
    return write_frames(TW_FRAMES_ALL, 0, 2);
}

START_TEST(memory_may_run_out_anywhere)
{
    test_enter_temporary_folder();
    ck_assert_int_gt(test_fail_each_allocation(write_all, NULL), 50);
    test_leave_temporary_folder();
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("frames");
    TCase *cases = tcase_create("frames");
    tcase_add_test(cases, an_embedded_surface_keeps_its_order_faces_and_textures);
    tcase_add_test(cases, objects_and_files_have_their_names);
    tcase_add_test(cases, what_was_cut_is_written_again_in_the_same_bytes);
    tcase_add_test(cases, csv_and_vtu_read_back_bit_for_bit_and_nothing_else_does);
    tcase_add_test(cases, memory_may_run_out_anywhere);
    suite_add_tcase(suite, cases);
    return run_suite(suite);
}
