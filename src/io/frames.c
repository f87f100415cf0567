#define _POSIX_C_SOURCE 200809L
#include "io/frames.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fail.h"
#include "io/file.h"

void tw_table_to_csv(const tw_table *table, tw_text *text)
{
    for (int c = 0; c < table->column_count; c++) tw_text_add(text, "%s%s", c ? "," : "", table->columns[c]);
    tw_text_add(text, "\n");
    for (int64_t r = 0; r < table->row_count; r++) {
        for (int c = 0; c < table->column_count; c++) {
            if (c) tw_text_add(text, ",");
            tw_text_add_number(text, table->values[r * table->column_count + c]);
        }
        tw_text_add(text, "\n");
    }
}

static void write_csv(const tw_frame *frame, tw_text *out)
{
    tw_table_to_csv(frame->table, out);
}

static const tw_frame_format formats[] = {{"csv", "csv", write_csv}};

const tw_frame_format *tw_frame_format_of(const char *name)
{
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
        if (strcmp(formats[i].name, name) == 0) return &formats[i];
    return NULL;
}

static tw_status frame_path(char path[TW_FILE_PATH_SIZE], const tw_frame_format *format, const char *folder,
                            int64_t index, tw_error *error)
{
    char name[64];
    snprintf(name, sizeof name, "frame_%06lld.%s", (long long)index, format->suffix);
    return tw_file_path(path, folder, name, error);
}

/* Not flushed here: frames after the last checkpoint are written again by a resumed run, and the checkpoint flushes. */
static tw_status write_file(const char *path, const tw_text *text, tw_error *error)
{
    FILE *file = fopen(path, "wb");
    if (!file) return tw_fail(error, TW_INPUT_OUTPUT, "%s: cannot be written: %s", path, strerror(errno));
    bool good = fwrite(text->bytes, 1, text->size, file) == text->size;
    int reason = errno;
    if (fclose(file) != 0 && good) {
        good = false;
        reason = errno;
    }
    return good ? TW_OK : tw_fail(error, TW_INPUT_OUTPUT, "%s: cannot be written: %s", path, strerror(reason));
}

tw_status tw_frame_write(const tw_frame_format *format, const char *folder, const tw_frame *frame, tw_text *scratch,
                         tw_error *error)
{
    char path[TW_FILE_PATH_SIZE];
    tw_status status = frame_path(path, format, folder, frame->index, error);
    if (status != TW_OK) return status;
    tw_text_clear(scratch);
    format->write(frame, scratch);
    if (scratch->failed) return tw_fail_plain(error, TW_OUT_OF_MEMORY);
    if (mkdir(folder, 0777) != 0 && errno != EEXIST)
        return tw_fail(error, TW_INPUT_OUTPUT, "%s: cannot be made: %s", folder, strerror(errno));
    return write_file(path, scratch, error);
}

tw_status tw_frames_flush(const tw_frame_format *format, const char *folder, int64_t from, int64_t to, tw_error *error)
{
    tw_status status = TW_OK;
    for (int64_t i = from; i < to && status == TW_OK; i++) {
        char path[TW_FILE_PATH_SIZE];
        status = frame_path(path, format, folder, i, error);
        if (status == TW_OK) status = tw_file_flush(path, error);
    }
    return status;
}

/* The index in "frame_000012.csv", or -1 for another file. */
static long long index_in(const char *name)
{
    if (strncmp(name, "frame_", 6) != 0) return -1;
    char *end = NULL;
    long long index = strtoll(name + 6, &end, 10);
    return end > name + 6 && *end == '.' ? index : -1;
}

tw_status tw_frames_cut(const char *folder, int64_t keep, tw_error *error)
{
    DIR *directory = opendir(folder);
    if (!directory) return errno == ENOENT ? TW_OK : tw_fail(error, TW_INPUT_OUTPUT, "%s: %s", folder, strerror(errno));
    tw_status status = TW_OK;
    for (struct dirent *entry; status == TW_OK && (entry = readdir(directory));) {
        char path[TW_FILE_PATH_SIZE];
        if (index_in(entry->d_name) < keep) continue;
        status = tw_file_path(path, folder, entry->d_name, error);
        if (status == TW_OK) status = tw_file_remove(path, error);
    }
    closedir(directory);
    if (keep == 0) rmdir(folder);
    return status;
}
