/* Springs that yield. spring_plasticity.h has the equations. */
#include "model/spring_plasticity.h"

#include <math.h>
#include <stdatomic.h>
#include <string.h>

#include "base/allocate.h"
#include "base/parallel_for.h"
#include "model/spring_batch.h"

/* The stage at which energies are measured is in the middle of a step. What is measured in this
 * first share of a step is measured with the rest lengths inside the step. */
static const double STAGE_SHARE = 0.75;

/* A spring is never shorter at rest than this share of its first length: metal that is pressed flat
 * does not vanish. Beyond that it is elastic. */
static const double SHORTEST_SHARE = 0.05;

/* A swing through an angle of RESOLVED radians per step, or less, hides no flow. */
static const double RESOLVED = 0.2;

/* A spring is at its limit from this share of it on: after a return map it is there but for rounding. */
static const double AT_LIMIT = 1.0 - 1e-9;

static const double BROKEN = -1.0;

/* ---- making ---- */

/* The larger and the smaller of two numbers. (fmax and fmin are calls of a library.) */
static double larger(double a, double b)
{
    return a > b ? a : b;
}

static double smaller(double a, double b)
{
    return a < b ? a : b;
}

static void release_values(tw_spring_values *values)
{
    tw_release(values->rest_length);
    tw_release(values->stiffness);
    tw_release(values->cubic);
    tw_release(values->limit);
    tw_release(values->room);
    *values = (tw_spring_values){0};
}

/* Copies the values as they are now. */
static bool copy_values(int64_t count, const tw_spring_values *from, tw_spring_values *to)
{
    bool good = true;
    to->rest_length = tw_copy_array(from->rest_length, count, sizeof(double), &good);
    to->stiffness = tw_copy_array(from->stiffness, count, sizeof(double), &good);
    to->cubic = tw_copy_array(from->cubic, count, sizeof(double), &good);
    to->limit = tw_copy_array(from->limit, count, sizeof(double), &good);
    to->room = tw_copy_array(from->room, count, sizeof(double), &good);
    return good;
}

static tw_spring_values values_of(const tw_springs *s)
{
    return (tw_spring_values){s->rest_length, s->stiffness, s->cubic, s->limit, s->room};
}

void tw_springs_take(tw_springs *s, const tw_spring_values *values)
{
    s->rest_length = values->rest_length;
    s->stiffness = values->stiffness;
    s->cubic = values->cubic;
    s->limit = values->limit;
    s->room = values->room;
}

void tw_springs_release_plasticity(tw_springs *s)
{
    tw_spring_plasticity *p = s->plasticity;
    if (!p) return;

    /* The springs keep the arrays that they were made with. */
    tw_springs_take(s, &p->after);
    release_values(&p->first);
    release_values(&p->during);
    tw_release(p->partial);
    tw_release(p->square_frequency);
    tw_release(p);
    s->plasticity = NULL;
}

/* Sets spring e after the plastic elongation p, with the sum of all flow so far. One that is broken has
 * no stiffness. */
static void set_spring(const tw_spring_plasticity *p, tw_spring_values *values, int64_t e,
                       double elongation, double sum)
{
    bool broken = sum < 0.0;
    double first = p->first.rest_length[e];
    double L = larger(first + elongation, 0.0);
    values->rest_length[e] = L;
    values->stiffness[e] = broken ? 0.0 : p->first.stiffness[e];
    if (values->cubic) values->cubic[e] = broken ? 0.0 : p->first.cubic[e];
    values->limit[e] = p->law.yield_strain * first + p->law.hardening * larger(sum, 0.0);
    values->room[e] = larger(L - SHORTEST_SHARE * first, 0.0);
}

tw_status tw_springs_make_plastic(tw_springs *s, const tw_plasticity *law)
{
    tw_spring_plasticity *p = s->plasticity = TW_NEW(tw_spring_plasticity);
    if (!p) return TW_OUT_OF_MEMORY;

    p->law = *law;
    s->hardening = law->hardening;
    s->limit = TW_NEW_ARRAY(s->count, double);
    s->room = TW_NEW_ARRAY(s->count, double);
    p->after = values_of(s);
    int64_t blocks = tw_parallel_blocks(s->count, TW_INTERNAL_BLOCK);
    p->partial = tw_allocate_zeroed((size_t)blocks, sizeof *p->partial);
    p->square_frequency = TW_NEW_ARRAY(s->count, double);
    bool good = s->limit && s->room && p->partial && p->square_frequency;
    good = good && copy_values(s->count, &p->after, &p->first);

    /* Springs that have not flowed yet. */
    for (int64_t e = 0; good && e < s->count; e++) set_spring(p, &p->after, e, 0.0, 0.0);
    good = good && copy_values(s->count, &p->after, &p->during);
    if (good) return TW_OK;

    tw_springs_release_plasticity(s);
    return TW_OUT_OF_MEMORY;
}

