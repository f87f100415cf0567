/* The four adaptive Krylov engines as rows of one table, and their memory. */
#include "base/allocate.h"
#include "base/fail.h"
#include "phi/krylov/krylov.h"

/* The row of each engine. */
static const tw_krylov_variant variants[TW_PHI_ENGINE_COUNT] = {
    /* phipm: adaptive substeps, adaptive dimension, full Arnoldi (Lanczos when A is symmetric or
     * skew). J. Niesen and W. M. Wright, "Algorithm 919", ACM Trans. Math. Softw. 38 (2012). */
    [TW_PHI_PHIPM] = {.window = 0,
                      .min_dimension = 1,
                      .start_dimension = 10,
                      .max_dimension = 100,
                      .aim = 0.8,
                      .aim_at_limit = 0.8,
                      .accept = 1.2,
                      .most_growth = 2},

    /* phipm/IOM2: phipm with incomplete orthogonalisation; "iom = 2" means the last three vectors.
     * S. Gaudreault and J. A. Pudykiewicz, J. Comput. Phys. 322 (2016). */
    [TW_PHI_PHIPM_IOM2] = {.window = 3,
                           .min_dimension = 1,
                           .start_dimension = 10,
                           .max_dimension = 100,
                           .aim = 0.8,
                           .aim_at_limit = 0.8,
                           .accept = 1.2,
                           .most_growth = 2},

    /* phipm_simul_iom2: phipm/IOM2 for all nodes on one trajectory, without products with zero
     * vectors. V. T. Luan and D. L. Michels 2022, section 4.2; V. T. Luan, J. A. Pudykiewicz and D.
     * R. Reynolds 2019. */
    [TW_PHI_PHIPM_SIMUL_IOM2] = {.simultaneous = true,
                                 .skips_zero = true,
                                 .window = 3,
                                 .min_dimension = 1,
                                 .start_dimension = 10,
                                 .max_dimension = 100,
                                 .aim = 0.8,
                                 .aim_at_limit = 0.8,
                                 .accept = 1.4,
                                 .most_growth = 2},

    /* KIOPS: the exponential of an augmented operator, incomplete orthogonalisation, m grows before
     * tau shrinks. S. Gaudreault, G. Rainwater and M. Tokman, J. Comput. Phys. 372 (2018). The last
     * node is at time 1, so the paper's constants for tau_end <= 1 apply. */
    [TW_PHI_KIOPS] = {.augmented = true,
                      .simultaneous = true,
                      .dimension_first = true,
                      .window = 2,
                      .min_dimension = 10,
                      .start_dimension = 10,
                      .max_dimension = 128,
                      .aim = 0.9,
                      .aim_at_limit = 0.6,
                      .accept = 1.4,
                      .most_growth = 5},
};

/* ---- memory, shared by the engines of one workspace ---- */

enum {
    DEFAULT_DIMENSION = 128, /* the largest max_dimension of the variants */
    LEAST_DIMENSION = 2,     /* the controller needs a choice */
    MOST_DIMENSION = 1024    /* beyond it the small matrix costs more than the large ones */
};

/* Engines without a row in the table have no start dimension. */
static bool in_family(int engine)
{
    return variants[engine].start_dimension > 0;
}

static void free_memory(tw_krylov_memory *memory)
{
    tw_release(memory->arnoldi.basis);
    tw_release(memory->arnoldi.duals);
    tw_release(memory->arnoldi.tails);
    tw_release(memory->arnoldi.H);
    tw_release(memory->arnoldi.window_products);
    tw_release(memory->recurrence);

    for (int i = 0; i < 3; i++) tw_release(memory->vectors[i]);
    tw_projection_free(&memory->projection);
    tw_release(memory);
}

