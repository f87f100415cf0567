/* Contact pairs: distances against a search, gradients and Hessians against differences,
 * across the onset of the repulsion, inside the surface and near parallel edges. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "contact/contact_pair.h"
#include "support/run_suite.h"

enum { N = TW_PAIR_SIZE };

static const char *const kind_names[] = {"point-triangle", "edge-edge", "point-edge",
                                         "point-plane"};

/* Uniform in [-1, 1], the same every time. */
static double random_number(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (double)(*state >> 11) / 4503599627370496.0 - 1.0;
}

static void random_vertices(uint64_t *state, double x[4][3])
{
    for (int i = 0; i < N; i++) x[i / 3][i % 3] = random_number(state);
}

/* A triangle that is far from thin, so that differences see its plane turn smoothly. */
static void round_triangle(double x[4][3])
{
    static const double round[3][3] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}};
    for (int i = 0; i < 9; i++)
        x[1 + i / 3][i % 3] = round[i / 3][i % 3] + 0.2 * x[1 + i / 3][i % 3];
}

/* ---- distances ---- */

/* The smallest distance over a grid of barycentric coordinates. */
static double searched_distance(tw_pair_kind kind, const double x[4][3], int steps)
{
    double best = INFINITY;
    for (int i = 0; i <= steps; i++)
        for (int j = 0; j <= steps; j++) {
            double s = (double)i / steps;
            double t = (double)j / steps;
            double w[4] = {1 - s, s, -(1 - t), -t};
            if (kind == TW_PAIR_POINT_TRIANGLE) {
                if (s + t > 1) continue;
                double triangle[4] = {1, -(1 - s - t), -s, -t};
                memcpy(w, triangle, sizeof w);
            }
            if (kind == TW_PAIR_POINT_EDGE) {
                double edge[4] = {1, -(1 - s), -s, 0};
                memcpy(w, edge, sizeof w);
            }
            double square = 0;
            for (int k = 0; k < 3; k++) {
                double d = 0;
                for (int v = 0; v < 4; v++) d += w[v] * x[v][k];
                square += d * d;
            }
            best = fmin(best, sqrt(square));
        }
    return best;
}

START_TEST(distances_are_the_smallest)
{
    uint64_t seed = 1;
    for (int n = 0; n < 150; n++) {
        double x[4][3];
        tw_gap gap;
        tw_pair_kind kind = (tw_pair_kind)(n % 3);
        random_vertices(&seed, x);
        ck_assert(tw_gap_find(kind, x, &gap));
        double searched = searched_distance(kind, x, 100);

        /* The grid misses the minimum by at most one of its cells. */
        ck_assert_msg(gap.distance <= searched + 1e-14 && gap.distance >= searched - 0.05,
                      "%s %d: %g, searched %g", kind_names[kind], n, gap.distance, searched);
    }
}
END_TEST

START_TEST(parallel_edges_have_their_distance)
{
    /* Parallel edges at a distance of 1 in every overlap, up to rounding of their direction. */
    for (int n = 0; n < 40; n++) {
        double shift = -1.5 + 0.075 * n;
        double tilt = n % 2 ? 0.0 : 1e-12;
        const double x[4][3] = {{0, 0, 0}, {1, 0, 0}, {shift, 1, 0}, {shift + 1, 1, tilt}};
        double beyond = fmax(fabs(shift) - 1, 0);
        tw_gap gap;
        ck_assert(tw_gap_find(TW_PAIR_EDGE_EDGE, x, &gap));
        ck_assert_double_eq_tol(gap.distance, sqrt(1 + beyond * beyond), 1e-12);
    }
}
END_TEST

START_TEST(meeting_primitives_are_reported)
{
    const double x[4][3] = {{0.25, 0.25, 0}, {0, 0, 0}, {1, 0, 0}, {0, 1, 0}};
    tw_gap gap;
    ck_assert(!tw_gap_find(TW_PAIR_POINT_TRIANGLE, x, &gap));
    ck_assert_double_eq(gap.distance, 0);
}
END_TEST

