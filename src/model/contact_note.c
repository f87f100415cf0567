/* Which bodies stopped a step, where, and what the user can try. */
#include "base/fail.h"
#include "model/contact_force.h"

const char *tw_contact_name(const tw_contact *c, int32_t vertex)
{
    int64_t particle = tw_contact_parts(c, vertex).particle[0];
    const tw_display_list *displays = c->source.displays;
    for (int i = 0; i < displays->count; i++) {
        const tw_display *display = &displays->list[i];
        bool inside = particle >= display->first && particle < display->first + display->count;
        if (inside && display->name) return display->name;
    }
    return "a body";
}

double tw_contact_find_place(const tw_contact_pair *pair, const double x[4][3], double place[3])
{
    tw_gap gap;
    bool has_normal = tw_gap_find(pair->kind, x, &gap);

    /* The way from the closest point of the first primitive to the middle between both surfaces, against the normal. */
    double depth = pair->first_radius + 0.5 * (gap.distance - pair->radius);

    for (int k = 0; k < 3; k++) {
        place[k] = has_normal ? -depth * gap.normal[k] : 0.0;
        for (int i = 0; i < tw_pair_first_count(pair->kind); i++)
            place[k] += gap.weight[i] * x[i][k];
    }
    return gap.distance;
}

void tw_contact_note_pair(tw_contact *c, const tw_contact_pair *pair, const double x[4][3])
{
    double place[3];
    double distance = tw_contact_find_place(pair, x, place);
    tw_fail(&c->note, TW_RECOVERABLE,
            "%.60s and %.60s come within %.3g m of each other at (%.4g, %.4g, %.4g), %.3g m are "
            "allowed: try a larger contact.stiffness (here %.3g N/m), contact.distance or "
            "contact.thickness, or a start without overlaps",
            tw_contact_name(c, pair->vertex[0]),
            tw_contact_name(c, pair->vertex[tw_pair_first_count(pair->kind)]), distance, place[0],
            place[1], place[2], pair->limit, pair->law.stiffness);
}

void tw_contact_note_work(tw_contact *c, const tw_contact_pair *pair, const double x[4][3])
{
    double place[3];
    tw_contact_find_place(pair, x, place);
    tw_fail(&c->note, TW_RECOVERABLE,
            "the contact of %.60s and %.60s at (%.4g, %.4g, %.4g) changes too fast for the step: "
            "try a smaller step, a larger contact.distance or a smaller contact.stiffness (here "
            "%.3g N/m)",
            tw_contact_name(c, pair->vertex[0]),
            tw_contact_name(c, pair->vertex[tw_pair_first_count(pair->kind)]), place[0], place[1],
            place[2], pair->law.stiffness);
}
