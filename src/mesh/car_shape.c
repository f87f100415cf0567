/* The shape of a sedan: its lines, its openings, and the panels inside. */
#include "mesh/car_shape.h"

#include <math.h>
#include <stddef.h>

/* ---- curves ---- */

typedef struct knot {
    double x;
    double value;
} knot;

/* The value at x of the curve through the knots, which rise in x: cubic between each two, level at
 * the ends of each piece only where the curve turns (Fritsch and Carlson's slopes, simplified). */
static double curve(const knot *knots, int count, double x)
{
    if (x <= knots[0].x) return knots[0].value;
    for (int i = 0; i + 1 < count; i++) {
        const knot *a = &knots[i];
        const knot *b = &knots[i + 1];
        if (x > b->x) continue;

        /* Slopes at both ends: the mean of the neighbours' where they have one sign. */
        double own = (b->value - a->value) / (b->x - a->x);
        double slope[2] = {own, own};
        const knot *outer[2] = {i > 0 ? a - 1 : NULL, i + 2 < count ? b + 1 : NULL};
        for (int k = 0; k < 2; k++) {
            if (!outer[k]) continue;
            const knot *end = k == 0 ? a : b;
            double other = (outer[k]->value - end->value) / (outer[k]->x - end->x);
            slope[k] = other * own > 0.0 ? 2.0 * other * own / (other + own) : 0.0;
        }

        /* Hermite's cubic. */
        double width = b->x - a->x;
        double s = (x - a->x) / width;
        double r = 1.0 - s;
        return r * r * (1.0 + 2.0 * s) * a->value + s * s * (1.0 + 2.0 * r) * b->value +
               s * r * width * (r * slope[0] - s * slope[1]);
    }
    return knots[count - 1].value;
}

#define CURVE(name, ...)                                                                           \
    static double name(double x)                                                                   \
    {                                                                                              \
        static const knot knots[] = {__VA_ARGS__};                                                 \
        return curve(knots, sizeof knots / sizeof *knots, x);                                      \
    }

/* Heights over x [m]: boot lid, rear window, roof, windscreen, bonnet; the belt line; the floor. */
CURVE(top_height, {0.0, 0.88}, {0.1, 0.94}, {0.5, 0.97}, {1.15, 1.34}, {1.7, 1.42}, {2.2, 1.38},
      {2.95, 0.95}, {3.6, 0.88}, {4.2, 0.76}, {4.4, 0.66})
CURVE(belt_height, {0.0, 0.66}, {0.4, 0.74}, {0.8, 0.86}, {2.8, 0.84}, {3.2, 0.70}, {4.4, 0.50})
CURVE(floor_height, {0.0, 0.36}, {0.5, 0.24}, {3.9, 0.22}, {4.4, 0.26})

/* Half widths [m]: at the belt line, and of the upper side. */
CURVE(belt_width, {0.0, 0.70}, {0.4, 0.80}, {1.2, 0.84}, {3.2, 0.84}, {4.0, 0.80}, {4.4, 0.68})
CURVE(top_width, {0.0, 0.60}, {0.5, 0.66}, {1.1, 0.58}, {2.3, 0.58}, {2.95, 0.70}, {4.0, 0.70},
      {4.4, 0.60})

/* Doors end here [m]. Their gaps are grooves of this depth and half width. */
static const double door_ends[] = {0.98, 1.75, 2.72};
static const double groove_depth = 0.025;
static const double groove_width = 0.03;

/* ---- the lattice ---- */

/* Half the width of the car at x, over w, without grooves. */
static double half_width(double x, double w)
{
    /* Below the belt the sides bulge, above they lean inwards. */
    if (w < TW_CAR_BELT) {
        double s = w / TW_CAR_BELT;
        return belt_width(x) * (0.95 + 0.05 * s + 0.06 * s * (1.0 - s));
    }
    double s = (w - TW_CAR_BELT) / (1.0 - TW_CAR_BELT);
    return belt_width(x) + (top_width(x) - belt_width(x)) * s;
}

static double height(double x, double v, double w)
{
    double low = floor_height(x);
    double belt = belt_height(x);
    if (w < TW_CAR_BELT) return low + (belt - low) * w / TW_CAR_BELT;

    /* The upper surface is arched from side to side. */
    double s = (w - TW_CAR_BELT) / (1.0 - TW_CAR_BELT);
    return belt + (top_height(x) - 0.05 * v * v - belt) * s;
}

/* How deep the groove of the next door's end is at x. */
static double groove(double x)
{
    double deepest = 0.0;
    for (size_t i = 0; i < sizeof door_ends / sizeof *door_ends; i++) {
        double s = fabs(x - door_ends[i]) / groove_width;
        if (s < 1.0) deepest = fmax(deepest, groove_depth * (1.0 - s * s));
    }
    return deepest;
}

void tw_car_place(const double lattice[3], double place[3])
{
    double x = lattice[0];
    double v = lattice[1];
    double w = lattice[2];

    /* Sides of the doors have grooves. */
    double y = half_width(x, w) * v;
    bool is_side = fabs(v) > 0.999 && w < TW_CAR_BELT && w > 0.08;
    if (is_side) y -= copysign(groove(x), v);

    /* Nose and tail are rounded, seen from above and from the side. */
    double nose = fmax(0.0, (x - 3.8) / (TW_CAR_LENGTH - 3.8));
    double tail = fmax(0.0, (0.5 - x) / 0.5);
    double round = 0.16 * v * v * (0.5 + 0.5 * v * v) + 0.10 * (2.0 * w - 0.7) * (2.0 * w - 0.7);
    place[0] = x - nose * nose * round + 0.7 * tail * tail * round;
    place[1] = y;
    place[2] = height(x, v, w);
}

