#include "problems/moving_bodies.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <twang/fibres.h>
#include <twang/forces.h>
#include <twang/motion.h>

static const double pi = 3.14159265358979323846;
static const double amplitude = 0.03; /* of a shaken root [m] */
static const double frequency = 2;    /* of it [Hz] */
static const double earth[3] = {0, 0, -9.81};

/* Makes a simulation of the model, or frees it. `status` is that of what came before. */
static tw_status finish(tw_status status, tw_model *model, tw_simulation **out, tw_error *error)
{
    if (status == TW_OK) status = tw_simulation_of_model(model, out, error);
    if (status != TW_OK) tw_model_free(model);
    return status;
}

/* ---- the shaken root ---- */

double shake_displacement(shake kind, double t)
{
    double angle = 2 * pi * frequency * t;
    return kind == SHAKE_JERK ? amplitude * sin(angle) : amplitude * (1 - cos(angle));
}

static void move(shake kind, double t, const double start[3], double position[3],
                 double velocity[3], double acceleration[3])
{
    double w = 2 * pi * frequency;
    double speed = amplitude * w * cos(w * t);
    double change = -amplitude * w * w * sin(w * t);
    if (kind == SHAKE_SMOOTH) {
        speed = amplitude * w * sin(w * t);
        change = amplitude * w * w * cos(w * t);
    }

    /* Along x and y alike; z stays. */
    for (int k = 0; k < 3; k++) {
        double share = k < 2 ? 1 : 0;
        position[k] = start[k] + share * shake_displacement(kind, t);
        velocity[k] = share * speed;
        acceleration[k] = share * change;
    }
}

static void move_jerk(void *context, double t, const double start[3], double position[3],
                      double velocity[3], double acceleration[3])
{
    (void)context;
    move(SHAKE_JERK, t, start, position, velocity, acceleration);
}

static void move_smooth(void *context, double t, const double start[3], double position[3],
                        double velocity[3], double acceleration[3])
{
    (void)context;
    move(SHAKE_SMOOTH, t, start, position, velocity, acceleration);
}

static tw_status shake_particles(tw_model *model, int64_t last, shake kind, tw_error *error)
{
    if (kind == SHAKE_NONE) return tw_model_pin(model, 0, last, error);

    tw_motion motion = {.at = move_jerk};
    if (kind == SHAKE_SMOOTH) motion.at = move_smooth;
    return tw_model_prescribe(model, 0, last, &motion, error);
}

/* ---- the rope ---- */

tw_status shaken_rope_create(double stiffness, shake kind, tw_simulation **out, tw_error *error)
{
    double x[3 * (SHAKEN_LINKS + 1)] = {0};
    double v[3 * (SHAKEN_LINKS + 1)] = {0};
    double mass[SHAKEN_LINKS + 1];
    double k[SHAKEN_LINKS];
    int64_t ends[2 * SHAKEN_LINKS];
    for (int i = 0; i <= SHAKEN_LINKS; i++) {
        x[3 * i] = 0.1 * i;
        mass[i] = 0.1;
    }
    for (int i = 0; i < SHAKEN_LINKS; i++) {
        ends[2 * i] = i;
        ends[2 * i + 1] = i + 1;
        k[i] = stiffness;
    }

    tw_model *model = NULL;
    tw_status status = tw_model_create(&model, error);
    if (status == TW_OK)
        status = tw_model_add_particles(model, SHAKEN_LINKS + 1, x, v, mass, NULL, error);
    if (status == TW_OK) status = tw_model_add_springs(model, SHAKEN_LINKS, ends, k, NULL, error);
    if (status == TW_OK) status = tw_model_add_gravity(model, earth, error);
    if (status == TW_OK) status = shake_particles(model, 0, kind, error);
    return finish(status, model, out, error);
}

/* ---- the cloth ---- */

typedef struct cloth_springs {
    int count;
    int64_t ends[8 * CLOTH_SIDE * CLOTH_SIDE];
    double stiffness[4 * CLOTH_SIDE * CLOTH_SIDE];
} cloth_springs;

