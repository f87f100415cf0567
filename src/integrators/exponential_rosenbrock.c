/* One stepper for every tableau of the exponential Rosenbrock / EPIRK class.
 *
 *   U_i = u_n + c_i h phi_1(c_i hJ) F_n + (c_i h)^2 phi_2(c_i hJ) F_t + h sum_j a_ij(hJ) D_j
 *   D_i = F(t_n + c_i h, U_i) - F_n - J (U_i - u_n) - c_i h F_t          (Luan & Michels 2022, 3.11)
 *   u_{n+1} = u_n + h phi_1(hJ) F_n + h^2 phi_2(hJ) F_t + h sum_i b_i(hJ) D_i
 *
 * etdrk4 (Krogstad's tableau) is the same stepper with J held fixed since the start: its linear part, or the problem's
 * own.
 *
 * D_i = (0, d_i) for second-order problems: one start vector each. The bases of (F_n, F_t) and of the D_i are kept for
 * the stages, the step, the estimate, dense output and a retried smaller step. */
#include <math.h>

#include "base/allocate.h"
#include "base/fail.h"
#include "integrators/exponential_rosenbrock.h"
#include "linalg/vector.h"

/* Krogstad 2005: classical, not stiff, order four; not among the Rosenbrock tableaux because J is not F'(u_n). */
static const tw_tableau krogstad = {.name = "etdrk4",
                                    .order = 4,
                                    .stages = 3,
                                    .c = {0.5, 0.5, 1},
                                    .term_count = 8,
                                    .terms = {{1, 0, 2, 0.5, 1},
                                              {2, 1, 2, 1, 2},
                                              {TW_ROW_STEP, 0, 2, 1, 2},
                                              {TW_ROW_STEP, 0, 3, 1, -4},
                                              {TW_ROW_STEP, 1, 2, 1, 2},
                                              {TW_ROW_STEP, 1, 3, 1, -4},
                                              {TW_ROW_STEP, 2, 2, 1, -1},
                                              {TW_ROW_STEP, 2, 3, 1, 4}}};

static tw_status choose_tableau(const tw_integrator *integrator, tw_tableau *out, tw_error *error)
{
    const tw_integrator_options *options = &integrator->options;
    if (options->tableau) {
        *out = *options->tableau;
        return tw_tableau_check(out, NULL, error);
    }
    if (options->scheme == TW_SCHEME_PEXPRB43)
        return tw_tableau_pexprb43(options->pexprb43.nodes[0], options->pexprb43.nodes[1], out,
                                   error);
    *out = options->scheme == TW_SCHEME_ETDRK4
               ? krogstad
               : *tw_tableau_by_name(tw_scheme_name(options->scheme));
    return TW_OK;
}

static double amplification_of(const tw_tableau *tableau)
{
    double sum = 0;
    for (int i = 0; i < tableau->term_count; i++)
        if (tableau->terms[i].row == TW_ROW_STEP)
            sum += fabs(tableau->terms[i].coefficient) / tgamma(tableau->terms[i].k + 1.0);
    return fmax(1.0, sum);
}

static tw_status allocate(tw_integrator *integrator, tw_rosenbrock *memory)
{
    size_t size = (size_t)integrator->system.size, rows = (size_t)memory->rows;
    memory->storage = tw_allocate_zeroed((2 * rows + 6) * size + 2, sizeof(double));
    if (!memory->storage) return TW_OUT_OF_MEMORY;
    double *cursor = memory->storage;
    for (size_t i = 0; i < rows; i++, cursor += size) memory->linear[i] = cursor;
    for (size_t i = 0; i < rows; i++, cursor += size) memory->remainder[i] = cursor;
    memory->stage = cursor;
    memory->F_stage = cursor + size;
    memory->F_t = cursor + 2 * size;
    memory->work = cursor + 3 * size;
    memory->gap = cursor + 4 * size;
    memory->fixed_point = cursor + 5 * size;
    return TW_OK;
}

static tw_status rosenbrock_reserve(tw_integrator *integrator, tw_error *error)
{
    tw_rosenbrock *memory = integrator->memory = TW_NEW(tw_rosenbrock);
    if (!memory) return tw_fail_plain(error, TW_OUT_OF_MEMORY);
    tw_status status = choose_tableau(integrator, &memory->tableau, error);
    if (status) return status;
    memory->rows = memory->tableau.stages + 1;
    memory->fixed = integrator->options.scheme == TW_SCHEME_ETDRK4;
    if (memory->fixed) tw_system_use_linear_part(&integrator->system);
    memory->amplification = amplification_of(&memory->tableau);
    integrator->order = memory->tableau.order;
    integrator->error_order = memory->tableau.error_order;
    if (allocate(integrator, memory) != TW_OK) return tw_fail_plain(error, TW_OUT_OF_MEMORY);
    tw_phi_engine engine = integrator->options.phi.engine;
    if (engine == TW_PHI_SHIFT_INVERT ||
        (engine == TW_PHI_AUTO && integrator->system.second.stiffness_matrix &&
         !integrator->system.linear_part)) {
        status = tw_system_need_shifted(&integrator->system, error);
        if (status) return status;
    }
    return tw_propagator_create(&integrator->system, &integrator->options.phi, TW_SLOT_COUNT,
                                &memory->propagator, error);
}