/* ---- internal variables ---- */

/* Springs per block of variables, which is that of the parallel loops: blocks of springs then share no mark. */
static int64_t block_size(const tw_springs *s)
{
    return s->count < TW_INTERNAL_BLOCK ? s->count : TW_INTERNAL_BLOCK;
}

/* Entries of the variables of all springs. The last block of springs has room for a whole one. */
static int64_t entry_count(const tw_springs *s)
{
    return TW_PLASTIC_ARRAYS * block_size(s) * tw_parallel_blocks(s->count, TW_INTERNAL_BLOCK);
}

int64_t tw_springs_internal_count(const void *data)
{
    return entry_count(data) + TW_PLASTIC_SUMS;
}

void tw_springs_set_internal(void *data, double *state, unsigned char *changed)
{
    tw_springs *s = data;
    s->plasticity->state = state;
    s->plasticity->changed = changed;
    memset(state, 0, (size_t)tw_springs_internal_count(s) * sizeof(double));
}

/* One of the variables of spring e. Those of the springs that follow in its block stand behind it. */
static double *variable_of(const tw_springs *s, int which, int64_t e)
{
    int64_t size = block_size(s);
    int64_t block = e / TW_INTERNAL_BLOCK;
    return s->plasticity->state + size * (TW_PLASTIC_ARRAYS * block + which) +
           e % TW_INTERNAL_BLOCK;
}

/* The plastic work stands behind the variables of the springs. */
static double *work_of(const tw_springs *s)
{
    return s->plasticity->state + entry_count(s);
}

/* The marks of a block of springs, `count` of them. */
static unsigned char *marks_of(const tw_springs *s, int64_t block, size_t *count)
{
    int64_t entries = TW_PLASTIC_ARRAYS * block_size(s);
    *count = (size_t)tw_parallel_blocks(entries, TW_INTERNAL_BLOCK);
    return s->plasticity->changed + entries * block / TW_INTERNAL_BLOCK;
}

static void mark(const tw_springs *s, int64_t block, unsigned char value)
{
    size_t count = 0;
    unsigned char *marks = marks_of(s, block, &count);
    memset(marks, value, count);
}

/* Whether the variables of a block may have changed since the step before. */
static bool is_marked(const tw_springs *s, int64_t block)
{
    size_t count = 0;
    const unsigned char *marks = marks_of(s, block, &count);
    return memchr(marks, 1, count) != NULL;
}

static void add_work(const tw_springs *s, double work)
{
    if (work == 0.0) return;
    *work_of(s) += work;
    s->plasticity->changed[entry_count(s) / TW_INTERNAL_BLOCK] = 1;
}

/* ---- one spring ---- */

static double length_of(const tw_springs *s, const double *x, int64_t e)
{
    double d[3];
    tw_springs_sum(s, x, e, d);
    return sqrt(tw_dot3(d, d));
}

/* The law of spring e with these values. */
static tw_spring_law law_with(const tw_springs *s, const tw_spring_values *values, int64_t e)
{
    tw_spring_law law = {.stiffness = values->stiffness[e],
                         .rest_length = values->rest_length[e],
                         .limit = values->limit[e],
                         .room = values->room[e],
                         .hardening = s->hardening};
    if (values->cubic) law.cubic = values->cubic[e];
    return law;
}

/* ---- before a step ---- */

/* What the functions of the parallel loops share. */
typedef struct loop {
    tw_springs *s;
    const double *x;
    const double *v;           /* at the end of the step */
    const tw_force_view *from; /* the start of the step */
    double h;
    atomic_bool changed;
} loop;

static void begin_block(void *context, int64_t begin, int64_t end, int64_t block)
{
    loop *c = context;
    tw_spring_plasticity *p = c->s->plasticity;

    /* Most springs are as the last attempt left them. */
    if (!is_marked(c->s, block)) return;
    mark(c->s, block, 0);
    for (int64_t e = begin; e < end; e++) {
        double elongation = *variable_of(c->s, TW_PLASTIC_ELONGATION, e);
        double sum = *variable_of(c->s, TW_PLASTIC_SUM, e);
        set_spring(p, &p->after, e, elongation, sum);
        set_spring(p, &p->during, e, elongation, sum);
    }
}