/* Adds a spring from particle p to its neighbour by (down, right), where there is one. */
static void tie(int p, int down, int right, double stiffness, cloth_springs *springs)
{
    int row = p / CLOTH_SIDE + down;
    int column = p % CLOTH_SIDE + right;
    if (row >= CLOTH_SIDE || column < 0 || column >= CLOTH_SIDE) return;
    springs->ends[2 * springs->count] = p;
    springs->ends[2 * springs->count + 1] = row * CLOTH_SIDE + column;
    springs->stiffness[springs->count++] = stiffness;
}

tw_status shaken_cloth_create(shake kind, double alpha, double beta, tw_simulation **out,
                              tw_error *error)
{
    enum { PARTICLES = CLOTH_SIDE * CLOTH_SIDE };
    double x[3 * PARTICLES];
    double mass[PARTICLES];
    cloth_springs springs = {.count = 0};
    for (int p = 0; p < PARTICLES; p++) {
        int row = p / CLOTH_SIDE;
        int column = p % CLOTH_SIDE;
        x[3 * p] = 0.1 * row;
        x[3 * p + 1] = 0.1 * column;
        x[3 * p + 2] = 0.01 * sin(3.0 * row + 2.0 * column);
        mass[p] = 0.01;
        tie(p, 1, 0, 1000, &springs);
        tie(p, 0, 1, 1000, &springs);
        tie(p, 1, 1, 300, &springs);
        tie(p, 1, -1, 300, &springs);
    }

    tw_model *model = NULL;
    tw_status status = tw_model_create(&model, error);
    if (status == TW_OK)
        status = tw_model_add_particles(model, PARTICLES, x, NULL, mass, NULL, error);
    if (status == TW_OK)
        status = tw_model_add_springs(model, springs.count, springs.ends, springs.stiffness, NULL,
                                      error);
    if (status == TW_OK) status = tw_model_add_gravity(model, earth, error);
    if (status == TW_OK) status = tw_model_set_rayleigh(model, alpha, beta, error);
    if (status == TW_OK) status = shake_particles(model, CLOTH_SIDE - 1, kind, error);
    return finish(status, model, out, error);
}

/* ---- the hair ---- */

tw_status hair_create(tw_simulation **out, tw_error *error)
{
    static const double root[3] = {0, 0, 0};
    static const double direction[3] = {1, 0, 0};
    tw_fibres hair = tw_fibres_default();
    hair.count = 1;
    hair.roots = root;
    hair.directions = direction;
    hair.thickness = 7e-5;
    hair.segments = HAIR_SEGMENTS;

    tw_model *model = NULL;
    tw_status status = tw_model_create(&model, error);
    if (status == TW_OK) status = tw_model_add_fibres(model, &hair, NULL, error);
    if (status == TW_OK) status = tw_model_add_gravity(model, earth, error);
    if (status == TW_OK) status = shake_particles(model, 3, SHAKE_SMOOTH, error);
    return finish(status, model, out, error);
}

void hair_centres(const double *u, double centres[3 * HAIR_SEGMENTS])
{
    for (int i = 0; i < 3 * HAIR_SEGMENTS; i++) {
        const double *section = u + 12 * (i / 3) + i % 3;
        centres[i] = 0.25 * (section[0] + section[3] + section[6] + section[9]);
    }
}

double hair_length(double t, const double centres[3 * HAIR_SEGMENTS])
{
    double moved = shake_displacement(SHAKE_SMOOTH, t);
    const double root[3] = {moved, moved, 0};
    const double *before = root;
    double length = 0;
    for (int s = 0; s < HAIR_SEGMENTS; s++) {
        const double *at = centres + 3 * s;
        double square = 0;
        for (int k = 0; k < 3; k++) square += (at[k] - before[k]) * (at[k] - before[k]);
        length += sqrt(square);
        before = at;
    }
    return length;
}

/* ---- the box ---- */

static void cross(const double a[3], const double b[3], double out[3])
{
    for (int k = 0; k < 3; k++)
        out[k] = a[(k + 1) % 3] * b[(k + 2) % 3] - a[(k + 2) % 3] * b[(k + 1) % 3];
}

static double distance(const double *a, const double *b)
{
    double square = 0;
    for (int k = 0; k < 3; k++) square += (a[k] - b[k]) * (a[k] - b[k]);
    return sqrt(square);
}

