/* A model with a force of your own: a chain that hangs from a hand, damped, beside a magnet that pulls at every link.
 * Prints where its end is and what became of the energy. usage: own_force */
#include <math.h>
#include <stdio.h>
#include <twang/twang.h>

enum { LINKS = 20, COUNT = LINKS + 1 };

typedef struct magnet {
    double place[3], strength, size; /* [m], [N m^2], [m] */
} magnet;

/* V = -s / sqrt(r^2 + e^2) of every particle: smooth at the magnet itself. */
static double distance_to(const magnet *m, const double *x, double d[3])
{
    double square = m->size * m->size;
    for (int k = 0; k < 3; k++) d[k] = x[k] - m->place[k], square += d[k] * d[k];
    return sqrt(square);
}

static tw_status energy(void *context, double t, const double *x, double *sum)
{
    (void)t;
    const magnet *m = context;
    double d[3];
    for (int i = 0; i < COUNT; i++) *sum -= m->strength / distance_to(m, x + 3 * i, d);
    return TW_OK;
}

/* f = -grad V, added to what is there. Its tangent is made by differences, since it is not given. */
static tw_status pull(void *context, double t, const double *x, const double *v, double *force)
{
    (void)t, (void)v;
    const magnet *m = context;
    for (int i = 0; i < COUNT; i++) {
        double d[3], r = distance_to(m, x + 3 * i, d);
        for (int k = 0; k < 3; k++) force[3 * i + k] -= m->strength * d[k] / (r * r * r);
    }
    return TW_OK;
}

/* Links of 5 cm and 1e5 N/m; the first particle is the hand. */
static tw_status build(tw_model *model, magnet *m, tw_error *error)
{
    static double x[3 * COUNT], mass[COUNT], stiffness[LINKS], damping[LINKS];
    static int64_t ends[2 * LINKS];
    for (int i = 0; i < COUNT; i++) x[3 * i + 2] = -0.05 * i, mass[i] = 0.01;
    for (int i = 0; i < LINKS; i++)
        ends[2 * i] = i, ends[2 * i + 1] = i + 1, stiffness[i] = 1e5, damping[i] = 0.1;
    const double down[3] = {0, 0, -9.81}, reach[3] = {0.1, 0, 0};
    tw_user_force own = tw_user_force_default();
    own.context = m;
    own.force = pull;
    own.energy = energy;
    tw_status status = tw_model_add_particles(model, COUNT, x, NULL, mass, NULL, error);
    if (status == TW_OK) status = tw_model_add_springs(model, LINKS, ends, stiffness, NULL, error);
    if (status == TW_OK) status = tw_model_add_dashpots(model, LINKS, ends, damping, error);
    if (status == TW_OK) status = tw_model_add_gravity(model, down, error);
    if (status == TW_OK) status = tw_model_add_user_force(model, &own, error);
    return status ? status : tw_model_prescribe_oscillation(model, 0, 0, reach, 1.0, 0.0, error);
}

int main(void)
{
    magnet m = {{0.3, 0, -0.9}, 0.01, 0.05};
    tw_model *model = NULL;
    tw_simulation *simulation = NULL;
    tw_integrator *integrator = NULL;
    tw_error error = {0};
    tw_status status = tw_model_create(&model, &error);
    if (status == TW_OK) status = build(model, &m, &error);
    if (status == TW_OK) status = tw_simulation_of_model(model, &simulation, &error);
    if (status != TW_OK) tw_model_free(model); /* otherwise the simulation owns it */
    tw_integrator_options options = tw_integrator_options_default();
    options.scheme = TW_SCHEME_MIDPOINT;
    options.step = 0.002;
    if (status == TW_OK)
        status = tw_simulation_integrator(simulation, &options, &integrator, &error);
    for (int frame = 0; frame <= 10 && status == TW_OK; frame++) {
        double rows[6 * COUNT], t = 0.1 * frame;
        tw_measurement now;
        if (frame > 0) status = tw_integrator_advance(integrator, t, &error);
        const double *u = tw_integrator_state_view(integrator);
        if (status == TW_OK) status = tw_simulation_rows(simulation, t, u, rows);
        if (status == TW_OK) status = tw_simulation_measure(simulation, t, u, &now);
        if (status == TW_OK)
            printf("t = %.1f s  end at (%6.3f, %6.3f) m  energy %8.5f J  the hand gives %8.5f W, "
                   "friction takes %.5f W\n",
                   t, rows[6 * LINKS], rows[6 * LINKS + 2], now.kinetic + now.potential,
                   now.outside_power, now.damping_power);
    }
    if (status)
        fprintf(stderr, "own_force: %s\n", error.text[0] ? error.text : tw_status_text(status));
    tw_integrator_free(integrator);
    tw_simulation_free(simulation);
    return status != TW_OK;
}
