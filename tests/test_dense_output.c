/* Dense output inside a step: at ten interior points its error is at most twice the step's own;
 * points that were announced are the same points and cost fewer products. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <twang/twang.h>

#include "problems/integrable.h"
#include "problems/link_chain.h"
#include "problems/spring_network.h"
#include "support/run_suite.h"

enum { UNKNOWNS = 6, SIZE = 2 * UNKNOWNS, POINTS = 10, FINE = 400 };

/* u' = (v, a(x)). */
static void slope(const problem *p, const double *u, double *F)
{
    memcpy(F, u + UNKNOWNS, sizeof(double) * UNKNOWNS);
    p->acceleration(p->context, u, F + UNKNOWNS);
}

/* The classical Runge-Kutta method with `FINE` steps: h omega of about 1e-3 each, exact
 * to 1e-14. */
static void exactly(const problem *p, double T, double *u)
{
    double h = T / FINE, k[4][SIZE], w[SIZE];
    static const double at[4] = {0, 0.5, 0.5, 1};
    for (int n = 0; n < FINE; n++) {
        for (int s = 0; s < 4; s++) {
            for (int i = 0; i < SIZE; i++) w[i] = u[i] + (s ? h * at[s] * k[s - 1][i] : 0);
            slope(p, w, k[s]);
        }
        for (int i = 0; i < SIZE; i++)
            u[i] += h / 6 * (k[0][i] + 2 * k[1][i] + 2 * k[2][i] + k[3][i]);
    }
}

static double distance(const double *a, const double *b)
{
    double worst = 0;
    for (int i = 0; i < SIZE; i++) worst = fmax(worst, fabs(a[i] - b[i]));
    return worst;
}

static const tw_scheme schemes[] = {TW_SCHEME_EXPRB2,   TW_SCHEME_EXPRB32, TW_SCHEME_EXPRB42,
                                    TW_SCHEME_PEXPRB43, TW_SCHEME_EXPRB53, TW_SCHEME_EPIRK4S3,
                                    TW_SCHEME_EXPMID2,  TW_SCHEME_EXPMID4};

/* The third step, so that schemes with a history have one; its own error is that of its end from
 * its own start. */
START_TEST(ten_points_inside_a_step)
{
    tw_scheme scheme = schemes[_i / 2];
    link_chain *chain = fput_create(3, 100);
    problem plain = link_chain_problem(chain);
    integrable p;
    double u[SIZE], start[SIZE], end[SIZE], inside[SIZE], exact[SIZE], t0 = 0, t1 = 0, worst = 0;
    ck_assert_int_eq(integrable_create(&plain, true, &p), TW_OK);
    memcpy(u, chain->initial_x, sizeof(double) * UNKNOWNS);
    memcpy(u + UNKNOWNS, chain->initial_v, sizeof(double) * UNKNOWNS);
    tw_integrator_options options = tw_integrator_options_default();
    options.scheme = scheme;
    options.step = _i % 2 ? 0.01 : 0.02; /* h omega = 1 and 2 */
    options.phi.engine = TW_PHI_DENSE;
    options.phi.tolerance = 1e-13;
    tw_integrator *integrator = NULL;
    tw_error error = {0};
    ck_assert_msg(tw_integrator_create_second_order(&p.table, &options, &integrator, &error) ==
                      TW_OK,
                  "%s", error.text);
    ck_assert_int_eq(tw_integrator_start(integrator, 0, u, NULL), TW_OK);
    for (int step = 0; step < 3; step++) {
        tw_integrator_state(integrator, &t0, start);
        ck_assert_int_eq(tw_integrator_step(integrator, 1.0, NULL), TW_OK);
    }
    tw_integrator_state(integrator, &t1, end);
    memcpy(exact, start, sizeof exact);
    exactly(&plain, t1 - t0, exact);
    double own = distance(end, exact);
    memcpy(exact, start, sizeof exact);
    for (int i = 1; i <= POINTS; i++) {
        double t = t0 + (t1 - t0) * i / (POINTS + 1.0);
        exactly(&plain, (t1 - t0) / (POINTS + 1.0), exact);
        ck_assert_int_eq(tw_integrator_interpolate(integrator, t, inside, NULL), TW_OK);
        worst = fmax(worst, distance(inside, exact));
    }
    printf("%-9s step %.2e, inside %.2e: %.2f\n", tw_scheme_name(scheme), own, worst, worst / own);
    ck_assert_msg(worst <= 2 * own, "%s: %g inside, %g at the end", tw_scheme_name(scheme), worst,
                  own);
    tw_integrator_free(integrator);
    integrable_free(&p);
    link_chain_free(chain);
}
END_TEST

