/* What the files of the scene room share besides the tree and the schema. */
#ifndef TW_SCENE_INTERNAL_H
#define TW_SCENE_INTERNAL_H

#include <twang/fibres.h>
#include <twang/mesh.h>

#include "scene/schema.h"

struct tw_scene {
    tw_tree tree;
    const char **files; /* that the scene reads besides itself; the tree owns the texts */
    int file_count;
    int file_capacity;
};

enum { TW_ENTRY_PATH_SIZE = 32 }; /* "motions.1000000" and its terminator */

/* The node that a path names, or NULL. */
const tw_node *tw_scene_node(const tw_scene *scene, const char *path);

/* Rules between keys, which the schema cannot express. (scene_rules.c) */
tw_status tw_scene_check_rules(const tw_scene *scene, tw_error *error);

/* Finds the files that the scene names. (scene_files.c) */
tw_status tw_scene_resolve_files(tw_scene *scene, tw_error *error);

/* ---- bodies ---- */

/* A body in the model. */
typedef struct tw_body {
    const struct tw_scene *scene; /* that it is in */
    const tw_node *node;
    char path[TW_ENTRY_PATH_SIZE]; /* for errors: "bodies.0" */
    int64_t first;                 /* its first particle in the model */
    int64_t count;                 /* number of its particles */
    tw_mesh mesh;                  /* its vertices are the particles, at their places at t = 0 */
    int nodes;                     /* of an element: 4, or 10 */
    int64_t *elements;             /* ten vertices each; NULL: the mesh's tetrahedra */
    tw_fibre_set fibres;           /* of count 0: the body is of another kind */
    tw_mesh surface;               /* shown in place of the mesh's own surface, and carried by
                                    * the mesh; empty: the mesh's own surface is shown */
    tw_embedding embedding;        /* of the surface's vertices in the body's own numbering */
} tw_body;

/* What a particle of a body costs at least, measured on bodies of some ten thousand of them: memory
 * of the model, the integrator and the frames, with schemes that evaluate forces only and with those
 * that factorise, and the time to prepare a run. What a factor of a larger body needs beyond that is
 * judged when its pattern is known (linalg/cholesky.c). */
typedef struct tw_body_cost {
    double explicit_bytes;
    double implicit_bytes;
    double seconds; /* of one processor */
} tw_body_cost;

/* A kind of body: a row of the table in body_kinds.c. */
typedef struct tw_body_kind {
    tw_kind schema;
    tw_body_cost cost;
    /* The number of particles before the body is made, by the fields alone. NULL: a file says it. */
    double (*count_particles)(const tw_node *body);
    /* Makes body->mesh (and body->surface) from the fields, before it is placed. */
    tw_status (*make_shape)(tw_body *body, tw_error *error);
    /* Adds what holds the body together. */
    tw_status (*add_material)(tw_model *model, const tw_body *body, tw_error *error);
    /* Adds the whole body to the model, in place of the two functions above; NULL: they do it.
     * It fills in body->first, body->count and the vertices of body->mesh. */
    tw_status (*build)(tw_model *model, tw_body *body, tw_error *error);
    /* Rules between the fields; `path` is "bodies.0". NULL: none. */
    tw_status (*check)(const tw_node *body, const char *path, tw_error *error);
} tw_body_kind;

const tw_body_kind *tw_body_kind_of(const tw_node *body);

/* Refuses what does not fit into the memory, with TW_OUT_OF_MEMORY and the place in the file: a body
 * with so many particles, and all bodies whose number of particles is known before they are made.
 * (build_cost.c) */
tw_status tw_check_body_cost(const tw_body *body, double particles, tw_error *error);
tw_status tw_check_scene_cost(const tw_scene *scene, tw_error *error);

/* Turns, scales and moves a shape to its place at t = 0. (build_placement.c) */
tw_status tw_place_body(tw_body *body, tw_error *error);

/* Adds a body to the model: its particles, what holds them together, what it looks
 * like. (build_body.c) */
tw_status tw_build_body(tw_model *model, tw_body *body, tw_error *error);
void tw_body_release(tw_body *body);

/* What the body is called in files: its name, else the name of its mesh file without folders and
 * suffix, else its kind. (build_body.c) */
enum { TW_BODY_NAME_SIZE = 256 };
void tw_name_body(const tw_node *node, char name[TW_BODY_NAME_SIZE]);

/* first + indices[i] for every i; NULL when memory is out. Freed by tw_release. (build_body.c) */
int64_t *tw_shift_indices(int64_t count, const int64_t *indices, int64_t first);

