#include "support/force_checks.h"

#include <check.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <twang/parallel.h>

#include "support/random.h"
#include "support/test_matrix.h"

typedef const tw_second_order_problem problem;

/* A point in state space, and a direction. */
typedef struct point {
    const char *name;
    problem *p;
    int64_t n;
    double t, step, tolerance, *x, *v, *e, *moved, *low, *high, *out, *other;
} point;

static void check_ok(const point *a, tw_status status, const char *what)
{
    ck_assert_msg(status == TW_OK, "%s: %s: %s", a->name, what, tw_status_text(status));
}

static point new_point(const force_check *check, tw_simulation *simulation)
{
    problem *p = tw_simulation_second_order(simulation);
    int64_t n = p->space.local_size;
    point a = {.name = check->name,
               .p = p,
               .n = n,
               .t = 0.37,
               .step = check->step,
               .tolerance = check->matrix_tolerance};
    double **arrays[] = {&a.x, &a.v, &a.e, &a.moved, &a.low, &a.high, &a.out, &a.other};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) *arrays[i] = test_doubles(3 * n);
    test_random random = {.state = check->seed};
    double disturbance = check->disturbance;
    const double *start = tw_simulation_start(simulation);
    for (int64_t i = 0; i < n; i++) {
        a.x[i] =
            (check->x ? check->x : start)[i] + disturbance * test_random_between(&random, -1, 1);
        a.v[i] = start[n + i] + disturbance * test_random_between(&random, -1, 1);
    }
    for (int64_t i = 0; i < 3 * n; i++) a.e[i] = test_random_between(&random, -1, 1);
    return a;
}

static void free_point(point *a)
{
    double *arrays[] = {a->x, a->v, a->e, a->moved, a->low, a->high, a->out, a->other};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) free(arrays[i]);
}

static double norm(int64_t n, const double *x)
{
    double sum = 0;
    for (int64_t i = 0; i < n; i++) sum += x[i] * x[i];
    return sqrt(sum);
}

static double distance(int64_t n, const double *x, const double *y)
{
    double sum = 0;
    for (int64_t i = 0; i < n; i++) sum += (x[i] - y[i]) * (x[i] - y[i]);
    return sqrt(sum);
}

/* moved = at + s e. */
static const double *move(const point *a, const double *at, double s)
{
    for (int64_t i = 0; i < a->n; i++) a->moved[i] = at[i] + s * a->e[i];
    return a->moved;
}

static double mass_of(const point *a, int64_t i)
{
    return a->p->lumped_mass ? a->p->lumped_mass[i] : 1.0;
}

/* Central differences of f = M a, fourth order: out = [8 (f(s) - f(-s)) - (f(2s) - f(-2s))] / 12s. */
typedef enum along { ALONG_X, ALONG_V, ALONG_T } along;

static void force_at(const point *a, along which, double s, double *f)
{
    const double *x = which == ALONG_X ? move(a, a->x, s) : a->x;
    const double *v = which == ALONG_V ? move(a, a->v, s) : a->v;
    double t = which == ALONG_T ? a->t + s : a->t;
    check_ok(a, a->p->acceleration(a->p->context, t, x, v, f), "acceleration");
    for (int64_t i = 0; i < a->n; i++) f[i] *= mass_of(a, i);
}

static void difference(const point *a, along which, double s, double *out)
{
    static const double factor[4] = {-1, 8, -8, 1}, place[4] = {2, 1, -1, -2};
    memset(out, 0, (size_t)a->n * sizeof *out);
    for (int j = 0; j < 4; j++) {
        force_at(a, which, place[j] * s, a->low);
        for (int64_t i = 0; i < a->n; i++) out[i] += factor[j] / (12 * s) * a->low[i];
    }
}

/* e . f at rest, of the forces that feed energy: half the change of their power from v = -s e to v = s e, over s. */
static double feeding_along(const point *a)
{
    const double s = 1e-4;
    double power[2] = {0, 0};
    if (!a->p->outside_power) return 0;
    for (int side = 0; side < 2; side++) {
        for (int64_t i = 0; i < a->n; i++) a->other[i] = (side ? s : -s) * a->e[i];
        check_ok(a, a->p->outside_power(a->p->context, a->t, a->x, a->other, &power[side]),
                 "power");
    }
    return (power[1] - power[0]) / (2 * s);
}

