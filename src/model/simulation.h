/* What is behind a tw_simulation: the problem for an integrator, and the functions of the
 * model or system itself. */
#ifndef TW_MODEL_SIMULATION_H
#define TW_MODEL_SIMULATION_H

#include <twang/model.h>

#include "model/display_list.h"

typedef struct tw_simulation_table {
    const char *const *columns; /* names, NULL after the last */
    void (*release)(void *context);
    tw_status (*rows)(void *context, double t, const double *u, double *rows);
    tw_status (*measure)(void *context, double t, const double *u, tw_measurement *out);
    void (*summarise)(const void *context, tw_simulation_summary *out);
    /* The places of contacts, at most `most`; returns how many. NULL: there is no contact. */
    int64_t (*contacts)(void *context, double t, const double *u, int64_t most, double *places);
    /* Pulls a particle, checked but for its upper limit; -1: none. NULL: there are no particles. */
    tw_status (*pull)(void *context, int64_t particle, const double target[3]);
} tw_simulation_table;

struct tw_simulation {
    const tw_simulation_table *table;
    void *context;
    bool second_order;
    tw_second_order_problem second;
    tw_first_order_problem first;
    int64_t row_count;
    int64_t state_size;
    double stain_work;               /* wear that is shown in red [J/m^2]; 0: it has no colours */
    double *start;                   /* the state at t = 0 */
    const tw_display_list *displays; /* owned by the context; NULL: none */
};

/* Makes a simulation with room for its start, and takes the context over. NULL when memory is out:
 * then the context stays with the caller. */
tw_simulation *tw_simulation_create(const tw_simulation_table *table, void *context,
                                    int64_t state_size);

/* "q", "p": the columns of systems of equations. */
extern const char *const tw_system_columns[];

#endif
