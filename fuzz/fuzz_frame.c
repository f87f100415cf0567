/* Frames read back: whatever the bytes are, TW_BAD_INPUT or a table of finite numbers. The first byte chooses: any bytes
 * as vtu or csv, or a good vtu with edits. */
#define _POSIX_C_SOURCE 200809L
#include <math.h>
#include <stdio.h>
#include <twang/twang.h>
#include <unistd.h>

#include "fuzz_edits.h"
#include "io/frames_internal.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { ROWS = 3, COLUMNS = 6 };

static tw_table table_of(const double *values)
{
    return (tw_table){.row_count = ROWS,
                      .column_count = COLUMNS,
                      .columns = {"x", "y", "z", "vx", "vy", "vz"},
                      .values = values};
}

/* A file such as frames_vtu.c writes, as far as read_frame.c looks at it. */
static size_t make_vtu(char *out, size_t room)
{
    double values[3 * ROWS] = {1, 2, 3, 4, 5, 6, 7, 8, 9};
    tw_text payload = {0};
    tw_text text = {0};
    static const char *const names[] = {"Points", "velocity"};
    for (int i = 0; i < 2; i++) {
        tw_text_add(&text, "<DataArray type=\"Float64\" Name=\"%s\" offset=\"%zu\"/>\n", names[i],
                    payload.size);
        tw_vtk_compress(values, sizeof values, true, &payload);
    }
    tw_text_add(&text, "<AppendedData encoding=\"raw\">\n_");
    tw_text_add_bytes(&text, payload.bytes, payload.size);
    size_t size = text.size < room ? text.size : room;
    memcpy(out, text.bytes, size);
    tw_text_free(&text);
    tw_text_free(&payload);
    return size;
}

static tw_status read_csv(const uint8_t *data, size_t size, const tw_table *table, double *values)
{
    char path[64];
    snprintf(path, sizeof path, "/tmp/twang-fuzz-frame-%ld.csv", (long)getpid());
    FILE *file = fopen(path, "wb");
    insist(file != NULL && fwrite(data, 1, size, file) == size);
    fclose(file);
    tw_status status = tw_frame_read(path, TW_FRAMES_CSV, table, values, NULL);
    unlink(path);
    return status;
}

static tw_status read_vtu(const uint8_t *data, size_t size, bool edits, const tw_table *table,
                          double *values)
{
    static char good[4096];
    static size_t good_size;
    if (good_size == 0) good_size = make_vtu(good, sizeof good);

    /* A copy of its own size, with the zero that a reader of files puts behind it. */
    size_t length = edits ? good_size : size;
    char *bytes = malloc(length + 1);
    memcpy(bytes, edits ? good : (const char *)data, length);
    if (edits) apply_edits(data, size, bytes, length);
    bytes[length] = '\0';
    tw_status status = tw_vtu_read("fuzz", bytes, length, table, values, NULL);
    free(bytes);
    return status;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0) return 0;
    double values[ROWS * COLUMNS];
    for (int i = 0; i < ROWS * COLUMNS; i++) values[i] = NAN;
    tw_table table = table_of(values);

    tw_status status = data[0] % 4 == 0
                           ? read_csv(data + 1, size - 1, &table, values)
                           : read_vtu(data + 1, size - 1, data[0] % 4 > 1, &table, values);
    insist(status == TW_OK || status == TW_BAD_INPUT);
    for (int i = 0; status == TW_OK && i < ROWS * COLUMNS; i++) insist(isfinite(values[i]));
    return 0;
}
