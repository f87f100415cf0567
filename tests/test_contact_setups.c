/* Random set-ups of contact: nothing tunnels, nothing goes deeper than 5 % of the thickness, momentum
 * is kept, and contact feeds no energy. `TWANG_SETUPS=1000 build/tests/test_contact_setups` makes a
 * thousand of them; docs/contact.md has the counts. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <twang/twang.h>

#include "support/run_suite.h"
#include "support/touching_bodies.h"

enum { LINES, CUBES, CLOTH, STACK, BUNDLE, FOLD, KINDS };
static const char *const kind_names[] = {"crossing lines", "cubes",  "cube on cloth",
                                         "stack",          "bundle", "folding cloth"};

/* What all set-ups have. */
typedef struct setup {
    int kind;
    uint64_t seed;
    double thickness; /* [m] */
    double duration;  /* [s] */
    double step;      /* [s], 1 ... 20 ms */
    tw_scheme scheme;
    bool is_free;   /* nothing is held, there is no gravity: momentum is kept */
    bool is_driven; /* obstacles move: energy comes from outside */
    tw_simulation *simulation;
} setup;

/* Uniform in [low, high]. */
static double between(uint64_t *seed, double low, double high)
{
    return low + (high - low) * 0.5 * (touching_random(seed) + 1);
}

static tw_contact_options layer_of(double distance, double thickness)
{
    tw_contact_options options = tw_contact_options_default();
    options.distance = distance;
    options.thickness = thickness;
    return options;
}

static const double still[3] = {0, 0, 0};

/* ---- the set-ups ---- */

/* Two chains across each other, one above the other, that meet at 5 m/s. */
static void cross_lines(setup *s)
{
    tw_model *model = touching_model(0);
    double j[6];
    for (int i = 0; i < 6; i++) j[i] = between(&s->seed, -0.03, 0.03);
    const double a[2][3] = {{-0.1, j[0], 0.01}, {0.1, j[1], 0.01}};
    const double b[2][3] = {{j[2], -0.1, -0.01}, {j[3], 0.1, -0.01}};
    const double down[3] = {j[4], j[5], -2.5};
    const double up[3] = {0, 0, 2.5};
    int count = 2 + (int)between(&s->seed, 0, 7.99);
    touching_line(model, a[0], a[1], count, down, 0.01, between(&s->seed, 20, 2000));
    touching_line(model, b[0], b[1], count, up, 0.01, between(&s->seed, 20, 2000));
    tw_contact_options options = layer_of(2e-3, s->thickness);
    options.restitution = between(&s->seed, 0, 1);
    s->simulation = touching_simulation(model, &options);
    s->is_free = true;
    s->duration = 0.012;
}

/* Two turned cubes that meet at up to 4 m/s. */
static void throw_cubes(setup *s)
{
    tw_model *model = touching_model(0);
    const double left[3] = {-0.1, between(&s->seed, -0.02, 0.02), between(&s->seed, -0.02, 0.02)};
    const double right[3] = {0.1, 0, 0};
    const double forward[3] = {between(&s->seed, 0.5, 2), 0, 0};
    const double backward[3] = {-between(&s->seed, 0.5, 2), 0, 0};
    double stiffness = pow(10, between(&s->seed, 4.5, 6));
    touching_cube(model, left, 0.08, between(&s->seed, 0, 6), forward, 0.5, stiffness);
    touching_cube(model, right, 0.08, between(&s->seed, 0, 6), backward, 0.5, stiffness);
    tw_contact_options options = layer_of(4e-3, s->thickness);
    options.restitution = between(&s->seed, 0, 1);
    s->simulation = touching_simulation(model, &options);
    s->is_free = true;
    s->duration = 0.1;
}

