/* Springs that yield, against theory: permanent strain, loops with hardening, energy, rupture, and
 * what a run must keep beside positions and velocities. */
/* labels: threads */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <twang/twang.h>

#include "support/run_suite.h"
#include "support/simulation_runs.h"

static const double link = 0.1;   /* length of a spring [m] */
static const double stiff = 1e4;  /* [N/m] */
static const double yield = 0.02; /* strain */

/* ---- the bodies ---- */

/* What a test wants: a row of links along x whose first particle is pinned. */
typedef struct row {
    int links;
    double mass;     /* of each particle [kg] */
    double velocity; /* of the last particle along x [m/s] */
    tw_plasticity law;
    /* The way of the last particle, which is moved then; no keyframes: it is free. */
    int keyframes;
    double times[8];
    double ways[8]; /* along x [m] */
    double cubic;   /* [N/m^3]; 0: linear springs */
} row;

static tw_plasticity perfect(void)
{
    tw_plasticity law = tw_plasticity_default();
    law.yield_strain = yield;
    return law;
}

static void add_row(tw_model *model, const row *r)
{
    int64_t count = r->links + 1;
    double *x = calloc(3 * (size_t)count, sizeof *x);
    double *v = calloc(3 * (size_t)count, sizeof *v);
    double *values = calloc(3 * (size_t)count, sizeof *values);
    int64_t *ends = calloc(2 * (size_t)count, sizeof *ends);
    for (int64_t i = 0; i < count; i++) {
        x[3 * i] = link * (double)i;
        values[i] = r->mass;
        values[count + i] = stiff;
        values[2 * count + i] = r->cubic;
        ends[2 * i] = i;
        ends[2 * i + 1] = i + 1;
    }
    v[3 * (count - 1)] = r->velocity;

    ck_assert_int_eq(tw_model_add_particles(model, count, x, v, values, NULL, NULL), TW_OK);
    ck_assert_int_eq(tw_model_set_plasticity(model, &r->law, NULL), TW_OK);
    tw_status status =
        r->cubic > 0 ? tw_model_add_cubic_springs(model, r->links, ends, values + count,
                                                  values + 2 * count, NULL, NULL)
                     : tw_model_add_springs(model, r->links, ends, values + count, NULL, NULL);
    ck_assert_int_eq(status, TW_OK);
    ck_assert_int_eq(tw_model_pin(model, 0, 0, NULL), TW_OK);
    free(x);
    free(v);
    free(values);
    free(ends);
}

static tw_simulation *make_row(const row *r)
{
    tw_model *model = NULL;
    tw_simulation *simulation = NULL;
    ck_assert_int_eq(tw_model_create(&model, NULL), TW_OK);
    add_row(model, r);
    double places[24] = {0};
    for (int i = 0; i < r->keyframes; i++) places[3 * i] = r->ways[i];
    if (r->keyframes)
        ck_assert_int_eq(tw_model_prescribe_keyframes(model, r->links, r->links, r->keyframes,
                                                      r->times, places, NULL),
                         TW_OK);
    ck_assert_int_eq(tw_simulation_of_model(model, &simulation, NULL), TW_OK);
    return simulation;
}

static tw_integrator *start(tw_simulation *simulation, tw_scheme scheme, double step, double rtol)
{
    tw_integrator_options options = tw_integrator_options_default();
    options.scheme = scheme;
    options.step = step;
    options.relative_tolerance = rtol;
    return start_simulation(simulation, &options);
}

static void leave(tw_integrator *integrator, tw_simulation *simulation)
{
    tw_integrator_free(integrator);
    tw_simulation_free(simulation);
}

/* The plastic elongation of spring e, as the problem keeps it. */
static double elongation(const tw_simulation *simulation, int e)
{
    return tw_simulation_second_order(simulation)->internal.values[e];
}

static double all_elongation(const tw_simulation *simulation, int links)
{
    double sum = 0;
    for (int e = 0; e < links; e++) sum += elongation(simulation, e);
    return sum;
}

