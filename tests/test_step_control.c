/* Step-size control where it once failed: step doubling of every scheme, steps that shrink without
 * end, times far from one second. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <twang/twang.h>

#include "problems/oscillators.h"
#include "support/run_suite.h"

/* Duffing's oscillator x'' = -x - x^3 from rest at 1, by rk4 with 2e-4: exact to 1e-13 at t = 2. */
static void duffing_at(double t, double *u)
{
    enum { STEPS_PER_UNIT = 5000 };
    int steps = (int)ceil(t * STEPS_PER_UNIT);
    double h = t / steps;
    u[0] = 1;
    u[1] = 0;
    for (int n = 0; n < steps; n++) {
        static const double node[4] = {0, 0.5, 0.5, 1};
        double k[4][2];
        for (int s = 0; s < 4; s++) {
            double x = u[0] + (s ? h * node[s] * k[s - 1][0] : 0);
            double v = u[1] + (s ? h * node[s] * k[s - 1][1] : 0);
            k[s][0] = v;
            k[s][1] = -x - x * x * x;
        }
        for (int i = 0; i < 2; i++) u[i] += h / 6 * (k[0][i] + 2 * k[1][i] + 2 * k[2][i] + k[3][i]);
    }
}

static const double SPAN = 2;

typedef struct outcome {
    double error;  /* at the end */
    double inside; /* largest at the output times */
    int64_t steps;
} outcome;

static tw_status compare_output(void *context, double t, const double *u)
{
    outcome *result = context;
    double exact[2];
    duffing_at(t, exact);
    result->inside = fmax(result->inside, hypot(u[0] - exact[0], u[1] - exact[1]));
    return TW_OK;
}

static outcome run_duffing(tw_integrator_options options, double rtol)
{
    oscillator o;
    oscillator_create(DUFFING, &o);
    options.relative_tolerance = rtol;
    options.phi.engine = TW_PHI_DENSE;
    options.phi.tolerance = 1e-13;
    tw_integrator *integrator = NULL;
    tw_error error = {0};
    ck_assert_msg(!tw_integrator_create_second_order(&o.table, &options, &integrator, &error), "%s",
                  error.text);
    outcome result = {0};
    double u[2] = {1, 0}, exact[2];
    ck_assert_int_eq(tw_integrator_on_output(integrator, 0, 0.11, compare_output, &result), TW_OK);
    ck_assert_int_eq(tw_integrator_start(integrator, 0, u, &error), TW_OK);
    ck_assert_msg(!tw_integrator_advance(integrator, SPAN, &error), "%s", error.text);
    tw_integrator_state(integrator, NULL, u);
    duffing_at(SPAN, exact);
    result.error = hypot(u[0] - exact[0], u[1] - exact[1]);
    result.steps = tw_integrator_statistics_now(integrator).steps;
    printf("%-18s rtol %.0e: error %.1e, inside %.1e, %lld steps\n", tw_scheme_name(options.scheme),
           rtol, result.error, result.inside, (long long)result.steps);
    tw_integrator_free(integrator);
    oscillator_free(&o);
    return result;
}

/* The error follows rtol, at the end and inside the steps, and falls with the number of steps as
 * the order says. */
static void follows_rtol(tw_integrator_options options, int order, double lowest, double highest)
{
    outcome coarse = run_duffing(options, highest);
    outcome fine = run_duffing(options, lowest);
    ck_assert_double_le(coarse.error, 100 * highest);
    ck_assert_double_le(fine.error, 100 * lowest);
    ck_assert_double_le(fine.inside, 200 * lowest);
    double observed =
        log(coarse.error / fine.error) / log((double)fine.steps / (double)coarse.steps);
    ck_assert_msg(observed > order - 0.4, "order %.2f", observed);

    /* An estimate of a lower order than the scheme would take more steps: they grow as the root of
     * rtol says. */
    double growth = (double)fine.steps / (double)coarse.steps;
    double expected = pow(highest / lowest, 1.0 / order);
    ck_assert_msg(growth <= 1.5 * expected, "%.3g times the steps, not %.3g", growth, expected);
}

