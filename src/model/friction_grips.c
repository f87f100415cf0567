/* Friction from step to step: which vertices touch an obstacle, where they are anchored, and the
 * work that they do on it (friction.h). */
#include <math.h>
#include <string.h>

#include "base/allocate.h"
#include "base/fail.h"
#include "base/vector3.h"
#include "linalg/vector.h"
#include "model/friction.h"

/* ---- tables ---- */

/* area[p] += a third of each triangle of the obstacles around particle p. */
static void add_areas(tw_friction *f, const tw_display *display)
{
    const double *x = f->particles->position;
    for (int64_t t = 0; t < display->triangle_count; t++) {
        const int64_t *corner = display->triangles + 3 * t;
        vec3 a = vec3_at(x, corner[0]);
        vec3 b = vec3_subtract(vec3_at(x, corner[1]), a);
        vec3 c = vec3_subtract(vec3_at(x, corner[2]), a);
        double area = 0.5 * vec3_length(vec3_cross(b, c));
        for (int i = 0; i < 3; i++) f->area[corner[i]] += area / 3.0;
    }
}

static void list_obstacles(tw_friction *f)
{
    const tw_contact_source *source = &f->contact->source;
    for (int64_t p = 0; p < f->particles->count; p++) {
        f->obstacle[p] = -1;
        f->area[p] = 0.0;
    }

    for (int i = 0; i < source->obstacles->count; i++) {
        const tw_placed_obstacle *o = &source->obstacles->list[i];
        for (int64_t p = o->first; p < o->first + o->count; p++) f->obstacle[p] = i;
        add_areas(f, &source->displays->list[o->display]);
    }
}

tw_status tw_friction_prepare(tw_friction *f)
{
    int64_t particles = f->particles->count;
    f->vertex_count = particles + f->contact->carried_count;
    f->grip_of = TW_NEW_ARRAY(f->vertex_count, int32_t);
    f->obstacle = TW_NEW_ARRAY(particles, int32_t);
    f->area = TW_NEW_ARRAY(particles, double);
    if (!f->grip_of || !f->obstacle || !f->area) return TW_OUT_OF_MEMORY;

    for (int64_t v = 0; v < f->vertex_count; v++) f->grip_of[v] = -1;
    list_obstacles(f);

    /* Room for the largest obstacle. */
    int64_t most = 0;
    const tw_obstacle_list *obstacles = f->contact->source.obstacles;
    for (int i = 0; i < obstacles->count; i++)
        if (obstacles->list[i].count > most) most = obstacles->list[i].count;
    return tw_point_slabs_create(&f->slabs, most);
}

/* ---- internal variables ---- */

int64_t tw_friction_internal_count(const void *data)
{
    const tw_friction *f = data;
    return 4 * f->vertex_count + f->particles->count + 1;
}

/* At the start nothing is anchored, and nothing is worn. */
void tw_friction_set_internal(void *data, double *state, unsigned char *changed)
{
    (void)changed;
    tw_friction *f = data;
    f->state = state;
    memset(state, 0, (size_t)tw_friction_internal_count(f) * sizeof(double));
}

/* The place and the limit of the anchor of a vertex. */
static double *anchor_of(const tw_friction *f, int64_t vertex)
{
    return f->state + 4 * vertex;
}

/* The work on each particle of an obstacle, behind the anchors. */
static double *work_of(const tw_friction *f)
{
    return f->state + 4 * f->vertex_count;
}

/* The work lost so far, behind those. */
static double *lost_of(const tw_friction *f)
{
    return work_of(f) + f->particles->count;
}

/* ---- which vertices touch ---- */

/* Room for `count` grips. */
static tw_status reserve(tw_friction *f, int64_t count)
{
    if (count <= f->grip_capacity) return TW_OK;
    int64_t capacity = count + count / 2 + 64;
    tw_grip *larger = TW_NEW_ARRAY(capacity, tw_grip);
    if (!larger) return TW_OUT_OF_MEMORY;

    size_t bytes = (size_t)f->grip_count * sizeof *larger;
    if (bytes) memcpy(larger, f->grips, bytes);
    tw_release(f->grips);
    f->grips = larger;
    f->grip_capacity = capacity;
    return TW_OK;
}

