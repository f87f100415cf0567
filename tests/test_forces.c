/* labels: threads */
/* Every force: force against energy, tangent, damping and time derivative against force, product against matrix,
 * momentum, threads, memory; and what an integrator makes of them. */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <twang/twang.h>

#include "support/failing_allocator.h"
#include "support/force_checks.h"
#include "support/random.h"
#include "support/run_suite.h"

/* ---- a patch of cloth: every force can act on it ---- */

typedef struct cloth {
    int rows, columns;
    int64_t particles, edge_count, triangle_count, face_count;
    double *x, *v, *mass;
    int64_t *edges, *triangles, *faces, *hinges; /* two, three, four, four indices each */
    double *ones, *tens; /* random values about 1 and 10, as many as edges */
} cloth;

static void add_edge(cloth *c, int64_t a, int64_t b)
{
    c->edges[2 * c->edge_count] = a;
    c->edges[2 * c->edge_count++ + 1] = b;
}

static void add_cell(cloth *c, int64_t p)
{
    int64_t right = p + 1, above = p + c->columns, across = above + 1;
    const int64_t corner[6] = {p, right, above, right, across, above};
    memcpy(c->triangles + 3 * c->triangle_count, corner, sizeof corner);
    c->triangle_count += 2;
    const int64_t face[4] = {p, right, across, above}, hinge[4] = {right, above, p, across};
    memcpy(c->faces + 4 * c->face_count, face, sizeof face);
    memcpy(c->hinges + 4 * c->face_count++, hinge, sizeof hinge);
    add_edge(c, p, right);
    add_edge(c, p, above);
    add_edge(c, right, above);
    if (across % c->columns == c->columns - 1) add_edge(c, right, across);
    if (across / c->columns == c->rows - 1) add_edge(c, above, across);
}

static void *zeros(int64_t count, size_t size)
{
    void *block = calloc((size_t)count, size);
    ck_assert_ptr_nonnull(block);
    return block;
}

static cloth *new_cloth(int rows, int columns)
{
    cloth *c = zeros(1, sizeof *c);
    int64_t n = (int64_t)rows * columns;
    *c = (cloth){.rows = rows, .columns = columns, .particles = n};
    c->x = zeros(3 * n, sizeof(double));
    c->v = zeros(3 * n, sizeof(double));
    c->mass = zeros(n, sizeof(double));
    c->edges = zeros(6 * n, sizeof(int64_t));
    c->triangles = zeros(6 * n, sizeof(int64_t));
    c->faces = zeros(4 * n, sizeof(int64_t));
    c->hinges = zeros(4 * n, sizeof(int64_t));
    c->ones = zeros(3 * n, sizeof(double));
    c->tens = zeros(3 * n, sizeof(double));
    test_random random = {.state = 11};
    for (int64_t i = 0; i < n; i++) {
        c->mass[i] = test_random_between(&random, 0.5, 2);
        int64_t row = i / columns, column = i % columns;
        const double place[3] = {0.2 * (double)column, 0.2 * (double)row, 0};
        for (int k = 0; k < 3; k++)
            c->x[3 * i + k] = place[k] + test_random_between(&random, -0.02, 0.02);
        for (int k = 0; k < 3; k++) c->v[3 * i + k] = test_random_between(&random, -1, 1);
    }
    for (int r = 0; r < rows - 1; r++)
        for (int s = 0; s < columns - 1; s++) add_cell(c, (int64_t)r * columns + s);
    for (int64_t i = 0; i < 3 * n; i++) {
        c->ones[i] = test_random_between(&random, 0.5, 1.5);
        c->tens[i] = test_random_between(&random, 5, 15);
    }
    return c;
}

static void free_cloth(cloth *c)
{
    void *blocks[] = {c->x,     c->v,      c->mass, c->edges, c->triangles,
                      c->faces, c->hinges, c->ones, c->tens,  c};
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) free(blocks[i]);
}

/* Puts one force on the cloth. */
typedef tw_status adder(tw_model *model, const cloth *c);

static tw_status linear(tw_model *model, const cloth *c)
{
    return tw_model_add_springs(model, c->edge_count, c->edges, c->tens, NULL, NULL);
}

static tw_status cubic(tw_model *model, const cloth *c)
{
    return tw_model_add_cubic_springs(model, c->edge_count, c->edges, c->ones, c->tens, NULL, NULL);
}

