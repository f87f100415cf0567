/* What contact loses, as impulses between the closest points of a pair at the end of a step.
 *
 * Restitution: of the energy that the repulsion gave back in the step, E_n - E_{n+1} > 0, the share
 * 1 - e^2 is taken from the motion along the normal:
 *     v_n' = sqrt(v_n^2 - 2 (1 - e^2) (E_n - E_{n+1}) / m),   m = 1 / sum_i w_i^2 / m_i.
 * An impact then ends with e times its speed, whatever the law and the step.
 *     An impact that fits into one step leaves no energy at its ends: a pair that approaches, parts
 * afterwards, and brought more energy than it holds. Unresolved modes of expmid2 do so, they reverse
 * their velocity. Then v_n' = e v_n with the v_n that the scheme reached.
 *
 * Friction: an impulse of at most mu times that of the repulsion (the press in the middle of the way, as the
 * midpoint rules have it) less what restitution took, leads the sliding velocity from u to
 *     u' = -theta (u - u_n),   w = (1 - theta) u_n + theta u,
 * with u_n the velocity at the start of the step and w the mean velocity of its way. The next step of
 * what sticks and is pulled with the acceleration a = (u - u_n) / h then has the mean velocity
 * u' + theta h a = 0: nothing creeps. theta is 1/2 for the midpoint rules and 1 for backward
 * differences. What slides is slowed down by all of the impulse.
 *
 * Depth: a pair that is deeper than it may be and still approaches is stopped (Bridson et al. 2002).
 *
 * The impulse on the obstacles is that of the repulsion over the step, as the scheme integrates it (tw_tally in
 * problem.h). Where the scheme does not, it comes from the rule of Lobatto with four
 * points on cubic ways between the ends, and those of this file.
 *
 * Restitution and depth never feed energy. What sticks may get back a part of what the step took,
 * |u'| <= |u| + |u_n|. Impulses between free particles keep momentum. */
#include <math.h>
#include <string.h>

#include "base/fail.h"
#include "base/parallel_for.h"
#include "base/vector3.h"
#include "linalg/vector.h"
#include "model/contact_force.h"

/* The impulses on obstacles have a common direction where the square of their sum is this share of
 * the square of their sizes. */
static const double least_common_press = 0.25;

/* The press in the middle of the way may be too small by this factor; beyond it the way says nothing. */
static const double largest_press_share = 4.0;

/* One pair at the end of a step. */
typedef struct meeting {
    const tw_contact *contact;
    const tw_contact_pair *pair;
    tw_gap frame;        /* at the end */
    double inverse_mass; /* sum_i w_i^2 / m_i */
    double velocity[3];  /* of the closest points against each other, V = sum_i w_i v_i */
    double earlier[3];   /* the same at the start of the step */
    double mean[3];      /* the same over the step: their way against each other by its length */
    double rebound;      /* speed at which an impact within the step parts; 0: there was none */
    double released;     /* E_n - E_{n+1} */
    double push;         /* impulse of the repulsion over the step */
    double roll[3];      /* the part of `velocity` that is due to the spin of an obstacle */
    double driven;       /* work of whoever moves the obstacle, in the impulses [J] */
    double impulse[3];   /* on the obstacle [N s] */
    bool is_deep;        /* the closest points are nearer than they may be */
} meeting;

/* The press in the middle of the way from x to y. */
static double press_between(const tw_contact_pair *pair, const double x[4][3], const double y[4][3])
{
    double middle[4][3];
    tw_pair_state state;
    for (int i = 0; i < TW_PAIR_SIZE; i++)
        middle[i / 3][i % 3] = 0.5 * (x[i / 3][i % 3] + y[i / 3][i % 3]);
    tw_pair_evaluate(pair, middle, TW_PAIR_GRADIENT, &state);
    return state.active ? state.press : 0.0;
}

/* Whether one side of a pair is an obstacle. */
static bool has_obstacle(const tw_contact *c, const tw_contact_pair *pair)
{
    for (int i = 0; i < tw_pair_vertex_count(pair->kind); i++)
        if (tw_contact_is_held(c, pair->vertex[i])) return true;
    return false;
}

