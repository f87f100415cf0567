/* The key `plasticity` of a body: its springs yield. */
#include <math.h>
#include <twang/plasticity.h>

#include "base/fail.h"
#include "scene/scene_internal.h"
#include "scene/schema_tables.h"

static const tw_schema_field plasticity_fields[] = {
    {"yield_strain", TW_FIELD_NUMBER, .range = ABOVE(0), .required = true,
     .doc = "elastic strain of a spring beyond which its rest length flows"},
    {"hardening", TW_FIELD_NUMBER, .range = AT_LEAST(0), .fallback = "0",
     .doc = "growth of this limit per plastic strain (isotropic); 0: the limit stays"},
    {"rupture_strain", TW_FIELD_NUMBER, .range = ABOVE(0),
     .doc = "strain at which a spring breaks; not given: springs do not break"},
    {"tolerance", TW_FIELD_NUMBER, .range = ABOVE(0), .fallback = "0.01",
     .doc =
         "by how much the flow of a step may be wrong before the step is rejected, as a share of "
         "the elastic strain (docs/plasticity.md)"},
};
SECTION(tw_schema_plasticity, "bodies.plasticity", plasticity_fields);

tw_status tw_check_plasticity(const tw_node *body, const char *path, tw_error *error)
{
    const tw_node *map = tw_node_find(body, "plasticity");
    const tw_node *rupture = map ? tw_node_find(map, "rupture_strain") : NULL;
    if (!rupture || rupture->number > tw_node_number(map, "yield_strain")) return TW_OK;
    return tw_fail_at(error, rupture->mark,
                      "%s.plasticity.rupture_strain is '%s', must be larger than yield_strain",
                      path, rupture->text);
}

tw_status tw_set_body_plasticity(tw_model *model, const tw_body *body, tw_error *error)
{
    const tw_node *map = tw_node_find(body->node, "plasticity");
    if (!map) return tw_model_set_plasticity(model, NULL, error);

    tw_plasticity law = tw_plasticity_default();
    law.yield_strain = tw_node_number(map, "yield_strain");
    law.hardening = tw_node_number(map, "hardening");
    if (tw_node_find(map, "rupture_strain"))
        law.rupture_strain = tw_node_number(map, "rupture_strain");
    law.tolerance = tw_node_number(map, "tolerance");
    return tw_model_set_plasticity(model, &law, error);
}
