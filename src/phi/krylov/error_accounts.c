/* How the errors of substeps grow until the outputs are reached: three estimates (krylov.h). */
#include <math.h>

#include "phi/krylov/krylov.h"

/* A solution that merely oscillates may grow by this factor. Such growth does not mean that errors
 * grow. */
static const double USUAL_GROWTH = 30;

void tw_accounts_begin(tw_error_accounts *a, double initial_size, const tw_phi_frame *frame,
                       double scale)
{
    *a = (tw_error_accounts){.initial_size = initial_size};

    /* Backwards in time the energy of an error grows. */
    if (!frame || !frame->dissipates || scale < 0) return;
    a->dissipates = frame->dissipates;
    a->exchange = scale * frame->exchange;
}

/* sum = growth * sum + factor * errors. */
static void charge(tw_part_errors *sum, double growth, double factor, const tw_part_errors *errors)
{
    for (int b = 0; b < 2; b++) {
        sum->truncation[b] = growth * sum->truncation[b] + factor * errors->truncation[b];
        sum->rounding[b] = growth * sum->rounding[b] + factor * errors->rounding[b];
    }
}

/* Adds errors whose energy decays over the time s: e_x + exchange s |e|, and |e| in the v-part. */
static void charge_dissipated(const tw_error_accounts *a, tw_part_errors *sum, double s,
                              const tw_part_errors *errors)
{
    double truncation = hypot(errors->truncation[0], errors->truncation[1]);
    double rounding = hypot(errors->rounding[0], errors->rounding[1]);
    sum->truncation[0] += errors->truncation[0] + a->exchange * s * truncation;
    sum->truncation[1] += truncation;
    sum->rounding[0] += errors->rounding[0] + a->exchange * s * rounding;
    sum->rounding[1] += rounding;
}

/* Makes room: two neighbouring substeps become one record, at the time of the earlier one. */
static void halve(tw_error_accounts *a)
{
    for (int k = 0; 2 * k + 1 < a->count; k++) {
        /* The errors add; the time is that of the earlier one. */
        tw_part_errors sum = a->records[2 * k].errors;
        charge(&sum, 1, 1, &a->records[2 * k + 1].errors);

        a->records[k].time = a->records[2 * k].time;
        a->records[k].size = a->records[2 * k].size;
        a->records[k].errors = sum;
    }
    a->count /= 2;
}

void tw_accounts_add(tw_error_accounts *a, const tw_account_entry *entry, int first, int end)
{
    /* First and second estimate. */
    const tw_part_errors *errors = &entry->errors;
    charge(&a->step_by_step, entry->growth, 1, errors);
    for (int i = first; i < end; i++) charge(&a->foreseen[i], 1, entry->amplified[i], errors);
    for (int i = first; i < end; i++)
        charge_dissipated(a, &a->dissipated[i], entry->nodes[i] - entry->time, errors);

    /* The third one needs the substep itself. */
    if (a->count == TW_ACCOUNT_RECORDS) halve(a);
    double before = a->initial_size;
    if (a->count > 0) before = a->records[a->count - 1].size;
    a->records[a->count].time = entry->time;
    a->records[a->count].size = fmax(before, entry->size);
    a->records[a->count].errors = *errors;
    a->count++;
}

/* How much the solution grew in the time s from the start, beyond the usual; `size` is its size
 * now. */
static double early_growth(const tw_error_accounts *a, double s, double size)
{
    if (!(a->initial_size > 0) || s <= 0) return 1;

    /* The first record at or after s has the size that was reached until then. */
    for (int k = 0; k < a->count; k++)
        if (a->records[k].time >= s) return a->records[k].size / a->initial_size / USUAL_GROWTH;
    return size / a->initial_size / USUAL_GROWTH;
}

/* The third estimate: every recorded error grows as the solution did. */
static tw_part_errors history_at(const tw_error_accounts *a, double time, double size)
{
    tw_part_errors history = {{0}, {0}};
    for (int k = 0; k < a->count; k++) {
        double since = 1;
        if (a->records[k].size > 0) since = size / a->records[k].size;

        /* The larger of both growths applies, and errors never shrink. */
        double factor = fmax(fmax(1, since), early_growth(a, time - a->records[k].time, size));
        charge(&history, 1, factor, &a->records[k].errors);
    }
    return history;
}

tw_part_errors tw_accounts_settle(const tw_error_accounts *a, int i, double time, double size,
                                  const tw_part_errors *last, double growth)
{
    tw_part_errors product = a->step_by_step;
    tw_part_errors foreseen = a->foreseen[i];
    tw_part_errors dissipated = a->dissipated[i];
    tw_part_errors history = history_at(a, time, size);

    /* The last substep adds its errors as they are. */
    if (last) {
        charge(&product, growth, 1, last);
        charge(&foreseen, 1, 1, last);
        charge(&dissipated, 1, 1, last);
        charge(&history, 1, 1, last);
    }

    /* Decay of the energy is an upper bound like the second one. */
    if (a->dissipates && *a->dissipates) {
        for (int b = 0; b < 2; b++) {
            foreseen.truncation[b] = fmin(foreseen.truncation[b], dissipated.truncation[b]);
            foreseen.rounding[b] = fmin(foreseen.rounding[b], dissipated.rounding[b]);
        }
    }

    /* Combine the estimates: max(history, min(product, foreseen)). */
    tw_part_errors result;
    for (int b = 0; b < 2; b++) {
        result.truncation[b] =
            fmax(history.truncation[b], fmin(product.truncation[b], foreseen.truncation[b]));
        result.rounding[b] =
            fmax(history.rounding[b], fmin(product.rounding[b], foreseen.rounding[b]));
    }
    return result;
}
