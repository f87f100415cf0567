/* Elastic tetrahedra with four or ten nodes.
 *
 * At each integration point F = sum_c y_c (grad L_c)^T (tetrahedron.h says what y_c is), with weight w:
 *     energy w Psi(F),  force on y_c: -w P grad L_c,  tangent between y_c and y_d: w times the curvature of Psi
 * for the changes u (grad L_c)^T and u' (grad L_d)^T of F (solid_law.h). TW_LANES elements are done at once. */
#include <math.h>
#include <stdatomic.h>
#include <string.h>

#include "base/allocate.h"
#include "base/parallel_for.h"
#include "model/assembly.h"
#include "model/incidence.h"
#include "model/solid_forces.h"
#include "model/solid_law.h"
#include "model/tetrahedron.h"

typedef struct tetrahedra {
    int64_t count;
    const tw_shape *shape;
    tw_solid_constants material;
    int32_t *node;      /* shape->nodes per element */
    tw_lanes *gradient; /* grad L_1, L_2, L_3 per group of TW_LANES elements: nine lanes */
    tw_lanes *weight;   /* of a point, per group; 0 where the last group is not full */

    const tw_particles *particles;
    tw_incidence incidence;
    tw_assembly assembly;
    double *element_force;   /* three per node of each element */
    double *element_tangent; /* as assembly.h wants it */
    double *partial;         /* energy per block of groups */
} tetrahedra;

enum { GROUP_BLOCK = TW_PARTICLE_BLOCK / TW_LANES };

static int64_t group_count(const tetrahedra *t)
{
    return (t->count + TW_LANES - 1) / TW_LANES;
}

static void tetrahedra_release(void *data)
{
    tetrahedra *t = data;
    if (!t) return;
    tw_incidence_free(&t->incidence);
    tw_assembly_free(&t->assembly);
    void *blocks[] = {t->node, t->gradient, t->weight, t->element_force, t->element_tangent, t->partial};
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) tw_release(blocks[i]);
    tw_release(t);
}

static tw_element_list list_of(const tetrahedra *t)
{
    return (tw_element_list){.count = t->count, .nodes = t->shape->nodes, .particle = t->node};
}

/* What the bodies of the parallel loops see. */
typedef struct loop {
    tetrahedra *t;
    const double *x;
    double *out;
    atomic_bool undefined; /* an element has no tangent */
} loop;

/* The element in this lane; the last one stands in where there is none. */
static int64_t element_in(const tetrahedra *t, int64_t group, int lane)
{
    int64_t e = group * TW_LANES + lane;
    return e < t->count ? e : t->count - 1;
}

static void corner_position(const tetrahedra *t, int64_t e, int point, int corner, const double *x, double y[3])
{
    const int32_t *node = t->node + e * t->shape->nodes;
    const tw_shape_term *term = t->shape->corner[point][corner];
    y[0] = y[1] = y[2] = 0.0;
    for (int i = 0; i < t->shape->terms; i++) {
        const double *from = x + 3 * (int64_t)node[term[i].node];
        for (int k = 0; k < 3; k++) y[k] += term[i].weight * from[k];
    }
}

/* F = sum_c (y_c - y_0) (grad L_c)^T, c = 1..3 */
static void deformation(const tetrahedra *t, int64_t group, int point, const double *x, tw_lanes F[9])
{
    tw_lanes edge[9];
    for (int l = 0; l < TW_LANES; l++) {
        int64_t e = element_in(t, group, l);
        double origin[3], y[3];
        corner_position(t, e, point, 0, x, origin);
        for (int c = 0; c < 3; c++) {
            corner_position(t, e, point, c + 1, x, y);
            for (int k = 0; k < 3; k++) edge[3 * c + k][l] = y[k] - origin[k];
        }
    }
    const tw_lanes *g = t->gradient + 9 * group;
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < 3; c++)
            for (int l = 0; l < TW_LANES; l++)
                F[3 * r + c][l] = edge[r][l] * g[c][l] + edge[3 + r][l] * g[3 + c][l] + edge[6 + r][l] * g[6 + c][l];
}

/* ---- energy ---- */

