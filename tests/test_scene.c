/* The scene loader: every broken file gets its message, every key is documented and has a default that is right. */
#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <twang/twang.h>

#include "support/comma_locale.h"
#include "support/failing_allocator.h"
#include "support/run_suite.h"

static const char minimal[] =
    "name: x\nduration: 1\nintegrator: {step: 0.5}\nsystem: {kind: fput}\n";
static const char rope[] =
    "name: rope\nduration: 0.4\ngravity: [0, 0, -9.81]\nintegrator: {name: verlet, step: 0.001}\n"
    "bodies:\n  - {kind: rope, count: 3}\npins:\n  - {from: 0}\n";

static tw_scene *parsed(const char *text, int count, const tw_scene_setting *settings)
{
    tw_scene *scene = NULL;
    tw_error error = {0};
    tw_scene_parse("test.yaml", text, strlen(text), count, settings, &scene, &error);
    ck_assert_msg(scene != NULL, "%s", error.text);
    return scene;
}

static void refused(const char *text, int count, const tw_scene_setting *settings,
                    const char *expected)
{
    tw_scene *scene = NULL;
    tw_error error = {0};
    ck_assert_int_eq(
        tw_scene_parse("test.yaml", text, strlen(text), count, settings, &scene, &error),
        TW_BAD_INPUT);
    ck_assert_int_eq(error.status, TW_BAD_INPUT);
    ck_assert_ptr_null(scene);
    ck_assert_str_eq(error.text, expected);
}

/* ---- the folder of broken files ---- */

static void read_line(const char *path, char *line, int size)
{
    FILE *file = fopen(path, "r");
    ck_assert_msg(file && fgets(line, size, file), "%s", path);
    line[strcspn(line, "\n")] = '\0';
    fclose(file);
}

/* As `twang check` does: load, build, create the integrator. */
static tw_status whole_check(const char *path, tw_error *error)
{
    tw_scene *scene = NULL;
    tw_simulation *simulation = NULL;
    tw_integrator *integrator = NULL;
    tw_status status = tw_scene_load(path, 0, NULL, &scene, error);
    if (status == TW_OK) status = tw_scene_build(scene, &simulation, error);
    if (status == TW_OK) status = tw_scene_create_integrator(scene, simulation, &integrator, error);
    tw_integrator_free(integrator);
    tw_simulation_free(simulation);
    tw_scene_free(scene);
    return status;
}

START_TEST(every_broken_file_gets_its_message)
{
    char folder[1000];
    snprintf(folder, sizeof folder, "%s/tests/bad_input", getenv("TWANG_SOURCE"));
    DIR *directory = opendir(folder);
    ck_assert_ptr_nonnull(directory);
    int count = 0;
    for (struct dirent *entry; (entry = readdir(directory));) {
        size_t length = strlen(entry->d_name);
        if (length < 6 || strcmp(entry->d_name + length - 5, ".yaml") != 0) continue;
        char path[1300], sidecar[1320], expected[600], full[2000];
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        snprintf(sidecar, sizeof sidecar, "%.*s.expected", (int)strlen(path) - 5, path);
        read_line(sidecar, expected, sizeof expected);
        snprintf(full, sizeof full, "%s:%s", path, expected);
        full[TW_ERROR_TEXT_SIZE - 1] = '\0';
        tw_error error = {0};
        ck_assert_msg(whole_check(path, &error) == TW_BAD_INPUT, "%s: %s", path,
                      tw_status_text(error.status));
        ck_assert_str_eq(error.text, full);
        count++;
    }
    closedir(directory);
    ck_assert_int_ge(count, 120);
}
END_TEST

