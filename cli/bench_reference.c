/* The reference of a benchmark. It is computed with steps h and h/2 by a scheme of order p, and
 * extrapolated (Richardson): u = u_(h/2) + c with c = (u_(h/2) - u_h) / (2^p - 1), so that it is none
 * of the contestants. |c| estimates the error of u_(h/2), and bounds that of u. Steps are halved until
 * it is a hundredth of the error that is asked for.
 *
 * References are kept in a folder, under a name that follows from the scene, its start and the
 * version of Twang. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench.h"

enum { MOST_HALVINGS = 10 };

/* How much better than the asked error a reference has to be. */
static const double SAFETY = 100;
/* The error of a reference where none is asked for, and the same for small states, where it costs
 * nothing. */
static const double USUAL_ERROR = 1e-5;
static const double SMALL_STATE_ERROR = 1e-12;

/* Below this, differences that fall by less than a half from one halving to the next are rounding. */
static const double ROUNDING = 1e-9;

/* An explicit scheme is taken if it needs fewer updates of a number than this (some minutes). */
static const double MOST_UPDATES = 3e10;
/* State sizes up to which a scheme of order 4 is taken: below rounding in seconds. */
static const double SMALL_STATE = 2000;
/* An implicit reference begins with this part of the scene's step. */
static const double IMPLICIT_PARTS = 8;

/* ---- the folder ---- */

/* What a file of a reference begins with. */
typedef struct file_header {
    char magic[8];
    int64_t rows;
    int64_t columns;
    double step;
    double error;
    int64_t scheme;
} file_header;

static const char magic[8] = "twref02";

/* FNV-1a. */
static uint64_t hash_bytes(uint64_t hash, const void *bytes, size_t size)
{
    const unsigned char *byte = bytes;
    for (size_t i = 0; i < size; i++) hash = (hash ^ byte[i]) * UINT64_C(1099511628211);
    return hash;
}

/* The name of the reference's file; false if there is no folder for it. */
static bool name_file(const bench *b, char *path, size_t size)
{
    const char *cache = getenv("XDG_CACHE_HOME");
    const char *home = getenv("HOME");
    char folder[512];
    if (cache && cache[0] == '/')
        snprintf(folder, sizeof folder, "%s/twang", cache);
    else if (home && home[0] == '/')
        snprintf(folder, sizeof folder, "%s/.cache/twang", home);
    else
        return false;

    /* Scene, start and version. */
    char *text = NULL;
    size_t length = 0;
    if (tw_scene_write(b->scene, &text, &length, NULL) != TW_OK) return false;
    uint64_t hash = hash_bytes(UINT64_C(14695981039346656037), text, length);
    tw_scene_free_text(text);
    hash = hash_bytes(hash, b->start, (size_t)b->rows * (size_t)b->columns * sizeof(double));
    hash = hash_bytes(hash, tw_version(), strlen(tw_version()));
    snprintf(path, size, "%s/reference-%016llx.bin", folder, (unsigned long long)hash);
    return true;
}

/* Reads a reference that is accurate enough. */
static bool read_reference(bench *b, const char *path, double needed)
{
    FILE *file = fopen(path, "rb");
    if (!file) return false;

    file_header h = {.rows = 0};
    size_t entries = (size_t)b->rows * (size_t)b->columns;
    bool good = fread(&h, sizeof h, 1, file) == 1 && memcmp(h.magic, magic, sizeof magic) == 0;
    good = good && h.rows == b->rows && h.columns == b->columns && h.error <= needed;
    good = good && h.scheme >= 0 && h.scheme < TW_SCHEME_COUNT;
    good = good && fread(b->reference.rows, sizeof(double), entries, file) == entries;
    fclose(file);
    if (!good) return false;

    b->reference.scheme = (tw_scheme)h.scheme;
    b->reference.step = h.step;
    b->reference.error = h.error;
    b->reference.was_cached = true;
    return true;
}

/* Writes the reference beside its place and moves it there; without a folder it is just not kept. */
static void keep_reference(const bench *b, const char *path)
{
    tw_parents parents;
    if (tw_parents_make(&parents, path, NULL) != TW_OK) return;
    char beside[700];
    snprintf(beside, sizeof beside, "%s.%ld", path, (long)getpid());
    FILE *file = fopen(beside, "wb");
    if (!file) return;

    file_header h = {.rows = b->rows,
                     .columns = b->columns,
                     .step = b->reference.step,
                     .error = b->reference.error,
                     .scheme = b->reference.scheme};
    memcpy(h.magic, magic, sizeof magic);
    size_t entries = (size_t)b->rows * (size_t)b->columns;
    bool good = fwrite(&h, sizeof h, 1, file) == 1;
    good = good && fwrite(b->reference.rows, sizeof(double), entries, file) == entries;
    good = fclose(file) == 0 && good;
    if (!good || rename(beside, path) != 0) remove(beside);
}

/* ---- computing ---- */

/* Tolerance of the phi-functions of a reference that an exponential scheme computes. */
static const double PHI_TOLERANCE = 1e-8;

