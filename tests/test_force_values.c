/* Forces, motions and masses against what is computed by hand; and what is refused. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <twang/twang.h>

#include "model/model_internal.h"
#include "support/run_suite.h"

static const double pi = 3.14159265358979323846;

/* Four particles of mass 2: origin and the unit points. */
static const double corner[12] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1}, mass[4] = {2, 2, 2, 2};

static tw_model *four(void)
{
    tw_model *model = NULL;
    ck_assert_int_eq(tw_model_create(&model, NULL), TW_OK);
    ck_assert_int_eq(tw_model_add_particles(model, 4, corner, NULL, mass, NULL, NULL), TW_OK);
    return model;
}

static tw_simulation *finished(tw_model *model)
{
    tw_simulation *simulation = NULL;
    ck_assert_int_eq(tw_simulation_of_model(model, &simulation, NULL), TW_OK);
    return simulation;
}

/* Forces on the four, at rest or not. */
static void forces_at(tw_simulation *simulation, double t, const double *x, const double *v,
                      double force[12])
{
    const tw_second_order_problem *p = tw_simulation_second_order(simulation);
    ck_assert_int_eq(p->acceleration(p->context, t, x, v, force), TW_OK);
    for (int i = 0; i < 12; i++) force[i] *= 2;
}

static void expect(const double *value, double x, double y, double z)
{
    ck_assert_double_eq_tol(value[0], x, 1e-12);
    ck_assert_double_eq_tol(value[1], y, 1e-12);
    ck_assert_double_eq_tol(value[2], z, 1e-12);
}

/* ---- values ---- */

START_TEST(a_cubic_spring_pulls_as_its_law_says)
{
    tw_model *model = four();
    const int64_t ends[2] = {0, 1};
    const double k = 3, q = 5, L = 0.6;
    ck_assert_int_eq(tw_model_add_cubic_springs(model, 1, ends, &k, &q, &L, NULL), TW_OK);
    tw_simulation *simulation = finished(model);
    double force[12], pull = 3 * 0.4 + 5 * 0.4 * 0.4 * 0.4, zero[12] = {0};
    forces_at(simulation, 0, corner, zero, force);
    expect(force, pull, 0, 0);
    expect(force + 3, -pull, 0, 0);
    tw_measurement m;
    double u[24] = {0};
    memcpy(u, corner, sizeof corner);
    ck_assert_int_eq(tw_simulation_measure(simulation, 0, u, &m), TW_OK);
    ck_assert_double_eq_tol(m.potential, 1.5 * 0.16 + 1.25 * 0.0256, 1e-14);
    tw_simulation_free(simulation);
}
END_TEST

/* From the origin to the centre of the face opposite: distance 1/sqrt 3. */
START_TEST(a_face_spring_pulls_its_face_by_thirds)
{
    tw_model *model = four();
    const int64_t corners[4] = {0, 1, 2, 3};
    const double k = 6, L = 0;
    ck_assert_int_eq(tw_model_add_face_springs(model, 1, corners, &k, &L, NULL), TW_OK);
    tw_simulation *simulation = finished(model);
    double force[12], zero[12] = {0};
    forces_at(simulation, 0, corner, zero, force);
    expect(force, 2, 2, 2);
    for (int i = 1; i < 4; i++) expect(force + 3 * i, -2.0 / 3, -2.0 / 3, -2.0 / 3);
    tw_simulation_free(simulation);
}
END_TEST

START_TEST(a_dashpot_resists_the_rate_of_its_length)
{
    tw_model *model = four();
    const int64_t ends[2] = {0, 1};
    const double c = 7;
    ck_assert_int_eq(tw_model_add_dashpots(model, 1, ends, &c, NULL), TW_OK);
    tw_simulation *simulation = finished(model);
    double force[12], v[12] = {0};
    v[3] = 0.5; /* away, */
    v[4] = 9;   /* and across, which changes no length */
    forces_at(simulation, 0, corner, v, force);
    expect(force, 3.5, 0, 0);
    expect(force + 3, -3.5, 0, 0);
    tw_simulation_free(simulation);
}
END_TEST

