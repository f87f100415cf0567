/* One page: what it sends is checked, and what it gets is at most one message at a time, so that a
 * slow page costs nothing but the memory of that message. */
#include <stdlib.h>
#include <string.h>

#include "view_server.h"

/* Begins a message of this size. The memory of the last one is used again: fresh pages for every large
 * frame cost more than filling them. */
static bool new_message(view_client *client, size_t size, bool is_binary)
{
    if (size > client->room) {
        free(client->memory);
        client->memory = malloc(LWS_PRE + size);
        client->room = client->memory ? size : 0;
    }

    /* Nothing of it has been sent yet. Without memory there is no message. */
    client->message_size = client->memory ? size : 0;
    client->sent = 0;
    client->is_binary = is_binary;
    return client->memory != NULL;
}

static bool has_message(const view_client *client)
{
    return client->sent < client->message_size;
}

/* ---- to the page ---- */

static void take_text(view_client *client, const view_text *text, bool is_binary)
{
    if (new_message(client, text->size, is_binary))
        memcpy(client->memory + LWS_PRE, text->bytes, text->size);
}

/* The number of the field that the client wants; -1: none. */
static int field_of(const view_session *session, const view_client *client)
{
    for (int i = 0; i < session->field_count; i++)
        if (client->field[0] && strcmp(session->field_names[i], client->field) == 0) return i;
    return -1;
}

static void take_frame(view_server *server, view_client *client)
{
    const view_stage *stage = &server->stage;
    const view_shape *shape = &stage->reel->shape;
    int field = field_of(server->session, client);
    size_t size = view_frame_message_size(stage->frame, shape, field >= 0);

    client->sequence = stage->sequence;
    if (new_message(client, size, true))
        view_frame_write(stage->frame, shape, field, stage->sequence, client->memory + LWS_PRE);
}

/* Chooses the next message: what bodies look like, then the state, then the newest frame. */
static void choose_message(view_server *server, view_client *client)
{
    view_session *session = server->session;
    pthread_mutex_lock(&session->lock);

    /* The frame on the stage may still be one of the scene before. */
    bool fits = server->stage.frame && server->stage.reel_version == session->reel_version;
    if (client->geometry_version != session->geometry_version) {
        client->geometry_version = session->geometry_version;
        take_text(client, &session->geometry, true);
    } else if (client->state_version != session->state_version) {
        client->state_version = session->state_version;
        take_text(client, &session->state, false);
    } else if (fits && client->sequence != server->stage.sequence) {
        take_frame(server, client);
    }
    pthread_mutex_unlock(&session->lock);
}

/* Writes a piece of the message. */
static int write_piece(view_client *client)
{
    size_t rest = client->message_size - client->sent;
    size_t piece = rest < VIEW_CHUNK ? rest : VIEW_CHUNK;
    int kind = client->is_binary ? LWS_WRITE_BINARY : LWS_WRITE_TEXT;
    int flags = lws_write_ws_flags(kind, client->sent == 0, piece == rest);

    unsigned char *at = client->memory + LWS_PRE + client->sent;
    if (lws_write(client->wsi, at, piece, (enum lws_write_protocol)flags) < (int)piece) return -1;
    client->sent += piece;
    return 0;
}

static int write_some(view_server *server, view_client *client)
{
    if (!has_message(client)) choose_message(server, client);
    if (!has_message(client)) return 0;

    /* The next piece goes when the page has taken this one. */
    int result = write_piece(client);
    if (result == 0) lws_callback_on_writable(client->wsi);
    return result;
}

/* ---- from the page ---- */

static bool announces_upload(const view_server *server, view_client *client, view_command *command)
{
    /* Files come from this machine only, and one at a time. */
    if (server->options->address || client->uploading) return false;
    command->content = malloc((size_t)command->whole);
    if (!command->content) return false;

    /* Its bytes come with the next binary message. */
    client->upload = *command;
    client->upload_size = 0;
    client->uploading = true;
    return true;
}

/* From now on frames bring this field. The one that is shown is sent again, with it. */
static void choose_field(view_client *client, const char *name)
{
    lws_strncpy(client->field, name, sizeof client->field);
    client->sequence--;
    lws_callback_on_writable(client->wsi);
}

/* Does what a whole message says; false: it is no command. */
static bool obey(view_server *server, view_client *client)
{
    view_command command;
    if (!view_command_parse(client->received, client->received_size, &command)) return false;

    switch (command.kind) {
    case VIEW_DO_UPLOAD:
        return announces_upload(server, client, &command);
    case VIEW_DO_FIELD:
        choose_field(client, command.name);
        return true;
    default:
        view_session_send(server->session, &command);
        return true;
    }
}

static bool take_command_piece(view_server *server, view_client *client, const void *in,
                               size_t size)
{
    if (lws_is_first_fragment(client->wsi)) client->received_size = 0;

    /* What is longer than a command is refused at once. */
    if (size > sizeof client->received - client->received_size) return false;
    memcpy(client->received + client->received_size, in, size);
    client->received_size += size;

    return !lws_is_final_fragment(client->wsi) || obey(server, client);
}

static bool take_upload_piece(view_server *server, view_client *client, const void *in, size_t size)
{
    /* Bytes that were not announced are refused. */
    if (!client->uploading) return false;
    size_t whole = (size_t)client->upload.whole;
    if (size > whole - client->upload_size) return false;

    memcpy(client->upload.content + client->upload_size, in, size);
    client->upload_size += size;
    if (!lws_is_final_fragment(client->wsi)) return true;

    /* The session takes the whole file, and frees it. */
    if (client->upload_size != whole) return false;
    view_session_send(server->session, &client->upload);
    client->uploading = false;
    return true;
}

static int receive(view_server *server, view_client *client, const void *in, size_t size)
{
    bool good = lws_frame_is_binary(client->wsi) ? take_upload_piece(server, client, in, size)
                                                 : take_command_piece(server, client, in, size);
    return good ? 0 : -1;
}

/* ---- coming and going ---- */

static int welcome(view_server *server, struct lws *wsi, view_client *client)
{
    view_guest_leaves(&server->guests, wsi);
    *client = (view_client){.wsi = wsi};

    /* It gets the frame that is on show. */
    for (int i = 0; i < VIEW_CLIENTS; i++) {
        if (server->clients[i]) continue;
        server->clients[i] = client;
        client->sequence = server->stage.sequence - 1;
        lws_callback_on_writable(wsi);
        view_server_wake(server);
        return 0;
    }
    return -1; /* there are too many */
}

static int farewell(view_server *server, view_client *client)
{
    for (int i = 0; i < VIEW_CLIENTS; i++)
        if (server->clients[i] == client) server->clients[i] = NULL;

    /* A file that has not come as a whole goes, too. */
    free(client->memory);
    if (client->uploading) free(client->upload.content);
    client->uploading = false;
    return 0;
}

int view_client_event(view_server *server, struct lws *wsi, enum lws_callback_reasons reason,
                      view_client *client, const void *in, size_t size)
{
    switch (reason) {
    case LWS_CALLBACK_ESTABLISHED:
        return welcome(server, wsi, client);
    case LWS_CALLBACK_SERVER_WRITEABLE:
        return write_some(server, client);
    case LWS_CALLBACK_RECEIVE:
        return receive(server, client, in, size);
    case LWS_CALLBACK_CLOSED:
        return farewell(server, client);
    default:
        return 0;
    }
}
