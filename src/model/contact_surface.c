/* The surfaces that touch, and the list of their pairs. */
#include <math.h>
#include <string.h>

#include "base/allocate.h"
#include "base/fail.h"
#include "model/contact_force.h"

/* Two edges at an angle whose sine is below the root of this are nearly parallel
 * (contact_pair.h). */
static const double parallel_sine_squared = 1e-2;

/* A pair under construction: its vertices, and whose they are. */
typedef struct side {
    int32_t vertex[3];
    int count;
    double radius;
} side;

static tw_status reserve(tw_contact *contact)
{
    if (contact->pair_count < contact->pair_capacity) return TW_OK;
    int64_t capacity = contact->pair_capacity ? 2 * contact->pair_capacity : 1024;

    tw_contact_pair *larger = TW_NEW_ARRAY(capacity, tw_contact_pair);
    if (!larger) return TW_OUT_OF_MEMORY;

    size_t bytes = (size_t)contact->pair_count * sizeof *larger;
    if (bytes) memcpy(larger, contact->pairs, bytes);
    tw_release(contact->pairs);
    contact->pairs = larger;
    contact->pair_capacity = capacity;
    return TW_OK;
}

/* The smallest mass of the free particles of a side; infinite if there is none. */
static double smallest_mass(const tw_particles *p, const side *s)
{
    double mass = INFINITY;
    for (int i = 0; i < s->count; i++)
        if (!p->pinned[s->vertex[i]]) mass = fmin(mass, p->mass[s->vertex[i]]);
    return mass;
}

/* Without a stiffness of the user, the energy psi(0) = 2/3 kappa d^2 stops the reduced mass of the
 * pair at the expected speed: kappa = 3/4 m (v/d)^2. */
static double stiffness_of(const tw_contact *contact, const side *a, const side *b)
{
    if (contact->options.stiffness > 0.0) return contact->options.stiffness;

    double inverse =
        1.0 / smallest_mass(contact->particles, a) + 1.0 / smallest_mass(contact->particles, b);
    double rate = contact->speed / contact->options.distance;
    return 0.75 * rate * rate / inverse;
}

/* c_0 of two edges: the share of their squared lengths at the start. */
static double parallel_bound(const tw_contact *contact, const int32_t vertex[4])
{
    double bound = parallel_sine_squared;
    for (int e = 0; e < 2; e++) {
        const double *a = contact->particles->position + 3 * (int64_t)vertex[2 * e];
        const double *b = contact->particles->position + 3 * (int64_t)vertex[2 * e + 1];
        double square = 0.0;
        for (int k = 0; k < 3; k++) square += (a[k] - b[k]) * (a[k] - b[k]);
        bound *= square;
    }
    return bound;
}

/* Adds a pair. A pair without a free particle has no use. */
static tw_status add_pair(tw_contact *contact, tw_pair_kind kind, const side *a, const side *b)
{
    const tw_particles *p = contact->particles;
    if (isinf(smallest_mass(p, a)) && isinf(smallest_mass(p, b))) return TW_OK;
    if (reserve(contact) != TW_OK) return TW_OUT_OF_MEMORY;

    tw_contact_pair pair = {.kind = kind, .radius = a->radius + b->radius};
    for (int i = 0; i < a->count; i++) pair.vertex[i] = a->vertex[i];
    for (int i = 0; i < b->count; i++) pair.vertex[a->count + i] = b->vertex[i];
    if (kind == TW_PAIR_POINT_EDGE) pair.vertex[3] = pair.vertex[2];

    pair.law = (tw_contact_law){contact->options.distance, stiffness_of(contact, a, b)};
    if (kind == TW_PAIR_EDGE_EDGE) pair.parallel = parallel_bound(contact, pair.vertex);
    contact->pairs[contact->pair_count++] = pair;
    return TW_OK;
}

static side side_of(int count, const int64_t *vertices, double radius)
{
    side s = {.count = count, .radius = radius};
    for (int i = 0; i < count; i++) s.vertex[i] = (int32_t)vertices[i];
    return s;
}

/* ---- a body against an obstacle ---- */

