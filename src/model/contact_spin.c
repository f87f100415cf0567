/* How round obstacles turn. A sphere touches as its centre with a radius, a capsule as its axis: the
 * vertices of their pairs do not show that the surface turns. Their skins do. */
#include <math.h>

#include "base/vector3.h"
#include "model/contact_force.h"
#include "model/symmetric3.h"

bool tw_obstacle_is_round(const tw_placed_obstacle *obstacle)
{
    return obstacle->kind == TW_OBSTACLE_SPHERE || obstacle->kind == TW_OBSTACLE_CAPSULE;
}

/* The angular velocity w of a rigid obstacle: with r and v from the mean of its particles,
 *     sum (|r|^2 - r r^T) w = sum r x v. */
static void find_spin(const tw_placed_obstacle *o, const double *x, const double *v, double spin[3])
{
    double centre[3] = {0.0, 0.0, 0.0};
    double drift[3] = {0.0, 0.0, 0.0};
    for (int64_t i = 3 * o->first; i < 3 * (o->first + o->count); i++) {
        centre[i % 3] += x[i] / (double)o->count;
        drift[i % 3] += v[i] / (double)o->count;
    }

    double inertia[9] = {0.0};
    double momentum[3] = {0.0, 0.0, 0.0};
    for (int64_t i = o->first; i < o->first + o->count; i++) {
        double r[3];
        double u[3];
        double turn[3];
        for (int k = 0; k < 3; k++) {
            r[k] = x[3 * i + k] - centre[k];
            u[k] = v[3 * i + k] - drift[k];
        }
        tw_cross3(r, u, turn);
        double square = tw_dot3(r, r);
        for (int k = 0; k < 9; k++) inertia[k] += (k % 4 == 0 ? square : 0.0) - r[k / 3] * r[k % 3];
        for (int k = 0; k < 3; k++) momentum[k] += turn[k];
    }

    double inverse[9];
    tw_symmetric3_pseudo_inverse(inertia, 1e-12, inverse);
    for (int k = 0; k < 3; k++) spin[k] = tw_dot3(inverse + 3 * k, momentum);
}

void tw_contact_find_spins(const tw_contact *c, const double *x, const double *v, double *spins)
{
    const tw_obstacle_list *obstacles = c->source.obstacles;
    for (int o = 0; o < obstacles->count; o++)
        if (tw_obstacle_is_round(&obstacles->list[o]))
            find_spin(&obstacles->list[o], x, v, spins + 3 * (int64_t)o);
}

/* The round obstacle to which a particle belongs; -1: none. */
static int round_obstacle(const tw_contact *c, int32_t particle)
{
    const tw_obstacle_list *obstacles = c->source.obstacles;
    for (int o = 0; o < obstacles->count; o++) {
        const tw_placed_obstacle *obstacle = &obstacles->list[o];
        bool inside = particle >= obstacle->first && particle < obstacle->first + obstacle->count;
        if (inside && tw_obstacle_is_round(obstacle)) return o;
    }
    return -1;
}

void tw_contact_roll(const tw_contact *c, const tw_contact_pair *pair, const double *spins,
                     const double normal[3], double velocity[3])
{
    /* Spheres are the first side of their pairs, capsules the first or the second. */
    int obstacle = round_obstacle(c, pair->vertex[0]);
    if (obstacle < 0) obstacle = round_obstacle(c, pair->vertex[tw_pair_first_count(pair->kind)]);
    for (int k = 0; k < 3; k++) velocity[k] = 0.0;
    if (obstacle < 0) return;

    /* The surface is at -R n from the first side, or at R n from the second one. */
    double turn[3];
    tw_cross3(spins + 3 * (int64_t)obstacle, normal, turn);
    for (int k = 0; k < 3; k++) velocity[k] = -c->source.obstacles->list[obstacle].radius * turn[k];
}
