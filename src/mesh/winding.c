/* Winding numbers, crossings and distances of a surface, by one tree over its triangles. */
#include "base/allocate.h"
#include "base/fail.h"
#include "mesh/mesh_internal.h"

/* A node is far if its distance is this many times its radius. The error of the winding
 * number is then below 0.01. */
static const double far_factor = 2.5;
static const double four_pi = 12.566370614359172;

static void corners_of(const tw_mesh *surface, int64_t triangle, vec3 p[3])
{
    for (int k = 0; k < 3; k++)
        p[k] = vec3_at(surface->vertices, surface->triangles[3 * triangle + k]);
}

/* ---- building ---- */

/* Returns a triangle's area. Adds area times centroid to *weighted, and area
 * times unit normal to *normal. */
static double add_triangle(const tw_mesh *surface, int64_t triangle, vec3 *weighted, vec3 *normal)
{
    vec3 p[3];
    corners_of(surface, triangle, p);
    vec3 n = vec3_scale(0.5, vec3_cross(vec3_subtract(p[1], p[0]), vec3_subtract(p[2], p[0])));
    double area = vec3_length(n);
    *weighted = vec3_add_scaled(*weighted, area / 3.0, vec3_add(p[0], vec3_add(p[1], p[2])));
    *normal = vec3_add(*normal, n);
    return area;
}

/* moment += (c - centre) n^T for each triangle of a leaf; c is its centroid, n
 * its area times unit normal. */
static void add_leaf_moments(const tw_winding *w, const tw_box_node *leaf, tw_winding_node *node)
{
    for (int64_t i = 0; i < leaf->count; i++) {
        vec3 weighted = {0, 0, 0};
        vec3 n = {0, 0, 0};
        int64_t triangle = w->tree.items[leaf->first + i];
        add_triangle(w->surface, triangle, &weighted, &n);

        /* The arm from the centre of the node to the centroid. */
        vec3 p[3];
        corners_of(w->surface, triangle, p);
        vec3 c = vec3_scale(1.0 / 3.0, vec3_add(p[0], vec3_add(p[1], p[2])));
        vec3 d = vec3_subtract(c, node->centre);

        /* The outer product. */
        const double left[3] = {d.x, d.y, d.z};
        const double right[3] = {n.x, n.y, n.z};
        for (int k = 0; k < 9; k++) node->moment[k] += left[k / 3] * right[k % 3];
    }
}

/* Adds the moment of a child. Moving its centre to that of the node adds (centre of
 * child - centre) normal^T. */
static void add_child_moments(const tw_winding_node *child, tw_winding_node *node)
{
    vec3 d = vec3_subtract(child->centre, node->centre);
    const double left[3] = {d.x, d.y, d.z};
    const double right[3] = {child->normal.x, child->normal.y, child->normal.z};
    for (int k = 0; k < 9; k++) node->moment[k] += child->moment[k] + left[k / 3] * right[k % 3];
}

/* Distance from the centre to the farthest corner of the box. */
static double reach(const tw_box *box, vec3 centre)
{
    vec3 far = {fmax(box->upper[0] - centre.x, centre.x - box->lower[0]),
                fmax(box->upper[1] - centre.y, centre.y - box->lower[1]),
                fmax(box->upper[2] - centre.z, centre.z - box->lower[2])};
    return vec3_length(far);
}

/* Fills in node i of the tree. The nodes of its children, and their areas, are done already. */
static void sum_node(tw_winding *w, int64_t i, double *areas)
{
    const tw_box_node *b = w->tree.nodes + i;
    tw_winding_node *node = w->nodes + i;
    *node = (tw_winding_node){0};

    /* Sum area, area times centroid, and area times normal over the triangles of a
     * leaf, or over two children. */
    vec3 weighted = {0, 0, 0};
    areas[i] = 0.0;
    for (int64_t k = 0; k < b->count; k++)
        areas[i] += add_triangle(w->surface, w->tree.items[b->first + k], &weighted, &node->normal);
    for (int64_t k = b->first; b->count == 0 && k < b->first + 2; k++) {
        areas[i] += areas[k];
        weighted = vec3_add_scaled(weighted, areas[k], w->nodes[k].centre);
        node->normal = vec3_add(node->normal, w->nodes[k].normal);
    }

    /* The centre is the mean by area; that of the box if all triangles are degenerate. */
    vec3 middle = {0.5 * (b->box.lower[0] + b->box.upper[0]),
                   0.5 * (b->box.lower[1] + b->box.upper[1]),
                   0.5 * (b->box.lower[2] + b->box.upper[2])};
    node->centre = areas[i] > 0.0 ? vec3_scale(1.0 / areas[i], weighted) : middle;
    node->radius = reach(&b->box, node->centre);

    /* The moments need the centre. */
    add_leaf_moments(w, b, node);
    for (int64_t k = b->first; b->count == 0 && k < b->first + 2; k++)
        add_child_moments(w->nodes + k, node);
}

