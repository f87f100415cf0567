/* One line on a terminal, redrawn at most ten times a second. */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "command.h"

static double clock_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* "0:07", "12:30", "1:02:03", "3 days" */
static void format_duration(double seconds, char *text, size_t size)
{
    if (!(seconds < 360000.0)) {
        snprintf(text, size, "%.3g days", seconds / 86400.0);
        return;
    }
    int s = (int)(seconds + 0.5);
    if (s >= 3600)
        snprintf(text, size, "%d:%02d:%02d", s / 3600, s / 60 % 60, s % 60);
    else
        snprintf(text, size, "%d:%02d", s / 60, s % 60);
}

static bool drawn;

static bool is_due(bool last_time)
{
    static double last;
    double now = clock_seconds();
    if (now - last < 0.1 && !last_time) return false;
    last = now;
    return true;
}

static void draw(const char *line)
{
    /* A line that wraps could not be redrawn. */
    fprintf(stderr, "\r%.*s\033[K", terminal_width(STDERR_FILENO) - 1, line);
    fflush(stderr);
    drawn = true;
}

enum { BAR = 20 };

/* " [===>   ]" with what the rest of the line leaves of the terminal's width, or nothing where that is too little. */
static void format_bar(double share, size_t rest, char bar[BAR + 4])
{
    int width = terminal_width(STDERR_FILENO) - 1 - (int)rest - 3, full = 0;
    width = width > BAR ? BAR : width;
    bar[0] = '\0';
    if (width < 4) return;
    full = (int)(share * width);
    bar[0] = ' ', bar[1] = '[';
    for (int i = 0; i < width; i++) bar[2 + i] = i < full ? '=' : i == full ? '>' : ' ';
    bar[2 + width] = ']', bar[3 + width] = '\0';
}

void progress_show(const char *name, const tw_run_progress *p)
{
    if (!is_due(p->t >= p->duration)) return;
    double done = p->t - p->session_start,
           speed = p->session_seconds > 0 ? done / p->session_seconds : 0;
    char left[32] = "?", energy[48] = "", bar[BAR + 4], rest[240], line[320];
    if (speed > 0) format_duration((p->duration - p->t) / speed, left, sizeof left);
    if (p->has_energy) snprintf(energy, sizeof energy, ", energy error %.1e", p->energy_error);
    int named = snprintf(line, sizeof line, "%.40s", name);
    snprintf(rest, sizeof rest, " %.4g of %.4g s, %.3g x real time, %s left%s", p->t, p->duration,
             speed, left, energy);
    format_bar(p->t / p->duration, (size_t)named + strlen(rest), bar);
    snprintf(line + named, sizeof line - (size_t)named, "%s%s", bar, rest);
    draw(line);
}

void progress_count(const char *name, int64_t done, int64_t all)
{
    char bar[BAR + 4], rest[64], line[160];
    if (!is_due(done == all)) return;
    snprintf(rest, sizeof rest, " %lld of %lld frames", (long long)done, (long long)all);
    format_bar((double)done / (double)all, strlen(name) + strlen(rest), bar);
    snprintf(line, sizeof line, "%.60s%s%s", name, bar, rest);
    draw(line);
}

void progress_clear(void)
{
    if (drawn) fprintf(stderr, "\r\033[K");
    drawn = false;
}
