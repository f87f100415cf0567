/* Words for writing the tables of the schema. */
#ifndef TW_SCENE_SCHEMA_TABLES_H
#define TW_SCENE_SCHEMA_TABLES_H

#include <stddef.h>

#include "scene/schema.h"

#define COUNT_OF(array) ((int)(sizeof(array) / sizeof *(array)))

/* Ranges: value > a, value >= a, a <= value <= b, a < value < b, a <= value < b. */
#define ABOVE(a)                                                                                   \
    {                                                                                              \
        .has_low = true, .low = (a), .open_low = true                                              \
    }
#define AT_LEAST(a)                                                                                \
    {                                                                                              \
        .has_low = true, .low = (a)                                                                \
    }
#define BETWEEN(a, b)                                                                              \
    {                                                                                              \
        .has_low = true, .low = (a), .has_high = true, .high = (b)                                 \
    }
#define INSIDE(a, b)                                                                               \
    {                                                                                              \
        .has_low = true, .low = (a), .open_low = true, .has_high = true, .high = (b),              \
        .open_high = true                                                                          \
    }
#define BELOW(a, b)                                                                                \
    {                                                                                              \
        .has_low = true, .low = (a), .has_high = true, .high = (b), .open_high = true              \
    }

/* The key `body` of an entry, and the key `name` of an entry in the list of that name. */
#define BODY_FIELD(text)                                                                           \
    {                                                                                              \
        "body", TW_FIELD_NAME, .fallback = "0", .doc = (text)                                      \
    }
#define NAME_FIELD(list)                                                                           \
    {                                                                                              \
        "name", TW_FIELD_NAME, .doc = "what it is called, as in --set " list ".NAME.KEY=VALUE"     \
    }

/* A tw_field_group of all fields in an array. */
#define FIELDS(array)                                                                              \
    {                                                                                              \
        (array), COUNT_OF(array)                                                                   \
    }

/* A section whose maps are all of one kind. */
#define SECTION(name, text, array) const tw_section name = {text, FIELDS(array), NULL}

/* The words of a choice. */
#define WORDS(function, ...)                                                                       \
    static const char *function(int index)                                                         \
    {                                                                                              \
        static const char *const words[] = {__VA_ARGS__};                                          \
        return index >= 0 && index < COUNT_OF(words) ? words[index] : NULL;                        \
    }

/* For a table of kinds, whose rows have a member `schema` of type tw_kind: the functions that a
 * section (`kind_row`) and its field `kind` (`kind_name`) ask for them. One table per file. */
#define KINDS_OF(table)                                                                            \
    static const tw_kind *kind_row(int index)                                                      \
    {                                                                                              \
        return index >= 0 && index < COUNT_OF(table) ? &(table)[index].schema : NULL;              \
    }                                                                                              \
    static const char *kind_name(int index)                                                        \
    {                                                                                              \
        const tw_kind *kind = kind_row(index);                                                     \
        return kind ? kind->name : NULL;                                                           \
    }

/* The sections that are not in schema.c, beside the functions that build what they describe. */
extern const tw_section tw_schema_system;          /* system_kinds.c */
extern const tw_section tw_schema_bodies;          /* body_kinds.c */
extern const tw_section tw_schema_pins;            /* build_pins.c */
extern const tw_section tw_schema_forces;          /* build_forces.c */
extern const tw_section tw_schema_motions;         /* build_motions.c */
extern const tw_section tw_schema_obstacles;       /* build_obstacles.c */
extern const tw_section tw_schema_contact;         /* build_obstacles.c */
extern const tw_section tw_schema_fluid;           /* build_fluid.c */
extern const tw_section tw_schema_obstacle_motion; /* build_motions.c */
extern const tw_section tw_schema_plasticity;      /* build_plasticity.c */

/* Which particles are meant, a part of pins, forces and motions (build_pins.c). */
extern const tw_field_group tw_selection_fields;
/* The keys of a motor (build_fluid.c). */
extern const tw_field_group tw_motor_fields;

/* The axes that may point up, "z" and "y". (schema.c) */
const char *tw_up_axes(int index);

#endif
