/* The force of plain springs in one pass: how they are sorted and cut, and the pass. */
#include "model/spring_parts.h"

#include <stdatomic.h>
#include <string.h>

#include "base/allocate.h"
#include "base/parallel_for.h"
#include "model/spring_batch.h"

enum {
    GROUP = 16,              /* lower ends that take turns */
    SPRINGS_PER_PART = 2048, /* some microseconds of work */
    FEW_PARTS = 64,          /* so many are enough for threads; more of them fit into caches */
    MOST_PARTS = 4096,
    LANES = TW_WIDE_LANES /* numbers per particle */
};

/* ---- order ---- */

static int64_t lower_end(const int64_t *ends, int64_t e)
{
    return ends[2 * e] < ends[2 * e + 1] ? ends[2 * e] : ends[2 * e + 1];
}

/* Lists the springs by their lower ends (counting sort): those of particle p stand in listed from
 * start[p] to start[p + 1]. */
static void list_by_lower_end(int64_t count, const int64_t *ends, int64_t particles, int64_t *start,
                              int64_t *listed)
{
    for (int64_t e = 0; e < count; e++) start[lower_end(ends, e) + 1]++;
    for (int64_t p = 0; p < particles; p++) start[p + 1] += start[p];

    /* Filling moves start[p] up to start[p + 1], so that the offsets are shifted back by one. */
    for (int64_t e = 0; e < count; e++) listed[start[lower_end(ends, e)]++] = e;
    for (int64_t p = particles; p > 0; p--) start[p] = start[p - 1];
    start[0] = 0;
}

/* Takes the springs of each group of lower ends in turns. */
static void take_turns(int64_t particles, const int64_t *start, const int64_t *listed,
                       int64_t *order)
{
    int64_t next = 0;
    for (int64_t first = 0; first < particles; first += GROUP) {
        int64_t last = first + GROUP < particles ? first + GROUP : particles;
        for (int64_t turn = 0; next < start[last]; turn++)
            for (int64_t p = first; p < last; p++)
                if (start[p] + turn < start[p + 1]) order[next++] = listed[start[p] + turn];
    }
}

tw_status tw_spring_order(int64_t count, const int64_t *ends, int64_t *order)
{
    int64_t particles = 0;
    for (int64_t i = 0; i < 2 * count; i++)
        if (ends[i] >= particles) particles = ends[i] + 1;

    int64_t *start = tw_allocate_zeroed((size_t)particles + 1, sizeof(int64_t));
    int64_t *listed = TW_NEW_ARRAY(count, int64_t);
    tw_status status = start && listed ? TW_OK : TW_OUT_OF_MEMORY;
    if (status == TW_OK) {
        list_by_lower_end(count, ends, particles, start, listed);
        take_turns(particles, start, listed, order);
    }

    tw_release(start);
    tw_release(listed);
    return status;
}

/* ---- parts ---- */

/* The lowest end of the springs from `first` on: of those in the first group. */
static int64_t lowest_end(const tw_springs *s, int64_t first)
{
    const int32_t *end = s->corner + 2 * first;
    return end[0] < end[1] ? end[0] : end[1];
}

/* Cuts the springs into `count` parts, and finds the particles of each. Returns the number of
 * particles in all windows. */
static int64_t cut(tw_spring_parts *parts, int count, const tw_springs *s)
{
    parts->count = count;
    parts->rows = 0;
    parts->own[0] = 0;
    parts->window[0] = 0;
    for (int p = 0; p < count; p++) {
        /* The springs count p / parts to count (p + 1) / parts, without overflow. */
        parts->spring[p] = s->count / count * p + s->count % count * p / count;
        parts->spring[p + 1] = s->count / count * (p + 1) + s->count % count * (p + 1) / count;
    }

    for (int p = 0; p < count; p++) {
        /* Its own particles end at the lowest end of all springs that follow: GROUP lower ends take
         * turns, so that the next part begins within a group. */
        int64_t next = s->particles->count;
        if (p + 1 < count) next = lowest_end(s, parts->spring[p + 1]) / GROUP * GROUP;
        parts->own[p + 1] = next > parts->own[p] ? next : parts->own[p];

        /* The window reaches up to the highest end. */
        int64_t end = parts->own[p + 1];
        for (int64_t i = 2 * parts->spring[p]; i < 2 * parts->spring[p + 1]; i++)
            if (s->corner[i] >= end) end = s->corner[i] + 1;
        parts->end[p] = end;
        parts->window[p + 1] = parts->window[p] + end - parts->own[p + 1];
        if (end - parts->own[p] > parts->rows) parts->rows = end - parts->own[p];
    }
    return parts->window[count];
}

