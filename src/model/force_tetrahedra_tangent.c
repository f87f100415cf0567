/* Tangents of elastic tetrahedra: dense ones of the elements, gathered into matrices (assembly.h). */
#include <string.h>

#include "base/parallel_for.h"
#include "linalg/vector.h"
#include "model/tetrahedra.h"

typedef double block3[9];

/* The curvature between the gradients a and b: a block of nine lanes, row by row. */
static void corner_block(const tw_solid_curvature *H, tw_lanes *F, const tw_lanes *a, const tw_lanes *b, tw_lanes K[9])
{
    for (int l = 0; l < TW_LANES; l++) {
        double inner = H->isotropic[l] * (a[0][l] * b[0][l] + a[1][l] * b[1][l] + a[2][l] * b[2][l]);
        for (int r = 0; r < 3; r++)
            for (int c = 0; c < 3; c++) K[3 * r + c][l] = (r == c ? inner : 0.0) + H->transposed[l] * b[r][l] * a[c][l];
        double n[3], h[3]; /* a x b, bend F (a x b) */
        for (int k = 0; k < 3; k++) {
            int i = (k + 1) % 3, j = (k + 2) % 3;
            n[k] = a[i][l] * b[j][l] - a[j][l] * b[i][l];
        }
        for (int r = 0; r < 3; r++)
            h[r] = H->bend[l] * (F[3 * r][l] * n[0] + F[3 * r + 1][l] * n[1] + F[3 * r + 2][l] * n[2]);
        for (int k = 0; k < 3; k++) { /* -[h]_x */
            int i = (k + 1) % 3, j = (k + 2) % 3;
            K[3 * i + j][l] += h[k];
            K[3 * j + i][l] -= h[k];
        }
    }
    for (int i = 0; i < H->terms; i++) {
        const tw_lanes *T = H->T[i];
        tw_lanes left[3], right[3];
        for (int r = 0; r < 3; r++)
            for (int l = 0; l < TW_LANES; l++) {
                left[r][l] =
                    H->c[i][l] * (T[3 * r][l] * a[0][l] + T[3 * r + 1][l] * a[1][l] + T[3 * r + 2][l] * a[2][l]);
                right[r][l] = T[3 * r][l] * b[0][l] + T[3 * r + 1][l] * b[1][l] + T[3 * r + 2][l] * b[2][l];
            }
        for (int k = 0; k < 9; k++)
            for (int l = 0; l < TW_LANES; l++) K[k][l] += left[k / 3][l] * right[k % 3][l];
    }
}

static void scale(const tw_lanes w, tw_lanes K[9])
{
    for (int k = 0; k < 9; k++)
        for (int l = 0; l < TW_LANES; l++) K[k][l] *= w[l];
}

/* All sixteen blocks of the corners from the six of corners 1..3: forces do not change with a translation. */
static void complete_blocks(tw_lanes K[6][9], int lane, block3 out[4][4])
{
    static const int index[3][3] = {{0, 1, 2}, {1, 3, 4}, {2, 4, 5}};
    for (int k = 0; k < 9; k++) {
        int turned = 3 * (k % 3) + k / 3;
        for (int c = 0; c < 3; c++)
            for (int d = 0; d < 3; d++) out[c + 1][d + 1][k] = K[index[c][d]][c <= d ? k : turned][lane];
        for (int c = 1; c < 4; c++) out[c][0][k] = -(out[c][1][k] + out[c][2][k] + out[c][3][k]);
    }
    for (int k = 0; k < 9; k++) {
        int turned = 3 * (k % 3) + k / 3;
        for (int c = 1; c < 4; c++) out[0][c][k] = out[c][0][turned];
    }
    for (int k = 0; k < 9; k++) out[0][0][k] = -(out[0][1][k] + out[0][2][k] + out[0][3][k]);
}

/* K_ab += sum_cd (dN_a/dL_c)(dN_b/dL_d) K_cd, a <= b */
static void spread_tangent(const tw_tetrahedra *t, int point, int64_t e, block3 K[4][4])
{
    int nodes = t->shape->nodes, terms = t->shape->terms;
    double *out = t->element_tangent + 9 * e * (nodes * (nodes + 1) / 2);
    for (int s = 0; s < 16 * terms * terms; s++) {
        int c = s % 4, d = s / 4 % 4;
        const tw_shape_term *a = &t->shape->corner[point][c][s / 16 % terms];
        const tw_shape_term *b = &t->shape->corner[point][d][s / 16 / terms];
        if (a->node > b->node) continue;
        double *block = out + 9 * (a->node * nodes - a->node * (a->node - 1) / 2 + b->node - a->node);
        for (int k = 0; k < 9; k++) block[k] += a->weight * b->weight * K[c][d][k];
    }
}

