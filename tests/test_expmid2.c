/* expmid2: exact and reversible on linear problems, never failing on the rope, accurate on the coil. */
/* labels: slow */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <twang/twang.h>

#include "problems/coil_state.h"
#include "problems/integrable.h"
#include "problems/spring_network.h"
#include "support/run_suite.h"

/* Two modes: omega = 0.1 is resolved at h = 0.5 (1 - chi = 1.5e-13), omega = 1e4 is not. */
static tw_status two_modes(void *context, double t, const double *x, const double *v, double *a)
{
    (void)context, (void)t, (void)v;
    a[0] = -0.01 * x[0];
    a[1] = -1e8 * x[1];
    return TW_OK;
}

static tw_status two_modes_assemble(void *context, tw_sparse *matrix)
{
    (void)context;
    double *values = tw_sparse_values(matrix);
    values[0] = 0.01;
    values[1] = 1e8;
    return TW_OK;
}

static tw_sparse *diagonal_matrix(void)
{
    tw_sparse *matrix = NULL;
    int64_t start[3] = {0, 1, 2}, column[2] = {0, 1};
    ck_assert_int_eq(tw_sparse_create(1, 2, start, column, TW_STORE_FULL, &matrix, NULL), TW_OK);
    return matrix;
}

static void run_two_modes(tw_sparse *matrix, double dissipation, int corrections,
                          const double *start, double t_end, double *u)
{
    tw_second_order_problem table = tw_second_order_problem_default();
    table.space.local_size = 2;
    table.acceleration = two_modes;
    table.assemble = two_modes_assemble;
    table.stiffness_matrix = matrix;
    tw_integrator_options options = tw_integrator_options_default();
    options.scheme = TW_SCHEME_EXPMID2;
    options.step = 0.5;
    options.expmid2.dissipation = dissipation;
    options.expmid2.corrections = corrections;
    options.phi.tolerance = 1e-13;
    options.newton.tolerance = 1e-14;
    tw_integrator *integrator = NULL;
    tw_error error = {0};
    ck_assert_msg(tw_integrator_create_second_order(&table, &options, &integrator, &error) == TW_OK,
                  "%s", error.text);
    ck_assert_int_eq(tw_integrator_start(integrator, 0, start, NULL), TW_OK);
    ck_assert_msg(tw_integrator_advance(integrator, t_end, &error) == TW_OK, "%s", error.text);
    tw_integrator_state(integrator, NULL, u);
    tw_integrator_free(integrator);
}

START_TEST(resolved_modes_are_exact_and_the_path_is_reversible)
{
    tw_sparse *matrix = diagonal_matrix();
    double start[4] = {1, 1e-6, 0.3, 2e-3}, u[4], back[4];
    int corrections = _i;
    run_two_modes(matrix, 0, corrections, start, 20, u);
    ck_assert_double_eq_tol(u[0], cos(2.0) + 3 * sin(2.0), 1e-8);
    ck_assert_double_eq_tol(u[2], 0.3 * cos(2.0) - 0.1 * sin(2.0), 1e-8);
    /* the unresolved mode keeps displacement and speed: 40 reversals */
    ck_assert_double_eq_tol(u[1], 1e-6, 1e-12);
    ck_assert_double_eq_tol(u[3], 2e-3, 1e-10);
    double reversed[4] = {u[0], u[1], -u[2], -u[3]};
    run_two_modes(matrix, 0, corrections, reversed, 20, back);
    ck_assert_double_eq_tol(back[0], start[0], 1e-8);
    ck_assert_double_eq_tol(back[1], start[1], 1e-12);
    ck_assert_double_eq_tol(-back[2], start[2], 1e-8);
    ck_assert_double_eq_tol(-back[3], start[3], 1e-10);
    tw_sparse_free(matrix);
}
END_TEST

