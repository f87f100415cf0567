/* Networks of girders by stiffness warping: the energy is the sum of the energies of
 * all nodes (warping_star.h).
 *
 * A girder is seen from both its ends: half-girder 2 e + c leads from end c of girder e to the
 * other end. Half-girders are stored node by node, in the order of the incidence list. The rotation
 * of a node depends on all its neighbours, so that these act on each other: the tangent joins nodes
 * that are two girders apart. Rayleigh damping is a dashpot of beta k along each girder. */
#include <math.h>
#include <stdatomic.h>

#include "base/allocate.h"
#include "base/fail.h"
#include "base/parallel_for.h"
#include "model/assembly.h"
#include "model/incidence.h"
#include "model/springs.h"
#include "model/warping_star.h"

typedef struct warping {
    int64_t count;
    int32_t *ends;     /* a, b per girder */
    tw_girder *girder; /* seen from a */

    const tw_particles *particles;
    tw_incidence incidence;
    int64_t *place;   /* of each half-girder in the order of the incidence list */
    bool *framed;     /* the girders of the particle fix a rotation */
    tw_girder *seen;  /* half-girders as they are now */
    double *gradient; /* of a node's energy by each of its y_j: three per half-girder */
    tw_star_factor *factor;
    int64_t *star_start;  /* offsets into star_node */
    int32_t *star_node;   /* of each node: itself, then its neighbours */
    int64_t *block_start; /* offsets of the nodes into star_tangent, in blocks */
    double *star_tangent; /* dense tangents of the nodes, in the order of assembly.h */
    tw_assembly assembly;
    double *partial;   /* energy per block of particles */
    double beta;       /* of Rayleigh damping */
    tw_force dashpots; /* of Rayleigh damping; without table if there is none */
} warping;

static void warping_release(void *data)
{
    warping *w = data;
    if (!w) return;
    tw_incidence_free(&w->incidence);
    tw_assembly_free(&w->assembly);

    void *blocks[] = {w->ends,      w->girder,      w->place,        w->framed,
                      w->seen,      w->gradient,    w->factor,       w->star_start,
                      w->star_node, w->block_start, w->star_tangent, w->partial};
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) tw_release(blocks[i]);
    if (w->dashpots.table) w->dashpots.table->release(w->dashpots.data);
    tw_release(w);
}

/* What the functions of the parallel loops share. */
typedef struct loop {
    warping *w;
    const double *x;
    double *out;
    atomic_bool undefined; /* a node's rotation is ambiguous, or a spring has no direction */
} loop;

/* Writes the half-girders of a node as they are at x into w->seen. x = NULL: as they are at rest.
 * Returns how many there are. */
static int look(warping *w, int64_t node, const double *x)
{
    int64_t begin = w->incidence.start[node];
    int64_t end = w->incidence.start[node + 1];

    for (int64_t n = begin; n < end; n++) {
        int32_t half = w->incidence.entry[n];
        tw_girder *g = &w->seen[n];
        *g = w->girder[half / 2];

        /* Seen from the second end, a girder points the other way. */
        for (int k = 0; k < 3; k++) {
            if (half % 2) g->d[k] = -g->d[k];
            g->y[k] = x ? x[3 * (int64_t)w->ends[half ^ 1] + k] - x[3 * node + k] : g->d[k];
        }
    }

    return (int)(end - begin);
}

/* Called for each node when its rotation is known. Returns false where something is not defined.
 * The star of a node without a frame has no meaning. */
typedef bool visit_node(loop *p, int64_t node, int count, const tw_star *star, double *sum);

/* Visits the nodes of a block. It finds the rotations of TW_LANES nodes at
 * once. *sum starts at 0. */
