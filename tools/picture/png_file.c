#include "png_file.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

static void put_number(unsigned char *to, uint32_t value)
{
    for (int i = 0; i < 4; i++) to[i] = (unsigned char)(value >> (24 - 8 * i));
}

static bool write_chunk(FILE *file, const char *type, const unsigned char *data, size_t size)
{
    unsigned char head[8], tail[4];
    put_number(head, (uint32_t)size);
    memcpy(head + 4, type, 4);
    uLong sum = crc32(0, head + 4, 4);
    if (size) sum = crc32(sum, data, (uInt)size);
    put_number(tail, (uint32_t)sum);
    return fwrite(head, 1, 8, file) == 8 && fwrite(data, 1, size, file) == size &&
           fwrite(tail, 1, 4, file) == 4;
}

/* Each row as differences from its left neighbour (filter 1) or the row above (2), whichever is smaller in sum. */
static void filter_rows(int width, int height, const unsigned char *pixels, unsigned char *out)
{
    size_t row = 3 * (size_t)width;
    for (int y = 0; y < height; y++) {
        const unsigned char *now = pixels + (size_t)y * row, *above = y ? now - row : NULL;
        long sums[2] = {0, 0};
        for (size_t i = 0; i < row; i++) {
            sums[0] += abs((signed char)(now[i] - (i >= 3 ? now[i - 3] : 0)));
            sums[1] += abs((signed char)(now[i] - (above ? above[i] : 0)));
        }
        bool up = sums[1] < sums[0];
        *out++ = up ? 2 : 1;
        for (size_t i = 0; i < row; i++) {
            unsigned char left = i >= 3 ? now[i - 3] : 0, top = above ? above[i] : 0;
            *out++ = (unsigned char)(now[i] - (up ? top : left));
        }
    }
}

bool png_write(const char *path, int width, int height, const unsigned char *pixels)
{
    static const unsigned char magic[8] = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'};
    size_t raw = (3 * (size_t)width + 1) * (size_t)height;
    uLongf size = compressBound((uLong)raw);
    unsigned char *rows = malloc(raw), *packed = malloc(size), header[13] = {0};
    bool good = rows && packed;
    if (good) {
        filter_rows(width, height, pixels, rows);
        good = compress2(packed, &size, rows, (uLong)raw, 9) == Z_OK;
    }
    put_number(header, (uint32_t)width);
    put_number(header + 4, (uint32_t)height);
    header[8] = 8; /* bits */
    header[9] = 2; /* RGB */
    FILE *file = good ? fopen(path, "wb") : NULL;
    good = file && fwrite(magic, 1, 8, file) == 8 && write_chunk(file, "IHDR", header, 13) &&
           write_chunk(file, "IDAT", packed, size) && write_chunk(file, "IEND", header, 0);
    if (file && fclose(file) != 0) good = false;
    free(rows);
    free(packed);
    return good;
}

/* Seven rows of five dots, from the top; bit 4 is the left one. */
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

static void draw_dot(unsigned char *pixels, int width, int height, int x, int y, int dot)
{
    for (int j = y; j < y + dot; j++)
        for (int i = x; i < x + dot; i++)
            if (i >= 0 && j >= 0 && i < width && j < height)
                memset(pixels + 3 * ((size_t)j * (size_t)width + (size_t)i), 90, 3);
}

void draw_text(unsigned char *pixels, int width, int height, int x, int y, int dot,
               const char *text)
{
    for (; *text; text++, x += 6 * dot)
        for (size_t g = 0; g < sizeof glyphs / sizeof *glyphs; g++)
            for (int k = 0; glyphs[g].letter == *text && k < 35; k++)
                if (glyphs[g].rows[k / 5] >> (4 - k % 5) & 1)
                    draw_dot(pixels, width, height, x + dot * (k % 5), y + dot * (k / 5), dot);
}
