/* The Lanczos recurrence in the mass inner product, for up to TW_MAX_BLOCK start vectors in one
 * sweep. Each start vector has its own chain; the chains share the products with K. */
#include <float.h>
#include <math.h>

#include "base/fail.h"
#include "linalg/vector.h"
#include "phi/spectral/spectral.h"

/* ---- starting ---- */

static tw_chain *chain_of(const tw_sweep *sweep, int column)
{
    return &sweep->memory->slot[sweep->slot].chain[sweep->chain[column]];
}

static const tw_mass_metric *metric_of(const tw_sweep *sweep)
{
    return &sweep->memory->slot[sweep->slot].metric;
}

/* q_0 = b/|b|_M for every chain that is not zero. */
static tw_status place_starts(tw_sweep *sweep, const double *const *starts)
{
    tw_spectral_memory *memory = sweep->memory;
    sweep->current = tw_spectral_extend_slot(memory, sweep->slot, sweep->active);
    sweep->storing = sweep->current != NULL;
    if (!sweep->storing) return TW_INTERNAL;

    /* Vector 0 of each chain, also as the one before it, which the first step does not use. */
    for (int c = 0; c < sweep->active; c++) {
        tw_chain *chain = chain_of(sweep, c);
        double *q = sweep->current + c * memory->size;
        tw_normalised_copy(memory->size, chain->norm, starts[sweep->chain[c]], q);
        chain->scale[0] = 1;
        chain->vector[0] = q;
        chain->stored = 1;
        sweep->previous[c] = q;
    }

    /* The recurrence of a consistent mass starts from p_0 = M q_0. */
    if (!metric_of(sweep)->consistent) return TW_OK;
    sweep->momentum = memory->momentum;
    sweep->momentum_before = memory->momentum;

    return tw_mass_multiply(metric_of(sweep), sweep->active, sweep->current, sweep->momentum);
}

tw_status tw_sweep_begin(tw_sweep *sweep, const tw_second_order *op, tw_spectral_memory *memory,
                         int slot, int start_count, const double *const *starts)
{
    *sweep = (tw_sweep){.op = op, .memory = memory, .slot = slot};
    tw_spectral_open_slot(memory, slot);
    tw_spectral_slot *own = &memory->slot[slot];
    own->metric = tw_mass_metric_of(op);
    own->start_count = start_count;

    /* A chain is active if its start vector is not zero. */
    tw_status status = tw_global_size(&own->metric.space, &sweep->total_size);
    for (int j = 0; j < start_count && status == TW_OK; j++) {
        if (!starts[j]) continue;
        status = tw_mass_norm(&own->metric, starts[j], memory->product, &own->chain[j].norm);
        if (own->chain[j].norm > 0) sweep->chain[sweep->active++] = j;
    }
    if (status || sweep->active == 0) return status;

    return place_starts(sweep, starts);
}

/* ---- one step ---- */

static tw_column_pass pass_of(const tw_sweep *sweep, double *next)
{
    const tw_spectral_memory *memory = sweep->memory;
    tw_column_pass pass = {.count = sweep->active,
                           .size = memory->size,
                           .product = memory->product,
                           .current = sweep->current,
                           .mass = memory->slot[sweep->slot].metric.lumped,
                           .next = next};
    for (int c = 0; c < sweep->active; c++) pass.previous[c] = sweep->previous[c];

    return pass;
}

/* r_{k+1} = A q_k - alpha_k q_k - beta_{k-1} q_{k-1}, in terms of the vectors before
 * normalisation. */
static void recurrence_coefficients(const tw_sweep *sweep, int k, tw_column_pass *pass)
{
    for (int c = 0; c < sweep->active; c++) {
        const tw_chain *chain = chain_of(sweep, c);
        pass->a[c] = chain->scale[k];
        pass->b[c] = -chain->alpha[k] * chain->scale[k];
        pass->c[c] = k > 0 ? -chain->beta[k - 1] * chain->scale[k - 1] : 0;
    }
}

/* Where vectors number k of the active chains go: into the pool, or in turn into three
 * rolling places. */
static double *next_place(tw_sweep *sweep, int k)
{
    double *place = NULL;
    if (sweep->storing) place = tw_spectral_extend_slot(sweep->memory, sweep->slot, sweep->active);
    if (place) return place;

    /* The pool is full: from now on only three vectors per chain are kept. */
    sweep->storing = false;
    return sweep->memory->rolling + (int64_t)(k % 3) * TW_MAX_BLOCK * sweep->memory->size;
}