/* ---- stiff problems ---- */

/* The rope of MATH 6 with ten links: least and largest length of a link over all frames, relative
 * to its own. */
typedef struct lengths {
    double rest[10];
    double least;
    double largest;
} lengths;

static double link_length(const double *u, int link)
{
    double sum = 0;
    for (int c = 0; c < 3; c++) {
        double before = link > 0 ? u[3 * (link - 1) + c] : 0;
        sum += (u[3 * link + c] - before) * (u[3 * link + c] - before);
    }
    return sqrt(sum);
}

static tw_status measure_links(void *context, double t, const double *u)
{
    (void)t;
    lengths *seen = context;
    for (int i = 0; i < 10; i++) {
        double length = link_length(u, i) / seen->rest[i];
        seen->least = fmin(seen->least, length);
        seen->largest = fmax(seen->largest, length);
    }
    return TW_OK;
}

static const tw_scheme stiff_schemes[] = {TW_SCHEME_MIDPOINT, TW_SCHEME_GENERALIZED_ALPHA,
                                          TW_SCHEME_NEWMARK, TW_SCHEME_BDF1, TW_SCHEME_BDF2};

/* 240 frames a second between steps of 0.02 s that resolve nothing of the springs: a quintic
 * through the accelerations at the ends stretched links 207-fold. */
START_TEST(frames_between_stiff_steps_keep_the_links)
{
    tw_scheme scheme = stiff_schemes[_i];
    for (int exponent = 4; exponent <= 10; exponent += 2) {
        spring_network *network = NULL;
        ck_assert_int_eq(rope_create(pow(10, exponent), &network), TW_OK);
        problem plain = spring_network_problem(network);
        integrable p;
        ck_assert_int_eq(integrable_create(&plain, true, &p), TW_OK);
        double u[60] = {0};
        memcpy(u, network->initial, sizeof(double) * 30);
        lengths seen = {.least = INFINITY};
        for (int i = 0; i < 10; i++) seen.rest[i] = link_length(u, i);
        tw_integrator_options options = tw_integrator_options_default();
        options.scheme = scheme;
        options.step = 0.02;
        tw_integrator *integrator = NULL;
        tw_error error = {0};
        ck_assert_msg(!tw_integrator_create_second_order(&p.table, &options, &integrator, &error),
                      "%s", error.text);
        ck_assert_int_eq(tw_integrator_on_output(integrator, 0, 1.0 / 240, measure_links, &seen),
                         TW_OK);
        ck_assert_int_eq(tw_integrator_start(integrator, 0, u, NULL), TW_OK);
        ck_assert_msg(!tw_integrator_advance(integrator, 0.4, &error), "%s", error.text);
        printf("%-18s k = 1e%-2d links within [%.4f, %.4f]\n", tw_scheme_name(scheme), exponent,
               seen.least, seen.largest);
        ck_assert_double_ge(seen.least, 0.99);
        ck_assert_double_le(seen.largest, 1.03);
        tw_integrator_free(integrator);
        integrable_free(&p);
        spring_network_free(network);
    }
}
END_TEST

/* u' = -1e6 (u - cos t): the ends of steps lie off the manifold u = cos t by up to 1. */
static tw_status relaxation(void *context, double t, const double *u, double *F)
{
    (void)context;
    F[0] = -1e6 * (u[0] - cos(t));
    return TW_OK;
}

static tw_status measure_range(void *context, double t, const double *u)
{
    (void)t;
    double *largest = context;
    *largest = fmax(*largest, fabs(u[0]));
    return TW_OK;
}

