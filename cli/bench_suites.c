/* The suites of `twang bench`: tables and figures of the papers, and studies of our own, as data. */
#include <stdio.h>
#include <string.h>

#include "bench.h"

#define IMPLICIT          "midpoint,generalized-alpha,newmark,bdf1,bdf2"
#define RIVALS_OF_TABLE_2 "expmid2,exprb42,pexprb43,exprb2,v-imex,rk4,verlet," IMPLICIT ",cvode"
#define RIVALS_OF_TABLE_1 "expmid2,exprb42,epirk4s3,gautschi," IMPLICIT ",rk4,verlet,cvode"
/* On the bunny, SAI of the paper is exprb2 by shift-invert, EI exprb2 by a Krylov space, NR bdf1. */
#define RIVALS_ON_BUNNY                                                                            \
    "exprb2:shift-invert,exprb2:lanczos,exprb2:chebyshev,exprb42:shift-invert,expmid2," IMPLICIT   \
    ",rk4,verlet,cvode"

/* Two by two bristles, and a ball of fewer rings. */
#define FOUR_BRISTLES                                                                              \
    "bodies.0.columns=2 bodies.0.rows=2 bodies.0.spacing=0.012 obstacles.0.rings=12"

/* Rows of the bunny: its motion is linear, so that a fine exponential scheme of another order and
 * another engine is a reference at any stiffness. */
#define BUNNY_JUDGE "exprb53:chebyshev"
#define BUNNY_ROW(suite, label, settings, schemes, error, quick, limit)                            \
    {                                                                                              \
        suite, label, "bunny", settings, schemes, error, quick, 0.114, "0.114 s of 3 min",         \
            BUNNY_JUDGE, limit                                                                     \
    }
#define BUNNY(label, settings, quick)                                                              \
    BUNNY_ROW("table1", label, settings, RIVALS_ON_BUNNY, 1e-1, quick, 1)