static tw_status faces(tw_model *model, const cloth *c)
{
    return tw_model_add_face_springs(model, c->face_count, c->faces, c->tens, NULL, NULL);
}

/* Springs between the middles of neighbouring cells that share no particle. */
static tw_status sections(tw_model *model, const cloth *c)
{
    int64_t *corners = zeros(8 * c->face_count, sizeof *corners);
    int64_t count = 0;
    int64_t across = c->columns - 1; /* faces of a row */
    for (int64_t f = 0; f < c->face_count; f++) {
        if (f % across + 2 >= across) continue;
        memcpy(corners + 8 * count, c->faces + 4 * f, 4 * sizeof *corners);
        memcpy(corners + 8 * count + 4, c->faces + 4 * (f + 2), 4 * sizeof *corners);
        count++;
    }
    tw_status status = tw_model_add_section_springs(model, count, corners, c->tens, NULL, NULL);
    free(corners);
    return status;
}

static tw_status damped_sections(tw_model *model, const cloth *c)
{
    tw_status status = sections(model, c);
    return status ? status : tw_model_set_rayleigh(model, 0, 0.3, NULL);
}

static tw_status dashpots(tw_model *model, const cloth *c)
{
    return tw_model_add_dashpots(model, c->edge_count, c->edges, c->tens, NULL);
}

static tw_status damped_linear(tw_model *model, const cloth *c)
{
    tw_status status = linear(model, c);
    return status ? status : tw_model_set_rayleigh(model, 0, 0.3, NULL);
}

static tw_status damped_cubic(tw_model *model, const cloth *c)
{
    tw_status status = cubic(model, c);
    return status ? status : tw_model_set_rayleigh(model, 0, 0.3, NULL);
}

static tw_status damped_faces(tw_model *model, const cloth *c)
{
    tw_status status = faces(model, c);
    return status ? status : tw_model_set_rayleigh(model, 0.7, 0.3, NULL);
}

static tw_status damped_mass(tw_model *model, const cloth *c)
{
    tw_status status = linear(model, c);
    return status ? status : tw_model_set_rayleigh(model, 0.7, 0, NULL);
}

static tw_status bending(tw_model *model, const cloth *c)
{
    int64_t added = 0;
    tw_status status =
        tw_model_add_bending_springs(model, c->triangle_count, c->triangles, 3, 40, &added, NULL);
    /* inner edges of a grid of R x C cells: 3 R C - R - C */
    int cells_up = c->rows - 1, cells_across = c->columns - 1;
    if (status == TW_OK)
        ck_assert_int_eq(added, 3 * cells_up * cells_across - cells_up - cells_across);
    return status;
}

static tw_status hinges(tw_model *model, const cloth *c)
{
    return tw_model_add_hinges(model, c->face_count, c->hinges, c->ones, NULL, NULL);
}

static tw_status damped_hinges(tw_model *model, const cloth *c)
{
    tw_status status = hinges(model, c);
    return status ? status : tw_model_set_rayleigh(model, 0, 0.3, NULL);
}

static tw_status bending_hinges(tw_model *model, const cloth *c)
{
    return tw_model_add_bending_hinges(model, c->triangle_count, c->triangles, 2, NULL, NULL);
}

static tw_status load(tw_model *model, const cloth *c)
{
    const double force[3] = {1, -2, 3};
    return tw_model_add_load(model, 1, c->particles - 2, force, NULL);
}

static tw_status shaking(tw_model *model, const cloth *c)
{
    (void)c;
    const double acceleration[3] = {1, -2, 3};
    return tw_model_add_shaking(model, acceleration, 0.6, 0.2, NULL);
}

/* A trap whose strength swings: b = -s (x - x^3-like term), and a whirl about z, which has no potential. */
static double strength(double t)
{
    return 2 + sin(1.7 * t);
}

static tw_status trap_value(void *context, double t, const double x[3], double value[3])
{
    (void)context;
    double r = x[0] * x[0] + x[1] * x[1] + x[2] * x[2];
    for (int k = 0; k < 3; k++) value[k] = -strength(t) * r * x[k];
    return TW_OK;
}

static tw_status trap_gradient(void *context, double t, const double x[3], double gradient[9])
{
    (void)context;
    double r = x[0] * x[0] + x[1] * x[1] + x[2] * x[2];
    for (int k = 0; k < 9; k++)
        gradient[k] = -strength(t) * ((k % 4 == 0 ? r : 0) + 2 * x[k % 3] * x[k / 3]);
    return TW_OK;
}

