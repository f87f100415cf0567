/* Checks JSON by its grammar (RFC 8259). Each function skips one part of it, or says that it is not there. */
#include "view_json.h"

#include <string.h>

/* Objects and lists inside each other: our own files have three, and a hostile one must not exhaust the stack. */
enum { DEEPEST = 64 };

typedef struct reader {
    const char *at;
    int depth;
} reader;

static void skip_blanks(reader *r)
{
    r->at += strspn(r->at, " \t\n\r");
}

static bool skip_word(reader *r, const char *word)
{
    size_t length = strlen(word);
    if (strncmp(r->at, word, length) != 0) return false;
    r->at += length;
    return true;
}

/* What follows a backslash: one letter, or u and four hexadecimal digits. */
static bool skip_escape(reader *r)
{
    char letter = *r->at;
    if (letter == '\0' || !strchr("\"\\/bfnrtu", letter)) return false;
    r->at++;
    if (letter != 'u') return true;

    if (strspn(r->at, "0123456789abcdefABCDEF") < 4) return false;
    r->at += 4;
    return true;
}

static bool skip_string(reader *r)
{
    if (!skip_word(r, "\"")) return false;
    while (*r->at != '"') {
        /* Control characters are escaped, so that the end of the text is inside no string. */
        if ((unsigned char)*r->at < 0x20) return false;
        if (*r->at++ == '\\' && !skip_escape(r)) return false;
    }
    r->at++;
    return true;
}

static bool skip_digits(reader *r)
{
    size_t count = strspn(r->at, "0123456789");
    r->at += count;
    return count > 0;
}

/* No zero stands before other digits, and digits stand on both sides of a point. */
static bool skip_number(reader *r)
{
    skip_word(r, "-");
    if (!skip_word(r, "0") && !skip_digits(r)) return false;
    if (skip_word(r, ".") && !skip_digits(r)) return false;
    if (*r->at != 'e' && *r->at != 'E') return true;

    r->at++;
    if (*r->at == '+' || *r->at == '-') r->at++;
    return skip_digits(r);
}

static bool skip_value(reader *r);

/* An object, whose values have keys, or a list, whose values have none. */
static bool skip_group(reader *r, bool is_object)
{
    const char *end = is_object ? "}" : "]";
    r->at++;
    skip_blanks(r);
    if (skip_word(r, end)) return true;

    do {
        skip_blanks(r);
        if (is_object) {
            if (!skip_string(r)) return false;
            skip_blanks(r);
            if (!skip_word(r, ":")) return false;
        }
        if (!skip_value(r)) return false;
        skip_blanks(r);
    } while (skip_word(r, ","));
    return skip_word(r, end);
}

static bool skip_value(reader *r)
{
    skip_blanks(r);
    switch (*r->at) {
    case '{':
    case '[': {
        if (r->depth == DEEPEST) return false;
        r->depth++;
        bool good = skip_group(r, *r->at == '{');
        r->depth--;
        return good;
    }
    case '"':
        return skip_string(r);
    case 't':
        return skip_word(r, "true");
    case 'f':
        return skip_word(r, "false");
    case 'n':
        return skip_word(r, "null");
    default:
        return skip_number(r);
    }
}

bool view_json_is_object(const char *text, int *line)
{
    reader r = {.at = text};
    skip_blanks(&r);
    bool good = *r.at == '{' && skip_value(&r);
    skip_blanks(&r);
    if (good && *r.at == '\0') return true;

    *line = 1;
    for (const char *c = text; c < r.at; c++)
        if (*c == '\n') (*line)++;
    return false;
}