static const suite_row rows[] = {
    /* Table 2 of the texts of 2018, 2021 and 2022. */
    {"table2", "1 coil", "coil", "phi.tolerance=1e-3", RIVALS_OF_TABLE_2, 1e-2, 10, 10,
     "10 s of 60 s", NULL, 10},
    /* The bristles move with their roots: this error is about 5 % of how they bend (bench/measure_brush). */
    {"table2", "2 brushing", "brush", FOUR_BRISTLES, RIVALS_OF_TABLE_2, 2e-3, 0, 0.35,
     "4 of 1500 bristles; 0.35 s of 15 s", "bdf2", 4},
    {"table2", "3 crash moderate", "crash-moderate", "bodies.0.vertices=2000", RIVALS_OF_TABLE_2,
     5e-2, 0.02, 0.1, "2000 of 120000 vertices; 0.1 s of 2 s", "rk4", 3},
    {"table2", "4 crash fast", "crash-fast", "bodies.0.vertices=2000", RIVALS_OF_TABLE_2, 5e-2,
     0.02, 0.1, "2000 of 120000 vertices; 0.1 s of 2 s", "rk4", 3},
    {"table2", "dragon", "dragon", "bodies.0.vertices=150000 bodies.0.extent=8", RIVALS_OF_TABLE_2,
     1e-2, 0, 0.2, "0.2 s of 10 s", NULL, 6},

    /* Table 1 of the paper of 2017. */
    BUNNY("0a bunny 1e6", "bodies.0.diagonal=1e8", 0.057),
    BUNNY("0b bunny 1e8", "bodies.0.diagonal=1e10", 0.057),
    BUNNY("0c bunny 1e10", "bodies.0.diagonal=1e12", 0),
    BUNNY("1a bunny 3k", "bodies.0.diagonal=1e11", 0),
    BUNNY("1b bunny 12k", "bodies.0.diagonal=1e11 bodies.0.vertices=4000", 0),
    BUNNY("1c bunny 24k", "bodies.0.diagonal=1e11 bodies.0.vertices=8000", 0),
    {"table1", "2 flag", "flag", "", RIVALS_OF_TABLE_1, 1e-1, 0.05, 0.5, "0.5 s of 6 s", "rk4", 3},
    {"table1", "3a eiffel stiff", "eiffel-stiff", "", RIVALS_OF_TABLE_1, 1e-1, 0, 1, "1 s of 12 s",
     "midpoint", 4},
    {"table1", "3b eiffel", "eiffel", "", RIVALS_OF_TABLE_1, 1e-1, 0, 1, "1 s of 12 s", "midpoint",
     4},
    {"table1", "4 head shake", "hair", "bodies.0.count=100", RIVALS_OF_TABLE_1, 1e-1, 0, 0.2,
     "100 of 60000 fibres; 0.2 s of 4 s", NULL, 3},
    {"table1", "6 bacterium", "bacterium", "", RIVALS_OF_TABLE_1, 1e-1, 0, 0.1, "0.1 s of 2 s",
     "bdf2", 3},

/* Figure 3 of the paper of 2017: time against error on the bunny, for three ratios of stiffness. The
 * tolerance of phi-functions is half the error that is asked for. */
#define FIGURE_3_SCHEMES                                                                           \
    "exprb2:shift-invert,exprb2:lanczos,exprb2:chebyshev,midpoint,bdf2,rk4,verlet"
#define AT_ERROR(ratio, diagonal, error, tolerance)                                                \
    BUNNY_ROW("fig3", ratio " error " #error,                                                      \
              "phi.tolerance=" tolerance " bodies.0.diagonal=" diagonal, FIGURE_3_SCHEMES, error,  \
              0, 1.5)
#define FIGURE_3(ratio, diagonal)                                                                  \
    AT_ERROR(ratio, diagonal, 1e-1, "5e-2"), AT_ERROR(ratio, diagonal, 1e-2, "5e-3"),              \
        AT_ERROR(ratio, diagonal, 1e-3, "5e-4"), AT_ERROR(ratio, diagonal, 1e-4, "5e-5")
    FIGURE_3("1e6", "1e8"),
    FIGURE_3("1e8", "1e10"),
    FIGURE_3("1e10", "1e12"),

/* FPUT: errors at the steps of the texts, and cost at equal error. */
#define FPUT_SCHEMES "exprb2,pexprb43,exprb42,expmid2,rk4,verlet,cvode"
#define FPUT(label, settings, error)                                                               \
    {                                                                                              \
        "fput", label, "fput", settings, FPUT_SCHEMES, error, 10, 100, "all", NULL, 0              \
    }
    FPUT("h 0.02", "integrator.step=0.02", 0),
    FPUT("h 0.01", "integrator.step=0.01", 0),
    FPUT("h 0.005", "integrator.step=0.005", 0),
    FPUT("h 0.0025", "integrator.step=0.0025", 0),
    FPUT("h 0.00125", "integrator.step=0.00125", 0),
    FPUT("error 1e-3", "", 1e-3),
    FPUT("error 1e-6", "", 1e-6),

/* Stiffness over ten decades, at the scene's step and at equal error: of links, of the springs from
 * vertices to faces, and Young's modulus of twenty hairs. */
#define SWEPT "expmid2,exprb2:shift-invert,exprb42,midpoint,bdf2,verlet,rk4,cvode"
#define AT(name, k, scene, settings, error, full, judge)                                           \
    {                                                                                              \
        "sweep", name " " k, scene, settings k, SWEPT, error, full, full, NULL, judge, 1           \
    }
#define DECADES(name, scene, settings, error, full, judge)                                         \
    AT(name, "1e2", scene, settings, error, full, judge),                                          \
        AT(name, "1e4", scene, settings, error, full, judge),                                      \
        AT(name, "1e6", scene, settings, error, full, judge),                                      \
        AT(name, "1e8", scene, settings, error, full, judge),                                      \
        AT(name, "1e10", scene, settings, error, full, judge),                                     \
        AT(name, "1e12", scene, settings, error, full, judge)
#define STIFF_LINKS "bodies.0.stiffness="
#define STIFF_BUNNY "bodies.0.diagonal="
/* The shear modulus must not be above Young's: both are the same. */
#define HAIR(name, k, error)                                                                       \
    AT("hair " name, k, "hair",                                                                    \
       "bodies.0.count=20 bodies.0.shear_modulus=" k " bodies.0.youngs_modulus=", error, 0.1,      \
       NULL)
#define HAIRS(name, error)                                                                         \
    HAIR(name, "1e2", error), HAIR(name, "1e4", error), HAIR(name, "1e6", error),                  \
        HAIR(name, "1e8", error), HAIR(name, "1e10", error), HAIR(name, "1e12", error)
    DECADES("rope fixed step", "rope", STIFF_LINKS, 0, 0.4, NULL),
    DECADES("rope error 1e-3", "rope", STIFF_LINKS, 1e-3, 0.4, NULL),
    DECADES("bunny fixed step", "bunny", STIFF_BUNNY, 0, 0.114, BUNNY_JUDGE),
    DECADES("bunny error 1e-1", "bunny", STIFF_BUNNY, 1e-1, 0.114, BUNNY_JUDGE),
    HAIRS("fixed step", 0),
    HAIRS("error 1e-2", 1e-2),

/* The number of unknowns, at the same step. */
#define COIL(n, quick)                                                                             \
    {                                                                                              \
        "scaling", "coil " n, "coil", "integrator.step=0.25 bodies.0.sections=" n,                 \
            "expmid2,exprb42,midpoint,verlet", 0, quick, 1, NULL, NULL, 10                         \
    }
    COIL("125", 0.25),
    COIL("500", 0.25),
    COIL("2000", 0),
    COIL("8000", 0),
};

const suite_row *suite_row_at(int index)
{
    enum { ROW_COUNT = sizeof rows / sizeof *rows };
    return index >= 0 && index < ROW_COUNT ? &rows[index] : NULL;
}

bool is_suite(const char *name)
{
    for (int i = 0; suite_row_at(i); i++)
        if (strcmp(rows[i].suite, name) == 0) return true;
    return false;
}

enum { MOST_SETTINGS = 8 };

tw_status load_suite_row(const suite_row *row, double duration, tw_scene **scene, tw_error *error)
{
    /* The settings of the row, one after another. */
    char text[256];
    tw_scene_setting list[MOST_SETTINGS];
    int count = 0;
    snprintf(text, sizeof text, "%s", row->settings);
    for (char *word = text; *word;) {
        /* The next word, up to a blank or the end. */
        char *next = word + strcspn(word, " ");
        if (*next) *next++ = 0;
        char *equals = strchr(word, '=');
        if (!equals || count + 3 > MOST_SETTINGS) return TW_INTERNAL;
        *equals = 0;
        list[count++] = (tw_scene_setting){row->label, word, equals + 1};
        word = next;
    }

    /* The duration, and no acceptance values. */
    char seconds[40];
    snprintf(seconds, sizeof seconds, "%.9g", duration);
    if (duration > 0) list[count++] = (tw_scene_setting){row->label, "duration", seconds};
    list[count++] = (tw_scene_setting){row->label, "tests", NULL};

    char buffer[1024];
    const char *path = find_scene(row->scene, buffer, sizeof buffer);
    if (!path) return TW_UNSUPPORTED;
    return tw_scene_load(path, count, list, scene, error);
}
