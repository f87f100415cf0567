#include "support/phi_cases.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "linalg/dense.h"
#include "support/exact_phi.h"

const char *phi_case_kind_name(phi_case_kind kind)
{
#define NAME_CASE(name, text)                                                                      \
    case name:                                                                                     \
        return text;
    switch (kind) {
        PHI_CASE_LIST(NAME_CASE)
    case PHI_CASE_KINDS:
        break;
    }
#undef NAME_CASE
    return "?";
}

int phi_case_length(const phi_case *c)
{
    return c->second_order ? 2 * c->n : c->n;
}

/* ---- matrices ---- */

/* A = H diag(w) H with a random reflection H: full, symmetric, spectrum known. */
static void reflect_diagonal(test_random *random, test_matrix *A, const double *w)
{
    int n = A->n;
    double *h = test_doubles(n), *Dh = test_doubles(n), norm = 0, middle = 0;
    for (int i = 0; i < n; i++) {
        h[i] = test_random_normal(random);
        norm += h[i] * h[i];
    }
    for (int i = 0; i < n; i++) {
        h[i] /= sqrt(norm > 0 ? norm : 1);
        Dh[i] = w[i] * h[i];
        middle += h[i] * Dh[i];
    }
    for (int j = 0; j < n; j++)
        for (int i = 0; i < n; i++)
            A->A[j * n + i] = (i == j ? w[i] : 0) - 2 * h[i] * Dh[j] - 2 * Dh[i] * h[j] +
                              4 * middle * h[i] * h[j];
    for (int j = 0; j < n; j++)
        for (int i = 0; i < j; i++) A->A[i * n + j] = A->A[j * n + i];
    free(h);
    free(Dh);
}

/* Eigenvalues in [low, high] * size, spread evenly or over decades. */
static void symmetric_matrix(test_random *random, test_matrix *A, double low, double high,
                             double size)
{
    double *w = test_doubles(A->n);
    bool decades = test_random_unit(random) < 0.4;
    for (int i = 0; i < A->n; i++) {
        double u = decades ? test_random_log_between(random, 1e-5, 1) : test_random_unit(random);
        w[i] = size * (low + (high - low) * u);
    }
    if (A->n > 1)
        w[0] = size * (fabs(high) > fabs(low) ? high : low); /* so that size is the norm */
    reflect_diagonal(random, A, w);
    free(w);
}

static void random_entries(test_random *random, test_matrix *A, double size)
{
    for (int i = 0; i < A->n * A->n; i++) A->A[i] = size * test_random_normal(random) / sqrt(A->n);
}

static void skew_matrix(test_random *random, test_matrix *A, double size)
{
    int n = A->n;
    random_entries(random, A, size);
    for (int j = 0; j < n; j++) {
        A->A[j * n + j] = 0;
        for (int i = 0; i < j; i++) A->A[i * n + j] = -A->A[j * n + i];
    }
}

/* Stable, upper triangular, with an off-diagonal part that makes it grow before it decays. */
static void nonnormal_matrix(test_random *random, test_matrix *A, double size)
{
    int n = A->n;
    double strength = test_random_log_between(random, 0.1, 10);
    for (int j = 0; j < n; j++)
        for (int i = 0; i <= j; i++)
            A->A[j * n + i] = i == j ? -size * test_random_unit(random)
                                     : size * strength * test_random_normal(random) / sqrt(n);
}

/* Blocks of up to six, eigenvalues of either sign of a small real part, zero at times. */
static void jordan_matrix(test_random *random, test_matrix *A, double size)
{
    int n = A->n, left = 0;
    double eigenvalue = 0;
    for (int i = 0; i < n; i++, left--) {
        if (left == 0) {
            left = test_random_integer(random, 1, 6);
            eigenvalue = test_random_unit(random) < 0.3 ? 0 : -size * test_random_unit(random);
        }
        A->A[i * n + i] = eigenvalue;
        if (left > 1 && i + 1 < n) A->A[(i + 1) * n + i] = size;
    }
}

/* A free chain: singular, exactly so in floating point. */
static void free_chain(test_matrix *A, double size)
{
    int n = A->n;
    double k = size > 0 ? ldexp(1.0, ilogb(size)) / 4 : 0;
    for (int i = 0; i + 1 < n; i++) {
        A->A[i * n + i] += k;
        A->A[(i + 1) * n + i + 1] += k;
        A->A[i * n + i + 1] -= k;
        A->A[(i + 1) * n + i] -= k;
    }
}

