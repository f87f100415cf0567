/* A run that is written and read back after any step is bitwise the run that was left alone: every scheme with every
 * option that leaves something behind for later steps. Compared are all bytes that tw_integrator_serialise writes
 * (state, history, controller, events, counts), the states between steps and the state by which energy is judged. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <twang/twang.h>

#include "base/text.h"
#include "problems/oscillators.h"
#include "problems/reaction_diffusion.h"
#include "support/run_suite.h"

enum {
    STEPS = 6,       /* of the run that is left alone */
    MOST_STEPS = 30, /* of a case that needs more of them */
    AFTER = 2        /* steps that a restored run takes */
};

static const double END = 0.5;    /* [s] */
static const double FPS = 70;     /* frames lie inside most steps */
static const double LEVEL = 1e-3; /* of an entry of the state: where an event is */

/* ---- what is simulated: each has something of its own that a scheme carries along ---- */

static const char *const bodies[] = {
    /* elements with a tension, and no time */
    "bodies: [{kind: rope, count: 5, stiffness: 1e3}]\npins: [{from: 0}]\ngravity: [0, 1, -9.81]\n",
    /* more unknowns than expmid2 takes for the dense engine */
    "bodies: [{kind: rope, count: 22, stiffness: 1e4}]\npins: [{from: 0}]\ngravity: [0, 1, "
    "-9.81]\n",
    /* forces that depend on velocity and on time */
    "bodies: [{kind: rope, count: 5, stiffness: 1e3}]\n"
    "motions: [{kind: oscillation, from: 0, amplitude: [0.1, 0, 0], frequency: 2}]\n"
    "forces: [{kind: rayleigh, alpha: 0.1, beta: 1e-4}]\ngravity: [0, 1, -9.81]\n",
    /* a tangent that is not symmetric */
    "bodies: [{kind: cloth, columns: 3, rows: 3, stiffness: 500, shear: 100, bending: 1, density: "
    "0.2}]\n"
    "forces: [{kind: wind, velocity: [3, 2, 1]}]\npins: [{from: 0}]\ngravity: [0, 0, -9.81]\n",
    /* elements without a tension */
    "bodies: [{kind: box, cells: [2, 1, 1], material: neo-hookean, youngs_modulus: 1e4, density: "
    "1e3, spin: [3, 1, 2]}]\n"
    "forces: [{kind: shaking, acceleration: [0, 0, 3], frequency: 3}]\npins: [{from: 0}]\n",
    /* springs that flow, and break */
    "bodies: [{kind: rope, count: 5, stiffness: 1e3, plasticity: {yield_strain: 1e-3, hardening: "
    "0.5, rupture_strain: 0.4}}]\npins: [{from: 0}]\ngravity: [0, 1, -9.81]\n",
    /* friction that is anchored, on an obstacle that moves */
    "bodies: [{kind: rope, count: 5, stiffness: 1e3, origin: [0, 0, 0.004], velocity: [0.5, 0, "
    "-0.1]}]\nobstacles: [{kind: plane, motion: {kind: velocity, velocity: [0, 0.3, 0]}}]\n"
    "contact: {distance: 0.01, friction: 0.4, friction_length: 1e-4, restitution: 1}\ngravity: [0, "
    "0, -9.81]\n",
    /* bodies that touch each other, with impacts and friction as impulses, and flow */
    "bodies:\n  - {kind: rope, count: 3, stiffness: 1e3, velocity: [0, 0, -1], plasticity: "
    "{yield_strain: 1e-3}}\n"
    "  - {kind: cloth, columns: 3, rows: 3, width: 0.4, height: 0.4, origin: [-0.05, 0.2, -0.02], "
    "rotation: [-90, 0, 0], stiffness: 500, shear: 100, bending: 1, density: 0.2}\n"
    "contact: {distance: 0.01, friction: 0.3, restitution: 0.5, thickness: 0.01}\n",
    /* a fluid, of first order */
    "bodies: [{kind: cell, particles: 8, radii: [1, 1, 1.5], stiffness: 10, mass: 1, velocity: [1, "
    "0, 0]}]\nforces: [{kind: load, force: [0, 0, 1], from: 0}]\nfluid: {viscosity: 0.5}\n",
    /* systems of equations, of second and of first order */
    "system: {kind: fput, m: 3, omega: 50}\n",
    "system: {kind: stiff-line, k: 100}\n",
};
enum { BODIES = sizeof bodies / sizeof *bodies };

/* Problems of a program's own, which give less than scenes do. */
typedef enum own_problem {
    OWN_NONE,
    OWN_DIFFERENCES, /* second order; the matrix is filled by differences of the acceleration */
    OWN_PLAIN,       /* second order; the acceleration alone: products by differences */
    OWN_REACTION,    /* first order with products */
    OWN_PLAIN_FIRST, /* first order, the right-hand side alone */
    OWN_PROBLEMS
} own_problem;

