/* How stiff contacts are if the user does not say it.
 *
 * A contact must stop what can press on it. Three things can:
 *
 *   its own vertices, of the mass m, at the expected speed v. The energy psi(0) = 2/3 kappa d^2 of the
 *   law stops them if
 *       kappa >= 3/4 m (v/d)^2;
 *
 *   the body behind them, of the mass M. A rigid body hands all of its energy over,
 *       kappa >= 3/4 M (v/d)^2,
 *   but a soft one, of the stiffness k at a vertex, presses with v sqrt(k M) at most, and psi'(0) =
 *   2 kappa d. The smaller of both counts;
 *
 *   the weight of the bodies, M g <= 2 kappa d.
 *
 * A vertex of a soft body gives way under such a load, and when it has given way by half an edge, L/2,
 * its neighbours bear a part of it: the last two loads are k L/2 at most. k is the smallest
 * stiffness of the vertex in any direction, that of a sheet across itself, from the tangent of the
 * model at the start.
 *
 * All get a margin, so that a part of d is left between the surfaces. None of them depends on how finely a body is divided: the mass
 * of a vertex does, and a law made for it alone is too soft for a fine body. */
#include <math.h>

#include "base/allocate.h"
#include "base/fail.h"

#include "model/contact_force.h"
#include "model/symmetric3.h"

/* At its expected load a contact keeps this share of d as its gap. A cubic law then stores
 * (1 - share)^3 of psi(0), and presses with (1 - share)^2 of psi'(0). */
static const double GAP_LEFT = 0.2;

/* ---- speeds ---- */

/* The heights over all planes, and the box around the free particles and the other obstacles: how
 * far something can fall. */
static double largest_fall(const tw_contact *c)
{
    const tw_particles *p = c->particles;
    const tw_obstacle_list *obstacles = c->source.obstacles;
    double lower[3] = {INFINITY, INFINITY, INFINITY};
    double upper[3] = {-INFINITY, -INFINITY, -INFINITY};
    double largest = 0.0;

    /* The corners of a plane that is shown say nothing: it has no end. */
    for (int64_t i = 0; i < p->count; i++) {
        bool counts = !p->pinned[i];
        for (int o = 0; o < obstacles->count && !counts; o++) {
            const tw_placed_obstacle *obstacle = &obstacles->list[o];
            bool inside = i >= obstacle->first && i < obstacle->first + obstacle->count;
            counts = inside && obstacle->kind != TW_OBSTACLE_PLANE;
        }
        for (int k = 0; k < 3 && counts; k++) {
            lower[k] = fmin(lower[k], p->position[3 * i + k]);
            upper[k] = fmax(upper[k], p->position[3 * i + k]);
        }
    }
    for (int k = 0; k < 3; k++) largest += (upper[k] - lower[k]) * (upper[k] - lower[k]);
    largest = sqrt(largest);

    for (int o = 0; o < obstacles->count; o++) {
        if (obstacles->list[o].kind != TW_OBSTACLE_PLANE) continue;
        for (int64_t i = 0; i < p->count; i++) {
            double x[4][3];
            tw_gap gap;
            if (p->pinned[i]) continue;
            for (int k = 0; k < 3; k++) x[0][k] = p->position[3 * i + k];
            for (int corner = 0; corner < 9; corner++)
                x[1 + corner / 3][corner % 3] =
                    p->position[3 * obstacles->list[o].point[corner / 3] + corner % 3];
            if (tw_gap_find(TW_PAIR_POINT_PLANE, x, &gap)) largest = fmax(largest, gap.distance);
        }
    }
    return largest;
}

/* The speed that an impact may have: the largest at the start, or that of a fall. Two bodies may
 * approach each other at twice the largest. */
static void expect_speeds(tw_contact *c)
{
    const tw_particles *p = c->particles;
    double fastest = 0.0;
    for (int64_t i = 0; i < p->count; i++) {
        double square = 0.0;
        for (int k = 0; k < 3; k++) square += p->velocity[3 * i + k] * p->velocity[3 * i + k];
        fastest = fmax(fastest, sqrt(square));
    }

    /* v = sqrt(2 g H). */
    double gravity = 0.0;
    for (int k = 0; k < 3; k++) gravity += c->source.gravity[k] * c->source.gravity[k];
    double fall = sqrt(2.0 * sqrt(gravity) * largest_fall(c));

    /* Where nothing moves or falls, one meter per second is as good a guess as any. */
    c->speed = fmax(fastest, fall);
    c->relative_speed = fmax(2.0 * fastest, fall);
    if (c->speed > 0.0) return;
    c->speed = 1.0;
    c->relative_speed = 1.0;
}

/* ---- masses and stiffnesses ---- */

/* The mass of each body, without pinned particles. */
static tw_status weigh_bodies(tw_contact *c)
{
    const tw_particles *p = c->particles;
    TW_TRY(tw_bodies_find(p, *c->source.force_count, *c->source.forces, &c->bodies));
    c->body_mass = tw_allocate_zeroed((size_t)c->bodies.count, sizeof *c->body_mass);
    if (!c->body_mass) return TW_OUT_OF_MEMORY;

    for (int64_t i = 0; i < p->count; i++)
        if (!p->pinned[i]) c->body_mass[c->bodies.body[i]] += p->mass[i];
    return TW_OK;
}

tw_status tw_contact_weigh(tw_contact *c)
{
    expect_speeds(c);
    c->elasticity = tw_allocate_zeroed((size_t)c->particles->count, sizeof(double));
    if (!c->elasticity) return TW_OUT_OF_MEMORY;
    return weigh_bodies(c);
}

