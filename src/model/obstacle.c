/* Obstacles: pinned particles that bodies touch and do not move. */
#include <math.h>
#include <string.h>

#include "base/allocate.h"
#include "base/fail.h"
#include "base/vector3.h"
#include "linalg/vector.h"
#include "model/contact_force.h"
#include "model/model_internal.h"

/* A sphere is shown by this many circles of latitude and meridians. */
enum { LATITUDES = 12, MERIDIANS = 24, CORNERS = (LATITUDES - 1) * MERIDIANS + 2 };

static const double pi = 3.14159265358979323846;

tw_contact_options tw_contact_options_default(void)
{
    return (tw_contact_options){.restitution = 1.0};
}

static tw_status check_options(const tw_contact_options *o, tw_error *error)
{
    const double values[] = {o->distance, o->stiffness, o->thickness, o->friction, o->restitution};
    bool good = tw_vector_is_finite(5, values) && o->distance > 0.0 && o->stiffness >= 0.0 &&
                o->thickness >= 0.0 && o->friction >= 0.0 && o->restitution >= 0.0 &&
                o->restitution <= 1.0;
    if (good) return TW_OK;
    return tw_fail(error, TW_INVALID_ARGUMENT,
                   "contact needs a distance > 0, a restitution from 0 to 1, and nothing negative");
}

tw_status tw_model_add_contact(tw_model *model, const tw_contact_options *options, tw_error *error)
{
    if (!model || !options) return tw_fail_plain(error, TW_INVALID_ARGUMENT);
    TW_TRY(check_options(options, error));
    if (model->contact)
        return tw_fail(error, TW_INVALID_ARGUMENT, "contact was added to this model before");

    tw_contact_source source = {&model->displays, &model->obstacles, model->gravity};
    tw_force force;
    if (tw_force_contact_create(options, &source, &force) != TW_OK)
        return tw_fail_plain(error, TW_OUT_OF_MEMORY);
    TW_TRY(tw_model_add_force(model, &force, error));
    model->contact = force.data;
    return TW_OK;
}

/* ---- shapes: the particles of an obstacle, and the triangles that show it ---- */

typedef struct shape {
    double x[3 * (CORNERS + 2)];
    int64_t count;
    int64_t triangles[3 * 2 * (CORNERS + MERIDIANS)];
    int64_t triangle_count;
} shape;

static void add_triangle(shape *s, int64_t a, int64_t b, int64_t c)
{
    int64_t *t = s->triangles + 3 * s->triangle_count++;
    t[0] = a;
    t[1] = b;
    t[2] = c;
}

/* Two directions across n, all three orthonormal and right-handed: n = a x b. */
static void across(const double n[3], double a[3], double b[3])
{
    int least = 0;
    for (int k = 1; k < 3; k++)
        if (fabs(n[k]) < fabs(n[least])) least = k;
    double axis[3] = {0.0, 0.0, 0.0};
    axis[least] = 1.0;

    tw_cross3(axis, n, a);
    double length = sqrt(tw_dot3(a, a));
    for (int k = 0; k < 3; k++) a[k] /= length;
    tw_cross3(n, a, b);
}

/* A square around the point. Its first three corners define the plane, its normal outward. */
static void make_plane(const tw_obstacle *o, const double normal[3], shape *s)
{
    static const double corner[4][2] = {{-0.5, -0.5}, {0.5, -0.5}, {0.5, 0.5}, {-0.5, 0.5}};
    double a[3];
    double b[3];
    across(normal, a, b);
    for (int i = 0; i < 4; i++)
        for (int k = 0; k < 3; k++)
            s->x[3 * i + k] = o->point[k] + o->size * (corner[i][0] * a[k] + corner[i][1] * b[k]);
    s->count = 4;
    add_triangle(s, 0, 1, 2);
    add_triangle(s, 0, 2, 3);
}

/* The centre, or both ends, and then the skin: rings around the axis `up`. The upper half of the
 * rings belongs to the point `top`. */
static void make_skin(const double bottom[3], const double top[3], double radius,
                      const double up[3], shape *s)
{
    double a[3];
    double b[3];
    across(up, a, b);
    int64_t first = s->count;

    for (int ring = 0; ring <= LATITUDES; ring++) {
        const double *centre = 2 * ring < LATITUDES ? bottom : top;
        double latitude = pi * ((double)ring / LATITUDES - 0.5);
        int points = ring == 0 || ring == LATITUDES ? 1 : MERIDIANS;
        for (int m = 0; m < points; m++, s->count++)
            for (int k = 0; k < 3; k++) {
                double angle = 2.0 * pi * m / MERIDIANS;
                double out = cos(angle) * a[k] + sin(angle) * b[k];
                s->x[3 * s->count + k] =
                    centre[k] + radius * (sin(latitude) * up[k] + cos(latitude) * out);
            }
    }

    /* Quadrilaterals between rings, and a fan at each pole. */
    int64_t last = s->count - 1;
    for (int m = 0; m < MERIDIANS; m++) {
        int64_t next = (m + 1) % MERIDIANS;
        add_triangle(s, first, first + 1 + next, first + 1 + m);
        for (int ring = 0; ring + 2 < LATITUDES; ring++) {
            int64_t low = first + 1 + (int64_t)ring * MERIDIANS;
            int64_t high = low + MERIDIANS;
            add_triangle(s, low + m, low + next, high + next);
            add_triangle(s, low + m, high + next, high + m);
        }
        add_triangle(s, last, last - MERIDIANS + m, last - MERIDIANS + next);
    }
}

