/* The energy balance of an integration: what the energy was, what took of it and what gave to it. */
#include <float.h>
#include <math.h>

#include "base/fail.h"
#include "run/run_internal.h"

/* Adds the work of the last step h to the sum. P_2 is the power at its end, P_1 at its begin, and
 * P_0 one step a earlier. The integral over h of the parabola through them is
 *     h (P_1 + P_2)/2 - c h^3/6,   c = [(P_2 - P_1)/h - (P_1 - P_0)/a] / (h + a). */
static void add_power(tw_work_sum *work, double h, double a, double power)
{
    double c = 0.0;
    if (h > 0.0 && a > 0.0)
        c = ((power - work->now) / h - (work->now - work->before) / a) / (h + a);

    work->sum += 0.5 * h * (work->now + power) - c * h * h * h / 6.0;
    work->before = work->now;
    work->now = power;
}

static void add_work(tw_energy_balance *balance, double t, const tw_measurement *m)
{
    double h = t - balance->measured_t;
    double a = balance->measured_step;
    add_power(&balance->damping, h, a, m->damping_power);
    add_power(&balance->outside, h, a, m->outside_power);

    balance->measured_t = t;
    balance->measured_step = h;
}

/* Adds what impulses took since the last measurement. */
static void add_loss(tw_loss_sum *loss, double taken, bool at_stage)
{
    loss->sum += loss->next;
    loss->next = at_stage ? taken : 0.0;
    if (!at_stage) loss->sum += taken;
}

/* Whether a measurement and the balance are finite: the sum of all is finite only if each of them is. */
static bool is_finite(const tw_energy_balance *balance, const tw_measurement *m)
{
    double sum = m->kinetic + m->potential + balance->damping.sum + balance->outside.sum +
                 m->contact_work + m->friction_work + m->sliding_work + m->plastic_work +
                 m->impulse_work;
    for (int k = 0; k < 3; k++)
        sum += m->momentum[k] + m->angular_momentum[k] + m->contact_impulse[k];
    return isfinite(sum);
}

/* Measures the state by which energy is judged, the stage of the last step or its end. Energy and
 * power belong to the same time *t. */
static tw_status measure(tw_simulation *simulation, tw_integrator *integrator, double *t,
                         tw_measurement *m, tw_error *error)
{
    const double *u = tw_integrator_energy_state(integrator, t);
    tw_status status = tw_simulation_measure(simulation, *t, u, m);
    if (status != TW_OK)
        return tw_fail(error, status, "the energy at t = %g s: %s", *t, tw_status_text(status));
    m->outside_power += tw_integrator_hidden_power(integrator);
    return TW_OK;
}

/* Adds the work since the last measurement. */
static tw_status add_measurement(tw_energy_balance *balance, double t, const tw_measurement *m,
                                 bool at_stage, tw_error *error)
{
    add_work(balance, t, m);
    add_loss(&balance->contact, m->contact_work, at_stage);
    add_loss(&balance->friction, m->friction_work, at_stage);
    add_loss(&balance->driven, m->impulse_work, at_stage);
    for (int k = 0; k < 3; k++) balance->contact_impulse[k] += m->contact_impulse[k];
    if (!is_finite(balance, m))
        return tw_fail(error, TW_NOT_FINITE, "energy or momentum at t = %g s are too large", t);
    return TW_OK;
}

tw_status tw_energy_balance_begin(tw_energy_balance *balance, tw_simulation *simulation,
                                  tw_integrator *integrator, tw_error *error)
{
    if (!balance || !simulation || !integrator) return tw_fail_plain(error, TW_INVALID_ARGUMENT);
    *balance = (tw_energy_balance){0};

    /* What impulses took before belongs to another integration of the simulation. */
    tw_measurement m;
    double t = 0.0;
    TW_TRY(measure(simulation, integrator, &t, &m, error));
    m.contact_work = m.friction_work = m.impulse_work = 0.0;
    for (int k = 0; k < 3; k++) m.contact_impulse[k] = 0.0;
    TW_TRY(add_measurement(balance, t, &m, tw_integrator_energy_at_stage(integrator), error));

    /* Changes of the energy are measured from here. */
    balance->has_energy = m.has_energy;
    balance->energy_start = m.kinetic + m.potential;
    balance->potential_start = m.potential;
    balance->energy_end = balance->energy_start;
    balance->sliding_work = m.sliding_work;
    balance->plastic_work = m.plastic_work;
    balance->converted_max = m.kinetic;
    balance->energy_size_max = m.kinetic + fabs(m.potential);
    return TW_OK;
}

/* The start may move fast in modes that the first stage does not show, and damping may end that motion
 * long before the stage: the line between the power at the start and at the stage says nothing then.
 * Damping took what is lost at most, or what the power at the stage takes. */