/* Adds the impulse on the held vertices of a pair by the press in the middle of the way. */
static void press_middle(const tw_contact *c, const tw_contact_pair *pair, double h,
                         const tw_force_view *from, const double *x, double impulse[3])
{
    double before[4][3];
    double middle[4][3];
    tw_pair_state state;
    tw_contact_take(c, pair, from->x, before);
    tw_contact_take(c, pair, x, middle);
    for (int i = 0; i < TW_PAIR_SIZE; i++)
        middle[i / 3][i % 3] = 0.5 * (before[i / 3][i % 3] + middle[i / 3][i % 3]);
    tw_pair_evaluate(pair, middle, TW_PAIR_GRADIENT, &state);

    for (int i = 0; i < tw_pair_vertex_count(pair->kind) && state.active; i++)
        for (int k = 0; k < 3 && tw_contact_is_held(c, pair->vertex[i]); k++)
            impulse[k] -= h * state.gradient[3 * i + k];
}

/* The vertices of a pair on the cubic ways from (x, v) to (y, w), at the share s of the step h. */
static void on_the_way(double h, double s, const double at[4][4][3], double out[4][3])
{
    double r = 1.0 - s;
    for (int i = 0; i < TW_PAIR_SIZE; i++) {
        int vertex = i / 3;
        int k = i % 3;
        out[vertex][k] =
            r * r * (1.0 + 2.0 * s) * at[0][vertex][k] + h * s * r * r * at[1][vertex][k] +
            s * s * (3.0 - 2.0 * s) * at[2][vertex][k] - h * s * s * r * at[3][vertex][k];
    }
}

/* Adds the impulse of the repulsion on the obstacle of a pair over the step: the opposite of the
 * gradient, of its held vertices. `at` has positions and velocities before and after. */
static void press_obstacle(double h, const double at[4][4][3], meeting *m)
{
    static const double nodes[4] = {0.0, 0.27639320225002103, 0.72360679774997897, 1.0};
    static const double weights[4] = {1.0 / 12.0, 5.0 / 12.0, 5.0 / 12.0, 1.0 / 12.0};
    bool held[4];
    bool some = false;
    for (int i = 0; i < 4; i++) {
        held[i] = i < tw_pair_vertex_count(m->pair->kind) &&
                  tw_contact_is_held(m->contact, m->pair->vertex[i]);
        some = some || held[i];
    }

    for (int node = 0; node < 4 && some; node++) {
        double x[4][3];
        tw_pair_state state;
        on_the_way(h, nodes[node], at, x);
        tw_pair_evaluate(m->pair, x, TW_PAIR_GRADIENT, &state);
        for (int i = 0; i < TW_PAIR_SIZE && state.active; i++)
            if (held[i / 3]) m->impulse[i % 3] -= h * weights[node] * state.gradient[i];
    }
}

/* Notes the velocities that the scheme reached, of the particles of a pair. */
static void note_reached(tw_contact *c, const tw_contact_pair *pair, const double *v)
{
    for (int i = 0; i < TW_PAIR_VERTICES; i++) {
        tw_vertex_parts parts = tw_contact_parts(c, pair->vertex[i]);
        for (int part = 0; part < parts.count; part++) {
            int64_t first = 3 * (int64_t)parts.particle[part];
            memcpy(c->reached + first, v + first, 3 * sizeof *v);
        }
    }
}

/* Whether a pair would touch in the middle of a step of h from x with the velocities v, without contact. */
static bool touches_within(const tw_contact_pair *pair, double h, const double x[4][3],
                           const double v[4][3])
{
    double at[4][3];
    tw_pair_state state;
    for (int i = 0; i < TW_PAIR_SIZE; i++)
        at[i / 3][i % 3] = x[i / 3][i % 3] + 0.5 * h * v[i / 3][i % 3];
    tw_pair_evaluate(pair, at, TW_PAIR_ENERGY, &state);
    return state.active;
}

