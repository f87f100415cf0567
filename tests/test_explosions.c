/* No wrong success: a run whose steps are too large fails, whatever drives the scene, and a sound run does not. */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <twang/twang.h>

#include "support/run_suite.h"

/* Stiff scenes of about one metre, each driven in its own way. The highest frequency of each is about 2 sqrt(k/m). */
typedef struct driven {
    const char *name;
    const char *text;
    double omega;            /* about the highest frequency [1/s] */
    bool velocity_dependent; /* verlet does not apply */
} driven;

#define HEAD "name: driven\nduration: 1e6\nfps: 0\nintegrator: {name: rk4, step: 1}\n"
#define ROPE "bodies: [{kind: rope, count: 10, length: 0.1, mass: 0.1, stiffness: 1e4}]\n"
#define CLOTH                                                                                      \
    "bodies: [{kind: cloth, columns: 6, rows: 5, mass: 0.01, stiffness: 1e3, shear: 1e2, "         \
    "bending: 10}]\n"

static const driven scenes[] = {
    {"still", HEAD "gravity: [0, 0, -9.81]\n" ROPE "pins: [{from: 0}]\n", 632, false},
    {"moved",
     HEAD "gravity: [0, 0, -9.81]\n" ROPE
          "motions: [{kind: oscillation, from: 0, amplitude: [0, 0.05, 0], frequency: 2}]\n",
     632, false},
    {"pulled", HEAD ROPE "motions: [{kind: velocity, from: 0, velocity: [0, 0.3, 0]}]\n", 632,
     false},
    {"shaken",
     HEAD ROPE "pins: [{from: 0}]\n"
               "forces: [{kind: shaking, acceleration: [0, 2, 3], frequency: 3}]\n",
     632, false},
    {"loaded", HEAD ROPE "pins: [{from: 0}]\nforces: [{kind: load, from: 10, force: [0, 1, 2]}]\n",
     632, false},
    {"blown",
     HEAD "gravity: [0, 0, -9.81]\n" CLOTH "pins: [{from: 0, to: 5}]\n"
          "forces: [{kind: wind, velocity: [3, 5, 0], gust: 0.3, frequency: 2}]\n",
     640, true},
    {"waved",
     HEAD CLOTH
     "motions: [{kind: oscillation, from: 0, to: 5, amplitude: [0, 0.1, 0], frequency: 3}]\n"
     "forces: [{kind: wind, velocity: [3, 5, 0]}]\n",
     640, true},
    {"damped",
     HEAD "gravity: [0, 0, -9.81]\n" ROPE "pins: [{from: 0}]\n"
          "forces: [{kind: rayleigh, alpha: 0.1, beta: 1e-5}]\n",
     632, true},
    {"damped and moved",
     HEAD ROPE "forces: [{kind: rayleigh, alpha: 0.5, beta: 1e-5}]\n"
               "motions: [{kind: rotation, from: 0, to: 1, rate: 1}]\n",
     632, true},
};
enum { SCENES = sizeof scenes / sizeof *scenes };

/* A rope that falls on a plane, which may be a belt. Contact has frequencies of its own. */
#define FALLING                                                                                    \
    "gravity: [0, 0, -9.81]\n"                                                                     \
    "bodies: [{kind: rope, count: 10, length: 0.1, mass: 0.1, stiffness: 1e4, "                    \
    "direction: [1, 0, 0.1], origin: [0, 0, 0.02]}]\n"                                             \
    "contact: {distance: 0.01, friction: 0.3, restitution: 0.5}\n"
static const driven touching[] = {
    {"touching", HEAD FALLING "obstacles: [{kind: plane}]\n", 632, false},
    {"on a belt",
     HEAD FALLING "obstacles: [{kind: plane, motion: {kind: velocity, velocity: [1, 0, 0]}}]\n",
     632, false},
    {"damped on a belt",
     HEAD FALLING "obstacles: [{kind: plane, motion: {kind: velocity, velocity: [1, 0, 0]}}]\n"
                  "forces: [{kind: rayleigh, alpha: 0.1, beta: 1e-5}]\n",
     632, true},
};
enum { TOUCHING = sizeof touching / sizeof *touching };

