/* libyaml's parser events into a tree with marks. libyaml's own document API is not used: it builds aliases into
 * graphs, knows no limits, and drops the position of keys. */
#include <stdint.h>
#include <string.h>
#include <yaml.h>

#include "base/fail.h"
#include "scene/tree.h"

typedef struct parse {
    yaml_parser_t parser;
    tw_tree *tree;
    const char *origin;
    bool positioned;
    const char *text;
    size_t size;
    tw_error *error;
} parse;

static tw_mark mark_at(const parse *p, yaml_mark_t at)
{
    if (!p->positioned) return (tw_mark){.origin = p->origin};
    return (tw_mark){p->origin, (int)at.line + 1, (int)at.column + 1};
}

/* Line and column of a byte, for what is wrong before libyaml has tokens. */
static tw_mark mark_of_byte(const parse *p, size_t offset)
{
    yaml_mark_t at = {0};
    for (size_t i = 0; i < offset && i < p->size; i++) {
        at.column++;
        if (p->text[i] == '\n') at = (yaml_mark_t){.line = at.line + 1};
    }
    return mark_at(p, at);
}

static tw_status parser_error(parse *p)
{
    const yaml_parser_t *y = &p->parser;
    if (y->error == YAML_MEMORY_ERROR) return tw_fail_plain(p->error, TW_OUT_OF_MEMORY);
    if (y->error == YAML_READER_ERROR)
        return tw_fail_at(p->error, mark_of_byte(p, y->problem_offset), "%s; a scene is UTF-8 text",
                          y->problem ? y->problem : "unreadable text");
    return tw_fail_at(p->error, mark_at(p, y->problem_mark), "%s%s%s; check the indentation, colons and brackets here",
                      y->problem ? y->problem : "not YAML", y->context ? " " : "", y->context ? y->context : "");
}

static tw_status next_event(parse *p, yaml_event_t *event)
{
    return yaml_parser_parse(&p->parser, event) ? TW_OK : parser_error(p);
}

static tw_status refuse_anchor_and_tag(parse *p, const yaml_event_t *event, const yaml_char_t *anchor,
                                       const yaml_char_t *tag)
{
    if (anchor)
        return tw_fail_at(p->error, mark_at(p, event->start_mark),
                          "anchor &%s is not supported, write the value out where it is needed", (const char *)anchor);
    if (tag)
        return tw_fail_at(p->error, mark_at(p, event->start_mark),
                          "tag %s is not supported, write the plain value without it", (const char *)tag);
    return TW_OK;
}

static tw_status new_node(parse *p, tw_node_kind kind, tw_mark mark, tw_node **out)
{
    *out = tw_tree_node(p->tree, kind, mark);
    if (*out) return TW_OK;
    if (p->tree->node_count >= TW_TREE_MAX_NODES)
        return tw_fail_at(p->error, mark, "more than %d values, a scene may have at most that many", TW_TREE_MAX_NODES);
    return tw_fail_plain(p->error, TW_OUT_OF_MEMORY);
}

static tw_status scalar_text(parse *p, const yaml_event_t *event, const char **out)
{
    const char *value = (const char *)event->data.scalar.value;
    size_t length = event->data.scalar.length;
    if (memchr(value, '\0', length))
        return tw_fail_at(p->error, mark_at(p, event->start_mark), "the text contains a NUL character, remove it");
    *out = tw_tree_text(p->tree, value, length);
    return *out ? TW_OK : tw_fail_plain(p->error, TW_OUT_OF_MEMORY);
}

static tw_status parse_scalar(parse *p, const yaml_event_t *event, tw_node **out)
{
    tw_status status = refuse_anchor_and_tag(p, event, event->data.scalar.anchor, event->data.scalar.tag);
    if (status == TW_OK) status = new_node(p, TW_NODE_SCALAR, mark_at(p, event->start_mark), out);
    if (status == TW_OK) status = scalar_text(p, event, &(*out)->text);
    if (status == TW_OK) (*out)->quoted = event->data.scalar.style != YAML_PLAIN_SCALAR_STYLE;
    return status;
}

static tw_status parse_node(parse *p, const yaml_event_t *event, int depth, tw_node **out);

static tw_status parse_next(parse *p, int depth, tw_node **out)
{
    yaml_event_t event;
    tw_status status = next_event(p, &event);
    if (status != TW_OK) return status;
    status = parse_node(p, &event, depth, out);
    yaml_event_delete(&event);
    return status;
}

/* A key has been read as `event`: reads its value and appends it. */
static tw_status parse_entry(parse *p, const yaml_event_t *event, int depth, tw_node *map)
{
    tw_mark key_mark = mark_at(p, event->start_mark);
    if (event->type != YAML_SCALAR_EVENT)
        return tw_fail_at(p->error, key_mark, "a key must be a plain word, such as duration");
    tw_status status = refuse_anchor_and_tag(p, event, event->data.scalar.anchor, event->data.scalar.tag);
    const char *key = NULL;
    tw_node *child = NULL;
    if (status == TW_OK) status = scalar_text(p, event, &key);
    if (status == TW_OK) status = parse_next(p, depth + 1, &child);
    if (status == TW_OK) tw_node_append(map, child, key, key_mark);
    return status;
}

