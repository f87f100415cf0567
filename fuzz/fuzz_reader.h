/* What the fuzz targets of the mesh readers have in common: whatever the bytes are, a
 * reader answers TW_OK or TW_BAD_INPUT with one line, and what it read can be checked,
 * repaired and measured. */
#ifndef FUZZ_READER_H
#define FUZZ_READER_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "mesh/mesh_formats.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static inline void fuzz_insist(int truth)
{
    if (!truth) abort();
}

static inline void fuzz_check_result(tw_status status, tw_mesh *mesh, const tw_error *error)
{
    /* A refusal is one line that names the file, and leaves an empty mesh. */
    if (status != TW_OK) {
        fuzz_insist(status == TW_BAD_INPUT && strncmp(error->text, "fuzz", 4) == 0 &&
                    !strchr(error->text, '\n'));
        fuzz_insist(!mesh->vertices && mesh->vertex_count == 0);
        return;
    }

    /* A copy has the polygons too, which a repair forgets. */
    tw_mesh copy;
    fuzz_insist(tw_mesh_check(mesh, NULL) == TW_OK);
    fuzz_insist(tw_mesh_copy(mesh, &copy, NULL) == TW_OK);
    fuzz_insist(tw_mesh_check(&copy, NULL) == TW_OK);
    tw_mesh_free(&copy);

    /* What was read can be repaired and measured. */
    tw_mesh_quality quality;
    tw_mesh_repairs repairs;
    fuzz_insist(tw_mesh_repair(mesh, &repairs, NULL) == TW_OK);
    fuzz_insist(tw_mesh_check(mesh, NULL) == TW_OK);
    fuzz_insist(tw_mesh_measure(mesh, &quality, NULL) == TW_OK);
    tw_mesh_free(mesh);
}

static inline int fuzz_reader(tw_mesh_reader *reader, const uint8_t *data, size_t size)
{
    tw_mesh mesh;
    tw_error error = {0};
    tw_mesh_bytes file = {"fuzz", (const char *)data, size};
    fuzz_check_result(tw_parse_mesh(reader, file, &mesh, &error), &mesh, &error);
    return 0;
}

#endif
