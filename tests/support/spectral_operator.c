#include "support/spectral_operator.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* x = (I - 2 u u^T) x */
static void reflect(int64_t n, const double *u, double *x)
{
    double dot = 0;
    for (int64_t i = 0; i < n; i++) dot += u[i] * x[i];
    for (int64_t i = 0; i < n; i++) x[i] -= 2 * dot * u[i];
}

/* x = G x or G^-1 x */
static void apply_root(const test_spectral *s, bool inverse, double *x)
{
    if (s->mass == TEST_MASS_CONSISTENT) reflect(s->n, s->mass_direction, x);
    for (int64_t i = 0; i < s->n; i++) x[i] = inverse ? x[i] / s->root[i] : x[i] * s->root[i];
    if (s->mass == TEST_MASS_CONSISTENT) reflect(s->n, s->mass_direction, x);
}

static void to_modes_in_place(const test_spectral *s, double *x)
{
    for (int r = 0; r < TEST_REFLECTIONS; r++) reflect(s->n, s->reflection[r], x);
}

static void from_modes_in_place(const test_spectral *s, double *x)
{
    for (int r = TEST_REFLECTIONS - 1; r >= 0; r--) reflect(s->n, s->reflection[r], x);
}

void test_spectral_to_modes(const test_spectral *s, const double *x, double *y)
{
    memmove(y, x, (size_t)s->n * sizeof *y);
    apply_root(s, false, y);
    to_modes_in_place(s, y);
}

void test_spectral_from_modes(const test_spectral *s, const double *y, double *x)
{
    memmove(x, y, (size_t)s->n * sizeof *x);
    from_modes_in_place(s, x);
    apply_root(s, true, x);
}

static tw_status apply_stiffness(void *context, int count, const double *in, double *out)
{
    test_spectral *s = context;
    for (int j = 0; j < count; j++) {
        double *y = out + j * s->n;
        memcpy(y, in + j * s->n, (size_t)s->n * sizeof *y);
        apply_root(s, false, y);
        to_modes_in_place(s, y);
        for (int64_t i = 0; i < s->n; i++) y[i] *= s->lambda[i];
        from_modes_in_place(s, y);
        apply_root(s, false, y);
    }
    s->products += count;
    return TW_OK;
}

static tw_status apply_mass(void *context, int count, const double *in, double *out)
{
    const test_spectral *s = context;
    for (int j = 0; j < count; j++) {
        double *y = out + j * s->n;
        memcpy(y, in + j * s->n, (size_t)s->n * sizeof *y);
        apply_root(s, false, y);
        apply_root(s, false, y);
    }
    return TW_OK;
}

static tw_status solve_mass(void *context, int count, const double *in, double *out)
{
    const test_spectral *s = context;
    for (int j = 0; j < count; j++) {
        double *y = out + j * s->n;
        memcpy(y, in + j * s->n, (size_t)s->n * sizeof *y);
        apply_root(s, true, y);
        apply_root(s, true, y);
    }
    return TW_OK;
}

static tw_status factor(void *context, double gamma)
{
    test_spectral *s = context;
    if (gamma != s->gamma) s->factorisations++;
    s->gamma = gamma;
    for (int64_t i = 0; i < s->n; i++)
        if (!(1 + gamma * s->lambda[i] > 0)) {
            s->gamma = 0;
            return TW_NOT_POSITIVE_DEFINITE;
        }
    return TW_OK;
}

/* (M + gamma K)^-1 = G^-1 Q (1 + gamma lambda)^-1 Q^T G^-1 */
static tw_status solve_shifted(void *context, int count, const double *in, double *out)
{
    test_spectral *s = context;
    for (int j = 0; j < count; j++) {
        double *y = out + j * s->n;
        memcpy(y, in + j * s->n, (size_t)s->n * sizeof *y);
        apply_root(s, true, y);
        to_modes_in_place(s, y);
        for (int64_t i = 0; i < s->n; i++) y[i] /= 1 + s->gamma * s->lambda[i];
        from_modes_in_place(s, y);
        apply_root(s, true, y);
    }
    s->solves += count;
    return TW_OK;
}

