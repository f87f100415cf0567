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
    tw_scene_setting list[2 * MAX_GIVEN + 8];
    char texts[MAX_GIVEN][512]; /* the options as they were typed */
    char paths[MAX_GIVEN][256]; /* the paths of --set, and the lists that options stand for */
    int count;
    bool leaves_choice; /* --integrator auto: not a name of a scheme */
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
        if (s->leaves_choice && strcmp(name, "--integrator") == 0) continue;
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

/* Adds what `--integrator auto` chose. */
static void add_choice(settings *s, const automatic *choice)
{
    const char *source = "--integrator auto";
    s->list[s->count++] = (tw_scene_setting){source, "integrator.name", choice->name};
    s->list[s->count++] = (tw_scene_setting){source, "integrator.step", choice->step};
    s->list[s->count++] =
        (tw_scene_setting){source, "integrator.newton_tolerance", choice->newton_tolerance};
    s->list[s->count++] = (tw_scene_setting){source, "phi.tolerance", choice->phi_tolerance};
    s->list[s->count++] = (tw_scene_setting){source, "integrator.rtol", NULL};
    s->list[s->count++] = (tw_scene_setting){source, "integrator.chosen", choice->reason};
    if (!sets_tests(s)) s->list[s->count++] = (tw_scene_setting){source, "tests", NULL};
}

/* Loads SCENE with the options; --integrator is left out if it is auto, and `choice` (or NULL) takes
 * its place. */
static tw_status load_with(const arguments *a, bool leaves_choice, const automatic *choice,
                           tw_scene **scene, tw_error *error)
{
    *scene = NULL;
    error->text[0] = '\0';
    settings *s = calloc(1, sizeof *s);
    if (!s) {
        wrong_use("out of memory");
        return TW_OUT_OF_MEMORY;
    }
    s->leaves_choice = leaves_choice;

    /* A complaint that is already printed leaves the text of the error empty. */
    char buffer[4096];
    const char *path = find_scene(a->positional[0], buffer, sizeof buffer);
    tw_status status = TW_INVALID_ARGUMENT;
    if (refuse_scene(a->positional[0], path)) {
        status = TW_INVALID_ARGUMENT;
    } else if (collect(a, s)) {
        if (choice) add_choice(s, choice);
        status = tw_scene_load(path, s->count, s->list, scene, error);
    }
    free(s);
    return status;
}

tw_status load_scene(const arguments *a, tw_scene **scene, tw_error *error)
{
    return load_with(a, false, NULL, scene, error);
}

/* The error that is asked for by --error, 1 % if it is not given; false after it has complained. */
static bool read_wanted(const arguments *a, double *wanted)
{
    *wanted = 1e-2;
    const char *text = value_of(a, "--error");
    if (!text) return true;

    char *end = NULL;
    *wanted = strtod(text, &end);
    if (end != text && !*end && *wanted > 0 && *wanted < 1) return true;
    wrong_use("--error %s is not a number between 0 and 1", text);
    return false;
}

tw_status load_scene_to_run(const arguments *a, tw_scene **scene, tw_error *error)
{
    const char *name = value_of(a, "--integrator");
    bool is_automatic = name && strcmp(name, "auto") == 0;
    double wanted = 0;
    error->text[0] = '\0';
    *scene = NULL;
    if (!read_wanted(a, &wanted)) return TW_INVALID_ARGUMENT;
    if (!is_automatic) {
        if (!is_given(a, "--error")) return load_scene(a, scene, error);
        wrong_use("--error belongs to --integrator auto");
        return TW_INVALID_ARGUMENT;
    }
    if (is_given(a, "--dt") || is_given(a, "--rtol")) {
        wrong_use("--integrator auto chooses the step itself: leave --dt and --rtol out");
        return TW_INVALID_ARGUMENT;
    }

    /* A trial on the scene as it is, then the scene with what the trial chose. */
    tw_scene *trial = NULL;
    automatic choice;
    tw_status status = load_with(a, true, NULL, &trial, error);
    if (status != TW_OK) return status;
    status = choose_integrator(trial, wanted, &choice, error);
    tw_scene_free(trial);
    if (status == TW_NOT_CONVERGED)
        wrong_use("--integrator auto: no integrator is expected to reach an error of %g, name one "
                  "and --dt or --rtol",
                  wanted);
    if (status != TW_OK) return status;

    if (!is_given(a, "--quiet") && !is_given(a, "--json")) printf("auto: %s\n", choice.reason);
    return load_with(a, true, &choice, scene, error);
}
