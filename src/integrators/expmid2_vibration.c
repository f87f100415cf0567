/* What an adaptive step of expmid2 loses of the vibrations that it does not resolve.
 *
 * Such vibrations settle (expmid2_modes.h). In truth they last, and their energy U acts on the slow
 * motion: a mode of the frequency omega(x) keeps U/omega, so that U pushes the slow motion towards
 * states of low frequency, with the force -U grad omega / omega. A step that lets U go loses this
 * force. Beside the kinetic energy K of the slow motion, the error is a share of U/K.
 *
 * Two measures of U are compared with rtol K:
 *   - In every step, |u|^2 / 2, where u is the vibration g - v_m of modes that are lost.
 *   - In the first step, all energy of the start that the stage does not show. A start out of balance
 *     has displacements in stiff modes, where u = 2 e/t says little of their energy. */
#include <math.h>

#include "base/fail.h"
#include "integrators/expmid2.h"
#include "linalg/vector.h"

/* U/K may be so many times rtol: a body that falls from rest soon has a larger K. Measured on random networks of springs that start out of balance, k =
 * 1e3 ... 1e6 (tests/test_prestressed.c): the error in x is 0.003 to 0.04 of U/K. */
static const double allowed_share = 30;

/* The share of its size along which the work of the forces counts: a stiff body that sags by less than
 * 0.001 rtol of its size may lose its vibration. A larger share makes such bodies cheaper, and networks
 * less exact. */
static const double work_share = 2e-5;

/* Energies are known to this share of themselves. */
static const double rounding_share = 1e-9;

/* The mean velocity of the slow motion is taken while the body moves by this share of its size. */
static const double slow_share = 0.01;

/* Two outputs with the basis of the step, into memory->change. Their errors may be a tenth of the
 * vibration that would reject the step. */
static tw_status find_outputs(tw_integrator *integrator, tw_expmid2_memory *memory,
                              tw_mode_output first, tw_mode_output second, tw_error *error)
{
    int64_t n = integrator->system.n;
    double rejecting = sqrt(allowed_share * integrator->options.relative_tolerance);
    double enough = fmax(0.1 * rejecting / memory->phi.tolerance, 1);
    tw_expmid2_outputs outputs = {
        .count = 2,
        .kind = {first, second},
        .vector = {memory->change, memory->change + n},
        .reference = {enough * memory->speed, enough * memory->acceleration}};
    tw_status status = tw_expmid2_apply_modes(integrator, memory, 1.0, &outputs, true, error);
    if (status == TW_NOT_CONVERGED)
        status = tw_expmid2_apply_modes(integrator, memory, 1.0, &outputs, false, error);
    return status;
}

/* The slow motion at the start. Its time is that in which the slow part of the acceleration moves the
 * body by 1 % of its size, and slow are modes that do not swing within this time: that is an equation
 * for the time, and a few rounds solve it well enough. */
static tw_status begin_slow_motion(tw_integrator *integrator, tw_expmid2_memory *memory,
                                   tw_error *error)
{
    enum { ROUNDS = 4 };
    tw_expmid2_history *history = tw_expmid2_history_of(memory);
    const double *velocity = memory->change;
    const double *acceleration = memory->change + integrator->system.n;
    double rms_speed = 0;
    TW_TRY(tw_controller_time_from_rest(integrator, memory->a_m, &memory->rest_time, &rms_speed));
    for (int i = 0; i < ROUNDS; i++) {
        TW_TRY(find_outputs(integrator, memory, TW_MODE_SLOW_V, TW_MODE_SLOW_A, error));
        TW_TRY(
            tw_controller_time_from_rest(integrator, acceleration, &memory->rest_time, &rms_speed));
    }

    /* The speed of the body is that at the start, or when it has moved by 1 % of its size. */
    double speed = 0;
    double from_rest = 0;
    TW_TRY(tw_expmid2_norm(integrator, velocity, &speed));
    TW_TRY(tw_expmid2_norm(integrator, acceleration, &from_rest));
    speed = fmax(speed, from_rest * memory->rest_time);
    history->slow_energy = 0.5 * speed * speed;

    /* A body that is stiff in all directions has no slow motion. Its errors count beside the work of
     * the forces at the start along a small share of its size. */
    double force = 0;
    double size = 0;
    TW_TRY(tw_expmid2_norm(integrator, integrator->F + integrator->system.n, &force));
    TW_TRY(tw_expmid2_norm(integrator, integrator->u, &size));
    history->slow_energy = fmax(history->slow_energy, work_share * force * size);
    history->slow_time = memory->rest_time;
    tw_vector_copy(integrator->system.n, velocity, tw_expmid2_last(integrator, 5));
    return TW_OK;
}

