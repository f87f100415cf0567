/* One simulation of a live page: making it, stepping it, pulling at it. */
#define _POSIX_C_SOURCE 200809L
#include "view_lane.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "view_tuned.h"

/* The pull moves all of the body's mass at this frequency [1/s]: one swing in a second. */
static const double PULL_FREQUENCY = 6.3;

static double now_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* ---- making it ---- */

/* Adds the pull, and the damping that the slider wants. */
static tw_status complete_model(tw_model *model, const tw_scene *scene, const view_tuning *tuning,
                                tw_error *error)
{
    tw_status status = tw_model_add_pull(model, PULL_FREQUENCY, error);
    if (status != TW_OK || tuning->damping < 0.0) return status;
    return tw_model_set_rayleigh(model, tuning->damping, view_source_beta(scene), error);
}

static tw_status make_simulation(view_lane *lane, const tw_scene *scene, const view_tuning *tuning,
                                 tw_error *error)
{
    /* A system of equations has nothing to pull at. */
    tw_model *model = NULL;
    tw_status status = tw_scene_build_model(scene, &model, error);
    if (status == TW_UNSUPPORTED) return tw_scene_build(scene, &lane->simulation, error);
    if (status != TW_OK) return status;

    status = complete_model(model, scene, tuning, error);
    if (status == TW_OK) status = tw_simulation_of_model(model, &lane->simulation, error);
    if (status != TW_OK) tw_model_free(model);
    return status;
}

static tw_status allocate(view_lane *lane)
{
    lane->particles = tw_simulation_row_count(lane->simulation);
    lane->columns = tw_simulation_column_count(lane->simulation);
    size_t entries = (size_t)(lane->particles * lane->columns);
    lane->rows = calloc(entries, sizeof(double));
    lane->state = calloc((size_t)tw_simulation_state_size(lane->simulation), sizeof(double));
    lane->settled = calloc((size_t)tw_simulation_state_size(lane->simulation), sizeof(double));
    lane->free_at = calloc((size_t)lane->particles, sizeof *lane->free_at);
    bool good = lane->rows && lane->state && lane->settled && lane->free_at;
    if (!good) return TW_OUT_OF_MEMORY;

    double mass = tw_simulation_summarise(lane->simulation).mass;
    lane->pull_stiffness = mass * PULL_FREQUENCY * PULL_FREQUENCY;
    return view_rows_free(lane->simulation, lane->rows, lane->free_at);
}

tw_status view_lane_open(view_lane *lane, const view_source *source, const view_tuning *tuning,
                         const char *scheme, tw_error *error)
{
    *lane = (view_lane){.pulled = -1, .failed_particle = -1};
    tw_scene *scene = NULL;
    tw_status status = view_source_tuned(source, tuning, &scene, error);
    if (status != TW_OK) return status;

    status = make_simulation(lane, scene, tuning, error);
    if (status == TW_OK) status = allocate(lane);
    lane->options = view_source_options(scene, tuning, scheme);
    tw_scene_free(scene);

    if (status == TW_OK) status = view_lane_start(lane, 0.0, NULL, error);
    if (status != TW_OK) view_lane_close(lane);
    return status;
}

void view_lane_close(view_lane *lane)
{
    tw_integrator_free(lane->integrator);
    tw_simulation_free(lane->simulation);
    free(lane->rows);
    free(lane->state);
    free(lane->settled);
    free(lane->free_at);
    *lane = (view_lane){.pulled = -1, .failed_particle = -1};
}

static tw_status create_integrator(const view_lane *lane, tw_integrator **out, tw_error *error)
{
    const tw_second_order_problem *second = tw_simulation_second_order(lane->simulation);
    if (second) return tw_integrator_create_second_order(second, &lane->options, out, error);
    return tw_integrator_create_first_order(tw_simulation_first_order(lane->simulation),
                                            &lane->options, out, error);
}

/* ---- numbers ---- */

static double length_of(const double v[3])
{
    return sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
}

