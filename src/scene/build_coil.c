#include "scene/scene_internal.h"

tw_status tw_build_coil(tw_model *model, const tw_node *body, const char *path, tw_error *error)
{
    (void)path;
    tw_coil coil = {.sections = tw_node_integer(body, "sections"),
                    .across = tw_node_integer(body, "across"),
                    .turns = tw_node_number(body, "turns"),
                    .radius = tw_node_number(body, "radius"),
                    .height = tw_node_number(body, "height"),
                    .thickness = tw_node_number(body, "thickness")};
    tw_mesh mesh = {0};
    int64_t first = tw_model_particle_count(model);
    tw_status status = tw_body_coil(&coil, &mesh, error);
    if (status == TW_OK) status = tw_build_particles(model, body, &mesh, error);
    if (status == TW_OK) status = tw_build_edge_springs(model, first, &mesh, tw_node_number(body, "stiffness"), error);
    if (status == TW_OK) status = tw_build_display(model, first, body, &mesh, error);
    tw_mesh_free(&mesh);
    return status;
}
