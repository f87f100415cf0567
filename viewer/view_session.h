/* A page's session: a worker thread that makes frames (of a simulation or of a finished run), and
 * what it shares with the network thread. */
#ifndef VIEWER_VIEW_SESSION_H
#define VIEWER_VIEW_SESSION_H

#include <pthread.h>
#include <stdatomic.h>
#include <twang/twang.h>

#include "view_command.h"
#include "view_frame.h"
#include "view_text.h"

enum { VIEW_COMMANDS = 64 /* that wait at most; more are dropped */ };

typedef struct view_session {
    pthread_t thread;
    atomic_bool quit;
    void *worker; /* of view_live.c or view_replay.c */

    /* Under the lock. Neither thread holds it longer than a copy takes. */
    pthread_mutex_t lock;
    pthread_cond_t wake;
    bool nudged; /* something that the worker waits for has happened */
    void (*notify)(
        void *); /* tells the network that something was published; NULL: nobody serves */
    void *notify_context;
    view_command commands[VIEW_COMMANDS];
    int command_first, command_count;
    view_reel *reel; /* exchanged by the worker only */
    unsigned long long reel_version;
    view_text state; /* JSON */
    view_text geometry;
    unsigned long long state_version, geometry_version;
    char field_names[VIEW_FIELDS][64];
    int field_count;

    /* How the network plays the reel. */
    _Atomic double rate; /* simulated seconds per second; 0: not known yet, each frame at once */
    atomic_bool paused;
    atomic_bool unbounded; /* as fast as it can: goes on although nobody looks */
} view_session;

bool view_session_open(view_session *session);
/* Ends the worker and frees what is shared. */
void view_session_close(view_session *session);

/* Network: hands a command over. Takes its content over in any case. */
void view_session_send(view_session *session, view_command *command);
/* Network: the worker looks again whether it has something to do. */
void view_session_nudge(view_session *session);
/* Network: whom to tell that something was published. The call must not wait for anything. */
void view_session_listen(view_session *session, void (*notify)(void *), void *context);
/* Worker: the next command; false if there is none. Waits up to `seconds` for one, or for a nudge. */
bool view_session_receive(view_session *session, double seconds, view_command *out);

/* Worker: publishes. The text is taken over. */
void view_session_publish_state(view_session *session, view_text *state);
void view_session_publish_geometry(view_session *session, view_text *geometry);
/* Worker: frames of another shape from now on; false when memory is out. */
bool view_session_reshape(view_session *session, const view_shape *shape,
                          const char *const *field_names);

double view_clock(void); /* [s], never goes back */

/* The two kinds of worker: each makes itself ready, then a thread runs it. */
tw_status view_live_open(view_session *session, tw_scene *scene, double speed, const char *compare,
                         bool paused, tw_error *error);
tw_status view_replay_open(view_session *session, const char *directory, double speed, bool paused,
                           tw_error *error);
/* Parts of the state that both write. */
void view_state_lists(view_text *text, const view_session *session);

#endif
