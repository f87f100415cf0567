/* Fills a surface with tetrahedra that have about the wanted number of vertices. A lattice is laid
 * over the surface and cut at it; the size of its cell is searched until the number is right. */
#include <float.h>
#include <string.h>

#include "base/allocate.h"
#include "base/fail.h"
#include "mesh/mesh_internal.h"

enum {
    FEWEST_VERTICES = 8,
    MOST_TRIALS = 12,      /* of the size of the cell */
    LEAST_LIMIT = 1000000, /* nodes that a lattice may have even for a few vertices */
    FIRST_NODES = 12000    /* of the lattice that measures the volume */
};

/* A lattice may have this many nodes per vertex wanted. A larger one would take hours for a
 * solid that is a small part of its bounding box. */
static const double most_nodes_per_vertex = 500.0;

/* Parts of the input that are too thin for the lattice become thicker by this share of a cell on
 * each side: less than half a cell, and enough for the lattice to hold them. */
static const double thin_reach = 0.49;

/* Thin parts are looked for only if the solid has this share of the volume; otherwise
 * most of the input is thin. So it is if its surface has this many squares of a cell per vertex
 * wanted: a solid has about one. */
static const double least_filled_share = 0.85;
static const double most_squares_per_vertex = 30.0;

/* A cell may be so many times as large as the body is thick where it is thickest. Rods and plates
 * along the axes get smaller cells, and more vertices than wanted; other bodies fall apart. */
static const double most_cells_per_thickness = 4.0;

/* A surface that is thinner than this share of its size is flat. */
static const double flat_share = 1e-9;

/* Angles take products of up to eight lengths, which leave the range of numbers outside of this [m]. */
static const double least_size = 1e-30;
static const double most_size = 1e30;

/* A cell is at least so many times as large as the distance of neighbouring numbers. Then rounding
 * turns no face by more than about 0.1 degrees. */
static const double least_steps_per_cell = 1000.0;

tw_fill_options tw_fill_options_default(void)
{
    return (tw_fill_options){.vertex_count = 4000};
}

/* What stays the same while the cell is searched. */
typedef struct task {
    const tw_winding *winding; /* of the surface */
    double volume;             /* inside the surface, estimated */
    double thickness;          /* where it is largest, estimated */
    double area;               /* of the surface */
    double wanted;             /* number of vertices */
} task;

/* ---- the surface ---- */

static tw_status check_size(const tw_mesh *surface, tw_error *error)
{
    double lower[3];
    double upper[3];
    tw_mesh_bounds(surface, lower, upper);
    double size = 0.0;
    for (int k = 0; k < 3; k++) size = fmax(size, upper[k] - lower[k]);
    if ((size >= least_size && size <= most_size) || size == 0.0) return TW_OK;
    return tw_fail(error, TW_BAD_INPUT, "the surface is %.3g m large, expected %g to %g m", size,
                   least_size, most_size);
}

/* Copies vertices and triangles into a mesh of its own, and repairs it. */
static tw_status copy_surface(const tw_mesh *mesh, tw_mesh *surface, tw_mesh_repairs *repairs,
                              tw_error *error)
{
    int64_t *triangles = NULL;
    int64_t count = 0;
    TW_TRY(tw_mesh_surface(mesh, &triangles, &count, error));

    tw_status status = tw_mesh_allocate(surface, mesh->vertex_count, 0, count, 0, error);
    if (status == TW_OK) {
        /* All vertices are copied; the repair drops those that no triangle uses. */
        if (mesh->vertex_count > 0)
            memcpy(surface->vertices, mesh->vertices,
                   (size_t)mesh->vertex_count * 3 * sizeof(double));
        memcpy(surface->triangles, triangles, (size_t)count * 3 * sizeof(int64_t));
        status = tw_mesh_repair(surface, repairs, error);
    }

    tw_mesh_free_indices(triangles);
    return status;
}

/* Takes the triangles to fill, repaired: those of a surface, or the boundary of a solid. */
static tw_status take_surface(const tw_mesh *mesh, tw_mesh *surface, tw_fill_report *report,
                              tw_error *error)
{
    TW_TRY(copy_surface(mesh, surface, &report->repairs, error));
    if (surface->triangle_count == 0)
        return tw_fail(error, TW_BAD_INPUT,
                       "the mesh has no triangles to fill, expected a surface");

    /* Count the edges at which the surface is not closed. */
    tw_edge_pairs pairs = {0};
    TW_TRY(tw_edge_pairs_find(surface->triangle_count, surface->triangles, surface->vertex_count,
                              &pairs, error));
    report->input_open_edges = pairs.open;
    report->input_crowded_edges = pairs.crowded;
    tw_release(pairs.partner);
    return TW_OK;
}

