#define _POSIX_C_SOURCE 200809L
#include "problems/whole_run.h"

#include <math.h>
#include <time.h>

typedef struct energy_watch {
    double start, worst;
} energy_watch;

static double energy_now(tw_integrator *integrator)
{
    double kinetic = 0, potential = 0;
    return tw_integrator_energy(integrator, &kinetic, &potential) ? 0 : kinetic + potential;
}

static tw_status watch(void *context, tw_integrator *integrator)
{
    energy_watch *w = context;
    w->worst = fmax(w->worst, fabs(energy_now(integrator) - w->start));
    return TW_OK;
}

static double seconds_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

whole_run run_whole(const tw_second_order_problem *table, const tw_integrator_options *options,
                    double t_end, bool watch_energy, double *u)
{
    whole_run run = {0};
    tw_integrator *integrator = NULL;
    run.status = tw_integrator_create_second_order(table, options, &integrator, &run.error);
    if (!run.status) run.status = tw_integrator_start(integrator, 0, u, &run.error);
    if (!run.status) {
        energy_watch w = {.start = energy_now(integrator)};
        if (watch_energy) tw_integrator_on_step(integrator, watch, &w);
        double before = seconds_now(), scale = w.start != 0 ? fabs(w.start) : 1;
        run.status = tw_integrator_advance(integrator, t_end, &run.error);
        run.seconds = seconds_now() - before;
        tw_integrator_state(integrator, &run.t, u);
        run.energy_change = (energy_now(integrator) - w.start) / scale;
        run.energy_worst = w.worst / scale;
        run.counts = tw_integrator_statistics_now(integrator);
    }
    tw_integrator_free(integrator);
    return run;
}
