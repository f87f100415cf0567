/* The list of schemes, the options and their checks, creation, start and the plain accessors. */
#include <math.h>
#include <string.h>

#include "base/allocate.h"
#include "base/fail.h"
#include "integrators/integrator_internal.h"
#include "integrators/solver_choice.h"
#include "linalg/vector.h"

/* A row of TW_SCHEME_LIST. */
typedef struct scheme_entry {
    const char *name;
    const char *line;
    int order;
} scheme_entry;

#define SCHEME_ENTRY(id, text, scheme_order, text_line) [id] = {text, text_line, scheme_order},
static const scheme_entry entries[TW_SCHEME_COUNT] = {TW_SCHEME_LIST(SCHEME_ENTRY)};
#undef SCHEME_ENTRY

/* What runs each scheme. The exponential Rosenbrock schemes share one stepper and differ by
 * their tableau. */
static const tw_scheme_table *const tables[TW_SCHEME_COUNT] = {
    [TW_SCHEME_EXPRB2] = &tw_scheme_rosenbrock,
    [TW_SCHEME_EXPRB32] = &tw_scheme_rosenbrock,
    [TW_SCHEME_EXPRB42] = &tw_scheme_rosenbrock,
    [TW_SCHEME_PEXPRB43] = &tw_scheme_rosenbrock,
    [TW_SCHEME_EXPRB53] = &tw_scheme_rosenbrock,
    [TW_SCHEME_EPIRK4S3] = &tw_scheme_rosenbrock,
    [TW_SCHEME_EXPMID2] = &tw_scheme_expmid2,
    [TW_SCHEME_EXPMID4] = &tw_scheme_expmid4,
    [TW_SCHEME_ETDRK4] = &tw_scheme_rosenbrock,
    [TW_SCHEME_GAUTSCHI] = &tw_scheme_gautschi,
    [TW_SCHEME_RK4] = &tw_scheme_rk4,
    [TW_SCHEME_EULER] = &tw_scheme_explicit_euler,
    [TW_SCHEME_MIDPOINT_EXPLICIT] = &tw_scheme_explicit_midpoint,
    [TW_SCHEME_VERLET] = &tw_scheme_verlet,
    [TW_SCHEME_BDF1] = &tw_scheme_bdf1,
    [TW_SCHEME_BDF2] = &tw_scheme_bdf2,
    [TW_SCHEME_SEMI_IMPLICIT] = &tw_scheme_semi_implicit,
    [TW_SCHEME_MIDPOINT] = &tw_scheme_implicit_midpoint,
    [TW_SCHEME_NEWMARK] = &tw_scheme_newmark,
    [TW_SCHEME_GENERALIZED_ALPHA] = &tw_scheme_generalized_alpha,
    [TW_SCHEME_V_IMEX] = &tw_scheme_v_imex,
    [TW_SCHEME_CVODE] = &tw_scheme_cvode,
};

static bool in_list(tw_scheme scheme)
{
    return (int)scheme >= 0 && scheme < TW_SCHEME_COUNT;
}

const char *tw_scheme_name(tw_scheme scheme)
{
    return in_list(scheme) ? entries[scheme].name : "?";
}

tw_scheme tw_scheme_from_name(const char *name)
{
    for (int i = 0; name && i < TW_SCHEME_COUNT; i++)
        if (strcmp(entries[i].name, name) == 0) return (tw_scheme)i;
    return TW_SCHEME_COUNT;
}

int tw_scheme_order(tw_scheme scheme)
{
    return in_list(scheme) ? entries[scheme].order : 0;
}

const char *tw_scheme_line(tw_scheme scheme)
{
    return in_list(scheme) ? entries[scheme].line : "";
}

bool tw_scheme_available(tw_scheme scheme)
{
    return in_list(scheme) && tables[scheme]->attempt != NULL;
}

/* Whether the scheme exists and is built in, and the options are sensible. */
static tw_status check_options(const tw_integrator_options *options, tw_error *error)
{
    if (!in_list(options->scheme))
        return tw_fail(error, TW_INVALID_ARGUMENT, "scheme %d does not exist",
                       (int)options->scheme);
    if (!tables[options->scheme]->attempt)
        return tw_fail(error, TW_UNSUPPORTED, "%s is not built into this library",
                       entries[options->scheme].name);
    return tw_integrator_check_options(options, tables[options->scheme], error);
}

