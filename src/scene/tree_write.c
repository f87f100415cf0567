/* A tree back to YAML, by libyaml's emitter, which knows when a text needs quotes. Lists of scalars
 * stay on one line. */
#include <string.h>
#include <yaml.h>

#include "base/text.h"
#include "scene/tree.h"

enum { LINE_WIDTH = 120 };

static int append_bytes(void *context, unsigned char *bytes, size_t size)
{
    tw_text *text = context;
    tw_text_add_bytes(text, bytes, size);
    return !text->failed;
}

static bool emit_text(yaml_emitter_t *emitter, const char *text, bool quoted)
{
    yaml_event_t event;
    yaml_scalar_style_t style = quoted ? YAML_DOUBLE_QUOTED_SCALAR_STYLE : YAML_ANY_SCALAR_STYLE;
    return yaml_scalar_event_initialize(&event, NULL, NULL, (const yaml_char_t *)text,
                                        (int)strlen(text), 1, 1, style) &&
           yaml_emitter_emit(emitter, &event);
}

static bool all_scalars(const tw_node *list)
{
    for (const tw_node *n = list->first; n; n = n->next)
        if (n->kind != TW_NODE_SCALAR) return false;
    return true;
}

static bool emit_node(yaml_emitter_t *emitter, const tw_node *node);

static bool emit_map(yaml_emitter_t *emitter, const tw_node *map)
{
    yaml_event_t event;
    if (!yaml_mapping_start_event_initialize(&event, NULL, NULL, 1, YAML_BLOCK_MAPPING_STYLE) ||
        !yaml_emitter_emit(emitter, &event))
        return false;

    /* Keys and values alternate. */
    for (const tw_node *n = map->first; n; n = n->next)
        if (!emit_text(emitter, n->key, false) || !emit_node(emitter, n)) return false;

    return yaml_mapping_end_event_initialize(&event) && yaml_emitter_emit(emitter, &event);
}

static bool emit_list(yaml_emitter_t *emitter, const tw_node *list)
{
    yaml_event_t event;
    yaml_sequence_style_t style = YAML_BLOCK_SEQUENCE_STYLE;
    if (all_scalars(list)) style = YAML_FLOW_SEQUENCE_STYLE;
    if (!yaml_sequence_start_event_initialize(&event, NULL, NULL, 1, style) ||
        !yaml_emitter_emit(emitter, &event))
        return false;

    for (const tw_node *n = list->first; n; n = n->next)
        if (!emit_node(emitter, n)) return false;

    return yaml_sequence_end_event_initialize(&event) && yaml_emitter_emit(emitter, &event);
}

static bool emit_node(yaml_emitter_t *emitter, const tw_node *node)
{
    if (node->kind == TW_NODE_SCALAR) return emit_text(emitter, node->text, node->quoted);
    if (node->kind == TW_NODE_MAP) return emit_map(emitter, node);
    return emit_list(emitter, node);
}

static bool emit_document(yaml_emitter_t *emitter, const tw_node *root)
{
    yaml_event_t event;
    return yaml_stream_start_event_initialize(&event, YAML_UTF8_ENCODING) &&
           yaml_emitter_emit(emitter, &event) &&
           yaml_document_start_event_initialize(&event, NULL, NULL, NULL, 1) &&
           yaml_emitter_emit(emitter, &event) && emit_node(emitter, root) &&
           yaml_document_end_event_initialize(&event, 1) && yaml_emitter_emit(emitter, &event) &&
           yaml_stream_end_event_initialize(&event) && yaml_emitter_emit(emitter, &event);
}

tw_status tw_tree_write(const tw_node *root, char **text, size_t *size)
{
    *text = NULL;
    *size = 0;
    yaml_emitter_t emitter;
    if (!yaml_emitter_initialize(&emitter)) return TW_OUT_OF_MEMORY;

    /* libyaml calls append_bytes whenever its buffer is full. */
    tw_text out = {0};
    yaml_emitter_set_output(&emitter, append_bytes, &out);
    yaml_emitter_set_unicode(&emitter, 1);
    yaml_emitter_set_width(&emitter, LINE_WIDTH);
    bool done = emit_document(&emitter, root);
    yaml_emitter_delete(&emitter);

    /* Memory is the only thing that can fail. */
    if (!done) {
        tw_text_free(&out);
        return TW_OUT_OF_MEMORY;
    }
    *text = out.bytes;
    *size = out.size;
    return TW_OK;
}
