/* What may stand in a scene file, as data. Reading, checking, defaults, suggestions and the
 * documentation all come from these tables. */
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
    TW_FIELD_TEXT,     /* any text that is not empty, such as the name of a file */
    TW_FIELD_NUMBERS,  /* a list of `length` numbers */
    TW_FIELD_INTEGERS, /* a list of `length` whole numbers */
    TW_FIELD_ROWS,     /* a list of lists of `length` numbers */
    TW_FIELD_MAP,      /* a map with the fields of `section` */
    TW_FIELD_LIST      /* a list of such maps */
} tw_field_type;

/* low <= value <= high, or < where the bound is open. All zero means no bound. */
typedef struct tw_range {
    bool has_low;
    bool has_high;
    bool open_low;
    bool open_high;
    double low;
    double high;
} tw_range;

typedef struct tw_section tw_section;

typedef struct tw_schema_field {
    const char *key;
    tw_field_type type;
    int length;           /* of TW_FIELD_NUMBERS, TW_FIELD_INTEGERS and TW_FIELD_ROWS, else 0 */
    const char *unit;     /* "m/s^2"; NULL: a pure number or none */
    tw_range range;       /* of each number */
    const char *fallback; /* default, as it would be written; NULL: none */
    bool required;
    bool automatic; /* of TW_FIELD_NUMBER: the word auto may stand for it, and is read as 0 */
    const tw_section *section;        /* of TW_FIELD_MAP and TW_FIELD_LIST */
    const char *(*choice)(int index); /* index-th word of a choice; NULL past the last */
    const char *doc;
} tw_schema_field;

typedef struct tw_field_group {
    const tw_schema_field *fields;
    int count;
} tw_field_group;

enum { TW_KIND_MAX_SHARED = 3 };

/* A kind of map, such as the body kind `rope`: its name and the fields it has besides those of
 * every map in its section. */
typedef struct tw_kind {
    const char *name;
    tw_field_group own;                               /* fields of this kind alone */
    const tw_field_group *shared[TW_KIND_MAX_SHARED]; /* fields that other kinds have too */
} tw_kind;

/* The fields of one sort of map. */
struct tw_section {
    const char *title;
    tw_field_group common;             /* fields of every map; with kinds, `kind` is one of them */
    const tw_kind *(*kind)(int index); /* index-th kind, NULL past the last; NULL: no kinds */
};

extern const tw_section tw_schema_scene;

/* The kind of that name; NULL if the section has none. */
const tw_kind *tw_section_kind(const tw_section *section, const char *name);

/* The index-th field of maps of that kind (NULL: only the common fields); NULL past the last. */
const tw_schema_field *tw_section_field(const tw_section *section, const tw_kind *kind, int index);

/* The field with that key; NULL if maps of that kind have none. */
const tw_schema_field *tw_section_find(const tw_section *section, const tw_kind *kind,
                                       const char *key);

/* Checks the tree against the schema, turns its scalars into numbers, adds defaults. */
tw_status tw_schema_check(tw_tree *tree, tw_error *error);

/* "a number > 0", "one of a, b, c", "a list of 3 numbers": for messages and documentation. */
enum { TW_FIELD_TEXT_SIZE = 400 };
void tw_field_describe(const tw_schema_field *field, char text[TW_FIELD_TEXT_SIZE]);

/* Reading a checked map. The key must be in the schema and have a value or a default. */
double tw_node_number(const tw_node *map, const char *key);
int64_t tw_node_integer(const tw_node *map, const char *key);
const char *tw_node_text(const tw_node *map, const char *key);
void tw_node_numbers(const tw_node *map, const char *key, int count, double *values);

#endif
