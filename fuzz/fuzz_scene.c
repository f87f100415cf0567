/* The scene loader: whatever the bytes are, a scene or TW_BAD_INPUT with one line; a scene is
 * written and read again. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <twang/scene.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void insist(int truth)
{
    if (!truth) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    /* A refusal is one line, and leaves nothing behind. */
    tw_scene *scene = NULL;
    tw_error error = {0};
    tw_status status = tw_scene_parse("fuzz", (const char *)data, size, 0, NULL, &scene, &error);
    if (status != TW_OK) {
        insist(status == TW_BAD_INPUT && !scene && !strchr(error.text, '\n'));
        return 0;
    }

    /* What is written can be read. */
    tw_scene *again = NULL;
    char *text = NULL;
    size_t length = 0;
    insist(tw_scene_write(scene, &text, &length, &error) == TW_OK);
    insist(tw_scene_parse("again", text, length, 0, NULL, &again, &error) == TW_OK);

    tw_scene_free_text(text);
    tw_scene_free(again);
    tw_scene_free(scene);
    return 0;
}
