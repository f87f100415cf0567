/* The coil scene at full size is the coil of docs/scenes.md, whichever program computes it. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <twang/twang.h>

#include "mesh/bodies.h"
#include "problems/spring_network.h"
#include "problems/verlet_driver.h"
#include "support/run_suite.h"

static const char *const file_names[] = {"coil", "coil-hard"};

static tw_simulation *build_scene(const char *name, int count, const tw_scene_setting *settings,
                                  tw_scene **scene)
{
    char path[1000];
    tw_error error = {0};
    tw_simulation *simulation = NULL;
    snprintf(path, sizeof path, "%s/scenes/%s.yaml", getenv("TWANG_SOURCE"), name);
    ck_assert_msg(tw_scene_load(path, count, settings, scene, &error) == TW_OK, "%s", error.text);
    ck_assert_msg(tw_scene_build(*scene, &simulation, &error) == TW_OK, "%s", error.text);
    return simulation;
}

START_TEST(it_has_the_size_of_the_paper)
{
    for (int i = 0; i < 2; i++) {
        tw_scene *scene = NULL;
        tw_simulation *simulation = build_scene(file_names[i], 0, NULL, &scene);
        tw_simulation_summary s = tw_simulation_summarise(simulation);
        ck_assert_int_eq(s.particles, 8000);
        ck_assert_int_eq(s.springs, 40951);
        ck_assert_int_eq(s.pinned, 64);
        ck_assert_double_eq_tol(s.mass, i ? 79.36 : 7936.0, 1e-9);
        tw_simulation_free(simulation);
        tw_scene_free(scene);
    }
}
END_TEST

/* Every particle after 0.15 s of Verlet at h = 1.5e-4, against the springs of tests/problems and a loop of its own. */
START_TEST(verlet_agrees_with_an_independent_program)
{
    const tw_scene_setting verlet[] = {{"t", "integrator", "{name: verlet, step: 1.5e-4}"},
                                       {"t", "duration", "0.15"}};
    tw_scene *scene = NULL;
    tw_simulation *simulation = build_scene("coil", 2, verlet, &scene);
    tw_integrator *integrator = NULL;
    tw_error error = {0};
    ck_assert_int_eq(tw_scene_create_integrator(scene, simulation, &integrator, &error), TW_OK);
    ck_assert_int_eq(tw_integrator_start(integrator, 0.0, tw_simulation_start(simulation), &error),
                     TW_OK);
    ck_assert_int_eq(tw_integrator_advance(integrator, 0.15, &error), TW_OK);
    const double *u = tw_integrator_state_view(integrator);

    spring_network *network = NULL;
    ck_assert_int_eq(coil_create(coil_default(), &network), TW_OK);
    problem p = spring_network_problem(network);
    ck_assert_int_eq(2 * p.size, tw_simulation_state_size(simulation));
    double *x = malloc(3 * (size_t)p.size * sizeof *x), *v = x + p.size, *a = v + p.size;
    memcpy(x, network->initial, (size_t)p.size * sizeof *x);
    memset(v, 0, (size_t)p.size * sizeof *v);
    verlet_run(&p, 1.5e-4, 1000, x, v, a);
    double worst_x = 0, worst_v = 0;
    for (int64_t i = 0; i < p.size; i++) {
        worst_x = fmax(worst_x, fabs(u[i] - x[i]));
        worst_v = fmax(worst_v, fabs(u[p.size + i] - v[i]));
    }
    ck_assert_msg(worst_x < 1e-12 && worst_v < 1e-9, "%g m, %g m/s", worst_x, worst_v);
    ck_assert_msg(fabs(u[p.size - 1] - network->initial[p.size - 1]) > 5e-4, "it moved");
    free(x);
    spring_network_free(network);
    tw_integrator_free(integrator);
    tw_simulation_free(simulation);
    tw_scene_free(scene);
}
END_TEST

START_TEST(its_tetrahedra_fill_the_wire)
{
    tw_coil coil = {
        .sections = 500, .across = 4, .turns = 6, .radius = 1, .height = 4, .thickness = 0.3};
    tw_mesh mesh = {0};
    tw_error error = {0};
    ck_assert_int_eq(tw_body_coil(&coil, &mesh, &error), TW_OK);
    ck_assert_int_eq(mesh.tetrahedron_count, 6 * 9 * 499);
    ck_assert_int_eq(tw_mesh_check(&mesh, &error), TW_OK);
    double *volumes = malloc((size_t)mesh.tetrahedron_count * sizeof *volumes);
    tw_mesh_volumes(&mesh, volumes);
    for (int64_t t = 0; t < mesh.tetrahedron_count; t++) ck_assert_double_gt(volumes[t], 0.0);
    free(volumes);
    int64_t *triangles = NULL, count = 0;
    ck_assert_int_eq(tw_mesh_surface(&mesh, &triangles, &count, &error), TW_OK);
    ck_assert_int_eq(count, 4 * (3 * 3 + 2 * 3 * 499)); /* two per outer face of a cell */
    tw_mesh_free_indices(triangles);
    /* Pappus, 0.09 * 12 pi, with chords of 12 pi / 499 in place of arcs */
    double angle = 12 * 3.14159265358979323846 / 499;
    ck_assert_double_eq_tol(tw_mesh_volume(&mesh), 0.09 * 499 * sin(angle), 1e-5);
    tw_mesh_free(&mesh);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("coil");
    TCase *cases = tcase_create("coil");
    tcase_set_timeout(cases, 300);
    tcase_add_test(cases, it_has_the_size_of_the_paper);
    tcase_add_test(cases, verlet_agrees_with_an_independent_program);
    tcase_add_test(cases, its_tetrahedra_fill_the_wire);
    suite_add_tcase(suite, cases);
    return run_suite(suite);
}