static void make_first_order(test_random *random, phi_case *c)
{
    test_matrix *A = &c->A;
    double size = c->size;
    tw_symmetry symmetry = TW_GENERAL;
    switch (c->kind) {
    case PHI_CASE_NEGATIVE:
        symmetric_matrix(random, A, -1, 0, size);
        symmetry = TW_SYMMETRIC;
        break;
    case PHI_CASE_POSITIVE:
        symmetric_matrix(random, A, 0, 1, size);
        symmetry = TW_SYMMETRIC;
        break;
    case PHI_CASE_INDEFINITE:
        symmetric_matrix(random, A, -1, 0.25, size);
        symmetry = TW_SYMMETRIC;
        break;
    case PHI_CASE_SKEW:
        skew_matrix(random, A, size);
        symmetry = TW_SKEW;
        break;
    case PHI_CASE_NONNORMAL:
        nonnormal_matrix(random, A, size);
        break;
    case PHI_CASE_JORDAN:
        jordan_matrix(random, A, size);
        break;
    case PHI_CASE_GENERAL:
        random_entries(random, A, size);
        for (int i = 0; i < A->n; i++) A->A[i * A->n + i] -= size;
        break;
    default:
        break;
    }
    if (symmetry == TW_SYMMETRIC && test_random_unit(random) < 0.2)
        symmetry = TW_GENERAL; /* a promise not made */
    c->first = test_matrix_operator(A, symmetry);
}

static void make_masses(test_random *random, phi_case *c)
{
    int n = c->n;
    double choice = test_random_unit(random);
    if (choice < 0.35) {
        c->lumped = test_doubles(n);
        double unit = test_random_log_between(random, 1e-2, 1e2);
        for (int i = 0; i < n; i++) c->lumped[i] = unit * test_random_between(random, 0.2, 5);
    } else if (choice < 0.6) {
        c->consistent = true;
        for (int i = 0; i < n; i++) { /* a bar of elements of varying length */
            double length = test_random_between(random, 0.5, 2);
            c->mass.A[i * n + i] += 2 * length;
            if (i + 1 < n) {
                c->mass.A[(i + 1) * n + i + 1] += 2 * length;
                c->mass.A[(i + 1) * n + i] = c->mass.A[i * n + i + 1] = length;
            }
        }
        test_matrix_invert(&c->mass);
    }
}

/* K, and what it is called to the library. */
static void make_stiffness(test_random *random, phi_case *c)
{
    test_matrix *K = &c->A;
    double square = c->size * c->size;
    switch (c->kind) {
    case PHI_CASE_PAIR_INDEFINITE:
        symmetric_matrix(random, K, test_random_unit(random) < 0.5 ? -0.01 : -0.3, 1, square);
        break;
    case PHI_CASE_PAIR_SINGULAR:
        free_chain(K, square);
        break;
    case PHI_CASE_PAIR_ZERO:
        break;
    default:
        symmetric_matrix(random, K, 0, 1, square);
    }
    if (c->kind == PHI_CASE_PAIR_NONSYMMETRIC) {
        test_matrix extra = test_matrix_new(K->n);
        random_entries(random, &extra, 0.05 * square);
        for (int i = 0; i < K->n * K->n; i++) K->A[i] += extra.A[i];
        test_matrix_free(&extra);
    }
}

static tw_status shifted_factor(void *context, double gamma)
{
    test_shifted *shifted = context;
    const phi_case *c = shifted->problem;
    int n = c->n;
    for (int i = 0; i < n * n; i++)
        shifted->factor[i] = gamma * c->A.A[i] + (c->consistent ? c->mass.A[i] : 0);
    for (int i = 0; i < n && !c->consistent; i++)
        shifted->factor[i * n + i] += c->lumped ? c->lumped[i] : 1;
    shifted->factorisations++;
    return tw_dense_cholesky(n, shifted->factor);
}

static tw_status shifted_solve(void *context, int count, const double *in, double *out)
{
    test_shifted *shifted = context;
    int n = shifted->problem->n;
    if (out != in) memcpy(out, in, (size_t)(n * count) * sizeof *out);
    tw_dense_lower_solve(false, n, shifted->factor, count, out);
    tw_dense_lower_solve(true, n, shifted->factor, count, out);
    return TW_OK;
}

