/* Newton's iteration does not depend on the unit of mass. */
#include <stdint.h>
#include <twang/twang.h>

#include "support/run_suite.h"
#include "support/simulation_runs.h"
#include "support/touching_bodies.h"

enum { PARTICLES = 6, UNKNOWNS = 3 * (PARTICLES - 1) };

/* A stiff chain that swings from its first particle, all masses and stiffnesses times `unit`. */
static tw_simulation *chain(double unit)
{
    tw_model *model = touching_model(9.81);
    const double from[3] = {0, 0, 0};
    const double to[3] = {0.3, 0.1, 0};
    const double still[3] = {0, 0, 0};
    touching_line(model, from, to, PARTICLES, still, 0.5 * unit, 1e5 * unit);
    ck_assert_int_eq(tw_model_pin(model, 0, 0, NULL), TW_OK);
    tw_contact_options no_contact = tw_contact_options_default();
    no_contact.distance = 1e-3;
    return touching_simulation(model, &no_contact);
}

/* The state after a swing, and how many iterations it took. */
static int64_t swing(tw_scheme scheme, double unit, double *u)
{
    tw_simulation *simulation = chain(unit);
    tw_integrator_options options = tw_integrator_options_default();
    options.scheme = scheme;
    options.step = 5e-3;
    options.newton.tolerance = 1e-3;
    tw_integrator *integrator = start_simulation(simulation, &options);
    advance_to(integrator, 0.2);

    double end = 0;
    tw_integrator_state(integrator, &end, u);
    int64_t iterations = tw_integrator_statistics_now(integrator).newton_iterations;
    tw_integrator_free(integrator);
    tw_simulation_free(simulation);
    return iterations;
}

/* Powers of two and of four change no digit of the numbers, so that every byte is the same. */
START_TEST(the_unit_of_mass_changes_no_byte)
{
    static const tw_scheme schemes[] = {TW_SCHEME_MIDPOINT, TW_SCHEME_BDF1, TW_SCHEME_BDF2,
                                        TW_SCHEME_EXPMID2};
    double kilograms[2 * UNKNOWNS];
    double light[2 * UNKNOWNS];
    double heavy[2 * UNKNOWNS];
    int64_t iterations = swing(schemes[_i], 1, kilograms);

    ck_assert_int_eq(swing(schemes[_i], 0x1p-28, light), iterations);
    ck_assert_int_eq(swing(schemes[_i], 0x1p28, heavy), iterations);
    ck_assert_mem_eq(kilograms, light, sizeof light);
    ck_assert_mem_eq(kilograms, heavy, sizeof heavy);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("newton_units");
    TCase *tcase = tcase_create("chain");
    tcase_add_loop_test(tcase, the_unit_of_mass_changes_no_byte, 0, 4);
    suite_add_tcase(suite, tcase);
    return run_suite(suite);
}
