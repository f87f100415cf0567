/* `obstacles` and `contact` of a scene. */
#include <math.h>
#include <string.h>
#include <twang/contact.h>

#include "base/fail.h"
#include "model/model_internal.h"
#include "scene/obstacle_surface.h"
#include "scene/scene_internal.h"
#include "scene/schema_tables.h"

typedef struct obstacle_kind {
    tw_kind schema;
    tw_obstacle_kind kind;
} obstacle_kind;

/* ---- the fields ---- */

static const tw_schema_field plane_fields[] = {
    {"point", TW_FIELD_NUMBERS, .length = 3, .unit = "m", .fallback = "[0, 0, 0]",
     .doc = "on the plane"},
    {"normal", TW_FIELD_NUMBERS, .length = 3, .fallback = "[0, 0, 1]",
     .doc = "to the side where bodies are, of any length but zero"},
    {"size", TW_FIELD_NUMBER, .unit = "m", .range = ABOVE(0), .fallback = "1",
     .doc = "side of the square that is shown; the plane itself has no end"},
};
static const tw_schema_field sphere_fields[] = {
    {"centre", TW_FIELD_NUMBERS, .length = 3, .unit = "m", .fallback = "[0, 0, 0]",
     .doc = "of the ball"},
    {"radius", TW_FIELD_NUMBER, .unit = "m", .range = ABOVE(0), .required = true,
     .doc = "of the ball"},
    {"rings", TW_FIELD_INTEGER, .range = BETWEEN(4, 400), .fallback = "12",
     .doc = "circles of latitude by which it is shown, even; friction leaves its marks on them"},
};
static const tw_schema_field capsule_fields[] = {
    {"from", TW_FIELD_NUMBERS, .length = 3, .unit = "m", .required = true,
     .doc = "one end of its axis"},
    {"to", TW_FIELD_NUMBERS, .length = 3, .unit = "m", .required = true, .doc = "the other end"},
    {"radius", TW_FIELD_NUMBER, .unit = "m", .range = ABOVE(0), .required = true,
     .doc = "around the axis and at its ends"},
};

static const tw_schema_field box_fields[] = {
    {"centre", TW_FIELD_NUMBERS, .length = 3, .unit = "m", .fallback = "[0, 0, 0]",
     .doc = "of the box"},
    {"sides", TW_FIELD_NUMBERS, .length = 3, .unit = "m", .required = true,
     .doc = "along x, y, z before it is turned, all > 0"},
    {"rotation", TW_FIELD_NUMBERS, .length = 3, .unit = "degrees", .fallback = "[0, 0, 0]",
     .doc = "about the axes x, then y, then z, through its centre"},
};
static const tw_schema_field mesh_fields[] = {
    {"file", TW_FIELD_TEXT, .required = true,
     .doc = "a surface, or a solid of which the surface is taken, relative to the scene file; "
            "docs/meshes.md has the formats"},
    {"up", TW_FIELD_CHOICE, .choice = tw_up_axes, .fallback = "z",
     .doc = "the axis of the file that points up; y is turned to z before everything else"},
    {"extent", TW_FIELD_NUMBER, .unit = "m", .range = ABOVE(0),
     .doc = "its longest side after it was turned; not given: as in the file"},
    {"scale", TW_FIELD_NUMBER, .range = ABOVE(0),
     .doc = "instead: factor of all coordinates of the file, 1e-3 for millimetres"},
    {"rotation", TW_FIELD_NUMBERS, .length = 3, .unit = "degrees", .fallback = "[0, 0, 0]",
     .doc = "about the axes x, then y, then z, before the origin is added"},
    {"origin", TW_FIELD_NUMBERS, .length = 3, .unit = "m", .fallback = "[0, 0, 0]",
     .doc = "added to every position"},
};

static const obstacle_kind obstacle_kinds[] = {
    {.schema = {"plane", FIELDS(plane_fields), {NULL}}, .kind = TW_OBSTACLE_PLANE},
    {.schema = {"sphere", FIELDS(sphere_fields), {NULL}}, .kind = TW_OBSTACLE_SPHERE},
    {.schema = {"capsule", FIELDS(capsule_fields), {NULL}}, .kind = TW_OBSTACLE_CAPSULE},
    {.schema = {"box", FIELDS(box_fields), {NULL}}, .kind = TW_OBSTACLE_BOX},
    {.schema = {"mesh", FIELDS(mesh_fields), {NULL}}, .kind = TW_OBSTACLE_MESH},
};
KINDS_OF(obstacle_kinds)