START_TEST(etdrk4_is_adaptive)
{
    tw_integrator_options options = tw_integrator_options_default();
    options.scheme = TW_SCHEME_ETDRK4;
    follows_rtol(options, 4, 1e-8, 1e-4);
}
END_TEST

/* exprb42 without its estimate. */
START_TEST(a_tableau_without_estimate_is_adaptive)
{
    tw_tableau own = *tw_tableau_by_name("exprb42");
    own.name = "own";
    own.error_order = 0;
    int kept = 0;
    for (int i = 0; i < own.term_count; i++)
        if (own.terms[i].row != TW_ROW_ERROR) own.terms[kept++] = own.terms[i];
    own.term_count = kept;
    tw_integrator_options options = tw_integrator_options_default();
    options.tableau = &own;
    follows_rtol(options, 4, 1e-8, 1e-4);
}
END_TEST

/* Its acceleration is carried through the halves. Evaluated anew, it made the scheme one of first
 * order. */
START_TEST(implicit_schemes_keep_their_order)
{
    static const tw_scheme schemes[] = {TW_SCHEME_GENERALIZED_ALPHA, TW_SCHEME_NEWMARK,
                                        TW_SCHEME_MIDPOINT};
    tw_integrator_options options = tw_integrator_options_default();
    options.scheme = schemes[_i];
    follows_rtol(options, 2, 1e-6, 1e-3);
}
END_TEST

static tw_status square(void *context, double t, const double *u, double *F)
{
    (void)context, (void)t;
    F[0] = u[0] * u[0];
    return TW_OK;
}

/* u' = u^2 from 1 is infinite at t = 1. The run comes close and says that it cannot go on. */
START_TEST(a_run_into_a_singularity_ends)
{
    static const tw_scheme schemes[] = {TW_SCHEME_EXPRB42, TW_SCHEME_RK4, TW_SCHEME_EXPRB32};
    tw_first_order_problem problem = tw_first_order_problem_default();
    problem.space.local_size = 1;
    problem.rhs = square;
    tw_integrator_options options = tw_integrator_options_default();
    options.scheme = schemes[_i];
    options.relative_tolerance = 1e-6;
    tw_integrator *integrator = NULL;
    tw_error error = {0};
    ck_assert_int_eq(tw_integrator_create_first_order(&problem, &options, &integrator, NULL),
                     TW_OK);
    ck_assert_int_eq(tw_integrator_start(integrator, 0, (double[]){1}, NULL), TW_OK);
    ck_assert_int_eq(tw_integrator_advance(integrator, 2, &error), TW_STEP_TOO_SMALL);
    double t = 0;
    tw_integrator_state(integrator, &t, NULL);
    tw_integrator_statistics counts = tw_integrator_statistics_now(integrator);
    printf("%s: t = %.15f after %lld steps, the last %.1e: %s\n", tw_scheme_name(schemes[_i]), t,
           (long long)counts.steps, counts.last_step, error.text);
    ck_assert(t < 1 + 1e-3 && t > 0.9);
    ck_assert_double_ge(counts.last_step, 1e-15);
    ck_assert_int_lt(counts.steps, 5000);
    tw_integrator_free(integrator);
}
END_TEST

/* The user's smallest step holds for accepted steps as well. */
START_TEST(the_smallest_step_is_enforced)
{
    tw_first_order_problem problem = tw_first_order_problem_default();
    problem.space.local_size = 1;
    problem.rhs = square;
    tw_integrator_options options = tw_integrator_options_default();
    options.relative_tolerance = 1e-6;
    options.smallest_step = 1e-4;
    tw_integrator *integrator = NULL;
    ck_assert_int_eq(tw_integrator_create_first_order(&problem, &options, &integrator, NULL),
                     TW_OK);
    ck_assert_int_eq(tw_integrator_start(integrator, 0, (double[]){1}, NULL), TW_OK);
    tw_status status = TW_OK;
    while (status == TW_OK) {
        status = tw_integrator_step(integrator, 2, NULL);
        if (status == TW_OK)
            ck_assert_double_ge(tw_integrator_statistics_now(integrator).last_step, 1e-4);
    }
    ck_assert_int_eq(status, TW_STEP_TOO_SMALL);
    tw_integrator_free(integrator);
}
END_TEST