/* An unresolved vibration goes by a tenth in two steps; resolved modes stay exact. */
START_TEST(unresolved_strain_is_let_go)
{
    tw_sparse *matrix = diagonal_matrix();
    double start[4] = {1, 1e-3, 0.3, 0}, u[4];
    run_two_modes(matrix, 0.1, _i, start, 20, u);
    ck_assert_double_eq_tol(u[0], cos(2.0) + 3 * sin(2.0), 1e-8);
    ck_assert_double_eq_tol(u[2], 0.3 * cos(2.0) - 0.1 * sin(2.0), 1e-8);
    ck_assert_double_eq_tol(u[1], 1e-3 * pow(0.9, 20), 1e-9);
    ck_assert_double_eq_tol(u[3], 0, 1e-10);
    tw_sparse_free(matrix);
}
END_TEST

static tw_status decay(void *context, double t, const double *u, double *u_t)
{
    (void)context, (void)t;
    u_t[0] = -u[0];
    return TW_OK;
}

/* There is no x'' = a(x) to work with, and creation says so. */
START_TEST(a_first_order_problem_is_unsupported)
{
    tw_first_order_problem table = tw_first_order_problem_default();
    table.space.local_size = 1;
    table.rhs = decay;
    tw_integrator_options options = tw_integrator_options_default();
    options.scheme = TW_SCHEME_EXPMID2;
    options.step = 0.1;
    tw_integrator *integrator = NULL;
    tw_error error = {0};
    tw_status status = tw_integrator_create_first_order(&table, &options, &integrator, &error);
    ck_assert_int_eq(status, TW_UNSUPPORTED);
    ck_assert_ptr_null(integrator);
    ck_assert_ptr_nonnull(strstr(error.text, "second-order"));
}
END_TEST

/* The kinetic energy of the stage after 0.2 s of the rope of k = 1e4, by one engine. */
static double kinetic_energy_of_rope(tw_phi_engine engine)
{
    spring_network *network = NULL;
    ck_assert_int_eq(rope_create(1e4, &network), TW_OK);
    problem plain = spring_network_problem(network);
    integrable p;
    ck_assert_int_eq(integrable_create(&plain, true, &p), TW_OK);

    tw_integrator_options options = tw_integrator_options_default();
    options.scheme = TW_SCHEME_EXPMID2;
    options.step = 0.02;
    options.phi.engine = engine;
    options.phi.tolerance = 1e-9;
    tw_integrator *integrator = NULL;
    tw_error error = {0};
    double u[60] = {0};
    memcpy(u, network->initial, sizeof(double) * 30);
    ck_assert_int_eq(tw_integrator_create_second_order(&p.table, &options, &integrator, NULL),
                     TW_OK);
    ck_assert_int_eq(tw_integrator_start(integrator, 0, u, NULL), TW_OK);
    ck_assert_msg(tw_integrator_advance(integrator, 0.2, &error) == TW_OK, "%s", error.text);

    double kinetic = 0;
    double potential = 0;
    ck_assert_int_eq(tw_integrator_energy(integrator, &kinetic, &potential), TW_OK);
    tw_integrator_free(integrator);
    integrable_free(&p);
    spring_network_free(network);
    return kinetic;
}

/* The energy is that of the half step, whether the engine keeps its basis (lanczos, shift-invert) or not (chebyshev): the
 * velocity of the midpoint rule is off by the square of h omega. */
START_TEST(every_engine_judges_the_same_energy)
{
    static const tw_phi_engine engines[] = {TW_PHI_LANCZOS, TW_PHI_CHEBYSHEV, TW_PHI_SHIFT_INVERT};
    double expected = kinetic_energy_of_rope(TW_PHI_DENSE);
    for (int e = 0; e < 3; e++)
        ck_assert_double_eq_tol(kinetic_energy_of_rope(engines[e]), expected, 1e-6 * expected);
}
END_TEST

