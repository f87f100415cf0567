/* Says what would be simulated, without doing it. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "command.h"

enum { MOST_ADVICE = 8 /* schemes that steps are suggested for */ };

typedef struct checked {
    const tw_scene *scene;
    tw_simulation *simulation;
    tw_simulation_summary summary;
    tw_measurement start;
    tw_integrator_options options;
    double duration;    /* [s] */
    double frames;      /* number of frames */
    double steps;       /* number of fixed steps; 0 if they are adaptive */
    double step;        /* their size [s] */
    int64_t tetrahedra; /* of all bodies */
    int64_t girders;    /* edges of all bodies that are shown */
    double omega;       /* highest frequency at t = 0 [1/s]; 0 if unknown */
    double slow;        /* time to move by its own size, from t = 0 [s]; 0 if it does not move */
    double link;        /* time to move by a link of a sheet at the speed size/slow [s]; INFINITY
                             if there is no sheet */
    bool in_wind;       /* one of the forces is wind */
    bool touches;       /* bodies touch obstacles or each other */
    double advised[MOST_ADVICE]; /* the step of each row of `advice` [s]; 0: there is none */
    int64_t memory_bytes;        /* reserved by simulation and integrator */
    int64_t resident_bytes;      /* of the process, after the first step */
} checked;

/* Steps to begin with. A step of a scheme that must follow the motion is tried on the scene itself
 * (step_trial.c), and halved where it does not work. An explicit scheme is stable up to the step stable / omega, and is advised a
 * share of that. The other schemes must follow the motion, and are advised the share `of_slow` of
 * the time in which the bodies move by their own size: on the coil and the rope this gives errors
 * of some per cent. In a sheet a fold of a few links runs on, so the step is bounded by the share
 * `of_link` of the time in which it moves by a link, too. In wind no such step is known to work:
 * the flag of the scenes fails at steps that its weight alone would allow. Contact begins later than a
 * trial, and its stiffness is in no frequency at t = 0: where bodies touch, only explicit schemes are
 * advised, whose whole run takes seconds, and only steps with which it has been tried. */
static const double SHARE_OF_STABLE_STEP = 0.9;
static const struct {
    tw_scheme scheme;
    double stable;
    double of_slow;
    double of_link;
} advice[] = {
    {TW_SCHEME_EXPMID2, 0, 0.05, 0.5},          {TW_SCHEME_EXPRB42, 0, 0.005, 0.1},
    {TW_SCHEME_PEXPRB43, 0, 0.005, 0.1},        {TW_SCHEME_MIDPOINT, 0, 0.025, 0.1},
    {TW_SCHEME_NEWMARK, 0, 0.025, 0.1},         {TW_SCHEME_BDF1, 0, 0.0005, 0.01},
    {TW_SCHEME_VERLET, VERLET_STABILITY, 0, 0}, {TW_SCHEME_RK4, RK4_STABILITY, 0, 0},
};
enum { ADVICE_COUNT = sizeof advice / sizeof *advice, ADVICE_PER_LINE = 4 };

/* Up to this many unknowns the steps of all schemes are tried over the time in which the bodies move
 * by their own size, which takes seconds. Beyond it expmid2 alone is tried, which needs no small angle
 * per step, and one step must do. */
static const int64_t FEW_UNKNOWNS = 3000;
enum { MOST_HALVINGS = 3 };

/* So many forces take the time of a step of expmid2 where a sheet folds. Measured on a hanging sheet
 * of 20 x 20 particles: 3 s take 4.3 s in steps of 16 ms, and 0.25 s by rk4 in steps of 0.8 ms. */
static const double FOLD_FORCES = 1000;

static bool is_small(const checked *c)
{
    return c->summary.unknowns <= FEW_UNKNOWNS;
}

/* The step, tried on the scene itself and halved until it works; 0: none of them does. `untried` is what
 * to advise where a trial is too dear. */