/* The arrays of the integrator, as long as the state; the scratch has four of them. */
static tw_status allocate(tw_integrator *integrator)
{
    size_t size = (size_t)integrator->system.size;
    double **arrays[] = {&integrator->u, &integrator->u_old, &integrator->u_new,
                         &integrator->F, &integrator->F_old, &integrator->error_vector};
    for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; i++) {
        *arrays[i] = tw_allocate_zeroed(size, sizeof(double));
        if (!*arrays[i]) return TW_OUT_OF_MEMORY;
    }

    integrator->scratch = TW_NEW_ARRAY(4 * size, double);
    return integrator->scratch ? TW_OK : TW_OUT_OF_MEMORY;
}

/* Copies and checks the absolute tolerances of the single entries, if there are any. */
static tw_status copy_tolerances(tw_integrator *integrator, tw_error *error)
{
    const double *given = integrator->options.absolute_tolerances;
    if (!given) return TW_OK;
    if (integrator->scheme->own_steps)
        return tw_fail(error, TW_UNSUPPORTED, "%s takes one absolute tolerance for all entries",
                       tw_scheme_name(integrator->options.scheme));
    for (int64_t i = 0; i < integrator->system.size; i++)
        if (!(given[i] >= 0) || isinf(given[i]))
            return tw_fail(error, TW_INVALID_ARGUMENT, "absolute_tolerances[%lld] = %g is not >= 0",
                           (long long)i, given[i]);

    integrator->tolerances = TW_NEW_ARRAY(integrator->system.size, double);
    if (!integrator->tolerances) return tw_fail_plain(error, TW_OUT_OF_MEMORY);
    tw_vector_copy(integrator->system.size, given, integrator->tolerances);
    integrator->options.absolute_tolerances = integrator->tolerances;
    return TW_OK;
}

/* The problem's table, the arrays, and the memory of the scheme. */
static tw_status prepare(tw_integrator *integrator, const tw_second_order_problem *second,
                         const tw_first_order_problem *first, tw_error *error)
{
    tw_status status =
        tw_system_create(&integrator->system, second, first, &integrator->counts, error);
    if (status) return status;
    if (allocate(integrator) != TW_OK) return tw_fail_plain(error, TW_OUT_OF_MEMORY);
    TW_TRY(tw_internal_reserve(integrator, error));
    TW_TRY(copy_tolerances(integrator, error));
    TW_TRY(tw_choose_linear_solver(&integrator->system, &integrator->options,
                                   &integrator->options.newton.linear_solver, error));
    if (integrator->scheme->reserve) TW_TRY(integrator->scheme->reserve(integrator, error));

    /* The scheme now knows the order of its estimate, and whether it has one. */
    if (tw_doubling_reserve(integrator) != TW_OK) return tw_fail_plain(error, TW_OUT_OF_MEMORY);
    return TW_OK;
}

/* Exactly one of `second` and `first` is given. */
static tw_status create(const tw_second_order_problem *second, const tw_first_order_problem *first,
                        const tw_integrator_options *options, tw_integrator **out, tw_error *error)
{
    if (!out || (!second && !first) || !options)
        return tw_fail(error, TW_INVALID_ARGUMENT, "an argument is NULL");
    *out = NULL;
    tw_status status = check_options(options, error);
    if (status) return status;

    /* The scheme's order and that of its estimate. A user's tableau replaces them when memory
     * is reserved. */
    tw_integrator *integrator = TW_NEW(tw_integrator);
    if (!integrator) return tw_fail_plain(error, TW_OUT_OF_MEMORY);
    integrator->options = *options;
    integrator->scheme = tables[options->scheme];
    integrator->error_order = integrator->scheme->error_order;
    integrator->order = tw_scheme_order(options->scheme);
    integrator->counts.engine = TW_PHI_ENGINE_COUNT;
    status = prepare(integrator, second, first, error);
    if (status) {
        tw_integrator_free(integrator);
        return status;
    }

    tw_energy_guard_prepare(integrator);
    *out = integrator;
    return TW_OK;
}