START_TEST(frames_between_stiff_steps_of_first_order)
{
    static const tw_scheme implicit[] = {TW_SCHEME_MIDPOINT, TW_SCHEME_BDF1, TW_SCHEME_BDF2};
    tw_first_order_problem p = tw_first_order_problem_default();
    p.space.local_size = 1;
    p.rhs = relaxation;
    p.time_dependent = true;
    tw_integrator_options options = tw_integrator_options_default();
    options.scheme = implicit[_i];
    options.step = 0.1;
    options.newton.tolerance =
        1e-6; /* of 1e-6 |u|: the stage equation of the midpoint rule has no other scale */
    tw_integrator *integrator = NULL;
    double largest = 0;
    ck_assert_int_eq(tw_integrator_create_first_order(&p, &options, &integrator, NULL), TW_OK);
    ck_assert_int_eq(tw_integrator_on_output(integrator, 0, 0.013, measure_range, &largest), TW_OK);
    ck_assert_int_eq(tw_integrator_start(integrator, 0, (double[]){2}, NULL), TW_OK);
    ck_assert_int_eq(tw_integrator_advance(integrator, 3, NULL), TW_OK);
    printf("%s: at most %.3f\n", tw_scheme_name(implicit[_i]), largest);
    ck_assert_double_le(largest, 2.01);
    tw_integrator_free(integrator);
}
END_TEST

/* ---- announced points ---- */

enum { MASSES = 600, STEPS = 4 };

static const tw_scheme announced[] = {TW_SCHEME_EXPRB2, TW_SCHEME_EXPRB32, TW_SCHEME_EXPRB42,
                                      TW_SCHEME_PEXPRB43, TW_SCHEME_EXPRB53};

typedef struct chain_run {
    link_chain *chain;
    problem plain;
    integrable p;
    tw_integrator *integrator;
} chain_run;

static void start_chain(chain_run *run, tw_scheme scheme, tw_phi_engine engine, double interval)
{
    run->chain = fpu_beta_create(MASSES, 5);
    run->plain = link_chain_problem(run->chain);
    ck_assert_int_eq(integrable_create(&run->plain, false, &run->p), TW_OK);
    tw_integrator_options options = tw_integrator_options_default();
    options.scheme = scheme;
    options.step = 2; /* h omega = 4 */
    options.phi.engine = engine;
    options.phi.tolerance = 1e-9;
    ck_assert_int_eq(
        tw_integrator_create_second_order(&run->p.table, &options, &run->integrator, NULL), TW_OK);
    double u[2 * MASSES];
    for (int i = 0; i < MASSES; i++)
        u[i] = 0, u[MASSES + i] = 0.1 * run->chain->initial_v[i]; /* slightly nonlinear */
    ck_assert_int_eq(tw_integrator_start(run->integrator, 0, u, NULL), TW_OK);
    ck_assert_int_eq(tw_integrator_expect_output(run->integrator, 0, interval), TW_OK);
}

static void end_chain(chain_run *run)
{
    tw_integrator_free(run->integrator);
    integrable_free(&run->p);
    link_chain_free(run->chain);
}

/* Largest difference of both runs at the multiples of `interval` inside their last steps. */
static double compare_points(const chain_run *a, const chain_run *b, double interval)
{
    double worst = 0, end = 0, x[2 * MASSES], y[2 * MASSES];
    tw_integrator_state(a->integrator, &end, x);
    tw_integrator_state(b->integrator, NULL, y);
    ck_assert_mem_eq(x, y, sizeof x); /* the step knows nothing of the points */
    for (int k = 0; k * interval < end; k++) {
        if (k * interval <= tw_integrator_previous_time(a->integrator)) continue;
        ck_assert_int_eq(tw_integrator_interpolate(a->integrator, k * interval, x, NULL), TW_OK);
        ck_assert_int_eq(tw_integrator_interpolate(b->integrator, k * interval, y, NULL), TW_OK);
        for (int i = 0; i < 2 * MASSES; i++) worst = fmax(worst, fabs(x[i] - y[i]));
    }
    return worst;
}

START_TEST(announced_points_cost_less)
{
    static const tw_phi_engine engines[] = {TW_PHI_LANCZOS, TW_PHI_CHEBYSHEV};
    const double interval = 0.74; /* two or three inside a step */
    tw_scheme scheme = announced[_i / 2];
    tw_phi_engine engine = engines[_i % 2];
    chain_run plain, told;
    start_chain(&plain, scheme, engine, 0);
    start_chain(&told, scheme, engine, interval);
    double worst = 0;
    for (int step = 0; step < STEPS; step++) {
        ck_assert_int_eq(tw_integrator_step(plain.integrator, 100, NULL), TW_OK);
        ck_assert_int_eq(tw_integrator_step(told.integrator, 100, NULL), TW_OK);
        worst = fmax(worst, compare_points(&plain, &told, interval));
    }
    int64_t before = tw_integrator_statistics_now(plain.integrator).stiffness_products;
    int64_t after = tw_integrator_statistics_now(told.integrator).stiffness_products;
    printf("%-9s by %-9s: %lld products, announced %lld, difference %.1e\n", tw_scheme_name(scheme),
           tw_phi_engine_name(engine), (long long)before, (long long)after, worst);
    ck_assert_msg(worst < 1e-8, "%g apart",
                  worst); /* ten times the tolerance, of states of size 1 */
    ck_assert_int_le(after, engine == TW_PHI_LANCZOS ? before : before * 4 / 10);
    end_chain(&plain);
    end_chain(&told);
}
END_TEST

