/* The connected components of a sparse matrix: sets of block rows that no entry joins. */
#ifndef TW_LINALG_COMPONENTS_H
#define TW_LINALG_COMPONENTS_H

#include <twang/sparse.h>

typedef struct tw_components {
    int64_t count;
    int64_t *start; /* count + 1: where the rows of each component begin */
    int32_t *row;   /* block rows, ascending within a component */
    int32_t *place; /* of each block row: its index within its component */
} tw_components;

/* Components in the order of their first rows. The pattern must be symmetric, or its upper triangle
 * stored. TW_OK or TW_OUT_OF_MEMORY; free with tw_components_free, also after failure. */
tw_status tw_components_find(const tw_sparse *matrix, tw_components *out);
void tw_components_free(tw_components *components);

#endif
