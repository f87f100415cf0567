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

/* Builders of bodies, one file each. They add to the model; its last particles are theirs. `path` is for errors:
 * "bodies.0". */
typedef tw_status tw_body_builder(tw_model *model, const tw_node *body, const char *path, tw_error *error);
tw_body_builder tw_build_rope, tw_build_coil;

/* Parts of bodies (build_parts.c). `first` is the index of the body's first particle in the model. */
/* A particle at every vertex, with the body's mass and velocity. */
tw_status tw_build_particles(tw_model *model, const tw_node *body, const tw_mesh *mesh, tw_error *error);
/* Springs of one stiffness along `edges` (of the mesh's numbering), relaxed as they are. */
tw_status tw_build_springs(tw_model *model, int64_t first, int64_t count, const int64_t *edges, double stiffness,
                           tw_error *error);
/* Springs along every edge of the mesh's cells. */
tw_status tw_build_edge_springs(tw_model *model, int64_t first, const tw_mesh *mesh, double stiffness, tw_error *error);
/* What it looks like. */
tw_status tw_build_display(tw_model *model, int64_t first, const tw_node *body, const tw_mesh *mesh, tw_error *error);

#endif