/* Sets the rebound of an impact within the step. `held` is the energy of the pair at the ends. */
static void find_rebound(double held, meeting *m)
{
    double speed[4][3];
    double reached = 0.0;
    tw_contact_take(m->contact, m->pair, m->contact->reached, speed);
    for (int i = 0; i < TW_PAIR_VERTICES; i++)
        reached += m->frame.weight[i] * tw_dot3(speed[i], m->frame.normal);

    double approach = tw_dot3(m->earlier, m->frame.normal);
    bool turned = approach < 0.0 && reached > 0.0;
    bool is_sudden = 0.5 * approach * approach / m->inverse_mass > held;
    m->rebound = turned && is_sudden ? reached : 0.0;
}

/* Fills the meeting; false if the pair did not touch at either end of the step or within it. */
static bool meet(double h, const tw_force_view *from, const double *x, const double *v, meeting *m)
{
    double at[4][4][3]; /* positions and velocities before, and after */
    double(*before)[3] = at[0];
    double(*earlier)[3] = at[1];
    double(*after)[3] = at[2];
    double(*speed)[3] = at[3];
    tw_contact_take(m->contact, m->pair, from->x, before);
    tw_contact_take(m->contact, m->pair, from->v, earlier);
    tw_contact_take(m->contact, m->pair, x, after);
    tw_contact_take(m->contact, m->pair, v, speed);
    tw_pair_state old;
    tw_pair_state now;
    tw_pair_evaluate(m->pair, before, TW_PAIR_GRADIENT, &old);
    tw_pair_evaluate(m->pair, after, TW_PAIR_GRADIENT, &now);
    bool at_ends = old.active || now.active;
    bool within = touches_within(m->pair, h, before, earlier);
    if (!at_ends && !within) return false;
    if (!tw_gap_find(m->pair->kind, after, &m->frame)) return false;

    m->is_deep = m->pair->kind != TW_PAIR_POINT_PLANE && m->frame.distance < m->pair->limit;
    m->released = old.energy - now.energy;
    m->push = h * press_between(m->pair, before, after);
    if (has_obstacle(m->contact, m->pair)) m->push *= m->contact->press_share;
    if (!m->contact->gain_known) press_obstacle(h, at, m);

    /* The velocities of the closest points, and the mass that an impulse moves. */
    m->inverse_mass = 0.0;
    tw_contact_roll(m->contact, m->pair, m->contact->spins[0], m->frame.normal, m->earlier);
    tw_contact_roll(m->contact, m->pair, m->contact->spins[1], m->frame.normal, m->roll);
    for (int k = 0; k < 3; k++) {
        m->velocity[k] = m->roll[k];
        m->mean[k] = 0.5 * (m->earlier[k] + m->roll[k]);
    }
    for (int i = 0; i < TW_PAIR_VERTICES; i++) {
        double w = m->frame.weight[i];

        m->inverse_mass += w * w * tw_contact_inverse_mass(m->contact, m->pair->vertex[i]);
        for (int k = 0; k < 3; k++) {
            m->velocity[k] += w * speed[i][k];
            m->earlier[k] += w * earlier[i][k];
            m->mean[k] += w * (after[i][k] - before[i][k]) / h;
        }
    }
    if (!(m->inverse_mass > 0.0)) return false;

    find_rebound(fmax(old.energy, now.energy), m);
    return at_ends || m->rebound > 0.0;
}

/* v += weight J / m for every free particle of the pair. A moved obstacle has the velocity u where
 * it is touched, and whoever moves it works with J . u. */
static void push(meeting *m, const double impulse[3], double *v)
{
    const tw_particles *p = m->contact->particles;
    m->driven -= tw_dot3(impulse, m->roll);
    for (int i = 0; i < TW_PAIR_VERTICES; i++) {
        tw_vertex_parts parts = tw_contact_parts(m->contact, m->pair->vertex[i]);
        for (int c = 0; c < parts.count; c++) {
            int64_t particle = parts.particle[c];
            double weight = m->frame.weight[i] * parts.weight[c];
            if (p->pinned[particle]) {
                m->driven -= weight * tw_dot3(impulse, v + 3 * particle);
                for (int k = 0; k < 3; k++) m->impulse[k] += weight * impulse[k];
                continue;
            }
            double share = weight / p->mass[particle];
            for (int k = 0; k < 3; k++) v[3 * particle + k] += share * impulse[k];
        }
    }
}