START_TEST(every_scene_of_the_tree_is_right)
{
    static const char *const names[] = {"fput",      "stiff-line",   "rope",       "coil",
                                        "coil-hard", "bar",          "cantilever", "drop",
                                        "eiffel",    "eiffel-stiff", "flag",       "hair"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char path[1000];
        tw_error error = {0};
        snprintf(path, sizeof path, "%s/scenes/%s.yaml", getenv("TWANG_SOURCE"), names[i]);
        ck_assert_msg(whole_check(path, &error) == TW_OK, "%s", error.text);
    }
}
END_TEST

/* ---- limits ---- */

START_TEST(a_million_values_are_the_limit)
{
    size_t size = 2100000;
    char *text = malloc(size);
    ck_assert_ptr_nonnull(text);
    size_t length = (size_t)snprintf(text, size, "name: [");
    for (int i = 0; i < 1000001; i++) {
        text[length++] = '1';
        text[length++] = ',';
    }
    snprintf(text + length, size - length, "]\n");
    tw_scene *scene = NULL;
    tw_error error = {0};
    ck_assert_int_eq(tw_scene_parse("big.yaml", text, strlen(text), 0, NULL, &scene, &error),
                     TW_BAD_INPUT);
    ck_assert_msg(strstr(error.text, "more than 1000000 values") != NULL, "%s", error.text);
    free(text);
}
END_TEST

START_TEST(an_error_is_one_line_whatever_the_key_is)
{
    refused("\"a\\nb\": 1\n", 0, NULL,
            "test.yaml:1:1: unknown key a\\x0ab, known here are name, duration, fps, gravity, "
            "integrator, phi, output, "
            "system, bodies, pins, forces, motions, obstacles, contact, fluid, tests");
}
END_TEST

START_TEST(a_missing_file_is_bad_input)
{
    tw_scene *scene = NULL;
    tw_error error = {0};
    ck_assert_int_eq(tw_scene_load("no/such.yaml", 0, NULL, &scene, &error), TW_BAD_INPUT);
    ck_assert_str_eq(error.text, "no/such.yaml: cannot be opened: No such file or directory");
    ck_assert_int_eq(tw_scene_load("/", 0, NULL, &scene, &error), TW_BAD_INPUT);
    ck_assert_int_eq(tw_scene_load(NULL, 0, NULL, &scene, &error), TW_INVALID_ARGUMENT);
    ck_assert_int_eq(tw_scene_load("x", 0, NULL, NULL, NULL), TW_INVALID_ARGUMENT);
}
END_TEST

/* ---- the schema ---- */

START_TEST(every_key_is_documented)
{
    tw_scene_key key;
    int count = 0;
    for (; tw_scene_key_at(count, &key) == TW_OK; count++) {
        ck_assert_msg(strlen(key.text) > 4, "%s.%s", key.section, key.key);
        ck_assert_msg(strlen(key.type) > 4, "%s.%s", key.section, key.key);
        ck_assert_msg(!(key.required && key.fallback[0]), "%s.%s", key.section, key.key);
    }
    ck_assert_int_gt(count, 50);
    ck_assert_int_eq(tw_scene_key_at(-1, &key), TW_INVALID_ARGUMENT);
}
END_TEST