static tw_status run_rope(const spring_network *network, const integrable *p, double T, double h,
                          tw_error *error)
{
    tw_integrator_options options = tw_integrator_options_default();
    options.scheme = TW_SCHEME_EXPMID2;
    options.step = h;
    options.phi.tolerance = 1e-10;
    tw_integrator *integrator = NULL;
    double u[60] = {0};
    memcpy(u, network->initial, sizeof(double) * 30);
    ck_assert_int_eq(tw_integrator_create_second_order(&p->table, &options, &integrator, error),
                     TW_OK);
    ck_assert_int_eq(tw_integrator_start(integrator, 0, u, error), TW_OK);
    tw_status status = tw_integrator_advance(integrator, T, error);
    tw_integrator_state(integrator, NULL, u);
    tw_integrator_free(integrator);
    for (int i = 0; i < 30; i++)
        ck_assert_msg(fabs(u[i]) < 1.3, "a rope of length 1 reaches %g", u[i]);
    return status;
}

START_TEST(the_rope_never_fails)
{
    static const double stiffness[] = {1e4, 1e6, 1e8, 1e10},
                        steps[] = {0.04, 0.02, 0.01, 0.005, 0.0025, 0.001};
    double k = stiffness[_i];
    spring_network *network = NULL;
    ck_assert_int_eq(rope_create(k, &network), TW_OK);
    problem plain = spring_network_problem(network);
    integrable p;
    ck_assert_int_eq(integrable_create(&plain, true, &p), TW_OK);
    for (int long_run = 0; long_run < 2; long_run++)
        for (int s = 0; s < 6; s++) {
            tw_error error = {0};
            tw_status status = run_rope(network, &p, long_run ? 0.9 : 0.4, steps[s], &error);
            ck_assert_msg(status == TW_OK, "k = %g, h = %g, %g s: %s", k, steps[s],
                          long_run ? 0.9 : 0.4, error.text);
        }
    integrable_free(&p);
    spring_network_free(network);
}
END_TEST

typedef struct coil_run {
    double error, energy; /* sum of distances over sum of displacements; relative energy error */
    tw_integrator_statistics counts;
} coil_run;

static coil_run run_coil(coil_parameters parameters, tw_scheme scheme, double h, double T)
{
    spring_network *network = NULL;
    ck_assert_int_eq(coil_create(parameters, &network), TW_OK);
    problem plain = spring_network_problem(network);
    integrable p;
    ck_assert_int_eq(integrable_create(&plain, true, &p), TW_OK);
    int64_t n = plain.size;
    double *reference = malloc(sizeof(double) * 2 * (size_t)n),
           *u = calloc(2 * (size_t)n, sizeof(double));
    ck_assert_int_eq(coil_state(parameters, T, reference, reference + n, NULL), TW_OK);
    memcpy(u, network->initial, sizeof(double) * (size_t)n);
    tw_integrator_options options = tw_integrator_options_default();
    options.scheme = scheme;
    options.step = h;
    options.phi.tolerance = 1e-4;
    tw_integrator *integrator = NULL;
    tw_error error = {0};
    ck_assert_int_eq(tw_integrator_create_second_order(&p.table, &options, &integrator, &error),
                     TW_OK);
    ck_assert_int_eq(tw_integrator_start(integrator, 0, u, &error), TW_OK);
    double kinetic = 0, potential = 0, energy = 0, distance = 0, displacement = 0;
    ck_assert_int_eq(tw_integrator_energy(integrator, &kinetic, &potential), TW_OK);
    energy = kinetic + potential;
    ck_assert_msg(tw_integrator_advance(integrator, T, &error) == TW_OK, "%s", error.text);
    tw_integrator_state(integrator, NULL, u);
    ck_assert_int_eq(tw_integrator_energy(integrator, &kinetic, &potential), TW_OK);
    for (int64_t i = 0; i < n; i += 3) {
        double a = 0, b = 0;
        for (int c = 0; c < 3; c++) {
            a += pow(u[i + c] - reference[i + c], 2);
            b += pow(reference[i + c] - network->initial[i + c], 2);
        }
        distance += sqrt(a);
        displacement += sqrt(b);
    }
    coil_run result = {distance / displacement, fabs(kinetic + potential - energy) / fabs(energy),
                       tw_integrator_statistics_now(integrator)};
    printf("%-9s h %.3g: error %.2e energy %.1e, per step %.2f factorisations, %.1f solves, %.1f "
           "forces\n",
           tw_scheme_name(scheme), h, result.error, result.energy,
           (double)result.counts.factorisations / (double)result.counts.steps,
           (double)result.counts.solves / (double)result.counts.steps,
           (double)result.counts.force_evaluations / (double)result.counts.steps);
    tw_integrator_free(integrator);
    free(reference), free(u);
    integrable_free(&p);
    spring_network_free(network);
    return result;
}