/* Adds the work since the last measurement, by the trapezoidal rule. */
static void add_work(view_account *account, double t, const tw_measurement *m)
{
    double h = t - account->t;
    account->damping_work += 0.5 * h * (account->damping_power + m->damping_power);
    account->outside_work += 0.5 * h * (account->outside_power + m->outside_power);
    account->outside_work += m->impulse_work;
    account->contact_work += m->contact_work + m->friction_work;
    account->plastic_work = m->plastic_work - account->plastic_start;
    account->damping_power = m->damping_power;
    account->outside_power = m->outside_power;
    account->t = t;
}

/* Where a particle is in the state by which energy is judged, and how the hand pulls at it there. */
static view_hand hand_at(const view_lane *lane, int64_t particle)
{
    view_hand hand = {.particle = particle};
    if (particle < 0 || lane->free_at[particle] < 0) return (view_hand){.particle = -1};
    double t = 0.0;
    const double *u = tw_integrator_energy_state(lane->integrator, &t);
    const double *x = u + 3 * lane->free_at[particle];
    for (int k = 0; k < 3; k++) {
        hand.position[k] = x[k];
        if (lane->pulled == particle)
            hand.force[k] = lane->pull_stiffness * (lane->target[k] - x[k]);
    }
    return hand;
}

/* The spring between hand and body is no part of the body: its energy is left out, and its force does
 * work from outside, the mean of both forces times the way,
 *     W = (F_0 + F_1)/2 . (x_1 - x_0). */
static void add_pull(view_lane *lane, tw_measurement *m)
{
    view_hand before = lane->account.hand;
    int64_t particle = before.particle >= 0 ? before.particle : lane->pulled;
    view_hand now = hand_at(lane, particle);
    if (now.particle < 0) return;

    double stretch = length_of(now.force) / lane->pull_stiffness;
    m->potential -= 0.5 * lane->pull_stiffness * stretch * stretch;
    for (int k = 0; k < 3 && before.particle >= 0; k++)
        lane->account.outside_work +=
            0.5 * (before.force[k] + now.force[k]) * (now.position[k] - before.position[k]);

    /* After this step a hand that has let go does nothing more. */
    if (lane->pulled < 0) now.particle = -1;
    lane->account.hand = now;
}

/* Measures the state by which the scheme's energy is judged, and keeps it. Schemes of midpoint type leave
 * strain without meaning in unresolved modes at the ends of steps. Whoever started from there would make
 * vibrations of it, which have much energy in stiff bodies; at the stage these modes are in balance. */
static tw_status measure(view_lane *lane, tw_measurement *m)
{
    double t = 0.0;
    const double *u = tw_integrator_energy_state(lane->integrator, &t);
    tw_status status = tw_simulation_measure(lane->simulation, t, u, m);
    if (status != TW_OK) return status;
    size_t size = (size_t)tw_simulation_state_size(lane->simulation);
    memcpy(lane->settled, u, size * sizeof *u);
    lane->settled_t = t;
    m->outside_power += tw_integrator_hidden_power(lane->integrator);
    add_work(&lane->account, t, m);
    add_pull(lane, m);
    return TW_OK;
}

