/* The surface of an obstacle that is a mesh. */
#ifndef TW_SCENE_OBSTACLE_SURFACE_H
#define TW_SCENE_OBSTACLE_SURFACE_H

#include <twang/mesh.h>

#include "scene/tree.h"

/* Reads the file of the obstacle `node` and puts its surface in place at t = 0. `path` is
 * "obstacles.0". Freed by tw_mesh_free also after a failure. */
tw_status tw_obstacle_surface(const tw_node *node, const char *path, tw_mesh *out, tw_error *error);

/* Says in one line if a surface is open, has edges with more than two triangles, or crosses
 * itself. */
void tw_report_surface(const char *path, const tw_node *node, const tw_mesh *surface);

#endif