/* Stops what goes deeper than it may: the repulsion was too weak for it. Returns the energy. */
static double stop(meeting *m, double *v)
{
    double speed = tw_dot3(m->velocity, m->frame.normal);
    if (!m->is_deep || speed >= 0.0) return 0.0;

    double size = -speed / m->inverse_mass;
    double impulse[3];
    for (int k = 0; k < 3; k++) impulse[k] = size * m->frame.normal[k];
    push(m, impulse, v);
    m->push += size;
    return 0.5 * speed * speed / m->inverse_mass;
}

/* theta = (w - u_n) . (u - u_n) / |u - u_n|^2, how much of the end is in the mean velocity w of a step. */
static double share_of_end(const double u[3], const double before[3], const double mean[3])
{
    double square = 0.0;
    double product = 0.0;
    for (int k = 0; k < 3; k++) {
        double change = u[k] - before[k];

        square += change * change;
        product += change * (mean[k] - before[k]);
    }
    if (!(square > 0.0)) return 0.5;
    return fmin(fmax(product / square, 0.5), 1.0);
}

/* The part of the released energy that the scheme did not lose. One that moves by
 * h (theta v_{n+1} + (1 - theta) v_n) loses (theta - 1/2) m (v_{n+1} - v_n)^2 of the work: nothing by the
 * midpoint rule, half of it by bdf1 from rest. Motion lacks as much then: without it nothing was lost. */
static double given_back(const meeting *m, double speed)
{
    double before = tw_dot3(m->earlier, m->frame.normal);
    double theta = share_of_end(m->velocity, m->earlier, m->mean);
    double change = speed - before;
    double by_scheme = (theta - 0.5) * change * change / m->inverse_mass;

    double away = fmax(before, 0.0);
    double lacking = m->released - 0.5 * (speed * speed - away * away) / m->inverse_mass;
    return m->released - fmax(fmin(by_scheme, lacking), 0.0);
}

/* Takes 1 - e^2 of what was given back. Returns the energy. */
static double restitute(meeting *m, double *v)
{
    double e = m->contact->options.restitution;
    double speed = tw_dot3(m->velocity, m->frame.normal);
    if (e >= 1.0 || speed <= 0.0 || (m->released <= 0.0 && m->rebound == 0.0)) return 0.0;

    double square = speed * speed - 2.0 * (1.0 - e * e) * given_back(m, speed) * m->inverse_mass;
    double left = sqrt(fmax(square, 0.0));
    if (m->rebound > 0.0) left = fmin(speed, e * m->rebound);
    double size = (speed - left) / m->inverse_mass;
    double impulse[3];
    for (int k = 0; k < 3; k++) impulse[k] = -size * m->frame.normal[k];
    push(m, impulse, v);
    m->push = fmax(m->push - size, 0.0);
    return 0.5 * (speed * speed - left * left) / m->inverse_mass;
}

/* The part of a velocity across the normal. */
static void slide(const meeting *m, const double velocity[3], double u[3])
{
    double along = tw_dot3(velocity, m->frame.normal);
    for (int k = 0; k < 3; k++) u[k] = velocity[k] - along * m->frame.normal[k];
}

/* Whether friction of this pair is a force (friction.h): then one side is an obstacle. */
static bool rubs_by_force(const meeting *m)
{
    if (m->contact->options.friction_length == 0.0) return false;
    bool held[2] = {true, true};
    for (int i = 0; i < TW_PAIR_VERTICES; i++) {
        bool first = m->frame.weight[i] > 0.0;
        if (m->frame.weight[i] == 0.0) continue;
        held[first] = held[first] && tw_contact_is_held(m->contact, m->pair->vertex[i]);
    }
    return held[0] || held[1];
}

