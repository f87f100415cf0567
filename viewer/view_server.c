/* The server: who may come in, the files of the page, and the loop.
 *
 * Only requests whose Host names this server are answered, and only pages that came from it may
 * open a connection: a page of another site, or a name that was bent to this address, is refused. */
#define _GNU_SOURCE
#include "view_server.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

static const char CONTENT_POLICY[] =
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; "
    "connect-src 'self' ws:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/* ---- who may come in ---- */

static bool is_own_host(const view_server *server, const char *host)
{
    for (int i = 0; i < VIEW_HOSTS; i++)
        if (server->hosts[i][0] && strcasecmp(server->hosts[i], host) == 0) return true;
    return false;
}

static bool has_right_host(const view_server *server, struct lws *wsi)
{
    char host[128];
    if (lws_hdr_copy(wsi, host, sizeof host, WSI_TOKEN_HOST) <= 0) return false;
    return is_own_host(server, host);
}

static bool has_right_origin(const view_server *server, struct lws *wsi)
{
    static const char scheme[] = "http://";
    char origin[160];
    if (lws_hdr_copy(wsi, origin, sizeof origin, WSI_TOKEN_ORIGIN) <= 0) return false;
    if (strncmp(origin, scheme, sizeof scheme - 1) != 0) return false;
    return is_own_host(server, origin + sizeof scheme - 1);
}

static bool has_right_token(const view_server *server, struct lws *wsi)
{
    char buffer[64];
    if (!server->token[0]) return true;
    const char *given = lws_get_urlarg_by_name(wsi, "token=", buffer, sizeof buffer);
    if (!given || strlen(given) != VIEW_TOKEN_SIZE - 1) return false;

    /* The time does not tell how many characters are right. */
    int difference = 0;
    for (int i = 0; i < VIEW_TOKEN_SIZE - 1; i++) difference |= given[i] ^ server->token[i];
    return difference == 0;
}

static bool may_connect(const view_server *server, struct lws *wsi)
{
    return has_right_host(server, wsi) && has_right_origin(server, wsi) &&
           has_right_token(server, wsi);
}

/* ---- files ---- */

/* A file on its way to a browser. */
typedef struct delivery {
    const view_page_file *file;
    size_t sent;
} delivery;

static int refuse(struct lws *wsi, unsigned code)
{
    lws_return_http_status(wsi, code, NULL);
    return -1;
}

static bool add_header(struct lws *wsi, const char *name, const char *value, unsigned char **at,
                       unsigned char *end)
{
    return lws_add_http_header_by_name(wsi, (const unsigned char *)name,
                                       (const unsigned char *)value, (int)strlen(value), at,
                                       end) == 0;
}

static int begin_delivery(struct lws *wsi, delivery *d, const view_page_file *file)
{
    unsigned char head[LWS_PRE + 2048];
    unsigned char *start = head + LWS_PRE;
    unsigned char *at = start;
    unsigned char *end = head + sizeof head - 1;
    if (lws_add_http_common_headers(wsi, HTTP_STATUS_OK, file->type, file->size, &at, end) != 0)
        return -1;

    bool good = add_header(wsi, "content-encoding:", "gzip", &at, end) &&
                add_header(wsi, "cache-control:", "no-store", &at, end) &&
                add_header(wsi, "content-security-policy:", CONTENT_POLICY, &at, end) &&
                add_header(wsi, "cross-origin-resource-policy:", "same-origin", &at, end) &&
                add_header(wsi, "x-content-type-options:", "nosniff", &at, end) &&
                add_header(wsi, "referrer-policy:", "no-referrer", &at, end);
    if (!good || lws_finalize_write_http_header(wsi, start, &at, end) != 0) return -1;

    *d = (delivery){.file = file};
    lws_callback_on_writable(wsi);
    return 0;
}