static void energy_body(void *context, int64_t begin, int64_t end, int64_t block)
{
    loop *p = context;
    double sum = 0.0;
    for (int64_t group = begin; group < end; group++)
        for (int q = 0; q < p->t->shape->points; q++) {
            tw_lanes F[9], psi;
            deformation(p->t, group, q, p->x, F);
            tw_solid_energy(&p->t->material, F, psi);
            for (int l = 0; l < TW_LANES; l++) sum += p->t->weight[group][l] * psi[l];
        }
    p->t->partial[block] = sum;
}

static tw_status tetrahedra_add_energy(void *data, const tw_force_view *at, double *energy)
{
    loop p = {.t = data, .x = at->x};
    tw_parallel_for(group_count(p.t), GROUP_BLOCK, energy_body, &p);
    for (int64_t b = 0; b < tw_parallel_blocks(group_count(p.t), GROUP_BLOCK); b++) *energy += p.t->partial[b];
    return TW_OK;
}

/* ---- force ---- */

/* The forces -w P grad L_c of the corners 1..3: three lanes each. */
static void corner_forces(const tetrahedra *t, int64_t group, tw_lanes P[9], tw_lanes force[9])
{
    const tw_lanes *g = t->gradient + 9 * group, *w = t->weight + group;
    for (int c = 0; c < 3; c++)
        for (int r = 0; r < 3; r++)
            for (int l = 0; l < TW_LANES; l++)
                force[3 * c + r][l] = -(*w)[l] * (P[3 * r][l] * g[3 * c][l] + P[3 * r + 1][l] * g[3 * c + 1][l] +
                                                  P[3 * r + 2][l] * g[3 * c + 2][l]);
}

static void spread_force(const tetrahedra *t, int point, int64_t e, int lane, tw_lanes force[9])
{
    double *out = t->element_force + 3 * t->shape->nodes * e;
    for (int c = 0; c < 4; c++)
        for (int r = 0; r < 3; r++) {
            double value = c ? force[3 * c - 3 + r][lane] : -(force[r][lane] + force[3 + r][lane] + force[6 + r][lane]);
            for (int i = 0; i < t->shape->terms; i++) {
                const tw_shape_term *term = &t->shape->corner[point][c][i];
                out[3 * term->node + r] += term->weight * value;
            }
        }
}

static void force_body(void *context, int64_t begin, int64_t end, int64_t block)
{
    (void)block;
    loop *p = context;
    const tetrahedra *t = p->t;
    for (int64_t group = begin; group < end; group++) {
        int64_t first = group * TW_LANES, last = first + TW_LANES < t->count ? first + TW_LANES : t->count;
        size_t entries = 3 * (size_t)t->shape->nodes;
        memset(t->element_force + entries * (size_t)first, 0, (size_t)(last - first) * entries * sizeof(double));
        for (int q = 0; q < t->shape->points; q++) {
            tw_lanes F[9], P[9], force[9];
            deformation(t, group, q, p->x, F);
            tw_solid_stress(&t->material, F, P);
            corner_forces(t, group, P, force);
            for (int64_t e = first; e < last; e++) spread_force(t, q, e, (int)(e - first), force);
        }
    }
}

static void gather_body(void *context, int64_t begin, int64_t end, int64_t block)
{
    (void)block;
    loop *p = context;
    const tetrahedra *t = p->t;
    for (int64_t i = begin; i < end; i++) {
        double sum[3] = {0.0, 0.0, 0.0};
        for (int64_t n = t->incidence.start[i]; n < t->incidence.start[i + 1]; n++)
            for (int k = 0; k < 3; k++) sum[k] += t->element_force[3 * (int64_t)t->incidence.entry[n] + k];
        for (int k = 0; k < 3; k++) p->out[3 * i + k] += sum[k];
    }
}

static tw_status tetrahedra_add_force(void *data, const tw_force_view *at, double *force)
{
    loop p = {.t = data, .x = at->x, .out = force};
    tw_parallel_for(group_count(p.t), GROUP_BLOCK, force_body, &p);
    tw_parallel_for(p.t->particles->count, TW_PARTICLE_BLOCK, gather_body, &p);
    return TW_OK;
}

/* ---- tangent ---- */

typedef double block3[9];

