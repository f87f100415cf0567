/* Sums beside the state (tally.c) by expmid2.
 *
 * p' = w(x), such as the impulse on obstacles. Let e be a direction in which all particles move alike and w = -e.f the
 * push of the bodies on the obstacles. Inside the bodies forces cancel, so that e.K = w', the derivative of w. A step has
 * v_{n+1} = sum_i f_i(A) z_i with the start vectors z_i = v_n, a_m, c, and A = M^-1 K. Therefore
 *     e.M f(A) z = f(0) e.M z + w' g(A) z,     g(lambda) = (f(lambda) - f(0)) / lambda,
 * and since f(0) is 1, h and 0 for these start vectors, the momentum changes by
 *     e.M (v_{n+1} - v_n) = h e.f(x_m) + w' sum_i g_i(A) z_i.
 * So p gains h w(x_m) - w' sum_i g_i(A) z_i: the same as if p were an unknown of the linear model. What differs from the
 * momentum of the bodies is the tolerance of Newton's method and of the functions of A.
 *
 * Where obstacles move, where there is damping, or forces that the symmetric operator does not have, f(0) is another one,
 * and the sums are left to the problem. */
#include "base/fail.h"
#include "integrators/expmid2.h"

static bool tallies(const tw_integrator *integrator, const tw_expmid2_memory *memory)
{
    const tw_second_order *pair = &integrator->system.pair;
    bool damped = pair->rayleigh_mass != 0 || pair->rayleigh_stiffness != 0;
    return tw_tally_is_wanted(integrator) && !memory->has_rate && !memory->has_rest && !damped;
}

void tw_expmid2_add_tally_output(const tw_integrator *integrator, const tw_expmid2_memory *memory,
                                 tw_expmid2_outputs *outputs)
{
    const tw_second_order_problem *problem = &integrator->system.second;
    if (!tallies(integrator, memory)) return;
    if (!problem->tally.tangent(problem->context, NULL, NULL)) return;

    /* -sum_i g_i(A) z_i */
    int i = outputs->count++;
    outputs->kind[i] = TW_MODE_IMPULSE;
    outputs->vector[i] = memory->tally_way;
    outputs->reference[i] = memory->h * memory->h * memory->speed;
}

tw_status tw_expmid2_add_tally(tw_integrator *integrator, const tw_expmid2_memory *memory)
{
    double rates[3];
    if (!tallies(integrator, memory)) return TW_OK;

    TW_TRY(tw_tally_rates(integrator, memory->t_m, memory->x_m, rates));
    tw_tally_add(integrator, memory->h, rates);
    tw_tally_add_tangent(integrator, memory->tally_way);
    return TW_OK;
}