static tw_status fast(void *context, double t, const double *x, const double *v, double *a)
{
    (void)context, (void)t, (void)v;
    a[0] = -1e26 * x[0];
    return TW_OK;
}

/* omega = 1e13 1/s: three periods take 2e-12 s. */
START_TEST(fast_motion_has_its_own_scale)
{
    static const tw_scheme schemes[] = {TW_SCHEME_RK4, TW_SCHEME_EXPRB42, TW_SCHEME_MIDPOINT};
    tw_second_order_problem problem = tw_second_order_problem_default();
    problem.space.local_size = 1;
    problem.acceleration = fast;
    tw_integrator_options options = tw_integrator_options_default();
    options.scheme = schemes[_i];
    options.relative_tolerance = 1e-5;
    tw_sparse *matrix = NULL;
    ck_assert_int_eq(
        tw_sparse_create(1, 1, (int64_t[]){0, 1}, (int64_t[]){0}, TW_STORE_FULL, &matrix, NULL),
        TW_OK);
    problem.stiffness_matrix = matrix;
    tw_integrator *integrator = NULL;
    tw_error error = {0};
    ck_assert_int_eq(tw_integrator_create_second_order(&problem, &options, &integrator, &error),
                     TW_OK);
    ck_assert_int_eq(tw_integrator_start(integrator, 0, (double[]){1e-10, 0}, NULL), TW_OK);
    const double end = 6 * acos(-1.0) * 1e-13;
    ck_assert_msg(!tw_integrator_advance(integrator, end, &error), "%s", error.text);
    double u[2];
    tw_integrator_state(integrator, NULL, u);
    ck_assert_double_eq_tol(u[0], 1e-10, 1e-13);
    tw_integrator_free(integrator);
    tw_sparse_free(matrix);
}
END_TEST

/* Fixed steps that rounding swallows. */
START_TEST(time_does_not_stand_still)
{
    tw_second_order_problem problem = tw_second_order_problem_default();
    problem.space.local_size = 1;
    problem.acceleration = fast;
    tw_integrator_options options = tw_integrator_options_default();
    options.scheme = TW_SCHEME_VERLET;
    options.step = 1e-17;
    tw_integrator *integrator = NULL;
    ck_assert_int_eq(tw_integrator_create_second_order(&problem, &options, &integrator, NULL),
                     TW_OK);
    ck_assert_int_eq(tw_integrator_start(integrator, 1, (double[]){1e-10, 0}, NULL), TW_OK);
    ck_assert_int_eq(tw_integrator_advance(integrator, 1 + 1e-12, NULL), TW_STEP_TOO_SMALL);
    tw_integrator_free(integrator);
}
END_TEST

/* Robertson's kinetics: y2 is 1e-5 of the others, and decides over them. */
static tw_status robertson(void *context, double t, const double *y, double *F)
{
    (void)context, (void)t;
    double fast = 1e4 * y[1] * y[2];
    double third = 3e7 * y[1] * y[1];
    F[0] = -0.04 * y[0] + fast;
    F[1] = 0.04 * y[0] - fast - third;
    F[2] = third;
    return TW_OK;
}

/* tests/reference/make_robertson_reference.py 200: at least 12 digits. */
static const double robertson_times[] = {0.4, 4, 40, 400, 4000, 40000};
static const double robertson_states[][3] = {
    {9.8517211386099e-01, 3.3863953789749e-05, 1.4794022185220e-02},
    {9.0551867858426e-01, 2.2404756875605e-05, 9.4458916658871e-02},
    {7.1582706871941e-01, 9.1855347645582e-06, 2.8416374574583e-01},
    {4.5051866847110e-01, 3.2229014416746e-06, 5.4947810862746e-01},
    {1.8320225777671e-01, 8.9423712527759e-07, 8.1679684798617e-01},
    {3.8983377085483e-02, 1.6217683159097e-07, 9.6101646073769e-01}};

