/* Words and numbers of a mesh file in memory: places and complaints, words, numbers
 * as text, numbers as bits. */
#include "mesh/scan.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/fail.h"
#include "base/number.h"

/* Largest coordinate that is accepted: the product of three of them stays finite. */
static const double largest_coordinate = 1e100;

/* The mark of UTF-8 that editors on Windows put before a text. */
static const char utf8_mark[3] = {'\xef', '\xbb', '\xbf'};

/* ---- places and complaints ---- */

void tw_scan_begin(tw_scan *scan, const char *name, const char *bytes, size_t size, tw_error *error)
{
    *scan = (tw_scan){.name = name,
                      .bytes = bytes,
                      .size = size,
                      .line = 1,
                      .token_line = 1,
                      .token_column = 1,
                      .error = error};
    scan->at = tw_scan_mark_size(bytes, size);
    scan->line_start = scan->at;
}

size_t tw_scan_mark_size(const char *bytes, size_t size)
{
    bool has_mark = size >= sizeof utf8_mark && memcmp(bytes, utf8_mark, sizeof utf8_mark) == 0;
    return has_mark ? sizeof utf8_mark : 0;
}

tw_status tw_scan_fail(tw_scan *scan, const char *format, ...)
{
    char text[TW_ERROR_TEXT_SIZE];
    va_list arguments;

    va_start(arguments, format);
    tw_format(text, sizeof text, format, arguments);
    va_end(arguments);

    if (scan->mode == TW_SCAN_TEXT)
        return tw_fail(scan->error, TW_BAD_INPUT, "%s:%lld:%lld: %.300s", scan->name,
                       (long long)scan->token_line, (long long)scan->token_column, text);
    return tw_fail(scan->error, TW_BAD_INPUT, "%s: byte %zu: %.300s", scan->name, scan->token,
                   text);
}

tw_status tw_scan_fail_memory(tw_scan *scan)
{
    return tw_fail_plain(scan->error, TW_OUT_OF_MEMORY);
}

tw_status tw_scan_check_memory(tw_scan *scan, tw_status status)
{
    return status == TW_OK ? TW_OK : tw_scan_fail_memory(scan);
}

/* ---- words ---- */

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v';
}

/* Remembers this place as the beginning of a word or number. */
static void mark_token(tw_scan *scan)
{
    scan->token = scan->at;
    scan->token_line = scan->line;
    scan->token_column = (int64_t)(scan->at - scan->line_start) + 1;
}

static void pass_newline(tw_scan *scan)
{
    scan->at++;
    scan->line++;
    scan->line_start = scan->at;
}

/* Whether a backslash here joins this line with the next one. */
static bool is_continuation(const tw_scan *scan)
{
    if (!scan->continuation || scan->bytes[scan->at] != '\\') return false;
    size_t next = scan->at + 1;
    if (next < scan->size && scan->bytes[next] == '\r') next++;
    return next < scan->size && scan->bytes[next] == '\n';
}

/* Goes to the next character in the line that is not blank. Comments and
 * joined line ends are blank. */
static void skip_blanks(tw_scan *scan)
{
    while (scan->at < scan->size) {
        char c = scan->bytes[scan->at];

        /* A joined line end, a blank, a comment, or the end of the search. */
        if (is_continuation(scan)) {
            while (scan->bytes[scan->at] != '\n') scan->at++;
            pass_newline(scan);
        } else if (is_blank(c)) {
            scan->at++;
        } else if (scan->comment && c == scan->comment) {
            while (scan->at < scan->size && scan->bytes[scan->at] != '\n') scan->at++;
        } else {
            return;
        }
    }
}

/* Whether the character here is behind the end of a word. */
static bool ends_word(const tw_scan *scan)
{
    char c = scan->bytes[scan->at];
    return is_blank(c) || c == '\n' || (scan->comment && c == scan->comment) ||
           is_continuation(scan);
}

