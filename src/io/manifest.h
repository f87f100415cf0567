/* The list of what twang wrote into a directory: manifest.txt there. Files that are not in it belong
 * to somebody else and are neither removed nor replaced. */
#ifndef TW_IO_MANIFEST_H
#define TW_IO_MANIFEST_H

#include <stdbool.h>
#include <stdint.h>
#include <twang/status.h>

#include "base/text.h"

#define TW_MANIFEST_NAME "manifest.txt"

typedef struct tw_manifest {
    tw_text lines;       /* a name per line, relative to the directory; frames 0 to 12 as
                    * "frame_*.csv 13" */
    uint64_t scene_hash; /* of scene.yaml as it was written; 0 where there is none */
} tw_manifest;

/* Reads that of the directory; an empty one if there is none. TW_BAD_INPUT if it is no manifest. */
tw_status tw_manifest_read(const char *directory, tw_manifest *manifest, tw_error *error);
tw_status tw_manifest_write(const char *directory, const tw_manifest *manifest, tw_error *error);
void tw_manifest_free(tw_manifest *manifest);

bool tw_manifest_has(const tw_manifest *manifest, const char *name);

/* Adds the names in `before` that the manifest lacks and whose files are in the directory still. */
void tw_manifest_keep(const char *directory, tw_manifest *manifest, const tw_manifest *before);

/* TW_BAD_INPUT if a file of one of these names (a line each) is in the directory and not in
 * the manifest. */
tw_status tw_manifest_check_free(const char *directory, const tw_manifest *manifest,
                                 const tw_text *names, tw_error *error);
/* TW_BAD_INPUT if one of these names (a line each), or of the half files beside them, belongs to a link
 * or to what is no file. */
tw_status tw_manifest_check_regular(const char *directory, const tw_text *names, tw_error *error);
/* Enters these names (a line each) in the manifest of the directory and removes the frames of
 * earlier series of the same name. TW_BAD_INPUT as above. */
tw_status tw_manifest_claim(const char *directory, tw_manifest *manifest, const tw_text *names,
                            tw_error *error);
/* Removes every file in the manifest, and the half files beside them. Names that lead out of the
 * directory are passed over, and so is what is no file. */
tw_status tw_manifest_remove_files(const char *directory, const tw_manifest *manifest,
                                   tw_error *error);

#endif
