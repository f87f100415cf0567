/* What keeps rotating: amplitude of a stiff pendulum and angular momentum of a free box over
 * time, by expmid2 with 0, 1 and 2 corrections of its stage and by the midpoint rule, as tables
 * for bench/rotation.gp, and the last row with the Newton iterations per step as text. usage:
 * bench_rotation FOLDER      writes FOLDER/rotation_pendulum.csv and FOLDER/rotation_box.csv */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <twang/twang.h>

static const double pi = 3.14159265358979323846;

/* The contestants, a column each. */
static const struct {
    const char *name;
    tw_scheme scheme;
    int corrections;
} contestants[] = {{"expmid2, no correction", TW_SCHEME_EXPMID2, 0},
                   {"expmid2, 1 correction", TW_SCHEME_EXPMID2, 1},
                   {"expmid2, 2 corrections", TW_SCHEME_EXPMID2, 2},
                   {"midpoint rule", TW_SCHEME_MIDPOINT, 0}};
enum { CONTESTANTS = sizeof contestants / sizeof *contestants };

static void require(tw_status status, const tw_error *error)
{
    if (status == TW_OK) return;
    fprintf(stderr, "bench_rotation: %s\n", error->text);
    exit(1);
}

/* A mass of 1 kg on a spring of 1e6 N/m, 60 degrees from the vertical. */
static tw_simulation *make_pendulum(void)
{
    tw_error error;
    tw_model *model = NULL;
    tw_simulation *simulation = NULL;
    const double positions[6] = {0, 0, 0, sin(pi / 3), 0, -cos(pi / 3)};
    const double velocities[6] = {0};
    const double masses[2] = {1, 1};
    const double gravity[3] = {0, 0, -9.81};
    const int64_t ends[2] = {0, 1};
    const double stiffness = 1e6;
    require(tw_model_create(&model, &error), &error);
    require(tw_model_add_particles(model, 2, positions, velocities, masses, NULL, &error), &error);
    require(tw_model_add_springs(model, 1, ends, &stiffness, NULL, &error), &error);
    require(tw_model_add_gravity(model, gravity, &error), &error);
    require(tw_model_pin(model, 0, 0, &error), &error);
    require(tw_simulation_of_model(model, &simulation, &error), &error);
    return simulation;
}

enum { BOX_PARTICLES = 12 };

/* A box of 3 x 2 x 2 particles of 1 kg, springs of 1e6 N/m between near ones, that turns once in a
 * second about the vertical axis through its centre. */
static tw_simulation *make_box(void)
{
    tw_error error;
    tw_model *model = NULL;
    tw_simulation *simulation = NULL;
    double x[3 * BOX_PARTICLES];
    double v[3 * BOX_PARTICLES];
    double masses[BOX_PARTICLES];
    for (int i = 0; i < BOX_PARTICLES; i++) {
        int column = i / 4;
        x[3 * i] = column - 1.0;
        x[3 * i + 1] = i / 2 % 2 - 0.5;
        x[3 * i + 2] = i % 2 - 0.5;
        v[3 * i] = -2 * pi * x[3 * i + 1];
        v[3 * i + 1] = 2 * pi * x[3 * i];
        v[3 * i + 2] = 0;
        masses[i] = 1;
    }

    /* Edges, face diagonals and space diagonals of the two cubes are shorter than 1.75. */
    int64_t ends[BOX_PARTICLES * BOX_PARTICLES];
    double stiffness[BOX_PARTICLES * BOX_PARTICLES / 2];
    int64_t count = 0;
    for (int i = 0; i < BOX_PARTICLES; i++)
        for (int j = 0; j < i; j++) {
            double square = 0;
            for (int k = 0; k < 3; k++) square += pow(x[3 * i + k] - x[3 * j + k], 2);
            if (square > 1.75 * 1.75) continue;
            ends[2 * count] = i;
            ends[2 * count + 1] = j;
            stiffness[count++] = 1e6;
        }
    require(tw_model_create(&model, &error), &error);
    require(tw_model_add_particles(model, BOX_PARTICLES, x, v, masses, NULL, &error), &error);
    require(tw_model_add_springs(model, count, ends, stiffness, NULL, &error), &error);
    require(tw_simulation_of_model(model, &simulation, &error), &error);
    return simulation;
}

