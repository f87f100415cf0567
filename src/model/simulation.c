#include "model/simulation.h"

#include <string.h>

#include "base/allocate.h"

const char *const tw_system_columns[] = {"q", "p", NULL};

tw_simulation *tw_simulation_create(const tw_simulation_table *table, void *context,
                                    int64_t state_size)
{
    tw_simulation *simulation = TW_NEW(tw_simulation);
    double *start = tw_allocate_zeroed((size_t)state_size, sizeof(double));
    if (!simulation || !start) {
        tw_release(simulation);
        tw_release(start);
        return NULL;
    }
    simulation->table = table;
    simulation->context = context;
    simulation->state_size = state_size;
    simulation->start = start;
    return simulation;
}

void tw_simulation_free(tw_simulation *simulation)
{
    if (!simulation) return;
    simulation->table->release(simulation->context);
    tw_release(simulation->start);
    tw_release(simulation);
}

const tw_second_order_problem *tw_simulation_second_order(const tw_simulation *simulation)
{
    return simulation->second_order ? &simulation->second : NULL;
}

const tw_first_order_problem *tw_simulation_first_order(const tw_simulation *simulation)
{
    return simulation->second_order ? NULL : &simulation->first;
}

int64_t tw_simulation_state_size(const tw_simulation *simulation)
{
    return simulation->state_size;
}

const double *tw_simulation_start(const tw_simulation *simulation)
{
    return simulation->start;
}

int64_t tw_simulation_row_count(const tw_simulation *simulation)
{
    return simulation->row_count;
}

int tw_simulation_column_count(const tw_simulation *simulation)
{
    int count = 0;
    while (simulation->table->columns[count]) count++;
    return count;
}

const char *tw_simulation_column(const tw_simulation *simulation, int column)
{
    bool there = column >= 0 && column < tw_simulation_column_count(simulation);
    return there ? simulation->table->columns[column] : NULL;
}

tw_status tw_simulation_rows(tw_simulation *simulation, double t, const double *u, double *rows)
{
    return simulation->table->rows(simulation->context, t, u, rows);
}

tw_status tw_simulation_measure(tw_simulation *simulation, double t, const double *u,
                                tw_measurement *out)
{
    memset(out, 0, sizeof *out);
    return simulation->table->measure(simulation->context, t, u, out);
}

tw_simulation_summary tw_simulation_summarise(const tw_simulation *simulation)
{
    tw_simulation_summary summary = {0};
    simulation->table->summarise(simulation->context, &summary);
    return summary;
}

int tw_simulation_display_count(const tw_simulation *simulation)
{
    return simulation->displays ? simulation->displays->count : 0;
}

const tw_display *tw_simulation_display(const tw_simulation *simulation, int index)
{
    return index >= 0 && index < tw_simulation_display_count(simulation)
               ? &simulation->displays->list[index]
               : NULL;
}
