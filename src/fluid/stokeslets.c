/* The sums over all pairs of points.
 *
 * Four targets stand in the lanes of one vector, two vectors are worked on at once, and the sources
 * are broadcast one after another. A source tile stays in the cache while a block of targets passes
 * over it. Every target adds the sources in their order, so that neither threads nor blocks change
 * a bit of the result. */
#include "base/allocate.h"
#include "base/parallel_for.h"
#include "fluid/stokeslets_internal.h"

static const double PI = 3.14159265358979323846;

/* ---- memory ---- */

enum { TARGET_ARRAYS = 10 }; /* position, half, move, sum */

static void divide_storage(tw_stokeslets *s)
{
    double *next = s->storage;
    s->half = next;
    next += s->padded;
    for (int k = 0; k < 3; k++) {
        s->position[k] = next + k * s->padded;
        s->move[k] = next + (3 + k) * s->padded;
        s->sum[k] = next + (6 + k) * s->padded;
    }
}

/* The point that stands at place i of the targets. */
static int64_t point_at(const tw_stokeslets *s, int64_t i)
{
    return i < s->count ? i : s->count - 1;
}

tw_stokeslets *tw_stokeslets_create(int64_t count, const double *radius, double viscosity)
{
    tw_stokeslets *s = TW_NEW(tw_stokeslets);
    if (!s) return NULL;
    s->count = count;
    s->padded = (count + TW_STOKES_GROUP - 1) / TW_STOKES_GROUP * TW_STOKES_GROUP;
    s->factor = 1.0 / (8.0 * PI * viscosity);

    s->sources = tw_allocate_zeroed((size_t)count, sizeof *s->sources);
    s->storage = tw_allocate_zeroed(TARGET_ARRAYS * (size_t)s->padded, sizeof(double));
    if (!s->sources || !s->storage) {
        tw_stokeslets_free(s);
        return NULL;
    }

    divide_storage(s);
    for (int64_t i = 0; i < s->padded; i++) {
        double eps = radius[point_at(s, i)];
        s->half[i] = 0.5 * eps * eps;
        s->sources[point_at(s, i)].half = 0.5 * eps * eps;
    }
    return s;
}

void tw_stokeslets_free(tw_stokeslets *stokeslets)
{
    if (!stokeslets) return;
    tw_release(stokeslets->sources);
    tw_release(stokeslets->storage);
    tw_release(stokeslets);
}

void tw_stokeslets_place(tw_stokeslets *s, const double *x)
{
    for (int64_t i = 0; i < s->padded; i++)
        for (int k = 0; k < 3; k++) s->position[k][i] = x[3 * point_at(s, i) + k];
    for (int64_t j = 0; j < s->count; j++)
        for (int k = 0; k < 3; k++) s->sources[j].x[k] = x[3 * j + k];
}

/* ---- the kernels ---- */

/* A group of targets in registers. */
typedef struct group {
    tw_wide x[3][TW_STOKES_VECTORS];
    tw_wide half[TW_STOKES_VECTORS];
    tw_wide move[3][TW_STOKES_VECTORS];
    tw_wide sum[3][TW_STOKES_VECTORS];
} group;

/* What the pair of a source and four targets has: r = target - source, and powers of
 * s = r . r + c. */
typedef struct pair {
    tw_wide r[3];
    tw_wide c;
    tw_wide inverse;   /* s^(-1/2) */
    tw_wide inverse_3; /* s^(-3/2) */
} pair;

TW_ALWAYS_INLINE pair pair_of(const group *g, int v, const tw_stokes_source *source)
{
    pair p;
    for (int k = 0; k < 3; k++) p.r[k] = tw_wide_subtract(g->x[k][v], tw_wide_splat(source->x[k]));
    p.c = tw_wide_add(g->half[v], tw_wide_splat(source->half));

    /* s = r . r + c */
    tw_wide s = p.c;
    for (int k = 0; k < 3; k++) s = tw_wide_fma(p.r[k], p.r[k], s);
    p.inverse = tw_wide_inverse_sqrt(s);
    p.inverse_3 = tw_wide_multiply(tw_wide_multiply(p.inverse, p.inverse), p.inverse);
    return p;
}

TW_ALWAYS_INLINE tw_wide dot(const tw_wide a[3], const double b[3])
{
    tw_wide sum = tw_wide_multiply(a[0], tw_wide_splat(b[0]));
    sum = tw_wide_fma(a[1], tw_wide_splat(b[1]), sum);
    return tw_wide_fma(a[2], tw_wide_splat(b[2]), sum);
}

/* sum += S f = (s^(-1/2) + c s^(-3/2)) f + (f . r) s^(-3/2) r. */
TW_ALWAYS_INLINE void add_velocity(group *g, int v, const pair *p, const double f[3])
{
    tw_wide along_f = tw_wide_fma(p->c, p->inverse_3, p->inverse);
    tw_wide along_r = tw_wide_multiply(dot(p->r, f), p->inverse_3);
    for (int k = 0; k < 3; k++) {
        g->sum[k][v] = tw_wide_fma(along_f, tw_wide_splat(f[k]), g->sum[k][v]);
        g->sum[k][v] = tw_wide_fma(along_r, p->r[k], g->sum[k][v]);
    }
}

/* sum += (dS/dr . e) f, e the change of r. With q = r . e, F = f . r and t = s^(-3/2):
 *     -(q t + 3 c q t/s) f + t (f . e) r + t F e - 3 q F t/s r. */