static tw_status build_tree(tw_winding *w, tw_error *error)
{
    const tw_mesh *surface = w->surface;
    tw_box *boxes = TW_NEW_ARRAY(surface->triangle_count, tw_box);
    if (!boxes) return tw_fail_plain(error, TW_OUT_OF_MEMORY);

    /* The box of each triangle. */
    for (int64_t i = 0; i < surface->triangle_count; i++) {
        vec3 p[3];
        corners_of(surface, i, p);
        boxes[i] = (tw_box){{p[0].x, p[0].y, p[0].z}, {p[0].x, p[0].y, p[0].z}};
        tw_box_include(boxes + i, p[1]);
        tw_box_include(boxes + i, p[2]);
    }

    tw_status status = tw_box_tree_build(surface->triangle_count, boxes, &w->tree, error);
    tw_release(boxes);
    return status;
}

tw_status tw_winding_create(const tw_mesh *surface, tw_winding *out, tw_error *error)
{
    *out = (tw_winding){.surface = surface};
    TW_TRY(build_tree(out, error));

    /* Children come after their parents, so that going backwards finds them done. */
    tw_status status = TW_OK;
    double *areas = TW_NEW_ARRAY(out->tree.node_count, double);
    out->nodes = TW_NEW_ARRAY(out->tree.node_count, tw_winding_node);
    if (areas && out->nodes)
        for (int64_t i = out->tree.node_count - 1; i >= 0; i--) sum_node(out, i, areas);
    else
        status = tw_fail_plain(error, TW_OUT_OF_MEMORY);

    tw_release(areas);
    if (status != TW_OK) tw_winding_free(out);
    return status;
}

void tw_winding_free(tw_winding *winding)
{
    tw_box_tree_free(&winding->tree);
    tw_release(winding->nodes);
    *winding = (tw_winding){0};
}

/* ---- winding number ---- */

/* Solid angle of a triangle seen from q (van Oosterom and Strackee 1983): tan(omega/2) = a.(b x c)
 * / (|a||b||c| + (a.b)|c| + (b.c)|a| + (c.a)|b|). */
static double solid_angle(vec3 q, const vec3 p[3])
{
    vec3 a = vec3_subtract(p[0], q);
    vec3 b = vec3_subtract(p[1], q);
    vec3 c = vec3_subtract(p[2], q);
    double la = vec3_length(a);
    double lb = vec3_length(b);
    double lc = vec3_length(c);
    double above = vec3_dot(a, vec3_cross(b, c));
    double below = la * lb * lc + vec3_dot(a, b) * lc + vec3_dot(b, c) * la + vec3_dot(c, a) * lb;

    return 2.0 * atan2(above, below);
}

/* The field of a group of dipoles. With r = centre - q: r.N / |r|^3 + sum_jk (delta_jk / |r|^3 -
 * 3 r_j r_k / |r|^5) M_jk. */
static double far_field(const tw_winding_node *node, vec3 r, double square)
{
    const double *m = node->moment;
    double cubed = square * sqrt(square);
    vec3 image = {m[0] * r.x + m[1] * r.y + m[2] * r.z, m[3] * r.x + m[4] * r.y + m[5] * r.z,
                  m[6] * r.x + m[7] * r.y + m[8] * r.z};
    double trace = m[0] + m[4] + m[8];
    return (vec3_dot(r, node->normal) + trace - 3.0 * vec3_dot(r, image) / square) / cubed;
}

double tw_winding_number(const tw_winding *winding, vec3 q)
{
    int64_t stack[TW_BOX_TREE_DEPTH];
    int depth = 0;
    double sum = 0.0;
    if (winding->tree.node_count > 0) stack[depth++] = 0;

    while (depth > 0) {
        int64_t i = stack[--depth];
        const tw_winding_node *node = winding->nodes + i;
        const tw_box_node *b = winding->tree.nodes + i;
        vec3 r = vec3_subtract(node->centre, q);
        double square = vec3_dot(r, r);
        double limit = far_factor * node->radius;

        /* A far node acts by its moments, a near one by its children or its triangles. */
        if (square > limit * limit) {
            sum += far_field(node, r, square);
        } else if (b->count == 0) {
            stack[depth++] = b->first + 1;
            stack[depth++] = b->first;
        } else {
            for (int64_t k = 0; k < b->count; k++) {
                vec3 p[3];
                corners_of(winding->surface, winding->tree.items[b->first + k], p);
                sum += solid_angle(q, p);
            }
        }
    }

    return sum / four_pi;
}