/* ---- openings ---- */

static bool is_between(double value, double low, double high)
{
    return value > low && value < high;
}

static bool is_in_arch(double x, double z, double axle)
{
    const double clearance = 0.06;
    double dx = x - axle;
    double dz = z - TW_CAR_WHEEL_RADIUS;
    double reach = TW_CAR_WHEEL_RADIUS + clearance;
    return dx * dx + dz * dz < reach * reach;
}

bool tw_car_is_open(int axis, const double lattice[3])
{
    double place[3];
    tw_car_place(lattice, place);
    double x = place[0];
    double w = lattice[2];
    bool over_wheels = fabs(x - TW_CAR_FRONT_AXLE) < 0.36 || fabs(x - TW_CAR_REAR_AXLE) < 0.36;

    switch (axis) {
    case 1: /* Side windows between the pillars, and wheel arches. */
        if (is_between(w, 0.56, 0.90) && (is_between(x, 1.82, 2.62) || is_between(x, 0.95, 1.68)))
            return true;
        return is_in_arch(x, place[2], TW_CAR_FRONT_AXLE) ||
               is_in_arch(x, place[2], TW_CAR_REAR_AXLE);
    case 2: /* Windscreen and rear window; the floor beside the wheels. */
        if (w > 0.5)
            return fabs(lattice[1]) < 0.88 &&
                   (is_between(x, 2.3, 2.85) || is_between(x, 0.58, 1.06));
        return over_wheels && fabs(place[1]) > 0.56;
    default:
        return false;
    }
}

/* ---- panels ---- */

/* Heights of seats, engine and so on, as w. */
#define SEAT   0.18
#define BACK   0.66
#define ENGINE 0.42

static const tw_car_panel panels[] = {
    /* The shell: floor, top, sides, nose, tail. */
    {2, 0.0, {0.0, -1.0}, {4.4, 1.0}, true},
    {2, 1.0, {0.0, -1.0}, {4.4, 1.0}, true},
    {1, -1.0, {0.0, 0.0}, {4.4, 1.0}, true},
    {1, 1.0, {0.0, 0.0}, {4.4, 1.0}, true},
    {0, 0.0, {-1.0, 0.0}, {1.0, 1.0}, true},
    {0, 4.4, {-1.0, 0.0}, {1.0, 1.0}, true},
    /* Firewall, dashboard, the wall behind the rear seats. */
    {0, 3.0, {-1.0, 0.0}, {1.0, 1.0}, false},
    {2, 0.46, {2.7, -1.0}, {3.0, 1.0}, false},
    {0, 0.6, {-1.0, 0.0}, {1.0, TW_CAR_BELT}, false},
    /* Rails from the firewall to the nose, and from the wall to the tail. */
    {1, -0.5, {3.0, 0.0}, {4.4, 0.3}, false},
    {1, 0.5, {3.0, 0.0}, {4.4, 0.3}, false},
    {1, -0.5, {0.0, 0.0}, {0.6, 0.3}, false},
    {1, 0.5, {0.0, 0.0}, {0.6, 0.3}, false},
    /* Two front seats: cushion, front, back. */
    {2, SEAT, {1.7, 0.15}, {2.2, 0.75}, false},
    {0, 2.2, {0.15, 0.0}, {0.75, SEAT}, false},
    {0, 1.7, {0.15, 0.0}, {0.75, BACK}, false},
    {2, SEAT, {1.7, -0.75}, {2.2, -0.15}, false},
    {0, 2.2, {-0.75, 0.0}, {-0.15, SEAT}, false},
    {0, 1.7, {-0.75, 0.0}, {-0.15, BACK}, false},
    /* The rear bench. */
    {2, SEAT, {0.85, -0.75}, {1.35, 0.75}, false},
    {0, 1.35, {-0.75, 0.0}, {0.75, SEAT}, false},
    {0, 0.85, {-0.75, 0.0}, {0.75, 0.56}, false},
    /* The engine block: walls and partitions, which make it stiff. */
    {0, 3.2, {-0.3, 0.0}, {0.3, ENGINE}, false},
    {0, 3.5, {-0.3, 0.0}, {0.3, ENGINE}, false},
    {0, 3.8, {-0.3, 0.0}, {0.3, ENGINE}, false},
    {1, -0.3, {3.2, 0.0}, {3.8, ENGINE}, false},
    {1, 0.0, {3.2, 0.0}, {3.8, ENGINE}, false},
    {1, 0.3, {3.2, 0.0}, {3.8, ENGINE}, false},
    {2, 0.5 * ENGINE, {3.2, -0.3}, {3.8, 0.3}, false},
    {2, ENGINE, {3.2, -0.3}, {3.8, 0.3}, false},
};

const tw_car_panel *tw_car_panel_at(int index)
{
    int count = (int)(sizeof panels / sizeof *panels);
    return index >= 0 && index < count ? &panels[index] : NULL;
}
