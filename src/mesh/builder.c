/* A mesh that grows while a file is read. */
#include <string.h>

#include "base/allocate.h"
#include "base/fail.h"
#include "mesh/mesh_internal.h"

/* Makes room for `more` items of `size` bytes after `count` of them. The array begins
 * with 64 items and doubles. */
static tw_status make_room(void **items, int64_t count, int64_t more, int64_t *capacity,
                           size_t size)
{
    if (more <= *capacity - count) return TW_OK;

    /* Doubling keeps the time of all additions linear in their number. */
    int64_t wanted = *capacity > 0 ? 2 * *capacity : 64;
    while (wanted - count < more) wanted *= 2;

    /* Move the items to the larger array. */
    void *larger = tw_allocate((size_t)wanted, size);
    if (!larger) return TW_OUT_OF_MEMORY;
    if (count > 0) memcpy(larger, *items, (size_t)count * size);
    tw_release(*items);
    *items = larger;
    *capacity = wanted;
    return TW_OK;
}

/* ---- numbers ---- */

tw_status tw_numbers_add(tw_numbers *numbers, int64_t value)
{
    void *items = numbers->values;
    tw_status status = make_room(&items, numbers->count, 1, &numbers->capacity, sizeof value);
    numbers->values = items;
    if (status == TW_OK) numbers->values[numbers->count++] = value;
    return status;
}

void tw_numbers_free(tw_numbers *numbers)
{
    tw_release(numbers->values);
    *numbers = (tw_numbers){0};
}

/* ---- vertices and cells ---- */

tw_status tw_builder_vertex(tw_builder *builder, const double point[3])
{
    tw_mesh *mesh = &builder->mesh;
    void *items = mesh->vertices;
    tw_status status =
        make_room(&items, mesh->vertex_count, 1, &builder->capacity[0], 3 * sizeof(double));
    mesh->vertices = items;

    if (status == TW_OK)
        memcpy(mesh->vertices + 3 * mesh->vertex_count++, point, 3 * sizeof(double));
    return status;
}

static tw_status add_cell(int width, const int64_t *corners, int64_t **cells, int64_t *count,
                          int64_t *capacity)
{
    void *items = *cells;
    tw_status status = make_room(&items, *count, 1, capacity, (size_t)width * sizeof(int64_t));
    *cells = items;

    if (status == TW_OK)
        memcpy(*cells + width * (*count)++, corners, (size_t)width * sizeof(int64_t));
    return status;
}

tw_status tw_builder_edge(tw_builder *builder, int64_t a, int64_t b)
{
    const int64_t corners[2] = {a, b};
    return add_cell(2, corners, &builder->mesh.edges, &builder->mesh.edge_count,
                    &builder->capacity[1]);
}

tw_status tw_builder_tetrahedron(tw_builder *builder, const int64_t corners[4])
{
    return add_cell(4, corners, &builder->mesh.tetrahedra, &builder->mesh.tetrahedron_count,
                    &builder->capacity[3]);
}

/* ---- faces ---- */

/* Appends a face to the list of polygons. */
static tw_status list_face(tw_builder *builder, int64_t count, const int64_t *corners,
                           const int64_t *textures)
{
    for (int64_t i = 0; i < count; i++) {
        int64_t texture = textures ? textures[i] : -1;
        TW_TRY(tw_numbers_add(&builder->corners, corners[i]));
        TW_TRY(tw_numbers_add(&builder->corner_texture, texture));
    }
    return tw_numbers_add(&builder->start, builder->corners.count);
}

/* Begins the list of polygons with the triangles that were added so far. */
static tw_status begin_list(tw_builder *builder)
{
    TW_TRY(tw_numbers_add(&builder->start, 0));
    for (int64_t i = 0; i < builder->mesh.triangle_count; i++)
        TW_TRY(list_face(builder, 3, builder->mesh.triangles + 3 * i, NULL));
    return TW_OK;
}

