/* The highest frequency of a simulation at its start, by Lanczos. */
#include <math.h>
#include <twang/model.h>

#include "base/allocate.h"
#include "base/fail.h"
#include "linalg/vector.h"

enum { MOST_ITERATIONS = 200 };

typedef struct lanczos {
    const tw_second_order_problem *problem;
    int64_t n;
    double *q, *before, *Kq, *w; /* q_j, q_{j-1}, K q_j, M^-1 K q_j */
    double diagonal[MOST_ITERATIONS], off[MOST_ITERATIONS];
} lanczos;

static tw_status apply_mass(const lanczos *l, const double *in, double *out)
{
    if (l->problem->mass) return l->problem->mass->apply(l->problem->mass->context, 1, in, out);
    if (l->problem->lumped_mass)
        tw_vector_multiply(l->n, l->problem->lumped_mass, in, out);
    else
        tw_vector_copy(l->n, in, out);
    return TW_OK;
}

static tw_status solve_mass(const lanczos *l, const double *in, double *out)
{
    if (l->problem->mass) return l->problem->mass->solve(l->problem->mass->context, 1, in, out);
    if (l->problem->lumped_mass)
        tw_vector_divide(l->n, l->problem->lumped_mass, in, out);
    else
        tw_vector_copy(l->n, in, out);
    return TW_OK;
}

/* q /= |q|_M; the length is in *norm. Mq is scratch. */
static tw_status normalise(const lanczos *l, double *q, double *Mq, double *norm)
{
    double square = 0.0;
    tw_status status = apply_mass(l, q, Mq);
    if (status == TW_OK) status = tw_vector_dot(&l->problem->space, q, Mq, &square);
    if (status != TW_OK) return status;
    *norm = sqrt(fmax(square, 0.0));
    if (*norm > 0.0) tw_vector_scale(l->n, 1.0 / *norm, q);
    return TW_OK;
}

/* beta_j q_{j+1} = M^-1 K q_j - alpha_j q_j - beta_{j-1} q_{j-1}, without orthogonalising again: the largest Ritz value
 * does not need it. *count is how many were done. */
static tw_status iterate(lanczos *l, int most, int *count)
{
    double beta = 0.0;
    for (int j = 0; j < most; j++) {
        tw_status status = l->problem->apply_stiffness(l->problem->context, 1, l->q, l->Kq);
        if (status == TW_OK)
            status = tw_vector_dot(&l->problem->space, l->q, l->Kq, &l->diagonal[j]);
        if (status == TW_OK) status = solve_mass(l, l->Kq, l->w);
        if (status != TW_OK) return status;
        tw_vector_axpy(l->n, -l->diagonal[j], l->q, l->w);
        tw_vector_axpy(l->n, -beta, l->before, l->w);
        double *next = l->w;
        l->w = l->before;
        l->before = l->q;
        l->q = next;
        status = normalise(l, l->q, l->Kq, &beta);
        if (status != TW_OK) return status;
        l->off[j] = beta;
        *count = j + 1;
        if (!(beta > 1e-12 * fabs(l->diagonal[0]))) break;
    }
    return TW_OK;
}

/* Whether all eigenvalues of the tridiagonal matrix are below `bound` (Sturm sequence). */
static bool all_below(const lanczos *l, int count, double bound)
{
    double pivot = 1.0;
    for (int j = 0; j < count; j++) {
        double coupling = j > 0 ? l->off[j - 1] * l->off[j - 1] : 0.0;
        pivot = l->diagonal[j] - bound - coupling / pivot;
        if (pivot >= 0.0) return false;
    }
    return true;
}

static double largest_eigenvalue(const lanczos *l, int count)
{
    double high = 0.0, low = 0.0;
    for (int j = 0; j < count; j++)
        high = fmax(high, fabs(l->diagonal[j]) + (j > 0 ? l->off[j - 1] : 0.0) + l->off[j]);
    for (int bisection = 0; bisection < 60; bisection++) {
        double middle = 0.5 * (low + high);
        if (all_below(l, count, middle))
            high = middle;
        else
            low = middle;
    }
    return high;
}

/* A start vector with all frequencies in it, the same every time. */
static void fill_start(int64_t n, double *q)
{
    uint64_t state = 1;
    for (int64_t i = 0; i < n; i++) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        q[i] = (double)(state >> 11) / 9007199254740992.0 - 0.5;
    }
}

static tw_status estimate(lanczos *l, const double *start, int iterations, double *omega)
{
    const tw_second_order_problem *p = l->problem;
    double norm = 0.0;
    int count = 0;
    fill_start(l->n, l->q);
    tw_vector_fill(l->n, 0.0, l->before);
    tw_status status = p->linearise ? p->linearise(p->context, 0.0, start, start + l->n) : TW_OK;
    if (status == TW_OK) status = normalise(l, l->q, l->Kq, &norm);
    if (status == TW_OK) status = iterate(l, iterations, &count);
    if (status == TW_OK) *omega = sqrt(largest_eigenvalue(l, count));
    return status;
}

tw_status tw_simulation_frequency(const tw_simulation *simulation, int iterations, double *omega,
                                  tw_error *error)
{
    if (!simulation || !omega || iterations < 1) return tw_fail_plain(error, TW_INVALID_ARGUMENT);
    const tw_second_order_problem *problem = tw_simulation_second_order(simulation);
    *omega = 0.0;
    if (!problem || !problem->apply_stiffness)
        return tw_fail(error, TW_UNSUPPORTED,
                       "a frequency needs a second-order problem with products with K");
    lanczos *l = TW_NEW(lanczos);
    if (!l) return tw_fail_plain(error, TW_OUT_OF_MEMORY);
    l->problem = problem;
    l->n = problem->space.local_size;
    double *memory = TW_NEW_ARRAY(4 * l->n, double);
    tw_status status = memory ? TW_OK : TW_OUT_OF_MEMORY;
    if (memory) {
        l->q = memory;
        l->before = memory + l->n;
        l->Kq = memory + 2 * l->n;
        l->w = memory + 3 * l->n;
        status = estimate(l, tw_simulation_start(simulation),
                          iterations < MOST_ITERATIONS ? iterations : MOST_ITERATIONS, omega);
    }
    tw_release(memory);
    tw_release(l);
    return status == TW_OK ? TW_OK : tw_fail_plain(error, status);
}