/* Ten seconds of the coil; coil-hard is the same motion ten times faster. */
START_TEST(the_coil_at_ten_times_the_papers_step)
{
    static const double steps[] = {1.0, 0.5, 0.25};
    static const double allowed[] = {1.6e-3, 3.5e-4, 7.8e-5};
    static const double factorisations[] = {3.2, 1.6, 1.2}; /* per step */
    static const double solves[] = {60, 50, 42};
    bool hard = _i == 1;
    coil_parameters parameters = hard ? coil_hard() : coil_default();
    double faster = hard ? 0.1 : 1;
    for (int s = 0; s < 3; s++) {
        coil_run ours = run_coil(parameters, TW_SCHEME_EXPMID2, steps[s] * faster, 10 * faster);
        ck_assert_msg(ours.error <= allowed[s], "h = %g: error %g", steps[s], ours.error);
        double per_step = (double)ours.counts.factorisations / (double)ours.counts.steps;
        ck_assert_msg(per_step <= factorisations[s], "h = %g: %g factorisations per step", steps[s],
                      per_step);
        double solves_per_step = (double)ours.counts.solves / (double)ours.counts.steps;
        ck_assert_msg(solves_per_step <= solves[s], "h = %g: %g solves per step", steps[s],
                      solves_per_step);
        ck_assert_msg(ours.energy <= 3e-3, "h = %g: energy error %g", steps[s], ours.energy);
        coil_run rule = run_coil(parameters, TW_SCHEME_MIDPOINT, steps[s] * faster, 10 * faster);
        ck_assert_msg(4 * ours.error <= rule.error, "h = %g: %g against the midpoint rule's %g",
                      steps[s], ours.error, rule.error);
    }
}
END_TEST

/* A minute of the whole coil. */
START_TEST(a_minute_of_the_coil)
{
    coil_run half = run_coil(coil_default(), TW_SCHEME_EXPMID2, 0.5, 60);
    ck_assert_double_le(half.error, 1e-3);
    ck_assert_int_le(half.counts.factorisations, 2 * half.counts.steps);
    coil_run whole = run_coil(coil_default(), TW_SCHEME_EXPMID2, 1.0, 60);
    ck_assert_int_eq(whole.counts.rejected_steps, 0);
}
END_TEST

typedef struct long_run {
    double first,
        last; /* largest energy error of the first and of the last 20 s, over the largest kinetic energy */
    tw_integrator_statistics counts;
} long_run;

