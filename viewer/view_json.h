/* Whether a text is JSON, as browsers read it. */
#ifndef VIEWER_VIEW_JSON_H
#define VIEWER_VIEW_JSON_H

#include <stdbool.h>

/* Whether the text is one JSON object and nothing else. On failure *line says where it is not, from 1 on. */
bool view_json_is_object(const char *text, int *line);

#endif
