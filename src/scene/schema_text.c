/* The schema in words, and the values of a checked map. */
#include <stdarg.h>
#include <string.h>

#include "base/number.h"
#include "scene/schema.h"

bool tw_field_applies(const tw_schema_field *field, const char *kind)
{
    if (!field->kinds) return true;
    if (!kind) return false;
    size_t length = strlen(kind);
    for (const char *p = field->kinds; length && (p = strstr(p, kind)); p += length) {
        bool starts = p == field->kinds || p[-1] == ' ';
        if (starts && (p[length] == ' ' || p[length] == '\0')) return true;
    }
    return false;
}

__attribute__((format(printf, 3, 4))) static void append(char *text, int size, const char *format,
                                                         ...)
{
    size_t length = strlen(text);
    va_list arguments;
    va_start(arguments, format);
    tw_format(text + length, (size_t)size - length, format, arguments);
    va_end(arguments);
}

static void append_range(char *text, int size, const tw_range *range)
{
    if (range->has_low) append(text, size, " %s %.15g", range->open_low ? ">" : ">=", range->low);
    if (range->has_low && range->has_high) append(text, size, " and");
    if (range->has_high)
        append(text, size, " %s %.15g", range->open_high ? "<" : "<=", range->high);
}

static void append_choices(char *text, int size, const tw_schema_field *field)
{
    append(text, size, "one of ");
    for (int i = 0; field->choice(i); i++)
        append(text, size, "%s%s", i ? ", " : "", field->choice(i));
}

static void describe_numbers(const tw_schema_field *field, char *text, int size)
{
    bool whole = field->type == TW_FIELD_INTEGER || field->type == TW_FIELD_INTEGERS;
    if (field->length > 0)
        append(text, size, "a list of %d %snumbers", field->length, whole ? "whole " : "");
    else
        append(text, size, "%s", whole ? "a whole number" : "a number");
    append_range(text, size, &field->range);
    if (field->unit) append(text, size, " [%s]", field->unit);
}

void tw_field_describe(const tw_schema_field *field, char *text, int size)
{
    text[0] = '\0';
    switch (field->type) {
    case TW_FIELD_NUMBER:
    case TW_FIELD_INTEGER:
    case TW_FIELD_NUMBERS:
    case TW_FIELD_INTEGERS:
        describe_numbers(field, text, size);
        break;
    case TW_FIELD_BOOL:
        append(text, size, "true or false");
        break;
    case TW_FIELD_NAME:
        append(text, size, "a name of letters, digits, '.', '_' and '-'");
        break;
    case TW_FIELD_TEXT:
        append(text, size, "a text, such as the name of a file");
        break;
    case TW_FIELD_CHOICE:
        append_choices(text, size, field);
        break;
    case TW_FIELD_CHOICES:
        append_choices(text, size, field);
        append(text, size, ", or a list of them");
        break;
    case TW_FIELD_MAP:
        append(text, size, "a map of keys and values");
        break;
    case TW_FIELD_LIST:
        append(text, size, "a list of maps");
        break;
    }
}

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
    const tw_node *list = tw_node_find(map, key);
    for (int i = 0; i < count; i++) values[i] = 0.0;
    if (!list || list->kind != TW_NODE_LIST) return;
    int i = 0;
    for (const tw_node *n = list->first; n && i < count; n = n->next) values[i++] = n->number;
}
