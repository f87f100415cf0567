#include "base/text.h"

#include <stdarg.h>
#include <string.h>

#include "base/allocate.h"
#include "base/number.h"

void tw_text_free(tw_text *text)
{
    tw_release(text->bytes);
    *text = (tw_text){0};
}

void tw_text_clear(tw_text *text)
{
    text->size = 0;
}

/* Room for `more` bytes and the terminator. */
static bool reserve(tw_text *text, size_t more)
{
    if (text->failed) return false;
    if (text->size + more < text->capacity) return true;
    size_t capacity = 2 * (text->size + more) + 256;
    char *larger = tw_allocate(capacity, 1);
    if (!larger) {
        text->failed = true;
        return false;
    }
    if (text->size) memcpy(larger, text->bytes, text->size);
    larger[text->size] = '\0';
    tw_release(text->bytes);
    text->bytes = larger;
    text->capacity = capacity;
    return true;
}

void tw_text_add(tw_text *text, const char *format, ...)
{
    if (!reserve(text, 128)) return;
    va_list arguments, again;
    va_start(arguments, format);
    va_copy(again, arguments);
    int length =
        tw_format(text->bytes + text->size, text->capacity - text->size, format, arguments);
    if (length >= 0 && (size_t)length >= text->capacity - text->size &&
        reserve(text, (size_t)length))
        length = tw_format(text->bytes + text->size, text->capacity - text->size, format, again);
    if (length >= 0 && !text->failed) text->size += (size_t)length;
    va_end(again);
    va_end(arguments);
}

void tw_text_add_number(tw_text *text, double value)
{
    if (!reserve(text, TW_NUMBER_SIZE)) return;
    text->size += tw_number_print_digits(text->bytes + text->size, 17, value);
}

void tw_text_add_bytes(tw_text *text, const void *bytes, size_t size)
{
    if (!size || !reserve(text, size)) return;
    memcpy(text->bytes + text->size, bytes, size);
    text->size += size;
    text->bytes[text->size] = '\0';
}

char *tw_text_reserve(tw_text *text, size_t size)
{
    return reserve(text, size) ? text->bytes + text->size : NULL;
}

void tw_text_grow(tw_text *text, size_t size)
{
    text->size += size;
    text->bytes[text->size] = '\0';
}
