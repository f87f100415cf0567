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
 * does. More than 64 count as 64.
 *
 * Workers start at the first loop that wants them and end with the thread that called. They block all
 * signals. Where the system refuses a thread, there are fewer. Idle workers spin for 0.1 ms and then
 * sleep; on a machine that other programs use, loops run on the calling thread alone for a while. */
TW_API void tw_set_threads(int threads);

/** The number set, or the default; from 1 to 64. */
TW_API int tw_threads(void);

#ifdef __cplusplus
}
#endif
#endif
