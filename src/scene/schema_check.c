/* A tree against the schema: every key known, every value of its type and in its range, defaults added. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/fail.h"
#include "base/nearest_name.h"
#include "base/number.h"
#include "scene/schema.h"

typedef struct check {
    tw_tree *tree;
    tw_error *error;
    char path[TW_PATH_SIZE]; /* of the node being looked at: "bodies.0.mass" */
} check;

static tw_status check_value(check *c, const tw_schema_field *field, tw_node *node);
static tw_status check_map(check *c, const tw_section *section, tw_node *map);

/* ---- the path ---- */

static size_t push_key(check *c, const char *key)
{
    size_t length = strlen(c->path);
    snprintf(c->path + length, sizeof c->path - length, "%s%s", length ? "." : "", key);
    return length;
}

static size_t push_index(check *c, int index)
{
    char text[16];
    snprintf(text, sizeof text, "%d", index);
    return push_key(c, text);
}

static void pop(check *c, size_t length)
{
    c->path[length] = '\0';
}

/* ---- scalars ---- */

/* "a list of 2", "'60s'", "the text '0.4'", "nothing". */
static void describe_value(const tw_node *node, char *text, size_t size)
{
    if (node->kind == TW_NODE_LIST)
        snprintf(text, size, "a list of %d", node->count);
    else if (node->kind == TW_NODE_MAP)
        snprintf(text, size, "a map");
    else if (node->text[0] == '\0' && !node->quoted)
        snprintf(text, size, "nothing");
    else
        snprintf(text, size, "%s'%.60s'", node->quoted ? "the text " : "", node->text);
}

static tw_status wrong_value(check *c, const tw_schema_field *field, const tw_node *node)
{
    char expected[400], given[80];
    tw_field_describe(field, expected, (int)sizeof expected);
    describe_value(node, given, sizeof given);
    return tw_fail_at(c->error, node->mark, "%s is %s, must be %s", c->path, given, expected);
}

static bool in_range(const tw_range *range, double value)
{
    if (range->has_low && (range->open_low ? value <= range->low : value < range->low))
        return false;
    if (range->has_high && (range->open_high ? value >= range->high : value > range->high))
        return false;
    return true;
}

/* A finite number in range (a whole one for integers), kept in the node. */
static tw_status check_number(check *c, const tw_schema_field *field, tw_node *node)
{
    double value = 0.0;
    if (node->kind != TW_NODE_SCALAR || node->quoted || !tw_number_parse(node->text, &value))
        return wrong_value(c, field, node);
    bool whole = field->type != TW_FIELD_INTEGER || (value == floor(value) && fabs(value) < 0x1p53);
    if (!isfinite(value) || !whole || !in_range(&field->range, value))
        return wrong_value(c, field, node);
    node->number = value;
    return TW_OK;
}

static tw_status check_numbers(check *c, const tw_schema_field *field, tw_node *node)
{
    if (node->kind != TW_NODE_LIST || node->count != field->length)
        return wrong_value(c, field, node);
    tw_schema_field element = *field;
    element.type = field->type == TW_FIELD_INTEGERS ? TW_FIELD_INTEGER : TW_FIELD_NUMBER;
    element.length = 0;
    int index = 0;
    for (tw_node *n = node->first; n; n = n->next) {
        size_t length = push_index(c, index++);
        tw_status status = check_number(c, &element, n);
        if (status != TW_OK) return status;
        pop(c, length);
    }
    return TW_OK;
}

static tw_status check_bool(check *c, const tw_schema_field *field, tw_node *node)
{
    bool is_true = node->kind == TW_NODE_SCALAR && !node->quoted && strcmp(node->text, "true") == 0;
    bool is_false =
        node->kind == TW_NODE_SCALAR && !node->quoted && strcmp(node->text, "false") == 0;
    if (!is_true && !is_false) return wrong_value(c, field, node);
    node->number = is_true;
    return TW_OK;
}

static bool name_character(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '_' || c == '.';
}

static tw_status check_name(check *c, const tw_schema_field *field, tw_node *node)
{
    if (node->kind != TW_NODE_SCALAR) return wrong_value(c, field, node);
    bool good = node->text[0] != '\0' && node->text[0] != '.' && node->text[0] != '-' &&
                strlen(node->text) <= 100;
    for (const char *p = node->text; *p; p++) good = good && name_character(*p);
    return good ? TW_OK : wrong_value(c, field, node);
}

