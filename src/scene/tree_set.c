/* `--set bodies.0.mass=2`: changes a tree as if the value stood in the file. The schema checks the
 * result later, and its errors name the option instead of a place in the file. */
#include <stdio.h>
#include <string.h>
#include <twang/nearest_name.h>

#include "base/fail.h"
#include "scene/tree.h"

typedef struct change {
    tw_tree *tree;
    tw_mark mark; /* the option as it was typed */
    const char *path;
    tw_error *error;
} change;

/* Copies the next component of the path; false if it is empty or too long. */
static bool next_component(const char **path, char component[TW_PATH_SIZE])
{
    size_t length = strcspn(*path, ".");
    if (length == 0 || length >= TW_PATH_SIZE) return false;
    memcpy(component, *path, length);
    component[length] = '\0';
    *path += length;

    /* A point must be followed by another component. */
    if (**path != '.') return true;
    (*path)++;
    return **path != '\0';
}

/* The value of an entry's own key `name`; NULL if it has none. */
static const char *name_of(const tw_node *entry)
{
    const tw_node *name = entry->kind == TW_NODE_MAP ? tw_node_find(entry, "name") : NULL;
    return name && name->kind == TW_NODE_SCALAR ? name->text : NULL;
}

/* The name of an entry that was probably meant; NULL if none is near. */
static const char *nearest_entry(const tw_node *list, const char *component)
{
    enum { MOST_NAMES = 64 };
    const char *names[MOST_NAMES];
    int count = 0;
    for (const tw_node *entry = list->first; entry && count < MOST_NAMES; entry = entry->next)
        if (name_of(entry)) names[count++] = name_of(entry);
    return tw_nearest_name(component, names, count);
}

static tw_status refuse_entry(const change *c, const tw_node *list, const char *component)
{
    const char *nearest = nearest_entry(list, component);
    if (nearest)
        return tw_fail_at(c->error, c->mark, "the list has no entry '%s', did you mean '%s'?",
                          component, nearest);
    if (list->count == 0)
        return tw_fail_at(c->error, c->mark, "the list has no entry '%s', it is empty", component);
    return tw_fail_at(c->error, c->mark, "the list has no entry '%s', only 0 to %d", component,
                      list->count - 1);
}

/* The entry of a map or a list that `component` names: by its key, its index, or the value of its own
 * key `name`, as in bodies.hair.mass. */
static tw_node *find_entry(const tw_node *parent, const char *component)
{
    tw_node *found = tw_node_find(parent, component);
    if (found || parent->kind != TW_NODE_LIST) return found;

    for (tw_node *entry = parent->first; entry; entry = entry->next) {
        const char *name = name_of(entry);
        if (name && strcmp(name, component) == 0) return entry;
    }
    return NULL;
}

/* Adds `child` under `component`, replacing what is there. */
static tw_status put(const change *c, tw_node *parent, const char *component, tw_node *child)
{
    /* What is there is replaced in place, so that the order of the file is kept. */
    tw_node *old = find_entry(parent, component);
    if (old) {
        const char *key = old->key;
        tw_node *next = old->next;
        *old = *child;
        old->key = key;
        old->next = next;
        old->key_mark = c->mark;
        return TW_OK;
    }

    /* Otherwise it is added, to a map only. */
    if (parent->kind == TW_NODE_LIST) return refuse_entry(c, parent, component);
    const char *key = tw_tree_text(c->tree, component, strlen(component));
    if (!key) return tw_fail_plain(c->error, TW_OUT_OF_MEMORY);
    tw_node_append(parent, child, key, c->mark);
    return TW_OK;
}

/* The collection that `component` names inside `parent`, made if it is missing from a map. */
static tw_status descend(const change *c, tw_node *parent, const char *component, tw_node **out)
{
    *out = find_entry(parent, component);
    if (!*out) {
        tw_node *map = tw_tree_node(c->tree, TW_NODE_MAP, c->mark);
        if (!map) return tw_fail_plain(c->error, TW_OUT_OF_MEMORY);
        TW_TRY(put(c, parent, component, map));
        *out = map;
    }

    if ((*out)->kind == TW_NODE_SCALAR)
        return tw_fail_at(c->error, c->mark, "'%s' is a single value, nothing can be set inside it",
                          component);
    return TW_OK;
}

static tw_status apply_change(const change *c, tw_node *value)
{
    tw_node *at = c->tree->root;
    const char *rest = c->path;
    char component[TW_PATH_SIZE];

    /* Go down to the collection that the last component is in. */
    for (;;) {
        if (!next_component(&rest, component))
            return tw_fail_at(c->error, c->mark,
                              "'%s' is no key path, write for example bodies.0.stiffness=1e6",
                              c->path);
        if (*rest == '\0') break;

        bool nothing_to_remove = !value && !find_entry(at, component);
        if (nothing_to_remove) return TW_OK;
        TW_TRY(descend(c, at, component, &at));
    }

    /* Put the value there, or remove what is there. */
    if (value) return put(c, at, component, value);
    tw_node *old = find_entry(at, component);
    if (old) tw_node_remove(at, old);
    return TW_OK;
}

tw_status tw_tree_set(tw_tree *tree, const char *origin, const char *path, const char *value,
                      tw_error *error)
{
    tw_mark mark = {.origin = tw_tree_text(tree, origin, strlen(origin))};
    if (!mark.origin) return tw_fail_plain(error, TW_OUT_OF_MEMORY);

    /* The schema will refuse a file that is a single value. */
    if (tree->root->kind == TW_NODE_SCALAR) return TW_OK;

    tw_node *node = NULL;
    if (value) {
        tw_yaml yaml = {.origin = mark.origin, .text = value, .size = strlen(value)};
        TW_TRY(tw_tree_parse(tree, &yaml, &node, error));
    }
    change c = {.tree = tree, .mark = mark, .path = path, .error = error};
    return apply_change(&c, node);
}