/* The blocks are added in their order, so that the sums do not depend on the threads. */
static tw_plastic_sums add_blocks(const tw_springs *s)
{
    tw_plastic_sums all = {0};
    for (int64_t b = 0; b < tw_parallel_blocks(s->count, TW_INTERNAL_BLOCK); b++) {
        all.work += s->plasticity->partial[b].work;
        all.error += s->plasticity->partial[b].error;
        all.stored += s->plasticity->partial[b].stored;
    }
    return all;
}

tw_status tw_springs_begin_step(void *data, double h, const tw_force_view *at, bool *changed)
{
    (void)changed; /* The pattern stays. */
    tw_springs *s = data;
    tw_spring_plasticity *p = s->plasticity;
    p->t = at->t;
    p->h = h;
    p->work = *work_of(s);

    loop c = {.s = s};
    tw_parallel_for(s->count, TW_INTERNAL_BLOCK, begin_block, &c);
    tw_springs_take(s, &p->during);
    return TW_OK;
}

/* ---- after a step ---- */

/* omega^2 = k sum_c weight_c^2 / m_c: the swing of spring e alone, with the particles at its corners. */
static double square_frequency(const tw_springs *s, int64_t e)
{
    const int32_t *corner = s->corner + s->corners * e;
    double lightness = 0.0;
    for (int c = 0; c < s->corners; c++)
        if (!s->particles->pinned[corner[c]])
            lightness += s->weight[c] * s->weight[c] / s->particles->mass[corner[c]];
    return s->plasticity->first.stiffness[e] * lightness;
}

void tw_springs_find_frequencies(tw_springs *s)
{
    for (int64_t e = 0; e < s->count; e++)
        s->plasticity->square_frequency[e] = square_frequency(s, e);
}

/* l' = d.d' / l: how fast spring e becomes longer. */
static double rate_of(const tw_springs *s, const double *x, const double *v, int64_t e)
{
    double d[3];
    double w[3];
    tw_springs_sum(s, x, e, d);
    tw_springs_sum(s, v, e, w);
    double l = sqrt(tw_dot3(d, d));
    return l > 0.0 ? tw_dot3(d, w) / l : 0.0;
}

double tw_springs_slope_ahead(const tw_springs *s, const tw_force_view *at, int64_t e)
{
    const tw_spring_plasticity *p = s->plasticity;
    tw_spring_law law = tw_springs_law(s, e);
    double l = length_of(s, at->x, e);
    tw_spring_pull pull = tw_spring_pull_at(&law, l);
    double deflection = l - law.rest_length;
    bool is_elastic = law.limit == 0.0 || fabs(deflection) < law.limit * AT_LIMIT;
    if (is_elastic || -deflection - law.limit > law.room) return pull.elastic;

    /* It is at its limit. If it is free otherwise, its pull stops it after rate / (omega^2 limit). */
    double rate = copysign(1.0, deflection) * rate_of(s, at->x, at->v, e);
    bool flows_on = rate > p->h * p->square_frequency[e] * law.limit;
    return flows_on ? pull.elastic * s->hardening / (1.0 + s->hardening) : pull.elastic;
}

/* Whether errors of the flow are looked for. */
static bool is_judged(const loop *c)
{
    return isfinite(c->s->plasticity->law.tolerance) && c->h > 0.0;
}

/* What a spring flows until it turns round, if it is free otherwise: the flow f and the larger limit take the energy
 * that it has beyond its limit. With H the hardening and A the amplitude of its swing
 *     limit (1 + H) f + H (1 + H) f^2 / 2 = (A^2 - limit^2) / 2,   A^2 = deflection^2 + (rate / omega)^2. */
static double free_flow(const tw_spring_law *law, double limit, double deflection, double swing)
{
    double c = 0.5 * (deflection * deflection + swing * swing - limit * limit);
    if (!(c > 0.0)) return 0.0;

    double b = limit * (1.0 + law->hardening);
    return 2.0 * c / (b + sqrt(b * b + 2.0 * b * law->hardening * c / limit));
}

/* By how much the flow of spring e in this step may be wrong [m]. Its swings at both ends of the step tell: when it
 * swings beyond its limit and comes back within the step, the end of the step does not show what should have flowed; and
 * a step in which it reaches its limit may have met it too late. */
