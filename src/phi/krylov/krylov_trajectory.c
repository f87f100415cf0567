/* One trajectory of the Krylov engines, followed from theta = 0 to its last node through
 * substeps. */
#include <float.h>
#include <math.h>

#include "base/fail.h"
#include "linalg/vector.h"
#include "phi/krylov/krylov.h"

enum {
    MOST_REJECTIONS =
        400, /* of one substep: each shrinks tau or enlarges m, so no sound run needs as many */
    MOST_ROUNDING_REJECTIONS = 40 /* of one substep because of cancellation: each halves tau */
};

/* A solution that has grown from about 1 to this size has left double precision. */
static const double LARGEST = 1e280;

/* Vectors added to a shortened basis: its error falls slowly before it falls fast. */
static const double SPARE_VECTORS = 8;

/* A projected exponential that overflows is tried again with |tau H| below this number. */
static const double SAFE_EXPONENT = 100;

static const double TWO_PI = 6.283185307179586;

/* ---- the start of a basis ---- */

/* w_j = s A w_{j-1} + sum_{l=0}^{p-j} t^l/l! b_{j+l}, w_0 = u (Luan and Michels 2022, 4.5). */
static tw_status recurrence_term(tw_krylov_stepper *s, int j)
{
    const tw_krylov_trajectory *trajectory = s->trajectory;
    const double *before = tw_krylov_term(s, j - 1);
    double *w = tw_krylov_term(s, j);

    /* s A w_{j-1}. */
    bool before_is_zero = s->terms[j - 1][0] == 0 && s->terms[j - 1][1] == 0;
    if (s->variant->skips_zero && before_is_zero)
        tw_vector_fill(s->n, 0.0, w);
    else
        TW_TRY(tw_arnoldi_apply(&s->memory->arnoldi, before, w));

    /* The coefficient runs through t^l/l!. */
    double coefficient = trajectory->factor;
    for (int l = 0; l <= s->order - j; l++) {
        const double *b = NULL;
        if (j + l <= trajectory->order) b = trajectory->vectors[j + l];
        if (b && coefficient != 0) tw_vector_axpy(s->n, coefficient, b, w);
        coefficient *= s->time / (l + 1);
    }
    return tw_krylov_norms(s, w, s->terms[j]);
}

/* phipm: u(t + tau) = tau^p phi_p(tau s A) w_p + sum_{j<p} tau^j/j! w_j (4.4): the basis starts
 * with w_p. */
static tw_status start_recurrence(tw_krylov_stepper *s)
{
    tw_vector_copy(s->n, s->u, tw_krylov_term(s, 0));
    TW_TRY(tw_krylov_norms(s, s->u, s->terms[0]));
    for (int j = 1; j <= s->order; j++) TW_TRY(recurrence_term(s, j));
    return tw_arnoldi_start(&s->memory->arnoldi, tw_krylov_term(s, s->order), NULL, &s->beta);
}

/* KIOPS: the basis starts with (u; a), a_k = mu t^{p-k}/(p-k)!, k = 1..p, and its columns are
 * b_{p+1-k}/mu. */
static tw_status start_augmented(tw_krylov_stepper *s)
{
    double tail[TW_PHI_MAX_ORDER] = {0};

    /* mu t^i/i! runs from the last entry to the first. */
    double power = s->trajectory->factor / s->memory->arnoldi.column_factor;
    for (int i = 0; i < s->order; i++) {
        tail[s->order - 1 - i] = power;
        power *= s->time / (i + 1);
    }
    return tw_arnoldi_start(&s->memory->arnoldi, s->u, tail, &s->beta);
}

static tw_status start_basis(tw_krylov_stepper *s)
{
    s->rounding_rejections = 0;
    return s->variant->augmented ? start_augmented(s) : start_recurrence(s);
}

/* The columns of KIOPS. mu is a power of two near the largest |b_k|, so that neither part outweighs
 * the other. */
static tw_status set_columns(tw_krylov_stepper *s)
{
    const tw_krylov_trajectory *trajectory = s->trajectory;
    tw_arnoldi *a = &s->memory->arnoldi;

    /* The scale mu. */
    double largest = 0;
    for (int k = 1; k <= s->order; k++)
        largest = fmax(largest, hypot(trajectory->sizes[k][0], trajectory->sizes[k][1]));
    double mu = largest > 0 ? ldexp(1.0, ilogb(largest) + 1) : 1;

    /* The columns themselves, and with a metric their duals. */
    a->tail = s->variant->augmented ? s->order : 0;
    a->column_factor = trajectory->factor / mu;
    for (int k = 0; k < a->tail; k++) {
        const double *b = trajectory->vectors[s->order - k];
        a->columns[k] = b;
        a->column_duals[k] = b ? tw_krylov_term(s, k) : NULL;
        if (b && a->metric) TW_TRY(tw_arnoldi_dual(a, b, tw_krylov_term(s, k)));
    }

    /* Their sizes, which the estimate of the residual needs. */
    for (int b = 0; b < 2; b++)
        for (int k = 1; k <= s->order; k++)
            s->column_sizes[b] = fmax(s->column_sizes[b], trajectory->sizes[k][b] / mu);
    return TW_OK;
}

