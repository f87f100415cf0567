/* An obstacle that follows a sequence of meshes. */
#ifndef TW_SCENE_SEQUENCE_MOTION_H
#define TW_SCENE_SEQUENCE_MOTION_H

#include "scene/scene_internal.h"
#include "scene/schema.h"

/* The keys files, first, count and fps. */
extern const tw_field_group tw_sequence_fields;

enum { TW_SEQUENCE_PATH_SIZE = 4096 };

/* The name of file `number`: the signs # of the pattern become its digits, with zeros before. False
 * if the pattern has no #, has them in two places, or is too long. */
bool tw_sequence_file(const char *pattern, int64_t number, char path[TW_SEQUENCE_PATH_SIZE]);

/* Moves the particles first ... last, which are the vertices of the mesh `obstacle`, each along a
 * smooth curve through its places in the files. */
tw_status tw_prescribe_sequence(const tw_entry *motion, const tw_node *obstacle, int64_t first,
                                int64_t last, tw_error *error);

#endif