/* Slows the sliding down, as far as friction can. Returns the energy. */
static double rub(meeting *m, double *v)
{
    double u[3];
    double before[3];
    double mean[3];
    slide(m, m->velocity, u);
    slide(m, m->earlier, before);
    slide(m, m->mean, mean);

    /* The impulse of the repulsion limits that of friction. */
    double speed = sqrt(tw_dot3(u, u));
    double largest = m->contact->options.friction * m->push * m->inverse_mass;
    if (!(largest > 0.0)) return 0.0;

    /* u' = -theta (u - u_n). */
    double goal[3];
    double theta = share_of_end(u, before, mean);
    for (int k = 0; k < 3; k++) goal[k] = -theta * (u[k] - before[k]);

    /* The change of velocity is limited by friction. */
    double change[3];
    for (int k = 0; k < 3; k++) change[k] = goal[k] - u[k];
    double size = sqrt(tw_dot3(change, change));
    for (int k = 0; k < 3 && size > largest; k++) change[k] *= largest / size;

    /* What is left of the sliding, and the impulse that leaves it. */
    double impulse[3];
    double left = 0.0;
    for (int k = 0; k < 3; k++) {
        impulse[k] = change[k] / m->inverse_mass;
        left += (u[k] + change[k]) * (u[k] + change[k]);
    }
    push(m, impulse, v);
    return 0.5 * (speed * speed - left) / m->inverse_mass;
}

/* ---- accounts ---- */

/* A new entry for a step from t. It replaces those of attempts that were rejected. */
static tw_contact_entry *open_entry(tw_contact_account *account, double t)
{
    while (account->count > 0 && account->entry[account->count - 1].t >= t) account->count--;

    /* The oldest entry goes into the sum. */
    if (account->count == TW_CONTACT_ENTRIES) {
        account->contact_loss += account->entry[0].contact_loss;
        account->friction_loss += account->entry[0].friction_loss;
        account->driven += account->entry[0].driven;
        for (int k = 0; k < 3; k++) account->impulse[k] += account->entry[0].impulse[k];
        account->count--;
        memmove(account->entry, account->entry + 1,
                (size_t)account->count * sizeof *account->entry);
    }

    tw_contact_entry *entry = &account->entry[account->count++];
    *entry = (tw_contact_entry){.t = t};
    return entry;
}

/* The numbers of an account in a checkpoint: the sums, the entries, and how many there are. */
void tw_contact_save_account(const tw_contact *contact, double *values)
{
    const tw_contact_account *account = &contact->account;
    const double sums[] = {account->contact_loss, account->friction_loss, account->driven,
                           account->impulse[0],   account->impulse[1],    account->impulse[2]};
    memset(values, 0, TW_CONTACT_ACCOUNT_SIZE * sizeof *values);
    memcpy(values, sums, sizeof sums);
    memcpy(values + 6, account->entry, (size_t)account->count * sizeof *account->entry);
    values[TW_CONTACT_ACCOUNT_SIZE - 1] = account->count;
}

tw_status tw_contact_load_account(tw_contact *contact, const double *values)
{
    double count = values[TW_CONTACT_ACCOUNT_SIZE - 1];
    if (!tw_vector_is_finite(TW_CONTACT_ACCOUNT_SIZE, values)) return TW_BAD_INPUT;
    if (!(count >= 0.0 && count <= TW_CONTACT_ENTRIES && count == floor(count)))
        return TW_BAD_INPUT;

    contact->account = (tw_contact_account){.contact_loss = values[0],
                                            .friction_loss = values[1],
                                            .driven = values[2],
                                            .impulse = {values[3], values[4], values[5]},
                                            .count = (int)count};
    memcpy(contact->account.entry, values + 6, sizeof contact->account.entry);
    return TW_OK;
}

void tw_contact_measure(tw_contact *contact, const double *x, tw_measurement *out)
{
    const tw_contact_account *account = &contact->account;
    out->contact_work = account->contact_loss;
    out->friction_work = account->friction_loss;
    out->impulse_work = account->driven;
    for (int k = 0; k < 3; k++) out->contact_impulse[k] = account->impulse[k];
    for (int i = 0; i < account->count; i++) {
        out->contact_work += account->entry[i].contact_loss;
        out->friction_work += account->entry[i].friction_loss;
        out->impulse_work += account->entry[i].driven;
        for (int k = 0; k < 3; k++) out->contact_impulse[k] += account->entry[i].impulse[k];
    }
    contact->account = (tw_contact_account){0};

    int64_t end = contact->pair_count;
    for (int64_t p = 0; (p = tw_contact_next(contact, p, end, x)) < end; p++) {
        double at[4][3];
        tw_pair_state state;
        tw_contact_take(contact, &contact->pairs[p], x, at);
        tw_pair_evaluate(&contact->pairs[p], at, TW_PAIR_ENERGY, &state);
        if (!state.active) continue;
        out->contacts++;
        out->penetration_max = fmax(out->penetration_max, -state.gap);
    }
}

