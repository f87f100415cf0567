/* Reference states of tests/reference: made by programs that are not Twang (see the README there). */
#ifndef TESTS_REFERENCE_STATE_H
#define TESTS_REFERENCE_STATE_H

#include <stdbool.h>
#include <stdint.h>

/* Reads `rows` rows "q p" of tests/reference/NAME into u = (q, p). False if the file is not there or not that long. */
bool reference_state(const char *name, int64_t rows, double *u);

/* Largest difference of u to the reference, over all entries. */
double reference_error(const double *u, const double *reference, int64_t entries);

#endif
