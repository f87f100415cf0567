/* A body into the model: its particles, and what it looks like. */
#include <stdio.h>
#include <string.h>
#include <twang/forces.h>
#include <twang/solid.h>

#include "base/allocate.h"
#include "base/fail.h"
#include "scene/scene_internal.h"

enum { BODY_NAME_SIZE = 256 };

/* Masses of a mass per particle, or of a density over the body's highest cells. */
tw_status tw_build_masses(const tw_body *body, const double *positions, double *masses,
                          tw_error *error)
{
    const tw_mesh *mesh = &body->mesh;
    double mass = tw_node_number(body->node, "mass"),
           density = tw_node_number(body->node, "density");
    for (int64_t i = 0; i < body->count; i++) masses[i] = mass;
    if (tw_node_find(body->node, "mass")) return TW_OK;
    if (mesh->tetrahedron_count)
        return tw_solid_lumped_mass(body->nodes, mesh->tetrahedron_count,
                                    body->elements ? body->elements : mesh->tetrahedra, body->count,
                                    positions, density, masses, error);
    bool sheet = mesh->triangle_count > 0;
    return tw_lump_mass(sheet ? 3 : 2, sheet ? mesh->triangle_count : mesh->edge_count,
                        sheet ? mesh->triangles : mesh->edges, mesh->vertex_count, positions,
                        density, masses, error);
}

/* v = velocity + spin x (x - centre of mass) */
static void fill_velocities(const tw_node *node, int64_t count, const double *x,
                            const double *masses, double *v)
{
    double velocity[3], spin[3], centre[3] = {0.0, 0.0, 0.0}, mass = 0.0;
    tw_node_numbers(node, "velocity", 3, velocity);
    tw_node_numbers(node, "spin", 3, spin);
    for (int64_t i = 0; i < count; i++) {
        mass += masses[i];
        for (int k = 0; k < 3; k++) centre[k] += masses[i] * x[3 * i + k];
    }
    for (int k = 0; k < 3; k++) centre[k] /= mass;
    for (int64_t i = 0; i < count; i++)
        for (int k = 0; k < 3; k++) {
            int a = (k + 1) % 3, b = (k + 2) % 3;
            v[3 * i + k] = velocity[k] + spin[a] * (x[3 * i + b] - centre[b]) -
                           spin[b] * (x[3 * i + a] - centre[a]);
        }
}

static tw_status add_particles(tw_model *model, tw_body *body, tw_error *error)
{
    const double *x = body->mesh.vertices;
    double *velocities = TW_NEW_ARRAY(3 * body->count, double),
           *masses = TW_NEW_ARRAY(body->count, double);
    tw_status status = velocities && masses ? TW_OK : tw_fail_plain(error, TW_OUT_OF_MEMORY);
    if (status == TW_OK) status = tw_build_masses(body, x, masses, error);
    if (status == TW_OK) {
        fill_velocities(body->node, body->count, x, masses, velocities);
        status =
            tw_model_add_particles(model, body->count, x, velocities, masses, &body->first, error);
    }
    tw_release(velocities);
    tw_release(masses);
    return status;
}

static int64_t *shifted(int64_t count, const int64_t *indices, int64_t first)
{
    int64_t *copy = TW_NEW_ARRAY(count, int64_t);
    for (int64_t i = 0; copy && i < count; i++) copy[i] = first + indices[i];
    return copy;
}

/* The mass of the elements spread over them, in place of the same mass at their particles. */
static tw_status add_consistent_mass(tw_model *model, const tw_body *body, tw_error *error)
{
    int64_t count = body->mesh.tetrahedron_count;
    const int64_t *own = body->elements ? body->elements : body->mesh.tetrahedra;
    int64_t *elements = shifted(body->nodes * count, own, body->first);
    double *masses = TW_NEW_ARRAY(count, double);
    tw_status status = elements && masses ? TW_OK : tw_fail_plain(error, TW_OUT_OF_MEMORY);
    if (status == TW_OK)
        status = tw_solid_element_mass(body->nodes, count, own, body->count, body->mesh.vertices,
                                       tw_node_number(body->node, "density"), masses, error);
    if (status == TW_OK)
        status = tw_model_add_consistent_mass(model, body->nodes, count, elements, masses, error);
    tw_release(elements);
    tw_release(masses);
    return status;
}

/* The surface of the file, face for face, every vertex of it carried by the tetrahedron it lies in. */
static tw_status add_surface(const tw_body *body, tw_embedding *embedding, tw_display_surface *out,
                             tw_error *error)
{
    const tw_mesh *surface = &body->surface;
    const tw_mesh_faces *faces = &surface->faces;
    tw_status status = tw_embedding_create(&body->mesh, surface->vertex_count, surface->vertices,
                                           embedding, error);
    if (status != TW_OK) return status;
    for (int64_t i = 0; i < 4 * embedding->count; i++) embedding->corners[i] += body->first;
    *out = (tw_display_surface){.vertex_count = embedding->count,
                                .carriers = embedding->corners,
                                .weights = embedding->weights,
                                .face_count = surface->triangle_count,
                                .corners = surface->triangles,
                                .texture_count = faces->texture_count,
                                .texture = faces->texture,
                                .edge_count = surface->edge_count,
                                .edges = surface->edges,
                                .statement_count = faces->statement_count,
                                .statement_face = faces->statement_face,
                                .statement_end = faces->statement_end,
                                .statements = faces->statements};
    if (faces->count == 0) return TW_OK;
    out->face_count = faces->count;
    out->face_start = faces->start;
    out->corners = faces->corners;
    out->corner_texture = faces->corner_texture;
    return TW_OK;
}

