/* Adaptive runs: the error follows rtol, steps grow as the order says, nothing untrusted is returned. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <twang/twang.h>

#include "problems/integrable.h"
#include "problems/link_chain.h"
#include "problems/oscillators.h"
#include "problems/spring_network.h"
#include "support/reference_state.h"
#include "support/run_suite.h"

/* One adaptive run from u to t_end. */
typedef struct adaptive_run {
    double error;
    int64_t steps;
    tw_status status;
} adaptive_run;

static adaptive_run run_to(const tw_second_order_problem *table, tw_scheme scheme, double rtol,
                           const double *start, double t_end, double *u)
{
    tw_integrator_options options = tw_integrator_options_default();
    options.scheme = scheme;
    options.relative_tolerance = rtol;
    options.phi.engine = TW_PHI_DENSE;
    options.phi.tolerance = fmax(1e-3 * rtol, 1e-13);
    tw_integrator *integrator = NULL;
    tw_error error = {0};
    ck_assert_msg(tw_integrator_create_second_order(table, &options, &integrator, &error) == TW_OK,
                  "%s", error.text);
    ck_assert_int_eq(tw_integrator_start(integrator, 0, start, &error), TW_OK);
    adaptive_run result = {.status = tw_integrator_advance(integrator, t_end, &error)};
    tw_integrator_state(integrator, NULL, u);
    result.steps = tw_integrator_statistics_now(integrator).steps;
    tw_integrator_free(integrator);
    return result;
}

static adaptive_run run(const tw_second_order_problem *table, tw_scheme scheme, double rtol,
                        const double *start, double t_end, const double *expected)
{
    int64_t size = 2 * table->space.local_size;
    double *u = malloc(sizeof(double) * (size_t)size), scale = 0;
    adaptive_run result = run_to(table, scheme, rtol, start, t_end, u);
    for (int64_t i = 0; i < size; i++) scale = fmax(scale, fabs(expected[i]));
    result.error = reference_error(u, expected, size) / scale;
    free(u);
    return result;
}

/* Slope of log error against log rtol over 1e-3 .. 1e-9 (least squares), and of log steps. */
static void slopes(const char *what, const tw_second_order_problem *table, tw_scheme scheme,
                   const double *start, double t_end, const double *expected, double *error_slope,
                   double *step_slope, double *worst)
{
    double sx = 0, sxx = 0, sy = 0, sxy = 0, sz = 0, sxz = 0;
    int n = 0;
    *worst = 0;
    for (int e = 3; e <= 9; e++, n++) {
        double rtol = pow(10, -e);
        adaptive_run r = run(table, scheme, rtol, start, t_end, expected);
        ck_assert_msg(r.status == TW_OK, "%s with %s at rtol %g", what, tw_scheme_name(scheme),
                      rtol);
        double x = log(rtol), y = log(r.error), z = log((double)r.steps);
        sx += x, sxx += x * x, sy += y, sxy += x * y, sz += z, sxz += x * z;
        *worst = fmax(*worst, fabs(log10(r.error / rtol)));
        printf("%-12s %-9s rtol %.0e error %.2e steps %ld\n", what, tw_scheme_name(scheme), rtol,
               r.error, (long)r.steps);
    }
    *error_slope = (n * sxy - sx * sy) / (n * sxx - sx * sx);
    *step_slope = (n * sxz - sx * sz) / (n * sxx - sx * sx);
    printf("%-12s %-9s slope %.2f steps %.3f\n", what, tw_scheme_name(scheme), *error_slope,
           *step_slope);
}

static const tw_scheme fourth_order[] = {TW_SCHEME_EXPRB42, TW_SCHEME_PEXPRB43, TW_SCHEME_EXPMID4};

