/* The tree of boxes: building it by the surface area heuristic, and following a ray through it. */
#include "ray_tree.h"

#include <stdlib.h>
#include <string.h>

enum {
    LEAF = 4,  /* most things in a leaf */
    BINS = 16, /* places at which a split is tried, per axis */
    DEPTH = 64 /* of the tree at most: the size of the stack of a ray */
};

typedef struct box {
    vector3 low, high;
} box;

typedef struct node {
    box bounds;
    int32_t first; /* of its things, or of its two children */
    int32_t count; /* 0: inner */
} node;

struct ray_tree {
    const solids *solids;
    int32_t thing_count;
    int32_t *things; /* below triangle_count: a triangle, else a capsule */
    box *boxes;      /* of each thing, while the tree grows */
    node *nodes;
    int32_t node_count;
};

static box empty_box(void)
{
    return (box){vec(INFINITY, INFINITY, INFINITY), vec(-INFINITY, -INFINITY, -INFINITY)};
}

static void include(box *b, box other)
{
    b->low = lower(b->low, other.low);
    b->high = upper(b->high, other.high);
}

/* Half the surface of a box; 0 for an empty one. */
static float area(box b)
{
    vector3 d = subtract(b.high, b.low);
    return d.x < 0.0F ? 0.0F : d.x * d.y + d.y * d.z + d.z * d.x;
}

/* A component by its number. */
static float along(vector3 v, int axis)
{
    if (axis == 0) return v.x;
    return axis == 1 ? v.y : v.z;
}

static vector3 middle(box b)
{
    return scale(add(b.low, b.high), 0.5F);
}

/* ---- building ---- */

static box box_of(const solids *s, int32_t thing)
{
    if (thing < s->triangle_count) {
        const int64_t *c = s->corners + 3 * (int64_t)thing;
        vector3 a = s->vertices[c[0]], b = s->vertices[c[1]], d = s->vertices[c[2]];
        return (box){lower(a, lower(b, d)), upper(a, upper(b, d))};
    }

    /* A capsule reaches beyond its ends by its radius. */
    const capsule *c = &s->capsules[thing - s->triangle_count];
    vector3 r = vec(c->radius, c->radius, c->radius);
    return (box){subtract(lower(c->a, c->b), r), add(upper(c->a, c->b), r)};
}

/* A plane between two children, and what it costs: sum over the children of surface times
 * number of things. A ray that meets the parent meets a child with a probability
 * proportional to its surface. */
typedef struct split {
    int axis;
    float place, cost;
} split;

/* The things of a node, sorted into slices along an axis. */
typedef struct bins {
    float low, width; /* of the first slice */
    box boxes[BINS];
    int32_t counts[BINS];
} bins;

/* Sorts things first ... first + count - 1 by the middle of their boxes. */
static void fill_bins(const ray_tree *t, int32_t first, int32_t count, int axis, bins *out)
{
    for (int b = 0; b < BINS; b++) {
        out->boxes[b] = empty_box();
        out->counts[b] = 0;
    }

    /* The slice is that of the middle; rounding may put it one slice too far. */
    for (int32_t i = first; i < first + count; i++) {
        box thing = t->boxes[t->things[i]];
        int b = (int)((along(middle(thing), axis) - out->low) / out->width);
        if (b < 0) b = 0;
        if (b >= BINS) b = BINS - 1;
        include(&out->boxes[b], thing);
        out->counts[b]++;
    }
}

/* The cheapest split along an axis; its cost is infinite if there is none. `centres` holds
 * the middles of all boxes. */