/* A minute of a short coil at h = 0.5. */
static long_run run_a_minute(double gravity, double dissipation, int corrections)
{
    coil_parameters parameters = coil_default();
    parameters.sections = 200;
    parameters.gravity = gravity;
    spring_network *network = NULL;
    ck_assert_int_eq(coil_create(parameters, &network), TW_OK);
    problem plain = spring_network_problem(network);
    integrable p;
    ck_assert_int_eq(integrable_create(&plain, true, &p), TW_OK);
    double *u = calloc(2 * (size_t)plain.size, sizeof(double)), start = 0, most = 0;
    memcpy(u, network->initial, sizeof(double) * (size_t)plain.size);
    tw_integrator_options options = tw_integrator_options_default();
    options.scheme = TW_SCHEME_EXPMID2;
    options.step = 0.5;
    options.expmid2.dissipation = dissipation;
    options.expmid2.corrections = corrections;
    options.phi.tolerance = 1e-4;
    tw_integrator *integrator = NULL;
    ck_assert_int_eq(tw_integrator_create_second_order(&p.table, &options, &integrator, NULL),
                     TW_OK);
    ck_assert_int_eq(tw_integrator_start(integrator, 0, u, NULL), TW_OK);
    long_run result = {0};
    for (int step = 0; step <= 120; step++) {
        double kinetic = 0, potential = 0;
        ck_assert_int_eq(tw_integrator_advance(integrator, 0.5 * step, NULL), TW_OK);
        ck_assert_int_eq(tw_integrator_energy(integrator, &kinetic, &potential), TW_OK);

        /* Without corrections the strain that is kept shows at the ends of the steps, not at the stage. */
        const double *now = tw_integrator_state_view(integrator);
        if (corrections == 0) potential = problem_energy(&plain, now, now + plain.size) - kinetic;
        if (step == 0) start = kinetic + potential;
        most = fmax(most, kinetic);
        double made = fabs(kinetic + potential - start);
        if (step <= 40) result.first = fmax(result.first, made);
        if (step >= 80) result.last = fmax(result.last, made);
    }
    result.first /= most;
    result.last /= most;
    result.counts = tw_integrator_statistics_now(integrator);
    printf("a minute at gravity %g, mu %g, %d corrections: energy error %.2e, %.2e, %ld "
           "factorisations\n",
           gravity, dissipation, corrections, result.first, result.last,
           (long)result.counts.factorisations);
    tw_integrator_free(integrator);
    free(u);
    integrable_free(&p);
    spring_network_free(network);
    return result;
}

/* Without corrections: what is left with dissipation is a steady loss at most; strain that is kept makes more energy, and
 * ever faster. */
START_TEST(dissipation_stops_the_energy_error)
{
    long_run ours = run_a_minute(0.05, 0.1, 0);
    ck_assert_double_le(ours.last, 3 * ours.first);
    long_run kept = run_a_minute(0.05, 0, 0);
    ck_assert_double_ge(kept.last, 3 * ours.last);
    ck_assert_double_ge(kept.last, 3 * kept.first);
}
END_TEST

/* The symmetric stage does without dissipation. */
START_TEST(the_energy_error_does_not_run_away)
{
    long_run ours = run_a_minute(0.05, 0, 1);
    ck_assert_double_le(ours.last, 3 * ours.first);

    /* The velocity of the midpoint rule, which is off by (h omega)^2 / 8, would give 2e-2. */
    ck_assert_double_le(ours.last, 5e-3);
}
END_TEST

/* In a weak field the coil hardly deforms: a factor serves ten steps and more. */
START_TEST(small_motion_needs_no_new_factor)
{
    long_run ours = run_a_minute(1e-6, 0, 1);
    ck_assert_int_le(10 * ours.counts.factorisations, ours.counts.steps);
    ck_assert_double_le(ours.last, 3 * ours.first);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("expmid2");
    TCase *cases = tcase_create("expmid2");
    tcase_set_timeout(cases, 600);
    tcase_add_loop_test(cases, resolved_modes_are_exact_and_the_path_is_reversible, 0, 3);
    tcase_add_loop_test(cases, unresolved_strain_is_let_go, 0, 2);
    tcase_add_test(cases, a_first_order_problem_is_unsupported);
    tcase_add_test(cases, every_engine_judges_the_same_energy);
    tcase_add_loop_test(cases, the_rope_never_fails, 0, 4);
    tcase_add_loop_test(cases, the_coil_at_ten_times_the_papers_step, 0, 2);
    suite_add_tcase(suite, cases);
    TCase *minute = tcase_create("a minute");
    tcase_set_timeout(minute, 600);
    tcase_add_test(minute, a_minute_of_the_coil);
    tcase_add_test(minute, dissipation_stops_the_energy_error);
    tcase_add_test(minute, the_energy_error_does_not_run_away);
    tcase_add_test(minute, small_motion_needs_no_new_factor);
    suite_add_tcase(suite, minute);
    return run_suite(suite);
}
