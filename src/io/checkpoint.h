/* checkpoint.bin: two pieces of bytes behind a magic, a version and a checksum. Same machine and build only. */
#ifndef TW_IO_CHECKPOINT_H
#define TW_IO_CHECKPOINT_H

#include <stddef.h>
#include <stdint.h>
#include <twang/status.h>

/* FNV-1a, 64 bits. */
uint64_t tw_hash(const void *bytes, size_t size);

typedef struct tw_checkpoint {
    const void *progress; /* of the run */
    size_t progress_size;
    const void *integrator;
    size_t integrator_size;
    char *file; /* what was read, owner of both pieces; NULL for one that is to be written */
} tw_checkpoint;

tw_status tw_checkpoint_write(const char *path, const tw_checkpoint *checkpoint, tw_error *error);
/* TW_BAD_INPUT for a file that is damaged or of another version; free with tw_checkpoint_free. */
tw_status tw_checkpoint_read(const char *path, tw_checkpoint *checkpoint, tw_error *error);
void tw_checkpoint_free(tw_checkpoint *checkpoint);

#endif
