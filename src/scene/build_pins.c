/* Which particles an entry of pins, forces or motions selects; and `pins`, which are
 * nothing else. */
#include <string.h>
#include <twang/nearest_name.h>

#include "base/fail.h"
#include "base/number.h"
#include "scene/scene_internal.h"
#include "scene/schema_tables.h"

/* In the order of body_part. */
WORDS(parts, "roots", "tips")
typedef enum body_part { PART_ROOTS, PART_TIPS } body_part;

/* Particles are selected by their number, by their place at t = 0, as a part of fibres, or as
 * a group of the file. */
static const tw_schema_field pin_fields[] = {
    NAME_FIELD("pins"),
    BODY_FIELD("the body: its name, or its index from 0"),
    {"from", TW_FIELD_INTEGER, .range = AT_LEAST(0), .doc = "first particle selected, from 0"},
    {"to", TW_FIELD_INTEGER, .range = AT_LEAST(0),
     .doc = "last particle selected; not given: the first one alone"},
    {"lowest", TW_FIELD_NUMBER, .range = BETWEEN(0, 1),
     .doc = "instead: particles in this lowest share of the body's height (z)"},
    {"highest", TW_FIELD_NUMBER, .range = BETWEEN(0, 1),
     .doc = "instead: particles in this highest share of it"},
    {"lower", TW_FIELD_NUMBERS, .length = 3, .unit = "m",
     .doc = "instead: particles in a box, this its lower corner"},
    {"upper", TW_FIELD_NUMBERS, .length = 3, .unit = "m", .doc = "upper corner of the box"},
    {"part", TW_FIELD_CHOICE, .choice = parts,
     .doc = "instead: the first or the last section of every fibre"},
    {"group", TW_FIELD_TEXT,
     .doc = "instead: the group or object of this name in the body's OBJ file"},
};

/* Forces and motions select in the same way. They have a name of their own. */
const tw_field_group tw_selection_fields = {pin_fields + 1, COUNT_OF(pin_fields) - 1};

SECTION(tw_schema_pins, "pins", pin_fields);

/* A particle on the edge of a share of the height is inside: this share of the height is more than
 * the rounding errors of its position. */
static const double ROUNDING = 1e-12;

/* The body of this name; NULL if there is none. */
static const tw_body *body_of_name(const tw_build *build, const char *name)
{
    for (int i = 0; i < build->body_count; i++) {
        const tw_node *own = tw_node_find(build->bodies[i].node, "name");
        if (own && strcmp(own->text, name) == 0) return &build->bodies[i];
    }
    return NULL;
}

/* The name of a body that was probably meant; NULL if none is near. */
static const char *nearest_body(const tw_build *build, const char *word)
{
    enum { MOST_NAMES = 64 };
    const char *names[MOST_NAMES];
    int count = 0;
    for (int i = 0; i < build->body_count && count < MOST_NAMES; i++) {
        const tw_node *own = tw_node_find(build->bodies[i].node, "name");
        if (own) names[count++] = own->text;
    }
    return tw_nearest_name(word, names, count);
}

const tw_body *tw_entry_body(const tw_entry *entry, tw_error *error)
{
    const tw_build *build = entry->build;
    const tw_node *given = tw_node_find(entry->node, "body");
    const tw_body *body = body_of_name(build, given->text);
    if (body) return body;

    /* A number that is no name is an index. */
    int64_t index = 0;
    bool is_index = tw_integer_parse(given->text, &index) && index >= 0;
    if (is_index && index < build->body_count) return &build->bodies[index];

    const char *nearest = nearest_body(build, given->text);
    if (is_index)
        tw_fail_at(error, given->mark, "%s.body is %s, must be at most %d: the last body",
                   entry->path, given->text, build->body_count - 1);
    else if (nearest)
        tw_fail_at(error, given->mark,
                   "%s.body is '%s', must be the name of a body, did you mean '%s'?", entry->path,
                   given->text, nearest);
    else
        tw_fail_at(error, given->mark,
                   "%s.body is '%s', must be the name of a body, or an index from 0", entry->path,
                   given->text);
    return NULL;
}

/* By number: from `from` to `to`. */
static tw_status select_range(const tw_entry *entry, const tw_body *body, tw_range_visit *visit,
                              void *context, tw_error *error)
{
    const tw_node *from = tw_node_find(entry->node, "from");
    const tw_node *last = tw_node_find(entry->node, "to");
    if (!last) last = from;

    if (last->number < from->number)
        return tw_fail_at(error, last->mark, "%s.to is %s, must be at least from, which is %s",
                          entry->path, last->text, from->text);
    if (last->number >= (double)body->count)
        return tw_fail_at(error, last->mark,
                          "%s.%s is %s, must be at most %lld: the body's last particle",
                          entry->path, last->key, last->text, (long long)(body->count - 1));

    return visit(context, body->first + (int64_t)from->number, body->first + (int64_t)last->number,
                 error);
}

