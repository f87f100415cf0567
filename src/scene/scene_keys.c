/* The schema as a flat list of keys, for documentation. */
#include <stdio.h>
#include <string.h>

#include "scene/schema.h"

/* The walk through the schema counts `remaining` down and describes the field at which it
 * is zero. */
typedef struct walk {
    int remaining;
    tw_scene_key *key;
} walk;

static const char *or_empty(const char *text)
{
    return text ? text : "";
}

static void describe(const tw_section *section, const tw_schema_field *field, const char *kinds,
                     tw_scene_key *key)
{
    *key = (tw_scene_key){.section = section == &tw_schema_scene ? "" : section->title,
                          .key = field->key,
                          .unit = or_empty(field->unit),
                          .fallback = or_empty(field->fallback),
                          .text = field->doc,
                          .required = field->required};
    snprintf(key->kinds, sizeof key->kinds, "%s", kinds);
    tw_field_describe(field, key->type);
}

/* True if the wanted field is in the group. */
static bool walk_group(walk *w, const tw_section *section, const tw_field_group *group,
                       const char *kinds)
{
    if (w->remaining >= group->count) {
        w->remaining -= group->count;
        return false;
    }

    describe(section, &group->fields[w->remaining], kinds, w->key);
    return true;
}

static bool has_group(const tw_kind *kind, const tw_field_group *group)
{
    for (int i = 0; i < TW_KIND_MAX_SHARED; i++)
        if (kind->shared[i] == group) return true;
    return false;
}

/* The names of all kinds that share the group, separated by spaces. Returns the index of
 * the first. */
static int kinds_of_group(const tw_section *section, const tw_field_group *group, char *text,
                          size_t size)
{
    int first = -1;
    text[0] = '\0';

    const tw_kind *kind = NULL;
    for (int i = 0; (kind = section->kind(i)); i++) {
        if (!has_group(kind, group)) continue;
        if (first < 0) first = i;

        /* Append the name. */
        size_t length = strlen(text);
        snprintf(text + length, size - length, "%s%s", length ? " " : "", kind->name);
    }
    return first;
}

/* The groups that the index-th kind shares with later kinds but not with earlier ones. */
static bool walk_shared(walk *w, const tw_section *section, int index)
{
    const tw_kind *kind = section->kind(index);
    for (int i = 0; i < TW_KIND_MAX_SHARED && kind->shared[i]; i++) {
        char kinds[sizeof w->key->kinds];
        int first = kinds_of_group(section, kind->shared[i], kinds, sizeof kinds);
        if (first == index && walk_group(w, section, kind->shared[i], kinds)) return true;
    }
    return false;
}

/* The fields of every map, those of one kind alone, those of several kinds. */
static bool walk_fields(walk *w, const tw_section *section)
{
    if (walk_group(w, section, &section->common, "")) return true;
    if (!section->kind) return false;

    /* Fields of one kind. */
    const tw_kind *kind = NULL;
    for (int i = 0; (kind = section->kind(i)); i++)
        if (walk_group(w, section, &kind->own, kind->name)) return true;

    /* Fields of several kinds, each group once. */
    for (int i = 0; section->kind(i); i++)
        if (walk_shared(w, section, i)) return true;
    return false;
}

static bool walk_section(walk *w, const tw_section *section);

static bool walk_subsections(walk *w, const tw_field_group *group)
{
    for (int i = 0; i < group->count; i++) {
        const tw_section *inner = group->fields[i].section;
        if (inner && walk_section(w, inner)) return true;
    }
    return false;
}

/* The sections inside the groups that a kind shares, with the first kind that has them. */
static bool walk_shared_subsections(walk *w, const tw_section *section, int index)
{
    const tw_kind *kind = section->kind(index);
    char kinds[sizeof w->key->kinds];
    for (int i = 0; i < TW_KIND_MAX_SHARED && kind->shared[i]; i++) {
        int first = kinds_of_group(section, kind->shared[i], kinds, sizeof kinds);
        if (first == index && walk_subsections(w, kind->shared[i])) return true;
    }
    return false;
}

/* A section's own keys, then those of the sections inside it. */
static bool walk_section(walk *w, const tw_section *section)
{
    if (walk_fields(w, section)) return true;
    if (walk_subsections(w, &section->common)) return true;

    for (int i = 0; section->kind && section->kind(i); i++) {
        if (walk_subsections(w, &section->kind(i)->own)) return true;
        if (walk_shared_subsections(w, section, i)) return true;
    }
    return false;
}

tw_status tw_scene_key_at(int index, tw_scene_key *key)
{
    if (index < 0 || !key) return TW_INVALID_ARGUMENT;

    walk w = {.remaining = index, .key = key};
    return walk_section(&w, &tw_schema_scene) ? TW_OK : TW_INVALID_ARGUMENT;
}
