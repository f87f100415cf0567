/* The fluid around a model: its settings, the radii of the particles, memory. */
#include "model/fluid_model.h"

#include <math.h>

#include "base/allocate.h"
#include "base/fail.h"
#include "base/vector3.h"
#include "fluid/rod_radius.h"

tw_fluid tw_fluid_default(void)
{
    return (tw_fluid){.viscosity = 1e-3};
}

tw_status tw_model_set_fluid(tw_model *model, const tw_fluid *fluid, tw_error *error)
{
    if (!model || !fluid || model->completion_begun)
        return tw_fail_plain(error, TW_INVALID_ARGUMENT);
    if (!(fluid->viscosity > 0.0) || !isfinite(fluid->viscosity))
        return tw_fail(error, TW_INVALID_ARGUMENT, "a fluid needs a viscosity > 0");
    if (!(fluid->radius >= 0.0) || !isfinite(fluid->radius))
        return tw_fail(error, TW_INVALID_ARGUMENT, "a fluid needs a radius > 0, or 0 for auto");

    if (!model->fluid) model->fluid = TW_NEW(tw_model_fluid);
    if (!model->fluid) return tw_fail_plain(error, TW_OUT_OF_MEMORY);
    model->fluid->given = *fluid;
    return TW_OK;
}

void tw_fluid_free(tw_model_fluid *fluid)
{
    if (!fluid) return;
    tw_stokeslets_free(fluid->points);
    tw_release(fluid->storage);
    tw_release(fluid->J);
    tw_release(fluid->M);
    tw_release(fluid->K);
    tw_release(fluid);
}

/* ---- radii ---- */

/* Neighbours whose mean distance tells how densely particles lie. */
enum { NEIGHBOURS = 3 };

/* eps over the distance of neighbours: two thirds of the radius of a disc of the area sqrt(3)/2 d^2
 * that a point of a surface stands for. A sphere then has Stokes' drag (tests/test_stokeslets.c). */
static const double SHELL_RADIUS = 0.35;

static vec3 section_centre(const double *x, int64_t first)
{
    vec3 sum = {0.0, 0.0, 0.0};
    for (int c = 0; c < TW_SECTION_CORNERS; c++) sum = vec3_add(sum, vec3_at(x, first + c));
    return vec3_scale(1.0 / TW_SECTION_CORNERS, sum);
}

/* The radii of the particles of one fibre. */
static void find_fibre_radii(const double *x, const tw_fibre_set *set, int64_t fibre,
                             double *radius)
{
    for (int64_t s = 0; s <= set->segments; s++) {
        /* The section and its neighbour: the next one, for the last section the one before. */
        int64_t here = tw_fibre_set_section(set, fibre, s);
        int64_t next = tw_fibre_set_section(set, fibre, s < set->segments ? s + 1 : s - 1);
        vec3 step = vec3_subtract(section_centre(x, next), section_centre(x, here));
        vec3 side = vec3_subtract(vec3_at(x, here + 1), vec3_at(x, here));

        double share = (double)s / (double)set->segments;
        double thickness = set->thickness + share * (set->tip_thickness - set->thickness);
        double eps = tw_rod_radius(vec3_length(step), vec3_length(side), thickness);
        for (int c = 0; c < TW_SECTION_CORNERS; c++) radius[here + c] = eps;
    }
}

/* Puts a distance into an ascending list of the smallest ones. */
static void insert(double list[NEIGHBOURS], double distance)
{
    for (int k = 0; k < NEIGHBOURS; k++)
        if (distance < list[k]) {
            double larger = list[k];
            list[k] = distance;
            distance = larger;
        }
}

/* The mean distance to the nearest particles whose radius is not known (0), as is that of i; 0 if there
 * are none. */
static double neighbour_distance(const tw_particles *p, const bool *known, int64_t i)
{
    double nearest[NEIGHBOURS] = {INFINITY, INFINITY, INFINITY};
    for (int64_t j = 0; j < p->count; j++)
        if (j != i && !known[j])
            insert(nearest,
                   vec3_length(vec3_subtract(vec3_at(p->position, i), vec3_at(p->position, j))));

    double sum = 0.0;
    int count = 0;
    for (; count < NEIGHBOURS && isfinite(nearest[count]); count++) sum += nearest[count];
    return count ? sum / count : 0.0;
}

