/* A soak: adaptive runs of a coil and a rope over and over in one process, for a given time. Memory and open files must
 * not grow.
 *
 * usage: soak SECONDS SCENES     SCENES is the folder scenes/ of the source tree
 *
 * A round runs each scene into a directory (scene, frames, telemetry, checkpoint, record) and takes an integrator that
 * lives through all rounds some steps further. After a round the process is measured. The first tenth of the time warms
 * caches up; afterwards the resident memory may not exceed the most that the warm-up had by more than MOST_GROWTH.
 * Exit 0 if memory and descriptors stayed flat, 1 if not. */
#define _POSIX_C_SOURCE 200809L
#include <dirent.h>
#include <malloc.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <twang/twang.h>
#include <unistd.h>

enum {
    SCENE_COUNT = 2,
    STEPS_PER_ROUND = 20,  /* of the integrators that live on */
    MOST_GROWTH = 1 << 20, /* bytes: allocators keep a few pages more or less */
    REPORT_SECONDS = 300,  /* between two lines */
    LEAST_WARM_ROUNDS = 2
};
static const double warm_share = 0.1;
#define FOREVER 1e9 /* s: no integrator here comes that far */

/* ---- measuring the process ---- */

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Resident memory: the second number of /proc/self/statm [pages]. */
static long long resident_bytes(void)
{
    char line[128] = "0 0";
    char *rest = NULL;
    FILE *file = fopen("/proc/self/statm", "r");
    if (file && !fgets(line, sizeof line, file)) line[0] = '\0';
    if (file) fclose(file);
    (void)strtoll(line, &rest, 10);
    return strtoll(rest, NULL, 10) * sysconf(_SC_PAGESIZE);
}

static int open_descriptors(void)
{
    int count = 0;
    DIR *folder = opendir("/proc/self/fd");
    if (!folder) return -1;
    while (readdir(folder)) count++;
    closedir(folder);
    return count;
}

/* ---- what is repeated ---- */

static const tw_scene_setting small_coil[] = {{"soak", "bodies.0.sections", "40"},
                                              {"soak", "bodies.0.across", "3"},
                                              {"soak", "pins.0.to", "26"},
                                              {"soak", "integrator.rtol", "1e-3"},
                                              {"soak", "integrator.step", NULL},
                                              {"soak", "duration", "3"},
                                              {"soak", "tests", NULL}};
static const tw_scene_setting adaptive_rope[] = {{"soak", "integrator.rtol", "1e-5"},
                                                 {"soak", "integrator.step", NULL},
                                                 {"soak", "tests", NULL}};

typedef struct repeated {
    const char *file, *directory;
    int setting_count;
    const tw_scene_setting *settings;
    tw_scene *scene;
    tw_simulation *simulation;
    tw_integrator *living; /* advances in every round */
    long long runs, steps;
} repeated;

static bool complain(const char *what, const tw_error *error)
{
    fprintf(stderr, "soak: %s: %s\n", what, error->text);
    return false;
}

static bool begin(repeated *r, const char *folder)
{
    char path[4200];
    tw_error error = {0};
    snprintf(path, sizeof path, "%s/%s", folder, r->file);
    if (tw_scene_load(path, r->setting_count, r->settings, &r->scene, &error) != TW_OK ||
        tw_scene_build(r->scene, &r->simulation, &error) != TW_OK ||
        tw_scene_create_integrator(r->scene, r->simulation, &r->living, &error) != TW_OK ||
        tw_integrator_start(r->living, 0, tw_simulation_start(r->simulation), &error) != TW_OK)
        return complain(r->file, &error);
    return true;
}

static bool one_round(repeated *r)
{
    tw_error error = {0};
    tw_run_options options = tw_run_options_default();
    tw_run_report report;
    options.directory = r->directory;
    options.force = true;
    if (tw_run_scene(r->scene, &options, &report, &error) != TW_OK)
        return complain(r->file, &error);
    r->runs++;
    r->steps += report.steps;

    for (int i = 0; i < STEPS_PER_ROUND; i++, r->steps++)
        if (tw_integrator_step(r->living, FOREVER, &error) != TW_OK)
            return complain(r->file, &error);
    return true;
}

static void finish(repeated *r)
{
    tw_integrator_free(r->living);
    tw_simulation_free(r->simulation);
    tw_scene_free(r->scene);
}

/* ---- the soak ---- */

/* The most that was seen before and after the warm-up. */
typedef struct peaks {
    long long rounds, warm_rounds, warm, hot;
    int descriptors, most_descriptors;
} peaks;

static void look(peaks *p, bool is_warming)
{
    /* What the allocator keeps for later differs from round to round: it goes back first. */
    malloc_trim(0);
    long long bytes = resident_bytes();
    int descriptors = open_descriptors();
    p->rounds++;
    if (is_warming) {
        p->warm_rounds++;
        if (bytes > p->warm) p->warm = bytes;
        p->descriptors = p->most_descriptors = descriptors;
    } else if (bytes > p->hot) {
        p->hot = bytes;
    }
    if (descriptors > p->most_descriptors) p->most_descriptors = descriptors;
}

static void report(const peaks *p, const repeated *all, double seconds)
{
    printf("soak: %.0f s, %lld rounds, coil %lld runs %lld steps, rope %lld runs %lld steps; "
           "resident at most %.2f MB "
           "while warming up, %.2f MB since; descriptors %d, at most %d\n",
           seconds, p->rounds, all[0].runs, all[0].steps, all[1].runs, all[1].steps,
           1e-6 * (double)p->warm, 1e-6 * (double)p->hot, p->descriptors, p->most_descriptors);
    fflush(stdout);
}

static bool soak(repeated *all, double seconds, peaks *p)
{
    double start = now();
    double next_report = REPORT_SECONDS;
    for (;;) {
        double spent = now() - start;
        if (spent >= next_report) report(p, all, spent), next_report += REPORT_SECONDS;
        if (spent >= seconds && p->rounds > 2 * LEAST_WARM_ROUNDS) break;
        for (int i = 0; i < SCENE_COUNT; i++)
            if (!one_round(all + i)) return false;
        look(p, spent < warm_share * seconds || p->warm_rounds < LEAST_WARM_ROUNDS);
    }

    report(p, all, now() - start);
    return p->hot <= p->warm + MOST_GROWTH && p->most_descriptors == p->descriptors;
}

int main(int count, char **words)
{
    if (count != 3) return fprintf(stderr, "usage: soak SECONDS SCENES\n"), 2;
    repeated all[SCENE_COUNT] = {
        {.file = "coil.yaml", .directory = "coil", .setting_count = 7, .settings = small_coil},
        {.file = "rope.yaml", .directory = "rope", .setting_count = 3, .settings = adaptive_rope}};

    char folder[] = "/tmp/soak-XXXXXX";
    peaks p = {0};
    bool good = true;
    for (int i = 0; good && i < SCENE_COUNT; i++) good = begin(all + i, words[2]);
    good = good && mkdtemp(folder) && chdir(folder) == 0 && soak(all, strtod(words[1], NULL), &p);
    for (int i = 0; i < SCENE_COUNT; i++) finish(all + i);
    printf("soak: %s\n", good ? "memory and descriptors stayed flat" : "FAILED");
    char clean[64];
    snprintf(clean, sizeof clean, "rm -rf %s", folder);
    return system(clean) == 0 && good ? 0 : 1;
}
