/* Fills a surface with tetrahedra, or converts a mesh from one format to another. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "command.h"

/* The least and the most vertices that may be asked for. */
enum { LEAST_VERTICES = 8, MOST_VERTICES = 100000000 };

static void print_counts(const tw_mesh *mesh, const tw_mesh_repairs *repairs)
{
    char text[256];
    printf("vertices        %lld\n", (long long)mesh->vertex_count);
    if (mesh->tetrahedron_count > 0)
        printf("tetrahedra      %lld\n", (long long)mesh->tetrahedron_count);
    if (mesh->triangle_count > 0) printf("triangles       %lld\n", (long long)mesh->triangle_count);
    if (mesh->edge_count > 0) printf("edges           %lld\n", (long long)mesh->edge_count);

    /* A unit other than the metre is seen here. */
    double lower[3];
    double upper[3];
    tw_mesh_bounds(mesh, lower, upper);
    printf("size            %.4g x %.4g x %.4g m\n", upper[0] - lower[0], upper[1] - lower[1],
           upper[2] - lower[2]);
    printf("repairs         %s\n", tw_mesh_repairs_text(repairs, text, sizeof text));
}

static void print_report(const tw_mesh *mesh, const tw_fill_report *r)
{
    print_counts(mesh, &r->repairs);
    printf("cell            %.6g m\n", r->cell);
    printf("dihedral angles %.1f to %.1f degrees\n", r->quality.smallest_angle,
           r->quality.largest_angle);
    printf("edges           %.6g to %.6g m\n", r->quality.shortest_edge, r->quality.longest_edge);
    printf("volume          %.6g m^3\n", r->volume);

    /* How far the new surface is from the old one. */
    printf("distance        at most %.3g cells from the input, %.3g on average\n",
           r->largest_distance / r->cell, r->mean_distance / r->cell);
    printf("gap             the input is at most %.3g cells outside of the solid\n",
           r->largest_gap / r->cell);

    /* What is unusual about the input. */
    if (r->input_open_edges + r->input_crowded_edges > 0)
        printf("input           %lld open edges, %lld with more than two triangles\n",
               (long long)r->input_open_edges, (long long)r->input_crowded_edges);
}

static void print_json(const char *path, const tw_mesh *mesh, const tw_mesh_repairs *repairs,
                       const tw_fill_report *r)
{
    printf("{\"file\": ");
    print_json_string(path);
    printf(", \"vertices\": %lld, \"edges\": %lld, \"triangles\": %lld, \"tetrahedra\": %lld",
           (long long)mesh->vertex_count, (long long)mesh->edge_count,
           (long long)mesh->triangle_count, (long long)mesh->tetrahedron_count);

    printf(", \"repairs\": {\"merged_vertices\": %lld, \"dropped_vertices\": %lld, "
           "\"degenerate_cells\": %lld, "
           "\"lower_cells\": %lld, \"flipped_cells\": %lld}",
           (long long)repairs->merged_vertices, (long long)repairs->dropped_vertices,
           (long long)repairs->degenerate_cells, (long long)repairs->lower_cells,
           (long long)repairs->flipped_cells);

    if (r)
        printf(", \"cell\": %.17g, \"smallest_angle\": %.17g, \"largest_angle\": %.17g, "
               "\"volume\": %.17g, "
               "\"largest_distance\": %.17g, \"mean_distance\": %.17g, \"largest_gap\": %.17g, "
               "\"input_open_edges\": "
               "%lld, "
               "\"input_crowded_edges\": %lld, \"dropped_components\": %lld, "
               "\"lost_components\": %lld",
               r->cell, r->quality.smallest_angle, r->quality.largest_angle, r->volume,
               r->largest_distance, r->mean_distance, r->largest_gap,
               (long long)r->input_open_edges, (long long)r->input_crowded_edges,
               (long long)r->dropped_components, (long long)r->lost_components);
    printf("}\n");
}

/* A sheet has no inside: what the mesher would find there are strips between its edges. The edges are
 * counted after duplicate vertices are merged, as the mesher does it. */
