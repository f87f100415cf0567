/* labels: threads */
/* Springs in parts: their force is the plain sum over all springs, in whatever order they are given,
 * and threads do not change a bit of it. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <twang/twang.h>

#include "model/spring_parts.h"
#include "support/random.h"
#include "support/run_suite.h"

enum { PARTICLES = 6000, SPRINGS = 30001 };

/* A net whose springs reach at most so many particles further: parts with windows, or one part. */
static const int64_t reaches[] = {40, 700, PARTICLES - 1};

typedef struct net {
    double x[3 * PARTICLES], force[3 * PARTICLES], mass[PARTICLES];
    int64_t ends[2 * SPRINGS];
    double stiffness[SPRINGS], cubic[SPRINGS], rest_length[SPRINGS];
} net;

static net *new_net(int64_t reach)
{
    net *n = calloc(1, sizeof *n);
    ck_assert_ptr_nonnull(n);
    test_random random = {7};
    for (int64_t i = 0; i < 3 * PARTICLES; i++) n->x[i] = test_random_between(&random, -1, 1);
    for (int64_t i = 0; i < PARTICLES; i++) n->mass[i] = test_random_between(&random, 1, 2);

    for (int64_t e = 0; e < SPRINGS; e++) {
        int64_t a = (int64_t)test_random_between(&random, 0, PARTICLES - 1e-9);
        int64_t step = 1 + (int64_t)test_random_between(&random, 0, (double)reach - 1e-9);
        int64_t b = a + step < PARTICLES ? a + step : (a > 0 ? a - 1 : 1);
        n->ends[2 * e] = e % 2 ? a : b;
        n->ends[2 * e + 1] = e % 2 ? b : a;
        n->stiffness[e] = test_random_between(&random, 10, 20);
        n->cubic[e] = test_random_between(&random, 0, 5);
        n->rest_length[e] = test_random_between(&random, 0, 1);
    }
    return n;
}

/* The sum over all springs, as one writes it down. */
static void plain_force(net *n, bool cubic)
{
    memset(n->force, 0, sizeof n->force);
    for (int64_t e = 0; e < SPRINGS; e++) {
        const double *p = n->x + 3 * n->ends[2 * e];
        const double *q = n->x + 3 * n->ends[2 * e + 1];
        double l = sqrt(pow(q[0] - p[0], 2) + pow(q[1] - p[1], 2) + pow(q[2] - p[2], 2));
        double stretch = l - n->rest_length[e];
        double pull = n->stiffness[e] * stretch + (cubic ? n->cubic[e] * pow(stretch, 3) : 0);
        for (int k = 0; k < 3; k++) {
            n->force[3 * n->ends[2 * e] + k] += pull * (q[k] - p[k]) / l;
            n->force[3 * n->ends[2 * e + 1] + k] -= pull * (q[k] - p[k]) / l;
        }
    }
}

static tw_simulation *simulate(const net *n, bool cubic)
{
    tw_model *model = NULL;
    tw_simulation *simulation = NULL;
    ck_assert_int_eq(tw_model_create(&model, NULL), TW_OK);
    ck_assert_int_eq(tw_model_add_particles(model, PARTICLES, n->x, NULL, n->mass, NULL, NULL),
                     TW_OK);
    ck_assert_int_eq(tw_model_pin(model, 100, 199, NULL), TW_OK);
    tw_status status =
        cubic ? tw_model_add_cubic_springs(model, SPRINGS, n->ends, n->stiffness, n->cubic,
                                           n->rest_length, NULL)
              : tw_model_add_springs(model, SPRINGS, n->ends, n->stiffness, n->rest_length, NULL);
    ck_assert_int_eq(status, TW_OK);
    ck_assert_int_eq(tw_simulation_of_model(model, &simulation, NULL), TW_OK);
    return simulation;
}

static tw_status accelerate(tw_simulation *simulation, int threads, double *a)
{
    const tw_second_order_problem *p = tw_simulation_second_order(simulation);
    const double *x = tw_simulation_start(simulation);
    tw_set_threads(threads);
    tw_status status = p->acceleration(p->context, 0, x, x + p->space.local_size, a);
    tw_set_threads(0);
    return status;
}

