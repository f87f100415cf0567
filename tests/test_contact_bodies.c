/* Contact between bodies and of a body with itself: momentum, energy, no crossing, steps that are
 * divided, tangents of a pattern that changes. */
/* labels: slow */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <twang/twang.h>

#include "support/run_suite.h"
#include "support/touching_bodies.h"

/* What a run saw. */
typedef struct outcome {
    double energy_first;
    double kinetic_first;
    double energy_largest;
    double balance; /* largest change of the energy with the works of contact and friction */
    double momentum_change;         /* largest, of a component [kg m/s] */
    double angular_momentum_change; /* likewise */
    double penetration;             /* largest [m] */
    int64_t contacts;               /* largest number */
    int64_t crossings;              /* in all states that were looked at */
    int64_t steps;
    int64_t rejected;
} outcome;

/* Runs for `duration` and looks at every `interval`. The state at the end goes to `end`, if it is
 * not NULL. */
static outcome run(tw_simulation *simulation, const tw_integrator_options *options, double duration,
                   double interval, double *end)
{
    tw_integrator *integrator = NULL;
    tw_error error = {0};
    outcome seen = {0};
    double works = 0;
    tw_measurement first;
    tw_status status = tw_integrator_create_second_order(tw_simulation_second_order(simulation),
                                                         options, &integrator, &error);
    ck_assert_msg(status == TW_OK, "%s", error.text);
    status = tw_integrator_start(integrator, 0, tw_simulation_start(simulation), &error);
    ck_assert_msg(status == TW_OK, "%s", error.text);
    ck_assert_int_eq(tw_simulation_measure(simulation, 0, tw_simulation_start(simulation), &first),
                     TW_OK);
    seen.kinetic_first = first.kinetic;
    seen.energy_first = seen.energy_largest = first.kinetic + first.potential;

    int looks = (int)lround(duration / interval);
    for (int i = 1; i <= looks; i++) {
        status = tw_integrator_advance(integrator, i * interval, &error);
        ck_assert_msg(status == TW_OK, "%s", error.text);
        const double *u = tw_integrator_state_view(integrator);
        tw_measurement m;
        ck_assert_int_eq(tw_simulation_measure(simulation, i * interval, u, &m), TW_OK);
        works += m.contact_work + m.friction_work;
        double energy = m.kinetic + m.potential;
        seen.energy_largest = fmax(seen.energy_largest, energy);
        seen.balance = fmax(seen.balance, fabs(energy + works - seen.energy_first));
        for (int k = 0; k < 3; k++) {
            seen.momentum_change =
                fmax(seen.momentum_change, fabs(m.momentum[k] - first.momentum[k]));
            seen.angular_momentum_change =
                fmax(seen.angular_momentum_change,
                     fabs(m.angular_momentum[k] - first.angular_momentum[k]));
        }
        seen.penetration = fmax(seen.penetration, m.penetration_max);
        if (m.contacts > seen.contacts) seen.contacts = m.contacts;
        seen.crossings += touching_crossings(simulation, i * interval, u);
    }
    tw_integrator_statistics counts = tw_integrator_statistics_now(integrator);
    seen.steps = counts.steps;
    seen.rejected = counts.rejected_steps;
    if (end)
        memcpy(end, tw_integrator_state_view(integrator),
               (size_t)tw_simulation_state_size(simulation) * sizeof *end);
    tw_integrator_free(integrator);
    return seen;
}

static tw_integrator_options fixed(tw_scheme scheme, double step)
{
    tw_integrator_options options = tw_integrator_options_default();
    options.scheme = scheme;
    options.step = step;
    return options;
}

static tw_contact_options layer_of(double distance, double thickness)
{
    tw_contact_options options = tw_contact_options_default();
    options.distance = distance;
    options.thickness = thickness;
    return options;
}

/* Two turned cubes that meet at 2 m/s, one after the other. */
static tw_simulation *meeting_cubes(double restitution)
{
    tw_model *model = touching_model(0);
    const double left[3] = {-0.15, 0.01, 0};
    const double right[3] = {0.15, 0, 0.02};
    const double forward[3] = {1, 0, 0};
    const double backward[3] = {-1, 0, 0};
    touching_cube(model, left, 0.1, 0.3, forward, 1, 2e5);
    touching_cube(model, right, 0.1, 0.9, backward, 1, 2e5);
    tw_contact_options options = layer_of(4e-3, 0);
    options.stiffness = 1e5;
    options.restitution = restitution;
    return touching_simulation(model, &options);
}

