/* expmid4: linearise at the midpoint, start from u_n, model the remainder by a parabola
 * (docs/schemes.md).
 *
 *   u_m     ~ u(t_n + h/2) by a half step of exprb42;   J = dF/du(u_m)
 *   r(u, t) = F(t, u) - F_m - J (u - u_m) - F_t (t - t_m),
 *   r_0 = r(u_n),  r_1 = r(u_{n+1}),  r ~ 0 at the midpoint
 *   u_{n+1} = u_n + h phi_1(hJ) F_n + h^2 phi_2(hJ) F_t
 *           + h phi_2(hJ) (-3 r_0 - r_1) + 2h phi_3(hJ) (2 r_0 + 2 r_1)
 *
 * The first pass takes r_1 = r_0; each further pass evaluates r_1. The difference of the last two
 * passes estimates the error. */
#include "base/allocate.h"
#include "base/fail.h"
#include "integrators/integrator_internal.h"
#include "integrators/propagator.h"
#include "linalg/vector.h"

enum { SLOT_SLOPE = 0, SLOT_END = 1, SLOT_COUNT = 2, VECTORS = 11 };

/* Node of the stage of exprb42, 3/4 of the half step, in units of h. */
static const double stage_node = 0.375;

typedef struct expmid4_memory {
    tw_propagator *propagator;
    double *middle;   /* u_m */
    double *F_middle; /* F_m */
    double *F_t;      /* at the midpoint */
    double *base;     /* what F_n, F_t and r_0 contribute in their own place */
    double *share;    /* what r_1, or r_0 in its place, contributes */
    double *r0;       /* n entries (second order) or size */
    double *r1;
    double *work;
    double *product;
    double *half;
    double *gap; /* end of the step minus the end of dense output's model */
    bool gap_known;
    double *storage;
} expmid4_memory;

/* ---- memory ---- */

static tw_status expmid4_reserve(tw_integrator *integrator, tw_error *error)
{
    expmid4_memory *memory = TW_NEW(expmid4_memory);
    integrator->memory = memory;
    if (!memory) return tw_fail_plain(error, TW_OUT_OF_MEMORY);

    /* One allocation holds all vectors. */
    int64_t size = integrator->system.size;
    memory->storage = TW_NEW_ARRAY(VECTORS * size, double);
    if (!memory->storage) return tw_fail_plain(error, TW_OUT_OF_MEMORY);
    double **vectors[VECTORS] = {&memory->middle,  &memory->F_middle, &memory->F_t, &memory->base,
                                 &memory->share,   &memory->r0,       &memory->r1,  &memory->work,
                                 &memory->product, &memory->half,     &memory->gap};
    for (int i = 0; i < VECTORS; i++) *vectors[i] = memory->storage + i * size;

    /* One pass is a method of order 3 without an estimate; more give order 4 with one of
     * order 3. */
    bool one_pass = integrator->options.expmid4.passes == 1;
    integrator->order = one_pass ? 3 : 4;
    integrator->error_order = one_pass ? 0 : 3;

    /* Create the factor that an engine may need, and its workspace. */
    const tw_phi_options *phi = &integrator->options.phi;
    TW_TRY(tw_system_need_shifted_for_phi(&integrator->system, phi->engine, error));
    return tw_propagator_create(&integrator->system, phi, SLOT_COUNT, &memory->propagator, error);
}

static void expmid4_release(tw_integrator *integrator)
{
    expmid4_memory *memory = integrator->memory;
    if (!memory) return;
    tw_propagator_free(memory->propagator);
    tw_release(memory->storage);
    tw_release(memory);
    integrator->memory = NULL;
}

/* ---- linearisation and remainders ---- */

/* J and F_t at (t, u). */
static tw_status linearise(tw_integrator *integrator, double t, const double *u, const double *F)
{
    const expmid4_memory *memory = integrator->memory;
    tw_system *system = &integrator->system;
    TW_TRY(tw_system_linearise_for_phi(system, t, u, F));

    if (tw_system_is_autonomous(system)) return TW_OK;
    return tw_system_time_derivative(system, t, u, memory->F_t);
}

