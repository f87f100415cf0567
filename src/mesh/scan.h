/* Reading words and numbers of a mesh file in memory, as text or binary. Nothing in the file is
 * trusted.
 *
 * Every complaint says where: "file:line:column: ..." in text, "file: byte N: ..." in binary
 * data. Numbers do not depend on the locale. NaN, infinities and coordinates beyond 1e100 (whose
 * volumes could overflow) are refused. */
#ifndef TW_MESH_SCAN_H
#define TW_MESH_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <twang/status.h>

enum { TW_SCAN_WORD_SIZE = 128 };

typedef enum tw_scan_mode { TW_SCAN_TEXT, TW_SCAN_LITTLE_ENDIAN, TW_SCAN_BIG_ENDIAN } tw_scan_mode;

typedef enum tw_scan_type {
    TW_SCAN_INT8,
    TW_SCAN_UINT8,
    TW_SCAN_INT16,
    TW_SCAN_UINT16,
    TW_SCAN_INT32,
    TW_SCAN_UINT32,
    TW_SCAN_INT64,
    TW_SCAN_UINT64,
    TW_SCAN_FLOAT32,
    TW_SCAN_FLOAT64
} tw_scan_type;

typedef struct tw_scan {
    const char *name; /* of the file, for complaints */
    const char *bytes;
    size_t size, at;
    tw_scan_mode mode;
    char comment;                 /* starts a comment up to the end of the line; 0: none */
    bool continuation;            /* a backslash before the end of a line joins it with the next */
    int64_t line;                 /* of `at`, from 1; text only */
    size_t line_start;            /* where that line begins */
    size_t token;                 /* where the last word or number began */
    int64_t token_line;           /* its line */
    int64_t token_column;         /* its column, from 1 */
    char word[TW_SCAN_WORD_SIZE]; /* the last word, cut if it is longer */
    tw_error *error;
} tw_scan;

/* Bytes of the mark of UTF-8 that editors on Windows put before a text:
 * 3, or 0 if there is none. */
size_t tw_scan_mark_size(const char *bytes, size_t size);

/* Begins to read a file, behind such a mark. `name` is for complaints. */
void tw_scan_begin(tw_scan *scan, const char *name, const char *bytes, size_t size,
                   tw_error *error);

/* Complains about the last word or number, and returns TW_BAD_INPUT. */
tw_status tw_scan_fail(tw_scan *scan, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* TW_OUT_OF_MEMORY, which is not the file's fault and has no place in it. */
tw_status tw_scan_fail_memory(tw_scan *scan);
/* Passes the status of a call that may run out of memory on, and fills the error if it did. */
tw_status tw_scan_check_memory(tw_scan *scan, tw_status status);

/* Takes the next word; false at the end of the file, or of the line. Text only. */
bool tw_scan_word(tw_scan *scan);
bool tw_scan_word_in_line(tw_scan *scan);
/* Looks whether the next word begins like a number. */
bool tw_scan_number_follows(tw_scan *scan);
/* Goes to the beginning of the next line. In a binary file this is the end of a line of text. */
void tw_scan_next_line(tw_scan *scan);
/* Takes a word that must be there; `what` completes "expected ...". */
tw_status tw_scan_expect_word(tw_scan *scan, const char *what);
/* Takes a word that must be this one. */
tw_status tw_scan_expect(tw_scan *scan, const char *word);

/* The last word as a number. */
tw_status tw_scan_word_to_real(tw_scan *scan, const char *what, double *value);
tw_status tw_scan_word_to_coordinate(tw_scan *scan, const char *what, double *value);
tw_status tw_scan_word_to_integer(tw_scan *scan, const char *what, int64_t low, int64_t high,
                                  int64_t *value);

/* The next number, as text or in `mode`. `what` completes "expected ...". Reals are finite. */
tw_status tw_scan_real(tw_scan *scan, tw_scan_type type, const char *what, double *value);
tw_status tw_scan_integer(tw_scan *scan, tw_scan_type type, const char *what, int64_t low,
                          int64_t high, int64_t *value);
/* The next coordinate; the next three of them. */
tw_status tw_scan_coordinate(tw_scan *scan, tw_scan_type type, const char *what, double *value);
tw_status tw_scan_point(tw_scan *scan, tw_scan_type type, const char *what, double point[3]);
/* Passes over a number, which may be anything in binary data. */
tw_status tw_scan_skip(tw_scan *scan, tw_scan_type type, const char *what);

#endif
