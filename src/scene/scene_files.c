/* Files that a scene names: relative to the scene file, or among the meshes that `twang fetch-meshes` got. The tree
 * then holds the whole path, so that the copy of the scene in a run's directory finds them too. */
#define _DEFAULT_SOURCE /* realpath */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fail.h"
#include "scene/scene_internal.h"

enum { PATH_SIZE = 4096 };

/* The folder of the file the text stands in, with its slash; empty for the working directory. */
static void folder_of(const tw_mark *mark, char folder[PATH_SIZE])
{
    const char *slash = mark->line > 0 ? strrchr(mark->origin, '/') : NULL;
    snprintf(folder, PATH_SIZE, "%.*s", slash ? (int)(slash - mark->origin) + 1 : 0, mark->origin);
}

static bool is_there(const char *path)
{
    return access(path, R_OK) == 0;
}

/* The folder of fetched meshes: TWANG_MESHES, or twang/meshes in the user's data. */
static void fetched_folder(char folder[PATH_SIZE])
{
    const char *own = getenv("TWANG_MESHES"), *data = getenv("XDG_DATA_HOME"),
               *home = getenv("HOME");
    if (own)
        snprintf(folder, PATH_SIZE, "%.3000s/", own);
    else if (data && data[0])
        snprintf(folder, PATH_SIZE, "%.3000s/twang/meshes/", data);
    else
        snprintf(folder, PATH_SIZE, "%.3000s/.local/share/twang/meshes/", home ? home : ".");
}

static bool find_file(const tw_node *file, char path[PATH_SIZE])
{
    char folder[PATH_SIZE];
    const char *slash = strrchr(file->text, '/'), *last = slash ? slash + 1 : file->text;
    if (file->text[0] == '/') {
        snprintf(path, PATH_SIZE, "%.4000s", file->text);
        return is_there(path);
    }
    folder_of(&file->mark, folder);
    if (snprintf(path, PATH_SIZE, "%.3000s%.1000s", folder, file->text) < PATH_SIZE &&
        is_there(path))
        return true;
    fetched_folder(folder);
    return snprintf(path, PATH_SIZE, "%.3000s%.1000s", folder, last) < PATH_SIZE && is_there(path);
}

static tw_status resolve(tw_scene *scene, tw_node *file, const char *path, tw_error *error)
{
    char found[PATH_SIZE];
    if (!find_file(file, found))
        return tw_fail_at(error, file->mark,
                          "%s.file is '%.200s', which is not there; `twang fetch-meshes` gets the "
                          "bunny and the dragon",
                          path, file->text);
    char *whole = realpath(found, NULL);
    const char *text = whole ? tw_tree_text(&scene->tree, whole, strlen(whole)) : NULL;
    free(whole);
    if (!text) return tw_fail_plain(error, TW_OUT_OF_MEMORY);
    file->text = text;
    return TW_OK;
}

tw_status tw_scene_resolve_files(tw_scene *scene, tw_error *error)
{
    const tw_node *bodies = tw_scene_node(scene, "bodies");
    tw_status status = TW_OK;
    int index = 0;
    for (const tw_node *body = bodies ? bodies->first : NULL; body && status == TW_OK;
         body = body->next) {
        char path[32];
        tw_node *file = tw_node_find(body, "file");
        snprintf(path, sizeof path, "bodies.%d", index++);
        if (file) status = resolve(scene, file, path, error);
    }
    return status;
}
