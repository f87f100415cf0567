/* A tree of boxes around triangles and capsules, and the first of them that a ray meets. */
#ifndef PICTURE_RAY_TREE_H
#define PICTURE_RAY_TREE_H

#include "solids.h"

typedef struct ray_tree ray_tree;

typedef struct ray {
    vector3 origin, direction; /* of length 1 */
    float most;                /* how far it goes */
} ray;

typedef struct hit {
    float t;        /* how far the hit is */
    vector3 normal; /* against the ray, of length 1 */
    vector3 face;   /* the same of the flat face */
    int body;
    bool stained; /* it has a colour of its own */
    vector3 stain;
} hit;

/* NULL when memory is out. The solids must not change while it is used. */
ray_tree *ray_tree_create(const solids *s);
void ray_tree_free(ray_tree *tree);
bool ray_tree_first(const ray_tree *tree, const ray *r, hit *out);
/* Whether anything is in the way, and (may be NULL) its body. */
bool ray_tree_any(const ray_tree *tree, const ray *r, int *body);

#endif
