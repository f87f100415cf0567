/* The energy guard: it rejects the steps of an exploding run.
 *
 * Energy comes from outside or not at all. The guard therefore watches the balance
 *     gain = E - E_reference - W,   W = integral of the power from outside since the reference.
 * In an exploding run the gain is most of the energy turned over,
 *     scale = kinetic + |change of the potential| + integral of |power|,
 * and both grow. In a sound run the gain is the energy error.
 *
 * Where nothing comes from outside, W = 0 and the reference is the start. Otherwise the reference
 * is renewed in each alarm: errors of W do not pile up over a long run.
 *
 * An energy costs explicit schemes as much as a third of a step, and a power costs any scheme some
 * evaluations of the forces. Those runs are judged only while the alarm is on. It is raised when
 * the mean velocity of a step, |x_new - x| / h, is far above all before: an unstable mode grows in
 * x_new - x, whatever the scheme. The balance then begins before the step that raised the alarm: at
 * its start, or at the stage of the step before where a scheme is judged by its stages. Those
 * schemes are looked at in every step, because a stage is known in its own step only.
 *
 * The mean velocity itself is asked for in each step, or in one of SELDOM steps where an explicit
 * scheme keeps a distance from its limit of stability: no mode can grow fast there. */
#include <math.h>

#include "base/fail.h"
#include "integrators/integrator_internal.h"
#include "linalg/vector.h"

/* Of a body at rest only rounding errors move, and its energy is rounding error too. A step that
 * moves a body by at most this share of its size, h |v| <= REST_SHARE |x|, is regarded as rest: it
 * is far above rounding (1e-16) and far below what can be seen. */
static const double REST_SHARE = 1e-10;

/* A gain below this share of the energy at the start is always sound: it covers the rounding of
 * large energies. */
static const double ROUNDING_SHARE = 1e-9;

/* Just after a start from rest a sound run turns over little more energy than its energy error. A
 * gain beyond the bound is therefore forgiven until the energy turned over has grown by the first
 * factor since the bound was first exceeded, or by the second factor beyond what it was in sound
 * steps. Both are empirical: an exploding run passes them within a few steps. */
static const double GROWTH_SINCE_VIOLATION = 4;
static const double GROWTH_SINCE_SOUND = 10;

/* After so many steps a gain beyond the bound needs no growth beside it: before, a start from rest has
 * turned over little more energy than its error, see above. Where power comes from outside, a run may
 * start from rest at any time, and growth is asked for except with contact. */
enum { SETTLED_STEPS = 10 };

/* The same holds from the start where the kinetic energy at the reference is this share of the energy
 * turned over without the gain: such a run did not start from rest. */
static const double MOVING_SHARE = 0.5;

/* The bound of what unresolved modes may gain at the ends of steps, in units of the usual bound. */
static const double HIDDEN_GROWTH = 4;

/* A step that alone takes a body further than its size may have this many times the kinetic energy that
 * the power at the state before it explains. A sound step has about once that, an exploding one passes
 * any factor. */
static const double LEAP_FACTOR = 10;

/* The alarm is raised when the mean velocity is this factor above its largest value at the last
 * look. It is well below the growth that rejects a step: sqrt(4) in terms of velocities. */
static const double ALARM_GROWTH = 1.5;

/* Steps from one mean velocity to the next where no mode can grow fast, and the share of the limit of
 * stability up to which that is so. */
enum { SELDOM = 16 };
static const double STABLE_SHARE = 0.95;

/* The alarm ends after so many steps without a new largest velocity: an unstable mode reaches a new
 * one in each of its periods, which take a few steps. */
enum { QUIET_STEPS = 64 };

/* The alarm ends as well when the energy turned over has grown by this factor while the balance
 * held: an explosion breaks the balance before it grows by 4. */
static const double SOUND_GROWTH = 16;

/* ---- what is watched ---- */

