/* Finds the files that a scene names: relative to the scene file, or among the meshes that `twang
 * fetch-meshes` downloaded. The tree then holds the absolute path, so that the copy of the scene in
 * a run's directory finds them too. */
#define _DEFAULT_SOURCE /* realpath */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/allocate.h"
#include "base/fail.h"
#include "scene/scene_internal.h"
#include "scene/sequence_motion.h"

enum {
    PATH_SIZE = 4096,
    FIRST_FILES = 16 /* room in the list of files at first */
};

static const char MESH_HINT[] = "; `twang fetch-meshes` gets the bunny and the dragon";

/* The folder of the file that the text stands in, with its slash; empty for the
 * working directory. */
static void folder_of(const tw_mark *mark, char folder[PATH_SIZE])
{
    const char *slash = mark->line > 0 ? strrchr(mark->origin, '/') : NULL;
    int length = slash ? (int)(slash - mark->origin) + 1 : 0;
    snprintf(folder, PATH_SIZE, "%.*s", length, mark->origin);
}

static bool is_there(const char *path)
{
    return access(path, R_OK) == 0;
}

/* The folder of downloaded meshes: TWANG_MESHES, or twang/meshes in the user's data. */
static void mesh_folder(char folder[PATH_SIZE])
{
    const char *own = getenv("TWANG_MESHES");
    const char *data = getenv("XDG_DATA_HOME");
    const char *home = getenv("HOME");
    if (own)
        snprintf(folder, PATH_SIZE, "%.3000s/", own);
    else if (data && data[0])
        snprintf(folder, PATH_SIZE, "%.3000s/twang/meshes/", data);
    else
        snprintf(folder, PATH_SIZE, "%.3000s/.local/share/twang/meshes/", home ? home : ".");
}

/* folder + name, if there is such a file. */
static bool find_in(const char *folder, const char *name, char path[PATH_SIZE])
{
    int length = snprintf(path, PATH_SIZE, "%.3000s%.1000s", folder, name);
    return length < PATH_SIZE && is_there(path);
}

static bool find_file(const tw_node *file, char path[PATH_SIZE])
{
    if (file->text[0] == '/') {
        snprintf(path, PATH_SIZE, "%.4000s", file->text);
        return is_there(path);
    }

    /* Beside the scene file. */
    char folder[PATH_SIZE];
    folder_of(&file->mark, folder);
    if (find_in(folder, file->text, path)) return true;

    /* Among the downloaded meshes, which are in one folder. */
    const char *slash = strrchr(file->text, '/');
    mesh_folder(folder);
    return find_in(folder, slash ? slash + 1 : file->text, path);
}

/* Adds a file to those that the scene reads. The tree has the text of its path. */
static tw_status note_file(tw_scene *scene, const char *path, tw_error *error)
{
    /* The list grows by doubling. */
    if (scene->file_count == scene->file_capacity) {
        int capacity = scene->file_capacity ? 2 * scene->file_capacity : FIRST_FILES;
        const char **larger = TW_NEW_ARRAY(capacity, const char *);
        if (!larger) return tw_fail_plain(error, TW_OUT_OF_MEMORY);
        for (int i = 0; i < scene->file_count; i++) larger[i] = scene->files[i];
        tw_release((void *)scene->files);
        scene->files = larger;
        scene->file_capacity = capacity;
    }

    scene->files[scene->file_count++] = path;
    return TW_OK;
}

/* A file is read more than once: when the scene is built, and for its hash. A pipe cannot be. */
static bool is_regular(const char *path)
{
    struct stat about;
    return stat(path, &about) == 0 && S_ISREG(about.st_mode);
}

/* Puts the absolute path of a file into the tree. `hint` is what a user may do if it is absent. */
static tw_status resolve(tw_scene *scene, tw_node *file, const char *path, const char *hint,
                         tw_error *error)
{
    char found[PATH_SIZE];
    if (!find_file(file, found))
        return tw_fail_at(error, file->mark, "%s.%s is '%.200s', which is not there%s", path,
                          file->key, file->text, hint);

    if (!is_regular(found))
        return tw_fail_at(error, file->mark, "%s.%s is '%.200s', which is not a regular file", path,
                          file->key, file->text);

    char *absolute = realpath(found, NULL);
    if (!absolute) return tw_fail_plain(error, TW_OUT_OF_MEMORY);
    const char *text = tw_tree_text(&scene->tree, absolute, strlen(absolute));
    free(absolute);
    if (!text) return tw_fail_plain(error, TW_OUT_OF_MEMORY);
    file->text = text;
    return note_file(scene, text, error);
}