/* Energies, works and momenta. */
static void fill_balance(view_lane *lane, const tw_measurement *m)
{
    view_account *account = &lane->account;
    double total = m->kinetic + m->potential;
    double rubbed = account->contact_work + m->sliding_work - account->sliding_start;
    double taken = account->damping_work + rubbed + account->plastic_work;
    double accounted = total + taken - account->outside_work;

    /* Where energy is that of a stage, the start shows vibrations that no stage shows: the balance
     * begins with the first stage. */
    bool is_first = !account->has_begun && tw_integrator_statistics_now(lane->integrator).steps > 0;
    if (is_first && tw_integrator_energy_at_stage(lane->integrator))
        account->energy_start = accounted;
    if (is_first) account->has_begun = true;

    lane->numbers[VIEW_KINETIC] = m->kinetic;
    lane->numbers[VIEW_POTENTIAL] = m->potential;
    lane->numbers[VIEW_TOTAL] = total;
    lane->numbers[VIEW_DAMPING_WORK] = account->damping_work;
    lane->numbers[VIEW_OUTSIDE_WORK] = account->outside_work;
    lane->numbers[VIEW_CONTACT_WORK] = rubbed;
    lane->numbers[VIEW_PLASTIC_WORK] = account->plastic_work;
    lane->numbers[VIEW_ENERGY_ERROR] = accounted - account->energy_start;
    lane->numbers[VIEW_MOMENTUM] = length_of(m->momentum);
    lane->numbers[VIEW_ANGULAR_MOMENTUM] = length_of(m->angular_momentum);
    lane->numbers[VIEW_CONTACTS] = (double)m->contacts;
}

/* Counts of the integrator, since the last time where they add up. */
static void fill_counts(view_lane *lane)
{
    tw_integrator_statistics now = tw_integrator_statistics_now(lane->integrator);
    int64_t steps = now.steps - lane->before.steps;
    int64_t iterations = now.newton_iterations - lane->before.newton_iterations;

    lane->numbers[VIEW_STEP] = now.last_step;
    lane->numbers[VIEW_ERROR_ESTIMATE] = now.error_estimate;
    lane->numbers[VIEW_KRYLOV_DIMENSION] = now.krylov_dimension;
    if (steps > 0) lane->numbers[VIEW_NEWTON_ITERATIONS] = (double)iterations / (double)steps;
    lane->numbers[VIEW_COST] = 1e3 * lane->step_seconds;
    lane->numbers[VIEW_STEPS] = (double)now.steps;
    lane->numbers[VIEW_REJECTED] = (double)now.rejected_steps;
    lane->before = now;
}

tw_status view_lane_start(view_lane *lane, double t, const double *u, tw_error *error)
{
    tw_integrator *integrator = NULL;
    tw_status status = create_integrator(lane, &integrator, error);
    const double *state = u ? u : tw_simulation_start(lane->simulation);
    if (status == TW_OK) status = tw_integrator_start(integrator, t, state, error);
    if (status != TW_OK) {
        tw_integrator_free(integrator);
        return status;
    }
    tw_integrator_free(lane->integrator);
    lane->integrator = integrator;
    lane->failed = false;
    lane->failed_particle = -1;

    /* The balance begins here. */
    tw_measurement m;
    lane->account = (view_account){.t = t, .hand = {.particle = -1}};
    lane->before = (tw_integrator_statistics){0};
    if (measure(lane, &m) == TW_OK) {
        lane->account.damping_work = 0.0;
        lane->account.plastic_start = m.plastic_work;
        lane->account.sliding_start = m.sliding_work;
        lane->account.plastic_work = 0.0;
        lane->account.energy_start = m.kinetic + m.potential;
        fill_balance(lane, &m);
    }
    fill_counts(lane);
    return TW_OK;
}

/* ---- stepping ---- */

/* The particle with the largest acceleration: there the forces are out of hand. */
static int64_t worst_particle(view_lane *lane)
{
    const tw_second_order_problem *p = tw_simulation_second_order(lane->simulation);
    if (!p || !tw_simulation_display_count(lane->simulation)) return -1;
    int64_t n = p->space.local_size;
    double t = 0.0;
    tw_integrator_state(lane->integrator, &t, NULL);
    const double *u = tw_integrator_state_view(lane->integrator);
    if (p->acceleration(p->context, t, u, u + n, lane->state) != TW_OK) return -1;

    int64_t worst = -1;
    double largest = 0.0;
    for (int64_t i = 0; i < lane->particles; i++) {
        if (lane->free_at[i] < 0) continue;
        double size = length_of(lane->state + 3 * lane->free_at[i]);
        if (!(size > largest)) continue;
        largest = size;
        worst = i;
    }
    return worst;
}