/* Whether the energy of a second-order problem cannot grow without power from outside. */
static bool conserves_or_loses(const tw_system *system)
{
    if (system->second.outside_power || system->second.energy_never_grows) return true;
    return tw_system_is_autonomous(system) &&
           (!system->second.velocity_dependent || !system->pair.damping);
}

void tw_energy_guard_prepare(tw_integrator *integrator)
{
    const tw_system *system = &integrator->system;

    /* The guard needs an energy, and can be switched off. */
    integrator->energy_guarded = false;
    integrator->energy_alarms = false;
    if (integrator->options.energy_gain_bound == 0 || !tw_system_has_energy(system)) return;

    if (!system->second_order) {
        integrator->energy_guarded =
            system->first.energy_never_grows || system->first.outside_power;
        return;
    }

    integrator->energy_guarded = conserves_or_loses(system);
    integrator->energy_alarms = integrator->scheme->is_explicit || system->second.outside_power;
}

/* Energies and power at the state u. */
static tw_status look_at(tw_integrator *integrator, double t, const double *u, tw_energy_look *out)
{
    *out = (tw_energy_look){.t = t};
    tw_system *system = &integrator->system;
    tw_status status = tw_system_energy(system, t, u, &out->kinetic, &out->potential);

    if (status == TW_OK && system->second_order && system->second.outside_power)
        status =
            system->second.outside_power(system->second.context, t, u, u + system->n, &out->power);
    return status;
}

/* Energies are compared with those of this look from now on. */
static void refer_to(tw_energy_watch *watch, const tw_energy_look *at)
{
    watch->energy = at->kinetic + at->potential;
    watch->potential = at->potential;
    watch->kinetic = at->kinetic;
    watch->t = at->t;
    watch->power = at->power;
    watch->work = 0;
    watch->work_size = 0;
    watch->violated_scale = 0;
    watch->first_scale = 0;
    watch->gain = 0;
}

tw_status tw_energy_guard_start(tw_integrator *integrator)
{
    integrator->watch = (tw_energy_watch){0};
    if (!integrator->energy_guarded) return TW_OK;

    tw_energy_look start;
    TW_TRY(look_at(integrator, integrator->t, integrator->u, &start));
    refer_to(&integrator->watch, &start);
    integrator->watch.last = start;
    integrator->watch.start_energy = start.kinetic + start.potential;
    return TW_OK;
}

/* ---- the alarm ---- */

/* Whether the guard rests in this step of h: see SELDOM. */
static bool may_rest(const tw_integrator *integrator, double h)
{
    const tw_system *system = &integrator->system;
    if (!integrator->energy_alarms || !system->second_order) return false;
    if (integrator->watch.alarmed || system->second.outside_power) return false;
    if (system->second.velocity_dependent || system->second.finish_step) return false;

    /* h omega <= share of the limit, with a bound of omega that holds in any state. */
    double reach = fabs(h) * sqrt(system->second.eigenvalue_max);
    double limit = STABLE_SHARE * integrator->scheme->stability;
    return reach > 0 && reach <= limit && integrator->counts.steps % SELDOM != 0;
}

/* |x_new - x| / |h|, in the norm of the problem. */
static tw_status mean_velocity(tw_integrator *integrator, double h, double *result)
{
    TW_TRY(tw_vector_distance(&integrator->system.second.space, integrator->u_new, integrator->u,
                              integrator->scratch, result));
    *result /= fabs(h);
    return TW_OK;
}

