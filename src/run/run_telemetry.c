/* telemetry.csv: a row per step; and the energies a run keeps an eye on. */
#include <math.h>

#include "base/fail.h"
#include "run/run_internal.h"

static const char header_line[] = "t,step,step_size,kinetic,potential,total,damping_work,contact_"
                                  "work,plastic_work,momentum_x,momentum_y,momentum_z,"
                                  "angular_momentum_x,angular_momentum_y,angular_momentum_z,error_"
                                  "estimate,products,solves,krylov_dimension,"
                                  "outside_work\n";

tw_status tw_run_open_telemetry(tw_run *run, tw_error *error)
{
    char path[TW_FILE_PATH_SIZE];
    tw_status status = tw_file_path(path, run->directory, "telemetry.csv", error);
    if (status == TW_OK)
        status = tw_appender_open(&run->telemetry, path, run->memory.telemetry_bytes, error);
    if (status == TW_OK && run->memory.telemetry_bytes == 0)
        status = tw_appender_write(&run->telemetry, header_line, sizeof header_line - 1, error);
    return status;
}

/* Adds the integral over a step h of the parabola through the powers at its ends and at the step before, a:
 *     h (P_1 + P_2)/2 - c h^3/6,   c = [(P_2 - P_1)/h - (P_1 - P_0)/a] / (h + a). */
static double add_power(tw_run_work *work, double h, double a, double power)
{
    double c = h > 0.0 && a > 0.0
                   ? ((power - work->now) / h - (work->now - work->before) / a) / (h + a)
                   : 0.0;
    work->sum += 0.5 * h * (work->now + power) - c * h * h * h / 6.0;
    work->before = work->now;
    work->now = power;
    return work->sum;
}

static void add_work(tw_run_memory *memory, double t, tw_measurement *m)
{
    double h = t - memory->measured_t, a = memory->measured_step;
    m->damping_work = add_power(&memory->damping, h, a, m->damping_power);
    m->outside_work = add_power(&memory->outside, h, a, m->outside_power);
    memory->measured_t = t;
    memory->measured_step = h;
}

static tw_status measure(tw_run *run, tw_measurement *m, tw_error *error)
{
    double t = 0.0;
    tw_integrator_state(run->integrator, &t, NULL);
    tw_status status =
        tw_simulation_measure(run->simulation, t, tw_integrator_state_view(run->integrator), m);
    if (status == TW_OK) add_work(&run->memory, t, m);
    return status == TW_OK
               ? TW_OK
               : tw_fail(error, status, "the energy at t = %g s: %s", t, tw_status_text(status));
}

tw_status tw_run_measure_start(tw_run *run, tw_error *error)
{
    tw_measurement m;
    tw_status status = measure(run, &m, error);
    if (status != TW_OK) return status;
    run->memory.has_energy = m.has_energy;
    run->memory.energy_start = run->memory.energy_end = m.kinetic + m.potential;
    run->memory.kinetic_max = m.kinetic;
    run->memory.energy_size_max = m.kinetic + fabs(m.potential);
    return TW_OK;
}

static void watch_energy(tw_run_memory *memory, const tw_measurement *m)
{
    memory->energy_end = m->kinetic + m->potential;
    double accounted =
        memory->energy_end + m->damping_work + m->contact_work + m->plastic_work - m->outside_work;
    memory->energy_error = fabs(accounted - memory->energy_start);
    memory->energy_error_max = fmax(memory->energy_error_max, memory->energy_error);
    memory->kinetic_max = fmax(memory->kinetic_max, m->kinetic);
    memory->energy_size_max = fmax(memory->energy_size_max, m->kinetic + fabs(m->potential));
}

static void add_row(tw_run *run, const tw_measurement *m, const tw_integrator_statistics *s,
                    double t)
{
    tw_text *text = &run->scratch;
    tw_text_clear(text);
    tw_text_add_number(text, t);
    tw_text_add(text, ",%lld", (long long)s->steps);
    const double values[] = {
        s->last_step,           m->kinetic,       m->potential,           m->kinetic + m->potential,
        m->damping_work,        m->contact_work,  m->plastic_work,        m->momentum[0],
        m->momentum[1],         m->momentum[2],   m->angular_momentum[0], m->angular_momentum[1],
        m->angular_momentum[2], s->error_estimate};
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        tw_text_add(text, ",");
        tw_text_add_number(text, values[i]);
    }
    tw_text_add(text, ",%lld,%lld,%d,",
                (long long)(s->stiffness_products - run->memory.products_told),
                (long long)(s->solves - run->memory.solves_told), s->krylov_dimension);
    tw_text_add_number(text, m->outside_work);
    tw_text_add(text, "\n");
    run->memory.products_told = s->stiffness_products;
    run->memory.solves_told = s->solves;
}

tw_status tw_run_tell_step(tw_run *run, tw_error *error)
{
    tw_integrator_statistics s = tw_integrator_statistics_now(run->integrator);
    tw_measurement m;
    tw_status status = measure(run, &m, error);
    if (status != TW_OK) return status;
    watch_energy(&run->memory, &m);
    if (run->telemetry_every == 0 || s.steps % run->telemetry_every != 0) return TW_OK;
    double t = 0.0;
    tw_integrator_state(run->integrator, &t, NULL);
    add_row(run, &m, &s, t);
    if (run->scratch.failed) return tw_fail_plain(error, TW_OUT_OF_MEMORY);
    return tw_appender_write(&run->telemetry, run->scratch.bytes, run->scratch.size, error);
}
