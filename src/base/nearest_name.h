/* "did you mean ...?" */
#ifndef TW_BASE_NEAREST_NAME_H
#define TW_BASE_NEAREST_NAME_H

/* The name that a misspelt `word` most likely means: the one with the smallest edit distance, if
 * that is small compared with the word. NULL if there is none. */
const char *tw_nearest_name(const char *word, const char *const *names, int count);

#endif