static tw_status refuse_sheet(const tw_mesh *mesh, tw_error *error)
{
    tw_mesh merged = {0};
    tw_mesh_quality quality = {0};
    tw_status status = tw_mesh_copy(mesh, &merged, error);
    if (status == TW_OK) status = tw_mesh_repair(&merged, NULL, error);
    if (status == TW_OK) status = tw_mesh_measure(&merged, &quality, error);
    bool is_sheet = status == TW_OK && is_open_sheet(&merged, &quality);
    tw_mesh_free(&merged);
    if (!is_sheet) return status;

    error->status = TW_BAD_INPUT;
    snprintf(error->text, sizeof error->text,
             "the surface is open (%lld edges) and encloses nothing, expected one that is closed, "
             "or nearly so; twang new makes a scene in which it is a body of kind: sheet",
             (long long)quality.open_edges);
    return TW_BAD_INPUT;
}

/* Replaces a surface by the solid inside it. An error of the surface names the file. */
static tw_status fill(const char *path, long long vertices, tw_mesh *mesh, tw_fill_report *report,
                      tw_error *error)
{
    tw_fill_options options = tw_fill_options_default();
    options.vertex_count = vertices;
    tw_mesh solid;
    tw_status status = refuse_sheet(mesh, error);
    if (status == TW_OK) status = tw_mesh_fill(mesh, &options, &solid, report, error);
    if (status != TW_OK) {
        char text[TW_ERROR_TEXT_SIZE];
        snprintf(text, sizeof text, "%s", error->text);
        snprintf(error->text, sizeof error->text, "%.200s: %.300s", path, text);
        return status;
    }

    tw_mesh_free(mesh);
    *mesh = solid;
    return TW_OK;
}

/* What the verb has read, made and learned. */
typedef struct result {
    tw_mesh mesh;
    bool is_filled;
    tw_fill_report report; /* if it is filled */
    tw_mesh_repairs repairs;
} result;

/* Whether both names lead to one file. */
static bool is_same_file(const char *a, const char *b)
{
    struct stat about_a;
    struct stat about_b;
    if (stat(a, &about_a) != 0 || stat(b, &about_b) != 0) return false;
    return about_a.st_dev == about_b.st_dev && about_a.st_ino == about_b.st_ino;
}

/* Whether writing OUT would replace IN. TetGen's meshes are two files, NAME.node and NAME.ele. */
static bool replaces_input(const char *in, const char *out)
{
    if (is_same_file(in, out)) return true;
    const char *dot = strrchr(out, '.');
    bool is_tetgen = dot && (strcmp(dot, ".node") == 0 || strcmp(dot, ".ele") == 0);
    if (!is_tetgen) return false;

    static const char *const suffixes[] = {".node", ".ele"};
    for (int i = 0; i < 2; i++) {
        char path[4096];
        snprintf(path, sizeof path, "%.*s%s", (int)(dot - out), out, suffixes[i]);
        if (is_same_file(in, path)) return true;
    }
    return false;
}

/* --scale, 1 if it is not given; false after it has complained. */
static bool read_scale(const arguments *a, double *scale)
{
    const char *text = value_of(a, "--scale");
    *scale = 1;
    if (!text) return true;

    char *end = NULL;
    *scale = strtod(text, &end);
    if (end != text && *end == '\0' && *scale > 0 && isfinite(*scale)) return true;
    wrong_use("--scale %s is not a factor above 0, such as 1e-3 for millimetres", text);
    return false;
}

/* What the command line asks for. */
typedef struct request {
    long long vertices; /* about so many; 0: the mesh is not filled */
    double scale;       /* factor of all coordinates */
} request;

