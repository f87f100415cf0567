/* labels: slow */
/* Solids in motion: exponential, implicit and explicit schemes agree on where a clamped body swings to, with every law
 * and with lumped and consistent mass. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <twang/twang.h>

#include "support/box_solid.h"
#include "support/run_suite.h"
#include "support/sparse_cases.h"

enum { LAWS = 3, TEN_NODES = 3, NETWORK, KINDS };
static const double duration = 0.2;

static tw_status add_network(tw_model *model, const box_solid *box)
{
    int64_t *ten = test_allocate(10 * (size_t)box->count, sizeof *ten), count = 0;
    int64_t *ends = test_allocate(12 * (size_t)box->count, sizeof *ends);
    tw_status status =
        tw_solid_quadratic(box->vertices, box->count, box->elements, ten, ends, &count, NULL);
    double *axial = test_allocate((size_t)count, sizeof *axial);
    for (int64_t e = 0; e < count; e++) axial[e] = 200;
    if (status == TW_OK)
        status = tw_model_add_warped_network(model, count, ends, axial, NULL, NULL, NULL);
    free(ten);
    free(ends);
    free(axial);
    return status;
}

/* Clamped at x = 0, falling from rest: it bends by a tenth of its length. */
static tw_simulation *swing(int kind, bool consistent)
{
    box_solid box = box_solid_make(&(box_shape){
        .cells = {6, 1, 1}, .size = {1.2, 0.2, 0.2}, .nodes = kind == TEN_NODES ? 10 : 4});
    tw_solid_material material = {.law = kind < LAWS ? (tw_solid_law)kind : TW_SOLID_COROTATIONAL,
                                  .youngs_modulus = 2e3,
                                  .poisson_ratio = 0.3};
    tw_model *model = NULL;
    tw_simulation *simulation = NULL;
    double *mass = test_allocate((size_t)box.count, sizeof *mass);
    ck_assert_int_eq(tw_model_create(&model, NULL), TW_OK);
    ck_assert_int_eq(
        tw_model_add_particles(model, box.vertices, box.positions, NULL, box.masses, NULL, NULL),
        TW_OK);
    for (int64_t i = 0; i < box.vertices; i++)
        if (box.positions[3 * i] < 1e-9) ck_assert_int_eq(tw_model_pin(model, i, i, NULL), TW_OK);
    ck_assert_int_eq(kind == NETWORK ? add_network(model, &box)
                                     : tw_model_add_tetrahedra(model, box.nodes, box.count,
                                                               box.elements, NULL, &material, NULL),
                     TW_OK);
    ck_assert_int_eq(tw_solid_element_mass(box.nodes, box.count, box.elements, box.vertices,
                                           box.positions, 1, mass, NULL),
                     TW_OK);
    if (consistent)
        ck_assert_int_eq(
            tw_model_add_consistent_mass(model, box.nodes, box.count, box.elements, mass, NULL),
            TW_OK);
    ck_assert_int_eq(tw_model_add_gravity(model, (double[3]){0, 0, -9.81}, NULL), TW_OK);
    ck_assert_int_eq(tw_simulation_of_model(model, &simulation, NULL), TW_OK);
    free(mass);
    box_solid_free(&box);
    return simulation;
}

/* The state at the end. */
static double *advance(tw_simulation *simulation, tw_scheme scheme, double step)
{
    tw_integrator_options options = tw_integrator_options_default();
    tw_integrator *integrator = NULL;
    tw_error error = {0};
    double *u = test_allocate((size_t)tw_simulation_state_size(simulation), sizeof *u);
    options.scheme = scheme;
    options.step = step;
    ck_assert_int_eq(tw_simulation_integrator(simulation, &options, &integrator, &error), TW_OK);
    ck_assert_msg(tw_integrator_advance(integrator, duration, &error) == TW_OK, "%s", error.text);
    tw_integrator_state(integrator, NULL, u);
    tw_integrator_free(integrator);
    return u;
}

/* Of positions, relative to how far they moved. */
static double difference(const tw_simulation *simulation, const double *u, const double *reference)
{
    const double *start = tw_simulation_start(simulation);
    double error = 0, moved = 0;
    for (int64_t i = 0; i < tw_simulation_state_size(simulation) / 2; i++) {
        error += (u[i] - reference[i]) * (u[i] - reference[i]);
        moved += (reference[i] - start[i]) * (reference[i] - start[i]);
    }
    return sqrt(error / moved);
}

START_TEST(schemes_agree)
{
    static const struct {
        tw_scheme scheme;
        double step, tolerance;
    } trials[] = {{TW_SCHEME_VERLET, 2e-4, 1e-4},
                  {TW_SCHEME_EXPRB42, 5e-3, 1e-3},
                  {TW_SCHEME_EXPMID4, 5e-3, 1e-5},
                  {TW_SCHEME_EXPMID2, 5e-3, 1e-3},
                  {TW_SCHEME_MIDPOINT, 5e-3, 1e-2}};
    tw_simulation *simulation = swing(_i / 2, _i % 2);
    double *reference = advance(simulation, TW_SCHEME_RK4, 2.5e-4);
    tw_measurement before, after;
    ck_assert_int_eq(tw_simulation_measure(simulation, 0, tw_simulation_start(simulation), &before),
                     TW_OK);
    ck_assert_int_eq(tw_simulation_measure(simulation, 0, reference, &after), TW_OK);
    double drift = after.kinetic + after.potential - before.kinetic - before.potential;
    ck_assert_double_le(fabs(drift), 1e-6 * after.kinetic); /* what rk4 itself loses */
    for (size_t i = 0; i < sizeof trials / sizeof *trials; i++) {
        double *u = advance(simulation, trials[i].scheme, trials[i].step);
        double error = difference(simulation, u, reference);
        ck_assert_msg(error <= trials[i].tolerance, "%s: %g", tw_scheme_name(trials[i].scheme),
                      error);
        free(u);
    }
    free(reference);
    tw_simulation_free(simulation);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("solid motion");
    TCase *cases = tcase_create("solid motion");
    tcase_set_timeout(cases, 300);
    tcase_add_loop_test(cases, schemes_agree, 0, 2 * KINDS);
    suite_add_tcase(suite, cases);
    return run_suite(suite);
}