static void judge(const char *what, const tw_second_order_problem *table, tw_scheme scheme,
                  const double *start, double t_end, const double *expected)
{
    double error_slope = 0, step_slope = 0, worst = 0;
    slopes(what, table, scheme, start, t_end, expected, &error_slope, &step_slope, &worst);
    ck_assert_msg(error_slope > 0.8 && error_slope < 1.2, "%s with %s: slope %.2f", what,
                  tw_scheme_name(scheme), error_slope);
    ck_assert_msg(worst < 2, "%s with %s: a factor 10^%.1f from rtol", what, tw_scheme_name(scheme),
                  worst);
    ck_assert_msg(step_slope > -0.30 && step_slope < -0.20, "%s with %s: steps grow like rtol^%.3f",
                  what, tw_scheme_name(scheme), step_slope);
}

START_TEST(duffing_follows_rtol)
{
    oscillator o;
    double expected[2];
    oscillator_create(DUFFING, &o);
    ck_assert(reference_state("duffing_T10.txt", 1, expected));
    judge("duffing", &o.table, fourth_order[_i], o.start, 10, expected);
    oscillator_free(&o);
}
END_TEST

START_TEST(fput_follows_rtol)
{
    link_chain *chain = fput_create(3, 100);
    problem plain = link_chain_problem(chain);
    integrable p;
    double start[12], expected[12];
    ck_assert_int_eq(integrable_create(&plain, true, &p), TW_OK);
    memcpy(start, chain->initial_x, sizeof(double) * 6);
    memcpy(start + 6, chain->initial_v, sizeof(double) * 6);
    ck_assert(reference_state("fput_T10.txt", 6, expected));
    judge("fput", &p.table, fourth_order[_i], start, 10, expected);
    integrable_free(&p);
    link_chain_free(chain);
}
END_TEST

START_TEST(rope_follows_rtol)
{
    spring_network *network = NULL;
    ck_assert_int_eq(rope_create(1e4, &network), TW_OK);
    problem plain = spring_network_problem(network);
    integrable p;
    double rows[11 * 6], start[60] = {0}, expected[60];
    ck_assert_int_eq(integrable_create(&plain, true, &p), TW_OK);
    memcpy(start, network->initial, sizeof(double) * 30);
    ck_assert(reference_read("rope_k4_T0.4.txt", 10, 6, rows));
    for (int i = 0; i < 10; i++)
        for (int c = 0; c < 3; c++) {
            expected[3 * i + c] = rows[6 * i + c];
            expected[30 + 3 * i + c] = rows[6 * i + 3 + c];
        }
    judge("rope", &p.table, fourth_order[_i], start, 0.4, expected);
    integrable_free(&p);
    spring_network_free(network);
}
END_TEST

/* A stiff linear system costs a step or two at any tolerance; the error stays below it. */
static tw_status stiff_linear(void *context, double t, const double *x, const double *v, double *a)
{
    (void)context, (void)t, (void)v;
    a[0] = -1e8 * x[0];
    a[1] = -x[1];
    return TW_OK;
}

static tw_status stiff_linear_product(void *context, int count, const double *in, double *out)
{
    (void)context;
    for (int c = 0; c < count; c++) out[2 * c] = 1e8 * in[2 * c], out[2 * c + 1] = in[2 * c + 1];
    return TW_OK;
}

START_TEST(a_stiff_linear_system_needs_few_steps)
{
    tw_second_order_problem table = tw_second_order_problem_default();
    table.space.local_size = 2;
    table.acceleration = stiff_linear;
    table.apply_stiffness = stiff_linear_product;
    double start[4] = {1e-4, 1, 0, 0},
           expected[4] = {1e-4 * cos(1e4), cos(1.0), -sin(1e4), -sin(1.0)};
    for (int e = 3; e <= 9; e++) {
        adaptive_run r = run(&table, fourth_order[_i], pow(10, -e), start, 1.0, expected);
        ck_assert_int_eq(r.status, TW_OK);
        ck_assert_msg(r.error <= 100 * pow(10, -e), "error %g at rtol 1e-%d", r.error, e);
        ck_assert_msg(r.steps < 40, "%ld steps at rtol 1e-%d", (long)r.steps, e);
    }
}
END_TEST

