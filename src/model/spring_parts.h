/* The force of plain springs in one pass over the springs.
 *
 * Springs are sorted by their lower end (tw_spring_order), and cut into parts of equal size. The
 * lower ends of a part are its own particles; its springs also give to particles further on, its
 * window. A part sums up for both in scratch memory. Then it adds the sums of its own particles to
 * the force, and keeps those of its window; windows are added last, in the order of the parts. The
 * cut depends on the springs alone, so that threads do not change the result.
 *
 * Positions and sums have four numbers per particle, the fourth of them 0: one load or store. */
#ifndef TW_MODEL_SPRING_PARTS_H
#define TW_MODEL_SPRING_PARTS_H

#include <stdbool.h>
#include <stdint.h>
#include <twang/status.h>

struct tw_springs;

typedef struct tw_spring_parts {
    int count;       /* 0: the springs have no parts */
    int64_t *spring; /* first spring of each part, count + 1 values */
    int64_t *own;    /* first own particle of each part, count + 1 values */
    int64_t *end;    /* one after the last particle of each window */
    int64_t *window; /* where the window of each part begins in `windows`; count + 1 values */
    int64_t rows;    /* most particles of a part, with its window */
    double *windows; /* three numbers per particle */
    double *scratch; /* of each thread: positions, then sums */
    bool *rests;     /* nothing of the part is wanted */
} tw_spring_parts;

/* Writes the order in which springs with two ends are stored: order[e] is the spring that becomes
 * number e. Groups of neighbouring lower ends follow each other; inside a group the lower ends
 * take turns, because an addition to the sum of a particle has to wait for the one before. */
tw_status tw_spring_order(int64_t count, const int64_t *ends, int64_t *order);

tw_status tw_spring_parts_create(tw_spring_parts *parts, const struct tw_springs *springs);
void tw_spring_parts_free(tw_spring_parts *parts);

/* force += the pulls of all springs at the positions x, for all particles. TW_RECOVERABLE
 * if a spring has no length and should have one. */
tw_status tw_spring_parts_add_force(const tw_spring_parts *parts, const struct tw_springs *springs,
                                    const double *x, double *force);

#endif