static void pin_corners(tw_model *model, int64_t first, int columns, int rows)
{
    const int64_t corners[4] = {0, columns - 1, (int64_t)columns * (rows - 1),
                                (int64_t)columns * rows - 1};
    for (int i = 0; i < 4; i++)
        ck_assert_int_eq(tw_model_pin(model, first + corners[i], first + corners[i], NULL), TW_OK);
}

/* A cube falls on a sheet that is held at its corners. */
static void drop_on_cloth(setup *s)
{
    tw_model *model = touching_model(9.81);
    const double low[3] = {-0.2, -0.2, 0};
    const double u[3] = {0.4, 0, 0};
    const double v[3] = {0, 0.4, 0};
    int count = 5 + (int)between(&s->seed, 0, 4.99);
    int64_t first = touching_sheet(model, low, u, v, count, count, still, 0.1, 200);
    pin_corners(model, first, count, count);

    const double centre[3] = {between(&s->seed, -0.05, 0.05), between(&s->seed, -0.05, 0.05), 0.08};
    const double down[3] = {0, 0, -between(&s->seed, 0, 3)};
    touching_cube(model, centre, 0.08, between(&s->seed, 0, 6), down, 0.1, 2e4);
    tw_contact_options options = layer_of(8e-3, s->thickness);
    options.restitution = 0;
    options.friction = between(&s->seed, 0, 0.5);
    s->simulation = touching_simulation(model, &options);
    s->duration = 0.15;
}

static const tw_obstacle ground = {.kind = TW_OBSTACLE_PLANE, .other = {0, 0, 1}, .size = 1};

/* Boxes one above the other, shifted a little. */
static void stack_boxes(setup *s)
{
    tw_model *model = touching_model(9.81);
    double edge = 0.1;
    double gap = s->thickness + 5e-3;
    int count = 2 + (int)between(&s->seed, 0, 3.99);
    for (int i = 0; i < count; i++) {
        const double centre[3] = {between(&s->seed, -0.01, 0.01), between(&s->seed, -0.01, 0.01),
                                  0.5 * edge + gap + i * (edge + gap)};
        touching_cube(model, centre, edge, 0, still, 0.5, 1e5);
    }
    ck_assert_int_eq(tw_model_add_obstacle(model, &ground, NULL, NULL, NULL), TW_OK);
    tw_contact_options options = layer_of(6e-3, s->thickness);
    options.restitution = 0;
    options.friction = 0.5;
    s->simulation = touching_simulation(model, &options);
    s->duration = 0.2;
}

/* Chains side by side between two plates that approach. */
static void squeeze_bundle(setup *s)
{
    tw_model *model = touching_model(0);
    int count = 3 + (int)between(&s->seed, 0, 3.99);
    double pitch = s->thickness + 3e-3;
    for (int i = 0; i < count * count; i++) {
        int row = i / count;
        double x = (i % count) * pitch + between(&s->seed, -5e-4, 5e-4);
        double z = row * pitch;
        const double a[3] = {x, -0.05, z};
        const double b[3] = {x + between(&s->seed, -5e-4, 5e-4), 0.05, z};
        touching_line(model, a, b, 4, still, 1e-3, 50);
    }
    double half = 0.5 * s->thickness + 4e-3;
    for (int side = 0; side < 2; side++) {
        tw_obstacle plate = {.kind = TW_OBSTACLE_PLANE, .size = 0.1};
        plate.other[2] = side ? -1 : 1;
        plate.point[2] = side ? (count - 1) * pitch + half : -half;
        int64_t first = 0;
        int64_t last = 0;
        ck_assert_int_eq(tw_model_add_obstacle(model, &plate, &first, &last, NULL), TW_OK);
        const double motion[3] = {0, 0, side ? -0.1 : 0.1};
        ck_assert_int_eq(tw_model_prescribe_velocity(model, first, last, motion, NULL), TW_OK);
    }
    tw_contact_options options = layer_of(2e-3, s->thickness);
    options.restitution = 0;
    s->simulation = touching_simulation(model, &options);
    s->is_driven = true;
    s->duration = 0.03;
}