void phi_case_connect(phi_case *c)
{
    c->mass_operator = test_matrix_mass(&c->mass);
    if (c->consistent) c->second.mass = &c->mass_operator;

    c->shifted = (test_shifted){.problem = c, .factor = test_doubles((int64_t)c->n * c->n)};
    c->shifted_solver = (tw_shifted_solver){
        .context = &c->shifted, .factor = shifted_factor, .solve = shifted_solve};
    c->shifted_solver.factorisations = &c->shifted.factorisations;
    c->second.shifted = &c->shifted_solver;
}

static void make_second_order(test_random *random, phi_case *c)
{
    make_masses(random, c);
    make_stiffness(random, c);
    bool symmetric = c->kind != PHI_CASE_PAIR_NONSYMMETRIC;
    c->second = (tw_second_order){
        .stiffness = test_matrix_operator(&c->A, symmetric ? TW_SYMMETRIC : TW_GENERAL)};
    c->second.lumped_mass = c->lumped;
    phi_case_connect(c);
    if (!symmetric) c->second.shifted = NULL;
    if (c->kind == PHI_CASE_PAIR_RAYLEIGH) {
        c->second.rayleigh_mass = c->size * test_random_log_between(random, 1e-3, 1);
        c->second.rayleigh_stiffness = test_random_log_between(random, 1e-3, 10) / c->size;
    }
    if (c->kind == PHI_CASE_PAIR_DAMPED) {
        symmetric_matrix(random, &c->damping, 0, test_random_log_between(random, 1e-2, 1), c->size);
        c->damping_operator = test_matrix_operator(&c->damping, TW_SYMMETRIC);
        c->second.damping = &c->damping_operator;
    }
}

/* Largest frequency or decay rate there is, roughly: |A|, or omega_max and what damping adds to it. */
static double rate_of(const phi_case *c)
{
    double mass = 1;
    for (int i = 0; c->lumped && i < c->n; i++)
        mass = i == 0 ? c->lumped[0] : fmin(mass, c->lumped[i]);
    double omega = c->second_order ? c->size / sqrt(mass) : c->size;
    double damping = c->second.rayleigh_mass + c->second.rayleigh_stiffness * omega * omega;
    return omega + damping + (c->second.damping ? c->size / mass : 0);
}

/* ---- requests ---- */

/* Mostly small, now and then up to 400; general matrices cost the oracle more and stay smaller. */
static int random_order(test_random *random, phi_case_kind kind)
{
    double u = test_random_unit(random);
    bool exponential = kind >= PHI_CASE_PAIR_DAMPED && kind <= PHI_CASE_PAIR_NONSYMMETRIC;
    if (kind >= PHI_CASE_SKEW && kind <= PHI_CASE_GENERAL) exponential = true;
    int largest = exponential ? 100 : 400;
    if (u < 0.5) return test_random_integer(random, 1, 8);
    if (u < 0.85) return test_random_integer(random, 9, 20);
    return u < 0.97 ? test_random_integer(random, 21, 60)
                    : test_random_integer(random, 61, largest);
}

/* How far t |A| (or t omega) reaches: from nothing to thousands; growth no further than doubles do. */
static double random_reach(test_random *random, phi_case_kind kind)
{
    double reach = test_random_log_between(random, 1e-7, 500);
    if (test_random_unit(random) < 0.06) reach = test_random_log_between(random, 1e4, 1e9);
    bool grows = kind == PHI_CASE_POSITIVE || kind == PHI_CASE_INDEFINITE ||
                 kind == PHI_CASE_PAIR_INDEFINITE || kind == PHI_CASE_PAIR_NONSYMMETRIC ||
                 kind == PHI_CASE_GENERAL;
    return grows && reach > 300 ? fmod(reach, 300) : reach;
}

static void make_vectors(test_random *random, phi_case *c)
{
    int length = phi_case_length(c);
    double unit = 1, u = test_random_unit(random);
    if (u < 0.06) unit = 1e150;
    if (u > 0.94) unit = 1e-150;
    bool x_only = test_random_unit(random) < 0.1, v_only = test_random_unit(random) < 0.15;
    for (int k = 0; k <= c->request.order; k++) {
        if (test_random_unit(random) < 0.2 ||
            (k == 0 && c->request.order > 0 && test_random_unit(random) < 0.4))
            continue;
        double *v = c->vectors[k] = test_doubles(length);
        double scale = unit * test_random_log_between(random, 1e-2, 1e2), x_scale = scale;
        if (c->second_order)
            x_scale /= c->size > 0 ? c->size * test_random_log_between(random, 0.1, 10) : 1;
        bool single = test_random_unit(random) < 0.1;
        int chosen = test_random_integer(random, 0, length - 1);
        for (int i = 0; i < length; i++) {
            v[i] = (c->second_order && i < c->n ? x_scale : scale) * test_random_normal(random);
            if (single && i != chosen) v[i] = 0;
            if (c->second_order && ((x_only && i >= c->n) || (v_only && !x_only && i < c->n)))
                v[i] = 0;
        }
    }
    c->request.vectors = (const double *const *)c->vectors;
}

