/* Adding springs of every kind and dashpots to a model, and setting its Rayleigh damping. */
#include <math.h>
#include <twang/forces.h>

#include "base/allocate.h"
#include "base/fail.h"
#include "model/model_internal.h"
#include "model/springs.h"

/* Checks that the corners of a spring are different particles of the model. */
static tw_status check_corners(const tw_model *model, int corners, const int64_t *corner,
                               tw_error *error)
{
    int64_t count = model->particles.count;
    bool sound = true;

    /* Each corner is a particle, and differs from all before it. */
    for (int b = 0; b < corners; b++) {
        sound = sound && corner[b] >= 0 && corner[b] < count;
        for (int c = 0; c < b; c++) sound = sound && corner[b] != corner[c];
    }
    if (sound) return TW_OK;
    return tw_fail(error, TW_INVALID_ARGUMENT,
                   "a spring must join %d different ones of the particles 0 to %lld", corners,
                   (long long)(count - 1));
}

static bool is_at_least(double value, double least)
{
    return value >= least && isfinite(value);
}

/* The value of spring e; 0 where there is no array. */
static double value_of(const double *values, int64_t e)
{
    return values ? values[e] : 0.0;
}

/* Checks that spring e pulls at all, and that none of its values is negative. */
static tw_status check_values(const tw_springs_input *input, int64_t e, tw_error *error)
{
    double k = value_of(input->stiffness, e);
    double q = value_of(input->cubic, e);
    double c = value_of(input->damping, e);
    double L = value_of(input->rest_length, e);

    /* A spring needs a stiffness or a damping, and none may be negative. */
    bool pulls =
        is_at_least(k, 0.0) && is_at_least(q, 0.0) && is_at_least(c, 0.0) && k + q + c > 0.0;
    if (input->damping && !pulls)
        return tw_fail(error, TW_INVALID_ARGUMENT, "the damping of a dashpot must be positive");
    if (!pulls || !is_at_least(L, 0.0))
        return tw_fail(error, TW_INVALID_ARGUMENT,
                       "a spring needs a positive stiffness and a rest length >= 0");

    return TW_OK;
}

static tw_status add_springs(tw_model *model, tw_springs_input *input, tw_error *error)
{
    bool has_law = input->stiffness || input->damping;
    if (!model || input->count < 0 || (input->count && (!input->corner || !has_law)))
        return tw_fail_plain(error, TW_INVALID_ARGUMENT);

    /* Refuse the whole set if one spring is wrong. */
    for (int64_t e = 0; e < input->count; e++) {
        tw_status status =
            check_corners(model, input->corners, input->corner + input->corners * e, error);
        if (status == TW_OK) status = check_values(input, e, error);
        if (status != TW_OK) return status;
    }

    /* Springs without given rest lengths are relaxed where the particles are now. */
    input->positions = model->particles.position;
    bool yields = input->stiffness && model->plasticity.yield_strain > 0.0;
    input->plasticity = yields ? &model->plasticity : NULL;
    tw_force force;
    tw_status status = tw_force_springs_create(input, &force);
    if (status != TW_OK) return tw_fail_plain(error, status);

    /* Dashpots do not count as springs. */
    status = tw_model_add_force(model, &force, error);
    if (status == TW_OK && input->stiffness) model->spring_count += input->count;
    return status;
}

tw_status tw_model_add_springs(tw_model *model, int64_t count, const int64_t *ends,
                               const double *stiffness, const double *rest_length, tw_error *error)
{
    tw_springs_input input = {.count = count,
                              .corners = 2,
                              .corner = ends,
                              .stiffness = stiffness,
                              .rest_length = rest_length};
    return add_springs(model, &input, error);
}

tw_status tw_model_add_cubic_springs(tw_model *model, int64_t count, const int64_t *ends,
                                     const double *stiffness, const double *cubic,
                                     const double *rest_length, tw_error *error)
{
    if (count > 0 && !cubic)
        return tw_fail(error, TW_INVALID_ARGUMENT, "cubic springs need their coefficients");
    tw_springs_input input = {.count = count,
                              .corners = 2,
                              .corner = ends,
                              .stiffness = stiffness,
                              .cubic = cubic,
                              .rest_length = rest_length};

    return add_springs(model, &input, error);
}

tw_status tw_model_add_face_springs(tw_model *model, int64_t count, const int64_t *corners,
                                    const double *stiffness, const double *rest_length,
                                    tw_error *error)
{
    tw_springs_input input = {.count = count,
                              .corners = 4,
                              .corner = corners,
                              .stiffness = stiffness,
                              .rest_length = rest_length};
    return add_springs(model, &input, error);
}

tw_status tw_model_add_section_springs(tw_model *model, int64_t count, const int64_t *corners,
                                       const double *stiffness, const double *rest_length,
                                       tw_error *error)
{
    tw_springs_input input = {.count = count,
                              .corners = 8,
                              .corner = corners,
                              .stiffness = stiffness,
                              .rest_length = rest_length};
    return add_springs(model, &input, error);
}

tw_status tw_model_add_dashpots(tw_model *model, int64_t count, const int64_t *ends,
                                const double *damping, tw_error *error)
{
    tw_springs_input input = {.count = count, .corners = 2, .corner = ends, .damping = damping};
    return add_springs(model, &input, error);
}

tw_plasticity tw_plasticity_default(void)
{
    return (tw_plasticity){.yield_strain = 0.02, .rupture_strain = INFINITY, .tolerance = 0.01};
}

tw_status tw_model_set_plasticity(tw_model *model, const tw_plasticity *law, tw_error *error)
{
    if (!model) return tw_fail_plain(error, TW_INVALID_ARGUMENT);
    if (!law) {
        model->plasticity = (tw_plasticity){0};
        return TW_OK;
    }

    bool is_sound = law->yield_strain > 0.0 && isfinite(law->yield_strain) &&
                    is_at_least(law->hardening, 0.0) && law->rupture_strain > law->yield_strain &&
                    law->tolerance > 0.0;
    if (!is_sound)
        return tw_fail(error, TW_INVALID_ARGUMENT,
                       "plasticity needs yield_strain > 0, hardening >= 0, rupture_strain > "
                       "yield_strain and tolerance > 0");
    model->plasticity = *law;
    return TW_OK;
}

tw_status tw_model_set_rayleigh(tw_model *model, double alpha, double beta, tw_error *error)
{
    if (!model || !is_at_least(alpha, 0.0) || !is_at_least(beta, 0.0))
        return tw_fail(error, TW_INVALID_ARGUMENT,
                       "Rayleigh damping needs alpha >= 0 and beta >= 0");
    model->rayleigh_mass = alpha;
    model->rayleigh_stiffness = beta;
    return TW_OK;
}
