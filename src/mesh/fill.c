/* From a surface to a solid of about so many vertices. */
#include <stdbool.h>
#include <string.h>
#include <twang/mesh.h>

#include "base/allocate.h"
#include "base/fail.h"
#include "base/parallel_for.h"
#include "mesh/edge_pairs.h"
#include "mesh/embed.h"
#include "mesh/largest_piece.h"
#include "mesh/stencil.h"
#include "mesh/thin_parts.h"

enum {
    FEWEST_VERTICES = 8,
    MOST_TRIALS = 12,      /* of the size of the cell */
    LEAST_LIMIT = 4000000, /* nodes a lattice may always have */
    FIRST_NODES = 12000    /* of the lattice that measures the volume */
};
/* Parts of the input that are too thin for the lattice become a cell thicker: by less than half a cell to either
 * side, and enough for the lattice to hold them. */
static const double thin_reach = 0.49;

tw_fill_options tw_fill_options_default(void)
{
    return (tw_fill_options){.vertex_count = 4000};
}

/* The triangles to fill, repaired: those of a surface, or the boundary of a solid. */
static tw_status take_surface(const tw_mesh *mesh, tw_mesh *surface, tw_fill_report *report,
                              tw_error *error)
{
    int64_t *triangles = NULL, count = 0;
    tw_edge_pairs pairs = {0};
    tw_status status = tw_mesh_surface(mesh, &triangles, &count, error);
    if (status == TW_OK) status = tw_mesh_allocate(surface, mesh->vertex_count, 0, count, 0, error);
    if (status == TW_OK) {
        if (mesh->vertex_count > 0)
            memcpy(surface->vertices, mesh->vertices,
                   (size_t)mesh->vertex_count * 3 * sizeof(double));
        memcpy(surface->triangles, triangles, (size_t)count * 3 * sizeof(int64_t));
        status = tw_mesh_repair(surface, &report->repairs, error);
    }
    tw_mesh_free_indices(triangles);
    if (status == TW_OK && surface->triangle_count == 0)
        status =
            tw_fail(error, TW_BAD_INPUT, "the mesh has no triangles to fill, expected a surface");
    if (status == TW_OK)
        status = tw_edge_pairs_find(surface->triangle_count, surface->triangles,
                                    surface->vertex_count, &pairs, error);
    report->input_open_edges = pairs.open;
    report->input_crowded_edges = pairs.crowded;
    tw_release(pairs.partner);
    return status;
}

static tw_status nothing_inside(tw_error *error)
{
    return tw_fail(error, TW_BAD_INPUT,
                   "the surface encloses nothing, expected one that is closed, or nearly so");
}

/* The volume by a coarse lattice, made finer as long as it sees nothing. */
static tw_status estimate_volume(const tw_winding *winding, double *volume, tw_error *error)
{
    const tw_box *box = &winding->tree.nodes[0].box;
    double size = 0.0, product = 1.0;
    for (int k = 0; k < 3; k++) size = fmax(size, box->upper[k] - box->lower[k]);
    if (!(size > 0.0)) return nothing_inside(error);
    for (int k = 0; k < 3; k++) product *= fmax((box->upper[k] - box->lower[k]) / size, 1e-3);
    double cell = size * cbrt(2.0 * product / FIRST_NODES);
    for (int trial = 0; trial < 3; trial++, cell *= 0.5) {
        tw_body_shape shape = {.surface = winding};
        tw_status status = tw_bcc_estimate_volume(&shape, cell, volume, error);
        if (status != TW_OK || *volume > 0.0) return status;
    }
    return nothing_inside(error);
}

/* All pieces of one solid with cells of this size. A lattice much larger than the solid is refused: it would take
 * hours. */
static tw_status fill_shape(const tw_body_shape *shape, double cell, double wanted, tw_mesh *out,
                            tw_error *error)
{
    tw_bcc lattice;
    *out = (tw_mesh){0};
    tw_status status =
        tw_bcc_create(shape, cell, fmax(LEAST_LIMIT, 500.0 * wanted), &lattice, error);
    if (status != TW_OK) return status;
    status = tw_bcc_cut_tetrahedra(&lattice, out, error);
    tw_bcc_free(&lattice);
    return status;
}

