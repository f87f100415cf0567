/* The surfaces that touch, and the list of their pairs. */
#include <math.h>
#include <string.h>

#include "base/allocate.h"
#include "base/fail.h"
#include "base/parallel_for.h"
#include "base/vector3.h"
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

/* Room for one more pair, and for what is computed of each. */
static tw_status reserve(tw_contact *contact)
{
    if (contact->pair_count < contact->pair_capacity) return TW_OK;
    int64_t capacity = contact->pair_capacity ? 2 * contact->pair_capacity : 1024;

    tw_contact_pair *larger = TW_NEW_ARRAY(capacity, tw_contact_pair);
    double *forces = TW_NEW_ARRAY(TW_PAIR_SIZE * capacity, double);
    double *energies = tw_allocate_zeroed((size_t)capacity, sizeof(double));
    int64_t *near = TW_NEW_ARRAY(capacity, int64_t);
    int64_t blocks = tw_parallel_blocks(capacity, TW_PARTICLE_BLOCK);
    tw_contact_check *checks = TW_NEW_ARRAY(blocks, tw_contact_check);
    int64_t *counts = TW_NEW_ARRAY(blocks, int64_t);
    unsigned char *felt = tw_allocate_zeroed((size_t)blocks, 1);
    if (!larger || !forces || !energies || !near || !checks || !counts || !felt) {
        void *arrays[] = {larger, forces, energies, near, checks, counts, felt};
        for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) tw_release(arrays[i]);
        return TW_OUT_OF_MEMORY;
    }

    size_t bytes = (size_t)contact->pair_count * sizeof *larger;
    if (bytes) memcpy(larger, contact->pairs, bytes);
    tw_release(contact->pairs);
    tw_release(contact->pair_force);
    tw_release(contact->pair_energy);
    tw_release(contact->near_pairs);
    tw_release(contact->checks);
    tw_release(contact->near_count);
    tw_release(contact->felt);
    contact->pairs = larger;
    contact->pair_force = forces;
    contact->pair_energy = energies;
    contact->near_pairs = near;
    contact->checks = checks;
    contact->near_count = counts;
    contact->felt = felt;
    contact->pair_capacity = capacity;
    return TW_OK;
}

void tw_contact_forget_felt(tw_contact *contact, bool all)
{
    for (int64_t b = 0; b < tw_parallel_blocks(contact->pair_count, TW_PARTICLE_BLOCK); b++) {
        if (!all && !contact->felt[b]) continue;
        int64_t begin = b * TW_PARTICLE_BLOCK;
        int64_t rest = contact->pair_count - begin;
        size_t count = (size_t)(rest < TW_PARTICLE_BLOCK ? rest : TW_PARTICLE_BLOCK);
        memset(contact->pair_energy + begin, 0, count * sizeof(double));
        contact->felt[b] = 0;
    }
}

tw_vertex_parts tw_contact_parts(const tw_contact *contact, int32_t vertex)
{
    int64_t carried = vertex - contact->particles->count;
    if (carried >= 0) return contact->carried[carried];
    return (tw_vertex_parts){.count = 1, .particle = {vertex}, .weight = {1.0}};
}

void tw_contact_take_vertex(const tw_contact *contact, int32_t vertex, const double *values,
                            double out[3])
{
    /* Mostly a vertex is a particle. */
    if (vertex < contact->particles->count) {
        for (int k = 0; k < 3; k++) out[k] = values[3 * (int64_t)vertex + k];
        return;
    }

    const tw_vertex_parts *parts = &contact->carried[vertex - contact->particles->count];
    double sum[3] = {0.0, 0.0, 0.0};
    for (int c = 0; c < parts->count; c++)
        for (int k = 0; k < 3; k++)
            sum[k] += parts->weight[c] * values[3 * (int64_t)parts->particle[c] + k];
    for (int k = 0; k < 3; k++) out[k] = sum[k];
}

double tw_contact_inverse_mass(const tw_contact *contact, int32_t vertex)
{
    const tw_particles *p = contact->particles;
    tw_vertex_parts parts = tw_contact_parts(contact, vertex);
    double sum = 0.0;
    for (int c = 0; c < parts.count; c++)
        if (!p->pinned[parts.particle[c]])
            sum += parts.weight[c] * parts.weight[c] / p->mass[parts.particle[c]];
    return sum;
}

bool tw_contact_is_held(const tw_contact *contact, int32_t vertex)
{
    tw_vertex_parts parts = tw_contact_parts(contact, vertex);
    for (int c = 0; c < parts.count; c++)
        if (!contact->particles->pinned[parts.particle[c]]) return false;
    return true;
}

void tw_contact_take(const tw_contact *contact, const tw_contact_pair *pair, const double *values,
                     double out[TW_PAIR_VERTICES][3])
{
    for (int i = 0; i < TW_PAIR_VERTICES; i++)
        tw_contact_take_vertex(contact, pair->vertex[i], values, out[i]);
}

/* The smallest mass of the vertices of a side that are free: that of all particles of a vertex
 * together. Infinite if there is none. */