tw_status tw_integrator_create_second_order(const tw_second_order_problem *problem,
                                            const tw_integrator_options *options,
                                            tw_integrator **out, tw_error *error)
{
    /* An estimate looks at one step at a time, and does not see a contact that begins within it,
     * unless the problem watches the steps. */
    bool watched = problem && problem->begin_step;
    bool has_lists = problem && problem->lists.count != 0;
    if (has_lists && (problem->lists.count < 0 || !problem->lists.save || !problem->lists.load))
        return tw_fail(error, TW_INVALID_ARGUMENT,
                       "a problem with lists.count > 0 needs lists.save and lists.load");
    if (problem && options && problem->finish_step && !watched && options->relative_tolerance > 0.0)
        return tw_fail(error, TW_UNSUPPORTED,
                       "adaptive steps would pass over contacts: give a fixed step instead");
    return create(problem, NULL, options, out, error);
}

tw_status tw_integrator_create_first_order(const tw_first_order_problem *problem,
                                           const tw_integrator_options *options,
                                           tw_integrator **out, tw_error *error)
{
    return create(NULL, problem, options, out, error);
}

void tw_integrator_free(tw_integrator *integrator)
{
    if (!integrator) return;

    /* The scheme may still look at the system. */
    if (integrator->scheme->release) integrator->scheme->release(integrator);
    tw_system_free(&integrator->system);
    tw_release(integrator->u);
    tw_release(integrator->u_old);
    tw_release(integrator->u_new);
    tw_release(integrator->F);
    tw_release(integrator->F_old);
    tw_release(integrator->error_vector);
    tw_release(integrator->scratch);
    tw_doubling_release(integrator);
    tw_internal_free(integrator);
    tw_release(integrator->tolerances);
    tw_release(integrator->output_times);
    tw_release(integrator->snapshot);
    tw_release(integrator);
}

/* Forgets everything that earlier steps left behind. */
static void forget_steps(tw_integrator *integrator)
{
    integrator->counts = (tw_integrator_statistics){.engine = TW_PHI_ENGINE_COUNT};
    integrator->step_taken = 0;
    integrator->stage_known = false;
    integrator->F_known = false;
    integrator->F_old_known = false;
    integrator->retry = false;
    integrator->truncated = false;
    integrator->output_next = 0;
    integrator->stopped = false;
    integrator->probed_end = -INFINITY;

    /* The controller and the plan of fixed steps. */
    integrator->h_next = 0;
    integrator->h_old = 0;
    integrator->error_old = 0;
    integrator->cost_old = 0;
    integrator->cost_direction = 1;
    integrator->last_rejected = false;
    integrator->plan_count = 0;
    integrator->plan_done = 0;
}

/* The error of a start at which something could not be evaluated. */
static tw_status fail_at_start(const tw_integrator *integrator, tw_status status, const char *what,
                               tw_error *error)
{
    if (status != TW_RECOVERABLE)
        return tw_fail(error, status, "%s: %s", what, tw_status_text(status));

    /* The problem may know why. */
    const tw_second_order_problem *problem = &integrator->system.second;
    bool can_tell = integrator->system.second_order && problem->explain;
    const char *told = can_tell ? problem->explain(problem->context) : NULL;
    if (told) return tw_fail(error, status, "the forces are not defined at the start: %s", told);
    return tw_fail(error, status,
                   "the forces are not defined at the start: bodies overlap, or an element has no "
                   "size");
}

/* Says no to a problem that is not what its table says. */
static tw_status probe_problem(tw_integrator *integrator, double t, const double *u,
                               tw_error *error)
{
    bool depends_on_velocity = false;
    bool is_general = false;
    tw_status status = tw_probe_velocity(integrator, t, u, &depends_on_velocity);
    if (status == TW_OK && !depends_on_velocity)
        status = tw_probe_symmetry(integrator, t, u, &is_general);
    if (status != TW_OK)
        return fail_at_start(integrator, status, "the acceleration at the start", error);

    if (depends_on_velocity)
        return tw_fail(error, TW_INVALID_ARGUMENT,
                       "the acceleration depends on the velocity, but the problem's "
                       "velocity_dependent is false: set it");
    if (is_general)
        return tw_fail(error, TW_INVALID_ARGUMENT,
                       "the tangent is not symmetric, but the problem's stiffness_is_general is "
                       "false: set it");
    return TW_OK;
}

