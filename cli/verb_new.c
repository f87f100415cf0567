/* Makes a scene of a mesh: a file to run and to change. */
#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../viewer/view.h"
#include "command.h"

/* A body of this longest side, with this stiffness and density, sags by about a tenth of its size. */
static const double SCENE_EXTENT = 1.5; /* m */

/* Sheets of less than this share of their longest side in height count as level. */
static const double LEVEL_SHARE = 0.01;

/* The scene is soft, and verlet keeps its energy: a dome of 216 vertices loses 0.001 of it in half a second,
 * where expmid2 in steps of 5 ms lost 0.34 in 29 s, as folds are faster than its steps. The step is this
 * share of the largest stable one at the start: what is compressed later is stiffer. So many steps of
 * it are tried on the scene itself, and it is halved until they keep the energy. */
static const double SHARE_OF_STABLE_STEP = 0.5;
enum { TRIED_STEPS = 400, MOST_HALVINGS = 3 };

/* A step to write while none is known [s]. */
static const double FIRST_STEP = 1e-3;

/* Vertices of the solid that the scene makes of a surface, and pieces of a mesh that it holds. */
enum { SCENE_VERTICES = 1000, MOST_PIECES = 64 };

/* What a mesh is as a body. */
typedef struct shape {
    double side;         /* the longest, in the file */
    double step;         /* of the integrator [s] */
    bool is_y_up;        /* in the file */
    bool is_sheet;       /* it is no solid, and has no room for one */
    bool is_thin;        /* it is closed, but too thin to be filled */
    tw_fill_report fill; /* of a surface that was filled */
    int64_t piece_count; /* separate pieces: each must be held */
    mesh_box pieces
        [MOST_PIECES]; /* their boxes in the scene [m]: as large as the scene makes them, z up */
} shape;

/* The box of a piece in the scene, where the longest side of the body, `side` in the file, is
 * SCENE_EXTENT long. */
static mesh_box box_in_scene(const mesh_box *in_file, double side, bool is_y_up)
{
    double factor = side > 0 ? SCENE_EXTENT / side : 1;

    /* (x, y, z) becomes (x, -z, y) where y is up. */
    mesh_box box;
    for (int k = 0; k < 3; k++) {
        int from = k;
        if (is_y_up && k > 0) from = 3 - k;
        bool turns = is_y_up && k == 1;
        box.lower[k] = factor * (turns ? -in_file->upper[from] : in_file->lower[from]);
        box.upper[k] = factor * (turns ? -in_file->lower[from] : in_file->upper[from]);
    }
    return box;
}

static double longest_side(const mesh_box *box)
{
    double side = 0;
    for (int k = 0; k < 3; k++) side = fmax(side, box->upper[k] - box->lower[k]);
    return side;
}

/* Finds the pieces of the body that the scene will have. */
static tw_status find_pieces(const tw_mesh *body, shape *s, tw_error *error)
{
    mesh_box whole = {0};
    tw_mesh_bounds(body, whole.lower, whole.upper);
    tw_status status = find_mesh_pieces(body, MOST_PIECES, s->pieces, &s->piece_count, error);

    int64_t known = s->piece_count < MOST_PIECES ? s->piece_count : MOST_PIECES;
    for (int64_t i = 0; i < known; i++)
        s->pieces[i] = box_in_scene(&s->pieces[i], longest_side(&whole), s->is_y_up);
    return status;
}

/* Looks whether the surface can be filled, as the scene will do it. */
static tw_status find_kind(const tw_mesh *mesh, shape *s, tw_error *error)
{
    if (mesh->tetrahedron_count > 0) return find_pieces(mesh, s, error);

    /* An open surface that is far from closed is a sheet. */
    tw_mesh_quality quality = {0};
    tw_status status = tw_mesh_measure(mesh, &quality, error);
    if (status != TW_OK) return status;

    s->is_sheet = is_open_sheet(mesh, &quality);
    if (s->is_sheet) return find_pieces(mesh, s, error);

    /* What cannot be filled for want of thickness is a sheet, too. */
    tw_fill_options options = tw_fill_options_default();
    options.vertex_count = SCENE_VERTICES;
    tw_mesh solid = {0};
    tw_error why = {0};
    status = tw_mesh_fill(mesh, &options, &solid, &s->fill, &why);
    s->is_thin = status == TW_BAD_INPUT;
    s->is_sheet = s->is_thin;
    if (status == TW_OK || s->is_thin) status = find_pieces(s->is_thin ? mesh : &solid, s, &why);
    tw_mesh_free(&solid);

    if (status != TW_OK) *error = why;
    return status;
}

/* The part of a piece that is held: the lowest 5 % of a solid, the highest 5 % of a sheet, or of a level
 * sheet as much at one end of its longest side. The box is a little larger than the piece, and cut off. */
