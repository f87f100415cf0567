/* Checks a tree against the schema: every key is known, every value has its type and is in its
 * range. Adds the defaults. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <twang/nearest_name.h>

#include "base/fail.h"
#include "base/number.h"
#include "base/printable.h"
#include "scene/schema.h"

enum {
    MAX_WORDS = 64,         /* of a choice, and keys of a map: more than any table has */
    MAX_NAME_LENGTH = 100,  /* of a name, which becomes part of file names */
    MAX_TEXT_LENGTH = 1000, /* of a text, such as the path of a file */
    SHOWN_VALUE_SIZE = 80   /* of a wrong value as an error shows it */
};

/* Above it doubles are not all whole numbers. */
static const double LARGEST_INTEGER = 0x1p53;

typedef struct check {
    tw_tree *tree;
    tw_error *error;
    char path[TW_PATH_SIZE]; /* of the node being looked at: "bodies.0.mass" */
} check;

static tw_status check_value(check *c, const tw_schema_field *field, tw_node *node);
static tw_status check_map(check *c, const tw_section *section, tw_node *map);

/* ---- the path ---- A function that enters a key or a list entry pushes it, and pops it only on
 * success: after an error the path still names what is wrong. */

/* Returns the length before, for pop. */
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

/* Appends a word to a list of words. */
static void append_word(char *list, size_t size, const char *separator, const char *word)
{
    size_t length = strlen(list);
    snprintf(list + length, size - length, "%s%s", length ? separator : "", word);
}

/* ---- scalars ---- */

/* "a list of 2", "'60s'", "the text '0.4'", "nothing". */
static void describe_value(const tw_node *node, char text[SHOWN_VALUE_SIZE])
{
    const size_t size = SHOWN_VALUE_SIZE;
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
    char expected[TW_FIELD_TEXT_SIZE];
    char given[SHOWN_VALUE_SIZE];
    tw_field_describe(field, expected);
    describe_value(node, given);
    return tw_fail_at(c->error, node->mark, "%s is %s, must be %s", c->path, given, expected);
}

static bool in_range(const tw_range *range, double value)
{
    bool too_low = range->open_low ? value <= range->low : value < range->low;
    bool too_high = range->open_high ? value >= range->high : value > range->high;
    return !(range->has_low && too_low) && !(range->has_high && too_high);
}

/* A finite number in its range (a whole one for integers), kept in the node. */
static tw_status check_number(check *c, const tw_schema_field *field, tw_node *node)
{
    double value = 0.0;
    bool plain = node->kind == TW_NODE_SCALAR && !node->quoted;
    if (field->automatic && plain && strcmp(node->text, "auto") == 0) return TW_OK;
    if (!plain || !tw_number_parse(node->text, &value)) return wrong_value(c, field, node);

    /* Above LARGEST_INTEGER a value may have been rounded to a whole number. */
    bool is_whole = value == floor(value) && fabs(value) < LARGEST_INTEGER;
    if (field->type == TW_FIELD_INTEGER && !is_whole) return wrong_value(c, field, node);
    if (!isfinite(value) || !in_range(&field->range, value)) return wrong_value(c, field, node);

    node->number = value;
    return TW_OK;
}

static tw_status check_numbers(check *c, const tw_schema_field *field, tw_node *node)
{
    if (node->kind != TW_NODE_LIST || node->count != field->length)
        return wrong_value(c, field, node);

    /* Each element is checked as a field of its own, so that an error says which one is wrong. */
    tw_schema_field element = *field;
    element.type = field->type == TW_FIELD_INTEGERS ? TW_FIELD_INTEGER : TW_FIELD_NUMBER;
    element.length = 0;

    int index = 0;
    for (tw_node *n = node->first; n; n = n->next) {
        size_t length = push_index(c, index++);
        TW_TRY(check_number(c, &element, n));
        pop(c, length);
    }
    return TW_OK;
}

static tw_status check_rows(check *c, const tw_schema_field *field, tw_node *node)
{
    if (node->kind != TW_NODE_LIST) return wrong_value(c, field, node);

    /* Each row is checked as a list of numbers. */
    tw_schema_field row = *field;
    row.type = TW_FIELD_NUMBERS;

    int index = 0;
    for (tw_node *n = node->first; n; n = n->next) {
        size_t length = push_index(c, index++);
        TW_TRY(check_numbers(c, &row, n));
        pop(c, length);
    }
    return TW_OK;
}