/* ---- outputs ---- */

/* The errors of a substep as they are entered. A truncation error below the rounding of products is
 * rounding. */
static tw_part_errors errors_of(const tw_krylov_estimate *e)
{
    tw_part_errors errors;
    for (int b = 0; b < 2; b++) {
        errors.truncation[b] = e->truncation[b];
        if (e->truncation[b] <= e->floor[b]) errors.truncation[b] = 0;
        errors.rounding[b] = e->floor[b] + e->excess[b] + e->unknown[b];
    }
    return errors;
}

/* Adds u to the output of node `next` and sets its errors; `last` and `growth` are those of
 * tw_accounts_settle. */
static tw_status emit(tw_krylov_stepper *s, const double *u, const tw_part_errors *last,
                      double growth)
{
    tw_krylov_trajectory *trajectory = s->trajectory;
    int i = s->next++;

    /* output += weight * u. */
    double norms[2];
    tw_status status = tw_krylov_norms(s, u, norms);
    tw_vector_axpy(s->n, trajectory->weights[i], u, trajectory->outputs[i]);

    /* Its errors, with those of all substeps before. */
    tw_part_errors total = tw_accounts_settle(&s->accounts, i, trajectory->nodes[i],
                                              hypot(norms[0], norms[1]), last, growth);
    for (int b = 0; b < 2; b++) {
        trajectory->errors[i][b] = total.truncation[b];
        trajectory->rounding[i][b] = total.rounding[b];
    }
    return status;
}

/* Computes how far an error of this substep grows until the nodes that follow. */
static void foresee(tw_krylov_stepper *s, double tau)
{
    const tw_krylov_trajectory *trajectory = s->trajectory;
    tw_projection *projection = &s->memory->projection;

    s->growth = projection->forward[TW_PROJECTION_SAMPLES];
    for (int i = s->next; i < trajectory->node_count; i++) {
        double time = trajectory->nodes[i] - s->time - tau;
        s->amplified[i] = tw_projection_amplification(projection, time);
    }
}

/* Outputs strictly inside the substep come from the same basis. *omega > accept means that one of
 * them is not good enough yet; those before it are final. */
static tw_status emit_inside(tw_krylov_stepper *s, double tau, double *omega)
{
    const tw_krylov_trajectory *trajectory = s->trajectory;
    while (s->next < trajectory->node_count && trajectory->nodes[s->next] < s->time + tau) {
        /* The shorter substep to the node has its own estimate. */
        double inside = trajectory->nodes[s->next] - s->time;
        tw_krylov_estimate e;
        TW_TRY(tw_krylov_project(s, inside));
        TW_TRY(tw_krylov_estimate_substep(s, inside, s->spare, &e));
        *omega = e.omega;
        if (*omega > s->variant->accept) return TW_OK;

        /* It is good enough: the node gets its output. */
        tw_krylov_form_solution(s, inside, s->spare);
        tw_part_errors errors = errors_of(&e);
        double growth = s->memory->projection.forward[TW_PROJECTION_SAMPLES];
        TW_TRY(emit(s, s->spare, &errors, growth));
    }
    return TW_OK;
}

/* Takes the substep: u(time + tau) is in `candidate`. */
static tw_status take(tw_krylov_stepper *s, double tau, bool reaches_node,
                      const tw_krylov_estimate *e)
{
    double norms[2];
    TW_TRY(tw_krylov_norms(s, s->candidate, norms));
    double whole = hypot(norms[0], norms[1]);
    if (!(whole < LARGEST)) return TW_NOT_FINITE;

    /* The tolerance of later substeps relates to the largest size so far. */
    tw_krylov_scale_at(s, tau, s->scale);
    for (int b = 0; b < 2; b++) {
        s->scale[b] = fmax(s->scale[b], norms[b]);
        s->size[b] = fmax(s->size[b], norms[b]);
    }

    /* The candidate becomes u. */
    double *swap = s->u;
    s->u = s->candidate;
    s->candidate = swap;
    s->time = reaches_node ? s->trajectory->nodes[s->next] : s->time + tau;

    /* The errors are entered, and a node gets its output. */
    tw_account_entry entry = {.time = s->time,
                              .size = whole,
                              .errors = errors_of(e),
                              .growth = s->growth,
                              .amplified = s->amplified,
                              .nodes = s->trajectory->nodes};
    tw_accounts_add(&s->accounts, &entry, s->next, s->trajectory->node_count);
    return reaches_node ? emit(s, s->u, NULL, 1) : TW_OK;
}