static mesh_box held_part(const mesh_box *piece, bool is_sheet)
{
    const double share = 0.05;
    double side = longest_side(piece);
    mesh_box part;
    for (int k = 0; k < 3; k++) {
        part.lower[k] = piece->lower[k] - LEVEL_SHARE * side;
        part.upper[k] = piece->upper[k] + LEVEL_SHARE * side;
    }

    /* A level sheet is held at the begin of its longest side. */
    double height = piece->upper[2] - piece->lower[2];
    int axis = 2;
    bool is_level = is_sheet && !(height > LEVEL_SHARE * side);
    for (int k = 0; k < 2 && is_level; k++)
        if (piece->upper[k] - piece->lower[k] > piece->upper[axis] - piece->lower[axis]) axis = k;

    double held = share * (piece->upper[axis] - piece->lower[axis]);
    if (is_sheet && !is_level)
        part.lower[axis] = piece->upper[axis] - held;
    else
        part.upper[axis] = piece->lower[axis] + held;
    return part;
}

/* What holds the body. One piece that stands or hangs is held by a share of its height, anything else by
 * a box in each piece. */
static void write_pins(FILE *out, const char *name, const shape *s)
{
    const mesh_box *first = &s->pieces[0];
    bool is_level = !(first->upper[2] - first->lower[2] > LEVEL_SHARE * longest_side(first));
    if (s->piece_count <= 1 && !s->is_sheet) {
        fprintf(out, "pins:\n  - {body: %s, lowest: 0.05}   # its lowest 5 %% stand still\n", name);
        return;
    }
    if (s->piece_count <= 1 && !is_level) {
        fprintf(out, "pins:\n  - {body: %s, highest: 0.05}  # it hangs from its highest 5 %%\n",
                name);
        return;
    }

    fprintf(out, "pins:                         # 5 %% of %s are held\n",
            s->piece_count > 1 ? "each separate piece" : "it, at one end,");
    for (int64_t i = 0; i < s->piece_count && i < MOST_PIECES; i++) {
        mesh_box p = held_part(&s->pieces[i], s->is_sheet);
        fprintf(out, "  - {body: %s, lower: [%.6g, %.6g, %.6g], upper: [%.6g, %.6g, %.6g]}\n", name,
                p.lower[0], p.lower[1], p.lower[2], p.upper[0], p.upper[1], p.upper[2]);
    }
}

static void write_material(FILE *out, const char *name, const shape *s)
{
    if (s->is_sheet) {
        fprintf(out, "    density: 0.5              # kg/m^2\n");
        fprintf(out, "    stiffness: 1e3            # N/m, along the sides of its polygons\n");
        fprintf(out, "    bending: 1                # N/m\n");
        write_pins(out, name, s);
        return;
    }

    fprintf(out, "    vertices: %d            # about so many particles\n", SCENE_VERTICES);
    fprintf(out, "    density: 1000             # kg/m^3\n");
    fprintf(out, "    material: neo-hookean\n    youngs_modulus: 2e5       # Pa\n");
    write_pins(out, name, s);
}

static void write_scene(FILE *out, const char *name, const char *mesh, const shape *s)
{
    bool is_y_up = s->is_y_up;
    double side = s->side;

    /* What is computed, and how. */
    fprintf(out, "# Made by twang new. Run it: twang run %s.yaml\n", name);
    fprintf(out, "name: %s\nduration: 2                   # s\nfps: 30\n", name);
    fprintf(out, "gravity: [0, 0, -9.81]        # m/s^2; z is up\n");
    fprintf(out,
            "integrator: {name: verlet, step: %g}  # s; for a stiffer body see twang check "
            "%s.yaml\n",
            s->step, name);

    /* The mesh. */
    fprintf(out, "output: {frames: [csv, pc2]%s}\n", is_y_up ? ", up: y" : "");
    fprintf(out, "bodies:\n  - kind: %s\n    name: %s\n    file: \"%s\"\n",
            s->is_sheet ? "sheet" : "mesh", name, mesh);
    if (is_y_up) fprintf(out, "    up: y                     # the file has y up\n");
    fprintf(out, "    extent: %g                # m, longest side; in the file it is %.6g\n",
            SCENE_EXTENT, side);
    write_material(out, name, s);
}

/* A double quote or a backslash would end the text in the scene, and YAML has no control characters. */
static bool can_be_quoted(const char *path)
{
    return strpbrk(path, "\"\\") == NULL && strcmp(printable(path), path) == 0;
}

