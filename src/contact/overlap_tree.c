/* The broad phase: a tree of boxes. */
#include "contact/overlap_tree.h"

#include <string.h>

#include "base/allocate.h"
#include "base/fail.h"
#include "base/interrupt.h"
#include "base/parallel_for.h"

/* Boxes per leaf, at most. A search over 100,000 segments (bench_broad_phase) takes the times 1.5,
 * 1.1 and 1 with leaves of 2, 4 and 8 boxes. */
enum { LEAF_SIZE = 8 };

/* A refitted tree is built again when the surface of its nodes has grown by this factor. */
static const double WORN_OUT = 1.5;

/* Leaves per block of the parallel loop. */
enum { LEAVES_PER_BLOCK = 64 };

/* Blocks that are searched between two questions whether to go on. */
enum { PORTION_BLOCKS = 8 };

/* The tree is a complete one, so that its depth is at most that of 2^31 leaves, and a traversal
 * never waits with more than two nodes per level. */
enum { STACK = 64 };

/* What one block of leaves has found. */
typedef struct found {
    tw_box_pairs pairs;
    bool out_of_memory;
} found;

struct tw_overlap_tree {
    int64_t count;   /* of boxes */
    int64_t leaves;  /* a power of two */
    int32_t *item;   /* the boxes in the order of the leaves */
    tw_box *boxes;   /* in that order */
    tw_box *nodes;   /* 2 * leaves; number 0 is not used */
    float *centre;   /* three per box, in the order of the caller */
    int64_t *starts; /* room for sorting: one per box and one more */
    found *blocks;   /* one per block of leaves */
    int64_t block_count;
    double built_surface; /* of the nodes when the tree was built; 0: it was not built yet */
    int64_t builds;
};

void tw_box_pairs_free(tw_box_pairs *pairs)
{
    tw_release(pairs->list);
    *pairs = (tw_box_pairs){0};
}

/* Room for more pairs, at least twice as much as before. */
static bool reserve(tw_box_pairs *pairs, int64_t count)
{
    if (count <= pairs->capacity) return true;
    int64_t capacity = 2 * pairs->capacity > count ? 2 * pairs->capacity : count + 256;
    tw_box_pair *larger = TW_NEW_ARRAY(capacity, tw_box_pair);
    if (!larger) return false;

    if (pairs->count) memcpy(larger, pairs->list, (size_t)pairs->count * sizeof *larger);
    tw_release(pairs->list);
    pairs->list = larger;
    pairs->capacity = capacity;
    return true;
}

/* ---- creating ---- */

tw_status tw_overlap_tree_create(int64_t count, tw_overlap_tree **out)
{
    *out = NULL;
    if (count > INT32_MAX) return TW_UNSUPPORTED;
    tw_overlap_tree *tree = TW_NEW(tw_overlap_tree);
    if (!tree) return TW_OUT_OF_MEMORY;

    /* As many leaves as a complete tree needs, and what its blocks find. */
    tree->count = count;
    tree->leaves = 1;
    while (tree->leaves * LEAF_SIZE < count) tree->leaves *= 2;
    tree->block_count = tw_parallel_blocks(tree->leaves, LEAVES_PER_BLOCK);

    tree->item = TW_NEW_ARRAY(count, int32_t);
    tree->boxes = TW_NEW_ARRAY(count, tw_box);
    tree->nodes = TW_NEW_ARRAY(2 * tree->leaves, tw_box);
    tree->centre = TW_NEW_ARRAY(3 * count, float);
    tree->starts = TW_NEW_ARRAY(count + 1, int64_t);
    tree->blocks = tw_allocate_zeroed((size_t)tree->block_count, sizeof(found));
    if (!tree->item || !tree->boxes || !tree->nodes || !tree->centre || !tree->starts ||
        !tree->blocks) {
        tw_overlap_tree_free(tree);
        return TW_OUT_OF_MEMORY;
    }

    /* Until it is built, the order is that of the caller. */
    for (int64_t i = 0; i < count; i++) tree->item[i] = (int32_t)i;
    *out = tree;
    return TW_OK;
}

