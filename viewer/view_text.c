/* Growing text, and JSON in it. */
#include "view_text.h"

#include <math.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void view_text_free(view_text *text)
{
    free(text->bytes);
    *text = (view_text){0};
}

/* Makes room for `size` more bytes and a terminating zero. */
static bool reserve(view_text *text, size_t size)
{
    if (text->failed) return false;
    size_t needed = text->size + size + 1;
    if (needed <= text->capacity) return true;

    size_t capacity = text->capacity < 256 ? 256 : text->capacity;
    while (capacity < needed) capacity *= 2;
    char *bytes = realloc(text->bytes, capacity);
    if (!bytes) {
        text->failed = true;
        return false;
    }
    text->bytes = bytes;
    text->capacity = capacity;
    return true;
}

void view_text_bytes(view_text *text, const void *bytes, size_t size)
{
    if (!reserve(text, size)) return;
    memcpy(text->bytes + text->size, bytes, size);
    text->size += size;
    text->bytes[text->size] = '\0';
}

void view_text_add(view_text *text, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(NULL, 0, format, arguments);
    va_end(arguments);
    if (length < 0 || !reserve(text, (size_t)length)) return;

    va_start(arguments, format);
    vsnprintf(text->bytes + text->size, (size_t)length + 1, format, arguments);
    va_end(arguments);
    text->size += (size_t)length;
}

void view_text_string(view_text *text, const char *string)
{
    view_text_add(text, "\"");
    for (const unsigned char *c = (const unsigned char *)string; *c; c++) {
        bool is_plain = *c >= 0x20 && *c != '"' && *c != '\\' && *c != '<' && *c != '>';
        if (is_plain)
            view_text_bytes(text, c, 1);
        else
            view_text_add(text, "\\u%04x", *c);
    }
    view_text_add(text, "\"");
}

void view_text_number(view_text *text, double value)
{
    if (isfinite(value))
        view_text_add(text, "%.12g", value);
    else
        view_text_add(text, "null");
}

void view_text_base64(view_text *text, const void *bytes, size_t size)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const uint8_t *in = bytes;
    if (!reserve(text, (size + 2) / 3 * 4)) return;

    char *out = text->bytes + text->size;
    for (size_t i = 0; i < size; i += 3) {
        /* Three bytes are four digits; missing bytes are 0, and their digits '='. */
        uint32_t group = (uint32_t)in[i] << 16;
        if (i + 1 < size) group |= (uint32_t)in[i + 1] << 8;
        if (i + 2 < size) group |= in[i + 2];

        *out++ = digits[group >> 18];
        *out++ = digits[group >> 12 & 63];
        *out++ = i + 1 < size ? digits[group >> 6 & 63] : '=';
        *out++ = i + 2 < size ? digits[group & 63] : '=';
    }
    *out = '\0';
    text->size = (size_t)(out - text->bytes);
}