/* A scheme, its order and its first step. */
static void choose_scheme(const bench *b, trial *t, int *order)
{
    /* The suite names one where explicit schemes take too long, or fail. */
    t->who = b->judge;
    if (t->who.scheme != TW_SCHEME_COUNT) {
        *order = tw_scheme_order(t->who.scheme);
        t->step = bench_first_step(b, t->who.scheme) / IMPLICIT_PARTS;
        return;
    }

    double size = (double)tw_simulation_state_size(b->simulation);
    double steps = b->duration / bench_stable_step(b, TW_SCHEME_VERLET);
    bool is_cheap = b->omega > 0 && steps * size < MOST_UPDATES;
    const tw_second_order_problem *problem = tw_simulation_second_order(b->simulation);
    bool has_verlet = problem && !problem->velocity_dependent;

    /* Explicit schemes resolve all modes; else the implicit midpoint rule. */
    t->who = (contestant){TW_SCHEME_MIDPOINT, TW_PHI_ENGINE_COUNT};
    *order = 2;
    if (is_cheap && (size <= SMALL_STATE || !has_verlet)) {
        t->who.scheme = TW_SCHEME_RK4;
        *order = 4;
    } else if (is_cheap) {
        t->who.scheme = TW_SCHEME_VERLET;
    }
    t->step = bench_first_step(b, t->who.scheme);
    if (t->who.scheme == TW_SCHEME_MIDPOINT) t->step /= IMPLICIT_PARTS;
}

/* rows = fine + c, c = (fine - coarse) / (2^p - 1). Returns the size of c. */
static double extrapolate(const bench *b, int order, const double *coarse, const double *fine,
                          double *rows)
{
    double divisor = pow(2, order) - 1;
    for (int64_t i = 0; i < b->rows * b->columns; i++)
        rows[i] = fine[i] + (fine[i] - coarse[i]) / divisor;
    return bench_distance(b, fine, rows);
}

/* Integrates until the deadline of the reference at most. */
static void integrate_in_time(bench *b, trial *t, double deadline, double *rows)
{
    b->limit = deadline - bench_clock();
    bench_integrate(b, t, rows);
}

/* Where steps were divided, the reference is compared with steps that are divided otherwise. */
static void compare_other_parts(bench *b, const trial *fine, double deadline, double *rows)
{
    if (fine->counts.rejected_steps == 0 || !isfinite(b->reference.error)) return;
    trial other = {.who = fine->who, .step = BENCH_OTHER_PARTS * fine->step};
    integrate_in_time(b, &other, deadline, rows);
    double distance = bench_distance(b, rows, b->reference.rows);
    if (other.status != TW_OK) distance = INFINITY;
    b->reference.error = fmax(b->reference.error, distance);
}

static tw_status compute(bench *b, double needed)
{
    double deadline = INFINITY;
    if (b->reference_limit > 0) deadline = bench_clock() + b->reference_limit;

    size_t entries = (size_t)b->rows * (size_t)b->columns;
    double *coarse = malloc(2 * entries * sizeof *coarse);
    if (!coarse) return TW_OUT_OF_MEMORY;
    double *fine = coarse + entries;

    int order = 2;
    trial t = {.status = TW_OK};
    choose_scheme(b, &t, &order);
    t.step = b->duration / ceil(b->duration / t.step * (1 - 1e-15));
    integrate_in_time(b, &t, deadline, coarse);
    b->reference.error = INFINITY;
    double before = INFINITY;
    for (int i = 0; i < MOST_HALVINGS && b->reference.error > needed; i++) {
        /* Smaller steps do not help against rounding. */
        if (b->reference.error < ROUNDING && b->reference.error > before / 2) break;
        before = b->reference.error;

        /* A coarse step that failed is no reason to give up. */
        bool has_coarse = t.status == TW_OK;
        t.step /= 2;
        integrate_in_time(b, &t, deadline, fine);
        if (t.status != TW_OK && has_coarse) break;
        if (t.status == TW_BUDGET_EXHAUSTED) break;
        if (has_coarse) b->reference.error = extrapolate(b, order, coarse, fine, b->reference.rows);
        memcpy(coarse, fine, entries * sizeof *coarse);
        if (b->reference.error <= needed) compare_other_parts(b, &t, deadline, fine);
    }

    b->reference.scheme = t.who.scheme;
    b->reference.step = t.step;
    free(coarse);
    /* Where an error is asked for, a reference must be as good as it promises. */
    bool is_good = isfinite(b->reference.error) && (b->wanted == 0 || b->reference.error <= needed);
    if (is_good) return TW_OK;
    return t.status == TW_OK ? TW_NOT_CONVERGED : t.status;
}

tw_status bench_find_reference(bench *b)
{
    char path[600];
    bool is_small = (double)tw_simulation_state_size(b->simulation) <= SMALL_STATE;
    double needed = is_small ? SMALL_STATE_ERROR : USUAL_ERROR;
    if (b->wanted > 0) needed = b->wanted / SAFETY;
    bool has_file = name_file(b, path, sizeof path);
    if (has_file && read_reference(b, path, needed)) return TW_OK;

    /* The reference has a limit of its own, or none; and finer phi-functions than the scene. */
    double limit = b->limit;
    tw_integrator_options of_scene = b->options;
    b->options.phi.tolerance = fmin(b->options.phi.tolerance, PHI_TOLERANCE);
    b->options.phi.max_products = INT64_MAX;
    tw_status status = compute(b, needed);
    b->limit = limit;
    b->options = of_scene;
    if (status == TW_OK && has_file) keep_reference(b, path);
    return status;
}