/* ---- crossings ---- */

/* Whether a + t way, 0 <= t <= 1, meets the box: the intervals of t inside the three
 * slabs have a common part. */
static bool meets_box(const tw_box *box, const double a[3], const double way[3])
{
    double from = 0.0;
    double to = 1.0;

    for (int k = 0; k < 3; k++) {
        /* A segment parallel to the slab is inside of it or never. */
        if (way[k] == 0.0) {
            if (a[k] < box->lower[k] || a[k] > box->upper[k]) return false;
            continue;
        }
        double s = (box->lower[k] - a[k]) / way[k];
        double t = (box->upper[k] - a[k]) / way[k];
        from = fmax(from, fmin(s, t));
        to = fmin(to, fmax(s, t));
    }

    return from <= to;
}

/* Solves a + t way = p0 + u (p1 - p0) + v (p2 - p0) by Cramer's rule
 * (Moeller and Trumbore 1997). */
static bool meets_triangle(const vec3 p[3], vec3 a, vec3 way, double *t)
{
    vec3 e = vec3_subtract(p[1], p[0]);
    vec3 f = vec3_subtract(p[2], p[0]);
    vec3 s = vec3_subtract(a, p[0]);
    vec3 h = vec3_cross(way, f);
    vec3 g = vec3_cross(s, e);
    double determinant = vec3_dot(e, h);
    if (determinant == 0.0) return false;

    /* The crossing is in the triangle if u, v >= 0 and u + v <= 1, and on
     * the segment if 0 <= t <= 1. */
    double u = vec3_dot(s, h) / determinant;
    double v = vec3_dot(way, g) / determinant;
    *t = vec3_dot(f, g) / determinant;
    return u >= 0.0 && v >= 0.0 && u + v <= 1.0 && *t >= 0.0 && *t <= 1.0;
}

int tw_winding_crossings(const tw_winding *winding, vec3 a, vec3 b, double *share)
{
    int64_t stack[TW_BOX_TREE_DEPTH];
    int depth = 0;
    int found = 0;
    vec3 way = vec3_subtract(b, a);
    const double start[3] = {a.x, a.y, a.z};
    const double step[3] = {way.x, way.y, way.z};
    if (winding->tree.node_count > 0) stack[depth++] = 0;

    while (depth > 0 && found < 2) {
        const tw_box_node *node = winding->tree.nodes + stack[--depth];
        if (!meets_box(&node->box, start, step)) continue;
        if (node->count == 0) {
            stack[depth++] = node->first + 1;
            stack[depth++] = node->first;
        }

        /* Test the triangles of a leaf; two crossings are enough to know. */
        for (int64_t k = 0; k < node->count && found < 2; k++) {
            vec3 p[3];
            double t = 0.0;
            corners_of(winding->surface, winding->tree.items[node->first + k], p);
            if (!meets_triangle(p, a, way, &t)) continue;
            *share = t;
            found++;
        }
    }

    return found;
}

double tw_winding_area(const tw_winding *winding)
{
    double sum = 0.0;
    for (int64_t i = 0; i < winding->surface->triangle_count; i++) {
        vec3 p[3];
        corners_of(winding->surface, i, p);
        vec3 normal = vec3_cross(vec3_subtract(p[1], p[0]), vec3_subtract(p[2], p[0]));
        sum += 0.5 * vec3_length(normal);
    }
    return sum;
}

bool tw_winding_is_inside(const tw_winding *winding, vec3 q)
{
    /* A sheet has 1/2 at its own points and no inside, hence a little more than 1/2 plus the error
     * of the winding number. A surface that is inside out has -1 inside, hence the absolute value. */
    const double threshold = 0.51;
    return fabs(tw_winding_number(winding, q)) > threshold;
}

/* ---- distance ---- */

static double triangle_distance(const void *context, int64_t item, vec3 q)
{
    vec3 p[3];
    corners_of(context, item, p);
    vec3 d = vec3_subtract(tw_closest_on_triangle(q, p[0], p[1], p[2]), q);
    return vec3_dot(d, d);
}

bool tw_winding_is_near(const tw_winding *winding, vec3 q, double distance)
{
    double square = distance * distance;
    return tw_box_tree_nearest(&winding->tree, q, triangle_distance, winding->surface, &square) >=
           0;
}

double tw_winding_distance(const tw_winding *winding, vec3 q)
{
    double square = INFINITY;
    tw_box_tree_nearest(&winding->tree, q, triangle_distance, winding->surface, &square);
    return sqrt(square);
}

int64_t tw_winding_nearest(const tw_winding *winding, vec3 q)
{
    double square = INFINITY;
    return tw_box_tree_nearest(&winding->tree, q, triangle_distance, winding->surface, &square);
}