static tw_status parse_item(parse *p, const yaml_event_t *event, int depth, tw_node *list)
{
    tw_node *child = NULL;
    tw_status status = parse_node(p, event, depth + 1, &child);
    if (status == TW_OK) tw_node_append(list, child, NULL, child->mark);
    return status;
}

static tw_status parse_collection(parse *p, const yaml_event_t *start, int depth, tw_node **out)
{
    bool is_map = start->type == YAML_MAPPING_START_EVENT;
    tw_mark mark = mark_at(p, start->start_mark);
    if (depth > TW_TREE_MAX_DEPTH)
        return tw_fail_at(p->error, mark, "nested more than %d deep, a scene needs no more than a few levels",
                          TW_TREE_MAX_DEPTH);
    tw_status status =
        is_map ? refuse_anchor_and_tag(p, start, start->data.mapping_start.anchor, start->data.mapping_start.tag)
               : refuse_anchor_and_tag(p, start, start->data.sequence_start.anchor, start->data.sequence_start.tag);
    if (status == TW_OK) status = new_node(p, is_map ? TW_NODE_MAP : TW_NODE_LIST, mark, out);
    yaml_event_type_t end = is_map ? YAML_MAPPING_END_EVENT : YAML_SEQUENCE_END_EVENT;
    bool done = false;
    while (status == TW_OK && !done) {
        yaml_event_t event;
        status = next_event(p, &event);
        if (status != TW_OK) return status;
        done = event.type == end;
        if (!done) status = is_map ? parse_entry(p, &event, depth, *out) : parse_item(p, &event, depth, *out);
        yaml_event_delete(&event);
    }
    return status;
}

static tw_status parse_node(parse *p, const yaml_event_t *event, int depth, tw_node **out)
{
    switch (event->type) {
    case YAML_SCALAR_EVENT:
        return parse_scalar(p, event, out);
    case YAML_SEQUENCE_START_EVENT:
    case YAML_MAPPING_START_EVENT:
        return parse_collection(p, event, depth, out);
    case YAML_ALIAS_EVENT:
        return tw_fail_at(p->error, mark_at(p, event->start_mark),
                          "alias *%s is not supported, write the value out where it is needed",
                          (const char *)event->data.alias.anchor);
    default:
        return tw_fail(p->error, TW_INTERNAL, "unexpected YAML event %d", (int)event->type);
    }
}

/* Skips stream and document starts; `*empty` if the stream ends first. */
static tw_status find_document(parse *p, bool *empty)
{
    for (;;) {
        yaml_event_t event;
        tw_status status = next_event(p, &event);
        if (status != TW_OK) return status;
        yaml_event_type_t type = event.type;
        yaml_event_delete(&event);
        *empty = type == YAML_STREAM_END_EVENT;
        if (*empty || type == YAML_DOCUMENT_START_EVENT) return TW_OK;
    }
}

static tw_status refuse_second_document(parse *p)
{
    for (;;) {
        yaml_event_t event;
        tw_status status = next_event(p, &event);
        if (status != TW_OK) return status;
        yaml_event_type_t type = event.type;
        tw_mark mark = mark_at(p, event.start_mark);
        yaml_event_delete(&event);
        if (type == YAML_STREAM_END_EVENT) return TW_OK;
        if (type == YAML_DOCUMENT_START_EVENT)
            return tw_fail_at(p->error, mark, "a second document starts here, a scene file holds one");
    }
}

static tw_status parse_document(parse *p, tw_node **root)
{
    bool empty = false;
    tw_status status = find_document(p, &empty);
    if (status == TW_OK && empty)
        status = tw_fail_at(p->error, mark_of_byte(p, 0), "%s",
                            p->positioned ? "the file is empty, a scene starts with name: ..."
                                          : "the value is empty, write it after the equals sign");
    if (status == TW_OK) status = parse_next(p, 1, root);
    if (status == TW_OK) status = refuse_second_document(p);
    return status;
}

tw_status tw_tree_parse(tw_tree *tree, const char *origin, bool positioned, const char *text, size_t size,
                        tw_node **root, tw_error *error)
{
    parse p = {.tree = tree, .origin = origin, .positioned = positioned, .text = text, .size = size, .error = error};
    if (size > TW_TREE_MAX_BYTES)
        return tw_fail_at(error, (tw_mark){.origin = origin}, "larger than %d bytes, this is no scene file",
                          TW_TREE_MAX_BYTES);
    const char *nul = size ? memchr(text, '\0', size) : NULL;
    if (nul) return tw_fail_at(error, mark_of_byte(&p, (size_t)(nul - text)), "a NUL byte; a scene is UTF-8 text");
    if (!yaml_parser_initialize(&p.parser)) return tw_fail_plain(error, TW_OUT_OF_MEMORY);
    yaml_parser_set_encoding(&p.parser, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&p.parser, (const unsigned char *)text, size);
    tw_status status = parse_document(&p, root);
    yaml_parser_delete(&p.parser);
    return status;
}