/* Raises the alarm where the step of h is faster than all before, and counts the quiet steps. */
static tw_status listen(tw_integrator *integrator, double h, tw_energy_watch *watch)
{
    double velocity = 0;
    TW_TRY(mean_velocity(integrator, h, &velocity));
    bool is_faster = velocity > watch->velocity;
    bool was_alarmed = watch->alarmed;

    /* What is small beside the velocities in earlier alarms does not raise one. */
    if (velocity > ALARM_GROWTH * watch->velocity) watch->alarmed = true;
    watch->quiet_steps = is_faster ? 0 : watch->quiet_steps + 1;
    if (is_faster && watch->alarmed) watch->velocity = velocity;

    /* Where power comes from outside, the balance begins before the step that raised the alarm: at
     * its start, or at the last stage. What moved before that counts as sound. */
    if (!watch->alarmed || was_alarmed || !integrator->system.second.outside_power) return TW_OK;
    tw_energy_look before = watch->last;
    if (!integrator->scheme->energy_state)
        TW_TRY(look_at(integrator, integrator->t, integrator->u, &before));
    refer_to(watch, &before);
    watch->sound_scale = fmax(watch->sound_scale, before.kinetic);
    return TW_OK;
}

/* After a sound step: whether the alarm may end. */
static void calm_down(const tw_integrator *integrator, double scale, tw_energy_watch *watch)
{
    /* Without power from outside one look at each rise is enough. */
    if (!integrator->system.second.outside_power) watch->alarmed = false;

    if (watch->first_scale == 0) watch->first_scale = scale;
    bool has_proved = watch->violated_scale == 0 && scale > SOUND_GROWTH * watch->first_scale;
    if (has_proved || watch->quiet_steps > QUIET_STEPS) watch->alarmed = false;
}

/* ---- the judgement ---- */

/* How far a step of h goes at the velocity of the state u, *stride = h |v|, and the size of the body
 * before it, *size = |x|, in the norm of the problem. Both are 0 for a first-order problem. */
static tw_status find_stride(const tw_integrator *integrator, double h, const double *u,
                             double *stride, double *size)
{
    const tw_system *system = &integrator->system;
    *stride = 0;
    *size = 0;
    if (!system->second_order) return TW_OK;

    double speed = 0;
    TW_TRY(tw_vector_norm(&system->second.space, u + system->n, &speed));
    TW_TRY(tw_vector_norm(&system->second.space, integrator->u, size));
    *stride = fabs(h) * speed;
    return TW_OK;
}

/* Adds the work since the last look: of the power by the trapezoidal rule, and of impulses where
 * they give energy (a belt that draws bodies along). An event may have taken the run back in time:
 * then no work is added. */
static void add_work(tw_energy_watch *watch, const tw_energy_look *now, double impulse_work)
{
    double h = fmax(0.0, now->t - watch->t);
    double given = fmax(0.0, impulse_work);
    watch->work += 0.5 * h * (watch->power + now->power) + given;
    watch->work_size += 0.5 * h * (fabs(watch->power) + fabs(now->power)) + given;
    watch->t = now->t;
    watch->power = now->power;
}

/* Whether the stage of a step shows the potential energy of the motion. Damping that ends a vibration
 * within the step leaves the stage displaced: its potential is then far above what the end has. */
static bool shows_energy(const tw_system *system)
{
    return !(system->second_order && system->second.velocity_dependent);
}

/* Whether a gain beyond the bound is an explosion, in a run that moves. `turnover` is the energy
 * turned over, the gain included; `scale` is what the gain is compared with. */
static bool explodes(const tw_integrator *integrator, double turnover, double scale,
                     const tw_energy_watch *watch)
{
    const tw_system *system = &integrator->system;
    bool has_impacts = system->second_order && system->second.finish_step;
    bool has_power = system->second_order && system->second.outside_power;

    /* The run is past its start, or it moved at the reference: then a gain beside the largest
     * turnover suffices. At a turning point the turnover itself is small. */
    double largest = fmax(scale, watch->sound_scale);
    bool is_settled = integrator->counts.steps >= SETTLED_STEPS && (has_impacts || !has_power);
    bool has_moved = watch->kinetic >= MOVING_SHARE * (turnover - watch->gain);
    bool is_large = watch->gain > integrator->options.energy_gain_bound * largest;
    if (is_large && shows_energy(system) && (is_settled || has_moved)) return true;

    /* Otherwise the energy turned over grows as well. */
    bool grown = turnover > GROWTH_SINCE_VIOLATION * watch->violated_scale;
    bool sudden = watch->sound_scale > 0 && turnover > GROWTH_SINCE_SOUND * watch->sound_scale;
    return grown || sudden;
}

