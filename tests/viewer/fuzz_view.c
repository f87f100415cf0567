/* Malformed, oversized, out-of-order and hostile messages for `twang view`, each on a connection of its own.
 *
 * usage: fuzz_view COUNT [SEED]     environment: TWANG_BUILD
 *
 * What must be refused has to end with a closed connection; afterwards a page must still get frames, and the server
 * must end with 0. Exit 1 otherwise. Connections come from many loopback addresses, because each has its own ports. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define LOOPBACK "127.0.0.1"

enum { MESSAGE_SIZE = 200000, WINDOW = 48, PATIENCE = 200000 /* ms */ };

static uint64_t random_state = 1;
static unsigned char message[MESSAGE_SIZE];
static size_t message_size;
static int port;

/* xorshift64* */
static uint32_t random_number(uint32_t below)
{
    random_state ^= random_state >> 12;
    random_state ^= random_state << 25;
    random_state ^= random_state >> 27;
    return (uint32_t)((random_state * 2685821657736338717u) >> 32) % below;
}

/* ---- making messages ---- */

static void add(const void *bytes, size_t size)
{
    if (size > sizeof message - message_size) size = sizeof message - message_size;
    memcpy(message + message_size, bytes, size);
    message_size += size;
}

static void add_text(const char *text)
{
    add(text, strlen(text));
}

static void add_noise(size_t size)
{
    for (size_t i = 0; i < size && message_size < sizeof message; i++)
        message[message_size++] = (unsigned char)random_number(256);
}

/* The request that opens a WebSocket. */
static void add_handshake(const char *host, const char *origin)
{
    char text[1024];
    snprintf(
        text, sizeof text,
        "GET / HTTP/1.1\r\nHost: %s\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nOrigin: %s\r\n"
        "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n"
        "Sec-WebSocket-Protocol: twang\r\n\r\n",
        host, origin);
    add_text(text);
}

static void add_good_handshake(void)
{
    char host[64];
    char origin[80];
    snprintf(host, sizeof host, "127.0.0.1:%d", port);
    snprintf(origin, sizeof origin, "http://%s", host);
    add_handshake(host, origin);
}

/* A frame of WebSocket: `first` has the final bit and the kind; the length that is told may be a lie. */
static void add_frame(unsigned char first, const void *bytes, size_t size, uint64_t told,
                      bool masked)
{
    unsigned char head[14] = {first};
    size_t length = 2;
    unsigned char mask_bit = masked ? 0x80 : 0;
    if (told < 126) {
        head[1] = (unsigned char)(mask_bit | told);
    } else if (told < 65536) {
        head[1] = mask_bit | 126;
        head[2] = (unsigned char)(told >> 8);
        head[3] = (unsigned char)told;
        length = 4;
    } else {
        head[1] = mask_bit | 127;
        for (int i = 0; i < 8; i++) head[2 + i] = (unsigned char)(told >> (56 - 8 * i));
        length = 10;
    }
    if (masked) length += 4; /* a mask of zeros */
    add(head, length);
    add(bytes, size);
}

static void add_command(const char *text)
{
    add_frame(0x81, text, strlen(text), strlen(text), true);
}

/* ---- kinds of messages: each returns whether the connection must be closed for it ---- */

static const char *const commands[] = {"{\"do\":\"pause\",\"on\":false}",
                                       "{\"do\":\"step\"}",
                                       "{\"do\":\"speed\",\"value\":1}",
                                       "{\"do\":\"release\"}",
                                       "{\"do\":\"pull\",\"particle\":3,\"x\":0.1,\"y\":0,\"z\":0}",
                                       "{\"do\":\"seek\",\"value\":0.1}",
                                       "{\"do\":\"start_here\"}",
                                       "{\"do\":\"stiffness\",\"value\":10}",
                                       "{\"do\":\"integrator\",\"lane\":0,\"name\":\"midpoint\"}",
                                       "{\"do\":\"reset\"}",
                                       "{\"do\":\"compare\",\"name\":\"bdf1\"}",
                                       "{\"do\":\"compare\",\"name\":\"\"}",
                                       "{\"do\":\"field\",\"name\":\"speed\"}",
                                       "{\"do\":\"upload\",\"size\":5,\"name\":\"a.yaml\"}",
                                       "{\"do\":\"tolerance\",\"value\":0.001}"};
