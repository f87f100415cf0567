/* Two files in one: the vertices before the first byte `%`, the tetrahedra behind it. */
#include "fuzz_reader.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    tw_mesh_bytes nodes = {"fuzz.node", (const char *)data, size};
    tw_mesh_bytes elements = {"fuzz.ele", "", 0};
    const char *cut = size > 0 ? memchr(data, '%', size) : NULL;
    if (cut) {
        nodes.size = (size_t)(cut - nodes.bytes);
        elements.bytes = cut + 1;
        elements.size = size - nodes.size - 1;
    }

    tw_mesh mesh;
    tw_error error = {0};
    fuzz_check_result(tw_parse_tetgen(nodes, elements, &mesh, &error), &mesh, &error);
    return 0;
}