static double *momentum_place(const tw_sweep *sweep, int k)
{
    return sweep->memory->momentum + (int64_t)(k % 3) * TW_MAX_BLOCK * sweep->memory->size;
}

/* Consistent mass: the recurrence runs on p = M q, and q follows by one solve, so that no product
 * with M is needed:
 *     p_{k+1} = K q_k - alpha_k p_k - beta_{k-1} p_{k-1},
 *     q_{k+1} = M^-1 p_{k+1},
 *     beta^2  = <p_{k+1}, q_{k+1}>. */
static tw_status consistent_update(tw_sweep *sweep, int k, tw_column_pass *pass, double *squares)
{
    const tw_mass_metric *metric = metric_of(sweep);
    double *next = pass->next;
    double *momentum = momentum_place(sweep, k + 1);

    /* p_{k+1}; the sums of this pass are not used. */
    pass->current = sweep->momentum;
    for (int c = 0; c < sweep->active; c++)
        pass->previous[c] = sweep->momentum_before + c * pass->size;
    pass->next = momentum;
    tw_status status = tw_pass_update(&metric->space, pass, squares);

    /* q_{k+1} */
    if (status == TW_OK)
        status =
            metric->consistent->solve(metric->consistent->context, pass->count, momentum, next);
    if (status) return status;

    /* <p, q> */
    pass->current = next;
    pass->product = momentum;
    sweep->momentum_before = sweep->momentum;
    sweep->momentum = momentum;

    return tw_pass_dots(&metric->space, pass, squares);
}

/* r -= Q Q^T M r for the first k + 1 vectors of the chain. p is scratch for M r. */
static tw_status remove_earlier(const tw_mass_metric *metric, const tw_chain *chain, int k,
                                double *r, double *p)
{
    tw_status status = tw_mass_multiply(metric, 1, r, p);
    for (int i = 0; i <= k && status == TW_OK; i++) {
        double h = 0;
        status = tw_vector_dot(&metric->space, chain->vector[i], p, &h);
        tw_vector_axpy(metric->space.local_size, -h * chain->scale[i] * chain->scale[i],
                       chain->vector[i], r);
    }

    return status;
}

/* Orthogonalises every column of `next` against all earlier vectors, twice.
 * squares[c] = |next|^2 afterwards. */
static tw_status reorthogonalise(tw_sweep *sweep, int k, double *next, double *squares)
{
    const tw_mass_metric *metric = metric_of(sweep);
    int64_t n = sweep->memory->size;
    double *momentum = metric->consistent ? sweep->momentum : sweep->memory->product;
    for (int c = 0; c < sweep->active; c++) {
        const tw_chain *chain = chain_of(sweep, c);
        double *r = next + c * n;
        double *p = momentum + c * n;

        /* One pass removes most, the second what rounding left. */
        TW_TRY(remove_earlier(metric, chain, k, r, p));
        TW_TRY(remove_earlier(metric, chain, k, r, p));

        /* |r|_M^2; a consistent mass needs p = M r also for the next step. */
        TW_TRY(tw_mass_multiply(metric, 1, r, p));
        TW_TRY(tw_vector_dot(&metric->space, r, p, &squares[c]));
    }

    return TW_OK;
}

/* The recurrence ends where the next vector is nothing but rounding, measured against T itself. */
static bool vanishes(const tw_chain *chain, int k)
{
    double largest = fabs(chain->alpha[0]);
    for (int i = 0; i <= k; i++)
        largest = fmax(largest, fmax(fabs(chain->alpha[i]), i < k ? chain->beta[i] : 0));
    return chain->beta[k] <= (DBL_EPSILON + chain->rough) * largest;
}

/* beta_k from the squared norms, and vectors number k + 1 enter the chains. */
static tw_status accept_step(tw_sweep *sweep, int k, double *next, const double *squares)
{
    for (int c = 0; c < sweep->active; c++) {
        tw_chain *chain = chain_of(sweep, c);
        if (!isfinite(squares[c])) return TW_NOT_FINITE;
        chain->beta[k] = sqrt(fmax(squares[c], 0));
        chain->dimension = k + 1;

        /* An invariant space ends the chain. */
        chain->exhausted =
            vanishes(chain, k) || (sweep->reorthogonalise && k + 1 >= sweep->total_size);
        if (chain->exhausted) chain->beta[k] = 0;

        /* q_{k+1} = r_{k+1}/beta_k is not formed: the scale stands for the division. */
        chain->scale[k + 1] = chain->exhausted ? 0 : 1 / chain->beta[k];
        chain->vector[k + 1] = next + c * sweep->memory->size;
        if (sweep->storing) chain->stored = k + 2;
        sweep->previous[c] = sweep->current + c * sweep->memory->size;
    }
    sweep->current = next;
    sweep->dimension = k + 1;

    return TW_OK;
}

