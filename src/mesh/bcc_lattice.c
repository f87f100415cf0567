/* The body-centred cubic lattice over a surface: signs of the nodes, cuts of the
 * edges, nodes moved onto cuts. */
#include "base/allocate.h"
#include "base/fail.h"
#include "base/parallel_for.h"
#include "mesh/mesh_internal.h"

/* A node is moved to a cut that is nearer than this share of the edge. Larger shares spoil the
 * tetrahedra whose nodes are moved, smaller ones those that are cut. With these two values and
 * the diagonals of stencil.c every dihedral angle was at least 10.4 degrees, wherever the cuts
 * were put, adversarial places included (tests/test_mesh_fill.c). */
static const double move_long = 0.28;
static const double move_short = 0.40;

/* Length of a short edge in cells: sqrt(3) / 2. */
static const double short_length = 0.8660254037844386;

enum {
    BLOCK = 256,  /* nodes per block of work */
    MARGIN = 2,   /* cubes around the surface, so that no stencil reaches the border */
    HALVINGS = 14 /* of an edge, to find its cut: to 1/16384 of its length */
};

/* ---- numbers and positions of nodes ---- */

int64_t tw_bcc_corner(const tw_bcc *l, int64_t i, int64_t j, int64_t k)
{
    return i + (l->cubes[0] + 1) * (j + (l->cubes[1] + 1) * k);
}

int64_t tw_bcc_centre(const tw_bcc *l, int64_t i, int64_t j, int64_t k)
{
    return l->corner_count + i + l->cubes[0] * (j + l->cubes[1] * k);
}

static bool is_corner(const tw_bcc *l, int64_t node)
{
    return node < l->corner_count;
}

/* Back from a number to i, j, k. There is one corner more than there are
 * centres along each axis. */
static void place_of(const tw_bcc *l, int64_t node, int64_t place[3])
{
    int64_t more = 1;
    int64_t rest = node;
    if (!is_corner(l, node)) {
        more = 0;
        rest = node - l->corner_count;
    }

    /* The number is i + n_0 (j + n_1 k) among the nodes of its kind. */
    place[0] = rest % (l->cubes[0] + more);
    rest /= l->cubes[0] + more;
    place[1] = rest % (l->cubes[1] + more);
    place[2] = rest / (l->cubes[1] + more);
}

/* The number of the node at i, j, k that is of the same kind as `node`. */
static int64_t same_kind_at(const tw_bcc *l, int64_t node, const int64_t p[3])
{
    if (is_corner(l, node)) return tw_bcc_corner(l, p[0], p[1], p[2]);
    return tw_bcc_centre(l, p[0], p[1], p[2]);
}

/* Where a node is before it is moved. */
static vec3 lattice_point(const tw_bcc *l, int64_t node)
{
    int64_t p[3];
    place_of(l, node, p);
    double half = is_corner(l, node) ? 0.0 : 0.5;
    vec3 steps = {(double)p[0] + half, (double)p[1] + half, (double)p[2] + half};
    return vec3_add_scaled(l->origin, l->cell, steps);
}

vec3 tw_bcc_position(const tw_bcc *l, int64_t node)
{
    if (l->moved[node] >= 0) return l->cuts[l->moved[node]];
    return lattice_point(l, node);
}

/* ---- edges and their cuts ---- */

static int owned_edges(const tw_bcc *l, int64_t node)
{
    return is_corner(l, node) ? TW_BCC_SHORT : TW_BCC_OWNED;
}

/* The other end of an edge that the node owns; -1 beyond the border. */
static int64_t other_end(const tw_bcc *l, int64_t owner, int edge)
{
    int64_t p[3];
    place_of(l, owner, p);

    /* A short edge goes from a centre to the corner of its cube in this octant. */
    if (edge >= TW_BCC_SHORT) {
        int octant = edge - TW_BCC_SHORT;
        return tw_bcc_corner(l, p[0] + (octant & 1), p[1] + (octant >> 1 & 1),
                             p[2] + (octant >> 2));
    }

    /* A long edge goes to the next node of the same kind along its axis. */
    int64_t count = l->cubes[edge];
    if (is_corner(l, owner)) count++;
    if (++p[edge] >= count) return -1;
    return same_kind_at(l, owner, p);
}

int64_t tw_bcc_cut(const tw_bcc *l, int64_t owner, int edge)
{
    unsigned mask = l->cut_masks[owner];
    unsigned bit = 1U << edge;
    if (!(mask & bit)) return -1;
    return l->cut_starts[owner] + __builtin_popcount(mask & (bit - 1));
}

/* ---- signs and cuts, in parallel over the nodes ---- */

typedef struct lattice_work {
    tw_bcc *lattice;
    const tw_body_shape *shape;
} lattice_work;

static bool is_inside(const tw_body_shape *shape, vec3 q)
{
    return tw_winding_is_inside(shape->surface, q) ||
           (shape->thin && tw_winding_is_near(shape->thin, q, shape->reach));
}

