/* A surface of any bytes (OBJ), read and filled: a solid that can be used, or one line. */
#include "fuzz_reader.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    enum { VERTICES = 60 };
    tw_mesh surface;
    tw_mesh solid;
    tw_error error = {0};
    tw_mesh_bytes file = {"fuzz", (const char *)data, size};
    if (tw_parse_mesh(tw_read_obj, file, &surface, &error) != TW_OK) return 0;

    tw_fill_options options = {.vertex_count = VERTICES};
    tw_fill_report report;
    tw_status status = tw_mesh_fill(&surface, &options, &solid, &report, &error);
    tw_mesh_free(&surface);
    if (status != TW_OK) {
        fuzz_insist(status == TW_BAD_INPUT && error.text[0] && !strchr(error.text, '\n'));
        return 0;
    }

    /* The promises of docs/meshes.md. */
    fuzz_insist(tw_mesh_check(&solid, NULL) == TW_OK);
    fuzz_insist(report.quality.smallest_angle > 8.0 && report.quality.smallest_volume > 0.0);
    fuzz_insist(report.quality.components >= 1 && report.quality.open_edges == 0);
    tw_mesh_free(&solid);
    return 0;
}
