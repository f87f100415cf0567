/* zlib, block by block, in parallel: the bytes depend on the data alone. */
#include <stdatomic.h>
#include <string.h>
#include <zlib.h>

#include "base/allocate.h"
#include "base/parallel_for.h"
#include "io/frames_internal.h"

enum { BLOCK = 1 << 17 };

typedef struct compression {
    const Bytef *bytes;
    size_t size;
    int level;
    Bytef *out; /* `bound` bytes per block */
    size_t bound;
    uint64_t *compressed; /* size of each block */
    atomic_bool failed;
} compression;

static void compress_body(void *context, int64_t begin, int64_t end, int64_t block)
{
    (void)block;
    compression *c = context;
    for (int64_t i = begin; i < end; i++) {
        size_t at = (size_t)i * BLOCK, rest = c->size - at;
        uLongf size = (uLongf)c->bound;
        int result = compress2(c->out + (size_t)i * c->bound, &size, c->bytes + at,
                               (uLong)(rest < BLOCK ? rest : BLOCK), c->level);
        c->compressed[i] = size;
        if (result != Z_OK) atomic_store(&c->failed, true);
    }
}

void tw_vtk_compress(const void *bytes, size_t size, int level, tw_text *out)
{
    int64_t blocks = (int64_t)((size + BLOCK - 1) / BLOCK);
    size_t bound = compressBound(BLOCK);
    compression c = {.bytes = bytes, .size = size, .level = level, .bound = bound};
    c.out = TW_NEW_ARRAY((size_t)blocks * bound, Bytef);
    c.compressed = TW_NEW_ARRAY(blocks, uint64_t);
    if (c.out && c.compressed) {
        tw_parallel_for(blocks, 1, compress_body, &c);
        const uint64_t head[3] = {(uint64_t)blocks, BLOCK, size % BLOCK};
        tw_text_add_bytes(out, head, sizeof head);
        tw_text_add_bytes(out, c.compressed, (size_t)blocks * sizeof *c.compressed);
        for (int64_t i = 0; i < blocks && !atomic_load(&c.failed); i++)
            tw_text_add_bytes(out, c.out + (size_t)i * bound, c.compressed[i]);
    }
    if (!c.out || !c.compressed || atomic_load(&c.failed)) out->failed = true;
    tw_release(c.out);
    tw_release(c.compressed);
}
