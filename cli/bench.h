/* What the files of `twang bench` share: a bench is one scene with its reference and its trials. */
#ifndef CLI_BENCH_H
#define CLI_BENCH_H

#include "command.h"

enum { MOST_TRIALS = TW_SCHEME_COUNT, MOST_REPEATS = 15, WHY_SIZE = 160 };

/* Who is compared: an integrator, and its engine of phi-functions if not the scene's. */
typedef struct contestant {
    tw_scheme scheme;
    tw_phi_engine engine; /* TW_PHI_ENGINE_COUNT: the scene's */
} contestant;

/* One integrator on the scene, at the step that was found for it. */
typedef struct trial {
    contestant who;
    tw_status status;
    bool is_extrapolated; /* seconds are scaled from a part of the duration, or to a smaller step */
    char why[WHY_SIZE];   /* why it failed, or how its seconds were scaled; "" otherwise */
    double step;          /* [s]; the relative tolerance of a scheme that has_own_steps */
    double reached;       /* simulated seconds */
    double error;         /* against the reference; INFINITY if it is not known */
    double energy_drift; /* largest energy error over the energy converted, as `twang run` has it */
    double seconds;      /* of computing (bench_clock): the median of the repeats */
    double repeats[MOST_REPEATS];
    int repeat_count;
    int64_t memory; /* largest number of bytes in use */
    tw_integrator_statistics counts;
} trial;

/* The end of the scene, computed finely and extrapolated from two steps (bench_reference.c). */
typedef struct reference {
    tw_scheme scheme;
    double step;     /* the smaller one [s] */
    double error;    /* estimate of its own error, from the difference of the two */
    bool was_cached; /* read from the folder of references */
    double *rows;    /* table of the state at the end */
} reference;

typedef struct bench {
    const char *suite; /* name of the suite and of its row; "" for a single scene */
    const char *label;
    const char *part;  /* which part of the papers' scene the row is; "" if all, or none */
    contestant judge;  /* computes the reference; its scheme is TW_SCHEME_COUNT: choose one */
    int place, places; /* of the row among those of the suite that are measured, from 1; 0: none */
    tw_scene *scene;
    tw_simulation *simulation;
    tw_integrator_options options; /* the scene's */
    double duration;               /* [s] */
    double omega;                  /* highest frequency at t = 0 [1/s]; 0 if unknown */
    double wanted;          /* error that is asked for; 0: the scene's step is taken as it is */
    double limit;           /* seconds for one trial; a scheme has twice that for all its steps */
    double reference_limit; /* seconds for the reference; 0: as long as it takes */
    double deadline; /* of bench_clock: the search for a step of the present scheme ends [s] */
    int repeats;     /* times that each trial is made, in turns */
    tw_scheme rival; /* ratios are given to it as well; TW_SCHEME_COUNT: to none */
    int64_t rows;    /* of the tables below */
    int columns;     /* of the tables below */
    int coordinates; /* columns that are a position */
    double *start;   /* table of the state at t = 0; owns the tables */
    double *end;     /* table of a trial */
    reference reference;
    trial trials[MOST_TRIALS];
    int trial_count;
} bench;

/* --- bench_trial.c --- */

/* Seconds by which trials are judged: of the processor with one thread, so that other work on the
 * machine counts little; of the clock with several. */
double bench_clock(void);
const char *bench_clock_name(void);
/* Contact and flow divide steps by two, so that steps of h and h/2 may have met them with the same parts:
 * their difference tells nothing of the error then. This share of a step has no part in common. */
static const double BENCH_OTHER_PARTS = 2.0 / 3;
/* Builds the scene and finds its start; b->scene is set. */
tw_status bench_prepare(bench *b, tw_error *error);
void bench_release(bench *b);
/* Integrates from the start to the end with t->scheme and t->step, and writes the table of the end
 * into `rows`. Sets status, reached, seconds, memory, energy_drift and counts. */
void bench_integrate(bench *b, trial *t, double *rows);
/* The distance between two tables, relative to the distance that the second is from the start. */
double bench_distance(const bench *b, const double *table, const double *other);

/* --- bench_reference.c --- */

tw_status bench_find_reference(bench *b);

/* --- bench_search.c --- */

/* The largest step at which a scheme is stable; INFINITY if there is no limit, or the frequency is
 * not known. */
double bench_stable_step(const bench *b, tw_scheme scheme);
/* The scene's own step, or less where a scheme needs it. */
double bench_first_step(const bench *b, tw_scheme scheme);
/* Adds the best trial of a scheme: at the largest step that meets b->wanted. */
void bench_try_scheme(bench *b, contestant who);
/* Makes all trials again, in turns, and takes the medians of their seconds. */
void bench_repeat_trials(bench *b);

/* --- bench_output.c --- */

typedef enum bench_format { BENCH_TABLE, BENCH_CSV, BENCH_JSON } bench_format;
void bench_print(const bench *b, bench_format format);
void bench_print_csv_header(void);
/* A row of CSV for a scene that could not be measured at all. */
void bench_print_csv_failure(const bench *b, const char *why);
/* "exprb2", or "exprb2:lanczos" where the engine is not the scene's; in `name`, which is returned. */
enum { NAME_SIZE = 64 };
const char *bench_name(contestant who, char name[NAME_SIZE]);
/* A line on stderr that says what is done next: "table1 0a bunny: expmid2, 1 of 8". */
void bench_tell(const bench *b, const char *what, int index, int count);
/* A bar per trial. False after it has complained. */
bool bench_write_svg(const bench *b, const char *path);
double bench_best_seconds(const bench *b);

/* --- bench_suites.c --- */

/* One scene of a suite. */
typedef struct suite_row {
    const char *suite;
    const char *label;
    const char *scene;
    const char *settings; /* "KEY=VALUE KEY=VALUE" */
    const char *schemes;  /* "A,B:ENGINE" */
    double error;         /* 0: the scene's step */
    double quick;         /* seconds to simulate with --quick; 0: left out */
    double full;          /* with --full; 0: left out */
    const char *part;     /* of the papers' scene, with --full; NULL: none to compare with */
    const char
        *judge;   /* "A:ENGINE" that computes the reference; NULL: as bench_reference.c chooses */
    double limit; /* seconds of a trial with --full; 0: the usual ones */
} suite_row;

/* The index-th row of all suites; NULL past the last. */
const suite_row *suite_row_at(int index);
bool is_suite(const char *name);
/* Loads the scene of a row. */
tw_status load_suite_row(const suite_row *row, double duration, tw_scene **scene, tw_error *error);

#endif
