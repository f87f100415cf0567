/* `motions` of a scene: particles whose path is prescribed. A kind is one row of the table
 * `motion_kinds`: its fields in the scene file, and the function that prescribes it. */
#include <stdio.h>
#include <twang/motion.h>

#include "base/allocate.h"
#include "base/fail.h"
#include "scene/formula_motion.h"
#include "scene/scene_internal.h"
#include "scene/schema_tables.h"
#include "scene/sequence_motion.h"

/* An entry of the list while it is built. */
typedef struct motion {
    tw_model *model;
    const tw_node *node;
    int64_t count;         /* of keyframes */
    double *times;         /* of the keyframes [s] */
    double *displacements; /* of the keyframes, three each [m] */
} motion;

typedef struct motion_kind {
    tw_kind schema;
    tw_range_visit *prescribe;
} motion_kind;

/* ---- velocity ---- */

static const tw_schema_field velocity_fields[] = {
    {"velocity", TW_FIELD_NUMBERS, .length = 3, .unit = "m/s", .required = true,
     .doc = "constant, from the start on"},
};

static tw_status prescribe_velocity(void *context, int64_t first, int64_t last, tw_error *error)
{
    const motion *m = context;
    double velocity[3];
    tw_node_numbers(m->node, "velocity", 3, velocity);

    return tw_model_prescribe_velocity(m->model, first, last, velocity, error);
}

/* ---- oscillation ---- */

static const tw_schema_field oscillation_fields[] = {
    {"amplitude", TW_FIELD_NUMBERS, .length = 3, .unit = "m", .required = true,
     .doc = "they move by amplitude (sin(2 pi frequency t + phase) - sin(phase))"},
    {"frequency", TW_FIELD_NUMBER, .unit = "Hz", .range = AT_LEAST(0), .required = true,
     .doc = "of the oscillation"},
    {"phase", TW_FIELD_NUMBER, .unit = "rad", .fallback = "0", .doc = "of the oscillation"},
};

static tw_status prescribe_oscillation(void *context, int64_t first, int64_t last, tw_error *error)
{
    const motion *m = context;
    double amplitude[3];
    tw_node_numbers(m->node, "amplitude", 3, amplitude);
    double frequency = tw_node_number(m->node, "frequency");
    double phase = tw_node_number(m->node, "phase");

    return tw_model_prescribe_oscillation(m->model, first, last, amplitude, frequency, phase,
                                          error);
}

/* ---- rotation ---- */

static const tw_schema_field rotation_fields[] = {
    {"point", TW_FIELD_NUMBERS, .length = 3, .unit = "m", .fallback = "[0, 0, 0]",
     .doc = "on the axis"},
    {"axis", TW_FIELD_NUMBERS, .length = 3, .fallback = "[0, 0, 1]",
     .doc = "direction, of any length but zero"},
    {"rate", TW_FIELD_NUMBER, .unit = "rad/s", .doc = "angular velocity; or give keyframes"},
    {"keyframes", TW_FIELD_ROWS, .length = 2,
     .doc = "instead of a rate: at least two [time in s, angle in degrees], times ascending; a "
            "smooth curve goes through them, at rest at both ends; angles count from the one at "
            "t = 0"},
};

static const double RADIANS_PER_DEGREE = 3.14159265358979323846 / 180.0;

/* Turns through keyframes of the angle. */
static tw_status prescribe_turning(const motion *m, const tw_node *keyframes, int64_t first,
                                   int64_t last, tw_error *error)
{
    double point[3];
    double axis[3];
    tw_node_numbers(m->node, "point", 3, point);
    tw_node_numbers(m->node, "axis", 3, axis);
    double *times = TW_NEW_ARRAY(keyframes->count, double);
    double *angles = TW_NEW_ARRAY(keyframes->count, double);
    tw_status status = times && angles ? TW_OK : tw_fail_plain(error, TW_OUT_OF_MEMORY);

    if (status == TW_OK) {
        int i = 0;
        for (const tw_node *row = keyframes->first; row; row = row->next, i++) {
            times[i] = row->first->number;
            angles[i] = row->last->number * RADIANS_PER_DEGREE;
        }
        status = tw_model_prescribe_turning(m->model, first, last, point, axis, keyframes->count,
                                            times, angles, error);
    }
    tw_release(times);
    tw_release(angles);
    return status;
}

