/* Reference states computed by independent programs: tests/reference/. */
#ifndef TESTS_REFERENCE_H
#define TESTS_REFERENCE_H

#include <stdbool.h>

/* Reads `rows` rows of `columns` numbers from tests/reference/NAME under $TWANG_SOURCE (or the working directory), row
 * by row. False if the file is missing, longer or shorter. */
bool test_reference_read(const char *name, int rows, int columns, double *values);

#endif
