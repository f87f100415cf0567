/* Writing JSON: keys, values and nesting. Commas and indentation are added by the functions. */
#ifndef TW_IO_JSON_H
#define TW_IO_JSON_H

#include <stdint.h>

#include "base/text.h"

typedef struct tw_json {
    tw_text *text;
    int depth;
    bool first; /* nothing has been written at this depth yet */
} tw_json;

/* `key` is NULL inside a list and for the outermost value. */
void tw_json_open(tw_json *json, const char *key, char bracket);        /* '{' or '[' */
void tw_json_close(tw_json *json, char bracket);                        /* '}' or ']' */
void tw_json_string(tw_json *json, const char *key, const char *value); /* NULL: null */
void tw_json_number(tw_json *json, const char *key, double value);      /* not finite: null */
void tw_json_integer(tw_json *json, const char *key, int64_t value);
void tw_json_bool(tw_json *json, const char *key, bool value);
void tw_json_null(tw_json *json, const char *key);

#endif
