#include "base/interrupt.h"

enum { ROUNDS = 65536 };

/* Of the thread that takes a step. Threads that help it have none. */
static _Thread_local tw_question question;

tw_question tw_question_set(tw_question next)
{
    tw_question before = question;
    question = next;
    return before;
}

tw_status tw_question_ask(int64_t round)
{
    if (round % ROUNDS != 0 || !question.ask) return TW_OK;
    return question.ask(question.context);
}
