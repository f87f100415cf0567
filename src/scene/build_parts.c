/* What bodies of any kind are put together from: particles, springs, what they look like. */
#include "base/allocate.h"
#include "base/fail.h"
#include "scene/scene_internal.h"

tw_status tw_build_particles(tw_model *model, const tw_node *body, const tw_mesh *mesh, tw_error *error)
{
    double *velocities = TW_NEW_ARRAY(3 * mesh->vertex_count, double);
    double *masses = TW_NEW_ARRAY(mesh->vertex_count, double);
    tw_status status = velocities && masses ? TW_OK : tw_fail_plain(error, TW_OUT_OF_MEMORY);
    if (status == TW_OK) {
        double velocity[3], mass = tw_node_number(body, "mass");
        tw_node_numbers(body, "velocity", 3, velocity);
        for (int64_t i = 0; i < mesh->vertex_count; i++) {
            masses[i] = mass;
            for (int k = 0; k < 3; k++) velocities[3 * i + k] = velocity[k];
        }
        status = tw_model_add_particles(model, mesh->vertex_count, mesh->vertices, velocities, masses, NULL, error);
    }
    tw_release(velocities);
    tw_release(masses);
    return status;
}

static int64_t *shifted(int64_t count, const int64_t *indices, int64_t first)
{
    int64_t *copy = TW_NEW_ARRAY(count, int64_t);
    for (int64_t i = 0; copy && i < count; i++) copy[i] = first + indices[i];
    return copy;
}

tw_status tw_build_springs(tw_model *model, int64_t first, int64_t count, const int64_t *edges, double stiffness,
                           tw_error *error)
{
    int64_t *ends = shifted(2 * count, edges, first);
    double *all = TW_NEW_ARRAY(count, double);
    for (int64_t e = 0; all && e < count; e++) all[e] = stiffness;
    tw_status status = ends && all ? tw_model_add_springs(model, count, ends, all, NULL, error)
                                   : tw_fail_plain(error, TW_OUT_OF_MEMORY);
    tw_release(ends);
    tw_release(all);
    return status;
}

tw_status tw_build_edge_springs(tw_model *model, int64_t first, const tw_mesh *mesh, double stiffness, tw_error *error)
{
    int64_t *edges = NULL, count = 0;
    tw_status status = tw_mesh_unique_edges(mesh, &edges, &count, error);
    if (status == TW_OK) status = tw_build_springs(model, first, count, edges, stiffness, error);
    tw_mesh_free_indices(edges);
    return status;
}

tw_status tw_build_display(tw_model *model, int64_t first, const tw_node *body, const tw_mesh *mesh, tw_error *error)
{
    int64_t *edges = shifted(2 * mesh->edge_count, mesh->edges, first);
    int64_t *triangles = shifted(3 * mesh->triangle_count, mesh->triangles, first);
    int64_t *tetrahedra = shifted(4 * mesh->tetrahedron_count, mesh->tetrahedra, first);
    tw_display display = {.name = tw_node_text(body, "kind"),
                          .first = first,
                          .count = mesh->vertex_count,
                          .edge_count = mesh->edge_count,
                          .edges = edges,
                          .triangle_count = mesh->triangle_count,
                          .triangles = triangles,
                          .tetrahedron_count = mesh->tetrahedron_count,
                          .tetrahedra = tetrahedra};
    tw_status status = edges && triangles && tetrahedra ? tw_model_add_display(model, &display, error)
                                                        : tw_fail_plain(error, TW_OUT_OF_MEMORY);
    tw_release(edges);
    tw_release(triangles);
    tw_release(tetrahedra);
    return status;
}
