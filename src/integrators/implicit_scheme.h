/* What the implicit schemes share: a stage solver, a few vectors, and a stage equation
 * solved robustly. */
#ifndef TW_INTEGRATORS_IMPLICIT_SCHEME_H
#define TW_INTEGRATORS_IMPLICIT_SCHEME_H

#include "integrators/implicit_stage.h"
#include "integrators/integrator_internal.h"

typedef struct tw_implicit_memory {
    tw_implicit *implicit;
    double *x_star, *v_star, *x, *work; /* size entries each */
    double *history;                    /* `history_count` doubles that travel through serialise */
    size_t history_count;
    double stage_t; /* time of the last stage */
    double sums[3]; /* newmark.c: acceleration of sums beside the state at the end of the attempt */
    double *storage;
} tw_implicit_memory;

/* Allocates; `history_count` doubles of history, zeroed. */
tw_status tw_implicit_memory_reserve(tw_integrator *integrator, size_t history_count,
                                     tw_error *error);
void tw_implicit_memory_release(tw_integrator *integrator);
size_t tw_implicit_memory_history(tw_integrator *integrator, double **values);
/* Makes the factor that the history describes, where the user lets it serve
 * (options.reuse_factor). */
tw_status tw_implicit_memory_restored(tw_integrator *integrator);
/* Forgets factor and history. */
void tw_implicit_memory_reset(tw_integrator *integrator);
/* Forgets the matrix alone: the laws of the forces have changed. */
void tw_implicit_memory_forget(tw_integrator *integrator);

/* The stage (x, v) of midpoint rules, where unresolved strain is in balance: what the energy guard
 * looks at. At the step's end a link that turned by h omega is strained by its square, and stiff
 * springs make much energy of that. */
const double *tw_implicit_memory_energy_state(tw_integrator *integrator, double *t);

/* Solves x = x_star + gamma a(t, x, v_star + sigma (x - x_star)) into memory->x (first order: u =
 * u_star + gamma F), starting from what memory->x holds: plain Newton first, then with line search.
 * Marks Newton's failure for the statistics. */
tw_status tw_implicit_memory_solve(tw_integrator *integrator, double t, double gamma, double sigma,
                                   tw_error *error);

#endif
