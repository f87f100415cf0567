/* Finds scenes: in the folder TWANG_SCENES, beside the build, or where twang is installed. */
#define _POSIX_C_SOURCE 200809L
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "command.h"

enum { PATH_SIZE = 4096, SUFFIX_LENGTH = 5 /* of ".yaml" */ };

/* The folder of the running program, without the slash; "." if that cannot be known. */
static void program_folder(char folder[PATH_SIZE])
{
    ssize_t length = readlink("/proc/self/exe", folder, PATH_SIZE - 1);
    folder[length > 0 ? length : 0] = '\0';
    char *slash = strrchr(folder, '/');
    if (slash)
        *slash = '\0';
    else
        snprintf(folder, PATH_SIZE, ".");
}

static bool has_scenes(const char *folder)
{
    return access(folder, R_OK | X_OK) == 0;
}

/* The folder of the scenes; false if there is none. */
static bool scene_folder(char folder[PATH_SIZE])
{
    const char *given = getenv("TWANG_SCENES");
    if (given) {
        snprintf(folder, PATH_SIZE, "%s", given);
        return has_scenes(folder);
    }

    /* Relative to the program: in a build, and in an installation. */
    char program[PATH_SIZE];
    program_folder(program);
    static const char *const places[] = {"/../scenes", "/../share/twang/scenes"};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        int length = snprintf(folder, PATH_SIZE, "%.4000s%s", program, places[i]);
        if (length < PATH_SIZE && has_scenes(folder)) return true;
    }
    return false;
}

/* A folder with the name of a scene, such as that of an earlier run, does not hide the scene. */
static bool is_file(const char *path)
{
    struct stat about;
    return stat(path, &about) == 0 && !S_ISDIR(about.st_mode);
}

const char *find_scene(const char *given, char *buffer, size_t size)
{
    bool is_name = given[0] != '\0' && strcspn(given, "/.") == strlen(given);
    if (!is_name || is_file(given)) return given;

    char folder[PATH_SIZE];
    if (!scene_folder(folder)) return NULL;
    int length = snprintf(buffer, size, "%s/%s.yaml", folder, given);
    bool fits = length > 0 && (size_t)length < size;
    return fits && access(buffer, F_OK) == 0 ? buffer : NULL;
}

/* The first line of the file without its "# ": "rope: ten links". */
static void first_comment(const char *path, char *line, size_t size)
{
    line[0] = '\0';
    FILE *file = fopen(path, "r");
    if (!file) return;

    char text[512];
    if (fgets(text, sizeof text, file) && text[0] == '#') {
        text[strcspn(text, "\n")] = '\0';
        snprintf(line, size, "%s", text + 1 + strspn(text + 1, " "));
    }
    fclose(file);
}

static int is_scene(const struct dirent *entry)
{
    const char *name = entry->d_name;
    size_t length = strlen(name);
    if (name[0] == '.' || length <= SUFFIX_LENGTH) return 0;
    return strcmp(name + length - SUFFIX_LENGTH, ".yaml") == 0;
}

static void visit_scene(const char *folder, const char *file_name,
                        void (*visit)(void *, const char *, const char *, const char *),
                        void *context)
{
    char path[PATH_SIZE + 300];
    char name[256];
    char line[512];
    snprintf(path, sizeof path, "%s/%s", folder, file_name);
    snprintf(name, sizeof name, "%.*s", (int)strlen(file_name) - SUFFIX_LENGTH, file_name);
    first_comment(path, line, sizeof line);

    /* A comment that begins with the name of the scene is given without it. */
    size_t length = strlen(name);
    bool repeats = strncmp(line, name, length) == 0 && strncmp(line + length, ": ", 2) == 0;
    visit(context, name, path, repeats ? line + length + 2 : line);
}

void visit_scenes(void (*visit)(void *context, const char *name, const char *path,
                                const char *line),
                  void *context)
{
    char folder[PATH_SIZE];
    if (!scene_folder(folder)) return;

    struct dirent **entries = NULL;
    int count = scandir(folder, &entries, is_scene, alphasort);
    for (int i = 0; i < count; i++) {
        visit_scene(folder, entries[i]->d_name, visit, context);
        free(entries[i]);
    }
    free(entries);
}