static void rosenbrock_release(tw_integrator *integrator)
{
    tw_rosenbrock *memory = integrator->memory;
    if (!memory) return;
    tw_propagator_free(memory->propagator);
    tw_release(memory->points.storage);
    tw_release(memory->storage);
    tw_release(memory);
    integrator->memory = NULL;
}

static void rosenbrock_reset(tw_integrator *integrator)
{
    tw_rosenbrock *memory = integrator->memory;
    memory->linearised = memory->slope_kept = false;
    memory->points.count = 0;
    memory->fixed_point[integrator->system.size + 1] = 0;
}

/* Whether F_t is part of the model. */
static bool uses_time_derivative(const tw_integrator *integrator)
{
    const tw_rosenbrock *memory = integrator->memory;
    return !memory->fixed && !tw_system_is_autonomous(&integrator->system);
}

/* J at the start, or at the point that came through restore. */
static tw_status linearise_once(tw_integrator *integrator, tw_rosenbrock *memory)
{
    tw_system *system = &integrator->system;
    double *point = memory->fixed_point, *numbers = point + system->size;
    memory->slope_kept = false;
    if (memory->linearised) return TW_OK;
    if (numbers[1] == 0) {
        tw_vector_copy(system->size, integrator->u, point);
        numbers[0] = integrator->t;
        numbers[1] = 1;
    }
    tw_status status = tw_system_linearise(system, numbers[0], point, NULL);
    if (status == TW_OK && system->pair.shifted) status = tw_system_assemble(system);
    memory->linearised = status == TW_OK;
    return status;
}

static tw_status linearise(tw_integrator *integrator, tw_rosenbrock *memory)
{
    if (memory->fixed) return linearise_once(integrator, memory);
    if (integrator->retry && memory->linearised) return TW_OK;
    tw_system *system = &integrator->system;
    memory->slope_kept = false;
    tw_status status = tw_system_linearise(system, integrator->t, integrator->u, integrator->F);
    if (status == TW_OK && system->pair.shifted) status = tw_system_assemble(system);
    if (status == TW_OK && uses_time_derivative(integrator))
        status = tw_system_time_derivative(system, integrator->t, integrator->u, memory->F_t);
    memory->linearised = status == TW_OK;
    return status;
}

/* Steps of fixed length are not tried again, and whoever says which points inside them he wants gets those at once:
 * then an engine that keeps no basis is as good. */
static bool bases_serve_once(const tw_integrator *integrator)
{
    return integrator->options.relative_tolerance == 0 && integrator->expected_interval > 0 &&
           integrator->event_count == 0;
}

void tw_rosenbrock_add_linear_row(const tw_integrator *integrator, tw_phi_sum *sum, int row,
                                  double theta)
{
    double t = theta * sum->h;
    tw_phi_sum_add(sum, row, 0, 1, theta, t);
    if (uses_time_derivative(integrator)) tw_phi_sum_add(sum, row, 1, 2, theta, t * t);
}

tw_phi_sum tw_rosenbrock_linear_sum(const tw_integrator *integrator, const tw_rosenbrock *memory,
                                    double h, const double *F)
{
    const tw_system *system = &integrator->system;
    tw_phi_sum sum = {.h = h,
                      .source_count = uses_time_derivative(integrator) ? 2 : 1,
                      .source = {F, system->second_order ? memory->F_t + system->n : memory->F_t},
                      .force_only = {false, system->second_order},
                      .tolerance = integrator->options.phi.tolerance / memory->amplification,
                      .slot = TW_SLOT_SLOPE,
                      .single_use = bases_serve_once(integrator),
                      .same_sources = memory->slope_kept};
    return sum;
}

static tw_status measure_step(const tw_integrator *integrator, tw_rosenbrock *memory)
{
    tw_space space = integrator->system.jacobian.space;
    space.local_size = integrator->system.n;
    const double *step = memory->linear[memory->rows - 1];
    tw_status status = tw_vector_weighted_dot(&space, integrator->system.second.lumped_mass, step,
                                              step, &memory->step_size[0]);
    if (status == TW_OK && integrator->system.second_order)
        status = tw_vector_weighted_dot(&space, integrator->system.second.lumped_mass,
                                        step + space.local_size, step + space.local_size,
                                        &memory->step_size[1]);
    memory->step_size[0] = sqrt(memory->step_size[0]);
    memory->step_size[1] = sqrt(memory->step_size[1]);
    return status;
}