static tw_status check_bool(check *c, const tw_schema_field *field, tw_node *node)
{
    if (node->kind != TW_NODE_SCALAR || node->quoted) return wrong_value(c, field, node);

    bool is_true = strcmp(node->text, "true") == 0;
    bool is_false = strcmp(node->text, "false") == 0;
    if (!is_true && !is_false) return wrong_value(c, field, node);

    node->number = is_true;
    return TW_OK;
}

/* The bytes of a letter, digit, '-', '_' or '.' at the beginning of a text; 0 if there is none. Characters of more than
 * one byte are letters of other alphabets. */
static size_t name_bytes(const char *text)
{
    char c = *text;
    if ((unsigned char)c >= 0x80) return tw_printable_bytes(text);
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '_' || c == '.';
}

static tw_status check_name(check *c, const tw_schema_field *field, tw_node *node)
{
    if (node->kind != TW_NODE_SCALAR) return wrong_value(c, field, node);

    /* A name that begins with a point would be a hidden file, one with a dash looks like
     * an option. */
    char first = node->text[0];
    bool good = first != '\0' && first != '.' && first != '-';
    if (!good || strlen(node->text) > MAX_NAME_LENGTH) return wrong_value(c, field, node);

    /* The first character that does not fit is named. */
    const char *p = node->text;
    while (name_bytes(p) > 0) p += name_bytes(p);
    if (!*p) return TW_OK;
    char what[8] = "a blank";
    if (*p != ' ') snprintf(what, sizeof what, "'%c'", *p);
    return tw_fail_at(c->error, node->mark,
                      "%s is '%s', which has %s in it, must be a name of letters, digits, '.', '_' "
                      "and '-'",
                      c->path, node->text, what);
}

static tw_status check_text(check *c, const tw_schema_field *field, tw_node *node)
{
    bool good = node->kind == TW_NODE_SCALAR && node->text[0] != '\0' &&
                strlen(node->text) < MAX_TEXT_LENGTH;
    return good ? TW_OK : wrong_value(c, field, node);
}

/* One of the words of the field; the node keeps its index. */
static tw_status check_choice(check *c, const tw_schema_field *field, tw_node *node)
{
    if (node->kind != TW_NODE_SCALAR) return wrong_value(c, field, node);

    /* Look for the word, and collect all of them on the way. */
    const char *words[MAX_WORDS];
    int count = 0;
    for (; count < MAX_WORDS && field->choice(count); count++) {
        words[count] = field->choice(count);
        if (strcmp(words[count], node->text) != 0) continue;
        node->number = count;
        return TW_OK;
    }

    /* No word is equal. The error names the one that was probably meant, or else all of them. */
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
        TW_TRY(check_choice(c, field, n));
        pop(c, length);
    }
    return TW_OK;
}

/* ---- maps ---- */

/* "unknown key ...": with the key that was probably meant, or else with all that are known. */
static tw_status unknown_key(check *c, const tw_section *section, const tw_kind *kind,
                             const tw_node *node)
{
    /* All keys of this kind of map. */
    const char *known[MAX_WORDS];
    char list[300] = "";
    int count = 0;
    for (; count < MAX_WORDS; count++) {
        const tw_schema_field *field = tw_section_field(section, kind, count);
        if (!field) break;
        known[count] = field->key;
        append_word(list, sizeof list, ", ", field->key);
    }

    const char *nearest = tw_nearest_name(node->key, known, count);
    if (nearest)
        return tw_fail_at(c->error, node->key_mark, "unknown key %s, did you mean %s?", c->path,
                          nearest);
    return tw_fail_at(c->error, node->key_mark, "unknown key %s, known here are %s", c->path, list);
}

/* The error for a key that maps of this kind do not have: it names the kinds that do, if there
 * are any. */