/* A hinge opened to a right angle: moment k pi/2 at the arms of length 1. Edge from 0 to 1, wings up y and up z. */
START_TEST(a_hinge_closes_with_its_moment)
{
    tw_model *model = four();
    const int64_t corners[4] = {0, 1, 2, 3};
    const double k = 2, flat = 0;
    ck_assert_int_eq(tw_model_add_hinges(model, 1, corners, &k, &flat, NULL), TW_OK);
    tw_simulation *simulation = finished(model);
    double force[12], zero[12] = {0};
    forces_at(simulation, 0, corner, zero, force);
    expect(force + 6, 0, 0, -pi); /* the wings are pushed apart, towards flat */
    expect(force + 9, 0, -pi, 0);
    expect(force, 0, pi, pi);
    expect(force + 3, 0, 0, 0);
    tw_simulation_free(simulation);
}
END_TEST

/* A sheet of 8 x 8 cells rolled to a cylinder of curvature c: the energy B c^2 / 2 per area, for the cells that have a
 * neighbour on both sides. */
START_TEST(a_rolled_sheet_has_the_energy_of_a_plate)
{
    enum { SIDE = 9, POINTS = SIDE * SIDE, TRIANGLES = 2 * (SIDE - 1) * (SIDE - 1) };
    double flat[3 * POINTS], weights[POINTS], u[6 * POINTS] = {0}, a = 0.05, c = 0.3, B = 7;
    int64_t triangles[3 * TRIANGLES], count = 0, added = 0;
    for (int i = 0; i < POINTS; i++) {
        int row = i / SIDE, column = i % SIDE;
        const double place[3] = {a * column, a * row, 0}, angle = c * a * column;
        const double rolled[3] = {sin(angle) / c, a * row, (1 - cos(angle)) / c};
        memcpy(flat + 3 * i, place, sizeof place);
        memcpy(u + 3 * i, rolled, sizeof rolled);
        weights[i] = 1;
        if (row == SIDE - 1 || column == SIDE - 1) continue;
        const int64_t cell[6] = {i, i + 1, i + SIDE, i + 1, i + SIDE + 1, i + SIDE};
        memcpy(triangles + 3 * count, cell, sizeof cell);
        count += 2;
    }
    tw_model *model = NULL;
    tw_measurement m;
    ck_assert_int_eq(tw_model_create(&model, NULL), TW_OK);
    ck_assert_int_eq(tw_model_add_particles(model, POINTS, flat, NULL, weights, NULL, NULL), TW_OK);
    ck_assert_int_eq(tw_model_add_bending_hinges(model, count, triangles, B, &added, NULL), TW_OK);
    ck_assert_int_eq(added, 3 * 8 * 8 - 16);
    tw_simulation *simulation = finished(model);
    ck_assert_int_eq(tw_simulation_measure(simulation, 0, u, &m), TW_OK);
    ck_assert_double_eq_tol(m.potential, 0.5 * B * c * c * (7 * 8 * a * a), 1e-3 * m.potential);
    tw_simulation_free(simulation);
}
END_TEST

/* A triangle of area 1/2 in the plane z = 0. */
static void blow(double drag, double lift, const double air[3], double total[3])
{
    tw_model *model = four();
    const int64_t triangle[3] = {0, 1, 2};
    tw_wind wind = tw_wind_default();
    memcpy(wind.velocity, air, sizeof wind.velocity);
    wind.density = 4;
    wind.drag = drag;
    wind.lift = lift;
    ck_assert_int_eq(tw_model_add_wind(model, 1, triangle, &wind, NULL), TW_OK);
    tw_simulation *simulation = finished(model);
    double force[12], zero[12] = {0};
    forces_at(simulation, 0, corner, zero, force);
    for (int k = 0; k < 3; k++) total[k] = 3 * force[k];
    expect(force + 3, force[0], force[1], force[2]);
    expect(force + 6, force[0], force[1], force[2]);
    expect(force + 9, 0, 0, 0);
    tw_simulation_free(simulation);
}

