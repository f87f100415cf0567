/* One stepper for every tableau of the exponential Rosenbrock / EPIRK class.
 *
 *   U_i = u_n + c_i h phi_1(c_i hJ) F_n + (c_i h)^2 phi_2(c_i hJ) F_t + h sum_j a_ij(hJ) D_j
 *   D_i = F(t_n + c_i h, U_i) - F_n - J (U_i - u_n) - c_i h F_t     (Luan & Michels 2022, 3.11)
 *   u_{n+1} = u_n + h phi_1(hJ) F_n + h^2 phi_2(hJ) F_t + h sum_i b_i(hJ) D_i
 *
 * etdrk4 (Krogstad's tableau) is the same stepper with a J that is fixed at the start: the tangent
 * there, or the problem's own linear part.
 *
 * D_i = (0, d_i) for second-order problems: one start vector each. The bases of (F_n, F_t) and of
 * the D_i are kept for the stages, the step, the estimate, dense output and a smaller step after
 * a rejection. */
#include <math.h>

#include "base/allocate.h"
#include "base/fail.h"
#include "integrators/exponential_rosenbrock.h"
#include "linalg/vector.h"

/* Phi-functions of the error estimate need no more than three digits, relative to the estimate. */
static const double estimate_tolerance = 1e-3;

/* Krogstad 2005: order four in the classical sense, not in the stiff one. It is not in tableaux.c
 * because its J is not F'(u_n). A term is {row, source, k, node, coefficient}. */
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

/* ---- memory ---- */

static tw_status choose_tableau(const tw_integrator *integrator, tw_tableau *out, tw_error *error)
{
    const tw_integrator_options *options = &integrator->options;
    const double *nodes = options->pexprb43.nodes;

    /* The user's own tableau is checked. */
    if (options->tableau) {
        *out = *options->tableau;
        return tw_tableau_check(out, NULL, error);
    }

    /* pexprb43 has free nodes. */
    if (options->scheme == TW_SCHEME_PEXPRB43)
        return tw_tableau_pexprb43(nodes[0], nodes[1], out, error);

    /* The other tableaux are constants. */
    if (options->scheme == TW_SCHEME_ETDRK4)
        *out = krogstad;
    else
        *out = *tw_tableau_by_name(tw_scheme_name(options->scheme));
    return TW_OK;
}

/* sum |coefficient| / k! over the terms of the step, since phi_k(0) = 1/k!; at least 1. */
static double amplification_of(const tw_tableau *tableau)
{
    double sum = 0;
    for (int i = 0; i < tableau->term_count; i++) {
        const tw_tableau_term *term = &tableau->terms[i];
        if (term->row == TW_ROW_STEP) sum += fabs(term->coefficient) / tgamma(term->k + 1.0);
    }
    return fmax(1.0, sum);
}

static tw_status allocate(tw_integrator *integrator, tw_rosenbrock *memory)
{
    size_t size = (size_t)integrator->system.size;
    size_t rows = (size_t)memory->rows;
    memory->storage = tw_allocate_zeroed((2 * rows + 7) * size + 2, sizeof(double));
    if (!memory->storage) return TW_OUT_OF_MEMORY;

    /* The vectors lie one after the other in the storage. */
    double *cursor = memory->storage;
    for (size_t i = 0; i < rows; i++, cursor += size) memory->linear[i] = cursor;
    for (size_t i = 0; i < rows; i++, cursor += size) memory->remainder[i] = cursor;
    memory->stage = cursor;
    memory->F_stage = cursor + size;
    memory->F_t = cursor + 2 * size;
    memory->work = cursor + 3 * size;
    memory->gap = cursor + 4 * size;
    memory->tally_way = cursor + 5 * size;
    memory->fixed_point = cursor + 6 * size; /* size + 2 entries */
    return TW_OK;
}