/* The largest basis that any call may ask for, within the bytes allowed for bases. */
static int basis_dimension(const tw_phi_workspace *workspace)
{
    const tw_phi_limits *limits = &workspace->limits;

    /* What the options ask for; an explicit limit has the last word. */
    int wanted = DEFAULT_DIMENSION;
    if (limits->options.max_dimension > wanted) wanted = limits->options.max_dimension;
    if (limits->max_dimension > 0) wanted = limits->max_dimension;

    /* In a second-order pair every basis vector has a dual. */
    double vectors = limits->second_order ? 2 : 1;
    double fits = limits->basis_bytes / (vectors * 8.0 * (double)workspace->vector_size) - 1;
    if (fits < wanted) wanted = (int)fits;

    if (wanted < LEAST_DIMENSION) wanted = LEAST_DIMENSION;
    return wanted > MOST_DIMENSION ? MOST_DIMENSION : wanted;
}

/* Allocates the arrays of the basis. */
static bool create_arnoldi(tw_arnoldi *a, const tw_phi_workspace *workspace)
{
    int64_t n = workspace->vector_size;
    a->capacity = basis_dimension(workspace);
    int64_t side = a->capacity + 1;

    /* Only a second-order pair has an inner product of its own, and duals. */
    bool pair = workspace->limits.second_order;
    a->basis = TW_NEW_ARRAY(side * n, double);
    a->duals = pair ? TW_NEW_ARRAY(side * n, double) : NULL;
    a->tails = TW_NEW_ARRAY(side * TW_PHI_MAX_ORDER, double);
    a->H = TW_NEW_ARRAY(side * side, double);
    a->window_products = TW_NEW_ARRAY(side, double);

    bool duals_complete = a->duals || !pair;
    return a->basis && duals_complete && a->tails && a->H && a->window_products;
}

static tw_krylov_memory *create_memory(const tw_phi_workspace *workspace)
{
    tw_krylov_memory *memory = TW_NEW(tw_krylov_memory);
    if (!memory) return NULL;

    /* The basis, the vectors w_j and the three states. */
    int64_t n = workspace->vector_size;
    bool complete = create_arnoldi(&memory->arnoldi, workspace);
    memory->recurrence = TW_NEW_ARRAY((TW_PHI_MAX_ORDER + 1) * n, double);
    complete = complete && memory->recurrence;

    for (int i = 0; i < 3; i++) {
        memory->vectors[i] = TW_NEW_ARRAY(n, double);
        complete = complete && memory->vectors[i];
    }

    /* The small matrix of the largest basis. */
    int small_order = memory->arnoldi.capacity + TW_PHI_MAX_ORDER + 1;
    if (tw_projection_create(&memory->projection, small_order) != TW_OK) complete = false;
    if (complete) return memory;

    free_memory(memory);
    return NULL;
}

/* ---- the engines ---- */

/* One memory serves all four, so it is entered for all of them at the first call. */
static tw_status reserve(tw_phi_workspace *workspace, tw_error *error)
{
    if (!workspace->memory[TW_PHI_PHIPM]) {
        tw_krylov_memory *memory = create_memory(workspace);
        if (!memory) return tw_fail_plain(error, TW_OUT_OF_MEMORY);

        for (int i = 0; i < TW_PHI_ENGINE_COUNT; i++)
            if (in_family(i)) workspace->memory[i] = memory;
    }
    return tw_phi_pair_reserve(workspace, error);
}

static void release(tw_phi_workspace *workspace)
{
    tw_phi_pair_release(workspace);
    if (!workspace->memory[TW_PHI_PHIPM]) return;

    free_memory(workspace->memory[TW_PHI_PHIPM]);
    for (int i = 0; i < TW_PHI_ENGINE_COUNT; i++)
        if (in_family(i)) workspace->memory[i] = NULL;
}

static tw_status first_order(tw_phi_workspace *workspace, const tw_operator *op,
                             const tw_phi_request *request, tw_phi_statistics *statistics,
                             tw_error *error)
{
    const tw_krylov_variant *variant = &variants[statistics->engine];
    return tw_krylov_evaluate(workspace, variant, op, request, statistics, error);
}

static tw_status second_order(tw_phi_workspace *workspace, const tw_second_order *op,
                              const tw_phi_request *request, tw_phi_statistics *statistics,
                              tw_error *error)
{
    return tw_phi_pair_evaluate(workspace, &tw_phi_krylov, op, request, statistics, error);
}

const tw_phi_engine_table tw_phi_krylov = {.reserve = reserve,
                                           .release = release,
                                           .first_order = first_order,
                                           .second_order = second_order};
