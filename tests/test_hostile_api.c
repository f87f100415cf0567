/* Arguments that no caller means to give: NULL, negative and enormous counts, NaN. Each call returns a status that is
 * not TW_OK and leaves the process alive; each case runs in a process of its own. */
#include <float.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <twang/twang.h>

#include "support/run_suite.h"

static const int64_t HUGE_COUNT = INT64_C(1) << 60;
static const double origin[3] = {0, 0, 0};
static const double ones[12] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
static const double corners[12] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1};
static const int64_t indices[4] = {0, 1, 2, 3};

/* ---- things to start from ---- */

static tw_model *some_model(void)
{
    tw_model *model = NULL;
    ck_assert_int_eq(tw_model_create(&model, NULL), TW_OK);
    ck_assert_int_eq(tw_model_add_particles(model, 4, corners, NULL, ones, NULL, NULL), TW_OK);
    return model;
}

static tw_simulation *some_simulation(void)
{
    static const double k = 1;
    tw_model *model = some_model();
    tw_simulation *simulation = NULL;
    ck_assert_int_eq(tw_model_add_springs(model, 1, indices, &k, NULL, NULL), TW_OK);
    ck_assert_int_eq(tw_simulation_of_model(model, &simulation, NULL), TW_OK);
    return simulation;
}

static tw_integrator_options some_options(void)
{
    tw_integrator_options options = tw_integrator_options_default();
    options.step = 0.1;
    return options;
}

static tw_status integrate(const tw_integrator_options *options)
{
    tw_integrator *integrator = NULL;
    tw_simulation *simulation = some_simulation();
    tw_status status = tw_simulation_integrator(simulation, options, &integrator, NULL);
    tw_integrator_free(integrator);
    tw_simulation_free(simulation);
    return status;
}

static tw_mesh some_mesh(void)
{
    static double vertices[12];
    static int64_t cells[4];
    memcpy(vertices, corners, sizeof vertices);
    memcpy(cells, indices, sizeof cells);
    return (tw_mesh){
        .vertex_count = 4, .tetrahedron_count = 1, .vertices = vertices, .tetrahedra = cells};
}

/* A call in the middle of a test, as a case of its own. */
#define CASE(name, ...)                                                                            \
    static tw_status name(void)                                                                    \
    {                                                                                              \
        __VA_ARGS__                                                                                \
    }
/* A model, one call, and its end. */
#define ON_MODEL(name, call)                                                                       \
    static tw_status name(void)                                                                    \
    {                                                                                              \
        tw_model *m = some_model();                                                                \
        tw_status status = (call);                                                                 \
        tw_model_free(m);                                                                          \
        return status;                                                                             \
    }
/* The options of an integrator with one value changed. */
#define OPTION(name, change)                                                                       \
    static tw_status name(void)                                                                    \
    {                                                                                              \
        tw_integrator_options o = some_options();                                                  \
        change;                                                                                    \
        return integrate(&o);                                                                      \
    }

/* ---- scenes and runs ---- */

static tw_scene *scene;
CASE(parse_null, return tw_scene_parse("o", NULL, 0, 0, NULL, &scene, NULL);)
CASE(parse_null_long, return tw_scene_parse("o", NULL, 10, 0, NULL, &scene, NULL);)
CASE(parse_no_origin, return tw_scene_parse(NULL, "a: 1", 4, 0, NULL, &scene, NULL);)
CASE(parse_no_out, return tw_scene_parse("o", "a: 1", 4, 0, NULL, NULL, NULL);)
CASE(parse_negative, return tw_scene_parse("o", "a: 1", 4, -1, NULL, &scene, NULL);)
CASE(parse_no_settings, return tw_scene_parse("o", "a: 1", 4, 3, NULL, &scene, NULL);)
CASE(parse_null_setting, tw_scene_setting s = {0};
     return tw_scene_parse("o", "name: a", 7, 1, &s, &scene, NULL);)
CASE(load_null, return tw_scene_load(NULL, 0, NULL, &scene, NULL);)
CASE(load_no_out, return tw_scene_load("none", 0, NULL, NULL, NULL);)
CASE(write_null, return tw_scene_write(NULL, NULL, NULL, NULL);)
CASE(build_null, return tw_scene_build(NULL, NULL, NULL);)
CASE(blame_null, return tw_scene_blame(NULL, NULL, NULL);)
CASE(key_negative, tw_scene_key key; return tw_scene_key_at(-1, &key);)
CASE(key_huge, tw_scene_key key; return tw_scene_key_at(INT_MAX, &key);)
CASE(key_null, return tw_scene_key_at(0, NULL);)
CASE(create_integrator_null, return tw_scene_create_integrator(NULL, NULL, NULL, NULL);)
CASE(run_null, return tw_run_scene(NULL, NULL, NULL, NULL);)
CASE(resume_null, return tw_run_resume(NULL, NULL, NULL, NULL);)
CASE(resume_none, return tw_run_resume("", NULL, NULL, NULL);)
CASE(playback_null, return tw_playback_open(NULL, NULL, NULL);)
CASE(playback_read_null, return tw_playback_read(NULL, 0, NULL, NULL, NULL);)
CASE(export_null, return tw_run_export(NULL, NULL, NULL, NULL);)

/* ---- models ---- */

