#include "phi/krylov/phi_substeps.h"

#include <float.h>
#include <math.h>

#include "linalg/vector.h"
#include "phi/krylov/error_accounts.h"

/* More rejections of one substep than any healthy controller needs: each shrinks tau or enlarges m. */
enum { MOST_REJECTIONS = 400, MOST_ROUNDING_REJECTIONS = 40 };
/* A solution that has grown this far, from about 1, has left double precision. */
static const double LARGEST = 1e280;
/* Coefficients may exceed the solution by this factor before the cancellation among them counts as rounding. */
static const double CANCELLATION = 8;

typedef struct stepper {
    const tw_phi_workspace *workspace;
    const tw_krylov_method *method;
    tw_phi_sweep *sweep;
    tw_krylov_memory *memory;
    tw_krylov_control control;
    int64_t n;
    int order; /* p: of the recurrence at least 1 */
    int index; /* of the projected phi-function: p of the recurrence, 0 of the augmented form */

    double *u, *candidate, *spare;
    double time;
    int next;                              /* first node not yet reached */
    double beta;                           /* norm of the start vector of the basis */
    double column_sizes[2];                /* of the augmented columns, times their factor */
    double terms[TW_PHI_MAX_ORDER + 1][2]; /* norms of w_j, per block */
    double amplified[TW_PHI_MAX_NODES];    /* growth of this substep's error until node i */
    bool candidate_is_ready;
    int rounding_rejections;

    double size[2];  /* largest |u| so far, per block */
    double scale[2]; /* to which the tolerance related at the last substep */
    double growth;   /* most growth of an earlier error during this substep */
    tw_error_accounts accounts;
} stepper;

/* What one trial of tau is expected to leave in u, per block. */
typedef struct estimate {
    double truncation[2], floor[2], excess[2], remainder[2];
} estimate;

static double *term(const stepper *s, int j)
{
    return s->memory->recurrence + j * s->n;
}

static tw_status norms_of(const stepper *s, const double *u, double norms[2])
{
    return tw_phi_block_norms(s->workspace, &s->memory->arnoldi.op->space, u, norms);
}

/* w_j = s A w_{j-1} + sum_{l=0}^{p-j} t^l/l! b_{j+l}, w_0 = u (Luan and Michels 2022, 4.5). */
static tw_status recurrence_term(stepper *s, int j)
{
    double *w = term(s, j), coefficient = s->sweep->factor;
    const double *before = term(s, j - 1);
    tw_status status = TW_OK;
    if (s->method->skips_zero && s->terms[j - 1][0] == 0 && s->terms[j - 1][1] == 0)
        tw_vector_fill(s->n, 0.0, w);
    else
        status = tw_arnoldi_apply(&s->memory->arnoldi, before, w);
    for (int l = 0; l <= s->order - j; l++) {
        const double *b = j + l <= s->sweep->order ? s->sweep->vectors[j + l] : NULL;
        if (b && coefficient != 0) tw_vector_axpy(s->n, coefficient, b, w);
        coefficient *= s->time / (l + 1);
    }
    return status ? status : norms_of(s, w, s->terms[j]);
}

/* phipm: u(t + tau) = tau^p phi_p(tau s A) w_p + sum_{j<p} tau^j/j! w_j (4.4): the basis starts with w_p. */
static tw_status start_recurrence(stepper *s)
{
    tw_vector_copy(s->n, s->u, term(s, 0));
    tw_status status = norms_of(s, s->u, s->terms[0]);
    for (int j = 1; j <= s->order && status == TW_OK; j++) status = recurrence_term(s, j);
    return status ? status
                  : tw_arnoldi_start(&s->memory->arnoldi, term(s, s->order), NULL, &s->beta);
}

/* KIOPS: the basis starts with (u; a), a_k = mu t^{p-k}/(p-k)!, k = 1..p, and its columns are b_{p+1-k}/mu. */
static tw_status start_augmented(stepper *s)
{
    double tail[TW_PHI_MAX_ORDER] = {0},
           power = s->sweep->factor / s->memory->arnoldi.column_factor;
    for (int i = 0; i < s->order; i++) {
        tail[s->order - 1 - i] = power;
        power *= s->time / (i + 1);
    }
    return tw_arnoldi_start(&s->memory->arnoldi, s->u, tail, &s->beta);
}