/* What the body is called in files: its name, else the file it comes from without folders and suffix, else its kind. */
static void name_body(const tw_node *node, char name[BODY_NAME_SIZE])
{
    const char *given = tw_node_find(node, "name") ? tw_node_text(node, "name") : NULL;
    const char *file = tw_node_find(node, "file") ? tw_node_text(node, "file") : NULL;
    if (given || !file) {
        snprintf(name, BODY_NAME_SIZE, "%s", given ? given : tw_node_text(node, "kind"));
        return;
    }
    const char *slash = strrchr(file, '/'), *stem = slash ? slash + 1 : file,
               *dot = strrchr(stem, '.');
    snprintf(name, BODY_NAME_SIZE, "%.*s",
             dot && dot > stem ? (int)(dot - stem) : (int)strlen(stem), stem);
}

static tw_status add_display(tw_model *model, const tw_body *body, tw_error *error)
{
    const tw_mesh *mesh = &body->mesh;
    int64_t *edges = shifted(2 * mesh->edge_count, mesh->edges, body->first);
    int64_t *triangles = shifted(3 * mesh->triangle_count, mesh->triangles, body->first);
    int64_t *tetrahedra = shifted(4 * mesh->tetrahedron_count, mesh->tetrahedra, body->first);
    char name[BODY_NAME_SIZE];
    name_body(body->node, name);
    tw_display display = {.name = name,
                          .first = body->first,
                          .count = body->count,
                          .edge_count = mesh->edge_count,
                          .edges = edges,
                          .triangle_count = mesh->triangle_count,
                          .triangles = triangles,
                          .tetrahedron_count = mesh->tetrahedron_count,
                          .tetrahedra = tetrahedra};
    tw_embedding embedding = {0};
    tw_status status =
        edges && triangles && tetrahedra ? TW_OK : tw_fail_plain(error, TW_OUT_OF_MEMORY);
    if (status == TW_OK && body->surface.vertex_count)
        status = add_surface(body, &embedding, &display.surface, error);
    if (status == TW_OK) status = tw_model_add_display(model, &display, error);
    tw_embedding_free(&embedding);
    tw_release(edges);
    tw_release(triangles);
    tw_release(tetrahedra);
    return status;
}

/* Ten-node elements: a vertex in the middle of every edge, after those that are there. */
static tw_status refine(tw_body *body, tw_error *error)
{
    tw_mesh *mesh = &body->mesh, larger = {0};
    int64_t count = mesh->tetrahedron_count, edge_count = 0;
    int64_t *edges = TW_NEW_ARRAY(12 * count, int64_t);
    body->elements = TW_NEW_ARRAY(10 * count, int64_t);
    tw_status status = edges && body->elements ? TW_OK : tw_fail_plain(error, TW_OUT_OF_MEMORY);
    if (status == TW_OK)
        status = tw_solid_quadratic(mesh->vertex_count, count, mesh->tetrahedra, body->elements,
                                    edges, &edge_count, error);
    if (status == TW_OK)
        status = tw_mesh_allocate(&larger, mesh->vertex_count + edge_count, 0, 0, count, error);
    if (status == TW_OK) {
        memcpy(larger.tetrahedra, mesh->tetrahedra, 4 * (size_t)count * sizeof(int64_t));
        memcpy(larger.vertices, mesh->vertices, 3 * (size_t)mesh->vertex_count * sizeof(double));
        double *middle = larger.vertices + 3 * mesh->vertex_count;
        for (int64_t i = 0; i < 3 * edge_count; i++)
            middle[i] = 0.5 * (mesh->vertices[3 * edges[i / 3 * 2] + i % 3] +
                               mesh->vertices[3 * edges[i / 3 * 2 + 1] + i % 3]);
        tw_mesh_free(mesh);
        *mesh = larger;
        body->nodes = 10;
    }
    tw_release(edges);
    return status;
}

tw_status tw_build_body(tw_model *model, tw_body *body, tw_error *error)
{
    tw_status status = tw_build_geometry(body, error);
    body->nodes = 4;
    if (status == TW_OK && tw_node_number(body->node, "order") == 2.0) status = refine(body, error);
    if (status != TW_OK) return status;
    body->count = body->mesh.vertex_count;
    status = add_particles(model, body, error);
    if (status == TW_OK && strcmp(tw_node_text(body->node, "inertia"), "consistent") == 0)
        status = add_consistent_mass(model, body, error);
    if (status == TW_OK) status = tw_build_material(model, body, error);
    return status == TW_OK ? add_display(model, body, error) : status;
}