CASE(model_null, return tw_model_create(NULL, NULL);)
CASE(particles_no_model, return tw_model_add_particles(NULL, 1, origin, NULL, ones, NULL, NULL);)
ON_MODEL(particles_negative, tw_model_add_particles(m, -1, origin, NULL, ones, NULL, NULL))
ON_MODEL(particles_huge, tw_model_add_particles(m, HUGE_COUNT, NULL, NULL, NULL, NULL, NULL))
ON_MODEL(particles_null, tw_model_add_particles(m, 1, NULL, NULL, ones, NULL, NULL))
ON_MODEL(particles_massless, tw_model_add_particles(m, 1, origin, NULL, NULL, NULL, NULL))
ON_MODEL(pin_negative, tw_model_pin(m, -1, 0, NULL))
ON_MODEL(pin_huge, tw_model_pin(m, 0, HUGE_COUNT, NULL))
ON_MODEL(pin_backwards, tw_model_pin(m, 2, 1, NULL))
CASE(pin_no_model, return tw_model_pin(NULL, 0, 0, NULL);)
ON_MODEL(gravity_null, tw_model_add_gravity(m, NULL, NULL))
CASE(gravity_no_model, return tw_model_add_gravity(NULL, ones, NULL);)
ON_MODEL(gravity_nan, tw_model_add_gravity(m, (double[3]){0, NAN, 0}, NULL))
ON_MODEL(springs_negative, tw_model_add_springs(m, -1, indices, ones, NULL, NULL))
ON_MODEL(springs_huge, tw_model_add_springs(m, HUGE_COUNT, NULL, NULL, NULL, NULL))
ON_MODEL(springs_null, tw_model_add_springs(m, 1, NULL, ones, NULL, NULL))
ON_MODEL(springs_no_stiffness, tw_model_add_springs(m, 1, indices, NULL, NULL, NULL))
ON_MODEL(springs_nan, tw_model_add_springs(m, 1, indices, &(double){NAN}, NULL, NULL))
CASE(springs_no_model, return tw_model_add_springs(NULL, 1, indices, ones, NULL, NULL);)
ON_MODEL(display_null, tw_model_add_display(m, NULL, NULL))
ON_MODEL(display_negative, tw_model_add_display(m, &(tw_display){.count = -1}, NULL))
ON_MODEL(display_huge,
         tw_model_add_display(m, &(tw_display){.count = 4, .edge_count = HUGE_COUNT}, NULL))
ON_MODEL(display_surface_negative,
         tw_model_add_display(m, &(tw_display){.count = 4, .surface = {.vertex_count = -1}}, NULL))
ON_MODEL(display_surface_huge,
         tw_model_add_display(m, &(tw_display){.count = 4, .surface = {.vertex_count = HUGE_COUNT}},
                              NULL))
ON_MODEL(display_statements_negative,
         tw_model_add_display(m,
                              &(tw_display){.count = 4,
                                            .surface = {.statement_count = -1, .face_count = -1}},
                              NULL))
ON_MODEL(rayleigh_nan, tw_model_set_rayleigh(m, NAN, 0, NULL))
CASE(rayleigh_no_model, return tw_model_set_rayleigh(NULL, 0, 0, NULL);)
ON_MODEL(load_negative, tw_model_add_load(m, -1, 0, ones, NULL))
ON_MODEL(load_nan, tw_model_add_load(m, 0, 0, (double[3]){NAN, 0, 0}, NULL))
ON_MODEL(load_no_force, tw_model_add_load(m, 0, 0, NULL, NULL))
ON_MODEL(field_null, tw_model_add_field(m, 0, 0, NULL, NULL))
ON_MODEL(field_empty, tw_model_add_field(m, 0, 0, &(tw_field){0}, NULL))
ON_MODEL(shaking_nan, tw_model_add_shaking(m, ones, NAN, 0, NULL))
ON_MODEL(shaking_null, tw_model_add_shaking(m, NULL, 1, 0, NULL))
ON_MODEL(wind_null, tw_model_add_wind(m, 1, indices, NULL, NULL))
ON_MODEL(wind_negative, tw_model_add_wind(m, -1, indices, &(tw_wind){.density = 1}, NULL))
ON_MODEL(wind_huge, tw_model_add_wind(m, HUGE_COUNT, NULL, &(tw_wind){.density = 1}, NULL))
ON_MODEL(obstacle_kind,
         tw_model_add_obstacle(m, &(tw_obstacle){.kind = (tw_obstacle_kind)100, .radius = 1}, NULL,
                               NULL, NULL))
ON_MODEL(wind_nan, tw_model_add_wind(m, 1, indices, &(tw_wind){.density = NAN}, NULL))
ON_MODEL(user_null, tw_model_add_user_force(m, NULL, NULL))
ON_MODEL(user_empty, tw_model_add_user_force(m, &(tw_user_force){0}, NULL))
ON_MODEL(prescribe_null, tw_model_prescribe(m, 0, 0, NULL, NULL))
ON_MODEL(prescribe_empty, tw_model_prescribe(m, 0, 0, &(tw_motion){0}, NULL))
ON_MODEL(velocity_nan, tw_model_prescribe_velocity(m, 0, 0, (double[3]){NAN, 0, 0}, NULL))
ON_MODEL(velocity_null, tw_model_prescribe_velocity(m, 0, 0, NULL, NULL))
ON_MODEL(oscillation_nan, tw_model_prescribe_oscillation(m, 0, 0, ones, NAN, 0, NULL))
ON_MODEL(oscillation_null, tw_model_prescribe_oscillation(m, 0, 0, NULL, 1, 0, NULL))
ON_MODEL(rotation_no_axis, tw_model_prescribe_rotation(m, 0, 0, origin, origin, 1, NULL))
ON_MODEL(turning_null, tw_model_prescribe_turning(m, 0, 0, NULL, NULL, 2, NULL, NULL, NULL))
ON_MODEL(turning_no_keyframes,
         tw_model_prescribe_turning(m, 0, 0, origin, ones, 2, NULL, NULL, NULL))
ON_MODEL(rotation_null, tw_model_prescribe_rotation(m, 0, 0, NULL, NULL, 1, NULL))
ON_MODEL(keyframes_negative, tw_model_prescribe_keyframes(m, 0, 0, -1, ones, ones, NULL))
ON_MODEL(keyframes_huge, tw_model_prescribe_keyframes(m, 0, 0, HUGE_COUNT, NULL, NULL, NULL))
ON_MODEL(keyframes_null, tw_model_prescribe_keyframes(m, 0, 0, 2, NULL, NULL, NULL))
ON_MODEL(solid_nodes,
         tw_model_add_tetrahedra(m, 5, 1, indices, NULL, &(tw_solid_material){0}, NULL))