static tw_measurement measure(tw_integrator *integrator, tw_simulation *simulation)
{
    tw_measurement m;
    double t = 0;
    tw_integrator_state(integrator, &t, NULL);
    ck_assert_int_eq(tw_simulation_measure(simulation, t, tw_integrator_state_view(integrator), &m),
                     TW_OK);
    return m;
}

/* ---- permanent strain ---- */

START_TEST(a_stretched_bar_keeps_the_strain_of_theory)
{
    /* Stretched to a strain of about 6 %, unloaded to 4 %: all but 2 % of the largest stay. */
    static const tw_scheme schemes[] = {TW_SCHEME_RK4, TW_SCHEME_EXPRB42, TW_SCHEME_EXPMID2,
                                        TW_SCHEME_MIDPOINT, TW_SCHEME_BDF1};
    row r = {.links = 10,
             .mass = 1e-3,
             .law = perfect(),
             .keyframes = 3,
             .times = {0, 1, 2},
             .ways = {0, 0.06, 0.04}};
    tw_simulation *simulation = make_row(&r);
    tw_integrator *integrator = start(simulation, schemes[_i], 2e-4, 0);
    double largest = 0;
    for (int i = 1; i <= 400; i++) {
        double rows[11 * 8];
        advance_to(integrator, 5e-3 * i);
        const double *u = tw_integrator_state_view(integrator);
        ck_assert_int_eq(tw_simulation_rows(simulation, 5e-3 * i, u, rows), TW_OK);
        largest = fmax(largest, rows[80] / (r.links * link) - 1);
    }

    double kept = all_elongation(simulation, r.links) / (r.links * link);
    ck_assert_double_gt(largest, 0.06);
    ck_assert_double_eq_tol(kept, largest - yield, 0.01 * kept);
    leave(integrator, simulation);
}
END_TEST

/* The tension of a spring that follows a path of strains, by the exact solution on each monotonic
 * piece of the path: elastic up to the limit, then the line of hardening. */
typedef struct exact_loop {
    double limit; /* elastic limit now, as a strain */
    double plastic;
} exact_loop;

static double exact_stress(exact_loop *loop, double hardening, double strain)
{
    double elastic = strain - loop->plastic;
    if (fabs(elastic) > loop->limit) {
        double flow = (fabs(elastic) - loop->limit) / (1 + hardening);
        loop->plastic += copysign(flow, elastic);
        loop->limit += hardening * flow;
    }
    return strain - loop->plastic;
}

START_TEST(loops_with_hardening_follow_theory)
{
    /* Two links that are stretched, compressed and stretched again. */
    row r = {.links = 2,
             .mass = 1e-3,
             .law = perfect(),
             .keyframes = 4,
             .times = {0, 1, 2, 3},
             .ways = {0, 0.012, -0.012, 0.016}};
    r.law.hardening = _i == 0 ? 0.25 : 0.0;
    tw_simulation *simulation = make_row(&r);
    tw_integrator *integrator = start(simulation, TW_SCHEME_RK4, 1e-4, 0);
    exact_loop loop = {.limit = yield};

    /* The mean strain and stress of both links after every step. */
    double largest = 0;
    for (int i = 1; i <= 300; i++) {
        advance_to(integrator, 0.01 * i);
        double rows[3 * 8];
        ck_assert_int_eq(
            tw_simulation_rows(simulation, 0.01 * i, tw_integrator_state_view(integrator), rows),
            TW_OK);
        double strain = rows[16] / (2 * link) - 1;
        double stress = strain - all_elongation(simulation, 2) / (2 * link);
        largest = fmax(largest, fabs(stress - exact_stress(&loop, r.law.hardening, strain)));
    }
    ck_assert_double_lt(largest, 0.01 * yield);
    ck_assert_double_gt(fabs(loop.plastic), 0.025);
    leave(integrator, simulation);
}
END_TEST

/* ---- a mass that stretches one spring beyond its limit: everything is known ---- */

