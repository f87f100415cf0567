/* Lists what there is. */
#include <stdio.h>
#include <string.h>

#include "command.h"

enum { LIST_COUNT = 3 };
static const char *const lists[LIST_COUNT] = {"scenes", "integrators", "phi"};

static const char *what_choice(int index)
{
    return index >= 0 && index < LIST_COUNT ? lists[index] : NULL;
}

/* A list under construction: as lines, or as a JSON list of objects. */
typedef struct listing {
    bool json;
    int count;
    style look;
} listing;

static void begin_entry(listing *l, const char *name)
{
    if (l->json) {
        printf("%s\n  {\"name\": ", l->count ? "," : "");
        print_json_string(name);
    } else {
        printf("%s%-18s%s", l->look.bold, printable(name), l->look.plain);
    }
    l->count++;
}

static void end_entry(listing *l, const char *line)
{
    if (l->json) {
        printf(", \"text\": ");
        print_json_string(line);
        printf("}");
    } else {
        printf(" %s\n", printable(line));
    }
}

static void list_scene(void *context, const char *name, const char *path, const char *line)
{
    listing *l = context;
    begin_entry(l, name);
    if (l->json) {
        printf(", \"path\": ");
        print_json_string(path);
    }
    end_entry(l, line);
}

static void list_integrators(listing *l)
{
    for (int i = 0; i < TW_SCHEME_COUNT; i++) {
        tw_scheme scheme = (tw_scheme)i;
        bool is_built_in = tw_scheme_available(scheme);

        begin_entry(l, tw_scheme_name(scheme));
        if (l->json)
            printf(", \"order\": %d, \"available\": %s", tw_scheme_order(scheme),
                   is_built_in ? "true" : "false");
        else
            printf(" %sorder %d%s ", l->look.dim, tw_scheme_order(scheme), l->look.plain);

        /* JSON has a key for it, text has a note. */
        char line[256];
        const char *note = is_built_in || l->json ? "" : " (not built in)";
        snprintf(line, sizeof line, "%s%s", tw_scheme_line(scheme), note);
        end_entry(l, line);
    }
}

static void list_phi(listing *l)
{
    /* What each engine does, in a line. */
    static const char *const lines[] = {
        [TW_PHI_AUTO] = "chooses among the others by a cost model, the same on every machine",
        [TW_PHI_DENSE] = "eigenvalues or scaling and squaring: exact, for a few hundred unknowns",
        [TW_PHI_PHIPM] = "adaptive Arnoldi with substeps (Niesen and Wright)",
        [TW_PHI_PHIPM_IOM2] = "the same, incompletely orthogonalised",
        [TW_PHI_PHIPM_SIMUL_IOM2] = "the same, all stages in one sweep: the papers' engine",
        [TW_PHI_KIOPS] = "augmented Krylov with incomplete orthogonalisation",
        [TW_PHI_EXPMV] = "Taylor polynomials (Al-Mohy and Higham)",
        [TW_PHI_LEJA] = "Newton interpolation at Leja points",
        [TW_PHI_LANCZOS] = "symmetric Lanczos on the stiffness: half the length, three terms",
        [TW_PHI_CHEBYSHEV] = "Chebyshev polynomials: no inner products, no stored basis",
        [TW_PHI_SHIFT_INVERT] =
            "rational Krylov, one sparse factorisation: cost independent of stiffness",
    };

    for (int i = 0; i < TW_PHI_ENGINE_COUNT; i++) {
        begin_entry(l, tw_phi_engine_name((tw_phi_engine)i));
        end_entry(l, lines[i]);
    }
}

static int no_such_list(const char *what)
{
    const char *nearest = tw_nearest_name(what, lists, LIST_COUNT);
    if (nearest) return wrong_use("there is no list of '%s', did you mean '%s'?", what, nearest);
    return wrong_use("there is no list of '%s', only of scenes, integrators and phi", what);
}

static int list(const arguments *a)
{
    const char *what = a->positional[0];
    bool known = false;
    for (int i = 0; i < LIST_COUNT; i++) known = known || strcmp(what, lists[i]) == 0;
    if (!known) return no_such_list(what);

    /* A JSON list has its brackets also if it is empty. */
    listing l = {.json = is_given(a, "--json"), .look = style_for_stdout()};
    if (l.json) printf("[");
    if (strcmp(what, "scenes") == 0)
        visit_scenes(list_scene, &l);
    else if (strcmp(what, "integrators") == 0)
        list_integrators(&l);
    else
        list_phi(&l);

    if (l.json)
        printf("\n]\n");
    else if (l.count == 0)
        printf("no scenes here; TWANG_SCENES can name a folder with some\n");
    return EXIT_DONE;
}

static const option options[] = {{"--json", NULL, NULL, "print the list as JSON", NULL}, {0}};

const verb verb_list = {
    .name = "list",
    .synopsis = "scenes|integrators|phi [--json]",
    .line = "list what there is: scenes, integrators, phi",
    .text =
        "Lists the scenes that come with twang, the integrators, or the engines for phi-functions.",
    .options = options,
    .positional = "one of scenes, integrators, phi",
    .positional_least = 1,
    .positional_most = 1,
    .choice = what_choice,
    .run = list,
};
