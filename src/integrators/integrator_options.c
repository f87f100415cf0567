/* The options of an integrator: their defaults, and the ranges that they must lie in. */
#include <float.h>
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "base/fail.h"
#include "integrators/integrator_internal.h"

tw_integrator_options tw_integrator_options_default(void)
{
    return (tw_integrator_options){
        .scheme = TW_SCHEME_EXPRB42,
        .absolute_tolerance = 1e-12,
        .max_steps = 1000000000,
        .energy_gain_bound = 0.5,
        .phi = tw_phi_options_default(),
        .newton = {.tolerance = 1e-10, .max_iterations = 25, .linear_solver = TW_LINEAR_AUTO},
        .expmid2 = {.filter_cutoff = 2.2, .corrections = 1},
        .expmid4 = {.passes = 2},
        .pexprb43 = {.nodes = {1.0 / 3.0, 3.0 / 4.0}},
        .generalized_alpha = {.spectral_radius = 0.8}};
}

/* The range of an option that is a number: from `least` to `most`, without the ends if `is_open`. */
typedef struct option_range {
    const char *name;
    size_t offset;
    double least;
    double most;
    bool is_open;
} option_range;

/* A value whose square still is a number. No sensible value is larger. */
#define LARGEST 1e150

#define OPTION(member) #member, offsetof(tw_integrator_options, member)
static const option_range ranges[] = {
    {OPTION(step), 0, LARGEST, false},
    {OPTION(absolute_tolerance), 0, LARGEST, false},
    {OPTION(reference[0]), 0, LARGEST, false},
    {OPTION(reference[1]), 0, LARGEST, false},
    {OPTION(smallest_step), 0, LARGEST, false},
    {OPTION(largest_step), 0, LARGEST, false},
    {OPTION(energy_gain_bound), 0, LARGEST, false},
    {OPTION(newton.tolerance), 0, 1, true},
    {OPTION(newton.reuse_factor), 0, LARGEST, false},
    {OPTION(expmid2.filter_cutoff), 0, LARGEST, true},
    {OPTION(expmid2.dissipation), 0, 1, false},
    {OPTION(pexprb43.nodes[0]), -LARGEST, LARGEST, false},
    {OPTION(pexprb43.nodes[1]), -LARGEST, LARGEST, false},
    {OPTION(generalized_alpha.spectral_radius), 0, 1, false},
};
#undef OPTION

/* The comparisons also refuse a NaN. */
static tw_status check_ranges(const tw_integrator_options *options, tw_error *error)
{
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++) {
        const option_range *range = &ranges[i];
        double value = 0;
        memcpy(&value, (const char *)options + range->offset, sizeof value);

        /* NaN is outside of every range. */
        bool is_inside = value >= range->least && value <= range->most;
        if (range->is_open) is_inside = value > range->least && value < range->most;
        if (is_inside) continue;

        return tw_fail(error, TW_INVALID_ARGUMENT, "%s must lie %s %g and %g, not at %g",
                       range->name, range->is_open ? "strictly between" : "between", range->least,
                       range->most, value);
    }
    return TW_OK;
}

/* Whether a value is an enumerator from 0 to `last`. */
static bool is_one_of(int value, int last)
{
    return value >= 0 && value <= last;
}

/* Counts and enumerators. */
static tw_status check_counts(const tw_integrator_options *o, tw_error *error)
{
    /* Enumerators. */
    if (!is_one_of(o->newton.linear_solver, TW_LINEAR_AUTO) ||
        !is_one_of(o->gautschi.filter, TW_FILTER_HOCHBRUCK_LUBICH) ||
        !is_one_of(o->controller, TW_CONTROLLER_COST))
        return tw_fail(error, TW_INVALID_ARGUMENT,
                       "linear_solver, filter or controller does not exist");

    /* Counts that must let something happen. */
    if (o->max_steps < 1 || o->newton.max_iterations < 1)
        return tw_fail(error, TW_INVALID_ARGUMENT, "max_steps and max_iterations must be >= 1");

    /* Passes of the midpoint schemes: more than a few change nothing. */
    if (!is_one_of(o->expmid2.corrections, 10))
        return tw_fail(error, TW_INVALID_ARGUMENT, "expmid2.corrections must be 0 to 10, not %d",
                       o->expmid2.corrections);
    if (o->expmid4.passes < 1 || o->expmid4.passes > 10)
        return tw_fail(error, TW_INVALID_ARGUMENT, "expmid4.passes must be 1 to 10, not %d",
                       o->expmid4.passes);
    return TW_OK;
}

/* What options mean for each other, and for the scheme. */
static tw_status check_together(const tw_integrator_options *o, const tw_scheme_table *scheme,
                                tw_error *error)
{
    /* Adaptive or fixed steps. */
    if (!(o->relative_tolerance >= 0 && o->relative_tolerance < 1))
        return tw_fail(error, TW_INVALID_ARGUMENT, "relative_tolerance %g is not in [0, 1)",
                       o->relative_tolerance);
    if (o->relative_tolerance > 0 && scheme->fixed_only)
        return tw_fail(error, TW_UNSUPPORTED, "%s needs fixed steps", tw_scheme_name(o->scheme));

    /* Without a tolerance nobody can choose the step, unless the scheme does so itself. */
    if (o->relative_tolerance == 0 && o->step == 0 && !scheme->own_steps)
        return tw_fail(error, TW_INVALID_ARGUMENT,
                       "fixed steps (relative_tolerance 0) need a step > 0");

    /* The bounds of adaptive steps. */
    if (o->largest_step > 0 && o->smallest_step > o->largest_step)
        return tw_fail(error, TW_INVALID_ARGUMENT, "smallest_step %g exceeds largest_step %g",
                       o->smallest_step, o->largest_step);
    return TW_OK;
}

/* Options of single schemes are checked for every scheme: a value out of range is a mistake
 * anyway. */
tw_status tw_integrator_check_options(const tw_integrator_options *options,
                                      const tw_scheme_table *scheme, tw_error *error)
{
    TW_TRY(check_ranges(options, error));
    TW_TRY(check_counts(options, error));
    return check_together(options, scheme, error);
}