/* m v^2/2 = k e^2/2 + k e p + k H p^2/2 + ... gives p: the pull is k (e + H p / (1 + H)) after the
 * elongation p beyond the limit e = yield link, H the slope of the limit. */
static row thrown_mass(double hardening)
{
    row r = {.links = 1, .mass = 1, .velocity = 0.6, .law = perfect()};
    r.law.hardening = hardening;
    return r;
}

/* The plastic elongation when the mass turns round, by the energy that is left: the flow p takes
 * k e p + k H p^2 / 2, and the spring holds k (e + H p)^2 / 2. */
static double exact_elongation(const row *r)
{
    double e = yield * link;
    double H = r->law.hardening;
    double energy = 0.5 * r->mass * r->velocity * r->velocity;

    /* energy = k [(e + H p)^2 / 2 + e p + H p^2 / 2]: a quadratic equation in p. */
    double a = 0.5 * stiff * (H * H + H);
    double b = stiff * e * (1 + H);
    double c = 0.5 * stiff * e * e - energy;
    if (a == 0) return -c / b;
    return (-b + sqrt(b * b - 4 * a * c)) / (2 * a);
}

static double elongation_by(const row *r, tw_scheme scheme, double step, double rtol)
{
    tw_simulation *simulation = make_row(r);
    tw_integrator *integrator = start(simulation, scheme, step, rtol);
    advance_to(integrator, 0.06);
    double result = elongation(simulation, 0);
    leave(integrator, simulation);
    return result;
}

static const tw_scheme fixed_schemes[] = {
    TW_SCHEME_RK4,      TW_SCHEME_VERLET,  TW_SCHEME_EXPRB42, TW_SCHEME_PEXPRB43,
    TW_SCHEME_EXPMID2,  TW_SCHEME_EXPMID4, TW_SCHEME_EXPRB32, TW_SCHEME_EPIRK4S3,
    TW_SCHEME_MIDPOINT, TW_SCHEME_NEWMARK, TW_SCHEME_V_IMEX,  TW_SCHEME_GAUTSCHI,
    TW_SCHEME_BDF1,     TW_SCHEME_BDF2,    TW_SCHEME_ETDRK4,  TW_SCHEME_SEMI_IMPLICIT};
enum { FIXED_SCHEMES = sizeof fixed_schemes / sizeof *fixed_schemes };

START_TEST(the_flow_is_that_of_theory_and_converges)
{
    /* The spring's frequency is 100 / s: the steps are a tenth and a twentieth of 1 / frequency. */
    tw_scheme scheme = fixed_schemes[_i];
    bool is_first_order =
        scheme == TW_SCHEME_BDF1 || scheme == TW_SCHEME_BDF2 || scheme == TW_SCHEME_SEMI_IMPLICIT;
    const double share = is_first_order ? 0.1 : 1.0;
    for (int k = 0; k < 2; k++) {
        row r = thrown_mass(0.3 * k);
        double exact = exact_elongation(&r);
        double coarse = elongation_by(&r, scheme, 1e-3 * share, 0) / exact - 1;
        double fine = elongation_by(&r, scheme, 5e-4 * share, 0) / exact - 1;
        ck_assert_msg(fabs(coarse) < 0.02 && fabs(fine) < 0.01, "%s: %g, %g",
                      tw_scheme_name(scheme), coarse, fine);
    }
}
END_TEST

START_TEST(adaptive_steps_flow_as_well)
{
    static const tw_scheme schemes[] = {TW_SCHEME_RK4, TW_SCHEME_EXPRB42, TW_SCHEME_EXPMID2};
    row r = thrown_mass(0);
    double found = elongation_by(&r, schemes[_i], 1e-4, 1e-6);
    ck_assert_double_eq_tol(found, exact_elongation(&r), 0.02 * found);
}
END_TEST

enum { SWING_SCHEMES = 9 };

/* An exponential scheme swings exactly through several periods of a linear spring in one step. What
 * flows in between must not be passed over. */
