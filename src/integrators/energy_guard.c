/* The energy guard: it rejects steps of an exploding run in problems whose energy cannot grow. */
#include <math.h>

#include "integrators/integrator_internal.h"
#include "linalg/vector.h"

/* Of a body at rest only rounding errors move, and its energy is rounding error too. A step that
 * moves a body by at most this share of its size, h |v| <= REST_SHARE |x|, is regarded as rest: it
 * is far above rounding (1e-16) and far below what can be seen. */
static const double REST_SHARE = 1e-10;

/* A gain below this share of the energy at the start is always sound: it covers the rounding of
 * large energies. */
static const double ROUNDING_SHARE = 1e-9;

/* Just after a start from rest a sound run turns over little more energy than its energy error. A
 * gain beyond the bound is therefore forgiven until the energy turned over has grown by the first
 * factor since the bound was first exceeded, or by the second factor beyond what it was in sound
 * steps. Both are empirical: an exploding run passes them within a few steps. */
static const double GROWTH_SINCE_VIOLATION = 4;
static const double GROWTH_SINCE_SOUND = 10;

void tw_energy_guard_prepare(tw_integrator *integrator)
{
    const tw_system *system = &integrator->system;

    /* The guard needs an energy, and can be switched off. */
    integrator->energy_guarded = false;
    if (integrator->options.energy_gain_bound == 0 || !tw_system_has_energy(system)) return;

    /* Energy cannot grow where no time dependence and no general velocity dependence feeds it. */
    if (system->second_order)
        integrator->energy_guarded = tw_system_is_autonomous(system) &&
                                     (!system->second.velocity_dependent || !system->pair.damping);
    else
        integrator->energy_guarded = system->first.energy_never_grows;
}

tw_status tw_energy_guard_start(tw_integrator *integrator)
{
    integrator->sound_scale = 0;
    integrator->violated_scale = 0;
    if (!integrator->energy_guarded) return TW_OK;

    double kinetic = 0;
    tw_status status = tw_system_energy(&integrator->system, integrator->t, integrator->u, &kinetic,
                                        &integrator->potential_start);
    integrator->energy_start = kinetic + integrator->potential_start;
    return status;
}

/* Whether the state u is at rest up to rounding: h |v| <= REST_SHARE |x| in the norm of the
 * problem. */
static tw_status is_at_rest(const tw_system *system, double h, const double *u, bool *result)
{
    *result = false;
    if (!system->second_order) return TW_OK;

    double speed = 0;
    double size = 0;
    tw_status status = tw_vector_norm(&system->second.space, u + system->n, &speed);
    if (status == TW_OK) status = tw_vector_norm(&system->second.space, u, &size);
    *result = fabs(h) * speed <= REST_SHARE * size;
    return status;
}

/* In an exploding run the gain E - E_start is most of the energy turned over, kinetic + |potential
 * change|, and both grow. In a sound run the gain is the energy error. */
tw_status tw_energy_guard_check(tw_integrator *integrator, double t_new)
{
    if (!integrator->energy_guarded) return TW_OK;

    /* Some schemes leave spurious energy in unresolved modes at step ends: they name a better state
     * to judge by. */
    const double *u = integrator->u_new;
    double t = t_new;
    if (integrator->scheme->energy_state) u = integrator->scheme->energy_state(integrator, &t);
    double kinetic = 0;
    double potential = 0;
    tw_status status = tw_system_energy(&integrator->system, t, u, &kinetic, &potential);
    if (status) return status;

    /* The gain is measured against the energy that the motion has turned over since the start. */
    double gain = kinetic + potential - integrator->energy_start;
    double scale = kinetic + fabs(potential - integrator->potential_start);
    if (!isfinite(gain)) return TW_NOT_FINITE;
    if (gain <= integrator->options.energy_gain_bound * scale ||
        gain <= ROUNDING_SHARE * fabs(integrator->energy_start)) {
        integrator->sound_scale = fmax(integrator->sound_scale, scale);
        integrator->violated_scale = 0;
        return TW_OK;
    }

    /* The gain exceeds its bound. At rest that means nothing. */
    bool at_rest = false;
    status = is_at_rest(&integrator->system, t_new - integrator->t, u, &at_rest);
    if (status || at_rest) return status;

    /* In motion the step is rejected if the energy turned over grows as well. */
    if (integrator->violated_scale == 0) integrator->violated_scale = scale;
    bool grown = scale > GROWTH_SINCE_VIOLATION * integrator->violated_scale;
    bool sudden =
        integrator->sound_scale > 0 && scale > GROWTH_SINCE_SOUND * integrator->sound_scale;
    return grown || sudden ? TW_NOT_CONVERGED : TW_OK;
}