/* The vectors r_{k+1} and their squared norms, by the mass that the operator has. */
static tw_status update(tw_sweep *sweep, int k, tw_column_pass *pass, double *squares)
{
    recurrence_coefficients(sweep, k, pass);
    if (metric_of(sweep)->consistent) return consistent_update(sweep, k, pass, squares);
    return tw_pass_update(&metric_of(sweep)->space, pass, squares);
}

/* product = K q_k for all active chains. */
static tw_status multiply(tw_sweep *sweep)
{
    const tw_operator *K = &sweep->op->stiffness;
    TW_TRY(K->apply(K->context, sweep->active, sweep->current, sweep->memory->product));
    sweep->products += sweep->active;
    return TW_OK;
}

/* ---- the same in single precision ---- */

/* Where vectors in single precision stand: mass and inverse mass are in the place of the momenta, which
 * lumped masses do not need. */
static float *single_mass(const tw_sweep *sweep)
{
    return tw_single_room(sweep->memory->momentum);
}

static float *single_inverse_mass(const tw_sweep *sweep)
{
    return tw_single_room(sweep->memory->momentum + sweep->memory->size);
}

static void load_masses(const tw_sweep *sweep)
{
    const tw_spectral_memory *memory = sweep->memory;
    const tw_single *single = sweep->op->stiffness.single->matrix;
    const double *lumped = metric_of(sweep)->lumped;
    float *inverse = single_inverse_mass(sweep);

    if (!lumped) tw_vector_fill(memory->size, 1, memory->product);
    tw_single_load(single, lumped ? lumped : memory->product, 1, single_mass(sweep));

    /* Entries of no unknown have no mass and stay zero. */
    for (int64_t i = 0; i < tw_single_size(single); i++) {
        float mass = single_mass(sweep)[i];
        inverse[i] = mass > 0 ? 1 / mass : 0;
    }
}

void tw_sweep_use_single(tw_sweep *sweep, const double *const *starts)
{
    const tw_single *single = sweep->op->stiffness.single->matrix;
    sweep->memory->slot[sweep->slot].single = single;
    load_masses(sweep);

    for (int c = 0; c < sweep->active; c++) {
        tw_chain *chain = chain_of(sweep, c);
        chain->rough = TW_SINGLE_ERROR;
        tw_single_load(single, starts[sweep->chain[c]], 1 / chain->norm,
                       tw_single_room(chain->vector[0]));
    }
}

/* The power of two by which r_{k+1} is divided: about its norm beta_k, which is not known yet, so that
 * no vector leaves the range of floats. */
static double expected_size(const tw_chain *chain, int k)
{
    double size = k > 0 ? chain->beta[k - 1] : fabs(chain->alpha[0]);
    int exponent = 0;
    (void)frexp(size, &exponent);
    return size > 0 ? ldexp(1.0, exponent) : 1;
}

static tw_single_pass single_pass_of(const tw_sweep *sweep)
{
    const tw_spectral_memory *memory = sweep->memory;
    tw_single_pass pass = {.count = sweep->active,
                           .size = tw_single_size(sweep->op->stiffness.single->matrix),
                           .stride = 2 * memory->size,
                           .product = tw_single_in(memory->product),
                           .current = tw_single_in(sweep->current),
                           .mass = single_mass(sweep),
                           .inverse_mass = single_inverse_mass(sweep)};
    for (int c = 0; c < sweep->active; c++) pass.previous[c] = tw_single_in(sweep->previous[c]);
    return pass;
}

