/* Friction on obstacles as a force of the model (friction.h). */
#include <math.h>

#include "base/allocate.h"
#include "base/vector3.h"
#include "model/friction.h"

static void friction_release(void *data)
{
    tw_friction *f = data;
    if (!f) return;
    tw_release(f->grips);
    tw_release(f->grip_of);
    tw_release(f->obstacle);
    tw_release(f->area);
    tw_point_slabs_free(&f->slabs);
    tw_release(f);
}

static tw_status friction_complete(void *data, const tw_particles *particles)
{
    tw_friction *f = data;
    f->particles = particles;
    return tw_friction_prepare(f);
}

/* The particles of a section are joined to each other. */
static void friction_add_pattern(const void *data, tw_pattern *pattern)
{
    const tw_friction *f = data;
    const int32_t *unknown = f->particles->unknown;
    for (int64_t v = f->particles->count; v < f->vertex_count; v++) {
        tw_vertex_parts parts = tw_contact_parts(f->contact, (int32_t)v);
        for (int i = 0; i < parts.count; i++)
            for (int j = 0; j <= i; j++) {
                int32_t row = unknown[parts.particle[i]];
                int32_t column = unknown[parts.particle[j]];
                if (row >= 0 && column >= 0) tw_pattern_add(pattern, row, column);
            }
    }
}

/* ---- energy and force ---- */

double tw_grip_stretch(const tw_friction *friction, const tw_grip *grip, const double *x,
                       double stretch[3])
{
    double at[3];
    tw_contact_take_vertex(friction->contact, grip->vertex, x, at);

    /* x - a, with the anchor where the obstacle has carried it. */
    for (int k = 0; k < 3; k++) {
        double carried = -grip->carried[k];
        for (int i = 0; i < 3; i++)
            carried += grip->weight[i] * x[3 * (int64_t)grip->carrier[i] + k];
        stretch[k] = at[k] - grip->anchor[k] - carried;
    }

    /* The part across the normal. */
    double along = tw_dot3(stretch, grip->normal);
    for (int k = 0; k < 3; k++) stretch[k] -= along * grip->normal[k];
    return sqrt(tw_dot3(stretch, stretch));
}

double tw_friction_energy(double limit, double length, double s)
{
    double y = s / length;
    if (y < 1.0) return limit * length * y * y * (1.0 - y / 3.0);
    return limit * length * (y - 1.0 / 3.0);
}

/* dU/ds / s, which is finite at s = 0. */
static double secant(const tw_grip *grip, double length, double s)
{
    if (s < length) return grip->limit / length * (2.0 - s / length);
    return grip->limit / s;
}

/* Whether a grip holds an active particle. */
static bool is_wanted(const tw_friction *f, const tw_grip *grip)
{
    if (!f->particles->active) return true;
    tw_vertex_parts parts = tw_contact_parts(f->contact, grip->vertex);
    for (int k = 0; k < parts.count; k++) {
        int32_t row = f->particles->unknown[parts.particle[k]];
        if (row >= 0 && tw_particles_want(f->particles, row)) return true;
    }
    return false;
}

static tw_status friction_add_energy(void *data, const tw_force_view *at, double *energy)
{
    const tw_friction *f = data;
    for (int64_t g = 0; g < f->grip_count; g++) {
        double stretch[3];
        double s = tw_grip_stretch(f, &f->grips[g], at->x, stretch);
        *energy += tw_friction_energy(f->grips[g].limit, f->length, s);
    }
    return TW_OK;
}

/* force += weight * push for the particles of a vertex. */
static void add_push(const tw_friction *f, int32_t vertex, const double push[3], double *force)
{
    tw_vertex_parts parts = tw_contact_parts(f->contact, vertex);
    for (int i = 0; i < parts.count; i++)
        for (int k = 0; k < 3; k++)
            force[3 * (int64_t)parts.particle[i] + k] += parts.weight[i] * push[k];
}

static tw_status friction_add_force(void *data, const tw_force_view *at, double *force)
{
    const tw_friction *f = data;
    for (int64_t i = 0; i < f->grip_count; i++) {
        const tw_grip *grip = &f->grips[i];
        if (!is_wanted(f, grip)) continue;
        double push[3];
        double s = tw_grip_stretch(f, grip, at->x, push);

        /* The force is -dU/ds along the stretch. */
        double factor = secant(grip, f->length, s);
        for (int k = 0; k < 3; k++) push[k] *= -factor;
        add_push(f, grip->vertex, push, force);

        /* The obstacle gets the reaction. */
        for (int c = 0; c < 3; c++)
            for (int k = 0; k < 3; k++)
                force[3 * (int64_t)grip->carrier[c] + k] -= grip->weight[c] * push[k];
    }
    return TW_OK;
}

