/* The past of a live page: states at ascending times. When the memory is full, every second state
 * is dropped and half as many are kept from then on, so that the whole past stays. */
#ifndef VIEWER_VIEW_HISTORY_H
#define VIEWER_VIEW_HISTORY_H

#include <stdbool.h>
#include <stdint.h>

typedef struct view_history {
    int64_t size; /* entries of a state, all lanes together */
    int64_t capacity;
    int64_t count;
    int64_t stride; /* every stride-th state is kept */
    int64_t offered;
    double *times;
    double *states;
} view_history;

/* False when memory is out. */
bool view_history_open(view_history *history, int64_t size);
void view_history_close(view_history *history);
/* Room for a state at t, or NULL if it is not kept. Times ascend. */
double *view_history_add(view_history *history, double t);
/* The state whose time is nearest to t, and its time; NULL if there is none. */
const double *view_history_at(const view_history *history, double t, double *time);
/* Another number of lanes: a lane that is new gets the past of the first. False when memory
 * is out; then there is no past. */
bool view_history_share(view_history *history, int64_t lane_size, int lanes);
/* Forgets what is later than t. */
void view_history_cut(view_history *history, double t);

#endif
