/* Bytes that did not come from tw_integrator_serialise: refused, or harmless. Each double and each count of a snapshot
 * is replaced by values that nobody should believe; what is accepted must step without an endless loop. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <twang/twang.h>

#include "support/run_suite.h"

static const char head[] = "name: test\nduration: 0.1\ngravity: [0, 0, -9.81]\n";
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
enum { SURE_NUMBERS = 8 }; /* at the end, fewer than any of these has */
enum { SCENES = sizeof scenes / sizeof *scenes };

typedef struct setup {
    tw_scene *scene;
    tw_simulation *simulation;
    tw_integrator *integrator;
    char *bytes;
    size_t size;
} setup;

static const char *const schemes[] = {"verlet", "bdf2", "expmid2", "exprb42", "etdrk4", "v-imex"};
enum { SCHEMES = sizeof schemes / sizeof *schemes };

/* Three steps of a scene by a scheme. */
static void begin(setup *s, int which)
{
    char text[1024];
    int length = snprintf(text, sizeof text, "%sintegrator: {name: %s, step: 0.01}\n%s", head,
                          schemes[which % SCHEMES], scenes[which / SCHEMES]);
    ck_assert_int_eq(tw_scene_parse("test", text, (size_t)length, 0, NULL, &s->scene, NULL), TW_OK);
    ck_assert_int_eq(tw_scene_build(s->scene, &s->simulation, NULL), TW_OK);
    ck_assert_int_eq(tw_scene_create_integrator(s->scene, s->simulation, &s->integrator, NULL),
                     TW_OK);
    ck_assert_int_eq(
        tw_integrator_start(s->integrator, 0, tw_simulation_start(s->simulation), NULL), TW_OK);
    for (int i = 0; i < 3; i++)
        ck_assert_int_eq(tw_integrator_step(s->integrator, 0.1, NULL), TW_OK);
    ck_assert_int_eq(tw_integrator_serialise(s->integrator, NULL, 0, &s->size), TW_OK);
    s->bytes = malloc(s->size);
    ck_assert_int_eq(tw_integrator_serialise(s->integrator, s->bytes, s->size, &s->size), TW_OK);
}

static void end(setup *s)
{
    free(s->bytes);
    tw_integrator_free(s->integrator);
    tw_simulation_free(s->simulation);
    tw_scene_free(s->scene);
}

/* Every eight bytes in turn become each of these. */
START_TEST(no_value_is_believed)
{
    setup s = {0};
    begin(&s, _i);
    const double values[] = {NAN, INFINITY, -1e300, 1e300, -1};
    const int64_t counts[] = {INT64_MIN, INT64_MAX, -1};
    int accepted = 0;
    for (size_t at = 0; at + 8 <= s.size; at += 8)
        for (int v = 0; v < 8; v++) {
            char *copy =
                malloc(s.size); /* of this size, so that a sanitizer sees reads behind it */
            memcpy(copy, s.bytes, s.size);
            if (v < 5)
                memcpy(copy + at, &values[v], 8);
            else
                memcpy(copy + at, &counts[v - 5], 8);
            tw_status status = tw_integrator_restore(s.integrator, copy, s.size, NULL);
            free(copy);
            if (status != TW_OK) continue;

            accepted++;
            double t = 0;
            tw_integrator_state(s.integrator, &t, NULL);
            ck_assert(isfinite(t));
            for (int k = 0; k < 5 && t < 0.1; k++) {
                status = tw_integrator_step(s.integrator, 0.1, NULL);
                tw_integrator_state(s.integrator, &t, NULL);
                if (status != TW_OK) break;
            }
        }
    ck_assert_int_gt(accepted, 0);
    end(&s);
}
END_TEST

/* NaN anywhere, an overflowing count anywhere: never accepted where the integrator reads it. */
START_TEST(nan_is_refused_everywhere)
{
    setup s = {0};
    begin(&s, _i);
    for (size_t at = 0; at + 8 <= s.size; at += 8) {
        double before = 0;
        double nan_value = NAN;
        memcpy(&before, s.bytes + at, 8);
        memcpy(s.bytes + at, &nan_value, 8);
        tw_status status = tw_integrator_restore(s.integrator, s.bytes, s.size, NULL);

        /* The bytes end with numbers: of the state, the history, the lists, the internal variables. */
        if (at + 8 * SURE_NUMBERS >= s.size) ck_assert_int_eq(status, TW_BAD_INPUT);

        /* Only flags of 32 bits, of which any value but 0 means yes, may pass. */
        double u[64] = {0};
        if (status == TW_OK) tw_integrator_state(s.integrator, NULL, u);
        int64_t entries = tw_simulation_state_size(s.simulation);
        ck_assert_int_le(entries, 64);
        for (int64_t i = 0; i < entries; i++) ck_assert_msg(isfinite(u[i]), "byte %zu", at);
        memcpy(s.bytes + at, &before, 8);
    }
    end(&s);
}
END_TEST

/* A size that agrees with its own header but not with what follows. */
START_TEST(short_bytes_are_not_read_beyond_their_end)
{
    setup s = {0};
    begin(&s, _i);
    for (size_t size = 0; size < s.size; size += 8) {
        char *copy = malloc(size + 1);
        memcpy(copy, s.bytes, size);
        uint64_t claimed = size;
        if (size >= 16) memcpy(copy + 8, &claimed, 8);
        ck_assert_int_eq(tw_integrator_restore(s.integrator, copy, size, NULL), TW_BAD_INPUT);
        free(copy);
    }
    end(&s);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("hostile checkpoint");
    TCase *cases = tcase_create("restore");
    int count = SCHEMES * SCENES;
    tcase_set_timeout(cases, 120);
    tcase_add_loop_test(cases, no_value_is_believed, 0, count);
    tcase_add_loop_test(cases, nan_is_refused_everywhere, 0, count);
    tcase_add_loop_test(cases, short_bytes_are_not_read_beyond_their_end, 0, count);
    suite_add_tcase(suite, cases);
    return run_suite(suite);
}
