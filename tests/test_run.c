/* labels: threads */
/* Runs into directories: what they leave, and that a run that was interrupted ends in the same
 * bytes. */
#define _POSIX_C_SOURCE 200809L
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <twang/twang.h>
#include <unistd.h>

#include "support/comma_locale.h"
#include "support/failing_allocator.h"
#include "support/run_suite.h"
#include "support/temporary_folder.h"

static tw_scene *scene_of(const char *text)
{
    tw_scene *scene = NULL;
    tw_error error = {0};
    tw_scene_parse("test.yaml", text, strlen(text), 0, NULL, &scene, &error);
    ck_assert_msg(scene != NULL, "%s", error.text);
    return scene;
}

/* All of a file, terminated; NULL if it is not there. */
static char *contents(const char *directory, const char *name, size_t *size)
{
    char path[600];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    FILE *file = fopen(path, "rb");
    if (!file) return NULL;
    fseek(file, 0, SEEK_END);
    *size = (size_t)ftell(file);
    rewind(file);
    char *text = calloc(*size + 1, 1);
    ck_assert_int_eq(fread(text, 1, *size, file), *size);
    fclose(file);
    return text;
}

static void put(const char *directory, const char *name, const char *bytes, size_t size)
{
    char path[600];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    FILE *file = fopen(path, "wb");
    ck_assert_int_eq(fwrite(bytes, 1, size, file), size);
    fclose(file);
}

static void assert_same_file(const char *a, const char *b, const char *name)
{
    size_t size_a = 0, size_b = 0;
    char *text_a = contents(a, name, &size_a), *text_b = contents(b, name, &size_b);
    ck_assert_msg(text_a && text_b, "%s is missing", name);
    ck_assert_msg(size_a == size_b && memcmp(text_a, text_b, size_a) == 0, "%s differs", name);
    free(text_a);
    free(text_b);
}

static void assert_contains(const char *directory, const char *name, const char *part)
{
    size_t size = 0;
    char *text = contents(directory, name, &size);
    ck_assert_msg(text && strstr(text, part), "%s has no %s: %s", name, part,
                  text ? text : "(missing)");
    free(text);
}

static int lines_of(const char *directory, const char *name)
{
    size_t size = 0;
    char *text = contents(directory, name, &size);
    ck_assert_msg(text != NULL, "%s", name);
    int lines = 0;
    for (size_t i = 0; i < size; i++) lines += text[i] == '\n';
    free(text);
    return lines;
}

/* Stops after so many steps. */
static bool stop_after(void *context)
{
    return --*(int *)context <= 0;
}

static tw_status run_into(const char *directory, const char *text, int steps, tw_run_report *report,
                          tw_error *error)
{
    tw_scene *scene = scene_of(text);
    tw_run_options options = tw_run_options_default();
    options.directory = directory;
    if (steps > 0) {
        options.stop = stop_after;
        options.context = &steps;
    }
    tw_status status = tw_run_scene(scene, &options, report, error);
    tw_scene_free(scene);
    return status;
}

static tw_status resume(const char *directory, int steps, int threads, tw_run_report *report,
                        tw_error *error)
{
    tw_run_options options = tw_run_options_default();
    options.threads = threads;
    if (steps > 0) {
        options.stop = stop_after;
        options.context = &steps;
    }
    return tw_run_resume(directory, &options, report, error);
}

#define ROPE(integrator)                                                                           \
    "name: rope\nduration: 0.2\nfps: 50\ngravity: [0, 0, -9.81]\nphi: {name: dense, tolerance: "   \
    "1e-8}\n"                                                                                      \
    "integrator: " integrator "\nbodies:\n  - {kind: rope, count: 4}\npins:\n  - {from: 0}\n"
static const char fixed_rope[] = ROPE("{name: verlet, step: 0.0007}");

/* ---- what a run leaves ---- */

