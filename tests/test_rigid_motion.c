/* Bodies whose global motion is that of a rigid body: the top, the box at the wall, the frame. */
/* labels: slow */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <twang/twang.h>

#include "model/rigid_box.h"
#include "support/reference_state.h"
#include "support/run_suite.h"
#include "support/simulation_runs.h"

/* ---- the rigid body alone ---- */

/* Moments 1, 2, 3 about x, y, z, spinning about the middle axis but for a thousandth. */
static void make_top(tw_rigid_body *body, tw_rigid_state *state)
{
    const double inertia[9] = {1, 0, 0, 0, 2, 0, 0, 0, 3};
    tw_rigid_body_set(body, 4.0, inertia);
    *state = (tw_rigid_state){
        .momentum = {4, 0, -2}, .orientation = {1}, .angular_momentum = {1e-3, 4, 0}};
}

/* How far two orientations and spins are from a row of the reference; q and -q are the same. */
static double row_error(const tw_rigid_body *body, const tw_rigid_state *state, const double *row)
{
    double spin[3];
    double worst = 0;
    double sign = 0;
    tw_rigid_spin(body, state, spin);
    for (int k = 0; k < 4; k++) sign += state->orientation[k] * row[1 + k];
    sign = sign < 0 ? -1 : 1;
    for (int k = 0; k < 4; k++)
        worst = fmax(worst, fabs(sign * state->orientation[k] - row[1 + k]));
    for (int k = 0; k < 3; k++) worst = fmax(worst, fabs(spin[k] - row[5 + k]));
    return worst;
}

START_TEST(a_tumbling_top_follows_scipy)
{
    double rows[24];
    ck_assert(reference_read("top_T60.txt", 3, 8, rows));
    tw_rigid_body body;
    tw_rigid_state state;
    make_top(&body, &state);
    tw_rigid_state start = state;
    double energy = tw_rigid_kinetic(&body, &state);

    for (int part = 0; part < 3; part++) {
        for (int i = 0; i < 2000; i++) {
            tw_rigid_step(&body, 0.01, NULL, NULL, &state);
            ck_assert_double_eq_tol(tw_rigid_kinetic(&body, &state), energy, 1e-9 * energy);
        }

        /* The top turns over on the way: the middle spin changes its sign. */
        ck_assert_double_lt(row_error(&body, &state, rows + 8 * part), 2e-6);
        ck_assert(part > 0 || rows[6] < -1.9);

        /* Momentum and angular momentum to the last bit. */
        ck_assert_mem_eq(state.momentum, start.momentum, sizeof start.momentum);
        ck_assert_mem_eq(state.angular_momentum, start.angular_momentum,
                         sizeof start.angular_momentum);
    }
    ck_assert_double_eq_tol(state.centre[0], 60, 1e-9);
}
END_TEST

START_TEST(a_top_is_of_fourth_order_and_goes_back)
{
    tw_rigid_body body;
    tw_rigid_state fine;
    double error[2];
    make_top(&body, &fine);
    tw_rigid_state start = fine;
    for (int i = 0; i < 6400; i++) tw_rigid_step(&body, 2.0 / 6400, NULL, NULL, &fine);
    for (int k = 0; k < 2; k++) {
        int steps = 20 << k;
        tw_rigid_state state = start;
        for (int i = 0; i < steps; i++) tw_rigid_step(&body, 2.0 / steps, NULL, NULL, &state);
        error[k] = 0;
        for (int i = 0; i < 4; i++)
            error[k] = fmax(error[k], fabs(state.orientation[i] - fine.orientation[i]));

        /* A symmetric scheme retraces its way. */
        for (int i = 0; i < steps; i++) tw_rigid_step(&body, -2.0 / steps, NULL, NULL, &state);
        for (int i = 0; i < 4; i++)
            ck_assert_double_eq_tol(state.orientation[i], start.orientation[i], 1e-12);
    }
    ck_assert_double_gt(error[0] / error[1], 12);
}
END_TEST