static double flow_error(const loop *c, int64_t e, const tw_spring_law *law, double l, double flow)
{
    const tw_springs *s = c->s;
    double omega = sqrt(s->plasticity->square_frequency[e]);
    double angle = c->h * omega;
    if (!(angle > RESOLVED) || law->limit == 0.0) return 0.0;

    double start = length_of(s, c->from->x, e) - law->rest_length;
    double end = l - law->rest_length;
    double outward = copysign(1.0, end);
    double rate_first = outward * rate_of(s, c->from->x, c->from->v, e);
    double rate_last = outward * rate_of(s, c->x, c->v, e);

    /* What the start foretold; what has come of it; and what is to come, or was missed on the way back. */
    double most = end < 0.0 ? law->room : INFINITY;
    double limit = law->limit + law->hardening * fabs(flow);
    double all = smaller(free_flow(law, law->limit, start, rate_first / omega), most);
    double rest = smaller(free_flow(law, limit, end - flow, rate_last / omega), most - fabs(flow));
    double lack = all - fabs(flow);

    bool begins = flow != 0.0 && fabs(start) < law->limit * AT_LIMIT;
    if (begins && rate_last > 0.0) return fabs(lack - rest);

    /* Up to about a quarter of a swing, a turning point lies in the step only if l' changes its sign. */
    if (angle < 1.5 && !(rate_first > 0.0 && rate_last < 0.0)) return 0.0;
    return larger(larger(lack, rest), 0.0);
}

/* The flow of spring e in this step. */
static void finish_spring(loop *c, int64_t e, tw_plastic_sums *sums)
{
    tw_spring_plasticity *p = c->s->plasticity;
    double *elongation = variable_of(c->s, TW_PLASTIC_ELONGATION, e);
    double *sum = variable_of(c->s, TW_PLASTIC_SUM, e);
    if (*sum < 0.0) return;

    double l = length_of(c->s, c->x, e);
    double first = p->first.rest_length[e];
    tw_spring_law law = law_with(c->s, &p->during, e);
    double flow = tw_spring_flow(&law, l);
    double beyond = l - first - p->law.rupture_strain * first;
    bool breaks = beyond > 0.0;

    /* A spring that breaks has pulled too far. */
    if (is_judged(c)) {
        double error = flow_error(c, e, &law, l, flow);
        if (breaks) error = larger(error, beyond);
        error /= p->law.tolerance;
        double deflection = l - law.rest_length - flow;
        sums->error += law.stiffness * error * error;
        sums->stored += law.stiffness * deflection * deflection;
    }
    if (flow == 0.0 && !breaks) return;

    /* The rest length flows, or the spring breaks. */
    if (breaks) atomic_store(&c->changed, true);
    mark(c->s, e / TW_INTERNAL_BLOCK, 1);
    *elongation += flow;
    *sum = breaks ? BROKEN : *sum + fabs(flow);
    set_spring(p, &p->after, e, *elongation, *sum);
    tw_spring_law after = law_with(c->s, &p->after, e);
    sums->work += tw_spring_energy(&law, l) - tw_spring_energy(&after, l);
}

/* limit^2 - (l - L)^2 - l'^2 / omega^2 of four springs from `first` on: positive if their swings, as they are at x and
 * v, stay within the limit. Without v it is limit^2 - (l - L)^2. Also sets (l - L)^2. */
static tw_wide swing_room(const tw_springs *s, const double *x, const double *v, int64_t first,
                          tw_wide limit, tw_wide *square)
{
    tw_wide d[4];
    tw_wide l = tw_spring_batch_lengths(s, x, first, 4, d);
    tw_wide deflection =
        tw_wide_subtract(l, tw_wide_load(s->plasticity->after.rest_length + first));
    *square = tw_wide_multiply(deflection, deflection);
    tw_wide room = tw_wide_subtract(tw_wide_multiply(limit, limit), *square);
    if (!v) return room;

    /* l'^2 / omega^2 = (d.d')^2 / (l omega)^2. */
    tw_wide part[4];
    for (int j = 0; j < 4; j++) {
        const int32_t *end = s->corner + 2 * (first + j);
        tw_wide rate = tw_wide_subtract(tw_wide_load3(v + 3 * (int64_t)end[1]),
                                        tw_wide_load3(v + 3 * (int64_t)end[0]));
        part[j] = tw_wide_multiply(d[j], rate);
    }
    tw_wide dot = tw_wide_sum4(part);
    tw_wide below = tw_wide_multiply(tw_wide_multiply(l, l),
                                     tw_wide_load(s->plasticity->square_frequency + first));
    return tw_wide_subtract(room, tw_wide_divide(tw_wide_multiply(dot, dot), below));
}

/* Whether four springs from `first` on surely keep their rest lengths: none of them is at its limit, or may have been
 * there within this step. They have two ends and cannot break. Also sets their (l - L)^2 at the end of the step. */
