/* SuiteSparse's memory, routed through tw_allocate.
 *
 * SuiteSparse has one process-wide set of malloc, calloc, realloc and free (SuiteSparse_config).
 * The first use here replaces it, once and for good, by functions that look at a thread-local
 * pointer. Between tw_solver_memory_enter and tw_solver_memory_leave the calling thread's requests
 * are served from a tw_solver_memory; otherwise, as in an application's own use of SuiteSparse,
 * they pass to the functions that were there before. No block crosses that border, because our
 * CHOLMOD objects are private and only touched inside. What an application must not do is to
 * replace SuiteSparse_config's functions after its first factor was made. */
#ifndef TW_LINALG_SOLVER_MEMORY_H
#define TW_LINALG_SOLVER_MEMORY_H

#include <stdbool.h>

/* The memory of one solver object. All zero is a good start. */
typedef struct tw_solver_memory {
    /* Blocks that are given back are kept for the next request of the same size. */
    bool keep;
    /* A request could not be served. CHOLMOD may go on all the same, for example with another
     * ordering; its results are then not to be used. */
    bool failed;
    struct tw_solver_block *kept;
} tw_solver_memory;

/* Serves SuiteSparse's requests on this thread from `memory`, until leave with the
 * returned value. */
tw_solver_memory *tw_solver_memory_enter(tw_solver_memory *memory);
void tw_solver_memory_leave(tw_solver_memory *previous);

/* Releases what is kept, and keeps nothing from now on. */
void tw_solver_memory_drain(tw_solver_memory *memory);

#endif