static tw_status prescribe_rotation(void *context, int64_t first, int64_t last, tw_error *error)
{
    const motion *m = context;
    const tw_node *keyframes = tw_node_find(m->node, "keyframes");
    if (keyframes) return prescribe_turning(m, keyframes, first, last, error);

    double point[3];
    double axis[3];
    tw_node_numbers(m->node, "point", 3, point);
    tw_node_numbers(m->node, "axis", 3, axis);
    double rate = tw_node_number(m->node, "rate");

    return tw_model_prescribe_rotation(m->model, first, last, point, axis, rate, error);
}

/* Either a rate, or at least two keyframes with ascending times. */
static tw_status check_turning(const tw_entry *entry, tw_error *error)
{
    const tw_node *rate = tw_node_find(entry->node, "rate");
    const tw_node *keyframes = tw_node_find(entry->node, "keyframes");
    if (!rate && !keyframes)
        return tw_fail_at(error, entry->node->mark, "%s has neither rate nor keyframes, give one",
                          entry->path);
    if (rate && keyframes)
        return tw_fail_at(error, keyframes->key_mark,
                          "%s has both rate and keyframes, keep one of them", entry->path);
    if (rate) return TW_OK;

    if (keyframes->count < 2)
        return tw_fail_at(error, keyframes->mark, "%s.keyframes has %d, must have at least two",
                          entry->path, keyframes->count);
    for (const tw_node *row = keyframes->first; row->next; row = row->next) {
        const tw_node *time = row->next->first;
        if (!(time->number > row->first->number))
            return tw_fail_at(error, time->mark,
                              "%s.keyframes has time %s after %s, times must ascend", entry->path,
                              time->text, row->first->text);
    }
    return TW_OK;
}

/* The rules of a motion with an axis or with formulas; other kinds pass. */
static tw_status check_motion(const tw_entry *entry, tw_error *error)
{
    const tw_node *given = tw_node_find(entry->node, "axis");
    if (!given) return TW_OK;

    double axis[3];
    tw_node_numbers(entry->node, "axis", 3, axis);
    if (axis[0] == 0.0 && axis[1] == 0.0 && axis[2] == 0.0)
        return tw_fail_at(error, given->mark, "%s.axis has length zero, give it any other",
                          entry->path);

    double duration = tw_scene_node(entry->build->scene, "duration")->number;
    if (tw_node_find(entry->node, "angle"))
        return tw_check_formulas(entry->node, entry->path, duration, error);
    return check_turning(entry, error);
}

/* ---- keyframes ---- */

static const tw_schema_field frame_fields[] = {
    {"t", TW_FIELD_NUMBER, .unit = "s", .required = true,
     .doc = "time, later than that of the frame before"},
    {"displacement", TW_FIELD_NUMBERS, .length = 3, .unit = "m", .required = true,
     .doc = "counted from that at t = 0, where the particle begins"},
};
static SECTION(frame_section, "motions.frames", frame_fields);
static SECTION(obstacle_frame_section, "obstacles.motion.frames", frame_fields);

/* A list of frames, whose table has the heading of its section. */
#define FRAMES_OF(frames)                                                                          \
    {                                                                                              \
        "frames", TW_FIELD_LIST,                                                                   \
            .section = &(frames), .required = true,                                                \
            .doc = "at least two; a smooth curve goes through them, at rest at both ends"          \
    }
static const tw_schema_field keyframe_fields[] = {FRAMES_OF(frame_section)};
static const tw_schema_field obstacle_keyframe_fields[] = {FRAMES_OF(obstacle_frame_section)};

static tw_status prescribe_keyframes(void *context, int64_t first, int64_t last, tw_error *error)
{
    const motion *m = context;
    return tw_model_prescribe_keyframes(m->model, first, last, m->count, m->times, m->displacements,
                                        error);
}

/* Appends one frame to those read before. */
static tw_status read_frame(motion *m, const tw_node *frame, const char *path, tw_error *error)
{
    int64_t i = m->count;
    m->times[i] = tw_node_number(frame, "t");
    tw_node_numbers(frame, "displacement", 3, m->displacements + 3 * i);

    /* Times increase. */
    if (i > 0 && !(m->times[i] > m->times[i - 1]))
        return tw_fail_at(error, tw_node_find(frame, "t")->mark,
                          "%s.frames.%lld.t is %s, must be later than the one before", path,
                          (long long)i, tw_node_text(frame, "t"));
    m->count++;
    return TW_OK;
}