START_TEST(defaults_of_the_schema_are_those_of_the_library)
{
    tw_scene *scene = parsed(minimal, 0, NULL);
    tw_integrator_options o = tw_scene_integrator_options(scene),
                          d = tw_integrator_options_default();
    d.step = 0.5;
    ck_assert_int_eq(o.scheme, d.scheme);
    ck_assert_double_eq(o.step, d.step);
    ck_assert_double_eq(o.relative_tolerance, d.relative_tolerance);
    ck_assert_double_eq(o.absolute_tolerance, d.absolute_tolerance);
    ck_assert_double_eq(o.reference[0] + o.reference[1], d.reference[0] + d.reference[1]);
    ck_assert_double_eq(o.smallest_step, d.smallest_step);
    ck_assert_double_eq(o.largest_step, d.largest_step);
    ck_assert_int_eq(o.max_steps, d.max_steps);
    ck_assert_int_eq(o.controller, d.controller);
    ck_assert_double_eq(o.energy_gain_bound, d.energy_gain_bound);
    ck_assert_double_eq(o.pexprb43.nodes[0], d.pexprb43.nodes[0]);
    ck_assert_double_eq(o.pexprb43.nodes[1], d.pexprb43.nodes[1]);
    ck_assert_int_eq(o.expmid4.passes, d.expmid4.passes);
    ck_assert_double_eq(o.expmid2.filter_cutoff, d.expmid2.filter_cutoff);
    ck_assert_double_eq(o.expmid2.dissipation, d.expmid2.dissipation);
    ck_assert_double_eq(o.newton.reuse_factor, d.newton.reuse_factor);
    ck_assert_double_eq(o.newton.tolerance, d.newton.tolerance);
    ck_assert_int_eq(o.newton.max_iterations, d.newton.max_iterations);
    ck_assert_int_eq(o.newton.linear_solver, d.newton.linear_solver);
    ck_assert_double_eq(o.generalized_alpha.spectral_radius, d.generalized_alpha.spectral_radius);
    ck_assert_int_eq(o.gautschi.filter, d.gautschi.filter);
    ck_assert_int_eq(o.v_imex.renew_tangent, d.v_imex.renew_tangent);
    ck_assert_int_eq(o.phi.engine, d.phi.engine);
    ck_assert_double_eq(o.phi.tolerance, d.phi.tolerance);
    ck_assert_int_eq(o.phi.inner_product, d.phi.inner_product);
    ck_assert_int_eq(o.phi.max_dimension, d.phi.max_dimension);
    ck_assert_int_eq(o.phi.max_products, d.phi.max_products);
    ck_assert_double_eq(o.phi.pole, d.phi.pole);
    tw_scene_free(scene);
}
END_TEST

/* Every choice reaches the member it belongs to: all schemes, all engines, and one of each other kind. */
START_TEST(every_option_reaches_the_integrator)
{
    for (int i = 0; i < TW_SCHEME_COUNT; i++) {
        if (!tw_scheme_available((tw_scheme)i)) continue;
        tw_scene_setting set = {"--integrator", "integrator.name", tw_scheme_name((tw_scheme)i)};
        tw_scene *scene = parsed(minimal, 1, &set);
        ck_assert_int_eq(tw_scene_integrator_options(scene).scheme, i);
        tw_scene_free(scene);
    }
    for (int i = 0; i < TW_PHI_ENGINE_COUNT; i++) {
        tw_scene_setting set = {"--phi", "phi.name", tw_phi_engine_name((tw_phi_engine)i)};
        tw_scene *scene = parsed(minimal, 1, &set);
        ck_assert_int_eq(tw_scene_integrator_options(scene).phi.engine, i);
        tw_scene_free(scene);
    }
    const tw_scene_setting all[] = {{"t", "integrator.rtol", "1e-5"},
                                    {"t", "integrator.reference", "[1, 2]"},
                                    {"t", "integrator.controller", "cost"},
                                    {"t", "integrator.linear_solver", "pcg"},
                                    {"t", "integrator.filter", "hochbruck-lubich"},
                                    {"t", "integrator.imex_tangent", "true"},
                                    {"t", "integrator.passes", "3"},
                                    {"t", "integrator.max_steps", "5000000000"},
                                    {"t", "phi.inner_product", "energy"}};
    tw_scene *scene = parsed(minimal, 9, all);
    tw_integrator_options o = tw_scene_integrator_options(scene);
    ck_assert_double_eq(o.relative_tolerance, 1e-5);
    ck_assert_double_eq(o.reference[1], 2.0);
    ck_assert_int_eq(o.controller, TW_CONTROLLER_COST);
    ck_assert_int_eq(o.newton.linear_solver, TW_LINEAR_PCG);
    ck_assert_int_eq(o.gautschi.filter, TW_FILTER_HOCHBRUCK_LUBICH);
    ck_assert_int_eq(o.v_imex.renew_tangent, 1);
    ck_assert_int_eq(o.expmid4.passes, 3);
    ck_assert(o.max_steps == 5000000000);
    ck_assert_int_eq(o.phi.inner_product, TW_INNER_ENERGY);
    tw_scene_free(scene);
}
END_TEST

