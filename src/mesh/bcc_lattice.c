#include "mesh/bcc_lattice.h"

#include "base/allocate.h"
#include "base/fail.h"
#include "base/parallel_for.h"

/* A node is moved to a cut that is nearer than this share of the edge. Larger shares spoil the tetrahedra whose nodes
 * are moved, smaller ones those that are cut. With these two and the diagonals of stencil.c no place of the cuts that
 * was tried, adversarial ones included, gave a dihedral angle below 10.4 degrees (tests/test_mesh_fill.c). */
static const double move_long = 0.28, move_short = 0.40;

enum {
    BLOCK = 256,
    MARGIN = 2,   /* cubes around the surface: no stencil may reach the border */
    HALVINGS = 14 /* of an edge, to find its cut: to 1/16384 of its length */
};

int64_t tw_bcc_corner(const tw_bcc *l, int64_t i, int64_t j, int64_t k)
{
    return i + (l->cubes[0] + 1) * (j + (l->cubes[1] + 1) * k);
}

int64_t tw_bcc_centre(const tw_bcc *l, int64_t i, int64_t j, int64_t k)
{
    return l->corner_count + i + l->cubes[0] * (j + l->cubes[1] * k);
}

/* Back from a number to i, j, k. */
static void place_of(const tw_bcc *l, int64_t node, int64_t place[3])
{
    int64_t more = node < l->corner_count ? 1 : 0, rest = node - (more ? 0 : l->corner_count);
    place[0] = rest % (l->cubes[0] + more);
    rest /= l->cubes[0] + more;
    place[1] = rest % (l->cubes[1] + more);
    place[2] = rest / (l->cubes[1] + more);
}

static vec3 lattice_point(const tw_bcc *l, int64_t node)
{
    int64_t p[3];
    place_of(l, node, p);
    double half = node < l->corner_count ? 0.0 : 0.5;
    vec3 steps = {(double)p[0] + half, (double)p[1] + half, (double)p[2] + half};
    return vec3_add_scaled(l->origin, l->cell, steps);
}

vec3 tw_bcc_position(const tw_bcc *l, int64_t node)
{
    return l->moved[node] >= 0 ? l->cuts[l->moved[node]] : lattice_point(l, node);
}

/* The other end of an edge that the node owns; -1 beyond the border. */
static int64_t other_end(const tw_bcc *l, int64_t owner, int edge)
{
    int64_t p[3];
    place_of(l, owner, p);
    if (edge >= TW_BCC_SHORT) {
        int octant = edge - TW_BCC_SHORT;
        return tw_bcc_corner(l, p[0] + (octant & 1), p[1] + (octant >> 1 & 1),
                             p[2] + (octant >> 2));
    }
    bool is_corner = owner < l->corner_count;
    if (++p[edge] >= l->cubes[edge] + (is_corner ? 1 : 0)) return -1;
    return is_corner ? tw_bcc_corner(l, p[0], p[1], p[2]) : tw_bcc_centre(l, p[0], p[1], p[2]);
}

static int owned_edges(const tw_bcc *l, int64_t node)
{
    return node < l->corner_count ? TW_BCC_SHORT : TW_BCC_OWNED;
}

int64_t tw_bcc_cut(const tw_bcc *l, int64_t owner, int edge)
{
    unsigned mask = l->cut_masks[owner], bit = 1U << edge;
    if (!(mask & bit)) return -1;
    return l->cut_starts[owner] + __builtin_popcount(mask & (bit - 1));
}

typedef struct lattice_work {
    tw_bcc *lattice;
    const tw_body_shape *shape;
} lattice_work;

/* Also a surface that is inside out goes around what it encloses. A sheet has 1/2 at its own
 * points and no inside, hence a little more than 1/2 and the error of the winding number. */
static bool is_inside(const tw_body_shape *shape, vec3 q)
{
    return fabs(tw_winding_number(shape->surface, q)) > 0.51 ||
           (shape->thin && tw_winding_is_near(shape->thin, q, shape->reach));
}

static void sign_block(void *context, int64_t begin, int64_t end, int64_t block_index)
{
    (void)block_index;
    const lattice_work *w = context;
    for (int64_t i = begin; i < end; i++)
        w->lattice->signs[i] = is_inside(w->shape, lattice_point(w->lattice, i)) ? 1 : -1;
}