/* The largest power from outside within a step of h, at the state before it. */
static tw_status largest_power_before(const tw_integrator *integrator, double h, double *largest)
{
    const tw_system *system = &integrator->system;
    const double *u = integrator->u;
    *largest = 0;
    for (int i = 0; i <= 2; i++) {
        double power = 0;
        double t = integrator->t + 0.5 * i * h;
        TW_TRY(system->second.outside_power(system->second.context, t, u, u + system->n, &power));
        *largest = fmax(*largest, fabs(power));
    }
    return TW_OK;
}

/* Whether a step takes the body further than its size for no reason. Where a support moves, a state
 * that went astray excuses itself by a power that is astray as well; therefore the power at the state
 * before the step is asked, which knows where the support goes. */
static tw_status is_wild_leap(const tw_integrator *integrator, double h, const double *u,
                              const tw_energy_look *now, const tw_energy_watch *watch, bool *wild)
{
    double stride = 0;
    double size = 0;
    *wild = false;
    if (!integrator->system.second_order || !integrator->system.second.outside_power) return TW_OK;
    TW_TRY(find_stride(integrator, h, u, &stride, &size));
    if (stride <= size) return TW_OK;

    double power = 0;
    TW_TRY(largest_power_before(integrator, h, &power));
    double known = fmax(watch->kinetic, watch->sound_scale) + fabs(h) * power;
    *wild = now->kinetic > LEAP_FACTOR * known;
    return TW_OK;
}

/* Judges the state u, reached by a step of h, by what the look found. *scale is the energy turned
 * over. */
static tw_status judge(const tw_integrator *integrator, double h, const double *u,
                       const tw_energy_look *now, tw_energy_watch *watch, double *scale)
{
    const tw_system *system = &integrator->system;

    /* The gain is measured against the energy turned over since the reference. */
    add_work(watch, now, integrator->impulse_work);
    double gain = now->kinetic + now->potential - watch->energy - watch->work;
    double turnover = now->kinetic + fabs(now->potential - watch->potential) + watch->work_size;
    if (!isfinite(gain) || !isfinite(turnover)) return TW_NOT_FINITE;
    watch->gain = gain;
    bool wild = false;
    TW_TRY(is_wild_leap(integrator, h, u, now, watch, &wild));
    if (wild) return TW_NOT_CONVERGED;

    /* A contact that is passed over in one step throws a body back faster than it came, and does so
     * once: the turnover need not grow any further. There the gain is compared with the largest
     * turnover so far, without the gain in it. */
    bool has_impacts = system->second_order && system->second.finish_step;
    *scale = turnover;
    if (has_impacts) *scale = fmax(turnover - fmax(gain, 0), watch->sound_scale);

    double allowed = integrator->options.energy_gain_bound * *scale;
    if (gain <= allowed || gain <= ROUNDING_SHARE * fabs(watch->energy)) {
        watch->sound_scale = fmax(watch->sound_scale, *scale);
        watch->violated_scale = 0;
        return TW_OK;
    }

    /* The gain exceeds its bound. At rest that means nothing. */
    double stride = 0;
    double size = 0;
    TW_TRY(find_stride(integrator, h, u, &stride, &size));
    if (system->second_order && stride <= REST_SHARE * size) return TW_OK;

    /* In motion the step is rejected if it explodes, or if it alone takes the body further than its
     * size: that also judges the first step of a run. */
    if (watch->violated_scale == 0) watch->violated_scale = turnover;
    bool far = stride > size;
    return far || explodes(integrator, turnover, *scale, watch) ? TW_NOT_CONVERGED : TW_OK;
}

/* Looks at the end of the attempted step. Some schemes leave spurious energy in unresolved modes
 * there: they name a better state to judge by. */