static void bound_first_work(tw_energy_balance *balance)
{
    double lost = balance->energy_start - balance->energy_end + balance->outside.sum;
    double at_stage = balance->measured_step * balance->damping.now;
    balance->damping.sum = fmin(balance->damping.sum, fmax(fmax(lost, at_stage), 0.0));
    balance->damping.before = balance->damping.now;
}

double tw_energy_balance_accounted(const tw_energy_balance *balance)
{
    if (!balance) return 0.0;
    double taken = balance->damping.sum + balance->contact.sum + balance->friction.sum +
                   balance->sliding_work + balance->plastic_work;
    double given = balance->outside.sum + balance->driven.sum;
    double accounted = balance->energy_end + taken - given;
    return isfinite(accounted) ? accounted : 0.0;
}

/* The accounted energy is constant but for errors of the integrator: energy_error is how much it has changed since the
 * start. */
static void watch_energy(tw_energy_balance *balance, const tw_measurement *m, bool first_stage)
{
    balance->energy_end = m->kinetic + m->potential;
    balance->sliding_work = m->sliding_work;
    balance->plastic_work = m->plastic_work;
    if (first_stage) bound_first_work(balance);

    double accounted = tw_energy_balance_accounted(balance);
    balance->energy_error = fabs(accounted - balance->energy_start);
    balance->energy_error_max = fmax(balance->energy_error_max, balance->energy_error);

    /* A stage does not show what vibrates unresolved, and a start out of balance does so from the
     * first step on. */
    if (first_stage) balance->unresolved = fmax(0.0, balance->energy_start - accounted);

    /* Without inertia nearly all energy goes through the bodies into the fluid. */
    double change = fabs(m->potential - balance->potential_start);
    if (m->without_inertia) change = fmax(change, fabs(balance->damping.sum));
    balance->converted_max = fmax(balance->converted_max, fmax(m->kinetic, change));
    balance->energy_size_max = fmax(balance->energy_size_max, m->kinetic + fabs(m->potential));
}

tw_status tw_energy_balance_add(tw_energy_balance *balance, tw_simulation *simulation,
                                tw_integrator *integrator, tw_measurement *last, tw_error *error)
{
    if (!balance || !simulation || !integrator || !last)
        return tw_fail_plain(error, TW_INVALID_ARGUMENT);

    double t = 0.0;
    bool at_stage = tw_integrator_energy_at_stage(integrator);
    TW_TRY(measure(simulation, integrator, &t, last, error));
    TW_TRY(add_measurement(balance, t, last, at_stage, error));
    bool is_first = tw_integrator_statistics_now(integrator).steps == 1;
    watch_energy(balance, last, at_stage && is_first);
    return TW_OK;
}

bool tw_energy_balance_has_power(const tw_simulation *simulation)
{
    const tw_second_order_problem *problem = tw_simulation_second_order(simulation);
    return !problem || problem->outside_power || problem->velocity_dependent;
}

/* A body at rest: rounding moves it by this share of its coordinates at most. */
static const double REST_SHARE = 1e-13;

/* The energy of a body that is at rest but for rounding: it moves by REST_SHARE of its coordinates in a step of the mean
 * size, or vibrates by as much. */
static double rest_energy(const tw_simulation *simulation, const tw_integrator *integrator)
{
    tw_simulation_summary body = tw_simulation_summarise(simulation);
    double reach = 0.0;
    for (int k = 0; k < 3; k++) reach = fmax(reach, fmax(fabs(body.lower[k]), fabs(body.upper[k])));

    double t = 0.0;
    tw_integrator_state(integrator, &t, NULL);
    double steps = (double)tw_integrator_statistics_now(integrator).steps;
    double rate = t > 0.0 ? fmax(steps / t, body.omega_bound) : 0.0;
    double speed = REST_SHARE * reach * rate;
    return 0.5 * body.mass * speed * speed;
}

double tw_energy_balance_scale(const tw_energy_balance *balance, const tw_simulation *simulation,
                               const tw_integrator *integrator)
{
    /* Energies have about 16 digits: a change of less than this share of their size is
     * mostly rounding. */
    const double smallest_share = 1e-9;
    double moving = fmax(balance->converted_max, smallest_share * balance->energy_size_max);
    return fmax(moving, rest_energy(simulation, integrator));
}

double tw_energy_balance_drift(const tw_energy_balance *balance, const tw_simulation *simulation,
                               const tw_integrator *integrator)
{
    if (!balance || !simulation || !integrator) return 0.0;
    double error = balance->energy_error_max;
    if (error == 0.0) return 0.0;

    /* A tiny scale must not make the quotient infinite. */
    return fmin(error / tw_energy_balance_scale(balance, simulation, integrator), DBL_MAX);
}