/* Only who says that no basis is needed gets an engine that keeps none. */
START_TEST(auto_keeps_bases_for_those_who_may_ask)
{
    for (int said = 0; said < 2; said++) {
        chain_run run;
        start_chain(&run, TW_SCHEME_EXPRB42, TW_PHI_AUTO, said ? INFINITY : 0);
        ck_assert_int_eq(tw_integrator_step(run.integrator, 100, NULL), TW_OK);
        tw_phi_engine engine = tw_integrator_statistics_now(run.integrator).engine;
        ck_assert_str_eq(tw_phi_engine_name(engine), said ? "chebyshev" : "lanczos");
        end_chain(&run);
    }
}
END_TEST

START_TEST(expectations_are_checked)
{
    chain_run run;
    start_chain(&run, TW_SCHEME_EXPRB42, TW_PHI_LANCZOS, 0);
    ck_assert_int_eq(tw_integrator_expect_output(NULL, 0, 1), TW_INVALID_ARGUMENT);
    ck_assert_int_eq(tw_integrator_expect_output(run.integrator, NAN, 1), TW_INVALID_ARGUMENT);
    ck_assert_int_eq(tw_integrator_expect_output(run.integrator, 0, -1), TW_INVALID_ARGUMENT);
    ck_assert_int_eq(tw_integrator_expect_output(run.integrator, 0, NAN), TW_INVALID_ARGUMENT);
    end_chain(&run);
}
END_TEST

/* ---- adaptive steps ---- */

/* How far the outputs of a run are from the truth. */
typedef struct output_errors {
    const problem *plain;
    double t;           /* of the output before */
    double exact[SIZE]; /* the truth there */
    double worst;
    int count;
} output_errors;

static tw_status compare_output(void *context, double t, const double *u)
{
    output_errors *seen = context;
    if (t > seen->t) exactly(seen->plain, t - seen->t, seen->exact);
    seen->t = t;
    seen->worst = fmax(seen->worst, distance(u, seen->exact));
    seen->count++;
    return TW_OK;
}

static const tw_scheme adaptive_schemes[] = {TW_SCHEME_ETDRK4, TW_SCHEME_EXPRB42,
                                             TW_SCHEME_EXPMID4};
static const tw_phi_engine adaptive_engines[] = {
    TW_PHI_DENSE, TW_PHI_PHIPM, TW_PHI_PHIPM_IOM2, TW_PHI_PHIPM_SIMUL_IOM2, TW_PHI_KIOPS,
    TW_PHI_EXPMV, TW_PHI_LEJA,  TW_PHI_LANCZOS,    TW_PHI_CHEBYSHEV,        TW_PHI_AUTO};
enum { ADAPTIVE_ENGINES = sizeof adaptive_engines / sizeof *adaptive_engines };

/* etdrk4 doubles its steps, and a point inside is a shorter step from the start or the middle. The
 * rows of expmid4 do not use all vectors: chebyshev took the series of an earlier call for those that
 * they leave out, and steps of 1e-9 s followed. */
