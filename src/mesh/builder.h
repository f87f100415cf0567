/* A mesh that grows as a file is read: memory follows what the file holds, not what it claims to hold. */
#ifndef TW_MESH_BUILDER_H
#define TW_MESH_BUILDER_H

#include <stdbool.h>
#include <twang/mesh.h>

typedef struct tw_builder {
    tw_mesh mesh;
    int64_t capacity[4]; /* vertices, edges, triangles, tetrahedra */
} tw_builder;

/* Each is TW_OUT_OF_MEMORY or TW_OK. */
tw_status tw_builder_vertex(tw_builder *builder, const double point[3]);
tw_status tw_builder_edge(tw_builder *builder, int64_t a, int64_t b);
tw_status tw_builder_triangle(tw_builder *builder, int64_t a, int64_t b, int64_t c);
tw_status tw_builder_tetrahedron(tw_builder *builder, const int64_t corners[4]);
/* Frees what was built. */
void tw_builder_free(tw_builder *builder);

/* Whole numbers that grow in the same way. */
typedef struct tw_numbers {
    int64_t *values;
    int64_t count, capacity;
} tw_numbers;
tw_status tw_numbers_add(tw_numbers *numbers, int64_t value);
void tw_numbers_free(tw_numbers *numbers);

#endif
