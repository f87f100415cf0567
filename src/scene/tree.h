/* A scene file as a tree that remembers the place in the file of every part. */
#ifndef TW_SCENE_TREE_H
#define TW_SCENE_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <twang/status.h>

/* Limits, so that a file that is not a scene cannot use up memory or stack. A scene of a hundred
 * thousand keyframes is far below them. */
enum {
    TW_TREE_MAX_DEPTH = 64,
    TW_TREE_MAX_NODES = 1000000,
    TW_TREE_MAX_BYTES = 64 << 20,
    TW_PATH_SIZE = 200 /* of "bodies.0.mass" */
};

/* Where something was written: a place in a file, or (line 0) an option of the command line
 * as typed. */
typedef struct tw_mark {
    const char *origin; /* name of the file, or the option */
    int line;           /* from 1 */
    int column;         /* from 1 */
} tw_mark;

typedef enum tw_node_kind { TW_NODE_SCALAR, TW_NODE_LIST, TW_NODE_MAP } tw_node_kind;

typedef struct tw_node {
    tw_node_kind kind;
    tw_mark mark;
    const char *key; /* its key, if it stands in a map */
    tw_mark key_mark;
    const char *text; /* of a scalar */
    bool quoted;      /* written in quotes or as a block: never a number */
    double number; /* of a scalar that the schema knows: a number, the index of a choice, a bool */
    int count;     /* entries of a list or map */
    struct tw_node *first; /* entry */
    struct tw_node *last;  /* entry */
    struct tw_node *next;  /* in the list or map that this node is in */
} tw_node;

/* Owns every node and text of a tree; freed as a whole. */
typedef struct tw_tree {
    struct tw_tree_chunk *chunks;
    size_t node_count;
    tw_node *root;
} tw_tree;

void tw_tree_free(tw_tree *tree);

/* All return NULL when memory is out (or, for a node, when there are too many). */
tw_node *tw_tree_node(tw_tree *tree, tw_node_kind kind, tw_mark mark);
const char *tw_tree_text(tw_tree *tree, const char *text, size_t length);

/* Appends; `key` (kept by reference) is NULL in a list. */
void tw_node_append(tw_node *parent, tw_node *child, const char *key, tw_mark key_mark);
/* Takes `child` out of `parent`. */
void tw_node_remove(tw_node *parent, tw_node *child);
/* The entry of a map with that key, or of a list with that decimal index; NULL if there is none. */
tw_node *tw_node_find(const tw_node *parent, const char *key);
tw_node *tw_node_at(const tw_node *list, int index);

/* YAML text, and where it comes from. */
typedef struct tw_yaml {
    const char *origin; /* named in marks; kept by reference */
    bool positioned;    /* marks have line and column; false for text from the command line */
    const char *text;   /* UTF-8 without NUL */
    size_t size;
} tw_yaml;

/* Parses text to a subtree. Refuses anchors, aliases, tags, second documents, and what is beyond
 * the limits above. */
tw_status tw_tree_parse(tw_tree *tree, const tw_yaml *yaml, tw_node **root, tw_error *error);

/* Replaces or adds what `path` ("bodies.0.mass") names by the YAML text `value`; NULL
 * removes it. */
tw_status tw_tree_set(tw_tree *tree, const char *origin, const char *path, const char *value,
                      tw_error *error);

/* The subtree as YAML. `*text` is terminated and freed by tw_release. */
tw_status tw_tree_write(const tw_node *root, char **text, size_t *size);

/* Writes "file:line:column: ..." (or "--set ...: ...") into error, always one line.
 * Returns TW_BAD_INPUT. */
tw_status tw_fail_at(tw_error *error, tw_mark mark, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
