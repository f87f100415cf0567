/* The files of the page, compressed by gzip; embed_page writes them into the build. */
#ifndef VIEWER_VIEW_PAGE_H
#define VIEWER_VIEW_PAGE_H

#include <stddef.h>

typedef struct view_page_file {
    const char *path; /* "/page.js" */
    const char *type; /* "text/javascript; charset=utf-8" */
    const unsigned char *bytes;
    size_t size;     /* of the compressed bytes */
    size_t inflated; /* of the file itself */
} view_page_file;

/* path NULL after the last. */
extern const view_page_file view_page_files[];

/* NULL if the page has no such file. */
const view_page_file *view_page_find(const char *path);

#endif