static tw_simulation *build(const driven *d)
{
    tw_error error = {0};
    tw_scene *scene = NULL;
    tw_simulation *simulation = NULL;
    tw_scene_parse(d->name, d->text, strlen(d->text), 0, NULL, &scene, &error);
    ck_assert_msg(scene != NULL, "%s", error.text);
    tw_scene_build(scene, &simulation, &error);
    ck_assert_msg(simulation != NULL, "%s", error.text);
    tw_scene_free(scene);
    return simulation;
}

/* What became of a run. */
typedef struct outcome {
    bool fits;        /* the scheme applies to the scene */
    tw_status status; /* of the last step */
    double reach;     /* largest coordinate of a particle at the end of any step [m] */
    double kinetic;   /* largest kinetic energy there [J] */
    int64_t steps;
    char text[sizeof((tw_error){0}.text)];
} outcome;

static double largest(int64_t n, const double *x)
{
    double most = 0;
    for (int64_t i = 0; i < n; i++) most = fmax(most, fabs(x[i]));
    return most;
}

/* The kinetic energy of the state now, which is the end of a step. */
static double kinetic_now(tw_simulation *simulation, const tw_integrator *integrator)
{
    double t = 0;
    tw_measurement m;
    const double *u = tw_integrator_state_view(integrator);
    tw_integrator_state(integrator, &t, NULL);
    ck_assert_int_eq(tw_simulation_measure(simulation, t, u, &m), TW_OK);
    return m.kinetic;
}

/* Steps of h, `count` of them unless one fails. */
static outcome run(const driven *d, tw_scheme scheme, double h, int count)
{
    tw_error error = {0};
    outcome result = {0};
    tw_simulation *simulation = build(d);
    tw_integrator_options options = tw_integrator_options_default();
    options.scheme = scheme;
    options.step = h;
    options.phi.tolerance = 1e-4;
    options.phi.max_products = 10000;

    tw_integrator *integrator = NULL;
    tw_status status = tw_simulation_integrator(simulation, &options, &integrator, &error);
    result.fits = status != TW_UNSUPPORTED;
    int64_t n = tw_simulation_state_size(simulation) / 2;
    for (int i = 0; i < count && status == TW_OK; i++) {
        status = tw_integrator_step(integrator, count * h, &error);
        result.reach = fmax(result.reach, largest(n, tw_integrator_state_view(integrator)));
        result.kinetic = fmax(result.kinetic, kinetic_now(simulation, integrator));
    }

    result.status = status;
    if (integrator) result.steps = tw_integrator_statistics_now(integrator).steps;
    snprintf(result.text, sizeof result.text, "%s", error.text);
    tw_integrator_free(integrator);
    tw_simulation_free(simulation);
    return result;
}

static bool is_explicit(tw_scheme scheme)
{
    return scheme == TW_SCHEME_RK4 || scheme == TW_SCHEME_EULER || scheme == TW_SCHEME_VERLET ||
           scheme == TW_SCHEME_MIDPOINT_EXPLICIT;
}

/* Explicit schemes beyond their limit: each run fails, before anything is far away. */
START_TEST(test_explicit)
{
    static const double products[] = {3.2, 8, 100}; /* h omega; the limits are 2 and 2.8 */
    const driven *d = &scenes[_i];
    int failed = 0;
    for (int scheme = 0; scheme < TW_SCHEME_COUNT; scheme++)
        for (int i = 0; is_explicit(scheme) && i < 3; i++) {
            outcome o = run(d, scheme, products[i] / d->omega, 2000);
            if (!o.fits) continue;
            ck_assert_msg(o.status != TW_OK && o.reach < 100,
                          "%s, %s, h omega = %g: %s at step %lld, reached %g m", d->name,
                          tw_scheme_name(scheme), products[i], tw_status_name(o.status),
                          (long long)o.steps, o.reach);
            ck_assert_msg(!strstr(o.text, "nan"), "%s", o.text);
            failed++;
        }
    ck_assert_int_ge(failed, d->velocity_dependent ? 9 : 12);
}
END_TEST

