/* Nothing is allocated while stepping. Every scheme, at fixed and adaptive steps, on every kind of thing that acts on
 * particles.
 *
 * The same steps are taken twice. In the first pass matrices are analysed, and the lists of contacts grow to their
 * length. In the second pass the memory is all there, and not one allocation is made. One thing is excepted: where
 * bodies meet in new places, the matrix gets new entries, and is analysed anew. */
/* labels: slow */
#include <stdio.h>
#include <string.h>
#include <twang/twang.h>

#include "support/run_suite.h"

enum { STEPS = 40 /* of a pass */ };

static const char *const scenes[] = {
    /* springs, which a motion pulls */
    "bodies: [{kind: rope, count: 22, stiffness: 1e4}]\ngravity: [0, 1, -9.81]\n"
    "motions: [{kind: oscillation, from: 0, amplitude: [0.1, 0, 0], frequency: 2}]\n",
    /* a tangent that is not symmetric */
    "bodies: [{kind: cloth, columns: 5, rows: 5, stiffness: 500, shear: 100, bending: 1, density: "
    "0.2}]\n"
    "forces: [{kind: wind, velocity: [3, 2, 1]}]\npins: [{from: 0}]\ngravity: [0, 0, -9.81]\n",
    /* tetrahedra with damping */
    "bodies: [{kind: box, cells: [2, 2, 2], material: neo-hookean, youngs_modulus: 1e4, density: "
    "1e3}]\n"
    "forces: [{kind: rayleigh, alpha: 0.1, beta: 1e-4}]\npins: [{from: 0}]\ngravity: [0, 0, "
    "-9.81]\n",
    /* fibres */
    "bodies: [{kind: fibres, columns: 2, rows: 2, spacing: 0.05, segments: 4, length: 0.3, "
    "thickness: 0.01, "
    "youngs_modulus: 1e6, shear_modulus: 4e5, density: 1200, direction: [1, 0, 0]}]\ngravity: [0, "
    "0, -9.81]\n",
    /* springs that flow */
    "bodies: [{kind: rope, count: 5, stiffness: 1e3, plasticity: {yield_strain: 1e-3, hardening: "
    "0.5}}]\n"
    "pins: [{from: 0}]\ngravity: [0, 1, -9.81]\n",
    /* a cloth that lies on a plane, with friction that is anchored */
    "bodies: [{kind: cloth, columns: 5, rows: 5, stiffness: 100, shear: 10, bending: 0.1, density: "
    "0.2, rotation: "
    "[90, 0, 0], origin: [0, 0, 0.004], velocity: [0.1, 0, 0]}]\nobstacles: [{kind: plane}]\n"
    "contact: {distance: 0.01, friction: 0.4, friction_length: 1e-4}\ngravity: [0, 0, -9.81]\n",
    /* two cloths that touch each other in the same places, with impulses of friction */
    "bodies:\n  - {kind: cloth, columns: 4, rows: 4, stiffness: 100, shear: 10, bending: 0.1, "
    "density: 0.2}\n"
    "  - {kind: cloth, columns: 4, rows: 4, stiffness: 100, shear: 10, bending: 0.1, density: 0.2, "
    "origin: [0.1, 0.015, "
    "0.1], velocity: [0.1, -0.1, 0]}\n"
    "contact: {distance: 0.01, friction: 0.3, thickness: 0.01}\n",
    /* a fluid, of first order */
    "bodies: [{kind: cell, particles: 12, radii: [1, 1, 1.5], stiffness: 10, mass: 1}]\n"
    "forces: [{kind: load, force: [0, 0, 1], from: 0}]\nfluid: {viscosity: 0.5}\n",
};
enum {
    SCENES = sizeof scenes / sizeof *scenes,
    TOUCHING = 6 /* the two cloths: large adaptive steps lead them to new places */
};

/* The integrator of a scene; NULL where the scheme does not fit the scene. */
static tw_integrator *create(const char *scene_text, tw_scheme scheme, bool is_adaptive,
                             tw_simulation **simulation)
{
    char text[2000];
    snprintf(text, sizeof text, "name: memory\nduration: 1\nintegrator: {name: %s, %s}\n%s",
             tw_scheme_name(scheme), is_adaptive ? "rtol: 1e-3" : "step: 1e-3", scene_text);
    tw_error error = {0};
    tw_scene *scene = NULL;
    tw_status status = tw_scene_parse("memory", text, strlen(text), 0, NULL, &scene, &error);
    if (status == TW_OK) status = tw_scene_build(scene, simulation, &error);
    ck_assert_msg(status == TW_OK, "%s", error.text);

    tw_integrator *integrator = NULL;
    tw_scene_create_integrator(scene, *simulation, &integrator, &error);
    tw_scene_free(scene);
    return integrator;
}

/* Steps from the start on, until one fails. Returns how many there were. */
static int take_steps(tw_integrator *integrator, const tw_simulation *simulation,
                      int64_t *allocations)
{
    const double far = 1e3; /* s: no pass ends there */
    const double *start = tw_simulation_start(simulation);
    ck_assert_int_eq(tw_integrator_start(integrator, 0, start, NULL), TW_OK);

    int64_t before = tw_memory_counts_now().allocations;
    int taken = 0;
    while (taken < STEPS && tw_integrator_step(integrator, far, NULL) == TW_OK) taken++;
    *allocations = tw_memory_counts_now().allocations - before;
    return taken;
}

/* Returns whether the scheme fits the scene and made all its steps. */
static bool steps_without_allocation(const char *scene, tw_scheme scheme, bool is_adaptive)
{
    tw_simulation *simulation = NULL;
    tw_integrator *integrator = create(scene, scheme, is_adaptive, &simulation);
    int first = 0;
    if (integrator) {
        int64_t allocations = 0;
        first = take_steps(integrator, simulation, &allocations);
        int second = take_steps(integrator, simulation, &allocations);
        ck_assert_int_eq(first, second);
        ck_assert_msg(allocations == 0, "%s, %s steps: %lld allocations in %d steps of\n%s",
                      tw_scheme_name(scheme), is_adaptive ? "adaptive" : "fixed",
                      (long long)allocations, second, scene);
    }
    tw_integrator_free(integrator);
    tw_simulation_free(simulation);
    return first == STEPS;
}

START_TEST(nothing_is_allocated_while_stepping)
{
    tw_scheme scheme = _i;
    if (!tw_scheme_available(scheme) || scheme == TW_SCHEME_CVODE)
        return; /* CVODE has memory of its own */
    int whole = 0;
    for (int i = 0; i < SCENES; i++)
        for (int adaptive = 0; adaptive < (i == TOUCHING ? 1 : 2); adaptive++)
            whole += steps_without_allocation(scenes[i], scheme, adaptive);

    /* A scheme that fits nowhere would prove nothing. */
    ck_assert_int_ge(whole, 1);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("step memory");
    TCase *tests = tcase_create("step memory");
    tcase_set_timeout(tests, 60);
    tcase_add_loop_test(tests, nothing_is_allocated_while_stepping, 0, TW_SCHEME_COUNT);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
