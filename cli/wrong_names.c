/* Names that are not what a verb needs: what is wrong with them, and what would be right. */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "command.h"

enum { MAX_SCENES = 64, NAME_SIZE = 64 };

/* The scenes that come with twang. */
typedef struct scene_names {
    char names[MAX_SCENES][NAME_SIZE];
    const char *list[MAX_SCENES];
    int count;
} scene_names;

static void collect_name(void *context, const char *name, const char *path, const char *line)
{
    (void)path;
    (void)line;
    scene_names *n = context;
    if (n->count == MAX_SCENES) return;

    snprintf(n->names[n->count], NAME_SIZE, "%.*s", NAME_SIZE - 1, name);
    n->list[n->count] = n->names[n->count];
    n->count++;
}

bool ends_in(const char *path, const char *suffix)
{
    size_t length = strlen(path);
    size_t size = strlen(suffix);
    return length > size && strcmp(path + length - size, suffix) == 0;
}

static bool is_mesh(const char *file)
{
    static const char *const suffixes[] = {".obj", ".ply",  ".stl",  ".msh",
                                           ".vtk", ".mesh", ".node", ".ele"};
    for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++)
        if (ends_in(file, suffixes[i])) return true;
    return false;
}

static bool is_directory(const char *path)
{
    struct stat about;
    return stat(path, &about) == 0 && S_ISDIR(about.st_mode);
}

/* Whether there is a file of this name in the directory. */
static bool holds(const char *directory, const char *name)
{
    char path[4096];
    int length = snprintf(path, sizeof path, "%s/%s", directory, name);
    return length > 0 && (size_t)length < sizeof path && access(path, F_OK) == 0;
}

/* The name of a file without folders and suffix. */
static void stem_of(const char *path, char stem[NAME_SIZE])
{
    const char *slash = strrchr(path, '/');
    const char *file = slash ? slash + 1 : path;
    snprintf(stem, NAME_SIZE, "%.*s", (int)strcspn(file, "."), file);
}

/* A file that is not there, or a word that is no scene. False: nothing is like it, and it looks like a
 * file. */
static bool suggest_scene(const char *given)
{
    /* rope.yml for rope.yaml. */
    char beside[4096];
    const char *dot = strrchr(given, '.');
    bool has_suffix = dot && !strchr(dot, '/');
    snprintf(beside, sizeof beside, "%.*s.yaml", has_suffix ? (int)(dot - given) : 4000, given);
    if (strcmp(beside, given) != 0 && access(beside, F_OK) == 0 && !is_directory(beside)) {
        wrong_use("there is no file '%s', did you mean '%s'?", given, beside);
        return true;
    }

    /* One of the scenes that come with twang. */
    scene_names known = {0};
    char stem[NAME_SIZE];
    visit_scenes(collect_name, &known);
    stem_of(given, stem);

    const char *nearest = tw_nearest_name(stem, known.list, known.count);
    bool is_name = strcspn(given, "/.") == strlen(given);
    if (nearest) {
        wrong_use("there is no %s '%s', did you mean %s'%s'?", is_name ? "scene" : "file", given,
                  is_name ? "" : "the scene ", nearest);
        return true;
    }

    if (is_name)
        wrong_use("there is no scene '%s', name a file or one of twang list scenes", given);
    return is_name;
}

bool refuse_scene(const char *given, const char *path)
{
    if (given[0] == '\0') {
        wrong_use("the name of the scene is empty, name a file or one of twang list scenes");
        return true;
    }

    /* A directory, of a run or of anything else. */
    if (!path && is_directory(given)) path = given;
    if (path && is_directory(path)) {
        if (holds(path, "scene.yaml"))
            wrong_use("%s is the directory of a run, and not a scene: twang resume goes on with "
                      "it, twang view shows it, and twang run %s/scene.yaml makes it again",
                      path, shell_word(path));
        else
            wrong_use("%s is a directory, and not a scene: name a file in it, or one of twang "
                      "list scenes",
                      path);
        return true;
    }

    bool is_there = path && access(path, F_OK) == 0;
    if (path && is_mesh(path)) {
        if (is_there)
            wrong_use("%s is a mesh, and not a scene: twang new %s makes a scene of it", path,
                      shell_word(path));
        else
            wrong_use("there is no file '%s'; it would be a mesh, of which twang new makes a scene",
                      path);
        return true;
    }
    return !is_there && suggest_scene(given);
}

bool refuse_run(const char *given)
{
    if (given[0] == '\0') {
        wrong_use("the name of the directory is empty, name that of a run, such as runs/rope-1");
        return true;
    }
    if (is_directory(given)) return false;

    /* A scene instead of its run: a file, or the name of one that comes with twang. */
    char buffer[4096];
    const char *scene = find_scene(given, buffer, sizeof buffer);
    bool is_there = scene && access(scene, F_OK) == 0;
    if (is_there && ends_in(scene, ".yaml")) {
        wrong_use("%s is a scene, and not the directory of a run: twang run %s makes one", given,
                  shell_word(given));
        return true;
    }

    /* Any other file. What is not there at all is for the library to say. */
    if (access(given, F_OK) != 0) return false;
    wrong_use("%s is a file, and not the directory of a run, such as runs/rope-1", given);
    return true;
}

void unknown_scheme(const char *where, const char *name)
{
    const char *names[TW_SCHEME_COUNT];
    for (int i = 0; i < TW_SCHEME_COUNT; i++) names[i] = tw_scheme_name((tw_scheme)i);
    const char *nearest = tw_nearest_name(name, names, TW_SCHEME_COUNT);

    if (nearest)
        wrong_use("%s: there is no integrator '%s', did you mean '%s'?", where, name, nearest);
    else
        wrong_use("%s: there is no integrator '%s', twang list integrators shows them", where,
                  name);
}