static tw_status refuse_key(check *c, const tw_section *section, const tw_kind *kind,
                            const tw_node *node)
{
    /* The kinds that have this key. */
    char kinds[160] = "";
    for (int i = 0; section->kind && section->kind(i); i++) {
        const tw_kind *other = section->kind(i);
        if (tw_section_find(section, other, node->key))
            append_word(kinds, sizeof kinds, " ", other->name);
    }
    if (!kind || kinds[0] == '\0') return unknown_key(c, section, kind, node);

    return tw_fail_at(c->error, node->key_mark, "key %s does not apply to kind %s, only to %s",
                      c->path, kind->name, kinds);
}

static tw_status check_entry(check *c, const tw_section *section, const tw_kind *kind,
                             const tw_node *map, tw_node *node)
{
    const tw_schema_field *field = tw_section_find(section, kind, node->key);
    if (!field) return refuse_key(c, section, kind, node);

    /* The first node with this key must be this one. */
    const tw_node *first = tw_node_find(map, node->key);
    if (first != node)
        return tw_fail_at(c->error, node->key_mark,
                          "key %s is given twice, first in line %d: keep one of them", c->path,
                          first->key_mark.line);
    return check_value(c, field, node);
}

/* Parses the default and appends it, checked like any other value. */
static tw_status add_default(check *c, const tw_schema_field *field, tw_node *map)
{
    tw_yaml yaml = {.origin = "default", .text = field->fallback, .size = strlen(field->fallback)};
    tw_node *node = NULL;
    TW_TRY(tw_tree_parse(c->tree, &yaml, &node, c->error));

    node->mark = map->mark;
    TW_TRY(check_value(c, field, node));
    tw_node_append(map, node, field->key, map->mark);
    return TW_OK;
}

static tw_status missing_key(check *c, const tw_schema_field *field, const tw_node *map)
{
    char expected[TW_FIELD_TEXT_SIZE];
    tw_field_describe(field, expected);
    return tw_fail_at(c->error, map->mark, "key %s is missing, give it %s", c->path, expected);
}

static tw_status check_missing(check *c, const tw_section *section, const tw_kind *kind,
                               tw_node *map)
{
    const tw_schema_field *field = NULL;
    for (int i = 0; (field = tw_section_field(section, kind, i)); i++) {
        if (tw_node_find(map, field->key)) continue;

        /* A field without default may be missing, unless it is required. */
        size_t length = push_key(c, field->key);
        if (field->required) return missing_key(c, field, map);
        if (field->fallback) TW_TRY(add_default(c, field, map));
        pop(c, length);
    }
    return TW_OK;
}

/* Reads the key `kind`, which decides what other keys the map may have. NULL in a section
 * without kinds. */
static tw_status check_kind(check *c, const tw_section *section, tw_node *map, const tw_kind **kind)
{
    *kind = NULL;
    if (!section->kind) return TW_OK;

    const tw_schema_field *field = tw_section_find(section, NULL, "kind");
    tw_node *node = tw_node_find(map, "kind");
    size_t length = push_key(c, "kind");
    if (!node) return missing_key(c, field, map);
    TW_TRY(check_value(c, field, node));
    pop(c, length);

    *kind = tw_section_kind(section, node->text);
    return TW_OK;
}

static tw_status check_map(check *c, const tw_section *section, tw_node *map)
{
    if (map->kind != TW_NODE_MAP) {
        const char *where = c->path[0] ? c->path : "the scene";
        const char *what = map->kind == TW_NODE_LIST ? "a list" : "a single value";
        return tw_fail_at(c->error, map->mark, "%s is %s, must be a map of keys and values", where,
                          what);
    }

    /* The kind comes first: it decides which other keys are known. */
    const tw_kind *kind = NULL;
    TW_TRY(check_kind(c, section, map, &kind));

    /* Every key that is given. */
    for (tw_node *node = map->first; node; node = node->next) {
        size_t length = push_key(c, node->key);
        TW_TRY(check_entry(c, section, kind, map, node));
        pop(c, length);
    }

    /* Every key that is not given: an error or a default. */
    return check_missing(c, section, kind, map);
}

static tw_status check_list(check *c, const tw_schema_field *field, tw_node *list)
{
    if (list->kind != TW_NODE_LIST) return wrong_value(c, field, list);

    int index = 0;
    for (tw_node *node = list->first; node; node = node->next) {
        size_t length = push_index(c, index++);
        TW_TRY(check_map(c, field->section, node));
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
    case TW_FIELD_ROWS:
        return check_rows(c, field, node);
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