static tw_status start_basis(stepper *s)
{
    s->rounding_rejections = 0;
    return s->method->augmented ? start_augmented(s) : start_recurrence(s);
}

/* The columns of KIOPS: mu is a power of two near the largest |b_k|, so that neither part outweighs the other. */
static tw_status set_columns(stepper *s)
{
    tw_arnoldi *a = &s->memory->arnoldi;
    double largest = 0;
    tw_status status = TW_OK;
    a->tail = s->method->augmented ? s->order : 0;
    for (int k = 1; k <= s->order; k++)
        largest = fmax(largest, hypot(s->sweep->sizes[k][0], s->sweep->sizes[k][1]));
    double mu = largest > 0 ? ldexp(1.0, ilogb(largest) + 1) : 1;
    a->column_factor = s->sweep->factor / mu;
    for (int k = 0; k < a->tail && status == TW_OK; k++) {
        const double *b = s->sweep->vectors[s->order - k];
        a->columns[k] = b;
        a->column_duals[k] = b ? term(s, k) : NULL;
        if (b && a->metric) status = tw_arnoldi_dual(a, b, term(s, k));
    }
    for (int b = 0; b < 2; b++)
        for (int k = 1; k <= s->order; k++)
            s->column_sizes[b] = fmax(s->column_sizes[b], s->sweep->sizes[k][b] / mu);
    return status;
}

static double tail_norm(const tw_arnoldi *a, int j)
{
    double sum = 0;
    for (int k = 0; k < a->tail; k++)
        sum = hypot(sum, a->tails[(size_t)j * TW_PHI_MAX_ORDER + (size_t)k]);
    return sum;
}

/* Norms per block of the direction of the residual. In a second-order pair the parts alternate from one basis vector to
 * the next and mix as time goes by, so the last two vectors speak for it. */
static tw_status residual_direction(const stepper *s, double blocks[2])
{
    const tw_arnoldi *a = &s->memory->arnoldi;
    blocks[0] = 1;
    blocks[1] = 0;
    if (!s->workspace->frame) return TW_OK;
    tw_status status = TW_OK;
    blocks[0] = 0;
    for (int j = a->dimension - 1; j <= a->dimension - (a->exhausted ? 1 : 0) && status == TW_OK;
         j++) {
        double norms[2] = {0, 0};
        status = norms_of(s, a->basis + j * s->n, norms);
        for (int b = 0; b < 2; b++)
            blocks[b] = fmax(blocks[b], norms[b] + tail_norm(a, j) * s->column_sizes[b]);
    }
    return status;
}

/* The least size of u(time + tau) to which the tolerance relates. */
static void scale_at(const stepper *s, double tau, double scale[2])
{
    int i = s->next;
    while (i + 1 < s->sweep->node_count && s->sweep->nodes[i] < s->time + tau) i++;
    for (int b = 0; b < 2; b++) scale[b] = fmax(s->size[b], s->sweep->scales[i][b]);
}

/* Rounding of one substep: of products and sums (floor: there is no way round it), and of cancellation among large
 * terms (excess: a smaller substep has less of it). In a pair x' = omega v is exact, v' = -A x / omega is not. */
