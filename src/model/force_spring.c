/* Springs: making them, their energy and their force. The law is in spring_law.h, the tangents are
 * in force_spring_tangent.c. */
#include <stdatomic.h>
#include <string.h>

#include "base/allocate.h"
#include "base/fail.h"
#include "base/parallel_for.h"
#include "model/spring_batch.h"
#include "model/spring_plasticity.h"

/* Weights of the corners: two ends, or a vertex and the three corners of a face. */
static const double end_weight[2] = {-1.0, 1.0};
static const double face_weight[4] = {-1.0, 1.0 / 3.0, 1.0 / 3.0, 1.0 / 3.0};
static const double section_weight[8] = {-0.25, -0.25, -0.25, -0.25, 0.25, 0.25, 0.25, 0.25};

/* The kinds of springs there are, by the number of their corners: 2^shift. */
static const struct {
    int corners;
    int shift;
    const double *weight;
} spring_kinds[] = {{2, 1, end_weight}, {4, 2, face_weight}, {8, 3, section_weight}};

static void springs_release(void *data)
{
    tw_springs *s = data;
    if (!s) return;
    tw_springs_release_plasticity(s);
    tw_incidence_free(&s->incidence);
    tw_spring_parts_free(&s->parts);

    void *arrays[] = {s->corner,   s->stiffness, s->rest_length, s->cubic, s->damping,
                      s->pull,     s->tangent,   s->slide,       s->root,  s->partial,
                      s->diagonal, s->block,     s->span,        s->limit, s->room};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) tw_release(arrays[i]);
    tw_release(s);
}

/* With damping K is not symmetric: the sliding part of spring_law.h has the term n g^T. */
static unsigned springs_traits(const void *data)
{
    return tw_springs_are_damped(data) ? TW_FORCE_VELOCITY | TW_FORCE_GENERAL : 0;
}

static tw_force_elements springs_elements(const void *data)
{
    const tw_springs *s = data;
    return (tw_force_elements){s->count, s->corners, s->corner};
}

static void springs_set_rayleigh(void *data, double beta)
{
    ((tw_springs *)data)->beta = beta;
}

/* Finds the particles of each block of springs. */
static tw_status find_spans(tw_springs *s)
{
    int64_t blocks = tw_parallel_blocks(s->count, TW_PARTICLE_BLOCK);
    s->span = TW_NEW_ARRAY(2 * blocks, int32_t);
    if (!s->span) return TW_OUT_OF_MEMORY;
    for (int64_t b = 0; b < blocks; b++) {
        s->span[2 * b] = INT32_MAX;
        s->span[2 * b + 1] = 0;
    }

    for (int64_t i = 0; i < s->corners * s->count; i++) {
        int32_t *span = s->span + 2 * (i / s->corners / TW_PARTICLE_BLOCK);
        if (s->corner[i] < span[0]) span[0] = s->corner[i];
        if (s->corner[i] >= span[1]) span[1] = s->corner[i] + 1;
    }
    return TW_OK;
}

static tw_status springs_complete(void *data, const tw_particles *particles)
{
    tw_springs *s = data;
    s->particles = particles;
    if (s->plasticity) tw_springs_find_frequencies(s);

    /* Scratch of products and energies, and the tangent of each spring. */
    s->pull = TW_NEW_ARRAY(3 * TW_MAX_BLOCK * s->count, double);
    s->partial = TW_NEW_ARRAY(tw_parallel_blocks(s->count, TW_PARTICLE_BLOCK), double);
    s->tangent = TW_NEW_ARRAY(TW_SPRING_TANGENT * s->count, double);
    if (!s->pull || !s->partial || !s->tangent) return TW_OUT_OF_MEMORY;
    TW_TRY(find_spans(s));

    /* Only damped springs have tangents of damping. */
    if (tw_springs_are_damped(s)) {
        s->slide = TW_NEW_ARRAY(TW_SPRING_SLIDE * s->count, double);
        s->root = TW_NEW_ARRAY(TW_SPRING_ROOT * s->count, double);
        if (!s->slide || !s->root) return TW_OUT_OF_MEMORY;
    }

    /* Places in the matrix: a 3x3 block per free particle, and one per pair of corners. */
    int pairs = s->corners * (s->corners - 1) / 2;
    s->diagonal = TW_NEW_ARRAY(particles->free_count, int64_t);
    s->block = TW_NEW_ARRAY(s->count * pairs, int64_t);
    if (!s->diagonal || !s->block) return TW_OUT_OF_MEMORY;
    if (tw_springs_are_plain(s)) TW_TRY(tw_spring_parts_create(&s->parts, s));
    return tw_incidence_create(&s->incidence, particles->count, s->count, s->corners, s->corner);
}