/* expmid2 follows rtol at any stiffness, in about the same number of steps. */
START_TEST(expmid2_follows_rtol_at_any_stiffness)
{
    static const int exponents[] = {4, 6, 8, 10};
    int64_t steps[4];
    double rtol = pow(10, -_i);
    for (int k = 0; k < 4; k++) {
        char name[64];
        spring_network *network = NULL;
        ck_assert_int_eq(rope_create(pow(10, exponents[k]), &network), TW_OK);
        problem plain = spring_network_problem(network);
        integrable p;
        double rows[10 * 6], start[60] = {0}, expected[60] = {0}, u[60], worst = 0;
        ck_assert_int_eq(integrable_create(&plain, true, &p), TW_OK);
        memcpy(start, network->initial, sizeof(double) * 30);
        snprintf(name, sizeof name, "rope_k%d_T0.4.txt", exponents[k]);
        ck_assert(reference_read(name, 10, 6, rows));
        for (int i = 0; i < 30; i++) expected[i] = rows[6 * (i / 3) + i % 3];
        adaptive_run r = run_to(&p.table, TW_SCHEME_EXPMID2, rtol, start, 0.4, u);
        ck_assert_msg(r.status == TW_OK, "k = 1e%d, rtol %g", exponents[k], rtol);
        for (int i = 0; i < 30; i++) worst = fmax(worst, fabs(u[i] - expected[i]));
        printf("expmid2 k 1e%d rtol %.0e: position error %.1e, %ld steps\n", exponents[k], rtol,
               worst, (long)r.steps);
        ck_assert_msg(worst < rtol && worst > 1e-3 * rtol, "k = 1e%d, rtol %g: error %g",
                      exponents[k], rtol, worst);
        steps[k] = r.steps;
        integrable_free(&p);
        spring_network_free(network);
    }
    for (int k = 1; k < 4; k++) ck_assert(steps[k] < 2 * steps[0]);
}
END_TEST

/* x'' = -x - x^3 - c v + F cos(w t). */
typedef struct driven_duffing {
    double damping, load, frequency;
    double t_end;
    double tangent;
} driven_duffing;

static tw_status driven_duffing_force(void *context, double t, const double *x, const double *v,
                                      double *a)
{
    const driven_duffing *d = context;
    *a = -*x - *x * *x * *x - d->damping * *v + d->load * cos(d->frequency * t);
    return TW_OK;
}

static tw_status driven_duffing_linearise(void *context, double t, const double *x, const double *v)
{
    (void)t, (void)v;
    ((driven_duffing *)context)->tangent = 1 + 3 * *x * *x;
    return TW_OK;
}

static tw_status driven_duffing_product(void *context, int count, const double *in, double *out)
{
    for (int i = 0; i < count; i++) out[i] = ((driven_duffing *)context)->tangent * in[i];
    return TW_OK;
}

static tw_status driven_duffing_assemble(void *context, tw_sparse *matrix)
{
    *tw_sparse_values(matrix) = ((driven_duffing *)context)->tangent;
    return TW_OK;
}

/* Position at the end by expmid2 at rtol, or by rk4 with 20,000 steps where rtol is 0; and the number of steps. */
static int64_t run_duffing(driven_duffing d, double rtol, double *x)
{
    static const int64_t row_start[2] = {0, 1};
    static const int64_t column[1] = {0};
    static const double start[2] = {1, 0};
    tw_second_order_problem table = tw_second_order_problem_default();
    table.space.local_size = 1;
    table.context = &d;
    table.acceleration = driven_duffing_force;
    table.linearise = driven_duffing_linearise;
    table.apply_stiffness = driven_duffing_product;
    table.assemble = driven_duffing_assemble;
    table.velocity_dependent = d.damping > 0;
    table.rayleigh_mass = d.damping;
    table.time_dependent = d.load > 0;
    ck_assert_int_eq(
        tw_sparse_create(1, 1, row_start, column, TW_STORE_FULL, &table.stiffness_matrix, NULL),
        TW_OK);

    tw_integrator_options options = tw_integrator_options_default();
    options.scheme = rtol > 0 ? TW_SCHEME_EXPMID2 : TW_SCHEME_RK4;
    options.relative_tolerance = rtol;
    options.step = rtol > 0 ? 0 : d.t_end / 20000;
    tw_integrator *integrator = NULL;
    ck_assert_int_eq(tw_integrator_create_second_order(&table, &options, &integrator, NULL), TW_OK);
    ck_assert_int_eq(tw_integrator_start(integrator, 0, start, NULL), TW_OK);
    ck_assert_int_eq(tw_integrator_advance(integrator, d.t_end, NULL), TW_OK);
    *x = tw_integrator_state_view(integrator)[0];
    int64_t steps = tw_integrator_statistics_now(integrator).steps;
    tw_integrator_free(integrator);
    tw_sparse_free(table.stiffness_matrix);
    return steps;
}

