/* Tangents of a model: the sums over its forces of K, S and D (force.h). */
#include <stddef.h>
#include <string.h>

#include "base/allocate.h"
#include "base/parallel_for.h"
#include "linalg/vector.h"
#include "model/model_internal.h"

tw_status tw_model_linearise(void *context, double t, const double *x, const double *v)
{
    tw_model *model = context;
    tw_model_unpack(model, t, x, v);

    /* The matrix is filled again when a product or a factorisation asks for it. */
    model->content = TW_MATRIX_STALE;

    tw_force_view at = {t, model->x, model->v};
    for (int i = 0; i < model->force_count; i++) {
        const tw_force *f = &model->forces[i];
        if (!f->table->linearise) continue;
        tw_status status = f->table->linearise(f->data, &at);
        if (status != TW_OK) return status;
    }

    return TW_OK;
}

/* ---- tensions ---- */

/* How many tensions a force has. */
static int64_t tensions_of(const tw_force *force)
{
    if (!force->table->tension_count) return 0;
    return force->table->tension_count(force->data);
}

int64_t tw_model_tension_count(const tw_model *model)
{
    int64_t count = 0;
    for (int i = 0; i < model->force_count; i++) count += tensions_of(&model->forces[i]);
    return count;
}

/* A free corner of an element; -1 if all are pinned. */
static int32_t free_corner(const tw_particles *p, const tw_force_elements *elements, int64_t e)
{
    int32_t row = -1;
    for (int c = 0; c < elements->corners && row < 0; c++)
        row = p->unknown[elements->particle[elements->corners * e + c]];
    return row;
}

tw_status tw_model_list_tension_rows(tw_model *model)
{
    int64_t count = tw_model_tension_count(model);
    if (count == 0) return TW_OK;
    model->tension_row = TW_NEW_ARRAY(count, int32_t);
    if (!model->tension_row) return TW_OUT_OF_MEMORY;

    int32_t *row = model->tension_row;
    for (const tw_force *f = model->forces; f < model->forces + model->force_count; f++) {
        if (tensions_of(f) == 0) continue;
        tw_force_elements elements = f->table->elements(f->data);
        for (int64_t e = 0; e < elements.count; e++)
            *row++ = free_corner(&model->particles, &elements, e);
    }
    return TW_OK;
}

void tw_model_focus(void *context, const unsigned char *active)
{
    tw_model *model = context;
    model->particles.active = active;
}

tw_status tw_model_linearise_tension(void *context, double t, const double *x, const double *v,
                                     const double *tension, bool definite)
{
    tw_model *model = context;
    tw_model_unpack(model, t, x, v);
    model->content = TW_MATRIX_STALE;
    tw_force_view at = {t, model->x, model->v};

    /* Each force takes its own part of the tensions, in the order of the forces. */
    for (const tw_force *f = model->forces; f < model->forces + model->force_count; f++) {
        tw_status status = TW_OK;
        if (f->table->linearise_tension)
            status = f->table->linearise_tension(f->data, &at, tension, definite);
        else if (f->table->linearise)
            status = f->table->linearise(f->data, &at);
        if (status != TW_OK) return status;
        tension += tensions_of(f);
    }
    return TW_OK;
}

tw_status tw_model_predict_tension(void *context, double t, const double *x, const double *v,
                                   const double *dx, double rate, double *predicted, double *turn)
{
    tw_model *model = context;
    tw_model_unpack(model, t, x, v);
    tw_force_view at = {t, model->x, model->v};
    for (const tw_force *f = model->forces; f < model->forces + model->force_count; f++) {
        if (f->table->predict_tension)
            f->table->predict_tension(f->data, &at, dx, rate, predicted, turn);
        predicted += tensions_of(f);
        turn += tensions_of(f);
    }
    return TW_OK;
}

/* ---- products ---- */

/* out += (a tangent of one force) in. */
typedef void add_function(void *data, int count, const double *in, double *out);

static void clear(const tw_model *model, int count, double *out)
{
    tw_vector_fill(3 * model->particles.free_count * count, 0.0, out);
}

/* The last failure of products or matrices of the forces, if any. Every force is asked, so that no
 * failure stays behind for a later call. */
static tw_status outcome(const tw_model *model)
{
    tw_status status = TW_OK;
    for (const tw_force *f = model->forces; f < model->forces + model->force_count; f++) {
        if (!f->table->take_failure) continue;
        tw_status failure = f->table->take_failure(f->data);
        if (failure != TW_OK) status = failure;
    }
    return status;
}