static int cannot_write(const char *path)
{
    fprintf(stderr, "%s: cannot be written: %s\n", printable(path), strerror(errno));
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

/* Says what was made of the mesh, where that is not plain. */
static void tell_kind(const shape *s)
{
    if (s->is_thin)
        printf("it is too thin to be filled, and is taken as a sheet (kind: sheet); more vertices "
               "of kind: mesh may do\n");
    else if (s->is_sheet)
        printf("it is open, and is taken as a sheet (kind: sheet), not filled\n");
    if (s->piece_count > MOST_PIECES)
        printf("it has %lld separate pieces: the scene holds %d of them, and the others fall\n",
               (long long)s->piece_count, MOST_PIECES);
    else if (s->piece_count > 1)
        printf("it has %lld separate pieces, and the scene holds each of them\n",
               (long long)s->piece_count);
}

/* Rounded down to two digits. */
static double round_down(double step)
{
    double unit = pow(10.0, floor(log10(step)) - 1);
    return unit * floor(step / unit * (1 + 1e-12));
}

/* The step of the simulation, tried on itself. 0: its frequencies are not known. */
static double tried_step(tw_simulation *simulation, tw_integrator_options options, double duration)
{
    double omega = tw_simulation_summarise(simulation).omega_bound;
    if (!(omega > 0) &&
        tw_simulation_frequency(simulation, FREQUENCY_ITERATIONS, &omega, NULL) != TW_OK)
        return 0;
    if (!(omega > 0)) return 0;

    double step = round_down(SHARE_OF_STABLE_STEP * VERLET_STABILITY / omega);
    for (int halving = 0; halving < MOST_HALVINGS; halving++) {
        double tried = fmin(duration, TRIED_STEPS * step);
        if (judge_whole_run(simulation, &options, step, tried) != STEP_FAILS) break;
        step = round_down(0.5 * step);
    }
    return step;
}

/* Chooses the step on the scene itself, as it will be at this path. */
static tw_status choose_step(const char *path, const char *name, const char *mesh, shape *s,
                             tw_error *error)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    if (!out) return TW_OUT_OF_MEMORY;
    s->step = FIRST_STEP;
    write_scene(out, name, mesh, s);
    fclose(out);

    tw_scene *scene = NULL;
    tw_simulation *simulation = NULL;
    tw_status status = tw_scene_parse(path, text, size, 0, NULL, &scene, error);
    if (status == TW_OK) status = tw_scene_build(scene, &simulation, error);
    if (status == TW_OK) {
        double step =
            tried_step(simulation, tw_scene_integrator_options(scene), tw_scene_duration(scene));
        if (step > 0) s->step = step;
    }

    tw_simulation_free(simulation);
    tw_scene_free(scene);
    free(text);
    return status;
}

/* Writes the file at this path, which is not there yet. No half file is left. */
static int write_path(const arguments *a, const char *path, const char *name, shape *s)
{
    /* A scene names its files from its own folder. */
    char mesh[4096];
    tw_error error = {0};
    name_from_beside(path, a->positional[0], sizeof mesh, mesh);
    if (!can_be_quoted(mesh))
        return wrong_use("%s: the name of the mesh, seen from the scene, holds a quotation mark, a "
                         "backslash or a control character",
                         mesh);

    FILE *out = fopen(path, "wx");
    if (!out && errno == EEXIST)
        return wrong_use("%s: exists already, name another file by -o", path);
    if (!out) return cannot_write(path);

    tw_status status = choose_step(path, name, mesh, s, &error);
    if (status == TW_OK) write_scene(out, name, mesh, s);

    bool good = status == TW_OK && !ferror(out);
    if (fclose(out) == 0 && good) return EXIT_DONE;
    int reason = errno;
    unlink(path);
    errno = reason;
    return status == TW_OK ? cannot_write(path) : report_error(&error, false);
}

/* Writes the scene of a mesh of this shape. */
static int write_file(const arguments *a, shape *s)
{
    char name[64];
    char path[4096];
    view_name_of_file(a->positional[0], sizeof name, name);
    scene_file(a, name, sizeof path, path);
    if (refuse_folder(path)) return EXIT_WRONG_USE;

    tw_parents parents;
    tw_error error = {0};
    if (tw_parents_make(&parents, path, &error) != TW_OK) return report_error(&error, false);
    int code = write_path(a, path, name, s);
    if (code != EXIT_DONE) {
        tw_parents_remove(&parents);
        return code;
    }

    warn_of_fill(a->positional[0], &s->fill);
    tell_kind(s);
    printf("%s: a scene to run and to change; next: twang run %s\n", printable(path),
           shell_word(path));
    return EXIT_DONE;
}

static int new_scene(const arguments *a)
{
    const char *path = a->positional[0];
    const char *up = value_of(a, "--up");
    if (up && strcmp(up, "y") != 0 && strcmp(up, "z") != 0)
        return wrong_use("--up %s is neither y nor z", up);

    /* The mesh must be one that a scene can read. It is repaired, as a scene does it. */
    tw_mesh mesh = {0};
    tw_mesh_repairs repairs = {0};
    tw_error error = {0};
    if (tw_mesh_load(path, &mesh, &repairs, &error) != TW_OK) return report_error(&error, false);
    shape s = {.is_y_up = up && up[0] == 'y'};
    mesh_box whole = {0};
    tw_mesh_bounds(&mesh, whole.lower, whole.upper);
    s.side = longest_side(&whole);
    tw_status status = find_kind(&mesh, &s, &error);
    tw_mesh_free(&mesh);

    return status == TW_OK ? write_file(a, &s) : report_error(&error, false);
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
        "it wobbles, standing on the lowest part of each separate piece, or hangs as a sheet if it "
        "is\n"
        "open. Change it as you like, and run it.\n\n"
        "  twang new bunny.obj && twang run bunny.yaml",
    .options = options,
    .positional = "MESH",
    .positional_least = 1,
    .positional_most = 1,
    .run = new_scene,
};
