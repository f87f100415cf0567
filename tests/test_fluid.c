/* labels: threads */
/* Models in a viscous fluid: the problem, the motor, and the bacterium of scenes/bacterium.yaml. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <twang/twang.h>

#include "base/vector3.h"
#include "fluid/rod_radius.h"
#include "mesh/bodies.h"
#include "model/model_internal.h"
#include "model/simulation.h"
#include "support/reference_state.h"
#include "support/run_suite.h"

static const double PI = 3.14159265358979323846;

enum { MOST = 1500, HEAD = 28, PARTICLES = 120 };

#define MUST(call) ck_assert_msg((call) == TW_OK, "%s", error.text)

static tw_simulation *load(int count, const tw_scene_setting *settings, tw_scene **scene)
{
    char path[500];
    const char *source = getenv("TWANG_SOURCE");
    snprintf(path, sizeof path, "%s/scenes/bacterium.yaml", source ? source : ".");
    tw_error error = {0};
    tw_simulation *simulation = NULL;
    MUST(tw_scene_load(path, count, settings, scene, &error));
    MUST(tw_scene_build(*scene, &simulation, &error));
    return simulation;
}

static double norm(int64_t n, const double *a)
{
    double sum = 0;
    for (int64_t i = 0; i < n; i++) sum += a[i] * a[i];
    return sqrt(sum);
}

/* ---- the problem ---- */

/* J d against central differences of F, at a bent state and some time. */
static void check_jacobian(tw_simulation *simulation)
{
    static double x[MOST], d[MOST], ahead[MOST], behind[MOST], product[MOST];
    const tw_first_order_problem *p = tw_simulation_first_order(simulation);
    ck_assert_ptr_nonnull(p);
    int64_t n = p->space.local_size;
    const double *start = tw_simulation_start(simulation);
    double t = 0.3;
    double h = 1e-4;

    /* 1 nm and 0.1 nm, in all directions. */
    for (int64_t i = 0; i < n; i++) x[i] = start[i] + 1e-9 * sin(3.0 * (double)(i * i) + 1);
    for (int64_t i = 0; i < n; i++) d[i] = 1e-6 * cos(5.0 * (double)(i * i) + 2);
    ck_assert_int_eq(p->linearise(p->context, t, x), TW_OK);
    ck_assert_int_eq(p->jacobian_product(p->context, 1, d, product), TW_OK);
    double size = norm(n, product);

    /* Richardson's extrapolation of two central differences. */
    for (int half = 0; half < 2; half++) {
        double step = half ? 0.5 * h : h;
        double weight = half ? 4.0 / 3 : -1.0 / 3;
        for (int64_t i = 0; i < n; i++) x[i] += step * d[i];
        ck_assert_int_eq(p->rhs(p->context, t, x, ahead), TW_OK);
        for (int64_t i = 0; i < n; i++) x[i] -= 2 * step * d[i];
        ck_assert_int_eq(p->rhs(p->context, t, x, behind), TW_OK);
        for (int64_t i = 0; i < n; i++) x[i] += step * d[i];
        for (int64_t i = 0; i < n; i++) product[i] -= weight * (ahead[i] - behind[i]) / (2 * step);
    }
    double error = norm(n, product) / size;
    ck_assert_msg(error < 1e-7, "error %g", error);
}

START_TEST(jacobian_is_that_of_differences)
{
    tw_scene *scene = NULL;
    tw_scene_setting strong = {"test", "forces.0.torque", "1e-15"};
    tw_simulation *simulation = load(1, &strong, &scene);
    check_jacobian(simulation);
    tw_simulation_free(simulation);
    tw_scene_free(scene);
}
END_TEST

/* More unknowns than a dense matrix takes: products are made of their parts. */
START_TEST(products_of_large_systems_are_those_of_differences)
{
    tw_scene *scene = NULL;
    tw_scene_setting settings[] = {{"test", "bodies.0.particles", "330"},
                                   {"test", "forces.0.torque", "1e-15"}};
    tw_simulation *simulation = load(2, settings, &scene);
    ck_assert_int_gt(tw_simulation_state_size(simulation), 1200);
    check_jacobian(simulation);
    tw_simulation_free(simulation);
    tw_scene_free(scene);
}
END_TEST