/* Damping and loads neither mislead the estimate nor cost steps, and it does not go blind: not where a = 0, and not where
 * the motion has become so small that it is linear. Errors are relative to the amplitude, 1. */
START_TEST(expmid2_follows_rtol_on_duffing)
{
    static const driven_duffing kinds[] = {{.t_end = 10},
                                           {.damping = 0.1, .t_end = 10},
                                           {.damping = 1, .t_end = 10},
                                           {.load = 0.5, .frequency = 1.3, .t_end = 10},
                                           {.damping = 0.2, .load = 1, .frequency = 2, .t_end = 10},
                                           {.t_end = 50},
                                           {.load = 0.5, .frequency = 1.3, .t_end = 50},
                                           {.damping = 0.1, .t_end = 50},
                                           {.damping = 1, .t_end = 50}};
    driven_duffing d = kinds[_i];
    double expected = 0;
    run_duffing(d, 0, &expected);
    for (int e = 2; e <= 5; e++) {
        double rtol = pow(10, -e);
        double x = 0;
        double ignored = 0;
        int64_t steps = run_duffing(d, rtol, &x);
        int64_t plain = run_duffing((driven_duffing){.t_end = d.t_end}, rtol, &ignored);
        double error = fabs(x - expected);
        printf("duffing %d rtol %.0e: error %.1e, %ld steps (plain %ld)\n", _i, rtol, error,
               (long)steps, (long)plain);
        ck_assert_msg(error < 5 * rtol, "kind %d, rtol %g: error %g", _i, rtol, error);
        ck_assert_msg(steps < 2 * plain, "kind %d, rtol %g: %ld steps, plain %ld", _i, rtol,
                      (long)steps, (long)plain);
    }
}
END_TEST

/* Over 42 periods the phase of an undamped oscillator drifts, and rtol bounds the error of a step, not that of the end.
 * CVODE ends with 70 to 600 rtol here. */
START_TEST(expmid2_drifts_no_more_than_others_on_duffing)
{
    driven_duffing d = {.t_end = 200};
    double expected = 0;
    run_duffing(d, 0, &expected);
    for (int e = 2; e <= 4; e++) {
        double rtol = pow(10, -e);
        double x = 0;
        int64_t steps = run_duffing(d, rtol, &x);
        double error = fabs(x - expected);
        printf("duffing to t = 200, rtol %.0e: error %.0f rtol, %ld steps\n", rtol, error / rtol,
               (long)steps);
        ck_assert_msg(error < 250 * rtol, "rtol %g: error %g", rtol, error);
    }
}
END_TEST