/* ---- force ---- */

/* What the functions of the parallel loops share. */
typedef struct loop {
    tw_springs *s;
    const double *x;
    const double *v;
    const double *x_rate;
    const double *v_rate;
    double *out;
    atomic_bool undefined; /* a spring has no length, hence no direction, and should have one */
} loop;

static void pull_block(void *context, int64_t begin, int64_t end, int64_t block)
{
    (void)block;
    loop *p = context;
    const tw_springs *s = p->s;
    bool damped = tw_springs_are_damped(s);
    double d[3];
    double y[3] = {0.0, 0.0, 0.0};
    if (!tw_springs_want_block(p->s, begin)) return;

    /* Springs of any kind, one at a time. */
    for (int64_t e = begin; e < end; e++) {
        if (!tw_springs_wants(s, e)) continue;

        /* d = sum_c weight_c x_c and its rate y = sum_c weight_c v_c. */
        tw_spring_law law = tw_springs_law(s, e);
        tw_springs_sum(s, p->x, e, d);
        if (damped) tw_springs_sum(s, p->v, e, y);

        if (!tw_spring_is_defined(&law, tw_dot3(d, d))) atomic_store(&p->undefined, true);

        /* pull = (F/l) d. */
        double scale = tw_spring_pull_over_length(&law, d, y);
        for (int k = 0; k < 3; k++) s->pull[3 * e + k] = scale * d[k];
    }
}

static void gather_block(void *context, int64_t begin, int64_t end, int64_t block)
{
    (void)block;
    loop *p = context;
    const tw_springs *s = p->s;

    /* out_i -= sum of weight * pull over the springs of particle i. */
    const int32_t *unknown = s->particles->unknown;
    for (int64_t i = begin; i < end; i++) {
        if (unknown[i] >= 0 && !tw_particles_want(s->particles, unknown[i])) continue;
        tw_wide sum = tw_wide_load3(p->out + 3 * i);
        for (int64_t n = s->incidence.start[i]; n < s->incidence.start[i + 1]; n++) {
            int32_t entry = s->incidence.entry[n];

            /* An entry is corners * spring + corner, and corners is a power of two. */
            tw_wide weight = tw_wide_splat(-s->weight[entry & (s->corners - 1)]);
            int64_t spring = entry >> s->shift;
            sum = tw_wide_fma(weight, tw_wide_load3(s->pull + 3 * spring), sum);
        }
        tw_wide_store3(p->out + 3 * i, sum);
    }
}

void tw_springs_gather(tw_springs *s, double *out)
{
    loop p = {.s = s, .out = out};
    tw_parallel_for(s->particles->count, TW_PARTICLE_BLOCK, gather_block, &p);
}

static tw_status springs_add_force(void *data, const tw_force_view *at, double *force)
{
    tw_springs *s = data;
    if (tw_springs_are_plain(s)) return tw_spring_parts_add_force(&s->parts, s, at->x, force);

    /* Each spring finds its pull; then each particle adds up the pulls of its springs. */
    loop p = {.s = s, .x = at->x, .v = at->v};
    tw_parallel_for(s->count, TW_PARTICLE_BLOCK, pull_block, &p);
    if (atomic_load(&p.undefined)) return TW_RECOVERABLE;
    tw_springs_gather(s, force);
    return TW_OK;
}

