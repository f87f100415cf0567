/* A hash table from tags to numbers: open addressing, at most half full. A
 * slot with value -1 is empty. */
#include "base/allocate.h"
#include "mesh/mesh_internal.h"

enum { FIRST_SIZE = 64 }; /* slots of a new table, a power of two */

/* The slot that holds the tag, or the empty slot where it belongs. */
static int64_t slot_of(const tw_tag_map *map, int64_t tag)
{
    /* Multiplying by 2^64 divided by the golden ratio spreads tags that follow each other. */
    uint64_t hash = (uint64_t)tag * 0x9E3779B97F4A7C15u;
    int64_t slot = (int64_t)((hash ^ (hash >> 32)) & (uint64_t)(map->size - 1));

    while (map->values[slot] >= 0 && map->tags[slot] != tag) slot = (slot + 1) & (map->size - 1);
    return slot;
}

/* Moves all tags to a table of twice the size. */
static tw_status grow(tw_tag_map *map)
{
    tw_tag_map larger = {.count = map->count, .size = map->size > 0 ? 2 * map->size : FIRST_SIZE};
    larger.tags = TW_NEW_ARRAY(larger.size, int64_t);
    larger.values = TW_NEW_ARRAY(larger.size, int64_t);
    if (!larger.tags || !larger.values) {
        tw_tag_map_free(&larger);
        return TW_OUT_OF_MEMORY;
    }

    /* The place of a tag depends on the size of the table, so that all are entered anew. */
    for (int64_t i = 0; i < larger.size; i++) larger.values[i] = -1;
    for (int64_t i = 0; i < map->size; i++) {
        if (map->values[i] < 0) continue;
        int64_t slot = slot_of(&larger, map->tags[i]);
        larger.tags[slot] = map->tags[i];
        larger.values[slot] = map->values[i];
    }

    tw_tag_map_free(map);
    *map = larger;
    return TW_OK;
}

tw_status tw_tag_map_add(tw_tag_map *map, int64_t tag, int64_t value, bool *is_new)
{
    /* At most half of the slots are in use. */
    if (2 * (map->count + 1) > map->size) {
        tw_status status = grow(map);
        if (status != TW_OK) return status;
    }

    int64_t slot = slot_of(map, tag);
    *is_new = map->values[slot] < 0;
    if (!*is_new) return TW_OK;

    map->tags[slot] = tag;
    map->values[slot] = value;
    map->count++;

    return TW_OK;
}

int64_t tw_tag_map_find(const tw_tag_map *map, int64_t tag)
{
    return map->size > 0 ? map->values[slot_of(map, tag)] : -1;
}

void tw_tag_map_free(tw_tag_map *map)
{
    tw_release(map->tags);
    tw_release(map->values);
    *map = (tw_tag_map){0};
}
