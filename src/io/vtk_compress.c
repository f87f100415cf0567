/* Compression by zlib, block by block, in parallel. The bytes depend on the data alone. */
#include <stdatomic.h>
#include <string.h>
#include <zlib.h>

#include "base/allocate.h"
#include "base/parallel_for.h"
#include "io/frames_internal.h"

enum { BLOCK = 1 << 16 }; /* bytes that are compressed together */

typedef struct compression {
    const Bytef *bytes;
    size_t size;
    bool coordinates;
    Bytef *out; /* `bound` bytes per block */
    size_t bound;
    uint64_t *compressed; /* size of each block */
    atomic_bool failed;
} compression;

/* Compresses one block. Coordinates hardly repeat themselves: looking for runs alone gives the
 * same size in a third of the time. */
static bool compress_block(const compression *c, const Bytef *bytes, size_t size, Bytef *out,
                           uint64_t *compressed)
{
    z_stream stream = {.next_in = (Bytef *)bytes,
                       .avail_in = (uInt)size,
                       .next_out = out,
                       .avail_out = (uInt)c->bound};
    int level = c->coordinates ? Z_BEST_SPEED : Z_DEFAULT_COMPRESSION;
    int strategy = c->coordinates ? Z_RLE : Z_DEFAULT_STRATEGY;
    const int memory_level = 8; /* zlib's default */

    if (deflateInit2(&stream, level, Z_DEFLATED, MAX_WBITS, memory_level, strategy) != Z_OK)
        return false;

    bool good = deflate(&stream, Z_FINISH) == Z_STREAM_END;
    *compressed = stream.total_out;
    deflateEnd(&stream);

    return good;
}

static void compress_blocks(void *context, int64_t begin, int64_t end, int64_t block)
{
    (void)block;
    compression *c = context;
    for (int64_t i = begin; i < end; i++) {
        /* The last block may be shorter. */
        size_t at = (size_t)i * BLOCK;
        size_t rest = c->size - at;
        size_t size = rest < BLOCK ? rest : BLOCK;
        bool good = compress_block(c, c->bytes + at, size, c->out + (size_t)i * c->bound,
                                   &c->compressed[i]);
        if (!good) atomic_store(&c->failed, true);
    }
}

void tw_vtk_compress(const void *bytes, size_t size, bool coordinates, tw_text *out)
{
    int64_t blocks = (int64_t)((size + BLOCK - 1) / BLOCK);
    size_t bound = compressBound(BLOCK);
    compression c = {.bytes = bytes, .size = size, .coordinates = coordinates, .bound = bound};

    /* Each block has room for the case that nothing is gained. */
    c.out = TW_NEW_ARRAY((size_t)blocks * bound, Bytef);
    c.compressed = TW_NEW_ARRAY(blocks, uint64_t);

    if (c.out && c.compressed) {
        tw_parallel_for(blocks, 1, compress_blocks, &c);

        /* Head, sizes, blocks. */
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
