/* The broad phase: which boxes of a large set overlap.
 *
 * An overlap tree is a complete binary tree over boxes. Leaf l of L holds the items [l n/L, (l+1) n/L)
 * of an order in which neighbours are near each other. The children of node i are 2i and 2i + 1,
 * node 1 is the root. When the boxes move, the tree is refitted: the order stays and the boxes of
 * the nodes are computed anew. It is built again when the refitted nodes have become large.
 *
 * Boxes are single precision, rounded outward: they may report a pair too many, never one too
 * few. */
#ifndef TW_CONTACT_OVERLAP_TREE_H
#define TW_CONTACT_OVERLAP_TREE_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <twang/status.h>

typedef struct tw_box {
    float lower[3];
    float upper[3];
} tw_box;

/* The box that holds nothing. */
static inline tw_box tw_box_empty(void)
{
    return (tw_box){{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}};
}

/* Enlarges the box so that it holds all points within `margin` of x. Values beyond the range of
 * float become infinite, so that they are in the box as well. */
static inline void tw_box_add(tw_box *box, const double x[3], double margin)
{
    for (int k = 0; k < 3; k++) {
        float low = nextafterf((float)(x[k] - margin), -INFINITY);
        float high = nextafterf((float)(x[k] + margin), INFINITY);
        if (low < box->lower[k]) box->lower[k] = low;
        if (high > box->upper[k]) box->upper[k] = high;
    }
}

/* Whether all points within `margin` of x are in the box. */
static inline bool tw_box_holds(const tw_box *box, const double x[3], double margin)
{
    for (int k = 0; k < 3; k++)
        if (!(x[k] - margin >= box->lower[k] && x[k] + margin <= box->upper[k])) return false;
    return true;
}

static inline void tw_box_unite(tw_box *box, const tw_box *other)
{
    for (int k = 0; k < 3; k++) {
        if (other->lower[k] < box->lower[k]) box->lower[k] = other->lower[k];
        if (other->upper[k] > box->upper[k]) box->upper[k] = other->upper[k];
    }
}

/* All six comparisons are made, because a branch after each of them would often be guessed wrong. */
static inline bool tw_box_overlaps(const tw_box *a, const tw_box *b)
{
    int x = (a->lower[0] <= b->upper[0]) & (b->lower[0] <= a->upper[0]);
    int y = (a->lower[1] <= b->upper[1]) & (b->lower[1] <= a->upper[1]);
    int z = (a->lower[2] <= b->upper[2]) & (b->lower[2] <= a->upper[2]);
    return x & y & z;
}

/* Pairs of boxes that overlap: item `first` of one set and item `second` of the other. */
typedef struct tw_box_pair {
    int32_t first;
    int32_t second;
} tw_box_pair;

typedef struct tw_box_pairs {
    int64_t count;
    int64_t capacity;
    tw_box_pair *list;
} tw_box_pairs;

void tw_box_pairs_free(tw_box_pairs *pairs);

typedef struct tw_overlap_tree tw_overlap_tree;

/* A tree for `count` boxes, which may be 0. */
tw_status tw_overlap_tree_create(int64_t count, tw_overlap_tree **out);
void tw_overlap_tree_free(tw_overlap_tree *tree);

/* Takes the boxes over: refits the tree, or builds it. */
void tw_overlap_tree_update(tw_overlap_tree *tree, const tw_box *boxes);

/* How often the tree was built. */
int64_t tw_overlap_tree_builds(const tw_overlap_tree *tree);

/* Lists the overlapping pairs of boxes of a and b, in ascending order of (first, second). With
 * a == b every pair is listed once, first < second. */
tw_status tw_overlap_tree_meet(tw_overlap_tree *a, const tw_overlap_tree *b, tw_box_pairs *pairs);

#endif
