/* Frames read back: csv, and our own vtu files (frames_vtu.c), whose arrays of doubles are
 * appended raw and compressed in blocks. Files of other programs are not read. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/allocate.h"
#include "base/fail.h"
#include "base/number.h"
#include "base/read_file.h"
#include "io/frames.h"

/* ---- csv ---- */

/* Takes the field that begins at *at: puts a zero behind it and moves *at to the next field. False
 * if the line does not end behind the last field of a row, or ends behind another. */
static bool take_field(char **at, bool is_last, const char **field)
{
    char *stop = *at + strcspn(*at, ",\n");
    char end = is_last ? '\n' : ',';
    if (*stop != end) return false;

    *field = *at;
    *stop = '\0';
    *at = stop + 1;
    return true;
}

static tw_status read_csv(const char *path, char *text, const tw_table *table, double *values,
                          tw_error *error)
{
    char *at = text;
    const char *field;
    int last = table->column_count - 1;

    /* The names of the columns. */
    for (int c = 0; c <= last; c++)
        if (!take_field(&at, c == last, &field) || strcmp(field, table->columns[c]) != 0)
            return tw_fail(error, TW_BAD_INPUT, "%s:1: is not a frame of this scene", path);

    /* The rows; the first one is line 2. */
    for (int64_t r = 0; r < table->row_count; r++)
        for (int c = 0; c <= last; c++) {
            double *value = &values[r * table->column_count + c];
            if (!take_field(&at, c == last, &field) || !tw_number_parse(field, value))
                return tw_fail(error, TW_BAD_INPUT, "%s:%lld: is not a whole row of numbers", path,
                               (long long)r + 2);
        }

    if (*at) return tw_fail(error, TW_BAD_INPUT, "%s: has more rows than the scene has", path);
    return TW_OK;
}

/* ---- vtu ---- */

typedef struct vtu {
    const char *path;
    const char *bytes;
    size_t size;
    size_t header; /* bytes before the appended data */
} vtu;

static tw_status damaged(const vtu *file, tw_error *error)
{
    return tw_fail(error, TW_BAD_INPUT, "%s: is damaged, or was not written by twang", file->path);
}

/* Finds where the appended data begin. The text before them has no zero bytes, and there is a
 * zero behind the file, so that the search ends. */
static bool find_data(vtu *file)
{
    static const char mark[] = "<AppendedData encoding=\"raw\">\n_";
    const char *found = strstr(file->bytes, mark);
    if (!found) return false;
    file->header = (size_t)(found - file->bytes) + sizeof mark - 1;
    return file->header <= file->size;
}

/* Finds the tag of a Float64 array in the header, and reads where its data are in the file. */
static bool find_array(const vtu *file, const char *name, size_t *offset)
{
    static const char attribute[] = "offset=\"";
    char tag[96];

    snprintf(tag, sizeof tag, "<DataArray type=\"Float64\" Name=\"%.32s\" ", name);
    const char *found = strstr(file->bytes, tag);
    const char *end = file->bytes + file->header;
    if (!found || found >= end) return false;

    const char *at = strstr(found, attribute);
    if (!at || at > end) return false;

    /* The offset counts from the beginning of the appended data. */
    unsigned long long value = strtoull(at + sizeof attribute - 1, NULL, 10);
    *offset = file->header + (size_t)value;
    return value < file->size && *offset < file->size;
}

static bool take_integer(const vtu *file, size_t *at, uint64_t *value)
{
    if (file->size - *at < sizeof *value) return false;
    memcpy(value, file->bytes + *at, sizeof *value);
    *at += sizeof *value;
    return true;
}

/* Unpacks `wanted` bytes of the array at `at` into `out`; false if they are not there. The
 * format is described at tw_vtk_compress. */
static bool inflate_array(const vtu *file, size_t at, char *out, size_t wanted)
{
    /* The head: number of blocks, bytes of a block, bytes of the last one if it is shorter. */
    uint64_t blocks = 0;
    uint64_t block = 0;
    uint64_t last = 0;
    if (!take_integer(file, &at, &blocks) || !take_integer(file, &at, &block) ||
        !take_integer(file, &at, &last))
        return false;
    if (block == 0 || blocks != wanted / block + (wanted % block != 0) || last != wanted % block)
        return false;

    /* The compressed sizes of the blocks, then the blocks. */
    uint64_t compressed = 0;
    if (blocks > (file->size - at) / sizeof compressed) return false;
    size_t sizes = at;
    size_t data = at + blocks * sizeof compressed;
    for (uint64_t b = 0; b < blocks; b++) {
        take_integer(file, &sizes, &compressed);
        if (compressed > file->size - data) return false;

        size_t rest = wanted - b * block;
        uLongf expected = (uLongf)(rest < block ? rest : block);
        uLongf got = expected;
        int result = uncompress((Bytef *)out + b * block, &got, (const Bytef *)file->bytes + data,
                                (uLong)compressed);
        if (result != Z_OK || got != expected) return false;
        data += compressed;
    }

    return true;
}

/* The state that a file is read into, and room for three columns. */
typedef struct target {
    const tw_table *table;
    double *values;
    double *scratch;
} target;

/* Reads `width` columns of the table from `column` on. */
static bool read_columns(const vtu *file, const char *name, int column, int width, const target *to)
{
    const tw_table *table = to->table;
    size_t offset = 0;
    if (!find_array(file, name, &offset)) return false;
    if (!inflate_array(file, offset, (char *)to->scratch,
                       (size_t)(width * table->row_count) * sizeof(double)))
        return false;

    /* Spread the rows over the table. */
    for (int64_t r = 0; r < table->row_count; r++)
        memcpy(to->values + r * table->column_count + column, to->scratch + r * width,
               (size_t)width * sizeof(double));

    return true;
}

tw_status tw_vtu_read(const char *path, const char *bytes, size_t size, const tw_table *table,
                      double *values, tw_error *error)
{
    vtu file = {.path = path, .bytes = bytes, .size = size};
    if (!find_data(&file) || table->column_count < 6) return damaged(&file, error);
    target to = {table, values, tw_allocate_zeroed(3 * (size_t)table->row_count, sizeof(double))};
    if (!to.scratch) return tw_fail_plain(error, TW_OUT_OF_MEMORY);

    /* Positions and velocities are vectors; each further column is an array of its own. */
    bool good =
        read_columns(&file, "Points", 0, 3, &to) && read_columns(&file, "velocity", 3, 3, &to);
    for (int c = 6; good && c < table->column_count; c++)
        good = read_columns(&file, table->columns[c], c, 1, &to);

    /* A frame of ours has finite values only. */
    for (int64_t i = 0; good && i < table->row_count * table->column_count; i++)
        good = isfinite(values[i]);

    tw_release(to.scratch);
    return good ? TW_OK : damaged(&file, error);
}

/* ---- both ---- */

tw_status tw_frame_read(const char *path, unsigned format, const tw_table *table, double *values,
                        tw_error *error)
{
    char *bytes = NULL;
    size_t size = 0;
    TW_TRY(tw_read_own_file(path, TW_READ_ALL, &bytes, &size, error));

    tw_status status = TW_OK;
    if (format == TW_FRAMES_VTU)
        status = tw_vtu_read(path, bytes, size, table, values, error);
    else
        status = read_csv(path, bytes, table, values, error);
    tw_release(bytes);
    return status;
}