ON_MODEL(solid_null, tw_model_add_tetrahedra(m, 4, 1, NULL, NULL, NULL, NULL))
ON_MODEL(solid_negative,
         tw_model_add_tetrahedra(m, 4, -1, indices, NULL, &(tw_solid_material){0}, NULL))
ON_MODEL(solid_huge,
         tw_model_add_tetrahedra(m, 4, HUGE_COUNT, NULL, NULL, &(tw_solid_material){0}, NULL))
ON_MODEL(mass_negative, tw_model_add_consistent_mass(m, 4, -1, indices, ones, NULL))
ON_MODEL(mass_huge, tw_model_add_consistent_mass(m, 4, HUGE_COUNT, NULL, NULL, NULL))
ON_MODEL(network_negative, tw_model_add_warped_network(m, -1, indices, ones, NULL, NULL, NULL))
ON_MODEL(network_huge, tw_model_add_warped_network(m, HUGE_COUNT, NULL, NULL, NULL, NULL, NULL))
CASE(lump_null, return tw_lump_mass(3, 1, NULL, 4, NULL, 1, NULL, NULL);)
CASE(lump_negative, double mass[4]; return tw_lump_mass(3, -1, indices, 4, corners, 1, mass, NULL);)
CASE(lump_corners, double mass[4]; return tw_lump_mass(7, 1, indices, 4, corners, 1, mass, NULL);)
CASE(solid_mass_null, return tw_solid_lumped_mass(4, 1, NULL, 4, NULL, 1, NULL, NULL);)
CASE(solid_mass_negative, return tw_solid_lumped_mass(4, -1, NULL, -1, NULL, 1, NULL, NULL);)
CASE(element_mass_negative, return tw_solid_element_mass(4, -1, NULL, -1, NULL, 1, NULL, NULL);)
CASE(quadratic_negative, return tw_solid_quadratic(-1, -1, NULL, NULL, NULL, NULL, NULL);)
CASE(quadratic_huge, int64_t n;
     return tw_solid_quadratic(4, HUGE_COUNT, indices, NULL, NULL, &n, NULL);)
CASE(simulation_null, return tw_simulation_of_model(NULL, NULL, NULL);)
CASE(simulation_empty, tw_model *m = NULL; tw_simulation *s = NULL; tw_model_create(&m, NULL);
     tw_status status = tw_simulation_of_model(m, &s, NULL); tw_model_free(m); return status;)
CASE(fput_negative, tw_simulation *s; return tw_simulation_fput(-1, 1, &s, NULL);)
CASE(fput_huge, tw_simulation *s; return tw_simulation_fput(HUGE_COUNT, 1, &s, NULL);)
CASE(fput_nan, tw_simulation *s; return tw_simulation_fput(3, NAN, &s, NULL);)
CASE(fput_null, return tw_simulation_fput(3, 1, NULL, NULL);)
CASE(line_null, tw_simulation *s; return tw_simulation_stiff_line(1, NULL, &s, NULL);)
CASE(line_nan, tw_simulation *s; return tw_simulation_stiff_line(NAN, ones, &s, NULL);)
CASE(rows_null, return tw_simulation_rows(NULL, 0, NULL, NULL);)
CASE(measure_null, return tw_simulation_measure(NULL, 0, NULL, NULL);)
CASE(frequency_null, return tw_simulation_frequency(NULL, 1, NULL, NULL);)
CASE(frequency_negative, tw_simulation *s = some_simulation(); double w;
     tw_status status = tw_simulation_frequency(s, -1, &w, NULL); tw_simulation_free(s);
     return status;)

/* ---- integrators ---- */

static tw_status no_acceleration(void *context, double t, const double *x, const double *v,
                                 double *a)
{
    (void)context, (void)t, (void)x, (void)v, (void)a;
    return TW_OK;
}

CASE(integrator_null, return tw_integrator_create_second_order(NULL, NULL, NULL, NULL);)
CASE(integrator_first_null, return tw_integrator_create_first_order(NULL, NULL, NULL, NULL);)
CASE(integrator_simulation_null, return tw_simulation_integrator(NULL, NULL, NULL, NULL);)
CASE(integrator_size, tw_integrator *i; tw_integrator_options o = some_options();
     o.scheme = TW_SCHEME_RK4; tw_second_order_problem p = {.space = {.local_size = HUGE_COUNT},
                                                            .acceleration = no_acceleration};
     return tw_integrator_create_second_order(&p, &o, &i, NULL);)
CASE(integrator_size_most, tw_integrator *i; tw_integrator_options o = some_options();
     tw_second_order_problem p = {.space = {.local_size = INT64_MAX},
                                  .acceleration = no_acceleration};
     return tw_integrator_create_second_order(&p, &o, &i, NULL);)
CASE(integrator_size_negative, tw_integrator *i; tw_integrator_options o = some_options();
     tw_second_order_problem p = {.space = {.local_size = -1}, .acceleration = no_acceleration};
     return tw_integrator_create_second_order(&p, &o, &i, NULL);)