/* The longest edge at each vertex. */
static void measure_edges(tw_contact *c)
{
    for (int64_t i = 0; i < c->edges.count; i++) {
        const int32_t *ends = c->edges.list[i].vertex;
        double x[2][3];
        double square = 0.0;
        for (int e = 0; e < 2; e++)
            tw_contact_take_vertex(c, ends[e], c->particles->position, x[e]);
        for (int k = 0; k < 3; k++) square += (x[1][k] - x[0][k]) * (x[1][k] - x[0][k]);
        for (int e = 0; e < 2; e++)
            c->longest_edge[ends[e]] = fmax(c->longest_edge[ends[e]], sqrt(square));
    }
}

tw_status tw_contact_take_elasticity(tw_contact *c, const tw_sparse *matrix)
{
    const tw_particles *p = c->particles;
    int64_t vertices = p->count + c->carried_count;
    c->longest_edge = tw_allocate_zeroed((size_t)vertices, sizeof(double));
    if (!c->longest_edge) return TW_OUT_OF_MEMORY;
    measure_edges(c);

    /* k is the smallest eigenvalue of the diagonal block of a particle. */
    for (int64_t i = 0; i < p->free_count; i++) {
        int64_t place = tw_sparse_find(matrix, i, i);
        if (place < 0) continue;
        double smallest = tw_symmetric3_smallest(tw_sparse_values_const(matrix) + 9 * place);
        c->elasticity[p->particle[i]] = fmax(0.0, smallest);
    }
    for (int64_t i = 0; i < c->pair_count; i++) tw_contact_set_stiffness(c, &c->pairs[i]);
    return TW_OK;
}

/* ---- one pair ---- */

/* What is behind the vertices of one side of a pair. */
typedef struct load {
    double vertex; /* smallest mass of a vertex [kg]; infinite: an obstacle */
    double body;   /* largest mass of a body [kg]; infinite: an obstacle */
    double hold;   /* largest stiffness at a vertex [N/m]; infinite: an obstacle */
    double yield;  /* largest load under which a vertex gives way [N]; infinite: an obstacle */
} load;

static load find_load(const tw_contact *c, int count, const int32_t *vertices)
{
    const tw_particles *p = c->particles;
    load found = {.vertex = INFINITY};
    for (int i = 0; i < count; i++) {
        tw_vertex_parts parts = tw_contact_parts(c, vertices[i]);
        double mass = 0.0;
        double hold = 0.0;
        for (int part = 0; part < parts.count; part++) {
            int64_t particle = parts.particle[part];
            if (p->pinned[particle]) continue;
            mass += p->mass[particle];
            hold += c->elasticity[particle];
            found.body = fmax(found.body, c->body_mass[c->bodies.body[particle]]);
        }
        if (mass > 0.0) found.vertex = fmin(found.vertex, mass);
        found.hold = fmax(found.hold, hold);
        if (c->longest_edge)
            found.yield = fmax(found.yield, 0.5 * hold * c->longest_edge[vertices[i]]);
    }
    if (isinf(found.vertex)) return (load){INFINITY, INFINITY, INFINITY, INFINITY};
    return found;
}

/* Of two masses or springs one after the other. */
static double reduced(double a, double b)
{
    if (isinf(a)) return b;
    if (isinf(b)) return a;
    if (!(a + b > 0.0)) return 0.0;
    return a * b / (a + b);
}

void tw_contact_set_stiffness(const tw_contact *c, tw_contact_pair *pair)
{
    pair->law = (tw_contact_law){c->options.distance, c->options.stiffness};
    if (c->options.stiffness > 0.0) return;

    int first = tw_pair_first_count(pair->kind);
    load a = find_load(c, first, pair->vertex);
    load b = find_load(c, tw_pair_vertex_count(pair->kind) - first, pair->vertex + first);
    bool free_pair = isfinite(a.vertex) && isfinite(b.vertex);
    double d = c->options.distance;
    double v = free_pair ? c->relative_speed : c->speed;

    /* Two edges that cross in their middle meet with both vertices of each, so that between bodies
     * twice the mass counts. */
    double vertex = reduced(a.vertex, b.vertex) * (free_pair ? 2.0 : 1.0);
    double body = reduced(a.body, b.body);
    double hold = reduced(a.hold, b.hold);

    /* The weight that rests on the pair: that of both bodies. */
    double gravity = 0.0;
    for (int k = 0; k < 3; k++) gravity += c->source.gravity[k] * c->source.gravity[k];
    double weight = sqrt(gravity) * (isfinite(a.body) ? a.body : 0.0);
    if (isfinite(b.body)) weight += sqrt(gravity) * b.body;

    double energy_share = pow(1.0 - GAP_LEFT, 3);
    double force_share = pow(1.0 - GAP_LEFT, 2);
    double stop_vertex = 0.75 * vertex * (v / d) * (v / d);
    double stop_rigid = 0.75 * body * (v / d) * (v / d) / energy_share;
    double stop_soft = v * sqrt(hold * body) / (2.0 * d) / force_share;
    double carry = weight / (2.0 * d) / force_share;
    double yield = fmin(a.yield, b.yield) / (2.0 * d) / force_share;
    double behind = fmin(fmax(fmin(stop_rigid, stop_soft), carry), yield);
    pair->law.stiffness = fmax(stop_vertex, behind);
}
