#include "support/damped_cases.h"

#include <math.h>
#include <stdlib.h>

const char *damped_case_name(int number)
{
#define NAME_OF(name, text) text,
    static const char *const names[] = {DAMPED_CASE_LIST(NAME_OF)};
#undef NAME_OF
    return names[number % DAMPED_CASE_KINDS];
}

static bool happens(test_random *random, double probability)
{
    return test_random_unit(random) < probability;
}

/* Adds a spring of stiffness k between i and j, to the ground where j is outside of 0 .. n - 1. */
static void add_spring(test_matrix *K, int i, int j, double k)
{
    int n = K->n;
    K->A[i * n + i] += k;
    if (j < 0 || j >= n) return;
    K->A[j * n + j] += k;
    K->A[i * n + j] -= k;
    K->A[j * n + i] -= k;
}

/* A chain with one to three decades of stiffness, held at one end or at both, or free. Some chains
 * have springs that push: the tangent of a buckled body. */
static void make_stiffness(test_random *random, test_matrix *K)
{
    double decades = happens(random, 0.4) ? test_random_between(random, 1, 6) : 0;
    bool buckled = happens(random, 0.15);
    bool held = happens(random, 0.9);
    for (int i = 0; i < K->n; i++) {
        double k = pow(10, -decades * test_random_unit(random));
        if (buckled && happens(random, 0.2)) k = -0.1 * k;
        if (i + 1 < K->n || happens(random, 0.5)) add_spring(K, i, i + 1, k);
    }
    if (held) add_spring(K, 0, -1, 1);

    /* Now and then a few springs between distant masses fill the matrix. */
    if (K->n < 3 || !happens(random, 0.3)) return;
    for (int i = 0; i < K->n; i++) {
        int other = test_random_integer(random, 0, K->n - 1);
        if (other != i) add_spring(K, i, other, pow(10, -decades * test_random_unit(random)));
    }
}

static void make_masses(test_random *random, phi_case *c)
{
    double choice = test_random_unit(random);
    if (choice < 0.5) return;
    if (choice < 0.85) {
        double decades = test_random_between(random, 0.3, 3);
        c->lumped = test_doubles(c->n);
        for (int i = 0; i < c->n; i++) c->lumped[i] = pow(10, -decades * test_random_unit(random));
        return;
    }
    c->consistent = true;
    for (int i = 0; i < c->n; i++) {
        double length = test_random_between(random, 0.1, 0.4);
        c->mass.A[i * c->n + i] += 2 * length;
        if (i + 1 == c->n) break;
        c->mass.A[(i + 1) * c->n + i + 1] += 2 * length;
        c->mass.A[(i + 1) * c->n + i] = c->mass.A[i * c->n + i + 1] = length;
    }
    test_matrix_invert(&c->mass);
}

/* D in units of `strength`. */
static void make_dashpots(test_random *random, damped_case_kind kind, test_matrix *D,
                          double strength)
{
    int few = test_random_integer(random, 1, 3);
    for (int i = 0; i < D->n; i++) {
        double d = strength * test_random_unit(random);
        int any = test_random_integer(random, 0, D->n - 1);
        if (kind == DAMPED_AT_FEW && i < few) add_spring(D, any, -1, d);
        if (kind == DAMPED_AT_ALL) add_spring(D, i, -1, d);
        if (kind == DAMPED_ALONG_SPRINGS || kind == DAMPED_AND_TURNED) add_spring(D, i, i + 1, d);
        if (kind == DAMPED_ALONG_FEW && i < few) add_spring(D, any, any + 1, d);
        if (kind == DAMPED_AT_RANDOM)
            for (int j = 0; j < few; j++) {
                int other = test_random_integer(random, 0, D->n);
                if (other != i) add_spring(D, i, other, d);
            }
    }
    if (kind != DAMPED_AND_TURNED) return;
    for (int i = 0; i + 1 < D->n; i++) {
        double g = strength * test_random_normal(random);
        D->A[i * D->n + i + 1] += g;
        D->A[(i + 1) * D->n + i] -= g;
    }
}

/* sqrt of the largest row sum of |M^-1 K|, or that of |M^-1 D| itself: no eigenvalue is larger. */
static double largest_row(const phi_case *c, const test_matrix *K)
{
    double largest = 0;
    for (int i = 0; i < c->n; i++) {
        double sum = 0;
        for (int j = 0; j < c->n; j++) sum += fabs(K->A[j * c->n + i]);
        double mass = c->lumped ? c->lumped[i] : 1;
        if (c->consistent) mass = 0.1;
        largest = fmax(largest, sum / mass);
    }
    return largest;
}

