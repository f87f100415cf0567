#include "base/fail.h"
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
    tw_shape shape = {0};
    tw_status status = tw_body_coil(&coil, &shape);
    if (status == TW_OK)
        status = tw_build_shape(model, body, &shape, error);
    else
        tw_fail_plain(error, status);
    tw_shape_free(&shape);
    return status;
}