static void check_energy(const point *a)
{
    if (!a->p->energy) return;
    double feeding = feeding_along(a);
    double s = a->step, kinetic, value[4], slope = 0;
    static const double place[4] = {2, 1, -1, -2};
    for (int j = 0; j < 4; j++)
        check_ok(a,
                 a->p->energy(a->p->context, a->t, move(a, a->x, place[j] * s), a->v, &kinetic,
                              &value[j]),
                 "energy");
    double difference = (8 * (value[1] - value[2]) - (value[0] - value[3])) / (12 * s);
    /* friction is no part of the energy: f at v = 0 where that changes anything */
    memset(a->other, 0, (size_t)a->n * sizeof(double));
    const double *v = a->p->velocity_dependent ? a->other : a->v;
    check_ok(a, a->p->acceleration(a->p->context, a->t, a->x, v, a->out), "acceleration");
    double size = 0;
    for (int64_t i = 0; i < a->n; i++) {
        slope -= mass_of(a, i) * a->out[i] * a->e[i];
        size += fabs(mass_of(a, i) * a->out[i] * a->e[i]);
    }
    if (a->p->velocity_dependent && a->p->time_dependent) return; /* moved particles still slide */
    slope += feeding;
    ck_assert_msg(fabs(difference - slope) <= 1e-6 * fmax(fabs(slope), 1e-2 * size),
                  "%s: energy %.10g %.10g", a->name, difference, slope);
}

static void check_against(const point *a, const char *what, double sign, const double *product)
{
    for (int64_t i = 0; i < a->n; i++) a->high[i] *= sign;
    double error = distance(a->n, a->high, product), size = norm(a->n, product);
    double rounding = 100 * DBL_EPSILON * norm(a->n, a->low) / a->step; /* low is still a force */
    ck_assert_msg(error <= 1e-6 * size + rounding, "%s: %s differs by %g of %g", a->name, what,
                  error, size);
}

static void check_stiffness(const point *a)
{
    check_ok(a, a->p->linearise(a->p->context, a->t, a->x, a->v), "linearise");
    check_ok(a, a->p->apply_stiffness(a->p->context, 1, a->e, a->out), "product");
    difference(a, ALONG_X, a->step, a->high);
    check_against(a, "K", -1.0, a->out);
}

static void check_damping(const point *a)
{
    if (!a->p->velocity_dependent) return;
    check_ok(a, a->p->linearise(a->p->context, a->t, a->x, a->v), "linearise");
    check_ok(a, a->p->apply_damping(a->p->context, 1, a->e, a->out), "damping");
    difference(a, ALONG_V, 1e-4, a->high);
    check_against(a, "D", -1.0, a->out);
}

static void check_time(const point *a)
{
    if (!a->p->time_dependent) return;
    check_ok(a, a->p->time_derivative(a->p->context, a->t, a->x, a->v, a->out), "time derivative");
    for (int64_t i = 0; i < a->n; i++) a->out[i] *= mass_of(a, i);
    difference(a, ALONG_T, 1e-4, a->high);
    check_against(a, "a_t", 1.0, a->out);
}

static void check_blocks(const point *a, tw_apply_function *apply)
{
    check_ok(a, apply(a->p->context, 3, a->e, a->out), "block product");
    for (int c = 0; c < 3; c++) {
        check_ok(a, apply(a->p->context, 1, a->e + c * a->n, a->other), "product");
        double error = distance(a->n, a->other, a->out + c * a->n), size = norm(a->n, a->other);
        ck_assert_msg(error <= 1e-14 * size, "%s: a block differs by %g of %g", a->name, error,
                      size);
    }
}

static tw_apply_function *symmetric_of(problem *p)
{
    return p->symmetric_part.apply ? p->symmetric_part.apply : p->apply_stiffness;
}

static void check_matrix(const point *a)
{
    check_ok(a, a->p->linearise(a->p->context, a->t, a->x, a->v), "linearise");
    check_blocks(a, a->p->apply_stiffness);
    check_blocks(a, symmetric_of(a->p));
    if (a->p->apply_damping) check_blocks(a, a->p->apply_damping);
    check_ok(a, symmetric_of(a->p)(a->p->context, 2, a->e, a->out), "symmetric product");
    check_ok(a, a->p->assemble(a->p->context, a->p->stiffness_matrix), "assemble");
    check_ok(a, tw_sparse_apply(a->p->stiffness_matrix, 1, a->e, a->other), "matrix");
    double size = norm(a->n, a->out);
    ck_assert_msg(distance(a->n, a->out, a->other) <= a->tolerance * size, "%s: matrix", a->name);
    double one = 0, two = 0, scale = 0;
    for (int64_t i = 0; i < a->n; i++) {
        one += a->e[a->n + i] * a->out[i];
        two += a->e[i] * a->out[a->n + i];
        scale += fabs(a->e[a->n + i] * a->out[i]);
    }
    ck_assert_msg(fabs(one - two) <= fmax(1e-13, a->tolerance) * scale, "%s: not symmetric",
                  a->name);
}