static double tried_step(const checked *c, int i, double step, double untried)
{
    tw_integrator_options options = c->options;
    options.scheme = advice[i].scheme;
    double seconds = is_small(c) ? fmax(c->slow, step) : 0;
    for (int halving = 0; halving <= MOST_HALVINGS; halving++, step *= 0.5) {
        step_verdict verdict =
            c->touches ? judge_whole_run(c->simulation, &options, step, c->duration)
                       : judge_step(c->simulation, &options, step, seconds, c->duration);
        if (verdict == STEP_WORKS) return step;
        if (verdict == STEP_UNKNOWN) return untried;
    }
    return 0;
}

/* The step that follows the motion. */
static double followed_step(const checked *c, int i)
{
    double step = fmin(fmin(advice[i].of_slow * c->slow, advice[i].of_link * c->link), c->duration);
    if (!(step > 0) || c->in_wind || c->touches) return 0;
    if (!is_small(c) && advice[i].scheme != TW_SCHEME_EXPMID2) return 0;
    return tried_step(c, i, step, 0);
}

/* A share of the largest stable step. Near it an explicit scheme may lose the energy of fast modes. */
static double stable_step(const checked *c, int i)
{
    /* Verlet does not apply to forces that depend on velocity. */
    const tw_second_order_problem *p = tw_simulation_second_order(c->simulation);
    if (c->omega == 0) return 0;
    if (advice[i].scheme == TW_SCHEME_VERLET && p && p->velocity_dependent) return 0;

    double step = SHARE_OF_STABLE_STEP * advice[i].stable / c->omega;
    bool can_try = p && is_small(c) && !c->in_wind;
    double untried = c->touches ? 0 : step;
    return can_try ? tried_step(c, i, fmin(step, c->duration), untried) : untried;
}

/* 0: there is no advice. */
static double find_step(const checked *c, int i)
{
    return advice[i].stable == 0 ? followed_step(c, i) : stable_step(c, i);
}

/* output.frames, a word or a list of words, as "vtu, pc2". */
static void frame_words(const tw_scene *scene, size_t size, char *text)
{
    const char *word = tw_scene_word(scene, "output.frames");
    snprintf(text, size, "%s", word ? word : "");
    if (word) return;

    for (int i = 0;; i++) {
        char path[32];
        snprintf(path, sizeof path, "output.frames.%d", i);
        const char *next = tw_scene_word(scene, path);
        if (!next) return;

        size_t used = strlen(text);
        snprintf(text + used, size - used, "%s%s", i ? ", " : "", next);
    }
}

/* Whether one of the forces is wind. */
static bool has_wind(const tw_scene *scene)
{
    for (int i = 0;; i++) {
        char path[32];
        snprintf(path, sizeof path, "forces.%d.kind", i);
        const char *kind = tw_scene_word(scene, path);
        if (!kind) return false;
        if (strcmp(kind, "wind") == 0) return true;
    }
}

/* Root mean square over the particles of |a_i|, for n components. */
static double particle_mean(int64_t n, const double *a)
{
    double sum = 0;
    for (int64_t i = 0; i < n; i++) sum += a[i] * a[i];
    return sqrt(sum / ((double)n / 3));
}

static double distance(const double *a, const double *b)
{
    double square = 0;
    for (int k = 0; k < 3; k++) square += (a[k] - b[k]) * (a[k] - b[k]);
    return sqrt(square);
}

/* The longest side of the box around all bodies. */
static double longest_side(const checked *c)
{
    double size = 0;
    for (int k = 0; k < 3; k++) size = fmax(size, c->summary.upper[k] - c->summary.lower[k]);
    return size;
}

