/* Guests: connections that are no pages yet. They may be idle, and they may be many.
 *
 * The list keeps the guest that has been silent longest in front. When there is no room for another
 * one, that guest has to go: whoever opens connections and says nothing keeps nobody out. */
#include <string.h>

#include "view_server.h"

void view_guest_leaves(view_guests *guests, const struct lws *wsi)
{
    for (int i = 0; i < guests->count; i++) {
        if (guests->list[i] != wsi) continue;
        size_t behind = (size_t)(guests->count - i - 1);
        memmove(&guests->list[i], &guests->list[i + 1], behind * sizeof guests->list[0]);
        guests->count--;
        return;
    }
}

void view_guest_speaks(view_guests *guests, struct lws *wsi)
{
    view_guest_leaves(guests, wsi);

    /* Make room. The connection is closed by the loop, not in here. */
    if (guests->count == VIEW_GUESTS) {
        struct lws *silent = guests->list[0];
        view_guest_leaves(guests, silent);
        lws_set_timeout(silent, PENDING_TIMEOUT_USER_OK, LWS_TO_KILL_ASYNC);
    }
    guests->list[guests->count++] = wsi;
}