/* What is asked of each step. */
typedef enum asked { NOTHING, FRAMES, FRAMES_AND_EVENTS, STOPPING_EVENTS, ASKED } asked;

typedef struct run_case {
    const char *description;
    tw_scene
        *scene; /* of the bodies and the options; of the options alone for a problem of its own */
    own_problem own;
    asked asked;
    int steps;
} run_case;

/* One program's copy of a case: nothing is shared with another. */
typedef struct life {
    const run_case *c;
    tw_simulation *simulation;
    oscillator oscillator;
    reaction_diffusion *reaction;
    const double *start;
    size_t bytes; /* of the state */
    tw_integrator *integrator;
} life;

static tw_status first_event(void *context, double t, const double *u, double *g)
{
    (void)context, (void)t;
    *g = u[0] - LEVEL;
    return TW_OK;
}

static tw_status second_event(void *context, double t, const double *u, double *g)
{
    (void)context, (void)t;
    *g = u[1] + LEVEL;
    return TW_OK;
}

static tw_status create_own(life *l)
{
    tw_integrator_options options = tw_scene_integrator_options(l->c->scene);
    if (l->c->own >= OWN_REACTION) {
        l->reaction = reaction_diffusion_new(ALLEN_CAHN, 4, 0.1);
        if (l->c->own == OWN_PLAIN_FIRST) {
            l->reaction->problem.linearise = NULL;
            l->reaction->problem.jacobian_product = NULL;
        }
        l->start = l->reaction->state;
        l->bytes = (size_t)l->reaction->size * sizeof(double);
        return tw_integrator_create_first_order(&l->reaction->problem, &options, &l->integrator,
                                                NULL);
    }

    oscillator_create(l->c->own == OWN_PLAIN ? DUFFING : SHAKEN, &l->oscillator);
    l->oscillator.table.assemble = NULL;
    l->oscillator.table.linearise = NULL;
    l->oscillator.table.apply_stiffness = NULL;
    if (l->c->own == OWN_PLAIN) l->oscillator.table.stiffness_matrix = NULL;
    l->start = l->oscillator.start;
    l->bytes = 2 * (size_t)l->oscillator.unknowns * sizeof(double);
    return tw_integrator_create_second_order(&l->oscillator.table, &options, &l->integrator, NULL);
}

static tw_status create_of_scene(life *l)
{
    tw_error error = {0};
    ck_assert_msg(tw_scene_build(l->c->scene, &l->simulation, &error) == TW_OK, "%s", error.text);
    l->start = tw_simulation_start(l->simulation);
    l->bytes = (size_t)tw_simulation_state_size(l->simulation) * sizeof(double);
    return tw_scene_create_integrator(l->c->scene, l->simulation, &l->integrator, &error);
}

/* False if scheme and problem do not fit together. */
static bool begin_life(const run_case *c, life *l)
{
    *l = (life){.c = c};
    tw_status status = c->own == OWN_NONE ? create_of_scene(l) : create_own(l);
    if (status != TW_OK) return false;

    double interval = c->asked == NOTHING ? (double)INFINITY : 1 / FPS;
    ck_assert_int_eq(tw_integrator_expect_output(l->integrator, 0.0, interval), TW_OK);
    if (c->asked < FRAMES_AND_EVENTS) return true;

    tw_event first = {.value = first_event, .stop = c->asked == STOPPING_EVENTS};
    tw_event second = {.value = second_event};
    ck_assert_int_eq(tw_integrator_add_event(l->integrator, &first, NULL), TW_OK);
    ck_assert_int_eq(tw_integrator_add_event(l->integrator, &second, NULL), TW_OK);
    return true;
}

static void end_life(life *l)
{
    tw_integrator_free(l->integrator);
    tw_simulation_free(l->simulation);
    if (l->reaction) reaction_diffusion_free(l->reaction);
    if (l->oscillator.matrix) oscillator_free(&l->oscillator);
}

/* ---- a step as bytes ---- */

/* Appends the integrator's bytes and returns where they begin. */
static size_t append_snapshot(const life *l, tw_text *out)
{
    size_t size = 0;
    ck_assert_int_eq(tw_integrator_serialise(l->integrator, NULL, 0, &size), TW_OK);
    void *bytes = malloc(size);
    ck_assert_int_eq(tw_integrator_serialise(l->integrator, bytes, size, &size), TW_OK);
    size_t begin = out->size;
    tw_text_add_bytes(out, bytes, size);
    free(bytes);
    return begin;
}