START_TEST(time_derivative_is_that_of_differences)
{
    static double ahead[MOST], behind[MOST], rate[MOST];
    tw_scene *scene = NULL;
    tw_scene_setting turning = {"test", "forces.0.frequency", "3"};
    tw_simulation *simulation = load(1, &turning, &scene);
    const tw_first_order_problem *p = tw_simulation_first_order(simulation);
    ck_assert(p->time_dependent);
    int64_t n = p->space.local_size;
    const double *x = tw_simulation_start(simulation);
    double h = 1e-4;
    p->time_derivative(p->context, 0.2, x, rate);
    p->rhs(p->context, 0.2 + h, x, ahead);
    p->rhs(p->context, 0.2 - h, x, behind);
    double size = norm(n, rate);
    ck_assert_double_gt(size, 0);
    for (int64_t i = 0; i < n; i++) rate[i] -= (ahead[i] - behind[i]) / (2 * h);
    ck_assert_double_lt(norm(n, rate) / size, 1e-5);
    tw_simulation_free(simulation);
    tw_scene_free(scene);
}
END_TEST

/* ---- all schemes ---- */

/* A soft cell, pulled longer, goes back to its shape. */
static const char soft_cell[] =
    "name: soft\nduration: 1\nintegrator: {step: 0.1}\n"
    "bodies:\n"
    "  - {kind: cell, particles: 10, radii: [1, 1, 1], stiffness: 1, mass: 1}\n"
    "gravity: [0, 0, -0.1]\n"
    "fluid: {viscosity: 1}\n";

static tw_simulation *soft_simulation(void)
{
    tw_error error = {0};
    tw_scene *scene = NULL;
    tw_simulation *simulation = NULL;
    MUST(tw_scene_parse("test", soft_cell, sizeof soft_cell - 1, 0, NULL, &scene, &error));
    MUST(tw_scene_build(scene, &simulation, &error));
    tw_scene_free(scene);
    return simulation;
}

/* The state at t = 1, in `steps` steps; the status of what failed. */
static tw_status run_soft(tw_scheme scheme, int steps, double *u, double *energy)
{
    tw_simulation *simulation = soft_simulation();
    int64_t n = tw_simulation_state_size(simulation);
    double start[60];
    for (int64_t i = 0; i < n; i++)
        start[i] = tw_simulation_start(simulation)[i] * (i % 3 == 2 ? 1.3 : 1);
    tw_integrator_options options = tw_integrator_options_default();
    options.scheme = scheme;
    options.step = 1.0 / steps;
    if (scheme == TW_SCHEME_CVODE) options.relative_tolerance = 1e-5; /* it has no fixed step */
    options.phi.engine = TW_PHI_KIOPS;
    tw_integrator *integrator = NULL;
    tw_error error = {0};
    tw_status status = tw_integrator_create_first_order(tw_simulation_first_order(simulation),
                                                        &options, &integrator, &error);
    if (status == TW_OK) status = tw_integrator_start(integrator, 0, start, &error);
    if (status == TW_OK) status = tw_integrator_advance(integrator, 1, &error);
    if (status == TW_OK) {
        double t = 0;
        tw_integrator_state(integrator, &t, u);
        tw_measurement m;
        tw_simulation_measure(simulation, t, u, &m);
        *energy = m.potential;
    }
    tw_integrator_free(integrator);
    tw_simulation_free(simulation);
    return status;
}