/* ---- derivatives ---- */

/* A pair whose gap at x is this share of the onset distance. */
static tw_contact_pair pair_at(tw_pair_kind kind, const double x[4][3], double share)
{
    tw_gap gap;
    tw_gap_find(kind, x, &gap);
    double onset = 0.3;
    return (tw_contact_pair){.kind = kind,
                             .vertex = {0, 1, 2, 3},
                             .radius = gap.distance - share * onset,
                             .law = {onset, 7.0},
                             .parallel = 1e-3};
}

typedef struct sample {
    tw_contact_pair pair;
    double x[4][3];
} sample;

static double energy_of(const sample *s)
{
    tw_pair_state state;
    tw_pair_evaluate(&s->pair, s->x, TW_PAIR_ENERGY, &state);
    return state.active ? state.energy : 0;
}

static void gradient_of(const sample *s, double gradient[N])
{
    tw_pair_state state;
    memset(gradient, 0, N * sizeof *gradient);
    tw_pair_evaluate(&s->pair, s->x, TW_PAIR_GRADIENT, &state);
    if (state.active) memcpy(gradient, state.gradient, sizeof state.gradient);
}

/* A column of the derivative of the gradient by *value, by central differences with this step. */
static void difference_column(sample *s, double step, double *value, double column[N])
{
    double kept = *value;
    double ahead[N];
    double behind[N];
    *value = kept + step;
    gradient_of(s, ahead);
    *value = kept - step;
    gradient_of(s, behind);
    *value = kept;
    for (int r = 0; r < N; r++) column[r] = (ahead[r] - behind[r]) / (2 * step);
}

/* The largest error of the Hessian, relative to its largest entry. */
static double hessian_error(sample *s, double step)
{
    tw_pair_state state;
    tw_pair_evaluate(&s->pair, s->x, TW_PAIR_HESSIAN, &state);
    double hessian[N * N] = {0};
    if (state.active) memcpy(hessian, state.hessian, sizeof hessian);
    double error = 0;
    double size = s->pair.law.stiffness;
    for (int c = 0; c < N; c++) {
        double column[N];
        difference_column(s, step, &s->x[c / 3][c % 3], column);
        for (int r = 0; r < N; r++) {
            size = fmax(size, fabs(hessian[N * r + c]));
            error = fmax(error, fabs(column[r] - hessian[N * r + c]));
        }
    }
    return error / size;
}

static double gradient_error(sample *s)
{
    double gradient[N];
    gradient_of(s, gradient);
    double error = 0;
    double step = 1e-7;
    for (int c = 0; c < N; c++) {
        double *value = &s->x[c / 3][c % 3];
        double kept = *value;
        *value = kept + step;
        double ahead = energy_of(s);
        *value = kept - step;
        double behind = energy_of(s);
        *value = kept;
        error = fmax(error, fabs((ahead - behind) / (2 * step) - gradient[c]));
    }
    return error;
}

START_TEST(hessians_agree_with_differences)
{
    /* Inside the surface, at its surface, in the layer, across the onset, beyond it. */
    static const double shares[] = {-0.4, 0.0, 0.3, 0.9, 1.0 - 1e-7, 1.0 + 1e-7, 1.5};
    tw_pair_kind kind = (tw_pair_kind)_i;
    uint64_t seed = 7;
    int far = 0;
    for (int n = 0; n < 60; n++) {
        sample s = {0};
        random_vertices(&seed, s.x);
        if (kind == TW_PAIR_POINT_PLANE) round_triangle(s.x);
        for (size_t k = 0; k < sizeof shares / sizeof *shares; k++) {
            s.pair = pair_at(kind, s.x, shares[k]);
            ck_assert_double_lt(gradient_error(&s), 1e-7);

            /* A difference that steps over a change of the closest feature is no reference. */
            if (hessian_error(&s, 1e-6) > 1e-4) far++;
        }
    }
    ck_assert_msg(far <= 1, "%s: %d of 420 Hessians are off", kind_names[kind], far);
}
END_TEST

