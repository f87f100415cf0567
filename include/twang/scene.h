/** @file scene.h
 *  Scene files: what is simulated and how, as YAML. Keys, units, ranges and defaults are in
 *  docs/scene-format.md.
 *
 *      tw_scene *scene;
 *      if (tw_scene_load("scenes/rope.yaml", 0, NULL, &scene, &error) != TW_OK) puts(error.text);
 *      tw_simulation *simulation;
 *      tw_scene_build(scene, &simulation, &error);          // to drive an integrator yourself
 *      tw_run_scene(scene, &run_options, &report, &error);  // or all of it at once, see run.h
 */
#ifndef TWANG_SCENE_H
#define TWANG_SCENE_H

#include <stdbool.h>
#include <stddef.h>
#include <twang/integrator.h>
#include <twang/model.h>

#ifdef __cplusplus
extern "C" {
#endif

/** A scene file, read and checked, defaults filled in. Constant after loading: any thread may read
 *  it. */
typedef struct tw_scene tw_scene;

/** A change to the file's contents before they are checked, as by `--set bodies.0.mass=2`. */
typedef struct tw_scene_setting {
    /** What an error names instead of a place in the file: "--set bodies.0.mass=2". */
    const char *origin;
    const char *path;  /**< keys and list indices from 0, joined by points: "bodies.0.mass" */
    const char *value; /**< YAML: a number, a word, [0, 0, -1]; NULL removes the key */
} tw_scene_setting;

/** Reads a file. `settings` (may be NULL if `count` is 0) are applied in order. TW_BAD_INPUT with
 *  "file:line:column: what is wrong, what would be right" if the file cannot be read or is no
 *  valid scene. */
TW_API tw_status tw_scene_load(const char *path, int count, const tw_scene_setting *settings,
                               tw_scene **out, tw_error *error);
/** The same from memory; errors name `origin`, which is copied. */
TW_API tw_status tw_scene_parse(const char *origin, const char *text, size_t size, int count,
                                const tw_scene_setting *settings, tw_scene **out, tw_error *error);
/** Frees; accepts NULL. */
TW_API void tw_scene_free(tw_scene *scene);

/** The path of the file number `index` (from 0) that the scene reads besides itself: meshes, roots
 *  of fibres, sequences of meshes. NULL past the last. Lives as long as the scene. */
TW_API const char *tw_scene_file(const tw_scene *scene, int index);

TW_API const char *tw_scene_name(const tw_scene *scene);
TW_API double tw_scene_duration(const tw_scene *scene); /**< [s] */
TW_API double tw_scene_fps(const tw_scene *scene);      /**< frames per simulated second; 0: none */
/** `integrator` and `phi` of the scene as options. */
TW_API tw_integrator_options tw_scene_integrator_options(const tw_scene *scene);

/** Any number (whole number, bool as 0 or 1, choice as its index) of the scene by its path, or
 *  `otherwise` if it is not there. */
TW_API double tw_scene_number(const tw_scene *scene, const char *path, double otherwise);
/** Any word of the scene by its path; NULL if it is not there. Owned by the scene. */
TW_API const char *tw_scene_word(const tw_scene *scene, const char *path);

/** The scene with its settings and defaults written out, as YAML that loads to the same scene.
 *  `*text` is terminated and freed by tw_scene_free_text. */
TW_API tw_status tw_scene_write(const tw_scene *scene, char **text, size_t *size, tw_error *error);
TW_API void tw_scene_free_text(char *text); /**< accepts NULL */

/** Puts "file:line:column: " of what `path` names before the text of `error`, and makes it
 *  TW_BAD_INPUT: for what is found wrong with a scene only later. Returns TW_BAD_INPUT. */
TW_API tw_status tw_scene_blame(const tw_scene *scene, const char *path, tw_error *error);

/** Makes what the scene describes. Free with tw_simulation_free; independent of the scene
 *  afterwards. */
TW_API tw_status tw_scene_build(const tw_scene *scene, tw_simulation **out, tw_error *error);

/** Makes the model of a scene with bodies, so that more can be added to it before it becomes a
 *  simulation (tw_simulation_of_model). Free it with tw_model_free otherwise. TW_UNSUPPORTED for a
 *  scene with a system of equations. */
TW_API tw_status tw_scene_build_model(const tw_scene *scene, tw_model **out, tw_error *error);

/** Creates an integrator for a simulation, of first or second order, and starts it at t = 0 from
 *  the simulation's initial state. Free with tw_integrator_free; the simulation must outlive it.
 *  Errors as for tw_integrator_create_second_order() and tw_integrator_start(). */
TW_API tw_status tw_simulation_integrator(const tw_simulation *simulation,
                                          const tw_integrator_options *options, tw_integrator **out,
                                          tw_error *error);

/** Creates an integrator for the scene's simulation with the scene's options and does not start it.
 *  TW_BAD_INPUT, with the place of `integrator` in the file, if the two do not fit together. The
 *  simulation must outlive the integrator. */
TW_API tw_status tw_scene_create_integrator(const tw_scene *scene, const tw_simulation *simulation,
                                            tw_integrator **out, tw_error *error);

/** One key of the scene format. Static storage. */
typedef struct tw_scene_key {
    /** Path of the map it stands in: "", "integrator", "bodies", "tests.final". */
    const char *section;
    const char *key;      /**< "step" */
    const char *unit;     /**< "m/s^2"; "" if it has none */
    const char *fallback; /**< default as it would be written; "" if there is none */
    const char *text;     /**< what it means */
    bool required;        /**< a scene must give it */
    char kinds[100];      /**< kinds it applies to, "coil box"; "" for all */
    char type[400];       /**< "a number > 0", "one of csv, none" */
} tw_scene_key;
/** The `index`-th key of the format, from 0, or TW_INVALID_ARGUMENT past the last. The
 *  documentation is made from it. */
TW_API tw_status tw_scene_key_at(int index, tw_scene_key *key);

#ifdef __cplusplus
}
#endif
#endif
