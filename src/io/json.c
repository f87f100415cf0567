/* JSON, two blanks per level. */
#include "io/json.h"

#include <math.h>

#include "base/printable.h"

/* Adds a string in quotes, with the escapes that JSON asks for. */
static void add_quoted(tw_text *text, const char *value)
{
    tw_text_add(text, "\"");

    /* Quotes and backslashes get a backslash, control characters become \u00XX. A byte that begins no
     * character has no place in JSON. */
    while (*value) {
        size_t bytes = tw_printable_bytes(value);
        unsigned code = (unsigned char)*value;
        if (code == '"' || code == '\\')
            tw_text_add(text, "\\%c", *value);
        else if (bytes > 0)
            tw_text_add_bytes(text, value, bytes);
        else
            tw_text_add(text, "\\u%04x", code < 0x80 ? code : 0xfffdu);
        value += bytes > 0 ? bytes : 1;
    }

    tw_text_add(text, "\"");
}

/* Adds what stands before a value: a comma behind the value before, a new line, the key. */
static void begin_value(tw_json *json, const char *key)
{
    if (json->depth > 0 && !json->first) tw_text_add(json->text, ",");
    if (json->depth > 0) tw_text_add(json->text, "\n%*s", 2 * json->depth, "");
    json->first = false;

    if (!key) return;
    add_quoted(json->text, key);
    tw_text_add(json->text, ": ");
}

void tw_json_open(tw_json *json, const char *key, char bracket)
{
    begin_value(json, key);
    tw_text_add(json->text, "%c", bracket);
    json->depth++;
    json->first = true;
}

void tw_json_close(tw_json *json, char bracket)
{
    /* An empty object or list stays on its line. */
    json->depth--;
    if (!json->first) tw_text_add(json->text, "\n%*s", 2 * json->depth, "");
    tw_text_add(json->text, "%c", bracket);
    if (json->depth == 0) tw_text_add(json->text, "\n");
    json->first = false;
}

void tw_json_null(tw_json *json, const char *key)
{
    begin_value(json, key);
    tw_text_add(json->text, "null");
}

void tw_json_string(tw_json *json, const char *key, const char *value)
{
    if (!value) {
        tw_json_null(json, key);
        return;
    }
    begin_value(json, key);
    add_quoted(json->text, value);
}

void tw_json_number(tw_json *json, const char *key, double value)
{
    if (!isfinite(value)) {
        tw_json_null(json, key);
        return;
    }
    begin_value(json, key);
    tw_text_add_number(json->text, value);
}

void tw_json_integer(tw_json *json, const char *key, int64_t value)
{
    begin_value(json, key);
    tw_text_add(json->text, "%lld", (long long)value);
}

void tw_json_bool(tw_json *json, const char *key, bool value)
{
    begin_value(json, key);
    tw_text_add(json->text, "%s", value ? "true" : "false");
}
