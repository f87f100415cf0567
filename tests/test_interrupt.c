/* A step that the user interrupts, at whatever evaluation, has never been: the run ends in the same bytes. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <twang/twang.h>

#include "support/run_suite.h"

static const char rope[] =
    "name: rope\nduration: 1\nintegrator: {name: rk4, step: 0.01}\n"
    "gravity: [0, 0, -9.81]\nbodies: [{kind: rope, count: 6}]\npins: [{from: 0}]\n";

/* Says yes at the k-th time it is asked, and from then on. */
typedef struct impatience {
    int64_t left;
    int64_t asked;
} impatience;

static bool wants_end(void *context)
{
    impatience *i = context;
    i->asked++;
    return --i->left < 0;
}

static bool is_explicit(tw_scheme scheme)
{
    return scheme == TW_SCHEME_RK4 || scheme == TW_SCHEME_EULER || scheme == TW_SCHEME_VERLET ||
           scheme == TW_SCHEME_MIDPOINT_EXPLICIT;
}

static tw_simulation *simulation_of(const char *text)
{
    tw_error error = {0};
    tw_scene *scene = NULL;
    tw_simulation *simulation = NULL;
    ck_assert_int_eq(tw_scene_parse("t", text, strlen(text), 0, NULL, &scene, &error), TW_OK);
    ck_assert_int_eq(tw_scene_build(scene, &simulation, &error), TW_OK);
    tw_scene_free(scene);
    return simulation;
}

static void *bytes_of(const tw_integrator *integrator, size_t *size)
{
    ck_assert_int_eq(tw_integrator_serialise(integrator, NULL, 0, size), TW_OK);
    void *bytes = malloc(*size);
    ck_assert_int_eq(tw_integrator_serialise(integrator, bytes, *size, size), TW_OK);
    return bytes;
}

/* Steps to the end; every step is interrupted at the asking number `first` and again at later ones, until it passes.
 * Returns the bytes at the end. */
static void *run(tw_scheme scheme, bool adaptive, int64_t first, size_t *size)
{
    tw_error error = {0};
    tw_simulation *simulation = simulation_of(rope);
    tw_integrator *integrator = NULL;
    tw_integrator_options options = tw_integrator_options_default();
    options.scheme = scheme;
    options.step = 0.004;
    if (adaptive) options.relative_tolerance = 1e-3;
    impatience user = {.left = INT64_MAX};
    tw_status status = tw_simulation_integrator(simulation, &options, &integrator, &error);
    if (status != TW_OK) {
        tw_simulation_free(simulation);
        return NULL;
    }

    tw_integrator_on_interrupt(integrator, wants_end, &user);
    double t = 0;
    for (int64_t patience = first; t < 0.02;) {
        user.left = patience;
        status = tw_integrator_step(integrator, 0.02, &error);
        if (status == TW_INTERRUPTED) {
            double t_now = 0;
            tw_integrator_state(integrator, &t_now, NULL);
            ck_assert_double_eq(t_now, t);
            patience = 2 * patience + 1;
        } else {
            ck_assert_msg(status == TW_OK, "%s: %s", tw_scheme_name(scheme), error.text);
            patience = first;
        }
        tw_integrator_state(integrator, &t, NULL);
    }

    ck_assert(user.asked > 0 || is_explicit(scheme));
    void *end = bytes_of(integrator, size);
    tw_integrator_free(integrator);
    tw_simulation_free(simulation);
    return end;
}

START_TEST(an_interrupted_step_has_never_been)
{
    tw_scheme scheme = _i;
    if (!tw_scheme_available(scheme) || scheme == TW_SCHEME_CVODE) return;
    for (int adaptive = 0; adaptive < 2; adaptive++) {
        size_t size = 0;
        void *whole = run(scheme, adaptive, INT64_MAX, &size);
        for (int64_t first = 0; whole && first < 8; first++) {
            void *parts = run(scheme, adaptive, first, &size);
            ck_assert_msg(memcmp(whole, parts, size) == 0, "%s, first %lld: another run",
                          tw_scheme_name(scheme), (long long)first);
            free(parts);
        }
        free(whole);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("interrupt");
    TCase *tests = tcase_create("interrupt");
    tcase_set_timeout(tests, 120);
    tcase_add_loop_test(tests, an_interrupted_step_has_never_been, 0, TW_SCHEME_COUNT);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