START_TEST(a_run_leaves_what_it_promises)
{
    test_enter_temporary_folder();
    tw_run_report report;
    tw_error error = {0};
    ck_assert_msg(run_into("out", fixed_rope, 0, &report, &error) == TW_OK, "%s", error.text);
    ck_assert_str_eq(report.directory, "out");
    ck_assert_int_eq(report.steps, 286); /* ceil(0.2 / 0.0007) */
    ck_assert_double_eq(report.t, 0.2);
    ck_assert_int_eq(report.frames, 11);
    ck_assert_int_eq(lines_of("out", "final.csv"), 6);
    ck_assert_int_eq(lines_of("out", "telemetry.csv"), 287);
    ck_assert_int_eq(lines_of("out", "frames/frame_000010.csv"), 6);
    assert_contains("out", "final.csv", "x,y,z,vx,vy,vz\n0,0,0,0,0,0\n");
    static const char *const keys[] = {"status",         "integrator",        "phi",
                                       "wall_seconds",   "simulated_seconds", "steps",
                                       "rejected_steps", "force_evaluations", "stiffness_products",
                                       "solves",         "factorizations",    "peak_memory_bytes",
                                       "energy_start",   "energy_end",        "energy_drift_max",
                                       "resumed_at",     "threads",           "version"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        char quoted[64];
        snprintf(quoted, sizeof quoted, "\"%s\": ", keys[i]);
        assert_contains("out", "run.json", quoted);
    }
    assert_contains("out", "run.json", "\"status\": \"done\"");
    assert_contains("out", "run.json", "\"steps\": 286");
    /* the last frame is the end */
    size_t size_a = 0, size_b = 0;
    char *frame = contents("out", "frames/frame_000010.csv", &size_a),
         *final = contents("out", "final.csv", &size_b);
    ck_assert_str_eq(frame, final);
    free(frame);
    free(final);
    test_leave_temporary_folder();
}
END_TEST

START_TEST(an_existing_directory_is_refused_without_force)
{
    test_enter_temporary_folder();
    tw_run_report report;
    tw_error error = {0};
    tw_scene *scene = scene_of(fixed_rope);
    tw_run_options options = tw_run_options_default();
    ck_assert_int_eq(mkdir("out", 0777), 0);
    put("out", "mine.txt", "keep", 4);
    options.directory = "out/";
    ck_assert_int_eq(tw_run_scene(scene, &options, &report, &error), TW_BAD_INPUT);
    ck_assert_str_eq(error.text, "out: exists already, name another directory or give --force");

    /* Force replaces runs, and nothing that is no run. */
    options.force = true;
    ck_assert_int_eq(tw_run_scene(scene, &options, &report, &error), TW_BAD_INPUT);
    assert_contains("out", "mine.txt", "keep");
    options.directory = "run";
    ck_assert_int_eq(tw_run_scene(scene, &options, &report, &error), TW_OK);
    put("run", "mine.txt", "keep", 4);
    ck_assert_int_eq(tw_run_scene(scene, &options, &report, &error), TW_OK);
    assert_contains("run", "mine.txt", "keep");
    options.directory = NULL;
    for (int i = 1; i <= 2; i++) {
        char name[32];
        snprintf(name, sizeof name, "runs/rope-%d", i);
        ck_assert_int_eq(tw_run_scene(scene, &options, &report, &error), TW_OK);
        ck_assert_str_eq(report.directory, name);
    }
    tw_scene_free(scene);
    test_leave_temporary_folder();
}
END_TEST

START_TEST(a_step_that_cannot_be_trusted_ends_the_run)
{
    test_enter_temporary_folder();
    tw_run_report report;
    tw_error error = {0};
    tw_status status = run_into("out", ROPE("{name: verlet, step: 0.02}"), 0, &report, &error);
    ck_assert_int_ne(status, TW_OK);
    ck_assert_int_ne(status, TW_BAD_INPUT);
    assert_contains("out", "run.json", "\"status\": \"failed\"");
    assert_contains("out", "run.json", "cannot be trusted");
    ck_assert_int_eq(lines_of("out", "last_good.csv"), 6);
    size_t size = 0;
    ck_assert_ptr_null(contents("out", "final.csv", &size));
    /* and resuming it fails in the same place, not with something else */
    tw_error again = {0};
    ck_assert_int_eq(resume("out", 0, 0, &report, &again), status);
    ck_assert_str_eq(again.text, error.text);
    test_leave_temporary_folder();
}
END_TEST

/* Baraff's stiff line: explicit Euler has the limit step * k = 2 and says so, the others have none.
 * */