/* The obstacle of a contact vertex; -1: it belongs to a body. */
static int32_t obstacle_of(const tw_friction *f, int32_t vertex)
{
    return vertex < f->particles->count ? f->obstacle[vertex] : -1;
}

/* The particles that carry the anchors of a pair, and their weights. False if the pair touches no
 * obstacle. */
static bool find_carriers(const tw_friction *f, const tw_contact_pair *pair, const tw_gap *frame,
                          tw_grip *grip)
{
    double sum = 0.0;
    int count = 0;
    for (int i = 0; i < TW_PAIR_VERTICES && count < 3; i++) {
        int32_t obstacle = obstacle_of(f, pair->vertex[i]);
        if (obstacle < 0 || frame->weight[i] == 0.0) continue;
        grip->obstacle = obstacle;
        grip->carrier[count] = pair->vertex[i];
        grip->weight[count++] = frame->weight[i];
        sum += frame->weight[i];
    }
    if (sum == 0.0) return false;

    for (int i = 0; i < count; i++) grip->weight[i] /= sum;
    for (int i = count; i < 3; i++) {
        grip->carrier[i] = grip->carrier[0];
        grip->weight[i] = 0.0;
    }
    return true;
}

/* Adds the push of a pair to the grip of one of its vertices. The normal is the push itself until all
 * pairs are added; the strongest push has the carriers. */
static tw_status add_grip(tw_friction *f, const tw_grip *carriers, int32_t vertex,
                          const double push[3])
{
    double size = sqrt(tw_dot3(push, push));
    if (size == 0.0) return TW_OK;
    if (f->grip_of[vertex] < 0) {
        TW_TRY(reserve(f, f->grip_count + 1));
        f->grip_of[vertex] = (int32_t)f->grip_count;
        f->grips[f->grip_count++] = (tw_grip){.vertex = vertex};
    }

    tw_grip *grip = &f->grips[f->grip_of[vertex]];
    for (int k = 0; k < 3; k++) grip->normal[k] += push[k];
    if (size <= grip->limit) return TW_OK;
    grip->limit = size;
    grip->obstacle = carriers->obstacle;
    memcpy(grip->carrier, carriers->carrier, sizeof grip->carrier);
    memcpy(grip->weight, carriers->weight, sizeof grip->weight);
    return TW_OK;
}

/* Adds the pushes of all pairs with obstacles. */
static tw_status add_pairs(tw_friction *f, const double *x)
{
    const tw_contact *c = f->contact;
    for (int64_t p = 0; p < c->pair_count; p++) {
        const tw_contact_pair *pair = &c->pairs[p];
        double at[4][3];
        tw_pair_state state;
        tw_grip carriers = {0};
        tw_contact_take(c, pair, x, at);
        tw_pair_evaluate(pair, at, TW_PAIR_GRADIENT, &state);
        if (!state.active || !state.defined) continue;
        if (!find_carriers(f, pair, &state.frame, &carriers)) continue;

        for (int i = 0; i < TW_PAIR_VERTICES; i++) {
            int32_t vertex = pair->vertex[i];
            if (obstacle_of(f, vertex) >= 0 || tw_contact_is_held(c, vertex)) continue;
            double push[3];
            for (int k = 0; k < 3; k++) push[k] = -state.gradient[3 * i + k];
            TW_TRY(add_grip(f, &carriers, vertex, push));
        }
    }
    return TW_OK;
}

/* ---- the start of a step ---- */

/* Completes a grip at the positions x: its limit, its normal and its anchor, which is new where
 * there was none. Returns what this takes from the energy. */
static double complete_grip(const tw_friction *f, tw_grip *grip, const double *x)
{
    double press = sqrt(tw_dot3(grip->normal, grip->normal));
    grip->limit = f->coefficient * press;
    for (int k = 0; k < 3; k++) grip->normal[k] /= fmax(press, 1e-300);
    for (int k = 0; k < 3; k++) {
        grip->carried[k] = 0.0;
        for (int i = 0; i < 3; i++)
            grip->carried[k] += grip->weight[i] * x[3 * (int64_t)grip->carrier[i] + k];
    }

    /* The anchor of the last step, or the place where the vertex is. */
    double *anchor = anchor_of(f, grip->vertex);
    double before = anchor[3];
    if (before == 0.0) tw_contact_take_vertex(f->contact, grip->vertex, x, anchor);
    memcpy(grip->anchor, anchor, sizeof grip->anchor);
    anchor[3] = grip->limit;

    double stretch[3];
    double s = tw_grip_stretch(f, grip, x, stretch);
    return tw_friction_energy(before - grip->limit, f->length, s);
}