enum { COMMAND_COUNT = sizeof commands / sizeof *commands };

static const char *any_command(void)
{
    return commands[random_number(COMMAND_COUNT)];
}

/* A command with some bytes changed: it may still be one. */
static bool mutated_command(void)
{
    char text[256];
    int length = snprintf(text, sizeof text, "%s", any_command());
    for (uint32_t i = random_number(4) + 1; i > 0; i--)
        text[random_number((uint32_t)length)] = (char)random_number(256);
    add_good_handshake();
    add_frame(0x81, text, (size_t)length, (size_t)length, true);
    return false;
}

static bool wrong_command(void)
{
    static const char *const wrong[] = {
        "",
        "{}",
        "[]",
        "null",
        "1e999",
        "{\"do\":1}",
        "{\"do\":\"fly\"}",
        "{\"do\":\"pause\"}",
        "{\"do\":\"pause\",\"on\":1}",
        "{\"do\":\"pause\",\"on\":true,\"x\":1}",
        "{\"do\":\"step\",\"do\":\"step\"}",
        "{\"do\":\"speed\",\"value\":-1}",
        "{\"do\":\"speed\",\"value\":1e300}",
        "{\"do\":\"pull\",\"particle\":-1,\"x\":0,\"y\":0,\"z\":0}",
        "{\"do\":\"pull\",\"particle\":1.5,\"x\":0,\"y\":0,\"z\":0}",
        "{\"do\":\"pull\",\"particle\":1,\"x\":\"0\",\"y\":0,\"z\":0}",
        "{\"do\":\"upload\",\"size\":99999999999,\"name\":\"a\"}",
        "{\"do\":\"upload\",\"size\":0,\"name\":\"a\"}",
        "{\"do\":\"integrator\",\"lane\":2,\"name\":\"rk4\"}",
        "{\"do\":\"step\"} {\"do\":\"step\"}",
        "{\"do\":\"step\"",
        "[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[",
        "{\"do\":\"field\",\"name\":\"a\\u0000b\"}"};
    add_good_handshake();
    add_command(wrong[random_number(sizeof wrong / sizeof *wrong)]);
    return true;
}

static bool oversized_command(void)
{
    static char text[150000];
    size_t size = 4097 + random_number(sizeof text - 4097);
    memset(text, random_number(2) ? ' ' : '[', size);
    add_good_handshake();
    add_frame(0x81, text, size, size, true);
    return true;
}

static bool bytes_without_announcement(void)
{
    unsigned char bytes[64] = {0};
    add_good_handshake();
    add_frame(0x82, bytes, sizeof bytes, sizeof bytes, true);
    return true;
}

/* An announced file of another size, or another command in between. */
static bool broken_upload(void)
{
    char bytes[64] = "name: x\n";
    add_good_handshake();
    add_command("{\"do\":\"upload\",\"size\":20,\"name\":\"a.yaml\"}");
    if (random_number(2)) add_command("{\"do\":\"upload\",\"size\":20,\"name\":\"b.obj\"}");
    add_frame(0x82, bytes, 10, random_number(2) ? 10 : 21, true);
    add_frame(0x82, bytes, 30, 30, true);
    return true;
}