static tw_status look_at_step(tw_integrator *integrator, double t_new, const double **u,
                              tw_energy_look *out)
{
    const tw_scheme_table *scheme = integrator->scheme;
    double t = t_new;
    *u = integrator->u_new;
    if (scheme->energy_state) *u = scheme->energy_state(integrator, &t);

    TW_TRY(look_at(integrator, t, *u, out));
    if (scheme->hidden_power) out->power += scheme->hidden_power(integrator);
    return TW_OK;
}

/* A scheme that is judged by its stages does not show what vibrates unresolved. Where a step is
 * divided over a contact, the shorter step resolves it: energy appears that was there. The ends of
 * the step show all energy: their gain is added to the gain so far, and the step is sound if the sum
 * stays below the share of `scale`. The balance goes on from this sum, so that gains of many divided
 * steps are not forgiven one by one. */
static tw_status judge_by_ends(tw_integrator *integrator, double t_new, double scale,
                               tw_energy_watch *watch)
{
    /* Shorter than the step before. A resumed run knows t and t_old, but not step_taken. */
    bool divided = t_new - integrator->t < 0.99 * (integrator->t - integrator->t_old);
    if (!integrator->scheme->energy_state || !divided) return TW_NOT_CONVERGED;

    tw_energy_look ends[2];
    TW_TRY(look_at(integrator, integrator->t, integrator->u, &ends[0]));
    TW_TRY(look_at(integrator, t_new, integrator->u_new, &ends[1]));
    double gain = ends[1].kinetic + ends[1].potential - ends[0].kinetic - ends[0].potential;
    gain -= 0.5 * (t_new - integrator->t) * (ends[0].power + ends[1].power);
    gain -= fmax(0.0, integrator->impulse_work);
    gain += integrator->watch.gain;
    if (!(gain <= integrator->options.energy_gain_bound * scale)) return TW_NOT_CONVERGED;

    /* E - E_reference = gain from here on. */
    refer_to(watch, &watch->last);
    watch->energy -= gain;
    watch->gain = gain;
    return TW_OK;
}

/* A problem of the first order with power from outside forgets its past: without inertia, each step is
 * judged by itself. What it may gain is the work of the largest power within the step, at the state
 * before it: a state that went astray would excuse itself by a power that is astray as well. The gain
 * beyond that is compared with the energy turned over. */
static tw_status judge_driven(tw_integrator *integrator, double t_new)
{
    const tw_first_order_problem *problem = &integrator->system.first;
    double h = t_new - integrator->t;
    double before = 0;
    double after = 0;
    TW_TRY(problem->energy(problem->context, integrator->t, integrator->u, &before));
    TW_TRY(problem->energy(problem->context, t_new, integrator->u_new, &after));

    double largest = 0;
    for (int i = 0; i <= 2; i++) {
        double power = 0;
        double t = integrator->t + 0.5 * i * h;
        TW_TRY(problem->outside_power(problem->context, t, integrator->u, &power));
        largest = fmax(largest, power);
    }

    double work = fabs(h) * largest;
    double turned_over = work + fabs(before - integrator->watch.energy);
    double gain = after - before - work;
    if (!isfinite(gain) || !isfinite(turned_over)) return TW_NOT_FINITE;

    double allowed = fmax(integrator->options.energy_gain_bound * turned_over,
                          ROUNDING_SHARE * fabs(integrator->watch.energy));
    return gain <= allowed ? TW_OK : TW_NOT_CONVERGED;
}

/* What the ends of steps have and their stages do not show; `kinetic` is the energy at the end. Where nothing comes from outside, and
 * stages show the potential of the motion, the kinetic energy at the end with that potential is compared with the start
 * of the run. Otherwise it is compared with the kinetic energy of the stage, and what the first stage did not show is
 * allowed for. The potential at the end says nothing: in stiff modes a tiny displacement has a large one. */