START_TEST(every_scheme_of_the_first_order_works)
{
    double reference[60], u[60], energy = 0;
    ck_assert_int_eq(run_soft(TW_SCHEME_RK4, 2000, reference, &energy), TW_OK);
    int worked = 0;
    for (int s = 0; s < TW_SCHEME_COUNT; s++) {
        tw_scheme scheme = (tw_scheme)s;
        if (!tw_scheme_available(scheme)) continue;
        double now = 0;
        tw_status status = run_soft(scheme, 100, u, &now);
        if (status == TW_UNSUPPORTED) continue;
        ck_assert_msg(status == TW_OK, "%s: %s", tw_scheme_name(scheme), tw_status_name(status));
        double error = 0;
        for (int i = 0; i < 30; i++) error = fmax(error, fabs(u[i] - reference[i]));
        ck_assert_msg(error < 5e-3, "%s: error %g", tw_scheme_name(scheme), error);
        worked++;
    }
    ck_assert_int_ge(worked, 15);
}
END_TEST

/* ---- with inertia ---- */

static tw_simulation *heavy_simulation(const char *mass)
{
    tw_error error = {0};
    tw_scene *scene = NULL;
    tw_simulation *simulation = NULL;
    tw_scene_setting settings[] = {{"test", "gravity", "[0, 0, 0]"},
                                   {"test", "bodies.0.mass", mass ? mass : "1"},
                                   {"test", "fluid.inertia", mass ? "true" : "false"}};
    MUST(tw_scene_parse("test", soft_cell, sizeof soft_cell - 1, 3, settings, &scene, &error));
    MUST(tw_scene_build(scene, &simulation, &error));
    tw_scene_free(scene);
    return simulation;
}

/* The pulled cell at t = 0.5; mass NULL: without inertia. It begins with the velocity that it has
 * without inertia. */
static void run_heavy(const char *mass, double *u)
{
    tw_error error = {0};
    double start[60] = {0};
    tw_simulation *light = heavy_simulation(NULL);
    for (int i = 0; i < 30; i++) start[i] = tw_simulation_start(light)[i] * (i % 3 == 2 ? 1.3 : 1);
    const tw_first_order_problem *p = tw_simulation_first_order(light);
    ck_assert_int_eq(p->rhs(p->context, 0, start, start + 30), TW_OK);

    tw_simulation *simulation = mass ? heavy_simulation(mass) : NULL;
    tw_integrator_options options = tw_integrator_options_default();
    options.scheme = TW_SCHEME_EXPRB42;
    options.step = 0.01;
    options.phi.engine = TW_PHI_DENSE;
    tw_integrator *integrator = NULL;
    MUST(tw_simulation_integrator(mass ? simulation : light, &options, &integrator, &error));
    MUST(tw_integrator_start(integrator, 0, start, &error));
    for (int i = 0; i < 50; i++) MUST(tw_integrator_step(integrator, 0.5, &error));
    double state[60];
    double t = 0;
    tw_integrator_state(integrator, &t, state);
    memcpy(u, state, 30 * sizeof *u);
    tw_integrator_free(integrator);
    tw_simulation_free(simulation);
    tw_simulation_free(light);
}

/* What inertia changes is in proportion to the mass. */
START_TEST(inertia_fades_with_the_mass)
{
    double light[30], u[30], change[3] = {0, 0, 0};
    static const char *const masses[] = {"0.02", "0.01", "0.005"};
    run_heavy(NULL, light);
    for (int m = 0; m < 3; m++) {
        run_heavy(masses[m], u);
        for (int i = 0; i < 30; i++) change[m] = fmax(change[m], fabs(u[i] - light[i]));
    }
    ck_assert_double_gt(change[0], 1e-6);
    ck_assert_double_eq_tol(change[0] / change[1], 2, 0.1);
    ck_assert_double_eq_tol(change[1] / change[2], 2, 0.1);
}
END_TEST

