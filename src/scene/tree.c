#include "scene/tree.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/allocate.h"
#include "base/number.h"

enum { CHUNK_BYTES = 16384, ALIGNMENT = 16 };

/* Memory of the tree comes in chunks, so that a file of a million nodes is not a million allocations. */
typedef struct tw_tree_chunk {
    struct tw_tree_chunk *next;
    size_t used, capacity;
    _Alignas(16) char bytes[];
} tree_chunk;

static void *take(tw_tree *tree, size_t size)
{
    size = (size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
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
    for (tree_chunk *chunk = tree->chunks, *next; chunk; chunk = next) {
        next = chunk->next;
        tw_release(chunk);
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

void tw_node_append(tw_node *parent, tw_node *child, const char *key, tw_mark key_mark)
{
    child->key = key;
    child->key_mark = key_mark;
    child->next = NULL;
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
    if (parent->kind == TW_NODE_LIST) {
        char *end = NULL;
        long index = strtol(key, &end, 10);
        bool is_index = key[0] >= '0' && key[0] <= '9' && *end == '\0' && index < TW_TREE_MAX_NODES;
        return is_index ? tw_node_at(parent, (int)index) : NULL;
    }
    for (tw_node *n = parent->first; n; n = n->next)
        if (strcmp(n->key, key) == 0) return n;
    return NULL;
}

/* A key may hold an escaped newline; an error must stay one line. */
static void keep_one_line(char *text)
{
    for (; *text; text++)
        if ((unsigned char)*text < 0x20 || *text == 0x7f) *text = '?';
}

tw_status tw_fail_at(tw_error *error, tw_mark mark, const char *format, ...)
{
    if (!error) return TW_BAD_INPUT;
    error->status = TW_BAD_INPUT;
    int length = mark.line > 0 ? snprintf(error->text, sizeof error->text,
                                          "%s:%d:%d: ", mark.origin, mark.line, mark.column)
                               : snprintf(error->text, sizeof error->text, "%s: ", mark.origin);
    if (length >= 0 && (size_t)length < sizeof error->text) {
        va_list arguments;
        va_start(arguments, format);
        tw_format(error->text + length, sizeof error->text - (size_t)length, format, arguments);
        va_end(arguments);
    }
    keep_one_line(error->text);
    return TW_BAD_INPUT;
}