START_TEST(wind_pushes_drags_and_lifts)
{
    const double straight[3] = {0, 0, 3}, slanted[3] = {4, 0, 3}, along[3] = {5, 0, 0},
                 behind[3] = {-4, 0, -3};
    double total[3];
    blow(1, 1, straight, total); /* rho/2 A u^2 = 2 * 1/2 * 9 */
    expect(total, 0, 0, 9);
    blow(1, 1, slanted, total); /* pressure rho/2 A |u| q n = 2 * 1/2 * 5 * 3 */
    expect(total, 0, 0, 15);
    blow(1, 0, slanted, total); /* drag rho/2 A q^2/|u| u = 9/5 (4, 0, 3) */
    expect(total, 7.2, 0, 5.4);
    blow(0, 1, slanted,
         total); /* lift rho/2 A q (|u| n - q/|u| u) = 3 (5 n - 3/5 (4, 0, 3)), across u */
    expect(total, -7.2, 0, 9.6);
    blow(1, 1, behind, total);
    expect(total, 0, 0, -15);
    blow(1, 1, along, total);
    expect(total, 0, 0, 0);
}
END_TEST

/* A triangle without area feels no wind, and does not disturb its neighbours, wherever it stands in the list: triangles
 * are handled in fours. All others are the triangle of blow(). */
START_TEST(triangles_without_area_feel_no_wind)
{
    enum { MOST = 6 };
    const double line[12] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 2, 0, 0};
    const int count = _i / MOST + 1;
    const int thin = _i % MOST;
    int64_t triangles[3 * MOST];
    for (int e = 0; e < count; e++) {
        const int64_t ends[3] = {0, 1, e == thin ? 3 : 2};
        memcpy(triangles + 3 * e, ends, sizeof ends);
    }

    tw_model *model = four();
    tw_wind wind = tw_wind_default();
    wind.density = 4;
    wind.velocity[2] = 3;
    ck_assert_int_eq(tw_model_add_wind(model, count, triangles, &wind, NULL), TW_OK);
    tw_simulation *simulation = finished(model);

    /* Each of the others has the force 9, of which a corner feels a third. */
    double force[12];
    double zero[12] = {0};
    const int others = count - (thin < count ? 1 : 0);
    forces_at(simulation, 0, line, zero, force);
    for (int i = 0; i < 3; i++) expect(force + 3 * i, 0, 0, 3 * others);
    expect(force + 9, 0, 0, 0);

    /* Its tangent is zero: what its third corner does is not felt. */
    const tw_second_order_problem *p = tw_simulation_second_order(simulation);
    double product[12];
    double moved[12] = {0};
    moved[9] = moved[10] = moved[11] = 1;
    ck_assert_int_eq(p->linearise(p->context, 0, line, zero), TW_OK);
    ck_assert_int_eq(p->apply_stiffness(p->context, 1, moved, product), TW_OK);
    for (int i = 0; i < 4; i++) expect(product + 3 * i, 0, 0, 0);
    tw_simulation_free(simulation);
}
END_TEST

START_TEST(loads_and_shaking_push)
{
    tw_model *model = four();
    const double load[3] = {1, 2, 3}, shake[3] = {4, 0, 0};
    ck_assert_int_eq(tw_model_add_load(model, 1, 2, load, NULL), TW_OK);
    ck_assert_int_eq(tw_model_add_shaking(model, shake, 0.25, 0, NULL), TW_OK);
    tw_simulation *simulation = finished(model);
    double force[12], zero[12] = {0};
    forces_at(simulation, 1, corner, zero, force); /* sin(pi/2) = 1, mass 2 */
    expect(force, 8, 0, 0);
    expect(force + 3, 9, 2, 3);
    expect(force + 9, 8, 0, 0);
    tw_simulation_free(simulation);
}
END_TEST