static tw_status single_step(tw_sweep *sweep)
{
    int k = sweep->dimension;
    const tw_space *space = &metric_of(sweep)->space;
    const struct tw_single_product *K = sweep->op->stiffness.single;
    double sums[TW_MAX_BLOCK];
    tw_single_pass pass = single_pass_of(sweep);

    /* unit product = K q_k */
    TW_TRY(K->prepare(K->context, sweep->active));
    double unit = tw_single_unit(K->matrix);
    tw_single_multiply(K->matrix, sweep->active, pass.stride, pass.current,
                       tw_single_room(sweep->memory->product));
    sweep->products += sweep->active;

    /* alpha_k = q_k^T K q_k */
    TW_TRY(tw_single_pass_dots(space, &pass, sums));
    double size[TW_MAX_BLOCK] = {0};
    for (int c = 0; c < sweep->active; c++) {
        tw_chain *chain = chain_of(sweep, c);
        chain->alpha[k] = unit * sums[c] * chain->scale[k] * chain->scale[k];
        if (!isfinite(chain->alpha[k])) return TW_NOT_FINITE;

        /* r_{k+1} / size */
        size[c] = expected_size(chain, k);
        double before = k > 0 ? chain->beta[k - 1] * chain->scale[k - 1] : 0;
        pass.a[c] = (float)(unit * chain->scale[k] / size[c]);
        pass.b[c] = (float)(-chain->alpha[k] * chain->scale[k] / size[c]);
        pass.c[c] = (float)(-before / size[c]);
    }

    double *next = next_place(sweep, k + 1);
    if (!sweep->storing) return TW_NOT_CONVERGED;
    pass.next = tw_single_room(next);
    TW_TRY(tw_single_pass_update(space, &pass, sums));

    for (int c = 0; c < sweep->active; c++) sums[c] *= size[c] * size[c];
    TW_TRY(accept_step(sweep, k, next, sums));
    for (int c = 0; c < sweep->active; c++) chain_of(sweep, c)->scale[k + 1] *= size[c];
    return TW_OK;
}

tw_status tw_sweep_step(tw_sweep *sweep)
{
    if (sweep->memory->slot[sweep->slot].single) return single_step(sweep);

    int k = sweep->dimension;
    double sums[TW_MAX_BLOCK];
    TW_TRY(multiply(sweep));

    /* alpha_k = q_k^T K q_k */
    tw_column_pass pass = pass_of(sweep, NULL);
    TW_TRY(tw_pass_dots(&metric_of(sweep)->space, &pass, sums));
    for (int c = 0; c < sweep->active; c++) {
        tw_chain *chain = chain_of(sweep, c);
        chain->alpha[k] = sums[c] * chain->scale[k] * chain->scale[k];
        if (!isfinite(chain->alpha[k])) return TW_NOT_FINITE;
    }

    /* r_{k+1}, orthogonal to all earlier vectors if that was asked for. */
    double *next = next_place(sweep, k + 1);
    pass.next = next;
    TW_TRY(update(sweep, k, &pass, sums));
    if (sweep->reorthogonalise) TW_TRY(reorthogonalise(sweep, k, next, sums));

    return accept_step(sweep, k, next, sums);
}

/* ---- fewer chains ---- */

/* Moves everything of column `from` to column `to`. */
static void move_column(tw_sweep *sweep, int from, int to)
{
    int64_t n = sweep->memory->size;

    /* The vectors. */
    tw_vector_copy(n, sweep->current + from * n, sweep->current + to * n);
    if (metric_of(sweep)->consistent) {
        tw_vector_copy(n, sweep->momentum + from * n, sweep->momentum + to * n);
        tw_vector_copy(n, sweep->momentum_before + from * n, sweep->momentum_before + to * n);
    }
    if (sweep->storing) chain_of(sweep, from)->vector[sweep->dimension] = sweep->current + to * n;

    /* The pointers. */
    sweep->previous[to] = sweep->previous[from];
    sweep->chain[to] = sweep->chain[from];
}

void tw_sweep_retire(tw_sweep *sweep, const bool *keep)
{
    int kept = 0;
    for (int c = 0; c < sweep->active; c++) kept += keep[sweep->chain[c]];
    if (kept == sweep->active) return;
    if (kept == 0) {
        sweep->active = 0;
        return;
    }

    /* The product needs contiguous columns: the columns that stay move down over those that
     * leave. A vector that leaves has not entered any combination yet (its number is the
     * chain's dimension). */
    int to = 0;
    for (int c = 0; c < sweep->active; c++) {
        tw_chain *chain = chain_of(sweep, c);
        if (!keep[sweep->chain[c]]) {
            if (chain->stored > chain->dimension) chain->stored = chain->dimension;
            continue;
        }
        if (to != c) move_column(sweep, c, to);
        to++;
    }
    sweep->active = kept;
}