static tw_status rosenbrock_reserve(tw_integrator *integrator, tw_error *error)
{
    tw_rosenbrock *memory = TW_NEW(tw_rosenbrock);
    integrator->memory = memory;
    if (!memory) return tw_fail_plain(error, TW_OUT_OF_MEMORY);

    /* The method. */
    TW_TRY(choose_tableau(integrator, &memory->tableau, error));
    memory->rows = memory->tableau.stages + 1;
    memory->amplification = amplification_of(&memory->tableau);
    integrator->order = memory->tableau.order;
    integrator->error_order = memory->tableau.error_order;

    /* The linear part that etdrk4 holds fixed. */
    memory->fixed = integrator->options.scheme == TW_SCHEME_ETDRK4;
    if (memory->fixed) tw_system_use_linear_part(&integrator->system);

    /* Vectors, the factor that shift-invert needs, and the workspace of the phi-functions. */
    const tw_phi_options *phi = &integrator->options.phi;
    if (allocate(integrator, memory) != TW_OK) return tw_fail_plain(error, TW_OUT_OF_MEMORY);
    TW_TRY(tw_system_need_shifted_for_phi(&integrator->system, phi->engine, error));
    return tw_propagator_create(&integrator->system, phi, TW_SLOT_COUNT, &memory->propagator,
                                error);
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
    memory->linearised = false;
    memory->slope_kept = false;
    memory->points.count = 0;
    memory->fixed_point[integrator->system.size + 1] = 0;
}

/* ---- linearisation ---- */

/* Whether the linear model of the step has a term in F_t. */
static bool uses_time_derivative(const tw_integrator *integrator)
{
    const tw_rosenbrock *memory = integrator->memory;
    return !memory->fixed && !tw_system_is_autonomous(&integrator->system);
}

/* J at the start, or at the point that came through restore. */
static tw_status linearise_once(tw_integrator *integrator, tw_rosenbrock *memory)
{
    tw_system *system = &integrator->system;
    double *point = memory->fixed_point;
    double *point_time = point + system->size;
    double *point_known = point + system->size + 1;

    /* J is the same in every step, but F changes: its basis cannot be used again. */
    memory->slope_kept = false;
    if (memory->linearised) return TW_OK;

    /* The first step fixes the point. */
    if (*point_known == 0) {
        tw_vector_copy(system->size, integrator->u, point);
        *point_time = integrator->t;
        *point_known = 1;
    }

    tw_status status = tw_system_linearise_for_phi(system, *point_time, point, NULL);
    memory->linearised = status == TW_OK;
    return status;
}

/* J and F_t at (t_n, u_n). */
static tw_status linearise(tw_integrator *integrator, tw_rosenbrock *memory)
{
    if (memory->fixed) return linearise_once(integrator, memory);

    /* A smaller step from the same point has the same J and F_t. */
    if (integrator->retry && memory->linearised) return TW_OK;

    tw_system *system = &integrator->system;
    memory->slope_kept = false;
    memory->linearised = false;
    TW_TRY(tw_system_linearise_for_phi(system, integrator->t, integrator->u, integrator->F));
    if (uses_time_derivative(integrator))
        TW_TRY(tw_system_time_derivative(system, integrator->t, integrator->u, memory->F_t));
    memory->linearised = true;
    return TW_OK;
}

/* ---- the linear part: what F_n and F_t contribute ---- */

/* Whether the bases of a step are used for the step alone. Fixed steps are never repeated with
 * another h. If the output times were announced, the points there are computed together with the
 * step. Then an engine that keeps no basis does as well. */
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
    const double *F_t = system->second_order ? memory->F_t + system->n : memory->F_t;
    return (tw_phi_sum){.h = h,
                        .source_count = uses_time_derivative(integrator) ? 2 : 1,
                        .source = {F, F_t},
                        .force_only = {false, system->second_order},
                        .tolerance = integrator->options.phi.tolerance / memory->amplification,
                        .slot = TW_SLOT_SLOPE,
                        .single_use = bases_serve_once(integrator),
                        .same_sources = memory->slope_kept};
}

/* step_norm = norms of the x- and the v-part of the step's linear part. */
static tw_status measure_step(const tw_integrator *integrator, tw_rosenbrock *memory)
{
    const double *mass = integrator->system.second.lumped_mass;
    const double *step = memory->linear[memory->rows - 1];
    double *norm = memory->step_norm;
    tw_space space = integrator->system.jacobian.space;
    space.local_size = integrator->system.n;

    /* The squares first: norm[0] = |x|^2 (first order: |u|^2), norm[1] = |v|^2. */
    tw_status status = tw_vector_weighted_dot(&space, mass, step, step, &norm[0]);
    if (status == TW_OK && integrator->system.second_order) {
        const double *v = step + space.local_size;
        status = tw_vector_weighted_dot(&space, mass, v, v, &norm[1]);
    }

    norm[0] = sqrt(norm[0]);
    norm[1] = sqrt(norm[1]);
    return status;
}