START_TEST(the_force_is_the_plain_sum)
{
    bool cubic = _i % 2;
    net *n = new_net(reaches[_i / 2]);
    tw_simulation *simulation = simulate(n, cubic);
    static double a[3 * PARTICLES];
    plain_force(n, cubic);
    ck_assert_int_eq(accelerate(simulation, 1, a), TW_OK);

    /* The particles 100 to 199 are held. */
    double most = 0;
    for (int64_t i = 0; i < PARTICLES; i++) {
        int64_t unknown = i < 100 ? i : i - 100;
        for (int k = 0; k < 3 && (i < 100 || i > 199); k++)
            most = fmax(most, fabs(a[3 * unknown + k] - n->force[3 * i + k] / n->mass[i]));
    }
    ck_assert_double_lt(most, 1e-12);
    tw_simulation_free(simulation);
    free(n);
}
END_TEST

START_TEST(threads_change_no_bit)
{
    static double one[3 * PARTICLES], many[3 * PARTICLES];
    net *n = new_net(reaches[_i]);
    tw_simulation *simulation = simulate(n, false);
    ck_assert_int_eq(accelerate(simulation, 1, one), TW_OK);
    for (int threads = 2; threads < 9; threads++) {
        ck_assert_int_eq(accelerate(simulation, threads, many), TW_OK);
        ck_assert_int_eq(memcmp(one, many, sizeof one), 0);
    }
    tw_simulation_free(simulation);
    free(n);
}
END_TEST

/* Every one of the last springs, which are evaluated one by one, and some of the others. */
START_TEST(a_spring_without_length_is_refused)
{
    static double a[3 * PARTICLES];
    net *n = new_net(40);
    int64_t e = SPRINGS - 1 - 997 * _i;
    memcpy(n->x + 3 * n->ends[2 * e], n->x + 3 * n->ends[2 * e + 1], 3 * sizeof(double));
    n->rest_length[e] = 0.5;
    tw_simulation *simulation = simulate(n, false);
    ck_assert_int_eq(accelerate(simulation, 1, a), TW_RECOVERABLE);
    tw_simulation_free(simulation);

    /* A spring without rest length pulls with zero. */
    n->rest_length[e] = 0;
    simulation = simulate(n, false);
    ck_assert_int_eq(accelerate(simulation, 1, a), TW_OK);
    for (int64_t i = 0; i < 3 * (PARTICLES - 100); i++) ck_assert(isfinite(a[i]));
    tw_simulation_free(simulation);
    free(n);
}
END_TEST

START_TEST(the_order_is_a_permutation_by_lower_ends)
{
    net *n = new_net(700);
    int64_t *order = calloc(SPRINGS, sizeof *order);
    bool *seen = calloc(SPRINGS, sizeof *seen);
    ck_assert(order && seen);
    ck_assert_int_eq(tw_spring_order(SPRINGS, n->ends, order), TW_OK);

    /* Groups of sixteen lower ends ascend. */
    int64_t group = 0;
    for (int64_t e = 0; e < SPRINGS; e++) {
        const int64_t *end = n->ends + 2 * order[e];
        int64_t own = (end[0] < end[1] ? end[0] : end[1]) / 16;
        ck_assert_int_ge(own, group);
        ck_assert(!seen[order[e]]);
        seen[order[e]] = true;
        group = own;
    }
    free(order);
    free(seen);
    free(n);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("spring_parts");
    TCase *all = tcase_create("springs in parts");
    tcase_add_loop_test(all, the_force_is_the_plain_sum, 0, 6);
    tcase_add_loop_test(all, threads_change_no_bit, 0, 3);
    tcase_add_loop_test(all, a_spring_without_length_is_refused, 0, 10);
    tcase_add_test(all, the_order_is_a_permutation_by_lower_ends);
    suite_add_tcase(suite, all);
    return run_suite(suite);
}
