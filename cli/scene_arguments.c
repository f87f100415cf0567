/* A scene with the changes that the command line makes in it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"

const char *scheme_choice(int index)
{
    if (index < 0 || index >= TW_SCHEME_COUNT) return NULL;
    return tw_scheme_name((tw_scheme)index);
}

const char *phi_choice(int index)
{
    if (index < 0 || index >= TW_PHI_ENGINE_COUNT) return NULL;
    return tw_phi_engine_name((tw_phi_engine)index);
}

const char *frames_choice(int index)
{
    static const char *const words[] = {"csv", "vtu", "ply", "obj", "pc2", "none"};
    enum { WORD_COUNT = sizeof words / sizeof *words };
    return index >= 0 && index < WORD_COUNT ? words[index] : NULL;
}

/* Options that stand for a key of the scene. */
static const struct {
    const char *option;
    const char *path;    /* of the key */
    const char *removes; /* path of a key that contradicts it, or NULL */
    bool is_list;        /* its value is words with commas between them */
} shorthands[] = {
    {"--integrator", "integrator.name", NULL, false},
    {"--phi", "phi.name", NULL, false},
    {"--dt", "integrator.step", "integrator.rtol", false},
    {"--rtol", "integrator.rtol", "integrator.step", false},
    {"--duration", "duration", NULL, false},
    {"--fps", "fps", NULL, false},
    {"--frames", "output.frames", NULL, true},
};

typedef struct settings {
    tw_scene_setting list[2 * MAX_GIVEN + 1];
    char texts[MAX_GIVEN][512]; /* the options as they were typed */
    char paths[MAX_GIVEN][256]; /* the paths of --set, and the lists that options stand for */
    int count;
} settings;

static bool add_set(settings *s, int index, const char *value)
{
    const char *equals = value ? strchr(value, '=') : NULL;
    if (!value || !equals || equals == value || (size_t)(equals - value) >= sizeof s->paths[0]) {
        wrong_use("--set %s is not KEY=VALUE, such as --set bodies.0.stiffness=1e8", value);
        return false;
    }

    snprintf(s->paths[index], sizeof s->paths[0], "%.*s", (int)(equals - value), value);
    s->list[s->count++] = (tw_scene_setting){s->texts[index], s->paths[index], equals + 1};
    return true;
}

static void add_shorthand(settings *s, int index, const char *name, const char *value)
{
    for (size_t i = 0; i < sizeof shorthands / sizeof *shorthands; i++) {
        if (strcmp(shorthands[i].option, name) != 0) continue;

        /* vtu,pc2 becomes the YAML list [vtu,pc2]. */
        if (shorthands[i].is_list) {
            snprintf(s->paths[index], sizeof s->paths[0], "[%s]", value);
            value = s->paths[index];
        }
        s->list[s->count++] = (tw_scene_setting){s->texts[index], shorthands[i].path, value};
        if (shorthands[i].removes)
            s->list[s->count++] = (tw_scene_setting){s->texts[index], shorthands[i].removes, NULL};
    }
}

/* Whether a setting is about the values that the scene expects of a run. */
static bool sets_tests(const settings *s)
{
    for (int i = 0; i < s->count; i++)
        if (strncmp(s->list[i].path, "tests", strlen("tests")) == 0) return true;
    return false;
}

/* All changes of the command line as settings; false after it has complained. */
static bool collect(const arguments *a, settings *s)
{
    if (is_given(a, "--dt") && is_given(a, "--rtol")) {
        wrong_use("--dt means fixed steps and --rtol adaptive ones, give one of them");
        return false;
    }

    for (int i = 0; i < a->given_count; i++) {
        const char *name = a->given[i].option->name;
        const char *value = a->given[i].value;
        snprintf(s->texts[i], sizeof s->texts[0], "%s %s", name, value ? value : "");
        if (strcmp(name, "--set") != 0)
            add_shorthand(s, i, name, value);
        else if (!add_set(s, i, value))
            return false;
    }

    /* The scene expects its values of a run without changes: a change removes them. */
    if (s->count > 0 && !sets_tests(s))
        s->list[s->count++] = (tw_scene_setting){"tests", "tests", NULL};
    return true;
}

enum { MAX_SCENES = 64, NAME_SIZE = 64 };

typedef struct scene_names {
    char names[MAX_SCENES][NAME_SIZE];
    const char *list[MAX_SCENES];
    int count;
} scene_names;

static void collect_name(void *context, const char *name, const char *path, const char *line)
{
    (void)path;
    (void)line;
    scene_names *n = context;
    if (n->count == MAX_SCENES) return;

    snprintf(n->names[n->count], NAME_SIZE, "%.*s", NAME_SIZE - 1, name);
    n->list[n->count] = n->names[n->count];
    n->count++;
}

/* Complains about a word that is neither a file nor one of the scenes that come with twang. */
static void no_such_scene(const char *given)
{
    scene_names known = {0};
    visit_scenes(collect_name, &known);

    const char *nearest = tw_nearest_name(given, known.list, known.count);
    if (nearest)
        wrong_use("there is no scene '%s', did you mean '%s'?", given, nearest);
    else
        wrong_use("there is no scene '%s', name a file or one of twang list scenes", given);
}

static bool is_mesh(const char *file)
{
    static const char *const suffixes[] = {".obj", ".ply",  ".stl",  ".msh",
                                           ".vtk", ".mesh", ".node", ".ele"};
    enum { SUFFIX_COUNT = sizeof suffixes / sizeof *suffixes };
    size_t length = strlen(file);
    for (int i = 0; i < SUFFIX_COUNT; i++) {
        size_t size = strlen(suffixes[i]);
        if (length > size && strcmp(file + length - size, suffixes[i]) == 0) return true;
    }
    return false;
}

tw_status load_scene(const arguments *a, tw_scene **scene, tw_error *error)
{
    *scene = NULL;
    error->text[0] = '\0';
    settings *s = calloc(1, sizeof *s);
    if (!s) {
        wrong_use("out of memory");
        return TW_OUT_OF_MEMORY;
    }

    /* A complaint that is already printed leaves the text of the error empty. */
    char buffer[4096];
    const char *path = find_scene(a->positional[0], buffer, sizeof buffer);
    tw_status status = TW_INVALID_ARGUMENT;
    if (!path)
        no_such_scene(a->positional[0]);
    else if (is_mesh(path))
        wrong_use("%s is a mesh, and not a scene: twang new %s makes a scene of it", path, path);
    else if (collect(a, s))
        status = tw_scene_load(path, s->count, s->list, scene, error);
    free(s);
    return status;
}
