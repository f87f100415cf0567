/* Text, or bytes, that grows. Failure of memory is remembered and asked for once, at the end. */
#ifndef TW_BASE_TEXT_H
#define TW_BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>

typedef struct tw_text {
    char *bytes; /* terminated once anything was added; free with tw_text_free */
    size_t size, capacity;
    bool failed;
} tw_text;

void tw_text_free(tw_text *text);
/* Empties it and keeps the memory. */
void tw_text_clear(tw_text *text);
/* printf with the decimal point of the C locale. */
void tw_text_add(tw_text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* As they are, zeros included. */
void tw_text_add_bytes(tw_text *text, const void *bytes, size_t size);
/* Room for `size` more bytes behind what is there, to be filled in place; NULL when memory
 * is out. */
char *tw_text_reserve(tw_text *text, size_t size);
/* Takes `size` of those bytes into the text. */
void tw_text_grow(tw_text *text, size_t size);
/* 17 significant digits: reads back bit for bit. */
void tw_text_add_number(tw_text *text, double value);

#endif