/* Sparse, dense, zero, huge and tiny start vectors. */
static void make_vectors(test_random *random, phi_case *c, double omega)
{
    static const double units[] = {1, 1, 1, 1, 1, 1, 1e100, 1e-100, 1e-8, 1e8};
    double unit = units[test_random_integer(random, 0, 9)];
    double x_size = happens(random, 0.5) ? 1 / omega : test_random_log_between(random, 1e-4, 1e4);
    bool x_only = happens(random, 0.2);
    bool v_only = !x_only && happens(random, 0.2);
    for (int k = 0; k <= c->request.order; k++) {
        if (happens(random, 0.15) && k < c->request.order) continue;
        double *v = c->vectors[k] = test_doubles(2 * (int64_t)c->n);
        double scale = unit * test_random_log_between(random, 1e-2, 1e2);
        bool single = happens(random, 0.2);
        bool smooth = !single && happens(random, 0.3);
        int chosen = test_random_integer(random, 0, c->n - 1);
        for (int i = 0; i < 2 * c->n; i++) {
            bool is_x = i < c->n;
            double value = test_random_normal(random);
            if (smooth) value = sin(3.1 * (i % c->n + 1) / (c->n + 1));
            if (single && i % c->n != chosen) value = 0;
            if ((is_x && v_only) || (!is_x && x_only)) value = 0;
            v[i] = scale * (is_x ? x_size : 1) * value;
        }
    }
    c->request.vectors = (const double *const *)c->vectors;
}

static void make_operator(phi_case *c)
{
    c->second = (tw_second_order){.stiffness = test_matrix_operator(&c->A, TW_SYMMETRIC),
                                  .lumped_mass = c->lumped};
    phi_case_connect(c);
}

/* The strength of the damping is `ratio`, in units of critical damping of the fastest mode. */
static double make_damping(test_random *random, phi_case *c, damped_case_kind kind, double omega)
{
    double ratio = test_random_log_between(random, 1e-2, 1e4);
    c->kind = kind <= DAMPED_BY_BOTH ? PHI_CASE_PAIR_RAYLEIGH : PHI_CASE_PAIR_DAMPED;
    if (kind == DAMPED_BY_MASS || kind == DAMPED_BY_BOTH) c->second.rayleigh_mass = ratio * omega;
    if (kind == DAMPED_BY_STIFFNESS) c->second.rayleigh_stiffness = ratio / omega;
    if (kind == DAMPED_BY_BOTH)
        c->second.rayleigh_stiffness = test_random_log_between(random, 1e-2, 1e3) / omega;
    if (kind <= DAMPED_BY_BOTH)
        return c->second.rayleigh_mass + c->second.rayleigh_stiffness * omega * omega;

    make_dashpots(random, kind, &c->damping, ratio * omega);
    c->damping_operator = test_matrix_operator(&c->damping, TW_SYMMETRIC);
    if (kind == DAMPED_AND_TURNED) c->damping_operator.symmetry = TW_GENERAL;
    c->second.damping = &c->damping_operator;
    return largest_row(c, &c->damping);
}

static int random_size(test_random *random, int largest)
{
    double u = test_random_unit(random);
    int n =
        u < 0.7 ? test_random_integer(random, 2, 10) : (int)test_random_log_between(random, 10, 60);
    if (u > 0.97) n = (int)test_random_log_between(random, 60, 601);
    return n < largest ? n : largest;
}

void damped_case_make(int number, int largest, phi_case *c)
{
    test_random random = {0x5EA2C4u + (uint64_t)number * 0x2545F4914F6CDD1Du};
    damped_case_kind kind = (damped_case_kind)(number % DAMPED_CASE_KINDS);
    *c = (phi_case){.number = number, .second_order = true};
    c->n = random_size(&random, largest);
    c->A = test_matrix_new(c->n);
    c->mass = test_matrix_new(c->n);
    c->damping = test_matrix_new(c->n);
    make_stiffness(&random, &c->A);
    make_masses(&random, c);
    make_operator(c);

    /* Times from a small part of the fastest motion to a thousand of it; backwards in a quarter. */
    double omega = sqrt(largest_row(c, &c->A));
    double decay = make_damping(&random, c, kind, omega);
    c->size = omega;
    c->reach = test_random_log_between(&random, 1e-2, 1500);
    c->request.time = c->reach / (omega + decay);
    if (happens(&random, 0.25)) c->request.time = -c->request.time;
    c->request.order = test_random_integer(&random, 0, PHI_CASE_VECTORS - 2);
    c->request.node_count = test_random_integer(&random, 1, 3);
    c->request.nodes = c->nodes;
    c->nodes[0] = 1;
    for (int i = 1; i < 3; i++) c->nodes[i] = test_random_between(&random, 0.02, 1);
    make_vectors(&random, c, omega);
    c->tolerance = test_random_log_between(&random, 1e-12, 1e-3);
    if (number % 5 == 4) c->tolerance = test_random_log_between(&random, 1e-3, 0.1);
    c->inner_product = happens(&random, 0.3) ? TW_INNER_ENERGY : TW_INNER_SCALED;
}