static void estimate_rounding(const stepper *s, double tau, const double scale[2], estimate *e)
{
    const tw_projection *p = &s->memory->projection;
    const tw_arnoldi *a = &s->memory->arnoldi;
    double T = a->tail ? tau * a->steepest : p->norm, whole = hypot(scale[0], scale[1]),
           polynomial[2] = {0, 0}, power = 1;
    double initial = s->method->augmented ? s->beta : 0; /* the tail's share of it is exact */
    for (int j = 0; j < s->index; j++) {
        for (int b = 0; b < 2; b++) polynomial[b] += power * s->terms[j][b];
        power *= tau / (j + 1);
    }
    double usual = fmax(whole, s->method->augmented ? s->beta * p->growth : 0);
    double sensitivity = usual > 0 ? fmax(1, s->beta * p->perturbation / usual) : 1;
    double coefficients = fmax(0, s->beta * p->growth - CANCELLATION * fmax(whole, initial));
    for (int b = 0; b < 2; b++) {
        double cancelled = coefficients + fmax(0, polynomial[b] - CANCELLATION * scale[b]);
        double disturbed = fmax((sensitivity - 1) * scale[b],
                                p->forward[TW_PROJECTION_SAMPLES] * s->scale[b] - scale[b]);
        e->floor[b] = DBL_EPSILON * (1 + T) * scale[b];
        e->excess[b] = e->remainder[b] + DBL_EPSILON * (cancelled + (1 + T) * fmax(0, disturbed));
    }
    if (!s->workspace->frame) {
        e->floor[1] = e->excess[1] = 0;
        return;
    }
    /* A part that is exactly zero is so by structure, and nothing was rounded there. */
    if (scale[0] > 0) e->floor[0] += DBL_EPSILON * fmin(T, 1) * scale[1];
    if (scale[1] > 0) e->floor[1] += DBL_EPSILON * T * scale[0];
}

/* Where the space is exhausted nothing is truncated: what is left is rounding, to be added to e->excess. */
static tw_status estimate_truncation(const stepper *s, estimate *e)
{
    const tw_arnoldi *a = &s->memory->arnoldi;
    const tw_projection *p = &s->memory->projection;
    size_t side = (size_t)a->capacity + 1, m = (size_t)a->dimension;
    double h = a->H[(m - 1) * side + m], blocks[2];
    tw_status status = residual_direction(s, blocks);
    for (int b = 0; b < 2; b++) {
        double residual = s->beta * h * p->variation * blocks[b];
        e->truncation[b] = a->exhausted ? 0 : residual;
        e->remainder[b] = a->exhausted ? residual : 0;
    }
    return status;
}

/* The largest error over the blocks in units of what this substep may add. */
static double error_ratio(const stepper *s, const estimate *e, double tau, const double scale[2])
{
    double omega = 0;
    for (int b = 0; b < 2; b++) {
        double allowed =
            fmax(s->sweep->tolerance / s->method->accept * tau * scale[b], e->floor[b]);
        if (e->truncation[b] > 0)
            omega = fmax(omega, allowed > 0 ? e->truncation[b] / allowed : DBL_MAX);
    }
    return omega;
}

/* out = u(time + tau) by the corrected scheme: the basis, the one vector beyond it, and the polynomial part. */
static void form_solution(const stepper *s, double tau, double *out)
{
    const tw_arnoldi *a = &s->memory->arnoldi;
    tw_projection *p = &s->memory->projection;
    size_t side = (size_t)a->capacity + 1, m = (size_t)a->dimension;
    double power = 1, *c = a->window_products;
    tw_vector_fill(s->n, 0.0, out);
    for (int j = 0; j < s->index; j++) {
        tw_vector_axpy(s->n, power, term(s, j), out);
        power *= tau / (j + 1);
    }
    for (size_t i = 0; i < m; i++) c[i] = s->beta * p->y[i];
    c[m] = s->beta * a->H[(m - 1) * side + m] * p->correction;
    tw_vector_add_combination(s->n, (int)m + (a->exhausted ? 0 : 1), a->basis, c, out);
}

/* An upper estimate of the size that u(time + tau) may have, to see whether measuring it is worth while. */
static double size_at_most(const stepper *s, double tau)
{
    double sum = s->beta * s->memory->projection.growth, power = 1;
    for (int j = 0; j < s->index; j++) {
        sum += power * hypot(s->terms[j][0], s->terms[j][1]);
        power *= tau / (j + 1);
    }
    return s->memory->arnoldi.metric ? 1e3 * sum : sum;
}

static tw_status project(const stepper *s, double tau)
{
    const tw_arnoldi *a = &s->memory->arnoldi;
    return tw_projection_evaluate(&s->memory->projection, a->dimension, a->H, a->capacity + 1,
                                  s->index, tau);
}

