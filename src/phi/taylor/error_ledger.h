/* What becomes of the errors made on the way.
 *
 * An error made at theta reaches the output at f as exp((f - theta) t A) times itself. How much that amplifies is
 * known for symmetric and skew operators; for others a pseudo-random probe travels beside the solution and its norm
 * is noted. Random directions are what rounding errors look like, and a solution that happens to lie in a tame
 * subspace tells nothing about them. */
#ifndef TW_PHI_ERROR_LEDGER_H
#define TW_PHI_ERROR_LEDGER_H

enum { TW_LEDGER_CELLS = 256 };

/* Amplification over delta in [0, 1] (units of the longest time of one sign), in cells. */
typedef struct tw_amplification {
    double logarithm[TW_LEDGER_CELLS + 1]
                    [2]; /* of the probe's block norms; NAN where nothing was noted */
} tw_amplification;

void tw_amplification_clear(tw_amplification *amplification);
void tw_amplification_note(tw_amplification *amplification, double delta,
                           const double logarithm[2]);
/* exp(rate delta) everywhere. */
void tw_amplification_set_rate(tw_amplification *amplification, double rate);

typedef struct tw_local_error {
    double truncation; /* adds up */
    double drift;      /* rounding that adds up: a relative error of A */
    double noise;      /* rounding that adds like a random walk */
} tw_local_error;

/* Errors by the time at which they were made. */
typedef struct tw_error_ledger {
    tw_local_error cell[TW_LEDGER_CELLS + 1];
} tw_error_ledger;

void tw_error_ledger_clear(tw_error_ledger *ledger);
void tw_error_ledger_add(tw_error_ledger *ledger, double theta, tw_local_error error);

/* All errors entered so far as they arrive at f, in block b. */
tw_local_error tw_error_ledger_at(const tw_error_ledger *ledger,
                                  const tw_amplification *amplification, double f, int b);

#endif