/* w times the curvature between the gradients a and b: a block of nine lanes, row by row. */
static void corner_block(const tw_solid_curvature *H, tw_lanes *F, const tw_lanes *w, const tw_lanes *a,
                         const tw_lanes *b, tw_lanes K[9])
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
    for (int k = 0; k < 9; k++)
        for (int l = 0; l < TW_LANES; l++) K[k][l] *= (*w)[l];
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
static void spread_tangent(const tetrahedra *t, int point, int64_t e, block3 K[4][4])
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

static void tangent_group(loop *p, int64_t group, int point)
{
    const tetrahedra *t = p->t;
    const tw_lanes *g = t->gradient + 9 * group;
    tw_lanes F[9], K[6][9];
    tw_solid_curvature H;
    deformation(t, group, point, p->x, F);
    if (!tw_solid_differentiate(&t->material, F, &H)) atomic_store(&p->undefined, true);
    for (int c = 0, k = 0; c < 3; c++)
        for (int d = c; d < 3; d++, k++) corner_block(&H, F, t->weight + group, g + 3 * c, g + 3 * d, K[k]);
    for (int l = 0; l < TW_LANES && group * TW_LANES + l < t->count; l++) {
        block3 blocks[4][4];
        complete_blocks(K, l, blocks);
        spread_tangent(t, point, group * TW_LANES + l, blocks);
    }
}

static void tangent_body(void *context, int64_t begin, int64_t end, int64_t block)
{
    (void)block;
    loop *p = context;
    const tetrahedra *t = p->t;
    size_t entries = 9 * (size_t)t->shape->nodes * (size_t)(t->shape->nodes + 1) / 2;
    int64_t first = begin * TW_LANES, last = end * TW_LANES < t->count ? end * TW_LANES : t->count;
    memset(t->element_tangent + entries * (size_t)first, 0, (size_t)(last - first) * entries * sizeof(double));
    for (int64_t group = begin; group < end; group++)
        for (int q = 0; q < t->shape->points; q++) tangent_group(p, group, q);
}

static tw_status linearise_at(tetrahedra *t, const double *x)
{
    loop p = {.t = t, .x = x};
    tw_parallel_for(group_count(t), GROUP_BLOCK, tangent_body, &p);
    if (atomic_load(&p.undefined)) return TW_RECOVERABLE;
    tw_assembly_gather(&t->assembly, t->element_tangent);
    return TW_OK;
}

static tw_status tetrahedra_linearise(void *data, const tw_force_view *at)
{
    return linearise_at(data, at->x);
}

static void tetrahedra_add_product(void *data, int count, const double *in, double *out)
{
    tw_assembly_add_product(&((tetrahedra *)data)->assembly, count, in, out);
}

static void tetrahedra_add_tangent(void *data, tw_sparse *matrix)
{
    tw_assembly_add_tangent(&((tetrahedra *)data)->assembly, matrix);
}

/* ---- the rest of the table ---- */

static tw_status tetrahedra_complete(void *data, const tw_particles *particles)
{
    tetrahedra *t = data;
    tw_element_list list = list_of(t);
    t->particles = particles;
    t->element_force = TW_NEW_ARRAY(3 * t->shape->nodes * t->count, double);
    t->element_tangent = TW_NEW_ARRAY(9 * tw_element_list_blocks(&list), double);
    t->partial = TW_NEW_ARRAY(tw_parallel_blocks(group_count(t), GROUP_BLOCK), double);
    if (!t->element_force || !t->element_tangent || !t->partial) return TW_OUT_OF_MEMORY;
    tw_status status = tw_incidence_create(&t->incidence, particles->count, t->count, t->shape->nodes, t->node);
    if (status == TW_OK) status = tw_assembly_create(&t->assembly, particles, &list);
    if (status == TW_OK && t->material.law == TW_SOLID_LINEAR) status = linearise_at(t, particles->position);
    return status;
}

static void tetrahedra_add_pattern(const void *data, tw_pattern *pattern)
{
    tw_assembly_add_pattern(&((const tetrahedra *)data)->assembly, pattern);
}

