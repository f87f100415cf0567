#include "problems/plain_problem.h"

#include <math.h>
#include <stdlib.h>

#include "support/random.h"

double problem_energy(const problem *p, const double *x, const double *v)
{
    double kinetic = 0;
    for (int64_t i = 0; i < p->size; i++)
        kinetic += 0.5 * (p->lumped_mass ? p->lumped_mass[i] : 1.0) * v[i] * v[i];
    return kinetic + p->potential(p->context, x);
}

tw_second_order problem_second_order(const problem *p)
{
    return (tw_second_order){.stiffness = {.space = {.local_size = p->size},
                                           .apply = p->apply_stiffness,
                                           .context = p->context,
                                           .symmetry = TW_SYMMETRIC},
                             .lumped_mass = p->lumped_mass};
}

/* Number of eigenvalues of the tridiagonal matrix below `bound` (Sturm sequence). */
static int eigenvalues_below(int n, const double *diagonal, const double *off_diagonal,
                             double bound)
{
    int count = 0;
    double pivot = 1;
    for (int i = 0; i < n; i++) {
        double coupling = i > 0 ? off_diagonal[i - 1] * off_diagonal[i - 1] : 0.0;
        pivot = diagonal[i] - bound - coupling / pivot;
        if (pivot == 0) pivot = 1e-300;
        count += pivot < 0;
    }
    return count;
}

static double largest_eigenvalue(int n, const double *diagonal, const double *off_diagonal)
{
    double high = 0;
    for (int i = 0; i < n; i++)
        high = fmax(high, fabs(diagonal[i]) + (i > 0 ? off_diagonal[i - 1] : 0) + off_diagonal[i]);
    double low = -high;
    for (int bisection = 0; bisection < 100; bisection++) {
        double middle = 0.5 * (low + high);
        if (eigenvalues_below(n, diagonal, off_diagonal, middle) == n)
            high = middle;
        else
            low = middle;
    }
    return high;
}

static double dot(int64_t n, const double *x, const double *y)
{
    double sum = 0;
    for (int64_t i = 0; i < n; i++) sum += x[i] * y[i];
    return sum;
}

/* One Lanczos step with M^-1/2 K M^-1/2: w becomes the next (unscaled) vector; alpha is returned. `beta` couples q to
 * the one before it. */
static double lanczos_step(const problem *p, const double *before, double beta, const double *q,
                           double *w, double *scratch)
{
    int64_t n = p->size;
    for (int64_t i = 0; i < n; i++)
        scratch[i] = p->lumped_mass ? q[i] / sqrt(p->lumped_mass[i]) : q[i];
    p->apply_stiffness(p->context, 1, scratch, w);
    if (p->lumped_mass)
        for (int64_t i = 0; i < n; i++) w[i] /= sqrt(p->lumped_mass[i]);
    double alpha = dot(n, q, w);
    for (int64_t i = 0; i < n; i++) w[i] -= alpha * q[i] + beta * before[i];
    return alpha;
}

double problem_frequency_max(const problem *p, int iterations)
{
    int64_t n = p->size;
    size_t length = (size_t)n;
    double *memory = calloc(4 * length + 2 * (size_t)iterations, sizeof *memory);
    if (!memory) return 0;
    double *before = memory, *q = memory + length, *w = memory + 2 * length,
           *scratch = memory + 3 * length;
    double *diagonal = memory + 4 * length, *off_diagonal = diagonal + iterations;
    test_random random = {.state = 2022};
    for (int64_t i = 0; i < n; i++) q[i] = test_random_normal(&random);
    double norm = sqrt(dot(n, q, q)), beta = 0;
    for (int64_t i = 0; i < n; i++) q[i] /= norm;
    int steps = 0;
    while (steps < iterations) {
        diagonal[steps] = lanczos_step(p, before, beta, q, w, scratch);
        beta = sqrt(dot(n, w, w));
        off_diagonal[steps++] = beta;
        if (!(beta > 1e-12 * fabs(diagonal[0]))) break;
        for (int64_t i = 0; i < n; i++) w[i] /= beta;
        double *oldest = before;
        before = q;
        q = w;
        w = oldest;
    }
    double lambda = largest_eigenvalue(steps, diagonal, off_diagonal);
    free(memory);
    return lambda > 0 ? sqrt(lambda) : 0;
}
