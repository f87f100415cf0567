/* Growing text, and JSON in it. */
#ifndef VIEWER_VIEW_TEXT_H
#define VIEWER_VIEW_TEXT_H

#include <stdbool.h>
#include <stddef.h>

typedef struct view_text {
    char *bytes; /* terminated; NULL while empty */
    size_t size;
    size_t capacity;
    bool failed; /* memory is out: nothing is added any more */
} view_text;

void view_text_free(view_text *text);
void view_text_add(view_text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));
void view_text_bytes(view_text *text, const void *bytes, size_t size);
/* A string with its quotation marks. What could end a script element is escaped, too. */
void view_text_string(view_text *text, const char *string);
/* A number; null if it is not finite. */
void view_text_number(view_text *text, double value);
/* Bytes as base64. */
void view_text_base64(view_text *text, const void *bytes, size_t size);

#endif
