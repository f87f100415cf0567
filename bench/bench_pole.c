/* How many solves shift-invert needs, and what error it makes, for several poles gamma = (sigma h)^2: the measurement
 * behind the engine's default (docs/phi.md). A piece of the coil one second after release, h = 0.05,
 *     h c_1(h^2 A) v + h^2 c_2(h^2 A) a,
 * against lanczos at 1e-9. A sigma that is given is kept; sigma 0 is the engine's own choice. Counts are per vector,
 * of which there are two.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <twang/twang.h>

#include "problems/coil_state.h"
#include "problems/position_update.h"

enum { SECTIONS = 58 };
static const double step = 0.05;

/* out = the update by one engine; prints what is wrong. */
static tw_status update(tw_phi_engine engine, double tolerance, double sigma, const tw_second_order *op,
                        const double *v, const double *a, double *out, tw_phi_statistics *statistics)
{
    tw_error error = {0};
    tw_phi_limits limits = tw_phi_limits_default();
    limits.size = op->stiffness.space.local_size;
    limits.options.engine = engine;
    limits.options.tolerance = tolerance;
    limits.options.pole = sigma;
    tw_phi_workspace *workspace = NULL;
    tw_status status = tw_phi_workspace_create(&limits, &workspace, &error);
    const tw_spectral_function functions[2] = {{position_from_v, &step}, {position_from_a, &step}};
    tw_spectral_request request = {.start_count = 2,
                                   .starts = (const double *const[]){v, a},
                                   .output_count = 1,
                                   .outputs = (double *const[]){out},
                                   .functions = functions,
                                   .time = step};
    if (status == TW_OK) status = tw_spectral_apply(workspace, op, &request, statistics, &error);
    if (status) printf("  %s: %s\n", tw_phi_engine_name(engine), error.text);
    tw_phi_workspace_free(workspace);
    return status;
}

static double relative_difference(int64_t n, const double *x, const double *exact)
{
    double difference = 0, size = 0;
    for (int64_t i = 0; i < n; i++) {
        difference += (x[i] - exact[i]) * (x[i] - exact[i]);
        size += exact[i] * exact[i];
    }
    return sqrt(difference / size);
}

static void print_row(tw_phi_engine engine, double tolerance, double sigma, const tw_second_order *op, const double *v,
                      const double *a, const double *exact, double *out)
{
    tw_phi_statistics did = {0};
    if (update(engine, tolerance, sigma, op, v, a, out, &did)) return;
    printf("  tolerance %.0e, %-12s sigma %-4g: %5.1f products, %4.1f solves, %lld factorisations, error %.1e\n",
           tolerance, tw_phi_engine_name(engine), sigma, 0.5 * (double)did.products, 0.5 * (double)did.solves,
           (long long)did.factorizations, relative_difference(op->stiffness.space.local_size, out, exact));
}

static void print_rows(const tw_second_order *op, const double *v, const double *a, double *exact, double *out)
{
    static const double sigmas[] = {0.01, 0.03, 0.05, 0.1, 0.2, 0.4, 1, 3, 0}, tolerances[] = {1e-2, 1e-3, 1e-4, 1e-5};
    tw_phi_statistics did = {0};
    if (update(TW_PHI_LANCZOS, 1e-9, 0, op, v, a, exact, &did)) return;
    for (size_t t = 0; t < sizeof tolerances / sizeof *tolerances; t++) {
        print_row(TW_PHI_LANCZOS, tolerances[t], 0, op, v, a, exact, out);
        print_row(TW_PHI_CHEBYSHEV, tolerances[t], 0, op, v, a, exact, out);
        for (size_t s = 0; s < sizeof sigmas / sizeof *sigmas; s++)
            print_row(TW_PHI_SHIFT_INVERT, tolerances[t], sigmas[s], op, v, a, exact, out);
    }
}

/* One stiffness: builds the coil, its state and its solver, prints, frees. */
static int measure(double stiffness)
{
    coil_parameters parameters = coil_default();
    parameters.sections = SECTIONS;
    parameters.stiffness = stiffness;
    spring_network *coil = NULL;
    if (coil_create(parameters, &coil)) return 1;
    problem p = spring_network_problem(coil);
    size_t n = (size_t)p.size;
    double *memory = calloc(5 * n, sizeof *memory), *x = memory, *v = x + n, *a = v + n, *exact = a + n;
    tw_sparse *K = NULL;
    tw_shifted_cholesky *solver = NULL;
    tw_error error = {0};
    tw_status status = memory ? coil_state(parameters, 1, x, v, NULL) : TW_OUT_OF_MEMORY;
    if (status == TW_OK) {
        p.acceleration(p.context, x, a);
        p.linearise(p.context, x);
        status = problem_create_stiffness(&p, TW_STORE_UPPER, &K, &error);
    }
    if (status == TW_OK) {
        problem_fill_stiffness(&p, K);
        status = tw_shifted_cholesky_create(K, NULL, p.lumped_mass, &solver, &error);
    }
    if (status == TW_OK) {
        tw_second_order op = problem_second_order_assembled(&p, K);
        op.shifted = tw_shifted_cholesky_view(solver);
        double omega = problem_frequency_max(&p, 80);
        printf("coil of %lld unknowns, k = %g, h omega_max = %.0f\n", (long long)p.size, stiffness, step * omega);
        op.eigenvalue_max = 1.02 * omega * omega;
        print_rows(&op, v, a, exact, exact + n);
        printf("  and chebyshev without a bound of the spectrum:\n");
        op.eigenvalue_max = 0;
        print_row(TW_PHI_CHEBYSHEV, 1e-4, 0, &op, v, a, exact, exact + n);
    } else {
        printf("%s %s\n", tw_status_name(status), error.text);
    }
    tw_shifted_cholesky_free(solver);
    tw_sparse_free(K);
    spring_network_free(coil);
    free(memory);
    return status != TW_OK;
}

int main(void)
{
    return measure(1e6) | measure(1e8);
}
