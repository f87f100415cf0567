/* J, K and D of a problem at a point, and the matrix M + gamma K that is factorised.
 *
 * A product with K comes from the first of these that the problem has: the constant linear part or
 * the symmetric stand-in (where a scheme asked for them), apply_stiffness, the assembled matrix,
 * finite differences of the acceleration. */
#include "base/fail.h"
#include "base/log_line.h"
#include "integrators/system.h"
#include "linalg/vector.h"

/* ---- products ---- */

tw_status tw_system_stiffness(tw_system *system, int count, const double *in, double *out)
{
    const tw_second_order_problem *p = &system->second;
    TW_TRY(tw_system_ask_to_go_on(system));
    system->counts->stiffness_products += count;

    /* Use the first way to a product that there is. */
    if (system->linear_part) return p->apply_linear_part(p->context, count, in, out);
    if (system->symmetric) return p->symmetric_part.apply(p->context, count, in, out);
    if (p->apply_stiffness) return p->apply_stiffness(p->context, count, in, out);
    if (!p->stiffness_matrix) return tw_system_stiffness_by_differences(system, count, in, out);

    TW_TRY(tw_system_assemble(system));
    return tw_sparse_apply(p->stiffness_matrix, count, in, out);
}

/* The lower half of J (x, v) is -M^-1 (K (x + beta v) + D v) - alpha v, the upper half is v. */
static tw_status second_order_jacobian(tw_system *system, const double *in, double *out)
{
    int64_t n = system->n;
    const double *x = in;
    const double *v = in + n;
    double alpha = system->pair.rayleigh_mass;
    double beta = system->pair.rayleigh_stiffness;
    double *moved = system->scratch + 2 * system->size;
    double *force = moved + n;
    double *damped = force + n;

    /* force = K (x + beta v) */
    tw_vector_copy(n, v, out);
    tw_vector_copy(n, x, moved);
    if (beta != 0) tw_vector_axpy(n, beta, v, moved);
    tw_status status = tw_system_stiffness(system, 1, moved, force);

    /* force += D v */
    if (status == TW_OK && system->pair.damping) {
        status = system->pair.damping->apply(system->pair.damping->context, 1, v, damped);
        tw_vector_axpy(n, 1.0, damped, force);
    }

    /* out_v = -M^-1 force - alpha v */
    if (status == TW_OK) status = tw_system_mass_solve(system, force, out + n);
    tw_vector_scale(n, -1.0, out + n);
    if (alpha != 0) tw_vector_axpy(n, -alpha, v, out + n);
    return status;
}

tw_status tw_system_jacobian(tw_system *system, const double *in, double *out)
{
    if (system->second_order) return second_order_jacobian(system, in, out);

    const tw_first_order_problem *p = &system->first;
    TW_TRY(tw_system_ask_to_go_on(system));
    system->counts->stiffness_products++;

    /* Use the first way to a product that there is. */
    if (p->jacobian_product) return p->jacobian_product(p->context, 1, in, out);
    if (!p->jacobian_matrix) return tw_system_jacobian_by_differences(system, in, out);

    TW_TRY(tw_system_assemble(system));
    return tw_sparse_apply(p->jacobian_matrix, 1, in, out);
}

tw_status tw_system_remainder(tw_system *system, const tw_linear_model *model, double dt,
                              const tw_sloped_state *state, double *const scratch[2],
                              double *remainder)
{
    /* product = J (u - u_0) */
    double *difference = scratch[0];
    double *product = scratch[1];
    tw_vector_copy(system->size, state->u, difference);
    tw_vector_axpy(system->size, -1.0, model->u, difference);
    TW_TRY(tw_system_jacobian(system, difference, product));

    /* remainder = F - F_0 - product - dt F_t, the lower half for second order. */
    int64_t n = system->n;
    int64_t offset = system->second_order ? n : 0;
    tw_vector_copy(n, state->F + offset, remainder);
    tw_vector_axpy(n, -1.0, model->F + offset, remainder);
    tw_vector_axpy(n, -1.0, product + offset, remainder);
    if (model->F_t) tw_vector_axpy(n, -dt, model->F_t + offset, remainder);
    return TW_OK;
}

/* ---- the products as operators for the phi-engines; their context is the system ---- */

static tw_status jacobian_callback(void *context, int count, const double *in, double *out)
{
    tw_system *system = context;
    for (int j = 0; j < count; j++)
        TW_TRY(tw_system_jacobian(system, in + j * system->size, out + j * system->size));
    return TW_OK;
}

static tw_status stiffness_callback(void *context, int count, const double *in, double *out)
{
    return tw_system_stiffness(context, count, in, out);
}

static tw_status damping_callback(void *context, int count, const double *in, double *out)
{
    tw_system *system = context;
    return system->second.apply_damping(system->second.context, count, in, out);
}

