/* Whether a fixed step of expmid2 costs less with factors or with products.
 *
 * With factors, Newton's systems are solved by Cholesky, and functions of A by shift-invert. The
 * cost does not depend on the stiffness. With products, they are solved by conjugate gradients and
 * by lanczos, and the number of products grows with h omega, omega the highest frequency. A sheet of
 * thousands of particles at h omega = 30 takes a tenth of the time with products; a stiff fibre at
 * h omega = 1e4 could not be computed with them. Costs are bytes moved, as in the cost model of
 * phi. */
#include "integrators/solver_choice.h"

#include <math.h>

#include "base/fail.h"
#include "phi/phi_internal.h"

/* Below this number of unknowns either way is fast. */
static const int64_t fewest_unknowns = 600;

/* Beyond this h omega the estimate of the highest frequency decides too much. */
static const double longest_reach = 100;

/* Products are taken where they cost less than this share of the factors: their number is a rough
 * estimate. */
static const double clear_advantage = 0.7;

/* Start vectors of the functions, and Newton iterations, of a step without corrections. Each
 * correction takes as many again. */
static const double start_count = 3;
static const double iteration_count = 4;

/* Lanczos takes products_per_reach * h omega * digits * (2.2 / cutoff) products for each start
 * vector, because the filter is as sharp as the cutoff. Measured on the flag (docs/scenes.md): 73,
 * 137 and 234 for 2, 3 and 5 digits at h omega = 30 and a cutoff of 2.2. */
static const double products_per_reach = 1.5;
static const double usual_cutoff = 2.2;

/* Conjugate gradients take about so many products for each unit of t omega, t = h/2. */
static const double products_per_solve = 1.5;

/* Shift-invert takes about so many solves for each start vector, and a step two factorisations. */
static const double solves_per_start = 30;
static const double factor_count = 2;

/* Vectors that a product or a solve moves besides its matrix. */
static const double vectors_per_product = 9.5;
static const double vectors_per_solve = 60;

/* Digits of the functions where the engine is chosen by expmid2 itself. */
static const double fewest_digits = 1;
static const double most_digits = 5;

static double bytes_with_products(const tw_system *system, const tw_integrator_options *options,
                                  double reach)
{
    double digits = fmin(fmax(-log10(options->phi.tolerance), fewest_digits), most_digits);
    double rounds = 1 + options->expmid2.corrections;
    double lanczos = start_count * products_per_reach * reach * digits * usual_cutoff /
                     options->expmid2.filter_cutoff;
    double newton = iteration_count * products_per_solve * reach / 2;

    double vectors = vectors_per_product * 8 * (double)system->n;
    double matrix = (double)tw_sparse_bytes_per_product(system->second.stiffness_matrix);
    return rounds * (lanczos + newton) * (matrix + vectors);
}

static double bytes_with_factors(const tw_system *system, const tw_integrator_options *options)
{
    const tw_shifted_solver *shifted = system->pair.shifted;
    double rounds = 1 + options->expmid2.corrections;
    double solves = rounds * (start_count * solves_per_start + iteration_count);
    double vectors = vectors_per_solve * 8 * (double)system->n;
    return factor_count * TW_FACTOR_FLOP_BYTES * shifted->factor_flops +
           solves * (shifted->solve_bytes + vectors);
}

/* Whether products may be the better choice at all: h omega is known and moderate, and nobody asks
 * for an engine. */
static bool may_use_products(const tw_system *system, const tw_integrator_options *options,
                             double reach)
{
    const tw_second_order_problem *p = &system->second;
    bool has_fixed_steps = options->relative_tolerance == 0 && options->step > 0;
    bool is_open = options->scheme == TW_SCHEME_EXPMID2 && options->phi.engine == TW_PHI_AUTO;
    return is_open && has_fixed_steps && system->second_order && p->stiffness_matrix &&
           p->lumped_mass && system->n >= fewest_unknowns && reach > 0 && reach <= longest_reach;
}

tw_status tw_choose_linear_solver(tw_system *system, const tw_integrator_options *options,
                                  tw_linear_solver *solver, tw_error *error)
{
    *solver = options->newton.linear_solver;
    if (*solver != TW_LINEAR_AUTO) return TW_OK;
    *solver = TW_LINEAR_CHOLESKY;

    double reach = options->step * sqrt(system->second.eigenvalue_estimate);
    if (!may_use_products(system, options, reach)) return TW_OK;

    /* What a factor costs is known once its pattern has been analysed. */
    TW_TRY(tw_system_need_shifted(system, error));
    double factors = bytes_with_factors(system, options);
    double products = bytes_with_products(system, options, reach);
    if (products > clear_advantage * factors) return TW_OK;

    *solver = TW_LINEAR_PCG;
    tw_system_drop_shifted(system);
    return TW_OK;
}
