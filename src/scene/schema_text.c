/* Looking up fields of the schema, a field in words, and the values of a checked map. */
#include <stdarg.h>
#include <string.h>

#include "base/number.h"
#include "scene/schema.h"

/* ---- fields ---- */

const tw_kind *tw_section_kind(const tw_section *section, const char *name)
{
    if (!section->kind) return NULL;

    const tw_kind *kind = NULL;
    for (int i = 0; (kind = section->kind(i)); i++)
        if (strcmp(kind->name, name) == 0) return kind;
    return NULL;
}

const tw_schema_field *tw_section_field(const tw_section *section, const tw_kind *kind, int index)
{
    if (index < section->common.count) return &section->common.fields[index];
    if (!kind) return NULL;

    /* After the common fields come those of the kind alone. */
    index -= section->common.count;
    if (index < kind->own.count) return &kind->own.fields[index];

    /* Then the groups that it shares with other kinds. */
    index -= kind->own.count;
    for (int i = 0; i < TW_KIND_MAX_SHARED && kind->shared[i]; i++) {
        if (index < kind->shared[i]->count) return &kind->shared[i]->fields[index];
        index -= kind->shared[i]->count;
    }
    return NULL;
}

const tw_schema_field *tw_section_find(const tw_section *section, const tw_kind *kind,
                                       const char *key)
{
    const tw_schema_field *field = NULL;
    for (int i = 0; (field = tw_section_field(section, kind, i)); i++)
        if (strcmp(field->key, key) == 0) return field;
    return NULL;
}

/* ---- a field in words ---- */

__attribute__((format(printf, 2, 3))) static void append(char text[TW_FIELD_TEXT_SIZE],
                                                         const char *format, ...)
{
    size_t length = strlen(text);
    va_list arguments;
    va_start(arguments, format);

    /* tw_format writes a decimal point under every locale. */
    tw_format(text + length, TW_FIELD_TEXT_SIZE - length, format, arguments);
    va_end(arguments);
}

static void append_range(char text[TW_FIELD_TEXT_SIZE], const tw_range *range)
{
    if (range->has_low) append(text, " %s %.15g", range->open_low ? ">" : ">=", range->low);
    if (range->has_low && range->has_high) append(text, " and");
    if (range->has_high) append(text, " %s %.15g", range->open_high ? "<" : "<=", range->high);
}

static void append_choices(char text[TW_FIELD_TEXT_SIZE], const tw_schema_field *field)
{
    append(text, "one of ");
    for (int i = 0; field->choice(i); i++) {
        if (i > 0) append(text, ", ");
        append(text, "%s", field->choice(i));
    }
}

static void append_numbers(char text[TW_FIELD_TEXT_SIZE], const tw_schema_field *field)
{
    bool whole = field->type == TW_FIELD_INTEGER || field->type == TW_FIELD_INTEGERS;
    const char *adjective = whole ? "whole " : "";

    /* "a list of 3 whole numbers >= 1 [m]" */
    if (field->length > 0)
        append(text, "a list of %d %snumbers", field->length, adjective);
    else
        append(text, "a %snumber", adjective);
    append_range(text, &field->range);
    if (field->unit) append(text, " [%s]", field->unit);
    if (field->automatic) append(text, " or auto");
}

void tw_field_describe(const tw_schema_field *field, char text[TW_FIELD_TEXT_SIZE])
{
    text[0] = '\0';
    switch (field->type) {
    case TW_FIELD_NUMBER:
    case TW_FIELD_INTEGER:
    case TW_FIELD_NUMBERS:
    case TW_FIELD_INTEGERS:
        append_numbers(text, field);
        break;
    case TW_FIELD_ROWS:
        append(text, "a list of lists of %d numbers", field->length);
        break;
    case TW_FIELD_BOOL:
        append(text, "true or false");
        break;
    case TW_FIELD_NAME:
        append(text, "a name of letters, digits, '.', '_' and '-'");
        break;
    case TW_FIELD_TEXT:
        append(text, "a text, such as the name of a file");
        break;
    case TW_FIELD_CHOICE:
        append_choices(text, field);
        break;
    case TW_FIELD_CHOICES:
        append_choices(text, field);
        append(text, ", or a list of them");
        break;
    case TW_FIELD_MAP:
        append(text, "a map of keys and values");
        break;
    case TW_FIELD_LIST:
        append(text, "a list of maps");
        break;
    }
}

/* ---- values of a checked map ---- */

double tw_node_number(const tw_node *map, const char *key)
{
    const tw_node *node = tw_node_find(map, key);
    return node ? node->number : 0.0;
}

int64_t tw_node_integer(const tw_node *map, const char *key)
{
    return (int64_t)tw_node_number(map, key);
}

const char *tw_node_text(const tw_node *map, const char *key)
{
    const tw_node *node = tw_node_find(map, key);
    return node && node->kind == TW_NODE_SCALAR ? node->text : "";
}

void tw_node_numbers(const tw_node *map, const char *key, int count, double *values)
{
    for (int i = 0; i < count; i++) values[i] = 0.0;

    const tw_node *list = tw_node_find(map, key);
    if (!list || list->kind != TW_NODE_LIST) return;

    /* A list that is shorter leaves zeros. */
    int i = 0;
    for (const tw_node *n = list->first; n && i < count; n = n->next) values[i++] = n->number;
}
