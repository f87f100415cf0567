/* Adds a body to the model: its particles, what holds them together, and what it looks like. */
#include <stdio.h>
#include <string.h>
#include <twang/forces.h>
#include <twang/plasticity.h>
#include <twang/solid.h>

#include "base/allocate.h"
#include "base/fail.h"
#include "mesh/bodies.h"
#include "model/rigid_velocity.h"
#include "scene/scene_internal.h"

enum {
    LINEAR_NODES = 4,    /* of a tetrahedron: its corners */
    QUADRATIC_NODES = 10 /* its corners and the middles of its edges */
};

int64_t *tw_shift_indices(int64_t count, const int64_t *indices, int64_t first)
{
    int64_t *shifted = TW_NEW_ARRAY(count, int64_t);
    for (int64_t i = 0; shifted && i < count; i++) shifted[i] = first + indices[i];
    return shifted;
}

void tw_body_release(tw_body *body)
{
    tw_mesh_free(&body->mesh);
    tw_mesh_free(&body->surface);
    tw_embedding_free(&body->embedding);
    tw_release(body->elements);
}

/* The elements in the body's own numbering. */
static const int64_t *elements_of(const tw_body *body)
{
    return body->elements ? body->elements : body->mesh.tetrahedra;
}

/* ---- particles ---- */

/* The same mass for every particle, or the mass of the body's cells (tetrahedra, else triangles,
 * else edges) shared by their corners. */
static tw_status fill_masses(const tw_body *body, double *masses, tw_error *error)
{
    const tw_mesh *mesh = &body->mesh;
    double mass = tw_node_number(body->node, "mass");
    for (int64_t i = 0; i < body->count; i++) masses[i] = mass;
    if (tw_node_find(body->node, "mass")) return TW_OK;

    /* Without the key `mass` all are 0 now, and the cells add their shares. */
    double density = tw_node_number(body->node, "density");

    /* kg/m^3 of a solid, kg/m^2 of a sheet, kg/m of edges. */
    if (mesh->tetrahedron_count)
        return tw_solid_lumped_mass(body->nodes, mesh->tetrahedron_count, elements_of(body),
                                    body->count, mesh->vertices, density, masses, error);
    if (mesh->triangle_count)
        return tw_lump_mass(3, mesh->triangle_count, mesh->triangles, mesh->vertex_count,
                            mesh->vertices, density, masses, error);
    return tw_lump_mass(2, mesh->edge_count, mesh->edges, mesh->vertex_count, mesh->vertices,
                        density, masses, error);
}

static tw_status add_particles(tw_model *model, tw_body *body, tw_error *error)
{
    double *velocities = TW_NEW_ARRAY(3 * body->count, double);
    double *masses = TW_NEW_ARRAY(body->count, double);
    tw_status status = velocities && masses ? TW_OK : tw_fail_plain(error, TW_OUT_OF_MEMORY);

    /* The masses come first: the velocities refer to the centre of mass. */
    if (status == TW_OK) status = fill_masses(body, masses, error);
    if (status == TW_OK) {
        double velocity[3];
        double spin[3];
        tw_node_numbers(body->node, "velocity", 3, velocity);
        tw_node_numbers(body->node, "spin", 3, spin);
        tw_rigid_velocities(body->count, body->mesh.vertices, masses, velocity, spin, velocities);
        status = tw_model_add_particles(model, body->count, body->mesh.vertices, velocities, masses,
                                        &body->first, error);
    }

    tw_release(velocities);
    tw_release(masses);
    return status;
}

/* Spreads the mass of the elements over them, in place of the same mass at their particles. */
static tw_status add_consistent_mass(tw_model *model, const tw_body *body, tw_error *error)
{
    int64_t count = body->mesh.tetrahedron_count;
    const int64_t *own = elements_of(body);
    int64_t *elements = tw_shift_indices(body->nodes * count, own, body->first);
    double *masses = TW_NEW_ARRAY(count, double);
    tw_status status = elements && masses ? TW_OK : tw_fail_plain(error, TW_OUT_OF_MEMORY);

    /* The mass of each element, from its volume at rest. */
    if (status == TW_OK)
        status = tw_solid_element_mass(body->nodes, count, own, body->count, body->mesh.vertices,
                                       tw_node_number(body->node, "density"), masses, error);
    if (status == TW_OK)
        status = tw_model_add_consistent_mass(model, body->nodes, count, elements, masses, error);

    tw_release(elements);
    tw_release(masses);
    return status;
}

