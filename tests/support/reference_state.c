#include "support/reference_state.h"

#include <math.h>
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

bool reference_read(const char *name, int64_t rows, int columns, double *values)
{
    char line[LINE_SIZE];
    const char *source = getenv("TWANG_SOURCE");
    snprintf(line, sizeof line, "%s/tests/reference/%s", source ? source : ".", name);
    FILE *file = fopen(line, "r");
    if (!file) return false;
    int64_t row = 0;
    bool good = true;
    while (good && fgets(line, sizeof line, file)) {
        if (line[0] == '#') continue;
        good = row < rows && read_row(line, columns, values + row * columns);
        row++;
    }
    fclose(file);
    return good && row == rows;
}

bool reference_state(const char *name, int64_t rows, double *u)
{
    double *values = malloc(2 * (size_t)rows * sizeof *values);
    bool good = values && reference_read(name, rows, 2, values);
    for (int64_t row = 0; row < rows && good; row++) {
        u[row] = values[2 * row];
        u[rows + row] = values[2 * row + 1];
    }
    free(values);
    return good;
}

double reference_error(const double *u, const double *reference, int64_t entries)
{
    double worst = 0;
    for (int64_t i = 0; i < entries; i++) worst = fmax(worst, fabs(u[i] - reference[i]));
    return worst;
}