/* The mean length of the links of a sheet, the shortest of all sheets. INFINITY if there is none. */
static double link_length(const checked *c, const double *x)
{
    int64_t width = tw_simulation_column_count(c->simulation);
    double shortest = INFINITY;
    for (int i = 0; i < tw_simulation_display_count(c->simulation); i++) {
        const tw_display *display = tw_simulation_display(c->simulation, i);
        if (display->triangle_count == 0 || display->tetrahedron_count > 0) continue;

        /* The sides of the triangles. */
        double sum = 0;
        for (int64_t k = 0; k < 3 * display->triangle_count; k++) {
            int64_t next = k % 3 == 2 ? k - 2 : k + 1;
            sum +=
                distance(x + width * display->triangles[k], x + width * display->triangles[next]);
        }
        shortest = fmin(shortest, sum / (double)(3 * display->triangle_count));
    }
    return shortest;
}

/* The time in which the links of sheets move by their own length, at the speed size/slow that the
 * bodies reach. */
static double link_time(const checked *c)
{
    int64_t count = tw_simulation_row_count(c->simulation);
    int64_t width = tw_simulation_column_count(c->simulation);
    double *rows = malloc((size_t)(width * count) * sizeof *rows);
    double length = INFINITY;
    if (rows &&
        tw_simulation_rows(c->simulation, 0, tw_simulation_start(c->simulation), rows) == TW_OK)
        length = link_length(c, rows);
    free(rows);
    return length / longest_side(c) * c->slow;
}

/* The time in which the bodies move by their own size: sqrt(size / |a|) by their acceleration, or
 * size / |v| by their velocity, whichever is shorter. */
static double slow_time(const checked *c)
{
    const tw_second_order_problem *p = tw_simulation_second_order(c->simulation);
    if (!p || c->summary.particles == 0) return 0;

    /* The acceleration at t = 0. */
    int64_t n = p->space.local_size;
    const double *x = tw_simulation_start(c->simulation);
    const double *v = x + n;
    double *a = malloc((size_t)n * sizeof *a);
    if (!a || p->acceleration(p->context, 0, x, v, a) != TW_OK) {
        free(a);
        return 0;
    }
    double acceleration = particle_mean(n, a);
    double velocity = particle_mean(n, v);
    free(a);

    double size = longest_side(c);
    double slow = INFINITY;
    if (acceleration > 0) slow = sqrt(size / acceleration);
    if (velocity > 0) slow = fmin(slow, size / velocity);
    return isfinite(slow) ? slow : 0;
}

static void count_cells(checked *c)
{
    for (int i = 0; i < tw_simulation_display_count(c->simulation); i++) {
        const tw_display *display = tw_simulation_display(c->simulation, i);
        c->tetrahedra += display->tetrahedron_count;
        c->girders += display->edge_count;
    }
}

/* How many frames and steps the run will have. Rounding does not add one. */
static void count_frames_and_steps(checked *c)
{
    char formats[128];
    frame_words(c->scene, sizeof formats, formats);
    double fps = tw_scene_fps(c->scene);
    bool has_frames = fps > 0 && strcmp(formats, "none") != 0;
    if (has_frames) c->frames = floor(c->duration * fps * (1 + 1e-12)) + 1;

    if (c->options.relative_tolerance > 0 || has_own_steps(c->options.scheme)) return;
    c->steps = fmax(1, ceil(c->duration / c->options.step * (1 - 1e-15)));
    c->step = c->duration / c->steps;
}

static void examine(checked *c)
{
    c->summary = tw_simulation_summarise(c->simulation);
    tw_simulation_measure(c->simulation, 0.0, tw_simulation_start(c->simulation), &c->start);
    c->options = tw_scene_integrator_options(c->scene);
    c->duration = tw_scene_duration(c->scene);
    c->memory_bytes = tw_memory_counts_now().current_bytes;
    count_cells(c);
    count_frames_and_steps(c);

    /* The two time scales that steps depend on. */
    tw_status status =
        tw_simulation_frequency(c->simulation, FREQUENCY_ITERATIONS, &c->omega, NULL);
    if (status != TW_OK) c->omega = 0;
    c->slow = slow_time(c);
    c->link = INFINITY;
    if (c->slow > 0) c->link = link_time(c);
    c->in_wind = has_wind(c->scene);
    c->touches = tw_scene_word(c->scene, "contact.distance") != NULL;
}

