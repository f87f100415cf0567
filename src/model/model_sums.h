/* Sums over the free particles: kinetic energy, momentum, angular momentum. */
#ifndef TW_MODEL_SUMS_H
#define TW_MODEL_SUMS_H

#include "model/model_internal.h"

enum { TW_MODEL_SUMS = 7 };

/* From model->x and model->v: kinetic energy, then momentum, then angular momentum about the origin. */
void tw_model_sums(tw_model *model, double sums[TW_MODEL_SUMS]);

#endif
