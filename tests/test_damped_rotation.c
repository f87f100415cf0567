/* Stiffness damping on bodies that turn: it acts on strain alone, whatever the step, and a body whose
 * damping carries more than its stiffness creeps at its own rate. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <twang/twang.h>

#include "support/run_suite.h"

static const double gravity = 9.81;

/* A run until t with fixed steps h, or with adaptive ones of the tolerance -h, and Newton's iterations per step. The state is the caller's to
 * free. */
static double *run_scheme(tw_simulation *simulation, tw_scheme scheme, double h, double t,
                          double *iterations)
{
    tw_integrator_options options = tw_integrator_options_default();
    options.scheme = scheme;
    options.step = fmax(h, 0);
    options.relative_tolerance = fmax(-h, 0);
    tw_integrator *integrator = NULL;
    tw_error error = {0};
    ck_assert_msg(tw_simulation_integrator(simulation, &options, &integrator, &error) == TW_OK,
                  "%s", error.text);
    ck_assert_msg(tw_integrator_advance(integrator, t, &error) == TW_OK, "%s", error.text);

    tw_integrator_statistics counts = tw_integrator_statistics_now(integrator);
    *iterations = (double)counts.newton_iterations / (double)counts.steps;
    int64_t size = tw_simulation_state_size(simulation);
    double *u = malloc((size_t)size * sizeof *u);
    for (int64_t i = 0; i < size; i++) u[i] = tw_integrator_state_view(integrator)[i];
    tw_integrator_free(integrator);
    return u;
}

static double *run(tw_simulation *simulation, double h, double t)
{
    double iterations = 0;
    return run_scheme(simulation, TW_SCHEME_EXPMID2, h, t, &iterations);
}

/* ---- one link ---- */

/* A link of 1 m with a mass of 0.1 kg at its free end, in this direction, under gravity along -z. */
typedef struct link {
    double stiffness, beta, dashpot;
    double direction[3];
} link;

static tw_simulation *link_create(const link *l)
{
    const double x[6] = {0, 0, 0, l->direction[0], l->direction[1], l->direction[2]};
    const double v[6] = {0};
    const double mass[2] = {0.1, 0.1};
    const int64_t ends[2] = {0, 1};
    const double field[3] = {0, 0, -gravity};
    tw_model *model = NULL;
    ck_assert_int_eq(tw_model_create(&model, NULL), TW_OK);
    ck_assert_int_eq(tw_model_add_particles(model, 2, x, v, mass, NULL, NULL), TW_OK);
    ck_assert_int_eq(tw_model_add_springs(model, 1, ends, &l->stiffness, NULL, NULL), TW_OK);
    ck_assert_int_eq(tw_model_add_gravity(model, field, NULL), TW_OK);
    ck_assert_int_eq(tw_model_pin(model, 0, 0, NULL), TW_OK);
    ck_assert_int_eq(tw_model_set_rayleigh(model, 0, l->beta, NULL), TW_OK);
    if (l->dashpot > 0)
        ck_assert_int_eq(tw_model_add_dashpots(model, 1, ends, &l->dashpot, NULL), TW_OK);

    tw_simulation *simulation = NULL;
    ck_assert_int_eq(tw_simulation_of_model(model, &simulation, NULL), TW_OK);
    return simulation;
}

/* phi'' = -g sin(phi) from the horizontal, by the classical rule with tiny steps: the angle of the
 * rigid pendulum at t. */
static double rigid_pendulum(double t)
{
    enum { STEPS = 20000 };
    double h = t / STEPS;
    double phi = acos(0);
    double omega = 0;
    for (int i = 0; i < STEPS; i++) {
        double k[4];
        double a[4];
        k[0] = omega;
        a[0] = -gravity * sin(phi);
        for (int s = 1; s < 4; s++) {
            double c = s < 3 ? 0.5 * h : h;
            k[s] = omega + c * a[s - 1];
            a[s] = -gravity * sin(phi + c * k[s - 1]);
        }
        phi += h / 6 * (k[0] + 2 * k[1] + 2 * k[2] + k[3]);
        omega += h / 6 * (a[0] + 2 * a[1] + 2 * a[2] + a[3]);
    }
    return phi;
}