START_TEST(masses_are_lumped)
{
    const int64_t element[4] = {0, 1, 2, 3};
    double lumped[4] = {0};
    ck_assert_int_eq(tw_lump_mass(4, 1, element, 4, corner, 24, lumped, NULL),
                     TW_OK); /* volume 1/6 */
    for (int i = 0; i < 4; i++) ck_assert_double_eq_tol(lumped[i], 1, 1e-15);
    ck_assert_int_eq(tw_lump_mass(3, 1, element, 4, corner, 6, lumped, NULL), TW_OK); /* area 1/2 */
    ck_assert_double_eq_tol(lumped[2], 2, 1e-15);
    ck_assert_int_eq(tw_lump_mass(2, 1, element, 4, corner, 2, lumped, NULL), TW_OK); /* length 1 */
    ck_assert_double_eq_tol(lumped[0], 3, 1e-15);
    ck_assert_double_eq_tol(lumped[3], 1, 1e-15);
}
END_TEST

/* ---- motions ---- */

/* Position and velocity of particle 1 at time t. */
static void row_at(tw_simulation *simulation, double t, double row[6])
{
    double rows[24], u[18] = {0};
    ck_assert_int_eq(tw_simulation_rows(simulation, t, u, rows), TW_OK);
    memcpy(row, rows + 6, 6 * sizeof *row);
}

typedef tw_status prescriber(tw_model *model);

static tw_status drift(tw_model *model)
{
    const double velocity[3] = {1, 2, 3};
    return tw_model_prescribe_velocity(model, 1, 1, velocity, NULL);
}

static tw_status swing(tw_model *model)
{
    const double amplitude[3] = {1, 2, 0};
    return tw_model_prescribe_oscillation(model, 1, 1, amplitude, 0.25, pi / 2, NULL);
}

static tw_status turn(tw_model *model)
{
    const double point[3] = {0, 0, 5}, axis[3] = {0, 0, 2};
    return tw_model_prescribe_rotation(model, 1, 1, point, axis, pi / 2, NULL);
}

static const double key_times[5] = {0, 0.3, 1, 1.4, 2};
static const double key_places[15] = {0, 0, 0, 1, 0, 0, 0, 2, 1, -1, 0, 0, 0, 0, 3};

static tw_status keys(tw_model *model)
{
    return tw_model_prescribe_keyframes(model, 1, 1, 5, key_times, key_places, NULL);
}

static tw_status nod(tw_model *model)
{
    const double point[3] = {0, 0, 5}, axis[3] = {0, 0, 2}, angles[5] = {0, pi / 2, -1, 0, pi};
    return tw_model_prescribe_turning(model, 1, 1, point, axis, 5, key_times, angles, NULL);
}

static prescriber *const prescribers[] = {drift, swing, turn, keys, nod};

/* The velocity is the derivative of the position, and at t = 0 it is where it was. */
START_TEST(motions_are_consistent)
{
    tw_model *model = four();
    ck_assert_int_eq(prescribers[_i](model), TW_OK);
    tw_simulation *simulation = finished(model);
    double row[6], low[6], high[6], s = 1e-6;
    row_at(simulation, 0, row);
    expect(row, 1, 0, 0);
    for (double t = 0.05; t < 2; t += 0.1) {
        row_at(simulation, t, row);
        row_at(simulation, t - s, low);
        row_at(simulation, t + s, high);
        for (int k = 0; k < 3; k++)
            ck_assert_double_eq_tol((high[k] - low[k]) / (2 * s), row[3 + k], 1e-8);
    }
    tw_simulation_free(simulation);
}
END_TEST

/* The rates of particle 1 at time t: velocity or acceleration. */
static void rates_at(tw_model *model, double t, int which, double rate[3])
{
    tw_model_move(model, t);
    memcpy(rate, tw_model_rates(model, which) + 3, 3 * sizeof *rate);
}

/* The acceleration is the derivative of the velocity. */
START_TEST(accelerations_of_motions_are_consistent)
{
    tw_model *model = four();
    ck_assert_int_eq(prescribers[_i](model), TW_OK);
    tw_simulation *simulation = finished(model);
    double a[3], low[3], high[3], s = 1e-6;
    for (double t = 0.05; t < 2; t += 0.1) {
        rates_at(model, t - s, TW_X_RATE, low);
        rates_at(model, t + s, TW_X_RATE, high);
        rates_at(model, t, TW_V_RATE, a);
        for (int k = 0; k < 3; k++)
            ck_assert_double_eq_tol((high[k] - low[k]) / (2 * s), a[k], 1e-6);
    }
    tw_simulation_free(simulation);
}
END_TEST

