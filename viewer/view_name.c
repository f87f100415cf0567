/* The name of a scene that is made of a mesh: that of its file. */
#include <stdio.h>
#include <string.h>

#include "view.h"

void view_name_of_file(const char *path, size_t size, char *name)
{
    const char *slash = strrchr(path, '/');
    const char *file = slash ? slash + 1 : path;
    const char *dot = strrchr(file, '.');
    size_t length = dot && dot > file ? (size_t)(dot - file) : strlen(file);
    snprintf(name, size, "%.*s", (int)length, file);

    /* A name that is too long ends before the letter that it cuts, which may have several bytes. */
    size_t end = strlen(name);
    bool is_cut = end < length;
    while (is_cut && end > 0 && ((unsigned char)name[end - 1] & 0xc0) == 0x80) end--;
    if (is_cut && end > 0 && (unsigned char)name[end - 1] >= 0xc0) end--;
    name[end] = '\0';

    /* What a name of a scene cannot have becomes '_'. */
    for (char *p = name; *p; p++) {
        bool is_letter = (*p >= 'a' && *p <= 'z') || (*p >= 'A' && *p <= 'Z');
        bool is_digit = *p >= '0' && *p <= '9';
        bool is_other = *p == '_' || *p == '-' || (unsigned char)*p >= 0x80;
        if (!is_letter && !is_digit && !is_other) *p = '_';
    }
    if (name[0] == '-') name[0] = '_';
}
