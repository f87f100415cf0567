/* One integration from start to end, as tests and benchmarks tabulate it. */
#ifndef PROBLEMS_WHOLE_RUN_H
#define PROBLEMS_WHOLE_RUN_H

#include <twang/integrator.h>

typedef struct whole_run {
    tw_status status;     /* of creation, start or advance */
    double t;             /* reached: the end unless it failed */
    double seconds;       /* processor time of the advance alone, all threads */
    double energy_change; /* (H(end) - H(0)) / |H(0)|; 0 without an energy */
    double energy_worst;  /* largest |H - H(0)| / |H(0)| after any step; only if it was watched */
    tw_integrator_statistics counts;
    tw_error error;
} whole_run;

/* From (t = 0, u) to t_end; u ends as the last trusted state. `watch_energy` evaluates the energy after every step. */
whole_run run_whole(const tw_second_order_problem *table, const tw_integrator_options *options,
                    double t_end, bool watch_energy, double *u);

#endif