/* The frames inside the last step. */
static void append_frames(const life *l, tw_text *out)
{
    double *u = malloc(l->bytes);
    double t = 0;
    double old = tw_integrator_previous_time(l->integrator);
    tw_integrator_state(l->integrator, &t, NULL);
    for (int64_t k = (int64_t)(old * FPS) + 1; (double)k / FPS < t; k++) {
        double at = (double)k / FPS;
        if (!(at > old)) continue;

        /* An engine that fails must fail again. */
        tw_status status = tw_integrator_interpolate(l->integrator, at, u, NULL);
        tw_text_add_bytes(out, &status, sizeof status);
        if (status != TW_OK) continue;
        tw_text_add_bytes(out, u, l->bytes);
    }
    free(u);
}

/* Makes one step and appends all that a run makes of it; false if the step fails. */
static bool step(const life *l, tw_text *out, size_t *snapshot)
{
    tw_status status = tw_integrator_step(l->integrator, END, NULL);
    if (status != TW_OK && status != TW_EVENT_STOP) return false;

    /* The state by which the telemetry judges the energy. */
    double t = 0;
    const double *judged = tw_integrator_energy_state(l->integrator, &t);
    tw_text_add_bytes(out, &t, sizeof t);
    tw_text_add_bytes(out, judged, l->bytes);

    if (l->c->asked != NOTHING) append_frames(l, out);
    *snapshot = append_snapshot(l, out);
    return true;
}

/* ---- the comparison ---- */

/* The bytes of the run that is left alone. Step 0 is the start. */
typedef struct diary {
    tw_text bytes;
    int count;                       /* steps */
    size_t begin[MOST_STEPS + 2];    /* of what step k wrote */
    size_t snapshot[MOST_STEPS + 2]; /* of the integrator's bytes in it */
} diary;

static void live(life *l, diary *d)
{
    ck_assert_int_eq(tw_integrator_start(l->integrator, 0.0, l->start, NULL), TW_OK);
    d->snapshot[0] = append_snapshot(l, &d->bytes);
    for (d->count = 0; d->count < l->c->steps; d->count++) {
        d->begin[d->count + 1] = d->bytes.size;
        if (!step(l, &d->bytes, &d->snapshot[d->count + 1])) break;
    }
    d->begin[d->count + 1] = d->bytes.size;
    ck_assert(!d->bytes.failed);
}

/* Restores after step k and compares the steps that follow. */
static void live_again(life *l, const diary *d, int k)
{
    tw_error error = {0};
    size_t size = d->begin[k + 1] - d->snapshot[k];
    const char *bytes = d->bytes.bytes + d->snapshot[k];
    ck_assert_msg(tw_integrator_restore(l->integrator, bytes, size, &error) == TW_OK,
                  "%s, after step %d: %s", l->c->description, k, error.text);

    tw_text got = {0};
    for (int i = k + 1; i <= d->count && i <= k + AFTER; i++) {
        size_t snapshot = 0;
        tw_text_clear(&got);
        ck_assert_msg(step(l, &got, &snapshot), "%s: restored after step %d, step %d fails",
                      l->c->description, k, i);

        const char *expected = d->bytes.bytes + d->begin[i];
        size_t expected_size = d->begin[i + 1] - d->begin[i];
        size_t at = 0;
        while (at < expected_size && at < got.size && got.bytes[at] == expected[at]) at++;
        bool in_outputs = at < snapshot;
        ck_assert_msg(at == expected_size && at == got.size,
                      "%s: restored after step %d, byte %zu of the %s of step %d differs",
                      l->c->description, k, in_outputs ? at : at - snapshot,
                      in_outputs ? "outputs" : "snapshot", i);
    }
    tw_text_free(&got);
}

/* Every step of one case. Returns whether scheme and problem fit together. */
static bool compare(const run_case *c)
{
    life whole;
    diary d = {.count = 0};
    bool fits = begin_life(c, &whole);
    if (fits) live(&whole, &d);

    /* An integrator that knows the future is restored, and one that knows nothing. */
    for (int k = 0; k < d.count; k++) {
        if (k % 2) {
            live_again(&whole, &d, k);
            continue;
        }
        life other;
        ck_assert(begin_life(c, &other));
        live_again(&other, &d, k);
        end_life(&other);
    }

    end_life(&whole);
    tw_text_free(&d.bytes);
    return d.count > 0;
}

/* The settings and the body are those of a scene; `c` has the rest. */
static bool compare_text(run_case c, const char *body, const char *settings)
{
    char text[2048];
    snprintf(text, sizeof text, "name: test\nduration: %g\n%s%s", END, settings, body);
    char description[2560];
    snprintf(description, sizeof description, "%s(own problem %d, asked %d)", text, (int)c.own,
             (int)c.asked);
    c.description = description;
    tw_error error = {0};
    ck_assert_msg(tw_scene_parse("test", text, strlen(text), 0, NULL, &c.scene, &error) == TW_OK,
                  "%s: %s", text, error.text);
    bool fits = compare(&c);
    tw_scene_free(c.scene);
    return fits;
}

