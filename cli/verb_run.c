/* Simulates a scene. */
#include "command.h"

static int run(const arguments *a)
{
    await_signals();
    tw_scene *scene = NULL;
    tw_error error = {0};
    tw_status status = load_scene_to_run(a, &scene, &error);
    if (status != TW_OK)
        return error.text[0] ? report_error(&error, is_given(a, "--json")) : EXIT_WRONG_USE;

    int code = run_session(a, scene, NULL);
    tw_scene_free(scene);
    return code;
}

static const option options[] = {
    {"--output", "-o", "DIR", "write there instead of runs/NAME-N", NULL},
    {"--force", NULL, NULL, "replace a run that is in DIR already", NULL},
    SCENE_OPTIONS,
    {"--error", NULL, "E", "error that --integrator auto aims at, relative (0.01)", NULL},
    FRAME_OPTIONS,
    SESSION_OPTIONS,
    {0},
};

const verb verb_run = {
    .name = "run",
    .synopsis = "SCENE [-o DIR] [--integrator NAME] [--dt S | --rtol R] [--set KEY=VALUE]...",
    .line = "simulate a scene into a directory",
    .text =
        "Simulates SCENE, a file or the name of one that comes with twang (twang list scenes).\n"
        "Ctrl-C ends it with a checkpoint; twang resume DIR then goes on.\n\n"
        "  twang run scenes/rope.yaml --dt 0.001 -o rope-fine\n"
        "  twang run fput --integrator rk4 --dt 1e-3 --duration 10\n"
        "  twang run rope --set bodies.0.count=50 --set gravity='[0, 0, -1.62]'\n"
        "  twang run coil --integrator auto --error 0.01",
    .options = options,
    .positional = "SCENE",
    .positional_least = 1,
    .positional_most = 1,
    .run = run,
};
