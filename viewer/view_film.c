/* Pictures of a report: the page is opened in a headless browser, put to one frame after another,
 * and each picture goes to a file or to ffmpeg. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "view.h"
#include "view_browser.h"

enum { WIDTH = 1280, HEIGHT = 720 };

static tw_status complain(tw_error *error, tw_status status, const char *text)
{
    snprintf(error->text, sizeof error->text, "%s", text);
    error->status = status;
    return status;
}

/* The value of an expression in the page; NULL if it failed. */
static json_t *evaluate(view_browser *browser, const char *expression)
{
    json_t *parameters =
        json_pack("{s:s,s:b,s:b}", "expression", expression, "returnByValue", 1, "awaitPromise", 1);
    json_t *answer = view_browser_ask(browser, "Runtime.evaluate", parameters);
    json_t *value = json_incref(json_object_get(json_object_get(answer, "result"), "value"));
    json_decref(answer);
    return value;
}

/* Opens the page of the report, without its panels. */
static bool open_page(view_browser *browser, const char *report)
{
    char *path = realpath(report, NULL);
    if (!path) return false;
    char url[4200];
    snprintf(url, sizeof url, "file://%s#film", path);
    free(path);

    json_t *target =
        view_browser_ask(browser, "Target.createTarget", json_pack("{s:s}", "url", url));
    const char *id = json_string_value(json_object_get(target, "targetId"));
    if (!id) return false;
    json_t *attached = view_browser_ask(browser, "Target.attachToTarget",
                                        json_pack("{s:s,s:b}", "targetId", id, "flatten", 1));
    const char *session = json_string_value(json_object_get(attached, "sessionId"));
    if (session) snprintf(browser->session, sizeof browser->session, "%s", session);
    json_decref(target);
    json_decref(attached);

    json_t *size = json_pack("{s:i,s:i,s:i,s:b}", "width", WIDTH, "height", HEIGHT,
                             "deviceScaleFactor", 1, "mobile", 0);
    json_decref(view_browser_ask(browser, "Emulation.setDeviceMetricsOverride", size));
    return browser->session[0] != '\0';
}

/* Waits for the page; the number of its frames, 0 if it does not come. */
static int wait_for_frames(view_browser *browser)
{
    for (int attempt = 0; attempt < 300; attempt++) {
        json_t *count =
            evaluate(browser, "window.twang && window.twang.film ? window.twang.film.count : 0");
        int frames = (int)json_integer_value(count);
        json_decref(count);
        if (frames > 0) return frames;
        usleep(100000);
    }
    return 0;
}

static int digit(char c)
{
    if (c >= 'A' && c <= 'Z') return c - 'A';
    if (c >= 'a' && c <= 'z') return c - 'a' + 26;
    if (c >= '0' && c <= '9') return c - '0' + 52;
    return c == '+' ? 62 : 63;
}

/* Writes bytes that are given as base64. */
static bool write_base64(FILE *file, const char *text)
{
    size_t length = strlen(text);
    for (size_t i = 0; i + 3 < length; i += 4) {
        unsigned group = 0;
        for (int k = 0; k < 4; k++)
            group = group << 6 | (unsigned)(text[i + k] == '=' ? 0 : digit(text[i + k]));
        int count = text[i + 2] == '=' ? 1 : text[i + 3] == '=' ? 2 : 3;
        const unsigned char bytes[3] = {(unsigned char)(group >> 16), (unsigned char)(group >> 8),
                                        (unsigned char)group};
        if (fwrite(bytes, 1, (size_t)count, file) != (size_t)count) return false;
    }
    return true;
}

/* Puts the page to a frame and writes its picture. */
static bool take_picture(view_browser *browser, int frame, FILE *file)
{
    char expression[64];
    snprintf(expression, sizeof expression, "window.twang.film.show(%d)", frame);
    json_decref(evaluate(browser, expression));
    json_t *answer =
        view_browser_ask(browser, "Page.captureScreenshot", json_pack("{s:s}", "format", "png"));
    const char *data = json_string_value(json_object_get(answer, "data"));
    bool good = data && write_base64(file, data);
    json_decref(answer);
    return good;
}

enum { LONGEST_PATH = 4096 };

/* The name under which a file is written before it is whole: film.part.mp4, since ffmpeg chooses the format by the end of
 * the name. False if it is too long. */
