#include "problems/verlet_driver.h"

static void kick(int64_t n, double h, const double *a, double *v)
{
    for (int64_t i = 0; i < n; i++) v[i] += h * a[i];
}

static void kick_and_drift(int64_t n, double kick_step, double h, const double *restrict a,
                           double *restrict v, double *restrict x)
{
    for (int64_t i = 0; i < n; i++) {
        v[i] += kick_step * a[i];
        x[i] += h * v[i];
    }
}

void verlet_run(const problem *p, double h, int64_t steps, double *x, double *v, double *a)
{
    p->acceleration(p->context, x, a);
    for (int64_t step = 0; step < steps; step++) {
        /* The closing half kick of one step and the opening one of the next are one kick. */
        kick_and_drift(p->size, step == 0 ? 0.5 * h : h, h, a, v, x);
        p->acceleration(p->context, x, a);
    }
    if (steps > 0) kick(p->size, 0.5 * h, a, v);
}
