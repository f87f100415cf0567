/* Reading committed values: tests/fixtures/NAME, numbers separated by white space, lines starting with '#' skipped. */
#ifndef TESTS_FIXTURE_H
#define TESTS_FIXTURE_H

#include <stdbool.h>
#include <stdio.h>

/* Opens the file under $TWANG_SOURCE (default: the current directory); fails the test if it is not there. */
FILE *fixture_open(const char *name);
/* Reads `count` numbers ("inf" allowed). False at the end of the file; fails the test if it ends in between. */
bool fixture_read(FILE *file, int count, double *values);

#endif
