/* expmid4: linearise at the midpoint, start from u_n, model the remainder by a parabola (docs/schemes.md).
 *
 *   u_m     ~ u(t_n + h/2) by an exprb42 half step;   J = dF/du(u_m)
 *   r(u, t) = F(t, u) - F_m - J (u - u_m) - F_t (t - t_m),   r_0 = r(u_n), r_1 = r(u_{n+1}), r at the midpoint ~ 0
 *   u_{n+1} = u_n + h phi_1(hJ) F_n + h^2 phi_2(hJ) F_t + h phi_2(hJ) (-3 r_0 - r_1) + 2h phi_3(hJ) (2 r_0 + 2 r_1)
 *
 * First pass: r_1 = r_0. Each further pass evaluates r_1. The difference of the last two passes estimates the error. */
#include "base/allocate.h"
#include "base/fail.h"
#include "integrators/integrator_internal.h"
#include "integrators/propagator.h"
#include "linalg/vector.h"

enum { SLOT_SLOPE = 0, SLOT_END = 1, SLOT_COUNT = 2, VECTORS = 11 };

typedef struct expmid4_memory {
    tw_propagator *propagator;
    double *middle, *F_middle, *F_t; /* u_m, F_m, F_t at the midpoint */
    double *base,
        *share;      /* what F_n and r_0 give by themselves; what r_0 gives in the place of r_1 */
    double *r0, *r1; /* n entries (second order) or size */
    double *work, *product, *half;
    double *gap; /* what dense output's model lacks at the end of the step */
    bool gap_known;
    double *storage;
} expmid4_memory;

