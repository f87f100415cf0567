/* The tree of boxes: building it by halves, and searching the nearest item. */
#include "base/allocate.h"
#include "base/fail.h"
#include "mesh/mesh_internal.h"

void tw_box_include(tw_box *box, vec3 p)
{
    const double x[3] = {p.x, p.y, p.z};
    for (int k = 0; k < 3; k++) {
        box->lower[k] = fmin(box->lower[k], x[k]);
        box->upper[k] = fmax(box->upper[k], x[k]);
    }
}

/* ---- building ---- */

static double middle(const tw_box *box, int axis)
{
    return 0.5 * box->lower[axis] + 0.5 * box->upper[axis];
}

/* The box around the boxes of these items. */
static tw_box box_of(const tw_box *boxes, const int64_t *items, int64_t count)
{
    tw_box all = boxes[items[0]];
    for (int64_t i = 1; i < count; i++)
        for (int k = 0; k < 3; k++) {
            all.lower[k] = fmin(all.lower[k], boxes[items[i]].lower[k]);
            all.upper[k] = fmax(all.upper[k], boxes[items[i]].upper[k]);
        }
    return all;
}

/* Orders items by the middle of their boxes; items with equal middles by their
 * numbers. No two items are equal. */
static bool is_before(const tw_box *boxes, int axis, int64_t a, int64_t b)
{
    double p = middle(boxes + a, axis);
    double q = middle(boxes + b, axis);
    return p < q || (p == q && a < b);
}

static void swap_items(int64_t *items, int64_t a, int64_t b)
{
    int64_t swap = items[a];
    items[a] = items[b];
    items[b] = swap;
}

/* A place in [low, high] that looks random and depends on the range alone. A fixed choice, such
 * as the middle, would take quadratic time for an input that is arranged against it. */
static int64_t pivot_place(int64_t low, int64_t high)
{
    uint64_t mixed = ((uint64_t)low * 0x9E3779B97F4A7C15u) ^ ((uint64_t)high * 0xD1B54A32D192ED03u);
    return low + (int64_t)((mixed >> 20) % (uint64_t)(high - low + 1));
}

/* Hoare's selection: afterwards the first `half` items are those that come first along the axis. */
static void select_half(const tw_box *boxes, int axis, int64_t *items, int64_t count, int64_t half)
{
    int64_t low = 0;
    int64_t high = count - 1;

    while (low < high) {
        /* Partition [low, high]: what is before the pivot goes to the left of i, what is
         * after it to the right of j. */
        int64_t pivot = items[pivot_place(low, high)];
        int64_t i = low;
        int64_t j = high;
        while (i <= j) {
            while (is_before(boxes, axis, items[i], pivot)) i++;
            while (is_before(boxes, axis, pivot, items[j])) j--;
            if (i <= j) swap_items(items, i++, j--);
        }

        /* Go on in the part that contains the place `half`. */
        if (half <= j)
            high = j;
        else if (half >= i)
            low = i;
        else
            return;
    }
}

static int longest_axis(const tw_box *box)
{
    int axis = 0;
    for (int k = 1; k < 3; k++)
        if (box->upper[k] - box->lower[k] > box->upper[axis] - box->lower[axis]) axis = k;
    return axis;
}

/* Splits the nodes in the order in which they are made. A node that is still to be
 * split is a leaf until then. */
static void split_nodes(tw_box_tree *tree, const tw_box *boxes)
{
    for (int64_t n = 0; n < tree->node_count; n++) {
        tw_box_node *node = tree->nodes + n;
        int64_t *items = tree->items + node->first;
        int64_t count = node->count;
        int64_t half = count / 2;
        node->box = box_of(boxes, items, count);
        if (count <= TW_BOX_TREE_LEAF) continue;

        /* The two children share the items of this node. */
        select_half(boxes, longest_axis(&node->box), items, count, half);
        tree->nodes[tree->node_count] = (tw_box_node){.first = node->first, .count = half};
        tree->nodes[tree->node_count + 1] =
            (tw_box_node){.first = node->first + half, .count = count - half};

        node->first = tree->node_count;
        node->count = 0;
        tree->node_count += 2;
    }
}

tw_status tw_box_tree_build(int64_t count, const tw_box *boxes, tw_box_tree *out, tw_error *error)
{
    /* A leaf holds at least two items, unless it is the root: there are at most
     * `count` nodes, and the root. */
    *out = (tw_box_tree){0};
    out->nodes = TW_NEW_ARRAY(count + 1, tw_box_node);
    out->items = TW_NEW_ARRAY(count, int64_t);
    if (!out->nodes || !out->items) {
        tw_box_tree_free(out);
        return tw_fail_plain(error, TW_OUT_OF_MEMORY);
    }

    if (count == 0) return TW_OK;

    for (int64_t i = 0; i < count; i++) out->items[i] = i;
    out->nodes[0] = (tw_box_node){.first = 0, .count = count};
    out->node_count = 1;
    split_nodes(out, boxes);

    return TW_OK;
}

void tw_box_tree_free(tw_box_tree *tree)
{
    tw_release(tree->nodes);
    tw_release(tree->items);
    *tree = (tw_box_tree){0};
}

/* ---- searching ---- */

/* A node that is still to be searched, and the square of its distance from the point. */
typedef struct waiting_node {
    int64_t node;
    double distance;
} waiting_node;

/* Square of the distance from q to the box; 0 inside. */
static double box_distance(const tw_box *box, vec3 q)
{
    const double x[3] = {q.x, q.y, q.z};
    double sum = 0.0;

    for (int k = 0; k < 3; k++) {
        double d = fmax(fmax(box->lower[k] - x[k], x[k] - box->upper[k]), 0.0);
        sum += d * d;
    }
    return sum;
}

/* Puts both children on the stack, the nearer one on top, so that it is searched
 * first. Returns the new depth. */
static int push_children(const tw_box_tree *tree, const tw_box_node *node, vec3 q,
                         waiting_node *stack, int depth)
{
    double d[2] = {box_distance(&tree->nodes[node->first].box, q),
                   box_distance(&tree->nodes[node->first + 1].box, q)};
    int nearer = d[1] < d[0];
    int farther = 1 - nearer;

    stack[depth++] = (waiting_node){node->first + farther, d[farther]};
    stack[depth++] = (waiting_node){node->first + nearer, d[nearer]};
    return depth;
}

int64_t tw_box_tree_nearest(const tw_box_tree *tree, vec3 q, tw_item_distance *distance,
                            const void *context, double *distance_squared)
{
    waiting_node stack[TW_BOX_TREE_DEPTH];
    int depth = 0;
    int64_t nearest = -1;
    double best = *distance_squared;

    if (tree->node_count > 0)
        stack[depth++] = (waiting_node){0, box_distance(&tree->nodes[0].box, q)};

    while (depth > 0) {
        /* A box farther away than the best item cannot hold a better one. */
        depth--;
        if (stack[depth].distance > best) continue;
        const tw_box_node *node = tree->nodes + stack[depth].node;

        /* Look at the items of a leaf. Of equally near items the one with
         * the smallest number wins. */
        for (int64_t i = 0; i < node->count; i++) {
            int64_t item = tree->items[node->first + i];
            double d = distance(context, item, q);
            if (d > best || (d == best && nearest >= 0 && item > nearest)) continue;
            best = d;
            nearest = item;
        }

        if (node->count == 0) depth = push_children(tree, node, q, stack, depth);
    }

    if (nearest >= 0) *distance_squared = best;
    return nearest;
}
