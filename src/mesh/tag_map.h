/* From the tags of nodes in a file, any whole numbers, to the numbers of vertices. */
#ifndef TW_MESH_TAG_MAP_H
#define TW_MESH_TAG_MAP_H

#include <stdbool.h>
#include <stdint.h>
#include <twang/status.h>

typedef struct tw_tag_map {
    int64_t count, size; /* size: slots, a power of two */
    int64_t *tags, *values;
} tw_tag_map;

/* *is_new is false, and nothing changes, if the tag is there already. */
tw_status tw_tag_map_add(tw_tag_map *map, int64_t tag, int64_t value, bool *is_new);
/* -1 if the tag is not there. */
int64_t tw_tag_map_find(const tw_tag_map *map, int64_t tag);
void tw_tag_map_free(tw_tag_map *map);

#endif