static void mask_block(void *context, int64_t begin, int64_t end, int64_t block_index)
{
    (void)block_index;
    const lattice_work *w = context;
    const tw_bcc *l = w->lattice;
    for (int64_t i = begin; i < end; i++) {
        unsigned mask = 0;
        for (int e = 0; e < owned_edges(l, i); e++) {
            int64_t other = other_end(l, i, e);
            if (other >= 0 && l->signs[other] != l->signs[i]) mask |= 1U << e;
        }
        l->cut_masks[i] = (uint16_t)mask;
    }
}

/* Where the only triangle between the two ends is crossed. If there are more, or none because the surface is open
 * there, by halving: the winding number may be a step, so that no method is faster. */
static vec3 find_cut(const tw_body_shape *shape, vec3 inside, vec3 outside)
{
    double share = 0.0;
    bool near_thin = shape->thin && tw_winding_is_near(shape->thin, inside, 3.0 * shape->reach);
    if (!near_thin && tw_winding_crossings(shape->surface, inside, outside, &share) == 1)
        return vec3_add_scaled(inside, share, vec3_subtract(outside, inside));
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
            int64_t cut = tw_bcc_cut(l, i, e), other = other_end(l, i, e);
            if (cut < 0) continue;
            int64_t inside = l->signs[i] > 0 ? i : other, outside = l->signs[i] > 0 ? other : i;
            l->cuts[cut] = find_cut(w->shape, lattice_point(l, inside), lattice_point(l, outside));
        }
}

/* If the cut of this edge still counts and is too near to the node, and nearest so far: takes it. */
static void consider_cut(const tw_bcc *l, int64_t node, int64_t owner, int edge, double *nearest,
                         int64_t *chosen)
{
    int64_t cut = tw_bcc_cut(l, owner, edge);
    if (cut < 0) return;
    int64_t other = owner == node ? other_end(l, owner, edge) : owner;
    if (l->signs[other] == 0) return;
    double length = edge < TW_BCC_SHORT ? l->cell : 0.8660254037844386 * l->cell;
    double limit = (edge < TW_BCC_SHORT ? move_long : move_short) * length;
    double distance = vec3_length(vec3_subtract(l->cuts[cut], lattice_point(l, node)));
    if (distance >= limit || distance / limit >= *nearest) return;
    *nearest = distance / limit;
    *chosen = cut;
}

/* The edges of a node that others own: long ones from its lower neighbours, short ones of a corner from centres. */
static void consider_foreign_cuts(const tw_bcc *l, int64_t node, double *nearest, int64_t *chosen)
{
    int64_t p[3];
    place_of(l, node, p);
    bool is_corner = node < l->corner_count;
    for (int axis = 0; axis < 3; axis++) {
        int64_t q[3] = {p[0], p[1], p[2]};
        if (--q[axis] < 0) continue;
        int64_t owner =
            is_corner ? tw_bcc_corner(l, q[0], q[1], q[2]) : tw_bcc_centre(l, q[0], q[1], q[2]);
        consider_cut(l, node, owner, axis, nearest, chosen);
    }
    for (int octant = 0; is_corner && octant < 8; octant++) {
        int64_t q[3] = {p[0] - (octant & 1), p[1] - (octant >> 1 & 1), p[2] - (octant >> 2)};
        bool exists = true;
        for (int k = 0; k < 3; k++) exists = exists && q[k] >= 0 && q[k] < l->cubes[k];
        if (exists)
            consider_cut(l, node, tw_bcc_centre(l, q[0], q[1], q[2]), TW_BCC_SHORT + octant,
                         nearest, chosen);
    }
}

/* Nodes are moved one after another: a node that was moved takes the cuts of its edges with it. */
void tw_bcc_move_nodes(tw_bcc *l)
{
    for (int64_t i = 0; i < l->node_count; i++) {
        double nearest = 1.0;
        int64_t chosen = -1;
        for (int e = 0; l->cut_masks[i] && e < owned_edges(l, i); e++)
            consider_cut(l, i, i, e, &nearest, &chosen);
        consider_foreign_cuts(l, i, &nearest, &chosen);
        if (chosen < 0) continue;
        l->moved[i] = chosen;
        l->signs[i] = 0;
    }
}