void tw_overlap_tree_free(tw_overlap_tree *tree)
{
    if (!tree) return;
    for (int64_t b = 0; tree->blocks && b < tree->block_count; b++)
        tw_box_pairs_free(&tree->blocks[b].pairs);
    tw_release(tree->item);
    tw_release(tree->boxes);
    tw_release(tree->nodes);
    tw_release(tree->centre);
    tw_release(tree->starts);
    tw_release(tree->blocks);
    tw_release(tree);
}

int64_t tw_overlap_tree_builds(const tw_overlap_tree *tree)
{
    return tree->builds;
}

/* The first item of a leaf. */
static int64_t leaf_begin(const tw_overlap_tree *tree, int64_t leaf)
{
    return leaf * tree->count / tree->leaves;
}

/* ---- building ---- */

/* Orders items [begin, end) so that those before `middle` have the smaller centres along the axis
 * (Hoare's selection). Equal centres are ordered by their numbers, so that the result does not
 * depend on the order before. */
static void select_middle(const float *centre, int axis, int32_t *item, int64_t begin, int64_t end,
                          int64_t middle)
{
    while (end - begin > 1) {
        int32_t pivot = item[begin + (end - begin) / 2];
        float value = centre[3 * (int64_t)pivot + axis];
        int64_t low = begin;
        int64_t high = end - 1;

        /* What is smaller than the pivot goes to the left of what is larger. */
        while (low <= high) {
            while (centre[3 * (int64_t)item[low] + axis] < value ||
                   (centre[3 * (int64_t)item[low] + axis] == value && item[low] < pivot))
                low++;
            while (centre[3 * (int64_t)item[high] + axis] > value ||
                   (centre[3 * (int64_t)item[high] + axis] == value && item[high] > pivot))
                high--;
            if (low > high) break;

            int32_t swap = item[low];
            item[low++] = item[high];
            item[high--] = swap;
        }

        /* The middle lies in one of the two parts, or between them. */
        if (middle <= high)
            end = high + 1;
        else if (middle >= low)
            begin = low;
        else
            return;
    }
}

/* The axis along which the centres of these items extend furthest. */
static int longest_axis(const tw_overlap_tree *tree, int64_t begin, int64_t end)
{
    float lower[3] = {INFINITY, INFINITY, INFINITY};
    float upper[3] = {-INFINITY, -INFINITY, -INFINITY};
    for (int64_t i = begin; i < end; i++)
        for (int k = 0; k < 3; k++) {
            float c = tree->centre[3 * (int64_t)tree->item[i] + k];
            if (c < lower[k]) lower[k] = c;
            if (c > upper[k]) upper[k] = c;
        }

    int axis = 0;
    for (int k = 1; k < 3; k++)
        if (upper[k] - lower[k] > upper[axis] - lower[axis]) axis = k;
    return axis;
}

/* Splits the leaves, level by level, in the middle of the longest axis. */
static void order_items(tw_overlap_tree *tree)
{
    for (int64_t width = tree->leaves; width > 1; width /= 2)
        for (int64_t leaf = 0; leaf < tree->leaves; leaf += width) {
            int64_t begin = leaf_begin(tree, leaf);
            int64_t end = leaf_begin(tree, leaf + width);
            int64_t middle = leaf_begin(tree, leaf + width / 2);
            if (middle == begin || middle == end) continue;
            int axis = longest_axis(tree, begin, end);
            select_middle(tree->centre, axis, tree->item, begin, end, middle);
        }
}

/* The centres of the boxes. What is infinite or not a number counts as 0: any order is correct. */
static void find_centres(tw_overlap_tree *tree, const tw_box *boxes)
{
    for (int64_t i = 0; i < 3 * tree->count; i++) {
        float sum = boxes[i / 3].lower[i % 3] + boxes[i / 3].upper[i % 3];
        tree->centre[i] = isfinite(sum) ? sum : 0.0F;
    }
}

/* ---- refitting ---- */

typedef struct refit {
    tw_overlap_tree *tree;
    const tw_box *boxes; /* of the caller */
} refit;

