/* A scene: loading, checking, looking up values, writing it back. */
#include <string.h>
#include <twang/scene.h>

#include "base/allocate.h"
#include "base/fail.h"
#include "base/read_file.h"
#include "scene/scene_internal.h"

/* ---- loading ---- */

static tw_status parse_text(tw_tree *tree, const char *origin, const char *text, size_t size,
                            tw_error *error)
{
    const char *kept_origin = tw_tree_text(tree, origin, strlen(origin));
    if (!kept_origin) return tw_fail_plain(error, TW_OUT_OF_MEMORY);

    tw_yaml yaml = {.origin = kept_origin, .positioned = true, .text = text, .size = size};
    return tw_tree_parse(tree, &yaml, &tree->root, error);
}

/* Applies the settings and checks the result. */
static tw_status complete(tw_scene *scene, int count, const tw_scene_setting *settings,
                          tw_error *error)
{
    for (int i = 0; i < count; i++) {
        if (!settings[i].origin || !settings[i].path)
            return tw_fail_plain(error, TW_INVALID_ARGUMENT);
        TW_TRY(tw_tree_set(&scene->tree, settings[i].origin, settings[i].path, settings[i].value,
                           error));
    }

    TW_TRY(tw_schema_check(&scene->tree, error));
    TW_TRY(tw_scene_check_rules(scene, error));
    return tw_scene_resolve_files(scene, error);
}

tw_status tw_scene_parse(const char *origin, const char *text, size_t size, int count,
                         const tw_scene_setting *settings, tw_scene **out, tw_error *error)
{
    if (!out) return tw_fail_plain(error, TW_INVALID_ARGUMENT);
    *out = NULL;
    if (!origin || !text || count < 0 || (count && !settings))
        return tw_fail_plain(error, TW_INVALID_ARGUMENT);

    tw_scene *scene = TW_NEW(tw_scene);
    if (!scene) return tw_fail_plain(error, TW_OUT_OF_MEMORY);
    tw_status status = parse_text(&scene->tree, origin, text, size, error);
    if (status == TW_OK) status = complete(scene, count, settings, error);

    if (status == TW_OK)
        *out = scene;
    else
        tw_scene_free(scene);
    return status;
}

void tw_scene_free(tw_scene *scene)
{
    if (!scene) return;
    tw_tree_free(&scene->tree);
    tw_release((void *)scene->files);
    tw_release(scene);
}

tw_status tw_scene_load(const char *path, int count, const tw_scene_setting *settings,
                        tw_scene **out, tw_error *error)
{
    if (!path || !out) return tw_fail_plain(error, TW_INVALID_ARGUMENT);
    *out = NULL;

    /* The parser refuses a file of more bytes than the limit. */
    char *text = NULL;
    size_t size = 0;
    tw_status status = tw_read_file(path, TW_TREE_MAX_BYTES, &text, &size, error);

    /* A file that cannot be read is bad input, like one whose content is wrong. */
    if (status == TW_INPUT_OUTPUT) {
        if (error) error->status = TW_BAD_INPUT;
        return TW_BAD_INPUT;
    }

    if (status == TW_OK) status = tw_scene_parse(path, text, size, count, settings, out, error);
    tw_release(text);
    return status;
}

/* ---- values ---- */

const tw_node *tw_scene_node(const tw_scene *scene, const char *path)
{
    if (!scene || !path) return NULL;
    const tw_node *node = scene->tree.root;
    while (node && *path) {
        /* The next component of the path: up to a point or the end. */
        char component[TW_PATH_SIZE];
        size_t length = strcspn(path, ".");
        if (length >= sizeof component) return NULL;
        memcpy(component, path, length);
        component[length] = '\0';

        node = tw_node_find(node, component);
        path += length;
        if (*path == '.') path++;
    }
    return node;
}

double tw_scene_number(const tw_scene *scene, const char *path, double otherwise)
{
    const tw_node *node = tw_scene_node(scene, path);
    return node && node->kind == TW_NODE_SCALAR ? node->number : otherwise;
}

const char *tw_scene_word(const tw_scene *scene, const char *path)
{
    const tw_node *node = tw_scene_node(scene, path);
    return node && node->kind == TW_NODE_SCALAR ? node->text : NULL;
}

const char *tw_scene_name(const tw_scene *scene)
{
    return tw_scene_word(scene, "name");
}

double tw_scene_duration(const tw_scene *scene)
{
    return tw_scene_number(scene, "duration", 0.0);
}

double tw_scene_fps(const tw_scene *scene)
{
    return tw_scene_number(scene, "fps", 0.0);
}

/* ---- writing, and errors found later ---- */

tw_status tw_scene_write(const tw_scene *scene, char **text, size_t *size, tw_error *error)
{
    if (!scene || !text || !size) return tw_fail_plain(error, TW_INVALID_ARGUMENT);
    tw_status status = tw_tree_write(scene->tree.root, text, size);
    return status == TW_OK ? TW_OK : tw_fail_plain(error, status);
}

void tw_scene_free_text(char *text)
{
    tw_release(text);
}

tw_status tw_scene_blame(const tw_scene *scene, const char *path, tw_error *error)
{
    if (!error || !scene || !path) return TW_BAD_INPUT;

    const tw_node *node = tw_scene_node(scene, path);
    if (!node) node = scene->tree.root;
    tw_error reason = *error;
    return tw_fail_at(error, node->mark, "%s: %s", path, reason.text);
}
