/* Where scenes are: beside the build, or where twang is installed, or where TWANG_SCENES says. */
#define _POSIX_C_SOURCE 200809L
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "command.h"

enum { PATH_SIZE = 4096 };

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

/* The first of the places that is there. */
static bool scene_folder(char folder[PATH_SIZE])
{
    const char *given = getenv("TWANG_SCENES");
    if (given) {
        snprintf(folder, PATH_SIZE, "%s", given);
        return has_scenes(folder);
    }
    char program[PATH_SIZE];
    program_folder(program);
    static const char *const places[] = {"/../scenes", "/../share/twang/scenes"};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        int length = snprintf(folder, PATH_SIZE, "%.4000s%s", program, places[i]);
        if (length < PATH_SIZE && has_scenes(folder)) return true;
    }
    return false;
}

/* A folder of the name of a scene, such as an earlier run's, does not hide the scene. */
static bool is_file(const char *path)
{
    struct stat about;
    return stat(path, &about) == 0 && !S_ISDIR(about.st_mode);
}

const char *find_scene(const char *given, char *buffer, size_t size)
{
    char folder[PATH_SIZE];
    bool is_name = given[0] != '\0' && strcspn(given, "/.") == strlen(given);
    if (!is_name || is_file(given)) return given;
    if (!scene_folder(folder)) return NULL;
    int length = snprintf(buffer, size, "%s/%s.yaml", folder, given);
    return length > 0 && (size_t)length < size && access(buffer, F_OK) == 0 ? buffer : NULL;
}

/* "rope: ten links" of the file's first line "# rope: ten links". */
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
    size_t length = strlen(entry->d_name);
    return entry->d_name[0] != '.' && length > 5 &&
           strcmp(entry->d_name + length - 5, ".yaml") == 0;
}

static void visit_scene(const char *folder, const char *file_name,
                        void (*visit)(void *, const char *, const char *, const char *),
                        void *context)
{
    char path[PATH_SIZE + 300], name[256], line[512];
    snprintf(path, sizeof path, "%s/%s", folder, file_name);
    snprintf(name, sizeof name, "%.*s", (int)strlen(file_name) - 5, file_name);
    first_comment(path, line, sizeof line);
    size_t length = strlen(name); /* the comment may begin with the name: that is said once */
    bool repeats = strncmp(line, name, length) == 0 && strncmp(line + length, ": ", 2) == 0;
    visit(context, name, path, repeats ? line + length + 2 : line);
}

void visit_scenes(void (*visit)(void *context, const char *name, const char *path,
                                const char *line),
                  void *context)
{
    char folder[PATH_SIZE];
    struct dirent **entries = NULL;
    if (!scene_folder(folder)) return;
    int count = scandir(folder, &entries, is_scene, alphasort);
    for (int i = 0; i < count; i++) {
        visit_scene(folder, entries[i]->d_name, visit, context);
        free(entries[i]);
    }
    free(entries);
}
