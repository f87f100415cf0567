/* Contact of bodies with obstacles: impacts, sliding, tangents, moved obstacles. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <twang/twang.h>

#include "support/run_suite.h"
#include "support/simulation_runs.h"

/* What a test wants of a body of eight particles: a cube that all its 28 springs hold. */
typedef struct setting {
    double gravity[3];
    double velocity[3];
    double height; /* of its lowest particles */
    double friction;
    double restitution;
    tw_obstacle obstacle;
    double obstacle_speed; /* along z */
    double stiffness;      /* of its springs [N/m]; 0: 2e6 */
    double kappa;          /* of its contact [N/m]; 0: made for the cube */
} setting;

static const double edge = 0.1;   /* of the cube [m] */
static const double layer = 2e-3; /* contact distance [m] */

static void fill_cube(const setting *s, double x[24], double v[24], double mass[8])
{
    for (int i = 0; i < 8; i++) {
        const double corner[3] = {i & 1 ? edge : 0, i & 2 ? edge : 0, i & 4 ? edge : 0};
        for (int k = 0; k < 3; k++) {
            x[3 * i + k] = corner[k] - 0.5 * edge;
            v[3 * i + k] = s->velocity[k];
        }
        x[3 * i + 2] = corner[2] + s->height;
        mass[i] = 0.125;
    }
}

static void add_springs(tw_model *model, double wanted)
{
    int64_t ends[56];
    double stiffness[28];
    int count = 0;
    for (int64_t a = 0; a < 8; a++)
        for (int64_t b = a + 1; b < 8; b++) {
            ends[2 * count] = a;
            ends[2 * count + 1] = b;
            stiffness[count++] = wanted > 0 ? wanted : 2e6;
        }
    ck_assert_int_eq(tw_model_add_springs(model, count, ends, stiffness, NULL, NULL), TW_OK);
}

static tw_simulation *cube_on_obstacle(const setting *s)
{
    /* The twelve triangles of its surface. */
    static const int64_t faces[36] = {0, 2, 1, 1, 2, 3, 4, 5, 6, 5, 7, 6, 0, 1, 4, 1, 5, 4,
                                      2, 6, 3, 3, 6, 7, 0, 4, 2, 2, 4, 6, 1, 3, 5, 3, 7, 5};
    double x[24];
    double v[24];
    double mass[8];
    tw_model *model = NULL;
    tw_error error = {0};
    fill_cube(s, x, v, mass);
    ck_assert_int_eq(tw_model_create(&model, NULL), TW_OK);
    ck_assert_int_eq(tw_model_add_particles(model, 8, x, v, mass, NULL, NULL), TW_OK);
    add_springs(model, s->stiffness);
    ck_assert_int_eq(tw_model_add_gravity(model, s->gravity, NULL), TW_OK);
    tw_display display = {.count = 8, .triangle_count = 12, .triangles = faces};
    ck_assert_int_eq(tw_model_add_display(model, &display, NULL), TW_OK);

    int64_t first = 0;
    int64_t last = 0;
    ck_assert_int_eq(tw_model_add_obstacle(model, &s->obstacle, &first, &last, NULL), TW_OK);
    const double drift[3] = {0, 0, s->obstacle_speed};
    if (s->obstacle_speed != 0)
        ck_assert_int_eq(tw_model_prescribe_velocity(model, first, last, drift, NULL), TW_OK);

    tw_contact_options options = tw_contact_options_default();
    options.distance = layer;
    options.stiffness = s->kappa;
    options.friction = s->friction;
    options.restitution = s->restitution;
    ck_assert_int_eq(tw_model_add_contact(model, &options, NULL), TW_OK);
    tw_simulation *simulation = NULL;
    tw_status status = tw_simulation_of_model(model, &simulation, &error);
    ck_assert_msg(status == TW_OK, "%s", error.text);
    return simulation;
}

/* Runs for `duration`, and writes the mean position and velocity of the cube. */
static void run(tw_simulation *simulation, tw_scheme scheme, double step, double duration,
                double mean[6])
{
    tw_integrator_options options = tw_integrator_options_default();
    options.scheme = scheme;
    options.step = step;
    tw_integrator *integrator = NULL;
    tw_error error = {0};
    const tw_second_order_problem *problem = tw_simulation_second_order(simulation);
    tw_status status = tw_integrator_create_second_order(problem, &options, &integrator, &error);
    ck_assert_msg(status == TW_OK, "%s", error.text);
    status = tw_integrator_start(integrator, 0, tw_simulation_start(simulation), &error);
    if (status == TW_OK) status = tw_integrator_advance(integrator, duration, &error);
    ck_assert_msg(status == TW_OK, "%s", error.text);

    const double *u = tw_integrator_state_view(integrator);
    memset(mean, 0, 6 * sizeof *mean);
    for (int i = 0; i < 48; i++) mean[i % 3 + 3 * (i / 24)] += u[i] / 8;
    tw_integrator_free(integrator);
}

