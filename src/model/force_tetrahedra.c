/* Elastic tetrahedra (tetrahedra.h): geometry, energy, force. */
#include <math.h>
#include <string.h>

#include "base/allocate.h"
#include "base/fail.h"
#include "base/parallel_for.h"
#include "model/tetrahedra.h"

static void tetrahedra_release(void *data)
{
    tw_tetrahedra *t = data;
    if (!t) return;
    tw_incidence_free(&t->incidence);
    tw_assembly_free(&t->assembly);

    void *blocks[] = {t->node,    t->gradient, t->weight, t->element_force, t->element_tangent,
                      t->partial, t->x,        t->v,      t->change,        t->force};
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) tw_release(blocks[i]);
    tw_release(t);
}

static tw_element_list list_of(const tw_tetrahedra *t)
{
    return (tw_element_list){.count = t->count, .nodes = t->shape->nodes, .particle = t->node};
}

/* The element in this lane. In a group that is not full the last element is
 * repeated, with weight 0. */
static int64_t element_in(const tw_tetrahedra *t, int64_t group, int lane)
{
    int64_t e = group * TW_LANES + lane;
    if (e < t->count) return e;
    return t->count - 1;
}

static void corner_position(const tw_tetrahedra *t, int64_t e, int point, int corner,
                            const double *x, double y[3])
{
    const int32_t *node = t->node + e * t->shape->nodes;
    const tw_shape_term *term = t->shape->corner[point][corner];

    /* y_c = sum_a (dN_a / dL_c) x_a. */
    for (int k = 0; k < 3; k++) y[k] = 0.0;
    for (int i = 0; i < t->shape->terms; i++) {
        const double *from = x + 3 * (int64_t)node[term[i].node];
        for (int k = 0; k < 3; k++) y[k] += term[i].weight * from[k];
    }
}

/* F = sum_c (y_c - y_0) (grad L_c)^T, c = 1..3. */
void tw_tetrahedra_deformation(const tw_tetrahedra *t, int64_t group, int point, const double *x,
                               tw_lanes F[9])
{
    if (!x) {
        memset(F, 0, 9 * sizeof *F);
        return;
    }

    /* edge_c = y_c - y_0. */
    tw_lanes edge[9];
    for (int l = 0; l < TW_LANES; l++) {
        int64_t e = element_in(t, group, l);
        double origin[3];
        double y[3];
        corner_position(t, e, point, 0, x, origin);
        for (int c = 0; c < 3; c++) {
            corner_position(t, e, point, c + 1, x, y);
            for (int k = 0; k < 3; k++) edge[3 * c + k][l] = y[k] - origin[k];
        }
    }

    /* F = sum_c edge_c (grad L_c)^T. */
    const tw_lanes *g = t->gradient + 9 * group;
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < 3; c++)
            for (int l = 0; l < TW_LANES; l++)
                F[3 * r + c][l] = edge[r][l] * g[c][l] + edge[3 + r][l] * g[3 + c][l] +
                                  edge[6 + r][l] * g[6 + c][l];
}

/* ---- energy ---- */

static void energy_block(void *context, int64_t begin, int64_t end, int64_t block)
{
    tw_tetrahedra_loop *p = context;
    double sum = 0.0;

    /* sum of w Psi(F) over the points of the elements. */
    for (int64_t group = begin; group < end; group++)
        for (int q = 0; q < p->t->shape->points; q++) {
            tw_lanes F[9];
            tw_lanes psi;

            /* Psi(F) at this point, times its weight. */
            tw_tetrahedra_deformation(p->t, group, q, p->x, F);
            tw_solid_energy(&p->t->material, F, psi);
            for (int l = 0; l < TW_LANES; l++) sum += p->t->weight[group][l] * psi[l];
        }
    p->t->partial[block] = sum;
}

