/* An allocator that refuses one allocation, to walk through every way out. */
#ifndef TESTS_FAILING_ALLOCATOR_H
#define TESTS_FAILING_ALLOCATOR_H

#include <twang/memory.h>

/* What is tried with the nth allocation failing; returns what the library answered. It must free what it made. */
typedef tw_status test_attempt(void *context);

/* Runs the attempt with the 1st, 2nd, ... allocation failing until it succeeds untouched. Every failure must answer
 * TW_OUT_OF_MEMORY and leave no byte behind; returns how many allocations were refused in turn, or -1. */
int test_fail_each_allocation(test_attempt *attempt, void *context);

#endif