/* Radii chosen for each particle. */
static tw_status choose_radii(const tw_model *model, bool *known, double *radius, tw_error *error)
{
    const tw_particles *p = &model->particles;
    for (int64_t s = 0; s < model->fibres.count; s++) {
        const tw_fibre_set *set = &model->fibres.list[s];
        for (int64_t f = 0; f < set->count; f++) find_fibre_radii(p->position, set, f, radius);
    }
    for (int64_t i = 0; i < p->count; i++) known[i] = radius[i] > 0.0;

    for (int64_t i = 0; i < p->count; i++) {
        if (known[i]) continue;
        radius[i] = SHELL_RADIUS * neighbour_distance(p, known, i);
        if (!(radius[i] > 0.0))
            return tw_fail(error, TW_INVALID_ARGUMENT,
                           "particle %lld has no neighbour at a distance that tells its radius in "
                           "the fluid, give the fluid a radius",
                           (long long)i);
    }
    return TW_OK;
}

tw_status tw_fluid_create_points(const tw_model *model, tw_stokeslets **out, tw_error *error)
{
    const tw_model_fluid *fluid = model->fluid;
    int64_t count = model->particles.count;
    double *radius = tw_allocate_zeroed((size_t)count, sizeof *radius);
    bool *known = tw_allocate_zeroed((size_t)count, sizeof *known);
    tw_status status = TW_OUT_OF_MEMORY;

    /* One radius for all, or one for each. */
    if (radius && known && fluid->given.radius > 0.0) {
        for (int64_t i = 0; i < count; i++) radius[i] = fluid->given.radius;
        status = TW_OK;
    } else if (radius && known) {
        status = choose_radii(model, known, radius, error);
    }

    if (status == TW_OK) {
        *out = tw_stokeslets_create(count, radius, fluid->given.viscosity);
        if (!*out) status = TW_OUT_OF_MEMORY;
    }
    if (status == TW_OUT_OF_MEMORY) tw_fail_plain(error, status);

    tw_release(radius);
    tw_release(known);
    return status;
}

/* ---- memory ---- */

static tw_status check_model(const tw_model *model, tw_error *error)
{
    const tw_particles *p = &model->particles;
    if (p->free_count != p->count)
        return tw_fail(error, TW_UNSUPPORTED,
                       "in a fluid every particle moves freely: it goes with no pins, motions, "
                       "obstacles and rooted fibres");
    if (model->traits & TW_FORCE_VELOCITY)
        return tw_fail(error, TW_UNSUPPORTED,
                       "in a fluid no force depends on velocities: it goes with no damping, wind "
                       "and dashpots");
    if (model->contact) return tw_fail(error, TW_UNSUPPORTED, "a fluid does not go with contact");
    if (model->mass.group_count > 0)
        return tw_fail(error, TW_UNSUPPORTED, "a fluid does not go with consistent mass");
    return TW_OK;
}

tw_status tw_fluid_prepare(tw_model *model, tw_error *error)
{
    TW_TRY(check_model(model, error));
    tw_model_fluid *fluid = model->fluid;
    int64_t n = 3 * model->particles.count;
    fluid->unknowns = n;

    enum { VECTORS = 4 };
    fluid->storage = tw_allocate_zeroed(VECTORS * (size_t)n, sizeof(double));
    if (!fluid->storage) return tw_fail_plain(error, TW_OUT_OF_MEMORY);
    fluid->velocity = fluid->storage;
    fluid->rate = fluid->storage + n;
    fluid->at = fluid->storage + 2 * n;
    fluid->load = fluid->storage + 3 * n;

    if (n <= TW_FLUID_DENSE_MAX) {
        fluid->J = TW_NEW_ARRAY(n * n, double);
        fluid->M = TW_NEW_ARRAY(n * n, double);
        fluid->K = TW_NEW_ARRAY(n * n, double);
        if (!fluid->J || !fluid->M || !fluid->K) return tw_fail_plain(error, TW_OUT_OF_MEMORY);
    }
    return tw_fluid_create_points(model, &fluid->points, error);
}