static const tw_obstacle ground = {.kind = TW_OBSTACLE_PLANE, .other = {0, 0, 1}, .size = 1};

/* Schemes of every sort, and steps that resolve the contact layer (2 mm at 1 m/s) or nearly so. */
static const struct {
    tw_scheme scheme;
    double step;
} cases[] = {{TW_SCHEME_VERLET, 1e-4},
             {TW_SCHEME_RK4, 1e-4},
             {TW_SCHEME_MIDPOINT, 5e-4},
             {TW_SCHEME_EXPMID2, 2e-4},
             {TW_SCHEME_BDF1, 2e-4}};
enum { CASES = sizeof cases / sizeof *cases };

/* ---- impacts ---- */

START_TEST(an_impact_ends_with_its_share_of_the_speed)
{
    static const double shares[] = {1, 0.5, 0};
    for (int e = 0; e < 3; e++) {
        setting s = {.velocity = {0, 0, -1}, .height = 0.02, .restitution = shares[e]};
        s.obstacle = ground;
        tw_simulation *simulation = cube_on_obstacle(&s);
        double mean[6];
        run(simulation, cases[_i].scheme, cases[_i].step, 0.06, mean);

        /* The cube keeps a little vibration, and bdf1 damps the impact itself. Where all of the
         * speed is to be lost, a part of it has passed into the stiff cube before it can be taken
         * from the corners. */
        if (cases[_i].scheme == TW_SCHEME_BDF1)
            ck_assert_double_le(mean[5], shares[e] + 0.02);
        else
            ck_assert_double_eq_tol(mean[5], shares[e], shares[e] > 0 ? 0.06 : 0.35);
        ck_assert_double_gt(mean[2], 0.5 * edge - 0.1 * layer);
        tw_simulation_free(simulation);
    }
}
END_TEST

/* Restitution is a property of the contact. What the body stores in its springs while it is stopped it
 * gives back by itself: with e = 0 a cube leaves with a speed that falls as 1/sqrt(k), 0.147, 0.048 and
 * 0.015 m/s of 1 m/s for springs of 2e6, 2e7 and 2e8 N/m, with steps that resolve them. */
START_TEST(the_rebound_of_a_dead_contact_is_the_bodys_own)
{
    double speed[2];
    for (int i = 0; i < 2; i++) {
        setting s = {.velocity = {0, 0, -1}, .height = 2.2e-3, .stiffness = i ? 2e7 : 2e6};
        s.obstacle = ground;
        tw_simulation *simulation = cube_on_obstacle(&s);
        double mean[6];
        run(simulation, TW_SCHEME_VERLET, i ? 2.5e-6 : 8e-6, 0.02, mean);
        speed[i] = mean[5];
        tw_simulation_free(simulation);
    }
    ck_assert_double_gt(speed[1], 0);
    ck_assert_double_lt(speed[0], 0.16);
    ck_assert_double_eq_tol(speed[0] / speed[1], sqrt(10), 0.3);
}
END_TEST

/* A ball, a capsule: the cube does not enter. */
START_TEST(round_obstacles_hold)
{
    const tw_obstacle round[2] = {
        {.kind = TW_OBSTACLE_SPHERE, .radius = 0.3, .point = {0, 0, -0.3}},
        {.kind = TW_OBSTACLE_CAPSULE,
         .radius = 0.3,
         .point = {-1, 0, -0.3},
         .other = {1, 0, -0.3}}};
    for (int o = 0; o < 2; o++) {
        setting s = {.velocity = {0, 0, -1}, .height = 0.01, .restitution = 1};
        s.obstacle = round[o];
        tw_simulation *simulation = cube_on_obstacle(&s);
        double mean[6];
        run(simulation, TW_SCHEME_VERLET, 1e-4, 0.04, mean);
        ck_assert_double_eq_tol(mean[5], 1, 0.1);
        tw_simulation_free(simulation);
    }
}
END_TEST

/* ---- friction ---- */

/* On a slope of angle phi a block with mu > tan phi rests; with mu < tan phi it slides with
 * g (sin phi - mu cos phi). The slope is made by tilting gravity. The first 0.2 s, in which the
 * block settles, do not count. */
START_TEST(a_block_holds_below_the_friction_angle_and_slides_above)
{
    double mu = 0.5;
    for (int above = 0; above < 2; above++) {
        double tangent = above ? 0.6 : 0.45;
        double c = 1 / sqrt(1 + tangent * tangent);
        setting s = {.gravity = {9.81 * tangent * c, 0, -9.81 * c}, .friction = mu};
        s.height = 0.92 * layer;
        s.obstacle = ground;
        double mean[2][6];
        for (int part = 0; part < 2; part++) {
            tw_simulation *simulation = cube_on_obstacle(&s);
            run(simulation, cases[_i].scheme, cases[_i].step, 0.2 + 0.2 * part, mean[part]);
            tw_simulation_free(simulation);
        }

        double expected = 9.81 * c * (tangent - mu);
        double acceleration = (mean[1][3] - mean[0][3]) / 0.2;
        if (above)
            ck_assert_double_eq_tol(acceleration, expected, 0.02 * expected);
        else
            ck_assert_double_lt(fabs(mean[1][0] - mean[0][0]), 2e-5);
    }
}
END_TEST