START_TEST(outputs_of_adaptive_steps)
{
    tw_scheme scheme = adaptive_schemes[_i / ADAPTIVE_ENGINES];
    tw_phi_engine engine = adaptive_engines[_i % ADAPTIVE_ENGINES];
    link_chain *chain = fput_create(3, 100);
    problem plain = link_chain_problem(chain);
    integrable p;
    ck_assert_int_eq(integrable_create(&plain, true, &p), TW_OK);

    /* The start, which is the first output too. */
    output_errors seen = {.plain = &plain};
    memcpy(seen.exact, chain->initial_x, sizeof(double) * UNKNOWNS);
    memcpy(seen.exact + UNKNOWNS, chain->initial_v, sizeof(double) * UNKNOWNS);
    double start[SIZE];
    memcpy(start, seen.exact, sizeof start);

    tw_integrator_options options = tw_integrator_options_default();
    options.scheme = scheme;
    options.relative_tolerance = 1e-5;
    options.phi.engine = engine;
    tw_integrator *integrator = NULL;
    tw_error error = {0};
    ck_assert_int_eq(tw_integrator_create_second_order(&p.table, &options, &integrator, &error),
                     TW_OK);
    ck_assert_int_eq(tw_integrator_on_output(integrator, 0, 0.0037, compare_output, &seen), TW_OK);
    ck_assert_int_eq(tw_integrator_start(integrator, 0, start, &error), TW_OK);
    tw_status status = tw_integrator_advance(integrator, 0.2, &error);
    ck_assert_msg(status == TW_OK, "%s by %s: %s", tw_scheme_name(scheme),
                  tw_phi_engine_name(engine), error.text);
    printf("%s by %s: %d outputs in %lld steps, error %.1e\n", tw_scheme_name(scheme),
           tw_phi_engine_name(engine), seen.count,
           (long long)tw_integrator_statistics_now(integrator).steps, seen.worst);
    ck_assert_int_eq(seen.count, 54);
    ck_assert_double_le(seen.worst, 1e-5);
    tw_integrator_free(integrator);
    integrable_free(&p);
    link_chain_free(chain);
}
END_TEST

/* In steps that are short compared with every period the weights of expmid4 cancel, -phi_2 + 4 phi_3
 * of the force to 1e-13: chebyshev never ended that series. */
START_TEST(short_steps_with_every_engine)
{
    tw_phi_engine engine = adaptive_engines[_i];
    link_chain *chain = fput_create(3, 100);
    problem plain = link_chain_problem(chain);
    integrable p;
    double u[SIZE];
    double exact[SIZE];
    ck_assert_int_eq(integrable_create(&plain, true, &p), TW_OK);
    memcpy(u, chain->initial_x, sizeof(double) * UNKNOWNS);
    memcpy(u + UNKNOWNS, chain->initial_v, sizeof(double) * UNKNOWNS);
    memcpy(exact, u, sizeof exact);

    tw_integrator_options options = tw_integrator_options_default();
    options.scheme = TW_SCHEME_EXPMID4;
    options.step = 1e-6;
    options.phi.engine = engine;
    tw_integrator *integrator = NULL;
    tw_error error = {0};
    ck_assert_int_eq(tw_integrator_create_second_order(&p.table, &options, &integrator, &error),
                     TW_OK);
    ck_assert_int_eq(tw_integrator_start(integrator, 0, u, &error), TW_OK);
    ck_assert_msg(tw_integrator_advance(integrator, 1e-5, &error) == TW_OK, "%s", error.text);
    tw_integrator_state(integrator, NULL, u);
    exactly(&plain, 1e-5, exact);
    ck_assert_double_le(distance(u, exact), 1e-12);
    tw_integrator_free(integrator);
    integrable_free(&p);
    link_chain_free(chain);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("dense output");
    TCase *cases = tcase_create("dense output");
    tcase_add_loop_test(cases, ten_points_inside_a_step, 0,
                        2 * (int)(sizeof schemes / sizeof *schemes));
    tcase_add_loop_test(cases, frames_between_stiff_steps_keep_the_links, 0,
                        (int)(sizeof stiff_schemes / sizeof *stiff_schemes));
    tcase_add_loop_test(cases, frames_between_stiff_steps_of_first_order, 0, 3);
    tcase_add_loop_test(cases, announced_points_cost_less, 0,
                        2 * (int)(sizeof announced / sizeof *announced));
    tcase_add_test(cases, auto_keeps_bases_for_those_who_may_ask);
    tcase_add_test(cases, expectations_are_checked);
    tcase_add_loop_test(cases, short_steps_with_every_engine, 0, ADAPTIVE_ENGINES);
    tcase_add_loop_test(cases, outputs_of_adaptive_steps, 0,
                        ADAPTIVE_ENGINES *
                            (int)(sizeof adaptive_schemes / sizeof *adaptive_schemes));
    suite_add_tcase(suite, cases);
    return run_suite(suite);
}