START_TEST(motions_go_where_they_should)
{
    double row[6];
    tw_model *model = four();
    ck_assert_int_eq(drift(model), TW_OK);
    tw_simulation *simulation = finished(model);
    row_at(simulation, 2, row);
    expect(row, 3, 4, 6);
    tw_simulation_free(simulation);
    model = four();
    ck_assert_int_eq(turn(model), TW_OK);
    simulation = finished(model);
    row_at(simulation, 1, row); /* a quarter */
    expect(row, 0, 1, 0);
    expect(row + 3, -pi / 2, 0, 0);
    tw_simulation_free(simulation);
    model = four();
    ck_assert_int_eq(keys(model), TW_OK);
    simulation = finished(model);
    for (int i = 0; i < 5; i++) {
        row_at(simulation, key_times[i], row);
        expect(row, 1 + key_places[3 * i], key_places[3 * i + 1], key_places[3 * i + 2]);
    }
    row_at(simulation, 7, row);
    expect(row + 3, 0, 0, 0);
    tw_simulation_free(simulation);
    model = four();
    ck_assert_int_eq(nod(model), TW_OK);
    simulation = finished(model);
    row_at(simulation, key_times[1], row); /* a quarter */
    expect(row, 0, 1, 0);
    row_at(simulation, 9, row); /* a half, and at rest */
    expect(row, -1, 0, 0);
    expect(row + 3, 0, 0, 0);
    tw_simulation_free(simulation);
}
END_TEST

/* A particle starts where it is, whatever the first keyframes say. */
START_TEST(keyframes_count_from_the_start)
{
    static const double times[3] = {-1, 1, 2};
    static const double places[9] = {3, 0, 0, 5, 1, 0, 5, 2, 0};
    static const double angles[3] = {1, 1 + 3.14159265358979323846, 1};
    static const double point[3] = {0, 0, 0}, axis[3] = {0, 0, 1};
    double row[6];

    /* Keyframes of the place. */
    tw_model *model = four();
    ck_assert_int_eq(tw_model_prescribe_keyframes(model, 1, 1, 3, times, places, NULL), TW_OK);
    tw_simulation *simulation = finished(model);
    row_at(simulation, 0, row);
    expect(row, 1, 0, 0);
    tw_simulation_free(simulation);

    /* Keyframes of the angle. */
    model = four();
    ck_assert_int_eq(tw_model_prescribe_turning(model, 1, 1, point, axis, 3, times, angles, NULL),
                     TW_OK);
    simulation = finished(model);
    row_at(simulation, 0, row);
    expect(row, 1, 0, 0);
    tw_simulation_free(simulation);
}
END_TEST

/* Velocities have no kink at a keyframe: that is what a cubic spline is for. */
START_TEST(keyframes_are_twice_differentiable)
{
    tw_model *model = four();
    ck_assert_int_eq(keys(model), TW_OK);
    tw_simulation *simulation = finished(model);
    for (int i = 1; i < 4; i++) {
        double before[6], at[6], after[6], s = 1e-6;
        row_at(simulation, key_times[i] - s, before);
        row_at(simulation, key_times[i], at);
        row_at(simulation, key_times[i] + s, after);
        for (int k = 3; k < 6; k++)
            ck_assert_double_eq_tol((at[k] - before[k]) / s, (after[k] - at[k]) / s, 1e-3);
    }
    tw_simulation_free(simulation);
}
END_TEST

/* ---- what callbacks may do ---- */

static tw_status bad_force(void *context, double t, const double *x, const double *v, double *force)
{
    (void)t;
    (void)v;
    (void)force;
    int *calls = context;
    ++*calls;
    return x[0] > 0.5 ? TW_RECOVERABLE : TW_OK;
}

static void count_release(void *context)
{
    *(int *)context += 1000;
}

