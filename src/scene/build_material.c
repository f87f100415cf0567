/* What holds a body together: springs along edges, springs to face centres, finite elements. */
#include <math.h>
#include <string.h>
#include <twang/forces.h>
#include <twang/solid.h>

#include "base/allocate.h"
#include "base/fail.h"
#include "mesh/bodies.h"
#include "scene/scene_internal.h"

/* ---- springs along edges ---- */

/* Springs along edges, at rest as they are. */
typedef struct springs {
    int64_t count;
    const int64_t *edges;    /* in the body's own numbering */
    const double *stiffness; /* of each [N/m]; NULL: uniform */
    double uniform;          /* [N/m] */
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

/* The stiffness k of each spring, and the coefficient of its cubic term: with the hardening c, the
 * strain e = d / L and the rest length L the pull is k L (e + c e^3) = k d + (c k / L^2) d^3. */
static void fill_stiffness(const tw_body *body, const springs *s, double hardening, double *k,
                           double *cubic)
{
    for (int64_t e = 0; e < s->count; e++) {
        double length = edge_length(&body->mesh, s->edges + 2 * e);
        k[e] = s->stiffness ? s->stiffness[e] : s->uniform;
        cubic[e] = hardening * k[e] / (length * length);
    }
}

static tw_status add_springs(tw_model *model, const tw_body *body, const springs *s,
                             tw_error *error)
{
    double hardening = tw_node_number(body->node, "hardening");
    int64_t *ends = tw_shift_indices(2 * s->count, s->edges, body->first);
    double *k = TW_NEW_ARRAY(s->count, double);
    double *cubic = TW_NEW_ARRAY(s->count, double);
    tw_status status = ends && k && cubic ? TW_OK : tw_fail_plain(error, TW_OUT_OF_MEMORY);

    /* Springs without hardening are linear ones, which cost less. */
    if (status == TW_OK) fill_stiffness(body, s, hardening, k, cubic);
    if (status == TW_OK && hardening > 0.0)
        status = tw_model_add_cubic_springs(model, s->count, ends, k, cubic, NULL, error);
    else if (status == TW_OK)
        status = tw_model_add_springs(model, s->count, ends, k, NULL, error);

    tw_release(ends);
    tw_release(k);
    tw_release(cubic);
    return status;
}

/* Springs of one stiffness along the given edges. */
static tw_status add_uniform_springs(tw_model *model, const tw_body *body, int64_t count,
                                     const int64_t *edges, const char *key, tw_error *error)
{
    springs s = {.count = count, .edges = edges, .uniform = tw_node_number(body->node, key)};
    return add_springs(model, body, &s, error);
}

tw_status tw_add_links(tw_model *model, const tw_body *body, tw_error *error)
{
    const tw_mesh *mesh = &body->mesh;
    return add_uniform_springs(model, body, mesh->edge_count, mesh->edges, "stiffness", error);
}

/* The keys that give the stiffness of each group of edges of a sheet. */
static const char *const cloth_keys[TW_CLOTH_GROUPS] = {[TW_CLOTH_STRUCTURAL] = "stiffness",
                                                        [TW_CLOTH_SHEAR] = "shear",
                                                        [TW_CLOTH_BENDING] = "bending"};

tw_status tw_add_cloth(tw_model *model, const tw_body *body, tw_error *error)
{
    tw_cloth cloth = {.columns = tw_node_integer(body->node, "columns"),
                      .rows = tw_node_integer(body->node, "rows")};

    /* Each group of edges has a stiffness of its own. */
    for (int group = 0; group < TW_CLOTH_GROUPS; group++) {
        int64_t *edges = NULL;
        int64_t count = 0;
        tw_status status = tw_cloth_edges(&cloth, (tw_cloth_group)group, &edges, &count, error);
        if (status == TW_OK)
            status = add_uniform_springs(model, body, count, edges, cloth_keys[group], error);
        tw_release(edges);
        if (status != TW_OK) return status;
    }
    return TW_OK;
}

tw_status tw_add_sheet(tw_model *model, const tw_body *body, tw_error *error)
{
    tw_sheet_springs found = {0};
    tw_status status = tw_sheet_edges(&body->mesh, &body->surface, &found, error);

    /* The diagonals of polygons are as stiff as their sides where `shear` does not say otherwise. */
    for (int group = 0; status == TW_OK && group < TW_CLOTH_GROUPS; group++) {
        const char *key = cloth_keys[group];
        if (!tw_node_find(body->node, key)) key = cloth_keys[TW_CLOTH_STRUCTURAL];
        if (found.count[group] > 0)
            status = add_uniform_springs(model, body, found.count[group], found.edges[group], key,
                                         error);
    }

    tw_sheet_springs_free(&found);
    return status;
}

tw_status tw_add_cell(tw_model *model, const tw_body *body, tw_error *error)
{
    int64_t *edges = NULL;
    int64_t count = 0;
    tw_status status = tw_cell_edges(body->mesh.vertex_count, &edges, &count, error);
    if (status == TW_OK)
        status = add_uniform_springs(model, body, count, edges, "stiffness", error);
    tw_release(edges);
    return status;
}

/* ---- car ---- */

/* Springs along the edges of the triangles and along the edges of their own, and weaker ones across
 * the edges, which resist bending. */
tw_status tw_add_car(tw_model *model, const tw_body *body, tw_error *error)
{
    const tw_mesh *mesh = &body->mesh;
    int64_t *edges = NULL;
    int64_t count = 0;
    tw_status status = tw_mesh_unique_edges(mesh, &edges, &count, error);
    if (status == TW_OK)
        status = add_uniform_springs(model, body, count, edges, "stiffness", error);
    if (status == TW_OK)
        status =
            add_uniform_springs(model, body, mesh->edge_count, mesh->edges, "stiffness", error);
    tw_mesh_free_indices(edges);
    if (status != TW_OK) return status;

    /* Without the key, bending is a hundredth of the structural stiffness (Luan and Michels). */
    double bending = 0.01 * tw_node_number(body->node, "stiffness");
    if (tw_node_find(body->node, "bending")) bending = tw_node_number(body->node, "bending");
    int64_t *triangles = tw_shift_indices(3 * mesh->triangle_count, mesh->triangles, body->first);
    if (!triangles) return tw_fail_plain(error, TW_OUT_OF_MEMORY);
    status = tw_model_add_bending_springs(model, mesh->triangle_count, triangles, bending, 0.0,
                                          NULL, error);
    tw_release(triangles);
    return status;
}

/* ---- solids ---- */

tw_status tw_check_solid_material(const tw_node *body, const char *path, tw_error *error)
{
    enum { KEY_COUNT = 4 };
    static const char *const keys_of_springs[KEY_COUNT] = {"stiffness", "diagonal", "hardening",
                                                           "plasticity"};
    static const char *const keys_of_elements[KEY_COUNT] = {"youngs_modulus", "poisson_ratio",
                                                            "order", NULL};
    const tw_node *material = tw_node_find(body, "material");
    bool is_springs = material->number == TW_MATERIAL_SPRINGS;

    /* Keys that the material does not use. */
    const char *const *refused = is_springs ? keys_of_elements : keys_of_springs;
    const char *owner = is_springs ? "finite elements" : "springs";
    for (int i = 0; i < KEY_COUNT && refused[i]; i++) {
        const tw_node *node = tw_node_find(body, refused[i]);
        if (node)
            return tw_fail_at(error, node->key_mark,
                              "%s.%s does not apply to material %s, only to %s", path, refused[i],
                              material->text, owner);
    }

    /* The key that it cannot do without. */
    const char *needed = is_springs ? "stiffness" : "youngs_modulus";
    const char *unit = is_springs ? "N/m" : "Pa";
    if (!tw_node_find(body, needed))
        return tw_fail_at(error, body->mark, "key %s.%s is missing, material %s needs it [%s]",
                          path, needed, material->text, unit);
    return tw_check_plasticity(body, path, error);
}

/* Springs from each corner of a tetrahedron to the centre of the opposite face. */
static tw_status add_diagonals(tw_model *model, const tw_body *body, tw_error *error)
{
    int64_t count = 4 * body->mesh.tetrahedron_count;
    int64_t *corners = TW_NEW_ARRAY(4 * count, int64_t);
    double *stiffness = TW_NEW_ARRAY(count, double);
    tw_status status = corners && stiffness ? TW_OK : tw_fail_plain(error, TW_OUT_OF_MEMORY);

    /* Spring i belongs to corner i % 4 of tetrahedron i / 4: that corner first, then the
     * other three. */
    double each = tw_node_number(body->node, "diagonal");
    for (int64_t i = 0; status == TW_OK && i < count; i++) {
        const int64_t *t = body->mesh.tetrahedra + i / 4 * 4;
        for (int k = 0; k < 4; k++) corners[4 * i + k] = body->first + t[(i + k) % 4];
        stiffness[i] = each;
    }
    if (status == TW_OK)
        status = tw_model_add_face_springs(model, count, corners, stiffness, NULL, error);

    tw_release(corners);
    tw_release(stiffness);
    return status;
}

static tw_status add_spring_solid(tw_model *model, const tw_body *body, tw_error *error)
{
    /* Springs along every edge of the tetrahedra. */
    int64_t *edges = NULL;
    int64_t count = 0;
    tw_status status = tw_mesh_unique_edges(&body->mesh, &edges, &count, error);
    if (status == TW_OK)
        status = add_uniform_springs(model, body, count, edges, "stiffness", error);
    tw_mesh_free_indices(edges);
    if (status != TW_OK || !tw_node_find(body->node, "diagonal")) return status;

    return add_diagonals(model, body, error);
}

static tw_status add_elements(tw_model *model, const tw_body *body, tw_material law,
                              tw_error *error)
{
    static const tw_solid_law laws[] = {[TW_MATERIAL_LINEAR] = TW_SOLID_LINEAR,
                                        [TW_MATERIAL_COROTATIONAL] = TW_SOLID_COROTATIONAL,
                                        [TW_MATERIAL_NEO_HOOKEAN] = TW_SOLID_NEO_HOOKEAN};
    tw_solid_material material = tw_solid_material_default();
    material.law = laws[law];
    material.youngs_modulus = tw_node_number(body->node, "youngs_modulus");
    if (tw_node_find(body->node, "poisson_ratio"))
        material.poisson_ratio = tw_node_number(body->node, "poisson_ratio");

    /* The elements in the numbering of the model. */
    int64_t count = body->mesh.tetrahedron_count;
    const int64_t *own = body->elements ? body->elements : body->mesh.tetrahedra;
    int64_t *elements = tw_shift_indices(body->nodes * count, own, body->first);
    if (!elements) return tw_fail_plain(error, TW_OUT_OF_MEMORY);

    tw_status status =
        tw_model_add_tetrahedra(model, body->nodes, count, elements, NULL, &material, error);
    tw_release(elements);
    return status;
}

tw_status tw_add_solid(tw_model *model, const tw_body *body, tw_error *error)
{
    tw_material material = (tw_material)tw_node_number(body->node, "material");
    if (material == TW_MATERIAL_SPRINGS) return add_spring_solid(model, body, error);
    return add_elements(model, body, material, error);
}

/* ---- towers ---- */

/* The stiffness of each girder, which depends on the height of its middle. NULL when memory
 * is out. */
static double *girder_stiffness(const tw_body *body)
{
    const tw_mesh *mesh = &body->mesh;
    double *stiffness = TW_NEW_ARRAY(mesh->edge_count, double);
    if (!stiffness) return NULL;

    /* Girders below this height are of another stiffness. */
    double lower[3];
    double upper[3];
    tw_mesh_bounds(mesh, lower, upper);
    double limit = lower[2] + tw_node_number(body->node, "below") * (upper[2] - lower[2]);
    double above = tw_node_number(body->node, "stiffness");
    double below = tw_node_number(body->node, "stiffness_below");

    for (int64_t e = 0; e < mesh->edge_count; e++) {
        const int64_t *ends = mesh->edges + 2 * e;
        double middle = 0.5 * (mesh->vertices[3 * ends[0] + 2] + mesh->vertices[3 * ends[1] + 2]);
        stiffness[e] = middle < limit ? below : above;
    }
    return stiffness;
}

static tw_status add_warped_network(tw_model *model, const tw_body *body, const double *stiffness,
                                    tw_error *error)
{
    const tw_mesh *mesh = &body->mesh;
    int64_t *ends = tw_shift_indices(2 * mesh->edge_count, mesh->edges, body->first);
    if (!ends) return tw_fail_plain(error, TW_OUT_OF_MEMORY);

    tw_status status =
        tw_model_add_warped_network(model, mesh->edge_count, ends, stiffness, NULL, NULL, error);
    tw_release(ends);
    return status;
}

tw_status tw_add_girders(tw_model *model, const tw_body *body, tw_error *error)
{
    double *stiffness = girder_stiffness(body);
    if (!stiffness) return tw_fail_plain(error, TW_OUT_OF_MEMORY);

    /* Stiffness warping, or springs. */
    tw_status status = TW_OK;
    if (strcmp(tw_node_text(body->node, "material"), "warping") == 0) {
        status = add_warped_network(model, body, stiffness, error);
    } else {
        const tw_mesh *mesh = &body->mesh;
        springs s = {.count = mesh->edge_count, .edges = mesh->edges, .stiffness = stiffness};
        status = add_springs(model, body, &s, error);
    }

    tw_release(stiffness);
    return status;
}
