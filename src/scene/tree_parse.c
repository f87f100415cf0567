/* Turns the events of libyaml's parser into a tree with marks. libyaml's own document API is not
 * used: it turns aliases into graphs, has no limits, and forgets the position of keys. */
#include <stdint.h>
#include <string.h>
#include <yaml.h>

#include "base/fail.h"
#include "scene/tree.h"

typedef struct parse {
    yaml_parser_t parser;
    tw_tree *tree;
    const tw_yaml *yaml;
    tw_status status; /* what went wrong, or TW_OK */
    tw_error *error;
} parse;

/* ---- errors ---- */

static tw_mark mark_at(const parse *p, yaml_mark_t at)
{
    if (!p->yaml->positioned) return (tw_mark){.origin = p->yaml->origin};
    return (tw_mark){p->yaml->origin, (int)at.line + 1, (int)at.column + 1};
}

/* The mark of a byte, for errors that libyaml finds before it has tokens. */
static tw_mark mark_of_byte(const parse *p, size_t offset)
{
    yaml_mark_t at = {0};
    for (size_t i = 0; i < offset && i < p->yaml->size; i++) {
        at.column++;
        if (p->yaml->text[i] == '\n') at = (yaml_mark_t){.line = at.line + 1};
    }
    return mark_at(p, at);
}

/* Every function below returns NULL or false after it has put what is wrong into p->status
 * and p->error. */
static bool parser_error(parse *p)
{
    const yaml_parser_t *y = &p->parser;
    if (y->error == YAML_MEMORY_ERROR) {
        p->status = tw_fail_plain(p->error, TW_OUT_OF_MEMORY);
        return false;
    }

    /* The bytes are not text. */
    if (y->error == YAML_READER_ERROR) {
        const char *problem = y->problem ? y->problem : "unreadable text";
        p->status = tw_fail_at(p->error, mark_of_byte(p, y->problem_offset),
                               "%s; a scene is UTF-8 text", problem);
        return false;
    }

    /* The text is not YAML. */
    const char *problem = y->problem ? y->problem : "not YAML";
    const char *context = y->context ? y->context : "";
    const char *space = y->context ? " " : "";
    p->status = tw_fail_at(p->error, mark_at(p, y->problem_mark),
                           "%s%s%s; check the indentation, colons and brackets here", problem,
                           space, context);
    return false;
}

static bool next_event(parse *p, yaml_event_t *event)
{
    return yaml_parser_parse(&p->parser, event) || parser_error(p);
}

static bool has_no_anchor_or_tag(parse *p, const yaml_event_t *event, const yaml_char_t *anchor,
                                 const yaml_char_t *tag)
{
    /* They would make a graph of the tree, and have no use in a scene. */
    if (anchor)
        p->status =
            tw_fail_at(p->error, mark_at(p, event->start_mark),
                       "anchor &%s is not supported, write the value out where it is needed",
                       (const char *)anchor);
    else if (tag)
        p->status = tw_fail_at(p->error, mark_at(p, event->start_mark),
                               "tag %s is not supported, write the plain value without it",
                               (const char *)tag);
    return !anchor && !tag;
}

/* ---- nodes ---- */

static tw_node *new_node(parse *p, tw_node_kind kind, tw_mark mark)
{
    tw_node *node = tw_tree_node(p->tree, kind, mark);
    if (node) return node;

    /* The tree has reached its limit, or memory is out. */
    if (p->tree->node_count >= TW_TREE_MAX_NODES)
        p->status =
            tw_fail_at(p->error, mark, "more than %d values, a scene may have at most that many",
                       TW_TREE_MAX_NODES);
    else
        p->status = tw_fail_plain(p->error, TW_OUT_OF_MEMORY);
    return NULL;
}

static const char *scalar_text(parse *p, const yaml_event_t *event)
{
    const char *value = (const char *)event->data.scalar.value;
    size_t length = event->data.scalar.length;
    if (!has_no_anchor_or_tag(p, event, event->data.scalar.anchor, event->data.scalar.tag))
        return NULL;

    /* An escape in quotes can make a NUL, which would cut the text. */
    if (memchr(value, '\0', length)) {
        p->status = tw_fail_at(p->error, mark_at(p, event->start_mark),
                               "the text contains a NUL character, remove it");
        return NULL;
    }

    const char *text = tw_tree_text(p->tree, value, length);
    if (!text) p->status = tw_fail_plain(p->error, TW_OUT_OF_MEMORY);
    return text;
}

static tw_node *parse_scalar(parse *p, const yaml_event_t *event)
{
    const char *text = scalar_text(p, event);
    if (!text) return NULL;
    tw_node *node = new_node(p, TW_NODE_SCALAR, mark_at(p, event->start_mark));
    if (!node) return NULL;

    node->text = text;
    node->quoted = event->data.scalar.style != YAML_PLAIN_SCALAR_STYLE;
    return node;
}

static tw_node *parse_node(parse *p, const yaml_event_t *event, int depth);

static tw_node *parse_next(parse *p, int depth)
{
    yaml_event_t event;
    if (!next_event(p, &event)) return NULL;

    tw_node *node = parse_node(p, &event, depth);
    yaml_event_delete(&event);
    return node;
}

/* Reads the value of the key that `event` holds, and appends it to the map. */
static bool parse_entry(parse *p, const yaml_event_t *event, int depth, tw_node *map)
{
    tw_mark key_mark = mark_at(p, event->start_mark);
    if (event->type != YAML_SCALAR_EVENT) {
        p->status = tw_fail_at(p->error, key_mark, "a key must be a plain word, such as duration");
        return false;
    }

    const char *key = scalar_text(p, event);
    if (!key) return false;
    tw_node *child = parse_next(p, depth + 1);
    if (!child) return false;
    tw_node_append(map, child, key, key_mark);
    return true;
}