/* The acceleration of a block that slides down a slope, beside what Coulomb's law says. */
static double slide_of(tw_scheme scheme, double step)
{
    double tangent = 0.6;
    double c = 1 / sqrt(1 + tangent * tangent);
    setting s = {.gravity = {9.81 * tangent * c, 0, -9.81 * c}, .friction = 0.5};
    s.height = 0.92 * layer;
    s.obstacle = ground;
    double mean[2][6];
    for (int part = 0; part < 2; part++) {
        tw_simulation *simulation = cube_on_obstacle(&s);
        run(simulation, scheme, step, 0.2 + 0.2 * part, mean[part]);
        tw_simulation_free(simulation);
    }
    return (mean[1][3] - mean[0][3]) / 0.2 / (9.81 * c * (tangent - 0.5));
}

static const struct slide_case {
    tw_scheme scheme;
    double step;
} slides[] = {{TW_SCHEME_EXPMID2, 2e-4}, {TW_SCHEME_EXPMID2, 5e-4}, {TW_SCHEME_EXPMID2, 1e-3},
              {TW_SCHEME_EXPMID2, 2e-3}, {TW_SCHEME_EXPMID2, 5e-3}, {TW_SCHEME_EXPRB42, 2e-4},
              {TW_SCHEME_EXPRB42, 1e-3}, {TW_SCHEME_EXPRB42, 2e-3}, {TW_SCHEME_EXPRB42, 5e-3}};

/* The contact vibrates, resolved or not, and presses with the weight in the mean. */
START_TEST(a_block_slides_by_coulombs_law_at_any_step)
{
    double ratio = slide_of(slides[_i].scheme, slides[_i].step);
    ck_assert_double_eq_tol(ratio, 1, 0.02);
}
END_TEST

/* Nothing creeps at steps of 2 ms, whatever the scheme: bdf1 and bdf2, which move by h v_{n+1}, went 6.7 mm
 * in this time. */
START_TEST(a_block_does_not_creep)
{
    static const tw_scheme schemes[] = {TW_SCHEME_MIDPOINT, TW_SCHEME_EXPMID2, TW_SCHEME_EXPRB42,
                                        TW_SCHEME_BDF1, TW_SCHEME_BDF2};
    double tangent = 0.45;
    double c = 1 / sqrt(1 + tangent * tangent);
    setting s = {.gravity = {9.81 * tangent * c, 0, -9.81 * c}, .friction = 0.5};
    s.height = 0.92 * layer;
    s.obstacle = ground;
    double mean[2][6];
    for (int part = 0; part < 2; part++) {
        tw_simulation *simulation = cube_on_obstacle(&s);
        run(simulation, schemes[_i], 2e-3, 0.2 + 0.6 * part, mean[part]);
        tw_simulation_free(simulation);
    }
    ck_assert_double_lt(fabs(mean[1][0] - mean[0][0]), 3e-5);
}
END_TEST

/* A block falls by a millimetre on a slope, with steps that are far longer than its contact: it was thrown
 * back within each step, neither end of which touched, and glided without friction. Such steps are
 * divided. The slope is that of the test above. Without friction the block is six times as fast. */
START_TEST(a_block_does_not_glide_above_its_slope)
{
    static const tw_scheme schemes[] = {TW_SCHEME_MIDPOINT, TW_SCHEME_EXPMID2, TW_SCHEME_EXPRB42};
    double tangent = 0.6;
    double c = 1 / sqrt(1 + tangent * tangent);
    setting s = {.gravity = {9.81 * tangent * c, 0, -9.81 * c}, .friction = 0.5};
    s.height = 1.5 * layer;
    s.obstacle = ground;
    tw_simulation *simulation = cube_on_obstacle(&s);
    double mean[6];
    run(simulation, schemes[_i], 0.01, 0.4, mean);
    tw_simulation_free(simulation);

    /* It falls from 1.5 d to d and lands with v_n; friction is mu times the impulse of the landing, too:
     * v = g sin phi t - mu (g cos phi (t - t_n) + v_n),   v_n = g cos phi t_n. */
    double expected = 9.81 * c * (tangent - 0.5) * 0.4;
    ck_assert_double_eq_tol(mean[3], expected, 0.25 * expected);
    ck_assert_double_lt(mean[2], 0.5 * edge + layer);
}
END_TEST

/* ---- the problem ---- */