START_TEST(no_step_passes_over_a_swing)
{
    static const tw_scheme schemes[] = {TW_SCHEME_EXPRB42, TW_SCHEME_PEXPRB43, TW_SCHEME_EXPMID2,
                                        TW_SCHEME_EXPMID4, TW_SCHEME_GAUTSCHI, TW_SCHEME_ETDRK4,
                                        TW_SCHEME_EXPRB53, TW_SCHEME_MIDPOINT, TW_SCHEME_BDF2};
    tw_scheme scheme = schemes[_i % SWING_SCHEMES];
    row r = thrown_mass(_i < SWING_SCHEMES ? 0 : 0.3);
    double exact = exact_elongation(&r);

    /* Steps of h omega = 1 ... 6; two schemes have no fixed steps of that length that make sense. */
    static const double steps[] = {0.01, 0.02, 0.03, 0.06};
    for (int k = 0; k < 4 && scheme != TW_SCHEME_MIDPOINT && scheme != TW_SCHEME_BDF2; k++) {
        double found = elongation_by(&r, scheme, steps[k], 0);
        ck_assert_msg(fabs(found / exact - 1) < 0.02, "%s, step %g: %g instead of %g",
                      tw_scheme_name(scheme), steps[k], found, exact);
    }

    /* Adaptive steps: a linear spring has no error that would keep them small. */
    static const double tolerances[] = {1e-3, 1e-4};
    for (int k = 0; k < 2 && scheme != TW_SCHEME_GAUTSCHI && scheme != TW_SCHEME_ETDRK4; k++) {
        double found = elongation_by(&r, scheme, 1e-4, tolerances[k]);
        ck_assert_msg(fabs(found / exact - 1) < 0.03, "%s, rtol %g: %g instead of %g",
                      tw_scheme_name(scheme), tolerances[k], found, exact);
    }
}
END_TEST

/* Pairs of masses that swing, the first far beyond its limit and the others within theirs, by steps of h omega = 1.4.
 * Returns how many steps were rejected. */
static int64_t swing_pairs(int64_t count, double *first_elongation)
{
    double *x = calloc(6 * (size_t)count, sizeof *x);
    double *v = calloc(6 * (size_t)count, sizeof *v);
    double *values = calloc(3 * (size_t)count, sizeof *values);
    int64_t *ends = calloc(2 * (size_t)count, sizeof *ends);
    for (int64_t i = 0; i < count; i++) {
        x[6 * i + 1] = x[6 * i + 4] = (double)i;
        x[6 * i + 3] = link;
        v[6 * i + 3] = i == 0 ? 0.5 : 0.1;
        v[6 * i] = -v[6 * i + 3];
        values[2 * i] = values[2 * i + 1] = 1;
        values[2 * count + i] = stiff;
        ends[2 * i] = 2 * i;
        ends[2 * i + 1] = 2 * i + 1;
    }

    tw_model *model = NULL;
    tw_plasticity law = perfect();
    ck_assert_int_eq(tw_model_create(&model, NULL), TW_OK);
    ck_assert_int_eq(tw_model_set_plasticity(model, &law, NULL), TW_OK);
    ck_assert_int_eq(tw_model_add_particles(model, 2 * count, x, v, values, NULL, NULL), TW_OK);
    ck_assert_int_eq(tw_model_add_springs(model, count, ends, values + 2 * count, NULL, NULL),
                     TW_OK);
    free(x);
    free(v);
    free(values);
    free(ends);

    tw_simulation *simulation = NULL;
    ck_assert_int_eq(tw_simulation_of_model(model, &simulation, NULL), TW_OK);
    tw_integrator *integrator = start(simulation, TW_SCHEME_EXPRB42, 0.01, 0);
    advance_to(integrator, 0.06);
    *first_elongation = elongation(simulation, 0);
    int64_t rejected = tw_integrator_statistics_now(integrator).rejected_steps;
    leave(integrator, simulation);
    return rejected;
}

/* Errors of the flow are judged by their energy beside that of all springs: one of many divides no step of all, but the
 * same one alone does. */