/* Every scheme at large steps: it fails or stays near. */
START_TEST(test_every_scheme)
{
    static const struct {
        double product; /* h omega */
        int steps;
    } runs[] = {{1, 40}, {6, 40}, {60, 20}, {600, 2}};
    const driven *d = &scenes[_i];
    for (int scheme = 0; scheme < TW_SCHEME_COUNT; scheme++)
        for (int i = 0; tw_scheme_available(scheme) && i < 4; i++) {
            outcome o = run(d, scheme, runs[i].product / d->omega, runs[i].steps);
            ck_assert_msg(o.reach < 100, "%s, %s, h omega = %g: %s at step %lld, reached %g m",
                          d->name, tw_scheme_name(scheme), runs[i].product,
                          tw_status_name(o.status), (long long)o.steps, o.reach);
            ck_assert_msg(!strstr(o.text, "nan"), "%s", o.text);
        }
}
END_TEST

/* No energy out of nothing that a success would hide: where a run does not fail, the states at the ends of its steps, which
 * are what frames show, have not much more kinetic energy than a resolved run has. */
START_TEST(test_kinetic)
{
    static const struct {
        double product; /* h omega */
        int steps;
    } runs[] = {{3.2, 100}, {10, 60}, {60, 20}};
    const double resolved = 0.2; /* h omega */
    const double much = 4;
    const driven *d = _i < SCENES ? &scenes[_i] : &touching[_i - SCENES];
    for (int i = 0; i < 3; i++) {
        double end = runs[i].product * runs[i].steps;
        outcome true_run = run(d, TW_SCHEME_RK4, resolved / d->omega, (int)(end / resolved));
        ck_assert_msg(true_run.status == TW_OK, "%s: %s", d->name, true_run.text);
        for (int scheme = 0; scheme < TW_SCHEME_COUNT; scheme++) {
            if (!tw_scheme_available(scheme)) continue;
            outcome o = run(d, scheme, runs[i].product / d->omega, runs[i].steps);
            ck_assert_msg(o.status != TW_OK || o.kinetic <= much * true_run.kinetic,
                          "%s, %s, h omega = %g: %g J in place of %g J", d->name,
                          tw_scheme_name(scheme), runs[i].product, o.kinetic, true_run.kinetic);
        }
    }
}
END_TEST

/* No false alarm: sound steps are never rejected for their energy. */
START_TEST(test_sound)
{
    static const double products[] = {0.1, 1};
    const driven *d = &scenes[_i];
    for (int scheme = 0; scheme < TW_SCHEME_COUNT; scheme++)
        for (int i = 0; tw_scheme_available(scheme) && i < 2; i++) {
            /* Explicit Euler and midpoint gain energy at any step. */
            if (scheme == TW_SCHEME_EULER || scheme == TW_SCHEME_MIDPOINT_EXPLICIT) continue;
            outcome o = run(d, scheme, products[i] / d->omega, 150);
            ck_assert_msg(!o.fits || !strstr(o.text, "energy"), "%s, %s, h omega = %g: %s", d->name,
                          tw_scheme_name(scheme), products[i], o.text);
        }
}
END_TEST

/* ---- forces that fail ---- */

/* A spring to the origin that gives NaN, or infinity, from its k-th call on. */
typedef struct faulty {
    int calls_left;
    double value;
} faulty;

static tw_status faulty_force(void *context, double t, const double *x, const double *v,
                              double *force)
{
    (void)t;
    (void)v;
    faulty *f = context;
    for (int k = 0; k < 3; k++) force[k] -= 4 * x[k];
    if (--f->calls_left < 0) force[1] = f->value;
    return TW_OK;
}

static tw_simulation *faulty_simulation(faulty *f)
{
    const double position[3] = {1, 0, 0};
    const double mass = 1;
    tw_error error = {0};
    tw_model *model = NULL;
    tw_simulation *simulation = NULL;
    tw_user_force force = tw_user_force_default();
    force.context = f;
    force.force = faulty_force;
    ck_assert_int_eq(tw_model_create(&model, &error), TW_OK);
    ck_assert_int_eq(tw_model_add_particles(model, 1, position, NULL, &mass, NULL, &error), TW_OK);
    ck_assert_int_eq(tw_model_add_user_force(model, &force, &error), TW_OK);
    ck_assert_msg(tw_simulation_of_model(model, &simulation, &error) == TW_OK, "%s", error.text);
    return simulation;
}