static tw_status trap_rate(void *context, double t, const double x[3], double rate[3])
{
    trap_value(context, t, x, rate);
    for (int k = 0; k < 3; k++) rate[k] *= 1.7 * cos(1.7 * t) / strength(t);
    return TW_OK;
}

static tw_status trap_potential(void *context, double t, const double x[3], double *potential)
{
    (void)context;
    double r = x[0] * x[0] + x[1] * x[1] + x[2] * x[2];
    *potential = 0.25 * strength(t) * r * r;
    return TW_OK;
}

static tw_status trap(tw_model *model, const cloth *c)
{
    tw_field field = tw_field_default();
    field.value = trap_value;
    field.gradient = trap_gradient;
    field.rate = trap_rate;
    field.potential = trap_potential;
    return tw_model_add_field(model, 0, c->particles - 2, &field, NULL);
}

static tw_status whirl_value(void *context, double t, const double x[3], double value[3])
{
    (void)context;
    (void)t;
    value[0] = -x[1] * x[1];
    value[1] = x[0] * x[0];
    value[2] = x[0] * x[2];
    return TW_OK;
}

static tw_status whirl_gradient(void *context, double t, const double x[3], double gradient[9])
{
    (void)context;
    (void)t;
    const double rows[9] = {0, -2 * x[1], 0, 2 * x[0], 0, 0, x[2], 0, x[0]};
    for (int k = 0; k < 9; k++) gradient[k] = rows[k % 3 * 3 + k / 3];
    return TW_OK;
}

static tw_status whirl(tw_model *model, const cloth *c)
{
    tw_field field = tw_field_default();
    field.value = whirl_value;
    field.gradient = whirl_gradient;
    field.is_force = true;
    return tw_model_add_field(model, 1, c->particles - 1, &field, NULL);
}

static tw_status blow(tw_model *model, const cloth *c, double drag, double lift, double gust)
{
    tw_wind wind = tw_wind_default();
    const double velocity[3] = {3, -2, 4};
    memcpy(wind.velocity, velocity, sizeof velocity);
    wind.drag = drag;
    wind.lift = lift;
    wind.gust = gust;
    wind.gust_frequency = 0.7;
    return tw_model_add_wind(model, c->triangle_count, c->triangles, &wind, NULL);
}

static tw_status pressure_wind(tw_model *model, const cloth *c)
{
    return blow(model, c, 1.3, 1.3, 0);
}

static tw_status drag_wind(tw_model *model, const cloth *c)
{
    return blow(model, c, 1.1, 0, 0);
}

static tw_status gusty_wind(tw_model *model, const cloth *c)
{
    return blow(model, c, 0.8, 1.7, 0.5);
}

/* Users: magnets along the edges of the first row, V = -sum 1 / (r^2 + 1); and a brake that knows the time. */
enum { MAGNETS = 5 };
static const int64_t magnet_pairs[2 * MAGNETS] = {0, 1, 1, 2, 2, 3, 0, 2, 1, 3};

static double magnet_vector(const double *x, int m, double d[3])
{
    for (int k = 0; k < 3; k++)
        d[k] = x[3 * magnet_pairs[2 * m + 1] + k] - x[3 * magnet_pairs[2 * m] + k];
    return d[0] * d[0] + d[1] * d[1] + d[2] * d[2] + 1;
}

static tw_status magnet_energy(void *context, double t, const double *x, double *energy)
{
    (void)context;
    (void)t;
    double d[3];
    for (int m = 0; m < MAGNETS; m++) *energy -= 1 / magnet_vector(x, m, d);
    return TW_OK;
}

static tw_status magnet_force(void *context, double t, const double *x, const double *v,
                              double *force)
{
    (void)context;
    (void)t;
    (void)v;
    double d[3];
    for (int m = 0; m < MAGNETS; m++) {
        double s = magnet_vector(x, m, d);
        for (int k = 0; k < 3; k++) {
            force[3 * magnet_pairs[2 * m] + k] += 2 * d[k] / (s * s);
            force[3 * magnet_pairs[2 * m + 1] + k] -= 2 * d[k] / (s * s);
        }
    }
    return TW_OK;
}

