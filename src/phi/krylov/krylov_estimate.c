/* What one substep of a Krylov trajectory leaves in the solution: truncation and rounding, per
 * part. */
#include <float.h>
#include <math.h>

#include "base/fail.h"
#include "linalg/vector.h"
#include "phi/krylov/krylov.h"

/* Coefficients may exceed the solution by this factor before the cancellation among them counts as
 * rounding. */
static const double CANCELLATION = 8;

/* Share of the tolerance that cancellation may use up. */
static const double CANCELLATION_SHARE = 0.5;

/* The true error is seldom more than this times the difference that one disturbance makes. */
static const double UNKNOWN_SAFETY = 4;

/* Another inner product may be smaller than the part norms by about this factor
 * (second_order_pair.c). */
static const double METRIC_MARGIN = 1e3;

double *tw_krylov_term(const tw_krylov_stepper *s, int j)
{
    return s->memory->recurrence + j * s->n;
}

tw_status tw_krylov_norms(const tw_krylov_stepper *s, const double *u, double norms[2])
{
    return tw_phi_part_norms(s->workspace, &s->memory->arnoldi.op->space, u, norms);
}

void tw_krylov_scale_at(const tw_krylov_stepper *s, double tau, double scale[2])
{
    const tw_krylov_trajectory *trajectory = s->trajectory;

    /* The node at or after time + tau. */
    int i = s->next;
    while (i + 1 < trajectory->node_count && trajectory->nodes[i] < s->time + tau) i++;

    for (int b = 0; b < 2; b++) scale[b] = fmax(s->size[b], trajectory->scales[i][b]);
}

tw_status tw_krylov_project(const tw_krylov_stepper *s, double tau)
{
    const tw_arnoldi *a = &s->memory->arnoldi;
    tw_projection *p = &s->memory->projection;
    int m = a->dimension;
    int stride = a->capacity + 1;
    if (a->exhausted) TW_TRY(tw_projection_disturb(p, m, a->H, stride, s->index, tau, a->rounding));
    return tw_projection_evaluate(p, m, a->H, stride, s->index, tau);
}

/* ---- the solution ---- */

void tw_krylov_add_polynomial(const tw_krylov_stepper *s, double tau, double *out)
{
    double power = 1;
    for (int j = 0; j < s->index; j++) {
        tw_vector_axpy(s->n, power, tw_krylov_term(s, j), out);
        power *= tau / (j + 1);
    }
}

/* The corrected scheme: beta V_m y + beta h_{m+1,m} correction v_{m+1}, plus the polynomial
 * part. */
void tw_krylov_form_solution(const tw_krylov_stepper *s, double tau, double *out)
{
    const tw_arnoldi *a = &s->memory->arnoldi;
    const tw_projection *p = &s->memory->projection;
    size_t side = (size_t)a->capacity + 1;
    size_t m = (size_t)a->dimension;
    tw_vector_fill(s->n, 0.0, out);
    tw_krylov_add_polynomial(s, tau, out);

    /* An exhausted basis has no vector beyond it. */
    double *c = a->window_products;
    for (size_t i = 0; i < m; i++) c[i] = s->beta * p->y[i];
    c[m] = s->beta * a->H[(m - 1) * side + m] * p->correction;
    tw_vector_add_combination(s->n, (int)m + (a->exhausted ? 0 : 1), a->basis, c, out);
}

/* An upper estimate of |u(time + tau)|, to see whether measuring it is worth while. */
static double size_at_most(const tw_krylov_stepper *s, double tau)
{
    double sum = s->beta * s->memory->projection.growth;

    /* The polynomial part adds tau^j/j! |w_j|. */
    double power = 1;
    for (int j = 0; j < s->index; j++) {
        sum += power * hypot(s->terms[j][0], s->terms[j][1]);
        power *= tau / (j + 1);
    }
    return s->memory->arnoldi.metric ? METRIC_MARGIN * sum : sum;
}

/* ---- truncation ---- */

static double tail_norm(const tw_arnoldi *a, int j)
{
    double sum = 0;
    for (int k = 0; k < a->tail; k++)
        sum = hypot(sum, a->tails[(size_t)j * TW_PHI_MAX_ORDER + (size_t)k]);
    return sum;
}

/* Norms of the parts of the residual's direction. In a second-order pair the parts alternate from
 * one basis vector to the next and mix in time, so the larger of the last two vectors is taken for
 * each part. */
