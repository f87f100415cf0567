/* Contact as a force of the model: the sum over its pairs (contact/contact_pair.h). It conserves
 * energy; what contact loses is in contact_impulses.c. */
#include <math.h>
#include <stdatomic.h>
#include <string.h>

#include "base/allocate.h"
#include "base/fail.h"
#include "base/parallel_for.h"
#include "model/contact_force.h"

enum { N = TW_PAIR_SIZE };

static void contact_release(void *data)
{
    tw_contact *c = data;
    if (!c) return;
    tw_release(c->pairs);
    tw_release(c->plane_rows);
    tw_release(c->plane_points);
    tw_release(c->carried);
    tw_release(c->pair_force);
    tw_release(c->pair_energy);
    tw_release(c->felt);
    tw_release(c->checks);
    tw_release(c->near_pairs);
    tw_release(c->near_count);
    tw_release(c->tangents);

    tw_bodies_free(&c->bodies);
    tw_release(c->body_mass);
    tw_release(c->elasticity);
    tw_release(c->longest_edge);
    tw_release(c->reached);
    tw_release(c->spins[0]);
    tw_release(c->spins[1]);

    tw_contact_cells_free(&c->points);
    tw_contact_cells_free(&c->edges);
    tw_contact_cells_free(&c->triangles);
    tw_release(c->from);
    tw_release(c->to);
    tw_release(c->way);
    tw_release(c->list_way);
    tw_release(c->pattern_way);
    tw_release(c->swept);
    tw_box_pairs_free(&c->near.points);
    tw_box_pairs_free(&c->near.edges);
    tw_box_pairs_free(&c->seen.points);
    tw_box_pairs_free(&c->seen.edges);
    tw_release(c);
}

/* ---- completing ---- */

static tw_status contact_complete(void *data, const tw_particles *particles)
{
    tw_contact *c = data;
    c->particles = particles;

    for (int i = 0; i < 2; i++) {
        c->spins[i] =
            tw_allocate_zeroed(3 * (size_t)c->source.obstacles->count + 1, sizeof(double));
        if (!c->spins[i]) return TW_OUT_OF_MEMORY;
    }
    c->reached = TW_NEW_ARRAY(3 * particles->count + 1, double);
    if (!c->reached) return TW_OUT_OF_MEMORY;
    TW_TRY(tw_contact_weigh(c));
    TW_TRY(tw_contact_list_surfaces(c));
    TW_TRY(tw_contact_begin(c));
    return tw_contact_check_start(c);
}

/* Names the pairs of free particles of two vertices. */
static void add_vertices(const tw_contact *c, int32_t one, int32_t two, tw_pattern *pattern)
{
    tw_vertex_parts a = tw_contact_parts(c, one);
    tw_vertex_parts b = tw_contact_parts(c, two);
    for (int i = 0; i < a.count; i++)
        for (int j = 0; j < b.count; j++) {
            int32_t row = c->particles->unknown[a.particle[i]];
            int32_t column = c->particles->unknown[b.particle[j]];
            if (row >= 0 && column >= 0) tw_pattern_add(pattern, row, column);
        }
}

static void contact_add_pattern(const void *data, tw_pattern *pattern)
{
    const tw_contact *c = data;
    for (int64_t p = 0; p < c->pair_count; p++)
        for (int a = 0; a < TW_PAIR_VERTICES; a++)
            for (int b = 0; b <= a; b++)
                add_vertices(c, c->pairs[p].vertex[a], c->pairs[p].vertex[b], pattern);
}

/* ---- energy and force ---- */

/* What the functions of the parallel loops share. */
typedef struct loop {
    tw_contact *c;
    const tw_force_view *at;
    tw_pair_order order;   /* of the tangents */
    bool kept;             /* the tangents of pairs that are not wanted stay */
    atomic_bool undefined; /* a pair meets, and has no normal */
} loop;

/* Whether a pair acts on an active particle. Its free particles are all active, or none is. */
static bool is_wanted(const tw_contact *c, int64_t pair)
{
    return tw_particles_want(c->particles, c->pairs[pair].row);
}

/* The energies of the wanted pairs begin ... end - 1 of a block become 0; others keep what they have. */
static void clear_block(tw_contact *c, int64_t begin, int64_t end, int64_t block)
{
    if (!c->felt[block]) return;
    c->felt[block] = 0;
    for (int64_t p = begin; p < end; p++) {
        if (is_wanted(c, p)) c->pair_energy[p] = 0.0;
        if (c->pair_energy[p] != 0.0) c->felt[block] = 1;
    }
}

/* Notes the energy of a pair. */
static void feel(tw_contact *c, int64_t p, int64_t block, double energy)
{
    c->pair_energy[p] = energy;
    if (energy != 0.0) c->felt[block] = 1;
}