static tw_status magnet_stiffness(void *context, double t, const double *x, const double *v,
                                  const double *in, double *out)
{
    (void)context;
    (void)t;
    (void)v;
    double d[3], u[3];
    for (int m = 0; m < MAGNETS; m++) {
        double s = magnet_vector(x, m, d), on_d = 0;
        const int64_t *pair = magnet_pairs + 2 * m;
        for (int k = 0; k < 3; k++) u[k] = in[3 * pair[1] + k] - in[3 * pair[0] + k];
        for (int k = 0; k < 3; k++) on_d += d[k] * u[k];
        for (int k = 0; k < 3; k++) {
            double change = 2 * u[k] / (s * s) - 8 * on_d * d[k] / (s * s * s);
            out[3 * pair[0] + k] -= change;
            out[3 * pair[1] + k] += change;
        }
    }
    return TW_OK;
}

static tw_status magnets(tw_model *model, const cloth *c)
{
    (void)c;
    tw_user_force force = tw_user_force_default();
    force.force = magnet_force;
    force.energy = magnet_energy;
    force.stiffness = magnet_stiffness;
    force.pairs = magnet_pairs;
    force.pair_count = MAGNETS;
    return tw_model_add_user_force(model, &force, NULL);
}

/* f_0 = -(1 + sin t) x_1 v_0, and the same for the next pair: nothing but the force is given. */
static tw_status brake_force(void *context, double t, const double *x, const double *v,
                             double *force)
{
    const int *particles = context;
    for (int i = 0; i + 1 < *particles; i++)
        force[3 * i] -= (1 + sin(t)) * (1 + x[3 * (i + 1)]) * v[3 * i];
    return TW_OK;
}

static const int braked = 4;

static tw_status brake(tw_model *model, const cloth *c)
{
    (void)c;
    tw_user_force force = tw_user_force_default();
    force.context = (void *)&braked;
    force.force = brake_force;
    force.velocity_dependent = force.time_dependent = true;
    force.pairs = magnet_pairs;
    force.pair_count = MAGNETS;
    return tw_model_add_user_force(model, &force, NULL);
}

typedef struct force_case {
    const char *name;
    adder *add;
    bool internal;    /* conserves momentum and angular momentum */
    bool rough;       /* its products are differences themselves */
    bool frees_rigid; /* alpha is among it */
} force_case;

static const force_case cases[] = {
    {"linear springs", linear, true, false, false},
    {"cubic springs", cubic, true, false, false},
    {"face springs", faces, true, false, false},
    {"section springs", sections, true, false, false},
    {"section springs, Rayleigh beta", damped_sections, true, false, false},
    {"bending springs", bending, true, false, false},
    {"hinges", hinges, true, false, false},
    {"bending hinges", bending_hinges, true, false, false},
    {"dashpots", dashpots, true, false, false},
    {"linear springs, Rayleigh beta", damped_linear, true, false, false},
    {"cubic springs, Rayleigh beta", damped_cubic, true, false, false},
    {"face springs, Rayleigh alpha and beta", damped_faces, true, false, true},
    {"linear springs, Rayleigh alpha", damped_mass, true, false, true},
    {"hinges, Rayleigh beta", damped_hinges, true, false, false},
    {"load", load, false, false, false},
    {"shaking", shaking, false, false, false},
    {"field with a potential", trap, false, false, false},
    {"field without", whirl, false, false, false},
    {"wind, pressure", pressure_wind, false, false, false},
    {"wind, drag", drag_wind, false, false, false},
    {"wind, gusts", gusty_wind, false, false, false},
    {"user's force", magnets, true, false, false},
    {"user's force by differences", brake, false, true, false},
};
enum { CASES = sizeof cases / sizeof *cases };

typedef enum hold { FREE, PINNED, MOVED } hold;

static tw_status build(const force_case *f, const cloth *c, hold held, tw_simulation **simulation)
{
    tw_model *model = NULL;
    const double amplitude[3] = {0.1, 0.2, 0.3}, point[3] = {0.1, 0, 0}, axis[3] = {1, 2, 3};
    tw_status status = tw_model_create(&model, NULL);
    if (status == TW_OK)
        status = tw_model_add_particles(model, c->particles, c->x, c->v, c->mass, NULL, NULL);
    if (status == TW_OK) status = f->add(model, c);
    if (status == TW_OK && held == PINNED) status = tw_model_pin(model, 2, 4, NULL);
    if (status == TW_OK && held == MOVED)
        status = tw_model_prescribe_oscillation(model, 2, 4, amplitude, 0.4, 0.3, NULL);
    if (status == TW_OK && held == MOVED)
        status = tw_model_prescribe_rotation(model, 9, 9, point, axis, 1.3, NULL);
    if (status == TW_OK) status = tw_simulation_of_model(model, simulation, NULL);
    if (status != TW_OK) tw_model_free(model);
    return status;
}