static const tw_schema_field common_fields[] = {
    {"kind", TW_FIELD_CHOICE, .choice = kind_name, .required = true, .doc = "what it is"},
    {"name", TW_FIELD_NAME, .doc = "what its files are called; not given: as its kind"},
    {"motion", TW_FIELD_MAP, .section = &tw_schema_obstacle_motion,
     .doc = "how it moves; not given: it rests"},
};
const tw_section tw_schema_obstacles = {"obstacles", FIELDS(common_fields), kind_row};

static const tw_schema_field contact_fields[] = {
    {"distance", TW_FIELD_NUMBER, .unit = "m", .range = ABOVE(0), .required = true,
     .doc = "surfaces closer than this push each other away"},
    {"stiffness", TW_FIELD_NUMBER, .unit = "N/m", .range = ABOVE(0), .automatic = true,
     .fallback = "auto",
     .doc = "kappa of the push (docs/contact.md); auto: stops and carries whole bodies at the "
            "speed of a fall "
            "through the scene within the distance"},
    {"thickness", TW_FIELD_NUMBER, .unit = "m", .range = AT_LEAST(0), .fallback = "0",
     .doc = "of all bodies: half of it stands out from sheets, lines and surfaces"},
    {"friction", TW_FIELD_NUMBER, .range = AT_LEAST(0), .fallback = "0",
     .doc = "Coulomb's coefficient"},
    {"friction_length", TW_FIELD_NUMBER, .unit = "m", .range = ABOVE(0),
     .doc = "friction on obstacles is a force that grows to its limit over this way, and frames "
            "show the work that it did; not given: it is an impulse after each step"},
    {"stain_work", TW_FIELD_NUMBER, .unit = "J/m^2", .range = ABOVE(0),
     .doc = "the work of friction per area that ply frames and pictures show in red, blue is none; "
            "not given: obstacles have no colours"},
    {"work_error", TW_FIELD_NUMBER, .range = ABOVE(0), .fallback = "5e-4",
     .doc = "a step whose contacts miss this share of the energy that they turn over is divided; "
            "a large value leaves it to the energy guard, for bristles that settle within a step"},
    {"restitution", TW_FIELD_NUMBER, .range = BETWEEN(0, 1), .fallback = "0",
     .doc = "an impact ends with this share of its speed"},
    {"self", TW_FIELD_BOOL, .fallback = "false",
     .doc = "whether bodies touch themselves, and the fibres of a body each other"},
};
SECTION(tw_schema_contact, "contact", contact_fields);

/* ---- building ---- */

static bool is_zero(const double a[3])
{
    return a[0] == 0.0 && a[1] == 0.0 && a[2] == 0.0;
}

static tw_status read_plane(const tw_entry *entry, tw_obstacle *o, tw_error *error)
{
    tw_node_numbers(entry->node, "point", 3, o->point);
    tw_node_numbers(entry->node, "normal", 3, o->other);
    o->size = tw_node_number(entry->node, "size");

    /* Any length of the normal will do but zero. */
    if (!is_zero(o->other)) return TW_OK;
    return tw_fail_at(error, tw_node_find(entry->node, "normal")->mark,
                      "%s.normal has length zero, give it any other", entry->path);
}

static tw_status read_box(const tw_entry *entry, tw_obstacle *o, tw_error *error)
{
    tw_node_numbers(entry->node, "centre", 3, o->point);
    tw_node_numbers(entry->node, "sides", 3, o->sides);
    tw_node_numbers(entry->node, "rotation", 3, o->turn);

    /* A flat box has no inside. */
    if (o->sides[0] > 0.0 && o->sides[1] > 0.0 && o->sides[2] > 0.0) return TW_OK;
    return tw_fail_at(error, tw_node_find(entry->node, "sides")->mark,
                      "%s.sides must be three numbers > 0", entry->path);
}

static tw_status read_sphere(const tw_entry *entry, tw_obstacle *o, tw_error *error)
{
    tw_node_numbers(entry->node, "centre", 3, o->point);
    o->rings = (int)tw_node_integer(entry->node, "rings");
    if (o->rings % 2 == 0) return TW_OK;
    return tw_fail_at(error, tw_node_find(entry->node, "rings")->mark,
                      "%s.rings must be an even number, such as %d", entry->path, o->rings + 1);
}