/* The first pair from p on, or the number of pairs, whose energy is not 0. */
static int64_t next_felt(const tw_contact *c, int64_t p)
{
    while (p < c->pair_count && c->pair_energy[p] == 0.0) {
        int64_t block = p / TW_PARTICLE_BLOCK;
        p = c->felt[block] ? p + 1 : (block + 1) * TW_PARTICLE_BLOCK;
    }
    return p;
}

static void energy_block(void *context, int64_t begin, int64_t end, int64_t block)
{
    loop *l = context;
    clear_block(l->c, begin, end, block);
    for (int64_t p = begin; (p = tw_contact_next(l->c, p, end, l->at->x)) < end; p++) {
        if (!is_wanted(l->c, p)) continue;
        double x[4][3];
        tw_pair_state state;
        tw_contact_take(l->c, &l->c->pairs[p], l->at->x, x);
        tw_pair_evaluate(&l->c->pairs[p], x, TW_PAIR_ENERGY, &state);
        feel(l->c, p, block, state.energy);
    }
}

static tw_status contact_add_energy(void *data, const tw_force_view *at, double *energy)
{
    tw_contact *c = data;
    loop l = {.c = c, .at = at};
    tw_parallel_for(c->pair_count, TW_PARTICLE_BLOCK, energy_block, &l);

    for (int64_t p = 0; (p = next_felt(c, p)) < c->pair_count; p++) *energy += c->pair_energy[p];
    return TW_OK;
}

static void force_block(void *context, int64_t begin, int64_t end, int64_t block)
{
    loop *l = context;
    tw_contact *c = l->c;
    clear_block(c, begin, end, block);
    for (int64_t p = begin; (p = tw_contact_next(c, p, end, l->at->x)) < end; p++) {
        if (!is_wanted(c, p)) continue;
        double x[4][3];
        tw_pair_state state;
        tw_contact_take(c, &c->pairs[p], l->at->x, x);
        tw_pair_evaluate(&c->pairs[p], x, TW_PAIR_GRADIENT, &state);
        feel(c, p, block, state.energy);
        if (!state.active) continue;

        if (!state.defined) atomic_store(&l->undefined, true);
        for (int i = 0; i < N; i++) c->pair_force[N * p + i] = -state.gradient[i];
    }
}

/* Notes the first pair whose primitives meet. */
static void note_undefined(tw_contact *c, const tw_force_view *at)
{
    for (int64_t p = 0; p < c->pair_count; p++) {
        double x[4][3];
        tw_gap gap;
        tw_contact_take(c, &c->pairs[p], at->x, x);
        if (tw_gap_find(c->pairs[p].kind, x, &gap)) continue;
        tw_contact_note_pair(c, &c->pairs[p], x);
        return;
    }
}

/* The force of pair p on the particles of its vertex i. */
static void add_vertex_force(tw_contact *c, int64_t p, int i, double *force)
{
    const double *push = c->pair_force + N * p + 3 * (int64_t)i;
    int32_t vertex = c->pairs[p].vertex[i];
    tw_vertex_parts parts = tw_contact_parts(c, vertex);
    for (int k = 0; k < 3 * parts.count; k++)
        force[3 * (int64_t)parts.particle[k / 3] + k % 3] += parts.weight[k / 3] * push[k % 3];
    if (!tw_contact_is_held(c, vertex)) return;
    for (int k = 0; k < 3; k++) c->press[k] += push[k];
}

tw_status tw_contact_add_force(void *data, const tw_force_view *at, double *force)
{
    tw_contact *c = data;
    loop l = {.c = c, .at = at};
    memset(c->press, 0, sizeof c->press);
    tw_parallel_for(c->pair_count, TW_PARTICLE_BLOCK, force_block, &l);
    if (atomic_load(&l.undefined)) {
        note_undefined(c, at);
        return TW_RECOVERABLE;
    }

    /* The pairs are added in their order, so that the sum does not depend on the threads. */
    for (int64_t p = 0; (p = next_felt(c, p)) < c->pair_count; p++)
        for (int i = 0; i < TW_PAIR_VERTICES; i++) add_vertex_force(c, p, i, force);
    return TW_OK;
}

/* ---- tangents ---- */

/* Whether the list of tangents holds all pairs in contact, and no other. */
static bool is_listed(const tw_contact *c)
{
    int64_t count = 0;

    for (int64_t p = 0; (p = next_felt(c, p)) < c->pair_count; p++) {
        if (count == c->tangent_count || c->tangents[count].pair != p) return false;
        count++;
    }
    return count == c->tangent_count;
}

/* Lists the pairs in contact at this point. Tangents of pairs that are not wanted stay, unless the list
 * becomes another one. */
