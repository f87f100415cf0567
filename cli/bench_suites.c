/* The suites of `twang bench`: tables and figures of the papers, and studies of our own, as data. */
#include <stdio.h>
#include <string.h>

#include "bench.h"

#define RIVALS_OF_TABLE_2                                                                          \
    "expmid2,exprb42,pexprb43,exprb2,v-imex,rk4,verlet,midpoint,generalized-alpha,newmark,bdf1,"   \
    "bdf2,cvode"
#define RIVALS_OF_TABLE_1 "expmid2,gautschi,exprb42,midpoint,generalized-alpha,bdf1,rk4,verlet"
#define SWEPT             "expmid2,exprb42,midpoint"

static const suite_row rows[] = {
    /* Table 2 of the texts of 2018, 2021 and 2022. */
    {"table2", "1 coil", "coil", "phi.tolerance=1e-3", RIVALS_OF_TABLE_2, 1e-2, 10, 60},
    {"table2", "2 brushing", "brush", "", RIVALS_OF_TABLE_2, 5e-2, 0, 15},
    {"table2", "3 crash moderate", "crash", "", RIVALS_OF_TABLE_2, 5e-2, 0, 0},
    {"table2", "4 crash fast", "crash-fast", "", RIVALS_OF_TABLE_2, 5e-2, 0, 0},
    {"table2", "dragon", "dragon", "", RIVALS_OF_TABLE_2, 1e-2, 0.05, 10},

    /* Table 1 of the paper of 2017. */
    {"table1", "0a bunny 1e6", "bunny", "bodies.0.diagonal=1e8", RIVALS_OF_TABLE_1, 1e-1, 0.05, 1},
    {"table1", "0b bunny 1e8", "bunny", "bodies.0.diagonal=1e10", RIVALS_OF_TABLE_1, 1e-1, 0.05, 1},
    {"table1", "0c bunny 1e10", "bunny", "bodies.0.diagonal=1e12", RIVALS_OF_TABLE_1, 1e-1, 0.05,
     1},
    {"table1", "1a bunny 3k", "bunny", "bodies.0.diagonal=1e11 bodies.0.vertices=1000",
     RIVALS_OF_TABLE_1, 1e-1, 0.05, 1},
    {"table1", "1b bunny 12k", "bunny", "bodies.0.diagonal=1e11 bodies.0.vertices=4000",
     RIVALS_OF_TABLE_1, 1e-1, 0, 1},
    {"table1", "1c bunny 24k", "bunny", "bodies.0.diagonal=1e11 bodies.0.vertices=8000",
     RIVALS_OF_TABLE_1, 1e-1, 0, 1},
    {"table1", "2 flag", "flag", "", RIVALS_OF_TABLE_1, 1e-1, 0.05, 1},
    {"table1", "3a eiffel", "eiffel", "", RIVALS_OF_TABLE_1, 1e-1, 0.1, 12},
    {"table1", "3b eiffel stiff", "eiffel-stiff", "", RIVALS_OF_TABLE_1, 1e-1, 0.1, 12},
    {"table1", "4 head shake", "hair", "", RIVALS_OF_TABLE_1, 1e-1, 0, 0.2},
    {"table1", "5 tooth brushing", "brush", "", RIVALS_OF_TABLE_1, 5e-2, 0, 1},
    {"table1", "6 bacterium", "bacterium", "", RIVALS_OF_TABLE_1, 1e-1, 0.1, 2},

    /* Figure 3 of the paper of 2017: time against error on the bunny. */
    {"fig3", "error 1e-1", "bunny", "bodies.0.diagonal=1e8 bodies.0.vertices=1000",
     RIVALS_OF_TABLE_1, 1e-1, 0.05, 1},
    {"fig3", "error 1e-2", "bunny", "bodies.0.diagonal=1e8 bodies.0.vertices=1000",
     RIVALS_OF_TABLE_1, 1e-2, 0.05, 1},
    {"fig3", "error 1e-3", "bunny", "bodies.0.diagonal=1e8 bodies.0.vertices=1000",
     RIVALS_OF_TABLE_1, 1e-3, 0, 1},

/* FPUT: errors at the steps of the texts, and cost at equal error. */
#define FPUT_SCHEMES "exprb2,pexprb43,exprb42,expmid2,rk4,verlet"
    {"fput", "h 0.02", "fput", "integrator.step=0.02", FPUT_SCHEMES, 0, 10, 100},
    {"fput", "h 0.01", "fput", "integrator.step=0.01", FPUT_SCHEMES, 0, 10, 100},
    {"fput", "h 0.005", "fput", "integrator.step=0.005", FPUT_SCHEMES, 0, 10, 100},
    {"fput", "h 0.0025", "fput", "integrator.step=0.0025", FPUT_SCHEMES, 0, 10, 100},
    {"fput", "h 0.00125", "fput", "integrator.step=0.00125", FPUT_SCHEMES, 0, 10, 100},
    {"fput", "error 1e-3", "fput", "", FPUT_SCHEMES, 1e-3, 10, 100},
    {"fput", "error 1e-6", "fput", "", FPUT_SCHEMES, 1e-6, 10, 100},

/* Stiffness over ten decades: at the scene's step, and at equal error. */
#define ROPE(k)                                                                                    \
    {"sweep", "rope " k " fixed step", "rope", "bodies.0.stiffness=" k, SWEPT, 0, 0.4, 0.4},       \
    {                                                                                              \
        "sweep", "rope " k " error 1e-3", "rope", "bodies.0.stiffness=" k, SWEPT, 1e-3, 0.4, 0.4   \
    }
    ROPE("1e2"),
    ROPE("1e4"),
    ROPE("1e6"),
    ROPE("1e8"),
    ROPE("1e10"),
    ROPE("1e12"),
#define BUNNY(k)                                                                                   \
    {                                                                                              \
        "sweep", "bunny " k " fixed step", "bunny",                                                \
            "bodies.0.diagonal=" k " bodies.0.vertices=1000", SWEPT, 0, 0, 0.5                     \
    }
    BUNNY("1e4"),
    BUNNY("1e6"),
    BUNNY("1e8"),
    BUNNY("1e10"),
    BUNNY("1e12"),

/* The number of unknowns. */
#define COIL(n)                                                                                    \
    {                                                                                              \
        "scaling", "coil " n, "coil", "bodies.0.sections=" n, "expmid2,exprb42,verlet", 0, 0.2, 2  \
    }
    COIL("125"),
    COIL("250"),
    COIL("500"),
    COIL("1000"),
    {"scaling", "coil 2000", "coil", "bodies.0.sections=2000", "expmid2,exprb42,verlet", 0, 0, 2},
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