/* A sheet falls edge on, and folds. */
static void fold_cloth(setup *s)
{
    tw_model *model = touching_model(9.81);
    const double low[3] = {-0.1, 0, 0.02};
    const double u[3] = {0.2, between(&s->seed, -0.02, 0.02), 0};
    const double v[3] = {between(&s->seed, -0.02, 0.02), between(&s->seed, 0.02, 0.1), 0.3};
    const double down[3] = {0, 0, -between(&s->seed, 0, 2)};
    touching_sheet(model, low, u, v, 6, 10, down, 0.05, 200);
    ck_assert_int_eq(tw_model_add_obstacle(model, &ground, NULL, NULL, NULL), TW_OK);
    tw_contact_options options = layer_of(6e-3, s->thickness);
    options.restitution = 0;
    options.friction = 0.3;
    options.self = true;
    s->simulation = touching_simulation(model, &options);
    s->duration = 0.3;
}

static setup make_setup(int number)
{
    static const tw_scheme schemes[] = {TW_SCHEME_MIDPOINT, TW_SCHEME_EXPMID2, TW_SCHEME_BDF1};
    static void (*const makers[KINDS])(setup *) = {cross_lines, throw_cubes,    drop_on_cloth,
                                                   stack_boxes, squeeze_bundle, fold_cloth};
    setup s = {.kind = number % KINDS, .seed = 977u * (uint64_t)number + 1u};
    for (int i = 0; i < 8; i++) touching_random(&s.seed);
    s.scheme = schemes[number / KINDS % 3];
    s.step = pow(10, between(&s.seed, -3, log10(0.02)));
    s.thickness = between(&s.seed, 1e-3, 4e-3);
    makers[s.kind](&s);
    return s;
}

/* ---- order ---- */

/* Where the lines cross, seen from above, the first is above the second. */
static bool lines_keep_order(const double *x, int64_t count)
{
    int64_t half = count / 2;
    for (int64_t i = 0; i + 1 < half; i++)
        for (int64_t k = half; k + 1 < count; k++) {
            const double *a = x + 3 * i;
            const double *b = x + 3 * k;
            double u[2] = {a[3] - a[0], a[4] - a[1]};
            double v[2] = {b[3] - b[0], b[4] - b[1]};
            double w[2] = {b[0] - a[0], b[1] - a[1]};
            double determinant = u[0] * v[1] - u[1] * v[0];
            double p = (w[0] * v[1] - w[1] * v[0]) / determinant;
            double q = (w[0] * u[1] - w[1] * u[0]) / determinant;
            if (!(p >= 0 && p <= 1 && q >= 0 && q <= 1)) continue;
            if (a[2] + p * (a[5] - a[2]) <= b[2] + q * (b[5] - b[2])) return false;
        }
    return true;
}

/* The mean of a coordinate over particles. */
static double mean(const double *x, int64_t begin, int64_t end, int axis)
{
    double sum = 0;
    for (int64_t i = begin; i < end; i++) sum += x[3 * i + axis];
    return sum / (double)(end - begin);
}

/* Whether bodies are still on their side of each other. */
static bool keeps_order(const setup *s, const double *u, int64_t count)
{
    switch (s->kind) {
    case LINES:
        return lines_keep_order(u, count);
    case CUBES:
        return mean(u, 0, 8, 0) < mean(u, 8, 16, 0);
    case CLOTH: /* the cube comes last, and the lowest point of the sheet is below it */
        for (int64_t i = 0; i < count - 8; i++)
            if (u[3 * i + 2] < mean(u, count - 8, count, 2)) return true;
        return false;
    case STACK:
        for (int64_t i = 0; i + 8 < count; i += 8)
            if (mean(u, i, i + 8, 2) >= mean(u, i + 8, i + 16, 2)) return false;
        return u[2] > 0;
    default:
        for (int64_t i = 0; i < count && s->kind == FOLD; i++)
            if (u[3 * i + 2] < 0) return false;
        return true;
    }
}