/* ---- energy ---- */

/* The energies of four springs of which some flow, added up. */
static double flowing_energy(const tw_springs *s, int64_t first, tw_wide lengths)
{
    double l[4];
    double sum = 0.0;
    tw_wide_store(l, lengths);
    for (int j = 0; j < 4; j++) {
        tw_spring_law law = tw_springs_law(s, first + j);
        sum += tw_spring_energy(&law, l[j]);
    }
    return sum;
}

/* The energies of four plain springs, k e^2/2 + q e^4/4, added up. */
static double plain_energy(const tw_springs *s, const double *x, int64_t first)
{
    tw_wide d[4];
    tw_wide l = tw_spring_batch_lengths(s, x, first, 4, d);
    tw_wide k = tw_wide_load(s->stiffness + first);
    tw_wide q = tw_spring_batch_values(s->cubic, first, 4);

    /* e^2/2 (k + q e^2/2) with e = l - L. */
    tw_wide e = tw_wide_subtract(l, tw_wide_load(s->rest_length + first));
    if (tw_spring_batch_flows(s, first, 4, e)) return flowing_energy(s, first, l);
    tw_wide half = tw_wide_multiply(tw_wide_splat(0.5), tw_wide_multiply(e, e));
    return tw_wide_sum(tw_wide_multiply(half, tw_wide_fma(q, half, k)));
}

static void energy_block(void *context, int64_t begin, int64_t end, int64_t block)
{
    loop *p = context;
    const tw_springs *s = p->s;
    double sum = 0.0;
    int64_t e = begin;

    /* Plain springs go four at a time, what is left of them one by one. */
    if (tw_springs_are_plain(s))
        for (; e + 4 <= end; e += 4) sum += plain_energy(s, p->x, e);

    for (; e < end; e++) {
        double d[3];
        tw_spring_law law = tw_springs_law(s, e);
        tw_springs_sum(s, p->x, e, d);
        sum += tw_spring_energy(&law, sqrt(tw_dot3(d, d)));
    }
    s->partial[block] = sum;
}

static tw_status springs_add_energy(void *data, const tw_force_view *at, double *energy)
{
    tw_springs *s = data;
    loop p = {.s = s, .x = at->x};

    tw_parallel_for(s->count, TW_PARTICLE_BLOCK, energy_block, &p);

    /* The blocks are added in their order, so that the sum does not depend on the threads. */
    for (int64_t b = 0; b < tw_parallel_blocks(s->count, TW_PARTICLE_BLOCK); b++)
        *energy += s->partial[b];
    return TW_OK;
}

/* The same for springs that yield: their energy at the stage of a step is that of the rest lengths
 * inside the step. */
static tw_status plastic_add_energy(void *data, const tw_force_view *at, double *energy)
{
    tw_spring_values now = tw_springs_at(data, at->t);
    tw_status status = springs_add_energy(data, at, energy);
    tw_springs_take(data, &now);
    return status;
}

/* ---- rate along a motion ---- */

static void rate_block(void *context, int64_t begin, int64_t end, int64_t block)
{
    (void)block;
    loop *p = context;
    const tw_springs *s = p->s;

    /* pull = the derivative of (F/l) d along the motion (x_rate, v_rate). */
    for (int64_t e = begin; e < end; e++) {
        /* The change (u, w) of the spring. Most springs have none. */
        double u[3];
        double w[3];
        double *pull = s->pull + 3 * e;
        tw_springs_sum(s, p->x_rate, e, u);
        tw_springs_sum(s, p->v_rate, e, w);
        memset(pull, 0, 3 * sizeof *pull);
        if (tw_dot3(u, u) + tw_dot3(w, w) == 0.0) continue;

        /* Its state (d, y). */
        double d[3];
        double y[3];
        tw_springs_sum(s, p->x, e, d);
        tw_springs_sum(s, p->v, e, y);

        tw_spring_law law = tw_springs_law(s, e);
        if (!tw_spring_is_defined(&law, tw_dot3(d, d))) atomic_store(&p->undefined, true);

        /* The elastic, sliding and damping part of spring_law.h. */
        tw_spring_state state = tw_spring_linearise(&law, d, y);
        tw_spring_product(&state, u, pull);
        tw_spring_slide_product(&state, u, pull);
        tw_spring_damping_product(&state, w, pull);
    }
}