static const link pendulums[] = {{1e10, 1e-5, 0, {1, 0, 0}}, {1e8, 1e-4, 0, {1, 0, 0}},
                                 {1e6, 1e-3, 0, {1, 0, 0}},  {1e8, 0, 1e4, {1, 0, 0}},
                                 {1e8, 0.1, 0, {1, 0, 0}},   {1e8, 10, 0, {1, 0, 0}}};
enum { PENDULUMS = sizeof pendulums / sizeof *pendulums };

/* A stiff link does not feel its damping as it swings. */
START_TEST(a_damped_pendulum_swings_like_a_rigid_one)
{
    static const double bounds[3] = {2e-3, 1.2e-3, 3e-4}; /* at h = 0.02, 0.01, 0.005 [m] */
    const link *l = &pendulums[_i];
    double phi = rigid_pendulum(1);
    double error[3];

    /* A link that can hardly creep keeps the strain that turning leaves in every step: at 0.02 the
     * energy guard ends the run. */
    int first = l->beta > 0.01 ? 1 : 0;
    for (int i = first; i < 3; i++) {
        tw_simulation *simulation = link_create(l);
        double *u = run(simulation, 0.02 / (1 << i), 1);
        error[i] = hypot(u[0] - sin(phi), u[2] + cos(phi));
        printf("pendulum, k %g, beta %g, c %g, h %g: error %.2e\n", l->stiffness, l->beta,
               l->dashpot, 0.02 / (1 << i), error[i]);
        ck_assert_double_le(error[i], bounds[i]);
        free(u);
        tw_simulation_free(simulation);
    }
    ck_assert_double_ge(log2(error[1] / error[2]), 1.8);
}
END_TEST

/* A link that hangs straight down and is let go: e'' = g - (k/m) (e + beta e'). With strong damping
 * its stretch goes to m g/k like the slower of two exponentials. */
static const link creeping[] = {{1e6, 0.1, 0, {0, 0, -1}},
                                {1e6, 0.03, 0, {0, 0, -1}},
                                {1e6, 0.01, 0, {0, 0, -1}},
                                {1e6, 0, 1e5, {0, 0, -1}}};
enum { CREEPING = sizeof creeping / sizeof *creeping };

START_TEST(a_strongly_damped_link_creeps_at_its_own_rate)
{
    static const double t = 0.1;
    const link l = creeping[_i];
    double lambda = l.stiffness / 0.1;
    double beta = l.beta + l.dashpot / l.stiffness;
    double delta = beta * lambda;
    double root = sqrt(delta * delta - 4 * lambda);
    double slow = 2 * lambda / (delta + root);
    double fast = 0.5 * (delta + root);
    double left = (fast * exp(-slow * t) - slow * exp(-fast * t)) / (fast - slow);

    /* What is missing of the final stretch, beside that stretch. */
    for (double h = 0.02; h > 0.004; h *= 0.5) {
        tw_simulation *simulation = link_create(&l);
        double *u = run(simulation, h, t);
        double missing = 1 - (-u[2] - 1) * lambda / gravity;
        printf("creep, beta %g, h %g: %.5f is missing, exactly %.5f\n", beta, h, missing, left);
        ck_assert_double_eq_tol(missing, left, h < 2 * beta ? 1e-3 : 1e-2);
        free(u);
        tw_simulation_free(simulation);
    }
}
END_TEST

/* ---- a dashpot on one link of four ---- */

enum { LINKS = 4 };

