/* What holds a body together: springs along edges, springs to face centres, finite elements. */
#include <math.h>
#include <string.h>
#include <twang/forces.h>
#include <twang/solid.h>

#include "base/allocate.h"
#include "base/fail.h"
#include "scene/scene_internal.h"

/* Springs along edges, relaxed as they are. */
typedef struct springs {
    int64_t count;
    const int64_t *edges;    /* in the body's own numbering */
    const double *stiffness; /* of each; NULL: uniform */
    double uniform;
} springs;

static double edge_length(const tw_mesh *mesh, const int64_t *ends)
{
    double sum = 0.0;
    for (int k = 0; k < 3; k++) {
        double d = mesh->vertices[3 * ends[1] + k] - mesh->vertices[3 * ends[0] + k];
        sum += d * d;
    }
    return sqrt(sum);
}

/* pull k L (e + c e^3) = k d + (c k / L^2) d^3 */
static tw_status add_springs(tw_model *model, const tw_body *body, const springs *s,
                             tw_error *error)
{
    double hardening = tw_node_number(body->node, "hardening");
    int64_t *ends = TW_NEW_ARRAY(2 * s->count, int64_t);
    double *k = TW_NEW_ARRAY(s->count, double), *cubic = TW_NEW_ARRAY(s->count, double);
    tw_status status = ends && k && cubic ? TW_OK : tw_fail_plain(error, TW_OUT_OF_MEMORY);
    for (int64_t i = 0; status == TW_OK && i < 2 * s->count; i++)
        ends[i] = body->first + s->edges[i];
    for (int64_t e = 0; status == TW_OK && e < s->count; e++) {
        double length = edge_length(&body->mesh, s->edges + 2 * e);
        k[e] = s->stiffness ? s->stiffness[e] : s->uniform;
        cubic[e] = hardening * k[e] / (length * length);
    }
    if (status == TW_OK)
        status = hardening > 0.0
                     ? tw_model_add_cubic_springs(model, s->count, ends, k, cubic, NULL, error)
                     : tw_model_add_springs(model, s->count, ends, k, NULL, error);
    tw_release(ends);
    tw_release(k);
    tw_release(cubic);
    return status;
}

/* From each corner of a tetrahedron to the centre of the face opposite. */
static tw_status add_diagonals(tw_model *model, const tw_body *body, tw_error *error)
{
    int64_t count = 4 * body->mesh.tetrahedron_count;
    int64_t *corners = TW_NEW_ARRAY(4 * count, int64_t);
    double *stiffness = TW_NEW_ARRAY(count, double);
    tw_status status = corners && stiffness ? TW_OK : tw_fail_plain(error, TW_OUT_OF_MEMORY);
    for (int64_t i = 0; status == TW_OK && i < count; i++) {
        const int64_t *t = body->mesh.tetrahedra + i / 4 * 4;
        for (int k = 0; k < 4; k++) corners[4 * i + k] = body->first + t[(i + k) % 4];
        stiffness[i] = tw_node_number(body->node, "diagonal");
    }
    if (status == TW_OK)
        status = tw_model_add_face_springs(model, count, corners, stiffness, NULL, error);
    tw_release(corners);
    tw_release(stiffness);
    return status;
}

static tw_status build_spring_solid(tw_model *model, const tw_body *body, tw_error *error)
{
    int64_t *edges = NULL, count = 0;
    tw_status status = tw_mesh_unique_edges(&body->mesh, &edges, &count, error);
    if (status == TW_OK)
        status = add_springs(
            model, body, &(springs){count, edges, NULL, tw_node_number(body->node, "stiffness")},
            error);
    tw_mesh_free_indices(edges);
    bool diagonals = tw_node_find(body->node, "diagonal") != NULL;
    return status == TW_OK && diagonals ? add_diagonals(model, body, error) : status;
}

static tw_status build_elements(tw_model *model, const tw_body *body, tw_material law,
                                tw_error *error)
{
    tw_solid_material material = tw_solid_material_default();
    material.law = law == TW_MATERIAL_LINEAR         ? TW_SOLID_LINEAR
                   : law == TW_MATERIAL_COROTATIONAL ? TW_SOLID_COROTATIONAL
                                                     : TW_SOLID_NEO_HOOKEAN;
    material.youngs_modulus = tw_node_number(body->node, "youngs_modulus");
    if (tw_node_find(body->node, "poisson_ratio"))
        material.poisson_ratio = tw_node_number(body->node, "poisson_ratio");
    int64_t count = body->mesh.tetrahedron_count;
    const int64_t *own = body->elements ? body->elements : body->mesh.tetrahedra;
    int64_t *elements = TW_NEW_ARRAY(body->nodes * count, int64_t);
    if (!elements) return tw_fail_plain(error, TW_OUT_OF_MEMORY);
    for (int64_t i = 0; i < body->nodes * count; i++) elements[i] = body->first + own[i];
    tw_status status =
        tw_model_add_tetrahedra(model, body->nodes, count, elements, NULL, &material, error);
    tw_release(elements);
    return status;
}

