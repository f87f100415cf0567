/* Shows a scene or a finished run as a page in a browser. */
#define _POSIX_C_SOURCE 200809L
#include <arpa/inet.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../viewer/view.h"
#include "command.h"

/* Opens the page where there is a desktop. The browser is nobody's child. */
static void open_browser(const char *url)
{
    bool has_desktop = getenv("DISPLAY") || getenv("WAYLAND_DISPLAY");
    if (!has_desktop) return;

    pid_t child = fork();
    if (child != 0) return;

    release_signals();
    if (!freopen("/dev/null", "w", stdout) || !freopen("/dev/null", "w", stderr)) _exit(1);
    execlp("xdg-open", "xdg-open", url, (char *)NULL);
    _exit(1);
}

static bool opens_browser;

static void announce(const char *url)
{
    /* Until here, while the scene was built, a signal ended the program at once. */
    catch_run_signals(NULL, false);
    style s = style_for_stdout();
    printf("%s%s%s\n", s.bold, printable(url), s.plain);
    fflush(stdout);
    if (terminal_width(STDERR_FILENO) > 0) fprintf(stderr, "Ctrl-C ends it.\n");
    if (opens_browser) open_browser(url);
}

static bool read_speed(const arguments *a, double *speed)
{
    const char *text = value_of(a, "--speed");
    if (!text) return true;
    if (strcmp(text, "max") == 0) {
        *speed = 0.0;
        return true;
    }

    char *end = NULL;
    *speed = strtod(text, &end);
    if (end != text && !*end && isfinite(*speed) && *speed > 0.0 && *speed <= 1e6) return true;
    wrong_use("--speed %s is neither a number > 0 nor max", text);
    return false;
}

/* An address as numbers, of version 4 or 6. Names are not looked up. */
static bool is_address(const char *text)
{
    unsigned char bytes[sizeof(struct in6_addr)];
    return inet_pton(AF_INET, text, bytes) == 1 || inet_pton(AF_INET6, text, bytes) == 1;
}

static bool read_options(const arguments *a, view_options *options)
{
    const char *address = value_of(a, "--listen");
    if (address && !is_address(address)) {
        wrong_use("--listen %s is no address; give one of this machine as numbers, or 0.0.0.0 for "
                  "all of them",
                  address);
        return false;
    }

    long long port = 0;
    long long threads = 0;
    if (!read_count(a, "--port", 1, 65535, &port)) return false;
    if (!read_count(a, "--threads", 1, MAX_THREADS, &threads)) return false;
    if (threads > 0) tw_set_threads((int)threads);

    *options = (view_options){.address = address,
                              .port = (int)port,
                              .speed = 1.0,
                              .compare = value_of(a, "--compare"),
                              .paused = is_given(a, "--paused"),
                              .stop = is_run_signalled,
                              .ready = announce};
    if (!read_speed(a, &options->speed)) return false;

    /* The page offers only integrators that are there, and so does the option. */
    if (!options->compare) return true;
    tw_scheme scheme = tw_scheme_from_name(options->compare);
    if (scheme != TW_SCHEME_COUNT && tw_scheme_available(scheme)) return true;
    if (scheme != TW_SCHEME_COUNT)
        wrong_use("--compare: there is no integrator '%s' in this build", options->compare);
    else
        unknown_scheme("--compare", options->compare);
    return false;
}

/* Whether the argument is the directory of a run. */
static bool is_run(const char *path)
{
    char record[4096];
    struct stat about;
    int length = snprintf(record, sizeof record, "%s/run.json", path);
    return length > 0 && (size_t)length < sizeof record && stat(record, &about) == 0;
}

/* The options that change a simulation: a finished run is only replayed. */
static const option scene_options[] = {SCENE_OPTIONS, FRAME_OPTIONS, {0}};

/* The option with which a run cannot be replayed, as it was written; NULL: there is none. */
static const char *find_live_option(const arguments *a, const view_options *options)
{
    for (const option *o = scene_options; o->name; o++)
        if (is_given(a, o->name)) return o->name;
    if (options->compare) return "--compare";
    return options->speed > 0.0 ? NULL : "--speed max";
}

static int show(const arguments *a, const view_options *options)
{
    tw_error error = {0};
    if (is_run(a->positional[0])) {
        const char *unfit = find_live_option(a, options);
        if (unfit)
            return wrong_use("%s: is a finished run, which is replayed as it is; %s is for scenes",
                             a->positional[0], unfit);
        tw_status status = view_run(a->positional[0], options, &error);
        return status == TW_OK ? EXIT_DONE : report_error(&error, false);
    }

    /* Anything else is a scene. */
    tw_scene *scene = NULL;
    tw_status status = load_scene(a, &scene, &error);
    if (status == TW_OK) status = view_scene(scene, options, &error);
    if (status == TW_OK) return EXIT_DONE;

    /* A scene that is not there was complained about already. */
    return error.text[0] ? report_error(&error, false) : EXIT_WRONG_USE;
}

static int view(const arguments *a)
{
    view_options options;
    if (!read_options(a, &options)) return EXIT_WRONG_USE;
    if (view_missing()) {
        fprintf(stderr, "twang: this build cannot serve a page, it lacks %s\n", view_missing());
        return EXIT_FAILED;
    }

    await_signals();
    signal(SIGPIPE, SIG_IGN);

    opens_browser = !is_given(a, "--no-browser");
    return show(a, &options);
}

static const option options[] = {
    {"--port", NULL, "N", "serve at this port; without it at any free one", NULL},
    {"--listen", NULL, "ADDRESS", "listen at this address instead of 127.0.0.1; needs a token",
     NULL},
    {"--speed", NULL, "R", "simulated seconds per second, or max; without it 1", NULL},
    {"--compare", NULL, "NAME", "run this integrator beside the scene's", scheme_choice},
    {"--paused", NULL, NULL, "wait before the first step", NULL},
    {"--no-browser", NULL, NULL, "print the address, and open nothing", NULL},
    {"--threads", NULL, "N", "use this many threads; the result is the same for any", NULL},
    SCENE_OPTIONS,
    FRAME_OPTIONS,
    {0}};

const verb verb_view = {
    .name = "view",
    .synopsis = "SCENE|DIR [--port N] [--listen ADDRESS] [--speed R] [--compare NAME] [options]",
    .line = "simulate in a page that you watch and touch, or replay a run",
    .text = "Serves a page on 127.0.0.1 and prints its address. With a SCENE it simulates while "
            "you watch:\n"
            "drag a particle, change stiffness, step and integrator, compare two integrators. With "
            "the DIR of a\n"
            "run it replays the stored frames. Other machines reach the page only with --listen, "
            "and with the\n"
            "token that is printed. docs/viewer.md has pictures.",
    .options = options,
    .positional = "SCENE or DIR",
    .positional_least = 1,
    .positional_most = 1,
    .run = view,
};
