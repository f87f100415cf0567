/* Long loops inside a step ask whether the user wants it to end. */
#ifndef TW_BASE_INTERRUPT_H
#define TW_BASE_INTERRUPT_H

#include <stdint.h>
#include <twang/status.h>

/* The question of whoever takes the step: any status but TW_OK ends the loop that asks. */
typedef struct tw_question {
    tw_status (*ask)(void *context); /* NULL: nobody wants the end */
    void *context;
} tw_question;

/* Sets the question for the loops of this thread; returns the one before. */
tw_question tw_question_set(tw_question question);

/* Asks at round 0 of a loop and at each 65,536th after it; TW_OK in between. Rounds of such loops take well below
 * a microsecond. */
tw_status tw_question_ask(int64_t round);

#endif