/* A chain of 1 m along x, of which only the third link may have a dashpot. */
static tw_simulation *chain_create(double k, double beta, double dashpot)
{
    double x[3 * (LINKS + 1)] = {0};
    double v[3 * (LINKS + 1)] = {0};
    double mass[LINKS + 1];
    double stiffness[LINKS];
    int64_t ends[2 * LINKS];
    for (int i = 0; i <= LINKS; i++) {
        x[3 * i] = (double)i / LINKS;
        mass[i] = 0.1;
    }
    for (int i = 0; i < LINKS; i++) {
        ends[2 * i] = i;
        ends[2 * i + 1] = i + 1;
        stiffness[i] = k;
    }
    const double field[3] = {0, 0, -gravity};
    tw_model *model = NULL;
    ck_assert_int_eq(tw_model_create(&model, NULL), TW_OK);
    ck_assert_int_eq(tw_model_add_particles(model, LINKS + 1, x, v, mass, NULL, NULL), TW_OK);
    ck_assert_int_eq(tw_model_add_springs(model, LINKS, ends, stiffness, NULL, NULL), TW_OK);
    ck_assert_int_eq(tw_model_set_rayleigh(model, 0, beta, NULL), TW_OK);
    if (dashpot > 0)
        ck_assert_int_eq(tw_model_add_dashpots(model, 1, ends + 4, &dashpot, NULL), TW_OK);
    ck_assert_int_eq(tw_model_add_gravity(model, field, NULL), TW_OK);
    ck_assert_int_eq(tw_model_pin(model, 0, 0, NULL), TW_OK);
    tw_simulation *simulation = NULL;
    ck_assert_int_eq(tw_simulation_of_model(model, &simulation, NULL), TW_OK);
    return simulation;
}

static const double dashpots[] = {10, 1e3, 1e6}; /* c [N s/m]; h c/m up to 2e5 */
enum { DASHPOTS = sizeof dashpots / sizeof *dashpots };

/* Against the midpoint rule at 0.1 ms. */
START_TEST(a_dashpot_on_one_link_may_be_strong)
{
    static const double bounds[3] = {1e-3, 2.5e-4, 5e-5}; /* at h = 0.02, 0.01, 0.005 [m] */
    tw_simulation *simulation = chain_create(1e6, 0, dashpots[_i]);
    double iterations = 0;
    double *exact = run_scheme(simulation, TW_SCHEME_MIDPOINT, 1e-4, 0.4, &iterations);
    for (int i = 0; i < 3; i++) {
        double h = 0.02 / (1 << i);
        double *u = run_scheme(simulation, TW_SCHEME_EXPMID2, h, 0.4, &iterations);
        double square = 0;
        for (int j = 0; j < 3 * LINKS; j++) square += (u[j] - exact[j]) * (u[j] - exact[j]);
        double error = sqrt(square / LINKS);
        printf("dashpot %g, h %g: error %.2e, %.1f iterations per step\n", dashpots[_i], h, error,
               iterations);
        ck_assert_double_le(error, bounds[i]);
        ck_assert_double_le(iterations, 10);
        free(u);
    }
    free(exact);
    tw_simulation_free(simulation);
}
END_TEST

/* Stiffness damping of a beta that is as long as a step, or ten times as long: adaptive steps follow
 * the tolerance, and do not become too small. */
START_TEST(adaptive_steps_stand_strong_damping)
{
    static const double betas[] = {1e-3, 1e-2, 0.1};
    tw_simulation *simulation = chain_create(1e8, betas[_i], 0);
    double iterations = 0;
    double *exact = run_scheme(simulation, TW_SCHEME_MIDPOINT, 2e-4, 1, &iterations);
    for (double rtol = 1e-3; rtol > 5e-6; rtol *= 0.1) {
        double *u = run_scheme(simulation, TW_SCHEME_EXPMID2, -rtol, 1, &iterations);
        double square = 0;
        double size = 0;
        for (int j = 0; j < 3 * LINKS; j++) {
            square += (u[j] - exact[j]) * (u[j] - exact[j]);
            size += exact[j] * exact[j];
        }
        double error = sqrt(square / size) / rtol;
        printf("chain, beta %g, rtol %g: error %.2f rtol, %.1f iterations per step\n", betas[_i],
               rtol, error, iterations);
        ck_assert_double_le(error, 5);
        free(u);
    }
    free(exact);
    tw_simulation_free(simulation);
}
END_TEST

/* ---- a free body ---- */

typedef struct spinning {
    const char *material; /* and what makes it stiff */
    double stiffness, beta;
} spinning;

