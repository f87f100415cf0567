/* The power method, and Lanczos without reorthogonalisation. */
#include "linalg/largest_eigenvalue.h"

#include <math.h>
#include <stdbool.h>

#include "base/fail.h"
#include "linalg/vector.h"

/* A coupling beta_j this small against alpha_0 means that the Krylov space is exhausted. */
static const double EXHAUSTED = 1e-12;
/* Halvings of the interval that holds the largest Ritz value: 2^-60 of its length is
 * below rounding. */
enum { BISECTIONS = 60 };

tw_status tw_power_method(const tw_matrix_pencil *pencil, int steps, double *x, double *work,
                          tw_power_estimate *estimate)
{
    const tw_space *space = &pencil->mass.space;
    int64_t n = space->local_size;
    *estimate = (tw_power_estimate){0};
    TW_TRY(tw_vector_norm(space, x, &estimate->last));

    for (int step = 0; step < steps; step++) {
        double length = estimate->last;
        if (!(length > 0 && isfinite(length))) break;

        /* x = A x / |x| */
        tw_vector_scale(n, 1.0 / length, x);
        estimate->products++;
        TW_TRY(pencil->stiffness(pencil->context, 1, x, work));
        TW_TRY(tw_mass_solve(&pencil->mass, 1, work, x));

        TW_TRY(tw_vector_norm(space, x, &estimate->last));
        estimate->largest = fmax(estimate->largest, estimate->last);
    }
    return TW_OK;
}

/* The Lanczos recurrence in the inner product of M, and the tridiagonal matrix T it makes. */
typedef struct recurrence {
    const tw_matrix_pencil *pencil;
    int64_t n;
    double *current;                     /* q_j */
    double *previous;                    /* q_{j-1} */
    double *force;                       /* K q_j */
    double *next;                        /* M^-1 K q_j, then q_{j+1} */
    int count;                           /* rows of T */
    double alpha[TW_LANCZOS_MOST_STEPS]; /* diagonal of T */
    double beta[TW_LANCZOS_MOST_STEPS];  /* beta[j] couples rows j and j + 1 */
} recurrence;

/* q /= |q|_M; *norm is the length before. */
static tw_status normalise(const recurrence *r, double *q, double *Mq, double *norm)
{
    double square = 0.0;
    TW_TRY(tw_mass_multiply(&r->pencil->mass, 1, q, Mq));
    TW_TRY(tw_vector_dot(&r->pencil->mass.space, q, Mq, &square));
    *norm = sqrt(fmax(square, 0.0));
    if (*norm > 0.0) tw_vector_scale(r->n, 1.0 / *norm, q);
    return TW_OK;
}

/* beta_j q_{j+1} = M^-1 K q_j - alpha_j q_j - beta_{j-1} q_{j-1}. The vectors are not
 * orthogonalised again: the largest Ritz value does not need it. */
static tw_status run_recurrence(recurrence *r, int steps)
{
    const tw_matrix_pencil *pencil = r->pencil;
    double beta = 0.0;
    for (int j = 0; j < steps; j++) {
        /* alpha_j = q_j^T K q_j */
        TW_TRY(pencil->stiffness(pencil->context, 1, r->current, r->force));
        TW_TRY(tw_vector_dot(&pencil->mass.space, r->current, r->force, &r->alpha[j]));

        /* next = M^-1 K q_j - alpha_j q_j - beta_{j-1} q_{j-1} */
        TW_TRY(tw_mass_solve(&pencil->mass, 1, r->force, r->next));
        tw_vector_axpy(r->n, -r->alpha[j], r->current, r->next);
        tw_vector_axpy(r->n, -beta, r->previous, r->next);

        /* The three vectors change roles: q_{j+1} becomes the current one. */
        double *next = r->next;
        r->next = r->previous;
        r->previous = r->current;
        r->current = next;

        TW_TRY(normalise(r, r->current, r->force, &beta));
        r->beta[j] = beta;
        r->count = j + 1;
        if (!(beta > EXHAUSTED * fabs(r->alpha[0]))) break;
    }
    return TW_OK;
}

/* Whether all eigenvalues of T are below `bound`: all pivots of T - bound I are negative
 * (Sturm sequence). */
static bool all_below(const recurrence *r, double bound)
{
    double pivot = 1.0;
    for (int j = 0; j < r->count; j++) {
        double coupling = j > 0 ? r->beta[j - 1] * r->beta[j - 1] : 0.0;
        pivot = r->alpha[j] - bound - coupling / pivot;
        if (pivot >= 0.0) return false;
    }
    return true;
}

/* The largest eigenvalue of T by bisection between 0 and Gershgorin's bound. */
static double largest_ritz_value(const recurrence *r)
{
    double low = 0.0;
    double high = 0.0;
    for (int j = 0; j < r->count; j++) {
        double before = j > 0 ? r->beta[j - 1] : 0.0;
        high = fmax(high, fabs(r->alpha[j]) + before + r->beta[j]);
    }

    /* `high` always is a bound, `low` never is one. */
    for (int i = 0; i < BISECTIONS; i++) {
        double middle = 0.5 * (low + high);
        if (all_below(r, middle))
            high = middle;
        else
            low = middle;
    }
    return high;
}

tw_status tw_lanczos_largest(const tw_matrix_pencil *pencil, int steps, double *memory,
                             double *eigenvalue)
{
    int64_t n = pencil->mass.space.local_size;
    recurrence r = {.pencil = pencil,
                    .n = n,
                    .current = memory,
                    .previous = memory + n,
                    .force = memory + 2 * n,
                    .next = memory + 3 * n};
    *eigenvalue = 0;

    /* q_0 = start / |start|_M, q_{-1} = 0 */
    double norm = 0.0;
    tw_vector_fill(n, 0.0, r.previous);
    TW_TRY(normalise(&r, r.current, r.force, &norm));

    /* T, and its largest eigenvalue. */
    if (steps > TW_LANCZOS_MOST_STEPS) steps = TW_LANCZOS_MOST_STEPS;
    TW_TRY(run_recurrence(&r, steps));
    *eigenvalue = largest_ritz_value(&r);
    return TW_OK;
}