static void refit_leaves(void *context, int64_t begin, int64_t end, int64_t block)
{
    (void)block;
    const refit *r = context;
    tw_overlap_tree *tree = r->tree;
    for (int64_t leaf = begin; leaf < end; leaf++) {
        tw_box node = tw_box_empty();
        for (int64_t i = leaf_begin(tree, leaf); i < leaf_begin(tree, leaf + 1); i++) {
            tree->boxes[i] = r->boxes[tree->item[i]];
            tw_box_unite(&node, &tree->boxes[i]);
        }
        tree->nodes[tree->leaves + leaf] = node;
    }
}

/* The sum of the extents of all nodes above the leaves: a measure of what a search must visit. */
static double fit_nodes(tw_overlap_tree *tree, const tw_box *boxes)
{
    refit r = {tree, boxes};
    tw_parallel_for(tree->leaves, LEAVES_PER_BLOCK, refit_leaves, &r);

    double sum = 0.0;
    for (int64_t node = tree->leaves - 1; node >= 1; node--) {
        tree->nodes[node] = tree->nodes[2 * node];
        tw_box_unite(&tree->nodes[node], &tree->nodes[2 * node + 1]);
        for (int k = 0; k < 3; k++)
            sum += (double)tree->nodes[node].upper[k] - tree->nodes[node].lower[k];
    }
    return sum;
}

void tw_overlap_tree_update(tw_overlap_tree *tree, const tw_box *boxes)
{
    if (tree->count == 0) return;

    /* Refit, if the tree is still good after it. A sum that is not finite is not. */
    bool is_built = tree->builds > 0;
    if (is_built && fit_nodes(tree, boxes) <= WORN_OUT * tree->built_surface) return;

    /* Build it again. */
    find_centres(tree, boxes);
    order_items(tree);
    tree->built_surface = fit_nodes(tree, boxes);
    tree->builds++;
}

/* ---- meeting ---- */

typedef struct search {
    tw_overlap_tree *a;
    const tw_overlap_tree *b;
    int64_t first_block; /* of the portion being searched */
} search;

/* Pairs of the items of a leaf of a with those of a leaf of b. */
static void meet_leaves(const search *s, int64_t leaf, int64_t other, found *out)
{
    const tw_overlap_tree *a = s->a;
    const tw_overlap_tree *b = s->b;
    bool same_leaf = a == b && leaf == other;
    int64_t begin = leaf_begin(b, other);
    int64_t end = leaf_begin(b, other + 1);
    int64_t own = leaf_begin(a, leaf);
    int64_t own_end = leaf_begin(a, leaf + 1);

    /* Room for all pairs there can be. */
    if (!reserve(&out->pairs, out->pairs.count + (end - begin) * (own_end - own))) {
        out->out_of_memory = true;
        return;
    }

    /* Within one tree the smaller number comes first. */
    for (int64_t i = own; i < own_end; i++)
        for (int64_t j = same_leaf ? i + 1 : begin; j < end; j++) {
            if (!tw_box_overlaps(&a->boxes[i], &b->boxes[j])) continue;
            tw_box_pair pair = {a->item[i], b->item[j]};
            if (a == b && pair.first > pair.second) pair = (tw_box_pair){pair.second, pair.first};
            out->pairs.list[out->pairs.count++] = pair;
        }
}

/* All leaves of b that one leaf of a overlaps. Within one tree these are the leaves from itself
 * on, so that every pair is found once. */
static void search_leaf(const search *s, int64_t leaf, found *out)
{
    const tw_overlap_tree *b = s->b;
    const tw_box *box = &s->a->nodes[s->a->leaves + leaf];
    bool within = s->a == b;

    /* A waiting node, and how many leaves it covers. */
    int64_t stack[STACK];
    int64_t width[STACK];
    int depth = 0;
    stack[depth] = 1;
    width[depth++] = b->leaves;

    while (depth > 0 && !out->out_of_memory) {
        int64_t node = stack[--depth];
        int64_t span = width[depth];
        if (!tw_box_overlaps(box, &b->nodes[node])) continue;

        /* The leaves of the node are [first, first + span). */
        int64_t first = node * span - b->leaves;
        if (within && first + span <= leaf) continue;
        if (span == 1) {
            meet_leaves(s, leaf, first, out);
            continue;
        }

        /* The left half is visited first. */
        stack[depth] = 2 * node + 1;
        width[depth++] = span / 2;
        stack[depth] = 2 * node;
        width[depth++] = span / 2;
    }
}

