#include "support/reference.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINE_SIZE = 1024 };

/* Whether the line holds exactly `columns` numbers. */
static bool read_row(char *line, int columns, double *values)
{
    char *at = line;
    for (int c = 0; c < columns; c++) {
        char *end = at;
        values[c] = strtod(at, &end);
        if (end == at) return false;
        at = end;
    }
    return strspn(at, " \r\n") == strlen(at);
}

bool test_reference_read(const char *name, int rows, int columns, double *values)
{
    char line[LINE_SIZE];
    const char *source = getenv("TWANG_SOURCE");
    snprintf(line, sizeof line, "%s/tests/reference/%s", source ? source : ".", name);
    FILE *file = fopen(line, "r");
    if (!file) return false;
    int row = 0;
    bool good = true;
    while (good && fgets(line, sizeof line, file)) {
        if (line[0] == '#') continue;
        good = row < rows && read_row(line, columns, values + (size_t)row * (size_t)columns);
        row++;
    }
    fclose(file);
    return good && row == rows;
}