/* Refuses a surface that floating-point numbers cannot hold with room for small cells. */
static tw_status check_place(const tw_winding *winding, double wanted, tw_error *error)
{
    const tw_box *box = &winding->tree.nodes[0].box;
    double size = 0.0;
    double farthest = 0.0;
    for (int k = 0; k < 3; k++) {
        size = fmax(size, box->upper[k] - box->lower[k]);
        farthest = fmax(farthest, fmax(fabs(box->lower[k]), fabs(box->upper[k])));
    }

    /* Neighbouring numbers near x are about |x| DBL_EPSILON apart. A cell is about this large. */
    double cell = size / cbrt(wanted);
    double spacing = farthest * DBL_EPSILON;
    if (cell >= least_steps_per_cell * spacing) return TW_OK;
    return tw_fail(error, TW_BAD_INPUT,
                   "the surface is %.3g m large and %.3g m from the origin, where numbers are %.3g "
                   "m apart, expected a surface nearer to the origin",
                   size, farthest, spacing);
}

static tw_status nothing_inside(tw_error *error)
{
    return tw_fail(
        error, TW_BAD_INPUT,
        "the surface encloses nothing, expected one that is closed, or nearly so; a scene "
        "takes it as a body of kind: sheet");
}

/* Refuses a surface whose cells would lose most of it. */
static tw_status too_thin(const task *job, double cell, tw_error *error)
{
    /* Cells of 0.8 of the thickness hold it, with two vertices per cube inside and about 1.5 per
     * square of the surface. */
    double good = 0.8 * job->thickness;
    double vertices = 2.0 * job->volume / (good * good * good) + 1.5 * job->area / (good * good);
    return tw_fail(error, TW_BAD_INPUT,
                   "the surface is about %.2g m thick, too thin for %.0f vertices (cells of %.2g "
                   "m), expected a thicker one or about %.2g vertices, or in a scene kind: sheet",
                   job->thickness, job->wanted, cell, vertices);
}

/* Estimates volume and thickness by a coarse lattice, which is made finer as long as no node is
 * inside. */
static tw_status estimate_size(const tw_winding *winding, task *job, tw_error *error)
{
    const tw_box *box = &winding->tree.nodes[0].box;
    double size = 0.0;

    for (int k = 0; k < 3; k++) size = fmax(size, box->upper[k] - box->lower[k]);

    /* What is flat has no inside, and a lattice that looked for one would have very many nodes. */
    for (int k = 0; k < 3; k++)
        if (!(box->upper[k] - box->lower[k] > flat_share * size)) return nothing_inside(error);

    /* With the sides s_k of the box there are 2 s_0 s_1 s_2 / cell^3 nodes; a thin box counts as a
     * little thicker. */
    double product = 1.0;
    for (int k = 0; k < 3; k++) product *= fmax((box->upper[k] - box->lower[k]) / size, 1e-3);
    double cell = size * cbrt(2.0 * product / FIRST_NODES);

    tw_body_shape shape = {.surface = winding};
    for (int trial = 0; trial < 3; trial++, cell *= 0.5) {
        TW_TRY(tw_bcc_estimate_size(&shape, cell, &job->volume, &job->thickness, error));
        if (job->volume > 0.0) return TW_OK;
    }

    return nothing_inside(error);
}

/* ---- one solid ---- */

/* Fills the shape with cells of this size. The solid may consist of several pieces. */
static tw_status fill_shape(const tw_body_shape *shape, double cell, double wanted, tw_mesh *out,
                            tw_error *error)
{
    *out = (tw_mesh){0};
    tw_bcc lattice;
    double most = fmax(LEAST_LIMIT, most_nodes_per_vertex * wanted);

    TW_TRY(tw_bcc_create(shape, cell, most, &lattice, error));
    tw_status status = tw_bcc_cut_tetrahedra(&lattice, out, error);
    tw_bcc_free(&lattice);
    return status;
}

/* Fills again, with the thin parts of the surface made thicker. `thin` are these parts. */
static tw_status fill_thicker(const task *job, double cell, const tw_mesh *thin, tw_mesh *solid,
                              tw_error *error)
{
    tw_winding parts = {0};
    TW_TRY(tw_winding_create(thin, &parts, error));

    /* The shape is the inside of the surface and all points near the thin parts. */
    tw_body_shape shape = {job->winding, &parts, thin_reach * cell};
    tw_mesh thicker = {0};
    tw_status status = fill_shape(&shape, cell, job->wanted, &thicker, error);
    if (status == TW_OK) {
        tw_mesh_free(solid);
        *solid = thicker;
    }

    tw_winding_free(&parts);
    return status;
}

