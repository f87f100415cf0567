#include "model/model_sums.h"

#include "base/parallel_for.h"

static void sums_body(void *context, int64_t begin, int64_t end, int64_t block)
{
    tw_model *model = context;
    const tw_particles *p = &model->particles;
    double *s = model->partial + TW_MODEL_SUMS * block;
    for (int k = 0; k < TW_MODEL_SUMS; k++) s[k] = 0.0;
    for (int64_t i = begin; i < end; i++) {
        int64_t particle = p->particle[i];
        const double *x = model->x + 3 * particle, *v = model->v + 3 * particle;
        double m = p->mass[particle];
        s[0] += 0.5 * m * (v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
        for (int k = 0; k < 3; k++) s[1 + k] += m * v[k];
        for (int k = 0; k < 3; k++) /* x cross m v */
            s[4 + k] += m * (x[(k + 1) % 3] * v[(k + 2) % 3] - x[(k + 2) % 3] * v[(k + 1) % 3]);
    }
}

void tw_model_sums(tw_model *model, double sums[TW_MODEL_SUMS])
{
    int64_t count = model->particles.free_count;
    tw_parallel_for(count, TW_PARTICLE_BLOCK, sums_body, model);
    for (int k = 0; k < TW_MODEL_SUMS; k++) sums[k] = 0.0;
    for (int64_t b = 0; b < tw_parallel_blocks(count, TW_PARTICLE_BLOCK); b++)
        for (int k = 0; k < TW_MODEL_SUMS; k++) sums[k] += model->partial[TW_MODEL_SUMS * b + k];
}