/* ---- tangents ---- */

/* d^2 U = (U'/s) (P - u u^T) + U'' u u^T,   u the direction of the stretch. */
static void find_tangent(const tw_friction *f, const double *x, tw_grip *grip)
{
    double u[3];
    double s = tw_grip_stretch(f, grip, x, u);
    double across = secant(grip, f->length, s);
    double along = 0.0;
    if (s < f->length) along = 2.0 * grip->limit / f->length * (1.0 - s / f->length);

    /* The direction; at s = 0 it does not matter, because along = across. */
    for (int k = 0; k < 3; k++) u[k] /= fmax(s, 1e-300);

    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            double projection = (i == j ? 1.0 : 0.0) - grip->normal[i] * grip->normal[j];
            grip->tangent[i][j] = across * projection + (along - across) * u[i] * u[j];
        }
}

static tw_status friction_linearise(void *data, const tw_force_view *at)
{
    tw_friction *f = data;
    for (int64_t g = 0; g < f->grip_count; g++)
        if (is_wanted(f, &f->grips[g])) find_tangent(f, at->x, &f->grips[g]);
    return TW_OK;
}

static void friction_add_product(void *data, int count, const double *in, double *out)
{
    const tw_friction *f = data;
    int64_t size = 3 * f->particles->free_count;
    for (int64_t g = 0; g < f->grip_count * count; g++) {
        const tw_grip *grip = &f->grips[g / count];
        int64_t column = size * (g % count);
        tw_vertex_parts parts = tw_contact_parts(f->contact, grip->vertex);

        /* The way of the vertex. */
        double way[3] = {0.0, 0.0, 0.0};
        for (int i = 0; i < parts.count; i++) {
            int64_t u = f->particles->unknown[parts.particle[i]];
            for (int k = 0; k < 3 && u >= 0; k++)
                way[k] += parts.weight[i] * in[column + 3 * u + k];
        }

        for (int i = 0; i < parts.count; i++) {
            int64_t u = f->particles->unknown[parts.particle[i]];
            for (int k = 0; k < 3 && u >= 0; k++)
                out[column + 3 * u + k] += parts.weight[i] * tw_dot3(grip->tangent[k], way);
        }
    }
}

static void friction_add_tangent(void *data, tw_sparse *matrix)
{
    const tw_friction *f = data;
    for (int64_t g = 0; g < f->grip_count; g++) {
        const tw_grip *grip = &f->grips[g];
        if (!is_wanted(f, grip)) continue;
        tw_vertex_parts parts = tw_contact_parts(f->contact, grip->vertex);

        for (int i = 0; i < parts.count * parts.count; i++) {
            int a = i / parts.count;
            int b = i % parts.count;
            int32_t row = f->particles->unknown[parts.particle[a]];
            int32_t column = f->particles->unknown[parts.particle[b]];
            if (row < 0 || column < row || !tw_particles_want(f->particles, row)) continue;
            int64_t place = tw_sparse_find(matrix, row, column);
            if (place < 0) continue;

            /* Blocks are symmetric, so that the order of their entries does not matter. */
            double *values = tw_sparse_values(matrix) + 9 * place;
            for (int k = 0; k < 9; k++)
                values[k] += parts.weight[a] * parts.weight[b] * grip->tangent[k / 3][k % 3];
        }
    }
}

static const tw_force_table friction_table = {
    .name = "friction",
    .release = friction_release,
    .complete = friction_complete,
    .add_pattern = friction_add_pattern,
    .add_energy = friction_add_energy,
    .add_force = friction_add_force,
    .linearise = friction_linearise,
    .add_product = friction_add_product,
    .add_tangent = friction_add_tangent,
    .begin_step = tw_friction_begin_step,
    .finish_step = tw_friction_finish_step,
    .internal_count = tw_friction_internal_count,
    .set_internal = tw_friction_set_internal,
};

tw_status tw_force_friction_create(tw_contact *contact, tw_force *out)
{
    tw_friction *f = TW_NEW(tw_friction);
    if (!f) return TW_OUT_OF_MEMORY;
    f->contact = contact;
    f->coefficient = contact->options.friction;
    f->length = contact->options.friction_length;
    *out = (tw_force){&friction_table, f};
    return TW_OK;
}
