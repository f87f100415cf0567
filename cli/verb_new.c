/* Makes a scene of a mesh: a file to run and to change. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "command.h"

/* A body of this longest side, with this stiffness and density, sags by about a tenth of its size. */
static const double SCENE_EXTENT = 1.5; /* m */

/* The name of a file without folders and suffix: the scene's name. */
static void stem_of(const char *path, size_t size, char *stem)
{
    const char *slash = strrchr(path, '/');
    const char *file = slash ? slash + 1 : path;
    const char *dot = strrchr(file, '.');
    size_t length = dot && dot > file ? (size_t)(dot - file) : strlen(file);
    snprintf(stem, size, "%.*s", (int)length, file);

    /* What a name of a scene cannot have becomes '_'. */
    for (char *p = stem; *p; p++) {
        bool is_letter = (*p >= 'a' && *p <= 'z') || (*p >= 'A' && *p <= 'Z');
        bool is_digit = *p >= '0' && *p <= '9';
        bool is_other = *p == '_' || *p == '-' || (unsigned char)*p >= 0x80;
        if (!is_letter && !is_digit && !is_other) *p = '_';
    }
    if (stem[0] == '-') stem[0] = '_';
}

static double longest_side(const tw_mesh *mesh)
{
    double longest = 0;
    for (int k = 0; k < 3; k++) {
        double low = INFINITY;
        double high = -INFINITY;

        for (int64_t i = 0; i < mesh->vertex_count; i++) {
            low = fmin(low, mesh->vertices[3 * i + k]);
            high = fmax(high, mesh->vertices[3 * i + k]);
        }
        longest = fmax(longest, high - low);
    }
    return longest;
}

static void write_scene(FILE *out, const char *name, const char *mesh, double side, bool is_y_up)
{
    fprintf(out, "# Made by twang new. Run it: twang run %s.yaml\n", name);
    fprintf(out, "name: %s\nduration: 2                   # s\nfps: 30\n", name);
    fprintf(out, "gravity: [0, 0, -9.81]        # m/s^2; z is up\n");
    fprintf(out, "integrator: {name: expmid2, step: 0.02, dissipation: 0.1}\n");

    /* The mesh. */
    fprintf(out, "output: {frames: [csv, pc2]%s}\n", is_y_up ? ", up: y" : "");
    fprintf(out, "bodies:\n  - kind: mesh\n    name: %s\n    file: \"%s\"\n", name, mesh);
    if (is_y_up) fprintf(out, "    up: y                     # the file has y up\n");
    fprintf(out, "    extent: %g                # m, longest side; in the file it is %.6g\n",
            SCENE_EXTENT, side);
    fprintf(out, "    vertices: 1000            # about so many particles\n");
    fprintf(out, "    density: 1000             # kg/m^3\n");
    fprintf(out, "    material: neo-hookean\n    youngs_modulus: 2e5       # Pa\n");
    fprintf(out, "pins:\n  - {body: %s, lowest: 0.05}   # its lowest 5 %% stand still\n", name);
}

/* A double quote or a backslash would end the text in the scene. */
static bool can_be_quoted(const char *path)
{
    return strpbrk(path, "\"\\\n") == NULL;
}

static int cannot_write(const char *path)
{
    fprintf(stderr, "%s: cannot be written: %s\n", path, strerror(errno));
    return EXIT_FAILED;
}

/* The file of the scene: what -o says, or NAME.yaml beside the mesh. */
static void scene_file(const arguments *a, const char *name, size_t size, char *file)
{
    const char *given = value_of(a, "--output");
    const char *mesh = a->positional[0];
    const char *slash = strrchr(mesh, '/');
    int folder = slash ? (int)(slash + 1 - mesh) : 0;

    if (given)
        snprintf(file, size, "%s", given);
    else
        snprintf(file, size, "%.*s%s.yaml", folder, mesh, name);
}

/* Writes the scene of a mesh with this longest side. Nothing is replaced, and no half file is left. */
static int write_file(const arguments *a, double side)
{
    const char *mesh = a->positional[0];
    const char *up = value_of(a, "--up");
    char name[64];
    char path[4096];
    stem_of(mesh, sizeof name, name);
    scene_file(a, name, sizeof path, path);

    FILE *out = fopen(path, "wx");
    if (!out && errno == EEXIST)
        return wrong_use("%s: exists already, name another file by -o", path);
    if (!out) return cannot_write(path);

    /* A mesh beside the scene is named without its folder. */
    const char *slash = strrchr(mesh, '/');
    bool is_beside = slash && !is_given(a, "--output");
    write_scene(out, name, is_beside ? slash + 1 : mesh, side, up && up[0] == 'y');

    bool good = !ferror(out);
    if (fclose(out) != 0 || !good) {
        unlink(path);
        return cannot_write(path);
    }
    printf("%s: a scene to run and to change; next: twang run %s\n", path, path);
    return EXIT_DONE;
}

static int new_scene(const arguments *a)
{
    const char *path = a->positional[0];
    const char *up = value_of(a, "--up");
    if (up && strcmp(up, "y") != 0 && strcmp(up, "z") != 0)
        return wrong_use("--up %s is neither y nor z", up);
    if (!can_be_quoted(path)) return wrong_use("the name of the mesh holds a quotation mark");

    /* The mesh must be one that a scene can read. */
    tw_mesh mesh = {0};
    tw_error error = {0};
    if (tw_mesh_load(path, &mesh, NULL, &error) != TW_OK) return report_error(&error, false);
    double side = longest_side(&mesh);
    tw_mesh_free(&mesh);

    return write_file(a, side);
}

static const option options[] = {
    {"--output", "-o", "FILE", "write there instead of NAME.yaml beside the mesh", NULL},
    {"--up", NULL, "AXIS", "y or z: which axis of the mesh points up (default z)", NULL},
    {0},
};

const verb verb_new = {
    .name = "new",
    .synopsis = "MESH [-o FILE] [--up y]",
    .line = "make a scene of a mesh",
    .text =
        "Writes NAME.yaml beside the mesh NAME.obj (PLY, STL, TetGen, Gmsh, VTK, MEDIT): a scene "
        "in which\n"
        "it wobbles, standing on its lowest part. Change it as you like, and run it.\n\n"
        "  twang new bunny.obj && twang run bunny.yaml",
    .options = options,
    .positional = "MESH",
    .positional_least = 1,
    .positional_most = 1,
    .run = new_scene,
};