bool view_lane_step(view_lane *lane)
{
    const double never = 1e9; /* the page has no end [s] */
    tw_error error = {0};
    double begin = now_seconds();
    tw_status status = tw_integrator_step(lane->integrator, never, &error);
    double seconds = now_seconds() - begin;

    tw_measurement m;
    if (status == TW_OK) status = measure(lane, &m);
    if (status == TW_OK) {
        double share = view_lane_is_new(lane) ? 1.0 : 0.1;
        lane->step_seconds += share * (seconds - lane->step_seconds);
        fill_balance(lane, &m);
        fill_counts(lane);
        lane->failed = false;
        return true;
    }

    lane->failed = status != TW_INTERRUPTED;
    if (!lane->failed) return false;
    snprintf(lane->failure, sizeof lane->failure, "%s",
             error.text[0] ? error.text : tw_status_text(status));
    lane->failed_particle = worst_particle(lane);
    return false;
}

bool view_lane_is_new(const view_lane *lane)
{
    return tw_integrator_statistics_now(lane->integrator).steps <= 2;
}

double view_lane_time(const view_lane *lane)
{
    double t = 0.0;
    tw_integrator_state(lane->integrator, &t, NULL);
    return t;
}

tw_status view_lane_at(view_lane *lane, double t)
{
    bool is_end = t >= view_lane_time(lane);
    if (!is_end && t > tw_integrator_previous_time(lane->integrator))
        return tw_integrator_interpolate(lane->integrator, t, lane->state, NULL);
    tw_integrator_state(lane->integrator, NULL, lane->state);
    return TW_OK;
}

/* ---- pulling ---- */

void view_lane_pull(view_lane *lane, int64_t particle, const double target[3])
{
    if (particle >= lane->particles) return;
    tw_status status = particle < 0 ? tw_simulation_release(lane->simulation)
                                    : tw_simulation_pull(lane->simulation, particle, target);
    if (status != TW_OK) return;
    lane->pulled = particle;
    if (target) memcpy(lane->target, target, sizeof lane->target);
    if (tw_integrator_refresh(lane->integrator, NULL) != TW_OK) return;

    /* The hand moves between two steps. Where energy is judged at the ends of steps, the new force acts
     * from the last measurement on; where it is judged in their middle, the old one acts at the last
     * measurement and the new one at the next. */
    view_hand hand = hand_at(lane, particle >= 0 ? particle : lane->account.hand.particle);
    bool is_same = hand.particle == lane->account.hand.particle;
    if (tw_integrator_energy_at_stage(lane->integrator)) {
        const double *before = lane->account.hand.force;
        for (int k = 0; k < 3; k++) hand.force[k] = is_same ? before[k] : 0.0;
    }
    lane->account.hand = hand;
}

/* ---- frames ---- */

int view_lane_fields(const view_lane *lane, const char *names[VIEW_FIELDS])
{
    return view_rows_fields(lane->simulation, names);
}

void view_lane_write_contacts(view_lane *lane, double t, const double *u, int index,
                              view_frame *frame)
{
    double places[3 * VIEW_PLACES];
    int64_t count = 0;
    frame->contacts[index] = 0;
    if (tw_simulation_contacts(lane->simulation, t, u, VIEW_PLACES, places, &count) != TW_OK)
        return;
    frame->contacts[index] = (uint32_t)count;
    for (int64_t i = 0; i < 3 * count; i++) frame->places[index][i] = (float)places[i];
}

tw_status view_lane_write(view_lane *lane, double t, const double *u, int index,
                          const view_shape *shape, view_frame *frame)
{
    tw_status status = tw_simulation_rows(lane->simulation, t, u, lane->rows);
    if (status != TW_OK) return status;
    view_rows_write(lane->rows, lane->columns, index, shape, frame);
    memcpy(frame->telemetry[index], lane->numbers, sizeof lane->numbers);
    return TW_OK;
}