static split try_axis(const ray_tree *t, int32_t first, int32_t count, box centres, int axis)
{
    split best = {.axis = axis, .cost = INFINITY};
    bins slices;

    slices.low = along(centres.low, axis);
    slices.width = (along(centres.high, axis) - slices.low) / BINS;
    if (!(slices.width > 0.0F)) return best;
    fill_bins(t, first, count, axis, &slices);

    /* right_cost[b]: cost of the slices from b on. */
    float right_cost[BINS] = {0};
    box right = empty_box();
    int32_t right_count = 0;
    for (int b = BINS - 1; b > 0; b--) {
        include(&right, slices.boxes[b]);
        right_count += slices.counts[b];
        right_cost[b] = area(right) * (float)right_count;
    }

    /* Try the plane before each slice. */
    box left = empty_box();
    int32_t left_count = 0;
    for (int b = 1; b < BINS; b++) {
        include(&left, slices.boxes[b - 1]);
        left_count += slices.counts[b - 1];
        float cost = area(left) * (float)left_count + right_cost[b];
        if (left_count && left_count < count && cost < best.cost) {
            best.cost = cost;
            best.place = slices.low + slices.width * (float)b;
        }
    }

    return best;
}

/* Moves the things before the split to the front, and returns their number. */
static int32_t part(ray_tree *t, int32_t first, int32_t count, split s)
{
    int32_t left = first;
    for (int32_t i = first; i < first + count; i++) {
        /* Swap a thing before the split with the first one behind it. */
        int32_t thing = t->things[i];
        if (along(middle(t->boxes[thing]), s.axis) >= s.place) continue;
        t->things[i] = t->things[left];
        t->things[left++] = thing;
    }

    return left - first;
}

/* Makes node `index` of the things first ... first + count - 1, and all nodes below it. */
static void grow(ray_tree *t, int32_t index, int32_t first, int32_t count, int depth)
{
    /* The box around the things, and the box around their middles. */
    box bounds = empty_box();
    box centres = empty_box();
    for (int32_t i = first; i < first + count; i++) {
        box b = t->boxes[t->things[i]];
        include(&bounds, b);
        include(&centres, (box){middle(b), middle(b)});
    }

    t->nodes[index] = (node){bounds, first, count};
    if (count <= LEAF || depth >= DEPTH - 2) return;

    /* The cheapest split along any axis. There is none if all middles are at one place. */
    split best = {.cost = INFINITY};
    for (int axis = 0; axis < 3; axis++) {
        split s = try_axis(t, first, count, centres, axis);
        if (s.cost < best.cost) best = s;
    }

    if (best.cost == INFINITY) return;
    int32_t left = part(t, first, count, best);
    if (left == 0 || left == count) return;

    /* Two children side by side. */
    int32_t child = t->node_count;
    t->node_count += 2;
    t->nodes[index].first = child;
    t->nodes[index].count = 0;
    grow(t, child, first, left, depth + 1);
    grow(t, child + 1, first + left, count - left, depth + 1);
}

ray_tree *ray_tree_create(const solids *s)
{
    ray_tree *t = calloc(1, sizeof *t);
    if (!t) return NULL;
    t->solids = s;
    t->thing_count = (int32_t)(s->triangle_count + s->capsule_count);

    /* A binary tree has fewer than twice as many nodes as leaves. */
    size_t count = (size_t)t->thing_count + 1;
    t->things = calloc(count, sizeof *t->things);
    t->boxes = calloc(count, sizeof *t->boxes);
    t->nodes = calloc(2 * count, sizeof *t->nodes);
    if (!t->things || !t->boxes || !t->nodes) {
        ray_tree_free(t);
        return NULL;
    }

    for (int32_t i = 0; i < t->thing_count; i++) {
        t->things[i] = i;
        t->boxes[i] = box_of(s, i);
    }

    t->node_count = 1;
    grow(t, 0, 0, t->thing_count, 0);
    return t;
}

void ray_tree_free(ray_tree *tree)
{
    if (!tree) return;
    free(tree->things);
    free(tree->boxes);
    free(tree->nodes);
    free(tree);
}

/* ---- meeting ---- */

/* Each function returns whether the thing is met before *most, which then becomes the distance.
 * `out` (may be NULL) gets the hit. */

