/* Good bytes with edits by the fuzzer: each takes ten bytes of its input, a place (two bytes) and eight bytes to put
 * there. So it gets past lengths, magic numbers and checksums, which random bytes hardly meet. */
#ifndef FUZZ_EDITS_H
#define FUZZ_EDITS_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { EDIT_BYTES = 10, EDITED_BYTES = 8 };

static inline void insist(int truth)
{
    if (!truth) abort();
}

/* Edits `bytes` of this size in place. */
static inline void apply_edits(const uint8_t *data, size_t data_size, char *bytes, size_t size)
{
    for (; data_size >= EDIT_BYTES; data += EDIT_BYTES, data_size -= EDIT_BYTES) {
        size_t at = ((size_t)data[0] << 8 | data[1]) % size;
        size_t count = size - at < EDITED_BYTES ? size - at : EDITED_BYTES;
        memcpy(bytes + at, data + 2, count);
    }
}

#endif