/* A status of a user's force comes through evaluations, products and matrices; its context is released once. */
START_TEST(a_users_refusal_comes_through)
{
    int calls = 0;
    tw_model *model = four();
    tw_user_force user = tw_user_force_default();
    user.context = &calls;
    user.force = bad_force;
    user.release = count_release;
    ck_assert_int_eq(tw_model_add_user_force(model, &user, NULL), TW_OK);
    tw_simulation *simulation = finished(model);
    const tw_second_order_problem *p = tw_simulation_second_order(simulation);
    double x[12], v[12] = {0}, out[12], e[12] = {1};
    memcpy(x, corner, sizeof x);
    ck_assert_int_eq(p->acceleration(p->context, 0, x, v, out), TW_OK);
    ck_assert_int_eq(p->linearise(p->context, 0, x, v), TW_OK);
    ck_assert_int_eq(p->apply_stiffness(p->context, 1, e, out), TW_OK);
    ck_assert_int_eq(p->assemble(p->context, p->stiffness_matrix), TW_OK);
    x[0] = 1;
    ck_assert_int_eq(p->acceleration(p->context, 0, x, v, out), TW_RECOVERABLE);
    ck_assert_int_eq(p->linearise(p->context, 0, x, v), TW_OK);
    ck_assert_int_eq(p->apply_stiffness(p->context, 1, e, out), TW_RECOVERABLE);
    ck_assert_int_eq(p->assemble(p->context, p->stiffness_matrix), TW_RECOVERABLE);
    ck_assert_int_lt(calls, 1000);
    tw_simulation_free(simulation);
    ck_assert_int_ge(calls, 1000);
    ck_assert_int_lt(calls, 2000);
}
END_TEST

/* ---- what is refused ---- */

START_TEST(wrong_springs_and_hinges_are_refused)
{
    tw_model *model = four();
    const int64_t ends[2] = {0, 1}, beyond[4] = {0, 1, 2, 4}, twice[4] = {0, 1, 2, 1},
                  good[4] = {0, 1, 2, 3};
    const double one = 1, zero = 0, negative = -1, bad = NAN, wide = 4;
    tw_error error = {0};
    const tw_status wrong = TW_INVALID_ARGUMENT;
    ck_assert_int_eq(tw_model_add_cubic_springs(model, 1, ends, &zero, &zero, NULL, &error), wrong);
    ck_assert_int_eq(tw_model_add_cubic_springs(model, 1, ends, &one, &negative, NULL, &error),
                     wrong);
    ck_assert_int_eq(tw_model_add_cubic_springs(model, 1, ends, &one, NULL, NULL, &error), wrong);
    ck_assert_int_eq(tw_model_add_cubic_springs(model, 1, ends, &one, &bad, NULL, &error), wrong);
    ck_assert_int_eq(tw_model_add_face_springs(model, 1, beyond, &one, NULL, &error), wrong);
    ck_assert_int_eq(tw_model_add_face_springs(model, 1, twice, &one, NULL, &error), wrong);
    ck_assert_int_eq(tw_model_add_dashpots(model, 1, ends, &zero, &error), wrong);
    ck_assert_int_eq(tw_model_add_dashpots(model, 1, ends, &negative, &error), wrong);
    ck_assert_int_eq(tw_model_add_hinges(model, 1, twice, &one, NULL, &error), wrong);
    ck_assert_int_eq(tw_model_add_hinges(model, 1, good, &zero, NULL, &error), wrong);
    ck_assert_int_eq(tw_model_add_hinges(model, 1, good, &one, &wide, &error), wrong);
    ck_assert_int_eq(tw_model_add_bending_springs(model, 1, beyond + 1, 1, 0, NULL, &error), wrong);
    ck_assert_int_eq(tw_model_set_rayleigh(model, -1, 0, &error), wrong);
    ck_assert_int_eq(tw_model_set_rayleigh(model, 0, NAN, &error), wrong);
    tw_model_free(model);
}
END_TEST