static void visit_nodes(loop *p, int64_t begin, int64_t end, visit_node *visit, double *sum)
{
    warping *w = p->w;
    *sum = 0.0;
    for (int64_t first = begin; first < end; first += TW_LANES) {
        /* A of each node; a lane without a node repeats the first. */
        tw_lanes A[9];
        tw_polar_lanes polar;
        int count[TW_LANES];
        for (int l = 0; l < TW_LANES; l++) {
            int64_t node = first + l < end ? first + l : first;
            double matrix[9];
            count[l] = look(w, node, p->x);
            tw_star_fit(count[l], w->seen + w->incidence.start[node], matrix);
            for (int k = 0; k < 9; k++) A[k][l] = matrix[k];
        }
        tw_polar_decompose_lanes(A, &polar);

        /* Node by node from here on. */
        for (int l = 0; l < TW_LANES && first + l < end; l++) {
            /* The rotation of this node. */
            int64_t node = first + l;
            tw_star star;
            tw_polar_take(&polar, l, &star.polar);

            bool defined = !w->framed[node] ||
                           tw_star_set(&star, count[l], w->seen + w->incidence.start[node]);
            if (!visit(p, node, count[l], &star, sum) || !defined)
                atomic_store(&p->undefined, true);
        }
    }
}

/* ---- energy ---- */

/* *sum += the energy of a node: that of its star, or of half its springs. */
static bool visit_energy(loop *p, int64_t node, int count, const tw_star *star, double *sum)
{
    (void)star;
    const tw_girder *girders = p->w->seen + p->w->incidence.start[node];
    bool defined = true;

    /* A node with a frame has the energy of its star, others that of half springs. */
    if (p->w->framed[node]) *sum += tw_star_energy(count, girders);

    for (int j = 0; j < count && !p->w->framed[node]; j++) {
        /* k/4 (l - L)^2. */
        double energy;
        defined = tw_spring_half_energy(&girders[j], &energy) && defined;
        *sum += energy;
    }

    return defined;
}

static void energy_block(void *context, int64_t begin, int64_t end, int64_t block)
{
    loop *p = context;
    visit_nodes(p, begin, end, visit_energy, &p->w->partial[block]);
}

static tw_status warping_add_energy(void *data, const tw_force_view *at, double *energy)
{
    loop p = {.w = data, .x = at->x};
    int64_t count = p.w->particles->count;

    tw_parallel_for(count, TW_PARTICLE_BLOCK, energy_block, &p);

    /* The blocks are added in their order, so that the sum does not depend on the threads. */
    for (int64_t b = 0; b < tw_parallel_blocks(count, TW_PARTICLE_BLOCK); b++)
        *energy += p.w->partial[b];
    if (atomic_load(&p.undefined)) return TW_RECOVERABLE;
    return TW_OK;
}

/* ---- force ---- */

/* The gradient of the energy of a node by each of its y_j. */
static bool visit_gradient(loop *p, int64_t node, int count, const tw_star *star, double *sum)
{
    (void)sum;
    int64_t first = p->w->incidence.start[node];
    bool defined = true;

    for (int j = 0; j < count; j++) {
        /* The gradient by y_j. */
        const tw_girder *girder = &p->w->seen[first + j];
        double *gradient = p->w->gradient + 3 * (first + j);
        if (p->w->framed[node])
            tw_star_gradient(star, girder, gradient);
        else
            defined = tw_spring_half_gradient(girder, gradient) && defined;
    }

    return defined;
}

static void gradient_block(void *context, int64_t begin, int64_t end, int64_t block)
{
    (void)block;
    double none;
    visit_nodes(context, begin, end, visit_gradient, &none);
}

/* With y_j = x_j - x_i the force on a node is the sum of the gradients of its own half-girders less
 * those of the opposite half-girders. */
static void gather_block(void *context, int64_t begin, int64_t end, int64_t block)
{
    (void)block;
    loop *p = context;
    const warping *w = p->w;

    for (int64_t i = begin; i < end; i++) {
        double sum[3] = {0.0, 0.0, 0.0};
        for (int64_t n = w->incidence.start[i]; n < w->incidence.start[i + 1]; n++) {
            const double *own = w->gradient + 3 * n;
            const double *other = w->gradient + 3 * w->place[w->incidence.entry[n] ^ 1];
            for (int k = 0; k < 3; k++) sum[k] += own[k] - other[k];
        }
        for (int k = 0; k < 3; k++) p->out[3 * i + k] += sum[k];
    }
}

