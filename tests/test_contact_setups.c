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

enum { LOOKS = 20 /* states of a set-up that are looked at */ };

/* How the energy changed [J]. */
typedef struct rise {
    double sum;
    double largest; /* that the sum has been */
} rise;

/* What was wrong in the states of a set-up. */
typedef struct findings {
    int64_t crossings; /* edges that pierce triangles, over all states */
    int tunnelled;     /* states in which a body is on the wrong side of another one */
    double depth;      /* largest penetration, as a share of the thickness */
    double momentum;   /* largest change of a component [kg m/s] */
    double impact;     /* largest kinetic energy [J] */
    rise touching;     /* in steps that touch at one of their ends: what contact feeds */
    rise all;          /* from the start to a state that is looked at */
} findings;

/* Looks at one state. Crossings and order are found by tests of this file and its support, the rest
 * by the library. */
static void look(const setup *s, double t, const double *u, const tw_measurement *first,
                 findings *f)
{
    tw_measurement m;
    int64_t count = tw_simulation_state_size(s->simulation) / 6;
    ck_assert_int_eq(tw_simulation_measure(s->simulation, t, u, &m), TW_OK);
    if (!s->is_driven) f->crossings += touching_crossings(s->simulation, t, u);
    f->tunnelled += !keeps_order(s, u, count);
    f->depth = fmax(f->depth, m.penetration_max / s->thickness);

    for (int k = 0; k < 3 && s->is_free; k++)
        f->momentum = fmax(f->momentum, fabs(m.momentum[k] - first->momentum[k]));
    f->all.largest = fmax(f->all.largest, f->all.sum);
}

/* Advances to t, and adds up how the energy changes. It is that of the states themselves, with all
 * that vibrates unresolved in them. */
static tw_status advance(const setup *s, tw_integrator *integrator, double t, tw_measurement *last,
                         findings *f, tw_error *error)
{
    double now = 0;
    while (now < t) {
        tw_measurement m;
        tw_status status = tw_integrator_step(integrator, t, error);
        if (status != TW_OK) return status;
        tw_integrator_state(integrator, &now, NULL);
        const double *u = tw_integrator_state_view(integrator);
        ck_assert_int_eq(tw_simulation_measure(s->simulation, now, u, &m), TW_OK);

        f->impact = fmax(f->impact, m.kinetic);
        bool touches = last->contacts > 0 || m.contacts > 0;
        double change = m.kinetic + m.potential - last->kinetic - last->potential;
        if (s->is_driven) change = 0;
        f->all.sum += change;
        if (touches) f->touching.sum += change;
        f->touching.largest = fmax(f->touching.largest, f->touching.sum);
        *last = m;
    }
    return TW_OK;
}

/* The largest rise of the energy, as a share of the impact's. The midpoint rule makes energy in free
 * flight: it leaves a spring stretched by a quarter of the square of the angle by which it turns in a
 * step (docs/contact.md). What it feeds in steps that touch has no such excuse. */
static double rise_bound(tw_scheme scheme)
{
    return scheme == TW_SCHEME_MIDPOINT ? 1 : 0.01;
}

static void check_findings(int number, const setup *s, const findings *f)
{
    double fed = f->touching.largest / f->impact;
    double made = f->all.largest / f->impact;
    bool holds = f->crossings == 0 && f->tunnelled == 0 && f->depth <= 0.05 &&
                 f->momentum <= 1e-10 && fed <= 0.01 && made <= rise_bound(s->scheme);
    ck_assert_msg(holds,
                  "%d, %s, %s, step %.3g s: %lld crossings, %d states tunnelled, %.2g of the "
                  "thickness deep, momentum off by %.1g, contact fed %.2g of the impact's energy, "
                  "all steps %.2g",
                  number, kind_names[s->kind], tw_scheme_name(s->scheme), s->step,
                  (long long)f->crossings, f->tunnelled, f->depth, f->momentum, fed, made);
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
    tw_measurement last = first;
    findings found = {.impact = first.kinetic};
    for (int i = 1; i <= LOOKS; i++) {
        double t = s.duration * i / LOOKS;
        status = advance(&s, integrator, t, &last, &found, &error);
        ck_assert_msg(status == TW_OK, "%d, %s, step %g s: %s", _i, kind_names[s.kind], s.step,
                      error.text);
        look(&s, t, tw_integrator_state_view(integrator), &first, &found);
    }
    check_findings(_i, &s, &found);
    tw_integrator_free(integrator);
    tw_simulation_free(s.simulation);
}
END_TEST

/* Which set-ups are asked for: "1000" the first thousand, "73-75" those three. Without a wish two of
 * each kind for every scheme, in checked builds one of each kind. */
static void choose_setups(int *begin, int *end)
{
    const char *wanted = getenv("TWANG_SETUPS");
    *begin = 0;
    *end = cases_to_run(2 * KINDS * 3, KINDS + 1);
    if (!wanted) return;

    const char *dash = strchr(wanted, '-');
    if (dash) *begin = atoi(wanted);
    *end = dash ? atoi(dash + 1) + 1 : atoi(wanted);
}

int main(void)
{
    int begin = 0;
    int end = 0;
    choose_setups(&begin, &end);
    Suite *suite = suite_create("random contacts");
    TCase *setups = tcase_create("set-ups");
    tcase_add_loop_test(setups, a_random_setup_holds, begin, end);
    tcase_set_timeout(setups, 300);
    suite_add_tcase(suite, setups);
    return run_suite(suite);
}