static double smallest_mass(const tw_contact *contact, const side *s)
{
    const tw_particles *p = contact->particles;
    double smallest = INFINITY;
    for (int i = 0; i < s->count; i++) {
        tw_vertex_parts parts = tw_contact_parts(contact, s->vertex[i]);
        double mass = 0.0;
        for (int c = 0; c < parts.count; c++)
            if (!p->pinned[parts.particle[c]]) mass += p->mass[parts.particle[c]];
        if (mass > 0.0) smallest = fmin(smallest, mass);
    }
    return smallest;
}

/* c_0 of two edges: the share of their squared lengths at the start. */
static double parallel_bound(const tw_contact *contact, const tw_contact_pair *pair)
{
    double x[4][3];
    double bound = parallel_sine_squared;
    tw_contact_take(contact, pair, contact->particles->position, x);
    for (int e = 0; e < 2; e++) {
        double square = 0.0;
        for (int k = 0; k < 3; k++) {
            double along = x[2 * e][k] - x[2 * e + 1][k];
            square += along * along;
        }
        bound *= square;
    }
    return bound;
}

/* The index of the first free particle of a pair among the free ones. */
static int32_t first_row(const tw_contact *contact, const tw_contact_pair *pair)
{
    for (int i = 0; i < TW_PAIR_VERTICES; i++) {
        tw_vertex_parts parts = tw_contact_parts(contact, pair->vertex[i]);

        for (int k = 0; k < parts.count; k++) {
            int32_t row = contact->particles->unknown[parts.particle[k]];
            if (row >= 0) return row;
        }
    }
    return -1;
}

/* Adds a pair. A pair without a free particle has no use. */
static tw_status add_pair(tw_contact *contact, tw_pair_kind kind, const side *a, const side *b)
{
    if (isinf(smallest_mass(contact, a)) && isinf(smallest_mass(contact, b))) return TW_OK;
    if (reserve(contact) != TW_OK) return TW_OUT_OF_MEMORY;

    double radius = a->radius + b->radius;
    tw_contact_pair pair = {.kind = kind, .radius = radius, .first_radius = a->radius};
    for (int i = 0; i < a->count; i++) pair.vertex[i] = a->vertex[i];
    for (int i = 0; i < b->count; i++) pair.vertex[a->count + i] = b->vertex[i];
    if (kind == TW_PAIR_POINT_EDGE) pair.vertex[3] = pair.vertex[2];
    pair.row = first_row(contact, &pair);

    tw_contact_set_stiffness(contact, &pair);

    /* A sphere or a capsule may be entered by the contact distance. */
    pair.limit = fmax(pair.radius - contact->options.distance, 0.5 * pair.radius);
    if (kind == TW_PAIR_EDGE_EDGE) pair.parallel = parallel_bound(contact, &pair);
    contact->pairs[contact->pair_count++] = pair;
    return TW_OK;
}

static side side_of(int count, const int64_t *vertices, double radius)
{
    side s = {.count = count, .radius = radius};
    for (int i = 0; i < count; i++) s.vertex[i] = (int32_t)vertices[i];
    return s;
}

