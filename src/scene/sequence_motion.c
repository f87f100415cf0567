#include "scene/sequence_motion.h"

#include <stdio.h>
#include <string.h>
#include <twang/motion.h>

#include "base/allocate.h"
#include "base/fail.h"
#include "scene/schema_tables.h"

static const tw_schema_field sequence_fields[] = {
    {"files", TW_FIELD_TEXT, .required = true,
     .doc = "name of the files with # for the digits of the number: head_####.obj; of a mesh "
            "alone, whose vertices they have in the same order"},
    {"first", TW_FIELD_INTEGER, .range = BETWEEN(0, 100000000), .fallback = "1",
     .doc = "number of the file at t = 0"},
    {"count", TW_FIELD_INTEGER, .range = BETWEEN(2, 100000), .required = true, .doc = "of files"},
    {"fps", TW_FIELD_NUMBER, .unit = "1/s", .range = ABOVE(0), .fallback = "24",
     .doc = "files per second; a smooth curve goes through the places of each vertex, at rest at "
            "both ends"},
};
const tw_field_group tw_sequence_fields = FIELDS(sequence_fields);

bool tw_sequence_file(const char *pattern, int64_t number, char path[TW_SEQUENCE_PATH_SIZE])
{
    const char *mark = strchr(pattern, '#');
    if (!mark) return false;

    size_t digits = strspn(mark, "#");
    if (strchr(mark + digits, '#')) return false;

    int length = snprintf(path, TW_SEQUENCE_PATH_SIZE, "%.*s%0*lld%s", (int)(mark - pattern),
                          pattern, (int)digits, (long long)number, mark + digits);
    return length < TW_SEQUENCE_PATH_SIZE;
}

/* The places of all vertices in all files. */
typedef struct sequence {
    int64_t vertices;
    int64_t frames;
    double *places; /* three entries for each vertex of the first file, then of the second, ... */
    double *times;
    double *path; /* of one vertex, three entries for each file */
} sequence;

/* Reads one file and places it as the obstacle is placed. */
static tw_status read_frame(const tw_entry *motion, const tw_node *obstacle, int64_t frame,
                            sequence *s, tw_error *error)
{
    const tw_node *files = tw_node_find(motion->node, "files");
    int64_t number = tw_node_integer(motion->node, "first") + frame;
    char path[TW_SEQUENCE_PATH_SIZE];
    if (!tw_sequence_file(files->text, number, path))
        return tw_fail_at(error, files->mark,
                          "%s.files is '%.200s', must have # in one place for the digits of the "
                          "number",
                          motion->path, files->text);

    tw_body body = {.node = obstacle};
    snprintf(body.path, sizeof body.path, "%s", motion->path);
    tw_status status = tw_mesh_load(path, &body.mesh, NULL, error);
    if (status == TW_OK && body.mesh.vertex_count != s->vertices)
        status = tw_fail_at(error, files->mark,
                            "%s.files: %.200s has %lld vertices, must have %lld as the obstacle",
                            motion->path, path, (long long)body.mesh.vertex_count,
                            (long long)s->vertices);
    if (status == TW_OK) status = tw_place_body(&body, error);
    if (status == TW_OK)
        memcpy(s->places + 3 * frame * s->vertices, body.mesh.vertices,
               3 * (size_t)s->vertices * sizeof(double));
    tw_mesh_free(&body.mesh);
    return status;
}

static tw_status prescribe_vertices(tw_model *model, int64_t first, sequence *s, tw_error *error)
{
    for (int64_t i = 0; i < s->vertices; i++) {
        for (int64_t f = 0; f < s->frames; f++)
            memcpy(s->path + 3 * f, s->places + 3 * (f * s->vertices + i), 3 * sizeof(double));
        TW_TRY(tw_model_prescribe_keyframes(model, first + i, first + i, s->frames, s->times,
                                            s->path, error));
    }
    return TW_OK;
}

static tw_status check_sequence(const tw_entry *motion, const tw_node *obstacle, tw_error *error)
{
    const tw_node *files = tw_node_find(motion->node, "files");
    if (!tw_node_find(obstacle, "file"))
        return tw_fail_at(error, files->mark,
                          "%s.kind is sequence, which moves meshes only, not a %s", motion->path,
                          tw_node_text(obstacle, "kind"));

    const tw_node *extent = tw_node_find(obstacle, "extent");
    if (!extent) return TW_OK;
    return tw_fail_at(error, extent->key_mark,
                      "extent does not go with a sequence of meshes, give scale");
}

tw_status tw_prescribe_sequence(const tw_entry *motion, const tw_node *obstacle, int64_t first,
                                int64_t last, tw_error *error)
{
    TW_TRY(check_sequence(motion, obstacle, error));
    sequence s = {.vertices = last - first + 1, .frames = tw_node_integer(motion->node, "count")};
    s.places = TW_NEW_ARRAY(3 * s.frames * s.vertices, double);
    s.times = TW_NEW_ARRAY(s.frames, double);
    s.path = TW_NEW_ARRAY(3 * s.frames, double);

    tw_status status = TW_OK;
    if (!s.places || !s.times || !s.path) {
        status = tw_fail_plain(error, TW_OUT_OF_MEMORY);
    } else {
        double fps = tw_node_number(motion->node, "fps");
        for (int64_t f = 0; f < s.frames && status == TW_OK; f++) {
            s.times[f] = (double)f / fps;
            status = read_frame(motion, obstacle, f, &s, error);
        }
        if (status == TW_OK) status = prescribe_vertices(motion->build->model, first, &s, error);
    }
    tw_release(s.places);
    tw_release(s.times);
    tw_release(s.path);
    return status;
}
