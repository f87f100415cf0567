/* Whether a surface crosses itself. */
#include <math.h>
#include <string.h>

#include "base/allocate.h"
#include "base/fail.h"
#include "mesh/mesh_internal.h"

static vec3 corner(const tw_mesh *mesh, int64_t triangle, int c)
{
    return vec3_at(mesh->vertices, mesh->triangles[3 * triangle + c]);
}

static bool share_a_vertex(const tw_mesh *mesh, int64_t one, int64_t two)
{
    for (int a = 0; a < 3; a++)
        for (int b = 0; b < 3; b++)
            if (mesh->triangles[3 * one + a] == mesh->triangles[3 * two + b]) return true;
    return false;
}

/* Six times the volume of the tetrahedron a b c d. */
static double volume(vec3 a, vec3 b, vec3 c, vec3 d)
{
    vec3 u = vec3_add_scaled(b, -1.0, a);
    vec3 v = vec3_add_scaled(c, -1.0, a);
    vec3 w = vec3_add_scaled(d, -1.0, a);
    return vec3_dot(u, vec3_cross(v, w));
}

/* Whether the edge p q passes through the inside of the triangle a b c: its ends are on different
 * sides, and it passes the three edges of the triangle on the same side. */
static bool passes(vec3 p, vec3 q, vec3 a, vec3 b, vec3 c)
{
    if (!(volume(a, b, c, p) * volume(a, b, c, q) < 0.0)) return false;

    double first = volume(p, q, a, b);
    double second = volume(p, q, b, c);
    double third = volume(p, q, c, a);
    bool positive = first > 0.0 && second > 0.0 && third > 0.0;
    bool negative = first < 0.0 && second < 0.0 && third < 0.0;
    return positive || negative;
}

static bool cross(const tw_mesh *mesh, int64_t one, int64_t two)
{
    for (int turn = 0; turn < 2; turn++) {
        vec3 a = corner(mesh, two, 0);
        vec3 b = corner(mesh, two, 1);
        vec3 c = corner(mesh, two, 2);
        for (int e = 0; e < 3; e++)
            if (passes(corner(mesh, one, e), corner(mesh, one, (e + 1) % 3), a, b, c)) return true;

        int64_t swap = one;
        one = two;
        two = swap;
    }
    return false;
}

static bool overlap(const tw_box *a, const tw_box *b)
{
    for (int k = 0; k < 3; k++)
        if (a->lower[k] > b->upper[k] || b->lower[k] > a->upper[k]) return false;
    return true;
}

/* The first triangle of the tree after triangle i that i crosses; -1: none. */
static int64_t crossed_by(const tw_mesh *mesh, const tw_box_tree *tree, const tw_box *boxes,
                          int64_t i)
{
    int64_t stack[2 * TW_BOX_TREE_DEPTH];
    int height = 0;

    stack[height++] = 0;
    while (height > 0) {
        const tw_box_node *node = tree->nodes + stack[--height];
        if (!overlap(&node->box, boxes + i)) continue;
        if (node->count == 0) {
            stack[height++] = node->first;
            stack[height++] = node->first + 1;
        }

        for (int64_t k = 0; k < node->count; k++) {
            int64_t other = tree->items[node->first + k];
            if (other <= i || !overlap(boxes + other, boxes + i)) continue;
            if (!share_a_vertex(mesh, i, other) && cross(mesh, i, other)) return other;
        }
    }
    return -1;
}

tw_status tw_find_crossing(const tw_mesh *surface, int64_t pair[2], tw_error *error)
{
    int64_t count = surface->triangle_count;
    tw_box *boxes = TW_NEW_ARRAY(count, tw_box);
    if (!boxes) return tw_fail_plain(error, TW_OUT_OF_MEMORY);
    for (int64_t i = 0; i < count; i++) {
        for (int k = 0; k < 3; k++) {
            boxes[i].lower[k] = INFINITY;
            boxes[i].upper[k] = -INFINITY;
        }
        for (int c = 0; c < 3; c++) tw_box_include(boxes + i, corner(surface, i, c));
    }

    tw_box_tree tree = {0};
    tw_status status = tw_box_tree_build(count, boxes, &tree, error);
    pair[0] = -1;
    pair[1] = -1;
    for (int64_t i = 0; i < count && status == TW_OK && pair[0] < 0; i++) {
        int64_t other = crossed_by(surface, &tree, boxes, i);
        if (other < 0) continue;
        pair[0] = i;
        pair[1] = other;
    }
    tw_box_tree_free(&tree);
    tw_release(boxes);
    return status;
}