START_TEST(one_of_many_springs_divides_no_step)
{
    double alone = 0;
    double among_many = 0;
    ck_assert_int_gt(swing_pairs(1, &alone), 0);
    ck_assert_int_eq(swing_pairs(20000, &among_many), 0);
    ck_assert_double_eq_tol(among_many, alone, 0.2 * alone);
}
END_TEST

START_TEST(flow_takes_what_the_balance_lacks)
{
    /* Kinetic + potential energy + plastic work is constant; linear and cubic springs. */
    row r = thrown_mass(0.1);
    r.cubic = _i == 0 ? 0 : 1e9;
    tw_simulation *simulation = make_row(&r);
    tw_integrator *integrator = start(simulation, TW_SCHEME_RK4, 2e-4, 0);
    double energy = 0.5 * r.mass * r.velocity * r.velocity;
    double last = 0;
    for (int i = 1; i <= 100; i++) {
        advance_to(integrator, 1e-3 * i);
        tw_measurement m = measure(integrator, simulation);
        ck_assert_double_eq_tol(m.kinetic + m.potential + m.plastic_work, energy, 1e-5 * energy);
        ck_assert_double_ge(m.plastic_work, last - 1e-12);
        last = m.plastic_work;
    }
    ck_assert_double_gt(last, 0.5 * energy);
    leave(integrator, simulation);
}
END_TEST

START_TEST(the_stage_of_a_step_closes_the_balance_too)
{
    row r = thrown_mass(0);
    tw_simulation *simulation = make_row(&r);
    tw_integrator *integrator = start(simulation, TW_SCHEME_EXPMID2, 2e-4, 0);
    double energy = 0.5 * r.mass * r.velocity * r.velocity;
    for (int i = 1; i <= 100; i++) {
        ck_assert_int_eq(tw_integrator_step(integrator, 0.1, NULL), TW_OK);
        double t = 0;
        tw_measurement m;
        const double *u = tw_integrator_energy_state(integrator, &t);
        ck_assert_int_eq(tw_simulation_measure(simulation, t, u, &m), TW_OK);
        ck_assert_double_eq_tol(m.kinetic + m.potential + m.plastic_work, energy, 1e-3 * energy);
    }
    leave(integrator, simulation);
}
END_TEST

/* The potential energy of a row of one link whose free end is at x. */
static double energy_at(const tw_second_order_problem *problem, double x)
{
    double position[3] = {x, 0, 0};
    double rest[3] = {0};
    double kinetic = 0;
    double potential = 0;
    ck_assert_int_eq(problem->energy(problem->context, 0, position, rest, &kinetic, &potential),
                     TW_OK);
    return potential;
}

START_TEST(a_spring_beyond_its_limit_pulls_as_its_potential_says)
{
    /* Stretched, pressed, and pressed until its rest length is the shortest; linear and cubic springs. */
    static const double strains[] = {0.01, 0.019, 0.05, 0.3, -0.05, -0.5, -0.99};
    row r = thrown_mass(_i % 2 ? 0.3 : 0);
    r.cubic = _i < 2 ? 0 : 1e9;
    tw_simulation *simulation = make_row(&r);
    const tw_second_order_problem *problem = tw_simulation_second_order(simulation);

    double before = 0;
    for (size_t k = 0; k < sizeof strains / sizeof *strains; k++) {
        double x[3] = {link * (1 + strains[k]), 0, 0};
        double v[3] = {0};
        double a[3] = {0};
        ck_assert_int_eq(problem->acceleration(problem->context, 0, x, v, a), TW_OK);
        double s = 1e-7;
        double slope = (energy_at(problem, x[0] + s) - energy_at(problem, x[0] - s)) / (2 * s);
        ck_assert_double_eq_tol(-r.mass * a[0], slope, 1e-6 * fabs(slope));
        if (k == 2) before = slope;
    }

    /* Beyond the limit the pull stays, or grows by the law of hardening; that of linear springs is known. */
    double H = r.law.hardening;
    double pull = stiff * link * (yield + H / (1 + H) * (0.05 - yield));
    if (r.cubic == 0) ck_assert_double_eq_tol(before, pull, 1e-6 * pull);
    tw_simulation_free(simulation);
}
END_TEST