START_TEST(only_explicit_methods_fail_on_the_stiff_line)
{
    static const struct {
        const char *name;
        double step;
        bool good;
    } cases[] = {{"euler", 0.0019, true}, {"euler", 0.0021, false}, {"rk4", 0.0027, true},
                 {"rk4", 0.003, false},   {"exprb2", 0.1, true},    {"exprb42", 1, true},
                 {"bdf1", 0.1, true},     {"midpoint", 0.1, true}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        test_enter_temporary_folder();
        char text[300];
        tw_run_report report;
        tw_error error = {0};
        snprintf(
            text, sizeof text,
            "name: l\nduration: 1\nfps: 0\nintegrator: {name: %s, step: %g}\nphi: {name: dense}\n"
            "system: {kind: stiff-line, k: 1000}\n",
            cases[i].name, cases[i].step);
        tw_status status = run_into("out", text, 0, &report, &error);
        ck_assert_msg((status == TW_OK) == cases[i].good, "%s %g: %s", cases[i].name, cases[i].step,
                      error.text);
        if (!cases[i].good) assert_contains("out", "run.json", "cannot be trusted");
        test_leave_temporary_folder();
    }
}
END_TEST

/* ---- energy ---- */

/* A cloth with something that gives or takes energy: kinetic + potential changes by much, and all
 * but errors of the scheme is accounted for. */
START_TEST(work_is_no_energy_error)
{
    static const char everything[] =
        "motions: [{kind: oscillation, from: 0, to: 5, amplitude: [0, 0.1, 0.05], frequency: 2}]\n"
        "forces: [{kind: rayleigh, alpha: 1, beta: 0.001}, {kind: wind, velocity: [0, 5, 0]}, "
        "{kind: dashpots, damping: 0.1}, {kind: load, from: 20, force: [1, 0, 0]}]\n";
    static const char *const what[] = {
        "pins: [{from: 0}]\nforces: [{kind: rayleigh, alpha: 1, beta: 0.001}]\n",
        "pins: [{from: 0}]\nforces: [{kind: dashpots, damping: 2}]\n",
        "pins: [{from: 0}]\nforces: [{kind: wind, velocity: [0, 5, 0], gust: 0.5, frequency: 2}]\n",
        "pins: [{from: 0}]\nforces: [{kind: shaking, acceleration: [20, 0, 0], frequency: 3}]\n",
        "motions: [{kind: oscillation, from: 0, to: 5, amplitude: [0, 0.1, 0.05], frequency: 2}]\n",
        everything};
    char text[1000];
    tw_run_report report;
    tw_error error = {0};
    test_enter_temporary_folder();
    snprintf(text, sizeof text,
             "name: cloth\nduration: 1\nfps: 0\ngravity: [0, 0, -9.81]\nintegrator: {name: rk4, "
             "step: 5e-4}\n"
             "bodies: [{kind: cloth, columns: 6, rows: 6, density: 0.5, stiffness: 1e3, shear: "
             "1e2, bending: 10, "
             "hardening: 2}]\n%s",
             what[_i]);
    ck_assert_msg(run_into("out", text, 0, &report, &error) == TW_OK, "%s", error.text);
    size_t size = 0;
    char *telemetry = contents("out", "telemetry.csv", &size);
    double t = 0, kinetic = 0, potential = 0, total = 0, change = 0, largest = 0;
    for (const char *line = strchr(telemetry, '\n') + 1; *line; line = strchr(line, '\n') + 1) {
        ck_assert_int_eq(sscanf(line, "%lf,%*d,%*f,%lf,%lf,%lf", &t, &kinetic, &potential, &total),
                         4);
        change = fmax(change, fabs(total - 2.4525)); /* 0.5 kg at 0.5 m */
        largest = fmax(largest, kinetic);
    }
    free(telemetry);
    ck_assert_msg(change > 0.005 * largest, "the energy changes by %g of the kinetic only",
                  change / largest);
    ck_assert_msg(report.energy_drift_max < 1e-4, "drift %g", report.energy_drift_max);
}
END_TEST

/* Runs whose step ends are off the slow manifold: energy is judged at the stage, and says so. A
 * scheme that really loses energy still shows it. */