/* Fills again with what sticks out of `solid` thickened, if there is such a thing and it is not most of the solid. */
static tw_status thicken(const tw_winding *winding, double cell, double wanted, double volume,
                         tw_mesh *solid, tw_error *error)
{
    if (solid->tetrahedron_count == 0 || tw_mesh_volume(solid) < 0.85 * volume) return TW_OK;
    tw_mesh thin = {0}, thicker = {0};
    tw_winding parts = {0};
    tw_body_shape shape = {winding, &parts, thin_reach * cell};
    tw_status status = tw_find_thin_parts(winding->surface, solid, cell, &thin, error);
    if (status == TW_OK && thin.triangle_count > 0) {
        status = tw_winding_create(&thin, &parts, error);
        if (status == TW_OK) status = fill_shape(&shape, cell, wanted, &thicker, error);
        if (status == TW_OK) {
            tw_mesh_free(solid);
            *solid = thicker;
        }
    }
    tw_winding_free(&parts);
    tw_mesh_free(&thin);
    return status;
}

/* One solid with cells of this size. */
static tw_status fill_with(const tw_winding *winding, double cell, double wanted, double volume,
                           tw_mesh *out, tw_fill_report *report, tw_error *error)
{
    tw_body_shape shape = {.surface = winding};
    tw_status status = fill_shape(&shape, cell, wanted, out, error);
    if (status == TW_OK) status = thicken(winding, cell, wanted, volume, out, error);
    if (status == TW_OK)
        status = tw_keep_largest_piece(out, &report->dropped_components,
                                       &report->dropped_tetrahedra, error);
    report->cell = cell;
    if (status != TW_OK) tw_mesh_free(out);
    return status;
}

static double mismatch(const tw_mesh *mesh, double wanted)
{
    return fabs(log(fmax((double)mesh->vertex_count, 0.5) / wanted));
}

/* The trials so far: the finest cell that gave too few vertices, the coarsest that gave too many. */
typedef struct bracket {
    double few_cell, few_count; /* 0 if there is none yet */
    double many_cell, many_count;
} bracket;

/* log N is nearly linear in log cell, with a slope between -3 (all inside) and -2 (all surface): a secant between the
 * two ends, or from the one there is. The lattice jumps by layers, hence halving where the secant would stay put. */
static double next_cell(const bracket *b, int trial, double wanted)
{
    if (b->many_cell == 0.0)
        return b->few_cell * (b->few_count < 1.0 ? 0.6 : pow(b->few_count / wanted, 1.0 / 2.7));
    if (b->few_cell == 0.0) return b->many_cell * pow(b->many_count / wanted, 1.0 / 2.7);
    double width = log(b->few_cell / b->many_cell), share = 0.5;
    if (b->few_count >= 1.0 && trial % 3 != 2)
        share = log(b->many_count / wanted) / log(b->many_count / b->few_count);
    return b->many_cell * exp(width * fmin(fmax(share, 0.05), 0.95));
}

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

/* Near enough, or as near as the lattice comes. */
static bool is_near(const tw_mesh *best, int trial, const bracket *b, double wanted)
{
    if (best->vertex_count == 0) return false;
    if (b->many_cell > 0.0 && b->few_cell > 0.0 && b->few_cell < 1.002 * b->many_cell) return true;
    return mismatch(best, wanted) < (trial < 3 ? 0.01 : trial < 6 ? 0.02 : 0.04);
}