static int answer(const view_server *server, struct lws *wsi, delivery *d, const char *path,
                  size_t size)
{
    if (!has_right_host(server, wsi)) return refuse(wsi, HTTP_STATUS_FORBIDDEN);
    if (lws_hdr_total_length(wsi, WSI_TOKEN_GET_URI) <= 0)
        return refuse(wsi, HTTP_STATUS_METHOD_NOT_ALLOWED);

    /* A path that goes on after a zero byte names no file, whatever stands before the zero. */
    const view_page_file *file = strlen(path) == size ? view_page_find(path) : NULL;
    if (!file) return refuse(wsi, HTTP_STATUS_NOT_FOUND);
    return begin_delivery(wsi, d, file);
}

static int deliver(struct lws *wsi, delivery *d)
{
    if (!d->file) return -1;
    unsigned char buffer[LWS_PRE + 16384];
    size_t rest = d->file->size - d->sent;
    size_t piece = rest < 16384 ? rest : 16384;
    memcpy(buffer + LWS_PRE, d->file->bytes + d->sent, piece);
    enum lws_write_protocol kind = piece == rest ? LWS_WRITE_HTTP_FINAL : LWS_WRITE_HTTP;
    if (lws_write(wsi, buffer + LWS_PRE, piece, kind) < (int)piece) return -1;

    d->sent += piece;
    if (piece == rest) {
        d->file = NULL;
        return lws_http_transaction_completed(wsi) ? -1 : 0;
    }
    lws_callback_on_writable(wsi);
    return 0;
}

/* ---- the loop ---- */

/* Whether frames go on show by themselves: not while it is paused, and not for nobody. */
static bool is_showing(const view_server *server)
{
    const view_session *session = server->session;
    bool has_client = false;
    for (int i = 0; i < VIEW_CLIENTS; i++)
        if (server->clients[i]) has_client = true;
    return !atomic_load(&session->paused) && (has_client || atomic_load(&session->unbounded));
}

/* Sixty times a second: the next frame goes on show, and all pages may get it. */
static void tick(lws_sorted_usec_list_t *timer)
{
    view_server *server = lws_container_of(timer, view_server, timer);
    view_session *session = server->session;
    pthread_mutex_lock(&session->lock);
    bool has_changed = view_stage_advance(&server->stage, session);
    pthread_mutex_unlock(&session->lock);
    if (has_changed) view_session_nudge(session);

    for (int i = 0; i < VIEW_CLIENTS; i++)
        if (server->clients[i]) lws_callback_on_writable(server->clients[i]->wsi);
    server->is_ticking = is_showing(server);
    if (server->is_ticking)
        lws_sul_schedule(server->context, 0, &server->timer, tick, LWS_US_PER_SEC / 60);
}

void view_server_wake(view_server *server)
{
    /* The clock stood still while nothing was shown. */
    if (server->is_ticking) return;
    server->stage.clock = view_clock();
    server->is_ticking = true;
    lws_sul_schedule(server->context, 0, &server->timer, tick, 1);
}

/* Called by the worker: the loop goes on, and on_http hears of it. */
static void interrupt_loop(void *context)
{
    lws_cancel_service(context);
}

/* Ten times a second the loop asks whether it is to end. */
static void beat(lws_sorted_usec_list_t *heartbeat)
{
    view_server *server = lws_container_of(heartbeat, view_server, heartbeat);
    lws_sul_schedule(server->context, 0, &server->heartbeat, beat, LWS_US_PER_SEC / 10);
}

static int on_http(struct lws *wsi, enum lws_callback_reasons reason, void *user, void *in,
                   size_t size)
{
    view_server *server = lws_context_user(lws_get_context(wsi));
    switch (reason) {
    case LWS_CALLBACK_SERVER_NEW_CLIENT_INSTANTIATED:
        view_guest_speaks(&server->guests, wsi);
        return 0;
    case LWS_CALLBACK_WSI_DESTROY:
        view_guest_leaves(&server->guests, wsi);
        return 0;
    case LWS_CALLBACK_FILTER_PROTOCOL_CONNECTION:
        return -1; /* a WebSocket without our protocol */
    case LWS_CALLBACK_HTTP:
        view_guest_speaks(&server->guests, wsi);
        return answer(server, wsi, user, in, size);
    case LWS_CALLBACK_HTTP_WRITEABLE:
        return deliver(wsi, user);
    case LWS_CALLBACK_HTTP_BODY:
        return -1;
    case LWS_CALLBACK_EVENT_WAIT_CANCELLED:
        view_server_wake(server);
        return 0;
    default:
        return 0;
    }
}