static tw_status warping_add_force(void *data, const tw_force_view *at, double *force)
{
    loop p = {.w = data, .x = at->x, .out = force};

    /* Each node finds its gradients; then each node gathers. */
    tw_parallel_for(p.w->particles->count, TW_PARTICLE_BLOCK, gradient_block, &p);
    if (atomic_load(&p.undefined)) return TW_RECOVERABLE;
    tw_parallel_for(p.w->particles->count, TW_PARTICLE_BLOCK, gather_block, &p);

    /* Rayleigh damping. */
    const tw_force *d = &p.w->dashpots;
    if (!d->table) return TW_OK;
    return d->table->add_force(d->data, at, force);
}

/* ---- tangent ---- */

/* The second derivative of the energy of a node by y_j and y_k. */
static bool inner_block(const warping *w, int64_t node, int j, int k, double block[9])
{
    int64_t first = w->incidence.start[node];

    /* With a frame, all girders of the node act on each other. */
    if (w->framed[node]) {
        tw_star_block(&w->factor[first + j], &w->factor[first + k], block);
        return true;
    }

    /* The springs of a node without a frame do not act on each other. */
    if (j == k) return tw_spring_half_block(&w->seen[first + j], block);
    for (int i = 0; i < 9; i++) block[i] = 0.0;
    return true;
}

/* The dense tangent of a node i in the positions. Because y_j = x_j - x_i, the row and the column
 * of the node itself are minus the sums of the others. `out` holds the blocks (0,0) (0,1) ... (0,n)
 * (1,1) ..., where 0 is the node itself. */
static bool fill_star(const warping *w, int64_t node, int count, double *out)
{
    bool defined = true;
    double *inner = out + 9 * (count + 1);

    /* Row 0 starts at zero; the other rows are the blocks between the neighbours. */
    for (int k = 0; k < 9 * (count + 1); k++) out[k] = 0.0;
    for (int j = 0; j < count; j++)
        for (int k = j; k < count; k++, inner += 9) {
            defined = inner_block(w, node, j, k, inner) && defined;

            /* Subtract the block and its transpose from row 0, and add both to the block (0,0). */
            for (int i = 0; i < 9; i++) {
                double turned = inner[3 * (i % 3) + i / 3];
                out[9 * (k + 1) + i] -= inner[i];
                if (j != k) out[9 * (j + 1) + i] -= turned;
                out[i] += j != k ? inner[i] + turned : inner[i];
            }
        }

    return defined;
}

/* The dense tangent of a node. */
static bool visit_tangent(loop *p, int64_t node, int count, const tw_star *star, double *sum)
{
    (void)sum;
    warping *w = p->w;
    int64_t first = w->incidence.start[node];
    if (w->framed[node]) tw_star_factorise(star, count, w->seen + first, w->factor + first);
    return fill_star(w, node, count, w->star_tangent + 9 * w->block_start[node]);
}

static void tangent_block(void *context, int64_t begin, int64_t end, int64_t block)
{
    (void)block;
    double none;
    visit_nodes(context, begin, end, visit_tangent, &none);
}

static tw_status warping_linearise(void *data, const tw_force_view *at)
{
    loop p = {.w = data, .x = at->x};

    /* Dense tangents of the nodes, gathered into the matrix. */
    tw_parallel_for(p.w->particles->count, TW_PARTICLE_BLOCK, tangent_block, &p);
    if (atomic_load(&p.undefined)) return TW_RECOVERABLE;
    tw_assembly_gather(&p.w->assembly, p.w->star_tangent);

    /* Rayleigh damping. */
    const tw_force *d = &p.w->dashpots;
    if (!d->table) return TW_OK;
    return d->table->linearise(d->data, at);
}

static void warping_add_symmetric_product(void *data, int count, const double *in, double *out)
{
    warping *w = data;
    tw_assembly_add_product(&w->assembly, count, in, out);
    const tw_force *d = &w->dashpots;
    if (d->table) d->table->add_symmetric_product(d->data, count, in, out);
}