/* Solves origin + t direction = a + x u + y v by Cramer's rule (Moeller and Trumbore 1997). */
static bool meet_triangle(const solids *s, int32_t triangle, const ray *r, float *most, hit *out)
{
    const int64_t *c = s->corners + 3 * (int64_t)triangle;
    vector3 a = s->vertices[c[0]];
    vector3 u = subtract(s->vertices[c[1]], a);
    vector3 v = subtract(s->vertices[c[2]], a);
    vector3 p = cross(r->direction, v);
    vector3 from = subtract(r->origin, a);
    float determinant = dot(u, p);
    if (determinant == 0.0F) return false;

    float inverse = 1.0F / determinant;
    float x = dot(from, p) * inverse;
    if (x < 0.0F || x > 1.0F) return false;
    vector3 q = cross(from, u);
    float y = dot(r->direction, q) * inverse;
    float t = dot(v, q) * inverse;
    if (y < 0.0F || x + y > 1.0F || !(t > 0.0F) || t >= *most) return false;
    *most = t;
    if (!out) return true;

    /* The smooth normal is that between the normals of the corners. */
    const vector3 *n = s->normals + 3 * (int64_t)triangle;
    out->t = t;
    out->normal = normalised(add(add(scale(n[0], 1.0F - x - y), scale(n[1], x)), scale(n[2], y)));
    out->face = normalised(cross(u, v));
    out->body = s->bodies[triangle];
    out->stained = solids_are_stained(s, triangle);
    out->stain = add(add(scale(s->stains[c[0]], 1.0F - x - y), scale(s->stains[c[1]], x)),
                     scale(s->stains[c[2]], y));
    return true;
}

/* The distance at which the ray enters a ball, or infinity. */
static float meet_ball(vector3 centre, float radius, const ray *r)
{
    vector3 from = subtract(r->origin, centre);
    float b = dot(from, r->direction);
    float c = dot(from, from) - radius * radius;
    float d = b * b - c;
    return d < 0.0F ? INFINITY : -b - sqrtf(d);
}

/* The distance at which the ray enters the round side of a capsule, or infinity. *where becomes
 * the share of the way along its axis. With the axis a and f = origin - (its beginning), solves
 * |f + t d - ((f + t d).a / a.a) a| = radius. */
static float meet_cylinder(const capsule *c, const ray *r, float *where)
{
    vector3 axis = subtract(c->b, c->a);
    vector3 from = subtract(r->origin, c->a);
    float aa = dot(axis, axis);
    float ad = dot(axis, r->direction);
    float af = dot(axis, from);

    /* a t^2 + 2 b t + rest = 0 */
    float a = aa - ad * ad;
    float b = aa * dot(from, r->direction) - af * ad;
    float rest = aa * dot(from, from) - af * af - c->radius * c->radius * aa;
    float d = b * b - a * rest;
    if (!(aa > 0.0F && a > 0.0F && d >= 0.0F)) return INFINITY;

    float side = (-b - sqrtf(d)) / a;
    float along_axis = af + side * ad;
    if (along_axis < 0.0F || along_axis > aa) return INFINITY;
    *where = along_axis / aa;
    return side;
}

static bool meet_capsule(const capsule *c, const ray *r, float *most, hit *out)
{
    /* The side, else the nearer one of the two balls at the ends. */
    float where = 0.0F;
    float t = meet_cylinder(c, r, &where);
    if (t == INFINITY) {
        float first = meet_ball(c->a, c->radius, r);
        float second = meet_ball(c->b, c->radius, r);
        t = least(first, second);
        where = second < first ? 1.0F : 0.0F;
    }

    if (!(t > 0.0F) || t >= *most) return false;
    *most = t;
    if (!out) return true;

    vector3 at = add(r->origin, scale(r->direction, t));
    out->t = t;
    out->normal = normalised(subtract(at, mixed(c->a, c->b, where)));
    out->face = out->normal;
    out->body = c->body;
    out->stained = false;
    return true;
}

