/* A tree back to YAML, by libyaml's emitter, which knows when a text needs quotes. Lists of scalars stay on one line.
 */
#include <string.h>
#include <yaml.h>

#include "base/allocate.h"
#include "scene/tree.h"

typedef struct output {
    char *bytes;
    size_t size, capacity;
} output;

static int append_bytes(void *context, unsigned char *bytes, size_t size)
{
    output *out = context;
    if (out->size + size + 1 > out->capacity) {
        size_t capacity = 2 * (out->size + size) + 1024;
        char *larger = tw_allocate(capacity, 1);
        if (!larger) return 0;
        if (out->size) memcpy(larger, out->bytes, out->size);
        tw_release(out->bytes);
        out->bytes = larger;
        out->capacity = capacity;
    }
    memcpy(out->bytes + out->size, bytes, size);
    out->size += size;
    out->bytes[out->size] = '\0';
    return 1;
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

static bool emit_node(yaml_emitter_t *emitter, const tw_node *node)
{
    if (node->kind == TW_NODE_SCALAR) return emit_text(emitter, node->text, node->quoted);
    bool is_map = node->kind == TW_NODE_MAP;
    yaml_event_t event;
    int ready =
        is_map
            ? yaml_mapping_start_event_initialize(&event, NULL, NULL, 1, YAML_BLOCK_MAPPING_STYLE)
            : yaml_sequence_start_event_initialize(&event, NULL, NULL, 1,
                                                   all_scalars(node) ? YAML_FLOW_SEQUENCE_STYLE
                                                                     : YAML_BLOCK_SEQUENCE_STYLE);
    if (!ready || !yaml_emitter_emit(emitter, &event)) return false;
    for (const tw_node *n = node->first; n; n = n->next) {
        if (is_map && !emit_text(emitter, n->key, false)) return false;
        if (!emit_node(emitter, n)) return false;
    }
    ready = is_map ? yaml_mapping_end_event_initialize(&event)
                   : yaml_sequence_end_event_initialize(&event);
    return ready && yaml_emitter_emit(emitter, &event);
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
    output out = {0};
    yaml_emitter_set_output(&emitter, append_bytes, &out);
    yaml_emitter_set_unicode(&emitter, 1);
    yaml_emitter_set_width(&emitter, 120);
    bool done = emit_document(&emitter, root);
    yaml_emitter_delete(&emitter);
    if (!done) {
        tw_release(out.bytes);
        return TW_OUT_OF_MEMORY;
    }
    *text = out.bytes;
    *size = out.size;
    return TW_OK;
}
