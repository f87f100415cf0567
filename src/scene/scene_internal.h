#ifndef TW_SCENE_INTERNAL_H
#define TW_SCENE_INTERNAL_H

#include "mesh/shape.h"
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

/* The shape with the masses, velocities and springs of the body. */
tw_status tw_build_shape(tw_model *model, const tw_node *body, const tw_shape *shape, tw_error *error);

#endif
