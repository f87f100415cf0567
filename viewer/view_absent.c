/* Stands in for the server in a build without libwebsockets or jansson. */
#include <stdio.h>

#include "view.h"

const char *view_missing(void)
{
    return "libwebsockets and jansson (Debian: libwebsockets-dev libjansson-dev)";
}

static tw_status refuse(tw_error *error)
{
    snprintf(error->text, sizeof error->text, "twang was built without %s", view_missing());
    error->status = TW_UNSUPPORTED;
    return TW_UNSUPPORTED;
}

tw_status view_scene(tw_scene *scene, const view_options *options, tw_error *error)
{
    tw_scene_free(scene);
    (void)options;
    return refuse(error);
}

tw_status view_run(const char *directory, const view_options *options, tw_error *error)
{
    (void)directory;
    (void)options;
    return refuse(error);
}

tw_status view_film(const char *report, const char *video, const char *poster, tw_error *error)
{
    (void)report;
    (void)video;
    (void)poster;
    return refuse(error);
}
