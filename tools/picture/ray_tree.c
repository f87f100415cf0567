#include "ray_tree.h"

#include <stdlib.h>
#include <string.h>

enum { LEAF = 4, BINS = 16, DEPTH = 64 };

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

static float area(box b)
{
    vector3 d = subtract(b.high, b.low);
    return d.x < 0.0F ? 0.0F : d.x * d.y + d.y * d.z + d.z * d.x;
}

static float along(vector3 v, int axis)
{
    return axis == 0 ? v.x : axis == 1 ? v.y : v.z;
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
    const capsule *c = &s->capsules[thing - s->triangle_count];
    vector3 r = vec(c->radius, c->radius, c->radius);
    return (box){subtract(lower(c->a, c->b), r), add(upper(c->a, c->b), r)};
}

typedef struct split {
    int axis;
    float place, cost;
} split;

static split try_axis(const ray_tree *t, int32_t first, int32_t count, box centres, int axis)
{
    box bins[BINS];
    int32_t counts[BINS] = {0};
    float low = along(centres.low, axis), width = (along(centres.high, axis) - low) / BINS;
    split best = {.axis = axis, .cost = INFINITY};
    if (!(width > 0.0F)) return best;
    for (int b = 0; b < BINS; b++) bins[b] = empty_box();
    for (int32_t i = first; i < first + count; i++) {
        int b = (int)((along(middle(t->boxes[t->things[i]]), axis) - low) / width);
        b = b < 0 ? 0 : b >= BINS ? BINS - 1 : b;
        include(&bins[b], t->boxes[t->things[i]]);
        counts[b]++;
    }
    float right_cost[BINS] = {0};
    box right = empty_box();
    int32_t right_count = 0;
    for (int b = BINS - 1; b > 0; b--) {
        include(&right, bins[b]);
        right_count += counts[b];
        right_cost[b] = area(right) * (float)right_count;
    }
    box left = empty_box();
    int32_t left_count = 0;
    for (int b = 1; b < BINS; b++) {
        include(&left, bins[b - 1]);
        left_count += counts[b - 1];
        float cost = area(left) * (float)left_count + right_cost[b];
        if (left_count && left_count < count && cost < best.cost) {
            best.cost = cost;
            best.place = low + width * (float)b;
        }
    }
    return best;
}

/* Moves what lies before the split to the front; how many that are. */
static int32_t part(ray_tree *t, int32_t first, int32_t count, split s)
{
    int32_t left = first;
    for (int32_t i = first; i < first + count; i++) {
        int32_t thing = t->things[i];
        if (along(middle(t->boxes[thing]), s.axis) >= s.place) continue;
        t->things[i] = t->things[left];
        t->things[left++] = thing;
    }
    return left - first;
}

