/* One line on a terminal that shows how far a run is, redrawn at most ten times a second. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "command.h"

static const double REDRAW_INTERVAL = 0.1; /* [s] */

enum {
    BAR_WIDTH = 20,   /* columns between the brackets */
    LEAST_WIDTH = 4,  /* a narrower bar shows nothing */
    BAR_BRACKETS = 3, /* a space and two brackets */
    SECONDS_PER_MINUTE = 60,
    SECONDS_PER_HOUR = 3600,
    SECONDS_PER_DAY = 86400,
    MOST_HOURS = 100 /* longer times are given in days */
};

static bool is_drawn;

/* "0:07", "12:30", "1:02:03", "5.2 days" */
static void format_duration(double seconds, char *text, size_t size)
{
    if (!(seconds < (double)MOST_HOURS * SECONDS_PER_HOUR)) {
        snprintf(text, size, "%.3g days", seconds / SECONDS_PER_DAY);
        return;
    }

    int whole = (int)(seconds + 0.5);
    int hours = whole / SECONDS_PER_HOUR;
    int minutes = whole / SECONDS_PER_MINUTE;
    int rest = whole % SECONDS_PER_MINUTE;
    if (hours > 0)
        snprintf(text, size, "%d:%02d:%02d", hours, minutes % 60, rest);
    else
        snprintf(text, size, "%d:%02d", minutes, rest);
}

/* The last state is always drawn. */
static bool is_due(bool is_last)
{
    static double last;
    double now = clock_seconds();
    if (now - last < REDRAW_INTERVAL && !is_last) return false;
    last = now;
    return true;
}

static void draw(const char *line)
{
    /* The line is cut to the width of the terminal: a line that wraps could not be redrawn. */
    fprintf(stderr, "\r%.*s\033[K", terminal_width(STDERR_FILENO) - 1, line);
    fflush(stderr);
    is_drawn = true;
}

/* " [===>   ]" in the columns that the rest of the line leaves, or nothing where these are
 * too few. */
static void format_bar(double share, size_t rest, char bar[BAR_WIDTH + BAR_BRACKETS + 1])
{
    int width = terminal_width(STDERR_FILENO) - 1 - (int)rest - BAR_BRACKETS;
    if (width > BAR_WIDTH) width = BAR_WIDTH;
    bar[0] = '\0';
    if (width < LEAST_WIDTH) return;

    char inside[BAR_WIDTH + 1];
    int full = (int)(share * width);
    memset(inside, ' ', sizeof inside);
    for (int i = 0; i < full && i < width; i++) inside[i] = '=';
    if (full < width) inside[full] = '>';
    inside[width] = '\0';
    snprintf(bar, BAR_WIDTH + BAR_BRACKETS + 1, " [%s]", inside);
}

void progress_show(const char *name, const tw_run_progress *p)
{
    if (!is_due(p->t >= p->duration)) return;

    /* Simulated seconds per second, and what that means for the rest. */
    double done = p->t - p->session_start;
    double speed = p->session_seconds > 0 ? done / p->session_seconds : 0;
    char left[32] = "?";
    if (speed > 0) format_duration((p->duration - p->t) / speed, left, sizeof left);
    char energy[48] = "";
    if (p->has_energy) snprintf(energy, sizeof energy, ", energy error %.1e", p->energy_error);

    /* The name, the bar, the rest. */
    char line[320];
    char rest[240];
    char bar[BAR_WIDTH + BAR_BRACKETS + 1];
    int named = snprintf(line, sizeof line, "%.40s", printable(name));
    snprintf(rest, sizeof rest, " %.4g of %.4g s, %.3g x real time, %s left%s", p->t, p->duration,
             speed, left, energy);
    format_bar(p->t / p->duration, (size_t)named + strlen(rest), bar);
    snprintf(line + named, sizeof line - (size_t)named, "%s%s", bar, rest);
    draw(line);
}

void progress_count(const char *name, int64_t done, int64_t all)
{
    if (!is_due(done == all)) return;

    char line[160];
    char rest[64];
    char bar[BAR_WIDTH + BAR_BRACKETS + 1];
    snprintf(rest, sizeof rest, " %lld of %lld frames", (long long)done, (long long)all);
    format_bar((double)done / (double)all, strlen(name) + strlen(rest), bar);
    snprintf(line, sizeof line, "%.60s%s%s", printable(name), bar, rest);
    draw(line);
}

void progress_clear(void)
{
    if (is_drawn) fprintf(stderr, "\r\033[K");
    is_drawn = false;
}

/* Prints a warning of the library; called from any thread. */
static void print_warning(void *context, tw_log_level level, const char *line)
{
    (void)context;
    (void)level;
    progress_clear();
    fprintf(stderr, "twang: %s\n", line);
}

void show_warnings(void)
{
    tw_log_set(print_warning, NULL, TW_LOG_WARNING);
}
