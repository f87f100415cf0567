/* The dense engine against committed values of mpmath (tools/make_phi_fixtures.py), and its calls on functions of the
 * spectrum. */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <twang/twang.h>

#include "support/fixture.h"
#include "support/phi_cases.h"
#include "support/random.h"
#include "support/run_suite.h"
#include "support/test_matrix.h"

enum { MAX_N = 8, MAX_VECTORS = 6, MAX_NODES = 4 };

/* One record of phi_dense.txt. */
typedef struct record {
    int order, n, symmetry, p, node_count, mass_kind;
    bool damped;
    test_matrix A, mass, damping;
    double lumped[MAX_N], alpha, beta, t, nodes[MAX_NODES];
    double vectors[MAX_VECTORS][2 * MAX_N], exact[MAX_NODES][2 * MAX_N];
} record;

static int read_integer(FILE *file)
{
    double value = 0;
    ck_assert(fixture_read(file, 1, &value));
    return (int)value;
}

static void read_second_order(FILE *file, record *r)
{
    r->mass_kind = read_integer(file);
    if (r->mass_kind == 1) fixture_read(file, r->n, r->lumped);
    if (r->mass_kind == 2) {
        fixture_read(file, r->n * r->n, r->mass.A);
        test_matrix_invert(&r->mass);
    }
    fixture_read(file, 1, &r->alpha);
    fixture_read(file, 1, &r->beta);
    r->damped = read_integer(file) == 1;
    if (r->damped) fixture_read(file, r->n * r->n, r->damping.A);
}

static bool read_record(FILE *file, record *r)
{
    double order = 0;
    if (!fixture_read(file, 1, &order)) return false;
    *r = (record){.order = (int)order, .n = read_integer(file), .symmetry = read_integer(file)};
    r->A = test_matrix_new(r->n);
    r->mass = test_matrix_new(r->n);
    r->damping = test_matrix_new(r->n);
    fixture_read(file, r->n * r->n, r->A.A);
    if (r->order == 2) read_second_order(file, r);
    fixture_read(file, 1, &r->t);
    r->p = read_integer(file);
    r->node_count = read_integer(file);
    fixture_read(file, r->node_count, r->nodes);
    for (int k = 0; k <= r->p; k++) fixture_read(file, r->order * r->n, r->vectors[k]);
    for (int i = 0; i < r->node_count; i++) fixture_read(file, r->order * r->n, r->exact[i]);
    return true;
}

static void free_record(record *r)
{
    test_matrix_free(&r->A);
    test_matrix_free(&r->mass);
    test_matrix_free(&r->damping);
}

/* Norm of one part in the promise of phi.h: Euclidean, or of the mass. */
static double part_norm(const record *r, const double *x)
{
    double sum = 0;
    for (int i = 0; i < r->n; i++) {
        double Mx = x[i];
        if (r->mass_kind == 1) Mx *= r->lumped[i];
        if (r->mass_kind == 2) {
            Mx = 0;
            for (int j = 0; j < r->n; j++) Mx += r->mass.A[j * r->n + i] * x[j];
        }
        sum += x[i] * Mx;
    }
    return sqrt(sum);
}

/* The largest relative error of a part, over all outputs. */
static double true_error(const record *r, double outputs[MAX_NODES][2 * MAX_N])
{
    double worst = 0;
    for (int i = 0; i < r->node_count; i++)
        for (int part = 0; part < r->order; part++) {
            double difference[MAX_N], size = 0, factorial = 1;
            for (int j = 0; j < r->n; j++)
                difference[j] = outputs[i][part * r->n + j] - r->exact[i][part * r->n + j];
            for (int k = 0; k <= r->p; k++) {
                size += part_norm(r, r->vectors[k] + part * r->n) / factorial;
                factorial *= k + 1;
            }
            size = fmax(size, part_norm(r, r->exact[i] + part * r->n));
            worst = fmax(worst, size > 0 ? part_norm(r, difference) / size : 0);
        }
    return worst;
}

static tw_phi_workspace *new_workspace(int n, bool second_order, double tolerance)
{
    tw_phi_limits limits = tw_phi_limits_default();
    limits.size = n;
    limits.second_order = second_order;
    limits.slots = 2;
    limits.options.engine = TW_PHI_DENSE;
    limits.options.tolerance = tolerance;
    tw_phi_workspace *workspace = NULL;
    ck_assert_int_eq(tw_phi_workspace_create(&limits, &workspace, NULL), TW_OK);
    return workspace;
}