/* Products with K agree with differences of the forces, with the cube inside the layer. */
START_TEST(the_tangent_agrees_with_differences)
{
    const tw_obstacle obstacles[3] = {
        ground,
        {.kind = TW_OBSTACLE_SPHERE, .radius = 0.3, .point = {0.01, 0.02, -0.3}},
        {.kind = TW_OBSTACLE_CAPSULE,
         .radius = 0.3,
         .point = {-1, 0, -0.3},
         .other = {1, 0.1, -0.3}}};
    setting s = {.height = 0.5 * layer, .restitution = 1};
    s.obstacle = obstacles[_i];
    tw_simulation *simulation = cube_on_obstacle(&s);
    const tw_second_order_problem *p = tw_simulation_second_order(simulation);
    double x[24];
    double v[24] = {0};
    double direction[24];
    double product[24];
    double ahead[24];
    double behind[24];
    memcpy(x, tw_simulation_start(simulation), sizeof x);
    for (int i = 0; i < 24; i++) {
        x[i] += 1e-4 * sin(7 * i);
        direction[i] = cos(3 * i);
    }
    ck_assert_int_eq(p->linearise(p->context, 0, x, v), TW_OK);
    ck_assert_int_eq(p->apply_stiffness(p->context, 1, direction, product), TW_OK);

    double step = 1e-8;
    for (int i = 0; i < 24; i++) x[i] += step * direction[i];
    ck_assert_int_eq(p->acceleration(p->context, 0, x, v, ahead), TW_OK);
    for (int i = 0; i < 24; i++) x[i] -= 2 * step * direction[i];
    ck_assert_int_eq(p->acceleration(p->context, 0, x, v, behind), TW_OK);
    for (int i = 0; i < 24; i++) {
        double difference = -(ahead[i] - behind[i]) / (2 * step) * 0.125;
        ck_assert_double_eq_tol(difference, product[i], 1.0);
    }

    /* Contact is there: without it the cube, which is nearly at rest, would feel less. */
    ck_assert_double_gt(fabs(ahead[2]), 1);
    tw_simulation_free(simulation);
}
END_TEST

/* A rising plane lifts the cube: its power is all the energy that the cube gains. */
START_TEST(a_moved_plane_does_work)
{
    setting s = {.height = 0.01, .restitution = 1, .obstacle_speed = 1};
    s.obstacle = ground;
    tw_simulation *simulation = cube_on_obstacle(&s);
    double mean[6];
    run(simulation, TW_SCHEME_EXPMID2, 2e-4, 0.05, mean);

    /* An elastic impact of a wall of 1 m/s: the cube leaves with 2 m/s. */
    ck_assert_double_eq_tol(mean[5], 2, 0.12);
    tw_simulation_free(simulation);
}
END_TEST

/* Energy, and what impulses took of it, add up to the energy at the start. */
START_TEST(what_impulses_take_is_accounted)
{
    setting s = {.velocity = {0.7, 0, -1}, .height = 0.01, .friction = 0.3, .restitution = 0.4};
    s.obstacle = ground;
    tw_simulation *simulation = cube_on_obstacle(&s);
    tw_integrator_options options = tw_integrator_options_default();
    options.scheme = TW_SCHEME_VERLET;
    options.step = 5e-5;
    tw_integrator *integrator = NULL;
    const double *start = tw_simulation_start(simulation);
    const tw_second_order_problem *problem = tw_simulation_second_order(simulation);
    ck_assert_int_eq(tw_integrator_create_second_order(problem, &options, &integrator, NULL),
                     TW_OK);
    ck_assert_int_eq(tw_integrator_start(integrator, 0, start, NULL), TW_OK);
    tw_measurement before;
    tw_measurement after;
    ck_assert_int_eq(tw_simulation_measure(simulation, 0, start, &before), TW_OK);
    ck_assert_int_eq(tw_integrator_advance(integrator, 0.05, NULL), TW_OK);
    ck_assert_int_eq(
        tw_simulation_measure(simulation, 0.05, tw_integrator_state_view(integrator), &after),
        TW_OK);

    double lost = before.kinetic + before.potential - after.kinetic - after.potential;
    ck_assert_double_gt(after.contact_work, 0.05);
    ck_assert_double_gt(after.friction_work, 0.05);
    ck_assert_double_eq_tol(after.contact_work + after.friction_work, lost, 5e-3 * lost);
    tw_integrator_free(integrator);
    tw_simulation_free(simulation);
}
END_TEST

/* ---- obstacles that move ---- */

/* What a run of a scene saw. */
typedef struct journey {
    double works;       /* of impacts and friction [J] */
    double driven;      /* of whoever moves obstacles: forces and impulses [J] */
    double change;      /* of kinetic and potential energy [J] */
    double kinetic;     /* at the end */
    double momentum[3]; /* at the end */
    double penetration; /* largest [m] */
} journey;