/* If parts of the surface stick out of the solid because they are too thin, fills again
 * with these made thicker. */
static tw_status thicken(const task *job, double cell, tw_mesh *solid, tw_error *error)
{
    if (solid->tetrahedron_count == 0 || tw_mesh_volume(solid) < least_filled_share * job->volume)
        return TW_OK;
    if (job->area > most_squares_per_vertex * job->wanted * cell * cell) return TW_OK;

    tw_mesh thin = {0};
    tw_status status = tw_find_thin_parts(job->winding, solid, cell, &thin, error);
    if (status == TW_OK && thin.triangle_count > 0)
        status = fill_thicker(job, cell, &thin, solid, error);
    tw_mesh_free(&thin);
    return status;
}

/* A solid that was tried. */
typedef struct trial_solid {
    tw_mesh mesh;
    double count; /* vertices before crumbs were left out: it follows the cell smoothly */
    tw_fill_report report;
} trial_solid;

/* Makes one solid with cells of this size. out->report holds what is known of the surface. */
static tw_status fill_with(const task *job, double cell, trial_solid *out, tw_error *error)
{
    tw_body_shape shape = {.surface = job->winding};
    tw_status status = fill_shape(&shape, cell, job->wanted, &out->mesh, error);

    /* Thin parts may connect pieces; therefore they come before the choice of pieces. */
    if (status == TW_OK) status = thicken(job, cell, &out->mesh, error);
    out->count = (double)out->mesh.vertex_count;
    if (status == TW_OK) status = tw_keep_pieces(&out->mesh, job->winding, &out->report, error);
    out->report.cell = cell;
    if (status != TW_OK) tw_mesh_free(&out->mesh);

    return status;
}

/* ---- the search for the cell ---- */

/* |log(N / wanted)|; an empty mesh counts as half a vertex. */
static double mismatch(const trial_solid *solid, double wanted)
{
    return fabs(log(fmax(solid->count, 0.5) / wanted));
}

/* The trials so far: the finest cell that gave too few vertices, and the
 * coarsest one that gave too many. */
typedef struct bracket {
    double few_cell, few_count; /* 0 if there is no such trial yet */
    double many_cell, many_count;
} bracket;

static void narrow(bracket *b, double cell, double count, double wanted)
{
    if (count > wanted) {
        b->many_cell = cell;
        b->many_count = count;
    } else {
        b->few_cell = cell;
        b->few_count = count;
    }
}

/* The next cell to try. log N is nearly linear in log cell, with a slope between -3 (all
 * vertices inside) and -2 (all on the surface). */
static double next_cell(const bracket *b, int trial, double wanted)
{
    /* With trials on one side only: go from there with slope -2.7; from an
     * empty mesh by a fixed factor. */
    const double slope = 2.7;
    if (b->many_cell == 0.0) {
        double factor = 0.6;
        if (b->few_count >= 1.0) factor = pow(b->few_count / wanted, 1.0 / slope);
        return b->few_cell * factor;
    }

    if (b->few_cell == 0.0) return b->many_cell * pow(b->many_count / wanted, 1.0 / slope);

    /* Between two trials: a secant of log N over log cell. N jumps by whole layers of the
     * lattice, where the secant would not move; therefore every third trial halves the interval,
     * and no trial is nearer to an end than a twentieth of it. */
    double width = log(b->few_cell / b->many_cell);
    double share = 0.5;
    if (b->few_count >= 1.0 && trial % 3 != 2)
        share = log(b->many_count / wanted) / log(b->many_count / b->few_count);

    return b->many_cell * exp(width * fmin(fmax(share, 0.05), 0.95));
}

/* Whether the best mesh is near enough, or as near as the lattice comes. The
 * demand falls with the trials. */
static bool is_near(const trial_solid *best, int trial, const bracket *b, double wanted)
{
    if (best->mesh.vertex_count == 0) return false;
    if (b->many_cell > 0.0 && b->few_cell > 0.0 && b->few_cell < 1.002 * b->many_cell) return true;

    double tolerance = 0.04;
    if (trial < 6) tolerance = 0.02;
    if (trial < 3) tolerance = 0.01;
    return mismatch(best, wanted) < tolerance;
}