static tw_status check_text(check *c, const tw_schema_field *field, tw_node *node)
{
    bool good = node->kind == TW_NODE_SCALAR && node->text[0] != '\0' && strlen(node->text) < 1000;
    return good ? TW_OK : wrong_value(c, field, node);
}

static tw_status check_choice(check *c, const tw_schema_field *field, tw_node *node)
{
    if (node->kind != TW_NODE_SCALAR) return wrong_value(c, field, node);
    const char *words[64];
    int count = 0;
    for (; count < 64 && field->choice(count); count++) {
        words[count] = field->choice(count);
        if (strcmp(words[count], node->text) != 0) continue;
        node->number = count;
        return TW_OK;
    }
    const char *nearest = tw_nearest_name(node->text, words, count);
    if (!nearest) return wrong_value(c, field, node);
    return tw_fail_at(c->error, node->mark, "%s is '%.60s', did you mean %s?", c->path, node->text,
                      nearest);
}

static tw_status check_choices(check *c, const tw_schema_field *field, tw_node *node)
{
    if (node->kind != TW_NODE_LIST) return check_choice(c, field, node);
    int index = 0;
    for (tw_node *n = node->first; n; n = n->next) {
        size_t length = push_index(c, index++);
        tw_status status = check_choice(c, field, n);
        if (status != TW_OK) return status;
        pop(c, length);
    }
    return TW_OK;
}

/* ---- maps ---- */

static const char *kind_of(const tw_section *section, const tw_node *map)
{
    for (int i = 0; i < section->count; i++) {
        if (strcmp(section->fields[i].key, "kind") != 0) continue;
        const tw_node *kind = tw_node_find(map, "kind");
        return kind && kind->kind == TW_NODE_SCALAR ? kind->text : "";
    }
    return NULL;
}

/* The field of a key that applies to the kind; a key may have one field per kind. */
static const tw_schema_field *find_field(const tw_section *section, const char *key,
                                         const char *kind, bool *elsewhere)
{
    *elsewhere = false;
    for (int i = 0; i < section->count; i++) {
        const tw_schema_field *field = &section->fields[i];
        if (strcmp(field->key, key) != 0) continue;
        if (tw_field_applies(field, kind)) return field;
        *elsewhere = true;
    }
    return NULL;
}

static tw_status unknown_key(check *c, const tw_section *section, const tw_node *node,
                             const char *kind)
{
    const char *known[64];
    char list[300] = "";
    int count = 0;
    for (int i = 0; i < section->count && count < 64; i++) {
        if (!tw_field_applies(&section->fields[i], kind)) continue;
        known[count++] = section->fields[i].key;
        size_t length = strlen(list);
        snprintf(list + length, sizeof list - length, "%s%s", length ? ", " : "",
                 section->fields[i].key);
    }
    const char *nearest = tw_nearest_name(node->key, known, count);
    if (nearest)
        return tw_fail_at(c->error, node->key_mark, "unknown key %s, did you mean %s?", c->path,
                          nearest);
    return tw_fail_at(c->error, node->key_mark, "unknown key %s, known here are %s", c->path, list);
}

/* All kinds that know the key, for "belongs to". */
static tw_status key_of_another_kind(check *c, const tw_section *section, const tw_node *node,
                                     const char *kind)
{
    char kinds[160] = "";
    for (int i = 0; i < section->count; i++) {
        if (strcmp(section->fields[i].key, node->key) != 0) continue;
        size_t length = strlen(kinds);
        snprintf(kinds + length, sizeof kinds - length, "%s%s", length ? " " : "",
                 section->fields[i].kinds);
    }
    return tw_fail_at(c->error, node->key_mark, "key %s does not apply to kind %s, only to %s",
                      c->path, kind, kinds);
}

static tw_status check_entry(check *c, const tw_section *section, const tw_node *map, tw_node *node,
                             const char *kind)
{
    bool elsewhere = false;
    const tw_schema_field *field = find_field(section, node->key, kind, &elsewhere);
    if (!field)
        return elsewhere ? key_of_another_kind(c, section, node, kind)
                         : unknown_key(c, section, node, kind);
    const tw_node *first = tw_node_find(map, node->key);
    if (first != node)
        return tw_fail_at(c->error, node->key_mark,
                          "key %s is given twice, first in line %d: keep one of them", c->path,
                          first->key_mark.line);
    return check_value(c, field, node);
}