static tw_simulation *built(const force_case *f, int rows, int columns, hold held)
{
    tw_simulation *simulation = NULL;
    cloth *c = new_cloth(rows, columns);
    ck_assert_msg(build(f, c, held, &simulation) == TW_OK, "%s", f->name);
    free_cloth(c);
    return simulation;
}

static force_check check_of(const force_case *f, double disturbance, uint64_t seed)
{
    return (force_check){.name = f->name,
                         .disturbance = disturbance,
                         .seed = seed,
                         .step = 1e-4,
                         .matrix_tolerance = f->rough ? 1e-8 : 1e-13};
}

START_TEST(derivatives_agree_with_differences)
{
    const force_case *f = &cases[_i / 3];
    tw_simulation *simulation = built(f, 6, 7, (hold)(_i % 3));
    for (uint64_t seed = 1; seed <= 4; seed++) {
        force_check check = check_of(f, 0.02 * (double)seed, seed);
        /* the mass-proportional part of a free body is dense, and not in the matrix */
        check.damping_matrix = !f->rough && !(f->frees_rigid && _i % 3 == FREE);
        force_check_derivatives(&check, simulation);
    }
    tw_simulation_free(simulation);
}
END_TEST

/* Four particles in one cell, the first two nearly in one place: springs almost without length, slivers, edges almost
 * without length. The difference steps are a thousandth of that distance. */
START_TEST(derivatives_agree_near_degenerate_states)
{
    const force_case *f = &cases[_i / 2];
    if (f->rough) return;
    double gap = _i % 2 ? 1e-3 : 1e-6;
    cloth *c = new_cloth(2, 2);
    tw_simulation *simulation = NULL;
    ck_assert_int_eq(build(f, c, FREE, &simulation), TW_OK);
    force_check check = check_of(f, 0, 3);
    check.step = 1e-3 * gap;
    double squeezed[12];
    memcpy(squeezed, c->x, sizeof squeezed);
    for (int k = 0; k < 3; k++) squeezed[k] = 0;
    for (int k = 0; k < 3; k++) squeezed[3 + k] = gap * (k == 0 ? 0.6 : k == 1 ? -0.3 : 0.8);
    check.x = squeezed;
    force_check_derivatives(&check, simulation);
    tw_simulation_free(simulation);
    free_cloth(c);
}
END_TEST

START_TEST(inner_forces_conserve_momentum)
{
    const force_case *f = &cases[_i];
    if (!f->internal) return;
    tw_simulation *simulation = built(f, 6, 7, FREE);
    force_check_momentum(f->name, simulation);
    tw_simulation_free(simulation);
}
END_TEST

START_TEST(threads_change_no_bit)
{
    const force_case *f = &cases[_i];
    tw_simulation *simulation = built(f, 50, 60, MOVED); /* several blocks of everything */
    force_check_threads(&(force_check){.name = f->name, .disturbance = 0.05, .seed = 5},
                        simulation);
    tw_simulation_free(simulation);
}
END_TEST

typedef struct trial {
    const force_case *f;
    const cloth *c;
} trial;

static tw_status attempt(void *context)
{
    const trial *t = context;
    tw_simulation *simulation = NULL;
    tw_status status = build(t->f, t->c, MOVED, &simulation);
    tw_simulation_free(simulation);
    return status;
}

START_TEST(memory_may_run_out_anywhere)
{
    cloth *c = new_cloth(6, 7);
    trial t = {&cases[_i], c};
    ck_assert_int_gt(test_fail_each_allocation(attempt, &t), 15);
    free_cloth(c);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("forces");
    TCase *each = tcase_create("each force");
    tcase_add_loop_test(each, derivatives_agree_with_differences, 0, 3 * CASES);
    tcase_add_loop_test(each, derivatives_agree_near_degenerate_states, 0, 2 * CASES);
    tcase_add_loop_test(each, inner_forces_conserve_momentum, 0, CASES);
    tcase_add_loop_test(each, threads_change_no_bit, 0, CASES);
    tcase_add_loop_test(each, memory_may_run_out_anywhere, 0, CASES);
    suite_add_tcase(suite, each);
    return run_suite(suite);
}