static tw_status tetrahedra_add_energy(void *data, const tw_force_view *at, double *energy)
{
    tw_tetrahedra_loop p = {.t = data, .x = at->x};
    int64_t groups = tw_tetrahedra_groups(p.t);

    tw_parallel_for(groups, TW_GROUP_BLOCK, energy_block, &p);

    /* The blocks are added in their order, so that the sum does not depend on the threads. */
    for (int64_t b = 0; b < tw_parallel_blocks(groups, TW_GROUP_BLOCK); b++)
        *energy += p.t->partial[b];
    return TW_OK;
}

/* ---- force ---- */

/* The forces -w P grad L_c of the corners 1..3, three lanes each. */
static void corner_forces(const tw_tetrahedra *t, int64_t group, tw_lanes P[9], tw_lanes force[9])
{
    const tw_lanes *g = t->gradient + 9 * group;
    const tw_lanes *w = t->weight + group;

    for (int c = 0; c < 3; c++)
        for (int r = 0; r < 3; r++)
            for (int l = 0; l < TW_LANES; l++)
                force[3 * c + r][l] =
                    -(*w)[l] * (P[3 * r][l] * g[3 * c][l] + P[3 * r + 1][l] * g[3 * c + 1][l] +
                                P[3 * r + 2][l] * g[3 * c + 2][l]);
}

/* node_force[a] += sum_c (dN_a/dL_c) force_c. The forces of all four corners sum to zero. */
static void spread_force(const tw_shape *shape, int point, tw_lanes force[9], tw_lanes *node_force)
{
    for (int c = 0; c < 4; c++) /* Corner 0 gets minus the sum of the others. */
        for (int i = 0; i < shape->terms; i++) {
            const tw_shape_term *term = &shape->corner[point][c][i];
            tw_lanes *out = node_force + 3 * term->node;
            for (int r = 0; r < 3; r++)
                for (int l = 0; l < TW_LANES; l++)
                    out[r][l] +=
                        term->weight * (c ? force[3 * c - 3 + r][l]
                                          : -(force[r][l] + force[3 + r][l] + force[6 + r][l]));
        }
}

/* What the functions of the parallel loops share. */
typedef struct stress_loop {
    tw_tetrahedra_loop *p;
    tw_stress_function *stress;
} stress_loop;

static void force_block(void *context, int64_t begin, int64_t end, int64_t block)
{
    (void)block;
    const stress_loop *s = context;
    const tw_tetrahedra *t = s->p->t;
    int entries = 3 * t->shape->nodes;

    /* The forces of the nodes of each element. */
    for (int64_t group = begin; group < end; group++) {
        tw_lanes node_force[3 * TW_TETRAHEDRON_MAX_NODES];
        tw_lanes P[9];
        tw_lanes force[9];

        /* Stress, forces of the corners, forces of the nodes: point by point. */
        memset(node_force, 0, (size_t)entries * sizeof *node_force);
        for (int q = 0; q < t->shape->points; q++) {
            s->stress(s->p, group, q, P);
            corner_forces(t, group, P, force);
            spread_force(t->shape, q, force, node_force);
        }

        /* From lanes to elements. */
        for (int l = 0; l < TW_LANES && group * TW_LANES + l < t->count; l++)
            for (int k = 0; k < entries; k++)
                t->element_force[entries * (group * TW_LANES + l) + k] = node_force[k][l];
    }
}

static void gather_block(void *context, int64_t begin, int64_t end, int64_t block)
{
    (void)block;
    const stress_loop *s = context;
    const tw_tetrahedra *t = s->p->t;

    /* out_i += the forces of its elements. */
    for (int64_t i = begin; i < end; i++) {
        double sum[3] = {0.0, 0.0, 0.0};
        for (int64_t n = t->incidence.start[i]; n < t->incidence.start[i + 1]; n++)
            for (int k = 0; k < 3; k++)
                sum[k] += t->element_force[3 * (int64_t)t->incidence.entry[n] + k];
        for (int k = 0; k < 3; k++) s->p->out[3 * i + k] += sum[k];
    }
}

void tw_tetrahedra_add_stress(tw_tetrahedra_loop *loop, tw_stress_function *stress)
{
    stress_loop s = {loop, stress};

    /* Each element finds its forces; then each particle adds up those of its elements. */
    tw_parallel_for(tw_tetrahedra_groups(loop->t), TW_GROUP_BLOCK, force_block, &s);
    tw_parallel_for(loop->t->particles->count, TW_PARTICLE_BLOCK, gather_block, &s);
}