static tw_status expmid4_reserve(tw_integrator *integrator, tw_error *error)
{
    expmid4_memory *memory = integrator->memory = TW_NEW(expmid4_memory);
    if (!memory) return tw_fail_plain(error, TW_OUT_OF_MEMORY);
    int64_t size = integrator->system.size;
    memory->storage = TW_NEW_ARRAY(VECTORS * size, double);
    if (!memory->storage) return tw_fail_plain(error, TW_OUT_OF_MEMORY);
    double **vectors[VECTORS] = {&memory->middle,  &memory->F_middle, &memory->F_t, &memory->base,
                                 &memory->share,   &memory->r0,       &memory->r1,  &memory->work,
                                 &memory->product, &memory->half,     &memory->gap};
    for (int i = 0; i < VECTORS; i++) *vectors[i] = memory->storage + i * size;
    integrator->error_order = integrator->options.expmid4.passes > 1 ? 3 : 0;
    integrator->order = integrator->options.expmid4.passes > 1 ? 4 : 3;
    tw_phi_engine engine = integrator->options.phi.engine;
    if (engine == TW_PHI_SHIFT_INVERT ||
        (engine == TW_PHI_AUTO && integrator->system.second.stiffness_matrix)) {
        tw_status status = tw_system_need_shifted(&integrator->system, error);
        if (status) return status;
    }
    return tw_propagator_create(&integrator->system, &integrator->options.phi, SLOT_COUNT,
                                &memory->propagator, error);
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

static tw_status linearise(tw_integrator *integrator, expmid4_memory *memory, double t,
                           const double *u, const double *F)
{
    tw_system *system = &integrator->system;
    tw_status status = tw_system_linearise(system, t, u, F);
    if (status == TW_OK && system->pair.shifted) status = tw_system_assemble(system);
    if (status == TW_OK && !tw_system_is_autonomous(system))
        status = tw_system_time_derivative(system, t, u, memory->F_t);
    return status;
}

/* remainder = F - F_0 - J (u - u_0) - dt F_t at the current linearisation; second order: its lower half only. */
static tw_status find_remainder(tw_integrator *integrator, expmid4_memory *memory, const double *u,
                                const double *F, const double *u_0, const double *F_0, double dt,
                                double *remainder)
{
    tw_system *system = &integrator->system;
    int64_t n = system->n, offset = system->second_order ? n : 0;
    tw_vector_copy(system->size, u, memory->work);
    tw_vector_axpy(system->size, -1.0, u_0, memory->work);
    tw_status status = tw_system_jacobian(system, memory->work, memory->product);
    if (status) return status;
    tw_vector_copy(n, F + offset, remainder);
    tw_vector_axpy(n, -1.0, F_0 + offset, remainder);
    tw_vector_axpy(n, -1.0, memory->product + offset, remainder);
    if (!tw_system_is_autonomous(system)) tw_vector_axpy(n, -dt, memory->F_t + offset, remainder);
    return TW_OK;
}

/* Sources F and F_t (as source 1 of non-autonomous problems), of the linearisation in force. */
static tw_phi_sum slope_sum(const tw_integrator *integrator, const expmid4_memory *memory, double h,
                            const double *F)
{
    const tw_system *system = &integrator->system;
    bool autonomous = tw_system_is_autonomous(system);
    return (tw_phi_sum){.h = h,
                        .source_count = autonomous ? 1 : 2,
                        .source = {F, system->second_order ? memory->F_t + system->n : memory->F_t},
                        .force_only = {false, system->second_order},
                        .tolerance = integrator->options.phi.tolerance,
                        .slot = SLOT_SLOPE};
}

static void add_slope(const tw_integrator *integrator, tw_phi_sum *sum, int row, double theta)
{
    double t = theta * sum->h;
    tw_phi_sum_add(sum, row, 0, 1, theta, t);
    if (!tw_system_is_autonomous(&integrator->system)) tw_phi_sum_add(sum, row, 1, 2, theta, t * t);
}

static int add_force_source(const tw_integrator *integrator, tw_phi_sum *sum, const double *vector)
{
    sum->source[sum->source_count] = vector;
    sum->force_only[sum->source_count] = integrator->system.second_order;
    return sum->source_count++;
}

/* u_m by exprb42 over h/2 with J at u_n: stage at 3/8 h, then 32/9 phi_3 D. */
static tw_status find_middle(tw_integrator *integrator, expmid4_memory *memory, double h,
                             tw_error *error)
{
    tw_system *system = &integrator->system;
    int64_t size = system->size;
    tw_status status = linearise(integrator, memory, integrator->t, integrator->u, integrator->F);
    if (status) return status;
    tw_phi_sum sum = slope_sum(integrator, memory, h, integrator->F);
    sum.row_count = 2;
    sum.row[0] = memory->base;
    sum.row[1] = memory->half;
    add_slope(integrator, &sum, 0, 0.375);
    add_slope(integrator, &sum, 1, 0.5);
    status = tw_propagator_apply(memory->propagator, system, &sum, error);
    if (status) return status;
    tw_vector_axpy(size, 1.0, integrator->u, memory->base);
    status = tw_system_rhs(system, integrator->t + 0.375 * h, memory->base, memory->F_middle);
    if (status == TW_OK)
        status = find_remainder(integrator, memory, memory->base, memory->F_middle, integrator->u,
                                integrator->F, 0.375 * h, memory->r1);
    if (status) return status;
    tw_phi_sum correction = {.h = h,
                             .row_count = 1,
                             .row = {memory->middle},
                             .tolerance = sum.tolerance,
                             .slot = SLOT_END};
    add_force_source(integrator, &correction, memory->r1);
    tw_phi_sum_add(&correction, 0, 0, 3, 0.5, 0.5 * h * 32.0 / 9.0);
    status = tw_propagator_apply(memory->propagator, system, &correction, error);
    tw_vector_axpy(size, 1.0, memory->half, memory->middle);
    tw_vector_axpy(size, 1.0, integrator->u, memory->middle);
    return status;
}

/* base = h phi_1 F_n + h^2 phi_2 F_t + h (-3 phi_2 + 4 phi_3) r_0,  share = h (-phi_2 + 4 phi_3) r_0: one basis. */
static tw_status first_pass(tw_integrator *integrator, expmid4_memory *memory, double h,
                            tw_error *error)
{
    tw_phi_sum sum = slope_sum(integrator, memory, h, integrator->F);
    int r0 = add_force_source(integrator, &sum, memory->r0);
    sum.row_count = 2;
    sum.row[0] = memory->base;
    sum.row[1] = memory->share;
    add_slope(integrator, &sum, 0, 1.0);
    tw_phi_sum_add(&sum, 0, r0, 2, 1.0, -3 * h);
    tw_phi_sum_add(&sum, 0, r0, 3, 1.0, 4 * h);
    tw_phi_sum_add(&sum, 1, r0, 2, 1.0, -h);
    tw_phi_sum_add(&sum, 1, r0, 3, 1.0, 4 * h);
    return tw_propagator_apply(memory->propagator, &integrator->system, &sum, error);
}

/* share = h (-phi_2 + 4 phi_3) r_1 with r_1 at the present u_new. */
static tw_status next_pass(tw_integrator *integrator, expmid4_memory *memory, double h,
                           tw_error *error)
{
    tw_status status =
        tw_system_rhs(&integrator->system, integrator->t + h, integrator->u_new, memory->half);
    if (status == TW_OK)
        status = find_remainder(integrator, memory, integrator->u_new, memory->half, memory->middle,
                                memory->F_middle, 0.5 * h, memory->r1);
    if (status) return status;
    tw_phi_sum sum = {.h = h,
                      .row_count = 1,
                      .row = {memory->share},
                      .tolerance = integrator->options.phi.tolerance,
                      .slot = SLOT_END};
    int r1 = add_force_source(integrator, &sum, memory->r1);
    tw_phi_sum_add(&sum, 0, r1, 2, 1.0, -h);
    tw_phi_sum_add(&sum, 0, r1, 3, 1.0, 4 * h);
    return tw_propagator_apply(memory->propagator, &integrator->system, &sum, error);
}

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
    tw_status status = find_middle(integrator, memory, h, error);
    if (status == TW_OK) status = tw_system_rhs(system, t_middle, memory->middle, memory->F_middle);
    if (status == TW_OK)
        status = linearise(integrator, memory, t_middle, memory->middle, memory->F_middle);
    if (status == TW_OK)
        status = find_remainder(integrator, memory, integrator->u, integrator->F, memory->middle,
                                memory->F_middle, -0.5 * h, memory->r0);
    if (status == TW_OK) status = first_pass(integrator, memory, h, error);
    if (status) return status;
    take_result(integrator, memory);
    tw_vector_copy(system->n, memory->r0, memory->r1);
    if (!system->second_order) tw_vector_copy(system->size, memory->r0, memory->r1);
    for (int pass = 1; pass < integrator->options.expmid4.passes; pass++) {
        tw_vector_copy(system->size, integrator->u_new, integrator->error_vector);
        status = next_pass(integrator, memory, h, error);
        if (status) return status;
        take_result(integrator, memory);
        tw_vector_axpby(system->size, 1.0, integrator->u_new, -1.0, integrator->error_vector);
        integrator->has_error = true;
    }
    return TW_OK;
}

