#include "io/manifest.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/allocate.h"
#include "base/fail.h"
#include "base/read_file.h"
#include "io/file.h"
#include "io/frames.h"

/* The first line; the hash of scene.yaml follows it. */
static const char head[] = "twang wrote the files named here; scene.yaml ";

enum { LONGEST_NAME = 512, LONGEST_MANIFEST = 1 << 20 };

/* ---- the list ---- */

/* Takes the line at *at into `name` and moves on; false behind the last one. Names that are too long
 * are no names of ours and come out empty. */
static bool next_name(const char **at, char name[LONGEST_NAME])
{
    if (!*at || !**at) return false;

    size_t length = strcspn(*at, "\n");
    name[0] = '\0';
    if (length < LONGEST_NAME) snprintf(name, LONGEST_NAME, "%.*s", (int)length, *at);
    *at += length + ((*at)[length] == '\n');
    return true;
}

bool tw_manifest_has(const tw_manifest *manifest, const char *name)
{
    char line[LONGEST_NAME] = "";
    for (const char *at = manifest->lines.bytes; next_name(&at, line);)
        if (strcmp(line, name) == 0) return true;
    return false;
}

void tw_manifest_free(tw_manifest *manifest)
{
    tw_text_free(&manifest->lines);
}

/* ---- the file ---- */

tw_status tw_manifest_read(const char *directory, tw_manifest *manifest, tw_error *error)
{
    *manifest = (tw_manifest){0};
    char path[TW_FILE_PATH_SIZE];
    TW_TRY(tw_file_path(path, directory, TW_MANIFEST_NAME, error));
    if (!tw_file_exists(path)) return TW_OK;

    char *text = NULL;
    size_t size = 0;
    TW_TRY(tw_read_own_file(path, LONGEST_MANIFEST, &text, &size, error));
    bool is_ours = size <= LONGEST_MANIFEST && strncmp(text, head, sizeof head - 1) == 0;
    const char *lines = is_ours ? strchr(text, '\n') : NULL;
    if (lines) {
        manifest->scene_hash = strtoull(text + sizeof head - 1, NULL, 16);
        tw_text_add(&manifest->lines, "%s", lines + 1);
    }

    tw_release(text);
    if (manifest->lines.failed) return tw_fail_plain(error, TW_OUT_OF_MEMORY);
    if (lines) return TW_OK;
    return tw_fail(error, TW_BAD_INPUT, "%s: is not a list of files by twang", path);
}

tw_status tw_manifest_write(const char *directory, const tw_manifest *manifest, tw_error *error)
{
    char path[TW_FILE_PATH_SIZE];
    TW_TRY(tw_file_path(path, directory, TW_MANIFEST_NAME, error));

    tw_text text = {0};
    tw_text_add(&text, "%s%016" PRIx64 "\n%s", head, manifest->scene_hash,
                manifest->lines.bytes ? manifest->lines.bytes : "");
    tw_status status = text.failed || manifest->lines.failed
                           ? tw_fail_plain(error, TW_OUT_OF_MEMORY)
                           : tw_file_replace(path, text.bytes, text.size, error);
    tw_text_free(&text);
    return status;
}

/* ---- the files in it ---- */

/* What a line stands for: a file, or frames of one format. */
typedef struct entry {
    char folder[TW_FILE_PATH_SIZE]; /* of the files */
    char name[LONGEST_NAME];        /* in the folder; of frames "frame_*.csv" */
    unsigned format;                /* of frames; 0 for a file */
    int64_t count;                  /* frames 0 to count - 1 are meant */
} entry;

/* Reads "frame_*.csv 13". A line without a number stands for no frames. */
static void read_frames(entry *e)
{
    static const char pattern[] = "frame_*.";
    if (strncmp(e->name, pattern, sizeof pattern - 1) != 0) return;

    char *space = strchr(e->name, ' ');
    if (space) {
        e->count = strtoll(space + 1, NULL, 10);
        *space = '\0';
    }
    e->format = tw_frame_format_of(e->name + sizeof pattern - 1);
}

/* Reads a line. False for a name that is not one of ours: it leads out of the directory, or deeper
 * than the folder of the frames. */
static bool read_entry(const char *directory, const char *line, entry *e)
{
    static const char frames[] = "frames/";
    bool in_folder = strncmp(line, frames, sizeof frames - 1) == 0;
    const char *rest = in_folder ? line + sizeof frames - 1 : line;
    if (!*rest || strchr(rest, '/') || rest[0] == '.') return false;

    e->format = 0;
    e->count = 0;
    snprintf(e->name, sizeof e->name, "%s", rest);
    read_frames(e);

    if (in_folder) return tw_file_path(e->folder, directory, "frames", NULL) == TW_OK;
    int length = snprintf(e->folder, sizeof e->folder, "%s", directory);
    return length > 0 && length < TW_FILE_PATH_SIZE;
}

/* How many of the frames that the entry stands for are in the manifest. */
static int64_t frames_in_manifest(const char *directory, const tw_manifest *manifest,
                                  const entry *wanted)
{
    char line[LONGEST_NAME] = "";
    int64_t count = 0;
    for (const char *at = manifest->lines.bytes; next_name(&at, line);) {
        entry e;
        if (!read_entry(directory, line, &e) || e.format != wanted->format) continue;
        bool same = strcmp(e.folder, wanted->folder) == 0 && strcmp(e.name, wanted->name) == 0;
        if (same && e.count > count) count = e.count;
    }
    return count;
}