/* ---- as text ---- */

/* The links of a rope are its springs, and are not counted twice. */
static void print_parts(const checked *c)
{
    const struct {
        int64_t count;
        const char *what;
    } parts[] = {{c->summary.springs, "springs"},
                 {c->tetrahedra, "tetrahedra"},
                 {c->girders == c->summary.springs ? 0 : c->girders, "links or girders"}};

    /* "made of 10 springs, 4 tetrahedra", without what there is none of. */
    const char *between = "  made of      ";
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        if (parts[i].count == 0) continue;
        printf("%s%lld %s", between, (long long)parts[i].count, parts[i].what);
        between = ", ";
    }
    if (between[0] == ',') printf("\n");
}

/* A value that is rounding beside others of this size is 0. */
static double without_rounding(double value, double size)
{
    return fabs(value) < 1e-12 * size ? 0 : value;
}

static void print_what(const checked *c)
{
    const tw_simulation_summary *s = &c->summary;
    if (s->particles == 0) {
        printf("  simulated    %s, %lld unknowns\n", tw_scene_word(c->scene, "system.kind"),
               (long long)s->unknowns);
        return;
    }

    /* Bodies. */
    printf("  simulated    %lld particles (%lld held), %lld unknowns, %.6g kg free to move\n",
           (long long)s->particles, (long long)s->pinned, (long long)s->unknowns, s->mass);
    print_parts(c);

    /* The corners of the box, beside its longest side. */
    double x[6];
    double side = longest_side(c);
    for (int k = 0; k < 3; k++) {
        x[k] = without_rounding(s->lower[k], side);
        x[3 + k] = without_rounding(s->upper[k], side);
    }
    printf("  box          [%.4g, %.4g, %.4g] to [%.4g, %.4g, %.4g] m\n", x[0], x[1], x[2], x[3],
           x[4], x[5]);
}

static void print_how(const checked *c)
{
    const char *name = tw_scene_word(c->scene, "integrator.name");
    if (c->steps > 0)
        printf("  run          %.6g s by %s, %.0f steps of %.6g s\n", c->duration, name, c->steps,
               c->step);
    else if (c->options.relative_tolerance > 0)
        printf("  run          %.6g s by %s, adaptive steps, rtol %.3g\n", c->duration, name,
               c->options.relative_tolerance);
    else
        printf("  run          %.6g s by %s, steps of its own choice\n", c->duration, name);
    printf("  phi          %s, tolerance %.3g\n", tw_scene_word(c->scene, "phi.name"),
           c->options.phi.tolerance);

    /* Frames. */
    char formats[128];
    frame_words(c->scene, sizeof formats, formats);
    if (c->frames > 0)
        printf("  frames       %.0f (%s), %.6g per second\n", c->frames, formats,
               tw_scene_fps(c->scene));
    else
        printf("  frames       none\n");
}

/* The step that is suggested for a scheme; 0: there is none. */
static double advised_step(const checked *c, tw_scheme scheme)
{
    for (int i = 0; i < ADVICE_COUNT; i++)
        if (advice[i].scheme == scheme) return c->advised[i];
    return 0;
}

/* Whether rk4 is likely to be faster than expmid2: a step of expmid2 costs FOLD_FORCES where a sheet
 * folds, and rk4 evaluates four forces per step. */
static bool expmid2_is_slow(const checked *c)
{
    double expmid2 = advised_step(c, TW_SCHEME_EXPMID2);
    double rk4 = advised_step(c, TW_SCHEME_RK4);
    bool has_both = expmid2 > 0 && rk4 > 0;
    return isfinite(c->link) && has_both && 4 * expmid2 < FOLD_FORCES * rk4;
}