static tw_status damping_by_differences(void *context, int count, const double *in, double *out)
{
    return tw_system_damping_by_differences(context, count, in, out);
}

static void describe_damping(tw_system *system)
{
    const tw_second_order_problem *p = &system->second;

    /* Velocity dependence that is neither given nor of Rayleigh type is found by differences. */
    bool has_rayleigh = p->rayleigh_mass != 0 || p->rayleigh_stiffness != 0;
    bool unknown = p->velocity_dependent && !has_rayleigh;
    if (!p->apply_damping && !unknown) return;

    system->damping = (tw_operator){.space = p->space, .context = system};
    system->damping.apply = p->apply_damping ? damping_callback : damping_by_differences;
    system->pair.damping = &system->damping;
}

static void describe_second(tw_system *system)
{
    const tw_second_order_problem *p = &system->second;

    /* Describe K as an operator. */
    tw_operator stiffness = {.space = p->space,
                             .apply = stiffness_callback,
                             .context = system,
                             .symmetry = p->stiffness_is_general ? TW_GENERAL : TW_SYMMETRIC};
    if (p->stiffness_matrix)
        stiffness.bytes_per_product = tw_sparse_bytes_per_product(p->stiffness_matrix);

    /* Describe M, K and Rayleigh damping. */
    system->pair = (tw_second_order){.stiffness = stiffness,
                                     .lumped_mass = p->lumped_mass,
                                     .mass = p->mass,
                                     .rayleigh_mass = p->rayleigh_mass,
                                     .rayleigh_stiffness = p->rayleigh_stiffness,
                                     .eigenvalue_max = p->eigenvalue_max};
    system->mass = tw_mass_metric_of(&system->pair);

    /* Describe any other damping. */
    describe_damping(system);
    if (!p->apply_stiffness && !p->stiffness_matrix)
        tw_log_line(
            TW_LOG_INFO,
            "no stiffness product given: products by finite differences of the acceleration");
}

void tw_system_describe_operators(tw_system *system)
{
    if (system->second_order) describe_second(system);
    system->jacobian = (tw_operator){.apply = jacobian_callback, .context = system};

    /* J has the space of the problem. */
    if (system->second_order) {
        system->jacobian.space = system->second.space;
        system->jacobian.symmetry = TW_GENERAL;
    } else {
        system->jacobian.space = system->first.space;
        system->jacobian.symmetry = system->first.symmetry;
        if (system->first.jacobian_matrix)
            system->jacobian.bytes_per_product =
                tw_sparse_bytes_per_product(system->first.jacobian_matrix);
    }

    /* J acts on all of u. */
    system->jacobian.space.local_size = system->size;
}

/* ---- the point, and the matrix there ---- */

/* Remembers the point, to which finite differences refer, and F there if it is known. */
static void begin_linearisation(tw_system *system, double t, const double *u, const double *F)
{
    system->counts->linearisations++;
    system->linearisation++;
    system->linear_t = t;
    tw_vector_copy(system->size, u, system->linear_u);
    system->linear_f_known = F != NULL;
    if (F) tw_vector_copy(system->size, F, system->linear_f);
    system->matrix_filled = false;
}

tw_status tw_system_linearise_tension(tw_system *system, double t, const double *u,
                                      const double *tension, bool definite)
{
    const tw_second_order_problem *problem = &system->second;
    begin_linearisation(system, t, u, NULL);
    return problem->tension.linearise(problem->context, t, u, u + system->n, tension, definite);
}

tw_status tw_system_linearise(tw_system *system, double t, const double *u, const double *F)
{
    begin_linearisation(system, t, u, F);

    /* The problem may prepare its own tangent there. */
    const tw_second_order_problem *second = &system->second;
    const tw_first_order_problem *first = &system->first;
    if (system->second_order && second->linearise)
        return second->linearise(second->context, t, u, u + system->n);
    if (!system->second_order && first->linearise) return first->linearise(first->context, t, u);
    return TW_OK;
}

tw_status tw_system_linearise_for_phi(tw_system *system, double t, const double *u, const double *F)
{
    TW_TRY(tw_system_linearise(system, t, u, F));
    return system->pair.shifted ? tw_system_assemble(system) : TW_OK;
}

static tw_status assemble_second(tw_system *system)
{
    const tw_second_order_problem *p = &system->second;
    TW_TRY(p->assemble(p->context, p->stiffness_matrix));
    if (system->matrix_damping == 0) return TW_OK;
    return p->add_damping(p->context, system->matrix_damping, p->stiffness_matrix);
}

