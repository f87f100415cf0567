/* telemetry.csv: a row per step; and the energy balance of a run. */
#include <math.h>

#include "base/fail.h"
#include "run/run_internal.h"

static const char header_line[] =
    "t,step,step_size,kinetic,potential,total,damping_work,"
    "momentum_x,momentum_y,momentum_z,angular_momentum_x,angular_momentum_y,angular_momentum_z,"
    "error_estimate,products,solves,krylov_dimension,outside_work,energy_t,"
    "contacts,penetration_max,contact_work,friction_work,plastic_work,"
    "contact_impulse_x,contact_impulse_y,contact_impulse_z\n";

tw_status tw_run_open_telemetry(tw_run *run, tw_error *error)
{
    char path[TW_FILE_PATH_SIZE];
    TW_TRY(tw_file_path(path, run->directory, "telemetry.csv", error));

    /* Rows that were written after the checkpoint are cut away. */
    TW_TRY(tw_appender_open(&run->telemetry, path, run->memory.telemetry_bytes, error));

    if (run->memory.telemetry_bytes > 0) return TW_OK;
    return tw_appender_write(&run->telemetry, header_line, sizeof header_line - 1, error);
}

/* Adds the work of the last step h to the sum. P_2 is the power at its end, P_1 at its begin, and
 * P_0 one step a earlier. The integral over h of the parabola through them is
 *     h (P_1 + P_2)/2 - c h^3/6,   c = [(P_2 - P_1)/h - (P_1 - P_0)/a] / (h + a). */
static void add_power(tw_run_work *work, double h, double a, double power)
{
    double c = 0.0;
    if (h > 0.0 && a > 0.0)
        c = ((power - work->now) / h - (work->now - work->before) / a) / (h + a);

    work->sum += 0.5 * h * (work->now + power) - c * h * h * h / 6.0;
    work->before = work->now;
    work->now = power;
}

static void add_work(tw_run_memory *memory, double t, const tw_measurement *m)
{
    double h = t - memory->measured_t;
    double a = memory->measured_step;
    add_power(&memory->damping, h, a, m->damping_power);
    add_power(&memory->outside, h, a, m->outside_power);

    memory->measured_t = t;
    memory->measured_step = h;
}

/* Adds what impulses took since the last measurement. */
static void add_loss(tw_run_loss *loss, double taken, bool at_stage)
{
    loss->sum += loss->next;
    loss->next = at_stage ? taken : 0.0;
    if (!at_stage) loss->sum += taken;
}

/* Whether everything that telemetry writes of a measurement is finite, and the energy balance too:
 * the sum of all is finite only if each of them is. */
static bool is_finite(const tw_run *run, const tw_measurement *m)
{
    double sum = m->kinetic + m->potential + run->memory.damping.sum + run->memory.outside.sum +
                 m->contact_work + m->friction_work + m->sliding_work + m->plastic_work +
                 m->impulse_work;
    for (int k = 0; k < 3; k++)
        sum += m->momentum[k] + m->angular_momentum[k] + m->contact_impulse[k];
    return isfinite(sum);
}

/* Measures the state by which energy is judged, the stage of the last step or its end, and adds the
 * work since the last time. Energy and work belong to the same time. */
static tw_status measure(tw_run *run, tw_measurement *m, tw_error *error)
{
    double t = 0.0;
    const double *u = tw_integrator_energy_state(run->integrator, &t);
    tw_status status = tw_simulation_measure(run->simulation, t, u, m);
    if (status != TW_OK)
        return tw_fail(error, status, "the energy at t = %g s: %s", t, tw_status_text(status));
    m->outside_power += tw_integrator_hidden_power(run->integrator);

    add_work(&run->memory, t, m);
    bool at_stage = tw_integrator_energy_at_stage(run->integrator);
    add_loss(&run->memory.contact, m->contact_work, at_stage);
    add_loss(&run->memory.friction, m->friction_work, at_stage);
    add_loss(&run->memory.driven, m->impulse_work, at_stage);
    for (int k = 0; k < 3; k++) run->memory.contact_impulse[k] += m->contact_impulse[k];
    if (!is_finite(run, m))
        return tw_fail(error, TW_NOT_FINITE, "energy or momentum at t = %g s are too large", t);
    return TW_OK;
}

tw_status tw_run_measure_start(tw_run *run, tw_error *error)
{
    tw_measurement m;
    TW_TRY(measure(run, &m, error));

    /* Changes of the energy are measured from here. */
    run->memory.has_energy = m.has_energy;
    run->memory.energy_start = m.kinetic + m.potential;
    run->memory.potential_start = m.potential;
    run->memory.energy_end = run->memory.energy_start;
    run->memory.converted_max = m.kinetic;
    run->memory.energy_size_max = m.kinetic + fabs(m.potential);
    return TW_OK;
}

