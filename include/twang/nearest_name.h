/** @file nearest_name.h
 *  "Did you mean ...?"
 */
#ifndef TWANG_NEAREST_NAME_H
#define TWANG_NEAREST_NAME_H

#include <twang/version.h>

#ifdef __cplusplus
extern "C" {
#endif

/** The name that a misspelt `word` most likely means: the shortest one that begins with the word, or
 *  else the one with the smallest edit distance, if that is small compared with the word. One of the
 *  `count` pointers in `names`, of which NULL ends the list early; NULL if none is near, or an argument
 *  is NULL. */
TW_API const char *tw_nearest_name(const char *word, const char *const *names, int count);

#ifdef __cplusplus
}
#endif
#endif