/* The materials of solids, in the order of the schema's words. */
typedef enum tw_material {
    TW_MATERIAL_SPRINGS,
    TW_MATERIAL_LINEAR,
    TW_MATERIAL_COROTATIONAL,
    TW_MATERIAL_NEO_HOOKEAN
} tw_material;

/* Refuses keys of a solid that its material does not use, and asks for those that it needs. */
tw_status tw_check_solid_material(const tw_node *body, const char *path, tw_error *error);
/* What holds a body together: springs or finite elements of a solid, springs of a cloth or a sheet, links of a
 * rope, girders of a tower, springs of a cell. (build_material.c) */
tw_status tw_add_solid(tw_model *model, const tw_body *body, tw_error *error);
tw_status tw_add_cloth(tw_model *model, const tw_body *body, tw_error *error);
tw_status tw_add_sheet(tw_model *model, const tw_body *body, tw_error *error);
tw_status tw_add_links(tw_model *model, const tw_body *body, tw_error *error);
tw_status tw_add_cell(tw_model *model, const tw_body *body, tw_error *error);
tw_status tw_add_car(tw_model *model, const tw_body *body, tw_error *error);
tw_status tw_add_girders(tw_model *model, const tw_body *body, tw_error *error);

/* The key `plasticity`: its rules, and what it means for springs that are added.
 * (build_plasticity.c) */
tw_status tw_check_plasticity(const tw_node *body, const char *path, tw_error *error);
tw_status tw_set_body_plasticity(tw_model *model, const tw_body *body, tw_error *error);

/* The kind `fibres`. (build_fibres.c) */
tw_status tw_check_fibres(const tw_node *body, const char *path, tw_error *error);
tw_status tw_build_fibres(tw_model *model, tw_body *body, tw_error *error);
/* The entry of `obstacles` with that name, and its index; NULL if there is none.
 * (fibre_roots.c) */
const tw_node *tw_find_obstacle(const tw_scene *scene, const char *name, int *index);

/* ---- what is done to bodies ---- */

/* A model while it is put together. */
typedef struct tw_build {
    const tw_scene *scene;
    tw_model *model;
    tw_body *bodies;
    int body_count;
} tw_build;

/* An entry of pins, forces or motions. */
typedef struct tw_entry {
    const tw_build *build;
    const tw_node *node;
    char path[TW_ENTRY_PATH_SIZE]; /* for errors: "pins.0" */
} tw_entry;

/* Calls `apply` for every entry of the list `name`, until one fails. (build.c) */
tw_status tw_build_entries(const tw_build *build, const char *name,
                           tw_status (*apply)(const tw_entry *entry, tw_error *error),
                           tw_error *error);

/* The body that an entry names; NULL after an error. (build_pins.c) */
const tw_body *tw_entry_body(const tw_entry *entry, tw_error *error);

/* Calls `visit` for the particles that an entry selects, as ranges of neighbouring indices in the
 * model. (build_pins.c) */
typedef tw_status tw_range_visit(void *context, int64_t first, int64_t last, tw_error *error);
tw_status tw_entry_select(const tw_entry *entry, tw_range_visit *visit, void *context,
                          tw_error *error);
/* The same for the particles that carry the group of the body's file that entry.group names.
 * (select_group.c) */
tw_status tw_select_group(const tw_entry *entry, const tw_body *body, tw_range_visit *visit,
                          void *context, tw_error *error);

/* One entry each of `pins`, `forces` and `motions`. (build_pins.c, build_forces.c,
 * build_motions.c) */
tw_status tw_build_pin(const tw_entry *entry, tw_error *error);
tw_status tw_build_force(const tw_entry *entry, tw_error *error);
tw_status tw_build_motion(const tw_entry *entry, tw_error *error);
/* One entry of `obstacles`, and `contact`. (build_obstacles.c) */
tw_status tw_build_obstacle(const tw_entry *entry, tw_error *error);
tw_status tw_build_contact(const tw_build *build, tw_error *error);
/* `fluid`, and one entry of `forces` that is a motor. (build_fluid.c) */
tw_status tw_build_fluid(const tw_build *build, tw_error *error);
tw_status tw_add_motor(const tw_entry *entry, tw_error *error);
/* Moves an obstacle, the particles first ... last, as the node says. (build_motions.c) */
tw_status tw_build_obstacle_motion(const tw_entry *entry, const tw_node *node, int64_t first,
                                   int64_t last, tw_error *error);

/* Makes the roots of fibres on obstacles follow them. (build_fibres.c) */
tw_status tw_build_rooted_motions(const tw_build *build, tw_error *error);

/* ---- systems of equations ---- */

/* (system_kinds.c) */
tw_status tw_build_system(const tw_node *system, tw_simulation **out, tw_error *error);

#endif
