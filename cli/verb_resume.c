/* Goes on with a run that was interrupted. */
#include "command.h"

static int resume(const arguments *a)
{
    if (refuse_run(a->positional[0])) return EXIT_WRONG_USE;
    await_signals();
    return run_session(a, NULL, a->positional[0]);
}

static const option options[] = {
    {"--duration", NULL, "S", "simulate up to S seconds: extends a finished run", NULL},
    SESSION_OPTIONS,
    {0},
};

const verb verb_resume = {
    .name = "resume",
    .synopsis = "DIR [--duration S] [--energy-limit SHARE] [--threads N] [--quiet] [--json]",
    .line = "go on with a run that was interrupted, or extend one",
    .text = "Goes on from the last checkpoint in DIR and gives bitwise the run that was not "
            "interrupted.\n"
            "Nothing that is done is computed again. A finished run is left as it is, unless "
            "--duration\n"
            "names a later end: twang resume coil --duration 120.",
    .options = options,
    .positional = "DIR",
    .positional_least = 1,
    .positional_most = 1,
    .run = resume,
};
