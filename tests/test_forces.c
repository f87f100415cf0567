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

enum { ROWS = 6, COLUMNS = 7, CLOTH = ROWS * COLUMNS };

typedef struct cloth {
    double x[3 * CLOTH], v[3 * CLOTH], mass[CLOTH];
    int64_t edges[2 * 4 * CLOTH], triangles[3 * 2 * CLOTH], faces[4 * CLOTH];
    double ones[4 * CLOTH], tens[4 * CLOTH];
    int64_t edge_count, triangle_count, face_count;
} cloth;

static void add_edge(cloth *c, int64_t a, int64_t b)
{
    c->edges[2 * c->edge_count] = a;
    c->edges[2 * c->edge_count++ + 1] = b;
}

static void add_cell(cloth *c, int64_t p)
{
    const int64_t corner[6] = {p, p + 1, p + COLUMNS, p + 1, p + COLUMNS + 1, p + COLUMNS};
    memcpy(c->triangles + 3 * c->triangle_count, corner, sizeof corner);
    c->triangle_count += 2;
    const int64_t face[4] = {p, p + 1, p + COLUMNS + 1, p + COLUMNS};
    memcpy(c->faces + 4 * c->face_count++, face, sizeof face);
    add_edge(c, p, p + 1);
    add_edge(c, p, p + COLUMNS);
    add_edge(c, p + 1, p + COLUMNS);
}

static cloth *new_cloth(void)
{
    cloth *c = calloc(1, sizeof *c);
    test_random random = {.state = 11};
    for (int i = 0; i < CLOTH; i++) {
        c->mass[i] = test_random_between(&random, 0.5, 2);
        const double place[3] = {0.2 * (i % COLUMNS), 0.2 * (i / COLUMNS), 0};
        for (int k = 0; k < 3; k++) c->x[3 * i + k] = place[k] + test_random_between(&random, -0.02, 0.02);
        for (int k = 0; k < 3; k++) c->v[3 * i + k] = test_random_between(&random, -1, 1);
    }
    for (int r = 0; r < ROWS - 1; r++)
        for (int s = 0; s < COLUMNS - 1; s++) add_cell(c, r * COLUMNS + s);
    for (int i = 0; i < 4 * CLOTH; i++) {
        c->ones[i] = test_random_between(&random, 0.5, 1.5);
        c->tens[i] = test_random_between(&random, 5, 15);
    }
    return c;
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

typedef struct force_case {
    const char *name;
    adder *add;
    bool internal; /* conserves momentum and angular momentum */
} force_case;

static const force_case cases[] = {
    {"linear springs", linear, true},
    {"cubic springs", cubic, true},
    {"face springs", faces, true},
    {"dashpots", dashpots, true},
    {"linear springs, Rayleigh beta", damped_linear, true},
    {"cubic springs, Rayleigh beta", damped_cubic, true},
    {"face springs, Rayleigh alpha and beta", damped_faces, true},
    {"linear springs, Rayleigh alpha", damped_mass, true},
};
enum { CASES = sizeof cases / sizeof *cases };

typedef enum hold { FREE, PINNED, MOVED } hold;

static tw_status build(const force_case *f, hold held, tw_simulation **simulation)
{
    cloth *c = new_cloth();
    tw_model *model = NULL;
    const double amplitude[3] = {0.1, 0.2, 0.3}, point[3] = {0.1, 0, 0}, axis[3] = {1, 2, 3};
    tw_status status = tw_model_create(&model);
    if (status == TW_OK) status = tw_model_add_particles(model, CLOTH, c->x, c->v, c->mass, NULL, NULL);
    if (status == TW_OK) status = f->add(model, c);
    if (status == TW_OK && held == PINNED) status = tw_model_pin(model, 2, 4, NULL);
    if (status == TW_OK && held == MOVED)
        status = tw_model_prescribe_oscillation(model, 2, 4, amplitude, 0.4, 0.3, NULL);
    if (status == TW_OK && held == MOVED) status = tw_model_prescribe_rotation(model, 9, 9, point, axis, 1.3, NULL);
    free(c);
    if (status != TW_OK) {
        tw_model_free(model);
        return status;
    }
    return tw_simulation_of_model(model, simulation, NULL);
}

static tw_simulation *built(const force_case *f, hold held)
{
    tw_simulation *simulation = NULL;
    ck_assert_msg(build(f, held, &simulation) == TW_OK, "%s", f->name);
    return simulation;
}

START_TEST(derivatives_agree_with_differences)
{
    const force_case *f = &cases[_i / 3];
    tw_simulation *simulation = built(f, (hold)(_i % 3));
    for (uint64_t seed = 1; seed <= 4; seed++) force_check_derivatives(f->name, simulation, 0.02 * (double)seed, seed);
    tw_simulation_free(simulation);
}
END_TEST

START_TEST(inner_forces_conserve_momentum)
{
    const force_case *f = &cases[_i];
    if (!f->internal) return;
    tw_simulation *simulation = built(f, FREE);
    force_check_momentum(f->name, simulation);
    tw_simulation_free(simulation);
}
END_TEST

START_TEST(threads_change_no_bit)
{
    const force_case *f = &cases[_i];
    tw_simulation *simulation = built(f, MOVED);
    force_check_threads(f->name, simulation);
    tw_simulation_free(simulation);
}
END_TEST

static tw_status attempt(void *context)
{
    tw_simulation *simulation = NULL;
    tw_status status = build(context, MOVED, &simulation);
    tw_simulation_free(simulation);
    return status;
}

START_TEST(memory_may_run_out_anywhere)
{
    ck_assert_int_gt(test_fail_each_allocation(attempt, (void *)&cases[_i]), 15);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("forces");
    TCase *each = tcase_create("each force");
    tcase_add_loop_test(each, derivatives_agree_with_differences, 0, 3 * CASES);
    tcase_add_loop_test(each, inner_forces_conserve_momentum, 0, CASES);
    tcase_add_loop_test(each, threads_change_no_bit, 0, CASES);
    tcase_add_loop_test(each, memory_may_run_out_anywhere, 0, CASES);
    suite_add_tcase(suite, each);
    return run_suite(suite);
}