/* remainder = F - F_0 - J (u - u_0) - dt F_t for the state (u, F) at dt after `origin`. */
static tw_status find_remainder(tw_integrator *integrator, const tw_sloped_state *origin, double dt,
                                const tw_sloped_state *state, double *remainder)
{
    const expmid4_memory *memory = integrator->memory;
    tw_system *system = &integrator->system;
    const double *F_t = tw_system_is_autonomous(system) ? NULL : memory->F_t;
    tw_linear_model model = {.u = origin->u, .F = origin->F, .F_t = F_t};
    double *const scratch[2] = {memory->work, memory->product};
    return tw_system_remainder(system, &model, dt, state, scratch, remainder);
}

/* ---- sums of phi-functions ---- */

/* A sum with the sources F (0) and, for non-autonomous problems, F_t (1). */
static tw_phi_sum slope_sum(const tw_integrator *integrator, double h, const double *F)
{
    const expmid4_memory *memory = integrator->memory;
    const tw_system *system = &integrator->system;
    const double *F_t = system->second_order ? memory->F_t + system->n : memory->F_t;
    return (tw_phi_sum){.h = h,
                        .source_count = tw_system_is_autonomous(system) ? 1 : 2,
                        .source = {F, F_t},
                        .force_only = {false, system->second_order},
                        .tolerance = integrator->options.phi.tolerance,
                        .slot = SLOT_SLOPE};
}

/* Adds theta h phi_1 F + (theta h)^2 phi_2 F_t to a row. */
static void add_slope(const tw_integrator *integrator, tw_phi_sum *sum, int row, double theta)
{
    double t = theta * sum->h;
    tw_phi_sum_add(sum, row, 0, 1, theta, t);
    if (!tw_system_is_autonomous(&integrator->system)) tw_phi_sum_add(sum, row, 1, 2, theta, t * t);
}

/* Appends a remainder to the sources; its number. */
static int add_remainder(const tw_integrator *integrator, tw_phi_sum *sum, const double *remainder)
{
    sum->source[sum->source_count] = remainder;
    sum->force_only[sum->source_count] = integrator->system.second_order;
    return sum->source_count++;
}

/* A sum with the source r_1 (0) and one row, into `out`. */
static tw_phi_sum end_sum(const tw_integrator *integrator, double h, double *out)
{
    const expmid4_memory *memory = integrator->memory;
    tw_phi_sum sum = {.h = h,
                      .row_count = 1,
                      .row = {out},
                      .tolerance = integrator->options.phi.tolerance,
                      .slot = SLOT_END};
    add_remainder(integrator, &sum, memory->r1);
    return sum;
}

/* ---- the step ---- */

/* u_m by exprb42 over h/2 with J at u_n: a stage at 3/8 h, its remainder D, then
 * u_m = u_n + h/2 phi_1 F_n + (h/2)^2 phi_2 F_t + h/2 32/9 phi_3 D, phi_k of h/2 J. */
static tw_status find_middle(tw_integrator *integrator, expmid4_memory *memory, double h,
                             tw_error *error)
{
    tw_system *system = &integrator->system;
    int64_t size = system->size;
    double t_stage = integrator->t + stage_node * h;
    TW_TRY(linearise(integrator, integrator->t, integrator->u, integrator->F));

    /* The linear parts of the stage and of the midpoint. */
    tw_phi_sum sum = slope_sum(integrator, h, integrator->F);
    sum.row_count = 2;
    sum.row[0] = memory->base;
    sum.row[1] = memory->half;
    add_slope(integrator, &sum, 0, stage_node);
    add_slope(integrator, &sum, 1, 0.5);
    TW_TRY(tw_propagator_apply(memory->propagator, system, &sum, error));

    /* The stage and its remainder D, kept in r1. */
    tw_vector_axpy(size, 1.0, integrator->u, memory->base);
    TW_TRY(tw_system_rhs(system, t_stage, memory->base, memory->F_middle));
    tw_sloped_state start = {integrator->u, integrator->F};
    tw_sloped_state stage = {memory->base, memory->F_middle};
    TW_TRY(find_remainder(integrator, &start, stage_node * h, &stage, memory->r1));

    /* u_m = u_n + linear part + correction */
    tw_phi_sum correction = end_sum(integrator, h, memory->middle);
    tw_phi_sum_add(&correction, 0, 0, 3, 0.5, 0.5 * h * 32.0 / 9.0);

    tw_status status = tw_propagator_apply(memory->propagator, system, &correction, error);
    tw_vector_axpy(size, 1.0, memory->half, memory->middle);
    tw_vector_axpy(size, 1.0, integrator->u, memory->middle);
    return status;
}