static bool parse_item(parse *p, const yaml_event_t *event, int depth, tw_node *list)
{
    tw_node *child = parse_node(p, event, depth + 1);
    if (!child) return false;
    tw_node_append(list, child, NULL, child->mark);
    return true;
}

/* Reads everything up to the end of the list or map `parent`. */
static bool parse_children(parse *p, int depth, tw_node *parent)
{
    bool is_map = parent->kind == TW_NODE_MAP;
    yaml_event_type_t end = is_map ? YAML_MAPPING_END_EVENT : YAML_SEQUENCE_END_EVENT;
    for (;;) {
        yaml_event_t event;
        if (!next_event(p, &event)) return false;

        /* The end of the collection, or one more entry. */
        bool done = event.type == end;
        bool good = true;
        if (!done && is_map)
            good = parse_entry(p, &event, depth, parent);
        else if (!done)
            good = parse_item(p, &event, depth, parent);

        yaml_event_delete(&event);
        if (done || !good) return good;
    }
}

static tw_node *parse_collection(parse *p, const yaml_event_t *start, int depth)
{
    /* The functions here call each other, so the depth limits the stack. */
    tw_mark mark = mark_at(p, start->start_mark);
    if (depth > TW_TREE_MAX_DEPTH) {
        p->status = tw_fail_at(p->error, mark,
                               "nested more than %d deep, a scene needs no more than a few levels",
                               TW_TREE_MAX_DEPTH);
        return NULL;
    }

    /* Lists and maps keep their anchor and tag at different places. */
    tw_node_kind kind = TW_NODE_LIST;
    const yaml_char_t *anchor = start->data.sequence_start.anchor;
    const yaml_char_t *tag = start->data.sequence_start.tag;
    if (start->type == YAML_MAPPING_START_EVENT) {
        kind = TW_NODE_MAP;
        anchor = start->data.mapping_start.anchor;
        tag = start->data.mapping_start.tag;
    }
    if (!has_no_anchor_or_tag(p, start, anchor, tag)) return NULL;

    tw_node *node = new_node(p, kind, mark);
    if (!node || !parse_children(p, depth, node)) return NULL;
    return node;
}

static tw_node *parse_node(parse *p, const yaml_event_t *event, int depth)
{
    switch (event->type) {
    case YAML_SCALAR_EVENT:
        return parse_scalar(p, event);
    case YAML_SEQUENCE_START_EVENT:
    case YAML_MAPPING_START_EVENT:
        return parse_collection(p, event, depth);
    case YAML_ALIAS_EVENT:
        p->status = tw_fail_at(p->error, mark_at(p, event->start_mark),
                               "alias *%s is not supported, write the value out where it is needed",
                               (const char *)event->data.alias.anchor);
        return NULL;
    default:
        p->status = tw_fail(p->error, TW_INTERNAL, "unexpected YAML event %d", (int)event->type);
        return NULL;
    }
}

/* ---- the document ---- */

/* Goes on to the next event that starts a document or ends the stream. */
static bool next_document(parse *p, yaml_event_type_t *type, tw_mark *mark)
{
    do {
        yaml_event_t event;
        if (!next_event(p, &event)) return false;
        *type = event.type;
        *mark = mark_at(p, event.start_mark);
        yaml_event_delete(&event);
    } while (*type != YAML_STREAM_END_EVENT && *type != YAML_DOCUMENT_START_EVENT);
    return true;
}

static tw_node *parse_document(parse *p)
{
    yaml_event_type_t type = YAML_NO_EVENT;
    tw_mark mark = {0};
    if (!next_document(p, &type, &mark)) return NULL;
    if (type == YAML_STREAM_END_EVENT) {
        const char *problem = "the value is empty, write it after the equals sign";
        if (p->yaml->positioned) problem = "the file is empty, a scene starts with name: ...";
        p->status = tw_fail_at(p->error, mark_of_byte(p, 0), "%s", problem);
        return NULL;
    }

    /* There is one document, and nothing after it. */
    tw_node *root = parse_next(p, 1);
    if (!root || !next_document(p, &type, &mark)) return NULL;
    if (type == YAML_STREAM_END_EVENT) return root;
    p->status = tw_fail_at(p->error, mark, "a second document starts here, a scene file holds one");
    return NULL;
}

tw_status tw_tree_parse(tw_tree *tree, const tw_yaml *yaml, tw_node **root, tw_error *error)
{
    parse p = {.tree = tree, .yaml = yaml, .error = error};
    const char *text = yaml->text;
    size_t size = yaml->size;

    /* What libyaml would not refuse. */
    if (size > TW_TREE_MAX_BYTES)
        return tw_fail_at(error, (tw_mark){.origin = yaml->origin},
                          "larger than %d bytes, this is no scene file", TW_TREE_MAX_BYTES);
    const char *nul = size ? memchr(text, '\0', size) : NULL;
    if (nul)
        return tw_fail_at(error, mark_of_byte(&p, (size_t)(nul - text)),
                          "a NUL byte; a scene is UTF-8 text");

    /* Everything else is found while parsing. */
    if (!yaml_parser_initialize(&p.parser)) return tw_fail_plain(error, TW_OUT_OF_MEMORY);
    yaml_parser_set_encoding(&p.parser, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&p.parser, (const unsigned char *)text, size);

    *root = parse_document(&p);
    yaml_parser_delete(&p.parser);
    return p.status;
}