/* P = dPsi/dF. */
static void elastic_stress(tw_tetrahedra_loop *p, int64_t group, int point, tw_lanes P[9])
{
    tw_lanes F[9];
    tw_tetrahedra_deformation(p->t, group, point, p->x, F);
    tw_solid_stress(&p->t->material, F, P);
}

/* The elastic and the viscous stress. */
static void damped_stress(tw_tetrahedra_loop *p, int64_t group, int point, tw_lanes P[9])
{
    tw_lanes viscous[9];
    elastic_stress(p, group, point, P);
    tw_tetrahedra_viscous_stress(p, group, point, viscous);
    for (int k = 0; k < 9; k++)
        for (int l = 0; l < TW_LANES; l++) P[k][l] += viscous[k][l];
}

static tw_status tetrahedra_add_force(void *data, const tw_force_view *at, double *force)
{
    tw_tetrahedra_loop p = {.t = data, .x = at->x, .v = at->v, .out = force};
    tw_tetrahedra_add_stress(&p, p.t->beta > 0.0 ? damped_stress : elastic_stress);
    return TW_OK;
}

/* ---- the rest of the table ---- */

static unsigned tetrahedra_traits(const void *data)
{
    const tw_tetrahedra *t = data;
    if (t->beta == 0.0) return 0;

    /* Only the linear law has a viscous force that does not change with the positions. */
    if (tw_tetrahedra_are_linear(t)) return TW_FORCE_VELOCITY;
    return TW_FORCE_VELOCITY | TW_FORCE_GENERAL;
}

static tw_force_elements tetrahedra_elements(const void *data)
{
    const tw_tetrahedra *t = data;
    return (tw_force_elements){t->count, t->shape->nodes, t->node};
}

static void tetrahedra_set_rayleigh(void *data, double beta)
{
    ((tw_tetrahedra *)data)->beta = beta;
}

static tw_status allocate(tw_tetrahedra *t, int64_t blocks)
{
    /* Forces, tangents and energies of the elements. */
    t->element_force = TW_NEW_ARRAY(3 * t->shape->nodes * t->count, double);
    t->element_tangent = TW_NEW_ARRAY(9 * blocks, double);
    t->partial = TW_NEW_ARRAY(tw_parallel_blocks(tw_tetrahedra_groups(t), TW_GROUP_BLOCK), double);
    if (!t->element_force || !t->element_tangent || !t->partial) return TW_OUT_OF_MEMORY;

    /* Only damping needs the point of linearisation and vectors of all particles. */
    if (!(t->beta > 0.0)) return TW_OK;
    int64_t entries = 3 * t->particles->count;
    t->x = TW_NEW_ARRAY(entries, double);
    t->v = TW_NEW_ARRAY(entries, double);
    t->change = tw_allocate_zeroed((size_t)entries, sizeof(double));
    t->force = TW_NEW_ARRAY(entries, double);
    return t->x && t->v && t->change && t->force ? TW_OK : TW_OUT_OF_MEMORY;
}

static tw_status tetrahedra_complete(void *data, const tw_particles *particles)
{
    tw_tetrahedra *t = data;
    tw_element_list list = list_of(t);

    t->particles = particles;
    TW_TRY(allocate(t, tw_element_list_blocks(&list)));
    TW_TRY(
        tw_incidence_create(&t->incidence, particles->count, t->count, t->shape->nodes, t->node));

    /* The matrices; those of the linear law are found here, once for all. */
    TW_TRY(tw_assembly_create(&t->assembly, particles, &list));
    if (t->beta > 0.0) TW_TRY(tw_assembly_create_damping(&t->assembly));
    if (tw_tetrahedra_are_linear(t)) TW_TRY(tw_tetrahedra_linearise_once(t));
    return TW_OK;
}

static void tetrahedra_add_pattern(const void *data, tw_pattern *pattern)
{
    tw_assembly_add_pattern(&((const tw_tetrahedra *)data)->assembly, pattern);
}

