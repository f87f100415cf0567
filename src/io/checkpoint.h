/* The file checkpoint.bin: two pieces of bytes behind a magic, a version and a checksum. It is
 * read by the same machine and build only. */
#ifndef TW_IO_CHECKPOINT_H
#define TW_IO_CHECKPOINT_H

#include <stddef.h>
#include <stdint.h>
#include <twang/status.h>

/* Hash of the bytes by FNV-1a with 64 bits. */
uint64_t tw_hash(const void *bytes, size_t size);

typedef struct tw_checkpoint {
    const void *progress; /* state of the run */
    size_t progress_size;
    const void *integrator; /* state of the integrator */
    size_t integrator_size;
    char *file; /* the bytes that were read, which hold both pieces; NULL for writing */
} tw_checkpoint;

tw_status tw_checkpoint_write(const char *path, const tw_checkpoint *checkpoint, tw_error *error);
/* TW_BAD_INPUT for a file that is damaged or of another version. Free with tw_checkpoint_free. */
tw_status tw_checkpoint_read(const char *path, tw_checkpoint *checkpoint, tw_error *error);
void tw_checkpoint_free(tw_checkpoint *checkpoint);

#endif