/* Whether a face has more corners than a triangle, or texture coordinates. */
static bool is_more_than_triangle(int64_t count, const int64_t *textures)
{
    bool more = count > 3;
    for (int64_t i = 0; textures && i < count; i++) more = more || textures[i] >= 0;
    return more;
}

tw_status tw_builder_face(tw_builder *builder, int64_t count, const int64_t *corners,
                          const int64_t *textures)
{
    /* The list of polygons begins with the first face that is more than a plain triangle. */
    if (builder->start.count == 0 && is_more_than_triangle(count, textures))
        TW_TRY(begin_list(builder));
    if (builder->start.count > 0) TW_TRY(list_face(builder, count, corners, textures));

    /* Cut the polygon into a fan of triangles around its first corner. */
    for (int64_t i = 2; i < count; i++) {
        const int64_t triangle[3] = {corners[0], corners[i - 1], corners[i]};
        TW_TRY(add_cell(3, triangle, &builder->mesh.triangles, &builder->mesh.triangle_count,
                        &builder->capacity[2]));
    }

    return TW_OK;
}

tw_status tw_builder_triangle(tw_builder *builder, int64_t a, int64_t b, int64_t c)
{
    const int64_t corners[3] = {a, b, c};
    return tw_builder_face(builder, 3, corners, NULL);
}

tw_status tw_builder_texture(tw_builder *builder, const double coordinates[2])
{
    void *items = builder->texture;
    tw_status status = make_room(&items, builder->texture_count, 1, &builder->texture_capacity,
                                 2 * sizeof *coordinates);
    builder->texture = items;

    if (status == TW_OK)
        memcpy(builder->texture + 2 * builder->texture_count++, coordinates,
               2 * sizeof *coordinates);

    return status;
}

/* ---- statements ---- */

/* Copies a line. Control characters, and the backslash that joins two lines, become blanks. */
static void copy_line(char *to, const char *text, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        bool joins =
            text[i] == '\\' && i + 1 < size && (text[i + 1] == '\n' || text[i + 1] == '\r');
        to[i] = joins || (unsigned char)text[i] < 0x20 ? ' ' : text[i];
    }
}

/* The number of the next face; -1 as long as there are no vertices. */
static int64_t next_face(const tw_builder *builder)
{
    if (builder->mesh.vertex_count == 0) return -1;
    if (builder->start.count > 0) return builder->start.count - 1;
    return builder->mesh.triangle_count;
}

tw_status tw_builder_statement(tw_builder *builder, const char *text, size_t size)
{
    int64_t *end = &builder->statement_size;
    void *items = builder->statements;
    tw_status status = make_room(&items, *end, (int64_t)size, &builder->statement_capacity, 1);

    builder->statements = items;
    if (status != TW_OK) return status;

    /* A statement is a face, an end in the text, and its bytes. */
    TW_TRY(tw_numbers_add(&builder->statement_face, next_face(builder)));
    TW_TRY(tw_numbers_add(&builder->statement_end, *end + (int64_t)size));
    copy_line(builder->statements + *end, text, size);
    *end += (int64_t)size;
    return TW_OK;
}

/* ---- the end ---- */

void tw_builder_finish(tw_builder *builder, tw_mesh *mesh)
{
    /* Without texture coordinates all entries of corner_texture are -1, which says nothing. */
    if (builder->texture_count == 0) tw_numbers_free(&builder->corner_texture);

    *mesh = builder->mesh;
    mesh->faces = (tw_mesh_faces){.start = builder->start.values,
                                  .corners = builder->corners.values,
                                  .corner_texture = builder->corner_texture.values,
                                  .texture_count = builder->texture_count,
                                  .texture = builder->texture,
                                  .statement_count = builder->statement_face.count,
                                  .statement_face = builder->statement_face.values,
                                  .statement_end = builder->statement_end.values,
                                  .statements = builder->statements};
    if (builder->start.count > 0) mesh->faces.count = builder->start.count - 1;
    *builder = (tw_builder){0};
}

void tw_builder_free(tw_builder *builder)
{
    tw_mesh mesh;
    tw_builder_finish(builder, &mesh);
    tw_mesh_free(&mesh);
}
