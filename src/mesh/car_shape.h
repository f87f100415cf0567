/* The shape of a sedan. A lattice of (x, v, w) is bent to it: x runs from the tail (0) to the nose
 * (TW_CAR_LENGTH), v from the right side (-1) to the left side (1), w from the floor (0) over the
 * line below the windows (TW_CAR_BELT) to the roof, the bonnet and the boot lid (1). */
#ifndef TW_MESH_CAR_SHAPE_H
#define TW_MESH_CAR_SHAPE_H

#include <stdbool.h>

#define TW_CAR_LENGTH 4.4 /* [m] */
#define TW_CAR_WIDTH  1.7 /* [m], at its widest */
#define TW_CAR_HEIGHT 1.4 /* [m] */
#define TW_CAR_BELT   0.5 /* w of the belt line */

/* Wheels: where their axles are, and their size [m]. */
#define TW_CAR_FRONT_AXLE   3.55
#define TW_CAR_REAR_AXLE    0.85
#define TW_CAR_WHEEL_RADIUS 0.31
#define TW_CAR_WHEEL_WIDTH  0.2
#define TW_CAR_WHEEL_PLACE  0.72 /* |y| of the middle of a wheel */

/* A flat piece of the lattice: all of axis `axis` (0: x, 1: v, 2: w) at `at`, within `low` and
 * `high` along the two other axes, in their order. */
typedef struct tw_car_panel {
    int axis;
    double at;
    double low[2];
    double high[2];
    bool is_shell; /* it is part of the outer shell, which has windows and wheel arches */
} tw_car_panel;

/* The index-th panel; NULL behind the last. */
const tw_car_panel *tw_car_panel_at(int index);

/* The place of a lattice point [m]. */
void tw_car_place(const double lattice[3], double place[3]);

/* Whether the shell is open here: windows, wheel arches. `axis` is that of the panel. */
bool tw_car_is_open(int axis, const double lattice[3]);

#endif
