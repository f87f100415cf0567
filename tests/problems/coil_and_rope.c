#include <math.h>
#include <stdlib.h>

#include "problems/spring_network.h"

enum { COIL_SECTIONS = 500, COIL_TURNS = 6, COIL_PINNED_SECTIONS = 4, ROPE_LINKS = 10 };

coil_parameters coil_default(void)
{
    return (coil_parameters){
        .sections = COIL_SECTIONS, .stiffness = 1e6, .mass = 1, .gravity = 0.05};
}

coil_parameters coil_hard(void)
{
    coil_parameters parameters = coil_default();
    parameters.mass = 0.01;
    parameters.gravity = 5;
    return parameters;
}

/* The arrays of a network_input, writable. */
typedef struct draft {
    double *positions, *masses;
    bool *pinned;
    spring *springs;
} draft;

static void draft_free(draft *d)
{
    free(d->positions);
    free(d->masses);
    free(d->pinned);
    free(d->springs);
}

static bool draft_allocate(draft *d, int64_t particles, int64_t springs)
{
    d->positions = malloc(3 * (size_t)particles * sizeof *d->positions);
    d->masses = malloc((size_t)particles * sizeof *d->masses);
    d->pinned = calloc((size_t)particles, sizeof *d->pinned);
    d->springs = malloc((size_t)springs * sizeof *d->springs);
    return d->positions && d->masses && d->pinned && d->springs;
}

/* A spring whose rest length is its length in the draft. */
static spring relaxed_spring(const draft *d, int64_t from, int64_t to, double stiffness)
{
    double square = 0;
    for (int c = 0; c < 3; c++) {
        double difference = d->positions[3 * to + c] - d->positions[3 * from + c];
        square += difference * difference;
    }
    return (spring){from, to, stiffness, sqrt(square)};
}

static tw_status network_from_draft(draft *d, int64_t particles, int64_t springs, double gravity,
                                    spring_network **out)
{
    network_input input = {.particle_count = particles,
                           .positions = d->positions,
                           .masses = d->masses,
                           .pinned = d->pinned,
                           .spring_count = springs,
                           .springs = d->springs,
                           .field = {0, 0, -gravity}};
    return spring_network_create(&input, out);
}

static void coil_particle(int64_t a, int64_t b, int64_t c, double *position)
{
    double s = (double)c / (COIL_SECTIONS - 1), angle = 2 * 3.14159265358979323846 * COIL_TURNS * s;
    double u = 0.3 * ((double)a / 3 - 0.5), w = 0.3 * ((double)b / 3 - 0.5);
    position[0] = (1 + u) * cos(angle);
    position[1] = (1 + u) * sin(angle);
    position[2] = 4 * s + w;
}

/* Edges of the Kuhn split: from (a,b,c) to each of the seven other corners of its cell that exist. */
static int64_t coil_springs(draft *d, int64_t sections, double stiffness)
{
    int64_t count = 0;
    for (int64_t i = 0; i < 16 * sections; i++)
        for (int corner = 1; corner < 8; corner++) {
            int64_t da = corner & 1, db = corner >> 1 & 1, dc = corner >> 2;
            if (i % 4 + da > 3 || i / 4 % 4 + db > 3 || i / 16 + dc >= sections) continue;
            d->springs[count++] = relaxed_spring(d, i, i + da + 4 * db + 16 * dc, stiffness);
        }
    return count;
}

tw_status coil_create(coil_parameters parameters, spring_network **out)
{
    *out = NULL;
    int64_t particles = 16 * parameters.sections;
    if (parameters.sections <= COIL_PINNED_SECTIONS || parameters.sections > COIL_SECTIONS)
        return TW_INVALID_ARGUMENT;
    draft d = {0};
    tw_status status = draft_allocate(&d, particles, 7 * particles) ? TW_OK : TW_OUT_OF_MEMORY;
    if (status == TW_OK) {
        for (int64_t i = 0; i < particles; i++) {
            coil_particle(i % 4, i / 4 % 4, i / 16, d.positions + 3 * i);
            d.masses[i] = parameters.mass;
            d.pinned[i] = i / 16 < COIL_PINNED_SECTIONS;
        }
        int64_t springs = coil_springs(&d, parameters.sections, parameters.stiffness);
        status = network_from_draft(&d, particles, springs, parameters.gravity, out);
    }
    draft_free(&d);
    return status;
}

tw_status rope_create(double stiffness, spring_network **out)
{
    *out = NULL;
    draft d = {0};
    tw_status status = draft_allocate(&d, ROPE_LINKS + 1, ROPE_LINKS) ? TW_OK : TW_OUT_OF_MEMORY;
    if (status == TW_OK) {
        for (int i = 0; i <= ROPE_LINKS; i++) {
            d.positions[3 * i] = 0.1 * i;
            d.positions[3 * i + 1] = d.positions[3 * i + 2] = 0;
            d.masses[i] = 0.1;
            d.pinned[i] = i == 0;
        }
        for (int i = 0; i < ROPE_LINKS; i++) d.springs[i] = (spring){i, i + 1, stiffness, 0.1};
        status = network_from_draft(&d, ROPE_LINKS + 1, ROPE_LINKS, 9.81, out);
    }
    draft_free(&d);
    return status;
}