/* A value that is not finite ends the run at whatever call it comes, and never gets into the state. */
START_TEST(test_faulty_force)
{
    static const double values[] = {NAN, INFINITY, -INFINITY};
    tw_scheme scheme = _i;
    for (int k = 0; tw_scheme_available(scheme) && k < 60; k++) {
        faulty f = {1 << 30, values[k % 3]};
        tw_error error = {0};
        tw_simulation *simulation = faulty_simulation(&f);
        tw_integrator_options options = tw_integrator_options_default();
        options.scheme = scheme;
        options.step = 0.05;
        if (k % 2 && scheme != TW_SCHEME_GAUTSCHI) options.relative_tolerance = 1e-3;
        tw_integrator *integrator = NULL;
        tw_status status = tw_simulation_integrator(simulation, &options, &integrator, &error);

        f.calls_left = k;
        if (status == TW_OK) status = tw_integrator_advance(integrator, 100, &error);
        ck_assert_msg(status != TW_OK, "%s, call %d", tw_scheme_name(scheme), k);
        ck_assert_msg(!strstr(error.text, "nan") && !strstr(error.text, "inf s"), "%s", error.text);
        for (int i = 0; integrator && i < 6; i++)
            ck_assert(fabs(tw_integrator_state_view(integrator)[i]) < 10);
        tw_integrator_free(integrator);
        tw_simulation_free(simulation);
    }
}
END_TEST

/* A model takes any number of forces. */
START_TEST(test_many_forces)
{
    const double position[3] = {1, 0, 0};
    const double gravity[3] = {0, 0, -0.01};
    const double mass = 1;
    tw_model *model = NULL;
    tw_simulation *simulation = NULL;
    tw_error error = {0};
    ck_assert_int_eq(tw_model_create(&model, &error), TW_OK);
    ck_assert_int_eq(tw_model_add_particles(model, 1, position, NULL, &mass, NULL, &error), TW_OK);
    for (int i = 0; i < 1000; i++)
        ck_assert_msg(tw_model_add_gravity(model, gravity, &error) == TW_OK, "%s", error.text);
    ck_assert_int_eq(tw_simulation_of_model(model, &simulation, &error), TW_OK);

    /* Their sum acts: a = 1000 * 0.01. */
    const tw_second_order_problem *p = tw_simulation_second_order(simulation);
    double a[3] = {0};
    ck_assert_int_eq(p->acceleration(p->context, 0, position, gravity, a), TW_OK);
    ck_assert_double_eq_tol(a[2], -10, 1e-12);
    tw_simulation_free(simulation);
}
END_TEST

/* ---- impacts ---- */

/* A mass falls by 1 m on a one-sided spring, too stiff for the step. */
static const double WALL_STIFFNESS = 16777.2;

static tw_status wall_acceleration(void *context, double t, const double *x, const double *v,
                                   double *a)
{
    (void)context, (void)t, (void)v;
    a[0] = -9.81;
    if (x[0] < 0) a[0] -= WALL_STIFFNESS * x[0];
    return TW_OK;
}

static tw_status wall_energy(void *context, double t, const double *x, const double *v,
                             double *kinetic, double *potential)
{
    (void)context, (void)t;
    *kinetic = 0.5 * v[0] * v[0];
    *potential = 9.81 * x[0];
    if (x[0] < 0) *potential += 0.5 * WALL_STIFFNESS * x[0] * x[0];
    return TW_OK;
}

static tw_status no_impulse(void *context, double t, double h, const double *u, double *u_new,
                            bool *changed)
{
    (void)context, (void)t, (void)h, (void)u, (void)u_new;
    *changed = false;
    return TW_OK;
}

/* rk4 throws the mass back with 21 J in place of 9.8 J, and no more. A problem with impacts is
 * stopped there. */
START_TEST(an_impact_that_gains_energy_is_stopped)
{
    tw_second_order_problem problem = tw_second_order_problem_default();
    problem.space.local_size = 1;
    problem.acceleration = wall_acceleration;
    problem.energy = wall_energy;
    problem.finish_step = no_impulse;
    tw_integrator_options options = tw_integrator_options_default();
    options.scheme = TW_SCHEME_RK4;
    options.step = 0.02;

    const double start[2] = {1, 0};
    tw_integrator *integrator = NULL;
    ck_assert_int_eq(tw_integrator_create_second_order(&problem, &options, &integrator, NULL),
                     TW_OK);
    ck_assert_int_eq(tw_integrator_start(integrator, 0, start, NULL), TW_OK);
    ck_assert_int_eq(tw_integrator_advance(integrator, 0.7, NULL), TW_NOT_CONVERGED);
    tw_integrator_free(integrator);
}
END_TEST