static journey travel(const char *text, double duration, double interval)
{
    tw_scene *scene = NULL;
    tw_simulation *simulation = NULL;
    tw_integrator *integrator = NULL;
    tw_error error = {0};
    journey j = {0};
    tw_status status = tw_scene_parse("x", text, strlen(text), 0, NULL, &scene, &error);
    if (status == TW_OK) status = tw_scene_build(scene, &simulation, &error);
    if (status == TW_OK)
        status = tw_scene_create_integrator(scene, simulation, &integrator, &error);
    if (status == TW_OK)
        status = tw_integrator_start(integrator, 0, tw_simulation_start(simulation), &error);
    ck_assert_msg(status == TW_OK, "%s", error.text);

    tw_measurement before;
    tw_measurement m = {0};
    ck_assert_int_eq(tw_simulation_measure(simulation, 0, tw_simulation_start(simulation), &before),
                     TW_OK);
    for (int i = 1; i <= lround(duration / interval); i++) {
        double power = m.outside_power;
        status = tw_integrator_advance(integrator, i * interval, &error);
        ck_assert_msg(status == TW_OK, "%s", error.text);
        ck_assert_int_eq(tw_simulation_measure(simulation, i * interval,
                                               tw_integrator_state_view(integrator), &m),
                         TW_OK);
        j.works += m.contact_work + m.friction_work;
        j.driven += m.impulse_work + 0.5 * interval * (power + m.outside_power);
        j.penetration = fmax(j.penetration, m.penetration_max);
    }
    j.change = m.kinetic + m.potential - before.kinetic - before.potential;
    j.kinetic = m.kinetic;
    memcpy(j.momentum, m.momentum, sizeof j.momentum);
    tw_integrator_free(integrator);
    tw_simulation_free(simulation);
    tw_scene_free(scene);
    return j;
}

#define BLOCK                                                                                      \
    "  - {kind: box, size: [0.2, 0.2, 0.1], cells: [2, 2, 1], origin: [-0.1, -0.1, 0.0095],\n"     \
    "     material: corotational, youngs_modulus: 1e6, density: 1000}\n"

/* A belt of 1 m/s takes a block of 4 kg along. It does 4 J: one half is kinetic energy, the other half
 * is lost by friction. */
START_TEST(a_belt_does_the_work_of_its_friction)
{
    journey j = travel("name: x\nduration: 1\ngravity: [0, 0, -9.81]\n"
                       "integrator: {name: midpoint, step: 2e-3}\nbodies:\n" BLOCK
                       "contact: {distance: 0.01, friction: 0.3}\nobstacles:\n"
                       "  - {kind: plane, motion: {kind: velocity, velocity: [1, 0, 0]}}\n",
                       1, 0.01);
    ck_assert_double_eq_tol(j.momentum[0], 4, 0.04);
    ck_assert_double_eq_tol(j.driven, 4, 0.04);
    ck_assert_double_eq_tol(j.driven - j.works - j.change, 0, 0.05);
}
END_TEST

/* A ball that turns in its place takes along what lies on it, as a belt does: after the block has
 * settled, the impulse of friction is mu times that of the ball. */
START_TEST(a_turning_ball_takes_bodies_along)
{
    journey j[2];
    for (int part = 0; part < 2; part++)
        j[part] = travel("name: x\nduration: 1\ngravity: [0, 0, -9.81]\n"
                         "integrator: {name: midpoint, step: 1e-3}\nbodies:\n" BLOCK
                         "contact: {distance: 0.01, friction: 0.3}\nobstacles:\n"
                         "  - {kind: sphere, centre: [0, 0, -50], radius: 50, motion: "
                         "{kind: rotation, point: [0, 0, -50], axis: [0, 1, 0], rate: 0.1}}\n",
                         0.15 + 0.15 * part, 1e-3);
    double push = 4 * 9.81 * 0.15 + j[1].momentum[2] - j[0].momentum[2];
    double taken = j[1].momentum[0] - j[0].momentum[0];
    ck_assert_double_eq_tol(taken, 0.3 * push, 0.02 * 0.3 * push);
    ck_assert_double_eq_tol(j[1].driven - j[1].works - j[1].change, 0, 0.03 * j[1].works);
}
END_TEST

/* ---- stiffness: auto ---- */

/* Turned blocks fall on a box and on each other, divided coarsely and finely: no step fails, and
 * surfaces without thickness do not meet. */