static tw_integrator *begin(tw_simulation *simulation, int contestant)
{
    tw_error error;
    tw_integrator *integrator = NULL;
    tw_integrator_options options = tw_integrator_options_default();
    options.scheme = contestants[contestant].scheme;
    options.expmid2.corrections = contestants[contestant].corrections;
    options.step = 0.05;
    require(tw_simulation_integrator(simulation, &options, &integrator, &error), &error);
    return integrator;
}

/* Angle from the vertical in degrees: the largest within `span` seconds before t. A run that has
 * ended with an error gives NaN, and its curve ends there. */
static double swing(tw_integrator *integrator, double t, double span)
{
    double largest = 0;
    for (int i = 1; i <= (int)lround(span / 0.05); i++) {
        if (tw_integrator_advance(integrator, t - span + 0.05 * i, NULL) != TW_OK) return NAN;
        const double *u = tw_integrator_state_view(integrator);
        largest = fmax(largest, fabs(atan2(u[0], -u[2])) * 180 / pi);
    }
    return largest;
}

/* Angular momentum about the vertical axis at time t. */
static double spin(tw_integrator *integrator, double t, double span)
{
    (void)span;
    if (tw_integrator_advance(integrator, t, NULL) != TW_OK) return NAN;
    const double *x = tw_integrator_state_view(integrator);
    const double *v = x + 3 * (size_t)BOX_PARTICLES;
    double sum = 0;
    for (int i = 0; i < BOX_PARTICLES; i++)
        sum += x[3 * i] * v[3 * i + 1] - x[3 * i + 1] * v[3 * i];
    return sum;
}

/* One table: a row every `span` seconds, a column per contestant. */
static void write_table(const char *folder, const char *name, tw_simulation *(*make)(void),
                        double (*measure)(tw_integrator *, double, double), double duration,
                        double span)
{
    char path[1000];
    snprintf(path, sizeof path, "%s/rotation_%s.csv", folder, name);
    FILE *file = fopen(path, "w");
    if (!file) {
        perror(path);
        exit(1);
    }
    tw_simulation *simulations[CONTESTANTS];
    tw_integrator *integrators[CONTESTANTS];
    fprintf(file, "t");
    for (int i = 0; i < CONTESTANTS; i++) {
        simulations[i] = make();
        integrators[i] = begin(simulations[i], i);
        fprintf(file, ",\"%s\"", contestants[i].name);
    }
    double last[CONTESTANTS] = {0};
    for (int row = 1; row <= (int)lround(duration / span); row++) {
        fprintf(file, "\n%g", row * span);
        for (int i = 0; i < CONTESTANTS; i++) {
            last[i] = measure(integrators[i], row * span, span);
            fprintf(file, ",%.6g", last[i]);
        }
    }
    fprintf(file, "\n");
    fclose(file);

    /* The table of docs/schemes.md. */
    for (int i = 0; i < CONTESTANTS; i++) {
        tw_integrator_statistics counts = tw_integrator_statistics_now(integrators[i]);
        printf("%s, %s: %.4f at the end, %.1f Newton iterations per step\n", name,
               contestants[i].name, last[i],
               (double)counts.newton_iterations / (double)(counts.steps > 0 ? counts.steps : 1));
    }
    for (int i = 0; i < CONTESTANTS; i++) {
        tw_integrator_free(integrators[i]);
        tw_simulation_free(simulations[i]);
    }
}

int main(int count, char **arguments)
{
    if (count != 2) {
        fprintf(stderr, "usage: bench_rotation FOLDER\n");
        return 2;
    }

    /* The pendulum's period is 2.15 s: every 2.5 s holds a turning point on each side. */
    write_table(arguments[1], "pendulum", make_pendulum, swing, 200, 2.5);
    write_table(arguments[1], "box", make_box, spin, 30, 0.5);
    return 0;
}