/* ---- looks ---- */

/* Every vertex of the surface of a sheet's file is one particle of the sheet. */
static tw_status embed_in_sheet(tw_body *body, tw_error *error)
{
    enum { CARRIERS = 4 };
    int64_t count = body->surface.vertex_count;
    int64_t *map = NULL;
    TW_TRY(tw_sheet_map(&body->mesh, &body->surface, &map, error));

    tw_embedding *out = &body->embedding;
    out->count = count;
    out->corners = TW_NEW_ARRAY(CARRIERS * count, int64_t);
    out->weights = TW_NEW_ARRAY(CARRIERS * count, double);
    bool good = out->corners && out->weights;

    /* An embedded point has four carriers; the first one carries it alone. */
    for (int64_t i = 0; good && i < CARRIERS * count; i++) {
        out->corners[i] = map[i / CARRIERS];
        out->weights[i] = i % CARRIERS == 0 ? 1.0 : 0.0;
    }

    tw_release(map);
    return good ? TW_OK : tw_fail_plain(error, TW_OUT_OF_MEMORY);
}

/* Every vertex of the surface of the file is carried by the tetrahedron it lies in, or is a particle
 * of a sheet. */
static tw_status embed_surface(tw_body *body, tw_error *error)
{
    const tw_mesh *surface = &body->surface;
    if (surface->vertex_count == 0) return TW_OK;
    if (body->mesh.tetrahedron_count == 0) return embed_in_sheet(body, error);
    return tw_embedding_create(&body->mesh, surface->vertex_count, surface->vertices,
                               &body->embedding, error);
}

/* The surface of the file, face for face, carried by `carriers`: those of the embedding in the
 * numbering of the model. */