/* What a kind cannot do without. */
static const char *needs_of(const char *kind)
{
    static const char *const needs[][2] = {
        {"cloth", ", stiffness: 1, shear: 1, bending: 1"},
        {"tower", ", stiffness: 1, stiffness_below: 1"},
        {"mesh", ", file: x.obj"},
        {"fibres", ", length: 1, thickness: 1, youngs_modulus: 1, shear_modulus: 1, density: 1, "
                   "roots: {points: x.csv}"},
        {"car", ", stiffness: 1"},
        {"rope", ", plasticity: {yield_strain: 0.02}"},
        {"dashpots", ", damping: 1"},
        {"wind", ", velocity: [1, 0, 0]"},
        {"shaking", ", acceleration: [1, 0, 0], frequency: 1"},
        {"load", ", force: [1, 0, 0]"},
        {"velocity", ", velocity: [1, 0, 0]"},
        {"oscillation", ", amplitude: [1, 0, 0], frequency: 1"},
        {"rotation", ", rate: 1"},
        {"keyframes", ", frames: [{t: 0, displacement: [0, 0, 0]}]"}};
    for (size_t i = 0; i < sizeof needs / sizeof *needs; i++)
        if (strcmp(kind, needs[i][0]) == 0) return needs[i][1];
    return "";
}

/* The obstacles of the scene, and how each moves. */
static const char obstacles[] =
    "  - {kind: plane, motion: {kind: velocity, velocity: [0, 0, 0]}}\n"
    "  - {kind: sphere, radius: 1, motion: {kind: oscillation, "
    "amplitude: [1, 0, 0], frequency: 1}}\n"
    "  - {kind: capsule, from: [0, 0, 0], to: [1, 0, 0], radius: 1, "
    "motion: {kind: rotation, rate: 1}}\n"
    "  - {kind: box, sides: [1, 1, 1], motion: {kind: keyframes, frames: "
    "[{t: 0, displacement: [0, 0, 0]}]}}\n"
    "  - {kind: mesh, file: x.obj, motion: {kind: formula}}\n"
    "  - {kind: mesh, file: x.obj, motion: {kind: sequence, files: "
    "x#.obj, count: 2}}\n";
static const char *const obstacle_kinds[][2] = {{"plane", "velocity"},   {"sphere", "oscillation"},
                                                {"capsule", "rotation"}, {"box", "keyframes"},
                                                {"mesh", "formula"},     {"mesh", "sequence"}};

/* A scene with one body, force and motion of these kinds, or a system. */
static void scene_of_kinds(const char *const kinds[3], char *text, size_t size)
{
    static const char top[] = "name: x\nduration: 1\nintegrator: {step: 0.5}\n";
    if (!kinds[1]) {
        snprintf(text, size, "%ssystem: {kind: %s}\n", top, kinds[0]);
        return;
    }
    snprintf(text, size,
             "%stests: {final: [{row: 0, position: [0, 0, 0], tolerance: 1}]}\npins:\n  - from: 0\n"
             "contact: {distance: 0.1}\nobstacles:\n%sbodies:\n  - {kind: %s%s}\nforces:\n  - "
             "{kind: %s%s}\nmotions:\n  - {kind: %s%s}\n",
             top, obstacles, kinds[0], needs_of(kinds[0]), kinds[1], needs_of(kinds[1]), kinds[2],
             needs_of(kinds[2]));
}