static tw_integrator *start_robertson(const double *tolerances)
{
    tw_first_order_problem problem = tw_first_order_problem_default();
    problem.space.local_size = 3;
    problem.rhs = robertson;
    tw_integrator_options options = tw_integrator_options_default();
    options.scheme = TW_SCHEME_EXPRB42;
    options.relative_tolerance = 1e-5;
    options.absolute_tolerances = tolerances;
    options.phi.engine = TW_PHI_DENSE;
    tw_integrator *integrator = NULL;
    tw_error error = {0};
    ck_assert_msg(!tw_integrator_create_first_order(&problem, &options, &integrator, &error), "%s",
                  error.text);
    ck_assert_int_eq(tw_integrator_start(integrator, 0, (double[]){1, 0, 0}, NULL), TW_OK);
    return integrator;
}

/* The largest relative error of y2 at t = 0.4, 4 and 40. */
static double robertson_error(const double *tolerances)
{
    tw_integrator *integrator = start_robertson(tolerances);
    double worst = 0;
    for (int k = 0; k < 3; k++) {
        tw_error error = {0};
        double y[3];
        ck_assert_msg(!tw_integrator_advance(integrator, robertson_times[k], &error), "%s",
                      error.text);
        tw_integrator_state(integrator, NULL, y);
        for (int i = 0; i < 3; i++) worst = fmax(worst, fabs(y[i] / robertson_states[k][i] - 1));
    }
    printf("robertson: error %.1e, %lld steps\n", worst,
           (long long)tw_integrator_statistics_now(integrator).steps);
    tw_integrator_free(integrator);
    return worst;
}

START_TEST(every_entry_has_its_own_tolerance)
{
    double tolerances[3] = {1e-8, 1e-12, 1e-8};
    ck_assert_double_le(robertson_error(tolerances), 1e-4);
}
END_TEST

/* A decay of size 1 beside an oscillation of size 1e-6. */
static tw_status decay_and_tremble(void *context, double t, const double *u, double *F)
{
    (void)context, (void)t;
    F[0] = -u[0];
    F[1] = 20 * u[2];
    F[2] = -20 * u[1];
    return TW_OK;
}

/* The relative error of the oscillation after a second, by rk4 with rtol = 1e-5. */
static double tremble_error(const double *tolerances)
{
    tw_first_order_problem problem = tw_first_order_problem_default();
    problem.space.local_size = 3;
    problem.rhs = decay_and_tremble;
    tw_integrator_options options = tw_integrator_options_default();
    options.scheme = TW_SCHEME_RK4;
    options.relative_tolerance = 1e-5;
    options.absolute_tolerances = tolerances;
    tw_integrator *integrator = NULL;
    double u[3] = {1, 1e-6, 0};
    ck_assert_int_eq(tw_integrator_create_first_order(&problem, &options, &integrator, NULL),
                     TW_OK);
    ck_assert_int_eq(tw_integrator_start(integrator, 0, u, NULL), TW_OK);
    ck_assert_int_eq(tw_integrator_advance(integrator, 1, NULL), TW_OK);
    tw_integrator_state(integrator, NULL, u);
    tw_integrator_free(integrator);
    return hypot(u[1] - 1e-6 * cos(20), u[2] + 1e-6 * sin(20)) / 1e-6;
}

/* One tolerance for all is that of the large entry: the small ones are not seen. */
START_TEST(small_entries_are_seen_by_their_own_tolerance)
{
    double fine = tremble_error((double[]){1e-8, 1e-13, 1e-13});
    double coarse = tremble_error(NULL);
    printf("tremble: error %.1e, with one tolerance %.1e\n", fine, coarse);
    ck_assert_double_le(fine, 1e-4);
    ck_assert_double_ge(coarse, 1e-2);
}
END_TEST