/* Whatever the stiffness, adaptive steps end well or say why; energy tells a wrong success. */
START_TEST(the_rope_never_returns_nonsense)
{
    static const double stiffness[] = {1e4, 1e6, 1e8};
    for (int k = 0; k < 3; k++) {
        spring_network *network = NULL;
        ck_assert_int_eq(rope_create(stiffness[k], &network), TW_OK);
        problem plain = spring_network_problem(network);
        integrable p;
        ck_assert_int_eq(integrable_create(&plain, true, &p), TW_OK);
        tw_integrator_options options = tw_integrator_options_default();
        options.scheme = (tw_scheme)_i;
        options.phi.engine = TW_PHI_DENSE;
        options.step = 0.01;
        tw_integrator *integrator = NULL;
        double u[60] = {0};
        memcpy(u, network->initial, sizeof(double) * 30);
        if (tw_scheme_available(options.scheme) &&
            tw_integrator_create_second_order(&p.table, &options, &integrator, NULL) == TW_OK) {
            ck_assert_int_eq(tw_integrator_start(integrator, 0, u, NULL), TW_OK);
            tw_error error = {0};
            tw_status status = tw_integrator_advance(integrator, 0.4, &error);
            tw_integrator_state(integrator, NULL, u);
            double reach = 0;
            for (int i = 0; i < 30; i++) {
                ck_assert(isfinite(u[i]) && isfinite(u[30 + i]));
                reach = fmax(reach, fabs(u[i]));
            }
            ck_assert_msg(reach < 1.3, "%s at k = %g: a rope of length 1 reaches %g",
                          tw_scheme_name(options.scheme), stiffness[k], reach);
            if (status) ck_assert(strlen(error.text) > 0);
        }
        tw_integrator_free(integrator);
        integrable_free(&p);
        spring_network_free(network);
    }
}
END_TEST

/* At the end of a step a stiff link that turned is strained by its square: the energy guard must not mind. */
START_TEST(midpoint_rules_run_at_the_highest_stiffness)
{
    static const tw_scheme rules[] = {TW_SCHEME_MIDPOINT, TW_SCHEME_GENERALIZED_ALPHA,
                                      TW_SCHEME_NEWMARK};
    spring_network *network = NULL;
    ck_assert_int_eq(rope_create(1e10, &network), TW_OK);
    problem plain = spring_network_problem(network);
    integrable p;
    double rows[10 * 6], u[60] = {0}, worst = 0;
    ck_assert_int_eq(integrable_create(&plain, true, &p), TW_OK);
    memcpy(u, network->initial, sizeof(double) * 30);
    ck_assert(reference_read("rope_k10_T0.4.txt", 10, 6, rows));
    tw_integrator_options options = tw_integrator_options_default();
    options.scheme = rules[_i];
    options.step = 0.02;
    tw_integrator *integrator = NULL;
    tw_error error = {0};
    ck_assert_int_eq(tw_integrator_create_second_order(&p.table, &options, &integrator, &error),
                     TW_OK);
    ck_assert_int_eq(tw_integrator_start(integrator, 0, u, &error), TW_OK);
    ck_assert_msg(tw_integrator_advance(integrator, 0.4, &error) == TW_OK, "%s", error.text);
    tw_integrator_state(integrator, NULL, u);
    for (int i = 0; i < 30; i++) worst = fmax(worst, fabs(u[i] - rows[6 * (i / 3) + i % 3]));
    ck_assert_msg(worst < 0.02, "%s: error %g", tw_scheme_name(rules[_i]), worst);
    tw_integrator_free(integrator);
    integrable_free(&p);
    spring_network_free(network);
}
END_TEST

/* A heavy particle on a spring, far from the origin of coordinates and at rest: x_m - x_star of a first step is lost in
 * the rounding of x, and an error relative to no speed at all asks for ever smaller ones. x = X - g/w^2 (1 - cos w t).
 */