START_TEST(strain_at_step_ends_is_no_energy_error)
{
    static const char *const bodies[] = {
        "{kind: rope, count: 10, length: 1, direction: [1, 0, 0], mass: 0.1, stiffness: 1e8}",
        "{kind: rope, count: 1, length: 1, direction: [1, 0, 0], mass: 1, stiffness: 1e6}"};
    static const double steps[] = {0.01, 0.05};
    static const struct {
        const char *scheme, *place;
        double least, most; /* of the drift */
    } kinds[] = {{"expmid2", "\"energy_at\": \"stage\"", 0, 1e-2},
                 {"bdf1", "\"energy_at\": \"step end\"", 2e-2, 10}};
    test_enter_temporary_folder();
    for (int k = 0; k < 2; k++) {
        char text[500];
        tw_run_report report;
        tw_error error = {0};
        snprintf(text, sizeof text,
                 "name: rope\nduration: 1\nfps: 0\ngravity: [0, 0, -9.81]\nintegrator: {name: %s, "
                 "step: %g}\nbodies: [%s]\npins: [{from: 0}]\n",
                 kinds[k].scheme, steps[_i], bodies[_i]);
        ck_assert_msg(run_into(kinds[k].scheme, text, 0, &report, &error) == TW_OK, "%s",
                      error.text);
        printf("%s: drift %.1e, %g J\n", kinds[k].scheme, report.energy_drift_max,
               report.energy_error_max);
        ck_assert_msg(report.energy_drift_max >= kinds[k].least, "drift %g",
                      report.energy_drift_max);
        ck_assert_msg(report.energy_drift_max <= kinds[k].most, "drift %g",
                      report.energy_drift_max);
        assert_contains(kinds[k].scheme, "run.json", kinds[k].place);
        assert_contains(
            kinds[k].scheme, "telemetry.csv",
            ",outside_work,energy_t,contacts,penetration_max,contact_work,friction_"
            "work,plastic_work,contact_impulse_x,contact_impulse_y,contact_impulse_z\n");
    }
}
END_TEST

/* A stiff block that is let go sags by micrometres and vibrates far above what the step resolves: at
 * the stages nothing moves but by 1e-16 m/s. The energy error is what this vibration holds, m g/2 times
 * the sag, all of the energy converted. What follows, and the rounding of the potential energy, are no
 * error beside it. */
START_TEST(an_unresolved_vibration_is_named)
{
    tw_run_report report;
    tw_error error = {0};
    test_enter_temporary_folder();
    static const char stiff[] = "name: block\nduration: 1\nfps: 0\ngravity: [0, 0, "
                                "-9.81]\nintegrator: {name: expmid2, step: 0.02}\n"
                                "bodies: [{kind: box, density: 1000, material: neo-hookean, "
                                "youngs_modulus: 4e7, cells: [3, 3, 3]}]\n"
                                "pins: [{lowest: 0.05}]\n";
    ck_assert_msg(run_into("out", stiff, 0, &report, &error) == TW_OK, "%s", error.text);
    printf("block: error %g J, unresolved %g J, drift %g\n", report.energy_error_max,
           report.energy_unresolved, report.energy_drift_max);
    ck_assert_msg(report.energy_drift_max <= 1.01, "drift %g", report.energy_drift_max);

    /* The sag of a column of the height 1 m is about rho g / (2 E) = 0.12 mm: 0.3 J. */
    ck_assert_msg(report.energy_unresolved > 0.05 && report.energy_unresolved < 1, "%g J",
                  report.energy_unresolved);
    double later = fabs(report.energy_error_max - report.energy_unresolved);
    ck_assert_msg(later < 0.01 * report.energy_unresolved, "later: %g J", later);
    assert_contains("out", "run.json", "\"energy_unresolved\": 0.");

    /* Nothing else moves, so that the command warns. */
    ck_assert_double_lt(report.kinetic_resolved, 1e-3 * report.energy_unresolved);
    assert_contains("out", "run.json", "\"kinetic_resolved\": ");
}
END_TEST

/* ---- resume ---- */

static void assert_same_run(const char *a, const char *b, int frames)
{
    assert_same_file(a, b, "final.csv");
    assert_same_file(a, b, "telemetry.csv");
    assert_same_file(a, b, "scene.yaml");
    for (int i = 0; i < frames; i++) {
        char name[64];
        snprintf(name, sizeof name, "frames/frame_%06d.csv", i);
        assert_same_file(a, b, name);
    }
}

