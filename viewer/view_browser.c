/* A headless Chromium that is driven through two pipes: requests and answers are JSON objects, each
 * followed by a zero byte (the DevTools protocol over --remote-debugging-pipe). */
#define _GNU_SOURCE
#include "view_browser.h"

#include <fcntl.h>
#include <ftw.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* An answer takes at most so long [ms]. */
enum { PATIENCE = 60000 };

/* Where the browser reads requests and writes answers. */
enum { IN = 3, OUT = 4 };

/* Its children may still write into their folder when it has ended: the folder is removed by so many
 * attempts at most, with a pause [us] between them. */
enum { ATTEMPTS = 40, PAUSE = 50000 };

static const char *find_browser(void)
{
    static const char *const paths[] = {"/usr/bin/chromium", "/usr/bin/chromium-browser",
                                        "/usr/bin/google-chrome"};

    /* What the user names comes first, and alone. */
    const char *given = getenv("TWANG_BROWSER");
    if (given) return access(given, X_OK) == 0 ? given : NULL;

    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++)
        if (access(paths[i], X_OK) == 0) return paths[i];
    return NULL;
}

/* In the child: the pipes become descriptors 3 and 4, and the browser begins. */
static void become_browser(const char *path, int requests, int answers, const char *folder)
{
    /* Copies above the numbers that are taken next. */
    int null = open("/dev/null", O_RDWR);
    int in = fcntl(requests, F_DUPFD, 10);
    int out = fcntl(answers, F_DUPFD, 10);
    if (null < 0 || in < 0 || out < 0) _exit(1);

    if (dup2(null, 0) < 0 || dup2(null, 1) < 0 || dup2(null, 2) < 0) _exit(1);
    if (dup2(in, IN) < 0 || dup2(out, OUT) < 0) _exit(1);

    char profile[160];
    snprintf(profile, sizeof profile, "--user-data-dir=%s", folder);

    /* Chromium refuses its sandbox to root. */
    const char *sandbox = geteuid() == 0 ? "--no-sandbox" : "--no-first-run";
    execl(path, path, "--headless", "--remote-debugging-pipe", "--no-first-run", sandbox,
          "--disable-background-networking", "--disable-component-update", "--disable-sync",
          "--disable-quic", "--use-angle=swiftshader", "--enable-unsafe-swiftshader",
          "--ignore-gpu-blocklist", "--hide-scrollbars", profile, (char *)NULL);
    _exit(1);
}

/* A folder for the browser's profile. Without one the name stays empty. */
static bool make_folder(view_browser *browser)
{
    snprintf(browser->folder, sizeof browser->folder, "/tmp/twang-film-XXXXXX");
    if (mkdtemp(browser->folder)) return true;

    browser->folder[0] = '\0';
    return false;
}

bool view_browser_open(view_browser *browser)
{
    *browser = (view_browser){.requests = -1, .answers = -1};
    const char *path = find_browser();
    if (!path || !make_folder(browser)) return false;

    /* Our ends of the pipes are kept at once: closing the browser closes them. */
    int requests[2];
    int answers[2];
    if (pipe2(requests, O_CLOEXEC) != 0) return false;
    browser->requests = requests[1];
    if (pipe2(answers, O_CLOEXEC) != 0) {
        close(requests[0]);
        return false;
    }
    browser->answers = answers[0];

    browser->process = fork();
    if (browser->process == 0) become_browser(path, requests[0], answers[1], browser->folder);
    close(requests[0]);
    close(answers[1]);
    return browser->process > 0;
}

static int remove_entry(const char *path, const struct stat *entry, int kind, struct FTW *place)
{
    (void)entry, (void)kind, (void)place;
    return remove(path);
}

/* The profile is ours, under a name that mkdtemp made. */
static void remove_folder(const char *folder)
{
    enum { MOST_DESCRIPTORS = 16 };
    if (folder[0] == '\0') return;

    for (int i = 0; i < ATTEMPTS; i++) {
        if (nftw(folder, remove_entry, MOST_DESCRIPTORS, FTW_DEPTH | FTW_PHYS) == 0) return;
        usleep(PAUSE);
    }
    fprintf(stderr, "twang: %s is left behind\n", folder);
}

void view_browser_close(view_browser *browser)
{
    if (browser->requests >= 0) close(browser->requests);
    if (browser->answers >= 0) close(browser->answers);

    if (browser->process > 0) {
        kill(browser->process, SIGTERM);
        waitpid(browser->process, NULL, 0);
    }

    view_text_free(&browser->received);
    remove_folder(browser->folder);
}

static bool write_all(int descriptor, const char *bytes, size_t size)
{
    while (size > 0) {
        ssize_t written = write(descriptor, bytes, size);
        if (written <= 0) return false;
        bytes += written;
        size -= (size_t)written;
    }
    return true;
}

/* The next answer or event; NULL if none comes. */
static json_t *receive(view_browser *browser)
{
    for (;;) {
        /* A whole object ends with a zero byte. */
        view_text *text = &browser->received;
        char *end = text->size > 0 ? memchr(text->bytes, '\0', text->size) : NULL;
        if (end) {
            size_t length = (size_t)(end - text->bytes);
            json_t *object = json_loadb(text->bytes, length, 0, NULL);
            memmove(text->bytes, end + 1, text->size - length - 1);
            text->size -= length + 1;
            return object;
        }

        /* Otherwise more bytes are waited for. */
        char bytes[65536];
        struct pollfd ready = {.fd = browser->answers, .events = POLLIN};
        if (poll(&ready, 1, PATIENCE) <= 0) return NULL;

        ssize_t size = read(browser->answers, bytes, sizeof bytes);
        if (size <= 0) return NULL;
        view_text_bytes(text, bytes, (size_t)size);
        if (text->failed) return NULL;
    }
}

json_t *view_browser_ask(view_browser *browser, const char *method, json_t *parameters)
{
    int id = ++browser->last_id;
    json_t *request = json_pack("{s:i,s:s,s:o}", "id", id, "method", method, "params", parameters);
    if (!request) return NULL;

    /* A request to the page, once there is one. */
    if (browser->session[0])
        json_object_set_new(request, "sessionId", json_string(browser->session));

    char *text = json_dumps(request, JSON_COMPACT);
    bool sent = text && write_all(browser->requests, text, strlen(text) + 1);
    free(text);
    json_decref(request);

    /* Events come in between. */
    while (sent) {
        json_t *answer = receive(browser);
        if (!answer) return NULL;
        if (json_integer_value(json_object_get(answer, "id")) == id) {
            json_t *result = json_incref(json_object_get(answer, "result"));
            json_decref(answer);
            return result;
        }
        json_decref(answer);
    }
    return NULL;
}