OPTION(option_scheme, o.scheme = (tw_scheme)-1)
OPTION(option_scheme_huge, o.scheme = (tw_scheme)1000)
OPTION(option_step_nan, o.step = NAN)
OPTION(option_step_infinite, o.step = INFINITY)
OPTION(option_step_negative, o.step = -1)
OPTION(option_tolerance_nan, o.relative_tolerance = NAN)
OPTION(option_absolute_nan, o.absolute_tolerance = NAN)
OPTION(option_absolute_infinite, o.absolute_tolerance = INFINITY)
OPTION(option_reference_nan, o.reference[1] = NAN)
OPTION(option_smallest_nan, o.smallest_step = NAN)
OPTION(option_largest_nan, o.largest_step = NAN)
OPTION(option_steps, o.max_steps = -1)
OPTION(option_bound_nan, o.energy_gain_bound = NAN)
OPTION(option_controller, o.controller = (tw_controller)77; o.relative_tolerance = 1e-3)
OPTION(option_passes_huge, o.scheme = TW_SCHEME_EXPMID4; o.expmid4.passes = INT_MIN)
OPTION(option_newton_nan, o.newton.tolerance = NAN)
OPTION(option_newton_infinite, o.newton.tolerance = INFINITY)
OPTION(option_newton_large, o.newton.tolerance = 1e300)
OPTION(option_newton_one, o.newton.tolerance = 1)
OPTION(option_cutoff_large, o.expmid2.filter_cutoff = 1e300)
OPTION(option_bound_infinite, o.energy_gain_bound = INFINITY)
OPTION(option_smallest_infinite, o.smallest_step = INFINITY)
OPTION(option_steps_crossed, o.smallest_step = 2; o.largest_step = 1)
OPTION(option_passes_large, o.expmid4.passes = 11)
OPTION(option_newton_negative, o.newton.max_iterations = -1)
OPTION(option_reuse_nan, o.newton.reuse_factor = NAN)
OPTION(option_solver, o.scheme = TW_SCHEME_BDF1; o.newton.linear_solver = (tw_linear_solver)9)
OPTION(option_filter, o.scheme = TW_SCHEME_GAUTSCHI; o.gautschi.filter = (tw_filter)9)
OPTION(option_cutoff_nan, o.expmid2.filter_cutoff = NAN)
OPTION(option_cutoff_infinite, o.expmid2.filter_cutoff = INFINITY)
OPTION(option_radius_nan, o.generalized_alpha.spectral_radius = NAN)
OPTION(option_nodes_nan, o.scheme = TW_SCHEME_PEXPRB43; o.pexprb43.nodes[0] = NAN)
OPTION(option_phi_engine, o.phi.engine = (tw_phi_engine)-5)
OPTION(option_phi_tolerance, o.phi.tolerance = NAN)
OPTION(option_phi_inner, o.phi.inner_product = (tw_phi_inner_product)-5)
OPTION(option_phi_norm, o.phi.norm = (tw_phi_norm)-5)
OPTION(option_phi_dimension, o.phi.max_dimension = INT_MAX)
OPTION(option_phi_dimension_negative, o.phi.max_dimension = -1)
OPTION(option_phi_products, o.phi.max_products = -1)
OPTION(option_phi_pole, o.phi.pole = NAN)

/* A started integrator, one call, and its end. */
#define ON_INTEGRATOR(name, call)                                                                  \
    static tw_status name(void)                                                                    \
    {                                                                                              \
        tw_integrator *i = NULL;                                                                   \
        tw_integrator_options o = some_options();                                                  \
        tw_simulation *s = some_simulation();                                                      \
        ck_assert_int_eq(tw_simulation_integrator(s, &o, &i, NULL), TW_OK);                        \
        tw_status status = (call);                                                                 \
        tw_integrator_free(i);                                                                     \
        tw_simulation_free(s);                                                                     \
        return status;                                                                             \
    }
static tw_status no_output(void *context, double t, const double *u)
{
    (void)context, (void)t, (void)u;
    return TW_OK;
}
ON_INTEGRATOR(start_null, tw_integrator_start(i, 0, NULL, NULL))
ON_INTEGRATOR(start_nan, tw_integrator_start(i, NAN, tw_simulation_start(s), NULL))

/* An integrator that was created for a problem whose callbacks can fail, and not yet started. */
static tw_status refuse_acceleration(void *context, double t, const double *x, const double *v,
                                     double *a)
{
    (void)context, (void)t, (void)x, (void)v, (void)a;
    return TW_CALLBACK_FAILED;
}
static tw_status no_energy(void *context, double t, const double *x, const double *v,
                           double *kinetic, double *potential)
{
    (void)context, (void)t, (void)x, (void)v;
    *kinetic = 0;
    *potential = 0;
    return TW_OK;
}
static tw_status refuse_energy(void *context, double t, const double *x, const double *v,
                               double *kinetic, double *potential)
{
    (void)context, (void)t, (void)x, (void)v, (void)kinetic, (void)potential;
    return TW_CALLBACK_FAILED;
}
static tw_integrator *not_started(const tw_second_order_problem *problem)
{
    tw_integrator_options options = some_options();
    tw_integrator *integrator = NULL;
    ck_assert_int_eq(tw_integrator_create_second_order(problem, &options, &integrator, NULL),
                     TW_OK);
    return integrator;
}
#define ON_PROBLEM(name, change, call)                                                             \
    static tw_status name(void)                                                                    \
    {                                                                                              \
        static const double zeros[2];                                                              \
        double u[2];                                                                               \
        double e[2];                                                                               \
        (void)zeros, (void)u, (void)e;                                                             \
        tw_second_order_problem p = {.space.local_size = 1, .acceleration = no_acceleration};      \
        change;                                                                                    \
        tw_integrator *i = not_started(&p);                                                        \
        tw_status status = (call);                                                                 \
        tw_integrator_free(i);                                                                     \
        return status;                                                                             \
    }
ON_PROBLEM(interpolate_before_start, , tw_integrator_interpolate(i, 0, u, NULL))
ON_PROBLEM(energy_before_start, p.energy = no_energy, tw_integrator_energy(i, &e[0], &e[1]))
ON_PROBLEM(start_acceleration_fails, p.acceleration = refuse_acceleration,
           tw_integrator_start(i, 0, zeros, NULL))