static tw_status read_frames(motion *m, const char *path, tw_error *error)
{
    const tw_node *frames = tw_node_find(m->node, "frames");
    if (!frames) return TW_OK;
    if (frames->count < 2)
        return tw_fail_at(error, frames->mark, "%s.frames has %d, must have at least two", path,
                          frames->count);

    /* tw_build_motion releases both, also after a failure. */
    m->times = TW_NEW_ARRAY(frames->count, double);
    m->displacements = TW_NEW_ARRAY(3 * frames->count, double);
    if (!m->times || !m->displacements) return tw_fail_plain(error, TW_OUT_OF_MEMORY);

    for (const tw_node *frame = frames->first; frame; frame = frame->next)
        TW_TRY(read_frame(m, frame, path, error));
    return TW_OK;
}

/* ---- formulas ---- */

static tw_status prescribe_formulas(void *context, int64_t first, int64_t last, tw_error *error)
{
    const motion *m = context;
    return tw_prescribe_formulas(m->model, m->node, first, last, error);
}

/* ---- the table ---- */

static const motion_kind motion_kinds[] = {
    {.schema = {"velocity", FIELDS(velocity_fields), {&tw_selection_fields}},
     .prescribe = prescribe_velocity},
    {.schema = {"oscillation", FIELDS(oscillation_fields), {&tw_selection_fields}},
     .prescribe = prescribe_oscillation},
    {.schema = {"rotation", FIELDS(rotation_fields), {&tw_selection_fields}},
     .prescribe = prescribe_rotation},
    {.schema = {"keyframes", FIELDS(keyframe_fields), {&tw_selection_fields}},
     .prescribe = prescribe_keyframes},
    {.schema = {"formula", {NULL, 0}, {&tw_formula_fields, &tw_selection_fields}},
     .prescribe = prescribe_formulas},
};
KINDS_OF(motion_kinds)

static const tw_schema_field common_fields[] = {
    {"kind", TW_FIELD_CHOICE, .choice = kind_name, .required = true,
     .doc = "how the particles move"},
    NAME_FIELD("motions"),
};
const tw_section tw_schema_motions = {"motions", FIELDS(common_fields), kind_row};

/* The same kinds for an obstacle, which moves as a whole, and then the sequence of meshes. */
static const tw_kind obstacle_motion_kinds[] = {
    {"velocity", FIELDS(velocity_fields), {NULL}},
    {"oscillation", FIELDS(oscillation_fields), {NULL}},
    {"rotation", FIELDS(rotation_fields), {NULL}},
    {"keyframes", FIELDS(obstacle_keyframe_fields), {NULL}},
    {"formula", {NULL, 0}, {&tw_formula_fields}},
    {"sequence", {NULL, 0}, {&tw_sequence_fields}},
};

static const tw_kind *obstacle_kind_row(int index)
{
    bool in_table = index >= 0 && index < COUNT_OF(obstacle_motion_kinds);
    return in_table ? &obstacle_motion_kinds[index] : NULL;
}

static const char *obstacle_kind_name(int index)
{
    const tw_kind *kind = obstacle_kind_row(index);
    return kind ? kind->name : NULL;
}

static const tw_schema_field obstacle_common_fields[] = {
    {"kind", TW_FIELD_CHOICE, .choice = obstacle_kind_name, .required = true,
     .doc = "how the obstacle moves"},
};
const tw_section tw_schema_obstacle_motion = {"obstacles.motion", FIELDS(obstacle_common_fields),
                                              obstacle_kind_row};

tw_status tw_build_obstacle_motion(const tw_entry *entry, const tw_node *node, int64_t first,
                                   int64_t last, tw_error *error)
{
    tw_entry inner = {.build = entry->build, .node = node};
    snprintf(inner.path, sizeof inner.path, "%.20s.motion", entry->path);
    int64_t index = tw_node_integer(node, "kind");
    if (index == COUNT_OF(motion_kinds))
        return tw_prescribe_sequence(&inner, entry->node, first, last, error);

    motion m = {.model = entry->build->model, .node = node};
    const motion_kind *kind = &motion_kinds[index];
    tw_status status = check_motion(&inner, error);
    if (status == TW_OK) status = read_frames(&m, inner.path, error);
    if (status == TW_OK) status = kind->prescribe(&m, first, last, error);

    tw_release(m.times);
    tw_release(m.displacements);
    return status;
}

tw_status tw_build_motion(const tw_entry *entry, tw_error *error)
{
    motion m = {.model = entry->build->model, .node = entry->node};
    const motion_kind *kind = &motion_kinds[tw_node_integer(entry->node, "kind")];

    /* Both checks apply to the kinds that have such fields, and pass for the others. */
    tw_status status = check_motion(entry, error);
    if (status == TW_OK) status = read_frames(&m, entry->path, error);
    if (status == TW_OK) status = tw_entry_select(entry, kind->prescribe, &m, error);

    tw_release(m.times);
    tw_release(m.displacements);
    return status;
}
