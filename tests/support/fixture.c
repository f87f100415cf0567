#include "support/fixture.h"

#include <check.h>
#include <stdlib.h>

FILE *fixture_open(const char *name)
{
    const char *source = getenv("TWANG_SOURCE");
    char path[1024];
    snprintf(path, sizeof path, "%s/tests/fixtures/%s", source ? source : ".", name);
    FILE *file = fopen(path, "r");
    ck_assert_msg(file != NULL, "cannot open %s", path);
    return file;
}

static void skip_comments(FILE *file)
{
    int c = 0;
    while (fscanf(file, " ") == 0 && (c = fgetc(file)) == '#')
        while (c != '\n' && c != EOF) c = fgetc(file);
    if (c != EOF) ungetc(c, file);
}

bool fixture_read(FILE *file, int count, double *values)
{
    for (int i = 0; i < count; i++) {
        char word[128];
        skip_comments(file);
        if (fscanf(file, "%127s", word) != 1) {
            ck_assert_msg(i == 0, "the fixture ends in the middle of a record");
            return false;
        }
        char *end = NULL;
        values[i] = strtod(word, &end);
        ck_assert_msg(*end == 0, "'%s' is not a number", word);
    }
    return true;
}
