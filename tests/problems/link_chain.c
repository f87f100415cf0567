#include "problems/link_chain.h"

#include <stdlib.h>

#include "support/random.h"

static link_chain *chain_allocate(int64_t size, int64_t link_count)
{
    link_chain *chain = calloc(1, sizeof *chain);
    if (!chain) return NULL;
    chain->size = size;
    chain->link_count = link_count;
    chain->links = calloc((size_t)link_count, sizeof *chain->links);
    chain->link_stiffness = calloc((size_t)link_count, sizeof(double));
    chain->diagonal = calloc((size_t)size, sizeof(double));
    chain->initial_x = calloc((size_t)size, sizeof(double));
    chain->initial_v = calloc((size_t)size, sizeof(double));
    if (chain->links && chain->link_stiffness && chain->diagonal && chain->initial_x &&
        chain->initial_v)
        return chain;
    link_chain_free(chain);
    return NULL;
}

void link_chain_free(link_chain *chain)
{
    if (!chain) return;
    free(chain->links);
    free(chain->link_stiffness);
    free(chain->diagonal);
    free(chain->initial_x);
    free(chain->initial_v);
    free(chain);
}

static void add_entry(chain_link *link, int64_t index, double coefficient)
{
    link->index[link->count] = index;
    link->coefficient[link->count++] = coefficient;
}

link_chain *fput_create(int64_t m, double omega)
{
    link_chain *chain = chain_allocate(2 * m, m + 1);
    if (!chain) return NULL;
    chain->quartic = 1;
    chain->omega = omega;
    for (int64_t i = 0; i < m; i++) {
        chain->diagonal[i] = 1; /* A = diag(I, omega^2 I) */
        chain->diagonal[m + i] = omega * omega;
    }
    /* q_0 = x01 - x11, q_i = x0,i+1 - x1,i+1 - x0,i - x1,i for i = 1..m-1, q_m = x0m + x1m (to the fourth power, so
     * its sign is free). */
    for (int64_t l = 0; l <= m; l++) {
        if (l < m) {
            add_entry(&chain->links[l], l, 1);
            add_entry(&chain->links[l], m + l, -1);
        }
        if (l > 0) {
            add_entry(&chain->links[l], l - 1, -1);
            add_entry(&chain->links[l], m + l - 1, -1);
        }
    }
    chain->initial_x[0] = 1;
    chain->initial_x[m] = 1 / omega;
    chain->initial_v[0] = 1;
    chain->initial_v[m] = 1;
    return chain;
}

link_chain *fpu_beta_create(int64_t masses, uint64_t seed)
{
    link_chain *chain = chain_allocate(masses, masses + 1);
    if (!chain) return NULL;
    chain->quadratic = 1;
    chain->quartic = 1;
    for (int64_t l = 0; l <= masses; l++) {
        if (l < masses) add_entry(&chain->links[l], l, 1);
        if (l > 0) add_entry(&chain->links[l], l - 1, -1);
    }
    test_random random = {.state = seed};
    for (int64_t i = 0; i < masses; i++) chain->initial_v[i] = test_random_normal(&random);
    return chain;
}

static double elongation(const chain_link *link, const double *x)
{
    double q = 0;
    for (int e = 0; e < link->count; e++) q += link->coefficient[e] * x[link->index[e]];
    return q;
}

static void chain_acceleration(void *context, const double *x, double *a)
{
    const link_chain *chain = context;
    for (int64_t i = 0; i < chain->size; i++) a[i] = -chain->diagonal[i] * x[i];
    for (int64_t l = 0; l < chain->link_count; l++) {
        const chain_link *link = &chain->links[l];
        double q = elongation(link, x);
        double tension = (chain->quadratic + chain->quartic * q * q) * q; /* V'(q) = a q + b q^3 */
        for (int e = 0; e < link->count; e++) a[link->index[e]] -= tension * link->coefficient[e];
    }
}

static double chain_potential(void *context, const double *x)
{
    const link_chain *chain = context;
    double energy = 0;
    for (int64_t i = 0; i < chain->size; i++) energy += 0.5 * chain->diagonal[i] * x[i] * x[i];
    for (int64_t l = 0; l < chain->link_count; l++) {
        double square = elongation(&chain->links[l], x);
        square *= square;
        energy += (0.5 * chain->quadratic + 0.25 * chain->quartic * square) * square;
    }
    return energy;
}

static void chain_linearise(void *context, const double *x)
{
    link_chain *chain = context;
    for (int64_t l = 0; l < chain->link_count; l++) {
        double q = elongation(&chain->links[l], x);
        chain->link_stiffness[l] = chain->quadratic + 3 * chain->quartic * q * q; /* V''(q) */
    }
}