/* Parses the default and appends it, checked like anything else. */
static tw_status add_default(check *c, const tw_schema_field *field, tw_node *map)
{
    tw_node *node = NULL;
    tw_status status = tw_tree_parse(c->tree, "default", false, field->fallback,
                                     strlen(field->fallback), &node, c->error);
    if (status != TW_OK) return status;
    node->mark = map->mark;
    status = check_value(c, field, node);
    if (status == TW_OK) tw_node_append(map, node, field->key, map->mark);
    return status;
}

static tw_status missing_key(check *c, const tw_schema_field *field, const tw_node *map)
{
    char expected[400];
    tw_field_describe(field, expected, (int)sizeof expected);
    return tw_fail_at(c->error, map->mark, "key %s is missing, give it %s", c->path, expected);
}

static tw_status check_missing(check *c, const tw_section *section, tw_node *map, const char *kind)
{
    for (int i = 0; i < section->count; i++) {
        const tw_schema_field *field = &section->fields[i];
        if (!tw_field_applies(field, kind) || tw_node_find(map, field->key)) continue;
        size_t length = push_key(c, field->key);
        tw_status status = TW_OK;
        if (field->required)
            status = missing_key(c, field, map);
        else if (field->fallback)
            status = add_default(c, field, map);
        if (status != TW_OK) return status;
        pop(c, length);
    }
    return TW_OK;
}

/* The kind first: without a right one there is no saying which keys are right. */
static tw_status check_kind(check *c, const tw_section *section, tw_node *map)
{
    tw_node *node = tw_node_find(map, "kind");
    bool elsewhere = false;
    const tw_schema_field *field = find_field(section, "kind", NULL, &elsewhere);
    if (!field) return TW_OK;
    size_t length = push_key(c, "kind");
    tw_status status = node ? check_value(c, field, node) : missing_key(c, field, map);
    if (status == TW_OK) pop(c, length);
    return status;
}

static tw_status check_map(check *c, const tw_section *section, tw_node *map)
{
    if (map->kind != TW_NODE_MAP) {
        const char *where = c->path[0] ? c->path : "the scene";
        return tw_fail_at(c->error, map->mark, "%s is %s, must be a map of keys and values", where,
                          map->kind == TW_NODE_LIST ? "a list" : "a single value");
    }
    tw_status status = check_kind(c, section, map);
    const char *kind = kind_of(section, map);
    for (tw_node *node = map->first; node && status == TW_OK; node = node->next) {
        size_t length = push_key(c, node->key);
        status = check_entry(c, section, map, node, kind);
        if (status == TW_OK) pop(c, length);
    }
    return status == TW_OK ? check_missing(c, section, map, kind) : status;
}

static tw_status check_list(check *c, const tw_schema_field *field, tw_node *list)
{
    if (list->kind != TW_NODE_LIST) return wrong_value(c, field, list);
    int index = 0;
    for (tw_node *node = list->first; node; node = node->next) {
        size_t length = push_index(c, index++);
        tw_status status = check_map(c, field->section, node);
        if (status != TW_OK) return status;
        pop(c, length);
    }
    return TW_OK;
}

static tw_status check_value(check *c, const tw_schema_field *field, tw_node *node)
{
    switch (field->type) {
    case TW_FIELD_NUMBER:
    case TW_FIELD_INTEGER:
        return check_number(c, field, node);
    case TW_FIELD_BOOL:
        return check_bool(c, field, node);
    case TW_FIELD_NAME:
        return check_name(c, field, node);
    case TW_FIELD_CHOICE:
        return check_choice(c, field, node);
    case TW_FIELD_CHOICES:
        return check_choices(c, field, node);
    case TW_FIELD_TEXT:
        return check_text(c, field, node);
    case TW_FIELD_NUMBERS:
    case TW_FIELD_INTEGERS:
        return check_numbers(c, field, node);
    case TW_FIELD_MAP:
        return check_map(c, field->section, node);
    case TW_FIELD_LIST:
        return check_list(c, field, node);
    }
    return tw_fail_plain(c->error, TW_INTERNAL);
}

tw_status tw_schema_check(tw_tree *tree, tw_error *error)
{
    check c = {.tree = tree, .error = error};
    return check_map(&c, &tw_schema_scene, tree->root);
}