static tw_status springs_add_rate(void *data, const tw_force_view *at, const double *x_rate,
                                  const double *v_rate, double *out)
{
    tw_springs *s = data;
    loop p = {.s = s, .x = at->x, .v = at->v, .x_rate = x_rate, .v_rate = v_rate};

    tw_parallel_for(s->count, TW_PARTICLE_BLOCK, rate_block, &p);
    if (atomic_load(&p.undefined)) return TW_RECOVERABLE;
    tw_springs_gather(s, out);
    return TW_OK;
}

/* The 3x3 matrix of a linear spring has no eigenvalue above k, and the block of its corners b and c
 * is weight_b weight_c times that matrix. Hence the row of corner c is bounded by k |weight_c|
 * sum_b |weight_b|. Cubic springs have this bound at rest only: their stiffness grows with the
 * deflection. */
static void springs_add_stiffness_bound(const void *data, double *bound)
{
    const tw_springs *s = data;
    double all = 0.0;

    for (int c = 0; c < s->corners; c++) all += fabs(s->weight[c]);

    for (int64_t i = 0; i < s->count * s->corners; i++)
        bound[s->corner[i]] += s->stiffness[i / s->corners] * all * fabs(s->weight[i % s->corners]);
}

/* ---- making springs ---- */

#define COMMON_ENTRIES                                                                             \
    .release = springs_release, .traits = springs_traits, .elements = springs_elements,            \
    .set_rayleigh = springs_set_rayleigh, .complete = springs_complete,                            \
    .add_pattern = tw_springs_add_pattern, .locate = tw_springs_locate,                            \
    .add_force = springs_add_force, .add_rate = springs_add_rate,                                  \
    .linearise = tw_springs_linearise, .add_product = tw_springs_add_product,                      \
    .add_symmetric_product = tw_springs_add_symmetric_product,                                     \
    .add_rest_product = tw_springs_add_rest_product, .add_tangent = tw_springs_add_tangent,        \
    .add_damping_product = tw_springs_add_damping_product, .add_damping = tw_springs_add_damping,  \
    .tension_count = tw_springs_tension_count, .linearise_tension = tw_springs_linearise_tension,  \
    .predict_tension = tw_springs_predict_tension

static const tw_force_table linear_table = {.name = "springs",
                                            COMMON_ENTRIES,
                                            .add_energy = springs_add_energy,
                                            .add_stiffness_bound = springs_add_stiffness_bound};
static const tw_force_table cubic_table = {.name = "cubic springs",
                                           COMMON_ENTRIES,
                                           .add_energy = springs_add_energy,
                                           .add_stiffness_at_rest = springs_add_stiffness_bound};

#define PLASTIC_ENTRIES                                                                            \
    .add_energy = plastic_add_energy, .begin_step = tw_springs_begin_step,                         \
    .finish_step = tw_springs_finish_step, .internal_count = tw_springs_internal_count,            \
    .set_internal = tw_springs_set_internal, .plastic_work = tw_springs_plastic_work,              \
    .add_strain = tw_springs_add_strain

static const tw_force_table plastic_table = {.name = "plastic springs",
                                             COMMON_ENTRIES,
                                             PLASTIC_ENTRIES,
                                             .add_stiffness_bound = springs_add_stiffness_bound};