static void check_resume(const char *text, int frames)
{
    test_enter_temporary_folder();
    tw_run_report report;
    tw_error error = {0};
    ck_assert_msg(run_into("whole", text, 0, &report, &error) == TW_OK, "%s", error.text);
    ck_assert_int_eq(report.frames, frames);
    ck_assert_int_eq(run_into("parts", text, 1, &report, &error), TW_INTERRUPTED);
    assert_contains("parts", "run.json", "\"status\": \"interrupted\"");
    tw_status status = TW_INTERRUPTED;
    int parts = 0;
    for (; status == TW_INTERRUPTED; parts++)
        status = resume("parts", 7, 1 + parts % 2, &report, &error);
    ck_assert_msg(status == TW_OK, "%s", error.text);
    ck_assert_int_gt(parts, 1);
    ck_assert_double_gt(report.resumed_at, 0.0);
    assert_same_run("whole", "parts", frames);
    test_leave_temporary_folder();
}

START_TEST(a_resumed_run_is_bitwise_the_same)
{
    check_resume(fixed_rope, 11);
    check_resume(ROPE("{name: rk4, step: 0.0009}"), 11);
    check_resume(ROPE("{name: exprb42, step: 0.0035}"), 11);
    check_resume(ROPE("{name: exprb42, rtol: 1e-4}"), 11);
    check_resume(ROPE("{name: rk4, rtol: 1e-5}"), 11);
    check_resume("name: f\nduration: 1\nfps: 0\nintegrator: {name: pexprb43, step: 0.02}\nphi: "
                 "{name: dense}\n"
                 "system: {kind: fput}\n",
                 0);
    check_resume("name: l\nduration: 1\nfps: 10\nintegrator: {name: rk4, rtol: 1e-6}\n"
                 "system: {kind: stiff-line, k: 100}\n",
                 11);
}
END_TEST

/* Every scheme there is: whatever it remembers from step to step travels through the checkpoint. */
START_TEST(every_scheme_resumes_bitwise)
{
    tw_scheme scheme = (tw_scheme)_i;
    /* CVODE keeps its history to itself: it starts anew, at order one. */
    if (!tw_scheme_available(scheme) || scheme == TW_SCHEME_CVODE) return;
    char text[600];
    snprintf(text, sizeof text,
             "name: rope\nduration: 0.015\nfps: 1000\ngravity: [0, 0, -9.81]\nphi: {name: dense}\n"
             "integrator: {name: %s, step: 0.0005}\nbodies:\n  - {kind: rope, count: 4}\npins:\n  "
             "- {from: 0}\n",
             tw_scheme_name(scheme));
    check_resume(text, 16);
}
END_TEST

/* What was written after the checkpoint is cut away: a row and a frame too many, and half a
 * checkpoint. */
START_TEST(leftovers_after_the_checkpoint_do_no_harm)
{
    test_enter_temporary_folder();
    tw_run_report report;
    tw_error error = {0};
    ck_assert_int_eq(run_into("whole", fixed_rope, 0, &report, &error), TW_OK);
    ck_assert_int_eq(run_into("parts", fixed_rope, 40, &report, &error), TW_INTERRUPTED);
    FILE *telemetry = fopen("parts/telemetry.csv", "ab");
    fputs("0.1,2,3,garb", telemetry);
    fclose(telemetry);
    put("parts", "frames/frame_000009.csv", "x,y", 3);
    put("parts", "frames/frame_000077.csv", "x,y", 3);
    put("parts", "checkpoint.bin.part", "TWANGCK", 7);
    ck_assert_int_eq(resume("parts", 0, 0, &report, &error), TW_OK);
    assert_same_run("whole", "parts", 11);

    /* The run has no frame of this number, so the file is somebody else's. */
    size_t size = 0;
    void *other = contents("parts", "frames/frame_000077.csv", &size);
    ck_assert_ptr_nonnull(other);
    free(other);
    test_leave_temporary_folder();
}
END_TEST

START_TEST(a_finished_run_is_left_alone)
{
    test_enter_temporary_folder();
    tw_run_report report;
    tw_error error = {0};
    ck_assert_int_eq(run_into("out", fixed_rope, 0, &report, &error), TW_OK);
    size_t size = 0;
    char *before = contents("out", "run.json", &size);
    ck_assert_int_eq(resume("out", 0, 0, &report, &error), TW_OK);
    ck_assert(report.was_finished);
    char *after = contents("out", "run.json", &size);
    ck_assert_str_eq(before, after);
    free(before);
    free(after);
    test_leave_temporary_folder();
}
END_TEST