static void warping_add_rest_product(void *data, int count, const double *in, double *out)
{
    const tw_force *d = &((warping *)data)->dashpots;
    if (d->table) d->table->add_rest_product(d->data, count, in, out);
}

static void warping_add_product(void *data, int count, const double *in, double *out)
{
    warping_add_symmetric_product(data, count, in, out);
    warping_add_rest_product(data, count, in, out);
}

static void warping_add_tangent(void *data, tw_sparse *matrix)
{
    warping *w = data;
    tw_assembly_add_tangent(&w->assembly, matrix);
    const tw_force *d = &w->dashpots;
    if (d->table) d->table->add_tangent(d->data, matrix);
}

/* ---- damping ---- */

static unsigned warping_traits(const void *data)
{
    return ((const warping *)data)->beta > 0.0 ? TW_FORCE_VELOCITY | TW_FORCE_GENERAL : 0;
}

static void warping_set_rayleigh(void *data, double beta)
{
    ((warping *)data)->beta = beta;
}

static void warping_add_damping_product(void *data, int count, const double *in, double *out)
{
    const tw_force *d = &((warping *)data)->dashpots;
    if (d->table) d->table->add_damping_product(d->data, count, in, out);
}

static void warping_add_damping(void *data, double factor, tw_sparse *matrix)
{
    const tw_force *d = &((warping *)data)->dashpots;
    if (d->table) d->table->add_damping(d->data, factor, matrix);
}

/* A dashpot of beta k along each girder. */
static tw_status create_dashpots(warping *w)
{
    int64_t *corner = TW_NEW_ARRAY(2 * w->count, int64_t);
    double *damping = TW_NEW_ARRAY(w->count, double);
    tw_status status = corner && damping ? TW_OK : TW_OUT_OF_MEMORY;

    /* The dashpot of girder e has c = beta k. */
    for (int64_t e = 0; e < w->count && status == TW_OK; e++) {
        damping[e] = w->beta * w->girder[e].axial;
        for (int c = 0; c < 2; c++) corner[2 * e + c] = w->ends[2 * e + c];
    }

    /* The force of the springs copies its input. */
    tw_springs_input input = {.count = w->count,
                              .corners = 2,
                              .corner = corner,
                              .damping = damping,
                              .positions = w->particles->position};
    if (status == TW_OK) status = tw_force_springs_create(&input, &w->dashpots);
    if (status == TW_OK) status = w->dashpots.table->complete(w->dashpots.data, w->particles);
    tw_release(corner);
    tw_release(damping);
    return status;
}

/* ---- the rest of the table ---- */

/* Lists each node with its neighbours for the assembly, the place of each half-girder, and which
 * nodes have a frame. */
static void list_stars(warping *w)
{
    int64_t filled = 0;
    int64_t blocks = 0;

    for (int64_t i = 0; i < w->particles->count; i++) {
        w->star_start[i] = filled;
        w->block_start[i] = blocks;

        /* The node itself, then its neighbours. */
        w->star_node[filled++] = (int32_t)i;
        for (int64_t n = w->incidence.start[i]; n < w->incidence.start[i + 1]; n++) {
            int32_t half = w->incidence.entry[n];
            w->place[half] = n;
            w->star_node[filled++] = w->ends[half ^ 1];
        }

        /* n members have n (n + 1) / 2 blocks. */
        int64_t members = filled - w->star_start[i];
        blocks += members * (members + 1) / 2;

        int count = look(w, i, NULL);
        w->framed[i] = count > 0 && tw_star_is_framed(count, w->seen + w->incidence.start[i]);
    }
    w->star_start[w->particles->count] = filled;
}