static tw_status residual_direction(const tw_krylov_stepper *s, double parts[2])
{
    const tw_arnoldi *a = &s->memory->arnoldi;
    parts[0] = 1;
    parts[1] = 0;
    if (!s->workspace->frame) return TW_OK;

    /* An exhausted basis ends with v_m. */
    int last = a->exhausted ? a->dimension - 1 : a->dimension;
    parts[0] = 0;
    for (int j = a->dimension - 1; j <= last; j++) {
        double norms[2] = {0, 0};
        TW_TRY(tw_krylov_norms(s, a->basis + j * s->n, norms));

        /* The tail of the augmented form multiplies the columns. */
        for (int b = 0; b < 2; b++)
            parts[b] = fmax(parts[b], norms[b] + tail_norm(a, j) * s->column_sizes[b]);
    }
    return TW_OK;
}

/* beta h_{m+1,m} variation, in the direction of the residual. An exhausted space truncates nothing:
 * its residual is rounding. */
static tw_status estimate_truncation(const tw_krylov_stepper *s, tw_krylov_estimate *e)
{
    const tw_arnoldi *a = &s->memory->arnoldi;
    const tw_projection *p = &s->memory->projection;
    size_t side = (size_t)a->capacity + 1;
    size_t m = (size_t)a->dimension;
    double h = a->H[(m - 1) * side + m];

    double parts[2];
    TW_TRY(residual_direction(s, parts));
    for (int b = 0; b < 2; b++) {
        double residual = s->beta * h * p->variation * parts[b];
        e->truncation[b] = residual;
        e->remainder[b] = 0;
        if (a->exhausted) {
            e->truncation[b] = 0;
            e->remainder[b] = residual;
        }
    }
    return TW_OK;
}

/* The largest truncation error over the parts in units of what this substep may add. */
static double error_ratio(const tw_krylov_stepper *s, const tw_krylov_estimate *e, double tau,
                          const double scale[2])
{
    double omega = 0;
    for (int b = 0; b < 2; b++) {
        if (!(e->truncation[b] > 0)) continue;

        /* The tolerance in proportion to tau; below the rounding floor no accuracy can be had. */
        double allowed =
            fmax(s->trajectory->tolerance / s->variant->accept * tau * scale[b], e->floor[b]);
        omega = fmax(omega, allowed > 0 ? e->truncation[b] / allowed : DBL_MAX);
    }
    return omega;
}

/* ---- rounding ---- */

/* Norms of sum_{j<p} tau^j/j! |w_j|: how large the terms of the polynomial part are before they
 * cancel. */
static void polynomial_sizes(const tw_krylov_stepper *s, double tau, double polynomial[2])
{
    double power = 1;
    polynomial[0] = 0;
    polynomial[1] = 0;
    for (int j = 0; j < s->index; j++) {
        for (int b = 0; b < 2; b++) polynomial[b] += power * s->terms[j][b];
        power *= tau / (j + 1);
    }
}

/* In a pair, x' = omega v has no rounding and v' = -A x / omega has: each part takes over what the
 * other one has. A part that is exactly zero is so by structure, and nothing was rounded there. */
static void exchange_rounding(const tw_krylov_stepper *s, double T, const double scale[2],
                              tw_krylov_estimate *e)
{
    if (!s->workspace->frame) {
        e->floor[1] = 0;
        e->excess[1] = 0;
        return;
    }

    if (scale[0] > 0) e->floor[0] += DBL_EPSILON * fmin(T, 1) * scale[1];
    if (scale[1] > 0) e->floor[1] += DBL_EPSILON * T * scale[0];
}

/* Rounding of one substep of angle T = |tau L|: of products and sums (floor), and of cancellation
 * among large terms (excess). */
static void estimate_rounding(const tw_krylov_stepper *s, double tau, const double scale[2],
                              tw_krylov_estimate *e)
{
    const tw_projection *p = &s->memory->projection;
    const tw_arnoldi *a = &s->memory->arnoldi;

    /* The angle of the substep, and the sizes that may cancel. */
    double T = a->tail ? tau * a->steepest : p->norm;
    double whole = hypot(scale[0], scale[1]);
    double polynomial[2];
    polynomial_sizes(s, tau, polynomial);

    /* A disturbance on the way may grow more than the solution. The tail of the augmented form is
     * exact. */
    double initial = s->variant->augmented ? s->beta : 0;
    double usual = fmax(whole, s->variant->augmented ? s->beta * p->growth : 0);
    double sensitivity = usual > 0 ? fmax(1, s->beta * p->perturbation / usual) : 1;

    /* Coefficients far above the solution cancel. */
    double coefficients = fmax(0, s->beta * p->growth - CANCELLATION * fmax(whole, initial));
    for (int b = 0; b < 2; b++) {
        double cancelled = coefficients + fmax(0, polynomial[b] - CANCELLATION * scale[b]);

        /* A disturbance counts as far as it exceeds the solution. The small matrix does not know the
         * blocks, so the disturbance of a large block also reaches a small one. */
        double spread = scale[b] > 0 ? whole : 0;
        double disturbed = fmax((sensitivity - 1) * spread,
                                p->forward[TW_PROJECTION_SAMPLES] * s->scale[b] - scale[b]);
        e->floor[b] = DBL_EPSILON * (1 + T) * scale[b];
        e->excess[b] = e->remainder[b] + DBL_EPSILON * (cancelled + (1 + T) * fmax(0, disturbed));
    }
    exchange_rounding(s, T, scale, e);
}