static const struct {
    tw_scheme scheme;
    double step;
} cases[] = {{TW_SCHEME_VERLET, 1e-4},  {TW_SCHEME_RK4, 2e-4},     {TW_SCHEME_MIDPOINT, 5e-4},
             {TW_SCHEME_EXPMID2, 5e-4}, {TW_SCHEME_EXPRB42, 5e-4}, {TW_SCHEME_NEWMARK, 5e-4}};
enum { CASES = sizeof cases / sizeof *cases };

START_TEST(cubes_bounce_off_each_other)
{
    tw_simulation *simulation = meeting_cubes(1);
    tw_integrator_options options = fixed(cases[_i].scheme, cases[_i].step);
    double end[96];
    outcome seen = run(simulation, &options, 0.3, 1e-3, end);
    ck_assert_int_gt(seen.contacts, 0);
    ck_assert_int_eq(seen.crossings, 0);
    ck_assert_double_le(seen.momentum_change, 1e-10);
    ck_assert_double_le(seen.angular_momentum_change, 1e-3);
    ck_assert_double_le(seen.energy_largest, seen.energy_first + 0.01 * seen.kinetic_first);

    /* They part again: the left one goes to the left. */
    double speed[2] = {0, 0};
    for (int i = 0; i < 16; i++) speed[i / 8] += end[48 + 3 * i] / 8;
    ck_assert_double_lt(speed[0], -0.1);
    ck_assert_double_gt(speed[1], 0.1);
    tw_simulation_free(simulation);
}
END_TEST

/* ---- lines ---- */

/* Two rods across each other, one above the other, that approach at 5 m/s. */
static tw_simulation *crossing_lines(double thickness, uint64_t seed)
{
    tw_model *model = touching_model(0);
    double jitter[4];
    for (int i = 0; i < 4; i++) jitter[i] = 0.03 * touching_random(&seed);
    const double a[2][3] = {{-0.1, jitter[0], 0.02}, {0.1, jitter[1], 0.02}};
    const double b[2][3] = {{jitter[2], -0.1, -0.02}, {jitter[3], 0.1, -0.02}};
    const double down[3] = {0.2 * jitter[0], 0, -2.5};
    const double up[3] = {0, 0.2 * jitter[1], 2.5};
    touching_line(model, a[0], a[1], 2, down, 0.01, 100);
    touching_line(model, b[0], b[1], 2, up, 0.01, 100);
    tw_contact_options options = layer_of(2e-3, thickness);
    return touching_simulation(model, &options);
}

/* The difference in height of the two rods where they cross, seen from above; NAN: they do not. */
static double height_at_crossing(const double *x)
{
    const double *a = x;
    const double *b = x + 6;
    double u[2] = {a[3] - a[0], a[4] - a[1]};
    double v[2] = {b[3] - b[0], b[4] - b[1]};
    double w[2] = {b[0] - a[0], b[1] - a[1]};
    double determinant = u[0] * v[1] - u[1] * v[0];
    double s = (w[0] * v[1] - w[1] * v[0]) / determinant;
    double t = (w[0] * u[1] - w[1] * u[0]) / determinant;
    if (!(s >= 0 && s <= 1 && t >= 0 && t <= 1)) return NAN;
    return (a[2] + s * (a[5] - a[2])) - (b[2] + t * (b[5] - b[2]));
}

static const tw_scheme line_schemes[] = {TW_SCHEME_VERLET,  TW_SCHEME_RK4,     TW_SCHEME_MIDPOINT,
                                         TW_SCHEME_EXPMID2, TW_SCHEME_EXPRB42, TW_SCHEME_BDF1};
enum { LINE_SCHEMES = sizeof line_schemes / sizeof *line_schemes };

/* A step of 20 ms would lead the lines 0.1 m on: they are 4 cm apart. It is divided. */
START_TEST(fast_lines_do_not_cross)
{
    static const double steps[] = {1e-3, 5e-3, 20e-3};
    tw_scheme scheme = line_schemes[_i % LINE_SCHEMES];
    double thickness = _i / LINE_SCHEMES % 2 ? 1e-3 : 0;
    for (int s = 0; s < 3; s++) {
        /* Explicit schemes are not stable with longer steps. */
        bool is_explicit = scheme == TW_SCHEME_VERLET || scheme == TW_SCHEME_RK4;
        double step = is_explicit ? 0.2 * steps[s] : steps[s];
        tw_simulation *simulation = crossing_lines(thickness, (uint64_t)_i + 1);
        tw_integrator_options options = fixed(scheme, step);
        double end[24];
        outcome seen = run(simulation, &options, 0.02, 0.02, end);
        double height = height_at_crossing(end);
        ck_assert_msg(height > 0, "%d %g: %g", scheme, step, height);
        ck_assert_double_le(seen.momentum_change, 1e-10);
        ck_assert_double_le(seen.penetration, 0.05 * thickness);
        if (steps[s] == 20e-3) ck_assert_int_gt(seen.rejected, 0);
        ck_assert_double_le(seen.energy_largest, seen.energy_first + 0.01 * seen.kinetic_first);
        tw_simulation_free(simulation);
    }
}
END_TEST

