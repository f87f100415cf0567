/* A scene with the changes of the sliders. */
#ifndef VIEWER_VIEW_TUNED_H
#define VIEWER_VIEW_TUNED_H

#include <stdlib.h>

#include "view_lane.h"

/* The scene with its elastic constants multiplied; free it with tw_scene_free. *out is NULL where the
 * sliders change none of them: then source->scene is meant, whose errors name the lines of its file. */
tw_status view_source_tuned(const view_source *source, const view_tuning *tuning, tw_scene **out,
                            tw_error *error);
/* Its integrator options, with the sliders' step and tolerance; `scheme` NULL: as in the scene. */
tw_integrator_options view_source_options(const tw_scene *scene, const view_tuning *tuning,
                                          const char *scheme);
/* beta of its Rayleigh damping [s]; 0 if it has none. */
double view_source_beta(const tw_scene *scene);

#endif