tw_status tw_contact_add_cell_pair(tw_contact *contact, tw_pair_kind kind, const tw_contact_cell *a,
                                   int a_corners, const tw_contact_cell *b, int b_corners)
{
    side one = {.count = a_corners, .radius = a->radius};
    side two = {.count = b_corners, .radius = b->radius};
    for (int i = 0; i < a_corners; i++) one.vertex[i] = a->vertex[i];
    for (int i = 0; i < b_corners; i++) two.vertex[i] = b->vertex[i];

    int64_t place = contact->pair_count;
    TW_TRY(add_pair(contact, kind, &one, &two));
    if (place < contact->pair_count)
        contact->pairs[place].limit = tw_contact_limit(&contact->options, a->radius + b->radius);
    return TW_OK;
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

/* ---- lines that several particles carry ---- */

/* A display of lines on carried vertices, as fibres have it: their centre lines. */
static bool is_carried(const tw_display *body)
{
    return body->triangle_count == 0 && body->edge_count == 0 && body->surface.edge_count > 0;
}

/* Adds the vertices of such a display; *first is the vertex of the first of them. */
static tw_status add_carried(tw_contact *contact, const tw_display *body, int64_t *first)
{
    int64_t count = body->surface.vertex_count;
    tw_vertex_parts *larger = TW_NEW_ARRAY(contact->carried_count + count, tw_vertex_parts);
    if (!larger) return TW_OUT_OF_MEMORY;
    *first = contact->particles->count + contact->carried_count;
    if (*first + count > INT32_MAX) {
        tw_release(larger);
        return TW_UNSUPPORTED;
    }

    size_t bytes = (size_t)contact->carried_count * sizeof *larger;
    if (bytes) memcpy(larger, contact->carried, bytes);
    for (int64_t i = 0; i < count; i++) {
        tw_vertex_parts *parts = &larger[contact->carried_count + i];
        parts->count = 4;
        for (int c = 0; c < 4; c++) {
            parts->particle[c] = (int32_t)body->surface.carriers[4 * i + c];
            parts->weight[c] = body->surface.weights[4 * i + c];
        }
    }

    tw_release(contact->carried);
    contact->carried = larger;
    contact->carried_count += count;
    return TW_OK;
}

/* The vertices of the lines against a plane. */
static tw_status pair_carried_plane(tw_contact *contact, const tw_display *body, int64_t first,
                                    const side *plane)
{
    for (int64_t i = 0; i < body->surface.vertex_count; i++) {
        int64_t vertex = first + i;
        side point = side_of(1, &vertex, body->radius);
        TW_TRY(add_pair(contact, TW_PAIR_POINT_PLANE, &point, plane));
    }
    return TW_OK;
}

/* The lines against a sphere or a capsule. */
static tw_status pair_carried(tw_contact *contact, const tw_display *body, int64_t first,
                              const tw_placed_obstacle *obstacle)
{
    if (obstacle->kind == TW_OBSTACLE_PLANE) {
        side plane = side_of(3, obstacle->point, 0.0);
        return pair_carried_plane(contact, body, first, &plane);
    }

    bool is_capsule = obstacle->kind == TW_OBSTACLE_CAPSULE;
    side other = side_of(is_capsule ? 2 : 1, obstacle->point, obstacle->radius);
    for (int64_t i = 0; i < body->surface.edge_count; i++) {
        int64_t ends[2] = {first + body->surface.edges[2 * i],
                           first + body->surface.edges[2 * i + 1]};
        side line = side_of(2, ends, body->radius);
        if (is_capsule)
            TW_TRY(add_pair(contact, TW_PAIR_EDGE_EDGE, &line, &other));
        else
            TW_TRY(add_pair(contact, TW_PAIR_POINT_EDGE, &other, &line));
    }
    return TW_OK;
}

/* ---- all ---- */

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

/* Planes, spheres and capsules are pairs by themselves; other obstacles touch with the triangles of
 * their displays, as bodies do. */
static bool is_round_or_plane(const tw_placed_obstacle *obstacle)
{
    return obstacle->kind == TW_OBSTACLE_PLANE || obstacle->kind == TW_OBSTACLE_SPHERE ||
           obstacle->kind == TW_OBSTACLE_CAPSULE;
}

/* The obstacle of a display; NULL: it is a body. */
static const tw_placed_obstacle *obstacle_of(const tw_obstacle_list *obstacles, int display)
{
    for (int i = 0; i < obstacles->count; i++)
        if (obstacles->list[i].display == display) return &obstacles->list[i];
    return NULL;
}

/* A body and its pairs with planes, spheres and capsules. */
static tw_status list_body(tw_contact *contact, int index, tw_contact_body *out)
{
    const tw_contact_source *source = &contact->source;
    const tw_display *body = &source->displays->list[index];
    *out = (tw_contact_body){.display = index,
                             .lowest = body->first,
                             .vertex_count = body->count,
                             .triangle_count = body->triangle_count,
                             .triangles = body->triangles,
                             .radius = 0.5 * contact->options.thickness};
    if (body->triangle_count == 0) {
        out->edge_count = body->edge_count;
        out->edges = body->edges;
    }

    /* Fibres touch with their centre lines. */
    bool carried = is_carried(body);
    if (carried) {
        TW_TRY(add_carried(contact, body, &out->first));
        out->lowest = 0;
        out->vertex_count = body->surface.vertex_count;
        out->edge_count = body->surface.edge_count;
        out->edges = body->surface.edges;
        out->radius = body->radius;
    }
    if (obstacle_of(source->obstacles, index)) return TW_OK;

    for (int i = 0; i < source->obstacles->count; i++) {
        const tw_placed_obstacle *obstacle = &source->obstacles->list[i];
        if (!is_round_or_plane(obstacle)) continue;
        if (carried)
            TW_TRY(pair_carried(contact, body, out->first, obstacle));
        else
            TW_TRY(pair_obstacle(contact, body, obstacle));
    }
    return TW_OK;
}

tw_status tw_contact_list_surfaces(tw_contact *contact)
{
    const tw_contact_source *source = &contact->source;
    tw_contact_body *bodies = TW_NEW_ARRAY(source->displays->count, tw_contact_body);
    if (!bodies) return TW_OUT_OF_MEMORY;

    int64_t count = 0;
    tw_status status = TW_OK;
    for (int b = 0; b < source->displays->count && status == TW_OK; b++) {
        const tw_placed_obstacle *obstacle = obstacle_of(source->obstacles, b);
        if (obstacle && is_round_or_plane(obstacle)) continue;
        status = list_body(contact, b, &bodies[count++]);
    }
    contact->lasting_count = contact->pair_count;
    if (status == TW_OK) status = tw_contact_list_planes(contact);
    if (status == TW_OK) status = tw_contact_list_cells(contact, count, bodies);
    tw_release(bodies);
    return status;
}
