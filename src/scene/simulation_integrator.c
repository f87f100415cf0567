/* From a simulation to an integrator. It stands here because neither of the two rooms may see the
 * other. */
#include <twang/scene.h>

#include "base/fail.h"

static tw_status create(const tw_simulation *simulation, const tw_integrator_options *options,
                        tw_integrator **out, tw_error *error)
{
    const tw_second_order_problem *second = tw_simulation_second_order(simulation);
    if (second) return tw_integrator_create_second_order(second, options, out, error);
    return tw_integrator_create_first_order(tw_simulation_first_order(simulation), options, out,
                                            error);
}

tw_status tw_simulation_integrator(const tw_simulation *simulation,
                                   const tw_integrator_options *options, tw_integrator **out,
                                   tw_error *error)
{
    if (!simulation || !out) return tw_fail_plain(error, TW_INVALID_ARGUMENT);
    *out = NULL;

    tw_integrator *integrator = NULL;
    tw_status status = create(simulation, options, &integrator, error);
    if (status == TW_OK)
        status = tw_integrator_start(integrator, 0.0, tw_simulation_start(simulation), error);

    if (status != TW_OK) {
        tw_integrator_free(integrator);
        return status;
    }
    *out = integrator;
    return TW_OK;
}

tw_status tw_scene_create_integrator(const tw_scene *scene, const tw_simulation *simulation,
                                     tw_integrator **out, tw_error *error)
{
    if (!scene || !simulation || !out) return tw_fail_plain(error, TW_INVALID_ARGUMENT);
    tw_integrator_options options = tw_scene_integrator_options(scene);
    tw_status status = create(simulation, &options, out, error);

    /* What does not fit together was written in the scene file: the error names the place. */
    bool scene_is_wrong = status == TW_UNSUPPORTED || status == TW_INVALID_ARGUMENT;
    return scene_is_wrong ? tw_scene_blame(scene, "integrator", error) : status;
}
