/* A tree of axis-parallel boxes over items (triangles, tetrahedra): halves of equal number along the longest axis, so
 * that its depth is bounded and its shape depends on the boxes alone. */
#ifndef TW_MESH_BOX_TREE_H
#define TW_MESH_BOX_TREE_H

#include <stdint.h>
#include <twang/status.h>

#include "base/vector3.h"

typedef struct tw_box {
    double lower[3], upper[3];
} tw_box;

typedef struct tw_box_node {
    tw_box box;
    int64_t
        first; /* leaf: its items are items[first ... first + count - 1]; else its children are first, first + 1 */
    int64_t count; /* 0: not a leaf */
} tw_box_node;

typedef struct tw_box_tree {
    int64_t
        node_count; /* 0 if there are no items; nodes[0] is the root, children come after their parents */
    tw_box_node *nodes;
    int64_t *items;
} tw_box_tree;

enum { TW_BOX_TREE_DEPTH = 64, TW_BOX_TREE_LEAF = 4 };

tw_status tw_box_tree_build(int64_t count, const tw_box *boxes, tw_box_tree *out, tw_error *error);
void tw_box_tree_free(tw_box_tree *tree);

void tw_box_include(tw_box *box, vec3 p);

/* Square of the distance from q to an item. */
typedef double tw_item_distance(const void *context, int64_t item, vec3 q);

/* The nearest item, of equally near ones the first; -1 if there is none within the distance whose square is given in
 * *distance_squared (INFINITY: any), which becomes that of the item. */
int64_t tw_box_tree_nearest(const tw_box_tree *tree, vec3 q, tw_item_distance *distance,
                            const void *context, double *distance_squared);

#endif
