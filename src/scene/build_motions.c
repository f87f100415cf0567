/* `motions` of a scene: particles that go where they are told. */
#include <stdio.h>
#include <string.h>
#include <twang/motion.h>

#include "base/allocate.h"
#include "base/fail.h"
#include "scene/scene_internal.h"

typedef struct motion {
    tw_model *model;
    const tw_node *node;
    int64_t count; /* of keyframes */
    double *times, *displacements;
} motion;

static tw_status move_velocity(void *context, int64_t first, int64_t last, tw_error *error)
{
    const motion *m = context;
    double velocity[3];
    tw_node_numbers(m->node, "velocity", 3, velocity);
    return tw_model_prescribe_velocity(m->model, first, last, velocity, error);
}

static tw_status move_oscillation(void *context, int64_t first, int64_t last, tw_error *error)
{
    const motion *m = context;
    double amplitude[3];
    tw_node_numbers(m->node, "amplitude", 3, amplitude);
    return tw_model_prescribe_oscillation(m->model, first, last, amplitude,
                                          tw_node_number(m->node, "frequency"),
                                          tw_node_number(m->node, "phase"), error);
}

static tw_status move_rotation(void *context, int64_t first, int64_t last, tw_error *error)
{
    const motion *m = context;
    double point[3], axis[3];
    tw_node_numbers(m->node, "point", 3, point);
    tw_node_numbers(m->node, "axis", 3, axis);
    return tw_model_prescribe_rotation(m->model, first, last, point, axis,
                                       tw_node_number(m->node, "rate"), error);
}

static tw_status move_keyframes(void *context, int64_t first, int64_t last, tw_error *error)
{
    const motion *m = context;
    return tw_model_prescribe_keyframes(m->model, first, last, m->count, m->times, m->displacements,
                                        error);
}

static tw_status read_keyframes(motion *m, const char *path, tw_error *error)
{
    const tw_node *frames = tw_node_find(m->node, "frames");
    if (!frames) return TW_OK;
    if (frames->count < 2)
        return tw_fail_at(error, frames->mark, "%s.frames has %d, must have at least two", path,
                          frames->count);
    m->times = TW_NEW_ARRAY(frames->count, double);
    m->displacements = TW_NEW_ARRAY(3 * frames->count, double);
    if (!m->times || !m->displacements) return tw_fail_plain(error, TW_OUT_OF_MEMORY);
    for (const tw_node *frame = frames->first; frame; frame = frame->next) {
        m->times[m->count] = tw_node_number(frame, "t");
        tw_node_numbers(frame, "displacement", 3, m->displacements + 3 * m->count);
        if (m->count && !(m->times[m->count] > m->times[m->count - 1]))
            return tw_fail_at(error, tw_node_find(frame, "t")->mark,
                              "%s.frames.%lld.t is %s, must be later than the one before", path,
                              (long long)m->count, tw_node_text(frame, "t"));
        m->count++;
    }
    return TW_OK;
}

static tw_status check_axis(const tw_node *node, const char *path, tw_error *error)
{
    double axis[3];
    const tw_node *given = tw_node_find(node, "axis");
    tw_node_numbers(node, "axis", 3, axis);
    if (!given || axis[0] != 0.0 || axis[1] != 0.0 || axis[2] != 0.0) return TW_OK;
    return tw_fail_at(error, given->mark, "%s.axis has length zero, give it any other", path);
}

static tw_status build_motion(const tw_build *build, const tw_node *node, const char *path,
                              tw_error *error)
{
    static const struct {
        const char *kind;
        tw_range_visit *move;
    } kinds[] = {{"velocity", move_velocity},
                 {"oscillation", move_oscillation},
                 {"rotation", move_rotation},
                 {"keyframes", move_keyframes}};
    motion m = {.model = build->model, .node = node};
    tw_status status = check_axis(node, path, error);
    if (status == TW_OK) status = read_keyframes(&m, path, error);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds && status == TW_OK; i++)
        if (strcmp(tw_node_text(node, "kind"), kinds[i].kind) == 0)
            status = tw_build_select(build, node, path, kinds[i].move, &m, error);
    tw_release(m.times);
    tw_release(m.displacements);
    return status;
}

tw_status tw_build_motions(const tw_build *build, tw_error *error)
{
    const tw_node *motions = tw_scene_node(build->scene, "motions");
    tw_status status = TW_OK;
    int index = 0;
    for (const tw_node *node = motions ? motions->first : NULL; node && status == TW_OK;
         node = node->next) {
        char path[32];
        snprintf(path, sizeof path, "motions.%d", index++);
        status = build_motion(build, node, path, error);
    }
    return status;
}