ON_PROBLEM(start_energy_fails, p.energy = refuse_energy, tw_integrator_start(i, 0, zeros, NULL))
ON_PROBLEM(step_after_failed_start, p.energy = refuse_energy,
           (tw_integrator_start(i, 0, zeros, NULL), tw_integrator_step(i, 1, NULL)))
CASE(start_none, return tw_integrator_start(NULL, 0, ones, NULL);)
ON_INTEGRATOR(step_nan, tw_integrator_step(i, NAN, NULL))
ON_INTEGRATOR(step_infinite, tw_integrator_step(i, INFINITY, NULL))
ON_INTEGRATOR(step_back, tw_integrator_step(i, -1, NULL))
CASE(step_none, return tw_integrator_step(NULL, 1, NULL);)
ON_INTEGRATOR(advance_nan, tw_integrator_advance(i, NAN, NULL))
CASE(advance_none, return tw_integrator_advance(NULL, 1, NULL);)
ON_INTEGRATOR(interpolate_null, tw_integrator_interpolate(i, 0, NULL, NULL))
ON_INTEGRATOR(interpolate_nan, tw_integrator_interpolate(i, NAN, (double[24]){0}, NULL))
CASE(interpolate_none, return tw_integrator_interpolate(NULL, 0, (double[24]){0}, NULL);)
ON_INTEGRATOR(expect_nan, tw_integrator_expect_output(i, NAN, 1))
ON_INTEGRATOR(expect_negative, tw_integrator_expect_output(i, 0, -1))
CASE(expect_none, return tw_integrator_expect_output(NULL, 0, 1);)
ON_INTEGRATOR(output_nan, tw_integrator_on_output(i, 0, NAN, no_output, NULL))
CASE(output_none, return tw_integrator_on_output(NULL, 0, 1, no_output, NULL);)
ON_INTEGRATOR(output_at_negative, tw_integrator_on_output_at(i, ones, -1, no_output, NULL, NULL))
ON_INTEGRATOR(output_at_huge,
              tw_integrator_on_output_at(i, NULL, HUGE_COUNT, no_output, NULL, NULL))
ON_INTEGRATOR(output_at_null, tw_integrator_on_output_at(i, NULL, 1, no_output, NULL, NULL))
ON_INTEGRATOR(event_null, tw_integrator_add_event(i, NULL, NULL))
ON_INTEGRATOR(event_empty, tw_integrator_add_event(i, &(tw_event){0}, NULL))
CASE(event_none, return tw_integrator_add_event(NULL, &(tw_event){0}, NULL);)
CASE(energy_none, return tw_integrator_energy(NULL, NULL, NULL);)
ON_INTEGRATOR(energy_null, tw_integrator_energy(i, NULL, NULL))
CASE(serialise_none, size_t size; return tw_integrator_serialise(NULL, NULL, 0, &size);)
ON_INTEGRATOR(restore_null, tw_integrator_restore(i, NULL, SIZE_MAX, NULL))
CASE(restore_none, return tw_integrator_restore(NULL, ones, 1, NULL);)
CASE(tableau_null, return tw_tableau_check(NULL, NULL, NULL);)
CASE(tableau_terms, tw_tableau t = *tw_tableau_by_name("exprb42"); t.term_count = INT_MAX;
     return tw_tableau_check(&t, NULL, NULL);)
CASE(tableau_negative, tw_tableau t = *tw_tableau_by_name("exprb42"); t.stages = -1;
     return tw_tableau_check(&t, NULL, NULL);)
CASE(tableau_k, tw_tableau t = *tw_tableau_by_name("exprb42"); t.terms[0].k = INT_MAX;
     return tw_tableau_check(&t, NULL, NULL);)
CASE(tableau_nan, tw_tableau t = *tw_tableau_by_name("exprb42"); t.c[0] = NAN;
     return tw_tableau_check(&t, NULL, NULL);)
CASE(tableau_nodes, tw_tableau t; return tw_tableau_pexprb43(NAN, 1, &t, NULL);)
CASE(tableau_no_out, return tw_tableau_pexprb43(0.3, 0.7, NULL, NULL);)

/* ---- phi and linear algebra ---- */

#define LIMITS(name, change)                                                                       \
    static tw_status name(void)                                                                    \
    {                                                                                              \
        tw_phi_workspace *w = NULL;                                                                \
        tw_phi_limits l = tw_phi_limits_default();                                                 \
        l.size = 4;                                                                                \
        change;                                                                                    \
        tw_status status = tw_phi_workspace_create(&l, &w, NULL);                                  \
        tw_phi_workspace_free(w);                                                                  \
        return status;                                                                             \
    }
CASE(workspace_null, return tw_phi_workspace_create(NULL, NULL, NULL);)
LIMITS(limits_size, l.size = HUGE_COUNT)
LIMITS(limits_most, l.size = INT64_MAX)
LIMITS(limits_negative, l.size = -1)
LIMITS(limits_dimension, l.max_dimension = INT_MAX; l.size = 1 << 20)
LIMITS(limits_dimension_negative, l.max_dimension = -1)
LIMITS(limits_slots, l.slots = INT_MAX)
LIMITS(limits_slots_negative, l.slots = -1)
LIMITS(limits_bytes_nan, l.basis_bytes = NAN)
LIMITS(limits_bytes_negative, l.basis_bytes = -1)
LIMITS(limits_options_dimension, l.options.max_dimension = INT_MAX)
LIMITS(limits_options_tolerance, l.options.tolerance = NAN)
CASE(options_null, return tw_phi_workspace_set_options(NULL, NULL);)
CASE(evaluate_null, return tw_phi_evaluate(NULL, NULL, NULL, NULL, NULL);)
CASE(evaluate_second_null, return tw_phi_evaluate_second_order(NULL, NULL, NULL, NULL, NULL);)
CASE(spectral_null, return tw_spectral_apply(NULL, NULL, NULL, NULL, NULL);)
CASE(spectral_reuse_null, return tw_spectral_reuse(NULL, NULL, NULL, NULL);)
static tw_sparse *matrix;
CASE(sparse_null, return tw_sparse_create(3, 1, NULL, NULL, TW_STORE_FULL, &matrix, NULL);)
CASE(sparse_negative,
     return tw_sparse_create(3, -1, indices, indices, TW_STORE_FULL, &matrix, NULL);)
