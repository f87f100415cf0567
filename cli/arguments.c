/* Command lines: --name value, --name=value, -o value, and positional arguments. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"

enum { MAX_OPTIONS = 64 }; /* of a verb */

static bool is_equal(const char *name, const char *word, size_t length)
{
    return strlen(name) == length && strncmp(name, word, length) == 0;
}

static const option *find_option(const verb *v, const char *word, size_t length)
{
    for (const option *o = v->options; o->name; o++) {
        if (is_equal(o->name, word, length)) return o;
        if (o->brief && is_equal(o->brief, word, length)) return o;
    }
    return NULL;
}

/* Complains, with the option that was probably meant. Returns false. */
static bool unknown_option(const verb *v, const char *word, size_t length)
{
    const char *names[MAX_OPTIONS];
    int count = 0;
    for (const option *o = v->options; o->name && count < MAX_OPTIONS - 1; o++)
        names[count++] = o->name;
    names[count++] = "--help";

    /* The option as it was typed, without its value. */
    char given[64];
    snprintf(given, sizeof given, "%.*s", (int)length, word);
    const char *nearest = tw_nearest_name(given, names, count);
    if (nearest)
        wrong_use("%s has no option '%s', did you mean '%s'?", v->name, given, nearest);
    else
        wrong_use("%s has no option '%s', twang %s --help lists them", v->name, given, v->name);
    return false;
}

static bool keep_option(arguments *a, const option *o, const char *value)
{
    if (o->value && !value) {
        wrong_use("%s needs a value: %s %s", o->name, o->name, o->value);
        return false;
    }
    if (!o->value && value) {
        wrong_use("%s takes no value", o->name);
        return false;
    }
    if (a->given_count == MAX_GIVEN) {
        wrong_use("more than %d options", MAX_GIVEN);
        return false;
    }

    a->given[a->given_count].option = o;
    a->given[a->given_count].value = value;
    a->given_count++;
    return true;
}

/* Takes the option at words[*at], and its value, which may be the word after it. */
static bool take_option(arguments *a, int count, char **words, int *at)
{
    /* The name ends at the equals sign of --name=value. */
    const char *word = words[*at];
    const char *equals = word[1] == '-' ? strchr(word, '=') : NULL;
    size_t length = equals ? (size_t)(equals - word) : strlen(word);
    const option *o = find_option(a->verb, word, length);
    if (!o) return unknown_option(a->verb, word, length);

    const char *value = equals ? equals + 1 : NULL;
    if (o->value && !value && *at + 1 < count) value = words[++*at];
    return keep_option(a, o, value);
}

static bool take_positional(arguments *a, const char *word)
{
    const verb *v = a->verb;
    if (a->positional_count >= v->positional_most) {
        if (v->positional_most == 1)
            wrong_use("%s takes one %s, and '%s' is one more", v->name, v->positional, word);
        else
            wrong_use("%s takes no argument '%s'", v->name, word);
        return false;
    }

    a->positional[a->positional_count++] = word;
    return true;
}

bool parse_arguments(const verb *v, int count, char **words, arguments *out)
{
    *out = (arguments){.verb = v};
    bool only_positional = false;
    for (int i = 0; i < count; i++) {
        /* After "--" every word is positional. */
        if (!only_positional && strcmp(words[i], "--") == 0) {
            only_positional = true;
            continue;
        }

        /* A dash alone is the name of a file. */
        bool is_option = !only_positional && words[i][0] == '-' && words[i][1] != '\0';
        bool good = false;
        if (is_option)
            good = take_option(out, count, words, &i);
        else
            good = take_positional(out, words[i]);
        if (!good) return false;
    }

    if (out->positional_count >= v->positional_least) return true;
    wrong_use("%s needs %s: twang %s %s", v->name, v->positional, v->name, v->synopsis);
    return false;
}

bool is_given(const arguments *a, const char *name)
{
    for (int i = 0; i < a->given_count; i++)
        if (strcmp(a->given[i].option->name, name) == 0) return true;
    return false;
}

const char *value_of(const arguments *a, const char *name)
{
    for (int i = a->given_count - 1; i >= 0; i--)
        if (strcmp(a->given[i].option->name, name) == 0) return a->given[i].value;
    return NULL;
}

bool read_count(const arguments *a, const char *name, long long low, long long high,
                long long *value)
{
    const char *text = value_of(a, name);
    if (!text) return true;

    char *end = NULL;
    *value = strtoll(text, &end, 10);
    if (end != text && !*end && *value >= low && *value <= high) return true;
    wrong_use("%s %s is not a whole number from %lld to %lld", name, text, low, high);
    return false;
}

void print_verb_help(const verb *v)
{
    style s = style_for_stdout();
    printf("%stwang %s%s %s\n\n%s\n", s.bold, v->name, s.plain, v->synopsis, v->text);
    if (!v->options->name) return;

    printf("\n%sOptions%s\n", s.bold, s.plain);
    for (const option *o = v->options; o->name; o++) {
        /* "-o, --output DIR" */
        char left[64] = "";
        int length = 0;
        if (o->brief) length = snprintf(left, sizeof left, "%s, ", o->brief);
        length += snprintf(left + length, sizeof left - (size_t)length, "%s", o->name);
        if (o->value) snprintf(left + length, sizeof left - (size_t)length, " %s", o->value);
        printf("  %-20s %s\n", left, o->line);
    }
}