/* Fills the obstacle in. The surface of a mesh is kept in `mesh`, which the obstacle refers to. */
static tw_status read_obstacle(const tw_entry *entry, tw_obstacle *o, tw_mesh *mesh,
                               tw_error *error)
{
    const tw_node *node = entry->node;
    o->kind = obstacle_kinds[tw_node_integer(node, "kind")].kind;
    if (tw_node_find(node, "name")) o->name = tw_node_text(node, "name");
    if (tw_node_find(node, "radius")) o->radius = tw_node_number(node, "radius");

    /* What each kind has besides. */
    switch (o->kind) {
    case TW_OBSTACLE_PLANE:
        return read_plane(entry, o, error);
    case TW_OBSTACLE_SPHERE:
        return read_sphere(entry, o, error);
    case TW_OBSTACLE_CAPSULE:
        tw_node_numbers(node, "from", 3, o->point);
        tw_node_numbers(node, "to", 3, o->other);
        return TW_OK;
    case TW_OBSTACLE_BOX:
        return read_box(entry, o, error);
    case TW_OBSTACLE_MESH:
        TW_TRY(tw_obstacle_surface(node, entry->path, mesh, error));
        tw_report_surface(entry->path, node, mesh);
        o->vertex_count = mesh->vertex_count;
        o->vertices = mesh->vertices;
        o->triangle_count = mesh->triangle_count;
        o->triangles = mesh->triangles;
        return TW_OK;
    }
    return TW_OK;
}

/* Whether the roots of some fibres are on the obstacle. */
static bool carries_fibres(const tw_entry *entry)
{
    const tw_node *name = tw_node_find(entry->node, "name");
    const tw_node *bodies = tw_scene_node(entry->build->scene, "bodies");

    for (const tw_node *body = bodies->first; name && body; body = body->next) {
        const tw_node *roots = tw_node_find(body, "roots");
        const tw_node *obstacle = roots ? tw_node_find(roots, "obstacle") : NULL;
        if (obstacle && strcmp(obstacle->text, name->text) == 0) return true;
    }
    return false;
}

tw_status tw_build_obstacle(const tw_entry *entry, tw_error *error)
{
    if (!tw_scene_node(entry->build->scene, "contact") && !carries_fibres(entry))
        return tw_fail_at(error, entry->node->mark,
                          "%s has no effect without contact, give contact: {distance: ...}",
                          entry->path);

    /* The model copies the surface, so that the mesh is needed no longer. */
    tw_obstacle obstacle = {0};
    tw_mesh mesh = {0};
    int64_t first = 0;
    int64_t last = 0;
    tw_status status = read_obstacle(entry, &obstacle, &mesh, error);
    if (status == TW_OK)
        status = tw_model_add_obstacle(entry->build->model, &obstacle, &first, &last, error);

    tw_mesh_free(&mesh);
    if (status != TW_OK) return status;

    /* Its particles, first to last, follow its motion. */
    const tw_node *motion = tw_node_find(entry->node, "motion");
    if (!motion) return TW_OK;
    return tw_build_obstacle_motion(entry, motion, first, last, error);
}

tw_status tw_build_contact(const tw_build *build, tw_error *error)
{
    const tw_node *node = tw_scene_node(build->scene, "contact");
    if (!node) return TW_OK;

    /* One body that may not touch itself needs an obstacle. */
    bool self = tw_node_number(node, "self") != 0.0;
    if (!tw_scene_node(build->scene, "obstacles") && build->body_count < 2 && !self)
        return tw_fail_at(error, node->mark,
                          "contact needs something to touch, give obstacles: [...], another body "
                          "or self: true");

    tw_contact_options options = tw_contact_options_default();
    options.self = self;
    options.distance = tw_node_number(node, "distance");
    options.stiffness = tw_node_number(node, "stiffness");
    options.thickness = tw_node_number(node, "thickness");
    options.friction = tw_node_number(node, "friction");
    options.friction_length = tw_node_number(node, "friction_length");
    options.stain_work = tw_node_number(node, "stain_work");
    options.work_error = tw_node_number(node, "work_error");
    options.restitution = tw_node_number(node, "restitution");
    TW_TRY(tw_model_add_contact(build->model, &options, error));
    return tw_model_check_contact_lengths(build->model, error);
}
