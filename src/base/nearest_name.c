#include <twang/nearest_name.h>

#include <stdbool.h>
#include <string.h>

/* Longer words and names are not compared [characters]. */
enum { LONGEST = 64 };

/* The letter in lower case: ROPE is rope. */
static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static bool is_same(char a, char b)
{
    return lower(a) == lower(b);
}

static int least_of(int a, int b, int c)
{
    int least = a < b ? a : b;
    return least < c ? least : c;
}

/* Number of insertions, deletions, replacements and swaps of neighbours that turn a into b
 * (Damerau-Levenshtein). d(i, j) belongs to the first i letters of a and the first j of b; a row
 * holds one i, and three rows are kept because a swap looks back at d(i - 2, j - 2). */
static int edit_distance(const char *a, const char *b)
{
    int rows[3][LONGEST + 1];
    int length = (int)strlen(b);
    for (int j = 0; j <= length; j++) rows[0][j] = j;

    int last = 0;
    for (int i = 1; a[i - 1]; i++) {
        last = i % 3;
        int *row = rows[last];
        const int *above = rows[(i + 2) % 3];
        const int *two_above = rows[(i + 1) % 3];

        row[0] = i;
        for (int j = 1; j <= length; j++) {
            row[j] =
                least_of(above[j] + 1, row[j - 1] + 1, above[j - 1] + !is_same(a[i - 1], b[j - 1]));
            bool swapped =
                i > 1 && j > 1 && is_same(a[i - 1], b[j - 2]) && is_same(a[i - 2], b[j - 1]);
            if (swapped && two_above[j - 2] + 1 < row[j]) row[j] = two_above[j - 2] + 1;
        }
    }
    return rows[last][length];
}

static bool begins_with(const char *name, const char *word)
{
    while (*word && is_same(*name, *word)) {
        name++;
        word++;
    }
    return *word == '\0';
}

/* The shortest name that begins with the word, if the word has three letters or more: "rop" is
 * "rope", and not "drop". */
static const char *completed(const char *word, const char *const *names, int count)
{
    size_t length = strlen(word);
    const char *shortest = NULL;
    for (int i = 0; length >= 3 && i < count && names[i]; i++) {
        if (!begins_with(names[i], word)) continue;
        if (!shortest || strlen(names[i]) < strlen(shortest)) shortest = names[i];
    }
    return shortest;
}

const char *tw_nearest_name(const char *word, const char *const *names, int count)
{
    size_t length = word && names ? strlen(word) : 0;
    if (length == 0 || length > LONGEST) return NULL;
    const char *nearest = completed(word, names, count);
    if (nearest) return nearest;

    /* One slip is allowed in a short word, and one per three letters in a long one. */
    int least = length < 6 ? 2 : (int)length / 3 + 1;
    for (int i = 0; i < count && names[i]; i++) {
        if (strlen(names[i]) > LONGEST) continue;
        int distance = edit_distance(word, names[i]);
        if (distance >= least) continue;
        least = distance;
        nearest = names[i];
    }
    return nearest;
}
