#define _DEFAULT_SOURCE
#include "linalg/blas_session.h"

#include <cblas.h>
#include <pthread.h>
#include <stdbool.h>
#include <sys/mman.h>

#include "base/fail.h"

/* What OpenBLAS maps for a thread when it first multiplies matrices [bytes]: 128 MiB on x86-64
 * (BUFFER_SIZE of its builds for many processors), less elsewhere. It tries again for ever where
 * that fails. The rest is room for its tables. */
static const size_t BUFFER_BYTES = (size_t)130 << 20;

/* The lock guards all three. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static bool has_buffer;    /* OpenBLAS has its memory */
static int session_count;  /* sessions in progress */
static int threads_before; /* of OpenBLAS, before the first of them */

/* Whether OpenBLAS will find its memory: then it is made to take it at once. */
static bool find_buffer(void)
{
    /* Anonymous memory has the descriptor -1. */
    int flags = MAP_PRIVATE | MAP_ANONYMOUS;
    /* cppcheck-suppress invalidFunctionArg */
    void *probe = mmap(NULL, BUFFER_BYTES, PROT_READ | PROT_WRITE, flags, -1, 0);
    if (probe == MAP_FAILED) return false;
    munmap(probe, BUFFER_BYTES);

    /* C = A A^T needs the buffer even for matrices of order 1; it is kept for later calls. */
    double A = 1;
    double C = 0;
    cblas_dsyrk(CblasColMajor, CblasUpper, CblasNoTrans, 1, 1, 1.0, &A, 1, 0.0, &C, 1);
    return true;
}

tw_status tw_blas_enter(void)
{
    pthread_mutex_lock(&lock);

    /* The first session sets OpenBLAS to one thread. */
    if (session_count++ == 0) {
        threads_before = openblas_get_num_threads();
        if (threads_before != 1) openblas_set_num_threads(1);
    }
    if (!has_buffer) has_buffer = find_buffer();
    bool good = has_buffer;

    pthread_mutex_unlock(&lock);
    if (good) return TW_OK;
    tw_blas_leave();
    return TW_OUT_OF_MEMORY;
}

void tw_blas_leave(void)
{
    pthread_mutex_lock(&lock);
    if (--session_count == 0 && threads_before != 1) openblas_set_num_threads(threads_before);
    pthread_mutex_unlock(&lock);
}

tw_status tw_blas_reserve(tw_error *error)
{
    tw_status status = tw_blas_enter();
    if (status != TW_OK)
        return tw_fail(error, status,
                       "OpenBLAS needs a buffer of 128 MiB, and memory is out or limited "
                       "(ulimit -v)");
    tw_blas_leave();
    return TW_OK;
}