START_TEST(a_run_killed_before_its_first_step_can_begin)
{
    test_enter_temporary_folder();
    tw_run_report report;
    tw_error error = {0};
    ck_assert_int_eq(run_into("whole", fixed_rope, 0, &report, &error), TW_OK);
    size_t size = 0;
    char *scene = contents("whole", "scene.yaml", &size);
    ck_assert_int_eq(mkdir("parts", 0777), 0);
    put("parts", "scene.yaml", scene, size);
    free(scene);
    /* and be interrupted, and go on */
    ck_assert_int_eq(resume("parts", 5, 0, &report, &error), TW_INTERRUPTED);
    ck_assert_msg(resume("parts", 0, 0, &report, &error) == TW_OK, "%s", error.text);
    assert_same_run("whole", "parts", 11);
    test_leave_temporary_folder();
}
END_TEST

static void refused_resume(const char *expected)
{
    tw_run_report report;
    tw_error error = {0};
    ck_assert_int_eq(resume("out", 0, 0, &report, &error), TW_BAD_INPUT);
    ck_assert_str_eq(error.text, expected);
}

START_TEST(what_cannot_be_resumed_is_refused)
{
    test_enter_temporary_folder();
    tw_run_report report;
    tw_error error = {0};
    refused_resume("out: holds no run (no scene.yaml in it), name the directory of one");
    ck_assert_int_eq(run_into("out", fixed_rope, 40, &report, &error), TW_INTERRUPTED);
    size_t size = 0;
    char *checkpoint = contents("out", "checkpoint.bin", &size);
    put("out", "checkpoint.bin", checkpoint, size - 1);
    refused_resume("out/checkpoint.bin: is damaged, its checksum does not match");
    checkpoint[size / 2] ^= 1;
    put("out", "checkpoint.bin", checkpoint, size);
    refused_resume("out/checkpoint.bin: is damaged, its checksum does not match");
    put("out", "checkpoint.bin", "short", 5);
    refused_resume("out/checkpoint.bin: is not a checkpoint");
    checkpoint[size / 2] ^= 1;
    checkpoint[16] = '9';
    put("out", "checkpoint.bin", checkpoint, size);
    refused_resume("out/checkpoint.bin: was written by twang 9.2.0, resume with that version (this "
                   "is " TW_VERSION ")");
    checkpoint[16] = TW_VERSION[0];
    put("out", "checkpoint.bin", checkpoint, size);
    put("out", "telemetry.csv", "t", 1);
    ck_assert_int_eq(resume("out", 0, 0, &report, &error), TW_BAD_INPUT);
    ck_assert_ptr_nonnull(strstr(error.text, "it was changed"));
    FILE *scene = fopen("out/scene.yaml", "a");
    fputs("# a remark\n", scene);
    fclose(scene);
    refused_resume(
        "out/scene.yaml: was changed since the run began, put it back or start a new run with it");
    free(checkpoint);
    test_leave_temporary_folder();
}
END_TEST

START_TEST(a_comma_locale_changes_no_byte)
{
    test_enter_temporary_folder();
    tw_run_report report;
    tw_error error = {0};
    ck_assert_int_eq(run_into("point", fixed_rope, 0, &report, &error), TW_OK);
    ck_assert_msg(test_enter_comma_locale(), "no comma locale");
    ck_assert_int_eq(run_into("comma", fixed_rope, 40, &report, &error), TW_INTERRUPTED);
    ck_assert_int_eq(resume("comma", 0, 0, &report, &error), TW_OK);
    assert_same_run("point", "comma", 11);
    assert_contains("comma", "run.json", "\"duration\": 0.2");
    test_leave_temporary_folder();
}
END_TEST

/* A second run into a directory that is being written. */
static void run_again(void *context, const tw_run_progress *progress)
{
    (void)progress;
    tw_run_options options = tw_run_options_default();
    options.directory = "out";
    options.force = true;
    tw_error error = {0};
    if (*(int *)context) return;
    *(int *)context = 1;
    tw_scene *scene = scene_of(fixed_rope);
    ck_assert_int_eq(tw_run_scene(scene, &options, NULL, &error), TW_BAD_INPUT);
    ck_assert_ptr_nonnull(strstr(error.text, "another twang is writing there"));
    ck_assert_int_eq(tw_run_resume("out", &options, NULL, &error), TW_BAD_INPUT);
    tw_scene_free(scene);
}

