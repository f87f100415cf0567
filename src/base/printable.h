/* Characters that may be printed. */
#ifndef TW_BASE_PRINTABLE_H
#define TW_BASE_PRINTABLE_H

#include <stddef.h>

/* The number of bytes of the character at `text`; 0 if it controls a terminal, or is none. */
size_t tw_printable_bytes(const char *text);

#endif
