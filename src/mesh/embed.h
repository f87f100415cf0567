#ifndef TW_MESH_EMBED_H
#define TW_MESH_EMBED_H

#include <twang/mesh.h>

/* As tw_embedding_create; `distances` (may be NULL) gets for each point how far outside of the solid it is. */
tw_status tw_embed_points(const tw_mesh *mesh, int64_t count, const double *points,
                          tw_embedding *out, double *distances, tw_error *error);

#endif
