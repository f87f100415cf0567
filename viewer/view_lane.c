/* One simulation of a live page: making it, stepping it, pulling at it. */
#define _POSIX_C_SOURCE 200809L
#include "view_lane.h"

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

    /* The simulation takes the model, unless it cannot be made. */
    status = complete_model(model, scene, tuning, error);
    if (status == TW_OK) status = tw_simulation_of_model(model, &lane->simulation, error);
    if (status != TW_OK) tw_model_free(model);
    return status;
}

static tw_status allocate(view_lane *lane)
{
    lane->particles = tw_simulation_row_count(lane->simulation);
    lane->columns = tw_simulation_column_count(lane->simulation);

    /* Room for a table, for two states, and for the numbers of the free particles. */
    size_t entries = (size_t)(lane->particles * lane->columns);
    size_t size = (size_t)tw_simulation_state_size(lane->simulation);
    lane->rows = calloc(entries, sizeof *lane->rows);
    lane->state = calloc(size, sizeof *lane->state);
    lane->settled = calloc(size, sizeof *lane->settled);
    lane->free_at = calloc((size_t)lane->particles, sizeof *lane->free_at);
    bool good = lane->rows && lane->state && lane->settled && lane->free_at;
    if (!good) return TW_OUT_OF_MEMORY;

    /* k = m omega^2: the whole body swings on the spring of the pull. */
    double mass = tw_simulation_summarise(lane->simulation).mass;
    lane->pull_stiffness = mass * PULL_FREQUENCY * PULL_FREQUENCY;
    return view_rows_free(lane->simulation, lane->rows, lane->free_at);
}

tw_status view_lane_open(view_lane *lane, const view_source *source, const view_tuning *tuning,
                         const char *scheme, tw_error *error)
{
    *lane = (view_lane){.pulled = -1, .failed_particle = -1};

    /* The scene as the sliders change it. */
    tw_scene *tuned = NULL;
    tw_status status = view_source_tuned(source, tuning, &tuned, error);
    if (status != TW_OK) return status;
    const tw_scene *scene = tuned ? tuned : source->scene;

    /* Its simulation, and an integrator that stands at the start. */
    status = make_simulation(lane, scene, tuning, error);
    if (status == TW_OK) status = allocate(lane);
    lane->options = view_source_options(scene, tuning, scheme);
    tw_scene_free(tuned);
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

/* Counts of the integrator, since the last time where they add up. */
static void fill_counts(view_lane *lane)
{
    tw_integrator_statistics now = tw_integrator_statistics_now(lane->integrator);
    int64_t steps = now.steps - lane->before.steps;
    int64_t iterations = now.newton_iterations - lane->before.newton_iterations;
    if (steps > 0) lane->numbers[VIEW_NEWTON_ITERATIONS] = (double)iterations / (double)steps;

    lane->numbers[VIEW_STEP] = now.last_step;
    lane->numbers[VIEW_ERROR_ESTIMATE] = now.error_estimate;
    lane->numbers[VIEW_KRYLOV_DIMENSION] = now.krylov_dimension;
    lane->numbers[VIEW_COST] = 1e3 * lane->step_seconds;
    lane->numbers[VIEW_STEPS] = (double)now.steps;
    lane->numbers[VIEW_REJECTED] = (double)now.rejected_steps;
    lane->before = now;
}

/* Keeps the state by which the scheme's energy is judged. Schemes of midpoint type leave strain without
 * meaning in unresolved modes at the ends of steps. Whoever started from there would make vibrations of
 * it, which have much energy in stiff bodies; at the stage these modes are in balance. */
static void keep_settled(view_lane *lane)
{
    const double *u = tw_integrator_energy_state(lane->integrator, &lane->settled_t);
    size_t size = (size_t)tw_simulation_state_size(lane->simulation);
    memcpy(lane->settled, u, size * sizeof *u);
}

/* Makes an integrator that stands at t with the state u. */
static tw_status start_integrator(const view_lane *lane, double t, const double *u,
                                  tw_integrator **out, tw_error *error)
{
    tw_status status = create_integrator(lane, out, error);
    const double *state = u ? u : tw_simulation_start(lane->simulation);
    if (status == TW_OK) status = tw_integrator_start(*out, t, state, error);
    return status;
}

tw_status view_lane_start(view_lane *lane, double t, const double *u, tw_error *error)
{
    tw_integrator *integrator = NULL;
    tw_status status = start_integrator(lane, t, u, &integrator, error);
    if (status != TW_OK) {
        tw_integrator_free(integrator);
        return status;
    }

    /* It takes the place of the old one. */
    tw_integrator_free(lane->integrator);
    lane->integrator = integrator;
    lane->before = (tw_integrator_statistics){0};
    lane->failed = false;
    lane->failed_particle = -1;

    /* The first numbers of the page. */
    keep_settled(lane);
    fill_counts(lane);
    return view_account_begin(lane, error);
}

/* ---- stepping ---- */

/* The particle with the largest acceleration: there the forces are out of hand. */
static int64_t worst_particle(view_lane *lane)
{
    const tw_second_order_problem *p = tw_simulation_second_order(lane->simulation);
    if (!p || !tw_simulation_display_count(lane->simulation)) return -1;

    /* The accelerations where the step began. */
    int64_t n = p->space.local_size;
    const double *u = tw_integrator_state_view(lane->integrator);
    double t = view_lane_time(lane);
    if (p->acceleration(p->context, t, u, u + n, lane->state) != TW_OK) return -1;

    /* The largest of them; those that are not numbers are passed over. */
    int64_t worst = -1;
    double largest = 0.0;
    for (int64_t i = 0; i < lane->particles; i++) {
        if (lane->free_at[i] < 0) continue;
        double size = view_length(lane->state + 3 * lane->free_at[i]);
        if (!(size > largest)) continue;
        largest = size;
        worst = i;
    }
    return worst;
}

/* Notes why the lane stands, and where. Whoever interrupts a step has not made it fail. */
static void note_failure(view_lane *lane, tw_status status, const tw_error *error)
{
    lane->failed = status != TW_INTERRUPTED;
    if (!lane->failed) return;

    const char *reason = error->text[0] ? error->text : tw_status_text(status);
    snprintf(lane->failure, sizeof lane->failure, "%s", reason);
    lane->failed_particle = worst_particle(lane);
}

bool view_lane_step(view_lane *lane)
{
    const double never = 1e9; /* the page has no end [s] */
    tw_error error = {0};
    double begin = now_seconds();
    tw_status status = tw_integrator_step(lane->integrator, never, &error);
    double seconds = now_seconds() - begin;

    if (status == TW_OK) status = view_account_add(lane, &error);
    if (status != TW_OK) {
        note_failure(lane, status, &error);
        return false;
    }

    /* The cost is smoothed over about ten steps. */
    double share = view_lane_is_new(lane) ? 1.0 : 0.1;
    lane->step_seconds += share * (seconds - lane->step_seconds);
    keep_settled(lane);
    fill_counts(lane);
    lane->failed = false;
    return true;
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
    /* Inside the last step the dense output gives it. */
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

    /* The forces have changed between two steps. */
    if (tw_integrator_refresh(lane->integrator, NULL) == TW_OK)
        view_account_hand_moved(lane, particle);
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

    /* Pages draw in single precision. */
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