static const tw_force_table plastic_cubic_table = {.name = "plastic cubic springs",
                                                   COMMON_ENTRIES,
                                                   PLASTIC_ENTRIES,
                                                   .add_stiffness_at_rest =
                                                       springs_add_stiffness_bound};

/* The length of spring e at these positions. */
static double length_at(const tw_springs *s, const double *positions, int64_t e)
{
    double d[3];
    tw_springs_sum(s, positions, e, d);
    return sqrt(tw_dot3(d, d));
}

/* Copies the values in the given order; NULL stays NULL. Returns false when memory is out. */
static bool copy_values(int64_t count, const int64_t *order, const double *values, double **copy)
{
    if (!values) return true;
    *copy = TW_NEW_ARRAY(count, double);
    for (int64_t e = 0; *copy && e < count; e++) (*copy)[e] = values[order[e]];
    return *copy != NULL;
}

/* Spring number e of the force is spring order[e] of the input. */
static tw_status fill(tw_springs *s, const tw_springs_input *input, const int64_t *order)
{
    /* Stiffness and rest length are always there; an absent stiffness is 0. */
    s->corner = TW_NEW_ARRAY(s->corners * s->count, int32_t);
    s->stiffness = tw_allocate_zeroed((size_t)s->count, sizeof(double));
    s->rest_length = TW_NEW_ARRAY(s->count, double);
    if (!s->corner || !s->stiffness || !s->rest_length) return TW_OUT_OF_MEMORY;
    if (!copy_values(s->count, order, input->cubic, &s->cubic)) return TW_OUT_OF_MEMORY;
    if (!copy_values(s->count, order, input->damping, &s->damping)) return TW_OUT_OF_MEMORY;

    /* A spring without a given rest length is relaxed where its corners are now. */
    for (int64_t e = 0; e < s->count; e++) {
        for (int c = 0; c < s->corners; c++)
            s->corner[s->corners * e + c] = (int32_t)input->corner[s->corners * order[e] + c];
        if (input->stiffness) s->stiffness[e] = input->stiffness[order[e]];
        if (input->rest_length)
            s->rest_length[e] = input->rest_length[order[e]];
        else
            s->rest_length[e] = length_at(s, input->positions, e);
    }

    return TW_OK;
}

/* Springs with two ends are sorted, the others stay as they are. */
static tw_status fill_in_order(tw_springs *s, const tw_springs_input *input)
{
    int64_t *order = TW_NEW_ARRAY(s->count, int64_t);
    tw_status status = order ? TW_OK : TW_OUT_OF_MEMORY;
    if (status == TW_OK && s->corners == 2)
        status = tw_spring_order(s->count, input->corner, order);
    for (int64_t e = 0; order && s->corners != 2 && e < s->count; e++) order[e] = e;

    if (status == TW_OK) status = fill(s, input, order);
    tw_release(order);
    return status;
}

tw_status tw_force_springs_create(const tw_springs_input *input, tw_force *out)
{
    tw_springs *s = TW_NEW(tw_springs);
    if (!s) return TW_OUT_OF_MEMORY;

    s->count = input->count;
    s->corners = input->corners;
    for (size_t i = 0; i < sizeof spring_kinds / sizeof *spring_kinds; i++) {
        if (spring_kinds[i].corners != input->corners) continue;
        s->shift = spring_kinds[i].shift;
        s->weight = spring_kinds[i].weight;
    }

    tw_status status = fill_in_order(s, input);
    if (status == TW_OK && input->plasticity)
        status = tw_springs_make_plastic(s, input->plasticity);
    if (status != TW_OK) {
        springs_release(s);
        return status;
    }

    const tw_force_table *const elastic[] = {&linear_table, &cubic_table};
    const tw_force_table *const plastic[] = {&plastic_table, &plastic_cubic_table};
    bool is_cubic = input->cubic != NULL;
    *out = (tw_force){input->plasticity ? plastic[is_cubic] : elastic[is_cubic], s};
    return TW_OK;
}