static void tangent_group(tw_tetrahedra_loop *p, int64_t group, int point)
{
    const tw_tetrahedra *t = p->t;
    const tw_lanes *g = t->gradient + 9 * group;
    tw_lanes F[9], K[6][9];
    tw_solid_curvature H;
    tw_tetrahedra_deformation(t, group, point, p->x, F);
    if (!p->damping && !tw_solid_differentiate(&t->material, F, &H)) atomic_store(&p->undefined, true);
    for (int c = 0, k = 0; c < 3; c++)
        for (int d = c; d < 3; d++, k++) {
            if (p->damping)
                tw_tetrahedra_damping_block(t, F, g + 3 * c, g + 3 * d, K[k]);
            else
                corner_block(&H, F, g + 3 * c, g + 3 * d, K[k]);
            scale(t->weight[group], K[k]);
        }
    for (int l = 0; l < TW_LANES && group * TW_LANES + l < t->count; l++) {
        block3 blocks[4][4];
        complete_blocks(K, l, blocks);
        spread_tangent(t, point, group * TW_LANES + l, blocks);
    }
}

static void tangent_body(void *context, int64_t begin, int64_t end, int64_t block)
{
    (void)block;
    tw_tetrahedra_loop *p = context;
    const tw_tetrahedra *t = p->t;
    size_t entries = 9 * (size_t)t->shape->nodes * (size_t)(t->shape->nodes + 1) / 2;
    int64_t first = begin * TW_LANES, last = end * TW_LANES < t->count ? end * TW_LANES : t->count;
    memset(t->element_tangent + entries * (size_t)first, 0, (size_t)(last - first) * entries * sizeof(double));
    for (int64_t group = begin; group < end; group++)
        for (int q = 0; q < t->shape->points; q++) tangent_group(p, group, q);
}

/* The matrix of stiffness or of damping at x. */
static tw_status gather(tw_tetrahedra *t, const double *x, bool damping)
{
    tw_tetrahedra_loop p = {.t = t, .x = x, .damping = damping};
    tw_parallel_for(tw_tetrahedra_groups(t), TW_GROUP_BLOCK, tangent_body, &p);
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
    if (t->beta > 0.0) {
        tw_vector_copy(3 * t->particles->count, at->x, t->x);
        tw_vector_copy(3 * t->particles->count, at->v, t->v);
        gather(t, at->x, true); /* exists everywhere */
    }
    return gather(t, at->x, false);
}

tw_status tw_tetrahedra_linearise_once(tw_tetrahedra *t)
{
    if (t->beta > 0.0) gather(t, t->particles->position, true);
    return gather(t, t->particles->position, false); /* last: its bound is taken from the elements */
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

/* ---- what is not symmetric: the viscous force changes with the positions ---- */

typedef struct unknowns {
    const tw_particles *particles;
    const double *in;
    double *out;
    const double *force;
} unknowns;

static void unpack_body(void *context, int64_t begin, int64_t end, int64_t block)
{
    (void)block;
    const unknowns *u = context;
    for (int64_t i = begin; i < end; i++)
        for (int k = 0; k < 3; k++) u->out[3 * (int64_t)u->particles->particle[i] + k] = u->in[3 * i + k];
}

static void subtract_body(void *context, int64_t begin, int64_t end, int64_t block)
{
    (void)block;
    const unknowns *u = context;
    for (int64_t i = begin; i < end; i++)
        for (int k = 0; k < 3; k++) u->out[3 * i + k] -= u->force[3 * (int64_t)u->particles->particle[i] + k];
}

/* out -= the change of the viscous force with a change `in` of the positions. */
static void add_slide(tw_tetrahedra *t, const double *in, double *out)
{
    int64_t count = t->particles->count, free_count = t->particles->free_count;
    unknowns u = {.particles = t->particles, .in = in, .out = t->change};
    tw_parallel_for(free_count, TW_PARTICLE_BLOCK, unpack_body, &u);
    tw_vector_fill(3 * count, 0.0, t->force);
    tw_tetrahedra_loop p = {.t = t, .x = t->x, .v = t->v, .dx = t->change, .out = t->force};
    tw_tetrahedra_add_stress(&p, tw_tetrahedra_viscous_slide);
    u = (unknowns){.particles = t->particles, .out = out, .force = t->force};
    tw_parallel_for(free_count, TW_PARTICLE_BLOCK, subtract_body, &u);
}

void tw_tetrahedra_add_product(void *data, int count, const double *in, double *out)
{
    tw_tetrahedra *t = data;
    tw_tetrahedra_add_symmetric_product(data, count, in, out);
    int64_t n = 3 * t->particles->free_count;
    for (int c = 0; c < count && t->beta > 0.0 && !tw_tetrahedra_are_linear(t); c++)
        add_slide(t, in + c * n, out + c * n);
}
