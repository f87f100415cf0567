/* Prints docs/scene-format.md from the schema: build/scene_format > docs/scene-format.md. A test compares the two. */
#include <stdio.h>
#include <string.h>
#include <twang/scene.h>

static const char head[] =
    "# The scene file\n\n"
    "A scene is a YAML file (UTF-8, one document, no anchors, aliases or tags) that says what is "
    "simulated and how. "
    "This\n"
    "page is made from the schema that also checks scenes (`build/scene_format`). SI units, z up. "
    "Numbers are decimal\n"
    "with a point, whatever the locale; `60s`, `nan` and `0x10` are refused. Every key can be set "
    "from the command "
    "line by\n"
    "its path: `--set bodies.0.stiffness=1e8`, `--set gravity='[0, 0, -1.62]'`. What is wrong is "
    "said in one line with "
    "its\n"
    "place: `rope.yaml:12:5: unknown key bodies.0.stifness, did you mean stiffness?`\n\n"
    "```yaml\n"
    "name: rope\n"
    "duration: 0.4                     # s\n"
    "gravity: [0, 0, -9.81]            # m/s^2\n"
    "integrator: {name: exprb42, step: 0.0025}\n"
    "phi: {name: auto, tolerance: 1e-8}\n"
    "bodies:\n"
    "  - {kind: rope, count: 10, length: 0.1, mass: 0.1, stiffness: 1e4}\n"
    "pins:\n"
    "  - {body: 0, from: 0}            # the first particle is held\n"
    "```\n";

/* What stands in a cell must not end it. */
static void print_cell(const char *text)
{
    for (; *text; text++) {
        if (*text == '|') putchar('\\');
        putchar(*text);
    }
}

static void print_default(const tw_scene_key *key)
{
    if (key->required)
        printf("required");
    else if (key->fallback[0])
        printf("`%s`", key->fallback);
}

static void print_key(const tw_scene_key *key)
{
    printf("| `%s` | ", key->key);
    print_cell(key->type);
    printf(" | ");
    print_default(key);
    printf(" | ");
    print_cell(key->text);
    if (key->kinds[0]) printf(" (%s)", key->kinds);
    printf(" |\n");
}

int main(void)
{
    const char *section = NULL;
    tw_scene_key key;
    printf("%s", head);
    for (int i = 0; tw_scene_key_at(i, &key) == TW_OK; i++) {
        if (!section || strcmp(section, key.section) != 0)
            printf("\n## %s%s%s\n| key | value | default | meaning |\n|---|---|---|---|\n",
                   key.section[0] ? "`" : "", key.section[0] ? key.section : "Top level",
                   key.section[0] ? "`" : "");
        section = key.section;
        print_key(&key);
    }
    return 0;
}