static void tetrahedra_locate(void *data, const tw_sparse *matrix)
{
    tw_assembly_locate(&((tw_tetrahedra *)data)->assembly, matrix);
}

/* u^T K_e u <= sum_ab |u_a| |K_ab| |u_b| <= sum_a (sum_b |K_ab|) |u_a|^2, over the free
 * particles of the element. */
static void linear_add_stiffness_bound(const void *data, double *bound)
{
    const tw_tetrahedra *t = data;
    int nodes = t->shape->nodes;
    const double *K = t->element_tangent;

    for (int64_t e = 0; e < t->count; e++)
        for (int a = 0; a < nodes; a++)
            for (int b = a; b < nodes; b++, K += 9) {
                int32_t i = t->node[e * nodes + a];
                int32_t j = t->node[e * nodes + b];
                if (t->particles->pinned[i] || t->particles->pinned[j]) continue;

                /* The Frobenius norm bounds |K_ab|. */
                double sum = 0.0;
                for (int k = 0; k < 9; k++) sum += K[k] * K[k];
                bound[i] += sqrt(sum);
                if (a != b) bound[j] += sqrt(sum);
            }
}

#define COMMON_ENTRIES                                                                             \
    .release = tetrahedra_release, .traits = tetrahedra_traits, .elements = tetrahedra_elements,   \
    .set_rayleigh = tetrahedra_set_rayleigh, .complete = tetrahedra_complete,                      \
    .add_pattern = tetrahedra_add_pattern, .locate = tetrahedra_locate,                            \
    .add_energy = tetrahedra_add_energy, .add_force = tetrahedra_add_force,                        \
    .add_rate = tw_tetrahedra_add_rate, .add_product = tw_tetrahedra_add_product,                  \
    .add_symmetric_product = tw_tetrahedra_add_symmetric_product,                                  \
    .add_rest_product = tw_tetrahedra_add_rest_product, .add_tangent = tw_tetrahedra_add_tangent,  \
    .add_damping_product = tw_tetrahedra_add_damping_product,                                      \
    .add_damping = tw_tetrahedra_add_damping

static const tw_force_table tetrahedra_table = {
    .name = "tetrahedra", COMMON_ENTRIES, .linearise = tw_tetrahedra_linearise};

/* The stiffness of the linear law is constant, and so its bound is known. */
static const tw_force_table linear_tetrahedra_table = {
    .name = "linear tetrahedra", COMMON_ENTRIES, .add_stiffness_bound = linear_add_stiffness_bound};

/* Finds the gradients and weights of all elements at rest. */
static tw_status set_geometry(tw_tetrahedra *t, const double *rest)
{
    for (int64_t group = 0; group < tw_tetrahedra_groups(t); group++)
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

tw_status tw_force_tetrahedra_create(int nodes, int64_t count, const int64_t *elements,
                                     const double *rest, const tw_solid_material *material,
                                     tw_force *out)
{
    tw_tetrahedra *t = TW_NEW(tw_tetrahedra);
    if (!t) return TW_OUT_OF_MEMORY;

    t->count = count;
    t->shape = tw_shape_of(nodes);
    t->material = tw_solid_constants_of(material);
    t->node = TW_NEW_ARRAY(nodes * count, int32_t);
    t->gradient = TW_NEW_ARRAY(9 * tw_tetrahedra_groups(t), tw_lanes);
    t->weight = TW_NEW_ARRAY(tw_tetrahedra_groups(t), tw_lanes);
    tw_status status = TW_OUT_OF_MEMORY;
    if (t->node && t->gradient && t->weight) {
        for (int64_t i = 0; i < nodes * count; i++) t->node[i] = (int32_t)elements[i];
        status = set_geometry(t, rest);
    }
    if (status != TW_OK) {
        tetrahedra_release(t);
        return status;
    }

    bool linear = tw_tetrahedra_are_linear(t);
    *out = (tw_force){linear ? &linear_tetrahedra_table : &tetrahedra_table, t};
    return TW_OK;
}
