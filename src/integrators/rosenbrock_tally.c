/* Sums beside the state (tally.c) by exponential Rosenbrock schemes.
 *
 * With p as one unknown more, J becomes [[J, 0], [w', 0]], w' = dw/dx, whose phi-functions have the last row
 *     phi_k: (d, d_p) -> d_p / k! + w' phi_{k+1}(hJ) h d.
 * The scheme of exponential_rosenbrock.c therefore gives
 *     p_{n+1} = p_n + h w_n + w' h^2 phi_2(hJ) F_n + h sum b_ik (d_i / k! + w' h phi_{k+1}(hJ) D_i),
 *     d_i = w(U_i) - w_n - w' (U_i - u_n). */
#include <math.h>

#include "base/fail.h"
#include "integrators/exponential_rosenbrock.h"
#include "linalg/vector.h"

/* Whether w' is not zero at the last linearisation. */
static bool has_tangent(const tw_integrator *integrator)
{
    const tw_second_order_problem *problem = &integrator->system.second;
    return problem->tally.tangent(problem->context, NULL, NULL);
}

bool tw_rosenbrock_tallies(const tw_integrator *integrator)
{
    const tw_rosenbrock *memory = integrator->memory;
    bool follows_time = memory->fixed || tw_system_is_autonomous(&integrator->system);
    return tw_tally_is_wanted(integrator) && follows_time;
}

tw_status tw_rosenbrock_note_tally(tw_integrator *integrator, int stage, const double *U)
{
    tw_rosenbrock *memory = integrator->memory;
    double *d = memory->tally_remainder[stage];
    double slope[3] = {0.0, 0.0, 0.0};
    if (!tw_rosenbrock_tallies(integrator)) return TW_OK;

    /* d_i = w(U_i) - w_n - w' (U_i - u_n) */
    TW_TRY(tw_tally_rates(integrator, integrator->t, NULL, d));
    if (has_tangent(integrator)) {
        const tw_second_order_problem *problem = &integrator->system.second;
        tw_vector_add_scaled(integrator->system.n, U, -1.0, integrator->u, memory->tally_way);
        problem->tally.tangent(problem->context, memory->tally_way, slope);
    }
    for (int k = 0; k < 3; k++) d[k] -= integrator->F_tally[k] + slope[k];
    return TW_OK;
}

/* Adds an empty row into memory->tally_way. Its tolerance refers to that of the step, times h. */
static int add_row(const tw_rosenbrock *memory, tw_phi_sum *sum)
{
    int row = sum->row_count++;
    sum->row[row] = memory->tally_way;
    for (int k = 0; k < 2; k++) sum->reference[row][k] = sum->h * memory->step_norm[k];
    return row;
}

void tw_rosenbrock_add_linear_tally(const tw_integrator *integrator, tw_phi_sum *sum)
{
    const tw_rosenbrock *memory = integrator->memory;
    if (!tw_rosenbrock_tallies(integrator) || !has_tangent(integrator)) return;

    /* h^2 phi_2(hJ) F_n. The norm of this step is not known yet. */
    int row = add_row(memory, sum);
    sum->reference[row][0] = 0.0;
    sum->reference[row][1] = 0.0;
    tw_phi_sum_add(sum, row, 0, 2, 1.0, sum->h * sum->h);
}

void tw_rosenbrock_finish_linear_tally(tw_integrator *integrator, double h)
{
    const tw_rosenbrock *memory = integrator->memory;
    if (!tw_rosenbrock_tallies(integrator)) return;

    /* h w_n + w' h^2 phi_2(hJ) F_n */
    tw_tally_add(integrator, h, integrator->F_tally);
    tw_tally_add_tangent(integrator, memory->tally_way);
}

void tw_rosenbrock_add_remainder_tally(const tw_integrator *integrator, tw_phi_sum *sum)
{
    const tw_rosenbrock *memory = integrator->memory;
    if (!tw_rosenbrock_tallies(integrator) || !has_tangent(integrator)) return;

    /* h^2 sum b_ik phi_{k+1}(c hJ) c D_i */
    int row = add_row(memory, sum);
    for (int i = 0; i < memory->tableau.term_count; i++) {
        const tw_tableau_term *term = &memory->tableau.terms[i];
        if (term->row != TW_ROW_STEP) continue;
        int source = tw_rosenbrock_source(integrator, memory, sum, term->source);
        tw_phi_sum_add(sum, row, source, term->k + 1, term->node,
                       sum->h * sum->h * term->coefficient * term->node);
    }
}

void tw_rosenbrock_finish_remainder_tally(tw_integrator *integrator, double h)
{
    const tw_rosenbrock *memory = integrator->memory;
    if (!tw_rosenbrock_tallies(integrator)) return;

    /* h sum b_ik d_i / k!, and w' times the row. */
    for (int i = 0; i < memory->tableau.term_count; i++) {
        const tw_tableau_term *term = &memory->tableau.terms[i];
        if (term->row != TW_ROW_STEP) continue;
        double weight = h * term->coefficient / tgamma(term->k + 1.0);
        tw_tally_add(integrator, weight, memory->tally_remainder[term->source]);
    }
    tw_tally_add_tangent(integrator, memory->tally_way);
}
