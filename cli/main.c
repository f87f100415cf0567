/* twang: simulates stiff elastic systems with exponential integrators. */
#include <stdio.h>
#include <string.h>

#include "command.h"

const verb *const all_verbs[] = {&verb_run,    &verb_new,          &verb_view,  &verb_report,
                                 &verb_resume, &verb_check,        &verb_bench, &verb_export,
                                 &verb_mesh,   &verb_fetch_meshes, &verb_list,  &verb_completion,
                                 NULL};

static void print_examples(const style *s)
{
    printf("%sThree commands to begin with%s\n", s->bold, s->plain);
    printf("  twang list scenes                       what there is to simulate\n");
    printf("  twang run rope                          ten stiff links swing, into runs/rope-1\n");
    printf("  twang export runs/rope-1 --format vtu   then open runs/rope-1/frames.pvd in "
           "ParaView\n\n");

    printf("%sThen%s\n", s->bold, s->plain);
    printf("  twang check coil                        what would be simulated, and which steps "
           "suit it\n");
    printf("  twang run coil --duration 10 -o coil    Ctrl-C ends it at once; nothing is "
           "lost:\n");
    printf("  twang resume coil                       goes on, to the same bytes\n");
    printf("  twang run rope --integrator verlet --dt 1e-4 --set bodies.0.stiffness=1e8\n\n");
}

static void print_help(void)
{
    style s = style_for_stdout();
    printf("%stwang%s simulates stiff elastic systems with exponential integrators.\n\n", s.bold,
           s.plain);
    print_examples(&s);

    printf("A scene is a YAML file that says what is simulated and how: copy one of `twang list "
           "scenes --json`,\n"
           "change it, run it. A run leaves a directory with scene.yaml, run.json, telemetry.csv "
           "(a row per step),\n"
           "frames/, final.csv and checkpoint.bin.\n\n");

    printf("%sVerbs%s\n", s.bold, s.plain);
    for (int i = 0; all_verbs[i]; i++)
        printf("  %-13s %s\n", all_verbs[i]->name, all_verbs[i]->line);

    printf(
        "\n`twang VERB --help` says more, `man twang` all of it. `twang --version` prints the "
        "version,\n`twang --version --verbose` also the libraries in use and their licences.\n"
        "Exit codes: 0 done, 1 the run failed, 2 wrong use or bad input, 130/143 interrupted.\n");
}

static const verb *find_verb(const char *name)
{
    for (int i = 0; all_verbs[i]; i++)
        if (strcmp(all_verbs[i]->name, name) == 0) return all_verbs[i];
    return NULL;
}

static int unknown_verb(const char *word)
{
    if (word[0] == '-') return wrong_use("unknown option '%s', try twang --help", word);

    /* The verb that was probably meant. */
    const char *names[sizeof all_verbs / sizeof *all_verbs];
    int count = 0;
    for (; all_verbs[count]; count++) names[count] = all_verbs[count]->name;
    const char *nearest = tw_nearest_name(word, names, count);
    if (nearest) return wrong_use("unknown verb '%s', did you mean '%s'?", word, nearest);
    return wrong_use("unknown verb '%s', twang --help lists them", word);
}

static bool asks_for_help(const char *word)
{
    return strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0;
}

static int run_verb(const verb *v, int count, char **words)
{
    for (int i = 0; i < count && strcmp(words[i], "--") != 0; i++) {
        if (!asks_for_help(words[i])) continue;
        print_verb_help(v);
        return EXIT_DONE;
    }

    /* parse_arguments has complained if it fails. */
    arguments a;
    if (!parse_arguments(v, count, words, &a)) return EXIT_WRONG_USE;
    return v->run(&a);
}

/* `twang help`, `twang help VERB`. Returns the exit code. */
static int help(int count, char **words)
{
    const verb *about = count > 2 ? find_verb(words[2]) : NULL;
    if (count > 2 && !about && !asks_for_help(words[2])) return unknown_verb(words[2]);
    if (about)
        print_verb_help(about);
    else
        print_help();
    return EXIT_DONE;
}

int main(int count, char **words)
{
    /* Whatever is written: a full disk is an error, and not the end of the program. */
    catch_file_limit();
    if (count < 2) return wrong_use("a verb is missing, twang --help shows how to begin");

    const char *word = words[1];
    if (asks_for_help(word) || strcmp(word, "help") == 0) return close_output(help(count, words));
    if (strcmp(word, "--version") == 0) {
        bool verbose = count == 3 && strcmp(words[2], "--verbose") == 0;
        if (count > 2 && !verbose) return wrong_use("--version takes nothing but --verbose");
        print_version(verbose);
        return close_output(EXIT_DONE);
    }

    const verb *v = find_verb(word);
    if (!v) return unknown_verb(word);
    return close_output(run_verb(v, count - 2, words + 2));
}
