/* Text that grows by doubling. */
#include "base/text.h"

#include <stdarg.h>
#include <string.h>

#include "base/allocate.h"
#include "base/number.h"

/* Bytes that are reserved before a formatted line is written: enough for most lines. */
enum { USUAL_LINE = 128 };

void tw_text_free(tw_text *text)
{
    tw_release(text->bytes);
    *text = (tw_text){0};
}

void tw_text_clear(tw_text *text)
{
    text->size = 0;
}

/* Makes room for `more` bytes and the terminator. False when memory is out, now or before. */
static bool reserve(tw_text *text, size_t more)
{
    if (text->failed) return false;
    if (text->size + more < text->capacity) return true;

    /* Twice what is needed: a text of n bytes is copied about log2(n) times while it grows. */
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
    if (!reserve(text, USUAL_LINE)) return;
    va_list arguments;
    va_list again;
    va_start(arguments, format);
    va_copy(again, arguments);

    /* The first try writes what fits and tells the whole length. */
    size_t room = text->capacity - text->size;
    int length = tw_format(text->bytes + text->size, room, format, arguments);

    /* If that was too long, a second try follows with enough room. */
    if (length >= 0 && (size_t)length >= room && reserve(text, (size_t)length)) {
        room = text->capacity - text->size;
        length = tw_format(text->bytes + text->size, room, format, again);
    }

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