bool tw_scan_word_in_line(tw_scan *scan)
{
    skip_blanks(scan);
    mark_token(scan);

    size_t length = 0;
    while (scan->at < scan->size && !ends_word(scan)) {
        /* A zero byte does not end a word, but would end the string: another control
         * character stands for it. */
        char c = scan->bytes[scan->at++];
        if (c == '\0') c = '\x01';
        if (length + 1 < TW_SCAN_WORD_SIZE) scan->word[length++] = c;
    }

    scan->word[length] = '\0';
    return length > 0;
}

/* Goes to the next character that is not blank, over the ends of lines. */
static void skip_space(tw_scan *scan)
{
    skip_blanks(scan);
    while (scan->at < scan->size && scan->bytes[scan->at] == '\n') {
        pass_newline(scan);
        skip_blanks(scan);
    }
}

bool tw_scan_word(tw_scan *scan)
{
    skip_space(scan);
    return tw_scan_word_in_line(scan);
}

bool tw_scan_number_follows(tw_scan *scan)
{
    skip_space(scan);
    if (scan->at >= scan->size) return false;
    char c = scan->bytes[scan->at];
    return (c >= '0' && c <= '9') || c == '-' || c == '+' || c == '.';
}

void tw_scan_next_line(tw_scan *scan)
{
    while (scan->at < scan->size && scan->bytes[scan->at] != '\n') scan->at++;
    if (scan->at < scan->size) pass_newline(scan);
}

tw_status tw_scan_expect_word(tw_scan *scan, const char *what)
{
    return tw_scan_word(scan) ? TW_OK : tw_scan_fail(scan, "the file ends here, expected %s", what);
}

tw_status tw_scan_expect(tw_scan *scan, const char *word)
{
    TW_TRY(tw_scan_expect_word(scan, word));
    if (strcmp(scan->word, word) == 0) return TW_OK;
    return tw_scan_fail(scan, "'%.60s' is unexpected here, expected %s", scan->word, word);
}

/* ---- words as numbers ---- */

tw_status tw_scan_word_to_real(tw_scan *scan, const char *what, double *value)
{
    if (tw_number_parse(scan->word, value)) return TW_OK;
    return tw_scan_fail(scan, "'%.60s' is not a finite number, expected %s", scan->word, what);
}

/* Complains in the words that fit to the range: empty, one value, without
 * an upper end, or two ends. */
static tw_status check_range(tw_scan *scan, const char *what, int64_t low, int64_t high,
                             int64_t value)
{
    if (value >= low && value <= high) return TW_OK;
    long long found = value;
    long long least = low;
    long long most = high;

    /* The words fit to the range. */
    if (high < low)
        return tw_scan_fail(scan, "%lld is out of range, expected %s, but there is none", found,
                            what);
    if (high == low)
        return tw_scan_fail(scan, "%lld is out of range, expected %s to be %lld", found, what,
                            least);
    if (high >= INT32_MAX && value < low)
        return tw_scan_fail(scan, "%lld is too small, expected %s of at least %lld", found, what,
                            least);
    return tw_scan_fail(scan, "%lld is out of range, expected %s from %lld to %lld", found, what,
                        least, most);
}

tw_status tw_scan_word_to_integer(tw_scan *scan, const char *what, int64_t low, int64_t high,
                                  int64_t *value)
{
    if (!tw_integer_parse(scan->word, value))
        return tw_scan_fail(scan, "'%.60s' is not a whole number, expected %s", scan->word, what);
    return check_range(scan, what, low, high, *value);
}

static tw_status check_coordinate(tw_scan *scan, const char *what, double value)
{
    if (fabs(value) <= largest_coordinate) return TW_OK;
    return tw_scan_fail(scan, "a coordinate of %g, expected %s within 1e100", value, what);
}

tw_status tw_scan_word_to_coordinate(tw_scan *scan, const char *what, double *value)
{
    TW_TRY(tw_scan_word_to_real(scan, what, value));
    return check_coordinate(scan, what, *value);
}

/* ---- bits as numbers ---- */

static size_t type_size(tw_scan_type type)
{
    static const size_t sizes[] = {
        [TW_SCAN_INT8] = 1,    [TW_SCAN_UINT8] = 1,  [TW_SCAN_INT16] = 2, [TW_SCAN_UINT16] = 2,
        [TW_SCAN_INT32] = 4,   [TW_SCAN_UINT32] = 4, [TW_SCAN_INT64] = 8, [TW_SCAN_UINT64] = 8,
        [TW_SCAN_FLOAT32] = 4, [TW_SCAN_FLOAT64] = 8};
    return sizes[type];
}