static bool meet_thing(const ray_tree *t, int32_t thing, const ray *r, float *most, hit *out)
{
    const solids *s = t->solids;
    if (thing < s->triangle_count) return meet_triangle(s, thing, r, most, out);
    return meet_capsule(&s->capsules[thing - s->triangle_count], r, most, out);
}

/* ---- following a ray ---- */

/* The distance at which the ray enters the box, or infinity: the ray is in all three slabs from
 * `in` to `out`. The factor covers the rounding of these distances. */
static float enter(const box *b, const ray *r, vector3 inverse, float most)
{
    float x1 = (b->low.x - r->origin.x) * inverse.x;
    float x2 = (b->high.x - r->origin.x) * inverse.x;
    float y1 = (b->low.y - r->origin.y) * inverse.y;
    float y2 = (b->high.y - r->origin.y) * inverse.y;
    float z1 = (b->low.z - r->origin.z) * inverse.z;
    float z2 = (b->high.z - r->origin.z) * inverse.z;

    float in = greatest(greatest(least(x1, x2), least(y1, y2)), greatest(least(z1, z2), 0.0F));
    float out = least(least(greatest(x1, x2), greatest(y1, y2)), least(greatest(z1, z2), most));
    return in <= out * 1.0000005F ? in : INFINITY;
}

/* 1 / x, kept finite. */
static float inverse_of(float x)
{
    return 1.0F / (fabsf(x) > 1e-12F ? x : copysignf(1e-12F, x));
}

static int body_of(const solids *s, int32_t thing)
{
    if (thing < s->triangle_count) return s->bodies[thing];
    return s->capsules[thing - s->triangle_count].body;
}

/* With `out`: finds the first hit. Without: finds any hit, and its body for
 * `blocker` (may be NULL). */
static bool walk(const ray_tree *t, const ray *r, hit *out, int *blocker)
{
    int32_t stack[DEPTH];
    int32_t top = 0;
    float most = r->most;
    bool found = false;

    vector3 inverse =
        vec(inverse_of(r->direction.x), inverse_of(r->direction.y), inverse_of(r->direction.z));
    if (t->thing_count && enter(&t->nodes[0].bounds, r, inverse, most) < INFINITY) stack[top++] = 0;

    while (top > 0) {
        /* The things of a leaf. */
        const node *n = &t->nodes[stack[--top]];
        for (int32_t i = n->first; i < n->first + n->count; i++) {
            if (!meet_thing(t, t->things[i], r, &most, out)) continue;
            found = true;
            if (out) continue;
            if (blocker) *blocker = body_of(t->solids, t->things[i]);
            return true;
        }
        if (n->count) continue;

        /* The children that are met; the nearer one goes on top and is searched first. */
        float near = enter(&t->nodes[n->first].bounds, r, inverse, most);
        float far = enter(&t->nodes[n->first + 1].bounds, r, inverse, most);
        bool swapped = far < near;
        if (greatest(near, far) < INFINITY) stack[top++] = n->first + (swapped ? 0 : 1);
        if (least(near, far) < INFINITY) stack[top++] = n->first + (swapped ? 1 : 0);
    }

    return found;
}

bool ray_tree_first(const ray_tree *tree, const ray *r, hit *out)
{
    if (!walk(tree, r, out, NULL)) return false;

    /* Turn the normals against the ray. */
    if (dot(out->face, r->direction) > 0.0F) {
        out->face = scale(out->face, -1.0F);
        out->normal = scale(out->normal, -1.0F);
    }

    /* A smooth normal may still look away where the face does not. */
    if (dot(out->normal, r->direction) > 0.0F) out->normal = out->face;
    return true;
}

bool ray_tree_any(const ray_tree *tree, const ray *r, int *body)
{
    return walk(tree, r, NULL, body);
}