/* K d and D d of the drag against differences of the acceleration. */
START_TEST(tangents_of_the_drag_are_those_of_differences)
{
    tw_simulation *simulation = heavy_simulation("0.7");
    const tw_second_order_problem *p = tw_simulation_second_order(simulation);
    ck_assert_ptr_nonnull(p);
    double x[30], v[30], d[30], K[30], D[30], ahead[30], behind[30];
    for (int i = 0; i < 30; i++)
        x[i] = tw_simulation_start(simulation)[i] + 0.05 * sin(i * i + 1.0);
    for (int i = 0; i < 30; i++) v[i] = cos(3.0 * i * i);
    for (int i = 0; i < 30; i++) d[i] = sin(2.0 * i * i + 0.5);
    ck_assert_int_eq(p->linearise(p->context, 0, x, v), TW_OK);
    ck_assert_int_eq(p->apply_stiffness(p->context, 1, d, K), TW_OK);
    ck_assert_int_eq(p->apply_damping(p->context, 1, d, D), TW_OK);

    for (int of_velocity = 0; of_velocity < 2; of_velocity++) {
        double h = 1e-5;
        double *changed = of_velocity ? v : x;
        double *product = of_velocity ? D : K;
        double size = norm(30, product);
        for (int i = 0; i < 30; i++) changed[i] += h * d[i];
        ck_assert_int_eq(p->acceleration(p->context, 0, x, v, ahead), TW_OK);
        for (int i = 0; i < 30; i++) changed[i] -= 2 * h * d[i];
        ck_assert_int_eq(p->acceleration(p->context, 0, x, v, behind), TW_OK);
        for (int i = 0; i < 30; i++) changed[i] += h * d[i];
        for (int i = 0; i < 30; i++) product[i] += 0.7 * (ahead[i] - behind[i]) / (2 * h);
        ck_assert_double_lt(norm(30, product), 1e-7 * size);
    }
    tw_simulation_free(simulation);
}
END_TEST

/* ---- the motor ---- */

/* Total force and torque about the origin, over the sums of their sizes. */
static void check_free(const tw_model *model)
{
    double force[3] = {0}, torque[3] = {0}, size = 0, moment = 0;
    for (int64_t i = 0; i < model->particles.count; i++) {
        const double *x = model->x + 3 * i;
        const double *f = model->force + 3 * i;
        double turned[3];
        tw_cross3(x, f, turned);
        for (int k = 0; k < 3; k++) force[k] += f[k];
        for (int k = 0; k < 3; k++) torque[k] += turned[k];
        size += sqrt(tw_dot3(f, f));
        moment += sqrt(tw_dot3(f, f) * tw_dot3(x, x));
    }
    ck_assert_double_gt(size, 0);
    double rounding = 1e-14;
    for (int k = 0; k < 3; k++) ck_assert_double_lt(fabs(force[k]), rounding * size);
    for (int k = 0; k < 3; k++) ck_assert_double_lt(fabs(torque[k]), rounding * moment);
}

static void run_steps(const tw_scene *scene, tw_simulation *simulation, int steps, double h,
                      double *u)
{
    tw_error error = {0};
    tw_integrator_options options = tw_scene_integrator_options(scene);
    options.step = h;
    tw_integrator *integrator = NULL;
    MUST(tw_simulation_integrator(simulation, &options, &integrator, &error));
    for (int i = 0; i < steps; i++) MUST(tw_integrator_step(integrator, steps * h, &error));
    double t = 0;
    tw_integrator_state(integrator, &t, u);
    ck_assert_double_eq_tol(t, steps * h, 1e-12);
    tw_integrator_free(integrator);
}

START_TEST(total_force_and_torque_are_zero)
{
    static double u[MOST], F[MOST];
    tw_scene *scene = NULL;
    tw_simulation *simulation = load(0, NULL, &scene);
    const tw_first_order_problem *p = tw_simulation_first_order(simulation);
    ck_assert_int_eq(p->rhs(p->context, 0, tw_simulation_start(simulation), F), TW_OK);
    check_free(simulation->context);

    run_steps(scene, simulation, 4, 0.0125, u);
    ck_assert_int_eq(p->rhs(p->context, 0.05, u, F), TW_OK);
    check_free(simulation->context);
    tw_simulation_free(simulation);
    tw_scene_free(scene);
}
END_TEST

/* ---- swimming ---- */