static void sign_block(void *context, int64_t begin, int64_t end, int64_t block_index)
{
    (void)block_index;
    const lattice_work *w = context;
    for (int64_t i = begin; i < end; i++)
        w->lattice->signs[i] = is_inside(w->shape, lattice_point(w->lattice, i)) ? 1 : -1;
}

/* An edge is cut if its ends have different signs. */
static void mask_block(void *context, int64_t begin, int64_t end, int64_t block_index)
{
    (void)block_index;
    const lattice_work *w = context;
    const tw_bcc *l = w->lattice;

    for (int64_t i = begin; i < end; i++) {
        unsigned mask = 0;

        /* Only the edges that this node owns, so that each edge is looked at once. */
        for (int e = 0; e < owned_edges(l, i); e++) {
            int64_t other = other_end(l, i, e);
            if (other >= 0 && l->signs[other] != l->signs[i]) mask |= 1U << e;
        }
        l->cut_masks[i] = (uint16_t)mask;
    }
}

/* Where the surface is between the two points. */
static vec3 find_cut(const tw_body_shape *shape, vec3 inside, vec3 outside)
{
    /* If exactly one triangle is crossed, and no thickened part is near,
     * the crossing is the cut. */
    double share = 0.0;
    bool near_thin = shape->thin && tw_winding_is_near(shape->thin, inside, 3.0 * shape->reach);
    if (!near_thin && tw_winding_crossings(shape->surface, inside, outside, &share) == 1)
        return vec3_add_scaled(inside, share, vec3_subtract(outside, inside));

    /* Otherwise halve the segment. The winding number may be a step, so
     * that no method is faster. */
    for (int i = 0; i < HALVINGS; i++) {
        vec3 middle = vec3_scale(0.5, vec3_add(inside, outside));
        if (is_inside(shape, middle))
            inside = middle;
        else
            outside = middle;
    }

    return vec3_scale(0.5, vec3_add(inside, outside));
}

static void cut_block(void *context, int64_t begin, int64_t end, int64_t block_index)
{
    (void)block_index;
    const lattice_work *w = context;
    const tw_bcc *l = w->lattice;

    for (int64_t i = begin; i < end; i++)
        for (int e = 0; l->cut_masks[i] && e < owned_edges(l, i); e++) {
            int64_t cut = tw_bcc_cut(l, i, e);
            if (cut < 0) continue;

            /* find_cut wants the inner end first. */
            vec3 here = lattice_point(l, i);
            vec3 there = lattice_point(l, other_end(l, i, e));
            if (l->signs[i] > 0)
                l->cuts[cut] = find_cut(w->shape, here, there);
            else
                l->cuts[cut] = find_cut(w->shape, there, here);
        }
}

/* ---- moving nodes ---- */

/* The cut that a node is moved to, and its distance as a share of the limit. */
typedef struct nearest_cut {
    int64_t cut; /* -1: none is near enough */
    double share;
} nearest_cut;

/* Takes the cut of this edge if it is within the limit and nearer than the best so far. */
static void consider_cut(const tw_bcc *l, int64_t node, int64_t owner, int edge, nearest_cut *best)
{
    /* A cut towards a node that was moved no longer counts. */
    int64_t cut = tw_bcc_cut(l, owner, edge);
    if (cut < 0) return;
    int64_t other = owner == node ? other_end(l, owner, edge) : owner;
    if (l->signs[other] == 0) return;

    /* The limit is a share of the edge, which is one cell long or short_length cells. */
    double limit = move_long * l->cell;
    if (edge >= TW_BCC_SHORT) limit = move_short * (short_length * l->cell);
    double distance = vec3_length(vec3_subtract(l->cuts[cut], lattice_point(l, node)));
    if (distance >= limit || distance / limit >= best->share) return;
    best->share = distance / limit;
    best->cut = cut;
}

/* Considers the edges of a node that other nodes own. */
static void consider_foreign_cuts(const tw_bcc *l, int64_t node, nearest_cut *best)
{
    int64_t p[3];
    place_of(l, node, p);

    /* Long edges from the lower neighbours. */
    for (int axis = 0; axis < 3; axis++) {
        int64_t q[3] = {p[0], p[1], p[2]};
        if (--q[axis] < 0) continue;
        consider_cut(l, node, same_kind_at(l, node, q), axis, best);
    }

    /* Short edges of a corner from the centres of the eight cubes around it. */
    for (int octant = 0; is_corner(l, node) && octant < 8; octant++) {
        int64_t q[3] = {p[0] - (octant & 1), p[1] - (octant >> 1 & 1), p[2] - (octant >> 2)};
        bool exists = true;
        for (int k = 0; k < 3; k++) exists = exists && q[k] >= 0 && q[k] < l->cubes[k];
        if (exists)
            consider_cut(l, node, tw_bcc_centre(l, q[0], q[1], q[2]), TW_BCC_SHORT + octant, best);
    }
}

/* Nodes are moved one after another: a node that was moved takes the cuts of its edges with it. */
void tw_bcc_move_nodes(tw_bcc *l)
{
    for (int64_t i = 0; i < l->node_count; i++) {
        nearest_cut best = {.cut = -1, .share = 1.0};
        for (int e = 0; l->cut_masks[i] && e < owned_edges(l, i); e++)
            consider_cut(l, i, i, e, &best);
        consider_foreign_cuts(l, i, &best);

        /* A node on the surface is neither inside nor outside. */
        if (best.cut < 0) continue;
        l->moved[i] = best.cut;
        l->signs[i] = 0;
    }
}

