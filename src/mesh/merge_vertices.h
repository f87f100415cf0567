#ifndef TW_MESH_MERGE_VERTICES_H
#define TW_MESH_MERGE_VERTICES_H

#include <stdint.h>
#include <twang/status.h>

/* first[i] becomes the number of the first vertex that is exactly where vertex i is (0 and -0 are one place). Returns
 * how many are not the first of their place by *merged. */
tw_status tw_find_equal_vertices(int64_t count, const double *vertices, int64_t *first,
                                 int64_t *merged, tw_error *error);

#endif