tw_status tw_spring_parts_create(tw_spring_parts *parts, const tw_springs *s)
{
    /* A power of two: two, four or eight threads share it evenly. */
    int count = 1;
    while (2 * count <= s->count / SPRINGS_PER_PART && 2 * count <= MOST_PARTS) count *= 2;

    *parts = (tw_spring_parts){.spring = TW_NEW_ARRAY(count + 1, int64_t),
                               .own = TW_NEW_ARRAY(count + 1, int64_t),
                               .end = TW_NEW_ARRAY(count, int64_t),
                               .window = TW_NEW_ARRAY(count + 1, int64_t)};
    if (!parts->spring || !parts->own || !parts->end || !parts->window) return TW_OUT_OF_MEMORY;

    /* A particle of a window costs about as much time as half a spring. Therefore there are fewer
     * parts where the windows would have more particles than a quarter of the springs; for particles
     * in random order one part is left. Many parts must have windows that cost nothing. */
    int64_t total = cut(parts, count, s);
    while (count > 1 && total > s->count / (count > FEW_PARTS ? 64 : 4)) {
        count /= 2;
        total = cut(parts, count, s);
    }

    /* Only the pages that a thread uses take memory. */
    parts->windows = TW_NEW_ARRAY(3 * total, double);
    int64_t rooms = count < TW_PARALLEL_SLOTS ? count : TW_PARALLEL_SLOTS;
    parts->scratch = TW_NEW_ARRAY(rooms * 2 * LANES * parts->rows, double);
    parts->rests = TW_NEW_ARRAY(count, bool);
    return parts->windows && parts->scratch && parts->rests ? TW_OK : TW_OUT_OF_MEMORY;
}

void tw_spring_parts_free(tw_spring_parts *parts)
{
    void *arrays[] = {parts->spring,  parts->own,     parts->end,  parts->window,
                      parts->windows, parts->scratch, parts->rests};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) tw_release(arrays[i]);
    *parts = (tw_spring_parts){0};
}

/* ---- the pass ---- */

/* What the functions of the parallel loops share. */
typedef struct loop {
    const tw_spring_parts *parts;
    const tw_springs *s;
    const double *x;
    double *force;
    atomic_bool undefined; /* a spring has no length, hence no direction, and should have one */
} loop;

/* Where positions and sums of the particles of a part are, four numbers each. */
typedef struct view {
    double *x;
    double *sums;
} view;

/* T/l where a spring of four has no length: its pull is 0 if its rest length is 0 as well. */
static tw_wide correct_lengthless(loop *p, int64_t first, tw_wide l, tw_wide across)
{
    double length[LANES];
    double value[LANES];
    tw_wide_store(length, l);
    tw_wide_store(value, across);

    for (int j = 0; j < LANES; j++) {
        if (length[j] > 0.0) continue;
        value[j] = 0.0;
        if (!(length[j] == 0.0 && p->s->rest_length[first + j] == 0.0))
            atomic_store(&p->undefined, true);
    }
    return tw_wide_load(value);
}

/* T/l of four springs of which some flow. */
static tw_wide flowing_tension_over_length(const tw_springs *s, int64_t first, tw_wide l)
{
    tw_spring_batch batch;
    tw_wide_store(batch.length, l);
    tw_spring_batch_flow(s, first, LANES, &batch);
    return tw_wide_load(batch.across);
}

/* T/l = e (k + q e^2) / l with e = l - L, of four springs. */
TW_ALWAYS_INLINE tw_wide tension_over_length(const tw_springs *s, int64_t first, tw_wide l)
{
    tw_wide e = tw_wide_subtract(l, tw_wide_load(s->rest_length + first));
    if (tw_spring_batch_flows(s, first, LANES, e)) return flowing_tension_over_length(s, first, l);

    tw_wide k = tw_wide_load(s->stiffness + first);
    if (s->cubic) k = tw_wide_fma(tw_wide_load(s->cubic + first), tw_wide_multiply(e, e), k);
    return tw_wide_divide(tw_wide_multiply(e, k), l);
}

