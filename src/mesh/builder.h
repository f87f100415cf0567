/* A mesh that grows as a file is read: memory follows what the file holds, not what it claims to hold. */
#ifndef TW_MESH_BUILDER_H
#define TW_MESH_BUILDER_H

#include <stdbool.h>
#include <twang/mesh.h>

/* Whole numbers that grow. */
typedef struct tw_numbers {
    int64_t *values;
    int64_t count, capacity;
} tw_numbers;
tw_status tw_numbers_add(tw_numbers *numbers, int64_t value);
void tw_numbers_free(tw_numbers *numbers);

typedef struct tw_builder {
    tw_mesh mesh;        /* its faces are empty until tw_builder_finish */
    int64_t capacity[4]; /* vertices, edges, triangles, tetrahedra */
    /* the faces, as in tw_mesh_faces; `start` is empty as long as they are the triangles */
    tw_numbers start, corners, corner_texture, statement_face, statement_end;
    double *texture;
    char *statements;
    int64_t texture_count, texture_capacity, statement_size, statement_capacity;
} tw_builder;

/* Each is TW_OUT_OF_MEMORY or TW_OK. */
tw_status tw_builder_vertex(tw_builder *builder, const double point[3]);
tw_status tw_builder_edge(tw_builder *builder, int64_t a, int64_t b);
tw_status tw_builder_triangle(tw_builder *builder, int64_t a, int64_t b, int64_t c);
tw_status tw_builder_tetrahedron(tw_builder *builder, const int64_t corners[4]);
/* A polygon of `count` >= 3 corners, kept as it is and cut into triangles from its first. `textures`, one per corner,
 * may be NULL. */
tw_status tw_builder_face(tw_builder *builder, int64_t count, const int64_t *corners,
                          const int64_t *textures);
tw_status tw_builder_texture(tw_builder *builder, const double coordinates[2]);
/* A line that stands before the next face. Line ends in it become blanks. */
tw_status tw_builder_statement(tw_builder *builder, const char *text, size_t size);
/* Gives what was built to `mesh`, which is overwritten; the builder is empty then. */
void tw_builder_finish(tw_builder *builder, tw_mesh *mesh);
/* Frees what was built. */
void tw_builder_free(tw_builder *builder);

#endif