tw_status tw_integrator_start(tw_integrator *integrator, double t, const double *u, tw_error *error)
{
    if (!integrator || !u) return tw_fail_plain(error, TW_INVALID_ARGUMENT);
    if (!isfinite(t) || !tw_vector_is_finite(integrator->system.size, u))
        return tw_fail(error, TW_NOT_FINITE,
                       "the initial time or state has a value that is NaN or infinite");

    tw_internal_start(integrator);
    TW_TRY(probe_problem(integrator, t, u, error));

    forget_steps(integrator);
    integrator->t = t;
    integrator->t_old = t;
    integrator->t_start = t;
    tw_vector_copy(integrator->system.size, u, integrator->u);
    integrator->started = true;
    if (integrator->scheme->reset) integrator->scheme->reset(integrator);

    /* The energy and the values of the events at the start are what later steps are
     * compared with. */
    tw_status status = tw_integrator_begin_step(integrator, 0.0, error);
    if (status == TW_OK) status = tw_energy_guard_start(integrator);
    if (status == TW_OK) status = tw_integrator_reset_events(integrator);
    if (status == TW_OK) return TW_OK;

    integrator->started = false;
    return fail_at_start(integrator, status, "at the start", error);
}

tw_status tw_integrator_refresh(tw_integrator *integrator, tw_error *error)
{
    if (!integrator || !integrator->started) return tw_fail_plain(error, TW_INVALID_ARGUMENT);

    /* The force at the end of the last step, and what a rejected attempt left, are of no use. */
    integrator->F_known = false;
    integrator->retry = false;
    const tw_scheme_table *scheme = integrator->scheme;
    if (!scheme->allows_impulses && scheme->reset) scheme->reset(integrator);

    tw_status status = tw_energy_guard_start(integrator);
    if (status == TW_OK) return TW_OK;
    return tw_fail(error, status, "after a change of the forces: %s", tw_status_text(status));
}

void tw_integrator_state(const tw_integrator *integrator, double *t, double *u)
{
    if (!integrator) return;
    if (t) *t = integrator->t;
    if (u) tw_vector_copy(integrator->system.size, integrator->u, u);
}

double tw_integrator_previous_time(const tw_integrator *integrator)
{
    if (!integrator) return 0;
    return integrator->t_old;
}

const double *tw_integrator_state_view(const tw_integrator *integrator)
{
    if (!integrator) return NULL;
    return integrator->u;
}

void tw_integrator_on_step(tw_integrator *integrator, tw_step_function *function, void *context)
{
    if (!integrator) return;
    integrator->on_step = function;
    integrator->on_step_context = context;
}

void tw_integrator_on_interrupt(tw_integrator *integrator, tw_interrupt_function *function,
                                void *context)
{
    if (!integrator) return;
    integrator->system.interrupt = function;
    integrator->system.interrupt_context = context;
}

tw_integrator_statistics tw_integrator_statistics_now(const tw_integrator *integrator)
{
    if (!integrator) return (tw_integrator_statistics){.engine = TW_PHI_ENGINE_COUNT};
    return integrator->counts;
}

tw_scheme tw_integrator_scheme(const tw_integrator *integrator)
{
    if (!integrator) return TW_SCHEME_COUNT;
    return integrator->options.scheme;
}

/* Whether the energy of the last step is that of its stage. */
static bool has_stage(const tw_integrator *integrator)
{
    return integrator->scheme->energy_state && integrator->stage_known && !integrator->truncated;
}

const double *tw_integrator_energy_state(tw_integrator *integrator, double *t)
{
    if (!integrator || !t) return NULL;
    *t = integrator->t;
    if (!has_stage(integrator)) return integrator->u;
    return integrator->scheme->energy_state(integrator, t);
}

double tw_integrator_hidden_power(const tw_integrator *integrator)
{
    if (!integrator || !has_stage(integrator) || !integrator->scheme->hidden_power) return 0;
    return integrator->scheme->hidden_power(integrator);
}

bool tw_integrator_energy_at_stage(const tw_integrator *integrator)
{
    if (!integrator) return false;
    return integrator->scheme->energy_state != NULL;
}

tw_status tw_integrator_energy(tw_integrator *integrator, double *kinetic, double *potential)
{
    if (!integrator || !integrator->started || !kinetic || !potential) return TW_INVALID_ARGUMENT;

    double t = 0;
    const double *u = tw_integrator_energy_state(integrator, &t);
    return tw_system_energy(&integrator->system, t, u, kinetic, potential);
}

tw_status tw_integrator_need_rhs(tw_integrator *integrator)
{
    if (integrator->F_known) return TW_OK;

    tw_status status =
        tw_system_rhs(&integrator->system, integrator->t, integrator->u, integrator->F);
    if (status == TW_OK) status = tw_tally_note_F(integrator);
    integrator->F_known = status == TW_OK;
    return status;
}
