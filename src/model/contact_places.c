/* Where surfaces touch, for pictures. */
#include "model/contact_force.h"
#include "model/model_internal.h"

int64_t tw_model_contacts(void *context, double t, const double *u, int64_t most, double *places)
{
    tw_model *model = context;
    const tw_contact *contact = model->contact;
    if (!contact) return 0;
    tw_model_unpack(model, t, u, u + 3 * model->particles.free_count);

    int64_t count = 0;
    for (int64_t p = 0; count < most; p++) {
        p = tw_contact_next(contact, p, contact->pair_count, model->x);
        if (p == contact->pair_count) break;
        const tw_contact_pair *pair = &contact->pairs[p];
        double at[TW_PAIR_VERTICES][3];
        tw_pair_state state;
        tw_contact_take(contact, pair, model->x, at);
        tw_pair_evaluate(pair, at, TW_PAIR_ENERGY, &state);
        if (!state.active) continue;

        /* Surfaces that meet have no closest points, and no place. */
        if (state.defined) tw_contact_find_place(pair, at, places + 3 * count++);
    }
    return count;
}
