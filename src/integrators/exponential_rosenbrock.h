/* What the step (exponential_rosenbrock.c) and the points inside it (rosenbrock_dense.c) share. */
#ifndef TW_INTEGRATORS_EXPONENTIAL_ROSENBROCK_H
#define TW_INTEGRATORS_EXPONENTIAL_ROSENBROCK_H

#include "integrators/integrator_internal.h"
#include "integrators/propagator.h"

enum {
    TW_MAX_REMAINDERS = TW_TABLEAU_MAX_STAGES + 1,
    TW_MAX_POINTS = 3,
    TW_SLOT_SLOPE = 0,
    TW_SLOT_REMAINDER = 1,
    TW_SLOT_ESTIMATE = 3,
    TW_SLOT_COUNT = 5
};

/* Points inside the step that are asked for afterwards, made together with it: rows of the same sweeps. */
typedef struct tw_rosenbrock_points {
    int count; /* of this attempt */
    double theta[TW_MAX_POINTS];
    double *linear[TW_MAX_POINTS]; /* what F_n and F_t give up to theta */
    double *remainder
        [TW_MAX_POINTS +
         1]; /* what the remainders give; last: up to the end, by the model of the inside */
    double *share[TW_MAX_POINTS + 1]; /* scratch: what the remainder at the end adds to that */
    bool complete;                    /* it has been added, and `gap` is known */
    double *storage;                  /* NULL until points are expected */
} tw_rosenbrock_points;

typedef struct tw_rosenbrock {
    tw_tableau tableau;
    double
        amplification; /* sum |coefficient| phi_k(0) of the step's terms: how stage errors reach the step */
    tw_propagator *propagator;
    int rows; /* stages + 1 */
    double *linear
        [TW_MAX_REMAINDERS]; /* c_i h phi_1 F + (c_i h)^2 phi_2 F_t of each stage, last: of the step */
    double *remainder
        [TW_MAX_REMAINDERS]; /* D_i: n entries d_i (second order) or size entries; last: of the end */
    double *stage, *F_stage, *F_t, *work;
    double *gap;         /* what dense output's own model lacks at the end of the step */
    bool dense_ready;    /* gap and the end's remainder belong to the last accepted step */
    double step_size[2]; /* norms of the linear part of the step: what tolerances refer to */
    bool linearised;     /* J, F_t belong to the current t, u */
    bool fixed; /* J is fixed at the start; all of the time dependence is in the remainders */
    double *fixed_point; /* u there, t, and whether it is known: the history of such a run */
    bool slope_kept;     /* slot TW_SLOT_SLOPE holds the basis of the current F, F_t */
    double *storage;
    tw_rosenbrock_points points;
} tw_rosenbrock;

/* ---- sums that both build (exponential_rosenbrock.c) ---- */

/* Sources F_n and, for non-autonomous problems, F_t; no rows yet. */
tw_phi_sum tw_rosenbrock_linear_sum(const tw_integrator *integrator, const tw_rosenbrock *memory,
                                    double h, const double *F);
/* Their terms in a row at time theta h after t_n. */
void tw_rosenbrock_add_linear_row(const tw_integrator *integrator, tw_phi_sum *sum, int row,
                                  double theta);

/* Row 0 into `out`: the terms of `row` in the tableau at time theta h; sources are the remainders. */
tw_phi_sum tw_rosenbrock_remainder_sum(const tw_integrator *integrator, const tw_rosenbrock *memory,
                                       double h, int row, double theta, double *out);
/* The same terms in a further row. */
void tw_rosenbrock_add_tableau_row(const tw_integrator *integrator, const tw_rosenbrock *memory,
                                   tw_phi_sum *sum, int sum_row, int row, double theta);
/* Number of remainder `which` among the sources, where it is put if need be. */
int tw_rosenbrock_source(const tw_integrator *integrator, const tw_rosenbrock *memory,
                         tw_phi_sum *sum, int which);

bool tw_rosenbrock_has_terms(const tw_tableau *tableau, int row);

/* D = F_U - F_n - J (U - u_n) - dt F_t at U, dt after u_n. `product` is scratch. */
tw_status tw_rosenbrock_subtract_model(tw_integrator *integrator, tw_rosenbrock *memory, double dt,
                                       const double *u_n, const double *F_n, const double *U,
                                       const double *F_U, double *product, double *remainder);

/* ---- points inside the step (rosenbrock_dense.c) ---- */

/* Memory for points, where any are expected. */
tw_status tw_rosenbrock_expect(tw_integrator *integrator, double interval);
/* Which of the expected times lie inside a step h from now. */
void tw_rosenbrock_choose_points(tw_integrator *integrator, double h);
/* Their rows: of the linear part, and of what the stages' remainders give. */
void tw_rosenbrock_add_linear_points(const tw_integrator *integrator, const tw_rosenbrock *memory,
                                     tw_phi_sum *sum);
void tw_rosenbrock_add_remainder_points(const tw_integrator *integrator,
                                        const tw_rosenbrock *memory, tw_phi_sum *sum);
/* u(t_n + theta h) in the last accepted step: a point made with it, or from kept bases, or by new ones. */
tw_status tw_rosenbrock_interpolate(tw_integrator *integrator, double theta, double *u);

#endif