/* base = h phi_1 F_n + h^2 phi_2 F_t + h (-3 phi_2 + 4 phi_3) r_0 and
 * share = h (-phi_2 + 4 phi_3) r_0, from one basis. */
static tw_status first_pass(tw_integrator *integrator, expmid4_memory *memory, double h,
                            tw_error *error)
{
    tw_phi_sum sum = slope_sum(integrator, h, integrator->F);
    int r0 = add_remainder(integrator, &sum, memory->r0);
    sum.row_count = 2;
    sum.row[0] = memory->base;
    sum.row[1] = memory->share;

    /* Row 0 is base. */
    add_slope(integrator, &sum, 0, 1.0);
    tw_phi_sum_add(&sum, 0, r0, 2, 1.0, -3 * h);
    tw_phi_sum_add(&sum, 0, r0, 3, 1.0, 4 * h);

    /* Row 1 is share. */
    tw_phi_sum_add(&sum, 1, r0, 2, 1.0, -h);
    tw_phi_sum_add(&sum, 1, r0, 3, 1.0, 4 * h);
    return tw_propagator_apply(memory->propagator, &integrator->system, &sum, error);
}

/* share = h (-phi_2 + 4 phi_3) r_1 with r_1 at the present u_new. */
static tw_status next_pass(tw_integrator *integrator, expmid4_memory *memory, double h,
                           tw_error *error)
{
    tw_system *system = &integrator->system;

    /* Evaluate r_1 at the present end of the step. */
    double *F_end = memory->half;
    TW_TRY(tw_system_rhs(system, integrator->t + h, integrator->u_new, F_end));
    tw_sloped_state middle = {memory->middle, memory->F_middle};
    tw_sloped_state end = {integrator->u_new, F_end};
    TW_TRY(find_remainder(integrator, &middle, 0.5 * h, &end, memory->r1));

    /* share = h (-phi_2 + 4 phi_3) r_1 */
    tw_phi_sum sum = end_sum(integrator, h, memory->share);
    tw_phi_sum_add(&sum, 0, 0, 2, 1.0, -h);
    tw_phi_sum_add(&sum, 0, 0, 3, 1.0, 4 * h);
    return tw_propagator_apply(memory->propagator, system, &sum, error);
}

/* u_new = u_n + base + share */
static void take_result(tw_integrator *integrator, const expmid4_memory *memory)
{
    int64_t size = integrator->system.size;

    tw_vector_copy(size, integrator->u, integrator->u_new);
    tw_vector_axpy(size, 1.0, memory->base, integrator->u_new);
    tw_vector_axpy(size, 1.0, memory->share, integrator->u_new);
}

static tw_status expmid4_attempt(tw_integrator *integrator, double h, tw_error *error)
{
    expmid4_memory *memory = integrator->memory;
    tw_system *system = &integrator->system;
    double t_middle = integrator->t + 0.5 * h;
    integrator->counts.krylov_dimension = 0;
    integrator->counts.phi_error_estimate = 0;

    /* The midpoint, J there, and r_0. */
    TW_TRY(
        tw_propagator_note_rounding(memory->propagator, system, h, integrator->u, integrator->F));
    TW_TRY(find_middle(integrator, memory, h, error));
    TW_TRY(tw_system_rhs(system, t_middle, memory->middle, memory->F_middle));
    TW_TRY(linearise(integrator, t_middle, memory->middle, memory->F_middle));
    tw_sloped_state middle = {memory->middle, memory->F_middle};
    tw_sloped_state start = {integrator->u, integrator->F};
    TW_TRY(find_remainder(integrator, &middle, -0.5 * h, &start, memory->r0));

    /* The first pass, with r_1 = r_0 (dense output reads r1). */
    TW_TRY(first_pass(integrator, memory, h, error));
    take_result(integrator, memory);
    tw_vector_copy(system->n, memory->r0, memory->r1);

    /* Further passes; the change made by the last one estimates the error. */
    for (int pass = 1; pass < integrator->options.expmid4.passes; pass++) {
        tw_vector_copy(system->size, integrator->u_new, integrator->error_vector);
        TW_TRY(next_pass(integrator, memory, h, error));
        take_result(integrator, memory);
        tw_vector_axpby(system->size, 1.0, integrator->u_new, -1.0, integrator->error_vector);
        integrator->has_error = true;
    }
    return TW_OK;
}

