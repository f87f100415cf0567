/* A step that the user interrupts, at whatever evaluation, has never been: the run ends in the same bytes. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <twang/twang.h>

#include "support/run_suite.h"

static const char rope[] =
    "name: rope\nduration: 1\nintegrator: {name: rk4, step: 0.01}\n"
    "gravity: [0, 0, -9.81]\nbodies: [{kind: rope, count: 6}]\npins: [{from: 0}]\n";

/* Two boxes that stand in each other's way: searches for contacts ask, too. */
static const char boxes[] =
    "name: boxes\nduration: 1\nintegrator: {name: rk4, step: 0.01}\nbodies:\n"
    "  - {kind: box, cells: [2, 2, 2], size: [1, 1, 1], density: 1, stiffness: 10, velocity: [3, "
    "0, 0]}\n"
    "  - {kind: box, cells: [2, 2, 2], size: [1, 1, 1], density: 1, stiffness: 10, origin: [1.03, "
    "0, 0]}\n"
    "contact: {distance: 0.02, stiffness: 100}\n";

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
static void *run(const char *text, tw_scheme scheme, bool adaptive, int64_t first, size_t *size)
{
    tw_error error = {0};
    tw_simulation *simulation = simulation_of(text);
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

    /* Implicit Euler asks before each evaluation; what is asked besides comes from searches. */
    int64_t evaluations = tw_integrator_statistics_now(integrator).force_evaluations;
    if (text == boxes && scheme == TW_SCHEME_BDF1) ck_assert_int_gt(user.asked, evaluations);
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
        void *whole = run(rope, scheme, adaptive, INT64_MAX, &size);
        for (int64_t first = 0; whole && first < 8; first++) {
            void *parts = run(rope, scheme, adaptive, first, &size);
            ck_assert_msg(memcmp(whole, parts, size) == 0, "%s, first %lld: another run",
                          tw_scheme_name(scheme), (long long)first);
            free(parts);
        }
        free(whole);
    }
}
END_TEST

/* The question that is asked before each evaluation is asked in the search before the step as well. */
START_TEST(a_search_for_contacts_is_interrupted)
{
    static const tw_scheme schemes[] = {TW_SCHEME_SEMI_IMPLICIT, TW_SCHEME_BDF1, TW_SCHEME_MIDPOINT,
                                        TW_SCHEME_EXPRB42};
    tw_scheme scheme = schemes[_i];
    size_t size = 0;
    void *whole = run(boxes, scheme, false, INT64_MAX, &size);
    ck_assert_ptr_nonnull(whole);
    for (int64_t first = 0; first < 8; first++) {
        void *parts = run(boxes, scheme, false, first, &size);
        ck_assert_msg(memcmp(whole, parts, size) == 0, "%s, first %lld: another run",
                      tw_scheme_name(scheme), (long long)first);
        free(parts);
    }
    free(whole);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("interrupt");
    TCase *tests = tcase_create("interrupt");
    tcase_set_timeout(tests, 120);
    tcase_add_loop_test(tests, an_interrupted_step_has_never_been, 0, TW_SCHEME_COUNT);
    tcase_add_loop_test(tests, a_search_for_contacts_is_interrupted, 0, 4);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