static void print_advice(const checked *c)
{
    int printed = 0;
    for (int i = 0; i < ADVICE_COUNT; i++) {
        double step = c->advised[i];
        if (!(step > 0)) continue;

        const char *between = ", ";
        if (printed == 0)
            between = "  begin with   steps [s] ";
        else if (printed % ADVICE_PER_LINE == 0)
            between = ",\n                         ";
        printf("%s%s %.2g", between, tw_scheme_name(advice[i].scheme), step);
        printed++;
    }
    if (printed) printf("\n");
    if (expmid2_is_slow(c))
        printf("  note         expmid2 is slow where a sheet folds: rk4 is likely to be faster\n");
}

static void print_frequencies(const checked *c)
{
    double bound = c->summary.omega_bound;
    if (c->omega > 0 && bound > 0)
        printf("  frequencies  up to %.4g 1/s at t = 0, at most %.4g 1/s at any time\n", c->omega,
               bound);
    else if (c->omega > 0)
        printf("  frequencies  up to %.4g 1/s at t = 0\n", c->omega);
    else if (bound > 0)
        printf("  frequencies  at most %.4g 1/s at any time\n", bound);
}

/* The energy that a body has when it moves by its size in its slow time, m (size/slow)^2 / 2, is what
 * rounding is compared with: springs at rest have an energy of some 1e-20 J. */
static void print_energy(const checked *c)
{
    double speed = c->slow > 0 ? longest_side(c) / c->slow : 0;
    double scale = 0.5 * c->summary.mass * speed * speed;
    double kinetic = without_rounding(c->start.kinetic, scale);
    double potential = without_rounding(c->start.potential, scale);
    printf("  energy       %.10g J at t = 0 (%.4g kinetic, %.4g potential)\n", kinetic + potential,
           kinetic, potential);
}

static void print_text(const char *path, const checked *c)
{
    style look = style_for_stdout();
    printf("%s%s%s: ok\n", look.good, printable(path), look.plain);
    print_what(c);
    if (c->start.has_energy) print_energy(c);
    print_frequencies(c);
    print_how(c);
    print_advice(c);

    /* Bases of Krylov spaces are reserved for the worst case; the system gives memory when it is
     * written to. */
    printf("  memory       %.4g MB in use after the first step, with the program itself; the "
           "simulation "
           "reserves %.4g MB, and uses them as far as needed\n",
           (double)c->resident_bytes / 1e6, (double)c->memory_bytes / 1e6);
}

/* ---- as JSON ---- */

static void print_json_what(const checked *c)
{
    const tw_simulation_summary *s = &c->summary;
    printf("{\n  \"name\": ");
    print_json_string(tw_scene_name(c->scene));

    printf(",\n  \"particles\": %lld,\n  \"pinned\": %lld,\n  \"springs\": %lld,\n  \"unknowns\": "
           "%lld,\n",
           (long long)s->particles, (long long)s->pinned, (long long)s->springs,
           (long long)s->unknowns);
    printf("  \"mass\": %.17g,\n  \"lower\": [%.17g, %.17g, %.17g],\n  \"upper\": [%.17g, %.17g, "
           "%.17g],\n",
           s->mass, s->lower[0], s->lower[1], s->lower[2], s->upper[0], s->upper[1], s->upper[2]);
    printf("  \"tetrahedra\": %lld,\n  \"girders\": %lld,\n", (long long)c->tetrahedra,
           (long long)c->girders);
    printf("  \"omega_max\": %.17g,\n  \"omega_bound\": %.17g,\n", c->omega, s->omega_bound);
    printf("  \"memory_bytes\": %lld,\n  \"resident_bytes\": %lld,\n  \"suggested_steps\": {",
           (long long)c->memory_bytes, (long long)c->resident_bytes);

    /* "expmid2": 0.016, "verlet": 0.0029 */
    const char *between = "";
    for (int i = 0; i < ADVICE_COUNT; i++) {
        double step = c->advised[i];
        if (!(step > 0)) continue;
        printf("%s\"%s\": %.3g", between, tw_scheme_name(advice[i].scheme), step);
        between = ", ";
    }
    printf("},\n  \"expmid2_is_slow\": %s,\n", expmid2_is_slow(c) ? "true" : "false");
}