CASE(sparse_huge, return tw_sparse_create(3, HUGE_COUNT, NULL, NULL, TW_STORE_FULL, &matrix, NULL);)
CASE(sparse_block, return tw_sparse_create(-3, 1, indices, indices, TW_STORE_FULL, &matrix, NULL);)
CASE(sparse_starts, const int64_t bad[2] = {0, INT64_MAX};
     return tw_sparse_create(1, 1, bad, indices, TW_STORE_FULL, &matrix, NULL);)
CASE(sparse_apply_null, return tw_sparse_apply(NULL, 1, NULL, NULL);)
CASE(cholesky_null, return tw_cholesky_create(NULL, NULL, NULL, NULL);)
CASE(cholesky_factor_null, return tw_cholesky_factor(NULL, 1, NULL, 1);)
CASE(cholesky_solve_null, return tw_cholesky_solve(NULL, 1, NULL, NULL);)
CASE(shifted_null, return tw_shifted_cholesky_create(NULL, NULL, NULL, NULL, NULL);)
CASE(root_null, return tw_sqrt_spd(3, NULL, TW_SQRT_EIGEN, NULL, NULL, NULL);)
CASE(root_negative, double O[9]; return tw_sqrt_spd(-1, ones, TW_SQRT_EIGEN, O, NULL, NULL);)
CASE(root_huge, double O[9]; return tw_sqrt_spd(INT_MAX, ones, TW_SQRT_EIGEN, O, NULL, NULL);)
CASE(root_nan, double O[1]; return tw_sqrt_spd(1, &(double){NAN}, TW_SQRT_EIGEN, O, NULL, NULL);)
CASE(omega_null, return tw_to_omega(3, NULL, NULL, NULL);)
CASE(omega_negative, double u[2]; return tw_from_omega(-1, ones, u, NULL);)
CASE(allocator_empty, return tw_memory_set_allocator(&(tw_allocator){0});)

/* ---- meshes ---- */

#define ON_MESH(name, change, call)                                                                \
    static tw_status name(void)                                                                    \
    {                                                                                              \
        tw_mesh m = some_mesh();                                                                   \
        tw_mesh out = {0};                                                                         \
        (void)m, (void)out;                                                                        \
        change;                                                                                    \
        return (call);                                                                             \
    }
static int64_t *list;
static int64_t list_count;
CASE(mesh_allocate_null, return tw_mesh_allocate(NULL, 1, 1, 1, 1, NULL);)
ON_MESH(mesh_allocate_negative, , tw_mesh_allocate(&out, -1, 0, 0, 0, NULL))
ON_MESH(mesh_allocate_huge, , tw_mesh_allocate(&out, HUGE_COUNT, 0, 0, 0, NULL))
ON_MESH(mesh_allocate_huge_cells, , tw_mesh_allocate(&out, 0, 0, 0, HUGE_COUNT, NULL))
CASE(mesh_check_null, return tw_mesh_check(NULL, NULL);)
ON_MESH(mesh_check_negative, m.vertex_count = -1, tw_mesh_check(&m, NULL))
ON_MESH(mesh_check_no_vertices, m.vertices = NULL, tw_mesh_check(&m, NULL))
ON_MESH(mesh_check_cells, m.tetrahedron_count = -1, tw_mesh_check(&m, NULL))
ON_MESH(mesh_check_huge, m.edge_count = HUGE_COUNT, tw_mesh_check(&m, NULL))
ON_MESH(mesh_check_faces, m.faces.count = -1, tw_mesh_check(&m, NULL))
ON_MESH(mesh_check_statements, m.faces.statement_count = 3, tw_mesh_check(&m, NULL))
ON_MESH(mesh_copy_negative, m.vertex_count = -1, tw_mesh_copy(&m, &out, NULL))
CASE(mesh_copy_null, return tw_mesh_copy(NULL, NULL, NULL);)
ON_MESH(mesh_edges_negative, m.vertex_count = -1,
        tw_mesh_unique_edges(&m, &list, &list_count, NULL))
CASE(mesh_edges_null, return tw_mesh_unique_edges(NULL, NULL, NULL, NULL);)
ON_MESH(mesh_surface_negative, m.vertex_count = -1, tw_mesh_surface(&m, &list, &list_count, NULL))
CASE(mesh_surface_null, return tw_mesh_surface(NULL, NULL, NULL, NULL);)
CASE(mesh_measure_null, return tw_mesh_measure(NULL, NULL, NULL);)
ON_MESH(mesh_measure_negative, m.vertex_count = -1,
        tw_mesh_measure(&m, &(tw_mesh_quality){0}, NULL))
CASE(mesh_repair_null, return tw_mesh_repair(NULL, NULL, NULL);)
ON_MESH(mesh_repair_negative, m.vertex_count = -1, tw_mesh_repair(&m, NULL, NULL))
CASE(mesh_load_null, return tw_mesh_load(NULL, NULL, NULL, NULL);)
CASE(mesh_save_null, return tw_mesh_save(NULL, NULL, NULL);)
ON_MESH(mesh_save_negative, m.vertex_count = -1, tw_mesh_save("/dev/null.obj", &m, NULL))
CASE(mesh_fill_null, return tw_mesh_fill(NULL, NULL, NULL, NULL, NULL);)
ON_MESH(mesh_fill_negative, m.vertex_count = -1, tw_mesh_fill(&m, NULL, &out, NULL, NULL))
CASE(embedding_null, return tw_embedding_create(NULL, 1, NULL, NULL, NULL);)
ON_MESH(embedding_negative, tw_embedding e, tw_embedding_create(&m, -1, ones, &e, NULL))
ON_MESH(embedding_huge, tw_embedding e, tw_embedding_create(&m, HUGE_COUNT, NULL, &e, NULL))
ON_MESH(embedding_mesh, tw_embedding e;
        m.vertex_count = -1, tw_embedding_create(&m, 1, ones, &e, NULL))

