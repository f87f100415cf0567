/* A scene all the way: read, built, integrated for a few steps, freed. Shared by the libFuzzer target fuzz_simulation and
 * by tests/robustness/scene_server.c, which tests/robustness/fuzz_scenes feeds with whole scenes.
 *
 * What is insisted on: a failure has one line of text; a scene that is refused is told where, FILE:LINE:COLUMN; no state
 * and no time that is not finite; no internal error; not a byte left behind.
 *
 * Steps that take longer than PATIENCE seconds of processor time are interrupted. Whoever calls this waits a little
 * longer only: so it shows as well that dear steps can be interrupted. */
#ifndef FUZZ_SIMULATE_SCENE_H
#define FUZZ_SIMULATE_SCENE_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <twang/twang.h>

/* Processor time that the steps of one scene may take, in seconds: ten times that of most. */
static const double PATIENCE = 0.25;

/* An allocator with a budget: what asks for more is refused, as on a small machine. It can also refuse
 * the nth allocation. */
typedef struct budget {
    long long bytes_left; /* of all allocations together; what is freed is not given back */
    long long calls;      /* so far */
    long long refuse;     /* this call is refused; 0: none */
} budget;

static void *budget_allocate(void *context, size_t size, size_t alignment)
{
    budget *b = context;
    long long call = __atomic_add_fetch(&b->calls, 1, __ATOMIC_RELAXED);
    long long left = __atomic_sub_fetch(&b->bytes_left, (long long)size, __ATOMIC_RELAXED);
    if (call == b->refuse || left < 0 || size > (size_t)1 << 40) return NULL;
    return aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
}

static void budget_release(void *context, void *block)
{
    (void)context;
    free(block);
}

/* How a scene ended. */
typedef struct outcome {
    tw_status status;
    int steps; /* accepted */
    const char
        *where; /* "parse", "build", "create", "start", "step"; a broken promise begins with "!" */
    tw_error error;
} outcome;

static int is_finite_state(const tw_integrator *integrator, int64_t size)
{
    const double *u = tw_integrator_state_view(integrator);
    double t = NAN;
    tw_integrator_state(integrator, &t, NULL);
    for (int64_t i = 0; i < size; i++)
        if (!isfinite(u[i])) return 0;
    return isfinite(t);
}

static double processor_seconds(void)
{
    return (double)clock() / CLOCKS_PER_SEC;
}

/* Whether the time in *context, in seconds of the process, has passed. */
static bool is_too_late(void *context)
{
    const double *end = context;
    return processor_seconds() > *end;
}

static void step_simulation(tw_integrator *integrator, tw_simulation *simulation, int most,
                            outcome *o)
{
    const double far = 1e6; /* s */
    int64_t size = tw_simulation_state_size(simulation);
    double end = processor_seconds() + PATIENCE;
    tw_integrator_on_interrupt(integrator, is_too_late, &end);
    o->where = "start";
    o->status = tw_integrator_start(integrator, 0, tw_simulation_start(simulation), &o->error);
    while (o->status == TW_OK && o->steps < most) {
        o->where = "step";
        o->status = tw_integrator_step(integrator, far, &o->error);
        o->steps += o->status == TW_OK;
        if (!is_finite_state(integrator, size)) {
            o->where = "!state is not finite";
            return;
        }
    }
}

static void build_and_step(const tw_scene *scene, int most, outcome *o)
{
    tw_simulation *simulation = NULL;
    tw_integrator *integrator = NULL;
    o->where = "build";
    o->status = tw_scene_build(scene, &simulation, &o->error);
    if (o->status == TW_OK) {
        o->where = "create";
        o->status = tw_scene_create_integrator(scene, simulation, &integrator, &o->error);
    }
    if (o->status == TW_OK) step_simulation(integrator, simulation, most, o);
    tw_integrator_free(integrator);
    tw_simulation_free(simulation);
}

/* Whether the text begins with the place in the file, "fuzz:LINE:COLUMN: ". */
static bool has_place(const char *text)
{
    int line = 0;
    int column = 0;
    int end = 0;
    return sscanf(text, "fuzz:%d:%d: %n", &line, &column, &end) == 2 && end > 0 && text[end];
}

/* Simulates `most` steps of the scene in the text with this allocator. */
static outcome simulate_text(const char *text, size_t size, int most, budget *memory)
{
    outcome o = {.where = "parse"};
    tw_scene *scene = NULL;
    int64_t before = tw_memory_counts_now().current_bytes;
    tw_memory_set_allocator(&(tw_allocator){budget_allocate, budget_release, memory});
    o.status = tw_scene_parse("fuzz", text, size, 0, NULL, &scene, &o.error);
    if (o.status == TW_OK) build_and_step(scene, most, &o);
    tw_scene_free(scene);
    tw_memory_set_allocator(NULL);

    if (tw_memory_counts_now().current_bytes != before) o.where = "!memory was left behind";
    if (o.status == TW_INTERNAL) o.where = "!internal error";
    if (o.status != TW_OK && (o.error.text[0] == '\0' || strchr(o.error.text, '\n')))
        o.where = "!a failure without its line";

    /* A scene that cannot be built is to blame for it, unless memory is. */
    bool is_refused = o.status != TW_OK && o.status != TW_OUT_OF_MEMORY && o.where[0] != 's';
    if (is_refused && o.where[0] != '!' && !has_place(o.error.text))
        o.where = "!a scene was refused without its place";

    /* What is wrong with the text itself is quoted, and may well contain these letters. */
    bool is_quoted = strcmp(o.where, "parse") == 0;
    if (!is_quoted && strstr(o.error.text, "nan")) o.where = "!a message with nan";
    return o;
}

#endif
