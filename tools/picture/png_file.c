/* PNG files by zlib, and letters of dots. */
#include "png_file.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

/* The most significant byte comes first. */
static void put_number(unsigned char *to, uint32_t value)
{
    for (int i = 0; i < 4; i++) to[i] = (unsigned char)(value >> (24 - 8 * i));
}

/* A chunk: size, type, data, checksum of type and data. */
static bool write_chunk(FILE *file, const char *type, const unsigned char *data, size_t size)
{
    unsigned char head[8];
    unsigned char tail[4];

    put_number(head, (uint32_t)size);
    memcpy(head + 4, type, 4);
    uLong sum = crc32(0, head + 4, 4);
    if (size) sum = crc32(sum, data, (uInt)size);
    put_number(tail, (uint32_t)sum);

    return fwrite(head, 1, 8, file) == 8 && fwrite(data, 1, size, file) == size &&
           fwrite(tail, 1, 4, file) == 4;
}

/* The byte of the pixel to the left; 0 in the first pixel. */
static unsigned char left_of(const unsigned char *row, size_t i)
{
    return i >= 3 ? row[i - 3] : 0;
}

/* The byte of the pixel above; 0 in the first row. */
static unsigned char above_of(const unsigned char *above, size_t i)
{
    return above ? above[i] : 0;
}

/* Stores each row as differences from the pixel to the left (filter 1) or above (filter 2). The
 * filter with the smaller sum of differences compresses better. */
static void filter_rows(int width, int height, const unsigned char *pixels, unsigned char *out)
{
    size_t size = 3 * (size_t)width;
    for (int y = 0; y < height; y++) {
        const unsigned char *row = pixels + (size_t)y * size;
        const unsigned char *above = y > 0 ? row - size : NULL;

        /* Choose the filter. */
        long sum_left = 0;
        long sum_above = 0;
        for (size_t i = 0; i < size; i++) {
            sum_left += abs((signed char)(row[i] - left_of(row, i)));
            sum_above += abs((signed char)(row[i] - above_of(above, i)));
        }
        bool up = sum_above < sum_left;

        /* Write its number, then the differences. */
        *out++ = up ? 2 : 1;
        for (size_t i = 0; i < size; i++) {
            unsigned char other = up ? above_of(above, i) : left_of(row, i);
            *out++ = (unsigned char)(row[i] - other);
        }
    }
}

/* Writes the whole file; `packed` is the compressed data. */
static bool write_chunks(FILE *file, int width, int height, const unsigned char *packed,
                         size_t size)
{
    static const unsigned char magic[8] = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'};
    unsigned char header[13] = {0};

    put_number(header, (uint32_t)width);
    put_number(header + 4, (uint32_t)height);
    header[8] = 8; /* bits per channel */
    header[9] = 2; /* RGB */

    return fwrite(magic, 1, 8, file) == 8 && write_chunk(file, "IHDR", header, 13) &&
           write_chunk(file, "IDAT", packed, size) && write_chunk(file, "IEND", header, 0);
}

bool png_write(const char *path, int width, int height, const unsigned char *pixels)
{
    /* Filter and compress; a filtered row has one byte more. */
    size_t raw = (3 * (size_t)width + 1) * (size_t)height;
    uLongf size = compressBound((uLong)raw);
    unsigned char *rows = malloc(raw);
    unsigned char *packed = malloc(size);
    bool good = rows && packed;
    if (good) {
        filter_rows(width, height, pixels, rows);
        good = compress2(packed, &size, rows, (uLong)raw, 9) == Z_OK;
    }

    FILE *file = good ? fopen(path, "wb") : NULL;
    good = file && write_chunks(file, width, height, packed, size);
    if (file && fclose(file) != 0) good = false;
    free(rows);
    free(packed);
    return good;
}

/* ---- letters ---- */

/* Glyphs of seven rows of five dots, from the top; bit 4 is the left dot. */
static const struct {
    char letter;
    unsigned char rows[7];
} glyphs[] = {
    {'0', {14, 17, 19, 21, 25, 17, 14}}, {'1', {4, 12, 4, 4, 4, 4, 14}},
    {'2', {14, 17, 1, 2, 4, 8, 31}},     {'3', {31, 2, 4, 2, 1, 17, 14}},
    {'4', {2, 6, 10, 18, 31, 2, 2}},     {'5', {31, 16, 30, 1, 1, 17, 14}},
    {'6', {6, 8, 16, 30, 17, 17, 14}},   {'7', {31, 1, 2, 4, 8, 8, 8}},
    {'8', {14, 17, 17, 14, 17, 17, 14}}, {'9', {14, 17, 17, 15, 1, 2, 12}},
    {'.', {0, 0, 0, 0, 0, 12, 12}},      {'-', {0, 0, 0, 31, 0, 0, 0}},
    {'=', {0, 0, 31, 0, 31, 0, 0}},      {'t', {8, 8, 28, 8, 8, 9, 6}},
    {'s', {0, 0, 14, 16, 14, 1, 30}},    {'e', {0, 0, 14, 17, 31, 16, 14}},
    {'m', {0, 0, 26, 21, 21, 17, 17}},
};

enum { GREY = 90 }; /* of the letters */

/* Draws a square of `dot` pixels, as far as it is on the picture. */
static void draw_dot(unsigned char *pixels, int width, int height, int x, int y, int dot)
{
    for (int j = y; j < y + dot; j++)
        for (int i = x; i < x + dot; i++)
            if (i >= 0 && j >= 0 && i < width && j < height)
                memset(pixels + 3 * ((size_t)j * (size_t)width + (size_t)i), GREY, 3);
}

/* The rows of a letter; NULL if there is no glyph for it. */
static const unsigned char *glyph_of(char letter)
{
    for (size_t g = 0; g < sizeof glyphs / sizeof *glyphs; g++)
        if (glyphs[g].letter == letter) return glyphs[g].rows;
    return NULL;
}

void draw_text(unsigned char *pixels, int width, int height, int x, int y, int dot,
               const char *text)
{
    /* A letter is five dots wide, and there is one dot between two letters. */
    for (; *text; text++, x += 6 * dot) {
        const unsigned char *rows = glyph_of(*text);
        for (int k = 0; rows && k < 35; k++)
            if (rows[k / 5] >> (4 - k % 5) & 1)
                draw_dot(pixels, width, height, x + dot * (k % 5), y + dot * (k / 5), dot);
    }
}