/* The rigid motion of some particles: velocity of their centre and rotation w with I w = sum r x v. */
static void rigid_motion(int first, int last, const double *rows, double centre[3], double w[3])
{
    double c[3] = {0}, L[3] = {0}, I[9] = {0};
    int count = last - first + 1;
    memset(centre, 0, 3 * sizeof *centre);
    for (int i = first; i <= last; i++)
        for (int k = 0; k < 3; k++) {
            c[k] += rows[6 * i + k] / count;
            centre[k] += rows[6 * i + 3 + k] / count;
        }
    for (int i = first; i <= last; i++) {
        double r[3], v[3], turned[3];
        for (int k = 0; k < 3; k++) r[k] = 1e6 * (rows[6 * i + k] - c[k]);
        for (int k = 0; k < 3; k++) v[k] = 1e6 * (rows[6 * i + 3 + k] - centre[k]);
        tw_cross3(r, v, turned);
        for (int a = 0; a < 3; a++) {
            L[a] += turned[a];
            for (int b = 0; b < 3; b++) I[3 * a + b] += (a == b) * tw_dot3(r, r) - r[a] * r[b];
        }
    }
    double yz[3], zx[3], xy[3];
    tw_cross3(I + 3, I + 6, yz);
    tw_cross3(I + 6, I, zx);
    tw_cross3(I, I + 3, xy);
    double determinant = tw_dot3(I, yz);
    w[0] = tw_dot3(yz, L) / determinant;
    w[1] = tw_dot3(zx, L) / determinant;
    w[2] = tw_dot3(xy, L) / determinant;
}

/* The same helix and head by surface Stokeslets in NumPy (tests/reference/bacterium.txt): speed along
 * the path, rotation of flagellum and head. They are in proportion to the torque, 1e-20 N m there. */
START_TEST(it_swims_as_fast_as_the_rigid_one)
{
    static double u[MOST], rows[6 * PARTICLES];
    double reference[9]; /* three rows; the last is the finest */
    double wide[12];
    ck_assert(reference_read("bacterium.txt", 3, 4, wide));
    memcpy(reference, wide + 9, 3 * sizeof *reference);

    tw_scene *scene = NULL;
    tw_simulation *simulation = load(0, NULL, &scene);
    ck_assert_int_eq(tw_simulation_state_size(simulation), 360);
    run_steps(scene, simulation, 8, 0.0125, u);
    ck_assert_int_eq(tw_simulation_rows(simulation, 0.1, u, rows), TW_OK);

    double head[3], body[3], tail[3], spin[3], axis[3];
    rigid_motion(0, HEAD - 1, rows, head, body);
    rigid_motion(HEAD, PARTICLES - 1, rows, tail, spin);
    for (int k = 0; k < 3; k++) axis[k] = rows[6 * (HEAD - 1) + k] - rows[k];
    double length = sqrt(tw_dot3(axis, axis));
    double scale = 1e-20 / 2e-21;
    double measured[3] = {1e6 * scale * tw_dot3(head, spin) / sqrt(tw_dot3(spin, spin)),
                          scale * tw_dot3(spin, axis) / length / (2 * PI),
                          scale * tw_dot3(body, axis) / length / (2 * PI)};
    for (int k = 0; k < 3; k++)
        ck_assert_msg(fabs(measured[k] / reference[k] - 1) < 0.05,
                      "value %d: %g, the rigid one has %g", k, measured[k], reference[k]);
    tw_simulation_free(simulation);
    tw_scene_free(scene);
}
END_TEST

/* The torque runs through a sine: forwards, and as long backwards. It begins and ends with 0, so that
 * the flagellum is not bent at either time. */