/* Whether one of the files that the entry stands for is there and not in the manifest. */
static bool is_taken(const char *directory, const tw_manifest *manifest, const char *line,
                     const entry *e)
{
    if (e->format) {
        int64_t ours = frames_in_manifest(directory, manifest, e);
        return tw_frames_exist(e->folder, (tw_frame_range){e->format, ours, e->count});
    }

    char path[TW_FILE_PATH_SIZE];
    if (tw_manifest_has(manifest, line)) return false;
    return tw_file_path(path, e->folder, e->name, NULL) == TW_OK && tw_file_exists(path);
}

void tw_manifest_keep(const char *directory, tw_manifest *manifest, const tw_manifest *before)
{
    char line[LONGEST_NAME] = "";
    for (const char *at = before->lines.bytes; next_name(&at, line);) {
        entry e;
        if (!read_entry(directory, line, &e) || !is_taken(directory, manifest, line, &e)) continue;

        /* What has the name and is no file was not written by twang. */
        char path[TW_FILE_PATH_SIZE];
        bool has_path = tw_file_path(path, e.folder, e.name, NULL) == TW_OK;
        if (has_path && !tw_file_is_special(path)) tw_text_add(&manifest->lines, "%s\n", line);
    }
}

/* Refuses a folder of frames that is a link, or no folder. */
static tw_status check_folder(const char *directory, const entry *e, tw_error *error)
{
    if (strcmp(e->folder, directory) == 0) return TW_OK;
    TW_TRY(tw_file_refuse_link(e->folder, error));
    return tw_file_expect_directory(e->folder, error);
}

/* Refuses what is no file and has the name of one that the entry stands for, or of its half. */
static tw_status check_regular(const entry *e, tw_error *error)
{
    if (e->format)
        return tw_frames_expect_regular(e->folder, (tw_frame_range){e->format, 0, e->count}, error);

    char path[TW_FILE_PATH_SIZE];
    char half[LONGEST_NAME + 8];
    snprintf(half, sizeof half, "%s.part", e->name);
    TW_TRY(tw_file_path(path, e->folder, e->name, error));
    TW_TRY(tw_file_expect_regular(path, error));
    TW_TRY(tw_file_path(path, e->folder, half, error));
    return tw_file_expect_regular(path, error);
}

tw_status tw_manifest_check_regular(const char *directory, const tw_text *names, tw_error *error)
{
    char line[LONGEST_NAME] = "";
    for (const char *at = names->bytes; next_name(&at, line);) {
        entry e;
        if (!read_entry(directory, line, &e)) continue;
        TW_TRY(check_folder(directory, &e, error));
        TW_TRY(check_regular(&e, error));
    }
    return TW_OK;
}

tw_status tw_manifest_check_free(const char *directory, const tw_manifest *manifest,
                                 const tw_text *names, tw_error *error)
{
    char line[LONGEST_NAME] = "";
    for (const char *at = names->bytes; next_name(&at, line);) {
        entry e;
        if (!read_entry(directory, line, &e)) continue;
        if (is_taken(directory, manifest, line, &e))
            return tw_fail(error, TW_BAD_INPUT,
                           "%s/%s: is there already and was not written by twang, name another "
                           "directory",
                           e.folder, e.name);
    }
    return TW_OK;
}

/* Removes a file. What has its name and is no file (a folder, a pipe) was not written by twang. */
static tw_status remove_file(const char *folder, const char *name, tw_error *error)
{
    char path[TW_FILE_PATH_SIZE];
    TW_TRY(tw_file_path(path, folder, name, error));
    return tw_file_is_special(path) ? TW_OK : tw_file_remove(path, error);
}

/* Removes what the entry stands for, and the half file beside a file. */
static tw_status remove_entry(const entry *e, tw_error *error)
{
    if (e->format) return tw_frames_cut(e->folder, (tw_frame_range){e->format, 0, e->count}, error);

    char half[LONGEST_NAME + 8];
    snprintf(half, sizeof half, "%s.part", e->name);
    TW_TRY(remove_file(e->folder, e->name, error));
    return remove_file(e->folder, half, error);
}

tw_status tw_manifest_remove_files(const char *directory, const tw_manifest *manifest,
                                   tw_error *error)
{
    char line[LONGEST_NAME] = "";
    entry e;
    for (const char *at = manifest->lines.bytes; next_name(&at, line);)
        if (read_entry(directory, line, &e)) TW_TRY(check_folder(directory, &e, error));

    /* Nothing is refused from here on. */
    for (const char *at = manifest->lines.bytes; next_name(&at, line);)
        if (read_entry(directory, line, &e)) TW_TRY(remove_entry(&e, error));
    return TW_OK;
}

tw_status tw_manifest_claim(const char *directory, tw_manifest *manifest, const tw_text *names,
                            tw_error *error)
{
    TW_TRY(tw_manifest_check_free(directory, manifest, names, error));

    char line[LONGEST_NAME] = "";
    for (const char *at = names->bytes; next_name(&at, line);) {
        entry e;
        if (!read_entry(directory, line, &e)) continue;

        /* Frames of an earlier series go: it may have had more of them. */
        if (e.format) {
            e.count = frames_in_manifest(directory, manifest, &e);
            TW_TRY(tw_file_refuse_link(e.folder, error));
            TW_TRY(remove_entry(&e, error));
        }
        if (!tw_manifest_has(manifest, line)) tw_text_add(&manifest->lines, "%s\n", line);
    }
    return tw_manifest_write(directory, manifest, error);
}