/* ---- rupture ---- */

/* A step that reaches beyond the rupture is divided: what the spring does there is not done. */
typedef struct rupture_case {
    tw_scheme scheme;
    double step; /* [s]; the spring's frequency is 100 / s */
    double rtol;
    double balance; /* how well energy is kept */
} rupture_case;

static const rupture_case rupture_cases[] = {
    {TW_SCHEME_RK4, 1e-4, 0, 1e-6},         {TW_SCHEME_RK4, 1e-3, 0, 1e-2},
    {TW_SCHEME_VERLET, 5e-3, 0, 1e-2},      {TW_SCHEME_EXPRB42, 5e-3, 0, 1e-2},
    {TW_SCHEME_MIDPOINT, 1e-3, 0, 1e-2},    {TW_SCHEME_EXPRB32, 1e-4, 1e-4, 1e-2},
    {TW_SCHEME_PEXPRB43, 1e-4, 1e-8, 1e-2}, {TW_SCHEME_EXPRB42, 1e-4, 1e-6, 1e-2}};
enum { RUPTURE_CASES = sizeof rupture_cases / sizeof *rupture_cases };

START_TEST(a_spring_that_breaks_pulls_no_more)
{
    const rupture_case *c = &rupture_cases[_i];
    row r = thrown_mass(0);
    r.law.rupture_strain = 0.06;
    tw_simulation *simulation = make_row(&r);
    tw_integrator *integrator = start(simulation, c->scheme, c->step, c->rtol);
    advance_to(integrator, 0.1);
    tw_measurement m = measure(integrator, simulation);

    /* The work of stretching by 6 % of the length: k e^2/2 + k e (0.06 L - e). */
    double e = yield * link;
    double work = 0.5 * stiff * e * e + stiff * e * (0.06 * link - e);
    double energy = 0.5 * r.mass * r.velocity * r.velocity;
    ck_assert_double_eq(m.potential, 0);
    ck_assert_double_eq_tol(m.plastic_work, work, 0.02 * work);
    ck_assert_double_eq_tol(m.kinetic + m.plastic_work, energy, c->balance * energy);

    /* It flies on at constant velocity. */
    double before = m.momentum[0];
    advance_to(integrator, 0.2);
    ck_assert_double_eq(measure(integrator, simulation).momentum[0], before);
    leave(integrator, simulation);
}
END_TEST

/* ---- what a run must keep ---- */

static row long_row(void)
{
    row r = {.links = 60,
             .mass = 0.01,
             .law = perfect(),
             .keyframes = 3,
             .times = {0, 0.05, 0.1},
             .ways = {0, 0.5, 0.2}};
    r.law.hardening = 0.1;
    r.law.rupture_strain = 0.4;
    return r;
}

START_TEST(a_restored_run_is_bitwise_the_same)
{
    tw_scheme scheme = fixed_schemes[_i];
    row r = long_row();
    tw_simulation *whole = make_row(&r);
    tw_integrator *one = start(whole, scheme, 1e-3, 0);
    void *bytes = NULL;
    size_t size = 0;
    for (int i = 1; i <= 80; i++) {
        ck_assert_int_eq(tw_integrator_step(one, 0.1, NULL), TW_OK);
        if (i != 40) continue;
        ck_assert_int_eq(tw_integrator_serialise(one, NULL, 0, &size), TW_OK);
        bytes = malloc(size);
        ck_assert_int_eq(tw_integrator_serialise(one, bytes, size, &size), TW_OK);
    }

    tw_simulation *second = make_row(&r);
    tw_integrator *two = start(second, scheme, 1e-3, 0);
    ck_assert_int_eq(tw_integrator_restore(two, bytes, size, NULL), TW_OK);
    for (int i = 41; i <= 80; i++) ck_assert_int_eq(tw_integrator_step(two, 0.1, NULL), TW_OK);

    /* Everything that decides the future is the same, and something has flowed. */
    char *a = malloc(size);
    char *b = malloc(size);
    ck_assert_int_eq(tw_integrator_serialise(one, a, size, &size), TW_OK);
    ck_assert_int_eq(tw_integrator_serialise(two, b, size, &size), TW_OK);
    ck_assert_msg(memcmp(a, b, size) == 0, "%s differs", tw_scheme_name(scheme));
    ck_assert_double_gt(all_elongation(whole, r.links), 0.02);
    free(a);
    free(b);
    free(bytes);
    leave(one, whole);
    leave(two, second);
}
END_TEST

