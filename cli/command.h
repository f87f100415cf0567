/* What the files of the command share: verbs and options as tables, exit codes, complaints. */
#ifndef CLI_COMMAND_H
#define CLI_COMMAND_H

#include <stdbool.h>
#include <stddef.h>
#include <twang/twang.h>

enum {
    EXIT_DONE = 0,
    EXIT_FAILED = 1,    /* the run failed, or the output could not be written */
    EXIT_WRONG_USE = 2, /* wrong use or bad input */
    EXIT_INTERRUPTED = 130
};

/* An option of a verb. */
typedef struct option {
    const char *name;  /* "--dt" */
    const char *brief; /* "-o"; NULL if there is none */
    const char *value; /* what follows it: "S"; NULL if nothing does */
    const char *line;  /* what it does */
    /* The index-th word that may follow it, NULL past the last; NULL: any word. For
     * shell completion. */
    const char *(*choice)(int index);
} option;

enum { MAX_GIVEN = 64, MAX_POSITIONAL = 4 };

struct verb;

/* A command line, taken apart. */
typedef struct arguments {
    const struct verb *verb;
    const char *positional[MAX_POSITIONAL];
    int positional_count;
    struct {
        const option *option;
        const char *value; /* NULL for an option without one */
    } given[MAX_GIVEN];    /* in the order they were given */
    int given_count;
} arguments;

typedef struct verb {
    const char *name;
    const char *synopsis;   /* of its arguments: "SCENE [-o DIR] ..." */
    const char *line;       /* what it does, in one line */
    const char *text;       /* what it does, for its help */
    const option *options;  /* name NULL after the last; every verb has --help besides */
    const char *positional; /* what its arguments are called, "SCENE" */
    int positional_least;
    int positional_most;
    const char *(*choice)(int index); /* first argument, one of these words; NULL: a file */
    int (*run)(const arguments *a);
} verb;

extern const verb verb_run, verb_new, verb_resume, verb_check, verb_bench, verb_export, verb_mesh,
    verb_fetch_meshes, verb_list, verb_completion, verb_view, verb_report;
/* All of them, NULL after the last. */
extern const verb *const all_verbs[];

/* --- arguments.c --- */

/* Takes the command line after the verb apart; false after it has complained. */
bool parse_arguments(const verb *v, int count, char **words, arguments *out);
bool is_given(const arguments *a, const char *name);
/* The last value given, or NULL. */
const char *value_of(const arguments *a, const char *name);
/* A whole number from low to high; *value is left as it is if the option is not given. False after
 * it has complained. */
bool read_count(const arguments *a, const char *name, long long low, long long high,
                long long *value);
enum { MAX_THREADS = 1024 }; /* of --threads */
void print_verb_help(const verb *v);

/* --- output.c --- */

