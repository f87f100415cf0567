/* Command lines: --name value, --name=value, -o value, and the rest. */
#include <stdio.h>
#include <string.h>

#include "command.h"

static const option *find_option(const verb *v, const char *word, size_t length)
{
    for (const option *o = v->options; o->name; o++) {
        if (strlen(o->name) == length && strncmp(o->name, word, length) == 0) return o;
        if (o->brief && strlen(o->brief) == length && strncmp(o->brief, word, length) == 0)
            return o;
    }
    return NULL;
}

static bool unknown_option(const verb *v, const char *word, size_t length)
{
    const char *names[64];
    int count = 0;
    for (const option *o = v->options; o->name && count < 63; o++) names[count++] = o->name;
    names[count++] = "--help";
    char given[64];
    snprintf(given, sizeof given, "%.*s", (int)length, word);
    const char *nearest = suggestion(given, names, count);
    if (nearest)
        wrong_use("%s has no option '%s', did you mean '%s'?", v->name, given, nearest);
    else
        wrong_use("%s has no option '%s', twang %s --help lists them", v->name, given, v->name);
    return false;
}

/* Takes the option at words[*at], and what follows it. */
static bool take_option(arguments *a, int count, char **words, int *at)
{
    const verb *v = a->verb;
    const char *word = words[*at];
    const char *equals = word[1] == '-' ? strchr(word, '=') : NULL;
    size_t length = equals ? (size_t)(equals - word) : strlen(word);
    const option *o = find_option(v, word, length);
    if (!o) return unknown_option(v, word, length);
    const char *value = equals ? equals + 1 : NULL;
    if (o->value && !value && *at + 1 < count) value = words[++*at];
    if (o->value && !value)
        return wrong_use("%s needs a value: %s %s", o->name, o->name, o->value), false;
    if (!o->value && value) return wrong_use("%s takes no value", o->name), false;
    if (a->given_count == MAX_GIVEN) return wrong_use("more than %d options", MAX_GIVEN), false;
    a->given[a->given_count].option = o;
    a->given[a->given_count++].value = value;
    return true;
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
        bool is_option = !only_positional && words[i][0] == '-' && words[i][1] != '\0';
        if (!only_positional && strcmp(words[i], "--") == 0)
            only_positional = true;
        else if (is_option ? !take_option(out, count, words, &i) : !take_positional(out, words[i]))
            return false;
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

void print_verb_help(const verb *v)
{
    style s = style_for_stdout();
    printf("%stwang %s%s %s\n\n%s\n", s.bold, v->name, s.plain, v->synopsis, v->text);
    if (!v->options->name) return;
    printf("\n%sOptions%s\n", s.bold, s.plain);
    for (const option *o = v->options; o->name; o++) {
        char left[64];
        snprintf(left, sizeof left, "%s%s%s%s%s", o->brief ? o->brief : "", o->brief ? ", " : "",
                 o->name, o->value ? " " : "", o->value ? o->value : "");
        printf("  %-20s %s\n", left, o->line);
    }
}
