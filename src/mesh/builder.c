#include "mesh/builder.h"

#include <string.h>

#include "base/allocate.h"

/* Room for `more` items of `size` bytes after `count` of them: an array of at least 64, then twice the one before. */
static tw_status make_room(void **items, int64_t count, int64_t more, int64_t *capacity,
                           size_t size)
{
    if (more <= *capacity - count) return TW_OK;
    int64_t wanted = *capacity > 0 ? 2 * *capacity : 64;
    while (wanted - count < more) wanted *= 2;
    void *larger = tw_allocate((size_t)wanted, size);
    if (!larger) return TW_OUT_OF_MEMORY;
    if (count > 0) memcpy(larger, *items, (size_t)count * size);
    tw_release(*items);
    *items = larger;
    *capacity = wanted;
    return TW_OK;
}

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

/* ---- faces ---- */

static tw_status list_face(tw_builder *builder, int64_t count, const int64_t *corners,
                           const int64_t *textures)
{
    tw_status status = TW_OK;
    for (int64_t i = 0; i < count && status == TW_OK; i++) {
        status = tw_numbers_add(&builder->corners, corners[i]);
        if (status == TW_OK)
            status = tw_numbers_add(&builder->corner_texture, textures ? textures[i] : -1);
    }
    return status == TW_OK ? tw_numbers_add(&builder->start, builder->corners.count) : status;
}

/* The triangles so far, as the list's first faces. */
static tw_status begin_list(tw_builder *builder)
{
    tw_status status = tw_numbers_add(&builder->start, 0);
    for (int64_t i = 0; i < builder->mesh.triangle_count && status == TW_OK; i++)
        status = list_face(builder, 3, builder->mesh.triangles + 3 * i, NULL);
    return status;
}

static bool is_more_than_triangle(int64_t count, const int64_t *textures)
{
    bool more = count > 3;
    for (int64_t i = 0; textures && i < count; i++) more = more || textures[i] >= 0;
    return more;
}

tw_status tw_builder_face(tw_builder *builder, int64_t count, const int64_t *corners,
                          const int64_t *textures)
{
    tw_status status = TW_OK;
    if (builder->start.count == 0 && is_more_than_triangle(count, textures))
        status = begin_list(builder);
    if (status == TW_OK && builder->start.count > 0)
        status = list_face(builder, count, corners, textures);
    for (int64_t i = 2; i < count && status == TW_OK; i++) {
        const int64_t triangle[3] = {corners[0], corners[i - 1], corners[i]};
        status = add_cell(3, triangle, &builder->mesh.triangles, &builder->mesh.triangle_count,
                          &builder->capacity[2]);
    }
    return status;
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

/* What ends lines or text, and the backslash that joins two lines, become blanks. */
static void copy_line(char *to, const char *text, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        bool joins =
            text[i] == '\\' && i + 1 < size && (text[i + 1] == '\n' || text[i + 1] == '\r');
        to[i] = joins || (unsigned char)text[i] < 0x20 ? ' ' : text[i];
    }
}

tw_status tw_builder_statement(tw_builder *builder, const char *text, size_t size)
{
    void *items = builder->statements;
    int64_t *end = &builder->statement_size, face = builder->mesh.triangle_count;
    if (builder->start.count > 0) face = builder->start.count - 1;
    if (builder->mesh.vertex_count == 0) face = -1;
    tw_status status = make_room(&items, *end, (int64_t)size, &builder->statement_capacity, 1);
    builder->statements = items;
    if (status == TW_OK) status = tw_numbers_add(&builder->statement_face, face);
    if (status == TW_OK) status = tw_numbers_add(&builder->statement_end, *end + (int64_t)size);
    if (status != TW_OK) return status;
    copy_line(builder->statements + *end, text, size);
    *end += (int64_t)size;
    return TW_OK;
}

void tw_builder_finish(tw_builder *builder, tw_mesh *mesh)
{
    if (builder->texture_count == 0) tw_numbers_free(&builder->corner_texture);
    *mesh = builder->mesh;
    mesh->faces = (tw_mesh_faces){.count = builder->start.count > 0 ? builder->start.count - 1 : 0,
                                  .start = builder->start.values,
                                  .corners = builder->corners.values,
                                  .corner_texture = builder->corner_texture.values,
                                  .texture_count = builder->texture_count,
                                  .texture = builder->texture,
                                  .statement_count = builder->statement_face.count,
                                  .statement_face = builder->statement_face.values,
                                  .statement_end = builder->statement_end.values,
                                  .statements = builder->statements};
    *builder = (tw_builder){0};
}

void tw_builder_free(tw_builder *builder)
{
    tw_mesh mesh;
    tw_builder_finish(builder, &mesh);
    tw_mesh_free(&mesh);
}