static bool are_quiet(const loop *c, int64_t first, tw_wide *square)
{
    tw_wide before;
    const tw_springs *s = c->s;
    const tw_spring_plasticity *p = s->plasticity;

    tw_wide limit = tw_wide_load(p->after.limit + first);

    /* The end of the step shows whether springs flow that are not judged, or resolved by the step. */
    if (!is_judged(c)) return tw_wide_all_positive(swing_room(s, c->x, NULL, first, limit, square));
    double angle = RESOLVED / c->h;
    tw_wide slack =
        tw_wide_subtract(tw_wide_splat(angle * angle), tw_wide_load(p->square_frequency + first));
    if (tw_wide_all_positive(slack))
        return tw_wide_all_positive(swing_room(s, c->x, NULL, first, limit, square));

    return tw_wide_all_positive(swing_room(s, c->x, c->v, first, limit, square)) &&
           tw_wide_all_positive(swing_room(s, c->from->x, c->from->v, first, limit, &before));
}

static void finish_block(void *context, int64_t begin, int64_t end, int64_t block)
{
    loop *c = context;
    const tw_spring_plasticity *p = c->s->plasticity;
    bool in_fours = c->s->corners == 2 && c->h > 0.0 && !isfinite(p->law.rupture_strain);
    tw_plastic_sums sums = {0};
    tw_wide stored = tw_wide_zero();

    for (int64_t e = begin; e < end;) {
        int64_t next = e + 4 <= end ? e + 4 : end;
        bool whole = in_fours && next == e + 4;

        /* Most springs are quiet, and only add to the energy beside which errors are judged. */
        tw_wide square;
        if (whole && are_quiet(c, e, &square)) {
            stored = tw_wide_fma(tw_wide_load(p->first.stiffness + e), square, stored);
            e = next;
        }
        for (; e < next; e++) finish_spring(c, e, &sums);
    }

    sums.stored += tw_wide_sum(stored);
    p->partial[block] = sums;
}

tw_status tw_springs_finish_step(void *data, double h, const tw_force_view *from, double t,
                                 double *x, double *v, bool *changed)
{
    (void)t;
    tw_springs *s = data;
    loop c = {.s = s, .x = x, .v = v, .from = from, .h = h};
    tw_parallel_for(s->count, TW_INTERNAL_BLOCK, finish_block, &c);

    tw_plastic_sums sums = add_blocks(s);
    add_work(s, sums.work);
    tw_springs_take(s, &s->plasticity->after);

    *changed = *changed || atomic_load(&c.changed);
    return sums.error > sums.stored ? TW_RECOVERABLE : TW_OK;
}

/* ---- measuring ---- */

/* Whether t lies inside the last step, and not at its end. */
static bool is_inside(const tw_spring_plasticity *p, double t)
{
    return p->h > 0.0 && t < p->t + STAGE_SHARE * p->h;
}

tw_spring_values tw_springs_at(tw_springs *s, double t)
{
    tw_spring_values now = values_of(s);
    tw_springs_take(s,
                    is_inside(s->plasticity, t) ? &s->plasticity->during : &s->plasticity->after);
    return now;
}

double tw_springs_plastic_work(const void *data, double t)
{
    const tw_springs *s = data;
    return is_inside(s->plasticity, t) ? s->plasticity->work : *work_of(s);
}

/* What the loop over particles shares. */
typedef struct strain_loop {
    const tw_springs *s;
    const double *x;
    double *rows;
    int stride;
} strain_loop;

static void strain_block(void *context, int64_t begin, int64_t end, int64_t block)
{
    (void)block;
    const strain_loop *c = context;
    const tw_springs *s = c->s;

    for (int64_t i = begin; i < end; i++) {
        double *row = c->rows + c->stride * i;
        for (int64_t n = s->incidence.start[i]; n < s->incidence.start[i + 1]; n++) {
            int64_t e = s->incidence.entry[n] >> s->shift;
            double L = s->plasticity->first.rest_length[e];
            if (!(L > 0.0)) continue;
            row[0] = fmax(row[0], fabs(length_of(s, c->x, e) / L - 1.0));
            row[1] = fmax(row[1], fabs(*variable_of(s, TW_PLASTIC_ELONGATION, e)) / L);
        }
    }
}

void tw_springs_add_strain(const void *data, const double *x, double *rows, int stride)
{
    const tw_springs *s = data;
    strain_loop c = {s, x, rows, stride};
    tw_parallel_for(s->particles->count, TW_PARTICLE_BLOCK, strain_block, &c);
}