static tw_status list_active(tw_contact *c, const tw_force_view *at, bool *kept)
{
    loop l = {.c = c, .at = at};
    tw_parallel_for(c->pair_count, TW_PARTICLE_BLOCK, energy_block, &l);
    *kept = c->particles->active && is_listed(c);
    if (*kept) return TW_OK;

    int64_t count = 0;
    for (int64_t p = 0; (p = next_felt(c, p)) < c->pair_count; p++) count++;

    /* The room grows by half more than is needed, so that it seldom grows. */
    if (count > c->tangent_capacity) {
        tw_release(c->tangents);
        c->tangent_count = 0;
        c->tangent_capacity = count + count / 2 + 16;
        c->tangents = TW_NEW_ARRAY(c->tangent_capacity, tw_pair_tangent);
        if (!c->tangents) {
            c->tangent_capacity = 0;
            return TW_OUT_OF_MEMORY;
        }
    }

    c->tangent_count = 0;
    for (int64_t p = 0; (p = next_felt(c, p)) < c->pair_count; p++)
        c->tangents[c->tangent_count++].pair = p;
    return TW_OK;
}

static void tangent_block(void *context, int64_t begin, int64_t end, int64_t block)
{
    (void)block;
    loop *l = context;
    for (int64_t i = begin; i < end; i++) {
        tw_pair_tangent *tangent = &l->c->tangents[i];
        const tw_contact_pair *pair = &l->c->pairs[tangent->pair];
        if (l->kept && !is_wanted(l->c, tangent->pair)) continue;

        double x[4][3];
        tw_pair_state state;

        tw_contact_take(l->c, pair, l->at->x, x);
        tw_pair_evaluate(pair, x, l->order, &state);
        tangent->row = pair->row;
        memcpy(tangent->vertex, pair->vertex, sizeof tangent->vertex);
        memcpy(tangent->hessian, state.hessian, sizeof state.hessian);
    }
}

static tw_status linearise(tw_contact *c, const tw_force_view *at, tw_pair_order order)
{
    loop l = {.c = c, .at = at, .order = order};
    TW_TRY(list_active(c, at, &l.kept));
    tw_parallel_for(c->tangent_count, TW_PARTICLE_BLOCK, tangent_block, &l);
    return TW_OK;
}

static tw_status contact_linearise(void *data, const tw_force_view *at)
{
    return linearise(data, at, TW_PAIR_HESSIAN);
}

/* A contact pushes: its geometric stiffness is negative. `definite` leaves it out. The tension of a
 * contact is no unknown of its own, because the repulsion is never stiffer than 4 kappa. */
static tw_status contact_linearise_tension(void *data, const tw_force_view *at,
                                           const double *tension, bool definite)
{
    (void)tension;
    return linearise(data, at, definite ? TW_PAIR_DEFINITE : TW_PAIR_HESSIAN);
}

/* from = the values of the vertices of a pair, of free particles alone. */
static void gather_unknowns(const tw_contact *c, const int32_t *vertex, const double *in,
                            double from[N])
{
    memset(from, 0, N * sizeof *from);
    for (int i = 0; i < TW_PAIR_VERTICES; i++) {
        tw_vertex_parts parts = tw_contact_parts(c, vertex[i]);
        for (int part = 0; part < parts.count; part++) {
            int64_t u = c->particles->unknown[parts.particle[part]];
            for (int k = 0; k < 3 && u >= 0; k++)
                from[3 * i + k] += parts.weight[part] * in[3 * u + k];
        }
    }
}

/* out += the values of the vertices of a pair, shared among their free particles. */
static void scatter_unknowns(const tw_contact *c, const int32_t *vertex, const double to[N],
                             double *out)
{
    for (int i = 0; i < TW_PAIR_VERTICES; i++) {
        tw_vertex_parts parts = tw_contact_parts(c, vertex[i]);
        for (int part = 0; part < parts.count; part++) {
            int64_t u = c->particles->unknown[parts.particle[part]];
            for (int k = 0; k < 3 && u >= 0; k++)
                out[3 * u + k] += parts.weight[part] * to[3 * i + k];
        }
    }
}

static void contact_add_product(void *data, int count, const double *in, double *out)
{
    const tw_contact *c = data;
    int64_t size = 3 * c->particles->free_count;
    for (int64_t t = 0; t < c->tangent_count; t++) {
        const double *hessian = c->tangents[t].hessian;
        const int32_t *vertex = c->tangents[t].vertex;

        for (int column = 0; column < count; column++) {
            double from[N];
            double to[N] = {0.0};
            gather_unknowns(c, vertex, in + column * size, from);
            for (int i = 0; i < N * N; i++) to[i / N] += hessian[i] * from[i % N];
            scatter_unknowns(c, vertex, to, out + column * size);
        }
    }
}