static tw_status evaluate(record *r, double outputs[MAX_NODES][2 * MAX_N],
                          tw_phi_statistics *statistics)
{
    const double *vectors[MAX_VECTORS];
    double *pointers[MAX_NODES];
    for (int k = 0; k <= r->p; k++) vectors[k] = r->vectors[k];
    for (int i = 0; i < r->node_count; i++) pointers[i] = outputs[i];
    tw_phi_request request = {
        .time = r->t, .node_count = r->node_count, .nodes = r->nodes, .order = r->p};
    request.vectors = vectors;
    request.outputs = pointers;
    tw_phi_workspace *workspace = new_workspace(r->n, r->order == 2, 1e-10);
    tw_operator A = test_matrix_operator(&r->A, (tw_symmetry)r->symmetry),
                D = test_matrix_operator(&r->damping, 0);
    tw_mass_operator mass = test_matrix_mass(&r->mass);
    tw_second_order op = {.stiffness = A, .rayleigh_mass = r->alpha, .rayleigh_stiffness = r->beta};
    if (r->mass_kind == 1) op.lumped_mass = r->lumped;
    if (r->mass_kind == 2) op.mass = &mass;
    if (r->damped) op.damping = &D;
    tw_status status =
        r->order == 2 ? tw_phi_evaluate_second_order(workspace, &op, &request, statistics, NULL)
                      : tw_phi_evaluate(workspace, &A, &request, statistics, NULL);
    tw_phi_workspace_free(workspace);
    return status;
}

/* Accurate where the problem's condition allows, and the estimate covers the error without exaggerating. */
START_TEST(committed_values)
{
    FILE *file = fixture_open("phi_dense.txt");
    record r;
    int count = 0, accurate = 0;
    for (; read_record(file, &r); count++) {
        double outputs[MAX_NODES][2 * MAX_N];
        tw_phi_statistics statistics;
        tw_status status = evaluate(&r, outputs, &statistics);
        double error = true_error(&r, outputs), estimate = statistics.estimated_error;
        if (getenv("TWANG_PRINT"))
            printf("%3d order %d n %d symmetry %d t %-6g p %d: %-20s error %.1e estimate %.1e\n",
                   count, r.order, r.n, r.symmetry, r.t, r.p, tw_status_name(status), error,
                   estimate);
        ck_assert_msg(status == TW_OK || status == TW_ILL_CONDITIONED, "record %d: %s", count,
                      tw_status_name(status));
        ck_assert_int_eq(status == TW_OK, estimate <= 1e-10);
        ck_assert_msg(error <= 4 * estimate + 16 * DBL_EPSILON,
                      "record %d: error %.1e, estimate %.1e", count, error, estimate);
        ck_assert_int_eq(statistics.products, r.n);
        if (error <= 1e-13) accurate++;
        free_record(&r);
    }
    ck_assert_int_ge(count, 75);
    ck_assert_int_ge(accurate, 65);
    fclose(file);
}
END_TEST

/* A chain of unit springs with masses, for functions of the spectrum. */
typedef struct chain {
    test_matrix K, M;
    double lumped[MAX_N];
    tw_mass_operator mass;
    tw_second_order op;
} chain;

static void make_chain(chain *c, int n, int mass_kind)
{
    *c = (chain){.K = test_matrix_new(n), .M = test_matrix_new(n)};
    for (int i = 0; i < n; i++) {
        c->lumped[i] = 1 + 0.5 * i;
        c->K.A[i * n + i] = 2;
        c->M.A[i * n + i] = 4;
        if (i > 0) {
            c->K.A[i * n + i - 1] = c->K.A[(i - 1) * n + i] = -1;
            c->M.A[i * n + i - 1] = c->M.A[(i - 1) * n + i] = 1;
        }
    }
    test_matrix_invert(&c->M);
    c->mass = test_matrix_mass(&c->M);
    c->op = (tw_second_order){.stiffness = test_matrix_operator(&c->K, TW_SYMMETRIC)};
    if (mass_kind == 1) c->op.lumped_mass = c->lumped;
    if (mass_kind == 2) c->op.mass = &c->mass;
}

static void free_chain(chain *c)
{
    test_matrix_free(&c->K);
    test_matrix_free(&c->M);
}

static double identity(const void *context, double lambda)
{
    return *(const double *)context * lambda;
}

