/* The schema as a flat list, for documentation. */
#include <string.h>

#include "scene/schema.h"

static const char *or_empty(const char *text)
{
    return text ? text : "";
}

static void describe(const tw_section *section, const tw_schema_field *field, tw_scene_key *key)
{
    *key = (tw_scene_key){.section = section == &tw_schema_scene ? "" : section->title,
                          .key = field->key,
                          .unit = or_empty(field->unit),
                          .fallback = or_empty(field->fallback),
                          .kinds = or_empty(field->kinds),
                          .text = field->doc,
                          .required = field->required};
    tw_field_describe(field, key->type, (int)sizeof key->type);
}

/* Depth first: a section's own keys, then those of its subsections. `*index` counts down to the one wanted. */
static bool find(const tw_section *section, int *index, tw_scene_key *key)
{
    for (int i = 0; i < section->count; i++) {
        if ((*index)-- > 0) continue;
        describe(section, &section->fields[i], key);
        return true;
    }
    for (int i = 0; i < section->count; i++)
        if (section->fields[i].section && find(section->fields[i].section, index, key)) return true;
    return false;
}

tw_status tw_scene_key_at(int index, tw_scene_key *key)
{
    if (index < 0 || !key) return TW_INVALID_ARGUMENT;
    return find(&tw_schema_scene, &index, key) ? TW_OK : TW_INVALID_ARGUMENT;
}