static void make_nodes(test_random *random, phi_case *c)
{
    bool reversible = c->kind == PHI_CASE_SKEW || c->kind == PHI_CASE_PAIR_POSITIVE ||
                      c->kind == PHI_CASE_PAIR_SINGULAR;
    c->request.node_count = test_random_integer(random, 1, PHI_CASE_NODES);
    c->request.nodes = c->nodes;
    for (int i = 0; i < c->request.node_count; i++) {
        c->nodes[i] = i == 0 ? 1 : test_random_between(random, 0.02, 1);
        if (test_random_unit(random) < 0.04) c->nodes[i] = 0;
        if (reversible && test_random_unit(random) < 0.1) c->nodes[i] = -c->nodes[i];
    }
    if (c->request.node_count > 1 && test_random_unit(random) < 0.5) { /* any order is allowed */
        double first = c->nodes[0];
        c->nodes[0] = c->nodes[c->request.node_count - 1];
        c->nodes[c->request.node_count - 1] = first;
    }
}

/* Backwards in time what decays grows, so that the reach is limited as it is for what grows forwards. */
static void turn_back(phi_case *c)
{
    bool decays = c->kind == PHI_CASE_NEGATIVE || c->kind == PHI_CASE_NONNORMAL ||
                  c->kind == PHI_CASE_JORDAN || c->kind == PHI_CASE_PAIR_RAYLEIGH ||
                  c->kind == PHI_CASE_PAIR_DAMPED;
    double shorter = decays && c->reach > 300 ? fmod(c->reach, 300) / c->reach : 1;
    c->request.time *= -shorter;
    c->reach *= shorter;
}

/* Sizes the caller has in mind, smaller or larger than what the vectors say. */
static void make_references(test_random *random, phi_case *c)
{
    for (int part = 0; part < (c->second_order ? 2 : 1); part++)
        for (int k = 0; k <= c->request.order; k++)
            if (c->vectors[k])
                c->request.reference[part] = test_random_log_between(random, 1e-2, 1e2) *
                                             phi_case_norm(c, c->vectors[k] + part * c->n);
}

void phi_case_make(int number, phi_case *c)
{
    test_random random = {0x7A6E67u + (uint64_t)number * 0x2545F4914F6CDD1Du};
    *c = (phi_case){.number = number, .kind = (phi_case_kind)(number % PHI_CASE_KINDS)};
    c->second_order = c->kind > PHI_CASE_ZERO;
    c->n = random_order(&random, c->kind);
    c->A = test_matrix_new(c->n);
    c->mass = test_matrix_new(c->n);
    c->damping = test_matrix_new(c->n);
    c->size = test_random_log_between(&random, 1e-3, 1e3);
    double reach = random_reach(&random, c->kind);
    if (c->second_order)
        make_second_order(&random, c);
    else
        make_first_order(&random, c);
    c->request.time = reach / c->size;
    c->reach = c->request.time * rate_of(c);
    if (c->reach > 0 &&
        reach < 1e4) { /* huge reach is for operators that stand it; here it is meant */
        c->request.time *= fmin(1, 500 / c->reach);
        c->reach = c->request.time * rate_of(c);
    }
    c->request.order = test_random_integer(&random, 0, PHI_CASE_VECTORS - 1);
    make_nodes(&random, c);
    make_vectors(&random, c);
    c->tolerance = test_random_log_between(&random, 1e-12, 1e-2);
    c->inner_product = test_random_unit(&random) < 0.3 ? TW_INNER_ENERGY : TW_INNER_SCALED;
    if (test_random_unit(&random) < 0.15) make_references(&random, c);
    if (test_random_unit(&random) < 0.25) turn_back(c);
}