static bool cancels_too_much(const stepper *s, const estimate *e, double tau, const double scale[2])
{
    for (int b = 0; b < 2; b++)
        if (e->excess[b] >
            fmax(s->sweep->tolerance * fmax(tau, 0.1) * 0.5 * scale[b], 4 * e->floor[b]))
            return true;
    return false;
}

/* Estimates the substep tau. Where the solution has grown, the tolerance relates to its new size: then it is formed. */
static tw_status estimate_substep(stepper *s, double tau, double *out, estimate *e, double scale[2],
                                  double *omega)
{
    double hopeful[2], norms[2], most = size_at_most(s, tau);
    scale_at(s, tau, scale);
    tw_status status = estimate_truncation(s, e);
    if (status) return status;
    estimate_rounding(s, tau, scale, e);
    *omega = error_ratio(s, e, tau, scale);
    s->candidate_is_ready = false;
    for (int b = 0; b < 2; b++) hopeful[b] = fmax(scale[b], most);
    bool unknown = s->workspace->frame &&
                   (scale[0] == 0 || scale[1] == 0); /* a part that only now comes to be */
    if (*omega <= s->method->accept && !unknown && !cancels_too_much(s, e, tau, scale))
        return TW_OK;
    if (error_ratio(s, e, tau, hopeful) > s->method->accept || cancels_too_much(s, e, tau, hopeful))
        return TW_OK;
    form_solution(s, tau, out);
    status = norms_of(s, out, norms);
    for (int b = 0; b < 2; b++) scale[b] = fmax(scale[b], norms[b]);
    estimate_rounding(s, tau, scale, e);
    *omega = error_ratio(s, e, tau, scale);
    s->candidate_is_ready = true;
    return status;
}

/* What the substep leaves, for the books. */
static tw_block_errors errors_of(const estimate *e)
{
    tw_block_errors errors;
    for (int b = 0; b < 2; b++) {
        bool is_rounding = e->truncation[b] <= e->floor[b];
        errors.truncation[b] = is_rounding ? 0 : e->truncation[b];
        errors.rounding[b] = e->floor[b] + e->excess[b];
    }
    return errors;
}

/* Output of node `next`, reached with u; `last` and `growth` as in tw_accounts_settle. */
static tw_status emit(stepper *s, const double *u, const tw_block_errors *last, double growth)
{
    int i = s->next++;
    double norms[2], time = s->sweep->nodes[i];
    tw_status status = norms_of(s, u, norms);
    tw_vector_axpy(s->n, s->sweep->weights[i], u, s->sweep->outputs[i]);
    tw_block_errors total =
        tw_accounts_settle(&s->accounts, i, time, hypot(norms[0], norms[1]), last, growth);
    for (int b = 0; b < 2; b++) {
        s->sweep->errors[i][b] = total.truncation[b];
        s->sweep->rounding[i][b] = total.rounding[b];
    }
    return status;
}

/* How far an error of this substep will have grown at the nodes that follow. */
static void foresee(stepper *s, double tau)
{
    s->growth = s->memory->projection.forward[TW_PROJECTION_SAMPLES];
    for (int i = s->next; i < s->sweep->node_count; i++)
        s->amplified[i] =
            tw_projection_amplification(&s->memory->projection, s->sweep->nodes[i] - s->time - tau);
}

/* Outputs strictly inside the substep come from the same basis. *omega > accept tells that one of them is not yet good
 * enough; those before it are final. */
static tw_status emit_inside(stepper *s, double tau, double *omega)
{
    tw_status status = TW_OK;
    while (s->next < s->sweep->node_count && s->sweep->nodes[s->next] < s->time + tau) {
        double inside = s->sweep->nodes[s->next] - s->time, scale[2];
        estimate e;
        status = project(s, inside);
        if (status == TW_OK) status = estimate_substep(s, inside, s->spare, &e, scale, omega);
        if (status || *omega > s->method->accept) return status;
        form_solution(s, inside, s->spare);
        tw_block_errors errors = errors_of(&e);
        status = emit(s, s->spare, &errors, s->memory->projection.forward[TW_PROJECTION_SAMPLES]);
        if (status) return status;
    }
    return TW_OK;
}