static bool name_part(const char *path, char part[static LONGEST_PATH])
{
    const char *slash = strrchr(path, '/');
    const char *dot = strrchr(slash ? slash : path, '.');
    int head = (int)(dot ? dot - path : (ptrdiff_t)strlen(path));
    int length = snprintf(part, LONGEST_PATH, "%.*s.part%s", head, path, dot ? dot : "");

    if (length < LONGEST_PATH) return true;
    part[0] = '\0';
    return false;
}

/* Puts a file that is whole in its place. What was there before is kept if something went wrong. */
static tw_status keep_part(bool good, const char *part, const char *path, const char *complaint,
                           tw_error *error)
{
    if (good && rename(part, path) == 0) return TW_OK;

    remove(part);
    return complain(error, TW_INPUT_OUTPUT, complaint);
}

static tw_status make_poster(view_browser *browser, int frames, const char *path, tw_error *error)
{
    char part[LONGEST_PATH];
    FILE *file = name_part(path, part) ? fopen(part, "wb") : NULL;

    bool good = file && take_picture(browser, frames / 3, file);
    if (file) good = fclose(file) == 0 && good;
    return keep_part(good, part, path, "the poster cannot be made", error);
}

/* Starts ffmpeg with these arguments and reads its input from `input`. 0 if it cannot be started. */
static pid_t start_ffmpeg(char *const arguments[], int input)
{
    posix_spawn_file_actions_t actions;
    if (posix_spawn_file_actions_init(&actions) != 0) return 0;

    pid_t process = 0;
    posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO);
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    int failed = posix_spawnp(&process, "ffmpeg", &actions, NULL, arguments, environ);
    posix_spawn_file_actions_destroy(&actions);
    return failed ? 0 : process;
}

/* Whether the process ends well. */
static bool ends_well(pid_t process)
{
    int status = 0;
    return process > 0 && waitpid(process, &status, 0) == process && WIFEXITED(status) &&
           WEXITSTATUS(status) == 0;
}

static bool has_ffmpeg(void)
{
    char *const arguments[] = {"ffmpeg", "-version", NULL};
    return ends_well(start_ffmpeg(arguments, STDIN_FILENO));
}

/* Starts ffmpeg, which makes a video at `path` of the pictures that are written to *pictures. */
static pid_t open_video(const char *rate, const char *path, FILE **pictures)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) return 0;

    /* posix_spawn takes arguments that may be written, and does not write them. */
    char *const arguments[] = {"ffmpeg",    "-loglevel",  "error",      "-y",
                               "-f",        "image2pipe", "-framerate", (char *)rate,
                               "-i",        "-",          "-pix_fmt",   "yuv420p",
                               "-movflags", "+faststart", (char *)path, NULL};
    pid_t process = start_ffmpeg(arguments, ends[0]);
    close(ends[0]);
    *pictures = process > 0 ? fdopen(ends[1], "w") : NULL;
    if (!*pictures) close(ends[1]);
    return process;
}

static tw_status make_video(view_browser *browser, int frames, const char *path, tw_error *error)
{
    json_t *rate = evaluate(browser, "window.twang.film.rate");
    char number[32];
    snprintf(number, sizeof number, "%.3f", json_number_value(rate));
    json_decref(rate);

    char part[LONGEST_PATH];
    FILE *pictures = NULL;
    pid_t process = name_part(path, part) ? open_video(number, part, &pictures) : 0;
    bool good = pictures != NULL;
    for (int i = 0; i < frames && good; i++) good = take_picture(browser, i, pictures);

    /* The video is whole when ffmpeg has seen the end of the pictures. */
    if (pictures) good = fclose(pictures) == 0 && good;
    if (process > 0) good = ends_well(process) && good;
    return keep_part(good, part, path, "the video cannot be made", error);
}

tw_status view_film(const char *report, const char *video, const char *poster, tw_error *error)
{
    if (video && !has_ffmpeg())
        return complain(error, TW_UNSUPPORTED, "a video needs ffmpeg (Debian: ffmpeg)");

    view_browser browser;
    bool is_open = view_browser_open(&browser) && open_page(&browser, report);
    int frames = is_open ? wait_for_frames(&browser) : 0;
    tw_status status = TW_OK;
    if (frames == 0)
        status = complain(error, TW_UNSUPPORTED,
                          "pictures need a headless browser that draws (Debian: chromium)");
    if (status == TW_OK && poster) status = make_poster(&browser, frames, poster, error);
    if (status == TW_OK && video) status = make_video(&browser, frames, video, error);
    view_browser_close(&browser);
    return status;
}