/* Whether one of the vertices of a pair is held. */
static bool is_against_obstacle(const tw_contact *c, const int32_t *vertex)
{
    bool held = false;
    for (int i = 0; i < TW_PAIR_VERTICES; i++) held = held || tw_contact_is_held(c, vertex[i]);
    return held;
}

bool tw_contact_press_change(const tw_contact *c, const double *d, double out[3])
{
    bool some = false;
    for (int k = 0; d && k < 3; k++) out[k] = 0.0;

    /* The force on a vertex is -dE/dx, and changes by -H d. */
    for (int64_t t = 0; t < c->tangent_count; t++) {
        const double *hessian = c->tangents[t].hessian;
        const int32_t *vertex = c->tangents[t].vertex;
        if (!is_against_obstacle(c, vertex)) continue;
        some = true;
        if (!d) break;

        double from[N];
        gather_unknowns(c, vertex, d, from);
        for (int i = 0; i < N; i++)
            for (int j = 0; j < N && tw_contact_is_held(c, vertex[i / 3]); j++)
                out[i % 3] -= hessian[N * i + j] * from[j];
    }
    return some;
}

/* matrix += weight * the 3x3 block of vertices a and b of a pair, between two particles. The matrix
 * stores the upper triangle, column by column inside a block. */
static void add_block(const double *hessian, int a, int b, double weight, int64_t place,
                      tw_sparse *matrix)
{
    double *values = tw_sparse_values(matrix) + 9 * place;
    for (int k = 0; k < 9; k++) values[k] += weight * hessian[N * (3 * a + k % 3) + 3 * b + k / 3];
}

/* Whether the block of vertices a and b is not 0: pairs of fewer than four vertices repeat one. */
static bool has_block(const double *hessian, int a, int b)
{
    for (int k = 0; k < 9; k++)
        if (hessian[N * (3 * a + k % 3) + 3 * b + k / 3] != 0.0) return true;
    return false;
}

/* The blocks of all particles of two vertices. */
static void add_vertex_blocks(const tw_contact *c, const tw_pair_tangent *tangent, int a, int b,
                              tw_sparse *matrix)
{
    if (!has_block(tangent->hessian, a, b)) return;
    const int32_t *vertex = tangent->vertex;
    tw_vertex_parts rows = tw_contact_parts(c, vertex[a]);
    tw_vertex_parts columns = tw_contact_parts(c, vertex[b]);
    for (int i = 0; i < rows.count; i++)
        for (int j = 0; j < columns.count; j++) {
            int32_t row = c->particles->unknown[rows.particle[i]];
            int32_t column = c->particles->unknown[columns.particle[j]];
            if (row < 0 || column < row || !tw_particles_want(c->particles, row)) continue;
            int64_t place = tw_sparse_find(matrix, row, column);

            if (place >= 0)
                add_block(tangent->hessian, a, b, rows.weight[i] * columns.weight[j], place,
                          matrix);
        }
}

static void contact_add_tangent(void *data, tw_sparse *matrix)
{
    const tw_contact *c = data;
    for (int64_t t = 0; t < c->tangent_count; t++) {
        const tw_pair_tangent *tangent = &c->tangents[t];
        if (!tw_particles_want(c->particles, tangent->row)) continue;

        /* Both orders of two vertices: one of them is in the upper triangle. */
        for (int a = 0; a < TW_PAIR_VERTICES; a++)
            for (int b = 0; b < TW_PAIR_VERTICES; b++) add_vertex_blocks(c, tangent, a, b, matrix);
    }
}

/* At rest nothing touches, and a law that is made for the bodies is about as stiff as they are. A stiffness that the user
 * gives counts: psi'' = 4 kappa where the gap ends. */
static void contact_add_stiffness_at_rest(const void *data, double *bound)
{
    const tw_contact *c = data;
    for (int64_t i = 0; i < c->particles->count; i++) bound[i] += 4.0 * c->options.stiffness;
}

static const tw_force_table contact_table = {
    .name = "contact",
    .release = contact_release,
    .complete = contact_complete,
    .add_pattern = contact_add_pattern,
    .add_energy = contact_add_energy,
    .add_force = tw_contact_add_force,
    .linearise = contact_linearise,
    .linearise_tension = contact_linearise_tension,
    .add_product = contact_add_product,
    .add_tangent = contact_add_tangent,
    .begin_step = tw_contact_begin_step,
    .finish_step = tw_contact_finish_step,
    .add_stiffness_at_rest = contact_add_stiffness_at_rest,
};

tw_status tw_force_contact_create(const tw_contact_options *options,
                                  const tw_contact_source *source, tw_force *out)
{
    tw_contact *c = TW_NEW(tw_contact);
    if (!c) return TW_OUT_OF_MEMORY;
    c->options = *options;
    c->source = *source;
    *out = (tw_force){&contact_table, c};
    return TW_OK;
}