/* The linear part of every stage, of the step and of the points inside it, from one basis. */
static tw_status linear_parts(tw_integrator *integrator, tw_rosenbrock *memory, double h,
                              tw_error *error)
{
    /* The sum has a row per stage and one for the step. */
    tw_phi_sum sum = tw_rosenbrock_linear_sum(integrator, memory, h, integrator->F);
    sum.row_count = memory->rows;
    for (int i = 0; i < memory->rows; i++) {
        double theta = i < memory->tableau.stages ? memory->tableau.c[i] : 1.0;
        sum.row[i] = memory->linear[i];
        tw_rosenbrock_add_linear_row(integrator, &sum, i, theta);
    }
    tw_rosenbrock_add_linear_points(integrator, memory, &sum);
    tw_rosenbrock_add_linear_tally(integrator, &sum);

    /* One basis serves them all. */
    tw_status status = tw_propagator_apply(memory->propagator, &integrator->system, &sum, error);
    memory->slope_kept = status == TW_OK && tw_propagator_keeps_bases(memory->propagator);

    /* Points inside the step that cannot be trusted are dropped; interpolate computes them anew. */
    if (!tw_propagator_made_incidental(memory->propagator)) memory->points.count = 0;
    if (status == TW_OK) tw_rosenbrock_finish_linear_tally(integrator, h);
    return status ? status : measure_step(integrator, memory);
}

/* ---- the remainders ---- */

int tw_rosenbrock_source(const tw_integrator *integrator, const tw_rosenbrock *memory,
                         tw_phi_sum *sum, int which)
{
    /* The remainder may be a source already. */
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

        /* Find the source of the term. */
        int which = term->source == TW_SOURCE_END ? memory->tableau.stages : term->source;
        int source = tw_rosenbrock_source(integrator, memory, sum, which);

        /* phi_k(z) weighs the part s^(k-1)/(k-1)! of the remainder; up to theta that becomes
         * theta^k phi_k(theta z). */
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
                      .reference = {{memory->step_norm[0], memory->step_norm[1]}},
                      .single_use = bases_serve_once(integrator)};
    tw_rosenbrock_add_tableau_row(integrator, memory, &sum, 0, row, theta);
    return sum;
}

tw_linear_model tw_rosenbrock_model(const tw_integrator *integrator, const double *u_n,
                                    const double *F_n)
{
    const tw_rosenbrock *memory = integrator->memory;
    const double *F_t = uses_time_derivative(integrator) ? memory->F_t : NULL;
    return (tw_linear_model){.u = u_n, .F = F_n, .F_t = F_t};
}

/* D at the state U, c h after u_n. F_stage receives F(U). */
static tw_status find_remainder(tw_integrator *integrator, double h, double c, const double *U,
                                double *remainder)
{
    const tw_rosenbrock *memory = integrator->memory;
    TW_TRY(tw_system_rhs(&integrator->system, integrator->t + c * h, U, memory->F_stage));

    tw_linear_model model = tw_rosenbrock_model(integrator, integrator->u, integrator->F);
    tw_sloped_state state = {U, memory->F_stage};
    double *const scratch[2] = {memory->work, integrator->error_vector};
    return tw_system_remainder(&integrator->system, &model, c * h, &state, scratch, remainder);
}

bool tw_rosenbrock_has_terms(const tw_tableau *tableau, int row)
{
    for (int i = 0; i < tableau->term_count; i++)
        if (tableau->terms[i].row == row) return true;
    return false;
}

/* target += h sum of the row's terms on the remainders. */
static tw_status add_remainders(tw_integrator *integrator, double h, int row, double *target,
                                tw_error *error)
{
    tw_rosenbrock *memory = integrator->memory;
    if (!tw_rosenbrock_has_terms(&memory->tableau, row)) return TW_OK;

    tw_phi_sum sum = tw_rosenbrock_remainder_sum(integrator, memory, h, row, 1.0, memory->work);
    if (row == TW_ROW_STEP) {
        tw_rosenbrock_add_remainder_points(integrator, memory, &sum);
        tw_rosenbrock_add_remainder_tally(integrator, &sum);
    }

    tw_status status = tw_propagator_apply(memory->propagator, &integrator->system, &sum, error);
    if (!tw_propagator_made_incidental(memory->propagator)) memory->points.count = 0;
    if (status == TW_OK && row == TW_ROW_STEP) tw_rosenbrock_finish_remainder_tally(integrator, h);

    tw_vector_axpy(integrator->system.size, 1.0, memory->work, target);
    return status;
}

