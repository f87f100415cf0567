#ifndef TW_BASE_TIMER_H
#define TW_BASE_TIMER_H

/* Seconds of a monotonic clock; only differences mean something. */
double tw_clock(void);

#endif
