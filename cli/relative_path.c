/* Names a file from the folder of another one. */
#define _DEFAULT_SOURCE /* realpath */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"

/* The absolute path of the folder of a file, without links; false if the folder is not there. */
static bool folder_of(const char *file, size_t size, char *folder)
{
    const char *slash = strrchr(file, '/');
    char given[4096] = ".";
    if (slash) snprintf(given, sizeof given, "%.*s/", (int)(slash - file), file);
    char *path = realpath(given, NULL);
    if (!path) return false;

    int length = snprintf(folder, size, "%s", path);
    free(path);
    return length > 0 && (size_t)length < size;
}

/* The length of the folders that both absolute paths begin with, with the last slash. */
static size_t common_length(const char *folder, const char *file)
{
    size_t common = 0;
    for (size_t i = 0; folder[i] && folder[i] == file[i]; i++)
        if (file[i] == '/') common = i + 1;

    /* The file may be below the whole folder. */
    size_t length = strlen(folder);
    if (strncmp(folder, file, length) == 0 && file[length] == '/') common = length + 1;
    return common;
}

void name_from_beside(const char *from, const char *file, size_t size, char *name)
{
    char folder[4096];
    char *absolute = realpath(file, NULL);
    snprintf(name, size, "%s", absolute && file[0] == '/' ? absolute : file);
    if (!absolute || file[0] == '/' || !folder_of(from, sizeof folder, folder)) {
        free(absolute);
        return;
    }

    /* Only the root in common: the absolute path is easier to read. */
    size_t common = common_length(folder, absolute);
    size_t used = 0;
    name[0] = '\0';
    if (common > 1) {
        const char *rest = common <= strlen(folder) ? folder + common : "";
        for (const char *p = rest; *p && used + 4 < size;) {
            used += (size_t)snprintf(name + used, size - used, "../");
            const char *slash = strchr(p, '/');
            p = slash ? slash + 1 : p + strlen(p);
        }
    }
    snprintf(name + used, size - used, "%s", common > 1 ? absolute + common : absolute);
    free(absolute);
}
