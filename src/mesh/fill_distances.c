/* How far a solid is from the surface that it fills, in both directions. */
#include "base/allocate.h"
#include "base/fail.h"
#include "base/parallel_for.h"
#include "mesh/mesh_internal.h"

enum { BLOCK = 64 }; /* vertices per block of work */

/* ---- from the vertices on the solid's surface to the input ---- */

typedef struct distance_work {
    const tw_winding *input;
    const tw_mesh *solid;
    char *on_surface;  /* per vertex, zeroed */
    double *distances; /* per vertex; 0 inside the solid */
} distance_work;

static void distance_block(void *context, int64_t begin, int64_t end, int64_t block_index)
{
    (void)block_index;
    const distance_work *w = context;
    for (int64_t i = begin; i < end; i++) {
        w->distances[i] = 0.0;
        if (w->on_surface[i])
            w->distances[i] = tw_winding_distance(w->input, vec3_at(w->solid->vertices, i));
    }
}

static tw_status find_distances(distance_work *work, tw_error *error)
{
    /* Mark the vertices of the surface triangles. */
    int64_t *triangles = NULL;
    int64_t count = 0;
    TW_TRY(tw_mesh_surface(work->solid, &triangles, &count, error));
    for (int64_t i = 0; i < 3 * count; i++) work->on_surface[triangles[i]] = 1;
    tw_mesh_free_indices(triangles);

    tw_parallel_for(work->solid->vertex_count, BLOCK, distance_block, work);
    return TW_OK;
}

static tw_status measure_distances(const tw_winding *input, const tw_mesh *solid,
                                   tw_fill_report *report, tw_error *error)
{
    distance_work work = {.input = input,
                          .solid = solid,
                          .on_surface = tw_allocate_zeroed((size_t)solid->vertex_count, 1),
                          .distances = TW_NEW_ARRAY(solid->vertex_count, double)};
    bool allocated = work.on_surface && work.distances;
    tw_status status = TW_OK;
    if (allocated)
        status = find_distances(&work, error);
    else
        status = tw_fail_plain(error, TW_OUT_OF_MEMORY);

    /* The mean is taken over the vertices on the surface; the others add 0. */
    int64_t vertices = 0;
    double sum = 0.0;
    for (int64_t i = 0; allocated && status == TW_OK && i < solid->vertex_count; i++) {
        vertices += work.on_surface[i];
        sum += work.distances[i];
        report->largest_distance = fmax(report->largest_distance, work.distances[i]);
    }

    report->mean_distance = vertices > 0 ? sum / (double)vertices : 0.0;

    tw_release(work.on_surface);
    tw_release(work.distances);
    return status;
}

/* ---- from the vertices of the input to the solid ---- */

/* The gap is how far the input sticks out of the solid. */
static tw_status measure_gap(const tw_winding *winding, const tw_mesh *solid,
                             tw_fill_report *report, tw_error *error)
{
    const tw_mesh *input = winding->surface;
    double *distances = TW_NEW_ARRAY(input->vertex_count, double);
    if (!distances) return tw_fail_plain(error, TW_OUT_OF_MEMORY);

    /* Embedding a point also gives its distance from the solid; 0 inside. */
    tw_embedding embedding = {0};
    tw_status status =
        tw_embed_points(solid, input->vertex_count, input->vertices, &embedding, distances, error);
    for (int64_t i = 0; status == TW_OK && i < input->vertex_count; i++)
        report->largest_gap = fmax(report->largest_gap, distances[i]);
    if (status == TW_OK) status = tw_fill_find_lost_parts(winding, solid, distances, report, error);

    tw_embedding_free(&embedding);
    tw_release(distances);
    return status;
}

tw_status tw_fill_measure_distances(const tw_winding *input, const tw_mesh *solid,
                                    tw_fill_report *report, tw_error *error)
{
    TW_TRY(measure_distances(input, solid, report, error));
    return measure_gap(input, solid, report, error);
}
