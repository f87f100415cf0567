/* Scenes of any bytes, all the way: what can be built makes five steps. */
#include "simulate_scene.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    enum { STEPS = 5, BYTES = 100000000 };
    budget memory = {.bytes_left = BYTES};
    outcome o = simulate_text((const char *)data, size, STEPS, &memory);
    if (o.where[0] != '!') return 0;
    fprintf(stderr, "%s: %s\n", o.where + 1, o.error.text);
    abort();
}
