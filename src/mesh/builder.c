#include "mesh/builder.h"

#include <string.h>

#include "base/allocate.h"

/* Room for one item more of `size` bytes: an array of at least 64, then twice the one before. */
static tw_status make_room(void **items, int64_t count, int64_t *capacity, size_t size)
{
    if (count < *capacity) return TW_OK;
    int64_t wanted = *capacity > 0 ? 2 * *capacity : 64;
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
    tw_status status = make_room(&items, mesh->vertex_count, &builder->capacity[0], 3 * sizeof(double));
    mesh->vertices = items;
    if (status == TW_OK) memcpy(mesh->vertices + 3 * mesh->vertex_count++, point, 3 * sizeof(double));
    return status;
}

static tw_status add_cell(int width, const int64_t *corners, int64_t **cells, int64_t *count, int64_t *capacity)
{
    void *items = *cells;
    tw_status status = make_room(&items, *count, capacity, (size_t)width * sizeof(int64_t));
    *cells = items;
    if (status == TW_OK) memcpy(*cells + width * (*count)++, corners, (size_t)width * sizeof(int64_t));
    return status;
}

tw_status tw_builder_edge(tw_builder *builder, int64_t a, int64_t b)
{
    const int64_t corners[2] = {a, b};
    return add_cell(2, corners, &builder->mesh.edges, &builder->mesh.edge_count, &builder->capacity[1]);
}

tw_status tw_builder_triangle(tw_builder *builder, int64_t a, int64_t b, int64_t c)
{
    const int64_t corners[3] = {a, b, c};
    return add_cell(3, corners, &builder->mesh.triangles, &builder->mesh.triangle_count, &builder->capacity[2]);
}

tw_status tw_builder_tetrahedron(tw_builder *builder, const int64_t corners[4])
{
    return add_cell(4, corners, &builder->mesh.tetrahedra, &builder->mesh.tetrahedron_count, &builder->capacity[3]);
}

void tw_builder_free(tw_builder *builder)
{
    tw_mesh_free(&builder->mesh);
    *builder = (tw_builder){0};
}

tw_status tw_numbers_add(tw_numbers *numbers, int64_t value)
{
    void *items = numbers->values;
    tw_status status = make_room(&items, numbers->count, &numbers->capacity, sizeof value);
    numbers->values = items;
    if (status == TW_OK) numbers->values[numbers->count++] = value;
    return status;
}

void tw_numbers_free(tw_numbers *numbers)
{
    tw_release(numbers->values);
    *numbers = (tw_numbers){0};
}
