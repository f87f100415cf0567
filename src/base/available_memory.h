/* How much memory a process can still get. */
#ifndef TW_BASE_AVAILABLE_MEMORY_H
#define TW_BASE_AVAILABLE_MEMORY_H

/* Bytes that this process can still get without being killed or refused: what the system has free,
 * limited by the address space of the process (ulimit -v). INFINITY where the system does not
 * say. */
double tw_available_memory(void);

#endif