void phi_case_free(phi_case *c)
{
    test_matrix_free(&c->A);
    test_matrix_free(&c->mass);
    test_matrix_free(&c->damping);
    free(c->lumped);
    free(c->shifted.factor);
    for (int k = 0; k < PHI_CASE_VECTORS; k++) free(c->vectors[k]);
    *c = (phi_case){0};
}

/* ---- measuring ---- */

double phi_case_norm(const phi_case *c, const double *part)
{
    int n = c->n;
    double largest = 0, sum = 0;
    for (int i = 0; i < n; i++) largest = fmax(largest, fabs(part[i]));
    if (largest == 0) return 0;
    for (int i = 0; i < n; i++) {
        double Mx = part[i] / largest * (c->lumped ? c->lumped[i] : 1);
        if (c->consistent) {
            Mx = 0;
            for (int j = i > 0 ? i - 1 : 0; j < n && j <= i + 1; j++)
                Mx += c->mass.A[j * n + i] * (part[j] / largest);
        }
        sum += part[i] / largest * Mx;
    }
    return largest * sqrt(fmax(sum, 0));
}

static double promised_size(const phi_case *c, int part, const double *exact)
{
    double sum = 0, factorial = 1;
    for (int k = 0; k <= c->request.order; k++) {
        if (c->vectors[k]) sum += phi_case_norm(c, c->vectors[k] + part * c->n) / factorial;
        factorial *= k + 1;
    }
    return fmax(sum, fmax(phi_case_norm(c, exact + part * c->n), c->request.reference[part]));
}

double phi_case_error(const phi_case *c, double *const *outputs, double *const *exact)
{
    int n = c->n;
    double worst = 0, *difference = test_doubles(n);
    for (int i = 0; i < c->request.node_count; i++)
        for (int part = 0; part < (c->second_order ? 2 : 1); part++) {
            for (int j = 0; j < n; j++)
                difference[j] = outputs[i][part * n + j] - exact[i][part * n + j];
            double error = phi_case_norm(c, difference), size = promised_size(c, part, exact[i]);
            if (error > 0) worst = fmax(worst, error / size);
        }
    free(difference);
    return worst;
}

/* ---- truth ---- */

/* J in double-double, (x, v) as they are. */
static void exact_pair(const phi_case *c, dd *J)
{
    int n = c->n, d = 2 * n;
    dd *M = calloc((size_t)(n * n), sizeof(dd)), *A = calloc((size_t)(n * n), sizeof(dd));
    dd *B = calloc((size_t)(n * n), sizeof(dd)), *copy = calloc((size_t)(n * n), sizeof(dd));
    if (!M || !A || !B || !copy) abort();
    for (int i = 0; i < n * n; i++) {
        A[i] = dd_of(c->A.A[i]);
        B[i] = dd_of(c->second.damping ? c->damping.A[i] : 0);
        M[i] = copy[i] = dd_of(c->consistent ? c->mass.A[i] : 0);
    }
    for (int i = 0; i < n && !c->consistent; i++)
        M[i * n + i] = copy[i * n + i] = dd_of(c->lumped ? c->lumped[i] : 1);
    exact_solve(n, M, A);
    exact_solve(n, copy, B);
    for (int i = 0; i < n * n; i++)
        B[i] = dd_add(B[i], dd_multiply(dd_of(c->second.rayleigh_stiffness), A[i]));
    for (int i = 0; i < n; i++) B[i * n + i] = dd_add(B[i * n + i], dd_of(c->second.rayleigh_mass));
    for (int j = 0; j < n; j++) {
        J[(n + j) * d + j] = dd_of(1);
        for (int i = 0; i < n; i++) {
            J[j * d + n + i] = dd_negative(A[j * n + i]);
            J[(n + j) * d + n + i] = dd_negative(B[j * n + i]);
        }
    }
    free(M);
    free(A);
    free(B);
    free(copy);
}

bool phi_case_exact(const phi_case *c, double *const *outputs)
{
    int d = phi_case_length(c), p = c->request.order;
    if (d + p > EXACT_PHI_LIMIT) return false;
    dd *Z = calloc((size_t)(d * d), sizeof(dd));
    if (!Z) abort();
    if (c->second_order)
        exact_pair(c, Z);
    else
        for (int i = 0; i < d * d; i++) Z[i] = dd_of(c->A.A[i]);
    bool good = true;
    for (int i = 0; i < c->request.node_count && good; i++)
        good = exact_phi(d, Z, c->nodes[i], c->request.time, p, (const double *const *)c->vectors,
                         outputs[i]);
    free(Z);
    return good;
}