/* ---- free bodies that turn ---- */

/* A soft box spins too fast for its step. Contact with something far away changes nothing. */
#define SPINNING                                                                                   \
    "name: c\nduration: 1\nfps: 0\nintegrator: {name: midpoint, step: 5e-3}\n"                     \
    "bodies:\n  - {kind: box, size: [0.1, 0.1, 0.1], cells: [2, 2, 2], density: 1000, "            \
    "material: springs, stiffness: 1e5, origin: [-0.05, -0.05, 0.5], spin: [150, 45, 0]}\n"
#define FAR_PLANE                                                                                  \
    "obstacles: [{kind: plane, point: [0, 0, -100]}]\n"                                            \
    "contact: {distance: 0.005, restitution: 0.5}\n"
static const driven spinning[] = {{.name = "free", .text = SPINNING},
                                  {.name = "with contact", .text = SPINNING FAR_PLANE}};
static const tw_scheme spinners[] = {TW_SCHEME_MIDPOINT, TW_SCHEME_NEWMARK,
                                     TW_SCHEME_GENERALIZED_ALPHA};

static double total_energy(const tw_second_order_problem *problem, const double *x, const double *v)
{
    double kinetic = 0;
    double potential = 0;
    ck_assert_int_eq(problem->energy(problem->context, 0, x, v, &kinetic, &potential), TW_OK);
    return kinetic + potential;
}

/* The run is ended before the energy in its telemetry has become twice that of its start, and no step is divided. */
START_TEST(a_spinning_box_is_stopped)
{
    tw_simulation *simulation = build(&spinning[_i % 2]);
    const tw_second_order_problem *problem = tw_simulation_second_order(simulation);
    int64_t n = problem->space.local_size;
    tw_integrator_options options = tw_integrator_options_default();
    options.scheme = spinners[_i / 2];
    options.step = 5e-3;
    tw_integrator *integrator = NULL;
    ck_assert_int_eq(tw_simulation_integrator(simulation, &options, &integrator, NULL), TW_OK);

    const double *u = tw_integrator_state_view(integrator);
    double start = total_energy(problem, u, u + n);
    double most = start;
    tw_status status = TW_OK;
    for (int i = 0; i < 200 && status == TW_OK; i++) {
        status = tw_integrator_step(integrator, 1, NULL);
        if (status != TW_OK) break;

        /* The state that telemetry shows. */
        double t = 0;
        u = tw_integrator_energy_state(integrator, &t);
        most = fmax(most, total_energy(problem, u, u + n));
    }
    ck_assert_int_eq(status, TW_NOT_CONVERGED);
    ck_assert_double_lt(most, 2 * start);
    ck_assert_int_eq(tw_integrator_statistics_now(integrator).rejected_steps, 1);
    tw_integrator_free(integrator);
    tw_simulation_free(simulation);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("explosions");
    TCase *tests = tcase_create("explosions");
    tcase_set_timeout(tests, 300);
    tcase_add_test(tests, an_impact_that_gains_energy_is_stopped);
    tcase_add_loop_test(tests, a_spinning_box_is_stopped, 0, 6);
    tcase_add_loop_test(tests, test_explicit, 0, SCENES);
    tcase_add_loop_test(tests, test_every_scheme, 0, cases_to_run(SCENES, 2));
    tcase_add_loop_test(tests, test_sound, 0, cases_to_run(SCENES, 3));
    tcase_add_loop_test(tests, test_faulty_force, 0, TW_SCHEME_COUNT);
    tcase_add_test(tests, test_many_forces);
    suite_add_tcase(suite, tests);

    TCase *energies = tcase_create("energies");
    tcase_set_timeout(energies, 300);
    /* The sample is the first that touches. */
    int all = SCENES + TOUCHING;
    tcase_add_loop_test(energies, test_kinetic, cases_to_run(0, SCENES),
                        cases_to_run(all, SCENES + 1));
    suite_add_tcase(suite, energies);
    return run_suite(suite);
}