tw_status tw_system_assemble(tw_system *system)
{
    const tw_first_order_problem *first = &system->first;
    bool has_matrix = system->second_order ? system->second.stiffness_matrix != NULL
                                           : first->jacobian_matrix != NULL;
    if (!has_matrix) return TW_UNSUPPORTED;
    if (system->matrix_filled) return TW_OK;

    /* The values come from differences or from the problem. */
    system->single_filled = false;
    tw_status status = TW_OK;
    if (system->fill_by_differences)
        status = tw_system_fill_by_differences(system);
    else if (system->second_order)
        status = assemble_second(system);
    else
        status = first->assemble(first->context, first->jacobian_matrix);

    /* A factor of the old values is of no use any more. */
    if (system->shifted) tw_shifted_cholesky_invalidate(system->shifted);
    system->matrix_filled = status == TW_OK;
    return status;
}

/* ---- what a restored run must know ---- */

tw_linear_knowledge tw_system_knowledge(const tw_system *system)
{
    tw_linear_knowledge known = {.f_known = system->linear_f_known,
                                 .matrix_filled = system->matrix_filled};
    if (system->shifted) known.gamma = tw_shifted_cholesky_gamma(system->shifted);
    return known;
}

tw_status tw_system_learn(tw_system *system, const tw_linear_knowledge *known)
{
    if (known->f_known) TW_TRY(tw_system_need_linear_f(system));
    if (known->matrix_filled) TW_TRY(tw_system_assemble(system));
    if (!system->shifted || known->gamma == 0) return TW_OK;

    const tw_shifted_solver *shifted = system->pair.shifted;
    return shifted->factor(shifted->context, known->gamma);
}

/* ---- what K is, and its factor ---- */

void tw_system_use_linear_part(tw_system *system)
{
    system->linear_part = system->second_order && system->second.apply_linear_part != NULL;
}

void tw_system_use_symmetric_part(tw_system *system)
{
    const tw_symmetric_part *part = &system->second.symmetric_part;
    if (!system->second_order || !part->apply) return;

    /* It replaces K and all of D. */
    system->symmetric = true;
    system->pair.stiffness.symmetry = TW_SYMMETRIC;
    system->pair.damping = NULL;
    system->pair.rayleigh_mass = part->rayleigh_mass;
    system->pair.rayleigh_stiffness = part->rayleigh_stiffness;
}

tw_status tw_system_need_shifted(tw_system *system, tw_error *error)
{
    const tw_second_order_problem *p = &system->second;
    if (system->shifted) return TW_OK;

    /* Some problems have no matrix that could be factorised. */
    if (system->linear_part)
        return tw_fail(error, TW_UNSUPPORTED,
                       "the linear part is given as a product only: it cannot be factorised");
    if (!system->second_order)
        return tw_fail(error, TW_UNSUPPORTED,
                       "only a second-order problem has a stiffness_matrix to factorise");
    if (!p->stiffness_matrix) TW_TRY(tw_system_make_matrix(system, error));
    if (p->mass && !p->mass_matrix)
        return tw_fail(error, TW_UNSUPPORTED,
                       "a factorisation with consistent mass needs the assembled mass_matrix");

    /* The phi-engines find the solver in the operator. */
    TW_TRY(tw_shifted_cholesky_create(p->stiffness_matrix, p->mass_matrix, p->lumped_mass,
                                      &system->shifted, error));
    system->pair.shifted = tw_shifted_cholesky_view(system->shifted);
    return TW_OK;
}

tw_status tw_system_take_matrix(tw_system *system, tw_sparse *matrix, tw_error *error)
{
    if (matrix == system->second.stiffness_matrix) return TW_OK;
    if (system->fill_by_differences)
        return tw_fail(error, TW_UNSUPPORTED, "a pattern that changes needs an assemble function");

    system->second.stiffness_matrix = matrix;
    system->pair.stiffness.bytes_per_product = tw_sparse_bytes_per_product(matrix);
    system->matrix_filled = false;
    system->pattern++;
    if (system->wants_single) TW_TRY(tw_system_offer_single_products(system));

    /* A factor is analysed anew. */
    if (!system->shifted) return TW_OK;
    tw_system_drop_shifted(system);
    return tw_system_need_shifted(system, error);
}

void tw_system_drop_shifted(tw_system *system)
{
    tw_shifted_cholesky_free(system->shifted);
    system->shifted = NULL;
    system->pair.shifted = NULL;
}

tw_status tw_system_need_shifted_for_phi(tw_system *system, tw_phi_engine engine, tw_error *error)
{
    /* `auto` takes a factor into account where there can be one. */
    bool can_factorise = system->second.stiffness_matrix && !system->linear_part;
    bool needed = engine == TW_PHI_SHIFT_INVERT || (engine == TW_PHI_AUTO && can_factorise);
    return needed ? tw_system_need_shifted(system, error) : TW_OK;
}