START_TEST(a_new_start_forgets_the_flow)
{
    row r = thrown_mass(0);
    tw_simulation *simulation = make_row(&r);
    tw_integrator *integrator = start(simulation, TW_SCHEME_EXPMID2, 1e-3, 0);
    advance_to(integrator, 0.06);
    double first = elongation(simulation, 0);
    ck_assert_int_eq(tw_integrator_start(integrator, 0, tw_simulation_start(simulation), NULL),
                     TW_OK);
    ck_assert_double_eq(elongation(simulation, 0), 0);
    advance_to(integrator, 0.06);
    ck_assert_double_eq(elongation(simulation, 0), first);
    leave(integrator, simulation);
}
END_TEST

START_TEST(threads_do_not_change_the_flow)
{
    double found[2];
    row r = long_row();
    r.links = 20000;
    r.mass = 1e-5;
    r.ways[1] = 200;
    for (int k = 0; k < 2; k++) {
        tw_set_threads(k + 1);
        tw_simulation *simulation = make_row(&r);
        tw_integrator *integrator = start(simulation, TW_SCHEME_RK4, 2e-5, 0);
        advance_to(integrator, 0.004);
        tw_measurement m = measure(integrator, simulation);
        found[k] = m.plastic_work;
        ck_assert_double_gt(m.plastic_work, 0);
        leave(integrator, simulation);
    }
    ck_assert_double_eq(found[0], found[1]);
}
END_TEST

/* ---- several integrators ---- */

enum { TURN_LINKS = 3000 /* more than one block of internal variables */ };

/* The state of a row after 4 ms; in the middle another integrator makes a step from the start. */
static void take_turns(bool with_other, double state[6 * TURN_LINKS])
{
    row r = {.links = TURN_LINKS, .mass = 0.01, .velocity = 20, .law = perfect()};
    tw_simulation *simulation = make_row(&r);
    tw_integrator *integrator = start(simulation, TW_SCHEME_RK4, 2.5e-5, 0);
    advance_to(integrator, 0.002);
    if (with_other) {
        tw_integrator *other = start(simulation, TW_SCHEME_RK4, 1e-6, 0);
        advance_to(other, 1e-6);
        ck_assert(measure(other, simulation).plastic_work == 0);
        tw_integrator_free(other);
    }

    advance_to(integrator, 0.004);
    ck_assert(measure(integrator, simulation).plastic_work > 0);
    size_t bytes = 6 * TURN_LINKS * sizeof *state;
    memcpy(state, tw_integrator_state_view(integrator), bytes);
    leave(integrator, simulation);
}

START_TEST(integrators_may_take_turns)
{
    static double alone[6 * TURN_LINKS];
    static double in_turns[6 * TURN_LINKS];
    take_turns(false, alone);
    take_turns(true, in_turns);
    ck_assert_mem_eq(alone, in_turns, sizeof alone);
}
END_TEST

/* ---- springs in fours ---- */

/* Springs that cannot break are passed over four at a time where nothing flows. Those that could break at a strain that
 * nobody reaches are looked at one by one. Both must flow alike. */