static double square(const void *context, double lambda)
{
    (void)context;
    return lambda * lambda;
}

/* out = A x = M^-1 K x. */
static void apply_pencil(const chain *c, const double *x, double *out)
{
    int n = c->K.n;
    double Kx[MAX_N];
    for (int i = 0; i < n; i++) {
        Kx[i] = 0;
        for (int j = 0; j < n; j++) Kx[i] += c->K.A[j * n + i] * x[j];
        out[i] = c->op.lumped_mass ? Kx[i] / c->lumped[i] : Kx[i];
    }
    if (!c->op.mass) return;
    for (int i = 0; i < n; i++) {
        out[i] = 0;
        for (int j = 0; j < n; j++) out[i] += c->M.inverse[j * n + i] * Kx[j];
    }
}

/* 3 A x + A^2 y, once with products and once from the kept basis with none. */
START_TEST(functions_of_the_spectrum)
{
    int n = 7;
    double x[MAX_N], y[MAX_N], out[MAX_N], Ax[MAX_N], Ay[MAX_N], AAy[MAX_N], three = 3;
    test_random random = {5};
    for (int i = 0; i < n; i++)
        x[i] = test_random_normal(&random), y[i] = test_random_normal(&random);
    tw_phi_workspace *workspace = new_workspace(n, true, 1e-10);
    for (int mass_kind = 0; mass_kind < 3; mass_kind++) {
        chain c;
        make_chain(&c, n, mass_kind);
        apply_pencil(&c, x, Ax), apply_pencil(&c, y, Ay), apply_pencil(&c, Ay, AAy);
        const double *starts[2] = {x, y};
        double *outputs[1] = {out};
        tw_spectral_function functions[2] = {{identity, &three}, {square, NULL}};
        tw_spectral_request request = {
            .start_count = 2, .starts = starts, .output_count = 1, .outputs = outputs};
        request.functions = functions;
        request.slot = 1;
        tw_phi_statistics statistics;
        ck_assert_int_eq(tw_spectral_apply(workspace, &c.op, &request, &statistics, NULL), TW_OK);
        ck_assert_int_eq(statistics.products, n);
        for (int i = 0; i < n; i++) ck_assert_double_le(fabs(out[i] - 3 * Ax[i] - AAy[i]), 1e-13);
        functions[0].value = NULL;
        request.starts = NULL;
        ck_assert_int_eq(tw_spectral_reuse(workspace, &request, &statistics, NULL), TW_OK);
        ck_assert_int_eq(statistics.products, 0);
        ck_assert_int_eq(statistics.engine, TW_PHI_DENSE);
        for (int i = 0; i < n; i++) ck_assert_double_le(fabs(out[i] - AAy[i]), 1e-13);
        request.start_count = 1;
        ck_assert_int_eq(tw_spectral_reuse(workspace, &request, NULL, NULL), TW_INVALID_ARGUMENT);
        free_chain(&c);
    }
    tw_phi_workspace_free(workspace);
}
END_TEST

START_TEST(limits_are_reported)
{
    tw_phi_limits limits = tw_phi_limits_default();
    limits.size = 2001;
    limits.options.engine = TW_PHI_DENSE;
    tw_phi_workspace *workspace = NULL;
    tw_error error = {0};
    ck_assert_int_eq(tw_phi_workspace_create(&limits, &workspace, &error), TW_UNSUPPORTED);
    ck_assert_ptr_nonnull(strstr(error.text, "2001"));
    workspace = new_workspace(4, true, 1e-8);
    tw_phi_options options = tw_phi_options_default();
    options.engine = TW_PHI_DENSE;
    options.max_products = 3;
    ck_assert_int_eq(tw_phi_workspace_set_options(workspace, &options), TW_OK);
    chain c;
    make_chain(&c, 4, 1);
    double v[8] = {1, 2, 3, 4, 5, 6, 7, 8}, w[8], node = 1, *out = w;
    const double *in = v;
    tw_phi_request request = {
        .time = 1, .node_count = 1, .nodes = &node, .vectors = &in, .outputs = &out};
    ck_assert_int_eq(tw_phi_evaluate_second_order(workspace, &c.op, &request, NULL, NULL),
                     TW_BUDGET_EXHAUSTED);
    options.max_products = 4;
    ck_assert_int_eq(tw_phi_workspace_set_options(workspace, &options), TW_OK);
    ck_assert_int_eq(tw_phi_evaluate_second_order(workspace, &c.op, &request, NULL, NULL), TW_OK);
    c.lumped[2] = 0;
    ck_assert_int_eq(tw_phi_evaluate_second_order(workspace, &c.op, &request, NULL, &error),
                     TW_NOT_POSITIVE_DEFINITE);
    ck_assert_ptr_nonnull(strstr(error.text, "mass 2"));
    c.lumped[2] = 1;
    c.K.A[3] = NAN;
    ck_assert_int_eq(tw_phi_evaluate_second_order(workspace, &c.op, &request, NULL, &error),
                     TW_NOT_FINITE);
    ck_assert_ptr_nonnull(strstr(error.text, "dense"));
    for (int i = 0; i < 8; i++) ck_assert_double_eq(w[i], 0);
    free_chain(&c);
    tw_phi_workspace_free(workspace);
}
END_TEST

