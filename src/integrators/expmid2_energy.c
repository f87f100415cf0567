/* The state by which the energy of a step of expmid2 is judged, and the power at it.
 *
 * The midpoint is on the slow manifold. But the tensions there are not those of the motion. Let an
 * unresolved mode move slowly, with the acceleration a. Its stage has y = x_n - x_m + t g = t^2 a/2
 * and w = v_n - g = -t a, so that
 *     a_m = -(y + t w) / t^2 = a/2:
 * a stiff element that turns, or that a support accelerates, has half its tension at the stage, and
 * a vibration adds to that. The step itself makes v_(n+1) - v_n = h a of it.
 *
 * So the force that acts during the step differs from the force at the stage by M da,
 *     da = (v_(n+1) - v_n) / h - a_m,
 * as if the mode were displaced by dx = -A^-1 da. The power from outside is the derivative of the
 * potential V(t, x) with respect to t alone, whether supports move or loads change, and the rate is
 * a_t = -M^-1 d(grad V)/dt. At the displaced state the power is larger by
 *     d(grad V)/dt . dx = a_t . M A^-1 da = g . M da,   g = (1 - chi) A^-1 a_t,
 * where g, the velocity at which the supports carry the mode along, is part of the step already. */
#include "base/fail.h"
#include "integrators/expmid2.h"
#include "linalg/vector.h"

/* *power = g . M da, with the carried velocity g in memory->change. */
static tw_status find_hidden_power(tw_integrator *integrator, tw_expmid2_memory *memory,
                                   double *power)
{
    const tw_system *system = &integrator->system;
    int64_t n = system->n;
    double *difference = memory->work;
    double *force = memory->work + n;
    *power = 0;
    if (!memory->has_rate || !system->second.outside_power) return TW_OK;

    /* da = (v_(n+1) - v_n) / h - a_m */
    tw_vector_copy(n, memory->end_v, difference);
    tw_vector_axpy(n, -1.0, memory->start_v, difference);
    tw_vector_scale(n, 1 / memory->h, difference);
    tw_vector_axpy(n, -1.0, memory->a_m, difference);

    TW_TRY(tw_system_mass(system, difference, force));
    return tw_vector_dot(&system->second.space, memory->change, force, power);
}

/* The velocity is that of the half step: in resolved modes v_m, the velocity of the midpoint rule,
 * is off by the square of h omega. */
const double *tw_expmid2_energy_state(tw_integrator *integrator, double *t)
{
    tw_expmid2_memory *memory = integrator->memory;
    int64_t n = integrator->system.n;
    memory->hidden_power = 0;

    tw_status status = tw_expmid2_find_middle(integrator, memory);
    if (status == TW_OK) status = find_hidden_power(integrator, memory, &memory->hidden_power);
    if (status == TW_OK)
        tw_expmid2_compose(integrator, memory, 0.5, memory->x_m, memory->judged);
    else
        tw_vector_copy(n, memory->v_m, memory->judged + n);

    tw_vector_copy(n, memory->x_m, memory->judged);
    *t = memory->t_m;
    return memory->judged;
}

double tw_expmid2_hidden_power(const tw_integrator *integrator)
{
    const tw_expmid2_memory *memory = integrator->memory;
    return memory->hidden_power;
}
