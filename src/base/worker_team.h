/* Threads that help the one which calls.
 *
 * Every thread that calls has a team of its own, whose workers start when they are first needed and
 * end with the thread. A worker that has nothing to do spins for a moment and then sleeps. Nobody
 * waits for a worker that has not come yet: the caller goes on alone, and later waits for those only
 * that have begun. So it does no harm if a worker wakes late, has no processor, could not be started,
 * or is gone after a fork. */
#ifndef TW_BASE_WORKER_TEAM_H
#define TW_BASE_WORKER_TEAM_H

#include <stdbool.h>

#include "base/parallel_for.h"

enum { TW_MOST_MEMBERS = TW_PARALLEL_SLOTS };

typedef void tw_team_work(void *context, int member);

/* Calls work(context, 0) on the calling thread, and work(context, m) for some of the members 0 < m <
 * members on other threads, at the same time. Returns when all of these calls have returned; what
 * they wrote is then visible to the caller. members <= TW_MOST_MEMBERS. */
void tw_team_run(int members, tw_team_work *work, void *context);

/* Whether the calling thread is inside tw_team_run, as the caller or as a worker. */
bool tw_team_is_inside(void);

/* Number of the calling thread there; 0 elsewhere. */
int tw_team_member(void);

#endif
