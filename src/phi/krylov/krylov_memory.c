/* Memory of the four adaptive Krylov engines, shared by those of one workspace. */
#include "base/allocate.h"
#include "base/fail.h"
#include "phi/krylov/phi_krylov.h"
#include "phi/krylov/phi_substeps.h"

static const tw_phi_engine family[] = {TW_PHI_PHIPM, TW_PHI_PHIPM_IOM2, TW_PHI_PHIPM_SIMUL_IOM2,
                                       TW_PHI_KIOPS};
enum {
    FAMILY = sizeof family / sizeof family[0],
    DEFAULT_DIMENSION = 128,
    LEAST_DIMENSION = 2,
    MOST_DIMENSION = 1024
};

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
    int wanted = DEFAULT_DIMENSION;
    if (limits->options.max_dimension > wanted) wanted = limits->options.max_dimension;
    if (limits->max_dimension > 0) wanted = limits->max_dimension;
    double vectors = limits->second_order ? 2 : 1; /* a dual for each */
    double fits = limits->basis_bytes / (vectors * 8.0 * (double)workspace->vector_size) - 1;
    if (fits < wanted) wanted = (int)fits;
    if (wanted < LEAST_DIMENSION) wanted = LEAST_DIMENSION;
    return wanted > MOST_DIMENSION ? MOST_DIMENSION : wanted;
}

static tw_krylov_memory *create_memory(const tw_phi_workspace *workspace)
{
    tw_krylov_memory *memory = TW_NEW(tw_krylov_memory);
    if (!memory) return NULL;
    tw_arnoldi *a = &memory->arnoldi;
    int64_t n = workspace->vector_size;
    a->capacity = basis_dimension(workspace);
    int64_t side = a->capacity + 1;
    a->basis = TW_NEW_ARRAY(side * n, double);
    a->duals = workspace->limits.second_order ? TW_NEW_ARRAY(side * n, double) : NULL;
    a->tails = TW_NEW_ARRAY(side * TW_PHI_MAX_ORDER, double);
    a->H = TW_NEW_ARRAY(side * side, double);
    a->window_products = TW_NEW_ARRAY(side, double);
    memory->recurrence = TW_NEW_ARRAY((TW_PHI_MAX_ORDER + 1) * n, double);
    bool complete = a->basis && (a->duals || !workspace->limits.second_order) && a->tails && a->H &&
                    a->window_products && memory->recurrence;
    for (int i = 0; i < 3; i++) {
        memory->vectors[i] = TW_NEW_ARRAY(n, double);
        complete = complete && memory->vectors[i];
    }
    if (tw_projection_create(&memory->projection, a->capacity + TW_PHI_MAX_ORDER + 1) == TW_OK &&
        complete)
        return memory;
    free_memory(memory);
    return NULL;
}

tw_status tw_krylov_reserve(tw_phi_workspace *workspace, tw_phi_engine engine, tw_error *error)
{
    tw_krylov_memory *memory = NULL;
    for (int i = 0; i < FAMILY && !memory; i++) memory = workspace->memory[family[i]];
    if (!memory) memory = create_memory(workspace);
    if (!memory) return tw_fail_plain(error, TW_OUT_OF_MEMORY);
    workspace->memory[engine] = memory;
    return tw_phi_pair_reserve(workspace, error);
}

void tw_krylov_release(tw_phi_workspace *workspace, tw_phi_engine engine)
{
    tw_krylov_memory *memory = workspace->memory[engine];
    tw_phi_pair_release(workspace);
    if (!memory) return;
    for (int i = 0; i < FAMILY; i++) workspace->memory[family[i]] = NULL;
    free_memory(memory);
}