typedef struct visits {
    int count;
    double worst;      /* up to t = 400 */
    double worst_late; /* after that, where errors have accumulated over two more decades */
} visits;

static tw_status visit(void *context, double t, const double *y)
{
    visits *seen = context;
    ck_assert(t == robertson_times[seen->count]);
    for (int i = 0; i < 3; i++) {
        double exact = robertson_states[seen->count][i];
        double error = fabs(y[i] / exact - 1);
        if (t <= 400) seen->worst = fmax(seen->worst, error);
        seen->worst_late = fmax(seen->worst_late, error);
    }
    seen->count++;
    return TW_OK;
}

/* Decades of time in one run: no interval serves them. */
START_TEST(outputs_come_at_the_listed_times)
{
    double tolerances[3] = {1e-10, 1e-14, 1e-10};
    tw_integrator *integrator = start_robertson(tolerances);
    visits seen = {0};
    tw_error error = {0};
    ck_assert_int_eq(
        tw_integrator_on_output_at(integrator, robertson_times, 6, visit, &seen, &error), TW_OK);
    ck_assert_msg(!tw_integrator_advance(integrator, 50000, &error), "%s", error.text);
    ck_assert_int_eq(seen.count, 6);
    printf("robertson at six times: error %.1e, %.1e\n", seen.worst, seen.worst_late);
    ck_assert_double_le(seen.worst, 1e-4);
    ck_assert_double_le(seen.worst_late, 5e-3);

    /* A new start goes through them again; what lies before it is skipped. */
    seen = (visits){.count = 3};
    ck_assert_int_eq(tw_integrator_start(integrator, 40, robertson_states[2], NULL), TW_OK);
    ck_assert_int_eq(tw_integrator_advance(integrator, 4000, NULL), TW_OK);
    ck_assert_int_eq(seen.count, 5);
    tw_integrator_free(integrator);
}
END_TEST

START_TEST(lists_of_times_are_checked)
{
    tw_integrator *integrator = start_robertson(NULL);
    visits seen = {0};
    ck_assert_int_eq(
        tw_integrator_on_output_at(integrator, (double[]){1, 1}, 2, visit, &seen, NULL),
        TW_INVALID_ARGUMENT);
    ck_assert_int_eq(tw_integrator_on_output_at(integrator, (double[]){NAN}, 1, visit, &seen, NULL),
                     TW_INVALID_ARGUMENT);
    ck_assert_int_eq(tw_integrator_on_output_at(integrator, (double[]){1}, 0, visit, &seen, NULL),
                     TW_INVALID_ARGUMENT);
    tw_integrator_free(integrator);
}
END_TEST

START_TEST(tolerances_of_entries_are_checked)
{
    tw_first_order_problem problem = tw_first_order_problem_default();
    problem.space.local_size = 3;
    problem.rhs = robertson;
    tw_integrator_options options = tw_integrator_options_default();
    options.relative_tolerance = 1e-5;
    options.absolute_tolerances = (double[]){1e-8, -1, 1e-8};
    tw_integrator *integrator = NULL;
    tw_error error = {0};
    ck_assert_int_eq(tw_integrator_create_first_order(&problem, &options, &integrator, &error),
                     TW_INVALID_ARGUMENT);
    ck_assert(strstr(error.text, "absolute_tolerances[1]") != NULL);
    ck_assert_ptr_null(integrator);
}
END_TEST

static tw_status dashpot(void *context, double t, const double *x, const double *v, double *a)
{
    (void)context, (void)t;
    double force = 0.3 * (v[0] - v[1]);
    a[0] = -x[0] - force;
    a[1] = -x[1] + force;
    return TW_OK;
}