START_TEST(a_start_from_rest_far_from_the_origin_takes_no_tiny_steps)
{
    static const tw_scheme schemes[] = {TW_SCHEME_EXPMID2, TW_SCHEME_MIDPOINT, TW_SCHEME_NEWMARK,
                                        TW_SCHEME_BDF1,    TW_SCHEME_BDF2,     TW_SCHEME_EXPRB42,
                                        TW_SCHEME_RK4};
    const double far = 1000, w = 5, g = 9.81, x[6] = {0, 0, far + 1, 0, 0, far}, mass[2] = {1, 1},
                 k = w * w;
    const double down[3] = {0, 0, -g};
    const int64_t ends[2] = {0, 1};
    tw_model *model = NULL;
    tw_simulation *simulation = NULL;
    tw_integrator *integrator = NULL;
    tw_error error = {0};
    double u[6];
    ck_assert_int_eq(tw_model_create(&model, NULL), TW_OK);
    ck_assert_int_eq(tw_model_add_particles(model, 2, x, NULL, mass, NULL, &error), TW_OK);
    ck_assert_int_eq(tw_model_add_springs(model, 1, ends, &k, NULL, &error), TW_OK);
    ck_assert_int_eq(tw_model_pin(model, 0, 0, &error), TW_OK);
    ck_assert_int_eq(tw_model_add_gravity(model, down, &error), TW_OK);
    ck_assert_int_eq(tw_simulation_of_model(model, &simulation, &error), TW_OK);
    tw_integrator_options options = tw_integrator_options_default();
    options.scheme = schemes[_i];
    options.relative_tolerance = 1e-3;
    options.reference[0] = g / (w * w);
    options.max_steps = 20000;
    ck_assert_int_eq(tw_simulation_integrator(simulation, &options, &integrator, &error), TW_OK);
    ck_assert_msg(tw_integrator_advance(integrator, 0.2, &error) == TW_OK, "%s", error.text);
    tw_integrator_state(integrator, NULL, u);
    int64_t steps = tw_integrator_statistics_now(integrator).steps;
    int64_t most = schemes[_i] == TW_SCHEME_BDF1 ? 4000 : 200;
    double exact = far - g / (w * w) * (1 - cos(w * 0.2)), off = fabs(u[2] - exact) / (g / (w * w));
    printf("%s: %ld steps, error %g\n", tw_scheme_name(schemes[_i]), (long)steps, off);
    ck_assert_msg(off < 0.01, "%s: off by %g of the sag", tw_scheme_name(schemes[_i]), off);
    ck_assert_msg(steps < most, "%s: %ld steps", tw_scheme_name(schemes[_i]), (long)steps);
    tw_integrator_free(integrator);
    tw_simulation_free(simulation);
}
END_TEST

/* A jelly that swings in all its modes: estimating the error must not cost many times the step (10,802 solves and seven
 * rejections when the estimate was wanted to 1e-8 of the acceleration). */
START_TEST(expmid2_estimates_the_error_of_a_jelly_cheaply)
{
    static const char text[] =
        "name: jelly\nduration: 0.3\ngravity: [0, 0, -9.81]\nintegrator: {name: expmid2, rtol: "
        "1e-3}\n"
        "bodies: [{kind: box, size: [1, 1, 2], density: 1000, material: neo-hookean, "
        "youngs_modulus: 2e5, "
        "poisson_ratio: 0.4, cells: [5, 5, 10], velocity: [1, 0, 0]}]\npins: [{lowest: 0.01}]\n";
    tw_scene *scene = NULL;
    tw_simulation *simulation = NULL;
    tw_integrator *integrator = NULL;
    tw_error error = {0};
    ck_assert_int_eq(tw_scene_parse("jelly.yaml", text, strlen(text), 0, NULL, &scene, &error),
                     TW_OK);
    ck_assert_int_eq(tw_scene_build(scene, &simulation, &error), TW_OK);
    ck_assert_int_eq(tw_scene_create_integrator(scene, simulation, &integrator, &error), TW_OK);
    ck_assert_int_eq(tw_integrator_start(integrator, 0, tw_simulation_start(simulation), &error),
                     TW_OK);
    ck_assert_msg(tw_integrator_advance(integrator, 0.3, &error) == TW_OK, "%s", error.text);
    tw_integrator_statistics s = tw_integrator_statistics_now(integrator);
    printf("jelly: %ld steps, %ld rejected, %ld solves\n", (long)s.steps, (long)s.rejected_steps,
           (long)s.solves);
    ck_assert_int_lt(s.rejected_steps, 4);
    ck_assert_int_lt(s.solves, 3000);
    tw_integrator_free(integrator);
    tw_simulation_free(simulation);
    tw_scene_free(scene);
}
END_TEST