START_TEST(default_contact_stops_whole_bodies)
{
    char text[900];
    int cells = 2 << (_i % 3); /* 2, 4, 8 */
    bool two = _i >= 3;
    snprintf(
        text, sizeof text,
        "name: x\nduration: 1\ngravity: [0, 0, -9.81]\nintegrator: {name: midpoint, step: 5e-3}\n"
        "bodies:\n"
        "  - {kind: box, size: [0.2, 0.2, 0.2], cells: [%d, %d, %d], rotation: [10, 20, 0],\n"
        "     origin: [-0.1, -0.1, 0.15], material: corotational, youngs_modulus: 1e6,\n"
        "     density: 1000}\n%s"
        "contact: {distance: 0.01, thickness: 2e-3}\nobstacles:\n"
        "  - {kind: box, centre: [0, 0, -0.1], sides: [1, 1, 0.2]}\n",
        cells, cells, cells,
        two ? "  - {kind: box, size: [0.2, 0.2, 0.2], cells: [2, 2, 2], origin: [-0.07, -0.1, "
              "0.47],\n     material: corotational, youngs_modulus: 1e7, density: 1000}\n"
            : "");
    journey j = travel(text, 0.22, 5e-3);
    ck_assert_double_le(j.penetration, 0.05 * 2e-3);
    ck_assert_double_gt(j.works, 0);
}
END_TEST

/* A failure names both bodies and the place. */
START_TEST(a_failure_names_the_bodies)
{
    static const char text[] =
        "name: x\nduration: 1\ngravity: [0, 0, -9.81]\nintegrator: {name: midpoint, step: 5e-3}\n"
        "bodies:\n"
        "  - {kind: box, name: brick, size: [0.2, 0.2, 0.2], cells: [2, 2, 2], origin: [0, 0, "
        "0.02],\n"
        "     material: corotational, youngs_modulus: 1e6, density: 1000}\n"
        "contact: {distance: 0.01, stiffness: 1}\nobstacles:\n"
        "  - {kind: box, name: floor, centre: [0, 0, -0.1], sides: [1, 1, 0.2]}\n";
    tw_scene *scene = NULL;
    tw_simulation *simulation = NULL;
    tw_integrator *integrator = NULL;
    tw_error error = {0};
    ck_assert_int_eq(tw_scene_parse("x", text, strlen(text), 0, NULL, &scene, &error), TW_OK);
    ck_assert_int_eq(tw_scene_build(scene, &simulation, &error), TW_OK);
    ck_assert_int_eq(tw_scene_create_integrator(scene, simulation, &integrator, &error), TW_OK);
    ck_assert_int_eq(tw_integrator_start(integrator, 0, tw_simulation_start(simulation), &error),
                     TW_OK);
    ck_assert_int_ne(tw_integrator_advance(integrator, 0.2, &error), TW_OK);
    ck_assert_msg(strstr(error.text, "brick and floor") && strstr(error.text, "at (") &&
                      strstr(error.text, "contact.stiffness"),
                  "%s", error.text);
    tw_integrator_free(integrator);
    tw_simulation_free(simulation);
    tw_scene_free(scene);
}
END_TEST

/* A free fibre falls on a ball and rests on it: its centre line and its radius count, and
 * the push reaches all particles of its sections. */
START_TEST(fibres_touch_with_their_centre_line)
{
    static const char text[] =
        "name: x\nduration: 1\ngravity: [0, 0, -9.81]\nintegrator: {step: 0.1}\nbodies:\n"
        "  - {kind: fibres, count: 1, origin: [-0.1, 0, 0.106], direction: [1, 0, 0], length: "
        "0.2,\n"
        "     segments: 8, thickness: 4e-3, youngs_modulus: 1e8, shear_modulus: 4e7,\n"
        "     density: 1000, rooted: false}\n"
        "contact: {distance: 2e-3}\n"
        "obstacles:\n  - {kind: sphere, radius: 0.1}\n";
    tw_scene *scene = NULL;
    tw_simulation *simulation = NULL;
    tw_error error = {0};
    tw_status status = tw_scene_parse("x", text, strlen(text), 0, NULL, &scene, &error);
    if (status == TW_OK) status = tw_scene_build(scene, &simulation, &error);
    ck_assert_msg(status == TW_OK, "%s", error.text);

    tw_integrator_options options = tw_integrator_options_default();
    options.scheme = TW_SCHEME_MIDPOINT;
    options.step = 5e-4;
    tw_integrator *integrator = NULL;
    const tw_second_order_problem *problem = tw_simulation_second_order(simulation);
    ck_assert_int_eq(tw_integrator_create_second_order(problem, &options, &integrator, NULL),
                     TW_OK);
    ck_assert_int_eq(tw_integrator_start(integrator, 0, tw_simulation_start(simulation), NULL),
                     TW_OK);
    status = tw_integrator_advance(integrator, 0.06, &error);
    ck_assert_msg(status == TW_OK, "%s", error.text);

    /* The middle section, the fifth, lies on the ball: 0.1 m and the radius of 2 mm, in the layer
     * of 2 mm. Without contact it would have fallen by 18 mm. */
    const double *x = tw_integrator_state_view(integrator);
    double height = 0;
    for (int i = 0; i < 4; i++) height += x[3 * (4 * 4 + i) + 2] / 4;
    ck_assert_double_gt(height, 0.102);
    ck_assert_double_lt(height, 0.1045);
    tw_integrator_free(integrator);
    tw_simulation_free(simulation);
    tw_scene_free(scene);
}
END_TEST