/* ---- the step ---- */

/* U_i and D_i, one stage after the other. */
static tw_status find_stages(tw_integrator *integrator, double h, tw_error *error)
{
    tw_rosenbrock *memory = integrator->memory;
    int64_t size = integrator->system.size;
    for (int i = 0; i < memory->tableau.stages; i++) {
        /* U_i = u_n + linear part + what earlier remainders contribute. */
        tw_vector_copy(size, integrator->u, memory->stage);
        tw_vector_axpy(size, 1.0, memory->linear[i], memory->stage);
        TW_TRY(add_remainders(integrator, h, i, memory->stage, error));

        /* D_i = F(U_i) - F_n - J (U_i - u_n) - c_i h F_t */
        TW_TRY(find_remainder(integrator, h, memory->tableau.c[i], memory->stage,
                              memory->remainder[i]));
        TW_TRY(tw_rosenbrock_note_tally(integrator, i, memory->stage));
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

/* error_vector = h sum of the terms of the row ERROR. */
static tw_status estimate(tw_integrator *integrator, double h, tw_error *error)
{
    tw_rosenbrock *memory = integrator->memory;
    const tw_tableau *tableau = &memory->tableau;
    if (integrator->options.relative_tolerance == 0 || tableau->error_order == 0) return TW_OK;

    /* Some estimates use the remainder at the end of the step. */
    if (error_needs_end(tableau))
        TW_TRY(find_remainder(integrator, h, 1.0, integrator->u_new,
                              memory->remainder[tableau->stages]));

    /* The tolerance refers to the estimate itself (reference 0), not to the step. */
    tw_phi_sum sum = tw_rosenbrock_remainder_sum(integrator, memory, h, TW_ROW_ERROR, 1.0,
                                                 integrator->error_vector);
    sum.tolerance = fmax(sum.tolerance, estimate_tolerance);
    sum.reference[0][0] = 0;
    sum.reference[0][1] = 0;
    sum.slot = TW_SLOT_ESTIMATE;

    tw_status status = tw_propagator_apply(memory->propagator, &integrator->system, &sum, error);
    integrator->has_error = status == TW_OK;
    return status;
}

static tw_status rosenbrock_attempt(tw_integrator *integrator, double h, tw_error *error)
{
    tw_rosenbrock *memory = integrator->memory;
    int64_t size = integrator->system.size;
    integrator->counts.krylov_dimension = 0;
    integrator->counts.phi_error_estimate = 0;

    /* J, F_t, the linear parts, and the stages with their remainders. */
    tw_rosenbrock_choose_points(integrator, h);
    TW_TRY(linearise(integrator, memory));
    TW_TRY(tw_propagator_note_rounding(memory->propagator, &integrator->system, h, integrator->u,
                                       integrator->F));
    TW_TRY(linear_parts(integrator, memory, h, error));
    TW_TRY(find_stages(integrator, h, error));

    /* u_{n+1} = u_n + linear part + what the remainders contribute. */
    tw_vector_copy(size, integrator->u, integrator->u_new);
    tw_vector_axpy(size, 1.0, memory->linear[memory->rows - 1], integrator->u_new);
    TW_TRY(add_remainders(integrator, h, TW_ROW_STEP, integrator->u_new, error));
    return estimate(integrator, h, error);
}

/* The bases of the accepted step stay for dense output; the next attempt linearises anew. */
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

static tw_status rosenbrock_restored(tw_integrator *integrator)
{
    tw_rosenbrock *memory = integrator->memory;
    bool known = memory->fixed_point[integrator->system.size + 1] != 0;
    return memory->fixed && known ? linearise_once(integrator, memory) : TW_OK;
}

const tw_scheme_table tw_scheme_rosenbrock = {.reserve = rosenbrock_reserve,
                                              .release = rosenbrock_release,
                                              .reset = rosenbrock_reset,
                                              .allows_impulses = true,
                                              .attempt = rosenbrock_attempt,
                                              .accepted = rosenbrock_accepted,
                                              .expect = tw_rosenbrock_expect,
                                              .interpolate = tw_rosenbrock_interpolate,
                                              .history = rosenbrock_history,
                                              .restored = rosenbrock_restored,
                                              .uses_rhs = true};