/* One line on stderr: "twang: ...". Returns EXIT_WRONG_USE. */
int wrong_use(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Complains and returns true if the name of a file that would be written ends like that of a folder. */
bool refuse_folder(const char *path);
/* A name or text from outside as it may be printed on a terminal, for at most four of them at once:
 * nothing else that the user or a file gave is printed. */
const char *printable(const char *text);
/* The same as one word of a shell, in quotes where it needs them, for commands that are suggested. */
const char *shell_word(const char *text);
/* Prints the text of a library's error as a line on stderr (and, with `json`, as an object on
 * stdout). Returns the exit code that belongs to its status. */
int report_error(const tw_error *error, bool json);
void print_json_string(const char *text);
/* Flushes stdout. Returns `code`, or EXIT_FAILED after complaining if stdout cannot be written. */
int close_output(int code);

/* Escape sequences, or "" where stdout is no terminal or NO_COLOR is set. */
typedef struct style {
    const char *bold, *dim, *good, *bad, *plain;
} style;
style style_for_stdout(void);

/* Columns of a terminal that understands escapes; 0 if it is no such terminal. */
int terminal_width(int descriptor);

/* Makes a file-size limit an error of write(), like a full disk, instead of the end of
 * the program. */
void catch_file_limit(void);

/* Holds SIGINT and SIGTERM back while a file is written, or lets them act: then no file is left
 * half. */
void hold_signals(bool hold);

/* A clock that never goes back [s]. */
double clock_seconds(void);

/* Processor time of this process, all its threads together [s]. */
double processor_seconds(void);

/* Explicit schemes are stable while h omega is at most this, for an undamped oscillation of
 * frequency omega: 2 for verlet, 2 sqrt(2) for rk4. */
#define VERLET_STABILITY 2.0
#define RK4_STABILITY    2.8284271247

/* Whether a scheme chooses its steps itself: it is given a relative tolerance, and no step. */
static inline bool has_own_steps(tw_scheme scheme)
{
    return scheme == TW_SCHEME_CVODE;
}

/* Estimates of the highest frequency take this many steps of the Lanczos process. */
enum { FREQUENCY_ITERATIONS = 60 };

/* --- version.c --- */

/* The version; if `verbose`, also the loaded libraries with their versions and licences. */
void print_version(bool verbose);

/* --- scene_path.c --- */

/* The file of a SCENE: itself, or the scene of that name that comes with twang; NULL if there
 * is none. */
const char *find_scene(const char *given, char *buffer, size_t size);
/* Calls `visit` for every scene that comes with twang, in order of name. */
void visit_scenes(void (*visit)(void *context, const char *name, const char *path,
                                const char *line),
                  void *context);

/* --- wrong_names.c --- */

/* Complains, with what would be right, about what is no scene: `given` by the user and found at `path`
 * (NULL: nowhere). False: nothing is wrong, or the library has to say what. */
bool refuse_scene(const char *given, const char *path);
/* The same about what is no directory of a run. */
bool refuse_run(const char *given);
/* Whether a file or a directory has this suffix. */
bool ends_in(const char *path, const char *suffix);
/* Complains about a name of an integrator: "WHERE: there is no ...". */
void unknown_scheme(const char *where, const char *name);

/* --- next_try.c --- */

/* An integration that failed. */
typedef struct failed_run {
    tw_status status;
    double step;           /* its fixed step [s]; 0 if steps are adaptive */
    double stable_step;    /* the largest stable one of an explicit scheme; 0 if unknown */
    int64_t steps;         /* that were made */
    const char *directory; /* of the run; NULL: there is none */
} failed_run;

/* A line on stderr that says what to try after it. */
void say_what_to_try(const failed_run *failed);

/* --- open_sheet.c --- */

/* Whether a surface is a sheet: open, and far from enclosing anything. Duplicate vertices must have been
 * merged (tw_mesh_repair). */
bool is_open_sheet(const tw_mesh *mesh, const tw_mesh_quality *quality);
/* A line on stderr about a surface that was filled, in the words of `check` and `run`; none if all is
 * well. */
void warn_of_fill(const char *path, const tw_fill_report *report);

/* --- relative_path.c --- */

/* `file` as it is named from the folder of the file `from`, which need not be there; the absolute path
 * where they have no folder in common, and `file` as it is if it cannot be found. */
void name_from_beside(const char *from, const char *file, size_t size, char *name);

/* --- step_trial.c --- */

typedef enum step_verdict {
    STEP_FAILS,
    STEP_WORKS,
    STEP_UNKNOWN /* too dear to try */
} step_verdict;

/* Whether fixed steps of this size, by the scheme of the options, follow the simulation from its
 * start over so many seconds, and on to the end where that is cheap, or over one step if `seconds` is
 * 0. The run will have `duration` seconds. */
step_verdict judge_step(tw_simulation *simulation, const tw_integrator_options *options,
                        double step, double seconds, double duration);

/* The same over the whole run alone: it ends, and keeps its energy. */
step_verdict judge_whole_run(tw_simulation *simulation, const tw_integrator_options *options,
                             double step, double duration);

/* --- choose_integrator.c --- */

/* What `--integrator auto` found: values of keys of the scene. */
typedef struct automatic {
    char name[40];             /* integrator.name */
    char step[40];             /* integrator.step */
    char phi_tolerance[40];    /* phi.tolerance */
    char newton_tolerance[40]; /* integrator.newton_tolerance */
    char reason[300];          /* integrator.chosen */
} automatic;

/* Chooses for an error at the end of the scene, relative to the displacement. TW_NOT_CONVERGED if no
 * integrator reaches it. */
tw_status choose_integrator(tw_scene *scene, double wanted, automatic *choice, tw_error *error);

/* --- scene_arguments.c --- */

/* Loads SCENE with what --integrator, --phi, --dt, --rtol, --duration, --fps and --set say. */
tw_status load_scene(const arguments *a, tw_scene **scene, tw_error *error);
/* The same, where --integrator may be auto: then a short trial on the scene chooses integrator and
 * step for the error of --error. */
tw_status load_scene_to_run(const arguments *a, tw_scene **scene, tw_error *error);
/* The options above, for the tables of verbs. */
#define SCENE_OPTIONS                                                                              \
    {"--integrator", NULL, "NAME", "integrate with this scheme (twang list integrators)",          \
     scheme_choice},                                                                               \
        {"--phi", NULL, "NAME", "evaluate phi-functions with this engine (twang list phi)",        \
         phi_choice},                                                                              \
        {"--dt", NULL, "S", "fixed steps of S seconds, or a little less to fit the duration",      \
         NULL},                                                                                    \
        {"--rtol", NULL, "R", "adaptive steps with this relative tolerance", NULL},                \
        {"--duration", NULL, "S", "simulate this many seconds", NULL},                             \
    {                                                                                              \
        "--set", NULL, "KEY=VALUE", "change any key of the scene: --set bodies.0.stiffness=1e8",   \
            NULL                                                                                   \
    }
/* The same for the verbs that write frames. */
#define FRAME_OPTIONS                                                                              \
    {"--fps", NULL, "N", "frames per simulated second", NULL},                                     \
    {                                                                                              \
        "--frames", NULL, "LIST",                                                                  \
            "formats of the frames: csv, vtu, ply, obj, pc2, none; or several: vtu,pc2",           \
            frames_choice                                                                          \
    }
const char *scheme_choice(int index);
const char *phi_choice(int index);
const char *frames_choice(int index);

/* --- run_session.c --- */

/* What `run` and `resume` have in common: signals, progress, the summary. Either a scene is given,
 * or the directory of a run to resume. */
int run_session(const arguments *a, const tw_scene *scene, const char *directory);
#define SESSION_OPTIONS                                                                            \
    {"--threads", NULL, "N", "use this many threads; the result is the same for any", NULL},       \
        {"--quiet", "-q", NULL, "say nothing but what is wrong", NULL},                            \
        {"--energy-limit", NULL, "SHARE",                                                          \
         "exit code 1 if the energy error exceeds this share of the energy converted", NULL},      \
    {                                                                                              \
        "--json", NULL, NULL, "print run.json at the end, and nothing else", NULL                  \
    }

/* --- run_signals.c --- */

/* Makes one thread wait for Ctrl-C and SIGTERM, which end the program. To be called before any other
 * thread starts. */
void await_signals(void);
/* In a child process: signals act as usual again. */
void release_signals(void);
/* From now on the first Ctrl-C or SIGTERM ends the run in this directory with a checkpoint; NULL: what
 * goes on is no run, and can always stop at once. */
void catch_run_signals(const char *directory, bool on_terminal);
/* Whether one of them has come. The caller is expected to stop. */
bool is_run_signalled(void);
/* The exit code of a run that one of them has ended: 130 or 143. */
int run_signal_exit(void);

/* --- progress.c --- */

void progress_show(const char *name, const tw_run_progress *p);
/* "NAME  12 of 300 frames" */
void progress_count(const char *name, int64_t done, int64_t all);
/* Removes the line. */
void progress_clear(void);
/* From now on the warnings of the library are lines on stderr. */
void show_warnings(void);

#endif