/* The part of every stage and of the step that F_n and F_t give: one basis. */
static tw_status linear_parts(tw_integrator *integrator, tw_rosenbrock *memory, double h,
                              tw_error *error)
{
    tw_phi_sum sum = tw_rosenbrock_linear_sum(integrator, memory, h, integrator->F);
    sum.row_count = memory->rows;
    for (int i = 0; i < memory->rows; i++) {
        sum.row[i] = memory->linear[i];
        tw_rosenbrock_add_linear_row(integrator, &sum, i,
                                     i < memory->tableau.stages ? memory->tableau.c[i] : 1.0);
    }
    tw_rosenbrock_add_linear_points(integrator, memory, &sum);
    tw_status status = tw_propagator_apply(memory->propagator, &integrator->system, &sum, error);
    memory->slope_kept = status == TW_OK && tw_propagator_keeps_bases(memory->propagator);
    if (!tw_propagator_made_incidental(memory->propagator)) memory->points.count = 0;
    return status ? status : measure_step(integrator, memory);
}

int tw_rosenbrock_source(const tw_integrator *integrator, const tw_rosenbrock *memory,
                         tw_phi_sum *sum, int which)
{
    for (int i = 0; i < sum->source_count; i++)
        if (sum->source[i] == memory->remainder[which]) return i;
    sum->source[sum->source_count] = memory->remainder[which];
    sum->force_only[sum->source_count] = integrator->system.second_order;
    return sum->source_count++;
}

void tw_rosenbrock_add_tableau_row(const tw_integrator *integrator, const tw_rosenbrock *memory,
                                   tw_phi_sum *sum, int sum_row, int row, double theta)
{
    for (int i = 0; i < memory->tableau.term_count; i++) {
        const tw_tableau_term *term = &memory->tableau.terms[i];
        if (term->row != row) continue;
        int which = term->source == TW_SOURCE_END ? memory->tableau.stages : term->source;
        int source = tw_rosenbrock_source(integrator, memory, sum, which);
        /* phi_k weighs the remainder's part s^(k-1)/(k-1)!: up to theta it is theta^k phi_k(theta z) */
        tw_phi_sum_add(sum, sum_row, source, term->k, theta * term->node,
                       sum->h * term->coefficient * pow(theta, term->k));
    }
}

tw_phi_sum tw_rosenbrock_remainder_sum(const tw_integrator *integrator, const tw_rosenbrock *memory,
                                       double h, int row, double theta, double *out)
{
    tw_phi_sum sum = {.h = h,
                      .row_count = 1,
                      .row = {out},
                      .tolerance = integrator->options.phi.tolerance,
                      .slot = TW_SLOT_REMAINDER,
                      .reference = {{memory->step_size[0], memory->step_size[1]}},
                      .single_use = bases_serve_once(integrator)};
    tw_rosenbrock_add_tableau_row(integrator, memory, &sum, 0, row, theta);
    return sum;
}

/* D = F_U - F_n - J (U - u_n) - dt F_t at U, dt after u_n. `product` is scratch. */
tw_status tw_rosenbrock_subtract_model(tw_integrator *integrator, tw_rosenbrock *memory, double dt,
                                       const double *u_n, const double *F_n, const double *U,
                                       const double *F_U, double *product, double *remainder)
{
    tw_system *system = &integrator->system;
    int64_t n = system->n, offset = system->second_order ? n : 0; /* the upper half of D is zero */
    tw_vector_copy(system->size, U, memory->work);
    tw_vector_axpy(system->size, -1.0, u_n, memory->work);
    tw_status status = tw_system_jacobian(system, memory->work, product);
    if (status) return status;
    tw_vector_copy(n, F_U + offset, remainder);
    tw_vector_axpy(n, -1.0, F_n + offset, remainder);
    tw_vector_axpy(n, -1.0, product + offset, remainder);
    if (uses_time_derivative(integrator)) tw_vector_axpy(n, -dt, memory->F_t + offset, remainder);
    return TW_OK;
}

/* D at U = `state`, c h after u_n; F there in F_stage. */
static tw_status find_remainder(tw_integrator *integrator, tw_rosenbrock *memory, double h,
                                double c, const double *state, double *remainder)
{
    tw_status status =
        tw_system_rhs(&integrator->system, integrator->t + c * h, state, memory->F_stage);
    return status ? status
                  : tw_rosenbrock_subtract_model(integrator, memory, c * h, integrator->u,
                                                 integrator->F, state, memory->F_stage,
                                                 integrator->error_vector, remainder);
}

bool tw_rosenbrock_has_terms(const tw_tableau *tableau, int row)
{
    for (int i = 0; i < tableau->term_count; i++)
        if (tableau->terms[i].row == row) return true;
    return false;
}

