/* `forces` of a scene: what acts besides gravity and elasticity. A kind is one row of the table
 * `force_kinds`: its fields in the scene file, and the function that adds it to the model. */
#include <twang/forces.h>

#include "base/allocate.h"
#include "base/fail.h"
#include "scene/scene_internal.h"
#include "scene/schema_tables.h"

typedef struct force_kind {
    tw_kind schema;
    tw_status (*add)(const tw_entry *entry, tw_error *error);
} force_kind;

/* ---- rayleigh ---- */

static const tw_schema_field rayleigh_fields[] = {
    {"alpha", TW_FIELD_NUMBER, .unit = "1/s", .range = AT_LEAST(0), .fallback = "0",
     .doc = "mass-proportional; rigid motion is not damped"},
    {"beta", TW_FIELD_NUMBER, .unit = "s", .range = AT_LEAST(0), .fallback = "0",
     .doc = "stiffness-proportional: a mode of frequency w is damped by the ratio (alpha / w + "
            "beta w) / 2"},
};

static tw_status add_rayleigh(const tw_entry *entry, tw_error *error)
{
    double alpha = tw_node_number(entry->node, "alpha");
    double beta = tw_node_number(entry->node, "beta");
    return tw_model_set_rayleigh(entry->build->model, alpha, beta, error);
}

/* ---- dashpots ---- */

static const tw_schema_field dashpot_fields[] = {
    {"damping", TW_FIELD_NUMBER, .unit = "N s/m", .range = ABOVE(0), .required = true,
     .doc = "of a dashpot along every edge of the body's cells"},
};

/* A dashpot of the same damping along each edge. */
static tw_status add_dashpots_along(const tw_entry *entry, const tw_body *body, int64_t count,
                                    const int64_t *edges, tw_error *error)
{
    int64_t *ends = tw_shift_indices(2 * count, edges, body->first);
    double *damping = TW_NEW_ARRAY(count, double);
    tw_status status = ends && damping ? TW_OK : tw_fail_plain(error, TW_OUT_OF_MEMORY);

    if (status == TW_OK) {
        double each = tw_node_number(entry->node, "damping");
        for (int64_t i = 0; i < count; i++) damping[i] = each;
        status = tw_model_add_dashpots(entry->build->model, count, ends, damping, error);
    }

    tw_release(ends);
    tw_release(damping);
    return status;
}

static tw_status add_dashpots(const tw_entry *entry, tw_error *error)
{
    const tw_body *body = tw_entry_body(entry, error);
    if (!body) return TW_BAD_INPUT;

    /* A rope or a tower has edges of its own. */
    const tw_mesh *mesh = &body->mesh;
    if (mesh->edge_count)
        return add_dashpots_along(entry, body, mesh->edge_count, mesh->edges, error);

    /* Other bodies: the edges of their triangles or tetrahedra. */
    int64_t *edges = NULL;
    int64_t count = 0;
    tw_status status = tw_mesh_unique_edges(mesh, &edges, &count, error);
    if (status == TW_OK) status = add_dashpots_along(entry, body, count, edges, error);
    tw_mesh_free_indices(edges);
    return status;
}

/* ---- wind ---- */

static const tw_schema_field wind_fields[] = {
    {"velocity", TW_FIELD_NUMBERS, .length = 3, .unit = "m/s", .required = true,
     .doc = "of the air"},
    {"density", TW_FIELD_NUMBER, .unit = "kg/m^3", .range = ABOVE(0), .fallback = "1.2",
     .doc = "of the air"},
    {"drag", TW_FIELD_NUMBER, .range = AT_LEAST(0), .fallback = "1",
     .doc = "coefficient along the flow"},
    {"lift", TW_FIELD_NUMBER, .range = AT_LEAST(0), .fallback = "1",
     .doc = "coefficient across the flow; equal to drag: a pressure"},
    {"gust", TW_FIELD_NUMBER, .range = AT_LEAST(0), .fallback = "0",
     .doc = "the air moves at velocity (1 + gust sin(2 pi frequency t))"},
    {"frequency", TW_FIELD_NUMBER, .unit = "Hz", .range = AT_LEAST(0), .fallback = "0",
     .doc = "of the gusts"},
};

static tw_wind read_wind(const tw_node *node)
{
    tw_wind wind = tw_wind_default();
    tw_node_numbers(node, "velocity", 3, wind.velocity);
    wind.density = tw_node_number(node, "density");
    wind.drag = tw_node_number(node, "drag");
    wind.lift = tw_node_number(node, "lift");
    wind.gust = tw_node_number(node, "gust");
    wind.gust_frequency = tw_node_number(node, "frequency");
    return wind;
}