/* A damper between two particles does not act at equal velocities, as those at rest are. */
START_TEST(a_forgotten_velocity_dependence_is_noticed)
{
    tw_second_order_problem problem = tw_second_order_problem_default();
    problem.space.local_size = 2;
    problem.acceleration = dashpot;
    tw_integrator_options options = tw_integrator_options_default();
    options.scheme = TW_SCHEME_RK4;
    options.step = 0.1;
    const double starts[3][4] = {{1, 2, 0, 0}, {1, 2, 3, 3}, {0, 0, 0, 0}};
    for (int declared = 0; declared < 2; declared++) {
        problem.velocity_dependent = declared;
        tw_integrator *integrator = NULL;
        ck_assert_int_eq(tw_integrator_create_second_order(&problem, &options, &integrator, NULL),
                         TW_OK);
        for (int i = 0; i < 3; i++) {
            tw_error error = {0};
            tw_status status = tw_integrator_start(integrator, 0, starts[i], &error);
            ck_assert_int_eq(status, declared ? TW_OK : TW_INVALID_ARGUMENT);
            if (!declared) ck_assert(strstr(error.text, "velocity_dependent") != NULL);
            ck_assert_int_eq(tw_integrator_statistics_now(integrator).force_evaluations, 0);
        }
        tw_integrator_free(integrator);
    }
}
END_TEST

enum { FOLLOWED = 12 };

/* A chain of springs to the ground and to the next particle. Each particle is pushed besides by what
 * its left neighbour does, which no energy makes. */
static tw_status followed_chain(void *context, double t, const double *x, const double *v,
                                double *a)
{
    (void)t, (void)v;
    double share = *(const double *)context;
    for (int i = 0; i < FOLLOWED; i++) {
        double left = i > 0 ? x[i - 1] : 0;
        double right = i + 1 < FOLLOWED ? x[i + 1] : 0;
        a[i] = 100 * (left + right - 3 * x[i]) - 100 * pow(x[i], 3) + 100 * share * left;
    }
    return TW_OK;
}

/* The status of a start of the chain whose tangent is not symmetric by `share`. */
static tw_status start_followed(tw_scheme scheme, double share, bool declared, tw_error *error)
{
    tw_second_order_problem problem = tw_second_order_problem_default();
    problem.space.local_size = FOLLOWED;
    problem.context = &share;
    problem.acceleration = followed_chain;
    problem.stiffness_is_general = declared;
    tw_integrator_options options = tw_integrator_options_default();
    options.scheme = scheme;
    options.step = 0.05;

    tw_integrator *integrator = NULL;
    double u[2 * FOLLOWED] = {0};
    for (int i = 0; i < FOLLOWED; i++) u[i] = 0.1 * i;
    tw_status status = tw_integrator_create_second_order(&problem, &options, &integrator, error);
    if (status == TW_OK) status = tw_integrator_start(integrator, 0, u, error);
    if (status == TW_OK)
        ck_assert_int_eq(tw_integrator_statistics_now(integrator).force_evaluations, 0);
    tw_integrator_free(integrator);
    return status;
}

/* Schemes that rely on a symmetric tangent say so, the others do not ask. */
START_TEST(a_forgotten_asymmetry_is_noticed)
{
    const tw_scheme schemes[] = {TW_SCHEME_EXPMID2, TW_SCHEME_BDF1,    TW_SCHEME_BDF2,
                                 TW_SCHEME_EXPRB42, TW_SCHEME_EXPMID4, TW_SCHEME_GAUTSCHI};
    for (size_t k = 0; k < sizeof schemes / sizeof *schemes; k++) {
        tw_error error = {0};
        ck_assert_int_eq(start_followed(schemes[k], 0, false, &error), TW_OK);
        for (double share = 0.01; share < 2; share *= 10) {
            ck_assert_int_eq(start_followed(schemes[k], share, false, &error), TW_INVALID_ARGUMENT);
            ck_assert(strstr(error.text, "stiffness_is_general") != NULL);
        }
    }
    ck_assert_int_eq(start_followed(TW_SCHEME_RK4, 1, false, NULL), TW_OK);
    ck_assert_int_eq(start_followed(TW_SCHEME_EXPRB42, 1, true, NULL), TW_OK);
    ck_assert_int_eq(start_followed(TW_SCHEME_EXPMID2, 1, true, NULL), TW_UNSUPPORTED);
}
END_TEST