static void box_particles(double x[3 * BOX_PARTICLES])
{
    for (int i = 0; i < BOX_PARTICLES; i++) {
        int column = i / 4;
        x[3 * i] = column;
        x[3 * i + 1] = i / 2 % 2;
        x[3 * i + 2] = i % 2;
    }
}

/* Pairs nearer than this are joined: edges, diagonals of faces and of cubes [m]. */
static const double box_reach = 1.75;

static int box_ends(const double *x, int64_t ends[2 * BOX_SPRINGS])
{
    int count = 0;
    for (int i = 0; i < BOX_PARTICLES; i++)
        for (int j = 0; j < i; j++) {
            if (distance(x + 3 * i, x + 3 * j) >= box_reach) continue;
            ends[2 * count] = i;
            ends[2 * count++ + 1] = j;
        }
    return count;
}

tw_status box_create(const double spin[3], tw_simulation **out, tw_error *error)
{
    static const double middle[3] = {1, 0.5, 0.5};
    double x[3 * BOX_PARTICLES];
    double v[3 * BOX_PARTICLES];
    double mass[BOX_PARTICLES];
    int64_t ends[2 * BOX_SPRINGS];
    double k[BOX_SPRINGS];
    box_particles(x);
    int count = box_ends(x, ends);
    for (int i = 0; i < count; i++) k[i] = 1e6;

    /* v = spin x (x - middle) */
    for (int i = 0; i < BOX_PARTICLES; i++) {
        double arm[3];
        for (int c = 0; c < 3; c++) arm[c] = x[3 * i + c] - middle[c];
        cross(spin, arm, v + 3 * i);
        mass[i] = 1;
    }

    tw_model *model = NULL;
    tw_status status = tw_model_create(&model, error);
    if (status == TW_OK)
        status = tw_model_add_particles(model, BOX_PARTICLES, x, v, mass, NULL, error);
    if (status == TW_OK) status = tw_model_add_springs(model, count, ends, k, NULL, error);
    return finish(status, model, out, error);
}

void box_momentum(const double *u, double momentum[3], double *kinetic)
{
    const double *v = u + 3 * BOX_PARTICLES;
    *kinetic = 0;
    for (int k = 0; k < 3; k++) momentum[k] = 0;
    for (int i = 0; i < BOX_PARTICLES; i++) {
        double own[3];
        cross(u + 3 * i, v + 3 * i, own);
        for (int k = 0; k < 3; k++) momentum[k] += own[k];
        for (int k = 0; k < 3; k++) *kinetic += 0.5 * v[3 * i + k] * v[3 * i + k];
    }
}

double box_strain(const double *u)
{
    double x[3 * BOX_PARTICLES];
    int64_t ends[2 * BOX_SPRINGS];
    double largest = 0;
    box_particles(x);
    int count = box_ends(x, ends);
    for (int s = 0; s < count; s++) {
        int64_t i = 3 * ends[2 * s];
        int64_t j = 3 * ends[2 * s + 1];
        double ratio = distance(u + i, u + j) / distance(x + i, x + j);
        largest = fmax(largest, fabs(ratio - 1));
    }
    return largest;
}

/* ---- the pendulum ---- */

tw_status pendulum_create(double stiffness, tw_simulation **out, tw_error *error)
{
    const double x[6] = {0, 0, 0, sin(pi / 3), 0, -cos(pi / 3)};
    const double v[6] = {0};
    const double mass[2] = {1, 1};
    const int64_t ends[2] = {0, 1};

    tw_model *model = NULL;
    tw_status status = tw_model_create(&model, error);
    if (status == TW_OK) status = tw_model_add_particles(model, 2, x, v, mass, NULL, error);
    if (status == TW_OK) status = tw_model_add_springs(model, 1, ends, &stiffness, NULL, error);
    if (status == TW_OK) status = tw_model_add_gravity(model, earth, error);
    if (status == TW_OK) status = tw_model_pin(model, 0, 0, error);
    return finish(status, model, out, error);
}

double pendulum_angle(const double *u)
{
    return fabs(atan2(u[0], -u[2])) * 180 / pi;
}