/* Inside the step the parabola is not enough: its odd part cancels only at the end. But r' = 0 at the midpoint, too:
 *   r = a y^2 + b y^3,  y = 2 s/h - 1,  a = (r_0 + r_1)/2,  b = (r_1 - r_0)/2
 * is in powers of s/h: r_0, -5 r_0 + r_1, 8 r_0 - 4 r_1, 4 r_1 - 4 r_0; the first is part of F_n. Up to theta, (s/h)^q
 * gives h q! theta^(q+1) phi_(q+1)(theta hJ). u = u_n + the integral. */
static tw_status model_at(tw_integrator *integrator, expmid4_memory *memory, double h, double theta,
                          bool first, double *u)
{
    double h2 = h * theta * theta, h3 = h2 * theta, h4 = h3 * theta;
    tw_phi_sum sum = slope_sum(integrator, memory, h, integrator->F_old);
    int r0 = add_force_source(integrator, &sum, memory->r0);
    sum.same_sources = tw_propagator_keeps_bases(memory->propagator);
    sum.row_count = 1;
    sum.row[0] = memory->work;
    add_slope(integrator, &sum, 0, theta);
    tw_phi_sum_add(&sum, 0, r0, 2, theta, -5 * h2);
    tw_phi_sum_add(&sum, 0, r0, 3, theta, 16 * h3);
    tw_phi_sum_add(&sum, 0, r0, 4, theta, -24 * h4);
    tw_status status = tw_propagator_apply(memory->propagator, &integrator->system, &sum, NULL);
    if (status) return status;
    tw_vector_copy(integrator->system.size, integrator->u_old, u);
    tw_vector_axpy(integrator->system.size, 1.0, memory->work, u);
    tw_phi_sum end = {.h = h,
                      .row_count = 1,
                      .row = {memory->work},
                      .tolerance = sum.tolerance,
                      .slot = SLOT_END};
    int r1 = add_force_source(integrator, &end, memory->r1);
    end.same_sources = (!first || integrator->options.expmid4.passes > 1) && sum.same_sources;
    tw_phi_sum_add(&end, 0, r1, 2, theta, h2);
    tw_phi_sum_add(&end, 0, r1, 3, theta, -8 * h3);
    tw_phi_sum_add(&end, 0, r1, 4, theta, 24 * h4);
    status = tw_propagator_apply(memory->propagator, &integrator->system, &end, NULL);
    tw_vector_axpy(integrator->system.size, 1.0, memory->work, u);
    return status;
}

static tw_status expmid4_interpolate(tw_integrator *integrator, double theta, double *u)
{
    expmid4_memory *memory = integrator->memory;
    int64_t size = integrator->system.size;
    double h = integrator->step_taken;
    tw_status status = TW_OK;
    if (!memory->gap_known) {
        status = model_at(integrator, memory, h, 1.0, true, memory->gap);
        tw_vector_axpby(size, 1.0, integrator->u, -1.0, memory->gap);
        memory->gap_known = status == TW_OK;
    }
    if (status == TW_OK) status = model_at(integrator, memory, h, theta, false, u);
    if (status == TW_OK) tw_vector_axpy(size, theta * theta * theta * theta, memory->gap, u);
    return status;
}

static void expmid4_accepted(tw_integrator *integrator, double h)
{
    (void)h;
    ((expmid4_memory *)integrator->memory)->gap_known = false;
}

const tw_scheme_table tw_scheme_expmid4 = {.reserve = expmid4_reserve,
                                           .release = expmid4_release,
                                           .attempt = expmid4_attempt,
                                           .accepted = expmid4_accepted,
                                           .interpolate = expmid4_interpolate,
                                           .uses_rhs = true};