/* Forgets the anchors of vertices that do not touch any more. Their springs were not let go by
 * sliding, and their energy is lost. */
static double forget_free(const tw_friction *f)
{
    double lost = 0.0;
    for (int64_t v = 0; v < f->vertex_count; v++) {
        double *anchor = anchor_of(f, v);
        if (anchor[3] == 0.0 || f->grip_of[v] >= 0) continue;
        lost += tw_friction_energy(anchor[3], f->length, f->length);
        memset(anchor, 0, 4 * sizeof *anchor);
    }
    return lost;
}

tw_status tw_friction_begin_step(void *data, double h, const tw_force_view *at, bool *changed)
{
    (void)h;
    (void)changed;
    tw_friction *f = data;
    for (int64_t g = 0; g < f->grip_count; g++) f->grip_of[f->grips[g].vertex] = -1;
    f->grip_count = 0;
    TW_TRY(add_pairs(f, at->x));

    /* Anchors that are let go, and limits that fall, lose energy. */
    double *lost = lost_of(f);
    *lost += forget_free(f);
    for (int64_t g = 0; g < f->grip_count; g++) *lost += complete_grip(f, &f->grips[g], at->x);
    f->taken = *lost;
    return TW_OK;
}

/* ---- the end of a step ---- */

/* The particle of an obstacle that is nearest to a point. */
static int64_t nearest_particle(tw_friction *f, int32_t obstacle, const double *x,
                                const double point[3])
{
    const tw_placed_obstacle *o = &f->contact->source.obstacles->list[obstacle];
    if (f->slabs_obstacle != obstacle)
        tw_point_slabs_sort(&f->slabs, o->first, o->count, f->area, x);
    f->slabs_obstacle = obstacle;
    int64_t nearest = tw_point_slabs_nearest(&f->slabs, x, point);
    return nearest < 0 ? o->first : nearest;
}

/* Adds work to the surface where a grip is: to the corners of a triangle, or to the nearest particle
 * that shows a sphere, a capsule or a plane. */
static void wear_surface(tw_friction *f, const tw_grip *grip, const double *x,
                         const double point[3], double lost)
{
    double *work = work_of(f);
    tw_obstacle_kind kind = f->contact->source.obstacles->list[grip->obstacle].kind;
    if (kind != TW_OBSTACLE_BOX && kind != TW_OBSTACLE_MESH) {
        work[nearest_particle(f, grip->obstacle, x, point)] += lost;
        return;
    }
    for (int i = 0; i < 3; i++) work[grip->carrier[i]] += grip->weight[i] * lost;
}

tw_status tw_friction_finish_step(void *data, double h, const tw_force_view *from, double t,
                                  double *x, double *v, bool *changed)
{
    (void)h;
    (void)from;
    (void)t;
    (void)v;
    (void)changed;
    tw_friction *f = data;
    double *lost = lost_of(f);
    f->slabs_obstacle = -1;

    for (int64_t g = 0; g < f->grip_count; g++) {
        const tw_grip *grip = &f->grips[g];
        double at[3];
        double stretch[3];
        double s = tw_grip_stretch(f, grip, x, stretch);
        double slid = fmax(s - f->length, 0.0);
        tw_contact_take_vertex(f->contact, grip->vertex, x, at);

        /* The anchor is left behind by at most the length l. */
        double *anchor = anchor_of(f, grip->vertex);
        double share = slid > 0.0 ? f->length / s : 1.0;
        for (int k = 0; k < 3; k++) anchor[k] = at[k] - share * stretch[k];

        double energy = grip->limit * slid;
        *lost += energy;
        if (energy > 0.0) wear_surface(f, grip, x, at, energy);
    }
    return TW_OK;
}

/* ---- what others ask for ---- */

double tw_friction_wear(const tw_friction *f, int64_t particle)
{
    if (!(f->area[particle] > 0.0)) return 0.0;
    return work_of(f)[particle] / f->area[particle];
}