/* ---- the box ---- */

/* A cube of 1 m and 6 kg in front of the ground z = 0. */
typedef struct scene_box {
    tw_rigid_box box;
    tw_rigid_plane plane;
    double pressed[8];
    double share[8];
} scene_box;

static void make_box(scene_box *s, double restitution, double friction)
{
    const double inertia[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
    *s = (scene_box){.plane = {.normal = {0, 0, 1}}};
    tw_rigid_body_set(&s->box.body, 6, inertia);
    for (int k = 0; k < 3; k++) s->box.face[k][0] = -0.5;
    for (int k = 0; k < 3; k++) s->box.face[k][1] = 0.5;
    s->box.plane_count = 1;
    s->box.planes = &s->plane;
    s->box.pressed = s->pressed;
    s->box.share = s->share;
    s->box.law = (tw_contact_law){0.02, 1e5};
    s->box.restitution = restitution;
    s->box.friction = friction;
}

/* Moves the box by t in steps of 5 us. */
static void fly(const tw_rigid_box *box, double t, tw_rigid_state *state, tw_rigid_account *account)
{
    int steps = (int)(t / 5e-6 + 0.5);
    for (int i = 0; i < steps; i++) {
        tw_rigid_box_decide(box, state);
        tw_rigid_box_advance(box, 5e-6, tw_rigid_box_substeps(box, 5e-6, state), state, account);
    }
}

static const double restitutions[] = {1, 0.5, 0};

START_TEST(a_box_leaves_a_wall_as_restitution_says)
{
    double e = restitutions[_i];
    scene_box s;
    make_box(&s, e, 0);
    tw_rigid_state state = {.centre = {0, 0, 0.6}, .momentum = {3, 0, -6}, .orientation = {1}};
    tw_rigid_account account = {0};
    fly(&s.box, 0.15, &state, &account);

    /* It came with 1 m/s and leaves with e; the impulse on the wall is M (1 + e) and the loss
     * M (1 - e^2) / 2. With e = 0 it stays in the layer of contact, whose energy does not come back. */
    ck_assert_double_eq_tol(state.momentum[2], 6 * e, 1e-3 * 6);
    ck_assert_double_eq_tol(account.impulse[2], -6 - state.momentum[2], 1e-12);
    tw_rigid_forces forces;
    tw_rigid_box_push(&s.box, &state, &forces);
    ck_assert_double_eq_tol(account.contact_loss + forces.energy, 3 * (1 - e * e), 3e-3);
    ck_assert_double_eq(state.momentum[0], 3);
    for (int k = 0; k < 3; k++) ck_assert_double_eq_tol(state.angular_momentum[k], 0, 1e-10);
}
END_TEST

START_TEST(a_corner_that_hits_first_makes_the_box_turn)
{
    /* Turned by 30 degrees about y: the energy stays, and the wall's impulse turns the box. */
    const double angle = acos(-1.0) / 6;
    scene_box s;
    make_box(&s, 1, 0);
    tw_rigid_state state = {.centre = {0, 0, 0.8},
                            .momentum = {0, 0, -6},
                            .orientation = {cos(angle / 2), 0, sin(angle / 2), 0}};
    double energy = tw_rigid_kinetic(&s.box.body, &state);
    tw_rigid_account account = {0};
    fly(&s.box, 0.3, &state, &account);
    tw_rigid_forces forces;
    tw_rigid_box_push(&s.box, &state, &forces);
    ck_assert_double_eq_tol(tw_rigid_kinetic(&s.box.body, &state) + forces.energy, energy,
                            1e-6 * energy);
    ck_assert_double_gt(fabs(state.angular_momentum[1]), 0.5);
    ck_assert_double_eq_tol(account.impulse[2], -6 - state.momentum[2], 1e-12);
}
END_TEST

START_TEST(friction_stops_a_sliding_box_after_the_way_of_coulomb)
{
    /* It slides with u under gravity g and stops after u^2 / (2 mu g). */
    scene_box s;
    make_box(&s, 0, 0.4);
    s.box.gravity[2] = -10;
    double depth = sqrt(6 * 10 / 4.0 / (2 * 1e5 / 0.02));
    tw_rigid_state state = {
        .centre = {0, 0, 0.5 + 0.02 - depth}, .momentum = {6, 0, 0}, .orientation = {1}};
    tw_rigid_account account = {0};
    fly(&s.box, 0.5, &state, &account);
    ck_assert_double_eq_tol(state.centre[0], 1 / (2 * 0.4 * 10), 0.02 / (2 * 0.4 * 10));
    ck_assert_double_eq_tol(state.momentum[0], 0, 1e-4 * 6);
    ck_assert_double_eq_tol(account.friction_loss + account.contact_loss, 3, 0.03);
}
END_TEST

/* ---- bodies ---- */

enum { BAR = 21, MIDDLE = 10 };

/* What a test wants: a bar of particles of 0.1 kg along x, 0.1 m apart. */
typedef struct bar {
    double stiffness; /* [N/m] */
    double spin;      /* about z [rad/s] */
    double velocity;  /* along z [m/s] */
    double damping;   /* beta of Rayleigh [s] */
    bool rigid;
    bool wall; /* the ground, 0.05 m below, with contact */
} bar;

static tw_model *make_bar(const bar *b)
{
    tw_model *model = NULL;
    double x[3 * BAR] = {0};
    double v[3 * BAR] = {0};
    double m[BAR];
    double k[BAR];
    int64_t ends[2 * BAR];
    for (int64_t i = 0; i < BAR; i++) {
        double arm = 0.1 * (double)(i - MIDDLE);
        x[3 * i] = 0.3 + arm;
        v[3 * i + 1] = b->spin * arm;
        v[3 * i + 2] = b->velocity;
        m[i] = 0.1;
        k[i] = b->stiffness;
        ends[2 * i] = i;
        ends[2 * i + 1] = i + 1;
    }
    ck_assert_int_eq(tw_model_create(&model, NULL), TW_OK);
    ck_assert_int_eq(tw_model_add_particles(model, BAR, x, v, m, NULL, NULL), TW_OK);
    ck_assert_int_eq(tw_model_add_springs(model, BAR - 1, ends, k, NULL, NULL), TW_OK);
    if (b->damping > 0) ck_assert_int_eq(tw_model_set_rayleigh(model, 10, b->damping, NULL), TW_OK);
    if (b->rigid) ck_assert_int_eq(tw_model_set_rigid_motion(model, NULL), TW_OK);
    if (!b->wall) return model;

    tw_display display = {0};
    display.first = 0;
    display.count = BAR;
    display.edge_count = BAR - 1;
    display.edges = ends;
    tw_obstacle ground = {
        .kind = TW_OBSTACLE_PLANE, .point = {0, 0, -0.05}, .other = {0, 0, 1}, .size = 1};
    tw_contact_options contact = tw_contact_options_default();
    contact.distance = 0.02;
    ck_assert_int_eq(tw_model_add_display(model, &display, NULL), TW_OK);
    ck_assert_int_eq(tw_model_add_obstacle(model, &ground, NULL, NULL, NULL), TW_OK);
    ck_assert_int_eq(tw_model_add_contact(model, &contact, NULL), TW_OK);
    return model;
}

static tw_simulation *simulate(const bar *b)
{
    tw_simulation *simulation = NULL;
    tw_error error = {0};
    tw_status status = tw_simulation_of_model(make_bar(b), &simulation, &error);
    ck_assert_msg(status == TW_OK, "%s", error.text);
    return simulation;
}

static tw_integrator *start(tw_simulation *simulation, tw_scheme scheme, double step)
{
    tw_integrator_options options = tw_integrator_options_default();
    options.scheme = scheme;
    options.step = step;
    options.phi.tolerance = 1e-10;
    return start_simulation(simulation, &options);
}

/* Rows in the world, six numbers per particle. */
static void rows_of(tw_integrator *integrator, tw_simulation *simulation, double *rows)
{
    double t = 0;
    tw_integrator_state(integrator, &t, NULL);
    ck_assert_int_eq(tw_simulation_rows(simulation, t, tw_integrator_state_view(integrator), rows),
                     TW_OK);
}

static tw_measurement measure(tw_integrator *integrator, tw_simulation *simulation)
{
    tw_measurement m;
    double t = 0;
    tw_integrator_state(integrator, &t, NULL);
    ck_assert_int_eq(tw_simulation_measure(simulation, t, tw_integrator_state_view(integrator), &m),
                     TW_OK);
    return m;
}

static void leave(tw_integrator *integrator, tw_simulation *simulation)
{
    tw_integrator_free(integrator);
    tw_simulation_free(simulation);
}

static const tw_scheme bar_schemes[] = {TW_SCHEME_EXPRB42, TW_SCHEME_EXPMID2, TW_SCHEME_RK4,
                                        TW_SCHEME_BDF2};

/* A bar that spins is stretched: a link carries the tension T_j = sum of m w^2 x_i over the particles
 * beyond it. The equations k (x_{j+1} - x_j - 0.1) = T_j, with w = L / I(x), are solved here by
 * iteration. */
START_TEST(a_spinning_bar_is_stretched_as_theory_says)
{
    bar b = {.stiffness = 1e3, .spin = 6, .damping = 1e-3, .rigid = true};
    double x[BAR];
    double momentum = 0;
    for (int i = 0; i < BAR; i++) {
        x[i] = 0.1 * (i - MIDDLE);
        momentum += 0.1 * b.spin * x[i] * x[i];
    }
    for (int round = 0; round < 200; round++) {
        double inertia = 0;
        double next[BAR] = {0};
        for (int i = 0; i < BAR; i++) inertia += 0.1 * x[i] * x[i];
        double w = momentum / inertia;
        for (int j = MIDDLE; j < BAR - 1; j++) {
            double tension = 0;
            for (int i = j + 1; i < BAR; i++) tension += 0.1 * w * w * x[i];
            next[j + 1] = next[j] + 0.1 + tension / b.stiffness;
        }
        for (int i = MIDDLE; i < BAR; i++) {
            x[i] = next[i];
            x[BAR - 1 - i] = -next[i];
        }
    }
    ck_assert_double_gt(x[BAR - 1], 1.05);

    tw_simulation *simulation = simulate(&b);

    /* Mass damping of free bodies acts slowly in expmid2. */
    bool settles_slowly = bar_schemes[_i] == TW_SCHEME_EXPMID2;
    tw_integrator *integrator = start(simulation, bar_schemes[_i], settles_slowly ? 2e-3 : 5e-3);
    advance_to(integrator, settles_slowly ? 9 : 3);
    double rows[6 * BAR];
    rows_of(integrator, simulation, rows);
    for (int i = 0; i < BAR; i++) {
        double radius = hypot(rows[6 * i] - 0.3, rows[6 * i + 1]);
        ck_assert_msg(fabs(radius - fabs(x[i])) < 1e-4, "%s: particle %d at %.7g, not %.7g",
                      tw_scheme_name(bar_schemes[_i]), i, radius, fabs(x[i]));
    }
    leave(integrator, simulation);
}
END_TEST

/* A frame changes nothing: a free bar moves as the same particles without it. */
START_TEST(a_free_body_moves_as_its_particles_do)
{
    double rows[2][6 * BAR];
    bar b = {.stiffness = 1e3, .spin = 3, .velocity = 1};
    for (int k = 0; k < 2; k++) {
        b.rigid = k == 1;
        tw_simulation *simulation = simulate(&b);
        tw_integrator *integrator = start(simulation, TW_SCHEME_RK4, 2.5e-4);
        tw_measurement before = measure(integrator, simulation);
        advance_to(integrator, 0.5);
        tw_measurement after = measure(integrator, simulation);
        rows_of(integrator, simulation, rows[k]);
        ck_assert_double_eq_tol(after.kinetic + after.potential, before.kinetic + before.potential,
                                1e-7);
        for (int i = 0; i < 3; i++) {
            ck_assert_double_eq_tol(after.momentum[i], before.momentum[i], 1e-12);
            ck_assert_double_eq_tol(after.angular_momentum[i], before.angular_momentum[i], 1e-10);
        }
        leave(integrator, simulation);
    }
    for (int i = 0; i < 6 * BAR; i++) ck_assert_double_eq_tol(rows[0][i], rows[1][i], 2e-6);
}
END_TEST

/* A stiff body that spins: exprb42 takes steps in the frame that it cannot take in the world. */
START_TEST(the_frame_takes_large_steps_of_a_stiff_spinning_body)
{
    double rows[2][6 * BAR];
    bar b = {.stiffness = 1e6, .spin = 6, .velocity = 1, .rigid = true};
    for (int k = 0; k < 2; k++) {
        tw_simulation *simulation = simulate(&b);
        tw_integrator *integrator = start(simulation, TW_SCHEME_EXPRB42, k ? 2e-2 : 2e-3);
        advance_to(integrator, 1);
        rows_of(integrator, simulation, rows[k]);
        leave(integrator, simulation);
    }
    for (int i = 0; i < BAR; i++)
        for (int j = 0; j < 3; j++)
            ck_assert_double_eq_tol(rows[0][6 * i + j], rows[1][6 * i + j], 1e-4);
}
END_TEST

/* A bar that falls flat on the ground: what it lost is what the ground got, in both ways to compute
 * it. In the frame it is exact; of particles the record has an error of its own. */
START_TEST(the_impulse_on_the_wall_is_the_change_of_momentum)
{
    for (int rigid = 0; rigid < 2; rigid++) {
        bar b = {.stiffness = 1e3, .spin = 2, .velocity = -0.5, .rigid = rigid == 1, .wall = true};
        tw_simulation *simulation = simulate(&b);
        tw_integrator *integrator = start(simulation, TW_SCHEME_RK4, rigid ? 1e-3 : 1e-4);
        double before = measure(integrator, simulation).momentum[2];
        double impulse = 0;
        double end = 0;
        for (double t = 0; t < 0.3; t += 0.01) {
            advance_to(integrator, t + 0.01);
            tw_measurement m = measure(integrator, simulation);
            impulse += m.contact_impulse[2];
            end = m.momentum[2];
        }
        double given = before - end;
        ck_assert_double_lt(given, -0.9);
        ck_assert_msg(fabs(given - impulse) < (rigid ? 1e-12 : 1e-8) * fabs(given),
                      "the body lost %.12g, the wall got %.12g", given, impulse);
        leave(integrator, simulation);
    }
}
END_TEST

START_TEST(a_restored_run_is_bitwise_the_same)
{
    bar b = {.stiffness = 1e3, .spin = 2, .velocity = -0.5, .rigid = true, .wall = true};
    tw_simulation *whole = simulate(&b);
    tw_integrator *one = start(whole, bar_schemes[_i], 1e-3);
    void *bytes = NULL;
    size_t size = 0;
    for (int i = 1; i <= 160; i++) {
        ck_assert_int_eq(tw_integrator_step(one, 0.2, NULL), TW_OK);
        measure(one, whole);
        if (i != 80) continue;
        ck_assert_int_eq(tw_integrator_serialise(one, NULL, 0, &size), TW_OK);
        bytes = malloc(size);
        ck_assert_int_eq(tw_integrator_serialise(one, bytes, size, &size), TW_OK);
    }

    tw_simulation *second = simulate(&b);
    tw_integrator *two = start(second, bar_schemes[_i], 1e-3);
    ck_assert_int_eq(tw_integrator_restore(two, bytes, size, NULL), TW_OK);
    for (int i = 81; i <= 160; i++) {
        ck_assert_int_eq(tw_integrator_step(two, 0.2, NULL), TW_OK);
        measure(two, second);
    }
    char *a = malloc(size);
    char *c = malloc(size);
    ck_assert_int_eq(tw_integrator_serialise(one, a, size, &size), TW_OK);
    ck_assert_int_eq(tw_integrator_serialise(two, c, size, &size), TW_OK);
    ck_assert_msg(memcmp(a, c, size) == 0, "%s differs", tw_scheme_name(bar_schemes[_i]));

    double rows[2][6 * (BAR + 4)];
    rows_of(one, whole, rows[0]);
    rows_of(two, second, rows[1]);
    ck_assert_mem_eq(rows[0], rows[1], sizeof(double) * 6 * BAR);
    free(a);
    free(c);
    free(bytes);
    leave(one, whole);
    leave(two, second);
}
END_TEST

/* ---- what does not go with it ---- */

static void expect_refusal(tw_model *model, const char *word)
{
    tw_simulation *simulation = NULL;
    tw_error error = {0};
    ck_assert_int_eq(tw_simulation_of_model(model, &simulation, &error), TW_UNSUPPORTED);
    ck_assert_msg(strstr(error.text, word) != NULL, "%s", error.text);
    tw_model_free(model);
}

START_TEST(what_does_not_go_with_it_is_refused)
{
    bar b = {.stiffness = 1e3, .rigid = true};
    tw_model *model = make_bar(&b);
    ck_assert_int_eq(tw_model_pin(model, 0, 0, NULL), TW_OK);
    expect_refusal(model, "pins");

    model = make_bar(&b);
    const double up[3] = {0, 0, 1};
    ck_assert_int_eq(tw_model_add_load(model, 0, 1, up, NULL), TW_OK);
    expect_refusal(model, "gravity");

    model = make_bar(&b);
    tw_obstacle ball = {.kind = TW_OBSTACLE_SPHERE, .point = {0, 0, -3}, .radius = 1};
    tw_contact_options contact = tw_contact_options_default();
    contact.distance = 0.01;
    ck_assert_int_eq(tw_model_add_obstacle(model, &ball, NULL, NULL, NULL), TW_OK);
    ck_assert_int_eq(tw_model_add_contact(model, &contact, NULL), TW_OK);
    expect_refusal(model, "planes");
    ck_assert_int_eq(tw_model_set_rigid_motion(NULL, NULL), TW_INVALID_ARGUMENT);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("rigid motion");
    TCase *alone = tcase_create("rigid body");
    tcase_set_timeout(alone, 120);
    tcase_add_test(alone, a_tumbling_top_follows_scipy);
    tcase_add_test(alone, a_top_is_of_fourth_order_and_goes_back);
    tcase_add_loop_test(alone, a_box_leaves_a_wall_as_restitution_says, 0, 3);
    tcase_add_test(alone, a_corner_that_hits_first_makes_the_box_turn);
    tcase_add_test(alone, friction_stops_a_sliding_box_after_the_way_of_coulomb);
    suite_add_tcase(suite, alone);

    TCase *frames = tcase_create("frame");
    tcase_set_timeout(frames, 240);
    tcase_add_loop_test(frames, a_spinning_bar_is_stretched_as_theory_says, 0, 4);
    tcase_add_test(frames, a_free_body_moves_as_its_particles_do);
    tcase_add_test(frames, the_frame_takes_large_steps_of_a_stiff_spinning_body);
    tcase_add_test(frames, the_impulse_on_the_wall_is_the_change_of_momentum);
    tcase_add_loop_test(frames, a_restored_run_is_bitwise_the_same, 0, 4);
    tcase_add_test(frames, what_does_not_go_with_it_is_refused);
    suite_add_tcase(suite, frames);
    return run_suite(suite);
}
