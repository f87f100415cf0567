/* Texts from anywhere, made safe to print. */
#include "base/printable.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <twang/status.h>

enum {
    FIRST_PRINTABLE = 0x20, /* characters before it control a terminal */
    DELETE = 0x7f,
    FIRST_OF_TWO = 0xc2, /* the bytes that begin a character of two, three, four bytes */
    FIRST_OF_THREE = 0xe0,
    FIRST_OF_FOUR = 0xf0,
    BEHIND_ALL = 0xf5,
    LAST_CONTROL = 0x9f, /* U+0080 to U+009F control a terminal, too */
    FIRST_SURROGATE = 0xd800,
    LAST_SURROGATE = 0xdfff,
    LAST_CODE = 0x10ffff,
    ESCAPE_SIZE = 4 /* "\x1b" */
};

/* How many bytes a character has that begins with this one; 0 if none does. */
static size_t bytes_of_character(unsigned char first)
{
    if (first < DELETE + 1) return 1;
    if (first < FIRST_OF_TWO || first >= BEHIND_ALL) return 0;
    if (first < FIRST_OF_THREE) return 2;
    return first < FIRST_OF_FOUR ? 3 : 4;
}

size_t tw_printable_bytes(const char *bytes)
{
    const unsigned char *text = (const unsigned char *)bytes;
    size_t size = bytes_of_character(text[0]);
    if (size <= 1) return size == 1 && text[0] >= FIRST_PRINTABLE && text[0] != DELETE;

    /* The first byte holds the highest bits, each byte behind it six more. A text that ends here has a zero byte, which
     * is none of these. */
    uint32_t code = text[0] & (0xffu >> (size + 1));
    for (size_t i = 1; i < size; i++) {
        if ((text[i] & 0xc0u) != 0x80u) return 0;
        code = code << 6 | (text[i] & 0x3fu);
    }

    /* Codes that a shorter character has, halves of pairs and codes beyond all are no characters. */
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    bool is_pair = code >= FIRST_SURROGATE && code <= LAST_SURROGATE;
    bool is_character = code >= least[size] && !is_pair && code <= LAST_CODE;
    return is_character && code > LAST_CONTROL ? size : 0;
}

const char *tw_printable(char *buffer, size_t size, const char *text)
{
    if (!buffer || size == 0 || !text) return "";

    static const char digits[] = "0123456789abcdef";
    size_t used = 0;
    while (*text) {
        /* A character stays as it is; any other byte becomes its number. */
        size_t bytes = tw_printable_bytes(text);
        unsigned char first = (unsigned char)*text;
        const char escape[ESCAPE_SIZE] = {'\\', 'x', digits[first >> 4], digits[first & 0xf]};
        const char *piece = bytes ? text : escape;
        size_t length = bytes ? bytes : ESCAPE_SIZE;

        if (used + length >= size) break;
        memcpy(buffer + used, piece, length);
        used += length;
        text += bytes ? bytes : 1;
    }

    buffer[used] = '\0';
    return buffer;
}