/* ---- adaptive steps ---- */

START_TEST(adaptive_steps_see_the_impact)
{
    static const tw_scheme schemes[] = {TW_SCHEME_RK4, TW_SCHEME_EXPRB42, TW_SCHEME_EXPMID2};
    tw_simulation *simulation = meeting_cubes(1);
    tw_integrator_options options = fixed(schemes[_i], 0.01);
    options.relative_tolerance = 1e-4;
    double end[96];
    outcome seen = run(simulation, &options, 0.2, 0.05, end);
    double speed = 0;
    for (int i = 0; i < 8; i++) speed += end[48 + 3 * i] / 8;
    ck_assert_double_lt(speed, -0.1);
    ck_assert_int_eq(seen.crossings, 0);
    ck_assert_double_le(seen.momentum_change, 1e-10);
    ck_assert_double_le(seen.energy_largest, seen.energy_first + 0.01 * seen.kinetic_first);
    tw_simulation_free(simulation);
}
END_TEST

/* ---- sheets ---- */

/* A sheet that falls on another one, whose corners are held, and folds over itself. */
static tw_simulation *falling_sheet(double thickness)
{
    tw_model *model = touching_model(9.81);
    const double low[3] = {-0.2, -0.2, 0};
    const double high[3] = {-0.05, -0.15, 0.1};
    const double u[2][3] = {{0.4, 0, 0}, {0.1, 0.01, 0.02}};
    const double v[2][3] = {{0, 0.4, 0}, {-0.02, 0.3, 0.1}};
    const double still[3] = {0, 0, 0};
    const double down[3] = {0, 0, -2};
    int64_t first = touching_sheet(model, low, u[0], v[0], 8, 8, still, 0.1, 100);
    const int64_t corners[4] = {0, 7, 56, 63};
    for (int i = 0; i < 4; i++)
        ck_assert_int_eq(tw_model_pin(model, first + corners[i], first + corners[i], NULL), TW_OK);
    touching_sheet(model, high, u[1], v[1], 5, 12, down, 0.03, 100);
    tw_contact_options options = layer_of(8e-3, thickness);
    options.self = true;
    options.restitution = 0;
    options.friction = 0.3;
    return touching_simulation(model, &options);
}

START_TEST(sheets_do_not_cross)
{
    static const tw_scheme schemes[] = {TW_SCHEME_MIDPOINT, TW_SCHEME_EXPMID2, TW_SCHEME_BDF1};
    for (int thick = 0; thick < 2; thick++) {
        double thickness = thick ? 4e-3 : 0;
        tw_simulation *simulation = falling_sheet(thickness);
        tw_integrator_options options = fixed(schemes[_i], 5e-3);
        outcome seen = run(simulation, &options, 0.25, 0.01, NULL);
        ck_assert_int_gt(seen.contacts, 10);
        ck_assert_int_eq(seen.crossings, 0);
        ck_assert_double_le(seen.penetration, 0.05 * thickness);
        ck_assert_double_le(seen.energy_largest, seen.energy_first + 0.01 * seen.kinetic_first);
        if (schemes[_i] != TW_SCHEME_BDF1)
            ck_assert_double_le(seen.balance, 0.02 * seen.kinetic_first);
        tw_simulation_free(simulation);
    }
}
END_TEST

/* ---- resume ---- */

/* Runs the sheets from `begin`, or from the start, to 0.2 s. On the way, at 0.12 s, the bytes of a
 * checkpoint are kept in `kept`, if it is not NULL. */
static void run_sheets(tw_scheme scheme, const void *begin, size_t begin_size, double *end,
                       char **kept, size_t *kept_size)
{
    tw_simulation *simulation = falling_sheet(4e-3);
    tw_integrator_options options = fixed(scheme, 5e-3);
    tw_integrator *integrator = NULL;
    tw_error error = {0};
    tw_status status = tw_simulation_integrator(simulation, &options, &integrator, &error);
    if (status == TW_OK && begin)
        status = tw_integrator_restore(integrator, begin, begin_size, &error);
    else if (status == TW_OK)
        status = tw_integrator_start(integrator, 0, tw_simulation_start(simulation), &error);
    if (status == TW_OK && kept) status = tw_integrator_advance(integrator, 0.12, &error);
    ck_assert_msg(status == TW_OK, "%s", error.text);

    if (kept) {
        ck_assert_int_eq(tw_integrator_serialise(integrator, NULL, 0, kept_size), TW_OK);
        *kept = malloc(*kept_size);
        ck_assert_ptr_nonnull(*kept);
        ck_assert_int_eq(tw_integrator_serialise(integrator, *kept, *kept_size, kept_size), TW_OK);
    }
    status = tw_integrator_advance(integrator, 0.2, &error);
    ck_assert_msg(status == TW_OK, "%s", error.text);
    memcpy(end, tw_integrator_state_view(integrator),
           (size_t)tw_simulation_state_size(simulation) * sizeof *end);
    tw_integrator_free(integrator);
    tw_simulation_free(simulation);
}

