#include "io/read_frame.h"

#include <string.h>

#include "base/allocate.h"
#include "base/fail.h"
#include "base/number.h"
#include "io/file.h"

/* Ends the field that begins at *at with a zero, and moves on behind it; false if there is none or `end` is not what
 * ends it. */
static bool take_field(char **at, char end, const char **field)
{
    char *stop = *at + strcspn(*at, ",\n");
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
    for (int c = 0; c <= last; c++)
        if (!take_field(&at, c == last ? '\n' : ',', &field) ||
            strcmp(field, table->columns[c]) != 0)
            return tw_fail(error, TW_BAD_INPUT, "%s:1: is not a frame of this scene", path);
    for (int64_t r = 0; r < table->row_count; r++)
        for (int c = 0; c <= last; c++) {
            double *value = &values[r * table->column_count + c];
            if (!take_field(&at, c == last ? '\n' : ',', &field) || !tw_number_parse(field, value))
                return tw_fail(error, TW_BAD_INPUT, "%s:%lld: is not a whole row of numbers", path,
                               (long long)r + 2);
        }
    if (*at) return tw_fail(error, TW_BAD_INPUT, "%s: has more rows than the scene has", path);
    return TW_OK;
}

tw_status tw_frame_read(const char *path, unsigned format, const tw_table *table, double *values,
                        tw_error *error)
{
    char *bytes = NULL;
    size_t size = 0;
    tw_status status = tw_file_read(path, &bytes, &size, error);
    if (status != TW_OK) return status;
    status = format == TW_FRAMES_VTU ? tw_vtu_read(path, bytes, size, table, values, error)
                                     : read_csv(path, bytes, table, values, error);
    tw_release(bytes);
    return status;
}
