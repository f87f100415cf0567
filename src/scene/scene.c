#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <twang/scene.h>

#include "base/allocate.h"
#include "base/fail.h"
#include "scene/scene_internal.h"

static tw_status fill_scene(tw_scene *scene, const char *origin, const char *text, size_t size,
                            int count, const tw_scene_setting *settings, tw_error *error)
{
    tw_tree *tree = &scene->tree;
    const char *kept_origin = tw_tree_text(tree, origin, strlen(origin));
    if (!kept_origin) return tw_fail_plain(error, TW_OUT_OF_MEMORY);
    tw_status status = tw_tree_parse(tree, kept_origin, true, text, size, &tree->root, error);
    for (int i = 0; i < count && status == TW_OK; i++)
        status = tw_tree_set(tree, settings[i].origin, settings[i].path, settings[i].value, error);
    if (status == TW_OK) status = tw_schema_check(tree, error);
    if (status == TW_OK) status = tw_scene_check_rules(scene, error);
    if (status == TW_OK) status = tw_scene_resolve_files(scene, error);
    return status;
}

tw_status tw_scene_parse(const char *origin, const char *text, size_t size, int count,
                         const tw_scene_setting *settings, tw_scene **out, tw_error *error)
{
    if (!out) return tw_fail_plain(error, TW_INVALID_ARGUMENT);
    *out = NULL;
    if (!origin || (!text && size) || count < 0 || (count && !settings))
        return tw_fail_plain(error, TW_INVALID_ARGUMENT);
    tw_scene *scene = TW_NEW(tw_scene);
    if (!scene) return tw_fail_plain(error, TW_OUT_OF_MEMORY);
    tw_status status = fill_scene(scene, origin, text, size, count, settings, error);
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
    tw_release(scene);
}

/* Everything that can be read, up to one byte more than the limit (which the parser then refuses). */
static tw_status read_all(FILE *file, const char *path, char **text, size_t *size, tw_error *error)
{
    size_t capacity = 65536;
    *size = 0;
    *text = tw_allocate(capacity, 1);
    while (*text && *size <= TW_TREE_MAX_BYTES) {
        size_t got = fread(*text + *size, 1, capacity - *size, file);
        *size += got;
        if (ferror(file)) {
            int reason = errno;
            tw_release(*text);
            *text = NULL;
            return tw_fail(error, TW_BAD_INPUT, "%s: cannot be read: %s", path, strerror(reason));
        }
        if (got == 0) return TW_OK;
        if (*size < capacity) continue;
        char *larger = tw_allocate(2 * capacity, 1);
        if (larger) memcpy(larger, *text, *size);
        tw_release(*text);
        *text = larger;
        capacity *= 2;
    }
    return *text ? TW_OK : tw_fail_plain(error, TW_OUT_OF_MEMORY);
}

tw_status tw_scene_load(const char *path, int count, const tw_scene_setting *settings,
                        tw_scene **out, tw_error *error)
{
    if (!path || !out) return tw_fail_plain(error, TW_INVALID_ARGUMENT);
    *out = NULL;
    FILE *file = fopen(path, "rb");
    if (!file)
        return tw_fail(error, TW_BAD_INPUT, "%s: cannot be opened: %s", path, strerror(errno));
    char *text = NULL;
    size_t size = 0;
    tw_status status = read_all(file, path, &text, &size, error);
    fclose(file);
    if (status == TW_OK) status = tw_scene_parse(path, text, size, count, settings, out, error);
    tw_release(text);
    return status;
}

const tw_node *tw_scene_node(const tw_scene *scene, const char *path)
{
    const tw_node *node = scene->tree.root;
    while (node && *path) {
        char component[TW_PATH_SIZE];
        size_t length = strcspn(path, ".");
        if (length >= sizeof component) return NULL;
        memcpy(component, path, length);
        component[length] = '\0';
        node = tw_node_find(node, component);
        path += length + (path[length] == '.');
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

tw_status tw_scene_write(const tw_scene *scene, char **text, size_t *size, tw_error *error)
{
    tw_status status = tw_tree_write(scene->tree.root, text, size);
    return status == TW_OK ? TW_OK : tw_fail_plain(error, status);
}

void tw_scene_free_text(char *text)
{
    tw_release(text);
}

tw_status tw_scene_blame(const tw_scene *scene, const char *path, tw_error *error)
{
    if (!error) return TW_BAD_INPUT;
    const tw_node *node = tw_scene_node(scene, path);
    tw_error reason = *error;
    return tw_fail_at(error, node ? node->mark : scene->tree.root->mark, "%s: %s", path,
                      reason.text);
}