/* The estimate of an adaptive step does not see an impact within it, but contact does. */
START_TEST(adaptive_steps_see_the_ground)
{
    static const tw_scheme schemes[] = {TW_SCHEME_RK4, TW_SCHEME_EXPRB42, TW_SCHEME_EXPMID2};
    setting s = {.velocity = {0, 0, -1}, .height = 0.05, .restitution = 1};
    s.obstacle = ground;
    tw_simulation *simulation = cube_on_obstacle(&s);
    tw_integrator_options options = tw_integrator_options_default();
    options.scheme = schemes[_i];
    options.step = 0.01;
    options.relative_tolerance = 1e-3;
    tw_integrator *integrator = NULL;
    ck_assert_int_eq(tw_simulation_integrator(simulation, &options, &integrator, NULL), TW_OK);
    const double *start = tw_simulation_start(simulation);
    ck_assert_int_eq(tw_integrator_start(integrator, 0, start, NULL), TW_OK);
    ck_assert_int_eq(tw_integrator_advance(integrator, 0.08, NULL), TW_OK);

    /* The cube is on its way up. Its springs take a part of its speed where a scheme does not
     * resolve them (expmid2). */
    const double *u = tw_integrator_state_view(integrator);
    double speed = 0;
    for (int i = 0; i < 8; i++) speed += u[24 + 3 * i + 2] / 8;
    ck_assert_double_gt(speed, schemes[_i] == TW_SCHEME_EXPMID2 ? 0.6 : 0.98);
    ck_assert_double_lt(speed, 1.02);
    tw_integrator_free(integrator);
    tw_simulation_free(simulation);
}
END_TEST

START_TEST(wrong_contact_is_refused)
{
    tw_model *model = NULL;
    ck_assert_int_eq(tw_model_create(&model, NULL), TW_OK);
    tw_contact_options options = tw_contact_options_default();
    ck_assert_int_eq(tw_model_add_contact(model, &options, NULL), TW_INVALID_ARGUMENT);
    options.distance = 0.01;
    options.restitution = 1.5;
    ck_assert_int_eq(tw_model_add_contact(model, &options, NULL), TW_INVALID_ARGUMENT);
    options.restitution = NAN;
    ck_assert_int_eq(tw_model_add_contact(model, &options, NULL), TW_INVALID_ARGUMENT);

    tw_obstacle flat = {.kind = TW_OBSTACLE_PLANE, .size = 1};
    ck_assert_int_eq(tw_model_add_obstacle(model, &flat, NULL, NULL, NULL), TW_INVALID_ARGUMENT);
    tw_obstacle tiny = {.kind = TW_OBSTACLE_SPHERE};
    ck_assert_int_eq(tw_model_add_obstacle(model, &tiny, NULL, NULL, NULL), TW_INVALID_ARGUMENT);
    tw_model_free(model);
}
END_TEST

/* ---- impulse ---- */

/* Schemes that integrate the impulse on obstacles with their own weights, at coarse steps. */
static const struct {
    tw_scheme scheme;
    double step; /* [s] */
} counting[] = {{TW_SCHEME_EULER, 1e-6},
                {TW_SCHEME_MIDPOINT_EXPLICIT, 2e-5},
                {TW_SCHEME_RK4, 2e-4},
                {TW_SCHEME_VERLET, 1e-4},
                {TW_SCHEME_SEMI_IMPLICIT, 1e-4},
                {TW_SCHEME_BDF1, 1e-4},
                {TW_SCHEME_MIDPOINT, 1e-4},
                {TW_SCHEME_EXPRB2, 1e-4},
                {TW_SCHEME_EXPRB32, 2e-4},
                {TW_SCHEME_EXPRB42, 2e-4},
                {TW_SCHEME_PEXPRB43, 2e-4},
                {TW_SCHEME_EXPRB53, 2e-4},
                {TW_SCHEME_EPIRK4S3, 1e-4},
                {TW_SCHEME_ETDRK4, 1e-4},
                {TW_SCHEME_BDF2, 1e-4},
                {TW_SCHEME_NEWMARK, 1e-4},
                {TW_SCHEME_GENERALIZED_ALPHA, 1e-4},
                {TW_SCHEME_V_IMEX, 1e-4},
                {TW_SCHEME_EXPMID2, 1e-4}};
enum { COUNTING = sizeof counting / sizeof *counting };

static tw_measurement measure(const tw_integrator *integrator, tw_simulation *simulation)
{
    tw_measurement m;
    double t = 0;
    tw_integrator_state(integrator, &t, NULL);
    const double *u = tw_integrator_state_view(integrator);
    ck_assert_int_eq(tw_simulation_measure(simulation, t, u, &m), TW_OK);
    return m;
}