static void run_links(double rupture_strain, double h, double values[64])
{
    enum { LINKS = 15, COUNT = 2 * LINKS };
    row r = {.links = LINKS, .mass = 0.01, .velocity = 20, .law = perfect()};
    r.law.rupture_strain = rupture_strain;
    tw_simulation *simulation = make_row(&r);
    tw_integrator *integrator = start(simulation, TW_SCHEME_RK4, h, 0);
    advance_to(integrator, 0.02);
    ck_assert(all_elongation(simulation, LINKS) > yield * link);
    memcpy(values, tw_simulation_second_order(simulation)->internal.values, COUNT * sizeof *values);
    leave(integrator, simulation);
}

START_TEST(springs_flow_alike_alone_and_in_fours)
{
    /* The springs swing with sqrt(2 k / m) = 1,414 1/s: by 0.35 and by 0.035 rad in a step. */
    double h = _i == 0 ? 2.5e-4 : 2.5e-5;
    double in_fours[64] = {0};
    double alone[64] = {0};
    run_links(INFINITY, h, in_fours);
    run_links(1e6, h, alone);
    ck_assert_mem_eq(in_fours, alone, sizeof alone);
}
END_TEST

/* ---- bad input ---- */

START_TEST(impossible_laws_are_refused)
{
    tw_model *model = NULL;
    ck_assert_int_eq(tw_model_create(&model, NULL), TW_OK);
    const tw_plasticity wrong[] = {{0, 0, INFINITY, 1},   {-1, 0, INFINITY, 1},
                                   {NAN, 0, INFINITY, 1}, {INFINITY, 0, INFINITY, 1},
                                   {0.1, -1, 1, 1},       {0.1, NAN, 1, 1},
                                   {0.1, 0, 0.1, 1},      {0.1, 0, NAN, 1},
                                   {0.1, INFINITY, 1, 1}, {0.1, 0, 1, 0},
                                   {0.1, 0, 1, -1},       {0.1, 0, 1, NAN}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        ck_assert_int_eq(tw_model_set_plasticity(model, &wrong[i], NULL), TW_INVALID_ARGUMENT);
    ck_assert_int_eq(tw_model_set_plasticity(model, NULL, NULL), TW_OK);
    ck_assert_int_eq(tw_model_set_plasticity(NULL, NULL, NULL), TW_INVALID_ARGUMENT);
    tw_model_free(model);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("plasticity");
    TCase *theory = tcase_create("theory");
    tcase_set_timeout(theory, 120);
    tcase_add_loop_test(theory, a_stretched_bar_keeps_the_strain_of_theory, 0, 5);
    tcase_add_loop_test(theory, loops_with_hardening_follow_theory, 0, 2);
    tcase_add_loop_test(theory, the_flow_is_that_of_theory_and_converges, 0, FIXED_SCHEMES);
    tcase_add_loop_test(theory, adaptive_steps_flow_as_well, 0, 3);
    tcase_add_loop_test(theory, no_step_passes_over_a_swing, 0, 2 * SWING_SCHEMES);
    tcase_add_test(theory, one_of_many_springs_divides_no_step);
    tcase_add_loop_test(theory, flow_takes_what_the_balance_lacks, 0, 2);
    tcase_add_test(theory, the_stage_of_a_step_closes_the_balance_too);
    tcase_add_loop_test(theory, a_spring_beyond_its_limit_pulls_as_its_potential_says, 0, 4);
    tcase_add_loop_test(theory, a_spring_that_breaks_pulls_no_more, 0, RUPTURE_CASES);
    suite_add_tcase(suite, theory);

    TCase *state = tcase_create("state");
    tcase_set_timeout(state, 120);
    tcase_add_loop_test(state, a_restored_run_is_bitwise_the_same, 0, FIXED_SCHEMES);
    tcase_add_test(state, a_new_start_forgets_the_flow);
    tcase_add_test(state, threads_do_not_change_the_flow);
    tcase_add_test(state, integrators_may_take_turns);
    tcase_add_loop_test(state, springs_flow_alike_alone_and_in_fours, 0, 2);
    tcase_add_test(state, impossible_laws_are_refused);
    suite_add_tcase(suite, state);
    return run_suite(suite);
}