static tw_status search_cell(const tw_winding *winding, double wanted, double volume, tw_mesh *best,
                             tw_fill_report *report, tw_error *error)
{
    /* Two nodes per cube, and some more on the surface. */
    double cell = cbrt(2.0 * volume / wanted) * (1.0 + 1.2 / cbrt(wanted));
    bracket tried = {0};
    for (int trial = 0; trial < MOST_TRIALS && !is_near(best, trial, &tried, wanted); trial++) {
        tw_mesh mesh;
        tw_fill_report found = *report;
        tw_status status = fill_with(winding, cell, wanted, volume, &mesh, &found, error);
        if (status != TW_OK) return status;
        narrow(&tried, cell, (double)mesh.vertex_count, wanted);
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

typedef struct distance_work {
    const tw_winding *winding;
    const tw_mesh *mesh;
    const char *on_surface;
    double *distances;
} distance_work;

static void distance_block(void *context, int64_t begin, int64_t end, int64_t block_index)
{
    (void)block_index;
    const distance_work *w = context;
    for (int64_t i = begin; i < end; i++)
        w->distances[i] =
            w->on_surface[i] ? tw_winding_distance(w->winding, vec3_at(w->mesh->vertices, i)) : 0.0;
}

/* on_surface and distances have an entry for each vertex; on_surface is zeroed. */
static tw_status find_distances(const tw_winding *winding, const tw_mesh *mesh, char *on_surface,
                                double *distances, tw_error *error)
{
    int64_t *triangles = NULL, count = 0;
    tw_status status = tw_mesh_surface(mesh, &triangles, &count, error);
    if (status != TW_OK) return status;
    for (int64_t i = 0; i < 3 * count; i++) on_surface[triangles[i]] = 1;
    tw_mesh_free_indices(triangles);
    distance_work work = {winding, mesh, on_surface, distances};
    tw_parallel_for(mesh->vertex_count, 64, distance_block, &work);
    return TW_OK;
}

static tw_status measure_distances(const tw_winding *winding, const tw_mesh *mesh,
                                   tw_fill_report *report, tw_error *error)
{
    int64_t vertices = 0;
    char *on_surface = tw_allocate_zeroed((size_t)mesh->vertex_count, 1);
    double *distances = TW_NEW_ARRAY(mesh->vertex_count, double), sum = 0.0;
    tw_status status = TW_OUT_OF_MEMORY;
    if (on_surface && distances)
        status = find_distances(winding, mesh, on_surface, distances, error);
    else
        tw_fail_plain(error, TW_OUT_OF_MEMORY);
    for (int64_t i = 0; status == TW_OK && i < mesh->vertex_count; i++) {
        vertices += on_surface[i];
        sum += distances[i];
        report->largest_distance = fmax(report->largest_distance, distances[i]);
    }
    report->mean_distance = vertices > 0 ? sum / (double)vertices : 0.0;
    tw_release(on_surface);
    tw_release(distances);
    return status;
}

/* How far the input sticks out of the solid. */
static tw_status measure_gap(const tw_mesh *input, const tw_mesh *solid, tw_fill_report *report,
                             tw_error *error)
{
    tw_embedding embedding = {0};
    double *distances = TW_NEW_ARRAY(input->vertex_count, double);
    if (!distances) return tw_fail_plain(error, TW_OUT_OF_MEMORY);
    tw_status status =
        tw_embed_points(solid, input->vertex_count, input->vertices, &embedding, distances, error);
    for (int64_t i = 0; status == TW_OK && i < input->vertex_count; i++)
        report->largest_gap = fmax(report->largest_gap, distances[i]);
    tw_embedding_free(&embedding);
    tw_release(distances);
    return status;
}

tw_status tw_mesh_fill(const tw_mesh *surface, const tw_fill_options *options, tw_mesh *out,
                       tw_fill_report *report, tw_error *error)
{
    if (!surface || !options || !out) return tw_fail_plain(error, TW_INVALID_ARGUMENT);
    *out = (tw_mesh){0};
    if (options->vertex_count < FEWEST_VERTICES)
        return tw_fail(error, TW_INVALID_ARGUMENT,
                       "%lld vertices are asked for, expected at least %d",
                       (long long)options->vertex_count, FEWEST_VERTICES);
    tw_fill_report made = {0};
    tw_mesh triangles = {0};
    tw_winding winding = {0};
    double volume = 0.0;
    tw_status status = tw_mesh_check(surface, error);
    if (status == TW_OK) status = take_surface(surface, &triangles, &made, error);
    if (status == TW_OK) status = tw_winding_create(&triangles, &winding, error);
    if (status == TW_OK) status = estimate_volume(&winding, &volume, error);
    if (status == TW_OK)
        status = search_cell(&winding, (double)options->vertex_count, volume, out, &made, error);
    if (status == TW_OK) status = measure_distances(&winding, out, &made, error);
    if (status == TW_OK) status = measure_gap(&triangles, out, &made, error);
    if (status == TW_OK) status = tw_mesh_measure(out, &made.quality, error);
    made.volume = status == TW_OK ? tw_mesh_volume(out) : 0.0;
    if (status == TW_OK && report) *report = made;
    if (status != TW_OK) tw_mesh_free(out);
    tw_winding_free(&winding);
    tw_mesh_free(&triangles);
    return status;
}