/* Two sheets meet at 2 m/s each, one of them turned and shifted. */
static const char sheets_text[] =
    "name: sheets\nduration: 0.05\nfps: 0\nintegrator: {name: expmid2, step: 5e-3}\nbodies:\n"
    "  - {kind: cloth, columns: 8, rows: 8, width: 0.5, height: 0.5, density: 0.2, stiffness: 1e3, "
    "shear: 500, bending: 5, rotation: [90, 0, 0], origin: [0, 0, 0.1], velocity: [0, 0, -2]}\n"
    "  - {kind: cloth, columns: 9, rows: 9, width: 0.5, height: 0.5, density: 0.2, stiffness: 1e3, "
    "shear: 500, bending: 5, rotation: [90, 0, 10], origin: [0.02, 0.01, 0], velocity: [0, 0, 2]}\n"
    "contact: {distance: 0.005, thickness: 0.001, restitution: 0.5, self: true}\n";
enum { FIRST_SHEET = 8 * 8, BOTH_SHEETS = 8 * 8 + 9 * 9 };

/* The mean speed with which the first sheet leaves [m/s]. */
static double sheet_rebound(tw_scheme scheme, double step)
{
    tw_scene *scene = NULL;
    tw_simulation *simulation = NULL;
    tw_scene_parse("sheets", sheets_text, strlen(sheets_text), 0, NULL, &scene, NULL);
    ck_assert_int_eq(tw_scene_build(scene, &simulation, NULL), TW_OK);
    tw_scene_free(scene);

    tw_integrator_options options = fixed(scheme, step);
    double end[2 * 3 * BOTH_SHEETS];
    ck_assert_int_eq(tw_simulation_state_size(simulation), 2 * 3 * BOTH_SHEETS);
    outcome seen = run(simulation, &options, 0.05, 0.05, end);
    ck_assert_double_le(seen.momentum_change, 1e-10);

    double mean = 0;
    for (int i = 0; i < FIRST_SHEET; i++) mean += end[3 * (BOTH_SHEETS + i) + 2] / FIRST_SHEET;
    tw_simulation_free(simulation);
    return mean;
}

/* expmid2 turns the sheets round within a step, which is an elastic impact: restitution is a share of
 * it, as it is where the impact is resolved. */
START_TEST(restitution_acts_within_a_step)
{
    double coarse = sheet_rebound(TW_SCHEME_EXPMID2, 5e-3);
    double fine = sheet_rebound(TW_SCHEME_VERLET, 1e-4);
    ck_assert_msg(fabs(coarse - fine) <= 0.2 * 2, "%g m/s, resolved %g m/s", coarse, fine);
}
END_TEST

/* The list of pairs and the pattern of the matrix are in the checkpoint: bodies in contact go on with
 * the same bytes. */
START_TEST(a_resumed_run_gives_the_same_bytes)
{
    static const tw_scheme schemes[] = {TW_SCHEME_MIDPOINT, TW_SCHEME_EXPMID2, TW_SCHEME_BDF1};
    static double end[2][1024];
    char *kept = NULL;
    size_t size = 0;
    run_sheets(schemes[_i], NULL, 0, end[0], &kept, &size);
    run_sheets(schemes[_i], kept, size, end[1], NULL, NULL);
    ck_assert_int_eq(memcmp(end[0], end[1], sizeof end[0]), 0);
    free(kept);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("contact between bodies");
    TCase *bodies = tcase_create("bodies");
    tcase_add_loop_test(bodies, cubes_bounce_off_each_other, 0, CASES);
    tcase_add_loop_test(bodies, fast_lines_do_not_cross, 0, 2 * LINE_SCHEMES);
    tcase_add_loop_test(bodies, adaptive_steps_see_the_impact, 0, 3);
    tcase_add_loop_test(bodies, sheets_do_not_cross, 0, 3);
    tcase_add_test(bodies, restitution_acts_within_a_step);
    tcase_add_loop_test(bodies, a_resumed_run_gives_the_same_bytes, 0, 3);
    tcase_set_timeout(bodies, 120);
    suite_add_tcase(suite, bodies);
    return run_suite(suite);
}
