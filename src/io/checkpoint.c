/* The file checkpoint.bin: a header with a checksum, then the two pieces. */
#include "io/checkpoint.h"

#include <stddef.h>
#include <string.h>

#include "base/allocate.h"
#include "base/fail.h"
#include "base/read_file.h"
#include "io/file.h"

enum { FORMAT_VERSION = 3 };
static const char magic[8] = {'T', 'W', 'A', 'N', 'G', 'C', 'K', 'P'};

typedef struct header {
    char magic[8];
    uint32_t format, reserved;
    char library[32]; /* version of the library that wrote it */
    uint64_t progress_size, integrator_size;
    uint64_t checksum; /* of the whole file, with 0 in this place */
} header;

uint64_t tw_hash(const void *bytes, size_t size)
{
    /* Offset basis and prime of FNV-1a with 64 bits. */
    uint64_t hash = 0xcbf29ce484222325u;
    const unsigned char *p = bytes;
    for (const unsigned char *end = p + size; p < end; p++) hash = (hash ^ *p) * 0x100000001b3u;
    return hash;
}

tw_status tw_checkpoint_write(const char *path, const tw_checkpoint *checkpoint, tw_error *error)
{
    size_t payload = checkpoint->progress_size + checkpoint->integrator_size;
    char *file = tw_allocate(sizeof(header) + payload, 1);
    if (!file) return tw_fail_plain(error, TW_OUT_OF_MEMORY);

    /* The two pieces go behind the header. */
    char *progress = file + sizeof(header);
    char *integrator = progress + checkpoint->progress_size;
    memcpy(progress, checkpoint->progress, checkpoint->progress_size);
    memcpy(integrator, checkpoint->integrator, checkpoint->integrator_size);

    header head = {.format = FORMAT_VERSION,
                   .progress_size = checkpoint->progress_size,
                   .integrator_size = checkpoint->integrator_size};
    memcpy(head.magic, magic, sizeof magic);
    strncpy(head.library, tw_version(), sizeof head.library - 1);
    memcpy(file, &head, sizeof head);
    head.checksum = tw_hash(file, sizeof head + payload);
    memcpy(file, &head, sizeof head);

    tw_status status = tw_file_replace(path, file, sizeof head + payload, error);
    tw_release(file);
    return status;
}

/* The checksum that the file should have. Its own place is made 0. */
static uint64_t checksum_of(char *file, size_t size)
{
    memset(file + offsetof(header, checksum), 0, sizeof(uint64_t));
    return tw_hash(file, size);
}

/* Checks the header against the file of `size` bytes that it begins. */
static tw_status check_header(const char *path, const header *head, char *file, size_t size,
                              tw_error *error)
{
    if (size < sizeof *head || memcmp(head->magic, magic, sizeof magic) != 0)
        return tw_fail(error, TW_BAD_INPUT, "%s: is not a checkpoint", path);

    if (head->format != FORMAT_VERSION ||
        strncmp(head->library, tw_version(), sizeof head->library) != 0)
        return tw_fail(error, TW_BAD_INPUT,
                       "%s: was written by twang %.31s, resume with that version (this is %s)",
                       path, head->library, tw_version());

    /* The two sizes must add up to the rest of the file, without overflow. */
    size_t payload = size - sizeof *head;
    if (head->progress_size > payload || head->integrator_size != payload - head->progress_size ||
        checksum_of(file, size) != head->checksum)
        return tw_fail(error, TW_BAD_INPUT, "%s: is damaged, its checksum does not match", path);

    return TW_OK;
}

tw_status tw_checkpoint_read(const char *path, tw_checkpoint *checkpoint, tw_error *error)
{
    *checkpoint = (tw_checkpoint){0};
    char *file = NULL;
    size_t size = 0;
    TW_TRY(tw_read_own_file(path, TW_READ_ALL, &file, &size, error));

    /* A file that is too short leaves a header of zeros, which is refused. */
    header head = {0};
    if (size >= sizeof head) memcpy(&head, file, sizeof head);
    head.library[sizeof head.library - 1] = '\0';
    tw_status status = check_header(path, &head, file, size, error);
    if (status != TW_OK) {
        tw_release(file);
        return status;
    }

    *checkpoint = (tw_checkpoint){.progress = file + sizeof head,
                                  .progress_size = head.progress_size,
                                  .integrator = file + sizeof head + head.progress_size,
                                  .integrator_size = head.integrator_size,
                                  .file = file};

    return TW_OK;
}

void tw_checkpoint_free(tw_checkpoint *checkpoint)
{
    tw_release(checkpoint->file);
    *checkpoint = (tw_checkpoint){0};
}