static tw_display_surface surface_as_in_file(const tw_body *body, const int64_t *carriers)
{
    const tw_mesh *surface = &body->surface;
    const tw_mesh_faces *faces = &surface->faces;
    tw_display_surface out = (tw_display_surface){.vertex_count = body->embedding.count,
                                                  .carriers = carriers,
                                                  .weights = body->embedding.weights,
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
    if (faces->count == 0) return out;

    /* The file has polygons: they are shown in place of the triangles made of them. */
    out.face_count = faces->count;
    out.face_start = faces->start;
    out.corners = faces->corners;
    out.corner_texture = faces->corner_texture;
    return out;
}

void tw_name_body(const tw_node *node, char name[TW_BODY_NAME_SIZE])
{
    if (tw_node_find(node, "name") || !tw_node_find(node, "file")) {
        const char *key = tw_node_find(node, "name") ? "name" : "kind";
        snprintf(name, TW_BODY_NAME_SIZE, "%s", tw_node_text(node, key));
        return;
    }

    const char *file = tw_node_text(node, "file");
    const char *slash = strrchr(file, '/');
    const char *stem = slash ? slash + 1 : file;
    const char *dot = strrchr(stem, '.');
    size_t length = dot && dot > stem ? (size_t)(dot - stem) : strlen(stem);
    snprintf(name, TW_BODY_NAME_SIZE, "%.*s", (int)length, stem);
}

static tw_status add_display(tw_model *model, const tw_body *body, tw_error *error)
{
    /* The cells in the numbering of the model. */
    const tw_mesh *mesh = &body->mesh;
    int64_t *edges = tw_shift_indices(2 * mesh->edge_count, mesh->edges, body->first);
    int64_t *triangles = tw_shift_indices(3 * mesh->triangle_count, mesh->triangles, body->first);
    int64_t *tetrahedra =
        tw_shift_indices(4 * mesh->tetrahedron_count, mesh->tetrahedra, body->first);
    const tw_embedding *embedding = &body->embedding;
    int64_t *carriers = tw_shift_indices(4 * embedding->count, embedding->corners, body->first);
    bool good = edges && triangles && tetrahedra && carriers;
    tw_status status = good ? TW_OK : tw_fail_plain(error, TW_OUT_OF_MEMORY);

    char name[TW_BODY_NAME_SIZE];
    tw_name_body(body->node, name);
    tw_display display = {.name = name,
                          .first = body->first,
                          .count = body->count,
                          .edge_count = mesh->edge_count,
                          .edges = edges,
                          .triangle_count = mesh->triangle_count,
                          .triangles = triangles,
                          .tetrahedron_count = mesh->tetrahedron_count,
                          .tetrahedra = tetrahedra};

    /* A surface from a file is shown in place of the triangles. */
    if (embedding->count) display.surface = surface_as_in_file(body, carriers);
    if (status == TW_OK) status = tw_model_add_display(model, &display, error);

    tw_release(carriers);
    tw_release(edges);
    tw_release(triangles);
    tw_release(tetrahedra);
    return status;
}

/* ---- ten-node elements ---- */

/* Copies the mesh and puts a vertex in the middle of every edge, after the vertices that
 * are there. */
static void add_middles(const tw_mesh *mesh, int64_t edge_count, const int64_t *edges,
                        tw_mesh *larger)
{
    size_t index_count = 4 * (size_t)mesh->tetrahedron_count;
    size_t coordinate_count = 3 * (size_t)mesh->vertex_count;
    memcpy(larger->tetrahedra, mesh->tetrahedra, index_count * sizeof(int64_t));
    memcpy(larger->vertices, mesh->vertices, coordinate_count * sizeof(double));

    /* (x_a + x_b) / 2 of every edge. */
    double *middles = larger->vertices + coordinate_count;
    for (int64_t e = 0; e < edge_count; e++) {
        const double *a = mesh->vertices + 3 * edges[2 * e];
        const double *b = mesh->vertices + 3 * edges[2 * e + 1];
        for (int k = 0; k < 3; k++) middles[3 * e + k] = 0.5 * (a[k] + b[k]);
    }
}

/* Turns the tetrahedra into ten-node elements. */
static tw_status refine(tw_body *body, tw_error *error)
{
    enum { EDGES_PER_TETRAHEDRON = 6 };
    tw_mesh *mesh = &body->mesh;
    int64_t count = mesh->tetrahedron_count;
    int64_t edge_count = 0;
    int64_t *edges = TW_NEW_ARRAY(2 * EDGES_PER_TETRAHEDRON * count, int64_t);
    body->elements = TW_NEW_ARRAY(QUADRATIC_NODES * count, int64_t);
    tw_status status = edges && body->elements ? TW_OK : tw_fail_plain(error, TW_OUT_OF_MEMORY);

    /* The elements, and the edges whose middles they use. */
    if (status == TW_OK)
        status = tw_solid_quadratic(mesh->vertex_count, count, mesh->tetrahedra, body->elements,
                                    edges, &edge_count, error);

    /* The mesh with these vertices takes the place of the old one. */
    tw_mesh larger = {0};
    if (status == TW_OK)
        status = tw_mesh_allocate(&larger, mesh->vertex_count + edge_count, 0, 0, count, error);
    if (status == TW_OK) {
        add_middles(mesh, edge_count, edges, &larger);
        tw_mesh_free(mesh);
        *mesh = larger;
        body->nodes = QUADRATIC_NODES;
    }

    tw_release(edges);
    return status;
}

/* ---- the body ---- */

static tw_status make_shape(tw_body *body, const tw_body_kind *kind, tw_error *error)
{
    tw_status status = kind->make_shape(body, error);
    if (status == TW_UNSUPPORTED)
        return tw_fail_at(error, body->node->mark, "%s has more than 2^31 - 1 particles",
                          body->path);
    return status == TW_OK ? tw_place_body(body, error) : status;
}

tw_status tw_build_body(tw_model *model, tw_body *body, tw_error *error)
{
    const tw_body_kind *kind = tw_body_kind_of(body->node);
    if (kind->build) return kind->build(model, body, error);

    /* The shape, at its place. Its vertices become the particles. */
    TW_TRY(make_shape(body, kind, error));
    TW_TRY(embed_surface(body, error));
    TW_TRY(tw_check_body_cost(body, (double)body->mesh.vertex_count, error));
    body->nodes = LINEAR_NODES;
    if (tw_node_number(body->node, "order") == 2.0) TW_TRY(refine(body, error));
    body->count = body->mesh.vertex_count;
    TW_TRY(add_particles(model, body, error));

    /* Inertia and elasticity of the elements, then what they look like. */
    bool is_consistent = strcmp(tw_node_text(body->node, "inertia"), "consistent") == 0;
    if (is_consistent) TW_TRY(add_consistent_mass(model, body, error));
    TW_TRY(tw_set_body_plasticity(model, body, error));
    TW_TRY(kind->add_material(model, body, error));
    TW_TRY(tw_model_set_plasticity(model, NULL, error));
    return add_display(model, body, error);
}
