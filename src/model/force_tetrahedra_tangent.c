/* Tangents of elastic tetrahedra: dense blocks of the elements, gathered into
 * matrices (assembly.h). */
#include <string.h>

#include "base/parallel_for.h"
#include "linalg/vector.h"
#include "model/tetrahedra.h"

enum { MAX_BLOCKS = TW_TETRAHEDRON_MAX_NODES * (TW_TETRAHEDRON_MAX_NODES + 1) / 2 };

/* A 3x3 block of TW_LANES elements, row by row. */
typedef tw_lanes lane_block[9];

/* n = a x b. */
static void cross(const tw_lanes *a, const tw_lanes *b, tw_lanes n[3])
{
    for (int k = 0; k < 3; k++) {
        int i = (k + 1) % 3;
        int j = (k + 2) % 3;
        for (int l = 0; l < TW_LANES; l++) n[k][l] = a[i][l] * b[j][l] - a[j][l] * b[i][l];
    }
}

/* out = factor T a. */
static void times(const tw_lanes factor, const tw_lanes *T, const tw_lanes *a, tw_lanes out[3])
{
    for (int r = 0; r < 3; r++)
        for (int l = 0; l < TW_LANES; l++)
            out[r][l] = factor[l] * (T[3 * r][l] * a[0][l] + T[3 * r + 1][l] * a[1][l] +
                                     T[3 * r + 2][l] * a[2][l]);
}

/* K += left right^T. */
static void add_outer(tw_lanes left[3], tw_lanes right[3], tw_lanes K[9])
{
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < 3; c++)
            for (int l = 0; l < TW_LANES; l++) K[3 * r + c][l] += left[r][l] * right[c][l];
}

/* The block between two corners whose gradients are a and b (solid_law.h):
 *     K = isotropic (a . b) I + transposed b a^T - bend [F (a x b)]_x
 *         + sum_r c_r (T_r a)(T_r b)^T. */
static void corner_block(const tw_solid_curvature *H, tw_lanes *F, const tw_lanes *a,
                         const tw_lanes *b, tw_lanes K[9])
{
    static const tw_lanes one = {1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0};

    /* isotropic (a . b) I + transposed b a^T. */
    tw_lanes inner;
    for (int l = 0; l < TW_LANES; l++)
        inner[l] = H->isotropic[l] * (a[0][l] * b[0][l] + a[1][l] * b[1][l] + a[2][l] * b[2][l]);
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < 3; c++)
            for (int l = 0; l < TW_LANES; l++)
                K[3 * r + c][l] = H->transposed[l] * b[r][l] * a[c][l];
    for (int k = 0; k < 9; k += 4)
        for (int l = 0; l < TW_LANES; l++) K[k][l] += inner[l];

    /* -[h]_x with h = bend F (a x b). */
    tw_lanes n[3];
    tw_lanes h[3];
    cross(a, b, n);
    times(H->bend, F, n, h);
    for (int k = 0; k < 3; k++) {
        int i = (k + 1) % 3;
        int j = (k + 2) % 3;
        for (int l = 0; l < TW_LANES; l++) {
            K[3 * i + j][l] += h[k][l];
            K[3 * j + i][l] -= h[k][l];
        }
    }

    /* The terms c_r (T_r a)(T_r b)^T. */
    for (int i = 0; i < H->terms; i++) {
        tw_lanes right[3];
        times(H->c[i], H->T[i], a, h);
        times(one, H->T[i], b, right);
        add_outer(h, right, K);
    }
}

static void scale(const tw_lanes w, tw_lanes K[9])
{
    for (int k = 0; k < 9; k++)
        for (int l = 0; l < TW_LANES; l++) K[k][l] *= w[l];
}

static void transpose(lane_block K, lane_block out)
{
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < 3; c++) memcpy(out[3 * c + r], K[3 * r + c], sizeof *K);
}

/* out = -(a + b + c). */
static void balance(lane_block a, lane_block b, lane_block c, lane_block out)
{
    for (int k = 0; k < 9; k++)
        for (int l = 0; l < TW_LANES; l++) out[k][l] = -(a[k][l] + b[k][l] + c[k][l]);
}

/* Completes the blocks of the corners 0..3 from those of the corners 1 <= c <= d. Forces do not
 * change with a translation, so that the blocks of each row sum to zero. */