START_TEST(a_reversed_motor_retraces_the_path)
{
    static double u[MOST];
    tw_scene *scene = NULL;
    tw_scene_setting there_and_back[] = {{"test", "forces.0.frequency", "5"},
                                         {"test", "forces.0.phase", "-1.5707963267948966"}};
    tw_simulation *simulation = load(2, there_and_back, &scene);
    const double *start = tw_simulation_start(simulation);
    double farthest[2] = {0, 0};
    for (int back = 0; back < 2; back++) {
        run_steps(scene, simulation, back ? 40 : 20, 0.005, u);
        for (int i = 0; i < 360; i++) farthest[back] = fmax(farthest[back], fabs(u[i] - start[i]));
    }
    ck_assert_double_gt(farthest[0], 1e-8);
    ck_assert_msg(farthest[1] < 0.02 * farthest[0], "went %g, came back within %g", farthest[0],
                  farthest[1]);
    tw_simulation_free(simulation);
    tw_scene_free(scene);
}
END_TEST

START_TEST(threads_do_not_change_the_path)
{
    static double one[MOST], other[MOST];
    int before = tw_threads();
    for (int threads = 1; threads <= 3; threads += 2) {
        tw_set_threads(threads);
        tw_scene *scene = NULL;
        tw_simulation *simulation = load(0, NULL, &scene);
        run_steps(scene, simulation, 2, 0.0125, threads == 1 ? one : other);
        tw_simulation_free(simulation);
        tw_scene_free(scene);
    }
    tw_set_threads(before);
    ck_assert_mem_eq(one, other, 360 * sizeof(double));
}
END_TEST

/* ---- parts ---- */

/* A thin row of points needs blobs of radius b sqrt(e) for a rod of radius b: then the logarithms of
 * both mobilities agree, across and along. */
START_TEST(a_fine_row_has_the_radius_of_slender_bodies)
{
    double eps = tw_rod_radius(0.01, 1e-9, 0.2);
    ck_assert_double_eq_tol(eps, 0.1 * exp(0.5), 0.05 * eps);
}
END_TEST

START_TEST(cells_are_closed_for_every_number_of_points)
{
    for (int64_t points = 8; points <= 400; points++) {
        tw_cell cell = {.points = points, .radii = {1, 1, 1}};
        tw_mesh mesh = {0};
        tw_error error = {0};
        MUST(tw_body_cell(&cell, &mesh, &error));
        ck_assert_int_eq(mesh.triangle_count, 2 * points - 4);

        /* Six volumes of the tetrahedra with the centre add up to nearly 8 pi, all of them positive. */
        double volumes = 0;
        for (int64_t f = 0; f < mesh.triangle_count; f++) {
            const int64_t *corner = mesh.triangles + 3 * f;
            double v = vec3_six_volumes((vec3){0, 0, 0}, vec3_at(mesh.vertices, corner[0]),
                                        vec3_at(mesh.vertices, corner[1]),
                                        vec3_at(mesh.vertices, corner[2]));
            ck_assert_msg(v > 0, "%lld points, triangle %lld", (long long)points, (long long)f);
            volumes += v;
        }
        ck_assert_double_gt(volumes, 8 * PI * (1 - 6.0 / (double)points));
        ck_assert_double_lt(volumes, 8 * PI);
        tw_mesh_free(&mesh);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("fluid");
    TCase *cases = tcase_create("fluid");
    tcase_set_timeout(cases, 300);
    tcase_add_test(cases, jacobian_is_that_of_differences);
    tcase_add_test(cases, products_of_large_systems_are_those_of_differences);
    tcase_add_test(cases, time_derivative_is_that_of_differences);
    tcase_add_test(cases, every_scheme_of_the_first_order_works);
    tcase_add_test(cases, inertia_fades_with_the_mass);
    tcase_add_test(cases, tangents_of_the_drag_are_those_of_differences);
    tcase_add_test(cases, total_force_and_torque_are_zero);
    tcase_add_test(cases, it_swims_as_fast_as_the_rigid_one);
    tcase_add_test(cases, a_reversed_motor_retraces_the_path);
    tcase_add_test(cases, threads_do_not_change_the_path);
    tcase_add_test(cases, a_fine_row_has_the_radius_of_slender_bodies);
    tcase_add_test(cases, cells_are_closed_for_every_number_of_points);
    suite_add_tcase(suite, cases);
    return run_suite(suite);
}
