/* A motion by formulas of the time. */
#ifndef TW_SCENE_FORMULA_MOTION_H
#define TW_SCENE_FORMULA_MOTION_H

#include "scene/schema.h"

/* The keys x, y, z, angle, point and axis. */
extern const tw_field_group tw_formula_fields;

/* Whether the formulas of `node` are right and finite for all t from 0 to `duration`. `path` is
 * "motions.0". */
tw_status tw_check_formulas(const tw_node *node, const char *path, double duration,
                            tw_error *error);

/* Moves the particles first ... last by the formulas of `node`, which were checked. */
tw_status tw_prescribe_formulas(tw_model *model, const tw_node *node, int64_t first, int64_t last,
                                tw_error *error);

#endif
