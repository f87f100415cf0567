/* What the step (exponential_rosenbrock.c) and the points inside it (rosenbrock_dense.c) share. */
#ifndef TW_INTEGRATORS_EXPONENTIAL_ROSENBROCK_H
#define TW_INTEGRATORS_EXPONENTIAL_ROSENBROCK_H

#include "integrators/integrator_internal.h"
#include "integrators/propagator.h"

enum {
    TW_MAX_REMAINDERS = TW_TABLEAU_MAX_STAGES + 1,
    TW_MAX_POINTS = 3,     /* inside one step, computed together with it */
    TW_SLOT_SLOPE = 0,     /* basis of F_n and F_t */
    TW_SLOT_REMAINDER = 1, /* bases of the remainders: two slots, ceil(7 / TW_MAX_BLOCK) */
    TW_SLOT_ESTIMATE = 3,  /* bases of the error estimate: two slots */
    TW_SLOT_COUNT = 5
};

/* Points inside the step that will be asked for afterwards. They are computed together with it, as
 * further rows of the same sums of phi-functions. */
typedef struct tw_rosenbrock_points {
    int count; /* of this attempt */
    double theta[TW_MAX_POINTS];
    double *linear[TW_MAX_POINTS]; /* what F_n and F_t contribute up to theta */
    /* What the remainders contribute up to theta; the last entry belongs to theta = 1, computed by
     * the model of the remainder that serves the inside of the step. */
    double *remainder[TW_MAX_POINTS + 1];
    double *share[TW_MAX_POINTS + 1]; /* scratch: what the remainder at the end adds to that */
    bool complete;                    /* it has been added, and `gap` is known */
    double *storage;                  /* NULL until points are expected */
} tw_rosenbrock_points;

typedef struct tw_rosenbrock {
    tw_tableau tableau;
    /* sum |coefficient| phi_k(0) of the terms of the step: how errors of stages reach the step. */
    double amplification;
    tw_propagator *propagator;
    int rows; /* stages + 1 */
    /* c_i h phi_1 F + (c_i h)^2 phi_2 F_t of each stage; last: of the step. */
    double *linear[TW_MAX_REMAINDERS];
    /* D_i: n entries d_i (second order) or size entries; last: at the end of the step. */
    double *remainder[TW_MAX_REMAINDERS];
    double *stage;
    double *F_stage;
    double *F_t;
    double *work;
    /* Sums beside the state (rosenbrock_tally.c): d_i, and a way that w' is applied to. */
    double tally_remainder[TW_MAX_REMAINDERS][3];
    double *tally_way;
    double *gap;         /* end of the step minus the end of dense output's own model */
    bool dense_ready;    /* gap and the remainder at the end belong to the last accepted step */
    double step_norm[2]; /* of the linear part of the step, x and v: what tolerances refer to */
    bool linearised;     /* J, F_t belong to the current t, u */
    bool fixed;          /* J is fixed at the start; the remainders hold all time dependence */
    double *fixed_point; /* u there, t, and whether it is known: the history of such a run */
    bool slope_kept;     /* slot TW_SLOT_SLOPE holds the basis of the current F, F_t */
    double *storage;
    tw_rosenbrock_points points;
} tw_rosenbrock;

/* ---- sums that both build (exponential_rosenbrock.c) ---- */

/* A sum with the sources F_n and, for non-autonomous problems, F_t; no rows yet. */
tw_phi_sum tw_rosenbrock_linear_sum(const tw_integrator *integrator, const tw_rosenbrock *memory,
                                    double h, const double *F);
/* Adds their terms to a row at time theta h after t_n. */
void tw_rosenbrock_add_linear_row(const tw_integrator *integrator, tw_phi_sum *sum, int row,
                                  double theta);

/* A sum with one row, into `out`: the terms of `row` in the tableau at time theta h. Its sources
 * are the remainders. */
tw_phi_sum tw_rosenbrock_remainder_sum(const tw_integrator *integrator, const tw_rosenbrock *memory,
                                       double h, int row, double theta, double *out);
/* Adds the same terms to row `sum_row` of the sum. */
void tw_rosenbrock_add_tableau_row(const tw_integrator *integrator, const tw_rosenbrock *memory,
                                   tw_phi_sum *sum, int sum_row, int row, double theta);
/* The number of remainder `which` among the sources; it is appended if it is not there. */
int tw_rosenbrock_source(const tw_integrator *integrator, const tw_rosenbrock *memory,
                         tw_phi_sum *sum, int which);

bool tw_rosenbrock_has_terms(const tw_tableau *tableau, int row);

/* The linear model of the step from u_n, with F = F(u_n). */
tw_linear_model tw_rosenbrock_model(const tw_integrator *integrator, const double *u_n,
                                    const double *F_n);

/* ---- sums beside the state (rosenbrock_tally.c) ---- */

/* Whether the scheme integrates sums beside the state of this problem. */
bool tw_rosenbrock_tallies(const tw_integrator *integrator);
/* Notes d_i, right after the force was evaluated at the stage U_i. */
tw_status tw_rosenbrock_note_tally(tw_integrator *integrator, int stage, const double *U);
/* Adds the row of F_n, or that of the remainders, of which w' is to be taken; nothing where w' = 0. */
void tw_rosenbrock_add_linear_tally(const tw_integrator *integrator, tw_phi_sum *sum);
void tw_rosenbrock_add_remainder_tally(const tw_integrator *integrator, tw_phi_sum *sum);
/* Adds what F_n, or the remainders, contribute, after the rows were computed. */
void tw_rosenbrock_finish_linear_tally(tw_integrator *integrator, double h);
void tw_rosenbrock_finish_remainder_tally(tw_integrator *integrator, double h);

/* ---- points inside the step (rosenbrock_dense.c) ---- */

/* Allocates for points, if any are expected. */
tw_status tw_rosenbrock_expect(tw_integrator *integrator, double interval);
/* Chooses the expected times that lie inside a step h from now. */
void tw_rosenbrock_choose_points(tw_integrator *integrator, double h);
/* Adds their rows: of the linear part, and of what the remainders of the stages contribute. */
void tw_rosenbrock_add_linear_points(const tw_integrator *integrator, const tw_rosenbrock *memory,
                                     tw_phi_sum *sum);
void tw_rosenbrock_add_remainder_points(const tw_integrator *integrator,
                                        const tw_rosenbrock *memory, tw_phi_sum *sum);
/* u(t_n + theta h) in the last accepted step: a point computed with it, else from kept bases, else
 * from new ones. */
tw_status tw_rosenbrock_interpolate(tw_integrator *integrator, double theta, double *u);

#endif