START_TEST(wrong_fields_and_motions_are_refused)
{
    tw_model *model = four();
    const double vector[3] = {1, 0, 0}, zero[3] = {0}, bad[3] = {0, INFINITY, 0}, late[2] = {1, 1};
    const int64_t thin[3] = {0, 1, 1};
    const tw_status wrong = TW_INVALID_ARGUMENT;
    tw_error error = {0};
    tw_wind wind = tw_wind_default();
    tw_field field = tw_field_default();
    tw_user_force user = tw_user_force_default();
    double lumped[4] = {0};
    ck_assert_int_eq(tw_model_add_wind(model, 1, thin, &wind, &error), wrong);
    wind.drag = -1;
    ck_assert_int_eq(tw_model_add_wind(model, 0, NULL, &wind, &error), wrong);
    ck_assert_int_eq(tw_model_add_field(model, 0, 1, &field, &error), wrong);
    ck_assert_int_eq(tw_model_add_user_force(model, &user, &error), wrong);
    ck_assert_int_eq(tw_model_add_load(model, 2, 4, vector, &error), wrong);
    ck_assert_int_eq(tw_model_add_load(model, 2, 3, bad, &error), TW_NOT_FINITE);
    ck_assert_int_eq(tw_model_add_shaking(model, vector, NAN, 0, &error), TW_NOT_FINITE);
    ck_assert_int_eq(tw_model_prescribe_velocity(model, 3, 4, vector, &error), wrong);
    ck_assert_int_eq(tw_model_prescribe_velocity(model, 0, 0, bad, &error), TW_NOT_FINITE);
    ck_assert_int_eq(tw_model_prescribe_rotation(model, 0, 0, vector, zero, 1, &error), wrong);
    ck_assert_int_eq(tw_model_prescribe_oscillation(model, 0, 0, vector, NAN, 0, &error),
                     TW_NOT_FINITE);
    ck_assert_int_eq(tw_model_prescribe_keyframes(model, 0, 0, 1, late, vector, &error), wrong);
    ck_assert_int_eq(tw_model_prescribe_keyframes(model, 0, 0, 2, late, corner, &error), wrong);
    ck_assert_int_eq(tw_model_prescribe(model, 0, 0, NULL, &error), wrong);
    ck_assert_int_eq(tw_lump_mass(5, 0, NULL, 0, NULL, 1, lumped, &error), wrong);
    ck_assert_int_eq(tw_lump_mass(2, 1, thin + 1, 1, corner, 1, lumped, &error), wrong);
    ck_assert_int_eq(tw_lump_mass(2, 1, thin, 4, corner, 0, lumped, &error), wrong);
    tw_model_free(model);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("force values");
    TCase *cases = tcase_create("force values");
    tcase_add_test(cases, a_cubic_spring_pulls_as_its_law_says);
    tcase_add_test(cases, a_face_spring_pulls_its_face_by_thirds);
    tcase_add_test(cases, a_dashpot_resists_the_rate_of_its_length);
    tcase_add_test(cases, a_hinge_closes_with_its_moment);
    tcase_add_test(cases, a_rolled_sheet_has_the_energy_of_a_plate);
    tcase_add_test(cases, wind_pushes_drags_and_lifts);
    tcase_add_loop_test(cases, triangles_without_area_feel_no_wind, 0, 36);
    tcase_add_test(cases, loads_and_shaking_push);
    tcase_add_test(cases, masses_are_lumped);
    tcase_add_loop_test(cases, motions_are_consistent, 0, sizeof prescribers / sizeof *prescribers);
    tcase_add_loop_test(cases, accelerations_of_motions_are_consistent, 0,
                        sizeof prescribers / sizeof *prescribers);
    tcase_add_test(cases, motions_go_where_they_should);
    tcase_add_test(cases, keyframes_count_from_the_start);
    tcase_add_test(cases, keyframes_are_twice_differentiable);
    tcase_add_test(cases, a_users_refusal_comes_through);
    tcase_add_test(cases, wrong_springs_and_hinges_are_refused);
    tcase_add_test(cases, wrong_fields_and_motions_are_refused);
    suite_add_tcase(suite, cases);
    return run_suite(suite);
}