/* ---- the whole ---- */

/* Lays the cubes: enough of them to hold the surface and the margin, around the middle of the
 * surface. The lattice is shifted a little, because made surfaces often have vertices, edges and
 * faces exactly at such places, where a winding number is not defined. */
static tw_status place_lattice(const tw_body_shape *shape, double cell, double most, tw_bcc *l,
                               tw_error *error)
{
    *l = (tw_bcc){.cell = cell};
    const tw_box *box = &shape->surface->tree.nodes[0].box;
    static const double shift[3] = {0.0137, 0.0211, 0.0173}; /* in cells; no simple fractions */
    double counts[3];
    double first[3];

    for (int k = 0; k < 3; k++) {
        counts[k] = ceil((box->upper[k] - box->lower[k]) / cell) + 2.0 * MARGIN;
        first[k] = 0.5 * (box->lower[k] + box->upper[k]) + (shift[k] - 0.5 * counts[k]) * cell;
    }

    if (!(2.0 * counts[0] * counts[1] * counts[2] < most))
        return tw_fail(error, TW_BAD_INPUT,
                       "the surface encloses too little of its bounding box for a lattice of so "
                       "many vertices, expected "
                       "a smaller number or a more compact surface");

    for (int k = 0; k < 3; k++) l->cubes[k] = (int64_t)counts[k];
    l->origin = (vec3){first[0], first[1], first[2]};
    l->corner_count = (l->cubes[0] + 1) * (l->cubes[1] + 1) * (l->cubes[2] + 1);
    l->node_count = l->corner_count + l->cubes[0] * l->cubes[1] * l->cubes[2];
    l->signs = TW_NEW_ARRAY(l->node_count, signed char);
    if (!l->signs) return tw_fail_plain(error, TW_OUT_OF_MEMORY);
    return TW_OK;
}

static tw_status allocate_cuts(tw_bcc *l, tw_error *error)
{
    for (int64_t i = 0; i < l->node_count; i++) {
        l->cut_starts[i] = l->cut_count;
        l->cut_count += __builtin_popcount(l->cut_masks[i]);
        l->moved[i] = -1;
    }

    l->cuts = TW_NEW_ARRAY(l->cut_count, vec3);
    if (!l->cuts) return tw_fail_plain(error, TW_OUT_OF_MEMORY);
    return TW_OK;
}

/* Finds signs and cuts of a lattice that is placed. */
static tw_status find_cuts(tw_bcc *l, const tw_body_shape *shape, tw_error *error)
{
    l->cut_masks = TW_NEW_ARRAY(l->node_count, uint16_t);
    l->cut_starts = TW_NEW_ARRAY(l->node_count, int64_t);
    l->moved = TW_NEW_ARRAY(l->node_count, int64_t);
    if (!l->cut_masks || !l->cut_starts || !l->moved) return tw_fail_plain(error, TW_OUT_OF_MEMORY);

    /* Signs first, then the edges whose ends differ, then the place of each cut. */
    lattice_work work = {l, shape};
    tw_parallel_for(l->node_count, BLOCK, sign_block, &work);
    tw_parallel_for(l->node_count, BLOCK, mask_block, &work);
    TW_TRY(allocate_cuts(l, error));
    tw_parallel_for(l->node_count, BLOCK, cut_block, &work);

    return TW_OK;
}

tw_status tw_bcc_create(const tw_body_shape *shape, double cell, double most, tw_bcc *out,
                        tw_error *error)
{
    TW_TRY(place_lattice(shape, cell, most, out, error));
    tw_status status = find_cuts(out, shape, error);
    if (status == TW_OK)
        tw_bcc_move_nodes(out);
    else
        tw_bcc_free(out);
    return status;
}

void tw_bcc_free(tw_bcc *l)
{
    tw_release(l->signs);
    tw_release(l->cut_masks);
    tw_release(l->cut_starts);
    tw_release(l->cuts);
    tw_release(l->moved);
    *l = (tw_bcc){0};
}

tw_status tw_bcc_estimate_size(const tw_body_shape *shape, double cell, double *volume,
                               double *thickness, tw_error *error)
{
    tw_bcc l;
    TW_TRY(place_lattice(shape, cell, INFINITY, &l, error));
    lattice_work work = {&l, shape};
    tw_parallel_for(l.node_count, BLOCK, sign_block, &work);

    /* There are two nodes per cube: a node stands for half the volume of a cube. */
    int64_t inside = 0;
    double depth = 0.0;
    for (int64_t i = 0; i < l.node_count; i++) {
        if (l.signs[i] <= 0) continue;
        inside++;
        depth = fmax(depth, tw_winding_distance(shape->surface, lattice_point(&l, i)));
    }
    *volume = 0.5 * (double)inside * cell * cell * cell;
    *thickness = 2.0 * depth;
    tw_bcc_free(&l);
    return TW_OK;
}
