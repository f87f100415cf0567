/* Words for writing tables of fields: schema*.c. */
#ifndef TW_SCENE_SCHEMA_TABLES_H
#define TW_SCENE_SCHEMA_TABLES_H

#include <stddef.h>

#include "scene/schema.h"

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
/* a < value < b, a <= value < b */
#define INSIDE(a, b)                                                                               \
    {                                                                                              \
        .has_low = true, .low = (a), .open_low = true, .has_high = true, .high = (b),              \
        .open_high = true                                                                          \
    }
#define BELOW(a, b)                                                                                \
    {                                                                                              \
        .has_low = true, .low = (a), .has_high = true, .high = (b), .open_high = true              \
    }
#define SECTION(name, text, array)                                                                 \
    const tw_section name = {text, array, (int)(sizeof(array) / sizeof *(array))}

#define WORDS(function, ...)                                                                       \
    static const char *function(int index)                                                         \
    {                                                                                              \
        static const char *const words[] = {__VA_ARGS__};                                          \
        return index >= 0 && index < (int)(sizeof words / sizeof *words) ? words[index] : NULL;    \
    }

/* The tables that are not in schema.c. */
extern const tw_section tw_schema_bodies, tw_schema_pins, tw_schema_forces, tw_schema_motions;

#endif