/* e . (matrix of D) e = e . D e: the matrix holds D's symmetric part. */
static void check_damping_matrix(const point *a)
{
    if (!a->p->add_damping) return;
    tw_sparse *matrix = a->p->stiffness_matrix;
    check_ok(a, a->p->linearise(a->p->context, a->t, a->x, a->v), "linearise");
    check_ok(a, a->p->assemble(a->p->context, matrix), "assemble");
    check_ok(a, tw_sparse_apply(matrix, 1, a->e, a->low), "matrix");
    check_ok(a, a->p->add_damping(a->p->context, 0.7, matrix), "damping matrix");
    check_ok(a, tw_sparse_apply(matrix, 1, a->e, a->high), "matrix");
    check_ok(a, a->p->apply_damping(a->p->context, 1, a->e, a->out), "damping");
    double form = 0, expected = 0, size = 0;
    for (int64_t i = 0; i < a->n; i++) {
        form += a->e[i] * (a->high[i] - a->low[i]) / 0.7;
        expected += a->e[i] * a->out[i];
        size += fabs(a->e[i] * a->high[i]) + fabs(a->e[i] * a->out[i]);
    }
    ck_assert_msg(fabs(form - expected) <= 1e-12 * size, "%s: damping matrix %g, product %g",
                  a->name, form, expected);
}

void force_check_derivatives(const force_check *check, tw_simulation *simulation)
{
    point a = new_point(check, simulation);
    check_energy(&a);
    check_stiffness(&a);
    check_damping(&a);
    check_time(&a);
    check_matrix(&a);
    if (check->damping_matrix) check_damping_matrix(&a);
    free_point(&a);
}

void force_check_momentum(const char *name, tw_simulation *simulation)
{
    force_check check = {.name = name, .disturbance = 0.05, .seed = 5};
    point a = new_point(&check, simulation);
    double *u = test_doubles(2 * a.n), scale = 0;
    memcpy(u, a.x, (size_t)a.n * sizeof *u);
    check_ok(&a, a.p->acceleration(a.p->context, a.t, a.x, a.v, u + a.n), "acceleration");
    for (int64_t i = 0; i < a.n; i++) scale += fabs(mass_of(&a, i) * u[a.n + i]);
    tw_measurement
        m; /* with accelerations for velocities, momentum is force and angular momentum is torque */
    check_ok(&a, tw_simulation_measure(simulation, a.t, u, &m), "measure");
    for (int k = 0; k < 3; k++)
        ck_assert_msg(
            fabs(m.momentum[k]) <= 1e-13 * scale && fabs(m.angular_momentum[k]) <= 1e-13 * scale,
            "%s: force %g torque %g of %g", name, m.momentum[k], m.angular_momentum[k], scale);
    free(u);
    free_point(&a);
}

static void linearise(const point *a)
{
    if (a->p->linearise) check_ok(a, a->p->linearise(a->p->context, a->t, a->x, a->v), "linearise");
}

/* Everything the problem can compute, one after another. */
static int64_t compute_all(const point *a, tw_simulation *simulation, double *out)
{
    problem *p = a->p;
    int64_t n = a->n, used = 0, blocks = tw_sparse_row_start(p->stiffness_matrix)[n / 3];
    check_ok(a, p->acceleration(p->context, a->t, a->x, a->v, out), "acceleration");
    linearise(a);
    check_ok(a, p->apply_stiffness(p->context, 2, a->e, out + n), "product");
    check_ok(a, symmetric_of(p)(p->context, 2, a->e, out + 3 * n), "symmetric product");
    used = 5 * n;
    if (p->apply_damping) check_ok(a, p->apply_damping(p->context, 2, a->e, out + used), "damping");
    if (p->apply_damping) used += 2 * n;
    if (p->time_derivative)
        check_ok(a, p->time_derivative(p->context, a->t, a->x, a->v, out + used), "a_t");
    if (p->time_derivative) used += n;
    linearise(a);
    check_ok(a, p->assemble(p->context, p->stiffness_matrix), "assemble");
    if (p->add_damping)
        check_ok(a, p->add_damping(p->context, 0.3, p->stiffness_matrix), "damping matrix");
    memcpy(out + used, tw_sparse_values(p->stiffness_matrix), 9 * (size_t)blocks * sizeof *out);
    used += 9 * blocks;
    memcpy(a->other, a->x, (size_t)n * sizeof *out);
    memcpy(a->other + n, a->v, (size_t)n * sizeof *out);
    tw_measurement m;
    check_ok(a, tw_simulation_measure(simulation, a->t, a->other, &m), "measure");
    out[used++] = m.potential;
    out[used++] = m.kinetic;
    return used;
}

void force_check_threads(const force_check *check, tw_simulation *simulation)
{
    point a = new_point(check, simulation);
    int64_t blocks = tw_sparse_row_start(a.p->stiffness_matrix)[a.n / 3],
            room = 8 * a.n + 9 * blocks + 2;
    double *first = test_doubles(room), *other = test_doubles(room);
    static const int counts[] = {1, 2, 3, 8};
    int64_t used = 0;
    for (int i = 0; i < 4; i++) {
        tw_set_threads(counts[i]);
        used = compute_all(&a, simulation, i ? other : first);
        ck_assert_msg(i == 0 || memcmp(first, other, (size_t)used * sizeof *first) == 0,
                      "%s: %d threads", check->name, counts[i]);
    }
    tw_set_threads(0);
    free(first);
    free(other);
    free_point(&a);
}
