/* Integrators from bytes: refused, or they go on for some steps and stay finite. The first byte chooses the scheme, the
 * kind of its steps and the scene. */
#include <math.h>
#include <stdio.h>
#include <twang/twang.h>

#include "fuzz_edits.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *const schemes[] = {"expmid2", "bdf2",     "verlet", "etdrk4", "v-imex",
                                      "newmark", "gautschi", "rk4",    "exprb32"};
static const char *const steps[] = {"step: 0.01", "rtol: 1e-3", "step: 0.01, reuse_factor: 0.5"};
static const char *const scenes[] = {
    "bodies: [{kind: rope, count: 3, stiffness: 1e3}]\npins: [{from: 0}]\n",
    /* springs that flow, friction that is anchored, and lists of bodies that may touch */
    "bodies:\n"
    "  - {kind: rope, count: 1, stiffness: 1e3, origin: [0, 0, 0.003], velocity: [1, 0, 0], "
    "plasticity: {yield_strain: 1e-3}}\n"
    "  - {kind: rope, count: 1, stiffness: 1e3, origin: [0.05, -0.05, 0.02], direction: [0, 1, "
    "0]}\n"
    "obstacles: [{kind: plane}]\n"
    "contact: {distance: 0.01, friction: 0.3, friction_length: 1e-4, restitution: 1}\n"};
enum { SCHEMES = 9, STEP_KINDS = 3, SCENES = 2, LONGEST_RUN = 4 };

/* One integrator per scheme, kind of step and scene, and its bytes after three steps. */
typedef struct subject {
    tw_simulation *simulation;
    tw_integrator *integrator;
    char *bytes;
    char *copy;
    size_t size;
} subject;

static void prepare(subject *s, int which)
{
    int scheme = which % SCHEMES;
    int kind = which / SCHEMES % STEP_KINDS;
    char text[1024];
    int length = snprintf(text, sizeof text,
                          "name: fuzz\nduration: 0.1\ngravity: [0, 0, -9.81]\n"
                          "integrator: {name: %s, %s, max_steps: 200}\n%s",
                          schemes[scheme], scheme == 6 ? steps[0] : steps[kind],
                          scenes[which / (SCHEMES * STEP_KINDS)]);
    tw_scene *scene = NULL;
    insist(tw_scene_parse("fuzz", text, (size_t)length, 0, NULL, &scene, NULL) == TW_OK);
    insist(tw_scene_build(scene, &s->simulation, NULL) == TW_OK);
    insist(tw_scene_create_integrator(scene, s->simulation, &s->integrator, NULL) == TW_OK);
    tw_scene_free(scene);

    insist(tw_integrator_start(s->integrator, 0, tw_simulation_start(s->simulation), NULL) ==
           TW_OK);
    for (int i = 0; i < 3; i++) insist(tw_integrator_step(s->integrator, 0.1, NULL) == TW_OK);
    insist(tw_integrator_serialise(s->integrator, NULL, 0, &s->size) == TW_OK);
    s->bytes = malloc(s->size);
    s->copy = malloc(s->size);
    insist(tw_integrator_serialise(s->integrator, s->bytes, s->size, &s->size) == TW_OK);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static subject subjects[SCHEMES * STEP_KINDS * SCENES];
    if (size == 0) return 0;
    int which = data[0] % (SCHEMES * STEP_KINDS * SCENES);
    subject *s = &subjects[which];
    if (!s->bytes) prepare(s, which);

    memcpy(s->copy, s->bytes, s->size);
    apply_edits(data + 1, size - 1, s->copy, s->size);
    if (tw_integrator_restore(s->integrator, s->copy, s->size, NULL) != TW_OK) return 0;

    /* Whatever it makes of it, it is finite. */
    double t = 0;
    int64_t entries = tw_simulation_state_size(s->simulation);
    for (int i = 0; i < LONGEST_RUN; i++) {
        tw_integrator_state(s->integrator, &t, NULL);
        if (!(t < 0.1) || tw_integrator_step(s->integrator, 0.1, NULL) != TW_OK) break;
    }
    insist(isfinite(t));
    const double *u = tw_integrator_state_view(s->integrator);
    for (int64_t i = 0; i < entries; i++) insist(isfinite(u[i]));
    return 0;
}