/* Forces that change with time: all the time, and late in the run only. */
static tw_status shaken(void *context, double t, const double *x, const double *v, double *a)
{
    (void)context;
    (void)v;
    a[0] = -x[0] + cos(2 * t);
    return TW_OK;
}

static tw_status pushed_late(void *context, double t, const double *x, const double *v, double *a)
{
    (void)context;
    (void)v;
    a[0] = -x[0] + (t > 8 ? 1e-6 : 0);
    return TW_OK;
}

/* Nothing is known of a force where it cannot be evaluated. */
static tw_status undefined_late(void *context, double t, const double *x, const double *v,
                                double *a)
{
    (void)context;
    (void)v;
    a[0] = t > 12 ? NAN : -x[0];
    return t > 11 ? TW_RECOVERABLE : TW_OK;
}

static tw_status shaken_rhs(void *context, double t, const double *u, double *F)
{
    F[0] = u[1];
    return shaken(context, t, u, u + 1, F + 1);
}

typedef tw_status acceleration_function(void *context, double t, const double *x, const double *v,
                                        double *a);

/* Advances to t = 1, 2, ... and returns the first t at which the integrator refuses, or 0. */
static int refused_at(acceleration_function *function, bool declared, tw_scheme scheme)
{
    tw_second_order_problem problem = tw_second_order_problem_default();
    problem.space.local_size = 1;
    problem.acceleration = function;
    problem.time_dependent = declared;
    tw_integrator_options options = tw_integrator_options_default();
    options.scheme = scheme;
    options.step = 0.1;
    tw_integrator *integrator = NULL;
    ck_assert_int_eq(tw_integrator_create_second_order(&problem, &options, &integrator, NULL),
                     TW_OK);
    const double start[2] = {1, 0};
    ck_assert_int_eq(tw_integrator_start(integrator, 0, start, NULL), TW_OK);

    int refused = 0;
    for (int t = 1; t <= 20 && !refused; t++) {
        tw_error error = {0};
        tw_status status = tw_integrator_advance(integrator, t, &error);
        if (status != TW_OK) refused = t;
        if (status == TW_INVALID_ARGUMENT) ck_assert(strstr(error.text, "time_dependent") != NULL);
    }
    tw_integrator_free(integrator);
    return refused;
}

START_TEST(a_forgotten_time_dependence_is_noticed)
{
    const tw_scheme schemes[] = {TW_SCHEME_EXPRB42, TW_SCHEME_RK4, TW_SCHEME_MIDPOINT};
    for (int i = 0; i < 3; i++) {
        ck_assert_int_eq(refused_at(shaken, false, schemes[i]), 1);
        ck_assert_int_eq(refused_at(shaken, true, schemes[i]), 0);

        /* The calls to t = 1, 3 and 7 probe, and then that to 15, which sees the late push. */
        ck_assert_int_eq(refused_at(pushed_late, false, schemes[i]), 15);

        /* The steps fail there, not the probe before. */
        ck_assert_int_gt(refused_at(undefined_late, false, schemes[i]), 11);
    }
}
END_TEST

/* One call over all of the time sees a late push before the first step. */
START_TEST(a_late_push_is_noticed_at_the_first_step)
{
    tw_second_order_problem problem = tw_second_order_problem_default();
    problem.space.local_size = 1;
    problem.acceleration = pushed_late;
    tw_integrator_options options = tw_integrator_options_default();
    options.step = 0.1;
    tw_integrator *integrator = NULL;
    ck_assert_int_eq(tw_integrator_create_second_order(&problem, &options, &integrator, NULL),
                     TW_OK);
    const double start[2] = {1, 0};
    ck_assert_int_eq(tw_integrator_start(integrator, 0, start, NULL), TW_OK);
    ck_assert_int_eq(tw_integrator_advance(integrator, 20, NULL), TW_INVALID_ARGUMENT);
    ck_assert_int_eq(tw_integrator_statistics_now(integrator).steps, 0);
    ck_assert_int_eq(tw_integrator_statistics_now(integrator).force_evaluations, 0);
    tw_integrator_free(integrator);
}
END_TEST

