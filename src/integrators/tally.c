/* Sums that the problem wants integrated beside its state, p' = w(t, x), such as the impulse on obstacles
 * (tw_tally in problem.h).
 *
 * p is one unknown more, on which nothing depends. Every scheme that is linear in the slopes therefore integrates it
 * with the weights of the velocity: p_{n+1} = p_n + sum_i b_i h w(U_i). A quantity that the equations keep, such as the
 * momentum of bodies and obstacles together, is kept to rounding then. Another rule would differ from the velocity by
 * the error of the scheme. */
#include "base/fail.h"
#include "integrators/integrator_internal.h"

bool tw_tally_is_wanted(const tw_integrator *integrator)
{
    return integrator->system.second_order && integrator->system.second.tally.rate;
}

void tw_tally_begin(tw_integrator *integrator)
{
    for (int k = 0; k < 3; k++) integrator->tally[k] = 0.0;
    integrator->tally_known = false;
}

tw_status tw_tally_rates(tw_integrator *integrator, double t, const double *x, double rates[3])
{
    for (int k = 0; k < 3; k++) rates[k] = 0.0;
    if (!tw_tally_is_wanted(integrator)) return TW_OK;
    const tw_second_order_problem *problem = &integrator->system.second;
    return problem->tally.rate(problem->context, t, x, rates);
}

tw_status tw_tally_note_F(tw_integrator *integrator)
{
    return tw_tally_rates(integrator, integrator->t, NULL, integrator->F_tally);
}

void tw_tally_add(tw_integrator *integrator, double weight, const double rates[3])
{
    for (int k = 0; k < 3; k++) integrator->tally[k] += weight * rates[k];
    integrator->tally_known = true;
}

tw_status tw_tally_add_last(tw_integrator *integrator, double weight)
{
    double rates[3];
    TW_TRY(tw_tally_rates(integrator, integrator->t, NULL, rates));
    tw_tally_add(integrator, weight, rates);
    return TW_OK;
}

void tw_tally_add_tangent(tw_integrator *integrator, const double *d)
{
    const tw_second_order_problem *problem = &integrator->system.second;
    double change[3];
    if (!tw_tally_is_wanted(integrator)) return;
    if (problem->tally.tangent(problem->context, d, change)) tw_tally_add(integrator, 1.0, change);
}

void tw_tally_hand_over(tw_integrator *integrator)
{
    if (!tw_tally_is_wanted(integrator)) return;
    const tw_second_order_problem *problem = &integrator->system.second;
    const double *gain = integrator->tally_known ? integrator->tally : NULL;
    problem->tally.take(problem->context, gain);
}
