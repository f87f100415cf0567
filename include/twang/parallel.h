/** @file parallel.h
 *  Threads. Results are bitwise the same for every number of them.
 */
#ifndef TWANG_PARALLEL_H
#define TWANG_PARALLEL_H

#include <twang/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Sets how many threads parallel loops started from the *calling* thread use; 0 means as many as there are cores.
 *  Idle workers should sleep, not spin: start the process with OMP_WAIT_POLICY=passive (the command does). */
TW_API void tw_set_threads(int threads);

/** The number set, or the default; at least 1. */
TW_API int tw_threads(void);

#ifdef __cplusplus
}
#endif
#endif
