/* Bodies from files. */
#include <string.h>

#include "base/fail.h"
#include "base/log_line.h"
#include "scene/scene_internal.h"

tw_status tw_build_mesh(tw_body *body, tw_error *error)
{
    const char *file = tw_node_text(body->node, "file");
    tw_mesh_repairs repairs = {0};
    tw_status status = tw_mesh_load(file, &body->mesh, &repairs, error);
    if (status != TW_OK) return status;
    if (body->mesh.tetrahedron_count == 0)
        return tw_fail_at(error, tw_node_find(body->node, "file")->mark,
                          "%s.file is a surface, give tetrahedra (TetGen, Gmsh, VTK or MEDIT)", body->path);
    char text[300];
    tw_mesh_repairs none = {0};
    if (memcmp(&repairs, &none, sizeof none) != 0)
        tw_log_line(TW_LOG_INFO, "%s: %s", file, tw_mesh_repairs_text(&repairs, text, sizeof text));
    return TW_OK;
}