START_TEST(nearly_parallel_edges_are_smooth)
{
    uint64_t seed = 3;
    for (int n = 0; n < 100; n++) {
        /* Angles from 1e-9 to 0.1: on both sides of the blend's end. */
        double angle = pow(10, -9 + 8.0 * (n % 20) / 19);
        double shift = 0.3 * random_number(&seed);
        sample s = {.x = {{0, 0, 0}, {1, 0, 0}, {shift, 0, 0.5}, {0, 0, 0}}};
        s.x[3][0] = shift + cos(angle);
        s.x[3][1] = sin(angle);
        s.x[3][2] = 0.5;
        s.x[2][1] = -0.3 * sin(angle) * random_number(&seed);
        s.pair = pair_at(TW_PAIR_EDGE_EDGE, s.x, 0.4);
        ck_assert_double_lt(gradient_error(&s), 1e-4);

        tw_pair_state state;
        tw_pair_evaluate(&s.pair, s.x, TW_PAIR_HESSIAN, &state);
        for (int i = 0; i < N * N; i++) ck_assert(isfinite(state.hessian[i]));

        /* The closest points move by D dx / angle^2, so that only small steps give a derivative. Below
         * 3e-5 the differences are rounding errors. */
        double error = hessian_error(&s, fmax(1e-3 * angle * angle, 1e-11));
        if (angle > 3e-5) ck_assert_msg(error < 1e-5, "angle %g: Hessian off by %g", angle, error);
    }
}
END_TEST

/* The force passes smoothly through parallel: no jump between two directions of the crossing. */
START_TEST(force_is_continuous_through_parallel)
{
    double before[N] = {0};
    double largest = 0;
    for (int n = -2000; n <= 2000; n++) {
        double angle = 1e-5 * n;
        sample s = {.x = {{0, 0, 0}, {1, 0, 0}, {0.2, 0, 0.5}, {0, 0, 0.5}}};
        s.x[3][0] = 0.2 + cos(angle);
        s.x[3][1] = sin(angle);
        s.pair = pair_at(TW_PAIR_EDGE_EDGE, s.x, 0.4);
        s.pair.radius = 0.38;
        double gradient[N];
        gradient_of(&s, gradient);
        for (int i = 0; i < N && n > -2000; i++)
            largest = fmax(largest, fabs(gradient[i] - before[i]));
        memcpy(before, gradient, sizeof before);
    }

    /* A jump would be as large as the force itself, which is about 1 N. */
    ck_assert_double_lt(largest, 0.004);
}
END_TEST

/* Action and reaction: the gradients of a pair add up to nothing. */
START_TEST(pairs_keep_momentum)
{
    uint64_t seed = 5;
    for (int n = 0; n < 400; n++) {
        sample s = {0};
        random_vertices(&seed, s.x);
        s.pair = pair_at((tw_pair_kind)(n % 4), s.x, 0.2);
        double gradient[N];
        double total[3] = {0};
        gradient_of(&s, gradient);
        for (int i = 0; i < N; i++) total[i % 3] += gradient[i];
        for (int k = 0; k < 3; k++) ck_assert_double_eq_tol(total[k], 0, 1e-12);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("contact geometry");
    TCase *distances = tcase_create("distances");
    tcase_add_test(distances, distances_are_the_smallest);
    tcase_add_test(distances, parallel_edges_have_their_distance);
    tcase_add_test(distances, meeting_primitives_are_reported);
    suite_add_tcase(suite, distances);

    TCase *derivatives = tcase_create("derivatives");
    tcase_add_loop_test(derivatives, hessians_agree_with_differences, 0, 4);
    tcase_add_test(derivatives, nearly_parallel_edges_are_smooth);
    tcase_add_test(derivatives, force_is_continuous_through_parallel);
    tcase_add_test(derivatives, pairs_keep_momentum);
    suite_add_tcase(suite, derivatives);

    return run_suite(suite);
}
