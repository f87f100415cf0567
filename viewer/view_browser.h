/* A headless browser that takes pictures. */
#ifndef VIEWER_VIEW_BROWSER_H
#define VIEWER_VIEW_BROWSER_H

#include <jansson.h>
#include <stdbool.h>
#include <sys/types.h>

#include "view_text.h"

typedef struct view_browser {
    pid_t process;
    int requests, answers; /* pipes */
    view_text received;    /* bytes of answers that are not whole yet */
    char session[80];      /* of the page */
    char folder[64];       /* of its profile */
    int last_id;
} view_browser;

/* False if there is no browser; close it anyway. TWANG_BROWSER names one. */
bool view_browser_open(view_browser *browser);
void view_browser_close(view_browser *browser);
/* The result of a request, NULL if it failed. Takes the parameters over; free the result with
 * json_decref. */
json_t *view_browser_ask(view_browser *browser, const char *method, json_t *parameters);

#endif