/* Every body and every problem with these settings, or a third of the bodies in checked builds. Returns
 * how many of them the scheme fits. */
static int compare_all(const char *settings, int variant)
{
    int count = 0;
    int every = cases_to_run(1, 3);
    for (int body = (every - variant % every) % every; body < BODIES; body += every)
        count +=
            compare_text((run_case){.asked = (asked)((body + variant) % ASKED), .steps = STEPS},
                         bodies[body], settings);
    for (int own = OWN_NONE + 1; own < OWN_PROBLEMS; own++)
        count += compare_text((run_case){.own = (own_problem)own,
                                         .asked = (asked)((own + variant) % ASKED),
                                         .steps = STEPS},
                              bodies[BODIES - 1], settings);
    return count;
}

/* ---- all schemes with all options ---- */

static const char *const options[] = {
    "step: 0.011",
    "step: 0.011, reuse_factor: 0.5, imex_tangent: true, corrections: 0",
    "step: 0.011, dissipation: 0.2, corrections: 2, filter: hochbruck-lubich",
    "step: 0.011, linear_solver: pcg",
    "step: 0.011, reuse_factor: 0.5, linear_solver: pcg",
    "step: 0.003, rtol: 1e-4",
    "rtol: 1e-3",
    "step: 0.003, rtol: 1e-3, controller: cost",
    "step: 0.003, rtol: 1e-3, reuse_factor: 0.5",
    "step: 0.003, rtol: 1e-3, controller: cost, reuse_factor: 0.1, passes: 1",
};
enum { OPTIONS = sizeof options / sizeof *options };

START_TEST(every_scheme_with_every_option)
{
    tw_scheme scheme = (tw_scheme)_i;
    if (!tw_scheme_available(scheme) || scheme == TW_SCHEME_CVODE) return;

    int count = 0;
    for (int o = 0; o < OPTIONS; o++) {
        char settings[256];
        snprintf(settings, sizeof settings, "integrator: {name: %s, %s}\n", tw_scheme_name(scheme),
                 options[o]);
        count += compare_all(settings, o);
    }
    ck_assert_msg(count >= cases_to_run(OPTIONS, 1), "%s: %d cases only", tw_scheme_name(scheme),
                  count);
}
END_TEST

/* ---- all engines with the schemes that use them ---- */

START_TEST(every_engine)
{
    static const char *const schemes[] = {"exprb32", "expmid4", "expmid2", "etdrk4", "gautschi"};
    static const char *const steps[] = {"step: 0.011", "step: 0.003, rtol: 1e-4"};
    const char *engine = tw_phi_engine_name((tw_phi_engine)_i);

    int count = 0;
    for (int s = 0; s < 5; s++)
        for (int k = s % 2; k < 2; k += 2) {
            char settings[256];
            snprintf(settings, sizeof settings,
                     "integrator: {name: %s, %s}\nphi: {name: %s, tolerance: 1e-6, max_products: "
                     "2000}\n",
                     schemes[s], steps[k], engine);
            count += compare_all(settings, s + k);
        }
    ck_assert_msg(count >= cases_to_run(5, 1), "%s: %d cases only", engine, count);
}
END_TEST

/* ---- steps that are divided over a contact ---- */

/* The energy guard judges such a step by its ends where the stage shows a gain. It has to know that the step is shorter
 * than the one before, also after a restore: a step of this cloth fails otherwise. The case was found by search. */
START_TEST(divided_steps)
{
    static const char cloth[] =
        "gravity: [0, 0, -9.81]\n"
        "bodies: [{kind: cloth, columns: 3, rows: 3, mass: 0.1, stiffness: 43000, shear: 10, "
        "bending: 0.1, origin: [0, 0, 0.003], velocity: [-1.77, -0.62, -0.63]}]\n"
        "obstacles: [{kind: plane}]\n"
        "contact: {distance: 0.014, friction: 0.3, restitution: 1}\n";
    ck_assert(
        compare_text((run_case){.steps = 22}, cloth, "integrator: {name: expmid2, step: 0.024}\n"));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("resume");
    TCase *cases = tcase_create("restore");
    tcase_set_timeout(cases, 300);
    tcase_add_loop_test(cases, every_scheme_with_every_option, 0, TW_SCHEME_COUNT);
    tcase_add_loop_test(cases, every_engine, 0, TW_PHI_ENGINE_COUNT);
    suite_add_tcase(suite, cases);

    TCase *contacts = tcase_create("contacts");
    tcase_set_timeout(contacts, 300);
    tcase_add_test(contacts, divided_steps);
    suite_add_tcase(suite, contacts);
    return run_suite(suite);
}
