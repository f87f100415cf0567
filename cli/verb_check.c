/* What would be simulated, without doing it. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "command.h"

typedef struct checked {
    const tw_scene *scene;
    tw_simulation *simulation;
    tw_simulation_summary summary;
    tw_measurement start;
    tw_integrator_options options;
    double duration, frames;
    double steps, step; /* fixed steps: how many of what size; 0 if adaptive */
} checked;

static void look_at(checked *c)
{
    c->summary = tw_simulation_summarise(c->simulation);
    tw_simulation_measure(c->simulation, 0.0, tw_simulation_start(c->simulation), &c->start);
    c->options = tw_scene_integrator_options(c->scene);
    c->duration = tw_scene_duration(c->scene);
    const char *format = tw_scene_word(c->scene, "output.frames");
    bool framed = tw_scene_fps(c->scene) > 0 && strcmp(format, "none") != 0;
    c->frames = framed ? floor(c->duration * tw_scene_fps(c->scene) * (1 + 1e-12)) + 1 : 0;
    if (c->options.relative_tolerance > 0) return;
    c->steps = fmax(1, ceil(c->duration / c->options.step * (1 - 1e-15)));
    c->step = c->duration / c->steps;
}

static void print_what(const checked *c)
{
    const tw_simulation_summary *s = &c->summary;
    if (s->particles == 0) {
        printf("  simulated    %s, %lld unknowns\n", tw_scene_word(c->scene, "system.kind"), (long long)s->unknowns);
        return;
    }
    printf("  simulated    %lld particles (%lld held), %lld springs, %lld unknowns, %.6g kg\n", (long long)s->particles,
           (long long)s->pinned, (long long)s->springs, (long long)s->unknowns, s->mass);
    printf("  box          [%.4g, %.4g, %.4g] to [%.4g, %.4g, %.4g] m\n", s->lower[0], s->lower[1], s->lower[2],
           s->upper[0], s->upper[1], s->upper[2]);
}

static void print_how(const checked *c)
{
    const char *name = tw_scene_word(c->scene, "integrator.name");
    if (c->steps > 0)
        printf("  run          %.6g s by %s, %.0f steps of %.6g s\n", c->duration, name, c->steps, c->step);
    else
        printf("  run          %.6g s by %s, adaptive steps, rtol %.3g\n", c->duration, name,
               c->options.relative_tolerance);
    printf("  phi          %s, tolerance %.3g\n", tw_scene_word(c->scene, "phi.name"), c->options.phi.tolerance);
    if (c->frames > 0)
        printf("  frames       %.0f (%s), %.6g per second\n", c->frames, tw_scene_word(c->scene, "output.frames"),
               tw_scene_fps(c->scene));
    else
        printf("  frames       none\n");
}

static void print_text(const char *path, const checked *c)
{
    style look = style_for_stdout();
    printf("%s%s%s is a right scene\n", look.good, path, look.plain);
    print_what(c);
    if (c->start.has_energy)
        printf("  energy       %.10g J at t = 0 (%.4g kinetic, %.4g potential)\n",
               c->start.kinetic + c->start.potential, c->start.kinetic, c->start.potential);
    if (c->summary.omega_bound > 0)
        printf("  frequencies  at most %.4g 1/s: verlet is stable below steps of %.3g s, rk4 below %.3g s\n",
               c->summary.omega_bound, 2 / c->summary.omega_bound, 2.8284271247 / c->summary.omega_bound);
    print_how(c);
}

static void print_json(const checked *c)
{
    const tw_simulation_summary *s = &c->summary;
    printf("{\n  \"name\": ");
    print_json_string(tw_scene_name(c->scene));
    printf(",\n  \"particles\": %lld,\n  \"pinned\": %lld,\n  \"springs\": %lld,\n  \"unknowns\": %lld,\n",
           (long long)s->particles, (long long)s->pinned, (long long)s->springs, (long long)s->unknowns);
    printf("  \"mass\": %.17g,\n  \"lower\": [%.17g, %.17g, %.17g],\n  \"upper\": [%.17g, %.17g, %.17g],\n", s->mass,
           s->lower[0], s->lower[1], s->lower[2], s->upper[0], s->upper[1], s->upper[2]);
    printf("  \"omega_bound\": %.17g,\n", s->omega_bound);
    if (c->start.has_energy)
        printf("  \"energy_start\": %.17g,\n", c->start.kinetic + c->start.potential);
    else
        printf("  \"energy_start\": null,\n");
    printf("  \"duration\": %.17g,\n  \"integrator\": \"%s\",\n  \"phi\": \"%s\",\n", c->duration,
           tw_scene_word(c->scene, "integrator.name"), tw_scene_word(c->scene, "phi.name"));
    if (c->steps > 0)
        printf("  \"steps\": %.0f,\n  \"step\": %.17g,\n", c->steps, c->step);
    else
        printf("  \"steps\": null,\n  \"step\": null,\n");
    printf("  \"frames\": %.0f\n}\n", c->frames);
}

static int check(const arguments *a)
{
    checked c = {0};
    tw_scene *scene = NULL;
    tw_integrator *integrator = NULL;
    tw_error error = {0};
    bool json = is_given(a, "--json");
    tw_status status = load_scene(a, &scene, &error);
    c.scene = scene;
    if (status == TW_OK) status = tw_scene_build(scene, &c.simulation, &error);
    if (status == TW_OK) status = tw_scene_create_integrator(scene, c.simulation, &integrator, &error);
    int code = EXIT_DONE;
    if (status == TW_OK) {
        look_at(&c);
        if (json)
            print_json(&c);
        else
            print_text(a->positional[0], &c);
    } else {
        code = error.text[0] ? report_error(&error, json) : EXIT_WRONG_USE;
    }
    tw_integrator_free(integrator);
    tw_simulation_free(c.simulation);
    tw_scene_free(scene);
    return code;
}

static const option options[] = {
    SCENE_OPTIONS,
    {"--json", NULL, NULL, "print it as JSON", NULL},
    {0},
};

const verb verb_check = {
    .name = "check",
    .synopsis = "SCENE [--set KEY=VALUE]... [--json]",
    .line = "say what would be simulated, without doing it",
    .text = "Reads SCENE as run would, and says what it is: particles, unknowns, energy, frequencies, steps.\n"
            "Exit code 0 if it is right, 2 if not.",
    .options = options,
    .positional = "SCENE",
    .positional_least = 1,
    .positional_most = 1,
    .run = check,
};
