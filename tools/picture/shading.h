/* Light and colour: a soft sun, a bright sky, the shadow on the ground;
 * everything else is white paper. */
#ifndef PICTURE_SHADING_H
#define PICTURE_SHADING_H

#include "ray_tree.h"

typedef struct studio {
    const ray_tree *tree;
    float ground; /* height of the ground */
    float size;   /* of what is shown: what offsets are measured by */
    vector3 sun;  /* direction to it */
    int first_colour;
} studio;

typedef struct camera {
    vector3 eye, forward, right, up;
    float half_width, half_height; /* of the picture at distance 1 */
} camera;

/* A camera that looks from `azimuth` and `elevation` [degrees] and sees all of the points. */
camera camera_around(int64_t count, const vector3 *points, float azimuth, float elevation,
                     float aspect, float margin);

/* Fills `pixels` (3 bytes each, sRGB) with `samples` rays per pixel. */
void studio_take(const studio *s, const camera *c, int width, int height, int samples,
                 unsigned char *pixels, int row_bytes);

#endif