static void complete_blocks(lane_block K[4][4])
{
    for (int c = 1; c < 4; c++)
        for (int d = c + 1; d < 4; d++) transpose(K[c][d], K[d][c]);

    for (int d = 1; d < 4; d++) {
        balance(K[1][d], K[2][d], K[3][d], K[0][d]);
        transpose(K[0][d], K[d][0]);
    }
    balance(K[1][0], K[2][0], K[3][0], K[0][0]);
}

/* out += factor K. */
static void add_block(double factor, lane_block K, lane_block out)
{
    for (int k = 0; k < 9; k++)
        for (int l = 0; l < TW_LANES; l++) out[k][l] += factor * K[k][l];
}

static void spread_blocks(const tw_shape *shape, int point, lane_block K[4][4], lane_block *out)
{
    int nodes = shape->nodes;
    int terms = shape->terms;

    /* K_ab += sum_cd (dN_a/dL_c)(dN_b/dL_d) K_cd for the nodes a <= b. */
    for (int c = 0; c < 4; c++)
        for (int d = 0; d < 4; d++)
            for (int i = 0; i < terms; i++)
                for (int j = 0; j < terms; j++) {
                    const tw_shape_term *a = &shape->corner[point][c][i];
                    const tw_shape_term *b = &shape->corner[point][d][j];
                    if (a->node > b->node) continue;

                    /* The upper triangle is stored row by row: (0,0) (0,1) ... (1,1) ... */
                    int index = a->node * nodes - a->node * (a->node - 1) / 2 + b->node - a->node;
                    add_block(a->weight * b->weight, K[c][d], out[index]);
                }
}

/* K += (a . S b) I: the viscous stress S turns with its element, as the elastic stress does. */
static void add_viscous_turn(tw_lanes S[9], const tw_lanes *a, const tw_lanes *b, tw_lanes K[9])
{
    static const tw_lanes one = {1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0};
    tw_lanes right[3];
    times(one, S, b, right);
    for (int k = 0; k < 9; k += 4)
        for (int l = 0; l < TW_LANES; l++)
            K[k][l] += a[0][l] * right[0][l] + a[1][l] * right[1][l] + a[2][l] * right[2][l];
}

/* The blocks between the corners 0..3 at one point, of stiffness or of damping. */
static void tangent_point(tw_tetrahedra_loop *p, int64_t group, int point, lane_block K[4][4])
{
    const tw_tetrahedra *t = p->t;
    const tw_lanes *g = t->gradient + 9 * group;
    tw_lanes F[9];
    tw_solid_curvature H;

    tw_tetrahedra_deformation(t, group, point, p->x, F);

    /* The second derivative of Psi, which a damping matrix does not need. */
    if (!p->damping && !tw_solid_differentiate(&t->material, F, &H))
        atomic_store(&p->undefined, true);

    /* The viscous stress that is part of the geometric stiffness. */
    tw_lanes viscous[9];
    bool turns = !p->damping && t->beta > 0.0 && !tw_tetrahedra_are_linear(t);
    if (turns) tw_tetrahedra_viscous_block(p, group, point, viscous);

    /* The corner c has the gradient g + 3 (c - 1). */
    for (int c = 1; c < 4; c++)
        for (int d = c; d < 4; d++) {
            if (p->damping)
                tw_tetrahedra_damping_block(t, F, g + 3 * c - 3, g + 3 * d - 3, K[c][d]);
            else
                corner_block(&H, F, g + 3 * c - 3, g + 3 * d - 3, K[c][d]);
            if (turns) add_viscous_turn(viscous, g + 3 * c - 3, g + 3 * d - 3, K[c][d]);
            scale(t->weight[group], K[c][d]);
        }
    complete_blocks(K);
}

static void tangent_block(void *context, int64_t begin, int64_t end, int64_t block)
{
    (void)block;
    tw_tetrahedra_loop *p = context;
    const tw_tetrahedra *t = p->t;
    int blocks = t->shape->nodes * (t->shape->nodes + 1) / 2;

    /* The dense tangents of the elements. */
    for (int64_t group = begin; group < end; group++) {
        lane_block K[4][4];
        lane_block dense[MAX_BLOCKS];
        memset(dense, 0, (size_t)blocks * sizeof *dense);
        for (int q = 0; q < t->shape->points; q++) {
            tangent_point(p, group, q, K);
            spread_blocks(t->shape, q, K, dense);
        }

        /* From lanes to elements. */
        for (int l = 0; l < TW_LANES && group * TW_LANES + l < t->count; l++) {
            double *out = t->element_tangent + 9 * blocks * (group * TW_LANES + l);
            for (int b = 0; b < blocks; b++)
                for (int k = 0; k < 9; k++) out[9 * b + k] = dense[b][k][l];
        }
    }
}

