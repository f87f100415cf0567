/** @file parallel.h
 *  Threads. Results are bitwise the same for every number of them.
 */
#ifndef TWANG_PARALLEL_H
#define TWANG_PARALLEL_H

#include <twang/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Sets how many threads parallel loops started from the *calling* thread use; 0 means what OpenMP
 * offers (OMP_NUM_THREADS, else as many as there are cores). Results do not depend on it, only time
 * does. Where several threads were seen to be hardly faster than one, because others use the
 * machine, loops run on the calling thread for a while.
 *
 * **Waiting.** Idle workers should spin for a moment, then sleep. On a machine shared with other
 * programs, or with more threads than cores, spinning for long costs up to 50 times the run time;
 * workers that sleep at once take longer to wake than a product with a matrix of some thousand rows
 * lasts. OpenMP reads how to wait from the environment when the process starts, so a library cannot
 * choose: start the process with OMP_WAIT_POLICY=passive GOMP_SPINCOUNT=10000 (turns, GNU OpenMP;
 * some 0.1 ms), as the command does. */
TW_API void tw_set_threads(int threads);

/** The number set, or the default; at least 1. */
TW_API int tw_threads(void);

#ifdef __cplusplus
}
#endif
#endif