static bool has_word(const char *words, const char *word)
{
    size_t length = strlen(word);
    for (const char *at = words; (at = strstr(at, word)); at += length)
        if ((at == words || at[-1] == ' ') && (at[length] == ' ' || at[length] == '\0'))
            return true;
    return false;
}

/* The first obstacle that a key of obstacles (0) or of their motions (1) applies to. */
static int obstacle_with(const char *kinds, int of_motion)
{
    int count = sizeof obstacle_kinds / sizeof *obstacle_kinds;
    for (int i = 0; i < count; i++)
        if (!kinds[0] || has_word(kinds, obstacle_kinds[i][of_motion])) return i;
    ck_abort_msg("no obstacle of the kinds %s in the scene", kinds);
}

/* Where a key of an obstacle stands; false if the key is none. */
static bool obstacle_path(const tw_scene_key *key, char *path, size_t size)
{
    if (strcmp(key->section, "obstacles") == 0)
        snprintf(path, size, "obstacles.%d.%s", obstacle_with(key->kinds, 0), key->key);
    else if (strcmp(key->section, "obstacles.motion") == 0)
        snprintf(path, size, "obstacles.%d.motion.%s", obstacle_with(key->kinds, 1), key->key);
    else if (strcmp(key->section, "obstacles.motion.frames") == 0)
        snprintf(path, size, "obstacles.%d.motion.frames.0.%s", obstacle_with("keyframes", 1),
                 key->key);
    else
        return false;
    return true;
}

/* Where a key stands in such a scene: "bodies.0.mass"; false if it has no such key. */
static bool path_of(const tw_scene_key *key, const char *const kinds[3], char *path, size_t size)
{
    static const struct {
        const char *section, *prefix;
        int kind; /* which of the kinds it must apply to; -1: any */
    } places[] = {{"bodies", "bodies.0.", 0},
                  {"forces", "forces.0.", 1},
                  {"motions", "motions.0.", 2},
                  {"pins", "pins.0.", -1},
                  {"contact", "contact.", -1},
                  {"tests", "tests.", -1},
                  {"tests.final", "tests.final.0.", -1},
                  {"motions.frames", "motions.0.frames.0.", 3},
                  {"bodies.roots", "bodies.0.roots.", 4},
                  {"bodies.curl", "bodies.0.curl.", 4},
                  {"bodies.plasticity", "bodies.0.plasticity.", 5}};
    bool is_system = !kinds[1];
    if (!is_system && obstacle_path(key, path, size)) return true;
    if (strncmp(key->section, "obstacles", 9) == 0) return false;
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        if (strcmp(key->section, places[i].section) != 0) continue;
        snprintf(path, size, "%s%s", places[i].prefix, key->key);
        if (is_system) return false;
        if (places[i].kind == 3) return strcmp(kinds[2], "keyframes") == 0;
        if (places[i].kind == 4) return strcmp(kinds[0], "fibres") == 0;
        if (places[i].kind == 5) return strcmp(kinds[0], "rope") == 0;
        return places[i].kind < 0 || !key->kinds[0] || has_word(key->kinds, kinds[places[i].kind]);
    }
    snprintf(path, size, "%s%s%s", key->section, key->section[0] ? "." : "", key->key);
    return strcmp(key->section, "system") != 0 ||
           (is_system && (!key->kinds[0] || has_word(key->kinds, kinds[0])));
}

