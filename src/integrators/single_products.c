/* Products with K in single precision, where few digits are asked for. */
#include "base/fail.h"
#include "integrators/system.h"

/* The copy of the matrix is filled if it does not belong to the last linearisation. */
static tw_status prepare(void *context, int count)
{
    tw_system *system = context;
    TW_TRY(tw_system_ask_to_go_on(system));
    system->counts->stiffness_products += count;

    TW_TRY(tw_system_assemble(system));
    if (!system->single_filled)
        tw_single_fill(system->single.matrix, system->second.stiffness_matrix);
    system->single_filled = true;
    return TW_OK;
}

/* The matrix is what products are made with: K itself, or the symmetric stand-in. */
static bool matrix_is_stiffness(const tw_system *system)
{
    const tw_second_order_problem *p = &system->second;
    return system->second_order && p->stiffness_matrix && !system->linear_part &&
           (system->symmetric || !p->stiffness_is_general);
}

tw_status tw_system_offer_single_products(tw_system *system)
{
    if (!matrix_is_stiffness(system)) return TW_OK;
    system->wants_single = true;
    system->single_filled = false;
    system->pair.stiffness.single = NULL;

    tw_single_free(system->single.matrix);
    system->single = (struct tw_single_product){.prepare = prepare, .context = system};
    TW_TRY(tw_single_create(system->second.stiffness_matrix, &system->single.matrix));
    if (system->single.matrix) system->pair.stiffness.single = &system->single;
    return TW_OK;
}
