/* Finds the bodies of a model by union and find over the elements of its forces. */
#include "model/joined_bodies.h"

#include "base/allocate.h"

void tw_bodies_free(tw_bodies *bodies)
{
    void *blocks[] = {bodies->body, bodies->particle,    bodies->start,
                      bodies->held, bodies->chunk_begin, bodies->first_chunk};
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) tw_release(blocks[i]);
    *bodies = (tw_bodies){0};
}

/* The root of the tree of p. It shortens the path for later calls (path halving). */
static int32_t root_of(int32_t *parent, int32_t p)
{
    while (parent[p] != p) {
        parent[p] = parent[parent[p]];
        p = parent[p];
    }
    return p;
}

/* Joins the trees of p and q. The smaller root stays, so that roots come before their members. */
static void unite(int32_t *parent, int32_t p, int32_t q)
{
    p = root_of(parent, p);
    q = root_of(parent, q);
    if (p < q)
        parent[q] = p;
    else
        parent[p] = q;
}

/* Joins the particles of each element of a force. */
static void unite_elements(int32_t *parent, const tw_force *force)
{
    if (!force->table->elements) return;
    tw_force_elements e = force->table->elements(force->data);
    for (int64_t i = 0; i < e.count; i++) /* Each corner joins the first one. */
        for (int c = 1; c < e.corners; c++)
            unite(parent, e.particle[e.corners * i], e.particle[e.corners * i + c]);
}

/* Turns parents into numbers of bodies, in place, and returns how many bodies there are. */
static int64_t number_bodies(int64_t count, int32_t *body)
{
    for (int64_t p = 0; p < count; p++) body[p] = root_of(body, (int32_t)p);

    /* A root comes before its members and gets the next number; members copy that of their root. */
    int32_t next = 0;
    for (int64_t p = 0; p < count; p++) {
        if (body[p] == (int32_t)p)
            body[p] = next++;
        else
            body[p] = body[body[p]];
    }

    return next;
}

/* Whether particle p takes part in the sums of its body: all do in a free body, the
 * pinned ones in a held body. */
static bool counts(const tw_particles *particles, const tw_bodies *b, int64_t p)
{
    return particles->pinned[p] || !b->held[b->body[p]];
}

/* Finds the held bodies, and lists the particles that count, body after body. */
static void sort_particles(const tw_particles *particles, tw_bodies *b)
{
    for (int64_t p = 0; p < particles->count; p++)
        if (particles->pinned[p]) b->held[b->body[p]] = true;
    for (int64_t i = 0; i < b->count; i++) b->held_count += b->held[i];

    /* Counting sort by body; first_chunk holds the next free place of each body meanwhile. */
    for (int64_t p = 0; p < particles->count; p++)
        b->start[b->body[p] + 1] += counts(particles, b, p);
    for (int64_t i = 0; i < b->count; i++) b->start[i + 1] += b->start[i];
    for (int64_t i = 0; i <= b->count; i++) b->first_chunk[i] = b->start[i];
    for (int64_t p = 0; p < particles->count; p++)
        if (counts(particles, b, p)) b->particle[b->first_chunk[b->body[p]]++] = (int32_t)p;
}

/* Cuts the list of each body into chunks of TW_PARTICLE_BLOCK particles. */
static void cut_chunks(tw_bodies *b)
{
    int64_t chunk = 0;
    for (int64_t i = 0; i < b->count; i++) {
        b->first_chunk[i] = chunk;
        for (int64_t begin = b->start[i]; begin < b->start[i + 1]; begin += TW_PARTICLE_BLOCK)
            b->chunk_begin[chunk++] = begin;
    }
    b->chunk_count = chunk;
    b->first_chunk[b->count] = chunk;
    b->chunk_begin[chunk] = b->start[b->count];
}

tw_status tw_bodies_find(const tw_particles *particles, int force_count, const tw_force *forces,
                         tw_bodies *bodies)
{
    int64_t n = particles->count;
    *bodies = (tw_bodies){.body = TW_NEW_ARRAY(n, int32_t), .particle = TW_NEW_ARRAY(n, int32_t)};
    if (!bodies->body || !bodies->particle) return TW_OUT_OF_MEMORY;

    /* At first every particle is a body of its own. */
    for (int64_t p = 0; p < n; p++) bodies->body[p] = (int32_t)p;
    for (int i = 0; i < force_count; i++) unite_elements(bodies->body, &forces[i]);
    bodies->count = number_bodies(n, bodies->body);

    /* Lists whose lengths depend on the number of bodies. */
    bodies->start = tw_allocate_zeroed((size_t)bodies->count + 1, sizeof(int64_t));
    bodies->first_chunk = TW_NEW_ARRAY(bodies->count + 1, int64_t);
    bodies->held = tw_allocate_zeroed((size_t)bodies->count, sizeof(bool));
    bodies->chunk_begin = TW_NEW_ARRAY(bodies->count + n / TW_PARTICLE_BLOCK + 1, int64_t);
    if (!bodies->start || !bodies->first_chunk || !bodies->held || !bodies->chunk_begin)
        return TW_OUT_OF_MEMORY;

    sort_particles(particles, bodies);
    cut_chunks(bodies);
    return TW_OK;
}
