#ifndef TW_SCENE_INTERNAL_H
#define TW_SCENE_INTERNAL_H

#include "mesh/bodies.h"
#include "scene/schema.h"

struct tw_scene {
    tw_tree tree;
};

/* What a path names, or NULL. */
const tw_node *tw_scene_node(const tw_scene *scene, const char *path);

/* Rules between keys, which the schema cannot say. */
tw_status tw_scene_check_rules(const tw_scene *scene, tw_error *error);
/* Those between the keys of a body; `path` is "bodies.0". (body_rules.c) */
tw_status tw_scene_check_body(const tw_node *body, const char *path, tw_error *error);

/* Finds the files that it names. (scene_files.c) */
tw_status tw_scene_resolve_files(tw_scene *scene, tw_error *error);

/* A body in the model. */
typedef struct tw_body {
    const tw_node *node;
    char path[32];        /* for errors: "bodies.0" */
    int64_t first, count; /* its particles in the model */
    tw_mesh mesh;         /* its vertices are these particles, where they are at t = 0 */
    int nodes;            /* of an element: 4, or 10 */
    int64_t *elements;    /* ten vertices each; NULL: the mesh's tetrahedra */
    tw_mesh
        surface; /* what is shown instead of the mesh's own surface, and carried by it; empty: nothing */
} tw_body;

/* What is simulated while it is put together. */
typedef struct tw_build {
    const tw_scene *scene;
    tw_model *model;
    tw_body *bodies;
    int body_count;
} tw_build;

/* The body's shape, where it stands at t = 0. (build_geometry.c) */
tw_status tw_build_geometry(tw_body *body, tw_error *error);
/* The mesh of a file, filled with tetrahedra if it is a surface, which is kept. (build_mesh.c) */
tw_status tw_build_mesh(tw_body *body, tw_error *error);
/* Particles at its vertices, what holds them together, what it looks like. (build_body.c, build_material.c) */
tw_status tw_build_body(tw_model *model, tw_body *body, tw_error *error);
tw_status tw_build_material(tw_model *model, const tw_body *body, tw_error *error);
/* Masses of its particles, `count` of them. (build_mass.c) */
tw_status tw_build_masses(const tw_body *body, const double *positions, double *masses,
                          tw_error *error);

/* The materials of solids, in the order of the schema's words. */
typedef enum tw_material {
    TW_MATERIAL_SPRINGS,
    TW_MATERIAL_LINEAR,
    TW_MATERIAL_COROTATIONAL,
    TW_MATERIAL_NEO_HOOKEAN
} tw_material;

/* Particles that an entry of pins, forces or motions means, as ranges of neighbouring indices in the model. `path` is
 * "pins.0". (build_selection.c) */
typedef tw_status tw_range_visit(void *context, int64_t first, int64_t last, tw_error *error);
tw_status tw_build_select(const tw_build *build, const tw_node *entry, const char *path,
                          tw_range_visit *visit, void *context, tw_error *error);
/* `forces` and `motions`. (build_forces.c, build_motions.c) */
tw_status tw_build_forces(const tw_build *build, tw_error *error);
tw_status tw_build_motions(const tw_build *build, tw_error *error);
/* The body an entry names; NULL after an error. */
const tw_body *tw_build_find_body(const tw_build *build, const tw_node *entry, const char *path,
                                  tw_error *error);

#endif
