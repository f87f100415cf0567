/* The past of a live page. */
#include "view_history.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

bool view_history_open(view_history *history, int64_t size)
{
    const int64_t most_bytes = (int64_t)192 << 20;
    int64_t bytes = (size > 0 ? size : 1) * (int64_t)sizeof(double);
    int64_t capacity = most_bytes / bytes;
    if (capacity > 4096) capacity = 4096;
    if (capacity < 8) capacity = 8;

    *history = (view_history){.size = size, .capacity = capacity, .stride = 1};
    history->times = calloc((size_t)capacity, sizeof(double));
    history->states = calloc((size_t)(capacity * (size > 0 ? size : 1)), sizeof(double));
    if (history->times && history->states) return true;
    view_history_close(history);
    return false;
}

void view_history_close(view_history *history)
{
    free(history->times);
    free(history->states);
    *history = (view_history){0};
}

/* Keeps every second state. */
static void thin_out(view_history *history)
{
    int64_t kept = (history->count + 1) / 2;
    size_t bytes = (size_t)history->size * sizeof(double);
    for (int64_t i = 1; i < kept; i++) {
        history->times[i] = history->times[2 * i];
        memcpy(history->states + i * history->size, history->states + 2 * i * history->size, bytes);
    }
    history->count = kept;
    history->stride *= 2;
}

double *view_history_add(view_history *history, double t)
{
    if (!history->states) return NULL;
    if (history->count > 0 && t <= history->times[history->count - 1]) return NULL;
    if (history->offered++ % history->stride != 0) return NULL;
    if (history->count == history->capacity) thin_out(history);

    history->times[history->count] = t;
    return history->states + history->size * history->count++;
}

const double *view_history_at(const view_history *history, double t, double *time)
{
    if (history->count == 0) return NULL;

    /* The first state that is not before t, or the one before it. */
    int64_t low = 0;
    int64_t high = history->count - 1;
    while (low < high) {
        int64_t middle = (low + high) / 2;
        if (history->times[middle] < t)
            low = middle + 1;
        else
            high = middle;
    }
    if (low > 0 && fabs(history->times[low - 1] - t) < fabs(history->times[low] - t)) low--;
    *time = history->times[low];
    return history->states + history->size * low;
}

bool view_history_share(view_history *history, int64_t lane_size, int lanes)
{
    view_history next;
    if (!view_history_open(&next, lane_size * lanes)) {
        view_history_close(history);
        return false;
    }

    /* A smaller room keeps less of the past. */
    while (history->count > next.capacity) thin_out(history);
    next.count = history->count;
    next.stride = history->stride;

    for (int64_t i = 0; i < next.count; i++) {
        const double *from = history->states + i * history->size;
        double *to = next.states + i * next.size;
        next.times[i] = history->times[i];
        for (int lane = 0; lane < lanes; lane++) {
            bool is_old = (lane + 1) * lane_size <= history->size;
            memcpy(to + lane * lane_size, from + (is_old ? lane * lane_size : 0),
                   (size_t)lane_size * sizeof *to);
        }
    }
    view_history_close(history);
    *history = next;
    return true;
}

void view_history_cut(view_history *history, double t)
{
    while (history->count > 0 && history->times[history->count - 1] > t) history->count--;
}