/* Reads IN, scales it, fills it, writes OUT. */
static tw_status convert(const arguments *a, const request *asked, result *r, tw_error *error)
{
    const char *in = a->positional[0];
    const char *out = a->positional[1];
    r->is_filled = asked->vertices > 0;

    /* A surface that is filled is repaired on the way, any other mesh when it is loaded. */
    tw_status status = tw_mesh_load(in, &r->mesh, r->is_filled ? NULL : &r->repairs, error);
    for (int64_t i = 0; status == TW_OK && i < 3 * r->mesh.vertex_count; i++)
        r->mesh.vertices[i] *= asked->scale;
    if (status == TW_OK) status = tw_mesh_check(&r->mesh, error);
    if (status == TW_OK && r->is_filled) {
        status = fill(in, asked->vertices, &r->mesh, &r->report, error);
        r->repairs = r->report.repairs;
    }
    if (status != TW_OK) return status;
    if (r->is_filled && !is_given(a, "--quiet")) warn_of_fill(in, &r->report);

    /* A failure leaves neither half a file nor the directories above it. */
    tw_parents parents;
    hold_signals(true);
    status = tw_parents_make(&parents, out, error);
    if (status == TW_OK) status = tw_mesh_save(out, &r->mesh, error);
    if (status != TW_OK) tw_parents_remove(&parents);
    hold_signals(false);
    return status;
}

static void print_result(const arguments *a, const result *r)
{
    if (is_given(a, "--json"))
        print_json(a->positional[1], &r->mesh, &r->repairs, r->is_filled ? &r->report : NULL);
    else if (is_given(a, "--quiet"))
        return;
    else if (r->is_filled)
        print_report(&r->mesh, &r->report);
    else
        print_counts(&r->mesh, &r->repairs);
}

static int mesh_verb(const arguments *a)
{
    request asked = {0};
    long long threads = 0;
    if (!read_count(a, "--vertices", LEAST_VERTICES, MOST_VERTICES, &asked.vertices) ||
        !read_scale(a, &asked.scale) || !read_count(a, "--threads", 1, MAX_THREADS, &threads))
        return EXIT_WRONG_USE;
    if (replaces_input(a->positional[0], a->positional[1]))
        return wrong_use("mesh would replace %s by what it makes of it, name another file to write",
                         a->positional[0]);
    tw_set_threads((int)threads);
    if (!is_given(a, "--quiet")) show_warnings();

    result r = {0};
    tw_error error = {0};
    tw_status status = convert(a, &asked, &r, &error);
    int code = EXIT_DONE;
    if (status == TW_OK)
        print_result(a, &r);
    else
        code = report_error(&error, is_given(a, "--json"));

    tw_mesh_free(&r.mesh);
    return code;
}

static const option options[] = {
    {"--vertices", NULL, "N", "fill with tetrahedra of about N vertices", NULL},
    {"--scale", NULL, "F", "multiply all coordinates by F, 1e-3 for a file in millimetres", NULL},
    {"--threads", NULL, "N", "use this many threads; the result is the same for any", NULL},
    {"--quiet", "-q", NULL, "say nothing but what is wrong", NULL},
    {"--json", NULL, NULL, "print the report as JSON", NULL},
    {0},
};

const verb verb_mesh = {
    .name = "mesh",
    .synopsis = "IN OUT [--vertices N] [--scale F] [--threads N] [--quiet] [--json]",
    .line = "fill a surface with tetrahedra, repair or convert a mesh",
    .text = "Fills the surface in IN (OBJ, PLY, STL, TetGen .node/.ele, Gmsh .msh, legacy VTK, "
            "MEDIT .mesh), also an "
            "open,\n"
            "non-manifold or self-intersecting one, with well-shaped tetrahedra of about N "
            "vertices and writes them to\n"
            "OUT, by its suffix: .node and .ele, .msh, .vtk, .mesh; .obj and .ply get the new "
            "surface.\n"
            "Without --vertices the mesh is repaired and written in the other format.\n\n"
            "  twang mesh bunny.obj bunny.ele --vertices 4000\n"
            "  twang mesh scan.stl scan.vtk --vertices 20000 --scale 1e-3\n"
            "  twang mesh box.msh box.vtk",
    .options = options,
    .positional = "IN and OUT",
    .positional_least = 2,
    .positional_most = 2,
    .run = mesh_verb,
};
