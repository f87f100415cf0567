/* Nodes of a tree, their memory, and errors with a place. */
#include "scene/tree.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/allocate.h"
#include "base/fail.h"
#include "base/number.h"

enum { CHUNK_BYTES = 16384, ALIGNMENT = 16 };

/* ---- memory ---- */

/* Memory of the tree comes in chunks, so that a file of a million nodes is not a
 * million allocations. */
typedef struct tw_tree_chunk {
    struct tw_tree_chunk *next;
    size_t used;
    size_t capacity;
    _Alignas(ALIGNMENT) char bytes[];
} tree_chunk;

/* `size` bytes that live as long as the tree; NULL when memory is out. */
static void *take(tw_tree *tree, size_t size)
{
    size = (size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;

    /* A new chunk where the current one has not enough room. */
    tree_chunk *chunk = tree->chunks;
    if (!chunk || chunk->capacity - chunk->used < size) {
        size_t capacity = size > CHUNK_BYTES ? size : CHUNK_BYTES;
        chunk = tw_allocate(1, sizeof *chunk + capacity);
        if (!chunk) return NULL;
        *chunk = (tree_chunk){.next = tree->chunks, .capacity = capacity};
        tree->chunks = chunk;
    }

    void *block = chunk->bytes + chunk->used;
    chunk->used += size;
    return block;
}

void tw_tree_free(tw_tree *tree)
{
    tree_chunk *chunk = tree->chunks;
    while (chunk) {
        tree_chunk *next = chunk->next;
        tw_release(chunk);
        chunk = next;
    }
    *tree = (tw_tree){0};
}

tw_node *tw_tree_node(tw_tree *tree, tw_node_kind kind, tw_mark mark)
{
    if (tree->node_count >= TW_TREE_MAX_NODES) return NULL;
    tw_node *node = take(tree, sizeof *node);
    if (!node) return NULL;

    tree->node_count++;
    *node = (tw_node){.kind = kind, .mark = mark};
    return node;
}

const char *tw_tree_text(tw_tree *tree, const char *text, size_t length)
{
    char *copy = take(tree, length + 1);
    if (!copy) return NULL;

    memcpy(copy, text, length);
    copy[length] = '\0';
    return copy;
}

/* ---- entries of lists and maps ---- */

void tw_node_append(tw_node *parent, tw_node *child, const char *key, tw_mark key_mark)
{
    child->key = key;
    child->key_mark = key_mark;
    child->next = NULL;

    /* At the end of the chain. */
    if (parent->last)
        parent->last->next = child;
    else
        parent->first = child;
    parent->last = child;
    parent->count++;
}

void tw_node_remove(tw_node *parent, tw_node *child)
{
    tw_node *before = NULL;
    for (tw_node *n = parent->first; n && n != child; n = n->next) before = n;

    /* The entry before it, or the parent, points to the one after it. */
    if (before)
        before->next = child->next;
    else
        parent->first = child->next;
    if (parent->last == child) parent->last = before;
    parent->count--;
}

tw_node *tw_node_at(const tw_node *list, int index)
{
    tw_node *node = list->first;
    for (int i = 0; node && i < index; i++) node = node->next;
    return index >= 0 ? node : NULL;
}

tw_node *tw_node_find(const tw_node *parent, const char *key)
{
    if (!parent || parent->kind == TW_NODE_SCALAR) return NULL;

    /* In a list the key is an index, without sign or spaces. */
    if (parent->kind == TW_NODE_LIST) {
        char *end = NULL;
        long index = strtol(key, &end, 10);
        bool is_number = key[0] >= '0' && key[0] <= '9' && *end == '\0';
        if (!is_number || index >= TW_TREE_MAX_NODES) return NULL;
        return tw_node_at(parent, (int)index);
    }

    for (tw_node *n = parent->first; n; n = n->next)
        if (strcmp(n->key, key) == 0) return n;
    return NULL;
}

/* ---- errors ---- */

tw_status tw_fail_at(tw_error *error, tw_mark mark, const char *format, ...)
{
    char text[TW_ERROR_TEXT_SIZE];
    va_list arguments;
    va_start(arguments, format);
    tw_format(text, sizeof text, format, arguments);
    va_end(arguments);

    /* "--set ...: " for an option, or else "file:line:column: ". */
    if (mark.line == 0) return tw_fail(error, TW_BAD_INPUT, "%s: %s", mark.origin, text);
    return tw_fail(error, TW_BAD_INPUT, "%s:%d:%d: %s", mark.origin, mark.line, mark.column, text);
}