/* ---- dense output ---- */

/* Inside the step the parabola is not enough, because its odd part cancels only at the end. But
 * r' = 0 at the midpoint as well, so that with y = 2 s/h - 1
 *
 *   r = a y^2 + b y^3,  a = (r_0 + r_1)/2,  b = (r_1 - r_0)/2.
 *
 * Its coefficients of 1, s/h, (s/h)^2, (s/h)^3 are r_0, -5 r_0 + r_1, 8 r_0 - 4 r_1, 4 r_1 - 4 r_0;
 * the first is part of F_n. Up to theta, (s/h)^q contributes h q! theta^(q+1) phi_(q+1)(theta hJ).
 * u = u_n + the integral. `first`: it is the first call after a step. */
static tw_status model_at(tw_integrator *integrator, double h, double theta, bool first, double *u)
{
    expmid4_memory *memory = integrator->memory;
    tw_system *system = &integrator->system;

    /* h theta^2, h theta^3, h theta^4 */
    double h2 = h * theta * theta;
    double h3 = h2 * theta;
    double h4 = h3 * theta;

    /* u = u_n + what F_n, F_t and r_0 contribute. */
    tw_phi_sum sum = slope_sum(integrator, h, integrator->F_old);
    int r0 = add_remainder(integrator, &sum, memory->r0);
    sum.same_sources = tw_propagator_keeps_bases(memory->propagator);
    sum.row_count = 1;
    sum.row[0] = memory->work;
    add_slope(integrator, &sum, 0, theta);
    tw_phi_sum_add(&sum, 0, r0, 2, theta, -5 * h2);
    tw_phi_sum_add(&sum, 0, r0, 3, theta, 16 * h3);
    tw_phi_sum_add(&sum, 0, r0, 4, theta, -24 * h4);
    TW_TRY(tw_propagator_apply(memory->propagator, system, &sum, NULL));
    tw_vector_copy(system->size, integrator->u_old, u);
    tw_vector_axpy(system->size, 1.0, memory->work, u);

    /* u += what r_1 contributes. After one pass no basis of r_1 exists before the first call. */
    tw_phi_sum end = end_sum(integrator, h, memory->work);
    bool has_basis = !first || integrator->options.expmid4.passes > 1;
    end.same_sources = has_basis && sum.same_sources;
    tw_phi_sum_add(&end, 0, 0, 2, theta, h2);
    tw_phi_sum_add(&end, 0, 0, 3, theta, -8 * h3);
    tw_phi_sum_add(&end, 0, 0, 4, theta, 24 * h4);
    tw_status status = tw_propagator_apply(memory->propagator, system, &end, NULL);
    tw_vector_axpy(system->size, 1.0, memory->work, u);
    return status;
}

static tw_status expmid4_interpolate(tw_integrator *integrator, double theta, double *u)
{
    expmid4_memory *memory = integrator->memory;
    int64_t size = integrator->system.size;
    double h = integrator->step_taken;

    /* gap = end of the step - end of the model */
    if (!memory->gap_known) {
        tw_status status = model_at(integrator, h, 1.0, true, memory->gap);
        tw_vector_axpby(size, 1.0, integrator->u, -1.0, memory->gap);
        memory->gap_known = status == TW_OK;
        if (status) return status;
    }

    /* The gap is an error of order h^5; at theta it is taken as theta^4 of that. */
    TW_TRY(model_at(integrator, h, theta, false, u));
    tw_vector_axpy(size, theta * theta * theta * theta, memory->gap, u);
    return TW_OK;
}

static void expmid4_accepted(tw_integrator *integrator, double h)
{
    (void)h;
    expmid4_memory *memory = integrator->memory;
    memory->gap_known = false;
}

const tw_scheme_table tw_scheme_expmid4 = {.reserve = expmid4_reserve,
                                           .release = expmid4_release,
                                           .attempt = expmid4_attempt,
                                           .accepted = expmid4_accepted,
                                           .interpolate = expmid4_interpolate,
                                           .uses_rhs = true};
