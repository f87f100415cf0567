/* Reference states of tests/reference: made by programs that are not Twang (see the README there). */
#ifndef TESTS_REFERENCE_STATE_H
#define TESTS_REFERENCE_STATE_H

#include <stdbool.h>
#include <stdint.h>

/* Reads `rows` rows of `columns` numbers from tests/reference/NAME under $TWANG_SOURCE (or the working directory), row
 * by row. False if the file is missing, longer or shorter. */
bool reference_read(const char *name, int64_t rows, int columns, double *values);

/* Reads `rows` rows "q p" of tests/reference/NAME into u = (q, p). False if the file is not there or not that long. */
bool reference_state(const char *name, int64_t rows, double *u);

/* Largest difference of u to the reference, over all entries. */
double reference_error(const double *u, const double *reference, int64_t entries);

#endif