/* From weak damping to a beta of a thousand steps. */
static const char solid[] = "corotational, youngs_modulus";
static const char truss[] = "springs, stiffness";
static const spinning bodies[] = {
    {solid, 1e5, 1e-4}, {solid, 1e5, 1e-3}, {solid, 1e5, 1e-2}, {solid, 1e5, 1},
    {solid, 1e7, 1e-3}, {solid, 1e7, 1e-2}, {solid, 1e7, 0.1},  {solid, 1e7, 10},
    {solid, 1e9, 1e-6}, {solid, 1e9, 1e-4}, {solid, 1e9, 0.1},  {solid, 1e9, 10},
    {truss, 1e5, 1e-2}, {truss, 1e7, 1e-3}, {truss, 1e7, 10},   {truss, 1e9, 1}};
enum { BODIES = sizeof bodies / sizeof *bodies };

/* A box of 2 x 1 x 1 cells that spins about z at 6 rad/s, as a scene. */
static tw_simulation *spinning_create(const spinning *s)
{
    char text[600];
    snprintf(text, sizeof text,
             "name: box\nduration: 1\nintegrator: {name: expmid2, step: 0.01}\nbodies:\n"
             "  - {kind: box, size: [0.3, 0.2, 0.1], cells: [2, 1, 1], density: 1000,\n"
             "     material: %s: %g, spin: [0, 0, 6]}\n"
             "forces: [{kind: rayleigh, beta: %g}]\n",
             s->material, s->stiffness, s->beta);
    tw_scene *scene = NULL;
    tw_simulation *simulation = NULL;
    tw_error error = {0};
    ck_assert_msg(tw_scene_parse("box", text, strlen(text), 0, NULL, &scene, &error) == TW_OK, "%s",
                  error.text);
    ck_assert_msg(tw_scene_build(scene, &simulation, &error) == TW_OK, "%s", error.text);
    tw_scene_free(scene);
    return simulation;
}

/* The change of angular momentum in two seconds, two revolutions, beside its start. */
static double lost_momentum(const spinning *s, double h, double *kinetic)
{
    tw_simulation *simulation = spinning_create(s);
    tw_measurement before;
    tw_measurement after;
    ck_assert_int_eq(tw_simulation_measure(simulation, 0, tw_simulation_start(simulation), &before),
                     TW_OK);
    double *u = run(simulation, h, 2);
    ck_assert_int_eq(tw_simulation_measure(simulation, 2, u, &after), TW_OK);

    double change = fabs(after.angular_momentum[2] / before.angular_momentum[2] - 1);
    *kinetic = after.kinetic / before.kinetic;
    printf("box, %s %g, beta %g, h %g: L changes by %.1e, kinetic energy is %.5f of the start\n",
           s->material, s->stiffness, s->beta, h, change, *kinetic);
    free(u);
    tw_simulation_free(simulation);
    return change;
}

/* Damping is an inner force: it leaves the angular momentum alone, exactly. And it leaves a body alone
 * that turns as a whole; a soft one takes 0.7 % of its kinetic energy for its stretch. */
START_TEST(a_damped_body_goes_on_spinning)
{
    const spinning *s = &bodies[_i];
    double kinetic = 0;
    ck_assert_double_le(lost_momentum(s, 0.02, &kinetic), 2e-3);
    ck_assert_double_eq_tol(kinetic, 1, 1e-2);
    ck_assert_double_le(lost_momentum(s, 0.01, &kinetic), 3e-4);
    ck_assert_double_eq_tol(kinetic, 1, 7e-3);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("damped rotation");
    TCase *cases = tcase_create("links and bodies");
    tcase_set_timeout(cases, 60);
    tcase_add_loop_test(cases, a_damped_pendulum_swings_like_a_rigid_one, 0, PENDULUMS);
    tcase_add_loop_test(cases, a_strongly_damped_link_creeps_at_its_own_rate, 0, CREEPING);
    tcase_add_loop_test(cases, a_dashpot_on_one_link_may_be_strong, 0, DASHPOTS);
    tcase_add_loop_test(cases, adaptive_steps_stand_strong_damping, 0, 3);
    tcase_add_loop_test(cases, a_damped_body_goes_on_spinning, 0, BODIES);
    suite_add_tcase(suite, cases);
    return run_suite(suite);
}