TW_ALWAYS_INLINE void add_change(group *g, int v, const pair *p, const tw_stokes_source *source)
{
    tw_wide e[3];
    for (int k = 0; k < 3; k++)
        e[k] = tw_wide_subtract(g->move[k][v], tw_wide_splat(source->move[k]));

    tw_wide t = p->inverse_3;
    tw_wide q = tw_wide_multiply(p->r[0], e[0]);
    q = tw_wide_fma(p->r[1], e[1], q);
    q = tw_wide_fma(p->r[2], e[2], q);
    tw_wide qt = tw_wide_multiply(q, t);
    tw_wide steep = tw_wide_multiply(tw_wide_multiply(p->inverse, p->inverse), qt);
    steep = tw_wide_multiply(steep, tw_wide_splat(-3.0)); /* -3 q t/s */

    tw_wide F = dot(p->r, source->load);
    tw_wide along_f = tw_wide_subtract(tw_wide_multiply(p->c, steep), qt);
    tw_wide along_e = tw_wide_multiply(t, F);
    tw_wide along_r = tw_wide_multiply(t, dot(e, source->load));
    along_r = tw_wide_fma(F, steep, along_r);

    for (int k = 0; k < 3; k++) {
        g->sum[k][v] = tw_wide_fma(along_f, tw_wide_splat(source->load[k]), g->sum[k][v]);
        g->sum[k][v] = tw_wide_fma(along_e, e[k], g->sum[k][v]);
        g->sum[k][v] = tw_wide_fma(along_r, p->r[k], g->sum[k][v]);
    }
}

/* ---- blocks of targets ---- */

TW_ALWAYS_INLINE void load_group(const tw_stokeslets *s, int64_t first, int with_move, group *g)
{
    for (int v = 0; v < TW_STOKES_VECTORS; v++) {
        int64_t i = first + TW_WIDE_LANES * v;
        g->half[v] = tw_wide_load(s->half + i);
        for (int k = 0; k < 3; k++) {
            g->x[k][v] = tw_wide_load(s->position[k] + i);
            g->sum[k][v] = tw_wide_load(s->sum[k] + i);
            if (with_move) g->move[k][v] = tw_wide_load(s->move[k] + i);
        }
    }
}

TW_ALWAYS_INLINE void store_sums(const tw_stokeslets *s, int64_t first, const group *g)
{
    for (int v = 0; v < TW_STOKES_VECTORS; v++)
        for (int k = 0; k < 3; k++)
            tw_wide_store(s->sum[k] + first + TW_WIDE_LANES * v, g->sum[k][v]);
}

/* Adds the sources begin ... end - 1 to one group of targets. */
TW_ALWAYS_INLINE void add_sources(const tw_stokeslets *s, int64_t first, int64_t begin, int64_t end,
                                  int with_move)
{
    group g;
    load_group(s, first, with_move, &g);

    for (const tw_stokes_source *j = s->sources + begin; j < s->sources + end; j++)
        for (int v = 0; v < TW_STOKES_VECTORS; v++) {
            pair p = pair_of(&g, v, j);
            add_velocity(&g, v, &p, j->force);
            if (with_move) add_change(&g, v, &p, j);
        }

    store_sums(s, first, &g);
}

/* All sources, tile by tile, for a block of targets. */
TW_ALWAYS_INLINE void fill_block(const tw_stokeslets *s, int64_t first, int64_t last, int with_move)
{
    for (int64_t i = first; i < last; i++)
        for (int k = 0; k < 3; k++) s->sum[k][i] = 0.0;

    for (int64_t begin = 0; begin < s->count; begin += TW_STOKES_TILE) {
        int64_t end = begin + TW_STOKES_TILE < s->count ? begin + TW_STOKES_TILE : s->count;
        for (int64_t i = first; i < last; i += TW_STOKES_GROUP)
            add_sources(s, i, begin, end, with_move);
    }
}

static void velocity_block(void *context, int64_t begin, int64_t end, int64_t block)
{
    (void)block;
    fill_block(context, begin, end, 0);
}

static void change_block(void *context, int64_t begin, int64_t end, int64_t block)
{
    (void)block;
    fill_block(context, begin, end, 1);
}

/* ---- in and out ---- */

static void take_out(const tw_stokeslets *s, double *velocity)
{
    for (int64_t i = 0; i < s->count; i++)
        for (int k = 0; k < 3; k++) velocity[3 * i + k] = s->factor * s->sum[k][i];
}

void tw_stokeslets_velocity(tw_stokeslets *s, const double *force, double *velocity)
{
    for (int64_t j = 0; j < s->count; j++)
        for (int k = 0; k < 3; k++) s->sources[j].force[k] = force[3 * j + k];

    tw_parallel_for(s->padded, TW_STOKES_BLOCK, velocity_block, s);
    take_out(s, velocity);
}

void tw_stokeslets_change(tw_stokeslets *s, const double *load, const double *force,
                          const double *move, double *velocity)
{
    for (int64_t j = 0; j < s->count; j++)
        for (int k = 0; k < 3; k++) {
            s->sources[j].force[k] = force[3 * j + k];
            s->sources[j].load[k] = load[3 * j + k];
            s->sources[j].move[k] = move[3 * j + k];
        }
    for (int64_t i = 0; i < s->padded; i++)
        for (int k = 0; k < 3; k++) s->move[k][i] = move[3 * point_at(s, i) + k];

    tw_parallel_for(s->padded, TW_STOKES_BLOCK, change_block, s);
    take_out(s, velocity);
}