/* Adds the pulls of four springs: (T/l) d on the first end, -(T/l) d on the second. */
TW_ALWAYS_INLINE void add_four(loop *p, int64_t first, const view *at)
{
    const double *x = at->x;
    const int32_t *end = p->s->corner + 2 * first;

    /* d = x_1 - x_0 and l = |d|. */
    tw_wide d[LANES];
    tw_wide square[LANES];
    for (int j = 0; j < LANES; j++) {
        d[j] = tw_wide_subtract(tw_wide_load(x + LANES * (int64_t)end[2 * j + 1]),
                                tw_wide_load(x + LANES * (int64_t)end[2 * j]));
        square[j] = tw_wide_multiply(d[j], d[j]);
    }
    tw_wide l = tw_wide_sqrt(tw_wide_sum4(square));

    tw_wide across = tension_over_length(p->s, first, l);
    if (!tw_wide_all_positive(l)) across = correct_lengthless(p, first, l, across);

    double scale[LANES];
    tw_wide_store(scale, across);
    for (int j = 0; j < LANES; j++) {
        double *a = at->sums + LANES * (int64_t)end[2 * j];
        double *b = at->sums + LANES * (int64_t)end[2 * j + 1];
        tw_wide pull = tw_wide_multiply(tw_wide_splat(scale[j]), d[j]);
        tw_wide_store(a, tw_wide_add(tw_wide_load(a), pull));
        tw_wide_store(b, tw_wide_subtract(tw_wide_load(b), pull));
    }
}

/* The same for the springs that are left over, one by one. */
static void add_one(loop *p, int64_t e, double *sums)
{
    double d[3];
    const double none[3] = {0.0, 0.0, 0.0};
    tw_spring_law law = tw_springs_law(p->s, e);
    tw_springs_sum(p->s, p->x, e, d);
    if (!tw_spring_is_defined(&law, tw_dot3(d, d))) atomic_store(&p->undefined, true);

    double scale = tw_spring_pull_over_length(&law, d, none);
    for (int k = 0; k < 3; k++) {
        sums[LANES * (int64_t)p->s->corner[2 * e] + k] += scale * d[k];
        sums[LANES * (int64_t)p->s->corner[2 * e + 1] + k] -= scale * d[k];
    }
}

/* Adds the sums of a part to the force on its own particles, and keeps those of its window. */
static void hand_over(const loop *p, int64_t part, const double *sums)
{
    const tw_spring_parts *parts = p->parts;
    int64_t own = parts->own[part + 1];
    double *window = parts->windows + 3 * (parts->window[part] - own);

    for (int64_t i = parts->own[part]; i < own; i++)
        tw_wide_store3(p->force + 3 * i, tw_wide_add(tw_wide_load3(p->force + 3 * i),
                                                     tw_wide_load(sums + LANES * i)));
    for (int64_t i = own; i < parts->end[part]; i++)
        tw_wide_store3(window + 3 * i, tw_wide_load(sums + LANES * i));
}

static void evaluate_part(loop *p, int64_t part, double *room)
{
    const tw_spring_parts *parts = p->parts;
    int64_t begin = parts->own[part];
    int64_t rows = parts->end[part] - begin;
    parts->rests[part] = !tw_particles_want_some(p->s->particles, begin, parts->end[part]);
    if (parts->rests[part]) return;

    /* Positions and sums of particle i stand at LANES i. */
    view at = {.x = room - LANES * begin, .sums = room + LANES * (parts->rows - begin)};
    for (int64_t i = begin; i < parts->end[part]; i++)
        tw_wide_store(at.x + LANES * i, tw_wide_load3(p->x + 3 * i));
    memset(at.sums + LANES * begin, 0, (size_t)(LANES * rows) * sizeof *room);

    int64_t last = parts->spring[part + 1];
    int64_t e = parts->spring[part];
    for (; e + LANES <= last; e += LANES)
        if (tw_springs_want(p->s, e, LANES)) add_four(p, e, &at);
    for (; e < last; e++) add_one(p, e, at.sums);
    hand_over(p, part, at.sums);
}

/* A thread works on one part after another in the same room. */
static void part_block(void *context, int64_t begin, int64_t end, int64_t block)
{
    (void)block;
    loop *p = context;
    double *room = p->parts->scratch + (int64_t)tw_parallel_slot() * 2 * LANES * p->parts->rows;
    for (int64_t part = begin; part < end; part++) evaluate_part(p, part, room);
}

/* force += the windows, in the order of the parts. */
static void add_windows(const loop *p)
{
    const tw_spring_parts *parts = p->parts;
    for (int part = 0; part < parts->count; part++) {
        if (parts->rests[part]) continue;
        int64_t own = parts->own[part + 1];
        int64_t length = 3 * (parts->end[part] - own);
        const double *window = parts->windows + 3 * parts->window[part];
        double *force = p->force + 3 * own;
        for (int64_t i = 0; i < length; i++) force[i] += window[i];
    }
}

tw_status tw_spring_parts_add_force(const tw_spring_parts *parts, const tw_springs *s,
                                    const double *x, double *force)
{
    loop p = {.parts = parts, .s = s, .x = x, .force = force};
    tw_parallel_for(parts->count, 1, part_block, &p);
    add_windows(&p);
    return atomic_load(&p.undefined) ? TW_RECOVERABLE : TW_OK;
}
