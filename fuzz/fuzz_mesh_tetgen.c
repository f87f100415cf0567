/* Two files in one: the vertices before the first byte `%`, the tetrahedra behind it. */
#include "fuzz_reader.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *nodes = (const char *)data, *cut = size > 0 ? memchr(data, '%', size) : NULL;
    size_t node_size = cut ? (size_t)(cut - nodes) : size;
    tw_mesh mesh;
    tw_error error = {0};
    tw_status status =
        tw_parse_tetgen("fuzz.node", nodes, node_size, "fuzz.ele", cut ? cut + 1 : "",
                        cut ? size - node_size - 1 : 0, &mesh, &error);
    fuzz_check_result(status, &mesh, &error);
    return 0;
}
