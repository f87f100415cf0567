/* "did you mean ...?", for verbs, options and scenes. */
#include <string.h>

#include "command.h"

/* How far a word is from a name: the number of letters in which they differ once the beginning and
 * the end that they share are taken away. Two neighbours that changed places count as one. */
static size_t letters_apart(const char *word, const char *name)
{
    while (*word && *word == *name) word++, name++;
    size_t left = strlen(word);
    size_t right = strlen(name);
    while (left > 0 && right > 0 && word[left - 1] == name[right - 1]) left--, right--;

    bool swapped = left == 2 && right == 2 && word[0] == name[1] && word[1] == name[0];
    if (swapped) return 1;
    return left > right ? left : right;
}

/* The shortest name that begins with the word, if the word has three letters or more: "rop" is "rope", and not "drop". */
static const char *completed(const char *word, const char *const *names, int count)
{
    size_t length = strlen(word);
    const char *shortest = NULL;
    for (int i = 0; length >= 3 && i < count; i++) {
        if (strncmp(names[i], word, length) != 0) continue;
        if (!shortest || strlen(names[i]) < strlen(shortest)) shortest = names[i];
    }
    return shortest;
}

const char *suggestion(const char *word, const char *const *names, int count)
{
    size_t length = strlen(word);
    if (length == 0) return NULL;
    const char *nearest = completed(word, names, count);
    if (nearest) return nearest;

    /* One letter may be wrong in a short word, and one in three in a long one. */
    size_t least = length < 6 ? 2 : length / 3 + 1;
    for (int i = 0; i < count; i++) {
        size_t apart = letters_apart(word, names[i]);
        if (apart >= least) continue;
        least = apart;
        nearest = names[i];
    }
    return nearest;
}