/* Fills the matrix of stiffness or of damping at (x, v). */
static tw_status gather(tw_tetrahedra *t, const double *x, const double *v, bool damping)
{
    tw_tetrahedra_loop p = {.t = t, .x = x, .v = v, .damping = damping};
    tw_parallel_for(tw_tetrahedra_groups(t), TW_GROUP_BLOCK, tangent_block, &p);
    if (atomic_load(&p.undefined)) return TW_RECOVERABLE;

    if (damping)
        tw_assembly_gather_damping(&t->assembly, t->element_tangent);
    else
        tw_assembly_gather(&t->assembly, t->element_tangent);
    return TW_OK;
}

tw_status tw_tetrahedra_linearise(void *data, const tw_force_view *at)
{
    tw_tetrahedra *t = data;

    /* The damping matrix exists everywhere, so that it cannot fail. */
    if (t->beta > 0.0) {
        tw_vector_copy(3 * t->particles->count, at->x, t->x);
        tw_vector_copy(3 * t->particles->count, at->v, t->v);
        gather(t, at->x, at->v, true);
    }

    return gather(t, at->x, at->v, false);
}

tw_status tw_tetrahedra_linearise_once(tw_tetrahedra *t)
{
    if (t->beta > 0.0) gather(t, t->particles->position, NULL, true);

    /* Stiffness comes last: linear_add_stiffness_bound reads the elements later. */
    return gather(t, t->particles->position, NULL, false);
}

void tw_tetrahedra_add_symmetric_product(void *data, int count, const double *in, double *out)
{
    tw_tetrahedra *t = data;
    tw_assembly_add_product(&t->assembly, count, in, out);
}

void tw_tetrahedra_add_tangent(void *data, tw_sparse *matrix)
{
    tw_tetrahedra *t = data;
    tw_assembly_add_tangent(&t->assembly, matrix);
}

/* ---- K - S: the viscous stress changes with the positions ---- */

/* What the functions of the parallel loops share. */
typedef struct unknowns {
    const tw_particles *particles;
    const double *in;
    double *out;
    const double *force;
} unknowns;

/* From the unknowns to all particles. */
static void unpack_block(void *context, int64_t begin, int64_t end, int64_t block)
{
    (void)block;
    const unknowns *u = context;
    for (int64_t i = begin; i < end; i++)
        for (int k = 0; k < 3; k++)
            u->out[3 * (int64_t)u->particles->particle[i] + k] = u->in[3 * i + k];
}

/* out -= force, from all particles to the unknowns. */
static void subtract_block(void *context, int64_t begin, int64_t end, int64_t block)
{
    (void)block;
    const unknowns *u = context;
    for (int64_t i = begin; i < end; i++)
        for (int k = 0; k < 3; k++)
            u->out[3 * i + k] -= u->force[3 * (int64_t)u->particles->particle[i] + k];
}

/* out -= the change of the viscous force with a change `in` of the positions. */
static void add_slide(tw_tetrahedra *t, const double *in, double *out)
{
    int64_t count = t->particles->count;
    int64_t free_count = t->particles->free_count;

    /* The change of all particles; pinned ones stay 0. */
    unknowns u = {.particles = t->particles, .in = in, .out = t->change};
    tw_parallel_for(free_count, TW_PARTICLE_BLOCK, unpack_block, &u);

    /* The change of the viscous force. */
    tw_vector_fill(3 * count, 0.0, t->force);
    tw_tetrahedra_loop p = {.t = t, .x = t->x, .v = t->v, .dx = t->change, .out = t->force};
    tw_tetrahedra_add_stress(&p, tw_tetrahedra_viscous_slide);

    u = (unknowns){.particles = t->particles, .out = out, .force = t->force};
    tw_parallel_for(free_count, TW_PARTICLE_BLOCK, subtract_block, &u);
}

void tw_tetrahedra_add_rest_product(void *data, int count, const double *in, double *out)
{
    tw_tetrahedra *t = data;
    int64_t n = 3 * t->particles->free_count;
    for (int c = 0; c < count && t->beta > 0.0 && !tw_tetrahedra_are_linear(t); c++)
        add_slide(t, in + c * n, out + c * n);
}

void tw_tetrahedra_add_product(void *data, int count, const double *in, double *out)
{
    tw_tetrahedra_add_symmetric_product(data, count, in, out);
    tw_tetrahedra_add_rest_product(data, count, in, out);
}