static tw_status add_wind(const tw_entry *entry, tw_error *error)
{
    const tw_body *body = tw_entry_body(entry, error);
    if (!body) return TW_BAD_INPUT;

    const tw_mesh *mesh = &body->mesh;
    if (mesh->triangle_count + mesh->tetrahedron_count == 0)
        return tw_fail_at(error, entry->node->mark,
                          "%s: body %s is a %s, which has no surface for the wind", entry->path,
                          tw_node_text(entry->node, "body"), tw_node_text(body->node, "kind"));

    /* The wind acts on every triangle of the surface. */
    tw_wind wind = read_wind(entry->node);
    int64_t *faces = NULL;
    int64_t count = 0;
    TW_TRY(tw_mesh_surface(mesh, &faces, &count, error));
    int64_t *triangles = tw_shift_indices(3 * count, faces, body->first);
    tw_status status = TW_OK;
    if (triangles)
        status = tw_model_add_wind(entry->build->model, count, triangles, &wind, error);
    else
        status = tw_fail_plain(error, TW_OUT_OF_MEMORY);

    tw_release(triangles);
    tw_mesh_free_indices(faces);
    return status;
}

/* ---- shaking ---- */

static const tw_schema_field shaking_fields[] = {
    {"acceleration", TW_FIELD_NUMBERS, .length = 3, .unit = "m/s^2", .required = true,
     .doc = "every particle is accelerated by this times sin(2 pi frequency t + phase)"},
    {"frequency", TW_FIELD_NUMBER, .unit = "Hz", .range = AT_LEAST(0), .required = true,
     .doc = "of the shaking"},
    {"phase", TW_FIELD_NUMBER, .unit = "rad", .fallback = "0", .doc = "of the shaking"},
};

static tw_status add_shaking(const tw_entry *entry, tw_error *error)
{
    double acceleration[3];
    tw_node_numbers(entry->node, "acceleration", 3, acceleration);
    double frequency = tw_node_number(entry->node, "frequency");
    double phase = tw_node_number(entry->node, "phase");

    return tw_model_add_shaking(entry->build->model, acceleration, frequency, phase, error);
}

/* ---- load ---- */

static const tw_schema_field load_fields[] = {
    {"force", TW_FIELD_NUMBERS, .length = 3, .unit = "N", .required = true,
     .doc = "constant, shared equally by the selected particles"},
};

typedef struct load {
    tw_model *model;
    int64_t count;   /* of selected particles */
    double force[3]; /* on each of them [N] */
} load;

static tw_status count_range(void *context, int64_t first, int64_t last, tw_error *error)
{
    (void)error;
    ((load *)context)->count += last - first + 1;
    return TW_OK;
}

static tw_status load_range(void *context, int64_t first, int64_t last, tw_error *error)
{
    const load *l = context;
    return tw_model_add_load(l->model, first, last, l->force, error);
}

static tw_status add_load(const tw_entry *entry, tw_error *error)
{
    /* Count the particles, to know the share of each. */
    load l = {.model = entry->build->model};
    TW_TRY(tw_entry_select(entry, count_range, &l, error));
    tw_node_numbers(entry->node, "force", 3, l.force);
    for (int k = 0; k < 3; k++) l.force[k] /= (double)l.count;

    return tw_entry_select(entry, load_range, &l, error);
}

/* ---- the table ---- */

static const tw_schema_field body_fields[] = {
    BODY_FIELD("the body it acts on: its name, or its index from 0"),
};
static const tw_field_group on_a_body = FIELDS(body_fields);

static const force_kind force_kinds[] = {
    {.schema = {"rayleigh", FIELDS(rayleigh_fields), {NULL}}, .add = add_rayleigh},
    {.schema = {"dashpots", FIELDS(dashpot_fields), {&on_a_body}}, .add = add_dashpots},
    {.schema = {"wind", FIELDS(wind_fields), {&on_a_body}}, .add = add_wind},
    {.schema = {"shaking", FIELDS(shaking_fields), {NULL}}, .add = add_shaking},
    {.schema = {"load", FIELDS(load_fields), {&tw_selection_fields}}, .add = add_load},
    {.schema = {"motor", {NULL, 0}, {&tw_motor_fields}}, .add = tw_add_motor},
};
KINDS_OF(force_kinds)

static const tw_schema_field common_fields[] = {
    {"kind", TW_FIELD_CHOICE, .choice = kind_name, .required = true, .doc = "what acts"},
    NAME_FIELD("forces"),
};
const tw_section tw_schema_forces = {"forces", FIELDS(common_fields), kind_row};

tw_status tw_build_force(const tw_entry *entry, tw_error *error)
{
    return force_kinds[tw_node_integer(entry->node, "kind")].add(entry, error);
}
