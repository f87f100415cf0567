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

void tw_manifest_add(tw_manifest *manifest, const char *name)
{
    if (!tw_manifest_has(manifest, name)) tw_text_add(&manifest->lines, "%s\n", name);
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

/* Splits a name into the folder below the directory and the rest. False for a name that is not one
 * of ours: it leads out of the directory, or deeper than one folder. */
static bool split(const char *directory, const char *name, char folder[TW_FILE_PATH_SIZE],
                  const char **rest)
{
    static const char frames[] = "frames/";
    bool in_folder = strncmp(name, frames, sizeof frames - 1) == 0;

    *rest = in_folder ? name + sizeof frames - 1 : name;
    if (!**rest || strchr(*rest, '/') || (*rest)[0] == '.') return false;

    if (in_folder) return tw_file_path(folder, directory, "frames", NULL) == TW_OK;
    int length = snprintf(folder, TW_FILE_PATH_SIZE, "%s", directory);
    return length > 0 && length < TW_FILE_PATH_SIZE;
}

/* The format of "frame_*.csv"; 0 for another name. */
static unsigned format_of_pattern(const char *name)
{
    static const char pattern[] = "frame_*.";
    if (strncmp(name, pattern, sizeof pattern - 1) != 0) return 0;
    return tw_frame_format_of(name + sizeof pattern - 1);
}

tw_status tw_manifest_check_free(const char *directory, const tw_manifest *manifest,
                                 const tw_text *names, tw_error *error)
{
    char name[LONGEST_NAME] = "";
    for (const char *at = names->bytes; next_name(&at, name);) {
        char folder[TW_FILE_PATH_SIZE];
        char path[TW_FILE_PATH_SIZE];
        const char *rest = NULL;
        if (tw_manifest_has(manifest, name) || !split(directory, name, folder, &rest)) continue;

        /* Frames of any number, or the file itself. */
        unsigned format = format_of_pattern(rest);
        bool taken = format && tw_frames_exist(folder, format);
        TW_TRY(tw_file_path(path, folder, rest, error));
        if (taken || tw_file_exists(path))
            return tw_fail(error, TW_BAD_INPUT,
                           "%s: is there already and was not written by twang, name another "
                           "directory",
                           path);
    }
    return TW_OK;
}

/* Removes a file and the half one beside it. */
static tw_status remove_file(const char *folder, const char *name, tw_error *error)
{
    char path[TW_FILE_PATH_SIZE];
    char half[LONGEST_NAME + 8];
    TW_TRY(tw_file_path(path, folder, name, error));
    TW_TRY(tw_file_remove(path, error));

    snprintf(half, sizeof half, "%s.part", name);
    TW_TRY(tw_file_path(path, folder, half, error));
    return tw_file_remove(path, error);
}

tw_status tw_manifest_remove_files(const char *directory, const tw_manifest *manifest,
                                   tw_error *error)
{
    char name[LONGEST_NAME] = "";
    for (const char *at = manifest->lines.bytes; next_name(&at, name);) {
        char folder[TW_FILE_PATH_SIZE];
        const char *rest = NULL;
        if (!split(directory, name, folder, &rest)) continue;
        if (strcmp(folder, directory) != 0) TW_TRY(tw_file_refuse_link(folder, error));

        unsigned format = format_of_pattern(rest);
        if (format)
            TW_TRY(tw_frames_cut(folder, format, 0, error));
        else
            TW_TRY(remove_file(folder, rest, error));
    }
    return TW_OK;
}
