/* Prints completion scripts for shells. They are made from the tables of verbs and options. */
#include <stdio.h>
#include <string.h>

#include "command.h"

static const char *shell_choice(int index)
{
    static const char *const words[] = {"bash", "zsh", "fish"};
    enum { WORD_COUNT = sizeof words / sizeof *words };
    return index >= 0 && index < WORD_COUNT ? words[index] : NULL;
}

static void print_choices(const char *(*choice)(int index))
{
    for (int i = 0; choice(i); i++) printf("%s%s", i ? " " : "", choice(i));
}

static void print_verbs(void)
{
    for (int i = 0; all_verbs[i]; i++) printf("%s%s", i ? " " : "", all_verbs[i]->name);
}

static void print_scene_name(void *context, const char *name, const char *path, const char *line)
{
    (void)context;
    (void)path;
    (void)line;
    printf(" %s", name);
}

/* ---- bash ---- */

/* The words that may follow each option whose value is one of a list. */
static void bash_values(const verb *v)
{
    for (const option *o = v->options; o->name; o++) {
        if (!o->choice) continue;

        printf("        %s,%s) words=\"", v->name, o->name);
        print_choices(o->choice);
        printf("\" ;;\n");
    }
}

static void bash_verb(const verb *v)
{
    printf("        %s)\n            options=\"", v->name);
    for (const option *o = v->options; o->name; o++) printf("%s ", o->name);

    /* The words for the first argument; without a list also the names of files. */
    printf("--help\"\n            words=\"");
    if (v->choice)
        print_choices(v->choice);
    else if (strcmp(v->positional, "SCENE") == 0)
        visit_scenes(print_scene_name, NULL);
    printf("\"\n            %s ;;\n", v->choice ? "files=no" : "files=yes");
}

static void print_bash(void)
{
    /* The first word after the command is a verb. */
    printf("# twang completion for bash: source <(twang completion bash)\n"
           "_twang() {\n"
           "    local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]} "
           "verb=${COMP_WORDS[1]}\n"
           "    local words=\"\" options=\"\" files=no\n"
           "    if [ \"$COMP_CWORD\" -eq 1 ]; then\n"
           "        COMPREPLY=($(compgen -W \"");
    print_verbs();

    /* The value of an option. */
    printf(" --help --version\" -- \"$current\"))\n        return\n    fi\n    case "
           "$verb,$previous in\n");
    for (int i = 0; all_verbs[i]; i++) bash_values(all_verbs[i]);

    /* An option, or an argument of the verb. */
    printf("    esac\n    if [ -z \"$words\" ]; then\n        case $verb in\n");
    for (int i = 0; all_verbs[i]; i++) bash_verb(all_verbs[i]);
    printf("        esac\n    fi\n"
           "    case $current in -*) words=$options files=no ;; esac\n"
           "    COMPREPLY=($(compgen -W \"$words\" -- \"$current\"))\n"
           "    [ $files = no ] || COMPREPLY+=($(compgen -f -- \"$current\"))\n"
           "}\n"
           "complete -o filenames -F _twang twang\n");
}

/* ---- zsh ---- */

/* A text inside single quotes, where _arguments gives brackets and colons a meaning. */
static void zsh_quoted(const char *text)
{
    for (; *text; text++) {
        if (*text == '\'')
            printf("'\\''");
        else if (strchr("[]:", *text))
            printf("\\%c", *text);
        else
            putchar(*text);
    }
}

static void zsh_option(const option *o)
{
    printf(" \\\n                '%s[", o->name);
    zsh_quoted(o->line);
    printf("]");

    /* What may follow it. */
    if (o->value) {
        printf(":%s:", o->value);
        if (o->choice) {
            printf("(");
            print_choices(o->choice);
            printf(")");
        } else if (strcmp(o->value, "DIR") == 0) {
            printf("_files -/");
        }
    }
    printf("'");
}

static void zsh_verb(const verb *v)
{
    printf("        %s)\n            _arguments", v->name);
    for (const option *o = v->options; o->name; o++) zsh_option(o);

    /* The first argument. */
    if (v->choice) {
        printf(" \\\n                '1: :(");
        print_choices(v->choice);
        printf(")'");
    } else {
        printf(" \\\n                '1:%s:_files'", v->positional);
    }
    printf(" ;;\n");
}

static void print_zsh(void)
{
    /* The first word after the command is a verb, with what it does. */
    printf("#compdef twang\n"
           "# twang completion for zsh: twang completion zsh > a folder of $fpath, as _twang\n"
           "_twang() {\n"
           "    if (( CURRENT == 2 )); then\n"
           "        _values verb");
    for (int i = 0; all_verbs[i]; i++) {
        printf(" \\\n            '%s[", all_verbs[i]->name);
        zsh_quoted(all_verbs[i]->line);
        printf("]'");
    }

    /* After it, what the verb takes. */
    printf("\n        return\n    fi\n    local verb=$words[2]\n    shift words\n    (( CURRENT-- "
           "))\n    case $verb "
           "in\n");
    for (int i = 0; all_verbs[i]; i++) zsh_verb(all_verbs[i]);
    printf("    esac\n}\n_twang \"$@\"\n");
}

/* ---- fish ---- */

static void fish_quoted(const char *text)
{
    for (; *text; text++) {
        if (*text == '\'' || *text == '\\') putchar('\\');
        putchar(*text);
    }
}

static void fish_option(const verb *v, const option *o)
{
    /* Without the dashes of its names. */
    printf("complete -c twang -n '__fish_seen_subcommand_from %s' -l %s", v->name, o->name + 2);
    if (o->brief) printf(" -s %s", o->brief + 1);
    if (o->value) printf(" -r");
    if (o->choice) {
        printf(" -f -a '");
        print_choices(o->choice);
        printf("'");
    }

    printf(" -d '");
    fish_quoted(o->line);
    printf("'\n");
}

static void print_fish(void)
{
    printf("# twang completion for fish: twang completion fish > "
           "~/.config/fish/completions/twang.fish\n");
    for (int i = 0; all_verbs[i]; i++) {
        const verb *v = all_verbs[i];
        printf("complete -c twang -f -n __fish_use_subcommand -a %s -d '", v->name);
        fish_quoted(v->line);
        printf("'\n");

        for (const option *o = v->options; o->name; o++) fish_option(v, o);
        if (!v->choice) continue;

        printf("complete -c twang -f -n '__fish_seen_subcommand_from %s' -a '", v->name);
        print_choices(v->choice);
        printf("'\n");
    }
}

/* ---- the verb ---- */

static int completion(const arguments *a)
{
    const char *shell = a->positional[0];
    if (strcmp(shell, "bash") == 0)
        print_bash();
    else if (strcmp(shell, "zsh") == 0)
        print_zsh();
    else if (strcmp(shell, "fish") == 0)
        print_fish();
    else
        return wrong_use("there is no completion for '%s', only for bash, zsh and fish", shell);
    return EXIT_DONE;
}

static const option options[] = {{0}};

const verb verb_completion = {
    .name = "completion",
    .synopsis = "bash|zsh|fish",
    .line = "print a completion script for a shell",
    .text = "Prints a completion script:\n\n"
            "  source <(twang completion bash)\n"
            "  twang completion fish > ~/.config/fish/completions/twang.fish",
    .options = options,
    .positional = "the shell",
    .positional_least = 1,
    .positional_most = 1,
    .choice = shell_choice,
    .run = completion,
};