/* Takes the substep: u(time + tau) is in `candidate`. */
static tw_status take(stepper *s, double tau, bool reaches_node, const estimate *e)
{
    double norms[2], *swap = s->u;
    tw_block_errors errors = errors_of(e);
    tw_status status = norms_of(s, s->candidate, norms);
    if (status) return status;
    if (!(hypot(norms[0], norms[1]) < LARGEST)) return TW_NOT_FINITE;
    scale_at(s, tau, s->scale);
    for (int b = 0; b < 2; b++) {
        s->scale[b] = fmax(s->scale[b], norms[b]);
        s->size[b] = fmax(s->size[b], norms[b]);
    }
    s->u = s->candidate;
    s->candidate = swap;
    s->time = reaches_node ? s->sweep->nodes[s->next] : s->time + tau;
    tw_accounts_add(&s->accounts, s->time, hypot(norms[0], norms[1]), &errors, s->growth,
                    s->amplified, s->next, s->sweep->node_count);
    return reaches_node ? emit(s, s->u, NULL, 1) : TW_OK;
}

/* The w_p of the recurrence is zero, or there is nothing at all: u is a polynomial from here on. */
static tw_status finish_polynomial(stepper *s)
{
    tw_status status = TW_OK;
    while (s->next < s->sweep->node_count && status == TW_OK) {
        double tau = s->sweep->nodes[s->next] - s->time, power = 1, scale[2];
        tw_block_errors errors = {{0}, {0}};
        tw_vector_fill(s->n, 0.0, s->spare);
        for (int j = 0; j < s->index; j++) {
            tw_vector_axpy(s->n, power, term(s, j), s->spare);
            power *= tau / (j + 1);
        }
        scale_at(s, tau, scale);
        for (int b = 0; b < 2; b++) errors.rounding[b] = DBL_EPSILON * scale[b];
        status = emit(s, s->spare, &errors, 1);
    }
    return status;
}

/* The substep to try. Before a basis is begun the way that remains is cut evenly, and a shorter substep needs fewer
 * vectors; once there are vectors, they are made the most of. */
static double plan_substep(stepper *s, double remaining)
{
    tw_krylov_control *c = &s->control;
    double count = ceil(remaining / c->tau * (1 - 1e-6));
    if (count <= 1 || s->memory->arnoldi.dimension == 0) {
        double tau = remaining / fmax(count, 1);
        double vectors = ceil(c->m * fmin(tau / c->tau, 1)) + 8;
        if (s->memory->arnoldi.dimension == 0 && vectors < c->m)
            c->m = vectors > c->min_dimension ? (int)vectors : c->min_dimension;
        c->tau = tau;
    }
    return c->tau;
}

/* One trial of the current (tau, m): a substep taken, or tau and m changed. */
static tw_status attempt(stepper *s, tw_phi_statistics *statistics)
{
    tw_arnoldi *a = &s->memory->arnoldi;
    int last = s->method->augmented ? s->sweep->node_count - 1 : s->next;
    double remaining = s->sweep->nodes[last] - s->time, scale[2];
    double tau = plan_substep(s, remaining);
    bool reaches_node = tau >= remaining;
    estimate e;
    tw_krylov_trial trial = {.remaining = remaining};
    tw_status status = tw_arnoldi_extend(a, s->control.m);
    if (status) return status;
    statistics->dimension =
        a->dimension > statistics->dimension ? a->dimension : statistics->dimension;
    status = project(s, tau);
    if (status == TW_NOT_FINITE) {
        tw_krylov_control_shrink(&s->control, fmin(0.2, 100 / fmax(1, s->memory->projection.norm)));
        statistics->rejected++;
        return TW_OK;
    }
    if (status == TW_OK) status = estimate_substep(s, tau, s->candidate, &e, scale, &trial.omega);
    if (status) return status;
    if (trial.omega <= s->method->accept && cancels_too_much(s, &e, tau, scale) &&
        s->rounding_rejections++ < MOST_ROUNDING_REJECTIONS) {
        tw_krylov_control_shrink(&s->control, 0.5);
        statistics->rejected++;
        return TW_OK;
    }
    trial.norm = s->memory->projection.norm;
    trial.dimension = a->dimension;
    trial.exhausted = a->exhausted;
    if (trial.omega <= s->method->accept && !s->candidate_is_ready)
        form_solution(s, tau, s->candidate);
    if (trial.omega <= s->method->accept) foresee(s, tau);
    if (trial.omega <= s->method->accept && s->method->augmented) {
        double inside = 0;
        status = emit_inside(s, tau, &inside);
        trial.omega = fmax(trial.omega, inside);
    }
    if (status) return status;
    if (!tw_krylov_control_judge(&s->control, &trial)) {
        statistics->rejected++;
        return TW_OK;
    }
    statistics->substeps++;
    status = take(s, tau, reaches_node, &e);
    return status || s->next == s->sweep->node_count ? status : start_basis(s);
}

