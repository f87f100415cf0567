/* Newton's iteration of the implicit stage for parts that do not act on each other, such as hairs.
 *
 * The parts are the connected components of the pattern of M + g K, and the problem promises by
 * `focus` that they are independent. Each part has its own shortened corrections, its own line
 * search and its own end. Otherwise one hair that buckles would shorten the corrections of all
 * others, and all would iterate as often as the hardest one. Parts that have arrived keep their
 * matrix and their factor. */
#ifndef TW_INTEGRATORS_PART_NEWTON_H
#define TW_INTEGRATORS_PART_NEWTON_H

#include "integrators/implicit_stage.h"

typedef struct tw_part_newton tw_part_newton;

/* implicit->parts = the parts of the present matrix, or NULL where the iteration over all unknowns
 * at once is the better one. It allocates after the pattern has changed. */
tw_status tw_part_newton_find(tw_implicit *implicit);
void tw_part_newton_free(tw_part_newton *parts);

/* As tw_implicit_solve and tw_implicit_renew. */
tw_status tw_part_newton_solve(tw_implicit *implicit, const tw_stage *stage,
                               tw_stage_result *result);
tw_status tw_part_newton_renew(tw_implicit *implicit, const tw_stage *stage);
/* Whether the matrices of all parts were made by the same rule, which the record describes. */
bool tw_part_newton_is_exact(const tw_part_newton *parts);

#endif
