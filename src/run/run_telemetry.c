/* telemetry.csv: a row per step. */
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
                             run->memory.balance.damping.sum,
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
    tw_text_add_number(text, run->memory.balance.outside.sum + run->memory.balance.driven.sum);

    /* The time to which energies, work and momenta belong. */
    tw_text_add(text, ",");
    tw_text_add_number(text, run->memory.balance.measured_t);

    /* Contact. */
    const double *impulse = run->memory.balance.contact_impulse;
    const double contact[] = {m->penetration_max,
                              run->memory.balance.contact.sum,
                              run->memory.balance.friction.sum,
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
    TW_TRY(
        tw_energy_balance_add(&run->memory.balance, run->simulation, run->integrator, &m, error));
    if (run->telemetry_every == 0 || s.steps % run->telemetry_every != 0) return TW_OK;

    write_row(run, &m, &s, t);
    if (run->scratch.failed) return tw_fail_plain(error, TW_OUT_OF_MEMORY);
    return tw_appender_write(&run->telemetry, run->scratch.bytes, run->scratch.size, error);
}
