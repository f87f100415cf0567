#include "support/reference_state.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

bool reference_state(const char *name, int64_t rows, double *u)
{
    const char *source = getenv("TWANG_SOURCE");
    char path[1024], line[256];
    snprintf(path, sizeof path, "%s/tests/reference/%s", source ? source : ".", name);
    FILE *file = fopen(path, "r");
    if (!file) return false;
    int64_t row = 0;
    while (row < rows && fgets(line, sizeof line, file)) {
        if (line[0] == '#') continue;
        char *end = NULL;
        u[row] = strtod(line, &end);
        u[rows + row] = strtod(end, NULL);
        row++;
    }
    fclose(file);
    return row == rows;
}

double reference_error(const double *u, const double *reference, int64_t entries)
{
    double worst = 0;
    for (int64_t i = 0; i < entries; i++) worst = fmax(worst, fabs(u[i] - reference[i]));
    return worst;
}