static void tetrahedra_locate(void *data, const tw_sparse *matrix)
{
    tw_assembly_locate(&((tetrahedra *)data)->assembly, matrix);
}

/* u^T K_e u <= sum_ab |u_a| |K_ab| |u_b| <= sum_a (sum_b |K_ab|) |u_a|^2, over the free particles of the element. */
static void linear_add_stiffness_bound(const void *data, double *bound)
{
    const tetrahedra *t = data;
    int nodes = t->shape->nodes;
    const double *K = t->element_tangent;
    for (int64_t e = 0; e < t->count; e++)
        for (int a = 0; a < nodes; a++)
            for (int b = a; b < nodes; b++, K += 9) {
                int32_t i = t->node[e * nodes + a], j = t->node[e * nodes + b];
                if (t->particles->pinned[i] || t->particles->pinned[j]) continue;
                double sum = 0.0;
                for (int k = 0; k < 9; k++) sum += K[k] * K[k];
                bound[i] += sqrt(sum);
                if (a != b) bound[j] += sqrt(sum);
            }
}

static const tw_force_table tetrahedra_table = {
    .name = "tetrahedra",
    .release = tetrahedra_release,
    .complete = tetrahedra_complete,
    .add_pattern = tetrahedra_add_pattern,
    .locate = tetrahedra_locate,
    .add_energy = tetrahedra_add_energy,
    .add_force = tetrahedra_add_force,
    .linearise = tetrahedra_linearise,
    .add_product = tetrahedra_add_product,
    .add_tangent = tetrahedra_add_tangent,
};

/* The stiffness of the linear law is constant, and so its bound is known. */
static const tw_force_table linear_tetrahedra_table = {
    .name = "linear tetrahedra",
    .release = tetrahedra_release,
    .complete = tetrahedra_complete,
    .add_pattern = tetrahedra_add_pattern,
    .locate = tetrahedra_locate,
    .add_energy = tetrahedra_add_energy,
    .add_force = tetrahedra_add_force,
    .add_product = tetrahedra_add_product,
    .add_tangent = tetrahedra_add_tangent,
    .add_stiffness_bound = linear_add_stiffness_bound,
};

static tw_status set_geometry(tetrahedra *t, const double *rest)
{
    for (int64_t group = 0; group < group_count(t); group++)
        for (int l = 0; l < TW_LANES; l++) {
            const int32_t *node = t->node + t->shape->nodes * element_in(t, group, l);
            const double *corner[4];
            double gradient[3][3];
            for (int c = 0; c < 4; c++) corner[c] = rest + 3 * (int64_t)node[c];
            double volume = tw_tetrahedron_gradients(corner, gradient);
            if (volume == 0.0) return TW_INVALID_ARGUMENT;
            for (int k = 0; k < 9; k++) t->gradient[9 * group + k][l] = gradient[k / 3][k % 3];
            t->weight[group][l] = group * TW_LANES + l < t->count ? volume / t->shape->points : 0.0;
        }
    return TW_OK;
}

tw_status tw_force_tetrahedra_create(int nodes, int64_t count, const int64_t *elements, const double *rest,
                                     const tw_solid_material *material, tw_force *out)
{
    tetrahedra *t = TW_NEW(tetrahedra);
    if (!t) return TW_OUT_OF_MEMORY;
    t->count = count;
    t->shape = tw_shape_of(nodes);
    t->material = tw_solid_constants_of(material);
    t->node = TW_NEW_ARRAY(nodes * count, int32_t);
    t->gradient = TW_NEW_ARRAY(9 * group_count(t), tw_lanes);
    t->weight = TW_NEW_ARRAY(group_count(t), tw_lanes);
    tw_status status = t->node && t->gradient && t->weight ? TW_OK : TW_OUT_OF_MEMORY;
    for (int64_t i = 0; i < nodes * count && status == TW_OK; i++) t->node[i] = (int32_t)elements[i];
    if (status == TW_OK) status = set_geometry(t, rest);
    if (status != TW_OK) {
        tetrahedra_release(t);
        return status;
    }
    bool linear = t->material.law == TW_SOLID_LINEAR;
    *out = (tw_force){linear ? &linear_tetrahedra_table : &tetrahedra_table, t};
    return TW_OK;
}
