/* A picture as a file, and a line of small letters on it. */
#ifndef PICTURE_PNG_FILE_H
#define PICTURE_PNG_FILE_H

#include <stdbool.h>

/* 8-bit RGB. False if it cannot be written; errno says why. */
bool png_write(const char *path, int width, int height, const unsigned char *pixels);

/* Writes digits, letters of "t = s", points and signs in grey, glyphs of 5
 * x 7 dots of `dot` pixels. */
void draw_text(unsigned char *pixels, int width, int height, int x, int y, int dot,
               const char *text);

#endif
