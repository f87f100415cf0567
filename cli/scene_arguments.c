/* A scene with what the command line changes in it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"

const char *scheme_choice(int index)
{
    return index >= 0 && index < TW_SCHEME_COUNT ? tw_scheme_name((tw_scheme)index) : NULL;
}

const char *phi_choice(int index)
{
    return index >= 0 && index < TW_PHI_ENGINE_COUNT ? tw_phi_engine_name((tw_phi_engine)index)
                                                     : NULL;
}

const char *frames_choice(int index)
{
    static const char *const words[] = {"csv", "vtu", "ply", "obj", "pc2", "none"};
    return index >= 0 && index < 6 ? words[index] : NULL;
}

/* Options that stand for a key; `removes` is what they contradict. */
static const struct {
    const char *option, *path, *removes;
    bool is_list; /* words with commas between them */
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
    char texts[MAX_GIVEN][512]; /* the options as they were typed, and the paths of --set */
    char paths[MAX_GIVEN][256]; /* or the list that an option stands for */
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
        if (shorthands[i].is_list) {
            snprintf(s->paths[index], sizeof s->paths[0], "[%s]", value);
            value = s->paths[index];
        }
        s->list[s->count++] = (tw_scene_setting){s->texts[index], shorthands[i].path, value};
        if (shorthands[i].removes)
            s->list[s->count++] = (tw_scene_setting){s->texts[index], shorthands[i].removes, NULL};
    }
}

static bool collect(const arguments *a, settings *s)
{
    if (is_given(a, "--dt") && is_given(a, "--rtol")) {
        wrong_use("--dt means fixed steps and --rtol adaptive ones, give one of them");
        return false;
    }
    for (int i = 0; i < a->given_count; i++) {
        const char *name = a->given[i].option->name, *value = a->given[i].value;
        snprintf(s->texts[i], sizeof s->texts[0], "%s %s", name, value ? value : "");
        if (strcmp(name, "--set") != 0)
            add_shorthand(s, i, name, value);
        else if (!add_set(s, i, value))
            return false;
    }
    /* What the scene expects of a run holds for the scene as it was written. */
    bool sets_tests = false;
    for (int i = 0; i < s->count; i++)
        sets_tests = sets_tests || strncmp(s->list[i].path, "tests", 5) == 0;
    if (s->count && !sets_tests) s->list[s->count++] = (tw_scene_setting){"tests", "tests", NULL};
    return true;
}

typedef struct scene_names {
    char names[64][64];
    const char *list[64];
    int count;
} scene_names;

static void collect_name(void *context, const char *name, const char *path, const char *line)
{
    (void)path;
    (void)line;
    scene_names *n = context;
    if (n->count == 64) return;
    snprintf(n->names[n->count], sizeof n->names[0], "%.63s", name);
    n->list[n->count] = n->names[n->count];
    n->count++;
}

/* A word that is neither a file nor one of our scenes. */
static void no_such_scene(const char *given)
{
    scene_names known = {0};
    visit_scenes(collect_name, &known);
    const char *nearest = suggestion(given, known.list, known.count);
    if (nearest)
        wrong_use("there is no scene '%s', did you mean '%s'?", given, nearest);
    else
        wrong_use("there is no scene '%s', name a file or one of twang list scenes", given);
}

tw_status load_scene(const arguments *a, tw_scene **scene, tw_error *error)
{
    *scene = NULL;
    settings *s = calloc(1, sizeof *s);
    if (!s) {
        wrong_use("out of memory");
        return TW_OUT_OF_MEMORY;
    }
    char buffer[4096];
    const char *path = find_scene(a->positional[0], buffer, sizeof buffer);
    error->text[0] = '\0';
    tw_status status = TW_INVALID_ARGUMENT;
    if (!path)
        no_such_scene(a->positional[0]);
    else if (collect(a, s))
        status = tw_scene_load(path, s->count, s->list, scene, error);
    free(s);
    return status;
}
