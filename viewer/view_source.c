/* The scene behind a live page: its text, and the text with the sliders' changes. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "view_tuned.h"

view_tuning view_tuning_default(void)
{
    return (view_tuning){.stiffness = 1.0, .damping = -1.0, .step = 0.0, .tolerance = -1.0};
}

tw_status view_source_take(view_source *source, tw_scene *scene, tw_error *error)
{
    *source = (view_source){0};
    tw_status status = tw_scene_write(scene, &source->text, &source->size, error);
    if (status == TW_OK) source->scene = scene;
    return status;
}

void view_source_free(view_source *source)
{
    tw_scene_free_text(source->text);
    tw_scene_free(source->scene);
    *source = (view_source){0};
}

/* Whether a value of this unit makes a body stiffer. */
static bool is_elastic(const tw_scene_key *key)
{
    static const char *const units[] = {"N/m", "Pa", "N m", "N m^2", "N"};
    if (strcmp(key->section, "bodies") != 0) return false;
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (strcmp(key->unit, units[i]) == 0) return true;
    return false;
}

enum { MAX_SETTINGS = 256, SETTING_SIZE = 96 };

typedef struct settings {
    int count;
    char path[MAX_SETTINGS][SETTING_SIZE];
    char value[MAX_SETTINGS][32];
    tw_scene_setting list[MAX_SETTINGS];
} settings;

/* Adds the setting path = value, once per path. */
static void add_setting(settings *s, const char *path, double value)
{
    for (int i = 0; i < s->count; i++)
        if (strcmp(s->path[i], path) == 0) return;
    if (s->count == MAX_SETTINGS) return;

    int i = s->count++;
    snprintf(s->path[i], SETTING_SIZE, "%s", path);
    snprintf(s->value[i], sizeof s->value[i], "%.17g", value);
    s->list[i] = (tw_scene_setting){"the stiffness slider", s->path[i], s->value[i]};
}

/* Multiplies every elastic constant of every body. */
static void scale_bodies(const tw_scene *scene, double factor, settings *s)
{
    for (int body = 0;; body++) {
        char path[SETTING_SIZE];
        snprintf(path, sizeof path, "bodies.%d.kind", body);
        if (!tw_scene_word(scene, path)) return;

        tw_scene_key key;
        for (int k = 0; tw_scene_key_at(k, &key) == TW_OK; k++) {
            snprintf(path, sizeof path, "bodies.%d.%s", body, key.key);
            double value = tw_scene_number(scene, path, NAN);
            if (is_elastic(&key) && value > 0.0) add_setting(s, path, factor * value);
        }
    }
}

tw_status view_source_tuned(const view_source *source, const view_tuning *tuning, tw_scene **out,
                            tw_error *error)
{
    *out = NULL;
    if (tuning->stiffness == 1.0) return TW_OK;

    settings *s = calloc(1, sizeof *s);
    if (!s) return TW_OUT_OF_MEMORY;
    scale_bodies(source->scene, tuning->stiffness, s);
    tw_status status = tw_scene_parse(tw_scene_name(source->scene), source->text, source->size,
                                      s->count, s->list, out, error);
    free(s);
    return status;
}

tw_integrator_options view_source_options(const tw_scene *scene, const view_tuning *tuning,
                                          const char *scheme)
{
    tw_integrator_options options = tw_scene_integrator_options(scene);
    if (scheme && *scheme) options.scheme = tw_scheme_from_name(scheme);
    if (tuning->step > 0.0) options.step = tuning->step;
    if (tuning->tolerance >= 0.0) options.relative_tolerance = tuning->tolerance;

    /* A scene with adaptive steps need not say a step. */
    bool needs_step = options.relative_tolerance == 0.0 && !(options.step > 0.0);
    if (needs_step) options.step = tw_scene_duration(scene) / 1000.0;
    return options;
}

double view_source_beta(const tw_scene *scene)
{
    for (int i = 0;; i++) {
        char path[SETTING_SIZE];
        snprintf(path, sizeof path, "forces.%d.kind", i);
        const char *kind = tw_scene_word(scene, path);
        if (!kind) return 0.0;
        snprintf(path, sizeof path, "forces.%d.beta", i);
        if (strcmp(kind, "rayleigh") == 0) return tw_scene_number(scene, path, 0.0);
    }
}