static void print_json(const checked *c)
{
    print_json_what(c);

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

/* The most memory that the process has had so far. */
static int64_t most_resident_bytes(void)
{
    struct rusage usage;
    if (getrusage(RUSAGE_SELF, &usage) != 0) return 0;
    return (int64_t)usage.ru_maxrss * 1024;
}

/* Does what a run would do next: the start, and the first step. What a run refuses or cannot do is
 * known here, too. */
static tw_status try_first_step(const checked *c, tw_integrator *integrator, tw_error *error)
{
    const double *start = tw_simulation_start(c->simulation);
    tw_status status = tw_integrator_start(integrator, 0.0, start, error);
    if (status == TW_OUT_OF_MEMORY) return status;
    if (status != TW_OK) {
        bool has_system = tw_scene_word(c->scene, "system.kind") != NULL;
        return tw_scene_blame(c->scene, has_system ? "system" : "bodies", error);
    }
    return tw_integrator_step(integrator, c->duration, error);
}

/* What to try after a first step that failed, as `run` says it. */
static void tell_next_try(const checked *c, tw_status status)
{
    failed_run failed = {.status = status, .step = c->step};
    double omega = c->summary.omega_bound > 0 ? c->summary.omega_bound : c->omega;
    if (omega > 0 && c->options.scheme == TW_SCHEME_VERLET)
        failed.stable_step = VERLET_STABILITY / omega;
    if (omega > 0 && c->options.scheme == TW_SCHEME_RK4) failed.stable_step = RK4_STABILITY / omega;
    say_what_to_try(&failed);
}

static int check(const arguments *a)
{
    await_signals();
    checked c = {0};
    tw_scene *scene = NULL;
    tw_integrator *integrator = NULL;
    tw_error error = {0};
    bool json = is_given(a, "--json");

    /* Everything up to and with the first step, with the warnings that a run would print. */
    show_warnings();
    tw_status status = load_scene(a, &scene, &error);
    c.scene = scene;
    if (status == TW_OK) status = tw_scene_build(scene, &c.simulation, &error);
    if (status == TW_OK)
        status = tw_scene_create_integrator(scene, c.simulation, &integrator, &error);

    if (status == TW_OK) {
        examine(&c);
        status = try_first_step(&c, integrator, &error);
        c.resident_bytes = most_resident_bytes();
    }
    for (int i = 0; i < ADVICE_COUNT && status == TW_OK; i++) c.advised[i] = find_step(&c, i);

    int code = EXIT_DONE;
    if (status == TW_OK) {
        if (json)
            print_json(&c);
        else
            print_text(a->positional[0], &c);
    } else {
        code = error.text[0] ? report_error(&error, json) : EXIT_WRONG_USE;
        if (code == EXIT_FAILED && integrator) tell_next_try(&c, status);
    }

    tw_integrator_free(integrator);
    tw_simulation_free(c.simulation);
    tw_scene_free(scene);
    return code;
}

static const option options[] = {
    SCENE_OPTIONS,
    FRAME_OPTIONS,
    {"--json", NULL, NULL, "print it as JSON", NULL},
    {0},
};

const verb verb_check = {
    .name = "check",
    .synopsis = "SCENE [--set KEY=VALUE]... [--json]",
    .line = "say what would be simulated, without doing it",
    .text =
        "Reads SCENE as run would, and says what it is: particles, unknowns, energy, frequencies,\n"
        "memory, and which steps to begin with for some integrators. Those steps are tried on the\n"
        "scene itself; where bodies touch, over the whole run, or none is suggested. A note says\n"
        "where expmid2 is slow.\n"
        "It tries the first step of the run, too. Exit code 0 if that succeeds, 1 if the step\n"
        "fails, 2 if the scene is wrong: the same as of a run of one step.",
    .options = options,
    .positional = "SCENE",
    .positional_least = 1,
    .positional_most = 1,
    .run = check,
};
