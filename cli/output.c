/* What the command prints, and where. */
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "command.h"

enum {
    FIRST_PRINTABLE = 0x20, /* characters before it control a terminal */
    USUAL_WIDTH = 80        /* columns of a terminal that does not say */
};

int wrong_use(const char *format, ...)
{
    char line[1024];
    va_list values;
    va_start(values, format);
    vsnprintf(line, sizeof line, format, values);
    va_end(values);

    /* The complaint stays one line, whatever was typed. */
    for (char *p = line; *p; p++)
        if ((unsigned char)*p < FIRST_PRINTABLE) *p = '?';

    fprintf(stderr, "twang: %s\n", line);
    return EXIT_WRONG_USE;
}

void print_json_string(const char *text)
{
    putchar('"');
    for (const unsigned char *p = (const unsigned char *)text; *p; p++) {
        if (*p == '"' || *p == '\\')
            printf("\\%c", *p);
        else if (*p < FIRST_PRINTABLE)
            printf("\\u%04x", *p);
        else
            putchar(*p);
    }
    putchar('"');
}

int report_error(const tw_error *error, bool json)
{
    bool is_wrong_use = error->status == TW_BAD_INPUT || error->status == TW_INVALID_ARGUMENT;
    int code = is_wrong_use ? EXIT_WRONG_USE : EXIT_FAILED;
    fprintf(stderr, "%s\n", error->text);
    if (!json) return code;

    /* A program that reads stdout finds an object there. */
    printf("{\"status\": \"error\", \"status_code\": \"%s\", \"exit_code\": %d, \"reason\": ",
           tw_status_name(error->status), code);
    print_json_string(error->text);
    printf("}\n");
    return code;
}

int close_output(int code)
{
    if (fflush(stdout) == 0 && !ferror(stdout)) return code;

    fprintf(stderr, "twang: the output cannot be written: %s\n", strerror(errno));
    return code == EXIT_DONE ? EXIT_FAILED : code;
}

void catch_file_limit(void)
{
    signal(SIGXFSZ, SIG_IGN);
}

void hold_signals(bool hold)
{
    sigset_t both;
    sigemptyset(&both);
    sigaddset(&both, SIGINT);
    sigaddset(&both, SIGTERM);
    sigprocmask(hold ? SIG_BLOCK : SIG_UNBLOCK, &both, NULL);
}

double clock_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

int terminal_width(int descriptor)
{
    const char *terminal = getenv("TERM");
    if (!isatty(descriptor) || !terminal || strcmp(terminal, "dumb") == 0) return 0;

    struct winsize size = {0};
    bool known = ioctl(descriptor, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
    return known ? size.ws_col : USUAL_WIDTH;
}

style style_for_stdout(void)
{
    static const style coloured = {"\033[1m", "\033[2m", "\033[32m", "\033[31m", "\033[0m"};
    static const style none = {"", "", "", "", ""};

    const char *no_colour = getenv("NO_COLOR");
    bool wanted = !(no_colour && no_colour[0] != '\0') && terminal_width(STDOUT_FILENO) > 0;
    return wanted ? coloured : none;
}