static int on_socket(struct lws *wsi, enum lws_callback_reasons reason, void *user, void *in,
                     size_t size)
{
    view_server *server = lws_context_user(lws_get_context(wsi));
    if (reason == LWS_CALLBACK_FILTER_PROTOCOL_CONNECTION) return may_connect(server, wsi) ? 0 : -1;
    return view_client_event(server, wsi, reason, user, in, size);
}

static const struct lws_protocols protocols[] = {
    {.name = "http", .callback = on_http, .per_session_data_size = sizeof(delivery)},
    {.name = "twang",
     .callback = on_socket,
     .per_session_data_size = sizeof(view_client),
     .rx_buffer_size = VIEW_COMMAND_SIZE},
    {0}};

/* ---- opening ---- */

/* Adds "ADDRESS:PORT" to the names of the server, where there is room. */
static void add_host(view_server *server, const char *address, int port)
{
    const char *format = strchr(address, ':') ? "[%s]:%d" : "%s:%d";
    for (int i = 0; i < VIEW_HOSTS; i++) {
        if (server->hosts[i][0]) continue;
        snprintf(server->hosts[i], sizeof server->hosts[i], format, address, port);
        return;
    }
}

/* Adds the addresses of all interfaces, those of the loopback or those of the network. */
static void add_interfaces(view_server *server, bool loopback, int port)
{
    struct ifaddrs *all = NULL;
    if (getifaddrs(&all) != 0) return;

    for (const struct ifaddrs *one = all; one; one = one->ifa_next) {
        char address[INET6_ADDRSTRLEN];
        bool is_loopback = (one->ifa_flags & IFF_LOOPBACK) != 0;
        if (!one->ifa_addr || is_loopback != loopback) continue;

        int family = one->ifa_addr->sa_family;
        const void *bytes = &((const struct sockaddr_in *)one->ifa_addr)->sin_addr;
        if (family == AF_INET6) bytes = &((const struct sockaddr_in6 *)one->ifa_addr)->sin6_addr;
        if (family != AF_INET && family != AF_INET6) continue;
        if (inet_ntop(family, bytes, address, sizeof address)) add_host(server, address, port);
    }
    freeifaddrs(all);
}

/* What a browser of this machine, or of the network, calls this server. The first name is printed. */
static void name_hosts(view_server *server, int port)
{
    const char *address = server->options->address;
    bool everywhere = address && (strcmp(address, "0.0.0.0") == 0 || strcmp(address, "::") == 0);
    if (address && !everywhere) {
        add_host(server, address, port);
        return;
    }

    /* Every interface of the machine has its address, and the machine its name. */
    char name[64] = "";
    if (everywhere) add_interfaces(server, false, port);
    if (everywhere && gethostname(name, sizeof name - 1) == 0 && name[0])
        add_host(server, name, port);
    add_host(server, "127.0.0.1", port);
    add_host(server, "localhost", port);
    if (everywhere) add_interfaces(server, true, port);
    if (everywhere) add_host(server, address, port);
}

static bool make_token(view_server *server)
{
    unsigned char bytes[(VIEW_TOKEN_SIZE - 1) / 2];
    if (!server->options->address) return true;
    if (getrandom(bytes, sizeof bytes, 0) != (ssize_t)sizeof bytes) return false;
    for (size_t i = 0; i < sizeof bytes; i++) snprintf(server->token + 2 * i, 3, "%02x", bytes[i]);
    return true;
}

