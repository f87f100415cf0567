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
    LEAST_LIMIT = 4000000, /* nodes that a lattice may have even for a few vertices */
    FIRST_NODES = 12000    /* of the lattice that measures the volume */
};

/* A lattice may have this many nodes per vertex wanted. A larger one would take hours for a
 * solid that is a small part of its bounding box. */
static const double most_nodes_per_vertex = 500.0;

/* Parts of the input that are too thin for the lattice become thicker by this share of a cell on
 * each side: less than half a cell, and enough for the lattice to hold them. */
static const double thin_reach = 0.49;

/* Thin parts are looked for only if the solid has this share of the volume; otherwise
 * most of the input is thin. */
static const double least_filled_share = 0.85;

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
    return tw_fail(error, TW_BAD_INPUT,
                   "the surface encloses nothing, expected one that is closed, or nearly so");
}

/* Estimates the volume by a coarse lattice, which is made finer as long as no node is inside. */
static tw_status estimate_volume(const tw_winding *winding, double *volume, tw_error *error)
{
    const tw_box *box = &winding->tree.nodes[0].box;
    double size = 0.0;

    for (int k = 0; k < 3; k++) size = fmax(size, box->upper[k] - box->lower[k]);
    if (!(size > 0.0)) return nothing_inside(error);

    /* With the sides s_k of the box there are 2 s_0 s_1 s_2 / cell^3 nodes; a flat box
     * counts as a little thick. */
    double product = 1.0;
    for (int k = 0; k < 3; k++) product *= fmax((box->upper[k] - box->lower[k]) / size, 1e-3);
    double cell = size * cbrt(2.0 * product / FIRST_NODES);

    tw_body_shape shape = {.surface = winding};
    for (int trial = 0; trial < 3; trial++, cell *= 0.5) {
        tw_status status = tw_bcc_estimate_volume(&shape, cell, volume, error);
        if (status != TW_OK || *volume > 0.0) return status;
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

    tw_mesh thin = {0};
    tw_status status = tw_find_thin_parts(job->winding->surface, solid, cell, &thin, error);
    if (status == TW_OK && thin.triangle_count > 0)
        status = fill_thicker(job, cell, &thin, solid, error);
    tw_mesh_free(&thin);
    return status;
}

/* Makes one solid with cells of this size. */
static tw_status fill_with(const task *job, double cell, tw_mesh *out, tw_fill_report *report,
                           tw_error *error)
{
    tw_body_shape shape = {.surface = job->winding};
    tw_status status = fill_shape(&shape, cell, job->wanted, out, error);

    /* Thin parts may connect pieces; therefore they come before the choice of the largest piece. */
    if (status == TW_OK) status = thicken(job, cell, out, error);
    if (status == TW_OK)
        status = tw_keep_largest_piece(out, &report->dropped_components,
                                       &report->dropped_tetrahedra, error);
    report->cell = cell;
    if (status != TW_OK) tw_mesh_free(out);

    return status;
}

/* ---- the search for the cell ---- */

/* |log(N / wanted)|; an empty mesh counts as half a vertex. */
static double mismatch(const tw_mesh *mesh, double wanted)
{
    return fabs(log(fmax((double)mesh->vertex_count, 0.5) / wanted));
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
static bool is_near(const tw_mesh *best, int trial, const bracket *b, double wanted)
{
    if (best->vertex_count == 0) return false;
    if (b->many_cell > 0.0 && b->few_cell > 0.0 && b->few_cell < 1.002 * b->many_cell) return true;

    double tolerance = 0.04;
    if (trial < 6) tolerance = 0.02;
    if (trial < 3) tolerance = 0.01;
    return mismatch(best, wanted) < tolerance;
}

static tw_status search_cell(const task *job, tw_mesh *best, tw_fill_report *report,
                             tw_error *error)
{
    /* First guess: two nodes per cube, and some more on the surface. */
    double wanted = job->wanted;
    double cell = cbrt(2.0 * job->volume / wanted) * (1.0 + 1.2 / cbrt(wanted));

    bracket tried = {0};
    for (int trial = 0; trial < MOST_TRIALS && !is_near(best, trial, &tried, wanted); trial++) {
        tw_mesh mesh;
        tw_fill_report found = *report;
        TW_TRY(fill_with(job, cell, &mesh, &found, error));
        narrow(&tried, cell, (double)mesh.vertex_count, wanted);

        /* Keep the mesh that comes nearest to the number wanted. */
        if (best->vertex_count == 0 || mismatch(&mesh, wanted) < mismatch(best, wanted)) {
            tw_mesh_free(best);
            *best = mesh;
            *report = found;
        } else {
            tw_mesh_free(&mesh);
        }
        cell = next_cell(&tried, trial, wanted);
    }

    return best->tetrahedron_count > 0 ? TW_OK : nothing_inside(error);
}

/* ---- the whole ---- */

/* Fills the repaired surface behind `winding`, and measures the result. */
static tw_status fill_surface(const tw_winding *winding, double wanted, tw_mesh *out,
                              tw_fill_report *report, tw_error *error)
{
    task job = {.winding = winding, .wanted = wanted};
    TW_TRY(check_place(winding, wanted, error));
    TW_TRY(estimate_volume(winding, &job.volume, error));
    TW_TRY(tw_fill_check_cost(winding, job.volume, wanted, error));
    TW_TRY(search_cell(&job, out, report, error));
    TW_TRY(tw_fill_measure_distances(winding, out, report, error));
    TW_TRY(tw_mesh_measure(out, &report->quality, error));
    report->volume = tw_mesh_volume(out);
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
    tw_fill_report made = {0};
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
