#include "scene/formula_motion.h"

#include <math.h>
#include <twang/motion.h>

#include "base/allocate.h"
#include "base/fail.h"
#include "base/formula.h"
#include "model/motion_rotation.h"
#include "scene/scene_internal.h"
#include "scene/schema_tables.h"

static const tw_schema_field formula_fields[] = {
    {"x", TW_FIELD_TEXT, .fallback = "0",
     .doc = "displacement [m] as a formula of t [s], such as 0.1*sin(2*pi*t), counted from its "
            "value at t = 0; knows + - * / ^, pi, sin, cos, tan, exp, log, sqrt, tanh, and ramp, "
            "which rises smoothly from ramp(0) = 0 to ramp(1) = 1"},
    {"y", TW_FIELD_TEXT, .fallback = "0", .doc = "likewise"},
    {"z", TW_FIELD_TEXT, .fallback = "0", .doc = "likewise"},
    {"angle", TW_FIELD_TEXT, .fallback = "0",
     .doc = "turn [degrees] about the axis, before the displacement, as a formula of t, counted "
            "from its value at t = 0"},
    {"point", TW_FIELD_NUMBERS, .length = 3, .unit = "m", .fallback = "[0, 0, 0]",
     .doc = "on the axis"},
    {"axis", TW_FIELD_NUMBERS, .length = 3, .fallback = "[0, 0, 1]",
     .doc = "direction, of any length but zero"},
};
const tw_field_group tw_formula_fields = FIELDS(formula_fields);

enum { FORMULAS = 4, ANGLE = 3 };
static const char *const keys[FORMULAS] = {"x", "y", "z", "angle"};

static const double RADIANS_PER_DEGREE = 3.14159265358979323846 / 180.0;

/* ---- checks ---- */

/* Formulas are tried at so many times. */
enum { TRIALS = 1000 };

static tw_status check_formula(const tw_node *node, const char *path, double duration,
                               tw_error *error)
{
    tw_formula formula;
    int place = 0;
    const char *wrong = tw_formula_parse(node->text, &formula, &place);
    if (wrong)
        return tw_fail_at(error, node->mark, "%s.%s is '%s', which %s (character %d)", path,
                          node->key, node->text, wrong, place + 1);

    for (int i = 0; i <= TRIALS; i++) {
        double t = duration * i / TRIALS;
        tw_jet jet = tw_formula_at(&formula, t);
        if (!isfinite(jet.value) || !isfinite(jet.rate) || !isfinite(jet.acceleration))
            return tw_fail_at(error, node->mark,
                              "%s.%s is '%s', which is not finite or not smooth at t = %g", path,
                              node->key, node->text, t);
    }
    return TW_OK;
}

tw_status tw_check_formulas(const tw_node *node, const char *path, double duration, tw_error *error)
{
    for (int i = 0; i < FORMULAS; i++)
        TW_TRY(check_formula(tw_node_find(node, keys[i]), path, duration, error));
    return TW_OK;
}

/* ---- the motion ---- */

typedef struct formulas {
    tw_formula formula[FORMULAS];
    double begin[FORMULAS]; /* their values at t = 0 */
    double point[3];
    double axis[3]; /* |axis| = 1 */
} formulas;

static void formulas_all_at(void *context, double t, int64_t count, const double *start,
                            double *position, double *velocity, double *acceleration)
{
    const formulas *f = context;
    tw_jet turn = tw_formula_at(&f->formula[ANGLE], t);
    double angle[3] = {RADIANS_PER_DEGREE * (turn.value - f->begin[ANGLE]),
                       RADIANS_PER_DEGREE * turn.rate, RADIANS_PER_DEGREE * turn.acceleration};
    tw_jet along[3];
    for (int k = 0; k < 3; k++) along[k] = tw_formula_at(&f->formula[k], t);

    /* The displacement is added to the turned position. */
    tw_turn frame = tw_turn_of(f->point, f->axis, angle);
    for (int64_t i = 0; i < count; i++) {
        tw_moved moved;
        tw_rotate(&frame, start + 3 * i, &moved);
        for (int k = 0; k < 3; k++) {
            position[3 * i + k] = moved.position[k] + along[k].value - f->begin[k];
            velocity[3 * i + k] = moved.velocity[k] + along[k].rate;
            acceleration[3 * i + k] = moved.acceleration[k] + along[k].acceleration;
        }
    }
}

static void formulas_at(void *context, double t, const double start[3], double position[3],
                        double velocity[3], double acceleration[3])
{
    formulas_all_at(context, t, 1, start, position, velocity, acceleration);
}

tw_status tw_prescribe_formulas(tw_model *model, const tw_node *node, int64_t first, int64_t last,
                                tw_error *error)
{
    formulas *f = TW_NEW(formulas);
    if (!f) return tw_fail_plain(error, TW_OUT_OF_MEMORY);
    for (int i = 0; i < FORMULAS; i++) {
        int place = 0;
        tw_formula_parse(tw_node_text(node, keys[i]), &f->formula[i], &place);
        f->begin[i] = tw_formula_at(&f->formula[i], 0.0).value;
    }

    tw_node_numbers(node, "point", 3, f->point);
    tw_node_numbers(node, "axis", 3, f->axis);
    double length =
        sqrt(f->axis[0] * f->axis[0] + f->axis[1] * f->axis[1] + f->axis[2] * f->axis[2]);
    for (int k = 0; k < 3; k++) f->axis[k] /= length;

    tw_motion motion = {
        .context = f, .at = formulas_at, .all_at = formulas_all_at, .release = tw_release};
    tw_status status = tw_model_prescribe(model, first, last, &motion, error);
    if (status != TW_OK) tw_release(f);
    return status;
}
