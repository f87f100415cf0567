/* Tangents of a model: the sums over its forces of K, S and D (force.h). */
#include "linalg/vector.h"
#include "model/model_internal.h"

tw_status tw_model_linearise(void *context, double t, const double *x, const double *v)
{
    tw_model *model = context;
    tw_model_unpack(model, t, x, v);
    model->content = TW_MATRIX_STALE;
    tw_force_view at = {t, model->x, model->v};
    for (int i = 0; i < model->force_count; i++) {
        if (!model->forces[i].table->linearise) continue;
        tw_status status = model->forces[i].table->linearise(model->forces[i].data, &at);
        if (status != TW_OK) return status;
    }
    return TW_OK;
}

typedef void add_function(void *data, int count, const double *in, double *out);

static void clear(const tw_model *model, int count, double *out)
{
    tw_vector_fill(3 * model->particles.free_count * count, 0.0, out);
}

/* What went wrong in products or matrices of the forces, if anything. */
static tw_status outcome(const tw_model *model)
{
    tw_status status = TW_OK;
    for (const tw_force *f = model->forces; f < model->forces + model->force_count; f++) {
        tw_status failure = f->table->take_failure ? f->table->take_failure(f->data) : TW_OK;
        if (failure != TW_OK) status = failure;
    }
    return status;
}

static void add(const tw_force *force, add_function *function, int count, const double *in,
                double *out)
{
    if (function) function(force->data, count, in, out);
}

/* Products with K (exact) or S force by force. */
static tw_status apply_by_forces(tw_model *model, bool exact, int count, const double *in,
                                 double *out)
{
    clear(model, count, out);
    for (const tw_force *f = model->forces; f < model->forces + model->force_count; f++) {
        bool stand_in = !exact && (tw_force_traits(f) & TW_FORCE_GENERAL);
        add(f, stand_in ? f->table->add_symmetric_product : f->table->add_product, count, in, out);
    }
    return outcome(model);
}

/* Products with S by the matrix. */
static tw_status apply_by_matrix(tw_model *model, int count, const double *in, double *out)
{
    tw_status status = tw_model_assemble(model, model->stiffness);
    return status == TW_OK ? tw_sparse_apply(model->stiffness, count, in, out) : status;
}

tw_status tw_model_apply_symmetric(void *context, int count, const double *in, double *out)
{
    tw_model *model = context;
    return model->multiplies_by_matrix ? apply_by_matrix(model, count, in, out)
                                       : apply_by_forces(model, false, count, in, out);
}

tw_status tw_model_apply_stiffness(void *context, int count, const double *in, double *out)
{
    tw_model *model = context;
    if (!model->multiplies_by_matrix) return apply_by_forces(model, true, count, in, out);
    tw_status status = apply_by_matrix(model, count, in, out);
    if (status != TW_OK || !(model->traits & TW_FORCE_GENERAL)) return status;
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

tw_status tw_model_assemble(void *context, tw_sparse *matrix)
{
    tw_model *model = context;
    bool own = matrix == model->stiffness;
    if (own && model->content == TW_MATRIX_TANGENT) return TW_OK;
    int64_t blocks = tw_sparse_row_start(matrix)[model->particles.free_count];
    tw_vector_fill(9 * blocks, 0.0, tw_sparse_values(matrix));
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