static void search_block(void *context, int64_t begin, int64_t end, int64_t block)
{
    const search *s = context;
    found *out = &s->a->blocks[s->first_block + block];
    out->pairs.count = 0;
    out->out_of_memory = false;

    int64_t first = s->first_block * LEAVES_PER_BLOCK;
    for (int64_t leaf = begin; leaf < end; leaf++) search_leaf(s, first + leaf, out);
}

/* Moves the entries of a run that are `gap` apart into the order of `second`, by insertion. */
static void insert_at_gap(int64_t length, int64_t gap, tw_box_pair *run)
{
    for (int64_t i = gap; i < length; i++) {
        tw_box_pair pair = run[i];
        int64_t place = i;
        for (; place >= gap && run[place - gap].second > pair.second; place -= gap)
            run[place] = run[place - gap];
        run[place] = pair;
    }
}

/* Sorts a run of pairs with the same `first` by Shell's method: most runs are short, but where boxes are as large as the
 * body every box meets all others. */
static void sort_run(int64_t length, tw_box_pair *run)
{
    int64_t gap = 1;
    while (gap < length / 3) gap = 3 * gap + 1;
    for (; gap > 0; gap /= 3) insert_at_gap(length, gap, run);
}

/* Puts the pairs of all blocks into ascending order: a counting sort by `first`, and then each
 * run by `second`. */
static void sort_pairs(tw_overlap_tree *tree, tw_box_pairs *pairs)
{
    /* Where the pairs of each box begin. */
    int64_t *start = tree->starts;
    memset(start, 0, (size_t)(tree->count + 1) * sizeof *start);
    for (int64_t b = 0; b < tree->block_count; b++)
        for (int64_t p = 0; p < tree->blocks[b].pairs.count; p++)
            start[tree->blocks[b].pairs.list[p].first + 1]++;
    for (int64_t i = 0; i < tree->count; i++) start[i + 1] += start[i];

    /* Filling moves start[i] up to start[i + 1]. */
    for (int64_t b = 0; b < tree->block_count; b++)
        for (int64_t p = 0; p < tree->blocks[b].pairs.count; p++) {
            tw_box_pair pair = tree->blocks[b].pairs.list[p];
            pairs->list[start[pair.first]++] = pair;
        }

    /* Now start[i] is where the run of box i ends. */
    int64_t begin = 0;
    for (int64_t i = 0; i < tree->count; i++) {
        sort_run(start[i] - begin, pairs->list + begin);
        begin = start[i];
    }
}

tw_status tw_overlap_tree_meet(tw_overlap_tree *a, const tw_overlap_tree *b, tw_box_pairs *pairs)
{
    pairs->count = 0;
    if (a->count == 0 || b->count == 0) return TW_OK;

    /* In portions, and between them the user may end the step. */
    search s = {a, b, 0};
    for (; s.first_block < a->block_count; s.first_block += PORTION_BLOCKS) {
        TW_TRY(tw_question_ask(0));
        int64_t rest = a->leaves - s.first_block * LEAVES_PER_BLOCK;
        int64_t most = (int64_t)PORTION_BLOCKS * LEAVES_PER_BLOCK;
        tw_parallel_for(rest < most ? rest : most, LEAVES_PER_BLOCK, search_block, &s);
    }

    /* All blocks into one list. */
    int64_t count = 0;
    for (int64_t block = 0; block < a->block_count; block++) {
        if (a->blocks[block].out_of_memory) return TW_OUT_OF_MEMORY;
        count += a->blocks[block].pairs.count;
    }

    if (!reserve(pairs, count)) return TW_OUT_OF_MEMORY;
    sort_pairs(a, pairs);
    pairs->count = count;
    return TW_OK;
}