/* A cube is thrown at a plane or at a sphere, at an angle and with friction. What it loses of its momentum is the
 * impulse on the obstacle, at every step, whatever the scheme makes of the impact. */
START_TEST(obstacles_get_the_momentum_that_a_body_loses)
{
    bool is_round = _i >= COUNTING;
    setting s = {.velocity = {1, 0.4, -3}, .height = 4e-3, .friction = 0.3, .obstacle = ground};
    s.restitution = 0.8;
    if (is_round)
        s.obstacle =
            (tw_obstacle){.kind = TW_OBSTACLE_SPHERE, .point = {0.05, 0.04, -0.2}, .radius = 0.2};
    tw_simulation *simulation = cube_on_obstacle(&s);

    tw_integrator_options options = tw_integrator_options_default();
    options.scheme = counting[_i % COUNTING].scheme;
    options.step = counting[_i % COUNTING].step;
    options.phi.tolerance = 1e-12;
    tw_integrator *integrator = start_simulation(simulation, &options);
    tw_measurement first = measure(integrator, simulation);

    double impulse[3] = {0};
    double largest = 0;
    double lost = 0;
    for (int i = 1; i <= 200; i++) {
        advance_to(integrator, 2e-4 * i);
        tw_measurement m = measure(integrator, simulation);
        for (int k = 0; k < 3; k++) {
            impulse[k] += m.contact_impulse[k];
            lost = fmax(lost, fabs(m.momentum[k] + impulse[k] - first.momentum[k]));
        }
        largest = fmax(largest, fabs(impulse[2]));
    }

    ck_assert_double_gt(largest, 2);
    ck_assert_msg(lost <= 1e-8 * largest, "%s: %.2e of %.3g N s", tw_scheme_name(options.scheme),
                  lost, largest);
    tw_integrator_free(integrator);
    tw_simulation_free(simulation);
}
END_TEST

/* expmid2 chooses its linear solver by the highest frequency at rest. A contact that touches nothing does not hide it, and
 * one that is given a stiffness raises it. */
START_TEST(contact_leaves_the_highest_frequency_known)
{
    const double kappas[] = {0, 1e8};
    double estimate[2];
    for (int i = 0; i < 2; i++) {
        setting s = {.height = 4e-3, .obstacle = ground, .kappa = kappas[i]};
        tw_simulation *simulation = cube_on_obstacle(&s);
        estimate[i] = tw_simulation_second_order(simulation)->eigenvalue_estimate;
        tw_simulation_free(simulation);
    }

    /* Seven springs of 2e6 N/m meet at each of its particles of 0.125 kg. */
    ck_assert_double_ge(estimate[0], 2e6 / 0.125);
    ck_assert_double_le(estimate[0], 2 * 7 * 2e6 / 0.125);
    ck_assert_double_eq_tol(estimate[1] - estimate[0], 4e8 / 0.125, 1);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("contact");
    TCase *tests = tcase_create("contact");
    tcase_set_timeout(tests, 60);
    tcase_add_loop_test(tests, an_impact_ends_with_its_share_of_the_speed, 0, CASES);
    tcase_add_test(tests, the_rebound_of_a_dead_contact_is_the_bodys_own);
    tcase_add_test(tests, round_obstacles_hold);
    tcase_add_loop_test(tests, a_block_holds_below_the_friction_angle_and_slides_above, 0, CASES);
    tcase_add_loop_test(tests, a_block_does_not_creep, 0, 5);
    tcase_add_loop_test(tests, a_block_does_not_glide_above_its_slope, 0, 3);
    tcase_add_loop_test(tests, the_tangent_agrees_with_differences, 0, 3);
    tcase_add_test(tests, a_moved_plane_does_work);
    tcase_add_test(tests, what_impulses_take_is_accounted);
    tcase_add_test(tests, contact_leaves_the_highest_frequency_known);
    tcase_add_test(tests, a_belt_does_the_work_of_its_friction);
    tcase_add_test(tests, a_turning_ball_takes_bodies_along);
    tcase_add_loop_test(tests, default_contact_stops_whole_bodies, 0, cases_to_run(5, 2));
    tcase_add_test(tests, a_failure_names_the_bodies);
    tcase_add_test(tests, fibres_touch_with_their_centre_line);
    tcase_add_loop_test(tests, adaptive_steps_see_the_ground, 0, 3);
    tcase_add_loop_test(tests, obstacles_get_the_momentum_that_a_body_loses, 0, 2 * COUNTING);
    tcase_add_test(tests, wrong_contact_is_refused);
    TCase *sliding = tcase_create("sliding");
    tcase_set_timeout(sliding, 300);
    tcase_add_loop_test(sliding, a_block_slides_by_coulombs_law_at_any_step, 0,
                        sizeof slides / sizeof *slides);
    suite_add_tcase(suite, sliding);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