/* ---- the end of a step ---- */

/* The impulses of one pair. Returns whether they changed a velocity. */
static bool finish_pair(tw_contact *c, const tw_contact_pair *pair, double h,
                        const tw_force_view *from, const double *x, double *v,
                        tw_contact_entry *entry)
{
    meeting m = {.contact = c, .pair = pair};
    if (!meet(h, from, x, v, &m)) return false;
    c->touched = true;
    double lost = stop(&m, v) + restitute(&m, v);
    double rubbed = rubs_by_force(&m) ? 0.0 : rub(&m, v);
    entry->contact_loss += lost;
    entry->friction_loss += rubbed;
    entry->driven += m.driven;
    for (int k = 0; k < 3; k++) entry->impulse[k] += m.impulse[k];
    return lost != 0.0 || rubbed != 0.0;
}

/* What the scheme integrates as the impulse on all obstacles (c->gain), beside the sum of the impulses
 * by the press in the middle of the way of each pair. It corrects the limit of friction: a contact that
 * vibrates, resolved or not, presses harder in the mean than in the middle. 1 where the impulse is not
 * known, or where obstacles on opposite sides are pressed: one number does not tell how hard each is. */
static double find_press_share(const tw_contact *c, double h, const tw_force_view *from,
                               const double *x)
{
    bool rubs = c->options.friction > 0.0 && c->options.friction_length == 0.0;
    if (!c->gain_known || !rubs) return 1.0;

    double sum[3] = {0.0, 0.0, 0.0};
    double sizes = 0.0;
    int64_t blocks = tw_parallel_blocks(c->pair_count, TW_PARTICLE_BLOCK);
    for (int64_t b = 0; b < blocks; b++)
        for (int64_t i = 0; i < c->near_count[b]; i++) {
            const tw_contact_pair *pair = &c->pairs[c->near_pairs[b * TW_PARTICLE_BLOCK + i]];
            double impulse[3] = {0.0, 0.0, 0.0};
            press_middle(c, pair, h, from, x, impulse);

            for (int k = 0; k < 3; k++) sum[k] += impulse[k];
            sizes += sqrt(tw_dot3(impulse, impulse));
        }

    double square = tw_dot3(sum, sum);
    if (!(square > least_common_press * sizes * sizes)) return 1.0;
    return fmin(fmax(tw_dot3(c->gain, sum) / square, 0.0), largest_press_share);
}

tw_status tw_contact_finish_step(void *data, double h, const tw_force_view *from, double t,
                                 double *x, double *v, bool *changed)
{
    (void)t;
    tw_contact *c = data;
    tw_contact_entry *entry = open_entry(&c->account, from->t);
    for (int k = 0; k < 3 && c->gain_known; k++) entry->impulse[k] = c->gain[k];
    c->note.text[0] = '\0';
    c->touched = false;
    tw_contact_list_near(c, h, from, x);
    TW_TRY(tw_contact_check_step(c, h, from, x));
    tw_contact_find_spins(c, from->x, from->v, c->spins[0]);
    tw_contact_find_spins(c, x, v, c->spins[1]);

    int64_t blocks = tw_parallel_blocks(c->pair_count, TW_PARTICLE_BLOCK);
    for (int64_t b = 0; b < blocks; b++)
        for (int64_t i = 0; i < c->near_count[b]; i++)
            note_reached(c, &c->pairs[c->near_pairs[b * TW_PARTICLE_BLOCK + i]], v);

    c->press_share = find_press_share(c, h, from, x);

    /* The pairs follow each other, each with the velocities that the last one left. */
    for (int64_t b = 0; b < blocks; b++)
        for (int64_t i = 0; i < c->near_count[b]; i++) {
            const tw_contact_pair *pair = &c->pairs[c->near_pairs[b * TW_PARTICLE_BLOCK + i]];
            if (finish_pair(c, pair, h, from, x, v, entry)) *changed = true;
        }
    return TW_OK;
}
