/* How many solves shift-invert needs, and what error it makes, for several poles gamma = (sigma h)^2: the measurement
 * behind the engine's default (docs/phi.md). A piece of the coil one second after release, h = 0.05,
 *     h c_1(h^2 A) v + h^2 c_2(h^2 A) a,
 * against lanczos at 1e-9. A sigma that is given is kept; sigma 0 is the engine's own choice. Counts are per vector,
 * of which there are two.
 */
#include <stdio.h>
#include <twang/twang.h>

#include "problems/coil_case.h"

enum { SECTIONS = 58 };
static const double step = 0.05;

/* out = the update by one engine; prints what is wrong. */
static tw_status update(tw_phi_engine engine, double tolerance, double sigma, const coil_case *c,
                        double *out, tw_phi_statistics *statistics)
{
    tw_error error = {0};
    tw_phi_options options = tw_phi_options_default();
    options.engine = engine;
    options.tolerance = tolerance;
    options.pole = sigma;
    tw_status status = position_update(&c->op, &options, step, c->v, c->a, out, statistics, &error);
    if (status) printf("  %s: %s\n", tw_phi_engine_name(engine), error.text);
    return status;
}

static void print_row(tw_phi_engine engine, double tolerance, double sigma, const coil_case *c)
{
    tw_phi_statistics did = {0};
    if (update(engine, tolerance, sigma, c, c->out, &did)) return;
    printf("  tolerance %.0e, %-12s sigma %-4g: %5.1f products, %4.1f solves, %lld factorisations, "
           "error %.1e\n",
           tolerance, tw_phi_engine_name(engine), sigma, 0.5 * (double)did.products,
           0.5 * (double)did.solves, (long long)did.factorisations,
           relative_difference(c->p.size, c->out, c->exact));
}

static void print_rows(const coil_case *c)
{
    static const double sigmas[] = {0.01, 0.03, 0.05, 0.1, 0.2, 0.4, 1, 3, 0},
                        tolerances[] = {1e-2, 1e-3, 1e-4, 1e-5};
    tw_phi_statistics did = {0};
    if (update(TW_PHI_LANCZOS, 1e-9, 0, c, c->exact, &did)) return;
    for (size_t t = 0; t < sizeof tolerances / sizeof *tolerances; t++) {
        print_row(TW_PHI_LANCZOS, tolerances[t], 0, c);
        print_row(TW_PHI_CHEBYSHEV, tolerances[t], 0, c);
        for (size_t s = 0; s < sizeof sigmas / sizeof *sigmas; s++)
            print_row(TW_PHI_SHIFT_INVERT, tolerances[t], sigmas[s], c);
    }
}

/* One stiffness: builds the coil, its state and its solver, prints, frees. */
static int measure(double stiffness)
{
    coil_parameters parameters = coil_default();
    parameters.sections = SECTIONS;
    parameters.stiffness = stiffness;
    coil_case c;
    tw_error error = {0};
    tw_status status = coil_case_create(parameters, 1, &c, &error);
    if (status == TW_OK) {
        double omega = problem_frequency_max(&c.p, 80);
        printf("coil of %lld unknowns, k = %g, h omega_max = %.0f\n", (long long)c.p.size,
               stiffness, step * omega);
        c.op.eigenvalue_max = 1.02 * omega * omega;
        print_rows(&c);
        printf("  and chebyshev without a bound of the spectrum:\n");
        c.op.eigenvalue_max = 0;
        print_row(TW_PHI_CHEBYSHEV, 1e-4, 0, &c);
    } else {
        printf("%s %s\n", tw_status_name(status), error.text);
    }
    coil_case_free(&c);
    return status != TW_OK;
}

int main(void)
{
    return measure(1e6) | measure(1e8);
}