static void announce(view_server *server)
{
    char url[160];
    int length = snprintf(url, sizeof url, "http://%s/", server->hosts[0]);
    if (server->token[0])
        snprintf(url + length, sizeof url - (size_t)length, "?token=%s", server->token);
    if (server->options->ready) server->options->ready(url);
}

static tw_status open_server(view_server *server, tw_error *error)
{
    lws_set_log_level(0, NULL);
    struct lws_context_creation_info info = {0};
    const char *address = server->options->address ? server->options->address : "127.0.0.1";
    info.iface = address;
    info.port = server->options->port;
    info.protocols = protocols;
    info.user = server;
    info.gid = (gid_t)-1;
    info.uid = (uid_t)-1;
    info.fd_limit_per_thread = 128;
    info.timeout_secs = 10;
    info.max_http_header_data = 4096;
    info.options = LWS_SERVER_OPTION_FAIL_UPON_UNABLE_TO_BIND | LWS_SERVER_OPTION_EXPLICIT_VHOSTS;

    /* Otherwise libwebsockets takes an address of version 4 for all interfaces. */
    bool is_version_6 = strchr(address, ':') != NULL;
    if (!is_version_6) info.options |= LWS_SERVER_OPTION_DISABLE_IPV6;

    server->context = lws_create_context(&info);
    struct lws_vhost *vhost = server->context ? lws_create_vhost(server->context, &info) : NULL;
    if (!vhost || !make_token(server)) {
        char port[32] = "";
        if (info.port) snprintf(port, sizeof port, ", port %d", info.port);
        snprintf(error->text, sizeof error->text,
                 "cannot listen at %s%s: %s is no address of this machine, or the port is taken",
                 address, port, address);
        return TW_INPUT_OUTPUT;
    }
    name_hosts(server, lws_get_vhost_listen_port(vhost));
    return TW_OK;
}

static tw_status serve(view_session *session, const view_options *options, tw_error *error)
{
    view_server *server = calloc(1, sizeof *server);
    if (!server) return TW_OUT_OF_MEMORY;
    server->session = session;
    server->options = options;
    server->stage.clock = view_clock();

    tw_status status = open_server(server, error);
    if (status == TW_OK) {
        announce(server);
        view_session_listen(session, interrupt_loop, server->context);
        view_server_wake(server);
        beat(&server->heartbeat);
        while (!options->stop() && lws_service(server->context, 0) >= 0) continue;
        view_session_listen(session, NULL, NULL);
    }
    if (server->context) lws_context_destroy(server->context);
    free(server);
    return status;
}

/* ---- both kinds of page ---- */

const char *view_missing(void)
{
    return NULL;
}

/* Serves, then ends the worker, which was opened with `status`. */
static tw_status serve_and_close(view_session *session, tw_status status,
                                 const view_options *options, tw_error *error)
{
    if (status == TW_OK) {
        status = serve(session, options, error);
        atomic_store(&session->quit, true);
        view_session_nudge(session);
        pthread_join(session->thread, NULL);
    }
    if (status != TW_OK && error->status == TW_OK) error->status = status;
    view_session_close(session);
    free(session);
    return status;
}

static view_session *new_session(void)
{
    view_session *session = calloc(1, sizeof *session);
    if (session && view_session_open(session)) return session;
    free(session);
    return NULL;
}

tw_status view_scene(tw_scene *scene, const view_options *options, tw_error *error)
{
    view_session *session = new_session();
    if (!session) {
        tw_scene_free(scene);
        return TW_OUT_OF_MEMORY;
    }
    tw_status status =
        view_live_open(session, scene, options->speed, options->compare, options->paused, error);
    return serve_and_close(session, status, options, error);
}

tw_status view_run(const char *directory, const view_options *options, tw_error *error)
{
    view_session *session = new_session();
    if (!session) return TW_OUT_OF_MEMORY;
    tw_status status = view_replay_open(session, directory, options->speed, options->paused, error);
    return serve_and_close(session, status, options, error);
}