/* The box that is given, or the lowest or highest part of the body's own box. */
static void selection_box(const tw_body *body, const tw_node *node, double lower[3],
                          double upper[3])
{
    if (tw_node_find(node, "lower")) {
        tw_node_numbers(node, "lower", 3, lower);
        tw_node_numbers(node, "upper", 3, upper);
        return;
    }

    tw_mesh_bounds(&body->mesh, lower, upper);
    double height = upper[2] - lower[2];
    double rounding = ROUNDING * height;
    if (tw_node_find(node, "lowest"))
        upper[2] = lower[2] + tw_node_number(node, "lowest") * height + rounding;
    else
        lower[2] = upper[2] - tw_node_number(node, "highest") * height - rounding;
}

static bool is_inside(const double *x, const double lower[3], const double upper[3])
{
    for (int k = 0; k < 3; k++)
        if (!(x[k] >= lower[k] && x[k] <= upper[k])) return false;
    return true;
}

/* By place: every particle in a box. Neighbouring indices inside the box are visited as
 * one range. */
static tw_status select_box(const tw_entry *entry, const tw_body *body, tw_range_visit *visit,
                            void *context, tw_error *error)
{
    double lower[3];
    double upper[3];
    selection_box(body, entry->node, lower, upper);

    int64_t begin = -1; /* where the range began that is being followed; -1: there is none */
    int64_t found = 0;
    for (int64_t i = 0; i <= body->count; i++) {
        bool inside = i < body->count && is_inside(body->mesh.vertices + 3 * i, lower, upper);
        if (inside) {
            found++;
            if (begin < 0) begin = i;
            continue;
        }

        /* A range has ended at the particle before. */
        if (begin >= 0) TW_TRY(visit(context, body->first + begin, body->first + i - 1, error));
        begin = -1;
    }

    if (found == 0)
        return tw_fail_at(error, entry->node->mark, "%s selects no particle, none is there",
                          entry->path);
    return TW_OK;
}

/* By name: the first or the last sections of fibres. */
static tw_status select_part(const tw_entry *entry, const tw_body *body, tw_range_visit *visit,
                             void *context, tw_error *error)
{
    enum { SECTION_PARTICLES = 4 };
    const tw_node *part = tw_node_find(entry->node, "part");
    const tw_fibre_set *set = &body->fibres;
    if (set->count == 0)
        return tw_fail_at(error, part->mark, "%s.part is %s, which only fibres have, and %s is not",
                          entry->path, part->text, body->path);

    /* The roots of all fibres are neighbours. */
    if (part->number == PART_ROOTS)
        return visit(context, set->first, set->first + SECTION_PARTICLES * set->count - 1, error);

    for (int64_t f = 0; f < set->count; f++) {
        int64_t tip = tw_fibre_set_section(set, f, set->segments);
        TW_TRY(visit(context, tip, tip + SECTION_PARTICLES - 1, error));
    }
    return TW_OK;
}

/* Exactly one of the six ways to select is given, and all of it. */
static tw_status check_ways(const tw_entry *entry, tw_error *error)
{
    static const char *const ways[] = {"from", "lowest", "highest", "lower", "part", "group"};
    const tw_node *node = entry->node;
    const char *path = entry->path;

    /* At most one way. */
    const tw_node *way = NULL;
    for (int i = 0; i < COUNT_OF(ways); i++) {
        const tw_node *other = tw_node_find(node, ways[i]);
        if (other && way)
            return tw_fail_at(error, other->key_mark, "%s has both %s and %s, keep one of them",
                              path, way->key, other->key);
        if (other) way = other;
    }

    /* Neither half of a pair alone. */
    const tw_node *to = tw_node_find(node, "to");
    const tw_node *lower = tw_node_find(node, "lower");
    const tw_node *upper = tw_node_find(node, "upper");
    if (to && !tw_node_find(node, "from"))
        return tw_fail_at(error, to->key_mark, "%s.to is given without from", path);
    if (!lower != !upper)
        return tw_fail_at(error, lower ? lower->key_mark : upper->key_mark,
                          "%s needs both lower and upper for a box", path);

    /* At least one way. */
    if (!way)
        return tw_fail_at(error, node->mark,
                          "%s does not say which particles: give from, lowest, highest, part, "
                          "group, or lower and upper",
                          path);
    return TW_OK;
}

tw_status tw_entry_select(const tw_entry *entry, tw_range_visit *visit, void *context,
                          tw_error *error)
{
    TW_TRY(check_ways(entry, error));
    const tw_body *body = tw_entry_body(entry, error);
    if (!body) return TW_BAD_INPUT;

    if (tw_node_find(entry->node, "from")) return select_range(entry, body, visit, context, error);
    if (tw_node_find(entry->node, "part")) return select_part(entry, body, visit, context, error);
    if (tw_node_find(entry->node, "group"))
        return tw_select_group(entry, body, visit, context, error);
    return select_box(entry, body, visit, context, error);
}

/* ---- pins ---- */

static tw_status pin_range(void *context, int64_t first, int64_t last, tw_error *error)
{
    return tw_model_pin(context, first, last, error);
}

tw_status tw_build_pin(const tw_entry *entry, tw_error *error)
{
    return tw_entry_select(entry, pin_range, entry->build->model, error);
}