/* ---- the second pass ---- */

/* Adds vector number k of the active chains to the outputs. */
static void accumulate(const tw_sweep *sweep, int k, int output_count, double *const *outputs)
{
    const tw_spectral_memory *memory = sweep->memory;
    int64_t n = memory->size;
    int64_t row = (int64_t)TW_MAX_BLOCK * memory->capacity;
    for (int c = 0; c < sweep->active; c++) {
        const tw_chain *chain = chain_of(sweep, c);
        if (k < chain->stored || k >= chain->dimension) continue;

        /* Only vectors that were not kept are missing in the outputs. */
        const double *coefficients =
            memory->coefficients + (int64_t)sweep->chain[c] * memory->capacity;
        for (int i = 0; i < output_count; i++)
            tw_vector_axpy(n, coefficients[i * row + k], sweep->current + c * n, outputs[i]);
    }
}

/* Number of vectors that every chain kept which was active when the pool filled up; 0 if no chain
 * lost any. */
static int kept_vectors(const tw_spectral_slot *slot)
{
    int kept = 0;
    for (int j = 0; j < slot->start_count; j++) {
        const tw_chain *chain = &slot->chain[j];
        if (chain->stored < chain->dimension) kept = chain->stored;
    }

    return kept;
}

/* Goes back to vectors number `first`, with the same columns in the block as then, so that every
 * product repeats itself. */
static tw_status restart(tw_sweep *sweep, int first)
{
    tw_spectral_memory *memory = sweep->memory;
    tw_spectral_slot *slot = &memory->slot[sweep->slot];
    int64_t n = memory->size;
    sweep->active = 0;
    sweep->dimension = first;
    sweep->storing = false;

    /* The chains that were longer then are active again. */
    sweep->current = memory->rolling + (int64_t)(first % 3) * TW_MAX_BLOCK * n;
    for (int j = 0; j < slot->start_count; j++) {
        const tw_chain *chain = &slot->chain[j];
        if (chain->dimension <= first) continue;
        tw_vector_copy(n, chain->vector[first], sweep->current + sweep->active * n);
        sweep->previous[sweep->active] = chain->vector[first > 0 ? first - 1 : 0];
        sweep->chain[sweep->active++] = j;
    }

    if (!slot->metric.consistent) return TW_OK;
    sweep->momentum = momentum_place(sweep, first);
    sweep->momentum_before = sweep->momentum;

    return tw_mass_multiply(&slot->metric, sweep->active, sweep->current, sweep->momentum);
}

/* r_{k+1} from the known alpha_k and beta_k: the arithmetic of tw_sweep_step without its
 * inner products. */
static tw_status repeat_step(tw_sweep *sweep)
{
    int k = sweep->dimension;
    double unused[TW_MAX_BLOCK];
    TW_TRY(multiply(sweep));

    double *next = next_place(sweep, k + 1);
    tw_column_pass pass = pass_of(sweep, next);
    tw_status status = update(sweep, k, &pass, unused);

    /* The new vectors become the current ones. */
    for (int c = 0; c < sweep->active; c++)
        sweep->previous[c] = sweep->current + c * sweep->memory->size;
    sweep->current = next;
    sweep->dimension = k + 1;

    return status;
}

tw_status tw_sweep_repeat(tw_sweep *sweep, int output_count, double *const *outputs)
{
    tw_spectral_slot *slot = &sweep->memory->slot[sweep->slot];
    int kept = kept_vectors(slot);
    if (kept == 0) return TW_OK;

    /* The longest chain says how far to go. */
    int last = 0;
    for (int j = 0; j < slot->start_count; j++)
        if (slot->chain[j].dimension > last) last = slot->chain[j].dimension;

    /* The repetition starts from the last vectors kept. The momenta of a consistent mass are not
     * kept, so it starts from vector 0. */
    TW_TRY(restart(sweep, slot->metric.consistent ? 0 : kept - 1));
    while (sweep->dimension + 1 < last) {
        /* A chain leaves where it left the first time. */
        bool keep[TW_MAX_BLOCK] = {false};
        for (int j = 0; j < slot->start_count; j++)
            keep[j] = sweep->dimension < slot->chain[j].dimension;
        tw_sweep_retire(sweep, keep);

        TW_TRY(repeat_step(sweep));
        accumulate(sweep, sweep->dimension, output_count, outputs);
    }

    return TW_OK;
}