/* Steps that a swinging rope of stiffness k takes for 0.4 s at rtol 1e-3 under stiffness damping beta. */
static int64_t steps_of_damped_rope(double k, double beta)
{
    char text[400];
    snprintf(text, sizeof text,
             "name: rope\nduration: 0.4\ngravity: [0, 0, -9.81]\n"
             "integrator: {name: expmid2, rtol: 1e-3}\n"
             "bodies: [{kind: rope, count: 10, length: 0.1, mass: 0.1, stiffness: %g, "
             "direction: [1, 0, 0]}]\npins: [{from: 0}]\nforces: [{kind: rayleigh, beta: %g}]\n",
             k, beta);
    tw_scene *scene = NULL;
    tw_simulation *simulation = NULL;
    tw_integrator *integrator = NULL;
    tw_error error = {0};
    tw_status status = tw_scene_parse("rope.yaml", text, strlen(text), 0, NULL, &scene, &error);
    if (status == TW_OK) status = tw_scene_build(scene, &simulation, &error);
    if (status == TW_OK)
        status = tw_scene_create_integrator(scene, simulation, &integrator, &error);
    if (status == TW_OK)
        status = tw_integrator_start(integrator, 0, tw_simulation_start(simulation), &error);
    if (status == TW_OK) status = tw_integrator_advance(integrator, 0.4, &error);
    ck_assert_msg(status == TW_OK, "k = %g, beta = %g: %s", k, beta, error.text);

    int64_t steps = tw_integrator_statistics_now(integrator).steps;
    tw_integrator_free(integrator);
    tw_simulation_free(simulation);
    tw_scene_free(scene);
    return steps;
}

/* Stiffness damping does not mislead the estimate (the steps grew with k beta up to 109,322). */
START_TEST(stiffness_damping_costs_no_steps)
{
    static const double stiffness[] = {1e4, 1e6, 1e8};
    static const double beta[] = {1e-5, 1e-4, 1e-3, 1e-2};
    double k = stiffness[_i];
    int64_t plain = steps_of_damped_rope(k, 0);
    for (int i = 0; i < 4; i++) {
        int64_t steps = steps_of_damped_rope(k, beta[i]);
        printf("rope, k = %g, beta = %g: %ld steps (undamped %ld)\n", k, beta[i], (long)steps,
               (long)plain);
        ck_assert_msg(2 * steps < 3 * plain, "k = %g, beta = %g: %ld", k, beta[i], (long)steps);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("adaptive");
    TCase *cases = tcase_create("adaptive");
    tcase_set_timeout(cases, 120);
    tcase_add_loop_test(cases, duffing_follows_rtol, 0, 3);
    tcase_add_loop_test(cases, fput_follows_rtol, 0, 3);
    tcase_add_loop_test(cases, rope_follows_rtol, 0, 3);
    tcase_add_loop_test(cases, a_stiff_linear_system_needs_few_steps, 0, 3);
    tcase_add_loop_test(cases, expmid2_follows_rtol_at_any_stiffness, 2, 6);
    tcase_add_loop_test(cases, expmid2_follows_rtol_on_duffing, 0, 9);
    tcase_add_test(cases, expmid2_drifts_no_more_than_others_on_duffing);
    tcase_add_loop_test(cases, stiffness_damping_costs_no_steps, 0, 3);
    tcase_add_loop_test(cases, midpoint_rules_run_at_the_highest_stiffness, 0, 3);
    tcase_add_loop_test(cases, a_start_from_rest_far_from_the_origin_takes_no_tiny_steps, 0, 7);
    tcase_add_test(cases, expmid2_estimates_the_error_of_a_jelly_cheaply);
    tcase_add_loop_test(cases, the_rope_never_returns_nonsense, 0, TW_SCHEME_COUNT);
    suite_add_tcase(suite, cases);
    return run_suite(suite);
}