/* ---- one set-up ---- */

static void look(const setup *s, int number, double t, const double *u, const tw_measurement *m)
{
    int64_t count = tw_simulation_state_size(s->simulation) / 6;
    int64_t crossings = s->is_driven ? 0 : touching_crossings(s->simulation, t, u);
    ck_assert_msg(crossings == 0, "%d, %s: %lld crossings at %g s, step %g s", number,
                  kind_names[s->kind], (long long)crossings, t, s->step);
    ck_assert_msg(keeps_order(s, u, count), "%d, %s: tunnelled at %g s, step %g s", number,
                  kind_names[s->kind], t, s->step);
    ck_assert_msg(m->penetration_max <= 0.05 * s->thickness,
                  "%d, %s: %g of the thickness at %g s, step %g s", number, kind_names[s->kind],
                  m->penetration_max / s->thickness, t, s->step);
}

START_TEST(a_random_setup_holds)
{
    setup s = make_setup(_i);
    tw_integrator_options options = tw_integrator_options_default();
    options.scheme = s.scheme;
    options.step = s.step;
    tw_integrator *integrator = NULL;
    tw_error error = {0};
    const double *start = tw_simulation_start(s.simulation);
    tw_status status = tw_simulation_integrator(s.simulation, &options, &integrator, &error);
    if (status == TW_OK) status = tw_integrator_start(integrator, 0, start, &error);
    ck_assert_msg(status == TW_OK, "%d: %s", _i, error.text);

    tw_measurement first;
    ck_assert_int_eq(tw_simulation_measure(s.simulation, 0, start, &first), TW_OK);
    double impact = first.kinetic;
    double gain = 0;
    int looks = 20;
    for (int i = 1; i <= looks; i++) {
        double t = s.duration * i / looks;
        status = tw_integrator_advance(integrator, t, &error);
        ck_assert_msg(status == TW_OK, "%d, %s, step %g s: %s", _i, kind_names[s.kind], s.step,
                      error.text);
        const double *u = tw_integrator_state_view(integrator);
        tw_measurement m;
        ck_assert_int_eq(tw_simulation_measure(s.simulation, t, u, &m), TW_OK);
        look(&s, _i, t, u, &m);

        for (int k = 0; k < 3 && s.is_free; k++)
            ck_assert_msg(fabs(m.momentum[k] - first.momentum[k]) <= 1e-10, "%d: momentum", _i);

        /* The state by which energy is judged: the end of a step holds what is not resolved. */
        const double *stage = tw_integrator_energy_state(integrator, &t);
        ck_assert_int_eq(tw_simulation_measure(s.simulation, t, stage, &m), TW_OK);
        impact = fmax(impact, m.kinetic);
        gain = fmax(gain, m.kinetic + m.potential - first.kinetic - first.potential);
    }
    ck_assert_msg(s.is_driven || gain <= 0.01 * impact,
                  "%d, %s: contact fed %g of the impact's energy, step %g s, scheme %d", _i,
                  kind_names[s.kind], gain / impact, s.step, s.scheme);
    tw_integrator_free(integrator);
    tw_simulation_free(s.simulation);
}
END_TEST

int main(void)
{
    /* Two of each kind for every scheme (in checked builds one), or as many as are asked for. */
    const char *wanted = getenv("TWANG_SETUPS");
    int count = wanted ? atoi(wanted) : cases_to_run(2 * KINDS * 3, KINDS + 1);
    Suite *suite = suite_create("random contacts");
    TCase *setups = tcase_create("set-ups");
    tcase_add_loop_test(setups, a_random_setup_holds, 0, count);
    tcase_set_timeout(setups, 300);
    suite_add_tcase(suite, setups);
    return run_suite(suite);
}