/* Niesen and Wright's first substep where the norm of the operator is known; else the whole way to the first output. */
static double first_substep(const stepper *s)
{
    double first = s->sweep->nodes[s->method->augmented ? s->sweep->node_count - 1 : 0];
    double norm = fabs(s->sweep->scale) * s->memory->arnoldi.op->norm;
    if (s->method->augmented || s->method->simultaneous || !(norm > 0)) return first;
    double middle = ceil(s->control.max_dimension / 2.0),
           size = hypot(s->sweep->scales[0][0], s->sweep->scales[0][1]);
    double start = hypot(s->size[0], s->size[1]);
    if (!(start > 0)) return first;
    double terms = middle + 1, factorial = terms * (log(terms) - 1) +
                                           0.5 * log(6.283185307179586 * terms); /* its log */
    double logarithm = factorial + log(s->sweep->tolerance * size / (4 * start * norm));
    return fmin(first, 10 / norm * exp(logarithm / middle));
}

static void set_control(stepper *s)
{
    const tw_arnoldi *a = &s->memory->arnoldi;
    int wanted = s->workspace->options.max_dimension;
    int most = wanted > 0 ? wanted : s->method->max_dimension;
    s->control.method = s->method;
    s->control.max_dimension = most < a->capacity ? most : a->capacity;
    s->control.min_dimension = s->method->min_dimension < s->control.max_dimension
                                   ? s->method->min_dimension
                                   : s->control.max_dimension;
    s->control.vector_size = (double)s->n;
    s->control.entries =
        a->op->bytes_per_product > 0 ? a->op->bytes_per_product / 8 : 10.0 * (double)s->n;
    s->control.columns = s->order + 1;
    tw_krylov_control_begin(&s->control, first_substep(s));
}

tw_status tw_phi_substeps_run(const tw_phi_workspace *workspace, const tw_krylov_method *method,
                              tw_krylov_memory *memory, tw_phi_sweep *sweep,
                              tw_phi_statistics *statistics)
{
    stepper s = {.workspace = workspace, .method = method, .sweep = sweep, .memory = memory};
    tw_arnoldi *a = &memory->arnoldi;
    s.n = a->op->space.local_size;
    s.order = !method->augmented && sweep->order < 1 ? 1 : sweep->order;
    s.index = method->augmented ? 0 : s.order;
    s.u = memory->vectors[0];
    s.candidate = memory->vectors[1];
    s.spare = memory->vectors[2];
    a->scale = sweep->scale;
    tw_vector_fill(s.n, 0.0, s.u);
    if (sweep->vectors[0]) tw_vector_axpy(s.n, sweep->factor, sweep->vectors[0], s.u);
    for (int b = 0; b < 2; b++) s.size[b] = sweep->vectors[0] ? sweep->sizes[0][b] : 0;
    scale_at(&s, 0, s.scale);
    const double *final = sweep->scales[sweep->node_count - 1];
    tw_accounts_begin(&s.accounts, hypot(fmax(s.size[0], final[0]), fmax(s.size[1], final[1])));
    set_control(&s);
    tw_status status = set_columns(&s);
    if (status == TW_OK) status = start_basis(&s);
    while (status == TW_OK && s.next < sweep->node_count) {
        if (s.beta == 0) return finish_polynomial(&s);
        if (s.control.rejections > MOST_REJECTIONS) return TW_NOT_CONVERGED;
        status = attempt(&s, statistics);
    }
    return status;
}