static double hidden_gain(const tw_integrator *integrator, double kinetic,
                          const tw_energy_watch *watch)
{
    const tw_system *system = &integrator->system;
    const tw_energy_look *stage = &watch->last;
    if (!system->second.outside_power && shows_energy(system))
        return kinetic + stage->potential - watch->start_energy;
    return kinetic - stage->kinetic - integrator->counts.unresolved_energy;
}

/* What stages do not show may explode, too: the gain there is compared with the largest energy that was
 * turned over. */
static tw_status judge_hidden(tw_integrator *integrator, double t_new, double scale,
                              const tw_energy_watch *watch)
{
    const tw_system *system = &integrator->system;
    if (!integrator->scheme->energy_state || !system->second_order) return TW_OK;
    if (integrator->counts.steps < SETTLED_STEPS) return TW_OK;

    double kinetic = 0;
    double potential = 0;
    TW_TRY(tw_system_energy(&integrator->system, t_new, integrator->u_new, &kinetic, &potential));
    double gain = hidden_gain(integrator, kinetic, watch);
    double largest = fmax(scale, fmax(watch->sound_scale, integrator->counts.resolved_kinetic));
    if (gain <= HIDDEN_GROWTH * integrator->options.energy_gain_bound * largest) return TW_OK;
    if (gain <= ROUNDING_SHARE * fabs(watch->start_energy)) return TW_OK;

    double stride = 0;
    double size = 0;
    TW_TRY(find_stride(integrator, t_new - integrator->t, integrator->u_new, &stride, &size));
    return stride <= REST_SHARE * size ? TW_OK : TW_NOT_CONVERGED;
}

/* Counts what the first stage hides of the energy at the start, and the kinetic energy that stages
 * show. */
static void count_stage(tw_integrator *integrator, const tw_energy_watch *watch)
{
    tw_integrator_statistics *counts = &integrator->counts;
    const tw_energy_look *stage = &watch->last;
    counts->resolved_kinetic = fmax(counts->resolved_kinetic, stage->kinetic);
    if (counts->steps > 0) return;

    /* Work from outside until the stage, by the trapezoidal rule. */
    double work = 0.5 * (stage->t - integrator->t) * (integrator->watch.last.power + stage->power);
    double hidden = watch->start_energy + work - stage->kinetic - stage->potential;
    double rounding = ROUNDING_SHARE * (stage->kinetic + fabs(stage->potential));
    counts->unresolved_energy = hidden > rounding ? hidden : 0;
}

tw_status tw_energy_guard_check(tw_integrator *integrator, double t_new)
{
    if (!integrator->energy_guarded) return TW_OK;
    const tw_system *system = &integrator->system;
    bool driven =
        !system->second_order && system->first.outside_power && !system->first.energy_never_grows;
    if (driven) return judge_driven(integrator, t_new);

    /* A rejected step leaves no trace: the watch is written back only if the step is sound. */
    tw_energy_watch watch = integrator->watch;
    double h = t_new - integrator->t;
    if (may_rest(integrator, h)) return TW_OK;
    if (integrator->energy_alarms) TW_TRY(listen(integrator, h, &watch));
    bool is_judged = watch.alarmed || !integrator->energy_alarms;

    /* What a look finds may be the reference of the next alarm. */
    const double *u = NULL;
    if (is_judged || integrator->scheme->energy_state)
        TW_TRY(look_at_step(integrator, t_new, &u, &watch.last));

    double scale = 0;
    if (is_judged) {
        tw_status status = judge(integrator, h, u, &watch.last, &watch, &scale);
        if (status == TW_NOT_CONVERGED) status = judge_by_ends(integrator, t_new, scale, &watch);
        if (status != TW_OK) return status;
        if (integrator->energy_alarms) calm_down(integrator, scale, &watch);
    }
    TW_TRY(judge_hidden(integrator, t_new, scale, &watch));
    if (integrator->scheme->energy_state) count_stage(integrator, &watch);
    integrator->watch = watch;
    return TW_OK;
}