static tw_status allocate(warping *w, int64_t particles)
{
    /* Two half-girders per girder, and a star per particle. */
    w->place = TW_NEW_ARRAY(2 * w->count, int64_t);
    w->framed = TW_NEW_ARRAY(particles, bool);
    w->seen = TW_NEW_ARRAY(2 * w->count, tw_girder);
    w->gradient = TW_NEW_ARRAY(6 * w->count, double);
    w->factor = TW_NEW_ARRAY(2 * w->count, tw_star_factor);
    w->star_start = TW_NEW_ARRAY(particles + 1, int64_t);
    w->star_node = TW_NEW_ARRAY(particles + 2 * w->count, int32_t);
    w->block_start = TW_NEW_ARRAY(particles, int64_t);
    w->partial = TW_NEW_ARRAY(tw_parallel_blocks(particles, TW_PARTICLE_BLOCK), double);

    bool all = w->place && w->framed && w->seen && w->gradient && w->factor && w->star_start &&
               w->star_node && w->block_start && w->partial;

    return all ? TW_OK : TW_OUT_OF_MEMORY;
}

static tw_status warping_complete(void *data, const tw_particles *particles)
{
    warping *w = data;
    w->particles = particles;
    TW_TRY(allocate(w, particles->count));
    TW_TRY(tw_incidence_create(&w->incidence, particles->count, w->count, 2, w->ends));
    list_stars(w);

    /* The dense tangent of each node is an element of the assembly. */
    tw_element_list list = {
        .count = particles->count, .start = w->star_start, .particle = w->star_node};
    w->star_tangent = TW_NEW_ARRAY(9 * tw_element_list_blocks(&list), double);
    if (!w->star_tangent) return TW_OUT_OF_MEMORY;
    TW_TRY(tw_assembly_create(&w->assembly, particles, &list));

    if (!(w->beta > 0.0)) return TW_OK;
    return create_dashpots(w);
}

static void warping_add_pattern(const void *data, tw_pattern *pattern)
{
    tw_assembly_add_pattern(&((const warping *)data)->assembly, pattern);
}

static void warping_locate(void *data, const tw_sparse *matrix)
{
    warping *w = data;
    tw_assembly_locate(&w->assembly, matrix);
    if (w->dashpots.table) w->dashpots.table->locate(w->dashpots.data, matrix);
}

static tw_force_elements warping_elements(const void *data)
{
    const warping *w = data;
    return (tw_force_elements){w->count, 2, w->ends};
}

static const tw_force_table warping_table = {
    .name = "stiffness warping",
    .release = warping_release,
    .traits = warping_traits,
    .elements = warping_elements,
    .set_rayleigh = warping_set_rayleigh,
    .complete = warping_complete,
    .add_pattern = warping_add_pattern,
    .locate = warping_locate,
    .add_energy = warping_add_energy,
    .add_force = warping_add_force,
    .linearise = warping_linearise,
    .add_product = warping_add_product,
    .add_symmetric_product = warping_add_symmetric_product,
    .add_rest_product = warping_add_rest_product,
    .add_tangent = warping_add_tangent,
    .add_damping_product = warping_add_damping_product,
    .add_damping = warping_add_damping,
};

tw_status tw_force_warping_create(int64_t count, const int64_t *ends, const double *axial,
                                  const double *transverse, const double *rest, tw_force *out)
{
    warping *w = TW_NEW(warping);
    if (!w) return TW_OUT_OF_MEMORY;

    w->count = count;
    w->ends = TW_NEW_ARRAY(2 * count, int32_t);
    w->girder = TW_NEW_ARRAY(count, tw_girder);
    if (!w->ends || !w->girder) {
        warping_release(w);
        return TW_OUT_OF_MEMORY;
    }

    for (int64_t e = 0; e < count; e++) {
        int64_t a = ends[2 * e];
        int64_t b = ends[2 * e + 1];
        w->ends[2 * e] = (int32_t)a;
        w->ends[2 * e + 1] = (int32_t)b;

        double d[3];
        for (int k = 0; k < 3; k++) d[k] = rest[3 * b + k] - rest[3 * a + k];
        double across = transverse ? transverse[e] : 0.0;
        w->girder[e] = tw_girder_make(d, axial[e], across);
    }
    *out = (tw_force){&warping_table, w};
    return TW_OK;
}