/* The start vector of the basis is zero: u is a polynomial from here on. */
static tw_status finish_polynomial(tw_krylov_stepper *s)
{
    while (s->next < s->trajectory->node_count) {
        double tau = s->trajectory->nodes[s->next] - s->time;
        tw_vector_fill(s->n, 0.0, s->spare);
        tw_krylov_add_polynomial(s, tau, s->spare);

        /* Only rounding is left. */
        double scale[2];
        tw_part_errors errors = {{0}, {0}};
        tw_krylov_scale_at(s, tau, scale);
        for (int b = 0; b < 2; b++) errors.rounding[b] = DBL_EPSILON * scale[b];
        TW_TRY(emit(s, s->spare, &errors, 1));
    }
    return TW_OK;
}

/* ---- substeps ---- */

/* The substep to try. Before a basis is begun, the remaining time is cut evenly, and a shorter
 * substep needs fewer vectors. Once there are vectors, tau makes the most of them. */
static double plan_substep(tw_krylov_stepper *s, double remaining)
{
    tw_krylov_control *c = &s->control;
    bool no_basis = s->memory->arnoldi.dimension == 0;
    double count = ceil(remaining / c->tau * (1 - 1e-6));
    if (count > 1 && !no_basis) return c->tau;

    /* Equal parts of the way; the dimension shrinks in proportion, with some vectors to spare. */
    double tau = remaining / fmax(count, 1);
    double vectors = ceil(c->m * fmin(tau / c->tau, 1)) + SPARE_VECTORS;
    if (no_basis && vectors < c->m)
        c->m = vectors > c->min_dimension ? (int)vectors : c->min_dimension;
    c->tau = tau;
    return tau;
}

/* Rejects a trial without asking the controller. */
static tw_status shrink(tw_krylov_stepper *s, double factor, tw_phi_statistics *statistics)
{
    tw_krylov_control_shrink(&s->control, factor);
    statistics->rejected++;
    return TW_OK;
}

/* The solution at the end of an acceptable substep, and at the nodes inside it. */
static tw_status form_outputs(tw_krylov_stepper *s, double tau, double *omega)
{
    if (!s->candidate_is_ready) tw_krylov_form_solution(s, tau, s->candidate);
    foresee(s, tau);
    if (!s->variant->augmented) return TW_OK;

    double inside = 0;
    TW_TRY(emit_inside(s, tau, &inside));
    *omega = fmax(*omega, inside);
    return TW_OK;
}

/* The time that remains before the trajectory has to stop: phipm stops at every node, the augmented
 * form only at the last one. */
static double remaining_time(const tw_krylov_stepper *s)
{
    int last = s->next;
    if (s->variant->augmented) last = s->trajectory->node_count - 1;
    return s->trajectory->nodes[last] - s->time;
}

/* One trial of the current (tau, m): either a substep is taken, or tau and m change. */
static tw_status attempt(tw_krylov_stepper *s, tw_phi_statistics *statistics)
{
    tw_arnoldi *a = &s->memory->arnoldi;
    double remaining = remaining_time(s);
    double tau = plan_substep(s, remaining);
    bool reaches_node = tau >= remaining;

    /* The basis, as far as it is missing. */
    TW_TRY(tw_arnoldi_extend(a, s->control.m));
    if (a->dimension > statistics->dimension) statistics->dimension = a->dimension;

    /* An exponential that overflows asks for a shorter substep. */
    tw_status status = tw_krylov_project(s, tau);
    double norm = s->memory->projection.norm;
    if (status == TW_NOT_FINITE)
        return shrink(s, fmin(0.2, SAFE_EXPONENT / fmax(1, norm)), statistics);
    if (status) return status;

    /* The estimate. */
    tw_krylov_estimate e;
    TW_TRY(tw_krylov_estimate_substep(s, tau, s->candidate, &e));
    bool acceptable = e.omega <= s->variant->accept;

    /* Cancellation is less in a shorter substep. */
    if (acceptable && tw_krylov_cancels(s, &e, tau, e.scale) &&
        s->rounding_rejections++ < MOST_ROUNDING_REJECTIONS)
        return shrink(s, 0.5, statistics);

    tw_krylov_trial trial = {.remaining = remaining,
                             .omega = e.omega,
                             .norm = norm,
                             .dimension = a->dimension,
                             .exhausted = a->exhausted};
    if (acceptable) TW_TRY(form_outputs(s, tau, &trial.omega));

    if (!tw_krylov_control_judge(&s->control, &trial)) {
        statistics->rejected++;
        return TW_OK;
    }
    statistics->substeps++;
    TW_TRY(take(s, tau, reaches_node, &e));
    return s->next == s->trajectory->node_count ? TW_OK : start_basis(s);
}

