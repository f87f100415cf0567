/* Dashpots that damp like beta K.
 *
 * Schemes with a symmetric stand-in know of damping as alpha M + beta S alone; what is left of it
 * they treat explicitly, which strong dashpots do not stand. Where every spring has a dashpot along
 * it, c >= beta k holds for all of them with beta = min c/k, and for dashpots that are alike in this
 * ratio nothing is left. */
#include <math.h>
#include <string.h>

#include "model/model_internal.h"
#include "model/springs.h"

/* The springs of a force; NULL if it has other elements. */
static const tw_springs *springs_of(const tw_force *force)
{
    return force->table->linearise == tw_springs_linearise ? force->data : NULL;
}

/* Whether spring e is more than a dashpot. */
static bool has_stiffness(const tw_springs *s, int64_t e)
{
    return s->stiffness[e] > 0.0 || (s->cubic && s->cubic[e] > 0.0);
}

static bool is_elastic(const tw_springs *s)
{
    for (int64_t e = 0; e < s->count; e++)
        if (has_stiffness(s, e)) return true;
    return false;
}

/* Whether the dashpots lie along the springs, one along each, in the same order. */
static bool lie_along(const tw_springs *dashpots, const tw_springs *springs)
{
    if (!dashpots->damping || dashpots->count != springs->count) return false;
    if (dashpots->corners != springs->corners) return false;
    size_t corners = (size_t)springs->corners * (size_t)springs->count;
    return memcmp(dashpots->corner, springs->corner, corners * sizeof *springs->corner) == 0;
}

/* min c/k of the dashpots along these springs, 0 if there are none. */
static double time_along(const tw_model *model, const tw_springs *springs)
{
    for (const tw_force *f = model->forces; f < model->forces + model->force_count; f++) {
        const tw_springs *dashpots = springs_of(f);
        if (!dashpots || !lie_along(dashpots, springs)) continue;

        double least = INFINITY;
        for (int64_t e = 0; e < springs->count; e++)
            least = fmin(least, dashpots->damping[e] / springs->stiffness[e]);
        return isfinite(least) ? least : 0.0;
    }
    return 0.0;
}

/* The springs that these dashpots lie along; NULL: there are none. */
static const tw_springs *springs_along(const tw_model *model, const tw_springs *dashpots)
{
    for (const tw_force *f = model->forces; f < model->forces + model->force_count; f++) {
        const tw_springs *springs = springs_of(f);
        if (springs && is_elastic(springs) && lie_along(dashpots, springs)) return springs;
    }
    return NULL;
}

/* c n n^T of one dashpot has the eigenvalue c sum weight^2 / m beside M. */
static double rate_of(const tw_springs *dashpots, int64_t e, double c)
{
    double sum = 0.0;
    for (int i = 0; i < dashpots->corners; i++) {
        int32_t particle = dashpots->corner[e * dashpots->corners + i];
        double weight = dashpots->weight[i];
        if (!dashpots->particles->pinned[particle])
            sum += weight * weight / dashpots->particles->mass[particle];
    }
    return c * sum;
}

double tw_model_dashpot_rate(const tw_model *model, double beta)
{
    double fastest = 0.0;
    for (const tw_force *f = model->forces; f < model->forces + model->force_count; f++) {
        const tw_springs *dashpots = springs_of(f);
        if (!dashpots || !dashpots->damping) continue;
        const tw_springs *springs = springs_along(model, dashpots);

        /* What beta k does not count of each dashpot. */
        for (int64_t e = 0; e < dashpots->count; e++) {
            double counted = springs ? beta * springs->stiffness[e] : 0.0;
            double left = fmax(dashpots->damping[e] - counted, 0.0);
            fastest = fmax(fastest, rate_of(dashpots, e, left));
        }
    }
    return fastest;
}

double tw_model_dashpot_time(const tw_model *model)
{
    double least = INFINITY;
    for (const tw_force *f = model->forces; f < model->forces + model->force_count; f++) {
        const tw_springs *springs = springs_of(f);

        /* Elements of another kind have no dashpots. */
        if (!springs && f->table->add_tangent) return 0.0;
        if (springs && is_elastic(springs)) least = fmin(least, time_along(model, springs));
    }
    return isfinite(least) ? least : 0.0;
}