#define ENTRY(name)                                                                                \
    {                                                                                              \
#name, name                                                                                \
    }
static const struct {
    const char *name;
    tw_status (*call)(void);
} cases[] = {
    ENTRY(parse_null),
    ENTRY(parse_null_long),
    ENTRY(parse_no_origin),
    ENTRY(parse_no_out),
    ENTRY(parse_negative),
    ENTRY(parse_no_settings),
    ENTRY(parse_null_setting),
    ENTRY(load_null),
    ENTRY(load_no_out),
    ENTRY(write_null),
    ENTRY(build_null),
    ENTRY(blame_null),
    ENTRY(key_negative),
    ENTRY(key_huge),
    ENTRY(key_null),
    ENTRY(create_integrator_null),
    ENTRY(run_null),
    ENTRY(resume_null),
    ENTRY(resume_none),
    ENTRY(playback_null),
    ENTRY(playback_read_null),
    ENTRY(export_null),
    ENTRY(model_null),
    ENTRY(particles_no_model),
    ENTRY(particles_negative),
    ENTRY(particles_huge),
    ENTRY(particles_null),
    ENTRY(particles_massless),
    ENTRY(pin_negative),
    ENTRY(pin_huge),
    ENTRY(pin_backwards),
    ENTRY(pin_no_model),
    ENTRY(gravity_null),
    ENTRY(gravity_no_model),
    ENTRY(gravity_nan),
    ENTRY(springs_negative),
    ENTRY(springs_huge),
    ENTRY(springs_null),
    ENTRY(springs_no_stiffness),
    ENTRY(springs_nan),
    ENTRY(springs_no_model),
    ENTRY(display_null),
    ENTRY(display_negative),
    ENTRY(display_huge),
    ENTRY(display_surface_negative),
    ENTRY(display_surface_huge),
    ENTRY(display_statements_negative),
    ENTRY(rayleigh_nan),
    ENTRY(rayleigh_no_model),
    ENTRY(load_negative),
    ENTRY(load_nan),
    ENTRY(load_no_force),
    ENTRY(field_null),
    ENTRY(field_empty),
    ENTRY(shaking_nan),
    ENTRY(shaking_null),
    ENTRY(obstacle_kind),
    ENTRY(wind_null),
    ENTRY(wind_negative),
    ENTRY(wind_huge),
    ENTRY(wind_nan),
    ENTRY(user_null),
    ENTRY(user_empty),
    ENTRY(prescribe_null),
    ENTRY(prescribe_empty),
    ENTRY(velocity_nan),
    ENTRY(velocity_null),
    ENTRY(oscillation_nan),
    ENTRY(oscillation_null),
    ENTRY(rotation_no_axis),
    ENTRY(turning_null),
    ENTRY(turning_no_keyframes),
    ENTRY(rotation_null),
    ENTRY(keyframes_negative),
    ENTRY(keyframes_huge),
    ENTRY(keyframes_null),
    ENTRY(solid_nodes),
    ENTRY(solid_null),
    ENTRY(solid_negative),
    ENTRY(solid_huge),
    ENTRY(mass_negative),
    ENTRY(mass_huge),
    ENTRY(network_negative),
    ENTRY(network_huge),
    ENTRY(lump_null),
    ENTRY(lump_negative),
    ENTRY(lump_corners),
    ENTRY(solid_mass_null),
    ENTRY(solid_mass_negative),
    ENTRY(element_mass_negative),
    ENTRY(quadratic_negative),
    ENTRY(quadratic_huge),
    ENTRY(simulation_null),
    ENTRY(simulation_empty),
    ENTRY(fput_negative),
    ENTRY(fput_huge),
    ENTRY(fput_nan),
    ENTRY(fput_null),
    ENTRY(line_null),
    ENTRY(line_nan),
    ENTRY(rows_null),
    ENTRY(measure_null),
    ENTRY(frequency_null),
    ENTRY(frequency_negative),
    ENTRY(integrator_null),
    ENTRY(integrator_first_null),
    ENTRY(integrator_simulation_null),
    ENTRY(integrator_size),
    ENTRY(integrator_size_most),
    ENTRY(integrator_size_negative),
    ENTRY(option_scheme),
    ENTRY(option_scheme_huge),
    ENTRY(option_step_nan),
    ENTRY(option_step_infinite),
    ENTRY(option_step_negative),
    ENTRY(option_tolerance_nan),
    ENTRY(option_absolute_nan),
    ENTRY(option_absolute_infinite),
    ENTRY(option_reference_nan),
    ENTRY(option_smallest_nan),
    ENTRY(option_largest_nan),
    ENTRY(option_steps),
    ENTRY(option_bound_nan),
    ENTRY(option_controller),
    ENTRY(option_passes_huge),
    ENTRY(option_newton_nan),
    ENTRY(option_newton_infinite),
    ENTRY(option_newton_large),
    ENTRY(option_newton_one),
    ENTRY(option_cutoff_large),
    ENTRY(option_bound_infinite),
    ENTRY(option_smallest_infinite),
    ENTRY(option_steps_crossed),
    ENTRY(option_passes_large),
    ENTRY(option_newton_negative),
    ENTRY(option_reuse_nan),
    ENTRY(option_solver),
    ENTRY(option_filter),
    ENTRY(option_cutoff_nan),
    ENTRY(option_cutoff_infinite),
    ENTRY(option_radius_nan),
    ENTRY(option_nodes_nan),
    ENTRY(option_phi_engine),
    ENTRY(option_phi_tolerance),
    ENTRY(option_phi_inner),
    ENTRY(option_phi_norm),
    ENTRY(option_phi_dimension),
    ENTRY(option_phi_dimension_negative),
    ENTRY(option_phi_products),
    ENTRY(option_phi_pole),
    ENTRY(start_null),
    ENTRY(start_nan),
    ENTRY(interpolate_before_start),
    ENTRY(energy_before_start),
    ENTRY(start_acceleration_fails),
    ENTRY(start_energy_fails),
    ENTRY(step_after_failed_start),
    ENTRY(start_none),
    ENTRY(step_nan),
    ENTRY(step_infinite),
    ENTRY(step_back),
    ENTRY(step_none),
    ENTRY(advance_nan),
    ENTRY(advance_none),
    ENTRY(interpolate_null),
    ENTRY(interpolate_nan),
    ENTRY(interpolate_none),
    ENTRY(expect_nan),
    ENTRY(expect_negative),
    ENTRY(expect_none),
    ENTRY(output_nan),
    ENTRY(output_none),
    ENTRY(output_at_negative),
    ENTRY(output_at_huge),
    ENTRY(output_at_null),
    ENTRY(event_null),
    ENTRY(event_empty),
    ENTRY(event_none),
    ENTRY(energy_none),
    ENTRY(energy_null),
    ENTRY(serialise_none),
    ENTRY(restore_null),
    ENTRY(restore_none),
    ENTRY(tableau_null),
    ENTRY(tableau_terms),
    ENTRY(tableau_negative),
    ENTRY(tableau_k),
    ENTRY(tableau_nan),
    ENTRY(tableau_nodes),
    ENTRY(tableau_no_out),
    ENTRY(workspace_null),
    ENTRY(limits_size),
    ENTRY(limits_most),
    ENTRY(limits_negative),
    ENTRY(limits_dimension),
    ENTRY(limits_dimension_negative),
    ENTRY(limits_slots),
    ENTRY(limits_slots_negative),
    ENTRY(limits_bytes_nan),
    ENTRY(limits_bytes_negative),
    ENTRY(limits_options_dimension),
    ENTRY(limits_options_tolerance),
    ENTRY(options_null),
    ENTRY(evaluate_null),
    ENTRY(evaluate_second_null),
    ENTRY(spectral_null),
    ENTRY(spectral_reuse_null),
    ENTRY(sparse_null),
    ENTRY(sparse_negative),
    ENTRY(sparse_huge),
    ENTRY(sparse_block),
    ENTRY(sparse_starts),
    ENTRY(sparse_apply_null),
    ENTRY(cholesky_null),
    ENTRY(cholesky_factor_null),
    ENTRY(cholesky_solve_null),
    ENTRY(shifted_null),
    ENTRY(root_null),
    ENTRY(root_negative),
    ENTRY(root_huge),
    ENTRY(root_nan),
    ENTRY(omega_null),
    ENTRY(omega_negative),
    ENTRY(allocator_empty),
    ENTRY(mesh_allocate_null),
    ENTRY(mesh_allocate_negative),
    ENTRY(mesh_allocate_huge),
    ENTRY(mesh_allocate_huge_cells),
    ENTRY(mesh_check_null),
    ENTRY(mesh_check_negative),
    ENTRY(mesh_check_no_vertices),
    ENTRY(mesh_check_cells),
    ENTRY(mesh_check_huge),
    ENTRY(mesh_check_faces),
    ENTRY(mesh_check_statements),
    ENTRY(mesh_copy_negative),
    ENTRY(mesh_copy_null),
    ENTRY(mesh_edges_negative),
    ENTRY(mesh_edges_null),
    ENTRY(mesh_surface_negative),
    ENTRY(mesh_surface_null),
    ENTRY(mesh_measure_null),
    ENTRY(mesh_measure_negative),
    ENTRY(mesh_repair_null),
    ENTRY(mesh_repair_negative),
    ENTRY(mesh_load_null),
    ENTRY(mesh_save_null),
    ENTRY(mesh_save_negative),
    ENTRY(mesh_fill_null),
    ENTRY(mesh_fill_negative),
    ENTRY(embedding_null),
    ENTRY(embedding_negative),
    ENTRY(embedding_huge),
    ENTRY(embedding_mesh),
};
enum { CASES = sizeof cases / sizeof *cases };

START_TEST(test_hostile)
{
    tw_status status = cases[_i].call();
    ck_assert_msg(status != TW_OK, "%s: TW_OK", cases[_i].name);
    ck_assert_msg(status != TW_INTERNAL, "%s: TW_INTERNAL", cases[_i].name);
}
END_TEST

/* Names of what does not exist. */
START_TEST(test_names)
{
    ck_assert_int_eq(tw_scheme_from_name(NULL), TW_SCHEME_COUNT);
    ck_assert_int_eq(tw_phi_engine_from_name(NULL), TW_PHI_ENGINE_COUNT);
    ck_assert_ptr_null(tw_tableau_by_name(NULL));
    ck_assert_ptr_nonnull(tw_phi_engine_name((tw_phi_engine)-1));
    ck_assert_ptr_nonnull(tw_status_name((tw_status)-1));
    ck_assert_ptr_nonnull(tw_status_text((tw_status)100000));
    tw_set_threads(-5);
    ck_assert_int_ge(tw_threads(), 1);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("hostile api");
    TCase *tests = tcase_create("hostile");
    tcase_set_timeout(tests, 60);
    tcase_add_loop_test(tests, test_hostile, 0, CASES);
    tcase_add_test(tests, test_names);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