/* A swing through 1e9 radians in single steps of double precision: phase is lost, and the status says so. */
START_TEST(lost_phase_is_ill_conditioned)
{
    tw_phi_workspace *workspace = new_workspace(2, false, 1e-8);
    test_matrix A = test_matrix_new(2);
    A.A[1] = 1e9, A.A[2] = -1e9;
    tw_operator op = test_matrix_operator(&A, TW_SKEW);
    double v[2] = {1, 0}, w[2], node = 1, *out = w;
    const double *in = v;
    tw_phi_request request = {
        .time = 1, .node_count = 1, .nodes = &node, .vectors = &in, .outputs = &out};
    tw_phi_statistics statistics;
    ck_assert_int_eq(tw_phi_evaluate(workspace, &op, &request, &statistics, NULL),
                     TW_ILL_CONDITIONED);
    ck_assert_double_ge(statistics.estimated_error, 1e-8);
    ck_assert_double_le(hypot(w[0], w[1]), 1.01);
    request.time = 1e-9;
    ck_assert_int_eq(tw_phi_evaluate(workspace, &op, &request, &statistics, NULL), TW_OK);
    ck_assert_double_le(fabs(w[0] - cos(1.0)), 1e-15);
    test_matrix_free(&A);
    tw_phi_workspace_free(workspace);
}
END_TEST

/* A larger problem by both halves of the engine: eigendecomposition, and the exponential of J once the symmetry of K is
 * not told. */
START_TEST(both_halves_agree)
{
    for (int number = PHI_CASE_PAIR_POSITIVE; number < 40 * PHI_CASE_KINDS;
         number += PHI_CASE_KINDS) {
        phi_case c;
        phi_case_make(number + (number / PHI_CASE_KINDS) % 4,
                      &c); /* positive, indefinite, singular, Rayleigh */
        tw_phi_workspace *workspace = new_workspace(c.n, true, 1e-9);
        double *outputs[2][PHI_CASE_NODES] = {{NULL}};
        tw_phi_statistics statistics[2];
        tw_status status[2];
        for (int half = 0; half < 2; half++) {
            for (int i = 0; i < PHI_CASE_NODES; i++) outputs[half][i] = test_doubles(2 * c.n);
            tw_phi_request request = c.request;
            request.outputs = outputs[half];
            if (half == 1) c.second.stiffness.symmetry = TW_GENERAL;
            status[half] = tw_phi_evaluate_second_order(workspace, &c.second, &request,
                                                        &statistics[half], NULL);
        }
        if (status[0] == TW_OK && status[1] == TW_OK) {
            double error = phi_case_error(&c, outputs[1], outputs[0]);
            double allowed = statistics[0].estimated_error + statistics[1].estimated_error;
            ck_assert_msg(error <= 2 * allowed, "case %d: %.1e, estimated %.1e", c.number, error,
                          allowed);
        }
        for (int i = 0; i < PHI_CASE_NODES; i++) free(outputs[0][i]), free(outputs[1][i]);
        tw_phi_workspace_free(workspace);
        phi_case_free(&c);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("phi dense");
    TCase *cases = tcase_create("phi dense");
    tcase_add_test(cases, committed_values);
    tcase_add_test(cases, functions_of_the_spectrum);
    tcase_add_test(cases, limits_are_reported);
    tcase_add_test(cases, both_halves_agree);
    tcase_add_test(cases, lost_phase_is_ill_conditioned);
    suite_add_tcase(suite, cases);
    return run_suite(suite);
}