/* No key takes a value of the wrong type, and the error names it by its path. */
START_TEST(every_key_refuses_what_it_is_not)
{
    static const char *const kinds[][3] = {
        {"coil", "rayleigh", "velocity"}, {"cloth", "dashpots", "oscillation"},
        {"box", "wind", "rotation"},      {"bar", "shaking", "keyframes"},
        {"rope", "load", "velocity"},     {"tower", "load", "velocity"},
        {"mesh", "load", "velocity"},     {"fput", NULL, NULL},
        {"stiff-line", NULL, NULL},       {"fibres", "load", "velocity"},
        {"car", "load", "velocity"}};
    int count = 0;
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        char text[4000];
        tw_scene_key key;
        scene_of_kinds(kinds[k], text, sizeof text);
        for (int i = 0; tw_scene_key_at(i, &key) == TW_OK; i++) {
            char path[200], expected[300];
            if (!path_of(&key, kinds[k], path, sizeof path)) continue;
            tw_scene_setting set = {"--set", path, "[[wrong]]"};
            snprintf(expected, sizeof expected, "--set: %s", path);
            tw_scene *scene = NULL;
            tw_error error = {0};
            tw_status status = tw_scene_parse("x", text, strlen(text), 1, &set, &scene, &error);
            ck_assert_msg(status == TW_BAD_INPUT, "%s takes [[wrong]]", path);
            ck_assert_msg(strncmp(error.text, expected, strlen(expected)) == 0, "%s: %s", path,
                          error.text);
            count++;
        }
    }
    ck_assert_int_gt(count, 500);
}
END_TEST

/* ---- the resolved copy ---- */

START_TEST(the_resolved_copy_loads_to_itself)
{
    const tw_scene_setting set = {"--set", "bodies.0.stiffness", "1e8"};
    tw_scene *scene = parsed(rope, 1, &set), *again = NULL;
    char *text = NULL, *text_again = NULL;
    size_t size = 0, size_again = 0;
    tw_error error = {0};
    ck_assert_int_eq(tw_scene_write(scene, &text, &size, &error), TW_OK);
    ck_assert_int_eq(size, strlen(text));
    ck_assert_ptr_nonnull(strstr(text, "stiffness: 1e8"));
    ck_assert_ptr_nonnull(strstr(text, "gravity: [0, 0, -9.81]"));
    ck_assert_msg(tw_scene_parse("copy", text, size, 0, NULL, &again, &error) == TW_OK, "%s",
                  error.text);
    ck_assert_int_eq(tw_scene_write(again, &text_again, &size_again, &error), TW_OK);
    ck_assert_str_eq(text, text_again);
    tw_scene_free_text(text);
    tw_scene_free_text(text_again);
    tw_scene_free(scene);
    tw_scene_free(again);
}
END_TEST

/* ---- settings ---- */

START_TEST(settings_change_the_same_tree)
{
    const tw_scene_setting set[] = {
        {"a", "bodies.0.count", "7"},     {"b", "gravity", "[0, 0, 1]"},
        {"c", "gravity.2", "-2"},         {"d", "phi.tolerance", "1e-3"},
        {"e", "integrator.step", NULL},   {"f", "integrator.rtol", "1e-4"},
        {"g", "nothing.here", NULL},      {"h", "output", "{frames: none}"},
        {"i", "bodies.0.origin.1", NULL}, {"j", "name", "other"}};
    tw_scene *scene = parsed(rope, 10, set);
    ck_assert_double_eq(tw_scene_number(scene, "bodies.0.count", 0), 7.0);
    ck_assert_double_eq(tw_scene_number(scene, "gravity.2", 0), -2.0);
    ck_assert_double_eq(tw_scene_number(scene, "phi.tolerance", 0), 1e-3);
    ck_assert_double_eq(tw_scene_number(scene, "integrator.step", -1), -1.0);
    ck_assert_double_eq(tw_scene_integrator_options(scene).relative_tolerance, 1e-4);
    ck_assert_str_eq(tw_scene_word(scene, "output.frames"), "none");
    ck_assert_str_eq(tw_scene_name(scene), "other");
    ck_assert_ptr_null(tw_scene_word(scene, "bodies.1.kind"));
    tw_scene_free(scene);
}
END_TEST