/* target += h sum of the row's terms on the remainders. */
static tw_status add_remainders(tw_integrator *integrator, tw_rosenbrock *memory, double h, int row,
                                double *target, tw_error *error)
{
    if (!tw_rosenbrock_has_terms(&memory->tableau, row)) return TW_OK;
    tw_phi_sum sum = tw_rosenbrock_remainder_sum(integrator, memory, h, row, 1.0, memory->work);
    if (row == TW_ROW_STEP) tw_rosenbrock_add_remainder_points(integrator, memory, &sum);
    tw_status status = tw_propagator_apply(memory->propagator, &integrator->system, &sum, error);
    if (!tw_propagator_made_incidental(memory->propagator)) memory->points.count = 0;
    tw_vector_axpy(integrator->system.size, 1.0, memory->work, target);
    return status;
}

static tw_status stages(tw_integrator *integrator, tw_rosenbrock *memory, double h, tw_error *error)
{
    int64_t size = integrator->system.size;
    for (int i = 0; i < memory->tableau.stages; i++) {
        tw_vector_copy(size, integrator->u, memory->stage);
        tw_vector_axpy(size, 1.0, memory->linear[i], memory->stage);
        tw_status status = add_remainders(integrator, memory, h, i, memory->stage, error);
        if (status == TW_OK)
            status = find_remainder(integrator, memory, h, memory->tableau.c[i], memory->stage,
                                    memory->remainder[i]);
        if (status) return status;
    }
    return TW_OK;
}

static bool error_needs_end(const tw_tableau *tableau)
{
    for (int i = 0; i < tableau->term_count; i++)
        if (tableau->terms[i].row == TW_ROW_ERROR && tableau->terms[i].source == TW_SOURCE_END)
            return true;
    return false;
}

static tw_status estimate(tw_integrator *integrator, tw_rosenbrock *memory, double h,
                          tw_error *error)
{
    if (integrator->options.relative_tolerance == 0 || memory->tableau.error_order == 0)
        return TW_OK;
    tw_status status = TW_OK;
    if (error_needs_end(&memory->tableau))
        status = find_remainder(integrator, memory, h, 1.0, integrator->u_new,
                                memory->remainder[memory->tableau.stages]);
    if (status) return status;
    tw_phi_sum sum = tw_rosenbrock_remainder_sum(integrator, memory, h, TW_ROW_ERROR, 1.0,
                                                 integrator->error_vector);
    sum.tolerance = fmax(sum.tolerance, 1e-3);     /* three digits of an error are plenty ... */
    sum.reference[0][0] = sum.reference[0][1] = 0; /* ... but three digits of it, not of the step */
    sum.slot = TW_SLOT_ESTIMATE;
    status = tw_propagator_apply(memory->propagator, &integrator->system, &sum, error);
    integrator->has_error = status == TW_OK;
    return status;
}

static tw_status rosenbrock_attempt(tw_integrator *integrator, double h, tw_error *error)
{
    tw_rosenbrock *memory = integrator->memory;
    integrator->counts.krylov_dimension = 0;
    integrator->counts.phi_error_estimate = 0;
    tw_rosenbrock_choose_points(integrator, h);
    tw_status status = linearise(integrator, memory);
    if (status == TW_OK) status = linear_parts(integrator, memory, h, error);
    if (status == TW_OK) status = stages(integrator, memory, h, error);
    if (status) return status;
    tw_vector_copy(integrator->system.size, integrator->u, integrator->u_new);
    tw_vector_axpy(integrator->system.size, 1.0, memory->linear[memory->rows - 1],
                   integrator->u_new);
    status = add_remainders(integrator, memory, h, TW_ROW_STEP, integrator->u_new, error);
    return status ? status : estimate(integrator, memory, h, error);
}

/* The basis of the accepted step stays for dense output; the next attempt linearises anew. */
static void rosenbrock_accepted(tw_integrator *integrator, double h)
{
    (void)h;
    tw_rosenbrock *memory = integrator->memory;
    memory->dense_ready = false;
    if (!memory->fixed) memory->linearised = false;
}

static size_t rosenbrock_history(tw_integrator *integrator, double **values)
{
    tw_rosenbrock *memory = integrator->memory;
    *values = memory->fixed_point;
    return memory->fixed ? (size_t)integrator->system.size + 2 : 0;
}

const tw_scheme_table tw_scheme_rosenbrock = {.reserve = rosenbrock_reserve,
                                              .release = rosenbrock_release,
                                              .reset = rosenbrock_reset,
                                              .attempt = rosenbrock_attempt,
                                              .accepted = rosenbrock_accepted,
                                              .expect = tw_rosenbrock_expect,
                                              .interpolate = tw_rosenbrock_interpolate,
                                              .history = rosenbrock_history,
                                              .uses_rhs = true};