/* Adds the files of a sequence after its first one to those that the scene reads. */
static tw_status note_sequence(tw_scene *scene, const tw_node *motion, const char *pattern,
                               int64_t first, tw_error *error)
{
    int64_t count = tw_node_integer(motion, "count");
    for (int64_t number = first + 1; number < first + count; number++) {
        char path[TW_SEQUENCE_PATH_SIZE];
        if (!tw_sequence_file(pattern, number, path))
            return tw_fail_at(error, motion->mark, "the name of file %lld is too long",
                              (long long)number);

        const char *text = tw_tree_text(&scene->tree, path, strlen(path));
        if (!text) return tw_fail_plain(error, TW_OUT_OF_MEMORY);
        TW_TRY(note_file(scene, text, error));
    }
    return TW_OK;
}

/* Makes the pattern of a sequence of files absolute: the folder of its first file, and the name. */
static tw_status resolve_sequence(tw_scene *scene, const tw_node *motion, const char *path,
                                  tw_error *error)
{
    tw_node *files = tw_node_find(motion, "files");
    if (!files) return TW_OK;
    const tw_node *given = tw_node_find(motion, "first");
    int64_t number = given ? (int64_t)given->number : 1;
    char first[TW_SEQUENCE_PATH_SIZE];
    if (!tw_sequence_file(files->text, number, first))
        return tw_fail_at(error, files->mark,
                          "%s.motion.files is '%.200s', must have # in one place for the digits of "
                          "the number",
                          path, files->text);

    tw_node found = *files;
    found.text = first;
    char motion_path[TW_ENTRY_PATH_SIZE];
    snprintf(motion_path, sizeof motion_path, "%.20s.motion", path);
    TW_TRY(resolve(scene, &found, motion_path, "", error));

    /* That folder, and the name of the pattern. */
    const char *name = strrchr(files->text, '/');
    char pattern[2 * PATH_SIZE];
    int folder = (int)(strrchr(found.text, '/') - found.text) + 1;
    int length = snprintf(pattern, sizeof pattern, "%.*s%s", folder, found.text,
                          name ? name + 1 : files->text);

    files->text = tw_tree_text(&scene->tree, pattern, (size_t)length);
    if (!files->text) return tw_fail_plain(error, TW_OUT_OF_MEMORY);
    return note_sequence(scene, motion, files->text, number, error);
}

/* The meshes of obstacles. */
static tw_status resolve_obstacles(tw_scene *scene, tw_error *error)
{
    const tw_node *list = tw_scene_node(scene, "obstacles");
    int index = 0;
    for (const tw_node *node = list ? list->first : NULL; node; node = node->next, index++) {
        char path[TW_ENTRY_PATH_SIZE];
        snprintf(path, sizeof path, "obstacles.%d", index);
        tw_node *file = tw_node_find(node, "file");
        if (file) TW_TRY(resolve(scene, file, path, MESH_HINT, error));
        const tw_node *motion = tw_node_find(node, "motion");
        if (motion) TW_TRY(resolve_sequence(scene, motion, path, error));
    }
    return TW_OK;
}

/* The meshes of bodies, and the lists of the roots of fibres. */
static tw_status resolve_bodies(tw_scene *scene, tw_error *error)
{
    const tw_node *list = tw_scene_node(scene, "bodies");
    int index = 0;
    for (const tw_node *body = list ? list->first : NULL; body; body = body->next, index++) {
        char path[TW_ENTRY_PATH_SIZE];
        snprintf(path, sizeof path, "bodies.%d", index);
        tw_node *file = tw_node_find(body, "file");
        if (file) TW_TRY(resolve(scene, file, path, MESH_HINT, error));

        const tw_node *roots = tw_node_find(body, "roots");
        tw_node *points = roots ? tw_node_find(roots, "points") : NULL;
        snprintf(path, sizeof path, "bodies.%d.roots", index);
        if (points) TW_TRY(resolve(scene, points, path, "", error));
    }
    return TW_OK;
}

tw_status tw_scene_resolve_files(tw_scene *scene, tw_error *error)
{
    TW_TRY(resolve_bodies(scene, error));
    return resolve_obstacles(scene, error);
}

const char *tw_scene_file(const tw_scene *scene, int index)
{
    if (!scene || index < 0 || index >= scene->file_count) return NULL;
    return scene->files[index];
}