static tw_status chain_apply_stiffness(void *context, int count, const double *in, double *out)
{
    const link_chain *chain = context;
    for (int column = 0; column < count; column++) {
        const double *x = in + column * chain->size;
        double *y = out + column * chain->size;
        for (int64_t i = 0; i < chain->size; i++) y[i] = chain->diagonal[i] * x[i];
        for (int64_t l = 0; l < chain->link_count; l++) {
            const chain_link *link = &chain->links[l];
            double tension = chain->link_stiffness[l] * elongation(link, x);
            for (int e = 0; e < link->count; e++)
                y[link->index[e]] += tension * link->coefficient[e];
        }
    }
    return TW_OK;
}

typedef struct position {
    int64_t row, column;
} position;

static int by_row_then_column(const void *left, const void *right)
{
    const position *a = left, *b = right;
    if (a->row != b->row) return a->row < b->row ? -1 : 1;
    return (a->column > b->column) - (a->column < b->column);
}

/* Every pair of unknowns that share a link, and the diagonal; repeated. Returns how many. */
static int64_t list_positions(const link_chain *chain, tw_sparse_storage storage, position *list)
{
    int64_t count = 0;
    for (int64_t i = 0; i < chain->size; i++) list[count++] = (position){i, i};
    for (int64_t l = 0; l < chain->link_count; l++) {
        const chain_link *link = &chain->links[l];
        for (int e = 0; e < link->count; e++)
            for (int f = 0; f < link->count; f++)
                if (storage == TW_STORE_FULL || link->index[e] <= link->index[f])
                    list[count++] = (position){link->index[e], link->index[f]};
    }
    return count;
}

static tw_status chain_pattern(const void *context, tw_sparse_storage storage, int64_t **row_start,
                               int64_t **column)
{
    const link_chain *chain = context;
    size_t most = (size_t)(chain->size + chain->link_count * LINK_ENTRIES * LINK_ENTRIES);
    position *list = malloc(most * sizeof *list);
    *row_start = calloc((size_t)chain->size + 1, sizeof **row_start);
    *column = malloc(most * sizeof **column);
    if (!list || !*row_start || !*column) {
        free(list);
        free(*row_start);
        free(*column);
        return TW_OUT_OF_MEMORY;
    }
    int64_t count = list_positions(chain, storage, list), kept = 0;
    qsort(list, (size_t)count, sizeof *list, by_row_then_column);
    for (int64_t i = 0; i < count; i++) {
        if (i > 0 && by_row_then_column(&list[i - 1], &list[i]) == 0) continue;
        (*column)[kept++] = list[i].column;
        (*row_start)[list[i].row + 1] = kept;
    }
    free(list);
    return TW_OK;
}

static void chain_fill(const void *context, tw_sparse_storage storage, const int64_t *row_start,
                       const int32_t *column, double *values)
{
    const link_chain *chain = context;
    for (int64_t p = 0; p < row_start[chain->size]; p++) values[p] = 0;
    for (int64_t i = 0; i < chain->size; i++)
        for (int64_t p = row_start[i]; p < row_start[i + 1]; p++)
            if (column[p] == i) values[p] = chain->diagonal[i];
    /* K += V''(q_l) c_l c_l^T */
    for (int64_t l = 0; l < chain->link_count; l++) {
        const chain_link *link = &chain->links[l];
        for (int e = 0; e < link->count; e++)
            for (int f = 0; f < link->count; f++) {
                int64_t p = row_start[link->index[e]];
                if (storage == TW_STORE_UPPER && link->index[e] > link->index[f]) continue;
                while (column[p] != link->index[f]) p++;
                values[p] += chain->link_stiffness[l] * link->coefficient[e] * link->coefficient[f];
            }
    }
}

problem link_chain_problem(link_chain *chain)
{
    return (problem){.size = chain->size,
                     .context = chain,
                     .acceleration = chain_acceleration,
                     .potential = chain_potential,
                     .linearise = chain_linearise,
                     .apply_stiffness = chain_apply_stiffness,
                     .block = 1,
                     .pattern = chain_pattern,
                     .fill = chain_fill};
}

double fput_oscillatory_energies(const link_chain *chain, const double *x, const double *v,
                                 double *energies)
{
    int64_t m = chain->size / 2;
    double sum = 0;
    for (int64_t j = 0; j < m; j++) {
        double stretch = chain->omega * x[m + j];
        energies[j] = 0.5 * (v[m + j] * v[m + j] + stretch * stretch);
        sum += energies[j];
    }
    return sum;
}
