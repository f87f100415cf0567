/* The energy balance of a lane: that of its integration, and the hand that pulls.
 *
 * The spring between hand and body is a force of the simulation, but no part of the body: its energy is
 * left out, and its force does work from outside. */
#include <math.h>

#include "view_lane.h"

double view_length(const double v[3])
{
    return sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
}

/* ---- the hand ---- */

/* Where a particle is in the state by which energy is judged, and how the hand pulls at it there. */
static view_hand hand_at(const view_lane *lane, int64_t particle)
{
    if (particle < 0 || lane->free_at[particle] < 0) return (view_hand){.particle = -1};

    double t = 0.0;
    const double *u = tw_integrator_energy_state(lane->integrator, &t);
    const double *x = u + 3 * lane->free_at[particle];
    view_hand hand = {.particle = particle};
    for (int k = 0; k < 3; k++) {
        hand.position[k] = x[k];
        if (lane->pulled == particle)
            hand.force[k] = lane->pull_stiffness * (lane->target[k] - x[k]);
    }
    return hand;
}

/* The work of the hand since the last measurement: the mean of both forces times the way,
 *     W = (F_0 + F_1)/2 . (x_1 - x_0).
 * Returns the energy of the spring now. */
static double add_hand_work(view_lane *lane)
{
    view_hand before = lane->account.hand;
    int64_t particle = before.particle >= 0 ? before.particle : lane->pulled;
    view_hand now = hand_at(lane, particle);
    if (now.particle < 0) return 0.0;

    for (int k = 0; k < 3 && before.particle >= 0; k++)
        lane->account.hand_work +=
            0.5 * (before.force[k] + now.force[k]) * (now.position[k] - before.position[k]);

    /* After this step a hand that has let go does nothing more. */
    double force = view_length(now.force);
    if (lane->pulled < 0) now.particle = -1;
    lane->account.hand = now;
    return 0.5 * force * force / lane->pull_stiffness;
}

void view_account_hand_moved(view_lane *lane, int64_t particle)
{
    view_hand *last = &lane->account.hand;
    view_hand hand = hand_at(lane, particle >= 0 ? particle : last->particle);

    /* The hand moves between two steps. Where energy is judged at the ends of steps, the new force acts
     * from the last measurement on; where it is judged in their middle, the old one acts at the last
     * measurement and the new one at the next. */
    bool is_same = hand.particle == last->particle;
    if (tw_integrator_energy_at_stage(lane->integrator))
        for (int k = 0; k < 3; k++) hand.force[k] = is_same ? last->force[k] : 0.0;
    *last = hand;
}

/* ---- the balance ---- */

/* Energies and works for the page. The spring of the hand holds `spring_energy`. */
static void fill_balance(view_lane *lane, double spring_energy)
{
    const view_account *account = &lane->account;
    const tw_energy_balance *balance = &account->balance;
    double *numbers = lane->numbers;
    double sliding = balance->sliding_work - account->sliding_start;
    double accounted = tw_energy_balance_accounted(balance) - spring_energy - account->hand_work;

    numbers[VIEW_TOTAL] = balance->energy_end - spring_energy;
    numbers[VIEW_DAMPING_WORK] = balance->damping.sum;
    numbers[VIEW_OUTSIDE_WORK] = balance->outside.sum + balance->driven.sum + account->hand_work;
    numbers[VIEW_CONTACT_WORK] = balance->contact.sum + balance->friction.sum + sliding;
    numbers[VIEW_PLASTIC_WORK] = balance->plastic_work - account->plastic_start;
    numbers[VIEW_ENERGY_ERROR] = accounted - account->energy_start;
}

/* Energies, momenta and contacts of a measurement. */
static void fill_measurement(view_lane *lane, const tw_measurement *m, double spring_energy)
{
    lane->numbers[VIEW_KINETIC] = m->kinetic;
    lane->numbers[VIEW_POTENTIAL] = m->potential - spring_energy;
    lane->numbers[VIEW_MOMENTUM] = view_length(m->momentum);
    lane->numbers[VIEW_ANGULAR_MOMENTUM] = view_length(m->angular_momentum);
    lane->numbers[VIEW_CONTACTS] = (double)m->contacts;
}

tw_status view_account_begin(view_lane *lane, tw_error *error)
{
    /* What friction and flow took before belongs to an earlier start. */
    view_account *account = &lane->account;
    *account = (view_account){.hand = {.particle = -1}};
    tw_status status =
        tw_energy_balance_begin(&account->balance, lane->simulation, lane->integrator, error);
    if (status != TW_OK) return status;
    account->sliding_start = account->balance.sliding_work;
    account->plastic_start = account->balance.plastic_work;

    /* The hand may hold a particle already. */
    double spring_energy = add_hand_work(lane);
    account->energy_start = tw_energy_balance_accounted(&account->balance) - spring_energy;
    fill_balance(lane, spring_energy);

    double t = 0.0;
    tw_measurement m;
    const double *u = tw_integrator_energy_state(lane->integrator, &t);
    status = tw_simulation_measure(lane->simulation, t, u, &m);
    if (status == TW_OK) fill_measurement(lane, &m, spring_energy);
    return status;
}

tw_status view_account_add(view_lane *lane, tw_error *error)
{
    view_account *account = &lane->account;
    tw_measurement m;
    tw_status status =
        tw_energy_balance_add(&account->balance, lane->simulation, lane->integrator, &m, error);
    if (status != TW_OK) return status;
    double spring_energy = add_hand_work(lane);

    /* Where energy is that of a stage, the start shows vibrations that no stage shows: the balance
     * begins with the first stage. */
    bool is_first = tw_integrator_statistics_now(lane->integrator).steps == 1;
    if (is_first && tw_integrator_energy_at_stage(lane->integrator))
        account->energy_start =
            tw_energy_balance_accounted(&account->balance) - spring_energy - account->hand_work;

    fill_balance(lane, spring_energy);
    fill_measurement(lane, &m, spring_energy);
    return TW_OK;
}