START_TEST(two_runs_never_write_into_one_directory)
{
    test_enter_temporary_folder();
    tw_scene *scene = scene_of(fixed_rope);
    tw_run_options options = tw_run_options_default();
    int done = 0;
    options.directory = "out";
    options.progress = run_again;
    options.context = &done;
    ck_assert_int_eq(tw_run_scene(scene, &options, NULL, NULL), TW_OK);
    ck_assert_int_eq(done, 1);
    tw_scene_free(scene);
    test_leave_temporary_folder();
}
END_TEST

static tw_status run_and_resume(void *context)
{
    (void)context;
    static const char text[] =
        "name: l\nduration: 0.03\nfps: 100\nintegrator: {name: rk4, step: 0.01}\n"
        "output: {checkpoint_every: 0}\nsystem: {kind: fput}\n";
    int steps = 1;
    tw_scene *scene = NULL;
    tw_run_options options = tw_run_options_default();
    options.directory = "out";
    options.force = true;
    options.stop = stop_after;
    options.context = &steps;
    tw_status status = tw_scene_parse("test.yaml", text, strlen(text), 0, NULL, &scene, NULL);
    if (status == TW_OK) status = tw_run_scene(scene, &options, NULL, NULL);
    tw_scene_free(scene);
    if (status == TW_INTERRUPTED) status = tw_run_resume("out", NULL, NULL, NULL);
    return status;
}

START_TEST(memory_may_run_out_anywhere)
{
    test_enter_temporary_folder();
    ck_assert_int_gt(test_fail_each_allocation(run_and_resume, NULL), 50);
    test_leave_temporary_folder();
}
END_TEST

START_TEST(acceptance_values_are_judged)
{
    test_enter_temporary_folder();
    tw_run_report report;
    tw_error error = {0};
    const char *text = "name: l\nduration: 1\nfps: 0\nintegrator: {name: rk4, step: 0.01}\n"
                       "system: {kind: stiff-line, k: 2}\n"
                       "tests:\n  steps_max: 99\n  final:\n"
                       "    - {row: 0, value: 0.36787944117144233, tolerance: 1e-9}\n"
                       "    - {row: 1, value: 0.2, tolerance: 1e-9}\n"
                       "    - {row: 7, value: 0, tolerance: 1}\n";
    ck_assert_int_eq(run_into("out", text, 0, &report, &error), TW_OK);
    ck_assert_int_eq(report.tests, 4);
    ck_assert_int_eq(report.tests_failed,
                     3); /* steps, the wrong value, the row that is not there */
    test_leave_temporary_folder();
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("run");
    TCase *cases = tcase_create("run");
    tcase_add_loop_test(cases, work_is_no_energy_error, 0, 6);
    tcase_add_loop_test(cases, strain_at_step_ends_is_no_energy_error, 0, 2);
    tcase_add_test(cases, an_unresolved_vibration_is_named);
    tcase_add_test(cases, a_run_leaves_what_it_promises);
    tcase_add_test(cases, an_existing_directory_is_refused_without_force);
    tcase_add_test(cases, a_step_that_cannot_be_trusted_ends_the_run);
    tcase_add_test(cases, only_explicit_methods_fail_on_the_stiff_line);
    tcase_add_test(cases, a_resumed_run_is_bitwise_the_same);
    tcase_add_loop_test(cases, every_scheme_resumes_bitwise, 0, TW_SCHEME_COUNT);
    tcase_add_test(cases, leftovers_after_the_checkpoint_do_no_harm);
    tcase_add_test(cases, a_finished_run_is_left_alone);
    tcase_add_test(cases, a_run_killed_before_its_first_step_can_begin);
    tcase_add_test(cases, what_cannot_be_resumed_is_refused);
    tcase_add_test(cases, a_comma_locale_changes_no_byte);
    tcase_add_test(cases, two_runs_never_write_into_one_directory);
    tcase_add_test(cases, memory_may_run_out_anywhere);
    tcase_add_test(cases, acceptance_values_are_judged);
    suite_add_tcase(suite, cases);
    return run_suite(suite);
}