/* The start may move fast in modes that the first stage does not show, and damping may end that motion
 * long before the stage: the line between the power at the start and at the stage says nothing then.
 * Damping took what is lost at most, or what the power at the stage takes. */
static void bound_first_work(tw_run_memory *memory)
{
    double lost = memory->energy_start - memory->energy_end + memory->outside.sum;
    double at_stage = memory->measured_step * memory->damping.now;
    memory->damping.sum = fmin(memory->damping.sum, fmax(fmax(lost, at_stage), 0.0));
    memory->damping.before = memory->damping.now;
}

/* The energy, with what damping took and without what came from outside, is constant but for errors
 * of the integrator: energy_error is how much it has changed since the start. */
static void watch_energy(tw_run_memory *memory, const tw_measurement *m, bool first_stage)
{
    memory->energy_end = m->kinetic + m->potential;
    if (first_stage) bound_first_work(memory);
    double accounted = memory->energy_end + memory->damping.sum - memory->outside.sum +
                       memory->contact.sum + memory->friction.sum + m->sliding_work +
                       m->plastic_work - memory->driven.sum;
    memory->sliding_work = m->sliding_work;
    memory->plastic_work = m->plastic_work;
    memory->energy_error = fabs(accounted - memory->energy_start);
    memory->energy_error_max = fmax(memory->energy_error_max, memory->energy_error);

    /* A stage does not show what vibrates unresolved, and a start out of balance does so from the
     * first step on. */
    if (first_stage) memory->unresolved = fmax(0.0, memory->energy_start - accounted);

    /* Without inertia nearly all energy goes through the bodies into the fluid. */
    double change = fabs(m->potential - memory->potential_start);
    if (m->without_inertia) change = fmax(change, fabs(memory->damping.sum));
    memory->converted_max = fmax(memory->converted_max, fmax(m->kinetic, change));
    memory->energy_size_max = fmax(memory->energy_size_max, m->kinetic + fabs(m->potential));
}

/* A row in the order of the header line. */
static void write_row(tw_run *run, const tw_measurement *m, const tw_integrator_statistics *s,
                      double t)
{
    tw_text *text = &run->scratch;
    tw_text_clear(text);
    tw_text_add_number(text, t);
    tw_text_add(text, ",%lld", (long long)s->steps);

    /* The numbers with 17 digits. */
    const double *p = m->momentum;
    const double *l = m->angular_momentum;
    const double values[] = {s->last_step,
                             m->kinetic,
                             m->potential,
                             m->kinetic + m->potential,
                             run->memory.damping.sum,
                             p[0],
                             p[1],
                             p[2],
                             l[0],
                             l[1],
                             l[2],
                             s->error_estimate};
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        tw_text_add(text, ",");
        tw_text_add_number(text, values[i]);
    }

    /* Products and solves since the row before. */
    int64_t products = s->stiffness_products - run->memory.products_told;
    int64_t solves = s->solves - run->memory.solves_told;
    tw_text_add(text, ",%lld,%lld,%d,", (long long)products, (long long)solves,
                s->krylov_dimension);
    tw_text_add_number(text, run->memory.outside.sum + run->memory.driven.sum);

    /* The time to which energies, work and momenta belong. */
    tw_text_add(text, ",");
    tw_text_add_number(text, run->memory.measured_t);

    /* Contact. */
    const double *impulse = run->memory.contact_impulse;
    const double contact[] = {m->penetration_max,
                              run->memory.contact.sum,
                              run->memory.friction.sum,
                              m->plastic_work,
                              impulse[0],
                              impulse[1],
                              impulse[2]};
    tw_text_add(text, ",%lld", (long long)m->contacts);
    for (size_t i = 0; i < sizeof contact / sizeof *contact; i++) {
        tw_text_add(text, ",");
        tw_text_add_number(text, contact[i]);
    }
    tw_text_add(text, "\n");

    run->memory.products_told = s->stiffness_products;
    run->memory.solves_told = s->solves;
}

tw_status tw_run_tell_step(tw_run *run, tw_error *error)
{
    tw_integrator_statistics s = tw_integrator_statistics_now(run->integrator);
    double t = 0.0;
    tw_integrator_state(run->integrator, &t, NULL);
    if (s.steps % run->measure_every != 0 && t < run->duration) return TW_OK;

    tw_measurement m;
    TW_TRY(measure(run, &m, error));
    bool at_stage = tw_integrator_energy_at_stage(run->integrator);
    watch_energy(&run->memory, &m, at_stage && s.steps == 1);
    if (run->telemetry_every == 0 || s.steps % run->telemetry_every != 0) return TW_OK;

    write_row(run, &m, &s, t);
    if (run->scratch.failed) return tw_fail_plain(error, TW_OUT_OF_MEMORY);
    return tw_appender_write(&run->telemetry, run->scratch.bytes, run->scratch.size, error);
}
