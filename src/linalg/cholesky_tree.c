/* Independent parts of a supernodal factor.
 *
 * The supernodes form a tree: the parent of a supernode holds the first row below its own. Rows of a
 * supernode below its own belong to its ancestors. So subtrees without a common node can be
 * substituted at the same time, and only what they add to the rows of their common ancestors, the
 * top, has to be summed up. How the tree is cut depends on the pattern alone, and the sums of the
 * parts are added in the order of the parts: results are the same for any number of threads. */
#include <math.h>

#include "base/allocate.h"
#include "linalg/cholesky_internal.h"

/* Bytes of a factor that one thread passes over in some hundred microseconds: a smaller one is not
 * cut. */
static const double LEAST_BYTES = 1e6;

/* Supernodes that the top may take: the best cut of a tree with two or eight heavy branches takes
 * far fewer. */
enum { MOST_CUTS = 64 };

/* What is known of a supernode while the tree is cut. */
typedef struct tree_node {
    int parent;    /* -1: none */
    double work;   /* entries of L */
    double within; /* work of its whole subtree */
    int part;
} tree_node;

/* States of tree_node.part while the tree is cut. */
enum { INSIDE = -1, ROOT = -2, TOP = -3 };

/* Parents, and the work of nodes and subtrees. */
static void describe_nodes(const cholmod_factor *L, const int *node_of_row, tree_node *nodes)
{
    const int *super = L->super;
    const int *row_start = L->pi;
    const int *rows = L->s;
    int count = (int)L->nsuper;

    for (int s = 0; s < count; s++) {
        int columns = super[s + 1] - super[s];
        int height = row_start[s + 1] - row_start[s];
        nodes[s].work = (double)columns * height;
        nodes[s].within = nodes[s].work;
        nodes[s].parent = height > columns ? node_of_row[rows[row_start[s] + columns]] : -1;
        nodes[s].part = nodes[s].parent < 0 ? ROOT : INSIDE;
    }

    /* A parent comes after its children. */
    for (int s = 0; s < count; s++)
        if (nodes[s].parent >= 0) nodes[nodes[s].parent].within += nodes[s].within;
}

/* The root of the heaviest subtree. */
static int heaviest_root(const tree_node *nodes, int count)
{
    int heaviest = -1;

    for (int s = 0; s < count; s++)
        if (nodes[s].part == ROOT && (heaviest < 0 || nodes[s].within > nodes[heaviest].within))
            heaviest = s;
    return heaviest;
}

static int least_of(const double *load, int count)
{
    int least = 0;

    for (int i = 1; i < count; i++)
        if (load[i] < load[least]) least = i;
    return least;
}

/* Moves the root of the heaviest subtree to the top; its children become roots. */
static void cut_once(tree_node *nodes, int root)
{
    nodes[root].part = TOP;

    for (int s = 0; s < root; s++)
        if (nodes[s].parent == root) nodes[s].part = ROOT;
}

/* Work that passes before all is done if `workers` share out the subtrees: that of the top, and that
 * of the worker with the most. A subtree goes to the worker with the least so far. */
static double time_taken(const tree_node *nodes, int count, int workers, double top)
{
    double load[TW_TREE_PARTS] = {0};
    double most = 0;
    for (int s = count - 1; s >= 0; s--) {
        if (nodes[s].part != ROOT) continue;
        int least = least_of(load, workers);
        load[least] += nodes[s].within;
        if (load[least] > most) most = load[least];
    }
    return top + most;
}

/* Cuts the tree `cuts` times at its heaviest subtree, and finds after how many cuts two workers and
 * TW_TREE_PARTS of them are done soonest (the sum of both times). */
static int cut_tree(tree_node *nodes, int count, int cuts)
{
    double top = 0;
    double shortest = INFINITY;
    int best = 0;
    for (int done = 0; done <= cuts; done++) {
        double time =
            time_taken(nodes, count, 2, top) + time_taken(nodes, count, TW_TREE_PARTS, top);
        if (time < shortest) {
            shortest = time;
            best = done;
        }
        int root = heaviest_root(nodes, count);
        if (root < 0 || done == cuts) break;
        top += nodes[root].work;
        cut_once(nodes, root);
    }
    return best;
}