/* An exhausted basis takes substeps of any length, in which the samples of the projection see little
 * of what happens between them. The same substep with an H that is off by rounding tells what H does
 * not know. `scratch` is a vector. */
static tw_status estimate_unknown(const tw_krylov_stepper *s, double *scratch,
                                  tw_krylov_estimate *e)
{
    const tw_arnoldi *a = &s->memory->arnoldi;
    const tw_projection *p = &s->memory->projection;
    e->unknown[0] = 0;
    e->unknown[1] = 0;
    if (!a->exhausted) return TW_OK;

    /* |beta V (y - y_disturbed)| in each part. */
    double *c = a->window_products;
    for (int i = 0; i < a->dimension; i++) c[i] = s->beta * (p->y[i] - p->disturbed[i]);
    tw_vector_fill(s->n, 0.0, scratch);
    tw_vector_add_combination(s->n, a->dimension, a->basis, c, scratch);
    TW_TRY(tw_krylov_norms(s, scratch, e->unknown));
    for (int b = 0; b < 2; b++) e->unknown[b] *= UNKNOWN_SAFETY;
    return TW_OK;
}

bool tw_krylov_cancels(const tw_krylov_stepper *s, const tw_krylov_estimate *e, double tau,
                       const double scale[2])
{
    /* A share in proportion to tau, but at least that of a tenth of the way. */
    double share = s->trajectory->tolerance * fmax(tau, 0.1) * CANCELLATION_SHARE;

    for (int b = 0; b < 2; b++)
        if (e->excess[b] > fmax(share * scale[b], 4 * e->floor[b])) return true;
    return false;
}

/* ---- both ---- */

/* Whether the estimate passes with this size of the solution. */
static bool passes(const tw_krylov_stepper *s, const tw_krylov_estimate *e, double tau,
                   const double scale[2])
{
    return error_ratio(s, e, tau, scale) <= s->variant->accept &&
           !tw_krylov_cancels(s, e, tau, scale);
}

tw_status tw_krylov_estimate_substep(tw_krylov_stepper *s, double tau, double *out,
                                     tw_krylov_estimate *e)
{
    /* First judgement: with the sizes known so far. */
    double *scale = e->scale;
    tw_krylov_scale_at(s, tau, scale);
    TW_TRY(estimate_truncation(s, e));
    TW_TRY(estimate_unknown(s, out, e));
    estimate_rounding(s, tau, scale, e);
    e->omega = error_ratio(s, e, tau, scale);
    s->candidate_is_ready = false;

    /* A part of size zero comes into being in this substep, and its size is not known. */
    bool unknown = s->workspace->frame && (scale[0] == 0 || scale[1] == 0);
    if (!unknown && passes(s, e, tau, scale)) return TW_OK;

    /* If even the largest possible size does not help, the substep fails. */
    double most = size_at_most(s, tau);
    double hopeful[2] = {fmax(scale[0], most), fmax(scale[1], most)};
    if (!passes(s, e, tau, hopeful)) return TW_OK;

    /* A basis that is too small for the angle may be far off, and its error must not be compared with
     * its own size: m vectors resolve an angle of m^2 at most (Hochbruck and Lubich 1997). */
    const tw_arnoldi *a = &s->memory->arnoldi;
    double resolved = (double)a->dimension * a->dimension;
    if (!a->exhausted && s->memory->projection.norm > resolved) return TW_OK;

    /* Second judgement: with the size that the solution has grown to. */
    double norms[2];
    tw_krylov_form_solution(s, tau, out);
    TW_TRY(tw_krylov_norms(s, out, norms));
    for (int b = 0; b < 2; b++) scale[b] = fmax(scale[b], norms[b]);
    estimate_rounding(s, tau, scale, e);
    e->omega = error_ratio(s, e, tau, scale);
    s->candidate_is_ready = true;
    return TW_OK;
}
