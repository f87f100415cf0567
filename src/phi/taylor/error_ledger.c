#include "phi/taylor/error_ledger.h"

#include <math.h>
#include <string.h>

static int cell_of(double theta)
{
    return (int)fmin(fmax(floor(theta * TW_LEDGER_CELLS), 0), TW_LEDGER_CELLS);
}

void tw_amplification_clear(tw_amplification *amplification)
{
    for (int i = 0; i <= TW_LEDGER_CELLS; i++)
        for (int b = 0; b < 2; b++) amplification->logarithm[i][b] = i == 0 ? 0.0 : NAN;
}

void tw_amplification_note(tw_amplification *amplification, double delta, const double logarithm[2])
{
    double *cell = amplification->logarithm[cell_of(delta)];
    for (int b = 0; b < 2; b++)
        if (!(cell[b] >= logarithm[b])) cell[b] = logarithm[b];
}

void tw_amplification_set_rate(tw_amplification *amplification, double rate)
{
    for (int i = 0; i <= TW_LEDGER_CELLS; i++)
        for (int b = 0; b < 2; b++) amplification->logarithm[i][b] = rate * i / TW_LEDGER_CELLS;
}

/* The amplification over delta, interpolated in its logarithm between the nearest notes; the larger of both ends of
 * delta's cell, since times are known no better. */
static double amplification_over(const tw_amplification *amplification, double delta, int b)
{
    int cell = cell_of(delta), low = cell, high = cell < TW_LEDGER_CELLS ? cell + 1 : cell;
    while (low > 0 && isnan(amplification->logarithm[low][b])) low--;
    while (high < TW_LEDGER_CELLS && isnan(amplification->logarithm[high][b])) high++;
    double left = amplification->logarithm[low][b], right = amplification->logarithm[high][b];
    if (isnan(right) || high == low) return exp(left);
    double slope = (right - left) / (high - low);
    return exp(fmax(left + slope * (cell - low), left + slope * (cell + 1 - low)));
}

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
    for (int i = 0; i <= TW_LEDGER_CELLS; i++) {
        const tw_local_error *cell = &ledger->cell[i];
        if (cell->truncation == 0 && cell->drift == 0 && cell->noise == 0) continue;
        double factor = amplification_over(amplification, f - (double)i / TW_LEDGER_CELLS, b);
        sum.truncation += factor * cell->truncation;
        sum.drift += factor * cell->drift;
        sum.noise = hypot(sum.noise, factor * cell->noise);
    }
    return sum;
}
