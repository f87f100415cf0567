#include "mesh/box_tree.h"

#include "base/allocate.h"
#include "base/fail.h"

static double middle(const tw_box *box, int axis)
{
    return 0.5 * box->lower[axis] + 0.5 * box->upper[axis];
}

void tw_box_include(tw_box *box, vec3 p)
{
    const double x[3] = {p.x, p.y, p.z};
    for (int k = 0; k < 3; k++) {
        box->lower[k] = fmin(box->lower[k], x[k]);
        box->upper[k] = fmax(box->upper[k], x[k]);
    }
}

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

/* Items are all different: by the middle of the box, then by number. */
static int is_before(const tw_box *boxes, int axis, int64_t a, int64_t b)
{
    double p = middle(boxes + a, axis), q = middle(boxes + b, axis);
    return p < q || (p == q && a < b);
}

static void swap_items(int64_t *items, int64_t a, int64_t b)
{
    int64_t swap = items[a];
    items[a] = items[b];
    items[b] = swap;
}

/* Hoare's selection: afterwards the first `half` items are those that come first. The pivot is picked by a hash of the
 * range, which no order of the input is prepared for. */
static void select_half(const tw_box *boxes, int axis, int64_t *items, int64_t count, int64_t half)
{
    int64_t low = 0, high = count - 1;
    while (low < high) {
        uint64_t mixed =
            ((uint64_t)low * 0x9E3779B97F4A7C15u) ^ ((uint64_t)high * 0xD1B54A32D192ED03u);
        int64_t pivot = items[low + (int64_t)((mixed >> 20) % (uint64_t)(high - low + 1))];
        int64_t i = low, j = high;
        while (i <= j) {
            while (is_before(boxes, axis, items[i], pivot)) i++;
            while (is_before(boxes, axis, pivot, items[j])) j--;
            if (i <= j) swap_items(items, i++, j--);
        }
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

/* Nodes are split in the order they were made; the ranges still to split are the leaves made so far. */
static void split_nodes(tw_box_tree *tree, const tw_box *boxes)
{
    for (int64_t n = 0; n < tree->node_count; n++) {
        tw_box_node *node = tree->nodes + n;
        int64_t *items = tree->items + node->first, count = node->count, half = count / 2;
        node->box = box_of(boxes, items, count);
        if (count <= TW_BOX_TREE_LEAF) continue;
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
    *out = (tw_box_tree){0};
    out->nodes = TW_NEW_ARRAY(count + 1, tw_box_node); /* leaves hold at least two items, or all */
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

int64_t tw_box_tree_nearest(const tw_box_tree *tree, vec3 q, tw_item_distance *distance,
                            const void *context, double *distance_squared)
{
    struct {
        int64_t node;
        double distance;
    } stack[TW_BOX_TREE_DEPTH];
    int depth = 0;
    int64_t nearest = -1;
    double best = *distance_squared;
    if (tree->node_count > 0)
        stack[depth].node = 0, stack[depth++].distance = box_distance(&tree->nodes[0].box, q);
    while (depth > 0) {
        depth--;
        if (stack[depth].distance > best) continue;
        const tw_box_node *node = tree->nodes + stack[depth].node;
        for (int64_t i = 0; i < node->count; i++) {
            int64_t item = tree->items[node->first + i];
            double d = distance(context, item, q);
            if (d > best || (d == best && nearest >= 0 && item > nearest)) continue;
            best = d;
            nearest = item;
        }
        if (node->count > 0) continue;
        double d[2] = {box_distance(&tree->nodes[node->first].box, q),
                       box_distance(&tree->nodes[node->first + 1].box, q)};
        int nearer = d[1] < d[0];
        for (int side = 1; side >= 0; side--) { /* the nearer one is looked at first */
            int child = side ? 1 - nearer : nearer;
            stack[depth].node = node->first + child;
            stack[depth++].distance = d[child];
        }
    }
    if (nearest >= 0) *distance_squared = best;
    return nearest;
}