static void grow(ray_tree *t, int32_t index, int32_t first, int32_t count, int depth)
{
    box bounds = empty_box(), centres = empty_box();
    for (int32_t i = first; i < first + count; i++) {
        box b = t->boxes[t->things[i]];
        include(&bounds, b);
        include(&centres, (box){middle(b), middle(b)});
    }
    t->nodes[index] = (node){bounds, first, count};
    if (count <= LEAF || depth >= DEPTH - 2) return;
    split best = {.cost = INFINITY};
    for (int axis = 0; axis < 3; axis++) {
        split s = try_axis(t, first, count, centres, axis);
        if (s.cost < best.cost) best = s;
    }
    if (best.cost == INFINITY) return; /* all in one place */
    int32_t left = part(t, first, count, best);
    if (left == 0 || left == count) return;
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

/* Moeller and Trumbore (1997). */
static bool meet_triangle(const solids *s, int32_t triangle, const ray *r, float *most, hit *out)
{
    const int64_t *c = s->corners + 3 * (int64_t)triangle;
    vector3 a = s->vertices[c[0]];
    vector3 u = subtract(s->vertices[c[1]], a), v = subtract(s->vertices[c[2]], a);
    vector3 p = cross(r->direction, v), from = subtract(r->origin, a);
    float determinant = dot(u, p);
    if (determinant == 0.0F) return false;
    float inverse = 1.0F / determinant, x = dot(from, p) * inverse;
    if (x < 0.0F || x > 1.0F) return false;
    vector3 q = cross(from, u);
    float y = dot(r->direction, q) * inverse, t = dot(v, q) * inverse;
    if (y < 0.0F || x + y > 1.0F || !(t > 0.0F) || t >= *most) return false;
    *most = t;
    if (!out) return true;
    const vector3 *n = s->normals + 3 * (int64_t)triangle;
    out->t = t;
    out->normal = normalised(add(add(scale(n[0], 1.0F - x - y), scale(n[1], x)), scale(n[2], y)));
    out->face = normalised(cross(u, v));
    out->body = s->bodies[triangle];
    return true;
}

/* The ray against a ball; its near side only. */
static float meet_ball(vector3 centre, float radius, const ray *r)
{
    vector3 from = subtract(r->origin, centre);
    float b = dot(from, r->direction), c = dot(from, from) - radius * radius, d = b * b - c;
    return d < 0.0F ? INFINITY : -b - sqrtf(d);
}

static bool meet_capsule(const solids *s, const capsule *c, const ray *r, float *most, hit *out)
{
    vector3 axis = subtract(c->b, c->a), from = subtract(r->origin, c->a);
    float aa = dot(axis, axis), ad = dot(axis, r->direction), af = dot(axis, from);
    float t = INFINITY, where = 0.0F;
    /* |f + t d - ((f + t d).a / a.a) a| = radius */
    float a = aa - ad * ad, b = aa * dot(from, r->direction) - af * ad;
    float rest = aa * dot(from, from) - af * af - c->radius * c->radius * aa, d = b * b - a * rest;
    if (aa > 0.0F && a > 0.0F && d >= 0.0F) {
        float side = (-b - sqrtf(d)) / a, along_axis = af + side * ad;
        if (along_axis >= 0.0F && along_axis <= aa) {
            t = side;
            where = along_axis / aa;
        }
    }
    if (t == INFINITY) {
        float first = meet_ball(c->a, c->radius, r), second = meet_ball(c->b, c->radius, r);
        t = least(first, second);
        where = second < first ? 1.0F : 0.0F;
    }
    (void)s;
    if (!(t > 0.0F) || t >= *most) return false;
    *most = t;
    if (!out) return true;
    vector3 at = add(r->origin, scale(r->direction, t));
    out->t = t;
    out->normal = out->face = normalised(subtract(at, mixed(c->a, c->b, where)));
    out->body = c->body;
    return true;
}

static bool meet_thing(const ray_tree *t, int32_t thing, const ray *r, float *most, hit *out)
{
    const solids *s = t->solids;
    if (thing < s->triangle_count) return meet_triangle(s, thing, r, most, out);
    return meet_capsule(s, &s->capsules[thing - s->triangle_count], r, most, out);
}

/* Where the ray enters the box, or infinity. */
static float enter(const box *b, const ray *r, vector3 inverse, float most)
{
    float x1 = (b->low.x - r->origin.x) * inverse.x, x2 = (b->high.x - r->origin.x) * inverse.x;
    float y1 = (b->low.y - r->origin.y) * inverse.y, y2 = (b->high.y - r->origin.y) * inverse.y;
    float z1 = (b->low.z - r->origin.z) * inverse.z, z2 = (b->high.z - r->origin.z) * inverse.z;
    float in = greatest(greatest(least(x1, x2), least(y1, y2)), greatest(least(z1, z2), 0.0F));
    float out = least(least(greatest(x1, x2), greatest(y1, y2)), least(greatest(z1, z2), most));
    return in <= out * 1.0000005F ? in : INFINITY;
}

static float inverse_of(float x)
{
    return 1.0F / (fabsf(x) > 1e-12F ? x : copysignf(1e-12F, x));
}

/* With `out`, the first hit; without, any (its body into `blocker`). */
static bool walk(const ray_tree *t, const ray *r, hit *out, int *blocker)
{
    int32_t stack[DEPTH], top = 0;
    float most = r->most;
    bool found = false;
    vector3 inverse =
        vec(inverse_of(r->direction.x), inverse_of(r->direction.y), inverse_of(r->direction.z));
    if (t->thing_count && enter(&t->nodes[0].bounds, r, inverse, most) < INFINITY) stack[top++] = 0;
    while (top > 0) {
        const node *n = &t->nodes[stack[--top]];
        for (int32_t i = n->first; i < n->first + n->count; i++) {
            if (!meet_thing(t, t->things[i], r, &most, out)) continue;
            found = true;
            if (out) continue;
            int32_t thing = t->things[i];
            const solids *s = t->solids;
            if (blocker)
                *blocker = thing < s->triangle_count ? s->bodies[thing]
                                                     : s->capsules[thing - s->triangle_count].body;
            return true;
        }
        if (n->count) continue;
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
    if (dot(out->face, r->direction) > 0.0F) {
        out->face = scale(out->face, -1.0F);
        out->normal = scale(out->normal, -1.0F);
    }
    /* a smooth normal may look away where the face does not */
    if (dot(out->normal, r->direction) > 0.0F) out->normal = out->face;
    return true;
}

bool ray_tree_any(const ray_tree *tree, const ray *r, int *body)
{
    return walk(tree, r, NULL, body);
}
