#include "scene/obstacle_surface.h"

#include <stdio.h>

#include "base/allocate.h"
#include "base/fail.h"
#include "base/log_line.h"
#include "mesh/mesh_internal.h"
#include "scene/scene_internal.h"

/* Replaces a solid by its surface. Vertices inside it are dropped. */
static tw_status keep_surface(tw_mesh *mesh, tw_error *error)
{
    int64_t *triangles = NULL;
    int64_t count = 0;
    tw_mesh surface = {0};
    TW_TRY(tw_mesh_surface(mesh, &triangles, &count, error));
    tw_status status = tw_mesh_allocate(&surface, mesh->vertex_count, 0, count, 0, error);

    if (status == TW_OK) {
        for (int64_t i = 0; i < 3 * mesh->vertex_count; i++)
            surface.vertices[i] = mesh->vertices[i];
        for (int64_t i = 0; i < 3 * count; i++) surface.triangles[i] = triangles[i];
        status = tw_mesh_repair(&surface, NULL, error);
    }
    tw_mesh_free_indices(triangles);
    tw_mesh_free(mesh);
    *mesh = surface;
    return status;
}

tw_status tw_obstacle_surface(const tw_node *node, const char *path, tw_mesh *out, tw_error *error)
{
    tw_mesh_repairs repairs = {0};
    const char *file = tw_node_text(node, "file");
    TW_TRY(tw_mesh_load(file, out, &repairs, error));
    if (out->tetrahedron_count > 0) TW_TRY(keep_surface(out, error));
    if (out->triangle_count == 0)
        return tw_fail_at(error, tw_node_find(node, "file")->mark,
                          "%s.file %.200s has no triangles, give a surface", path, file);

    /* It is placed like a body. */
    tw_body body = {.node = node, .mesh = *out};
    snprintf(body.path, sizeof body.path, "%s", path);
    tw_status status = tw_place_body(&body, error);
    *out = body.mesh;
    return status;
}

void tw_report_surface(const char *path, const tw_node *node, const tw_mesh *surface)
{
    /* "obstacles.0 (bowl), bowl.obj". */
    const char *name = tw_node_text(node, "name");
    char who[400];
    snprintf(who, sizeof who, "%s%s%.60s%s, %.200s", path, name ? " (" : "", name ? name : "",
             name ? ")" : "", tw_node_text(node, "file"));

    tw_mesh_quality quality = {0};
    int64_t pair[2] = {-1, -1};
    if (tw_mesh_measure(surface, &quality, NULL) != TW_OK) return;
    if (tw_find_crossing(surface, pair, NULL) != TW_OK) return;

    /* The worst comes first; one line is enough. */
    if (pair[0] >= 0)
        tw_log_line(TW_LOG_WARNING,
                    "%s: crosses itself (triangles %lld and %lld), bodies between the two parts "
                    "are pushed both ways",
                    who, (long long)pair[0], (long long)pair[1]);
    else if (quality.crowded_edges > 0)
        tw_log_line(TW_LOG_WARNING,
                    "%s: %lld edges have more than two triangles, inside and outside are not "
                    "defined there",
                    who, (long long)quality.crowded_edges);
    else if (quality.open_edges > 0)
        tw_log_line(TW_LOG_INFO,
                    "%s: is open (%lld edges have one triangle), bodies touch it from both sides",
                    who, (long long)quality.open_edges);
}