/* Calls add_pair for every triangle, or every edge of a body without triangles. */
static tw_status pair_cells(tw_contact *contact, const tw_display *body, const side *point)
{
    double radius = 0.5 * contact->options.thickness;
    for (int64_t i = 0; i < body->triangle_count; i++) {
        side cell = side_of(3, body->triangles + 3 * i, radius);
        TW_TRY(add_pair(contact, TW_PAIR_POINT_TRIANGLE, point, &cell));
    }
    for (int64_t i = 0; i < body->edge_count && body->triangle_count == 0; i++) {
        side cell = side_of(2, body->edges + 2 * i, radius);
        TW_TRY(add_pair(contact, TW_PAIR_POINT_EDGE, point, &cell));
    }
    return TW_OK;
}

/* The edges of a body against the axis of a capsule. An edge between two triangles is taken from
 * both of them. */
static tw_status pair_edges(tw_contact *contact, const tw_display *body, const side *axis)
{
    double radius = 0.5 * contact->options.thickness;
    for (int64_t i = 0; i < 3 * body->triangle_count; i++) {
        int64_t next = 3 * (i / 3) + (i + 1) % 3;
        int64_t ends[2] = {body->triangles[i], body->triangles[next]};
        side edge = side_of(2, ends, radius);
        TW_TRY(add_pair(contact, TW_PAIR_EDGE_EDGE, &edge, axis));
    }
    for (int64_t i = 0; i < body->edge_count && body->triangle_count == 0; i++) {
        side edge = side_of(2, body->edges + 2 * i, radius);
        TW_TRY(add_pair(contact, TW_PAIR_EDGE_EDGE, &edge, axis));
    }
    return TW_OK;
}

/* Every particle that is a corner of a cell against a plane. */
static tw_status pair_corners(tw_contact *contact, const tw_display *body, const side *plane)
{
    bool *is_corner = tw_allocate_zeroed((size_t)body->count + 1, sizeof *is_corner);
    if (!is_corner) return TW_OUT_OF_MEMORY;

    for (int64_t i = 0; i < 3 * body->triangle_count; i++)
        is_corner[body->triangles[i] - body->first] = true;
    for (int64_t i = 0; i < 2 * body->edge_count; i++)
        is_corner[body->edges[i] - body->first] = true;

    tw_status status = TW_OK;
    for (int64_t i = 0; i < body->count && status == TW_OK; i++) {
        int64_t particle = body->first + i;
        side point = side_of(1, &particle, 0.5 * contact->options.thickness);
        if (is_corner[i]) status = add_pair(contact, TW_PAIR_POINT_PLANE, &point, plane);
    }
    tw_release(is_corner);
    return status;
}

static tw_status pair_obstacle(tw_contact *contact, const tw_display *body,
                               const tw_placed_obstacle *obstacle)
{
    if (obstacle->kind == TW_OBSTACLE_PLANE) {
        side plane = side_of(3, obstacle->point, 0.0);
        return pair_corners(contact, body, &plane);
    }

    /* A sphere is a point with a radius; a capsule is two of them and an edge between. */
    side centre = side_of(1, obstacle->point, obstacle->radius);
    TW_TRY(pair_cells(contact, body, &centre));
    if (obstacle->kind == TW_OBSTACLE_SPHERE) return TW_OK;

    side end = side_of(1, obstacle->point + 1, obstacle->radius);
    TW_TRY(pair_cells(contact, body, &end));
    side axis = side_of(2, obstacle->point, obstacle->radius);
    return pair_edges(contact, body, &axis);
}

static bool is_obstacle(const tw_obstacle_list *obstacles, int display)
{
    for (int i = 0; i < obstacles->count; i++)
        if (obstacles->list[i].display == display) return true;
    return false;
}

tw_status tw_contact_list_pairs(tw_contact *contact)
{
    const tw_contact_source *source = &contact->source;
    for (int b = 0; b < source->displays->count; b++) {
        if (is_obstacle(source->obstacles, b)) continue;
        for (int i = 0; i < source->obstacles->count; i++)
            TW_TRY(pair_obstacle(contact, &source->displays->list[b], &source->obstacles->list[i]));
    }
    return TW_OK;
}