/* The cubes that hold the surface and the margin, around the middle of the surface; a little beside it, because made
 * surfaces like to have vertices, edges and faces exactly there, where a winding number is not defined. */
static tw_status place_lattice(const tw_body_shape *shape, double cell, double most, tw_bcc *l,
                               tw_error *error)
{
    *l = (tw_bcc){.cell = cell};
    const tw_box *box = &shape->surface->tree.nodes[0].box;
    static const double beside[3] = {0.0137, 0.0211, 0.0173};
    double counts[3], middle[3];
    for (int k = 0; k < 3; k++) {
        counts[k] = ceil((box->upper[k] - box->lower[k]) / cell) + 2.0 * MARGIN;
        middle[k] = 0.5 * (box->lower[k] + box->upper[k]) + (beside[k] - 0.5 * counts[k]) * cell;
    }
    if (!(2.0 * counts[0] * counts[1] * counts[2] < most))
        return tw_fail(error, TW_BAD_INPUT,
                       "the surface encloses too little of its bounding box for a lattice of so "
                       "many vertices, expected "
                       "a smaller number or a more compact surface");
    for (int k = 0; k < 3; k++) l->cubes[k] = (int64_t)counts[k];
    l->origin = (vec3){middle[0], middle[1], middle[2]};
    l->corner_count = (l->cubes[0] + 1) * (l->cubes[1] + 1) * (l->cubes[2] + 1);
    l->node_count = l->corner_count + l->cubes[0] * l->cubes[1] * l->cubes[2];
    l->signs = TW_NEW_ARRAY(l->node_count, signed char);
    return l->signs ? TW_OK : tw_fail_plain(error, TW_OUT_OF_MEMORY);
}

static tw_status allocate_cuts(tw_bcc *l, tw_error *error)
{
    for (int64_t i = 0; i < l->node_count; i++) {
        l->cut_starts[i] = l->cut_count;
        l->cut_count += __builtin_popcount(l->cut_masks[i]);
        l->moved[i] = -1;
    }
    l->cuts = TW_NEW_ARRAY(l->cut_count, vec3);
    return l->cuts ? TW_OK : tw_fail_plain(error, TW_OUT_OF_MEMORY);
}

tw_status tw_bcc_create(const tw_body_shape *shape, double cell, double most, tw_bcc *out,
                        tw_error *error)
{
    tw_status status = place_lattice(shape, cell, most, out, error);
    if (status != TW_OK) return status;
    lattice_work work = {out, shape};
    out->cut_masks = TW_NEW_ARRAY(out->node_count, uint16_t);
    out->cut_starts = TW_NEW_ARRAY(out->node_count, int64_t);
    out->moved = TW_NEW_ARRAY(out->node_count, int64_t);
    if (out->cut_masks && out->cut_starts && out->moved) {
        tw_parallel_for(out->node_count, BLOCK, sign_block, &work);
        tw_parallel_for(out->node_count, BLOCK, mask_block, &work);
        status = allocate_cuts(out, error);
    } else {
        status = tw_fail_plain(error, TW_OUT_OF_MEMORY);
    }
    if (status == TW_OK) {
        tw_parallel_for(out->node_count, BLOCK, cut_block, &work);
        tw_bcc_move_nodes(out);
    } else {
        tw_bcc_free(out);
    }
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

tw_status tw_bcc_estimate_volume(const tw_body_shape *shape, double cell, double *volume,
                                 tw_error *error)
{
    tw_bcc l;
    tw_status status = place_lattice(shape, cell, INFINITY, &l, error);
    if (status != TW_OK) return status;
    lattice_work work = {&l, shape};
    tw_parallel_for(l.node_count, BLOCK, sign_block, &work);
    int64_t inside = 0;
    for (int64_t i = 0; i < l.node_count; i++) inside += l.signs[i] > 0;
    *volume = 0.5 * (double)inside * cell * cell * cell; /* two nodes per cube */
    tw_bcc_free(&l);
    return TW_OK;
}
