#ifndef TW_BASE_TIMER_H
#define TW_BASE_TIMER_H

/* Seconds of a monotonic clock; only differences mean something. */
double tw_clock(void);

/* Seconds that the calling thread has had a processor. */
double tw_thread_clock(void);

#endif