/* Frames that break the protocol: reserved bits and kinds, no mask, a continuation of nothing, false lengths. */
static bool broken_frames(void)
{
    const char *text = any_command();
    size_t size = strlen(text);
    add_good_handshake();
    switch (random_number(6)) {
    case 0:
        add_frame((unsigned char)(0xb3 + random_number(4)), text, size, size, true);
        return true;
    case 1:
        add_frame(0x80, text, size, size, true); /* continues nothing */
        return true;
    case 2:
        add_frame(0x89, message, 126, 126, true); /* a ping that is too long */
        return true;
    case 3:
        add_frame(0x81, text, size, (uint64_t)1 << (30 + random_number(33)), true);
        add_noise(2000);
        return false; /* it waits for the rest */
    case 4:
        add_frame(0x01, text, size, size, true);
        add_frame(0x81, text, size, size, true); /* a new message inside another */
        return true;
    default:
        add_noise(random_number(3000));
        return false;
    }
}

static bool foreign_page(void)
{
    char host[64];
    char origin[80];
    snprintf(host, sizeof host, "127.0.0.1:%d", port);
    snprintf(origin, sizeof origin, "http://" LOOPBACK ":%d", port + 1);
    switch (random_number(4)) {
    case 0:
        add_handshake("evil.example:80", "http://evil.example:80"); /* a name bent to 127.0.0.1 */
        break;
    case 1:
        add_handshake(host, "http://evil.example");
        break;
    case 2:
        add_handshake(host, "null");
        break;
    default:
        add_handshake(host, origin);
        break;
    }
    add_command(any_command());
    return true;
}

static bool strange_request(void)
{
    static const char *const lines[] = {"GET /../../etc/passwd HTTP/1.1\r\n",
                                        "GET /%2e%2e/%2e%2e/etc/passwd HTTP/1.1\r\n",
                                        "POST / HTTP/1.1\r\n",
                                        "PUT /page.js HTTP/1.1\r\n",
                                        "DELETE / HTTP/1.0\r\n",
                                        "CONNECT evil.example:443 HTTP/1.1\r\n",
                                        "GET http://evil.example/ HTTP/1.1\r\n",
                                        "GET /secret HTTP/1.1\r\n",
                                        "GET / HTTP/9.9\r\n",
                                        "BREW / HTTP/1.1\r\n",
                                        "\r\n\r\n",
                                        "GET "};
    char text[300];
    add_text(lines[random_number(sizeof lines / sizeof *lines)]);
    snprintf(text, sizeof text, "Host: 127.0.0.1:%d\r\nContent-Length: %u\r\n", port,
             random_number(100000));
    add_text(text);
    if (random_number(3) == 0)
        for (int i = 0; i < 400; i++)
            add_text("X-Long: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\r\n");
    add_text("\r\n");
    add_noise(random_number(200));
    return false;
}

static bool noise(void)
{
    add_noise(1 + random_number(4000));
    return false;
}

/* Commands that are right, in any order. */
static bool right_commands(void)
{
    add_good_handshake();
    for (uint32_t i = random_number(4) + 1; i > 0; i--) {
        const char *text = any_command();
        if (!strstr(text, "upload")) add_command(text);
    }
    return false;
}

static bool (*const kinds[])(void) = {
    mutated_command, wrong_command, oversized_command, bytes_without_announcement,
    broken_upload,   broken_frames, foreign_page,      strange_request,
    noise,           right_commands};
enum { KIND_COUNT = sizeof kinds / sizeof *kinds };

/* ---- connections ---- */

typedef struct connection {
    int socket; /* -1: none */
    bool must_close;
    int kind;
} connection;

static int connect_from(long number)
{
    int s = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct sockaddr_in from = {.sin_family = AF_INET};
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    from.sin_addr.s_addr = htonl(0x7f000002u + (uint32_t)(number % 200) * 256);
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (s < 0 || bind(s, (struct sockaddr *)&from, sizeof from) != 0) return -1;
    if (connect(s, (struct sockaddr *)&to, sizeof to) == 0) return s;
    close(s);
    return -1;
}

/* Reads until the other side closes; false if it does not. */
static bool is_closed_by_server(int s)
{
    static char bytes[65536];
    struct pollfd ready = {.fd = s, .events = POLLIN};
    for (;;) {
        if (poll(&ready, 1, PATIENCE) <= 0) return false;
        ssize_t size = recv(s, bytes, sizeof bytes, 0);
        if (size == 0 || (size < 0 && errno != EINTR)) return true;
    }
}

