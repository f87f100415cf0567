/* Our own VTU files (frames_vtu.c), not anybody's: arrays of doubles, appended raw, compressed in blocks. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/allocate.h"
#include "base/fail.h"
#include "io/read_frame.h"

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

/* Where the appended data begin. */
static bool find_data(vtu *file)
{
    static const char mark[] = "<AppendedData encoding=\"raw\">\n_";
    const char *found =
        strstr(file->bytes, mark); /* the text before it has no zeros, and after it there is one */
    if (!found) return false;
    file->header = (size_t)(found - file->bytes) + sizeof mark - 1;
    return file->header <= file->size;
}

/* The offset of a Float64 array, from its tag. */
static bool find_array(const vtu *file, const char *name, size_t *offset)
{
    char tag[96];
    snprintf(tag, sizeof tag, "<DataArray type=\"Float64\" Name=\"%.32s\" ", name);
    const char *found = strstr(file->bytes, tag), *end = file->bytes + file->header;
    const char *at = found && found < end ? strstr(found, "offset=\"") : NULL;
    if (!at || at > end) return false;
    unsigned long long value = strtoull(at + 8, NULL, 10);
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

/* `wanted` bytes of an array into `out`; false if they are not there. */
static bool inflate_array(const vtu *file, size_t at, char *out, size_t wanted)
{
    uint64_t blocks, block, last, compressed = 0;
    if (!take_integer(file, &at, &blocks) || !take_integer(file, &at, &block) ||
        !take_integer(file, &at, &last))
        return false;
    if (block == 0 || blocks != (wanted + block - 1) / block || last != wanted % block)
        return false;
    if (blocks > (file->size - at) / sizeof compressed) return false;
    size_t sizes = at, data = at + blocks * sizeof compressed;
    for (uint64_t b = 0; b < blocks; b++) {
        size_t rest = wanted - b * block;
        uLongf got = (uLongf)(rest < block ? rest : block), expected = got;
        take_integer(file, &sizes, &compressed);
        if (compressed > file->size - data) return false;
        int result = uncompress((Bytef *)out + b * block, &got, (const Bytef *)file->bytes + data,
                                (uLong)compressed);
        if (result != Z_OK || got != expected) return false;
        data += compressed;
    }
    return true;
}

/* `width` columns of the table from `column` on. */
static bool read_columns(const vtu *file, const char *name, int column, int width,
                         const tw_table *table, double *scratch, double *values)
{
    size_t offset;
    if (!find_array(file, name, &offset)) return false;
    if (!inflate_array(file, offset, (char *)scratch,
                       (size_t)(width * table->row_count) * sizeof(double)))
        return false;
    for (int64_t r = 0; r < table->row_count; r++)
        memcpy(values + r * table->column_count + column, scratch + r * width,
               (size_t)width * sizeof(double));
    return true;
}

tw_status tw_vtu_read(const char *path, const char *bytes, size_t size, const tw_table *table,
                      double *values, tw_error *error)
{
    vtu file = {.path = path, .bytes = bytes, .size = size};
    if (!find_data(&file) || table->column_count < 6) return damaged(&file, error);
    double *scratch = TW_NEW_ARRAY(3 * table->row_count, double);
    if (!scratch) return tw_fail_plain(error, TW_OUT_OF_MEMORY);
    bool good = read_columns(&file, "Points", 0, 3, table, scratch, values) &&
                read_columns(&file, "velocity", 3, 3, table, scratch, values);
    for (int c = 6; good && c < table->column_count; c++)
        good = read_columns(&file, table->columns[c], c, 1, table, scratch, values);
    tw_release(scratch);
    return good ? TW_OK : damaged(&file, error);
}
