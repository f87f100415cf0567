/* What may stand in a scene file, as data: reading, checking, defaults, suggestions and documentation all come from
 * this one table. */
#ifndef TW_SCENE_SCHEMA_H
#define TW_SCENE_SCHEMA_H

#include <stdbool.h>
#include <stdint.h>
#include <twang/scene.h>

#include "scene/tree.h"

typedef enum tw_field_type {
    TW_FIELD_NUMBER,
    TW_FIELD_INTEGER,
    TW_FIELD_BOOL,
    TW_FIELD_NAME,     /* letters, digits, '.', '_', '-': fit for a file name */
    TW_FIELD_CHOICE,   /* one of a list of words */
    TW_FIELD_CHOICES,  /* one of them, or a list of some */
    TW_FIELD_TEXT,     /* any text but an empty one, such as a file's name */
    TW_FIELD_NUMBERS,  /* a list of `length` numbers */
    TW_FIELD_INTEGERS, /* a list of `length` whole numbers */
    TW_FIELD_MAP,      /* a map with the fields of `section` */
    TW_FIELD_LIST      /* a list of such maps */
} tw_field_type;

/* low < value < high; closed where not open. All zero means no bound. */
typedef struct tw_range {
    bool has_low, has_high, open_low, open_high;
    double low, high;
} tw_range;

typedef struct tw_section tw_section;

typedef struct tw_schema_field {
    const char *key;
    tw_field_type type;
    int length;           /* of TW_FIELD_NUMBERS and TW_FIELD_INTEGERS, else 0 */
    const char *unit;     /* "m/s^2"; NULL: a pure number or none */
    tw_range range;       /* of each number */
    const char *fallback; /* default, as it would be written; NULL: none */
    bool required;
    const char *kinds; /* "rope cloth": only in maps whose `kind` is one of these; NULL: in all */
    const tw_section *section;
    const char *(*choice)(int index); /* index-th word of a choice; NULL past the last */
    const char *doc;
} tw_schema_field;

/* The fields of one kind of map. If one of them is called "kind", it decides which others apply. */
struct tw_section {
    const char *title;
    const tw_schema_field *fields;
    int count;
};

extern const tw_section tw_schema_scene;

/* Checks `root` against the schema, turns its scalars into numbers, adds defaults. */
tw_status tw_schema_check(tw_tree *tree, tw_error *error);

/* Whether the field applies to maps of that kind (NULL: no kind). */
bool tw_field_applies(const tw_schema_field *field, const char *kind);

/* "number > 0", "one of a, b, c", "list of 3 numbers": for messages and documentation. */
void tw_field_describe(const tw_schema_field *field, char *text, int size);

/* Reading a checked map. The key must be in the schema and have a value or a default. */
double tw_node_number(const tw_node *map, const char *key);
int64_t tw_node_integer(const tw_node *map, const char *key);
const char *tw_node_text(const tw_node *map, const char *key);
void tw_node_numbers(const tw_node *map, const char *key, int count, double *values);

#endif
