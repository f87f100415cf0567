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
    LONGEST_CHARACTER = 4, /* [bytes] */
    USUAL_WIDTH = 80       /* columns of a terminal that does not say */
};

int wrong_use(const char *format, ...)
{
    char line[1024];
    va_list values;
    va_start(values, format);
    vsnprintf(line, sizeof line, format, values);
    va_end(values);

    /* The complaint stays one line, whatever was typed. */
    fprintf(stderr, "twang: %s\n", printable(line));
    return EXIT_WRONG_USE;
}

bool refuse_folder(const char *path)
{
    if (!path || !*path || path[strlen(path) - 1] != '/') return false;
    wrong_use("%s is the name of a folder, name a file in it", path);
    return true;
}

const char *printable(const char *text)
{
    enum { LONGEST = 4096, AT_ONCE = 4 };
    static char copies[AT_ONCE][LONGEST];
    static int next;

    next = (next + 1) % AT_ONCE;
    return tw_printable(copies[next], LONGEST, text);
}

const char *shell_word(const char *text)
{
    enum { LONGEST = 4096, AT_ONCE = 4 };
    static const char safe[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                               "_./+,=@%:-";
    static char words[AT_ONCE][LONGEST];
    static int next;

    /* Letters beyond ASCII mean nothing to a shell. */
    const char *plain = printable(text);
    const char *c = plain;
    while (*c && (strchr(safe, *c) || ((unsigned char)*c & 0x80u) != 0)) c++;
    if (c > plain && *c == '\0') return plain;

    /* A quote inside ends the quoted part, stands by itself, and begins another part. */
    next = (next + 1) % AT_ONCE;
    char *word = words[next];
    size_t length = 0;
    word[length++] = '\'';
    for (c = plain; *c && length + sizeof "'\\'''" < LONGEST; c++) {
        if (*c == '\'') {
            memcpy(word + length, "'\\''", 4);
            length += 4;
        } else {
            word[length++] = *c;
        }
    }
    word[length++] = '\'';
    word[length] = '\0';
    return word;
}

/* The number of bytes of the character at `text`, if a terminal may have it; or else 0. */
static int bytes_to_print(const char *text)
{
    char piece[LONGEST_CHARACTER + 1];
    tw_printable(piece, sizeof piece, text);
    if (piece[0] != text[0]) return 0;

    int count = 1;
    while (((unsigned char)text[count] & 0xc0u) == 0x80u) count++;
    return count;
}

void print_json_string(const char *text)
{
    putchar('"');
    while (*text) {
        /* A byte that begins no character has no place in JSON. */
        int count = bytes_to_print(text);
        if (*text == '"' || *text == '\\')
            printf("\\%c", *text);
        else if (count > 0)
            printf("%.*s", count, text);
        else
            printf("\\u%04x", (unsigned char)*text < 0x80 ? (unsigned char)*text : 0xfffdu);
        text += count > 0 ? count : 1;
    }
    putchar('"');
}

int report_error(const tw_error *error, bool json)
{
    bool is_wrong_use = error->status == TW_BAD_INPUT || error->status == TW_INVALID_ARGUMENT;
    int code = is_wrong_use ? EXIT_WRONG_USE : EXIT_FAILED;
    fprintf(stderr, "%s\n", printable(error->text));
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

double processor_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
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