/* Takes the bits of the next binary number. They are in the lowest `size` bytes of *bits. */
static tw_status take_bits(tw_scan *scan, size_t size, const char *what, uint64_t *bits)
{
    scan->token = scan->at;
    if (scan->size - scan->at < size)
        return tw_scan_fail(scan, "the file ends here, expected %s", what);

    /* Byte i of a big-endian number has the weight 256^(size - 1 - i), else 256^i. */
    *bits = 0;
    for (size_t i = 0; i < size; i++) {
        size_t place = scan->mode == TW_SCAN_BIG_ENDIAN ? size - 1 - i : i;
        *bits |= (uint64_t)(unsigned char)scan->bytes[scan->at + i] << (8 * place);
    }

    scan->at += size;
    return TW_OK;
}

static double bits_to_real(tw_scan_type type, uint64_t bits)
{
    if (type == TW_SCAN_FLOAT64) {
        double value = 0.0;
        memcpy(&value, &bits, sizeof value);
        return value;
    }

    /* The lower half holds a number of 32 bits. */
    float value = 0.0F;
    uint32_t half = (uint32_t)bits;
    memcpy(&value, &half, sizeof value);

    return value;
}

/* Unsigned numbers beyond int64_t come out negative. No range of a caller allows these. */
static int64_t bits_to_integer(tw_scan_type type, uint64_t bits)
{
    switch (type) {
    case TW_SCAN_INT8:
        return (int8_t)bits;
    case TW_SCAN_INT16:
        return (int16_t)bits;
    case TW_SCAN_INT32:
        return (int32_t)bits;
    default:
        return (int64_t)bits;
    }
}

static bool is_real(tw_scan_type type)
{
    return type == TW_SCAN_FLOAT32 || type == TW_SCAN_FLOAT64;
}

/* ---- the next number, as text or bits ---- */

tw_status tw_scan_real(tw_scan *scan, tw_scan_type type, const char *what, double *value)
{
    if (scan->mode == TW_SCAN_TEXT) {
        TW_TRY(tw_scan_expect_word(scan, what));
        return tw_scan_word_to_real(scan, what, value);
    }

    /* Binary data may hold NaN and infinities, which are refused. */
    uint64_t bits = 0;
    TW_TRY(take_bits(scan, type_size(type), what, &bits));
    *value = is_real(type) ? bits_to_real(type, bits) : (double)bits_to_integer(type, bits);
    if (!isfinite(*value)) return tw_scan_fail(scan, "not a finite number, expected %s", what);
    return TW_OK;
}

tw_status tw_scan_integer(tw_scan *scan, tw_scan_type type, const char *what, int64_t low,
                          int64_t high, int64_t *value)
{
    if (scan->mode == TW_SCAN_TEXT) {
        TW_TRY(tw_scan_expect_word(scan, what));
        return tw_scan_word_to_integer(scan, what, low, high, value);
    }

    /* Binary numbers of any type are checked against the same range. */
    uint64_t bits = 0;
    TW_TRY(take_bits(scan, type_size(type), what, &bits));
    *value = bits_to_integer(type, bits);
    return check_range(scan, what, low, high, *value);
}

tw_status tw_scan_coordinate(tw_scan *scan, tw_scan_type type, const char *what, double *value)
{
    TW_TRY(tw_scan_real(scan, type, what, value));
    return check_coordinate(scan, what, *value);
}

tw_status tw_scan_point(tw_scan *scan, tw_scan_type type, const char *what, double point[3])
{
    for (int k = 0; k < 3; k++) TW_TRY(tw_scan_coordinate(scan, type, what, point + k));
    return TW_OK;
}

tw_status tw_scan_skip(tw_scan *scan, tw_scan_type type, const char *what)
{
    uint64_t bits = 0;
    if (scan->mode == TW_SCAN_TEXT) return tw_scan_expect_word(scan, what);
    return take_bits(scan, type_size(type), what, &bits);
}