/* Finds the cell. `best->report` holds what is known of the surface. */
static tw_status search_cell(const task *job, trial_solid *best, tw_error *error)
{
    /* First guess: two nodes per cube, and some more on the surface. */
    double wanted = job->wanted;
    double cell = cbrt(2.0 * job->volume / wanted) * (1.0 + 1.2 / cbrt(wanted));
    if (cell > most_cells_per_thickness * job->thickness) return too_thin(job, cell, error);

    bracket tried = {0};
    for (int trial = 0; trial < MOST_TRIALS && !is_near(best, trial, &tried, wanted); trial++) {
        trial_solid made = {.report = best->report};
        tw_status status = fill_with(job, cell, &made, error);

        /* A surface that is thin everywhere drives the cell down until the lattice is too large. */
        if (status == TW_BAD_INPUT) return too_thin(job, cell, error);
        TW_TRY(status);
        narrow(&tried, cell, made.count, wanted);

        /* Keep the solid that comes nearest to the number wanted. */
        if (best->mesh.vertex_count == 0 || mismatch(&made, wanted) < mismatch(best, wanted)) {
            tw_mesh_free(&best->mesh);
            *best = made;
        } else {
            tw_mesh_free(&made.mesh);
        }
        cell = next_cell(&tried, trial, wanted);
    }

    return best->mesh.tetrahedron_count > 0 ? TW_OK : nothing_inside(error);
}

/* Refuses a solid that is not what the surface encloses: more was left out than kept, or most of
 * the volume is missing. A regular tetrahedron of 15 vertices has a third of its volume. */
static tw_status check_loss(const task *job, const trial_solid *solid, tw_error *error)
{
    const double least_share = 0.2;

    /* The lattice of the estimate may have missed a spike; of a closed surface the volume is known. */
    double volume = job->volume;
    if (solid->report.input_open_edges == 0)
        volume = fmax(volume, fabs(tw_mesh_volume(job->winding->surface)));

    bool is_crumbs = solid->report.dropped_tetrahedra > solid->mesh.tetrahedron_count;
    bool is_rest = tw_mesh_volume(&solid->mesh) < least_share * volume;
    if (is_crumbs || is_rest) return too_thin(job, solid->report.cell, error);
    return TW_OK;
}

/* ---- the whole ---- */

/* Fills the repaired surface behind `winding`, and measures the result. */
static tw_status fill_surface(const tw_winding *winding, double wanted, tw_mesh *out,
                              tw_fill_report *report, tw_error *error)
{
    task job = {.winding = winding, .wanted = wanted, .area = tw_winding_area(winding)};
    TW_TRY(check_place(winding, wanted, error));
    TW_TRY(estimate_size(winding, &job, error));
    TW_TRY(tw_fill_check_cost(winding, job.volume, wanted, error));

    trial_solid best = {.report = *report};
    tw_status status = search_cell(&job, &best, error);
    if (status == TW_OK) status = check_loss(&job, &best, error);
    *out = best.mesh;
    *report = best.report;
    TW_TRY(status);

    TW_TRY(tw_mesh_number_along(out, error));
    TW_TRY(tw_fill_measure_distances(winding, out, report, error));
    TW_TRY(tw_mesh_measure(out, &report->quality, error));
    report->volume = tw_mesh_volume(out);
    report->made_vertices = out->vertex_count;
    return TW_OK;
}

tw_status tw_mesh_fill(const tw_mesh *surface, const tw_fill_options *options, tw_mesh *out,
                       tw_fill_report *report, tw_error *error)
{
    /* Check the arguments. */
    if (!surface || !options || !out) return tw_fail_plain(error, TW_INVALID_ARGUMENT);
    *out = (tw_mesh){0};
    if (options->vertex_count < FEWEST_VERTICES)
        return tw_fail(error, TW_INVALID_ARGUMENT,
                       "%lld vertices are asked for, expected at least %d",
                       (long long)options->vertex_count, FEWEST_VERTICES);
    TW_TRY(tw_mesh_check(surface, error));

    TW_TRY(check_size(surface, error));

    /* Take the triangles, build the tree over them, fill. */
    tw_fill_report made = {.wanted_vertices = options->vertex_count};
    tw_mesh triangles = {0};
    tw_winding winding = {0};
    tw_status status = take_surface(surface, &triangles, &made, error);
    if (status == TW_OK) status = tw_winding_create(&triangles, &winding, error);
    if (status == TW_OK)
        status = fill_surface(&winding, (double)options->vertex_count, out, &made, error);

    if (status == TW_OK && report) *report = made;
    if (status != TW_OK) tw_mesh_free(out);
    tw_winding_free(&winding);
    tw_mesh_free(&triangles);
    return status;
}
