/* Bodies from files. */
#include <string.h>

#include "base/fail.h"
#include "base/log_line.h"
#include "scene/scene_internal.h"

/* Keeps the surface as it is in the file, and fills it. */
static tw_status fill(tw_body *body, const char *file, tw_error *error)
{
    tw_fill_options options = tw_fill_options_default();
    options.vertex_count = tw_node_integer(body->node, "vertices");
    tw_mesh_free(&body->mesh);
    tw_status status = tw_mesh_load(file, &body->surface, NULL, error);
    return status == TW_OK ? tw_mesh_fill(&body->surface, &options, &body->mesh, NULL, error)
                           : status;
}

tw_status tw_build_mesh(tw_body *body, tw_error *error)
{
    const char *file = tw_node_text(body->node, "file");
    tw_mesh_repairs repairs = {0};
    tw_status status = tw_mesh_load(file, &body->mesh, &repairs, error);
    if (status != TW_OK) return status;
    if (body->mesh.tetrahedron_count == 0) return fill(body, file, error);
    char text[300];
    tw_mesh_repairs none = {0};
    if (memcmp(&repairs, &none, sizeof none) != 0)
        tw_log_line(TW_LOG_INFO, "%s: %s", file, tw_mesh_repairs_text(&repairs, text, sizeof text));
    return TW_OK;
}