static double eigenvalue(test_spectrum spectrum, int64_t i, int64_t n, test_random *random)
{
    double u = test_random_unit(random), place = ((double)i + 1) / (double)n;
    switch (spectrum) {
    case TEST_SPECTRUM_UNIFORM:
        return u;
    case TEST_SPECTRUM_GRADED:
        return pow(10, -8 + 8 * place);
    case TEST_SPECTRUM_CHAIN:
        return pow(sin(1.5707963267948966 * place), 2);
    case TEST_SPECTRUM_CLUSTERS:
        return (double)(i % 3) / 2.5 + 0.1 + 1e-6 * u;
    case TEST_SPECTRUM_SINGULAR:
        return i % 2 ? u : 0;
    case TEST_SPECTRUM_OUTLIERS:
        return i < 3 ? 1 - 0.1 * u : 1e-4 * u;
    case TEST_SPECTRUM_INDEFINITE:
        return -0.02 + 1.02 * u;
    case TEST_SPECTRUM_NEGATIVE:
        return -1 + 2 * u;
    case TEST_SPECTRUM_EQUAL:
        return 1;
    case TEST_SPECTRUM_ZERO:
    case TEST_SPECTRUM_COUNT:
        break;
    }
    return 0;
}

static double *random_unit_vector(int64_t n, double *u, test_random *random)
{
    double sum = 0;
    for (int64_t i = 0; i < n; i++) u[i] = test_random_normal(random), sum += u[i] * u[i];
    for (int64_t i = 0; i < n; i++) u[i] /= sqrt(sum);
    return u;
}

static void describe(test_spectral *s)
{
    s->consistent = (tw_mass_operator){apply_mass, solve_mass, s};
    s->shifted = (tw_shifted_solver){.context = s,
                                     .factor = factor,
                                     .solve = solve_shifted,
                                     .factor_flops = 1000.0 * (double)s->n,
                                     .solve_bytes = 2000.0 * (double)s->n,
                                     .factorisations = &s->factorisations};
    s->op = (tw_second_order){.stiffness = {.space = {.local_size = s->n},
                                            .apply = apply_stiffness,
                                            .context = s,
                                            .symmetry = TW_SYMMETRIC,
                                            .bytes_per_product = 300.0 * (double)s->n},
                              .lumped_mass = s->mass == TEST_MASS_LUMPED ? s->lumped : NULL,
                              .mass = s->mass == TEST_MASS_CONSISTENT ? &s->consistent : NULL,
                              .shifted = &s->shifted};
}

test_spectral *test_spectral_create(int64_t n, test_spectrum spectrum, test_mass mass,
                                    double largest, test_random *random)
{
    test_spectral *s = calloc(1, sizeof *s);
    double *memory = calloc((size_t)(5 + TEST_REFLECTIONS) * (size_t)n, sizeof *memory);
    if (!s || !memory) {
        free(s);
        free(memory);
        return NULL;
    }
    s->n = n;
    s->mass = mass;
    s->lambda = memory;
    s->root = memory + n;
    s->lumped = memory + 2 * n;
    s->scratch = memory + 3 * n;
    double top = 0;
    for (int64_t i = 0; i < n; i++) {
        s->lambda[i] = eigenvalue(spectrum, i, n, random);
        top = fmax(top, fabs(s->lambda[i]));
        s->root[i] = mass == TEST_MASS_UNIT ? 1 : pow(10, test_random_between(random, -1, 1));
        s->lumped[i] = s->root[i] * s->root[i];
    }
    for (int64_t i = 0; i < n; i++) {
        s->lambda[i] *= top > 0 ? largest / top : 0;
        s->eigenvalue_bound = fmax(s->eigenvalue_bound, s->lambda[i]);
    }
    s->mass_direction = random_unit_vector(n, memory + 4 * n, random);
    for (int r = 0; r < TEST_REFLECTIONS; r++)
        s->reflection[r] = random_unit_vector(n, memory + (5 + r) * n, random);
    describe(s);
    return s;
}

void test_spectral_free(test_spectral *s)
{
    if (!s) return;
    free(s->lambda);
    free(s);
}