static tw_status check_obstacle(const tw_obstacle *o, tw_error *error)
{
    bool known = o->kind == TW_OBSTACLE_PLANE || o->kind == TW_OBSTACLE_SPHERE ||
                 o->kind == TW_OBSTACLE_CAPSULE;
    if (!known) return tw_fail(error, TW_INVALID_ARGUMENT, "there is no such kind of obstacle");
    bool finite = tw_vector_is_finite(3, o->point) && tw_vector_is_finite(3, o->other) &&
                  isfinite(o->radius) && isfinite(o->size);
    if (!finite) return tw_fail(error, TW_NOT_FINITE, "an obstacle is not finite");
    bool round = o->kind != TW_OBSTACLE_PLANE;
    if (round && !(o->radius > 0.0))
        return tw_fail(error, TW_INVALID_ARGUMENT, "the radius of an obstacle must be positive");
    if (!round && !(tw_dot3(o->other, o->other) > 0.0 && o->size > 0.0))
        return tw_fail(error, TW_INVALID_ARGUMENT, "a plane needs a normal and a size");
    return TW_OK;
}

static void make_shape(const tw_obstacle *o, shape *s)
{
    /* The direction of the normal or of the axis; upward where there is none. */
    double up[3] = {0.0, 0.0, 1.0};
    double along[3];
    for (int k = 0; k < 3; k++) along[k] = o->other[k];
    for (int k = 0; k < 3 && o->kind == TW_OBSTACLE_CAPSULE; k++) along[k] -= o->point[k];
    double length = sqrt(tw_dot3(along, along));
    for (int k = 0; k < 3 && length > 0.0 && o->kind != TW_OBSTACLE_SPHERE; k++)
        up[k] = along[k] / length;

    if (o->kind == TW_OBSTACLE_PLANE) {
        make_plane(o, up, s);
        return;
    }
    memcpy(s->x, o->point, sizeof o->point);
    s->count = 1;
    if (o->kind == TW_OBSTACLE_CAPSULE) {
        memcpy(s->x + 3, o->other, sizeof o->other);
        s->count = 2;
    }
    const double *top = o->kind == TW_OBSTACLE_CAPSULE ? o->other : o->point;
    make_skin(o->point, top, o->radius, up, s);
}

/* ---- adding ---- */

static tw_status reserve(tw_obstacle_list *obstacles)
{
    if (obstacles->count < obstacles->capacity) return TW_OK;
    int capacity = obstacles->capacity ? 2 * obstacles->capacity : 8;
    tw_placed_obstacle *larger = TW_NEW_ARRAY(capacity, tw_placed_obstacle);
    if (!larger) return TW_OUT_OF_MEMORY;

    size_t bytes = (size_t)obstacles->count * sizeof *larger;
    if (bytes) memcpy(larger, obstacles->list, bytes);
    tw_release(obstacles->list);
    obstacles->list = larger;
    obstacles->capacity = capacity;
    return TW_OK;
}

/* Adds particles and display of a shape. */
static tw_status add_shape(tw_model *model, const tw_obstacle *o, shape *s, int64_t *first,
                           tw_error *error)
{
    static const char *const names[] = {"plane", "sphere", "capsule"};
    double *masses = TW_NEW_ARRAY(s->count, double);
    if (!masses) return tw_fail_plain(error, TW_OUT_OF_MEMORY);

    /* They are pinned, so that their mass has no meaning. */
    for (int64_t i = 0; i < s->count; i++) masses[i] = 1.0;
    tw_status status = tw_model_add_particles(model, s->count, s->x, NULL, masses, first, error);
    tw_release(masses);
    if (status != TW_OK) return status;
    TW_TRY(tw_model_pin(model, *first, *first + s->count - 1, error));

    for (int64_t i = 0; i < 3 * s->triangle_count; i++) s->triangles[i] += *first;
    tw_display display = {.name = o->name ? o->name : names[o->kind],
                          .first = *first,
                          .count = s->count,
                          .triangle_count = s->triangle_count,
                          .triangles = s->triangles};
    return tw_model_add_display(model, &display, error);
}

tw_status tw_model_add_obstacle(tw_model *model, const tw_obstacle *obstacle, int64_t *first,
                                int64_t *last, tw_error *error)
{
    if (!model || !obstacle) return tw_fail_plain(error, TW_INVALID_ARGUMENT);
    TW_TRY(check_obstacle(obstacle, error));
    if (reserve(&model->obstacles) != TW_OK) return tw_fail_plain(error, TW_OUT_OF_MEMORY);

    shape *s = tw_allocate_zeroed(1, sizeof *s);
    if (!s) return tw_fail_plain(error, TW_OUT_OF_MEMORY);
    make_shape(obstacle, s);
    int64_t begin = 0;
    int64_t count = s->count;
    tw_status status = add_shape(model, obstacle, s, &begin, error);
    tw_release(s);
    if (status != TW_OK) return status;

    model->obstacles.list[model->obstacles.count++] =
        (tw_placed_obstacle){.kind = obstacle->kind,
                             .radius = obstacle->radius,
                             .point = {begin, begin + 1, begin + 2},
                             .display = model->displays.count - 1};
    if (first) *first = begin;
    if (last) *last = begin + count - 1;
    return TW_OK;
}
