/* An adaptive run with events: a Duffing oscillator, x'' = -x - x^3, released at x = 1. Its passages through zero are
 * located by dense output, steps are not shortened for them; the tenth (4.75 periods) ends the run.
 * The tangent is not given: it is made by finite differences.
 * usage: adaptive_event [RTOL] */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <twang/twang.h>

enum { PASSAGES = 10 };

typedef struct passages {
    int count;
    double last;
} passages;

static tw_status acceleration(void *context, double t, const double *x, const double *v, double *a)
{
    (void)context, (void)t, (void)v;
    a[0] = -x[0] - x[0] * x[0] * x[0];
    return TW_OK;
}

static tw_status position(void *context, double t, const double *u, double *g)
{
    (void)context, (void)t;
    *g = u[0];
    return TW_OK;
}

static void passed(void *context, double t, const double *u)
{
    passages *p = context;
    p->count++;
    p->last = t;
    printf("passage %2d at t = %.10f, speed %.10f\n", p->count, t, fabs(u[1]));
}

static tw_status enough(void *context, tw_integrator *integrator)
{
    (void)integrator;
    return ((const passages *)context)->count < PASSAGES ? TW_OK : TW_INTERRUPTED;
}

/* 4 K(m) / sqrt(1 + a^2), m = a^2 / (2 (1 + a^2)), at a = 1, by the arithmetic-geometric mean. */
static double exact_period(void)
{
    double x = 1, y = sqrt(0.75);
    for (int i = 0; i < 8; i++) {
        double mean = 0.5 * (x + y);
        y = sqrt(x * y);
        x = mean;
    }
    return 2 * acos(-1) / (x * sqrt(2));
}

int main(int argc, char **argv)
{
    tw_second_order_problem problem = tw_second_order_problem_default();
    problem.space.local_size = 1;
    problem.acceleration = acceleration;
    tw_integrator_options options = tw_integrator_options_default();
    options.scheme = TW_SCHEME_EXPRB42;
    options.relative_tolerance = argc > 1 ? strtod(argv[1], NULL) : 1e-9;
    options.phi.tolerance = 1e-12;
    passages p = {0};
    tw_event event = {.value = position, .context = &p, .located = passed};
    tw_integrator *integrator = NULL;
    tw_error error = {0};
    tw_status status = tw_integrator_create_second_order(&problem, &options, &integrator, &error);
    if (!status) status = tw_integrator_add_event(integrator, &event, &error);
    if (!status) status = tw_integrator_start(integrator, 0, (const double[]){1, 0}, &error);
    if (!status) {
        tw_integrator_on_step(integrator, enough, &p);
        status = tw_integrator_advance(integrator, 1000, &error);
        tw_integrator_statistics n = tw_integrator_statistics_now(integrator);
        printf("%ld steps, %ld rejected, %ld force evaluations and %ld for the tangent\n",
               (long)n.steps, (long)n.rejected_steps, (long)n.force_evaluations,
               (long)n.difference_evaluations);
        printf("passage %d is off by %.1e\n", p.count,
               p.last - (0.5 * PASSAGES - 0.25) * exact_period());
    }
    tw_integrator_free(integrator);
    if (status == TW_INTERRUPTED) return 0; /* the polite stop we asked for */
    fprintf(stderr, "adaptive_event: %s\n", error.text);
    return 1;
}