static tw_status build_cloth(tw_model *model, const tw_body *body, tw_error *error)
{
    static const char *const keys[] = {"stiffness", "shear", "bending"};
    tw_cloth cloth = {.columns = tw_node_integer(body->node, "columns"),
                      .rows = tw_node_integer(body->node, "rows")};
    tw_status status = TW_OK;
    for (int group = 0; group < TW_CLOTH_GROUPS && status == TW_OK; group++) {
        int64_t *edges = NULL, count = 0;
        status = tw_cloth_edges(&cloth, (tw_cloth_group)group, &edges, &count, error);
        if (status == TW_OK)
            status = add_springs(
                model, body,
                &(springs){count, edges, NULL, tw_node_number(body->node, keys[group])}, error);
        tw_release(edges);
    }
    return status;
}

/* Stiffness of each girder: by the height of its middle. */
static tw_status girder_stiffness(const tw_body *body, double **out, tw_error *error)
{
    const tw_mesh *mesh = &body->mesh;
    double *stiffness = *out = TW_NEW_ARRAY(mesh->edge_count, double);
    if (!stiffness) return tw_fail_plain(error, TW_OUT_OF_MEMORY);
    double lower[3], upper[3];
    tw_mesh_bounds(mesh, lower, upper);
    double limit = lower[2] + tw_node_number(body->node, "below") * (upper[2] - lower[2]);
    double above = tw_node_number(body->node, "stiffness"),
           below = tw_node_number(body->node, "stiffness_below");
    for (int64_t e = 0; e < mesh->edge_count; e++) {
        const int64_t *ends = mesh->edges + 2 * e;
        double middle = 0.5 * (mesh->vertices[3 * ends[0] + 2] + mesh->vertices[3 * ends[1] + 2]);
        stiffness[e] = middle < limit ? below : above;
    }
    return TW_OK;
}

static tw_status add_warped_network(tw_model *model, const tw_body *body, const double *stiffness,
                                    tw_error *error)
{
    const tw_mesh *mesh = &body->mesh;
    int64_t *ends = TW_NEW_ARRAY(2 * mesh->edge_count, int64_t);
    for (int64_t i = 0; ends && i < 2 * mesh->edge_count; i++)
        ends[i] = body->first + mesh->edges[i];
    tw_status status = ends ? tw_model_add_warped_network(model, mesh->edge_count, ends, stiffness,
                                                          NULL, NULL, error)
                            : tw_fail_plain(error, TW_OUT_OF_MEMORY);
    tw_release(ends);
    return status;
}

static tw_status build_tower(tw_model *model, const tw_body *body, tw_error *error)
{
    double *stiffness = NULL;
    const tw_mesh *mesh = &body->mesh;
    bool warping = strcmp(tw_node_text(body->node, "material"), "warping") == 0;
    tw_status status = girder_stiffness(body, &stiffness, error);
    if (status == TW_OK)
        status =
            warping ? add_warped_network(model, body, stiffness, error)
                    : add_springs(model, body,
                                  &(springs){mesh->edge_count, mesh->edges, stiffness, 0.0}, error);
    tw_release(stiffness);
    return status;
}

tw_status tw_build_material(tw_model *model, const tw_body *body, tw_error *error)
{
    const char *kind = tw_node_text(body->node, "kind");
    if (strcmp(kind, "cloth") == 0) return build_cloth(model, body, error);
    if (strcmp(kind, "tower") == 0) return build_tower(model, body, error);
    if (strcmp(kind, "rope") == 0)
        return add_springs(model, body,
                           &(springs){body->mesh.edge_count, body->mesh.edges, NULL,
                                      tw_node_number(body->node, "stiffness")},
                           error);
    tw_material material = (tw_material)tw_node_number(body->node, "material");
    return material == TW_MATERIAL_SPRINGS ? build_spring_solid(model, body, error)
                                           : build_elements(model, body, material, error);
}
