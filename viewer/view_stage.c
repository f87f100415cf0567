/* Plays the reel: which frame is on show now. */
#include "view_server.h"

/* Takes the next frame if it is due. */
static bool take_if_due(view_stage *stage, view_reel *reel, bool paused, double rate)
{
    const view_frame *next = view_reel_next(reel);
    const view_frame *newest = view_reel_newest(reel);
    if (!next || !newest) return false;

    /* A jump in time is shown at once, and the clock jumps with it: what waits before is skipped. */
    bool is_jump = !stage->frame || next->epoch != stage->frame->epoch;
    bool is_outdated = next->epoch != newest->epoch;
    if (is_jump) stage->t = next->t;
    bool is_due = is_jump || is_outdated || (!paused && (rate <= 0.0 || next->t <= stage->t));
    if (!is_due) return false;
    stage->frame = view_reel_take(reel);
    stage->sequence++;
    return true;
}

bool view_stage_advance(view_stage *stage, view_session *session)
{
    /* Another reel has frames of another shape. */
    if (stage->reel_version != session->reel_version) {
        stage->frame = NULL;
        stage->reel = session->reel;
        stage->reel_version = session->reel_version;
    }
    if (!session->reel) return false;

    double now = view_clock();
    double rate = atomic_load(&session->rate);
    bool paused = atomic_load(&session->paused);
    if (!paused) stage->t += rate * (now - stage->clock);
    stage->clock = now;

    bool has_changed = false;
    while (take_if_due(stage, session->reel, paused, rate)) has_changed = true;

    /* The clock waits for a simulation that is late. */
    bool is_late = stage->frame && view_reel_waiting(session->reel) == 0;
    if (is_late && stage->t > stage->frame->t) stage->t = stage->frame->t;
    return has_changed;
}