/* Shares out the subtrees: the heaviest that is left goes to the part with the least work. Parts that
 * follow one another go to one thread, so the heavy ones lie far apart: `rank` counts in the order of
 * first use, and ranks 0, 3, 4, 7 make one half. */
static void share_out(tree_node *nodes, int count)
{
    static const int place_of_rank[TW_TREE_PARTS] = {0, 4, 6, 2, 3, 7, 5, 1};
    double load[TW_TREE_PARTS] = {0};
    for (int root = heaviest_root(nodes, count); root >= 0; root = heaviest_root(nodes, count)) {
        int rank = least_of(load, TW_TREE_PARTS);
        load[rank] += nodes[root].within;
        nodes[root].part = place_of_rank[rank];
    }

    /* All others are in the part of their parent. */
    for (int s = count - 1; s >= 0; s--)
        if (nodes[s].part == INSIDE) nodes[s].part = nodes[nodes[s].parent].part;
}

/* The supernodes part by part and then the top, each in ascending order; rows of the top. */
static void list_nodes(const cholmod_factor *L, const tree_node *nodes, tw_cholesky_tree *tree)
{
    const int *super = L->super;
    int count = (int)L->nsuper;
    int used = 0;
    for (int p = 0; p <= TW_TREE_PARTS; p++) {
        tree->start[p] = used;
        int part = p < TW_TREE_PARTS ? p : TOP;
        for (int s = 0; s < count; s++)
            if (nodes[s].part == part) tree->order[used++] = s;
    }
    tree->start[TW_TREE_PARTS + 1] = used;

    /* Rows outside of the top have no place there. */
    tree->top_rows = 0;
    for (int s = 0; s < count; s++)
        for (int row = super[s]; row < super[s + 1]; row++)
            tree->place[row] = nodes[s].part == TOP ? (int)tree->top_rows++ : -1;
}

/* Cuts the tree with the help of arrays that are not needed afterwards. */
static void build(const cholmod_factor *L, int *node_of_row, tree_node *nodes,
                  tw_cholesky_tree *tree)
{
    const int *super = L->super;
    int count = (int)L->nsuper;
    for (int s = 0; s < count; s++)
        for (int row = super[s]; row < super[s + 1]; row++) node_of_row[row] = s;
    describe_nodes(L, node_of_row, nodes);

    double all = 0;
    for (int s = 0; s < count; s++) all += nodes[s].work;
    if (all * sizeof(double) < LEAST_BYTES) {
        for (int s = 0; s < count; s++) nodes[s].part = TOP;
    } else {
        /* The tree is cut to find the best number of cuts, and then that often. */
        int cuts = cut_tree(nodes, count, MOST_CUTS);
        describe_nodes(L, node_of_row, nodes);
        cut_tree(nodes, count, cuts);
        share_out(nodes, count);
    }
    list_nodes(L, nodes, tree);
}

tw_status tw_cholesky_tree_create(const cholmod_factor *L, tw_cholesky_tree *tree)
{
    *tree = (tw_cholesky_tree){0};
    if (!L->is_super) return TW_OK;

    int *node_of_row = TW_NEW_ARRAY(L->n, int);
    tree_node *nodes = TW_NEW_ARRAY(L->nsuper, tree_node);
    tree->order = TW_NEW_ARRAY(L->nsuper, int);
    tree->place = TW_NEW_ARRAY(L->n, int);
    bool complete = node_of_row && nodes && tree->order && tree->place;
    if (complete) build(L, node_of_row, nodes, tree);
    tw_release(node_of_row);
    tw_release(nodes);
    if (!complete) return TW_OUT_OF_MEMORY;

    /* What each part adds to the rows of the top, one block of columns per part. */
    tree->sums = TW_NEW_ARRAY(tree->top_rows * TW_MAX_BLOCK * TW_TREE_PARTS, double);
    return tree->sums ? TW_OK : TW_OUT_OF_MEMORY;
}

void tw_cholesky_tree_free(tw_cholesky_tree *tree)
{
    tw_release(tree->order);
    tw_release(tree->place);
    tw_release(tree->sums);
    *tree = (tw_cholesky_tree){0};
}
