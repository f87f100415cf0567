/* What to try after an integration that failed. */
#include <math.h>
#include <stdio.h>

#include "command.h"

/* A step to try after a failure: a share of the stable one of an explicit scheme that was beyond it,
 * else a quarter. Two digits of it are printed, and must not round it up beyond the limit. */
static double smaller_step(const failed_run *f)
{
    const double share_of_stable_step = 0.9;
    return fmin(f->step / 4, f->stable_step > 0 ? share_of_stable_step * f->stable_step : INFINITY);
}

void say_what_to_try(const failed_run *f)
{
    if (f->status == TW_OUT_OF_MEMORY) return;
    if (f->status == TW_BUDGET_EXHAUSTED) {
        fprintf(stderr, "try larger steps, or a larger integrator.max_steps or phi.max_products "
                        "(--set KEY=VALUE)\n");
        return;
    }

    /* Of fixed steps a smaller one, of adaptive ones another scheme. A start at which the first step
     * fails, without a limit of stability that says how far, leaves the step to be found. */
    bool is_start = f->steps == 0 && !(f->stable_step > 0);
    if (f->step > 0 && is_start)
        fprintf(stderr, "try adaptive steps (--rtol 1e-3), which find a first step by themselves,");
    else if (f->step > 0)
        fprintf(stderr, "try a smaller step (--dt %.2g), adaptive steps (--rtol 1e-3)",
                smaller_step(f));
    else
        fprintf(stderr, "try fixed steps (--dt S), another tolerance (--rtol R)");
    fprintf(stderr, " or another --integrator");

    /* `twang check` takes the first step, too, and suggests nothing where that fails. */
    if (f->steps > 0 && f->directory)
        fprintf(stderr, "; `twang check %s/scene.yaml` suggests steps for several",
                shell_word(f->directory));
    fprintf(stderr, "\n");
}