START_TEST(a_forgotten_time_dependence_of_first_order_is_noticed)
{
    tw_first_order_problem problem = tw_first_order_problem_default();
    problem.space.local_size = 2;
    problem.rhs = shaken_rhs;
    tw_integrator_options options = tw_integrator_options_default();
    options.step = 0.1;
    for (int declared = 0; declared < 2; declared++) {
        problem.time_dependent = declared;
        tw_integrator *integrator = NULL;
        ck_assert_int_eq(tw_integrator_create_first_order(&problem, &options, &integrator, NULL),
                         TW_OK);
        const double start[2] = {1, 0};
        ck_assert_int_eq(tw_integrator_start(integrator, 0, start, NULL), TW_OK);
        ck_assert_int_eq(tw_integrator_advance(integrator, 1, NULL),
                         declared ? TW_OK : TW_INVALID_ARGUMENT);
        tw_integrator_free(integrator);
    }
}
END_TEST

/* Newton's failure is counted as such, not as one of the phi-functions. */
START_TEST(failures_of_newton_are_counted)
{
    tw_simulation *simulation = NULL;
    tw_integrator *integrator = NULL;
    ck_assert_int_eq(tw_simulation_fput(3, 100, &simulation, NULL), TW_OK);
    tw_integrator_options options = tw_integrator_options_default();
    options.scheme = TW_SCHEME_BDF1;
    options.step = 10;
    options.newton.max_iterations = 1;
    ck_assert_int_eq(tw_simulation_integrator(simulation, &options, &integrator, NULL), TW_OK);
    ck_assert_int_ne(tw_integrator_advance(integrator, 10, NULL), TW_OK);

    tw_integrator_statistics counts = tw_integrator_statistics_now(integrator);
    ck_assert_int_eq(counts.rejected_newton, 1);
    ck_assert_int_eq(counts.rejected_phi, 0);
    tw_integrator_free(integrator);
    tw_simulation_free(simulation);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("step control");
    TCase *cases = tcase_create("step control");
    tcase_add_test(cases, etdrk4_is_adaptive);
    tcase_add_test(cases, a_tableau_without_estimate_is_adaptive);
    tcase_add_loop_test(cases, implicit_schemes_keep_their_order, 0, 3);
    tcase_add_loop_test(cases, a_run_into_a_singularity_ends, 0, 3);
    tcase_add_test(cases, the_smallest_step_is_enforced);
    tcase_add_loop_test(cases, fast_motion_has_its_own_scale, 0, 3);
    tcase_add_test(cases, time_does_not_stand_still);
    tcase_add_test(cases, every_entry_has_its_own_tolerance);
    tcase_add_test(cases, small_entries_are_seen_by_their_own_tolerance);
    tcase_add_test(cases, tolerances_of_entries_are_checked);
    tcase_add_test(cases, outputs_come_at_the_listed_times);
    tcase_add_test(cases, lists_of_times_are_checked);
    tcase_add_test(cases, a_forgotten_velocity_dependence_is_noticed);
    tcase_add_test(cases, a_forgotten_asymmetry_is_noticed);
    tcase_add_test(cases, a_forgotten_time_dependence_is_noticed);
    tcase_add_test(cases, a_late_push_is_noticed_at_the_first_step);
    tcase_add_test(cases, a_forgotten_time_dependence_of_first_order_is_noticed);
    tcase_add_test(cases, failures_of_newton_are_counted);
    suite_add_tcase(suite, cases);
    return run_suite(suite);
}