static void add(const tw_force *force, add_function *function, int count, const double *in,
                double *out)
{
    if (function) function(force->data, count, in, out);
}

static tw_status apply_by_forces(tw_model *model, bool exact, int count, const double *in,
                                 double *out)
{
    clear(model, count, out);
    for (const tw_force *f = model->forces; f < model->forces + model->force_count; f++) {
        /* S differs from K only where K is not symmetric. */
        bool use_symmetric = !exact && (tw_force_traits(f) & TW_FORCE_GENERAL);
        if (use_symmetric)
            add(f, f->table->add_symmetric_product, count, in, out);
        else
            add(f, f->table->add_product, count, in, out);
    }

    /* out = K in (exact) or out = S in, force by force. */
    return outcome(model);
}

/* out = S in by the matrix, which is filled if it is not yet. */
static tw_status apply_by_matrix(tw_model *model, int count, const double *in, double *out)
{
    tw_status status = tw_model_assemble(model, model->stiffness);
    if (status != TW_OK) return status;
    return tw_sparse_apply(model->stiffness, count, in, out);
}

tw_status tw_model_apply_symmetric(void *context, int count, const double *in, double *out)
{
    tw_model *model = context;
    if (model->multiplies_by_matrix) return apply_by_matrix(model, count, in, out);
    return apply_by_forces(model, false, count, in, out);
}

tw_status tw_model_apply_stiffness(void *context, int count, const double *in, double *out)
{
    tw_model *model = context;
    if (!model->multiplies_by_matrix) return apply_by_forces(model, true, count, in, out);

    /* out = S in. */
    tw_status status = apply_by_matrix(model, count, in, out);
    if (status != TW_OK || !(model->traits & TW_FORCE_GENERAL)) return status;

    /* out += (K - S) in, of the forces whose K is not symmetric. */
    for (const tw_force *f = model->forces; f < model->forces + model->force_count; f++)
        if (tw_force_traits(f) & TW_FORCE_GENERAL)
            add(f, f->table->add_rest_product, count, in, out);

    return TW_OK;
}

tw_status tw_model_apply_damping(void *context, int count, const double *in, double *out)
{
    tw_model *model = context;
    clear(model, count, out);
    for (const tw_force *f = model->forces; f < model->forces + model->force_count; f++)
        add(f, f->table->add_damping_product, count, in, out);
    return outcome(model);
}

/* ---- matrices ---- */

typedef struct clear_job {
    const tw_particles *particles;
    const int64_t *row_start;
    double *values;
} clear_job;

/* Active rows begin with zeros; others keep their values. */
static void clear_block(void *context, int64_t begin, int64_t end, int64_t block)
{
    (void)block;
    const clear_job *job = context;
    for (int64_t i = begin; i < end; i++) {
        int64_t stop = tw_particles_run(job->particles, &i, end);
        size_t entries = 9 * (size_t)(job->row_start[stop] - job->row_start[i]);
        memset(job->values + 9 * job->row_start[i], 0, entries * sizeof(double));
        i = stop;
    }
}

tw_status tw_model_assemble(void *context, tw_sparse *matrix)
{
    tw_model *model = context;
    /* The model's own matrix is filled once per linearisation. */
    bool own = matrix == model->stiffness;
    if (own && model->content == TW_MATRIX_TANGENT) return TW_OK;

    /* matrix = sum of the S of all forces. */
    clear_job job = {&model->particles, tw_sparse_row_start(matrix), tw_sparse_values(matrix)};
    tw_parallel_for(model->particles.free_count, TW_PARTICLE_BLOCK, clear_block, &job);
    for (int i = 0; i < model->force_count; i++)
        if (model->forces[i].table->add_tangent)
            model->forces[i].table->add_tangent(model->forces[i].data, matrix);

    tw_status status = outcome(model);
    if (own && status == TW_OK) model->content = TW_MATRIX_TANGENT;
    return status;
}

tw_status tw_model_add_damping(void *context, double factor, tw_sparse *matrix)
{
    tw_model *model = context;
    if (matrix == model->stiffness) model->content = TW_MATRIX_STALE;

    for (int i = 0; i < model->force_count; i++)
        if (model->forces[i].table->add_damping)
            model->forces[i].table->add_damping(model->forces[i].data, factor, matrix);
    return outcome(model);
}
