/* Reads the commands of a page. Anything that is not exactly a command is refused. */
#include "view_command.h"

#include <jansson.h>
#include <math.h>
#include <string.h>

/* What may stand beside "do". */
typedef enum key_kind { KEY_ON, KEY_VALUE, KEY_X, KEY_Y, KEY_Z, KEY_WHOLE, KEY_NAME } key_kind;

typedef struct key {
    const char *name; /* NULL: there are no more keys */
    key_kind kind;
    double low, high; /* of a number */
} key;

enum { MAX_KEYS = 4 };

typedef struct grammar {
    const char *verb;
    view_command_kind kind;
    key keys[MAX_KEYS + 1];
} grammar;

#define COORDINATES                                                                                \
    {"x", KEY_X, -1e12, 1e12}, {"y", KEY_Y, -1e12, 1e12},                                          \
    {                                                                                              \
        "z", KEY_Z, -1e12, 1e12                                                                    \
    }

static const grammar grammars[] = {
    {"pause", VIEW_DO_PAUSE, {{"on", KEY_ON, 0, 0}}},
    {"step", VIEW_DO_STEP, {{0}}},
    {"reset", VIEW_DO_RESET, {{0}}},
    {"speed", VIEW_DO_SPEED, {{"value", KEY_VALUE, 0, 1e6}}},
    {"pull", VIEW_DO_PULL, {{"particle", KEY_WHOLE, 0, VIEW_LARGEST_PARTICLE}, COORDINATES}},
    {"release", VIEW_DO_RELEASE, {{0}}},
    {"stiffness", VIEW_DO_STIFFNESS, {{"value", KEY_VALUE, 1e-5, 1e5}}},
    {"damping", VIEW_DO_DAMPING, {{"value", KEY_VALUE, 0, 1e4}}},
    {"step_size", VIEW_DO_STEP_SIZE, {{"value", KEY_VALUE, 1e-9, 1e3}}},
    {"tolerance", VIEW_DO_TOLERANCE, {{"value", KEY_VALUE, 0, 0.5}}},
    {"integrator", VIEW_DO_INTEGRATOR, {{"lane", KEY_WHOLE, 0, 1}, {"name", KEY_NAME, 0, 0}}},
    {"compare", VIEW_DO_COMPARE, {{"name", KEY_NAME, 0, 0}}},
    {"seek", VIEW_DO_SEEK, {{"value", KEY_VALUE, 0, 1e12}}},
    {"start_here", VIEW_DO_START_HERE, {{0}}},
    {"field", VIEW_DO_FIELD, {{"name", KEY_NAME, 0, 0}}},
    {"upload",
     VIEW_DO_UPLOAD,
     {{"size", KEY_WHOLE, 1, VIEW_UPLOAD_SIZE}, {"name", KEY_NAME, 0, 0}}},
};

static bool take_number(const json_t *value, const key *k, double *out)
{
    if (!json_is_number(value)) return false;
    *out = json_number_value(value);
    return isfinite(*out) && *out >= k->low && *out <= k->high;
}

static bool take_name(const json_t *value, char out[VIEW_NAME_SIZE])
{
    if (!json_is_string(value)) return false;
    size_t length = json_string_length(value);
    if (length >= VIEW_NAME_SIZE) return false;
    memcpy(out, json_string_value(value), length);
    out[length] = '\0';

    /* No control characters. */
    for (size_t i = 0; i < length; i++)
        if ((unsigned char)out[i] < 0x20 || out[i] == 0x7f) return false;
    return true;
}

static bool take_key(const json_t *value, const key *k, view_command *out)
{
    double number = 0.0;
    switch (k->kind) {
    case KEY_ON:
        out->on = json_is_true(value);
        return json_is_boolean(value);
    case KEY_VALUE:
        return take_number(value, k, &out->value);
    case KEY_X:
    case KEY_Y:
    case KEY_Z:
        return take_number(value, k, &out->point[k->kind - KEY_X]);
    case KEY_WHOLE:
        if (!json_is_integer(value) || !take_number(value, k, &number)) return false;
        out->whole = (int64_t)json_integer_value(value);
        return true;
    case KEY_NAME:
        return take_name(value, out->name);
    }
    return false;
}

/* Every key of the grammar once, and no other. */
static bool take_keys(const json_t *object, const grammar *g, view_command *out)
{
    size_t count = 0;
    *out = (view_command){.kind = g->kind};
    for (; count < MAX_KEYS && g->keys[count].name; count++) {
        const json_t *value = json_object_get(object, g->keys[count].name);
        if (!value || !take_key(value, &g->keys[count], out)) return false;
    }
    return json_object_size(object) == count + 1;
}

static bool take_object(const json_t *object, view_command *out)
{
    const char *verb = json_string_value(json_object_get(object, "do"));
    if (!verb) return false;
    for (size_t i = 0; i < sizeof grammars / sizeof *grammars; i++)
        if (strcmp(grammars[i].verb, verb) == 0) return take_keys(object, &grammars[i], out);
    return false;
}

bool view_command_parse(const char *text, size_t size, view_command *out)
{
    if (size > VIEW_COMMAND_SIZE) return false;
    json_t *object = json_loadb(text, size, JSON_REJECT_DUPLICATES, NULL);
    if (!object) return false;
    bool good = json_is_object(object) && take_object(object, out);
    json_decref(object);
    return good;
}
