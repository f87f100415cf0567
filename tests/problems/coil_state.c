#include "problems/coil_state.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "problems/verlet_driver.h"

enum { PATH_SIZE = 1024 };

/* What a state depends on; `method` changes whenever coil or integrator do. */
typedef struct state_key {
    double method, sections, stiffness, mass, gravity, seconds;
} state_key;

static uint64_t hash_bytes(const void *bytes, size_t count, uint64_t hash)
{
    const unsigned char *at = bytes;
    for (size_t i = 0; i < count; i++) hash = (hash ^ at[i]) * 0x100000001B3u; /* FNV-1a */
    return hash;
}

static uint64_t hash_state(uint64_t key, int64_t n, const double *x, const double *v)
{
    return hash_bytes(v, (size_t)n * sizeof *v, hash_bytes(x, (size_t)n * sizeof *x, key));
}

static bool read_state(const char *path, uint64_t key, int64_t n, double *x, double *v)
{
    FILE *file = fopen(path, "rb");
    if (!file) return false;
    uint64_t checksum = 0;
    bool good = fread(x, sizeof *x, (size_t)n, file) == (size_t)n &&
                fread(v, sizeof *v, (size_t)n, file) == (size_t)n &&
                fread(&checksum, sizeof checksum, 1, file) == 1 &&
                checksum == hash_state(key, n, x, v);
    fclose(file);
    return good;
}

/* Under a name of its own first: another test may be reading or writing the same state. */
static void write_state(const char *path, uint64_t key, int64_t n, const double *x, const double *v)
{
    char own[PATH_SIZE + 32];
    snprintf(own, sizeof own, "%s.%ld", path, (long)getpid());
    FILE *file = fopen(own, "wb");
    if (!file) return;
    uint64_t checksum = hash_state(key, n, x, v);
    bool good = fwrite(x, sizeof *x, (size_t)n, file) == (size_t)n &&
                fwrite(v, sizeof *v, (size_t)n, file) == (size_t)n &&
                fwrite(&checksum, sizeof checksum, 1, file) == 1;
    good = fclose(file) == 0 && good;
    if (!good || rename(own, path) != 0) remove(own);
}

static tw_status integrate(spring_network *coil, double seconds, double *x, double *v)
{
    problem p = spring_network_problem(coil);
    double *a = malloc((size_t)p.size * sizeof *a);
    if (!a) return TW_OUT_OF_MEMORY;
    memcpy(x, coil->initial, (size_t)p.size * sizeof *x);
    memset(v, 0, (size_t)p.size * sizeof *v);
    p.linearise(p.context, x);
    double limit = 2 / problem_frequency_max(&p, 80);
    int64_t steps = (int64_t)ceil(seconds / (0.95 * limit));
    verlet_run(&p, seconds / (double)steps, steps, x, v, a);
    free(a);
    for (int64_t i = 0; i < p.size; i++)
        if (!isfinite(x[i])) return TW_NOT_FINITE;
    return TW_OK;
}

tw_status coil_state(coil_parameters parameters, double seconds, double *x, double *v, bool *cached)
{
    spring_network *coil;
    tw_status status = coil_create(parameters, &coil);
    if (status) return status;
    state_key key = {1,
                     (double)parameters.sections,
                     parameters.stiffness,
                     parameters.mass,
                     parameters.gravity,
                     seconds};
    uint64_t hash = hash_bytes(&key, sizeof key, 0xCBF29CE484222325u);
    char path[PATH_SIZE];
    snprintf(path, sizeof path, "%s/coil-state-%016" PRIx64 ".bin", TWANG_CACHE, hash);
    int64_t n = 3 * coil->free_count;
    bool found = read_state(path, hash, n, x, v);
    if (!found) {
        status = integrate(coil, seconds, x, v);
        if (status == TW_OK) write_state(path, hash, n, x, v);
    }
    if (cached) *cached = found;
    spring_network_free(coil);
    return status;
}
