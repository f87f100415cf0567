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
        double momentum[3];
        for (int k = 0; k < 3; k++)
            momentum[k] = model->momentum ? model->momentum[3 * i + k] : p->mass[particle] * v[k];
        for (int k = 0; k < 3; k++) {
            int a = (k + 1) % 3, b = (k + 2) % 3;
            s[0] += 0.5 * v[k] * momentum[k];
            s[1 + k] += momentum[k];
            s[4 + k] += x[a] * momentum[b] - x[b] * momentum[a];
        }
    }
}

static void pack_body(void *context, int64_t begin, int64_t end, int64_t block)
{
    (void)block;
    const tw_model *model = context;
    double *packed = model->momentum + 3 * model->particles.free_count;
    for (int64_t i = begin; i < end; i++)
        for (int k = 0; k < 3; k++)
            packed[3 * i + k] = model->v[3 * (int64_t)model->particles.particle[i] + k];
}

/* model->momentum = M v, for a consistent mass. */
static void find_momentum(tw_model *model)
{
    int64_t count = model->particles.free_count;
    tw_parallel_for(count, TW_PARTICLE_BLOCK, pack_body, model);
    tw_consistent_mass_apply(&model->mass, 1, model->momentum + 3 * count, model->momentum);
}

void tw_model_sums(tw_model *model, double sums[TW_MODEL_SUMS])
{
    int64_t count = model->particles.free_count;
    if (model->momentum) find_momentum(model);
    tw_parallel_for(count, TW_PARTICLE_BLOCK, sums_body, model);
    for (int k = 0; k < TW_MODEL_SUMS; k++) sums[k] = 0.0;
    for (int64_t b = 0; b < tw_parallel_blocks(count, TW_PARTICLE_BLOCK); b++)
        for (int k = 0; k < TW_MODEL_SUMS; k++) sums[k] += model->partial[TW_MODEL_SUMS * b + k];
}