/* Ends a connection; false if the server should have closed it and did not. */
static bool finish(connection *c)
{
    if (c->socket < 0) return true;
    bool good = !c->must_close || is_closed_by_server(c->socket);
    if (!good) fprintf(stderr, "a message of kind %d was not answered by closing\n", c->kind);

    /* Our side goes without a trace, so that ports are free again. */
    struct linger linger = {.l_onoff = 1, .l_linger = 0};
    setsockopt(c->socket, SOL_SOCKET, SO_LINGER, &linger, sizeof linger);
    close(c->socket);
    c->socket = -1;
    return good;
}

static bool send_one(connection *c, long number)
{
    if (!finish(c)) return false;
    c->kind = (int)random_number(KIND_COUNT);
    message_size = 0;
    c->must_close = kinds[c->kind]();
    c->socket = connect_from(number);
    if (c->socket < 0) {
        perror("connect");
        return false;
    }

    /* The server may close while we write. */
    size_t sent = 0;
    while (sent < message_size) {
        ssize_t size = send(c->socket, message + sent, message_size - sent, MSG_NOSIGNAL);
        if (size <= 0) break;
        sent += (size_t)size;
    }
    return true;
}

/* Whether a page still gets something. */
static bool still_serves(void)
{
    char bytes[4096];
    message_size = 0;
    add_good_handshake();
    int s = connect_from(0);
    if (s < 0 || send(s, message, message_size, MSG_NOSIGNAL) != (ssize_t)message_size)
        return false;
    size_t got = 0;
    struct pollfd ready = {.fd = s, .events = POLLIN};
    while (got < 2000 && poll(&ready, 1, PATIENCE) > 0) {
        ssize_t size = recv(s, bytes, sizeof bytes, 0);
        if (size <= 0) break;
        got += (size_t)size;
    }
    close(s);
    return got >= 2000;
}

static pid_t start_server(void)
{
    char path[4096];
    int out[2];
    const char *build = getenv("TWANG_BUILD");
    snprintf(path, sizeof path, "%s/twang", build ? build : "build");
    if (pipe(out) != 0) return -1;
    pid_t child = fork();
    if (child == 0) {
        dup2(out[1], 1);
        close(out[0]);
        execl(path, path, "view", "rope", "--no-browser", "--threads", "1", (char *)NULL);
        _exit(1);
    }
    close(out[1]);

    /* The pipe stays open: the server may write to it as long as it runs. */
    static FILE *lines;
    lines = fdopen(out[0], "r");
    if (!lines || fscanf(lines, "http://" LOOPBACK ":%d/", &port) != 1) return -1;
    return child;
}

int main(int count, char **words)
{
    long messages = count > 1 ? strtol(words[1], NULL, 10) : 1000;
    if (count > 2) random_state = strtoull(words[2], NULL, 10) * 2 + 1;
    pid_t server = start_server();
    if (server < 0) {
        fprintf(stderr, "twang view does not start\n");
        return 1;
    }

    connection window[WINDOW];
    for (int i = 0; i < WINDOW; i++) window[i].socket = -1;
    bool good = true;
    long sent = 0;
    for (; sent < messages && good; sent++) good = send_one(&window[sent % WINDOW], sent);
    for (int i = 0; i < WINDOW; i++) good = finish(&window[i]) && good;
    if (!still_serves()) {
        fprintf(stderr, "no page is served any more\n");
        good = false;
    }

    int status = 0;
    kill(server, SIGTERM);
    waitpid(server, &status, 0);
    bool ended_well = WIFEXITED(status) && WEXITSTATUS(status) == 0;
    if (!ended_well) fprintf(stderr, "the server ended with status %d\n", status);
    printf("%ld messages, %s\n", sent,
           good && ended_well ? "nothing but closed connections" : "FAILED");
    return good && ended_well ? 0 : 1;
}
