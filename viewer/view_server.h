/* The server: the page over HTTP, frames and commands over WebSocket, in one thread. */
#ifndef VIEWER_VIEW_SERVER_H
#define VIEWER_VIEW_SERVER_H

#include <libwebsockets.h>

#include "view.h"
#include "view_page.h"
#include "view_session.h"

enum {
    VIEW_HOSTS = 16,        /* names by which the server may be called */
    VIEW_CLIENTS = 16,      /* pages at the same time */
    VIEW_GUESTS = 64,       /* connections that are no pages yet */
    VIEW_CHUNK = 64 * 1024, /* bytes that are written at once */
    VIEW_TOKEN_SIZE = 33
};

/* The frame that is on show: it is copied for each client that is ready for one. */
typedef struct view_stage {
    const view_frame *frame; /* on the reel; NULL: none yet */
    const view_reel *reel;   /* the one it is on */
    unsigned long long reel_version;
    uint32_t sequence; /* of the frame */
    double t;          /* simulated time of the clock [s] */
    double clock;      /* when that was [s] */
} view_stage;

/* One page. */
typedef struct view_client {
    struct lws *wsi;
    unsigned char *memory; /* LWS_PRE bytes, then room for a message; NULL: none yet */
    size_t room;
    size_t message_size, sent; /* equal: there is no message to send */
    bool is_binary;
    unsigned long long state_version, geometry_version;
    uint32_t sequence; /* of the last frame */
    char field[64];    /* scalar field that it wants; "": none */
    char received[VIEW_COMMAND_SIZE];
    size_t received_size;
    view_command upload; /* announced; kind VIEW_DO_UPLOAD and its content, else none */
    size_t upload_size;  /* bytes of it that are here */
    bool uploading;
} view_client;

/* Connections that are no pages yet; the one that has been silent longest comes first. */
typedef struct view_guests {
    struct lws *list[VIEW_GUESTS];
    int count;
} view_guests;

typedef struct view_server {
    struct lws_context *context;
    const view_options *options;
    view_session *session;
    view_stage stage;
    view_client *clients[VIEW_CLIENTS];
    view_guests guests;
    lws_sorted_usec_list_t timer; /* sixty times a second while there is something to show */
    bool is_ticking;
    lws_sorted_usec_list_t heartbeat; /* lets the loop ask whether it is to end */
    char token[VIEW_TOKEN_SIZE];      /* "": not needed */
    char hosts[VIEW_HOSTS][80];       /* what may stand in Host: and behind http:// in Origin: */
} view_server;

/* Shows frames again after a rest: a page has come, or something was published. */
void view_server_wake(view_server *server);

/* ---- view_guests.c ---- */

/* A guest has come, or has asked for something. The most silent one goes if there are too many. */
void view_guest_speaks(view_guests *guests, struct lws *wsi);

/* The connection has become a page, or has ended. */
void view_guest_leaves(view_guests *guests, const struct lws *wsi);

/* ---- view_client.c ---- */

/* Events of a page's connection; anything but 0 closes it. */
int view_client_event(view_server *server, struct lws *wsi, enum lws_callback_reasons reason,
                      view_client *client, const void *in, size_t size);

/* ---- view_stage.c ---- */

/* Brings the stage up to the present time; true if another frame is on it. The session is locked. */
bool view_stage_advance(view_stage *stage, view_session *session);

#endif