START_TEST(wrong_settings_are_named_as_they_were_typed)
{
    static const struct {
        const char *path, *value, *message;
    } cases[] = {
        {"bodies.0.mas", "2", "--set x: unknown key bodies.0.mas, did you mean mass?"},
        {"bodies.0.mass", "-2", "--set x: bodies.0.mass is '-2', must be a number > 0 [kg]"},
        {"bodies.0.mass", "2kg", "--set x: bodies.0.mass is '2kg', must be a number > 0 [kg]"},
        {"bodies.0.mass", "[1",
         "--set x: did not find expected ',' or ']' while parsing a flow sequence; check the "
         "indentation, colons and brackets here"},
        {"bodies.0.mass", "", "--set x: the value is empty, write it after the equals sign"},
        {"bodies.0.mass.deep", "1",
         "--set x: 'mass' is a single value, nothing can be set inside it"},
        {"bodies.1.mass", "1", "--set x: the list has no entry '1', only 0 to 0"},
        {"bodies.x", "1", "--set x: the list has no entry 'x', only 0 to 0"},
        {"bodies..mass", "1",
         "--set x: 'bodies..mass' is no key path, write for example bodies.0.stiffness=1e6"},
        {"", "1", "--set x: '' is no key path, write for example bodies.0.stiffness=1e6"},
        {"gravity.", "1",
         "--set x: 'gravity.' is no key path, write for example bodies.0.stiffness=1e6"},
        {"integrator", "verlet",
         "--set x: integrator is a single value, must be a map of keys and values"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const tw_scene_setting set = {"--set x", cases[i].path, cases[i].value};
        const char *text = "name: rope\nduration: 1\nintegrator: {step: 0.1}\nbodies:\n  - {kind: "
                           "rope, mass: 1}\n";
        refused(text, 1, &set, cases[i].message);
    }
}
END_TEST

START_TEST(a_comma_locale_changes_nothing)
{
    ck_assert_msg(test_enter_comma_locale(), "no comma locale");
    tw_scene *scene = parsed(rope, 0, NULL);
    ck_assert_double_eq(tw_scene_duration(scene), 0.4);
    tw_scene_free(scene);
    refused("name: x\nduration: 0,4\n", 0, NULL,
            "test.yaml:2:11: duration is '0,4', must be a number > 0 [s]");
    refused("name: x\nduration: 1\nintegrator: {step: 0.1, spectral_radius: 1.5}\nsystem: {kind: "
            "fput}\n",
            0, NULL,
            "test.yaml:3:42: integrator.spectral_radius is '1.5', must be a number >= 0 and <= 1");
}
END_TEST

START_TEST(the_nearest_name_is_near)
{
    static const char *const names[] = {"stiffness", "step", "mass", "midpoint",
                                        "midpoint-explicit"};
    ck_assert_str_eq(tw_nearest_name("stifness", names, 5), "stiffness");
    ck_assert_str_eq(tw_nearest_name("setp", names, 5), "step");
    ck_assert_str_eq(tw_nearest_name("midpiont", names, 5), "midpoint");
    ck_assert_str_eq(tw_nearest_name("stiff", names, 5), "stiffness");
    static const char *const scenes[] = {"coil-hard", "coil", "drop", "rope"};
    ck_assert_str_eq(tw_nearest_name("rop", scenes, 4), "rope");
    ck_assert_str_eq(tw_nearest_name("coi", scenes, 4), "coil");
    ck_assert_str_eq(tw_nearest_name("ROPE", scenes, 4), "rope");
    ck_assert_str_eq(tw_nearest_name("Coil", scenes, 4), "coil");
    ck_assert_ptr_null(tw_nearest_name("frames", names, 5));
    ck_assert_ptr_null(tw_nearest_name("", names, 5));
    char longer[200];
    memset(longer, 'a', sizeof longer);
    longer[199] = '\0';
    ck_assert_ptr_null(tw_nearest_name(longer, names, 5));
}
END_TEST

/* ---- from a simulation to an integrator ---- */

START_TEST(a_simulation_becomes_an_integrator_that_has_started)
{
    tw_simulation *simulations[2] = {NULL};
    ck_assert_int_eq(tw_simulation_fput(3, 10, &simulations[0], NULL), TW_OK);
    ck_assert_int_eq(tw_simulation_stiff_line(10, (const double[]){1, 2}, &simulations[1], NULL),
                     TW_OK);
    tw_integrator_options options = tw_integrator_options_default();
    options.scheme = TW_SCHEME_RK4;
    options.step = 0.01;
    for (int i = 0; i < 2; i++) {
        tw_integrator *integrator = NULL;
        ck_assert_int_eq(tw_simulation_integrator(simulations[i], &options, &integrator, NULL),
                         TW_OK);
        size_t bytes = (size_t)tw_simulation_state_size(simulations[i]) * sizeof(double);
        ck_assert_mem_eq(tw_integrator_state_view(integrator), tw_simulation_start(simulations[i]),
                         bytes);
        ck_assert_int_eq(tw_integrator_step(integrator, 1, NULL), TW_OK);
        tw_integrator_free(integrator);
    }

    /* Verlet does not apply to a first-order problem; nothing is left behind. */
    tw_integrator *integrator = NULL;
    tw_error error = {0};
    options.scheme = TW_SCHEME_VERLET;
    ck_assert_int_eq(tw_simulation_integrator(simulations[1], &options, &integrator, &error),
                     TW_UNSUPPORTED);
    ck_assert_ptr_null(integrator);
    ck_assert_str_eq(error.text, "verlet needs a second-order problem");
    ck_assert_int_eq(tw_simulation_integrator(NULL, &options, &integrator, NULL),
                     TW_INVALID_ARGUMENT);
    for (int i = 0; i < 2; i++) tw_simulation_free(simulations[i]);
}
END_TEST

/* ---- memory ---- */

static tw_status load_build_and_write(void *context)
{
    (void)context;
    tw_scene *scene = NULL;
    tw_simulation *simulation = NULL;
    char *text = NULL;
    size_t size = 0;
    const tw_scene_setting set = {"--set", "bodies.0.count", "2"};
    tw_status status = tw_scene_parse("x", rope, strlen(rope), 1, &set, &scene, NULL);
    if (status == TW_OK) status = tw_scene_write(scene, &text, &size, NULL);
    if (status == TW_OK) status = tw_scene_build(scene, &simulation, NULL);
    tw_simulation_free(simulation);
    tw_scene_free_text(text);
    tw_scene_free(scene);
    return status;
}

START_TEST(memory_may_run_out_anywhere)
{
    ck_assert_int_gt(test_fail_each_allocation(load_build_and_write, NULL), 20);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("scene");
    TCase *cases = tcase_create("scene");
    tcase_set_timeout(cases, 300);
    tcase_add_test(cases, every_broken_file_gets_its_message);
    tcase_add_test(cases, every_scene_of_the_tree_is_right);
    tcase_add_test(cases, a_million_values_are_the_limit);
    tcase_add_test(cases, an_error_is_one_line_whatever_the_key_is);
    tcase_add_test(cases, a_missing_file_is_bad_input);
    tcase_add_test(cases, every_key_is_documented);
    tcase_add_test(cases, defaults_of_the_schema_are_those_of_the_library);
    tcase_add_test(cases, every_option_reaches_the_integrator);
    tcase_add_test(cases, every_key_refuses_what_it_is_not);
    tcase_add_test(cases, the_resolved_copy_loads_to_itself);
    tcase_add_test(cases, settings_change_the_same_tree);
    tcase_add_test(cases, wrong_settings_are_named_as_they_were_typed);
    tcase_add_test(cases, a_comma_locale_changes_nothing);
    tcase_add_test(cases, the_nearest_name_is_near);
    tcase_add_test(cases, a_simulation_becomes_an_integrator_that_has_started);
    tcase_add_test(cases, memory_may_run_out_anywhere);
    suite_add_tcase(suite, cases);
    return run_suite(suite);
}
