/* How errors made along a trajectory grow until the outputs: an error made at theta reaches the
 * output at f multiplied by exp((f - theta) t A). */
#include <math.h>
#include <string.h>

#include "phi/taylor/taylor.h"

/* ---- amplification, by the time delta that has passed ---- */

static int cell_of(double theta)
{
    return (int)fmin(fmax(floor(theta * TW_ERROR_CELLS), 0), TW_ERROR_CELLS);
}

void tw_amplification_clear(tw_amplification *amplification)
{
    for (int i = 0; i <= TW_ERROR_CELLS; i++)
        for (int b = 0; b < 2; b++) amplification->logarithm[i][b] = NAN;

    /* No time passed: nothing grew. */
    for (int b = 0; b < 2; b++) amplification->logarithm[0][b] = 0;
    amplification->rate = 0;
}

/* Of several notes in one cell the largest is kept; a NAN is replaced. */
void tw_amplification_note(tw_amplification *amplification, double delta, const double logarithm[2])
{
    double *cell = amplification->logarithm[cell_of(delta)];
    for (int b = 0; b < 2; b++)
        if (!(cell[b] >= logarithm[b])) cell[b] = logarithm[b];
}

void tw_amplification_set_rate(tw_amplification *amplification, double rate)
{
    for (int i = 0; i <= TW_ERROR_CELLS; i++)
        for (int b = 0; b < 2; b++) amplification->logarithm[i][b] = rate * i / TW_ERROR_CELLS;
    amplification->rate = 0;
}

/* The amplification over delta. Its logarithm is interpolated between the nearest notes. Times are
 * known up to a cell, so the larger value of both ends of delta's cell is taken. */
static double amplification_over(const tw_amplification *amplification, double delta, int b)
{
    /* The nearest notes to the left and to the right. */
    int cell = cell_of(delta);
    int low = cell;
    int high = cell;
    if (cell < TW_ERROR_CELLS) high = cell + 1;
    while (low > 0 && isnan(amplification->logarithm[low][b])) low--;
    while (high < TW_ERROR_CELLS && isnan(amplification->logarithm[high][b])) high++;

    double left = amplification->logarithm[low][b];
    double right = amplification->logarithm[high][b];
    if (isnan(right) || high == low) return exp(left);

    /* A straight line in the logarithm, at both ends of the cell. */
    double slope = (right - left) / (high - low);
    return exp(fmax(left + slope * (cell - low), left + slope * (cell + 1 - low)));
}

/* ---- the ledger: errors by the time at which they were made ---- */

void tw_error_ledger_clear(tw_error_ledger *ledger)
{
    memset(ledger, 0, sizeof *ledger);
}

void tw_error_ledger_add(tw_error_ledger *ledger, double theta, tw_local_error error)
{
    tw_local_error *cell = &ledger->cell[cell_of(theta)];
    cell->truncation += error.truncation;
    cell->drift += error.drift;
    cell->noise = hypot(cell->noise, error.noise);
}

tw_local_error tw_error_ledger_at(const tw_error_ledger *ledger,
                                  const tw_amplification *amplification, double f, int b)
{
    tw_local_error sum = {0};
    for (int i = 0; i <= TW_ERROR_CELLS; i++) {
        const tw_local_error *cell = &ledger->cell[i];
        if (cell->truncation == 0 && cell->drift == 0 && cell->noise == 0) continue;

        /* Noise of different substeps is independent, so its squares add. */
        double factor = amplification_over(amplification, f - (double)i / TW_ERROR_CELLS, b);
        sum.truncation += factor * cell->truncation;
        sum.drift += factor * cell->drift;
        sum.noise = hypot(sum.noise, factor * cell->noise);
    }
    return sum;
}
