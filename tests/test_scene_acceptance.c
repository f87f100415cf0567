/* Every scene of the tree reproduces the values it carries itself. */
/* labels: slow */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <twang/twang.h>

#include "support/run_suite.h"
#include "support/temporary_folder.h"

/* The scene as it is tested: as long as its tests say, and with exact phi-functions where it is small enough for them
 * (the scenes are tested here, the engines elsewhere). Frees `scene`. */
static tw_scene *short_form(const char *path, tw_scene *scene)
{
    tw_scene_setting settings[2];
    tw_simulation *simulation = NULL;
    tw_error error = {0};
    char duration[40];
    int count = 0;
    ck_assert_msg(tw_scene_build(scene, &simulation, &error) == TW_OK, "%s", error.text);
    if (tw_simulation_state_size(simulation) <= 200)
        settings[count++] = (tw_scene_setting){"--phi dense", "phi.name", "dense"};
    snprintf(duration, sizeof duration, "%.17g",
             tw_scene_number(scene, "tests.duration", tw_scene_duration(scene)));
    settings[count++] = (tw_scene_setting){"tests.duration", "duration", duration};
    tw_simulation_free(simulation);
    tw_scene_free(scene);
    ck_assert_msg(tw_scene_load(path, count, settings, &scene, &error) == TW_OK, "%s", error.text);
    return scene;
}

static void run_scene(const char *path)
{
    tw_scene *scene = NULL;
    tw_error error = {0};
    tw_run_report report;
    tw_run_options options = tw_run_options_default();
    options.directory = "out";
    options.force = true;
    tw_status status = tw_scene_load(path, 0, NULL, &scene, &error);
    if (status != TW_OK && strstr(error.text, "twang fetch-meshes"))
        return; /* its mesh is not in the repository */
    ck_assert_msg(status == TW_OK, "%s", error.text);
    scene = short_form(path, scene);
    ck_assert_msg(tw_run_scene(scene, &options, &report, &error) == TW_OK, "%s: %s", path,
                  error.text);
    ck_assert_msg(report.tests > 0, "%s carries no tests", path);
    ck_assert_msg(report.tests_failed == 0, "%s: %d of %d values are not reproduced", path,
                  report.tests_failed, report.tests);
    tw_scene_free(scene);
}

START_TEST(every_scene_reproduces_its_own_values)
{
    char folder[1000];
    snprintf(folder, sizeof folder, "%s/scenes", getenv("TWANG_SOURCE"));
    test_enter_temporary_folder();
    DIR *directory = opendir(folder);
    ck_assert_ptr_nonnull(directory);
    int count = 0;
    for (struct dirent *entry; (entry = readdir(directory));) {
        char path[1300];
        size_t length = strlen(entry->d_name);
        if (length < 6 || strcmp(entry->d_name + length - 5, ".yaml") != 0) continue;
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        run_scene(path);
        count++;
    }
    closedir(directory);
    test_leave_temporary_folder();
    ck_assert_int_ge(count, 14);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("scene acceptance");
    TCase *cases = tcase_create("scene acceptance");
    tcase_set_timeout(cases, 600);
    tcase_add_test(cases, every_scene_reproduces_its_own_values);
    suite_add_tcase(suite, cases);
    return run_suite(suite);
}