/* The slow motion has the mean velocity over the time in which it takes the body by a hundredth of its
 * size: resolved vibrations vanish in this mean. Its largest energy so far counts. */
tw_status tw_expmid2_follow_slow_motion(tw_integrator *integrator, tw_expmid2_memory *memory)
{
    int64_t n = integrator->system.n;
    tw_expmid2_history *history = tw_expmid2_history_of(memory);
    double *mean = tw_expmid2_last(integrator, 5);
    double weight = 1;
    if (history->slow_time > 0) weight = -expm1(-memory->h / history->slow_time);

    /* mean += weight ((x_(n+1) - x_n) / h - mean) */
    tw_vector_scale(n, 1 - weight, mean);
    tw_vector_axpy(n, weight / memory->h, integrator->u_new, mean);
    tw_vector_axpy(n, -weight / memory->h, integrator->u, mean);

    double speed = 0;
    double size = 0;
    TW_TRY(tw_expmid2_norm(integrator, mean, &speed));
    TW_TRY(tw_expmid2_norm(integrator, integrator->u, &size));
    history->slow_energy = fmax(history->slow_energy, 0.5 * speed * speed);
    if (speed > 0) history->slow_time = fmin(history->slow_time, slow_share * size / speed);
    return TW_OK;
}

/* *hidden = what the first stage does not show of the energy at the start [J]. */
static tw_status find_hidden_energy(tw_integrator *integrator, double *hidden)
{
    tw_system *system = &integrator->system;
    double kinetic = 0;
    double potential = 0;
    TW_TRY(tw_system_energy(system, integrator->t, integrator->u, &kinetic, &potential));
    *hidden = kinetic + potential;
    double size = kinetic + fabs(potential);

    double t = 0;
    const double *stage = tw_expmid2_energy_state(integrator, &t);
    TW_TRY(tw_system_energy(system, t, stage, &kinetic, &potential));
    *hidden -= kinetic + potential;
    if (*hidden < rounding_share * size) *hidden = 0;
    return TW_OK;
}

tw_status tw_expmid2_judge_vibration(tw_integrator *integrator, tw_expmid2_memory *memory,
                                     bool is_first, tw_error *error)
{
    bool is_known = integrator->retry && tw_expmid2_history_of(memory)->slow_energy > 0;
    if (is_first && !is_known) TW_TRY(begin_slow_motion(integrator, memory, error));

    double vibration = 0;
    TW_TRY(find_outputs(integrator, memory, TW_MODE_VIBRATION, TW_MODE_CARRIED, error));
    tw_expmid2_add_by_hand(integrator, memory, 1.0, TW_MODE_VIBRATION, memory->change);
    TW_TRY(tw_expmid2_norm(integrator, memory->change, &vibration));
    double energy = 0.5 * vibration * vibration;

    /* Moved supports and damping do work that nobody has counted yet. */
    double hidden = 0;
    bool does_work = memory->has_rate || integrator->system.second.velocity_dependent;
    if (is_first && !does_work && tw_system_has_energy(&integrator->system))
        TW_TRY(find_hidden_energy(integrator, &hidden));
    energy = fmax(energy, hidden);

    double slow_energy = tw_expmid2_history_of(memory)->slow_energy;
    double allowed = allowed_share * integrator->options.relative_tolerance * slow_energy;
    integrator->lost_share = energy > 0 ? energy / (allowed + DBL_MIN) : 0;
    return TW_OK;
}