/* Niesen and Wright's first substep
 *     tau = 10/|s A| ((m+1)! tol |u| / (4 |b_0| |s A|))^(1/m),   m = half the largest dimension,
 * where the norm of A is known; else the whole way to the first output. */
static double first_substep(const tw_krylov_stepper *s)
{
    const tw_krylov_trajectory *trajectory = s->trajectory;
    double first = trajectory->nodes[0];
    if (s->variant->augmented) first = trajectory->nodes[trajectory->node_count - 1];

    /* The formula needs |A|, and serves one node at a time. */
    double norm = fabs(trajectory->scale) * s->memory->arnoldi.op->norm;
    if (s->variant->augmented || s->variant->simultaneous || !(norm > 0)) return first;

    double start = hypot(s->size[0], s->size[1]);
    if (!(start > 0)) return first;

    /* Stirling's formula gives log (m+1)!. */
    double middle = ceil(s->control.max_dimension / 2.0);
    double size = hypot(trajectory->scales[0][0], trajectory->scales[0][1]);
    double terms = middle + 1;
    double factorial = terms * (log(terms) - 1) + 0.5 * log(TWO_PI * terms);
    double logarithm = factorial + log(trajectory->tolerance * size / (4 * start * norm));
    return fmin(first, 10 / norm * exp(logarithm / middle));
}

static void set_control(tw_krylov_stepper *s)
{
    const tw_arnoldi *a = &s->memory->arnoldi;
    tw_krylov_control *c = &s->control;
    c->variant = s->variant;

    /* The caller's limit replaces that of the variant; both are limited by the memory. */
    int wanted = s->workspace->options.max_dimension;
    int most = wanted > 0 ? wanted : s->variant->max_dimension;
    c->max_dimension = most < a->capacity ? most : a->capacity;
    c->min_dimension = s->variant->min_dimension;
    if (c->min_dimension > c->max_dimension) c->min_dimension = c->max_dimension;

    /* A product of unknown cost is taken for one with ten entries per row. */
    c->vector_size = (double)s->n;
    c->entries = 10.0 * (double)s->n;
    if (a->op->bytes_per_product > 0) c->entries = a->op->bytes_per_product / 8;
    c->columns = s->order + 1;
    tw_krylov_control_begin(c, first_substep(s));
}

/* u(0) = b_0, and the sizes known at the start. */
static void start(tw_krylov_stepper *s)
{
    const tw_krylov_trajectory *trajectory = s->trajectory;
    tw_krylov_memory *memory = s->memory;
    s->n = memory->arnoldi.op->space.local_size;
    s->u = memory->vectors[0];
    s->candidate = memory->vectors[1];
    s->spare = memory->vectors[2];
    memory->arnoldi.scale = trajectory->scale;

    /* u = b_0. */
    const double *b_0 = trajectory->vectors[0];
    tw_vector_fill(s->n, 0.0, s->u);
    if (b_0) tw_vector_axpy(s->n, trajectory->factor, b_0, s->u);
    for (int b = 0; b < 2; b++) s->size[b] = b_0 ? trajectory->sizes[0][b] : 0;
    tw_krylov_scale_at(s, 0, s->scale);

    /* Errors are compared with the size at the start, or with that of the last node. */
    const double *final = trajectory->scales[trajectory->node_count - 1];
    double initial_size = hypot(fmax(s->size[0], final[0]), fmax(s->size[1], final[1]));
    tw_accounts_begin(&s->accounts, initial_size, s->workspace->frame, trajectory->scale);
}

tw_status tw_krylov_trajectory_run(const tw_phi_workspace *workspace,
                                   const tw_krylov_variant *variant, tw_krylov_memory *memory,
                                   tw_krylov_trajectory *trajectory, tw_phi_statistics *statistics)
{
    tw_krylov_stepper s = {
        .workspace = workspace, .variant = variant, .trajectory = trajectory, .memory = memory};

    /* The recurrence of phipm needs a phi_p with p >= 1. */
    s.order = trajectory->order;
    if (!variant->augmented && s.order < 1) s.order = 1;
    s.index = variant->augmented ? 0 : s.order;

    start(&s);
    set_control(&s);
    TW_TRY(set_columns(&s));
    TW_TRY(start_basis(&s));

    /* Substeps until the last node is reached. */
    while (s.next < trajectory->node_count) {
        if (s.beta == 0) return finish_polynomial(&s);
        if (s.control.rejections > MOST_REJECTIONS) return TW_NOT_CONVERGED;
        TW_TRY(attempt(&s, statistics));
    }
    return TW_OK;
}
